//! EF710: an inserted Wasm filter that WasmPlugin or TrafficExtension can replace.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::{ECDS, WASM};

declare_rule! {
    /// A Wasm filter inserted before the router, which a WasmPlugin (since 1.30 a TrafficExtension) can replace.
    ///
    /// # What it finds
    /// A Wasm filter inserted before the router whose module is a file or a URL and whose configuration is JSON.
    ///
    /// # Why it matters
    /// With a WasmPlugin, the agent in the pod fetches, verifies and caches the module, and the proxy waits for it; the
    /// filter of an EnvoyFilter needs a cluster to fetch from and depends on Envoy's own failure handling.
    ///
    /// # How to fix
    /// Apply the object that `kubectl envoyfilter migrate` writes.
    ///
    /// `lint --fix --unsafe-fixes` removes the patch and adds the object if only names, order and metadata differ and
    /// every guard holds.
    ///
    /// # References
    /// Istio: WasmPlugin (`extensions.istio.io/v1alpha1`); TrafficExtension since 1.30.
    "EF710" "wasm-beside-wasm-plugin" Native Info => check,
    fixes: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    moves::check(rule, cx, out, &[&WASM, &ECDS], "a WasmPlugin can run this module", |_| true);
}
