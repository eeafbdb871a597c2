//! Keys of `typed_per_filter_config`, and what the HTTP filters with these names have for routes.

use crate::engine;
use crate::lint::facts::context::{Context, PatchView, ProxyRun};
use crate::lint::facts::seen::{Seen, config_type, filter_lists};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// A key that is not the name of an HTTP filter.
pub(crate) struct UnknownKey<'c, 'a> {
    /// Where.
    pub seen: Seen<'c, 'a>,
    /// The name of a filter of that extension.
    pub other: Option<String>,
}

/// Whether a patch writes settings under a key that no HTTP filter has, on a proxy that they reach; `extension` is the package of
/// their type. Without config dumps only if a filter of that extension has another name.
pub(crate) fn unknown<'c, 'a>(
    cx: &'c Context<'a>,
    view: &PatchView<'a>,
    key: &str,
    extension: &str,
) -> Option<UnknownKey<'c, 'a>> {
    let seen = cx.seen_if(view, |run| {
        let names = http_filters(run.run);
        run.changes() && !names.is_empty() && !names.contains_key(key)
    })?;
    let mut others: Vec<String> = Vec::new();
    for run in &seen.runs {
        let names = http_filters(run.run);
        others.extend(names.iter().filter(|(_, kind)| package(kind) == extension).map(|(name, _)| name.clone()));
    }
    let knowledge = seen.runs.first()?.run.knowledge;
    let known_elsewhere = cx
        .on_proxies(view.filter_index, view.patch.index)
        .any(|run| run.run.knowledge == knowledge && run.changes() && http_filters(run.run).contains_key(key));
    let other = others.into_iter().min();
    (!known_elsewhere && (seen.certain() || other.is_some())).then_some(UnknownKey { seen, other })
}

/// The package of a type.
pub(crate) fn package(type_name: &str) -> &str {
    type_name.rsplit_once('.').map_or("", |(package, _)| package)
}

/// A script that routes choose, which no Lua filter of the name has.
pub(crate) struct UnknownScript<'c, 'a> {
    /// Where.
    pub seen: Seen<'c, 'a>,
    /// The scripts that the filters have for routes.
    pub known: BTreeSet<String>,
}

/// Whether a patch chooses a script for routes that no Lua filter named `key` has in its `source_codes`, on a proxy that the
/// choice reaches. `None` also if there is no such filter, or if a control plane sends its configuration apart.
pub(crate) fn unknown_script<'c, 'a>(
    cx: &'c Context<'a>,
    view: &PatchView<'a>,
    key: &str,
    script: &str,
) -> Option<UnknownScript<'c, 'a>> {
    let seen = cx.seen_if(view, |run| {
        let scripts = run.changes().then(|| lua_scripts(run.run, key)).flatten();
        scripts.is_some_and(|scripts| !scripts.contains(script))
    })?;
    let known = seen.runs.iter().filter_map(|run| lua_scripts(run.run, key)).flatten().collect();
    Some(UnknownScript { seen, known })
}

/// The scripts for routes of all Lua filters of this name; `None` if there are none.
fn lua_scripts(run: &ProxyRun<'_>, key: &str) -> Option<BTreeSet<String>> {
    let mut scripts = None;
    each_http_filter(run, &mut |filter| {
        if filter.name() != key || config_type(filter) != "envoy.extensions.filters.http.lua.v3.Lua" {
            return;
        }
        let scripts = scripts.get_or_insert_with(BTreeSet::new);
        let Some((_, config)) = filter.get("typed_config").map(Tree::message) else { return };
        let codes = ["source_codes", "sourceCodes"].into_iter().filter_map(|name| config.get(name));
        scripts.extend(codes.flat_map(Tree::entries).map(|(name, _)| name.to_string()));
    });
    scripts
}

/// Names and types of the HTTP filters of a proxy after all patches.
fn http_filters<'r>(run: &'r ProxyRun<'_>) -> &'r BTreeMap<String, String> {
    run.memo.http_filters.get_or_init(|| {
        let mut names = BTreeMap::new();
        each_http_filter(run, &mut |filter| {
            names.insert(filter.name().to_owned(), config_type(filter).into_owned());
        });
        names
    })
}

/// Calls `look` with every HTTP filter of a proxy after all patches.
fn each_http_filter(run: &ProxyRun<'_>, look: &mut dyn FnMut(&Tree<'_>)) {
    let mut each = |tree: &Tree<'_>| {
        filter_lists(tree).iter().filter(|list| list.http).flat_map(|list| list.filters.iter()).for_each(&mut *look);
    };
    for (_, tree) in run.changed_listeners() {
        each(tree);
    }
    for (index, _) in run.config.generated(ResourceKind::Listener) {
        if run.judged.patched.resources.iter().any(|one| one.source == Some(index)) {
            continue;
        }
        if let Some(tree) = engine::look(run.config, index, run.plan) {
            each(&tree);
        }
    }
}
