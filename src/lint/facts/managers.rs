//! The HTTP connection managers of a proxy whose lists of filters patches changed.

use super::context::{Knowledge, PatchRun, ProxyRun};
use super::seen::{config_type, filter_chains};
use crate::engine::PatchId;
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use std::collections::HashSet;

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
        for chain in filter_chains(whole) {
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

/// Types of rate limit filters, for which routes have actions.
const LIMITS: [&str; 2] = [".local_ratelimit.v3.LocalRateLimit", ".ratelimit.v3.RateLimit"];

/// Whether an HTTP filter limits rates.
pub(crate) fn is_rate_limit(filter: &Tree<'_>) -> bool {
    let kind = config_type(filter);
    LIMITS.iter().any(|limit| kind.ends_with(limit))
}

/// The resources that a patch changed.
pub(crate) struct Changed<'r>(HashSet<(ResourceKind, &'r str)>);

impl<'r> Changed<'r> {
    pub(crate) fn by(run: &'r PatchRun<'_, '_>) -> Changed<'r> {
        let places = run.trace.effects.iter().filter(|(_, effect)| effect.changes()).map(|(place, _)| place);
        Changed(places.map(|place| (place.kind, &*place.resource)).collect())
    }

    /// Whether one of them contains the routes of a connection manager: of a listener, with or without a route configuration.
    pub(crate) fn has_routes_of(&self, listener: &str, routes: Option<&str>) -> bool {
        self.0.contains(&routes.map_or((ResourceKind::Listener, listener), |name| (ResourceKind::Route, name)))
    }

    /// The same as far as it is known: a reference configuration does not share names with a proxy, so any routes in listeners
    /// (inbound) or any in route configurations (outbound) count.
    pub(crate) fn may_have_routes_of(&self, knowledge: Knowledge, listener: &str, routes: Option<&str>) -> bool {
        let kind = if routes.is_some() { ResourceKind::Route } else { ResourceKind::Listener };
        match knowledge {
            Knowledge::Dump => self.has_routes_of(listener, routes),
            Knowledge::Reference => self.0.iter().any(|(changed, _)| *changed == kind),
        }
    }
}
