//! EF333: a cluster whose type and discovery settings no longer match.

use crate::declare_rule;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, PatchView, RuleInfo, names};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, PatchContext};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use crate::source::Severity;
use std::collections::BTreeSet;

declare_rule! {
    /// A MERGE that gives a cluster endpoints or a type that do not match its discovery.
    ///
    /// # What it finds
    /// A MERGE of `type` or `cluster_type` into a cluster with `eds_cluster_config`; a MERGE of `load_assignment` into
    /// a cluster that stays of type EDS. Without config dumps: into the cluster of a Kubernetes Service that the match
    /// names.
    ///
    /// # Why it matters
    /// A merge cannot remove `eds_cluster_config`, and Envoy rejects it in a cluster of another type. A cluster of type
    /// EDS gets its endpoints from istiod and does not read `load_assignment`.
    ///
    /// # How to fix
    /// Add a cluster of your own and route to it, or describe the endpoints in a ServiceEntry.
    ///
    /// # References
    /// Envoy `ClusterImplBase` ("eds_cluster_config set in a non-EDS cluster"), tested with Envoy 1.39.3.
    "EF333" "discovery-type-mismatch" Operation Error => check,
    explains: &["EF330"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        let Some(built) = view.built.filter(|built| built.operation.is_merge()) else { continue };
        let Some(value) = &built.value else { continue };
        let has = |key: &str| value.get(key).is_some();
        let (typed, endpoints) = (has("type") || has("cluster_type"), has("load_assignment"));
        if !typed && !endpoints {
            continue;
        }
        let found = |run: &PatchRun<'_, '_>, refused: bool| -> BTreeSet<String> {
            let changed = run.trace.effects.iter().filter(|(_, effect)| effect.changes());
            let names = changed.map(|(place, _)| place.resource.to_string());
            names
                .filter(|name| {
                    run.run.after(ResourceKind::Cluster, name).is_some_and(|it| mismatch(&it) == Some(refused))
                })
                .collect()
        };
        for refused in [true, false] {
            if (refused && !typed) || (!refused && !endpoints) {
                continue;
            }
            let seen = cx.seen_if(&view, |run| !found(run, refused).is_empty());
            let Some(seen) = seen.filter(|seen| seen.certain() || of_service(&view)) else { continue };
            let mut clusters: BTreeSet<String> = seen.runs.iter().flat_map(|run| found(run, refused)).collect();
            if !seen.certain() {
                clusters.clear();
            }
            let finding = if refused {
                view.finding(
                    rule,
                    view.value_path_span(if has("type") { "type" } else { "cluster_type" }),
                    "the cluster keeps `eds_cluster_config`, which only a cluster of type EDS may have",
                )
                .label("no longer EDS")
                .rejected("Envoy rejects the cluster and keeps the one it has; a proxy that starts has none")
            } else {
                view.finding(
                    rule,
                    view.value_path_span("load_assignment"),
                    "`load_assignment` is not read: the cluster is of type EDS",
                )
                .severity(Severity::Warning)
                .label("endpoints keep coming from istiod")
            };
            let finding = if seen.certain() {
                finding.note(format!("clusters: {}", names::listed(clusters.iter().map(String::as_str), 6)))
            } else {
                finding
                    .severity(Severity::Warning)
                    .note("istiod's clusters of Services are of type EDS, except for headless ones")
            };
            let finding = finding
                .help("add a cluster with CLUSTER ADD and route to it, or describe the endpoints in a ServiceEntry")
                .objects(clusters);
            out.push(seen.tell(finding));
        }
    }
}

/// Whether a match names a Kubernetes Service.
fn of_service(view: &PatchView<'_>) -> bool {
    let ObjectMatch::Cluster(wanted) = &view.patch.object else { return false };
    view.patch.context != PatchContext::SidecarInbound
        && [&wanted.service, &wanted.name].iter().any(|text| text.ends_with(".svc.cluster.local"))
}

/// Whether Envoy rejects the cluster (true) or does not read its endpoints (false); `None` if neither.
fn mismatch(cluster: &Tree<'_>) -> Option<bool> {
    let eds = cluster.str_at("type") == "EDS";
    match (eds, cluster.get("eds_cluster_config").is_some(), cluster.get("load_assignment").is_some()) {
        (false, true, _) => Some(true),
        (true, _, true) => Some(false),
        _ => None,
    }
}
