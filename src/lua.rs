//! Checks that a Lua chunk compiles: the syntax of Lua 5.1 as accepted by LuaJIT 2.1, which Envoy runs, and LuaJIT's
//! limits on the variables of a function.
//!
//! Only the syntax, the variables and the globals that a chunk names are checked. LuaJIT's additions to 5.1 are accepted: `goto` and
//! labels, `\z` and `\x`, number suffixes (`LL`, `ULL`, `i`), empty statements.

mod variables;

use crate::budget;
use std::collections::BTreeSet;
use variables::{OF_A_LOOP, Variables};

/// The names and strings of a chunk that parses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk<'t> {
    /// Every name that is not a field.
    pub names: BTreeSet<&'t str>,
    /// Every short string.
    pub strings: BTreeSet<&'t str>,
}

/// Why a chunk does not parse, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte in the text.
    pub at: usize,
    /// What was expected, or what is wrong.
    pub message: String,
    /// Whether the syntax is correct, but a function has more variables than LuaJIT can compile.
    pub limit: bool,
}

/// Parses a chunk.
pub fn parse(text: &str) -> Result<Chunk<'_>, SyntaxError> {
    let mut parser = Parser::new(text);
    parser.advance()?;
    parser.block()?;
    match parser.token {
        Token::End => Ok(parser.chunk),
        _ => Err(parser.unexpected("the end of the script")),
    }
}

/// The tokens of a chunk that parses, with their places.
pub(crate) fn tokens(text: &str) -> Vec<(usize, Token<'_>)> {
    let mut parser = Parser::new(text);
    let mut tokens = Vec::new();
    while parser.advance().is_ok() && parser.token != Token::End {
        tokens.push((parser.start, parser.token));
    }
    tokens
}

/// The work for one token, in units: what reads the syntax tree included.
const TOKEN: u64 = 8;

/// A token.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Token<'t> {
    Name(&'t str),
    Keyword(&'t str),
    Text(&'t str),
    Number,
    Sign(&'t str),
    End,
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "and"
            | "break"
            | "do"
            | "else"
            | "elseif"
            | "end"
            | "false"
            | "for"
            | "function"
            | "if"
            | "in"
            | "local"
            | "nil"
            | "not"
            | "or"
            | "repeat"
            | "return"
            | "then"
            | "true"
            | "until"
            | "while"
    )
}

/// Operators and punctuation, longest first.
const SIGNS: [&str; 27] = [
    "...", "..", "==", "~=", "<=", ">=", "::", "+", "-", "*", "/", "%", "^", "#", "<", ">", "=", "(", ")", "{", "}",
    "[", "]", ";", ":", ",", ".",
];

/// The operator or punctuation that a text begins with.
fn sign(text: &str) -> Option<&'static str> {
    let first = text.as_bytes().first();
    // Most begin with another character, and comparing one is cheaper than comparing texts.
    SIGNS.into_iter().find(|sign| sign.as_bytes().first() == first && text.starts_with(sign))
}

/// Maximum nesting: LuaJIT's own limit is 200 levels.
const MAX_DEPTH: usize = 200;

struct Parser<'t> {
    text: &'t str,
    at: usize,
    token: Token<'t>,
    start: usize,
    depth: usize,
    variables: Variables<'t>,
    chunk: Chunk<'t>,
}

type Parsed<T = ()> = Result<T, SyntaxError>;

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Parser<'t> {
        Parser {
            text,
            at: if text.starts_with('#') { text.find('\n').unwrap_or(text.len()) } else { 0 },
            token: Token::End,
            start: 0,
            depth: 0,
            variables: Variables::new(),
            chunk: Chunk::default(),
        }
    }

    fn error<T>(at: usize, message: impl Into<String>) -> Parsed<T> {
        Err(SyntaxError { at, message: message.into(), limit: false })
    }

    fn declare(&mut self, names: &[&'t str]) -> Parsed {
        let at = self.start;
        self.variables.declare(names).map_err(|many| SyntaxError { at, message: many.to_string(), limit: true })
    }

    fn uses(&mut self, name: &str) -> Parsed {
        let at = self.start;
        self.variables.uses(name).map_err(|many| SyntaxError { at, message: many.to_string(), limit: true })
    }

    fn unexpected(&self, wanted: &str) -> SyntaxError {
        let found = match self.token {
            Token::Name(word) | Token::Keyword(word) | Token::Sign(word) => format!("`{word}`"),
            Token::Text(_) => "a string".to_owned(),
            Token::Number => "a number".to_owned(),
            Token::End => "the end of the script".to_owned(),
        };
        SyntaxError { at: self.start, message: format!("{wanted} expected, found {found}"), limit: false }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The level of a long bracket that opens here: `[[` is 0, `[=[` is 1.
    fn long_bracket(&self) -> Option<usize> {
        let inner = self.rest().strip_prefix('[')?;
        let level = inner.bytes().take_while(|&byte| byte == b'=').count();
        inner[level..].starts_with('[').then_some(level)
    }

    fn skip_long(&mut self, level: usize, what: &str) -> Parsed<&'t str> {
        let begin = self.at + level + 2;
        let close = format!("]{}]", "=".repeat(level));
        match self.text.get(begin..).and_then(|rest| rest.find(&close)) {
            Some(length) => {
                self.at = begin + length + close.len();
                Ok(&self.text[begin..begin + length])
            }
            None => Self::error(self.at, format!("this {what} does not end")),
        }
    }

    fn advance(&mut self) -> Parsed {
        budget::charge(TOKEN);
        loop {
            self.at = self.text.len() - self.rest().trim_start_matches([' ', '\t', '\r', '\n', '\x0b', '\x0c']).len();
            if !self.rest().starts_with("--") {
                break;
            }
            self.at += 2;
            match self.long_bracket() {
                Some(level) => {
                    self.skip_long(level, "comment")?;
                }
                None => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
            }
        }
        self.start = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            self.token = Token::End;
            return Ok(());
        };
        let digit_follows = rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        if first.is_alphabetic() || first == '_' || !first.is_ascii() {
            let length = rest.find(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_');
            let word = &rest[..length.unwrap_or(rest.len())];
            self.at += word.len();
            self.token = if is_keyword(word) { Token::Keyword(word) } else { Token::Name(word) };
        } else if first.is_ascii_digit() || (first == '.' && digit_follows) {
            self.number()?;
        } else if first == '"' || first == '\'' {
            self.short_string(first)?;
        } else if let Some(level) = self.long_bracket() {
            let text = self.skip_long(level, "string")?;
            self.token = Token::Text(text);
        } else if let Some(sign) = sign(rest) {
            self.at += sign.len();
            self.token = Token::Sign(sign);
        } else {
            return Self::error(self.at, format!("`{first}` means nothing in Lua"));
        }
        Ok(())
    }

    fn number(&mut self) -> Parsed {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let hex = bytes.len() > 1 && bytes[0] == b'0' && bytes[1] | 0x20 == b'x';
        let mut length = 0;
        while let Some(&byte) = bytes.get(length) {
            let exponent = if hex { b'p' } else { b'e' };
            let signed = length > 0 && bytes[length - 1] | 0x20 == exponent && matches!(byte, b'+' | b'-');
            if !(byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_' || signed) {
                break;
            }
            length += 1;
        }
        let word = rest[..length].to_ascii_lowercase();
        let plain = word.trim_end_matches("ull").trim_end_matches("ll").trim_end_matches('i');
        let good = match plain.strip_prefix("0x") {
            Some(digits) => {
                let (mantissa, exponent) = digits.split_once('p').unwrap_or((digits, "0"));
                mantissa.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'.')
                    && mantissa.bytes().any(|byte| byte.is_ascii_hexdigit())
                    && exponent.parse::<i64>().is_ok()
            }
            None => {
                plain.parse::<f64>().is_ok()
                    && plain.bytes().all(|byte| byte.is_ascii_digit() || b".e+-".contains(&byte))
            }
        };
        if !good {
            return Self::error(self.at, format!("`{}` is not a number", &rest[..length]));
        }
        self.at += length;
        self.token = Token::Number;
        Ok(())
    }

    fn short_string(&mut self, quote: char) -> Parsed {
        let begin = self.at + 1;
        let mut chars = self.text[begin..].char_indices().peekable();
        while let Some((offset, char)) = chars.next() {
            match char {
                '\\' => {
                    let escaped = chars.next().map(|(_, escaped)| escaped);
                    match escaped {
                        Some('z') => while chars.next_if(|(_, next)| next.is_ascii_whitespace()).is_some() {},
                        // LuaJIT, like Lua 5.1 in strict mode, rejects unknown escape letters.
                        Some(letter) if letter.is_ascii_alphabetic() && !"abfnrtvxu".contains(letter) => {
                            return Self::error(begin + offset, format!("`\\{letter}` is not an escape of Lua"));
                        }
                        _ => {}
                    }
                }
                '\n' => break,
                _ if char == quote => {
                    self.token = Token::Text(&self.text[begin..begin + offset]);
                    self.at = begin + offset + 1;
                    return Ok(());
                }
                _ => {}
            }
        }
        Self::error(self.at, "this string does not end on its line")
    }

    fn is_sign(&self, sign: &str) -> bool {
        self.token == Token::Sign(sign)
    }

    fn is_word(&self, word: &str) -> bool {
        self.token == Token::Keyword(word)
    }

    fn accept(&mut self, sign: &str) -> Parsed<bool> {
        let found = self.is_sign(sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn accept_word(&mut self, word: &str) -> Parsed<bool> {
        let found = self.is_word(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, sign: &str) -> Parsed {
        if self.accept(sign)? { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn expect_word(&mut self, word: &str, opened: usize) -> Parsed {
        if self.accept_word(word)? {
            return Ok(());
        }
        let line = self.text[..opened.min(self.text.len())].matches('\n').count() + 1;
        Err(self.unexpected(&format!("`{word}` (for what opens in line {line})")))
    }

    fn name(&mut self) -> Parsed<&'t str> {
        let Token::Name(name) = self.token else { return Err(self.unexpected("a name")) };
        self.advance()?;
        Ok(name)
    }

    fn nested<T>(&mut self, work: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Self::error(self.start, "too many levels of nesting");
        }
        let result = work(self);
        self.depth -= 1;
        result
    }

    fn block_ends(&self) -> bool {
        matches!(self.token, Token::End | Token::Keyword("end" | "else" | "elseif" | "until"))
    }

    fn block(&mut self) -> Parsed {
        let locals = self.variables.locals();
        self.statements()?;
        self.variables.keep(locals);
        Ok(())
    }

    /// The statements of a block, whose local variables stay.
    fn statements(&mut self) -> Parsed {
        self.nested(|this| {
            while !this.block_ends() {
                if this.accept_word("return")? {
                    if !this.block_ends() && !this.is_sign(";") {
                        this.expressions()?;
                    }
                    this.accept(";")?;
                    return if this.block_ends() {
                        Ok(())
                    } else {
                        Err(this.unexpected("the end of the block after `return`"))
                    };
                }
                this.statement()?;
                this.accept(";")?;
            }
            Ok(())
        })
    }

    fn statement(&mut self) -> Parsed {
        let opened = self.start;
        let Token::Keyword(word) = self.token else {
            return match self.token {
                Token::Sign(";") => Ok(()),
                Token::Sign("::") => {
                    self.advance()?;
                    self.name()?;
                    self.expect("::")
                }
                _ => self.call_or_assignment(),
            };
        };
        match word {
            "break" => self.advance(),
            "do" => {
                self.advance()?;
                self.block()?;
                self.expect_word("end", opened)
            }
            "while" => {
                self.advance()?;
                self.expression(0)?;
                self.expect_word("do", opened)?;
                self.block()?;
                self.expect_word("end", opened)
            }
            "repeat" => {
                self.advance()?;
                let locals = self.variables.locals();
                self.statements()?;
                self.expect_word("until", opened)?;
                self.expression(0)?;
                self.variables.keep(locals);
                Ok(())
            }
            "if" => {
                self.advance()?;
                self.expression(0)?;
                self.expect_word("then", opened)?;
                self.block()?;
                while self.accept_word("elseif")? {
                    self.expression(0)?;
                    self.expect_word("then", opened)?;
                    self.block()?;
                }
                if self.accept_word("else")? {
                    self.block()?;
                }
                self.expect_word("end", opened)
            }
            "for" => self.for_loop(opened),
            "function" => self.function(opened),
            "local" => self.local(opened),
            _ => Err(self.unexpected("a statement")),
        }
    }

    /// A numeric or generic loop.
    fn for_loop(&mut self, opened: usize) -> Parsed {
        self.advance()?;
        let locals = self.variables.locals();
        let mut names = vec![self.name()?];
        if self.accept("=")? {
            self.expressions()?;
        } else {
            while self.accept(",")? {
                names.push(self.name()?);
            }
            if !self.accept_word("in")? {
                return Err(self.unexpected("`=` or `in`"));
            }
            self.expressions()?;
        }
        self.declare(&OF_A_LOOP)?;
        self.declare(&names)?;
        self.expect_word("do", opened)?;
        self.block()?;
        self.variables.keep(locals);
        self.expect_word("end", opened)
    }

    /// `function a.b:c() … end`.
    fn function(&mut self, opened: usize) -> Parsed {
        self.advance()?;
        let name = self.name()?;
        self.uses(name)?;
        let mut field = false;
        let mut method = false;
        while self.accept(".")? {
            self.name()?;
            field = true;
        }
        if self.accept(":")? {
            self.name()?;
            field = true;
            method = true;
        }
        if !field {
            self.chunk.names.insert(name);
        }
        self.function_body(opened, method)
    }

    /// Local variables, or a local function.
    fn local(&mut self, opened: usize) -> Parsed {
        self.advance()?;
        if self.accept_word("function")? {
            let name = self.name()?;
            self.declare(&[name])?;
            return self.function_body(opened, false);
        }
        let mut names = vec![self.name()?];
        while self.accept(",")? {
            names.push(self.name()?);
        }
        // The values do not see the new variables.
        if self.accept("=")? {
            self.expressions()?;
        }
        self.declare(&names)
    }

    fn call_or_assignment(&mut self) -> Parsed {
        let first = self.token;
        if first == Token::Name("goto") {
            let (at, start) = (self.at, self.start);
            self.advance()?;
            if self.name().is_ok() {
                return Ok(());
            }
            (self.at, self.start, self.token) = (at, start, first);
        }
        let mut call = self.suffixed()?;
        let mut assigned = false;
        while self.accept(",")? {
            assigned = true;
            call = self.suffixed()?;
        }
        if self.is_sign("=") {
            if call {
                return Self::error(self.start, "cannot assign to a call");
            }
            self.advance()?;
            return self.expressions();
        }
        if call && !assigned { Ok(()) } else { Err(self.unexpected("`=`")) }
    }

    fn function_body(&mut self, opened: usize, method: bool) -> Parsed {
        self.variables.enter();
        if method {
            self.declare(&["self"])?;
        }
        self.expect("(")?;
        if !self.is_sign(")") {
            loop {
                if self.accept("...")? {
                    break;
                }
                let name = self.name()?;
                self.declare(&[name])?;
                if !self.accept(",")? {
                    break;
                }
            }
        }
        self.expect(")")?;
        self.block()?;
        self.variables.leave();
        self.expect_word("end", opened)
    }

    fn expressions(&mut self) -> Parsed {
        self.expression(0)?;
        while self.accept(",")? {
            self.expression(0)?;
        }
        Ok(())
    }

    /// A name, field, index or call; returns whether it ends in a call.
    fn suffixed(&mut self) -> Parsed<bool> {
        self.nested(|this| {
            match this.token {
                Token::Name(name) => {
                    this.chunk.names.insert(name);
                    this.uses(name)?;
                    this.advance()?;
                }
                Token::Sign("(") => {
                    this.advance()?;
                    this.expression(0)?;
                    this.expect(")")?;
                }
                _ => return Err(this.unexpected("an expression")),
            }
            let mut call = false;
            loop {
                match this.token {
                    Token::Sign(".") => {
                        this.advance()?;
                        this.name()?;
                        call = false;
                    }
                    Token::Sign("[") => {
                        this.advance()?;
                        this.expression(0)?;
                        this.expect("]")?;
                        call = false;
                    }
                    Token::Sign(":") => {
                        this.advance()?;
                        this.name()?;
                        this.arguments()?;
                        call = true;
                    }
                    Token::Sign("(" | "{") | Token::Text(_) => {
                        this.arguments()?;
                        call = true;
                    }
                    _ => return Ok(call),
                }
            }
        })
    }

    fn arguments(&mut self) -> Parsed {
        match self.token {
            Token::Text(text) => {
                self.chunk.strings.insert(text);
                self.advance()
            }
            Token::Sign("{") => self.table(),
            Token::Sign("(") => {
                self.advance()?;
                if !self.is_sign(")") {
                    self.expressions()?;
                }
                self.expect(")")
            }
            _ => Err(self.unexpected("the arguments of the call")),
        }
    }

    fn table(&mut self) -> Parsed {
        self.expect("{")?;
        while !self.is_sign("}") {
            match self.token {
                Token::Sign("[") => {
                    self.advance()?;
                    self.expression(0)?;
                    self.expect("]")?;
                    self.expect("=")?;
                    self.expression(0)?;
                }
                Token::Name(_) => {
                    let (at, start, token) = (self.at, self.start, self.token);
                    self.advance()?;
                    if self.accept("=")? {
                        self.expression(0)?;
                    } else {
                        (self.at, self.start, self.token) = (at, start, token);
                        self.expression(0)?;
                    }
                }
                _ => self.expression(0)?,
            }
            if !self.accept(",")? && !self.accept(";")? {
                break;
            }
        }
        self.expect("}")
    }

    /// The left and right binding power of a binary operator.
    fn binary(&self) -> Option<(u8, u8)> {
        Some(match self.token {
            Token::Keyword("or") => (1, 1),
            Token::Keyword("and") => (2, 2),
            Token::Sign("<" | ">" | "<=" | ">=" | "~=" | "==") => (3, 3),
            Token::Sign("..") => (5, 4),
            Token::Sign("+" | "-") => (6, 6),
            Token::Sign("*" | "/" | "%") => (7, 7),
            Token::Sign("^") => (10, 9),
            _ => return None,
        })
    }

    fn expression(&mut self, limit: u8) -> Parsed {
        self.nested(|this| {
            let opened = this.start;
            match this.token {
                Token::Keyword("not") | Token::Sign("-" | "#") => {
                    this.advance()?;
                    this.expression(8)?;
                }
                Token::Text(text) => {
                    this.chunk.strings.insert(text);
                    this.advance()?;
                }
                Token::Number | Token::Keyword("nil" | "true" | "false") | Token::Sign("...") => this.advance()?,
                Token::Sign("{") => this.table()?,
                Token::Keyword("function") => {
                    this.advance()?;
                    this.function_body(opened, false)?;
                }
                _ => {
                    this.suffixed()?;
                }
            }
            while let Some((_, right)) = this.binary().filter(|(left, _)| *left > limit) {
                this.advance()?;
                this.expression(right)?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests;
