//! Waypoints: istiod attaches an EnvoyFilter to them by `targetRefs` only, but they read routes and rules for the services, and
//! settings of their namespace, like other proxies.

use crate::migrate::base::step::{Cx, Home, Move};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::output::change::Change;
use crate::migrate::output::draft::{Action, existing};
use crate::model::inventory::KubeGateway;
use crate::model::proxy::GATEWAY_NAME_LABEL;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Adds what a move does to waypoints that the filter does not patch, or patches only in part.
pub(in crate::migrate) fn others(cx: &Cx<'_>, found: &mut Move) {
    let mut waypoints = cx.mesh.inventory.kube_gateways.iter().filter(|one| one.class.contains("waypoint"));
    if !found.moves || found.is_refused() {
        return;
    }
    if !cx.filter.target_refs.is_empty() {
        let of_pods = |action: &Action| matches!(action, Action::Proxy { .. } | Action::Environment(..));
        let normalizes = |home: &Home| (home.kind, home.field.as_str()) == ("built in", "normalize_path");
        let named = |one: &KubeGateway| {
            one.object.namespace == cx.filter.namespace
                && cx.filter.target_refs.iter().any(|target| target.name == one.object.name)
        };
        let (pods, paths) = (found.actions.iter().any(of_pods), found.homes.iter().any(normalizes));
        if (pods || paths) && waypoints.any(|one| named(one)) {
            let reason = if pods {
                "a waypoint reads the setting also where it ends tunnels (`connect_terminate`), which the filter does not patch"
            } else {
                "istiod does not set `normalize_path` where a waypoint ends tunnels (`connect_terminate`), and the filter does"
            };
            found.difference(Kind::Behavior, reason);
        }
        return;
    }
    let reached =
        waypoints.find_map(|one| Some((one, found.actions.iter().find_map(|action| reach(cx, action, one))?)));
    let Some((waypoint, (state, what))) = reached else { return };
    let reason = format!(
        "waypoint {}/{} also reads {what}, and the filter does not attach to it",
        waypoint.object.namespace, waypoint.object.name
    );
    if state == State::Broken {
        found.difference(Kind::Behavior, reason.clone());
    }
    found.guard(Concern::Selector, state, reason);
}

/// What of an action a waypoint reads.
fn reach(cx: &Cx<'_>, action: &Action, waypoint: &KubeGateway) -> Option<(State, String)> {
    let selects_all = cx.filter.selector.as_ref().is_none_or(BTreeMap::is_empty);
    let near = cx.filter.namespace == cx.mesh.root || cx.filter.namespace == waypoint.object.namespace;
    match action {
        Action::Object(object) | Action::Rule { object, .. } => routes(object, waypoint),
        Action::Edit { change: Change::Infrastructure(_), .. } => None,
        Action::Edit { object: (kind, namespace, name), .. } => {
            routes(&existing(&cx.mesh, (*kind, namespace.as_str(), name.as_str()))?, waypoint)
        }
        Action::Environment(..) if selects_all && near => {
            Some((State::Broken, "a ProxyConfig for every workload of its namespace".to_owned()))
        }
        Action::Proxy { gateways: false, .. } if selects_all && near => {
            Some((State::Undecided, "the annotation if its pods get it, as every workload of the namespace".to_owned()))
        }
        _ => None,
    }
}

/// A route or rule for services, if a waypoint reads it.
fn routes(object: &Json, waypoint: &KubeGateway) -> Option<(State, String)> {
    let (kind, spec) = (object["kind"].as_str()?, &object["spec"]);
    let reads = match kind {
        "VirtualService" => {
            let gateways = spec["gateways"].as_array();
            gateways.is_none_or(|all| all.is_empty() || all.iter().any(|one| one == "mesh"))
        }
        "DestinationRule" => {
            let labels = spec.pointer("/workloadSelector/matchLabels").and_then(Json::as_object);
            labels.is_none_or(|labels| {
                labels.iter().all(|(key, value)| key == GATEWAY_NAME_LABEL && *value == waypoint.object.name.as_str())
            })
        }
        "HTTPRoute" => {
            let parents = spec["parentRefs"].as_array().into_iter().flatten();
            parents.into_iter().any(|parent| parent["kind"] == "Service")
        }
        _ => false,
    };
    let private = kind != "HTTPRoute" && spec["exportTo"] == json!(["."]);
    let near = !private || object["metadata"]["namespace"] == waypoint.object.namespace.as_str();
    (reads && near).then(|| (State::Broken, format!("the {kind}")))
}
