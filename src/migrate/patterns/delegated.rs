//! Rules of a VirtualService that delegate to another one: istiod gives the other one's rules what the delegating rule sets
//! and they do not, and joins the names of both.

use super::route_value::Setting;
use crate::migrate::base::step::{Cx, Move};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::beside;
use crate::migrate::output::change::Choose;
use crate::model::envoy_filter::RouteAction;
use crate::model::inventory::VirtualService;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Judges an edit of a VirtualService whose rules delegate; whether there is none.
pub(in crate::migrate) fn refuses(
    cx: &Cx<'_>,
    owner: &VirtualService,
    rules: &[Json],
    (choose, action, setting): (&Choose, RouteAction, &Setting),
    found: &mut Move,
) -> bool {
    let delegating: Vec<&Json> = rules.iter().filter(|rule| rule.get("delegate").is_some()).collect();
    if delegating.is_empty() {
        return false;
    }
    let name = format!("{}/{}", owner.object.namespace, owner.object.name);
    if let Choose::Named(route) = choose {
        let Some(other) = delegating.iter().find(|rule| may_name(rule, route)) else { return false };
        let reason = format!(
            "istiod names the routes that VirtualService {name} delegates after both rules, and the filter matches route `{route}`: set it in the rules of VirtualService {} that are meant",
            target(owner, other)
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Routes, State::Broken, reason);
        return true;
    }
    let targets: BTreeSet<String> = delegating.iter().map(|rule| target(owner, rule)).collect();
    for target in targets {
        let (namespace, other) = target.split_once('/').unwrap_or_default();
        let known = cx.mesh.index.objects("VirtualService", namespace, other);
        if known.is_empty() {
            found.guard(
                Concern::Routes,
                State::Undecided,
                format!("VirtualService {name} delegates to {target}, which is not in the input: what its rules set themselves overrides the edit"),
            );
            continue;
        }
        let documents: Vec<Json> = known.iter().map(|one| one.document.to_json()).collect();
        let theirs = || documents.iter().flat_map(|one| one["spec"]["http"].as_array().into_iter().flatten());
        let routed = setting.needs_route && !setting.at_host && *choose == Choose::Routing;
        if routed && action == RouteAction::Any && theirs().any(beside::answers) {
            found.difference(
                Kind::Behavior,
                format!(
                    "the filter also replaces the redirects and direct responses of VirtualService {target} with a route action that has no destination; the native object leaves them unchanged"
                ),
            );
        }
        if theirs().any(|rule| overrides(rule, setting)) {
            let reason = format!(
                "VirtualService {name} delegates to {target}, where a rule has a field of its own that overrides the edit: set it in those rules"
            );
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Routes, State::Broken, reason);
        }
    }
    false
}

/// Whether a route made of a delegating rule may have a name: `RULE`, `OTHER` or `RULE-OTHER`.
fn may_name(rule: &Json, route: &str) -> bool {
    match rule["name"].as_str().unwrap_or_default() {
        "" => true,
        own => route.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
    }
}

/// Whether a rule has a field that the edit sets: istiod takes the whole field from the one or the other.
fn overrides(rule: &Json, setting: &Setting) -> bool {
    let keys = setting.value.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    keys.into_iter().any(|key| rule.get(key).is_some() || key == "mirrors" && rule.get("mirror").is_some())
}

/// The VirtualService that a rule delegates to, by default of the same namespace.
fn target(owner: &VirtualService, rule: &Json) -> String {
    let to = &rule["delegate"];
    let namespace = to["namespace"].as_str().filter(|namespace| !namespace.is_empty());
    format!("{}/{}", namespace.unwrap_or(&owner.object.namespace), to["name"].as_str().unwrap_or_default())
}
