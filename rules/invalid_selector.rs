//! EF019: a workloadSelector that the API server or istiod refuses.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Finding, Findings, Rule};
use crate::source::Node;

declare_rule! {
    /// A workloadSelector that the API server or istiod refuses.
    ///
    /// # What it finds
    /// A wildcard in a label's key or value, an empty key, a value over 63 characters, more than 256 labels.
    ///
    /// # Why it matters
    /// The filter is refused: selectors compare labels by equality, and no label can hold a `*`.
    ///
    /// # How to fix
    /// Name the label's whole value; for workloads with different values use a label they share.
    ///
    /// # References
    /// istiod `pkg/config/validation` (release 1.31); recorded. CustomResourceDefinition of EnvoyFilter.
    "EF019" "invalid-selector" Error => check
}

/// Limits of the CustomResourceDefinition.
const MAX_VALUE: usize = 63;
const MAX_LABELS: usize = 256;

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for filter in cx.filters {
        let labels = document::present(&filter.document, &["spec", "workloadSelector", "labels"]);
        let entries = labels.map_or(&[][..], Node::entries);
        for label in entries {
            let value = label.value.as_str().unwrap_or_default();
            let whole = "write the whole value of a label that all the workloads meant share".to_owned();
            let (span, message, help) = if label.key.is_empty() {
                let help = "write the key of the label before the colon".to_owned();
                (label.key_span, "a label in the selector has no key".to_owned(), help)
            } else if label.key.contains('*') {
                let message = format!("`{}` holds a wildcard: selectors compare whole keys and values", label.key);
                (
                    label.key_span,
                    message,
                    "write the whole key of a label that all the workloads meant share".to_owned(),
                )
            } else if value.contains('*') {
                let message = format!("`{value}` holds a wildcard: selectors compare whole keys and values");
                (label.value.span, message, whole)
            } else if value.chars().count() > MAX_VALUE {
                let message = format!("`{value}` is longer than a label's value can be ({MAX_VALUE})");
                (label.value.span, message, "write the value that the pods have: none can have this one".to_owned())
            } else {
                continue;
            };
            out.push(
                Finding::new(rule, span, message)
                    .note("the API server and istiod refuse the filter")
                    .help(help)
                    .of(filter, None),
            );
        }
        if let Some(labels) = labels.filter(|_| entries.len() > MAX_LABELS) {
            let message = format!("the selector has {} labels, and {MAX_LABELS} are allowed", entries.len());
            out.push(
                Finding::new(rule, labels.span, message).note("the API server refuses the filter").of(filter, None),
            );
        }
    }
}
