//! EF512: a cluster that reaches the proxy's admin interface.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, walk};
use crate::source::{Node, NodeValue};

declare_rule! {
    /// A cluster that reaches the proxy's admin interface.
    ///
    /// # What it finds
    /// A socket address with port 15000 on the loopback interface in a value: a cluster, and thus a route, to Envoy's
    /// admin interface.
    ///
    /// # Why it matters
    /// The admin interface has no authentication: `/config_dump` shows the whole configuration, `/quitquitquit` stops
    /// the proxy.
    ///
    /// # How to fix
    /// Use `istioctl proxy-config` or the metrics port 15090 (15020 merged).
    ///
    /// # References
    /// Envoy: administration interface; Istio: ports used by sidecars.
    "EF512" "opens-admin-interface" Scope Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        walk::fields(value, &mut |field| {
            if !field.is("socket_address") {
                return;
            }
            let port = walk::get(field.node, "port_value").is_some_and(|node| match &node.value {
                NodeValue::Number(text) | NodeValue::String(text) => text == "15000",
                _ => false,
            });
            let address = walk::get(field.node, "address").and_then(Node::as_str).unwrap_or_default();
            if port && ["127.0.0.1", "localhost", "::1"].contains(&address) {
                out.push(
                    view.finding(
                        rule,
                        view.value_route_span(&field.route()),
                        "this address is the proxy's admin interface",
                    )
                    .label("no authentication")
                    .note("a route to it shows the whole configuration and lets callers stop the proxy")
                    .help("scrape metrics from port 15090, or 15020 to include those of the application"),
                );
            }
        });
    }
}
