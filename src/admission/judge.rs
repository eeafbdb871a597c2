//! A change to one filter, judged by the pipeline of `lint`: what is said of the filter, and what is new about others.

use super::later;
use super::planes::Plane;
use super::world::{Known, World};
use crate::cluster::kinds;
use crate::cluster::objects;
use crate::cluster::read::source_name;
use crate::lint::config::Config;
use crate::lint::{self, Finding, Input, Rule};
use crate::load::{Loaded, Options, yaml, yaml_text};
use crate::model::envoy_filter::{EnvoyFilter, Patch};
use crate::model::inventory::{Inventory, Shared, Workload};
use crate::model::proxy::GATEWAY_NAME_LABEL;
use crate::model::release::Release;
use crate::source::{Node, Problem, Severity, field_path};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is asked of a filter.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The rules, those of the user included.
    pub rules: Vec<&'static Rule>,
    /// The configuration.
    pub config: Config,
}

/// A change that is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'q> {
    /// Namespace of the filter.
    pub namespace: &'q str,
    /// Its name.
    pub name: &'q str,
    /// The object as it is stored; `None` when it is created.
    pub old: Option<&'q Value>,
    /// The object as it is to be stored; `None` when it is deleted.
    pub new: Option<&'q Value>,
}

/// A finding, as far as it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Code of the rule.
    pub code: &'static str,
    /// How bad.
    pub severity: Severity,
    /// `namespace/name` of another filter that it is about; `None`: the filter that is asked about.
    pub other: Option<String>,
    /// Path of the field.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// Whether the stored filter has it already.
    pub stood: bool,
    /// Whether an object that is applied later may take it away ([`later`]).
    pub may_come: bool,
}

/// Values in a patch from which on it is compared with its copies (EF407).
const ENOUGH: usize = 8;
/// Copies of a patch that are compared with it, beside filters that meet its proxies.
const COPIES: usize = 16;

/// Judges a change. Remarks come with the worst first, then in the order of places.
pub fn judge(world: &World, rules: &Rules, asked: &Asked<'_>) -> Vec<Remark> {
    let old = asked.old.map(|object| read(world, asked, object));
    let new = asked.new.map(|object| read(world, asked, object));
    let subjects: Vec<&EnvoyFilter> =
        old.iter().chain(&new).flat_map(|loaded| &loaded.inventory.envoy_filters).collect();
    let beside = beside(world, asked, &subjects);
    let near = near(world, asked, &subjects);
    // Without anybody beside it, nothing is left to judge when a filter goes.
    if new.is_none() && beside.is_empty() {
        return Vec::new();
    }
    let after = run(world, rules, &near, &beside, new.as_ref());
    let (own, others): (Vec<Found>, Vec<Found>) = after.into_iter().partition(|found| found.own);
    let before = if others.is_empty() && (own.is_empty() || old.is_none()) {
        Vec::new()
    } else {
        run(world, rules, &near, &beside, old.as_ref())
    };
    let mut stood: BTreeMap<Key, usize> = BTreeMap::new();
    for found in &before {
        *stood.entry(found.key()).or_default() += 1;
    }
    let mut stands = |found: &Found| match stood.get_mut(&found.key()) {
        Some(times) if *times > 0 => {
            *times -= 1;
            true
        }
        _ => false,
    };
    let mut remarks: Vec<Remark> = own
        .iter()
        .map(|found| {
            let (stood, may_come) = (stands(found), later::may_come(found.finding.rule, &rules.config));
            Remark { stood, may_come, ..found.remark() }
        })
        .collect();
    remarks.extend(others.iter().filter(|found| !stands(found)).map(Found::remark));
    let mild = |remark: &Remark| remark.stood || remark.may_come;
    remarks.sort_by_key(|remark| (std::cmp::Reverse(remark.severity), mild(remark), remark.other.is_some()));
    remarks
}

/// What makes a finding the same one: whether it is about the filter that is asked about, code, severity, filter, message.
type Key = (bool, &'static str, Severity, String, String);

/// A finding with what it has to do with the filter that is asked about.
struct Found {
    finding: Finding,
    own: bool,
    path: String,
}

impl Found {
    /// What makes it the same finding in another state: places move when something is inserted above them.
    fn key(&self) -> Key {
        let filter = if self.own { String::new() } else { self.finding.filter.clone() };
        (self.own, self.finding.rule.code, self.finding.severity, filter, self.finding.message.clone())
    }

    fn remark(&self) -> Remark {
        let finding = &self.finding;
        Remark {
            code: finding.rule.code,
            severity: finding.severity,
            other: (!self.own).then(|| finding.filter.clone()),
            path: self.path.clone(),
            message: finding.message.clone(),
            help: finding.help.clone(),
            stood: false,
            may_come: false,
        }
    }
}

/// Reads a state of the filter that is asked about, as a command reads it from a cluster.
fn read(world: &World, asked: &Asked<'_>, object: &Value) -> Loaded {
    let mut object = object.clone();
    objects::keep(&mut object);
    let text = yaml_text::write(&object).unwrap_or_else(|_| object.to_string());
    let mut loaded = Loaded::above(Arc::clone(&world.texts));
    let source = source_name("admission", kinds::ENVOY_FILTER.kind, asked.namespace, asked.name);
    loaded.add_text(&source, text, &Options { namespace: asked.namespace.to_owned(), ..Options::default() });
    loaded
}

/// The workloads that anything said of the filter can be about: those of its namespace, where they are all it reaches and some
/// fit its selector; else all, since where labels are those of others is told. A mesh may have tens of thousands.
fn near(world: &World, asked: &Asked<'_>, subjects: &[&EnvoyFilter]) -> Shared<Workload> {
    let all = || Arc::clone(&world.objects.workloads);
    if world.planes.iter().any(|plane| plane.mesh.root_namespace == asked.namespace) {
        return all();
    }
    let own = world.workloads_of(asked.namespace);
    let fits = |filter: &&EnvoyFilter| {
        let labels = filter.selector.iter().flatten();
        let wanted: Vec<_> = labels.collect();
        wanted.is_empty()
            || own.iter().any(|workload| wanted.iter().all(|(key, want)| workload.labels.get(*key) == Some(*want)))
    };
    if subjects.iter().all(fits) { Arc::new(own) } else { all() }
}

/// The filters of the cluster that may meet the same proxies, and copies that may have drifted apart; in the order of
/// their texts.
fn beside(world: &World, asked: &Asked<'_>, subjects: &[&EnvoyFilter]) -> Vec<Arc<Known>> {
    let roots: BTreeSet<&str> = world.planes.iter().map(|plane| plane.mesh.root_namespace.as_str()).collect();
    let is_root = |namespace: &str| roots.contains(namespace);
    let mut copies = 0;
    let mut found: Vec<Arc<Known>> = Vec::new();
    let mut near: BTreeSet<&str> = roots.clone();
    near.insert(asked.namespace);
    let all = is_root(asked.namespace).then(|| world.filters.iter()).into_iter().flatten();
    let some = near.iter().filter(|_| !is_root(asked.namespace)).flat_map(|namespace| world.filters_of(namespace));
    for (name, known) in all.chain(some) {
        if name.0 == asked.namespace && name.1 == asked.name {
            continue;
        }
        let Some(filter) = &known.filter else { continue };
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

/// Whether a workload can have the labels that both ask for.
fn compatible(one: &EnvoyFilter, other: &EnvoyFilter) -> bool {
    let (Some(one), Some(other)) = (&one.selector, &other.selector) else { return true };
    let clash = |(key, value): (&String, &String)| {
        key != GATEWAY_NAME_LABEL && other.get(key).is_some_and(|other| other != value)
    };
    !one.iter().any(clash)
}

/// Whether a patch of one stands in the other at the same place, under the same name, and says enough to be compared.
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

/// How many values there are in a value that hold no others.
fn leaves(value: &Node) -> usize {
    let inside: usize = value.entries().iter().map(|entry| leaves(&entry.value)).sum::<usize>()
        + value.items().iter().map(leaves).sum::<usize>();
    inside.max(1)
}

/// Lints the filters beside and the one that is asked about, for each control plane.
fn run(
    world: &World,
    rules: &Rules,
    near: &Shared<Workload>,
    beside: &[Arc<Known>],
    subject: Option<&Loaded>,
) -> Vec<Found> {
    let above = Loaded::above(Arc::clone(&world.texts));
    let file = above.sources.next();
    let sources = subject.map_or(&above.sources, |subject| &subject.sources);
    let mut inventory = Inventory { workloads: Arc::clone(near), ..world.objects.clone() };
    let mut problems: Vec<Problem> = Vec::new();
    for known in beside {
        inventory.envoy_filters.extend(known.filter.clone());
        inventory.refused_filters.extend(known.refused.iter().cloned());
        problems.extend(known.problems.iter().cloned());
    }
    let mut document = None;
    let mut refused = None;
    if let Some(subject) = subject {
        inventory.envoy_filters.extend(subject.inventory.envoy_filters.iter().cloned());
        inventory.refused_filters.extend(subject.inventory.refused_filters.iter().cloned());
        problems.extend(subject.problems.iter().cloned());
        document = subject.inventory.envoy_filters.first().map(|filter| &filter.document);
        if document.is_none() {
            // What is refused is not kept, and its fields have paths all the same.
            refused = yaml::documents(file, &sources.get(file).text).0.into_iter().next();
        }
    }
    let document = document.or(refused.as_ref());
    let mut all: Vec<(Release, Vec<Finding>)> = Vec::new();
    for (Plane { release, mesh, .. }, references) in world.planes.iter().zip(world.references.iter()) {
        let input = Input {
            sources,
            inventory: &inventory,
            problems: &problems,
            dumps: &[],
            references,
            release: *release,
            mesh,
        };
        all.push((*release, lint::check(&input, &rules.rules, &rules.config, str::to_owned, |_| ()).findings));
    }
    let place = |finding: &Finding| {
        let span = finding.primary.span;
        let other = || {
            let filters = inventory.envoy_filters.iter();
            filters.map(|filter| &filter.document).find(|document| document.span.file == span.file)
        };
        let document: Option<&Node> = document.filter(|document| document.span.file == span.file).or_else(other);
        document.map(|document| field_path(&document.route_to(span))).unwrap_or_default()
    };
    let found = lint::merged(all).into_iter().map(|finding| Found {
        own: subject.is_some() && finding.primary.span.file >= file,
        path: place(&finding),
        finding,
    });
    found.collect()
}
