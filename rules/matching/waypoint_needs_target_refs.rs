//! EF209: a filter without targetRefs that is intended for a waypoint.

use crate::declare_rule;
use crate::engine::Selection;
use crate::engine::compat::Behaviour;
use crate::lint::{Confidence, Context, Finding, Findings, Knowledge, RuleInfo, reach};
use crate::model::proxy::GATEWAY_NAME_LABEL;
use crate::source::escape::one_line;

declare_rule! {
    /// An EnvoyFilter without `targetRefs` that selects only waypoints, which ignore it.
    ///
    /// # What it finds
    /// An EnvoyFilter without `targetRefs` that selects only waypoints: by labels that only waypoints have, by the name
    /// of a Gateway that is a waypoint, or because its namespace contains nothing else.
    ///
    /// # Why it matters
    /// Since 1.27, a waypoint attaches only filters with `targetRefs`. A filter that worked on 1.26 silently does
    /// nothing after the upgrade.
    ///
    /// # How to fix
    /// Refer to the waypoint by name, from its own namespace.
    ///
    /// # References
    /// istiod `pilot/pkg/model/policyattachment.go`, releases 1.27 to 1.31; recorded with 1.26 and 1.28.
    "EF209" "waypoint-needs-target-refs" Matching Error => check,
    explains: super::context_of_other_proxies::ALL,
    releases: since(27)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    if !cx.program.compat.has(Behaviour::TargetRefs) {
        return;
    }
    let dumps: Vec<_> = cx.runs.iter().filter(|run| run.knowledge == Knowledge::Dump).collect();
    for (index, filter) in cx.filters.iter().enumerate().filter(|(_, filter)| filter.target_refs.is_empty()) {
        let in_vain: Vec<_> = dumps
            .iter()
            .filter(|run| run.plan.selections[index] == Selection::WaypointNeedsTargetRefs)
            .filter(|run| filter.missing_label(&run.config.proxy.labels).is_none())
            .collect();
        let named = filter.selector.as_ref().and_then(|labels| labels.get(GATEWAY_NAME_LABEL));
        let only = reach::selects_waypoints(cx, filter);
        if dumps.iter().any(|run| run.plan.selections[index] == Selection::Selected)
            || (in_vain.is_empty() && only.is_none())
        {
            continue;
        }
        let gateway = in_vain
            .first()
            .and_then(|run| run.config.proxy.gateway_name())
            .or(named.filter(|_| only.is_some()).map(String::as_str));
        let route = ["spec".into(), "workloadSelector".into()];
        let mut span = filter.name_key_span();
        let mut instead = "";
        if filter.document.at(&route).is_some() {
            span = filter.document.key_span(&route);
            instead = "replace `workloadSelector`, which cannot be combined with it:\n";
        }
        let guess = in_vain.is_empty() && only == Some(Confidence::Likely);
        let finding = Finding::new(rule, span, "a waypoint ignores EnvoyFilters without targetRefs")
            .of(filter, None)
            .label("selects only waypoints")
            .ineffective()
            .note("Istio 1.26 and earlier applied this EnvoyFilter; since 1.27 it is silently ignored")
            .snippet(format!(
                "{instead}targetRefs:\n- group: gateway.networking.k8s.io\n  kind: Gateway\n  name: {}",
                one_line(gateway.unwrap_or("<waypoint>"))
            ))
            .workloads(in_vain.iter().map(|run| run.label().to_owned()));
        out.push(reach::weigh(finding, if guess { Confidence::Likely } else { Confidence::Certain }));
    }
}
