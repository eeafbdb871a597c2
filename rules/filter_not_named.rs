//! EF305: a REMOVE, REPLACE or MERGE of a filter that does not say which.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::lint::{Context, Finding, Findings, Rule};
use crate::model::envoy_filter::ApplyTo;

declare_rule! {
    /// A REMOVE, REPLACE or MERGE of a filter that does not say which.
    ///
    /// # What it finds
    /// A REMOVE or REPLACE of HTTP_FILTER without `subFilter`, of NETWORK_FILTER without `filter`, of
    /// LISTENER_FILTER without `listenerFilter`; and a MERGE of LISTENER_FILTER without `listenerFilter`.
    ///
    /// # Why it matters
    /// istiod does nothing then: the name in `value` is not used to find the filter.
    ///
    /// # How to fix
    /// Name the filter in the match.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF305" "filter-not-named" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        if view.built.is_none_or(|built| built.status != Status::NoOp(NoOp::NeedsFilterMatch)) {
            continue;
        }
        let apply_to = view.patch.apply_to;
        let Some(operation) = view.patch.body.as_ref().map(|body| body.operation) else { continue };
        let named = view.node(&["patch", "value"]).is_some_and(|value| value.get("name").is_some());
        let help = match apply_to {
            ApplyTo::ListenerFilter => "match:\n  listener:\n    listenerFilter: <name of the listener filter>",
            ApplyTo::NetworkFilter => {
                "match:\n  listener:\n    filterChain:\n      filter:\n        name: <name of the network filter>"
            }
            _ => {
                "match:\n  listener:\n    filterChain:\n      filter:\n        name: envoy.filters.network.http_connection_manager\n        subFilter:\n          name: <name of the HTTP filter>"
            }
        };
        out.push(
            Finding::new(
                rule,
                view.value_span(&["patch", "operation"]),
                format!("{operation} of {apply_to} without a match that names the filter does nothing"),
            )
            .label(if named { "the name in `value` is not looked at" } else { "of which filter, the match has to say" })
            .note("the filter is accepted and nothing is logged: the patch changes no proxy")
            .help(help)
            .ineffective()
            .of(view.filter, Some(view.patch.index)),
        );
    }
}
