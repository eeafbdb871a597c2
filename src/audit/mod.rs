//! The audit: compares every step of an upgrade, lists what it does to each filter, and gives the verdict.
//!
//! All findings come from `lint::upgrade` and the rules EF6xx. This module walks the steps, groups the findings by filter and
//! by workload, and derives the verdict.

mod assemble;
mod chains;
mod roll_out;
pub(crate) mod view;
mod workloads;

use crate::engine::{MeshSettings, Outcome};
use crate::lint::names::{self, Known};
use crate::lint::rule::Meaning;
use crate::lint::upgrade::tell::Class;
use crate::lint::upgrade::{self, Snapshot, Stage, Upgrade};
use crate::lint::{Context, Finding, Findings, Input, Knowledge, Rule, suppress};
use crate::model::envoy_filter::{EnvoyFilter, ObjectMatch};
use crate::model::inventory::Inventory;
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::source::{Problem, Sources, Span};
use crate::trial::Trial;
use std::collections::{BTreeMap, BTreeSet};

/// What is known at one stage of the upgrade.
pub struct Given<'a> {
    /// The release of istiod.
    pub release: Release,
    /// The release of the proxies.
    pub proxies: Release,
    /// Config dumps, as this istiod would generate them for such proxies.
    pub dumps: Vec<ProxyConfig<'a>>,
    /// The reference configurations of this istiod.
    pub references: Vec<ProxyConfig<'a>>,
}

/// The input of an audit.
pub struct Request<'a> {
    /// The texts.
    pub sources: &'a Sources,
    /// The objects in them.
    pub inventory: &'a Inventory,
    /// What the loader noticed.
    pub problems: &'a [Problem],
    /// Settings of the mesh.
    pub mesh: &'a MeshSettings,
    /// The rules.
    pub rules: &'a [&'static Rule],
    /// The stages, from the current release to the target: two or more.
    pub stages: &'a [Given<'a>],
    /// The stages during the rollout: the new istiod with old proxies, the old istiod with new ones.
    pub mixed: &'a [Given<'a>],
    /// Names of the old and the new revision; empty if unknown.
    pub revisions: (String, String),
    /// The filters to report on, `namespace/name`; `None`: all. The others take part, but are not reported.
    pub asked: Option<&'a BTreeSet<String>>,
    /// Where the proxies of each workload are now, by `namespace/name` of the workload and of the pod.
    pub standings: &'a BTreeMap<String, Vec<Standing>>,
    /// Whether the rewritten filters include fixes that change the meaning.
    pub unsafe_fixes: bool,
}

impl Request<'_> {
    fn is_asked(&self, filter: &str) -> bool {
        self.asked.is_none_or(|asked| asked.contains(filter))
    }
}

/// Where a proxy is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    /// Its revision, by the name of the revision or of a tag.
    pub revision: String,
    /// The release of that revision's istiod; empty if unknown.
    pub istiod: String,
    /// The version of the proxy; empty if unknown.
    pub proxies: String,
}

/// The findings and the comparison of one step of the path.
type StepRun = (Vec<Finding>, Upgrade);

/// A finding and the steps of the upgrade that produce it.
#[derive(Clone, Debug)]
pub struct Found {
    /// The finding, as in its first step.
    pub finding: Finding,
    /// What it means for the upgrade.
    pub class: Class,
    /// From which release to which.
    pub steps: Vec<(Release, Release)>,
}

/// The result.
pub struct Audit {
    /// The findings, by place.
    pub found: Vec<Found>,
    /// The assembled report.
    pub view: view::Audit,
    /// Findings that a comment or annotation suppresses.
    pub suppressed: usize,
}

/// Runs the audit. With fewer than two stages nothing changes and there are no findings.
pub fn run(request: &Request<'_>) -> Audit {
    run_with(request, None)
}

/// The same with an Envoy. It is asked about the last stage whose proxies run its release, or else about the target.
pub(crate) fn run_with(request: &Request<'_>, trial: Option<&Trial>) -> Audit {
    let own =
        |given: &Given<'_>| trial.is_some_and(|trial| trial.other_release(&BTreeSet::from([given.proxies])).is_none());
    let tried =
        request.stages.iter().rposition(own).filter(|&at| at > 0).unwrap_or(request.stages.len().saturating_sub(1));
    let groups = workloads::group(request);
    let mut steps: Vec<StepRun> = Vec::new();
    let mut first: Option<Snapshot> = None;
    let mut before: Option<Snapshot> = None;
    let mut unknown = Vec::new();
    let mut today: Vec<Finding> = Vec::new();
    for (number, given) in request.stages.iter().enumerate() {
        let stand_ins = workloads::stand_ins(&groups, given);
        let stage = stage(request, given, &stand_ins);
        match &before {
            None => {
                let (snapshot, errors) = upgrade::snapshot_with_errors(&stage, request.rules);
                today = errors;
                first = Some(snapshot.clone());
                before = Some(snapshot);
            }
            Some(earlier) => {
                let trial = trial.filter(|_| number == tried);
                let (findings, upgrade, said) =
                    upgrade::compare_with(&stage, trial, earlier, request.rules, |cx| of_envoy(cx, given, trial));
                unknown.extend(said);
                before = Some(upgrade.after.clone());
                steps.push((findings, upgrade));
            }
        }
    }
    let mut mixed: Vec<StepRun> = first
        .iter()
        .flat_map(|first| {
            request.mixed.iter().map(|given| {
                let stand_ins = workloads::stand_ins(&groups, given);
                upgrade::compare(&stage(request, given, &stand_ins), first, request.rules)
            })
        })
        .collect();
    // What the proxies reject today, too, is not rejected because of the upgrade.
    let rejected: BTreeSet<(String, Option<usize>)> =
        today.iter().filter(|one| one.rejected).map(|one| (one.filter.clone(), one.patch)).collect();
    for (findings, _) in steps.iter_mut().chain(&mut mixed) {
        findings.retain(|one| {
            one.rule.meaning != Meaning::Rejected || !rejected.contains(&(one.filter.clone(), one.patch))
        });
    }
    let mut merged = merge(&steps);
    merged.retain(|found| request.is_asked(&found.finding.filter));
    let nowhere = in_effect_nowhere(request, first.as_ref(), &steps);
    merged.retain(|found| !nowhere.contains(&(found.finding.filter.clone(), found.finding.patch)));
    let suppressions = suppress::read(request.sources, &request.inventory.envoy_filters);
    let total = merged.len();
    let mut by_place: BTreeMap<(Span, &str, String), Found> = BTreeMap::new();
    let mut findings = Findings::default();
    for found in merged {
        findings.push(found.finding.clone());
        by_place.insert(key(&found.finding), found);
    }
    let kept = suppress::apply(findings.sorted(), &suppressions).kept;
    let found: Vec<Found> = kept.iter().filter_map(|finding| by_place.remove(&key(finding))).collect();
    let suppressed = total - found.len();
    today.retain(|finding| request.is_asked(&finding.filter));
    let mut errors = Findings::default();
    errors.extend(today);
    let today = suppress::apply(errors.sorted(), &suppressions).kept;
    let mut view = assemble::view(request, &groups, first.as_ref(), &steps, &mixed, (&found, &today));
    view.unknown.append(&mut unknown);
    Audit { found, view, suppressed }
}

/// Patches, by the full name of their filter, that change no proxy at any stage: a release's objections to their text make no
/// difference. Only if at least one proxy was checked and the API accepts the filter.
fn in_effect_nowhere(
    request: &Request<'_>,
    first: Option<&Snapshot>,
    steps: &[StepRun],
) -> BTreeSet<(String, Option<usize>)> {
    let mut looked: BTreeMap<(usize, usize), bool> = BTreeMap::new();
    for snapshot in first.into_iter().chain(steps.iter().map(|(_, upgrade)| &upgrade.after)) {
        for run in &snapshot.runs {
            for (&filter, patches) in &run.filters {
                for (patch, record) in patches.iter().enumerate() {
                    // Without the panic, the patch would be in effect.
                    let effective = matches!(record.outcome, Outcome::Applied | Outcome::Aborted)
                        || record.panic.is_some()
                        || (run.knowledge == Knowledge::Reference
                            && record.outcome == Outcome::NoMatch
                            && anchored(request, snapshot.release, filter, patch));
                    *looked.entry((filter, patch)).or_default() |= effective;
                }
            }
        }
    }
    let filters = &request.inventory.envoy_filters;
    let name = |filter: usize| filters.get(filter).map(EnvoyFilter::full_name);
    let nowhere = looked.into_iter().filter(|(_, effective)| !effective);
    nowhere.filter_map(|((filter, patch), _)| Some((name(filter)?, Some(patch)))).collect()
}

/// Whether a patch matches a filter that istiod generates at a release for a policy or a plugin that the reference
/// configuration lacks: then it may be in effect.
fn anchored(request: &Request<'_>, release: Release, filter: usize, patch: usize) -> bool {
    let filters = &request.inventory.envoy_filters;
    let Some(patch) = filters.get(filter).and_then(|filter| filter.patches.get(patch)) else { return false };
    let ObjectMatch::Listener(listener) = &patch.object else { return false };
    let network = listener.filter_chain.as_ref().and_then(|chain| chain.filter.as_ref());
    let names = [
        ("listener", Some(listener.listener_filter.as_str())),
        ("network", network.map(|filter| filter.name.as_str())),
        ("http", network.and_then(|filter| filter.sub_filter.as_deref())),
    ];
    let mut asked = names.into_iter().filter_map(|(kind, name)| Some((kind, name.filter(|name| !name.is_empty())?)));
    asked.next_back().is_some_and(|(kind, name)| names::known(kind, name, release) == Known::Now)
}

/// What Envoy could not be asked, and why it stopped answering.
fn of_envoy(cx: &Context<'_>, given: &Given<'_>, trial: Option<&Trial>) -> Vec<String> {
    let (Some(trial), Some(trials)) = (trial, &cx.trials) else { return Vec::new() };
    let mut said: Vec<String> = trial.other_release(&BTreeSet::from([given.proxies])).into_iter().collect();
    said.extend(trials.unknown(cx));
    said.extend(trials.trouble.iter().map(|trouble| format!("{} stopped answering: {trouble}", trials.envoy)));
    said
}

fn key(finding: &Finding) -> (Span, &'static str, String) {
    (finding.primary.span, finding.rule.code, finding.message.clone())
}

fn stage<'a>(request: &'a Request<'a>, given: &'a Given<'a>, stand_ins: &'a [(usize, ProxyConfig<'a>)]) -> Stage<'a> {
    Stage {
        input: Input {
            sources: request.sources,
            inventory: request.inventory,
            problems: request.problems,
            dumps: &given.dumps,
            references: &given.references,
            release: given.release,
            mesh: request.mesh,
        },
        proxies: given.proxies,
        target: request.stages.last().map_or(given.release, |last| last.release),
        stand_ins,
        // The caller undid the filters once for all stages.
        generated: true,
        make_up: true,
        revision: if request.stages.first().is_some_and(|first| first.release == given.release) {
            &request.revisions.0
        } else {
            &request.revisions.1
        },
    }
}

/// The findings of all steps; what several steps find is one finding with several steps.
fn merge(steps: &[StepRun]) -> Vec<Found> {
    let mut merged: Vec<Found> = Vec::new();
    let mut index: BTreeMap<(Span, &str, Option<usize>), usize> = BTreeMap::new();
    for (findings, upgrade) in steps {
        let step = (upgrade.before.release, upgrade.after.release);
        let mut here: BTreeMap<(Span, &str, Option<usize>), String> = BTreeMap::new();
        for finding in findings {
            let key = (finding.primary.span, finding.rule.code, finding.patch);
            // Two different messages for one place at one step are two findings; the same message at a later step is one.
            if here.get(&key).is_some_and(|message| *message != finding.message) {
                merged.push(Found { finding: finding.clone(), class: Class::of(finding), steps: vec![step] });
                continue;
            }
            here.insert(key, finding.message.clone());
            if let Some(known) = index.get(&key).and_then(|&at| merged.get_mut(at)) {
                known.steps.push(step);
                known.class = known.class.max(Class::of(finding));
                known.finding.join_workloads(finding.workloads.iter().cloned());
            } else {
                index.insert(key, merged.len());
                merged.push(Found { finding: finding.clone(), class: Class::of(finding), steps: vec![step] });
            }
        }
    }
    merged
}
