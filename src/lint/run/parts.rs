//! Judges many EnvoyFilters part by part: the engine's state is freed before the next part begins.
//!
//! Without config dumps, every filter is tried on workloads that have exactly the labels it selects. Filters that
//! select different labels never meet there, so each group of filters that share labels is judged by itself, together
//! with the filters that reach every workload of its namespace.

use crate::engine::compat::{Behaviour, Compat};
use crate::lint::check::Rule;
use crate::lint::facts::context::Context;
use crate::lint::finding::{Finding, Findings};
use crate::lint::run::{Input, inspect};
use crate::model::envoy_filter::{Documents, EnvoyFilter};
use crate::model::inventory::Inventory;
use crate::source::{Problem, Span};
use std::collections::{BTreeSet, HashMap};

/// How many filters are judged at once. More take more memory; fewer repeat the work that is done once per part.
const AT_ONCE: usize = 1_000;

/// Filters that are judged together.
struct Part {
    /// Those whose findings count, by index.
    own: Vec<usize>,
    /// Other filters that reach the same workloads.
    company: Vec<usize>,
}

/// The findings of rules, part by part, and what `look` finds in them, in the order of its places; `None` if one part is no more
/// work than many.
pub(super) fn inspect_parts<T>(
    input: &Input<'_>,
    rules: &[&'static Rule],
    look: impl Fn(&Context<'_>) -> Vec<T>,
    place: fn(&T) -> Span,
) -> Option<(Vec<Finding>, Vec<T>)> {
    let filters = &input.inventory.envoy_filters;
    if !input.dumps.is_empty() || filters.len() <= AT_ONCE {
        return None;
    }
    let parts = parts(input)?;
    let mut of_part = vec![0; filters.len()];
    for (number, part) in parts.iter().enumerate() {
        part.own.iter().for_each(|&index| of_part[index] = number);
    }
    let documents = Documents::of(filters);
    let mut problems: Vec<Vec<Problem>> = vec![Vec::new(); parts.len()];
    for problem in input.problems {
        // A problem outside any filter is reported once.
        let owner = problem.span.and_then(|span| documents.at(span));
        if let Some(of_part) = problems.get_mut(owner.map_or(0, |owner| of_part[owner])) {
            of_part.push(problem.clone());
        }
    }
    let (mut found, mut seen) = (Findings::default(), Vec::new());
    for (number, (part, problems)) in parts.iter().zip(&problems).enumerate() {
        let indices: BTreeSet<usize> = part.own.iter().chain(&part.company).copied().collect();
        let inventory = Inventory {
            envoy_filters: indices.iter().filter_map(|&index| filters.get(index)).cloned().collect(),
            ..input.inventory.without_filters()
        };
        let of = Input { inventory: &inventory, problems, ..*input };
        let counts = |span: Span| documents.at(span).map_or(number == 0, |owner| of_part[owner] == number);
        let (of_rules, of_look) = inspect(&of, rules, &look);
        found.extend(of_rules.into_iter().filter(|finding| counts(finding.primary.span)));
        seen.extend(of_look.into_iter().filter(|one| counts(place(one))));
    }
    seen.sort_by_key(place);
    Some((found.sorted(), seen))
}

/// What filters that may reach the same workload have in common: a namespace and a label, or a gateway; a name.
#[derive(PartialEq, Eq, Hash)]
enum Common<'a> {
    Label(&'a str, &'a str, &'a str),
    Gateway(&'a str, &'a str),
    Name(&'a str, &'a str),
}

/// The properties that a filter selects by; none if it reaches every workload of its namespace.
fn selected_by(filter: &EnvoyFilter, target_refs: bool) -> Vec<Common<'_>> {
    let namespace = filter.namespace.as_str();
    if target_refs && !filter.target_refs.is_empty() {
        return filter.target_refs.iter().map(|target| Common::Gateway(namespace, &target.name)).collect();
    }
    filter.selector.iter().flatten().map(|(key, value)| Common::Label(namespace, key, value)).collect()
}

/// The parts; `None` if too many filters reach every workload.
fn parts(input: &Input<'_>) -> Option<Vec<Part>> {
    let filters = &input.inventory.envoy_filters;
    let root = input.mesh.root_namespace.as_str();
    let target_refs = Compat { release: input.release }.has(Behaviour::TargetRefs);
    let mut groups = Groups { parent: (0..filters.len()).collect() };
    let mut first: HashMap<Common<'_>, usize> = HashMap::new();
    // By namespace; filters in the root namespace reach the workloads of all.
    let mut broad: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, filter) in filters.iter().enumerate() {
        let common = selected_by(filter, target_refs);
        // Selectors in the root namespace may select the same workloads as those in any other.
        if common.is_empty() || filter.namespace == root {
            broad.entry(filter.namespace.as_str()).or_default().push(index);
        }
        for common in common.into_iter().chain([Common::Name(&filter.namespace, &filter.name)]) {
            let with = *first.entry(common).or_insert(index);
            groups.join(with, index);
        }
    }
    if broad.values().map(Vec::len).sum::<usize>() > AT_ONCE {
        return None;
    }
    let mut members: Vec<Vec<usize>> = Vec::new();
    let mut number: HashMap<usize, usize> = HashMap::new();
    for index in 0..filters.len() {
        let at = *number.entry(groups.of(index)).or_insert(members.len());
        if at == members.len() {
            members.push(Vec::new());
        }
        members[at].push(index);
    }
    let mut parts: Vec<Part> = Vec::new();
    for group in members {
        match parts.last_mut() {
            Some(part) if part.own.len() + group.len() <= AT_ONCE => part.own.extend(group),
            _ => parts.push(Part { own: group, company: Vec::new() }),
        }
    }
    for part in &mut parts {
        let mut namespaces: BTreeSet<&str> = part.own.iter().map(|&index| filters[index].namespace.as_str()).collect();
        namespaces.insert(root);
        part.company = namespaces.into_iter().filter_map(|namespace| broad.get(namespace)).flatten().copied().collect();
    }
    Some(parts)
}

/// Disjoint sets of numbers.
struct Groups {
    parent: Vec<usize>,
}

impl Groups {
    fn of(&mut self, mut index: usize) -> usize {
        while self.parent[index] != index {
            self.parent[index] = self.parent[self.parent[index]];
            index = self.parent[index];
        }
        index
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        // The smaller number represents both, so that groups follow the order of the texts.
        self.parent[one.max(other)] = one.min(other);
    }
}
