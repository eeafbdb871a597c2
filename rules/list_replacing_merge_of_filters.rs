//! EF302: a MERGE_AND_REPLACE_LIST on filters, which does nothing.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::lint::{Context, Finding, Findings, Rule};

declare_rule! {
    /// A MERGE_AND_REPLACE_LIST on filters, which does nothing.
    ///
    /// # What it finds
    /// A patch with operation MERGE_AND_REPLACE_LIST and `applyTo` LISTENER_FILTER, NETWORK_FILTER or HTTP_FILTER.
    ///
    /// # Why it matters
    /// The release note of Istio 1.31 says that it falls back to MERGE for these kinds. It does not: istiod has no
    /// code for it there, and the patch changes nothing.
    ///
    /// # How to fix
    /// Write MERGE where appending to lists is right, or replace the filter: REPLACE with a match that names it,
    /// and the whole configuration as value.
    ///
    /// # References
    /// istiod 1.31, `listener_patch.go`; recorded.
    "EF302" "list-replacing-merge-of-filters" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        if view.built.is_none_or(|built| built.status != Status::NoOp(NoOp::ReplaceListOnFilters)) {
            continue;
        }

        out.push(
            Finding::new(
                rule,
                view.value_span(&["patch", "operation"]),
                format!("MERGE_AND_REPLACE_LIST does nothing for {}", view.patch.apply_to),
            )
            .label("works for LISTENER, FILTER_CHAIN, CLUSTER, ROUTE_CONFIGURATION, VIRTUAL_HOST, HTTP_ROUTE only")
            .note("the filter is accepted and nothing is logged: the patch changes no proxy")
            .help("write MERGE (lists grow), or REPLACE with the whole filter as value and a match that names it")
            .ineffective()
            .of(view.filter, Some(view.patch.index)),
        );
    }
}
