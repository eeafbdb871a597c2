//! What other Istio APIs can express instead of a patch.

pub mod better;
pub mod extension;
pub mod manifest;
pub mod traffic_policy;
