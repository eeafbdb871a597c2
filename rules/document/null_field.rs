//! EF013: a field without a value.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Code;

declare_rule! {
    /// A field without a value.
    ///
    /// # What it finds
    /// A key outside `patch.value` with nothing after it, or with `null`: often the rest was dedented, or a template
    /// rendered nothing.
    ///
    /// # Why it matters
    /// The API server drops the key: the filter works without the intended setting. A label without a value is dropped
    /// from the selector.
    ///
    /// # How to fix
    /// Give it a value or delete it.
    ///
    /// # References
    /// Kubernetes prunes nulls of fields that are not nullable (`apiextensions-apiserver`, since 1.20).
    "EF013" "null-field" Document Warning => check,
    policy: Never("the API server drops keys without a value before a policy sees the object")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (problem, finding) in document::in_filters(cx, rule, &[Code::NullValue]) {
        let note = if problem.span.is_some_and(|key| document::is_label_of_selector(cx, key)) {
            "a label that is dropped no longer restricts the selector, which selects more workloads"
        } else {
            "the EnvoyFilter is read as if the key did not exist"
        };
        out.push(finding.note(note));
    }
}
