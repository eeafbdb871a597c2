//! Patches that change nothing in the end, proven by running the engine again without them.

use crate::engine::program::Status;
use crate::engine::trace::{Effect, NoOp};
use crate::engine::{self, Options, PatchId, Patched};
use crate::lint::facts::context::{Context, Knowledge, ProxyRun};
use crate::lint::finding::Findings;
use crate::proto::merge::Change;
use crate::study::same::same_results;
use std::collections::{BTreeSet, HashMap};

/// Maximum number of patches per proxy that are tried by a further run; beyond it no claim is made. It keeps thousands
/// of filters that write the same field linear in time.
const MAX_RUNS: usize = 256;

/// The same limit in applied patches: each run costs as much as the filters of the proxy.
const MAX_STEPS: usize = 1 << 14;

impl Context<'_> {
    /// Whether a patch has no effect on any proxy with a dump; `false` without dumps.
    pub(crate) fn inert(&self, filter: usize, patch: usize) -> bool {
        let mut runs = self.on_proxies(filter, patch).filter(|run| run.run.knowledge == Knowledge::Dump);
        self.has_dumps() && runs.all(|run| run.run.inert(run.id))
    }

    /// Drops findings about patches without effect unless the engine proves them on the config dumps: a rule sees why a
    /// patch fails in one place, but it may work in another. For a filter that reaches no dump, findings that follow
    /// from the text alone stay.
    pub(crate) fn settle(&self, findings: &mut Findings) {
        if !self.has_dumps() {
            return;
        }
        let mut known: HashMap<(usize, usize), bool> = HashMap::new();
        let mut numbers: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, filter) in self.filters.iter().enumerate() {
            numbers.entry(filter.full_name()).or_default().push(number);
        }
        for finding in findings.iter_mut().filter(|finding| finding.ineffective) {
            finding.ineffective = numbers.get(&finding.filter).into_iter().flatten().all(|&filter| {
                let count = self.filters[filter].patches.len();
                let patches = finding.patch.map_or(0..count, |patch| patch..(patch + 1).min(count));
                patches
                    .into_iter()
                    .all(|patch| *known.entry((filter, patch)).or_insert_with(|| self.inert(filter, patch)))
            });
        }
    }
}

/// Whether an effect leaves something of the patch's value behind.
fn writes(effect: &Effect) -> bool {
    effect.changes() && !matches!(effect, Effect::Removed)
}

impl ProxyRun<'_> {
    /// Whether istiod would send the same configuration without this patch.
    pub(crate) fn inert(&self, id: PatchId) -> bool {
        if self.unknown(id) {
            return false;
        }
        let trace = &self.judged.trace.patches[id.index()];
        let panicked = self.judged.trace.aborts.iter().any(|abort| abort.cause == id);
        if !panicked && !trace.effects.iter().any(|(_, effect)| effect.changes()) {
            return true;
        }
        if !panicked && !self.perhaps_undone(id) {
            return false;
        }
        let Ok(mut memo) = self.memo.inert.lock() else { return false };
        if let Some(&known) = memo.get(&id) {
            return known;
        }
        if memo.len() >= MAX_RUNS || memo.len() * self.plan.patches.len() >= MAX_STEPS {
            return false;
        }
        let inert = self.same_without(&[id]);
        memo.insert(id, inert);
        inert
    }

    /// Whether a patch may change something that istiod generates but the dump does not contain.
    pub fn unknown(&self, id: PatchId) -> bool {
        self.judged.hidden(self.plan, id).is_some()
    }

    /// Whether istiod would send the same configuration without these patches: a full run of the engine.
    pub(crate) fn same_without(&self, off: &[PatchId]) -> bool {
        let plan = self.plan.without(off);
        let options = Options::default();
        let other = engine::run(&plan, self.config, &options, &mut ());
        self.same(&self.judged.patched, &other)
    }

    /// Whether a change of the patch may have been undone, done again, or present before.
    fn perhaps_undone(&self, id: PatchId) -> bool {
        let trace = &self.judged.trace.patches[id.index()];
        let apply_to = self.plan.get(id).built.patch.apply_to;
        // Patches that would make the same change without this one, or that remove the object.
        let company = |resource: &str| {
            self.plan.ids().filter(|&other| other != id).any(|other| {
                let planned = self.plan.get(other);
                let effects = &self.judged.trace.patches[other.index()].effects;
                (planned.status == Status::Ready && planned.built.patch.apply_to == apply_to)
                    || effects.iter().any(|(place, effect)| *place.resource == *resource && effect.changes())
            })
        };
        let over_another = |changes: &[Change]| {
            changes
                .iter()
                .flat_map(|change| &change.before_origins)
                .copied()
                .any(|origin| PatchId::of(origin).is_some())
        };
        let rivals = |place| {
            self.judged.trace.patches.iter().any(|other| {
                other
                    .effects
                    .iter()
                    .any(|(at, effect)| at == place && matches!(effect, Effect::NoOp(NoOp::DuplicateName)))
            })
        };
        !trace.later.is_empty()
            || trace.effects.iter().any(|(place, effect)| match effect {
                Effect::Replaced => true,
                Effect::Removed => company(&place.resource),
                Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _) => over_another(changes),
                Effect::Added => rivals(place),
                _ => false,
            })
            || (trace.effects.iter().any(|(_, effect)| writes(effect)) && !self.writes_last(id))
    }

    /// Whether something of what istiod sends was written by this patch.
    fn writes_last(&self, id: PatchId) -> bool {
        let origins = self.memo.origins.get_or_init(|| {
            let mut origins = BTreeSet::new();
            let trees = self.judged.patched.resources.iter().filter_map(|one| one.tree.as_ref());
            trees.for_each(|tree| tree.add_origins(&mut origins));
            origins
        });
        origins.contains(&id.origin())
    }

    /// Whether two results of runs on this proxy are equivalent.
    pub(crate) fn same(&self, left: &Patched<'_>, right: &Patched<'_>) -> bool {
        same_results(self.config, self.plan, left, right)
    }
}
