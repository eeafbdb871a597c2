//! The patch that removes what another patch matches, proven by running the engine without it.

use super::same::same_results;
use crate::engine::program::Status;
use crate::engine::trace::{Condition, Effect, Place};
use crate::engine::{self, Judged, Options, Pass, PatchId, Plan, Trace};
use crate::model::envoy_filter::ApplyTo;
use crate::model::resource::{ProxyConfig, ResourceKind};
use crate::proto::merge::ChangeKind;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of patches per proxy for which the culprit is searched: it keeps thousands of non-matching patches
/// linear in time.
const MAX_SEARCHES: usize = 64;

/// Maximum number of searches for further patches that remove the same object.
const MAX_ROUNDS: usize = 4;

/// Maximum number of suspects for one patch.
const MAX_SUSPECTS: usize = 24;

/// A patch that removed what another patch matches.
struct Culprit {
    id: PatchId,
    /// What it did, in the past tense: `removed listener 0.0.0.0_7070`.
    did: String,
    /// Where, if that does not say it.
    place: Option<String>,
    /// Whether it removed the object.
    removed: bool,
    /// The new name, if it renamed the object and the patch would match that.
    renamed: Option<String>,
    /// What the label at its operation says.
    label: &'static str,
    /// Another patch that removes the same object.
    also: Option<PatchId>,
    /// Whether the patch matches and changes the configuration when it runs before this one.
    order_helps: bool,
}

/// What is asked about a patch.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    /// Which of its effects count.
    pub effect: fn(&Effect) -> bool,
    /// Whether the object was made of its match.
    pub described: bool,
}

/// What a patch did to the objects of another one, and what to change, in words.
pub(crate) struct Blame {
    /// The patch.
    pub by: PatchId,
    /// What it did: `shop/slimming removed listener 0.0.0.0_7070 earlier`.
    pub what: String,
    /// Where that is in the configuration, if `what` does not say it.
    pub place: Option<String>,
    /// What to write instead.
    pub help: String,
    /// The priority that this needs.
    pub priority: Option<i64>,
    /// Label at the patch.
    pub label: &'static str,
    /// Whether it renames the object after the other patch ran.
    pub later: bool,
}

/// Maximum number of searches in a report on one proxy, whose configuration may be large.
const MAX_SHOWN: usize = 16;

/// A run of the engine in which patches are compared.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'r, 'a> {
    /// The configuration before the patches.
    pub config: &'r ProxyConfig<'a>,
    /// The patches.
    pub plan: &'r Plan<'a>,
    /// What the engine did.
    pub judged: &'r Judged<'a>,
    /// How many searches have run.
    pub searches: &'r AtomicUsize,
}

/// Searches for the patches to blame in a report on one proxy: none unless it asks for them, because each costs runs of
/// the engine.
pub(super) struct Searches(AtomicUsize);

impl Searches {
    pub(super) fn none() -> Searches {
        Searches(AtomicUsize::new(MAX_SEARCHES))
    }

    pub(super) fn allow(&self) {
        self.0.store(MAX_SEARCHES - MAX_SHOWN, Ordering::Relaxed);
    }

    /// The counter, while searches are left.
    pub(super) fn left(&self) -> Option<&AtomicUsize> {
        (self.0.load(Ordering::Relaxed) < MAX_SEARCHES).then_some(&self.0)
    }
}

/// The patch to blame for one without such effects.
pub(crate) fn blame(run: Scene<'_, '_>, id: PatchId, counts: Counts) -> Option<Blame> {
    let Some(culprit) = run.culprit(id, counts) else { return later(run, id, counts.described) };
    let planned = run.plan.get(culprit.id);
    let other = run.plan.filter(culprit.id);
    let number = planned.built.patch.index;
    let name = other.full_name();
    let own = planned.filter == run.plan.get(id).filter;
    let when = if culprit.id < id { "earlier" } else { "in an earlier pass" };
    let did = &culprit.did;
    let what = if own {
        format!("configPatches[{number}] of this EnvoyFilter {did} {when}")
    } else {
        format!("{name} {did} {when}")
    };
    let whose = if own { String::new() } else { format!(" of {name}") };
    let help = if let Some(also) = culprit.also {
        let (other, index) = (run.plan.filter(also).full_name(), run.plan.get(also).built.patch.index);
        format!(
            "delete two patches, configPatches[{number}] of {name} and configPatches[{index}] of {other}: each removes it"
        )
    } else {
        match (culprit.order_helps, own) {
            (false, _) if culprit.removed => {
                format!(
                    "delete one of the two: no order lets a patch change what configPatches[{number}]{whose} removes"
                )
            }
            (true, true) => format!("move this patch above configPatches[{number}]"),
            (true, false) => format!("run this EnvoyFilter before {name}, with a lower priority"),
            (false, _) if culprit.renamed.is_some() => {
                format!("write its new name, {}", culprit.renamed.as_deref().unwrap_or_default())
            }
            (false, true) => format!("change one of the two: configPatches[{number}] runs first whatever the order"),
            (false, false) => {
                format!("change configPatches[{number}] of {name}: it runs first whatever the priority")
            }
        }
    };
    let reorders = culprit.also.is_none() && culprit.order_helps && !own;
    // Behind the filters that come before that one, which may add the object.
    let near = |priority: i32| (1..=10).contains(&(i64::from(other.priority) - i64::from(priority)));
    let room = if run.plan.ids().any(|id| near(run.plan.filter(id).priority)) { 1 } else { 10 };
    let priority = reorders.then(|| i64::from(other.priority) - room);
    let place = culprit.place;
    Some(Blame { by: culprit.id, what, place, help, priority, label: culprit.label, later: false })
}

/// The same for a patch that matches the name which another patch gives an object only after it.
fn later(run: Scene<'_, '_>, id: PatchId, described: bool) -> Option<Blame> {
    let renamer = run.renamer(id)?;
    let (planned, other) = (run.plan.get(renamer), run.plan.filter(renamer));
    let number = planned.built.patch.index;
    let effects = &run.judged.trace.patches[renamer.index()].effects;
    let (place, _) = effects.iter().min_by_key(|(_, effect)| rank(effect))?;
    let object = if described { "it".to_owned() } else { place.innermost() };
    let own = planned.filter == run.plan.get(id).filter;
    let whose = if own { format!("configPatches[{number}] of this EnvoyFilter") } else { other.full_name() };
    let help = if own {
        format!("move this patch below configPatches[{number}]")
    } else {
        format!("run this EnvoyFilter after {whose}, with a higher priority")
    };
    let what = format!("{whose} renames {object} to that name only later");
    let priority = (!own).then(|| i64::from(other.priority) + 10);
    let place = in_full(place).filter(|_| !described);
    Some(Blame { by: renamer, what, place, help, priority, label: "renames it", later: true })
}

impl<'r> Scene<'r, '_> {
    /// The later patch that gives an object the name for which a patch looks.
    fn renamer(&self, id: PatchId) -> Option<PatchId> {
        let wanted = self.plan.get(id).built.patch.apply_to;
        let whole =
            [ApplyTo::Listener, ApplyTo::FilterChain, ApplyTo::VirtualHost, ApplyTo::HttpRoute, ApplyTo::Cluster];
        if !whole.contains(&wanted) {
            return None;
        }
        let renames = |other: PatchId| {
            let trace = &self.judged.trace.patches[other.index()];
            trace.effects.iter().any(|(_, effect)| rank(effect) == 1)
        };
        let later = |other: &PatchId| *other > id && self.plan.get(*other).built.patch.apply_to == wanted;
        let mut renamers = self.plan.ids().filter(later).filter(|&other| renames(other)).take(MAX_SUSPECTS);
        renamers.find(|&other| self.matches_after(id, other))
    }

    /// Whether a patch that matches nothing would match if its filter came after that of another patch (or, within one
    /// filter, if the patch came after the other).
    pub(crate) fn matches_after(&self, id: PatchId, other: PatchId) -> bool {
        let mut plan = self.plan.without(&[]);
        let patch = plan.patches.remove(id.index());
        // Everything after the patch has moved forward by one, so this is right after the other.
        let at = other.index();
        let pass = Pass::of(patch.built.patch.apply_to);
        plan.patches.insert(at, patch);
        let mut trace = Trace::new(plan.patches.len());
        engine::run_pass(&plan, self.config, pass, &mut trace);
        trace.patches.get(at).is_some_and(|trace| trace.effects.iter().any(|(_, effect)| effect.changes()))
    }

    /// The patch without which a patch that matches nothing here would match.
    fn culprit(&self, id: PatchId, counts: Counts) -> Option<Culprit> {
        if self.searches.fetch_add(1, Ordering::Relaxed) >= MAX_SEARCHES {
            return None;
        }
        let kind = sought(self.plan.get(id).built.patch.apply_to);
        let takes = |(place, effect): &&(Place, Effect)| takes(effect) && kind.is_none_or(|kind| place.kind == kind);
        let mut suspects: Vec<(PatchId, &Place, &Effect)> = self
            .plan
            .ids()
            .filter(|&other| other != id && self.plan.get(other).status == Status::Ready)
            .filter_map(|other| {
                let effects = &self.judged.trace.patches[other.index()].effects;
                let (place, effect) = effects.iter().filter(takes).min_by_key(|(_, effect)| rank(effect))?;
                Some((other, place, effect))
            })
            .collect();
        let everyone: Vec<PatchId> = suspects.iter().map(|(id, ..)| *id).collect();
        if everyone.is_empty() {
            return None;
        }
        // A patch that inserts may be the one that adds the object which others remove.
        let inserts = |effect: &Effect| matches!(effect, Effect::Inserted { .. });
        let (adding, others): (Vec<&(PatchId, &Place, &Effect)>, Vec<_>) =
            suspects.iter().partition(|(_, _, effect)| inserts(effect));
        let others: BTreeSet<PatchId> = others.iter().map(|(id, ..)| *id).collect();
        let undone = |adds: PatchId| {
            self.judged.trace.patches[adds.index()].later.iter().any(|later| others.contains(&later.by))
        };
        let without_those = adding.iter().any(|(adds, ..)| undone(*adds));
        let those = others.iter().copied().collect();
        let all = if without_those { self.without_which(those, id, counts, takes) } else { None };
        let all = all.or_else(|| self.without_which(everyone, id, counts, takes))?;
        suspects.sort_by_key(|(_, _, effect)| rank(effect));
        let alone = suspects
            .iter()
            .take(MAX_SUSPECTS)
            .find(|(other, ..)| self.matches(&self.plan.without(&[*other]), id, counts));
        // If several remove the same object, the one that really did is to blame; without the others it still would.
        let several = || {
            suspects.iter().take(MAX_SUSPECTS).find(|(other, ..)| {
                let others: Vec<PatchId> = all.iter().filter(|one| *one != other).copied().collect();
                !self.matches(&self.plan.without(&others), id, counts)
            })
        };
        let (culprit, ..) = alone.or_else(several)?;
        let also = if alone.is_some() { None } else { all.iter().copied().find(|other| other != culprit) };
        let effects = &self.judged.trace.patches[culprit.index()].effects;
        // Of several effects, prefer the one on an object that the patch refers to.
        let without = self.trace_for(&self.plan.without(&[*culprit]), id);
        let asked = |place: &Place| {
            without
                .patches
                .get(id.index())
                .is_some_and(|trace| trace.effects.iter().any(|(met, _)| lies_in(met, place)))
        };
        let (place, effect) =
            effects.iter().filter(takes).min_by_key(|(place, effect)| (rank(effect), !asked(place)))?;
        let mut plan = self.plan.without(&[]);
        let order_helps = *culprit < id && {
            let patch = plan.patches.remove(id.index());
            plan.patches.insert(culprit.index(), patch);
            self.matches(&plan, *culprit, counts) && self.matters(&plan, *culprit)
        };
        let removed = matches!(effect, Effect::Removed);
        let label = match rank(effect) {
            0 => "removes it",
            1 => "renames it",
            2 => "replaces it",
            3 => "changes it",
            _ => "inserts before it",
        };
        Some(Culprit {
            id: *culprit,
            did: if counts.described {
                did_to_it(place, self.judged.trace.patches[id.index()].nearest, effect)
            } else {
                did(place, effect)
            },
            place: in_full(place).filter(|_| !counts.described),
            removed,
            renamed: self.renamed(id, effect),
            label,
            also,
            order_helps,
        })
    }

    /// Patches without which a patch would match: these, and those that then remove its object instead.
    fn without_which(
        &self,
        mut all: Vec<PatchId>,
        id: PatchId,
        counts: Counts,
        takes: impl Fn(&&(Place, Effect)) -> bool,
    ) -> Option<Vec<PatchId>> {
        for _ in 0..=MAX_ROUNDS {
            let trace = self.trace_for(&self.plan.without(&all), id);
            if met(&trace, id, counts) {
                return Some(all);
            }
            let stands_in = |other: &PatchId| {
                *other != id
                    && !all.contains(other)
                    && trace.patches[other.index()].effects.iter().any(|one| takes(&one))
            };
            let more: Vec<PatchId> = self.plan.ids().filter(stands_in).collect();
            if more.is_empty() {
                return None;
            }
            all.extend(more);
        }
        None
    }

    /// The name that a merge gave an object, if it is the name that a patch came closest to.
    fn renamed(&self, id: PatchId, effect: &Effect) -> Option<String> {
        let Effect::Merged(changes) = effect else { return None };
        let name = changes.iter().find(|change| change.path == "name")?.after.as_ref()?.as_str()?;
        let trace = self.judged.trace.patches.get(id.index())?;
        let names = [
            Condition::ListenerName,
            Condition::ChainName,
            Condition::Filter,
            Condition::SubFilter,
            Condition::RouteConfigurationName,
            Condition::VirtualHostName,
            Condition::RouteName,
            Condition::ClusterName,
        ];
        let met = trace.nearest.is_some_and(|nearest| names.contains(&nearest)) && trace.candidates.contains(name);
        met.then(|| name.to_owned())
    }

    /// Whether the proxy's configuration differs without this patch of a plan.
    fn matters(&self, plan: &Plan<'_>, id: PatchId) -> bool {
        let options = Options::default();
        let with = engine::run(plan, self.config, &options, &mut ());
        let without = plan.without(&[id]);
        !same_results(self.config, self.plan, &with, &engine::run(&without, self.config, &options, &mut ()))
    }

    fn matches(&self, plan: &Plan<'_>, id: PatchId, counts: Counts) -> bool {
        met(&self.trace_for(plan, id), id, counts)
    }

    /// The trace of a plan as far as it concerns a patch: the others that can take its object run in the same part.
    fn trace_for<'p>(&self, plan: &Plan<'p>, id: PatchId) -> Trace<'p>
    where
        'r: 'p,
    {
        let mut trace = Trace::new(plan.patches.len());
        engine::run_pass(plan, self.config, Pass::of(plan.get(id).built.patch.apply_to), &mut trace);
        trace
    }
}

fn met(trace: &Trace, id: PatchId, counts: Counts) -> bool {
    trace.patches.get(id.index()).is_some_and(|trace| trace.effects.iter().any(|(_, effect)| (counts.effect)(effect)))
}

/// Whether a place is another one or inside it. Filter chains move when one is removed; their other names are enough.
fn lies_in(inner: &Place, outer: &Place) -> bool {
    let within = |inner: &Option<Arc<str>>, outer: &Option<Arc<str>>| outer.is_none() || inner == outer;
    inner.kind == outer.kind
        && inner.resource == outer.resource
        && within(&inner.filter, &outer.filter)
        && within(&inner.sub_filter, &outer.sub_filter)
        && within(&inner.listener_filter, &outer.listener_filter)
        && within(&inner.vhost, &outer.vhost)
        && outer.route.as_ref().is_none_or(|(_, name)| inner.route.as_ref().is_some_and(|(_, own)| own == name))
}

/// The kind of resource that a patch matches; `None` for more than one.
fn sought(apply_to: ApplyTo) -> Option<ResourceKind> {
    match apply_to {
        ApplyTo::Listener
        | ApplyTo::FilterChain
        | ApplyTo::NetworkFilter
        | ApplyTo::HttpFilter
        | ApplyTo::ListenerFilter => Some(ResourceKind::Listener),
        ApplyTo::Cluster => Some(ResourceKind::Cluster),
        _ => None,
    }
}

/// Whether an effect can make another match fail.
fn takes(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Removed
            | Effect::Replaced
            | Effect::Merged(_)
            | Effect::TransportSocketMerged(..)
            | Effect::Inserted { .. }
    ) && effect.changes()
}

/// The lower, the likelier.
fn rank(effect: &Effect) -> u8 {
    match effect {
        Effect::Removed => 0,
        Effect::Merged(changes) if changes.iter().any(|change| change.path == "name") => 1,
        Effect::Replaced => 2,
        Effect::Merged(_) | Effect::TransportSocketMerged(..) => 3,
        _ => 4,
    }
}

/// The kind of object that a condition compares; a finding about a port does not name one.
fn compares(condition: Condition) -> Option<ApplyTo> {
    Some(match condition {
        Condition::ListenerPort | Condition::ChainPort => return None,
        Condition::ListenerName => ApplyTo::Listener,
        Condition::ChainName
        | Condition::Sni
        | Condition::TransportProtocol
        | Condition::ApplicationProtocols
        | Condition::DestinationPort => ApplyTo::FilterChain,
        Condition::HttpConnectionManager | Condition::Filter => ApplyTo::NetworkFilter,
        Condition::SubFilter => ApplyTo::HttpFilter,
        Condition::ListenerFilter => ApplyTo::ListenerFilter,
        Condition::RouteConfigurationName | Condition::PortName | Condition::Gateway | Condition::RoutePort => {
            ApplyTo::RouteConfiguration
        }
        Condition::VirtualHostName | Condition::DomainName => ApplyTo::VirtualHost,
        Condition::RouteName | Condition::RouteAction => ApplyTo::HttpRoute,
        Condition::ClusterName | Condition::Service | Condition::Subset | Condition::ClusterPort => ApplyTo::Cluster,
    })
}

/// What a patch did to the objects that another one matches, of which only the match is known; `missed` is the condition
/// that fails, about which the finding speaks.
fn did_to_it(place: &Place, missed: Option<Condition>, effect: &Effect) -> String {
    let (holds, within) = match place.kind {
        ResourceKind::Cluster => (ApplyTo::Cluster, "cluster"),
        _ if place.route.is_some() => (ApplyTo::HttpRoute, "route"),
        _ if place.vhost.is_some() => (ApplyTo::VirtualHost, "virtual host"),
        _ if place.sub_filter.is_some() => (ApplyTo::HttpFilter, "HTTP filter"),
        _ if place.filter.is_some() => (ApplyTo::NetworkFilter, "network filter"),
        _ if place.listener_filter.is_some() => (ApplyTo::ListenerFilter, "listener filter"),
        _ if place.chain.is_some() => (ApplyTo::FilterChain, "filter chain"),
        ResourceKind::Route => (ApplyTo::RouteConfiguration, "route configuration"),
        _ => (ApplyTo::Listener, "listener"),
    };
    let object = if missed.is_none_or(|missed| compares(missed) == Some(holds)) {
        "it".to_owned()
    } else {
        format!("its {within}")
    };
    let name = || match effect {
        Effect::Merged(changes) => changes.iter().find(|change| change.path == "name")?.after.as_ref()?.as_str(),
        _ => None,
    };
    match (effect, name()) {
        (Effect::Removed, _) => format!("removed {object}"),
        (Effect::Replaced, _) => format!("replaced {object}"),
        (_, Some(name)) => format!("renamed {object} to {name}"),
        _ => format!("changed {object}"),
    }
}

/// The whole place, if its innermost object is only a part of it.
fn in_full(place: &Place) -> Option<String> {
    let whole = place.to_string();
    (whole != place.innermost()).then_some(whole)
}

fn did(place: &Place, effect: &Effect) -> String {
    let place = place.innermost();
    match effect {
        Effect::Removed => format!("removed {place}"),
        Effect::Replaced => format!("replaced {place}"),
        Effect::Merged(changes) => {
            let renamed = changes.iter().find(|change| change.path == "name");
            if let Some(name) = renamed.and_then(|change| change.after.as_ref()?.as_str()) {
                return format!("renamed {place} to {name}");
            }
            let routes = changes.iter().find(|change| change.path.ends_with("rds.route_config_name"));
            match routes.and_then(|change| change.after.as_ref()?.as_str()) {
                Some(name) => format!("made {place} request route configuration {name}"),
                None if changes
                    .iter()
                    .any(|change| change.kind == ChangeKind::Cleared && change.path.ends_with("rds")) =>
                {
                    format!("took the route configuration from {place}")
                }
                None => format!("changed {place}"),
            }
        }
        Effect::Inserted { .. } => format!("inserted {place}"),
        _ => format!("changed {place}"),
    }
}
