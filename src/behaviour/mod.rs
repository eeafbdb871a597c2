//! Requests through the patched proxy: a real Envoy with the configuration that istiod would send, stubs behind it, and
//! what each filter did.
//!
//! [`setup`] converts a proxy's configuration for a standalone Envoy on this machine: listeners on Unix sockets, and a
//! separate socket for every cluster. [`client`] sends what a downstream would send, with the PROXY protocol instead of
//! iptables. [`stub`] replaces every upstream. [`trace`] reads from Envoy's log and from probes between the HTTP
//! filters what each filter did.

#![allow(clippy::disallowed_methods, reason = "the sandbox is a folder of files and sockets")]

mod answers;
mod asks;
mod calls;
mod chains;
mod client;
mod draft;
mod envoy;
mod grpc;
mod http1;
mod identity;
mod limits;
mod listeners;
mod neutral;
mod ports;
mod protobuf;
mod purpose;
mod request;
mod sandbox;
mod setup;
mod sockets;
mod standard;
mod stub;
pub mod suite;
mod trace;
pub(crate) mod trying;

pub(crate) use answers::{Pattern, Rule, Service, Stub};
pub(crate) use calls::Call;
pub(crate) use chains::Chain;
pub(crate) use client::Failure;
pub(crate) use draft::drafts;
pub(crate) use grpc::status_name;
pub(crate) use http1::Fields;
pub(crate) use neutral::{LeftOut, Why};
pub(crate) use ports::{inbound_ports, listening_ports};
pub use request::{Protocol, Request, Target, Tls, Wanted, shell};
pub use sandbox::{Coming, Exchange, Host, Sandbox, Settings, Subject};
pub use setup::Scope;
pub use standard::observe;
pub use trace::{Change, Path, Said, Step, changes};
pub(crate) use trying::{Try, try_request};

use crate::model::resource::ResourceKind;
use crate::process::Fault;
use crate::words::few;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Why there is no answer.
#[derive(Debug)]
pub enum Error {
    /// Envoy could not be started.
    Process(Fault),
    /// The program is not Envoy.
    NoEnvoy(PathBuf),
    /// Envoy rejects the configuration, with its message.
    Refused(String),
    /// Envoy ended: how, and its last log lines.
    Died(String, String),
    /// Envoy does not finish something in time.
    Hangs(&'static str, Duration),
    /// A resource that requests need cannot be encoded.
    NotEncoded(ResourceKind, String),
    /// No listener accepts the request; the available targets.
    NoListener(Target, Vec<String>),
    /// No cluster matches a stub's name; the available names.
    UnknownStub(String, Vec<String>),
    /// A problem of this machine or this program.
    Internal(String),
}

impl Error {
    /// Whether the command line is wrong, rather than the configuration or the machine.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            Error::Process(fault) => fault.is_usage(),
            Error::NoEnvoy(_) | Error::NoListener(..) | Error::UnknownStub(..) => true,
            _ => false,
        }
    }

    /// What to do, if known.
    pub(crate) fn help(&self) -> Option<String> {
        let list = |word: &str, names: &[String]| {
            (!names.is_empty()).then(|| format!("{word}: {}", few(names, names.len(), 8)))
        };
        match self {
            Error::NoListener(_, known) => list("this proxy accepts", known),
            Error::UnknownStub(_, known) => list("clusters of this configuration", known),
            Error::Refused(_) => Some("`render --envoy` and `lint --envoy` show which patch causes this".to_owned()),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Process(fault) => write!(out, "{fault}"),
            Error::NoEnvoy(path) => write!(out, "{} is not an Envoy", path.display()),
            Error::Refused(words) => write!(out, "Envoy rejects the configuration: {words}"),
            Error::Died(how, words) if words.is_empty() => write!(out, "Envoy ended with {how}"),
            Error::Died(how, words) => write!(out, "Envoy ended with {how}; its last words: {words}"),
            Error::Hangs(what, time) => write!(out, "Envoy did not {what} within {} s", time.as_secs()),
            Error::NotEncoded(kind, name) => write!(out, "{} {name} contains a type of no known schema", kind.as_str()),
            Error::NoListener(target, _) => write!(out, "no listener accepts requests for {target}"),
            Error::UnknownStub(name, _) => write!(out, "no cluster matches the stub `{name}`"),
            Error::Internal(words) => out.write_str(words),
        }
    }
}

impl std::error::Error for Error {}
