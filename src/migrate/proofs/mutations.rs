//! What each route of a table does to the headers of requests and responses.
//!
//! Envoy applies the changes of the destination, the route, its virtual host and the table in this order, and each of
//! them removes headers before it sets any.

use super::forms::reads_headers;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// The changes that requests through one destination of a route get: header in lower case, and change.
type Changes = Vec<(String, String)>;

/// A route that two tables have, with its virtual host on both sides.
struct Pair<'a> {
    pointer: String,
    old: [&'a Json; 2],
    new: [&'a Json; 2],
}

fn list(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The routes that both tables have: those that match the same requests, in the virtual host of the same name.
fn pairs<'a>(old: &'a Json, new: &'a Json) -> Vec<Pair<'a>> {
    let mut found = Vec::new();
    for (at, host) in list(&old["virtual_hosts"]).iter().enumerate() {
        let Some(other) = list(&new["virtual_hosts"]).iter().find(|one| one["name"] == host["name"]) else { continue };
        let mut free: Vec<&Json> = list(&other["routes"]).iter().collect();
        for (number, route) in list(&host["routes"]).iter().enumerate() {
            let Some(same) = free.iter().position(|one| is_same_match(&one["match"], &route["match"])) else {
                continue;
            };
            let pointer = format!("/virtual_hosts/{at}/routes/{number}");
            found.push(Pair { pointer, old: [host, route], new: [other, free.remove(same)] });
        }
    }
    found
}

/// The routes that change a header in another way: a JSON pointer, and both lists of changes.
pub(in crate::migrate) fn reordered(old: &Json, new: &Json) -> Vec<(String, Json, Json)> {
    let mut found = Vec::new();
    for pair in pairs(old, new) {
        for direction in ["request", "response"] {
            let one = of_route([old, pair.old[0], pair.old[1]], direction);
            let two = of_route([new, pair.new[0], pair.new[1]], direction);
            if !is_same(&one, &two) {
                found.push((format!("{}/{direction}_headers", pair.pointer), json!(one), json!(two)));
            }
        }
    }
    found
}

const PER_FILTER: &str = "typed_per_filter_config";

/// The settings of filters that are in effect on a route, each with its level: table, virtual host or route.
fn effective<'a>(levels: [&'a Json; 3]) -> BTreeMap<&'a str, (&'a Json, usize)> {
    let of = |(level, value): (usize, &'a Json)| {
        value[PER_FILTER].as_object().into_iter().flatten().map(move |(name, one)| (name.as_str(), (one, level)))
    };
    levels.into_iter().enumerate().flat_map(of).collect()
}

/// Settings of a filter on a route that come from its virtual host or table on one side only, or that only one side has: a
/// JSON pointer, and the settings in effect on both sides. A filter may have another name on the other side.
pub(in crate::migrate) fn inherited(old: &Json, new: &Json) -> Vec<(String, Json, Json)> {
    let mut found = Vec::new();
    for pair in pairs(old, new) {
        let before = effective([old, pair.old[0], pair.old[1]]);
        let mut after = effective([new, pair.new[0], pair.new[1]]);
        let mut add = |name: &str, one: Option<(&Json, usize)>, two: Option<(&Json, usize)>| {
            let level = |side: Option<(&Json, usize)>| side.map(|(_, level)| level);
            if level(one) != level(two) && one.map(|side| side.0) != two.map(|side| side.0) {
                let of = |side: Option<(&Json, usize)>| side.map(|side| side.0.clone()).unwrap_or_default();
                found.push((format!("{}/{PER_FILTER}/{name}", pair.pointer), of(one), of(two)));
            }
        };
        for (name, settings) in &before {
            let renamed =
                |other: &&str| !before.contains_key(*other) && after[*other].0["@type"] == settings.0["@type"];
            let other = if after.contains_key(name) { Some(*name) } else { after.keys().copied().find(renamed) };
            let other = other.and_then(|other| after.remove_entry(other));
            add(other.map_or(*name, |(other, _)| other), Some(*settings), other.map(|(_, settings)| settings));
        }
        for (name, settings) in after {
            add(name, None, Some(settings));
        }
    }
    found
}

fn is_same_match(one: &Json, other: &Json) -> bool {
    let plain = |value: &Json| {
        let mut value = value.clone();
        if let Some(map) = value.as_object_mut().filter(|map| map.get("case_sensitive") == Some(&Json::Bool(true))) {
            map.shift_remove("case_sensitive");
        }
        value
    };
    plain(one) == plain(other)
}

/// One list for each destination of a route.
fn of_route([table, host, route]: [&Json; 3], direction: &str) -> Vec<Changes> {
    let weighted = route.pointer("/route/weighted_clusters/clusters").and_then(Json::as_array);
    let destinations: Vec<&Json> = match weighted {
        Some(list) if !list.is_empty() => list.iter().collect(),
        _ => vec![&Json::Null],
    };
    let of = |destination| {
        let levels = [destination, route, host, table];
        levels.into_iter().flat_map(|level| of_level(level, direction)).collect()
    };
    destinations.into_iter().map(of).collect()
}

fn of_level(level: &Json, direction: &str) -> Changes {
    let removed = level[format!("{direction}_headers_to_remove")].as_array().into_iter().flatten();
    // Their order has no effect: they are all gone before anything is set.
    let removed: BTreeSet<String> = removed.filter_map(Json::as_str).map(str::to_ascii_lowercase).collect();
    let removed = removed.into_iter().map(|name| (name, "remove".to_owned()));
    let added = level[format!("{direction}_headers_to_add")].as_array().into_iter().flatten().map(|option| {
        let name = option.pointer("/header/key").and_then(Json::as_str).unwrap_or_default().to_ascii_lowercase();
        let value = option.pointer("/header/value").or_else(|| option.pointer("/header/raw_value"));
        let action = match (option["append_action"].as_str(), option["append"].as_bool()) {
            (Some(action), _) => action,
            (None, Some(false)) => "OVERWRITE_IF_EXISTS_OR_ADD",
            (None, _) => "APPEND_IF_EXISTS_OR_ADD",
        };
        (name, format!("{action} {}", value.unwrap_or(&Json::Null)))
    });
    removed.chain(added).collect()
}

/// Whether every header is changed in the same way. Changes of different headers may swap unless one of them reads headers.
fn is_same(one: &[Changes], other: &[Changes]) -> bool {
    let by_name = |changes: &Changes| {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, change) in changes {
            let list = all.entry(name.clone()).or_default();
            // Removing a header twice is removing it.
            if !(change == "remove" && list.last().is_some_and(|last| last == "remove")) {
                list.push(change.clone());
            }
        }
        all
    };
    let reads = |lists: &[Changes]| lists.iter().flatten().any(|(_, change)| reads_headers(change));
    if reads(one) || reads(other) {
        return one == other;
    }
    let distinct = |lists: &[Changes]| lists.iter().map(by_name).collect::<BTreeSet<_>>();
    if one.len() == other.len() {
        one.iter().zip(other).all(|(one, other)| by_name(one) == by_name(other))
    } else {
        // A route with one destination may be written with or without weights.
        distinct(one).len() == 1 && distinct(one) == distinct(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, value: &str) -> Json {
        json!({ "header": { "key": name, "value": value }, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD" })
    }

    fn table(host: Json, route: Json) -> Json {
        let mut host = host;
        let mut route = route;
        host["name"] = "a:80".into();
        route["match"] = json!({ "prefix": "/" });
        host["routes"] = json!([route]);
        json!({ "virtual_hosts": [host] })
    }

    #[test]
    fn a_header_may_move_to_the_route_unless_the_route_changes_it_too() {
        let add = |list: Json| json!({ "response_headers_to_add": list });
        let (one, own) = (set("x-a", "1"), set("x-d", "d"));
        let filter = table(add(json!([one])), add(json!([own])));
        assert_eq!(reordered(&filter, &table(json!({}), add(json!([own, one])))), []);
        assert_eq!(reordered(&filter, &table(json!({}), add(json!([one, own])))), []);
        let same = set("X-D", "1");
        let filter = table(add(json!([same])), add(json!([own])));
        assert_eq!(reordered(&filter, &table(json!({}), add(json!([own, same])))), []);
        assert_eq!(reordered(&filter, &table(json!({}), add(json!([same, own])))).len(), 1);
        let reads = set("x-a", "%RESP(x-d)%");
        let filter = table(add(json!([reads])), add(json!([own])));
        assert_eq!(reordered(&filter, &table(json!({}), add(json!([reads, own])))).len(), 1);
    }

    #[test]
    fn a_route_removes_headers_before_it_sets_them() {
        let own = json!({ "response_headers_to_add": [set("x-d", "d")] });
        let filter = table(json!({ "response_headers_to_remove": ["x-d"] }), own.clone());
        let mut both = own.clone();
        both["response_headers_to_remove"] = json!(["x-d"]);
        assert_eq!(reordered(&filter, &table(json!({}), both)).len(), 1);
        let filter = table(json!({ "response_headers_to_remove": ["x-e"] }), own.clone());
        let mut both = own;
        both["response_headers_to_remove"] = json!(["x-e"]);
        assert_eq!(reordered(&filter, &table(json!({}), both)), []);
        let reads = |removed: [&str; 2]| {
            let added = [set("x-d", "%RESP(x-e)%")];
            table(json!({}), json!({ "response_headers_to_remove": removed, "response_headers_to_add": added }))
        };
        assert_eq!(reordered(&reads(["x-d", "x-e"]), &reads(["x-e", "x-d"])), []);
        assert_eq!(reordered(&reads(["x-d", "x-e"]), &reads(["x-d", "x-f"])).len(), 1);
    }
}
