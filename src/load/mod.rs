//! The only place that reads: files, folders, standard input.

mod scalar;
pub mod yaml;
