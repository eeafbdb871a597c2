//! Finds what Lua accepts and does something else with: comparisons of different types, patterns that are not what they seem.

use super::kinds::{Compared, Held, Kind, Misuse, regular};
use super::names::OF_TEXTS;
use super::{Mistake, Named, Reader};
use crate::lua::Token;
use std::net::IpAddr;

const OF_REQUESTS: &[&str] = &[
    ":authority",
    ":method",
    ":path",
    ":scheme",
    "accept-language",
    "access-control-request-headers",
    "access-control-request-method",
    "cookie",
    "if-modified-since",
    "if-none-match",
    "origin",
    "referer",
    "user-agent",
    "x-forwarded-client-cert",
    "x-forwarded-for",
];
/// Names of pseudo headers without their colon, which no message has as headers.
const NO_HEADERS: &[&str] = &["authority", "method", "path", "scheme", "status"];
/// How many tokens before and after a comparison are looked at.
const CONDITION: usize = 64;
const SEARCHES: &[&str] = &["find", "match", "gmatch", "gsub"];
const ADDRESSES: &[&str] = &[
    "downstreamDirectLocalAddress",
    "downstreamDirectRemoteAddress",
    "downstreamLocalAddress",
    "downstreamRemoteAddress",
];

impl<'t> Reader<'t> {
    /// What the expression that begins here is, if a name can hold it, and the token after it.
    pub(super) fn holdable(&self, at: usize) -> Option<(usize, Held<'t>)> {
        let Token::Name(name) = self.token(at) else { return None };
        match self.held.get(name) {
            Some(Held::Nothing) => return None,
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
        let ends = |token: Token<'_>| match token {
            Token::Keyword(word) => !matches!(word, "or" | "and"),
            Token::Sign(sign) => matches!(sign, ";" | ","),
            _ => true,
        };
        let object = self
            .of_body(value)
            .map(|end| (end, Held::Body))
            .or_else(|| self.of_store(value, "filterContext").map(|end| (end, Held::FilterContext)))
            .or_else(|| self.list(value))
            .or_else(|| match self.suffixed(value)? {
                (end, Some("lower")) => Some((end, Held::Lower)),
                (end, Some("upper")) => Some((end, Held::Upper)),
                _ => None,
            });
        if let Some((_, held)) = object.filter(|(end, _)| ends(self.token(*end))) {
            self.held.insert(name, held);
            return;
        }
        let Some((end, held)) = self.holdable(value) else { return };
        let held = match (self.token(end), held) {
            (Token::Keyword("or"), Held::Header(header)) if matches!(self.token(end + 1), Token::Text(_)) => {
                Held::Filled(header)
            }
            (Token::Keyword("or" | "and"), _) => return,
            (Token::Sign(sign), _) if !matches!(sign, ";" | ",") => return,
            _ => held,
        };
        self.held.insert(name, held);
    }

    /// Whether a table of texts begins here: the token after it.
    pub(super) fn list(&self, at: usize) -> Option<(usize, Held<'t>)> {
        let mut end = at + 1;
        while let Token::Text(_) = self.token(end) {
            end += 1 + usize::from(self.sign(end + 1, ","));
        }
        (self.sign(at, "{") && self.sign(end, "}") && end > at + 1).then_some((end + 1, Held::Listed(at, end)))
    }

    /// The name that a loop over a table of texts gives to each of them; `at` is after the names of the loop.
    pub(super) fn listed(&self, names: &[&'t str], at: usize) -> Option<(&'t str, Held<'t>)> {
        let each =
            self.token(at) == Token::Keyword("in") && matches!(self.token(at + 1), Token::Name("ipairs" | "pairs"));
        let list = match self.token(at + 3) {
            Token::Name(list) if self.sign(at + 4, ")") => self.held.get(list).copied(),
            _ => self.list(at + 3).filter(|(end, _)| self.sign(*end, ")")).map(|(_, held)| held),
        };
        let list = list.filter(|held| each && matches!(held, Held::Listed(..)))?;
        Some((names.get(1)?, list))
    }

    /// A local that an asynchronous `httpCall` left empty, indexed.
    pub(super) fn nothing(&mut self, at: usize, name: &'t str) {
        if self.held.get(name) == Some(&Held::Nothing) && matches!(self.token(at + 1), Token::Sign("[" | "." | ":")) {
            self.mistake(at, name, Kind::Asynchronous);
        }
    }

    /// What is wrong with the header or address that begins here: its name, a method of it, or a comparison.
    pub(super) fn misread(&mut self, at: usize) {
        let Some((end, held)) = self.holdable(at).filter(|_| !self.guarded()) else { return };
        let is_read = end > at + 4;
        if let (Held::Header(header), Some((false, _))) = (held, self.entry()) {
            if is_read {
                self.asked.insert(header.to_ascii_lowercase());
            } else if header == ":status" && !self.sign(at.wrapping_sub(1), "=") {
                self.status_reads += 1;
            }
        }
        match (held, self.entry()) {
            (Held::Header(header), Some((response, _)))
                if is_read
                    && (if response {
                        OF_REQUESTS.iter().any(|one| header.eq_ignore_ascii_case(one))
                    } else {
                        header == ":status"
                    }) =>
            {
                self.mistake(at, header, Kind::OtherDirection(response));
                return;
            }
            (Held::Header(header), _) if is_read && NO_HEADERS.contains(&header) => {
                self.mistake(at, header, Kind::NoColon);
            }
            _ => {}
        }
        let text = self.filled(at, end).unwrap_or(end);
        if let (Held::Header(_) | Held::Filled(_), Token::Name(method), true) =
            (held, self.token(text + 1), self.sign(text, ":") && self.sign(text + 2, "("))
            && !OF_TEXTS.contains(&method)
            && !self.extends_text(method)
        {
            self.mistake(text + 1, method, Kind::NoMethod);
            return;
        }
        self.compared(at, end, held);
    }

    /// The end of `(… or "text")` around the expression from `at` to `end`.
    fn filled(&self, at: usize, end: usize) -> Option<usize> {
        let open = at.checked_sub(1).filter(|open| self.sign(*open, "("))?;
        let calls = matches!(self.before(open), Token::Name(_) | Token::Text(_) | Token::Sign(")" | "]" | "}"));
        let filled = self.token(end) == Token::Keyword("or") && matches!(self.token(end + 1), Token::Text(_));
        (!calls && filled && self.sign(end + 2, ")")).then_some(end + 3)
    }

    /// A comparison of the expression from `at` to `end` whose result does not depend on it.
    fn compared(&mut self, at: usize, end: usize, held: Held<'t>) {
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
        if let (Token::Keyword("not"), Some((operator @ (Compared::Equal | Compared::Different), other))) =
            (self.before(at), behind)
            && !matches!(other, Token::Keyword("true" | "false" | "not"))
        {
            let name = self.name_of(at, end, held);
            self.mistake(at, name, Kind::NotFirst(operator));
            return;
        }
        // `#text > 5`, `text .. 1 == x`
        let alone = !matches!(
            self.before(at),
            Token::Sign("#" | ".." | "+" | "-" | "*" | "/" | "%" | "^") | Token::Keyword("not")
        );
        let Some((operator, other)) = behind.or_else(before).filter(|_| alone) else { return };
        let never = match other {
            Token::Text(text) if behind.is_none_or(|_| !self.sign(end + 2, "..")) => {
                self.denied(at, held, text, operator);
                if let Held::Header(header) | Held::Filled(header) = held {
                    self.found.texts.push((header, text));
                }
                Self::never(held, text, operator)
            }
            _ => None,
        };
        let kind = match (held, other) {
            (Held::Header(_) | Held::Filled(_) | Held::Address | Held::HeaderName, Token::Number) => {
                Kind::TextAndNumber(operator)
            }
            (Held::HeaderName, Token::Text(text)) if text.contains(|c: char| c.is_ascii_uppercase()) => {
                Kind::Capitals(text, operator)
            }
            (Held::Header(name), Token::Text("")) if !name.starts_with(':') && !self.tested_for_nil(at) => Kind::Empty,
            (Held::Address, Token::Text(text)) if text.parse::<IpAddr>().is_ok() => Kind::NoPort(text, operator),
            _ => match never {
                Some(kind) => kind,
                None => return,
            },
        };
        let name = self.name_of(at, end, held);
        self.mistake(at, name, kind);
    }

    /// Whether the script adds a method to all texts: `function string:split()`.
    fn extends_text(&self, method: &str) -> bool {
        let added = self.text_methods.get_or_init(|| {
            let string = (0..self.tokens.len()).filter(|&at| self.token(at) == Token::Name("string"));
            let after = string.filter(|&at| matches!(self.token(at + 1), Token::Sign("." | ":")));
            after.filter_map(|at| if let Token::Name(name) = self.token(at + 2) { Some(name) } else { None }).collect()
        });
        added.contains(method)
    }

    /// How a message names an expression: the header, the local or the method.
    fn name_of(&self, at: usize, end: usize, held: Held<'t>) -> &'t str {
        match (held, self.token(at), self.token(end.saturating_sub(3))) {
            (Held::Header(header) | Held::Filled(header), _, _) => header,
            (_, Token::Name(name), _) if end == at + 1 => name,
            (_, _, Token::Name(method)) => method,
            _ => "",
        }
    }

    /// Whether the condition around a comparison has another test that an absent value may fail.
    fn tested_for_nil(&self, at: usize) -> bool {
        let opens = |token: Token<'_>| {
            matches!(token, Token::Keyword("if" | "elseif" | "while" | "until" | "return" | "local" | "then" | "do"))
        };
        // Longer conditions have other tests.
        let near = at.saturating_sub(CONDITION)..(at + CONDITION).min(self.tokens.len());
        let start = (near.start..at).rev().find(|&at| opens(self.token(at))).unwrap_or(near.start);
        let end = (at..near.end)
            .find(|&at| matches!(self.token(at), Token::Keyword("then" | "do" | "end")))
            .unwrap_or(near.end);
        let alone = !matches!(self.token(start), Token::Keyword("if" | "elseif" | "while"));
        alone || (start..end).any(|at| matches!(self.token(at), Token::Keyword("nil" | "not" | "and" | "or")))
    }

    /// The headers, used like a table; `end` is after the expression that holds them.
    pub(super) fn no_table(&mut self, at: usize, end: usize) {
        if self.guarded() {
            return;
        }
        let index = match (self.token(end), self.token(end + 1)) {
            (Token::Sign("["), _) => self.closing(end).map(|close| close + 1),
            (Token::Sign("."), Token::Name(_)) if !self.sign(end + 2, "(") => Some(end + 2),
            _ => None,
        };
        let misuse = if let Some(after) = index {
            if self.sign(after, "=") { Misuse::Written } else { Misuse::Read }
        } else if self.before(at) == Token::Sign("#") && !matches!(self.token(end), Token::Sign(":" | ".")) {
            Misuse::Measured
        } else if self.before(at) == Token::Sign("(")
            && at.checked_sub(2).map(|at| self.token(at)) == Some(Token::Name("ipairs"))
            && self.sign(end, ")")
        {
            Misuse::Ipairs
        } else {
            return;
        };
        self.mistake(at, "headers", Kind::NoTable(misuse));
    }

    /// `httpCall` without its timeout, or an asynchronous one whose result is used; `open` is the bracket of the call.
    pub(super) fn http_call(&mut self, open: usize) {
        self.http_calls += 1;
        let mut arguments = vec![open + 1];
        while let Some(next) = arguments.last().and_then(|&last| self.next_argument(last)) {
            arguments.push(next);
        }
        if arguments.len() < 4 && !self.sign(open + 1, ")") && !self.guarded() {
            let kind = Kind::Argument { number: 4, function: "httpCall", got: "no value" };
            self.mistake(open - 1, "httpCall", kind);
        }
        if let Some(&body) = arguments.get(2).filter(|body| self.sign(**body, "{"))
            && !self.guarded()
        {
            self.mistake(body, "httpCall", Kind::Argument { number: 3, function: "httpCall", got: "table" });
        }
        if let Some(&limit) = arguments.get(3)
            && self.number(limit) == Some(0)
            && matches!(self.token(limit + 1), Token::Sign("," | ")"))
            && !self.is_asynchronous(open)
        {
            self.mistake(limit, "httpCall", Kind::NoLimit);
        }
        if let Some(&last) = arguments.get(4).filter(|last| self.sign(**last, "{"))
            && !self.guarded()
        {
            self.mistake(last, "httpCall", Kind::Argument { number: 5, function: "httpCall", got: "table" });
        }
    }

    /// Whether the `httpCall` whose bracket this is asks for no answer.
    pub(super) fn is_asynchronous(&self, open: usize) -> bool {
        let mut argument = Some(open + 1);
        for _ in 0..4 {
            argument = argument.and_then(|at| self.next_argument(at));
        }
        argument.is_some_and(|at| self.token(at) == Token::Keyword("true"))
    }

    /// A value that is no text where `add`, `replace` and `respond` take one; `open` is the bracket of the call.
    pub(super) fn arguments(&mut self, open: usize, function: &'t str) {
        if function == "respond" && matches!(self.token(open + 1), Token::Text(_) | Token::Number) && !self.guarded() {
            let got = if self.token(open + 1) == Token::Number { "number" } else { "string" };
            self.mistake(open - 1, function, Kind::Argument { number: 1, function, got });
            return;
        }
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
    pub(super) fn closing(&self, open: usize) -> Option<usize> {
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
        let listed = match self.token(at) {
            Token::Name(name) => match self.held.get(name) {
                Some(Held::Listed(from, to)) => Some((*from, *to)),
                _ => None,
            },
            _ => None,
        };
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
        if !matches!(self.token(at + 1), Token::Sign("," | ")")) {
            return;
        }
        let plain = function == "find" && plain() == Some(true);
        if let Some(kind) = self.never_found(open, text, plain).filter(|_| !text.is_empty()) {
            let named = self.named(at, text);
            self.found.mistakes.push(Mistake { named: Named { at: named.at + quote, ..named }, kind });
        }
        if plain {
            return;
        }
        // Each list once.
        if let Some((from, to)) = listed.filter(|(from, _)| self.lists_read.insert(*from)) {
            for one in from..to {
                self.regular(one, if let Token::Text(text) = self.token(one) { text } else { "" }, 1);
            }
        }
        self.regular(at, text, quote);
    }

    /// What a pattern at this place has of regular expressions.
    fn regular(&mut self, at: usize, text: &'t str, quote: usize) {
        if let Some(regular) = regular(text) {
            let named = self.named(at, text);
            let named = Named { at: named.at + quote, ..named };
            self.found.mistakes.push(Mistake { named, kind: Kind::Pattern(regular) });
        }
    }

    /// The first token of the argument after the one that begins here.
    pub(super) fn next_argument(&self, from: usize) -> Option<usize> {
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

    pub(super) fn mistake(&mut self, at: usize, name: &'t str, kind: Kind<'t>) {
        let named = self.named(at, name);
        self.found.mistakes.push(Mistake { named, kind });
    }
}
