//! Undoes LDS patches: the steps of `engine/listener.rs` from the last to the first.

use super::Seen;
use super::undo::Undo;
use crate::engine::compat::Behaviour;
use crate::engine::matching::{self, HTTP_CONNECTION_MANAGER};
use crate::engine::run::HCM_TYPE;
use crate::engine::run::Slot;
use crate::engine::shared::Class;
use crate::engine::trace::{PatchId, Place};
use crate::model::envoy_filter::{ApplyTo, ListenerMatch, ObjectMatch, Operation, PatchContext};
use crate::model::resource::ResourceKind;
use crate::proto::json;
use crate::proto::tree::{Origin, Tree};
use crate::proto::unmerge::holds;
use std::sync::Arc;

impl<'a> Undo<'_, 'a> {
    /// One listener of a call for this context.
    pub(super) fn listener(&mut self, context: PatchContext, slot: &mut Slot<'a>) {
        self.context = context;
        let ids = |apply_to| {
            let mut ids = self.plan.for_context(apply_to, context);
            ids.retain(|id| !self.invisible.contains(id));
            ids
        };
        let listener: Vec<PatchId> =
            ids(ApplyTo::Listener).into_iter().filter(|&id| self.operation(id) != Operation::Add).collect();
        let inner = [ApplyTo::ListenerFilter, ApplyTo::FilterChain, ApplyTo::NetworkFilter, ApplyTo::HttpFilter];
        let [filters, chain, network, http] = inner.map(ids);
        let wanted = |id: &PatchId| matching::listener_name(self.object(*id), &slot.name).is_ok();
        let renames = listener.iter().any(|&id| self.value(id).is_some_and(|value| !value.name().is_empty()));
        if !renames && ![&listener, &filters, &chain, &network, &http].iter().any(|ids| ids.iter().any(wanted)) {
            return;
        }
        let tree = slot.open(self.config, self.plan.schema);
        let fits = |apply_to| {
            let tree = &*tree;
            move |object| matching::listener(apply_to, object, tree)
        };
        let filters = self.keep(&filters, fits(ApplyTo::ListenerFilter));
        let chain = self.keep(&chain, fits(ApplyTo::FilterChain));
        let network = self.keep(&network, fits(ApplyTo::NetworkFilter));
        let http = self.keep(&http, fits(ApplyTo::HttpFilter));
        self.filter_chains(&chain, &network, &http, tree);
        self.listener_filters(&filters, tree);
        let fits =
            |object: &'a ObjectMatch, tree: &Tree<'a>| matching::listener(ApplyTo::Listener, object, tree).is_ok();
        let named = |object| {
            let name = matching::listener_match(object).map(|it: &'a ListenerMatch| it.name.as_str());
            name.filter(|name| !name.is_empty())
        };
        for &id in listener.iter().rev() {
            let place = |tree: &Tree<'a>| Place::resource(ResourceKind::Listener, tree.name());
            self.undo_edit(id, ApplyTo::Listener, tree, named(self.object(id)), fits, place);
        }
        slot.name = tree.name().to_owned().into();
    }

    fn listener_filters(&mut self, ids: &[PatchId], listener: &mut Tree<'a>) {
        let name: Arc<str> = listener.name().into();
        let at = |filter: &Tree<'a>| Place::listener_filter(&name, filter);
        let Some(list) = listener.list_mut("listener_filters").filter(|_| !ids.is_empty()) else { return };
        for &id in ids.iter().rev() {
            if self.operation(id) == Operation::Merge {
                for filter in list.iter_mut() {
                    let place = at(filter);
                    self.unmerge_filter(id, filter, false, None, place);
                }
                continue;
            }
            let named = |object| {
                let name = matching::listener_match(object).map(|it| it.listener_filter.as_str());
                name.filter(|name| !name.is_empty())
            };
            self.undo_list(&[id], list, ApplyTo::ListenerFilter, matching::listener_filter, named, at);
        }
    }

    fn filter_chains(&mut self, chain_ids: &[PatchId], network: &[PatchId], http: &[PatchId], listener: &mut Tree<'a>) {
        if chain_ids.is_empty() && network.is_empty() && http.is_empty() {
            return;
        }
        let name: Arc<str> = listener.name().into();
        let (adds, edits): (Vec<PatchId>, Vec<PatchId>) =
            chain_ids.iter().partition(|&&id| self.operation(id) == Operation::Add);
        let drops = self.plan.compat.has(Behaviour::DropEmptyAlways);
        for &id in adds.iter().rev() {
            let Some(value) = self.value(id).filter(|value| !drops || value.get("filters").is_some()) else { continue };
            let Some(list) = listener.list_mut("filter_chains") else { continue };
            let place = Place::chain(&name, Some(list.len().saturating_sub(1)), value);
            let there = list.last().is_some_and(|last| holds(last, value));
            if there {
                list.pop();
            }
            self.show(id, place, if there { Seen::Found } else { Seen::Missing });
        }
        if let Some(chains) = listener.get_mut("filter_chains").and_then(Tree::items_mut) {
            for (index, chain) in chains.iter_mut().enumerate() {
                let place = Place::chain(&name, Some(index), chain);
                self.filter_chain(&edits, network, http, &name, chain, &place);
            }
        }
        if let Some(chain) = listener.get_mut("default_filter_chain") {
            let place = Place::chain(&name, None, chain);
            self.filter_chain(&edits, network, http, &name, chain, &place);
        }
    }

    fn filter_chain(
        &mut self,
        edits: &[PatchId],
        network: &[PatchId],
        http: &[PatchId],
        listener: &str,
        chain: &mut Tree<'a>,
        place: &Place,
    ) {
        if chain.get("filters").is_none() {
            return;
        }
        let compat = self.plan.compat;
        let fits = |object| matching::filter_chain(object, listener, chain, compat);
        let (network, http) = (self.keep(network, fits), self.keep(http, fits));
        let class = Class::of(self.context, chain);
        let merges = network.iter().any(|&id| self.operation(id) == Operation::Merge);
        if let Some(filters) = chain.get_mut("filters").and_then(Tree::items_mut) {
            for filter in filters.iter_mut() {
                let before = (merges && filter.name() != HTTP_CONNECTION_MANAGER).then(|| json::canonical(filter));
                self.network_filter(&network, &http, filter, place);
                if let Some(before) = before {
                    self.shared.note(&class, before, filter);
                }
            }
            let edits: Vec<PatchId> =
                network.iter().copied().filter(|&id| self.operation(id) != Operation::Merge).collect();
            self.undo_list(
                &edits,
                filters,
                ApplyTo::NetworkFilter,
                matching::network_filter,
                matching::network_filter_name,
                |filter| Place::filter(Some(place), filter),
            );
        }
        for &id in edits.iter().rev() {
            if matching::filter_chain(self.object(id), listener, chain, self.plan.compat).is_err() {
                continue;
            }
            if self.operation(id) == Operation::Remove {
                self.show(id, place.clone(), Seen::Missing);
            } else if !self.unmerge_chain_socket(id, chain, place) {
                self.unmerge_message(id, ApplyTo::FilterChain, chain, place.clone());
            }
        }
    }

    /// Whether only the transport socket can have been merged: it contains more than the patch sets.
    fn unmerge_chain_socket(&mut self, id: PatchId, chain: &mut Tree<'a>, place: &Place) -> bool {
        let Some(wanted) = self.value(id).and_then(|value| value.get("transport_socket")) else { return false };
        let Some(socket) = chain.get_mut("transport_socket") else { return false };
        if wanted.name() != socket.name() || holds(socket, wanted) {
            return false;
        }
        self.unmerge_socket(id, socket, wanted, place);
        true
    }

    /// Undoes a merge of one transport socket's payload into another's.
    pub(super) fn unmerge_socket(&mut self, id: PatchId, socket: &mut Tree<'a>, wanted: &Tree<'a>, place: &Place) {
        let Some(source) = wanted.get("typed_config") else { return };
        let mut merged = true;
        self.unmerge(id, socket, place.clone(), "transport_socket.typed_config", |unmerger, socket| {
            if let Some(target) = socket.get_mut("typed_config") {
                merged = unmerger.any_payload(target, source);
            }
        });
        if !merged {
            self.note_reinterpreted(id, socket.get("typed_config"), source);
        }
    }

    fn network_filter(&mut self, network: &[PatchId], http: &[PatchId], filter: &mut Tree<'a>, chain: &Place) {
        if filter.name() == HTTP_CONNECTION_MANAGER {
            self.http_filters(http, filter, chain);
        }
        for &id in network.iter().rev().filter(|&&id| self.operation(id) == Operation::Merge).collect::<Vec<_>>() {
            let (object, place) = (self.object(id), Place::filter(Some(chain), filter));
            let named = matching::network_filter_name(object);
            let value = self.value(id).map(Tree::name).unwrap_or_default();
            // A merge may have renamed what it matched.
            let now = if value.is_empty() { named } else { Some(value) };
            if now.is_none_or(|now| now == filter.name()) {
                self.unmerge_filter(id, filter, true, named, place);
            }
        }
    }

    fn http_filters(&mut self, ids: &[PatchId], filter: &mut Tree<'a>, chain: &Place) {
        let ids = self.keep(ids, |object| matching::network_filter(object, filter));
        if ids.is_empty() {
            return;
        }
        let manager = Place::filter(Some(chain), filter);
        let Some(config) = filter.get_mut("typed_config").filter(|it| it.type_name().as_deref() == Some(HCM_TYPE))
        else {
            return;
        };
        config.open();
        let Some(list) = config.list_mut("http_filters") else { return };
        let at = |filter: &Tree<'a>| manager.with(|names| names.sub_filter = Some(filter.name().into()));
        let (merges, edits): (Vec<PatchId>, Vec<PatchId>) =
            ids.iter().partition(|&&id| self.operation(id) == Operation::Merge);
        for filter in list.iter_mut() {
            for &id in merges.iter().rev() {
                let named = matching::sub_filter_name(self.object(id));
                let value = self.value(id).map(Tree::name).unwrap_or_default();
                let now = if value.is_empty() { named } else { Some(value) };
                if now.is_none_or(|now| now == filter.name()) {
                    let place = at(filter);
                    self.unmerge_filter(id, filter, true, named, place);
                }
            }
        }
        self.undo_list(&edits, list, ApplyTo::HttpFilter, matching::http_filter, matching::sub_filter_name, at);
    }

    /// Route configurations inside a listener.
    pub(super) fn inline_routes(&mut self, slot: &mut Slot<'a>, wanted: impl Fn(&Tree<'a>) -> bool) {
        let tree = slot.open(self.config, self.plan.schema);
        let name: Arc<str> = tree.name().into();
        let chains = tree.get_mut("filter_chains").and_then(Tree::items_mut);
        for (index, chain) in chains.into_iter().flatten().enumerate() {
            let place = Place::chain(&name, Some(index), chain);
            self.inline_routes_of_chain(chain, &place, &wanted);
        }
        if let Some(chain) = tree.get_mut("default_filter_chain") {
            let place = Place::chain(&name, None, chain);
            self.inline_routes_of_chain(chain, &place, &wanted);
        }
    }

    fn inline_routes_of_chain(&mut self, chain: &mut Tree<'a>, place: &Place, wanted: &impl Fn(&Tree<'a>) -> bool) {
        for filter in chain.get_mut("filters").and_then(Tree::items_mut).into_iter().flatten() {
            let Some(config) = filter.get_mut("typed_config").filter(|it| it.type_name().as_deref() == Some(HCM_TYPE))
            else {
                continue;
            };
            config.open();
            let Some(routes) = config.get_mut("route_config") else { continue };
            // istiod's own content, not what filters added, decides which ones it patches.
            let (before, shown, touched) = (routes.clone(), self.shown.len(), self.touched);
            self.route_configuration(PatchContext::SidecarInbound, routes, Some(place));
            name_inline_hosts(routes);
            let unknown = routes.get("virtual_hosts").is_some_and(|vhosts| vhosts.origin == Origin::UNKNOWN);
            if !unknown && !wanted(routes) {
                *routes = before;
                self.shown.truncate(shown);
                self.touched = touched;
            }
        }
    }
}

/// Virtual hosts that lost their names to patches get the one that istiod generates (`inbound|http|<port>`).
fn name_inline_hosts(routes: &mut Tree<'_>) {
    let port = matching::parse_subset_key(routes.name()).port;
    for vhost in routes.get_mut("virtual_hosts").and_then(Tree::items_mut).into_iter().flatten() {
        let taken = match vhost.get("name") {
            None => vhost.origin == Origin::HELD,
            Some(name) => {
                name.origin == Origin::HELD && !name.as_str().unwrap_or_default().starts_with("inbound|http|")
            }
        };
        if taken {
            vhost.set("name", Tree::string(format!("inbound|http|{port}"), Origin::HELD));
        }
    }
}
