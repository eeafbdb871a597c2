//! A hash of what all filters together change on a proxy: it shows when another patch hides a patch's change.

use super::forecast;
use crate::engine;
use crate::engine::trace::Effect;
use crate::lint::facts::context::ProxyRun;
use crate::proto::tree::{Tree, Value};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A number that is equal for equal changes of a proxy's configuration. `None` if no patch removes anything: then
/// nothing is hidden, and the comparison is not worth its cost.
pub(super) fn of(run: &ProxyRun<'_>) -> Option<u64> {
    let effects = || run.judged.trace.patches.iter().flat_map(|patch| &patch.effects).map(|(_, effect)| effect);
    if !effects().any(Effect::changes) {
        return Some(0);
    }
    if !effects().any(|effect| matches!(effect, Effect::Removed)) {
        return None;
    }
    let mut all = BTreeSet::new();
    for patched in &run.judged.patched.resources {
        let key = hash(&(patched.kind, forecast::newest(&patched.name)));
        let Some(tree) = &patched.tree else {
            all.insert(hash(&(key, "gone")));
            continue;
        };
        let after = facts(tree, key);
        let before = patched.source.and_then(|index| engine::open(run.config, index, run.plan));
        match before {
            Some(before) => {
                let before = facts(&before, key);
                all.extend(before.difference(&after).map(|fact| hash(&("less", fact))));
                all.extend(after.difference(&before).map(|fact| hash(&("more", fact))));
            }
            None => all.extend(after),
        }
    }
    Some(hash(&all))
}

/// Every value with the keys that lead to it, and the order of names in every list.
fn facts(tree: &Tree<'_>, key: u64) -> BTreeSet<u64> {
    let mut tree = tree.clone();
    tree.open_all();
    let mut out = BTreeSet::new();
    walk(&tree, key, &mut out);
    out
}

fn walk(tree: &Tree<'_>, path: u64, out: &mut BTreeSet<u64>) {
    match &tree.value {
        Value::Map(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                walk(value, hash(&(path, key.as_ref())), out);
            }
        }
        Value::List(items) => {
            out.insert(hash(&(path, items.iter().map(Tree::name).collect::<Vec<_>>())));
            for item in items {
                walk(item, hash(&(path, "[]")), out);
            }
        }
        Value::Map(_) => drop(out.insert(hash(&(path, "{}")))),
        Value::String(text) => drop(out.insert(hash(&(path, text.as_ref())))),
        Value::Number(text) => drop(out.insert(hash(&(path, 1, &**text)))),
        Value::Bool(flag) => drop(out.insert(hash(&(path, flag)))),
        Value::Raw(text) => drop(out.insert(hash(&(path, 2, &**text)))),
        Value::EmptyList => drop(out.insert(hash(&(path, "[]")))),
        Value::Null => {}
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
