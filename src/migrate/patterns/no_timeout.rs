//! `timeout: 0s`, which turns the timeout of routes off: rules lose theirs, and have none if they name none.
//!
//! The API server and istiod reject `timeout: 0s` in a VirtualService (`duration(self) >= duration('1ms')`), and istiod ignores it
//! in an HTTPRoute; a rule without a timeout gets `timeout: 0s` from istiod.

use super::kube_rule::as_virtual;
use super::route_value::Setting;
use crate::migrate::base::step::{BUILT_IN, Cx, Move, NOTHING, Part};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::beside;
use crate::migrate::output::change::Choose;
use crate::model::envoy_filter::PatchContext;
use crate::model::inventory::VirtualService;
use serde_json::Value as Json;

/// The field of a rule.
const TIMEOUT: &str = "timeout";

impl Setting {
    /// Whether it removes the timeout of a rule.
    pub(in crate::migrate) fn ends_timeout(&self) -> bool {
        self.value.get(TIMEOUT).is_some_and(Json::is_null)
    }

    /// Whether that is all it does.
    pub(in crate::migrate) fn only_ends_timeout(&self) -> bool {
        self.ends_timeout() && self.rest.is_none() && self.value.as_object().is_some_and(|value| value.len() == 1)
    }

    /// What a new rule says, which has no timeout to remove.
    pub(in crate::migrate) fn of_new_rule(&self) -> Json {
        let mut value = self.value.clone();
        if let Some(value) = value.as_object_mut().filter(|_| self.ends_timeout()) {
            value.shift_remove(TIMEOUT);
        }
        value
    }
}

/// Nothing replaces the patch: istiod generates these routes without a timeout.
pub(in crate::migrate) fn built_in(setting: &Setting) -> Move {
    let mut found = Move::new(setting.pattern).home(BUILT_IN, NOTHING, 0);
    found.notes.push("istiod generates these routes with `timeout: 0s` already".to_owned());
    found
}

/// On a waypoint, a filter for inbound changes only the routes of services without a route object, which have no timeout.
pub(in crate::migrate) fn at_waypoint(cx: &Cx<'_>, part: &Part<'_>, setting: &Setting) -> Move {
    if setting.only_ends_timeout() && part.reach.context == PatchContext::SidecarInbound && cx.mesh.described() {
        return built_in(setting);
    }
    Move::none(
        setting.pattern,
        "the routes of services without a route object have no timeout; remove `timeout` from the route objects that have one",
    )
}

/// Whether every rule of VirtualServices is a route of its own without a timeout, so that the patch changes none.
pub(in crate::migrate) fn has_none(owners: &[&VirtualService], choose: &Choose) -> bool {
    let plain = |owner: &&VirtualService| {
        let document = owner.object.document.to_json();
        let rules = document["spec"]["http"].as_array().map_or(&[][..], Vec::as_slice);
        let all = rules.iter().all(|rule| {
            let touched = choose.fits(rule) || *choose == Choose::Routing;
            !touched || rule.get("route").is_some() && rule.get(TIMEOUT).is_none()
        });
        all && rules.iter().any(|rule| choose.fits(rule))
    };
    !owners.is_empty() && owners.iter().all(plain)
}

/// Whether an edit changes a rule; the timeout of a rule is also the limit for that of gRPC requests.
pub(in crate::migrate) fn edits<'r>(
    setting: &Setting,
    mut rules: impl Iterator<Item = &'r Json>,
    found: &mut Move,
) -> bool {
    if !setting.ends_timeout() {
        return true;
    }
    let some = rules.any(|rule| rule.get(TIMEOUT).is_some());
    if some {
        found.difference(
            Kind::Behavior,
            "a gRPC request may name any timeout (`grpc-timeout`); with the filter, the timeout of the rule remains the limit for that",
        );
    }
    some || !setting.only_ends_timeout()
}

/// Whether the edit changes a rule of an HTTPRoute.
pub(in crate::migrate) fn edits_kube(setting: &Setting, rules: &[&Json], found: &mut Move) -> bool {
    let rules: Vec<Json> = rules.iter().map(|rule| with_timeout(rule)).collect();
    edits(setting, rules.iter(), found)
}

/// A rule of an HTTPRoute in the form of a VirtualService's, with the timeout that istiod gives it.
fn with_timeout(rule: &Json) -> Json {
    let mut native = as_virtual(rule);
    let timeouts = &rule["timeouts"];
    let backend = if rule.get("retry").is_none() { &timeouts["backendRequest"] } else { &Json::Null };
    if let Some(timeout) = [backend, &timeouts["request"]].into_iter().find(|one| !one.is_null()) {
        native[TIMEOUT] = timeout.clone();
    }
    native
}

/// Routes from sidecars to one service: without a VirtualService they have no timeout.
pub(in crate::migrate) fn outbound(cx: &Cx<'_>, host: &str, namespace: &str, setting: &Setting) -> Move {
    let mut others = Move::new(setting.pattern);
    beside::taken(cx, host, namespace, &mut others);
    let of_mesh = |one: &&VirtualService| one.gateways.is_empty() || one.gateways.iter().any(|name| name == "mesh");
    let services: Vec<&VirtualService> = cx.mesh.index.virtual_services(host).filter(of_mesh).collect();
    let none = beside::of_service(cx, host).is_none() && has_none(&services, &Choose::Routing);
    if others.guards.is_empty() || none {
        return built_in(setting);
    }
    let mut found = Move::new(setting.pattern).home("VirtualService", setting.field, setting.since);
    if !cx.mesh.described() {
        let reason = format!(
            "it is unknown whether a VirtualService gives {host} a timeout: if so, remove `timeout` there; if not, there is none"
        );
        return found.guarded(Concern::Existing, State::Undecided, reason);
    }
    let reason = format!(
        "a VirtualService or a route of the Gateway API for {host} already exists, and may be for other clients too: remove `timeout` there by hand"
    );
    found.difference(Kind::Behavior, reason.clone());
    found.guarded(Concern::Existing, State::Broken, reason)
}
