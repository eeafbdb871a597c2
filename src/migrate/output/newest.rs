//! EnvoyFilters that stay, upgraded to the newest types, names and fields, and the effect of the upgrade.

use crate::migrate::base::verdict::Class;
use crate::words::count;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

/// The engine's verdict on a rewritten filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The same configuration, except for differences of the class, on this many reference configurations.
    Same(Class, usize),
    /// It does nothing today but would take effect.
    Revived(usize),
    /// A different configuration: the differences.
    Other(Vec<String>),
    /// Neither form does anything on the reference configurations.
    Unseen,
    /// It would take effect, or another one than today, but with this error, which it does not have today.
    Faulty(String),
}

/// A filter in the newest types.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewrite {
    /// `namespace/name`.
    pub filter: String,
    /// What was rewritten.
    pub changes: BTreeSet<String>,
    /// Its effect.
    pub effect: Effect,
    /// The filter.
    pub object: Json,
    /// Whether it is written.
    pub written: bool,
}

fn references(number: usize) -> String {
    count(number, "reference configuration", "reference configurations")
}

impl Rewrite {
    /// Its effect, and why it is not written, as text.
    pub(crate) fn words(&self) -> String {
        let unwritten = match self.effect {
            _ if self.written => "",
            Effect::Same(..) => ": not written with --accept exact",
            Effect::Revived(_) | Effect::Other(_) => ": not written without --accept differs",
            Effect::Unseen | Effect::Faulty(_) => ": not written",
        };
        self.effect.words() + unwritten
    }
}

impl Effect {
    /// As text.
    fn words(&self) -> String {
        match self {
            Effect::Same(class, proxies) => format!("the effect stays on {} ({class})", references(*proxies)),
            Effect::Revived(proxies) => {
                format!("it does nothing today and would take effect on {}", references(*proxies))
            }
            Effect::Other(effects) => {
                format!("the effect changes: {}", effects.first().map_or("", String::as_str))
            }
            Effect::Unseen => "neither form does anything on the reference configurations".to_owned(),
            Effect::Faulty(error) => {
                format!("the result would have an error: {error}")
            }
        }
    }

    /// The name in JSON.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Effect::Same(..) => "same",
            Effect::Revived(_) => "revived",
            Effect::Other(_) => "other",
            Effect::Unseen => "unseen",
            Effect::Faulty(_) => "faulty",
        }
    }
}

const MANAGER: &str = "envoy.filters.network.http_connection_manager";

/// Converts a document with `spec.filters` of the first API, which no supported release reads, to `configPatches`;
/// `None` if it is not one, or if `configPatches` cannot express it.
pub(crate) fn from_first_api(document: &Json) -> Option<Json> {
    let filters = document.pointer("/spec/filters")?.as_array()?;
    let mut spec = Map::new();
    if let Some(labels) = document.pointer("/spec/workloadLabels") {
        spec.insert("workloadSelector".to_owned(), json!({ "labels": labels }));
    }
    let patches: Option<Vec<Json>> = filters.iter().map(patch).collect();
    spec.insert("configPatches".to_owned(), patches?.into());
    let mut document = document.clone();
    document["spec"] = Json::Object(spec);
    Some(document)
}

fn patch(filter: &Json) -> Option<Json> {
    let text = |path: &str| filter.pointer(path).and_then(Json::as_str);
    let known = ["listenerMatch", "insertPosition", "filterType", "filterName", "filterConfig"];
    if !filter.as_object()?.keys().all(|key| known.contains(&key.as_str())) {
        return None;
    }
    let mut matched = json!({ "context": "ANY", "listener": { "filterChain": { "filter": {} } } });
    for (key, value) in filter.get("listenerMatch").and_then(Json::as_object).into_iter().flatten() {
        match key.as_str() {
            "listenerType" => matched["context"] = value.clone(),
            "portNumber" => matched["listener"]["portNumber"] = value.clone(),
            "listenerProtocol" if value == "HTTP" || value == "ALL" => {}
            _ => return None,
        }
    }
    let http = match text("/filterType")? {
        "HTTP" => true,
        "NETWORK" => false,
        _ => return None,
    };
    let anchor = text("/insertPosition/relativeTo");
    let (operation, beside) = match (text("/insertPosition/index").unwrap_or("LAST"), anchor) {
        ("FIRST", _) => ("INSERT_FIRST", None),
        // The router must be last, so the last position is the one before it.
        ("LAST", _) if http => ("INSERT_BEFORE", Some("envoy.filters.http.router")),
        ("BEFORE", Some(name)) => ("INSERT_BEFORE", Some(name)),
        ("AFTER", Some(name)) => ("INSERT_AFTER", Some(name)),
        _ => return None,
    };
    let chain = &mut matched["listener"]["filterChain"]["filter"];
    if http {
        chain["name"] = MANAGER.into();
        if let Some(name) = beside {
            chain["subFilter"] = json!({ "name": name });
        }
    } else if let Some(name) = beside {
        chain["name"] = name.into();
    }
    let mut value = json!({ "name": text("/filterName")? });
    if let Some(config) = filter.get("filterConfig") {
        value["config"] = config.clone();
    }
    Some(json!({
        "applyTo": if http { "HTTP_FILTER" } else { "NETWORK_FILTER" },
        "match": matched,
        "patch": { "operation": operation, "value": value },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_of_the_first_api_become_patches() {
        let old = json!({ "kind": "EnvoyFilter", "metadata": { "name": "a" }, "spec": {
            "workloadLabels": { "app": "cart" },
            "filters": [{
                "listenerMatch": { "listenerType": "SIDECAR_INBOUND", "portNumber": 8080 },
                "filterName": "envoy.lua", "filterType": "HTTP", "filterConfig": { "inlineCode": "x" },
            }],
        } });
        let new = from_first_api(&old).unwrap_or_default();
        assert_eq!(new["spec"]["workloadSelector"]["labels"]["app"], "cart");
        let patch = &new["spec"]["configPatches"][0];
        assert_eq!(patch["match"]["listener"]["portNumber"], 8080);
        assert_eq!(patch["patch"]["operation"], "INSERT_BEFORE");
        assert_eq!(patch["patch"]["value"], json!({ "name": "envoy.lua", "config": { "inlineCode": "x" } }));
        let by_address = json!({ "spec": { "filters": [{ "listenerMatch": { "address": ["10.0.0.1"] }, "filterType": "HTTP",
            "filterName": "x" }] } });
        assert_eq!(from_first_api(&by_address), None);
    }
}
