//! EF006: a field that the EnvoyFilter API does not have.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, RuleInfo};
use crate::rules::matching::empty_selector;
use crate::rules::value::missing_typed_config;
use crate::source::Code;

declare_rule! {
    /// A field that the EnvoyFilter API does not have.
    ///
    /// # What it finds
    /// A key outside `patch.value` that is not a field there: misspelled, of another API, or invented.
    ///
    /// # Why it matters
    /// `kubectl apply` rejects the object (strict validation). If another client sends it, the API server drops the
    /// field, and the filter runs without it, often on more workloads or objects than intended.
    ///
    /// # How to fix
    /// Write a field that the API has.
    ///
    /// # References
    /// CustomResourceDefinition of EnvoyFilter (Istio 1.31).
    "EF006" "unknown-field" Document Error => check,
    policy: Never("the API server drops unknown fields before a policy sees the object; kubectl warns about them")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (problem, finding) in document::in_filters(cx, rule, &[Code::UnknownField]) {
        if problem.span.is_some_and(|span| empty_selector::speaks_of(cx, span)) {
            continue;
        }
        let typed = problem.span.is_some_and(|span| missing_typed_config::is_beside_value(cx, span));
        let finding = if typed { finding.help("move it into `value`, beside `name`") } else { finding };
        let finding = finding
            .blamed_if(typed, "")
            .note("kubectl apply rejects it; if another client sends it, the API server drops the field");
        out.push(finding.notes(problem.span.and_then(|span| document::widened(cx, span, None))));
    }
}
