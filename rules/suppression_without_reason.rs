//! EF902: a suppression that does not say why.

use crate::declare_rule;
use crate::lint::suppress::{self, Form};
use crate::lint::{Context, Finding, Findings, Rule};

declare_rule! {
    /// A suppression that does not say why, or names no rule.
    ///
    /// # What it finds
    /// `# envoyfilter:ignore EF301` with nothing behind the rule, the same in the annotation `envoyfilter.dev/ignore`, and
    /// a comment that names no rule at all (it suppresses nothing).
    ///
    /// # Why it matters
    /// Nobody can tell later whether the reason still holds.
    ///
    /// # How to fix
    /// Write the reason behind the rules: `# envoyfilter:ignore EF301 removed with release 1.32, see the team's notes`.
    ///
    /// # References
    /// The same is asked for by rustc's `reason`.
    "EF902" "suppression-without-reason" Warning => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for one in suppress::read(cx.sources, cx.filters) {
        if one.form == Form::Istioctl {
            continue;
        }
        if one.rules.is_empty() {
            out.push(
                Finding::new(rule, one.span, "this suppression names no rule")
                    .note("it suppresses nothing")
                    .help("name the rules and the reason: `# envoyfilter:ignore EF301 because …`"),
            );
        } else if one.reason.is_empty() {
            let words: Vec<&str> = one.rules.iter().map(|named| named.word.as_str()).collect();
            let message = format!("the suppression of {} does not say why", words.join(", "));
            out.push(
                Finding::new(rule, one.span, message)
                    .help(format!("write the reason behind it: `{} because …`", words.join(","))),
            );
        }
    }
}
