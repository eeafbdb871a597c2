//! EF008: a field of the EnvoyFilter API in the wrong mapping.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, RuleInfo};
use crate::rules::matching::empty_selector;
use crate::source::Code;

declare_rule! {
    /// A field of the EnvoyFilter API in the wrong mapping.
    ///
    /// # What it finds
    /// A key outside `patch.value` that belongs one or more levels above or below: `subFilter` next to `filter`,
    /// `operation` next to `patch`, `listener` next to `match`, labels directly below `workloadSelector`.
    ///
    /// # Why it matters
    /// The API server drops it. A dropped part of a match makes the patch apply to more than intended; dropped labels make
    /// the filter apply to the whole namespace.
    ///
    /// # How to fix
    /// Correct the indentation.
    ///
    /// # References
    /// CustomResourceDefinition of EnvoyFilter (Istio 1.31); istio/istio#26390.
    "EF008" "misplaced-field" Document Error => check,
    explains: &["EF504"], policy: Never("the API server drops unknown fields before a policy sees the object; kubectl warns about them")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (problem, finding) in document::in_filters(cx, rule, &[Code::MisplacedField]) {
        if problem.span.is_some_and(|span| empty_selector::speaks_of(cx, span)) {
            continue;
        }
        out.push(finding.note("without it the EnvoyFilter applies to more than intended, or has no effect"));
    }
}
