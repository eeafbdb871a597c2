//! What the config dump of a running proxy contains after the effects of the given filters are undone.

use crate::engine;
use crate::lint::facts::context::{Context, ProxyRun};
use crate::lint::facts::live::any_named;
use crate::lint::facts::seen::{config_type, filter_lists};
use crate::lint::facts::view::Knowledge;
use crate::model::resource::ResourceKind;
use crate::proto::json;
use crate::proto::tree::Tree;
use crate::proto::unmerge::resource_holds;

/// A filter in a listener of a running proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// Whether it is an HTTP filter, not a network filter.
    pub http: bool,
    /// Its name.
    pub name: String,
    /// The message name of its configuration; empty when it has none.
    pub config_type: String,
}

impl<'a> Context<'a> {
    /// The running proxies whose dumps were undone, in the order of the runs.
    pub(crate) fn running(&self) -> impl Iterator<Item = &ProxyRun<'a>> {
        self.runs
            .iter()
            .filter(|run| run.knowledge == Knowledge::Dump && run.live.as_ref().is_some_and(|live| live.unapplied.live))
    }
}

impl Context<'_> {
    /// Whether istiod itself generates an object with the name and content of a value: then its presence in a proxy
    /// proves nothing about EnvoyFilters.
    pub(crate) fn istiod_generates(&self, value: &Tree<'_>) -> bool {
        let quoted = format!("\"{}\"", value.name());
        let finder = memchr::memmem::Finder::new(quoted.as_bytes());
        let resources = self.references.iter().flat_map(|reference| reference.resources.iter());
        let holds = |text: &str| {
            json::parse(text).is_ok_and(|tree| any_named(tree, value.name(), &|tree| resource_holds(tree, value)))
        };
        resources.into_iter().any(|one| finder.find(one.json.search().as_bytes()).is_some() && holds(one.json.search()))
    }
}

impl ProxyRun<'_> {
    /// Every filter of every listener without the effects of the given filters.
    pub(crate) fn held_filters(&self) -> Vec<Held> {
        let mut held = Vec::new();
        for (index, _) in self.config.generated(ResourceKind::Listener) {
            let Some(tree) = engine::look(self.config, index, self.plan) else { continue };
            for list in filter_lists(&tree) {
                held.extend(list.filters.iter().map(|filter| Held {
                    http: list.http,
                    name: filter.name().to_owned(),
                    config_type: config_type(filter).into_owned(),
                }));
            }
        }
        held
    }

    /// Whether any resource contains an object with the name and content of a value.
    pub(crate) fn holds(&self, value: &Tree<'_>) -> bool {
        let quoted = format!("\"{}\"", value.name());
        self.config.resources.iter().enumerate().any(|(at, resource)| {
            memchr::memmem::find(resource.json.search().as_bytes(), quoted.as_bytes()).is_some()
                && engine::open(self.config, at, self.plan)
                    .is_some_and(|tree| any_named(tree, value.name(), &|tree| resource_holds(tree, value)))
        })
    }
}
