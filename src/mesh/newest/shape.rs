//! What the upgrade of a filter depends on: filters that differ in nothing else share one answer.
//!
//! The reference configurations stand for proxies that the filter selects, so its name, its selector, its namespace (but for
//! the root namespace) and its priority do not matter, and no rule that upgrades a filter reads code.

use crate::migrate::newest::from_first_api;
use crate::model::proxy::REVISION_LABEL;
use serde_json::{Map, Value as Json, json};

/// Fields with source code.
const CODE: [&str; 4] = ["inlineCode", "inline_code", "inlineString", "inline_string"];
/// The selector; that of the first API.
const SELECTORS: [&str; 2] = ["workloadSelector", "workloadLabels"];
const PRIORITY: &str = "priority";

/// A filter without what its upgrade does not depend on.
pub(super) struct Shape {
    /// It as a filter.
    pub document: Json,
    /// The code that it does not contain.
    pub code: Vec<String>,
}

impl Shape {
    /// Of a filter, with its namespace.
    pub(super) fn of(filter: &Json, root: &str) -> Shape {
        let mut shape = Shape { document: filter.clone(), code: Vec::new() };
        let elsewhere = if root == "default" { "other" } else { "default" };
        let namespace = if filter["metadata"]["namespace"] == root { root } else { elsewhere };
        let mut metadata = json!({ "name": "filter", "namespace": namespace });
        if let Some(revision) = filter.pointer("/metadata/labels").and_then(|labels| labels.get(REVISION_LABEL)) {
            metadata["labels"] = json!({ REVISION_LABEL: revision });
        }
        if let Some(annotations) = filter.pointer("/metadata/annotations") {
            metadata["annotations"] = annotations.clone();
        }
        if let Some(map) = shape.document.as_object_mut() {
            map.insert("metadata".to_owned(), metadata);
        }
        if let Some(spec) = shape.document.get_mut("spec").and_then(Json::as_object_mut) {
            spec.retain(|key, value| !is_immaterial(key, value));
            spec.values_mut().for_each(|value| take_code(value, &mut shape.code));
        }
        shape
    }

    /// The upgraded form of the filter from that of its shape.
    pub(super) fn filled(&self, upgraded: &Json, filter: &Json) -> Json {
        let first = from_first_api(filter);
        let own = first.as_ref().unwrap_or(filter);
        let mut object = upgraded.clone();
        object["metadata"] = own["metadata"].clone();
        let empty = Map::new();
        let (own, new) = (own["spec"].as_object().unwrap_or(&empty), upgraded["spec"].as_object().unwrap_or(&empty));
        let mut spec = Map::new();
        for (key, value) in own {
            if let Some(new) = new.get(key) {
                spec.insert(key.clone(), new.clone());
            } else if is_immaterial(key, value) {
                spec.insert(key.clone(), value.clone());
            }
        }
        for (key, value) in new {
            spec.entry(key.clone()).or_insert_with(|| value.clone());
        }
        spec.values_mut().for_each(|value| give_code(value, &self.code));
        object["spec"] = spec.into();
        object
    }
}

/// Whether a field of `spec` has no influence.
fn is_immaterial(key: &str, value: &Json) -> bool {
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    let labels = |value: &Json| {
        value.as_object().is_some_and(|labels| {
            labels.iter().all(|(key, value)| plain(key) && !key.is_empty() && value.as_str().is_some_and(plain))
        })
    };
    match key {
        PRIORITY => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
        "workloadSelector" => value.as_object().is_some_and(|map| map.len() == 1) && labels(&value["labels"]),
        _ => SELECTORS.contains(&key) && labels(value),
    }
}

fn stand_in(number: usize) -> String {
    format!("-- code {number}")
}

/// Replaces each code with a short one; equal ones stay equal.
fn take_code(value: &mut Json, code: &mut Vec<String>) {
    let readable = |text: &str| !text.is_empty() && text.chars().all(|c| !c.is_control() || c == '\n' || c == '\t');
    match value {
        Json::Object(map) => {
            for (key, value) in map.iter_mut() {
                match value {
                    Json::String(text) if CODE.contains(&key.as_str()) && readable(text) => {
                        let known = code.iter().position(|one| one == text);
                        let number = known.unwrap_or(code.len());
                        let text = std::mem::replace(text, stand_in(number));
                        if known.is_none() {
                            code.push(text);
                        }
                    }
                    value => take_code(value, code),
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| take_code(item, code)),
        _ => {}
    }
}

/// Puts the code back.
fn give_code(value: &mut Json, code: &[String]) {
    match value {
        Json::Object(map) => {
            for (key, value) in map.iter_mut() {
                match value {
                    Json::String(text) if CODE.contains(&key.as_str()) => {
                        let own = code.iter().enumerate().find(|(number, _)| stand_in(*number) == *text);
                        own.into_iter().for_each(|(_, own)| text.clone_from(own));
                    }
                    value => give_code(value, code),
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| give_code(item, code)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(metadata: Json, labels: Json, code: &str) -> Json {
        json!({ "metadata": metadata, "spec": { "workloadSelector": { "labels": labels }, "configPatches": [
            { "patch": { "value": { "inlineCode": code } } },
            { "patch": { "value": { "inlineCode": "second" } } },
        ], "priority": 3 } })
    }

    #[test]
    fn what_does_not_matter_is_put_back() {
        let one = filter(json!({ "name": "a", "namespace": "x" }), json!({ "app": "a" }), "first");
        let other = filter(json!({ "name": "b", "namespace": "y" }), json!({ "app": "b" }), "-- code 1");
        let shapes = [&one, &other].map(|filter| Shape::of(filter, "istio-system"));
        assert_eq!(shapes[0].document, shapes[1].document);
        for (shape, filter) in shapes.iter().zip([&one, &other]) {
            assert_eq!(shape.filled(&shape.document, filter), *filter);
        }
    }

    #[test]
    fn what_matters_stays() {
        let shape = |filter: Json| Shape::of(&filter, "istio-system").document;
        let one = || filter(json!({ "name": "a", "namespace": "x" }), json!({ "app": "a" }), "first");
        let with = |path: &str, value: Json| {
            let mut filter = one();
            if let Some(place) = filter.pointer_mut(path) {
                *place = value;
            }
            shape(filter)
        };
        for (path, value) in [
            ("/metadata", json!({ "name": "a", "namespace": "istio-system" })),
            ("/metadata", json!({ "name": "a", "namespace": "x", "labels": { REVISION_LABEL: "canary" } })),
            ("/spec/priority", json!("high")),
            ("/spec/workloadSelector", json!({ "labels": { "app": "*" } })),
            ("/spec/configPatches/0/patch/value", json!({ "inlineCode": "" })),
            // The same code twice.
            ("/spec/configPatches/0/patch/value", json!({ "inlineCode": "second" })),
        ] {
            assert_ne!(with(path, value), shape(one()), "{path}");
        }
    }
}
