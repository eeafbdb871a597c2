//! What the API server stores of an EnvoyFilter.

use super::parse_envoy_filter::FIELDS;
use serde_json::Value;

/// Deletes what the API server does not store: fields that the schema does not have (such as `port_number`), and `null`. istiod
/// would read some of them from a file. Patch values stay as they are, because the schema allows every field in them.
pub(crate) fn prune(filter: &mut Value) {
    if let Some(spec) = filter.get_mut("spec") {
        prune_message("spec", spec);
    }
}

/// The depth is that of the schema: `value` is not a message of it.
fn prune_message(name: &str, value: &mut Value) {
    let Some((_, known)) = FIELDS.iter().find(|(message, _)| *message == name) else { return };
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| prune_fields(known, item)),
        other => prune_fields(known, other),
    }
}

fn prune_fields(known: &[&str], value: &mut Value) {
    let Some(fields) = value.as_object_mut() else { return };
    fields.retain(|key, value| known.contains(&key.as_str()) && !value.is_null());
    // `metadata` of `proxy` is a map of the user's own keys.
    for (key, value) in fields.iter_mut().filter(|(key, _)| *key != "metadata") {
        prune_message(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_fields_of_the_schema_are_stored() {
        let mut filter = json!({"kind": "EnvoyFilter", "spec": {
            "filters": [], "workloadSelector": {"labels": {"app": "a", "x_y": "b"}}, "priority": null,
            "configPatches": [{
                "applyTo": "CLUSTER",
                "match": {
                    "proxy": {"proxy_version": "1", "metadata": {"any_key": "x"}},
                    "cluster": {"port_number": 80, "portNumber": 443},
                    "listener": {"filterChain": {"filter": {"name": "a", "sub_filter": {}}}},
                },
                "patch": {"operation": "MERGE", "value": {"port_number": 1, "x": null}},
            }],
        }});
        prune(&mut filter);
        let stored = json!({"kind": "EnvoyFilter", "spec": {
            "workloadSelector": {"labels": {"app": "a", "x_y": "b"}},
            "configPatches": [{
                "applyTo": "CLUSTER",
                "match": {
                    "proxy": {"metadata": {"any_key": "x"}},
                    "cluster": {"portNumber": 443},
                    "listener": {"filterChain": {"filter": {"name": "a"}}},
                },
                "patch": {"operation": "MERGE", "value": {"port_number": 1, "x": null}},
            }],
        }});
        assert_eq!(filter, stored);
    }
}
