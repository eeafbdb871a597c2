//! Which filters attach to a proxy, and in which order their patches run.
//!
//! istiod `pilot/pkg/model/policyattachment.go` and `push_context.go`, releases 1.22 to 1.31.

use super::compat::{Behaviour, Compat};
use crate::model::envoy_filter::{EnvoyFilter, TargetRef};
use crate::model::inventory::Inventory;
use crate::model::proxy::{Proxy, ProxyKind, REVISION_LABEL};
use crate::model::release::Release;
use std::fmt;

/// Settings of a mesh that decide attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshSettings {
    /// `rootNamespace` of the mesh config.
    pub root_namespace: String,
    /// istiod's `ENABLE_SELECTOR_BASED_K8S_GATEWAY_POLICY` (default true).
    pub selector_based_gateway_policy: bool,
    /// The revision of the control plane, if known: it ignores filters labeled for another one (`LabelsInRevision` in
    /// `pkg/config/model.go`, istiod 1.22 to 1.31).
    pub revision: Option<String>,
    /// The release of proxies about which nothing else is known; `None`: that of the control plane.
    pub proxies: Option<Release>,
}

impl MeshSettings {
    /// The settings of the mesh that these objects belong to.
    pub fn of(inventory: &Inventory) -> MeshSettings {
        MeshSettings { root_namespace: inventory.root_namespace().to_owned(), ..MeshSettings::default() }
    }
}

impl Default for MeshSettings {
    fn default() -> MeshSettings {
        MeshSettings {
            root_namespace: "istio-system".to_owned(),
            selector_based_gateway_policy: true,
            revision: None,
            proxies: None,
        }
    }
}

/// Whether a filter attaches to a proxy, with the first reason why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// It attaches.
    Selected,
    /// The filter is labeled for the control plane of another revision.
    OtherRevision {
        /// Its label `istio.io/rev`.
        want: String,
        /// The revision of the proxy's control plane.
        have: String,
    },
    /// The filter is neither in the root namespace nor in the proxy's own.
    OtherNamespace,
    /// A label of `workloadSelector` is missing on the workload or has another value there.
    Label {
        /// The label.
        key: String,
        /// The required value.
        want: String,
        /// The workload's value.
        have: Option<String>,
    },
    /// `targetRefs` never attach to a workload without the gateway-name label.
    TargetRefsNeedGateway,
    /// A waypoint accepts only filters with `targetRefs`.
    WaypointNeedsTargetRefs,
    /// istiod is configured to accept only filters with `targetRefs` for Gateway API gateways.
    GatewayNeedsTargetRefs,
    /// No entry of `targetRefs` matches; the reason for each.
    NoTargetRef(Vec<TargetMiss>),
    /// The release's API does not know a value that the filter uses, so neither its API server accepts the filter nor its istiod reads it.
    Unreadable(Unreadable),
}

/// Why an istiod does not read a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Its API does not have the operation `MERGE_AND_REPLACE_LIST`.
    MergeAndReplaceList,
    /// Its API does not have the context `WAYPOINT`.
    WaypointContext,
    /// The filter is for another revision.
    OtherRevision,
}

impl Unreadable {
    /// The value that its API does not have, and the keys to it in a patch.
    pub(crate) const fn value(self) -> Option<(&'static str, [&'static str; 2])> {
        match self {
            Unreadable::MergeAndReplaceList => Some(("MERGE_AND_REPLACE_LIST", ["patch", "operation"])),
            Unreadable::WaypointContext => Some(("WAYPOINT", ["match", "context"])),
            Unreadable::OtherRevision => None,
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Unreadable::MergeAndReplaceList => "operation MERGE_AND_REPLACE_LIST exists from Istio 1.31 on",
            Unreadable::WaypointContext => "context WAYPOINT exists from Istio 1.29 on",
            Unreadable::OtherRevision => "its label istio.io/rev names another revision",
        })
    }
}

/// Why a target reference does not attach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TargetMiss {
    /// Service and ServiceEntry are documented for EnvoyFilter but attach in no release.
    ServiceNeverAttaches,
    /// Neither Gateway nor GatewayClass.
    OtherKind,
    /// A Gateway of another name.
    OtherGateway,
    /// The filter is not in the gateway's namespace.
    OtherNamespace,
    /// `namespace` of the reference is not the gateway's.
    ReferenceToOtherNamespace,
    /// This release attaches nothing by GatewayClass.
    GatewayClassNotYet,
    /// GatewayClass works for waypoints, from the root namespace, for the class istio-waypoint only.
    GatewayClass,
}

/// Whether the control plane of a revision reads a filter at all: istiod ignores objects whose label names another revision
/// (`LabelsInRevision` in `pkg/config/model.go`, istiod 1.22 to 1.31). This is decided only here.
pub(crate) fn in_revision(filter: &EnvoyFilter, revision: &str) -> bool {
    filter.labels.get(REVISION_LABEL).is_none_or(|label| label == revision)
}

/// Decides whether a filter attaches to a proxy.
pub(crate) fn select(filter: &EnvoyFilter, proxy: &Proxy, mesh: &MeshSettings, compat: Compat) -> Selection {
    if let (Some(want), Some(have)) = (filter.labels.get(REVISION_LABEL), &mesh.revision)
        && !in_revision(filter, have)
    {
        return Selection::OtherRevision { want: want.clone(), have: have.clone() };
    }
    if filter.namespace != mesh.root_namespace && filter.namespace != proxy.namespace {
        return Selection::OtherNamespace;
    }
    let target_refs: &[TargetRef] = if compat.has(Behaviour::TargetRefs) { &filter.target_refs } else { &[] };
    let gateway = proxy.gateway_name();
    if !compat.has(Behaviour::TargetRefs) {
        return by_labels(filter, proxy);
    }
    let Some(gateway) = gateway else {
        if !target_refs.is_empty() {
            return Selection::TargetRefsNeedGateway;
        }
        return by_labels(filter, proxy);
    };
    let waypoint = proxy.kind == ProxyKind::Waypoint;
    if target_refs.is_empty() {
        if waypoint {
            return Selection::WaypointNeedsTargetRefs;
        }
        if !mesh.selector_based_gateway_policy {
            return Selection::GatewayNeedsTargetRefs;
        }
        return by_labels(filter, proxy);
    }
    let mut misses = Vec::new();
    for target in target_refs {
        match target_miss(filter, target, proxy, gateway, mesh) {
            None if target.kind == "GatewayClass" && !compat.has(Behaviour::GatewayClassTargets) => {
                misses.push(TargetMiss::GatewayClassNotYet);
            }
            None => return Selection::Selected,
            Some(miss) => misses.push(miss),
        }
    }
    Selection::NoTargetRef(misses)
}

fn by_labels(filter: &EnvoyFilter, proxy: &Proxy) -> Selection {
    filter.missing_label(&proxy.labels).map_or(Selection::Selected, |(key, want)| Selection::Label {
        key: key.clone(),
        want: want.clone(),
        have: proxy.labels.get(key).cloned(),
    })
}

fn target_miss(
    filter: &EnvoyFilter,
    target: &TargetRef,
    proxy: &Proxy,
    gateway: &str,
    mesh: &MeshSettings,
) -> Option<TargetMiss> {
    let in_group = target.group == "gateway.networking.k8s.io";
    if in_group && target.kind == "GatewayClass" {
        let fits = proxy.kind == ProxyKind::Waypoint
            && filter.namespace == mesh.root_namespace
            && target.name == "istio-waypoint";
        return (!fits).then_some(TargetMiss::GatewayClass);
    }
    if matches!(target.kind.as_str(), "Service" | "ServiceEntry") {
        return Some(TargetMiss::ServiceNeverAttaches);
    }
    if !in_group || target.kind != "Gateway" {
        return Some(TargetMiss::OtherKind);
    }
    if proxy.namespace != filter.namespace {
        return Some(TargetMiss::OtherNamespace);
    }
    if !target.namespace.is_empty() && target.namespace != proxy.namespace {
        return Some(TargetMiss::ReferenceToOtherNamespace);
    }
    (target.name != gateway).then_some(TargetMiss::OtherGateway)
}

/// Sorts filters (by index) into the order in which istiod applies them: priority, root namespace first, creation time, then
/// `name.namespace`. Before 1.22 the root namespace comes first whatever the priority.
pub(crate) fn sort(filters: &[EnvoyFilter], indices: &mut [usize], mesh: &MeshSettings, compat: Compat) {
    let apart = !compat.has(Behaviour::PriorityAcrossNamespaces);
    indices.sort_by_cached_key(|&index| {
        let filter = &filters[index];
        let local = filter.namespace != mesh.root_namespace;
        (apart && local, filter.priority, local, filter.created, format!("{}.{}", filter.name, filter.namespace))
    });
}
