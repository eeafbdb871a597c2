//! Rules of the family `live`. This list is written by `UPDATE=1 cargo test --test it rules`.

pub(crate) mod effect_without_selection;
pub(crate) mod leftover_object;
pub(crate) mod patch_contradicted;
pub(crate) mod patch_not_in_effect;
pub(crate) mod replicas_differ;
pub(crate) mod rewritten_often;
pub(crate) mod update_rejected;
