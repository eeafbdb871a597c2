//! Retries merged into routes, as `retries` of a rule.

use super::{Refused, Setting, differ};
use crate::migrate::base::catalog;
use crate::migrate::base::step::Cx;
use crate::migrate::base::value::{Fields, left};
use crate::migrate::base::verdict::Kind;
use serde_json::{Map, Value as Json};

/// How often istiod retries where nothing says otherwise (`newRetryPolicy` in `retry.go`).
const ATTEMPTS: u64 = 2;

/// The condition under which Envoy reads `retriable_status_codes`.
const BY_CODE: &str = "retriable-status-codes";

/// The mesh's policy for routes without retries of their own.
fn policy_of_mesh<'a>(cx: &Cx<'a>) -> Option<&'a Json> {
    cx.mesh.mesh_config()?.get("defaultHttpRetryPolicy")
}

pub(super) fn read(cx: &Cx<'_>, value: &mut Fields, found: &mut Setting) -> Result<(), Refused> {
    let path = if value.peek("route/retry_policy").is_some() { "route/retry_policy" } else { "retry_policy" };
    let Some(mut policy) = value.sub(path) else { return Ok(()) };
    let mut native = Map::new();
    if let Some(number) = policy.number("num_retries") {
        native.insert("attempts".to_owned(), number.into());
        if number == 0 {
            differ(
                found,
                Kind::Behavior,
                "retries are off; MERGE of 0 changes nothing, so they are on with the filter",
            );
        }
    }
    if let Some(timeout) = policy.text("per_try_timeout") {
        native.insert("perTryTimeout".to_owned(), timeout.into());
    }
    // MERGE keeps the mesh's policy on a route, unless its rule has retries; on a virtual host there is none.
    let of_mesh = policy_of_mesh(cx).filter(|_| !found.at_host && !found.beside_retries);
    if let Some(on) = conditions(&mut policy, of_mesh, found)? {
        native.insert("retryOn".to_owned(), on.into());
    }
    if let Some(backoff) = policy.text("retry_back_off/base_interval") {
        native.insert("backoff".to_owned(), backoff.into());
    }
    if found.at_host {
        differ(
            found,
            Kind::Behavior,
            "istiod sets a retry policy on every route, which overrides the virtual host's: the filter does nothing, the rule takes effect",
        );
    }
    match of_mesh {
        _ if native.is_empty() || found.beside_retries => {}
        Some(of_mesh) => complete(of_mesh, &mut native, found),
        None if native.contains_key("attempts") || cx.mesh.mesh_config().is_none() => {}
        None => {
            native.insert("attempts".to_owned(), ATTEMPTS.into());
            found.left_to_mesh.push("attempts");
            found.fills.push("attempts");
        }
    }
    if !native.contains_key("attempts") && (native.is_empty() || !found.beside_retries) {
        return Err((&catalog::ROUTE_RETRIES, "native retries need a number of attempts (`num_retries`)".to_owned()));
    }
    if !policy.is_empty() {
        return Err((&catalog::ROUTE_RETRIES, left("`retries` of a VirtualService", [&policy])));
    }
    if native.contains_key("backoff") {
        found.since = found.since.max(26);
    }
    if found.pattern == &catalog::OTHER {
        found.pattern = &catalog::ROUTE_RETRIES;
        found.field = "http.retries";
    }
    found.needs_route = true;
    found.value["retries"] = Json::Object(native);
    Ok(())
}

/// `retryOn`: the conditions of a patch, with its status codes and those that MERGE keeps of the mesh's policy.
fn conditions(policy: &mut Fields, of_mesh: Option<&Json>, found: &mut Setting) -> Result<Option<String>, Refused> {
    let Some(mut on) = policy.text("retry_on") else { return Ok(None) };
    let refused = |reason: String| Err((&catalog::ROUTE_RETRIES, reason));
    if let Some(code) = words(&on).find(|one| one.parse::<u32>().is_ok()) {
        return refused(format!(
            "`{code}` in `retry_on` is no condition for Envoy, and istiod reads it as a status code"
        ));
    }
    let codes = policy.peek("retriable_status_codes").and_then(Json::as_array).cloned().unwrap_or_default();
    let by_code = words(&on).any(|one| one == BY_CODE);
    let of_mesh: Vec<u64> = of_mesh.filter(|one| !is_off(one)).map(codes_of).unwrap_or_default();
    // istiod puts these codes into the list of their own.
    if by_code {
        if let Some(code) = codes.iter().find(|code| !code.as_u64().is_some_and(is_known_status)) {
            return refused(format!(
                "istiod does not read {code} in `retryOn` as a status code: HTTP has no such status"
            ));
        }
        policy.skip("retriable_status_codes");
        let is_both = |code: &u64| codes.iter().any(|one| one.as_u64() == Some(*code));
        if of_mesh.iter().any(is_both) {
            differ(
                found,
                Kind::Metadata,
                "a status code that the mesh's `defaultHttpRetryPolicy` also has is listed once instead of twice",
            );
        }
        let kept = of_mesh.iter().filter(|code| !is_both(code)).map(u64::to_string).collect::<Vec<_>>();
        if !kept.is_empty() {
            found.left_to_mesh.push("retryOn");
        }
        for code in kept.into_iter().chain(codes.iter().map(Json::to_string)) {
            on.push_str(&format!(",{code}"));
        }
    } else if !of_mesh.is_empty() {
        differ(
            found,
            Kind::Behavior,
            "MERGE keeps the status codes of the mesh's `defaultHttpRetryPolicy`, which count for requests that ask for them (`x-envoy-retry-on: retriable-status-codes`); a rule with other conditions has no such codes",
        );
    }
    if on.split(',').any(|one| one.is_empty() || one.trim() != one) {
        differ(found, Kind::Metadata, "istiod writes the retry conditions without spaces and empty entries");
    }
    Ok(Some(on))
}

/// Writes out what MERGE keeps of the mesh's retry policy: a rule with retries of its own gets nothing from that policy.
fn complete(of_mesh: &Json, native: &mut Map<String, Json>, found: &mut Setting) {
    if is_off(of_mesh) {
        differ(
            found,
            Kind::Behavior,
            "the mesh's `defaultHttpRetryPolicy` turns retries off, so istiod's choice of hosts is missing with the filter; a rule with retries has it",
        );
        return;
    }
    for field in
        ["attempts", "perTryTimeout", "retryOn", "backoff", "retryIgnorePreviousHosts", "retryRemoteLocalities"]
    {
        let kept = &of_mesh[field];
        if !kept.is_null() && *kept != "" && !native.contains_key(field) {
            native.insert(field.to_owned(), kept.clone());
            found.left_to_mesh.push(field);
            found.fills.push(field);
        }
    }
    if let [first, rest @ ..] = found.left_to_mesh.as_slice() {
        let (all, verb, them) = match rest {
            [] => (format!("`{first}`"), "repeats", "it"),
            _ => (
                found.left_to_mesh.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", "),
                "repeat",
                "them",
            ),
        };
        found.notes.push(format!(
            "{all} of the rule {verb} the mesh's `defaultHttpRetryPolicy` unless another patch sets {them}; that policy does not apply to a rule with retries: when you change it, change the rule too"
        ));
    }
}

fn is_off(of_mesh: &Json) -> bool {
    of_mesh["attempts"].as_u64().unwrap_or(0) == 0
}

fn words(on: &str) -> impl Iterator<Item = &str> {
    on.split(',').map(str::trim)
}

/// The status codes among the conditions of a policy, as `parseRetryOn` reads them.
fn codes_of(of_mesh: &Json) -> Vec<u64> {
    let on = of_mesh["retryOn"].as_str().unwrap_or_default();
    words(on).filter_map(|one| one.parse().ok()).filter(|code| is_known_status(*code)).collect()
}

/// Whether the conditions of a rule's retries contain status codes.
pub(in crate::migrate) fn has_codes(retries: &Json) -> bool {
    !codes_of(retries).is_empty()
}

/// Whether retries are those of an HTTPRoute that lists status codes.
pub(in crate::migrate) fn lists_codes(retries: &Json) -> bool {
    retries["codes"].as_array().is_some_and(|codes| !codes.is_empty())
}

/// Whether Go's `http.StatusText` has a text for a status; istiod reads others as names of conditions (`parseRetryOn`).
fn is_known_status(code: u64) -> bool {
    matches!(code, 100..=103 | 200..=208 | 226 | 300..=305 | 307 | 308 | 400..=418 | 421..=426 | 428 | 429 | 431 | 451 | 500..=508 | 510 | 511)
}
