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
    // The type is in a dump, but not in a patch's value.
    let same = |one: Option<&Tree<'_>>, other: Option<&Tree<'_>>| match (one, other) {
        (Some(one), Some(other)) => one.same_but(other, TYPE_KEY),
        (one, other) => one.is_none() && other.is_none(),
    };
    let unchanged = |index: usize| {
        let untouched = || engine::look(config, index, plan);
        match (of(left, index), of(right, index)) {
            (Some(one), Some(other)) => same(one.tree.as_deref(), other.tree.as_deref()),
            (Some(one), None) | (None, Some(one)) => same(one.tree.as_deref(), untouched().as_deref()),
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
