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

    /// Writes whole lines. Those that are safe as they are, as most lines of a report or a dump are, are searched together, which is
    /// faster than one by one.
    fn pass_lines(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut ahead = Ahead::default();
        let mut at = 0;
        while at < lines.len() {
            if self.line.is_empty() && !self.in_pem {
                let end = ahead.suspicious_line(lines, at, self.secrets.as_ref());
                if end > at {
                    self.out.write_all(&lines[at..end])?;
                    self.at_start = true;
                    at = end;
                }
            }
            let end = memchr::memchr(b'\n', &lines[at..]).map_or(lines.len(), |end| at + end + 1);
            self.line.extend_from_slice(&lines[at..end]);
            self.pass()?;
            at = end;
        }
        Ok(())
    }

    /// Whether a line is safe as it is.
    fn is_harmless(&self, line: &[u8]) -> bool {
        !self.in_pem
            && is_plain(line)
            && self.secrets.as_ref().is_none_or(|secrets| {
                let clean = |text: &str| !redact::may_hold(text) && !secrets.with(|secrets| secrets.finds(text));
                std::str::from_utf8(line).is_ok_and(clean)
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

/// Whether nothing in a line steers a terminal or a CI runner.
fn is_plain(line: &[u8]) -> bool {
    let plain = |byte: u8| matches!(byte, b' '..=b'"' | b'$'..=b'~' | b'\n' | b'\t');
    // Without an end at the first one, so that many bytes are compared at once.
    line.iter().fold(true, |all, &byte| all & plain(byte))
        && line.iter().find(|byte| !matches!(byte, b' ' | b'\t')) != Some(&b':')
}

/// How far several searches of the same lines have come: what one of them found later is not searched again because another one found
/// something earlier.
#[derive(Default)]
struct Ahead {
    /// The next line that is not plain, and secret: where they begin, or the end of the lines.
    steering: Option<usize>,
    secret: Option<usize>,
    /// The next hint of a secret of each kind.
    hints: [Option<usize>; redact::HINTS.len()],
}

impl Ahead {
    /// The start of the first line from a position on that may be unsafe; the end of the lines if none is.
    fn suspicious_line(&mut self, lines: &[u8], from: usize, secrets: Option<&Keeper>) -> usize {
        let next = |found: Option<usize>, search: &dyn Fn(&[u8]) -> Option<usize>| {
            let known = found.filter(|&at| at >= from);
            known.unwrap_or_else(|| search(&lines[from..]).map_or(lines.len(), |at| from + at))
        };
        let steers = |rest: &[u8]| {
            let mut start = 0;
            rest.split_inclusive(|&byte| byte == b'\n').find_map(|line| {
                start += line.len();
                (!is_plain(line)).then_some(start - line.len())
            })
        };
        let mut nearest = next(self.steering, &steers);
        self.steering = Some(nearest);
        if let Some(secrets) = secrets {
            let secret = next(self.secret, &|rest| secrets.with(|secrets| secrets.find(rest)));
            self.secret = Some(secret);
            nearest = nearest.min(secret);
            for (known, search) in self.hints.iter_mut().zip(redact::HINTS) {
                let hint = next(*known, &search);
                *known = Some(hint);
                nearest = nearest.min(hint);
            }
        }
        if nearest == lines.len() {
            return nearest;
        }
        memchr::memrchr(b'\n', &lines[from..nearest]).map_or(from, |end| from + end + 1)
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
        let whole = memchr::memrchr(b'\n', bytes).map_or(0, |last| last + 1);
        let (lines, rest) = bytes.split_at(whole);
        self.pass_lines(lines)?;
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
    fn lines_written_together_come_out_as_one_by_one() {
        let lines = [
            "plain\n",
            "\n",
            "a: correct-horse\n",
            "password: hunter2hunter2\n",
            "::error::x\n",
            "\u{1b}[2J\u{202e}\n",
            "pin\n",
            "  : next\n",
            "-----BEGIN PRIVATE KEY-----\n",
            "MIIcanary\n",
            "-----END PRIVATE KEY-----\n",
            "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXNpZ25hdHVyZQ\n",
        ];
        let written = |pieces: &[&str]| {
            let known = Keeper::default();
            known.with(|known| known.add("correct-horse"));
            let mut out = Vec::new();
            let mut screen = Screen::new(&mut out, Mode::Plain, Some(known));
            pieces.iter().for_each(|piece| screen.write_all(piece.as_bytes()).unwrap());
            screen.flush().unwrap();
            drop(screen);
            String::from_utf8(out).unwrap()
        };
        let mut state = 1_u64;
        for _ in 0..2_000 {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                usize::try_from(state >> 33).unwrap() % lines.len()
            };
            let chosen: Vec<&str> = (0..12).map(|_| lines[next()]).collect();
            let together = written(&[&chosen.concat()]);
            assert_eq!(together, written(&chosen), "{chosen:?}");
            for unsafe_text in ["horse", "hunter2", "eyJzdWI", "\u{1b}", "\n::"] {
                assert!(!together.contains(unsafe_text), "{unsafe_text}: {together}");
            }
        }
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
