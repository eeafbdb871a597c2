//! EF156: a Lua pattern written as a regular expression.

use crate::declare_rule;
use crate::lint::lua_use::{Kind, Regular};
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A pattern of inline Lua that is written as a regular expression or with an unescaped hyphen.
    ///
    /// # What it finds
    /// Patterns of `find`, `match`, `gmatch` and `gsub` with a hyphen between two letters or digits, `a|b`, `\d`, `{2}`,
    /// `(?:…)`, `../` or a repeated group, also in a table over which `ipairs` loops. `find` with `true` as its fourth argument searches for plain text.
    ///
    /// # Why it matters
    /// Lua patterns are not regular expressions. In `user-service` the hyphen repeats the `r`, so the pattern does not
    /// match `user-service`; `|`, braces and the rest stand for themselves.
    ///
    /// # How to fix
    /// `user%-service`, or `find(path, "user-service", 1, true)`; `%d` for digits; one pattern for each alternative.
    ///
    /// # References
    /// Lua 5.1 reference manual, 5.4.1; tested with Envoy 1.38.2.
    "EF156" "lua-pattern-not-regex" Value Warning => check,
    policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in &script.uses.mistakes {
            let Kind::Pattern(regular) = one.kind else { continue };
            let pattern = one.named.name;
            let (message, label, help) = match regular {
                Regular::Hyphen => (
                    format!("this pattern does not match `{pattern}`"),
                    "the hyphen repeats the character before it",
                    format!("\"{}\", or find(…, \"{pattern}\", 1, true)", escaped(pattern)),
                ),
                Regular::Alternation => (
                    "Lua patterns do not support alternation".to_owned(),
                    "`|` matches the character `|`",
                    "search for each alternative: path:find(\"^/a/\") or path:find(\"^/b/\")".to_owned(),
                ),
                Regular::Escape => (
                    "Lua patterns do not use `\\`".to_owned(),
                    "`\\` matches the character `\\`",
                    "% in place of \\: %d is a digit, %w a letter or digit, %s a space, %. a dot".to_owned(),
                ),
                Regular::Count => (
                    "Lua patterns do not support repetition counts".to_owned(),
                    "`{` matches the character `{`",
                    "repeat the item: %d%d%d for three digits, %d%d? for one or two".to_owned(),
                ),
                Regular::Dots => (
                    format!("`{pattern}` matches any two characters before the slash"),
                    "a dot is any character",
                    "\"%.%./\", or find(…, \"../\", 1, true)".to_owned(),
                ),
                Regular::Group => (
                    "Lua patterns do not support such groups".to_owned(),
                    "only single characters and sets can be repeated, and `(?` is not special",
                    "repeat a character or a set: [ab]+; use find twice for an optional part".to_owned(),
                ),
            };
            out.push(script.finding(rule, &one.named, message).label(label).help(help));
        }
    }
}

/// The pattern with its hyphens escaped.
fn escaped(pattern: &str) -> String {
    let mut last = ' ';
    let mut escaped = String::new();
    for c in pattern.chars() {
        if c == '-' && last.is_ascii_alphanumeric() {
            escaped.push('%');
        }
        escaped.push(c);
        last = c;
    }
    escaped
}
