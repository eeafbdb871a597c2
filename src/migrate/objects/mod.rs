//! What the other objects and filters of the input say.

pub(in crate::migrate) mod gather;
pub(crate) mod index;
pub(crate) mod mesh;
pub(in crate::migrate) mod policy;
