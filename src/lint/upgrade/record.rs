//! The engine's results for each patch, kept without the configuration.

use super::snapshot::{PatchRecord, RunRecord};
use super::{forecast, needless, net};
use crate::engine::compat::Behaviour;
use crate::engine::program::ProxyMiss;
use crate::engine::trace::{Effect, NoOp, Place};
use crate::engine::{Outcome, PatchId};
use crate::explain::why;
use crate::lint::facts::context::{Context, Knowledge, ProxyRun};
use crate::model::resource::ResourceKind;
use crate::proto::json::{self, Style};
use crate::proto::merge::{Change, ChangeKind};
use crate::proto::tree::{Tree, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Maximum number of places, candidates and the like that are kept by name.
const KEPT: usize = 16;

/// Records every run.
pub(super) fn runs(cx: &Context<'_>) -> Vec<RunRecord> {
    let mut values = BTreeMap::new();
    cx.runs.iter().map(|run| of(cx, run, &mut values)).collect()
}

fn of(cx: &Context<'_>, run: &ProxyRun<'_>, values: &mut BTreeMap<(usize, usize), u64>) -> RunRecord {
    let proxy = &run.config.proxy;
    let labels = match run.knowledge {
        Knowledge::Reference => format!("{:?}", proxy.labels),
        Knowledge::Dump => String::new(),
    };
    let mut filters: BTreeMap<usize, Vec<PatchRecord>> = run.plan.order.iter().map(|&one| (one, Vec::new())).collect();
    for id in run.plan.ids() {
        let record = patch(run, id, values);
        if let Some(patches) = filters.get_mut(&run.plan.get(id).filter) {
            patches.push(record);
        }
    }
    let near = |filter: usize| {
        let namespace = &cx.filters[filter].namespace;
        *namespace == proxy.namespace || *namespace == cx.mesh.root_namespace
    };
    let detached = (0..cx.filters.len()).filter(|filter| !filters.contains_key(filter) && near(*filter));
    let detached: BTreeMap<usize, String> = detached
        .filter_map(|index| {
            let (selection, filter) = (&run.plan.selections[index], &cx.filters[index]);
            Some((index, why::not_attached(selection, filter, proxy, &cx.mesh.root_namespace)?))
        })
        .collect();
    RunRecord {
        key: (run.knowledge, proxy.kind, format!("{}/{}", proxy.full_name(), labels), proxy.workload.clone()),
        label: run.label().to_owned(),
        made_up: run.is_made_up(),
        knowledge: run.knowledge,
        kind: proxy.kind,
        version: proxy.istio_version.clone(),
        filters,
        detached,
        net: net::of(run),
    }
}

/// Records what one patch does in a run.
fn patch(run: &ProxyRun<'_>, id: PatchId, values: &mut BTreeMap<(usize, usize), u64>) -> PatchRecord {
    let planned = run.plan.get(id);
    let mut outcome = run.judged.outcome(run.plan, id);
    let trace = &run.judged.trace.patches[id.index()];
    // If several clusters have the same name, istiod may keep the first, so adding another one has no effect.
    let in_vain: BTreeSet<&Place> = trace
        .effects
        .iter()
        .filter(|(_, effect)| matches!(effect, Effect::NoOp(NoOp::DuplicateName)))
        .map(|(place, _)| place)
        .collect();
    let changes = |place: &Place, effect: &Effect| {
        effect.changes() && !(matches!(effect, Effect::Added) && in_vain.contains(place))
    };
    let count = trace.effects.iter().filter(|(place, effect)| changes(place, effect)).count();
    if outcome == Outcome::Applied && count == 0 {
        outcome = Outcome::NoOp;
    }
    let mut effects = BTreeSet::new();
    let mut removed = Vec::new();
    let mut places = BTreeSet::new();
    let exact = run.knowledge == Knowledge::Dump;
    for (place, effect) in trace.effects.iter().filter(|(place, effect)| changes(place, effect)) {
        let (filter, patch) = (planned.filter, planned.built.patch.index);
        let value = match effect {
            Effect::Inserted { .. } | Effect::Replaced | Effect::Added => {
                *values.entry((filter, patch)).or_insert_with(|| {
                    let value = planned.built.value.as_ref();
                    value.map_or(0, value_hash)
                })
            }
            _ => 0,
        };
        let key = (hash(&place_key(place, exact)), effect_key(effect, value));
        effects.insert(key);
        if exact && takes_a_name(run, place, effect) {
            effects.insert((key.0, hash(&"one of several of its name")));
        }
        if matches!(effect, Effect::Removed) && needless::filter(place).is_some() {
            removed.push((key, place.clone()));
        }
        if places.len() < KEPT {
            places.insert(place.to_string());
        }
    }
    if count > 0 {
        for place in &in_vain {
            let same = trace
                .effects
                .iter()
                .filter(|(at, effect)| at == *place && matches!(effect, Effect::NoOp(NoOp::DuplicateName)));
            // The number is meaningful on a single proxy only.
            let number = if exact { same.count() } else { 0 };
            effects.insert((hash(&place_key(place, exact)), hash(&("without effect", number))));
        }
    }
    let panic = why::panic(&run.judged.trace, id);
    let lost = run.judged.lost.get(&id).filter(|_| outcome == Outcome::Aborted && panic.is_none());
    let cause = lost.map(|lost| run.plan.get(lost.cause));
    PatchRecord {
        outcome,
        reason: why::without_effect(run.plan, id, &run.judged, outcome),
        count,
        effects: effects.into_iter().collect(),
        removed,
        places: places.into_iter().collect(),
        nearest: trace.nearest,
        candidates: trace.candidates.iter().take(KEPT).cloned().collect(),
        other_version: matches!(planned.proxy_miss, Some(ProxyMiss::Version(_) | ProxyMiss::VersionTooLong)),
        panic,
        lost_to: cause.map(|cause| (cause.filter, cause.built.patch.index)),
    }
}

/// Whether a merge gives a cluster the name of another, of which istiod keeps only one.
fn takes_a_name(run: &ProxyRun<'_>, place: &Place, effect: &Effect) -> bool {
    let Effect::Merged(changes) = effect else { return false };
    let keeps_all = run.plan.compat.has(Behaviour::OutboundClustersKeepDuplicates);
    if keeps_all || place.kind != ResourceKind::Cluster {
        return false;
    }
    let renamed = changes.iter().filter(|one| one.path == "name").find_map(|one| one.after.as_ref()?.as_str());
    let has = |name: &str| run.config.resources.iter().any(|one| one.kind == ResourceKind::Cluster && one.name == name);
    renamed.is_some_and(|name| *name != *place.resource && has(name))
}

/// An object by its names. Between two reference configurations, only the kinds of objects and the names of filters are
/// comparable.
fn place_key(place: &Place, exact: bool) -> impl Hash {
    // An object that istiod only renames stays the same.
    let now = |name: &Arc<str>| forecast::newest(name).to_owned();
    let chain = place.chain.as_ref().map(|(index, name)| (index.is_none(), name.clone()));
    let route = place.route.as_ref().map(|(_, name)| name.clone());
    let names = (place.listener_filter.clone(), place.filter.clone(), place.sub_filter.clone());
    if exact {
        (
            place.kind,
            now(&place.resource),
            chain,
            names,
            (place.inline_route.as_ref().map(now), place.vhost.as_ref().map(now), route),
        )
    } else {
        (place.kind, String::new(), None, (names.0, names.1, names.2), (None, None, None))
    }
}

fn effect_key(effect: &Effect, value: u64) -> u64 {
    match effect {
        Effect::Merged(changes) => hash(&("merged", merged(changes))),
        Effect::TransportSocketMerged(changes, dropped) => hash(&("transport socket", merged(changes), dropped)),
        Effect::Inserted { .. } => hash(&("inserted", value)),
        Effect::Replaced => hash(&("replaced", value)),
        Effect::Added => hash(&("added", value)),
        Effect::Removed => hash(&"removed"),
        Effect::NoOp(_) | Effect::Panicked(_) => 0,
    }
}

/// What a merge writes, leaf by leaf, even if it was there already: paths without positions in lists, which depend on
/// the existing items.
fn merged(changes: &[Change]) -> BTreeSet<(String, bool, u64)> {
    let real = changes.iter().filter(|change| change.kind != ChangeKind::CannotReset);
    let mut out = BTreeSet::new();
    for change in real {
        // Items are appended to a list, or set if there is no list.
        let appended = change.path.rsplit_once('[').filter(|_| change.kind == ChangeKind::Appended);
        let path = appended.map_or(change.path.as_str(), |(list, _)| list);
        let path: String = path.chars().filter(|c| !c.is_ascii_digit()).collect();
        let cleared = change.kind == ChangeKind::Cleared;
        let text = change.after_text();
        match text.as_deref().map(json::parse) {
            Some(Ok(tree)) => leaves(&tree, path, &mut |path, leaf| out.extend([(path, cleared, leaf)])),
            Some(Err(_)) => out.extend([(path, cleared, hash(&text))]),
            None => out.extend([(path, cleared, 0)]),
        }
    }
    out
}

fn leaves(tree: &Tree<'_>, path: String, out: &mut impl FnMut(String, u64)) {
    match &tree.value {
        Value::Map(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                leaves(value, format!("{path}.{key}"), out);
            }
        }
        Value::List(items) => {
            for item in items {
                leaves(item, format!("{path}[]"), out);
            }
        }
        Value::Raw(_) => {
            let mut open = tree.clone();
            open.open();
            if matches!(open.value, Value::Raw(_)) {
                out(path, value_hash(tree));
            } else {
                leaves(&open, path, out);
            }
        }
        _ => out(path, value_hash(tree)),
    }
}

/// A hash that is equal for equal values: the order of fields follows a release's declarations and is ignored.
fn value_hash(tree: &Tree<'_>) -> u64 {
    match &tree.value {
        Value::Map(entries) => {
            entries.iter().fold(1, |sum, (key, value)| u64::wrapping_add(sum, hash(&(key.as_ref(), value_hash(value)))))
        }
        Value::EmptyList => hash(&Vec::<u64>::new()),
        Value::List(items) => hash(&items.iter().map(value_hash).collect::<Vec<_>>()),
        Value::String(text) => hash(&("text", text.as_ref())),
        Value::Number(text) => hash(&("number", &**text)),
        Value::Bool(flag) => hash(flag),
        Value::Null => 0,
        Value::Raw(_) => {
            let mut open = tree.clone();
            open.open();
            if matches!(open.value, Value::Raw(_)) {
                hash(&json::write(tree, Style::Compact))
            } else {
                value_hash(&open)
            }
        }
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
