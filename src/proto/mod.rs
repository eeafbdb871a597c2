//! Envoy's API as data: descriptors per release, typed trees of JSON, decoding and merging.

mod bytes;
pub(crate) mod camel;
pub mod decode;
pub(crate) mod descriptor_set;
pub(crate) mod expected;
pub(crate) mod items;
pub mod json;
pub(crate) mod json_scan;
pub mod merge;
mod numbers;
pub mod packed;
mod raw;
pub(crate) mod rules;
pub mod schema;
pub(crate) mod time;
pub mod tree;
pub mod unmerge;
pub mod wire;
