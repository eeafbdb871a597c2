//! Settings that are added to the traffic policy of a DestinationRule.

use crate::migrate::base::value::merge;
use serde_json::{Map, Value as Json, json};

/// Settings for the clusters of a host, of one of its ports, or of one of its subsets.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The host.
    pub host: String,
    /// The subset; `None` for the host.
    pub subset: Option<String>,
    /// The traffic policy; settings of one port are in its `portLevelSettings`.
    pub policy: Json,
}

/// The sections of a traffic policy that settings of a port have too.
const OF_PORTS: [&str; 4] = ["loadBalancer", "connectionPool", "outlierDetection", "tls"];

impl Settings {
    /// Adds the settings to those of a rule (its `spec`). Settings of a port or a subset replace those of the host as a
    /// whole, so they are copied into them.
    pub(in crate::migrate) fn add_to(&self, spec: &mut Json) {
        let Some(subset) = &self.subset else {
            of_host(&mut spec["trafficPolicy"], &self.policy);
            return of_subsets(spec, &self.policy);
        };
        let host = spec["trafficPolicy"].clone();
        let Some(list) = listed(&mut spec["subsets"]) else { return };
        match list.iter_mut().find(|one| one["name"] == subset.as_str()) {
            Some(one) => of_subset(&mut one["trafficPolicy"], &host, &self.policy),
            None => list.push(json!({ "name": subset, "trafficPolicy": self.policy })),
        }
    }
}

const LEVELS: &str = "portLevelSettings";

/// The list in a value, which becomes an empty one if it is none.
fn listed(value: &mut Json) -> Option<&mut Vec<Json>> {
    if !value.is_array() {
        *value = json!([]);
    }
    value.as_array_mut()
}

fn of_host(policy: &mut Json, new: &Json) {
    if policy.is_null() {
        *policy = json!({});
    }
    let Some(level) = new.pointer("/portLevelSettings/0") else {
        merge(policy, new);
        for level in policy.get_mut(LEVELS).and_then(Json::as_array_mut).into_iter().flatten() {
            for section in OF_PORTS.iter().filter(|section| !new[**section].is_null()) {
                merge(level, &json!({ *section: new[*section] }));
            }
        }
        return;
    };
    let mut levels = policy.as_object_mut().and_then(|map| map.shift_remove(LEVELS)).unwrap_or_else(|| json!([]));
    add_level(&mut levels, policy, level);
    policy[LEVELS] = levels;
}

/// Adds settings of the host to those of subsets, which would hide them.
fn of_subsets(spec: &mut Json, new: &Json) {
    let host = spec["trafficPolicy"].clone();
    let subsets = spec.get_mut("subsets").and_then(Json::as_array_mut).into_iter().flatten();
    for own in subsets.filter_map(|one| one.get_mut("trafficPolicy")) {
        let hides = |section: &str| !own[section].is_null() || !own[LEVELS].is_null();
        let sections = new.pointer("/portLevelSettings/0").unwrap_or(new).as_object().into_iter().flatten();
        let hidden: Map<String, Json> = sections
            .filter(|(section, _)| OF_PORTS.contains(&section.as_str()) && hides(section))
            .map(|(section, value)| (section.clone(), value.clone()))
            .collect();
        match new.pointer("/portLevelSettings/0") {
            _ if hidden.is_empty() => {}
            Some(_) => of_subset(own, &host, new),
            None => of_subset(own, &host, &Json::Object(hidden)),
        }
    }
}

/// Adds settings of a port to the others; those of the host are copied into new ones.
fn add_level(levels: &mut Json, host: &Json, level: &Json) {
    let Some(levels) = listed(levels) else { return };
    if let Some(known) = levels.iter_mut().find(|known| known["port"] == level["port"]) {
        return merge(known, level);
    }
    let mut one = json!({});
    for section in OF_PORTS.iter().filter(|section| !host[**section].is_null()) {
        one[*section] = host[*section].clone();
    }
    merge(&mut one, level);
    levels.push(one);
}

/// What a subset has for a port: its sections, each instead of that of the host, which has settings of its own for some ports.
fn for_port(own: &Json, host: &Json, port: &Json) -> Json {
    let mut levels = host[LEVELS].as_array().into_iter().flatten();
    let host = levels.find(|level| level["port"] == *port).unwrap_or(host);
    let mut all = json!({});
    for section in OF_PORTS {
        if let Some(value) = own.get(section).or_else(|| host.get(section)) {
            all[section] = value.clone();
        }
    }
    all
}

/// Settings of a subset: each of its sections replaces that of the host as a whole, and settings of a port replace
/// both.
fn of_subset(own: &mut Json, host: &Json, new: &Json) {
    if own.is_null() {
        *own = json!({});
    }
    if let Some(level) = new.pointer("/portLevelSettings/0") {
        let all = for_port(own, host, &level["port"]);
        return add_level(&mut own[LEVELS], &all, level);
    }
    for level in host[LEVELS].as_array().into_iter().flatten() {
        let all = for_port(own, host, &level["port"]);
        add_level(&mut own[LEVELS], &all, &json!({ "port": level["port"] }));
    }
    for (section, value) in new.as_object().into_iter().flatten() {
        if own[section].is_null() {
            own[section] = host.get(section).cloned().unwrap_or_else(|| json!({}));
        }
        merge(&mut own[section], value);
        let levels = own.get_mut(LEVELS).and_then(Json::as_array_mut);
        for level in levels.into_iter().flatten().filter(|_| OF_PORTS.contains(&section.as_str())) {
            merge(level, &json!({ section: value }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeout(time: &str) -> Json {
        json!({ "connectionPool": { "tcp": { "connectTimeout": time } } })
    }

    fn at(port: u32, policy: &Json) -> Json {
        let mut level = json!({ "port": { "number": port } });
        merge(&mut level, policy);
        level
    }

    fn added(policies: &[Json]) -> Json {
        let mut spec = json!({ "host": "a" });
        for policy in policies {
            Settings { host: "a".to_owned(), subset: None, policy: policy.clone() }.add_to(&mut spec);
        }
        spec["trafficPolicy"].clone()
    }

    #[test]
    fn settings_of_several_ports_join() {
        let [one, other] = [at(80, &timeout("3s")), at(90, &timeout("4s"))];
        let both = added(&[json!({ LEVELS: [one] }), json!({ LEVELS: [other] })]);
        assert_eq!(both, json!({ LEVELS: [one, other] }));
    }

    #[test]
    fn settings_of_the_host_are_in_those_of_its_ports() {
        let keeps = json!({ "connectionPool": { "http": { "maxRetries": 2 } } });
        let level = json!({ LEVELS: [at(80, &timeout("3s"))] });
        let mut wanted = at(80, &timeout("3s"));
        merge(&mut wanted, &keeps);
        for order in [[&keeps, &level], [&level, &keeps]] {
            let both = added(&order.map(Json::clone));
            assert_eq!(both["connectionPool"], keeps["connectionPool"]);
            assert_eq!(both[LEVELS], json!([wanted]));
        }
    }

    #[test]
    fn settings_of_a_subset_do_not_hide_those_of_the_host() {
        let keeps = json!({ "connectionPool": { "http": { "maxRetries": 2 } } });
        let mut spec = json!({ "subsets": [{ "name": "v1" }, { "name": "v2", "trafficPolicy": timeout("3s") }] });
        Settings { host: "a".to_owned(), subset: None, policy: keeps.clone() }.add_to(&mut spec);
        let mut wanted = timeout("3s");
        merge(&mut wanted, &keeps);
        assert_eq!(spec["trafficPolicy"], keeps);
        assert_eq!(spec["subsets"], json!([{ "name": "v1" }, { "name": "v2", "trafficPolicy": wanted }]));
        let level = json!({ LEVELS: [at(80, &timeout("4s"))] });
        Settings { host: "a".to_owned(), subset: None, policy: level }.add_to(&mut spec);
        merge(&mut wanted, &timeout("4s"));
        assert_eq!(spec["subsets"][1]["trafficPolicy"][LEVELS], json!([at(80, &wanted)]));
        assert!(spec["subsets"][0].get("trafficPolicy").is_none());
    }

    #[test]
    fn settings_of_a_subset_keep_those_of_the_ports() {
        let keeps = json!({ "connectionPool": { "http": { "maxRetries": 2 } } });
        for level in [timeout("3s"), json!({ LEVELS: [at(80, &timeout("3s"))] })] {
            let mut spec = json!({ "trafficPolicy": { LEVELS: [at(80, &keeps)] }, "subsets": [{ "name": "v2" }] });
            Settings { host: "a".to_owned(), subset: Some("v2".to_owned()), policy: level }.add_to(&mut spec);
            let mut wanted = at(80, &keeps);
            merge(&mut wanted, &timeout("3s"));
            assert_eq!(spec["subsets"][0]["trafficPolicy"][LEVELS], json!([wanted]));
        }
    }

    #[test]
    fn settings_of_a_subset_keep_those_of_the_host() {
        let mut spec = json!({ "trafficPolicy": { "connectionPool": { "http": { "maxRetries": 2 } } },
            "subsets": [{ "name": "v1" }, { "name": "v2" }] });
        Settings { host: "a".to_owned(), subset: Some("v2".to_owned()), policy: timeout("3s") }.add_to(&mut spec);
        let pool = json!({ "http": { "maxRetries": 2 }, "tcp": { "connectTimeout": "3s" } });
        assert_eq!(
            spec["subsets"],
            json!([{ "name": "v1" }, { "name": "v2", "trafficPolicy": { "connectionPool": pool } }])
        );
    }
}
