//! Inserted Wasm and Lua filters as TrafficExtension (since 1.30) or WasmPlugin.

use crate::lint::native::better::{Candidate, put};
use crate::lint::native::manifest;
use crate::model::envoy_filter::{EnvoyFilter, ObjectMatch, Operation};
use crate::model::release::Release;
use serde_json::{Map, Value as Json, json};

/// The first release with the TrafficExtension API, Lua included.
pub const TRAFFIC_EXTENSION: Release = Release::minor(30);

/// The `match` of an extension for the part of the traffic that a patch reaches; `None` when it cannot say it.
pub fn traffic(candidate: &Candidate<'_>) -> Option<Map<String, Json>> {
    let mode = candidate.reach.mode(candidate.view.filter)?;
    let mut one = Map::new();
    if let Some(mode) = mode {
        put(&mut one, "mode", mode);
    }
    if let Some(port) = candidate.reach.port {
        put(&mut one, "ports", json!([{ "number": port }]));
    }
    let mut spec = Map::new();
    if !one.is_empty() {
        put(&mut spec, "match", json!([one]));
    }
    Some(spec)
}

/// Whether the place of an inserted filter is one that an extension has too: before the router.
pub fn before_router(candidate: &Candidate<'_>) -> bool {
    if candidate.operation != Operation::InsertBefore {
        return false;
    }
    let ObjectMatch::Listener(listener) = &candidate.view.patch.object else { return false };
    let filter = listener.filter_chain.as_ref().and_then(|chain| chain.filter.as_ref());
    filter.and_then(|filter| filter.sub_filter.as_deref()) == Some("envoy.filters.http.router")
}

/// A TrafficExtension.
pub fn traffic_extension(filter: &EnvoyFilter, spec: Map<String, Json>) -> Json {
    manifest::object("extensions.istio.io/v1alpha1", "TrafficExtension", filter, spec)
}
