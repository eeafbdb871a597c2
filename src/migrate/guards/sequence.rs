//! The order of native filters among themselves and next to filters that stay.

use super::chain::{At, Chains, Insert, foreign};
use crate::engine::program::Program;
use crate::migrate::Action;
use crate::migrate::FilterReport;
use crate::migrate::PatchReport;
use crate::migrate::Request;
use crate::migrate::base::names::{Names, User};
use crate::migrate::base::place::Place;
use crate::migrate::base::verdict::{Concern, Guard, Kind, State};
use crate::migrate::is_written;
use crate::model::envoy_filter::PatchContext;
use crate::words::{MOST_NAMES, few};
use serde_json::Value as Json;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// HTTP filters that decide who may call.
const SECURITY: &[&str] = &["ext_authz", "jwt_authn", "rbac", "oauth2"];

/// Most selectors that are compared with one another.
const MOST_SELECTORS: usize = 128;

/// Most filters that stay of which a native one is told that it runs before them.
const MOST_FOREIGN: usize = 64;

/// What the order depends on.
pub(in crate::migrate) struct Sequence<'a> {
    pub(in crate::migrate) request: &'a Request<'a>,
    pub(in crate::migrate) program: &'a Program<'a>,
    pub(in crate::migrate) names: &'a Names,
    /// The positions of the reports in the order in which istiod applies their filters.
    pub(in crate::migrate) order: Vec<usize>,
}

fn extension(action: &Action) -> bool {
    matches!(action, Action::Object(one) if one["kind"] == "TrafficExtension" || one["kind"] == "WasmPlugin")
}

fn moves(patch: &PatchReport) -> bool {
    patch.written && patch.found.actions.iter().any(extension)
}

impl Sequence<'_> {
    /// Keeps back filters next to which one of another EnvoyFilter stays. Whether something was kept back.
    pub(in crate::migrate) fn settle(&self, reports: &mut [FilterReport]) -> bool {
        let mut changed = self.stay_for_followers(reports);
        for group in self.groups(reports) {
            changed |= self.arrange(reports, &group);
        }
        changed
    }

    fn stay_for_followers(&self, reports: &mut [FilterReport]) -> bool {
        let patches =
            || reports.iter().flat_map(|report| report.patches.iter().map(move |patch| (report.index, patch)));
        let followed: BTreeSet<String> = patches().filter_map(|(_, patch)| patch.found.followed.clone()).collect();
        if followed.is_empty() {
            return false;
        }
        let moved: HashSet<At> =
            patches().filter(|(_, patch)| moves(patch)).map(|(filter, patch)| (filter, patch.index)).collect();
        let stays = |name: &String| -> Vec<&User> {
            let all = self.names.all_users(name).iter();
            all.filter(|user| user.inserts && !moved.contains(&(user.filter, user.patch))).collect()
        };
        let stays: HashMap<&String, Vec<&User>> = followed.iter().map(|name| (name, stays(name))).collect();
        let mut changed = false;
        for report in reports.iter_mut() {
            let filter = report.index;
            let context = |index: usize| {
                let built = self.program.patches(filter).iter().find(|built| built.patch.index == index);
                built.map_or(PatchContext::Any, |built| built.patch.context)
            };
            for patch in report.patches.iter_mut().filter(|patch| patch.written) {
                let users = patch.found.followed.as_ref().and_then(|name| stays.get(name));
                let mut users = users.into_iter().flatten().filter(|user| user.filter != filter);
                let Some(user) = users.find(|user| self.names.finds(user, filter, context(patch.index))) else {
                    continue;
                };
                let reason = format!(
                    "configPatches[{}] of {} looks for this filter by its name, which changes, and stays",
                    user.patch,
                    self.names.title(user.filter)
                );
                patch.found.difference(Kind::Behavior, reason.clone());
                patch.found.guards.push(Guard { concern: Concern::Existing, state: State::Broken, reason });
                patch.written = false;
                patch.class = patch.found.class();
                changed = true;
            }
        }
        changed
    }

    /// Reports whose filters may be in one chain, if one of them moves.
    fn groups(&self, reports: &[FilterReport]) -> Vec<Vec<usize>> {
        let own: Vec<usize> =
            self.order.iter().copied().filter(|at| !self.inserts(reports[*at].index).is_empty()).collect();
        let mut kinds: Vec<(&Place, Vec<usize>)> = Vec::new();
        let mut known: HashMap<usize, usize> = HashMap::new();
        for at in own {
            let filter = reports[at].index;
            match known.entry(self.names.kind(filter)) {
                Entry::Occupied(kind) => kinds[*kind.get()].1.push(at),
                Entry::Vacant(kind) => {
                    kind.insert(kinds.len());
                    kinds.push((self.names.place(filter), vec![at]));
                }
            }
        }
        let mut group: Vec<usize> = (0..kinds.len()).collect();
        // Comparing thousands of selectors with one another would take too long: then only equal ones are in one group.
        let few = kinds.len() <= MOST_SELECTORS;
        for one in 0..kinds.len() {
            for other in (0..one).filter(|_| few) {
                if group[one] != group[other] && kinds[one].0.meets(kinds[other].0) {
                    let (from, to) = (group[one], group[other]);
                    group.iter_mut().filter(|of| **of == from).for_each(|of| *of = to);
                }
            }
        }
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (kind, (_, all)) in kinds.into_iter().enumerate() {
            groups.entry(group[kind]).or_default().extend(all);
        }
        let rank: HashMap<usize, usize> = self.order.iter().enumerate().map(|(rank, at)| (*at, rank)).collect();
        let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
        groups.retain(|group| group.iter().any(|at| reports[*at].patches.iter().any(moves)));
        groups.iter_mut().for_each(|group| group.sort_by_key(|at| rank.get(at)));
        groups
    }

    fn inserts(&self, filter: usize) -> Vec<Insert<'_>> {
        self.program.patches(filter).iter().filter_map(|built| Insert::of(filter, built)).collect()
    }

    /// Gives the native filters of a group their priorities. Whether one is kept back because it has none.
    fn arrange(&self, reports: &mut [FilterReport], group: &[usize]) -> bool {
        let own: Vec<Insert<'_>> = group.iter().flat_map(|at| self.inserts(reports[*at].index)).collect();
        let mut all = foreign(&own, self.names);
        all.extend(own);
        let chains = Chains::of(&all, true);
        let members: Vec<(At, usize, usize)> = group
            .iter()
            .flat_map(|&at| {
                let report = &reports[at];
                let all = report.patches.iter().enumerate().filter(|(_, patch)| moves(patch));
                all.map(move |(place, patch)| ((report.index, patch.index), at, place))
            })
            .collect();
        let moved: BTreeSet<At> = members.iter().map(|(at, ..)| *at).collect();
        let stays: Vec<&Insert<'_>> = all.iter().filter(|one| !moved.contains(&one.at())).take(MOST_FOREIGN).collect();
        let sorted = chains.sorted(&members.iter().map(|(at, ..)| *at).collect::<Vec<_>>());
        let rank: Option<HashMap<At, usize>> =
            sorted.map(|sorted| sorted.into_iter().enumerate().map(|(rank, at)| (at, rank)).collect());
        let mut changed = false;
        for (at, report, patch) in &members {
            let patch = &mut reports[*report].patches[*patch];
            match &rank {
                None => {
                    patch.lower(
                        "some chains have these filters in another order than others do; the native ones have one order",
                    );
                    // The user may accept it.
                    patch.written = is_written(&patch.found, self.request.accept);
                    changed |= !patch.written;
                }
                Some(rank) if members.len() > 1 => {
                    set_priority(patch, members.len() - rank.get(at).copied().unwrap_or_default());
                }
                Some(_) => {}
            }
            let passed = stays.iter().filter(|one| chains.in_front(one.at(), *at)).map(|one| one.name());
            changed |= self.passes(patch, passed);
        }
        changed
    }

    /// A native filter of the default phase comes before every filter that patches insert further back. Whether it is kept
    /// back for that.
    fn passes<'n>(&self, patch: &mut PatchReport, passed: impl Iterator<Item = &'n str>) -> bool {
        let phased = |action: &Action| matches!(action, Action::Object(one) if one["spec"].get("phase").is_some());
        if patch.found.actions.iter().any(phased) {
            return false;
        }
        let names: Vec<&str> = passed.collect();
        let before = patch.found.passes.take();
        patch.found.differences.retain(|one| before.as_ref() != Some(&one.effect));
        let mut seen = HashSet::new();
        let different: Vec<&str> = names.iter().copied().filter(|name| seen.insert(*name)).collect();
        if !names.is_empty() {
            let listed = few(different.iter().map(|name| format!("`{name}`")), different.len(), MOST_NAMES);
            let end = if names.len() == 1 { "which stays, not after it" } else { "which stay, not after them" };
            let effect = format!("runs before {listed}, {end}");
            patch.found.difference(Kind::Position, effect.clone());
            patch.found.passes = Some(effect);
        }
        if let Some(name) = names.iter().find(|name| SECURITY.iter().any(|one| name.ends_with(one))) {
            let reason = format!(
                "`{name}`, which decides who may call, stays behind the native filter: check what the native filter does with requests that are refused later"
            );
            patch.found.guard(Concern::Authorization, State::Review, reason);
        }
        patch.class = patch.found.class();
        let written = is_written(&patch.found, self.request.accept);
        let changed = patch.written && !written;
        patch.written &= written;
        changed
    }
}

fn set_priority(patch: &mut PatchReport, priority: usize) {
    for action in patch.found.actions.iter_mut().filter(|action| extension(action)) {
        if let Action::Object(one) = action {
            one["spec"]["priority"] = Json::from(priority);
        }
    }
}
