//! EF019: a workloadSelector that the API server or istiod rejects.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::source::Node;
use crate::source::Severity;

declare_rule! {
    /// A workloadSelector that the API server or istiod rejects.
    ///
    /// # What it finds
    /// A wildcard in a label's key or value, an empty key, a value over 63 characters, more than 256 labels.
    ///
    /// # Why it matters
    /// The filter is rejected: selectors compare labels by equality, and no label can hold a `*`.
    ///
    /// # How to fix
    /// Name the label's whole value; for workloads with different values use a label they share.
    ///
    /// # References
    /// istiod `pkg/config/validation` (release 1.31); recorded. CustomResourceDefinition of EnvoyFilter.
    "EF019" "invalid-selector" Document Error => check,
    objections: &[Objected::Labels], policy: Cel(policy)
}

/// Limits of the CustomResourceDefinition.
const MAX_VALUE: usize = 63;
const MAX_LABELS: usize = 256;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for filter in cx.filters {
        let labels = document::present(&filter.document, &["spec", "workloadSelector", "labels"]);
        let entries = labels.map_or(&[][..], Node::entries);
        for label in entries {
            let value = label.value.as_str().unwrap_or_default();
            let whole = "write the whole value of a label that all these workloads share".to_owned();
            let (span, message, help) = if label.key.is_empty() {
                let help = "write the key of the label before the colon".to_owned();
                (label.key_span, "a label in the selector has no key".to_owned(), help)
            } else if label.key.contains('*') {
                let message =
                    format!("`{}` contains a wildcard, but selectors compare whole keys and values", label.key);
                (label.key_span, message, "write the whole key of a label that all these workloads share".to_owned())
            } else if value.contains('*') {
                let message = format!("`{value}` contains a wildcard, but selectors compare whole keys and values");
                (label.value.span, message, whole)
            } else if value.chars().count() > MAX_VALUE {
                let message = format!("`{value}` is longer than a label value can be ({MAX_VALUE} characters)");
                (label.value.span, message, "use the value that the pods have; no pod can have this one".to_owned())
            } else {
                continue;
            };
            out.push(
                Finding::new(rule, span, message)
                    .note("the API server and istiod reject the EnvoyFilter")
                    .help(help)
                    .of(filter, None),
            );
        }
        if let Some(labels) = labels.filter(|_| entries.len() > MAX_LABELS) {
            let message = format!("the selector has {} labels; at most {MAX_LABELS} are allowed", entries.len());
            out.push(
                Finding::new(rule, labels.span, message)
                    .note("the API server rejects the EnvoyFilter")
                    .of(filter, None),
            );
        }
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![
        Cel::filter(
            Severity::Error,
            r#"@labels.exists(key, key == "" || key.contains("*"))"#,
            "a label in the selector has no key, or a wildcard in its key",
        )
        .without("label values and their number: the CustomResourceDefinition rejects those"),
    ]
}
