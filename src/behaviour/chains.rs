//! Filter chains and routes as requests and reports see them.

use super::asks::{Ask, Written, written};
use super::purpose::{Purpose, RouteSetting, route_settings};
use crate::engine::PatchId;
use crate::proto::json;
use crate::proto::tree::Tree;
use serde_json::json;

/// An HTTP filter as reports show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpFilter {
    /// Its name.
    pub name: String,
    /// The message that configures it.
    pub type_name: String,
    /// The patch that inserted or changed it.
    pub by: Option<PatchId>,
    /// Every patch that wrote something in it.
    pub writers: Vec<PatchId>,
    /// Whether a patch inserted all of it.
    pub inserted: bool,
    /// Clusters that its configuration names.
    pub clusters: Vec<String>,
    /// Its purpose.
    pub purpose: Purpose,
    /// The requests derived from it, if a patch wrote something in it.
    pub asks: Vec<Ask>,
}

/// A network filter that patches wrote something in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkFilter {
    /// Its name.
    pub name: String,
    /// Every patch that wrote something in it.
    pub writers: Vec<PatchId>,
    /// Its purpose.
    pub purpose: Purpose,
}

/// A filter chain with an HTTP connection manager or a TCP proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The listener.
    pub listener: String,
    /// Its index in the listener; `None` for the default filter chain.
    pub index: Option<usize>,
    /// Its name; often empty.
    pub name: String,
    /// Its network filters.
    pub network: Vec<String>,
    /// Those that patches wrote something in, and whose purpose requests can check.
    pub changed: Vec<NetworkFilter>,
    /// Its HTTP filters; empty without an HTTP connection manager.
    pub http: Vec<HttpFilter>,
    /// Whether it accepts TLS.
    pub tls: bool,
    /// Server names that it matches.
    pub server_names: Vec<String>,
    /// Application protocols that it matches.
    pub protocols: Vec<String>,
    /// Destination port that it matches.
    pub port: Option<u16>,
    /// Every patch that wrote something in it outside its HTTP filters.
    pub writers: Vec<PatchId>,
}

/// A route that requests can take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Its route configuration.
    pub config: String,
    /// Its virtual host.
    pub vhost: String,
    /// Its index there.
    pub index: usize,
    /// Its name; often empty.
    pub name: String,
    /// Every patch that wrote something in it, its virtual host or its route configuration.
    pub writers: Vec<PatchId>,
    /// Settings for HTTP filters of the route, its virtual host and its route configuration, the route's own first.
    pub settings: Vec<RouteSetting>,
    /// Whether it or its virtual host has descriptors for a rate limit service.
    pub limited: bool,
    /// The descriptors that it or its virtual host produces; `None` for those that depend on more than the request.
    pub written: Vec<Option<Written>>,
}

/// Metadata namespace that identifies routes.
pub(super) const MARK: &str = "kubectl.envoyfilter";

/// Every patch that wrote something in a node.
pub(super) fn writers(tree: &Tree<'_>) -> Vec<PatchId> {
    tree.origins().into_iter().filter_map(PatchId::of).collect()
}

/// The same without the content of a key, at any depth.
pub(super) fn writers_but(tree: &Tree<'_>, key: &str) -> Vec<PatchId> {
    fn collect(tree: &Tree<'_>, key: &str, into: &mut Vec<PatchId>) {
        if let Some(id) = PatchId::of(tree.origin).filter(|id| !into.contains(id)) {
            into.push(id);
        }
        tree.items().iter().for_each(|item| collect(item, key, into));
        tree.entries().iter().filter(|(name, _)| name != key).for_each(|(_, value)| collect(value, key, into));
    }
    let mut all = Vec::new();
    collect(tree, key, &mut all);
    all
}

/// Whether a virtual host or a route action has descriptors for a rate limit service.
fn limits(owner: &Tree<'_>) -> bool {
    owner.get("rate_limits").is_some_and(|list| !list.items().is_empty())
}

/// The descriptors that a virtual host or a route action produces.
fn rate_limits(owner: &Tree<'_>) -> Vec<Option<Written>> {
    owner.get("rate_limits").map(Tree::items).unwrap_or_default().iter().map(written).collect()
}

/// Whether a setting for the rate limit filter has descriptors.
fn per_route_limits(owner: &Tree<'_>) -> bool {
    let settings = owner.get("typed_per_filter_config").map(Tree::entries).unwrap_or_default();
    settings.iter().any(|(_, setting)| limits(&setting.readable()))
}

/// Records in every route its virtual host and index; returns the routes.
pub(super) fn mark_routes(config: &mut Tree<'_>) -> Vec<Route> {
    let name = config.name().to_owned();
    let of_config = writers_but(config, "virtual_hosts");
    let config_settings = route_settings(config, 2);
    let of_config_limited = per_route_limits(config);
    let mut all = Vec::new();
    let hosts = config.get_mut("virtual_hosts").and_then(Tree::items_mut);
    for host in hosts.into_iter().flatten() {
        let host_name = host.name().to_owned();
        let of_host = writers_but(host, "routes");
        let host_settings = route_settings(host, 1);
        let host_written = rate_limits(host);
        let host_limited = limits(host) || per_route_limits(host) || of_config_limited;
        let routes = host.get_mut("routes").and_then(Tree::items_mut);
        for (index, route) in routes.into_iter().flatten().enumerate() {
            let mut of_route = writers(route);
            let by = of_route.first().map_or(-1, |id| i64::from(id.0));
            of_route.extend(of_host.iter().chain(&of_config).copied());
            let own = route.get("route").map(rate_limits).unwrap_or_default();
            all.push(Route {
                written: if own.is_empty() { host_written.clone() } else { own },
                config: name.clone(),
                vhost: host_name.clone(),
                index,
                name: route.name().to_owned(),
                writers: of_route,
                limited: host_limited || route.get("route").is_some_and(limits) || per_route_limits(route),
                settings: route_settings(route, 0)
                    .into_iter()
                    .chain(host_settings.iter().cloned())
                    .chain(config_settings.iter().cloned())
                    .collect(),
            });
            let mark = json::from_json(
                &json!({"config": name, "vhost": host_name, "index": index.to_string(), "by": by.to_string()}),
            );
            let mut metadata = route.remove("metadata").unwrap_or_else(Tree::empty);
            let mut fields = metadata.remove("filter_metadata").unwrap_or_else(Tree::empty);
            fields.set(MARK, mark);
            metadata.set("filter_metadata", fields);
            route.set("metadata", metadata);
        }
    }
    all
}
