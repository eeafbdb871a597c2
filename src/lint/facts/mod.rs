//! What rules look at: documents, filters, proxies, and what the engine did there.

pub mod anchor;
pub mod context;
pub mod crd;
pub mod culprit;
pub mod document;
pub mod held;
pub mod inert;
pub mod live;
pub mod made_up;
pub mod names;
pub mod no_match;
pub mod order;
pub mod ports;
pub mod reach;
pub mod seen;
pub mod sights;
pub mod versions;
pub mod view;
