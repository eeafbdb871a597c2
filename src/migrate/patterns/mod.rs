//! How each pattern of patches moves.

pub(in crate::migrate) mod access_log;
pub(in crate::migrate) mod authz;
pub(in crate::migrate) mod cluster;
pub(in crate::migrate) mod cluster_add;
pub(in crate::migrate) mod cluster_mesh;
pub(in crate::migrate) mod cluster_policy;
pub(in crate::migrate) mod condition;
pub(in crate::migrate) mod ext_authz;
pub(in crate::migrate) mod extension;
pub(in crate::migrate) mod hash;
pub(in crate::migrate) mod headers;
pub(in crate::migrate) mod homeless;
pub(in crate::migrate) mod idle;
pub(in crate::migrate) mod kube_route;
pub(in crate::migrate) mod kube_rule;
pub(in crate::migrate) mod listener;
pub(in crate::migrate) mod manager;
pub(in crate::migrate) mod provider;
pub(in crate::migrate) mod route_value;
pub(in crate::migrate) mod router;
pub(in crate::migrate) mod routes;
pub(in crate::migrate) mod telemetry;
pub(in crate::migrate) mod tls;
pub(in crate::migrate) mod tracing;
pub(in crate::migrate) mod waypoint_route;
