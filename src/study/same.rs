//! Whether two results of the engine are equivalent.

use crate::engine::{self, Patched, PatchedResource, Plan};
use crate::model::resource::{ProxyConfig, ResourceKind};
use crate::proto::json;
use crate::proto::tree::{TYPE_KEY, Tree};
use std::collections::BTreeSet;

/// Whether two results of runs on a proxy are equivalent.
pub(crate) fn same_results(config: &ProxyConfig<'_>, plan: &Plan<'_>, left: &Patched<'_>, right: &Patched<'_>) -> bool {
    let sources =
        |patched: &Patched<'_>| -> BTreeSet<usize> { patched.resources.iter().filter_map(|one| one.source).collect() };
    let touched: BTreeSet<usize> = sources(left).union(&sources(right)).copied().collect();
    let same = |kind: ResourceKind, one: Option<&Tree<'_>>, other: Option<&Tree<'_>>| match (one, other) {
        // The type is in a dump, but not in a patch's value.
        (Some(one), Some(other)) => one.same_but(other, TYPE_KEY) || same_in_another_order(kind, one, other),
        (one, other) => one.is_none() && other.is_none(),
    };
    let unchanged = |index: usize| {
        let untouched = || engine::look(config, index, plan);
        match (of(left, index), of(right, index)) {
            (Some(one), Some(other)) => same(one.kind, one.tree.as_deref(), other.tree.as_deref()),
            (Some(one), None) | (None, Some(one)) => same(one.kind, one.tree.as_deref(), untouched().as_deref()),
            (None, None) => true,
        }
    };
    let added = |patched: &Patched<'_>| -> Vec<(ResourceKind, String)> {
        let added = patched.resources.iter().filter(|one| one.source.is_none());
        let text = |tree: &Tree<'_>| {
            let mut tree = tree.clone();
            tree.remove(TYPE_KEY);
            json::canonical(&tree)
        };
        let mut texts: Vec<_> = added.filter_map(|one| Some((one.kind, text(one.tree.as_ref()?)))).collect();
        texts.sort();
        texts
    };
    added(left) == added(right) && touched.into_iter().all(unchanged)
}

/// The patched resource at an index; `None` if nothing touched it.
fn of<'p, 'a>(patched: &'p Patched<'a>, index: usize) -> Option<&'p PatchedResource<'a>> {
    patched.resources.iter().find(|one| one.source == Some(index))
}

/// Whether two resources differ only in the order of a list that Envoy reads in any order: it finds a virtual host by its domains
/// and a filter chain by its match, and accepts none twice.
fn same_in_another_order(kind: ResourceKind, one: &Tree<'_>, other: &Tree<'_>) -> bool {
    let list = match kind {
        ResourceKind::Route => "virtual_hosts",
        ResourceKind::Listener => "filter_chains",
        _ => return false,
    };
    let (one, other) = (one.readable(), other.readable());
    let items = |tree: &'_ Tree<'_>| tree.get(list).map_or(0, |items| items.items().len());
    if items(&one) != items(&other) {
        return false;
    }
    if !without(&one, list).same(&without(&other, list)) {
        return false;
    }
    let (ones, others) = (one.get(list).map(Tree::items), other.get(list).map(Tree::items));
    let pairs = ones.unwrap_or_default().iter().zip(others.unwrap_or_default());
    let moved: Vec<_> = pairs.filter(|(one, other)| !one.same(other)).collect();
    let mut meanings = [Vec::new(), Vec::new()];
    for (one, other) in moved {
        meanings[0].push(one.meaning());
        meanings[1].push(other.meaning());
    }
    meanings.iter_mut().for_each(|all| all.sort_unstable());
    meanings[0] == meanings[1]
}

/// A resource without a list and its type.
fn without<'a>(tree: &Tree<'a>, list: &str) -> Tree<'a> {
    let mut rest = tree.clone();
    rest.remove(TYPE_KEY);
    rest.remove(list);
    rest
}
