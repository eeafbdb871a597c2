//! Patterns for paths and namespaces: `*` within a segment, `**` across segments, `?` for one character.

/// Whether a pattern matches a whole text. `*` and `?` do not match a `/`; `**` does, and `**/` also matches nothing.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    matches(pattern.as_bytes(), text.as_bytes())
}

/// For every suffix of the pattern, from the last, the offsets from which it matches the rest of the text: the cost is
/// bounded by the product of both lengths.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let mut rest = pattern.len();
    // The suffixes of the text that the suffix of the pattern matches.
    let mut fits = vec![false; text.len() + 1];
    fits[text.len()] = true;
    while rest > 0 {
        // What precedes the suffix: stars pair from the left.
        let stars = pattern[..rest].iter().rev().take_while(|byte| **byte == b'*').count();
        let folder = pattern[rest - 1] == b'/' && pattern[..rest - 1].ends_with(b"**") && is_pair(&pattern[..rest - 1]);
        let mut now = vec![false; text.len() + 1];
        let mut any = false;
        let mut after_slash = false;
        for at in (0..=text.len()).rev() {
            let next = text.get(at).copied();
            now[at] = if folder {
                after_slash |= next == Some(b'/') && fits[at + 1];
                fits[at] || after_slash
            } else if stars >= 2 {
                any |= fits[at];
                any
            } else if stars == 1 {
                any = fits[at] || (any && next != Some(b'/'));
                any
            } else {
                match (pattern[rest - 1], next) {
                    (b'?', Some(next)) => next != b'/' && fits[at + 1],
                    (byte, Some(next)) => byte == next && fits[at + 1],
                    (_, None) => false,
                }
            };
        }
        fits = now;
        rest -= if folder { 3 } else { stars.clamp(1, 2) };
    }
    fits[0]
}

/// Whether the last two of a text's trailing stars are a `**`: stars pair from the left.
fn is_pair(text: &[u8]) -> bool {
    text.iter().rev().take_while(|byte| **byte == b'*').count().is_multiple_of(2)
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

    #[test]
    fn many_stars_cost_no_more_than_few() {
        let start = std::time::Instant::now();
        assert!(!fits(&format!("{}b", "**/*a".repeat(200)), &"a/a".repeat(200)));
        assert!(fits(&"**".repeat(200), &"a/a".repeat(200)));
        assert!(start.elapsed().as_secs() < 2);
    }
}
