//! Plain types for input: EnvoyFilters, proxies, workloads, services, mesh settings. No IO, no kube, no clap.

pub(crate) mod destination;
pub mod envoy_filter;
mod fields;
pub(crate) mod injection;
pub mod inventory;
pub(crate) mod istiod;
pub(crate) mod owner;
pub mod parse_envoy_filter;
pub mod proxy;
pub(crate) mod proxy_config;
pub mod redact;
pub mod release;
pub mod resource;
pub mod stored;

pub use crate::proto::time::read as timestamp;
