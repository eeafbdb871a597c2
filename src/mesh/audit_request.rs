//! The request of `audit`.

use super::proxies::Given as Dumps;
use super::settings::{IstiodSettings, Settings};
use crate::model::release::Release;
use std::path::PathBuf;

/// The upgrade to audit.
#[derive(Clone, Debug)]
pub(crate) struct AuditRequest {
    /// The mesh.
    pub settings: Settings,
    /// Config dumps; with `demo`, the demo's filters if no file is given.
    pub given: Dumps,
    /// EnvoyFilters and related objects: files, folders, `-`. Without them, the cluster's.
    pub files: Vec<PathBuf>,
    /// An Envoy binary to ask about the target.
    pub envoy: Option<PathBuf>,
    /// The release to upgrade to; by default the newest of `istiods`.
    pub to: Option<Release>,
    /// The current release; by default that of the cluster or the dumps, or the oldest of `istiods` if these generate the
    /// current configuration.
    pub from: Option<Release>,
    /// Releases on the way; by default every minor release.
    pub path: Vec<Release>,
    /// Names of the revisions, old and new; empty if unknown.
    pub revisions: (String, String),
    /// Whether fixes that change the meaning go into the rewritten filters.
    pub unsafe_fixes: bool,
    /// Istiods of releases on the way, which replace forecasts, each with its expected release.
    pub istiods: Vec<(Option<Release>, IstiodSettings)>,
    /// Whether to include changes that are independent of EnvoyFilters.
    pub all_changes: bool,
}
