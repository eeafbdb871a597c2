//! EF231: a filter for workloads that have no sidecar.

use crate::declare_rule;
use crate::lint::{Context, Finding, Findings, RuleInfo, names, reach};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::injection::Sidecar;
use crate::model::inventory::Workload;
use crate::source::Step;
use std::collections::BTreeSet;

declare_rule! {
    /// An EnvoyFilter that selects only workloads without a sidecar.
    ///
    /// # What it finds
    /// A workloadSelector, or the namespace of an EnvoyFilter without one, whose workloads are all in ambient mode, on the
    /// network of their host, or decline a sidecar. Silent if the namespace of a workload is unknown, or if one of the workloads
    /// is a gateway or a waypoint.
    ///
    /// # Why it matters
    /// istiod sends EnvoyFilters to Envoy proxies only: these workloads have none, and ztunnel reads no EnvoyFilter.
    ///
    /// # How to fix
    /// In ambient mode, attach the EnvoyFilter to the waypoint of the service (`targetRefs`, context `SIDECAR_INBOUND`), or use
    /// a native API. Otherwise let the workload have a sidecar, or delete the filter.
    ///
    /// # References
    /// istiod `pkg/kube/inject/inject.go` (`injectRequired`), Istio 1.22 to 1.31; recordings of an ambient mesh, where only waypoints
    /// and gateways get configuration; istio/istio#43720, istio/istio#57350.
    "EF231" "selected-without-sidecar" Matching Warning => check,
    needs: &[Workloads], later: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let without = reach::WithoutSidecar::new(cx);
    for filter in cx.filters.iter().filter(|filter| !reach::by_target_refs(cx, filter)) {
        let reached = without.all_of(cx, filter).unwrap_or_default();
        if let Some((first, reason)) = reached.first() {
            let reached: BTreeSet<String> = reached.iter().map(|(one, _)| name(one)).collect();
            out.push(finding(rule, cx, filter, &reached, &name(first), *reason));
        }
    }
}

/// Namespace and name of a workload, for a pod those of its Deployment.
fn name(workload: &Workload) -> String {
    format!("{}/{}", workload.object.namespace, workload.controller().1)
}

fn finding(
    rule: &'static RuleInfo,
    cx: &Context<'_>,
    filter: &EnvoyFilter,
    reached: &BTreeSet<String>,
    first: &str,
    reason: Sidecar,
) -> Finding {
    let route: Vec<Step> = ["spec", "workloadSelector"].into_iter().map(Step::from).collect();
    let span = match filter.document.at(&route) {
        Some(_) => filter.document.key_span(&route),
        None => filter.name_key_span(),
    };
    let (why, help) = match reason {
        Sidecar::Ambient => (
            "is in ambient mode, where ztunnel reads no EnvoyFilter",
            "attach it to the waypoint of the service: `targetRefs` with kind Gateway and the name of the waypoint",
        ),
        Sidecar::HostNetwork => (
            "uses the network of its host: istiod injects no sidecar there",
            "delete the filter, or give the pod a network of its own",
        ),
        _ => (
            "declines a sidecar (`sidecar.istio.io/inject`)",
            "delete the filter, or remove the label or annotation sidecar.istio.io/inject",
        ),
    };
    let message = match reached.len() {
        1 => "the only workload in reach has no sidecar".to_owned(),
        number => format!("none of the {number} workloads in reach has a sidecar"),
    };
    let others =
        (reached.len() > 1).then(|| format!("in reach: {}", names::listed(reached.iter().map(String::as_str), 8)));
    let finding = Finding::new(rule, span, message)
        .of(filter, None)
        .label("has no effect")
        .ineffective()
        .note(format!("{first} {why}"))
        .notes(others)
        .help(help);
    if reach::complete(cx) { finding } else { finding.likely("other workloads may run than the manifests name") }
}
