//! EF716: the `server` and `x-request-id` headers, which the proxy configuration's proxyHeaders can set.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::{HEADER_CASE, SERVER_HEADER};

declare_rule! {
    /// The `server` header or request IDs changed in HTTP connection managers, which `proxyHeaders` can set.
    ///
    /// # What it finds
    /// A MERGE into the HTTP connection manager that contains only `server_header_transformation: PASS_THROUGH`,
    /// `server_name` or `generate_request_id: false`.
    ///
    /// # Why it matters
    /// The settings reach every listener of the workload whatever its name, and survive upgrades.
    ///
    /// # How to fix
    /// Put the settings that `kubectl envoyfilter migrate` prints under `meshConfig.defaultConfig` or in the pod
    /// annotation `proxy.istio.io/config`. They are read at start-up: restart the workloads.
    ///
    /// # References
    /// Istio: ProxyConfig `proxyHeaders` (since 1.19).
    "EF716" "server-header-beside-proxy-headers" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    moves::check(
        rule,
        cx,
        out,
        &[&SERVER_HEADER, &HEADER_CASE],
        "the proxy configuration's proxyHeaders can set this",
        |_| true,
    );
}
