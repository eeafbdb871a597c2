//! EF534: a limit that is raised at the gateway but not at the sidecars behind it.

use crate::declare_rule;
use crate::lint::value::PatchValue;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::PatchContext;
use crate::source::{NodeValue, Span};

declare_rule! {
    /// Larger request headers that are allowed at gateways but not at sidecars.
    ///
    /// # What it finds
    /// `max_request_headers_kb` above 60 in patches with context GATEWAY, if no given patch sets it for SIDECAR_INBOUND.
    ///
    /// # Why it matters
    /// The gateway accepts the request, and the sidecar of the workload answers 431: its limit is still 60 KiB. Workloads
    /// without a sidecar are not affected.
    ///
    /// # How to fix
    /// Add the same patch with the context SIDECAR_INBOUND for the workloads behind the gateway.
    ///
    /// # References
    /// Envoy `HttpConnectionManager.max_request_headers_kb`, whose default is 60; the answers of Envoy 1.38.2.
    "EF534" "limit-raised-at-gateway-only" Scope Info => check
}

const MANAGER: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
/// Envoy's default, in KiB.
const DEFAULT: u32 = 60;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let inbound = |value: &PatchValue<'_>| {
        matches!(value.view.patch.context, PatchContext::SidecarInbound | PatchContext::Any)
            && limits(value).next().is_some()
    };
    if cx.values().iter().any(inbound) {
        return;
    }
    for value in cx.values().iter().filter(|value| value.view.patch.context == PatchContext::Gateway) {
        for (limit, span) in limits(value) {
            out.push(
                value
                    .finding(
                        rule,
                        span,
                        format!("sidecars behind the gateway still accept only {DEFAULT} KiB of headers"),
                    )
                    .label(format!("{limit} KiB at the gateway"))
                    .note("a sidecar answers larger requests with 431")
                    .help("add the same patch with context: SIDECAR_INBOUND for the workloads behind the gateway"),
            );
        }
    }
}

/// Limits above the default, in KiB, with their places.
fn limits<'v>(value: &'v PatchValue<'_>) -> impl Iterator<Item = (u32, Span)> + 'v {
    value.objects.iter().filter(|object| object.full_name() == MANAGER).filter_map(|object| {
        let member = object.member("max_request_headers_kb")?;
        let limit = match &member.entry.value.value {
            NodeValue::Number(text) => text.parse().ok()?,
            _ => return None,
        };
        (limit > DEFAULT).then_some((limit, member.entry.key_span))
    })
}
