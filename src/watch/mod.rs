//! A mesh that is looked at for as long as somebody wants, and what is told of its changes.
//!
//! Objects come by watches ([`moment`]); proxies are read in turns ([`turns`]), each for itself ([`crate::mesh::single`]), and
//! only what is wrong with them is kept ([`state`]). What is new is told as lines, metrics and Events. Nothing is stored:
//! after a restart everything is found again, and told as what is present.

mod events;
mod findings;
pub mod metrics;
mod moment;
pub(crate) mod run;
mod shards;
pub mod state;
mod tell;
pub(crate) mod turns;
