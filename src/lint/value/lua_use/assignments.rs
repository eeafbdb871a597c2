//! Assignments: whether a name is assigned, and where the statement ends.

use super::Reader;
use crate::lua::Token;

impl Reader<'_> {
    /// Whether the name at this place is assigned: `a =`, `a, b =`.
    pub(super) fn writes(&self, mut at: usize) -> bool {
        if !self.brackets.is_empty() && self.brackets.last().is_some_and(|(open, _)| *open != "{") {
            return false;
        }
        loop {
            if self.sign(at + 1, "=") {
                return true;
            }
            if !self.sign(at + 1, ",") || !matches!(self.token(at + 2), Token::Name(_)) {
                return false;
            }
            at += 2;
        }
    }

    /// Whether the value that begins here is a module, which is the same at each assignment: `require 'a'`, `a or require 'a'`.
    pub(super) fn is_module(&self, name: &str, at: usize) -> bool {
        let kept = self.token(at) == Token::Name(name) && self.token(at + 1) == Token::Keyword("or");
        self.token(if kept { at + 2 } else { at }) == Token::Name("require")
    }

    /// Where the statement that begins here ends: the assignment takes effect only then.
    pub(super) fn statement_end(&self, at: usize) -> usize {
        let mut depth = 0_usize;
        for next in at + 2..self.tokens.len() {
            match self.token(next) {
                Token::Sign("(" | "{" | "[") | Token::Keyword("function") => depth += 1,
                Token::Sign(")" | "}" | "]") => depth = depth.saturating_sub(1),
                Token::Keyword("end") if depth > 0 => depth -= 1,
                _ => {}
            }
            let complete = matches!(
                self.before(next),
                Token::Name(_)
                    | Token::Text(_)
                    | Token::Number
                    | Token::Sign(")" | "]" | "}")
                    | Token::Keyword("nil" | "true" | "false" | "end")
            );
            let begins = match self.token(next) {
                Token::Name(_) | Token::Sign(";") => true,
                Token::Keyword(word) => !matches!(word, "and" | "or" | "not"),
                _ => false,
            };
            if depth == 0 && complete && begins {
                return self.tokens.get(next).map_or(usize::MAX, |(place, _)| *place);
            }
        }
        usize::MAX
    }
}
