//! The last step before a terminal, a log or a CI runner: everything printed passes here.
//!
//! Reports escape the names that they print ([`crate::source::escape`]); this writer makes sure. It passes no control character
//! except line ends, tabs and the colors of [`super::style`], starts no line with what a CI runner would take for a command,
//! and repeats no secret of the input ([`Keeper`]).

use crate::model::redact::{self, Keeper, REDACTED};
use crate::source::escape;
use std::io::{self, Write};

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Text or data.
    Plain,
    /// The same with the colors of a terminal.
    Colored,
    /// Commands for a CI runner.
    Commands,
    /// The user's own text, changed or not: byte for byte.
    Exact,
}

/// Maximum number of bytes of an unfinished line that are held back.
const LONGEST: usize = 1 << 20;

/// A writer that passes only what is safe to print.
pub(crate) struct Screen<W: Write> {
    out: W,
    mode: Mode,
    /// What no output repeats; `None` when the user asked to see it.
    secrets: Option<Keeper>,
    /// The line so far.
    line: Vec<u8>,
    /// Whether the held text starts a line.
    at_start: bool,
    /// Whether the line is inside a PEM block.
    in_pem: bool,
}

impl<W: Write> Screen<W> {
    /// Wraps a writer.
    pub(crate) fn new(out: W, mode: Mode, secrets: Option<Keeper>) -> Screen<W> {
        Screen { out, mode, secrets, line: Vec::new(), at_start: true, in_pem: false }
    }

    /// Writes the held text.
    fn pass(&mut self) -> io::Result<()> {
        if self.line.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.line);
        let ends = bytes.ends_with(b"\n");
        if self.is_harmless(&bytes) {
            self.out.write_all(&bytes)?;
        } else {
            let text = String::from_utf8_lossy(&bytes);
            let text = self.without_secrets(&text);
            let safe = self.safe(&text);
            self.out.write_all(safe.as_bytes())?;
        }
        self.at_start = ends;
        self.line = bytes;
        self.line.clear();
        Ok(())
    }

    /// Writes several lines if they are safe as they are: they are searched faster together than one by one.
    fn pass_together(&mut self, lines: &[u8]) -> io::Result<bool> {
        let held = self.line.len();
        self.line.extend_from_slice(lines);
        let harmless = self.is_harmless(&self.line);
        if harmless {
            self.out.write_all(&self.line)?;
            self.line.clear();
            self.at_start = true;
        } else {
            self.line.truncate(held);
        }
        Ok(harmless)
    }

    /// Whether lines are safe as they are, as most lines of a large dump are.
    fn is_harmless(&self, bytes: &[u8]) -> bool {
        let plain = |byte: &u8| matches!(byte, b' '..=b'"' | b'$'..=b'~' | b'\n' | b'\t');
        let command = |line: &[u8]| line.iter().find(|byte| !matches!(byte, b' ' | b'\t')) == Some(&b':');
        !self.in_pem
            && bytes.iter().all(plain)
            && !bytes.split(|&byte| byte == b'\n').any(command)
            && self.secrets.as_ref().is_none_or(|secrets| {
                let clean = |text: &str| !redact::may_hold(text) && !secrets.with(|secrets| secrets.finds(text));
                std::str::from_utf8(bytes).is_ok_and(clean)
            })
    }

    fn without_secrets<'t>(&mut self, text: &'t str) -> std::borrow::Cow<'t, str> {
        let Some(secrets) = self.secrets.clone() else { return text.into() };
        if self.in_pem {
            if let Some(end) = text.find("-----END ") {
                self.in_pem = false;
                return format!(
                    "{REDACTED}{}",
                    secrets.with(|secrets| secrets.scrub(text[end..].trim_start_matches(|c| c != '\n')).into_owned())
                )
                .into();
            }
            return if text.ends_with('\n') { format!("{REDACTED}\n") } else { REDACTED.to_owned() }.into();
        }
        if let Some((_, after)) = text.split_once("-----BEGIN ") {
            self.in_pem = !after.contains("-----END ") && after.trim_end().ends_with("-----");
        }
        secrets.with(|secrets| secrets.scrub(text))
    }

    fn safe(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 16);
        let mut rest = text;
        if self.at_start && self.mode != Mode::Commands {
            // `::error::`, `##[error]`, `##vso[…]`, `##teamcity[…]`
            let content = rest.trim_start_matches([' ', '\t']);
            if let Some(after) = content.strip_prefix("::") {
                out.push_str(&rest[..rest.len() - content.len()]);
                out.push_str("\\u003a:");
                rest = after;
            }
        }
        while let Some(at) = rest.find(|c: char| c == '#' || (escape::is_unsafe(c) && !matches!(c, '\n' | '\t'))) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let command = ["##[", "##vso[", "##teamcity["].iter().any(|mark| rest.starts_with(mark));
            let color = if self.mode == Mode::Colored { color(rest) } else { 0 };
            if color > 0 {
                out.push_str(&rest[..color]);
                rest = &rest[color..];
            } else if let Some(first) = rest.chars().next() {
                match first {
                    '#' if command => out.push_str("\\u0023"),
                    '#' => out.push('#'),
                    c => escape::push(&mut out, c),
                }
                rest = &rest[first.len_utf8()..];
            }
        }
        out.push_str(rest);
        out
    }
}

/// Length of the color sequence at the start of a text; 0 if there is none. Only sequences for colors and weight: none that
/// hides text.
fn color(text: &str) -> usize {
    let Some(after) = text.strip_prefix("\u{1b}[") else { return 0 };
    let Some(end) = after.find(|c: char| !c.is_ascii_digit() && c != ';') else { return 0 };
    let visible = |code: &str| {
        matches!(code, "" | "0" | "1" | "2" | "22" | "39" | "38" | "5")
            || code.len() == 2 && code.starts_with(['3', '9'])
    };
    let all = after[..end].split(';').enumerate().all(|(at, code)| visible(code) || at == 2);
    if end < 12 && after[end..].starts_with('m') && all { end + 3 } else { 0 }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.mode == Mode::Exact {
            self.pass()?;
            return self.out.write(bytes);
        }
        let mut rest = bytes;
        let last = memchr::memrchr(b'\n', rest).filter(|&last| memchr::memchr(b'\n', rest) != Some(last));
        if let Some(last) = last
            && self.pass_together(&rest[..=last])?
        {
            rest = &rest[last + 1..];
        }
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, more) = rest.split_at(end + 1);
            self.line.extend_from_slice(line);
            self.pass()?;
            rest = more;
        }
        self.line.extend_from_slice(rest);
        if self.line.len() > LONGEST {
            // Between two values, so that no secret is split.
            let cut = memchr::memrchr2(b',', b' ', &self.line).map_or(self.line.len(), |at| at + 1);
            let after = self.line.split_off(cut);
            self.pass()?;
            self.line = after;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass()?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(mode: Mode, text: &str, secrets: &[&str]) -> String {
        let known = Keeper::default();
        secrets.iter().for_each(|secret| known.with(|known| known.add(secret)));
        let mut out = Vec::new();
        let mut screen = Screen::new(&mut out, mode, Some(known));
        // In pieces, as reports write.
        for piece in text.as_bytes().chunks(3) {
            screen.write_all(piece).unwrap();
        }
        screen.flush().unwrap();
        drop(screen);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_written_together_are_looked_at_one_by_one() {
        let mut out = Vec::new();
        let mut screen = Screen::new(&mut out, Mode::Plain, None);
        screen.write_all(b"held ").unwrap();
        screen.write_all(b"back\n  fine\n\n  ::error::x\nmore\nhalf").unwrap();
        screen.write_all(b" a line\nall\nfine\n").unwrap();
        screen.flush().unwrap();
        drop(screen);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "held back\n  fine\n\n  \\u003a:error::x\nmore\nhalf a line\nall\nfine\n");
    }

    #[test]
    fn nothing_steers() {
        for (text, want) in [
            ("ok ü 漢\n\ttab\n", "ok ü 漢\n\ttab\n"),
            ("a\u{1b}[31mb\u{1b}]0;t\u{7}\n", "a\\u001b[31mb\\u001b]0;t\\u0007\n"),
            ("::error::x\n  ::add-mask::y\n a ::b\n", "\\u003a:error::x\n  \\u003a:add-mask::y\n a ::b\n"),
            ("a ##[error]x # c ##vso[y]\n", "a \\u0023#[error]x # c \\u0023#vso[y]\n"),
            ("\u{202e}\r\n", "\\u202e\\r\n"),
        ] {
            assert_eq!(printed(Mode::Plain, text, &[]), want);
        }
        assert_eq!(printed(Mode::Colored, "\u{1b}[1m\u{1b}[31mx\u{1b}[0m", &[]), "\u{1b}[1m\u{1b}[31mx\u{1b}[0m");
        assert_eq!(printed(Mode::Colored, "\u{1b}[8mx\u{1b}[2J", &[]), "\\u001b[8mx\\u001b[2J");
        assert_eq!(printed(Mode::Commands, "::error::x\u{1b}\n", &[]), "::error::x\\u001b\n");
        assert_eq!(printed(Mode::Exact, "::x\u{1b}\r\n", &["::x\u{1b}abc"]), "::x\u{1b}\r\n");
    }

    #[test]
    fn no_secret_is_repeated() {
        let text =
            "a: correct-horse\nkey: |\n  -----BEGIN PRIVATE KEY-----\n  MIIcanary\n  -----END PRIVATE KEY-----\nb: 1\n";
        let out = printed(Mode::Plain, text, &["correct-horse"]);
        assert!(!out.contains("horse") && !out.contains("canary") && out.ends_with("b: 1\n"), "{out}");
        let long = format!("[{}\"correct-horse\"]", "\"x\",".repeat(300_000));
        assert!(!printed(Mode::Plain, &long, &["correct-horse"]).contains("horse"));
    }
}
