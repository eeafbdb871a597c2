//! What an answer was made from: what was read, of how much, and what was not.

use super::planes::Plane;
use crate::cluster::facts::Facts;
use crate::source::{Code, Problem, Severity};
use serde::Serialize;
use std::path::PathBuf;

/// What an answer is about and what it was made from. Every report carries one; nothing may read as an all-clear without.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scope {
    /// Where objects and proxies come from.
    pub origin: Origin,
    /// The namespaces that were looked at; absent: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<Vec<String>>,
    /// The control planes that judge the proxies; the release and the root namespace that are taken for files.
    pub control_planes: Vec<PlaneScope>,
    /// The EnvoyFilters that are judged.
    pub filters: usize,
    /// The proxies.
    pub proxies: ProxyScope,
    /// What could not be read.
    pub unread: Vec<Unread>,
}

/// Where objects and proxies come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Origin {
    /// Files that were named.
    #[default]
    Files,
    /// The mesh in the program.
    Demo,
    /// A cluster, by its context.
    Cluster {
        /// The context.
        context: String,
    },
    /// Objects, and proxies from an istiod that ran on this machine.
    #[serde(rename_all = "camelCase")]
    Istiod {
        /// What the binary says of itself.
        version: String,
        /// Objects that it was shown.
        objects: usize,
        /// Objects among them that were made here because a cluster would have them.
        stand_ins: usize,
        /// The cluster or the capture that has the others; files without.
        #[serde(skip_serializing_if = "Option::is_none")]
        of: Option<Box<Origin>>,
    },
    /// A capture or a bug report.
    Capture {
        /// Where it is.
        path: PathBuf,
    },
}

/// A control plane as it is modelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlaneScope {
    /// Its revision; absent for files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The release that is modelled for it.
    pub release: String,
    /// Its root namespace.
    pub root_namespace: String,
    /// Whether its mesh config was read; the root namespace is the default or given by the user otherwise.
    pub mesh_config: bool,
}

/// How many proxies were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProxyScope {
    /// Config dumps that were read.
    pub read: usize,
    /// Config dumps that the answer is about: one for each template, or one for each pod.
    pub of: usize,
    /// The pods they stand for.
    pub pods: usize,
}

/// Something that could not be read, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unread {
    /// What kind of trouble.
    pub code: Code,
    /// In words.
    pub message: String,
}

impl Scope {
    /// Control planes as they are modelled.
    pub fn planes(planes: &[Plane], facts: &Facts) -> Vec<PlaneScope> {
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

    /// What could not be read, of all that was noticed.
    pub fn unread<'p>(problems: impl Iterator<Item = &'p Problem>) -> Vec<Unread> {
        let unread = problems.filter(|problem| {
            problem.span.is_none() && (problem.severity == Severity::Error || problem.code.is_unread())
        });
        unread.map(|problem| Unread { code: problem.code, message: problem.message.clone() }).collect()
    }

    /// Whether everything that the answer is about was read.
    pub fn is_complete(&self) -> bool {
        self.unread.is_empty() && self.proxies.read == self.proxies.of
    }

    /// Whether nothing at all could be judged, though there may be something to judge.
    pub fn is_empty(&self) -> bool {
        self.filters == 0 && !self.unread.is_empty()
    }
}
