//! What `istioctl analyze` reports about EnvoyFilters (IST0151 to IST0155), and whether it is right.
//!
//! istioctl's analyzer (istio.io/istio `pkg/config/analysis/analyzers/envoyfilter`, releases 1.22 to 1.31) checks
//! applyTo, operation, priority and the names of values; it never looks at a proxy.

use crate::engine::matching::{network_filter_name, sub_filter_name};
use crate::engine::program::Status;
use crate::engine::trace::{Effect, NoOp, Trace};
use crate::engine::{self, Outcome, Pass, PatchId};
use crate::lint::facts::context::{Context, Knowledge, PatchRun, PatchView};
use crate::model::envoy_filter::{ApplyTo, EnvoyFilter, ObjectMatch, Operation, Patch};
use crate::model::proxy::ProxyKind;
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
pub(crate) fn rules_for(code: &str) -> &'static [&'static str] {
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
    pub(crate) const fn words(self) -> &'static str {
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
    judged(cx, &Reported::of(cx.filters, cx.release))
}

/// The patches that istioctl reports, by the document of their filter, each with the code.
pub(in crate::lint) struct Reported(HashMap<Span, Vec<(usize, &'static str)>>);

impl Reported {
    /// Those of filters in the order of their texts.
    pub(in crate::lint) fn of(filters: &[EnvoyFilter], release: Release) -> Reported {
        let mut found: HashMap<Span, Vec<(usize, &'static str)>> = HashMap::new();
        // istioctl carries the names of patches with a proxyVersion over to later patches and filters.
        let mut pinned: HashSet<String> = HashSet::new();
        for filter in filters {
            let suppressed = filter.annotations.get(ISTIOCTL_ANNOTATION).map(String::as_str);
            // It stops at a patch without a body.
            for patch in filter.patches.iter().take_while(|patch| patch.body.is_some()) {
                let name = name(patch);
                if let Some(code) = code(release, filter.priority, patch, pinned.contains(&name))
                    && !suppressed.is_some_and(|codes| suppresses(codes, code))
                {
                    found.entry(filter.document.span).or_default().push((patch.index, code));
                }
                if patch.proxy.as_ref().is_some_and(|proxy| !proxy.version.is_empty()) {
                    pinned.insert(name);
                }
            }
        }
        Reported(found)
    }
}

/// Judges what istioctl reports. The context may have a part of the filters.
pub(in crate::lint) fn judged(cx: &Context<'_>, reported: &Reported) -> Vec<Verdict> {
    let mut found = Vec::new();
    let (makers, mut alone) = (Makers::of(cx), Alone::new());
    for (index, filter) in cx.filters.iter().enumerate() {
        for &(patch, code) in reported.0.get(&filter.document.span).into_iter().flatten() {
            if let Some(view) = cx.patch(index, patch) {
                let (right, why) = judge(cx, &view, code, &makers, &mut alone);
                let span = view.value_span(&["patch", "operation"]);
                found.push(Verdict { code, filter: filter.full_name(), patch, span, right, why });
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

fn judge(
    cx: &Context<'_>,
    view: &PatchView<'_>,
    code: &str,
    makers: &Makers,
    alone: &mut Alone,
) -> (Judgement, String) {
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
    let others = makers.of_patch(view, &names);
    for run in runs.iter().filter(|run| run.outcome == Outcome::Applied) {
        if !applies_alone(run, &others, alone) {
            let why = "what it refers to comes from another EnvoyFilter: without a priority, the creation time decides";
            return (Judgement::Right, why.to_owned());
        }
        applied += 1;
    }
    match applied {
        0 if added_later(cx, view, &names, makers) => {
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

/// A patch: the indices of its filter and in it.
type Id = (usize, usize);

/// The patches that may create what others refer to, by what they create: few of a mesh's many patches do so for another one.
#[derive(Default)]
struct Makers {
    /// All that have a value, by its name and, for network filter merges, by each name in it.
    named: HashMap<String, Vec<Id>>,
    /// Those that write a filter, by its name.
    filters: HashMap<String, Vec<Id>>,
    /// Network filter merges, by each name in their value.
    mentioned: HashMap<String, Vec<Id>>,
    /// All network filter merges. They may also add HTTP filters, or request other routes.
    merges: Vec<Id>,
    /// Other patches of listeners, whatever their value.
    listeners: Vec<Id>,
    /// Patches of routes and clusters, likewise.
    others: Vec<Id>,
}

impl Makers {
    fn of(cx: &Context<'_>) -> Makers {
        use ApplyTo as To;
        let mut makers = Makers::default();
        let patches = |filter| cx.program.patches(filter).iter().map(move |built| (filter, built));
        for (filter, built) in (0..cx.filters.len()).flat_map(patches) {
            let id = (filter, built.patch.index);
            let merge = built.operation.is_merge();
            // What is found by the name in the value keeps its name: nothing of that name is created.
            let found_by = match built.patch.apply_to {
                To::NetworkFilter if merge => network_filter_name(&built.object),
                To::HttpFilter if merge => sub_filter_name(&built.object),
                _ => None,
            };
            let name = built.value.as_ref().map(Tree::name).filter(|name| found_by != Some(*name));
            let mut names: HashSet<String> = name.map(str::to_owned).into_iter().collect();
            match built.patch.apply_to {
                To::NetworkFilter if merge => {
                    let inside = built.value.iter().flat_map(Tree::entries);
                    inside.for_each(|(_, value)| mentions(value, &mut names));
                    names.iter().for_each(|name| makers.mentioned.entry(name.clone()).or_default().push(id));
                    makers.merges.push(id);
                }
                To::HttpFilter | To::NetworkFilter | To::ListenerFilter => {
                    names.iter().for_each(|name| makers.filters.entry(name.clone()).or_default().push(id));
                }
                To::ExtensionConfig => {}
                To::Listener | To::FilterChain => makers.listeners.push(id),
                _ => makers.others.push(id),
            }
            names.into_iter().for_each(|name| makers.named.entry(name).or_default().push(id));
        }
        makers
    }

    /// The patches of other filters that may create what a patch refers to, if they change something; `names` are the texts of its
    /// match. Filters are found by their names alone, and no patch of routes or clusters changes what a patch of listeners or
    /// their filters finds.
    fn of_patch(&self, view: &PatchView<'_>, names: &HashSet<&str>) -> Vec<Id> {
        let mut found: Vec<Id> = of_names(&self.filters, names).chain(&self.listeners).copied().collect();
        if Pass::of(view.patch.apply_to) == Pass::Listeners {
            found.extend(of_names(&self.mentioned, names));
        } else {
            found.extend(self.merges.iter().chain(&self.others));
        }
        found.retain(|&(filter, _)| filter != view.filter_index);
        found
    }
}

fn of_names<'m>(by_name: &'m HashMap<String, Vec<Id>>, names: &HashSet<&str>) -> impl Iterator<Item = &'m Id> {
    names.iter().filter_map(|name| by_name.get(*name)).flatten()
}

/// The patches (by index) that change something if no filter but their own exists, by the configuration, the filter and the part
/// of the run.
type Alone = HashMap<(usize, usize, Pass), HashSet<usize>>;

/// Whether a patch that changes something would do so if no other filter existed; `makers` are the patches that may have created
/// what it refers to.
fn applies_alone(here: &PatchRun<'_, '_>, makers: &[Id], known: &mut Alone) -> bool {
    let run = here.run;
    let filter = here.planned.filter;
    let changed = |id: PatchId| run.judged.changed(id);
    if !makers.iter().filter_map(|&(filter, patch)| run.plan.find(filter, patch)).any(changed) {
        return true;
    }
    let pass = Pass::of(here.planned.built.patch.apply_to);
    // Sample proxies of one kind differ only in the filters that reach them, so one run of a filter alone answers for all. Which
    // clusters a waypoint has depends on annotations of all filters.
    let own_clusters = pass != Pass::Listeners && run.config.proxy.kind == ProxyKind::Waypoint;
    let configuration = match run.knowledge {
        Knowledge::Reference if !own_clusters => run.config.resources.as_ptr().addr(),
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

/// Every name in a value.
fn mentions(tree: &Tree<'_>, names: &mut HashSet<String>) {
    let tree = tree.readable();
    names.insert(tree.name().to_owned());
    tree.items().iter().for_each(|item| mentions(item, names));
    tree.entries().iter().for_each(|(_, value)| mentions(value, names));
}

/// Whether the patch would match after some other filter; `names` are the texts of its match. A missing object is referred to by
/// its name.
fn added_later(cx: &Context<'_>, view: &PatchView<'_>, names: &HashSet<&str>, makers: &Makers) -> bool {
    let others: Vec<Id> =
        of_names(&makers.named, names).copied().filter(|&(filter, _)| filter != view.filter_index).collect();
    if others.is_empty() {
        return false;
    }
    cx.on_proxies(view.filter_index, view.patch.index).any(|run| {
        let (plan, trace) = (run.run.plan, &run.run.judged.trace);
        let adds = |other: &PatchId| {
            let effects = &trace.patches[other.index()].effects;
            effects.iter().any(|(_, effect)| effect.changes() && !matches!(effect, Effect::Removed))
        };
        let planned = others.iter().filter_map(|&(filter, patch)| plan.find(filter, patch));
        let last = planned.filter(|other| *other > run.id && adds(other)).max();
        last.is_some_and(|last| run.run.matches_after(run.id, last))
    })
}

/// Every text below a node.
fn texts<'n>(node: &'n Node, out: &mut HashSet<&'n str>) {
    out.extend(node.as_str());
    node.items().iter().for_each(|item| texts(item, out));
    node.entries().iter().for_each(|entry| texts(&entry.value, out));
}
