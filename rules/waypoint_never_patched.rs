//! EF327: a patch of what istiod never patches on a waypoint.

use crate::declare_rule;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Finding, Findings, Rule};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::proxy::ProxyKind;

declare_rule! {
    /// A patch of what istiod never patches on a waypoint.
    ///
    /// # What it finds
    /// A CLUSTER MERGE or REMOVE, or a ROUTE_CONFIGURATION, VIRTUAL_HOST or HTTP_ROUTE patch, that met no candidate
    /// on any waypoint its filter attaches to, and applies to nothing else.
    ///
    /// # Why it matters
    /// A waypoint's `inbound-vip` clusters are never patched, nor are the routes of a service that has a
    /// VirtualService.
    ///
    /// # How to fix
    /// Clusters: use a DestinationRule. Routes: put it into the VirtualService or HTTPRoute, or patch the HTTP
    /// filters.
    ///
    /// # References
    /// istio/istio issues 57035, 43720; istiod `cluster.go`, `listener_waypoint.go`, releases 1.22 to 1.31;
    /// recorded.
    "EF327" "waypoint-never-patched" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(built) = view.built else { continue };
        let what = match view.patch.apply_to {
            ApplyTo::Cluster if built.operation != Operation::Add => {
                "the `inbound-vip` clusters of a waypoint are never patched, and it has no others that fit"
            }
            ApplyTo::RouteConfiguration | ApplyTo::VirtualHost | ApplyTo::HttpRoute => {
                "no route configuration of the waypoint is one that istiod patches"
            }
            _ => continue,
        };
        if cx.on_proxies(view.filter_index, view.patch.index).any(|run| run.changes()) {
            continue;
        }
        let untested = |run: &PatchRun<'_, '_>| {
            run.runs()
                && run.run.config.proxy.kind == ProxyKind::Waypoint
                && run.trace.effects.is_empty()
                && run.trace.misses.is_empty()
        };
        let Some(seen) = cx.seen(&view, untested) else { continue };
        if !seen.certain() {
            continue;
        }
        let finding = Finding::new(rule, view.value_span(&["applyTo"]), what)
            .label("never patched on a waypoint")
            .help("use a DestinationRule for clusters, the VirtualService or HTTPRoute for routes")
            .of(view.filter, Some(view.patch.index));
        let finding = seen.tell(finding);
        out.push(finding.ineffective());
    }
}
