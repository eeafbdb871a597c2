//! EF207: a context that no selected proxy has.

use crate::declare_rule;
use crate::engine::compat::Behaviour;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::lint::{Confidence, Context, Finding, Findings, Knowledge, PatchView, RuleInfo, names, reach};
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use crate::model::proxy::{GATEWAY_CLASS_LABEL, GATEWAY_NAME_LABEL, ProxyKind};
use crate::source::Severity;
use std::collections::BTreeSet;

declare_rule! {
    /// A context that none of the selected proxies has.
    ///
    /// # What it finds
    /// `context: GATEWAY` when every selected proxy is a sidecar or a waypoint, and `SIDECAR_INBOUND` or
    /// `SIDECAR_OUTBOUND` when every selected proxy is a gateway. Without config dumps: selectors with `istio:
    /// …gateway` or the label `gateway.networking.k8s.io/gateway-name` and a sidecar context; `targetRefs` to a
    /// waypoint and GATEWAY, or to a gateway and a sidecar context.
    ///
    /// # Why it matters
    /// The EnvoyFilter attaches and this patch does nothing.
    ///
    /// # How to fix
    /// Write the context of the proxies, or select other workloads. For waypoints, use SIDECAR_INBOUND (requests to
    /// their services) or SIDECAR_OUTBOUND.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF207" "context-of-other-proxies" Matching Error => check,
    explains: NOWHERE, policy: Never("it needs the kinds of the selected proxies")
}

/// Rules about effects of the patch on proxies that its filter attaches to; they are silent if it attaches to none. And
/// what the API server rejects at the same place (EF030).
pub(crate) const ALL: &[&str] = &[
    "EF207", "EF306", "EF307", "EF309", "EF310", "EF311", "EF312", "EF313", "EF314", "EF319", "EF320", "EF324",
    "EF325", "EF329", "EF330", "EF331", "EF332", "EF333", "EF334", "EF411", "EF412", "EF501", "EF502", "EF503",
    "EF504", "EF520", "EF521", "EF030",
];

/// Without the first, this rule itself: for a patch that runs on none of those proxies.
pub(crate) const NOWHERE: &[&str] = ALL.split_at(1).1;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        // Extension configurations are added in every context.
        if view.patch.apply_to == ApplyTo::ExtensionConfig {
            continue;
        }
        let met: Vec<_> = cx
            .on_proxies(view.filter_index, view.patch.index)
            .filter(|met| met.run.knowledge == Knowledge::Dump && met.planned.proxy_miss.is_none())
            .collect();
        let foreign = Status::NoOp(NoOp::ContextOfOtherProxies);
        if met.is_empty() {
            out.extend(by_labels(rule, cx, &view));
            continue;
        }
        if met.iter().any(|met| met.planned.status != foreign) {
            continue;
        }
        let kinds: BTreeSet<ProxyKind> = met.iter().map(|met| met.run.config.proxy.kind).collect();
        let words: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        let help = match (kinds.contains(&ProxyKind::Gateway), kinds.contains(&ProxyKind::Waypoint)) {
            (true, _) => "context: GATEWAY",
            (false, true) => "context: SIDECAR_INBOUND # for requests to the waypoint's services",
            (false, false) => "context: SIDECAR_INBOUND # or SIDECAR_OUTBOUND, for requests that the workload sends",
        };
        // Without a selector, proxies of the right kind may exist outside the input.
        let severity = if reach::unselective(cx, view.filter) { Severity::Warning } else { Severity::Error };
        let selected = names::count(met.len(), "selected proxy is", "selected proxies are");
        out.push(
            view.finding(
                rule,
                view.value_span(&["match", "context"]),
                format!("context {} exists on none of the selected proxies", view.patch.context),
            )
            .severity(severity)
            .label("no selected proxy has this context")
            .ineffective()
            .note(format!("{selected} of kind {}", words.join(", ")))
            .help(help)
            .workloads(met.iter().map(|met| met.run.label().to_owned())),
        );
    }
}

/// The kind of proxy according to the labels of a selector or references to Gateways, if no config dump shows it.
fn by_labels(rule: &'static RuleInfo, cx: &Context<'_>, view: &PatchView<'_>) -> Option<Finding> {
    let context = view.patch.context;
    let sidecar = matches!(context, PatchContext::SidecarInbound | PatchContext::SidecarOutbound);
    if let Some((kind, sure)) = reach::target_kind(cx, view.filter) {
        return by_reference(rule, view, kind, sure);
    }
    let labels = view.filter.selector.as_ref().filter(|_| sidecar && !reach::by_target_refs(cx, view.filter))?;
    let (label, note, help) = if let Some((key, value)) = reach::classic_gateway(labels) {
        (format!("{key}: {value}"), "a gateway has only context GATEWAY", "context: GATEWAY")
    } else if labels.get(GATEWAY_CLASS_LABEL).is_some_and(|class| class == "istio") {
        (format!("{GATEWAY_CLASS_LABEL}: istio"), "a gateway has only context GATEWAY", "context: GATEWAY")
    } else {
        // Before 1.27 a waypoint attaches filters by label, and its contexts are those of a sidecar.
        let name = labels.get(GATEWAY_NAME_LABEL).filter(|_| cx.program.compat.has(Behaviour::TargetRefs))?;
        let note = "a gateway has only context GATEWAY, and a waypoint ignores EnvoyFilters without targetRefs";
        (
            format!("{GATEWAY_NAME_LABEL}: {name}"),
            note,
            "context: GATEWAY; for a waypoint, targetRefs instead of the selector",
        )
    };
    let message = format!("context {context} does not exist on the gateways that `{label}` selects");
    Some(
        view.finding(rule, view.value_span(&["match", "context"]), message)
            .likely("judged by the labels that gateways usually have")
            .label("not a context of a gateway")
            .related(view.filter.document.key_span(&["spec".into(), "workloadSelector".into()]), "selects gateways")
            .ineffective()
            .note(note)
            .help(help),
    )
}

/// The same where `targetRefs` refer to gateways, or to waypoints.
fn by_reference(rule: &'static RuleInfo, view: &PatchView<'_>, kind: ProxyKind, sure: Confidence) -> Option<Finding> {
    let context = view.patch.context;
    let sidecar = matches!(context, PatchContext::SidecarInbound | PatchContext::SidecarOutbound);
    let (note, help) = match kind {
        ProxyKind::Waypoint if context == PatchContext::Gateway => (
            "a waypoint has context SIDECAR_INBOUND for requests to its services, and SIDECAR_OUTBOUND for its few outbound clusters",
            "context: SIDECAR_INBOUND",
        ),
        ProxyKind::Gateway if sidecar => ("a gateway has only context GATEWAY", "context: GATEWAY"),
        _ => return None,
    };
    let message = format!("context {context} does not exist on the {}s that targetRefs refer to", kind.as_str());
    let finding = view
        .finding(rule, view.value_span(&["match", "context"]), message)
        .confidence(sure)
        .label(format!("not a context of a {}", kind.as_str()))
        .related(
            view.filter.document.key_span(&["spec".into(), "targetRefs".into()]),
            format!("refers to {}s", kind.as_str()),
        )
        .ineffective()
        .note(note)
        .help(help);
    Some(reach::weigh(finding, sure))
}
