//! EF001: a document that is no YAML or JSON.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, Rule};

declare_rule! {
    /// A document that is no YAML or JSON.
    ///
    /// # What it finds
    /// A text that kubectl cannot read: wrong indentation, an open quote, a tab, JSON with a comma too many, nesting or aliases
    /// beyond what kubectl accepts. Only documents that speak of EnvoyFilters.
    ///
    /// # Why it matters
    /// kubectl sends nothing of it. Text after the end of a document is dropped by kubectl without a word.
    ///
    /// # How to fix
    /// Correct the place shown; it is where reading stopped, and the cause may stand on the line above.
    ///
    /// # References
    /// YAML as sigs.k8s.io/yaml 1.6 reads it.
    "EF001" "invalid-yaml" Error => check
}

const CODES: &[&str] = &["yaml-syntax", "json-syntax", "yaml-too-deep", "yaml-alias-bomb"];

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for (problem, finding) in document::in_texts(cx, rule, CODES) {
        let note = if problem.message.contains("drops everything") {
            "what stands above is read; the rest never reaches the cluster"
        } else {
            "nothing of this document can be read, by kubectl or by this tool"
        };
        out.push(finding.note(note));
    }
}
