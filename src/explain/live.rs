//! Dumps of live proxies: they were patched before they were taken.
//!
//! What a filter inserted is found again by its name and its equal value, and taken out before the engine runs, so that
//! the explanation starts from what istiod generates. A merge cannot be undone; running it again changes nothing, unless
//! it appends to a list.

use super::Explainer;
use crate::engine::program::Status;
use crate::engine::trace::{Effect, PatchId, Place};
use crate::engine::{Outcome, Plan};
use crate::model::envoy_filter::ApplyTo;
use crate::model::resource::{ProxyConfig, Resource, ResourceKind};
use crate::proto::decode;
use crate::proto::json::{self, Style};
use crate::proto::merge::{Change, ChangeKind};
use crate::proto::schema::Schema;
use crate::proto::tree::{TYPE_KEY, Tree, Value};
use std::collections::{BTreeMap, HashMap};

/// The resources of a dump that hold something a patch inserts: their texts without it, none for those that a patch added
/// as a whole. By index into the configuration's resources.
pub type Stripped = BTreeMap<usize, Option<String>>;

/// What an insert puts somewhere.
struct Inserted<'p> {
    apply_to: ApplyTo,
    name: &'p str,
    /// `"name"`, to look for.
    quoted: String,
    value: String,
}

/// Looks for what the patches of a plan insert.
pub fn strip(plan: &Plan<'_>, config: &ProxyConfig<'_>) -> Stripped {
    let inserted: Vec<Inserted<'_>> = plan.patches.iter().filter_map(|planned| inserted(plan, planned)).collect();
    let mut stripped = Stripped::new();
    for (index, resource) in config.resources.iter().enumerate().filter(|_| !inserted.is_empty()) {
        let kinds: &[ApplyTo] = match resource.kind {
            ResourceKind::Listener => {
                &[ApplyTo::HttpFilter, ApplyTo::NetworkFilter, ApplyTo::ListenerFilter, ApplyTo::Listener]
            }
            ResourceKind::Cluster => &[ApplyTo::Cluster],
            ResourceKind::ExtensionConfig => &[ApplyTo::ExtensionConfig],
            ResourceKind::Route => continue,
        };
        let here = |it: &&Inserted<'_>| {
            kinds.contains(&it.apply_to)
                && memchr::memmem::find(resource.json.as_bytes(), it.quoted.as_bytes()).is_some()
        };
        let here: Vec<&Inserted<'_>> = inserted.iter().filter(here).collect();
        if here.is_empty() {
            continue;
        }
        let Some(mut tree) = crate::engine::open(config, index, plan) else { continue };
        let whole =
            |it: &&Inserted<'_>| it.name == resource.name && comparable(plan.schema, it.apply_to, &tree) == it.value;
        if here.iter().copied().any(|it| whole(&it)) {
            stripped.insert(index, None);
            continue;
        }
        tree.open_all();
        if take_out(plan.schema, &mut tree, &here) {
            stripped.insert(index, Some(json::write(&tree, Style::Compact)));
        }
    }
    stripped
}

/// The configuration with those texts. They have proto field names, which the engine reads in any dump.
pub fn without<'a>(config: &ProxyConfig<'a>, stripped: &'a Stripped) -> ProxyConfig<'a> {
    let resources = config.resources.iter().enumerate().filter_map(|(index, resource)| match stripped.get(&index) {
        None => Some(resource.clone()),
        Some(None) => None,
        Some(Some(json)) => Some(Resource { json, ..resource.clone() }),
    });
    ProxyConfig { resources: resources.collect(), ..config.clone() }
}

fn inserted<'p>(plan: &Plan<'_>, planned: &'p crate::engine::program::Planned<'_>) -> Option<Inserted<'p>> {
    let apply_to = planned.built.patch.apply_to;
    let runs = planned.status == Status::Ready && planned.proxy_miss.is_none() && !planned.built.operation.is_merge();
    let value = planned.built.value.as_ref().filter(|value| runs && !value.name().is_empty())?;
    let name = value.name();
    Some(Inserted { apply_to, name, quoted: format!("\"{name}\""), value: comparable(plan.schema, apply_to, value) })
}

/// Takes equal copies out of the lists of filters.
fn take_out(schema: Schema, tree: &mut Tree<'_>, inserted: &[&Inserted<'_>]) -> bool {
    let mut taken = false;
    match &mut tree.value {
        Value::Map(entries) => {
            for (key, value) in entries {
                let apply_to = match key.as_ref() {
                    "http_filters" => Some(ApplyTo::HttpFilter),
                    "filters" => Some(ApplyTo::NetworkFilter),
                    "listener_filters" => Some(ApplyTo::ListenerFilter),
                    _ => None,
                };
                if let (Some(apply_to), Some(items)) = (apply_to, value.items_mut()) {
                    let before = items.len();
                    items.retain(|item| {
                        !inserted.iter().any(|it| {
                            it.apply_to == apply_to
                                && it.name == item.name()
                                && comparable(schema, apply_to, item) == it.value
                        })
                    });
                    taken |= items.len() < before;
                }
                taken |= take_out(schema, value, inserted);
            }
        }
        Value::List(items) => {
            for item in items {
                taken |= take_out(schema, item, inserted);
            }
        }
        _ => {}
    }
    taken
}

/// One text for equal values, whatever names and orders they are written with.
fn comparable(schema: Schema, apply_to: ApplyTo, tree: &Tree<'_>) -> String {
    let mut tree = tree.clone();
    tree.remove(TYPE_KEY);
    match apply_to.message().and_then(|name| schema.message(name)) {
        Some(message) => json::canonical(&decode::decode(schema, message, tree).tree),
        None => json::canonical(&tree),
    }
}

/// A field's value before the first patch, and after the last.
type Ends<'e> = (Option<&'e str>, Option<&'e str>);

/// What a dump held before the engine ran, and what is there at the end.
pub(super) struct Live<'e> {
    resources: HashMap<(ResourceKind, &'e str), usize>,
    /// The merged fields, only where patches overwrite each other.
    merged: HashMap<(&'e Place, &'e str), Ends<'e>>,
}

impl<'e> Live<'e> {
    pub(super) fn new(explainer: &Explainer<'e, '_>) -> Live<'e> {
        let patches = &explainer.judged.trace.patches;
        let inserts = patches
            .iter()
            .flat_map(|patch| &patch.effects)
            .any(|(_, effect)| matches!(effect, Effect::Inserted { .. } | Effect::Replaced | Effect::Added));
        let mut live = Live { resources: HashMap::new(), merged: HashMap::new() };
        if inserts {
            for kind in ResourceKind::ALL {
                let generated = explainer.live.generated(kind);
                live.resources.extend(generated.map(|(index, resource)| ((kind, &*resource.name), index)));
            }
        }
        if patches.iter().any(|patch| !patch.later.is_empty()) {
            for (place, effect) in patches.iter().flat_map(|patch| &patch.effects) {
                let (Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _)) = effect else { continue };
                for change in changes {
                    let fresh = (change.before.as_deref(), change.after.as_deref());
                    live.merged.entry((place, &change.path)).or_insert(fresh).1 = change.after.as_deref();
                }
            }
        }
        live
    }

    /// Whether a change of a merge is there already, or was made and then overwritten with what is there.
    fn merged(&self, place: &Place, change: &Change) -> bool {
        change.kind == ChangeKind::Same
            || self.merged.get(&(place, change.path.as_str())).is_some_and(|(first, last)| first == last)
    }
}

impl Explainer<'_, '_> {
    /// Whether the dump holds what a patch writes: `yes`, `no`, `partly`; `None` when that cannot be told.
    pub(super) fn in_effect(&self, live: &Live<'_>, id: PatchId, outcome: Outcome) -> Option<&'static str> {
        if !matches!(outcome, Outcome::Applied | Outcome::NoOp) {
            return None;
        }
        let effects = &self.judged.trace.patches[id.index()].effects;
        let verdicts: Vec<bool> =
            effects.iter().filter_map(|(place, effect)| self.holds(live, id, place, effect)).collect();
        let there = verdicts.iter().filter(|&&there| there).count();
        match there {
            _ if verdicts.is_empty() => None,
            0 => Some("no"),
            _ if there == verdicts.len() => Some("yes"),
            _ => Some("partly"),
        }
    }

    fn holds(&self, live: &Live<'_>, id: PatchId, place: &Place, effect: &Effect) -> Option<bool> {
        match effect {
            Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _) => {
                // Whether a list was appended to before, or held the items anyway, nobody can see.
                let appended = changes.iter().any(|change| change.kind == ChangeKind::Appended);
                let mut told = changes.iter().filter(|change| change.kind != ChangeKind::CannotReset).peekable();
                (!appended && told.peek().is_some()).then(|| told.all(|change| live.merged(place, change)))
            }
            Effect::Inserted { .. } | Effect::Replaced | Effect::Added => {
                let value = self.plan.get(id).built.value.as_ref().filter(|value| !value.name().is_empty())?;
                let Some(&index) = live.resources.get(&(place.kind, place.resource.as_str())) else {
                    return Some(false);
                };
                let json = self.live.resources.get(index)?.json;
                // Most dumps do not hold the name at all; only the others are decoded.
                if memchr::memmem::find(json.as_bytes(), format!("\"{}\"", value.name()).as_bytes()).is_none() {
                    return Some(false);
                }
                let apply_to = self.plan.get(id).built.patch.apply_to;
                let wanted = comparable(self.plan.schema, apply_to, value);
                let tree = crate::engine::open(self.live, index, self.plan)?;
                Some(any_named(tree, value.name(), &|tree| comparable(self.plan.schema, apply_to, tree) == wanted))
            }
            Effect::Removed | Effect::NoOp(_) | Effect::Panicked(_) => None,
        }
    }
}

/// Whether an object of this name inside a tree passes a test.
fn any_named(mut tree: Tree<'_>, name: &str, test: &impl Fn(&Tree<'_>) -> bool) -> bool {
    tree.open();
    if tree.name() == name && test(&tree) {
        return true;
    }
    match tree.value {
        Value::List(items) => items.into_iter().any(|item| any_named(item, name, test)),
        Value::Map(entries) => entries.into_iter().any(|(_, value)| any_named(value, name, test)),
        _ => false,
    }
}
