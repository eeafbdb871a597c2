//! EF326: a CLUSTER ADD that a waypoint ignores because of its context.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::PatchContext;
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::proxy::ProxyKind;

declare_rule! {
    /// A CLUSTER ADD that a waypoint ignores because of its context.
    ///
    /// # What it finds
    /// A CLUSTER ADD with context ANY (the default) or SIDECAR_OUTBOUND whose filter attaches to waypoints and which no
    /// other proxy uses.
    ///
    /// # Why it matters
    /// istiod adds only clusters with context SIDECAR_INBOUND to a waypoint.
    ///
    /// # How to fix
    /// Write `context: SIDECAR_INBOUND`.
    ///
    /// # References
    /// istio/istio issue 49863; istiod `cluster.go`, releases 1.22 to 1.31; recorded.
    "EF326" "cluster-add-on-waypoint" Operation Error => check,
    explains: &["EF228"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let add = view.built.is_some_and(|built| built.operation == Operation::Add);
        if view.patch.apply_to != ApplyTo::Cluster || !add || view.patch.context == PatchContext::SidecarInbound {
            continue;
        }
        // Without target references, a filter no longer reaches waypoints: it is intended for other proxies.
        let meant = !view.filter.target_refs.is_empty() || cx.attaches_to_dump(view.filter_index);
        if !meant || cx.on_proxies(view.filter_index, view.patch.index).any(|run| run.changes()) {
            continue;
        }
        let Some(seen) = cx.seen_if(&view, |run| run.runs() && run.run.config.proxy.kind == ProxyKind::Waypoint) else {
            continue;
        };
        let finding = view
            .finding(
                rule,
                view.value_span(&["match", "context"]),
                format!("a waypoint ignores clusters added with context {}", view.patch.context),
            )
            .label("waypoints need SIDECAR_INBOUND")
            .snippet("match:\n  context: SIDECAR_INBOUND");
        let finding = seen.tell(finding);
        out.push(finding.ineffective());
    }
}
