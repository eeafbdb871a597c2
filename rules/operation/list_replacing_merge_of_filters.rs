//! EF302: a MERGE_AND_REPLACE_LIST on filters, which does nothing.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// A MERGE_AND_REPLACE_LIST on filters, which has no effect.
    ///
    /// # What it finds
    /// A patch with operation MERGE_AND_REPLACE_LIST and `applyTo` LISTENER_FILTER, NETWORK_FILTER or HTTP_FILTER.
    ///
    /// # Why it matters
    /// The release notes of Istio 1.31 say that it falls back to MERGE for these kinds. It does not: istiod has no code
    /// for it there, and the patch changes nothing.
    ///
    /// # How to fix
    /// Write MERGE if appending to lists is right, or replace the filter: REPLACE with a match that names it, and the
    /// whole configuration as value.
    ///
    /// # References
    /// istiod 1.31, `listener_patch.go`; recorded.
    "EF302" "list-replacing-merge-of-filters" Operation Error => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        if view.built.is_none_or(|built| built.status != Status::NoOp(NoOp::ReplaceListOnFilters)) {
            continue;
        }

        out.push(
            view.finding(
                rule,
                view.value_span(&["patch", "operation"]),
                format!("MERGE_AND_REPLACE_LIST has no effect for {}", view.patch.apply_to),
            )
            .label("works only for LISTENER, FILTER_CHAIN, CLUSTER, ROUTE_CONFIGURATION, VIRTUAL_HOST, HTTP_ROUTE")
            .note("the EnvoyFilter is accepted and nothing is logged, but the patch changes no proxy")
            .help("write MERGE (lists grow), or REPLACE with the whole filter as value and a match that names it")
            .ineffective(),
        );
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Error,
        r#"@judged && @filters && @op == "MERGE_AND_REPLACE_LIST""#,
        "MERGE_AND_REPLACE_LIST has no effect on filters",
    )]
}
