//! The proxies of a mesh that consists only of objects, and the names that users give them.

use super::node::{Common, Node, proxy_container, workload};
use super::objects::{Objects, list, map, selects, text};
use super::proxy_config::introduce;
use super::stand_ins::injected;
use crate::model::owner::WorkloadKind;
use serde_json::{Value, json};

/// A proxy among the objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The proxy.
    pub node: Node,
    /// Its workload.
    pub workload: String,
    /// Kind of that workload; `None` for a pod without an owner, and for a virtual machine.
    pub owner: Option<String>,
    /// Whether its pod or WorkloadEntry comes from a cluster.
    pub real: bool,
}

/// All proxies, ordered by namespace and name.
pub fn all(objects: &Objects, common: &Common) -> Vec<Found> {
    let pods = objects.values("", "Pod").filter_map(|pod| of_pod(objects, pod, common));
    let entries = objects.values("networking.istio.io", "WorkloadEntry").map(|entry| {
        let node = Node::of_workload_entry(entry, common);
        Found { workload: node.name.clone(), owner: None, real: objects.has_real(entry), node }
    });
    let mut found: Vec<Found> = pods.chain(entries).collect();
    found
        .sort_by(|left, right| (&left.node.namespace, &left.node.name).cmp(&(&right.node.namespace, &right.node.name)));
    found
}

fn of_pod(objects: &Objects, pod: &Value, common: &Common) -> Option<Found> {
    // Pods that ended run nothing, and running pods are no longer injected.
    if matches!(text(pod, &["status", "phase"]), "Succeeded" | "Failed") {
        return None;
    }
    let has_proxy = !objects.has_real(pod) && injected(objects, text(pod, &["metadata", "namespace"]), pod);
    let mut node = Node::of_pod(pod, has_proxy, common)?;
    introduce(objects, &common.defaults, pod, proxy_container(pod), &mut node);
    let (owner, workload) = match workload(pod) {
        Some((kind, name)) => (Some(kind.to_owned()), name.to_owned()),
        None => (None, node.name.clone()),
    };
    Some(Found { workload, owner, real: objects.has_real(pod), node })
}

/// Kinds as users write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Pod,
    /// Of any kind, or of this one.
    Workload(Option<WorkloadKind>),
    Service,
    Gateway,
    Entry,
}

const WORDS: &[(&[&str], Word)] = &[
    (&["pod", "pods", "po"], Word::Pod),
    (&["workload"], Word::Workload(None)),
    (&["service", "services", "svc"], Word::Service),
    (&["gateway", "gateways", "gw", "gtw", "waypoint"], Word::Gateway),
    (&["workloadentry", "workloadentries", "we"], Word::Entry),
];

/// The proxies for a word: `POD`, `deploy/NAME`, `svc/NAME`, `gateway/NAME`, `workloadentry/NAME`, each also as
/// `NAMESPACE/POD`. `None` for any other kind.
pub fn named(objects: &Objects, common: &Common, word: &str, namespace: &str) -> Option<Vec<Found>> {
    let kind_of = |kind: &str| {
        let known = WORDS.iter().find(|(words, _)| words.contains(&kind)).map(|(_, word)| *word);
        known.or_else(|| WorkloadKind::of_word(kind).map(|kind| Word::Workload(Some(kind))))
    };
    let parts: Vec<&str> = word.split('/').collect();
    let (kind, namespace, name) = match *parts.as_slice() {
        [name] => (Word::Pod, namespace, name),
        [first, name] => match kind_of(first) {
            Some(kind) => (kind, namespace, name),
            None => (Word::Pod, first, name),
        },
        [first, namespace, name] => (kind_of(first)?, namespace, name),
        _ => return None,
    };
    let all = all(objects, common);
    // The pods of an Istio Gateway may be in any namespace.
    let anywhere = kind == Word::Gateway && objects.value("networking.istio.io", "Gateway", namespace, name).is_some();
    let of_namespace = all.into_iter().filter(|found| anywhere || found.node.namespace == namespace);
    let selector = match kind {
        Word::Service => {
            let service = objects.value("", "Service", namespace, name)?;
            map(service, &["spec", "selector"]).cloned()
        }
        Word::Gateway => match objects.value("networking.istio.io", "Gateway", namespace, name) {
            Some(gateway) => map(gateway, &["spec", "selector"]).cloned(),
            None => json!({"gateway.networking.k8s.io/gateway-name": name}).as_object().cloned(),
        },
        _ => None,
    };
    Some(
        of_namespace
            .filter(|found| match kind {
                Word::Pod => found.node.name == name || found.workload == name,
                Word::Entry => found.node.name == name,
                Word::Workload(kind) => {
                    let owner = found.owner.as_deref();
                    found.workload == name && kind.is_none_or(|kind| owner == Some(kind.as_str()))
                }
                Word::Service | Word::Gateway => {
                    selects(selector.as_ref(), found.node.metadata.get("LABELS").and_then(Value::as_object))
                }
            })
            .collect(),
    )
}

/// An address that no ServiceEntry, Service or pod among the objects has, for a proxy that is only described.
pub(crate) fn free_address(objects: &Objects) -> String {
    let taken = |address: &str| {
        objects
            .values("", "Pod")
            .any(|pod| list(pod, &["status", "podIPs"]).iter().any(|ip| text(ip, &["ip"]) == address))
    };
    (1..=254).map(|last| format!("10.244.255.{last}")).find(|address| !taken(address)).unwrap_or_default()
}
