//! Clusters of services outside the mesh: ServiceEntry, and a DestinationRule for TLS.

use super::cluster_policy::speaks_http2;
use super::target::client_namespace;
use super::upstream_tls::{UpstreamTls, upstream_tls};
use crate::migrate::base::catalog;
use crate::migrate::base::names::native_name;
use crate::migrate::base::step::{BUILT_IN, Cx, Move, Part};
use crate::migrate::base::value::{Fields, fieldless, left};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::mesh::{Mesh, RULES};
use crate::migrate::output::draft::{Action, metadata};
use crate::migrate::output::rest::quoted;
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::inventory::Object;
use crate::proto::tree::TYPE_KEY;
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

/// The endpoints of a cluster that are hosts with ports, or why it has none.
fn endpoints(cluster: &Json) -> Result<Vec<(&str, u32)>, ErrorMessage> {
    let mut endpoints = Vec::new();
    let localities = cluster.pointer("/load_assignment/endpoints").and_then(Json::as_array);
    for one in localities.into_iter().flatten().filter_map(|one| one.get("lb_endpoints")?.as_array()).flatten() {
        let address = one.pointer("/endpoint/address");
        let socket = address.and_then(|address| address.get("socket_address"));
        let host = socket.and_then(|socket| socket.get("address")?.as_str());
        if socket.and_then(|socket| socket.get("protocol")).is_some_and(|protocol| protocol == "UDP" || protocol == 1) {
            return Err("an endpoint is reached by UDP, and istiod makes no cluster for a port of that protocol".into());
        }
        let port = socket.and_then(|socket| u32::try_from(socket.get("port_value")?.as_u64()?).ok());
        match (host, port) {
            (Some(host), Some(port)) => endpoints.push((host, port)),
            _ if address.is_some_and(|address| address.get("pipe").is_some()) => {
                return Err("an endpoint is a Unix socket inside the pod; a ServiceEntry applies to the mesh".into());
            }
            (Some(host), None) => return Err(format!("endpoint {host} has no port number").into()),
            _ => return Err("an endpoint is not a host or address with a port".into()),
        }
    }
    Ok(endpoints)
}

/// Host and port of a cluster that a filter adds, or why a ServiceEntry cannot have them.
pub(in crate::migrate) fn upstream(cluster: &Json, namespace: &str) -> Result<Upstream, ErrorMessage> {
    let endpoints = endpoints(cluster)?;
    let Some(&(first, port)) = endpoints.first() else {
        return Err("the cluster names no endpoint (`load_assignment`): nothing shows which service it is for".into());
    };
    if let Some((_, other)) = endpoints.iter().find(|(_, other)| *other != port) {
        return Err(format!(
            "its endpoints have several ports ({port}, {other}); those of a ServiceEntry's cluster have one"
        )
        .into());
    }
    let is_address = |host: &str| host.parse::<IpAddr>().is_ok();
    let addresses: Vec<String> =
        endpoints.iter().filter(|(host, _)| is_address(host)).map(|(host, _)| (*host).to_owned()).collect();
    if addresses.is_empty() {
        if let Some((other, _)) = endpoints.iter().find(|(host, _)| *host != first) {
            return Err(format!(
                "its endpoints are several hosts ({first}, {other}); a ServiceEntry for one of them is written"
            )
            .into());
        }
        named(first)?;
        return Ok(Upstream { host: first.to_owned(), port, addresses });
    }
    if addresses.len() != endpoints.len() {
        return Err("its endpoints are both host names and addresses; a ServiceEntry looks up either".into());
    }
    let name = cluster.get("name").and_then(Json::as_str).unwrap_or_default();
    let label: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let label = label.trim_matches('-').to_owned();
    if label.is_empty() || label.len() > 63 {
        return Err(format!(
            "the cluster's name, `{name}`, cannot become the host of a ServiceEntry for its addresses"
        )
        .into());
    }
    Ok(Upstream { host: format!("{label}.{namespace}.internal"), port, addresses })
}

/// Whether a text is a full host name, or why it is not.
fn named(text: &str) -> Result<(), ErrorMessage> {
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.') {
        return Err(format!("`{text}` is not a host name").into());
    }
    if !text.contains('.') {
        return Err(format!(
            "the pod's search path completes `{text}`: write the full name of the Service (`{text}.NAMESPACE.svc.cluster.local`)"
        )
        .into());
    }
    Ok(())
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
    let to = match upstream(&cluster.0, &cx.filter.namespace) {
        Ok(to) => to,
        Err(reason) => return Move::none(&catalog::CLUSTER_ADD, reason),
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
    let as_written = cluster.clone();
    let settings = Settings::read(&mut cluster);
    for (kind, effect) in settings.lost {
        found.difference(kind, effect);
    }
    let mesh_service = cx.mesh.service(&to.host).is_some() || to.host.ends_with(".svc.cluster.local");
    defaults(cx, &as_written, &mut found);
    used_by_name(cx, &mut found, &name, &to);
    let tls = match settings.tls {
        Ok(tls) => tls,
        Err(reason) => return Move::none(&catalog::CLUSTER_ADD, reason),
    };
    if mesh_service {
        if tls.is_some() {
            let reason = "the cluster is a second one for a Service, with its own TLS settings: `tls` of a DestinationRule sets those of the Service's own cluster, for every request to it. Set them there if that is meant";
            return Move::none(&catalog::CLUSTER_ADD, reason);
        }
        if !cluster.is_empty() {
            let keys: Vec<&String> = cluster.0.as_object().into_iter().flatten().map(|(key, _)| key).collect();
            found.difference(
                Kind::Behavior,
                format!("{}: istiod's cluster of the Service does not get them", fieldless(&keys)),
            );
        }
        return of_service(cx, settings.http2, &to, found);
    }
    if tls.is_some() && settings.http2 {
        return Move::none(&catalog::CLUSTER_ADD, HTTP2_WITH_TLS);
    }
    if !cluster.is_empty() {
        return Move::none(&catalog::CLUSTER_ADD, left("a ServiceEntry with its DestinationRule", [&cluster]));
    }
    let namespace = match client_namespace(cx) {
        Ok(namespace) => namespace,
        Err(reason) => return Move::none(&catalog::CLUSTER_ADD, reason),
    };
    found.add_home("ServiceEntry", "hosts, ports, resolution", 0);
    let protocol = match (&tls, settings.http2) {
        (Some(_), _) => "TLS",
        (None, true) => "GRPC",
        (None, false) => "HTTP",
    };
    if protocol == "TLS" {
        found.difference(
            Kind::Behavior,
            "the application's own TLS connections to this host and port go through this cluster, too, which puts its TLS around theirs, so that they fail; the filter's cluster leaves them alone",
        );
    } else {
        found.difference(
            Kind::Behavior,
            "a listener and routes for the host appear: the application's requests to it are now routed and counted",
        );
    }
    entry(cx, &mut found, &to, protocol, namespace);
    if let Some(tls) = tls {
        rule(cx, &mut found, &to, tls, namespace);
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

/// The rule for TLS to a host outside the mesh.
fn rule(cx: &Cx<'_>, found: &mut Move, to: &Upstream, tls: UpstreamTls, namespace: &str) {
    found.add_home("DestinationRule", "trafficPolicy.tls", 0);
    let verified = tls.verified;
    found.difference(
        Kind::Behavior,
        format!("the connection uses TLS 1.2 or 1.3, and the host's certificate {verified}"),
    );
    tls.effects.into_iter().for_each(|effect| found.difference(Kind::Behavior, effect));
    found.guard(Concern::Tls, State::Review, "istiod configures TLS to the service instead of the filter: test a connection, and that a wrong certificate is refused if the filter refuses it");
    let mut spec = Map::new();
    spec.insert("host".to_owned(), to.host.clone().into());
    export(cx, &mut spec, RULES);
    spec.insert("trafficPolicy".to_owned(), json!({ "tls": tls.native }));
    found.actions.push(Action::Object(json!({
        "apiVersion": "networking.istio.io/v1",
        "kind": "DestinationRule",
        "metadata": metadata(cx.filter, namespace),
        "spec": spec,
    })));
}

/// A second cluster for a Service, for which istiod has one.
fn of_service(cx: &Cx<'_>, http2: bool, to: &Upstream, mut found: Move) -> Move {
    found.add_home(BUILT_IN, "cluster of the Service", 0);
    let service = cx.mesh.service(&to.host);
    if service.is_some() {
        let name = native_name(&to.host, to.port);
        found.notes.push(format!("istiod already has a cluster for {}: {name}", to.host));
    } else {
        let reason =
            format!("the Service of {} is not in the input: without it, istiod has no cluster for it", to.host);
        found.guard(Concern::Existing, State::Undecided, reason);
    }
    let port = cx.mesh.registered(&to.host).and_then(|service| service.ports().find(|port| port.number == to.port));
    if service.is_some() && port.is_none() {
        let reason = format!("the Service of {} has no port {}, so istiod has no cluster for it", to.host, to.port);
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Existing, State::Broken, reason);
    }
    if http2 && !port.is_some_and(|port| speaks_http2(&port)) {
        found.difference(
            Kind::Behavior,
            format!(
                "istiod's cluster uses HTTP/2, which gRPC needs, only if the Service says so for port {} (`appProtocol: grpc`, or a name that begins with `grpc`)",
                to.port
            ),
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
    let of_kind = |kind: &str, names: &[String]| {
        let kind = if names.len() == 1 { kind.to_owned() } else { format!("{kind}s") };
        (!names.is_empty()).then(|| format!("{kind} {}", few(names, names.len(), MOST_NAMES)))
    };
    let filters: Vec<String> = filters.into_iter().flatten().cloned().collect();
    let extensions: Vec<String> = extensions.iter().map(|one| format!("{}/{}", one.namespace, one.name)).collect();
    let all = [of_kind("EnvoyFilter", &filters), of_kind("TrafficExtension", &extensions)];
    all.into_iter().flatten().reduce(|one, other| format!("{one} and {other}"))
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

/// Why a cluster with HTTP/2 over TLS does not move.
const HTTP2_WITH_TLS: &str = "istiod sends HTTP/1.1 to a port with protocol TLS, and the cluster uses HTTP/2 over TLS: write a port with protocol `GRPC` and `trafficPolicy.tls` of a DestinationRule, if no application uses the port with TLS of its own";

/// The settings of a cluster other than its endpoints.
struct Settings {
    tls: Result<Option<UpstreamTls>, ErrorMessage>,
    http2: bool,
    /// The effects of settings that no longer apply.
    lost: Vec<(Kind, String)>,
}

/// HTTP/2 options in a cluster.
const HTTP2: &str = "http2_protocol_options";

impl Settings {
    fn read(cluster: &mut Fields) -> Settings {
        let mut lost = lost_of_endpoints(cluster);
        cluster.skip("load_assignment");
        let (http2, options) = http_options(cluster);
        if !options.is_empty() {
            let effect = format!("the cluster's HTTP options no longer apply: {}", options.join(", "));
            lost.push((Kind::Behavior, effect));
        }
        if cluster.take("alt_stat_name").is_some() {
            lost.push((Kind::Name, "statistics have istiod's name of the cluster, not `alt_stat_name`".to_owned()));
        }
        let tls = cluster.sub("transport_socket").map(upstream_tls).transpose();
        for known in
            ["type", "connect_timeout", "lb_policy", "dns_lookup_family", "dns_refresh_rate", "respect_dns_ttl"]
        {
            cluster.skip(known);
        }
        Settings { tls, http2, lost }
    }
}

/// Whether a cluster uses HTTP/2, and the HTTP options that istiod's cluster does not have.
fn http_options(cluster: &mut Fields) -> (bool, Vec<String>) {
    const OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
    let old = cluster.take(HTTP2);
    let mut http2 = old.is_some();
    let mut settings = old.unwrap_or_default();
    let mut names = BTreeSet::new();
    for (key, mut options) in cluster
        .take("typed_extension_protocol_options")
        .iter()
        .filter_map(Json::as_object)
        .flatten()
        .map(|(key, value)| (key, Fields(value.clone())))
    {
        if key != OPTIONS {
            names.insert(key.clone());
            continue;
        }
        options.skip(TYPE_KEY);
        if let Some(own) = options.take(&format!("explicit_http_config/{HTTP2}")) {
            http2 = true;
            settings = own;
        }
        options.skip("explicit_http_config/http_protocol_options");
        names.extend(options.0.as_object().into_iter().flatten().map(|(key, _)| key.clone()));
    }
    names.extend(settings.as_object().into_iter().flatten().map(|(key, _)| format!("{HTTP2}.{key}")));
    (http2, names.into_iter().map(|name| format!("`{name}`")).collect())
}

/// What the endpoints of a cluster have other than their addresses.
fn lost_of_endpoints(cluster: &Fields) -> Vec<(Kind, String)> {
    let assignment = cluster.peek("load_assignment");
    let mut names: BTreeSet<&str> = BTreeSet::new();
    if assignment.is_some_and(|one| one.get("policy").is_some()) {
        names.insert("policy");
    }
    let localities = assignment.and_then(|one| one.get("endpoints")?.as_array()).into_iter().flatten();
    for locality in localities {
        names.extend(
            ["priority", "load_balancing_weight", "metadata"].into_iter().filter(|key| locality.get(key).is_some()),
        );
        for one in locality.get("lb_endpoints").and_then(Json::as_array).into_iter().flatten() {
            names.extend(
                ["load_balancing_weight", "health_status", "metadata"].into_iter().filter(|key| one.get(key).is_some()),
            );
            let inner = one.get("endpoint");
            names.extend(
                ["hostname", "health_check_config", "additional_addresses"]
                    .into_iter()
                    .filter(|key| inner.is_some_and(|inner| inner.get(key).is_some())),
            );
        }
    }
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    let effect = format!("settings of the endpoints no longer apply: {}", names.join(", "));
    Vec::from_iter((!names.is_empty()).then_some((Kind::Behavior, effect)))
}
