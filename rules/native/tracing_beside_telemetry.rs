//! EF702: tracing settings that the Telemetry API can set.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::TRACING;
use crate::migrate::step::Move;

declare_rule! {
    /// Trace sampling or custom tags merged into HTTP connection managers, which a Telemetry object could set.
    ///
    /// # What it finds
    /// A MERGE into the HTTP connection manager that contains only `tracing.random_sampling` and custom tags from
    /// literals, environment variables or request headers, or only `tracing.max_path_tag_length`, which is a setting of
    /// the proxy.
    ///
    /// # Why it matters
    /// MERGE appends the tags to those that istiod writes, and a sampling of 0 cannot be merged at all. Telemetry has a
    /// field for each, and inherits from mesh to namespace to workload.
    ///
    /// # How to fix
    /// Apply the Telemetry object that `kubectl envoyfilter migrate` writes; it uses the mesh's default tracing
    /// provider unless it names another.
    ///
    /// # References
    /// Istio: Telemetry API, Tracing (`telemetry.istio.io/v1` since 1.22).
    "EF702" "tracing-beside-telemetry" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    moves::check(rule, cx, out, &[&TRACING], "a Telemetry object can set this tracing", |found| !of_proxy(found));
    moves::check(rule, cx, out, &[&TRACING], "the proxy's own settings have this field", of_proxy);
}

fn of_proxy(found: &Move) -> bool {
    found.homes.iter().any(|home| home.kind == "proxy.istio.io/config")
}
