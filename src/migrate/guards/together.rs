//! Filters that are only right together: those that set the same field, those that become one object, those next to whose HTTP
//! filter another one is inserted, and those that insert a route which another one would change once it is a native rule.

use super::chain::At;
use super::inserted::Inserts;
use super::one_rule::Claim;
use super::overlap::Overlaps;
use crate::engine::program::Program;
use crate::migrate::FilterReport;
use crate::migrate::base::names::Names;
use crate::model::envoy_filter::PatchContext;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Filters in groups.
pub(crate) struct Together {
    /// For each filter another one of its group; itself for one of each group.
    toward: Vec<usize>,
    titles: Vec<String>,
}

impl Together {
    /// Groups the filters with patches that are written.
    pub(in crate::migrate) fn of(
        reports: &[FilterReport],
        program: &Program<'_>,
        names: &Names,
        overlaps: &Overlaps<'_>,
        root: &str,
    ) -> Together {
        let titles = names.titles().to_vec();
        let mut all = Together { toward: (0..titles.len()).collect(), titles };
        let patches =
            || reports.iter().flat_map(|report| report.patches.iter().map(move |patch| (report.index, patch)));
        let written = || patches().filter(|(_, patch)| patch.written);
        let moved: HashSet<At> = written().map(|(filter, patch)| (filter, patch.index)).collect();
        for (filter, patch) in written() {
            let Some(name) = &patch.found.followed else { continue };
            let users = names.users(name, filter, PatchContext::Any).filter(|user| user.inserts);
            users
                .filter(|user| moved.contains(&(user.filter, user.patch)))
                .for_each(|user| all.join(filter, user.filter));
        }
        overlaps.pairs(&mut |one, other| {
            if moved.contains(&one) && moved.contains(&other) {
                all.join(one.0, other.0);
            }
        });
        let inserts = Inserts::of(program, names);
        inserts.passed_by(program, names, reports, &mut |(one, _), (other, _)| all.join(one, other));
        inserts.in_turn(reports, &mut |one, other| all.join(one, other));
        let mut objects: HashMap<String, usize> = HashMap::new();
        for (filter, patch) in written() {
            for claim in patch.found.actions.iter().flat_map(|action| Claim::all(action, root)) {
                let first = *objects.entry(claim.object).or_insert(filter);
                all.join(first, filter);
            }
        }
        all
    }

    fn root(&self, mut filter: usize) -> usize {
        while self.toward[filter] != filter {
            filter = self.toward[filter];
        }
        filter
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.toward[one.max(other)] = one.min(other);
    }

    /// `namespace/name` of a filter, by its index, and of those in its group.
    pub(crate) fn with(&self, filter: usize) -> BTreeSet<String> {
        let root = self.root(filter);
        (0..self.toward.len()).filter(|one| self.root(*one) == root).map(|one| self.titles[one].clone()).collect()
    }
}
