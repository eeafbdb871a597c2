//! What the YAML reader of Kubernetes rejects and this parser accepts.
//!
//! kubectl and istiod split a text into documents with `k8s.io/apimachinery/pkg/util/yaml` and read each with go-yaml 2.4, a
//! YAML 1.1 reader. `testdata/yaml/reader.jsonl` records the results of both for small texts.

use super::{Chunk, Output, floor};
use crate::source::{Code, Problem};
use granit_parser::{Event, Parser, ScalarStyle};
use std::ops::Range;

/// Line breaks of YAML 1.1 that are ordinary characters in YAML 1.2.
pub(super) const OLD_BREAKS: [(char, &str); 3] = [('\u{2028}', "U+2028"), ('\u{2029}', "U+2029"), ('\u{85}', "U+0085")];

impl Chunk<'_> {
    /// Something other than a comment after the `---` that starts this document.
    pub(super) fn bad_separator(&self) -> Option<Problem> {
        let line = self.text.lines().next()?;
        let rest = line.strip_prefix("---")?;
        let content = rest.trim();
        if content.is_empty() || content.starts_with('#') {
            return None;
        }
        let start = line.len() - rest.trim_start().len();
        let message = "kubectl and istiod accept nothing but a comment after `---`, and stop reading here";
        let mut problem = self.problem(Code::YamlStops, start, start + content.len(), message);
        problem.help = Some("put it on a line of its own".to_owned());
        Some(problem)
    }

    /// Whether kubectl reads neither this document nor any after it.
    pub(super) fn stops(&self) -> bool {
        let chunk = self.without_mark();
        let begins = chunk.text.as_bytes().first();
        match begins {
            Some(b'-') if chunk.bad_separator().is_some() => true,
            Some(b'-' | b'%' | b'#' | b'\n' | b'\r' | b' ') => {
                let (chunk, first) = (chunk.without_marker(), chunk.begins_with_marker());
                !first && chunk.directive().is_some()
            }
            _ => false,
        }
    }

    /// The document without its `---` line and without a byte order mark after it.
    pub(super) fn without_marker(self) -> Self {
        if !self.text.starts_with("---") {
            return self;
        }
        let line = memchr::memchr(b'\n', self.text.as_bytes()).map_or(self.text.len(), |end| end + 1);
        self.from(line).without_mark()
    }

    /// Text after the `...` that ends a document; the end of a template is reported as such.
    pub(super) fn dropped(&self, at: usize) -> Problem {
        let rest = self.from(at);
        if (rest.text.starts_with("{{") || rest.text.starts_with("{%"))
            && let Some(problem) = rest.template_problem()
        {
            return problem;
        }
        let (start, end) = self.word_at(at);
        let message = "the document ends above: kubectl and istiod ignore everything from here on";
        let mut problem = self.problem(Code::YamlSyntax, start, end, message);
        problem.help = Some("put `---` between two documents".to_owned());
        problem
    }

    /// A `%YAML` or `%TAG` line before the content. The text is split at `---` first, so such a line is alone.
    pub(super) fn directive(&self) -> Option<Problem> {
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            let content = line.trim();
            if line.starts_with('%') {
                let message = "kubectl and istiod do not accept YAML directives, and stop reading here";
                let mut problem = self.problem(Code::YamlStops, start, start + content.len(), message);
                problem.help = Some("delete this line".to_owned());
                return Some(problem);
            }
            if !content.is_empty() && !content.starts_with('#') {
                return None;
            }
            start += line.len();
        }
        None
    }

    /// Whether go-yaml never sees the content: a directive after a `---` at the start of the text ends the document.
    pub(super) fn begins_with_marker(&self) -> bool {
        self.base == 0 && self.text.starts_with("---")
    }

    /// The first escape in double quotes that go-yaml rejects: a surrogate, alone or in a pair, or `\/`.
    pub(super) fn bad_escape(&self, start: usize, end: usize) -> Option<Problem> {
        let bytes = self.text.get(start..end)?.as_bytes();
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'\\', bytes.get(at..)?) {
            let here = at + found;
            if bytes.get(here + 1) == Some(&b'/') && !self.is_json() {
                let message = "kubectl and istiod do not accept the escape `\\/` in YAML";
                let mut problem = self.problem(Code::YamlSyntax, start + here, start + here + 2, message);
                problem.help = Some("write / without the backslash".to_owned());
                return Some(problem);
            }
            let digits = match bytes.get(here + 1) {
                Some(b'u') => 4,
                Some(b'U') => 8,
                _ => 0,
            };
            let code = bytes.get(here + 2..here + 2 + digits).and_then(|hex| std::str::from_utf8(hex).ok());
            let code = code.and_then(|hex| u32::from_str_radix(hex, 16).ok());
            if code.is_some_and(|code| (0xd800..0xe000).contains(&code)) && !self.is_json() {
                let (from, to) = (start + here, start + here + 2 + digits);
                let message = "kubectl and istiod do not accept escapes of surrogates in YAML";
                let mut problem = self.problem(Code::YamlSyntax, from, to, message);
                problem.help =
                    Some("write the character itself, or one escape with eight digits such as \\U0001F600".to_owned());
                return Some(problem);
            }
            at = here + 2;
        }
        None
    }

    /// Whether the reader of Kubernetes treats this as JSON.
    fn is_json(&self) -> bool {
        self.base == 0 && self.looks_like_json() && serde_json::from_str::<serde::de::IgnoredAny>(self.text).is_ok()
    }

    pub(super) fn has_old_breaks(&self) -> bool {
        !self.text.is_ascii() && OLD_BREAKS.iter().any(|(it, _)| self.text.contains(*it))
    }

    /// Reads a document with line breaks of YAML 1.1: outside quotes they end lines.
    pub(super) fn parse_old_breaks(self, out: &mut Output) -> Result<(), Problem> {
        let mut quoted = Vec::new();
        for event in Parser::new_from_str(self.text) {
            let Ok((event, span)) = event else { break };
            if let (Event::Scalar(_, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted, ..), Some(range)) =
                (event, span.byte_range())
            {
                quoted.push(range);
            }
        }
        let mut quoted = quoted.into_iter().peekable();
        let mut text = String::with_capacity(self.text.len());
        let mut first = None;
        for (at, found) in self.text.match_indices(OLD_BREAKS.map(|(character, _)| character)) {
            while quoted.next_if(|range: &Range<usize>| range.end <= at).is_some() {}
            if quoted.peek().is_some_and(|range| range.contains(&at)) {
                continue;
            }
            first.get_or_insert((at, found));
            text.push_str(&self.text[text.len()..at]);
            // The same number of bytes, so that offsets stay the same.
            text.extend(std::iter::repeat_n(' ', found.len() - 1));
            text.push('\n');
        }
        text.push_str(&self.text[text.len()..]);
        let read = Chunk { text: &text, ..self }.parse_events(out);
        read.map_err(|problem| match first {
            Some((at, found)) => {
                let (start, end) = self.character_at(at);
                let name = OLD_BREAKS.iter().find(|(character, _)| found.starts_with(*character)).map_or("", |it| it.1);
                let message =
                    format!("kubectl and istiod take {name} for a line break, and cannot read what follows it");
                let mut problem = Problem { span: Some(self.span(start, end)), message, ..problem };
                problem.help = Some("delete the character, or put the text in double quotes".to_owned());
                problem
            }
            None => problem,
        })
    }
}

/// A blank line with a tab, possibly with a comment: whether go-yaml accepts it depends on what is open.
struct TabLine {
    /// Where the line starts.
    start: usize,
    /// Where the tab is.
    tab: usize,
    /// Whether it is after the dash of a list item, where go-yaml accepts none.
    dash: bool,
}

/// Checks blank lines and comment lines that contain a tab.
pub(super) struct TabLines<'t> {
    chunk: Chunk<'t>,
    /// The remaining lines, the next one last.
    lines: Vec<TabLine>,
    /// End and style of the last scalar, if nothing followed it.
    scalar: Option<(usize, usize, ScalarStyle)>,
    /// Columns of the open block collections; `None` for a flow collection.
    open: Vec<Option<usize>>,
}

impl<'t> TabLines<'t> {
    pub(super) fn new(chunk: Chunk<'t>) -> TabLines<'t> {
        let mut lines = Vec::new();
        if memchr::memchr(b'\t', chunk.text.as_bytes()).is_some() {
            let mut start = 0;
            for line in chunk.text.split_inclusive('\n') {
                let blanks = line.len() - line.trim_start_matches([' ', '\t', '-']).len();
                let rest = line[blanks..].trim_end_matches(['\n', '\r']);
                if let Some(tab) = line[..blanks].find('\t') {
                    let before = line[..tab].trim_end_matches(' ');
                    let dash =
                        before.ends_with('-') && (before.len() == 1 || before[..before.len() - 1].ends_with(' '));
                    let empty = !line[..blanks].contains('-') && (rest.is_empty() || rest.starts_with('#'));
                    if dash || empty {
                        lines.push(TabLine { start, tab: start + tab, dash });
                    }
                }
                start += line.len();
            }
            lines.reverse();
        }
        TabLines { chunk, lines, scalar: None, open: Vec::new() }
    }

    /// Checks the lines before the next event, then the event.
    pub(super) fn event(&mut self, event: &Event<'_>, start: usize, end: usize) -> Result<(), Problem> {
        while let Some(line) = self.lines.last() {
            // The end of a block collection is reported at the next token.
            if line.start >= start {
                break;
            }
            if self.is_refused(line) {
                let message = "kubectl and istiod do not accept a tab at the start of this line";
                let mut problem = self.chunk.problem(Code::YamlSyntax, line.tab, line.tab + 1, message);
                problem.help = Some("use spaces instead, or delete the tab".to_owned());
                return Err(problem);
            }
            self.lines.pop();
        }
        match event {
            Event::Scalar(_, style, ..) => self.scalar = Some((start, end, *style)),
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                self.scalar = None;
                let flow = matches!(self.chunk.text.as_bytes().get(start), Some(b'[' | b'{'));
                // Thousands of flow collections may be in one line, which is not searched for each.
                let column = || {
                    let at = if matches!(event, Event::SequenceStart(..)) { self.dash(start) } else { start };
                    at - self.line(at)
                };
                let column = (!flow).then(column);
                self.open.push(column);
            }
            Event::SequenceEnd | Event::MappingEnd
                // The end of a flow collection is a token; that of a block collection is not.
                if self.open.pop() == Some(None) => {
                    self.scalar = None;
                }
            _ => {}
        }
        Ok(())
    }

    fn line(&self, at: usize) -> usize {
        self.chunk.text[..floor(self.chunk.text, at)].rfind('\n').map_or(0, |end| end + 1)
    }

    /// The dash of a list's first item: the parser may point behind it.
    fn dash(&self, start: usize) -> usize {
        let line = self.line(start);
        let before = &self.chunk.text[line..floor(self.chunk.text, start)];
        if before.trim_end().ends_with('-') { line + before.trim_end().len() - 1 } else { start }
    }

    fn is_refused(&self, line: &TabLine) -> bool {
        if self.open.last() == Some(&None) {
            return false;
        }
        let column = line.tab - line.start;
        match self.scalar {
            Some((_, end, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted)) if end > line.start => false,
            Some((start, end, ScalarStyle::Literal | ScalarStyle::Folded)) if end > line.start || !line.dash => {
                let first = self.chunk.text.get(self.line(start)..).unwrap_or_default();
                !line.dash && column < first.len() - first.trim_start_matches(' ').len()
            }
            Some((_, end, ScalarStyle::Plain)) if line.dash => end <= line.start,
            Some((_, end, ScalarStyle::Plain))
                if end > line.start
                    || self.chunk.text.get(end..line.start).is_some_and(|between| between.trim().is_empty()) =>
            {
                let indent = self.open.last().copied().flatten();
                indent.is_some_and(|indent| column <= indent)
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::yaml::documents;
    use crate::source::{FileId, Node};

    /// The text at the place of every value and key.
    fn texts<'t>(node: &Node, text: &'t str, into: &mut Vec<Option<&'t str>>) {
        let at = |span: crate::source::Span| text.get(span.start as usize..span.end as usize);
        into.push(at(node.span));
        for entry in node.entries() {
            into.push(at(entry.key_span));
            texts(&entry.value, text, into);
        }
        node.items().iter().for_each(|item| texts(item, text, into));
    }

    #[test]
    fn places_are_between_characters_where_line_breaks_are_replaced() {
        for character in ["\u{85}", "\u{2028}", "\u{2029}"] {
            for before in ["\r\r  \r-  ", "- ", "a:  ", "- a\n-", "- 'b' ", "a: \u{e9}", "- \"\u{85}\"\n-  "] {
                let text = format!("{before}{character}");
                let (found, problems) = documents(FileId(0), &text);
                let mut at = Vec::new();
                found.iter().for_each(|document| texts(document, &text, &mut at));
                assert!(!at.contains(&None), "{text:?}: {found:?}");
                for span in problems.iter().filter_map(|problem| problem.span) {
                    assert!(text.get(span.start as usize..span.end as usize).is_some(), "{text:?}: {span:?}");
                }
                // What is in front of the character is read as before.
                let (plain, _) = documents(FileId(0), before);
                assert_eq!(plain.len(), found.len(), "{text:?}");
            }
        }
        let text = "a: 'x\u{2028}y'\nb: c\u{85}d: e\n";
        let (found, problems) = documents(FileId(0), text);
        let mut at = Vec::new();
        found.iter().for_each(|document| texts(document, text, &mut at));
        let want = ["a", "'x\u{2028}y'", "b", "c", "d", "e"].map(Some);
        assert_eq!(at.get(1..), Some(&want[..]), "{problems:?}");
    }
}
