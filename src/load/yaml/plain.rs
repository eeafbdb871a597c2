//! Reads plain YAML, as kubectl prints it and people mostly write it, at a fifth of a parser's cost: block mappings and lists,
//! one-line words, quoted texts without escapes, comments.
//!
//! A document with anything else (anchors, tags, flow collections, block texts, nulls, continued lines) is left to the parser
//! as a whole, which also reports its errors. The tests check that both give the same trees.

use super::{Builder, Shape};
use crate::load::scalar::Tag;
use std::borrow::Cow;

/// An open list or mapping.
struct Level {
    column: usize,
    list: bool,
}

/// Reads a document that is plain as a whole. `None`: it is not, and the caller must discard what was built.
pub(super) fn read(text: &str, builder: &mut Builder<'_>) -> Option<()> {
    if !text.is_ascii() || memchr::memchr2(b'\t', b'\r', text.as_bytes()).is_some() {
        return None;
    }
    let mut reader = Reader { text, builder, levels: Vec::new(), pending: true };
    let (mut start, mut fresh) = (0, true);
    while start < text.len() {
        let end = memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |length| start + length);
        let line = &text[start..end];
        let column = line.len() - line.trim_start_matches(' ').len();
        let content = line[column..].trim_end_matches(' ');
        if content == "---" && column == 0 && fresh {
            fresh = false;
        } else if !content.is_empty() && !content.starts_with('#') {
            if column == 0 && (content.starts_with("---") || content.starts_with("...")) {
                return None;
            }
            fresh = false;
            reader.line(start, start + column, start + column + content.len())?;
        }
        start = end + 1;
    }
    if reader.pending {
        return None;
    }
    while !reader.levels.is_empty() {
        reader.close(text.len())?;
    }
    Some(())
}

struct Reader<'r, 'b> {
    text: &'r str,
    builder: &'r mut Builder<'b>,
    levels: Vec<Level>,
    /// Whether a value is expected: of the document, of a key, or an item.
    pending: bool,
}

impl Reader<'_, '_> {
    /// Reads the content of a line, without leading and trailing blanks.
    fn line(&mut self, start: usize, mut at: usize, end: usize) -> Option<()> {
        self.find_place(at - start, self.is_item(at, end))?;
        while self.is_item(at, end) {
            let (column, mut list) = (at - start, at);
            at = self.after_blanks(at + 1, end);
            // The parser puts the start of a list in the column of its key here.
            if self.levels.last().is_some_and(|level| level.column == column) {
                list = at;
            }
            if self.pending {
                self.open(Shape::List(Vec::new()), list, column)?;
            }
            if at >= end {
                return None;
            }
            self.pending = true;
        }
        let (word, quoted, after) = self.word(at, end)?;
        if !self.is_colon(after, end) {
            let last = self.is_end(after, end) && self.pending && !self.levels.is_empty();
            return if last { self.scalar(word, quoted) } else { None };
        }
        if self.pending {
            let shape = self.builder.mapping();
            self.open(shape, at, at - start)?;
        }
        self.scalar(word, quoted)?;
        let value = self.after_blanks(after + 1, end);
        if self.is_end(value, end) {
            self.pending = true;
            return Some(());
        }
        if self.is_item(value, end) {
            return None;
        }
        let (word, quoted, after) = self.word(value, end)?;
        if self.is_end(after, end) { self.scalar(word, quoted) } else { None }
    }

    /// Closes what ends before a line that starts in this column.
    fn find_place(&mut self, column: usize, item: bool) -> Option<()> {
        if self.pending {
            // The value of the key above; otherwise that value is null.
            let inside = |level: &Level| column > level.column || (column == level.column && item && !level.list);
            return self.levels.last().is_none_or(inside).then_some(());
        }
        // A list may be in the column of its key.
        while self.levels.last().is_some_and(|it| it.column > column || (it.column == column && it.list && !item)) {
            self.close(column)?;
        }
        self.levels.last().is_some_and(|level| level.column == column && level.list == item).then_some(())
    }

    fn open(&mut self, shape: Shape, at: usize, column: usize) -> Option<()> {
        self.levels.push(Level { column, list: matches!(shape, Shape::List(_)) });
        self.pending = false;
        self.builder.open(shape, 0, at, at).ok()
    }

    fn close(&mut self, at: usize) -> Option<()> {
        self.levels.pop();
        self.builder.close(at, at).ok()
    }

    /// Passes on a key or a value.
    fn scalar(&mut self, (start, end): (usize, usize), quoted: bool) -> Option<()> {
        self.pending = false;
        let text = if quoted { &self.text[start + 1..end - 1] } else { &self.text[start..end] };
        self.builder.scalar(Cow::Borrowed(text), !quoted, Tag::None, 0, start, end).ok()
    }

    /// A word or a quoted text: its place, whether it is quoted, and where the text after it starts.
    fn word(&self, at: usize, end: usize) -> Option<((usize, usize), bool, usize)> {
        let bytes = self.text.as_bytes();
        match bytes[at] {
            quote @ (b'"' | b'\'') => {
                let close = at + 1 + memchr::memchr2(quote, b'\\', &bytes[at + 1..end])?;
                let escape = bytes[close] != quote || bytes.get(close + 1) == Some(&quote);
                (!escape).then_some(((at, close + 1), true, close + 1))
            }
            b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%' | b'@'
            | b'`' => None,
            _ => {
                let mut stop = at;
                loop {
                    stop += memchr::memchr2(b':', b'#', &bytes[stop..end]).unwrap_or(end - stop);
                    if stop >= end || self.is_colon(stop, end) || (bytes[stop] == b'#' && bytes[stop - 1] == b' ') {
                        break;
                    }
                    stop += 1;
                }
                let word = self.text[at..stop].trim_end_matches(' ').len();
                // A key followed by blanks is left to the parser.
                let blanks = at + word < stop && stop < end && bytes[stop] == b':';
                (!blanks).then_some(((at, at + word), false, at + word))
            }
        }
    }

    /// Whether the `-` of an item is here.
    fn is_item(&self, at: usize, end: usize) -> bool {
        let bytes = self.text.as_bytes();
        at < end && bytes[at] == b'-' && (at + 1 == end || bytes[at + 1] == b' ')
    }

    /// Whether the `:` after a key is here.
    fn is_colon(&self, at: usize, end: usize) -> bool {
        let bytes = self.text.as_bytes();
        at < end && bytes[at] == b':' && (at + 1 == end || bytes[at + 1] == b' ')
    }

    /// Whether only a comment follows.
    fn is_end(&self, at: usize, end: usize) -> bool {
        let next = self.after_blanks(at, end);
        let comment = || self.text.as_bytes()[next] == b'#' && self.text.as_bytes()[next - 1] == b' ';
        next >= end || comment()
    }

    fn after_blanks(&self, at: usize, end: usize) -> usize {
        at + self.text.as_bytes()[at.min(end)..end].iter().take_while(|byte| **byte == b' ').count()
    }
}

#[cfg(test)]
mod tests {
    use crate::load::yaml::{Chunk, Output, chunks};
    use crate::source::Sources;
    use proptest::prelude::*;
    use std::fs;
    use std::path::Path;

    /// Reads a text in both ways and compares the results. Returns how many documents were plain, and how many there were.
    fn compare(text: &str) -> (usize, usize) {
        let file = Sources::default().add("text.yaml", text);
        let mut plain = 0;
        let places = chunks(text);
        for &(start, end) in &places {
            let chunk = Chunk::new(file, start, &text[start..end]);
            let output = || Output { values: usize::MAX, ..Output::default() };
            let (mut quick, mut slow) = (output(), output());
            if chunk.forbidden_character().is_none() && chunk.read_plain(&mut quick) {
                plain += 1;
                chunk.parse(&mut slow).unwrap_or_else(|problem| panic!("{}\n{problem:?}", chunk.text));
                assert_eq!(quick.documents, slow.documents, "{}", chunk.text);
                assert_eq!(format!("{:?}", quick.problems), format!("{:?}", slow.problems), "{}", chunk.text);
            }
        }
        (plain, places.len())
    }

    #[test]
    fn plain_documents_of_all_samples_are_read_as_the_parser_reads_them() {
        fn visit(folder: &Path, seen: &mut (usize, usize)) {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    visit(&path, seen);
                } else if let Ok(text) = fs::read_to_string(&path) {
                    let (plain, all) = compare(&text);
                    *seen = (seen.0 + plain, seen.1 + all);
                }
            }
        }
        let mut seen = (0, 0);
        visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata"), &mut seen);
        println!("{} of {} documents are plain", seen.0, seen.1);
        assert!(seen.0 > 300, "{seen:?}");
    }

    /// Lines that are almost plain, in any order and indentation.
    fn lines() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "a:",
            "b: 1",
            "\"c\": x",
            "'d': \"y z\"",
            "- ",
            "-",
            "- a",
            "- a: 1",
            "- - b",
            "a: - b",
            "e: f: g",
            "k: v # c",
            "# c",
            "x",
            "y z",
            "a: 'it''s'",
            "a: \"q\\n\"",
            "u: http://h:80/p#f",
            "n:",
            "n: ~",
            "t: yes",
            "a: 0o7",
            "a : b",
            "<<: 1",
            "---",
            "...",
            "- {}",
            "- []",
            "a: |",
            "  text",
            "a: &b c",
            "a: *b",
            "a: \"open",
            "?",
            ": v",
            "a: b:",
            "\"a\":b",
            "'a' : b",
            "a:#b",
            "a: #b",
            "- # c",
            "- 'x' # c",
            "a: 'x'y",
            "a: -1",
            "a: - ",
            "-a",
            "a: b #",
            "é: ü",
            "",
        ]);
        let line = (0_usize..5, part, 0_usize..3);
        prop::collection::vec(line, 1..9).prop_map(|lines| {
            let line = |(indent, part, after): (usize, &str, usize)| {
                format!("{}{part}{}\n", " ".repeat(indent), " ".repeat(after))
            };
            lines.into_iter().map(line).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn lines_in_any_order_are_read_as_the_parser_reads_them(text in lines()) {
            compare(&text);
        }
    }
}
