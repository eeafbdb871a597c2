//! Texts with line breaks of YAML 1.1, as go-yaml reads them: U+2028 and U+2029 stay, U+0085 is a line end. `testdata/yaml/reader.jsonl`
//! records its results.

use super::Chunk;
use super::reader::OLD_BREAKS;
use granit_parser::ScalarStyle;
use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

impl Chunk<'_> {
    /// The value of a scalar between these places, if the parser read other line breaks there than the text has.
    pub(super) fn with_old_breaks<'v>(
        &self,
        value: Cow<'v, str>,
        style: ScalarStyle,
        start: usize,
        end: usize,
    ) -> Cow<'v, str> {
        if self.text.as_ptr() == self.written.as_ptr() {
            return value;
        }
        let written = self.written.get(start..end).filter(|text| text.contains(OLD_BREAKS.map(|(it, _)| it)));
        let Some(written) = written else { return value };
        let inside = |quote: char| written.trim_end().strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
        let read = match style {
            ScalarStyle::Plain => folded(written.trim_end(), style),
            ScalarStyle::SingleQuoted => inside('\'').and_then(|text| folded(text, style)),
            ScalarStyle::DoubleQuoted => inside('"').and_then(|text| folded(text, style)),
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let literal = style == ScalarStyle::Literal;
                // The reader of Kubernetes ends the text with a line end.
                let unended = end == self.written.len() && !written.ends_with('\n');
                if unended { block(&format!("{written}\n"), literal) } else { block(written, literal) }
            }
        };
        read.map_or(value, Cow::Owned)
    }
}

type Text<'t> = Peekable<Chars<'t>>;

fn is_break(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t')
}

/// The next line break, as go-yaml keeps it.
fn line_break(text: &mut Text<'_>) -> Option<char> {
    match text.next_if(|letter| is_break(*letter))? {
        '\r' => {
            text.next_if_eq(&'\n');
            Some('\n')
        }
        '\n' | '\u{85}' => Some('\n'),
        other => Some(other),
    }
}

/// A text outside block scalars: a line end becomes a blank, and blanks around it disappear.
fn folded(written: &str, style: ScalarStyle) -> Option<String> {
    let mut text = written.chars().peekable();
    let mut out = String::with_capacity(written.len());
    loop {
        let mut joined = false;
        while let Some(letter) = text.next_if(|letter| !is_blank(*letter) && !is_break(*letter)) {
            match (style, letter) {
                (ScalarStyle::SingleQuoted, '\'') => {
                    text.next_if_eq(&'\'');
                    out.push('\'');
                }
                (ScalarStyle::DoubleQuoted, '\\') if text.peek().is_some_and(|next| is_break(*next)) => {
                    line_break(&mut text);
                    joined = true;
                    break;
                }
                (ScalarStyle::DoubleQuoted, '\\') => out.push(escape(&mut text)?),
                _ => out.push(letter),
            }
        }
        if text.peek().is_none() {
            return Some(out);
        }
        // `joined`: the line end before was escaped and counts as none.
        let (mut blanks, mut first, mut more, mut breaks) = (String::new(), None, String::new(), joined);
        while let Some(&letter) = text.peek().filter(|letter| is_blank(**letter) || is_break(**letter)) {
            match line_break(&mut text) {
                Some(found) if breaks => more.push(found),
                Some(found) => (first, breaks) = (Some(found), true),
                None => {
                    text.next();
                    if !breaks {
                        blanks.push(letter);
                    }
                }
            }
        }
        match first {
            Some('\n') if more.is_empty() => out.push(' '),
            Some('\n') => out.push_str(&more),
            _ if breaks => {
                out.extend(first);
                out.push_str(&more);
            }
            _ => out.push_str(&blanks),
        }
    }
}

/// An escape in double quotes, after its backslash.
fn escape(text: &mut Text<'_>) -> Option<char> {
    let digits = match text.next()? {
        '0' => return Some('\0'),
        'a' => return Some('\u{7}'),
        'b' => return Some('\u{8}'),
        't' | '\t' => return Some('\t'),
        'n' => return Some('\n'),
        'v' => return Some('\u{b}'),
        'f' => return Some('\u{c}'),
        'r' => return Some('\r'),
        'e' => return Some('\u{1b}'),
        'N' => return Some('\u{85}'),
        '_' => return Some('\u{a0}'),
        'L' => return Some('\u{2028}'),
        'P' => return Some('\u{2029}'),
        letter @ (' ' | '"' | '\'' | '\\' | '/') => return Some(letter),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let code: String = text.by_ref().take(digits).collect();
    char::from_u32(u32::from_str_radix(&code, 16).ok()?)
}

/// A block scalar from its header; `None` if the header names an indentation, which counts from that of its parent.
fn block(written: &str, literal: bool) -> Option<String> {
    let content = written.find(['|', '>']).and_then(|at| written.get(at + 1..))?;
    let (mut keep, mut strip) = (false, false);
    let mut text = content.chars().peekable();
    while let Some(letter) = text.next_if(|letter| !is_break(*letter)) {
        match letter {
            '+' => keep = true,
            '-' => strip = true,
            '#' => while text.next_if(|letter| !is_break(*letter)).is_some() {},
            digit if digit.is_ascii_digit() => return None,
            _ => {}
        }
    }
    line_break(&mut text);
    let (mut out, mut first, mut more) = (String::new(), None, String::new());
    let (mut indent, mut leading_blank) = (None, false);
    loop {
        // Empty lines, and the indentation of the next one.
        let mut column = 0;
        loop {
            while indent.is_none_or(|indent| column < indent) && text.next_if_eq(&' ').is_some() {
                column += 1;
            }
            match line_break(&mut text) {
                Some(found) => {
                    more.push(found);
                    column = 0;
                }
                None => break,
            }
        }
        let indent = *indent.get_or_insert(column);
        let Some(&next) = text.peek().filter(|_| column == indent) else { break };
        let trailing_blank = is_blank(next);
        if !literal && first == Some('\n') && !leading_blank && !trailing_blank {
            if more.is_empty() {
                out.push(' ');
            }
        } else {
            out.extend(first);
        }
        out.push_str(&more);
        more.clear();
        leading_blank = trailing_blank;
        while let Some(letter) = text.next_if(|letter| !is_break(*letter)) {
            out.push(letter);
        }
        first = line_break(&mut text);
    }
    if !strip {
        out.extend(first);
    }
    if keep {
        out.push_str(&more);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{block, folded};
    use granit_parser::ScalarStyle::{DoubleQuoted, Plain, SingleQuoted};

    #[test]
    fn line_ends_are_folded_and_separators_stay() {
        let cases = [
            ("foo\u{2028}  bar", Plain, "foo\u{2028}bar"),
            ("foo \u{85}  bar", Plain, "foo bar"),
            ("a\n\n b", Plain, "a\nb"),
            ("x\n\u{2028}y", DoubleQuoted, "x\u{2028}y"),
            ("x\u{2028}\ny", DoubleQuoted, "x\u{2028}\ny"),
            ("a  b\\u0041\\\n  c ", DoubleQuoted, "a  bAc "),
            ("it''s\u{2029}me", SingleQuoted, "it's\u{2029}me"),
        ];
        for (written, style, want) in cases {
            assert_eq!(folded(written, style).as_deref(), Some(want), "{written:?}");
        }
        assert_eq!(folded("\\q", DoubleQuoted), None);
    }

    #[test]
    fn block_scalars_keep_separators() {
        let cases = [
            ("|\n  foo\u{2028}  bar\n", true, "foo\u{2028}bar\n"),
            ("|\n  foo\u{2028}\n  bar\n", true, "foo\u{2028}\nbar\n"),
            (">\n  foo\u{2028}  bar\n", false, "foo\u{2028}bar\n"),
            (">- # c\n  a\n  b\n\n   c\n", false, "a b\n\n c"),
            ("|+\n  a\n\n", true, "a\n\n"),
        ];
        for (written, literal, want) in cases {
            assert_eq!(block(written, literal).as_deref(), Some(want), "{written:?}");
        }
        assert_eq!(block("|2\n  a\n", true), None);
    }
}
