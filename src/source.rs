//! Texts given by the user, byte spans into them, and the tree of keys and values that carries those spans.

pub(crate) mod alike;
mod code;
mod error_message;
pub mod escape;

pub(crate) use code::Code;
pub use error_message::ErrorMessage;

use crate::budget;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// One text known to a [`Sources`] table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A range of bytes in one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The text.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A line and a column, both counted from 1; the column counts Unicode scalar values, as editors do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

/// One text and where it came from.
#[derive(Debug, Clone)]
pub struct SourceText {
    /// What to call it in a message: a path as the user wrote it, `<stdin>`, `cluster: shop/my-filter`.
    pub name: String,
    /// The text itself.
    pub text: String,
    /// The text that has it as a value; none for a text that was read.
    pub within: Option<FileId>,
    line_starts: Vec<u32>,
    /// Number of characters before every [`STRIDE`]th byte, built when a position on a long line is first needed.
    characters: OnceLock<Vec<u32>>,
}

/// Bytes of a line that are counted one by one. On longer lines (minified JSON) a table gives the start.
const STRIDE: usize = 1024;

/// All texts of a run; positions are looked up here. A table can extend a shared one: the texts of a cluster, plus those that
/// one review adds.
#[derive(Debug, Default, Clone)]
pub struct Sources {
    base: Option<Arc<Sources>>,
    /// Number of the first own text.
    first: u32,
    texts: Vec<Arc<SourceText>>,
}

impl Sources {
    /// A table that extends another one with texts of its own.
    pub(crate) fn above(base: Arc<Sources>) -> Sources {
        Sources { first: base.next().0, base: Some(base), texts: Vec::new() }
    }

    /// The same, but its first text replaces the one with this id in the table below.
    pub(crate) fn over(base: Arc<Sources>, first: FileId) -> Sources {
        Sources { first: first.0, base: Some(base), texts: Vec::new() }
    }

    /// A table whose first text gets this id, to be spliced into another table.
    pub(crate) fn starting_at(first: FileId) -> Sources {
        Sources { base: None, first: first.0, texts: Vec::new() }
    }

    /// The id that the next text will get.
    pub(crate) fn next(&self) -> FileId {
        FileId(self.first.saturating_add(offset(self.texts.len())))
    }

    /// Adds a text. Texts over 4 GiB are not supported: the loader refuses them before they get here. Its name is one line,
    /// whatever an archive or a cluster calls it.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.push(&name.into(), text.into(), None)
    }

    /// Adds a value of a text that is itself YAML. `place` says which: `data.mesh of ConfigMap istio-system/istio`.
    pub(crate) fn add_within(&mut self, file: FileId, place: &str, text: impl Into<String>) -> FileId {
        let name = format!("{}: {place}", self.get(file).name);
        self.push(&name, text.into(), Some(file))
    }

    fn push(&mut self, name: &str, text: String, within: Option<FileId>) -> FileId {
        let file = self.next();
        let name = escape::one_line(name).into_owned();
        self.texts.push(Arc::new(SourceText::new(name, text, within)));
        file
    }

    /// Moves the texts of another table into this one under their ids: replaces existing texts or appends new ones.
    pub(crate) fn splice(&mut self, other: Sources) {
        for (number, text) in (other.first..).zip(other.texts) {
            let index = number.saturating_sub(self.first) as usize;
            match self.texts.get_mut(index) {
                Some(place) => *place = text,
                None => self.texts.push(text),
            }
        }
    }

    /// The text behind an id. Ids come from [`Sources::add`] of this table or of one below it.
    pub fn get(&self, file: FileId) -> &SourceText {
        let own = file.0.checked_sub(self.first).map(|index| index as usize);
        match &self.base {
            Some(base) if own.is_none_or(|own| own >= self.texts.len()) => base.get(file),
            _ => &self.texts[own.unwrap_or_default()],
        }
    }

    /// Every own text with its id, in the order of [`Sources::add`].
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceText)> {
        (self.first..).zip(&self.texts).map(|(number, text)| (FileId(number), &**text))
    }

    /// Line and column of the first byte of a span.
    pub fn position(&self, span: Span) -> Position {
        self.get(span.file).position(span.start)
    }

    /// `name:line:column` of the first byte of a span.
    pub fn place(&self, span: Span) -> String {
        let Position { line, column } = self.position(span);
        format!("{}:{line}:{column}", self.get(span.file).name)
    }

    /// The bytes a span covers, as text; empty if the span does not fit the text.
    pub fn snippet(&self, span: Span) -> &str {
        self.get(span.file).text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

impl SourceText {
    fn new(name: String, text: String, within: Option<FileId>) -> SourceText {
        let mut line_starts = vec![0];
        line_starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| offset(at + 1)));
        SourceText { name, text, within, line_starts, characters: OnceLock::new() }
    }

    /// Whether it is a page of documentation, whose examples may be alternatives.
    pub(crate) fn is_page(&self) -> bool {
        let ending = self.name.rsplit('.').next().unwrap_or_default().to_lowercase();
        matches!(ending.as_str(), "md" | "markdown" | "mdx" | "adoc" | "asciidoc" | "asc")
    }

    /// Line and column of a byte.
    pub fn position(&self, byte: u32) -> Position {
        let line = self.line_starts.partition_point(|&start| start <= byte).max(1);
        let start = self.line_starts[line - 1] as usize;
        let before = self.text.get(start..byte as usize).unwrap_or_default();
        if before.len() <= 2 * STRIDE {
            return Position { line, column: before.chars().count() + 1 };
        }
        Position { line, column: self.characters_before(byte as usize) - self.characters_before(start) + 1 }
    }

    /// How many characters begin before a byte.
    fn characters_before(&self, byte: usize) -> usize {
        let table = self.characters.get_or_init(|| {
            let mut sum = 0;
            let count = |chunk: &[u8]| {
                let before = sum;
                sum += starts(chunk);
                before
            };
            self.text.as_bytes().chunks(STRIDE).map(count).collect()
        });
        let chunk = (byte / STRIDE).min(table.len().saturating_sub(1));
        let before = table.get(chunk).copied().unwrap_or_default();
        (before + starts(self.text.as_bytes().get(chunk * STRIDE..byte).unwrap_or_default())) as usize
    }

    /// Byte at which a line (counted from 1) starts; `None` past the end.
    pub(crate) fn line_start(&self, line: usize) -> Option<u32> {
        self.line_starts.get(line.checked_sub(1)?).copied()
    }

    /// How many lines the text has.
    pub(crate) fn lines(&self) -> usize {
        self.line_starts.len()
    }
}

/// How many characters begin in these bytes of UTF-8.
fn starts(bytes: &[u8]) -> u32 {
    offset(bytes.iter().filter(|byte| (**byte & 0xc0) != 0x80).count())
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A value of a YAML or JSON document with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where the value is (for a mapping or a list: from its first to its last byte).
    pub span: Span,
    /// The value.
    pub value: NodeValue,
}

/// The kinds of values, after YAML 1.1 resolution as kubectl does it (`y` is a string only when quoted).
#[derive(Clone, Debug, PartialEq)]
pub enum NodeValue {
    /// `null`, `~` or nothing.
    Null,
    /// `true`, `yes`, `on` …
    Bool(bool),
    /// A number, as the JSON text kubectl sends to the API server (`0o7` is `7`, `1_000` is `1000`).
    Number(String),
    /// Text.
    String(String),
    /// A list, shared by its copies.
    List(Arc<[Node]>),
    /// A mapping in the order of the document. A key given twice is kept once, with its last value, as kubectl does.
    Map(Arc<[Entry]>),
}

/// One key of a mapping with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key, as text.
    pub key: String,
    /// Where the key is.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

/// One step from a value to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The value under a key.
    Key(String),
    /// An item of a list, from 0.
    Item(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Step::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(item: usize) -> Self {
        Step::Item(item)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Key(key) => write!(out, ".{key}"),
            Step::Item(item) => write!(out, "[{item}]"),
        }
    }
}

impl Node {
    /// The value under a key of a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The key and value of a mapping.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        budget::charge_for(1 + self.entries().len() / 8);
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The keys and values of a mapping; nothing for any other value.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            NodeValue::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; nothing for any other value.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            NodeValue::List(items) => items,
            _ => &[],
        }
    }

    /// The text of a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.value {
            NodeValue::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this is `null` or nothing.
    pub fn is_null(&self) -> bool {
        matches!(self.value, NodeValue::Null)
    }

    /// The value at the end of a route; `None` if a step does not exist.
    pub(crate) fn at(&self, route: &[Step]) -> Option<&Node> {
        route.iter().try_fold(self, |node, step| match step {
            Step::Key(key) => node.get(key),
            Step::Item(item) => node.items().get(*item),
        })
    }

    /// The value below these keys.
    pub(crate) fn under(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The place of the last key on a route (or of the list item): where a caret points when the key itself is wrong. Steps
    /// that do not exist are ignored, so there is always a place to show.
    pub(crate) fn key_span(&self, route: &[Step]) -> Span {
        let mut span = self.span;
        let mut node = self;
        for step in route {
            match step {
                Step::Key(key) => match node.entry(key) {
                    Some(entry) => (span, node) = (entry.key_span, &entry.value),
                    None => break,
                },
                Step::Item(item) => match node.items().get(*item) {
                    Some(value) => (span, node) = (value.span, value),
                    None => break,
                },
            }
        }
        span
    }

    /// The route to the innermost key or value that contains a span; empty when none does.
    pub(crate) fn route_to(&self, span: Span) -> Vec<Step> {
        let holds = |outer: Span| outer.file == span.file && outer.start <= span.start && span.end <= outer.end;
        let mut route = Vec::new();
        let mut node = self;
        loop {
            budget::charge_for(1 + (node.entries().len() + node.items().len()) / 8);
            let entry = node.entries().iter().find(|entry| holds(entry.key_span) || holds(entry.value.span));
            let item = node.items().iter().position(|item| holds(item.span));
            match (entry, item) {
                (Some(entry), _) => {
                    route.push(Step::Key(entry.key.clone()));
                    node = &entry.value;
                }
                (None, Some(item)) => {
                    route.push(Step::Item(item));
                    node = &node.items()[item];
                }
                (None, None) => return route,
            }
        }
    }

    /// The value as plain JSON, without places.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            NodeValue::Null => serde_json::Value::Null,
            NodeValue::Bool(value) => (*value).into(),
            NodeValue::Number(text) => text.parse::<serde_json::Number>().map_or(serde_json::Value::Null, Into::into),
            NodeValue::String(text) => text.clone().into(),
            NodeValue::List(items) => items.iter().map(Node::to_json).collect(),
            NodeValue::Map(entries) => entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect(),
        }
    }
}

/// A route in the form of the API server's field paths: `spec.configPatches[2].patch.value["@type"]`.
pub(crate) fn field_path(route: &[Step]) -> String {
    let mut path = String::new();
    for step in route {
        match step {
            Step::Item(item) => path.extend(format!("[{item}]").chars()),
            Step::Key(key) if key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') && !key.is_empty() => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
            }
            Step::Key(key) => path.extend(format!("[{key:?}]").chars()),
        }
    }
    path
}

/// Something wrong with an input, with its place. Problems are collected, not thrown, so that one bad document hides no other.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// What kind of problem.
    pub code: Code,
    /// Whether the thing is lost (`Error`) or only doubtful.
    pub severity: Severity,
    /// Where; `None` for the whole input.
    pub span: Option<Span>,
    /// What is wrong, as one sentence without a period.
    pub message: String,
    /// What to write or do instead.
    pub help: Option<String>,
}

/// How bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// For information.
    Info,
    /// Doubtful.
    Warning,
    /// Wrong.
    Error,
}

impl Severity {
    /// `error`, `warning` or `info`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_on_long_lines_are_those_of_short_ones() {
        let text = format!("first\n{}\nlast", "aé漢🦀".repeat(2000));
        let mut sources = Sources::default();
        let file = sources.add("x", text.as_str());
        let start = 6;
        for (column, (at, _)) in text[start..start + 20_000].char_indices().enumerate().step_by(7) {
            let span = Span { file, start: offset(start + at), end: offset(start + at) };
            assert_eq!(sources.position(span), Position { line: 2, column: column + 1 });
        }
        let end = Span { file, start: offset(text.len()), end: offset(text.len()) };
        assert_eq!(sources.position(end), Position { line: 3, column: 5 });
    }
}
