//! EF305: a REMOVE, REPLACE or MERGE of a filter that does not name the filter.

use crate::declare_rule;
use crate::engine::compat::Behaviour;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::source::Severity;

declare_rule! {
    /// A REMOVE, REPLACE or MERGE of a filter that does not name the filter.
    ///
    /// # What it finds
    /// A REMOVE or REPLACE of HTTP_FILTER without `subFilter`, of NETWORK_FILTER without `filter`, of
    /// LISTENER_FILTER without `listenerFilter`; and a MERGE of LISTENER_FILTER without `listenerFilter`.
    ///
    /// # Why it matters
    /// istiod then does nothing: it does not use the name in `value` to find the filter.
    ///
    /// # How to fix
    /// Name the filter in the match.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF305" "filter-not-named" Operation Error => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
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
            view.finding(
                rule,
                view.value_span(&["patch", "operation"]),
                format!("{operation} of {apply_to} has no effect without a match that names the filter"),
            )
            .label(if named { "istiod ignores the name in `value`" } else { "the match must name the filter" })
            .note("the EnvoyFilter is accepted and nothing is logged, but the patch changes no proxy")
            .snippet(help)
            .ineffective(),
        );
    }
}

fn policy(target: &PolicyTarget<'_>) -> Vec<Cel> {
    let operations = if target.compat.has(Behaviour::ListenerFilterMerge) {
        r#"(@op in ["REMOVE", "REPLACE"] || (@op == "MERGE" && @to == "LISTENER_FILTER"))"#
    } else {
        r#"@op in ["REMOVE", "REPLACE"]"#
    };
    vec![Cel::patch(
        Severity::Error,
        format!("@judged && @filters && {operations} && !@named"),
        "REMOVE, REPLACE or MERGE without a match that names the filter has no effect",
    )]
}
