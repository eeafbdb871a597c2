//! Patches that change nothing in the end: proven by running the engine again without them.

use super::context::{Context, Knowledge, ProxyRun};
use crate::engine::program::Status;
use crate::engine::trace::{Effect, NoOp};
use crate::engine::{self, Options, PatchId, Patched, Plan};
use crate::model::resource::ResourceKind;
use crate::proto::json;
use crate::proto::tree::Tree;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, OnceLock};

/// How many patches of one proxy are tried by a further run: beyond it nothing is claimed, so that thousands of filters
/// that all write the same field stay linear in time.
const MAX_RUNS: usize = 256;

/// What is known of the patches of one proxy.
#[derive(Debug, Default)]
pub struct Memo {
    inert: Mutex<BTreeMap<PatchId, bool>>,
    ids: OnceLock<HashMap<(usize, usize), PatchId>>,
}

impl Memo {
    /// The number of a patch, given by filter and index, in a plan: always the same plan.
    pub fn id(&self, plan: &Plan<'_>, filter: usize, patch: usize) -> Option<PatchId> {
        let number = |id: PatchId| ((plan.get(id).filter, plan.get(id).built.patch.index), id);
        self.ids.get_or_init(|| plan.ids().map(number).collect()).get(&(filter, patch)).copied()
    }
}

impl Context<'_> {
    /// Whether a patch has no effect on any proxy of which a dump was given and that its filter attaches to; `false` when
    /// there is none.
    pub fn inert(&self, filter: usize, patch: usize) -> bool {
        let mut seen = false;
        for run in self.on_proxies(filter, patch).filter(|run| run.run.knowledge == Knowledge::Dump) {
            seen = true;
            if !run.run.inert(run.id) {
                return false;
            }
        }
        seen
    }
}

/// Whether an effect leaves something of the patch's value behind.
fn writes(effect: &Effect) -> bool {
    effect.changes() && !matches!(effect, Effect::Removed)
}

impl ProxyRun<'_> {
    /// Whether istiod would send the same configuration without this patch.
    pub fn inert(&self, id: PatchId) -> bool {
        let trace = &self.judged.trace.patches[id.index()];
        let panicked = self.judged.trace.aborts.iter().any(|abort| abort.cause == id);
        if !panicked && !trace.effects.iter().any(|(_, effect)| effect.changes()) {
            return true;
        }
        if !panicked && !self.doubtful(id) {
            return false;
        }
        let Ok(mut memo) = self.memo.inert.lock() else { return false };
        if let Some(&known) = memo.get(&id) {
            return known;
        }
        if memo.len() >= MAX_RUNS {
            return false;
        }
        let inert = self.same_without(&[id]);
        memo.insert(id, inert);
        inert
    }

    /// Whether istiod would send the same configuration without these patches: a full run of the engine.
    pub fn same_without(&self, off: &[PatchId]) -> bool {
        let plan = self.plan.without(off);
        let options = Options::default();
        let other = engine::run(&plan, self.config, &options, &mut ());
        self.same(&self.judged.patched, &other)
    }

    /// Whether something a patch changed may have been undone, done again, or have been there before.
    fn doubtful(&self, id: PatchId) -> bool {
        let trace = &self.judged.trace.patches[id.index()];
        let apply_to = self.plan.get(id).built.patch.apply_to;
        let company = || {
            self.plan.ids().any(|other| {
                let planned = self.plan.get(other);
                other != id && planned.status == Status::Ready && planned.built.patch.apply_to == apply_to
            })
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
                Effect::Removed => company(),
                Effect::Added => rivals(place),
                _ => false,
            })
            || (trace.effects.iter().any(|(_, effect)| writes(effect)) && !self.writes_last(id))
    }

    /// Whether something of what istiod sends was written by this patch.
    fn writes_last(&self, id: PatchId) -> bool {
        let origin = id.origin();
        let trees = self.judged.patched.resources.iter().filter_map(|one| one.tree.as_ref());
        trees.into_iter().any(|tree| tree.origins().contains(&origin))
    }

    /// Whether two results of runs on this proxy mean the same.
    pub fn same(&self, left: &Patched<'_>, right: &Patched<'_>) -> bool {
        let sources = |patched: &Patched<'_>| -> BTreeSet<usize> {
            patched.resources.iter().filter_map(|one| one.source).collect()
        };
        let touched: BTreeSet<usize> = sources(left).union(&sources(right)).copied().collect();
        let text = |tree: &Tree<'_>| {
            let mut tree = tree.clone();
            tree.remove(crate::proto::tree::TYPE_KEY);
            json::canonical(&tree)
        };
        let of = |patched: &Patched<'_>, index: usize| -> Option<String> {
            match patched.resources.iter().find(|one| one.source == Some(index)) {
                Some(one) => one.tree.as_ref().map(text),
                None => engine::open(self.config, index, self.plan).as_ref().map(text),
            }
        };
        let added = |patched: &Patched<'_>| -> Vec<(ResourceKind, String)> {
            let added = patched.resources.iter().filter(|one| one.source.is_none());
            let mut texts: Vec<_> = added.filter_map(|one| Some((one.kind, text(one.tree.as_ref()?)))).collect();
            texts.sort();
            texts
        };
        added(left) == added(right) && touched.into_iter().all(|index| of(left, index) == of(right, index))
    }
}
