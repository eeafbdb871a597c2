//! EF206: a workloadSelector without labels, which selects everything.

use crate::declare_rule;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Edit, Finding, Findings, RuleInfo, names, reach};
use crate::model::inventory::Labels;
use crate::source::escape::one_line;
use crate::source::{Node, NodeValue, Severity, Span};
use std::cell::LazyCell;

declare_rule! {
    /// A workloadSelector without labels, which selects every workload.
    ///
    /// # What it finds
    /// A `workloadSelector` that is empty, has empty `labels`, or has its labels under another key (`matchLabels`,
    /// `label`, or directly below the selector).
    ///
    /// # Why it matters
    /// The API server drops unknown keys. What remains is an empty selector, which selects every workload of the
    /// namespace (in the root namespace: of the mesh), the opposite of what was intended.
    ///
    /// # How to fix
    /// Put the labels under `workloadSelector.labels`; omit the selector if every workload is intended.
    ///
    /// # References
    /// Istio API, `type.v1beta1.WorkloadSelector`; istiod `pilot/pkg/model/policyattachment.go`.
    "EF206" "empty-selector" Matching Warning => check,
    fixes: true, policy: Cel(policy)
}

/// Whether this rule reports a wrong key there: in a selector that selects everything because of it.
pub(crate) fn speaks_of(cx: &Context<'_>, key: Span) -> bool {
    cx.filters.iter().any(|filter| {
        let selector = filter.document.at(&["spec".into(), "workloadSelector".into()]);
        let within = |at: Span| at.file == key.file && at.start <= key.start && key.end <= at.end;
        selector.is_some_and(|selector| within(selector.span))
            && filter.selector.as_ref().is_none_or(Labels::is_empty)
            && !reach::by_target_refs(cx, filter)
    })
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known = LazyCell::new(|| reach::with_proxy(cx));
    let all = LazyCell::new(|| reach::extent_with_names(&known));
    let extents = LazyCell::new(|| reach::by_namespace(cx));
    for filter in cx.filters {
        let route = ["spec".into(), "workloadSelector".into()];
        let Some(selector) = filter.document.at(&route) else { continue };
        if !filter.selector.as_ref().is_none_or(Labels::is_empty) || reach::by_target_refs(cx, filter) {
            continue;
        }
        let extent = if reach::is_root(cx, filter) {
            Some(&*all).filter(|_| !known.is_empty())
        } else {
            extents.get(filter.namespace.as_str())
        };
        let number = extent.map_or_else(String::new, |(extent, names)| format!(": {extent} ({names})"));
        let meant = selector.entries().iter().any(|entry| entry.key != "labels");
        let mut finding = Finding::new(
            rule,
            filter.document.key_span(&route),
            format!("this selector has no labels and selects {}", reach::all_workloads(cx, filter)),
        )
        .of(filter, None)
        .label("selects everything")
        .note(format!("istiod treats a selector without labels as none{number}"));
        if meant {
            finding = finding.severity(Severity::Error);
        }
        finding = match misplaced(selector, cx) {
            Some((labels, edit)) => finding.snippet(format!("workloadSelector:\n  labels:\n    {labels}")).fix(
                "put the labels under `labels`",
                true,
                vec![edit],
            ),
            None if meant => finding.snippet("workloadSelector:\n  labels:\n    <label>: <value>"),
            None => finding.help("name the workloads' labels, or omit the selector if every workload is intended"),
        };
        out.push(finding);
    }
}

/// Labels under a wrong key of the selector, and the edit that moves them.
fn misplaced(selector: &Node, cx: &Context<'_>) -> Option<(String, Edit)> {
    let plain =
        |node: &Node| !node.entries().is_empty() && node.entries().iter().all(|entry| scalar(&entry.value).is_some());
    let lines = |node: &Node| -> Vec<String> {
        let pairs = node.entries().iter();
        pairs
            .filter_map(|entry| Some(one_line(&format!("{}: {}", entry.key, scalar(&entry.value)?)).into_owned()))
            .collect()
    };
    if let [only] = selector.entries()
        && names::nearest(&only.key, ["labels", "matchLabels"]).is_some()
        && plain(&only.value)
    {
        let edit = Edit { span: only.key_span, text: "labels".to_owned() };
        return Some((lines(&only.value).join("\n    "), edit));
    }
    if !plain(selector)
        || selector.entries().iter().any(|entry| ["labels", "namespaces", "namespace"].contains(&entry.key.as_str()))
    {
        return None;
    }
    let pairs: Vec<String> = selector
        .entries()
        .iter()
        .filter_map(|entry| Some(format!("{:?}: {:?}", entry.key, scalar(&entry.value)?)))
        .collect();
    let text = format!("labels: {{{}}}", pairs.join(", "));
    let flow = cx.sources.snippet(selector.span).starts_with('{');
    let text = if flow { format!("{{{text}}}") } else { text };
    Some((lines(selector).join("\n    "), Edit { span: selector.span, text }))
}

fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        NodeValue::String(text) | NodeValue::Number(text) => Some(text.clone()),
        NodeValue::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![
        Cel::filter(
            Severity::Warning,
            r"@selector && size(@labels) == 0 && size(@targets) == 0",
            "this selector has no labels and selects every workload",
        )
        .without("labels under another key: the API server has dropped them"),
    ]
}
