//! One run of a plan over one configuration: the state that all passes share.

use super::matching::{Matched, PortMap};
use super::program::{Plan, named_filter};
use super::trace::{Abort, Effect, Later, Miss, NoOp, Panic, PatchId, Place, Sink};
use crate::budget;
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext};
use crate::model::proxy::ProxyKind;
use crate::model::resource::{FieldNames, ProxyConfig, ResourceKind, ResourceText};
use crate::proto::decode;
use crate::proto::json;
use crate::proto::merge::{AnyMismatch, Merger};
use crate::proto::packed::{Kept, Packed};
use crate::proto::schema::{Message, Schema};
use crate::proto::tree::Tree;
use crate::proto::wire;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Message name of the HTTP connection manager.
pub(crate) const HCM_TYPE: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/// The fields of an HTTP connection manager that are needed to change its filters.
pub(super) const LOOKED_INTO: &[&str] = &["http_filters", "rds", "route_config"];

/// State of a run.
pub(super) struct Run<'e, 'a, S> {
    pub plan: &'e Plan<'a>,
    pub config: &'a ProxyConfig<'a>,
    pub sink: &'e mut S,
    /// Service ports behind a gateway's target ports; empty if no patch asks for them.
    pub ports: Rc<PortMap>,
    /// Set whenever a patch has an effect; a pass clears it before each resource.
    pub touched: bool,
    /// Objects shared by several listeners that merges have changed.
    pub shared: super::shared::Shared<'a>,
    /// The current state of patches' transport sockets that were put into clusters and then merged into.
    pub sockets: BTreeMap<PatchId, Tree<'a>>,
    /// See [`Values`].
    pub values: Values<'a>,
    /// See [`Run::ids`].
    pub ids: BTreeMap<PatchContext, BTreeMap<ApplyTo, Rc<[PatchId]>>>,
    /// See [`Options::packed`](super::Options::packed).
    pub packed: bool,
}

/// The values of patches, tagged, which many objects share, with the number of their nodes. Runs of the same patches in the same
/// order share them too.
pub(super) type Values<'a> = BTreeMap<PatchId, (Tree<'a>, u64)>;

/// A resource in the course of the passes.
#[derive(Clone, Debug)]
pub(super) struct Slot<'a> {
    pub kind: ResourceKind,
    /// Index into the configuration's resources; `None` when a patch added it.
    pub source: Option<usize>,
    pub name: Cow<'a, str>,
    pub text: ResourceText<'a>,
    /// The decoded resource; only while in use, or when it changed.
    pub tree: Option<Box<Tree<'a>>>,
    /// The changed resource in place of `tree`, see [`Options::packed`](super::Options::packed).
    pub packed: Option<Packed<'a>>,
    pub touched: bool,
    pub removed: bool,
}

/// A panic of istiod on its way to the call that recovers it.
pub(super) struct Stop {
    pub cause: PatchId,
    pub panic: Panic,
    pub place: Option<Place>,
}

/// Whether an item of a list matches.
pub(super) type Test = for<'o, 't, 'x> fn(&'o ObjectMatch, &'t Tree<'x>) -> Matched<'t>;

pub(super) type Flow = Result<(), Stop>;

impl<'a> Slot<'a> {
    /// The resource as istiod generates it, if it is kept as a tree.
    pub(super) fn opened<'c>(&self, config: &'c ProxyConfig<'_>) -> Option<&'c Tree<'static>> {
        opened(config, self.source, self.text)
    }

    /// The resource as a tree, decoded on first use.
    pub(super) fn open(&mut self, config: &ProxyConfig<'_>, schema: Schema) -> &mut Tree<'a> {
        let packed = &mut self.packed;
        self.tree.get_or_insert_with(|| {
            if let Some(packed) = packed.take() {
                return Box::new(packed.unpack());
            }
            if let Some(tree) = opened(config, self.source, self.text) {
                return Box::new(tree.clone());
            }
            let tree = json::parse(self.text.read()).unwrap_or(Tree::empty());
            Box::new(match (config.field_names, schema.message(self.kind.type_name())) {
                (FieldNames::Json, Some(message)) => normalise(schema, message, tree),
                _ => tree,
            })
        })
    }

    /// Whether the resource differs from its text, or is open.
    pub(super) fn is_decoded(&self) -> bool {
        self.tree.is_some() || self.packed.is_some()
    }

    /// The resource, if it is decoded.
    pub(super) fn decoded(&self) -> Option<Cow<'_, Tree<'a>>> {
        let packed = || self.packed.as_ref().map(|packed| Cow::Owned(packed.unpack()));
        self.tree.as_deref().map(Cow::Borrowed).or_else(packed)
    }

    /// Drops an unchanged tree: a large dump must not be in memory a second time, decoded.
    pub(super) fn close(&mut self) {
        if !self.touched && !self.removed {
            self.tree = None;
        }
    }

    /// The same, and packs a changed tree.
    pub(super) fn pack(&mut self) {
        self.close();
        if let Some(tree) = self.tree.take() {
            self.packed = Some(Packed::of(&tree, self.text.search()));
        }
    }

    /// What istiod sends; `None` when it is removed.
    pub(super) fn sent(self) -> Option<Kept<'a>> {
        let packed = self.packed.map(Kept::packed);
        self.tree.map(Kept::Tree).or(packed).filter(|_| !self.removed)
    }
}

/// The tree kept for a resource, if its text is still this one.
pub(super) fn opened<'c>(
    config: &'c ProxyConfig<'_>,
    source: Option<usize>,
    text: ResourceText<'_>,
) -> Option<&'c Tree<'static>> {
    config.resources.get(source?)?.opened.as_ref()?.of(text.search())
}

/// Converts a resource with JSON names to proto names.
fn normalise(schema: Schema, message: Message, mut tree: Tree<'_>) -> Tree<'_> {
    let url = tree.remove(crate::proto::tree::TYPE_KEY);
    let mut tree = decode::decode(schema, message, tree).tree;
    if let (Some(url), Some(entries)) = (url, tree.entries_mut()) {
        entries.insert(0, (Cow::Borrowed(crate::proto::tree::TYPE_KEY), url));
    }
    tree
}

impl<'a, S: Sink<'a>> Run<'_, 'a, S> {
    /// Ends the work on a resource.
    pub(super) fn close(&self, slot: &mut Slot<'a>) {
        if self.packed { slot.pack() } else { slot.close() }
    }

    /// The patches that run for an applyTo in a context, in order. Every pass and every route configuration asks for them.
    pub(super) fn ids(&mut self, apply_to: ApplyTo, context: PatchContext) -> Rc<[PatchId]> {
        let of_context = self.ids.entry(context).or_insert_with(|| {
            let found = self.plan.in_context(context);
            found.into_iter().map(|(apply_to, ids)| (apply_to, ids.into())).collect()
        });
        Rc::clone(of_context.entry(apply_to).or_default())
    }

    pub(super) fn object(&self, id: PatchId) -> &'a ObjectMatch {
        &self.plan.get(id).built.object
    }

    pub(super) fn operation(&self, id: PatchId) -> Operation {
        self.plan.get(id).built.operation
    }

    /// The patch's value, tagged, for an object that gets it or parts of it; a panic when it is missing.
    pub(super) fn value(&mut self, id: PatchId, place: Option<&Place>) -> Result<Tree<'a>, Stop> {
        if let Some((value, nodes)) = self.values.get(&id) {
            // What is shared costs little here, but as much as a copy when it is printed.
            budget::charge(*nodes);
            return Ok(value.clone());
        }
        let given = self.plan.get(id).built.value.as_ref();
        let value = given.ok_or_else(|| stop(id, Panic::MissingValue, place))?.with_origin(id.origin());
        self.values.insert(id, (value.clone(), value.nodes()));
        Ok(value)
    }

    pub(super) fn message(&self, apply_to: ApplyTo) -> Option<Message> {
        self.plan.schema.message(apply_to.message()?)
    }

    /// A place, created only for a listening sink.
    #[allow(clippy::unused_self, reason = "reads as a question to the run")]
    pub(super) fn place(&self, make: impl FnOnce() -> Place) -> Option<Place> {
        S::ON.then(make)
    }

    pub(super) fn miss(&mut self, id: PatchId, miss: Miss<'_>) {
        self.sink.miss(id, miss);
    }

    /// Keeps the patches whose condition holds and records the others.
    pub(super) fn keep<'m>(&mut self, ids: &[PatchId], test: impl Fn(&'a ObjectMatch) -> Matched<'m>) -> Vec<PatchId> {
        // Most calls are about no patch.
        if ids.is_empty() {
            return Vec::new();
        }
        budget::charge_for(2 * ids.len());
        ids.iter()
            .copied()
            .filter(|&id| match test(self.object(id)) {
                Ok(()) => true,
                Err(miss) => {
                    self.miss(id, miss);
                    false
                }
            })
            .collect()
    }

    pub(super) fn effect(&mut self, id: PatchId, place: Option<Place>, effect: Effect<'a>) {
        self.touched |= effect.changes() || !S::ON;
        if let Some(place) = place {
            if let Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _) = &effect {
                for change in changes {
                    let gone = change.after.is_none();
                    for victim in change.before_origins.iter().copied().filter_map(PatchId::of) {
                        if victim != id && !matches!(change.kind, crate::proto::merge::ChangeKind::CannotReset) {
                            let later =
                                || Later { by: id, place: place.clone(), path: change.path.clone(), removed: gone };
                            self.sink.later(victim, later);
                        }
                    }
                }
            }
            self.sink.effect(id, || place, || effect);
        }
    }

    /// Records for every patch that wrote something in this object that it is gone.
    pub(super) fn bury(&mut self, by: PatchId, tree: &Tree<'_>, place: Option<&Place>) {
        let Some(place) = place else { return };
        for victim in tree.origins().into_iter().filter_map(PatchId::of).filter(|&victim| victim != by) {
            let later = || Later { by, place: place.clone(), path: String::new(), removed: true };
            self.sink.later(victim, later);
        }
    }

    pub(super) fn abort(&mut self, stop: Stop, unprocessed: impl FnOnce() -> Vec<String>) {
        self.touched = true;
        if let Some(place) = stop.place {
            let panic = stop.panic.clone();
            self.sink.effect(stop.cause, || place.clone(), || Effect::Panicked(panic));
            let abort = || Abort { cause: stop.cause, panic: stop.panic, place, unprocessed: unprocessed() };
            self.sink.abort(abort);
        }
    }

    /// Merges a patch's value into a message.
    pub(super) fn merge(
        &mut self,
        id: PatchId,
        apply_to: ApplyTo,
        target: &mut Tree<'a>,
        place: Option<Place>,
    ) -> Flow {
        let value = self.value(id, place.as_ref())?;
        let Some(message) = self.message(apply_to) else { return Ok(()) };
        let mut log = Vec::new();
        let replace_lists = self.operation(id) == Operation::MergeAndReplaceList;
        self.merger(id, replace_lists, S::ON.then_some(&mut log)).merge(message, target, &value);
        self.effect(id, place, Effect::Merged(log));
        Ok(())
    }

    fn merger<'l>(
        &self,
        id: PatchId,
        replace_lists: bool,
        log: Option<&'l mut Vec<crate::proto::merge::Change<'a>>>,
    ) -> Merger<'l, 'a> {
        Merger { schema: self.plan.schema, origin: id.origin(), replace_lists, log, path: String::new() }
    }

    /// Merges the payload of an `Any` into another as istiod's `MergeAnyWithAny` does in this release. `Ok(false)`: the target
    /// is unchanged, because a type is unknown or the bytes do not fit.
    pub(super) fn merge_any(
        &mut self,
        id: PatchId,
        target: &mut Tree<'a>,
        source: &Tree<'a>,
        log: &mut Vec<crate::proto::merge::Change<'a>>,
        path: &str,
        place: Option<&Place>,
    ) -> Result<bool, Stop> {
        let mut merger = self.merger(id, false, S::ON.then_some(log));
        path.clone_into(&mut merger.path);
        match merger.any_payload(target, source) {
            Ok(()) => Ok(true),
            Err(AnyMismatch::Unknown(_)) => Ok(false),
            Err(AnyMismatch::Types { target: target_type, patch }) => {
                if self.plan.compat.has(super::compat::Behaviour::TypeMismatchPanics) {
                    let panic = Panic::TypeMismatch { target: target_type, patch };
                    let passed_over = self.sink.passes_over(id, &panic, place);
                    return if passed_over { Ok(false) } else { Err(stop(id, panic, place)) };
                }
                let Some(read) = wire::reinterpret(self.plan.schema, source, &target_type) else { return Ok(false) };
                Ok(merger.any_payload(target, &read).is_ok())
            }
        }
    }

    /// Merges a filter into another of its kind: the typed_config and, if `rename` is set and the value has one, the name.
    /// What changed is also told to `changes`, for a listening sink.
    pub(super) fn merge_filter(
        &mut self,
        id: PatchId,
        filter: &mut Tree<'a>,
        rename: bool,
        place: Option<Place>,
        changes: Option<&mut Vec<crate::proto::merge::Change<'a>>>,
    ) -> Flow {
        if filter.get("typed_config").is_none() {
            self.effect(id, place, Effect::NoOp(NoOp::TargetUntyped));
            return Ok(());
        }
        let value = self.value(id, place.as_ref())?;
        let mut log = Vec::new();
        let mut known = true;
        if let (Some(source), Some(target)) = (value.get("typed_config"), filter.get_mut("typed_config")) {
            open_to_merge(target, source);
            known = self.merge_any(id, target, source, &mut log, "typed_config", place.as_ref())?;
        }
        let name = value.name();
        if rename && !name.is_empty() && name != filter.name() {
            let name = Tree::string(name.to_owned(), id.origin());
            if S::ON {
                log.push(crate::proto::merge::Change {
                    path: "name".to_owned(),
                    kind: crate::proto::merge::ChangeKind::Set,
                    before: Some(format!("\"{}\"", filter.name())),
                    after: Some(name.clone()),
                    before_origins: filter.get("name").map(Tree::origins).unwrap_or_default(),
                });
            }
            filter.set("name", name);
        }
        if let Some(changes) = changes {
            changes.clone_from(&log);
        }
        let effect = if known || !log.is_empty() { Effect::Merged(log) } else { Effect::NoOp(NoOp::TypeUnknown) };
        self.effect(id, place, effect);
        Ok(())
    }

    /// ADD, INSERT_*, REPLACE and REMOVE on a list of filters. `names`: those of the list, kept from one patch to the next.
    pub(super) fn edit_list(
        &mut self,
        id: PatchId,
        list: &mut Vec<Tree<'a>>,
        names: &mut Names,
        test: Test,
        place: impl Fn(&Tree<'a>) -> Place,
    ) -> Flow {
        let object = self.object(id);
        let operation = self.operation(id);
        let wanted = named_filter(self.plan.get(id).built.patch.apply_to, object);
        let named = wanted.is_some();
        budget::charge_for(4 + list.len());
        let at = match operation {
            Operation::Add => list.len(),
            Operation::InsertFirst => 0,
            Operation::InsertAfter if !named => list.len(),
            Operation::InsertBefore if !named => 0,
            Operation::InsertAfter | Operation::InsertBefore | Operation::Replace => {
                match names.position(list, wanted.unwrap_or_default()) {
                    None => {
                        self.miss_all(id, list, test);
                        return Ok(());
                    }
                    Some(at) => at + usize::from(operation == Operation::InsertAfter),
                }
            }
            Operation::Remove => {
                if list.iter().all(|item| test(object, item).is_err()) {
                    self.miss_all(id, list, test);
                }
                let mut kept = Vec::with_capacity(list.len());
                for item in list.drain(..) {
                    if test(object, &item).is_err() {
                        kept.push(item);
                        continue;
                    }
                    let place = self.place(|| place(&item));
                    self.bury(id, &item, place.as_ref());
                    self.effect(id, place, Effect::Removed);
                }
                *list = kept;
                *names = Names::default();
                return Ok(());
            }
            _ => return Ok(()),
        };
        if operation == Operation::Replace {
            let there = self.place(|| place(&list[at]));
            let value = self.value(id, there.as_ref())?;
            names.replaced(at, value.name());
            let old = std::mem::replace(&mut list[at], value);
            self.bury(id, &old, there.as_ref());
            self.effect(id, there, Effect::Replaced);
            return Ok(());
        }
        if self.plan.get(id).built.value.is_none() {
            let empty = Tree::empty();
            return Err(stop(id, Panic::MissingValue, self.place(|| place(&empty)).as_ref()));
        }
        let value = self.value(id, None)?;
        let there = self.place(|| place(&value));
        names.inserted(at, value.name());
        list.insert(at, value);
        self.effect(id, there, Effect::Inserted { index: at, length: list.len() });
        Ok(())
    }

    fn miss_all(&mut self, id: PatchId, list: &[Tree<'a>], test: Test) {
        if S::ON {
            // An object without filters comes as close to a match as one with others.
            if list.is_empty()
                && let Err(miss) = test(self.object(id), &Tree::empty())
            {
                self.miss(id, Miss::no_object(miss.condition));
            }
            for item in list {
                if let Err(miss) = test(self.object(id), item) {
                    self.miss(id, miss);
                }
            }
        }
    }

    pub(super) fn gateway(&self) -> bool {
        self.plan.proxy.kind == ProxyKind::Gateway
    }
}

/// The names of a list's filters as hashes, once many were compared: patches that insert thousands of filters each search it for
/// their anchor, and numbers side by side are compared in a hundredth of the time.
#[derive(Default)]
pub(super) struct Names {
    hashes: Option<Vec<u32>>,
    /// How many names were compared.
    compared: usize,
}

/// Comparisons of names after which hashing them pays.
const MANY: usize = 64;

/// Hashes that are compared at once.
const BLOCK: usize = 64;

impl Names {
    fn hash(name: &str) -> u32 {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        // Half of it: less to search, and names decide between equal hashes.
        let [a, b, c, d, ..] = hasher.finish().to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    /// The places of a hash. A block is compared without a branch for each hash, so that several are compared at once.
    fn places(hashes: &[u32], wanted: u32) -> impl Iterator<Item = usize> {
        let blocks = hashes.chunks(BLOCK).enumerate();
        let with =
            blocks.filter(move |(_, block)| block.iter().fold(0, |found, hash| found | u32::from(*hash == wanted)) > 0);
        with.flat_map(move |(number, block)| {
            let alike = block.iter().enumerate().filter(move |(_, hash)| **hash == wanted);
            alike.map(move |(at, _)| number * BLOCK + at)
        })
    }

    /// The first filter of this name.
    fn position(&mut self, list: &[Tree<'_>], name: &str) -> Option<usize> {
        self.compared += list.len();
        if self.compared < MANY {
            return list.iter().position(|item| item.name() == name);
        }
        let hashes = self.hashes.get_or_insert_with(|| list.iter().map(|item| Names::hash(item.name())).collect());
        let wanted = Names::hash(name);
        Names::places(hashes, wanted).find(|&at| list.get(at).is_some_and(|item| item.name() == name))
    }

    fn inserted(&mut self, at: usize, name: &str) {
        if let Some(hashes) = &mut self.hashes {
            hashes.insert(at, Names::hash(name));
        }
    }

    fn replaced(&mut self, at: usize, name: &str) {
        if let Some(hash) = self.hashes.as_mut().and_then(|hashes| hashes.get_mut(at)) {
            *hash = Names::hash(name);
        }
    }
}

pub(super) fn stop(cause: PatchId, panic: Panic, place: Option<&Place>) -> Stop {
    Stop { cause, panic, place: place.cloned() }
}

/// Opens the configuration of a filter as far as a merge of this value, and patches of HTTP filters, need it.
pub(super) fn open_to_merge(config: &mut Tree<'_>, value: &Tree<'_>) {
    if config.type_name().as_deref() == Some(HCM_TYPE) {
        let value = value.readable();
        let keys: Vec<&str> =
            LOOKED_INTO.iter().copied().chain(value.entries().iter().map(|(key, _)| &**key)).collect();
        config.open_partly(&keys);
    }
}
