//! A finding as the admission server answers it.

use crate::source::Severity;

/// A finding in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Code of the rule.
    pub code: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// `namespace/name` of another filter that it is about; `None` for the changed filter.
    pub other: Option<String>,
    /// Path of the field.
    pub path: String,
    /// The message.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
    /// Whether the stored filter already has it.
    pub stood: bool,
    /// Whether an object applied later may resolve it ([`super::later`]).
    pub may_come: bool,
}
