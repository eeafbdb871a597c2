//! The node that identifies a proxy to istiod: from a Pod, from a dump, or described.

use super::defaults::Defaults;
use super::objects::{list, map, text};
use crate::model::owner::behind;
use crate::model::proxy::{Proxy, ProxyKind};
use serde_json::{Map, Value, json};

/// A proxy as it identifies itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Sidecar, gateway or waypoint.
    pub kind: ProxyKind,
    /// Name of its pod.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its addresses; the first is part of its ID.
    pub addresses: Vec<String>,
    /// The domain of the cluster.
    pub domain: String,
    /// Its node metadata.
    pub metadata: Map<String, Value>,
}

/// Common properties of the proxies of a mesh.
#[derive(Clone, Debug)]
pub struct Common {
    /// Version that a proxy reports if its pod does not show it.
    pub istio_version: String,
    /// The domain of the cluster.
    pub domain: String,
    /// Name of the cluster.
    pub cluster_id: String,
    /// Settings of the mesh.
    pub defaults: Defaults,
}

impl Default for Common {
    fn default() -> Common {
        Common {
            istio_version: String::new(),
            domain: "cluster.local".to_owned(),
            cluster_id: "Kubernetes".to_owned(),
            defaults: Defaults::default(),
        }
    }
}

/// The name of the proxy container.
const PROXY: &str = "istio-proxy";

/// Prefixes of annotations that the agent forwards.
const ANNOTATIONS: [&str; 4] =
    ["sidecar.istio.io/", "traffic.sidecar.istio.io/", "proxy.istio.io/", "inject.istio.io/"];

impl Node {
    /// The ID: type, address, pod and domain.
    pub fn id(&self) -> String {
        let address = self.addresses.first().map_or("127.0.0.1", String::as_str);
        let (kind, namespace) = (self.kind.node_type(), &self.namespace);
        format!("{kind}~{address}~{}.{namespace}~{namespace}.svc.{}", self.name, self.domain)
    }

    /// The name of the workload and its namespace, which Envoy calls its cluster.
    pub(crate) fn cluster(&self) -> String {
        let workload = self.metadata.get("WORKLOAD_NAME").and_then(Value::as_str).unwrap_or(&self.name);
        format!("{workload}.{}", self.namespace)
    }

    /// The proxy of a dump, with the metadata it sent.
    pub fn of_proxy(proxy: &Proxy, domain: &str) -> Node {
        let mut metadata = proxy.metadata.as_ref().clone();
        let addresses = match metadata.get("INSTANCE_IPS").and_then(Value::as_str) {
            Some(text) => text.split(',').map(str::to_owned).collect(),
            None => vec!["127.0.0.1".to_owned()],
        };
        let labels: Map<String, Value> =
            proxy.labels.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
        let defaults = [
            ("NAMESPACE", Value::from(proxy.namespace.as_str())),
            ("LABELS", Value::Object(labels)),
            ("INSTANCE_IPS", addresses.join(",").into()),
        ];
        for (key, value) in defaults {
            metadata.entry(key).or_insert(value);
        }
        let name = if proxy.name.is_empty() { &proxy.workload } else { &proxy.name };
        Node {
            kind: proxy.kind,
            name: name.clone(),
            namespace: proxy.namespace.clone(),
            addresses,
            domain: domain.to_owned(),
            metadata,
        }
    }

    /// The proxy of a pod, as istiod's agent in it would identify it; `None` if the pod runs none. With `injected`, a
    /// pod without the injected container counts as one with a sidecar.
    pub(crate) fn of_pod(pod: &Value, injected: bool, common: &Common) -> Option<Node> {
        let proxy = proxy_container(pod);
        let kind = pod_kind(pod, proxy).or(injected.then_some(ProxyKind::Sidecar))?;
        let (name, namespace) = (text(pod, &["metadata", "name"]), text(pod, &["metadata", "namespace"]));
        let addresses = addresses(pod);
        let labels = map(pod, &["metadata", "labels"]).cloned().unwrap_or_default();
        let annotations: Map<String, Value> = map(pod, &["metadata", "annotations"])
            .into_iter()
            .flatten()
            .filter(|(key, _)| ANNOTATIONS.iter().any(|start| key.starts_with(start)))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let workload = workload(pod).map_or(name, |(_, name)| name).to_owned();
        let account = match text(pod, &["spec", "serviceAccountName"]) {
            "" => "default",
            account => account,
        };
        let mut metadata = Map::new();
        let mut insert = |key: &str, value: Value| metadata.insert(key.to_owned(), value);
        insert("NAME", name.into());
        insert("NAMESPACE", namespace.into());
        insert("INSTANCE_IPS", addresses.join(",").into());
        insert("LABELS", Value::Object(labels));
        insert("WORKLOAD_NAME", workload.as_str().into());
        insert("CLUSTER_ID", common.cluster_id.as_str().into());
        insert("ISTIO_VERSION", version_of(proxy).unwrap_or(&common.istio_version).into());
        insert("INTERCEPTION_MODE", "REDIRECT".into());
        insert("MESH_ID", "cluster.local".into());
        insert("SERVICE_ACCOUNT", account.into());
        if !annotations.is_empty() {
            insert("ANNOTATIONS", Value::Object(annotations));
        }
        // How the agent uses its environment (`pkg/bootstrap/config.go`).
        for variable in proxy.map(|proxy| list(proxy, &["env"])).unwrap_or_default() {
            let (Some(key), Some(value)) =
                (text(variable, &["name"]).strip_prefix("ISTIO_META_"), variable.get("value").and_then(Value::as_str))
            else {
                continue;
            };
            insert(key, value.into());
        }
        Some(Node {
            kind,
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            addresses,
            domain: common.domain.clone(),
            metadata,
        })
    }

    /// The proxy of a virtual machine with a WorkloadEntry.
    pub(crate) fn of_workload_entry(entry: &Value, common: &Common) -> Node {
        let (name, namespace) = (text(entry, &["metadata", "name"]), text(entry, &["metadata", "namespace"]));
        let mut labels = map(entry, &["metadata", "labels"]).cloned().unwrap_or_default();
        labels.extend(map(entry, &["spec", "labels"]).cloned().unwrap_or_default());
        let address = text(entry, &["spec", "address"]).to_owned();
        let mut metadata = Map::new();
        for (key, value) in [
            ("NAME", Value::from(name)),
            ("NAMESPACE", namespace.into()),
            ("INSTANCE_IPS", address.as_str().into()),
            ("LABELS", Value::Object(labels)),
            ("WORKLOAD_NAME", name.into()),
            ("CLUSTER_ID", common.cluster_id.as_str().into()),
            ("ISTIO_VERSION", common.istio_version.as_str().into()),
            ("NETWORK", text(entry, &["spec", "network"]).into()),
        ] {
            if value != json!("") {
                metadata.insert(key.to_owned(), value);
            }
        }
        Node {
            kind: ProxyKind::Sidecar,
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            addresses: vec![address],
            domain: common.domain.clone(),
            metadata,
        }
    }

    /// `namespace/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

/// The proxy container of a pod.
pub(super) fn proxy_container(pod: &Value) -> Option<&Value> {
    let mut containers = list(pod, &["spec", "containers"]).iter().chain(list(pod, &["spec", "initContainers"]));
    containers.find(|container| text(container, &["name"]) == PROXY)
}

/// The kind of a pod's proxy, from the arguments of its proxy container or from the template to inject.
fn pod_kind(pod: &Value, proxy: Option<&Value>) -> Option<ProxyKind> {
    match proxy.and_then(|proxy| list(proxy, &["args"]).get(1)?.as_str()) {
        // It uses another protocol.
        Some("ztunnel") => return None,
        word => {
            if let Some(kind) = word.and_then(ProxyKind::from_node_type) {
                return Some(kind);
            }
        }
    }
    let labels = map(pod, &["metadata", "labels"]);
    let label = |key: &str| labels.and_then(|labels| labels.get(key)).and_then(Value::as_str);
    if label("gateway.istio.io/managed") == Some("istio.io-mesh-controller") {
        return Some(ProxyKind::Waypoint);
    }
    let templates = text(pod, &["metadata", "annotations", "inject.istio.io/templates"]);
    let gateway = templates.split(',').any(|template| template.trim() == "gateway")
        || label("gateway.networking.k8s.io/gateway-name").is_some()
        // A pod whose only container is the proxy is a gateway.
        || (proxy.is_some() && list(pod, &["spec", "containers"]).len() == 1 && label("istio").is_some());
    match (gateway, proxy) {
        (true, _) => Some(ProxyKind::Gateway),
        (false, Some(_)) => Some(ProxyKind::Sidecar),
        (false, None) => None,
    }
}

/// The version of a proxy, from the tag of its image.
fn version_of(proxy: Option<&Value>) -> Option<&str> {
    let tag = text(proxy?, &["image"]).rsplit_once(':')?.1;
    let version = tag.split('-').next()?;
    version.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())).then_some(version)
}

/// The addresses of a pod.
pub(super) fn addresses(pod: &Value) -> Vec<String> {
    let mut addresses: Vec<String> =
        list(pod, &["status", "podIPs"]).iter().map(|ip| text(ip, &["ip"]).to_owned()).collect();
    if addresses.is_empty() {
        addresses.push(text(pod, &["status", "podIP"]).to_owned());
    }
    addresses.retain(|address| !address.is_empty());
    addresses
}

/// Kind and name of the workload that owns a pod; for a ReplicaSet, its Deployment.
pub(super) fn workload(pod: &Value) -> Option<(&str, &str)> {
    let owners = list(pod, &["metadata", "ownerReferences"]);
    let owner = owners.iter().find(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true))?;
    let label = |key: &str| Some(text(pod, &["metadata", "labels", key]));
    Some(behind(text(owner, &["kind"]), text(owner, &["name"]), label))
}
