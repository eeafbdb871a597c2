//! Workloads without a config dump: those that filters cannot distinguish form one group, with the reference configuration of
//! their kind.

use super::{Given, Request};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::injection::{self, Sidecar};
use crate::model::inventory::{Labels, Object, Workload};
use crate::model::proxy::{GATEWAY_NAME_LABEL, ProxyKind};
use crate::model::resource::ProxyConfig;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Workloads that all filters treat alike.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Sidecar, gateway or waypoint.
    pub(super) kind: ProxyKind,
    /// The namespace of the first.
    pub(super) namespace: String,
    /// The labels of the first that some filter requires.
    pub(super) labels: Labels,
    /// `namespace/name` of each.
    pub(super) members: Vec<String>,
}

impl Group {
    /// The label for its runs.
    pub(super) fn label(&self) -> String {
        self.members.first().cloned().unwrap_or_default()
    }
}

/// What distinguishes workloads for filters, in any release: its kind, the filters that may attach to it (and whether their
/// selectors match, which counts beside `targetRefs` up to 1.26), and what `targetRefs` compare.
type Alike<'a> = (ProxyKind, Vec<(usize, bool)>, Option<(&'a str, &'a str)>);

/// The filters of each namespace, by index.
fn by_namespace(filters: &[EnvoyFilter]) -> HashMap<&str, Vec<usize>> {
    let mut found: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, filter) in filters.iter().enumerate() {
        found.entry(filter.namespace.as_str()).or_default().push(index);
    }
    found
}

/// Controllers whose pods are workloads; a Pod owned by one of them is represented by it.
const CONTROLLERS: &[&str] = &["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob"];

/// Groups the workloads of the input that have no dump.
pub(super) fn group(request: &Request<'_>) -> Vec<Group> {
    let filters = &request.inventory.envoy_filters;
    let mut asked: BTreeSet<&str> =
        filters.iter().flat_map(|one| one.selector.iter().flatten()).map(|(key, _)| key.as_str()).collect();
    asked.insert(GATEWAY_NAME_LABEL);
    let dumped: BTreeSet<(&str, &str)> = request
        .stages
        .first()
        .into_iter()
        .flat_map(|stage| &stage.dumps)
        .flat_map(|dump| {
            let proxy = &dump.proxy;
            [(proxy.namespace.as_str(), proxy.name.as_str()), (proxy.namespace.as_str(), proxy.workload.as_str())]
        })
        .collect();
    let of_namespace = by_namespace(filters);
    let namespaces: HashMap<&str, &Object> =
        request.inventory.namespaces.iter().map(|one| (one.name.as_str(), one.as_ref())).collect();
    let root = request.mesh.root_namespace.as_str();
    let mut groups: BTreeMap<Alike<'_>, BTreeMap<String, &Workload>> = BTreeMap::new();
    for workload in request.inventory.workloads.iter() {
        let name = name(workload);
        let namespace = workload.object.namespace.as_str();
        if dumped.contains(&(namespace, name.as_str())) || dumped.contains(&(namespace, workload.object.name.as_str()))
        {
            continue;
        }
        let Some(kind) = kind(workload, namespaces.get(namespace).copied()) else { continue };
        let namespaces = [namespace, root];
        let near = namespaces.iter().take(if namespace == root { 1 } else { 2 });
        let near = near.filter_map(|namespace| of_namespace.get(namespace)).flatten();
        let meets = near.filter_map(|&index| {
            let filter = filters.get(index)?;
            let fits = filter.missing_label(&workload.labels).is_none();
            (fits || !filter.target_refs.is_empty()).then_some((index, fits))
        });
        // targetRefs name gateways and waypoints.
        let gateway = workload.labels.get(GATEWAY_NAME_LABEL).map(|gateway| (namespace, gateway.as_str()));
        groups.entry((kind, meets.collect(), gateway)).or_default().insert(format!("{namespace}/{name}"), workload);
    }
    let mut groups: Vec<Group> = groups
        .into_iter()
        .filter_map(|((kind, ..), members)| {
            let first = members.values().next()?;
            let labels = first.labels.iter().filter(|(key, _)| asked.contains(key.as_str()));
            Some(Group {
                kind,
                namespace: first.object.namespace.clone(),
                labels: labels.map(|(key, value)| (key.clone(), value.clone())).collect(),
                members: members.into_keys().collect(),
            })
        })
        .collect();
    groups.sort_by(|left, right| (left.kind, &left.members).cmp(&(right.kind, &right.members)));
    groups
}

/// A pod's controller, without the hash of a ReplicaSet, or the object itself.
fn name(workload: &Workload) -> String {
    match &workload.owner {
        Some((kind, owner)) if CONTROLLERS.contains(&kind.as_str()) => {
            let hash = owner.rsplit_once('-').filter(|_| kind == "ReplicaSet");
            hash.map_or_else(|| owner.clone(), |(name, _)| name.to_owned())
        }
        _ => workload.object.name.clone(),
    }
}

/// The kind of its proxy; `None` for a workload that declares to have none.
fn kind(workload: &Workload, namespace: Option<&Object>) -> Option<ProxyKind> {
    let injection = &workload.injection;
    // istiod itself has no proxy.
    if injection.proxy_image.is_none() && workload.labels.get("app").is_some_and(|app| app == "istiod") {
        return None;
    }
    let kind = injection.proxy_args.get(1).and_then(|word| ProxyKind::from_node_type(word));
    if let Some(kind) = kind {
        return Some(kind);
    }
    if workload.labels.get("gateway.istio.io/managed").is_some_and(|by| by.contains("mesh-controller")) {
        return Some(ProxyKind::Waypoint);
    }
    let gateway = workload.labels.contains_key(GATEWAY_NAME_LABEL)
        || injection.templates.as_deref().is_some_and(|templates| templates.contains("gateway"))
        || workload.labels.get("istio").is_some_and(|role| role.ends_with("gateway"));
    if gateway {
        return Some(ProxyKind::Gateway);
    }
    match injection::sidecar(workload, namespace) {
        Sidecar::HostNetwork | Sidecar::Declined | Sidecar::Ambient => None,
        // Injection may be the default of the mesh (`enableNamespacesByDefault`).
        Sidecar::Injected | Sidecar::NotRequested | Sidecar::Unknown => Some(ProxyKind::Sidecar),
    }
}

/// One configuration per group: the reference configuration of its kind.
pub(super) fn stand_ins<'a>(groups: &[Group], given: &Given<'a>) -> Vec<(usize, ProxyConfig<'a>)> {
    let mut found = Vec::new();
    for group in groups {
        let of_gateway_api = group.labels.contains_key(GATEWAY_NAME_LABEL);
        let fits = |(_, reference): &(usize, &ProxyConfig<'a>)| {
            reference.proxy.kind == group.kind
                && (group.kind != ProxyKind::Gateway || reference.proxy.gateway_name().is_some() == of_gateway_api)
        };
        let Some((index, reference)) = given.references.iter().enumerate().find(fits) else { continue };
        let label = group.label();
        let name = label.split_once('/').map_or(label.as_str(), |(_, name)| name).to_owned();
        found.push((index, reference.of(group.namespace.clone(), name.clone(), name, group.labels.clone())));
    }
    found
}
