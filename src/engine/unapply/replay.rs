//! Compares the replay with the dump.

use super::Texts;
use crate::engine::{Patched, Plan, open};
use crate::model::resource::{ProxyConfig, ResourceKind};
use crate::proto::decode;
use crate::proto::json;
use crate::proto::packed::Kept;
use crate::proto::tree::{TYPE_KEY, Tree, Value};
use std::collections::HashMap;

/// A difference between the replay and the dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Kind of the resource.
    pub kind: ResourceKind,
    /// Its name.
    pub resource: String,
    /// The first differing place inside it, as `filter_chains[2].filters[0]`; empty when the whole resource is on one side
    /// only.
    pub path: String,
    /// Index into the dump's resources; `None` for one that only the replay has.
    pub index: Option<usize>,
}

/// Compares the result of a plan on the reconstruction with the dump.
pub(super) fn differences(
    config: &ProxyConfig<'_>,
    texts: &Texts,
    patched: &Patched<'_>,
    plan: &Plan<'_>,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut tell = |kind, resource: &str, path: String, index| {
        differences.push(Difference { kind, resource: resource.to_owned(), path, index });
    };
    let by_source: HashMap<usize, Option<&Kept<'_>>> =
        patched.resources.iter().filter_map(|one| Some((one.source?, one.tree.as_ref()))).collect();
    let mut added: Vec<(ResourceKind, &str, &Tree<'_>)> = patched
        .resources
        .iter()
        .filter(|one| one.source.is_none())
        .filter_map(|one| Some((one.kind, one.name.as_str(), one.tree.as_deref()?)))
        .collect();
    // The replay leaves static and draining resources as they are.
    let mut source = 0;
    for (index, resource) in config.resources.iter().enumerate() {
        let text = texts.get(&index);
        let at = source;
        source += usize::from(text != Some(&None));
        let dump = || open(config, index, plan);
        let parted = match (text, by_source.get(&at)) {
            (Some(None), _) => {
                let same = |(_, tree): &(usize, &Tree<'_>)| {
                    dump().is_some_and(|dump| part(&dump, tree, resource.kind, plan).is_none())
                };
                let candidates = added
                    .iter()
                    .enumerate()
                    .filter(|(_, (kind, name, _))| *kind == resource.kind && *name == resource.name);
                let found = candidates.map(|(at, (.., tree))| (at, *tree)).find(same).map(|(at, _)| at);
                match found {
                    Some(at) => {
                        added.remove(at);
                        None
                    }
                    None if patched.unknown_routes.iter().any(|name| *name == resource.name) => None,
                    None => Some(String::new()),
                }
            }
            (_, Some(None)) => Some(String::new()),
            (_, Some(Some(tree))) => dump().and_then(|dump| part(&dump, &tree.once(), resource.kind, plan)),
            (Some(Some(text)), None) => {
                let tree = json::parse(text).ok();
                dump().zip(tree).and_then(|(dump, tree)| part(&dump, &tree, resource.kind, plan))
            }
            (None, None) => None,
        };
        if let Some(path) = parted {
            tell(resource.kind, &resource.name, path, Some(index));
        }
    }
    for (kind, name, _) in added {
        tell(kind, name, String::new(), None);
    }
    differences
}

/// The first place where two resources differ; `None` when they mean the same.
fn part(dump: &Tree<'_>, replay: &Tree<'_>, kind: ResourceKind, plan: &Plan<'_>) -> Option<String> {
    let (dump, replay) = (plain(dump), plain(replay));
    let path = first_difference(&dump, &replay, String::new())?;
    // Envoy writes some values differently from istiod's JSON: decoded as messages they may be equal.
    let Some(message) = plan.schema.message(kind.type_name()) else { return Some(path) };
    let read = |tree| {
        let mut tree = decode::decode(plan.schema, message, tree).tree;
        tree.open_all();
        tree
    };
    first_difference(&read(dump), &read(replay), String::new())
}

/// Whether two versions of a resource mean the same at a place, which `at` finds.
pub(crate) fn agree<'a>(
    (left, right): (&Tree<'a>, &Tree<'a>),
    kind: ResourceKind,
    plan: &Plan<'_>,
    at: impl for<'t> Fn(&'t Tree<'a>) -> Option<&'t Tree<'a>>,
) -> bool {
    let same = |left: &Tree<'a>, right: &Tree<'a>| match (at(left), at(right)) {
        (Some(left), Some(right)) => first_difference(left, right, String::new()).is_none(),
        (left, right) => left.is_none() && right.is_none(),
    };
    let (left, right) = (plain(left), plain(right));
    if same(&left, &right) {
        return true;
    }
    // Envoy writes some values differently from istiod's JSON.
    let Some(message) = plan.schema.message(kind.type_name()) else { return false };
    let read = |tree: &Tree<'a>| {
        let mut tree = decode::decode(plan.schema, message, tree.clone()).tree;
        tree.open_all();
        tree
    };
    same(&read(&left), &read(&right))
}

fn plain<'a>(tree: &Tree<'a>) -> Tree<'a> {
    let mut tree = tree.clone();
    tree.remove(TYPE_KEY);
    tree.open_all();
    tree
}

fn first_difference(left: &Tree<'_>, right: &Tree<'_>, path: String) -> Option<String> {
    let nothing = |tree: &Tree<'_>| matches!(&tree.value, Value::List(items) if items.is_empty());
    match (&left.value, &right.value) {
        (Value::Map(lefts), Value::Map(rights)) => {
            let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            for (key, one) in lefts {
                match right.get(key) {
                    Some(other) => {
                        if let Some(path) = first_difference(one, other, below(key)) {
                            return Some(path);
                        }
                    }
                    None if nothing(one) => {}
                    None => return Some(below(key)),
                }
            }
            rights.iter().find(|(key, value)| !nothing(value) && left.get(key).is_none()).map(|(key, _)| below(key))
        }
        (Value::List(lefts), Value::List(rights)) => {
            let paired = lefts.iter().zip(rights).enumerate();
            let inside =
                paired.into_iter().find_map(|(at, (one, other))| first_difference(one, other, format!("{path}[{at}]")));
            inside
                .or_else(|| (lefts.len() != rights.len()).then(|| format!("{path}[{}]", lefts.len().min(rights.len()))))
        }
        (Value::String(text), Value::String(_)) if matches!(text.as_ref(), "[redacted]" | "W3JlZGFjdGVkXQ==") => None,
        _ if left.same(right) => None,
        _ => Some(if path.is_empty() { "(root)".to_owned() } else { path }),
    }
}
