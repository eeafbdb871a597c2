//! Reading a running mesh through the Kubernetes API: objects page by page, proxies' config dumps one by one.
//!
//! Only `write` changes anything in a cluster, for `webhook`; Secrets of others are never asked for. What cannot be read becomes a [`Problem`] that says
//! what it means for the answer; what could be read is kept.
//!
//! [`Problem`]: crate::source::Problem

mod access;
mod api;
pub mod dumps;
pub mod facts;
mod http1;
pub mod kinds;
mod list;
mod login;
pub mod objects;
mod portals;
pub mod rbac;
pub mod read;
pub mod targets;
pub mod watch;
pub mod write;

pub use access::Access;
pub use api::{Cluster, Fault, Stop};
