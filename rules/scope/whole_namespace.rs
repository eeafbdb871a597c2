//! EF502: a filter without a selector, which reaches its whole namespace.

use crate::declare_rule;
use crate::lint::{Context, Finding, Findings, RuleInfo, reach};
use std::cell::LazyCell;

declare_rule! {
    /// An EnvoyFilter without a selector, which patches every proxy of its namespace.
    ///
    /// # What it finds
    /// A filter outside the root namespace with neither `workloadSelector` nor `targetRefs`.
    ///
    /// # Why it matters
    /// In a namespace that several teams share, it patches the workloads of all of them, including future ones.
    ///
    /// # How to fix
    /// Select the workloads that need it.
    ///
    /// # References
    /// Istio API, EnvoyFilter; istio/istio#50619.
    "EF502" "whole-namespace" Scope Info => check,
    policy: Never("its findings are infos, and a policy can only deny or warn")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let extents = LazyCell::new(|| reach::by_namespace(cx));
    for filter in cx.filters {
        let selector = filter.document.under(&["spec", "workloadSelector"]);
        let root = reach::is_root(cx, filter);
        if root
            || selector.is_some()
            || !filter.target_refs.is_empty()
            || filter.patches.is_empty()
            || reach::left_over(cx, filter)
        {
            continue;
        }
        let finding = Finding::new(
            rule,
            filter.name_key_span(),
            format!("this EnvoyFilter reaches every proxy of namespace `{}`", filter.namespace),
        )
        .of(filter, None)
        .label("no selector")
        .snippet("workloadSelector:\n  labels:\n    <label>: <value>");
        out.push(match extents.get(filter.namespace.as_str()) {
            None => finding,
            Some((extent, names)) => finding.note(format!("{extent} known there: {names}")),
        });
    }
}
