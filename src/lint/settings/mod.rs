//! What users say about findings: configurations, suppressions, baselines.

pub mod baseline;
pub mod config;
pub mod glob;
pub mod selection;
pub mod suppress;
