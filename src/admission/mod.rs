//! The admission server: the rules of `lint`, asked by the API server before a filter is stored.
//!
//! A review is judged on what watches have brought so far ([`world`]), by the same pipeline as `lint` ([`judge`]); what
//! the API server is told is decided in [`review`], and [`server`] keeps the deadline.

mod body;
pub mod certificates;
pub mod health;
pub mod judge;
pub mod keeper;
pub mod later;
pub mod librarian;
pub mod logging;
pub mod metrics;
pub mod planes;
pub mod review;
pub mod run;
pub mod server;
pub mod words;
pub mod world;
