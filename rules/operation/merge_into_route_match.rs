//! EF344: a MERGE that changes which requests routes match.

use crate::declare_rule;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, RuleInfo, names};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch};
use std::collections::BTreeSet;

declare_rule! {
    /// An HTTP_ROUTE MERGE whose value has a `match`, which selects no route but changes every one.
    ///
    /// # What it finds
    /// HTTP_ROUTE with MERGE and `match` in `patch.value`. It is silent if the patch selects one route by its name.
    ///
    /// # Why it matters
    /// `patch.value.match` is no condition of the patch: istiod writes it into all routes that the patch selects.
    /// Requests that a route matched before get 404, or another route.
    ///
    /// # How to fix
    /// Select routes in the patch's own `match` (`routeConfiguration.vhost.route.name`), or give paths of their own a route with
    /// INSERT_FIRST.
    ///
    /// # References
    /// istiod's `patchHTTPRoute` in every supported release; tested with Envoy 1.38.2.
    "EF344" "merge-into-route-match" Operation Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::HttpRoute) {
        let Some(built) = view.built.filter(|built| built.operation.is_merge()) else { continue };
        if built.value.as_ref().is_none_or(|value| value.get("match").is_none()) {
            continue;
        }
        if let ObjectMatch::RouteConfiguration(wanted) = &view.patch.object
            && let Some(route) = wanted.vhost.as_ref().and_then(|vhost| vhost.route.as_ref())
            && !route.name.is_empty()
        {
            continue;
        }
        let mut finding = view
            .finding(
                rule,
                view.value_path_span("match"),
                "`match` in the value does not select routes: this MERGE changes what every route matches",
            )
            .label("written into the routes")
            .note("requests that a route no longer matches get the next route that does, or 404")
            .help("select routes with match.routeConfiguration.vhost.route.name, or insert a route of your own with INSERT_FIRST");
        if let Some(seen) = cx.seen(&view, PatchRun::changes) {
            let routes: BTreeSet<String> = seen
                .runs
                .iter()
                .flat_map(|run| run.trace.effects.iter().filter(|(_, effect)| effect.changes()))
                .filter_map(|(place, _)| {
                    let (_, route) = place.route.as_ref()?;
                    Some(format!("{} › {route}", place.vhost.as_deref().unwrap_or_default()))
                })
                .collect();
            if seen.certain() && !routes.is_empty() {
                finding = finding.note(format!("routes: {}", names::listed(routes.iter().map(String::as_str), 6)));
            }
            finding = seen.tell(finding);
        }
        out.push(finding);
    }
}
