//! EF902: a suppression without a reason.

use crate::declare_rule;
use crate::lint::check::Suppressed;
use crate::lint::suppress::Form;
use crate::lint::{Finding, Findings, RuleInfo};

declare_rule! {
    /// A suppression that gives no reason or names no rule.
    ///
    /// # What it finds
    /// `# envoyfilter:ignore EF301` without a reason after the rule, the same in the annotation `envoyfilter.dev/ignore`,
    /// and a comment that names no rule (it suppresses nothing).
    ///
    /// # Why it matters
    /// Nobody can tell later whether the reason still holds.
    ///
    /// # How to fix
    /// Write the reason after the rules: `# envoyfilter:ignore EF301 removed in our release 12, see TEAM-345`.
    ///
    /// # References
    /// rustc's `#[expect(…, reason = "…")]`.
    "EF902" "suppression-without-reason" Linter Warning => Suppressions: check
}

fn check(rule: &'static RuleInfo, seen: &Suppressed<'_>, out: &mut Findings) {
    for one in seen.suppressions.iter().filter(|one| one.form != Form::Istioctl) {
        if one.rules.is_empty() {
            out.push(
                Finding::new(rule, one.span, "this suppression names no rule")
                    .note("it suppresses nothing")
                    .help("name the rules and the reason: `# envoyfilter:ignore EF301 because …`"),
            );
        } else if one.reason.is_empty() {
            let words: Vec<&str> = one.rules.iter().map(|named| named.word.as_str()).collect();
            let message = format!("the suppression of {} gives no reason", words.join(", "));
            out.push(
                Finding::new(rule, one.span, message)
                    .help(format!("write the reason after the rule: `{} because …`", words.join(","))),
            );
        }
    }
}
