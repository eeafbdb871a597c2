//! Consistent hashing: a hash policy on routes and RING_HASH or MAGLEV on clusters, as `consistentHash` of a DestinationRule.
//!
//! The rule is named and not written: istiod puts its hash policy on every route to the host that the rule's clients have,
//! which the routes of a patch seldom are.

use super::catalog;
use super::step::{Move, Part};
use super::value::Fields;
use super::verdict::{Concern, Kind, State};
use crate::model::envoy_filter::{ApplyTo, Operation};
use serde_json::Value as Json;

const FIELD: &str = "trafficPolicy.loadBalancer.consistentHash";

/// Finds both halves.
pub(super) fn find(parts: &mut [Part<'_>]) {
    let merges = |part: &Part<'_>| part.found.is_none() && part.operation() == Operation::Merge;
    let routes: Vec<usize> = (0..parts.len())
        .filter(|&at| merges(&parts[at]) && parts[at].apply_to() == ApplyTo::HttpRoute)
        .filter(|&at| only(&parts[at].value, &["route"]) && only_below(&parts[at].value, "route", &["hash_policy"]))
        .collect();
    let clusters: Vec<usize> = (0..parts.len())
        .filter(|&at| merges(&parts[at]) && parts[at].apply_to() == ApplyTo::Cluster)
        .filter(|&at| parts[at].value.peek("lb_policy").and_then(Json::as_str).is_some_and(is_hash))
        .filter(|&at| only(&parts[at].value, &["lb_policy", "ring_hash_lb_config", "maglev_lb_config"]))
        .collect();
    let keys: Vec<Result<&'static str, &'static str>> = routes.iter().map(|&at| key(&parts[at].value)).collect();
    let table = clusters.first().map(|&at| table(&parts[at].value));
    for &at in routes.iter().chain(&clusters) {
        let found = one(&keys, table);
        parts[at].answer(found);
    }
}

fn is_hash(policy: &str) -> bool {
    matches!(policy, "RING_HASH" | "MAGLEV")
}

fn only(value: &Fields, known: &[&str]) -> bool {
    value.0.as_object().is_some_and(|map| !map.is_empty() && map.keys().all(|key| known.contains(&key.as_str())))
}

fn only_below(value: &Fields, key: &str, known: &[&str]) -> bool {
    value.peek(key).is_some_and(|below| only(&Fields(below.clone()), known))
}

/// The field for what is hashed; else why there is none.
fn key(value: &Fields) -> Result<&'static str, &'static str> {
    let list = value.peek("route/hash_policy").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let [one] = list else { return Err("a DestinationRule has one hash key; the patch has several") };
    let has = |path: &str| one.pointer(path).is_some();
    if has("/header/regex_rewrite") {
        Err("a header that is rewritten before it is hashed has no native field")
    } else if has("/header/header_name") {
        Ok("httpHeaderName")
    } else if has("/cookie/name") {
        Ok("httpCookie")
    } else if has("/connection_properties/source_ip") {
        Ok("useSourceIp")
    } else if has("/query_parameter/name") {
        Ok("httpQueryParameterName")
    } else {
        Err("this hash key has no native field")
    }
}

/// The field for the table of hosts.
fn table(value: &Fields) -> &'static str {
    if value.peek("lb_policy").and_then(Json::as_str) == Some("MAGLEV") { "maglev" } else { "ringHash" }
}

fn one(keys: &[Result<&'static str, &'static str>], table: Option<&'static str>) -> Move {
    let pattern = &catalog::CLUSTER_POLICY;
    let mut names: Vec<&str> = keys.iter().filter_map(|key| key.ok()).collect();
    names.dedup();
    if let Some(Err(reason)) = keys.iter().find(|key| key.is_err()) {
        return Move::none(pattern, *reason);
    }
    names.extend(table);
    let field = if names.is_empty() { FIELD.to_owned() } else { format!("{FIELD}: {}", names.join(", ")) };
    let mut found = Move::new(pattern).home("DestinationRule", field, 0);
    let reason = match (keys.is_empty(), table) {
        (false, Some(_)) => {
            "the rule sets both halves for its host, and its hash policy is on every route to that host which its clients have: write one rule for each host"
        }
        (false, None) => {
            "the hash policy has an effect only on clusters with RING_HASH or MAGLEV, which the rule sets as well; no patch of this EnvoyFilter does"
        }
        (true, _) => "the rule needs a key to hash, and the patches of this EnvoyFilter have none",
    };
    found.difference(Kind::Behavior, reason);
    found.guard(Concern::Existing, State::Broken, reason);
    found
}
