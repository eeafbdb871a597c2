//! Why the bottle gives no answer.

use super::refusal::Unreadable;
use crate::process;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Why there is no answer.
#[derive(Debug)]
pub enum Fault {
    /// istiod runs on Linux only.
    OtherSystem,
    /// No binary was named, and none is on the `PATH`.
    NotGiven,
    /// The program cannot be started.
    Process(process::Fault),
    /// The program does not say that it is an istiod.
    NotIstiod(PathBuf, String),
    /// A release that is not supported: path, version.
    TooOld(PathBuf, String),
    /// The file is not the one that was asked for: path, its digest.
    OtherDigest(PathBuf, String),
    /// It ended: how, and its last words.
    Ended(process::Ended, Vec<String>),
    /// It cannot read objects of a kind: the kind, why, and which objects, as far as that was found out.
    Unreadable(String, String, Vec<Unreadable>),
    /// A file for it cannot be written into its folder.
    Folder(PathBuf, std::io::Error),
    /// It was not ready within this time; its last words.
    NotReady(Duration, Vec<String>),
    /// The API server could not be started.
    Server(std::io::Error),
    /// The connection to istiod broke; its last words.
    Connection(String),
    /// istiod refused what was asked: number of the gRPC status and its text.
    Refused(u32, String),
    /// istiod did not answer a request within this time: what was asked for.
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
            Fault::OtherDigest(path, digest) => write!(out, "{} has the SHA-256 digest {digest}", path.display()),
            Fault::Ended(ended, lines) => write!(out, "istiod ended with {ended}; {}", last(lines)),
            Fault::Unreadable(kind, why, objects) if objects.is_empty() => {
                write!(out, "istiod cannot read an object of kind {kind}: {why}")
            }
            Fault::Unreadable(_, _, objects) => {
                let told: Vec<String> = objects.iter().map(|one| format!("{}: {}", one.object, one.why)).collect();
                write!(out, "istiod cannot read {}", told.join("; "))
            }
            Fault::Folder(path, error) => write!(out, "cannot write {}: {error}", path.display()),
            Fault::NotReady(limit, lines) => {
                write!(out, "istiod was not ready within {} s; {}", limit.as_secs(), last(lines))
            }
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
    /// Whether what was named is no istiod that can run here: then it is the command line that is wrong.
    pub const fn is_usage(&self) -> bool {
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
    pub fn help(&self) -> Option<&'static str> {
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
                "correct it: an API server would not take it, and istiod reads no other object of its kind beside it"
            }
            Fault::Folder(..) | Fault::Process(process::Fault::NoFolder(..)) => {
                "make room there, or set TMPDIR to another folder"
            }
            Fault::NotReady(..) => "give it more time with --istiod-timeout",
            _ => return None,
        })
    }
}
