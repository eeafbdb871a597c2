//! EF228: the proxies have no object of that kind in that context.

use crate::declare_rule;
use crate::lint::{Confidence, Context, Finding, Findings, RuleInfo, no_match};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::proxy::ProxyKind;

declare_rule! {
    /// A patch for a kind of object that the selected proxies do not have in its context.
    ///
    /// # What it finds
    /// A patch without any object to match: route patches on a proxy without routes on that side, cluster patches for
    /// the inbound side of a gateway or waypoint, routes of a waypoint's service that has a VirtualService. Without
    /// config dumps: HTTP filters and routes of the outbound side of a waypoint that `targetRefs` refer to.
    ///
    /// # Why it matters
    /// The patch does nothing, whatever its match.
    ///
    /// # How to fix
    /// Use the context in which the object exists. Routes of a waypoint's service are patched only while the service
    /// has no VirtualService; otherwise, put the configuration into the VirtualService.
    ///
    /// # References
    /// istio/istio#57035, istio/istio#43720, istio/istio#49863, istio/istio#29893; recorded.
    "EF228" "nothing-to-match" Matching Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for one in no_match::all(cx).into_iter().filter(|one| one.nearest.is_none()) {
        let (apply_to, context) = (one.view.patch.apply_to, one.view.patch.context);
        let waypoint = one.runs.iter().all(|run| run.config.proxy.kind == ProxyKind::Waypoint);
        // istiod patches clusters and routes that no dump shows, so nothing is known about them.
        let id = |run: &&crate::lint::ProxyRun<'_>| run.plan.find(one.view.filter_index, one.view.patch.index);
        if one.runs.iter().any(|run| id(run).is_some_and(|id| run.unknown(id))) {
            continue;
        }
        let routes = matches!(apply_to, ApplyTo::RouteConfiguration | ApplyTo::VirtualHost | ApplyTo::HttpRoute);
        let finding = Finding::new(
            rule,
            one.view.value_span(&["applyTo"]),
            format!("the selected proxies have no object for {apply_to} with context {context}"),
        )
        .of(one.view.filter, Some(one.view.patch.index))
        .label("nothing of this kind")
        .cause(one.cause(cx))
        .ineffective();
        let finding = if one.confidence == Confidence::Certain {
            finding.workloads(one.runs.iter().map(|run| run.label().to_owned()))
        } else {
            finding.judged_on(&["waypoint"])
        };
        // Another rule says why waypoints have no clusters.
        let add = one.view.built.is_some_and(|built| built.operation == Operation::Add);
        if waypoint && apply_to == ApplyTo::Cluster && !add {
            continue;
        }
        out.push(match (waypoint, routes, context) {
            (true, _, PatchContext::SidecarOutbound) if apply_to != ApplyTo::Cluster => finding
                .note("a waypoint receives requests for its services: what it has for them is inbound")
                .help("context: SIDECAR_INBOUND"),
            (true, true, _) => {
                finding.note("istiod never patches the routes of a waypoint's service that has a VirtualService")
            }
            (true, false, _) if apply_to == ApplyTo::Cluster => finding
                .note("only the outbound clusters of a waypoint are patched; ADD needs `context: SIDECAR_INBOUND`"),
            (false, true, PatchContext::SidecarInbound) => finding
                .note("inbound routes exist only for ports that istiod considers HTTP, by port name or appProtocol"),
            _ => finding,
        });
    }
}
