//! The admission server: the rules of `lint`, applied before an EnvoyFilter is stored.
//!
//! A review uses the latest snapshot of the cluster ([`snapshot`]) and the pipeline of `lint` ([`judge`]). [`review`] decides
//! the response to the API server, [`server`] keeps the deadline.

#![allow(clippy::disallowed_methods, reason = "certificates are files")]

mod body;
pub mod certificates;
pub mod connections;
mod cpu;
pub mod feed;
pub mod health;
pub(crate) mod json;
pub mod judge;
pub(crate) mod keeper;
pub(crate) mod ladder;
pub(crate) mod later;
pub(crate) mod lease;
pub(crate) mod logging;
pub(crate) mod metrics;
mod remark;
pub(crate) mod request;
pub mod review;
pub mod run;
pub mod server;
pub mod snapshot;
pub(crate) mod standing;
pub(crate) mod tls;
pub(crate) mod turns;
pub(crate) mod words;
