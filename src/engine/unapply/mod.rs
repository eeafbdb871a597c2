//! Un-applying: from the patched dump of a live proxy back to what istiod generated before the filters.
//!
//! Patch by patch from the last to the first, inserted objects are removed, appended list items cut off, and overwritten values
//! marked unknown. Then the filters are replayed forward: when the replay equals the dump, the reconstruction is proven to
//! explain it. What REMOVE took cannot be restored; see [`doubt`].

mod cluster;
pub mod doubt;
mod listener;
mod replay;
mod route;
mod undo;

use super::matching::PortMap;
use super::program::{Plan, Status, proxy_runs};
use super::run::Slot;
use super::spread::Undone;
use super::trace::{PatchId, Place, Trace};
use super::{Judged, Options, context_of, forget_untouched, judge, listener::rds_names, patched_inline, run, slots};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::proxy::ProxyKind;
use crate::model::resource::{ProxyConfig, Resource, ResourceKind};
use crate::proto::json::{self, Style};
use crate::proto::tree::Tree;
use crate::proto::unmerge::{self, Note, resource_holds};
use crate::words::serialize_as_str;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};
use undo::{Undo, taken};

pub(crate) use replay::{Difference, agree};

/// Resources that are different without the filters, `None` for those that a patch added as a whole, by index into the
/// configuration's resources. They have proto field names, which the engine reads in any dump.
pub(crate) type Texts = BTreeMap<usize, Option<String>>;

/// What a dump shows about a patch at one place.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The patch.
    pub patch: PatchId,
    /// Where.
    pub place: Place,
    /// What is seen there.
    pub seen: Seen,
}

/// What can be seen of a patch at a place that it matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The object that it adds, inserts or replaces is in its place.
    Found,
    /// A list ends with what it appends.
    Appended,
    /// Everything it writes is there, or later patches overwrote it. Whether it was there before is unknown.
    Holds,
    /// Other values than those it writes are there.
    Differs(Vec<Note>),
    /// What it adds is missing, or what it removes is there.
    Missing,
}

impl Seen {
    /// Whether the patch's result is there.
    pub(crate) const fn positive(&self) -> bool {
        matches!(self, Seen::Found | Seen::Appended | Seen::Holds)
    }
}

/// Whether a dump was taken with the filters in effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// No filter changes anything on this proxy: it is the same with and without them.
    Untouched,
    /// It contains no effect of the filters: they are new, or not applied.
    Generated,
    /// Some of them are in effect, others not or not everywhere.
    Partly,
    /// All filters that change something are in effect.
    Patched,
}

impl State {
    /// The name in JSON.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            State::Untouched => "untouched",
            State::Generated => "generated",
            State::Partly => "partly",
            State::Patched => "patched",
        }
    }
}

/// Whether a proxy contains what a patch writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InEffect {
    /// Everywhere.
    Yes,
    /// Nowhere.
    No,
    /// In some places.
    Partly,
}

impl InEffect {
    /// The name in JSON.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            InEffect::Yes => "yes",
            InEffect::No => "no",
            InEffect::Partly => "partly",
        }
    }
}

serialize_as_str!(InEffect);

/// What is known about a configuration before the filters.
#[derive(Debug, Default)]
pub struct Unapplied<'a> {
    /// Whether the configuration is known to contain no effect of any filter, so that none was looked for.
    pub generated: bool,
    /// The texts that differ without the filters.
    pub texts: Texts,
    /// The same as trees; unknown values are tagged [`crate::proto::tree::Origin::UNKNOWN`] or `HELD`.
    pub trees: BTreeMap<usize, Tree<'a>>,
    /// Fields that a merge may have cleared because it sets another member of the same oneof.
    pub cleared: BTreeSet<String>,
    /// What the dump shows about each patch, the last patch first.
    pub shown: Vec<Shown>,
    /// Patches that would change the reconstruction but left no trace in the dump.
    pub absent: Vec<PatchId>,
    /// Patches that may have changed their target beyond recognition, for example by renaming it. While there are any, nothing
    /// is proven.
    pub hidden: Vec<PatchId>,
    /// Where the replay of all but the absent patches differs from the dump; empty when it is proven.
    pub differences: Vec<Difference>,
    /// Whether the dump comes from a running proxy: it contains update times of resources.
    pub live: bool,
    /// What the filters do to the dump, if that was found out because it shows no effect of them.
    pub judged: Option<Arc<Judged<'a>>>,
    /// Where `shown` speaks of each patch, from the first question on.
    by_patch: OnceLock<HashMap<PatchId, Vec<usize>>>,
}

impl Unapplied<'_> {
    /// Whether the replay equals the dump and no patch hides its effect.
    pub fn proven(&self) -> bool {
        self.differences.is_empty() && self.hidden.is_empty()
    }

    /// What the dump shows about a patch.
    pub(crate) fn of(&self, id: PatchId) -> impl Iterator<Item = &Shown> {
        let by_patch = self.by_patch.get_or_init(|| {
            let mut by_patch: HashMap<PatchId, Vec<usize>> = HashMap::new();
            for (at, shown) in self.shown.iter().enumerate() {
                by_patch.entry(shown.patch).or_default().push(at);
            }
            by_patch
        });
        by_patch.get(&id).into_iter().flatten().filter_map(|&at| self.shown.get(at))
    }

    /// Whether the dump was taken with the filters in effect.
    pub fn state(&self) -> State {
        if self.generated {
            return State::Generated;
        }
        let seen = || self.shown.iter().map(|shown| &shown.seen);
        let sure = seen().any(|seen| matches!(seen, Seen::Found | Seen::Appended));
        // Values that merely equal what istiod generates are no evidence in a configuration that a generator wrote.
        let there = sure || (self.live && seen().any(Seen::positive));
        match (there, self.absent.is_empty() && self.proven()) {
            (true, true) => State::Patched,
            (true, false) => State::Partly,
            (false, false) => State::Generated,
            (false, true) if seen().any(Seen::positive) => State::Generated,
            (false, true) => State::Untouched,
        }
    }

    /// Whether the reconstruction, rather than the dump, is what istiod generates without the filters.
    pub(crate) fn patched(&self) -> bool {
        matches!(self.state(), State::Patched | State::Partly)
    }

    /// The texts in which overwritten values keep their current state, for configurations that are written again. Empty if the
    /// dump was not taken with the filters in effect.
    pub fn kept_texts(&self) -> Texts {
        if !self.patched() {
            return Texts::new();
        }
        let kept = |(index, dropped): (&usize, &Option<String>)| {
            (*index, self.trees.get(index).map(|tree| text(tree, false)).or_else(|| dropped.clone()))
        };
        self.texts.iter().map(kept).collect()
    }

    /// Whether the dump contains the effect of a patch; `None` when it has no visible effect.
    pub fn in_effect(&self, id: PatchId) -> Option<InEffect> {
        let (mut there, mut missing) = (false, self.absent.contains(&id));
        for shown in self.of(id) {
            if shown.seen.positive() {
                there = true;
            } else {
                missing = true;
            }
        }
        match (there, missing) {
            (true, true) => Some(InEffect::Partly),
            (true, false) => Some(InEffect::Yes),
            (false, true) => Some(InEffect::No),
            (false, false) => None,
        }
    }
}

/// The configuration with other texts.
pub fn without<'t>(config: &ProxyConfig<'t>, texts: &'t Texts) -> ProxyConfig<'t> {
    let resources = config.resources.iter().enumerate().filter_map(|(index, resource)| match texts.get(&index) {
        None => Some(resource.clone()),
        Some(None) => None,
        Some(Some(json)) => Some(Resource { json: json.into(), ..resource.clone() }),
    });
    ProxyConfig { resources: resources.collect(), ..config.clone() }
}

/// Undoes the patches of a plan in a dump, replays them, and compares.
pub fn unapply<'a>(plan: &Plan<'a>, config: &'a ProxyConfig<'a>, options: &'a Options) -> Unapplied<'a> {
    if config.generated {
        return Unapplied { generated: true, ..Unapplied::default() };
    }
    let live = config.resources.iter().any(|resource| resource.last_updated.is_some());
    if plan.patches.is_empty() {
        return Unapplied { live, ..Unapplied::default() };
    }
    let mut found = undo_all(plan, config, options);
    if nothing_there(plan, config, options, &mut found) {
        return Unapplied { live, ..found };
    }
    let mut all = attempt(plan, config, options, found);
    all.live = live;
    if all.proven() || all.absent.is_empty() {
        all.absent.clear();
        return all;
    }
    let rest = plan.without(&all.absent);
    let undone = undo_all(&rest, config, options);
    let mut some = attempt(&rest, config, options, undone);
    if some.proven() {
        let absent = std::mem::take(&mut all.absent);
        some.shown.extend(all.shown.into_iter().filter(|shown| absent.contains(&shown.patch)));
        (some.absent, some.live, some.by_patch) = (absent, live, OnceLock::new());
        return some;
    }
    all
}

/// Whether a dump shows no effect of any patch although some would change it: then it is what istiod generates, and no
/// comparison is needed. This is the usual case for a dump from a mesh without these filters.
fn nothing_there<'a>(
    plan: &Plan<'a>,
    config: &'a ProxyConfig<'a>,
    options: &'a Options,
    found: &mut Unapplied<'a>,
) -> bool {
    if !found.texts.is_empty() || !found.trees.is_empty() || found.shown.iter().any(|shown| shown.seen.positive()) {
        return false;
    }
    let judged = judge(plan, config, options);
    let changes = |id: &PatchId| judged.changed(*id);
    let hides = |id: &PatchId| !changes(id) && doubt::hides(plan, config, *id);
    if !found.hidden.is_empty() || !judged.trace.aborts.is_empty() || plan.ids().any(|id| hides(&id)) {
        return false;
    }
    found.absent = plan.ids().filter(changes).collect();
    if found.absent.is_empty() {
        return false;
    }
    found.judged = Some(Arc::new(judged));
    true
}

/// Undoes the patches of a plan; `absent` contains the patches that change the reconstruction but left no trace in the dump.
fn attempt<'a>(
    plan: &Plan<'a>,
    config: &'a ProxyConfig<'a>,
    options: &Options,
    mut found: Unapplied<'a>,
) -> Unapplied<'a> {
    for (index, tree) in &found.trees {
        found.texts.insert(*index, Some(text(tree, true)));
    }
    let mut differences = check(plan, config, options, &mut found);
    // Later patches may match what was overwritten: its current value lets them.
    let kept: Vec<usize> = differences.iter().filter_map(|difference| difference.index).collect();
    if !kept.is_empty() {
        let dropped = found.texts.clone();
        for index in kept {
            if let Some(tree) = found.trees.get(&index) {
                found.texts.insert(index, Some(text(tree, false)));
            }
        }
        let retry = check(plan, config, options, &mut found);
        if retry.len() < differences.len() {
            differences = retry;
        } else {
            found.texts = dropped;
            differences = check(plan, config, options, &mut found);
        }
    }
    found.differences = differences;
    found
}

fn text(tree: &Tree<'_>, dropping: bool) -> String {
    let mut tree = tree.clone();
    if dropping {
        unmerge::drop_unknown(&mut tree);
    }
    json::write(&tree, Style::Compact)
}

/// Replays the plan over the reconstruction.
fn check(plan: &Plan<'_>, config: &ProxyConfig<'_>, options: &Options, found: &mut Unapplied<'_>) -> Vec<Difference> {
    let without_filters;
    let before = if found.texts.is_empty() {
        config
    } else {
        without_filters = without(config, &found.texts);
        &without_filters
    };
    let mut trace = Trace::new(plan.patches.len());
    let patched = run(plan, before, options, &mut trace);
    let seen: BTreeSet<PatchId> =
        found.shown.iter().filter(|shown| shown.seen.positive()).map(|shown| shown.patch).collect();
    let changes = |id: &PatchId| trace.patches[id.index()].effects.iter().any(|(_, effect)| effect.changes());
    found.absent = plan.ids().filter(|id| changes(id) && !seen.contains(id)).collect();
    let hides = |id: &PatchId| !changes(id) && !seen.contains(id) && doubt::hides(plan, config, *id);
    found.hidden.extend(plan.ids().filter(hides));
    found.hidden.sort_unstable();
    found.hidden.dedup();
    replay::differences(config, &found.texts, &patched, plan)
}

/// Undoes every patch.
fn undo_all<'a>(plan: &Plan<'a>, config: &'a ProxyConfig<'a>, options: &Options) -> Unapplied<'a> {
    let ports = match &options.port_map {
        Some(ports) => ports.clone(),
        None if plan.proxy.kind == ProxyKind::Gateway => super::route::port_map(config),
        None => PortMap::new(),
    };
    let mut undo = Undo {
        plan,
        config,
        ports,
        shown: Vec::new(),
        cleared: BTreeSet::new(),
        hidden: BTreeSet::new(),
        touched: false,
        context: PatchContext::Any,
        shared: Undone::default(),
        invisible: BTreeSet::new(),
        taken: taken(plan),
    };
    undo.find_invisible();
    let mut extensions = slots(config, ResourceKind::ExtensionConfig);
    undo.added(ApplyTo::ExtensionConfig, &mut extensions);
    let mut listeners = slots(config, ResourceKind::Listener);
    undo.added(ApplyTo::Listener, &mut listeners);
    undo.listeners(&mut listeners);
    let mut clusters = slots(config, ResourceKind::Cluster);
    undo.added(ApplyTo::Cluster, &mut clusters);
    undo.clusters(&mut clusters);
    forget_untouched(&mut clusters);
    let mut routes = slots(config, ResourceKind::Route);
    routes_asked_for(&listeners, &mut routes);
    let context =
        if plan.proxy.kind == ProxyKind::Gateway { PatchContext::Gateway } else { PatchContext::SidecarOutbound };
    for slot in routes.iter_mut().filter(|slot| !slot.removed) {
        if undo.concerns_routes(context, &slot.name) {
            undo.touched = false;
            undo.route_configuration(context, slot.open(config, plan.schema), None);
            slot.touched = undo.touched;
            slot.close();
        }
    }
    let hidden = undo.hidden.into_iter().collect();
    let mut unapplied = Unapplied { shown: undo.shown, cleared: undo.cleared, hidden, ..Unapplied::default() };
    for slot in [extensions, listeners, clusters, routes].into_iter().flatten() {
        let Some(index) = slot.source else { continue };
        if slot.removed {
            unapplied.texts.insert(index, None);
        } else if let Some(tree) = slot.tree.filter(|_| slot.touched) {
            unapplied.trees.insert(index, *tree);
        }
    }
    unapplied
}

impl<'a> Undo<'_, 'a> {
    /// Finds the patches whose inserted filter occurs nowhere in the texts of the listeners, so none of their effects can be
    /// there.
    fn find_invisible(&mut self) {
        let filters = [ApplyTo::ListenerFilter, ApplyTo::NetworkFilter, ApplyTo::HttpFilter];
        let inserts = [Operation::Add, Operation::InsertFirst, Operation::InsertBefore, Operation::InsertAfter];
        for id in self.plan.ids() {
            let built = self.plan.get(id).built;
            let name = self.value(id).map(Tree::name).unwrap_or_default();
            // A name with other characters may be written with escapes.
            let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-:".contains(&byte));
            if name.is_empty()
                || !plain
                || !filters.contains(&built.patch.apply_to)
                || !inserts.contains(&built.operation)
            {
                continue;
            }
            let finder = memchr::memmem::Finder::new(name.as_bytes());
            let mut listeners = self.config.of_kind(ResourceKind::Listener);
            if !listeners.any(|listener| finder.find(listener.json.search().as_bytes()).is_some()) {
                self.invisible.insert(id);
            }
        }
    }

    /// Removes the resources that patches added.
    fn added(&mut self, apply_to: ApplyTo, slots: &mut [Slot<'a>]) {
        let ids: Vec<PatchId> = self.plan.ids().collect();
        for id in ids.into_iter().rev() {
            let planned = self.plan.get(id);
            let adds = planned.built.patch.apply_to == apply_to && self.operation(id) == Operation::Add;
            // An extension configuration is added whatever the context.
            let runs = proxy_runs(planned)
                || (apply_to == ApplyTo::ExtensionConfig
                    && planned.proxy_miss.is_none()
                    && !matches!(planned.status, Status::Discarded(_)));
            let Some(value) = self.value(id).filter(|_| adds && runs) else { continue };
            let (config, schema) = (self.config, self.plan.schema);
            let mut named = slots.iter_mut().rev().filter(|slot| !slot.removed && slot.name == value.name());
            if let Some(slot) = named.find_map(|slot| resource_holds(slot.open(config, schema), value).then_some(slot))
            {
                slot.removed = true;
                let place = Place::resource(slot.kind, value.name());
                self.show(id, place, Seen::Found);
            }
        }
    }

    fn listeners(&mut self, slots: &mut [Slot<'a>]) {
        let (kind, config) = (self.plan.proxy.kind, self.config);
        for slot in slots.iter_mut().filter(|slot| !slot.removed) {
            self.touched = false;
            let Some(context) = context_of(kind, config, slot) else { continue };
            self.listener(context, slot);
            if context == PatchContext::SidecarInbound {
                let routes = [ApplyTo::RouteConfiguration, ApplyTo::VirtualHost, ApplyTo::HttpRoute];
                if routes.iter().any(|&apply_to| !self.plan.for_context(apply_to, context).is_empty()) {
                    self.inline_routes(slot, patched_inline);
                }
            }
            slot.touched |= self.touched;
            slot.close();
        }
        let schema = self.plan.schema;
        self.shared.spread(
            slots,
            |slot| context_of(kind, config, slot),
            |slot| {
                slot.open(config, schema);
            },
        );
    }
}

/// Removes route configurations that are requested only by listeners and filters which patches added.
fn routes_asked_for<'a>(listeners: &[Slot<'a>], routes: &mut [Slot<'a>]) {
    let (mut now, mut before) = (BTreeSet::new(), BTreeSet::new());
    for slot in listeners.iter().filter(|slot| slot.removed || slot.touched) {
        if let Ok(tree) = json::parse(slot.text.search()) {
            now.extend(rds_names(&tree));
        }
        if let Some(mut tree) = slot.tree.clone().filter(|_| !slot.removed) {
            unmerge::drop_unknown(&mut tree);
            before.extend(rds_names(&tree));
        }
    }
    for name in now.difference(&before) {
        let asked = |slot: &Slot<'_>| {
            memchr::memmem::find(slot.text.search().as_bytes(), format!("\"{name}\"").as_bytes()).is_some()
                && json::parse(slot.text.search()).is_ok_and(|tree| rds_names(&tree).iter().any(|it| it == name))
        };
        if !listeners.iter().filter(|slot| !slot.removed && !slot.touched).any(asked) {
            routes.iter_mut().filter(|slot| slot.name == *name).for_each(|slot| slot.removed = true);
        }
    }
}
