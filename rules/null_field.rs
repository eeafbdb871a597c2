//! EF013: a field without a value.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, Rule};

declare_rule! {
    /// A field without a value.
    ///
    /// # What it finds
    /// A key outside `patch.value` with nothing after it, or with `null`: often the rest was dedented, or a template gave nothing.
    ///
    /// # Why it matters
    /// The API server drops the key: the filter works without what the author meant to say there. A label without a value
    /// leaves the selector.
    ///
    /// # How to fix
    /// Give it a value or delete it.
    ///
    /// # References
    /// Kubernetes prunes nulls of fields that are not nullable (`apiextensions-apiserver`, since 1.20).
    "EF013" "null-field" Warning => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for (problem, finding) in document::in_filters(cx, rule, &["null-value"]) {
        let note = if problem.message.contains("of `labels`") {
            "a selector does not ask for a label that is dropped, and selects more workloads"
        } else {
            "the filter is taken as if the key were not there"
        };
        out.push(finding.note(note));
    }
}
