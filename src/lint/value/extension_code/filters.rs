//! What the code of HTTP and network filters rejects: credentials, keys, processing, conditions.

use super::core::{items, number};
use super::object::{Refusal, child, has, holder, is, is_set, is_true, refusal, span, text};
use crate::lint::value::walk::get;
use crate::lint::value::{Object, PatchValue};
use crate::source::{Node, Span};
use base64::Engine;
use std::collections::BTreeSet;

/// The least round trip is measured now and then, or given.
pub(super) fn round_trips(_: &PatchValue<'_>, params: &Object<'_>) -> Option<Refusal> {
    // Before it could be given, the API itself required the interval.
    params.envoy?.field("fixed_value")?;
    (!has(params, "interval") && !has(params, "fixed_value"))
        .then(|| refusal(params.span, "`min_rtt_calc_params` needs `interval` or `fixed_value`", "interval: 60s"))
}

/// Tags are written or come from a file, not both; before they could come from one, the API itself required them.
pub(super) fn tags(value: &PatchValue<'_>, filter: &Object<'_>) -> Option<Refusal> {
    filter.envoy?.field("ip_tags_datasource")?;
    let written = !items(filter, "ip_tags").is_empty();
    if !has(filter, "ip_tags_datasource") {
        let help = "ip_tags:\n- ip_tag_name: internal\n  ip_list: [{address_prefix: 10.0.0.0, prefix_len: 8}]";
        let message = "`IPTagging` needs `ip_tags` or `ip_tags_datasource`";
        return (!written).then(|| refusal(span(filter, "ip_tags"), message, help));
    }
    let source = span(filter, "ip_tags_datasource");
    if written {
        return Some(refusal(source, "`ip_tags` and `ip_tags_datasource` exclude each other", "remove one of them"));
    }
    let file = child(value, filter, "ip_tags_datasource")?;
    let inline = ["inline_string", "inline_bytes", "environment_variable"].iter().any(|name| has(file, name));
    inline.then(|| refusal(source, "`ip_tags_datasource` takes only a file", "write the tags as `ip_tags`"))
}

/// Keys come from somewhere.
pub(super) fn key_source(_: &PatchValue<'_>, source: &Object<'_>) -> Option<Refusal> {
    let given = ["header", "query", "cookie"].iter().any(|name| text(source, name).is_some());
    (!given).then(|| refusal(source.span, "a key source needs `header`, `query` or `cookie`", "header: X-API-Key"))
}

/// A key belongs to one client.
pub(super) fn keys(_: &PatchValue<'_>, filter: &Object<'_>) -> Option<Refusal> {
    let mut known = BTreeSet::new();
    let mut keys = items(filter, "credentials").iter().filter_map(|credential| get(credential, "key"));
    // The key itself is a secret: it is not printed.
    let again = keys.find(|key| key.as_str().is_some_and(|key| !known.insert(key)))?;
    Some(refusal(again.span, "two credentials have the same `key`", "give each client a key of its own"))
}

/// Users of basic authentication: `name:{SHA}` and the SHA-1 of the password in base64, a line each.
pub(super) fn users(value: &PatchValue<'_>, filter: &Object<'_>) -> Option<Refusal> {
    let source = child(value, filter, "users")?;
    let written = &source.member("inline_string")?.entry.value;
    let trouble = trouble_of_users(written.as_str()?)?;
    Some(refusal(
        written.span,
        format!("Envoy cannot read `users`: {trouble}"),
        "htpasswd -s: `NAME:{SHA}HASH`, a line for each user",
    ))
}

fn trouble_of_users(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    let mut known = BTreeSet::new();
    text.lines().map(|line| line.strip_suffix('\r').unwrap_or(line)).filter(|line| !line.is_empty()).find_map(|line| {
        let Some((name, hash)) = line.split_once(':') else { return Some("a line has no `:`") };
        let Some(digest) = hash.strip_prefix("{SHA}") else {
            return Some(if hash.is_empty() {
                "a user has no password"
            } else {
                "a password is not hashed with `{SHA}`"
            });
        };
        if name.is_empty() {
            return Some("a user has no name");
        }
        if digest.len() != SHA_LENGTH {
            return Some("a `{SHA}` hash does not have 28 characters");
        }
        (!known.insert(name)).then_some("a user is named twice")
    })
}

/// Length of a SHA-1 in base64.
const SHA_LENGTH: usize = 28;

/// Sessions end by OpenID Connect.
pub(super) fn end_of_session(_: &PatchValue<'_>, config: &Object<'_>) -> Option<Refusal> {
    let open = items(config, "auth_scopes").iter().any(|scope| scope.as_str() == Some("openid"));
    (is_set(config, "end_session_endpoint") && !open).then(|| {
        let message = "`end_session_endpoint` needs the scope `openid`";
        refusal(span(config, "end_session_endpoint"), message, "add `openid` to `auth_scopes`")
    })
}

/// A path belongs to a POST request.
pub(super) fn tunnel_path(_: &PatchValue<'_>, tunnel: &Object<'_>) -> Option<Refusal> {
    (is_set(tunnel, "post_path") && !is_true(tunnel, "use_post"))
        .then(|| refusal(span(tunnel, "post_path"), "`post_path` needs `use_post: true`", "use_post: true"))
}

/// What is sent before the connection stands is bounded.
pub(super) fn early_data(_: &PatchValue<'_>, proxy: &Object<'_>) -> Option<Refusal> {
    (is_set(proxy, "upstream_connect_mode") && !has(proxy, "max_early_data_bytes")).then(|| {
        let message = "`upstream_connect_mode` needs `max_early_data_bytes`";
        refusal(span(proxy, "upstream_connect_mode"), message, "max_early_data_bytes: 65536")
    })
}

/// A change of a query parameter is one of two.
pub(super) fn query_change(_: &PatchValue<'_>, change: &Object<'_>) -> Option<Refusal> {
    (!has(change, "append") && text(change, "remove").is_none())
        .then(|| refusal(change.span, "a query parameter mutation needs `append` or `remove`", "add `append`"))
}

/// Objects of filter state that Envoy can make from text: those of its own, those of istio's proxy, and any with a factory.
pub(super) fn state_key(_: &PatchValue<'_>, state: &Object<'_>) -> Option<Refusal> {
    if text(state, "factory_key").is_some() {
        return None;
    }
    let key = text(state, "object_key")?;
    let own = ["envoy.", "io.istio.", "istio."].iter().any(|prefix| key.starts_with(prefix));
    (!own).then(|| {
        let message = format!("Envoy has no object factory for the key `{key}`");
        refusal(span(state, "object_key"), message, "factory_key: envoy.string")
    })
}

/// A processor by HTTP only gets headers.
pub(super) fn http_processor(value: &PatchValue<'_>, processor: &Object<'_>) -> Option<Refusal> {
    if !has(processor, "http_service") {
        return None;
    }
    let mode = child(value, processor, "processing_mode")?;
    let body = ["request_body_mode", "response_body_mode"].into_iter().find(|name| is_set(mode, name));
    let sends = |name: &&str| is(mode, name, "SEND");
    let field = body.or_else(|| ["request_trailer_mode", "response_trailer_mode"].into_iter().find(sends))?;
    let message = format!("`http_service` receives only headers, and `{field}` sends more");
    Some(refusal(span(mode, field), message, "remove it, or use `grpc_service`"))
}

/// A variable comes from one place.
pub(super) fn environment(_: &PatchValue<'_>, variables: &Object<'_>) -> Option<Refusal> {
    let given = variables.member("key_values").map(|member| member.entry.value.entries()).unwrap_or_default();
    let again = items(variables, "host_env_keys")
        .iter()
        .find(|key| key.as_str().is_some_and(|key| given.iter().any(|entry| entry.key == key)))?;
    let message = format!("the variable `{}` is also in `key_values`", again.as_str().unwrap_or_default());
    Some(refusal(again.span, message, "remove one of them"))
}

/// Filters of the router run before its codec.
pub(super) fn router_codec(_: &PatchValue<'_>, router: &Object<'_>) -> Option<Refusal> {
    codec(router, "upstream_http_filters")
}

/// So do those of a cluster.
pub(super) fn upstream_codec(_: &PatchValue<'_>, options: &Object<'_>) -> Option<Refusal> {
    codec(options, "http_filters")
}

fn codec(object: &Object<'_>, list: &str) -> Option<Refusal> {
    const CODEC: &str = "type.googleapis.com/envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec";
    let last = items(object, list).last()?;
    let url = get(get(last, "typed_config")?, "@type")?.as_str()?;
    (url != CODEC && !url.ends_with(".TypedStruct")).then(|| {
        let help = format!("- name: envoy.filters.http.upstream_codec\n  typed_config: {{\"@type\": {CODEC}}}");
        refusal(last.span, format!("`{list}` must end with the codec filter"), help)
    })
}

/// Connections have no headers.
pub(super) fn no_requests(value: &PatchValue<'_>, condition: &Object<'_>) -> Option<Refusal> {
    let header = condition.member("header")?;
    let network = |object: &&Object<'_>| object.full_name() == "envoy.extensions.filters.network.rbac.v3.RBAC";
    value.objects.iter().filter(network).find(|filter| condition.route.starts_with(&filter.route))?;
    let help = "match ports, addresses and identities; rules about requests belong to the HTTP filter";
    Some(refusal(header.entry.key_span, "the network filter cannot match request headers", help))
}

/// A range of ports ends behind its start.
pub(super) fn port_range(value: &PatchValue<'_>, range: &Object<'_>) -> Option<Refusal> {
    holder(value, range, "envoy.config.rbac.v3.Permission")?;
    let (start, end) = (number(range, "start").unwrap_or(0), number(range, "end").unwrap_or(0));
    (start >= end).then(|| {
        let help = "`end` is not part of the range: `{start: 80, end: 81}` is 80 alone";
        refusal(range.span, format!("a range of ports starts at {start} and ends before {end}"), help)
    })
}

/// The text of a data source inside a document, with its place.
pub(super) fn inline(source: &Object<'_>) -> Option<(String, Span)> {
    let read = |name: &str| source.member(name).map(|member| &member.entry.value);
    if let Some(node) = read("inline_string") {
        return Some((node.as_str()?.to_owned(), node.span));
    }
    let node: &Node = read("inline_bytes")?;
    let bytes = base64::engine::general_purpose::STANDARD.decode(node.as_str()?.trim()).ok()?;
    Some((String::from_utf8_lossy(&bytes).into_owned(), node.span))
}

#[cfg(test)]
mod tests {
    use super::trouble_of_users;

    #[test]
    fn users_are_read_as_envoy_does() {
        let hash = "d95o2uzYI7q7tY7bHI4U1xBug7s=";
        assert_eq!(trouble_of_users(&format!("a:{{SHA}}{hash}\r\n\nb:{{SHA}}{hash}")), None);
        for (text, trouble) in [
            (String::new(), "empty"),
            ("a".to_owned(), "no `:`"),
            ("a:".to_owned(), "no password"),
            ("a:$apr1$x$y".to_owned(), "not hashed"),
            (format!(":{{SHA}}{hash}"), "no name"),
            ("a:{SHA}abc".to_owned(), "28 characters"),
            (format!("a:{{SHA}}{hash}\na:{{SHA}}{hash}"), "twice"),
        ] {
            assert!(trouble_of_users(&text).unwrap().contains(trouble), "{text}");
        }
    }
}
