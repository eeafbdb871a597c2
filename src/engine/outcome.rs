//! The verdict on each patch of a run, and what a panic took from it.

use super::matching::{self, PortMap};
use super::program::{Plan, Status, proxy_runs};
use super::run::Values;
use super::trace::{Abort, Panic, PatchId, Place, Trace};
use super::{Options, Parts, Patched, run_parts, services};
use crate::model::envoy_filter::{ApplyTo, Patch, PatchContext};
use crate::model::resource::{ProxyConfig, ResourceKind};
use crate::words::serialize_as_str;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// The outcome of a patch on a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It changed something (perhaps not everywhere, perhaps not for long).
    Applied,
    /// No object of the proxy matches.
    NoMatch,
    /// It matched, or could have, but changes nothing.
    NoOp,
    /// istiod dropped it when it read the filter.
    Discarded,
    /// A panic of istiod discarded everything it would have done.
    Aborted,
    /// Its filter does not attach to the proxy, or its `match.proxy` does not match.
    NotSelected,
}

impl Outcome {
    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Applied => "applied",
            Outcome::NoMatch => "no-match",
            Outcome::NoOp => "no-op",
            Outcome::Discarded => "discarded",
            Outcome::Aborted => "aborted",
            Outcome::NotSelected => "not-selected",
        }
    }
}

serialize_as_str!(Outcome);

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Something that istiod generates for a proxy and that a configuration does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hidden<'h> {
    /// The clusters of this host, which an annotation adds.
    Clusters(&'h str),
    /// The route configuration of this name, which a patched listener requests.
    Routes(&'h str),
}

/// A traced run, with everything that requires more than one run.
#[derive(Debug)]
pub struct Judged<'a> {
    /// What istiod sends.
    pub patched: Patched<'a>,
    /// What each patch did.
    pub trace: Trace<'a>,
    /// The patches whose work a panic of another discarded.
    pub lost: BTreeMap<PatchId, Lost>,
    /// For each patch, whether it changed anything: a patch may have thousands of effects, and every rule asks.
    changed: Vec<bool>,
}

/// What a panic of istiod took away from a patch.
#[derive(Clone, Debug)]
pub struct Lost {
    /// The patch that panicked.
    pub cause: PatchId,
    /// The places that this one would have changed.
    pub places: Vec<Place>,
    /// The panic that this one would cause, if the other did not.
    pub panics: Option<Panic>,
}

/// Runs a plan with a trace. After a panic, runs it again without the patches that panicked, to see what was lost.
pub fn judge<'a>(plan: &Plan<'a>, config: &'a ProxyConfig<'a>, options: &'a Options) -> Judged<'a> {
    let mut trace = Trace::new(plan.patches.len());
    let mut values = Values::new();
    let patched = run_parts(plan, config, options, &mut trace, Parts::ALL, &mut values);
    let lost = if trace.aborts.is_empty() { BTreeMap::new() } else { lost(plan, config, options, &trace, values) };
    // Candidates are not needed for a patch that changed something, and a proxy has many clusters.
    for patch in trace.patches.iter_mut().filter(|patch| !patch.effects.is_empty()) {
        patch.candidates = BTreeSet::new();
    }
    let changed = trace.patches.iter().map(|patch| patch.effects.iter().any(|(_, effect)| effect.changes())).collect();
    Judged { patched, trace, lost, changed }
}

/// What is different when no patch panics.
fn lost<'a>(
    plan: &Plan<'a>,
    config: &'a ProxyConfig<'a>,
    options: &'a Options,
    trace: &Trace<'a>,
    mut values: Values<'a>,
) -> BTreeMap<PatchId, Lost> {
    let mut off: BTreeSet<PatchId> = trace.aborts.iter().map(|abort| abort.cause).collect();
    let mut others: BTreeMap<PatchId, (Panic, Place)> = BTreeMap::new();
    // Where no patch panicked, everything would come out the same.
    let is_of_clusters = |abort: &Abort| abort.place.kind == ResourceKind::Cluster;
    let parts =
        Parts { clusters: trace.aborts.iter().any(is_of_clusters), others: !trace.aborts.iter().all(is_of_clusters) };
    loop {
        // Each run without the patches that panicked may show others that panic.
        let mut other = Trace::beyond_panics(plan.patches.len());
        run_parts(&plan.without(&off), config, options, &mut other, parts, &mut values);
        let known = off.len();
        for (id, panic, place) in other.panics() {
            if off.insert(id) {
                others.insert(id, (panic.clone(), place.clone()));
            }
        }
        if off.len() == known {
            return missing(trace, &other, others);
        }
    }
}

/// What patches changed in `other` but not in `trace`, and the `others` that panic without the panics of `trace`.
fn missing(trace: &Trace, other: &Trace, mut others: BTreeMap<PatchId, (Panic, Place)>) -> BTreeMap<PatchId, Lost> {
    let places = |trace: &Trace, index: usize| -> BTreeSet<Place> {
        let effects = trace.patches[index].effects.iter();
        effects.filter(|(_, effect)| effect.changes()).map(|(place, _)| place.clone()).collect()
    };
    let causes = Causes::of(&trace.aborts);
    let mut lost = BTreeMap::new();
    for index in 0..trace.patches.len() {
        let Some(id) = u32::try_from(index).ok().map(PatchId) else { break };
        let mut gone: Vec<Place> = places(other, index).difference(&places(trace, index)).cloned().collect();
        let panics = others.remove(&id).map(|(panic, place)| {
            gone.push(place);
            panic
        });
        if let Some(cause) = gone.first().and_then(|place| causes.at(place)) {
            lost.insert(id, Lost { cause, places: gone, panics });
        }
    }
    lost
}

/// The patches that panicked, by what each kept istiod from patching.
struct Causes<'t> {
    aborts: &'t [Abort],
    of_resource: HashMap<(ResourceKind, &'t str), PatchId>,
}

impl<'t> Causes<'t> {
    fn of(aborts: &'t [Abort]) -> Causes<'t> {
        let mut of_resource = HashMap::new();
        for abort in aborts {
            let (kind, own) = (abort.place.kind, &*abort.place.resource);
            for name in std::iter::once(own).chain(abort.unprocessed.iter().map(String::as_str)) {
                of_resource.entry((kind, name)).or_insert(abort.cause);
            }
        }
        Causes { aborts, of_resource }
    }

    /// The patch that is to blame for what did not happen at a place.
    fn at(&self, place: &Place) -> Option<PatchId> {
        let exact = self.of_resource.get(&(place.kind, &*place.resource)).copied();
        let of_kind = || self.aborts.iter().find(|abort| abort.place.kind == place.kind);
        exact.or_else(|| of_kind().or_else(|| self.aborts.first()).map(|abort| abort.cause))
    }
}

impl Judged<'_> {
    /// The verdict on a patch.
    pub fn outcome(&self, plan: &Plan<'_>, id: PatchId) -> Outcome {
        let planned = plan.get(id);
        if planned.proxy_miss.is_some() {
            return Outcome::NotSelected;
        }
        if self.changed(id) {
            return Outcome::Applied;
        }
        match planned.status {
            Status::Discarded(_) => return Outcome::Discarded,
            Status::NoOp(_) => return Outcome::NoOp,
            Status::Ready => {}
        }
        let panicked = self.trace.aborts.iter().any(|abort| abort.cause == id);
        if panicked || self.lost.contains_key(&id) {
            return Outcome::Aborted;
        }
        if self.trace.patches[id.index()].effects.is_empty() { Outcome::NoMatch } else { Outcome::NoOp }
    }

    /// What a patch could match that istiod generates but the configuration does not contain, so that its effect there is
    /// unknown.
    pub(crate) fn hidden(&self, plan: &Plan<'_>, id: PatchId) -> Option<Hidden<'_>> {
        let planned = plan.get(id);
        if !proxy_runs(planned) {
            return None;
        }
        let patch = planned.built.patch;
        match patch.apply_to {
            ApplyTo::Cluster => {
                let hosts = &self.patched.unknown_services;
                hosts.iter().find(|host| services::perhaps_of(&patch.object, host)).map(|host| Hidden::Clusters(host))
            }
            ApplyTo::RouteConfiguration | ApplyTo::VirtualHost | ApplyTo::HttpRoute => {
                self.hidden_routes(plan, patch).map(Hidden::Routes)
            }
            _ => None,
        }
    }

    /// The name of a route configuration that a patched listener requests, if a patch could match it. Only sidecars have such
    /// ones, for outbound ports: see `route_passes`.
    fn hidden_routes(&self, plan: &Plan<'_>, patch: &Patch) -> Option<&str> {
        if !matches!(patch.context, PatchContext::Any | PatchContext::SidecarOutbound) {
            return None;
        }
        let fits = |name: &str| matching::route_configuration(false, &patch.object, name, &PortMap::new()).is_ok();
        // A merge may rename the route configuration, and the patch may match its new name.
        let renamed = || {
            let renames = |id: PatchId| {
                let built = plan.get(id).built;
                built.patch.apply_to == ApplyTo::RouteConfiguration
                    && built.value.as_ref().is_some_and(|value| !value.name().is_empty())
            };
            plan.ids().any(renames)
        };
        let names = &self.patched.unknown_routes;
        names.iter().find(|name| fits(name)).or_else(|| names.first().filter(|_| renamed())).map(String::as_str)
    }

    /// Whether a patch changed anything, even temporarily.
    pub(crate) fn changed(&self, id: PatchId) -> bool {
        self.changed[id.index()]
    }
}
