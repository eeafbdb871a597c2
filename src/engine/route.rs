//! RDS: route configurations, virtual hosts, routes.
//!
//! Follows istiod's `rc_patch.go` step by step.

use super::listener;
use super::matching::{self, PortMap};
use super::run::{Flow, Run, Slot};
use super::trace::{Condition, Effect, Miss, PatchId, Place, Sink};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext};
use crate::model::resource::{ProxyConfig, ResourceKind, ResourceText};
use crate::proto::items::Items;
use crate::proto::json;
use crate::proto::tree::{Origin, Tree, Value};
use std::rc::Rc;

impl<'a, S: Sink<'a>> Run<'_, 'a, S> {
    /// Whether any patch of a context may apply to a route configuration of this name; records the misses if none does.
    pub(super) fn concerns_routes(&mut self, context: PatchContext, name: &str) -> bool {
        let all = [ApplyTo::RouteConfiguration, ApplyTo::VirtualHost, ApplyTo::HttpRoute];
        let all = all.map(|apply_to| self.ids(apply_to, context));
        let (gateway, ports) = (self.gateway(), Rc::clone(&self.ports));
        let fits = |object| matching::route_configuration(gateway, object, name, &ports);
        // A merge may rename the route configuration, and later patches may match the new name.
        if all.iter().any(|ids| ids.iter().any(|&id| fits(self.object(id)).is_ok())) {
            return true;
        }
        for ids in all {
            self.keep(&ids, fits);
        }
        false
    }

    /// One call of istiod's `ApplyRouteConfigurationPatches`. A panic ends the call. `inside`: the filter chain that contains
    /// an inline route configuration.
    pub(super) fn route_configuration(&mut self, context: PatchContext, routes: &mut Tree<'a>, inside: Option<&Place>) {
        let name = routes.name().to_owned();
        if !self.concerns_routes(context, &name) {
            return;
        }
        let here = |name: &str| match inside {
            Some(place) => place.with(|names| names.inline_route = Some(name.into())),
            None => Place::resource(ResourceKind::Route, name),
        };
        if let Err(stop) = self.patch_routes(context, routes, here) {
            let mut tree = std::mem::replace(routes, Tree::new(Value::Null));
            restore_removed(&mut tree);
            *routes = tree;
            self.abort(stop, Vec::new);
        }
    }

    fn fitting(&mut self, apply_to: ApplyTo, context: PatchContext, name: &str) -> Vec<PatchId> {
        let ids = self.ids(apply_to, context);
        let (gateway, ports) = (self.gateway(), Rc::clone(&self.ports));
        self.keep(&ids, |object| matching::route_configuration(gateway, object, name, &ports))
    }

    fn patch_routes(&mut self, context: PatchContext, routes: &mut Tree<'a>, here: impl Fn(&str) -> Place) -> Flow {
        for &id in self.ids(ApplyTo::RouteConfiguration, context).iter() {
            let (gateway, ports) = (self.gateway(), Rc::clone(&self.ports));
            let name = routes.name().to_owned();
            if let Err(miss) = matching::route_configuration(gateway, self.object(id), &name, &ports) {
                self.miss(id, miss);
                continue;
            }
            let place = self.place(|| here(&name));
            self.merge(id, ApplyTo::RouteConfiguration, routes, place)?;
        }
        let name = routes.name().to_owned();
        let vhost_ids = self.fitting(ApplyTo::VirtualHost, context, &name);
        let route_ids = self.fitting(ApplyTo::HttpRoute, context, &name);
        if vhost_ids.is_empty() && route_ids.is_empty() {
            return Ok(());
        }
        let Some(list) = routes.list_mut("virtual_hosts") else { return Ok(()) };
        let mut vhosts = std::mem::take(list);
        let result = self.virtual_hosts(&vhost_ids, &route_ids, &mut vhosts, &|| here(&name));
        if let Some(list) = routes.list_mut("virtual_hosts") {
            *list = vhosts;
        }
        result
    }

    fn virtual_hosts(
        &mut self,
        vhost_ids: &[PatchId],
        route_ids: &[PatchId],
        vhosts: &mut Vec<Tree<'a>>,
        here: &dyn Fn() -> Place,
    ) -> Flow {
        let at = |vhost: &Tree<'a>| here().with(|names| names.vhost = Some(vhost.name().into()));
        let mut removed: Vec<(String, PatchId)> = Vec::new();
        for vhost in vhosts.iter_mut() {
            if let Some(by) = self.virtual_host(vhost_ids, route_ids, vhost, &at)? {
                removed.push((vhost.name().to_owned(), by));
            }
        }
        let first_added = vhosts.len();
        for &id in vhost_ids.iter().filter(|&&id| self.operation(id) == Operation::Add).collect::<Vec<_>>() {
            let place = self.place(here);
            let vhost = self.value(id, place.as_ref())?;
            let place = self.place(|| at(&vhost));
            vhosts.push(vhost);
            self.effect(id, place, Effect::Inserted { index: vhosts.len() - 1, length: vhosts.len() });
        }
        // By name: an added virtual host with the name of a removed one is removed too.
        for vhost in &vhosts[first_added..] {
            if let Some((_, by)) = removed.iter().find(|(name, _)| name == vhost.name()) {
                let place = self.place(|| at(vhost));
                self.bury(*by, vhost, place.as_ref());
            }
        }
        vhosts.retain(|vhost| !removed.iter().any(|(name, _)| name == vhost.name()));
        Ok(())
    }

    /// The patch that removes the virtual host.
    fn virtual_host(
        &mut self,
        vhost_ids: &[PatchId],
        route_ids: &[PatchId],
        vhost: &mut Tree<'a>,
        at: &dyn Fn(&Tree<'a>) -> Place,
    ) -> Result<Option<PatchId>, super::run::Stop> {
        for &id in vhost_ids {
            let operation = self.operation(id);
            if !operation.is_merge() && !matches!(operation, Operation::Remove | Operation::Replace) {
                continue;
            }
            if let Err(miss) = matching::virtual_host(self.object(id), vhost) {
                self.miss(id, miss);
                continue;
            }
            let place = self.place(|| at(vhost));
            match operation {
                Operation::Remove => {
                    self.bury(id, vhost, place.as_ref());
                    self.effect(id, place, Effect::Removed);
                    self.none_left(after(vhost_ids, id).chain(route_ids), matching::of_virtual_host);
                    return Ok(Some(id));
                }
                Operation::Replace => {
                    let value = self.value(id, place.as_ref())?;
                    let old = std::mem::replace(vhost, value);
                    self.bury(id, &old, place.as_ref());
                    self.effect(id, place, Effect::Replaced);
                }
                _ => self.merge(id, ApplyTo::VirtualHost, vhost, place)?,
            }
        }
        let ids = self.keep(route_ids, |object| matching::virtual_host(object, vhost));
        if !ids.is_empty() {
            let place = self.place(|| at(vhost));
            self.routes(&ids, vhost, place.as_ref())?;
        }
        Ok(None)
    }

    /// Records that no object is left for patches that name one.
    fn none_left<'i>(
        &mut self,
        ids: impl IntoIterator<Item = &'i PatchId>,
        condition: impl Fn(&ObjectMatch) -> Option<Condition>,
    ) {
        for &id in ids.into_iter().filter(|_| S::ON) {
            if let Some(condition) = condition(self.object(id)) {
                self.miss(id, Miss::no_object(condition));
            }
        }
    }

    fn routes(&mut self, ids: &[PatchId], vhost: &mut Tree<'a>, place: Option<&Place>) -> Flow {
        let Some(list) = vhost.list_mut("routes") else { return Ok(()) };
        let at = |index: usize, route: &Tree<'a>| {
            Place::within(place, ResourceKind::Route, |names| names.route = Some((index, route.name().into())))
        };
        if list.is_empty() {
            self.none_left(ids, matching::of_route);
        }
        let mut removed = false;
        for (index, route) in list.iter_mut().enumerate() {
            for &id in ids {
                let operation = self.operation(id);
                if operation != Operation::Remove && !operation.is_merge() {
                    continue;
                }
                if let Err(miss) = matching::route(self.object(id), route) {
                    self.miss(id, miss);
                    continue;
                }
                let place = self.place(|| at(index, route));
                if operation == Operation::Remove {
                    self.bury(id, route, place.as_ref());
                    self.effect(id, place, Effect::Removed);
                    // Go leaves a nil until all patches are done, so positions stay valid.
                    route.value = Value::Null;
                    removed = true;
                    self.none_left(after(ids, id), matching::of_route);
                    break;
                }
                self.merge(id, ApplyTo::HttpRoute, route, place)?;
            }
        }
        for &id in ids {
            self.insert_route(id, list, &at)?;
        }
        if removed {
            list.retain(|route| !matches!(route.value, Value::Null));
        }
        Ok(())
    }

    fn insert_route(&mut self, id: PatchId, list: &mut Vec<Tree<'a>>, at: &dyn Fn(usize, &Tree<'a>) -> Place) -> Flow {
        let operation = self.operation(id);
        let object = self.object(id);
        let named = matching::has_route(object);
        let index = match operation {
            Operation::Add => list.len(),
            Operation::InsertAfter if !named => list.len(),
            Operation::InsertBefore | Operation::InsertFirst if !named => 0,
            Operation::InsertAfter | Operation::InsertBefore | Operation::InsertFirst => {
                let fits =
                    |route: &Tree<'a>| !matches!(route.value, Value::Null) && matching::route(object, route).is_ok();
                let Some(found) = list.iter().position(fits) else {
                    let routes = list.iter().filter(|route| !matches!(route.value, Value::Null));
                    for miss in routes.filter_map(|route| matching::route(object, route).err()) {
                        self.miss(id, miss);
                    }
                    return Ok(());
                };
                match operation {
                    Operation::InsertAfter => found + 1,
                    Operation::InsertBefore => found,
                    _ => 0,
                }
            }
            _ => return Ok(()),
        };
        let unnamed = super::listener::empty();
        let place = self.place(|| at(index, &unnamed));
        let route = self.value(id, place.as_ref())?;
        let place = self.place(|| at(index, &route));
        list.insert(index, route);
        self.effect(id, place, Effect::Inserted { index, length: list.len() });
        Ok(())
    }
}

/// After a panic a removed route is a nil that is sent as an empty message.
fn restore_removed(routes: &mut Tree<'_>) {
    for vhost in routes.get_mut("virtual_hosts").and_then(Tree::items_mut).into_iter().flatten() {
        for route in vhost.get_mut("routes").and_then(Tree::items_mut).into_iter().flatten() {
            if matches!(route.value, Value::Null) {
                route.value = Value::Map(Items::default());
            }
        }
    }
}

/// The patches after one.
fn after(ids: &[PatchId], id: PatchId) -> impl Iterator<Item = &PatchId> {
    ids.iter().skip_while(move |&&other| other != id).skip(1)
}

/// Service ports behind a gateway's target ports. istiod names a gateway's virtual hosts `<host>:<server port>`, so the names
/// show the ports of the Gateway's servers (`model.MergeGateways`, `getTargetPortMap`).
pub(super) fn port_map(config: &ProxyConfig<'_>) -> PortMap {
    let mut map = PortMap::new();
    for (_, resource) in config.generated(ResourceKind::Route) {
        let port = matching::parse_gateway_route_name(&resource.name).port;
        let parsed;
        let tree = if let Some(tree) = resource.opened.as_ref().and_then(|opened| opened.of(resource.json.search())) {
            tree
        } else {
            parsed = json::parse(resource.json.search()).unwrap_or_else(|_| listener::empty());
            &parsed
        };
        let vhosts = tree.get("virtual_hosts").or_else(|| tree.get("virtualHosts"));
        for vhost in vhosts.map(Tree::items).unwrap_or_default() {
            if let Some(service_port) = vhost.name().rsplit(':').next().and_then(|text| text.parse().ok()) {
                map.entry(port).or_default().insert(service_port);
            }
        }
    }
    map
}

/// A route configuration that no server has, as istiod sends it.
pub(super) fn empty<'a>(name: &str) -> Slot<'a> {
    let mut tree = listener::empty();
    tree.set("name", Tree::string(name.to_owned(), Origin::ISTIOD));
    tree.set("validate_clusters", Tree::new(Value::Bool(false)));
    Slot {
        kind: ResourceKind::Route,
        source: None,
        name: name.to_owned().into(),
        text: ResourceText::default(),
        tree: Some(Box::new(tree)),
        packed: None,
        touched: true,
        removed: false,
    }
}
