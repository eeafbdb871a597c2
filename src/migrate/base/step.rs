//! The input and output of patterns: a filter's patches and the moves found for them.

use super::catalog::Pattern;
use super::names::Names;
use super::reach::Reach;
use super::value::Fields;
use super::verdict::{Class, Concern, Difference, Guard, Kind, State, class_of};
use crate::engine::program::BuiltPatch;
use crate::migrate::objects::mesh::Mesh;
use crate::migrate::output::draft::Action;
use crate::model::envoy_filter::{ApplyTo, EnvoyFilter, Operation};
use crate::model::release::Release;
use crate::proto::schema::Schema;
use serde_json::Value as Json;
use std::borrow::Cow;

/// The field for the idle timeout of all connections of a proxy.
pub(in crate::migrate) const IDLE_VARIABLE: &str = "environmentVariables.ISTIO_META_IDLE_TIMEOUT";

/// The field for request bodies of a provider that the mesh has, which is for every policy that names it.
pub(in crate::migrate) const PROVIDER_BODY: &str = "extensionProviders.includeRequestBodyInCheck";

/// The input of every pattern.
#[derive(Clone, Copy)]
pub(crate) struct Cx<'a> {
    /// The other objects of the input.
    pub mesh: Mesh<'a>,
    /// The filter.
    pub filter: &'a EnvoyFilter,
    /// Its index among the filters.
    pub index: usize,
    /// The release whose APIs may be used.
    pub to: Release,
    /// The types of that release.
    pub schema: Schema,
    /// Names by which patches refer to one another.
    pub names: &'a Names,
}

/// A patch that is being migrated.
pub(crate) struct Part<'a> {
    /// The patch as istiod reads it.
    pub built: &'a BuiltPatch<'a>,
    /// Its value.
    pub value: Fields,
    /// Fields at their default, which a merge cannot set.
    pub defaults: Vec<String>,
    /// The traffic that it reaches, according to its listener match.
    pub reach: Reach,
    /// The result.
    pub found: Option<Move>,
}

/// The field of a home where nothing replaces a patch.
pub(crate) const NOTHING: &str = "nothing";

/// The kind of a [`Home`] that is no object: what Istio sets by itself.
pub(crate) const BUILT_IN: &str = "built in";

/// A native API that replaces (a part of) a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The object, or [`BUILT_IN`].
    pub kind: &'static str,
    /// The field.
    pub field: String,
    /// The first release that has and reads it; `None` when it is older than every supported release.
    pub since: Option<Release>,
}

impl Home {
    /// Whether Istio sets it by itself, without an object.
    pub(crate) fn is_built_in(&self) -> bool {
        self.kind == BUILT_IN
    }
}

/// How a patch moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// The pattern.
    pub pattern: &'static Pattern,
    /// What it sets, for a patch that sets several things; empty for what the pattern says.
    pub sets: Vec<&'static str>,
    /// Its native APIs.
    pub homes: Vec<Home>,
    /// Another API with the same effect, which is named but not written.
    pub instead: Option<Home>,
    /// What differs.
    pub differences: Vec<Difference>,
    /// The results of the guards.
    pub guards: Vec<Guard>,
    /// What to write.
    pub actions: Vec<Action>,
    /// The rest of the patch's value, which stays.
    pub rest: Option<Json>,
    /// Why there is no native API, or other notes.
    pub notes: Vec<String>,
    /// Whether something replaces it, or nothing needs to.
    pub moves: bool,
    /// The patch (its index) whose objects also replace this one: both move, or none.
    pub with: Option<usize>,
    /// The name by which patches of other EnvoyFilters insert filters next to this one: if one of them stays, so does this one.
    pub followed: Option<String>,
    /// Whether the objects to edit have rules that it leaves alone for their action.
    pub spares: bool,
    /// The fields of a rule's retries that it fills with what the patch leaves to the mesh or to istiod, as `attempts`: only
    /// where the rule has no retries yet, which MERGE keeps.
    pub fills: Vec<&'static str>,
    /// What happens while both the filter and its replacement exist, if it is not what happens with other patches of the pattern.
    pub meanwhile: Vec<&'static str>,
    /// The difference that names the filters before which it runs, which depend on what else stays.
    pub(in crate::migrate) passes: Option<String>,
}

impl Move {
    /// Whether it moves to the environment variable for idle timeouts, which applies to both HTTP and TCP connections.
    pub(crate) fn is_idle_by_variable(&self) -> bool {
        self.homes.iter().any(|home| home.field == IDLE_VARIABLE)
    }

    /// Whether it changes a provider that the mesh has.
    pub(crate) fn is_of_known_provider(&self) -> bool {
        self.homes.iter().any(|home| home.field == PROVIDER_BODY)
    }

    /// An empty move of a pattern.
    pub(crate) fn new(pattern: &'static Pattern) -> Move {
        Move {
            pattern,
            sets: Vec::new(),
            homes: Vec::new(),
            instead: None,
            differences: Vec::new(),
            guards: Vec::new(),
            actions: Vec::new(),
            rest: None,
            notes: Vec::new(),
            moves: true,
            with: None,
            followed: None,
            spares: false,
            fills: Vec::new(),
            meanwhile: Vec::new(),
            passes: None,
        }
    }

    /// The same move for another patch, which the objects of this one replace too, if there are any.
    #[must_use]
    pub(crate) fn shared(&self, with: usize) -> Move {
        let with = (!self.lacks_object()).then_some(with);
        Move { actions: Vec::new(), with, ..self.clone() }
    }

    /// A move without a replacement.
    pub(crate) fn none(pattern: &'static Pattern, reason: impl Into<String>) -> Move {
        let reason: String = reason.into();
        let notes = if reason.is_empty() { Vec::new() } else { vec![reason] };
        Move { moves: false, notes, ..Move::new(pattern) }
    }

    /// Adds something that it sets, once.
    pub(crate) fn set(&mut self, what: &'static str) {
        if !self.sets.contains(&what) {
            self.sets.push(what);
        }
    }

    /// What the patch does.
    pub fn title(&self) -> Cow<'static, str> {
        match self.sets.as_slice() {
            [] => self.pattern.title.into(),
            all => all.join(", ").into(),
        }
    }

    /// Adds a native API.
    #[must_use]
    pub(crate) fn home(mut self, kind: &'static str, field: impl Into<String>, since: u16) -> Move {
        self.add_home(kind, field, since);
        self
    }

    /// Adds a native API; `since` is a minor release, 0 for "older than every supported release".
    pub(crate) fn add_home(&mut self, kind: &'static str, field: impl Into<String>, since: u16) {
        let since = (since > Release::OLDEST.minor).then(|| Release::minor(since));
        let home = Home { kind, field: field.into(), since };
        if !self.homes.contains(&home) {
            self.homes.push(home);
        }
    }

    /// Adds a difference.
    #[must_use]
    pub(crate) fn differs(mut self, kind: Kind, effect: impl Into<String>) -> Move {
        self.difference(kind, effect);
        self
    }

    /// Adds a difference, once.
    pub(crate) fn difference(&mut self, kind: Kind, effect: impl Into<String>) {
        let difference = Difference::new(kind, effect);
        if !self.differences.contains(&difference) {
            self.differences.push(difference);
        }
    }

    /// Adds the result of a guard, once.
    pub(crate) fn guard(&mut self, concern: Concern, state: State, reason: impl Into<String>) {
        let guard = Guard { concern, state, reason: reason.into() };
        if !self.guards.contains(&guard) {
            self.guards.push(guard);
        }
    }

    /// Adds the result of a guard.
    #[must_use]
    pub(crate) fn guarded(mut self, concern: Concern, state: State, reason: impl Into<String>) -> Move {
        self.guard(concern, state, reason);
        self
    }

    /// The first release that has every home.
    pub(crate) fn since(&self) -> Option<Release> {
        self.homes.iter().filter_map(|home| home.since).max()
    }

    /// The class.
    pub(crate) fn class(&self) -> Class {
        if !self.moves {
            return Class::NoHome;
        }
        // A refused move does not move in part.
        class_of(&self.differences, &self.guards, self.rest.is_some() && !self.is_refused())
    }

    /// Whether it would reach or allow more than the filter.
    pub fn is_refused(&self) -> bool {
        self.guards.iter().any(|guard| guard.state == State::Broken)
    }

    /// Whether nothing has to be put in the patch's place: Istio does the work by itself.
    pub(crate) fn is_built_in(&self) -> bool {
        !self.homes.is_empty() && self.homes.iter().all(Home::is_built_in)
    }

    /// Whether it decides who may call and is not exact.
    pub(crate) fn needs_review(&self) -> bool {
        self.guards.iter().any(|guard| guard.state == State::Review)
    }

    /// The worst kind of difference, apart from the rest that stays.
    pub fn worst(&self) -> Option<Kind> {
        self.differences.iter().map(|one| one.kind).max()
    }

    /// Whether there is nothing to put in the filter's place because the object to edit is not in the input.
    pub(crate) fn lacks_object(&self) -> bool {
        let built_in = self.homes.iter().any(Home::is_built_in);
        self.is_undecided() && self.actions.is_empty() && self.with.is_none() && !built_in
    }

    /// Whether a guard could not be decided.
    pub(crate) fn is_undecided(&self) -> bool {
        self.guards.iter().any(|guard| guard.state == State::Undecided)
    }
}

impl Part<'_> {
    /// What the patch is applied to.
    pub(crate) fn apply_to(&self) -> ApplyTo {
        self.built.patch.apply_to
    }

    /// The operation as istiod resolves it.
    pub(crate) fn operation(&self) -> Operation {
        self.built.operation
    }

    /// Whether it adds a new object to a list.
    pub(crate) fn inserts(&self) -> bool {
        matches!(
            self.operation(),
            Operation::Add | Operation::InsertBefore | Operation::InsertAfter | Operation::InsertFirst
        )
    }

    /// The message in `typed_config`; empty if there is none.
    pub(crate) fn config_type(&self) -> &str {
        self.value.peek("typed_config").map_or("", super::value::any_type)
    }

    /// Sets a pattern's answer.
    pub(crate) fn answer(&mut self, found: Move) {
        self.found = Some(found);
    }
}

/// Whether the target release has a feature of a minor release.
pub(crate) fn has(cx: &Cx<'_>, minor: u16) -> bool {
    cx.to >= Release::minor(minor)
}

/// The refusal if the target release is too old.
pub(crate) fn too_old(pattern: &'static Pattern, cx: &Cx<'_>, what: &str, minor: u16) -> Move {
    let reason = format!("{what} is new in Istio 1.{minor}; the target release is {}.{}", cx.to.major, cx.to.minor);
    Move::none(pattern, reason)
}
