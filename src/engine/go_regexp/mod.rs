//! Regular expressions as Go's `regexp` package compiles and matches them: its syntax, its limits, its ASCII classes.
//!
//! istiod compiles `proxyVersion` with `regexp.Compile` and ignores the error, so whether an expression compiles decides which
//! proxies a patch reaches. The limits are those of `regexp/syntax/parse.go` (Go 1.19 and later): no repetition above 1000, no
//! product of nested repetitions above 1000, 3,355,443 instructions, 33,554,432 runes in classes, 1000 levels of nesting.
//! Matching simulates the automaton, so its cost is the length of the text times the size of the program for any expression.

mod class;
mod escape;
mod parse;
mod program;

use crate::budget;
use program::Program;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A compiled expression.
#[derive(Debug)]
pub struct GoRegexp {
    program: Program,
}

/// Why Go rejects an expression: the codes of `regexp/syntax`, with the offending part of the expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A `)` without a `(`.
    UnexpectedParen,
    /// A `(` without a `)`.
    MissingParen,
    /// A `[` without a `]`.
    MissingBracket,
    /// A range that ends before its start, or an unknown class.
    InvalidCharRange(String),
    /// An escape that Go does not know.
    InvalidEscape(String),
    /// A named group without a valid name.
    InvalidNamedCapture(String),
    /// A group such as `(?=` that Go does not know.
    InvalidPerlOp(String),
    /// A repetition of a repetition, such as `a**`.
    InvalidRepeatOp(String),
    /// A repetition above 1000, or nested repetitions whose product is above it.
    InvalidRepeatSize(String),
    /// A repetition of nothing.
    MissingRepeatArgument(String),
    /// A `\` at the end.
    TrailingBackslash,
    /// More than 1000 levels.
    NestingDepth,
    /// More instructions or runes than Go allows.
    Large,
}

impl fmt::Display for Refusal {
    /// The message of Go's `syntax.ErrorCode`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, part) = match self {
            Refusal::UnexpectedParen => ("unexpected )", ""),
            Refusal::MissingParen => ("missing closing )", ""),
            Refusal::MissingBracket => ("missing closing ]", ""),
            Refusal::InvalidCharRange(part) => ("invalid character class range", part.as_str()),
            Refusal::InvalidEscape(part) => ("invalid escape sequence", part.as_str()),
            Refusal::InvalidNamedCapture(part) => ("invalid named capture", part.as_str()),
            Refusal::InvalidPerlOp(part) => ("invalid or unsupported Perl syntax", part.as_str()),
            Refusal::InvalidRepeatOp(part) => ("invalid nested repetition operator", part.as_str()),
            Refusal::InvalidRepeatSize(part) => ("invalid repeat count", part.as_str()),
            Refusal::MissingRepeatArgument(part) => ("missing argument to repetition operator", part.as_str()),
            Refusal::TrailingBackslash => ("trailing backslash at end of expression", ""),
            Refusal::NestingDepth => ("expression nests too deeply", ""),
            Refusal::Large => ("expression too large", ""),
        };
        out.write_str(words)?;
        if part.is_empty() { Ok(()) } else { write!(out, ": `{part}`") }
    }
}

impl std::error::Error for Refusal {}

/// The result of compiling an expression; shared, so that equal expressions are compiled once.
pub(crate) type Compiled = Arc<Result<GoRegexp, Refusal>>;

impl GoRegexp {
    /// Compiles an expression.
    pub fn new(text: &str) -> Result<GoRegexp, Refusal> {
        budget::charge(u64::try_from(text.len()).unwrap_or(u64::MAX));
        let node = parse::parse(text)?;
        Ok(GoRegexp { program: program::compile(&node) })
    }

    /// Whether the expression matches anywhere in a text.
    pub fn is_match(&self, text: &str) -> bool {
        self.program.is_match(text, false)
    }

    /// Whether a match starts at the beginning of the text.
    pub(crate) fn is_match_at_start(&self, text: &str) -> bool {
        self.program.is_match(text, true)
    }

    /// The number of instructions in the program.
    pub(crate) fn size(&self) -> usize {
        self.program.len()
    }
}

/// The number of instructions that an expression compiles to, computed without compiling it; `None` when Go rejects it.
pub(crate) fn size(text: &str) -> Option<u64> {
    parse::parse(text).ok().map(|node| node.size())
}

/// Limits of the cache, in expressions and instructions: a mesh uses a handful of short expressions.
const KEPT: usize = 256;
const KEPT_INSTRUCTIONS: usize = 1 << 18;

/// The cache, newest last, each entry with the units of work it cost.
static CACHE: Mutex<VecDeque<(Arc<str>, Compiled, u64)>> = Mutex::new(VecDeque::new());

/// Compiles an expression or takes it from the cache. Both charge the same to a budget: whether work fits must not depend on
/// what else this process has done.
pub(crate) fn compile(text: &str) -> Compiled {
    let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let known =
        cache().iter().find(|(kept, ..)| **kept == *text).map(|(_, compiled, units)| (Arc::clone(compiled), *units));
    // Outside the lock: a budget may end the work here.
    if let Some((compiled, units)) = known {
        budget::charge(units);
        return compiled;
    }
    let (compiled, units) = budget::measured(|| Compiled::new(GoRegexp::new(text)));
    let size = |compiled: &Compiled| compiled.as_ref().as_ref().map_or(1, GoRegexp::size);
    let mut kept = cache();
    kept.push_back((text.into(), Arc::clone(&compiled), units));
    let mut all: usize = kept.iter().map(|(text, compiled, _)| size(compiled) + text.len()).sum();
    while kept.len() > KEPT || all > KEPT_INSTRUCTIONS {
        let Some((text, oldest, _)) = kept.pop_front() else { break };
        all -= size(&oldest) + text.len();
    }
    compiled
}
