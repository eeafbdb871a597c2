//! Whether a move would reach or allow more than its filter, alone or together with other filters.

pub(in crate::migrate) mod anchor;
pub(in crate::migrate) mod attach;
pub(in crate::migrate) mod beside;
pub(in crate::migrate) mod callers;
pub(in crate::migrate) mod chain;
pub(in crate::migrate) mod decides;
pub(in crate::migrate) mod directions;
pub(in crate::migrate) mod gateways;
pub(in crate::migrate) mod inserted;
pub(in crate::migrate) mod one_rule;
pub(in crate::migrate) mod overlap;
mod panicking;
pub(in crate::migrate) mod panics;
pub(in crate::migrate) mod removed;
pub(in crate::migrate) mod selected;
pub(in crate::migrate) mod sequence;
pub(in crate::migrate) mod sidecars;
pub(in crate::migrate) mod ties;
pub(in crate::migrate) mod together;
mod turned;
pub(in crate::migrate) mod twice;
pub(in crate::migrate) mod unread;
pub(in crate::migrate) mod waypoints;
pub(in crate::migrate) mod whole;
