//! EF713: HTTP timeouts and limits that the proxy configuration can set.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::{HCM_TIMEOUTS, HTTP2_OPTIONS, LISTENER_BUFFER, PATH_NORMALIZATION};

declare_rule! {
    /// Patched HTTP timeouts, HTTP/2 limits, path handling or listener buffers, which `connectionSettings` can set.
    ///
    /// # What it finds
    /// On control planes of Istio 1.31, a MERGE into the HTTP connection manager (or, on gateways, into the listener)
    /// that contains only settings of the proxy configuration's `connectionSettings`.
    ///
    /// # Why it matters
    /// The settings are validated, reach every listener whatever its name, and survive upgrades.
    ///
    /// # How to fix
    /// Put the settings that `kubectl envoyfilter migrate` prints under `meshConfig.defaultConfig` or in the pod
    /// annotation `proxy.istio.io/config`. They are read at start-up: restart the workloads.
    ///
    /// # References
    /// Istio 1.31: ProxyConfig `connectionSettings`.
    "EF713" "connection-settings-beside-proxy-config" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    moves::check(
        rule,
        cx,
        out,
        &[&HCM_TIMEOUTS, &HTTP2_OPTIONS, &LISTENER_BUFFER, &PATH_NORMALIZATION],
        "the proxy configuration's connectionSettings can set this",
        |found| !found.is_idle_by_variable(),
    );
}
