//! A mesh of many services, for benchmarks and tests of the real istiod.

use serde_json::{Value, json};

/// Services in ten namespaces, each with its Deployment.
pub(super) fn mesh(services: usize) -> Vec<Value> {
    let namespaces = (0..10).map(|number| {
        json!({"apiVersion": "v1", "kind": "Namespace",
               "metadata": {"name": format!("ns{number}"), "labels": {"istio-injection": "enabled"}}})
    });
    let services = (0..services).flat_map(|number| {
        let (name, namespace) = (format!("app{number}"), format!("ns{}", number % 10));
        let labels = json!({"app": name});
        [
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace},
                   "spec": {"selector": labels, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]}}),
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace},
            "spec": {"selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": "app"}]},
            }}}),
        ]
    });
    namespaces.chain(services).collect()
}
