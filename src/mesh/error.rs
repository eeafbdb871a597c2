//! Why a question has no answer.

use super::Unanswered;
#[cfg(feature = "cluster")]
use crate::cluster::{Fault, Unreachable};
use crate::source::Problem;
use crate::trial::Trouble;
use std::path::PathBuf;
use std::{fmt, io};

/// Why a question has no answer. Callers decide what it means for the exit code.
#[derive(Debug)]
pub enum Error {
    /// The request lacks something, or its parts exclude each other.
    Request(Refusal),
    /// Nothing has the requested name.
    NotFound(Unanswered),
    /// Several things have the name.
    Ambiguous {
        /// How the name was given.
        name: String,
        /// The objects with that name, `namespace/name`.
        found: Vec<String>,
    },
    /// A configuration, a rule or a capture cannot be used.
    Unusable(Unanswered),
    /// A file other than the EnvoyFilters cannot be read or written.
    File(Problem),
    /// A text in the request cannot be parsed: a selector, a field, an expression, a path of releases.
    Text {
        /// What is wrong with it.
        message: String,
        /// What to write instead.
        help: Option<String>,
    },
    /// A baseline cannot be read.
    Baseline {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No cluster can be reached with the kubeconfig and the options.
    NoCluster(String),
    /// The cluster gave no answer.
    #[cfg(feature = "cluster")]
    Cluster {
        /// What is wrong, with the server, and what to do.
        unreachable: Unreachable,
        /// Why.
        fault: Fault,
    },
    /// The given Envoy cannot be used.
    Envoy(Trouble),
    /// The given istiod does not answer.
    #[cfg(feature = "bottle")]
    Istiod(crate::bottle::Fault),
    /// The result cannot be written.
    Output(io::Error),
}

/// What fixes cannot be written into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfixable {
    /// A cluster.
    Cluster,
    /// The built-in demo.
    Demo,
    /// What another program rendered.
    Rendered,
}

/// What is wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No file, dump or cluster to lint.
    NothingToLint,
    /// Dumps are required but none was given.
    NoProxy,
    /// EnvoyFilters are required but none was given.
    NoFilters,
    /// Neither a dump nor a pod to render.
    NoDump,
    /// No proxy to send requests through.
    NoSubject,
    /// Nothing to compare.
    NothingToCompare,
    /// Two inputs are standard input.
    StandardInputTwice,
    /// Fixes are requested for something other than files.
    FixesNeedFiles(Unfixable),
    /// Selectors are used with a capture.
    SelectorNeedsCluster,
    /// More than one dump to render.
    SeveralDumps,
    /// Reports are requested for a capture or a selection.
    ReportNeedsCluster,
    /// The input of `capture` is a capture.
    CaptureOfCapture,
    /// A capture is given for a question about files.
    CaptureNotRead,
    /// A context is given for a question about files.
    ContextNotRead,
    /// An istiod is given for input that it does not generate.
    IstiodNeedsManifests,
}

impl Refusal {
    const fn words(self) -> (&'static str, Option<&'static str>) {
        match self {
            Refusal::NothingToLint => (
                "nothing to lint",
                Some("name files or folders, - for standard input; `lint --demo` shows what it does"),
            ),
            Refusal::NoProxy => {
                ("no proxy to look at", Some("give a config dump with --dump, or no file to read the cluster"))
            }
            Refusal::NoFilters => ("no EnvoyFilters given", Some("give them with -f FILE")),
            Refusal::NoDump => (
                "no config dump to render",
                Some("give the proxy's config dump with --dump, or name a pod of the cluster"),
            ),
            Refusal::NoSubject => (
                "no proxy is given",
                Some("name a pod of the cluster, or give a config dump with --dump, or use --demo"),
            ),
            Refusal::NothingToCompare => {
                ("nothing to compare", Some("give EnvoyFilters with -f FILE, or --delete NAMESPACE/NAME"))
            }
            Refusal::StandardInputTwice => {
                ("standard input (-) is given twice but can be read only once", Some("give one of them as a file"))
            }
            Refusal::FixesNeedFiles(Unfixable::Cluster) => (
                "cannot fix EnvoyFilters in a cluster",
                Some("--diff shows what would change; fix the files that the cluster is deployed from"),
            ),
            Refusal::FixesNeedFiles(Unfixable::Demo) => {
                ("cannot fix the built-in demo", Some("--diff shows what would change"))
            }
            Refusal::FixesNeedFiles(Unfixable::Rendered) => (
                "cannot write fixes into a rendered chart or kustomization",
                Some("lint it without --fix: the findings say which file to edit"),
            ),
            Refusal::SelectorNeedsCluster => ("-l and --field-selector need an API server; a capture has none", None),
            Refusal::SeveralDumps => ("render takes one config dump; only the first was rendered", None),
            Refusal::CaptureOfCapture => ("capture reads a cluster, not another capture", Some("drop --capture")),
            Refusal::CaptureNotRead => (
                "--capture cannot be combined with files, --dump or --demo: only those would be read",
                Some("leave out --capture, or the files and config dumps"),
            ),
            Refusal::ContextNotRead => (
                "--context cannot be combined with files, --dump or --demo: no cluster would be read",
                Some("leave out --context, or the files and config dumps"),
            ),
            Refusal::IstiodNeedsManifests => (
                "--istiod generates what proxies get from the objects of a mesh; a config dump has that already",
                Some("leave --dump and --demo out: give manifests as files, --capture, or neither for the cluster"),
            ),
            Refusal::ReportNeedsCluster => (
                "reports cover the whole cluster, not a capture or a selection",
                Some("without a selection, every EnvoyFilter gets a report; -n reports on one namespace"),
            ),
        }
    }
}

impl Error {
    /// What to do about it.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Error::Request(refusal) => refusal.words().1.map(str::to_owned),
            Error::NotFound(unanswered) | Error::Unusable(unanswered) => unanswered.help.clone(),
            Error::Ambiguous { found, .. } => Some(format!("use one of {}", found.join(", "))),
            Error::Text { help, .. } => help.clone(),
            Error::File(problem) => problem.help.clone(),
            Error::Baseline { .. } => Some("--update-baseline writes one".to_owned()),
            Error::NoCluster(_) => Some(
                "work without a cluster (files, --dump, or --demo to try it), or choose one with --kubeconfig or --context"
                    .to_owned(),
            ),
            #[cfg(feature = "cluster")]
            Error::Cluster { unreachable, .. } => Some(unreachable.help.clone()),
            Error::Envoy(_) => Some("--envoy takes the path of an Envoy binary".to_owned()),
            #[cfg(feature = "bottle")]
            Error::Istiod(fault) => fault.help().map(str::to_owned),
            Error::Output(_) => None,
        }
    }

    /// What was read before the failure, and what could not be.
    pub(crate) fn unanswered(&self) -> Option<&Unanswered> {
        match self {
            Error::NotFound(unanswered) | Error::Unusable(unanswered) => Some(unanswered),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Request(refusal) => out.write_str(refusal.words().0),
            Error::NotFound(unanswered) | Error::Unusable(unanswered) => out.write_str(&unanswered.message),
            Error::Ambiguous { name, found } => write!(out, "{} EnvoyFilters are named {name}", found.len()),
            Error::File(problem) => out.write_str(&problem.message),
            Error::Text { message, .. } => out.write_str(message),
            Error::Baseline { path, reason } => write!(out, "cannot use the baseline {}: {reason}", path.display()),
            Error::NoCluster(reason) => write!(out, "no cluster to read: {reason}"),
            #[cfg(feature = "cluster")]
            Error::Cluster { unreachable, .. } => out.write_str(&unreachable.message),
            Error::Envoy(trouble) => out.write_str(&trouble.message),
            #[cfg(feature = "bottle")]
            Error::Istiod(fault) => write!(out, "{fault}"),
            Error::Output(error) => write!(out, "cannot write the output: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Output(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Output(error)
    }
}

#[cfg(feature = "bottle")]
impl From<crate::bottle::Fault> for Error {
    fn from(fault: crate::bottle::Fault) -> Error {
        Error::Istiod(fault)
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        Error::Request(refusal)
    }
}

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Error {
        Error::Envoy(trouble)
    }
}
