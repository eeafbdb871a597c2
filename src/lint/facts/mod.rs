//! The facts that rules use: documents, filters, proxies, and the engine's results.

pub(crate) mod anchor;
pub(crate) mod behind;
pub mod context;
pub mod crd;
pub(crate) mod culprit;
pub(crate) mod described;
pub(crate) mod destination;
pub(crate) mod document;
pub(crate) mod ends;
pub(crate) mod filter_keys;
pub(crate) mod held;
pub(crate) mod inert;
pub(crate) mod live;
pub(crate) mod made_up;
pub(crate) mod names;
pub(crate) mod no_match;
pub(crate) mod order;
pub(crate) mod ports;
pub(crate) mod reach;
pub(crate) mod results;
pub(crate) mod route_match;
pub(crate) mod scripts;
pub(crate) mod seen;
pub(crate) mod sights;
pub(crate) mod versions;
pub(crate) mod view;
