//! What `istioctl analyze` reports about EnvoyFilters (IST0151 to IST0155), and whether it is right.
//!
//! istioctl's analyzer (istio.io/istio `pkg/config/analysis/analyzers/envoyfilter`, releases 1.22 to 1.31) checks
//! applyTo, operation, priority and the names of values; it never looks at a proxy.

use crate::engine::program::{BuiltPatch, Status};
use crate::engine::trace::{Effect, NoOp, Place, Trace};
use crate::engine::{self, Outcome, Pass, PatchId};
use crate::lint::facts::context::{Context, Knowledge, PatchRun, PatchView};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, Patch};
use crate::model::release::Release;
use crate::proto::tree::Tree;
use crate::source::{Node, NodeValue, Span};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Annotation that `istioctl analyze` reads: codes separated by commas, or `*`.
pub const ISTIOCTL_ANNOTATION: &str = "galley.istio.io/analyze-suppress";

/// The names of our rules for each istioctl code. A suppression of IST0151 or IST0155 covers only the order of filters,
/// since istioctl never reports a match that finds nothing.
pub const RULES: &[(&str, &[&str])] = &[
    ("IST0151", &["order-by-creation-time", "anchor-added-later"]),
    ("IST0152", &["operation-without-effect"]),
    ("IST0153", &["operation-without-effect"]),
    ("IST0154", &["operation-without-effect"]),
    ("IST0155", &["order-by-creation-time", "anchor-added-later"]),
];

/// The first release whose istioctl knows that REPLACE works for virtual hosts.
const REPLACES_VIRTUAL_HOSTS: Release = Release::patch(29, 2);

/// The names of our rules for an istioctl code.
pub fn rules_for(code: &str) -> &'static [&'static str] {
    RULES.iter().find(|(known, _)| *known == code).map_or(&[], |(_, names)| names)
}

/// Whether istioctl is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Its report is correct.
    Right,
    /// Its report is wrong.
    Wrong,
    /// The patch does nothing, but for a different reason.
    OtherReason,
    /// The input is not enough to decide.
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
    // istioctl carries the names of patches with a proxyVersion over to later patches and filters.
    let mut pinned: HashSet<String> = HashSet::new();
    let mut alone = Alone::new();
    for (index, filter) in cx.filters.iter().enumerate() {
        let suppressed = filter.annotations.get(ISTIOCTL_ANNOTATION).map(String::as_str);
        for patch in &filter.patches {
            // It stops at a patch without a body.
            if patch.body.is_none() {
                break;
            }
            let name = name(patch);
            if let Some(code) = code(cx.release, filter.priority, patch, pinned.contains(&name))
                && !suppressed.is_some_and(|codes| suppresses(codes, code))
                && let Some(view) = cx.patch(index, patch.index)
            {
                let (right, why) = judge(cx, &view, code, &mut alone);
                let span = view.value_span(&["patch", "operation"]);
                found.push(Verdict { code, filter: filter.full_name(), patch: patch.index, span, right, why });
            }
            if patch.proxy.as_ref().is_some_and(|proxy| !proxy.version.is_empty()) {
                pinned.insert(name);
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

/// What istioctl uses as the name of a patch: that of the value as it prints it, otherwise that of the network filter
/// in the match.
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

fn judge(cx: &Context<'_>, view: &PatchView<'_>, code: &str, alone: &mut Alone) -> (Judgement, String) {
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
                (Judgement::OtherReason, format!("{what} works in {release}; this patch nevertheless does nothing"))
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
    let mut applied = 0;
    let mut names = HashSet::new();
    if let Some(node) = view.node(&["match"]) {
        texts(node, &mut names);
    }
    for run in runs.iter().filter(|run| run.outcome == Outcome::Applied) {
        if !applies_alone(run, &names, alone) {
            let why = "what it refers to comes from another EnvoyFilter: without a priority, the creation time decides";
            return (Judgement::Right, why.to_owned());
        }
        applied += 1;
    }
    match applied {
        0 if added_later(cx, view) => {
            (Judgement::Right, "another EnvoyFilter adds what it refers to, but only after this patch".to_owned())
        }
        0 => (
            Judgement::OtherReason,
            format!(
                "the patch changes nothing in {given}, and no priority helps: no other EnvoyFilter adds what it refers to"
            ),
        ),
        some if some < runs.len() => (
            Judgement::Wrong,
            format!(
                "where it applies ({some} of {} proxies of {given}), what it refers to exists without any other EnvoyFilter",
                runs.len()
            ),
        ),
        _ => (
            Judgement::Wrong,
            format!("what it refers to is in {given} without any other EnvoyFilter: the order does not matter"),
        ),
    }
}

/// The patches (by index) that change something if no filter but their own exists, by the configuration, the filter and the part
/// of the run.
type Alone = HashMap<(usize, usize, Pass), HashSet<usize>>;

/// Whether a patch that changes something would do so if no other filter existed; `names` are the texts of its match.
fn applies_alone(here: &PatchRun<'_, '_>, names: &HashSet<&str>, known: &mut Alone) -> bool {
    let run = here.run;
    let filter = here.planned.filter;
    let helped = run.plan.ids().any(|other| {
        let changes = |(_, effect): &(Place, Effect)| effect.changes();
        run.plan.get(other).filter != filter
            && may_help(here.planned.built, run.plan.get(other).built, names)
            && run.judged.trace.patches[other.index()].effects.iter().any(changes)
    });
    if !helped {
        return true;
    }
    let pass = Pass::of(here.planned.built.patch.apply_to);
    // Sample proxies of one kind differ only in the filters that reach them, so one run of a filter alone answers for all. Which
    // clusters a waypoint has depends on annotations of all filters.
    let configuration = match run.knowledge {
        Knowledge::Reference if pass == Pass::Listeners => run.config.resources.as_ptr().addr(),
        _ => Arc::as_ptr(&run.judged).addr(),
    };
    let alone = known.entry((configuration, filter, pass)).or_insert_with(|| {
        let others: Vec<PatchId> = run.plan.ids().filter(|&other| run.plan.get(other).filter != filter).collect();
        let mut trace = Trace::new(run.plan.patches.len());
        engine::run_pass(&run.plan.without(&others), run.config, pass, &mut trace);
        let changes = |id: &PatchId| trace.patches[id.index()].effects.iter().any(|(_, effect)| effect.changes());
        run.plan.ids().filter(changes).map(|id| run.plan.get(id).built.patch.index).collect()
    });
    alone.contains(&here.planned.built.patch.index)
}

/// Whether a patch that changed something may have created what another one refers to. Filters are found by their names
/// alone, and no patch of routes or clusters changes what a patch of listeners or their filters finds.
fn may_help(this: &BuiltPatch<'_>, other: &BuiltPatch<'_>, names: &HashSet<&str>) -> bool {
    use ApplyTo as To;
    let of_listeners =
        |of| matches!(of, To::Listener | To::FilterChain | To::NetworkFilter | To::HttpFilter | To::ListenerFilter);
    if of_listeners(this.patch.apply_to) && !of_listeners(other.patch.apply_to) {
        return false;
    }
    match other.patch.apply_to {
        // A merge may also add HTTP filters, or request other routes.
        To::NetworkFilter if other.operation.is_merge() && !of_listeners(this.patch.apply_to) => true,
        To::NetworkFilter if other.operation.is_merge() => {
            other.value.as_ref().is_some_and(|value| mentions(value, names))
        }
        To::HttpFilter | To::NetworkFilter | To::ListenerFilter => {
            other.value.as_ref().is_some_and(|value| names.contains(value.name()))
        }
        To::ExtensionConfig => false,
        _ => true,
    }
}

/// Whether a value contains one of these texts as a name.
fn mentions(tree: &Tree<'_>, names: &HashSet<&str>) -> bool {
    let tree = tree.readable();
    names.contains(tree.name())
        || tree.items().iter().any(|item| mentions(item, names))
        || tree.entries().iter().any(|(_, value)| mentions(value, names))
}

/// Whether the patch would match after some other filter.
fn added_later(cx: &Context<'_>, view: &PatchView<'_>) -> bool {
    // A missing object is referred to by its name.
    let mut names = HashSet::new();
    if let Some(node) = view.node(&["match"]) {
        texts(node, &mut names);
    }
    cx.on_proxies(view.filter_index, view.patch.index).any(|run| {
        let (plan, trace) = (run.run.plan, &run.run.judged.trace);
        let adds = |other: PatchId| {
            let value = plan.get(other).built.value.as_ref();
            if !value.is_some_and(|value| names.contains(value.name())) {
                return false;
            }
            let effects = &trace.patches[other.index()].effects;
            effects.iter().any(|(_, effect)| effect.changes() && !matches!(effect, Effect::Removed))
        };
        let later = |other: &PatchId| plan.get(*other).filter != view.filter_index && *other > run.id;
        let last = plan.ids().filter(later).filter(|&other| adds(other)).last();
        last.is_some_and(|last| run.run.matches_after(run.id, last))
    })
}

/// Every text below a node.
fn texts<'n>(node: &'n Node, out: &mut HashSet<&'n str>) {
    out.extend(node.as_str());
    node.items().iter().for_each(|item| texts(item, out));
    node.entries().iter().for_each(|entry| texts(&entry.value, out));
}
