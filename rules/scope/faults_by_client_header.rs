//! EF532: a fault filter on a gateway that lets clients inject faults.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::PatchContext;

declare_rule! {
    /// A fault filter on a gateway that every client controls with headers.
    ///
    /// # What it finds
    /// `header_abort`, `header_delay` or `header_limit` of a fault filter in a patch with context GATEWAY or without one.
    ///
    /// # Why it matters
    /// Whoever sends `x-envoy-fault-abort-request` or `x-envoy-fault-delay-request` aborts and delays requests: from
    /// outside of the mesh, delayed requests fill up connections and memory.
    ///
    /// # How to fix
    /// Limit the faults with `headers` to requests that carry a secret, inject them in the sidecars
    /// (SIDECAR_INBOUND), or use VirtualService `http.fault`.
    ///
    /// # References
    /// Envoy, "Fault injection", controlling fault injection via HTTP headers; tested with Envoy 1.38.2.
    "EF532" "faults-by-client-header" Scope Warning => check
}

/// The settings of faults that clients control, each with the header.
const BY_HEADER: [(&str, &str, &str); 3] = [
    ("envoy.extensions.filters.common.fault.v3.FaultDelay", "header_delay", "x-envoy-fault-delay-request"),
    ("envoy.extensions.filters.common.fault.v3.FaultRateLimit", "header_limit", "x-envoy-fault-throughput-response"),
    ("envoy.extensions.filters.http.fault.v3.FaultAbort", "header_abort", "x-envoy-fault-abort-request"),
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        if !matches!(value.view.patch.context, PatchContext::Gateway | PatchContext::Any) {
            continue;
        }
        for object in &value.objects {
            let Some((_, field, header)) = BY_HEADER.iter().find(|(message, ..)| *message == object.full_name()) else {
                continue;
            };
            let Some(member) = object.member(field) else { continue };
            let limited = object.parent.is_some_and(|(parent, _)| value.objects[parent].member("headers").is_some());
            if limited {
                continue;
            }
            out.push(
                value
                    .finding(rule, member.entry.key_span, format!("any client can inject this fault with `{header}`"))
                    .label("controlled by clients")
                    .help("context: SIDECAR_INBOUND, or `headers` that only your own clients send"),
            );
        }
    }
}
