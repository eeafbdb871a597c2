//! Where a sidecar's filters can move in ambient mode: to a waypoint, to ztunnel, or nowhere, which blocks the move.

use super::draft::Action;
use super::rest;
use crate::engine::program::Status;
use crate::migrate::base::step::{Cx, Move, NOTHING, Part};
use crate::migrate::base::value::has_entry;
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::index::includes;
use crate::migrate::objects::mesh::{Protocol, Proxies};
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use crate::model::inventory::{Service, Workload};
use crate::model::proxy::USE_WAYPOINT;
use crate::source::ErrorMessage;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// The place of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// It is for gateways or waypoints, which ambient mode does not change.
    Unaffected,
    /// Nothing replaces it, and nothing needs to.
    NotNeeded,
    /// ztunnel does it.
    Ztunnel,
    /// A native object on a waypoint.
    Waypoint,
    /// Only an EnvoyFilter on a waypoint.
    WaypointFilter,
    /// Impossible without sidecars.
    Blocked,
}

impl Place {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Place::Unaffected => "unaffected",
            Place::NotNeeded => "not-needed",
            Place::Ztunnel => "ztunnel",
            Place::Waypoint => "waypoint",
            Place::WaypointFilter => "waypoint-envoyfilter",
            Place::Blocked => "blocked",
        }
    }

    /// As text.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Place::Unaffected => "not affected",
            Place::NotNeeded => "not needed",
            Place::Ztunnel => "in ztunnel",
            Place::Waypoint => "on a waypoint",
            Place::WaypointFilter => "on a waypoint, as an EnvoyFilter",
            Place::Blocked => "blocks the move",
        }
    }
}

/// The place of a patch, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The place.
    pub place: Place,
    /// The reason, as a sentence.
    pub reason: String,
}

fn at(place: Place, reason: impl Into<String>) -> Placement {
    Placement { place, reason: reason.into() }
}

const CALLER: &str = "a waypoint handles requests to the called service, from all of its callers; the caller's side has only ztunnel, which does not read HTTP";

const OWN_ROUTES: &str = "an EnvoyFilter with targetRefs to the waypoint's Gateway and context SIDECAR_INBOUND can patch the routes of all services of that waypoint, but not those of a service with a VirtualService or an HTTPRoute, and its route tables have other names (`inbound-vip|PORT|http|HOST`)";

const CALLS: &str = "the script calls a cluster, and a waypoint has no clusters of other services: an EnvoyFilter with targetRefs to the waypoint's Gateway can run the script, and the annotation `envoyfilter.istio.io/referenced-services` adds the clusters (Istio 1.26)";

const OWN_FILTER: &str = "a waypoint has no known native setting for it: an EnvoyFilter with targetRefs to the waypoint's Gateway and context SIDECAR_INBOUND can do it. It then applies to every service of that waypoint: give these services a waypoint of their own";

const OWN_CLUSTER: &str = "no ServiceEntry is written for it: an EnvoyFilter with targetRefs to the waypoint's Gateway and context SIDECAR_INBOUND can add the cluster for the filters of that waypoint";

const REFUSED: &str = "the native object is refused (see the reason): an EnvoyFilter with targetRefs to the waypoint's Gateway and context SIDECAR_INBOUND can do it for every service of that waypoint";

/// Finds the place of a patch, and adapts the move's objects.
pub(in crate::migrate) fn place(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) -> Placement {
    match part.reach.proxies {
        Proxies::Gateway => return at(Place::Unaffected, "gateways stay as they are in ambient mode"),
        Proxies::Waypoint => return at(Place::Unaffected, "it is already on a waypoint"),
        _ => {}
    }
    let placement = of_pattern(cx, part, found);
    // Only moves to a waypoint or ztunnel are written; what would differ in a sidecar says nothing about the others.
    if !matches!(placement.place, Place::Waypoint | Place::Ztunnel | Place::NotNeeded) {
        if found.moves {
            found.notes.clear();
        }
        found.guards.retain(|guard| guard.state == State::Broken && placement.reason == REFUSED);
        found.differences.clear();
        found.homes.clear();
        found.actions.clear();
        found.instead = None;
        found.rest = None;
        found.moves = false;
    }
    if placement.place == Place::Ztunnel && found.moves && !found.is_refused() {
        found.guard(
            Concern::Patch,
            State::Undecided,
            "what ztunnel does with it is not proven: it is not an Envoy, and no istiod shows it",
        );
    }
    placement
}

fn of_pattern(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) -> Placement {
    let outbound = part.reach.context == PatchContext::SidecarOutbound;
    match found.pattern.id {
        "v1-filters" | "bootstrap" => at(Place::NotNeeded, "it does nothing today, and no sidecar is left for it"),
        "stats-null-vm" if found.actions.is_empty() => {
            at(Place::NotNeeded, "waypoints and ztunnel report metrics by themselves")
        }
        "lua" | "wasm" | "ecds" | "ext-authz" | "jwt" | "rbac" | "access-log" | "tracing" | "stats-null-vm" => {
            if outbound {
                return at(Place::Blocked, CALLER);
            }
            if !found.moves {
                return at(Place::WaypointFilter, OWN_FILTER);
            }
            if found.pattern.id == "rbac" && by_connection(found) {
                return in_ztunnel(cx, part, found);
            }
            if calls_clusters(part) {
                return at(Place::WaypointFilter, CALLS);
            }
            on_waypoint(cx, part, found)
        }
        "cors"
        | "fault"
        | "route-timeout"
        | "route-retries"
        | "route-headers"
        | "route-rewrite"
        | "route-mirror"
        | "redirect"
        | "direct-response"
        | "cluster-policy"
        | "cluster-http-options" => of_callers(cx, found),
        "cluster-add" => of_entry(cx, found),
        "server-tls" => {
            if !found.moves || found.is_refused() {
                return at(Place::Blocked, "ztunnel has no settings for TLS");
            }
            // The native setting is for the mutual TLS of sidecars.
            found.actions.clear();
            found.guards.clear();
            found.differences.clear();
            found.difference(Kind::Behavior, "mutual TLS is between ztunnels and waypoints, and always TLS 1.3");
            at(Place::NotNeeded, "no sidecar is left whose TLS could be set")
        }
        "hcm-timeouts" | "http2-options" | "path-normalization" | "server-header" | "header-case"
        | "client-cert-header" | "http10" | "trusted-hops" | "header-size" | "local-reply" | "global-ratelimit"
        | "local-ratelimit" | "ext-proc" | "oauth2" | "buffer" | "compressor" | "grpc-web" | "vhost-rate-limits"
        | "per-filter-config" => {
            if outbound {
                at(Place::Blocked, CALLER)
            } else if part.reach.port.is_some() {
                at(Place::Blocked, "the patch is for one port of a workload; a waypoint has no listener for that")
            } else if is_of_routes(part) {
                at(Place::WaypointFilter, OWN_ROUTES)
            } else {
                at(Place::WaypointFilter, OWN_FILTER)
            }
        }
        "listener-buffer" | "proxy-protocol" | "socket-options" | "cluster-buffer" | "tcp-idle" => {
            at(Place::Blocked, "ztunnel handles the pod's connections and has no such setting")
        }
        _ if part.built.status != Status::Ready => at(Place::NotNeeded, "istiod ignores the patch, with sidecars too"),
        _ if found.homes.iter().any(|home| home.field == NOTHING) => {
            at(Place::NotNeeded, "it is for sidecars of another version, and no sidecar is left")
        }
        _ => at(Place::Blocked, "it has no known equivalent without a sidecar"),
    }
}

/// Keys of `when` in an AuthorizationPolicy that ztunnel reads.
const CONNECTION: &[&str] =
    &["source.ip", "source.namespace", "source.principal", "destination.ip", "destination.port"];

/// Whether ztunnel enforces the policies of a move as they are: only properties of connections, ALLOW or DENY, not as a dry
/// run (`convertAuthorizationPolicy` in istiod's `ambient/authorization.go`).
fn by_connection(found: &Move) -> bool {
    const HTTP: &[&str] = &[
        "paths",
        "notPaths",
        "methods",
        "notMethods",
        "hosts",
        "notHosts",
        "remoteIpBlocks",
        "notRemoteIpBlocks",
        "requestPrincipals",
        "notRequestPrincipals",
    ];
    let of_request = |key: &str, value: &Json| {
        HTTP.contains(&key) || (key == "key" && value.as_str().is_none_or(|text| !CONNECTION.contains(&text)))
    };
    let mut policies = found.actions.iter().filter_map(|action| match action {
        Action::Object(object) if object["kind"] == "AuthorizationPolicy" => Some(object),
        _ => None,
    });
    let mut any = false;
    let plain = policies.all(|policy| {
        any = true;
        policy["metadata"].get("annotations").is_none()
            && ["ALLOW", "DENY"].iter().any(|action| policy["spec"]["action"] == *action)
            && !has_entry(&policy["spec"], &of_request)
    });
    any && plain
}

/// A policy on addresses and identities: ztunnel sees those of the caller unless a waypoint is between them.
fn in_ztunnel(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) -> Placement {
    let behind = "behind a waypoint, ztunnel sees the waypoint's address and identity instead of the caller's: a DENY rule no longer matches, and an ALLOW rule refuses everyone";
    found.difference(Kind::Behavior, behind);
    if part.apply_to() == ApplyTo::HttpFilter {
        found.difference(
            Kind::Behavior,
            "ztunnel decides for each connection and closes it; the filter answers a refused request with 403",
        );
    }
    let waypoint = cx
        .mesh
        .index
        .waypoints()
        .iter()
        .find(|one| cx.filter.namespace == cx.mesh.root || one.object.namespace == cx.filter.namespace);
    if let Some(waypoint) = waypoint {
        found.guard(
            Concern::Authorization,
            State::Broken,
            format!("Gateway {}/{} is a waypoint: {behind}", waypoint.object.namespace, waypoint.object.name),
        );
    }
    // ztunnel has no chain of named filters.
    found.differences.retain(|one| one.kind == Kind::Behavior);
    at(Place::Ztunnel, "ztunnel enforces policies on addresses and identities for every connection of the pod")
}

/// Whether a Lua script calls clusters.
fn calls_clusters(part: &Part<'_>) -> bool {
    let mut calls = false;
    if let Some(tree) = &part.built.value {
        rest::codes_of(tree, &mut |code| calls |= code.contains("httpCall"));
    }
    calls
}

/// Whether a patch is for route tables.
fn is_of_routes(part: &Part<'_>) -> bool {
    matches!(part.apply_to(), ApplyTo::RouteConfiguration | ApplyTo::VirtualHost | ApplyTo::HttpRoute)
}

/// A ServiceEntry, which ztunnel knows; TLS towards its host needs a waypoint.
fn of_entry(cx: &Cx<'_>, found: &mut Move) -> Placement {
    if !found.moves {
        return at(Place::WaypointFilter, OWN_CLUSTER);
    }
    let tls = |action: &Action| matches!(action, Action::Object(one) if one["kind"] == "DestinationRule" && has_entry(&one["spec"], &|key, _| key == "tls"));
    if !found.actions.iter().any(tls) {
        return at(Place::Ztunnel, "ztunnel knows the hosts of ServiceEntries");
    }
    let Some(waypoint) = cx.mesh.index.waypoints().iter().find(|one| one.object.namespace == cx.filter.namespace)
    else {
        found.guard(
            Concern::Tls,
            State::Broken,
            format!(
                "ztunnel does not start TLS with the host, so that requests would leave in plain text: add the Gateway of a waypoint in namespace {} so that the ServiceEntry can use it",
                cx.filter.namespace
            ),
        );
        return at(Place::Waypoint, "TLS towards a host outside the mesh starts at the waypoint of its ServiceEntry");
    };
    for action in &mut found.actions {
        if let Action::Object(one) = action
            && one["kind"] == "ServiceEntry"
        {
            one["metadata"]["labels"][USE_WAYPOINT] = waypoint.object.name.as_str().into();
        }
    }
    at(Place::Waypoint, "TLS towards a host outside the mesh starts at the waypoint of its ServiceEntry")
}

/// Rules about what a client sends: the service's waypoint applies them to all clients.
fn of_callers(cx: &Cx<'_>, found: &mut Move) -> Placement {
    if !cx.mesh.is_mesh_wide(cx.filter) {
        return at(
            Place::Blocked,
            "the called service's waypoint has one rule for all callers; the filter is for some of them",
        );
    }
    if !found.moves {
        return at(Place::Blocked, "it has no known native rule");
    }
    found.difference(
        Kind::Behavior,
        "the called service's waypoint does it once for all callers; without a waypoint, nothing does",
    );
    at(Place::Waypoint, "the called service's waypoint reads VirtualServices, HTTPRoutes and DestinationRules")
}

/// Attaches the objects of a move to the Services of the workloads that the filter selects.
fn on_waypoint(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) -> Placement {
    if part.reach.port.is_some() || part.reach.narrowed.is_some() {
        return at(
            Place::Blocked,
            "objects on a waypoint cannot match a port or a filter chain, and the patch is for one of them",
        );
    }
    let writes = |kinds: [&str; 2]| {
        let is = |one: &Json| one["kind"].as_str().is_some_and(|kind| kinds.contains(&kind));
        found.actions.iter().any(|action| matches!(action, Action::Object(one) if is(one)))
    };
    let security = writes(["AuthorizationPolicy", "RequestAuthentication"]);
    let extension = found.actions.iter().find_map(|action| match action {
        Action::Object(one) if one["kind"] == "TrafficExtension" || one["kind"] == "WasmPlugin" => {
            Some(one["spec"]["phase"].as_str().unwrap_or_default().to_owned())
        }
        _ => None,
    });
    if security {
        let ports = cx.mesh.ports(cx.filter);
        if ports.as_ref().is_none_or(|ports| ports.iter().any(|port| port.protocol != Protocol::Http)) {
            let why = "on a waypoint the rule cannot name ports, and its HTTP conditions do not apply to TCP ports: ";
            let what =
                if ports.is_some() { "the service has one" } else { "the input does not have the service's ports" };
            return at(Place::Blocked, format!("{why}{what}"));
        }
    }
    if found.is_refused() {
        return at(Place::WaypointFilter, REFUSED);
    }
    let refs = match targets(cx) {
        Ok(refs) => refs,
        Err(reason) => {
            found.guard(Concern::Selector, State::Broken, reason.clone());
            found.actions.clear();
            return at(Place::Waypoint, reason);
        }
    };
    for action in &mut found.actions {
        if let Action::Object(object) = action
            && let Some(spec) = object["spec"].as_object_mut()
            && object_kind(spec)
        {
            spec.shift_remove("selector");
            spec.shift_remove("match");
            spec.insert("targetRefs".to_owned(), refs.clone());
            without_ports(spec);
        }
    }
    found.difference(
        Kind::Behavior,
        "it runs once, at the service's waypoint: requests that reach the pods without passing the waypoint bypass it",
    );
    // The position in a sidecar does not apply to a waypoint.
    found.differences.retain(|one| one.kind != Kind::Position);
    if let Some(phase) = extension {
        found.difference(
            Kind::Position,
            match phase.as_str() {
                "AUTHN" => "runs before authentication, ALLOW and DENY policies and cors on the waypoint",
                "AUTHZ" => "runs between authentication and ALLOW and DENY policies on the waypoint, before cors",
                _ => {
                    "runs after cors and before the waypoint's peer metadata filters, which see the headers it changes"
                }
            },
        );
    }
    if security {
        found.difference(
            Kind::Position,
            "runs first on the waypoint, before grpc_stats, fault and cors: CORS preflights meet it too",
        );
        found.guard(
            Concern::Authorization,
            State::Review,
            "only requests through the waypoint are checked: also add an AuthorizationPolicy that ztunnel enforces, so that only the waypoint's identity can reach the pods",
        );
    }
    at(Place::Waypoint, "the object attaches to the workload's Services, whose requests pass their waypoint")
}

/// Whether a spec can have targetRefs: that of a provider or a ServiceEntry cannot.
fn object_kind(spec: &serde_json::Map<String, Json>) -> bool {
    !(spec.contains_key("hosts") || spec.contains_key("host") || spec.contains_key("environmentVariables"))
}

/// Removes ports, which kept a rule off TCP filter chains: these services have none.
fn without_ports(spec: &mut serde_json::Map<String, Json>) {
    for rule in spec.get_mut("rules").and_then(Json::as_array_mut).into_iter().flatten() {
        let Some(operations) = rule.get_mut("to").and_then(Json::as_array_mut) else { continue };
        for to in operations.iter_mut() {
            if let Some(operation) = to["operation"].as_object_mut() {
                operation.shift_remove("ports");
            }
        }
        operations.retain(|to| to["operation"].as_object().is_some_and(|operation| !operation.is_empty()));
        let empty = operations.is_empty();
        if let Some(rule) = rule.as_object_mut().filter(|_| empty) {
            rule.shift_remove("to");
        }
    }
}

/// References to the Services of a filter's workloads; to the waypoint of the namespace if it selects none.
fn targets(cx: &Cx<'_>) -> Result<Json, ErrorMessage> {
    let namespace = &cx.filter.namespace;
    let Some(labels) = cx.filter.selector.as_ref().filter(|labels| !labels.is_empty()) else {
        if cx.mesh.is_mesh_wide(cx.filter) {
            return Err(
                "the filter applies to the whole mesh: each namespace needs the object for its own waypoint".into()
            );
        }
        let known = cx.mesh.index.waypoints().iter().find(|one| one.object.namespace == *namespace);
        let name = known.map(|one| one.object.name.clone()).ok_or_else(|| {
            format!("the waypoint of namespace {namespace} is not in the input: add its Gateway so that the object can name it")
        })?;
        return Ok(json!([{ "group": "gateway.networking.k8s.io", "kind": "Gateway", "name": name }]));
    };
    let workloads: Vec<&Workload> = cx.mesh.workloads(cx.filter).collect();
    let selects = |service: &&Service| {
        !service.selector.is_empty()
            && service.object.namespace == *namespace
            && (includes(labels, &service.selector)
                || workloads.iter().any(|one| {
                    one.object.namespace == service.object.namespace && includes(&one.labels, &service.selector)
                }))
    };
    let services = cx.mesh.index.services_of(workloads.iter().map(|one| &one.labels).chain([labels]));
    let services: Vec<&Service> = services.into_iter().filter(selects).collect();
    if services.is_empty() {
        return Err("the workload's Services are not in the input: add them so that the object can name them".into());
    }
    for service in &services {
        let other = cx.mesh.inventory.labelled(&service.selector).find(|one| {
            one.object.namespace == service.object.namespace
                && includes(&one.labels, &service.selector)
                && !includes(&one.labels, labels)
        });
        if let Some(other) = other {
            return Err(format!(
                "Service {} also has {}, which the filter does not select",
                service.object.name, other.object.name
            )
            .into());
        }
    }
    let names: BTreeSet<&str> = services.iter().map(|service| service.object.name.as_str()).collect();
    let refs: Vec<Json> =
        names.into_iter().map(|name| json!({ "group": "", "kind": "Service", "name": name })).collect();
    Ok(refs.into())
}
