//! Rules of the family `linter`. This list is written by `UPDATE=1 cargo test --test it rules`.

pub(crate) mod over_budget;
pub(crate) mod suppression_without_reason;
pub(crate) mod unknown_rule;
pub(crate) mod unused_suppression;
