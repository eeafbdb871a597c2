//! The one escaper: how names and texts of the input are printed.
//!
//! An object can be named `x\n::error file=…`, or contain terminal sequences or characters that reverse the order of text. None
//! of that may reach a terminal, a log or a CI runner. Such characters are written as JSON writes them (`\n`, `\u001b`,
//! `\u202e`), so that JSON output keeps its meaning.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character controls a terminal, ends a line, reorders the text around it, or is invisible.
pub fn is_unsafe(c: char) -> bool {
    match c {
        ' '..='~' => false,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        // Soft hyphen, Arabic letter mark.
        '\u{ad}' | '\u{61c}' => true,
        // Zero-width characters, directional marks; line and paragraph separators, embeddings and overrides; isolates and
        // other invisible format characters.
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        // Fillers and joiners without a shape; variation selectors, but for the two that choose between text and emoji.
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => true,
        '\u{3164}' | '\u{ffa0}' | '\u{fe00}'..='\u{fe0d}' => true,
        // Tags, an invisible copy of ASCII, and further selectors.
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// A text on one line, without anything that a terminal or a runner would obey.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_unsafe)
}

/// The same for a text of several lines: line ends and tabs stay.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_unsafe(c) && !matches!(c, '\n' | '\t'))
}

fn escaped(text: &str, is_bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&is_bad) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        if is_bad(c) { push(&mut out, c) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Appends a character as a JSON string writes it.
pub(crate) fn push(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_written_out() {
        for (text, want) in [
            ("plain ü 漢 🦀 text", "plain ü 漢 🦀 text"),
            ("x\n::error file=a::b", "x\\n::error file=a::b"),
            ("a\u{1b}[31mb\u{7}", "a\\u001b[31mb\\u0007"),
            ("a\u{202e}b\u{2066}", "a\\u202eb\\u2066"),
            ("a\u{9b}31m\u{7f}", "a\\u009b31m\\u007f"),
            ("a\r\nb\tc\u{2028}", "a\\r\\nb\\tc\\u2028"),
            ("\u{e0041}", "\\udb40\\udc41"),
            ("a\u{115f}\u{fe00}\u{e0100}", "a\\u115f\\ufe00\\udb40\\udd00"),
            ("\u{26a0}\u{fe0f}", "\u{26a0}\u{fe0f}"),
        ] {
            assert_eq!(one_line(text), want);
            // JSON that contains the escaped text keeps its meaning.
            let json = format!("\"{}\"", one_line(text));
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
        assert_eq!(lines("a\n\tb\r\u{202e}"), "a\n\tb\\r\\u202e");
    }
}
