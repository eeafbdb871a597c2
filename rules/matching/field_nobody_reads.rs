//! EF227: fields of the API that no code of istiod reads.

use crate::declare_rule;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ObjectMatch, PatchContext};
use crate::source::Severity;

declare_rule! {
    /// A field that exists in the API but that istiod never reads.
    ///
    /// # What it finds
    /// `match.listener.portName`, `match.listener.filterChain.transportSocket` and `patch.filterClass`; with a context of sidecars
    /// also `portName` and `gateway` of `match.routeConfiguration`.
    ///
    /// # Why it matters
    /// The field looks like a condition or an ordering but has no effect: a match with `portName` matches every port.
    ///
    /// # How to fix
    /// Use `portNumber` instead of `portName`; place HTTP filters with INSERT_BEFORE and a `subFilter` instead of
    /// `filterClass`; drop `transportSocket`.
    ///
    /// # References
    /// istio/istio#32638, istio/istio#39882, istio/api#2253; istiod, releases 1.22 to 1.31.
    "EF227" "field-nobody-reads" Matching Warning => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let mut report = |route: &[&str], message: String, help: &str| {
            out.push(view.finding(rule, view.key_span(route), message).label("no effect").help(help));
        };
        let never = |name: &str| format!("istiod never reads `{name}`");
        if let ObjectMatch::RouteConfiguration(routes) = &view.patch.object
            && [PatchContext::SidecarInbound, PatchContext::SidecarOutbound].contains(&view.patch.context)
        {
            for (field, value) in [("portName", &routes.port_name), ("gateway", &routes.gateway)] {
                if !value.is_empty() {
                    let route = ["match", "routeConfiguration", field];
                    let message = format!("istiod reads `routeConfiguration.{field}` only for gateways");
                    report(&route, message, "match by `portNumber` or `vhost.name`");
                }
            }
        }
        if let ObjectMatch::Listener(listener) = &view.patch.object {
            if !listener.port_name.is_empty() {
                report(
                    &["match", "listener", "portName"],
                    never("listener.portName"),
                    "match by `portNumber`: with `portName` the match applies to every port",
                );
            }
            if listener.filter_chain.as_ref().is_some_and(|chain| !chain.transport_socket.is_empty()) {
                report(
                    &["match", "listener", "filterChain", "transportSocket"],
                    never("filterChain.transportSocket"),
                    "match by `transportProtocol: tls`: with `transportSocket` the match applies to every filter chain",
                );
            }
        }
        if view
            .patch
            .body
            .as_ref()
            .is_some_and(|body| body.filter_class.as_ref().is_some_and(|class| class != "UNSPECIFIED"))
        {
            report(
                &["patch", "filterClass"],
                never("patch.filterClass"),
                "place the filter by INSERT_BEFORE and a `subFilter`, for example envoy.filters.http.router",
            );
        }
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Warning,
        r#"(@listener && has(p.match.listener.portName) && p.match.listener.portName != "") || (has(p.patch) && has(p.patch.filterClass) && p.patch.filterClass != "UNSPECIFIED")"#,
        "istiod never reads listener.portName and patch.filterClass",
    )
        .without("filterChain.transportSocket, which the API server has dropped, and what istiod does not read of routeConfiguration for sidecars")]
}
