//! EF341: a cluster that a gRPC service uses but that speaks HTTP/1.1.

use crate::declare_rule;
use crate::lint::callers::called;
use crate::lint::context::{PatchRun, PatchView};
use crate::lint::seen::Seen;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use crate::source::Span;
use std::collections::HashMap;

declare_rule! {
    /// A cluster that a gRPC service uses but that speaks HTTP/1.1.
    ///
    /// # What it finds
    /// A CLUSTER ADD without HTTP/2 whose name is the `cluster_name` of an `envoy_grpc` in a given patch: external
    /// authorization, external processing, rate limits, access logs, tracing. With config dumps, also istiod's clusters.
    ///
    /// # Why it matters
    /// gRPC requires HTTP/2, and Envoy sends HTTP/1.1 to a cluster that does not say otherwise. Envoy accepts the
    /// configuration; every call fails, and `failure_mode_allow` or its opposite decides what happens to requests.
    ///
    /// # How to fix
    /// Add `http2_protocol_options` to the cluster; for a Service, `appProtocol: grpc` or a port named `grpc-…`.
    ///
    /// # References
    /// Envoy, `envoy.extensions.upstreams.http.v3.HttpProtocolOptions`, `envoy.config.core.v3.GrpcService.EnvoyGrpc`.
    "EF341" "grpc-cluster-without-http2" Operation Error => check
}

const ENVOY_GRPC: &str = "envoy.config.core.v3.GrpcService.EnvoyGrpc";

/// The entry of `typed_extension_protocol_options` with the protocol.
const PROTOCOL: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    generated(rule, cx, out);
    let mut used: Option<HashMap<&str, (PatchView<'_>, Span)>> = None;
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        let Some(built) = view.built.filter(|built| built.operation == Operation::Add) else { continue };
        let Some(cluster) = built.value.as_ref().filter(|cluster| !cluster.name().is_empty()) else { continue };
        if speaks_http2(cluster) {
            continue;
        }
        let used = used.get_or_insert_with(|| called(cx, &[(ENVOY_GRPC, "cluster_name")]));
        let Some((user, place)) = used.get(cluster.name()) else { continue };
        let name = cluster.name();
        out.push(
            view.finding(
                rule,
                view.value_path_span("name"),
                format!("`{name}` is used for gRPC, but Envoy sends it HTTP/1.1"),
            )
            .label("a cluster without HTTP/2")
            .related(*place, format!("{} calls it with gRPC", user.filter.full_name()))
            .note("gRPC requires HTTP/2: Envoy accepts the configuration, and every call fails")
            .snippet(format!(
                "typed_extension_protocol_options:\n  {PROTOCOL}:\n    \"@type\": type.googleapis.com/{PROTOCOL}\n    explicit_http_config:\n      http2_protocol_options: {{}}"
            )),
        );
    }
}

/// The same for clusters that istiod generates, as config dumps show them.
fn generated(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == ENVOY_GRPC) {
            let Some(named) = object.member("cluster_name") else { continue };
            let Some(name) = named.entry.value.as_str().filter(|name| name.starts_with("outbound|")) else { continue };
            let plain = |run: &PatchRun<'_, '_>| {
                run.run.after(ResourceKind::Cluster, name).is_some_and(|cluster| !speaks_http2(&cluster))
            };
            let Some(seen) = cx.seen(&value.view, |run| run.changes() && plain(run)).filter(Seen::certain) else {
                continue;
            };
            if seen.runs.len() != seen.attached {
                continue;
            }
            let finding = value
                .finding(rule, named.entry.value.span, format!("`{name}` is used for gRPC, but Envoy sends it HTTP/1.1"))
                .label("a cluster without HTTP/2")
                .note("gRPC requires HTTP/2: Envoy accepts the configuration, and every call fails")
                .help("name the port of the Service `grpc` or `grpc-…`, or give it appProtocol: grpc: istiod then generates HTTP/2");
            out.push(seen.tell(finding));
        }
    }
}

/// Whether a cluster may speak HTTP/2 or later: explicitly, by ALPN, or as its clients do.
fn speaks_http2(cluster: &Tree<'_>) -> bool {
    if cluster.get("http2_protocol_options").is_some() || cluster.get("protocol_selection").is_some() {
        return true;
    }
    let Some(options) = cluster.get("typed_extension_protocol_options") else { return false };
    let Some(options) = options.get(PROTOCOL) else { return false };
    let explicit = options.get("explicit_http_config");
    match explicit {
        Some(explicit) => explicit.get("http_protocol_options").is_none(),
        // Any other form chooses by itself, or is not read here.
        None => true,
    }
}
