//! What requests through a real Envoy did: text, JSON and a page for `try`, the forms of `test`.

pub(crate) mod human;
pub(crate) mod page;
mod picture;
pub(crate) mod suite;
pub(crate) mod view;
