//! Patches without a native API, and their explanations; also gRPC-Web, which a server's protocol turns on.

use super::ext_authz::EXT_AUTHZ;
use super::manager::HCM;
use crate::engine::matching::HTTP_CONNECTION_MANAGER;
use crate::migrate::base::catalog::{self, Pattern};
use crate::migrate::base::reach;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::fieldless;
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::gateways;
use crate::migrate::objects::mesh::Proxies;
use crate::migrate::objects::policy::{is_tcp, pod_ports};
use crate::migrate::output::change::Change;
use crate::migrate::output::draft::Action;
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::proto::tree::{is_typed_struct, type_name};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// HTTP filters without a native API, by the message of their configuration.
const FILTERS: &[(&str, &Pattern)] = &[
    ("envoy.extensions.filters.http.ratelimit.v3.RateLimit", &catalog::GLOBAL_RATELIMIT),
    ("envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit", &catalog::LOCAL_RATELIMIT),
    ("envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor", &catalog::EXT_PROC),
    ("envoy.extensions.filters.http.oauth2.v3.OAuth2", &catalog::OAUTH2),
    ("envoy.extensions.filters.http.buffer.v3.Buffer", &catalog::BUFFER),
    ("envoy.extensions.filters.http.compressor.v3.Compressor", &catalog::COMPRESSOR),
    ("envoy.extensions.filters.http.decompressor.v3.Decompressor", &catalog::COMPRESSOR),
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
        let known = FILTERS.iter().find(|(message, _)| *message == of);
        let found = match (part.apply_to(), known) {
            (ApplyTo::Bootstrap, _) => {
                Move::none(&catalog::BOOTSTRAP, "no supported release applies BOOTSTRAP patches")
            }
            (ApplyTo::HttpFilter, Some((_, pattern))) => Move::none(pattern, ""),
            (ApplyTo::HttpFilter, None) if part.value.peek("config_discovery").is_some() => Move::none(
                &catalog::ECDS,
                "the configuration of this HTTP filter is discovered (ECDS), and no patch of this EnvoyFilter adds it: put both patches into one EnvoyFilter to migrate them",
            ),
            (ApplyTo::HttpFilter | ApplyTo::NetworkFilter, None)
                if named.map_or(is_typed_struct(of), str::is_empty) =>
            {
                Move::none(&catalog::OTHER, "the TypedStruct names no type (`type_url`), so its meaning is unknown")
            }
            (ApplyTo::Listener, _) if part.value.peek("socket_options").is_some() => {
                Move::none(&catalog::SOCKET_OPTIONS, "")
            }
            (_, _) if matches!(part.operation(), Operation::Remove | Operation::Replace) => {
                Move::none(&catalog::OTHER, format!("no native API has {}", part.operation()))
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
        return "the value has no configuration (`typed_config`), so its meaning is unknown".to_owned();
    }
    if of == EXT_AUTHZ && part.operation() == Operation::Merge {
        return "MERGE changes an ext_authz filter that exists: for that of a CUSTOM policy, set the fields of its provider in `meshConfig.extensionProviders` (`with_request_body` is `includeRequestBodyInCheck`); for one that another EnvoyFilter inserts, set them there".to_owned();
    }
    if part.operation() == Operation::Merge && of != HCM {
        return format!("no known native API changes an existing {apply_to} with {of}");
    }
    format!("{apply_to} with {of} has no known native API")
}

/// Why a patch of other objects has no native API: the fields that it sets.
fn of_fields(part: &Part<'_>, apply_to: ApplyTo, of: &str) -> String {
    let keys: Vec<&String> = part.value.0.as_object().into_iter().flat_map(|value| value.keys()).collect();
    if part.inserts() {
        return format!("no known native API adds such a {apply_to}");
    }
    if !of.is_empty() || keys.is_empty() {
        let what = if of.is_empty() { apply_to.to_string() } else { format!("{apply_to} with {of}") };
        return format!("{what} has no known native API");
    }
    fieldless(&keys)
}
