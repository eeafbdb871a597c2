//! JSON text ⇄ [`Tree`]: a parser that leaves the payload of every `Any` as text, and a writer.

use super::items::Items;
use super::json_scan;
use super::tree::{Origin, TYPE_KEY, Tree, Value};
use crate::budget;
use std::borrow::Cow;

/// Deepest nesting the parser follows. Envoy's own JSON parser stops at 100.
pub(crate) const MAX_DEPTH: usize = 200;

/// Why a text is not JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Byte offset.
    pub at: usize,
    /// What was expected.
    pub message: &'static str,
}

/// Parses one JSON value. An object whose first key is `@type` stays raw, unless it is the outermost.
pub fn parse(text: &str) -> Result<Tree<'_>, JsonError> {
    parse_opened(text).map(Tree::new)
}

/// Parses one value, the outermost object opened even if it is an `Any`.
pub(super) fn parse_opened(text: &str) -> Result<Value<'_>, JsonError> {
    let mut parser = Parser::new(text);
    parser.space();
    let value = parser.value(0, true)?;
    parser.space();
    if parser.at < text.len() {
        return Err(parser.error("nothing after the end of the value"));
    }
    Ok(value)
}

/// Parses an object but looks only into these keys: lists and objects under all others stay raw.
pub(super) fn parse_partly<'a>(text: &'a str, keys: &[&str]) -> Result<Value<'a>, JsonError> {
    let mut parser = Parser { only: Some(keys), ..Parser::new(text) };
    parser.space();
    let value = parser.value(0, true)?;
    parser.space();
    if parser.at < text.len() {
        return Err(parser.error("nothing after the end of the value"));
    }
    Ok(value)
}

/// Type URL of an object whose first key is `@type`.
pub(super) fn type_url(text: &str) -> Option<Cow<'_, str>> {
    let mut parser = Parser::new(text);
    parser.space();
    parser.expect(b'{', "").ok()?;
    parser.space();
    if parser.string().ok()? != TYPE_KEY {
        return None;
    }
    parser.space();
    parser.expect(b':', "").ok()?;
    parser.space();
    parser.string().ok()
}

struct Parser<'a, 'k> {
    text: &'a str,
    at: usize,
    /// Items of open lists and entries of open objects: each is moved into a list of its exact size.
    items: Vec<Tree<'a>>,
    entries: Vec<(Cow<'a, str>, Tree<'a>)>,
    /// The keys of the outermost object to look into; `None` for all.
    only: Option<&'k [&'k str]>,
}

impl<'a, 'k> Parser<'a, 'k> {
    const fn new(text: &'a str) -> Parser<'a, 'k> {
        Parser { text, at: 0, items: Vec::new(), entries: Vec::new(), only: None }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn error(&self, message: &'static str) -> JsonError {
        JsonError { at: self.at, message }
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8, message: &'static str) -> Result<(), JsonError> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.error(message))
        }
    }

    fn value(&mut self, depth: usize, open: bool) -> Result<Value<'a>, JsonError> {
        if depth > MAX_DEPTH {
            return Err(self.error("nesting no deeper than 200"));
        }
        match self.peek() {
            Some(b'{') => self.object(depth, open),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string().map(Value::String),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            Some(b'-' | b'0'..=b'9') => Ok(Value::Number(Cow::Borrowed(self.number()))),
            _ => Err(self.error("a JSON value")),
        }
    }

    fn literal(&mut self, word: &'static str, value: Value<'a>) -> Result<Value<'a>, JsonError> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.error("true, false or null"))
        }
    }

    fn number(&mut self) -> &'a str {
        let start = self.at;
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn list(&mut self, depth: usize) -> Result<Value<'a>, JsonError> {
        self.at += 1;
        let first = self.items.len();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::EmptyList);
        }
        loop {
            self.space();
            budget::charge(1);
            let item = Tree::new(self.value(depth + 1, false)?);
            self.items.push(item);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::List(self.items.drain(first..).collect()));
                }
                _ => return Err(self.error("`,` or `]`")),
            }
        }
    }

    fn object(&mut self, depth: usize, open: bool) -> Result<Value<'a>, JsonError> {
        let start = self.at;
        self.at += 1;
        let first = self.entries.len();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Map(Items::default()));
        }
        loop {
            self.space();
            let key = self.string()?;
            if !open && self.entries.len() == first && key == TYPE_KEY {
                let end = json_scan::container_end(self.text.as_bytes(), self.at);
                self.at = end.ok_or(JsonError { at: self.text.len(), message: "the end of an object" })?;
                return Ok(Value::Raw(&self.text[start..self.at]));
            }
            self.space();
            self.expect(b':', "`:`")?;
            self.space();
            budget::charge(1);
            let container = matches!(self.peek(), Some(b'{' | b'['));
            let left = depth == 0 && container && self.only.is_some_and(|only| !only.iter().any(|it| *it == key));
            let value = if left { self.raw()? } else { self.value(depth + 1, false)? };
            self.entries.push((key, Tree::new(value)));
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Map(self.entries.drain(first..).collect()));
                }
                _ => return Err(self.error("`,` or `}`")),
            }
        }
    }

    /// A list or an object, unparsed.
    fn raw(&mut self) -> Result<Value<'a>, JsonError> {
        let start = self.at;
        let end = json_scan::container_end(self.text.as_bytes(), start + 1);
        self.at = end.ok_or(JsonError { at: self.text.len(), message: "the end of a list or an object" })?;
        Ok(Value::Raw(&self.text[start..self.at]))
    }

    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.error("a string"));
        }
        let start = self.at;
        let end = json_scan::string_end(self.text.as_bytes(), start + 1);
        self.at = end.ok_or(JsonError { at: start, message: "the end of a string" })?;
        let inner = &self.text[start + 1..self.at - 1];
        if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
            return Ok(Cow::Borrowed(inner));
        }
        serde_json::from_str::<String>(&self.text[start..self.at])
            .map(Cow::Owned)
            .map_err(|_| JsonError { at: start, message: "a string with valid escapes" })
    }
}

/// How to write a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without white space.
    Compact,
    /// Indented by this many spaces per level.
    Indented(usize),
}

/// Writes a tree as JSON. Empty repeated fields are omitted, as in proto JSON; those of a Struct stay.
pub fn write(tree: &Tree<'_>, style: Style) -> String {
    let mut out = String::new();
    Writer { out: &mut out, style, sort: false }.tree(tree, 0);
    out
}

/// One text for all trees that mean the same: keys sorted, numbers in one spelling, no empty repeated fields, everything
/// opened.
pub fn canonical(tree: &Tree<'_>) -> String {
    let mut out = String::new();
    Writer { out: &mut out, style: Style::Compact, sort: true }.tree(tree, 0);
    out
}

struct Writer<'o> {
    out: &'o mut String,
    style: Style,
    sort: bool,
}

impl Writer<'_> {
    fn tree(&mut self, tree: &Tree<'_>, level: usize) {
        match &tree.value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Value::Number(text) if self.sort => self.out.push_str(&canonical_number(text)),
            Value::Number(text) => self.out.push_str(text),
            Value::String(text) => string(self.out, text),
            Value::Raw(_) => {
                let mut opened = tree.clone();
                opened.open();
                self.tree(&opened, level);
            }
            Value::List(items) => self.list(items, level),
            Value::EmptyList => self.out.push_str("[]"),
            Value::Map(entries) => self.map(entries, level),
        }
    }

    fn list(&mut self, items: &[Tree<'_>], level: usize) {
        self.out.push('[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.line(level + 1);
            self.tree(item, level + 1);
        }
        if !items.is_empty() {
            self.line(level);
        }
        self.out.push(']');
    }

    fn map(&mut self, entries: &[(Cow<'_, str>, Tree<'_>)], level: usize) {
        self.out.push('{');
        let mut shown: Vec<_> = entries
            .iter()
            .filter(|(_, value)| !matches!(&value.value, Value::List(items) if items.is_empty()))
            .collect();
        if self.sort {
            shown.sort_by(|left, right| left.0.cmp(&right.0));
        }
        for (index, (key, value)) in shown.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.line(level + 1);
            string(self.out, key);
            self.out.push(':');
            if self.style != Style::Compact {
                self.out.push(' ');
            }
            self.tree(value, level + 1);
        }
        if !shown.is_empty() {
            self.line(level);
        }
        self.out.push('}');
    }

    fn line(&mut self, level: usize) {
        if let Style::Indented(width) = self.style {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', width * level));
        }
    }
}

/// Whether two numbers have the same value.
pub(super) fn same_number(one: &str, other: &str) -> bool {
    canonical_number(one) == canonical_number(other)
}

/// One spelling for numbers of equal value: an integer as such, anything else as the shortest text of its 64-bit float.
pub(super) fn canonical_number(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Cow::Borrowed(text);
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Cow::Owned(value.to_string()),
        // No float is that large: `1e999`.
        _ => Cow::Borrowed(text),
    }
}

fn string(out: &mut String, text: &str) {
    out.push('"');
    let plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
    // Names, types and paths need no escape, scripts one for each line: what is between is copied whole.
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| !plain(byte)) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => {
                let digits = b"0123456789abcdef";
                out.push_str("\\u00");
                out.push(char::from(digits[usize::from(control >> 4)]));
                out.push(char::from(digits[usize::from(control & 15)]));
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// The tree of a document's node. Numbers and strings are borrowed.
pub(crate) fn from_node(node: &crate::source::Node, origin: Origin) -> Tree<'_> {
    use crate::source::NodeValue;
    budget::charge(1);
    let value = match &node.value {
        NodeValue::Null => Value::Null,
        NodeValue::Bool(value) => Value::Bool(*value),
        NodeValue::Number(text) => Value::Number(Cow::Borrowed(text)),
        NodeValue::String(text) => Value::String(Cow::Borrowed(text)),
        NodeValue::List(items) => Value::List(items.iter().map(|item| from_node(item, origin)).collect()),
        NodeValue::Map(entries) => Value::Map(
            entries.iter().map(|entry| (Cow::Borrowed(entry.key.as_str()), from_node(&entry.value, origin))).collect(),
        ),
    };
    Tree { origin, value }
}

/// The tree of a JSON value, owning its text.
pub fn from_json(value: &serde_json::Value) -> Tree<'static> {
    Tree::new(match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => Value::Number(Cow::Owned(number.to_string())),
        serde_json::Value::String(text) => Value::String(Cow::Owned(text.clone())),
        serde_json::Value::Array(items) if items.is_empty() => Value::EmptyList,
        serde_json::Value::Array(items) => Value::List(items.iter().map(from_json).collect()),
        serde_json::Value::Object(entries) => {
            Value::Map(entries.iter().map(|(key, value)| (Cow::Owned(key.clone()), from_json(value))).collect())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_of_an_any_stays_text_until_opened() {
        let text = r#"{"name": "a", "typed_config": {"@type": "x/T", "b": [1, {"@type":"x/U"}]}}"#;
        let mut tree = parse(text).unwrap();
        let config = tree.get_mut("typed_config").unwrap();
        assert!(matches!(config.value, Value::Raw(_)));
        assert_eq!(config.type_name().as_deref(), Some("T"));
        config.open();
        assert!(matches!(config.get("b").unwrap().items()[1].value, Value::Raw(_)));
        assert_eq!(canonical(&tree), r#"{"name":"a","typed_config":{"@type":"x/T","b":[1,{"@type":"x/U"}]}}"#);
    }

    #[test]
    fn trees_that_mean_the_same_have_one_canonical_text() {
        let mut left = parse(r#"{"b": 1.50, "a": [1], "c": "\u00e9\n"}"#).unwrap();
        left.list_mut("a").unwrap().clear();
        let right = parse("{\"c\":\"é\\n\",\"b\":1.5}").unwrap();
        assert!(left.same(&right));
        assert_eq!(canonical(&left), canonical(&right));
    }

    #[test]
    fn what_is_the_same_is_what_has_the_same_canonical_text() {
        let texts = [
            r#"{"a":1,"b":[{"x":"y"}],"c":{"@type":"t/T","d":[1,2]}}"#,
            r#"{"c":{"d":[1,2.0],"@type":"t/T"},"b":[{"x":"y"}],"a":1}"#,
            r#"{"c":{"d":[2,1],"@type":"t/T"},"b":[{"x":"y"}],"a":1}"#,
            r#"{"a":1,"b":[{"x":"y"}],"c":{"@type":"t/T","d":[1,2]},"e":null}"#,
            r#"{"a":"1","b":[{"x":"y"}],"c":{"@type":"t/T","d":[1,2]}}"#,
            r#"{"a":1,"b":[{"x":"y"},{}],"c":{"@type":"t/T","d":[1,2]}}"#,
            r#"{"a":1,"b":[{"z":"y"}],"c":{"@type":"t/T","d":[1,2]}}"#,
            r#"{"a":1,"c":{"@type":"t/T","d":[1,2]}}"#,
            "[]",
            "{}",
            "1e0",
            "1",
        ];
        let trees: Vec<Tree<'_>> = texts.iter().map(|text| parse(text).unwrap()).collect();
        for one in &trees {
            for other in &trees {
                assert_eq!(one.same(other), canonical(one) == canonical(other), "{one:?}\n{other:?}");
            }
        }
        let with_type = parse(r#"{"@type":"t/T","a":1}"#).unwrap();
        assert!(with_type.same_but(&parse(r#"{"a":1}"#).unwrap(), "@type"));
        assert!(!with_type.same(&parse(r#"{"a":1}"#).unwrap()));
    }

    #[test]
    fn broken_texts_are_errors_with_a_place() {
        for (text, at) in [("{", 1), ("{\"a\" 1}", 5), ("[1,]", 3), ("tru", 0), ("\"a", 0), ("{} x", 3), ("", 0)] {
            assert_eq!(parse(text).unwrap_err().at, at, "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
