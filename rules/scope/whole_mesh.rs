//! EF501: a filter in the root namespace without a selector, which reaches the whole mesh.

use crate::declare_rule;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Finding, Findings, RuleInfo, reach};
use crate::model::envoy_filter::PatchContext;
use crate::source::Severity;
use std::cell::LazyCell;

declare_rule! {
    /// An EnvoyFilter in the root namespace without a selector, which patches every proxy of the mesh.
    ///
    /// # What it finds
    /// A filter in the root namespace with neither `workloadSelector` nor `targetRefs`. It is only an info if every
    /// patch is for gateways.
    ///
    /// # Why it matters
    /// A mistake in it breaks every namespace at once, and new workloads get it automatically.
    ///
    /// # How to fix
    /// Select the workloads that need it, or move the filter to their namespace.
    ///
    /// # References
    /// Istio API, EnvoyFilter; istio/istio#23111.
    "EF501" "whole-mesh" Scope Warning => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known = LazyCell::new(|| reach::with_proxy(cx));
    let extent = LazyCell::new(|| reach::extent(&known));
    for filter in cx.filters {
        let selector = filter.document.under(&["spec", "workloadSelector"]);
        if !reach::is_root(cx, filter)
            || !reach::unselective(cx, filter)
            || selector.is_some()
            || filter.patches.is_empty()
            || reach::left_over(cx, filter)
        {
            continue;
        }
        // Another rule reports targets that the release does not read.
        if !filter.target_refs.is_empty() {
            continue;
        }
        let gateways = filter.patches.iter().all(|patch| patch.context == PatchContext::Gateway);
        let (what, severity) = if gateways {
            ("every gateway of the mesh", Severity::Info)
        } else {
            ("every proxy of the mesh", Severity::Warning)
        };
        let mut span = filter.name_key_span();
        if let Some(namespace) = filter.document.under(&["metadata", "namespace"]) {
            span = namespace.span;
        }
        let note = match known.len() {
            0 => format!("`{}` is the root namespace: its EnvoyFilters reach all other namespaces", filter.namespace),
            many => format!(
                "`{}` is the root namespace; {} {} known",
                filter.namespace,
                *extent,
                if many == 1 { "is" } else { "are" }
            ),
        };
        out.push(
            Finding::new(rule, span, format!("this EnvoyFilter reaches {what}"))
                .of(filter, None)
                .severity(severity)
                .label("root namespace, no selector")
                .note(note)
                .snippet("workloadSelector:\n  labels:\n    <label>: <value>"),
        );
    }
}

fn policy(target: &PolicyTarget<'_>) -> Vec<Cel> {
    let finds = format!(
        r#"object.metadata.namespace == {:?} && !@selector && size(@targets) == 0 && size(variables.patches) > 0 && !variables.patches.all(p, has(p.match) && has(p.match.context) && p.match.context == "GATEWAY") && variables.patches.exists(p, @version == "")"#,
        target.root_namespace
    );
    let without = "EnvoyFilters for gateways only, which are an info for lint, and those with a proxyVersion in every patch: no supported proxy may have it";
    vec![Cel::filter(Severity::Warning, finds, "this EnvoyFilter reaches every proxy of the mesh").without(without)]
}
