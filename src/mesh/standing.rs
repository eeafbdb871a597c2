//! Where the proxies of a mesh are: the revision, the release of its istiod, and their own version.

use crate::audit::Standing;
use crate::cluster::facts::{self, Facts, Station};
use crate::cluster::targets;
use crate::model::injection::{self, Sidecar};
use crate::model::inventory::{Inventory, Workload};
use std::collections::BTreeMap;

/// Every pod with a proxy, by `namespace/name` of its workload and of itself; workloads without pods by the revision they
/// request.
pub(super) fn standings(inventory: &Inventory, facts: &Facts) -> BTreeMap<String, Vec<Standing>> {
    let mut standings: BTreeMap<String, Vec<Standing>> = BTreeMap::new();
    for target in targets::targets(inventory) {
        let standing = standing(facts, &target.revision, &target.version);
        let (pod, workload) = (target.full_name(), format!("{}/{}", target.namespace, target.workload));
        if pod != workload {
            standings.entry(pod).or_default().push(standing.clone());
        }
        standings.entry(workload).or_default().push(standing);
    }
    let mut asked: BTreeMap<String, Vec<Standing>> = BTreeMap::new();
    for workload in inventory.workloads.iter() {
        let key = format!("{}/{}", workload.object.namespace, workload.object.name);
        if let Some(revision) = asks(inventory, workload).filter(|_| !standings.contains_key(&key)) {
            asked.entry(key).or_default().push(standing(facts, revision, ""));
        }
    }
    standings.extend(asked);
    standings
}

/// The revision that a workload without a proxy requests, if any.
fn asks<'i>(inventory: &'i Inventory, workload: &'i Workload) -> Option<&'i str> {
    let namespace = inventory.namespace(&workload.object.namespace);
    let Station::None(_) = facts::station(workload, namespace) else { return None };
    (injection::sidecar(workload, namespace) == Sidecar::Injected).then(|| facts::revision(workload, namespace))
}

fn standing(facts: &Facts, revision: &str, version: &str) -> Standing {
    let plane = facts.plane(revision);
    let name = match facts.tags.get(revision) {
        Some(of) => format!("{revision} → {of}"),
        None => revision.to_owned(),
    };
    let istiod = plane.map(|plane| plane.version.clone()).unwrap_or_default();
    Standing { revision: name, istiod, proxies: version.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Options, read_text};

    #[test]
    fn tags_are_followed_and_pods_tell_their_version() {
        let text = r#"
{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {istio.io/rev: prod}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: i, namespace: istio-system, labels: {app: istiod, istio.io/rev: 1-24}}, spec: {containers: [{name: discovery, image: "istio/pilot:1.24.6"}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: t, labels: {istio.io/tag: prod, istio.io/rev: 1-24}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: cart-1, namespace: shop}, spec: {containers: [{name: istio-proxy, image: "istio/proxyv2:1.24.1", args: [proxy, sidecar]}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: ledger, namespace: shop}, spec: {template: {metadata: {labels: {app: ledger}}}}}
"#;
        let inventory = read_text("x", text, &Options::default()).inventory;
        let found = standings(&inventory, &Facts::of(&inventory, String::new()));
        let plane_of = |name: &str| {
            let one = &found[name][0];
            format!("{} {} {}", one.revision, one.istiod, one.proxies)
        };
        assert_eq!(plane_of("shop/cart-1"), "prod → 1-24 1.24.6 1.24.1");
        assert_eq!(plane_of("shop/ledger"), "prod → 1-24 1.24.6 ");
    }
}
