//! Settings of istiod that change what it generates, as its Deployment has them.

/// Beginnings of variables of istiod that change what it generates.
pub const ISTIOD_VARIABLES: [&str; 12] = [
    "PILOT_",
    "ENABLE_",
    "ISTIO_",
    "AMBIENT_",
    "CA_TRUSTED",
    "DEFAULT_WORKLOAD",
    "DISABLE_",
    "ENVOY_",
    "EXTERNAL_",
    "ISTIOD_",
    "SPIFFE_",
    "UNSAFE_",
];
/// The variable of istiod that says which cluster it is in.
pub const CLUSTER_ID: &str = "CLUSTER_ID";
