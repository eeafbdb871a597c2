//! The HTTP filters of each listener after patching, and who put them there.

use super::{Explainer, Settings, view};
use crate::engine::trace::PatchId;
use crate::engine::{self, HCM_TYPE, PatchedResource};
use crate::model::resource::ResourceKind;
use crate::proto::tree::{Tree, Value};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

impl Explainer<'_, '_> {
    /// Chains of the listeners that a patch changed, or only those changed by the requested filter.
    pub(super) fn chains(&self, settings: &Settings) -> Vec<view::HttpChain> {
        let all = settings.all_chains;
        let mut chains = Vec::new();
        let patched = &self.study.judged.patched.resources;
        let by_source: HashMap<usize, &PatchedResource<'_>> =
            patched.iter().filter_map(|one| Some((one.source?, one))).collect();
        let changed = self.changed_listeners(settings);
        for (index, resource) in self.study.config.generated(ResourceKind::Listener) {
            match by_source.get(&index) {
                Some(now) if all || changed.contains(&*resource.name) => {
                    now.tree.iter().for_each(|tree| self.listener(&now.name, &tree.once(), &mut chains));
                }
                None if all => {
                    if let Some(tree) = engine::open(self.study.config, index, self.study.plan) {
                        self.listener(&resource.name, &tree, &mut chains);
                    }
                }
                _ => {}
            }
        }
        let added = patched.iter().filter(|it| it.kind == ResourceKind::Listener && it.source.is_none());
        for added in added.filter(|it| all || changed.contains(it.name.as_str())) {
            added.tree.iter().for_each(|tree| self.listener(&added.name, &tree.once(), &mut chains));
        }
        chains
    }

    /// Listeners that patches changed; a panic alone changes nothing.
    fn changed_listeners(&self, settings: &Settings) -> BTreeSet<&str> {
        let wanted =
            |id: &PatchId| settings.only.as_ref().is_none_or(|only| self.study.plan.filter(*id).full_name() == *only);
        let ids = self.study.plan.ids().filter(wanted);
        let effects = ids.flat_map(|id| &self.study.judged.trace.patches[id.index()].effects);
        let changes = effects.filter(|(place, effect)| place.kind == ResourceKind::Listener && effect.changes());
        changes.map(|(place, _)| &*place.resource).collect()
    }

    fn listener(&self, name: &str, listener: &Tree<'_>, into: &mut Vec<view::HttpChain>) {
        let chains = listener.get("filter_chains").map(Tree::items).unwrap_or_default();
        let numbered = chains.iter().enumerate().map(|(index, chain)| (index.to_string(), chain));
        let default = listener.get("default_filter_chain").map(|chain| ("default".to_owned(), chain));
        for (index, chain) in numbered.chain(default) {
            for filter in chain.get("filters").map(Tree::items).unwrap_or_default() {
                let Some(http_filters) = self.http_filters(filter) else { continue };
                let place = view::Place {
                    kind: ResourceKind::Listener.as_str(),
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
        let mut config = Cow::Borrowed(filter.get("typed_config")?);
        if config.type_name().as_deref() != Some(HCM_TYPE) {
            return None;
        }
        if matches!(config.value, Value::Raw(_)) {
            config.to_mut().open();
        }
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
