//! What other Istio APIs can express instead of a patch.

mod beside;
pub(crate) mod moves;
