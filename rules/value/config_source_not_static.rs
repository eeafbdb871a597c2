//! EF188: a source of configuration whose cluster is not one of the bootstrap.

use crate::declare_rule;
use crate::lint::context::ProxyRun;
use crate::lint::value::Object;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::resource::{BOOTSTRAP_CLUSTERS, ResourceKind, ResourceState};
use crate::source::escape::one_line;
use crate::source::{Node, Span};
use std::collections::HashMap;

declare_rule! {
    /// A source of configuration whose cluster is not one of the bootstrap.
    ///
    /// # What it finds
    /// An `api_config_source` of type GRPC or REST for extensions, secrets, routes or endpoints that names a cluster which istiod
    /// generates or a CLUSTER ADD patch adds; with config dumps, any cluster that is not static.
    ///
    /// # Why it matters
    /// Envoy accepts only static clusters here, because it may need the configuration before it gets other clusters. It
    /// rejects the whole listener or cluster, with all later updates of it.
    ///
    /// # How to fix
    /// Extensions: `ads: {}`, with an EXTENSION_CONFIG patch or a WasmPlugin. Certificates: a Secret by `kubernetes://…`
    /// over `ads`, or the cluster `sds-grpc` for what the agent beside the proxy serves. Otherwise add the cluster to the
    /// bootstrap: annotation `sidecar.istio.io/bootstrapOverride`.
    ///
    /// # References
    /// Envoy `Config::Utility::checkApiConfigSourceSubscriptionBackingCluster`; Envoy 1.36.4 and 1.40.0 reject such
    /// extensions and EDS clusters of type GRPC and REST, and accept type DELTA_GRPC.
    "EF188" "config-source-not-static" Value Error => check
}

const SOURCE: &str = "envoy.config.core.v3.ApiConfigSource";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut added: Option<HashMap<&str, Span>> = None;
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == SOURCE) {
            let Some(named) = cluster(object) else { continue };
            let name = named.as_str().unwrap_or_default();
            if name.is_empty() || BOOTSTRAP_CLUSTERS.contains(&name) {
                continue;
            }
            let added = added.get_or_insert_with(|| added_clusters(cx));
            let finding = value
                .finding(rule, named.span, format!("`{}` is not a cluster of the bootstrap", one_line(name)))
                .label("must be static")
                .rejected(
                    "Envoy rejects the whole resource: only a static cluster can be the source of other configuration",
                )
                .help("use `ads: {}`, or a cluster of the bootstrap such as `sds-grpc`");
            if let Some(place) = added.get(name) {
                out.push(finding.related(*place, "arrives later, over CDS"));
            } else if name.contains('|') {
                out.push(finding.note("istiod sends this cluster later, over CDS"));
            } else if let Some(seen) = cx.seen(&value.view, |run| run.changes() && !is_static(run.run, name)) {
                let shown = seen.runs.iter().all(|run| statics(run.run).next().is_some());
                let finding = if shown { finding } else { finding.likely("the dump does not show the bootstrap") };
                out.push(seen.tell(finding));
            }
        }
    }
}

/// The cluster that Envoy checks.
fn cluster<'a>(source: &Object<'a>) -> Option<&'a Node> {
    let kind = source.text("api_type").unwrap_or_default();
    if kind.starts_with("AGGREGATED") {
        return None;
    }
    let first = |name: &str| source.member(name)?.entry.value.items().first();
    match first("cluster_names") {
        Some(name) => Some(name),
        None if kind == "GRPC" => get(get(first("grpc_services")?, "envoy_grpc")?, "cluster_name"),
        None => None,
    }
}

/// The names in CLUSTER ADD patches, each with its place.
fn added_clusters<'a>(cx: &Context<'a>) -> HashMap<&'a str, Span> {
    let clusters = cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster);
    let adds = clusters.filter(|view| view.built.is_some_and(|built| built.operation == Operation::Add));
    let names = adds.filter_map(|view| view.node(&["patch", "value", "name"]));
    names.filter_map(|name| Some((name.as_str()?, name.span))).collect()
}

/// The static clusters in a dump; a dump from istiod has none.
fn statics<'r>(run: &'r ProxyRun<'_>) -> impl Iterator<Item = &'r str> {
    let clusters = run.config.of_kind(ResourceKind::Cluster).filter(|one| one.state == ResourceState::Static);
    clusters.map(|one| &*one.name)
}

/// Whether the bootstrap of the proxy has this cluster, or, without a dump, may have it.
fn is_static(run: &ProxyRun<'_>, name: &str) -> bool {
    run.knowledge != Knowledge::Dump || statics(run).any(|one| one == name)
}
