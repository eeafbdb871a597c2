//! Keys of `typed_per_filter_config`: which of them no HTTP filter of the proxy has.

use crate::engine;
use crate::lint::facts::context::{Context, PatchView, ProxyRun};
use crate::lint::facts::seen::{Seen, config_type, filter_lists};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use std::collections::BTreeMap;

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
        others.extend(names.into_iter().filter(|(_, kind)| package(kind) == extension).map(|(name, _)| name));
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

/// Names and types of the HTTP filters of a proxy after all patches.
fn http_filters(run: &ProxyRun<'_>) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    let mut collect = |tree: &Tree<'_>| {
        for list in filter_lists(tree).into_iter().filter(|list| list.http) {
            names
                .extend(list.filters.iter().map(|filter| (filter.name().to_owned(), config_type(filter).into_owned())));
        }
    };
    for (_, tree) in run.changed_listeners() {
        collect(tree);
    }
    for (index, _) in run.config.generated(ResourceKind::Listener) {
        if run.judged.patched.resources.iter().any(|one| one.source == Some(index)) {
            continue;
        }
        if let Some(tree) = engine::open(run.config, index, run.plan) {
            collect(&tree);
        }
    }
    names
}
