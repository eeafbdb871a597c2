//! EF207: a context that no selected proxy has.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::lint::{Context, Finding, Findings, Knowledge, Rule, names, reach};
use crate::model::envoy_filter::ApplyTo;
use crate::model::proxy::ProxyKind;
use crate::source::Severity;
use std::collections::BTreeSet;

declare_rule! {
    /// A context that none of the selected proxies has.
    ///
    /// # What it finds
    /// `context: GATEWAY` where every selected proxy is a sidecar or a waypoint, and `SIDECAR_INBOUND` or `SIDECAR_OUTBOUND`
    /// where every selected proxy is a gateway. Needs config dumps.
    ///
    /// # Why it matters
    /// The filter attaches and this patch does nothing.
    ///
    /// # How to fix
    /// Write the context of the proxies, or select other workloads. Waypoints are patched as SIDECAR_INBOUND (requests to
    /// their services) and SIDECAR_OUTBOUND.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF207" "context-of-other-proxies" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        // Extension configurations are added whatever the context.
        if view.patch.apply_to == ApplyTo::ExtensionConfig {
            continue;
        }
        let met: Vec<_> = cx
            .on_proxies(view.filter_index, view.patch.index)
            .filter(|met| met.run.knowledge == Knowledge::Dump && met.planned.proxy_miss.is_none())
            .collect();
        let foreign = Status::NoOp(NoOp::ContextOfOtherProxies);
        if met.is_empty() || met.iter().any(|met| met.planned.status != foreign) {
            continue;
        }
        let kinds: BTreeSet<ProxyKind> = met.iter().map(|met| met.run.config.proxy.kind).collect();
        let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
        let help = match (kinds.contains(&ProxyKind::Gateway), kinds.contains(&ProxyKind::Waypoint)) {
            (true, _) => "context: GATEWAY",
            (false, true) => "context: SIDECAR_INBOUND # what a waypoint's services are called with",
            (false, false) => "context: SIDECAR_INBOUND # or SIDECAR_OUTBOUND, for requests that the workload sends",
        };
        // Without a selector there may be proxies of the right kind that were not given.
        let severity = if reach::unselective(cx, view.filter) { Severity::Warning } else { Severity::Error };
        let selected = names::count(met.len(), "selected proxy is", "selected proxies are");
        out.push(
            Finding::new(
                rule,
                view.value_span(&["match", "context"]),
                format!("context {} belongs to other proxies than those selected", view.patch.context),
            )
            .of(view.filter, Some(view.patch.index))
            .severity(severity)
            .label("no selected proxy has this context")
            .ineffective()
            .note(format!("{selected} of kind {}", words.join(", ")))
            .help(help)
            .workloads(met.iter().map(|met| met.run.label().to_owned())),
        );
    }
}
