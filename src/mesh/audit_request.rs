//! What `audit` is asked.

use super::proxies::Given as Dumps;
use super::settings::{IstiodSettings, Settings};
use crate::model::release::Release;
use std::path::PathBuf;

/// Which upgrade is audited.
#[derive(Clone, Debug)]
pub struct AuditRequest {
    /// The mesh.
    pub settings: Settings,
    /// Config dumps; with `demo` the demo's filters where no file is named.
    pub given: Dumps,
    /// EnvoyFilters and what they are about: files, folders, `-`. The cluster's without.
    pub files: Vec<PathBuf>,
    /// An Envoy binary to ask about the target.
    pub envoy: Option<PathBuf>,
    /// The release to upgrade to.
    pub to: Release,
    /// The release that runs now; what the cluster or the dumps say without.
    pub from: Option<Release>,
    /// Releases on the way; every minor release without.
    pub path: Vec<Release>,
    /// Names of the revisions, old and new; empty where they are not known.
    pub revisions: (String, String),
    /// Whether fixes that change the meaning go into the rewritten filters.
    pub unsafe_fixes: bool,
    /// Istiods of releases on the way, which compute what is forecast otherwise, each with the release it must be of.
    pub istiods: Vec<(Option<Release>, IstiodSettings)>,
    /// Also what changes although no EnvoyFilter is concerned.
    pub all_changes: bool,
}
