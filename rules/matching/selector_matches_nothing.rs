//! EF201: a selector that matches no reachable workload.

use crate::declare_rule;
use crate::lint::{Confidence, Context, Finding, Findings, RuleInfo, names, reach};
use crate::model::envoy_filter::{EnvoyFilter, Patch, PatchContext};
use crate::model::proxy::{GATEWAY_NAME_LABEL, ProxyKind};
use crate::source::escape::one_line;
use crate::source::{Severity, Step};
use crate::words::few;
use std::cell::LazyCell;

declare_rule! {
    /// A workloadSelector that selects no workload that the EnvoyFilter can reach.
    ///
    /// # What it finds
    /// `workloadSelector.labels` that no single workload of the filter's namespace has (for the root namespace: of any
    /// namespace). Silent if no workloads are known: pass manifests, config dumps or a cluster. If the workloads come
    /// only from manifests, it reports only labels that look like a typo.
    ///
    /// # Why it matters
    /// istiod accepts the filter but attaches it to nothing, without any message.
    ///
    /// # How to fix
    /// Write the labels that the pods have (`kubectl get pods --show-labels`). For virtual machines the labels of the
    /// WorkloadEntry or WorkloadGroup count.
    ///
    /// # References
    /// istiod `pilot/pkg/model/policyattachment.go`; istio/istio#34641, istio/istio#17414.
    "EF201" "selector-matches-nothing" Matching Error => check,
    needs: &[Workloads], later: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known = LazyCell::new(|| reach::known(cx));
    let by_label = reach::ByLabel::new(cx);
    for filter in cx.filters {
        let Some(labels) = filter.selector.as_ref().filter(|labels| !labels.is_empty()) else { continue };
        if reach::by_target_refs(cx, filter) || by_label.selected(filter).next().is_some() {
            continue;
        }
        let in_scope: Vec<_> = known.iter().filter(|one| reach::in_scope(cx, filter, one)).collect();
        // The workload that comes closest, and its first different label.
        let missing = |one: &&&reach::Reached<'_>| {
            labels.iter().filter(|(key, want)| one.labels.get(*key) != Some(*want)).count()
        };
        let Some(nearest) = in_scope.iter().min_by_key(missing) else { continue };
        let Some((key, want)) = labels.iter().find(|(key, want)| nearest.labels.get(*key) != Some(*want)) else {
            continue;
        };
        let values = || in_scope.iter().filter_map(|one| one.labels.get(key)).map(String::as_str);
        let keys = || {
            in_scope.iter().filter(|one| one.labels.values().any(|have| have == want)).flat_map(|one| one.labels.keys())
        };
        let (like, what) = match names::nearest(want, values()) {
            Some(value) => (Some(value), "value"),
            None => (names::nearest(key, keys().map(String::as_str).filter(|it| *it != key)), "label"),
        };
        let sure = in_scope.iter().any(|one| one.kind.is_some()) || reach::complete(cx);
        if like.is_none() && !sure {
            continue;
        }
        let number = match in_scope.len() {
            1 => "workload".to_owned(),
            number => format!("{number} workloads"),
        };
        let mut route: Vec<Step> = ["spec", "workloadSelector", "labels"].into_iter().map(Step::from).collect();
        route.push(Step::from(key.as_str()));
        let have: std::collections::BTreeSet<&str> = values().collect();
        // If no workload has the label and a similar one exists, the key must change.
        let written = filter.document.at(&route).filter(|_| !have.is_empty() && (like.is_none() || what == "value"));
        let span = written.map_or(filter.document.key_span(&route), |node| node.span);
        let mut finding = Finding::new(rule, span, format!("no workload in reach has the label `{key}: {want}`"))
            .of(filter, None)
            .confidence(if sure { Confidence::Certain } else { Confidence::Likely })
            .severity(if like.is_some() || reach::complete(cx) { Severity::Error } else { Severity::Info })
            .label("selects nothing")
            .ineffective()
            .note(if have.is_empty() {
                let none = if in_scope.len() == 1 { "the only" } else { "none of the" };
                let has = if in_scope.len() == 1 { "has no" } else { "has a" };
                format!("{none} {number} known in reach of this filter {has} label `{key}`")
            } else {
                let of = if in_scope.len() == 1 { "on the only" } else { "of the" };
                format!("{of} {number} known in reach of this filter, `{key}` is {}", names::listed(have, 8))
            });
        if let Some(like) = like {
            finding = finding.help(match what {
                "value" => format!("write `{key}: {like}`"),
                _ => format!("write `{like}: {want}`"),
            });
        }
        if like.is_none()
            && let Some(help) = gateway_labels(filter, &in_scope)
        {
            finding = finding.help(help);
        }
        out.push(finding);
    }
}

/// The labels of the gateway in reach, if the patches are for gateways.
fn gateway_labels(filter: &EnvoyFilter, in_scope: &[&reach::Reached<'_>]) -> Option<String> {
    let for_gateways = |patch: &Patch| patch.context == PatchContext::Gateway;
    if !filter.patches.iter().all(for_gateways) {
        return None;
    }
    let gateway = in_scope.iter().find(|one| one.kind == Some(ProxyKind::Gateway))?;
    if let Some(name) = gateway.labels.get(GATEWAY_NAME_LABEL) {
        let name = one_line(name);
        return Some(format!(
            "select the gateway of the Gateway API: `{GATEWAY_NAME_LABEL}: {name}`, or `targetRefs` with kind Gateway and name `{name}`"
        ));
    }
    let own = gateway.labels.iter().filter(|(key, _)| !key.contains('/'));
    let own: Vec<String> = own.map(|(key, value)| format!("`{}: {}`", one_line(key), one_line(value))).collect();
    let name = gateway.full_name();
    (!own.is_empty()).then(|| format!("{} has {}", one_line(&name), few(&own, own.len(), SHOWN)))
}

/// Maximum number of labels that the help names.
const SHOWN: usize = 4;
