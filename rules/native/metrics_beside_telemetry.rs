//! EF703: settings of Istio's metrics that the Telemetry API can set.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::STATS_NULL_VM;

declare_rule! {
    /// Tags of Istio's metrics changed in the filter `istio.stats`, which a Telemetry object could change.
    ///
    /// # What it finds
    /// A MERGE or REPLACE of the filter `istio.stats` whose configuration contains only metric tags to add or remove,
    /// metrics to drop and the reporting interval of TCP.
    ///
    /// # Why it matters
    /// istiod writes the filter's configuration from Telemetry objects; a REPLACE loses it, and a MERGE appends to it.
    ///
    /// # How to fix
    /// Apply the Telemetry object that `kubectl envoyfilter migrate` writes.
    ///
    /// # References
    /// Istio: Telemetry API, Metrics (`telemetry.istio.io/v1` since 1.22).
    "EF703" "metrics-beside-telemetry" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    moves::check(rule, cx, out, &[&STATS_NULL_VM], "a Telemetry object can change these metrics", |found| {
        found.homes.iter().any(|home| home.kind == "Telemetry")
    });
}
