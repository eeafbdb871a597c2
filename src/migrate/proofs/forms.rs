//! Values that Envoy reads the same way although they are written in different forms.

use crate::migrate::base::filters::{CORS, EXT_AUTHZ, RBAC};
use serde_json::{Map, Value as Json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub(in crate::migrate) const INLINE: &str = "inline_code";
pub(in crate::migrate) const SOURCE: &str = "default_source_code";

/// The code of a Lua filter, in either of the two fields that Envoy treats the same way.
pub(in crate::migrate) fn code(map: &Map<String, Json>) -> Option<&str> {
    let of = map.get("@type").and_then(Json::as_str)?;
    if !of.ends_with("filters.http.lua.v3.Lua") {
        return None;
    }
    match (map.get(INLINE), map.get(SOURCE)) {
        (Some(text), None) => text.as_str(),
        (None, Some(source)) => source.get("inline_string").and_then(Json::as_str),
        _ => None,
    }
}

/// Most bytes of named requirements that are written into the rules of a filter: a large one may be named by thousands.
const MOST_WRITTEN: usize = 1 << 20;

/// Whether named requirements are too long to write one into each rule.
pub(in crate::migrate) fn is_too_long(named: &Json, rules: usize) -> bool {
    named.to_string().len().saturating_mul(rules) > MOST_WRITTEN
}

/// Writes the requirements that rules of JWT filters name into these rules.
pub(crate) fn write_requirements(value: &mut Json) {
    match value {
        Json::Object(map)
            if map
                .get("@type")
                .and_then(Json::as_str)
                .is_some_and(|of| of.ends_with("filters.http.jwt_authn.v3.JwtAuthentication")) =>
        {
            let Some(named) = map.get("requirement_map").cloned() else { return };
            let rules = map.get_mut("rules").and_then(Json::as_array_mut);
            let mut rules: Vec<_> = rules.into_iter().flatten().filter_map(Json::as_object_mut).collect();
            if is_too_long(&named, rules.len()) {
                return;
            }
            for rule in &mut rules {
                let name = rule.get("requirement_name").and_then(Json::as_str);
                if let Some(one) = name.and_then(|name| named.get(name)).cloned() {
                    rule.shift_remove("requirement_name");
                    rule.insert("requires".to_owned(), one);
                }
            }
            map.shift_remove("requirement_map");
        }
        Json::Object(map) => map.values_mut().for_each(write_requirements),
        Json::Array(items) => items.iter_mut().for_each(write_requirements),
        _ => {}
    }
}

/// Places of shares, which may be written in hundredths, ten thousandths or millionths.
pub(in crate::migrate) const SHARES: [&str; 2] = ["/percentage", "/runtime_fraction/default_value"];

/// A fractional percentage in millionths.
pub(in crate::migrate) fn share(map: &Map<String, Json>) -> Option<u64> {
    let number = map.get("numerator").map_or(Some(0), Json::as_u64)?;
    let per = match map.get("denominator").and_then(Json::as_str) {
        None | Some("HUNDRED") => 10_000,
        Some("TEN_THOUSAND") => 100,
        Some("MILLION") => 1,
        Some(_) => return None,
    };
    number.checked_mul(per)
}

pub(in crate::migrate) const STRING_MATCH: &str = "string_match";
pub(in crate::migrate) const VERSION: &str = "transport_api_version";

/// Deprecated fields of a header match, and those of `string_match` that replace them.
pub(in crate::migrate) const OLD_MATCHES: [(&str, &str); 5] = [
    ("exact_match", "exact"),
    ("prefix_match", "prefix"),
    ("suffix_match", "suffix"),
    ("contains_match", "contains"),
    ("safe_regex_match", "safe_regex"),
];

/// The deprecated field of a header match that is equivalent to `string_match` on the other side.
pub(in crate::migrate) fn same_match(old: &Map<String, Json>, new: &Map<String, Json>) -> Option<&'static str> {
    if old.contains_key(STRING_MATCH) {
        return None;
    }
    let wanted = new.get(STRING_MATCH)?.as_object().filter(|wanted| wanted.len() == 1)?;
    let same = |(field, key): &&(&str, &str)| {
        old.get(*field).is_some_and(|value| wanted.get(*key) == Some(value)) && !new.contains_key(*field)
    };
    OLD_MATCHES.iter().find(same).map(|(field, _)| *field)
}

/// External authorization with its list of header names in the other side's form.
pub(in crate::migrate) fn checked_headers(
    old: &Map<String, Json>,
    new: &Map<String, Json>,
) -> Option<Map<String, Json>> {
    const NAMES: &str = "allowed_headers";
    if old.contains_key(NAMES) || !new.contains_key(NAMES) {
        return None;
    }
    let mut moved = old.clone();
    let request = moved.get_mut("http_service")?.get_mut("authorization_request")?.as_object_mut()?;
    let list = request.shift_remove(NAMES)?;
    moved.insert(NAMES.to_owned(), list);
    Some(moved)
}

/// A route table with the CORS policies of the deprecated field `cors` where istiod writes them, and the places of those
/// that moved. Envoy reads the field of a route or virtual host only if it has no such settings (`CorsFilter`).
pub(in crate::migrate) fn typed_cors(table: &Json) -> (Cow<'_, Json>, Vec<(String, Json)>) {
    if !has_cors(table) {
        return (Cow::Borrowed(table), Vec::new());
    }
    let (mut table, mut moved) = (table.clone(), Vec::new());
    let mut settle = |level: &mut Json, field: &str, place: String| {
        let has = level.pointer("/typed_per_filter_config").and_then(|all| all.get(CORS)).is_some();
        let owner = if field == "cors" { Some(&mut *level) } else { level.get_mut("route") };
        let Some(Json::Object(mut policy)) = owner
            .and_then(Json::as_object_mut)
            .filter(|map| !has && map.contains_key("cors"))
            .and_then(|map| map.shift_remove("cors"))
        else {
            return;
        };
        policy
            .insert("@type".to_owned(), "type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy".into());
        moved.push((format!("{place}/{field}"), Json::Object(policy.clone())));
        level["typed_per_filter_config"][CORS] = Json::Object(policy);
    };
    for (at, host) in table["virtual_hosts"].as_array_mut().into_iter().flatten().enumerate() {
        settle(host, "cors", format!("/virtual_hosts/{at}"));
        for (number, route) in host["routes"].as_array_mut().into_iter().flatten().enumerate() {
            settle(route, "route/cors", format!("/virtual_hosts/{at}/routes/{number}"));
        }
    }
    (Cow::Owned(table), moved)
}

/// Whether a virtual host or a route of a table has the deprecated field `cors`.
fn has_cors(table: &Json) -> bool {
    table["virtual_hosts"].as_array().into_iter().flatten().any(|host| {
        let mut routes = host["routes"].as_array().into_iter().flatten();
        host.get("cors").is_some() || routes.any(|route| route.pointer("/route/cors").is_some())
    })
}

/// JSON with a space after commas and colons, as the rules' expressions expect.
pub(in crate::migrate) fn spaced(value: &Json) -> String {
    match value {
        Json::Object(map) => {
            let parts: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", Json::from(key.as_str()), spaced(value))).collect();
            format!("{{{}}}", parts.join(", "))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// The place of the interval at which Envoy resolves the host of a cluster.
pub(in crate::migrate) const DNS_REFRESH: &str = "/dns_refresh_rate";

/// Marks a setting that Envoy does not read on a cluster of this type.
pub(in crate::migrate) const UNREAD: &str = "no host to resolve";

/// Whether Envoy resolves the host of a cluster again and again.
pub(in crate::migrate) fn resolves(cluster: &Json) -> bool {
    matches!(cluster["type"].as_str(), None | Some("STRICT_DNS" | "LOGICAL_DNS"))
}

/// A text in lower case.
pub(in crate::migrate) fn lower(value: &Json) -> Option<String> {
    value.as_str().map(str::to_ascii_lowercase)
}

/// Whether two texts are the same JSON.
pub(in crate::migrate) fn same_json(one: &Json, other: &Json) -> bool {
    let read = |text: &Json| serde_json::from_str::<Json>(text.as_str()?).ok();
    read(one).is_some_and(|one| read(other) == Some(one))
}

/// Whether two comma-separated lists have the same items.
pub(in crate::migrate) fn same_words(one: &Json, other: &Json) -> bool {
    let words = |value: &Json| -> Option<BTreeSet<String>> {
        let words = value.as_str()?.split(',').map(str::trim);
        Some(words.filter(|word| !word.is_empty()).map(str::to_owned).collect())
    };
    words(one) == words(other)
}

/// Whether two lists have the same items, in whatever order and however often.
pub(in crate::migrate) fn same_items(one: &[Json], other: &[Json]) -> bool {
    let items = |list: &[Json]| list.iter().map(Json::to_string).collect::<BTreeSet<_>>();
    items(one) == items(other)
}

/// Whether two lists have the same mirrors in a different order, with a share of all requests as the default.
pub(in crate::migrate) fn reordered_mirrors(one: &[Json], other: &[Json]) -> bool {
    let mirror = |policy: &Json| {
        let mut policy = policy.clone();
        let fraction = policy.as_object_mut().and_then(|map| map.shift_remove("runtime_fraction"));
        let of_share = |fraction: &Json| share(fraction.get("default_value")?.as_object()?);
        let share = fraction.as_ref().map_or(Some(1_000_000), of_share);
        (policy.to_string(), share, fraction.and_then(|one| one.get("runtime_key").map(Json::to_string)))
    };
    let [one, other] = [one, other].map(|list| list.iter().map(mirror).collect::<Vec<_>>());
    let sorted = |list: &[_]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    one != other && sorted(&one) == sorted(&other)
}

/// Whether istiod ignores a header in `headers` of a VirtualService (`isInternalHeader` in its `route.go`).
pub(in crate::migrate) fn is_internal(name: &str) -> bool {
    name.starts_with(':') || name.eq_ignore_ascii_case("host")
}

/// Whether the value of a header is computed from headers.
pub(in crate::migrate) fn reads_headers(value: &str) -> bool {
    ["%REQ", "%RESP(", "%TRAILER(", "%REQUEST_HEADER"].iter().any(|operator| value.contains(operator))
}

/// The routes up to the first one that matches every request with a path. Those after it match none, unless they are for
/// CONNECT.
pub(in crate::migrate) fn reachable(routes: &[Json]) -> &[Json] {
    let catches_all = |route: &Json| {
        route["match"].as_object().is_some_and(|wanted| {
            wanted.get("prefix") == Some(&Json::from("/"))
                && wanted.iter().all(|(key, value)| key == "prefix" || key == "case_sensitive" && *value == true)
        })
    };
    let Some(at) = routes.iter().position(catches_all) else { return routes };
    let connects = |route: &Json| route["match"].get("connect_matcher").is_some();
    if routes[at + 1..].iter().any(connects) { routes } else { &routes[..=at] }
}

/// The name of an item of a list.
pub(super) fn name_of(value: &Json) -> Option<&str> {
    let text = |path: &str| value.pointer(path).and_then(Json::as_str);
    text("/name").or_else(|| text("/header/key")).or_else(|| text("/tag"))
}

/// Whether two items have the same name; names of headers are compared without regard to case.
pub(super) fn same_name(one: &Json, other: &Json) -> bool {
    match (name_of(one), name_of(other)) {
        (Some(name), Some(wanted)) if one.get("header").is_some() => name.eq_ignore_ascii_case(wanted),
        (name, wanted) => name == wanted,
    }
}

/// For each item, the number of items before it with its name.
pub(super) fn turns(list: &[Json]) -> Vec<usize> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let turn = |one: &Json| {
        let next = seen.entry(name_of(one).unwrap_or_default().to_ascii_lowercase()).or_default();
        *next += 1;
        *next - 1
    };
    list.iter().map(turn).collect()
}

/// The path of an item that only the first list has. A CORS filter is not needed beside istiod's own, but the last one of a chain
/// is, and one in front of those of policies answers preflights that these refuse.
pub(in crate::migrate) fn gone(path: &str, at: usize, before: &[Json], after: &[Json]) -> String {
    let of = before[at].pointer("/typed_config/@type").and_then(Json::as_str).unwrap_or_default();
    if !of.ends_with("filters.http.cors.v3.Cors") {
        return format!("{path}/{at}");
    }
    let decides = |one: &Json| name_of(one).is_some_and(|name| [RBAC, EXT_AUTHZ].contains(&name));
    if !after.iter().any(|one| one["name"] == CORS) {
        return format!("{path}/{at}/last");
    }
    let early = before.iter().skip(at).any(decides);
    format!("{path}/{at}{}", if early { "/early" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn named_requirements_are_those_of_their_rules() {
        let of = "type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";
        let token = json!({ "provider_name": "a" });
        let mut filter = json!({ "filters": [{ "@type": of, "requirement_map": { "r": token },
                "rules": [{ "requirement_name": "r" }, { "requirement_name": "s" }, { "match": {} }] }] });
        write_requirements(&mut filter);
        let rules = json!([{ "requires": token }, { "requirement_name": "s" }, { "match": {} }]);
        assert_eq!(filter, json!({ "filters": [{ "@type": of, "rules": rules }] }));
    }

    #[test]
    fn a_table_without_cors_is_not_copied() {
        let table = json!({ "virtual_hosts": [{ "routes": [{ "route": { "cluster": "a" } }] }] });
        assert!(matches!(typed_cors(&table), (Cow::Borrowed(_), moved) if moved.is_empty()));
        let table = json!({ "virtual_hosts": [{ "routes": [{ "route": { "cluster": "a", "cors": {} } }] }] });
        let (settled, moved) = typed_cors(&table);
        assert_eq!(moved[0].0, "/virtual_hosts/0/routes/0/route/cors");
        assert!(settled["virtual_hosts"][0]["routes"][0]["typed_per_filter_config"][CORS].is_object());
    }

    #[test]
    fn routes_end_with_the_first_that_matches_everything() {
        let (some, all) =
            (json!({ "match": { "prefix": "/a" } }), json!({ "match": { "prefix": "/", "case_sensitive": true } }));
        let limited = json!({ "match": { "prefix": "/", "headers": [{ "name": "x" }] } });
        assert_eq!(reachable(&[some.clone(), all.clone(), some.clone()]).len(), 2);
        assert_eq!(reachable(&[some.clone(), limited, some.clone()]).len(), 3);
        assert_eq!(reachable(&[all, json!({ "match": { "connect_matcher": {} } })]).len(), 2);
    }

    #[test]
    fn a_cors_filter_is_needed_if_it_is_the_last_one() {
        let config = json!({ "@type": "type.googleapis.com/envoy.extensions.filters.http.cors.v3.Cors" });
        let own = json!({ "name": "own", "typed_config": config });
        let (stock, router) = (json!({ "name": CORS }), json!({ "name": "envoy.filters.http.router" }));
        let rbac = json!({ "name": RBAC });
        let path = |before: &[Json], after: &[Json]| gone("/http_filters", 0, before, after);
        assert_eq!(path(std::slice::from_ref(&own), &[stock.clone(), router.clone()]), "/http_filters/0");
        assert_eq!(path(std::slice::from_ref(&own), std::slice::from_ref(&router)), "/http_filters/0/last");
        assert_eq!(path(&[own.clone(), rbac.clone()], &[rbac.clone(), stock.clone()]), "/http_filters/0/early");
        assert_eq!(path(&[router], &[]), "/http_filters/0");
    }
}
