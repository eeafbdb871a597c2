//! EF504: an HTTP filter without a context applies to inbound and outbound listeners.

use crate::declare_rule;
use crate::engine::matching::VIRTUAL_INBOUND;
use crate::engine::trace::Effect;
use crate::lint::{Context, Findings, Knowledge, RuleInfo, document, names, reach};
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use crate::model::proxy::ProxyKind;

declare_rule! {
    /// An HTTP filter inserted without `context`, which applies to inbound and outbound listeners.
    ///
    /// # What it finds
    /// An HTTP_FILTER patch without `match.context` that inserts its filter on one sidecar both for received and for
    /// sent requests.
    ///
    /// # Why it matters
    /// Every call inside the mesh passes through the filter twice: headers are added twice, limits counted twice, and
    /// calls to other services and to the outside world are filtered as well.
    ///
    /// # How to fix
    /// Write `context: SIDECAR_INBOUND`, `SIDECAR_OUTBOUND` or `GATEWAY`; `context: ANY` if both are intended.
    ///
    /// # References
    /// Istio API, EnvoyFilter.PatchContext.
    "EF504" "both-directions" Scope Warning => check,
    policy: Never("it needs the listeners of proxies")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let dropped = document::Dropped::of(cx);
    for view in cx.patches() {
        if view.patch.apply_to != ApplyTo::HttpFilter
            || view.patch.context != PatchContext::Any
            || view.node(&["match", "context"]).is_some()
            // Such a field may name the context, as `listenerType` did; another rule reports it.
            || dropped.take_condition(&view)
        {
            continue;
        }
        // Sample sidecars also have the labels of gateways.
        let gateway = reach::selects_gateways(cx, view.filter);
        let mut hit = Vec::new();
        let (mut inbound, mut outbound) = (0, 0);
        for met in cx.on_proxies(view.filter_index, view.patch.index) {
            let real = met.run.knowledge == Knowledge::Dump;
            let narrowed = !real
                && (gateway
                    || view.node(&["match", "listener", "portNumber"]).is_some()
                    || view.node(&["match", "listener", "name"]).is_some());
            if met.run.config.proxy.kind != ProxyKind::Sidecar || narrowed {
                continue;
            }
            let inserted = met.trace.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Inserted { .. }));
            let (to_it, from_it): (Vec<_>, Vec<_>) =
                inserted.partition(|(place, _)| *place.resource == *VIRTUAL_INBOUND);
            if !to_it.is_empty() && !from_it.is_empty() {
                inbound += to_it.len();
                outbound += from_it.len();
                hit.push(met.run);
            }
        }
        if hit.is_empty() {
            continue;
        }
        let certain = hit.iter().any(|run| run.knowledge == Knowledge::Dump);
        let span = view.key_span(&["match"]);
        let span = if view.patch.has_match { span } else { view.key_span(&["applyTo"]) };
        let finding = view
            .finding(rule, span, "without a context this patch applies to inbound and outbound listeners")
            .label("no context")
            .snippet(
                "match:\n  context: SIDECAR_INBOUND # or SIDECAR_OUTBOUND, GATEWAY; ANY if everything is intended",
            );
        out.push(if certain {
            finding
                .note(format!(
                    "inserted into {} and {} on {}",
                    names::count(inbound, "inbound filter chain", "inbound filter chains"),
                    names::count(outbound, "outbound filter chain", "outbound filter chains"),
                    names::count(hit.len(), "sidecar", "sidecars")
                ))
                .workloads(hit.iter().map(|run| run.label().to_owned()))
        } else {
            finding.judged_on(&["sidecar"])
        });
    }
}
