//! The only IO: files, streams and dumps, made into the model.

pub mod dump;
mod json_scan;
