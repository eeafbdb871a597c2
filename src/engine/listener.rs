//! LDS: listeners, listener filters, filter chains, network filters, HTTP filters.
//!
//! Follows istiod's `listener_patch.go` step by step; the order of the steps is part of the behavior.

use super::compat::Behaviour;
use super::matching::{self, HTTP_CONNECTION_MANAGER};
use super::run::{Flow, HCM_TYPE, LOOKED_INTO, Names, Run, Slot, Stop};
use super::shared::{self, Class, Reach};
use super::trace::{Condition, Effect, Miss, NoOp, PatchId, Place, Sink};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::resource::{ResourceKind, ResourceText};
use crate::proto::tree::{Tree, Value, is_typed_struct};
use std::borrow::Cow;
use std::sync::Arc;

/// The patches of one call, by applyTo.
struct Patches {
    listener: Vec<PatchId>,
    listener_filter: Vec<PatchId>,
    chain: Vec<PatchId>,
    network: Vec<PatchId>,
    http: Vec<PatchId>,
    context: PatchContext,
}

impl<'a, S: Sink<'a>> Run<'_, 'a, S> {
    /// One call of istiod's `ApplyListenerPatches`; added listeners are appended. A panic ends the call.
    pub(super) fn listener_pass(
        &mut self,
        slots: &mut Vec<Slot<'a>>,
        indices: &[usize],
        context: PatchContext,
        adds: bool,
    ) {
        let patches = Patches {
            listener: self.ids(ApplyTo::Listener, context).to_vec(),
            listener_filter: self.ids(ApplyTo::ListenerFilter, context).to_vec(),
            chain: self.ids(ApplyTo::FilterChain, context).to_vec(),
            network: self.ids(ApplyTo::NetworkFilter, context).to_vec(),
            http: self.ids(ApplyTo::HttpFilter, context).to_vec(),
            context,
        };
        let first_added = slots.len();
        for (done, &index) in indices.iter().enumerate() {
            self.touched = false;
            let result = self.listener(&patches, &mut slots[index], context);
            slots[index].touched |= self.touched;
            if let Err(stop) = result {
                slots[index].touched = true;
                // An earlier patch may have renamed it before the panic.
                if let Some(tree) = &slots[index].tree {
                    slots[index].name = tree.name().to_owned().into();
                }
                // Go keeps the slice it was given: a removed listener is one without a name, and stays in it.
                for &index in &indices[..=done] {
                    self.unremove(&mut slots[index]);
                }
                let rest = indices[done + 1..].iter().map(|&index| slots[index].name.clone().into_owned());
                let rest: Vec<String> = rest.collect();
                self.abort(stop, || rest);
                return;
            }
            self.close(&mut slots[index]);
        }
        if adds && let Err(stop) = self.add_listeners(&patches.listener, slots, context) {
            slots.truncate(first_added);
            for &index in indices {
                self.unremove(&mut slots[index]);
            }
            self.abort(stop, Vec::new);
            return;
        }
        let removed = indices.iter().any(|&index| slots[index].removed);
        if self.plan.compat.has(Behaviour::DropEmptyAlways) || removed {
            let mut index = slots.len();
            while index > first_added {
                index -= 1;
                if slots[index].name.is_empty() {
                    slots.remove(index);
                }
            }
        }
    }

    /// After a panic a removed listener still exists, without its name.
    fn unremove(&self, slot: &mut Slot<'a>) {
        if slot.removed {
            slot.removed = false;
            slot.touched = true;
            slot.name = "".into();
            if slot.is_decoded() {
                slot.open(self.config, self.plan.schema).remove("name");
            }
        }
    }

    fn add_listeners(&mut self, ids: &[PatchId], slots: &mut Vec<Slot<'a>>, context: PatchContext) -> Flow {
        for &id in ids.iter().filter(|&&id| self.operation(id) == Operation::Add).collect::<Vec<_>>() {
            let any = self.plan.get(id).built.patch.context == PatchContext::Any;
            if any && !matches!(context, PatchContext::SidecarOutbound | PatchContext::Gateway) {
                continue;
            }
            let unnamed = self.place(|| Place::resource(ResourceKind::Listener, ""));
            let tree = self.value(id, unnamed.as_ref())?;
            let name = tree.name().to_owned();
            let place = self.place(|| Place::resource(ResourceKind::Listener, name.clone()));
            let dropped = name.is_empty() && self.plan.compat.has(Behaviour::DropEmptyAlways);
            let effect = if dropped { Effect::NoOp(NoOp::AddedEmpty) } else { Effect::Added };
            self.effect(id, place, effect);
            slots.push(Slot {
                kind: ResourceKind::Listener,
                source: None,
                name: name.into(),
                text: ResourceText::default(),
                tree: Some(Box::new(tree)),
                packed: None,
                touched: true,
                removed: false,
            });
        }
        Ok(())
    }

    fn listener(&mut self, patches: &Patches, slot: &mut Slot<'a>, context: PatchContext) -> Flow {
        // The name is known without decoding; most listeners of a large mesh are done here.
        let all = [&patches.listener, &patches.listener_filter, &patches.chain, &patches.network, &patches.http];
        let wanted = |id: PatchId| matching::listener_name(self.object(id), &slot.name).is_ok();
        if !slot.is_decoded() && !all.iter().any(|ids| ids.iter().any(|&id| wanted(id))) {
            for ids in all {
                let name = slot.name.clone();
                self.keep(ids, |object| matching::listener_name(object, &name));
            }
            return Ok(());
        }
        let tree = slot.open(self.config, self.plan.schema);
        for &id in &patches.listener {
            let operation = self.operation(id);
            if operation == Operation::Add {
                continue;
            }
            if let Err(miss) = matching::listener(ApplyTo::Listener, self.object(id), tree) {
                self.miss(id, miss);
                continue;
            }
            let place = self.place(|| Place::resource(ResourceKind::Listener, tree.name()));
            if operation == Operation::Remove {
                self.bury(id, tree, place.as_ref());
                self.effect(id, place, Effect::Removed);
                slot.removed = true;
                return Ok(());
            }
            self.merge(id, ApplyTo::Listener, tree, place)?;
        }
        let fits = |apply_to| {
            let tree = &*tree;
            move |object| matching::listener(apply_to, object, tree)
        };
        let listener_filter = self.keep(&patches.listener_filter, fits(ApplyTo::ListenerFilter));
        let inner = Patches {
            listener: Vec::new(),
            chain: self.keep(&patches.chain, fits(ApplyTo::FilterChain)),
            network: self.keep(&patches.network, fits(ApplyTo::NetworkFilter)),
            http: self.keep(&patches.http, fits(ApplyTo::HttpFilter)),
            listener_filter,
            context,
        };
        self.listener_filters(&inner, tree)?;
        let result = self.filter_chains(&inner, tree);
        slot.name = tree.name().to_owned().into();
        result
    }

    fn listener_filters(&mut self, patches: &Patches, listener: &mut Tree<'a>) -> Flow {
        let ids = &patches.listener_filter;
        if ids.is_empty() {
            return Ok(());
        }
        let class = Class::of(patches.context, &empty());
        let name: Arc<str> = listener.name().into();
        let at = |filter: &Tree<'a>| Place::listener_filter(&name, filter);
        let Some(list) = listener.list_mut("listener_filters") else { return Ok(()) };
        self.bring_shared(&class, list);
        let mut names = Names::default();
        for &id in ids {
            if self.operation(id) == Operation::Merge {
                // The name in the match is not compared: every filter with a typed_config is merged into.
                for filter in list.iter_mut() {
                    let place = self.place(|| at(filter));
                    let reach = shared::listener_filter(filter).then_some(Reach::Global);
                    let before = self.shared.before(&class, filter, reach);
                    let mut changes = Vec::new();
                    self.merge_filter(id, filter, false, place, before.is_some().then_some(&mut changes))?;
                    if let Some(before) = before {
                        self.shared.changed(&class, before, filter, reach, vec![(id, changes)]);
                    }
                }
                continue;
            }
            self.edit_list(id, list, &mut names, matching::listener_filter, at)?;
        }
        Ok(())
    }

    fn filter_chains(&mut self, patches: &Patches, listener: &mut Tree<'a>) -> Flow {
        if patches.chain.is_empty() && patches.network.is_empty() && patches.http.is_empty() {
            self.drop_empty_chains(listener, false);
            return Ok(());
        }
        let name: Arc<str> = listener.name().into();
        let mut removed = false;
        if let Some(mut chains) = listener.get_mut("filter_chains").and_then(Tree::items_mut).map(std::mem::take) {
            let mut result = Ok(());
            for (index, chain) in chains.iter_mut().enumerate() {
                if chain.get("filters").is_some() {
                    let place = self.place(|| Place::chain(&name, Some(index), chain));
                    result = self.filter_chain(patches, &name, chain, place.as_ref());
                    removed |= chain.get("filters").is_none();
                    if result.is_err() {
                        break;
                    }
                }
            }
            if let Some(list) = listener.list_mut("filter_chains") {
                *list = chains;
            }
            result?;
        }
        if let Some(chain) = listener.get_mut("default_filter_chain").filter(|chain| chain.get("filters").is_some()) {
            let place = self.place(|| Place::chain(&name, None, chain));
            self.filter_chain(patches, &name, chain, place.as_ref())?;
            if chain.get("filters").is_none() {
                listener.remove("default_filter_chain");
            }
        }
        for &id in patches.chain.iter().filter(|&&id| self.operation(id) == Operation::Add).collect::<Vec<_>>() {
            let place = self.place(|| Place::resource(ResourceKind::Listener, name.clone()));
            let chain = self.value(id, place.as_ref())?;
            let dropped =
                chain.get("filters").is_none() && (self.plan.compat.has(Behaviour::DropEmptyAlways) || removed);
            if let Some(list) = listener.list_mut("filter_chains") {
                let place = self.place(|| Place::chain(&name, Some(list.len()), &chain));
                list.push(chain);
                let inserted = Effect::Inserted { index: list.len() - 1, length: list.len() };
                self.effect(id, place, if dropped { Effect::NoOp(NoOp::AddedEmpty) } else { inserted });
            }
        }
        self.drop_empty_chains(listener, removed);
        Ok(())
    }

    /// Drops chains without `filters`, including those that a LISTENER MERGE brought; up to 1.22 only if a patch `removed` one.
    fn drop_empty_chains(&mut self, listener: &mut Tree<'a>, removed: bool) {
        if !removed && !self.plan.compat.has(Behaviour::DropEmptyAlways) {
            return;
        }
        if let Some(list) = listener.get_mut("filter_chains").and_then(Tree::items_mut) {
            list.retain(|chain| chain.get("filters").is_some());
        }
    }

    /// One filter chain; without `filters` at the end it is removed.
    fn filter_chain(&mut self, patches: &Patches, listener: &str, chain: &mut Tree<'a>, place: Option<&Place>) -> Flow {
        for &id in &patches.chain {
            let operation = self.operation(id);
            if operation == Operation::Add {
                continue;
            }
            if let Err(miss) = matching::filter_chain(self.object(id), listener, chain, self.plan.compat) {
                self.miss(id, miss);
                continue;
            }
            if operation == Operation::Remove {
                self.bury(id, chain, place);
                self.effect(id, place.cloned(), Effect::Removed);
                chain.remove("filters");
                return Ok(());
            }
            if !self.merge_chain_socket(id, chain, place)? {
                self.merge(id, ApplyTo::FilterChain, chain, place.cloned())?;
            }
        }
        let compat = self.plan.compat;
        let fits = |object| matching::filter_chain(object, listener, chain, compat);
        let network = self.keep(&patches.network, fits);
        let http = self.keep(&patches.http, fits);
        if network.is_empty() && http.is_empty() {
            return Ok(());
        }
        let class = Class::of(patches.context, chain);
        let Some(filters) = chain.get_mut("filters").and_then(Tree::items_mut) else { return Ok(()) };
        let at = |filter: &Tree<'a>| Place::filter(place, filter);
        self.bring_shared(&class, filters);
        let mut names = Names::default();
        let (merges, edits): (Vec<PatchId>, Vec<PatchId>) =
            network.iter().partition(|&&id| self.operation(id) == Operation::Merge);
        for id in edits {
            self.edit_list(id, filters, &mut names, matching::network_filter, at)?;
        }
        for filter in filters.iter_mut() {
            self.network_filter(&merges, &http, filter, place, &class)?;
        }
        Ok(())
    }

    /// Updates objects in this list that merges elsewhere have changed.
    fn bring_shared(&mut self, class: &Class, filters: &mut [Tree<'a>]) {
        if self.shared.is_empty() {
            return;
        }
        for filter in filters {
            if let Some(now) = self.shared.current(class, filter) {
                *filter = now.clone();
                self.touched = true;
            }
        }
    }

    /// Both sides have the same transport socket name: only the socket is merged. `false`: merge the whole chain.
    fn merge_chain_socket(&mut self, id: PatchId, chain: &mut Tree<'a>, place: Option<&Place>) -> Result<bool, Stop> {
        let Some(given) = &self.plan.get(id).built.value else { return Ok(true) };
        let Some(wanted) = given.get("transport_socket") else { return Ok(false) };
        let Some(socket) = chain.get_mut("transport_socket").filter(|socket| wanted.name() == socket.name()) else {
            return Ok(false);
        };
        let (place, value) = (place.cloned(), self.value(id, place)?);
        let Some(wanted) = value.get("transport_socket") else { return Ok(false) };
        let effect = self.merge_socket(id, socket, wanted, &value, place.as_ref())?;
        self.effect(id, place, effect);
        Ok(true)
    }

    /// Merges the payload of one transport socket into another; everything else in the patch is dropped.
    pub(super) fn merge_socket(
        &mut self,
        id: PatchId,
        socket: &mut Tree<'a>,
        wanted: &Tree<'a>,
        value: &Tree<'a>,
        place: Option<&Place>,
    ) -> Result<Effect<'a>, Stop> {
        let (Some(target), Some(source)) = (socket.get_mut("typed_config"), wanted.get("typed_config")) else {
            return Ok(Effect::NoOp(NoOp::TransportSocketUntyped));
        };
        let mut log = Vec::new();
        if !self.merge_any(id, target, source, &mut log, "transport_socket.typed_config", place)? {
            return Ok(Effect::NoOp(NoOp::TypeUnknown));
        }
        let dropped = value.entries().iter().map(|(key, _)| key.to_string()).filter(|key| key != "transport_socket");
        Ok(Effect::TransportSocketMerged(log, dropped.collect()))
    }

    fn network_filter(
        &mut self,
        merges: &[PatchId],
        http: &[PatchId],
        filter: &mut Tree<'a>,
        chain: Option<&Place>,
        class: &Class,
    ) -> Flow {
        let reach = if merges.is_empty() { None } else { shared::network_filter(filter.name()) };
        let mut text: Option<Option<String>> = None;
        let (mut by, mut panicked) = (Vec::new(), Ok(()));
        for &id in merges {
            if let Err(miss) = matching::network_filter(self.object(id), filter) {
                self.miss(id, miss);
                continue;
            }
            let place = self.place(|| Place::filter(chain, filter));
            // Most merges are for other filters, and the text of each is long.
            let before = text.get_or_insert_with(|| self.shared.before(class, filter, reach));
            let mut changes = Vec::new();
            panicked = self.merge_filter(id, filter, true, place, before.is_some().then_some(&mut changes));
            if panicked.is_err() {
                break;
            }
            by.push((id, changes));
        }
        if let Some(before) = text.flatten() {
            self.shared.changed(class, before, filter, reach, by);
        }
        panicked?;
        if filter.name() == HTTP_CONNECTION_MANAGER {
            return self.http_filters(http, filter, chain);
        }
        let name = filter.name();
        for &id in http {
            self.miss(id, Miss::new(Condition::HttpConnectionManager, name));
        }
        Ok(())
    }

    fn http_filters(&mut self, ids: &[PatchId], filter: &mut Tree<'a>, chain: Option<&Place>) -> Flow {
        let ids = self.keep(ids, |object| matching::network_filter(object, filter));
        if ids.is_empty() {
            return Ok(());
        }
        let manager = self.place(|| Place::filter(chain, filter));
        let Some(config) = filter.get_mut("typed_config").filter(|it| it.type_name().as_deref() == Some(HCM_TYPE))
        else {
            for id in ids {
                self.effect(id, manager.clone(), Effect::NoOp(NoOp::NoHttpConnectionManager));
            }
            return Ok(());
        };
        let risky =
            ids.iter().any(|&id| self.operation(id) == Operation::Merge || self.plan.get(id).built.value.is_none());
        // A large mesh has thousands of listeners, of which only small parts are needed.
        config.open_partly(LOOKED_INTO);
        let Some(list) = config.list_mut("http_filters") else { return Ok(()) };
        // istiod works on a copy of the HTTP connection manager and writes it back at the end: a panic discards all changes.
        if !risky {
            return self.edit_http_filters(&ids, list, manager.as_ref());
        }
        let (before, touched) = (list.clone(), self.touched);
        self.sink.begin();
        let result = self.edit_http_filters(&ids, list, manager.as_ref());
        self.sink.end(result.is_err());
        if result.is_err() {
            *list = before;
            self.touched = touched;
        }
        result
    }

    fn edit_http_filters(&mut self, ids: &[PatchId], list: &mut Vec<Tree<'a>>, manager: Option<&Place>) -> Flow {
        let at = |filter: &Tree<'a>| {
            Place::within(manager, ResourceKind::Listener, |names| names.sub_filter = Some(filter.name().into()))
        };
        let (merges, edits): (Vec<PatchId>, Vec<PatchId>) =
            ids.iter().partition(|&&id| self.operation(id) == Operation::Merge);
        let mut names = Names::default();
        for id in edits {
            self.edit_list(id, list, &mut names, matching::http_filter, at)?;
        }
        for filter in list.iter_mut() {
            for &id in &merges {
                if let Err(miss) = matching::http_filter(self.object(id), filter) {
                    self.miss(id, miss);
                    continue;
                }
                let place = self.place(|| at(filter));
                self.merge_filter(id, filter, true, place, None)?;
            }
        }
        Ok(())
    }

    /// Patches the route configurations inside a listener's HTTP connection managers, each in its own call.
    pub(super) fn inline_routes(&mut self, slot: &mut Slot<'a>, wanted: impl Fn(&Tree<'a>) -> bool) {
        let tree = slot.open(self.config, self.plan.schema);
        let name: Arc<str> = tree.name().into();
        self.touched = false;
        let mut chains =
            tree.get_mut("filter_chains").and_then(Tree::items_mut).map(std::mem::take).unwrap_or_default();
        for (index, chain) in chains.iter_mut().enumerate() {
            let place = self.place(|| Place::chain(&name, Some(index), chain));
            self.inline_routes_of_chain(chain, place.as_ref(), &wanted);
        }
        if let Some(list) = tree.get_mut("filter_chains").and_then(Tree::items_mut) {
            *list = chains;
        }
        if let Some(chain) = tree.get_mut("default_filter_chain") {
            let place = self.place(|| Place::chain(&name, None, chain));
            self.inline_routes_of_chain(chain, place.as_ref(), &wanted);
        }
        slot.touched |= self.touched;
    }

    fn inline_routes_of_chain(
        &mut self,
        chain: &mut Tree<'a>,
        place: Option<&Place>,
        wanted: &impl Fn(&Tree<'a>) -> bool,
    ) {
        let Some(filters) = chain.get_mut("filters").and_then(Tree::items_mut) else { return };
        for filter in filters {
            let Some(config) = filter.get_mut("typed_config").filter(|it| it.type_name().as_deref() == Some(HCM_TYPE))
            else {
                continue;
            };
            config.open();
            if let Some(routes) = config.get_mut("route_config").filter(|routes| wanted(routes)) {
                self.route_configuration(PatchContext::SidecarInbound, routes, place);
            }
        }
    }
}

/// Names of the route configurations that a listener requests by RDS.
pub(super) fn rds_names(listener: &Tree<'_>) -> Vec<String> {
    let mut names = Vec::new();
    let chains = listener.get("filter_chains").map(Tree::items).unwrap_or_default();
    for chain in chains.iter().chain(listener.get("default_filter_chain")) {
        for filter in chain.get("filters").map(Tree::items).unwrap_or_default() {
            let Some(config) = filter.get("typed_config") else { continue };
            let name = |config: &Tree<'_>| -> Option<String> {
                let rds = config.get("rds")?.readable();
                Some(rds.get_either("route_config_name", "routeConfigName")?.as_str()?.to_owned())
            };
            names.extend(match (config.type_name().as_deref(), &config.value) {
                // Only this part of a connection manager is decoded: that takes a fraction of the time.
                (Some(HCM_TYPE), Value::Raw(_)) => {
                    let mut config = config.clone();
                    config.open_partly(&["rds"]);
                    name(&config)
                }
                (Some(HCM_TYPE), _) => name(config),
                _ => in_typed_struct(config).and_then(|config| name(&config)),
            });
        }
    }
    names
}

/// The connection manager in a TypedStruct, which the proxy reads and istiod does not.
fn in_typed_struct<'a>(config: &Tree<'a>) -> Option<Tree<'a>> {
    config.type_name().filter(|name| is_typed_struct(name))?;
    let (name, manager) = config.message();
    (name == HCM_TYPE).then_some(manager)
}

/// Names of the extension configurations that a listener requests by ECDS: HTTP, network and listener filters with
/// `config_discovery`.
pub(super) fn discovery_names(listener: &Tree<'_>) -> Vec<String> {
    let mut names = Vec::new();
    let mut look = |filter: &Tree<'_>| {
        if filter.get_either("config_discovery", "configDiscovery").is_some() {
            names.push(filter.name().to_owned());
        }
    };
    listener.get("listener_filters").map(Tree::items).unwrap_or_default().iter().for_each(&mut look);
    let chains = listener.get("filter_chains").map(Tree::items).unwrap_or_default();
    for chain in chains.iter().chain(listener.get("default_filter_chain")) {
        for filter in chain.get("filters").map(Tree::items).unwrap_or_default() {
            look(filter);
            if let Some(config) = filter.get("typed_config") {
                let config = in_typed_struct(config).map_or_else(|| config.readable(), Cow::Owned);
                let filters = config.get_either("http_filters", "httpFilters").map(Tree::items).unwrap_or_default();
                filters.iter().for_each(&mut look);
            }
        }
    }
    names
}

/// An empty message.
pub(super) fn empty<'a>() -> Tree<'a> {
    Tree::empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::json;

    /// What a real Envoy requests for them, whatever istiod reads.
    #[test]
    fn names_in_a_typed_struct_are_requested() {
        let listener = r#"{"filter_chains": [{"filters": [{"name": "m", "typed_config": {
            "@type": "type.googleapis.com/xds.type.v3.TypedStruct", "type_url": "type.googleapis.com/HCM",
            "value": {"rds": {"routeConfigName": "http.8080"}, "httpFilters": [{"name": "e", "configDiscovery": {}}]}}}]}]}"#;
        let listener = listener.replace("HCM", HCM_TYPE);
        let tree = json::parse(&listener).unwrap();
        assert_eq!((rds_names(&tree), discovery_names(&tree)), (vec!["http.8080".to_owned()], vec!["e".to_owned()]));
    }
}
