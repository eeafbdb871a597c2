//! Calls of the methods of Envoy's objects: which exist, their arguments, and results that may be absent.

use super::names::{ALWAYS_THERE, LOGS, MODULES, OF_PROXY, OF_TEXTS, YIELDS};
use super::{Absent, Incomplete, Late, Method, Named, Opened, Owner, Reader, Source, Used};
use crate::lua::Token;
use std::collections::{BTreeMap, BTreeSet};

impl<'t> Reader<'t> {
    pub(super) fn method_at(&self, at: usize, name: &str) -> bool {
        self.sign(at, ":") && self.token(at + 1) == Token::Name(name) && self.sign(at + 2, "(")
    }

    /// Whether `handle:headers()` begins here: the token after it.
    pub(super) fn of_headers(&self, at: usize) -> Option<usize> {
        self.of_store(at, "headers")
    }

    /// The same for another method of the handle without arguments.
    pub(super) fn of_store(&self, at: usize, method: &str) -> Option<usize> {
        self.of_handle(at, method).filter(|open| self.sign(open + 1, ")")).map(|open| open + 2)
    }

    /// Whether a call of a method of the handle begins here: its bracket.
    pub(super) fn of_handle(&self, at: usize, method: &str) -> Option<usize> {
        let Token::Name(handle) = self.token(at) else { return None };
        let (_, own) = self.entry()?;
        let handle = handle == own || self.handles.contains(handle);
        (handle && self.method_at(at + 1, method)).then_some(at + 3)
    }

    /// Whether `handle:headers():get("name")` begins here, for a header that may be absent: the token after it, and its
    /// name.
    pub(super) fn header_get(&self, at: usize) -> Option<(usize, &'t str)> {
        let held = matches!(self.token(at), Token::Name(name) if self.headers.contains(name)).then_some(at + 1);
        // In a function that gets the handle.
        let given = || matches!(self.token(at), Token::Name(name) if self.given_handles.contains(name));
        let given = || (given() && self.method_at(at + 1, "headers") && self.sign(at + 4, ")")).then_some(at + 5);
        let at = self.of_headers(at).or_else(|| self.of_store(at, "metadata")).or(held).or_else(given)?;
        if !self.method_at(at, "get") {
            return None;
        }
        let Token::Text(header) = self.token(at + 3) else { return None };
        // Pseudo headers always exist.
        (self.sign(at + 4, ")") && !header.starts_with(':')).then_some((at + 5, header))
    }

    /// Whether something begins here that may be nil: a header, dynamic metadata, the TLS connection, an environment variable. The token
    /// after it, and its name.
    pub(super) fn may_be_absent(&self, at: usize) -> Option<(usize, &'t str, Source)> {
        if let Some((end, header)) = self.header_get(at) {
            // The caller of another function may have looked at the header.
            if self.entry().is_none() && self.gets.get(header).is_some_and(|times| *times > 1) {
                return None;
            }
            let request = !matches!(self.entry(), Some((true, _)));
            let is = |names: &[&str]| request && names.iter().any(|name| header.eq_ignore_ascii_case(name));
            return match self.of_store(at, "metadata") {
                Some(_) => Some((end, header, Source::RouteMetadata)),
                None if is(ALWAYS_THERE) => None,
                None if is(&["x-forwarded-for"]) => Some((end, header, Source::ForwardedFor)),
                None => Some((end, header, Source::Header)),
            };
        }
        if let Some(found) = self.key_of_table(at) {
            return Some(found);
        }
        if let Some(end) = self.of_store(at, "trailers") {
            return Some((end, "trailers()", Source::Trailers));
        }
        // A number of nil is nil. Without a header, `tonumber` fails.
        if self.token(at) == Token::Name("tonumber")
            && !self.is_local("tonumber")
            && self.sign(at + 1, "(")
            && let Some((end, name, source)) = self.may_be_absent(at + 2)
            && self.sign(end, ")")
            && self.header_get(at + 2).is_none()
        {
            return Some((end + 1, name, source));
        }
        if self.token(at) == Token::Name("os")
            && !self.is_local("os")
            && self.sign(at + 1, ".")
            && self.token(at + 2) == Token::Name("getenv")
            && self.sign(at + 3, "(")
            && let Token::Text(variable) = self.token(at + 4)
            && self.sign(at + 5, ")")
        {
            // The injection template sets these in every proxy.
            return (!OF_PROXY.contains(&variable)).then_some((at + 6, variable, Source::Environment));
        }
        if let Some(end) = self.library_call(at, "io", "open") {
            return Some((end, "io.open()", Source::File));
        }
        if let Some((end, pattern)) = self.match_of_text(at) {
            return Some((end, pattern, Source::Match));
        }
        if let Some(connection) = self.of_store(at, "connection") {
            let tls = self.method_at(connection, "ssl") && self.sign(connection + 3, ")");
            return tls.then_some((connection + 4, "ssl()", Source::Tls));
        }
        let info = self.of_store(at, "streamInfo")?;
        if self.method_at(info, "downstreamSslConnection") && self.sign(info + 3, ")") {
            return Some((info + 4, "downstreamSslConnection()", Source::Tls));
        }
        let metadata = (self.method_at(info, "dynamicMetadata") && self.sign(info + 3, ")")).then_some(info + 4)?;
        let Token::Text(filter) = self.token(metadata + 3) else { return None };
        (self.method_at(metadata, "get") && self.sign(metadata + 4, ")")).then_some((
            metadata + 5,
            filter,
            Source::DynamicMetadata,
        ))
    }

    /// A method of the handle.
    pub(super) fn method(&mut self, at: usize, response: bool) {
        let Token::Name(method) = self.token(at + 2) else { return };
        if !self.sign(at + 1, ":") {
            return;
        }
        let named = self.named(at + 2, method);
        match method {
            "bodyChunks" => self.streamed.push((self.scopes.len(), false)),
            "trailers" => self.streamed.push((self.scopes.len(), true)),
            "respond" => self.responded = true,
            _ => {}
        }
        if YIELDS.contains(&method) {
            self.yields.push((named.at, response));
        }
        let (argument, quote) = match (self.sign(at + 3, "("), self.token(at + 4)) {
            (true, Token::Text(text)) => (text, 1),
            (true, Token::Name(name)) if self.sign(at + 5, ",") => (self.constants.get(name).copied().unwrap_or(""), 0),
            _ => ("", 0),
        };
        self.incomplete(at + 2, method, response);
        match method {
            "respond" if self.sign(at + 3, "(") => self.arguments(at + 3, method),
            "httpCall" if self.sign(at + 3, "(") => self.http_call(at + 3),
            _ => {}
        }
        if LOGS.contains(&method) && self.sign(at + 3, "(") {
            self.logs(at + 3);
        }
        match method {
            "respond" if response || self.chunked => self.found.responds.push(Late { named, chunks: !response }),
            "bodyChunks" if !response => self.chunked = true,
            "httpCall" if !argument.is_empty() => {
                let call = self.named(at + 4, argument);
                // The place of the text, after its quote.
                self.found.calls.push(Named { at: call.at + quote, ..call });
            }
            // Without `true`, the body of a message without a body is nil.
            "body" if self.sign(at + 4, ")") && self.sign(at + 5, ":") && !self.guarded() => {
                self.found.bodies.push(named);
            }
            _ => {}
        }
    }

    /// The headers whose values are in the arguments from this bracket on.
    fn logs(&mut self, open: usize) {
        let (mut at, mut depth) = (open, 0_usize);
        loop {
            match self.token(at) {
                Token::Sign("(") => depth += 1,
                Token::Sign(")") => depth = depth.saturating_sub(1),
                Token::Name(name) => {
                    // A test of a value is not the value: `#value`, `value ~= nil`.
                    let held = self.held_headers.get(name).map(|header| (at + 1, *header));
                    if let Some((end, header)) = held.or_else(|| self.header_get(at)) {
                        let shown = !matches!(self.token(end), Token::Sign("==" | "~="))
                            && !matches!(self.before(at), Token::Sign("#"))
                            && !self.is_scheme(end, header);
                        if shown {
                            let named = self.named(at, header);
                            self.found.logged.push(named);
                        }
                        at = end;
                        continue;
                    }
                }
                Token::End => return,
                _ => {}
            }
            if depth == 0 {
                return;
            }
            at += 1;
        }
    }

    /// A comparison of a request header to a text, or a search in it: the client's value decides.
    pub(super) fn decides(&mut self, at: usize, name: &'t str) {
        let (end, header) = match (self.entry(), self.held_headers.get(name)) {
            (Some((false, _)), Some(header)) => (at + 1, *header),
            (Some((false, _)), None) => match self.header_get(at) {
                Some((_, header)) if self.removed.contains(&header.to_ascii_lowercase()) => return,
                Some(found) => found,
                None => return,
            },
            _ => return,
        };
        let compared = matches!(self.token(end), Token::Sign("==" | "~="))
            && matches!(self.token(end + 1), Token::Text(text) if !text.is_empty());
        // `"admin" == role`
        let turned = matches!(self.before(at), Token::Sign("==" | "~="))
            && at.checked_sub(2).is_some_and(|at| matches!(self.token(at), Token::Text(text) if !text.is_empty()));
        let search = |method: Token<'_>| matches!(method, Token::Name("find" | "match"));
        let searched = self.sign(end, ":") && search(self.token(end + 1))
            || self.sign(end, ",")
                && self.before(at) == Token::Sign("(")
                && at
                    .checked_sub(4)
                    .is_some_and(|from| self.token(from) == Token::Name("string") && search(self.token(from + 2)));
        // Gateways write the last address themselves.
        let pattern = if self.sign(end, ",") { end + 1 } else { end + 3 };
        let last = header.eq_ignore_ascii_case("x-forwarded-for")
            && matches!(self.token(pattern), Token::Text(text) if text.ends_with('$') && !text.starts_with('^'));
        if (compared || turned || searched && !last) && self.matters(at) {
            let named = self.named(at, header);
            self.found.decisions.push(named);
        }
    }

    /// Whether what is taken of a header of credentials after this token is only the name of their scheme.
    fn is_scheme(&self, end: usize, header: &str) -> bool {
        let of_scheme = ["authorization", "proxy-authorization"].iter().any(|one| header.eq_ignore_ascii_case(one));
        if !of_scheme || !self.method_at(end, "match") || !matches!(self.token(end + 4), Token::Sign(")")) {
            return false;
        }
        let Token::Text(pattern) = self.token(end + 3) else { return false };
        ["^(%a+)", "^%a+", "^(%w+)", "^%w+", "^(%S+)", "^%S+", "^(%a+) ", "^(%w+) ", "^(%S+) ", "^(%a+)%s", "^(%S+)%s"]
            .contains(&pattern)
    }

    /// A call of a named function with the handle, or `respond` on a parameter of one.
    pub(super) fn passes_on(&mut self, at: usize, name: &'t str) {
        if let Some((function, parameters)) = &self.helper
            && self.method_at(at + 1, "respond")
            && let Some(place) = parameters.iter().position(|one| *one == name)
        {
            self.answering.insert((function, place));
        }
        let Some((response, handle)) = self.entry() else { return };
        if !self.sign(at + 1, "(") || !(response || self.chunked) {
            return;
        }
        let (mut next, mut place) = (at + 2, 0);
        // Simple arguments only: names and texts.
        loop {
            if self.token(next) == Token::Name(handle) && matches!(self.token(next + 1), Token::Sign("," | ")")) {
                let named = self.named(at, name);
                self.passed.push((named, place, Late { named, chunks: !response }));
            }
            if !self.sign(next + 1, ",") {
                return;
            }
            next += 2;
            place += 1;
        }
    }

    /// The methods of a call chain that begins at this name: `handle:streamInfo():dynamicMetadata()`.
    pub(super) fn chain(&mut self, at: usize, first: Owner) {
        let (mut at, mut owner) = (at, first);
        while self.sign(at + 1, ":") {
            let Token::Name(method) = self.token(at + 2) else { return };
            if LOGS.contains(&method) {
                return;
            }
            let known = owner.methods().iter().find(|(name, _)| *name == method);
            if known.is_none_or(|(_, since)| *since > 0) {
                let named = self.named(at + 2, method);
                let since = known.map(|(_, since)| *since);
                self.found.methods.push(Method { named, owner, since });
            }
            let argument =
                usize::from(method == "body" && matches!(self.token(at + 4), Token::Keyword("true" | "false")));
            let called = self.sign(at + 3, "(") && self.sign(at + 4 + argument, ")");
            let Some(next) = owner.of(method).filter(|_| called) else { return };
            owner = next;
            at += 4 + argument;
            self.dotted(at, "", owner);
        }
    }

    /// `handle.logInfo("…")`: a method without its object.
    pub(super) fn dotted(&mut self, at: usize, object: &'t str, owner: Owner) {
        let Token::Name(method) = self.token(at + 2) else { return };
        let known = LOGS.contains(&method) || owner.methods().iter().any(|(name, _)| *name == method);
        let own = match self.token(at + 4) {
            Token::Name(name) => object.is_empty() || name == object,
            _ => false,
        };
        let called = self.sign(at + 1, ".") && self.sign(at + 3, "(") && !own;
        if known && called && !self.guarded() {
            let named = self.named(at + 2, method);
            self.found.dotted.push(named);
        }
    }

    /// The table of headers passed to `httpCall` or `respond`, if it is written in place with text keys.
    pub(super) fn incomplete(&mut self, at: usize, method: &'t str, response: bool) {
        let (mut next, wanted): (usize, &[&'static str]) = match method {
            "httpCall" => (at + 4, &[":method", ":path", ":authority"]),
            "respond" if !response => (at + 2, &[":status"]),
            _ => return,
        };
        if !self.sign(at + 1, "(") || (method == "httpCall" && !self.sign(at + 3, ",")) || !self.sign(next, "{") {
            return;
        }
        next += 1;
        let (mut depth, mut keys) = (1_usize, BTreeSet::new());
        while depth > 0 {
            match self.token(next) {
                Token::End => return,
                Token::Sign("{") => depth += 1,
                Token::Sign("}") => depth -= 1,
                Token::Sign("[") if depth == 1 && matches!(self.before(next), Token::Sign("{" | "," | ";")) => {
                    // A computed key may be any header.
                    let Token::Text(key) = self.token(next + 1) else { return };
                    keys.insert(key);
                }
                _ => {}
            }
            next += 1;
        }
        let lacks: Vec<&'static str> = wanted.iter().filter(|one| !keys.contains(*one)).copied().collect();
        if !lacks.is_empty() {
            let named = self.named(at, method);
            self.found.incomplete.push(Incomplete { named, lacks });
        }
    }

    /// A change of the request's headers by `add`, `replace` or `remove`; `at` is after the expression that holds the
    /// headers.
    pub(super) fn header_change(&mut self, at: usize) {
        let (Token::Name(method @ ("add" | "replace" | "remove")), true) = (self.token(at + 1), self.sign(at, ":"))
        else {
            return;
        };
        let (header, shift) = match self.token(at + 3) {
            Token::Text(header) => (header, 1),
            Token::Name(name) => {
                let Some(header) = self.constants.get(name) else {
                    self.removed_any |= method == "remove";
                    return;
                };
                (*header, 0)
            }
            _ => return,
        };
        let named = self.named(at + 3, header);
        let named = Named { at: named.at + shift, ..named };
        if method == "replace" && self.is_own(at + 2) {
            self.found.set.push(named);
        }
        // A header that was removed or replaced before is no longer the client's.
        let lower = header.to_ascii_lowercase();
        if method == "replace" && self.in_block() {
            self.found.conditional.push(named);
        } else {
            self.always.insert(lower.clone());
        }
        if method != "remove" && !self.asked.contains(&lower) {
            self.found.written.push(named);
        }
        if method != "add" {
            self.removed.insert(lower);
        } else if !self.removed_any && !self.removed.contains(&lower) {
            self.found.added.push(named);
            if !self.asked.contains(&lower) && !self.guarded() {
                self.found.appended.push(named);
            }
        }
    }

    /// Whether this runs only in a branch or a loop of its function.
    fn in_block(&self) -> bool {
        self.scopes.last().is_some_and(|(opened, _)| *opened != Opened::Function)
    }

    /// Headers replaced in one block alone stay as the client sent them elsewhere.
    pub(super) fn settle_conditional(&mut self) {
        let answers = self.responded || !self.answering.is_empty();
        let mut found = std::mem::take(&mut self.found.conditional);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for one in &found {
            *counts.entry(one.name.to_ascii_lowercase()).or_default() += 1;
        }
        found.retain(|one| {
            let name = one.name.to_ascii_lowercase();
            counts.get(&name) == Some(&1) && !self.always.contains(&name) && !self.asked.contains(&name)
        });
        if !answers && !self.removed_any {
            self.found.conditional = found;
        }
    }

    /// Whether the value of a header is what the script itself contains or reads from its environment; `open` is the
    /// bracket of the call.
    fn is_own(&self, open: usize) -> bool {
        let Some(close) = self.closing(open).filter(|_| self.sign(open + 2, ",")) else { return false };
        let mut value = (open + 3..close).map(|at| self.token(at));
        let named = |name: &str| matches!(name, "os" | "getenv" | "tostring") || self.constants.contains_key(name);
        (open + 3 < close) && value.all(|token| !matches!(token, Token::Name(name) if !named(name)))
    }

    /// The same for the response's headers.
    pub(super) fn answer_change(&mut self, at: usize) {
        if let (Token::Name(method @ ("replace" | "remove")), true, Token::Text(header)) =
            (self.token(at + 1), self.sign(at, ":"), self.token(at + 3))
        {
            let changed = self.named(at + 3, header);
            self.found.answered.push((Named { at: changed.at + 1, ..changed }, method == "remove"));
        }
    }

    pub(super) fn module(&mut self, at: usize) {
        let after = (self.token(at + 1), self.token(at + 2));
        let ((Token::Text(text), _) | (Token::Sign("("), Token::Text(text))) = after else { return };
        let root = text.split('.').next().unwrap_or(text);
        if !MODULES.contains(&root) && !self.guarded() {
            let named = self.named(at, text);
            self.found.modules.push(named);
        }
    }

    /// What a script changes in the library `package`.
    pub(super) fn package(&mut self, at: usize) {
        match (self.token(at + 2), self.token(at + 3), self.token(at + 4)) {
            (Token::Name("preload" | "loaded"), Token::Sign("["), Token::Text(name))
            | (Token::Name("preload" | "loaded"), Token::Sign("."), Token::Name(name)) => {
                self.found.preloaded.push(name);
            }
            (Token::Name("path" | "cpath"), Token::Sign("="), _) | (Token::Name("loaders"), ..) => {
                self.found.finds_modules = true;
            }
            _ => {}
        }
    }

    /// A local that holds what may be absent: whether it is looked at before it is used.
    pub(super) fn tested(&mut self, at: usize, name: &'t str) {
        if self.held_bodies.remove(name)
            && self.sign(at + 1, ":")
            && !self.guarded()
            && !matches!(self.before(at), Token::Keyword("local"))
        {
            let named = self.named(at, name);
            self.found.bodies.push(named);
        }
        let Some(&source) = self.maybe.get(name) else { return };
        if let Some(used) = self.used(at, at + 1) {
            if !self.guarded() {
                let named = self.named(at, name);
                self.found.absent.push(Absent { named, source, used });
            }
            self.maybe.remove(name);
            return;
        }
        // Whatever else is done with it may be a test, too.
        if self.tests(at, at + 1) || !matches!(self.before(at), Token::Keyword("local")) {
            self.maybe.remove(name);
        }
    }

    /// Whether the expression from `at` to `end` is tested.
    pub(super) fn tests(&self, at: usize, end: usize) -> bool {
        let tests = |token: Token<'_>| {
            matches!(
                token,
                Token::Keyword("if" | "elseif" | "and" | "or" | "not" | "while" | "until") | Token::Sign("==" | "~=")
            )
        };
        tests(self.before(at)) || tests(self.token(end))
    }

    /// How the expression from `at` to `end` is used, if nil is an error there.
    pub(super) fn used(&self, at: usize, end: usize) -> Option<Used<'t>> {
        let (before, after) = (self.before(at), self.token(end));
        // `(a == nil or get():lower())` and the like may test first.
        let looked = matches!(before, Token::Keyword("and" | "or"));
        if matches!(after, Token::Sign(":" | "." | "[")) {
            return (!looked).then_some(Used::Indexed);
        }
        if before == Token::Sign("..") || after == Token::Sign("..") {
            return Some(Used::Concatenated);
        }
        if looked {
            return None;
        }
        if before == Token::Sign("#") {
            return Some(Used::Measured);
        }
        if matches!(after, Token::Sign("+" | "-" | "*" | "/" | "%" | "^"))
            || matches!(before, Token::Sign("+" | "-" | "*" | "/" | "%" | "^"))
        {
            return Some(Used::Calculated);
        }
        if matches!(after, Token::Sign("<" | ">" | "<=" | ">="))
            || matches!(before, Token::Sign("<" | ">" | "<=" | ">="))
        {
            return Some(Used::Compared);
        }
        self.passed_to(at, end).map(Used::Passed)
    }

    /// The function that the expression from `at` to `end` is the text argument of: the first one of `string.lower`
    /// and the like, the message of a log, the value of a header.
    fn passed_to(&self, at: usize, end: usize) -> Option<&'t str> {
        if !matches!(self.token(end), Token::Sign("," | ")")) {
            return None;
        }
        let open = at.checked_sub(1)?;
        let called = |open: usize, dot: &str| match (open.checked_sub(1).map(|at| self.token(at)), open.checked_sub(2))
        {
            (Some(Token::Name(name)), Some(at)) if self.sign(at, dot) => Some((name, at.checked_sub(1)?)),
            _ => None,
        };
        if self.sign(open, "(") {
            let function = open.checked_sub(1).map(|at| self.token(at));
            if let Some(Token::Name(name @ ("pairs" | "ipairs"))) = function
                && !self.is_local(name)
            {
                return Some(name);
            }
            if let Some((name, owner)) = called(open, ".") {
                let texts = self.token(owner) == Token::Name("string") && !self.is_local("string");
                return (texts && OF_TEXTS.contains(&name)).then_some(name);
            }
            let (name, owner) = called(open, ":")?;
            let (_, handle) = self.entry()?;
            let own = matches!(self.token(owner), Token::Name(one) if one == handle || self.handles.contains(one));
            return (own && LOGS.contains(&name) && self.sign(end, ")")).then_some(name);
        }
        // headers():replace("name", value)
        if !self.sign(open, ",") || !self.sign(end, ")") {
            return None;
        }
        let open = open.checked_sub(2)?;
        let (name, owner) = called(open, ":")?;
        let plain = matches!(self.token(open + 1), Token::Text(_) | Token::Name(_)) && self.sign(open, "(");
        let headers = match self.token(owner) {
            Token::Name(one) => self.headers.contains(one),
            Token::Sign(")") => owner.checked_sub(4).and_then(|from| self.of_headers(from)) == Some(owner + 1),
            _ => false,
        };
        (plain && headers && matches!(name, "add" | "replace")).then_some(name)
    }
}
