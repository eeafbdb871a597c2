//! From text to a tree, as `regexp/syntax.Parse` reads Perl syntax, with its limits.

use super::Refusal;
use super::class::{self, Ranges};
use super::escape::{counts, escaped, one_of_class};
use crate::budget;
use std::sync::Arc;

/// `maxSize`: 128 MiB of instructions of 40 bytes.
const MAX_SIZE: u64 = (128 << 20) / 40;
/// `maxRunes`: 128 MiB of runes of 4 bytes.
const MAX_RUNES: u64 = (128 << 20) / 4;
/// `maxHeight`.
const MAX_HEIGHT: u32 = 1000;
/// The largest repetition, and the largest product of nested ones.
const MAX_REPEAT: u32 = 1000;

/// Where an empty expression matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// `^` with `(?m)`.
    LineStart,
    /// `$` with `(?m)`.
    LineEnd,
    /// `^`, `\A`.
    TextStart,
    /// `$`, `\z`.
    TextEnd,
    /// `\b`.
    Word,
    /// `\B`.
    NoWord,
}

/// An expression.
#[derive(Debug)]
pub(super) enum Kind {
    Empty,
    Place(Place),
    Char(char),
    Class(Arc<Ranges>),
    /// Any character.
    Any,
    /// Any character except a line feed.
    AnyOfLine,
    Group(Box<Node>),
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
    /// Minimum and maximum.
    Repeat(Box<Node>, u32, Option<u32>),
}

/// An expression with the values that are limited.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// `calcSize`.
    size: u64,
    /// `calcHeight`.
    height: u32,
}

impl Node {
    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    fn new(kind: Kind) -> Result<Node, Refusal> {
        let (size, height) = match &kind {
            Kind::Empty | Kind::Place(_) | Kind::Char(_) | Kind::Class(_) | Kind::Any | Kind::AnyOfLine => (1, 1),
            Kind::Group(inside) => (inside.size + 2, inside.height + 1),
            Kind::Concat(parts) => {
                // Consecutive characters form one literal.
                let plain = parts.iter().all(|part| matches!(part.kind, Kind::Char(_)));
                (sum(parts), if plain { 1 } else { tallest(parts) + 1 })
            }
            Kind::Alternate(parts) => (sum(parts) + count(parts.len()) - 1, tallest(parts) + 1),
            Kind::Repeat(inside, min, max) => {
                let (sub, min) = (inside.size, u64::from(*min));
                let size = match max {
                    None if min == 0 => 2 + sub,
                    None => 1 + min * sub,
                    Some(max) => u64::from(*max) * sub + (u64::from(*max) - min),
                };
                (size, inside.height + 1)
            }
        };
        if size > MAX_SIZE {
            return Err(Refusal::Large);
        }
        if height > MAX_HEIGHT {
            return Err(Refusal::NestingDepth);
        }
        Ok(Node { kind, size: size.max(1), height })
    }

    fn ranges(&self) -> Option<Ranges> {
        match &self.kind {
            Kind::Char(one) => Some(Ranges::of(&[(*one, *one)])),
            Kind::Class(ranges) => Some(Ranges::clone(ranges)),
            _ => None,
        }
    }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn sum(parts: &[Node]) -> u64 {
    parts.iter().map(|part| part.size).sum()
}

fn tallest(parts: &[Node]) -> u32 {
    parts.iter().map(|part| part.height).max().unwrap_or_default()
}

/// Settings that `(?flags)` changes.
#[derive(Clone, Copy, Default)]
struct Flags {
    fold: bool,
    lines: bool,
    dot_newline: bool,
}

/// An open group.
struct Open {
    before: Vec<Node>,
    alternatives: Vec<Node>,
    flags: Flags,
    captures: bool,
}

struct Parser<'t> {
    rest: &'t str,
    flags: Flags,
    runes: u64,
    open: Vec<Open>,
    alternatives: Vec<Node>,
    parts: Vec<Node>,
}

pub(super) fn parse(text: &str) -> Result<Node, Refusal> {
    let mut parser = Parser {
        rest: text,
        flags: Flags::default(),
        runes: 0,
        open: Vec::new(),
        alternatives: Vec::new(),
        parts: Vec::new(),
    };
    let mut repeated = None;
    while let Some(next) = parser.rest.chars().next() {
        budget::charge(1);
        repeated = parser.step(next, repeated)?;
    }
    if parser.open.is_empty() { parser.close() } else { Err(Refusal::MissingParen) }
}

impl<'t> Parser<'t> {
    /// Parses an element that starts with this character. `repeated` is the start of a repetition that ends right before it.
    fn step(&mut self, next: char, repeated: Option<&'t str>) -> Result<Option<&'t str>, Refusal> {
        let start = self.rest;
        let after = &start[next.len_utf8()..];
        match next {
            '(' if after.starts_with('?') => self.perl_group()?,
            '(' => {
                self.group(true);
                self.rest = after;
            }
            '|' => {
                self.rest = after;
                let parts = std::mem::take(&mut self.parts);
                self.alternatives.push(concat(parts)?);
            }
            ')' => {
                self.rest = after;
                let inside = self.close()?;
                let Some(open) = self.open.pop() else { return Err(Refusal::UnexpectedParen) };
                self.flags = open.flags;
                (self.parts, self.alternatives) = (open.before, open.alternatives);
                self.push(if open.captures { Kind::Group(Box::new(inside)) } else { inside.kind })?;
            }
            '^' | '$' => {
                self.rest = after;
                let place = match (next, self.flags.lines) {
                    ('^', true) => Place::LineStart,
                    ('^', false) => Place::TextStart,
                    (_, true) => Place::LineEnd,
                    (_, false) => Place::TextEnd,
                };
                self.push(Kind::Place(place))?;
            }
            '.' => {
                self.rest = after;
                self.push(if self.flags.dot_newline { Kind::Any } else { Kind::AnyOfLine })?;
            }
            '[' => self.class()?,
            '*' | '+' | '?' => {
                self.rest = after;
                let (min, max) = match next {
                    '*' => (0, None),
                    '+' => (1, None),
                    _ => (0, Some(1)),
                };
                self.repeat(start, repeated, min, max)?;
                return Ok(Some(start));
            }
            '{' => match counts(start) {
                None => {
                    self.rest = after;
                    self.literal('{')?;
                }
                Some((counts, rest)) => {
                    let part = || Refusal::InvalidRepeatSize(start[..start.len() - rest.len()].to_owned());
                    let (min, max) = counts.ok_or_else(part)?;
                    if min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT || min > max) {
                        return Err(part());
                    }
                    self.rest = rest;
                    self.repeat(start, repeated, min, max)?;
                    return Ok(Some(start));
                }
            },
            '\\' => self.escape()?,
            _ => {
                self.rest = after;
                self.literal(next)?;
            }
        }
        Ok(None)
    }

    /// The expression of the group that ends here.
    fn close(&mut self) -> Result<Node, Refusal> {
        let last = concat(std::mem::take(&mut self.parts))?;
        let mut all = std::mem::take(&mut self.alternatives);
        if all.is_empty() {
            return Ok(last);
        }
        all.push(last);
        // `a|b|[0-9]` becomes one class, as in Go.
        let mut merged: Vec<Node> = Vec::with_capacity(all.len());
        for node in all {
            let both = merged.last().and_then(Node::ranges).zip(node.ranges());
            match both {
                Some((mut ranges, other)) => {
                    ranges.add(&other);
                    merged.pop();
                    merged.push(Node::new(Kind::Class(Arc::new(ranges)))?);
                }
                None => merged.push(node),
            }
        }
        match (merged.len(), merged.pop()) {
            (1, Some(only)) => Ok(only),
            (_, Some(last)) => {
                merged.push(last);
                Node::new(Kind::Alternate(merged))
            }
            (_, None) => Node::new(Kind::Empty),
        }
    }

    fn group(&mut self, captures: bool) {
        self.open.push(Open {
            before: std::mem::take(&mut self.parts),
            alternatives: std::mem::take(&mut self.alternatives),
            flags: self.flags,
            captures,
        });
    }

    fn push(&mut self, kind: Kind) -> Result<(), Refusal> {
        self.parts.push(Node::new(kind)?);
        Ok(())
    }

    fn literal(&mut self, one: char) -> Result<(), Refusal> {
        if !self.flags.fold {
            return self.push(Kind::Char(one));
        }
        let mut ranges = Ranges::of(&[(one, one)]);
        ranges.fold();
        self.push(ranges.single().map_or_else(|| Kind::Class(Arc::new(ranges)), Kind::Char))
    }

    fn ranges(&mut self, ranges: Ranges) -> Result<(), Refusal> {
        self.runes = self.runes.saturating_add(ranges.runes());
        budget::charge(ranges.runes());
        if self.runes > MAX_RUNES {
            return Err(Refusal::Large);
        }
        self.push(ranges.single().map_or_else(|| Kind::Class(Arc::new(ranges)), Kind::Char))
    }

    fn repeat(&mut self, start: &str, repeated: Option<&str>, min: u32, max: Option<u32>) -> Result<(), Refusal> {
        // A lazy repetition matches the same texts.
        self.rest = self.rest.strip_prefix('?').unwrap_or(self.rest);
        let written = |from: &str| from[..from.len() - self.rest.len()].to_owned();
        if let Some(first) = repeated {
            return Err(Refusal::InvalidRepeatOp(written(first)));
        }
        let Some(inside) = self.parts.pop() else { return Err(Refusal::MissingRepeatArgument(written(start))) };
        let node = Node::new(Kind::Repeat(Box::new(inside), min, max))?;
        let counted = start.starts_with('{');
        if counted && (min >= 2 || max.is_some_and(|max| max >= 2)) && !repeats_within(&node, MAX_REPEAT) {
            return Err(Refusal::InvalidRepeatSize(written(start)));
        }
        self.parts.push(node);
        Ok(())
    }

    /// Parses a construct that starts with `(?`.
    fn perl_group(&mut self) -> Result<(), Refusal> {
        let start = self.rest;
        let name_at = match start.as_bytes() {
            [_, _, b'P', b'<', _, ..] => Some(4),
            [_, _, b'<', _, ..] => Some(3),
            _ => None,
        };
        if let Some(from) = name_at {
            let Some(end) = start.find('>') else { return Err(Refusal::InvalidNamedCapture(start.to_owned())) };
            let name = start.get(from..end).unwrap_or_default();
            if name.is_empty() || !name.chars().all(|one| one == '_' || one.is_ascii_alphanumeric()) {
                return Err(Refusal::InvalidNamedCapture(start[..=end].to_owned()));
            }
            self.group(true);
            self.rest = &start[end + 1..];
            return Ok(());
        }
        let (mut flags, mut on, mut seen) = (self.flags, true, false);
        let mut rest = &start[2..];
        while let Some(next) = rest.chars().next() {
            rest = &rest[next.len_utf8()..];
            match next {
                'i' => flags.fold = on,
                'm' => flags.lines = on,
                's' => flags.dot_newline = on,
                // Greediness changes what is found, not whether.
                'U' => {}
                '-' if on => {
                    (on, seen) = (false, false);
                    continue;
                }
                ':' | ')' if on || seen => {
                    if next == ':' {
                        self.group(false);
                    }
                    self.flags = flags;
                    self.rest = rest;
                    return Ok(());
                }
                _ => return Err(Refusal::InvalidPerlOp(start[..start.len() - rest.len()].to_owned())),
            }
            seen = true;
        }
        Err(Refusal::InvalidPerlOp(start.to_owned()))
    }

    /// Parses a construct that starts with `\`, outside of a class.
    fn escape(&mut self) -> Result<(), Refusal> {
        let start = self.rest;
        let place = match start.as_bytes().get(1) {
            Some(b'A') => Some(Place::TextStart),
            Some(b'z') => Some(Place::TextEnd),
            Some(b'b') => Some(Place::Word),
            Some(b'B') => Some(Place::NoWord),
            Some(b'C') => return Err(Refusal::InvalidEscape(r"\C".to_owned())),
            Some(b'Q') => {
                let inside = &start[2..];
                let (quoted, rest) = inside.split_once(r"\E").unwrap_or((inside, ""));
                self.rest = rest;
                budget::charge(count(quoted.len()));
                return quoted.chars().try_for_each(|one| self.literal(one));
            }
            _ => None,
        };
        if let Some(place) = place {
            self.rest = &start[2..];
            return self.push(Kind::Place(place));
        }
        if let Some((ranges, rest)) = self.named(start)? {
            self.rest = rest;
            return self.ranges(ranges);
        }
        let (one, rest) = escaped(start)?;
        self.rest = rest;
        // A surrogate cannot occur in a text.
        match one {
            Some(one) => self.literal(one),
            None => self.push(Kind::Class(Arc::new(Ranges::none()))),
        }
    }

    /// `\pL`, `\p{Greek}`, `\d` and the like.
    fn named(&self, start: &'t str) -> Result<Option<(Ranges, &'t str)>, Refusal> {
        let mut letters = start.chars().skip(1);
        let Some(letter) = letters.next() else { return Ok(None) };
        if letter == 'p' || letter == 'P' {
            let Some(first) = letters.next() else { return Err(Refusal::InvalidCharRange(start.to_owned())) };
            let (name, end) = if first == '{' {
                match start.find('}') {
                    Some(end) => (&start[3..end], end + 1),
                    None => return Err(Refusal::InvalidCharRange(start.to_owned())),
                }
            } else {
                (&start[2..2 + first.len_utf8()], 2 + first.len_utf8())
            };
            budget::charge(64);
            let ranges = class::unicode(name, letter == 'P', self.flags.fold);
            let ranges = ranges.ok_or_else(|| Refusal::InvalidCharRange(start[..end].to_owned()))?;
            return Ok(Some((ranges, &start[end..])));
        }
        let ranges = class::perl(letter, self.flags.fold);
        Ok(ranges.map(|ranges| (ranges, &start[1 + letter.len_utf8()..])))
    }

    /// Parses a class, which starts with `[`.
    fn class(&mut self) -> Result<(), Refusal> {
        let start = self.rest;
        let mut rest = &start[1..];
        let negated = rest.starts_with('^');
        rest = rest.strip_prefix('^').unwrap_or(rest);
        let mut plain: Vec<(char, char)> = Vec::new();
        let mut ranges = Ranges::none();
        let mut first = true;
        while first || !rest.starts_with(']') {
            budget::charge(1);
            first = false;
            if rest.is_empty() {
                return Err(Refusal::MissingBracket);
            }
            if let Some((name, after)) = rest.strip_prefix("[:").and_then(|inside| inside.split_once(":]")) {
                let named = class::posix(name, self.flags.fold);
                ranges.add(&named.ok_or_else(|| Refusal::InvalidCharRange(format!("[:{name}:]")))?);
                rest = after;
                continue;
            }
            if rest.starts_with('\\')
                && let Some((named, after)) = self.named(rest)?
            {
                budget::charge(named.runes());
                ranges.add(&named);
                rest = after;
                continue;
            }
            let written = rest;
            let (low, mut after) = one_of_class(rest)?;
            let mut high = low;
            if after.starts_with('-') && !after.starts_with("-]") && after.len() >= 2 {
                (high, after) = one_of_class(&after[1..])?;
                if high < low {
                    let part = written[..written.len() - after.len()].to_owned();
                    return Err(Refusal::InvalidCharRange(part));
                }
            }
            rest = after;
            // Surrogates cannot occur in a text: a range ends before them or starts after them.
            let low = char::from_u32(low).unwrap_or('\u{e000}');
            let high = char::from_u32(high).unwrap_or('\u{d7ff}');
            if low <= high {
                plain.push((low, high));
            }
        }
        let mut chosen = Ranges::of(&plain);
        if self.flags.fold {
            chosen.fold();
        }
        ranges.add(&chosen);
        // `[^a]` matches a line feed: Go's `Perl` flags include `ClassNL`.
        if negated {
            ranges.negate();
        }
        self.rest = rest.strip_prefix(']').unwrap_or(rest);
        self.ranges(ranges)
    }
}

/// `repeatIsValid`: whether every product of nested repetitions is within the limit.
fn repeats_within(node: &Node, mut left: u32) -> bool {
    budget::charge(1);
    match &node.kind {
        Kind::Repeat(inside, min, max) => {
            // `*`, `+` and `?` are not counted repetitions in Go's tree.
            let counted = !matches!((min, max), (0 | 1, None) | (0, Some(1)));
            if counted {
                let most = max.unwrap_or(*min);
                if *max == Some(0) {
                    return true;
                }
                if most > left {
                    return false;
                }
                left = left.checked_div(most).unwrap_or(left);
            }
            repeats_within(inside, left)
        }
        Kind::Group(inside) => repeats_within(inside, left),
        Kind::Concat(parts) | Kind::Alternate(parts) => parts.iter().all(|part| repeats_within(part, left)),
        _ => true,
    }
}

fn concat(mut parts: Vec<Node>) -> Result<Node, Refusal> {
    match (parts.len(), parts.pop()) {
        (_, None) => Node::new(Kind::Empty),
        (1, Some(only)) => Ok(only),
        (_, Some(last)) => {
            parts.push(last);
            Node::new(Kind::Concat(parts))
        }
    }
}
