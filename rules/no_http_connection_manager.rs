//! EF217: HTTP filters where nothing speaks HTTP.

use crate::declare_rule;
use crate::engine::trace::Condition;
use crate::lint::{Context, Finding, Findings, Rule, no_match};
use crate::model::envoy_filter::ObjectMatch;

declare_rule! {
    /// An HTTP_FILTER patch for filter chains that have no HTTP connection manager.
    ///
    /// # What it finds
    /// An HTTP_FILTER patch whose match names another network filter, or whose matched chains carry TCP only.
    ///
    /// # Why it matters
    /// HTTP filters exist only inside `envoy.filters.network.http_connection_manager`. istiod makes one only for ports
    /// that it takes for HTTP: by `appProtocol`, or by a port name that begins with `http`, `http2` or `grpc`.
    ///
    /// # How to fix
    /// Name the Service's port `http-…` or set its `appProtocol`; write
    /// `filter.name: envoy.filters.network.http_connection_manager`.
    ///
    /// # References
    /// istio/istio#29893.
    "EF217" "no-http-connection-manager" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for one in no_match::at(cx, &[Condition::HttpConnectionManager]) {
        let named = match &one.view.patch.object {
            ObjectMatch::Listener(want) => want.filter_chain.as_ref().and_then(|chain| chain.filter.as_ref()),
            _ => None,
        };
        let finding = one.finding(
            rule,
            "network filters",
            "no chain that this HTTP_FILTER patch matches has an HTTP connection manager",
        );
        let hcm = "envoy.filters.network.http_connection_manager";
        out.push(match named {
            Some(filter) if filter.name != hcm && !filter.name.is_empty() => {
                let span = one.view.value_span(&["match", "listener", "filterChain", "filter", "name"]);
                let finding = Finding { primary: crate::lint::Label { span, message: "has no HTTP filters".to_owned() }, ..finding };
                finding.help(format!("filter:\n  name: {hcm}"))
            }
            _ => finding.help("if the port speaks HTTP, say so in the Service: `appProtocol: http`, or a port name beginning with `http`"),
        });
    }
}
