//! Unified diffs of resources.

use super::style::{Role, Terminal};
use similar::{ChangeTag, TextDiff};
use std::io::{self, Write};

/// Maximum number of lines of a resource's diff without --verbose.
pub(crate) const MAX_LINES: usize = 200;

/// Lines around a change.
const CONTEXT: usize = 3;

/// Number of lines that a diff adds and removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
}

/// Writes the differences between two texts, at most `limit` lines, and reports when that is not all.
pub(crate) fn diff(
    out: &mut dyn Write,
    terminal: Terminal,
    names: (&str, &str),
    texts: (&str, &str),
    limit: usize,
) -> io::Result<Size> {
    let diff = TextDiff::from_lines(texts.0, texts.1);
    let mut size = Size::default();
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => size.added += 1,
            ChangeTag::Delete => size.removed += 1,
            ChangeTag::Equal => {}
        }
    }
    writeln!(out, "{}", terminal.paint(Role::Strong, format!("--- {}", names.0)))?;
    writeln!(out, "{}", terminal.paint(Role::Strong, format!("+++ {}", names.1)))?;
    let mut lines = 0;
    let mut hidden = 0;
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        if lines >= limit {
            hidden += hunk.iter_changes().count();
            continue;
        }
        writeln!(out, "{}", terminal.paint(Role::Place, hunk.header().to_string().trim_end()))?;
        for change in hunk.iter_changes() {
            lines += 1;
            if lines > limit {
                hidden += 1;
                continue;
            }
            let text = change.value().trim_end_matches('\n');
            match change.tag() {
                ChangeTag::Insert => writeln!(out, "{}", terminal.paint(Role::Good, format!("+{text}")))?,
                ChangeTag::Delete => writeln!(out, "{}", terminal.paint(Role::Bad, format!("-{text}")))?,
                ChangeTag::Equal => writeln!(out, " {text}")?,
            }
        }
    }
    if hidden > 0 {
        let note = format!("… {hidden} more lines of this resource are not shown; --verbose shows them");
        writeln!(out, "{}", terminal.paint(Role::Odd, note))?;
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(before: &str, after: &str, limit: usize) -> (String, Size) {
        let mut out = Vec::new();
        let size = diff(&mut out, Terminal::default(), ("a", "b"), (before, after), limit).unwrap();
        (String::from_utf8(out).unwrap(), size)
    }

    #[test]
    fn shows_what_differs() {
        let (text, size) = text("a\nb\nc\n", "a\nx\nc\n", 100);
        assert_eq!(text, "--- a\n+++ b\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
        assert_eq!(size, Size { added: 1, removed: 1 });
    }

    #[test]
    fn stops_and_says_so() {
        let (text, size) = text("", &"line\n".repeat(10), 4);
        assert!(text.ends_with("… 6 more lines of this resource are not shown; --verbose shows them\n"), "{text}");
        assert_eq!(size.added, 10);
    }
}
