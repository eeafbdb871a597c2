//! Whether a setting of the whole proxy, or of the mesh, reaches the same as a filter.

use super::selected::outside;
use crate::migrate::base::catalog::{self, Pattern};
use crate::migrate::base::step::{Cx, Home, Move, Part};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::mesh::{Mesh, Proxies};
use crate::model::envoy_filter::PatchContext;

/// Which proxies read a setting, and where it applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::migrate) enum Reads {
    /// Every HTTP connection manager of the proxy.
    All,
    /// Gateways only.
    Gateways,
    /// The inbound side of sidecars only.
    Inbound,
}

/// The guard that says so.
pub(in crate::migrate) const MESH_WIDE: &str = "the mesh default reaches every sidecar and gateway, as the filter does";

/// A mesh setting also reaches waypoints, to which a filter without targetRefs never attaches.
pub(in crate::migrate) fn waypoints(cx: &Cx<'_>, found: &mut Move, what: &str) {
    match cx.mesh.index.waypoints().first() {
        Some(one) => found.guard(
            Concern::Selector,
            State::Broken,
            format!(
                "the mesh setting for {what} also reaches waypoint {}/{}, to which the filter does not attach",
                one.object.namespace, one.object.name
            ),
        ),
        None => found.guard(Concern::Selector, State::Held, MESH_WIDE),
    }
}

/// Counts a move to a pattern, the first one if it has several, and adds what the pattern does to its title.
pub(in crate::migrate) fn of_pattern(found: &mut Move, pattern: &'static Pattern) {
    titled(found, pattern, pattern.title);
}

/// As `of_pattern`, for a setting that the title of its pattern does not name.
pub(in crate::migrate) fn titled(found: &mut Move, pattern: &'static Pattern, title: &'static str) {
    found.set(title);
    if found.pattern == &catalog::OTHER || found.homes.iter().all(Home::is_built_in) {
        found.pattern = pattern;
    }
}

/// Whether a setting of the whole proxy reaches the same as the filter.
pub(in crate::migrate) fn whole_proxy(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move, reads: Reads, what: &str) {
    let reach = &part.reach;
    if let Some(narrowed) = &reach.narrowed {
        let reason = format!("{what} applies to the whole proxy; the filter is for one part of it ({narrowed})");
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Ports, State::Broken, reason);
    } else if let Some(port) = reach.port {
        let reason = format!("{what} applies to every port of the proxy; the filter is for port {port} only");
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Ports, State::Broken, reason);
    }
    match (reach.proxies, reads) {
        (Proxies::Gateway, Reads::All | Reads::Gateways) => {}
        (Proxies::Gateway, Reads::Inbound) => {}
        (Proxies::Sidecar | Proxies::Waypoint, Reads::Gateways) => {
            let reason = format!("sidecars and waypoints do not read {what}: the setting would be lost");
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Patch, State::Broken, reason);
        }
        (Proxies::Sidecar, Reads::Inbound) if reach.context == PatchContext::SidecarInbound => {}
        (Proxies::Sidecar, _) => match reach.context {
            PatchContext::Any if reads == Reads::Inbound => {
                let reason = format!(
                    "only the inbound side of sidecars reads {what}: the setting is lost for requests that workloads send"
                );
                found.difference(Kind::Behavior, reason.clone());
                found.guard(Concern::Authentication, State::Review, reason);
            }
            PatchContext::Any => {}
            context => {
                let other = if context == PatchContext::SidecarInbound {
                    "requests that the application sends (outbound)"
                } else {
                    "requests that the application receives (inbound)"
                };
                let reason = format!("{what} has no direction: it also applies to {other}");
                found.difference(Kind::Behavior, reason.clone());
                found.guard(Concern::Direction, State::Broken, reason);
            }
        },
        (Proxies::Waypoint, _) => {
            let reason = format!("{what} was not compared on waypoints");
            found.guard(Concern::Patch, State::Undecided, reason);
        }
        (Proxies::Both, Reads::All) if cx.mesh.is_mesh_wide(cx.filter) && reach.context == PatchContext::Any => {
            waypoints(cx, found, what);
        }
        (Proxies::Both, Reads::All) => {}
        (Proxies::Both, _) => {
            let of = if reads == Reads::Gateways { "gateways" } else { "gateways and the inbound side of sidecars" };
            let reason =
                format!("only {of} read {what}: on the other proxies of the filter, the setting would be lost");
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Patch, State::Broken, reason);
        }
        (Proxies::Unknown, _) => found.guard(
            Concern::Patch,
            State::Undecided,
            format!(
                "the input does not say whether {} gateways or sidecars, which read such settings differently",
                selects(cx)
            ),
        ),
    }
    if let Some(reason) = outside(cx, reach.context).filter(|_| reads != Reads::Gateways && Mesh::is_narrow(cx.filter))
    {
        found.difference(Kind::Behavior, format!("{what} also applies where the filter does not: {reason}"));
        found.guard(Concern::Selector, State::Broken, reason);
    }
    if part.reach.proxies == Proxies::Gateway && !Mesh::is_narrow(cx.filter) {
        let note = "the filter has no selector: set the annotation on every gateway of its namespaces".to_owned();
        if !found.notes.contains(&note) {
            found.notes.push(note);
        }
    }
}

/// The selector of a filter, or the filter, with its verb.
fn selects(cx: &Cx<'_>) -> String {
    let pairs: Vec<String> = cx.filter.selector.iter().flatten().map(|(key, value)| format!("{key}={value}")).collect();
    if pairs.is_empty() { "the filter is for".to_owned() } else { format!("`{}` selects", pairs.join(",")) }
}
