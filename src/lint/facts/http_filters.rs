//! The HTTP filters of a proxy, by name and by the routes that they read.

use crate::engine::PatchId;
use std::collections::{BTreeMap, BTreeSet};

/// An HTTP filter.
#[derive(Debug)]
pub(super) struct HttpFilter {
    /// The type of its configuration.
    pub(super) kind: String,
    /// The patch that inserted it.
    pub(super) by: Option<PatchId>,
}

/// The HTTP filters of a proxy after all patches.
#[derive(Debug, Default)]
pub(super) struct HttpFilters {
    /// By name.
    pub(super) all: BTreeMap<String, HttpFilter>,
    /// The names for each connection manager with other routes: its listener if that contains them, or their name.
    pub(super) by_routes: BTreeMap<(String, Option<String>), BTreeSet<String>>,
}
