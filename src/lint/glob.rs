//! Patterns for paths and namespaces: `*` within a part, `**` over parts, `?` for one character.

/// Whether a pattern fits a whole text. `*` and `?` do not go over a `/`; `**` does, and `**/` fits nothing as well.
pub fn fits(pattern: &str, text: &str) -> bool {
    matches(pattern.as_bytes(), text.as_bytes())
}

fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', b'*', b'/', rest @ ..] => {
            matches(rest, text)
                || text.iter().enumerate().any(|(at, &byte)| byte == b'/' && matches(rest, &text[at + 1..]))
        }
        [b'*', b'*', rest @ ..] => (0..=text.len()).any(|at| matches(rest, &text[at..])),
        [b'*', rest @ ..] => {
            let end = text.iter().position(|&byte| byte == b'/').unwrap_or(text.len());
            (0..=end).any(|at| matches(rest, &text[at..]))
        }
        [b'?', rest @ ..] => text.split_first().is_some_and(|(&first, text)| first != b'/' && matches(rest, text)),
        [byte, rest @ ..] => text.split_first().is_some_and(|(first, text)| first == byte && matches(rest, text)),
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn fits_as_expected() {
        for (pattern, text, want) in [
            ("legacy/**", "legacy/a/b.yaml", true),
            ("**/b.yaml", "b.yaml", true),
            ("**/b.yaml", "a/c/b.yaml", true),
            ("*.yaml", "a/b.yaml", false),
            ("team-*", "team-a", true),
            ("team-?", "team-ab", false),
            ("shop", "shop", true),
            ("shop", "shops", false),
        ] {
            assert_eq!(fits(pattern, text), want, "{pattern} {text}");
        }
    }
}
