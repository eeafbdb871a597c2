//! Judges a change to one EnvoyFilter with the pipeline of `lint`: its findings, and new findings about others.

use super::later;
use super::remark::Remark;
use super::snapshot::{Snapshot, StoredFilter, text_of};
use super::standing::{Found, Part, Question, Standing, number_of};
use crate::budget;
use crate::cluster::kinds;
use crate::cluster::objects;
use crate::cluster::read::source_name;
use crate::lint::config::Config;
use crate::lint::limits::{self, Excess};
use crate::lint::{self, Causes, Claim, Finding, Input, Rule};
use crate::load::{Loaded, Options, yaml};
use crate::mesh::planes::Plane;
use crate::model::envoy_filter::{EnvoyFilter, Patch};
use crate::model::inventory::{Inventory, Shared, Workload};
use crate::model::proxy::GATEWAY_NAME_LABEL;
use crate::model::release::Release;
use crate::source::{FileId, Node, Problem, Severity, Sources, Span, field_path};
use serde_json::Value;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Rules to judge by, with cached results.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    rules: Vec<&'static Rule>,
    config: Config,
    standing: Arc<Standing>,
}

impl Rules {
    /// These rules, custom ones included, under this configuration.
    pub fn new(rules: Vec<&'static Rule>, config: Config) -> Rules {
        Rules { rules, config, standing: Arc::default() }
    }

    /// The same without a cache.
    #[must_use]
    pub fn without_memory(rules: Vec<&'static Rule>, config: Config) -> Rules {
        Rules { standing: Arc::new(Standing::off()), ..Rules::new(rules, config) }
    }

    /// The rules.
    pub(crate) fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The cache of results.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }
}

/// A change to judge.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'q> {
    /// Namespace of the filter.
    pub namespace: &'q str,
    /// Its name.
    pub name: &'q str,
    /// The stored object; `None` for a creation.
    pub old: Option<&'q Value>,
    /// The new object; `None` for a deletion.
    pub new: Option<&'q Value>,
}

/// Minimum number of values of a patch to be compared with its copies (EF407).
const ENOUGH: usize = 8;
/// Maximum number of copies of a patch to compare with, besides filters on the same proxies.
const COPIES: usize = 16;

/// The result for a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// The worst first, then by place.
    pub remarks: Vec<Remark>,
    /// Number of filters that may match the same proxies but are too large to be judged together with this one.
    pub left_out: usize,
}

/// Maximum number of values of all filters judged together with one; about six hundred filters have as many.
const BESIDE_VALUES: usize = 10_000;
/// Maximum number of their patches.
const BESIDE_PATCHES: usize = 2_000;

/// Judges a change among the filters of the cluster.
pub fn judge(snapshot: &Snapshot, rules: &Rules, asked: &Asked<'_>) -> Judged {
    change(snapshot, rules, asked, true)
}

/// Judges a change as if there were no other filters, for when they make it too much work.
pub(crate) fn alone(snapshot: &Snapshot, rules: &Rules, asked: &Asked<'_>) -> Judged {
    change(snapshot, rules, asked, false)
}

/// Computes what reviews of filters in the root namespace need about stored filters, so that no review pays for others.
pub fn prepare(snapshot: &Snapshot, rules: &Rules) {
    let roots = roots(snapshot);
    if !snapshot.filters.keys().any(|(namespace, _)| roots.contains(namespace.as_str())) {
        return;
    }
    let mut all: Vec<Arc<StoredFilter>> =
        snapshot.filters.values().filter(|known| known.filter.is_some()).cloned().collect();
    all.sort_by_key(|known| known.file);
    let (stored, left_out) = fitting(all);
    if left_out > 0 {
        // Each review leaves out different filters.
        return;
    }
    let (_, among) = parts(rules, &stored);
    let near = Near { workloads: Arc::clone(&snapshot.objects.workloads), of: None };
    known(snapshot, rules, (Part::Among, &among), &near, &stored, None);
}

/// The remark about a filter that is too large to judge. If the configuration turns the rule off, the remark is informational:
/// an unjudged filter must not look like one without findings. It never counts as one that the stored filter had: nobody knows what
/// the change does.
pub(crate) fn over_budget(rules: &Rules, excess: Excess) -> Remark {
    let rule = rules.rules.iter().copied().find(|rule| rule.name == OVER_BUDGET);
    let (message, help) = match excess {
        Excess::Reviews => {
            (format!("this EnvoyFilter was not judged: {excess}"), "try again, with fewer changes at a time")
        }
        _ => (format!("this EnvoyFilter is too large to judge: {excess}"), "split it into several EnvoyFilters"),
    };
    let severity = rule.map_or(Severity::Error, |rule| {
        let nowhere = Span { file: FileId(0), start: 0, end: 0 };
        let mut finding = Finding::new(rule, nowhere, message.as_str());
        let kept = rules.config.runs(rule) && rules.config.keeps(&mut finding, "");
        if kept { finding.severity } else { Severity::Info }
    });
    let help = Some(help.to_owned());
    let code = rule.map_or(OVER_BUDGET, |rule| rule.code);
    Remark { code, severity, other: None, path: String::new(), message, help, stood: false, may_come: false }
}

/// Name of the rule about filters that are too large to judge.
const OVER_BUDGET: &str = "over-budget";

fn change(snapshot: &Snapshot, rules: &Rules, asked: &Asked<'_>, together: bool) -> Judged {
    let old = asked.old.map(|object| Subject::read(snapshot, asked, object));
    let new = asked.new.map(|object| Subject::read(snapshot, asked, object));
    let excess = |subject: Option<&Subject>| subject?.loaded.inventory.envoy_filters.iter().find_map(limits::excess);
    let old_excess = excess(old.as_ref());
    if let Some(excess) = excess(new.as_ref()) {
        return Judged { remarks: vec![over_budget(rules, excess)], left_out: 0 };
    }
    // A stored filter that is too large to judge is ignored.
    let old = old.filter(|_| old_excess.is_none());
    // Searched here, as for stored filters before any review: what an answer costs must not depend on who asked first.
    let unstored = old.iter().chain(&new).filter(|subject| subject.stored.is_none());
    unstored.flat_map(|subject| &subject.loaded.inventory.envoy_filters).for_each(|filter| {
        filter.secrets();
    });
    let subjects: Vec<&EnvoyFilter> =
        old.iter().chain(&new).flat_map(|subject| &subject.loaded.inventory.envoy_filters).collect();
    let all = beside(snapshot, asked, &subjects);
    let (beside, left_out) = if together { fitting(all) } else { (Vec::new(), all.len()) };
    let near = near(snapshot, asked, &subjects);
    // Without other filters, nothing is left to judge when one is deleted.
    if new.is_none() && beside.is_empty() {
        return Judged { remarks: Vec::new(), left_out };
    }
    // Rules about one filter look only at the filter under review: the change does not affect what they find in others.
    let (alone, among) = parts(rules, &beside);
    let state = |subject: Option<&Subject>, alone: &[&'static Rule], among: &[&'static Rule]| {
        let mut found: Vec<Found> = Vec::new();
        if subject.is_some() && !alone.is_empty() {
            found.extend(known(snapshot, rules, (Part::Alone, alone), &near, &[], subject).iter().cloned());
        }
        if !among.is_empty() {
            let part = if beside.is_empty() { Part::All } else { Part::Among };
            found.extend(known(snapshot, rules, (part, among), &near, &beside, subject).iter().cloned());
        }
        found.sort_by_key(Found::place);
        found
    };
    let place = new.as_ref().or(old.as_ref()).map(|subject| subject.file);
    let is_own = |found: &Found| place == Some(found.place().0);
    // Each part has dropped what its own findings explain.
    let mut after = state(new.as_ref(), &alone, &among);
    let causes = Causes::of(after.iter().filter(|found| is_own(found) && found.everywhere).map(|found| &found.claim));
    after.retain(|found| !found.hidden && (!is_own(found) || !causes.explain(&found.claim)));
    let (own, others): (Vec<Found>, Vec<Found>) = after.into_iter().partition(|found| new.is_some() && is_own(found));
    // Findings that disappear do not count, so only rules with findings now run on the state before.
    let asked_again = |rules: &[&'static Rule]| -> Vec<&'static Rule> {
        let mut found = others.iter().chain(own.iter().filter(|_| old.is_some()));
        let any = found.any(|found| rules.iter().any(|rule| rule.info == *found.claim.rule));
        if any { rules.to_vec() } else { Vec::new() }
    };
    let before = state(old.as_ref(), &asked_again(&alone), &asked_again(&among));
    let mut counts: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    for found in before.iter().filter(|found| !found.hidden) {
        *counts.entry(key(found, old.is_some() && is_own(found))).or_default() += 1;
    }
    let stood: BTreeMap<Key<'_>, Cell<usize>> =
        counts.into_iter().map(|(key, times)| (key, Cell::new(times))).collect();
    let stands = |found: &Found, own: bool| {
        let left = stood.get(&key(found, own)).and_then(|times| Some((times, times.get().checked_sub(1)?)));
        left.map(|(times, left)| times.set(left)).is_some()
    };
    let mut remarks: Vec<Remark> = own
        .iter()
        .map(|found| {
            let (stood, may_come) = (stands(found, true), later::may_come(found.claim.rule, &rules.config));
            Remark { stood, may_come, ..found.remark.clone() }
        })
        .collect();
    let reported = others.iter().filter(|found| !stands(found, false));
    remarks.extend(reported.map(|found| Remark { other: Some(found.claim.filter.clone()), ..found.remark.clone() }));
    let mild = |remark: &Remark| remark.stood || remark.may_come;
    remarks.sort_by_key(|remark| (std::cmp::Reverse(remark.severity), mild(remark), remark.other.is_some()));
    Judged { remarks, left_out }
}

/// Themes whose rules look at one filter, regardless of others (checked by `tests/it/webhook/parity.rs`).
const ALONE: [&str; 4] = ["document", "value against the Envoy API", "scope and safety", "linter"];

/// The rules that look only at the filter under review, and those that look at it among others. Without others, all rules run
/// together.
fn parts(rules: &Rules, beside: &[Arc<StoredFilter>]) -> (Vec<&'static Rule>, Vec<&'static Rule>) {
    if beside.is_empty() {
        return (Vec::new(), rules.rules.clone());
    }
    rules.rules.iter().copied().partition(|rule| ALONE.contains(&rule.theme()))
}

/// The filters that fit together into one review, dropping the largest if necessary, and the number of dropped ones.
fn fitting(mut beside: Vec<Arc<StoredFilter>>) -> (Vec<Arc<StoredFilter>>, usize) {
    let all = beside.len();
    beside.retain(|known| known.excess.is_none());
    let sum = |size: fn(&StoredFilter) -> usize, beside: &[Arc<StoredFilter>]| {
        beside.iter().map(|known| size(known)).sum::<usize>()
    };
    let (mut values, mut patches) = (sum(|it| it.values, &beside), sum(StoredFilter::patches, &beside));
    while values > BESIDE_VALUES || patches > BESIDE_PATCHES {
        let by_values = values > BESIDE_VALUES;
        let size = |known: &StoredFilter| if by_values { known.values } else { known.patches() };
        let Some((at, _)) = beside.iter().enumerate().max_by_key(|(_, known)| size(known)) else { break };
        let gone = beside.remove(at);
        values -= gone.values;
        patches -= gone.patches();
    }
    let left_out = all - beside.len();
    (beside, left_out)
}

/// Identifies a finding across two states: whether it is about the changed filter, code, severity, filter, message. Places move
/// when lines are inserted above them.
type Key<'f> = (bool, &'static str, Severity, Option<&'f str>, &'f str);

fn key(found: &Found, own: bool) -> Key<'_> {
    let remark = &found.remark;
    (own, remark.code, remark.severity, (!own).then_some(found.claim.filter.as_str()), &remark.message)
}

/// A state of the changed filter.
struct Subject {
    loaded: Loaded,
    /// The place of its text: that of the stored one, so that filters keep their order before and after the change.
    file: FileId,
    /// The stored filter, if they are equal.
    stored: Option<Arc<StoredFilter>>,
    /// Its number, by its content.
    number: u128,
}

impl Subject {
    /// Reads a state the way a command reads it from a cluster.
    fn read(snapshot: &Snapshot, asked: &Asked<'_>, object: &Value) -> Subject {
        let mut object = object.clone();
        objects::keep(&mut object, objects::Reader::Questions);
        let text = text_of(&object);
        let known = snapshot.filters.get(&(asked.namespace.to_owned(), asked.name.to_owned()));
        let file = known.map_or_else(|| snapshot.texts.next(), |known| known.file);
        let stored = known.filter(|known| known.excess.is_none() && snapshot.texts.get(known.file).text == text);
        let number = number_of(asked.namespace, asked.name, file, &text);
        let mut loaded = Loaded::over(Arc::clone(&snapshot.texts), file);
        let source = source_name("admission", kinds::ENVOY_FILTER.kind, asked.namespace, asked.name);
        loaded.add_text(&source, text, &Options { namespace: asked.namespace.to_owned(), ..Options::default() });
        Subject { loaded, file, stored: stored.cloned(), number }
    }
}

/// The workloads that findings about the filter can mention: those of its namespace, if it reaches no others and its selector
/// matches some; otherwise all, because findings name workloads elsewhere with the labels. A mesh may have tens of thousands.
fn near(snapshot: &Snapshot, asked: &Asked<'_>, subjects: &[&EnvoyFilter]) -> Near {
    let all = || Near { workloads: Arc::clone(&snapshot.objects.workloads), of: None };
    if snapshot.planes.iter().any(|plane| plane.mesh.root_namespace == asked.namespace) {
        return all();
    }
    let mut own = snapshot.workloads_of(asked.namespace);
    let fits = |filter: &&EnvoyFilter| {
        let labels = filter.selector.iter().flatten();
        let wanted: Vec<_> = labels.collect();
        wanted.is_empty()
            || own.iter().any(|workload| wanted.iter().all(|(key, want)| workload.labels.get(*key) == Some(*want)))
    };
    if !subjects.iter().all(fits) {
        return all();
    }
    if own.is_empty() {
        // It is known that the namespace has none: an empty list would mean that the workloads of the mesh are unknown.
        own.extend(snapshot.objects.workloads.first().cloned());
    }
    Near { workloads: Arc::new(own), of: Some(asked.namespace.to_owned()) }
}

/// Workloads that findings can mention.
struct Near {
    workloads: Shared<Workload>,
    /// Their namespace; `None`: all.
    of: Option<String>,
}

/// The filters that may match the same proxies, and copies that may have drifted apart, in the order of their texts.
fn beside(snapshot: &Snapshot, asked: &Asked<'_>, subjects: &[&EnvoyFilter]) -> Vec<Arc<StoredFilter>> {
    let roots = roots(snapshot);
    let is_root = |namespace: &str| roots.contains(namespace);
    let mut copies = 0;
    let mut found: Vec<Arc<StoredFilter>> = Vec::new();
    let mut near: BTreeSet<&str> = roots.clone();
    near.insert(asked.namespace);
    let all = is_root(asked.namespace).then(|| snapshot.filters.iter()).into_iter().flatten();
    let some = near.iter().filter(|_| !is_root(asked.namespace)).flat_map(|namespace| snapshot.filters_of(namespace));
    for (name, known) in all.chain(some) {
        if name.0 == asked.namespace && name.1 == asked.name {
            continue;
        }
        let Some(filter) = &known.filter else { continue };
        budget::charge(4);
        if subjects.iter().any(|subject| compatible(subject, filter)) {
            found.push(Arc::clone(known));
        } else if copies < COPIES && subjects.iter().any(|subject| copied(subject, filter)) {
            copies += 1;
            found.push(Arc::clone(known));
        }
    }
    found.sort_by_key(|known| known.file);
    found
}

/// The root namespaces of the control planes.
fn roots(snapshot: &Snapshot) -> BTreeSet<&str> {
    snapshot.planes.iter().map(|plane| plane.mesh.root_namespace.as_str()).collect()
}

/// Whether one workload can match both selectors.
fn compatible(one: &EnvoyFilter, other: &EnvoyFilter) -> bool {
    let (Some(one), Some(other)) = (&one.selector, &other.selector) else { return true };
    let clash = |(key, value): (&String, &String)| {
        key != GATEWAY_NAME_LABEL && other.get(key).is_some_and(|other| other != value)
    };
    !one.iter().any(clash)
}

/// Whether both have a patch for the same place and name that is large enough to compare.
fn copied(one: &EnvoyFilter, other: &EnvoyFilter) -> bool {
    let body = |patch: &Patch| patch.body.as_ref().map(|body| body.operation);
    one.patches.iter().any(|patch| {
        let Some(own) = value(patch).filter(|value| leaves(value) >= ENOUGH) else { return false };
        other.patches.iter().any(|it| {
            it.apply_to == patch.apply_to
                && it.context == patch.context
                && it.object == patch.object
                && body(it) == body(patch)
                && value(it).is_some_and(|value| name(value) == name(own))
        })
    })
}

fn value(patch: &Patch) -> Option<&Node> {
    patch.body.as_ref()?.value.as_ref()
}

fn name(value: &Node) -> &str {
    value.get("name").and_then(Node::as_str).unwrap_or_default()
}

/// Number of leaf values.
fn leaves(value: &Node) -> usize {
    budget::charge(1);
    let inside: usize = value.entries().iter().map(|entry| leaves(&entry.value)).sum::<usize>()
        + value.items().iter().map(leaves).sum::<usize>();
    inside.max(1)
}

/// What rules find in a state of the changed filter among others, cached while nothing of that changes.
fn known(
    snapshot: &Snapshot,
    rules: &Rules,
    (part, of_part): (Part, &[&'static Rule]),
    near: &Near,
    beside: &[Arc<StoredFilter>],
    subject: Option<&Subject>,
) -> Arc<[Found]> {
    let mut stored = beside.to_vec();
    let mut new = None;
    match subject {
        Some(Subject { stored: Some(known), .. }) => {
            let at = stored.partition_point(|one| one.file < known.file);
            stored.insert(at, Arc::clone(known));
        }
        other => new = other,
    }
    let mut filters: Vec<u128> = stored.iter().map(|known| known.number).collect();
    if let Some(new) = new {
        filters.insert(stored.partition_point(|known| known.file < new.file), new.number);
    }
    let question = Question { mesh: snapshot.serial, workloads_of: near.of.clone(), part, filters };
    rules.standing.answer(question, || run(snapshot, of_part, &rules.config, &near.workloads, &stored, new))
}

/// Lints stored filters, and an unstored one, for each control plane.
fn run(
    snapshot: &Snapshot,
    rules: &[&'static Rule],
    config: &Config,
    near: &Shared<Workload>,
    stored: &[Arc<StoredFilter>],
    new: Option<&Subject>,
) -> Vec<Found> {
    let mut inventory = Inventory { workloads: Arc::clone(near), ..snapshot.objects.clone() };
    let mut problems: Vec<Problem> = Vec::new();
    // In the order of the texts.
    let at = new.map_or(stored.len(), |new| stored.partition_point(|known| known.file < new.file));
    let (first, last) = stored.split_at(at);
    let add_stored = |inventory: &mut Inventory, problems: &mut Vec<Problem>, part: &[Arc<StoredFilter>]| {
        for known in part {
            inventory.envoy_filters.extend(known.filter.clone());
            inventory.refused_filters.extend(known.refused.iter().cloned());
            problems.extend(known.problems.iter().cloned());
        }
    };
    add_stored(&mut inventory, &mut problems, first);
    if let Some(Subject { loaded, .. }) = new {
        inventory.envoy_filters.extend(loaded.inventory.envoy_filters.iter().cloned());
        inventory.refused_filters.extend(loaded.inventory.refused_filters.iter().cloned());
        problems.extend(loaded.problems.iter().cloned());
    }
    add_stored(&mut inventory, &mut problems, last);
    let above = Sources::above(Arc::clone(&snapshot.texts));
    let sources = new.map_or(&above, |new| &new.loaded.sources);
    // Reported ones, and those that are suppressed or ignored.
    let mut all: [Vec<(Release, Vec<Finding>)>; 2] = Default::default();
    let planes = snapshot.planes.iter().zip(snapshot.references.iter()).enumerate();
    for (number, (Plane { release, mesh, .. }, references)) in planes {
        let input = Input {
            sources,
            inventory: &snapshot.homes.judged_by(&snapshot.planes, number, &inventory),
            problems: &problems,
            dumps: &[],
            references,
            release: *release,
            mesh,
        };
        let checked = lint::check(&input, rules, config, str::to_owned);
        all[0].push((*release, checked.findings));
        all[1].push((*release, checked.hidden));
    }
    // A rejected filter is not kept, but its fields still have paths.
    let mut refused: HashMap<FileId, Option<Node>> = HashMap::new();
    let mut place = |finding: &Finding| {
        let span = finding.primary.span;
        let document = inventory.envoy_filters.iter().map(|filter| &filter.document);
        let document = document.into_iter().find(|document| document.span.file == span.file);
        let path = |document: &Node| field_path(&document.route_to(span));
        if let Some(document) = document {
            return path(document);
        }
        let read = || yaml::documents(span.file, &sources.get(span.file).text).0.into_iter().next();
        refused.entry(span.file).or_insert_with(read).as_ref().map(path).unwrap_or_default()
    };
    let mut found = Vec::new();
    for (of_planes, hidden) in all.into_iter().zip([false, true]) {
        let (findings, partial) = lint::united(of_planes);
        for finding in findings {
            found.push(Found {
                claim: Claim::of(&finding),
                everywhere: partial.is_empty() || !partial.contains(&lint::same(&finding)),
                hidden,
                remark: Remark {
                    code: finding.rule.code,
                    severity: finding.severity,
                    other: None,
                    path: place(&finding),
                    message: finding.message,
                    help: finding.help,
                    stood: false,
                    may_come: false,
                },
            });
        }
    }
    found
}
