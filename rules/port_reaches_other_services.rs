//! EF505: a match by port alone changes clusters of services in several namespaces.

use crate::declare_rule;
use crate::engine::matching::parse_subset_key;
use crate::lint::{Context, Finding, Findings, Knowledge, Rule, names};
use crate::model::envoy_filter::{ApplyTo, ClusterMatch, ObjectMatch};
use std::collections::BTreeSet;

declare_rule! {
    /// A cluster match by port alone, which reaches services of several namespaces.
    ///
    /// # What it finds
    /// A CLUSTER patch whose match has `portNumber` and nothing else, and that changes clusters of more than one service in
    /// more than one namespace. Needs config dumps.
    ///
    /// # Why it matters
    /// Many services share a port; the patch changes how the workload talks to all of them.
    ///
    /// # How to fix
    /// Name the service: `cluster.service`.
    ///
    /// # References
    /// istio/istio#21271, istio/istio#23111, aeraki-mesh/aeraki#68.
    "EF505" "port-reaches-other-services" Warning => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        let ObjectMatch::Cluster(want) = &view.patch.object else { continue };
        let alone = ClusterMatch { port_number: want.port_number, ..ClusterMatch::default() };
        if want.port_number == 0 || *want != alone {
            continue;
        }
        let mut hosts: BTreeSet<String> = BTreeSet::new();
        let mut workloads = Vec::new();
        for met in cx.on_proxies(view.filter_index, view.patch.index).filter(|met| met.run.knowledge == Knowledge::Dump)
        {
            let changed = met.trace.effects.iter().filter(|(_, effect)| effect.changes());
            hosts.extend(
                changed
                    .map(|(place, _)| parse_subset_key(&place.resource))
                    .filter(|key| key.direction == "outbound")
                    .map(|key| key.host.to_owned()),
            );
            workloads.push(met.run.label.clone());
        }
        let namespaces: BTreeSet<&str> = hosts
            .iter()
            .map(|host| {
                host.split_once(".svc.")
                    .and_then(|(name, _)| name.split_once('.'))
                    .map_or(host.as_str(), |(_, namespace)| namespace)
            })
            .collect();
        if namespaces.len() < 2 {
            continue;
        }
        out.push(
            Finding::new(
                rule,
                view.value_span(&["match", "cluster", "portNumber"]),
                format!(
                    "port {} is shared by {} services in {} namespaces",
                    want.port_number,
                    hosts.len(),
                    namespaces.len()
                ),
            )
            .of(view.filter, Some(view.patch.index))
            .label("matches all of them")
            .note(format!("changed: {}", names::listed(hosts.iter().map(String::as_str), 8)))
            .help("cluster:\n  service: <name>.<namespace>.svc.cluster.local\n  portNumber: <port>")
            .objects(hosts.iter().cloned())
            .workloads(workloads),
        );
    }
}
