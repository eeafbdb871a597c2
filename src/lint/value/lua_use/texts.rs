//! Calls on texts whose result may be nil, and texts joined with what is no text.

use super::kinds::Kind;
use super::{Held, Reader};
use crate::lua::Token;

/// Functions that look at a text: a script that has called one may know what a pattern finds.
const LOOKS: &[&str] = &["find", "gmatch", "match", "sub"];
/// How many tokens of the condition of a loop are looked at.
const MOST: usize = 32;
/// How many tokens of its body are looked at.
const BODY: usize = 256;

/// The first token that looks at a text.
pub(super) fn first_look(tokens: &[(usize, Token<'_>)]) -> Option<usize> {
    tokens.iter().position(|(_, token)| matches!(token, Token::Name(name) if LOOKS.contains(name)))
}

impl<'t> Reader<'t> {
    /// Whether `library.function(…)` begins here: the token after the call.
    pub(super) fn library_call(&self, at: usize, library: &str, function: &str) -> Option<usize> {
        let named = self.token(at) == Token::Name(library)
            && self.sign(at + 1, ".")
            && self.token(at + 2) == Token::Name(function)
            && self.sign(at + 3, "(");
        (named && !self.is_local(library)).then(|| self.closing(at + 3).map(|close| close + 1))?
    }

    /// Whether `string.match(text, "…")` or `text:match("…")` begins here, with a pattern that a text may not have: the token
    /// after it, and the pattern. Not if the script has looked at a text before.
    pub(super) fn match_of_text(&self, at: usize) -> Option<(usize, &'t str)> {
        let (end, place) = if let Some(end) = self.library_call(at, "string", "match") {
            (end, self.next_argument(at + 4)?)
        } else {
            let text = self.holdable(at).and_then(|(end, held)| {
                matches!(held, Held::Header(_) | Held::Filled(_) | Held::Lower | Held::Upper).then_some(end)
            })?;
            (self.method_at(text, "match").then(|| self.closing(text + 2))?? + 1, text + 3)
        };
        let Token::Text(pattern) = self.token(place) else { return None };
        // A third argument, or a pattern that is put together, is left alone.
        if place + 2 != end || !may_fail(pattern) {
            return None;
        }
        self.first_look.is_some_and(|first| first >= at && first < end).then_some((end, pattern))
    }

    /// An operator whose operands may be of the wrong type.
    pub(super) fn operator(&mut self, at: usize, sign: &str) {
        if sign == ".." { self.joined(at) } else { self.plus(at) }
    }

    /// A boolean or table that is joined with a text: `"…" .. true`, `"…" .. (a == b)`, `"…" .. list`.
    fn joined(&mut self, at: usize) {
        if self.guarded() {
            return;
        }
        let first = at + 1;
        let operands = [at.checked_sub(1).filter(|&before| !self.is_part(before)), Some(first)];
        for operand in operands.into_iter().flatten() {
            if let Token::Name(name) = self.token(operand)
                && self.is_table(name)
                && (operand < at || !matches!(self.token(first + 1), Token::Sign("(" | "[" | "." | ":")))
            {
                self.mistake(operand, name, Kind::JoinedTable);
            }
        }
        let boolean = match self.token(first) {
            Token::Keyword("true" | "false") => true,
            Token::Sign("(") => self.closing(first).is_some_and(|close| {
                !matches!(self.token(close + 1), Token::Sign("(" | "[" | "." | ":")) && self.compares(first + 1, close)
            }),
            _ => false,
        };
        if boolean {
            self.mistake(first, "..", Kind::JoinedBoolean);
        }
    }

    /// Whether a name is only the end of an expression: `a.name`, `#name`.
    fn is_part(&self, at: usize) -> bool {
        matches!(self.before(at), Token::Sign("." | ":" | "#"))
    }

    /// Whether a name holds a table that cannot be joined.
    fn is_table(&self, name: &str) -> bool {
        self.tables.contains(name) || self.held.get(name) == Some(&Held::Answer)
    }

    /// Keeps that a name is assigned a table and nothing else.
    pub(super) fn hold_table(&mut self, name: &'t str, value: usize) {
        let ends =
            |close: usize| !matches!(self.token(close + 1), Token::Keyword("or" | "and") | Token::Sign("[" | "."));
        if !self.metatables && self.sign(value, "{") && self.closing(value).is_some_and(ends) {
            self.tables.insert(name);
        }
    }

    /// `+` beside a text that is no number: `"user-" + name`.
    fn plus(&mut self, at: usize) {
        let no_number = |token: Token<'_>| matches!(token, Token::Text(text) if text.trim().parse::<f64>().is_err());
        let before = self.before(at);
        if !self.guarded() && (no_number(before) || no_number(self.token(at + 1))) {
            self.mistake(at, "+", Kind::Plus);
        }
    }

    /// A call that stops the thread of the proxy: a program, or a loop that waits for the clock.
    pub(super) fn blocks(&mut self, at: usize) {
        if self.entry().is_none() {
            return;
        }
        let calls = |library: &str, function: &str| self.library_call(at, library, function).is_some();
        let what = if calls("os", "execute") {
            "os.execute"
        } else if calls("io", "popen") {
            "io.popen"
        } else {
            return;
        };
        let named = self.named(at, what);
        self.found.blocking.push(named);
    }

    /// `while os.clock() - start < 1 do`.
    pub(super) fn waits(&mut self, at: usize) {
        let condition = at + 1..(at + MOST).min(self.tokens.len());
        let clock = condition
            .take_while(|&next| self.token(next) != Token::Keyword("do"))
            .any(|next| ["clock", "time"].iter().any(|function| self.library_call(next, "os", function).is_some()));
        // `httpCall` in the loop lets others go on.
        let mut body = (at..(at + BODY).min(self.tokens.len())).map(|next| self.token(next));
        if clock && self.entry().is_some() && !body.any(|token| token == Token::Name("httpCall")) {
            let named = self.named(at, "while");
            self.found.blocking.push(named);
        }
    }

    /// Whether the expression between two tokens is a comparison and nothing else.
    fn compares(&self, from: usize, to: usize) -> bool {
        let mut depth = 0_usize;
        let mut found = false;
        for at in from..to {
            match self.token(at) {
                Token::Sign("(" | "{" | "[") => depth += 1,
                Token::Sign(")" | "}" | "]") => depth = depth.saturating_sub(1),
                Token::Sign("==" | "~=" | "<" | ">" | "<=" | ">=") if depth == 0 => found = true,
                Token::Keyword("and" | "or" | "function") => return false,
                _ => {}
            }
        }
        found
    }
}

/// Whether a pattern needs a letter, a digit or another sign besides `/`, so that there are texts without it.
fn may_fail(pattern: &str) -> bool {
    let mut chars = pattern.chars().peekable();
    let mut depth = 0_usize;
    while let Some(char) = chars.next() {
        let literal = match char {
            '[' => {
                depth += 1;
                false
            }
            ']' => {
                depth = depth.saturating_sub(1);
                false
            }
            '%' => chars.next().is_some_and(|escaped| !escaped.is_ascii_alphanumeric()) && depth == 0,
            '^' | '$' | '(' | ')' | '.' | '/' | '*' | '+' | '-' | '?' => false,
            _ => depth == 0,
        };
        if literal && !matches!(chars.peek(), Some('*' | '-' | '?')) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::may_fail;

    #[test]
    fn patterns_that_every_text_has() {
        for pattern in ["^/([^/]*)", "(.*)", "^%s*(.-)%s*$", "[a-z]*", "([^?]+)", "^/", "x*", "(%d+)"] {
            assert!(!may_fail(pattern), "{pattern}");
        }
        for pattern in ["token=(%w+)", "^Bearer (.+)$", "/v(%d)/", "%-(%d+)", "sub=([^;]*)"] {
            assert!(may_fail(pattern), "{pattern}");
        }
    }
}
