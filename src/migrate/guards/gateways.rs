//! Objects of gateways: an edited Gateway or VirtualService configures every gateway that it names, not only those of a filter.

use crate::migrate::base::step::{Cx, Move};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::index::includes;
use crate::migrate::objects::mesh::Served;
use crate::migrate::output::draft::Action;
use crate::model::inventory::Gateway;
use std::collections::BTreeSet;

/// The servers of the gateways that a filter selects. Without their Gateway it is undecided what an edit would change.
pub(in crate::migrate) fn servers<'a>(cx: &Cx<'a>, found: &mut Move) -> Option<Vec<Served<'a>>> {
    let servers = cx.mesh.servers(cx.filter);
    if servers.is_none() {
        let reason = "the Gateway is not in the input: add it so that it can be edited";
        found.guard(Concern::Existing, State::Undecided, reason);
    }
    servers
}

/// Refuses an edit of a server that pods of the gateway open on other ports than the one that the filter names.
pub(in crate::migrate) fn other_ports(found: &mut Move, one: &Served<'_>, port: u32, ports: &BTreeSet<u32>) {
    let Some(other) = ports.iter().find(|other| **other != port) else { return };
    let object = &one.gateway.object;
    let reason = format!(
        "the edit also reaches pods that open the server of Gateway {}/{} on port {other}, because of the Services that \
         select them; the filter is for port {port}",
        object.namespace, object.name
    );
    found.difference(Kind::Behavior, reason.clone());
    found.guard(Concern::Ports, State::Broken, reason);
}

/// Refuses an edit that reaches a gateway which the filter does not select.
pub(in crate::migrate) fn others(cx: &Cx<'_>, found: &mut Move) {
    if !found.moves {
        return;
    }
    for gateway in edited(cx, found) {
        let name = format!("{}/{}", gateway.object.namespace, gateway.object.name);
        let mut pods = cx.mesh.inventory.labelled(&gateway.selector).peekable();
        if pods.peek().is_none() {
            let narrower = cx.filter.selector.as_ref().is_some_and(|labels| !includes(&gateway.selector, labels));
            if narrower {
                found.guard(
                    Concern::Selector,
                    State::Undecided,
                    format!(
                        "Gateway {name} selects pods by fewer labels than the filter: it is unknown whether others serve it too"
                    ),
                );
            }
            continue;
        }
        if let Some(other) = pods.find(|workload| !cx.mesh.selects(cx.filter, workload)) {
            let reason = format!(
                "the edit also reaches {} {}/{}, which serves Gateway {name} and which the filter does not select",
                other.object.kind, other.object.namespace, other.object.name
            );
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Selector, State::Broken, reason);
        }
    }
}

/// The Gateways that are edited, and those of the edited VirtualServices.
fn edited<'a>(cx: &Cx<'a>, found: &Move) -> Vec<&'a Gateway> {
    let inventory = cx.mesh.inventory;
    let mut wanted: BTreeSet<(String, String)> = BTreeSet::new();
    for action in &found.actions {
        let Action::Edit { object: (kind, namespace, name), .. } = action else { continue };
        match *kind {
            "Gateway" => {
                wanted.insert((namespace.clone(), name.clone()));
            }
            "VirtualService" => {
                let is = |one: &&std::sync::Arc<crate::model::inventory::VirtualService>| {
                    one.object.namespace == *namespace && one.object.name == *name
                };
                for gateway in inventory.virtual_services.iter().find(is).into_iter().flat_map(|one| &one.gateways) {
                    let (of, name) = gateway.split_once('/').unwrap_or((namespace, gateway));
                    wanted.insert((of.to_owned(), name.to_owned()));
                }
            }
            _ => {}
        }
    }
    let is = |one: &&Gateway| wanted.contains(&(one.object.namespace.clone(), one.object.name.clone()));
    if wanted.is_empty() { Vec::new() } else { inventory.gateways.iter().map(AsRef::as_ref).filter(is).collect() }
}
