//! EF217: an HTTP filter patch for filter chains without HTTP.

use crate::declare_rule;
use crate::engine::matching::{self, HTTP_CONNECTION_MANAGER};
use crate::engine::trace::Condition;
use crate::lint::{Context, Findings, RuleInfo, no_match};
use crate::model::proxy::ProxyKind;

declare_rule! {
    /// An HTTP_FILTER patch for filter chains that have no HTTP connection manager.
    ///
    /// # What it finds
    /// An HTTP_FILTER patch that matches only TCP filter chains, or whose match names another network filter. Without config
    /// dumps: one for `portNumber: 15006` (inbound) or 15001 (outbound), which select only the filter chain that blocks direct
    /// connections.
    ///
    /// # Why it matters
    /// HTTP filters exist only inside `envoy.filters.network.http_connection_manager`. istiod generates one only for
    /// ports that it considers HTTP: by `appProtocol`, or by a port name that starts with `http`, `http2` or `grpc`.
    ///
    /// # How to fix
    /// Name the Service's port `http-…` or set its `appProtocol`. At a gateway, match a server that ends TLS or gets plain HTTP.
    ///
    /// # References
    /// istio/istio#29893.
    "EF217" "no-http-connection-manager" Matching Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for one in no_match::at(cx, &[Condition::HttpConnectionManager]) {
        let named = matching::network_filter_name(&one.view.patch.object);
        let other = named.filter(|name| !name.is_empty() && *name != HTTP_CONNECTION_MANAGER);
        out.push(match other {
            Some(name) => one
                .finding(cx, rule, "network filter", format!("`{name}` contains no HTTP filters"))
                .note(format!("HTTP filters exist only inside `{HTTP_CONNECTION_MANAGER}`"))
                .snippet(format!("filter:\n  name: {HTTP_CONNECTION_MANAGER}")),
            None => one
                .finding(
                    cx,
                    rule,
                    "network filter",
                    "no filter chain that this HTTP_FILTER patch matches has an HTTP connection manager",
                )
                .help(one.help_about_port().unwrap_or_else(|| where_http_is(&one).to_owned())),
        });
    }
}

/// How the proxies get an HTTP connection manager.
fn where_http_is(one: &no_match::NoMatch<'_, '_>) -> &'static str {
    if one.runs.iter().all(|run| run.config.proxy.kind == ProxyKind::Gateway) {
        "a gateway reads HTTP on servers with protocol HTTP, or HTTPS with a TLS mode that ends TLS (SIMPLE, MUTUAL): match one of those, or patch the sidecars behind the gateway"
    } else {
        "if the port is HTTP, declare it in the Service: `appProtocol: http`, or a port name that starts with `http`"
    }
}
