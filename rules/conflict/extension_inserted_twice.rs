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

fn several(kind: &str) -> bool {
    SEVERAL.iter().any(|end| kind.ends_with(end))
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
    let mut fit: HashMap<PatchId, bool> = HashMap::new();
    let mut fits = |id| *fit.entry(id).or_insert_with(|| cx.view(run, id).is_some_and(|view| exact(run, &view)));
    let mut found: BTreeMap<(PatchId, PatchId), Twins> = BTreeMap::new();
    let mut look = |filters: &[Tree<'_>]| {
        let ours: Vec<_> = filters
            .iter()
            .filter_map(|filter| {
                Some((PatchId::of(filter.origin).filter(|&id| fits(id))?, config_type(filter), filter))
            })
            .collect();
        let owner = |id: PatchId| run.plan.get(id).filter;
        // Neighbors are often of one kind.
        let of_a_kind: Vec<&[(PatchId, Cow<'_, str>, &Tree<'_>)]> =
            ours.chunk_by(|(_, one, _), (_, next, _)| one == next).collect();
        // Most extensions have one owner, however many filters it inserts.
        let mut owners: HashMap<&str, (usize, bool)> = HashMap::new();
        for alike in &of_a_kind {
            for (id, kind, _) in alike.iter().take(1) {
                let (first, is_shared) = owners.entry(kind.as_ref()).or_insert((owner(*id), false));
                *is_shared |= alike.iter().any(|(id, ..)| owner(*id) != *first);
            }
        }
        for (first, second, kind, name) in of_one_owner(&ours, owner) {
            let is_known = found.contains_key(&(first, second));
            if !is_known && !several(kind) {
                let kind = kind.rsplit('.').next().unwrap_or_default().to_owned();
                let name = name.to_owned();
                found.insert((first, second), Twins { kind, name, same_name: true, several: false });
            }
        }
        let mut end = 0;
        for alike in of_a_kind {
            let start = end;
            end += alike.len();
            let Some((_, kind, _)) = alike.first() else { continue };
            if kind.is_empty() || owners.get::<str>(kind.as_ref()).is_none_or(|(_, is_shared)| !is_shared) {
                continue;
            }
            let several = several(kind);
            for (at, (id, _, filter)) in alike.iter().enumerate() {
                for (other_id, other_kind, other) in &ours[..start + at] {
                    let (first, second) = ((*other_id).min(*id), (*other_id).max(*id));
                    let (one, two) = (owner(first), owner(second));
                    if other_kind != kind || one == two {
                        continue;
                    }
                    let same_name = other.name() == filter.name();
                    let kind = kind.rsplit('.').next().unwrap_or_default();
                    let is_same = |known: &Twins| {
                        (known.same_name, known.several) == (same_name, several)
                            && known.kind == kind
                            && known.name == filter.name()
                    };
                    // Most lists of a proxy have the same filters.
                    let is_known = found.get(&(first, second)).is_some_and(is_same);
                    let twice = same_name || !several;
                    let counts = is_known || (twice && !cx.same_object(one, two));
                    if !counts || other.same(filter) {
                        continue;
                    }
                    if !is_known {
                        let (kind, name) = (kind.to_owned(), filter.name().to_owned());
                        found.insert((first, second), Twins { kind, name, same_name, several });
                    }
                    // One of several is enough.
                    break;
                }
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
