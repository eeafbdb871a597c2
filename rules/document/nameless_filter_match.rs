//! EF022: a filter or sub-filter match without a name.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// A filter or sub-filter match without a name.
    ///
    /// # What it finds
    /// `match.listener.filterChain.filter` without `name`, or its `subFilter` without `name`.
    ///
    /// # Why it matters
    /// istiod's webhook rejects the EnvoyFilter. If it is stored anyway, the match matches every filter.
    ///
    /// # How to fix
    /// Name the filter, or delete the match.
    ///
    /// # References
    /// istiod `pkg/config/validation/envoyfilter` (release 1.31); recorded.
    "EF022" "nameless-filter-match" Document Error => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(filter) = document::filter_match(view.patch) else { continue };
        let (route, word, name) = if filter.name.is_empty() {
            (document::FILTER_MATCH.to_vec(), "filter", "envoy.filters.network.http_connection_manager")
        } else if filter.sub_filter.as_deref() == Some("") {
            let route = [document::FILTER_MATCH, &["subFilter"]].concat();
            (route, "sub-filter", "envoy.filters.http.router")
        } else {
            continue;
        };
        let named = [&route[..], &["name"]].concat();
        let span = view.node(&named).map_or_else(|| view.key_span(&route), |_| view.value_span(&named));
        out.push(
            view.finding(rule, span, format!("this {word} match has no name to match on"))
                .note(format!("istiod's webhook rejects the EnvoyFilter; if it is stored anyway, every {word} matches"))
                .help(format!("name: {name}")),
        );
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Error,
        r#"!@waypoint && @to in ["LISTENER", "FILTER_CHAIN", "NETWORK_FILTER", "HTTP_FILTER"] && @filter && (!has(@f.name) || @f.name == "" || (has(@f.subFilter) && (!has(@f.subFilter.name) || @f.subFilter.name == "")))"#,
        "this filter or sub-filter match has no name to match on",
    )]
}
