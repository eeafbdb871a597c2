//! Two releases compared: what each filter does on each proxy before and after an upgrade.
//!
//! A [`Snapshot`] is the result of the engine and the rules at one stage (release of istiod, release of the proxies),
//! without the configurations; [`Upgrade`] is the difference of two. The rules EF6xx turn it into findings.

mod chains;
mod compare;
pub mod forecast;
mod needless;
mod net;
pub mod notes;
mod record;
pub(crate) mod snapshot;
pub mod tell;

pub use crate::lint::rule::Change;
pub use snapshot::{ChainRecord, PatchChange, PatchRecord, RunKey, RunRecord, Snapshot, Upgrade};

use crate::engine::program::Status;
use crate::lint::check::Rule;
use crate::lint::facts::context::Context;
use crate::lint::facts::reach;
use crate::lint::finding::{Finding, Findings};
use crate::lint::rule::{Family, Need};
use crate::lint::run::fold::fold;
use crate::lint::run::{Input, Setting, with_context};
use crate::lint::shown::make_safe;
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::source::Severity;
use crate::trial::Trial;

/// One stage of an upgrade: the releases of istiod and the proxies.
pub struct Stage<'a> {
    /// Filters, configurations and the release of istiod.
    pub input: Input<'a>,
    /// The release of the proxies.
    pub proxies: Release,
    /// The release of istiod at the end of the upgrade, of which this stage may be a step.
    pub target: Release,
    /// Workloads without a dump, each with the reference configuration of its kind and its index.
    pub stand_ins: &'a [(usize, ProxyConfig<'a>)],
    /// Whether the dumps were generated without the filters, so that nothing must be undone in them.
    pub generated: bool,
    /// Whether filters that reach no proxy are tried on sample workloads.
    pub make_up: bool,
    /// The revision of istiod, which ignores filters of other revisions; empty if unknown.
    pub revision: &'a str,
}

/// Takes a snapshot of a stage.
pub fn snapshot(stage: &Stage<'_>, rules: &[&'static Rule]) -> Snapshot {
    with_context(&stage.input, &stage.setting(None), |context| take(context, rules))
}

/// The same, with the errors that already exist at that stage, from rules that neither compare stages nor propose
/// alternatives, nor are about the linter.
pub(crate) fn snapshot_with_errors(stage: &Stage<'_>, rules: &[&'static Rule]) -> (Snapshot, Vec<Finding>) {
    with_context(&stage.input, &stage.setting(None), |context| {
        let mut findings = Findings::default();
        // What the admission server makes of a filter is not broken in the mesh.
        let others = [Family::Upgrade, Family::Native, Family::Linter];
        let asked = |rule: &&&'static Rule| !others.contains(&rule.family) && !rule.needs.contains(&Need::Envoy);
        for rule in rules.iter().filter(asked) {
            rule.run(context, &mut findings);
        }
        context.settle(&mut findings);
        fold(&mut findings);
        let mut errors = findings.sorted();
        errors.retain(is_broken);
        make_safe(&mut errors, context.filters);
        (take(context, rules), errors)
    })
}

/// Whether something does not work: an error, an EnvoyFilter that most likely has no effect at all, or the consequence of an
/// error elsewhere.
fn is_broken(finding: &Finding) -> bool {
    match finding.severity {
        Severity::Error => true,
        Severity::Warning => finding.ineffective && finding.patch.is_none(),
        Severity::Info => finding.follows,
    }
}

/// Takes a snapshot of a stage, compares it with an earlier one, and runs the upgrade rules.
pub fn compare(stage: &Stage<'_>, before: &Snapshot, rules: &[&'static Rule]) -> (Vec<Finding>, Upgrade) {
    let (findings, upgrade, ()) = compare_with(stage, None, before, rules, |_| ());
    (findings, upgrade)
}

/// The same with an Envoy that checks the stage and whose rejections are findings too; `look` may inspect the runs.
pub(crate) fn compare_with<T>(
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
        let asked = |rule: &&&'static Rule| rule.family == Family::Upgrade || rule.needs.contains(&Need::Envoy);
        for rule in rules.iter().filter(asked) {
            rule.run(context, &mut findings);
        }
        let upgrade = context.upgrade.take().map_or_else(|| Upgrade::none(before), |upgrade| *upgrade);
        let mut findings = findings.sorted();
        make_safe(&mut findings, context.filters);
        (findings, upgrade, look(context))
    })
}

fn take(context: &Context<'_>, rules: &[&'static Rule]) -> Snapshot {
    let mut findings = Findings::default();
    for rule in rules.iter().filter(|rule| rule.compared()) {
        rule.run(context, &mut findings);
    }
    Snapshot {
        release: context.release,
        proxies: context.proxies,
        runs: record::runs(context),
        refused: (0..context.filters.len()).map(|filter| context.program.refused(filter)).collect(),
        without_sidecar: reach::without_sidecar(context),
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
        let Stage { proxies, stand_ins, generated, make_up, revision, .. } = *self;
        Setting { proxies, versions: true, stand_ins, generated, make_up, real: trial.into(), revision }
    }
}
