//! What requests through a real Envoy did: text, JSON and a page for `try`, the forms of `test`.

pub mod human;
pub mod page;
mod picture;
pub mod suite;
pub mod view;

pub use view::View;
