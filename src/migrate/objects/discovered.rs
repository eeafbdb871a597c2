//! Namespaces that `discoverySelectors` leave out: istiod reads none of their objects.

use crate::model::inventory::{Labels, Object};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::sync::Arc;

/// The label that the API server gives every namespace.
const NAME: &str = "kubernetes.io/metadata.name";

/// Whether istiod reads the objects of each namespace; `None` without selectors, when it reads all.
pub(super) fn of<'a>(namespaces: &'a [Arc<Object>], mesh: Option<&Json>) -> Option<HashMap<&'a str, bool>> {
    let selectors = mesh?["discoverySelectors"].as_array().filter(|all| !all.is_empty())?;
    let read = |one: &'a Arc<Object>| {
        let mut labels = one.labels.clone();
        labels.insert(NAME.to_owned(), one.name.clone());
        (one.name.as_str(), selectors.iter().any(|selector| selects(selector, &labels)))
    };
    Some(namespaces.iter().map(read).collect())
}

/// Whether a label selector of Kubernetes selects labels.
fn selects(selector: &Json, labels: &Labels) -> bool {
    let equal = selector["matchLabels"].as_object().into_iter().flatten();
    let expressions = selector["matchExpressions"].as_array().into_iter().flatten();
    equal.into_iter().all(|(key, value)| labels.get(key).map(String::as_str) == value.as_str())
        && expressions.into_iter().all(|one| holds(one, labels))
}

fn holds(expression: &Json, labels: &Labels) -> bool {
    let label = expression["key"].as_str().and_then(|key| labels.get(key));
    let among = label.is_some_and(|label| {
        expression["values"].as_array().into_iter().flatten().any(|value| value.as_str() == Some(label))
    });
    match expression["operator"].as_str() {
        Some("In") => among,
        Some("NotIn") => !among,
        Some("Exists") => label.is_some(),
        Some("DoesNotExist") => label.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn selectors_select_as_in_kubernetes() {
        let labels = Labels::from([("a".to_owned(), "1".to_owned())]);
        let is = |selector: Json| selects(&selector, &labels);
        let one = |operator: &str, key: &str| json!({ "matchExpressions": [{ "key": key, "operator": operator, "values": ["1"] }] });
        assert!(is(json!({})) && is(json!({ "matchLabels": { "a": "1" } })));
        assert!(!is(json!({ "matchLabels": { "a": "2" } })) && !is(json!({ "matchLabels": { "a": "1", "b": "1" } })));
        assert!(is(one("In", "a")) && !is(one("In", "b")) && is(one("NotIn", "b")) && !is(one("NotIn", "a")));
        assert!(is(one("Exists", "a")) && is(one("DoesNotExist", "b")) && !is(one("Like", "a")));
    }
}
