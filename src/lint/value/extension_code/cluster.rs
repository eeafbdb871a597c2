//! What Envoy's code rejects in clusters: load balancing, health checks, names of resolvers and protocols.

use super::core::{host_name, items, number, seconds};
use super::object::{Refusal, child, has, holder, is, is_set, is_true, refusal, span, text};
use crate::lint::value::walk::get;
use crate::lint::value::{Object, PatchValue};
use crate::source::{Node, NodeValue};
use std::collections::BTreeSet;
use std::net::IpAddr;

const HTTP_OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/// Whether the type of a cluster brings a load balancer of its own; `None` if that is unknown.
fn brings_policy(cluster: &Object<'_>, own: Option<&Object<'_>>) -> Option<bool> {
    const OWN: [&str; 3] = ["envoy.clusters.aggregate", "envoy.clusters.dynamic_forward_proxy", "envoy.cluster.golang"];
    match own {
        Some(own) => OWN.contains(&text(own, "name")?).then_some(true),
        None => Some(is(cluster, "type", "ORIGINAL_DST")),
    }
}

/// The load balancer of a cluster that is given in full.
pub(super) fn policy(value: &PatchValue<'_>, cluster: &Object<'_>) -> Option<Refusal> {
    if is(cluster, "lb_policy", "LOAD_BALANCING_POLICY_CONFIG") && !has(cluster, "load_balancing_policy") {
        let help = "add `load_balancing_policy`, or write another `lb_policy`";
        let message = "`lb_policy: LOAD_BALANCING_POLICY_CONFIG` needs `load_balancing_policy`";
        return Some(refusal(span(cluster, "lb_policy"), message, help));
    }
    if let Some(policy) = child(value, cluster, "load_balancing_policy").filter(|it| items(it, "policies").is_empty()) {
        let help = "add a policy, such as `envoy.load_balancing_policies.round_robin`";
        return Some(refusal(policy.span, "`load_balancing_policy` names no policy", help));
    }
    if has(cluster, "load_balancing_policy") {
        return None;
    }
    let provided = is(cluster, "lb_policy", "CLUSTER_PROVIDED");
    if provided && has(cluster, "lb_subset_config") {
        let message = "`lb_policy: CLUSTER_PROVIDED` and `lb_subset_config` exclude each other";
        return Some(refusal(span(cluster, "lb_subset_config"), message, "remove one of them"));
    }
    let own = child(value, cluster, "cluster_type");
    let brings = brings_policy(cluster, own)?;
    if provided && !brings {
        let message = "`lb_policy: CLUSTER_PROVIDED` needs a cluster that selects its endpoints itself";
        return Some(refusal(span(cluster, "lb_policy"), message, "remove `lb_policy`, or write another one"));
    }
    let aggregate = own.filter(|own| text(own, "name") == Some("envoy.clusters.aggregate") && !provided)?;
    let message = "an aggregate cluster needs `lb_policy: CLUSTER_PROVIDED`";
    Some(refusal(aggregate.span, message, "lb_policy: CLUSTER_PROVIDED"))
}

/// A cluster that sends to the original destination has no endpoints.
pub(super) fn destinations(_: &PatchValue<'_>, cluster: &Object<'_>) -> Option<Refusal> {
    let original = !has(cluster, "cluster_type") && is(cluster, "type", "ORIGINAL_DST");
    (original && has(cluster, "load_assignment")).then(|| {
        let message = "a cluster of type `ORIGINAL_DST` has no `load_assignment`";
        refusal(span(cluster, "load_assignment"), message, "remove it, or write another `type`")
    })
}

/// A header names the destination only if it is to be used.
pub(super) fn destination_header(_: &PatchValue<'_>, config: &Object<'_>) -> Option<Refusal> {
    (is_set(config, "http_header_name") && !is_true(config, "use_http_header")).then(|| {
        let message = "`http_header_name` needs `use_http_header: true`";
        refusal(span(config, "http_header_name"), message, "use_http_header: true")
    })
}

/// What speaks HTTP/2 with a cluster that is given in full.
fn speaks_http2(cluster: &Object<'_>) -> bool {
    if has(cluster, "http2_protocol_options") {
        return true;
    }
    let Some(options) = cluster.member("typed_extension_protocol_options") else { return false };
    let Some(options) = get(&options.entry.value, HTTP_OPTIONS) else { return false };
    // HTTP/2, HTTP/3, ALPN, or what the client speaks.
    let Some(explicit) = get(options, "explicit_http_config") else { return true };
    get(explicit, "http_protocol_options").is_none()
}

/// Health checks by gRPC need HTTP/2.
pub(super) fn grpc_health(_: &PatchValue<'_>, cluster: &Object<'_>) -> Option<Refusal> {
    let check = items(cluster, "health_checks").iter().find_map(|check| get(check, "grpc_health_check"))?;
    (!speaks_http2(cluster)).then(|| {
        let help = format!(
            "typed_extension_protocol_options:\n  {HTTP_OPTIONS}:\n    \"@type\": type.googleapis.com/{HTTP_OPTIONS}\n    explicit_http_config: {{http2_protocol_options: {{}}}}"
        );
        refusal(check.span, "`grpc_health_check` needs a cluster that speaks HTTP/2", help)
    })
}

/// Protocols that are negotiated, and HTTP/3, need their own transport.
pub(super) fn transport(_: &PatchValue<'_>, cluster: &Object<'_>) -> Option<Refusal> {
    let options = get(&cluster.member("typed_extension_protocol_options")?.entry.value, HTTP_OPTIONS)?;
    let socket = cluster.member("transport_socket").map(|member| &member.entry.value);
    let socket_type = socket.and_then(|socket| get(get(socket, "typed_config")?, "@type")?.as_str());
    let plain = socket.is_none() || socket_type.is_some_and(|url| url.ends_with(".RawBuffer"));
    if let Some(auto) = get(options, "auto_config") {
        // Sockets by match may negotiate.
        if plain && !has(cluster, "transport_socket_matches") {
            let message = "`auto_config` negotiates the protocol over TLS, and the cluster has no TLS";
            return Some(refusal(auto.span, message, "add an `UpstreamTlsContext`, or write `explicit_http_config`"));
        }
        let http3 =
            get(auto, "http3_protocol_options").filter(|_| get(auto, "alternate_protocols_cache_options").is_none())?;
        let message = "HTTP/3 in `auto_config` needs `alternate_protocols_cache_options`";
        return Some(refusal(http3.span, message, "alternate_protocols_cache_options: {name: default}"));
    }
    let http3 = get(get(options, "explicit_http_config")?, "http3_protocol_options")?;
    let quic = socket_type.is_some_and(|url| url.ends_with(".QuicUpstreamTransport"));
    (!quic && !has(cluster, "transport_socket_matches")).then(|| {
        let help =
            "add a `transport_socket` with an `envoy.extensions.transport_sockets.quic.v3.QuicUpstreamTransport`";
        refusal(http3.span, "HTTP/3 needs a QUIC transport", help)
    })
}

/// A forward proxy checks the names in certificates unless that is turned off as a whole.
pub(super) fn checked_names(value: &PatchValue<'_>, cluster: &Object<'_>) -> Option<Refusal> {
    let own = child(value, cluster, "cluster_type")?;
    let config = own.member("typed_config").map(|member| &member.entry.value)?;
    let forwards = get(config, "@type")?.as_str()?.ends_with(".dynamic_forward_proxy.v3.ClusterConfig");
    let options = get(&cluster.member("typed_extension_protocol_options")?.entry.value, HTTP_OPTIONS)?;
    let upstream = get(options, "upstream_http_protocol_options")?;
    let yes = |node: &Node, name: &str| get(node, name).is_some_and(|node| node.value == NodeValue::Bool(true));
    let checked = yes(upstream, "auto_sni") && yes(upstream, "auto_san_validation");
    (forwards && !checked && !yes(config, "allow_insecure_cluster_options")).then(|| {
        let message = "a dynamic forward proxy cluster needs `auto_sni` and `auto_san_validation`";
        refusal(upstream.span, message, "upstream_http_protocol_options: {auto_sni: true, auto_san_validation: true}")
    })
}

/// Source addresses besides a first one, at most one of each version of IP.
pub(super) fn source_addresses(_: &PatchValue<'_>, config: &Object<'_>) -> Option<Refusal> {
    let list =
        ["extra_source_addresses", "additional_source_addresses"].into_iter().find(|name| is_set(config, name))?;
    let Some(first) = config.member("source_address").map(|member| &member.entry.value) else {
        let message = format!("`{list}` needs a `source_address`");
        return Some(refusal(span(config, list), message, "add `source_address`"));
    };
    let version = |address: &Node| get(address, "address")?.as_str()?.parse::<IpAddr>().ok().map(|it| it.is_ipv4());
    let mut known: BTreeSet<bool> = version(first).into_iter().collect();
    // An item of `extra_source_addresses` holds its address one level further down.
    let inner = |item| get(item, "address").filter(|address| !address.entries().is_empty()).unwrap_or(item);
    let mut others = items(config, list).iter().filter_map(|item| version(inner(item)));
    others.any(|version| !known.insert(version)).then(|| {
        let help = "write one IPv4 and one IPv6 address";
        refusal(span(config, list), "two source addresses have the same IP version", help)
    })
}

/// What a TCP health check sends is written in hex.
pub(super) fn payload(_: &PatchValue<'_>, payload: &Object<'_>) -> Option<Refusal> {
    let written = payload.member("text").map(|member| &member.entry.value)?;
    let hex = |text: &str| text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let wrong = written.as_str().filter(|text| !text.is_empty() && !hex(text))?;
    let bytes = wrong.bytes().take(4).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let help = format!("write each byte as two digits, from `{bytes}`");
    Some(refusal(written.span, "`text` of a health check is not hexadecimal", help))
}

/// The largest table of Maglev.
const LARGEST_TABLE: u64 = 5_000_011;

/// The size of a table of Maglev is a prime number.
pub(super) fn maglev(_: &PatchValue<'_>, config: &Object<'_>) -> Option<Refusal> {
    let size = number(config, "table_size").filter(|size| (2..=LARGEST_TABLE).contains(size) && !is_prime(*size))?;
    let next = (size..=LARGEST_TABLE).find(|size| is_prime(*size))?;
    let written = &config.member("table_size")?.entry.value;
    Some(refusal(written.span, "`table_size` must be a prime number", format!("table_size: {next}")))
}

fn is_prime(number: u64) -> bool {
    number >= 2 && (2..=number.isqrt()).all(|factor| !number.is_multiple_of(factor))
}

/// A fallback to fewer keys.
pub(super) fn subset(_: &PatchValue<'_>, selector: &Object<'_>) -> Option<Refusal> {
    if !is(selector, "fallback_policy", "KEYS_SUBSET") {
        return None;
    }
    let keys = |name: &str| items(selector, name).iter().filter_map(Node::as_str).collect::<BTreeSet<_>>();
    let (all, fewer) = (keys("keys"), keys("fallback_keys_subset"));
    if !fewer.is_empty() && fewer.is_subset(&all) && fewer != all {
        return None;
    }
    let place = if has(selector, "fallback_keys_subset") { "fallback_keys_subset" } else { "fallback_policy" };
    let message = "`fallback_policy: KEYS_SUBSET` needs `fallback_keys_subset` with some of `keys`, not all";
    Some(refusal(span(selector, place), message, "write fewer keys than `keys` has"))
}

/// Ejections grow up to a limit.
pub(super) fn ejection(_: &PatchValue<'_>, detection: &Object<'_>) -> Option<Refusal> {
    let (base, most) = (seconds(detection, "base_ejection_time")?, seconds(detection, "max_ejection_time")?);
    (most < base).then(|| {
        let message = "`max_ejection_time` is shorter than `base_ejection_time`";
        refusal(span(detection, "max_ejection_time"), message, format!("write at least {base}s"))
    })
}

/// So do the pauses between failed lookups of a cluster; a DNS cache takes any.
pub(super) fn dns_pauses(value: &PatchValue<'_>, rate: &Object<'_>) -> Option<Refusal> {
    holder(value, rate, "envoy.config.cluster.v3.Cluster")?;
    super::core::back_off(value, rate)
}

/// Limits for one host.
pub(super) fn host_thresholds(value: &PatchValue<'_>, thresholds: &Object<'_>) -> Option<Refusal> {
    holder(value, thresholds, "envoy.config.cluster.v3.CircuitBreakers")
        .filter(|(_, field)| *field == "per_host_thresholds")?;
    let others = [
        "max_pending_requests",
        "max_requests",
        "max_retries",
        "retry_budget",
        "track_remaining",
        "max_connection_pools",
    ];
    let other = others.into_iter().find(|name| is_set(thresholds, name))?;
    let help = "move it to `thresholds`, which counts for all hosts together";
    Some(refusal(span(thresholds, other), format!("`per_host_thresholds` cannot have `{other}`"), help))
}

/// A resolver has an address.
pub(super) fn resolver(value: &PatchValue<'_>, address: &Object<'_>) -> Option<Refusal> {
    let (outer, _) = holder(value, address, "envoy.config.core.v3.Address")?;
    let (_, field) = outer.parent.and_then(|(at, field)| Some((value.objects.get(at)?, field.name())))?;
    let written = &address.member("address").filter(|_| field == "dns_resolvers" || field == "resolvers")?.entry.value;
    let name = host_name(written)?;
    let message = format!("the resolver `{name}` is a host name, which nothing resolves");
    Some(refusal(written.span, message, "write its IP address"))
}
