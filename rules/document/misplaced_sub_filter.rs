//! EF023: a sub-filter match in a place without sub-filters.

use crate::declare_rule;
use crate::engine::matching::HTTP_CONNECTION_MANAGER;
use crate::lint::document;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::source::Severity;

declare_rule! {
    /// A sub-filter match in a place without sub-filters.
    ///
    /// # What it finds
    /// `subFilter` with an `applyTo` other than HTTP_FILTER, or below a `filter` that is not the HTTP connection
    /// manager.
    ///
    /// # Why it matters
    /// istiod's webhook rejects the EnvoyFilter. If it is stored anyway, the sub-filter is ignored, or the patch matches nothing.
    ///
    /// # How to fix
    /// Match an HTTP filter with `applyTo: HTTP_FILTER`, the HTTP connection manager as `filter` and the HTTP filter's
    /// name below `subFilter`. Match a network filter by `filter.name` alone.
    ///
    /// # References
    /// istiod `pkg/config/validation/envoyfilter` (release 1.31); recorded.
    "EF023" "misplaced-sub-filter" Document Error => check,
    explains: &["EF214", "EF215", "EF217", "EF332", "EF342", "EF346"], policy: Cel(policy)
}

/// Its name up to Envoy 1.13, which istiod's webhook still accepts.
const OLD_HTTP_CONNECTION_MANAGER: &str = "envoy.http_connection_manager";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(filter) = document::filter_match(view.patch) else { continue };
        if filter.sub_filter.is_none() || filter.name.is_empty() {
            continue;
        }
        let (apply_to, name) = (view.patch.apply_to, filter.name.as_str());
        let finding = if apply_to != ApplyTo::HttpFilter {
            let span = view.key_span(&[document::FILTER_MATCH, &["subFilter"]].concat());
            let message = format!("a sub-filter match requires applyTo: HTTP_FILTER, not {apply_to}");
            Finding::new(rule, span, message)
                .related(view.value_span(&["applyTo"]), "applyTo")
                .help("delete subFilter, or write applyTo: HTTP_FILTER if an HTTP filter is meant")
        } else if name != HTTP_CONNECTION_MANAGER && name != OLD_HTTP_CONNECTION_MANAGER {
            let span = view.value_span(&[document::FILTER_MATCH, &["name"]].concat());
            let message = format!("`{name}` has no sub-filters: only the HTTP connection manager has them");
            Finding::new(rule, span, message).help(format!("name: {HTTP_CONNECTION_MANAGER}"))
        } else {
            continue;
        };
        out.push(finding.note("istiod's webhook rejects the EnvoyFilter").of(view.filter, Some(view.patch.index)));
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Error,
        r#"!@waypoint && @to in ["LISTENER", "FILTER_CHAIN", "NETWORK_FILTER", "HTTP_FILTER"] && @filter && has(@f.name) && @f.name != "" && has(@f.subFilter) && (@to != "HTTP_FILTER" || !(@f.name in ["envoy.filters.network.http_connection_manager", "envoy.http_connection_manager"]))"#,
        "a sub-filter match requires applyTo: HTTP_FILTER and the HTTP connection manager",
    )]
}
