//! EF008: a field of the EnvoyFilter API in the wrong mapping.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, Rule};

declare_rule! {
    /// A field of the EnvoyFilter API in the wrong mapping.
    ///
    /// # What it finds
    /// A key outside `patch.value` that belongs one or more levels above or below: `subFilter` beside `filter`, `operation` beside
    /// `patch`, `listener` beside `match`, labels directly below `workloadSelector`.
    ///
    /// # Why it matters
    /// The API server drops it. A dropped part of a match makes the patch apply to more than was meant; dropped labels make
    /// the filter apply to the whole namespace.
    ///
    /// # How to fix
    /// Correct the indentation.
    ///
    /// # References
    /// CustomResourceDefinition of EnvoyFilter (Istio 1.31); istio/istio#26390.
    "EF008" "misplaced-field" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for (_, finding) in document::in_filters(cx, rule, &["misplaced-field"]) {
        out.push(finding.note("without it the filter applies to more than was meant, or does nothing"));
    }
}
