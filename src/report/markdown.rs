//! Texts of the input in Markdown, for comments, tickets and summaries.

use crate::source::escape;

/// A text in a line or a cell of a table, which cannot end the cell, contain links, tags or images, or mention users.
pub(crate) fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape::one_line(text).chars() {
        match c {
            '|' | '[' | ']' | '*' | '`' | '\\' | '!' | '~' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            c => out.push(c),
        }
    }
    out
}

/// The same between backticks: only characters that would end the code or the cell are replaced.
pub(crate) fn code(text: &str) -> String {
    escape::one_line(text).replace('`', "'").replace('|', "\\|")
}

/// A sentence with code between single backticks, which stays code.
pub(crate) fn sentence(text: &str) -> String {
    // Anything but pairs of single backticks may be code elsewhere than it seems.
    if !text.matches('`').count().is_multiple_of(2) || text.contains("``") {
        return cell(text);
    }
    let mut out = String::with_capacity(text.len());
    for (number, part) in text.split('`').enumerate() {
        if number % 2 == 0 {
            out.push_str(&cell(part));
        } else {
            out.extend(["`", &code(part), "`"]);
        }
    }
    out
}

/// The fence of a block with this text: longer than any run of backticks in it.
pub(crate) fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup() {
        assert_eq!(cell("a|b <img> @user [x](y) ![z] `c`"), r"a\|b &lt;img&gt; &#64;user \[x\](y) \!\[z\] \`c\`");
        assert_eq!(code("a|`b\n"), r"a\|'b\n");
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fence("a `b` c"), "```");
        assert_eq!(fence("a\n````\nb"), "`````");
    }

    #[test]
    fn code_is_not_escaped() {
        assert_eq!(sentence("the key `a_b<c` of <x> @y"), "the key `a_b<c` of &lt;x&gt; &#64;y");
        assert_eq!(sentence("one ` only*"), r"one \` only\*");
        assert_eq!(sentence("``<img>`"), r"\`\`&lt;img&gt;\`");
    }
}
