//! Envoy's API as data: descriptors per release, typed trees of JSON, decoding and merging.

pub mod schema;
pub mod tree;
