//! EF505: a match by port alone changes clusters of services in several namespaces.

use crate::declare_rule;
use crate::engine::matching::parse_subset_key;
use crate::lint::context::ProxyRun;
use crate::lint::{Context, Findings, Knowledge, RuleInfo, names};
use crate::model::envoy_filter::{ApplyTo, ClusterMatch, ObjectMatch};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

declare_rule! {
    /// A cluster match by port alone, which reaches services in several namespaces.
    ///
    /// # What it finds
    /// A CLUSTER patch whose match has `portNumber` and nothing else, and that changes clusters of more than one service in
    /// more than one namespace. Needs config dumps.
    ///
    /// # Why it matters
    /// Many services share a port; the patch changes how the workload calls all of them.
    ///
    /// # How to fix
    /// Name the service: `cluster.service`.
    ///
    /// # References
    /// istio/istio#21271, istio/istio#23111, aeraki-mesh/aeraki#68.
    "EF505" "port-reaches-other-services" Scope Warning => check,
    needs: &[Dump], policy: Never("it needs the Services of the mesh")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        let ObjectMatch::Cluster(want) = &view.patch.object else { continue };
        let alone = ClusterMatch { port_number: want.port_number, ..ClusterMatch::default() };
        if want.port_number == 0 || *want != alone {
            continue;
        }
        let mut hosts: BTreeMap<String, String> = BTreeMap::new();
        let mut workloads = Vec::new();
        for met in cx.on_proxies(view.filter_index, view.patch.index).filter(|met| met.run.knowledge == Knowledge::Dump)
        {
            for (place, _) in met.trace.effects.iter().filter(|(_, effect)| effect.changes()) {
                let key = parse_subset_key(&place.resource);
                if key.direction == "outbound" && !hosts.contains_key(key.host) {
                    hosts.insert(key.host.to_owned(), namespace(cx, met.run, &place.resource, key.host));
                }
            }
            workloads.push(met.run.label().to_owned());
        }
        let namespaces: BTreeSet<&str> = hosts.values().map(String::as_str).collect();
        if namespaces.len() < 2 {
            continue;
        }
        out.push(
            view.finding(
                rule,
                view.value_span(&["match", "cluster", "portNumber"]),
                format!(
                    "port {} is shared by {} services in {} namespaces",
                    want.port_number,
                    hosts.len(),
                    namespaces.len()
                ),
            )
            .label("matches all of them")
            .note(format!("changed: {}", names::listed(hosts.keys().map(String::as_str), 8)))
            .snippet("cluster:\n  service: <name>.<namespace>.svc.cluster.local\n  portNumber: <port>")
            .objects(hosts.keys().cloned())
            .workloads(workloads),
        );
    }
}

/// The namespace of the service behind an outbound cluster: from its name, from the `istio` filter metadata that istiod
/// writes into the cluster, from a given ServiceEntry; otherwise the host itself.
fn namespace(cx: &Context<'_>, run: &ProxyRun<'_>, cluster: &str, host: &str) -> String {
    if let Some((_, namespace)) = host.split_once(".svc.").and_then(|(name, _)| name.split_once('.')) {
        return namespace.to_owned();
    }
    let tree = run.after(ResourceKind::Cluster, cluster);
    let services = tree.as_ref().and_then(|tree| tree.path(&["metadata", "filter_metadata", "istio", "services"]));
    let mut services = services.map(Tree::items).unwrap_or_default().iter();
    let written = services.find(|it| it.str_at("host") == host).map(|it| it.str_at("namespace").to_owned());
    let entry = || cx.inventory.service_entries.iter().find(|it| it.hosts.iter().any(|one| one == host));
    written
        .filter(|namespace| !namespace.is_empty())
        .or_else(|| entry().map(|it| it.object.namespace.clone()))
        .unwrap_or_else(|| host.to_owned())
}
