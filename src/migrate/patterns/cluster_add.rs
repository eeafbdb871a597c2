//! Clusters of services outside the mesh: ServiceEntry, and a DestinationRule for TLS.

use super::cluster_policy::upstream_tls;
use super::target::client_namespace;
use crate::migrate::base::catalog;
use crate::migrate::base::names::native_name;
use crate::migrate::base::step::{BUILT_IN, Cx, Move, Part};

use crate::migrate::base::value::{self, Fields};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::mesh::{Mesh, RULES};
use crate::migrate::output::draft::{Action, metadata};
use crate::migrate::output::rest::quoted;
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::inventory::Object;
use crate::source::{ErrorMessage, Node};
use crate::words::{MOST_NAMES, few};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// The target of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::migrate) struct Upstream {
    /// Host name, or a name derived from the cluster's if the endpoints are addresses.
    pub host: String,
    /// The port.
    pub port: u32,
    /// The addresses, if any.
    pub addresses: Vec<String>,
}

/// Host and port of a cluster that a filter adds; `None` if it has no single port or mixes names and addresses.
pub(in crate::migrate) fn upstream(cluster: &Json, namespace: &str) -> Option<Upstream> {
    let mut endpoints = Vec::new();
    for locality in cluster.pointer("/load_assignment/endpoints")?.as_array()? {
        for one in locality.get("lb_endpoints")?.as_array()? {
            let socket = one.pointer("/endpoint/address/socket_address")?;
            let port = u32::try_from(socket.get("port_value")?.as_u64()?).ok()?;
            endpoints.push((socket.get("address")?.as_str()?.to_owned(), port));
        }
    }
    let (first, port) = endpoints.first()?.clone();
    if endpoints.iter().any(|(_, other)| *other != port) {
        return None;
    }
    let addresses: Vec<String> =
        endpoints.iter().filter(|(host, _)| host.parse::<IpAddr>().is_ok()).map(|(host, _)| host.clone()).collect();
    if addresses.is_empty() && endpoints.iter().all(|(host, _)| *host == first) && is_host(&first) {
        return Some(Upstream { host: first, port, addresses });
    }
    if addresses.len() != endpoints.len() {
        return None;
    }
    let name = cluster.get("name")?.as_str()?;
    let label: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let label = label.trim_matches('-').to_owned();
    (!label.is_empty() && label.len() <= 63).then(|| Upstream {
        host: format!("{label}.{namespace}.internal"),
        port,
        addresses,
    })
}

/// Whether a text is a full host name.
fn is_host(text: &str) -> bool {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.');
    plain && text.contains('.') && text.parse::<IpAddr>().is_err()
}

/// Whether a host is `NAME.NAMESPACE` or `NAME.NAMESPACE.svc`.
fn of_search_path(cx: &Cx<'_>, host: &str) -> bool {
    let labels: Vec<&str> = host.split('.').collect();
    let namespace = match labels.as_slice() {
        [_, namespace] | [_, namespace, "svc"] => *namespace,
        _ => return false,
    };
    let known = cx.mesh.index.has_services(namespace);
    labels.len() == 3 || namespace == "default" || namespace == cx.filter.namespace || known
}

/// Finds added clusters.
pub(in crate::migrate) fn find(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    for part in parts.iter_mut().filter(|part| part.found.is_none()) {
        if part.apply_to() == ApplyTo::Cluster && part.operation() == Operation::Add {
            let found = added(cx, part);
            part.answer(found);
        }
    }
}

fn added(cx: &Cx<'_>, part: &Part<'_>) -> Move {
    let mut cluster = part.value.clone();
    let Some(to) = upstream(&cluster.0, &cx.filter.namespace) else {
        return Move::none(
            &catalog::CLUSTER_ADD,
            "only a cluster with one port and either one host name or addresses has a native equivalent",
        );
    };
    if to.addresses.iter().any(|one| one.parse::<IpAddr>().is_ok_and(|one| one.is_loopback())) {
        return Move::none(
            &catalog::CLUSTER_ADD,
            "the endpoint is inside the pod itself; a ServiceEntry applies to the mesh",
        );
    }
    if of_search_path(cx, &to.host) {
        return Move::none(
            &catalog::CLUSTER_ADD,
            format!("the pod's search path completes `{}`: write the full name of the Service", to.host),
        );
    }
    let mut found = Move::new(&catalog::CLUSTER_ADD);
    let name = cluster.text("name").unwrap_or_default();
    if name != native_name(&to.host, to.port) {
        found.difference(
            Kind::Name,
            "istiod names the cluster `outbound|PORT||HOST`: update every filter, route and dashboard that uses the old name",
        );
    }
    cluster.skip("load_assignment");
    let as_written = cluster.clone();
    let settings = Settings::read(&mut cluster);
    let mesh_service = cx.mesh.service(&to.host).is_some() || to.host.ends_with(".svc.cluster.local");
    defaults(cx, &as_written, &mut found);
    used_by_name(cx, &mut found, &name, &to);
    if mesh_service {
        found.add_home(BUILT_IN, "cluster of the Service", 0);
        if cx.mesh.service(&to.host).is_some() {
            let name = native_name(&to.host, to.port);
            found.notes.push(format!("istiod already has a cluster for {}: {name}", to.host));
        } else {
            let reason =
                format!("the Service of {} is not in the input: without it, istiod has no cluster for it", to.host);
            found.guard(Concern::Existing, State::Undecided, reason);
        }
        if settings.tls.is_some() {
            return Move::none(
                &catalog::CLUSTER_ADD,
                "TLS for an additional cluster of a Service has no native equivalent",
            );
        }
        return found;
    }
    if let Err(reason) = &settings.left {
        return Move::none(&catalog::CLUSTER_ADD, reason.clone());
    }
    let namespace = match client_namespace(cx) {
        Ok(namespace) => namespace,
        Err(reason) => return Move::none(&catalog::CLUSTER_ADD, reason),
    };
    found.add_home("ServiceEntry", "hosts, ports, resolution", 0);
    let protocol = match (&settings.tls, settings.http2) {
        (Some(_), _) => "TLS",
        (None, true) => "GRPC",
        (None, false) => "HTTP",
    };
    if protocol == "TLS" {
        found.difference(Kind::Behavior, "the application's traffic to this port is also matched against this host");
    } else {
        found.difference(
            Kind::Behavior,
            "a listener and routes for the host appear: the application's requests to it are now routed and counted",
        );
    }
    entry(cx, &mut found, &to, protocol, namespace);
    if let Some(tls) = settings.tls {
        found.add_home("DestinationRule", "trafficPolicy.tls", 0);
        found.difference(Kind::Behavior, "the connection uses TLS 1.2 or 1.3, and the host's certificate is verified with the authorities of the operating system");
        found.guard(Concern::Tls, State::Review, "istiod configures TLS to the service instead of the filter: test a connection, and that a wrong certificate is refused if the filter refuses it");
        let mut spec = Map::new();
        spec.insert("host".to_owned(), to.host.clone().into());
        export(cx, &mut spec, RULES);
        spec.insert("trafficPolicy".to_owned(), json!({ "tls": tls }));
        found.actions.push(Action::Object(json!({
            "apiVersion": "networking.istio.io/v1",
            "kind": "DestinationRule",
            "metadata": metadata(cx.filter, namespace),
            "spec": spec,
        })));
    }
    if Mesh::is_narrow(cx.filter) {
        found.guard(
            Concern::Selector,
            State::Review,
            "every proxy of the namespace gets the ServiceEntry, not only those that the filter selects",
        );
    }
    found
}

/// Says who uses the cluster by its old name.
fn used_by_name(cx: &Cx<'_>, found: &mut Move, name: &str, to: &Upstream) {
    if let Some(users) = cx.names.cluster_users.get(name) {
        let own = cx.filter.full_name();
        let number = users.len() - usize::from(users.contains(&own));
        let others = few(users.iter().filter(|user| **user != own), number, MOST_NAMES);
        let reason = match number {
            0 => None,
            1 => Some(format!(
                "EnvoyFilter {others} uses the cluster's old name and must be updated first: its calls fail once the cluster is gone"
            )),
            _ => Some(format!(
                "EnvoyFilters {others} use the cluster's old name and must be updated first: their calls fail once the cluster is gone"
            )),
        };
        reason.into_iter().for_each(|reason| found.guard(Concern::Existing, State::Undecided, reason));
    }
    if let Some(users) = lua_users(cx, name) {
        let reason = format!(
            "Lua code of {users} calls the cluster by its name, which becomes `{}`: change the code first",
            native_name(&to.host, to.port)
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Existing, State::Broken, reason);
    }
}

/// The objects whose Lua code contains the name of a cluster, which is not rewritten there.
fn lua_users(cx: &Cx<'_>, name: &str) -> Option<String> {
    let filters = cx.names.lua_users.get(name);
    let names = |object: &&Object| {
        let code = object.document.under(&["spec", "lua", "inlineCode"]).and_then(Node::as_str);
        let mut named = false;
        code.into_iter().for_each(|code| quoted(code, &mut |text| named |= text == name));
        named
    };
    let extensions: Vec<&Object> = cx.mesh.index.policies("TrafficExtension").iter().copied().filter(names).collect();
    let number = filters.map_or(0, BTreeSet::len) + extensions.len();
    let filters = filters.into_iter().flatten().map(|filter| format!("EnvoyFilter {filter}"));
    let extensions = extensions.iter().map(|one| format!("TrafficExtension {}/{}", one.namespace, one.name));
    (number > 0).then(|| few(filters.chain(extensions), number, MOST_NAMES))
}

/// An object for the clients of the filter's namespace, or of the whole mesh.
fn export(cx: &Cx<'_>, spec: &mut Map<String, Json>, default: &str) {
    if !cx.mesh.is_mesh_wide(cx.filter) {
        spec.insert("exportTo".to_owned(), json!(["."]));
    } else if !cx.mesh.exports(default) {
        spec.insert("exportTo".to_owned(), json!(["*"]));
    }
}

fn entry(cx: &Cx<'_>, found: &mut Move, to: &Upstream, protocol: &str, namespace: &str) {
    let mut spec = Map::new();
    spec.insert("hosts".to_owned(), json!([to.host]));
    export(cx, &mut spec, "defaultServiceExportTo");
    spec.insert("location".to_owned(), "MESH_EXTERNAL".into());
    spec.insert("resolution".to_owned(), if to.addresses.is_empty() { "DNS" } else { "STATIC" }.into());
    let port = json!({ "number": to.port, "name": protocol.to_ascii_lowercase(), "protocol": protocol });
    spec.insert("ports".to_owned(), json!([port]));
    if !to.addresses.is_empty() {
        let endpoints: Vec<Json> = to.addresses.iter().map(|address| json!({ "address": address })).collect();
        spec.insert("endpoints".to_owned(), endpoints.into());
    }
    found.actions.push(Action::Object(json!({
        "apiVersion": "networking.istio.io/v1",
        "kind": "ServiceEntry",
        "metadata": metadata(cx.filter, namespace),
        "spec": spec,
    })));
    if let Some(other) = cx.mesh.index.entry(&to.host) {
        found.guard(
            Concern::Existing,
            State::Undecided,
            format!(
                "ServiceEntry {}/{} is for the same host: its cluster may already be enough",
                other.object.namespace, other.object.name
            ),
        );
    }
}

/// What istiod's clusters have but a filter's does not.
fn defaults(cx: &Cx<'_>, cluster: &Fields, found: &mut Move) {
    let settings = cx.mesh.mesh_config().cloned().unwrap_or_default();
    let connect = settings["connectTimeout"].as_str().unwrap_or("10s").to_owned();
    let text = |field: &str| cluster.peek(field).and_then(Json::as_str).unwrap_or_default();
    let mut effects = vec![
        "limits on connections, requests and retries are off (Envoy's defaults are 1024, and 3 retries)".to_owned(),
        "panic threshold 0: when all endpoints are unhealthy, Envoy refuses requests instead of trying every endpoint"
            .to_owned(),
        "upstream metadata exchange is attempted, which does nothing without mutual TLS".to_owned(),
    ];
    if text("connect_timeout") != connect {
        effects.push(format!(
            "a request waits for a connection as long as the mesh says (`{connect}`) instead of the filter; a DestinationRule can set it"
        ));
    }
    if text("type") != "STATIC" {
        effects.push("the mesh's DNS settings apply instead of the filter's: requests go to the IPv4 addresses of the host, which the proxy looks up every 60 s or by their TTL".to_owned());
    }
    if text("lb_policy") != "LEAST_REQUEST" {
        effects.push("a request goes to the endpoint with fewer active requests (LEAST_REQUEST, istiod's default) instead of the one that the filter's load balancer picks".to_owned());
    }
    for effect in effects {
        found.difference(Kind::Behavior, effect);
    }
}

/// The settings of a cluster other than its endpoints.
struct Settings {
    tls: Option<Json>,
    http2: bool,
    left: Result<(), ErrorMessage>,
}

impl Settings {
    fn read(cluster: &mut Fields) -> Settings {
        let options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
        let path = format!("typed_extension_protocol_options/{options}/explicit_http_config/http2_protocol_options");
        let http2 =
            cluster.peek("http2_protocol_options").is_some() || cluster.0.pointer(&format!("/{path}")).is_some();
        let mut left = Ok(());
        let tls = match cluster.sub("transport_socket") {
            None => None,
            Some(socket) => {
                let tls = upstream_tls(socket);
                if tls.is_none() {
                    left = Err("the cluster's TLS settings have no native equivalent".into());
                }
                tls
            }
        };
        for known in [
            "type",
            "connect_timeout",
            "lb_policy",
            "http2_protocol_options",
            "typed_extension_protocol_options",
            "dns_lookup_family",
            "dns_refresh_rate",
            "respect_dns_ttl",
            "alt_stat_name",
        ] {
            cluster.skip(known);
        }
        if left.is_ok() && !cluster.is_empty() {
            left = Err(value::left([cluster]).into());
        }
        Settings { tls, http2, left }
    }
}
