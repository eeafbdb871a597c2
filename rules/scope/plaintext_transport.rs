//! EF508: a transport socket with plaintext instead of TLS.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::{Context, Findings, Knowledge, PatchView, RuleInfo, walk};
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
        // Nothing ends where there was no TLS, or where istiod merges into the plaintext socket beside the one with TLS.
        if new_socket(cx, &view) || without_change(cx, &view) {
            continue;
        }
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
            // With automatic mutual TLS, a cluster has a plaintext socket beside the one with TLS, and istiod merges into that.
            let unknown = view.patch.apply_to == ApplyTo::Cluster && !cx.attaches_to_dump(view.filter_index);
            let (message, note) = if unknown {
                (
                    "raw_buffer replaces the transport socket of clusters without automatic mutual TLS",
                    "TLS that a DestinationRule sets ends; clusters with automatic mutual TLS keep it, since istiod merges into their plaintext socket",
                )
            } else {
                (
                    "raw_buffer replaces the generated transport socket",
                    "TLS and mutual authentication end where this patch applies",
                )
            };
            out.push(
                view.finding(rule, view.value_route_span(&field.route()), message)
                    .label("plaintext")
                    .note(note)
                    .snippet(instead),
            );
        });
    }
}

/// Whether config dumps show that a patch sets a transport socket only where there was none.
pub(crate) fn new_socket(cx: &Context<'_>, view: &PatchView<'_>) -> bool {
    let runs = cx.on_proxies(view.filter_index, view.patch.index);
    let mut changes = runs.filter(|run| run.run.knowledge == Knowledge::Dump).flat_map(|run| {
        // Clusters that it leaves as they are lose nothing.
        run.trace.effects.iter().filter(|(_, effect)| effect.changes()).filter_map(|(_, effect)| match effect {
            Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _) => Some(changes),
            _ => None,
        })
    });
    let mut any = false;
    let all_new = changes.all(|changes| {
        any = true;
        changes.iter().any(|change| change.path == "transport_socket" && change.before.is_none())
    });
    any && all_new
}

/// Whether config dumps show that a patch matches and changes nothing.
fn without_change(cx: &Context<'_>, view: &PatchView<'_>) -> bool {
    let mut any = false;
    let mut runs = cx.on_proxies(view.filter_index, view.patch.index);
    let idle = runs.all(|run| {
        any |= run.run.knowledge == Knowledge::Dump && !run.trace.effects.is_empty();
        !run.changes()
    });
    any && idle
}
