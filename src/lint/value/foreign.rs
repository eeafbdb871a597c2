//! A value that is an object of another kind than its patch's `applyTo`.

use super::Object;
use crate::envoy;
use crate::proto::schema::Schema;
use crate::proto::tree::type_name;

/// What a value is instead of an object of its patch's kind.
#[derive(Clone, Copy)]
pub(crate) enum Foreign {
    /// A filter: what it is called, its `applyTo`, and whether routes may configure it where the patch is.
    Filter(&'static str, &'static str, bool),
    /// The settings of a filter for routes: their type and the name of the filter.
    ForRoutes(&'static str, &'static str),
    /// An object of a route configuration: what it is called, and its `applyTo`.
    OfRoutes(&'static str, &'static str),
}

impl Foreign {
    /// What is wrong with such a value.
    pub(crate) fn what(self, apply_to: impl std::fmt::Display) -> String {
        match self {
            Foreign::Filter(kind, ..) | Foreign::OfRoutes(kind, _) => {
                format!("the value is {kind}, and applyTo is {apply_to}")
            }
            Foreign::ForRoutes(kind, _) => format!("`{kind}` is not in `typed_per_filter_config`"),
        }
    }

    /// A patch that has the value's effect.
    pub(crate) fn instead(self) -> String {
        let settings = |filter: &str| {
            let value = format!("  value:\n    typed_per_filter_config:\n      {filter}:\n        \"@type\": …");
            format!("patch:\n  operation: MERGE\n{value}")
        };
        match self {
            Foreign::Filter(_, apply_to, with_routes) => {
                let (place, operation) = match apply_to {
                    "HTTP_FILTER" => (HTTP, "INSERT_BEFORE"),
                    "NETWORK_FILTER" => (NETWORK, "INSERT_BEFORE"),
                    _ => (LISTENER, "INSERT_FIRST"),
                };
                let own = format!("applyTo: {apply_to}\n{place}\npatch:\n  operation: {operation}");
                if with_routes {
                    let settings = settings("<name of the filter>");
                    format!("{own}\nor, to configure a filter that exists for these routes:\n{settings}")
                } else {
                    own
                }
            }
            Foreign::ForRoutes(_, filter) => settings(filter),
            Foreign::OfRoutes(_, "HTTP_ROUTE") => {
                "applyTo: HTTP_ROUTE\npatch:\n  operation: INSERT_FIRST # or ADD, behind the other routes".to_owned()
            }
            Foreign::OfRoutes(_, apply_to) => format!("applyTo: {apply_to}\npatch:\n  operation: ADD"),
        }
    }
}

/// Where filters of each kind are inserted.
const HTTP: &str = "match: # with `context`; no other object than the listener
  listener:
    filterChain:
      filter:
        name: envoy.filters.network.http_connection_manager
        subFilter:
          name: envoy.filters.http.router";
const NETWORK: &str = "match: # with `context`; no other object than the listener
  listener:
    filterChain:
      filter:
        name: envoy.filters.network.tcp_proxy # or http_connection_manager";
const LISTENER: &str = "match: # with `context`; no other object than the listener
  listener:
    portNumber: …";

/// What the value of a patch is, from its outermost object, if it is a filter or the settings of one.
pub(crate) fn filter(object: &Object<'_>) -> Option<Foreign> {
    let message =
        object.message().filter(|message| object.route.is_empty() && message.field("typed_config").is_none())?;
    let url = object.node.entry("typed_config")?.value.entry("@type")?.value.as_str()?;
    let name = type_name(url);
    if message.field("typed_per_filter_config").is_some() && name.ends_with("PerRoute") {
        let settings = Schema::newest().message(name)?;
        let short = settings.full_name().rsplit('.').next()?;
        return Some(Foreign::ForRoutes(short, envoy::extensions_of(name).next()?.name()));
    }
    let with_routes = message.field("typed_per_filter_config").is_some() && url.contains(".filters.http.");
    [
        (".filters.http.", "an HTTP filter", "HTTP_FILTER"),
        (".filters.network.", "a network filter", "NETWORK_FILTER"),
        (".filters.listener.", "a listener filter", "LISTENER_FILTER"),
    ]
    .into_iter()
    .find_map(|(part, kind, apply_to)| url.contains(part).then_some(Foreign::Filter(kind, apply_to, with_routes)))
}

/// The same, or a virtual host or route in place of a route configuration.
pub(crate) fn of(object: &Object<'_>) -> Option<Foreign> {
    const ROUTES: &str = "envoy.config.route.v3.RouteConfiguration";
    filter(object).or_else(|| {
        let is_routes = object.route.is_empty() && object.full_name() == ROUTES;
        let has = |key: &str| object.node.entry(key).is_some();
        match () {
            () if !is_routes => None,
            () if has("domains") => Some(Foreign::OfRoutes("a virtual host", "VIRTUAL_HOST")),
            () if has("match") => Some(Foreign::OfRoutes("a route", "HTTP_ROUTE")),
            () => None,
        }
    })
}
