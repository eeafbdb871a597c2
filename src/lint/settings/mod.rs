//! User settings for findings: configurations, suppressions, baselines.

pub(crate) mod baseline;
pub mod config;
pub(crate) mod glob;
pub(crate) mod selection;
pub mod suppress;
