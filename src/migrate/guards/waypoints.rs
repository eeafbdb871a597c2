//! Waypoints: istiod attaches an EnvoyFilter to them by `targetRefs` only, but they read routes and rules for the services, and
//! settings of their namespace, like other proxies.

use crate::migrate::base::step::{Cx, Home, Move, Part};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::mesh::{Mesh, Proxies};
use crate::migrate::output::change::Change;
use crate::migrate::output::draft::{Action, existing};
use crate::model::destination::full_host;
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use crate::model::inventory::{KubeGateway, Labels};
use crate::model::proxy::{GATEWAY_NAME_LABEL, USE_WAYPOINT, USE_WAYPOINT_NAMESPACE};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// Adds what a move does to waypoints that the filter does not patch, or patches only in part.
pub(in crate::migrate) fn others(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) {
    if !found.moves || found.is_refused() {
        return;
    }
    of_sidecars(cx, part, found);
    let waypoints = cx.mesh.index.waypoints();
    let of_provider =
        |action: &Action| matches!(action, Action::Mesh(settings) if settings.get("extensionProviders").is_some());
    if !found.is_of_known_provider() && !waypoints.is_empty() && found.actions.iter().any(of_provider) {
        let reason = "waypoints also get the cluster of the new provider's service; nothing there sends requests to it";
        found.difference(Kind::Metadata, reason);
    }
    if !cx.filter.target_refs.is_empty() {
        return of_tunnels(cx, part, found);
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

/// Sidecars that end tunnels have a listener for them, which inbound patches reach and most native objects do not.
fn of_sidecars(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) {
    let inbound = matches!(part.built.patch.context, PatchContext::Any | PatchContext::SidecarInbound);
    let listens = matches!(
        part.apply_to(),
        ApplyTo::Listener
            | ApplyTo::ListenerFilter
            | ApplyTo::FilterChain
            | ApplyTo::NetworkFilter
            | ApplyTo::HttpFilter
    );
    let sidecars = cx.filter.target_refs.is_empty() && part.reach.proxies != Proxies::Gateway;
    if inbound && listens && sidecars && cx.mesh.index.accepts_tunnels() {
        let reason = "sidecars of this mesh accept the tunnels of ambient mode (`ISTIO_META_ENABLE_HBONE`): the filter also reaches their listener `connect_terminate`, which native objects reach in part; the two were not compared there";
        found.guard(Concern::Patch, State::Undecided, reason);
    }
}

/// What a waypoint that the filter names has, or loses, where it ends tunnels.
fn of_tunnels(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) {
    let may = matches!(part.reach.proxies, Proxies::Waypoint | Proxies::Unknown);
    if !may || Mesh::never_attaches(cx.filter) || cx.mesh.attaches_nothing(cx.filter) {
        return;
    }
    let of_pods = |action: &Action| matches!(action, Action::Proxy { .. } | Action::Environment(..));
    let normalizes = |home: &Home| home.is_built_in() && home.field == "normalize_path";
    if found.actions.iter().any(of_pods) {
        let reason = "a waypoint reads the setting also where it ends tunnels (`connect_terminate`), which the filter does not patch";
        found.difference(Kind::Behavior, reason);
    } else if found.homes.iter().any(normalizes) {
        let reason = "istiod does not set `normalize_path` where a waypoint ends tunnels (`connect_terminate`), and the filter does";
        found.difference(Kind::Behavior, reason);
    }
}

/// The waypoints that read something: those with a namespace or a name, or all.
#[derive(Default)]
struct Readers {
    namespace: Option<String>,
    name: Option<String>,
    /// Namespace and name of those that serve its hosts, if that is known.
    serving: Option<BTreeSet<(String, String)>>,
}

impl Readers {
    fn include(&self, waypoint: &KubeGateway) -> bool {
        let is = |wanted: &Option<String>, own: &str| wanted.as_ref().is_none_or(|wanted| wanted == own);
        let own = (waypoint.object.namespace.clone(), waypoint.object.name.clone());
        is(&self.namespace, &own.0)
            && is(&self.name, &own.1)
            && self.serving.as_ref().is_none_or(|serving| serving.contains(&own))
    }
}

/// The waypoint, if any, that serves a host: that of the label on its Service, or else on its namespace. `None` if that is
/// unknown.
pub(in crate::migrate) fn serving(mesh: &Mesh<'_>, host: &str) -> Option<Vec<(String, String)>> {
    // A host of a Service and of a ServiceEntry: which of them counts is unknown.
    let object = mesh.registered(host).filter(|one| one.is_alone(mesh, host))?.object();
    let name = if let Some(name) = object.labels.get(USE_WAYPOINT) {
        Some((name, &object.labels))
    } else {
        let labels = &mesh.inventory.namespace(&object.namespace)?.labels;
        labels.get(USE_WAYPOINT).map(|name| (name, labels))
    };
    let home = |labels: &Labels| labels.get(USE_WAYPOINT_NAMESPACE).unwrap_or(&object.namespace).clone();
    Some(name.into_iter().map(|(name, labels)| (home(labels), name.clone())).collect())
}

/// The waypoints that serve some of the hosts of a route; `None` if that is unknown.
fn serving_any(mesh: &Mesh<'_>, route: &Json) -> Option<BTreeSet<(String, String)>> {
    let (spec, home) = (&route["spec"], route["metadata"]["namespace"].as_str()?);
    let listed = |field: &str| spec[field].as_array().into_iter().flatten();
    let of_parent = |parent: &Json| {
        let namespace = parent["namespace"].as_str().unwrap_or(home);
        (parent["kind"] == "Service").then_some(format!("{}.{namespace}.svc.cluster.local", parent["name"].as_str()?))
    };
    let hosts =
        listed("hosts").map(|host| Some(full_host(host.as_str()?, home))).chain(listed("parentRefs").map(of_parent));
    let all: Option<Vec<_>> = hosts.map(|host| serving(mesh, &host?)).collect();
    Some(all?.into_iter().flatten().collect())
}

/// What of an action waypoints read, and which of them.
fn reach(cx: &Cx<'_>, action: &Action) -> Option<(State, String, Readers)> {
    let selects_all = cx.filter.selector.as_ref().is_none_or(BTreeMap::is_empty);
    let namespace = (cx.filter.namespace != cx.mesh.root).then(|| cx.filter.namespace.clone());
    let near = Readers { namespace, ..Readers::default() };
    match action {
        Action::Object(object) | Action::Rule { object, .. } => routes(&cx.mesh, object),
        Action::Edit { change: Change::Infrastructure(_), .. } => None,
        Action::Edit { object: (kind, namespace, name), .. } => {
            routes(&cx.mesh, &existing(&cx.mesh, (*kind, namespace.as_str(), name.as_str()))?)
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
fn routes(mesh: &Mesh<'_>, object: &Json) -> Option<(State, String, Readers)> {
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
    // A waypoint also has clusters for the destinations of routes, so it may read the rules of any host.
    if kind != "DestinationRule" {
        readers.serving = serving_any(mesh, object);
    }
    if kind != "HTTPRoute" && spec["exportTo"] == json!(["."]) {
        readers.namespace = object["metadata"]["namespace"].as_str().map(str::to_owned);
    }
    reads.then(|| (State::Broken, format!("the {kind}"), readers))
}
