//! What a Lua script uses of Envoy's API: modules, globals, methods of its handle, calls. Only for scripts that parse.
//!
//! The tokens are read once, with the scopes of local names. If that is not enough to decide, nothing is reported: a
//! `local` counts from its own statement, and a script that changes its environment has no undefined names.

mod assignments;
mod calls;
mod kinds;
mod mistakes;
mod names;
mod scopes;

use crate::lua::{Token, tokens};
use kinds::Held;
pub(crate) use kinds::{Compared, Kind, Misuse, Regular};
pub(crate) use names::Owner;
use names::{GLOBALS, INDIRECT};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// The uses found in a script.
#[derive(Debug, Default)]
pub(crate) struct Use<'t> {
    /// `require` of a module outside `pcall`.
    pub modules: Vec<Named<'t>>,
    /// Undefined globals that are indexed or called.
    pub undefined: Vec<Named<'t>>,
    /// Globals that an entry point writes and that are read after it may have yielded, or in the other entry point.
    pub shared: Vec<Named<'t>>,
    /// Methods of Envoy's objects that do not exist, or only in some releases.
    pub methods: Vec<Method<'t>>,
    /// `httpCall` with the name of a cluster.
    pub calls: Vec<Named<'t>>,
    /// `respond` where it is too late.
    pub responds: Vec<Late<'t>>,
    /// Request headers that are compared with a text as the client sent them.
    pub decisions: Vec<Named<'t>>,
    /// Headers whose value is logged.
    pub logged: Vec<Named<'t>>,
    /// A header or another value that may be absent, used where nil is an error.
    pub absent: Vec<Absent<'t>>,
    /// Tables of headers without the ones that Envoy requires.
    pub incomplete: Vec<Incomplete<'t>>,
    /// `body()` of a message without one, indexed.
    pub bodies: Vec<Named<'t>>,
    /// Methods called with a dot in place of the colon.
    pub dotted: Vec<Named<'t>>,
    /// Changes of headers inside of a loop over them.
    pub looped: Vec<Named<'t>>,
    /// Changes of headers after they were sent on.
    pub sent: Vec<Named<'t>>,
    /// Request headers that are appended by `add`.
    pub added: Vec<Named<'t>>,
    /// What Lua accepts, but does something else with.
    pub mistakes: Vec<Mistake<'t>>,
    /// Response headers that are removed (true) or replaced.
    pub answered: Vec<(Named<'t>, bool)>,
    /// Texts with the name that they are assigned to, the key of a table, or the argument before them.
    pub texts: Vec<(&'t str, &'t str)>,
}

/// Something that Lua accepts, but that does not do what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mistake<'t> {
    /// The expression.
    pub named: Named<'t>,
    /// What is wrong.
    pub kind: Kind<'t>,
}

/// A name and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named<'t> {
    /// The name, or the text.
    pub name: &'t str,
    /// Byte in the script.
    pub at: usize,
    /// Whether this runs when the script is loaded.
    pub at_load: bool,
}

/// A method that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Method<'t> {
    /// Its name.
    pub named: Named<'t>,
    /// What it is called on.
    pub owner: Owner,
    /// The first Envoy minor with the method; `None` if none has it.
    pub since: Option<u16>,
}

/// The source of a value that may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A header of the message.
    Header,
    /// An entry of the route's metadata.
    RouteMetadata,
    /// Set by another filter in the dynamic metadata.
    DynamicMetadata,
    /// The TLS of the client's connection.
    Tls,
    /// A variable of the proxy's environment.
    Environment,
    /// The body of an answer to `httpCall`.
    Answer,
}

/// A value that may be absent but is used unconditionally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Absent<'t> {
    /// Its name.
    pub named: Named<'t>,
    /// Its source.
    pub source: Source,
    /// Its use.
    pub used: Used<'t>,
}

/// A use of a value that fails if the value is nil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Used<'t> {
    /// `a .. value`.
    Concatenated,
    /// `value:method()`, `value.field`.
    Indexed,
    /// `#value`.
    Measured,
    /// `value + 1`.
    Calculated,
    /// `value < 1`.
    Compared,
    /// The argument of this function.
    Passed(&'t str),
}

/// A `respond` that ends the script with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Late<'t> {
    /// The method, or the call of a function that calls it.
    pub named: Named<'t>,
    /// Whether the headers of a request were already sent on; otherwise it is a response.
    pub chunks: bool,
}

/// A table of headers that Envoy rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Incomplete<'t> {
    /// The method that receives it.
    pub named: Named<'t>,
    /// The missing headers.
    pub lacks: Vec<&'static str>,
}

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

#[derive(Default)]
struct Reader<'t> {
    tokens: Vec<(usize, Token<'t>)>,
    scopes: Vec<(Opened, Vec<&'t str>)>,
    /// The open scopes that are loops over the headers, by depth.
    iterating: Vec<usize>,
    /// The open scopes in which the body was read in chunks, by depth.
    streamed: Vec<usize>,
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
    /// Headers that were removed or replaced earlier, in lowercase.
    removed: BTreeSet<String>,
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
    /// Whether the request's body was read in chunks before.
    chunked: bool,
    /// The innermost function that is neither an entry point nor inside of one, with its parameters.
    helper: Option<(&'t str, Vec<&'t str>)>,
    /// Functions that call `respond` on a parameter, by its place.
    answering: BTreeSet<(&'t str, usize)>,
    /// Calls in entry points that pass the handle on: the function, the place, whether it is then too late, and by chunks.
    passed: Vec<(Named<'t>, usize, Late<'t>)>,
    indirect: bool,
    /// Methods of `string` that the script names, read when first needed.
    text_methods: OnceCell<BTreeSet<&'t str>>,
}

/// Reads a script that parses.
pub(crate) fn read(text: &str) -> Use<'_> {
    let scopes = vec![(Opened::Block, Vec::new())];
    let mut reader = Reader { tokens: tokens(text), scopes, ..Reader::default() };
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
        let mut loops: Vec<(Vec<&'t str>, bool)> = Vec::new();
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
                    loops.push((names, self.over_headers(next)));
                    next
                }
                Token::Keyword("while") => {
                    loops.push((Vec::new(), false));
                    at + 1
                }
                Token::Keyword("do") => {
                    let (names, over_headers) = loops.pop().unwrap_or_default();
                    names.iter().for_each(|name| self.forget(name));
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
                    }
                    at + 1
                }
                Token::Sign(")" | "}" | "]") => {
                    self.brackets.pop();
                    at + 1
                }
                Token::Name(name) => {
                    self.name(at, name);
                    at + 1
                }
                Token::Text(name) => {
                    self.named_by_text(at, name);
                    at + 1
                }
                _ => at + 1,
            };
        }
    }

    /// Ends the innermost scope.
    fn close(&mut self) -> Option<(Opened, Vec<&'t str>)> {
        let closed = self.scopes.pop();
        closed.iter().flat_map(|(_, names)| names).for_each(|name| _ = self.held.remove(name));
        let depth = self.scopes.len();
        self.iterating.retain(|opened| *opened <= depth);
        self.streamed.retain(|opened| *opened <= depth);
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
        self.headers.remove(name);
        self.handles.remove(name);
        self.constants.remove(name);
    }

    /// What a name is assigned: a text, the handle, its headers, or a header.
    fn assigned(&mut self, name: &'t str, value: usize) {
        self.hold(name, value);
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
        if let Some((end, _, source)) = self.may_be_absent(value)
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
        if let Some((end, what, source)) = self.may_be_absent(at)
            && !self.guarded()
        {
            match self.used(at, end) {
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
        self.tested(at, name);
        self.decides(at, name);
        self.misread(at);
        self.nothing(at, name);
        self.passes_on(at, name);
        let held = self.headers.contains(name).then_some(at + 1);
        let headers = held.or_else(|| self.of_headers(at));
        if let Some(end) = headers {
            self.no_table(at, end);
        }
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
            } else if !self.streamed.is_empty() {
                self.found.sent.push(named);
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
        }
        if self.is_local(name) {
            if given && !in_table {
                self.forget(name);
                self.assigned(name, at + 2);
            }
            return;
        }
        self.indirect |= INDIRECT.contains(&name);
        if name == "require" {
            self.module(at);
        }
        if self.writes(at) {
            self.written.insert(name);
            if given {
                self.assigned(name, at + 2);
            }
            if let Some((response, _)) = self.entry() {
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
                self.found.shared.push(Named { at_load: false, ..*one });
            }
        }
        self.found
    }
}

#[cfg(test)]
mod tests;
