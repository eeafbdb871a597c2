//! Colors and widths of a terminal.

use crate::source::escape;
use owo_colors::{OwoColorize, Style};
use std::borrow::Cow;
use std::fmt::Display;
use unicode_width::UnicodeWidthStr;

pub(crate) use crate::words::count;

/// The output device.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// Whether colors are enabled.
    pub colour: bool,
    /// Columns per line.
    pub width: usize,
}

impl Default for Terminal {
    /// A file: no colors, lines of 100 columns.
    fn default() -> Terminal {
        Terminal { colour: false, width: 100 }
    }
}

/// The role of a text, which decides its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A heading or an important name.
    Strong,
    /// Less important.
    Dim,
    /// In effect, added.
    Good,
    /// No effect, removed.
    Bad,
    /// Doubtful, overwritten.
    Odd,
    /// A hunk's place; a file's.
    Place,
}

impl Terminal {
    /// The text in the color of its role.
    pub(crate) fn paint(self, role: Role, text: impl Display) -> Cow<'static, str> {
        let text = text.to_string();
        if !self.colour || text.is_empty() {
            return Cow::Owned(text);
        }
        let style = match role {
            Role::Strong => Style::new().bold(),
            Role::Dim => Style::new().dimmed(),
            Role::Good => Style::new().green(),
            Role::Bad => Style::new().red(),
            Role::Odd => Style::new().yellow(),
            Role::Place => Style::new().cyan(),
        };
        Cow::Owned(text.style(style).to_string())
    }
}

/// The number of columns of a text on a terminal: East Asian characters take two, combining ones none.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Wraps a text at spaces; words longer than the width stay whole.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // A name in the text may contain a line break; a line of the text must not.
    for word in text.replace('\n', "\\n").split(' ') {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Foreign text on one line: spaces and line breaks become one space, and it is truncated to this many characters.
pub(crate) fn quoted(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = escape::one_line(&text);
    if text.chars().count() <= most {
        return text.into_owned();
    }
    text.chars().take(most).chain(['…']).collect()
}

/// Shortens a text to a width by omitting its middle.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    let text = &*escape::one_line(text);
    let count = text.chars().count();
    if count <= width.max(5) {
        return text.to_owned();
    }
    let width = width.max(5);
    let head = (width - 1) * 2 / 3;
    let tail = width - 1 - head;
    let head: String = text.chars().take(head).collect();
    let tail: String = text.chars().skip(count - tail).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_and_shortens() {
        assert_eq!(wrap("a bb ccc", 4), ["a bb", "ccc"]);
        assert_eq!(wrap("toolongword x", 4), ["toolongword", "x"]);
        assert_eq!(shorten("abcdefghij", 7), "abcd…ij");
        assert_eq!(shorten("äbc", 7), "äbc");
    }

    #[test]
    fn paints_only_where_wanted() {
        let terminal = Terminal { colour: true, ..Terminal::default() };
        assert_eq!(terminal.paint(Role::Good, "x"), "\u{1b}[32mx\u{1b}[0m");
        assert_eq!(Terminal::default().paint(Role::Good, "x"), "x");
    }
}
