//! Inserted routes to a service, with a direct response or a redirect, as rules of a VirtualService.

use super::route_value::{Setting, headers};
use crate::engine::matching;
use crate::migrate::base::catalog;
use crate::migrate::base::step::{Move, Part};
use crate::migrate::base::value::{Fields, left, refused as too_short};
use crate::migrate::base::verdict::Kind;
use crate::source::ErrorMessage;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

/// Timeout of a route that names none, in Envoy.
const DEFAULT_TIMEOUT: &str = "15s";

/// What a rule has in place of a route's action; `None` if the route leads to no service.
pub(in crate::migrate) fn routed(route: &mut Fields) -> Result<Option<Map<String, Json>>, ErrorMessage> {
    let Some(mut action) = route.sub("route") else { return Ok(None) };
    let cluster = action.text("cluster").ok_or("only a route to one cluster has a native equivalent here")?;
    let key = matching::parse_subset_key(&cluster);
    if !cluster.contains('|') || key.direction != "outbound" || key.port == 0 || key.host.is_empty() {
        return Err(format!("the route leads to cluster {cluster}, which is not that of a service").into());
    }
    let mut destination = json!({ "host": key.host, "port": { "number": key.port } });
    if !key.subset.is_empty() {
        destination["subset"] = key.subset.into();
    }
    let mut rule = Map::new();
    rule.insert("route".to_owned(), json!([{ "destination": destination }]));
    // Rules have no timeout and two retries unless they say otherwise; Envoy's routes have a timeout and no retries.
    let timeout = action.text("timeout").unwrap_or_else(|| DEFAULT_TIMEOUT.to_owned());
    if timeout != "0s" {
        rule.insert("timeout".to_owned(), timeout.into());
    }
    rule.insert("retries".to_owned(), json!({ "attempts": 0 }));
    let mut rewrite = Map::new();
    for (from, to) in [("prefix_rewrite", "uri"), ("host_rewrite_literal", "authority")] {
        if let Some(text) = action.text(from) {
            rewrite.insert(to.to_owned(), text.into());
        }
    }
    if !rewrite.is_empty() {
        rule.insert("rewrite".to_owned(), Json::Object(rewrite));
    }
    if !action.is_empty() {
        return Err(left("`route` of a VirtualService", [&action]).into());
    }
    Ok(Some(rule))
}

/// How istiod's route differs from the inserted one.
pub(in crate::migrate) fn differences(found: &mut Move) {
    found.difference(
        Kind::Behavior,
        "the timeout that a gRPC request names (`grpc-timeout`) counts, up to that of the route; the filter's route ignores it",
    );
    found.difference(Kind::Metadata, "a timeout that the filter leaves to Envoy's default is written out");
}

fn refused_here(what: &str) -> String {
    format!("{what} has no native equivalent")
}

/// A direct response or a redirect, as the field of a rule and its value.
fn answer(route: &mut Fields) -> Result<(String, Json), ErrorMessage> {
    let refused = refused_here;
    if let Some(redirect) = route.sub("redirect") {
        return Ok(("redirect".to_owned(), redirected(redirect)?));
    }
    let Some(mut response) = route.sub("direct_response") else {
        return Err("only a route to a service, a direct response or a redirect has a native equivalent here".into());
    };
    let status = response.number("status").ok_or_else(|| refused("a response without a status"))?;
    let mut native = json!({ "status": status });
    if let Some(text) = response.text("body/inline_string") {
        native["body"] = json!({ "string": text });
    } else if let Some(bytes) = response.text("body/inline_bytes") {
        native["body"] = json!({ "bytes": bytes });
    }
    if !response.is_empty() {
        return Err(refused("this body").into());
    }
    Ok(("directResponse".to_owned(), native))
}

/// A redirect as that of a VirtualService.
fn redirected(mut redirect: Fields) -> Result<Json, ErrorMessage> {
    let mut native = Map::new();
    if let Some(host) = redirect.text("host_redirect") {
        native.insert("authority".to_owned(), host.into());
    }
    if let Some(path) = redirect.text("path_redirect") {
        native.insert("uri".to_owned(), path.into());
    }
    let scheme = redirect.text("scheme_redirect");
    let https = redirect.flag("https_redirect") == Some(true);
    if let Some(scheme) = scheme.or_else(|| https.then(|| "https".to_owned())) {
        native.insert("scheme".to_owned(), scheme.into());
    }
    if let Some(port) = redirect.number("port_redirect") {
        native.insert("port".to_owned(), port.into());
    }
    let code = match redirect.text("response_code").as_deref() {
        None | Some("MOVED_PERMANENTLY") => 301,
        Some("FOUND") => 302,
        Some("SEE_OTHER") => 303,
        Some("TEMPORARY_REDIRECT") => 307,
        Some("PERMANENT_REDIRECT") => 308,
        Some(_) => return Err(refused_here("this status").into()),
    };
    native.insert("redirectCode".to_owned(), code.into());
    if !redirect.is_empty() {
        return Err(left("`redirect` of a VirtualService", [&redirect]).into());
    }
    Ok(Json::Object(native))
}

/// A condition on a header: the field of a rule's match, the name, and the condition there.
fn header_match(header: &mut Fields) -> Result<(&'static str, String, Json), ErrorMessage> {
    let name = header.text("name").ok_or_else(|| refused_here("a header match without a name"))?;
    let inverted = header.flag("invert_match") == Some(true);
    if header.flag("present_match") == Some(true) && header.is_empty() {
        return Ok((if inverted { "withoutHeaders" } else { "headers" }, name, json!({})));
    }
    if inverted {
        let reason = "a VirtualService compares a header that must not have a value as an empty text where it is missing: the rule would also match requests without header";
        return Err(format!("{reason} {name}, which the filter's route does not").into());
    }
    for (old, new) in [("exact_match", "exact"), ("prefix_match", "prefix"), ("safe_regex_match/regex", "regex")] {
        let path =
            if new == "regex" { "string_match/safe_regex/regex".to_owned() } else { format!("string_match/{new}") };
        let Some(text) = header.text(&path).or_else(|| header.text(old)) else { continue };
        if new == "regex" {
            // `google_re2` is the only engine.
            header.skip("string_match/safe_regex");
            header.skip("safe_regex_match");
        }
        // istiod reads a star as any value.
        if header.is_empty() && !text.is_empty() && text != "*" {
            return Ok(("headers", name, json!({ new: text })));
        }
        break;
    }
    Err(refused_here(&format!("this condition on header {name}")).into())
}

/// A route with a direct response or a redirect, as a rule.
pub(in crate::migrate) fn inserted_rule(part: &Part<'_>) -> Result<Json, ErrorMessage> {
    let mut route = part.value.clone();
    let refused = refused_here;
    let action = match routed(&mut route)? {
        Some(action) => action,
        None => Map::from_iter([answer(&mut route)?]),
    };
    let mut rule = Map::new();
    if let Some(name) = route.text("name") {
        rule.insert("name".to_owned(), name.into());
    }
    let mut matched = route.sub("match").unwrap_or(Fields(json!({})));
    let mut one = Map::new();
    let uri = if let Some(path) = matched.text("path") {
        json!({ "exact": path })
    } else if let Some(prefix) = matched.text("prefix") {
        json!({ "prefix": prefix })
    } else if let Some(regex) = matched.text("safe_regex/regex") {
        json!({ "regex": regex })
    } else {
        return Err(refused("this match").into());
    };
    one.insert("uri".to_owned(), uri);
    let mut names = BTreeSet::new();
    for mut header in matched.list("headers") {
        let (field, name, native) = header_match(&mut header)?;
        if !names.insert((field, name.to_ascii_lowercase())) {
            return Err(refused(&format!("a second condition on header {name}")).into());
        }
        if name == ":method" && field == "headers" {
            one.insert("method".to_owned(), native);
        } else {
            one.entry(field).or_insert_with(|| json!({}))[name] = native;
        }
    }
    if !matched.is_empty() {
        return Err(refused("this match").into());
    }
    rule.insert("match".to_owned(), json!([one]));
    rule.extend(action);
    let mut found = Setting {
        pattern: &catalog::DIRECT_RESPONSE,
        field: "http.directResponse",
        since: 0,
        value: json!({}),
        differences: Vec::new(),
        needs_route: false,
        at_host: false,
        moved: "",
        rest: None,
        left_to_mesh: Vec::new(),
        fills: Vec::new(),
        notes: Vec::new(),
        second_cors: false,
        beside_retries: false,
    };
    headers(&mut route, &mut found).map_err(|(_, reason)| reason)?;
    if let Some(headers) = found.value.get("headers") {
        rule.insert("headers".to_owned(), headers.clone());
    }
    if !route.is_empty() {
        return Err(left("a rule of a VirtualService", [&route]).into());
    }
    let rule = Json::Object(rule);
    match too_short(&rule) {
        Some(reason) => Err(reason.into()),
        None => Ok(rule),
    }
}
