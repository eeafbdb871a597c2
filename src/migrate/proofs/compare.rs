//! Compares two configurations of one proxy: every difference with its kind and its effect.
//!
//! Lists are compared by name. A filter with another name but equal content, or the only one of its type on both sides,
//! counts as renamed. References are replaced by the discovered content.

use super::forms::{
    DNS_REFRESH, INLINE, SHARES, SOURCE, STRING_MATCH, UNREAD, VERSION, checked_headers, code, gone, lower, name_of,
    reachable, reordered_mirrors, resolves, same_items, same_json, same_match, same_name, same_words, share, spaced,
    turns, typed_cors,
};
use super::found::Seen;
pub use super::found::{Found, Operation};
use super::mutations;
use super::rbac;
use crate::migrate::base::filters;
use crate::migrate::base::verdict::{Class, Difference, Kind};
use regex::Regex;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// Resources by kind (`listener`, `cluster`, `route`, `ecds`) and name.
pub type Resources = BTreeMap<String, BTreeMap<String, Json>>;

/// A rule that interprets differences.
#[derive(Debug)]
pub struct Effect {
    at: Regex,
    operations: Vec<String>,
    value: Option<Regex>,
    kind: Kind,
    effect: String,
}

impl Effect {
    /// Creates a rule; `None` if an expression is invalid.
    pub fn new(at: &str, operations: &str, value: &str, kind: &str, effect: &str) -> Option<Effect> {
        Some(Effect {
            at: Regex::new(at).ok()?,
            operations: operations.split('|').filter(|one| !one.is_empty()).map(str::to_owned).collect(),
            value: if value.is_empty() { None } else { Some(Regex::new(value).ok()?) },
            kind: match kind {
                "name" => Kind::Name,
                "position" => Kind::Position,
                "metadata" => Kind::Metadata,
                _ => Kind::Behavior,
            },
            effect: effect.to_owned(),
        })
    }
}

/// The rules of `effects.tsv`.
pub(crate) fn effects() -> &'static [Effect] {
    static EFFECTS: OnceLock<Vec<Effect>> = OnceLock::new();
    EFFECTS.get_or_init(|| {
        include_str!("effects.tsv")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| {
                let columns: Vec<&str> = line.split('\t').collect();
                let [kind, operations, at, value, effect] = columns.as_slice() else { return None };
                Effect::new(at, operations, value, kind, effect)
            })
            .collect()
    })
}

/// The meaning of a difference: by the given rules first, then by the shared ones. A difference without a rule counts
/// as behavior.
pub fn explain(proxy: &str, found: &Found, own: &[Effect]) -> Difference {
    ruled(proxy, found, own).unwrap_or_else(|| {
        let place = format!("{} {}{}", found.resource_kind, found.resource, found.path);
        Difference::new(Kind::Behavior, format!("{place} differs; the effect is unknown"))
    })
}

/// The meaning of a difference to a filter of which istiod reads some or all patches not as they were written: what only
/// the native objects configure is what those patches say.
pub(crate) fn explain_revived(proxy: &str, found: &Found) -> Difference {
    if found.operation != Operation::OnlyAfter || ruled(proxy, found, &[]).is_some() {
        return explain(proxy, found, &[]);
    }
    let place = format!("{} {}{}", found.resource_kind, found.resource, found.path);
    let why = "exists only with the native objects: istiod does not read this part of the filter, so it takes effect for the first time";
    Difference::new(Kind::Behavior, format!("{place} {why}"))
}

fn ruled(proxy: &str, found: &Found, own: &[Effect]) -> Option<Difference> {
    let place = format!(
        "{proxy} {} {} {} {} {}",
        found.resource_kind,
        found.resource,
        found.path,
        found.operation.as_str(),
        found.names.join(" › ")
    );
    let values = spaced(&json!([found.before, found.after]));
    let fits = |rule: &&Effect| {
        rule.at.is_match(&place)
            && (rule.operations.is_empty() || rule.operations.iter().any(|one| one == found.operation.as_str()))
            && rule.value.as_ref().is_none_or(|value| value.is_match(&values))
    };
    let rule = own.iter().chain(effects()).find(fits)?;
    Some(Difference::new(rule.kind, rule.effect.clone()))
}

/// The class of the differences alone.
pub fn class(differences: &[Difference]) -> Class {
    crate::migrate::base::verdict::class_of(differences, &[], false)
}

/// All differences between two configurations of a proxy; `renamed` maps clusters to their new names.
pub fn differences(before: &Resources, after: &Resources, renamed: &BTreeMap<String, String>) -> Vec<Found> {
    let mut found = Vec::new();
    for kind in ["listener", "cluster", "route"] {
        let old = expanded(before, kind);
        let mut new = expanded(after, kind);
        if kind == "cluster" {
            for (from, to) in renamed {
                if old.contains_key(from)
                    && !old.contains_key(to)
                    && !new.contains_key(from)
                    && let Some(value) = new.remove(to)
                {
                    new.insert(from.clone(), value);
                }
            }
        }
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for name in names {
            let mut list = Seen::of(old.get(name).filter(|_| kind == "listener"));
            match (old.get(name), new.get(name)) {
                (Some(one), Some(other)) if kind == "route" => tables(one, other, &mut list),
                (Some(one), Some(other)) => compare(one, other, "", &[], &mut list),
                (Some(one), None) => say(&mut list, Operation::OnlyBefore, one, &Json::Null, "", &[]),
                (None, Some(other)) => say(&mut list, Operation::OnlyAfter, &Json::Null, other, "", &[]),
                (None, None) => {}
            }
            let mut list = list.marked();
            if kind == "cluster" && !old.get(name).is_some_and(resolves) {
                list.iter_mut().filter(|one| one.path == DNS_REFRESH).for_each(|one| one.names.push(UNREAD.to_owned()));
            }
            for mut one in list {
                kind.clone_into(&mut one.resource_kind);
                one.resource.clone_from(name);
                found.push(one);
            }
        }
    }
    found
}

/// Route tables: also what each route does to headers, and which settings of filters it has.
fn tables(one: &Json, other: &Json, out: &mut Seen<'_>) {
    let ((one, mut moved), (other, same)) = (typed_cors(one), typed_cors(other));
    moved.retain(|policy| !same.contains(policy));
    for (path, policy) in moved {
        say(out, Operation::Change, &policy, &policy, &format!("{path}/form"), &[]);
    }
    compare(&one, &other, "", &[], out);
    for (path, one, other) in mutations::reordered(&one, &other) {
        say(out, Operation::Change, &one, &other, &path, &[]);
    }
    for (path, one, other) in mutations::inherited(&one, &other) {
        compare(&one, &other, &path, &[], out);
    }
}

/// The resources of a kind, with references replaced by discovered content.
fn expanded(resources: &Resources, kind: &str) -> BTreeMap<String, Json> {
    let mut own = resources.get(kind).cloned().unwrap_or_default();
    if let Some(discovered) = resources.get("ecds").filter(|_| kind == "listener") {
        own.values_mut().for_each(|value| expand(value, discovered));
    }
    own
}

fn expand(value: &mut Json, discovered: &BTreeMap<String, Json>) {
    let content = match value {
        Json::Object(map) if map.contains_key("config_discovery") => {
            map.get("name").and_then(Json::as_str).and_then(|name| discovered.get(name)).cloned()
        }
        _ => None,
    };
    if let Some(content) = content {
        let name = value["name"].clone();
        *value = json!({ "name": name, "typed_config": content["typed_config"], "by": "ECDS" });
        return;
    }
    match value {
        Json::Object(map) => map.iter_mut().for_each(|(_, one)| expand(one, discovered)),
        Json::Array(items) => items.iter_mut().for_each(|one| expand(one, discovered)),
        _ => {}
    }
}

fn say(out: &mut Seen<'_>, operation: Operation, before: &Json, after: &Json, path: &str, names: &[String]) {
    out.found.push(Found {
        resource_kind: String::new(),
        resource: String::new(),
        path: path.to_owned(),
        names: names.to_vec(),
        operation,
        before: before.clone(),
        after: after.clone(),
    });
}

fn pointer(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn compare(before: &Json, after: &Json, path: &str, names: &[String], out: &mut Seen<'_>) {
    if before == after {
        return;
    }
    match (before, after) {
        (Json::Object(old), Json::Object(new))
            if old.contains_key("permissions") && new.contains_key("permissions") =>
        {
            // The condition of a policy: equivalent in another form, or different.
            let key = if rbac::same(old, new, &out.chain(path)) { "permissions" } else { "condition" };
            say(out, Operation::Change, before, after, &pointer(path, key), names);
        }
        (Json::Object(old), Json::Object(new)) if old.get("@type") == new.get("@type") => {
            maps(old, new, path, names, out);
        }
        (Json::Array(old), Json::Array(new))
            if UNORDERED.iter().any(|end| path.ends_with(end)) && same_items(old, new)
                || path.ends_with("/request_mirror_policies") && reordered_mirrors(old, new) =>
        {
            say(out, Operation::Change, before, after, &pointer(path, "order"), names);
        }
        (Json::Array(old), Json::Array(new)) => lists(old, new, path, names, out),
        _ => say(out, Operation::Change, before, after, path, names),
    }
}

fn maps(old: &Map<String, Json>, new: &Map<String, Json>, path: &str, names: &[String], out: &mut Seen<'_>) {
    let only_old: Vec<&String> = old.keys().filter(|key| !new.contains_key(*key)).collect();
    let only_new: Vec<&String> = new.keys().filter(|key| !old.contains_key(*key)).collect();
    let by_name = ["/providers", "/policies", "/typed_per_filter_config"].iter().any(|end| path.ends_with(end));
    let pair = match (only_old.as_slice(), only_new.as_slice()) {
        ([one], [other]) if by_name => Some((*one, *other)),
        _ => None,
    };
    if let Some((one, other)) = pair {
        let below = pointer(path, one);
        say(out, Operation::Name, &one.clone().into(), &other.clone().into(), &below, names);
        compare(&old[one], &new[other], &below, names, out);
    }
    let other_names = pair.is_none() && !old.keys().eq(new.keys());
    if path.ends_with("/policies") && other_names && rbac::same_policies(old, new, &out.chain(path)) {
        say(out, Operation::Name, &Json::Object(old.clone()), &Json::Object(new.clone()), &pointer(path, "*"), names);
        return;
    }
    if let Some(moved) = checked_headers(old, new) {
        let below = "/http_service/authorization_request/allowed_headers";
        say(out, Operation::Change, &Json::Null, &Json::Null, &format!("{path}{below}"), names);
        return maps(&moved, new, path, names, out);
    }
    if SHARES.iter().any(|end| path.ends_with(end)) && share(old).is_some_and(|one| share(new) == Some(one)) {
        let (one, two) = (Json::Object(old.clone()), Json::Object(new.clone()));
        return say(out, Operation::Change, &one, &two, &pointer(path, "denominator"), names);
    }
    let mut settled = renamed(old, new, path, names, out);
    if let Some(field) = same_match(old, new) {
        say(out, Operation::Change, &old[field], &new[STRING_MATCH], &pointer(path, field), names);
        settled.extend([field, STRING_MATCH]);
    }
    let same_code =
        code(old).filter(|one| code(new) == Some(*one) && old.contains_key(INLINE) != new.contains_key(INLINE));
    if let Some(text) = same_code {
        say(out, Operation::Change, &text.into(), &text.into(), &pointer(path, SOURCE), names);
    }
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for key in keys {
        if same_code.is_some() && (key == INLINE || key == SOURCE) || settled.contains(&key.as_str()) {
            continue;
        }
        if pair.is_some_and(|(one, other)| key == one || key == other) {
            continue;
        }
        let below = pointer(path, key);
        match (old.get(key), new.get(key)) {
            (Some(one), None) => say(out, Operation::OnlyBefore, one, &Json::Null, &below, names),
            (None, Some(other)) => say(out, Operation::OnlyAfter, &Json::Null, other, &below, names),
            (Some(one), Some(other)) if key == "name" && one.is_string() && one != other => {
                say(out, Operation::Name, one, other, &below, names);
            }
            (Some(one), Some(other)) if key == "retry_on" && one != other && same_words(one, other) => {
                say(out, Operation::Change, one, other, &pointer(&below, "order"), names);
            }
            (Some(one), Some(other))
                if ORIGIN_LISTS.contains(&key.as_str()) && one != other && same_words(one, other) =>
            {
                say(out, Operation::Change, one, other, &pointer(&below, "order"), names);
            }
            (Some(one), Some(other))
                if path.ends_with("/configuration") && key == "value" && one != other && same_json(one, other) =>
            {
                say(out, Operation::Change, one, other, &pointer(&below, "spacing"), names);
            }
            (Some(one), Some(other)) if path.ends_with("/header") && key == "key" && lower(one) == lower(other) => {
                if one != other {
                    say(out, Operation::Change, one, other, &pointer(&below, "case"), names);
                }
            }
            (Some(one), Some(other)) => compare(one, other, &below, names, out),
            (None, None) => {}
        }
    }
}

/// Says which fields have another name with the same meaning in the newer API, and returns them.
fn renamed<'k>(
    old: &Map<String, Json>,
    new: &Map<String, Json>,
    path: &str,
    names: &[String],
    out: &mut Seen<'_>,
) -> Vec<&'k str> {
    let mut settled: Vec<&str> = Vec::new();
    if old.get("append") == Some(&Json::Bool(false))
        && !old.contains_key("append_action")
        && new.get("append_action").and_then(Json::as_str) == Some("OVERWRITE_IF_EXISTS_OR_ADD")
    {
        say(out, Operation::Change, &false.into(), &new["append_action"], &pointer(path, "append"), names);
        settled.extend(["append", "append_action"]);
    }
    if old.get("https_redirect") == Some(&Json::Bool(true))
        && !new.contains_key("https_redirect")
        && new.get("scheme_redirect").and_then(Json::as_str) == Some("https")
    {
        say(out, Operation::Change, &true.into(), &"https".into(), &pointer(path, "scheme_redirect"), names);
        settled.extend(["https_redirect", "scheme_redirect"]);
    }
    if old.get("fail_open") == Some(&Json::Bool(true))
        && !new.contains_key("fail_open")
        && new.get("failure_policy").and_then(Json::as_str) == Some("FAIL_OPEN")
    {
        say(out, Operation::Change, &true.into(), &"FAIL_OPEN".into(), &pointer(path, "fail_open"), names);
        settled.extend(["fail_open", "failure_policy"]);
    }
    let service = ["http_service", "grpc_service"].into_iter().find(|key| old.contains_key(*key));
    if let Some(service) = service
        && !old.contains_key(VERSION)
        && new.contains_key(VERSION)
    {
        say(out, Operation::OnlyAfter, &Json::Null, &new[VERSION], &format!("{path}/{service}/{VERSION}"), names);
        settled.push(VERSION);
    }
    settled
}

/// Lists of which Envoy reads only what is in them: headers are all removed before any is set, and a status code is retried or not.
const UNORDERED: [&str; 2] = ["_headers_to_remove", "/retriable_status_codes"];

/// Lists of a CORS policy, which are texts.
const ORIGIN_LISTS: [&str; 3] = ["allow_methods", "allow_headers", "expose_headers"];

/// Listener filters that istiod adds.
const LISTENER_FILTERS: &[&str] = &[
    "envoy.filters.listener.tls_inspector",
    "envoy.filters.listener.http_inspector",
    "envoy.filters.listener.original_dst",
];

/// Whether istiod adds a filter everywhere: it stays in place when others move.
fn is_stock(name: &str) -> bool {
    name == filters::EXCHANGE || filters::REST.contains(&name) || LISTENER_FILTERS.contains(&name)
}

fn lists(old: &[Json], new: &[Json], path: &str, names: &[String], out: &mut Seen<'_>) {
    let named = |value: &Json| {
        let mut names = names.to_vec();
        names.extend(name_of(value).map(str::to_owned));
        names
    };
    if path.ends_with("/http_filters")
        && let Some((merged, new, gone)) = rbac::alike(old, new, &out.chain(path))
    {
        for one in &gone {
            say(out, Operation::Position, one, &Json::Null, &format!("{path}/denied"), &named(one));
            for (key, value) in rbac::statistics(one) {
                say(out, Operation::OnlyBefore, value, &Json::Null, &format!("{path}/denied/{key}"), &named(one));
            }
        }
        return lists(&merged, &new, path, names, out);
    }
    let (old, new) = if path.ends_with("/routes") {
        let (first, second) = (reachable(old), reachable(new));
        let hidden = [old.len() - first.len(), new.len() - second.len()].map(Json::from);
        if hidden[0] != hidden[1] {
            say(out, Operation::Change, &hidden[0], &hidden[1], &format!("{path}/unreachable"), names);
        }
        (first, second)
    } else {
        (old, new)
    };
    let pairs = align(old, new);
    let mut both: Vec<(usize, usize)> = pairs.iter().filter_map(|(i, j)| Some(((*i)?, (*j)?))).collect();
    both.sort_unstable();
    let weights: Vec<usize> = both
        .iter()
        .map(|(i, j)| match name_of(&old[*i]) {
            Some(name) if is_stock(name) => 3,
            _ if old[*i] == new[*j] => 2,
            _ => 1,
        })
        .collect();
    let still = still(&both.iter().map(|(_, j)| *j).collect::<Vec<_>>(), &weights);
    let near = |list: &[Json], at: usize| {
        let label = |at: usize| list.get(at).map(|one| name_of(one).map_or_else(|| format!("#{at}"), str::to_owned));
        json!({ "after": at.checked_sub(1).and_then(label), "before": label(at + 1) })
    };
    for (number, (i, j)) in both.iter().enumerate() {
        if !still.contains(&number) {
            say(out, Operation::Position, &near(old, *i), &near(new, *j), &format!("{path}/{i}"), &named(&old[*i]));
        }
    }
    for (i, j) in pairs {
        match (i, j) {
            (Some(i), None) => {
                say(out, Operation::OnlyBefore, &old[i], &Json::Null, &gone(path, i, old, new), &named(&old[i]));
            }
            (None, Some(j)) => {
                say(out, Operation::OnlyAfter, &Json::Null, &new[j], &format!("{path}/{j}"), &named(&new[j]));
            }
            (Some(i), Some(j)) => compare(&old[i], &new[j], &format!("{path}/{i}"), &named(&old[i]), out),
            (None, None) => {}
        }
    }
}

type Pairs = Vec<(Option<usize>, Option<usize>)>;

/// Pairs of items; one side is missing if an item has no partner.
fn align(old: &[Json], new: &[Json]) -> Pairs {
    if old.iter().chain(new).any(|one| name_of(one).is_none()) {
        return unnamed(old, new);
    }
    let mut pairs = Pairs::new();
    let mut free: Vec<usize> = (0..new.len()).collect();
    let mut rest: Vec<usize> = (0..old.len()).collect();
    let (first, second) = (turns(old), turns(new));
    // Of several with one name, equal ones belong together, and of several equal ones those with the same turn.
    for equal in [true, false] {
        rest.retain(|&i| {
            let fits = |j: &usize| same_name(&new[*j], &old[i]) && (!equal || new[*j] == old[i]);
            let in_turn = |j: &usize| second[*j] == first[i] && fits(j);
            let Some(at) = free.iter().position(in_turn).or_else(|| free.iter().position(fits)) else { return true };
            pairs.push((Some(i), Some(free.remove(at))));
            false
        });
    }
    // The same item under another name: first by content, then by type.
    for test in [content as fn(&Json) -> Option<String>, kind_of] {
        for i in rest.clone() {
            let Some(wanted) = test(&old[i]) else { continue };
            let there: Vec<usize> = free.iter().copied().filter(|&j| test(&new[j]).as_ref() == Some(&wanted)).collect();
            let here = rest.iter().filter(|&&k| test(&old[k]).as_ref() == Some(&wanted)).count();
            // Several of one kind keep their order.
            if let Some(&j) = there.first().filter(|_| there.len() == here) {
                pairs.push((Some(i), Some(j)));
                rest.retain(|&other| other != i);
                free.retain(|&other| other != j);
            }
        }
    }
    pairs.extend(rest.into_iter().map(|i| (Some(i), None)));
    pairs.extend(free.into_iter().map(|j| (None, Some(j))));
    pairs
}

/// Items without names: equal ones at both ends first, then by position.
fn unnamed(old: &[Json], new: &[Json]) -> Pairs {
    let head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let most = old.len().min(new.len()) - head;
    let tail = (1..=most).take_while(|back| old[old.len() - back] == new[new.len() - back]).count();
    let mut pairs: Pairs = (0..head).map(|at| (Some(at), Some(at))).collect();
    let (left, right) = (old.len() - tail, new.len() - tail);
    for step in 0..(left - head).max(right - head) {
        let (i, j) = (head + step, head + step);
        pairs.push(((i < left).then_some(i), (j < right).then_some(j)));
    }
    pairs.extend((0..tail).map(|step| (Some(left + step), Some(right + step))));
    pairs
}

fn content(value: &Json) -> Option<String> {
    let mut copy = value.clone();
    copy.as_object_mut()?.shift_remove("name");
    if let Some(config) = copy.get_mut("typed_config").and_then(Json::as_object_mut)
        && let Some(text) = code(config).map(str::to_owned)
    {
        config.shift_remove(INLINE);
        config.insert(SOURCE.to_owned(), json!({ "inline_string": text }));
    }
    Some(copy.to_string())
}

fn kind_of(value: &Json) -> Option<String> {
    let config = value.get("typed_config").or_else(|| value.get("config_discovery"))?;
    config.get("@type").and_then(Json::as_str).map(str::to_owned).or_else(|| Some(config.get("type_urls")?.to_string()))
}

/// The indices of the heaviest increasing subsequence: the items that stay in place.
fn still(places: &[usize], weights: &[usize]) -> BTreeSet<usize> {
    let mut length = weights.to_vec();
    let mut previous: Vec<Option<usize>> = vec![None; places.len()];
    for i in 0..places.len() {
        for j in 0..i {
            if places[j] < places[i] && length[j] + weights[i] > length[i] {
                length[i] = length[j] + weights[i];
                previous[i] = Some(j);
            }
        }
    }
    let mut best = BTreeSet::new();
    let mut at = (0..places.len()).rev().max_by_key(|&i| length[i]);
    while let Some(i) = at {
        best.insert(i);
        at = previous[i];
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_on_a_header_may_be_written_in_two_ways() {
        let of = |value: Json| {
            Resources::from([("route".to_owned(), BTreeMap::from([("r".to_owned(), json!({ "headers": [value] }))]))])
        };
        let old = of(json!({ "name": ":method", "exact_match": "OPTIONS" }));
        let class = |new: Json| {
            let found = differences(&old, &of(new), &BTreeMap::new());
            class(&found.iter().map(|one| explain("p", one, &[])).collect::<Vec<_>>())
        };
        assert_eq!(class(json!({ "name": ":method", "string_match": { "exact": "OPTIONS" } })), Class::SameBut);
        for other in [
            json!({ "exact": "GET" }),
            json!({ "prefix": "OPTIONS" }),
            json!({ "exact": "OPTIONS", "ignore_case": true }),
        ] {
            assert_eq!(class(json!({ "name": ":method", "string_match": other })), Class::Differs);
        }
    }

    #[test]
    fn the_lost_outlier_detection_is_told_apart() {
        let effect = |cluster: &str| {
            let of = |value: Json| {
                let cluster = BTreeMap::from([(cluster.to_owned(), value)]);
                Resources::from([("cluster".to_owned(), cluster)])
            };
            let old = of(json!({ "name": cluster, "outlier_detection": { "consecutive_5xx": 3 } }));
            let found = differences(&old, &of(json!({ "name": cluster })), &BTreeMap::new());
            explain("p", &found[0], &[]).effect
        };
        assert!(effect("inbound|8080||").starts_with("inbound clusters"));
        let outbound = effect("outbound|80||cart.shop.svc.cluster.local");
        assert!(outbound.starts_with("the cluster no longer has outlier detection"), "{outbound}");
    }

    #[test]
    fn http2_settings_of_a_cluster_are_not_those_of_the_profile_edge() {
        let effect = |kind: &str, old: Json, new: Json| {
            let of = |value: Json| Resources::from([(kind.to_owned(), BTreeMap::from([("x".to_owned(), value)]))]);
            explain("p", &differences(&of(old), &of(new), &BTreeMap::new())[0], &[]).effect
        };
        let options =
            |streams: u32| json!({ "name": "x", "http2_protocol_options": { "max_concurrent_streams": streams } });
        assert!(effect("cluster", options(1), options(2)).starts_with("settings of HTTP/2 connections"));
        assert!(effect("listener", options(1), options(2)).starts_with("the profile EDGE"));
        let retries = |codes: &[u32]| json!({ "name": "x", "retry_policy": { "retriable_status_codes": codes } });
        assert_eq!(effect("route", retries(&[503]), retries(&[504])), "other status codes are retried");
    }

    #[test]
    fn every_rule_can_be_read() {
        let lines = include_str!("effects.tsv").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(effects().len(), lines);
    }

    #[test]
    fn a_filter_that_moves_under_another_name_is_one_filter() {
        let filter = |name: &str, of: &str| json!({ "name": name, "typed_config": { "@type": of } });
        let old = [filter("a", "x"), filter("mine", "lua"), filter("envoy.filters.http.router", "r")];
        let new = [filter("native", "lua"), filter("a", "x"), filter("envoy.filters.http.router", "r")];
        let mut seen = Seen::of(None);
        lists(&old, &new, "", &[], &mut seen);
        let operations: Vec<Operation> = seen.found.iter().map(|one| one.operation).collect();
        assert_eq!(operations, [Operation::Position, Operation::Name]);
    }
}
