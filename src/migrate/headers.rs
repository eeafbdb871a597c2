//! Constant headers by a filter: Lua or header mutation that does what `headers` of a VirtualService does.

use super::catalog;
use super::step::{Home, Move, Part};
use super::value::Fields;
use super::verdict::{Concern, Kind, State};
use crate::model::envoy_filter::{ApplyTo, Operation};
use serde_json::Value as Json;

const MUTATION: &str = "envoy.extensions.filters.http.header_mutation.v3.HeaderMutation";
const JWT: &str = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";
const FIELD: &str = "http.headers";

/// Finds header mutations with constant values, and claims that a MERGE copies to headers.
pub(super) fn find(parts: &mut [Part<'_>]) {
    for part in parts.iter_mut().filter(|part| part.found.is_none() && part.apply_to() == ApplyTo::HttpFilter) {
        let found = match part.config_type() {
            MUTATION if part.inserts() => mutation(&part.value),
            JWT if part.operation() == Operation::Merge => claims(&part.value),
            _ => None,
        };
        if let Some(found) = found {
            part.answer(found);
        }
    }
}

/// A VirtualService has rules for hosts; the filter is for listeners.
fn of_rules(found: &mut Move) {
    let reason = "a VirtualService names hosts, and the filter is for whole listeners: write the headers into the rules of each host; answers that proxies make themselves do not get them";
    found.difference(Kind::Behavior, reason);
    found.guard(Concern::Existing, State::Broken, reason);
}

fn mutation(value: &Fields) -> Option<Move> {
    let mutations = value.peek("typed_config/mutations")?.as_object()?;
    let mut lists = mutations.iter().flat_map(|(_, list)| list.as_array().into_iter().flatten());
    let known = |one: &Json| {
        let text = one.pointer("/append/header/value").and_then(Json::as_str);
        one.get("remove").is_some_and(Json::is_string) || text.is_some_and(|text| !text.contains('%'))
    };
    if mutations.is_empty() || !lists.all(known) {
        return None;
    }
    let mut found = Move::new(&catalog::ROUTE_HEADERS).home("VirtualService", FIELD, 0);
    of_rules(&mut found);
    Some(found)
}

/// Claims that go to headers: a field of the RequestAuthentication whose provider a MERGE would replace.
fn claims(value: &Fields) -> Option<Move> {
    let providers = value.peek("typed_config/providers")?.as_object()?;
    let copies = |provider: &Json| provider.get("claim_to_headers").is_some();
    if !providers.values().any(copies) {
        return None;
    }
    let mut found = Move::new(&catalog::JWT).home("RequestAuthentication", "jwtRules.outputClaimToHeaders", 0);
    let reason =
        "MERGE replaces the whole provider that istiod generates; write the field into the RequestAuthentication";
    found.difference(Kind::Behavior, reason);
    found.guard(Concern::Existing, State::Broken, reason);
    Some(found)
}

/// Another API for what Lua code does: constant headers, or claims that it copies.
pub(super) fn of_lua(code: &str) -> Option<Home> {
    let home = |kind, field: &str| Some(Home { kind, field: field.to_owned(), since: None });
    let changes = |text: &str| [":add(", ":replace("].iter().any(|call| text.contains(call));
    if code.contains("envoy.filters.http.jwt_authn") && changes(code) {
        return home("RequestAuthentication", "jwtRules.outputClaimToHeaders");
    }
    is_constant(code).then(|| home("VirtualService", FIELD)).flatten()
}

/// Whether every statement of a script adds, replaces or removes a header with constant names and values.
fn is_constant(code: &str) -> bool {
    let mut changes = 0_usize;
    let mut held = Vec::new();
    for line in code.lines() {
        let line = line.split("--").next().unwrap_or_default().trim().trim_end_matches(';');
        if line.is_empty() || line == "end" {
            continue;
        }
        if line.starts_with("function envoy_on_re") && line.ends_with(')') {
            continue;
        }
        if let Some((name, handle)) = line.strip_prefix("local ").and_then(|rest| rest.split_once('='))
            && handle.trim().ends_with(":headers()")
        {
            held.push(name.trim().to_owned());
            continue;
        }
        let call = line.split_once(":headers():").or_else(|| {
            let (name, call) = line.split_once(':')?;
            held.iter().any(|one| one == name).then_some((name, call))
        });
        let Some((_, call)) = call else { return false };
        let Some((method, arguments)) = call.strip_suffix(')').and_then(|call| call.split_once('(')) else {
            return false;
        };
        if !matches!(method, "add" | "replace" | "remove") || !arguments.split(',').all(is_text) {
            return false;
        }
        changes += 1;
    }
    changes > 0
}

/// Whether an argument is a text in one pair of quotes.
fn is_text(argument: &str) -> bool {
    let argument = argument.trim();
    ['"', '\''].into_iter().any(|quote| {
        let inner = argument.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        inner.is_some_and(|inner| !inner.contains(quote))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_headers_are_told_from_computed_ones() {
        let script = |body: &str| format!("function envoy_on_response(h)\n  {body}\nend\n");
        assert!(is_constant(&script("h:headers():add('a', \"b\") -- why")));
        assert!(is_constant(&script("local all = h:headers()\n  all:remove('server');")));
        assert!(!is_constant(&script("h:headers():add('a', os.date())")));
        assert!(!is_constant(&script("h:headers():add('a', 'b' .. 'c')")));
        assert!(!is_constant(&script("if x then h:headers():add('a', 'b') end")));
        assert!(!is_constant("function envoy_on_request(h)\nend"));
    }
}
