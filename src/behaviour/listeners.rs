//! Listeners, their filter chains and routes: our own sockets, the PROXY protocol instead of iptables, probes between
//! the HTTP filters, access logs that show the path.

use super::asks::asks;
use super::chains::{Chain, HttpFilter, MARK, NetworkFilter, writers, writers_but};
use super::neutral::{Neutral, Why, tree, writer};
use super::purpose::Purpose;
use crate::engine::PatchId;
use crate::proto::tree::{Origin, Tree, Value, is_typed_struct, type_name};
use serde_json::json;

/// The first Envoy minor with an option to write each line of an access log immediately.
pub(super) const FLUSHES: u16 = 37;

/// The environment variable with more text than the log buffer of an older Envoy, and its prefix.
pub(super) const FILLING: &str = "KUBECTL_ENVOYFILTER_FILLING";

/// Names of probes begin with this.
pub(super) const PROBE: &str = "kubectl-envoyfilter.probe.";

const HCM: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const TCP_PROXY: &str = "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy";

/// Listener filters that get the original destination address from the kernel.
const ORIGINAL_DST: &str = "envoy.extensions.filters.listener.original_dst.v3.OriginalDst";

/// How a listener is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Socket {
    /// Name of the listener.
    pub(super) listener: String,
    /// Its address in the proxy.
    pub(super) address: String,
    /// Its port in the proxy.
    pub(super) port: u16,
    /// Name of the socket in the sandbox's folder.
    pub(super) file: String,
}

/// Changes a listener; returns its socket, if it listens on one.
pub(super) fn listener(neutral: &mut Neutral<'_>, listener: &mut Tree<'_>, number: usize) -> Option<Socket> {
    let name = listener.name().to_owned();
    let internal = listener.get("internal_listener").is_some();
    let bound = !internal && !matches!(listener.get("bind_to_port").map(|it| &it.value), Some(Value::Bool(false)));
    let address =
        |key: &str| listener.path(&["address", "socket_address", key]).and_then(Tree::as_str).unwrap_or_default();
    let mut socket = None;
    if bound {
        let port = address("port_value").parse().unwrap_or(0);
        let file = format!("l{number}");
        socket =
            Some(Socket { listener: name.clone(), address: address("address").to_owned(), port, file: file.clone() });
        listener.set("address", tree(&neutral.place.sockets.address(&file)));
        // Not possible for a socket in the file system, and not visible to requests.
        for key in [
            "additional_addresses",
            "transparent",
            "freebind",
            "socket_options",
            "tcp_fast_open_queue_length",
            "connection_balance_config",
            "enable_reuse_port",
            "tcp_backlog_size",
        ] {
            listener.remove(key);
        }
        if let Some(filters) = listener.list_mut("listener_filters") {
            filters.retain(|filter| {
                filter.get("typed_config").and_then(Tree::type_name).is_none_or(|name| name != ORIGINAL_DST)
            });
            filters.insert(0, tree(&json!({
                "name": format!("{PROBE}address"),
                "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol"},
            })));
        }
    } else if !internal {
        listener.set("bind_to_port", Tree::new(Value::Bool(false)));
        for key in ["connection_balance_config", "socket_options", "transparent", "freebind"] {
            listener.remove(key);
        }
    }
    let chains =
        listener.get_mut("filter_chains").and_then(Tree::items_mut).map(|chains| chains.iter_mut().enumerate());
    for (index, one) in chains.into_iter().flatten() {
        chain(neutral, one, &name, Some(index));
    }
    if let Some(one) = listener.get_mut("default_filter_chain") {
        chain(neutral, one, &name, None);
    }
    let mut logs = kept_logs(listener);
    logs.push(access_log("connection", &name, "", ""));
    logs.extend(filling(neutral));
    listener.set("access_log", Tree::new(Value::List(logs.into())));
    socket
}

fn chain(neutral: &mut Neutral<'_>, chain: &mut Tree<'_>, listener: &str, index: Option<usize>) {
    let number = neutral.chains.len();
    let matched = |key: &str| chain.path(&["filter_chain_match", key]);
    let texts = |key: &str| {
        let items = matched(key).map(Tree::items).unwrap_or_default();
        items.iter().filter_map(Tree::as_str).map(str::to_owned).collect()
    };
    let mut about = Chain {
        listener: listener.to_owned(),
        index,
        name: chain.name().to_owned(),
        network: Vec::new(),
        changed: Vec::new(),
        http: Vec::new(),
        tls: chain.get("transport_socket").is_some(),
        server_names: texts("server_names"),
        protocols: texts("application_protocols"),
        port: matched("destination_port").and_then(Tree::as_u64).and_then(|port| u16::try_from(port).ok()),
        writers: writers_but(chain, "http_filters"),
    };
    if about.tls && !texts_hold(chain) {
        // A non-TLS transport socket, such as one that only Istio has, is removed by type elsewhere.
        about.tls = false;
    }
    let filters = chain.get_mut("filters").and_then(Tree::items_mut);
    for filter in filters.into_iter().flatten() {
        about.network.push(filter.name().to_owned());
        let of_patches = writers(filter);
        if let Some(config) = filter.get("typed_config").filter(|_| !of_patches.is_empty()) {
            let purpose = Purpose::of_network(config);
            if purpose != Purpose::Other {
                about.changed.push(NetworkFilter { name: filter.name().to_owned(), writers: of_patches, purpose });
            }
        }
        let Some(config) = filter.get_mut("typed_config") else { continue };
        let mut kind = config.type_name().unwrap_or_default().into_owned();
        let config = if is_typed_struct(&kind) {
            type_name(config.str_at("type_url")).clone_into(&mut kind);
            let Some(value) = config.get_mut("value") else { continue };
            value
        } else {
            config
        };
        match kind.as_str() {
            HCM => http(neutral, config, &mut about, number),
            TCP_PROXY => logged(neutral, config, "tcp", &about, number),
            _ => {}
        }
    }
    neutral.chains.push(about);
}

/// Whether the transport socket of a filter chain is TLS.
fn texts_hold(chain: &Tree<'_>) -> bool {
    let name = chain.path(&["transport_socket", "typed_config"]).and_then(Tree::type_name).unwrap_or_default();
    name.ends_with("DownstreamTlsContext")
}

/// The access logs that a user wrote; ours come after them.
fn kept_logs<'t>(owner: &mut Tree<'t>) -> Vec<Tree<'t>> {
    match owner.remove("access_log") {
        Some(Tree { value: Value::List(items), .. }) => items.into_vec(),
        _ => Vec::new(),
    }
}

fn logged(neutral: &Neutral<'_>, config: &mut Tree<'_>, stage: &str, about: &Chain, number: usize) {
    let mut logs = kept_logs(config);
    let index = about.index.map_or_else(|| "default".to_owned(), |index| index.to_string());
    logs.push(access_log(stage, &about.listener, &index, &number.to_string()));
    logs.extend(filling(neutral));
    config.set("access_log", Tree::new(Value::List(logs.into())));
}

/// A line that makes Envoy flush earlier ones, if it has no option for this.
fn filling(neutral: &Neutral<'_>) -> Option<Tree<'static>> {
    (neutral.place.envoy < FLUSHES).then(|| {
        tree(&json!({
            "name": "envoy.access_loggers.stderr",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StderrAccessLog",
                "log_format": {"text_format_source": {"inline_string": format!("%ENVIRONMENT({FILLING})%\n")}},
            },
        }))
    })
}

/// An access log on standard error that says which way a request or connection took.
fn access_log(stage: &str, listener: &str, chain: &str, number: &str) -> Tree<'static> {
    // A percent sign starts a command.
    let plain = |text: &str| text.replace('%', "%%");
    tree(&json!({
        "name": "envoy.access_loggers.stderr",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StderrAccessLog",
            "log_format": {"json_format": {
                "kubectl-envoyfilter": stage,
                "listener": plain(listener),
                "chain": chain,
                "number": number,
                "chain_name": "%FILTER_CHAIN_NAME%",
                "route": "%ROUTE_NAME%",
                "mark": format!("%METADATA(ROUTE:{MARK})%"),
                "istio": "%METADATA(ROUTE:istio)%",
                "cluster": "%UPSTREAM_CLUSTER_RAW%",
                "status": "%RESPONSE_CODE%",
                "details": "%RESPONSE_CODE_DETAILS%",
                "flags": "%RESPONSE_FLAGS%",
                "closed": "%CONNECTION_TERMINATION_DETAILS%",
                "attempts": "%UPSTREAM_REQUEST_ATTEMPT_COUNT%",
                "protocol": "%PROTOCOL%",
                "sni": "%REQUESTED_SERVER_NAME%",
                "peer": "%DOWNSTREAM_PEER_URI_SAN%",
                "tls_failure": "%DOWNSTREAM_TRANSPORT_FAILURE_REASON%",
                "upstream_failure": "%UPSTREAM_TRANSPORT_FAILURE_REASON%",
                "local": "%DOWNSTREAM_LOCAL_ADDRESS%",
                "remote": "%DOWNSTREAM_REMOTE_ADDRESS%",
                "duration": "%DURATION%",
            }},
        },
    }))
}

fn http(neutral: &mut Neutral<'_>, config: &mut Tree<'_>, about: &mut Chain, number: usize) {
    if config.remove("tracing").is_some() {
        neutral.leave_out(Why::Tracing, "spans are not sent", None);
    }
    logged(neutral, config, "http", about, number);
    let Some(filters) = config.get_mut("http_filters").and_then(Tree::items_mut) else { return };
    for filter in filters.iter() {
        let any = filter.get("typed_config");
        let kind = any.and_then(Tree::type_name).unwrap_or_default().into_owned();
        let kind = match any {
            Some(any) if is_typed_struct(&kind) => type_name(any.str_at("type_url")).to_owned(),
            _ => kind,
        };
        let mut clusters = Vec::new();
        named_clusters(filter, neutral.place.clusters, &mut clusters);
        let of_patches = writers(filter);
        about.http.push(HttpFilter {
            name: filter.name().to_owned(),
            type_name: kind,
            by: writer(filter),
            asks: any.filter(|_| !of_patches.is_empty()).map(asks).unwrap_or_default(),
            writers: of_patches,
            inserted: PatchId::of(filter.origin).is_some(),
            clusters,
            purpose: any.map(Purpose::of).unwrap_or_default(),
        });
    }
    if !neutral.place.probes {
        return;
    }
    let mut with = Vec::with_capacity(filters.len() * 2);
    for (index, filter) in filters.drain(..).enumerate() {
        with.push(probe(neutral.place.mark, number, index));
        with.push(filter);
    }
    *filters = with;
}

/// The names of clusters in a value: whole texts, and names inside longer texts such as scripts.
pub(super) fn named_clusters(tree: &Tree<'_>, clusters: &std::collections::BTreeSet<String>, into: &mut Vec<String>) {
    match &tree.value {
        Value::Raw(_) => named_clusters(&tree.readable(), clusters, into),
        Value::Map(entries) => entries.iter().for_each(|(_, value)| named_clusters(value, clusters, into)),
        Value::List(items) => items.iter().for_each(|item| named_clusters(item, clusters, into)),
        Value::String(text) => {
            // In scripts, names are quoted or separate words.
            let ends = |c: char| c.is_whitespace() || "\"'`,()[]{}".contains(c);
            let words = text.split(ends).filter(|word| !word.is_empty()).filter_map(|word| clusters.get(word));
            let found: Vec<&String> = clusters.get(text.as_ref()).into_iter().chain(words).collect();
            for name in found {
                if !into.contains(name) {
                    into.push(name.clone());
                }
            }
        }
        _ => {}
    }
}

/// A filter that logs the header fields it sees and changes nothing. Bytes that a log line cannot contain are
/// percent-encoded.
fn probe(mark: &str, chain: usize, index: usize) -> Tree<'static> {
    let script = format!(
        r#"
local function plain(text)
  return (text:gsub("[^%w%-%._~:/?#@!$()*+,; ]", function(c) return string.format("%%%02X", string.byte(c)) end))
end
local function fields(handle)
  local list = {{}}
  for key, value in pairs(handle:headers()) do list[#list + 1] = plain(key) .. "=" .. plain(value) end
  return table.concat(list, "&")
end
function envoy_on_request(handle) handle:logCritical("{mark} req {chain} {index} " .. fields(handle)) end
function envoy_on_response(handle) handle:logCritical("{mark} res {chain} {index} " .. fields(handle)) end
"#
    );
    tree(&json!({
        "name": format!("{PROBE}{index}"),
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
            "stat_prefix": "kubectl_envoyfilter_probe",
            "default_source_code": {"inline_string": script},
        },
    }))
}

/// Points a cluster to a stub's socket; a cluster for a listener inside the proxy stays.
pub(super) fn cluster(neutral: &mut Neutral<'_>, cluster: &mut Tree<'_>, stub: &serde_json::Value) -> bool {
    if inside(cluster) {
        cluster.remove("transport_socket_matches");
        return false;
    }
    let name = cluster.name().to_owned();
    if cluster.remove("health_checks").is_some() {
        neutral.leave_out(Why::HealthCheck, name.clone(), None);
    }
    let tls = cluster.remove("transport_socket").is_some() | cluster.remove("transport_socket_matches").is_some();
    if tls {
        neutral.leave_out(Why::UpstreamTls, "calls reach the stub in plain text", None);
    }
    let provided = cluster.str_at("lb_policy") == "CLUSTER_PROVIDED";
    // The stub has no metadata, like the endpoints that istiod sends: it is in no subset either.
    let has_subsets = cluster.str_at("type") == "EDS" && !provided;
    if let Some(subsets) = cluster.get_mut("lb_subset_config") {
        subsets.remove("locality_weight_aware");
    }
    for key in [
        "cluster_type",
        "eds_cluster_config",
        "load_assignment",
        "upstream_bind_config",
        "dns_refresh_rate",
        "dns_jitter",
        "dns_failure_refresh_rate",
        "dns_lookup_family",
        "dns_resolvers",
        "dns_resolution_config",
        "typed_dns_resolver_config",
        "respect_dns_ttl",
        "use_tcp_for_dns_lookups",
        "wait_for_warm_on_init",
        "original_dst_lb_config",
        "lb_subset_config",
        "ring_hash_lb_config",
        "maglev_lb_config",
        "cleanup_interval",
        "load_balancing_policy",
        "preconnect_policy",
        "ignore_health_on_host_removal",
        "transport_socket_matcher",
        "happy_eyeballs_config",
    ] {
        let hashes = matches!(cluster.str_at("lb_policy"), "RING_HASH" | "MAGLEV");
        let stays = match key {
            "ring_hash_lb_config" | "maglev_lb_config" => hashes,
            "lb_subset_config" => has_subsets,
            _ => false,
        };
        if !stays {
            cluster.remove(key);
        }
    }
    if provided {
        cluster.remove("lb_policy");
    }
    if let Some(common) = cluster.get_mut("common_lb_config") {
        for key in ["locality_weighted_lb_config", "zone_aware_lb_config", "consistent_hashing_lb_config"] {
            common.remove(key);
        }
    }
    plain_protocol(cluster);
    cluster.set("type", Tree::string("STATIC", Origin::ISTIOD));
    if name != "BlackHoleCluster" {
        let endpoint = json!({"endpoint": {"address": stub}});
        cluster
            .set("load_assignment", tree(&json!({"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint]}]})));
    }
    name != "BlackHoleCluster"
}

/// Whether a cluster leads to a listener inside the proxy.
fn inside(cluster: &Tree<'_>) -> bool {
    let localities = cluster.path(&["load_assignment", "endpoints"]).map(Tree::items).unwrap_or_default();
    let endpoints =
        localities.iter().filter_map(|it| it.get("lb_endpoints")).flat_map(super::super::proto::tree::Tree::items);
    let names: Vec<&str> = endpoints
        .filter_map(|it| {
            it.path(&["endpoint", "address", "envoy_internal_address", "server_listener_name"]).and_then(Tree::as_str)
        })
        .collect();
    // Whatever leaves the proxy ends at a stub: an endpoint behind a tunnel is an upstream like others.
    !names.is_empty() && !names.iter().any(|name| name.ends_with("connect_originate"))
}

/// Without TLS, nothing is negotiated: such clusters use HTTP/1.1.
fn plain_protocol(cluster: &mut Tree<'_>) {
    let options = cluster.get_mut("typed_extension_protocol_options").and_then(Tree::entries_mut);
    for (_, options) in options.into_iter().flatten() {
        if let Some(auto) = options.remove("auto_config") {
            let http1 = auto.get("http_protocol_options").map_or_else(|| tree(&json!({})), Tree::to_static);
            options.set(
                "explicit_http_config",
                Tree::new(Value::Map(vec![("http_protocol_options".into(), http1)].into())),
            );
        }
    }
}
