//! JSON of untrusted clients: its parts are found without building anything, its size is known before it is parsed, at any
//! depth.
//!
//! The API server reads JSON up to 10,000 levels deep (`maxNestingDepth` of Go's `encoding/json`), serde_json 128. So the parts
//! of a review are found by a scan that keeps only a counter, and deep values are built without recursion.

use serde_json::{Map, Value};
use std::fmt;
use std::ops::Range;

/// Why a text is not JSON, or not the expected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// The text ends early, or has something unexpected in place of a value, a key or a separator; at this byte.
    Syntax(usize),
    /// A value that is not an object.
    NotAnObject,
}

impl fmt::Display for JsonError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonError::Syntax(at) => write!(out, "invalid JSON at byte {at}"),
            JsonError::NotAnObject => out.write_str("not a JSON object"),
        }
    }
}

impl std::error::Error for JsonError {}

/// How large a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// Number of values, including nested ones.
    pub values: usize,
    /// Levels of nesting.
    pub depth: usize,
}

/// The place and size of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Bytes of the text.
    pub range: Range<usize>,
    /// Its size.
    pub size: Size,
}

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Scan<'_> {
    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, sign: u8) -> Result<(), JsonError> {
        self.space();
        if self.bytes.get(self.at) == Some(&sign) {
            self.at += 1;
            return Ok(());
        }
        Err(JsonError::Syntax(self.at))
    }

    /// Scans a string; returns its bytes with the quotes.
    fn string(&mut self) -> Result<Range<usize>, JsonError> {
        self.take(b'"')?;
        let start = self.at - 1;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let Some(next) = memchr::memchr2(b'"', b'\\', rest) else {
                return Err(JsonError::Syntax(self.bytes.len()));
            };
            self.at += next + 1;
            if rest.get(next) == Some(&b'"') {
                return Ok(start..self.at);
            }
            self.at += 1;
        }
    }

    /// Scans a number or a keyword.
    fn plain(&mut self) -> Result<Range<usize>, JsonError> {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'+' | b'-' | b'.')) {
            self.at += 1;
        }
        if self.at == start { Err(JsonError::Syntax(start)) } else { Ok(start..self.at) }
    }

    /// Scans a value of any depth.
    fn value(&mut self) -> Result<Part, JsonError> {
        self.space();
        let start = self.at;
        let (mut size, mut depth) = (Size { values: 1, depth: 1 }, 0_usize);
        loop {
            self.space();
            match self.bytes.get(self.at) {
                Some(b'{' | b'[') => {
                    depth += 1;
                    size.depth = size.depth.max(depth + 1);
                    self.at += 1;
                }
                Some(b'}' | b']') => {
                    let Some(less) = depth.checked_sub(1) else { return Err(JsonError::Syntax(self.at)) };
                    depth = less;
                    self.at += 1;
                }
                Some(b',' | b':') if depth > 0 => {
                    size.values += usize::from(self.bytes.get(self.at) == Some(&b','));
                    self.at += 1;
                }
                Some(b'"') => {
                    self.string()?;
                }
                Some(_) => {
                    self.plain()?;
                }
                None => return Err(JsonError::Syntax(self.at)),
            }
            if depth == 0 {
                // Every non-empty container has one more value than commas.
                size.values += size.depth.saturating_sub(1);
                return Ok(Part { range: start..self.at, size });
            }
        }
    }
}

/// The members of an object by key, in order, unparsed. `from` is the offset of the object in the text that the ranges refer
/// to.
pub(super) fn members(text: &str, from: usize) -> Result<Vec<(String, Part)>, JsonError> {
    let mut scan = Scan { bytes: text.as_bytes(), at: 0 };
    scan.take(b'{').map_err(|_| JsonError::NotAnObject)?;
    let mut found = Vec::new();
    scan.space();
    if scan.bytes.get(scan.at) == Some(&b'}') {
        return Ok(found);
    }
    loop {
        scan.space();
        let key = scan.string()?;
        let key =
            text.get(key.clone()).and_then(|key| serde_json::from_str(key).ok()).ok_or(JsonError::Syntax(key.start))?;
        scan.take(b':')?;
        let part = scan.value()?;
        let range = part.range.start + from..part.range.end + from;
        found.push((key, Part { range, ..part }));
        scan.space();
        match scan.bytes.get(scan.at) {
            Some(b',') => scan.at += 1,
            Some(b'}') => return Ok(found),
            _ => return Err(JsonError::Syntax(scan.at)),
        }
    }
}

/// The value of a text, parsed by serde_json if its depth allows, or else piece by piece.
pub(super) fn parse(text: &str, depth: usize) -> Result<Value, JsonError> {
    // serde_json stops at 128.
    const SHALLOW: usize = 100;
    if depth <= SHALLOW {
        return serde_json::from_str(text).map_err(|error| JsonError::Syntax(error.column()));
    }
    build(text)
}

/// A container under construction.
enum Open {
    List(Vec<Value>),
    Map(Map<String, Value>, Option<String>),
}

fn build(text: &str) -> Result<Value, JsonError> {
    let mut scan = Scan { bytes: text.as_bytes(), at: 0 };
    let mut open: Vec<Open> = Vec::new();
    loop {
        scan.space();
        let at = scan.at;
        let wrong = || JsonError::Syntax(at);
        let leaf = |range: Range<usize>| {
            text.get(range).and_then(|part| serde_json::from_str::<Value>(part).ok()).ok_or(JsonError::Syntax(at))
        };
        let mut done = match scan.bytes.get(at) {
            Some(b'{') => {
                scan.at += 1;
                open.push(Open::Map(Map::new(), None));
                None
            }
            Some(b'[') => {
                scan.at += 1;
                open.push(Open::List(Vec::new()));
                None
            }
            Some(b'}' | b']') => {
                scan.at += 1;
                match (scan.bytes.get(at), open.pop()) {
                    (Some(b']'), Some(Open::List(items))) => Some(Value::Array(items)),
                    (Some(b'}'), Some(Open::Map(map, None))) => Some(Value::Object(map)),
                    _ => return Err(wrong()),
                }
            }
            Some(b',') => {
                scan.at += 1;
                None
            }
            Some(b'"') => {
                let range = scan.string()?;
                if let Some(Open::Map(_, key @ None)) = open.last_mut() {
                    let Value::String(name) = leaf(range)? else { return Err(wrong()) };
                    scan.take(b':')?;
                    *key = Some(name);
                    None
                } else {
                    Some(leaf(range)?)
                }
            }
            Some(_) => {
                let range = scan.plain()?;
                Some(leaf(range)?)
            }
            None => return Err(wrong()),
        };
        if let Some(value) = done.take() {
            match open.last_mut() {
                None => return Ok(value),
                Some(Open::List(items)) => items.push(value),
                Some(Open::Map(map, key)) => drop(map.insert(key.take().ok_or_else(wrong)?, value)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_and_measured_without_reading_them() {
        let text = r#" {"a": {"b": [1, "}\"", {}]}, "c\n": null , "a": 2}"#;
        let found = members(text, 0).unwrap();
        let shown: Vec<(&str, &str)> = found.iter().map(|(key, part)| (&**key, &text[part.range.clone()])).collect();
        assert_eq!(shown, [("a", r#"{"b": [1, "}\"", {}]}"#), ("c\n", "null"), ("a", "2")]);
        assert_eq!(found[0].1.size.depth, 4);
        assert!((5..=7).contains(&found[0].1.size.values), "{:?}", found[0].1.size);
        for broken in ["", "[", "{", r#"{"a"}"#, r#"{"a":}"#, r#"{"a":1"#, r#"{"a":1]"#, r#"{"a":"x}"#, "{a:1}"] {
            assert!(members(broken, 0).is_err(), "{broken}");
        }
    }

    #[test]
    fn any_depth_is_read() {
        let deep =
            |levels: usize| format!("{}{{\"k\":[1,\"é\\u0041\",true]}}{}", "[".repeat(levels), "]".repeat(levels));
        for levels in [10, 120, 999] {
            let text = deep(levels);
            let mut value = &parse(&text, levels + 2).unwrap();
            for _ in 0..levels {
                value = &value[0];
            }
            assert_eq!(value.to_string(), r#"{"k":[1,"éA",true]}"#);
        }
        let text = format!("{{\"a\":{}}}", deep(9_999));
        assert_eq!(members(&text, 0).unwrap()[0].1.size.depth, 10_002);
        for broken in ["[1", "[1}", "{1:2}", "[a]"] {
            assert!(build(broken).is_err(), "{broken}");
        }
    }
}
