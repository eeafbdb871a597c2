//! EF327: a patch of what istiod never patches on a waypoint.

use crate::declare_rule;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::proxy::ProxyKind;

declare_rule! {
    /// A patch of what istiod never patches on a waypoint.
    ///
    /// # What it finds
    /// A CLUSTER MERGE or REMOVE that met no candidate on any waypoint its EnvoyFilter attaches to, and applies to
    /// nothing else.
    ///
    /// # Why it matters
    /// istiod never patches a waypoint's `inbound-vip` clusters.
    ///
    /// # How to fix
    /// Use a DestinationRule.
    ///
    /// # References
    /// istio/istio issues 57035, 43720; istiod `cluster.go`, `listener_waypoint.go`, releases 1.22 to 1.31;
    /// recorded.
    "EF327" "waypoint-never-patched" Operation Error => check,
    needs: &[Dump]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(built) = view.built else { continue };
        let what = match view.patch.apply_to {
            ApplyTo::Cluster if built.operation != Operation::Add => {
                "istiod never patches the `inbound-vip` clusters of a waypoint, and it has no others that match"
            }
            _ => continue,
        };
        if cx.on_proxies(view.filter_index, view.patch.index).any(|run| run.changes()) {
            continue;
        }
        let untested = |run: &PatchRun<'_, '_>| {
            run.runs()
                && !run.run.unknown(run.id)
                && run.run.config.proxy.kind == ProxyKind::Waypoint
                && run.trace.effects.is_empty()
                && run.trace.misses.is_empty()
                && !run.run.unknown(run.id)
        };
        let Some(seen) = cx.seen(&view, untested) else { continue };
        if !seen.certain() {
            continue;
        }
        let finding = view
            .finding(rule, view.value_span(&["applyTo"]), what)
            .label("never patched on a waypoint")
            .help("use a DestinationRule");
        let finding = seen.tell(finding);
        out.push(finding.ineffective());
    }
}
