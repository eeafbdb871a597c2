//! EF603: a filter that attaches to a workload now but not after the upgrade.

use crate::declare_rule;
use crate::engine::compat::Behaviour;
use crate::lint::upgrade::{Change, tell};
use crate::lint::{Confidence, Context, Findings, RuleInfo, reach};
use crate::model::proxy::{GATEWAY_NAME_LABEL, ProxyKind};
use crate::source::Severity;
use crate::source::escape::one_line;

declare_rule! {
    /// An EnvoyFilter that attaches to a workload now but not after the upgrade.
    ///
    /// # What it finds
    /// A filter with an effect on a proxy that it no longer attaches to in the new release: since 1.27, waypoints
    /// attach only filters with `targetRefs`, and filters with `targetRefs` reach only the gateway they name. Only
    /// `audit` compares two releases: `lint` never reports it.
    ///
    /// # Why it matters
    /// The filter's authentication, limits and headers silently disappear from these workloads.
    ///
    /// # How to fix
    /// Up to 1.26 `targetRefs` are ignored, and since 1.27 they alone decide: keep a filter with `workloadSelector` for
    /// sidecars and gateways, and create a second one with `targetRefs` for the waypoint after the control plane has
    /// been upgraded.
    ///
    /// # References
    /// Recordings of istiod 1.26 and 1.28; istio/istio#56417.
    "EF603" "stops-attaching" Upgrade Error => check,
    needs: &[Upgrade], changes: &[Change::Detached]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    for change in upgrade.of(Change::Detached) {
        let filter = &cx.filters[change.filter];
        let route = |key: &str| ["spec".into(), key.into()];
        let span = ["targetRefs", "workloadSelector"]
            .iter()
            .find(|key| filter.document.at(&route(key)).is_some())
            .map_or_else(|| cx.filters[change.filter].name_span(), |key| filter.document.key_span(&route(key)));
        let kinds: Vec<ProxyKind> =
            change.runs.iter().filter_map(|&run| upgrade.after.runs.get(run)).map(|run| run.kind).collect();
        let waypoint = kinds.iter().all(|kind| *kind == ProxyKind::Waypoint);
        let made_up = change.runs.iter().filter_map(|&run| upgrade.after.runs.get(run)).all(|run| run.made_up);
        let only = reach::selects_waypoints(cx, filter);
        // If workloads are known and none of them is a waypoint, a filter for any workload loses none.
        if waypoint && made_up && only.is_none() && (!cx.inventory.workloads.is_empty() || cx.has_dumps()) {
            continue;
        }
        // The sample waypoint is one that the filter does not name, so its own name is meaningless.
        let unnamed = waypoint && made_up && !filter.target_refs.is_empty();
        let reason = if unnamed { "waypoints that no targetRef names" } else { change.reason.as_str() };
        let mut finding = tell::finding(
            rule,
            cx,
            upgrade,
            change,
            span,
            format!(
                "{} this filter no longer attaches to proxies that it changes now: {reason}",
                tell::from_on(upgrade)
            ),
        )
        .label("decides differently after the upgrade");
        if !change.places.0.is_empty() {
            let places = tell::places(&change.places.0, change.counts.0);
            finding = finding.note(format!("it changes now: {places}"));
        }
        let reads = upgrade.crosses(crate::engine::compat::since(Behaviour::TargetRefs));
        if reads && !filter.target_refs.is_empty() {
            finding = finding
                .severity(Severity::Warning)
                .note("targetRefs are not read before Istio 1.27: until then the filter applies to every proxy of its namespace")
                .help(if waypoint {
                    "if these waypoints are intended, name them in `targetRefs` too: a selector does not reach them"
                } else {
                    "if these proxies are intended, write `workloadSelector` for them in a separate filter"
                });
        } else if waypoint {
            if made_up && only != Some(Confidence::Certain) {
                finding = finding
                    .severity(Severity::Warning)
                    .note("it is unknown whether the mesh has waypoints: without any, nothing changes");
            }
            let named = filter.selector.as_ref().and_then(|labels| labels.get(GATEWAY_NAME_LABEL));
            let waypoint = named.map_or("NAME-OF-THE-WAYPOINT", String::as_str);
            finding = finding.snippet(format!(
                "write a second filter for waypoints, with the same patches:\nmetadata:\n  name: {}-waypoint\nspec:\n  targetRefs:\n  - group: gateway.networking.k8s.io\n    kind: Gateway\n    name: {}",
                one_line(&filter.name),
                one_line(waypoint)
            ));
        }
        out.push(finding);
    }
}
