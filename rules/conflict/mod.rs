//! Rules of the family `conflict`. This list is written by `UPDATE=1 cargo test --test it rules`.

pub(crate) mod added_then_removed;
pub(crate) mod anchor_added_later;
pub(crate) mod conflicting_values;
pub(crate) mod drifted_copies;
pub(crate) mod duplicate_insertion;
pub(crate) mod extension_inserted_twice;
pub(crate) mod filter_generated_already;
pub(crate) mod first_in_reverse;
pub(crate) mod lost_to_panic;
pub(crate) mod merge_runs_after_insert;
pub(crate) mod order_by_creation_time;
pub(crate) mod priority_across_namespaces;
pub(crate) mod shadowed_patch;
pub(crate) mod taken_on_some_proxies;
