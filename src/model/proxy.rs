//! A proxy as istiod sees it: type, namespace, labels, Istio version, node metadata.

use crate::model::envoy_filter::PatchContext;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kind of a proxy, from the first part of its node id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProxyKind {
    /// A sidecar of a workload.
    Sidecar,
    /// A gateway (istiod's word: router).
    Gateway,
    /// A waypoint of ambient mode.
    Waypoint,
}

impl ProxyKind {
    /// The word a node id starts with.
    pub(crate) const fn node_type(self) -> &'static str {
        match self {
            ProxyKind::Sidecar => "sidecar",
            ProxyKind::Gateway => "router",
            ProxyKind::Waypoint => "waypoint",
        }
    }

    /// The kind with this node type.
    pub(crate) fn from_node_type(text: &str) -> Option<ProxyKind> {
        Some(match text {
            "sidecar" => ProxyKind::Sidecar,
            "router" => ProxyKind::Gateway,
            "waypoint" => ProxyKind::Waypoint,
            _ => return None,
        })
    }

    /// Whether istiod never uses a context for this kind of proxy: waypoints have those of sidecars.
    pub(crate) fn ignores(self, context: PatchContext) -> bool {
        match self {
            ProxyKind::Gateway => matches!(context, PatchContext::SidecarInbound | PatchContext::SidecarOutbound),
            ProxyKind::Sidecar | ProxyKind::Waypoint => context == PatchContext::Gateway,
        }
    }

    /// Its name for users.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            ProxyKind::Sidecar => "sidecar",
            ProxyKind::Gateway => "gateway",
            ProxyKind::Waypoint => "waypoint",
        }
    }
}

/// A proxy.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// Sidecar, gateway or waypoint.
    pub kind: ProxyKind,
    /// Name of the pod (or of the VM), empty when unknown.
    pub name: String,
    /// Name of the workload that owns it, empty when unknown.
    pub workload: String,
    /// Its namespace.
    pub namespace: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// `ISTIO_VERSION` of its node metadata, empty when absent: then no `proxyVersion` matches.
    pub istio_version: String,
    /// Node metadata, as JSON; shared by the many workloads that a linter derives from one proxy.
    pub metadata: Arc<serde_json::Map<String, serde_json::Value>>,
    /// Envoy's own version (`user_agent_build_version`), if the dump contains it.
    pub envoy_version: Option<String>,
    /// Names of the extensions compiled into this proxy (`node.extensions`), if the dump contains them.
    pub extensions: Vec<String>,
}

/// Label that selects the control plane that reads an object or injects a workload.
pub(crate) const REVISION_LABEL: &str = "istio.io/rev";

/// Label that names the waypoint of a Service, ServiceEntry, pod or namespace.
pub(crate) const USE_WAYPOINT: &str = "istio.io/use-waypoint";
/// Label that names the namespace of that waypoint.
pub(crate) const USE_WAYPOINT_NAMESPACE: &str = "istio.io/use-waypoint-namespace";
/// The name in the label that stands for no waypoint.
pub(crate) const NO_WAYPOINT: &str = "none";
/// Label that a Gateway API gateway or waypoint carries (Kubernetes Gateway API; read by istiod's policy attachment).
pub(crate) const GATEWAY_NAME_LABEL: &str = "gateway.networking.k8s.io/gateway-name";
/// Label with the class of that gateway or waypoint, which istiod's templates give to its pods.
pub(crate) const GATEWAY_CLASS_LABEL: &str = "gateway.networking.k8s.io/gateway-class-name";

impl Proxy {
    /// The Gateway API gateway this proxy belongs to.
    pub(crate) fn gateway_name(&self) -> Option<&str> {
        self.labels.get(GATEWAY_NAME_LABEL).map(String::as_str)
    }

    /// Whether its settings let istiod generate `proxy_protocol` listener filters (`gatewayTopology.proxyProtocol`).
    pub(crate) fn reads_proxy_protocol(&self) -> bool {
        let topology = self.metadata.get("PROXY_CONFIG").and_then(|config| config.get("gatewayTopology"));
        topology.and_then(|topology| topology.get("proxyProtocol")).is_some_and(|settings| !settings.is_null())
    }

    /// `namespace/name` for messages.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, if self.name.is_empty() { &self.workload } else { &self.name })
    }
}
