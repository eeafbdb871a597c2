//! Rules of the family `upgrade`. This list is written by `UPDATE=1 cargo test --test it rules`.

pub(crate) mod anchor_renamed;
pub(crate) mod begins_to_apply;
pub(crate) mod behaviour_changes;
pub(crate) mod deprecated_after_upgrade;
pub(crate) mod different_result;
pub(crate) mod extension_gone_after_upgrade;
pub(crate) mod filter_refused_after_upgrade;
pub(crate) mod lost_to_panic_after_upgrade;
pub(crate) mod panics_after_upgrade;
pub(crate) mod runtime_guard_changes;
pub(crate) mod stops_attaching;
pub(crate) mod stops_matching;
pub(crate) mod unnecessary_after_upgrade;
pub(crate) mod untyped_extension_after_upgrade;
pub(crate) mod validation_fails_after_upgrade;
pub(crate) mod value_refused_after_upgrade;
pub(crate) mod version_pin_lost;
