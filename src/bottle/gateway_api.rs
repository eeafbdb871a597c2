//! What an API server writes into objects of the Gateway API where they say nothing; istiod ends with a panic without some of it.

use super::kinds;
use serde_json::Value;

/// The default value of a field: the kinds that have it, the field below `spec`, and the value as JSON. A default comes before those
/// inside it.
///
/// Source: the definitions of the Gateway API v1.6.0 (`config/crd/experimental`).
const DEFAULTS: &[(&[&str], &str, &str)] = &[
    (&["Gateway"], "addresses[].type", r#""IPAddress""#),
    (&["Gateway"], "allowedListeners.namespaces", r#"{"from": "None"}"#),
    (&["Gateway"], "allowedListeners.namespaces.from", r#""None""#),
    (&["Gateway", "ListenerSet"], "listeners[].allowedRoutes", r#"{"namespaces": {"from": "Same"}}"#),
    (&["Gateway", "ListenerSet"], "listeners[].allowedRoutes.kinds[].group", r#""gateway.networking.k8s.io""#),
    (&["Gateway", "ListenerSet"], "listeners[].allowedRoutes.namespaces", r#"{"from": "Same"}"#),
    (&["Gateway", "ListenerSet"], "listeners[].allowedRoutes.namespaces.from", r#""Same""#),
    (&["Gateway", "ListenerSet"], "listeners[].tls.certificateRefs[].group", r#""""#),
    (&["Gateway", "ListenerSet"], "listeners[].tls.certificateRefs[].kind", r#""Secret""#),
    (&["Gateway", "ListenerSet"], "listeners[].tls.mode", r#""Terminate""#),
    (&["Gateway"], "tls.backend.clientCertificateRef.group", r#""""#),
    (&["Gateway"], "tls.backend.clientCertificateRef.kind", r#""Secret""#),
    (&["Gateway"], "tls.frontend.default.validation.mode", r#""AllowValidOnly""#),
    (&["Gateway"], "tls.frontend.perPort[].tls.validation.mode", r#""AllowValidOnly""#),
    (&["ListenerSet"], "parentRef.group", r#""gateway.networking.k8s.io""#),
    (&["ListenerSet"], "parentRef.kind", r#""Gateway""#),
    (ROUTES, "parentRefs[].group", r#""gateway.networking.k8s.io""#),
    (ROUTES, "parentRefs[].kind", r#""Gateway""#),
    (HTTP, "rules", r#"[{"matches": [{"path": {"type": "PathPrefix", "value": "/"}}]}]"#),
    (HTTP, "rules[].matches", r#"[{"path": {"type": "PathPrefix", "value": "/"}}]"#),
    (HTTP, "rules[].matches[].path", r#"{"type": "PathPrefix", "value": "/"}"#),
    (HTTP, "rules[].matches[].path.type", r#""PathPrefix""#),
    (HTTP, "rules[].matches[].path.value", r#""/""#),
    (HTTP, "rules[].matches[].queryParams[].type", r#""Exact""#),
    (BOTH, "rules[].matches[].headers[].type", r#""Exact""#),
    (&["GRPCRoute"], "rules[].matches[].method.type", r#""Exact""#),
    (ROUTES, "rules[].backendRefs[].group", r#""""#),
    (ROUTES, "rules[].backendRefs[].kind", r#""Service""#),
    (ROUTES, "rules[].backendRefs[].weight", "1"),
    (BOTH, "rules[].filters[].requestMirror.backendRef.group", r#""""#),
    (BOTH, "rules[].filters[].requestMirror.backendRef.kind", r#""Service""#),
    (BOTH, "rules[].filters[].requestMirror.fraction.denominator", "100"),
    (BOTH, "rules[].backendRefs[].filters[].requestMirror.backendRef.group", r#""""#),
    (BOTH, "rules[].backendRefs[].filters[].requestMirror.backendRef.kind", r#""Service""#),
    (BOTH, "rules[].backendRefs[].filters[].requestMirror.fraction.denominator", "100"),
    (HTTP, "rules[].filters[].cors.maxAge", "5"),
    (HTTP, "rules[].filters[].externalAuth.backendRef.group", r#""""#),
    (HTTP, "rules[].filters[].externalAuth.backendRef.kind", r#""Service""#),
    (HTTP, "rules[].filters[].requestRedirect.statusCode", "302"),
    (HTTP, "rules[].backendRefs[].filters[].cors.maxAge", "5"),
    (HTTP, "rules[].backendRefs[].filters[].externalAuth.backendRef.group", r#""""#),
    (HTTP, "rules[].backendRefs[].filters[].externalAuth.backendRef.kind", r#""Service""#),
    (HTTP, "rules[].backendRefs[].filters[].requestRedirect.statusCode", "302"),
    (BOTH, "rules[].sessionPersistence.cookieConfig.lifetimeType", r#""Session""#),
    (BOTH, "rules[].sessionPersistence.type", r#""Cookie""#),
];

const ROUTES: &[&str] = &["HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute"];
const BOTH: &[&str] = &["HTTPRoute", "GRPCRoute"];
const HTTP: &[&str] = &["HTTPRoute"];

/// Writes the defaults into an object; objects of other groups stay as they are.
pub fn set_defaults(object: &mut Value) {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    if kinds::group_of(text("apiVersion")) != kinds::GATEWAY_API {
        return;
    }
    let kind = text("kind").to_owned();
    let Some(spec) = object.get_mut("spec") else { return };
    for (_, path, value) in DEFAULTS.iter().filter(|(kinds, ..)| kinds.contains(&kind.as_str())) {
        if let Ok(value) = serde_json::from_str(value) {
            set(spec, path, &value);
        }
    }
}

/// Sets a field in each object that has the fields before it.
fn set(inside: &mut Value, path: &str, value: &Value) {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let (key, of_items) = first.strip_suffix("[]").map_or((first, false), |key| (key, true));
    let Some(fields) = inside.as_object_mut() else { return };
    match (rest, fields.get_mut(key)) {
        (None, None | Some(Value::Null)) => {
            fields.insert(key.to_owned(), value.clone());
        }
        (Some(rest), Some(Value::Array(items))) if of_items => {
            items.iter_mut().for_each(|item| set(item, rest, value));
        }
        (Some(rest), Some(inner)) if !of_items => set(inner, rest, value),
        _ => {}
    }
}

/// The fields with a default and its value, for a kind.
pub fn defaults_of(kind: &str) -> impl Iterator<Item = (&'static str, Value)> {
    let of = DEFAULTS.iter().filter(move |(kinds, ..)| kinds.contains(&kind));
    of.filter_map(|(_, path, value)| Some((*path, serde_json::from_str(value).ok()?)))
}
