//! Patches without a native API, and their explanations; also gRPC-Web, which a server's protocol turns on.

use super::ext_authz::EXT_AUTHZ;
use super::manager::HCM;
use super::vhost;
use crate::engine::matching::HTTP_CONNECTION_MANAGER;
use crate::migrate::base::catalog::{self, Pattern};
use crate::migrate::base::nearest;
use crate::migrate::base::reach;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::{gateways, removed};
use crate::migrate::objects::mesh::Proxies;
use crate::migrate::objects::policy::{is_tcp, pod_ports};
use crate::migrate::output::change::Change;
use crate::migrate::output::draft::Action;
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::proto::tree::{is_typed_struct, type_name};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// HTTP filters without a native API, by the message of their configuration.
const FILTERS: &[(&str, &Pattern, &str)] = &[
    (
        "envoy.extensions.filters.http.ratelimit.v3.RateLimit",
        &catalog::GLOBAL_RATELIMIT,
        "keep the EnvoyFilter: no API calls a rate limit service; `connectionPool` of a DestinationRule limits concurrent connections and requests of each proxy, not requests in a time",
    ),
    (
        "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit",
        &catalog::LOCAL_RATELIMIT,
        "keep the EnvoyFilter: Istio's roadmap names an API for it, and Istio 1.31 has none; `connectionPool` of a DestinationRule limits concurrent connections and requests of each proxy, not requests in a time",
    ),
    (
        "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor",
        &catalog::EXT_PROC,
        "keep the EnvoyFilter. Nearest: an AuthorizationPolicy with action CUSTOM, whose service sees requests only and cannot change bodies, and a TrafficExtension (Istio 1.30), whose Lua or Wasm code runs in the proxy: the service's logic must be rewritten",
    ),
    (
        "envoy.extensions.filters.http.oauth2.v3.OAuth2",
        &catalog::OAUTH2,
        "keep the EnvoyFilter, or run a login proxy such as oauth2-proxy and call it by an AuthorizationPolicy with action CUSTOM. The request for an API was closed without one",
    ),
    (
        "envoy.extensions.filters.http.buffer.v3.Buffer",
        &catalog::BUFFER,
        "keep the EnvoyFilter. Nearest: Lua code of a TrafficExtension (Istio 1.30) that refuses requests by `content-length`; it does not see the size of a body that is sent in chunks, and buffers none",
    ),
    (
        "envoy.extensions.filters.http.compressor.v3.Compressor",
        &catalog::COMPRESSOR,
        "keep the EnvoyFilter, or compress in the application",
    ),
    (
        "envoy.extensions.filters.http.decompressor.v3.Decompressor",
        &catalog::COMPRESSOR,
        "keep the EnvoyFilter, or decompress in the application",
    ),
];

const GRPC_WEB: &str = "envoy.extensions.filters.http.grpc_web.v3.GrpcWeb";

/// Finds gRPC-Web filters.
pub(in crate::migrate) fn find_grpc_web(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    for part in parts.iter_mut().filter(|part| part.found.is_none()) {
        if part.apply_to() == ApplyTo::HttpFilter && part.inserts() && part.config_type() == GRPC_WEB {
            let found = grpc_web(cx, part);
            part.answer(found);
        }
    }
}

fn grpc_web(cx: &Cx<'_>, part: &Part<'_>) -> Move {
    if part.reach.proxies != Proxies::Gateway {
        let reason = "a Gateway's server has a protocol that enables gRPC-Web; for a sidecar that receives requests, the port of its Service has one (`appProtocol: grpc-web`)";
        return Move::none(&catalog::GRPC_WEB, reason);
    }
    let mut found = Move::new(&catalog::GRPC_WEB)
        .home("Gateway", "servers.port.protocol GRPC-WEB", 0)
        .differs(Kind::Position, "translates before stats, alpn, fault and cors: they see gRPC instead of gRPC-Web");
    let Some(servers) = gateways::servers(cx, &mut found) else { return found };
    let mut edits = BTreeSet::new();
    for one in servers.iter().filter(|one| !is_tcp(&one.server.protocol, one.server.tls_mode.as_deref())) {
        if let Some(port) = part.reach.port {
            let ports = pod_ports(cx, one);
            if !ports.contains(&port) {
                continue;
            }
            gateways::other_ports(&mut found, one, port, &ports);
        }
        if one.server.protocol != "HTTP" && one.server.protocol != "HTTP2" {
            return Move::none(&catalog::GRPC_WEB, "a server with TLS cannot have the protocol GRPC-WEB");
        }
        let object = &one.gateway.object;
        edits.insert((object.namespace.clone(), object.name.clone(), one.server.port));
    }
    if edits.is_empty() {
        found.guard(Concern::Ports, State::Undecided, "no server of the known Gateways uses this port");
    }
    if let Some(ingress) = cx.mesh.index.ingress(None) {
        found.guard(
            Concern::Existing,
            State::Undecided,
            format!(
                "Ingress {}/{} also has a server on port 80 of the gateways, with protocol HTTP: of two servers on a port of the pods, istiod \
                 uses the protocol of the older one",
                ingress.namespace, ingress.name
            ),
        );
    }
    for (namespace, name, port) in edits {
        let change = Change::Protocol { port, protocol: "GRPC-WEB" };
        found.actions.push(Action::Edit { object: ("Gateway", namespace, name), change });
    }
    if part.reach.narrowed.is_some() {
        found.guard(
            Concern::Ports,
            State::Broken,
            "the protocol applies to a whole server; the filter is for one part of it",
        );
    }
    found
}

/// Answers patches that no pattern matched.
pub(in crate::migrate) fn find(parts: &mut [Part<'_>]) {
    for part in parts.iter_mut().filter(|part| part.found.is_none()) {
        let named = part.value.peek("typed_config/type_url").and_then(Json::as_str);
        let of = named.map_or(part.config_type(), type_name);
        let known = FILTERS.iter().find(|(message, ..)| *message == of);
        let found = match (part.apply_to(), known) {
            (ApplyTo::Bootstrap, _) => {
                Move::none(&catalog::BOOTSTRAP, "no supported release applies BOOTSTRAP patches: delete the patch")
            }
            (ApplyTo::HttpFilter, Some((_, pattern, instead))) => Move::none(pattern, *instead),
            (ApplyTo::HttpFilter, None) if part.value.peek("config_discovery").is_some() => Move::none(
                &catalog::ECDS,
                "the configuration of this HTTP filter is discovered (ECDS), and no patch of this EnvoyFilter adds it: put both patches into one EnvoyFilter to migrate them",
            ),
            (ApplyTo::HttpFilter | ApplyTo::NetworkFilter, None)
                if named.map_or(is_typed_struct(of), str::is_empty) =>
            {
                Move::none(
                    &catalog::OTHER,
                    "the TypedStruct names no type (`type_url`), so its meaning is unknown, to Envoy too: write the type, then migrate the result",
                )
            }
            (ApplyTo::Listener, _) if part.value.peek("socket_options").is_some() => {
                Move::none(&catalog::SOCKET_OPTIONS, nearest::SOCKETS)
            }
            (_, _) if matches!(part.operation(), Operation::Remove | Operation::Replace) => {
                Move::none(&catalog::OTHER, of_operation(part))
            }
            (ApplyTo::HttpFilter | ApplyTo::NetworkFilter, _) => Move::none(&catalog::OTHER, of_filter(part, of)),
            (apply_to, _) => Move::none(&catalog::OTHER, of_fields(part, apply_to, of)),
        };
        part.answer(found);
    }
}

/// Why a patch of an HTTP or network filter has no native API.
fn of_filter(part: &Part<'_>, of: &str) -> String {
    let apply_to = part.apply_to();
    if let Some(name) = reach::names_filter(&part.built.object).filter(|name| *name != HTTP_CONNECTION_MANAGER)
        && of == HCM
    {
        return format!(
            "the patch matches network filter `{name}`: istiod's HTTP connection manager is named `{HTTP_CONNECTION_MANAGER}`, so the patch does not change it"
        );
    }
    if of.is_empty() {
        return "the value has no configuration with a type (`typed_config`), so its meaning is unknown: write it, then migrate the result".to_owned();
    }
    if of == EXT_AUTHZ && part.operation() == Operation::Merge {
        return "MERGE changes an ext_authz filter that exists: for that of a CUSTOM policy, set the fields of its provider in `meshConfig.extensionProviders` (`with_request_body` is `includeRequestBodyInCheck`); for one that another EnvoyFilter inserts, set them there".to_owned();
    }
    if part.operation() == Operation::Merge && of != HCM {
        return format!(
            "no known native API changes an existing {apply_to} with {of}: change the object that puts it there, if that is one (an EnvoyFilter, a policy, a TrafficExtension)"
        );
    }
    match NEAREST.iter().find(|(message, _)| *message == of) {
        Some((_, nearest)) => format!("{apply_to} with {of} has no native API; nearest: {nearest}"),
        None => format!("{apply_to} with {of} has no known native API: keep the EnvoyFilter"),
    }
}

/// The APIs that come nearest to HTTP filters without one, and why they do not replace them.
const NEAREST: &[(&str, &str)] = &[
    (
        "envoy.extensions.filters.http.header_to_metadata.v3.Config",
        "Lua code of a TrafficExtension (Istio 1.30) can set the same metadata, but it must be written",
    ),
    (
        "envoy.extensions.filters.http.header_mutation.v3.HeaderMutation",
        "`headers` of a VirtualService or an HTTPRoute, which changes headers when a route is selected, not at this place among the filters",
    ),
    (
        "envoy.extensions.filters.http.fault.v3.HTTPFault",
        "`fault` of a VirtualService, which is for the routes of a host, not for every request",
    ),
    (
        "envoy.extensions.filters.http.golang.v3alpha.Config",
        "a TrafficExtension (Istio 1.30), which runs Lua or Wasm, not Go plug-ins",
    ),
    (
        "envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig",
        "a ServiceEntry for a wildcard host with `resolution: DYNAMIC_DNS`, which resolves the hosts below that one only",
    ),
    (
        "envoy.extensions.filters.http.csrf.v3.CsrfPolicy",
        "an AuthorizationPolicy that compares the header `origin` with fixed values; it does not compare it with the host of the request",
    ),
];

/// Why a patch that removes or replaces an object does not move: native objects add to what istiod generates. What it is about
/// decides what can be done instead.
fn of_operation(part: &Part<'_>) -> String {
    let (operation, apply_to) = (part.operation(), part.apply_to());
    let instead = match (apply_to, operation) {
        (ApplyTo::HttpFilter | ApplyTo::NetworkFilter | ApplyTo::ListenerFilter, Operation::Remove) => {
            let name = removed::changed(part.built).map(|(name, _)| name);
            return match name.and_then(|name| SWITCHES.iter().find(|(filter, _)| *filter == name)) {
                Some((name, switch)) => format!("no native API removes `{name}`; nearest: {switch}"),
                None => format!(
                    "no native API removes {} if istiod generates it; if another object puts it there (an EnvoyFilter, a policy, a TrafficExtension), change that one",
                    name.map_or_else(|| apply_to.to_string(), |name| format!("`{name}`")),
                ),
            };
        }
        (ApplyTo::HttpFilter | ApplyTo::NetworkFilter | ApplyTo::ListenerFilter, _) => {
            "native objects add filters or set what istiod's do. Write it as REMOVE and INSERT_BEFORE or INSERT_AFTER to see what of it could move"
        }
        (ApplyTo::Cluster, _) => {
            "what a proxy has clusters for follows from the Services and ServiceEntries that are exported to it (`exportTo`) and from `egress.hosts` of a Sidecar"
        }
        (ApplyTo::Listener | ApplyTo::FilterChain, _) => {
            "listeners and filter chains follow from the servers of Gateways and from the ports of Services: change those"
        }
        _ => return vhost::without_operation(part),
    };
    format!("no native API has {operation} for {apply_to}: {instead}")
}

/// Settings that take filters of istiod away.
const SWITCHES: &[(&str, &str)] = &[
    ("istio.stats", "a Telemetry that disables ALL_METRICS (`metrics.overrides`)"),
    ("envoy.filters.http.jwt_authn", "istiod adds it for RequestAuthentications: delete those of these workloads"),
    ("envoy.filters.http.rbac", "istiod adds it for AuthorizationPolicies: delete those of these workloads"),
    ("envoy.filters.http.ext_authz", "istiod adds it for an AuthorizationPolicy with action CUSTOM: delete that"),
];

/// Why a patch of other objects has no native API: the fields that it sets.
fn of_fields(part: &Part<'_>, apply_to: ApplyTo, of: &str) -> String {
    let keys: Vec<&String> = part.value.0.as_object().into_iter().flat_map(|value| value.keys()).collect();
    if part.inserts() {
        return format!("no known native API adds such a {apply_to}: keep the EnvoyFilter");
    }
    if !of.is_empty() || keys.is_empty() {
        let what = if of.is_empty() { apply_to.to_string() } else { format!("{apply_to} with {of}") };
        return format!("{what} has no known native API: keep the EnvoyFilter");
    }
    nearest::without_field(&part.value)
}
