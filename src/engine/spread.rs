//! Carries merges into a shared object to all other places that have it.

use super::run::{Run, Slot};
use super::shared::{Class, Reach, Shared, network_filter};
use super::trace::{Effect, Place, Sink};
use crate::model::envoy_filter::PatchContext;
use crate::proto::json;
use crate::proto::tree::Tree;
use std::sync::Arc;

/// Shared objects in which merges were undone: the dump's version of each, and istiod's.
#[derive(Default)]
pub(super) struct Undone<'a> {
    objects: Vec<(Option<Class>, String, Tree<'a>)>,
}

impl<'a> Undone<'a> {
    /// Records a filter as in the dump and without the merges.
    pub(super) fn note(&mut self, class: &Class, before: String, filter: &Tree<'a>) {
        let Some(reach) = network_filter(filter.name()) else { return };
        if json::canonical(filter) != before {
            let class = (reach != Reach::Global).then(|| class.clone());
            self.objects.push((class, before, filter.clone()));
        }
    }

    /// Undoes the same merges in all other listeners with the object.
    pub(super) fn spread(
        &self,
        slots: &mut [Slot<'a>],
        context: impl Fn(&Slot<'a>) -> Option<PatchContext>,
        open: impl Fn(&mut Slot<'a>),
    ) {
        if self.objects.is_empty() {
            return;
        }
        for slot in slots.iter_mut().filter(|slot| !slot.removed) {
            let Some(context) = context(slot) else { continue };
            open(slot);
            let mut touched = false;
            for chain in slot.tree.as_deref_mut().map(chains).into_iter().flatten() {
                let class = Class::of(context, chain);
                for filter in chain.get_mut("filters").and_then(Tree::items_mut).into_iter().flatten() {
                    let fits = |of: &Option<Class>| of.as_ref().is_none_or(|of| *of == class);
                    let text = json::canonical(filter);
                    let found = self.objects.iter().find(|(of, before, _)| fits(of) && *before == text);
                    if let Some((_, _, undone)) = found {
                        *filter = undone.clone();
                        touched = true;
                    }
                }
            }
            slot.touched |= touched;
            slot.close();
        }
    }
}

/// All filter chains of a listener, the default one last.
fn chains<'t, 'a>(listener: &'t mut Tree<'a>) -> Vec<&'t mut Tree<'a>> {
    let (mut list, mut default) = (Vec::new(), None);
    for (key, value) in listener.entries_mut().into_iter().flatten() {
        match &**key {
            "filter_chains" => list.extend(value.items_mut().into_iter().flatten()),
            "default_filter_chain" => default = Some(value),
            _ => {}
        }
    }
    list.extend(default);
    list
}

impl<'a, S: Sink<'a>> Run<'_, 'a, S> {
    /// Applies merges into shared objects to all other listeners that contain them. In istiod this happens by itself, because
    /// the message is the same.
    pub(super) fn spread(&mut self, slots: &mut [Slot<'a>], context: impl Fn(&Slot<'a>) -> Option<PatchContext>) {
        let shared = std::mem::take(&mut self.shared);
        if shared.is_empty() {
            return;
        }
        for slot in slots.iter_mut().filter(|slot| !slot.removed) {
            let Some(context) = context(slot) else { continue };
            let (config, schema) = (self.config, self.plan.schema);
            let tree = slot.open(config, schema);
            let name: Arc<str> = tree.name().into();
            let mut touched = false;
            let class = Class { context, service: String::new() };
            for filter in tree.get_mut("listener_filters").and_then(Tree::items_mut).into_iter().flatten() {
                let place = Place::listener_filter(&name, filter);
                touched |= self.replace_shared(&shared, &class, filter, place);
            }
            let length = tree.get("filter_chains").map_or(0, |chains| chains.items().len());
            for index in 0..=length {
                let chain = if index < length {
                    tree.get_mut("filter_chains").and_then(Tree::items_mut).and_then(|chains| chains.get_mut(index))
                } else {
                    tree.get_mut("default_filter_chain")
                };
                let Some(chain) = chain else { continue };
                let class = Class::of(context, chain);
                let place = Place::chain(&name, (index < length).then_some(index), chain);
                for filter in chain.get_mut("filters").and_then(Tree::items_mut).into_iter().flatten() {
                    let place = Place::filter(Some(&place), filter);
                    touched |= self.replace_shared(&shared, &class, filter, place);
                }
            }
            slot.touched |= touched;
            self.close(slot);
        }
    }

    fn replace_shared(&mut self, shared: &Shared<'a>, class: &Class, filter: &mut Tree<'a>, place: Place) -> bool {
        let Some(now) = shared.current(class, filter) else { return false };
        if S::ON {
            let text = json::canonical(filter);
            let group = shared.place(class, &text).and_then(|at| shared.groups.get(at));
            for (id, changes) in group.iter().flat_map(|group| &group.by) {
                self.sink.spread(*id, || place.clone(), || Effect::Merged(changes.clone()));
            }
        }
        *filter = now.clone();
        true
    }
}
