//! EF701: an access log that the Telemetry API configures.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::ACCESS_LOG;

declare_rule! {
    /// An access log merged into HTTP connection managers, which a Telemetry object would configure.
    ///
    /// # What it finds
    /// A MERGE into the HTTP connection manager that holds nothing but access logs to a file or to a gRPC service, with
    /// fields that an extension provider of the mesh has too.
    ///
    /// # Why it matters
    /// MERGE appends: beside the log of `meshConfig.accessLogFile` every request is logged twice. The filter also
    /// depends on names that istiod generates. A Telemetry object replaces the log and is checked by the API server.
    ///
    /// # How to fix
    /// Run `kubectl envoyfilter migrate`: it names the log as an extension provider and writes the Telemetry object.
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
