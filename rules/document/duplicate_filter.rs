//! EF018: two EnvoyFilters with the same name and namespace.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::Severity;
use std::collections::HashMap;

declare_rule! {
    /// Two EnvoyFilters with the same name and namespace.
    ///
    /// # What it finds
    /// The same namespace and name twice in the input.
    ///
    /// # Why it matters
    /// In the cluster they are one object: the one applied last wins, and the other is lost. This is not a mistake if
    /// the files are for different clusters.
    ///
    /// # How to fix
    /// Rename one, or merge the two.
    ///
    /// # References
    /// Kubernetes, Object Names and IDs.
    "EF018" "duplicate-filter" Document Warning => check,
    policy: Never("the API server holds one object per name")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let kustomize = document::has_kustomization(cx);
    let mut numbers: HashMap<(&str, &str), usize> = HashMap::new();
    for filter in cx.filters {
        *numbers.entry((&filter.namespace, &filter.name)).or_default() += 1;
    }
    let mut seen: HashMap<(&str, &str), &EnvoyFilter> = HashMap::new();
    for filter in cx.filters.iter().filter(|filter| !filter.name.is_empty()) {
        let first = *seen.entry((&filter.namespace, &filter.name)).or_insert(filter);
        if std::ptr::eq(first, filter) {
            continue;
        }
        let place = |filter: &EnvoyFilter| filter.name_key_span();
        let number = match numbers.get(&(filter.namespace.as_str(), filter.name.as_str())) {
            Some(number) if *number > 2 => number.to_string(),
            _ => "two".to_owned(),
        };
        let same_file = filter.document.span.file == first.document.span.file;
        // A patch of kustomize has the name of what it changes, and kustomize itself rejects duplicates.
        if kustomize && !same_file {
            continue;
        }
        let rename = "give one of them another name, or merge them";
        let (severity, note, help) = if filter.document.to_json() == first.document.to_json() {
            (rule.severity, "it is identical to the first one", "delete one of them")
        } else if same_file && cx.sources.get(filter.document.span.file).is_page() {
            (Severity::Info, "the page may show alternatives; in one cluster, only the one applied last stays", rename)
        } else if same_file {
            (Severity::Error, "kubectl applies them in turn: only the last one stays in the cluster", rename)
        } else {
            (rule.severity, "in one cluster, only the one applied last stays", rename)
        };
        out.push(
            Finding::new(rule, place(filter), format!("{number} EnvoyFilters are named {}", filter.full_name()))
                .severity(severity)
                .related(place(first), "the first one")
                .note(note)
                .help(help)
                .of(filter, None),
        );
    }
}
