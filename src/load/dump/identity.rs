//! The identity of a proxy: from the node in its bootstrap, overridden by what the user states.

use crate::model::proxy::{Proxy, ProxyKind};
use crate::source::{Code, Problem, Severity};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the user states about a proxy; it overrides the dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Sidecar, gateway or waypoint.
    pub kind: Option<ProxyKind>,
    /// Name of the pod.
    pub name: Option<String>,
    /// Namespace.
    pub namespace: Option<String>,
    /// Name of the workload.
    pub workload: Option<String>,
    /// All labels.
    pub labels: Option<BTreeMap<String, String>>,
    /// Istio version of the proxy.
    pub istio_version: Option<String>,
}

impl Identity {
    fn is_empty(&self) -> bool {
        *self == Identity::default()
    }
}

/// The proxy of a dump, overridden by what the user states. If the dump names no proxy, at least a namespace is required; the
/// kind is then `guess` unless given.
pub fn override_identity(proxy: Option<Proxy>, identity: &Identity, guess: ProxyKind) -> Result<Proxy, Problem> {
    let mut proxy = match (proxy, &identity.namespace) {
        (Some(proxy), _) => proxy,
        (None, Some(namespace)) => Proxy {
            kind: guess,
            name: String::new(),
            workload: String::new(),
            namespace: namespace.clone(),
            labels: BTreeMap::new(),
            istio_version: String::new(),
            metadata: Arc::default(),
            envoy_version: None,
            extensions: Vec::new(),
        },
        (None, None) => {
            return Err(Problem {
                code: Code::DumpWithoutNode,
                severity: Severity::Error,
                span: None,
                message: "the dump does not identify its proxy: it has no bootstrap with a node".to_owned(),
                help: Some(if identity.is_empty() {
                    "dump everything (istioctl proxy-config all POD -o json), or name the proxy's namespace and labels"
                        .to_owned()
                } else {
                    "name the proxy's namespace too".to_owned()
                }),
            });
        }
    };
    let Identity { kind, name, namespace, workload, labels, istio_version } = identity;
    // istiod reads these from the metadata, and filters can match on it: both must agree.
    let mut set = |key: &str, value: Value| drop(Arc::make_mut(&mut proxy.metadata).insert(key.to_owned(), value));
    if let Some(name) = name {
        set("NAME", name.clone().into());
        proxy.name.clone_from(name);
    }
    if let Some(namespace) = namespace {
        set("NAMESPACE", namespace.clone().into());
        proxy.namespace.clone_from(namespace);
    }
    if let Some(workload) = workload {
        set("WORKLOAD_NAME", workload.clone().into());
        proxy.workload.clone_from(workload);
    }
    if let Some(labels) = labels {
        let object: Map<String, Value> =
            labels.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
        set("LABELS", object.into());
        proxy.labels.clone_from(labels);
    }
    if let Some(version) = istio_version {
        set("ISTIO_VERSION", version.clone().into());
        proxy.istio_version.clone_from(version);
    }
    proxy.kind = kind.unwrap_or(proxy.kind);
    Ok(proxy)
}

/// A node (`envoy.config.core.v3.Node`), reduced to the parts needed here.
pub(super) struct Node {
    /// `sidecar~10.2.0.10~cart-1.shop~shop.svc.cluster.local`.
    pub(super) id: String,
    /// The proxy; `None` when the id is not one of Istio's.
    pub(super) proxy: Option<Proxy>,
}

/// Reads a node. Fails when its JSON does not parse.
pub(super) fn node(json: &str) -> Result<Node, serde_json::Error> {
    let mut node: Map<String, Value> = serde_json::from_str(json)?;
    let id = node.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let metadata = match node.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    let proxy = proxy(&id, metadata, &node);
    Ok(Node { id, proxy })
}

fn proxy(id: &str, metadata: Map<String, Value>, node: &Map<String, Value>) -> Option<Proxy> {
    // type~address~name~domain: istiod's ServiceNode.
    let mut parts = id.split('~');
    let kind = ProxyKind::from_node_type(parts.next()?)?;
    let full_name = parts.nth(1).unwrap_or_default();
    let (pod, namespace) = full_name.rsplit_once('.').unwrap_or((full_name, ""));
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = if pod.is_empty() { text("NAME").unwrap_or_default() } else { pod };
    let labels = metadata.get("LABELS").and_then(Value::as_object).map(|labels| {
        labels.iter().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
    });
    Some(Proxy {
        kind,
        name: name.to_owned(),
        workload: text("WORKLOAD_NAME").unwrap_or_default().to_owned(),
        namespace: text("NAMESPACE").unwrap_or(namespace).to_owned(),
        labels: labels.unwrap_or_default(),
        istio_version: text("ISTIO_VERSION").unwrap_or_default().to_owned(),
        envoy_version: envoy_version(node),
        extensions: extensions(node),
        metadata: Arc::new(metadata),
    })
}

/// `1.37.1-dev` from `user_agent_build_version`.
fn envoy_version(node: &Map<String, Value>) -> Option<String> {
    let build = node.get("user_agent_build_version").or_else(|| node.get("userAgentBuildVersion"))?;
    let version = build.get("version")?;
    // Proto JSON omits zeros.
    let number = |proto: &str, json: &str| {
        version.get(proto).or_else(|| version.get(json)).and_then(Value::as_u64).unwrap_or_default()
    };
    let (major, minor) = (number("major_number", "majorNumber"), number("minor_number", "minorNumber"));
    let mut text = format!("{major}.{minor}.{}", number("patch", "patch"));
    if let Some(label) = build.get("metadata").and_then(|it| it.get("build.label")).and_then(Value::as_str) {
        text.push('-');
        text.push_str(label);
    }
    Some(text)
}

fn extensions(node: &Map<String, Value>) -> Vec<String> {
    let list = node.get("extensions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|extension| extension.get("name")?.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_sidecar() {
        let node = node(
            r#"{"id":"sidecar~10.2.0.10~cart-1.v2.shop~shop.svc.cluster.local",
                "metadata":{"LABELS":{"app":"cart"},"ISTIO_VERSION":"1.30.3","WORKLOAD_NAME":"cart","CPU":2},
                "user_agent_build_version":{"version":{"major_number":1,"minor_number":37},"metadata":{"build.label":"dev"}},
                "extensions":[{"name":"envoy.filters.http.lua","category":"envoy.filters.http"},{"category":"nameless"}]}"#,
        )
        .unwrap();
        let proxy = node.proxy.unwrap();
        assert_eq!(
            (proxy.kind, proxy.name.as_str(), proxy.namespace.as_str()),
            (ProxyKind::Sidecar, "cart-1.v2", "shop")
        );
        assert_eq!((proxy.workload.as_str(), proxy.istio_version.as_str()), ("cart", "1.30.3"));
        assert_eq!(proxy.labels, BTreeMap::from([("app".to_owned(), "cart".to_owned())]));
        assert_eq!(proxy.envoy_version.as_deref(), Some("1.37.0-dev"));
        assert_eq!(proxy.extensions, ["envoy.filters.http.lua"]);
        assert_eq!(proxy.metadata["CPU"], 2);
    }

    #[test]
    fn metadata_names_the_namespace_and_camel_case_is_read() {
        let node = node(
            r#"{"id":"router~1.1.1.1~~x","metadata":{"NAMESPACE":"edge","NAME":"gw-1"},
                "userAgentBuildVersion":{"version":{"majorNumber":1,"minorNumber":18,"patch":3}}}"#,
        )
        .unwrap();
        let proxy = node.proxy.unwrap();
        assert_eq!((proxy.kind, proxy.full_name().as_str()), (ProxyKind::Gateway, "edge/gw-1"));
        assert_eq!(proxy.envoy_version.as_deref(), Some("1.18.3"));
    }

    #[test]
    fn foreign_nodes_have_no_proxy() {
        for json in ["{}", r#"{"id":"test-id"}"#, r#"{"id":"ztunnel~1.1.1.1~z.istio-system~x"}"#, r#"{"id":7}"#] {
            assert!(node(json).unwrap().proxy.is_none(), "{json}");
        }
        assert!(node("[").is_err());
        let deep = format!(r#"{{"metadata":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(node(&deep).is_err());
    }

    #[test]
    fn the_user_wins_and_metadata_follows() {
        let from_dump =
            node(r#"{"id":"sidecar~1.1.1.1~a.b~x","metadata":{"ISTIO_VERSION":"1.20.0","A":"1"}}"#).unwrap().proxy;
        let identity = Identity {
            kind: Some(ProxyKind::Waypoint),
            istio_version: Some("1.29.0".to_owned()),
            labels: Some(BTreeMap::from([("x".to_owned(), "y".to_owned())])),
            ..Identity::default()
        };
        let proxy = override_identity(from_dump, &identity, ProxyKind::Sidecar).unwrap();
        assert_eq!((proxy.kind, proxy.full_name().as_str()), (ProxyKind::Waypoint, "b/a"));
        assert_eq!(proxy.istio_version, "1.29.0");
        assert_eq!(
            Value::from((*proxy.metadata).clone()),
            serde_json::json!({"ISTIO_VERSION": "1.29.0", "A": "1", "LABELS": {"x": "y"}})
        );
    }

    #[test]
    fn without_a_node_a_namespace_is_needed() {
        let nothing = override_identity(None, &Identity::default(), ProxyKind::Gateway).unwrap_err();
        assert_eq!(nothing.code, Code::DumpWithoutNode);
        let identity = Identity { namespace: Some("edge".to_owned()), ..Identity::default() };
        let proxy = override_identity(None, &identity, ProxyKind::Gateway).unwrap();
        assert_eq!((proxy.kind, proxy.namespace.as_str()), (ProxyKind::Gateway, "edge"));
    }
}
