//! Checks that an object attached like the filter reaches exactly the same proxies.

use super::selected::outside;
use super::whole::waypoints;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::mesh::{Mesh, Proxies};
use crate::migrate::output::draft::attachment;
use crate::model::envoy_filter::PatchContext;
use crate::model::inventory::Kinds;
use serde_json::{Map, Value as Json, json};

/// How an API tells the directions of a sidecar apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::migrate) enum Directions {
    /// `mode` SERVER or CLIENT; gateways count as clients (TrafficExtension, WasmPlugin, Telemetry).
    Mode,
    /// Inbound traffic only (AuthorizationPolicy, RequestAuthentication).
    Inbound,
}

/// Checks selector, references and namespace.
pub(in crate::migrate) fn check(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move, directions: Directions) {
    let (filter, reach) = (cx.filter, &part.reach);
    if Mesh::never_attaches(filter) {
        found.difference(
            Kind::Behavior,
            "the filter does nothing: no release attaches an EnvoyFilter to a Service. The native object takes effect for the first time, on the waypoint of these services",
        );
        return;
    }
    if cx.mesh.attaches_nothing(filter) {
        found.guard(
            Concern::Selector,
            State::Undecided,
            "istiod attaches objects only to GatewayClass `istio-waypoint`, from the root namespace: the filter does nothing, and neither would the native object",
        );
        return;
    }
    tunnels(part, found);
    if directions == Directions::Inbound && reach.context == PatchContext::SidecarOutbound {
        let reason = "policies apply to requests that a workload receives; the filter is for those that it sends";
        found.difference(Kind::Behavior, reason);
        found.guard(Concern::Direction, State::Broken, reason);
    }
    if directions == Directions::Inbound
        && reach.context == PatchContext::Any
        && !matches!(reach.proxies, Proxies::Gateway | Proxies::Waypoint)
    {
        let reason = "the filter also runs for requests that workloads send (outbound); a policy does not";
        found.difference(Kind::Behavior, reason);
        found.guard(Concern::Direction, State::Broken, reason);
    }
    if Mesh::is_narrow(filter) {
        if let Some(reason) = outside(cx, reach.context) {
            found.difference(
                Kind::Behavior,
                format!("the native object also applies where the filter does not: {reason}"),
            );
            found.guard(Concern::Selector, State::Broken, reason);
        } else {
            found.guard(Concern::Selector, State::Held, "the object attaches the same way as the filter");
        }
        return;
    }
    unselected(cx, part, found, directions);
}

/// What an HTTP filter on a waypoint sees that no native object does.
pub(in crate::migrate) fn tunnels(part: &Part<'_>, found: &mut Move) {
    if part.reach.proxies == Proxies::Waypoint {
        found.difference(
            Kind::Behavior,
            "the filter also runs on the tunnel's outer CONNECT request, which is not an application request; the native object does not",
        );
    }
}

/// A filter for everything in its namespace, or in the mesh.
fn unselected(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move, directions: Directions) {
    let (filter, context) = (cx.filter, part.reach.context);
    let mesh_wide = cx.mesh.is_mesh_wide(filter);
    let place = if mesh_wide { "the mesh".to_owned() } else { format!("namespace {}", filter.namespace) };
    let Kinds { gateways, sidecars } = cx.mesh.inventory.kinds((!mesh_wide).then_some(filter.namespace.as_str()));
    let known = !cx.mesh.inventory.workloads.is_empty();
    let (widens, whom) = match (context, directions) {
        (PatchContext::Gateway, _) => (sidecars || mesh_wide, "sidecars"),
        // Gateways have no inbound side; a mode SERVER does not reach them.
        (PatchContext::SidecarInbound, Directions::Mode) => (false, "gateways"),
        (PatchContext::SidecarInbound, Directions::Inbound) | (PatchContext::SidecarOutbound, _) => {
            (gateways || mesh_wide, "gateways")
        }
        _ => (false, ""),
    };
    if widens {
        let reason = format!("without a selector the object also applies to {whom} in {place}");
        if context == PatchContext::Gateway {
            found
                .notes
                .push("an EnvoyFilter with the labels of its gateways as `workloadSelector` can move".to_owned());
        }
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Selector, State::Broken, reason);
    } else if !known && !whom.is_empty() && (context != PatchContext::SidecarInbound || directions != Directions::Mode)
    {
        found.guard(
            Concern::Selector,
            State::Undecided,
            format!("without a selector the object would also apply to {whom} in {place}, if there are any"),
        );
    } else {
        found.guard(Concern::Selector, State::Held, "the object attaches the same way as the filter");
    }
    if mesh_wide {
        waypoints(cx, found, "the whole mesh");
    }
}

/// Directions and ports of an extension (`match`); `None` if its API cannot express them.
pub(in crate::migrate) fn traffic(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) -> Map<String, Json> {
    let reach = &part.reach;
    let mut one = Map::new();
    match reach.context {
        PatchContext::SidecarInbound if reach.proxies != Proxies::Waypoint => {
            one.insert("mode".to_owned(), "SERVER".into());
        }
        PatchContext::SidecarOutbound => {
            one.insert("mode".to_owned(), "CLIENT".into());
        }
        _ => {}
    }
    if let Some(port) = reach.port {
        one.insert("ports".to_owned(), json!([{ "number": port }]));
        if reach.proxies == Proxies::Waypoint {
            found.guard(Concern::Ports, State::Broken, "extensions on waypoints cannot match ports");
        }
    }
    if let Some(narrowed) = &reach.narrowed {
        let reason = format!("extensions select by port, not by {narrowed}: more requests would reach it");
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Ports, State::Broken, reason);
    }
    let mut spec = attachment(cx.filter);
    if !one.is_empty() {
        spec.insert("match".to_owned(), json!([one]));
    }
    spec
}
