//! The only place that reads: files, folders, standard input.

pub mod dump;
mod json_scan;
mod scalar;
pub mod yaml;
