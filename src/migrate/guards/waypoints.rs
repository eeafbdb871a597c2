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
    let waypoints = cx.mesh.index.waypoints();
    if !found.moves || found.is_refused() || waypoints.is_empty() {
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
        if (pods || paths) && waypoints.iter().any(|one| named(one)) {
            let reason = if pods {
                "a waypoint reads the setting also where it ends tunnels (`connect_terminate`), which the filter does not patch"
            } else {
                "istiod does not set `normalize_path` where a waypoint ends tunnels (`connect_terminate`), and the filter does"
            };
            found.difference(Kind::Behavior, reason);
        }
        return;
    }
    let mut reached = found.actions.iter().filter_map(|action| {
        let (state, what, readers) = reach(cx, action)?;
        Some((waypoints.iter().find(|one| readers.include(one))?, state, what))
    });
    let Some((waypoint, state, what)) = reached.next() else { return };
    let reason = format!(
        "waypoint {}/{} also reads {what}, and the filter does not attach to it",
        waypoint.object.namespace, waypoint.object.name
    );
    if state == State::Broken {
        found.difference(Kind::Behavior, reason.clone());
    }
    found.guard(Concern::Selector, state, reason);
}

/// The waypoints that read something: those with a namespace or a name, or all.
#[derive(Default)]
struct Readers {
    namespace: Option<String>,
    name: Option<String>,
}

impl Readers {
    fn include(&self, waypoint: &KubeGateway) -> bool {
        let is = |wanted: &Option<String>, own: &str| wanted.as_ref().is_none_or(|wanted| wanted == own);
        is(&self.namespace, &waypoint.object.namespace) && is(&self.name, &waypoint.object.name)
    }
}

/// What of an action waypoints read, and which of them.
fn reach(cx: &Cx<'_>, action: &Action) -> Option<(State, String, Readers)> {
    let selects_all = cx.filter.selector.as_ref().is_none_or(BTreeMap::is_empty);
    let namespace = (cx.filter.namespace != cx.mesh.root).then(|| cx.filter.namespace.clone());
    let near = Readers { namespace, name: None };
    match action {
        Action::Object(object) | Action::Rule { object, .. } => routes(object),
        Action::Edit { change: Change::Infrastructure(_), .. } => None,
        Action::Edit { object: (kind, namespace, name), .. } => {
            routes(&existing(&cx.mesh, (*kind, namespace.as_str(), name.as_str()))?)
        }
        Action::Environment(..) if selects_all => {
            Some((State::Broken, "a ProxyConfig for every workload of its namespace".to_owned(), near))
        }
        Action::Proxy { gateways: false, .. } if selects_all => {
            let what = "the annotation if its pods get it, as every workload of the namespace";
            Some((State::Undecided, what.to_owned(), near))
        }
        _ => None,
    }
}

/// A route or rule for services, and which waypoints read it.
fn routes(object: &Json) -> Option<(State, String, Readers)> {
    let (kind, spec) = (object["kind"].as_str()?, &object["spec"]);
    let mut readers = Readers::default();
    let reads = match kind {
        "VirtualService" => {
            let gateways = spec["gateways"].as_array();
            gateways.is_none_or(|all| all.is_empty() || all.iter().any(|one| one == "mesh"))
        }
        "DestinationRule" => {
            let labels = spec.pointer("/workloadSelector/matchLabels").and_then(Json::as_object);
            let name = labels.and_then(|labels| labels.get(GATEWAY_NAME_LABEL));
            readers.name = name.and_then(Json::as_str).map(str::to_owned);
            labels.is_none_or(|labels| labels.keys().all(|key| key == GATEWAY_NAME_LABEL))
        }
        "HTTPRoute" => {
            let parents = spec["parentRefs"].as_array().into_iter().flatten();
            parents.into_iter().any(|parent| parent["kind"] == "Service")
        }
        _ => false,
    };
    if kind != "HTTPRoute" && spec["exportTo"] == json!(["."]) {
        readers.namespace = object["metadata"]["namespace"].as_str().map(str::to_owned);
    }
    reads.then(|| (State::Broken, format!("the {kind}"), readers))
}
