//! Reading a running mesh through the Kubernetes API: objects page by page, proxies' config dumps one by one.
//!
//! Only `write` changes anything in a cluster, for `webhook` and the Events of `watch`; Secrets of others are never requested.
//! What cannot be read becomes a [`Problem`] that states the consequence for the answer; what could be read is kept.
//!
//! [`Problem`]: crate::source::Problem

#![allow(clippy::disallowed_methods, reason = "kubeconfig and credentials are files")]

#[cfg(feature = "cluster")]
mod access;
#[cfg(feature = "cluster")]
mod api;
#[cfg(feature = "cluster")]
mod deep;
#[cfg(feature = "cluster")]
pub(crate) mod dumps;
#[cfg(feature = "cluster")]
pub(crate) mod elsewhere;
pub(crate) mod facts;
#[cfg(feature = "cluster")]
mod http1;
pub mod kinds;
#[cfg(feature = "cluster")]
mod limits;
#[cfg(feature = "cluster")]
mod list;
#[cfg(feature = "cluster")]
mod login;
pub mod objects;
#[cfg(feature = "cluster")]
mod portals;
pub(crate) mod rbac;
#[cfg(feature = "cluster")]
pub mod read;
pub(crate) mod targets;
mod via;
#[cfg(feature = "cluster")]
pub(crate) mod watch;
#[cfg(feature = "cluster")]
pub(crate) mod write;

#[cfg(feature = "cluster")]
pub(crate) use access::Access;
#[cfg(feature = "cluster")]
pub(crate) use api::{Cluster, Fault, Stop, Unreachable};
pub(crate) use via::Via;
