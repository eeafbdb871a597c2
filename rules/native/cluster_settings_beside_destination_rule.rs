//! EF705: settings of a service's clusters that a DestinationRule has.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::{CLUSTER_HTTP_OPTIONS, CLUSTER_POLICY};

declare_rule! {
    /// Connection settings merged into the clusters of one service, which its DestinationRule could set.
    ///
    /// # What it finds
    /// A MERGE into outbound clusters of a named service whose fields all exist in a DestinationRule.
    ///
    /// # Why it matters
    /// MERGE appends to `circuit_breakers.thresholds`, but Envoy uses the first threshold of a priority, which is
    /// istiod's: the patch seems to work but does not. Entries of `typed_extension_protocol_options` are replaced as a
    /// whole. istiod merges a DestinationRule before it generates anything, and reports conflicts.
    ///
    /// # How to fix
    /// Apply the DestinationRule that `kubectl envoyfilter migrate` writes, or add its `trafficPolicy` to the service's
    /// existing one.
    ///
    /// `lint --fix --unsafe-fixes` removes the patch and adds the object if only names, order and metadata differ and
    /// every guard holds.
    ///
    /// # References
    /// Istio: DestinationRule (`retryBudget` since 1.27, `http2KeepAlive` since 1.31).
    "EF705" "cluster-settings-beside-destination-rule" Native Info => check,
    fixes: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    moves::check(rule, cx, out, &[&CLUSTER_POLICY, &CLUSTER_HTTP_OPTIONS], "a DestinationRule can set this", |_| true);
}
