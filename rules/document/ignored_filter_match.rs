//! EF024: a filter match that has no effect for LISTENER and FILTER_CHAIN.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::source::Severity;

declare_rule! {
    /// A filter match that has no effect for LISTENER and FILTER_CHAIN.
    ///
    /// # What it finds
    /// `match.listener.filterChain.filter` with `applyTo: LISTENER` or `FILTER_CHAIN`.
    ///
    /// # Why it matters
    /// istiod warns and ignores it: listeners and chains are patched whether they have that filter or not.
    ///
    /// # How to fix
    /// Match the listener by its name or port, the filter chain also by sni or protocols; delete the filter match.
    ///
    /// # References
    /// istiod `pkg/config/validation/envoyfilter` (release 1.31); recorded.
    "EF024" "ignored-filter-match" Document Warning => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(filter) = document::filter_match(view.patch) else { continue };
        // istiod compares nothing else of a match with a listener (`listener_patch.go`).
        let (what, by) = match view.patch.apply_to {
            ApplyTo::Listener => ("listeners", "name or portNumber"),
            ApplyTo::FilterChain => ("filter chains", "name, portNumber, sni or applicationProtocols"),
            _ => continue,
        };
        let named = if filter.name.is_empty() { String::new() } else { format!(" `{}`", filter.name) };
        let message = format!("a filter match has no effect for {}", view.patch.apply_to);
        out.push(
            view.finding(rule, view.key_span(document::FILTER_MATCH), message)
                .note(format!("{what} without the filter{named} are patched too"))
                .help(format!("delete it, and match by {by}")),
        );
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Warning,
        r#"!@waypoint && @to in ["LISTENER", "FILTER_CHAIN"] && @filter"#,
        "a filter match has no effect for LISTENER and FILTER_CHAIN",
    )]
}
