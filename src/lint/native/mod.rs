//! What other Istio APIs can express instead of a patch.

pub mod moves;
