//! EF711: inserted Lua that the TrafficExtension API inserts.

use crate::declare_rule;
use crate::lint::better;
use crate::lint::extension::{TRAFFIC_EXTENSION, before_router, traffic, traffic_extension};
use crate::lint::manifest::Instead;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A Lua filter inserted before the router, which a TrafficExtension inserts.
    ///
    /// # What it finds
    /// On control planes of Istio 1.30, a Lua filter inserted before the router that holds nothing but inline code of at
    /// most 64 KiB.
    ///
    /// # Why it matters
    /// The API server checks a TrafficExtension, istiod knows the place for it on every kind of proxy, and no name that
    /// istiod generates must be matched.
    ///
    /// # How to fix
    /// Write the TrafficExtension shown. Code that calls a cluster (`httpCall`) still needs that cluster on the proxy.
    ///
    /// # References
    /// Istio 1.30: TrafficExtension (`extensions.istio.io/v1alpha1`), field `lua`.
    "EF711" "lua-beside-traffic-extension" Native Info => check
}

const MESSAGE: &str = "envoy.extensions.filters.http.lua.v3.Lua";

/// The longest code that a TrafficExtension takes, in bytes.
const MAX_CODE: usize = 65536;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    if cx.release < TRAFFIC_EXTENSION {
        return;
    }
    for (candidate, mut config) in better::inserted(cx, MESSAGE) {
        let code = config.text("inline_code").or_else(|| config.text("default_source_code/inline_string"));
        let Some(code) = code.filter(|code| !code.is_empty() && code.len() <= MAX_CODE) else { continue };
        if !config.done() || !before_router(&candidate) {
            continue;
        }
        let Some(mut spec) = traffic(&candidate) else { continue };
        better::put(&mut spec, "lua/inlineCode", code);
        let instead = Instead {
            message: "a TrafficExtension can run this Lua code".to_owned(),
            since: TRAFFIC_EXTENSION,
            manifests: vec![(String::new(), traffic_extension(candidate.view.filter, spec))],
            notes: Vec::new(),
        };
        out.push(instead.finding(rule, &candidate.view, &["patch", "value"]));
    }
}
