//! Sidecar objects: what they import decides which proxies read a new VirtualService, and which get clusters because of it.

use crate::migrate::base::step::{Cx, Move};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::mesh::Mesh;
use crate::migrate::output::draft::Action;
use crate::model::inventory::Sidecar;
use serde_json::Value as Json;

/// Refuses a new VirtualService that a Sidecar imports without the service of its host: istiod adds the destinations of imported
/// VirtualServices to the proxy (`sidecar.go`). Also one that a Sidecar does not import although it imports the service.
pub(in crate::migrate) fn check(cx: &Cx<'_>, found: &mut Move) {
    if !found.moves || cx.mesh.inventory.sidecars.is_empty() {
        return;
    }
    let made = found.actions.iter().filter_map(|action| match action {
        Action::Object(object) | Action::Rule { object, .. } if object["kind"] == "VirtualService" => Some(object),
        _ => None,
    });
    let reasons: Vec<String> = made.filter_map(|object| reason(cx, object)).collect();
    for reason in reasons {
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Selector, State::Broken, reason);
    }
}

fn reason(cx: &Cx<'_>, object: &Json) -> Option<String> {
    let (home, spec) = (object["metadata"]["namespace"].as_str()?, &object["spec"]);
    let hosts: Vec<&str> = spec["hosts"].as_array()?.iter().filter_map(Json::as_str).collect();
    let private = spec["exportTo"] == serde_json::json!(["."]);
    let read_by = |one: &&std::sync::Arc<Sidecar>| is_for(&cx.mesh, one, home) || !private;
    for sidecar in cx.mesh.inventory.sidecars.iter().filter(read_by).filter(|one| !one.egress_hosts.is_empty()) {
        // The default of the root namespace is for proxies of others, which are those of the VirtualService.
        let own = if sidecar.object.namespace == cx.mesh.root { home } else { &sidecar.object.namespace };
        for host in &hosts {
            let service = cx.mesh.namespace_of_host(host).is_some_and(|of| imports(sidecar, own, of, host));
            let of = &sidecar.object;
            let (namespace, name) = (&of.namespace, &of.name);
            match (imports(sidecar, own, home, host), service) {
                (true, false) => {
                    return Some(format!(
                        "Sidecar {namespace}/{name} imports VirtualServices of namespace {home}, but not {host}: the new \
                         VirtualService would give its proxies a route and a cluster for that host, which they do not have today"
                    ));
                }
                (false, true) => {
                    return Some(format!(
                        "Sidecar {namespace}/{name} imports {host}, but no VirtualService of namespace {home}: its proxies \
                         would not read the new one"
                    ));
                }
                _ => {}
            }
        }
    }
    None
}

/// Whether a Sidecar may be for proxies of a namespace: its own, or the default of the root namespace if that has none.
fn is_for(mesh: &Mesh<'_>, sidecar: &Sidecar, namespace: &str) -> bool {
    let is_default = |one: &Sidecar, of: &str| one.selector.is_empty() && one.object.namespace == of;
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
