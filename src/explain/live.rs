//! What of the filters a dump holds already: a dump of a live proxy was patched before it was taken.

use super::Explainer;
use crate::engine::Outcome;
use crate::engine::trace::{Effect, PatchId, Place};
use crate::proto::decode;
use crate::proto::json;
use crate::proto::merge::ChangeKind;
use crate::proto::tree::{TYPE_KEY, Tree, Value};

impl Explainer<'_, '_> {
    /// Whether the dump holds what a patch writes: `yes`, `no`, `partly`; `None` when that cannot be told.
    pub(super) fn in_effect(&self, id: PatchId, outcome: Outcome) -> Option<&'static str> {
        if !matches!(outcome, Outcome::Applied | Outcome::NoOp) {
            return None;
        }
        let effects = &self.judged.trace.patches[id.index()].effects;
        let verdicts: Vec<bool> = effects.iter().filter_map(|(place, effect)| self.holds(id, place, effect)).collect();
        let there = verdicts.iter().filter(|&&there| there).count();
        match there {
            _ if verdicts.is_empty() => None,
            0 => Some("no"),
            _ if there == verdicts.len() => Some("yes"),
            _ => Some("partly"),
        }
    }

    fn holds(&self, id: PatchId, place: &Place, effect: &Effect) -> Option<bool> {
        match effect {
            Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _) => {
                // What an earlier patch wrote in this run says nothing about the dump.
                let told = || changes.iter().filter(|change| change.kind != ChangeKind::CannotReset);
                (told().count() > 0).then(|| told().all(|change| change.kind == ChangeKind::Same))
            }
            Effect::Inserted { .. } | Effect::Replaced | Effect::Added => {
                let value = self.plan.get(id).built.value.as_ref()?;
                if value.name().is_empty() {
                    return None;
                }
                let resource = self.config.generated(place.kind).find(|(_, resource)| resource.name == place.resource);
                let Some((index, resource)) = resource else { return Some(false) };
                // Most dumps do not hold the name at all; only the others are decoded.
                if memchr::memmem::find(resource.json.as_bytes(), format!("\"{}\"", value.name()).as_bytes()).is_none()
                {
                    return Some(false);
                }
                let tree = crate::engine::open(self.config, index, self.plan)?;
                let wanted = self.comparable(id, value.clone());
                Some(any_named(tree, value.name(), &|tree| self.comparable(id, tree) == wanted))
            }
            Effect::Removed | Effect::NoOp(_) | Effect::Panicked(_) => None,
        }
    }

    /// One text for equal values, whatever names and orders they are written with.
    fn comparable(&self, id: PatchId, mut tree: Tree<'_>) -> String {
        let schema = self.plan.schema;
        tree.remove(TYPE_KEY);
        let name = self.plan.get(id).built.patch.apply_to.message();
        match name.and_then(|name| schema.message(name)) {
            Some(message) => json::canonical(&decode::decode(schema, message, tree).tree),
            None => json::canonical(&tree),
        }
    }
}

/// Whether an object of this name inside a tree passes a test.
fn any_named<'a>(mut tree: Tree<'a>, name: &str, test: &impl Fn(Tree<'a>) -> bool) -> bool {
    tree.open();
    if tree.name() == name && test(tree.clone()) {
        return true;
    }
    match tree.value {
        Value::List(items) => items.into_iter().any(|item| any_named(item, name, test)),
        Value::Map(entries) => entries.into_iter().any(|(_, value)| any_named(value, name, test)),
        _ => false,
    }
}
