//! What Envoy's code rejects in objects as patches leave them: what istiod generated and what was merged into it.

use crate::engine::trace::{Effect, Place};
use crate::lint::facts::context::PatchRun;
use crate::lint::facts::seen::config_type;
use crate::lint::value::chain_match::{self, Conditions};
use crate::lint::value::walk::get;
use crate::model::envoy_filter::ApplyTo;
use crate::model::resource::ResourceKind;
use crate::proto::tree::{Tree, Value};
use crate::source::Node;
use std::collections::BTreeSet;

/// A check of an object into which a patch merged something, after all patches.
pub(crate) struct Outcome {
    /// The patches that may cause it.
    pub apply_to: ApplyTo,
    /// The field of the patch that causes it.
    pub written: &'static str,
    /// Whether what is written there can.
    pub asks: fn(&Node) -> bool,
    /// The object that Envoy rejects, if it does.
    pub wrong: fn(&PatchRun<'_, '_>) -> Option<Rejected>,
    /// What is wrong with it, after its name.
    pub message: &'static str,
    /// What to write.
    pub help: &'static str,
    /// The place of the check in the sources of Envoy.
    pub source: &'static str,
}

/// What to change if a patch reaches clusters that it is not for.
const THOSE_MEANT: &str = "match the clusters that are meant, by `cluster.service` or `cluster.name`";

/// What to change if a patch also reaches the listener for HTTP/3 of a gateway.
const ONLY_TCP: &str = "name the TCP listener in the match: `listener.name`, such as `0.0.0.0_8443`";

/// What is wrong with a listener for HTTP/3 that has filters for TCP.
const TCP_FILTER: &str = "serves HTTP/3 over UDP and cannot have listener filters for TCP connections";

/// Clusters that every sidecar has, by the releases.
const EVERYWHERE: [&str; 4] = [
    "PassthroughCluster",
    "InboundPassthroughCluster",
    "InboundPassthroughClusterIpv4",
    "InboundPassthroughClusterIpv6",
];

/// An object that Envoy rejects.
pub(crate) struct Rejected {
    /// What it is, with its name.
    pub name: String,
    /// Whether every proxy of its kind has it.
    pub is_everywhere: bool,
}

/// Every check that is known.
pub(crate) const RESULTS: &[Outcome] = &[
    Outcome {
        apply_to: ApplyTo::Cluster,
        written: "lb_policy",
        asks: |policy| policy.as_str() == Some("CLUSTER_PROVIDED"),
        wrong: |run| cluster(run, |it| provided(it) && !has(it, "cluster_type") && it.str_at("type") != "ORIGINAL_DST"),
        message: "does not select its endpoints itself, as `lb_policy: CLUSTER_PROVIDED` needs",
        help: "write another `lb_policy`",
        source: "source/common/upstream/cluster_manager_impl.cc",
    },
    Outcome {
        apply_to: ApplyTo::Cluster,
        written: "lb_policy",
        asks: |_| true,
        wrong: |run| {
            let other =
                |it: &Tree<'_>| !matches!(it.str_at("lb_policy"), "CLUSTER_PROVIDED" | "LOAD_BALANCING_POLICY_CONFIG");
            cluster(run, |it| is_original(it) && other(it) && !has(it, "load_balancing_policy"))
        },
        message: "has the type `ORIGINAL_DST`, which needs `lb_policy: CLUSTER_PROVIDED`",
        help: THOSE_MEANT,
        source: "source/common/upstream/cluster_factory_impl.cc",
    },
    Outcome {
        apply_to: ApplyTo::Cluster,
        written: "load_balancing_policy",
        asks: |_| true,
        wrong: |run| cluster(run, |it| is_original(it) && has(it, "load_balancing_policy") && !has_own_policy(it)),
        message: "has the type `ORIGINAL_DST`, which brings its own load balancer",
        help: THOSE_MEANT,
        source: "source/common/upstream/cluster_manager_impl.cc",
    },
    Outcome {
        apply_to: ApplyTo::Cluster,
        written: "load_assignment",
        asks: |_| true,
        wrong: |run| cluster(run, |it| is_original(it) && has(it, "load_assignment")),
        message: "has the type `ORIGINAL_DST`, which has no `load_assignment`",
        help: THOSE_MEANT,
        source: "source/extensions/clusters/original_dst/original_dst_cluster.cc",
    },
    Outcome {
        apply_to: ApplyTo::Cluster,
        written: "type",
        asks: |kind| kind.as_str() != Some("ORIGINAL_DST"),
        wrong: |run| cluster(run, |it| provided(it) && !has(it, "cluster_type") && it.str_at("type") != "ORIGINAL_DST"),
        message: "keeps `lb_policy: CLUSTER_PROVIDED`, which this type does not provide",
        help: THOSE_MEANT,
        source: "source/common/upstream/cluster_manager_impl.cc",
    },
    Outcome {
        apply_to: ApplyTo::Cluster,
        written: "lb_policy",
        asks: |policy| policy.as_str() == Some("LOAD_BALANCING_POLICY_CONFIG"),
        wrong: |run| {
            let policy = |it: &Tree<'_>| it.str_at("lb_policy") == "LOAD_BALANCING_POLICY_CONFIG";
            cluster(run, |it| policy(it) && !has(it, "load_balancing_policy"))
        },
        message: "has no `load_balancing_policy`, which `lb_policy: LOAD_BALANCING_POLICY_CONFIG` needs",
        help: "add `load_balancing_policy`, or write another `lb_policy`",
        source: "source/common/upstream/upstream_impl.cc",
    },
    Outcome {
        apply_to: ApplyTo::Cluster,
        written: "lb_subset_config",
        asks: |_| true,
        wrong: |run| cluster(run, |it| provided(it) && has(it, "lb_subset_config")),
        message: "has `lb_policy: CLUSTER_PROVIDED`, which excludes `lb_subset_config`",
        help: "match the clusters that need subsets by `service` or `name`",
        source: "source/common/upstream/cluster_factory_impl.cc",
    },
    Outcome {
        apply_to: ApplyTo::Cluster,
        written: "health_checks",
        asks: |checks| checks.items().iter().any(|check| get(check, "grpc_health_check").is_some()),
        wrong: |run| cluster(run, |it| checks_grpc(it) && !speaks_http2(it)),
        message: "does not speak HTTP/2, as `grpc_health_check` needs",
        help: "match the clusters of gRPC services: istiod gives those of ports named `grpc` HTTP/2",
        source: "source/common/upstream/health_checker_impl.cc",
    },
    Outcome {
        apply_to: ApplyTo::Cluster,
        written: "typed_extension_protocol_options",
        asks: |_| true,
        wrong: |run| cluster(run, needs_transport),
        message: "has no TLS to negotiate the protocol in, or no QUIC for HTTP/3",
        help: "write `explicit_http_config` with `http_protocol_options` or `http2_protocol_options`",
        source: "source/common/upstream/upstream_impl.cc",
    },
    Outcome {
        apply_to: ApplyTo::HttpRoute,
        written: "route",
        asks: |action| get(action, "weighted_clusters").is_some(),
        wrong: |run| object(run, |route, _| has_no_weight(route)),
        message: "has weighted clusters whose weights are all 0",
        help: "write a weight above 0 for at least one cluster",
        source: "source/common/router/weighted_cluster_specifier.cc",
    },
    Outcome {
        apply_to: ApplyTo::FilterChain,
        written: "transport_socket",
        asks: |_| true,
        wrong: |run| object(run, |chain, place| is_quic(run, place) && !speaks_quic(chain)),
        message: "serves HTTP/3 and needs its QUIC transport socket, which this patch replaces",
        help: ONLY_TCP,
        source: "source/common/listener_manager/listener_impl.cc",
    },
    Outcome {
        apply_to: ApplyTo::ListenerFilter,
        written: "typed_config",
        asks: |_| true,
        wrong: |run| object(run, |listener, _| has_tcp_filter(listener, Some(run))),
        message: TCP_FILTER,
        help: ONLY_TCP,
        source: "source/common/listener_manager/listener_manager_impl.cc",
    },
    Outcome {
        apply_to: ApplyTo::Listener,
        written: "listener_filters",
        asks: |_| true,
        wrong: |run| object(run, |listener, _| has_tcp_filter(listener, None)),
        message: TCP_FILTER,
        help: ONLY_TCP,
        source: "source/common/listener_manager/listener_manager_impl.cc",
    },
    Outcome {
        apply_to: ApplyTo::FilterChain,
        written: "transport_socket",
        asks: |_| true,
        wrong: |run| object(run, |chain, place| has_no_certificate(chain) && !is_quic(run, place)),
        message: "is a TLS server without a certificate",
        help: "match the chains that have TLS, or add `tls_certificate_sds_secret_configs`, such as istiod's secret `default`",
        source: "source/common/tls/server_context_impl.cc",
    },
    Outcome {
        apply_to: ApplyTo::FilterChain,
        written: "filter_chain_match",
        asks: |_| true,
        wrong: overlapping,
        message: "matches the same connections as another one of this listener",
        help: "give it conditions of its own in `filter_chain_match`",
        source: "source/common/listener_manager/filter_chain_manager_impl.cc",
    },
];

fn has(tree: &Tree<'_>, key: &str) -> bool {
    tree.get(key).is_some()
}

fn provided(cluster: &Tree<'_>) -> bool {
    cluster.str_at("lb_policy") == "CLUSTER_PROVIDED" && !has(cluster, "load_balancing_policy")
}

/// Whether a cluster sends to the original destination of a connection.
fn is_original(cluster: &Tree<'_>) -> bool {
    cluster.str_at("type") == "ORIGINAL_DST" && !has(cluster, "cluster_type")
}

/// Whether one of the load balancing policies of a cluster is its own load balancer.
fn has_own_policy(cluster: &Tree<'_>) -> bool {
    let policies = cluster.path(&["load_balancing_policy", "policies"]).map(Tree::items).unwrap_or_default();
    policies.iter().any(|policy| {
        let config = policy.path(&["typed_extension_config", "typed_config"]);
        config.is_some_and(|config| config.message().0.ends_with(".ClusterProvided"))
    })
}

/// The places that a patch changed.
fn changed<'r>(run: &'r PatchRun<'_, '_>) -> impl Iterator<Item = &'r Place> {
    let changes = |effect: &Effect| {
        use Effect::{Inserted, Merged, Replaced, TransportSocketMerged};
        matches!(effect, Merged(_) | TransportSocketMerged(..) | Inserted { .. } | Replaced)
    };
    run.trace.effects.iter().filter(move |(_, effect)| changes(effect)).map(|(place, _)| place)
}

/// The first changed object of which something holds.
fn object(run: &PatchRun<'_, '_>, holds: impl Fn(&Tree<'_>, &Place) -> bool) -> Option<Rejected> {
    changed(run).find_map(|place| {
        // Of a listener filter, its listener is judged.
        let place = &if place.listener_filter.is_some() { of_listener(place) } else { place.clone() };
        run.run.with_object(place, |tree| {
            let (what, name, of) = match (&place.route, &place.chain) {
                (Some((_, name)), _) => {
                    let host = place.vhost.as_deref().unwrap_or_default();
                    ("route", name, format!(" of virtual host `{host}`"))
                }
                (None, Some((_, name))) => ("filter chain", name, format!(" of listener `{}`", place.resource)),
                (None, None) if place.kind == ResourceKind::Listener => ("listener", &place.resource, String::new()),
                (None, None) => ("cluster", &place.resource, String::new()),
            };
            let name = if name.is_empty() { String::new() } else { format!(" `{name}`") };
            let is_everywhere = place.kind == ResourceKind::Cluster && EVERYWHERE.contains(&&*place.resource);
            holds(tree, place).then(|| Rejected { name: format!("{what}{name}{of}"), is_everywhere })
        })
    })
}

fn cluster(run: &PatchRun<'_, '_>, holds: impl Fn(&Tree<'_>) -> bool) -> Option<Rejected> {
    object(run, |tree, _| holds(tree))
}

fn has_no_weight(route: &Tree<'_>) -> bool {
    let clusters = route.path(&["route", "weighted_clusters", "clusters"]).map(Tree::items).unwrap_or_default();
    let weight = |cluster: &Tree<'_>| cluster.get("weight").and_then(Tree::as_u64);
    !clusters.is_empty() && clusters.iter().all(|cluster| weight(cluster) == Some(0))
}

fn checks_grpc(cluster: &Tree<'_>) -> bool {
    cluster
        .get("health_checks")
        .map(Tree::items)
        .unwrap_or_default()
        .iter()
        .any(|check| has(check, "grpc_health_check"))
}

const OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/// Whether protocols are negotiated without TLS, or HTTP/3 is spoken without QUIC. Sockets by match may have what is needed.
fn needs_transport(cluster: &Tree<'_>) -> bool {
    let Some(options) = cluster.path(&["typed_extension_protocol_options", OPTIONS]) else { return false };
    let options = options.readable();
    let socket = cluster.path(&["transport_socket", "typed_config"]).map(Tree::readable);
    let ends = |name: &str| socket.as_ref().is_some_and(|socket| socket.str_at("@type").ends_with(name));
    let plain = !has(cluster, "transport_socket") || ends(".RawBuffer");
    let negotiates = has(&options, "auto_config") && plain;
    let http3 = options.path(&["explicit_http_config", "http3_protocol_options"]).is_some();
    !has(cluster, "transport_socket_matches") && (negotiates || http3 && !ends(".QuicUpstreamTransport"))
}

fn speaks_http2(cluster: &Tree<'_>) -> bool {
    if has(cluster, "http2_protocol_options") {
        return true;
    }
    let Some(options) = cluster.path(&["typed_extension_protocol_options", OPTIONS]) else { return false };
    let options = options.readable();
    let only_http1 = options.path(&["explicit_http_config", "http_protocol_options"]).is_some();
    !only_http1
        && ["explicit_http_config", "auto_config", "use_downstream_protocol_config"]
            .iter()
            .any(|key| has(&options, key))
}

fn has_no_certificate(chain: &Tree<'_>) -> bool {
    const SOURCES: [&str; 5] = [
        "tls_certificates",
        "tls_certificate_sds_secret_configs",
        "tls_certificate_provider_instance",
        "tls_certificate_certificate_provider_instance",
        "custom_tls_certificate_selector",
    ];
    let Some(config) = chain.path(&["transport_socket", "typed_config"]) else { return false };
    let config = config.readable();
    let server = config.str_at("@type").ends_with(".DownstreamTlsContext");
    let common = config.get("common_tls_context");
    server && !common.is_some_and(|common| SOURCES.iter().any(|source| has(common, source)))
}

/// Whether a listener serves HTTP/3.
fn serves_quic(listener: &Tree<'_>) -> bool {
    listener.path(&["udp_listener_config", "quic_options"]).is_some()
}

/// The same for the listener of a place.
fn is_quic(run: &PatchRun<'_, '_>, place: &Place) -> bool {
    run.run.with_object(&of_listener(place), |listener| serves_quic(listener).then_some(())).is_some()
}

/// The listener of a place in it.
fn of_listener(place: &Place) -> Place {
    place.with(|names| (names.chain, names.filter, names.listener_filter) = (None, None, None))
}

fn speaks_quic(chain: &Tree<'_>) -> bool {
    let config = chain.path(&["transport_socket", "typed_config"]).map(Tree::readable);
    config.is_none_or(|config| config.str_at("@type").ends_with(".QuicDownstreamTransport"))
}

/// Filters that only listeners for TCP can have, by the package of their type.
const TCP_FILTERS: [&str; 5] = ["proxy_protocol", "tls_inspector", "http_inspector", "original_dst", "original_src"];

/// Whether a listener for HTTP/3 has filters for TCP, of this patch if one is given.
fn has_tcp_filter(listener: &Tree<'_>, of: Option<&PatchRun<'_, '_>>) -> bool {
    let filters = listener.get("listener_filters").map(Tree::items).unwrap_or_default();
    let tcp = |filter: &Tree<'_>| {
        let kind = config_type(filter);
        let package = kind.strip_prefix("envoy.extensions.filters.listener.").and_then(|rest| rest.split('.').next());
        package.is_some_and(|package| TCP_FILTERS.contains(&package))
            && of.is_none_or(|run| filter.origin == run.id.origin())
    };
    serves_quic(listener) && filters.iter().any(tcp)
}

/// The chain of this patch that matches the same connections as another chain of its listener.
fn overlapping(run: &PatchRun<'_, '_>) -> Option<Rejected> {
    object(run, |chain, place| {
        let Some((Some(index), _)) = &place.chain else { return false };
        let others = run.run.with_object(&of_listener(place), |listener| {
            let all = listener.get("filter_chains")?.items();
            let own = matched(chain);
            let collides = |(at, other): (usize, &Tree<'_>)| at != *index && !matched(other).is_disjoint(&own);
            (!has(listener, "filter_chain_matcher")).then(|| all.iter().enumerate().any(collides))
        });
        others == Some(true)
    })
}

/// The combinations of conditions that a filter chain matches.
pub(crate) fn matched(chain: &Tree<'_>) -> BTreeSet<Vec<String>> {
    chain_match::combinations(&look(chain.get("filter_chain_match"))).into_iter().collect()
}

fn look(tree: Option<&Tree<'_>>) -> Conditions {
    let field = |name: &str| tree.and_then(|tree| tree.get(name));
    let plain = |tree: &Tree<'_>| match &tree.value {
        Value::String(text) | Value::Number(text) => text.to_string(),
        _ => String::new(),
    };
    let network = |range: &Tree<'_>| {
        let length = range.get("prefix_len").and_then(Tree::as_u64).unwrap_or(0);
        chain_match::network(range.str_at("address_prefix"), length)
    };
    chain_match::conditions(
        &|name| field(name).map(plain),
        &|name| field(name).map(|list| list.items().iter().map(plain).collect()).unwrap_or_default(),
        &|name| field(name).map(|list| list.items().iter().map(network).collect()).unwrap_or_default(),
    )
}
