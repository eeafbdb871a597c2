//! What undoing shares: lists, merges, notes. Patches are undone in reverse order.

use super::{Seen, Shown};
use crate::engine::compat::Behaviour;
use crate::engine::matching::{PortMap, sub_filter_name};
use crate::engine::program::{Plan, names_filter};
use crate::engine::run::Test;
use crate::engine::run::open_to_merge;
use crate::engine::spread::Undone;
use crate::engine::trace::{PatchId, Place};
use crate::engine::{PROXY_PROTOCOL, ROUTE_FILTERS};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext};
use crate::model::proxy::ProxyKind;
use crate::model::resource::ProxyConfig;
use crate::proto::schema::Message;
use crate::proto::tree::{Origin, Tree};
use crate::proto::unmerge::{Note, Unmerger, What, holds};
use std::collections::BTreeSet;

/// State while patches are undone.
pub(super) struct Undo<'e, 'a> {
    pub plan: &'e Plan<'a>,
    pub config: &'a ProxyConfig<'a>,
    pub ports: PortMap,
    /// What the dump shows about the patches.
    pub shown: Vec<Shown>,
    /// Names of oneof fields that a merge may have cleared.
    pub cleared: BTreeSet<String>,
    /// Patches that wrote something unrecognizable.
    pub hidden: BTreeSet<PatchId>,
    /// Set whenever something is undone.
    pub touched: bool,
    /// Patches that cannot have left anything in any listener.
    pub invisible: BTreeSet<PatchId>,
    /// The context of the listener that is being undone.
    pub context: PatchContext,
    /// Shared objects in which merges were undone.
    pub shared: Undone<'a>,
    /// Names of HTTP filters that patches remove or replace.
    pub taken: BTreeSet<&'a str>,
}

/// The names of HTTP filters that patches of a plan remove or replace.
pub(super) fn taken<'a>(plan: &Plan<'a>) -> BTreeSet<&'a str> {
    let takes = |id: &PatchId| {
        let built = plan.get(*id).built;
        built.patch.apply_to == ApplyTo::HttpFilter && matches!(built.operation, Operation::Remove | Operation::Replace)
    };
    plan.ids().filter(takes).filter_map(|id| sub_filter_name(&plan.get(id).built.object)).collect()
}

impl<'a> Undo<'_, 'a> {
    pub(super) fn object(&self, id: PatchId) -> &'a ObjectMatch {
        &self.plan.get(id).built.object
    }

    pub(super) fn operation(&self, id: PatchId) -> Operation {
        self.plan.get(id).built.operation
    }

    pub(super) fn value(&self, id: PatchId) -> Option<&'a Tree<'a>> {
        self.plan.get(id).built.value.as_ref()
    }

    pub(super) fn gateway(&self) -> bool {
        self.plan.proxy.kind == ProxyKind::Gateway
    }

    pub(super) fn message(&self, apply_to: ApplyTo) -> Option<Message> {
        self.plan.schema.message(apply_to.message()?)
    }

    pub(super) fn show(&mut self, id: PatchId, place: Place, seen: Seen) {
        self.touched |= !matches!(seen, Seen::Differs(_) | Seen::Missing);
        self.shown.push(Shown { patch: id, place, seen });
    }

    /// The patches whose condition holds.
    pub(super) fn keep<'m>(
        &self,
        ids: &[PatchId],
        test: impl Fn(&'a ObjectMatch) -> crate::engine::matching::Matched<'m>,
    ) -> Vec<PatchId> {
        ids.iter().copied().filter(|&id| test(self.object(id)).is_ok()).collect()
    }

    /// Undoes merges on a copy, and keeps it if everything was as the merge leaves it. Returns whether that is so.
    pub(super) fn unmerge(
        &mut self,
        id: PatchId,
        target: &mut Tree<'a>,
        place: Place,
        path: &str,
        merge: impl FnOnce(&mut Unmerger<'_>, &mut Tree<'a>),
    ) -> bool {
        let mut notes = Vec::new();
        let mut copy = target.clone();
        merge(
            &mut Unmerger {
                schema: self.plan.schema,
                replace_lists: self.operation(id) == Operation::MergeAndReplaceList,
                notes: &mut notes,
                path: path.to_owned(),
            },
            &mut copy,
        );
        let differs: Vec<Note> =
            notes.iter().filter(|note| matches!(note.what, What::Differs { .. })).cloned().collect();
        if !differs.is_empty() {
            self.show(id, place, Seen::Differs(differs));
            return false;
        }
        self.cleared.extend(
            notes
                .iter()
                .filter(|note| note.what == What::PerhapsCleared)
                .filter_map(|note| note.path.rsplit('.').next().map(str::to_owned)),
        );
        let cut = notes.iter().any(|note| matches!(note.what, What::Cut(_)));
        notes.retain(|note| matches!(note.what, What::Overwritten | What::Cut(_)));
        if !notes.is_empty() {
            self.show(id, place, if cut { Seen::Appended } else { Seen::Holds });
        }
        *target = copy;
        true
    }

    /// Undoes a merge of a whole message; returns whether it was as the merge leaves it.
    pub(super) fn unmerge_message(
        &mut self,
        id: PatchId,
        apply_to: ApplyTo,
        target: &mut Tree<'a>,
        place: Place,
    ) -> bool {
        let (Some(value), Some(message)) = (self.value(id), self.message(apply_to)) else { return true };
        // Chains without filters that a merge brings into a listener are dropped at once.
        let mut kept;
        let value = if apply_to == ApplyTo::Listener && self.plan.compat.has(Behaviour::DropEmptyAlways) {
            kept = value.clone();
            if let Some(chains) = kept.get_mut("filter_chains").and_then(Tree::items_mut) {
                chains.retain(|chain| chain.get("filters").is_some());
            }
            if kept.get("filter_chains").is_some_and(|chains| chains.items().is_empty()) {
                kept.remove("filter_chains");
            }
            &kept
        } else {
            value
        };
        let done = self.unmerge(id, target, place, "", |unmerger, target| unmerger.message(message, target, value));
        // Without a name nothing matches it any more.
        if let Some(name) = target.get_mut("name").filter(|name| name.origin == Origin::UNKNOWN) {
            name.origin = Origin::HELD;
        }
        done
    }

    /// Undoes a MERGE of an object, or looks for what a REMOVE should have taken. A merge can have given the object its current
    /// name.
    pub(super) fn undo_edit(
        &mut self,
        id: PatchId,
        apply_to: ApplyTo,
        tree: &mut Tree<'a>,
        named: Option<&'a str>,
        fits: impl Fn(&'a ObjectMatch, &Tree<'a>) -> bool,
        place: impl Fn(&Tree<'a>) -> Place,
    ) {
        let now = tree.get("name").cloned();
        let given = self.value(id).map(Tree::name).filter(|name| !name.is_empty());
        let renamed = self.operation(id).is_merge() && given.is_some_and(|name| name == tree.name());
        if let (true, Some(named)) = (renamed, named) {
            tree.set("name", Tree::string(named, Origin::HELD));
        }
        let there = place(tree);
        let done = fits(self.object(id), tree)
            && match self.operation(id) {
                Operation::Remove => {
                    self.show(id, there.clone(), Seen::Missing);
                    true
                }
                _ => self.unmerge_message(id, apply_to, tree, there.clone()),
            };
        let Some(named) = named.filter(|_| renamed) else { return };
        if !done {
            if let Some(now) = now {
                tree.set("name", now);
            }
            return;
        }
        tree.set("name", Tree::string(named, Origin::ISTIOD));
        if given != Some(named) {
            self.show(id, there, Seen::Holds);
        }
    }

    /// Undoes a merge into a filter; `name` is the one the match requires.
    pub(super) fn unmerge_filter(
        &mut self,
        id: PatchId,
        filter: &mut Tree<'a>,
        rename: bool,
        name: Option<&'a str>,
        place: Place,
    ) {
        let Some(value) = self.value(id) else { return };
        if filter.get("typed_config").is_none() {
            return;
        }
        let renamed = rename && !value.name().is_empty() && Some(value.name()) != name;
        if renamed && value.name() != filter.name() {
            let wanted = format!("\"{}\"", value.name());
            let found = Some(format!("\"{}\"", filter.name()));
            let differs = vec![Note { path: "name".to_owned(), what: What::Differs { wanted, found } }];
            return self.show(id, place, Seen::Differs(differs));
        }
        if let Some(source) = value.get("typed_config") {
            let mut merged = true;
            let done = self.unmerge(id, filter, place.clone(), "typed_config", |unmerger, filter| {
                if let Some(target) = filter.get_mut("typed_config") {
                    open_to_merge(target, source);
                    merged = unmerger.any_payload(target, source);
                }
            });
            if !merged {
                self.note_reinterpreted(id, filter.get("typed_config"), source);
            }
            if !done || !merged {
                return;
            }
        }
        if renamed {
            let before = match name {
                Some(name) => Tree::string(name, Origin::ISTIOD),
                None => Tree::string(filter.name().to_owned(), Origin::HELD),
            };
            filter.set("name", before);
            self.show(id, place, Seen::Holds);
        }
    }

    /// Releases before 1.27 read the bytes of one type as another where types differ: the result shows no trace of the patch.
    pub(super) fn note_reinterpreted(&mut self, id: PatchId, target: Option<&Tree<'a>>, source: &Tree<'a>) {
        let known = |tree: &Tree<'a>| tree.type_name().is_some_and(|name| self.plan.schema.message(&name).is_some());
        if !self.plan.compat.has(Behaviour::TypeMismatchPanics) && known(source) && target.is_some_and(known) {
            self.hidden.insert(id);
        }
    }

    /// Whether a filter is the one that istiod generates: beside it, one of a patch would be the second of its name.
    fn is_generated(&self, apply_to: ApplyTo, list: &[Tree<'a>], at: usize) -> bool {
        let name = list[at].name();
        let count = |name: &str| list.iter().filter(|item| item.name() == name).count();
        if apply_to == ApplyTo::ListenerFilter {
            return name == PROXY_PROTOCOL.0
                && count(name) == 1
                && self.gateway()
                && self.plan.proxy.reads_proxy_protocol();
        }
        apply_to == ApplyTo::HttpFilter
            && ROUTE_FILTERS.iter().any(|(generated, _)| *generated == name)
            && !self.taken.contains(name)
            && count(name) == 1
            && ROUTE_FILTERS.iter().all(|(name, _)| count(name) > 0)
    }

    /// Undoes ADD, INSERT_*, REPLACE and REMOVE on a list of filters, last patch first. `name`: the filter that a match
    /// requires.
    pub(super) fn undo_list(
        &mut self,
        ids: &[PatchId],
        list: &mut Vec<Tree<'a>>,
        apply_to: ApplyTo,
        test: Test,
        name: impl Fn(&'a ObjectMatch) -> Option<&'a str>,
        place: impl Fn(&Tree<'a>) -> Place,
    ) {
        for &id in ids.iter().rev() {
            let (object, operation) = (self.object(id), self.operation(id));
            let named = names_filter(apply_to, object);
            let Some(value) = self.value(id) else { continue };
            let first = list.iter().position(|item| test(object, item).is_ok());
            let is = |at: usize, list: &[Tree<'a>]| list.get(at).is_some_and(|item| holds(item, value));
            let anchored = matches!(operation, Operation::InsertAfter | Operation::InsertBefore) && named;
            let at = match operation {
                Operation::Add => list.len().checked_sub(1).filter(|&at| is(at, list)),
                Operation::InsertAfter if !named => list.len().checked_sub(1).filter(|&at| is(at, list)),
                Operation::InsertFirst => Some(0).filter(|&at| is(at, list)),
                Operation::InsertBefore if !named => Some(0).filter(|&at| is(at, list)),
                Operation::InsertAfter | Operation::InsertBefore => {
                    let after = operation == Operation::InsertAfter;
                    let matched: Vec<usize> =
                        (0..list.len()).filter(|&at| test(object, &list[at]).is_ok()).take(2).collect();
                    (0..list.len()).filter(|&at| is(at, list)).find(|&at| {
                        // The first that matches in the list without this item.
                        let anchor = matched.iter().copied().find(|&it| it != at);
                        anchor.map(|it| it - usize::from(it > at)) == at.checked_sub(usize::from(after))
                            && anchor.is_some()
                    })
                }
                // Of equal filters take the last: others that istiod generates come before those that patches usually name (the
                // router, the inspectors).
                Operation::Replace => {
                    (0..list.len()).filter(|&at| first.is_none_or(|first| first >= at)).rfind(|&at| is(at, list))
                }
                Operation::Remove => {
                    if let Some(first) = first {
                        let place = place(&list[first]);
                        self.show(id, place, Seen::Missing);
                    }
                    continue;
                }
                _ => continue,
            };
            let at = at.filter(|&at| operation == Operation::Replace || !self.is_generated(apply_to, list, at));
            let Some(at) = at else {
                let expected = match operation {
                    Operation::Replace => first.is_some(),
                    _ => !anchored || first.is_some(),
                };
                if expected {
                    self.show(id, place(value), Seen::Missing);
                }
                continue;
            };
            let there = place(value);
            if operation == Operation::Replace {
                list[at] = known_by_name(name(object).unwrap_or_default());
            } else {
                list.remove(at);
            }
            self.show(id, there, Seen::Found);
        }
    }
}

/// Something of which only the name is known.
pub(super) fn known_by_name(name: &str) -> Tree<'_> {
    let mut tree = Tree::empty();
    if !name.is_empty() {
        tree.set("name", Tree::string(name, Origin::HELD));
    }
    tree.origin = Origin::HELD;
    tree
}
