//! EF003: a document with bytes that are not UTF-8.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Code;

declare_rule! {
    /// A document that is not valid UTF-8.
    ///
    /// # What it finds
    /// An EnvoyFilter saved in another encoding, such as Latin-1.
    ///
    /// # Why it matters
    /// kubectl rejects the document.
    ///
    /// # How to fix
    /// Save the file as UTF-8.
    ///
    /// # References
    /// YAML 1.1 §5.1; sigs.k8s.io/yaml 1.6.
    "EF003" "text-not-utf8" Document Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (_, finding) in document::in_texts(cx, rule, &[Code::NotUtf8]) {
        out.push(finding.note("kubectl does not read this document"));
    }
}
