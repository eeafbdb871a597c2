//! Fixes in the layout of their file: its line ends, and JSON if the file is JSON. Rules write YAML.

use crate::lint::finding::{Edit, Finding};
use crate::source::{FileId, Sources};
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::HashMap;

/// Adapts the fixes of findings to their files. One that cannot be written there is dropped.
pub(in crate::lint) fn fit(findings: &mut [Finding], sources: &Sources) {
    let mut layouts: HashMap<FileId, Layout<'_>> = HashMap::new();
    for finding in findings.iter_mut() {
        let Some(fix) = &mut finding.fix else { continue };
        let file = finding.primary.span.file;
        let layout = layouts.entry(file).or_insert_with(|| Layout::of(&sources.get(file).text));
        if !layout.fit(&mut fix.edits) {
            finding.fix = None;
        }
    }
}

struct Layout<'t> {
    text: &'t str,
    /// Whether lines end with CR LF.
    returns: bool,
    /// If it is JSON, the ranges of its strings without their quotes.
    strings: Option<Vec<(usize, usize)>>,
    /// Bytes of JSON that may still be read to check fixes.
    budget: usize,
}

/// Bytes of JSON that are read to check the fixes of a file.
const CHECKED: usize = 64 << 20;

impl<'t> Layout<'t> {
    fn of(text: &'t str) -> Layout<'t> {
        let first = text.find('\n').unwrap_or_default();
        let returns = text.get(..first).is_some_and(|line| line.ends_with('\r'));
        Layout { text, returns, strings: is_json(text).then(|| strings(text)), budget: CHECKED }
    }

    /// Adapts the edits of one fix; false if that is not possible.
    fn fit(&mut self, edits: &mut [Edit]) -> bool {
        if self.returns {
            for edit in edits.iter_mut().filter(|edit| edit.text.contains('\n') && !edit.text.contains('\r')) {
                edit.text = edit.text.replace('\n', "\r\n");
            }
        }
        let Some(strings) = &self.strings else { return true };
        for edit in edits.iter_mut() {
            let start = edit.span.start as usize;
            let before = strings.partition_point(|(begin, _)| *begin <= start);
            let inside = before.checked_sub(1).is_some_and(|at| start <= strings[at].1);
            match if inside { Some(edit.text.clone()) } else { json(&edit.text) } {
                Some(text) => edit.text = text,
                None => return false,
            }
        }
        self.budget = match self.budget.checked_sub(self.text.len()) {
            Some(left) => left,
            None => return false,
        };
        rewritten(self.text, edits).is_some_and(|text| is_json(&text))
    }
}

fn rewritten(text: &str, edits: &[Edit]) -> Option<String> {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut written = String::with_capacity(text.len());
    let mut at = 0;
    for edit in sorted {
        written.push_str(text.get(at..edit.span.start as usize)?);
        written.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    written.push_str(text.get(at..)?);
    Some(written)
}

/// Whether a text is one JSON object or several.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
        && serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>().all(|one| one.is_ok())
}

/// The ranges of the strings of a JSON text, without their quotes.
fn strings(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut begin = None;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match (begin, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(start), b'"') => {
                found.push((start, at));
                begin = None;
            }
            (None, b'"') => begin = Some(at + 1),
            _ => {}
        }
    }
    found
}

/// A piece of YAML on one line as JSON: words in quotes.
fn json(yaml: &str) -> Option<String> {
    if yaml.contains('\n') {
        return None;
    }
    let mut written = String::new();
    let mut rest = yaml;
    // Outside of brackets, a comma is part of a text.
    let flow = yaml.contains(['{', '[']);
    while let Some(first) = rest.chars().next() {
        let (piece, length) = match first {
            ' ' | '{' | '}' | '[' | ']' | ',' | ':' => (Cow::Borrowed(&rest[..1]), 1),
            '"' => {
                let end = strings(rest).first()?.1 + 1;
                (Cow::Borrowed(&rest[..end]), end)
            }
            '\'' => {
                let end = 1 + quoted(&rest[1..])?;
                (Cow::Owned(serde_json::to_string(&rest[1..end].replace("''", "'")).ok()?), end + 1)
            }
            _ => {
                let end = word(rest, flow);
                let text = rest[..end].trim_end();
                let literal = serde_json::from_str::<serde_json::Value>(text).is_ok_and(|value| !value.is_string());
                let piece = if literal { Cow::Borrowed(text) } else { Cow::Owned(serde_json::to_string(text).ok()?) };
                (piece, text.len())
            }
        };
        written.push_str(&piece);
        rest = rest.get(length..)?;
    }
    Some(written)
}

/// The end of a text in single quotes, in which two stand for one.
fn quoted(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text.get(at..)?.find('\'')?;
        if !text[at + 1..].starts_with('\'') {
            return Some(at);
        }
        at += 2;
    }
}

/// The end of a word without quotes.
fn word(text: &str, flow: bool) -> usize {
    let ends = |at: usize, c: char| {
        let colon = c == ':' && text[at + 1..].chars().next().is_none_or(|next| next == ' ');
        colon || (flow && matches!(c, ',' | '{' | '}' | '[' | ']'))
    };
    text.char_indices().find(|(at, c)| ends(*at, *c)).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    fn fitted(text: &str, edits: &[(u32, u32, &str)]) -> Option<String> {
        let mut sources = Sources::default();
        let file = sources.add("a", text);
        let mut edits: Vec<Edit> = edits
            .iter()
            .map(|(start, end, text)| Edit { span: Span { file, start: *start, end: *end }, text: (*text).to_owned() })
            .collect();
        Layout::of(text).fit(&mut edits).then(|| rewritten(text, &edits)).flatten()
    }

    #[test]
    fn json_stays_json() {
        let text = r#"{"a": "b", "c": 1}"#;
        assert_eq!(fitted(text, &[(6, 9, "envoy.x")]).as_deref(), Some(r#"{"a": "envoy.x", "c": 1}"#));
        assert_eq!(fitted(text, &[(7, 8, "it's")]).as_deref(), Some(r#"{"a": "it's", "c": 1}"#));
        assert_eq!(
            fitted(text, &[(1, 4, "x_y"), (6, 9, "{ d: '^1\\.3', e: [true, 2, f g] }")]).as_deref(),
            Some(r#"{"x_y": { "d": "^1\\.3", "e": [true, 2, "f g"] }, "c": 1}"#)
        );
        assert_eq!(fitted(text, &[(6, 9, "a:\n  b")]), None);
        assert_eq!(fitted(text, &[(11, 17, "")]), None, "a comma would stay");
        assert_eq!(fitted(text, &[(9, 17, "")]).as_deref(), Some(r#"{"a": "b"}"#));
    }

    #[test]
    fn line_ends_stay() {
        assert_eq!(fitted("a: b\r\nc: d\r\n", &[(3, 4, "x\ny")]).as_deref(), Some("a: x\r\ny\r\nc: d\r\n"));
        assert_eq!(fitted("a: b\nc: d\n", &[(3, 4, "x\ny")]).as_deref(), Some("a: x\ny\nc: d\n"));
    }
}
