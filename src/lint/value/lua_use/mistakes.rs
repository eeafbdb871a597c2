//! Finds what Lua accepts and does something else with: comparisons of different types, patterns that are not what they seem.

use super::kinds::{Compared, Held, Kind, regular};
use super::{Mistake, Named, Reader};
use crate::lua::Token;
use std::net::IpAddr;

const OF_REQUESTS: &[&str] = &[":authority", ":method", ":path", ":scheme"];
const SEARCHES: &[&str] = &["find", "match", "gmatch", "gsub"];
const ADDRESSES: &[&str] = &[
    "downstreamDirectLocalAddress",
    "downstreamDirectRemoteAddress",
    "downstreamLocalAddress",
    "downstreamRemoteAddress",
];

impl<'t> Reader<'t> {
    /// What the expression that begins here is, if a name can hold it, and the token after it.
    fn holdable(&self, at: usize) -> Option<(usize, Held<'t>)> {
        let Token::Name(name) = self.token(at) else { return None };
        match self.held.get(name) {
            Some(Held::Answer) => {
                let Token::Text(header) = self.token(at + 2) else { return None };
                return (self.sign(at + 1, "[") && self.sign(at + 3, "]")).then_some((at + 4, Held::Header(header)));
            }
            Some(held) => return Some((at + 1, *held)),
            None => {}
        }
        if let Some(info) = self.of_store(at, "streamInfo") {
            let of_address = ADDRESSES.iter().any(|method| self.method_at(info, method));
            return (of_address && self.sign(info + 3, ")")).then_some((info + 4, Held::Address));
        }
        let headers = self.headers.contains(name).then_some(at + 1).or_else(|| self.of_headers(at))?;
        let Token::Text(header) = self.token(headers + 3) else { return None };
        (self.method_at(headers, "get") && self.sign(headers + 4, ")")).then_some((headers + 5, Held::Header(header)))
    }

    /// Keeps what a name is assigned if the value is nothing more than that.
    pub(super) fn hold(&mut self, name: &'t str, value: usize) {
        let Some((end, held)) = self.holdable(value) else { return };
        let complete = match self.token(end) {
            Token::Keyword("or") => matches!(self.token(end + 1), Token::Text(_)),
            Token::Keyword("and") => false,
            Token::Sign(sign) => matches!(sign, ";" | ","),
            _ => true,
        };
        if complete {
            self.held.insert(name, held);
        }
    }

    /// A comparison of the expression that begins here, and a pseudo header that it reads in the wrong direction.
    pub(super) fn misread(&mut self, at: usize) {
        let Some((end, held)) = self.holdable(at) else { return };
        if let (Held::Header(header), Some((response, _))) = (held, self.entry())
            && end > at + 4
            && (if response { OF_REQUESTS.contains(&header) } else { header == ":status" })
            && !self.guarded()
        {
            self.mistake(at, header, Kind::OtherDirection(response));
            return;
        }
        let operator = |token: Token<'_>| match token {
            Token::Sign("==") => Some(Compared::Equal),
            Token::Sign("~=") => Some(Compared::Different),
            Token::Sign("<" | ">" | "<=" | ">=") => Some(Compared::Ordered),
            _ => None,
        };
        let behind = operator(self.token(end)).map(|operator| (operator, self.token(end + 1)));
        let before = || {
            let operator = operator(self.before(at))?;
            Some((operator, self.token(at.checked_sub(2)?)))
        };
        // `#text > 5`, `text .. 1 == x`
        let alone = !matches!(
            self.before(at),
            Token::Sign("#" | ".." | "+" | "-" | "*" | "/" | "%" | "^") | Token::Keyword("not")
        );
        let Some((operator, other)) = behind.or_else(before).filter(|_| alone && !self.guarded()) else { return };
        let kind = match (held, other) {
            (Held::Header(_) | Held::Address | Held::HeaderName, Token::Number) => Kind::TextAndNumber(operator),
            (Held::HeaderName, Token::Text(text)) if text.contains(|c: char| c.is_ascii_uppercase()) => {
                Kind::Capitals(text, operator)
            }
            (Held::Address, Token::Text(text)) if text.parse::<IpAddr>().is_ok() => Kind::NoPort(text, operator),
            _ => return,
        };
        let name = match (held, self.token(at)) {
            (Held::Header(header), _) => header,
            (_, Token::Name(name)) if end == at + 1 => name,
            _ => match self.token(end - 3) {
                Token::Name(method) => method,
                _ => return,
            },
        };
        self.mistake(at, name, kind);
    }

    /// A value that is no text where `add`, `replace` and `respond` take one; `open` is the bracket of the call.
    pub(super) fn arguments(&mut self, open: usize, function: &'t str) {
        let comma = match function {
            "add" | "replace" => open + 2,
            "respond" if self.sign(open + 1, "{") => match self.closing(open + 1) {
                Some(close) => close + 1,
                None => return,
            },
            _ => return,
        };
        let got = match self.token(comma + 1) {
            Token::Sign("{") => "table",
            Token::Keyword("true" | "false") => "boolean",
            Token::Keyword("nil") if function != "respond" => "nil",
            Token::Keyword("function") => "function",
            _ => return,
        };
        if self.sign(comma, ",") && !self.guarded() {
            self.mistake(comma + 1, function, Kind::Argument { number: 2, function, got });
        }
    }

    /// The bracket that closes this one.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in open..self.tokens.len() {
            match self.token(at) {
                Token::Sign("(" | "{" | "[") => depth += 1,
                Token::Sign(")" | "}" | "]") => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }

    /// The pattern of `string.find(text, "…")` or `text:find("…")`; `open` is the bracket of the call.
    pub(super) fn pattern(&mut self, open: usize, function: &str) {
        if !SEARCHES.contains(&function) {
            return;
        }
        let Some(owner) = open.checked_sub(2) else { return };
        let mut at = open + 1;
        if self.sign(owner, ".") {
            let library = owner.checked_sub(1).is_some_and(|at| self.token(at) == Token::Name("string"));
            if !library || self.is_local("string") {
                return;
            }
            let Some(next) = self.next_argument(at) else { return };
            at = next;
        } else if !self.sign(owner, ":") {
            return;
        }
        let (text, quote) = match self.token(at) {
            Token::Text(text) => (text, 1),
            Token::Name(name) => (self.constants.get(name).copied().unwrap_or(""), 0),
            _ => return,
        };
        // `find(text, pattern, init, true)` takes the pattern as it is.
        let plain = || {
            let init = self.next_argument(at)?;
            let plain = self.next_argument(init)?;
            Some(!matches!(self.token(plain), Token::Keyword("false" | "nil")))
        };
        if !matches!(self.token(at + 1), Token::Sign("," | ")")) || (function == "find" && plain() == Some(true)) {
            return;
        }
        if let Some(regular) = regular(text) {
            let named = self.named(at, text);
            let named = Named { at: named.at + quote, ..named };
            self.found.mistakes.push(Mistake { named, kind: Kind::Pattern(regular) });
        }
    }

    /// The first token of the argument after the one that begins here.
    fn next_argument(&self, from: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in from..self.tokens.len() {
            match self.token(at) {
                Token::Sign("(" | "{" | "[") | Token::Keyword("function") => depth += 1,
                Token::Keyword("end") | Token::Sign(")" | "}" | "]") => depth = depth.checked_sub(1)?,
                Token::Sign(",") if depth == 0 => return Some(at + 1),
                _ => {}
            }
        }
        None
    }

    fn mistake(&mut self, at: usize, name: &'t str, kind: Kind<'t>) {
        let named = self.named(at, name);
        self.found.mistakes.push(Mistake { named, kind });
    }
}
