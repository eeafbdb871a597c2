//! EF227: fields of the API that no code of istiod reads.

use crate::declare_rule;
use crate::lint::{Context, Finding, Findings, Rule};
use crate::model::envoy_filter::ObjectMatch;

declare_rule! {
    /// A field that the API has and istiod never reads.
    ///
    /// # What it finds
    /// `match.listener.portName`, `match.listener.filterChain.transportSocket` and `patch.filterClass`.
    ///
    /// # Why it matters
    /// What looks like a condition or an order is none: a match with `portName` fits every port.
    ///
    /// # How to fix
    /// Use `portNumber` instead of `portName`; put HTTP filters with INSERT_BEFORE and a `subFilter` instead of
    /// `filterClass`; drop `transportSocket`.
    ///
    /// # References
    /// istio/istio#32638, istio/istio#39882, istio/api#2253; istiod, releases 1.22 to 1.31.
    "EF227" "field-nobody-reads" Warning => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let mut report = |route: &[&str], name: &str, help: &str| {
            out.push(
                Finding::new(rule, view.key_span(route), format!("istiod never reads `{name}`"))
                    .of(view.filter, Some(view.patch.index))
                    .label("no effect")
                    .help(help),
            );
        };
        if let ObjectMatch::Listener(listener) = &view.patch.object {
            if !listener.port_name.is_empty() {
                report(
                    &["match", "listener", "portName"],
                    "listener.portName",
                    "match by `portNumber`: the match fits every port as it is",
                );
            }
            if listener.filter_chain.as_ref().is_some_and(|chain| !chain.transport_socket.is_empty()) {
                report(
                    &["match", "listener", "filterChain", "transportSocket"],
                    "filterChain.transportSocket",
                    "match by `transportProtocol: tls`",
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
                "patch.filterClass",
                "place the filter by INSERT_BEFORE and a `subFilter`, for example envoy.filters.http.router",
            );
        }
    }
}
