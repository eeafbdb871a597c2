//! Dumps of live proxies: what they show about the filters, and how certain the explanation is.

use super::{Explainer, view, words};
use crate::engine::Outcome;
use crate::engine::trace::PatchId;
use crate::engine::unapply::{InEffect, Seen};
use crate::model::resource::ResourceKind;
use crate::proto::unmerge::What;
use std::collections::BTreeSet;

/// Maximum number of differences listed for one patch.
const FEW: usize = 4;

impl Explainer<'_, '_> {
    /// How the configuration before the filters was found; `None` when no filter attaches to the proxy.
    pub(super) fn reconstruction(&self) -> Option<view::Reconstruction> {
        if self.study.plan.patches.is_empty() {
            return None;
        }
        let patched = self.study.is_reconstructed();
        let differences = self.study.unapplied.differences.iter().map(|it| view::Difference {
            kind: it.kind.as_str(),
            resource: it.resource.clone(),
            path: it.path.clone(),
        });
        Some(view::Reconstruction {
            state: self.study.unapplied.state().as_str(),
            proven: patched.then(|| self.study.unapplied.proven()),
            differences: if patched { differences.collect() } else { Vec::new() },
            hidden: self.study.unapplied.hidden.iter().filter(|_| patched).map(|id| self.patch_ref(*id)).collect(),
        })
    }

    /// The state of a patch on a running proxy; `None` when it should do nothing, or when the dump is not of a running proxy.
    pub(super) fn live(&self, id: PatchId) -> Option<view::Live> {
        if !self.running || !matches!(self.study.outcome(id), Outcome::Applied | Outcome::NoOp) {
            return None;
        }
        let applied = self.study.outcome(id) == Outcome::Applied;
        let refused = || self.changes(id).iter().any(|(kind, name)| self.refusal(*kind, name).is_some());
        match self.study.in_effect(id) {
            Some(InEffect::Yes) => Some(view::Live::InEffect),
            // Envoy has an earlier version of the rejected resource, and had accepted its content.
            Some(InEffect::Partly) if refused() => Some(view::Live::Refused),
            Some(InEffect::Partly) => Some(view::Live::PartlyInEffect),
            Some(InEffect::No) | None if applied && refused() => Some(view::Live::Refused),
            Some(InEffect::No) => Some(view::Live::NotInEffect),
            None => applied.then_some(view::Live::Unknown),
        }
    }

    /// The resources that a patch changes.
    fn changes(&self, id: PatchId) -> BTreeSet<(ResourceKind, &str)> {
        let effects = &self.study.judged.trace.patches[id.index()].effects;
        let changes = effects.iter().filter(|(_, effect)| effect.changes());
        changes.map(|(place, _)| (place.kind, &*place.resource)).collect()
    }

    /// Envoy's message about the last update of a resource, if it rejected that.
    pub(super) fn refusal(&self, kind: ResourceKind, name: &str) -> Option<&str> {
        let dump = self.study.dump;
        let never = dump.refused.iter().filter(|it| it.kind == kind && it.name == name).map(|it| &*it.error.details);
        let updates = dump.resources.iter().filter(|it| it.kind == kind && it.name == name);
        let updates = updates.filter_map(|it| Some(&*it.error.as_ref()?.details));
        never.chain(updates).next()
    }

    /// What a running proxy contains in place of what a patch writes: `connect_timeout of … is "10s", not "2s"`.
    pub(super) fn instead(&self, id: PatchId) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.running {
            return lines;
        }
        for shown in self.study.unapplied.of(id) {
            let Seen::Differs(notes) = &shown.seen else { continue };
            for note in notes {
                let What::Differs { wanted, found } = &note.what else { continue };
                let found = found.as_deref().unwrap_or("absent");
                // MERGE appends to a list, so the list should contain more than the items it appends.
                let not = if wanted.starts_with('[') { "without" } else { "not" };
                let line = format!("{} of {} is {found}, {not} {wanted}", note.path, shown.place);
                if !lines.contains(&line) && lines.len() < FEW {
                    lines.push(line);
                }
            }
        }
        lines
    }

    /// Adds to merges that what they overwrote is unknown.
    pub(super) fn say_unknown(&self, effects: &mut [view::Effect]) {
        if !self.study.is_reconstructed() {
            return;
        }
        for effect in effects {
            if effect.note.is_none() && effect.changes.iter().any(|it| it.kind == "set" && it.before.is_none()) {
                effect.note = Some("the dump of a patched proxy does not show what it overwrote".to_owned());
            }
        }
    }

    /// Why the outcome of a patch is uncertain, if it is.
    pub(super) fn doubt(&self, id: PatchId, outcome: Outcome, doubtful: &BTreeSet<PatchId>) -> Option<view::Reason> {
        let hidden = self.study.judged.hidden(self.study.plan, id);
        let words = if let Some(hidden) = hidden.filter(|_| matches!(outcome, Outcome::NoMatch | Outcome::NoOp)) {
            words::hidden(hidden, self.lenders)
        } else if doubtful.contains(&id) {
            (
                "cannot-be-told",
                "nothing in the dump matches it; objects that EnvoyFilters removed, replaced or renamed do not appear in \
                 dumps"
                    .to_owned(),
                None,
            )
        } else {
            return None;
        };
        Some(self.reason(words, Some(self.study.plan.get(id).built.patch.span)))
    }
}
