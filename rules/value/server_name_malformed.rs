//! EF182: a server name of TLS that no server or client has, or an address that is no host.

use crate::declare_rule;
use crate::lint::value::{Object, PatchValue};
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Node;
use crate::source::escape::one_line;

declare_rule! {
    /// A server name, or the address of an endpoint, with a scheme, a port or a path.
    ///
    /// # What it finds
    /// `sni` of upstream TLS, `server_names` of filter chain matches, exact DNS names in `match_typed_subject_alt_names` and the `address` of
    /// endpoints, with a scheme, a port or a path; `sni` with a wildcard.
    ///
    /// # Why it matters
    /// A server name is a host and nothing else. A server with several certificates does not find the one for it, a filter chain for it
    /// never matches, and a certificate with it does not exist: the connection fails. Envoy accepts any text as the address of an endpoint
    /// and asks DNS for it as it is: the cluster has no endpoints, and requests get 503.
    ///
    /// # How to fix
    /// Only the host: `api.example.com`. The port of an endpoint is `port_value`.
    ///
    /// # References
    /// RFC 6066, section 3; Envoy `UpstreamTlsContext.sni`, `FilterChainMatch.server_names`, `SubjectAltNameMatcher`, `SocketAddress`.
    "EF182" "server-name-malformed" Value Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in &value.objects {
            if let Some(node) = endpoint(value, object)
                && let Some(name) = node.as_str().filter(|name| !name.is_empty() && host(name) != *name)
            {
                let message = format!("`{name}` never resolves: an address is a host without scheme, port and path");
                let help = format!("address: {}\nport_value: <port>", one_line(host(name)));
                out.push(value.finding(rule, node.span, message).label("not a host").snippet(help));
            }
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
                let help =
                    if star { "the host that the certificate is for".to_owned() } else { one_line(host).into_owned() };
                out.push(value.finding(rule, node.span, message).label("equals no server name").snippet(help));
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

/// The address of an endpoint that the proxy resolves; a cluster of type STATIC is rejected with anything but an IP address.
fn endpoint<'a>(value: &PatchValue<'a>, object: &Object<'a>) -> Option<&'a Node> {
    if object.full_name() != "envoy.config.core.v3.SocketAddress" || object.member("resolver_name").is_some() {
        return None;
    }
    let outer = |object: &Object<'_>| object.parent.and_then(|(at, _)| value.objects.get(at));
    let around = || std::iter::successors(outer(object), |object| outer(object));
    let cluster = around().find(|object| object.full_name() == "envoy.config.cluster.v3.Cluster")?;
    let resolved = matches!(cluster.text("type"), Some("STRICT_DNS" | "LOGICAL_DNS"));
    let inside = around().any(|object| object.full_name() == "envoy.config.endpoint.v3.Endpoint");
    object.member("address").filter(|_| resolved && inside).map(|member| &member.entry.value)
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
