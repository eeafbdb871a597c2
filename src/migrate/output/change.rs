//! Changes of existing objects: rules of a VirtualService or an HTTPRoute, servers of a Gateway, annotations.

use super::settings::Settings;
use crate::load::{yaml, yaml_text};
use crate::migrate::base::value::merge;
use crate::model::proxy_config::ANNOTATION;
use crate::source::{FileId, Node};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

/// A change of an existing object.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Merges a value into the rules of a VirtualService (`spec.http`).
    Rules {
        /// Which rules.
        choose: Choose,
        /// What to merge.
        value: Json,
    },
    /// Merges a value into rules of an HTTPRoute, by their positions.
    KubeRules {
        /// The positions.
        at: BTreeSet<usize>,
        /// What to merge.
        value: Json,
    },
    /// Adds a rule to an HTTPRoute, after the others: their positions are parts of their names.
    LastKubeRule(Json),
    /// Inserts a rule before the others.
    FirstRule(Json),
    /// Merges TLS settings into the servers of a Gateway whose hosts include this one.
    Tls {
        /// The host.
        host: String,
        /// The settings.
        value: Json,
    },
    /// Lets the server with these hosts on a port redirect to HTTPS.
    Redirect {
        /// The number in the Gateway.
        port: u32,
        /// The hosts, as written.
        hosts: Vec<String>,
    },
    /// Sets the protocol of the servers on a port.
    Protocol {
        /// The number in the Gateway.
        port: u32,
        /// The protocol.
        protocol: &'static str,
    },
    /// Adds settings to the traffic policy of a DestinationRule.
    Policy(Settings),
    /// Merges proxy settings into the annotations that a Gateway API gateway sets on its pods.
    Infrastructure(Json),
}

/// Rules of a VirtualService, or of an HTTPRoute in the form of a VirtualService.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choose {
    /// All of them.
    All,
    /// Those with a name.
    Named(String),
    /// Those that route to a destination or delegate to rules that may, not redirects and direct responses.
    Routing,
}

impl Choose {
    /// Whether a rule is chosen.
    pub(crate) fn fits(&self, rule: &Json) -> bool {
        match self {
            Choose::All => true,
            Choose::Named(name) => rule["name"] == name.as_str(),
            Choose::Routing => rule.get("route").or(rule.get("delegate")).is_some(),
        }
    }
}

/// Applies a change to an object; `fills` are the fields of retries that only a rule without retries gets.
pub(in crate::migrate) fn apply(object: &mut Json, change: &Change, fills: &[&str]) {
    let spec = &mut object["spec"];
    match change {
        Change::Rules { choose, value } => {
            for rule in spec["http"].as_array_mut().into_iter().flatten().filter(|rule| choose.fits(rule)) {
                merge_rule(rule, value, fills);
            }
        }
        Change::KubeRules { at, value } => {
            let rules = spec["rules"].as_array_mut().into_iter().flatten().enumerate();
            rules.filter(|(number, _)| at.contains(number)).for_each(|(_, rule)| merge_kube_rule(rule, value, fills));
        }
        Change::LastKubeRule(rule) => {
            if let Some(rules) = spec["rules"].as_array_mut() {
                rules.push(rule.clone());
            }
        }
        Change::FirstRule(rule) => {
            if let Some(rules) = spec["http"].as_array_mut() {
                rules.insert(0, rule.clone());
            }
        }
        Change::Tls { host, value } => {
            for server in spec["servers"].as_array_mut().into_iter().flatten() {
                let serves = server["hosts"].as_array().is_some_and(|hosts| hosts.iter().any(|one| host_is(one, host)));
                if serves && server.get("tls").is_some() {
                    merge(&mut server["tls"], value);
                }
            }
        }
        Change::Redirect { port, hosts } => {
            for server in spec["servers"].as_array_mut().into_iter().flatten() {
                if server["port"]["number"] == *port && server["hosts"] == json!(hosts) {
                    server["tls"]["httpsRedirect"] = true.into();
                }
            }
        }
        Change::Protocol { port, protocol } => {
            for server in spec["servers"].as_array_mut().into_iter().flatten() {
                if server["port"]["number"] == *port {
                    server["port"]["protocol"] = (*protocol).into();
                }
            }
        }
        Change::Policy(settings) => settings.add_to(spec),
        Change::Infrastructure(config) => {
            let annotations = &mut spec["infrastructure"]["annotations"];
            if annotations.is_null() {
                *annotations = json!({});
            }
            let before = annotations[ANNOTATION].as_str().unwrap_or_default();
            annotations[ANNOTATION] = with_settings(before, config).into();
        }
    }
}

/// Settings of one filter on a route: a MERGE replaces the whole message, and so does the edit.
const WHOLE: [&str; 2] = ["corsPolicy", "fault"];

/// Removes a field below another one, which does not stay empty.
fn remove(value: &mut Json, (key, field): (&str, &str)) {
    let Some(all) = value.as_object_mut() else { return };
    let Some(one) = all.get_mut(key).and_then(Json::as_object_mut) else { return };
    one.shift_remove(field);
    if one.is_empty() {
        all.shift_remove(key);
    }
}

/// Where a field of retries is in a rule of an HTTPRoute.
fn in_kube(field: &str) -> (&str, &str) {
    match field {
        "perTryTimeout" => ("timeouts", "backendRequest"),
        "retryOn" => ("retry", "codes"),
        other => ("retry", other),
    }
}

/// Merges into a rule; header lists are extended, not replaced. Retries that it already has are not filled.
pub(in crate::migrate) fn merge_rule(rule: &mut Json, value: &Json, fills: &[&str]) {
    if let Some(rule) = rule.as_object_mut() {
        WHOLE.iter().filter(|key| value.get(**key).is_some()).for_each(|key| drop(rule.shift_remove(*key)));
    }
    let mut value = value.clone();
    if rule.get("retries").is_some() {
        fills.iter().for_each(|field| remove(&mut value, ("retries", field)));
    }
    // A MERGE adds mirrors to those of the rule.
    if let Some(old) = rule.get_mut("mirrors").and_then(Json::as_array_mut)
        && let Some(new) = value.as_object_mut().and_then(|value| value.shift_remove("mirrors"))
    {
        old.extend(new.as_array().into_iter().flatten().cloned());
    }
    for direction in ["request", "response"] {
        let path = format!("/headers/{direction}/remove");
        let Some(old) = rule.pointer_mut(&path).and_then(Json::as_array_mut) else { continue };
        let own = value.pointer_mut(&format!("/headers/{direction}")).and_then(Json::as_object_mut);
        let Some(Json::Array(new)) = own.and_then(|own| own.shift_remove("remove")) else { continue };
        for name in new {
            if !old.contains(&name) {
                old.push(name);
            }
        }
    }
    if let (Some(rule), Some(value)) = (rule.as_object_mut(), value.as_object_mut())
        && value.get("timeout").is_some_and(Json::is_null)
    {
        value.shift_remove("timeout");
        rule.shift_remove("timeout");
    }
    merge(rule, &value);
}

/// Merges a part into a rule of an HTTPRoute: filters of one type into the existing one, mirrors after the others. Retries
/// that it already has are not filled.
pub(in crate::migrate) fn merge_kube_rule(rule: &mut Json, value: &Json, fills: &[&str]) {
    let mut value = value.clone();
    if rule.get("retry").is_some() {
        fills.iter().for_each(|field| remove(&mut value, in_kube(field)));
    }
    for (key, part) in value.as_object().into_iter().flatten().filter(|(key, _)| *key != "filters") {
        match rule.as_object_mut() {
            Some(rule) if key == "timeouts" && part.is_null() => remove_timeout(rule),
            _ => merge(rule, &json!({ key: part })),
        }
    }
    let Some(new) = value["filters"].as_array() else { return };
    if rule["filters"].is_null() {
        rule["filters"] = json!([]);
    }
    let Some(filters) = rule["filters"].as_array_mut() else { return };
    for filter in new {
        let of = filter["type"].as_str().unwrap_or_default();
        let old = filters.iter_mut().find(|old| old["type"] == of && of != "RequestMirror");
        match (old, of) {
            (None, _) => filters.push(filter.clone()),
            (Some(old), "RequestHeaderModifier") => merge_headers(old, filter, "requestHeaderModifier"),
            (Some(old), "ResponseHeaderModifier") => merge_headers(old, filter, "responseHeaderModifier"),
            // A MERGE replaces the settings of a filter on a route as a whole.
            (Some(old), "CORS") => *old = filter.clone(),
            (Some(old), _) => merge(old, filter),
        }
    }
}

/// Removes the timeout of a rule of an HTTPRoute; istiod reads that of each try as that of the request if there are no retries.
fn remove_timeout(rule: &mut Map<String, Json>) {
    let retries = rule.contains_key("retry");
    let Some(timeouts) = rule.get_mut("timeouts").and_then(Json::as_object_mut) else { return };
    timeouts.shift_remove("request");
    if !retries {
        timeouts.shift_remove("backendRequest");
    }
    if timeouts.is_empty() {
        rule.shift_remove("timeouts");
    }
}

fn merge_headers(old: &mut Json, new: &Json, field: &str) {
    for list in ["set", "add", "remove"] {
        let Some(items) = new[field][list].as_array() else { continue };
        if old[field][list].is_null() {
            old[field][list] = json!([]);
        }
        let Some(all) = old[field][list].as_array_mut() else { continue };
        for item in items {
            let name = |one: &Json| one["name"].as_str().or(one.as_str()).unwrap_or_default().to_ascii_lowercase();
            match all.iter_mut().find(|one| name(one) == name(item)) {
                Some(one) => *one = item.clone(),
                None => all.push(item.clone()),
            }
        }
    }
}

/// Whether a server's host (`namespace/host` or `host`) is this host.
fn host_is(one: &Json, host: &str) -> bool {
    let text = one.as_str().unwrap_or_default();
    text.rsplit('/').next().unwrap_or(text) == host
}

/// The settings in an annotation; none if it is not valid YAML.
pub(crate) fn settings_of(annotation: &str) -> Json {
    let (documents, _) = yaml::documents(FileId(0), annotation);
    documents.first().map(Node::to_json).filter(Json::is_object).unwrap_or_else(|| json!({}))
}

/// The text of the annotation with settings merged into it. An annotation that is not valid YAML is replaced, since the
/// agent rejects it anyway.
pub(in crate::migrate) fn with_settings(annotation: &str, config: &Json) -> String {
    let mut settings = settings_of(annotation);
    merge(&mut settings, config);
    yaml_text::write(&settings).unwrap_or_else(|_| settings.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_chosen_and_merged() {
        let mut object = json!({ "spec": { "http": [
            { "name": "a", "redirect": {} },
            { "name": "b", "route": [], "headers": { "response": { "remove": ["x"] } } },
        ] } });
        let value = json!({ "headers": { "response": { "remove": ["y"] } } });
        apply(&mut object, &Change::Rules { choose: Choose::Routing, value }, &[]);
        assert_eq!(object["spec"]["http"][0], json!({ "name": "a", "redirect": {} }));
        assert_eq!(object["spec"]["http"][1]["headers"]["response"]["remove"], json!(["x", "y"]));
    }

    #[test]
    fn removed_headers_join_in_both_directions() {
        let headers = |names: [&str; 1]| json!({ "request": { "remove": names }, "response": { "remove": names } });
        let mut object = json!({ "spec": { "http": [{ "headers": headers(["x"]) }, {}] } });
        let value = json!({ "headers": headers(["y"]), "mirrors": [{ "destination": { "host": "b" } }] });
        apply(&mut object, &Change::Rules { choose: Choose::All, value: value.clone() }, &[]);
        let rules = &object["spec"]["http"];
        for direction in ["request", "response"] {
            assert_eq!(rules[0]["headers"][direction]["remove"], json!(["x", "y"]));
        }
        assert_eq!(rules[1], value);
        apply(&mut object, &Change::Rules { choose: Choose::All, value: value.clone() }, &[]);
        assert_eq!(object["spec"]["http"][1]["mirrors"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn rules_lose_their_timeout() {
        let mut rule = json!({ "timeout": "3s", "route": [] });
        merge_rule(&mut rule, &json!({ "timeout": null, "headers": {} }), &[]);
        assert_eq!(rule, json!({ "route": [], "headers": {} }));
        let timeouts = json!({ "request": "3s", "backendRequest": "1s" });
        let mut rules = [json!({ "timeouts": timeouts }), json!({ "timeouts": timeouts, "retry": {} })];
        rules.iter_mut().for_each(|rule| merge_kube_rule(rule, &json!({ "timeouts": null }), &[]));
        assert_eq!(rules, [json!({}), json!({ "timeouts": { "backendRequest": "1s" }, "retry": {} })]);
    }

    #[test]
    fn retries_of_a_rule_are_not_filled() {
        let fills = ["attempts", "perTryTimeout"];
        let of_mesh =
            |value: Json| json!({ "retries": merged(json!({ "attempts": 4, "perTryTimeout": "1s" }), &value) });
        let mut rule = json!({});
        merge_rule(&mut rule, &json!({ "retries": { "attempts": 7, "perTryTimeout": "1s" } }), &["perTryTimeout"]);
        merge_rule(&mut rule, &of_mesh(json!({ "retryOn": "5xx" })), &fills);
        assert_eq!(rule, json!({ "retries": { "attempts": 7, "perTryTimeout": "1s", "retryOn": "5xx" } }));
        let mut rule = json!({ "retry": { "attempts": 7 } });
        let value = json!({ "retry": { "attempts": 4, "codes": [503] }, "timeouts": { "backendRequest": "1s" } });
        merge_kube_rule(&mut rule, &value, &fills);
        assert_eq!(rule, json!({ "retry": { "attempts": 7, "codes": [503] } }));
    }

    fn merged(mut into: Json, value: &Json) -> Json {
        merge(&mut into, value);
        into
    }

    #[test]
    fn settings_join_those_of_the_annotation() {
        let text = with_settings("concurrency: 2\n", &json!({ "gatewayTopology": { "numTrustedProxies": 1 } }));
        assert_eq!(text, "concurrency: 2\ngatewayTopology:\n  numTrustedProxies: 1\n");
    }

    #[test]
    fn filters_of_one_type_become_one() {
        let mut rule = json!({ "filters": [{ "type": "RequestHeaderModifier", "requestHeaderModifier": {
            "set": [{ "name": "A", "value": "1" }], "remove": ["x"] } }] });
        let value = json!({ "timeouts": { "request": "1s" }, "filters": [{ "type": "RequestHeaderModifier",
            "requestHeaderModifier": { "set": [{ "name": "a", "value": "2" }, { "name": "b", "value": "3" }], "remove": ["x", "y"] } }] });
        merge_kube_rule(&mut rule, &value, &[]);
        assert_eq!(
            rule,
            json!({ "filters": [{ "type": "RequestHeaderModifier", "requestHeaderModifier": {
                "set": [{ "name": "a", "value": "2" }, { "name": "b", "value": "3" }], "remove": ["x", "y"] } }],
                "timeouts": { "request": "1s" } })
        );
    }
}
