//! What `istioctl analyze` reports on EnvoyFilters (IST0151 to IST0155), and whether that is right.
//!
//! istioctl's analyser (istio.io/istio `pkg/config/analysis/analyzers/envoyfilter`, releases 1.22 to 1.31) looks at applyTo,
//! operation, priority and the names of values; it never looks at a proxy.

use super::context::{Context, Knowledge, PatchView};
use crate::engine::program::Status;
use crate::engine::trace::{NoOp, Trace};
use crate::engine::{self, Options, Outcome, PatchId};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, Patch};
use crate::model::release::Release;
use crate::source::{NodeValue, Span};

/// What istioctl's codes are about, as names of our rules. A suppression of IST0151 or IST0155 is about the order of
/// filters only: that a match finds nothing at all is nothing istioctl ever says.
pub const RULES: &[(&str, &[&str])] = &[
    ("IST0151", &["order-by-creation-time", "anchor-added-later"]),
    ("IST0152", &["operation-without-effect"]),
    ("IST0153", &["operation-without-effect"]),
    ("IST0154", &["operation-without-effect"]),
    ("IST0155", &["order-by-creation-time", "anchor-added-later"]),
];

/// The first release whose istioctl knows that REPLACE works for virtual hosts.
const REPLACES_VIRTUAL_HOSTS: Release = Release::patch(29, 2);

/// The names of our rules that look at what an istioctl code is about.
pub fn rules_for(code: &str) -> &'static [&'static str] {
    RULES.iter().find(|(known, _)| *known == code).map_or(&[], |(_, names)| names)
}

/// Whether istioctl is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// What it says is so.
    Right,
    /// What it says is not so.
    Wrong,
    /// The patch does nothing, for another reason than the one it gives.
    OtherReason,
    /// It cannot be told from what is given.
    Unknown,
}

impl Judgement {
    /// The word in JSON and in front of the reason.
    pub const fn words(self) -> &'static str {
        match self {
            Judgement::Right => "rightly",
            Judgement::Wrong => "wrongly",
            Judgement::OtherReason => "for the wrong reason",
            Judgement::Unknown => "perhaps rightly",
        }
    }
}

/// A report of istioctl on a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// istioctl's code.
    pub code: &'static str,
    /// `namespace/name` of the filter.
    pub filter: String,
    /// Index of the patch.
    pub patch: usize,
    /// The patch's operation.
    pub span: Span,
    /// Whether it is right.
    pub right: Judgement,
    /// Why.
    pub why: String,
}

/// What istioctl would report, patch by patch.
pub fn verdicts(cx: &Context<'_>) -> Vec<Verdict> {
    let mut found = Vec::new();
    // istioctl carries the names of patches with a proxyVersion from one patch and filter to the next.
    let mut pinned: Vec<String> = Vec::new();
    for (index, filter) in cx.filters.iter().enumerate() {
        let suppressed = filter.annotations.get(super::suppress::ISTIOCTL_ANNOTATION).map(String::as_str);
        for patch in &filter.patches {
            // Behind a patch without a body it looks no further.
            if patch.body.is_none() {
                break;
            }
            let name = name(patch);
            if let Some(code) = code(cx.release, filter.priority, patch, pinned.contains(&name))
                && !suppressed.is_some_and(|codes| suppresses(codes, code))
                && let Some(view) = cx.patch(index, patch.index)
            {
                let (right, why) = judge(cx, &view, code);
                let span = view.value_span(&["patch", "operation"]);
                found.push(Verdict { code, filter: filter.full_name(), patch: patch.index, span, right, why });
            }
            if patch.proxy.as_ref().is_some_and(|proxy| !proxy.version.is_empty()) {
                pinned.push(name);
            }
        }
    }
    found
}

fn suppresses(codes: &str, code: &str) -> bool {
    codes.split(',').map(str::trim).any(|word| word == "*" || word == code)
}

/// The code that istioctl reports for a patch.
fn code(release: Release, priority: i32, patch: &Patch, pinned: bool) -> Option<&'static str> {
    use Operation as Op;
    let on_routes = matches!(patch.apply_to, ApplyTo::RouteConfiguration | ApplyTo::HttpRoute);
    let replaceable = matches!(patch.apply_to, ApplyTo::NetworkFilter | ApplyTo::HttpFilter)
        || (patch.apply_to == ApplyTo::VirtualHost && release >= REPLACES_VIRTUAL_HOSTS);
    match patch.body.as_ref()?.operation {
        Op::Replace if !replaceable => Some("IST0152"),
        Op::Add if on_routes => Some("IST0153"),
        Op::Remove if on_routes => Some("IST0154"),
        Op::InsertBefore | Op::InsertAfter | Op::Replace | Op::Remove if priority == 0 => {
            Some(if pinned { "IST0155" } else { "IST0151" })
        }
        _ => None,
    }
}

/// What istioctl takes for the name of a patch: of the value as it prints it, else of the network filter in the match.
fn name(patch: &Patch) -> String {
    let value = patch.body.as_ref().and_then(|body| body.value.as_ref());
    let Some(value) = value.filter(|value| !value.entries().is_empty()) else { return String::new() };
    if let Some(name) = value.get("name") {
        return match &name.value {
            NodeValue::String(text) => format!("string_value:{text:?}"),
            other => format!("{other:?}"),
        };
    }
    let ObjectMatch::Listener(listener) = &patch.object else { return String::new() };
    let filter = listener.filter_chain.as_ref().and_then(|chain| chain.filter.as_ref());
    filter.map(|filter| filter.name.clone()).unwrap_or_default()
}

fn judge(cx: &Context<'_>, view: &PatchView<'_>, code: &str) -> (Judgement, String) {
    let release = format!("Istio {}.{}", cx.release.major, cx.release.minor);
    if !matches!(code, "IST0151" | "IST0155") {
        let operation = view.patch.body.as_ref().map_or(Operation::Invalid, |body| body.operation);
        let what = format!("{operation} on {}", view.patch.apply_to);
        let status = view.built.map(|built| built.status);
        return match status {
            Some(Status::NoOp(NoOp::OperationIgnored)) => {
                (Judgement::Right, format!("{what} does nothing in {release}"))
            }
            Some(Status::NoOp(_) | Status::Discarded(_)) => {
                (Judgement::OtherReason, format!("{what} works in {release}; this patch does nothing all the same"))
            }
            _ => (Judgement::Wrong, format!("{what} works in {release}")),
        };
    }
    let runs: Vec<_> = cx.on_proxies(view.filter_index, view.patch.index).collect();
    let dumps = runs.iter().any(|run| run.run.knowledge == Knowledge::Dump);
    let given = if dumps { "the configuration given" } else { "the configuration istiod generates by default" };
    if runs.is_empty() {
        return (Judgement::Unknown, "no proxy is known that the filter attaches to".to_owned());
    }
    let alone: Vec<_> = runs.iter().map(|run| applied_alone(run.run, view.filter_index, run.id)).collect();
    let (applied, needs_others): (Vec<_>, Vec<_>) = runs
        .iter()
        .zip(&alone)
        .filter(|(run, _)| run.outcome == Outcome::Applied)
        .partition(|(_, places)| **places > 0);
    match (applied.len(), needs_others.len()) {
        (_, 1..) => (
            Judgement::Right,
            "what it refers to comes from another EnvoyFilter: without a priority the time of creation decides"
                .to_owned(),
        ),
        (0, 0) if added_later(cx, view) => {
            (Judgement::Right, "what it refers to is added by another EnvoyFilter, behind this patch".to_owned())
        }
        (0, 0) => (
            Judgement::OtherReason,
            format!(
                "the patch changes nothing in {given}, and no priority helps: no other EnvoyFilter adds what it asks for"
            ),
        ),
        (some, 0) if some < runs.len() => (
            Judgement::Wrong,
            format!(
                "where it applies ({some} of {} proxies of {given}) what it refers to is there without any other EnvoyFilter",
                runs.len()
            ),
        ),
        _ => (
            Judgement::Wrong,
            format!("what it refers to is in {given} without any other EnvoyFilter: the order does not matter"),
        ),
    }
}

/// In how many places a patch changes something when no other filter is there.
fn applied_alone(run: &super::context::ProxyRun<'_>, filter: usize, id: PatchId) -> usize {
    let others: Vec<PatchId> = run.plan.ids().filter(|&other| run.plan.get(other).filter != filter).collect();
    let mut trace = Trace::new(run.plan.patches.len());
    engine::run(&run.plan.without(&others), run.config, &Options::default(), &mut trace);
    trace.patches.get(id.index()).map_or(0, |trace| trace.effects.iter().filter(|(_, effect)| effect.changes()).count())
}

/// Whether the patch would match behind some other filter.
fn added_later(cx: &Context<'_>, view: &PatchView<'_>) -> bool {
    cx.on_proxies(view.filter_index, view.patch.index).any(|run| {
        let plan = run.run.plan;
        let last = plan.ids().filter(|&other| plan.get(other).filter != view.filter_index && other > run.id).last();
        last.is_some_and(|last| run.run.matches_after(run.id, last))
    })
}
