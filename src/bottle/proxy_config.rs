//! The settings that a pod's agent sends: those of the mesh, of ProxyConfigs and of the pod's annotation.

use super::defaults::{Defaults, read};
use super::node::Node;
use super::objects::{Objects, list, map, selects, text};
use crate::model::proxy_config::{ANNOTATION, apply};
use serde_json::{Value, json};

/// Adds the settings and variables of its own objects to the proxy of a pod; nothing if they equal those of the mesh,
/// which istiod knows.
pub(super) fn introduce(objects: &Objects, defaults: &Defaults, pod: &Value, proxy: Option<&Value>, node: &mut Node) {
    let annotation = map(pod, &["metadata", "annotations"]).and_then(|all| all.get(ANNOTATION)).and_then(Value::as_str);
    let annotation = annotation.map(read).filter(Value::is_object);
    let injected = proxy.and_then(|proxy| {
        let named = |variable: &&Value| text(variable, &["name"]) == "PROXY_CONFIG";
        let variable = list(proxy, &["env"]).iter().find(named)?;
        Some(read(text(variable, &["value"]))).filter(Value::is_object)
    });
    let settings = if let Some(mut injected) = injected {
        // The injected value has the settings of the mesh and the ProxyConfigs at injection time; variables are
        // separate.
        if let Some(annotation) = &annotation {
            apply(&mut injected, annotation);
        }
        injected
    } else {
        let mut settings = defaults.settings.clone();
        let of = |namespace: &str, own: bool| {
            let labels = map(pod, &["metadata", "labels"]);
            let mut found: Vec<&Value> = objects.values("networking.istio.io", "ProxyConfig").collect();
            found.retain(|one| {
                let selector = map(one, &["spec", "selector", "matchLabels"]).filter(|labels| !labels.is_empty());
                text(one, &["metadata", "namespace"]) == namespace
                    && selector.is_some() == own
                    && (!own || selects(selector, labels))
            });
            // istiod uses the oldest.
            let age = |key: &'static str| move |one: &Value| text(one, &["metadata", key]).to_owned();
            let (made, name) = (age("creationTimestamp"), age("name"));
            found.into_iter().min_by_key(|one| (made(one), name(one))).map(of_resource)
        };
        let everywhere = of(&defaults.root, false);
        let of_namespace = of(&node.namespace, false).filter(|_| node.namespace != defaults.root);
        let own = of(&node.namespace, true);
        if annotation.is_none() && everywhere.is_none() && of_namespace.is_none() && own.is_none() {
            return;
        }
        // The order of `EffectiveProxyConfig` (istiod, `pilot/pkg/model/proxy_config.go`).
        for over in [everywhere, of_namespace, annotation, own].into_iter().flatten() {
            apply(&mut settings, &over);
        }
        let variables = map(&settings, &["proxyMetadata"]).into_iter().flatten();
        for (name, value) in variables {
            if let Some(key) = name.strip_prefix("ISTIO_META_") {
                node.metadata.insert(key.to_owned(), value.clone());
            }
        }
        settings
    };
    node.metadata.insert("PROXY_CONFIG".to_owned(), settings);
}

/// The relevant parts of a ProxyConfig.
fn of_resource(resource: &Value) -> Value {
    let mut settings = json!({});
    for (field, key) in [("concurrency", "concurrency"), ("environmentVariables", "proxyMetadata"), ("image", "image")]
    {
        if let Some(value) = resource.get("spec").and_then(|spec| spec.get(field)) {
            settings[key] = value.clone();
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bottle::node::Common;
    use serde_json::json;

    fn settings(documents: Vec<Value>, pod: &Value) -> Node {
        let objects = Objects::new(documents, "default");
        let common = Common { defaults: Defaults::of(&objects, "", "istio-system"), ..Common::default() };
        let mut node = Node::of_pod(pod, true, &common).unwrap();
        introduce(&objects, &common.defaults, pod, None, &mut node);
        node
    }

    #[test]
    fn a_pod_has_the_settings_of_the_mesh_its_namespace_and_its_own() {
        let mesh = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio", "namespace": "istio-system"},
            "data": {"mesh": "defaultConfig: {concurrency: 1, gatewayTopology: {numTrustedProxies: 2}}"}});
        let plain = json!({"metadata": {"name": "cart-1", "namespace": "shop", "labels": {"app": "cart"}}});
        assert_eq!(settings(vec![mesh.clone()], &plain).metadata.get("PROXY_CONFIG"), None);
        let resource = |namespace: &str, spec: Value| {
            json!({"apiVersion": "networking.istio.io/v1beta1", "kind": "ProxyConfig",
                   "metadata": {"name": "one", "namespace": namespace}, "spec": spec})
        };
        let documents = vec![
            mesh,
            resource(
                "istio-system",
                json!({"concurrency": 3, "environmentVariables": {"ISTIO_META_A": "root", "B": "b"}}),
            ),
            resource(
                "shop",
                json!({"selector": {"matchLabels": {"app": "cart"}}, "environmentVariables": {"ISTIO_META_A": "own"}}),
            ),
            resource("pay", json!({"concurrency": 9})),
        ];
        let mut pod = plain.clone();
        pod["metadata"]["annotations"] =
            json!({ANNOTATION: "gatewayTopology: {forwardClientCertDetails: SANITIZE}\nconcurrency: 5\n"});
        let node = settings(documents.clone(), &pod);
        assert_eq!(
            node.metadata["PROXY_CONFIG"],
            json!({"concurrency": 5, "gatewayTopology": {"forwardClientCertDetails": "SANITIZE"},
                   "proxyMetadata": {"ISTIO_META_A": "own", "B": "b"}})
        );
        assert_eq!(node.metadata["A"], "own");
        // Broken YAML does not count.
        pod["metadata"]["annotations"] = json!({ANNOTATION: "{"});
        assert_eq!(settings(documents, &pod).metadata["PROXY_CONFIG"]["concurrency"], 3);
    }

    #[test]
    fn what_injection_wrote_counts_and_the_annotation_over_it() {
        let objects = Objects::new(Vec::new(), "default");
        let mut pod = json!({"metadata": {"name": "cart-1", "namespace": "shop"}, "spec": {"containers": [
            {"name": "istio-proxy", "args": ["proxy", "sidecar"],
             "env": [{"name": "PROXY_CONFIG", "value": "{\"tracing\":{\"sampling\":5},\"concurrency\":2}\n"}]}]}});
        pod["metadata"]["annotations"] = json!({ANNOTATION: "concurrency: 4"});
        let common = Common::default();
        let mut node = Node::of_pod(&pod, false, &common).unwrap();
        introduce(&objects, &common.defaults, &pod, Some(&pod["spec"]["containers"][0]), &mut node);
        assert_eq!(node.metadata["PROXY_CONFIG"], json!({"tracing": {"sampling": 5}, "concurrency": 4}));
    }
}
