//! EF209: a filter without targetRefs that is meant for a waypoint.

use crate::declare_rule;
use crate::engine::Selection;
use crate::engine::compat::Behaviour;
use crate::lint::{Context, Finding, Findings, Knowledge, Rule};
use crate::model::proxy::GATEWAY_NAME_LABEL;

declare_rule! {
    /// A filter without `targetRefs` that selects only waypoints, which ignore it.
    ///
    /// # What it finds
    /// A filter without `targetRefs` that fits no proxy but waypoints, by its labels or because its namespace has nothing
    /// else.
    ///
    /// # Why it matters
    /// From 1.27 on a waypoint takes only filters with `targetRefs`. A filter that worked on 1.26 does nothing after the
    /// upgrade, and nothing says so.
    ///
    /// # How to fix
    /// Refer to the waypoint by name, from its own namespace.
    ///
    /// # References
    /// istiod `pilot/pkg/model/policyattachment.go`, releases 1.27 to 1.31; recorded with 1.26 and 1.28.
    "EF209" "waypoint-needs-target-refs" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
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
        let declared = named.filter(|name| {
            let mut gateways = cx.inventory.kube_gateways.iter();
            let waypoint = gateways.find(|it| it.object.name == **name && it.class == "istio-waypoint");
            waypoint.is_some_and(|it| it.object.namespace == filter.namespace)
        });
        if dumps.iter().any(|run| run.plan.selections[index] == Selection::Selected)
            || (in_vain.is_empty() && declared.is_none())
        {
            continue;
        }
        let gateway = in_vain.first().and_then(|run| run.config.proxy.gateway_name()).or(declared.map(String::as_str));
        let route = ["spec".into(), "workloadSelector".into()];
        let mut span = filter.document.key_span(&["metadata".into(), "name".into()]);
        let mut instead = "";
        if filter.document.at(&route).is_some() {
            span = filter.document.key_span(&route);
            instead = "instead of `workloadSelector`, which may not stand beside it, write\n";
        }
        out.push(
            Finding::new(rule, span, "a waypoint takes only filters with targetRefs")
                .of(filter, None)
                .label("fits only waypoints")
                .ineffective()
                .note("Istio 1.26 and earlier applied this filter; from 1.27 on it is ignored, silently")
                .help(format!(
                    "{instead}targetRefs:\n- group: gateway.networking.k8s.io\n  kind: Gateway\n  name: {}",
                    gateway.unwrap_or("<waypoint>")
                ))
                .workloads(in_vain.iter().map(|run| run.label().to_owned())),
        );
    }
}
