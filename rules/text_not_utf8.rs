//! EF003: a document with bytes that are no UTF-8.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, Rule};

declare_rule! {
    /// A document with bytes that are no UTF-8.
    ///
    /// # What it finds
    /// An EnvoyFilter saved in another encoding, Latin-1 or the like.
    ///
    /// # Why it matters
    /// kubectl refuses the document.
    ///
    /// # How to fix
    /// Save the file as UTF-8.
    ///
    /// # References
    /// YAML 1.1 §5.1; sigs.k8s.io/yaml 1.6.
    "EF003" "text-not-utf8" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for (_, finding) in document::in_texts(cx, rule, &["not-utf8"]) {
        out.push(finding.note("kubectl does not read such a document"));
    }
}
