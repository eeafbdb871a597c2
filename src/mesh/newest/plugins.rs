//! Anchors that name the filter of a WasmPlugin, as the target release names it.

use crate::lint::upgrade::forecast::renamed;
use crate::model::release::Release;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// Prefixes of the names of WasmPlugins' filters, by release.
const PLUGINS: [&str; 2] = ["extenstions.istio.io/wasmplugin/", "extensions.istio.io/wasmplugin/"];

/// The name that a release gives the filter of a WasmPlugin, if this is the name of an earlier one.
pub(super) fn plugin_name(name: &str, release: Release) -> Option<String> {
    PLUGINS.iter().any(|prefix| name.starts_with(prefix)).then(|| {
        // Before 1.22, which is not supported, the name had yet another form.
        renamed("http", name, Release::OLDEST, release).map(|(now, _)| now)
    })?
}

/// Gives anchors that name the filter of a WasmPlugin the name of the release. The new names.
pub(super) fn name_plugins(object: &mut Json, release: Release, changes: &mut BTreeSet<String>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let patches = object.pointer_mut("/spec/configPatches").and_then(Json::as_array_mut);
    for patch in patches.into_iter().flatten() {
        for path in ["/match/listener/filterChain/filter/subFilter/name", "/match/listener/filterChain/filter/name"] {
            let Some(anchor) = patch.pointer_mut(path) else { continue };
            let now = anchor.as_str().and_then(|name| plugin_name(name, release));
            if let Some(now) = now {
                changes.insert(format!(
                    "name the filter of the WasmPlugin as Istio {}.{} does",
                    release.major, release.minor
                ));
                *anchor = now.as_str().into();
                names.insert(now);
            }
        }
    }
    names
}

/// A value with the filters of these plugins before the router of each HTTP connection manager, and first among network
/// filters.
pub(super) fn with_plugins(value: &mut Json, names: &BTreeSet<String>) {
    let plugin = |name: &String, kind: &str| {
        json!({ "name": name, "typed_config": { "@type":
            format!("type.googleapis.com/envoy.extensions.filters.{kind}.wasm.v3.Wasm") } })
    };
    match value {
        Json::Object(map) => {
            for (key, inner) in map {
                with_plugins(inner, names);
                let Some(list) = inner.as_array_mut() else { continue };
                match key.as_str() {
                    "http_filters" | "httpFilters" => {
                        let at = list.len().saturating_sub(1);
                        names.iter().rev().for_each(|name| list.insert(at, plugin(name, "http")));
                    }
                    "filters"
                        if list
                            .iter()
                            .any(|one| one.get("typed_config").is_some() || one.get("typedConfig").is_some()) =>
                    {
                        names.iter().rev().for_each(|name| list.insert(0, plugin(name, "network")));
                    }
                    _ => {}
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| with_plugins(item, names)),
        _ => {}
    }
}
