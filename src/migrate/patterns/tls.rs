//! TLS settings of filter chains: Gateway servers, mesh settings for mutual TLS.

use crate::engine::matching;
use crate::migrate::base::catalog;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::{Fields, left, set_at};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::mesh::{Mesh, Proxies, Served};
use crate::migrate::objects::policy::pod_ports;
use crate::migrate::output::change::Change;
use crate::migrate::output::draft::Action;
use crate::model::envoy_filter::{ApplyTo, FilterChainMatch, Operation, PatchContext};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

const DOWNSTREAM: &str = "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext";

/// Finds TLS settings merged into filter chains.
pub(in crate::migrate) fn find(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    for part in parts.iter_mut().filter(|part| part.found.is_none()) {
        if part.apply_to() == ApplyTo::FilterChain
            && part.operation() == Operation::Merge
            && part.value.peek("transport_socket").is_some()
        {
            let found = of_chain(cx, part);
            part.answer(found);
        }
    }
}

fn of_chain(cx: &Cx<'_>, part: &Part<'_>) -> Move {
    let mut value = part.value.clone();
    let Some(mut socket) = value.sub("transport_socket") else {
        return Move::none(&catalog::SERVER_TLS, "the transport socket cannot be read");
    };
    socket.skip("name");
    let Some(mut context) = socket.typed("typed_config", DOWNSTREAM) else {
        return Move::none(&catalog::SERVER_TLS, "the transport socket is not TLS");
    };
    let mut found = match (part.reach.context, part.reach.proxies) {
        (PatchContext::SidecarInbound, Proxies::Sidecar) => mutual(cx, part, &mut context),
        (_, Proxies::Gateway) => server(cx, part, &mut context),
        (place, proxies) => return Move::none(&catalog::SERVER_TLS, elsewhere(place, proxies)),
    };
    if found.moves && !(context.is_empty() && socket.is_empty() && value.is_empty()) {
        let api = if part.reach.proxies == Proxies::Gateway { GATEWAYS } else { MESH };
        found = Move::none(&catalog::SERVER_TLS, left(api, [&context, &socket, &value]));
    }
    found
}

const GATEWAYS: &str = "`servers.tls` of a Gateway";
const MESH: &str = "`meshConfig.meshMTLS`";

/// Why TLS in other places than the servers of gateways and the inbound ports of sidecars does not move.
fn elsewhere(context: PatchContext, proxies: Proxies) -> &'static str {
    match (context, proxies) {
        (PatchContext::SidecarOutbound, _) => {
            "sidecars end no TLS of their own application: `tls` of a DestinationRule encrypts what they send, and no API gives their outbound listeners a certificate"
        }
        (_, Proxies::Waypoint) => {
            "a waypoint takes requests from ztunnel, by mutual TLS of the mesh, and no known API changes that for some of them"
        }
        (PatchContext::Any, Proxies::Both | Proxies::Sidecar) => {
            "the patch is for inbound and outbound traffic at once (context ANY), and different objects set TLS there: `servers.tls` of a Gateway on gateways (context GATEWAY), `meshConfig.meshMTLS` on sidecars (context SIDECAR_INBOUND). Name the context that is meant"
        }
        _ => {
            "the input does not say whether the filter selects gateways, where `servers.tls` of a Gateway sets TLS, or sidecars, where `meshConfig.meshMTLS` does: add the workloads or the Gateway, or name the context"
        }
    }
}

/// The cipher suites that istiod takes from a Gateway (`ValidCipherSuites` in istiod's `pkg/config/security`).
const CIPHERS: [&str; 15] = [
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
    "ECDHE-ECDSA-AES128-SHA",
    "ECDHE-RSA-AES128-SHA",
    "ECDHE-ECDSA-AES256-SHA",
    "ECDHE-RSA-AES256-SHA",
    "AES128-GCM-SHA256",
    "AES256-GCM-SHA384",
    "AES128-SHA",
    "AES256-SHA",
    "DES-CBC3-SHA",
];

/// The first cipher suite that istiod would leave out: an unknown name, or one that is listed before.
fn dropped_cipher(list: &[String]) -> Option<&str> {
    let mut seen = BTreeSet::new();
    list.iter().map(String::as_str).find(|name| !CIPHERS.contains(name) || !seen.insert(*name))
}

fn version(word: &str) -> Option<String> {
    word.strip_prefix("TLSv1_").map(|minor| format!("TLSV1_{minor}"))
}

/// The Gateways whose servers have the filter chain: namespace, name and host to match.
fn servers(cx: &Cx<'_>, chain: &FilterChainMatch) -> Option<BTreeSet<(String, String, String)>> {
    let mut found = BTreeSet::new();
    for (one, host) in tls_servers(cx, chain)? {
        let object = &one.gateway.object;
        found.insert((object.namespace.clone(), object.name.clone(), host.to_owned()));
    }
    (!found.is_empty()).then_some(found)
}

/// Whether every server with the filter chain listens on this port of the gateway's pods.
fn all_on(cx: &Cx<'_>, chain: &FilterChainMatch, port: u32) -> bool {
    tls_servers(cx, chain)
        .is_some_and(|all| all.iter().all(|(one, _)| pod_ports(cx, one).iter().all(|one| *one == port)))
}

/// The servers that terminate TLS and have the filter chain, each with its host.
fn tls_servers<'a>(cx: &Cx<'a>, chain: &FilterChainMatch) -> Option<Vec<(Served<'a>, &'a str)>> {
    let mut found = Vec::new();
    for one in cx.mesh.servers(cx.filter)? {
        if one.server.tls_mode.as_deref().is_none_or(|mode| mode.contains("PASSTHROUGH")) {
            continue;
        }
        for host in one.server.bare_hosts() {
            if chain.sni.is_empty() || chain.sni == host {
                found.push((one, host));
            }
        }
    }
    Some(found)
}

fn server(cx: &Cx<'_>, part: &Part<'_>, context: &mut Fields) -> Move {
    let mut found = Move::new(&catalog::SERVER_TLS);
    let listener = matching::listener_match(&part.built.object);
    let empty = FilterChainMatch::default();
    let chain = listener.and_then(|listener| listener.filter_chain.as_ref()).unwrap_or(&empty);
    let of_port = |port: u32| port == 0 || all_on(cx, chain, port);
    let sni_only = listener.is_none_or(|listener| listener.name.is_empty() && of_port(listener.port_number))
        && [&chain.name, &chain.transport_protocol, &chain.transport_socket, &chain.application_protocols]
            .iter()
            .all(|text| text.is_empty())
        && chain.destination_port == 0
        && chain.filter.is_none();
    if context.peek("common_tls_context/tls_params/ecdh_curves").is_some() {
        return curves(cx, context, found);
    }
    let mut tls = json!({});
    for (field, home) in
        [("tls_minimum_protocol_version", "minProtocolVersion"), ("tls_maximum_protocol_version", "maxProtocolVersion")]
    {
        let path = format!("common_tls_context/tls_params/{field}");
        if let Some(word) = context.text(&path).as_deref().and_then(version) {
            found.add_home("Gateway", format!("servers.tls.{home}"), 0);
            set_at(&mut tls, home, word);
        }
    }
    let ciphers = context.texts("common_tls_context/tls_params/cipher_suites");
    if let Some(dropped) = dropped_cipher(&ciphers) {
        let reason = format!(
            "istiod leaves `{dropped}` out of a server's cipher suites: they must be names that BoringSSL knows, each once, and none of TLS 1.3"
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Tls, State::Broken, reason);
    }
    if !ciphers.is_empty() {
        found.meanwhile.push("cipher suites are listed twice, which changes nothing");
        if tls.as_object().is_some_and(|other| !other.is_empty()) {
            found.meanwhile.push("of the TLS versions, the filter's win");
        }
        found.add_home("Gateway", "servers.tls.cipherSuites", 0);
        set_at(&mut tls, "cipherSuites", ciphers);
    }
    let required = context.flag("require_client_certificate");
    let unset = part.defaults.iter().any(|field| field == "require_client_certificate");
    if required == Some(false) || unset {
        found.add_home("Gateway", "servers.tls.mode OPTIONAL_MUTUAL", 0);
        set_at(&mut tls, "mode", "OPTIONAL_MUTUAL");
        let reason = "MERGE does not make client certificates optional; the native mode does: clients without a certificate are accepted";
        found.difference(Kind::Behavior, reason);
        found.guard(Concern::Authentication, State::Broken, reason);
    } else if required == Some(true) {
        return Move::none(
            &catalog::SERVER_TLS,
            "mode MUTUAL needs a CA, which the filter does not name: set `tls.mode` and `credentialName` of the server",
        );
    }
    if tls.as_object().is_none_or(serde_json::Map::is_empty) {
        return Move::none(&catalog::SERVER_TLS, left(GATEWAYS, [context]));
    }
    found.guard(Concern::Tls, State::Held, "the server's own setting; nothing else of its TLS changes");
    let port = listener.map_or(0, |listener| listener.port_number);
    if chain.sni.is_empty() && chain.transport_protocol != "tls" {
        servers_without_tls(cx, &mut found, port);
    }
    let ports: BTreeSet<u32> =
        tls_servers(cx, chain).into_iter().flatten().flat_map(|(one, _)| pod_ports(cx, &one)).collect();
    if port != 0 && !ports.is_empty() && !ports.contains(&port) {
        let all: Vec<String> = ports.iter().map(u32::to_string).collect();
        let reason = format!(
            "the patch names port {port}, and the servers with TLS listen on port {} of the gateway's pods: the filter changes none of them",
            all.join(", ")
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Ports, State::Broken, reason);
    } else if !sni_only {
        found.guard(
            Concern::Ports,
            State::Undecided,
            "the chains match on more than a server name, which a Gateway's servers do not contain",
        );
    }
    match servers(cx, chain) {
        Some(servers) => {
            for (namespace, name, host) in servers {
                found.actions.push(Action::Edit {
                    object: ("Gateway", namespace, name),
                    change: Change::Tls { host, value: tls.clone() },
                });
            }
        }
        None => found.guard(
            Concern::Existing,
            State::Undecided,
            "the Gateway whose server has this chain is not in the input: add it so that it can be edited",
        ),
    }
    if let Some(existing) = existing_lists(cx, chain, &tls) {
        found.difference(Kind::Behavior, existing);
    }
    found
}

/// Says what the filter does to the servers of a port without TLS; 0 is every port.
fn servers_without_tls(cx: &Cx<'_>, found: &mut Move, port: u32) {
    let plain = |protocol: &str, mode: Option<&str>| {
        mode.is_none_or(|mode| mode.contains("PASSTHROUGH")) && protocol != "HTTPS"
    };
    let of_port = |one: &Served<'_>| {
        pod_ports(cx, one).contains(&port) && plain(&one.server.protocol, one.server.tls_mode.as_deref())
    };
    let among = if port == 0 {
        cx.mesh.serves(cx.filter, plain)
    } else {
        cx.mesh.servers(cx.filter).map(|all| all.iter().any(of_port))
    };
    match among {
        Some(false) => {}
        Some(true) => found.difference(
            Kind::Behavior,
            "the filter also gives the chains of servers without TLS a TLS socket without a certificate; they keep working \
             without it",
        ),
        None => found.guard(
            Concern::Patch,
            State::Undecided,
            "the input does not say whether these gateways have servers without TLS, which the filter gives a TLS socket too",
        ),
    }
}

/// MERGE appends to a list that the server already has; the edit replaces it.
fn existing_lists(cx: &Cx<'_>, chain: &FilterChainMatch, tls: &Json) -> Option<String> {
    tls.get("cipherSuites")?;
    let listed = cx.mesh.servers(cx.filter)?.into_iter().any(|one| {
        let document = one.gateway.object.document.to_json();
        document["spec"]["servers"].as_array().into_iter().flatten().any(|server| {
            let host =
                |host: &Json| host.as_str().is_some_and(|text| chain.sni.is_empty() || text.ends_with(&chain.sni));
            server["hosts"].as_array().is_some_and(|hosts| hosts.iter().any(host))
                && server["tls"]["cipherSuites"].as_array().is_some_and(|list| !list.is_empty())
        })
    });
    listed.then(|| "the list replaces the server's own cipher suites; MERGE adds to them".to_owned())
}

fn curves(cx: &Cx<'_>, context: &mut Fields, mut found: Move) -> Move {
    let curves = context.texts("common_tls_context/tls_params/ecdh_curves");
    // As seen in Envoy 1.38.2, 1.39.3 and 1.40.0; 1.36.4 and 1.37.0 accept it.
    let note = "remove the filter before the mesh sets the curves: with both, a server lists them twice, and Envoy 1.38 and later rejects its listener";
    found.notes.push(note.to_owned());
    found.add_home("MeshConfig", "tlsDefaults.ecdhCurves", 0);
    found.actions.push(Action::Mesh(json!({ "tlsDefaults": { "ecdhCurves": curves } })));
    let reason = "servers have no field for curves: the mesh setting applies to every TLS server in the mesh";
    found.difference(Kind::Behavior, reason);
    found.guard(Concern::Tls, State::Broken, reason);
    let _ = cx;
    found
}

/// TLS between workloads.
fn mutual(cx: &Cx<'_>, part: &Part<'_>, context: &mut Fields) -> Move {
    let mut found = Move::new(&catalog::SERVER_TLS);
    let path = "common_tls_context/tls_params/tls_minimum_protocol_version";
    let word = context.text(path).as_deref().and_then(version);
    let Some(word) = word.filter(|word| matches!(word.as_str(), "TLSV1_2" | "TLSV1_3")) else {
        return Move::none(&catalog::SERVER_TLS, "`meshMTLS` has only the minimum version, 1.2 or 1.3");
    };
    found.add_home("MeshConfig", "meshMTLS.minProtocolVersion", 0);
    found.actions.push(Action::Mesh(json!({ "meshMTLS": { "minProtocolVersion": word } })));
    let chain = matching::listener_match(&part.built.object).and_then(|listener| listener.filter_chain.as_ref());
    let by_alpn = chain.is_some_and(|chain| !chain.application_protocols.is_empty());
    found.difference(
        Kind::Behavior,
        if by_alpn {
            "chains without an ALPN match (workloads with STRICT mutual TLS), which the filter misses, get the setting too"
        } else {
            "the filter gives TLS passthrough chains a TLS socket without a certificate; now they keep passing TLS through"
        },
    );
    found.guard(Concern::Tls, State::Review, "mutual TLS for the whole mesh: every client must support this version");
    if !cx.mesh.is_mesh_wide(cx.filter) || Mesh::is_narrow(cx.filter) {
        let reason = "`meshMTLS` applies to the whole mesh; the filter is for some workloads";
        found.difference(Kind::Behavior, reason);
        found.guard(Concern::Selector, State::Broken, reason);
    }
    let odd = chain.is_some_and(|chain| !chain.sni.is_empty() || !chain.name.is_empty() || chain.destination_port != 0);
    if odd {
        found.guard(Concern::Ports, State::Broken, "`meshMTLS` applies to every port; the filter is for some chains");
    }
    found
}
