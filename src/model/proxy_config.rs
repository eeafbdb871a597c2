//! Settings of a proxy (`proxy.istio.io/config`), overlaid as istiod and the agent do it.

use serde_json::{Map, Value};

/// The annotation of pods that holds them.
pub(crate) const ANNOTATION: &str = "proxy.istio.io/config";

/// Fields that are merged field by field rather than replaced (`MergeProxyConfig` in Istio's `pkg/config/mesh`).
const BY_FIELD: [&str; 2] = ["proxyMetadata", "proxyHeaders"];

/// Fields of `proxyHeaders` that are kept if the overlay does not set them; the others are dropped.
const KEPT_HEADERS: [&str; 5] = ["forwardedClientCert", "requestId", "attemptCount", "server", "envoyDebugHeaders"];

/// Overlays settings. A field replaces the one below it as a whole: a `gatewayTopology` with one field hides all fields of the
/// one below.
pub(crate) fn apply(settings: &mut Value, over: &Value) {
    let Some(over) = over.as_object() else { return };
    if !settings.is_object() {
        *settings = Value::Object(Map::new());
    }
    let Some(settings) = settings.as_object_mut() else { return };
    for (key, value) in over {
        let key = json_name(key);
        let below = settings.get(&key).and_then(Value::as_object).filter(|_| BY_FIELD.contains(&key.as_str())).cloned();
        let mut value = value.clone();
        if let (Some(below), Some(fields)) = (below, value.as_object_mut()) {
            let kept = |field: &String| key == "proxyMetadata" || KEPT_HEADERS.contains(&field.as_str());
            for (field, old) in below.into_iter().filter(|(field, _)| kept(field)) {
                fields.entry(field).or_insert(old);
            }
        }
        settings.insert(key, value);
    }
}

/// The JSON name of a field: both spellings are read.
fn json_name(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    let mut upper = false;
    for c in key.chars() {
        match c {
            '_' => upper = true,
            c if upper => {
                name.extend(c.to_uppercase());
                upper = false;
            }
            c => name.push(c),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_replace_as_a_whole_but_for_metadata_and_some_headers() {
        let mut settings = json!({
            "concurrency": 2,
            "gatewayTopology": { "numTrustedProxies": 2 },
            "proxyMetadata": { "A": "1", "B": "1" },
            "proxyHeaders": { "server": { "value": "x" }, "preserveHttp1HeaderCase": true },
        });
        let over = json!({
            "gateway_topology": { "forwardClientCertDetails": "SANITIZE" },
            "proxyMetadata": { "B": "2" },
            "proxyHeaders": { "requestId": { "disabled": true } },
        });
        apply(&mut settings, &over);
        assert_eq!(
            settings,
            json!({
                "concurrency": 2,
                "gatewayTopology": { "forwardClientCertDetails": "SANITIZE" },
                "proxyMetadata": { "A": "1", "B": "2" },
                "proxyHeaders": { "server": { "value": "x" }, "requestId": { "disabled": true } },
            })
        );
        apply(&mut settings, &json!("no settings"));
        assert_eq!(settings["concurrency"], 2);
    }
}
