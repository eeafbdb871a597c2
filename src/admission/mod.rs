//! The admission server: the rules of `lint`, applied before an EnvoyFilter is stored.
//!
//! A review uses the latest snapshot of the cluster ([`world`]) and the pipeline of `lint` ([`judge`]). [`review`] decides what the API
//! server is told, [`server`] keeps the deadline.

#![allow(clippy::disallowed_methods, reason = "certificates are files")]

mod body;
pub mod certificates;
pub mod connections;
pub mod health;
pub mod json;
pub mod judge;
pub mod keeper;
pub mod ladder;
pub mod later;
pub mod lease;
pub mod librarian;
pub mod logging;
pub mod metrics;
pub mod request;
pub mod review;
pub mod run;
pub mod server;
pub mod standing;
pub mod tls;
pub mod turns;
pub mod words;
pub mod world;
