//! EF022: a filter or sub-filter match without a name.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Finding, Findings, Rule};

declare_rule! {
    /// A filter or sub-filter match without a name.
    ///
    /// # What it finds
    /// `match.listener.filterChain.filter` without `name`, or its `subFilter` without `name`.
    ///
    /// # Why it matters
    /// istiod's admission refuses the filter. Where it gets in, every filter fits the match.
    ///
    /// # How to fix
    /// Name the filter, or delete the match.
    ///
    /// # References
    /// istiod `pkg/config/validation/envoyfilter` (release 1.31); recorded.
    "EF022" "nameless-filter-match" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
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
            Finding::new(rule, span, format!("this {word} match has no name to match on"))
                .note(format!("istiod's admission refuses the filter; where it gets in, every {word} fits"))
                .help(format!("name: {name}"))
                .of(view.filter, Some(view.patch.index)),
        );
    }
}
