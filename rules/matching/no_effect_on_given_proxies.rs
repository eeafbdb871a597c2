//! EF229: a filter or patch has no effect on the given proxies, and no other rule says why.

use crate::declare_rule;
use crate::engine::Selection;
use crate::lint::{Context, Finding, Findings, Knowledge, RuleInfo, names};
use crate::model::envoy_filter::EnvoyFilter;
use std::collections::{BTreeMap, BTreeSet};

declare_rule! {
    /// An EnvoyFilter that attaches to none of the given proxies, or a patch that changes none of them.
    ///
    /// # What it finds
    /// A filter or patch without effect on any proxy with a config dump, as computed by the engine, if no other rule
    /// gives the reason. Needs config dumps.
    ///
    /// # Why it matters
    /// If the dumps belong to the intended proxies, the filter does nothing. It may still have an effect on others.
    ///
    /// # How to fix
    /// Provide the config dumps of the intended proxies, or correct the filter's namespace, selector or targetRefs.
    ///
    /// # References
    /// istiod `pilot/pkg/model/policyattachment.go` and `push_context.go`, releases 1.22 to 1.31; recorded.
    "EF229" "no-effect-on-given-proxies" Matching Info => Rest: check,
    needs: &[Dump]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let dumps = cx.runs.iter().filter(|run| run.knowledge == Knowledge::Dump).count();
    if dumps == 0 {
        return;
    }
    let said = out.ineffective();
    for (index, filter) in cx.filters.iter().enumerate() {
        let name = filter.full_name();
        if said.contains(&(name.clone(), None)) {
            continue;
        }
        let unsaid = |patch: &usize| !said.contains(&(name.clone(), Some(*patch)));
        let silent: Vec<usize> = (0..filter.patches.len()).filter(unsaid).collect();
        if silent.is_empty() {
            continue;
        }
        if !cx.attaches_to_dump(index) {
            let span = filter.name_key_span();
            let mut finding =
                Finding::new(rule, span, of_given(dumps, "EnvoyFilter does not attach to", "EnvoyFilter attaches to"))
                    .of(filter, None)
                    .label("without effect here");
            for (reason, proxies) in reasons(cx, index) {
                finding = finding.note(format!("{}: {reason}", names::listed(proxies.iter().map(String::as_str), 4)));
            }
            out.push(finding.ineffective());
            continue;
        }
        for patch in silent.into_iter().filter(|&patch| cx.inert(index, patch)) {
            let route = filter.patch_route(patch);
            out.push(
                Finding::new(
                    rule,
                    filter.document.key_span(&route),
                    of_given(dumps, "patch does not change", "patch changes"),
                )
                .of(filter, Some(patch))
                .label("the result is the same without it")
                .ineffective(),
            );
        }
    }
}

/// What is said of one given proxy, or of all.
fn of_given(dumps: usize, one: &str, none: &str) -> String {
    if dumps == 1 {
        format!("this {one} the given proxy")
    } else {
        format!("this {none} none of the {dumps} given proxies")
    }
}

/// Why the filter attaches to none, with the proxies for each reason.
fn reasons(cx: &Context<'_>, index: usize) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in cx.runs.iter().filter(|run| run.knowledge == Knowledge::Dump) {
        let reason = words(cx, &cx.filters[index], &run.plan.selections[index]);
        found.entry(reason).or_default().insert(run.label().to_owned());
    }
    found
}

fn words(cx: &Context<'_>, filter: &EnvoyFilter, selection: &Selection) -> String {
    match selection {
        Selection::Selected => "attached".to_owned(),
        Selection::OtherRevision { want, have } => {
            format!("it is labeled for revision `{want}`, and their control plane is `{have}`")
        }
        Selection::OtherNamespace => format!(
            "a filter in namespace `{}` reaches only that namespace; `{}` is the root namespace",
            filter.namespace, cx.mesh.root_namespace
        ),
        Selection::Label { key, want, have: Some(have) } => format!("label `{key}` is `{have}`, not `{want}`"),
        Selection::Label { key, want, have: None } => format!("no label `{key}: {want}`"),
        Selection::TargetRefsNeedGateway => "`targetRefs` attach only to Gateway API gateways and waypoints".to_owned(),
        Selection::WaypointNeedsTargetRefs => "a waypoint attaches only filters with `targetRefs`".to_owned(),
        Selection::GatewayNeedsTargetRefs => {
            "istiod is configured to attach only filters with `targetRefs` to Gateway API gateways".to_owned()
        }
        Selection::NoTargetRef(_) => "none of the `targetRefs` is this gateway".to_owned(),
        Selection::Unreadable(why) => why.to_string(),
    }
}
