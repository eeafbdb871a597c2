//! What is written, what stays, and in which order it is rolled out.

pub(crate) mod ambient;
pub(crate) mod change;
pub(crate) mod draft;
pub(in crate::migrate) mod drafted;
pub(crate) mod newest;
pub(crate) mod pods;
pub(in crate::migrate) mod rest;
pub(crate) mod roll_out;
pub(crate) mod settings;
mod telemetry;
