//! EF316: a MERGE of a transport socket that finds none to merge into.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::engine::trace::NoOp;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A MERGE of a transport socket that does not exist.
    ///
    /// # What it finds
    /// A MERGE of CLUSTER with a `transport_socket` whose name is not that of a socket inside the cluster's
    /// `transport_socket_matches`; or one in which the patch or the cluster has no typed_config.
    ///
    /// # Why it matters
    /// istiod then drops the whole patch. The name must be that of the socket (`envoy.transport_sockets.tls`), not that
    /// of the match (`tlsMode-istio`).
    ///
    /// # How to fix
    /// Use the name of the socket, and give it a typed_config.
    ///
    /// # References
    /// istiod `cluster_patch.go`, releases 1.22 to 1.31; recorded.
    "EF316" "transport-socket-not-found" Operation Error => check,
    needs: &[Dump], explains: &["EF112", "EF508"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let missed = |effect: &Effect| {
            matches!(effect, Effect::NoOp(NoOp::TransportSocketNotFound | NoOp::TransportSocketUntyped))
        };
        if cx.on_proxies(view.filter_index, view.patch.index).any(|run| run.changes()) {
            continue;
        }
        let Some(seen) = cx.seen_if(&view, |run| run.has(missed)) else { continue };
        let untyped = seen.runs[0].has(|effect| matches!(effect, Effect::NoOp(NoOp::TransportSocketUntyped)));
        let message = if untyped {
            "MERGE of a transport socket without a typed_config on both sides does nothing"
        } else {
            "no transport socket of that name in `transport_socket_matches`: the patch is dropped"
        };
        let finding = view
            .finding(rule, view.value_path_span("transport_socket.name"), message)
            .label("must be the name of a socket, such as `envoy.transport_sockets.tls`")
            .help("write the name of the socket inside the match (not of the match), and its typed_config");
        let finding = seen.tell(finding);
        out.push(finding.ineffective());
    }
}
