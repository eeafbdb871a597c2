//! EF357: a patch removes the filter that names the protocol of requests over mutual TLS.

use crate::declare_rule;
use crate::engine::matching;
use crate::engine::trace::Effect;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};

declare_rule! {
    /// A REMOVE of `istio.alpn`, which names the protocol of requests over mutual TLS.
    ///
    /// # What it finds
    /// An HTTP_FILTER REMOVE that removes `istio.alpn`.
    ///
    /// # Why it matters
    /// The filter lets mutual TLS offer `istio-http/1.1` or `istio-h2`. On a port that declares no protocol, the receiver
    /// tells HTTP from TCP by these names. Without them it takes the requests as TCP: without routes, HTTP metrics and
    /// traces, and an AuthorizationPolicy that allows by path or method allows none of them.
    ///
    /// # How to fix
    /// Keep it. Where a server outside the mesh must not be offered HTTP/2, set `tls` and `h2UpgradePolicy` for its host in
    /// a DestinationRule.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/listener_inbound.go`; recorded: the filter chain `virtualInbound-catchall-http`.
    "EF357" "alpn-filter-removed" Operation Warning => check
}

const ALPN: &str = "istio.alpn";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::HttpFilter) {
        let removes = view.built.is_some_and(|built| {
            built.operation == Operation::Remove && matching::sub_filter_name(&built.object) == Some(ALPN)
        });
        if !removes {
            continue;
        }
        let removed = |effect: &Effect| matches!(effect, Effect::Removed);
        let Some(seen) = cx.seen_if(&view, |run| run.trace.effects.iter().any(|(_, effect)| removed(effect))) else {
            continue;
        };
        let finding = view
            .finding(
                rule,
                view.value_span(&["patch", "operation"]),
                "requests over mutual TLS no longer say that they are HTTP",
            )
            .label("removes `istio.alpn`")
            .note(
                "a receiver takes them as TCP on ports that declare no protocol: no HTTP policies, metrics and traces",
            )
            .help("keep the filter; for a host outside the mesh, set `tls` and `h2UpgradePolicy` in a DestinationRule");
        out.push(seen.tell(finding));
    }
}
