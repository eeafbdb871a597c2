//! What the other objects and filters of the input say.

mod discovered;
pub(in crate::migrate) mod gather;
pub(crate) mod index;
mod ingress;
pub(crate) mod mesh;
pub(in crate::migrate) mod policy;
pub(in crate::migrate) mod registry;
