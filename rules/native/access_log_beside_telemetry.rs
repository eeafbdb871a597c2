//! EF701: an access log that the Telemetry API configures.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::ACCESS_LOG;

declare_rule! {
    /// An access log merged into HTTP connection managers, which a Telemetry object could configure.
    ///
    /// # What it finds
    /// A MERGE into the HTTP connection manager that contains only access logs to a file or to a gRPC service, with
    /// fields that an extension provider of the mesh also has.
    ///
    /// # Why it matters
    /// MERGE appends: in addition to the log of `meshConfig.accessLogFile`, every request is logged twice. The filter
    /// also depends on names that istiod generates. A Telemetry object replaces the log, and the API server validates
    /// it.
    ///
    /// # How to fix
    /// Run `kubectl envoyfilter migrate`: it writes the log as an extension provider, and the Telemetry object.
    ///
    /// # References
    /// Istio: Telemetry API (`telemetry.istio.io/v1` since 1.22), MeshConfig `extensionProviders`.
    "EF701" "access-log-beside-telemetry" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    moves::check(
        rule,
        cx,
        out,
        &[&ACCESS_LOG],
        "Telemetry and an extension provider can write this access log",
        |_| true,
    );
}
