//! What the code of extensions rejects: OAuth2, Wasm, processing, metadata, rate limits, QUIC.

use super::core::seconds;
use super::object::{Refusal, child, has, holder, is, is_true, refusal, span, text};
use crate::lint::value::{Object, PatchValue};
use std::net::IpAddr;
use std::time::Duration;

/// A STATIC cluster reads its addresses when it is created.
pub(super) fn static_with_name(value: &PatchValue<'_>, cluster: &Object<'_>) -> Option<Refusal> {
    let fixed = !has(cluster, "cluster_type") && (!has(cluster, "type") || is(cluster, "type", "STATIC"));
    let address = |object: &&Object<'_>| {
        let inside = object.route.strip_prefix(cluster.route.as_slice()).and_then(<[_]>::first);
        inside.is_some_and(|step| *step == "load_assignment".into() || *step == "loadAssignment".into())
            && object.full_name() == "envoy.config.core.v3.SocketAddress"
            && text(object, "resolver_name").is_none()
            && object.text("address").is_some_and(|address| address.parse::<IpAddr>().is_err())
    };
    let found = value.objects.iter().filter(|_| fixed).find(address)?;
    Some(refusal(
        found.member("address")?.entry.value.span,
        "a cluster of type `STATIC` takes addresses, not names",
        "set `type: STRICT_DNS` or `LOGICAL_DNS`, or write an IP address",
    ))
}

/// A TCP listener needs filter chains; a UDP listener has them for QUIC only.
pub(super) fn listener_chains(value: &PatchValue<'_>, listener: &Object<'_>) -> Option<Refusal> {
    let given = |name: &&str| {
        listener
            .member(name)
            .is_some_and(|member| !member.entry.value.items().is_empty() || !member.entry.value.entries().is_empty())
    };
    let chains = ["filter_chains", "default_filter_chain"].into_iter().find(given);
    let address = child(value, listener, "address").and_then(|address| child(value, address, "socket_address"))?;
    if has(listener, "api_listener") || has(listener, "internal_listener") {
        return None;
    }
    if !is(address, "protocol", "UDP") {
        let help = "add `filter_chains`, or for datagrams write `protocol: UDP` in the address";
        return chains.is_none().then(|| refusal(listener.span, "a listener needs `filter_chains`", help));
    }
    let quic = child(value, listener, "udp_listener_config").is_some_and(|config| has(config, "quic_options"));
    let chains = chains.filter(|_| !quic)?;
    Some(refusal(
        span(listener, chains),
        "a UDP listener has no filter chains",
        "write `listener_filters` with `envoy.filters.udp_listener.udp_proxy`, or for HTTP/3 `udp_listener_config: {quic_options: {}}`",
    ))
}

/// Whether a listener takes QUIC connections; `None` if its address does not say.
pub(super) fn is_quic(value: &PatchValue<'_>, listener: &Object<'_>) -> Option<bool> {
    let address = child(value, listener, "address").and_then(|address| child(value, address, "socket_address"))?;
    let config = child(value, listener, "udp_listener_config").is_some_and(|config| has(config, "quic_options"));
    Some(config && is(address, "protocol", "UDP"))
}

/// The filter chains of a listener.
pub(super) fn chains<'v, 'a>(value: &'v PatchValue<'a>, listener: &Object<'_>) -> impl Iterator<Item = &'v Object<'a>> {
    let place = value.objects.iter().position(|other| std::ptr::eq(other.node, listener.node));
    value.objects.iter().filter(move |object| {
        object.parent.is_some_and(|(at, field)| {
            Some(at) == place && ["filter_chains", "default_filter_chain"].contains(&field.name())
        })
    })
}

/// Every chain of a QUIC listener needs TLS of its own kind.
pub(super) fn quic_sockets(value: &PatchValue<'_>, listener: &Object<'_>) -> Option<Refusal> {
    const SOCKET: &str = "type.googleapis.com/envoy.extensions.transport_sockets.quic.v3.QuicDownstreamTransport";
    let help = || {
        format!(
            "transport_socket:\n  name: envoy.transport_sockets.quic\n  typed_config:\n    \"@type\": {SOCKET}\n    downstream_tls_context: …"
        )
    };
    if !is_quic(value, listener)? {
        return None;
    }
    chains(value, listener).find_map(|chain| {
        let Some(socket) = child(value, chain, "transport_socket") else {
            return Some(refusal(chain.span, "a filter chain for QUIC needs a `transport_socket`", help()));
        };
        let config = value.objects.iter().position(|other| std::ptr::eq(other.node, socket.node));
        let slot = value.slots.iter().find(|slot| Some(slot.owner) == config && slot.field.name() == "typed_config")?;
        let url = slot.inner.or(slot.url).filter(|url| url.text != SOCKET)?;
        let tls = url.text.rsplit('.').next().unwrap_or_default();
        (!slot.in_typed_struct)
            .then(|| refusal(slot.span, format!("`{tls}` cannot protect a filter chain for QUIC"), help()))
    })
}

/// HTTP/3 and QUIC need each other.
pub(super) fn quic_codec(value: &PatchValue<'_>, listener: &Object<'_>) -> Option<Refusal> {
    const MANAGER: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
    let quic = is_quic(value, listener)?;
    let managers = value.objects.iter().filter(|object| object.full_name() == MANAGER);
    let mut wrong = managers.filter(|manager| is(manager, "codec_type", "HTTP3") != quic);
    wrong.next().map(|manager| {
        if quic {
            let message = "the connection manager of a QUIC listener needs `codec_type: HTTP3`";
            refusal(span(manager, "codec_type"), message, "codec_type: HTTP3")
        } else {
            let message = "`codec_type: HTTP3` needs a QUIC listener";
            let help = "write `protocol: UDP` in the address and `udp_listener_config: {quic_options: {}}`, or another `codec_type`";
            refusal(span(manager, "codec_type"), message, help)
        }
    })
}

/// The timer of a local rate limit has a lower bound.
pub(super) fn fast_bucket(value: &PatchValue<'_>, bucket: &Object<'_>) -> Option<Refusal> {
    const LEAST: Duration = Duration::from_millis(50);
    const LIMITS: [&str; 3] = [
        "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit",
        "envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit",
        "envoy.extensions.filters.listener.local_ratelimit.v3.LocalRateLimit",
    ];
    LIMITS.iter().find(|limit| holder(value, bucket, limit).is_some())?;
    let interval = bucket.member("fill_interval")?;
    let every = seconds(bucket, "fill_interval").and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())?;
    // The API itself rejects zero.
    (!every.is_zero() && every < LEAST).then(|| {
        let help = "write at least `0.05s`, and more `tokens_per_fill`";
        refusal(interval.entry.value.span, "the `fill_interval` of a local rate limit must be at least 50 ms", help)
    })
}

/// An action of the composite filter must name what it executes.
pub(super) fn composite(_: &PatchValue<'_>, action: &Object<'_>) -> Option<Refusal> {
    let ways = ["typed_config", "dynamic_config", "filter_chain", "filter_chain_name"];
    if ways.iter().any(|way| has(action, way)) {
        return None;
    }
    let message = "`ExecuteFilterAction` names no filter";
    Some(refusal(action.span, message, "add `typed_config`, with the filter to execute"))
}

/// Exactly one service of one kind; before HTTP services existed, the API itself required the other.
pub(super) fn processor_service(_: &PatchValue<'_>, processor: &Object<'_>) -> Option<Refusal> {
    processor.envoy?.field("http_service")?;
    match (has(processor, "grpc_service"), has(processor, "http_service")) {
        (true, true) => Some(refusal(
            span(processor, "http_service"),
            "`grpc_service` and `http_service` exclude each other",
            "remove one of them",
        )),
        (false, false) => Some(refusal(
            processor.span,
            "`ExternalProcessor` needs a service",
            "add `grpc_service`, or `http_service`",
        )),
        _ => None,
    }
}

/// A body that is streamed in both directions needs the trailers to be sent.
pub(super) fn processing_mode(value: &PatchValue<'_>, mode: &Object<'_>) -> Option<Refusal> {
    holder(value, mode, "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor")
        .filter(|(_, field)| *field == "processing_mode")?;
    for (body, trailers) in
        [("request_body_mode", "request_trailer_mode"), ("response_body_mode", "response_trailer_mode")]
    {
        if is(mode, body, "FULL_DUPLEX_STREAMED") && !is(mode, trailers, "SEND") {
            let (place, order) = if mode.member(trailers).is_some() { (trailers, "write") } else { (body, "add") };
            return Some(refusal(
                span(mode, place),
                format!("`{body}: FULL_DUPLEX_STREAMED` needs `{trailers}: SEND`"),
                format!("{order} `{trailers}: SEND`"),
            ));
        }
    }
    None
}

pub(super) fn header_to_metadata(value: &PatchValue<'_>, rule: &Object<'_>) -> Option<Refusal> {
    match (text(rule, "header"), text(rule, "cookie")) {
        (Some(_), Some(_)) => {
            let help = "write one rule for each";
            return Some(refusal(span(rule, "cookie"), "`header` and `cookie` exclude each other", help));
        }
        (None, None) => {
            return Some(refusal(rule.span, "the rule needs a `header` or a `cookie`", "add `header`, or `cookie`"));
        }
        (None, Some(_)) if is_true(rule, "remove") => {
            let help = "remove `remove`: it is for headers";
            return Some(refusal(span(rule, "remove"), "a cookie cannot be removed", help));
        }
        _ => {}
    }
    if !has(rule, "on_header_present") && !has(rule, "on_header_missing") {
        let help = "add `on_header_present`, or `on_header_missing`";
        return Some(refusal(rule.span, "the rule does nothing, whether the header exists or not", help));
    }
    let both = |pair: &&Object<'_>| text(pair, "value").is_some() && has(pair, "regex_value_rewrite");
    if let Some(present) = child(value, rule, "on_header_present").filter(both) {
        let help = "remove one of them";
        return Some(refusal(span(present, "value"), "`value` and `regex_value_rewrite` exclude each other", help));
    }
    let missing = child(value, rule, "on_header_missing").filter(|missing| text(missing, "value").is_none())?;
    Some(refusal(
        missing.span,
        "`on_header_missing` needs a `value`: there is no header to take it from",
        "add `value`",
    ))
}

pub(super) fn json_to_metadata(value: &PatchValue<'_>, rule: &Object<'_>) -> Option<Refusal> {
    if !has(rule, "on_present") && !has(rule, "on_missing") {
        let help = "add `on_present`, or `on_missing`";
        return Some(refusal(rule.span, "the rule does nothing, whether the key exists or not", help));
    }
    ["on_missing", "on_error"].into_iter().find_map(|name| {
        let pair = child(value, rule, name).filter(|pair| pair.member("value").is_none())?;
        Some(refusal(pair.span, format!("`{name}` needs a `value`: there is no key to take it from"), "add `value`"))
    })
}

/// Since Envoy 1.38, a filter without `config` waits for that of a route.
pub(super) fn oauth2(_: &PatchValue<'_>, filter: &Object<'_>) -> Option<Refusal> {
    if has(filter, "config") {
        return None;
    }
    Some(refusal(
        filter.span,
        "`OAuth2` needs `config`",
        "add `config`; without it, since Envoy 1.38, routes bring their own",
    ))
}

pub(super) fn oauth2_config(_: &PatchValue<'_>, config: &Object<'_>) -> Option<Refusal> {
    if is_true(config, "preserve_authorization_header") && is_true(config, "forward_bearer_token") {
        return Some(refusal(
            span(config, "preserve_authorization_header"),
            "`preserve_authorization_header` and `forward_bearer_token` exclude each other",
            "remove one of them",
        ));
    }
    let endpoint = config.member("authorization_endpoint")?;
    let url = endpoint.entry.value.as_str().filter(|url| !url.is_empty())?;
    let host = url.split_once("://").map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    // The characters that its URL parser accepts in a host and around one.
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._~:@[]%!$&'()*+,;=".contains(c);
    if host.is_some_and(|host| !host.is_empty() && host.chars().all(fits)) {
        return None;
    }
    Some(refusal(
        endpoint.entry.value.span,
        format!("`{url}` is not a URL with a host"),
        "write the whole URL, `https://HOST/PATH`",
    ))
}

/// The code requires it since the API no longer does.
pub(super) fn oauth2_credentials(value: &PatchValue<'_>, credentials: &Object<'_>) -> Option<Refusal> {
    let (config, _) = holder(value, credentials, "envoy.extensions.filters.http.oauth2.v3.OAuth2Config")?;
    if has(credentials, "token_secret") || is(config, "auth_type", "TLS_CLIENT_AUTH") {
        return None;
    }
    Some(refusal(credentials.span, "`OAuth2Credentials` needs `token_secret`", "add `token_secret`"))
}

/// A secret without a source is looked up in the bootstrap, where istiod puts none.
pub(super) fn oauth2_secret(value: &PatchValue<'_>, secret: &Object<'_>) -> Option<Refusal> {
    let (_, field) = holder(value, secret, "envoy.extensions.filters.http.oauth2.v3.OAuth2Credentials")?;
    if has(secret, "sds_config") {
        return None;
    }
    Some(refusal(
        secret.span,
        format!("`{field}` needs `sds_config`: without it the secret must be in the bootstrap, and there is none"),
        "add `sds_config`",
    ))
}

/// A VM needs a runtime and code.
pub(super) fn wasm(value: &PatchValue<'_>, filter: &Object<'_>) -> Option<Refusal> {
    let Some(plugin) = child(value, filter, "config") else {
        return Some(refusal(filter.span, "`Wasm` needs `config`", "add `config`, with a `vm_config`"));
    };
    let Some(machine) = child(value, plugin, "vm_config") else {
        return Some(refusal(
            plugin.span,
            "the plugin needs a `vm_config`",
            "add `vm_config`, with `runtime` and `code`",
        ));
    };
    if text(machine, "runtime").is_none() {
        let help = "add `runtime`, such as `envoy.wasm.runtime.v8`";
        return Some(refusal(machine.span, "the virtual machine needs a `runtime`", help));
    }
    if !has(machine, "code") {
        return Some(refusal(machine.span, "the virtual machine needs `code`", "add `code`"));
    }
    None
}
