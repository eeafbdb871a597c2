//! The rollout: what each combination of control plane and proxies gives, in total and per workload.

use super::view::{During, Gets, Place, RollOut};
use super::{Request, StepRun};
use crate::engine::Outcome;
use crate::lint::Finding;
use crate::lint::rule::Meaning;
use crate::lint::upgrade::tell::short;
use crate::lint::upgrade::{Change, RunKey, RunRecord, Snapshot, Upgrade};
use crate::model::envoy_filter::EnvoyFilter;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A stage and the comparisons that lead to it from the stage before the upgrade.
struct Row<'a> {
    snapshot: &'a Snapshot,
    steps: Vec<&'a StepRun>,
}

/// The stages before, during and after the rollout.
fn stages<'a>(first: &'a Snapshot, steps: &'a [StepRun], mixed: &'a [StepRun]) -> Vec<Row<'a>> {
    let mut rows = vec![Row { snapshot: first, steps: Vec::new() }];
    rows.extend(mixed.iter().map(|step| Row { snapshot: &step.1.after, steps: vec![step] }));
    rows.extend(steps.last().map(|(_, last)| Row { snapshot: &last.after, steps: steps.iter().collect() }));
    rows
}

impl Row<'_> {
    fn changes(&self) -> impl Iterator<Item = (&Upgrade, &crate::lint::upgrade::PatchChange)> {
        let all =
            self.steps.iter().flat_map(|(_, upgrade)| upgrade.changes.iter().map(move |change| (upgrade, change)));
        all.filter(|(_, change)| change.kind != Change::Needless)
    }

    fn refused(&self) -> BTreeSet<&str> {
        let rejects = |one: &&Finding| one.rule.meaning == Meaning::Rejected;
        self.steps.iter().flat_map(|(findings, _)| findings).filter(rejects).map(|one| one.filter.as_str()).collect()
    }
}

/// Whether a change removes something rather than only changing it.
fn takes(kind: Change) -> bool {
    !matches!(kind, Change::Begins | Change::Different)
}

/// The combinations of istiod and proxies, each compared with the stage before the upgrade.
pub(super) fn rows(
    request: &Request<'_>,
    columns: &HashMap<RunKey, usize>,
    names: &[Vec<String>],
    first: Option<&Snapshot>,
    steps: &[StepRun],
    mixed: &[StepRun],
) -> Vec<RollOut> {
    let Some(first) = first else { return Vec::new() };
    let name = |filter: usize| {
        let name = request.inventory.envoy_filters.get(filter).map(EnvoyFilter::full_name);
        name.filter(|name| request.is_asked(name))
    };
    // Proxies that only selectors suggest do not count for filters that attach to workloads of the input.
    let known = |run: &RunRecord| columns.get(&run.key).and_then(|at| names.get(*at)).is_some_and(|of| !of.is_empty());
    let (old, new) = &request.revisions;
    let stages = stages(first, steps, mixed);
    let all = stages.iter().flat_map(|row| &row.snapshot.runs);
    let met: BTreeSet<usize> = all.filter(|run| known(run)).flat_map(|run| run.filters.keys().copied()).collect();
    let rows = stages.iter().map(|row| {
        let snapshot = row.snapshot;
        let counts = |run: &RunRecord, filter: usize| {
            !snapshot.without_sidecar.contains(&filter) && (known(run) || !met.contains(&filter))
        };
        let of_run = |run| effective(run).filter(move |filter| counts(run, *filter));
        let effective: BTreeSet<usize> = snapshot.runs.iter().flat_map(of_run).collect();
        let (mut lost, mut changed) = (BTreeSet::new(), BTreeSet::new());
        for (_, change) in row.changes() {
            let into = if takes(change.kind) { &mut lost } else { &mut changed };
            into.extend(name(change.filter));
        }
        // On a path of several releases, a filter may change before it is lost.
        changed.retain(|name| !lost.contains(name));
        RollOut {
            istiod: short(snapshot.release),
            revision: if snapshot.release == first.release { old.clone() } else { new.clone() },
            proxies: short(snapshot.proxies),
            effective: effective.len(),
            lost: lost.into_iter().collect(),
            changed: changed.into_iter().collect(),
            refused: row.refused().into_iter().map(str::to_owned).collect(),
        }
    });
    rows.collect()
}

fn effective(run: &RunRecord) -> impl Iterator<Item = usize> {
    let with = run.filters.iter();
    with.filter(|(_, patches)| patches.iter().any(|one| one.outcome == Outcome::Applied)).map(|(filter, _)| *filter)
}

/// The same for each group of workloads, and where each of them is now. `names`: the workloads of each group.
pub(super) fn during(
    request: &Request<'_>,
    columns: &HashMap<RunKey, usize>,
    names: &[Vec<String>],
    first: Option<&Snapshot>,
    steps: &[StepRun],
    mixed: &[StepRun],
) -> Vec<During> {
    let Some(first) = first.filter(|_| !mixed.is_empty()) else { return Vec::new() };
    let name = |filter: &usize| {
        let name = request.inventory.envoy_filters.get(*filter).map(EnvoyFilter::full_name);
        name.filter(|name| request.is_asked(name))
    };
    let stages = stages(first, steps, mixed);
    // By row and group: the filters in effect, lost, changed.
    let mut gets: Vec<BTreeMap<usize, [BTreeSet<usize>; 3]>> = vec![BTreeMap::new(); stages.len()];
    for (row, gets) in stages.iter().zip(&mut gets) {
        for run in &row.snapshot.runs {
            if let Some(column) = columns.get(&run.key) {
                gets.entry(*column).or_default()[0].extend(effective(run));
            }
        }
        for (upgrade, change) in row.changes() {
            let of = 2 - usize::from(takes(change.kind));
            let runs = change.runs.iter().filter_map(|&run| upgrade.after.runs.get(run));
            for column in runs.filter_map(|run| columns.get(&run.key)) {
                gets.entry(*column).or_default()[of].insert(change.filter);
            }
        }
        for [_, lost, changed] in gets.values_mut() {
            changed.retain(|filter| !lost.contains(filter));
        }
    }
    let refused: Vec<BTreeSet<&str>> = stages.iter().map(Row::refused).collect();
    let none: [BTreeSet<usize>; 3] = Default::default();
    let groups = names.iter().enumerate().filter(|(_, names)| !names.is_empty()).map(|(column, names)| {
        let at = |row: usize| {
            let [effective, lost, changed] = gets.get(row).and_then(|of| of.get(&column)).unwrap_or(&none);
            let own: BTreeSet<String> =
                gets.iter().filter_map(|of| of.get(&column)).flat_map(|of| of[0].iter().filter_map(name)).collect();
            let met = |one: &&&str| own.contains(**one);
            Gets {
                effective: effective.len(),
                lost: lost.iter().filter_map(name).collect(),
                changed: changed.iter().filter_map(name).collect(),
                refused: refused[row].iter().filter(met).map(|one| (*one).to_owned()).collect(),
            }
        };
        During { workloads: column, places: places(request, names), gets: (0..stages.len()).map(at).collect() }
    });
    groups.collect()
}

/// Where the proxies of some workloads are now, the most frequent place first.
fn places(request: &Request<'_>, names: &[String]) -> Vec<Place> {
    let mut found: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for standing in names.iter().filter_map(|name| request.standings.get(name)).flatten() {
        *found.entry((&standing.revision, &standing.istiod, &standing.proxies)).or_default() += 1;
    }
    let mut places: Vec<Place> = found
        .into_iter()
        .map(|((revision, istiod, proxies), count)| Place {
            revision: revision.to_owned(),
            istiod: istiod.to_owned(),
            proxies: proxies.to_owned(),
            count,
        })
        .collect();
    places.sort_by_key(|place| std::cmp::Reverse(place.count));
    places
}
