//! The order of filters, and what decided it.

use crate::engine::MeshSettings;
use crate::engine::compat::{Behaviour, Compat};
use crate::model::envoy_filter::EnvoyFilter;

/// What puts a filter after another: the first of istiod's four keys in which they differ.
pub(super) fn reason(before: &EnvoyFilter, after: &EnvoyFilter, mesh: &MeshSettings, compat: Compat) -> &'static str {
    let in_root = |filter: &EnvoyFilter| filter.namespace == mesh.root_namespace;
    let apart = !compat.has(Behaviour::PriorityAcrossNamespaces) && in_root(before) != in_root(after);
    if before.priority != after.priority && !apart {
        "priority"
    } else if in_root(before) != in_root(after) {
        "root-namespace"
    } else if before.created != after.created {
        "creation-time"
    } else {
        "name"
    }
}
