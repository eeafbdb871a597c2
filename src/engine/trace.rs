//! What the engine records about each patch: where it looked, what it matched, what it changed, and what later patches did to
//! that.

pub use super::place::{Names, Place};
use crate::proto::merge::Change;
use crate::proto::tree::{Origin, type_name};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A patch in the order of application for one proxy: the index into [`super::Plan::patches`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PatchId(pub u32);

impl PatchId {
    /// The tag this patch leaves on what it writes.
    pub(crate) const fn origin(self) -> Origin {
        Origin(self.0 + 1)
    }

    /// The patch behind a tag; `None` for istiod, and when it is unknown.
    pub(crate) const fn of(origin: Origin) -> Option<PatchId> {
        match origin.0 {
            0 | 0xffff_fffe.. => None,
            number => Some(PatchId(number - 1)),
        }
    }

    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The conditions of a match, in the order in which istiod tests them: the later, the closer to a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// `listener.name`.
    ListenerName,
    /// `listener.portNumber`, compared with the listener's address.
    ListenerPort,
    /// `listener.portNumber` of a virtual listener, compared with the chain's destination port.
    ChainPort,
    /// `filterChain.name`.
    ChainName,
    /// `filterChain.sni`.
    Sni,
    /// `filterChain.transportProtocol`.
    TransportProtocol,
    /// `filterChain.applicationProtocols`.
    ApplicationProtocols,
    /// `filterChain.destinationPort`.
    DestinationPort,
    /// HTTP filters exist only in an HTTP connection manager.
    HttpConnectionManager,
    /// `filterChain.filter.name`.
    Filter,
    /// `filterChain.filter.subFilter.name`.
    SubFilter,
    /// `listener.listenerFilter`.
    ListenerFilter,
    /// `routeConfiguration.name`.
    RouteConfigurationName,
    /// `routeConfiguration.portName`.
    PortName,
    /// `routeConfiguration.gateway`.
    Gateway,
    /// `routeConfiguration.portNumber`.
    RoutePort,
    /// `vhost.name`.
    VirtualHostName,
    /// `vhost.domainName`.
    DomainName,
    /// `route.name`.
    RouteName,
    /// `route.action`.
    RouteAction,
    /// `cluster.name`.
    ClusterName,
    /// `cluster.service`; istiod tests the subset first, but a subset belongs to a service.
    Service,
    /// `cluster.subset`.
    Subset,
    /// `cluster.portNumber`.
    ClusterPort,
}

impl Condition {
    /// How close to a match this is. A port counts the same in a virtual listener as in a listener of its own.
    fn rank(self) -> Condition {
        if self == Condition::ChainPort { Condition::ListenerPort } else { self }
    }

    /// The route of keys below `match`.
    pub(crate) const fn route(self) -> &'static [&'static str] {
        match self {
            Condition::ListenerName => &["listener", "name"],
            Condition::ListenerPort | Condition::ChainPort => &["listener", "portNumber"],
            Condition::ChainName => &["listener", "filterChain", "name"],
            Condition::Sni => &["listener", "filterChain", "sni"],
            Condition::TransportProtocol => &["listener", "filterChain", "transportProtocol"],
            Condition::ApplicationProtocols => &["listener", "filterChain", "applicationProtocols"],
            Condition::DestinationPort => &["listener", "filterChain", "destinationPort"],
            Condition::Filter => &["listener", "filterChain", "filter", "name"],
            Condition::HttpConnectionManager => &["listener"],
            Condition::SubFilter => &["listener", "filterChain", "filter", "subFilter", "name"],
            Condition::ListenerFilter => &["listener", "listenerFilter"],
            Condition::RouteConfigurationName => &["routeConfiguration", "name"],
            Condition::PortName => &["routeConfiguration", "portName"],
            Condition::Gateway => &["routeConfiguration", "gateway"],
            Condition::RoutePort => &["routeConfiguration", "portNumber"],
            Condition::VirtualHostName => &["routeConfiguration", "vhost", "name"],
            Condition::DomainName => &["routeConfiguration", "vhost", "domainName"],
            Condition::RouteName => &["routeConfiguration", "vhost", "route", "name"],
            Condition::RouteAction => &["routeConfiguration", "vhost", "route", "action"],
            Condition::ClusterName => &["cluster", "name"],
            Condition::Subset => &["cluster", "subset"],
            Condition::Service => &["cluster", "service"],
            Condition::ClusterPort => &["cluster", "portNumber"],
        }
    }
}

/// A condition that failed on one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss<'m> {
    /// The first condition that failed.
    pub condition: Condition,
    /// The object's value.
    pub found: Found<'m>,
}

/// An object's value for a failed condition. Most objects fail one, so a single text uses no memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<'m> {
    /// One value.
    One(Cow<'m, str>),
    /// A list, item by item.
    Several(Vec<Cow<'m, str>>),
    /// There is no object to compare.
    NoObject,
}

impl<'m> Found<'m> {
    fn texts(&self) -> &[Cow<'m, str>] {
        match self {
            Found::One(text) => std::slice::from_ref(text),
            Found::Several(texts) => texts,
            Found::NoObject => &[],
        }
    }
}

impl<'m> Miss<'m> {
    /// A miss with one value found.
    pub(crate) fn new(condition: Condition, found: impl Into<Cow<'m, str>>) -> Miss<'m> {
        Miss { condition, found: Found::One(found.into()) }
    }

    /// A miss because no object is left that could have the value.
    pub(crate) fn no_object(condition: Condition) -> Miss<'m> {
        Miss { condition, found: Found::NoObject }
    }

    /// A miss with any number of values found.
    pub(crate) fn several(condition: Condition, found: Vec<Cow<'m, str>>) -> Miss<'m> {
        Miss { condition, found: Found::Several(found) }
    }
}

/// Why a patch cannot have an effect, or had none on an object it matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoOp {
    /// istiod ignores this operation on this applyTo.
    OperationIgnored,
    /// MERGE_AND_REPLACE_LIST does nothing on filters.
    ReplaceListOnFilters,
    /// LISTENER_FILTER MERGE does nothing before 1.27.
    ListenerFilterMergeBefore127,
    /// REMOVE, REPLACE or MERGE of a filter without a match that names it.
    NeedsFilterMatch,
    /// No supported release applies BOOTSTRAP.
    Bootstrap,
    /// No release applies context WAYPOINT.
    WaypointContext,
    /// The context does not exist on this kind of proxy.
    ContextOfOtherProxies,
    /// `applyTo` is missing.
    NoApplyTo,
    /// The filter to merge into has no typed_config (a config_discovery, for example).
    TargetUntyped,
    /// The type of the target or of the patch is not linked into istiod.
    TypeUnknown,
    /// The cluster has transport_socket_matches, but no socket has the patch's name.
    TransportSocketNotFound,
    /// Same transport socket name, but one of the two has no typed_config.
    TransportSocketUntyped,
    /// ADD with context ANY (or with a context that istiod does not add for) on this side.
    AddNotForContext,
    /// No filter of the proxy requests an extension configuration of that name.
    ExtensionNotAsked,
    /// Everything the patch sets already exists, or cannot be reset by a merge.
    NothingChanged,
    /// An earlier cluster has the same name.
    DuplicateName,
    /// The added listener or chain is dropped because it has no name or no filters.
    AddedEmpty,
    /// The HTTP connection manager has no typed_config.
    NoHttpConnectionManager,
}

/// Why istiod panics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Panic {
    /// The patch has no value where one is required.
    MissingValue,
    /// MERGE of one type into another.
    TypeMismatch {
        /// Message name of the target.
        target: String,
        /// Message name of the patch.
        patch: String,
    },
}

impl fmt::Display for Panic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |name: &str| type_name(name).rsplit('.').next().unwrap_or_default().to_owned();
        match self {
            Panic::MissingValue => write!(out, "the patch requires a value and has none"),
            Panic::TypeMismatch { target, patch } => write!(out, "it merges {} into {}", short(patch), short(target)),
        }
    }
}

/// What a patch did to one object.
#[derive(Clone, Debug)]
pub enum Effect<'a> {
    /// Merged: what changed, place by place.
    Merged(Vec<Change<'a>>),
    /// Only the transport socket was merged; the names of the patch's other fields, which were dropped.
    TransportSocketMerged(Vec<Change<'a>>, Vec<String>),
    /// The value was inserted into a list at this index; the new length of the list.
    Inserted {
        /// Index of the new item.
        index: usize,
        /// Length of the list with it.
        length: usize,
    },
    /// The object was replaced by the value.
    Replaced,
    /// The object was removed.
    Removed,
    /// The object was added as a resource of its own.
    Added,
    /// It matched, but nothing changed.
    NoOp(NoOp),
    /// istiod panics here: the call ends.
    Panicked(Panic),
}

impl Effect<'_> {
    /// Whether the effect changes the configuration.
    pub fn changes(&self) -> bool {
        use crate::proto::merge::ChangeKind;
        match self {
            Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _) => {
                changes.iter().any(|change| !matches!(change.kind, ChangeKind::Same | ChangeKind::CannotReset))
            }
            Effect::Inserted { .. } | Effect::Replaced | Effect::Removed | Effect::Added => true,
            Effect::NoOp(_) | Effect::Panicked(_) => false,
        }
    }
}

/// What a later patch did to something this patch had written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Later {
    /// The later patch.
    pub by: PatchId,
    /// Where.
    pub place: Place,
    /// Field inside the place; empty for the place itself.
    pub path: String,
    /// Whether it is gone, rather than changed.
    pub removed: bool,
}

/// A call of istiod's patch code that a panic ended.
#[derive(Clone, Debug)]
pub struct Abort {
    /// The patch that panicked.
    pub cause: PatchId,
    /// Why.
    pub panic: Panic,
    /// Where.
    pub place: Place,
    /// Names of the resources that this call did not reach.
    pub unprocessed: Vec<String>,
}

/// Receives what the engine does. Everything is a no-op by default, so an engine without a listener pays nothing.
pub trait Sink<'a> {
    /// Whether this sink listens: merges record their changes only then.
    const ON: bool;
    /// A condition of a patch failed on an object.
    fn miss(&mut self, _patch: PatchId, _miss: Miss<'_>) {}
    /// A patch matched an object, with this effect.
    fn effect(&mut self, _patch: PatchId, _place: impl FnOnce() -> Place, _effect: impl FnOnce() -> Effect<'a>) {}
    /// A merge changed an object that istiod also uses here, where the patch does not match or has not run yet.
    fn spread(&mut self, _patch: PatchId, _place: impl FnOnce() -> Place, _effect: impl FnOnce() -> Effect<'a>) {}
    /// A patch undid something that another one had written.
    fn later(&mut self, _victim: PatchId, _later: impl FnOnce() -> Later) {}
    /// A panic ended a call.
    fn abort(&mut self, _abort: impl FnOnce() -> Abort) {}
    /// Whether to go on where istiod panics because of types, as if the patch did not match here.
    fn passes_over(&mut self, _patch: PatchId, _panic: &Panic, _place: Option<&Place>) -> bool {
        false
    }
    /// istiod starts to work on a copy.
    fn begin(&mut self) {}
    /// The copy replaced the original, or was lost: then nothing since `begin` counts.
    fn end(&mut self, _lost: bool) {}
}

/// Does not listen.
impl Sink<'_> for () {
    const ON: bool = false;
}

/// The record of one patch after a run.
#[derive(Clone, Debug, Default)]
pub struct PatchTrace<'a> {
    /// What it did, object by object, in the order of application.
    pub effects: Vec<(Place, Effect<'a>)>,
    /// The places in `effects` that have the effect only because istiod shares an object with a place the patch matches.
    pub spread: BTreeSet<Place>,
    /// What later patches did to its changes.
    pub later: Vec<Later>,
    /// The furthest condition reached on an object that did not match.
    pub nearest: Option<Condition>,
    /// Values of objects for that condition (at most [`MAX_CANDIDATES`]). Judged patches with an effect have none.
    pub candidates: BTreeSet<String>,
    /// How many objects failed at each condition.
    pub misses: Misses,
}

/// A number of objects for each condition. Nearly every patch misses nearly every object, so counting must cost nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Misses([u32; Condition::ClusterPort as usize + 1]);

impl Misses {
    fn add(&mut self, condition: Condition) {
        self.0[condition as usize] += 1;
    }

    /// The objects that failed at a condition.
    pub(crate) const fn at(&self, condition: Condition) -> usize {
        self.0[condition as usize] as usize
    }
}

/// Maximum number of different candidates in a trace per patch.
pub(crate) const MAX_CANDIDATES: usize = 512;

/// Collects everything.
#[derive(Clone, Debug, Default)]
pub struct Trace<'a> {
    /// By [`PatchId`].
    pub patches: Vec<PatchTrace<'a>>,
    /// Calls that a panic ended.
    pub aborts: Vec<Abort>,
    /// While istiod works on a copy: the notes recorded since.
    noted: Option<Vec<(PatchId, Note)>>,
    /// The panics that were passed over, the first of each patch; `None`: a panic ends the call, as in istiod.
    passed_over: Option<BTreeMap<PatchId, (Panic, Place)>>,
}

/// A list of [`PatchTrace`].
#[derive(Clone, Copy, Debug)]
enum Note {
    Effect,
    Later,
}

impl<'a> Trace<'a> {
    /// An empty trace for this many patches.
    pub fn new(patches: usize) -> Trace<'a> {
        Trace { patches: vec![PatchTrace::default(); patches], aborts: Vec::new(), noted: None, passed_over: None }
    }

    /// The same for a run that goes on where istiod panics because of types: it shows all patches that would panic, and not only
    /// the first.
    pub(super) fn beyond_panics(patches: usize) -> Trace<'a> {
        Trace { passed_over: Some(BTreeMap::new()), ..Trace::new(patches) }
    }

    /// The patches that panicked, each with its first panic.
    pub(super) fn panics(&self) -> impl Iterator<Item = (PatchId, &Panic, &Place)> {
        let passed_over = self.passed_over.iter().flatten().map(|(id, (panic, place))| (*id, panic, place));
        self.aborts.iter().map(|abort| (abort.cause, &abort.panic, &abort.place)).chain(passed_over)
    }

    fn note(&mut self, patch: PatchId, note: Note) {
        if let Some(noted) = &mut self.noted {
            noted.push((patch, note));
        }
    }
}

impl<'a> Sink<'a> for Trace<'a> {
    const ON: bool = true;

    fn miss(&mut self, patch: PatchId, Miss { condition, found }: Miss<'_>) {
        // Beyond panics, only effects matter.
        if self.passed_over.is_some() {
            return;
        }
        let Some(trace) = self.patches.get_mut(patch.index()) else { return };
        if found != Found::NoObject {
            trace.misses.add(condition);
        }
        match trace.nearest.map(|nearest| nearest.rank().cmp(&condition.rank())) {
            Some(Ordering::Greater) => return,
            Some(Ordering::Equal) => {}
            Some(Ordering::Less) | None => {
                trace.nearest = Some(condition);
                trace.candidates.clear();
            }
        }
        // A patch that matched elsewhere needs none, unless what it did there may be lost.
        if trace.candidates.len() < MAX_CANDIDATES && (trace.effects.is_empty() || self.noted.is_some()) {
            for text in found.texts() {
                if !trace.candidates.contains(&**text) {
                    trace.candidates.insert(text.clone().into_owned());
                }
            }
        }
    }

    fn effect(&mut self, patch: PatchId, place: impl FnOnce() -> Place, effect: impl FnOnce() -> Effect<'a>) {
        if let Some(trace) = self.patches.get_mut(patch.index()) {
            trace.effects.push((place(), effect()));
            self.note(patch, Note::Effect);
        }
    }

    fn spread(&mut self, patch: PatchId, place: impl FnOnce() -> Place, effect: impl FnOnce() -> Effect<'a>) {
        if let Some(trace) = self.patches.get_mut(patch.index()) {
            let place = place();
            if !trace.effects.iter().any(|(known, _)| *known == place) {
                trace.effects.push((place.clone(), effect()));
                trace.spread.insert(place);
            }
        }
    }

    fn later(&mut self, victim: PatchId, later: impl FnOnce() -> Later) {
        if self.passed_over.is_some() {
            return;
        }
        if let Some(trace) = self.patches.get_mut(victim.index()) {
            trace.later.push(later());
            self.note(victim, Note::Later);
        }
    }

    fn abort(&mut self, abort: impl FnOnce() -> Abort) {
        self.aborts.push(abort());
    }

    fn passes_over(&mut self, patch: PatchId, panic: &Panic, place: Option<&Place>) -> bool {
        let Some(passed_over) = &mut self.passed_over else { return false };
        if let (Entry::Vacant(first), Some(place)) = (passed_over.entry(patch), place) {
            first.insert((panic.clone(), place.clone()));
        }
        true
    }

    fn begin(&mut self) {
        self.noted = Some(Vec::new());
    }

    fn end(&mut self, lost: bool) {
        for (patch, note) in self.noted.take().into_iter().flatten().filter(|_| lost) {
            let trace = &mut self.patches[patch.index()];
            match note {
                Note::Effect => drop(trace.effects.pop()),
                Note::Later => drop(trace.later.pop()),
            }
        }
    }
}
