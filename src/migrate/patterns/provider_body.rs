//! MERGE of request bodies into istiod's own `ext_authz`: the setting of the provider of a CUSTOM AuthorizationPolicy.

use super::ext_authz::{EXT_AUTHZ, body_of};
use crate::migrate::base::step::{Cx, Move, PROVIDER_BODY, Part};
use crate::migrate::base::value::merge;
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::base::{catalog, filters};
use crate::migrate::guards::attach::{self, Directions};
use crate::migrate::guards::removed;
use crate::migrate::objects::mesh::{Mesh, Proxies};
use crate::migrate::objects::policy;
use crate::migrate::output::draft::Action;
use crate::migrate::output::roll_out::WINS;
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::inventory::Object;
use crate::source::Node;
use crate::words::{MOST_NAMES, few};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

const BODY_KEY: &str = "includeRequestBodyInCheck";

/// Finds patches that only set which part of a request's body the authorization service gets.
pub(in crate::migrate) fn find(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    for part in parts.iter_mut().filter(|part| part.found.is_none()) {
        if let Some(found) = of_merge(cx, part) {
            part.answer(found);
        }
    }
}

fn of_merge(cx: &Cx<'_>, part: &Part<'_>) -> Option<Move> {
    let merges = part.apply_to() == ApplyTo::HttpFilter && part.operation() == Operation::Merge;
    if !merges || part.config_type() != EXT_AUTHZ || part.reach.context == PatchContext::SidecarOutbound {
        return None;
    }
    removed::changed(part.built).filter(|(name, _)| *name == filters::EXT_AUTHZ)?;
    let mut value = part.value.clone();
    value.text("name").is_none_or(|name| name == filters::EXT_AUTHZ).then_some(())?;
    let mut config = value.typed("typed_config", EXT_AUTHZ)?;
    let body = body_of(&mut config)?;
    if !config.is_empty() || !value.is_empty() || body.as_object().is_none_or(serde_json::Map::is_empty) {
        return None;
    }
    let customs: Vec<&Object> = cx.mesh.index.policies(POLICY).iter().copied().filter(|one| is_custom(one)).collect();
    let near = policy::existing(cx, CUSTOM).into_iter().chain(policy::tried(cx, CUSTOM));
    let near: BTreeSet<&str> = near.filter_map(provider_of).collect();
    let mut names = near.into_iter();
    let name = names.next()?;
    if let Some(other) = names.next() {
        let reason = format!(
            "the CUSTOM policies of these workloads have several providers ({name} and {other}): set `{BODY_KEY}` of each by hand"
        );
        return Some(Move::none(&catalog::EXT_AUTHZ, reason));
    }
    let mut found = Move::new(&catalog::EXT_AUTHZ).home("MeshConfig", PROVIDER_BODY, 0);
    found.set("request bodies for external authorization");
    found.meanwhile = vec![WINS];
    whole(cx, part, &mut found);
    alone(cx, part, &mut found, &customs, name);
    let Some(mesh) = cx.mesh.mesh_config() else {
        let reason = "the mesh settings with the provider are not in the input: include the ConfigMap `istio`";
        found.guard(Concern::Existing, State::Undecided, reason);
        return Some(found);
    };
    let Some(provider) = with_body(mesh, name, &body) else {
        let reason = format!("the mesh settings have no provider {name} for external authorization");
        return Some(Move::none(&catalog::EXT_AUTHZ, reason));
    };
    found.actions.push(Action::Mesh(json!({ "extensionProviders": [provider] })));
    Some(found)
}

const POLICY: &str = "AuthorizationPolicy";
const CUSTOM: &str = "CUSTOM";

/// The text below `spec` of a policy.
fn text_of<'o>(policy: &'o Object, keys: &[&str]) -> Option<&'o str> {
    policy.document.get("spec")?.under(keys)?.as_str()
}

fn is_custom(policy: &Object) -> bool {
    text_of(policy, &["action"]) == Some(CUSTOM)
}

fn provider_of(policy: &Object) -> Option<&str> {
    text_of(policy, &["provider", "name"])
}

/// The value of a label in the selector of a policy.
fn label_of<'o>(policy: &'o Object, key: &str) -> Option<&'o str> {
    text_of(policy, &["selector", "matchLabels", key])
}

/// Whether a policy is only for workloads that the filter reaches.
fn is_within(cx: &Cx<'_>, policy: &Object) -> bool {
    let (filter, spec) = (cx.filter, policy.document.get("spec"));
    let here = policy.namespace == filter.namespace;
    let listed = spec.and_then(|spec| spec.get("targetRefs")).map_or(&[][..], Node::items);
    let single = spec.and_then(|spec| spec.get("targetRef"));
    let mut references = listed.iter().chain(single).peekable();
    if references.peek().is_some() || !filter.target_refs.is_empty() {
        // References are for the namespace of their policy.
        let refers = |one: &Node| {
            let text = |key: &str| one.get(key).and_then(Node::as_str).unwrap_or_default();
            filter.target_refs.iter().any(|target| target.kind == text("kind") && target.name == text("name"))
        };
        return here && references.peek().is_some() && references.all(refers);
    }
    let mut labels = filter.selector.iter().flatten();
    (here || filter.namespace == cx.mesh.root)
        && labels.all(|(key, value)| label_of(policy, key) == Some(value.as_str()))
}

/// The provider with the body's settings merged into it.
fn with_body(mesh: &Json, name: &str, body: &Json) -> Option<Json> {
    let mut provider = mesh["extensionProviders"].as_array()?.iter().find(|one| one["name"] == name)?.clone();
    let kinds = ["envoyExtAuthzHttp", "envoyExtAuthzGrpc"];
    let kind = kinds.into_iter().find(|kind| provider.get(kind).is_some_and(Json::is_object))?;
    merge(&mut provider[kind], &json!({ BODY_KEY: body }));
    Some(provider)
}

/// The setting is for every port and kind of proxy.
fn whole(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) {
    // istiod has the filter only where workloads receive requests, so both directions are the same as one, and not where
    // waypoints end tunnels.
    let same = if cx.filter.target_refs.is_empty() {
        part.reach.context == PatchContext::Any
    } else {
        let attaches = !Mesh::never_attaches(cx.filter) && !cx.mesh.attaches_nothing(cx.filter);
        attaches && part.reach.proxies == Proxies::Waypoint
    };
    if !same {
        attach::check(cx, part, found, Directions::Inbound);
    }
    if part.reach.port.is_some() || part.reach.narrowed.is_some() {
        let reason = "the provider's setting is for every request to these workloads; the filter is for some of them";
        found.difference(Kind::Behavior, reason);
        found.guard(Concern::Ports, State::Broken, reason);
    }
}

/// Nothing else than the filter's workloads has the provider, and nothing else than the provider the filter's setting.
fn alone(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move, customs: &[&Object], name: &str) {
    let shared: Vec<&Object> =
        customs.iter().filter(|one| provider_of(one) == Some(name) && !is_within(cx, one)).copied().collect();
    let titles = shared.iter().take(MOST_NAMES).map(|one| format!("{}/{}", one.namespace, one.name));
    if shared.is_empty() {
        let reason = format!("only policies for workloads of the filter have provider {name}");
        found.guard(Concern::Selector, State::Held, reason);
    } else {
        let (what, verb) =
            if shared.len() == 1 { ("AuthorizationPolicy", "has") } else { ("AuthorizationPolicies", "have") };
        let reason = format!(
            "{what} {} also {verb} provider {name}, for workloads that the filter may not reach: their requests would be sent with their bodies too. Give the filter's workloads a provider of their own",
            few(titles, shared.len(), MOST_NAMES)
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Authorization, State::Broken, reason);
    }
    let own = (cx.index, part.built.patch.index);
    let meets = |filter: usize, patch: usize| (filter, patch) != own && cx.names.meet(filter, cx.index);
    let adders = cx.names.adders(filters::EXT_AUTHZ).map_or(&[][..], |(_, all)| all);
    let added = adders.iter().map(|one| (one.filter, one.patch, "inserts another"));
    let changers = cx.names.changers(filters::EXT_AUTHZ);
    let changed = changers.iter().map(|one| (one.user.filter, one.user.patch, "also changes the"));
    let mut others = added.chain(changed);
    if let Some((filter, patch, verb)) = others.find(|(filter, patch, _)| meets(*filter, *patch)) {
        let reason = format!(
            "configPatches[{patch}] of {} {verb} filter `{}`: the provider's setting is for istiod's own filter only, and comes before every patch of it",
            cx.names.title(filter),
            filters::EXT_AUTHZ
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Authorization, State::Broken, reason);
    }
}
