//! EF128: a regular expression that RE2 does not compile.

use crate::declare_rule;
use crate::engine::program::check_re2;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A regular expression that RE2 does not compile.
    ///
    /// # What it finds
    /// A `regex` of Envoy's `RegexMatcher` that is not a valid RE2 expression: unbalanced brackets, look-around,
    /// back-references.
    ///
    /// # Why it matters
    /// istiod does not check it; the proxy rejects the listener, route or cluster.
    ///
    /// # How to fix
    /// Write it in RE2's syntax, which has no look-ahead, look-behind or back-references.
    ///
    /// # References
    /// RE2, "Syntax"; Envoy `envoy.type.matcher.v3.RegexMatcher`.
    "EF128" "invalid-regex" Value Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in &value.objects {
            if !matches!(object.full_name(), "envoy.type.matcher.v3.RegexMatcher" | "xds.type.matcher.v3.RegexMatcher")
            {
                continue;
            }
            let Some(member) = object.member("regex") else { continue };
            let Some(text) = member.entry.value.as_str() else { continue };
            let Err(error) = check_re2(&literal_braces(text)) else { continue };
            let error = error.to_string();
            let why = error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            out.push(
                value
                    .finding(rule, member.entry.value.span, format!("not a valid RE2 expression: {why}"))
                    .label("the proxy cannot compile it")
                    .rejected("istiod does not check it; the proxy rejects the resource that contains it"),
            );
        }
    }
}

/// RE2 reads a brace that opens no repetition, and a bracket inside a class, literally; the regex crate does not.
fn literal_braces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_class = false;
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let after = &rest[char.len_utf8()..];
        match char {
            '\\' => {
                // An escape with braces (`\p{Greek}`, `\x{10FFFF}`) stays together.
                let escaped = after.chars().next();
                let mut length = 1 + escaped.map_or(0, char::len_utf8);
                if matches!(escaped, Some('p' | 'P' | 'x')) && rest[length..].starts_with('{') {
                    length += rest[length..].find('}').map_or(0, |end| end + 1);
                }
                out.push_str(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
            '[' if in_class && !after.starts_with(':') => out.push_str(r"\["),
            '[' if !in_class => {
                in_class = true;
                out.push('[');
                // A closing bracket right after the opening one is literal.
                let negated = after.starts_with('^');
                let first = if negated { &after[1..] } else { after };
                if negated {
                    out.push('^');
                }
                if let Some(tail) = first.strip_prefix(']') {
                    out.push_str(r"\]");
                    rest = tail;
                } else {
                    rest = first;
                }
                continue;
            }
            '[' => {
                // A named class, up to its end.
                let end = after.find(":]").map_or(0, |end| end + 2);
                out.push('[');
                out.push_str(&after[..end]);
                rest = &after[end..];
                continue;
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '{' if !in_class && !repetition(after) => out.push_str(r"\{"),
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(char);
            }
            _ => out.push(char),
        }
        rest = after;
    }
    out
}

/// Whether `3}`, `3,}` or `3,5}` follows an opening brace.
fn repetition(after: &str) -> bool {
    after.split_once('}').is_some_and(|(inner, _)| {
        let (low, high) = inner.split_once(',').unwrap_or((inner, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        !low.is_empty() && digits(low) && digits(high)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_re2_takes_compiles() {
        for text in [
            "/api/{id}",
            "a{2,3}b{2}",
            "[[]x]",
            "[[:alpha:]_]",
            "[]a]",
            "[^]a]",
            r"\p{Greek}",
            "[a&&b]",
            "(?i)x",
            "a{,3}",
        ] {
            assert!(check_re2(&literal_braces(text)).is_ok(), "{text}: {}", literal_braces(text));
        }
        for text in ["(", "a(?=b)", "[a", "*a", r"(a)\1", "a**"] {
            let compiled = check_re2(&literal_braces(text));
            assert_eq!(compiled.is_err(), text != "a**", "{text}");
        }
    }
}
