//! Plain types for input: EnvoyFilters, proxies, workloads, services, mesh settings. No IO, no kube, no clap.

pub(crate) mod destination;
pub mod envoy_filter;
mod fields;
pub mod injection;
pub mod inventory;
pub mod istiod;
pub mod owner;
pub mod parse_envoy_filter;
pub mod proxy;
pub mod proxy_config;
pub mod redact;
pub mod release;
pub mod resource;
pub mod stored;

pub use crate::proto::time::read as timestamp;
