//! Settings of istiod that change what it generates, from its Deployment.

/// Prefixes of istiod's variables that change what it generates.
pub(crate) const ISTIOD_VARIABLES: [&str; 12] = [
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
/// istiod's variable for the name of its cluster.
pub(crate) const CLUSTER_ID: &str = "CLUSTER_ID";
