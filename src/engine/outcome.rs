//! The verdict on each patch of a run, and what a panic took from it.

use super::matching::{self, PortMap};
use super::program::{Plan, Status, proxy_runs};
use super::trace::{PatchId, Place, Trace};
use super::{Options, Patched, run, services};
use crate::model::envoy_filter::{ApplyTo, Patch, PatchContext};
use crate::model::resource::ProxyConfig;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
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

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Something that istiod generates for a proxy and that a configuration does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden<'h> {
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
    pub trace: Trace,
    /// The changes that a panic discarded: the places each patch would have changed.
    pub lost: BTreeMap<PatchId, Vec<Place>>,
    /// For each patch, whether it changed anything: a patch may have thousands of effects, and every rule asks.
    changed: Vec<bool>,
}

/// Runs a plan with a trace. After a panic, runs it again without the patches that panicked, to see what was lost.
pub fn judge<'a>(plan: &Plan<'a>, config: &'a ProxyConfig<'a>, options: &'a Options) -> Judged<'a> {
    let mut trace = Trace::new(plan.patches.len());
    let patched = run(plan, config, options, &mut trace);
    let mut lost = BTreeMap::new();
    let mut off: Vec<PatchId> = Vec::new();
    let mut aborts = trace.aborts.clone();
    while !aborts.is_empty() {
        off.extend(aborts.iter().map(|abort| abort.cause));
        let mut other = Trace::new(plan.patches.len());
        run(&plan.without(&off), config, options, &mut other);
        aborts.clone_from(&other.aborts);
        aborts.retain(|abort| !off.contains(&abort.cause));
        if aborts.is_empty() {
            lost = missing(&trace, &other);
        }
    }
    // Candidates are not needed for a patch that changed something, and a proxy has many clusters.
    for patch in trace.patches.iter_mut().filter(|patch| !patch.effects.is_empty()) {
        patch.candidates = BTreeSet::new();
    }
    let changed = trace.patches.iter().map(|patch| patch.effects.iter().any(|(_, effect)| effect.changes())).collect();
    Judged { patched, trace, lost, changed }
}

/// What patches changed in `other` but not in `trace`.
fn missing(trace: &Trace, other: &Trace) -> BTreeMap<PatchId, Vec<Place>> {
    let places = |trace: &Trace, index: usize| -> BTreeSet<Place> {
        let effects = trace.patches[index].effects.iter();
        effects.filter(|(_, effect)| effect.changes()).map(|(place, _)| place.clone()).collect()
    };
    let mut lost = BTreeMap::new();
    for index in 0..trace.patches.len() {
        let gone: Vec<Place> = places(other, index).difference(&places(trace, index)).cloned().collect();
        if let (false, Ok(id)) = (gone.is_empty(), u32::try_from(index)) {
            lost.insert(PatchId(id), gone);
        }
    }
    lost
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
    pub fn hidden(&self, plan: &Plan<'_>, id: PatchId) -> Option<Hidden<'_>> {
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
    pub fn changed(&self, id: PatchId) -> bool {
        self.changed[id.index()]
    }
}
