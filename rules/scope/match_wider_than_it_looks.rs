//! EF503: istiod does not read the only narrowing condition of a match.

use crate::declare_rule;
use crate::engine::compat::Behaviour;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{FilterChainMatch, ObjectMatch};

declare_rule! {
    /// A match that is wider than it looks, because istiod does not read its only condition.
    ///
    /// # What it finds
    /// A listener match with `portName` and without `name` and `portNumber`; a filter chain match with `transportSocket`
    /// alone; `vhost.domainName` for a control plane before 1.26.
    ///
    /// # Why it matters
    /// The patch changes every listener, filter chain or virtual host of the context instead of one.
    ///
    /// # How to fix
    /// Write a condition that is read: `portNumber`, `transportProtocol`, `vhost.name`.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF503" "match-wider-than-it-looks" Scope Warning => check,
    objections: &[Objected::DomainName]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let mut report = |route: &[&str], message: &str, help: &str| {
            out.push(view.finding(rule, view.key_span(route), message).label("not read").help(help));
        };
        match &view.patch.object {
            ObjectMatch::Listener(listener) if listener.name.is_empty() && listener.port_number == 0 => {
                let chain = listener.filter_chain.clone().unwrap_or_default();
                let bare = FilterChainMatch { filter: None, transport_socket: String::new(), ..chain.clone() };
                if bare != FilterChainMatch::default() {
                    continue;
                }
                if !listener.port_name.is_empty() {
                    report(
                        &["match", "listener", "portName"],
                        "with `portName` alone this patch matches every port",
                        "portNumber: <port>",
                    );
                } else if !chain.transport_socket.is_empty() {
                    let route = ["match", "listener", "filterChain", "transportSocket"];
                    report(
                        &route,
                        "with `transportSocket` alone this patch matches every filter chain",
                        "transportProtocol: tls",
                    );
                }
            }
            ObjectMatch::RouteConfiguration(route) if !cx.program.compat.has(Behaviour::DomainName) => {
                if let Some(vhost) = &route.vhost
                    && !vhost.domain_name.is_empty()
                    && vhost.name.is_empty()
                {
                    let route = ["match", "routeConfiguration", "vhost", "domainName"];
                    report(
                        &route,
                        "before Istio 1.26 `domainName` is not read: this patch matches every virtual host",
                        "name: <host>:<port>",
                    );
                }
            }
            _ => {}
        }
    }
}
