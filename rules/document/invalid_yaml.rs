//! EF001: a document that is not YAML or JSON.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Code;

declare_rule! {
    /// A document that is not valid YAML or JSON.
    ///
    /// # What it finds
    /// A text that kubectl cannot read: wrong indentation, an open quote, a tab, JSON with an extra comma, nesting or
    /// aliases beyond what kubectl accepts, a `%YAML` directive, content after `---`. Only documents that mention
    /// EnvoyFilters.
    ///
    /// # Why it matters
    /// kubectl sends none of it. kubectl silently drops text after the end of a document.
    ///
    /// # How to fix
    /// Correct the place shown; it is where reading stopped, and the cause may be on the line above.
    ///
    /// # References
    /// YAML as sigs.k8s.io/yaml 1.6 reads it.
    "EF001" "invalid-yaml" Document Error => check
}

const CODES: &[Code] = &[
    Code::YamlSyntax,
    Code::YamlTextAfterEnd,
    Code::YamlStops,
    Code::JsonSyntax,
    Code::YamlTooDeep,
    Code::YamlAliasBomb,
    Code::YamlTooManyValues,
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (problem, finding) in document::in_texts(cx, rule, CODES) {
        let note = match problem.code {
            Code::YamlTextAfterEnd | Code::YamlStops => "everything above is read; the rest never reaches the cluster",
            _ => "neither kubectl nor this tool can read any of this document",
        };
        out.push(finding.note(note));
    }
}
