//! EF007: a field of the EnvoyFilter API in another spelling: `config_patches`.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::source::Code;

declare_rule! {
    /// A misspelled field of the EnvoyFilter API, such as `config_patches`.
    ///
    /// # What it finds
    /// A key outside `patch.value` that differs from a field only in case, hyphens or underscores. Envoy's fields are
    /// written in snake case, Istio's in camel case.
    ///
    /// # Why it matters
    /// The API server drops the key, and everything below it.
    ///
    /// # How to fix
    /// Write the name as the API spells it, as the fix does.
    ///
    /// # References
    /// CustomResourceDefinition of EnvoyFilter (Istio 1.31).
    "EF007" "misspelt-field" Document Error => check,
    fixes: true,
    policy: Never("the API server drops unknown fields before a policy sees the object; kubectl warns about them")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (problem, finding) in document::in_filters(cx, rule, &[Code::MisspeltField]) {
        let finding =
            finding.note("Istio's own fields are written in camel case; only Envoy's, inside `value`, in snake case");
        let meant = problem.span.and_then(|span| Some((document::field_meant(cx, span)?, span)));
        let Some((name, span)) = meant else {
            out.push(finding);
            continue;
        };
        let finding = finding.notes(document::widened(cx, span, Some(name)));
        let edits = vec![Edit { span, text: name.to_owned() }];
        out.push(finding.fix(format!("write `{name}`"), true, edits));
    }
}
