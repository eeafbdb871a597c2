//! `kubectl envoyfilter`: what istiod does with EnvoyFilters, computed and explained.
//!
//! ```text
//! load ─▶ model ─▶ engine (select ▸ order ▸ match ▸ patch ⇒ trace) ─▶ (trial) ─▶ lint + rules ─▶ report
//! ```

pub mod admission;
pub mod audit;
pub mod cli;
pub mod cluster;
pub mod demo;
pub mod deploy;
pub mod engine;
pub mod envoy;
pub mod explain;
pub mod lint;
pub mod load;
pub mod model;
pub mod proto;
pub mod report;
#[path = "../rules/mod.rs"]
pub mod rules;
pub mod source;
pub mod trial;
