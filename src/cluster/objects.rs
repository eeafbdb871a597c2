//! The kept parts of an object: no environment, no volumes, no bookkeeping of the API server.

use crate::model::istiod::{CLUSTER_ID, ISTIOD_VARIABLES};
use serde_json::{Map, Value, json};

/// Annotations that repeat the object.
const REPEATS: &[&str] = &["kubectl.kubernetes.io/last-applied-configuration"];
/// Metadata that decides where filters apply, and in which order.
const METADATA: &[&str] =
    &["name", "namespace", "labels", "annotations", "ownerReferences", "creationTimestamp", "deletionTimestamp"];

/// The reader of kept objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// This program's questions.
    Questions,
    /// Also an istiod on this machine.
    Istiod,
}

/// Prefix of the variables that describe a proxy.
const PROXY_VARIABLES: &str = "ISTIO_META_";

/// Namespace and name; empty if missing.
pub(crate) fn name_of(object: &Value) -> (String, String) {
    let text = |key: &str| object.get("metadata").and_then(|it| it.get(key)).and_then(Value::as_str);
    (text("namespace").unwrap_or_default().to_owned(), text("name").unwrap_or_default().to_owned())
}

/// Drops fields that no question needs. Returns whether the object counts: terminated pods do not.
pub fn keep(object: &mut Value, reader: Reader) -> bool {
    let whole = reader == Reader::Istiod;
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Value::Object(map) = object else { return false };
    if kind == "Secret" {
        return false;
    }
    if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
        // A filter's reports refer to its uid, which stays correct when another filter of the name is created.
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
            pod(map, whole);
        }
        "Node" => {
            map.retain(|key, _| matches!(key.as_str(), "apiVersion" | "kind" | "metadata"));
            if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
                metadata.remove("annotations");
            }
        }
        "ConfigMap" => {
            if let Some(Value::Object(data)) = map.get_mut("data") {
                data.retain(|key, _| key == "mesh" || (whole && key == "meshNetworks"));
            }
            map.retain(|key, _| key != "binaryData");
        }
        // istiod reads addresses and health from the status of other kinds.
        _ if whole && kind != "EnvoyFilter" => {}
        _ => map.retain(|key, _| key != "status"),
    }
    true
}

fn pod(map: &mut Map<String, Value>, whole: bool) {
    if let Some(Value::Object(spec)) = map.get_mut("spec") {
        spec.retain(|key, _| {
            matches!(key.as_str(), "containers" | "initContainers" | "hostNetwork" | "nodeName")
                || (whole && key == "serviceAccountName")
        });
        for list in ["containers", "initContainers"] {
            for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                let Value::Object(container) = container else { continue };
                // Arguments of applications may contain passwords; those of Istio's containers describe the proxy.
                let name = container.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
                let keep: &[&str] = match name.as_str() {
                    "istio-proxy" | "discovery" if whole => {
                        &["name", "image", "ports", "args", "restartPolicy", "securityContext", "env"]
                    }
                    "istio-proxy" | "discovery" => {
                        &["name", "image", "ports", "args", "restartPolicy", "securityContext"]
                    }
                    _ => &["name", "image", "ports"],
                };
                container.retain(|key, _| keep.contains(&key.as_str()));
                if let Some(Value::Array(variables)) = container.get_mut("env") {
                    variables.retain(|variable| is_setting(variable, name == "discovery"));
                }
            }
        }
    }
    if let Some(Value::Object(status)) = map.get_mut("status") {
        let ready = status.get("conditions").and_then(Value::as_array).into_iter().flatten().any(|condition| {
            let is = |key: &str, value: &str| condition.get(key).and_then(Value::as_str) == Some(value);
            is("type", "Ready") && is("status", "True")
        });
        // Keeping is idempotent.
        let ready = ready || status.get("ready") == Some(&true.into());
        status.retain(|key, _| matches!(key.as_str(), "phase" | "podIP") || (whole && key == "podIPs"));
        status.insert("ready".to_owned(), ready.into());
        if whole && ready {
            status.insert("conditions".to_owned(), json!([{"type": "Ready", "status": "True"}]));
        }
    }
}

/// Whether a variable of istiod or a proxy changes what istiod generates, and has an inline value.
fn is_setting(variable: &Value, of_istiod: bool) -> bool {
    let name = variable.get("name").and_then(Value::as_str).unwrap_or_default();
    let wanted = if of_istiod {
        name == CLUSTER_ID || ISTIOD_VARIABLES.iter().any(|start| name.starts_with(start))
    } else {
        name.starts_with(PROXY_VARIABLES)
    };
    wanted && variable.get("value").is_some_and(Value::is_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_lose_what_may_be_secret_and_keep_what_decides() {
        let mut object = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "a", "namespace": "b", "uid": "x", "managedFields": [1],
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "k": "v"}},
            "spec": {"containers": [
                {"name": "app", "image": "i", "args": ["--password=canary"], "env": [{"name": "P", "value": "canary"}]},
                {"name": "istio-proxy", "image": "p:1", "args": ["proxy", "sidecar"], "env": [],
                    "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}}], "volumes": []},
            "status": {"phase": "Running", "podIP": "10.0.0.1", "conditions": [{"type": "Ready", "status": "True"}]},
        });
        assert!(keep(&mut object, Reader::Questions));
        assert_eq!(
            object,
            json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "a", "namespace": "b", "annotations": {"k": "v"}},
                "spec": {"containers": [{"name": "app", "image": "i"},
                    {"name": "istio-proxy", "image": "p:1", "args": ["proxy", "sidecar"],
                        "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}}]},
                "status": {"phase": "Running", "podIP": "10.0.0.1", "ready": true},
            })
        );
        let once = object.clone();
        assert!(keep(&mut object, Reader::Questions));
        assert_eq!(object, once, "what was kept is kept again");
        let mut ended = json!({"kind": "Pod", "status": {"phase": "Succeeded"}});
        assert!(!keep(&mut ended, Reader::Istiod));
        let mut secret = json!({"kind": "Secret", "data": {"a": "canary"}});
        assert!(!keep(&mut secret, Reader::Istiod));
    }

    #[test]
    fn an_istiod_gets_what_changes_its_answer_and_no_secret() {
        let variable = |name: &str| json!({"name": name, "value": "kept"});
        let from = json!({"name": "PILOT_FROM", "valueFrom": {"secretKeyRef": {"name": "canary"}}});
        let mut object = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "b"},
            "spec": {"serviceAccountName": "own", "containers": [
                {"name": "app", "env": [{"name": "ISTIO_META_X", "value": "canary"}]},
                {"name": "istio-proxy", "env": [variable("ISTIO_META_NETWORK"), {"name": "TOKEN", "value": "canary"}]},
                {"name": "discovery", "env": [
                    variable("PILOT_X"), variable("CLUSTER_ID"), {"name": "TOKEN", "value": "canary"}, from,
                ]}]},
            "status": {"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}],
                       "conditions": [{"type": "Ready", "status": "True", "message": "canary"}]},
        });
        assert!(keep(&mut object, Reader::Istiod));
        let text = object.to_string();
        assert!(!text.contains("canary"), "{text}");
        assert_eq!(text.matches("kept").count(), 3, "{text}");
        assert!(text.contains("fd00::1") && text.contains("own"), "{text}");
        assert_eq!(object["status"]["conditions"][0]["type"], "Ready");
        let mut service = json!({"kind": "Service", "status": {"loadBalancer": {}}});
        assert!(keep(&mut service, Reader::Istiod) && service["status"].is_object());
        let mut node =
            json!({"kind": "Node", "metadata": {"labels": {"zone": "a"}, "annotations": {"k": "v"}}, "status": {}});
        assert!(keep(&mut node, Reader::Istiod));
        assert_eq!(node, json!({"kind": "Node", "metadata": {"labels": {"zone": "a"}}}));
    }
}
