//! EF710: an inserted Wasm filter that WasmPlugin or TrafficExtension inserts.

use crate::declare_rule;
use crate::lint::better::{self, Candidate, Parts, put};
use crate::lint::extension::{TRAFFIC_EXTENSION, before_router, traffic, traffic_extension};
use crate::lint::manifest::{self, Instead};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::release::Release;
use serde_json::{Map, Value as Json, json};

declare_rule! {
    /// A Wasm filter inserted before the router, which a WasmPlugin (since 1.30 a TrafficExtension) inserts.
    ///
    /// # What it finds
    /// A Wasm filter inserted before the router whose module is a file or a URL and whose configuration is JSON.
    ///
    /// # Why it matters
    /// With a WasmPlugin the agent in the pod fetches, verifies and caches the module, and the proxy waits for it; the
    /// filter of an EnvoyFilter needs a cluster to fetch from and lets Envoy fail in its own way.
    ///
    /// # How to fix
    /// Write the object shown.
    ///
    /// # References
    /// Istio: WasmPlugin (`extensions.istio.io/v1alpha1`); TrafficExtension since 1.30.
    "EF710" "wasm-beside-wasm-plugin" Native Info => check
}

const MESSAGE: &str = "envoy.extensions.filters.http.wasm.v3.Wasm";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (candidate, config) in better::inserted(cx, MESSAGE) {
        if let Some(instead) = instead(cx, &candidate, config) {
            out.push(instead.finding(rule, &candidate.view, &["patch", "value"]));
        }
    }
}

fn instead(cx: &Context<'_>, candidate: &Candidate<'_>, mut config: Parts<'_>) -> Option<Instead> {
    if !before_router(candidate) {
        return None;
    }
    let mut plugin = config.sub("config")?;
    plugin.skip("name");
    plugin.skip("vm_config/vm_id");
    let mut wasm = Map::new();
    let runtime = plugin.text("vm_config/runtime");
    if runtime.is_some_and(|runtime| runtime != "envoy.wasm.runtime.v8") {
        return None;
    }
    plugin.skip("vm_config/allow_precompiled");
    plugin.skip("vm_config/nack_on_code_cache_miss");
    if let Some(file) = plugin.text("vm_config/code/local/filename") {
        put(&mut wasm, "url", format!("file://{file}"));
    } else {
        put(&mut wasm, "url", plugin.text("vm_config/code/remote/http_uri/uri")?);
        plugin.skip("vm_config/code/remote/http_uri/cluster");
        plugin.skip("vm_config/code/remote/http_uri/timeout");
        plugin.skip("vm_config/code/remote/retry_policy");
        if let Some(sha256) = plugin.text("vm_config/code/remote/sha256").filter(|sum| sum.len() == 64) {
            put(&mut wasm, "sha256", sha256);
        }
    }
    if let Some(root) = plugin.text("root_id") {
        put(&mut wasm, "pluginName", root);
    }
    if let Some(open) = plugin.flag("fail_open") {
        put(&mut wasm, "failStrategy", if open { "FAIL_OPEN" } else { "FAIL_CLOSE" });
    }
    if let Some(mut configuration) = plugin.sub("configuration") {
        let of = configuration.text("@type")?;
        if of != "type.googleapis.com/google.protobuf.StringValue" {
            return None;
        }
        let text = configuration.text("value").unwrap_or_default();
        if !text.trim().is_empty() {
            // The API hands the plugin JSON; any other text it cannot carry.
            let parsed: Json = serde_json::from_str(&text).ok().filter(Json::is_object)?;
            put(&mut wasm, "pluginConfig", parsed);
        }
        if !configuration.done() {
            return None;
        }
    }
    if !plugin.done() || !config.done() {
        return None;
    }
    let filter = candidate.view.filter;
    let mut spec = traffic(candidate)?;
    let extension = cx.release >= TRAFFIC_EXTENSION;
    let (manifest, since, api) = if extension {
        spec.insert("wasm".to_owned(), json!(wasm));
        (traffic_extension(filter, spec), TRAFFIC_EXTENSION, "TrafficExtension")
    } else {
        spec.extend(wasm);
        let plugin = manifest::object("extensions.istio.io/v1alpha1", "WasmPlugin", filter, spec);
        (plugin, Release::OLDEST, "WasmPlugin")
    };
    Some(Instead {
        message: format!("a {api} can run this Wasm module"),
        since,
        manifests: vec![(String::new(), manifest)],
        notes: vec!["the agent beside the proxy fetches, checks and caches the module".to_owned()],
    })
}
