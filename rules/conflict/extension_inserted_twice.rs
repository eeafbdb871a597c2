//! EF412: one extension that two patches insert into the same list with different configurations.

use crate::declare_rule;
use crate::engine::PatchId;
use crate::lint::context::ProxyRun;
use crate::lint::order::{decided_by_priority, reason};
use crate::lint::seen::{changed_filter_lists, config_type, exact};
use crate::lint::{Confidence, Context, Finding, Findings, Knowledge, RuleInfo, walk};
use crate::model::envoy_filter::EnvoyFilter;
use crate::proto::tree::Tree;
use crate::source::{Node, Severity};
use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

declare_rule! {
    /// One extension twice in a list, inserted with different configurations.
    ///
    /// # What it finds
    /// Two filters of the same type in one list after all patches, from two EnvoyFilters. Extensions that run their own
    /// code or rules (Lua, Wasm, external processing, header mutation) count only if both have the same name; this is
    /// an info if no patch refers to that name. Also two filters of the same type and name that one EnvoyFilter inserts, except for
    /// these extensions.
    ///
    /// # Why it matters
    /// Envoy runs both: a request takes tokens of both limits and calls both services. If both have the same name, a
    /// route's configuration (`typed_per_filter_config`) applies to both.
    ///
    /// # How to fix
    /// Let one EnvoyFilter insert the filter and the other MERGE into it, or give them distinct, descriptive names.
    ///
    /// # References
    /// Envoy, "HTTP filters": each filter of the list runs.
    "EF412" "extension-inserted-twice" Conflict Warning => check,
    explains: &["EF404"]
}

/// Suffixes of the types of extensions that are often in a list more than once.
const SEVERAL: &[&str] = &[
    ".lua.v3.Lua",
    ".wasm.v3.Wasm",
    ".ext_proc.v3.ExternalProcessor",
    ".header_mutation.v3.HeaderMutation",
    ".golang.v3alpha.Config",
    ".dynamic_modules.v3.DynamicModuleFilter",
    ".set_metadata.v3.Config",
    ".set_filter_state.v3.Config",
    ".header_to_metadata.v3.Config",
    ".composite.v3.Composite",
    ".rbac.v3.RBAC",
    ".router.v3.Router",
    ".tcp_proxy.v3.TcpProxy",
    ".fault.v3.HTTPFault",
    ".http_connection_manager.v3.HttpConnectionManager",
];

/// Two filters of one extension.
#[derive(Default)]
struct Twice {
    /// Last part of its type.
    kind: String,
    name: String,
    same_name: bool,
    /// Whether this is common for the extension.
    several: bool,
    labels: Vec<String>,
    certain: bool,
}

/// The same for two patches of a run.
struct Twins {
    kind: String,
    name: String,
    same_name: bool,
    several: bool,
}

impl Twins {
    fn new(kind: &str, name: &str, same_name: bool) -> Twins {
        let (name, several) = (name.to_owned(), several(kind));
        Twins { kind: kind.rsplit('.').next().unwrap_or_default().to_owned(), name, same_name, several }
    }
}

fn several(kind: &str) -> bool {
    SEVERAL.iter().any(|end| kind.ends_with(end))
}

/// A filter, the patch that inserts it, and namespace and name of the EnvoyFilter: given twice, it is still one object.
type Inserted<'f> = (PatchId, (&'f str, &'f str), &'f Tree<'f>);

/// The filters of a kind that come earlier in a list, as far as later ones need them: there may be thousands, and a later one is
/// compared with the first of another owner that differs from it.
#[derive(Default)]
struct Earlier<'f> {
    /// Each with the number of its configuration among these.
    kept: Vec<(Inserted<'f>, usize)>,
}

impl<'f> Earlier<'f> {
    /// The first earlier filter of another owner that differs from this one, which is earlier than the next.
    fn differs_from(&mut self, item: Inserted<'f>) -> Option<(PatchId, &'f Tree<'f>)> {
        let same = self.kept.iter().find(|((_, _, known), _)| known.same(item.2));
        let number = same.map_or(self.kept.len(), |(_, number)| *number);
        let found = self.find(item.1, number).map(|(id, _, filter)| (id, filter));
        if self.is_needed(item.1, number) {
            self.kept.push((item, number));
        }
        found
    }

    fn find(&self, owner: (&str, &str), number: usize) -> Option<Inserted<'f>> {
        let other = |((_, of, _), configuration): &&(Inserted<'f>, usize)| *of != owner && *configuration != number;
        self.kept.iter().find(other).map(|(item, _)| *item)
    }

    /// Whether a later filter can differ from this one only: after a handful, none can.
    fn is_needed(&self, owner: (&str, &str), number: usize) -> bool {
        const OTHERS: ((&str, &str), usize) = (("", ""), usize::MAX);
        let owners = || self.kept.iter().map(|((_, of, _), _)| *of).chain([OTHERS.0]).filter(|of| *of != owner);
        let numbers = || self.kept.iter().map(|(_, known)| *known).chain([OTHERS.1]).filter(|known| *known != number);
        owners().any(|owner| numbers().any(|number| self.find(owner, number).is_none()))
    }
}

/// The patches of one EnvoyFilter that insert filters of one type and name with different configurations.
fn of_one_owner<'f>(
    ours: &'f [(PatchId, Cow<'_, str>, &'f Tree<'_>)],
    owner: impl Fn(PatchId) -> usize,
) -> Vec<(PatchId, PatchId, &'f str, &'f str)> {
    let mut known: HashMap<(usize, &str, &str), (PatchId, &Tree<'_>)> = HashMap::new();
    let again = |(id, kind, filter): &'f (PatchId, Cow<'_, str>, &'f Tree<'_>)| {
        let key = (owner(*id), kind.as_ref(), filter.name());
        let (first, other) = *known.entry(key).or_insert((*id, filter));
        let twice = first != *id && !kind.is_empty() && !other.same(filter);
        twice.then(|| (first.min(*id), first.max(*id), kind.as_ref(), filter.name()))
    };
    ours.iter().filter_map(again).collect()
}

/// The first of its kind for each filter of each list that has one, by the patches that insert them.
fn twins(cx: &Context<'_>, run: &ProxyRun<'_>) -> BTreeMap<(PatchId, PatchId), Twins> {
    // The same patch inserts into many lists.
    let mut fit: Vec<Option<bool>> = vec![None; run.plan.patches.len()];
    let mut fits =
        |id: PatchId| *fit[id.index()].get_or_insert_with(|| cx.view(run, id).is_some_and(|view| exact(run, &view)));
    let mut found: BTreeMap<(PatchId, PatchId), Twins> = BTreeMap::new();
    let mut looked: HashSet<Vec<(PatchId, *const ())>> = HashSet::new();
    let mut look = |filters: &[Tree<'_>]| {
        let ours = filters.iter().filter_map(|filter| Some((PatchId::of(filter.origin)?, filter)));
        let ours: Vec<(PatchId, &Tree<'_>)> = ours.filter(|(id, _)| fits(*id)).collect();
        // Most lists of a proxy get the same filters.
        if !looked.insert(ours.iter().map(|(id, filter)| (*id, filter.identity())).collect()) {
            return;
        }
        let ours: Vec<_> = ours.into_iter().map(|(id, filter)| (id, config_type(filter), filter)).collect();
        let owner = |id: PatchId| run.plan.get(id).filter;
        for (first, second, kind, name) in of_one_owner(&ours, owner) {
            if !several(kind) {
                found.entry((first, second)).or_insert_with(|| Twins::new(kind, name, true));
            }
        }
        // Extensions that are often in a list more than once count only under one name.
        let mut earlier: HashMap<(&str, &str), Earlier<'_>> = HashMap::new();
        for (id, kind, filter) in ours.iter().filter(|(_, kind, _)| !kind.is_empty()) {
            let name = if several(kind) { filter.name() } else { "" };
            let owner = &cx.filters[owner(*id)];
            let item = (*id, (owner.namespace.as_str(), owner.name.as_str()), *filter);
            if let Some((other_id, other)) = earlier.entry((kind, name)).or_default().differs_from(item) {
                let same_name = other.name() == filter.name();
                let pair = (other_id.min(*id), other_id.max(*id));
                found.entry(pair).or_insert_with(|| Twins::new(kind, filter.name(), same_name));
            }
        }
    };
    for (_, listener) in run.changed_listeners() {
        for (_, filters) in changed_filter_lists(listener) {
            look(filters);
        }
    }
    found
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut found: BTreeMap<[usize; 4], Twice> = BTreeMap::new();
    // Sample proxies that get the same patches share a result; only the names of the filters differ.
    let names: BTreeSet<String> = cx.filters.iter().map(EnvoyFilter::full_name).collect();
    let are_unique = names.len() == cx.filters.len();
    let mut known = HashMap::new();
    for run in &cx.runs {
        let certain = run.knowledge == Knowledge::Dump;
        let fresh;
        let twins = if certain || !are_unique {
            fresh = twins(cx, run);
            &fresh
        } else {
            known.entry(Arc::as_ptr(&run.judged)).or_insert_with(|| twins(cx, run))
        };
        for (&(first, second), twins) in twins {
            let planned = |id| (run.plan.get(id).filter, run.plan.get(id).built.patch.index);
            let (one, two) = (planned(first), planned(second));
            let entry = found.entry([two.0, two.1, one.0, one.1]).or_default();
            entry.kind.clone_from(&twins.kind);
            entry.name.clone_from(&twins.name);
            (entry.same_name, entry.several) = (twins.same_name, twins.several);
            entry.certain |= certain;
            if entry.certain {
                entry.labels.push(run.label().to_owned());
            }
        }
    }
    let referred_to = LazyCell::new(|| referred_to(cx));
    for ([filter, patch, first, first_patch], Twice { kind, name, same_name, several, labels, certain }) in found {
        let (Some(view), Some(other)) = (cx.patch(filter, patch), cx.patch(first, first_patch)) else { continue };
        let who = if filter == first { format!("configPatches[{first_patch}]") } else { other.filter.full_name() };
        let mut finding = Finding::new(
            rule,
            view.value_path_span("name"),
            format!("{who} inserts a `{kind}` into the same list: both run"),
        )
        .label("the second of its kind")
        .related(other.value_path_span("name"), format!("inserted by {who}"))
        .help("let one patch insert the filter and the other MERGE into it, or remove one")
        .confidence(if certain { Confidence::Certain } else { Confidence::Likely })
        .of(view.filter, Some(patch));
        if filter != first && !decided_by_priority(cx, first, filter) {
            finding = finding
                .beside(other.filter)
                .note(format!("no priority decides their order: {}", reason(cx, first, filter)));
        }
        if same_name {
            finding = finding.note(
                "both have the same name: typed_per_filter_config of a route applies to both, and so does a MERGE",
            );
        }
        // Two scripts of the same name do no harm if no patch refers to that name.
        if several && !referred_to.contains(name.as_str()) {
            finding = finding.severity(Severity::Info);
        }
        out.push(if certain { finding.workloads(labels) } else { finding });
    }
}

/// The names of filters that patches configure for routes or merge into.
fn referred_to<'a>(cx: &Context<'a>) -> HashSet<&'a str> {
    let mut names = HashSet::new();
    for view in cx.patches() {
        if let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) {
            walk::fields(value, &mut |field| {
                if field.inside("typed_per_filter_config") {
                    names.insert(field.key);
                }
            });
        }
        if view.built.is_some_and(|built| built.operation.is_merge()) {
            let merged = view.node(&["match", "listener", "filterChain", "filter", "subFilter", "name"]);
            names.extend(merged.and_then(Node::as_str));
        }
    }
    names
}
