//! What opens scopes and declares names: functions, `local`, loops over headers.

use super::kinds::Held;
use super::parameters::Given;
use super::{Function, Opened, Reader, Source};
use crate::lua::Token;

impl Reader<'_> {
    pub(super) fn function(&mut self, at: usize) -> usize {
        let mut next = at + 1;
        let mut name = "";
        let mut parts = 0;
        let mut names = Vec::new();
        while let Token::Name(part) = self.token(next) {
            name = part;
            parts += 1;
            if parts == 1 && (self.sign(next + 1, ".") || self.sign(next + 1, ":")) {
                self.name(next, part);
            }
            next += 1;
            if self.sign(next, ":") {
                names.push("self");
            }
            if !(self.sign(next, ".") || self.sign(next, ":")) {
                break;
            }
            next += 1;
        }
        if parts == 1 {
            if self.before(at) == Token::Keyword("local") {
                self.declare(name);
            } else if !self.is_local(name) {
                self.written.insert(name);
                if self.scopes.len() == 1 && matches!(name, "envoy_on_request" | "envoy_on_response") {
                    let named = self.named(next - 1, name);
                    self.defined.push(named);
                }
            }
        }
        let parameters = names.len();
        // The list of parameters, which ends at the first closing bracket.
        next += 1;
        while !self.sign(next, ")") && next < self.tokens.len() {
            if let Token::Name(parameter) = self.token(next) {
                names.push(parameter);
            }
            next += 1;
        }
        names.iter().for_each(|name| self.forget(name));
        let handle = names.get(parameters).copied().unwrap_or("");
        let function = match name {
            "envoy_on_request" if parts == 1 => Function::Request(handle),
            "envoy_on_response" if parts == 1 => Function::Response(handle),
            _ => Function::Other,
        };
        if self.functions.is_empty() {
            self.chunked = false;
            self.looked_at.clear();
            let helps = function == Function::Other && parts == 1;
            self.helper = helps.then(|| (name, names.clone()));
            for (place, parameter) in names.iter().enumerate().filter(|_| helps) {
                match self.given.get(&(name, place)) {
                    Some(Given::Headers) => _ = self.headers.insert(parameter),
                    Some(Given::Handle) => _ = self.given_handles.insert(parameter),
                    None => {}
                }
            }
        }
        self.functions.push(function);
        self.scopes.push((Opened::Function, names));
        next + 1
    }

    pub(super) fn local(&mut self, at: usize) -> usize {
        if self.token(at + 1) == Token::Keyword("function") {
            return at + 1;
        }
        let mut next = at + 1;
        let first = next;
        let mut names = Vec::new();
        while let Token::Name(name) = self.token(next) {
            self.declare(name);
            self.forget(name);
            names.push(name);
            next += 1;
            if !self.sign(next, ",") {
                break;
            }
            next += 1;
        }
        if let (Token::Name(name), true, true) = (self.token(first), next == first + 1, self.sign(next, "=")) {
            self.assigned(name, next + 1);
        }
        // An answer without a body has nil for it.
        if let (Token::Name(handle), [headers, rest @ ..]) = (self.token(next + 1), names.as_slice())
            && self.sign(next, "=")
            && (self.entry().is_some_and(|(_, own)| own == handle) || self.handles.contains(handle))
            && self.method_at(next + 2, "httpCall")
        {
            let nothing = self.is_asynchronous(next + 4);
            self.held.insert(headers, if nothing { Held::Nothing } else { Held::Answer });
            if let ([body], false) = (rest, nothing) {
                self.maybe.insert(body, Source::Answer);
                self.answer_bodies.insert(body);
            }
        }
        next
    }

    /// Whether `in pairs(handle:headers())` begins here.
    pub(super) fn over_headers(&self, at: usize) -> bool {
        let pairs = self.token(at) == Token::Keyword("in") && self.token(at + 1) == Token::Name("pairs");
        let held = matches!(self.token(at + 3), Token::Name(name) if self.headers.contains(name)).then_some(at + 4);
        let end = held.or_else(|| self.of_headers(at + 3)).filter(|_| pairs && self.sign(at + 2, "("));
        end.is_some_and(|end| self.sign(end, ")"))
    }
}
