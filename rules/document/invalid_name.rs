//! EF011: an EnvoyFilter without a name, or with one that Kubernetes rejects.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::source::Code;
use crate::words::template_in;

declare_rule! {
    /// An EnvoyFilter without a name, or with one that Kubernetes rejects.
    ///
    /// # What it finds
    /// `metadata.name` is missing or empty (without `generateName`), or it is not an RFC 1123 subdomain: capitals,
    /// underscores, spaces.
    ///
    /// # Why it matters
    /// The API server rejects the object.
    ///
    /// # How to fix
    /// Use lowercase letters, digits, `-` and `.`, starting and ending with a letter or digit, at most 253 characters.
    ///
    /// # References
    /// Kubernetes, Object Names and IDs.
    "EF011" "invalid-name" Document Error => check,
    policy: Never("the API server rejects such names itself")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (_, finding) in document::in_filters(cx, rule, &[Code::MissingName]) {
        out.push(finding.note("the API server rejects an object without a name"));
    }
    for filter in cx.filters {
        let name = filter.name.as_str();
        // A template is reported by another rule.
        if name.is_empty() || document::is_object_name(name) || template_in(name).is_some() {
            continue;
        }
        let Some(node) = document::present(&filter.document, &["metadata", "name"]) else { continue };
        let mut finding = Finding::new(rule, node.span, format!("`{name}` cannot be the name of a Kubernetes object"))
            .note("the API server rejects it: a name has lowercase letters, digits, `-` and `.`, at most 253 of them")
            .of(filter, None);
        let lower = name.to_lowercase().replace(['_', ' '], "-");
        if document::is_object_name(&lower) {
            finding = finding.help(format!("write name: {lower}"));
        }
        out.push(finding);
    }
}
