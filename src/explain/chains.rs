//! The HTTP filters of each listener after patching, and who put them there.

use super::{Explainer, view};
use crate::engine::trace::PatchId;
use crate::engine::{self};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;

/// Type of the network filter that holds HTTP filters.
const HTTP_CONNECTION_MANAGER: &str =
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

impl Explainer<'_, '_> {
    /// Chains of the listeners that a patch touched; with `all` of every listener.
    pub(super) fn chains(&self, all: bool) -> Vec<view::HttpChain> {
        let mut chains = Vec::new();
        let patched = &self.judged.patched.resources;
        for (index, resource) in self.config.generated(ResourceKind::Listener) {
            let now = patched.iter().find(|it| it.source == Some(index));
            match now {
                Some(now) => now.tree.iter().for_each(|tree| self.listener(&now.name, tree, &mut chains)),
                None if all => {
                    if let Some(tree) = engine::open(self.config, index, self.plan) {
                        self.listener(&resource.name, &tree, &mut chains);
                    }
                }
                None => {}
            }
        }
        for added in patched.iter().filter(|it| it.kind == ResourceKind::Listener && it.source.is_none()) {
            added.tree.iter().for_each(|tree| self.listener(&added.name, tree, &mut chains));
        }
        chains
    }

    fn listener(&self, name: &str, listener: &Tree<'_>, into: &mut Vec<view::HttpChain>) {
        let chains = listener.get("filter_chains").map(Tree::items).unwrap_or_default();
        let numbered = chains.iter().enumerate().map(|(index, chain)| (index.to_string(), chain));
        let default = listener.get("default_filter_chain").map(|chain| ("default".to_owned(), chain));
        for (index, chain) in numbered.chain(default) {
            for filter in chain.get("filters").map(Tree::items).unwrap_or_default() {
                let Some(http_filters) = self.http_filters(filter) else { continue };
                let place = view::Place {
                    kind: ResourceKind::Listener.word(),
                    resource: name.to_owned(),
                    chain: Some(index.clone()),
                    chain_name: Some(chain.name().to_owned()).filter(|name| !name.is_empty()),
                    ..view::Place::default()
                };
                match into.iter_mut().find(|old| old.filters == http_filters) {
                    Some(old) => old.places.push(place),
                    None => into.push(view::HttpChain { places: vec![place], filters: http_filters }),
                }
            }
        }
    }

    /// The HTTP filters of a network filter, if it is an HTTP connection manager.
    fn http_filters(&self, filter: &Tree<'_>) -> Option<Vec<view::HttpFilter>> {
        let mut config = filter.get("typed_config")?.clone();
        if config.type_name().as_deref() != Some(HTTP_CONNECTION_MANAGER) {
            return None;
        }
        config.open();
        let filters = config.get("http_filters").map(Tree::items).unwrap_or_default();
        Some(filters.iter().map(|filter| self.http_filter(filter)).collect())
    }

    fn http_filter(&self, filter: &Tree<'_>) -> view::HttpFilter {
        let inside = filter.origins().into_iter().filter(|origin| *origin != filter.origin);
        view::HttpFilter {
            name: filter.name().to_owned(),
            origin: PatchId::of(filter.origin).map(|id| self.patch_ref(id)),
            changed_by: inside.filter_map(PatchId::of).map(|id| self.patch_ref(id)).collect(),
        }
    }
}
