//! Watches a mesh continuously and reports changes.
//!
//! Objects come from watches ([`moment`]); proxies are read in turn ([`turns`]), each separately ([`crate::mesh::single`]), and
//! only their problems are kept ([`state`]). News is reported as lines, metrics and Events. Nothing is stored: after a restart
//! everything is found again, and reported as present.

mod events;
mod findings;
pub mod metrics;
mod moment;
pub(crate) mod run;
mod shards;
pub mod state;
mod tell;
pub(crate) mod turns;
