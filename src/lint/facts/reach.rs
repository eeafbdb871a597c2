//! The known workloads, and those that a filter reaches by namespace and labels.

use crate::budget;
use crate::engine::compat::Behaviour;
use crate::lint::facts::context::{Context, Knowledge};
use crate::lint::facts::names;
use crate::lint::finding::{Confidence, Finding};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::injection::{self, Sidecar};
use crate::model::inventory::{Gateway, Inventory, Labels, Object, Workload};
use crate::model::proxy::{GATEWAY_CLASS_LABEL, GATEWAY_NAME_LABEL, ProxyKind};
use crate::model::release::Release;
use crate::source::Severity;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A workload of the input: from a manifest, from the cluster, or the proxy of a config dump.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reached<'c> {
    /// Its namespace.
    pub namespace: &'c str,
    /// Its name; for a config dump that of the pod.
    pub name: &'c str,
    /// The name of its workload; empty if unknown.
    pub workload: &'c str,
    /// Its labels.
    pub labels: &'c Labels,
    /// The kind of its proxy, if a config dump shows it.
    pub kind: Option<ProxyKind>,
}

impl Reached<'_> {
    /// `namespace/name`.
    pub(crate) fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// Namespace and name of its workload: the pods of a workload are one, and its manifest is the same.
    fn of_workload(&self) -> (&str, &str) {
        (self.namespace, if self.workload.is_empty() { self.name } else { self.workload })
    }
}

/// The proxies of config dumps.
fn proxies<'c>(cx: &'c Context<'_>) -> impl Iterator<Item = Reached<'c>> {
    cx.runs.iter().filter(|run| run.knowledge == Knowledge::Dump).map(|run| {
        let proxy = &run.config.proxy;
        let name = if proxy.name.is_empty() { proxy.workload.as_str() } else { proxy.name.as_str() };
        Reached {
            namespace: &proxy.namespace,
            name,
            workload: &proxy.workload,
            labels: &proxy.labels,
            kind: Some(proxy.kind),
        }
    })
}

fn manifest(workload: &Workload) -> Reached<'_> {
    let (namespace, name) = (&workload.object.namespace, &workload.object.name);
    Reached { namespace, name, workload: workload.controller().1, labels: &workload.labels, kind: None }
}

/// Every workload that is known.
pub(crate) fn known<'c>(cx: &'c Context<'_>) -> Vec<Reached<'c>> {
    proxies(cx).chain(cx.inventory.workloads.iter().map(|one| manifest(one))).collect()
}

/// Those that may have a proxy: in a cluster, not the pods without one, such as istiod's.
pub(crate) fn with_proxy<'c>(cx: &'c Context<'_>) -> Vec<Reached<'c>> {
    let complete = complete(cx);
    let may = |one: &&Workload| !complete || one.object.kind != "Pod" || one.injection.proxy_image.is_some();
    proxies(cx).chain(cx.inventory.workloads.iter().map(|one| &**one).filter(may).map(manifest)).collect()
}

/// Workloads indexed by label, since a mesh may have thousands of filters and workloads.
pub(crate) struct ByLabel<'c> {
    of_dumps: HashMap<(&'c str, &'c str), Vec<Reached<'c>>>,
    inventory: &'c Inventory,
}

impl<'c> ByLabel<'c> {
    /// Every workload that is known.
    pub(crate) fn new(cx: &'c Context<'_>) -> ByLabel<'c> {
        let mut of_dumps: HashMap<(&str, &str), Vec<Reached<'_>>> = HashMap::new();
        for one in proxies(cx) {
            for (key, value) in one.labels {
                of_dumps.entry((key, value)).or_default().push(one);
            }
        }
        ByLabel { of_dumps, inventory: cx.inventory }
    }

    /// The workloads in any namespace that the labels of a filter select, in their given order.
    pub(crate) fn selected<'s>(&'s self, filter: &'s EnvoyFilter) -> impl Iterator<Item = Reached<'c>> + 's {
        let labels = filter.selector.iter().flatten();
        let dumps = labels
            .map(|(key, value)| self.of_dumps.get(&(key.as_str(), value.as_str())).map_or(&[][..], Vec::as_slice))
            .min_by_key(|of| of.len())
            .unwrap_or_default();
        let dumps = dumps.iter().copied().filter(move |one| selects(filter, one));
        let manifests = filter.selector.as_ref().map(|labels| self.inventory.labelled(labels));
        dumps.chain(manifests.into_iter().flatten().map(manifest))
    }
}

/// Workloads that have no sidecar, with the reason.
pub(crate) struct WithoutSidecar<'c> {
    by_label: ByLabel<'c>,
    by_namespace: OnceCell<HashMap<&'c str, Vec<&'c Workload>>>,
    namespaces: HashMap<&'c str, &'c Object>,
    with_dumps: HashSet<&'c str>,
}

impl<'c> WithoutSidecar<'c> {
    pub(crate) fn new(cx: &'c Context<'_>) -> WithoutSidecar<'c> {
        WithoutSidecar {
            by_label: ByLabel::new(cx),
            by_namespace: OnceCell::new(),
            namespaces: cx.inventory.namespaces.iter().map(|one| (one.name.as_str(), one.as_ref())).collect(),
            with_dumps: proxies(cx).map(|one| one.namespace).collect(),
        }
    }

    /// The workloads that a filter reaches by its labels or its namespace, each with the reason; none if one of them may have a
    /// proxy, or if the filter is for the whole mesh.
    pub(crate) fn all_of(&self, cx: &Context<'_>, filter: &EnvoyFilter) -> Option<Vec<(&'c Workload, Sidecar)>> {
        let with_reason = |one: &'c Workload| Some((one, self.reason(one)?));
        if unselective(cx, filter) {
            let namespace = filter.namespace.as_str();
            let known = !is_root(cx, filter) && !self.with_dumps.contains(namespace);
            let reached = if known { self.by_namespace().get(namespace)? } else { return None };
            return reached.iter().map(|one| with_reason(one)).collect();
        }
        if self.by_label.selected(filter).any(|one| one.kind.is_some() && in_scope(cx, filter, &one)) {
            return None;
        }
        let selected = self.by_label.inventory.labelled(filter.selector.as_ref()?);
        selected.filter(|one| in_scope(cx, filter, &manifest(one))).map(with_reason).collect()
    }

    fn by_namespace(&self) -> &HashMap<&'c str, Vec<&'c Workload>> {
        self.by_namespace.get_or_init(|| {
            let mut by_namespace: HashMap<&str, Vec<&Workload>> = HashMap::new();
            for workload in self.by_label.inventory.workloads.iter() {
                by_namespace.entry(&workload.object.namespace).or_default().push(workload);
            }
            by_namespace
        })
    }

    fn reason(&self, workload: &Workload) -> Option<Sidecar> {
        budget::charge(1);
        let injection = &workload.injection;
        let other = matches!(workload.object.kind.as_str(), "WorkloadEntry" | "WorkloadGroup");
        let injected = injection.proxy_image.is_some() || workload.labels.contains_key("security.istio.io/tlsMode");
        if other || injected || self.by_label.inventory.is_gateway(workload) {
            return None;
        }
        let decided = injection::sidecar(workload, self.namespaces.get(&*workload.object.namespace).copied());
        matches!(decided, Sidecar::HostNetwork | Sidecar::Declined | Sidecar::Ambient).then_some(decided)
    }
}

/// The filters that reach workloads without a sidecar and no others, by their place in the list.
pub(crate) fn without_sidecar(cx: &Context<'_>) -> BTreeSet<usize> {
    let without = WithoutSidecar::new(cx);
    let reaches_none = |filter: &EnvoyFilter| {
        !by_target_refs(cx, filter) && without.all_of(cx, filter).is_some_and(|reached| !reached.is_empty())
    };
    (0..cx.filters.len()).filter(|&filter| reaches_none(&cx.filters[filter])).collect()
}

/// Whether the workloads come from a cluster, so that a missing workload really does not exist: the manifests of a
/// repository rarely name everything that runs.
pub(crate) fn complete(cx: &Context<'_>) -> bool {
    cx.inventory.workloads.iter().any(|workload| workload.injection.proxy_image.is_some())
}

/// Whether the namespace of a filter lets it reach a workload.
pub(crate) fn in_scope(cx: &Context<'_>, filter: &EnvoyFilter, workload: &Reached<'_>) -> bool {
    is_root(cx, filter) || filter.namespace == workload.namespace
}

/// Whether a filter's labels are among a workload's.
pub(crate) fn selects(filter: &EnvoyFilter, workload: &Reached<'_>) -> bool {
    filter.missing_label(workload.labels).is_none()
}

/// Whether a filter is in the root namespace.
pub(crate) fn is_root(cx: &Context<'_>, filter: &EnvoyFilter) -> bool {
    filter.namespace == cx.mesh.root_namespace
}

/// What a filter without a selector applies to, in words.
pub(crate) fn all_workloads(cx: &Context<'_>, filter: &EnvoyFilter) -> String {
    if is_root(cx, filter) {
        "every workload of the mesh".to_owned()
    } else {
        format!("every workload of namespace `{}`", filter.namespace)
    }
}

/// Whether `targetRefs` decide for this filter and release.
pub(crate) fn by_target_refs(cx: &Context<'_>, filter: &EnvoyFilter) -> bool {
    !filter.target_refs.is_empty() && cx.program.compat.has(Behaviour::TargetRefs)
}

/// Whether only its namespace limits a filter.
pub(crate) fn unselective(cx: &Context<'_>, filter: &EnvoyFilter) -> bool {
    !by_target_refs(cx, filter) && filter.selector.as_ref().is_none_or(Labels::is_empty)
}

/// How many workloads in how many namespaces these are: "14 workloads in 3 namespaces".
pub(crate) fn extent(workloads: &[Reached<'_>]) -> String {
    extent_of(&workloads.iter().map(Reached::of_workload).collect())
}

fn extent_of(workloads: &BTreeSet<(&str, &str)>) -> String {
    let mut namespaces: Vec<&str> = workloads.iter().map(|(namespace, _)| *namespace).collect();
    namespaces.dedup();
    let workloads = names::count(workloads.len(), "workload", "workloads");
    format!("{workloads} in {}", names::count(namespaces.len(), "namespace", "namespaces"))
}

/// Maximum number of workloads that a finding about all of them names.
const MAX_EXAMPLES: usize = 3;

/// The extent, and the first of these workloads by name.
pub(crate) fn extent_with_names(workloads: &[Reached<'_>]) -> (String, String) {
    let all: BTreeSet<(&str, &str)> = workloads.iter().map(Reached::of_workload).collect();
    let shown = all.iter().take(MAX_EXAMPLES).map(|(namespace, name)| format!("{namespace}/{name}"));
    let shown: Vec<String> = shown.collect();
    // The others are only counted.
    let others = all.iter().skip(MAX_EXAMPLES).map(|(_, name)| *name);
    (extent_of(&all), names::listed(shown.iter().map(String::as_str).chain(others), MAX_EXAMPLES))
}

/// The same for each namespace: many filters reach all workloads of theirs.
pub(crate) fn by_namespace<'c>(cx: &'c Context<'_>) -> HashMap<&'c str, (String, String)> {
    let mut of: HashMap<&str, Vec<Reached<'_>>> = HashMap::new();
    for one in with_proxy(cx) {
        of.entry(one.namespace).or_default().push(one);
    }
    of.into_iter().map(|(namespace, workloads)| (namespace, extent_with_names(&workloads))).collect()
}

/// Whether every patch of a filter is for proxies that are older than all supported ones: a leftover of an upgrade.
pub(crate) fn left_over(cx: &Context<'_>, filter: &EnvoyFilter) -> bool {
    let newest = cx.release.minor.max(Release::NEWEST.minor);
    let old = |version: &str| !version.is_empty() && cx.newest_fitting(version, newest).is_none();
    !filter.patches.is_empty()
        && filter.patches.iter().all(|patch| patch.proxy.as_ref().is_some_and(|proxy| old(&proxy.version)))
}

/// Whether the selector of a filter selects gateways: it has labels of Istio's own gateways, or those of an Istio
/// Gateway in the input.
pub(crate) fn selects_gateways(cx: &Context<'_>, filter: &EnvoyFilter) -> bool {
    let Some(labels) = filter.selector.as_ref().filter(|labels| !labels.is_empty()) else { return false };
    let installed = classic_gateway(labels).is_some()
        || labels.iter().any(|(key, value)| match key.as_str() {
            "operator.istio.io/component" => value.ends_with("Gateways"),
            GATEWAY_NAME_LABEL => true,
            _ => false,
        });
    let given = |gateway: &Gateway| {
        !gateway.selector.is_empty() && gateway.selector.iter().all(|(key, value)| labels.get(key) == Some(value))
    };
    installed || cx.inventory.gateways.iter().any(|gateway| given(gateway))
}

/// The label that the pods of Istio's own gateways have, as `istioctl` and the charts install them.
pub(crate) fn classic_gateway(labels: &Labels) -> Option<(&String, &String)> {
    labels.iter().find(|(key, value)| match key.as_str() {
        "istio" => value.ends_with("gateway") || matches!(value.as_str(), "ingress" | "egress"),
        "app" => value
            .strip_prefix("istio-")
            .is_some_and(|rest| rest.ends_with("gateway") || matches!(rest, "ingress" | "egress")),
        _ => false,
    })
}

/// The label that istiod and `istioctl` give only to the pods of waypoints.
pub(crate) fn waypoint_label(labels: &Labels) -> Option<(&String, &String)> {
    labels.iter().find(|(key, value)| {
        *key == "istio.io/waypoint-for"
            || (*key == GATEWAY_CLASS_LABEL && *value == "istio-waypoint")
            || (*key == "gateway.istio.io/managed" && *value == "istio.io-mesh-controller")
    })
}

/// Whether the selector of a filter names only waypoints: by a label that only they have, or by the name of a waypoint in the
/// input; likely by the name that `istioctl` gives to waypoints.
pub(crate) fn selects_waypoints(cx: &Context<'_>, filter: &EnvoyFilter) -> Option<Confidence> {
    let labels = filter.selector.as_ref()?;
    if waypoint_label(labels).is_some() {
        return Some(Confidence::Certain);
    }
    let name = labels.get(GATEWAY_NAME_LABEL)?;
    let (kind, sure) = gateway_kind(cx.inventory, &filter.namespace, name)?;
    // Proxies of that name, or a Gateway elsewhere, say more than the name.
    let mut dumps = cx.runs.iter().filter(|run| run.knowledge == Knowledge::Dump);
    let known = cx.inventory.kube_gateways.iter().any(|it| it.object.name == *name)
        || dumps.any(|run| run.config.proxy.gateway_name() == Some(name));
    (kind == ProxyKind::Waypoint && (sure == Confidence::Certain || !known)).then_some(sure)
}

/// Weighs a finding about waypoints that may be known by their name alone.
pub(crate) fn weigh(finding: Finding, sure: Confidence) -> Finding {
    if sure == Confidence::Certain {
        return finding;
    }
    finding.severity(Severity::Warning).likely("`waypoint` is the name that istioctl gives to waypoints")
}

/// Names of classic gateways, to which targetRefs cannot refer.
pub(crate) const CLASSIC_GATEWAYS: [&str; 2] = ["istio-ingressgateway", "istio-egressgateway"];

/// The kind of the proxies that the `targetRefs` of a filter refer to, if they all have the same kind: known from
/// Gateways in the input, or from the name that `istioctl` gives to waypoints.
pub(crate) fn target_kind(cx: &Context<'_>, filter: &EnvoyFilter) -> Option<(ProxyKind, Confidence)> {
    if !by_target_refs(cx, filter) {
        return None;
    }
    let kinds = filter.target_refs.iter().map(|target| match target.kind.as_str() {
        "GatewayClass" if target.name == "istio-waypoint" => Some((ProxyKind::Waypoint, Confidence::Certain)),
        "Gateway" => gateway_kind(cx.inventory, &filter.namespace, &target.name),
        _ => None,
    });
    let kinds: Vec<(ProxyKind, Confidence)> = kinds.collect::<Option<_>>()?;
    let (first, _) = *kinds.first()?;
    let sure = kinds.iter().map(|(_, sure)| *sure).min()?;
    kinds.iter().all(|(kind, _)| *kind == first).then_some((first, sure))
}

/// The kind of proxy that the pods of a Gateway API Gateway run.
pub(crate) fn gateway_kind(inventory: &Inventory, namespace: &str, name: &str) -> Option<(ProxyKind, Confidence)> {
    let mut given = inventory.kube_gateways.iter();
    if let Some(one) = given.find(|it| it.object.name == name && it.object.namespace == namespace) {
        let kind = if one.is_waypoint() { ProxyKind::Waypoint } else { ProxyKind::Gateway };
        return Some((kind, Confidence::Certain));
    }
    (name == "waypoint").then_some((ProxyKind::Waypoint, Confidence::Likely))
}
