//! The pods that have a proxy worth reading, and which of them are replicas of each other.

use super::facts::{self, Station};
use crate::model::inventory::{Inventory, Labels, Workload};
use crate::model::owner::WorkloadKind;
use crate::model::proxy::{Proxy, ProxyKind};
use std::collections::BTreeMap;

/// A pod with a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub pod: String,
    /// The type of its proxy.
    pub kind: ProxyKind,
    /// Name of the workload that owns it.
    pub workload: String,
    /// Kind of that workload, as far as the pod shows it: `Deployment`, `StatefulSet` …, `Pod`.
    pub workload_kind: String,
    /// Its labels, compared with selectors.
    pub labels: Labels,
    /// Revision of its control plane.
    pub revision: String,
    /// The version in the proxy's image; empty if there is none.
    pub version: String,
    /// Whether the pod runs and is ready.
    pub ready: bool,
    /// Equal for pods created from one template.
    template: String,
    /// Kind and name of the pod's controller: the ReplicaSet of a Deployment, the Job of a CronJob.
    controller: Option<(String, String)>,
}

impl Target {
    /// A proxy without a pod in a cluster. `owner` is the kind and name of its pod's owner.
    pub(crate) fn of_proxy(proxy: &Proxy, owner: Option<(&str, &str)>, revision: &str) -> Target {
        let (namespace, pod) = (proxy.namespace.clone(), proxy.name.clone());
        let template = match owner {
            Some((kind, name)) => format!("{kind} {namespace}/{name} {}", proxy.istio_version),
            None => format!("Pod {namespace}/{pod}"),
        };
        let (workload_kind, workload) = owner.unwrap_or(("Pod", &pod));
        Target {
            kind: proxy.kind,
            workload: workload.to_owned(),
            workload_kind: workload_kind.to_owned(),
            labels: proxy.labels.clone(),
            revision: revision.to_owned(),
            version: proxy.istio_version.clone(),
            ready: true,
            template,
            controller: None,
            namespace,
            pod,
        }
    }

    /// Its workload in kubectl's notation: `deployment/cart`.
    pub(crate) fn owner(&self) -> String {
        format!("{}/{}", self.workload_kind.to_lowercase(), self.workload)
    }

    /// Kinds and names of the workloads that own it, directly and through another.
    pub(crate) fn owners(&self) -> impl Iterator<Item = (&str, &str)> {
        let direct = self.controller.as_ref().map(|(kind, name)| (kind.as_str(), name.as_str()));
        std::iter::once((self.workload_kind.as_str(), self.workload.as_str())).chain(direct)
    }

    /// Whether a workload of this kind owns it, directly or through another.
    pub(crate) fn belongs_to(&self, kind: WorkloadKind, name: &str) -> bool {
        self.owners().any(|owner| owner == (kind.as_str(), name))
    }

    /// Equal for pods created from one template.
    pub(crate) fn template(&self) -> &str {
        &self.template
    }

    /// `namespace/name`.
    pub(crate) fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.pod)
    }
}

/// The pods with a proxy that accepts EnvoyFilters, sorted by name.
pub(crate) fn targets(inventory: &Inventory) -> Vec<Target> {
    let mut found: Vec<Target> = inventory.workloads.iter().filter_map(|pod| target(inventory, pod)).collect();
    found.sort_by(|a, b| (&a.namespace, &a.pod).cmp(&(&b.namespace, &b.pod)));
    found.dedup_by(|a, b| (&a.namespace, &a.pod) == (&b.namespace, &b.pod));
    found
}

fn target(inventory: &Inventory, pod: &Workload) -> Option<Target> {
    let object = &pod.object;
    let namespace = inventory.namespace(&object.namespace);
    let Station::Proxy(kind) = facts::station(pod, namespace) else { return None };
    if object.kind != "Pod" || pod.state.ending {
        return None;
    }
    let (workload_kind, workload) = pod.controller();
    let version = facts::image_version(pod.injection.proxy_image.as_deref().unwrap_or_default()).unwrap_or_default();
    let hash = pod.labels.get("controller-revision-hash").map_or("", String::as_str);
    let template = match &pod.owner {
        Some((kind, name)) => format!("{kind} {}/{name} {hash} {version}", object.namespace),
        None => format!("Pod {}/{}", object.namespace, object.name),
    };
    Some(Target {
        namespace: object.namespace.clone(),
        pod: object.name.clone(),
        kind,
        workload: workload.to_owned(),
        workload_kind: workload_kind.to_owned(),
        labels: pod.labels.clone(),
        revision: facts::revision(pod, namespace).to_owned(),
        version: version.to_owned(),
        ready: pod.state.ready,
        template,
        controller: pod.owner.clone(),
    })
}

/// Groups replicas, ready ones first; one group per pod when all replicas are requested.
pub(crate) fn groups(targets: Vec<Target>, all_replicas: bool) -> Vec<Vec<Target>> {
    if all_replicas {
        return targets.into_iter().map(|target| vec![target]).collect();
    }
    let mut order: Vec<Vec<Target>> = Vec::new();
    let mut index: BTreeMap<String, usize> = BTreeMap::new();
    for target in targets {
        let at = *index.entry(target.template.clone()).or_insert(order.len());
        match order.get_mut(at) {
            Some(group) => group.push(target),
            None => order.push(vec![target]),
        }
    }
    for group in &mut order {
        group.sort_by_key(|target| !target.ready);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Options, read_text};

    fn pod(name: &str, owner: &str, hash: &str, ready: bool) -> String {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n  namespace: shop\n  labels: {{app: cart, pod-template-hash: {hash}}}\n  \
             ownerReferences: [{{kind: ReplicaSet, name: {owner}, controller: true}}]\nspec:\n  containers: [{{name: istio-proxy, \
             image: \"p:1.30.3\", args: [proxy, sidecar]}}]\nstatus: {{phase: Running, ready: {ready}}}\n---\n"
        )
    }

    #[test]
    fn one_ready_replica_represents_its_template() {
        let text = pod("cart-a-1", "cart-a", "a", false)
            + &pod("cart-a-2", "cart-a", "a", true)
            + &pod("cart-b-1", "cart-b", "b", true);
        let inventory = read_text("x", text, &Options::default()).inventory;
        let found = targets(&inventory);
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].workload_kind.as_str(), found[0].workload.as_str()), ("Deployment", "cart"));
        assert_eq!(found[0].version, "1.30.3");
        let groups = groups(found.clone(), false);
        let names: Vec<Vec<&str>> =
            groups.iter().map(|group| group.iter().map(|target| target.pod.as_str()).collect()).collect();
        assert_eq!(names, [vec!["cart-a-2", "cart-a-1"], vec!["cart-b-1"]]);
        assert_eq!(super::groups(found, true).len(), 3);
    }
}
