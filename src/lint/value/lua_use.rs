//! What a Lua script uses of Envoy's API: modules, globals, methods of its handle, calls. Only for scripts that parse.
//!
//! The tokens are read once, with the scopes of local names. If that is not enough to decide, nothing is reported: a
//! `local` counts from its own statement, and a script that changes its environment has no undefined names.

mod assignments;
mod calls;
mod conditions;
mod found;
mod kinds;
mod mistakes;
mod names;
mod objects;
mod parameters;
mod plain;
mod scopes;
mod texts;

use crate::lua::{Token, tokens};
pub(crate) use found::{Absent, Incomplete, Late, Method, Mistake, Named, Source, Use};
use kinds::Held;
pub(crate) use kinds::{Compared, Kind, Misuse, Regular, Used};
pub(crate) use names::Owner;
use names::{GLOBALS, INDIRECT};
use parameters::Given;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// A function whose body is being read.
#[derive(Clone, Copy, PartialEq)]
enum Function<'t> {
    Request(&'t str),
    Response(&'t str),
    Other,
}

/// What opened a block.
#[derive(Clone, Copy, PartialEq)]
enum Opened {
    Function,
    Block,
    Repeat,
}

/// Maximum number of definitions of entry points that are looked at.
const DEFINITIONS: usize = 10;

/// A loop whose `do` is still to come: its names, whether it is one over headers, and a name that holds one of many texts.
type Loop<'t> = (Vec<&'t str>, bool, Option<(&'t str, Held<'t>)>);

#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    tokens: Vec<(usize, Token<'t>)>,
    /// The first token that looks at a text.
    first_look: Option<usize>,
    scopes: Vec<(Opened, Vec<&'t str>)>,
    /// The open scopes that are loops over the headers, by depth.
    iterating: Vec<usize>,
    /// The open scopes in which the body was read in chunks, or all of it until the trailers (true), by depth.
    streamed: Vec<(usize, bool)>,
    functions: Vec<Function<'t>>,
    /// Open brackets, each with the name called before it.
    brackets: Vec<(&'t str, &'t str)>,
    found: Use<'t>,
    written: BTreeSet<&'t str>,
    used: Vec<Named<'t>>,
    /// Globals written in an entry point: name, place from which the value exists, whether in the one for responses.
    kept: Vec<(Named<'t>, usize, bool)>,
    /// Reads of globals in entry points: name, place, whether of the response.
    read: Vec<(&'t str, usize, bool)>,
    /// Yields of entry points.
    yields: Vec<(usize, bool)>,
    /// Locals that hold the headers.
    headers: BTreeSet<&'t str>,
    /// Names that hold a text.
    constants: BTreeMap<&'t str, &'t str>,
    /// Locals that hold the handle.
    handles: BTreeSet<&'t str>,
    /// What functions get, by their name and the place of the parameter.
    given: BTreeMap<(&'t str, usize), Given>,
    /// How many times the script gets each header.
    gets: BTreeMap<&'t str, usize>,
    /// Parameters that hold the handle.
    given_handles: BTreeSet<&'t str>,
    /// Headers that were removed or replaced earlier, in lowercase.
    removed: BTreeSet<String>,
    /// Request headers that the script removes, adds, or replaces outside of blocks, in lowercase.
    always: BTreeSet<String>,
    /// Whether headers were removed whose names the script computes: it may be any.
    removed_any: bool,
    /// Locals that hold a value that may be absent.
    maybe: BTreeMap<&'t str, Source>,
    /// Values that the function tested before.
    looked_at: BTreeSet<&'t str>,
    /// Locals that hold a body which may be absent.
    held_bodies: BTreeSet<&'t str>,
    /// Locals that hold a header of the request as the client sent it.
    held_headers: BTreeMap<&'t str, &'t str>,
    /// What else locals hold.
    held: BTreeMap<&'t str, Held<'t>>,
    /// Locals that hold a table.
    tables: BTreeSet<&'t str>,
    /// Whether the script gives tables metatables, with which they can be joined.
    metatables: bool,
    /// Whether the request's body was read in chunks before.
    chunked: bool,
    /// The innermost function that is neither an entry point nor inside of one, with its parameters.
    helper: Option<(&'t str, Vec<&'t str>)>,
    /// Functions that call `respond` on a parameter, by its place.
    answering: BTreeSet<(&'t str, usize)>,
    /// Calls in entry points that pass the handle on: the function, the place, whether it is then too late, and by chunks.
    passed: Vec<(Named<'t>, usize, Late<'t>)>,
    indirect: bool,
    /// Definitions of entry points outside of blocks.
    defined: Vec<Named<'t>>,
    /// Whether the script answers requests itself.
    responded: bool,
    /// Headers of the request that the script has read, in lowercase.
    asked: BTreeSet<String>,
    /// Number of calls of `httpCall`.
    http_calls: usize,
    /// Comparisons of the status of an answer to `httpCall`, and the number of all reads of it.
    statuses: Vec<(usize, &'t str, Compared)>,
    status_reads: usize,
    /// Whether anything but the status of an answer is read.
    answer_read: bool,
    /// Locals that hold the body of an answer.
    answer_bodies: BTreeSet<&'t str>,
    /// Tables of texts whose patterns were read, by their place.
    lists_read: BTreeSet<usize>,
    /// Whole paths whose requests are denied.
    exact: Vec<Named<'t>>,
    /// Methods of `string` that the script names, read when first needed.
    text_methods: OnceCell<BTreeSet<&'t str>>,
}

/// Reads a script that parses.
pub(crate) fn read(text: &str) -> Use<'_> {
    let scopes = vec![(Opened::Block, Vec::new())];
    let tokens = plain::calls(tokens(text));
    let first_look = texts::first_look(&tokens);
    let metatables = tokens.iter().any(|(_, token)| *token == Token::Name("setmetatable"));
    let (given, gets) = (parameters::given(&tokens), parameters::gets(&tokens));
    let mut reader = Reader { text, tokens, first_look, scopes, given, gets, metatables, ..Reader::default() };
    reader.run();
    reader.settle()
}

impl<'t> Reader<'t> {
    fn token(&self, at: usize) -> Token<'t> {
        self.tokens.get(at).map_or(Token::End, |(_, token)| *token)
    }

    fn before(&self, at: usize) -> Token<'t> {
        at.checked_sub(1).map_or(Token::End, |at| self.token(at))
    }

    fn sign(&self, at: usize, sign: &str) -> bool {
        self.token(at) == Token::Sign(sign)
    }

    fn named(&self, at: usize, name: &'t str) -> Named<'t> {
        let place = self.tokens.get(at).map_or(0, |(place, _)| *place);
        Named { name, at: place, at_load: self.functions.is_empty() }
    }

    fn is_local(&self, name: &str) -> bool {
        self.scopes.iter().any(|(_, names)| names.contains(&name))
    }

    fn declare(&mut self, name: &'t str) {
        if let Some((_, names)) = self.scopes.last_mut() {
            names.push(name);
        }
    }

    /// The entry point whose body this is, with the name of its handle; also in a function inside it.
    fn entry(&self) -> Option<(bool, &'t str)> {
        self.functions.iter().find_map(|function| match function {
            Function::Request(handle) => Some((false, *handle)),
            Function::Response(handle) => Some((true, *handle)),
            Function::Other => None,
        })
    }

    fn run(&mut self) {
        let mut at = 0;
        let mut loops: Vec<Loop<'t>> = Vec::new();
        while at < self.tokens.len() {
            at = match self.token(at) {
                Token::Keyword("function") => self.function(at),
                Token::Keyword("local") => self.local(at),
                Token::Keyword("for") => {
                    let mut names = Vec::new();
                    let mut next = at + 1;
                    while let Token::Name(name) = self.token(next) {
                        names.push(name);
                        next += 1;
                        if !self.sign(next, ",") {
                            break;
                        }
                        next += 1;
                    }
                    let listed = self.listed(&names, next);
                    loops.push((names, self.over_headers(next), listed));
                    next
                }
                Token::Keyword("while") => {
                    self.waits(at);
                    loops.push((Vec::new(), false, None));
                    at + 1
                }
                Token::Keyword("do") => {
                    let (names, over_headers, listed) = loops.pop().unwrap_or_default();
                    names.iter().for_each(|name| self.forget(name));
                    self.held.extend(listed);
                    if let Some(name) = names.first().filter(|_| over_headers) {
                        self.held.insert(name, Held::HeaderName);
                    }
                    self.scopes.push((Opened::Block, names));
                    if over_headers {
                        self.iterating.push(self.scopes.len());
                    }
                    at + 1
                }
                Token::Keyword("then") => {
                    self.scopes.push((Opened::Block, Vec::new()));
                    at + 1
                }
                Token::Keyword("repeat") => {
                    self.scopes.push((Opened::Repeat, Vec::new()));
                    at + 1
                }
                Token::Keyword("elseif") => {
                    self.close();
                    at + 1
                }
                Token::Keyword("else") => {
                    self.close();
                    self.scopes.push((Opened::Block, Vec::new()));
                    at + 1
                }
                Token::Keyword("end" | "until") => {
                    if let Some((Opened::Function, _)) = self.close() {
                        self.functions.pop();
                    }
                    at + 1
                }
                Token::Sign(open @ ("(" | "{" | "[")) => {
                    let called = match self.before(at) {
                        Token::Name(name) => name,
                        _ => "",
                    };
                    self.brackets.push((open, called));
                    if open == "(" {
                        self.pattern(at, called);
                        self.of_text(at, called);
                    }
                    at + 1
                }
                Token::Sign(")" | "}" | "]") => {
                    self.brackets.pop();
                    at + 1
                }
                Token::Name(name) => {
                    self.bytes_of_answer(at, name);
                    self.name(at, name);
                    at + 1
                }
                Token::Sign(sign @ (".." | "+")) => {
                    self.operator(at, sign);
                    at + 1
                }
                Token::Keyword("or") => {
                    self.text_alone(at);
                    at + 1
                }
                Token::Text(name) => {
                    self.named_by_text(at, name);
                    self.metadata(at, name);
                    at + 1
                }
                _ => at + 1,
            };
        }
    }

    /// Ends the innermost scope.
    fn close(&mut self) -> Option<(Opened, Vec<&'t str>)> {
        let closed = self.scopes.pop();
        for name in closed.iter().flat_map(|(_, names)| names) {
            self.held.remove(name);
            self.tables.remove(name);
        }
        let depth = self.scopes.len();
        self.iterating.retain(|opened| *opened <= depth);
        self.streamed.retain(|(opened, _)| *opened <= depth);
        closed
    }

    /// A text after the text that names it: `["x-api-key"] = "…"`, `add("x-api-key", "…")`.
    fn named_by_text(&mut self, at: usize, name: &'t str) {
        let value = match (self.token(at + 1), self.token(at + 2)) {
            (Token::Sign("]"), Token::Sign("=")) => at + 3,
            (Token::Sign(","), _) => at + 2,
            _ => return,
        };
        if let Token::Text(text) = self.token(value) {
            self.found.texts.push((name, text));
        }
    }

    /// A name that is declared or assigned again holds something else.
    fn forget(&mut self, name: &'t str) {
        self.maybe.remove(name);
        self.held_bodies.remove(name);
        self.held_headers.remove(name);
        self.held.remove(name);
        self.tables.remove(name);
        self.headers.remove(name);
        self.handles.remove(name);
        self.given_handles.remove(name);
        self.constants.remove(name);
    }

    /// What a name is assigned: a text, the handle, its headers, or a header.
    fn assigned(&mut self, name: &'t str, value: usize) {
        self.hold(name, value);
        self.hold_table(name, value);
        if let Token::Text(text) = self.token(value) {
            self.found.texts.push((name, text));
            if !self.sign(value + 1, "..") {
                self.constants.insert(name, text);
            }
        }
        if let (Token::Name(handle), Some((_, own))) = (self.token(value), self.entry())
            && handle == own
            && !matches!(self.token(value + 1), Token::Sign(":" | "." | "[" | "("))
        {
            self.handles.insert(name);
        }
        if self.of_store(value, "body").is_some_and(|end| !self.sign(end, ":")) {
            self.held_bodies.insert(name);
        }
        if self.of_headers(value).is_some_and(|end| !self.sign(end, ":")) {
            self.headers.insert(name);
        }
        if let (Some((end, header)), Some((false, _))) = (self.header_get(value), self.entry())
            && !self.removed.contains(&header.to_ascii_lowercase())
            && !matches!(self.token(end), Token::Sign(":" | "." | "[" | ".." | "==" | "~="))
        {
            self.held_headers.insert(name, header);
        }
        if let Some((end, what, source)) = self.may_be_absent(value)
            && !self.looked_at.contains(what)
            && !matches!(
                self.token(end),
                Token::Keyword("or" | "and")
                    | Token::Sign(
                        ".." | "=="
                            | "~="
                            | ":"
                            | "."
                            | "["
                            | "<"
                            | ">"
                            | "<="
                            | ">="
                            | "+"
                            | "-"
                            | "*"
                            | "/"
                            | "%"
                            | "^"
                    )
            )
        {
            self.maybe.insert(name, source);
        }
    }

    fn name(&mut self, at: usize, name: &'t str) {
        self.blocks(at);
        let before = self.before(at);
        if matches!(before, Token::Sign("." | ":" | "::")) || before == Token::Name("goto") {
            return;
        }
        if name == "goto" && matches!(self.token(at + 1), Token::Name(_)) {
            return;
        }
        let in_table = self.brackets.last().is_some_and(|(open, _)| *open == "{");
        let given = self.sign(at + 1, "=");
        if in_table && given {
            if let Token::Text(text) = self.token(at + 2) {
                self.found.texts.push((name, text));
            }
            return;
        }
        self.absent(at);
        self.tested(at, name);
        self.decides(at, name);
        self.misread(at);
        self.both(at);
        self.answer(at, name);
        self.answer_read |= self.answer_bodies.contains(name);
        self.nothing(at, name);
        self.passes_on(at, name);
        let held = self.headers.contains(name).then_some(at + 1);
        let headers = held.or_else(|| self.of_headers(at));
        if let Some(end) = headers {
            self.no_table(at, end);
        }
        self.misused(at, headers);
        match (self.entry(), headers) {
            (Some((false, _)), Some(end)) => self.header_change(end),
            (Some((true, _)), Some(end)) => self.answer_change(end),
            _ => {}
        }
        if let Some(end) = headers.filter(|_| !self.guarded())
            && self.sign(end, ":")
            && let Token::Name(method @ ("add" | "replace" | "remove")) = self.token(end + 1)
        {
            let named = self.named(end + 1, method);
            if !self.iterating.is_empty() {
                self.found.looped.push(named);
            } else if let Some((_, trailers)) = self.streamed.first() {
                if *trailers { self.found.trailed.push(named) } else { self.found.sent.push(named) }
            }
            if self.sign(end + 2, "(") {
                self.arguments(end + 2, method);
            }
        }
        if let Some((response, handle)) = self.entry()
            && (name == handle || self.handles.contains(name))
            && !handle.is_empty()
        {
            self.method(at, response);
            self.chain(at, Owner::Handle);
            self.dotted(at, name, Owner::Handle);
        } else if self.headers.contains(name) {
            self.chain(at, Owner::Headers);
            self.dotted(at, name, Owner::Headers);
        } else if self.held.get(name) == Some(&Held::Body) {
            self.chain(at, Owner::Body);
            self.dotted(at, name, Owner::Body);
        }
        if self.is_local(name) {
            let module = given && self.is_module(name, at + 2);
            if let Some((response, _)) = self.entry().filter(|_| self.is_of_file(name) && !module) {
                let named = self.named(at, name);
                if self.writes(at) {
                    self.kept.push((named, self.statement_end(at), response));
                } else {
                    self.read.push((name, named.at, response));
                }
            }
            if given && !in_table {
                self.forget(name);
                self.assigned(name, at + 2);
            }
            return;
        }
        self.global(at, name, given);
    }

    /// Something that may be absent and is used, or is tested before.
    fn absent(&mut self, at: usize) {
        if let Some((end, what, source)) = self.may_be_absent(at)
            && !self.guarded()
        {
            match self.used(at, end).or_else(|| self.no_value(at, end, source)) {
                Some(used) if !self.looked_at.contains(what) => {
                    let named = self.named(at, what);
                    self.found.absent.push(Absent { named, source, used });
                }
                Some(_) => {}
                None if self.tests(at, end) => {
                    self.looked_at.insert(what);
                }
                None => {}
            }
        }
    }

    /// A name that is no local.
    fn global(&mut self, at: usize, name: &'t str, given: bool) {
        self.indirect |= INDIRECT.contains(&name);
        match name {
            "require" => self.module(at),
            "package" => self.package(at),
            _ => {}
        }
        if self.writes(at) {
            self.written.insert(name);
            if given {
                self.assigned(name, at + 2);
            }
            if let Some((response, _)) = self.entry().filter(|_| !(given && self.is_module(name, at + 2))) {
                let written = self.named(at, name);
                self.kept.push((written, self.statement_end(at), response));
            }
            return;
        }
        if let Some((response, _)) = self.entry() {
            let place = self.named(at, name).at;
            self.read.push((name, place, response));
        }
        let next = self.token(at + 1);
        if matches!(next, Token::Sign("." | ":" | "(" | "[" | "{") | Token::Text(_)) && !GLOBALS.contains(&name) {
            let named = self.named(at, name);
            // A script may use `pcall` to test for missing methods.
            if !self.guarded() {
                self.used.push(named);
            }
        }
    }

    /// Whether a local belongs to no function.
    fn is_of_file(&self, name: &str) -> bool {
        let (outer, inner) = self.scopes.split_at(1.min(self.scopes.len()));
        let has = |scopes: &[(Opened, Vec<&str>)]| scopes.iter().any(|(_, names)| names.contains(&name));
        has(outer) && !has(inner)
    }

    fn guarded(&self) -> bool {
        self.brackets.iter().any(|(_, called)| matches!(*called, "pcall" | "xpcall"))
    }

    fn settle(mut self) -> Use<'t> {
        let late = |(function, place, late): &(Named<'t>, usize, Late<'t>)| {
            self.answering.contains(&(function.name, *place)).then_some(*late)
        };
        let passed: Vec<Late<'t>> = self.passed.iter().filter_map(late).collect();
        self.found.responds.extend(passed);
        if !self.indirect {
            let written = &self.written;
            let mut known: BTreeSet<&str> = BTreeSet::new();
            self.found.undefined =
                self.used.iter().filter(|one| !written.contains(one.name) && known.insert(one.name)).copied().collect();
        }
        if !self.responded && self.answering.is_empty() {
            self.found.decisions.clear();
        }
        self.settle_conditional();
        self.settle_denied();
        self.defined.truncate(DEFINITIONS);
        for (index, one) in self.defined.iter().enumerate() {
            let again = self.defined.iter().filter(|other| other.name == one.name).count();
            let last = self.defined.iter().rposition(|other| other.name == one.name) == Some(index);
            let named = self.tokens.iter().filter(|(_, token)| *token == Token::Name(one.name)).count();
            if !last && again == named {
                self.found.replaced.push(*one);
            }
        }
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for (name, at, of) in &self.read {
            let writes = || self.kept.iter().filter(|(one, ..)| one.name == *name);
            // The last assignment in the function itself counts; otherwise the other function's.
            let own = writes().filter(|(_, end, response)| response == of && end <= at).max_by_key(|(_, end, _)| *end);
            let shared = match own {
                Some((one, end, _)) => {
                    self.yields.iter().any(|(when, which)| which == of && end <= when && when < at).then_some(one)
                }
                None => writes().find(|(_, _, response)| *of && !response).map(|(one, ..)| one),
            };
            if let Some(one) = shared.filter(|one| known.insert(one.name)) {
                let one = Named { at_load: false, ..*one };
                let of_file = self.scopes.first().is_some_and(|(_, names)| names.contains(&one.name));
                if of_file { self.found.shared_locals.push(one) } else { self.found.shared.push(one) }
            }
        }
        self.found
    }
}

#[cfg(test)]
mod tests;
