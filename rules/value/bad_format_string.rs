//! EF129: a format string that Envoy does not understand.

use crate::declare_rule;
use crate::lint::value::Object;
use crate::lint::value::expression::unfinished;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::alike;
use crate::source::{Node, NodeValue, Severity};

declare_rule! {
    /// A format string with a stray `%` or an unknown command operator.
    ///
    /// # What it finds
    /// In formats of access logs and local replies and in values of added headers: a `%` that does not begin a command
    /// operator (`%%` is a percent sign), an operator that the proxy's Envoy does not have, and one without the arguments that it
    /// needs or with arguments that it does not take.
    ///
    /// # Why it matters
    /// istiod does not check it; the proxy rejects the listener or route that contains it.
    ///
    /// # How to fix
    /// Write `%%` for a percent sign, and operators from Envoy's list: `%REQ(:PATH)%`.
    ///
    /// # References
    /// Envoy, "Access logging", command operators; "HTTP header manipulation", custom headers. The operators and
    /// their arguments were tried with Envoy 1.36 to 1.40.
    "EF129" "bad-format-string" Value Error => check,
    by_release: true
}

/// Command operators of Envoy 1.26 to 1.40.
const OPERATORS: &str = "ACCESS_LOG_TYPE BYTES_RECEIVED BYTES_RETRANSMITTED BYTES_SENT CEL CLUSTER_METADATA COALESCE COMMON_DURATION \
CONNECTION_ID CONNECTION_TERMINATION_DETAILS CUSTOM_FLAGS DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_SENT \
DOWNSTREAM_DETECTED_CLOSE_TYPE DOWNSTREAM_DIRECT_LOCAL_ADDRESS DOWNSTREAM_DIRECT_LOCAL_ADDRESS_ENDPOINT_ID \
DOWNSTREAM_DIRECT_LOCAL_ADDRESS_WITHOUT_PORT DOWNSTREAM_DIRECT_LOCAL_PORT DOWNSTREAM_DIRECT_REMOTE_ADDRESS \
DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT DOWNSTREAM_DIRECT_REMOTE_PORT DOWNSTREAM_HANDSHAKE_DURATION \
DOWNSTREAM_HEADER_BYTES_RECEIVED DOWNSTREAM_HEADER_BYTES_SENT DOWNSTREAM_LOCAL_ADDRESS DOWNSTREAM_LOCAL_ADDRESS_ENDPOINT_ID \
DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT DOWNSTREAM_LOCAL_CLOSE_REASON DOWNSTREAM_LOCAL_DNS_SAN DOWNSTREAM_LOCAL_EMAIL_SAN \
DOWNSTREAM_LOCAL_IP_SAN DOWNSTREAM_LOCAL_OTHERNAME_SAN DOWNSTREAM_LOCAL_PORT DOWNSTREAM_LOCAL_SUBJECT \
DOWNSTREAM_LOCAL_URI_SAN DOWNSTREAM_PEER_CERT DOWNSTREAM_PEER_CERT_V_END DOWNSTREAM_PEER_CERT_V_START \
DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_1 DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_256 DOWNSTREAM_PEER_CHAIN_SERIALS \
DOWNSTREAM_PEER_DNS_SAN DOWNSTREAM_PEER_EMAIL_SAN DOWNSTREAM_PEER_FINGERPRINT_1 DOWNSTREAM_PEER_FINGERPRINT_256 \
DOWNSTREAM_PEER_IP_SAN DOWNSTREAM_PEER_ISSUER DOWNSTREAM_PEER_OTHERNAME_SAN DOWNSTREAM_PEER_SERIAL \
DOWNSTREAM_PEER_SUBJECT DOWNSTREAM_PEER_URI_SAN DOWNSTREAM_REMOTE_ADDRESS DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT \
DOWNSTREAM_REMOTE_PORT DOWNSTREAM_TLS_CIPHER DOWNSTREAM_TLS_SESSION_ID DOWNSTREAM_TLS_VERSION \
DOWNSTREAM_TRANSPORT_FAILURE_REASON DOWNSTREAM_WIRE_BYTES_RECEIVED DOWNSTREAM_WIRE_BYTES_SENT DURATION \
DYNAMIC_METADATA EMIT_TIME EMIT_TIME_LOCAL ENVIRONMENT FILTER_CHAIN_NAME FILTER_STATE GRPC_STATUS \
GRPC_STATUS_NUMBER HOSTNAME LOCAL_REPLY_BODY METADATA PACKETS_RETRANSMITTED PATH PROTOCOL QUERY_PARAM \
QUERY_PARAMS REQ REQUESTED_SERVER_NAME REQUEST_DURATION REQUEST_HEADER REQUEST_HEADERS_BYTES REQUEST_TX_DURATION \
RESP RESPONSE_CODE RESPONSE_CODE_DETAILS RESPONSE_DURATION RESPONSE_FLAGS RESPONSE_FLAGS_LONG RESPONSE_HEADER RESPONSE_HEADERS_BYTES RESPONSE_TRAILER \
RESPONSE_TRAILERS_BYTES RESPONSE_TX_DURATION ROUNDTRIP_DURATION ROUTE_NAME SPAN_ID START_TIME START_TIME_LOCAL \
STREAM_ID STREAM_INFO_REQ TLS_JA3_FINGERPRINT TLS_JA4_FINGERPRINT TRACE_ID TRAILER TYPED_CEL UNIQUE_ID \
UPSTREAM_CLUSTER UPSTREAM_CLUSTER_RAW UPSTREAM_CONNECTION_ID \
UPSTREAM_CONNECTION_IDS_ATTEMPTED \
UPSTREAM_CONNECTION_POOL_READY_DURATION UPSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED UPSTREAM_DECOMPRESSED_HEADER_BYTES_SENT UPSTREAM_DETECTED_CLOSE_TYPE UPSTREAM_FILTER_STATE \
UPSTREAM_HEADER_BYTES_RECEIVED UPSTREAM_HEADER_BYTES_SENT UPSTREAM_HOST UPSTREAM_HOST_NAME \
UPSTREAM_HOST_NAME_WITHOUT_PORT UPSTREAM_HOST_NAMES_ATTEMPTED UPSTREAM_HOST_NAMES_ATTEMPTED_WITHOUT_PORT UPSTREAM_HOSTS_ATTEMPTED UPSTREAM_LOCAL_ADDRESS UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT \
UPSTREAM_LOCAL_CLOSE_REASON UPSTREAM_LOCAL_DNS_SAN UPSTREAM_LOCAL_IP_SAN UPSTREAM_LOCAL_PORT \
UPSTREAM_LOCAL_URI_SAN UPSTREAM_METADATA UPSTREAM_PEER_CERT UPSTREAM_PEER_CERT_V_END UPSTREAM_PEER_CERT_V_START \
UPSTREAM_PEER_DNS_SAN UPSTREAM_PEER_IP_SAN UPSTREAM_PEER_ISSUER UPSTREAM_PEER_SUBJECT UPSTREAM_PEER_URI_SAN \
UPSTREAM_PROTOCOL UPSTREAM_REMOTE_ADDRESS UPSTREAM_REMOTE_ADDRESS_ENDPOINT_ID UPSTREAM_REMOTE_ADDRESS_WITHOUT_PORT UPSTREAM_REMOTE_PORT \
UPSTREAM_REQUEST_ATTEMPT_COUNT UPSTREAM_TLS_CIPHER UPSTREAM_TLS_SESSION_ID UPSTREAM_TLS_VERSION \
UPSTREAM_TRANSPORT_FAILURE_REASON UPSTREAM_WIRE_BYTES_RECEIVED UPSTREAM_WIRE_BYTES_SENT VIRTUAL_CLUSTER_NAME \
XFCC_VALUE";

/// Those that Envoy's own parser does not have: an extension in `formatters` provides them.
const OF_EXTENSIONS: &str = "FILE_CONTENT PER_REQUEST_STATE REQ_WITHOUT_QUERY SECRET TRACE_SAMPLED UPSTREAM_BYTES_RECEIVED \
UPSTREAM_BYTES_SENT UPSTREAM_LOCAL_SUBJECT";

/// Those that need arguments.
const NEED_ARGUMENTS: &str = "CEL CLUSTER_METADATA COALESCE COMMON_DURATION DYNAMIC_METADATA ENVIRONMENT FILTER_STATE METADATA \
QUERY_PARAM REQ REQUEST_HEADER RESP RESPONSE_HEADER RESPONSE_TRAILER STREAM_INFO_REQ TRAILER TYPED_CEL UPSTREAM_FILTER_STATE \
UPSTREAM_METADATA XFCC_VALUE";

/// Those that take them, in some release. All others take none.
const TAKE_ARGUMENTS: &str = "DOWNSTREAM_DIRECT_LOCAL_ADDRESS_WITHOUT_PORT DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT \
DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT DOWNSTREAM_PEER_CERT_V_END DOWNSTREAM_PEER_CERT_V_START \
DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT EMIT_TIME EMIT_TIME_LOCAL GRPC_STATUS PATH QUERY_PARAMS REQUESTED_SERVER_NAME \
RESPONSE_CODE_DETAILS START_TIME START_TIME_LOCAL UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT UPSTREAM_PEER_CERT_V_END \
UPSTREAM_PEER_CERT_V_START UPSTREAM_REMOTE_ADDRESS_WITHOUT_PORT";

/// Those that came after Envoy 1.36, with their minor.
const SINCE: [(u16, &str); 2] = [
    (
        37,
        "COALESCE DOWNSTREAM_DIRECT_LOCAL_ADDRESS_ENDPOINT_ID DOWNSTREAM_LOCAL_ADDRESS_ENDPOINT_ID REQUEST_HEADER \
RESPONSE_HEADER RESPONSE_TRAILER UPSTREAM_REMOTE_ADDRESS_ENDPOINT_ID",
    ),
    (
        38,
        "DOWNSTREAM_DETECTED_CLOSE_TYPE DOWNSTREAM_LOCAL_CLOSE_REASON QUERY_PARAMS SPAN_ID \
UPSTREAM_CONNECTION_IDS_ATTEMPTED UPSTREAM_DETECTED_CLOSE_TYPE UPSTREAM_HOSTS_ATTEMPTED UPSTREAM_HOST_NAMES_ATTEMPTED \
UPSTREAM_HOST_NAMES_ATTEMPTED_WITHOUT_PORT UPSTREAM_LOCAL_CLOSE_REASON",
    ),
];

/// Whether a list of names has this one.
fn lists(list: &str, name: &str) -> bool {
    list.split(' ').any(|known| known == name)
}

/// The Envoy minor that has an operator first, of those that came after 1.36.
fn since(name: &str) -> Option<u16> {
    SINCE.iter().find(|(_, names)| lists(names, name)).map(|(minor, _)| *minor)
}

/// What is wrong with a format.
#[derive(Debug, PartialEq, Eq)]
enum Trouble<'t> {
    /// A `%` that does not begin an operator.
    Stray(&'t str),
    /// An operator that does not exist.
    Unknown(&'t str),
    /// An operator without the arguments that it needs.
    Bare(&'t str),
    /// An operator with arguments or a length, which it does not take.
    Extra(&'t str),
    /// A CEL expression, and what is missing in it.
    Unfinished(&'static str),
}

/// Reads a format as the substitution formatter of this Envoy minor does: `%NAME(arguments):length%`, `%%` for `%`.
fn trouble(format: &str, minor: u16) -> Option<Trouble<'_>> {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let tail = &rest[at + 1..];
        if let Some(after) = tail.strip_prefix('%') {
            rest = after;
            continue;
        }
        let stray = || Some(Trouble::Stray(&rest[at..]));
        let length =
            tail.bytes().take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_').count();
        let (name, mut after) = tail.split_at(length);
        if name.is_empty() {
            return stray();
        }
        if let Some(arguments) = after.strip_prefix('(') {
            // Arguments may contain brackets (`%START_TIME(%Y)%`, `%CEL(f(x))%`): they end where `)%` or `):` follows.
            let end = arguments.match_indices(')').map(|(end, _)| end).find(|end| {
                let next = &arguments[end + 1..];
                next.starts_with('%')
                    || next.strip_prefix(':').is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()))
            });
            let Some(end) = end else { return stray() };
            after = &arguments[end + 1..];
        }
        if let Some(limit) = after.strip_prefix(':') {
            after = limit.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        let Some(next) = after.strip_prefix('%') else { return stray() };
        let plain = tail.len() - next.len() == length + 1;
        if !lists(OPERATORS, name) || since(name).is_some_and(|since| minor < since) {
            return Some(Trouble::Unknown(name));
        }
        let arguments = &tail[length..];
        if lists(NEED_ARGUMENTS, name) && (!arguments.starts_with('(') || arguments.starts_with("()")) {
            return Some(Trouble::Bare(name));
        }
        let expression = matches!(name, "CEL" | "TYPED_CEL").then(|| &arguments[1..arguments.len() - next.len() - 1]);
        if let Some(missing) =
            expression.and_then(|text| unfinished(text.rsplit_once(')').map_or(text, |(text, _)| text)))
        {
            return Some(Trouble::Unfinished(missing));
        }
        if !plain && !lists(NEED_ARGUMENTS, name) && !lists(TAKE_ARGUMENTS, name) {
            return Some(Trouble::Extra(name));
        }
        rest = next;
    }
    None
}

/// The texts of an object that Envoy reads as formats.
fn formats<'a>(object: &Object<'a>, owner: Option<(&Object<'a>, &str)>) -> Vec<&'a Node> {
    let mut out = Vec::new();
    let field = |name: &str| object.member(name).map(|member| &member.entry.value);
    match object.full_name() {
        "envoy.config.core.v3.SubstitutionFormatString" => {
            out.extend(field("text_format"));
            out.extend(field("json_format"));
        }
        "envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig" => {
            out.extend(["body", "attributes"].into_iter().filter_map(field));
        }
        "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig" => out.extend(field("hostname")),
        "envoy.type.tracing.v3.CustomTag" => out.extend(field("value")),
        "envoy.extensions.access_loggers.file.v3.FileAccessLog" => {
            out.extend(["format", "json_format", "typed_json_format"].into_iter().filter_map(field));
        }
        "envoy.config.core.v3.DataSource" if owner.is_some_and(|(_, name)| name == "text_format_source") => {
            out.extend(field("inline_string"));
        }
        _ => {}
    }
    out
}

/// The object that may list extensions for a format.
fn owner_of_format<'v, 'a>(object: &'v Object<'a>, owner: Option<(&'v Object<'a>, &str)>) -> Option<&'v Object<'a>> {
    let inside = object.full_name() == "envoy.config.core.v3.DataSource";
    if inside { owner.map(|(owner, _)| owner) } else { Some(object) }
}

fn has_formatters(object: &Object<'_>) -> bool {
    object.member("formatters").is_some_and(|member| !member.entry.value.items().is_empty())
}

/// Headers whose values Envoy reads as formats, by the message that lists them.
fn header_value<'a>(
    object: &Object<'a>,
    option: Option<(&Object<'a>, &str)>,
    list: Option<(&Object<'a>, &str)>,
) -> Option<&'a Node> {
    let (owner, name) = list?;
    let lists_headers = owner.full_name().starts_with("envoy.config.route.v3.")
        || matches!(owner.short_name(), "TunnelingConfig" | "LocalRateLimit" | "HttpHealthCheck" | "ResponseMapper");
    let mutates = owner.full_name() == "envoy.config.common.mutation_rules.v3.HeaderMutation" && name == "append";
    let fits = object.full_name() == "envoy.config.core.v3.HeaderValue"
        && option.is_some_and(|(option, _)| option.full_name() == "envoy.config.core.v3.HeaderValueOption")
        && (lists_headers && name.contains("headers_to_add") || mutates);
    if fits { object.member("value").map(|member| &member.entry.value) } else { None }
}

/// Every text in a structure.
fn texts<'a>(node: &'a Node, out: &mut Vec<&'a Node>) {
    match &node.value {
        NodeValue::String(_) => out.push(node),
        NodeValue::List(items) => items.iter().for_each(|item| texts(item, out)),
        NodeValue::Map(entries) => entries.iter().for_each(|entry| texts(&entry.value, out)),
        _ => {}
    }
}

/// Maximum number of characters of a format that are shown.
const SHOWN: usize = 20;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        let parent = |object: &Object<'_>| object.parent.map(|(index, field)| (&value.objects[index], field.name()));
        let minor = value.envoy_minor.unwrap_or_default();
        for object in &value.objects {
            let owner = parent(object);
            let list = owner.and_then(|(owner, _)| parent(owner));
            let mut found = Vec::new();
            for node in formats(object, owner) {
                texts(node, &mut found);
            }
            found.extend(header_value(object, owner, list));
            for node in found {
                let Some(trouble) = node.as_str().and_then(|text| trouble(text, minor)) else { continue };
                let finding = match trouble {
                    Trouble::Stray(rest) => {
                        let line = rest.lines().next().unwrap_or("%");
                        let mut shown: String = line.chars().take(SHOWN).collect();
                        if shown.len() < rest.trim_end().len() {
                            shown.push('…');
                        }
                        value
                            .finding(rule, node.span, format!("`{shown}` does not begin a command operator"))
                            .label("a stray `%`")
                            .rejected("istiod does not check it; the proxy rejects the resource that contains it")
                            .help("write `%%` for a percent sign, or close the operator: `%REQ(:PATH)%`")
                    }
                    Trouble::Unknown(name) => {
                        let by_extension = owner_of_format(object, owner).is_some_and(|it| has_formatters(it));
                        let mut finding = value
                            .finding(rule, node.span, format!("Envoy has no command operator `%{name}%`"))
                            .label("unknown operator")
                            .rejected("istiod does not check it; the proxy rejects the resource that contains it");
                        if by_extension {
                            finding = finding
                                .severity(Severity::Warning)
                                .likely("an extension (`formatters`) may provide the operator");
                        }
                        if let Some(minor) = since(name) {
                            finding.help(format!("Envoy has it since 1.{minor}"))
                        } else if lists(OF_EXTENSIONS, name) {
                            finding.help("add the extension that provides it to `formatters`")
                        } else {
                            match alike::keyword(name, OPERATORS.split(' ')) {
                                Some(near) => finding.help(format!("did you mean `%{}%`?", near.name)),
                                None => finding,
                            }
                        }
                    }
                    Trouble::Bare(name) => value
                        .finding(rule, node.span, format!("the command operator `%{name}%` needs arguments"))
                        .label("no arguments")
                        .rejected("istiod does not check it; the proxy rejects the resource that contains it")
                        .help(format!("write them in brackets: `%{name}(…)%`")),
                    Trouble::Unfinished(missing) => value
                        .finding(rule, node.span, format!("the CEL expression {missing}"))
                        .label("not a complete expression")
                        .rejected("istiod does not check it; the proxy rejects the resource that contains it")
                        .help("write a complete expression: `%CEL(request.path)%`"),
                    Trouble::Extra(name) => value
                        .finding(
                            rule,
                            node.span,
                            format!("the command operator `%{name}%` takes no arguments and no length"),
                        )
                        .label("more than the name")
                        .rejected("istiod does not check it; the proxy rejects the resource that contains it")
                        .help(format!("write `%{name}%`")),
                };
                out.push(finding);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_as_envoy_does() {
        for text in [
            "",
            "100%%",
            "%REQ(X-A?:B):10% %RESPONSE_CODE%\n",
            "%START_TIME(%Y-%m-%dT%H:%M:%S.%3f)%",
            "%DYNAMIC_METADATA(envoy.lua:a:b)%",
            "%UPSTREAM_METADATA([\"a\", \"b\"])%",
            "%CEL(f(x) + 1)%",
        ] {
            assert_eq!(trouble(text, 38), None, "{text}");
        }
        assert_eq!(trouble("50% off", 38), Some(Trouble::Stray("% off")));
        assert_eq!(trouble("%REQ(A)", 38), Some(Trouble::Stray("%REQ(A)")));
        assert_eq!(trouble("%RESPONSE_CODE", 38), Some(Trouble::Stray("%RESPONSE_CODE")));
        assert_eq!(trouble("%REQUEST(A)%", 38), Some(Trouble::Unknown("REQUEST")));
        assert_eq!(trouble("%REQ_WITHOUT_QUERY(:PATH)%", 38), Some(Trouble::Unknown("REQ_WITHOUT_QUERY")));
        assert_eq!(trouble("%SPAN_ID%", 37), Some(Trouble::Unknown("SPAN_ID")));
        assert_eq!(trouble("%SPAN_ID%", 38), None);
        assert_eq!(trouble("%REQ%", 38), Some(Trouble::Bare("REQ")));
        assert_eq!(trouble("%DYNAMIC_METADATA()%", 38), Some(Trouble::Bare("DYNAMIC_METADATA")));
        assert_eq!(trouble("%CEL(request.)%", 38), Some(Trouble::Unfinished("ends with an operator")));
        assert_eq!(trouble("%CEL(f(x)):20%", 38), None);
        assert_eq!(trouble("%PROTOCOL(x)%", 38), Some(Trouble::Extra("PROTOCOL")));
        assert_eq!(trouble("%DURATION:5%", 38), Some(Trouble::Extra("DURATION")));
        assert_eq!(trouble("%START_TIME%%GRPC_STATUS(NUMBER)%%PATH:5%", 38), None);
    }
}
