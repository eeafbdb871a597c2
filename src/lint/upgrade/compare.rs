//! The changes of each patch between two snapshots; a change on many proxies is one entry.

use super::needless;
use super::snapshot::{PatchChange, PatchRecord, RunKey, RunRecord, Snapshot};
use crate::engine::{Outcome, REFERENCED_SERVICES, compat::Behaviour, compat::Compat};
use crate::lint::facts::context::{Context, Knowledge};
use crate::lint::rule::Change;
use crate::model::envoy_filter::{ApplyTo, ClusterMatch, ObjectMatch, Operation, Patch, PatchContext};
use crate::model::proxy::ProxyKind;
use std::collections::{BTreeMap, HashMap};

type Group = (usize, Option<usize>, Change, String);

/// What changes between two snapshots of the same filters.
pub(super) fn changes(before: &Snapshot, after: &Snapshot, cx: &Context<'_>) -> Vec<PatchChange> {
    let earlier: HashMap<&RunKey, &RunRecord> = before.runs.iter().map(|run| (&run.key, run)).collect();
    let mut groups: BTreeMap<Group, PatchChange> = BTreeMap::new();
    for (index, run) in after.runs.iter().enumerate() {
        let Some(was) = earlier.get(&run.key) else { continue };
        // A lost effect that another patch undid anyway is not a change.
        let hidden = was.net.is_some() && was.net == run.net;
        let shown = |change: &PatchChange| !hidden || matches!(change.kind, Change::Panics | Change::Refused);
        let mut add = |change: PatchChange| {
            let key = (change.filter, change.patch, change.kind, change.reason.clone());
            groups
                .entry(key)
                .and_modify(|known| {
                    known.runs.push(index);
                    known.likely &= change.likely;
                })
                .or_insert(change);
        };
        for (&filter, patches) in &was.filters {
            for (patch, old) in patches.iter().enumerate() {
                let new = run.filters.get(&filter).and_then(|patches| patches.get(patch));
                if let Some(change) = one((before, after), cx, index, (filter, patch), (old, new)).filter(shown) {
                    add(change);
                }
            }
        }
        for filter in was.filters.keys().chain(run.filters.keys().filter(|filter| !was.filters.contains_key(filter))) {
            if let Some(change) = annotation(cx, before, *filter, (was, run), index) {
                add(change);
            }
        }
        for (&filter, patches) in &run.filters {
            if was.filters.contains_key(&filter) {
                continue;
            }
            let reason = was.detached.get(&filter).cloned().unwrap_or_default();
            for (patch, new) in patches.iter().enumerate().filter(|(_, new)| new.outcome == Outcome::Applied) {
                let old = PatchRecord { outcome: Outcome::NotSelected, ..new.clone() };
                let mut change = bare((filter, Some(patch)), Change::Begins, reason.clone(), run, index);
                change.places.1.clone_from(&new.places);
                change.counts = (0, new.count);
                let change = PatchChange { condition: old.nearest, ..change };
                if shown(&change) {
                    add(change);
                }
            }
        }
    }
    groups.into_values().collect()
}

fn bare(
    (filter, patch): (usize, Option<usize>),
    kind: Change,
    reason: String,
    run: &RunRecord,
    index: usize,
) -> PatchChange {
    PatchChange {
        filter,
        patch,
        kind,
        reason,
        condition: None,
        candidates: Vec::new(),
        runs: vec![index],
        likely: run.knowledge == Knowledge::Reference,
        places: (Vec::new(), Vec::new()),
        counts: (0, 0),
        cause: None,
        pinned: false,
    }
}

fn one(
    (before, after): (&Snapshot, &Snapshot),
    cx: &Context<'_>,
    index: usize,
    (filter, patch): (usize, usize),
    (old, new): (&PatchRecord, Option<&PatchRecord>),
) -> Option<PatchChange> {
    let run = after.runs.get(index)?;
    let effective = old.outcome == Outcome::Applied;
    let Some(new) = new else {
        if !effective {
            return None;
        }
        let refused = after.refused.get(filter).copied().flatten();
        let (kind, reason) = match refused {
            Some(why) => (Change::Refused, why.to_string()),
            None => (Change::Detached, run.detached.get(&filter).cloned().unwrap_or_default()),
        };
        let mut change = bare((filter, None), kind, reason, run, index);
        change.places.0.clone_from(&old.places);
        change.counts = (old.count, 0);
        return Some(change);
    };
    let needless = || {
        let releases = (before.release, after.release);
        cx.runs.get(index).is_some_and(|here| needless::is(run, here.config, releases, old, new))
    };
    let kind = match (effective, new.outcome == Outcome::Applied) {
        // A patch that had no effect and now makes istiod panic takes others with it.
        _ if new.panic.is_some() && old.panic.is_none() => Change::Panics,
        (true, true) if old.effects != new.effects && !needless() => Change::Different,
        (true, true) | (false, false) => return None,
        (false, true) => Change::Begins,
        (true, false) => match new.outcome {
            Outcome::Aborted => Change::LostToPanic,
            Outcome::Discarded => Change::Discarded,
            Outcome::NotSelected if new.other_version => Change::VersionPin,
            Outcome::NotSelected => Change::Stops,
            _ if needless() => Change::Needless,
            _ => Change::Stops,
        },
    };
    let reason = match kind {
        Change::Begins => old.reason.clone(),
        Change::Panics => new.panic.clone().unwrap_or_default(),
        Change::Different => String::new(),
        _ => new.reason.clone(),
    };
    Some(PatchChange {
        condition: new.nearest.filter(|_| kind == Change::Stops),
        candidates: new.candidates.clone(),
        places: (old.places.clone(), new.places.clone()),
        counts: (old.count, new.count),
        cause: new.lost_to,
        pinned: old.other_version,
        ..bare((filter, Some(patch)), kind, reason, run, index)
    })
}

/// An annotation that adds clusters to waypoints, without a patch of the filter.
fn annotation(
    cx: &Context<'_>,
    before: &Snapshot,
    filter: usize,
    (was, run): (&RunRecord, &RunRecord),
    index: usize,
) -> Option<PatchChange> {
    let hosts = cx.filters[filter].annotations.get(REFERENCED_SERVICES)?;
    // Clusters that the filters of this proxy remove again are not added.
    let takes_all = |patch: &Patch| {
        let removes = patch.body.as_ref().is_some_and(|body| body.operation == Operation::Remove);
        let unasked = match &patch.object {
            ObjectMatch::None => true,
            ObjectMatch::Cluster(cluster) => *cluster == ClusterMatch::default(),
            _ => false,
        };
        let outbound = matches!(patch.context, PatchContext::Any | PatchContext::SidecarOutbound);
        patch.apply_to == ApplyTo::Cluster && removes && unasked && outbound && patch.proxy.is_none()
    };
    if run.filters.keys().any(|&other| cx.filters[other].patches.iter().any(takes_all)) {
        return None;
    }
    let reads = |release| Compat { release }.has(Behaviour::ReferencedServices);
    let adds = |release, run: &RunRecord| {
        !hosts.is_empty() && reads(release) && run.kind == ProxyKind::Waypoint && run.filters.contains_key(&filter)
    };
    match (adds(before.release, was), adds(cx.release, run)) {
        (false, true) if !reads(before.release) => {
            let reason = format!("`{REFERENCED_SERVICES}` is not read before Istio 1.26");
            Some(bare((filter, None), Change::Begins, reason, run, index))
        }
        (false, true) => {
            let reason = was.detached.get(&filter).cloned().unwrap_or_default();
            Some(bare((filter, None), Change::Begins, reason, run, index))
        }
        (true, false) => {
            let reason = run.detached.get(&filter).cloned().unwrap_or_default();
            Some(bare((filter, None), Change::Detached, reason, run, index))
        }
        _ => None,
    }
}
