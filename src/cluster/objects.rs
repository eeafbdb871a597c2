//! What is kept of an object: no environment, no volumes, no bookkeeping of the API server.

use serde_json::{Map, Value};

/// Annotations that repeat the object.
const REPEATS: &[&str] = &["kubectl.kubernetes.io/last-applied-configuration"];
/// Metadata that decide where filters apply, and in which order.
const METADATA: &[&str] =
    &["name", "namespace", "labels", "annotations", "ownerReferences", "creationTimestamp", "deletionTimestamp"];

/// Namespace and name, empty where there is none.
pub fn name_of(object: &Value) -> (String, String) {
    let text = |key: &str| object.get("metadata").and_then(|it| it.get(key)).and_then(Value::as_str);
    (text("namespace").unwrap_or_default().to_owned(), text("name").unwrap_or_default().to_owned())
}

/// Drops what no question is about. Whether the object counts at all: pods that have ended do not.
pub fn keep(object: &mut Value) -> bool {
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Value::Object(map) = object else { return false };
    if kind == "Secret" {
        return false;
    }
    if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
        // Reports on a filter name the one they are about, also when another of its name has come.
        metadata.retain(|key, _| METADATA.contains(&key.as_str()) || (key == "uid" && kind == "EnvoyFilter"));
        if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
            annotations.retain(|key, _| !REPEATS.contains(&key.as_str()));
        }
    }
    match kind.as_str() {
        "Pod" => {
            let phase = map.get("status").and_then(|status| status.get("phase")).and_then(Value::as_str);
            if matches!(phase, Some("Succeeded" | "Failed")) {
                return false;
            }
            pod(map);
        }
        "ConfigMap" => {
            if let Some(Value::Object(data)) = map.get_mut("data") {
                data.retain(|key, _| key == "mesh");
            }
            map.retain(|key, _| key != "binaryData");
        }
        _ => map.retain(|key, _| key != "status"),
    }
    true
}

fn pod(map: &mut Map<String, Value>) {
    if let Some(Value::Object(spec)) = map.get_mut("spec") {
        spec.retain(|key, _| matches!(key.as_str(), "containers" | "initContainers" | "hostNetwork" | "nodeName"));
        for list in ["containers", "initContainers"] {
            for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                let Value::Object(container) = container else { continue };
                // Arguments of applications may hold passwords; those of Istio's containers say what they are.
                let own = matches!(container.get("name").and_then(Value::as_str), Some("istio-proxy" | "discovery"));
                let keep: &[&str] = if own {
                    &["name", "image", "ports", "args", "restartPolicy"]
                } else {
                    &["name", "image", "ports"]
                };
                container.retain(|key, _| keep.contains(&key.as_str()));
            }
        }
    }
    if let Some(Value::Object(status)) = map.get_mut("status") {
        let ready = status.get("conditions").and_then(Value::as_array).into_iter().flatten().any(|condition| {
            let is = |key: &str, value: &str| condition.get(key).and_then(Value::as_str) == Some(value);
            is("type", "Ready") && is("status", "True")
        });
        // What was kept once is kept again as it is.
        let ready = ready || status.get("ready") == Some(&true.into());
        status.retain(|key, _| matches!(key.as_str(), "phase" | "podIP"));
        status.insert("ready".to_owned(), ready.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pods_lose_what_may_be_secret_and_keep_what_decides() {
        let mut object = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "a", "namespace": "b", "uid": "x", "managedFields": [1],
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "k": "v"}},
            "spec": {"containers": [
                {"name": "app", "image": "i", "args": ["--password=canary"], "env": [{"name": "P", "value": "canary"}]},
                {"name": "istio-proxy", "image": "p:1", "args": ["proxy", "sidecar"], "env": []}], "volumes": []},
            "status": {"phase": "Running", "podIP": "10.0.0.1", "conditions": [{"type": "Ready", "status": "True"}]},
        });
        assert!(keep(&mut object));
        assert_eq!(
            object,
            json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "a", "namespace": "b", "annotations": {"k": "v"}},
                "spec": {"containers": [{"name": "app", "image": "i"},
                    {"name": "istio-proxy", "image": "p:1", "args": ["proxy", "sidecar"]}]},
                "status": {"phase": "Running", "podIP": "10.0.0.1", "ready": true},
            })
        );
        let once = object.clone();
        assert!(keep(&mut object));
        assert_eq!(object, once, "what was kept is kept again");
        let mut ended = json!({"kind": "Pod", "status": {"phase": "Succeeded"}});
        assert!(!keep(&mut ended));
        let mut secret = json!({"kind": "Secret", "data": {"a": "canary"}});
        assert!(!keep(&mut secret));
    }
}
