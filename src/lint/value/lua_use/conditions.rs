//! Conditions that never or always hold, and what follows from them.

use super::kinds::{Compared, Held, Kind};
use super::names::GLOBALS;
use super::{Mistake, Named, Reader};
use crate::lua::Token;

/// Maximum number of tokens of a block that is looked at.
const BLOCK: usize = 256;
/// Maximum number of tokens of the rest of a condition.
const REST: usize = 64;
/// Maximum number of comparisons of a path with which the texts of a script are compared.
const PATHS: usize = 10;
const METHODS: &[&str] = &["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"];

impl<'t> Reader<'t> {
    /// `a ~= "x" or a ~= "y"`, which always holds, and `a == "x" and a == "y"`, which never does.
    pub(super) fn both(&mut self, at: usize) {
        let end = match self.holdable(at) {
            Some((end, _)) => end,
            None => at + 1,
        };
        let (operator, joint, kind) = match self.token(end) {
            Token::Sign("~=") => ("~=", "or", Compared::Different),
            Token::Sign("==") => ("==", "and", Compared::Equal),
            _ => return,
        };
        let second = end + 3;
        let length = end - at;
        let again = self.token(end + 2) == Token::Keyword(joint)
            && (0..length).all(|offset| self.token(at + offset) == self.token(second + offset))
            && self.sign(second + length, operator);
        let texts = (self.literal(end + 1), self.literal(second + length + 1));
        let (true, (Some(one), Some(other))) = (again, texts) else { return };
        let alone = match self.before(at) {
            Token::Keyword("if" | "elseif" | "while" | "until" | "or" | "return") | Token::Sign("(" | "=" | ",") => {
                true
            }
            Token::Keyword("and") => kind == Compared::Equal,
            _ => false,
        };
        let goes_on = match self.token(second + length + 2) {
            Token::Keyword("and") => kind == Compared::Different,
            Token::Sign(sign) => !matches!(sign, ")" | "," | ";" | "}"),
            _ => false,
        };
        if alone && !goes_on && one != other && one.starts_with('"') == other.starts_with('"') {
            let Token::Name(name) = self.token(at) else { return };
            let name = match self.holdable(at) {
                Some((_, Held::Header(header))) => header,
                _ => name,
            };
            self.mistake(at, name, Kind::Both(kind));
        }
    }

    /// A text or a number that stands here, the text with a quote in front.
    fn literal(&self, at: usize) -> Option<String> {
        match self.token(at) {
            Token::Text(text) => Some(format!("\"{text}")),
            _ => self.number(at).map(|number| number.to_string()),
        }
    }

    /// `a == "x" or "y" then`: a text alone, which is true.
    pub(super) fn text_alone(&mut self, at: usize) {
        let compared = at.checked_sub(2).is_some_and(|from| matches!(self.token(from), Token::Sign("==" | "~=")))
            && matches!(self.before(at), Token::Text(_));
        let mut next = at;
        while self.token(next) == Token::Keyword("or") && matches!(self.token(next + 1), Token::Text(_)) {
            next += 2;
        }
        if !compared || next == at {
            return;
        }
        let end = next + usize::from(self.sign(next, ")"));
        if let (Token::Keyword("then"), Token::Text(text)) = (self.token(end), self.token(at + 1)) {
            let named = self.named(at + 1, text);
            self.found.mistakes.push(Mistake { named: Named { at: named.at + 1, ..named }, kind: Kind::TextAlone });
        }
    }

    /// `sub(1, 5) == "/admin"` and `lower() == "A"`; `open` is the bracket of the call.
    pub(super) fn of_text(&mut self, open: usize, function: &'t str) {
        if !matches!(function, "sub" | "lower" | "upper") || self.guarded() {
            return;
        }
        let Some(owner) = open.checked_sub(2) else { return };
        let library = owner.checked_sub(1).is_some_and(|at| self.token(at) == Token::Name("string"));
        let method = self.sign(owner, ":");
        let of_library = self.sign(owner, ".") && library && !self.is_local("string");
        if !method && !of_library {
            return;
        }
        let Some(close) = self.closing(open) else { return };
        let operator = match self.token(close + 1) {
            Token::Sign("==") => Compared::Equal,
            Token::Sign("~=") => Compared::Different,
            _ => return,
        };
        let Token::Text(text) = self.token(close + 2) else { return };
        if self.sign(close + 3, "..") || text.contains('\\') {
            return;
        }
        let kind = match function {
            "sub" => {
                let first = if method { Some(open + 1) } else { self.next_argument(open + 1) };
                match first.and_then(|first| self.cut(first)) {
                    Some(length) if text.len() > length => Kind::Length { text, length, compared: operator },
                    _ => return,
                }
            }
            _ if other_case(text, function == "lower") => Kind::Case(text, operator),
            _ => return,
        };
        self.mistake(open - 1, function, kind);
    }

    /// Maximum length of what `sub` returns; its numbers begin here.
    fn cut(&self, first: usize) -> Option<usize> {
        if self.sign(first, "-") {
            return self.number(first + 1).filter(|_| self.sign(first + 2, ")"));
        }
        let from = self.number(first).filter(|from| *from > 0 && self.sign(first + 1, ","))?;
        let to = self.number(first + 2).filter(|_| self.sign(first + 3, ")"))?;
        (to + 1).checked_sub(from)
    }

    /// The comparison of a value with a text that it never has.
    pub(super) fn never(held: Held<'t>, text: &'t str, operator: Compared) -> Option<Kind<'t>> {
        match held {
            Held::Header(":method") | Held::Filled(":method") => {
                let upper = text.to_ascii_uppercase();
                (upper != text && METHODS.contains(&upper.as_str())).then_some(Kind::Method(text, operator))
            }
            Held::Header(":path") => {
                let good = text.is_empty() || text == "*" || text.starts_with('/') || text.contains(['\\', ':']);
                (!good).then_some(Kind::NoSlash(text, operator))
            }
            Held::Lower | Held::Upper => other_case(text, held == Held::Lower).then_some(Kind::Case(text, operator)),
            _ => None,
        }
    }

    /// A pattern for which the text that is searched has the wrong case, or no slash: `path:lower():find("^/Admin")`.
    /// `open` is the bracket of the call, `at` the pattern.
    pub(super) fn never_found(&self, open: usize, text: &'t str, plain: bool) -> Option<Kind<'t>> {
        let owner = open.checked_sub(2)?;
        let (case, path) = if self.sign(owner, ":") {
            let last = owner.checked_sub(1)?;
            let held = match (self.token(last), self.before(last)) {
                (_, Token::Sign("." | ":")) => None,
                (Token::Name(name), _) => self.held.get(name).copied(),
                _ => None,
            };
            let back = |count: usize| last.checked_sub(count).map_or(Token::End, |at| self.token(at));
            let path = back(1) == Token::Text(":path") && back(3) == Token::Name("get");
            let case = match back(2) {
                Token::Name("lower") if back(3) == Token::Sign(":") && self.sign(last, ")") => Some(true),
                Token::Name("upper") if back(3) == Token::Sign(":") && self.sign(last, ")") => Some(false),
                _ => None,
            };
            (case.or(of_case(held)), path || held == Some(Held::Header(":path")))
        } else {
            let (end, last) = self.suffixed(open + 1)?;
            if !self.sign(end, ",") {
                return None;
            }
            let held = self.holdable(open + 1).filter(|(after, _)| *after == end).map(|(_, held)| held);
            let case = match last {
                Some("lower") => Some(true),
                Some("upper") => Some(false),
                _ => of_case(held),
            };
            (case, held == Some(Held::Header(":path")))
        };
        if case.is_some_and(|lower| if plain { other_case(text, lower) } else { other_case_of_pattern(text, lower) }) {
            return Some(Kind::Case(text, Compared::Equal));
        }
        let first = text.strip_prefix('^').filter(|_| !plain).and_then(|rest| rest.chars().next());
        (path && first.is_some_and(|first| first.is_ascii_alphanumeric()))
            .then_some(Kind::NoSlash(text, Compared::Equal))
    }

    /// The end of a name or bracket with all that follows it, and the method or function of `string` that it calls last.
    pub(super) fn suffixed(&self, at: usize) -> Option<(usize, Option<&'t str>)> {
        let mut end = match self.token(at) {
            Token::Name(_) => at + 1,
            Token::Sign("(") => self.closing(at)? + 1,
            _ => return None,
        };
        let mut last = None;
        loop {
            (end, last) = match (self.token(end), self.token(end + 1)) {
                (Token::Sign(":"), Token::Name(method)) if self.sign(end + 2, "(") => {
                    (self.closing(end + 2)? + 1, Some(method))
                }
                (Token::Sign("."), Token::Name(function)) if self.sign(end + 2, "(") => {
                    let library = end == at + 1 && self.token(at) == Token::Name("string");
                    (self.closing(end + 2)? + 1, Some(function).filter(|_| library))
                }
                (Token::Sign("."), Token::Name(_)) => (end + 2, None),
                (Token::Sign("[" | "("), _) => (self.closing(end)? + 1, None),
                _ => return Some((end, last)),
            };
        }
    }

    /// The block of the condition that this place is in: from after its `then` to its end, with its other branches or
    /// without.
    fn block(&self, at: usize, branches: bool) -> Option<(usize, usize)> {
        let opens =
            |token: Token<'_>| matches!(token, Token::Keyword("if" | "elseif" | "then" | "do" | "local" | "end"));
        let start = (at.saturating_sub(REST)..at).rev().find(|&at| opens(self.token(at)))?;
        if !matches!(self.token(start), Token::Keyword("if" | "elseif")) {
            return None;
        }
        let then = (at..at + REST).find(|&at| self.token(at) == Token::Keyword("then"))?;
        let mut depth = 0_usize;
        for next in then + 1..then + BLOCK {
            match self.token(next) {
                Token::Keyword("if" | "do" | "function" | "repeat") => depth += 1,
                Token::Keyword("end" | "until") if depth == 0 => return Some((then + 1, next)),
                Token::Keyword("else" | "elseif") if depth == 0 && !branches => return Some((then + 1, next)),
                Token::Keyword("end" | "until") => depth -= 1,
                Token::End => return None,
                _ => {}
            }
        }
        None
    }

    /// Whether a test of a header decides what happens to the request, or only what it is marked with.
    pub(super) fn matters(&self, at: usize) -> bool {
        let marked = ["add", "replace", "set", "insert"];
        if self.brackets.iter().any(|(_, called)| marked.contains(called) || called.starts_with("log")) {
            return false;
        }
        let Some((start, end)) = self.block(at, true) else { return true };
        (start..end).any(|at| match self.token(at) {
            Token::Keyword("return") | Token::Sign("=") | Token::Name("respond" | "error") => true,
            Token::Name(name) => {
                self.sign(at + 1, "(") && !matches!(self.before(at), Token::Sign(":" | ".")) && !GLOBALS.contains(&name)
            }
            _ => false,
        })
    }

    /// Whether the block of the condition denies the request; other branches do not count.
    pub(super) fn denies(&self, at: usize) -> bool {
        let Some((start, end)) = self.block(at, false) else { return false };
        let Some(respond) = (start..end).find(|&at| self.token(at) == Token::Name("respond")) else { return false };
        (respond..end).any(|at| {
            matches!(self.token(at), Token::Text("401" | "403" | "404" | "405"))
                || self.number(at).is_some_and(|status| [401, 403, 404, 405].contains(&status))
        })
    }

    /// The comparison of the answer of an authorization with a status, or of a path with a whole one.
    pub(super) fn denied(&mut self, at: usize, held: Held<'t>, text: &'t str, operator: Compared) {
        if held == Held::Header(":status") {
            self.statuses.push((at, text, operator));
        }
        let whole = held == Held::Header(":path")
            && operator == Compared::Equal
            && text.len() > 1
            && text.starts_with('/')
            && !text.contains(['?', '\\']);
        if whole && self.exact.len() < PATHS && !self.guarded() && self.denies(at) {
            let named = self.named(at, text);
            self.exact.push(named);
        }
    }

    /// What the whole script tells about these comparisons.
    pub(super) fn settle_denied(&mut self) {
        let exact = std::mem::take(&mut self.exact);
        for one in exact {
            // Another text may cover the query.
            let covered = self.tokens.iter().any(|(_, token)| match token {
                Token::Text(text) => *text != one.name && text.contains(one.name) || text.contains('?'),
                _ => false,
            });
            if !covered {
                self.found.mistakes.push(Mistake { named: one, kind: Kind::ExactPath });
            }
        }
        let refusal = |(at, text, operator): &(usize, &'t str, Compared)| {
            *operator == Compared::Equal && matches!(*text, "401" | "403") && self.denies(*at)
        };
        if let Some(&(at, text, _)) = self.statuses.first()
            && self.http_calls == 1
            && !self.answer_read
            && self.statuses.len() == self.status_reads
            && self.statuses.iter().take(PATHS).all(refusal)
            && self.statuses.len() <= PATHS
        {
            self.mistake(at, text, Kind::FailsOpen);
        }
    }
}

fn of_case(held: Option<Held<'_>>) -> Option<bool> {
    match held {
        Some(Held::Lower) => Some(true),
        Some(Held::Upper) => Some(false),
        _ => None,
    }
}

/// Whether a text has a letter that no text in lowercase, or in uppercase, has.
fn other_case(text: &str, lower: bool) -> bool {
    text.chars().any(|c| if lower { c.is_ascii_uppercase() } else { c.is_ascii_lowercase() })
}

/// The same for the letters that a pattern requires.
fn other_case_of_pattern(pattern: &str, lower: bool) -> bool {
    let mut chars = pattern.chars().peekable();
    let mut in_set = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => return false,
            '%' => _ = chars.next(),
            '[' => in_set = true,
            ']' => in_set = false,
            _ => {
                let needed = !chars.peek().is_some_and(|next| matches!(next, '*' | '?' | '-'));
                if !in_set && needed && other_case(c.encode_utf8(&mut [0; 4]), lower) {
                    return true;
                }
            }
        }
    }
    false
}
