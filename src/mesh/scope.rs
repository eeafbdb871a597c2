//! The basis of an answer: what was read, of how much, and what was not.

use super::planes::Plane;
use crate::cluster::facts::Facts;
use crate::explain::Lenders;
use crate::lint::document;
use crate::source::{Code, Problem, Severity, Sources};
use serde::Serialize;
use std::path::PathBuf;

/// The subject and basis of an answer. Every report contains one; without it, nothing may read as an all-clear.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scope {
    /// The source of objects and proxies.
    pub origin: Origin,
    /// The namespaces that were read; absent: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<Vec<String>>,
    /// The control planes that judge the proxies; for files, the assumed release and root namespace.
    pub control_planes: Vec<PlaneScope>,
    /// The EnvoyFilters that are judged.
    pub filters: usize,
    /// The proxies.
    pub proxies: ProxyScope,
    /// What could not be read.
    pub unread: Vec<Unread>,
    /// The proxies out of scope that may have what a config dump in scope lacks.
    #[serde(skip)]
    pub lenders: Lenders,
}

/// The source of objects and proxies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Origin {
    /// Given files.
    #[default]
    Files,
    /// The built-in demo mesh.
    Demo,
    /// A cluster, by its context.
    Cluster {
        /// The context.
        context: String,
    },
    /// Objects, and proxies from an istiod that ran on this machine.
    #[serde(rename_all = "camelCase")]
    Istiod {
        /// The version reported by the binary.
        version: String,
        /// Objects that it was given.
        objects: usize,
        /// Number of those objects that were made up because a cluster would have them.
        stand_ins: usize,
        /// The cluster or the capture that has the others; absent for files.
        #[serde(skip_serializing_if = "Option::is_none")]
        of: Option<Box<Origin>>,
    },
    /// A capture or a bug report.
    Capture {
        /// Where it is.
        path: PathBuf,
    },
}

/// A control plane as modeled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlaneScope {
    /// Its revision; absent for files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The release modeled for it.
    pub release: String,
    /// Its root namespace.
    pub root_namespace: String,
    /// Whether its mesh config was read; otherwise the root namespace is the default or given by the user.
    pub mesh_config: bool,
}

/// How many proxies were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProxyScope {
    /// Config dumps that were read.
    pub read: usize,
    /// Config dumps in scope: one for each pod template, or one for each pod.
    pub of: usize,
    /// The pods they represent.
    pub pods: usize,
}

/// Something that could not be read, and the consequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unread {
    /// What kind of problem.
    pub code: Code,
    /// In words.
    pub message: String,
}

impl Scope {
    /// Control planes as modeled.
    pub(crate) fn planes(planes: &[Plane], facts: &Facts) -> Vec<PlaneScope> {
        let read = |plane: &Plane| {
            let of =
                plane.revision.as_deref().and_then(|revision| facts.planes.iter().find(|it| it.revision == revision));
            of.is_some_and(|plane| plane.mesh_config)
        };
        let scope = |plane: &Plane| PlaneScope {
            revision: plane.revision.clone(),
            release: plane.release.to_string(),
            root_namespace: plane.mesh.root_namespace.clone(),
            mesh_config: read(plane),
        };
        planes.iter().map(scope).collect()
    }

    /// The problems about input that could not be read; with `sources`, also the documents in them.
    pub(crate) fn unread<'p>(problems: impl Iterator<Item = &'p Problem>, sources: Option<&Sources>) -> Vec<Unread> {
        let unread = problems.filter_map(|problem| {
            let message = match problem.span {
                None if problem.severity == Severity::Error || problem.code.is_unread() => problem.message.clone(),
                Some(span) if document::is_unread(problem) => {
                    format!("{}: {}", sources?.place(span), problem.message)
                }
                _ => return None,
            };
            Some(Unread { code: problem.code, message })
        });
        unread.collect()
    }

    /// Whether everything in scope was read.
    pub(crate) fn is_complete(&self) -> bool {
        self.unread.is_empty() && self.proxies.read == self.proxies.of
    }

    /// Whether nothing could be judged, although there may be something to judge.
    pub(crate) fn is_empty(&self) -> bool {
        self.filters == 0 && !self.unread.is_empty()
    }
}
