//! EF129: a format string that Envoy does not understand.

use crate::declare_rule;
use crate::lint::value::Object;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::alike;
use crate::source::{Node, NodeValue, Severity};

declare_rule! {
    /// A format string with a stray `%` or an unknown command operator.
    ///
    /// # What it finds
    /// In formats of access logs and local replies and in values of added headers: a `%` that does not begin a command
    /// operator (`%%` is a percent sign), and an operator that Envoy does not have.
    ///
    /// # Why it matters
    /// istiod does not check it; the proxy rejects the listener or route that contains it.
    ///
    /// # How to fix
    /// Write `%%` for a percent sign, and operators from Envoy's list: `%REQ(:PATH)%`.
    ///
    /// # References
    /// Envoy, "Access logging", command operators; "HTTP header manipulation", custom headers.
    "EF129" "bad-format-string" Value Error => check
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
DYNAMIC_METADATA EMIT_TIME EMIT_TIME_LOCAL ENVIRONMENT FILE_CONTENT FILTER_CHAIN_NAME FILTER_STATE GRPC_STATUS \
GRPC_STATUS_NUMBER HOSTNAME LOCAL_REPLY_BODY METADATA PACKETS_RETRANSMITTED PATH PER_REQUEST_STATE PROTOCOL QUERY_PARAM \
QUERY_PARAMS REQ REQUESTED_SERVER_NAME REQUEST_DURATION REQUEST_HEADER REQUEST_HEADERS_BYTES REQUEST_TX_DURATION REQ_WITHOUT_QUERY \
RESP RESPONSE_CODE RESPONSE_CODE_DETAILS RESPONSE_DURATION RESPONSE_FLAGS RESPONSE_FLAGS_LONG RESPONSE_HEADER RESPONSE_HEADERS_BYTES RESPONSE_TRAILER \
RESPONSE_TRAILERS_BYTES RESPONSE_TX_DURATION ROUNDTRIP_DURATION ROUTE_NAME SECRET SPAN_ID START_TIME START_TIME_LOCAL \
STREAM_ID STREAM_INFO_REQ TLS_JA3_FINGERPRINT TLS_JA4_FINGERPRINT TRACE_ID TRACE_SAMPLED TRAILER TYPED_CEL UNIQUE_ID \
UPSTREAM_BYTES_RECEIVED UPSTREAM_BYTES_SENT UPSTREAM_CLUSTER UPSTREAM_CLUSTER_RAW UPSTREAM_CONNECTION_ID \
UPSTREAM_CONNECTION_IDS_ATTEMPTED \
UPSTREAM_CONNECTION_POOL_READY_DURATION UPSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED UPSTREAM_DECOMPRESSED_HEADER_BYTES_SENT UPSTREAM_DETECTED_CLOSE_TYPE UPSTREAM_FILTER_STATE \
UPSTREAM_HEADER_BYTES_RECEIVED UPSTREAM_HEADER_BYTES_SENT UPSTREAM_HOST UPSTREAM_HOST_NAME \
UPSTREAM_HOST_NAME_WITHOUT_PORT UPSTREAM_HOST_NAMES_ATTEMPTED UPSTREAM_HOST_NAMES_ATTEMPTED_WITHOUT_PORT UPSTREAM_HOSTS_ATTEMPTED UPSTREAM_LOCAL_ADDRESS UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT \
UPSTREAM_LOCAL_CLOSE_REASON UPSTREAM_LOCAL_DNS_SAN UPSTREAM_LOCAL_IP_SAN UPSTREAM_LOCAL_PORT UPSTREAM_LOCAL_SUBJECT \
UPSTREAM_LOCAL_URI_SAN UPSTREAM_METADATA UPSTREAM_PEER_CERT UPSTREAM_PEER_CERT_V_END UPSTREAM_PEER_CERT_V_START \
UPSTREAM_PEER_DNS_SAN UPSTREAM_PEER_IP_SAN UPSTREAM_PEER_ISSUER UPSTREAM_PEER_SUBJECT UPSTREAM_PEER_URI_SAN \
UPSTREAM_PROTOCOL UPSTREAM_REMOTE_ADDRESS UPSTREAM_REMOTE_ADDRESS_ENDPOINT_ID UPSTREAM_REMOTE_ADDRESS_WITHOUT_PORT UPSTREAM_REMOTE_PORT \
UPSTREAM_REQUEST_ATTEMPT_COUNT UPSTREAM_TLS_CIPHER UPSTREAM_TLS_SESSION_ID UPSTREAM_TLS_VERSION \
UPSTREAM_TRANSPORT_FAILURE_REASON UPSTREAM_WIRE_BYTES_RECEIVED UPSTREAM_WIRE_BYTES_SENT VIRTUAL_CLUSTER_NAME \
XFCC_VALUE";

/// What is wrong with a format.
#[derive(Debug, PartialEq, Eq)]
enum Trouble<'t> {
    /// A `%` that does not begin an operator.
    Stray(&'t str),
    /// An operator that does not exist.
    Unknown(&'t str),
}

/// Reads a format as Envoy's substitution formatter does: `%NAME(arguments):length%`, `%%` for `%`.
fn trouble(format: &str) -> Option<Trouble<'_>> {
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
        if !OPERATORS.split(' ').any(|known| known == name) {
            return Some(Trouble::Unknown(name));
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

/// Headers whose values Envoy reads as formats, by the message that lists them.
fn header_value<'a>(
    object: &Object<'a>,
    option: Option<(&Object<'a>, &str)>,
    list: Option<(&Object<'a>, &str)>,
) -> Option<&'a Node> {
    let (owner, name) = list?;
    let formatted = owner.full_name().starts_with("envoy.config.route.v3.")
        || matches!(owner.short_name(), "TunnelingConfig" | "LocalRateLimit");
    let fits = object.full_name() == "envoy.config.core.v3.HeaderValue"
        && option.is_some_and(|(option, _)| option.full_name() == "envoy.config.core.v3.HeaderValueOption")
        && name.contains("headers_to_add")
        && formatted;
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
        for object in &value.objects {
            let owner = parent(object);
            let list = owner.and_then(|(owner, _)| parent(owner));
            let mut found = Vec::new();
            for node in formats(object, owner) {
                texts(node, &mut found);
            }
            found.extend(header_value(object, owner, list));
            for node in found {
                let Some(trouble) = node.as_str().and_then(trouble) else { continue };
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
                        let finding = value
                            .finding(rule, node.span, format!("Envoy has no command operator `%{name}%`"))
                            .severity(Severity::Warning)
                            .label("unknown operator")
                            .rejected("the proxy rejects the resource that contains it")
                            .likely("an extension (`formatters`) may provide the operator");
                        match alike::keyword(name, OPERATORS.split(' ')) {
                            Some(near) => finding.help(format!("did you mean `%{}%`?", near.name)),
                            None => finding,
                        }
                    }
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
            assert_eq!(trouble(text), None, "{text}");
        }
        assert_eq!(trouble("50% off"), Some(Trouble::Stray("% off")));
        assert_eq!(trouble("%REQ(A)"), Some(Trouble::Stray("%REQ(A)")));
        assert_eq!(trouble("%RESPONSE_CODE"), Some(Trouble::Stray("%RESPONSE_CODE")));
        assert_eq!(trouble("%REQUEST(A)%"), Some(Trouble::Unknown("REQUEST")));
    }
}
