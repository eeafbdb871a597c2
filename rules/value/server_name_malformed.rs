//! EF182: a server name of TLS that no server or client has.

use crate::declare_rule;
use crate::lint::value::Object;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Node;

declare_rule! {
    /// A server name with a scheme, a port or a path.
    ///
    /// # What it finds
    /// `sni` of upstream TLS, `server_names` of filter chain matches, and exact DNS names in `match_typed_subject_alt_names`, with a scheme,
    /// a port or a path; `sni` with a wildcard.
    ///
    /// # Why it matters
    /// A server name is a host and nothing else. A server with several certificates does not find the one for it, a filter chain for it
    /// never matches, and a certificate with it does not exist: the connection fails.
    ///
    /// # How to fix
    /// Only the host: `api.example.com`.
    ///
    /// # References
    /// RFC 6066, section 3; Envoy `UpstreamTlsContext.sni`, `FilterChainMatch.server_names`, `SubjectAltNameMatcher`.
    "EF182" "server-name-malformed" Value Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in &value.objects {
            for (node, wildcard) in names(object) {
                let Some(name) = node.as_str() else { continue };
                let host = host(name);
                let star = !wildcard && name.contains('*');
                if name.is_empty() || host == name && !star {
                    continue;
                }
                let message = if star {
                    format!("`{name}` is not a server name: a client asks for one host")
                } else {
                    format!("`{name}` is not a server name: it is a host without scheme, port and path")
                };
                let help = if star { "the host that the certificate is for".to_owned() } else { host.to_owned() };
                out.push(value.finding(rule, node.span, message).label("equals no server name").help(help));
            }
        }
    }
}

/// The server names of an object, and whether they may have a wildcard.
fn names<'a>(object: &Object<'a>) -> Vec<(&'a Node, bool)> {
    let node = |field: &str| object.member(field).map(|member| &member.entry.value);
    match object.full_name() {
        "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext" => {
            node("sni").map(|node| (node, false)).into_iter().collect()
        }
        "envoy.config.listener.v3.FilterChainMatch" => {
            node("server_names").map(Node::items).unwrap_or_default().iter().map(|node| (node, true)).collect()
        }
        "envoy.extensions.transport_sockets.tls.v3.SubjectAltNameMatcher" if object.text("san_type") == Some("DNS") => {
            node("matcher").and_then(|matcher| get(matcher, "exact")).map(|node| (node, true)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The host in a name.
fn host(name: &str) -> &str {
    let rest = name.split_once("://").map_or(name, |(_, rest)| rest);
    let rest = rest.split('/').next().unwrap_or(rest);
    let port = rest.rsplit_once(':').filter(|(host, port)| {
        !host.contains(':') && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    port.map_or(rest, |(host, _)| host)
}
