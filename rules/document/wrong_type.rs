//! EF012: a value of the wrong type for a field of the EnvoyFilter API.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Code;

declare_rule! {
    /// A value of the wrong type for a field of the EnvoyFilter API.
    ///
    /// # What it finds
    /// A number where text is needed (`version: 1.10` in a selector), text where a number is needed (`portNumber:
    /// "80"`), a mapping instead of a list, a number out of range. Values inside `patch.value` are judged by the rules
    /// about Envoy's API.
    ///
    /// # Why it matters
    /// The API server rejects the whole object.
    ///
    /// # How to fix
    /// Quote text that looks like a number or Boolean; write numbers without quotes.
    ///
    /// # References
    /// CustomResourceDefinition of EnvoyFilter (Istio 1.31).
    "EF012" "wrong-type" Document Error => check,
    policy: Never("the CustomResourceDefinition rejects it already")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (problem, finding) in document::in_filters(cx, rule, &[Code::WrongType, Code::BadTimestamp]) {
        out.push(finding.at_line(problem.span).note("the API server rejects the whole EnvoyFilter"));
    }
}
