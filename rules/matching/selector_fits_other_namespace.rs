//! EF202: the labels select workloads in a namespace that the filter does not reach.

use crate::declare_rule;
use crate::lint::{Context, Finding, Findings, RuleInfo, names, reach};
use crate::source::escape::one_line;
use std::collections::BTreeSet;

declare_rule! {
    /// A workloadSelector whose labels exist only in namespaces that the EnvoyFilter does not reach.
    ///
    /// # What it finds
    /// A filter outside the root namespace that selects no workload of its own namespace, while workloads of another
    /// namespace have exactly those labels.
    ///
    /// # Why it matters
    /// A filter reaches the workloads of its own namespace; only the root namespace (`meshConfig.rootNamespace`)
    /// reaches all. istiod accepts the filter but attaches it to nothing.
    ///
    /// # How to fix
    /// Move the filter to the namespace of the workloads, or to the root namespace.
    ///
    /// # References
    /// istiod `pilot/pkg/model/push_context.go`; istio/istio#17414, istio/istio#26912, istio/istio#25191.
    "EF202" "selector-fits-other-namespace" Matching Error => check,
    needs: &[Workloads], later: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let by_label = reach::ByLabel::new(cx);
    for filter in cx.filters {
        if reach::unselective(cx, filter) || reach::by_target_refs(cx, filter) {
            continue;
        }
        if by_label.selected(filter).any(|one| reach::in_scope(cx, filter, &one)) {
            continue;
        }
        let selected: Vec<_> = by_label.selected(filter).collect();
        if selected.is_empty() {
            continue;
        }
        let namespaces: BTreeSet<&str> = selected.iter().map(|one| one.namespace).collect();
        let route = ["metadata".into(), "namespace".into()];
        let span = filter.document.at(&route).map_or(filter.document.key_span(&route), |node| node.span);
        let labels = ["spec".into(), "workloadSelector".into(), "labels".into()];
        let root = &cx.mesh.root_namespace;
        out.push(
            Finding::new(
                rule,
                span,
                format!(
                    "the filter is in namespace `{}`, the workloads it selects are in {}",
                    filter.namespace,
                    names::listed(namespaces.iter().copied(), 4)
                ),
            )
            .of(filter, None)
            .label("reaches only this namespace")
            .ineffective()
            .related(filter.document.key_span(&labels), format!("selects {}, all elsewhere", reach::extent(&selected)))
            .note(format!(
                "a filter reaches its own namespace; only `{root}`, the root namespace, reaches all namespaces"
            ))
            .snippet(format!("metadata:\n  namespace: {}", one_line(namespaces.first().copied().unwrap_or_default())))
            .workloads(selected.iter().map(reach::Reached::full_name)),
        );
    }
}
