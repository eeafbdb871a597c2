//! Dumps of live proxies: what they show of the filters, and how sure the explanation is.

use super::{Explainer, view};
use crate::engine::trace::PatchId;

impl Explainer<'_, '_> {
    /// How the configuration before the filters was found; `None` when no filter concerns the proxy.
    pub(super) fn reconstruction(&self) -> Option<view::Reconstruction> {
        if self.study.plan.patches.is_empty() {
            return None;
        }
        let patched = self.study.unapplied.patched();
        let differences = self.study.unapplied.differences.iter().map(|it| view::Difference {
            kind: it.kind.word(),
            resource: it.resource.clone(),
            path: it.path.clone(),
        });
        Some(view::Reconstruction {
            state: self.study.unapplied.state().word(),
            proven: patched.then(|| self.study.unapplied.proven()),
            differences: if patched { differences.collect() } else { Vec::new() },
            hidden: self.study.unapplied.hidden.iter().filter(|_| patched).map(|id| self.patch_ref(*id)).collect(),
        })
    }

    /// Says of merges that nobody can see what they overwrote.
    pub(super) fn say_unknown(&self, effects: &mut [view::Effect]) {
        if !self.study.unapplied.patched() {
            return;
        }
        for effect in effects {
            if effect.note.is_none() && effect.changes.iter().any(|it| it.kind == "set" && it.before.is_none()) {
                effect.note = Some("the dump of a patched proxy does not show what it overwrote".to_owned());
            }
        }
    }

    /// Why the outcome of a patch cannot be told.
    pub(super) fn uncertain(&self, id: PatchId) -> view::Reason {
        let words = (
            "cannot-be-told",
            "nothing in the dump matches it; objects that EnvoyFilters removed, replaced or renamed are in no dump"
                .to_owned(),
            None,
        );
        self.reason(words, Some(self.study.plan.get(id).built.patch.span))
    }
}
