//! EF530: an added cluster that sends plain HTTP to port 443.

use crate::declare_rule;
use crate::lint::callers::called;
use crate::lint::{Context, Findings, PatchView, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::proto::tree::Tree;
use crate::source::Span;
use std::collections::HashMap;

declare_rule! {
    /// An added cluster without TLS whose endpoints have port 443 and that HTTP requests are sent to.
    ///
    /// # What it finds
    /// A CLUSTER ADD whose endpoints all have port 443, without `transport_socket`, that a route, an `http_uri`, a gRPC
    /// service or Lua of a given patch calls. Clusters of TCP proxies, whose clients may bring their own TLS, do not count.
    ///
    /// # Why it matters
    /// Envoy never adds TLS by the port. The server answers 400 or closes the connection, and tokens and keys in these
    /// requests cross the network unencrypted.
    ///
    /// # How to fix
    /// Add a `transport_socket` with UpstreamTlsContext: `sni`, a CA and the server's name; or describe the host in a
    /// ServiceEntry with a DestinationRule.
    ///
    /// # References
    /// Envoy `config.cluster.v3.Cluster.transport_socket`: without one, connections are not encrypted.
    "EF530" "plaintext-to-https-port" Scope Warning => check
}

/// Messages that send HTTP requests to the cluster in one of their fields.
const CALLERS: [(&str, &str); 3] = [
    ("envoy.config.core.v3.GrpcService.EnvoyGrpc", "cluster_name"),
    ("envoy.config.core.v3.HttpUri", "cluster"),
    ("envoy.config.route.v3.RouteAction", "cluster"),
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut callers: Option<HashMap<&str, (PatchView<'_>, Span)>> = None;
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        let Some(built) = view.built.filter(|built| built.operation == Operation::Add) else { continue };
        let Some(cluster) = built.value.as_ref().filter(|cluster| is_plain(cluster) && of_https(cluster)) else {
            continue;
        };
        let callers = callers.get_or_insert_with(|| asked(cx));
        let Some((caller, place)) = callers.get(cluster.name()) else { continue };
        out.push(
            view.finding(rule, view.value_path_span("name"), format!("`{}` sends plain HTTP to port 443", cluster.name()))
                .label("a cluster without TLS")
                .related(*place, format!("{} calls it", caller.filter.full_name()))
                .note("Envoy never adds TLS because of a port")
                .snippet("transport_socket:\n  name: envoy.transport_sockets.tls\n  typed_config:\n    \"@type\": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext\n    sni: <host>\n    common_tls_context:\n      validation_context:\n        trusted_ca: {filename: /etc/ssl/certs/ca-certificates.crt}\n        match_typed_subject_alt_names:\n        - {san_type: DNS, matcher: {exact: <host>}}"),
        );
    }
}

fn is_plain(cluster: &Tree<'_>) -> bool {
    cluster.get("transport_socket").is_none() && cluster.get("transport_socket_matches").is_none()
}

/// Whether a cluster has endpoints, all of them with the port of HTTPS.
fn of_https(cluster: &Tree<'_>) -> bool {
    let groups = cluster.path(&["load_assignment", "endpoints"]).map(Tree::items).unwrap_or_default();
    let hosts = groups.iter().flat_map(|group| group.get("lb_endpoints").map(Tree::items).unwrap_or_default());
    let mut ports = hosts.map(|host| host.path(&["endpoint", "address", "socket_address", "port_value"])).peekable();
    ports.peek().is_some() && ports.all(|port| port.and_then(Tree::as_u64) == Some(443))
}

/// The clusters that patches send HTTP requests to, also from scripts, each with the first patch that does and the place.
fn asked<'a>(cx: &Context<'a>) -> HashMap<&'a str, (PatchView<'a>, Span)> {
    let mut found = called(cx, &CALLERS);
    for (value, script) in cx.scripts() {
        let calls = script.read.as_ref().map(|(_, uses)| uses.calls.as_slice()).unwrap_or_default();
        for call in calls {
            found.entry(call.name).or_insert((value.view, script.node.span));
        }
    }
    found
}
