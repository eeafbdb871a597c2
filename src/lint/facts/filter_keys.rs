//! Keys of `typed_per_filter_config`, and what the HTTP filters with these names have for routes.

use crate::engine::{self, PatchId};
use crate::lint::facts::context::{Context, PatchRun, PatchView, ProxyRun};
use crate::lint::facts::http_filters::{HttpFilter, HttpFilters};
use crate::lint::facts::managers;
use crate::lint::facts::seen::{Seen, config_type, filter_chains};
use crate::lint::finding::Finding;
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use std::collections::BTreeSet;

/// A key that is not the name of an HTTP filter.
pub(crate) struct UnknownKey<'c, 'a> {
    /// Where.
    pub seen: Seen<'c, 'a>,
    /// The name of a filter of that extension.
    pub other: Option<String>,
    /// A filter has this name, but not for these routes.
    pub is_elsewhere: bool,
    /// The patch that inserts that filter.
    pub by: Option<PatchView<'a>>,
}

/// Whether a patch writes settings under a key that no HTTP filter has, on a proxy that they reach; `extension` is the package of
/// their type. Without config dumps only if a filter of that extension has another name, or is on the other side.
pub(crate) fn unknown<'c, 'a>(
    cx: &'c Context<'a>,
    view: &PatchView<'a>,
    key: &str,
    extension: &str,
) -> Option<UnknownKey<'c, 'a>> {
    let seen = cx.seen_if(view, |run| run.changes() && !http_filters(run.run).all.is_empty() && !reads(run, key))?;
    let mut others: Vec<String> = Vec::new();
    let mut namesake = None;
    for run in &seen.runs {
        let all = &http_filters(run.run).all;
        others.extend(all.iter().filter(|(_, one)| package(&one.kind) == extension).map(|(name, _)| name.clone()));
        namesake = namesake.or_else(|| Some((run.run, all.get(key)?)));
    }
    let knowledge = seen.runs.first()?.run.knowledge;
    let known_elsewhere = cx
        .on_proxies(view.filter_index, view.patch.index)
        .any(|run| run.run.knowledge == knowledge && run.changes() && reads(&run, key));
    let is_elsewhere = namesake.is_some();
    let by = namesake.and_then(|(run, one)| cx.view(run, one.by?));
    let other = others.into_iter().filter(|name| name != key).min();
    let known = seen.certain() || other.is_some() || by.is_some();
    (!known_elsewhere && known).then_some(UnknownKey { seen, other, is_elsewhere, by })
}

/// Says that a filter is only on other listeners, and which patch inserts it.
pub(crate) fn elsewhere(mut finding: Finding, view: &PatchView<'_>, by: Option<&PatchView<'_>>) -> Finding {
    let Some(by) = by else { return finding.help("insert the filter on the listeners of these routes, too") };
    finding = finding.related(by.value_span(&["patch", "operation"]), "the filter is inserted on other listeners");
    let (own, other) = (view.patch.context.name(), by.patch.context.name());
    if own == other {
        return finding.help("change the match of the patch that inserts the filter: the listeners of these routes");
    }
    finding.help(format!("use the same context in both patches: this one has {own}, the filter has {other}"))
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

/// Whether a filter of this name is in a connection manager with routes that a patch changed, as far as one is known.
fn reads(run: &PatchRun<'_, '_>, key: &str) -> bool {
    let changed = managers::Changed::by(run);
    let own = |(listener, routes): &(String, Option<String>)| {
        changed.may_have_routes_of(run.run.knowledge, listener, routes.as_deref())
    };
    let filters = http_filters(run.run);
    let mut own = filters.by_routes.iter().filter(|(routes, _)| own(routes)).map(|(_, names)| names).peekable();
    if own.peek().is_none() { filters.all.contains_key(key) } else { own.any(|names| names.contains(key)) }
}

/// The HTTP filters of a proxy after all patches.
fn http_filters<'r>(run: &'r ProxyRun<'_>) -> &'r HttpFilters {
    run.memo.http_filters.get_or_init(|| {
        let mut found = HttpFilters::default();
        each_manager(run, |listener, routes, filters| {
            let place = if routes.is_some() { String::new() } else { listener.to_owned() };
            let names = found.by_routes.entry((place, routes.map(str::to_owned))).or_default();
            for filter in filters {
                if !names.contains(filter.name()) {
                    names.insert(filter.name().to_owned());
                }
                found.all.entry(filter.name().to_owned()).or_insert_with(|| HttpFilter {
                    kind: config_type(filter).into_owned(),
                    by: PatchId::of(filter.origin),
                });
            }
        });
        found
    })
}

/// Calls `look` with every HTTP filter of a proxy after all patches.
fn each_http_filter(run: &ProxyRun<'_>, look: &mut dyn FnMut(&Tree<'_>)) {
    each_manager(run, |_, _, filters| filters.iter().for_each(&mut *look));
}

/// Calls `look` with every HTTP connection manager of a proxy after all patches: its listener, the name of its route
/// configuration and its filters.
fn each_manager(run: &ProxyRun<'_>, mut look: impl FnMut(&str, Option<&str>, &[Tree<'_>])) {
    let mut each = |listener: &str, tree: &Tree<'_>| {
        for chain in filter_chains(tree) {
            for filter in chain.get("filters").map(Tree::items).unwrap_or_default() {
                let Some(config) = filter.get("typed_config").map(Tree::readable) else { continue };
                let Some(filters) = config.get("http_filters") else { continue };
                let routes = config.get("rds").map(|rds| rds.readable().str_at("route_config_name").to_owned());
                look(listener, routes.as_deref(), filters.items());
            }
        }
    };
    for (name, tree) in run.changed_listeners() {
        each(name, tree);
    }
    for (index, resource) in run.config.generated(ResourceKind::Listener) {
        if run.judged.patched.resources.iter().any(|one| one.source == Some(index)) {
            continue;
        }
        if let Some(tree) = engine::look(run.config, index, run.plan) {
            each(&resource.name, &tree);
        }
    }
}
