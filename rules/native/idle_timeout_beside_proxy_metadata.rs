//! EF718: the idle timeout of connections, which a node metadata variable can set.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::{HCM_TIMEOUTS, TCP_IDLE};
use crate::migrate::step::Move;

declare_rule! {
    /// A patched idle timeout of connections, which the node metadata ISTIO_META_IDLE_TIMEOUT can set.
    ///
    /// # What it finds
    /// A MERGE of only `idle_timeout` into the TCP proxy filter, or before 1.31 into the HTTP connection manager.
    ///
    /// # Why it matters
    /// istiod writes the value into every TCP proxy and HTTP connection manager that it generates, without a name to
    /// match. For a single service, `connectionPool.tcp.idleTimeout` of a DestinationRule does the same for TCP.
    ///
    /// # How to fix
    /// Put the variable that `kubectl envoyfilter migrate` prints under `meshConfig.defaultConfig` or in the pod
    /// annotation `proxy.istio.io/config`, and restart the workload.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/networkfilter.go`, node metadata IDLE_TIMEOUT (1.22 to 1.31).
    "EF718" "idle-timeout-beside-proxy-metadata" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    moves::check(
        rule,
        cx,
        out,
        &[&HCM_TIMEOUTS, &TCP_IDLE],
        "the node metadata ISTIO_META_IDLE_TIMEOUT can set this",
        Move::is_idle_by_variable,
    );
    moves::check(rule, cx, out, &[&TCP_IDLE], "a DestinationRule can set this", |found| !found.is_idle_by_variable());
}
