//! The vocabulary of all patterns: a patch and its value, the traffic that it reaches, moves, and classes.

pub(crate) mod catalog;
pub(in crate::migrate) mod filters;
pub(in crate::migrate) mod names;
pub(in crate::migrate) mod nearest;
pub(in crate::migrate) mod place;
pub(in crate::migrate) mod reach;
pub(crate) mod step;
pub(crate) mod value;
pub mod verdict;
