//! The state at a stage of an upgrade, and the difference of two: data without configurations.

use crate::engine::Outcome;
use crate::engine::select::Unreadable;
use crate::engine::trace::{Condition, Place};
use crate::lint::facts::view::Knowledge;
use crate::lint::finding::Finding;
use crate::lint::rule::Change;
use crate::model::proxy::ProxyKind;
use crate::model::release::Release;
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The state at one stage.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The release of istiod.
    pub release: Release,
    /// The release of the proxies.
    pub proxies: Release,
    /// One record per proxy, in the order of the runs.
    pub runs: Vec<RunRecord>,
    /// Filters that this release's API rejects, with the reason.
    pub refused: Vec<Option<Unreadable>>,
    /// Filters whose workloads are known and have no sidecar: whatever a sample workload shows, they reach no proxy.
    pub without_sidecar: BTreeSet<usize>,
    /// Patches that istiod discards when it reads them.
    pub discarded: BTreeSet<(usize, usize)>,
    /// The findings of the rules that depend on a release.
    pub findings: Vec<Finding>,
    /// Filter chains that patches change, by the number of the run; only for some runs.
    pub chains: Vec<(usize, Vec<ChainRecord>)>,
}

/// The difference of two stages.
#[derive(Clone, Debug)]
pub struct Upgrade {
    /// The stage before.
    pub before: Snapshot,
    /// The stage after.
    pub after: Snapshot,
    /// What changes for patches, grouped.
    pub changes: Vec<PatchChange>,
    /// The release of istiod at the end of the path, of which this may be a step.
    pub target: Release,
}

impl Upgrade {
    pub(super) fn none(before: &Snapshot) -> Upgrade {
        Upgrade { before: before.clone(), after: before.clone(), changes: Vec::new(), target: before.release }
    }

    /// The changes of some kind.
    pub(crate) fn of(&self, kind: Change) -> impl Iterator<Item = &PatchChange> {
        self.changes.iter().filter(move |change| change.kind == kind)
    }

    /// Findings of a rule that exist after and not before, at the same place.
    pub(crate) fn newly<'u>(&'u self, codes: &'u [&str]) -> impl Iterator<Item = &'u Finding> {
        let of = |finding: &&Finding| codes.contains(&finding.rule.code);
        let known: BTreeSet<(&str, Span)> =
            self.before.findings.iter().filter(of).map(|one| (one.rule.code, one.primary.span)).collect();
        self.after.findings.iter().filter(of).filter(move |one| !known.contains(&(one.rule.code, one.primary.span)))
    }

    /// Whether a release is crossed: not yet reached before, reached after.
    pub(crate) fn crosses(&self, release: Release) -> bool {
        self.before.release < release && release <= self.after.release
    }

    /// Whether the proxies cross a release.
    pub(crate) fn proxies_cross(&self, release: Release) -> bool {
        self.before.proxies < release && release <= self.after.proxies
    }
}

/// Identifies the proxy of a record at every stage.
pub type RunKey = (Knowledge, ProxyKind, String, String);

/// The engine's results for one proxy.
#[derive(Clone, Debug)]
pub struct RunRecord {
    /// The proxy.
    pub key: RunKey,
    /// Its display name.
    pub label: String,
    /// Where its configuration comes from.
    pub knowledge: Knowledge,
    /// Whether it is a sample proxy, see [`ProxyRun::is_made_up`](crate::lint::facts::context::ProxyRun::is_made_up).
    pub made_up: bool,
    /// Sidecar, gateway or waypoint.
    pub kind: ProxyKind,
    /// Its Istio version.
    pub version: String,
    /// The patches of the filters that attach, by filter.
    pub filters: BTreeMap<usize, Vec<PatchRecord>>,
    /// Why other filters of its namespace and of the root namespace do not attach.
    pub detached: BTreeMap<usize, String>,
    /// A hash of what all of them together change, if it was worth computing.
    pub net: Option<u64>,
}

/// The engine's results for one patch on one proxy.
#[derive(Clone, Debug)]
pub struct PatchRecord {
    /// The verdict.
    pub outcome: Outcome,
    /// Why it has no effect; empty if it has one.
    pub reason: String,
    /// Where it changed something and what, as hashes; sorted.
    pub effects: Vec<(u64, u64)>,
    /// Filters of listeners that it removes, each with its effect.
    pub removed: Vec<((u64, u64), Place)>,
    /// Some of the places, as text.
    pub places: Vec<String>,
    /// How many places.
    pub count: usize,
    /// The condition of its match that came closest.
    pub nearest: Option<Condition>,
    /// The values that objects have there.
    pub candidates: Vec<String>,
    /// Whether `proxyVersion` excludes this proxy.
    pub other_version: bool,
    /// Why it makes istiod panic.
    pub panic: Option<String>,
    /// Filter and patch whose panic discards it.
    pub lost_to: Option<(usize, usize)>,
}

/// A change that is the same on several proxies.
#[derive(Clone, Debug)]
pub struct PatchChange {
    /// Index of the filter.
    pub filter: usize,
    /// Index of the patch; `None` for the whole filter.
    pub patch: Option<usize>,
    /// The kind of change.
    pub kind: Change,
    /// Why it has no effect after, or had none before, for readers.
    pub reason: String,
    /// The condition that fails after.
    pub condition: Option<Condition>,
    /// The values that objects have there after.
    pub candidates: Vec<String>,
    /// The proxies, by index into the runs after.
    pub runs: Vec<usize>,
    /// Whether only reference configurations show it.
    pub likely: bool,
    /// Some of the places changed before and after.
    pub places: (Vec<String>, Vec<String>),
    /// How many places before and after.
    pub counts: (usize, usize),
    /// The patch that panics.
    pub cause: Option<(usize, usize)>,
    /// Whether `proxyVersion` excluded the proxies before.
    pub pinned: bool,
}

/// A list of filters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainRecord {
    /// The listener.
    pub listener: String,
    /// The filter chain, by name or number.
    pub chain: String,
    /// HTTP filters, or else network filters.
    pub http: bool,
    /// Names as istiod generates them.
    pub generated: Vec<String>,
    /// Names after patching, each with the filter that added or changed it.
    pub patched: Vec<(String, Option<usize>)>,
}
