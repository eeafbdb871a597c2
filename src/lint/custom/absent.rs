//! Stand-in for user-written rules when the library is built without the feature `custom-rules` and thus without CEL.

use crate::lint::check::Rule;
use crate::source::{Code, Node, Problem, Severity};

/// `kind` of a document that holds a rule.
pub const KIND: &str = "LintRule";

/// Rejects the rule: a requested rule that does not run must not look as if it had found nothing.
pub fn read(document: &Node, _known: &[&'static Rule]) -> Result<&'static Rule, Vec<Problem>> {
    Err(vec![Problem {
        code: Code::CustomRule,
        severity: Severity::Error,
        span: Some(document.span),
        message: "this build runs no custom rules: it lacks the feature `custom-rules`".to_owned(),
        help: Some("build with `--features custom-rules`".to_owned()),
    }])
}
