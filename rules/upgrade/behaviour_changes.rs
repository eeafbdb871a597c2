//! EF615: a filter that a behavior change affects: the configuration stays, but its effect changes.

use crate::declare_rule;
use crate::engine::compat::{self, Behaviour};
use crate::envoy::api::istio_of;
use crate::lint::upgrade::notes::{NOTES, Of, Weight};
use crate::lint::upgrade::{Upgrade, tell};
use crate::lint::{Context, Edit, Finding, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::release::Release;
use crate::source::{Severity, Step};

declare_rule! {
    /// An EnvoyFilter that is affected by a behavior change: the configuration stays, but its effect changes.
    ///
    /// # What it finds
    /// Filters that use something that a release along the way handles differently: Envoy's defaults, names of metadata
    /// and filter state, BOOTSTRAP patches, the order of filters across namespaces and in TCP filter chains, labels
    /// that istiod stops setting, durations that leak. Each note is reported only for filters that contain what it
    /// describes. Only `audit` compares two releases: `lint` never reports it.
    ///
    /// # Why it matters
    /// The engine cannot see it: the proxies get the same configuration but handle it differently.
    ///
    /// # How to fix
    /// The finding says what to write; most changes are valid for both releases.
    ///
    /// # References
    /// Istio release notes 1.19 to 1.31; changelogs of Envoy 1.26 to 1.39.
    "EF615" "behaviour-changes" Upgrade Warning => check,
    fixes: true, needs: &[Upgrade]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    for note in NOTES {
        let crossed = match note.of {
            Of::ControlPlane => upgrade.crosses(note.since),
            Of::Proxy => upgrade.proxies_cross(note.since),
        };
        if !crossed {
            continue;
        }
        for value in cx.values() {
            // A patch that is pinned to older proxies never reaches one with the new behavior.
            let newest = value.envoy_minor.map(istio_of);
            if note.of == Of::Proxy && newest.is_none_or(|newest| newest < note.since.minor) {
                continue;
            }
            let Some(span) = note.test.place(value) else { continue };
            let severity = match note.weight {
                Weight::Breaks => Severity::Error,
                Weight::Changes => Severity::Warning,
            };
            out.push(
                value
                    .finding(rule, span, format!("since Istio {} {}", tell::short(note.since), note.what))
                    .severity(severity)
                    .label("concerned")
                    .note(format!("source: {}", note.source))
                    .help(note.fix),
            );
        }
    }
    bootstrap(rule, cx, upgrade, out);
    gateway_label(rule, cx, upgrade, out);
    order(rule, cx, upgrade, out);
    config_keys(rule, upgrade, out);
    chain_order(rule, cx, upgrade, out);
    protocols(rule, cx, upgrade, out);
    durations(rule, upgrade, out);
}

/// Istio 1.21 removed the code that applied BOOTSTRAP patches.
fn bootstrap(rule: &'static RuleInfo, cx: &Context<'_>, upgrade: &Upgrade, out: &mut Findings) {
    if !upgrade.crosses(Release::minor(21)) {
        return;
    }
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Bootstrap) {
        out.push(
            view.finding(rule, view.value_span(&["applyTo"]), "since Istio 1.21 BOOTSTRAP patches are not applied")
                .severity(Severity::Error)
                .label("no effect after the upgrade")
                .note("source: istiod 1.20 and 1.21; the experimental BOOTSTRAP_XDS_AGENT is gone")
                .help("use the annotations `proxy.istio.io/config` or `sidecar.istio.io/bootstrapOverride`"),
        );
    }
}

/// A label that istiod sets on the pods of Gateway API gateways up to 1.23, and its name since 1.21.
const GATEWAY_LABEL: (&str, &str) = ("istio.io/gateway-name", "gateway.networking.k8s.io/gateway-name");

fn gateway_label(rule: &'static RuleInfo, cx: &Context<'_>, upgrade: &Upgrade, out: &mut Findings) {
    if !upgrade.crosses(Release::minor(24)) {
        return;
    }
    let (old, new) = GATEWAY_LABEL;
    for filter in cx.filters.iter().filter(|one| one.selector.as_ref().is_some_and(|labels| labels.contains_key(old))) {
        let route: Vec<Step> = ["spec", "workloadSelector", "labels", old].iter().map(|key| Step::from(*key)).collect();
        let span = filter.document.key_span(&route);
        let finding = Finding::new(rule, span, format!("since Istio 1.24 gateways no longer have the label `{old}`"))
            .severity(Severity::Error)
            .label("selects nothing after the upgrade")
            .note("source: Istio 1.24 release notes")
            .of(filter, None);
        let finding = if upgrade.before.release >= Release::minor(21) {
            finding.help(format!("write `{new}`, which exists since 1.21")).fix(
                "select by the label that both releases set",
                true,
                vec![Edit { span, text: new.to_owned() }],
            )
        } else {
            finding.help(format!("write `{new}` when istiod is 1.21 or later"))
        };
        out.push(finding);
    }
}

/// Up to 1.21, EnvoyFilters of the root namespace come first whatever their priority.
fn order(rule: &'static RuleInfo, cx: &Context<'_>, upgrade: &Upgrade, out: &mut Findings) {
    if !upgrade.crosses(Release::minor(22)) {
        return;
    }
    for (index, filter) in cx.filters.iter().enumerate().filter(|(_, one)| one.namespace != cx.mesh.root_namespace) {
        let overtaken = |run: &&crate::lint::upgrade::RunRecord| {
            run.filters.contains_key(&index)
                && run.filters.keys().any(|&other| {
                    let other = &cx.filters[other];
                    other.namespace == cx.mesh.root_namespace && other.priority > filter.priority
                })
        };
        if !upgrade.after.runs.iter().any(|run| overtaken(&run)) {
            continue;
        }
        out.push(
            Finding::new(
                rule,
                cx.filters[index].name_span(),
                "since Istio 1.22 this EnvoyFilter runs before EnvoyFilters of the root namespace with a higher priority",
            )
            .label("runs after them now")
            .note("source: istio/istio#49555")
            .help("check what both write to the same place")
            .of(filter, None),
        );
    }
}

/// Filters of TCP filter chains that Istio 1.20 moved, by context: metadata exchange before authentication on inbound
/// filter chains, statistics after authorization and external authorization before authentication on gateways.
const MOVED: [(&str, &[PatchContext]); 4] = [
    ("istio.metadata_exchange", &[PatchContext::Any, PatchContext::SidecarInbound]),
    ("istio.stats", &[PatchContext::Any, PatchContext::Gateway]),
    ("envoy.filters.network.ext_authz", &[PatchContext::Any, PatchContext::Gateway]),
    ("envoy.filters.network.rbac", &[PatchContext::Any, PatchContext::Gateway, PatchContext::SidecarInbound]),
];

fn chain_order(rule: &'static RuleInfo, cx: &Context<'_>, upgrade: &Upgrade, out: &mut Findings) {
    if !upgrade.crosses(Release::minor(20)) {
        return;
    }
    let anchor = ["match", "listener", "filterChain", "filter", "name"];
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::NetworkFilter) {
        let operation = view.patch.body.as_ref().map(|body| body.operation);
        let placed = matches!(operation, Some(Operation::InsertBefore | Operation::InsertAfter));
        let Some(node) = view.node(&anchor).filter(|_| placed) else { continue };
        let moved = |(name, contexts): &&(&str, &[PatchContext])| {
            node.as_str() == Some(name) && contexts.contains(&view.patch.context)
        };
        let Some((name, _)) = MOVED.iter().find(moved) else { continue };
        out.push(
            view.finding(rule, node.span, format!("since Istio 1.20 `{name}` has another place in TCP filter chains"))
                .label("what is inserted next to it moves with it")
                .note(
                    "the order is: metadata exchange, CUSTOM authorization, authentication, authorization, statistics",
                )
                .note("source: Istio 1.20 upgrade notes")
                .help("check whether the filter must run before or after the others; `explain pod` shows the filter chain"),
        );
    }
}

/// Up to 1.20, a patch with this condition applies to filter chains of all protocols.
fn protocols(rule: &'static RuleInfo, cx: &Context<'_>, upgrade: &Upgrade, out: &mut Findings) {
    let since = compat::since(Behaviour::ApplicationProtocols);
    if !upgrade.crosses(since) {
        return;
    }
    for view in cx.patches() {
        let Some(node) = view.node(&["match", "listener", "filterChain", "applicationProtocols"]) else { continue };
        if node.as_str().is_none_or(str::is_empty) {
            continue;
        }
        let message = format!("since Istio {} istiod compares this condition", tell::short(since));
        out.push(
            view.finding(rule, node.span, message)
                .label("ignored before: the patch applies to filter chains of all protocols")
                .note("source: Istio 1.21 release notes; istiod 1.20 and 1.21, `listener_patch.go`")
                .help("check that the filter chains with all of these protocols are the intended ones"),
        );
    }
}

/// A merged duration no longer leaks since 1.23.4 and 1.24.1: what it changed elsewhere is reset.
fn durations(rule: &'static RuleInfo, upgrade: &Upgrade, out: &mut Findings) {
    let leaks = |one: &&Finding| one.rule.code == "EF515";
    if upgrade.after.findings.iter().any(|one| leaks(&one)) {
        return;
    }
    for found in upgrade.before.findings.iter().filter(leaks) {
        let mut finding =
            super::value_refused_after_upgrade::reported_as(rule, upgrade, found).severity(Severity::Warning);
        "this duration leaks to other proxies now, and no longer after the upgrade".clone_into(&mut finding.message);
        finding.notes.clear();
        finding.help =
            Some("check which proxies depend on the leaked value; write it into a filter that selects them".to_owned());
        out.push(finding.note("source: istio/istio#53800, fixed in 1.23.4 and 1.24.1"));
    }
}

/// Since 1.29, Envoy looks up a per-route configuration only by the filter's own name.
fn config_keys(rule: &'static RuleInfo, upgrade: &Upgrade, out: &mut Findings) {
    if !upgrade.proxies_cross(Release::minor(21)) {
        return;
    }
    for found in upgrade.after.findings.iter().filter(|one| one.rule.code == "EF322") {
        let mut finding =
            super::value_refused_after_upgrade::reported_as(rule, upgrade, found).severity(Severity::Error);
        finding.message = format!("since Istio 1.21 this configuration is not found: {}", found.message);
        out.push(finding.note("source: Envoy 1.29 changelog; envoyproxy/envoy#29461"));
    }
}
