//! EF323: a cluster named in a value that the proxy does not have.

use crate::declare_rule;
use crate::engine::compat::Behaviour;
use crate::engine::matching::parse_subset_key;
use crate::engine::services;
use crate::lint::clusters::{self, Clusters, Doubt};
use crate::lint::context::{Knowledge, PatchRun, PatchView};
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::proxy::ProxyKind;
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use crate::source::escape::one_line;
use crate::source::{Severity, Step};
use std::cell::LazyCell;
use std::collections::HashMap;

declare_rule! {
    /// A cluster named in a value that the proxy does not have.
    ///
    /// # What it finds
    /// A `cluster` or `cluster_name` in a patch's value (routes, gRPC and HTTP services, weighted clusters), or a
    /// `collector_cluster` for tracing, that is not a cluster of the proxy: neither in its config dump nor added by a patch.
    /// Without a config dump: a short host (`outbound|80||cart`), a port that the Service of the input does not have, or, if the
    /// input contains Services, a name that istiod does not generate and no given patch adds.
    ///
    /// # Why it matters
    /// Requests to it fail: 503 from a route, no authorization or rate limit decision, no logs. Envoy rejects a listener whose
    /// tracer has no cluster.
    ///
    /// # How to fix
    /// Use a name from the dump (`outbound|<port>||<host>`), add the cluster with a CLUSTER ADD patch, or make the
    /// service visible to the workload (`exportTo`, Sidecar egress; for waypoints the annotation
    /// `envoyfilter.istio.io/referenced-services`).
    ///
    /// # References
    /// Envoy, cluster manager; Istio 1.26 change notes (referenced-services).
    "EF323" "unknown-cluster" Operation Warning => check,
    later: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known = Clusters::new(cx);
    let added = LazyCell::new(|| added(cx));
    for view in cx.patches() {
        let Some(value) = view.built.and_then(|built| built.value.as_ref()) else { continue };
        let mut names: Vec<(Vec<Step>, String)> = Vec::new();
        clusters(value, &mut Vec::new(), &mut names);
        if view.patch.apply_to == ApplyTo::ExtensionConfig {
            // The agent beside the proxy fetches the code of Wasm extensions, without a cluster.
            let code = [Step::from("code"), Step::from("remote")];
            names.retain(|(route, _)| !route.windows(2).any(|steps| steps == code));
        }
        names.retain(|(route, name)| {
            // Another rule is about sources of configuration, which cannot use clusters of patches.
            !clusters::is_static(name) && !route.contains(&Step::from("api_config_source"))
        });
        for (route, name) in names {
            let is_referenced = is_referenced(&view, &name);
            let absent = |run: &PatchRun<'_, '_>| {
                let unknown = is_referenced && reads_references(run);
                run.run.knowledge == Knowledge::Dump && run.changes() && !unknown && !has(run, &name)
            };
            let Some(seen) = cx.seen(&view, absent) else {
                out.extend(doubted(rule, (cx, &known), &view, &route, &name));
                continue;
            };
            let finding = view
                .finding(rule, view.value_place(&route), format!("no cluster is named `{name}`"))
                .label("not a cluster of the proxy");
            let like = seen.runs.iter().find_map(|run| run.run.cluster_like(&name));
            let referenced = like.is_none().then(|| reference(&name, &seen.runs)).flatten();
            let mut finding = match (&like, &referenced) {
                (Some(like), _) => finding.help(format!("did you mean `{like}`?")),
                (None, Some(help)) => finding.note(OF_WAYPOINTS).snippet(help.clone()),
                (None, None) => {
                    finding.help("add it with a CLUSTER ADD patch, or use the name of a cluster that the proxy has")
                }
            };
            if route.last() == Some(&Step::from("collector_cluster")) {
                finding = finding
                    .severity(Severity::Error)
                    .rejected("a tracer needs its cluster: Envoy rejects the listener");
            }
            if name.starts_with("inbound|") && like.is_none() {
                finding = finding.note(
                    "istiod generates inbound clusters for the ports of the workload's Services and of its Sidecar only",
                );
            } else if name.contains('|') && like.is_none() && referenced.is_none() {
                finding = finding.note("is the service visible to this workload? see exportTo and Sidecar egress");
            }
            if let Some(other) = added.get(&*name) {
                finding = added_elsewhere(finding, other, &seen.runs);
            }
            out.push(seen.tell(finding));
        }
    }
}

/// Which services waypoints have outbound clusters for.
const OF_WAYPOINTS: &str = "a waypoint has outbound clusters only for services that an EnvoyFilter references";

/// Whether istiod adds the clusters of referenced services to the proxy.
fn reads_references(run: &PatchRun<'_, '_>) -> bool {
    run.run.config.proxy.kind == ProxyKind::Waypoint && run.run.plan.compat.has(Behaviour::ReferencedServices)
}

/// Whether the filter references the service of a cluster: a config dump from before shows no cluster for it.
fn is_referenced(view: &PatchView<'_>, name: &str) -> bool {
    let key = parse_subset_key(name);
    key.direction == "outbound" && services::referenced_by(view.filter).any(|host| host == key.host)
}

/// How to reference the service of a cluster that only waypoints lack.
fn reference(name: &str, runs: &[PatchRun<'_, '_>]) -> Option<String> {
    let key = parse_subset_key(name);
    (key.direction == "outbound" && !key.host.is_empty() && runs.iter().all(reads_references))
        .then(|| format!("metadata:\n  annotations:\n    {}: {}", services::REFERENCED_SERVICES, one_line(key.host)))
}

/// The patches that add clusters, the first of each name.
fn added<'a>(cx: &Context<'a>) -> HashMap<&'a str, PatchView<'a>> {
    let mut added = HashMap::new();
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        let Some(built) = view.built.filter(|built| built.operation == Operation::Add) else { continue };
        if let Some(value) = &built.value {
            added.entry(value.name()).or_insert(view);
        }
    }
    added
}

/// The cluster is added, but not to these proxies.
fn added_elsewhere(finding: Finding, other: &PatchView<'_>, runs: &[PatchRun<'_, '_>]) -> Finding {
    let finding = finding
        .related(other.value_path_span("name"), "this patch adds it, but not to this proxy")
        .help("let the patch that adds it reach this proxy: see its context, selector and namespace");
    // Another rule reports the patch whose cluster a waypoint ignores.
    let ignored = |run: &PatchRun<'_, '_>| {
        run.run.config.proxy.kind == ProxyKind::Waypoint
            && run.run.plan.find(other.filter_index, other.patch.index).is_some()
    };
    if runs.iter().all(ignored) { finding.follows().severity(Severity::Info) } else { finding }
}

fn has(run: &PatchRun<'_, '_>, name: &str) -> bool {
    let config = run.run.config;
    config.of_kind(ResourceKind::Cluster).any(|resource| resource.name == name)
        || run.run.judged.patched.resources.iter().any(|one| one.kind == ResourceKind::Cluster && one.name == name)
}

/// The same without a dump, where istiod's naming and the Services of the input contradict the name.
fn doubted(
    rule: &'static RuleInfo,
    (cx, known): (&Context<'_>, &Clusters<'_>),
    view: &PatchView<'_>,
    route: &[Step],
    name: &str,
) -> Option<Finding> {
    if cx.attaches_to_dump(view.filter_index) {
        return None;
    }
    let finding = view
        .finding(rule, view.value_place(route), format!("no cluster is named `{name}`"))
        .label("not a cluster of the proxy");
    match known.doubt(name, &view.filter.namespace)? {
        // Filters without any other object of their mesh are often not all there is.
        Doubt::Name if cx.inventory.services.is_empty() => None,
        Doubt::Name => {
            Some(finding.likely(clusters::NOT_GENERATED).help(
                "add it with a CLUSTER ADD patch, or use the name of a cluster of istiod: outbound|<port>||<host>",
            ))
        }
        Doubt::Service(why, help) => Some(finding.likely(&why).help(help)),
    }
}

/// Fields that name a cluster, with their path; not a cluster's own name.
fn clusters(tree: &Tree<'_>, route: &mut Vec<Step>, names: &mut Vec<(Vec<Step>, String)>) {
    let tree = tree.readable();
    for (key, value) in tree.entries() {
        route.push(Step::from(&**key));
        let text = value.as_str().unwrap_or_default();
        match &**key {
            "cluster" | "cluster_name" | "collector_cluster" | "upstream_cluster"
                if !text.is_empty() && !text.contains('%') =>
            {
                names.push((route.clone(), text.to_owned()));
            }
            "load_assignment" | "metadata" | "filter_metadata" | "dynamic_metadata" => {}
            _ => {
                if key == "weighted_clusters" {
                    weighted(value, route, names);
                }
                clusters(value, route, names);
            }
        }
        route.pop();
    }
    for (number, item) in tree.items().iter().enumerate() {
        route.push(Step::from(number));
        clusters(item, route, names);
        route.pop();
    }
}

/// The names of weighted clusters.
fn weighted(tree: &Tree<'_>, route: &[Step], names: &mut Vec<(Vec<Step>, String)>) {
    let tree = tree.readable();
    let items = tree.get("clusters").map(Tree::items).unwrap_or_default();
    for (number, item) in items.iter().map(Tree::readable).enumerate().filter(|(_, item)| !item.name().is_empty()) {
        let below = [Step::from("clusters"), Step::from(number), Step::from("name")];
        names.push((route.iter().cloned().chain(below).collect(), item.name().to_owned()));
    }
}
