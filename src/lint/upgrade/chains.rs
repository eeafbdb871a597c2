//! The filter chains that patches change, before and after patching, as drawn for an upgrade.

use super::snapshot::ChainRecord;
use crate::engine;
use crate::engine::trace::PatchId;
use crate::lint::facts::context::{Context, ProxyRun};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use std::collections::BTreeSet;

/// Maximum number of proxies whose chains are kept, and maximum number of chains for each: people look at the pictures.
const MAX: (usize, usize) = (24, 12);

/// The chains of every run that patches change, by the number of the run.
pub(super) fn of(cx: &Context<'_>) -> Vec<(usize, Vec<ChainRecord>)> {
    let changed = cx.runs.iter().enumerate().filter_map(|(index, run)| {
        let chains = one(run);
        (!chains.is_empty()).then_some((index, chains))
    });
    changed.take(MAX.0).collect()
}

fn one(run: &ProxyRun<'_>) -> Vec<ChainRecord> {
    let mut chains: Vec<ChainRecord> = Vec::new();
    for patched in run.judged.patched.resources.iter().filter(|one| one.kind == ResourceKind::Listener) {
        let Some(tree) = &patched.tree else { continue };
        let base = patched.source.and_then(|index| engine::open(run.config, index, run.plan));
        let base = base.map(|tree| lists(&tree)).unwrap_or_default();
        for list in lists(tree) {
            let names = |list: &FilterList<'_>| list.filters.iter().map(|one| one.name().to_owned()).collect();
            let like = base.iter().find(|one| one.http == list.http && one.chain == list.chain);
            let generated: Vec<String> = like.map(names).unwrap_or_default();
            let by = list.filters.iter().map(|filter| {
                // A network filter may contain thousands of HTTP filters.
                let mut origins = BTreeSet::new();
                filter.add_origins(&mut origins);
                let by = origins.into_iter().filter_map(PatchId::of).map(|id| run.plan.get(id).filter);
                (filter.name().to_owned(), by.min())
            });
            let patched_names: Vec<(String, Option<usize>)> = by.collect();
            let same = patched_names.iter().map(|(name, _)| name).eq(&generated);
            // A change inside the HTTP connection manager appears in the list of HTTP filters.
            if same && (!list.http || patched_names.iter().all(|(_, by)| by.is_none())) {
                continue;
            }
            let record = ChainRecord {
                listener: patched.name.clone(),
                chain: list.chain,
                http: list.http,
                generated,
                patched: patched_names,
            };
            let known = |one: &ChainRecord| {
                one.http == record.http && one.generated == record.generated && one.patched == record.patched
            };
            if chains.len() < MAX.1 && !chains.iter().any(known) {
                chains.push(record);
            }
        }
    }
    chains
}

/// A list of filters of a listener.
struct FilterList<'t> {
    /// The filter chain, by name or number.
    chain: String,
    http: bool,
    filters: Vec<Tree<'t>>,
}

fn lists<'t>(listener: &Tree<'t>) -> Vec<FilterList<'t>> {
    let mut lists = Vec::new();
    let chains = listener.get("filter_chains").map(Tree::items).unwrap_or_default();
    let numbered = chains.iter().enumerate().map(|(index, chain)| (index.to_string(), chain));
    let default = listener.get("default_filter_chain").map(|chain| ("default".to_owned(), chain));
    for (number, chain) in numbered.chain(default) {
        let name = if chain.name().is_empty() { number } else { chain.name().to_owned() };
        let filters = chain.get("filters").map(Tree::items).unwrap_or_default();
        for filter in filters {
            let Some(mut config) = filter.get("typed_config").cloned() else { continue };
            config.open();
            if let Some(list) = config.get("http_filters") {
                lists.push(FilterList { chain: name.clone(), http: true, filters: list.items().to_vec() });
            }
        }
        lists.push(FilterList { chain: name, http: false, filters: filters.to_vec() });
    }
    lists
}
