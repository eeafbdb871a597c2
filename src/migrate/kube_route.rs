//! HTTPRoutes that own a host: of the settings that filters use, they have only a timeout.

use super::catalog;
use super::change::{Change, Choose};
use super::draft::Action;
use super::route_value::Setting;
use super::routes::{Group, whole_host};
use super::step::{Cx, Move};
use super::verdict::{Concern, Kind, State};
use serde_json::json;

/// An HTTPRoute that owns the host: of the settings that filters use, it has only a timeout.
pub(super) fn kube_route(
    cx: &Cx<'_>,
    found: &mut Move,
    group: &Group,
    setting: &Setting,
    choose: &Choose,
) -> Option<Move> {
    let host = group.host.as_deref()?;
    let listed = |object: &&crate::model::inventory::Object| {
        let document = object.document.to_json();
        document["spec"]["hostnames"].as_array().is_some_and(|names| names.iter().any(|name| name == host))
    };
    let routes: Vec<_> = cx.mesh.policies("HTTPRoute", cx.filter).into_iter().filter(listed).collect();
    let [route] = routes.as_slice() else { return None };
    if setting.pattern != &catalog::ROUTE_TIMEOUT || *choose != Choose::Routing {
        return Some(Move::none(
            setting.pattern,
            format!("HTTPRoute {}/{} has no field for it", route.namespace, route.name),
        ));
    }
    found.add_home("HTTPRoute", "rules.timeouts.request", 0);
    let document = route.document.to_json();
    let parents = document["spec"]["parentRefs"].as_array().map_or(0, Vec::len);
    let names = document["spec"]["hostnames"].as_array().map_or(0, Vec::len);
    if parents > 1 || names > 1 {
        let reason = format!("HTTPRoute {}/{} also applies to other hosts or gateways", route.namespace, route.name);
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Routes, State::Broken, reason);
    }
    whole_host(cx, group, found);
    let timeout = setting.value["timeout"].clone();
    found.actions.push(Action::Edit {
        object: ("HTTPRoute", route.namespace.clone(), route.name.clone()),
        change: Change::Rules { choose: choose.clone(), value: json!({ "timeouts": { "request": timeout } }) },
    });
    Some(found.clone())
}
