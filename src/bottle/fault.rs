//! Errors of the bottle.

use crate::process;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// An object that istiod cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Its kind, namespace and name, in readable form.
    pub object: String,
    /// The reason, in istiod's words.
    pub why: String,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Fault {
    /// istiod runs on Linux only.
    OtherSystem,
    /// No binary was given, and none is on the `PATH`.
    NotGiven,
    /// The program cannot be started.
    Process(process::Fault),
    /// The program does not identify itself as istiod.
    NotIstiod(PathBuf, String),
    /// A release that is not supported: path, version.
    TooOld(PathBuf, String),
    /// The file is not the expected one: path, its digest.
    OtherDigest(PathBuf, String),
    /// It ended: how, and its last log lines.
    Ended(process::Ended, Vec<String>),
    /// It cannot read objects of a kind: the kind, the reason, and the objects, as far as they were found.
    Unreadable(String, String, Vec<Unreadable>),
    /// A file cannot be written to its folder.
    Folder(PathBuf, std::io::Error),
    /// It was not ready in time; its last log lines.
    NotReady(Duration, Vec<String>),
    /// It was ready, but its Gateways of the Gateway API were not complete in time; its last log lines.
    NotSettled(Duration, Vec<String>),
    /// The API server could not be started.
    Server(std::io::Error),
    /// The connection to istiod broke; its last log lines.
    Connection(String),
    /// istiod rejected a request: gRPC status code and message.
    Refused(u32, String),
    /// istiod did not answer a request in time: the request.
    NoAnswer(&'static str, Duration),
    /// A resource could not be decoded: type and name.
    Undecodable(String, String),
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = |lines: &[String]| match lines {
            [] => "it wrote nothing".to_owned(),
            lines => format!("its last words: {}", lines.join(" | ")),
        };
        match self {
            Fault::OtherSystem => out.write_str("istiod runs on Linux only"),
            Fault::NotGiven => out.write_str("no istiod: neither --istiod nor a pilot-discovery on the PATH"),
            Fault::Process(fault) => write!(out, "{fault}"),
            Fault::NotIstiod(path, why) => write!(out, "{} is not an istiod: {why}", path.display()),
            Fault::TooOld(path, version) => {
                write!(out, "{} is istiod {version}; the oldest supported release is 1.22", path.display())
            }
            Fault::OtherDigest(path, digest) => {
                write!(out, "{} has the SHA-256 digest {digest}, not the one of --istiod-sha256", path.display())
            }
            Fault::Ended(ended, lines) => write!(out, "istiod ended with {ended}; {}", last(lines)),
            Fault::Unreadable(kind, why, objects) if objects.is_empty() => {
                write!(out, "istiod cannot read an object of kind {kind}: {why}")
            }
            Fault::Unreadable(_, _, objects) => {
                let reasons: Vec<String> = objects.iter().map(|one| format!("{}: {}", one.object, one.why)).collect();
                write!(out, "istiod cannot read {}", reasons.join("; "))
            }
            Fault::Folder(path, error) => write!(out, "cannot write {}: {error}", path.display()),
            Fault::NotReady(limit, lines) => {
                write!(out, "istiod was not ready within {} s; {}", limit.as_secs(), last(lines))
            }
            Fault::NotSettled(limit, lines) => write!(
                out,
                "istiod was still updating its Gateways of the Gateway API {} s after it was ready; {}",
                limit.as_secs(),
                last(lines)
            ),
            Fault::Server(error) => write!(out, "cannot start the API server for istiod: {error}"),
            Fault::Connection(why) => write!(out, "the connection to istiod broke: {why}"),
            Fault::Refused(status, text) => write!(out, "istiod refused the request (gRPC status {status}): {text}"),
            Fault::NoAnswer(what, limit) => write!(out, "istiod sent no {what} within {} s", limit.as_secs()),
            Fault::Undecodable(kind, name) => {
                write!(out, "istiod sent a {kind} ({name}) that does not decode with the types of its release")
            }
        }
    }
}

impl std::error::Error for Fault {}

impl From<process::Fault> for Fault {
    fn from(fault: process::Fault) -> Fault {
        Fault::Process(fault)
    }
}

impl Fault {
    /// Whether the given program is not an istiod that can run here, which makes it a usage error.
    pub(crate) const fn is_usage(&self) -> bool {
        match self {
            Fault::OtherSystem
            | Fault::NotGiven
            | Fault::NotIstiod(..)
            | Fault::TooOld(..)
            | Fault::OtherDigest(..) => true,
            Fault::Process(fault) => fault.is_usage(),
            _ => false,
        }
    }

    /// What to do about it.
    pub(crate) fn help(&self) -> Option<&'static str> {
        Some(match self {
            Fault::OtherSystem => "run this in a Linux container, with istiod from the image of your release",
            Fault::NotGiven | Fault::NotIstiod(..) | Fault::Process(process::Fault::NotFound(_)) => {
                "get it from the image of your release: docker create --name i istio/pilot:1.31.0 && \
                 docker cp i:/usr/local/bin/pilot-discovery ."
            }
            Fault::TooOld(..) => "use istiod 1.22 or newer",
            Fault::Process(process::Fault::OtherArchitecture { .. }) => {
                "pull the image for this machine: docker pull --platform"
            }
            Fault::Ended(process::Ended::Memory(_), _) => "give it more with --istiod-memory",
            Fault::Unreadable(..) => {
                "fix it: an API server would reject it, and istiod reads no other object of its kind until then"
            }
            Fault::Folder(..) | Fault::Process(process::Fault::NoFolder(..)) => {
                "free disk space there, or set TMPDIR to another folder"
            }
            Fault::NotReady(..) | Fault::NotSettled(..) => "give it more time with --istiod-timeout",
            _ => return None,
        })
    }
}
