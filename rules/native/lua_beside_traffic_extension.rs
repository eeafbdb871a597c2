//! EF711: inserted Lua that the TrafficExtension API can replace.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::LUA;

declare_rule! {
    /// A Lua filter inserted before the router, which a TrafficExtension can replace.
    ///
    /// # What it finds
    /// On control planes of Istio 1.30, a Lua filter inserted before the router that contains only inline code of at
    /// most 64 KiB.
    ///
    /// # Why it matters
    /// The API server validates a TrafficExtension, istiod knows its position on every kind of proxy, and it does not
    /// have to match generated names.
    ///
    /// # How to fix
    /// Apply the TrafficExtension that `kubectl envoyfilter migrate` writes. Code that calls a cluster (`httpCall`) still needs that cluster on the proxy.
    ///
    /// `lint --fix --unsafe-fixes` removes the patch and adds the object if only names, order and metadata differ and
    /// every guard holds.
    ///
    /// # References
    /// Istio 1.30: TrafficExtension (`extensions.istio.io/v1alpha1`), field `lua`.
    "EF711" "lua-beside-traffic-extension" Native Info => check,
    fixes: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    moves::check(rule, cx, out, &[&LUA], "a TrafficExtension can run this Lua code", |_| true);
}
