//! Sidecar objects: what they import decides which proxies read a new VirtualService, and which get clusters because of it.

use crate::migrate::base::step::{Cx, Move};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::index::includes;
use crate::migrate::objects::mesh::Mesh;
use crate::migrate::output::draft::Action;
use crate::model::inventory::{Sidecar, Workload};
use serde_json::Value as Json;

/// Refuses a new VirtualService that a Sidecar imports without the service of its host: istiod adds the destinations of imported
/// VirtualServices to the proxy (`sidecar.go`). Also one that the filter's proxies do not import although they import the service.
pub(in crate::migrate) fn check(cx: &Cx<'_>, found: &mut Move) {
    if !found.moves || cx.mesh.inventory.sidecars.is_empty() {
        return;
    }
    let made = found.actions.iter().filter_map(|action| match action {
        Action::Object(object) | Action::Rule { object, .. } if object["kind"] == "VirtualService" => Some(object),
        _ => None,
    });
    let results: Vec<(State, String)> = made.filter_map(|object| result(cx, object)).collect();
    for (state, reason) in results {
        if state == State::Broken {
            found.difference(Kind::Behavior, reason.clone());
        }
        found.guard(Concern::Selector, state, reason);
    }
}

/// What a Sidecar makes of a VirtualService for proxies that it configures: the worst result and why.
fn result(cx: &Cx<'_>, object: &Json) -> Option<(State, String)> {
    let (home, spec) = (object["metadata"]["namespace"].as_str()?, &object["spec"]);
    let hosts: Vec<&str> = spec["hosts"].as_array()?.iter().filter_map(Json::as_str).collect();
    let private = spec["exportTo"] == serde_json::json!(["."]);
    let read_by = |one: &&std::sync::Arc<Sidecar>| is_for(&cx.mesh, one, home) || !private;
    let sidecars = cx.mesh.inventory.sidecars.iter().filter(read_by).filter(|one| !one.egress_hosts.is_empty());
    let within = private.then_some(home);
    let of_sidecar = |sidecar: &std::sync::Arc<Sidecar>| {
        // The default of the root namespace is for proxies of others, which are those of the VirtualService.
        let own = if sidecar.object.namespace == cx.mesh.root { home } else { &sidecar.object.namespace };
        let title = format!("Sidecar {}/{}", sidecar.object.namespace, sidecar.object.name);
        hosts.iter().find_map(|host| {
            let of = cx.mesh.namespace_of_host(host);
            let service = of.is_some_and(|of| imports(sidecar, own, of, host));
            match (imports(sidecar, own, home, host), service) {
                (true, false) => {
                    let reason = format!(
                        "{title} imports VirtualServices of namespace {home}, but not {host}: the new VirtualService would give \
                         its proxies a route and a cluster for that host, which they do not have today"
                    );
                    Some((concerns(cx, sidecar, within, false)?, reason))
                }
                (false, true) => {
                    let reason = format!(
                        "{title} imports {host}, but no VirtualService of namespace {home}: its proxies, which the filter \
                         changes, would not read the new one; add `{home}/{host}` to its egress hosts first"
                    );
                    Some((concerns(cx, sidecar, within, true)?, reason))
                }
                _ => None,
            }
        })
    };
    sidecars.filter_map(of_sidecar).max_by_key(|(state, _)| *state == State::Broken)
}

/// Whether a Sidecar configures proxies of a namespace, or of any: `None` if not, or if the filter does not change them (`changed`).
fn concerns(cx: &Cx<'_>, sidecar: &Sidecar, within: Option<&str>, changed: bool) -> Option<State> {
    let (mesh, inventory) = (&cx.mesh, cx.mesh.inventory);
    if inventory.workloads.is_empty() {
        // A default is for every proxy of its namespace.
        return Some(if sidecar.selector.is_empty() { State::Broken } else { State::Undecided });
    }
    let by_labels = |one: &Sidecar, workload: &Workload| {
        let own = one.object.namespace == workload.object.namespace;
        own && !one.selector.is_empty() && includes(&workload.labels, &one.selector)
    };
    let configures = |workload: &Workload| {
        let namespace = &workload.object.namespace;
        let is_default = || {
            let has_own = || inventory.sidecars.iter().any(|one| is_default(one, namespace));
            sidecar.selector.is_empty()
                && !inventory.sidecars.iter().any(|one| by_labels(one, workload))
                && (sidecar.object.namespace == *namespace || sidecar.object.namespace == mesh.root && !has_own())
        };
        by_labels(sidecar, workload) || is_default()
    };
    let mut workloads = inventory.workloads.iter().filter(|workload| {
        within.is_none_or(|within| workload.object.namespace == within)
            && (!changed || mesh.selects(cx.filter, workload))
            && !mesh.is_gateway(workload)
    });
    workloads.any(|workload| configures(workload)).then_some(State::Broken)
}

fn is_default(sidecar: &Sidecar, of: &str) -> bool {
    sidecar.selector.is_empty() && sidecar.object.namespace == of
}

/// Whether a Sidecar may be for proxies of a namespace: its own, or the default of the root namespace if that has none.
fn is_for(mesh: &Mesh<'_>, sidecar: &Sidecar, namespace: &str) -> bool {
    sidecar.object.namespace == namespace
        || is_default(sidecar, mesh.root) && !mesh.inventory.sidecars.iter().any(|one| is_default(one, namespace))
}

/// Whether a Sidecar of proxies in the namespace `own` imports a host of a namespace (`./*`, `shop/*.example.com`).
fn imports(sidecar: &Sidecar, own: &str, namespace: &str, host: &str) -> bool {
    sidecar.egress_hosts.iter().filter_map(|one| one.split_once('/')).any(|(of, pattern)| {
        let here = of == "*" || of == namespace || of == "." && own == namespace;
        let fits =
            pattern == "*" || pattern == host || pattern.strip_prefix('*').is_some_and(|end| host.ends_with(end));
        here && fits
    })
}
