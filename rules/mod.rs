//! The rules: one file each. This list is written by `UPDATE=1 cargo test --test it rules`.

use crate::lint::Rule;

mod operation_without_effect;

/// Every rule, by code.
pub static ALL: &[&Rule] = &[&operation_without_effect::RULE];
