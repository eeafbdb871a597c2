//! Two releases compared: what each filter does on each proxy before an upgrade, and what after it.
//!
//! A [`Snapshot`] is what the engine and the rules say at one stage (release of istiod, release of the proxies), without
//! the configurations; [`Upgrade`] is the difference of two. The rules EF6xx make findings of it.

mod chains;
mod compare;
pub mod forecast;
mod needless;
mod net;
pub mod notes;
mod record;
pub mod tell;

pub use chains::ChainRecord;
pub use compare::{Kind, PatchChange};
pub use record::{PatchRecord, RunKey, RunRecord};

use super::context::Context;
use super::finding::{Finding, Findings};
use super::rule::Rule;
use super::run::{Input, Setting, with_context};
use crate::engine::program::Status;
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::source::Span;
use crate::trial::Trial;
use std::collections::BTreeSet;

/// One stage of an upgrade: what istiod and the proxies are.
pub struct Stage<'a> {
    /// Filters, configurations and the release of istiod.
    pub input: Input<'a>,
    /// The release of the proxies.
    pub proxies: Release,
    /// The release of istiod at the end of the upgrade, of which this stage may be a step.
    pub target: Release,
    /// Workloads of which no dump was given, each with the reference configuration of its kind and the index of that.
    pub stand_ins: &'a [(usize, ProxyConfig<'a>)],
    /// Whether filters that meet no proxy are tried on made-up workloads.
    pub make_up: bool,
    /// The revision of istiod, which passes over filters of other revisions; empty when it is not known.
    pub revision: &'a str,
}

/// What is so at one stage.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The release of istiod.
    pub release: Release,
    /// The release of the proxies.
    pub proxies: Release,
    /// One record a proxy, in the order of the runs.
    pub runs: Vec<RunRecord>,
    /// Filters that this release's API refuses, with the reason.
    pub refused: Vec<Option<&'static str>>,
    /// Patches that istiod throws away when it reads them.
    pub discarded: BTreeSet<(usize, usize)>,
    /// What the rules that depend on a release find.
    pub findings: Vec<Finding>,
    /// Filter chains that patches change, by the number of the run; of some runs.
    pub chains: Vec<(usize, Vec<ChainRecord>)>,
}

/// The difference of two stages.
#[derive(Clone, Debug)]
pub struct Upgrade {
    /// The stage before.
    pub before: Snapshot,
    /// The stage after.
    pub after: Snapshot,
    /// What becomes different for patches, grouped.
    pub changes: Vec<PatchChange>,
    /// The release of istiod at the end of the path, of which this may be a step.
    pub target: Release,
}

/// Codes of the rules whose findings hang on the release: what istiod or the proxy knows, accepts, builds in.
const OF_A_RELEASE: &[&str] = &[
    "EF105", "EF109", "EF110", "EF112", "EF113", "EF114", "EF115", "EF116", "EF117", "EF118", "EF119", "EF121",
    "EF122", "EF127", "EF130", "EF131", "EF134", "EF322", "EF515",
];

/// Themes whose findings say that a filter is not needed: the digit of their codes.
const BETTER: char = '7';

fn of_a_release(rule: &Rule) -> bool {
    OF_A_RELEASE.contains(&rule.code) || rule.code.chars().nth(2) == Some(BETTER)
}

/// Code of the rule that tells what a real Envoy refuses; silent without one.
const TRIED: &str = "EF133";

/// Looks at a stage.
pub fn snapshot(stage: &Stage<'_>, rules: &[&'static Rule]) -> Snapshot {
    with_context(&stage.input, &stage.setting(None), |context| take(context, rules))
}

/// Looks at a stage, compares it with one before, and runs the rules of upgrades.
pub fn compare(stage: &Stage<'_>, before: &Snapshot, rules: &[&'static Rule]) -> (Vec<Finding>, Upgrade) {
    let (findings, upgrade, ()) = compare_with(stage, None, before, rules, |_| ());
    (findings, upgrade)
}

/// The same with an Envoy that is asked about the stage, whose refusals are findings too; `look` may look at the runs.
pub fn compare_with<T>(
    stage: &Stage<'_>,
    trial: Option<&Trial>,
    before: &Snapshot,
    rules: &[&'static Rule],
    look: impl FnOnce(&Context<'_>) -> T,
) -> (Vec<Finding>, Upgrade, T) {
    with_context(&stage.input, &stage.setting(trial), |context| {
        let after = take(context, rules);
        let changes = compare::changes(before, &after, context);
        context.upgrade = Some(Box::new(Upgrade { before: before.clone(), after, changes, target: stage.target }));
        let mut findings = Findings::default();
        for rule in rules.iter().filter(|rule| rule.theme() == THEME || rule.code == TRIED) {
            (rule.check)(rule, context, &mut findings);
        }
        let upgrade = context.upgrade.take().map_or_else(|| Upgrade::none(before), |upgrade| *upgrade);
        (findings.sorted(), upgrade, look(context))
    })
}

/// The theme of the rules that compare two stages.
pub const THEME: &str = "upgrade";

impl Upgrade {
    fn none(before: &Snapshot) -> Upgrade {
        Upgrade { before: before.clone(), after: before.clone(), changes: Vec::new(), target: before.release }
    }

    /// The changes of some kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &PatchChange> {
        self.changes.iter().filter(move |change| change.kind == kind)
    }

    /// What a rule finds after and not before, at the same place.
    pub fn newly<'u>(&'u self, codes: &'u [&str]) -> impl Iterator<Item = &'u Finding> {
        let of = |finding: &&Finding| codes.contains(&finding.rule.code);
        let known: BTreeSet<(&str, Span)> =
            self.before.findings.iter().filter(of).map(|one| (one.rule.code, one.primary.span)).collect();
        self.after.findings.iter().filter(of).filter(move |one| !known.contains(&(one.rule.code, one.primary.span)))
    }

    /// Whether a release lies on the way: not yet reached before, reached after.
    pub fn crosses(&self, release: Release) -> bool {
        self.before.release < release && release <= self.after.release
    }

    /// Whether the proxies cross a release.
    pub fn proxies_cross(&self, release: Release) -> bool {
        self.before.proxies < release && release <= self.after.proxies
    }
}

fn take(context: &Context<'_>, rules: &[&'static Rule]) -> Snapshot {
    let mut findings = Findings::default();
    for rule in rules.iter().filter(|rule| of_a_release(rule)) {
        (rule.check)(rule, context, &mut findings);
    }
    Snapshot {
        release: context.release,
        proxies: context.proxies,
        runs: record::runs(context),
        refused: (0..context.filters.len()).map(|filter| context.program.refused(filter)).collect(),
        discarded: context
            .patches()
            .filter(|view| view.built.is_some_and(|built| matches!(built.status, Status::Discarded(_))))
            .map(|view| (view.filter_index, view.patch.index))
            .collect(),
        findings: findings.sorted(),
        chains: chains::of(context),
    }
}

impl Stage<'_> {
    fn setting<'s>(&'s self, trial: Option<&'s Trial>) -> Setting<'s> {
        let Stage { proxies, stand_ins, make_up, revision, .. } = *self;
        Setting { proxies, versions: true, stand_ins, make_up, trial, revision }
    }
}
