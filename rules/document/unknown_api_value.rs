//! EF014: a word that is not a value of an enum of the EnvoyFilter API.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Code;

declare_rule! {
    /// An unknown value for an enum of the EnvoyFilter API.
    ///
    /// # What it finds
    /// `applyTo`, `match.context`, `patch.operation`, `patch.filterClass` or `route.action` with a value that the API does not have.
    ///
    /// # Why it matters
    /// The API server rejects the whole object.
    ///
    /// # How to fix
    /// Write one of the listed values.
    ///
    /// # References
    /// CustomResourceDefinition of EnvoyFilter (Istio 1.31).
    "EF014" "unknown-api-value" Document Error => check,
    policy: Never("the CustomResourceDefinition rejects it already")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (_, finding) in document::in_filters(cx, rule, &[Code::UnknownEnumValue]) {
        out.push(finding.note("the API server rejects the whole EnvoyFilter"));
    }
}
