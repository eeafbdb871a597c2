//! EF006: a field that the EnvoyFilter API does not have.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, Rule};

declare_rule! {
    /// A field that the EnvoyFilter API does not have.
    ///
    /// # What it finds
    /// A key outside `patch.value` that is no field where it stands: misspelt, of another API, or invented.
    ///
    /// # Why it matters
    /// `kubectl apply` refuses the object (strict validation). Sent by another client, the API server drops the field, and the
    /// filter runs without what it says, often on more workloads or objects than meant.
    ///
    /// # How to fix
    /// Write the field the API has.
    ///
    /// # References
    /// CustomResourceDefinition of EnvoyFilter (Istio 1.31).
    "EF006" "unknown-field" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for (_, finding) in document::in_filters(cx, rule, &["unknown-field"]) {
        out.push(finding.note("kubectl apply refuses it; sent by another client, the filter works without it"));
    }
}
