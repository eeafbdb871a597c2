//! Undoes RDS patches: the steps of `engine/route.rs` from the last to the first.

use super::Seen;
use super::undo::{Undo, known_by_name};
use crate::engine::matching;
use crate::engine::trace::{PatchId, Place};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use crate::proto::unmerge::holds;

impl<'a> Undo<'_, 'a> {
    fn routes_fit(&self, object: &ObjectMatch, name: &str) -> bool {
        matching::route_configuration(self.gateway(), object, name, &self.ports).is_ok()
    }

    /// Whether patches may have changed a route configuration; others need not be decoded. A patch on the whole configuration
    /// may have given it its name.
    pub(super) fn concerns_routes(&self, context: PatchContext, name: &str) -> bool {
        let ids = |apply_to| self.plan.for_context(apply_to, context);
        !ids(ApplyTo::RouteConfiguration).is_empty()
            || [ApplyTo::VirtualHost, ApplyTo::HttpRoute]
                .into_iter()
                .any(|apply_to| ids(apply_to).into_iter().any(|id| self.routes_fit(self.object(id), name)))
    }

    /// One route configuration. `inside`: the filter chain that contains an inline one.
    pub(super) fn route_configuration(&mut self, context: PatchContext, routes: &mut Tree<'a>, inside: Option<&Place>) {
        let here = |name: &str| match inside {
            Some(place) => place.with(|names| names.inline_route = Some(name.into())),
            None => Place::resource(ResourceKind::Route, name),
        };
        let name = routes.name().to_owned();
        let fitting = |apply_to| -> Vec<PatchId> {
            let ids = self.plan.for_context(apply_to, context);
            ids.into_iter().filter(|&id| self.routes_fit(self.object(id), &name)).collect()
        };
        let (vhost_ids, route_ids) = (fitting(ApplyTo::VirtualHost), fitting(ApplyTo::HttpRoute));
        if !(vhost_ids.is_empty() && route_ids.is_empty())
            && let Some(mut vhosts) = routes.list_mut("virtual_hosts").map(std::mem::take)
        {
            self.virtual_hosts(&vhost_ids, &route_ids, &mut vhosts, &here(&name));
            if let Some(list) = routes.list_mut("virtual_hosts") {
                *list = vhosts;
            }
        }
        let (gateway, ports) = (self.gateway(), self.ports.clone());
        let fits = |object: &'a ObjectMatch, tree: &Tree<'a>| {
            matching::route_configuration(gateway, object, tree.name(), &ports).is_ok()
        };
        for &id in self.plan.for_context(ApplyTo::RouteConfiguration, context).iter().rev() {
            let named = matching::route_match(self.object(id)).map(|it| it.name.as_str()).filter(|it| !it.is_empty());
            self.undo_edit(id, ApplyTo::RouteConfiguration, routes, named, fits, |tree| here(tree.name()));
        }
    }

    fn virtual_hosts(
        &mut self,
        vhost_ids: &[PatchId],
        route_ids: &[PatchId],
        vhosts: &mut Vec<Tree<'a>>,
        here: &Place,
    ) {
        let at = |vhost: &Tree<'a>| here.with(|names| names.vhost = Some(vhost.name().into()));
        for &id in vhost_ids.iter().rev().filter(|&&id| self.operation(id) == Operation::Add).collect::<Vec<_>>() {
            let Some(value) = self.value(id) else { continue };
            let there = vhosts.last().is_some_and(|last| holds(last, value));
            if there {
                vhosts.pop();
            }
            self.show(id, at(value), if there { Seen::Found } else { Seen::Missing });
        }
        for vhost in vhosts {
            let ids = self.keep(route_ids, |object| matching::virtual_host(object, vhost));
            if !ids.is_empty() {
                let place = at(vhost);
                self.routes(&ids, vhost, &place);
            }
            for &id in vhost_ids.iter().rev() {
                let operation = self.operation(id);
                let wanted = matching::route_match(self.object(id)).and_then(|it| it.vhost.as_ref());
                let named = wanted.map(|vhost| vhost.name.as_str()).filter(|name| !name.is_empty());
                if operation == Operation::Replace {
                    self.unreplace(id, vhost, named, &at);
                } else if operation.is_merge() || operation == Operation::Remove {
                    let fits = |object: &'a ObjectMatch, tree: &Tree<'a>| matching::virtual_host(object, tree).is_ok();
                    self.undo_edit(id, ApplyTo::VirtualHost, vhost, named, fits, at);
                }
            }
        }
    }

    fn unreplace(
        &mut self,
        id: PatchId,
        vhost: &mut Tree<'a>,
        named: Option<&'a str>,
        at: &impl Fn(&Tree<'a>) -> Place,
    ) {
        let Some(value) = self.value(id) else { return };
        let there = at(vhost);
        if holds(vhost, value) {
            *vhost = known_by_name(named.unwrap_or(value.name()));
            self.show(id, there, Seen::Found);
        } else if matching::virtual_host(self.object(id), vhost).is_ok() {
            self.show(id, there, Seen::Missing);
        }
    }

    fn routes(&mut self, ids: &[PatchId], vhost: &mut Tree<'a>, place: &Place) {
        let Some(list) = vhost.list_mut("routes") else { return };
        let at = |index: usize, route: &Tree<'a>| place.with(|names| names.route = Some((index, route.name().into())));
        for &id in ids.iter().rev() {
            self.uninsert_route(id, list, &at);
        }
        let fits = |object: &'a ObjectMatch, tree: &Tree<'a>| matching::route(object, tree).is_ok();
        for (index, route) in list.iter_mut().enumerate() {
            for &id in ids.iter().rev() {
                let operation = self.operation(id);
                if operation == Operation::Remove || operation.is_merge() {
                    let wanted = matching::route_match(self.object(id)).and_then(|it| it.vhost.as_ref());
                    let named = wanted.and_then(|it| it.route.as_ref()).map(|route| route.name.as_str());
                    let named = named.filter(|name| !name.is_empty());
                    self.undo_edit(id, ApplyTo::HttpRoute, route, named, fits, |route| at(index, route));
                }
            }
        }
    }

    fn uninsert_route(&mut self, id: PatchId, list: &mut Vec<Tree<'a>>, at: &impl Fn(usize, &Tree<'a>) -> Place) {
        let (operation, object) = (self.operation(id), self.object(id));
        let Some(value) = self.value(id) else { return };
        let named = matching::has_route(object);
        let fitting: Vec<usize> =
            (0..list.len()).filter(|&at| matching::route(object, &list[at]).is_ok()).take(2).collect();
        let is = |at: &usize| list.get(*at).is_some_and(|item| holds(item, value));
        let end = list.len().checked_sub(1);
        let anchor = |at: usize| {
            let found = fitting.iter().copied().find(|&it| it != at);
            found.map(|it| it - usize::from(it > at))
        };
        let found = match operation {
            Operation::Add => end.filter(is),
            Operation::InsertAfter if !named => end.filter(is),
            Operation::InsertBefore | Operation::InsertFirst if !named => Some(0).filter(is),
            Operation::InsertFirst => Some(0).filter(is).filter(|&at| anchor(at).is_some()),
            Operation::InsertAfter => {
                (0..list.len()).filter(is).find(|&at| anchor(at).is_some_and(|anchor| anchor + 1 == at))
            }
            Operation::InsertBefore => (0..list.len()).filter(is).find(|&at| anchor(at) == Some(at)),
            _ => return,
        };
        match found {
            Some(index) => {
                let place = at(index, value);
                list.remove(index);
                self.show(id, place, Seen::Found);
            }
            None if !named || operation == Operation::Add || !fitting.is_empty() => {
                self.show(id, at(0, value), Seen::Missing);
            }
            None => {}
        }
    }
}
