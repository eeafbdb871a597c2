//! EF004: a key given twice in one mapping.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, Rule};
use crate::source::Severity;

declare_rule! {
    /// A key given twice in one mapping.
    ///
    /// # What it finds
    /// The same key twice in a mapping of an EnvoyFilter, or once in it and again by a YAML merge (`<<`).
    ///
    /// # Why it matters
    /// kubectl takes the last value and says nothing: the first one, often a whole second `match` or `value`, never reaches the
    /// cluster.
    ///
    /// # How to fix
    /// Delete one of the two, or make two patches of them.
    ///
    /// # References
    /// sigs.k8s.io/yaml 1.6.
    "EF004" "duplicate-key" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for (problem, finding) in document::in_filters(cx, rule, &["yaml-duplicate-key"]) {
        // With `<<` the author may have meant to overlay; the merged value still wins over what stands above.
        let severity = if problem.message.contains("`<<`") { Severity::Warning } else { rule.severity };
        out.push(finding.severity(severity).note("the other value is lost without a word: the cluster never gets it"));
    }
}
