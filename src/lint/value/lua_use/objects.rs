//! Objects of Envoy that a script uses as if they were something else: bodies, headers, answers to `httpCall`.

use super::kinds::{Held, Kind};
use super::{Mistake, Named, Owner, Reader, Source, Used};
use crate::lua::Token;

/// Functions of Lua that fail if they get no value at all.
const OF_VALUES: &[&str] = &["format", "tonumber", "tostring"];

impl<'t> Reader<'t> {
    /// Whether a body begins here: the token after it.
    pub(super) fn of_body(&self, at: usize) -> Option<usize> {
        if matches!(self.token(at), Token::Name(name) if self.held.get(name) == Some(&Held::Body)) {
            return Some(at + 1);
        }
        let open = self.of_handle(at, "body")?;
        let end = open + 1 + usize::from(matches!(self.token(open + 1), Token::Keyword("true" | "false")));
        self.sign(end, ")").then_some(end + 1)
    }

    /// A body or the headers, used as if they were a text.
    pub(super) fn misused(&mut self, at: usize, headers: Option<usize>) {
        if self.guarded() {
            return;
        }
        let body = if headers.is_none() { self.of_body(at) } else { None };
        let (Some((end, owner)), Token::Name(name)) =
            (headers.map(|end| (end, Owner::Headers)).or(body.map(|end| (end, Owner::Body))), self.token(at))
        else {
            return;
        };
        if owner == Owner::Body {
            self.bytes(end);
        }
        let shown = at.checked_sub(2).is_some_and(|from| self.token(from) == Token::Name("tostring"));
        if shown && self.before(at) == Token::Sign("(") && self.sign(end, ")") && !self.is_local("tostring") {
            self.mistake(at, name, Kind::Shown(owner));
            return;
        }
        match (self.used(at, end), owner) {
            (None | Some(Used::Indexed), _)
            | (Some(Used::Measured | Used::Passed("pairs" | "ipairs")), Owner::Headers) => {}
            (Some(used), _) => self.mistake(at, name, Kind::Userdata(owner, used)),
        }
    }

    /// `getBytes` of a body that ends before this token.
    fn bytes(&mut self, end: usize) {
        if !self.method_at(end, "getBytes") {
            return;
        }
        let first = end + 3;
        let function = "getBytes";
        if self.sign(first, ")") {
            self.mistake(end + 1, function, Kind::Argument { number: 1, function, got: "no value" });
            return;
        }
        let Some(second) = self.next_argument(first) else {
            self.mistake(end + 1, function, Kind::Argument { number: 2, function, got: "no value" });
            return;
        };
        let whole = matches!(self.token(second), Token::Name(_))
            && self.method_at(second + 1, "length")
            && self.sign(second + 4, ")")
            && self.sign(second + 5, ")");
        if whole && self.sign(first + 1, ",") && self.number(first).is_some_and(|from| from > 0) {
            self.mistake(first, function, Kind::FromOne);
        }
    }

    /// A namespace of dynamic metadata that the script reads of a request: `dynamicMetadata():get("…")`.
    pub(super) fn metadata(&mut self, at: usize, namespace: &'t str) {
        let token = |back: usize| at.checked_sub(back).map_or(Token::End, |at| self.token(at));
        let gets = (token(1), token(2), token(3)) == (Token::Sign("("), Token::Name("get"), Token::Sign(":"));
        let stored = match token(4) {
            Token::Sign(")") => token(6) == Token::Name("dynamicMetadata"),
            Token::Name(name) => !self.headers.contains(name),
            _ => false,
        };
        if gets && stored && matches!(self.entry(), Some((false, _))) {
            let named = self.named(at, namespace);
            self.found.metadata.push(Named { at: named.at + 1, ..named });
        }
    }

    /// A method that reads or writes the bytes of a response's body.
    pub(super) fn bytes_of_answer(&mut self, at: usize, name: &'t str) {
        if matches!(name, "getBytes" | "setBytes")
            && self.before(at) == Token::Sign(":")
            && matches!(self.entry(), Some((true, _)))
        {
            let named = self.named(at, name);
            self.found.answer_bytes.push(named);
        }
    }

    /// The table of headers that `httpCall` returned, if a name holds it.
    pub(super) fn answer(&mut self, at: usize, name: &'t str) {
        if self.held.get(name) != Some(&Held::Answer) {
            return;
        }
        let key = match (self.token(at + 1), self.token(at + 2)) {
            (Token::Sign("["), Token::Text(key)) if self.sign(at + 3, "]") => Some((key, at + 4)),
            (Token::Sign("."), Token::Name(key)) => Some((key, at + 3)),
            _ => None,
        };
        let method = self.sign(at + 1, ":") && matches!(self.token(at + 2), Token::Name(_));
        match key {
            // The script adds keys of its own.
            Some((_, end)) if self.sign(end, "=") => _ = self.held.remove(name),
            Some((":status", _)) => _ = self.looked_at.insert(":status"),
            _ => self.answer_read = true,
        }
        if self.guarded() {
            return;
        }
        if let (true, Token::Name(called)) = (method, self.token(at + 2)) {
            self.mistake(at + 2, called, Kind::AnswerMethod);
        } else if let Some((key, _)) = key.filter(|(_, end)| !self.sign(*end, "=") && !self.sign(*end, "("))
            && (key == "status" || key.contains(|c: char| c.is_ascii_uppercase()))
        {
            let named = self.named(at + 2, key);
            let quote = usize::from(self.sign(at + 1, "["));
            let named = Named { at: named.at + quote, ..named };
            self.found.mistakes.push(Mistake { named, kind: Kind::AnswerKey });
        }
    }

    /// A key of a table that may lack it begins here: the token after it, and its name.
    pub(super) fn key_of_table(&self, at: usize) -> Option<(usize, &'t str, Source)> {
        let Token::Name(name) = self.token(at) else { return None };
        let (end, source) = match self.held.get(name) {
            Some(Held::Answer) if !self.looked_at.contains(":status") => (at + 1, Source::AnswerHeader),
            Some(Held::FilterContext) => (at + 1, Source::FilterContext),
            _ => (self.of_store(at, "filterContext")?, Source::FilterContext),
        };
        let Token::Text(key) = self.token(end + 1) else { return None };
        let kept = source == Source::FilterContext
            || !key.starts_with(':') && key != "status" && !key.contains(|c: char| c.is_ascii_uppercase());
        (kept && self.sign(end, "[") && self.sign(end + 2, "]")).then_some((end + 3, key, source))
    }

    /// Whether the header that ends before `end` is the last argument of a function that needs one: without the header,
    /// `get` returns nothing at all, not even nil.
    pub(super) fn no_value(&self, at: usize, end: usize, source: Source) -> Option<Used<'t>> {
        let (open, called) = self.brackets.last().copied()?;
        let wanted = open == "(" && OF_VALUES.contains(&called) && self.sign(end, ")");
        let first = called == "format" || self.before(at) == Token::Sign("(");
        let of_headers = matches!(source, Source::Header | Source::ForwardedFor);
        (wanted && first && of_headers && self.header_get(at).is_some() && !self.is_local(called))
            .then_some(Used::Passed(called))
    }

    /// The value of a whole number that stands here.
    pub(super) fn number(&self, at: usize) -> Option<usize> {
        let (place, Token::Number) = *self.tokens.get(at)? else { return None };
        let rest = self.text.get(place..)?;
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
        rest.get(..end)?.parse().ok()
    }
}
