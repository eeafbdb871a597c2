//! Filters that select nothing of the input, or waypoints to which they do not attach: what they do today is nothing or unknown.

use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::mesh::{Mesh, Proxies};
use crate::model::envoy_filter::PatchContext;
use crate::model::inventory::Workload;
use crate::model::proxy::{GATEWAY_NAME_LABEL, ProxyKind};

/// Checks what the selector or the references of a filter find.
pub(in crate::migrate) fn check(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) {
    undiscovered(cx, found);
    selects_none(cx, found);
    names_no_gateway(cx, found);
    names_waypoint(cx, found);
    names_other_kind(cx, part, found);
}

/// A namespace that `discoverySelectors` leave out: istiod does not read the filter. Settings of the mesh and of pods, which may
/// replace it, work.
fn undiscovered(cx: &Cx<'_>, found: &mut Move) {
    if !found.moves || found.is_refused() {
        return;
    }
    let namespace = &cx.filter.namespace;
    match cx.mesh.index.is_discovered(namespace) {
        Some(true) => {}
        Some(false) => {
            let reason = format!(
                "istiod does not read the filter: `discoverySelectors` leave out namespace {namespace}; what replaces it may work"
            );
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Patch, State::Broken, reason);
        }
        None => found.guard(
            Concern::Patch,
            State::Undecided,
            format!(
                "it is unknown whether `discoverySelectors` leave out namespace {namespace}: its Namespace is not in the input"
            ),
        ),
    }
}

/// References to waypoints by a patch for gateways, or the reverse: it does nothing there, and what replaces it works.
fn names_other_kind(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) {
    let (kind, named) = match part.reach.proxies {
        Proxies::Waypoint => (ProxyKind::Waypoint, "waypoints"),
        Proxies::Gateway => (ProxyKind::Gateway, "gateways"),
        _ => return,
    };
    let context = part.built.patch.context;
    let referred = !cx.filter.target_refs.is_empty() && !Mesh::never_attaches(cx.filter);
    if referred && found.moves && !found.is_refused() && kind.ignores(context) {
        let reason = format!(
            "the filter does nothing on the {named} that it names, which context {context} leaves out; what replaces it works there"
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Selector, State::Broken, reason);
    }
}

/// A workload that a filter selects and to which its patch does not apply: a gateway or a sidecar that its context leaves out.
pub(in crate::migrate) fn outside(cx: &Cx<'_>, context: PatchContext) -> Option<String> {
    // Waypoints, which only references name, have the contexts of sidecars.
    if !cx.filter.target_refs.is_empty() {
        return None;
    }
    let kind = |one: &&Workload| if cx.mesh.is_gateway(one) { ProxyKind::Gateway } else { ProxyKind::Sidecar };
    let odd = cx.mesh.workloads(cx.filter).find(|workload| kind(workload).ignores(context))?;
    let (kind, namespace, name) = (&odd.object.kind, &odd.object.namespace, &odd.object.name);
    Some(format!("{kind} {namespace}/{name} has the labels but not the context {context} of the filter"))
}

/// istiod attaches an EnvoyFilter to a waypoint by `targetRefs` only; settings of its pods and rules for them work.
fn names_waypoint(cx: &Cx<'_>, found: &mut Move) {
    let Some(name) = cx.filter.selector.as_ref().and_then(|labels| labels.get(GATEWAY_NAME_LABEL)) else { return };
    let near = |namespace: &str| cx.filter.namespace == cx.mesh.root || cx.filter.namespace == namespace;
    let mut gateways = cx.mesh.inventory.kube_gateways.iter();
    let waypoint = gateways.find(|one| one.object.name == *name && near(&one.object.namespace) && one.is_waypoint());
    if let Some(one) = waypoint.filter(|_| found.moves && cx.filter.target_refs.is_empty() && !found.is_refused()) {
        let reason = format!(
            "the filter does nothing on waypoint {}/{}, to which only `targetRefs` attach it; what replaces it may work there",
            one.object.namespace, one.object.name
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Selector, State::Broken, reason);
    }
}

/// Without a workload that a filter selects, nothing shows what it does today.
fn selects_none(cx: &Cx<'_>, found: &mut Move) {
    let Some(labels) = cx.filter.selector.as_ref().filter(|labels| !labels.is_empty()) else { return };
    let known = !cx.mesh.inventory.workloads.is_empty();
    if !found.moves || found.is_refused() || !known || cx.mesh.workloads(cx.filter).next().is_some() {
        return;
    }
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let place = if cx.filter.namespace == cx.mesh.root {
        "in the input".to_owned()
    } else {
        format!("in namespace {} of the input", cx.filter.namespace)
    };
    found.guard(
        Concern::Selector,
        State::Undecided,
        format!("no workload {place} has the labels {}: what the filter does today is unknown", labels.join(",")),
    );
}

/// istiod looks for the Gateway of `targetRefs` in the namespace of the filter, also in the root namespace.
fn names_no_gateway(cx: &Cx<'_>, found: &mut Move) {
    let (filter, gateways) = (cx.filter, &cx.mesh.inventory.kube_gateways);
    let named = || gateways.iter().any(|one| Mesh::refers_to(filter, (&one.object.namespace, &one.object.name)));
    let [target] = filter.target_refs.as_slice() else { return };
    if !found.moves || found.is_refused() {
        return;
    }
    if target.kind == "Gateway" && !gateways.is_empty() && !named() && cx.mesh.workloads(filter).next().is_none() {
        let reason = format!(
            "namespace {} of the input has no Gateway {}, and istiod looks for it only there: what the filter does today is unknown",
            filter.namespace, target.name
        );
        found.guard(Concern::Selector, State::Undecided, reason);
    }
}
