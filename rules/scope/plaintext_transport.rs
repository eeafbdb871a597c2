//! EF508: a transport socket with plaintext instead of TLS.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, walk};
use crate::model::envoy_filter::ApplyTo;

declare_rule! {
    /// A raw_buffer transport socket merged over the generated one: plaintext instead of mutual TLS.
    ///
    /// # What it finds
    /// A CLUSTER, FILTER_CHAIN or LISTENER patch that merges a transport socket `envoy.transport_sockets.raw_buffer`.
    ///
    /// # Why it matters
    /// A transport socket with another name replaces the generated one: traffic is unencrypted and has no identity,
    /// although PeerAuthentication and DestinationRule still require TLS.
    ///
    /// # How to fix
    /// Use DestinationRule `trafficPolicy.tls.mode: DISABLE` for calls, and PeerAuthentication with `portLevelMtls` for
    /// ports that must accept plaintext: both are visible and reviewable.
    ///
    /// # References
    /// Istio security: PeerAuthentication, DestinationRule.
    "EF508" "plaintext-transport" Scope Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let merges = view.built.is_some_and(|built| built.operation.is_merge());
        let kind = matches!(view.patch.apply_to, ApplyTo::Cluster | ApplyTo::FilterChain | ApplyTo::Listener);
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()).filter(|_| merges && kind)
        else {
            continue;
        };
        walk::fields(value, &mut |field| {
            if !field.is("transport_socket") {
                return;
            }
            let name = field.node.get("name").and_then(crate::source::Node::as_str).unwrap_or_default();
            if !name.ends_with("raw_buffer") {
                return;
            }
            let instead = match view.patch.apply_to {
                ApplyTo::Cluster => {
                    "kind: DestinationRule\nspec:\n  host: <service>\n  trafficPolicy:\n    tls:\n      mode: DISABLE"
                }
                _ => "kind: PeerAuthentication\nspec:\n  portLevelMtls:\n    <port>:\n      mode: DISABLE",
            };
            out.push(
                view.finding(
                    rule,
                    view.value_route_span(&field.route()),
                    "raw_buffer replaces the generated transport socket",
                )
                .label("plaintext")
                .note("TLS and mutual authentication end where this patch applies")
                .help(instead),
            );
        });
    }
}
