//! Runs the real istiod without a cluster: its binary runs briefly against an API server made of objects, and answers
//! what it would send to any proxy.
//!
//! Everything stays on loopback and in a private folder; nothing is written to a cluster, and no Secret is read.

#![allow(clippy::disallowed_methods, reason = "istiod runs in a folder of files and sockets")]

mod ads;
mod api;
mod computed;
mod defaults;
pub mod doctor;
pub mod dump;
mod fault;
pub mod gateway_api;
mod grpc;
mod kinds;
mod node;
mod objects;
mod open;
mod panicked;
mod ports;
pub mod proxies;
mod proxy_config;
mod refusal;
mod run;
mod selectors;
mod settle;
mod shared_hosts;
pub(crate) mod stand_ins;
mod texts;

pub use ads::{Configuration, Named, Wanted};
pub(crate) use fault::Fault;
pub use node::{Common, Node};
pub use open::{Deleted, Open, Opened, located, sha256};
pub use run::{Bottle, Istiod, Limits, Request, environment};
