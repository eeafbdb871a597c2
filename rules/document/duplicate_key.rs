//! EF004: a key given twice in one mapping.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Code, Severity};

declare_rule! {
    /// A key given twice in one mapping.
    ///
    /// # What it finds
    /// The same key twice in a mapping of an EnvoyFilter, or once in it and again by a YAML merge (`<<`).
    ///
    /// # Why it matters
    /// kubectl silently takes the last value: the first one, often a whole second `match` or `value`, never reaches the
    /// cluster.
    ///
    /// # How to fix
    /// Delete one of the two, or split the patch in two.
    ///
    /// # References
    /// sigs.k8s.io/yaml 1.6.
    "EF004" "duplicate-key" Document Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (problem, finding) in document::in_filters(cx, rule, &[Code::YamlDuplicateKey, Code::YamlMergedKey]) {
        // With `<<` the author may have meant an overlay, but the merged value still wins over the key above.
        let severity = if problem.code == Code::YamlMergedKey { Severity::Warning } else { rule.severity };
        out.push(finding.severity(severity).note("the other value is silently lost: the cluster never gets it"));
    }
}
