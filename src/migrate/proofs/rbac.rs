//! Whether two RBAC policies have the same condition, regardless of its form.

use super::forms::{OLD_MATCHES, STRING_MATCH, lower};
use super::ports::Chain;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

/// A normalized condition: without nesting, order, and parts that always hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Condition {
    Never,
    Always,
    All(BTreeSet<Condition>),
    Any(BTreeSet<Condition>),
    Not(Box<Condition>),
    Is(String),
}

/// How ports in a condition are read.
#[derive(Clone, Copy)]
struct Ports<'a> {
    /// The filter chain that the condition is in.
    chain: &'a Chain,
    /// Whether a port that a rule names counts as that of the connection: native rules name the ports of the Services.
    any: bool,
}

impl Ports<'_> {
    /// The two readings of native rules: a chain for one port needs only the first.
    fn readings(chain: &Chain) -> impl Iterator<Item = Ports<'_>> {
        [false, true].into_iter().take(if chain.has_one() { 1 } else { 2 }).map(move |any| Ports { chain, any })
    }
}

/// Whether the conditions are equal in a filter chain. Where it is not for one port, ports that only the second one names are
/// ignored.
pub(in crate::migrate) fn same(before: &Map<String, Json>, after: &Map<String, Json>, chain: &Chain) -> bool {
    let rest = |policy: &Map<String, Json>| {
        let mut policy = policy.clone();
        policy.shift_remove("permissions");
        policy.shift_remove("principals");
        policy
    };
    let wanted = condition(before, Ports { chain, any: false });
    Ports::readings(chain).any(|ports| wanted == condition(after, ports)) && rest(before) == rest(after)
}

/// The same for several policies, one of which is enough.
pub(in crate::migrate) fn same_policies(before: &Map<String, Json>, after: &Map<String, Json>, chain: &Chain) -> bool {
    let read = |policies: &Map<String, Json>, ports: Ports<'_>| {
        let plain = policies.values().all(|policy| policy.as_object().is_some_and(|policy| policy.len() == 2));
        plain.then(|| any(policies.values().filter_map(Json::as_object).map(|policy| condition(policy, ports))))
    };
    let wanted = read(before, Ports { chain, any: false });
    wanted.is_some() && Ports::readings(chain).any(|ports| wanted == read(after, ports))
}

/// Whether an RBAC filter denies, and none of its policies ever matches in this chain: they name other ports.
pub(in crate::migrate) fn never(filter: &Json, chain: &Chain) -> bool {
    let holds = |policy: &Json| {
        policy.as_object().is_none_or(|policy| condition(policy, Ports { chain, any: false }) != Condition::Never)
    };
    denials(filter).is_some_and(|all| !all.values().any(holds))
}

/// The policies of an RBAC filter that denies and does nothing else.
fn denials(filter: &Json) -> Option<&Map<String, Json>> {
    let config = filter.get("typed_config")?.as_object()?;
    let of = config.get("@type")?.as_str()?;
    let only = !config.contains_key("shadow_rules") && !config.contains_key("matcher");
    let denies = config.get("rules")?.get("action").and_then(Json::as_str) == Some("DENY");
    (of.ends_with("envoy.extensions.filters.http.rbac.v3.RBAC") && only && denies)
        .then(|| config.get("rules")?.get("policies")?.as_object())?
}

/// The settings of an RBAC filter beside its rules, which are for statistics.
pub(in crate::migrate) fn statistics(filter: &Json) -> impl Iterator<Item = (&String, &Json)> {
    let config = filter.get("typed_config").and_then(Json::as_object);
    config.into_iter().flatten().filter(|(key, _)| !matches!(key.as_str(), "@type" | "rules"))
}

/// Two lists of HTTP filters whose RBAC filters divide the same work differently, with the same division: both lists, and the
/// filters of the first that others of it replace. `None` if they divide it equally.
pub(in crate::migrate) fn alike(
    old: &[Json],
    new: &[Json],
    chain: &Chain,
) -> Option<(Vec<Json>, Vec<Json>, Vec<Json>)> {
    if let Some((old, new)) = parted(old, new) {
        return Some((old, new, Vec::new()));
    }
    let (merged, gone) = merged(old, new, chain)?;
    Some((merged, new.to_vec(), gone))
}

/// Filters that decide and try out other rules at once, as two filters, if only one side has such a filter. Envoy decides by
/// the rules alone.
fn parted(old: &[Json], new: &[Json]) -> Option<(Vec<Json>, Vec<Json>)> {
    const RULES: [&str; 2] = ["rules", "rules_stat_prefix"];
    const SHADOW: [&str; 2] = ["shadow_rules", "shadow_rules_stat_prefix"];
    let config = |filter: &Json| {
        let config = filter.get("typed_config")?.as_object()?;
        config.get("@type")?.as_str()?.ends_with("envoy.extensions.filters.http.rbac.v3.RBAC").then(|| config.clone())
    };
    let has = |filter: &Json, key: &str| config(filter).is_some_and(|config| config.contains_key(key));
    let both = |filter: &&Json| has(filter, RULES[0]) && has(filter, SHADOW[0]);
    if old.iter().filter(both).count() == new.iter().filter(both).count() {
        return None;
    }
    let without = |filter: &Json, keys: [&str; 2], name: String| {
        let mut filter = filter.clone();
        filter["name"] = name.into();
        if let Some(config) = filter["typed_config"].as_object_mut() {
            config.retain(|key, _| !keys.contains(&key.as_str()));
        }
        filter
    };
    let part = |list: &[Json]| {
        let mut all = Vec::new();
        for filter in list {
            let name = filter["name"].as_str().unwrap_or_default().to_owned();
            if has(filter, SHADOW[0]) {
                all.push(without(filter, RULES, format!("{name} (dry run)")));
            }
            if has(filter, RULES[0]) {
                all.push(without(filter, SHADOW, name));
            } else if !has(filter, SHADOW[0]) {
                all.push(filter.clone());
            }
        }
        all
    };
    Some((part(old), part(new)))
}

/// HTTP filters of which several deny, as the other side has them: in one filter, which denies what any of them denied. Filters
/// that both sides have stay. The filters with that one in the place of the first, and those that it replaces.
fn merged(old: &[Json], new: &[Json], chain: &Chain) -> Option<(Vec<Json>, Vec<Json>)> {
    let (differing, one) = apart(old, new)?;
    let union = |list: &[&Json]| -> Map<String, Json> {
        let policies = list.iter().enumerate().filter_map(|(at, one)| Some((at, denials(one)?)));
        policies
            .flat_map(|(at, all)| all.iter().map(move |(name, policy)| (format!("{at}/{name}"), policy.clone())))
            .collect()
    };
    // Existing policies are the same on both sides, ports included; the others may be in another form.
    let (all, wanted) = (union(&differing.iter().map(|at| &old[*at]).collect::<Vec<_>>()), union(&[one]));
    let without = |map: &Map<String, Json>, other: &Map<String, Json>| -> Map<String, Json> {
        let kept = map.iter().filter(|(_, policy)| !other.values().any(|one| one == *policy));
        kept.map(|(name, policy)| (name.clone(), policy.clone())).collect()
    };
    if !same_policies(&without(&all, &wanted), &without(&wanted, &all), chain) {
        return None;
    }
    // The one that the other side has too, by its name and the policies that it shares.
    let shares = |filter: &Json| {
        let (own, wanted) = (denials(filter), denials(one));
        let shared = own
            .into_iter()
            .flatten()
            .filter(|(name, policy)| wanted.is_some_and(|all| all.get(*name) == Some(*policy)));
        (shared.count(), filter["name"] == one["name"])
    };
    let kept = *differing.iter().max_by_key(|at| shares(&old[**at]))?;
    let (mut merged, mut gone) = (Vec::new(), Vec::new());
    for (at, filter) in old.iter().enumerate() {
        if at == kept {
            let mut whole = filter.clone();
            whole["typed_config"]["rules"]["policies"] = one["typed_config"]["rules"]["policies"].clone();
            merged.push(whole);
        } else if differing.contains(&at) {
            gone.push(filter.clone());
        } else {
            merged.push(filter.clone());
        }
    }
    Some((merged, gone))
}

/// Where the first list has two or more filters that deny and the second one does not have, and the only such filter of the
/// second one. A filter that both have denies the same on both sides.
fn apart<'a>(old: &[Json], new: &'a [Json]) -> Option<(BTreeSet<usize>, &'a Json)> {
    let mut differing: BTreeSet<usize> = (0..old.len()).filter(|at| denials(&old[*at]).is_some()).collect();
    let mut others: Vec<&Json> = new.iter().filter(|one| denials(one).is_some()).collect();
    if others.is_empty() || differing.len() <= others.len() {
        return None;
    }
    let mut left = others.len();
    others.retain(|one| {
        let equal = differing.iter().copied().find(|at| left > 1 && old[*at] == **one);
        if let Some(at) = equal {
            differing.remove(&at);
            left -= 1;
        }
        equal.is_none()
    });
    let [one] = others.as_slice() else { return None };
    Some((differing, *one))
}

/// What must hold for a policy to match: one of its permissions and one of its principals.
fn condition(policy: &Map<String, Json>, ports: Ports<'_>) -> Condition {
    let list = |key: &str| policy.get(key).and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let of = |key: &str| any(list(key).iter().map(|one| read(one, ports)));
    all([of("permissions"), of("principals")].into_iter())
}

fn read(one: &Json, ports: Ports<'_>) -> Condition {
    let Some((key, value)) = one.as_object().filter(|map| map.len() == 1).and_then(|map| map.iter().next()) else {
        return Condition::Is(one.to_string());
    };
    let list = |inner: &str| value.get(inner).and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    match key.as_str() {
        "any" if *value == Json::Bool(true) => Condition::Always,
        "destination_port" if ports.any => Condition::Always,
        "destination_port" => match value.as_u64().and_then(|port| ports.chain.is_for(port)) {
            Some(true) => Condition::Always,
            Some(false) => Condition::Never,
            None => Condition::Is(one.to_string()),
        },
        "and_rules" => all(list("rules").iter().map(|one| read(one, ports))),
        "and_ids" => all(list("ids").iter().map(|one| read(one, ports))),
        "or_rules" => any(list("rules").iter().map(|one| read(one, ports))),
        "or_ids" => any(list("ids").iter().map(|one| read(one, ports))),
        "not_rule" | "not_id" => match read(value, ports) {
            Condition::Never => Condition::Always,
            Condition::Always => Condition::Never,
            Condition::Not(inner) => *inner,
            other => Condition::Not(Box::new(other)),
        },
        "header" => Condition::Is(json!({ "header": newest(value) }).to_string()),
        // Without a length, Envoy compares no bits.
        "source_ip" | "direct_remote_ip" | "remote_ip" | "destination_ip" if value.get("prefix_len").is_none() => {
            let mut range = value.clone();
            range["prefix_len"] = 0.into();
            Condition::Is(json!({ key: range }).to_string())
        }
        _ => Condition::Is(one.to_string()),
    }
}

/// A match on a header without deprecated fields, in one order of keys. Envoy compares names in lower case.
fn newest(header: &Json) -> Json {
    let mut header = header.clone();
    if let Some(name) = header.get("name").and_then(lower) {
        header["name"] = name.into();
    }
    for (old, new) in OLD_MATCHES {
        let Some(map) = header.as_object_mut().filter(|map| !map.contains_key(STRING_MATCH)) else { break };
        if let Some(value) = map.shift_remove(old) {
            map.insert(STRING_MATCH.to_owned(), json!({ new: value }));
        }
    }
    header.sort_all_objects();
    header
}

fn all(parts: impl Iterator<Item = Condition>) -> Condition {
    let mut set = BTreeSet::new();
    for part in parts {
        match part {
            Condition::Never => return Condition::Never,
            Condition::Always => {}
            Condition::All(inner) => set.extend(inner),
            other => drop(set.insert(other)),
        }
    }
    single(set, Condition::Always, Condition::All)
}

fn any(parts: impl Iterator<Item = Condition>) -> Condition {
    let mut set = BTreeSet::new();
    for part in parts {
        match part {
            Condition::Always => return Condition::Always,
            Condition::Never => {}
            Condition::Any(inner) => set.extend(inner),
            other => drop(set.insert(other)),
        }
    }
    // An alternative that requires more than another one adds nothing.
    let needs = |one: &Condition, other: &Condition| match (one, other) {
        (Condition::All(parts), Condition::All(fewer)) => one != other && parts.is_superset(fewer),
        (Condition::All(parts), other) => parts.contains(other),
        _ => false,
    };
    let spare: Vec<Condition> = set.iter().filter(|one| set.iter().any(|other| needs(one, other))).cloned().collect();
    set.retain(|one| !spare.contains(one));
    // None of no alternatives holds: a filter without policies rejects everything, or nothing.
    single(set, Condition::Never, Condition::Any)
}

fn single(mut set: BTreeSet<Condition>, none: Condition, many: fn(BTreeSet<Condition>) -> Condition) -> Condition {
    match set.len() {
        0 => none,
        1 => set.pop_first().unwrap_or(none),
        _ => many(set),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(before: &Map<String, Json>, after: &Map<String, Json>) -> bool {
        super::same(before, after, &Chain::default())
    }

    fn same_policies(before: &Map<String, Json>, after: &Map<String, Json>) -> bool {
        super::same_policies(before, after, &Chain::default())
    }

    fn policy(permission: Json) -> Map<String, Json> {
        let value = json!({ "permissions": [permission], "principals": [{ "any": true }] });
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn nesting_and_named_ports_do_not_matter() {
        let path = json!({ "url_path": { "path": { "prefix": "/a" } } });
        let long = json!({ "and_rules": { "rules": [
            { "or_rules": { "rules": [path] } }, { "or_rules": { "rules": [{ "destination_port": 8080 }] } },
        ] } });
        assert!(same(&policy(path.clone()), &policy(long.clone())));
        assert!(!same(&policy(long), &policy(path.clone())), "a port that goes matters");
        let other = json!({ "url_path": { "path": { "exact": "/a" } } });
        assert!(!same(&policy(path), &policy(other)));
    }

    #[test]
    fn deprecated_matches_on_headers_do_not_matter() {
        let header = |value: Json| policy(json!({ "header": value }));
        let named = |name: &str| header(json!({ "name": name, "present_match": true }));
        let both = json!({ "and_rules": { "rules": [{ "any": true }, { "url_path": { "path": { "exact": "/a" } } }, { "metadata": {} }] } });
        let either = json!({ "or_rules": { "rules": [both, { "url_path": { "path": { "exact": "/a" } } }] } });
        assert!(same(&policy(either), &policy(json!({ "url_path": { "path": { "exact": "/a" } } }))));
        assert!(same(&named("X-Key"), &named("x-key")) && !same(&named("x-key"), &named("x-keys")));
        assert!(same(
            &named("x"),
            &policy(json!({ "not_rule": { "not_rule": { "header": { "name": "x", "present_match": true } } } }))
        ));
        let old = header(json!({ "name": ":method", "exact_match": "DELETE", "invert_match": true }));
        let new = |of: Json| header(json!({ "name": ":method", "string_match": of, "invert_match": true }));
        assert!(same(&old, &new(json!({ "exact": "DELETE" }))));
        assert!(!same(&old, &new(json!({ "prefix": "DELETE" }))));
        assert!(!same(&old, &new(json!({ "exact": "DELETE", "ignore_case": true }))));
        assert!(!same(&old, &header(json!({ "name": ":method", "exact_match": "DELETE" }))));
    }

    #[test]
    fn rules_that_are_tried_out_may_be_in_the_filter_that_decides() {
        let rules = |path: &str| {
            let policy = policy(json!({ "url_path": { "path": { "prefix": path } } }));
            json!({ "action": "DENY", "policies": { "p": policy } })
        };
        let filter = |name: &str, config: Json| {
            let mut config = config;
            config["@type"] = "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC".into();
            json!({ "name": name, "typed_config": config })
        };
        let tried = filter("rbac", json!({ "shadow_rules": rules("/a") }));
        let decides = filter("own", json!({ "rules": rules("/b") }));
        let old = [tried, json!({ "name": "cors" }), decides];
        let new =
            [filter("rbac", json!({ "rules": rules("/b"), "shadow_rules": rules("/a") })), json!({ "name": "cors" })];
        let (one, other, gone) = alike(&old, &new, &Chain::default()).expect("only one side has both in one filter");
        assert_eq!((one.len(), other.len(), gone), (3, 3, Vec::new()));
        assert_eq!(one[0], other[0]);
        assert_eq!(one[2]["typed_config"], other[1]["typed_config"]);
        assert!(alike(&new, &new, &Chain::default()).is_none());
    }

    #[test]
    fn two_filters_that_deny_are_one_with_both_rules() {
        let path = |path: &str| Json::Object(policy(json!({ "url_path": { "path": { "prefix": path } } })));
        let filter = |name: &str, action: &str, policies: Json| {
            json!({ "name": name, "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC",
                "rules": { "action": action, "policies": policies } } })
        };
        let router = json!({ "name": "router" });
        let (a, b) = (path("/a"), path("/b"));
        let native = [filter("istio", "DENY", json!({ "a": a, "other": b })), router.clone()];
        let old =
            [filter("istio", "DENY", json!({ "a": a })), filter("own", "DENY", json!({ "p": b })), router.clone()];
        let (merged_list, gone) = merged(&old, &native, &Chain::default()).unwrap_or_default();
        assert_eq!((merged_list.as_slice(), gone.len()), (&native[..], 1));
        // Two that allow are not one that allows what either does; another condition is another one.
        let allow =
            [filter("istio", "ALLOW", json!({ "a": a })), filter("own", "ALLOW", json!({ "p": b })), router.clone()];
        assert_eq!(
            merged(
                &allow,
                &[filter("istio", "ALLOW", json!({ "a": a, "other": b })), router.clone()],
                &Chain::default()
            ),
            None
        );
        let other =
            [filter("istio", "DENY", json!({ "a": a })), filter("own", "DENY", json!({ "p": path("/c") })), router];
        assert_eq!(merged(&other, &native, &Chain::default()), None);
    }

    #[test]
    fn a_filter_that_denies_and_stays_changes_nothing() {
        let policy = |path: &str, principal: Json| {
            let path = json!({ "url_path": { "path": { "prefix": path } } });
            json!({ "permissions": [path], "principals": [principal] })
        };
        let everyone = json!({ "any": true });
        let filter = |name: &str, action: &str, key: &str, policies: Json| {
            json!({ "name": name, "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC",
                key: { "action": action, "policies": policies } } })
        };
        let (a, p) = (policy("/a", everyone.clone()), policy("/p", everyone.clone()));
        // As istiod writes it: nested.
        let native = json!({
            "permissions": [{ "and_rules": { "rules": [p["permissions"][0]] } }],
            "principals": [{ "and_ids": { "ids": [everyone] } }],
        });
        let lists = |action: &str, key: &str, own: &Json| {
            let own = filter("own", action, key, json!({ "p": own }));
            let istio = |policies: Json| filter("istio", action, key, policies);
            let old = vec![istio(json!({ "a": a })), own.clone(), own.clone()];
            (old, vec![istio(json!({ "a": a, "new": native })), own])
        };
        let merge = |(old, new): &(Vec<Json>, Vec<Json>)| merged(old, new, &Chain::default());
        let equal = lists("DENY", "rules", &p);
        let (list, gone) = merge(&equal).expect("one of two equal filters became a policy");
        assert_eq!((list, gone), (equal.1.clone(), vec![equal.0[1].clone()]));
        // With a third one, two stay.
        let mut three = equal.clone();
        three.0.push(equal.0[1].clone());
        three.1.push(equal.0[1].clone());
        assert_eq!(merge(&three).map(|(list, gone)| (list == three.1, gone.len())), Some((true, 1)));
        // A new filter in the place of the one that stays is not one that stays.
        let mut replaced = equal.clone();
        replaced.1[1] = filter("own", "DENY", "rules", json!({ "p": policy("/q", everyone.clone()) }));
        assert_eq!(merge(&replaced), None);
        assert_eq!(merge(&lists("ALLOW", "rules", &p)), None);
        assert_eq!(merge(&lists("DENY", "shadow_rules", &p)), None);
        let someone = json!({ "authenticated": { "principal_name": { "exact": "spiffe://a" } } });
        assert_eq!(merge(&lists("DENY", "rules", &policy("/p", someone))), None);
        assert_eq!(merge(&lists("DENY", "rules", &policy("/pp", everyone))), None);
    }

    #[test]
    fn settings_for_statistics_are_those_beside_the_rules() {
        let filter = json!({ "name": "own", "typed_config": { "@type": "x", "rules": {}, "track_per_rule_stats": true, "rules_stat_prefix": "a" } });
        let names: BTreeSet<&str> = statistics(&filter).map(|(key, _)| key.as_str()).collect();
        assert_eq!(names, ["rules_stat_prefix", "track_per_rule_stats"].into());
        assert_eq!(statistics(&json!({ "name": "own" })).count(), 0);
    }

    #[test]
    fn no_policy_is_not_a_policy_for_everybody() {
        let none = Map::new();
        let all = json!({ "ns[shop]-policy[a]-rule[0]": policy(json!({ "any": true })) });
        let all = all.as_object().cloned().unwrap_or_default();
        assert!(!same_policies(&none, &all) && !same_policies(&all, &none));
        assert!(same_policies(&none, &none));
    }
}
