//! The HTTP connection managers of a proxy whose lists of filters patches changed.

use super::context::ProxyRun;
use crate::engine::PatchId;
use crate::proto::tree::Tree;

/// An HTTP connection manager.
pub(crate) struct Manager<'r> {
    /// The name of its listener.
    pub listener: &'r str,
    /// The listener.
    pub whole: &'r Tree<'r>,
    /// The network filters before it.
    pub before: &'r [Tree<'r>],
    /// The name of its route configuration; `None` if the listener contains its routes.
    pub routes: Option<String>,
    /// Its configuration.
    pub config: &'r Tree<'r>,
    /// Its HTTP filters.
    pub filters: &'r [Tree<'r>],
}

/// The managers with HTTP filters of patches; unchanged parts of the dump are not parsed.
pub(crate) fn changed<'r>(run: &'r ProxyRun<'_>) -> Vec<Manager<'r>> {
    let mut found = Vec::new();
    for (listener, whole) in run.changed_listeners() {
        let chains = whole.get("filter_chains").map(Tree::items).unwrap_or_default();
        for chain in chains.iter().chain(whole.get("default_filter_chain")) {
            let network = chain.get("filters").map(Tree::items).unwrap_or_default();
            for (at, filter) in network.iter().enumerate() {
                let Some(config) = filter.get("typed_config") else { continue };
                let Some(filters) = config.get("http_filters").map(Tree::items) else { continue };
                if filters.iter().any(|filter| PatchId::of(filter.origin).is_some()) {
                    let rds = config.get("rds").map(Tree::readable);
                    let routes = rds.map(|rds| rds.str_at("route_config_name").to_owned());
                    found.push(Manager { listener, whole, before: &network[..at], routes, config, filters });
                }
            }
        }
    }
    found
}
