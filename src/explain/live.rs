//! Dumps of live proxies: what they show of the filters, and how sure the explanation is.

use super::{Explainer, view};
use crate::engine::Outcome;
use crate::engine::trace::PatchId;
use crate::engine::unapply::doubt;
use std::collections::BTreeSet;

impl Explainer<'_, '_> {
    /// How the configuration before the filters was found; `None` when no filter concerns the proxy.
    pub(super) fn reconstruction(&self) -> Option<view::Reconstruction> {
        if self.plan.patches.is_empty() {
            return None;
        }
        let patched = self.unapplied.patched();
        let differences = self.unapplied.differences.iter().map(|it| view::Difference {
            kind: it.kind.word(),
            resource: it.resource.clone(),
            path: it.path.clone(),
        });
        Some(view::Reconstruction {
            state: self.unapplied.state().word(),
            proven: patched.then(|| self.unapplied.proven()),
            differences: if patched { differences.collect() } else { Vec::new() },
            hidden: self.unapplied.hidden.iter().filter(|_| patched).map(|id| self.patch_ref(*id)).collect(),
        })
    }

    /// Patches of which the run over the reconstruction does not tell the outcome.
    pub(super) fn doubtful(&self) -> BTreeSet<PatchId> {
        if self.unapplied.patched() { doubt::doubtful(self.plan, self.judged) } else { BTreeSet::new() }
    }

    /// Whether the dump holds what a patch writes: `yes`, `no`, `partly`; `None` when that cannot be told.
    pub(super) fn in_effect(&self, id: PatchId, outcome: Outcome) -> Option<&'static str> {
        let told = self.unapplied.in_effect(id).filter(|_| matches!(outcome, Outcome::Applied | Outcome::NoOp))?;
        (self.unapplied.patched() || told == "no").then_some(told)
    }

    /// Says of merges that nobody can see what they overwrote.
    pub(super) fn say_unknown(&self, effects: &mut [view::Effect]) {
        if !self.unapplied.patched() {
            return;
        }
        for effect in effects {
            if effect.note.is_none() && effect.changes.iter().any(|it| it.kind == "set" && it.before.is_none()) {
                effect.note = Some("what it overwrote is not in the dump of a patched proxy".to_owned());
            }
        }
    }

    /// Why the outcome of a patch cannot be told.
    pub(super) fn uncertain(&self, id: PatchId) -> view::Reason {
        let words = (
            "cannot-be-told",
            "nothing that it matches is in the dump; whatever filters removed, replaced or renamed is in none"
                .to_owned(),
            None,
        );
        self.reason(words, Some(self.plan.get(id).built.patch.span))
    }
}
