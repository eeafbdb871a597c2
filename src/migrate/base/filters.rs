//! The HTTP filters of istiod, by the chains that have them: `pilot/pkg/networking/core/listener_builder.go`, release 1.31;
//! the same since 1.24.

/// Exchanges metadata between proxies: the first one.
pub(in crate::migrate) const EXCHANGE: &str = "istio.metadata_exchange";
/// Checks tokens.
pub(in crate::migrate) const JWT: &str = "envoy.filters.http.jwt_authn";
/// Checks policies.
pub(in crate::migrate) const RBAC: &str = "envoy.filters.http.rbac";
/// Asks the provider of a CUSTOM policy.
pub(in crate::migrate) const EXT_AUTHZ: &str = "envoy.filters.http.ext_authz";

/// Answers CORS preflights.
pub(in crate::migrate) const CORS: &str = "envoy.filters.http.cors";
/// Sends requests to clusters: the last one.
pub(in crate::migrate) const ROUTER: &str = "envoy.filters.http.router";

/// Filters that follow those of policies.
pub(in crate::migrate) const REST: &[&str] =
    &["envoy.filters.http.grpc_stats", "istio.alpn", "envoy.filters.http.fault", CORS, "istio.stats", ROUTER];

/// Filters of every HTTP filter chain of sidecars and gateways.
pub(in crate::migrate) const EVERYWHERE: &[&str] =
    &[ROUTER, CORS, "envoy.filters.http.fault", "envoy.filters.http.grpc_stats", EXCHANGE];

/// Filters of the inbound filter chains only.
pub(in crate::migrate) const INBOUND: &[&str] = &[JWT, RBAC, EXT_AUTHZ];

/// The filter of the outbound filter chains only.
pub(in crate::migrate) const OUTBOUND: &str = "istio.alpn";
