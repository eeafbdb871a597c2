//! EF205: targetRefs on a release that does not read them: the filter applies to everything.

use crate::declare_rule;
use crate::engine::compat::Behaviour;
use crate::lint::{Context, Finding, Findings, RuleInfo, reach};
use crate::model::inventory::Labels;
use crate::source::escape::one_line;
use std::cell::LazyCell;

declare_rule! {
    /// `targetRefs` on a release that does not read them, so that the EnvoyFilter applies to everything.
    ///
    /// # What it finds
    /// A filter with `targetRefs` for a control plane before 1.27.
    ///
    /// # Why it matters
    /// Up to 1.26 istiod attaches EnvoyFilters only by namespace and `workloadSelector`. Without a selector, a filter
    /// intended for one gateway patches every proxy of its namespace or, from the root namespace, of the whole mesh.
    ///
    /// # How to fix
    /// Use `workloadSelector` with the label `gateway.networking.k8s.io/gateway-name`, or upgrade to 1.27.
    ///
    /// # References
    /// istio/istio#56417; recorded with Istio 1.26 and 1.28.
    "EF205" "target-refs-ignored" Matching Error => check,
    objections: &[Objected::TargetRefs],
    policy: Never("targetRefs are read since Istio 1.27; a policy is generated for one release")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    if cx.program.compat.has(Behaviour::TargetRefs) {
        return;
    }
    let known = LazyCell::new(|| reach::known(cx));
    for filter in cx.filters.iter().filter(|filter| !filter.target_refs.is_empty()) {
        let hit: Vec<_> = known
            .iter()
            .filter(|one| reach::in_scope(cx, filter, one) && reach::selects(filter, one))
            .copied()
            .collect();
        let scope = if !filter.selector.as_ref().is_none_or(Labels::is_empty) {
            "the workloads of its workloadSelector".to_owned()
        } else if reach::is_root(cx, filter) {
            "every proxy of the mesh".to_owned()
        } else {
            format!("every proxy of namespace `{}`", filter.namespace)
        };
        let mut note = format!("the filter is applied to {scope}");
        if !hit.is_empty() {
            note = format!("{note}: {}", reach::extent(&hit));
        }
        let name = filter.target_refs.first().map_or("<gateway>", |target| target.name.as_str());
        out.push(
            Finding::new(
                rule,
                filter.document.key_span(&["spec".into(), "targetRefs".into()]),
                format!("Istio {}.{} does not read targetRefs of an EnvoyFilter", cx.release.major, cx.release.minor),
            )
            .of(filter, None)
            .label("read since Istio 1.27")
            .note(note)
            .snippet(format!(
                "workloadSelector:\n  labels:\n    gateway.networking.k8s.io/gateway-name: {}",
                one_line(name)
            ))
            .workloads(hit.iter().map(reach::Reached::full_name)),
        );
    }
}
