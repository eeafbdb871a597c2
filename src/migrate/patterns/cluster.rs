//! Settings merged into clusters: DestinationRule, mesh settings.

use super::cluster_mesh;
use super::cluster_policy::{Policy, already_detects, policy};
use super::header_case;
use super::target::{Target, client_namespace, target};
use crate::migrate::base::catalog;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::{has_entry, merge, set_at};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::attach::{self, Directions};
use crate::migrate::guards::beside;
use crate::migrate::objects::mesh::{Mesh, Proxies, RULES};
use crate::migrate::output::change::Change;
use crate::migrate::output::draft::{Action, existing, metadata};
use crate::migrate::output::settings::Settings;
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::inventory::DestinationRule;
use crate::model::proxy::GATEWAY_NAME_LABEL;
use serde_json::{Value as Json, json};

/// Finds values merged into clusters.
pub(in crate::migrate) fn find(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    for part in parts.iter_mut().filter(|part| part.found.is_none()) {
        if part.apply_to() == ApplyTo::Cluster && part.operation() == Operation::Merge {
            let found = merged(cx, part);
            part.answer(found);
        }
    }
    header_case::join(parts);
}

fn merged(cx: &Cx<'_>, part: &Part<'_>) -> Move {
    let value = &part.value;
    if value.peek("per_connection_buffer_limit_bytes").is_some() {
        return buffer(cx, part);
    }
    if let Some(found) = cluster_mesh::dns(cx, part) {
        return found;
    }
    let mut found = Move::new(&catalog::CLUSTER_POLICY);
    let Policy { native, rest, pattern, proxy } = match policy(cx, part, &mut found) {
        Ok(policy) => policy,
        Err((pattern, reason)) => return Move::none(pattern, reason),
    };
    found.pattern = pattern;
    if let Some(proxy) = proxy {
        // The case of header names is a setting of the whole proxy.
        found.add_home("proxy.istio.io/config", header_case::FIELD, 25);
        found.actions.push(Action::Proxy { config: proxy, gateways: part.reach.proxies == Proxies::Gateway });
        let reason = "the setting applies to the whole proxy: the case of header names is also preserved where the filter does not touch it";
        found.difference(Kind::Behavior, reason);
        found.guard(Concern::Routes, State::Broken, reason);
        return found;
    }
    found.rest = rest;
    let everywhere = cluster_mesh::is_everything(part) && cx.mesh.is_mesh_wide(cx.filter) && found.rest.is_none();
    if let Some(tcp) = cluster_mesh::of_connections(&native).filter(|_| everywhere) {
        cluster_mesh::connections(cx, part, &mut found, tcp);
        return found;
    }
    if part.built.patch.context == PatchContext::SidecarInbound {
        return inbound(part, found);
    }
    if cluster_mesh::is_of_gateway(cx, part) && found.rest.is_none() && cluster_mesh::of_connections(&native).is_some()
    {
        cluster_mesh::gateway(cx, &mut found, &native);
        return found;
    }
    let Some(target) = target(part) else {
        return Move::none(
            found.pattern,
            "a DestinationRule names a host; the patch is for every cluster, or for one with another kind of name",
        );
    };
    destination_rule(cx, part, found, &native, &target)
}

fn buffer(cx: &Cx<'_>, part: &Part<'_>) -> Move {
    let mut found = Move::new(&catalog::CLUSTER_BUFFER);
    let field = "connectionSettings.clusterPerConnectionBufferLimitBytes";
    found.add_home("proxy.istio.io/config", field, 31);
    let reason = "the native field is accepted and validated, but nothing in Istio 1.31 reads it: the limit would be lost and Envoy's default of 1 MiB would apply";
    if !crate::migrate::base::step::has(cx, 31) {
        return Move::none(&catalog::CLUSTER_BUFFER, "no API has this limit");
    }
    found.difference(Kind::Behavior, reason);
    found.guard(Concern::Patch, State::Broken, reason);
    found
        .notes
        .push(format!("keep the EnvoyFilter; follow: {} (merged, not in Istio 1.31)", catalog::CLUSTER_BUFFER.follow));
    let _ = part;
    found
}

/// The limits of a workload's own inbound clusters: a rule for the service would also reach its clients.
fn inbound(part: &Part<'_>, mut found: Move) -> Move {
    found.add_home("DestinationRule", "trafficPolicy", 0);
    let reason = "a DestinationRule of the service sets it for every client, and for every port of the workload";
    found.difference(Kind::Behavior, reason);
    found.guard(Concern::Direction, State::Broken, reason);
    let _ = part;
    found
}

/// The DestinationRule with a traffic policy for the clusters of a host, for the clients that the filter selects.
pub(in crate::migrate) fn destination_rule(
    cx: &Cx<'_>,
    part: &Part<'_>,
    mut found: Move,
    native: &Json,
    target: &Target,
) -> Move {
    found.add_home("DestinationRule", "trafficPolicy", 0);
    found.difference(Kind::Metadata, RECORDED);
    if target.host.starts_with('*') {
        let reason = format!(
            "a DestinationRule for {} also sets it on the clusters of every other host that the wildcard covers; the patch is for the cluster of that name alone",
            target.host
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Routes, State::Broken, reason);
    }
    if let Some(reason) = target.port.and_then(|port| beside::without_port(cx, &target.host, port)) {
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Ports, State::Broken, reason);
    }
    let namespace = match client_namespace(cx) {
        Ok(namespace) => namespace,
        Err(reason) => return Move::none(found.pattern, reason),
    };
    if part.built.patch.context != PatchContext::Any {
        let mut check = Move::new(found.pattern);
        attach::check(cx, part, &mut check, Directions::Mode);
        // A rule has no direction; what counts is whom it reaches by mistake.
        for guard in check.guards.into_iter().filter(|guard| guard.state != State::Held) {
            found.guard(guard.concern, guard.state, guard.reason);
        }
    }
    if native.get("retryBudget").is_some() && target.port.is_some() && !single_port(cx, target) {
        return Move::none(found.pattern, "a DestinationRule has a retry budget for a host, not for one of its ports");
    }
    let mut traffic = json!({});
    if let Some(port) = target.port {
        // A rule for one port coexists with the others; a host with a single port needs none.
        let mut level = json!({ "port": { "number": port } });
        merge(&mut level, native);
        set_at(&mut traffic, "portLevelSettings", json!([level]));
    } else {
        traffic = native.clone();
    }
    if target.subset.is_none() && single_port(cx, target) {
        traffic = native.clone();
    }
    let settings = Settings { host: target.host.clone(), subset: target.subset.clone(), policy: traffic };
    scoped(cx, part, &mut found, settings, namespace, target)
}

const RECORDED: &str = "istiod records the rule in the cluster's metadata (`istio.config`)";

/// Edits a rule.
fn edit(found: &mut Move, rule: &DestinationRule, settings: Settings) {
    // The clusters to which the rule applies name it today.
    found.differences.retain(|one| one.effect != RECORDED);
    found.actions.push(Action::Edit {
        object: ("DestinationRule", rule.object.namespace.clone(), rule.object.name.clone()),
        change: Change::Policy(settings),
    });
}

fn single_port(cx: &Cx<'_>, target: &Target) -> bool {
    let Some(service) = cx.mesh.registered(&target.host) else { return false };
    let mut ports = service.ports();
    ports.next().is_some_and(|one| Some(one.number) == target.port) && ports.next().is_none()
}

/// Restricts the rule to its clients, and copies what it would hide.
fn scoped(
    cx: &Cx<'_>,
    part: &Part<'_>,
    found: &mut Move,
    settings: Settings,
    namespace: &str,
    target: &Target,
) -> Move {
    let labels = match &cx.filter.selector {
        Some(labels) if !labels.is_empty() => Some(json!(labels)),
        _ => match cx.filter.target_refs.as_slice() {
            [one] if one.kind == "Gateway" => Some(json!({ GATEWAY_NAME_LABEL: one.name })),
            [] => None,
            _ => return Move::none(found.pattern, "a DestinationRule selects by labels, not by several references"),
        },
    };
    let rules = cx.mesh.destination_rules(&target.host, namespace);
    // The client's own rule hides the service's, which hides the root namespace's.
    let of_service = cx.mesh.namespace_of_host(&target.host);
    let rank = |rule: &DestinationRule| {
        let own = rule.object.namespace.as_str();
        (!rule.selector.is_empty(), own != namespace, Some(own) != of_service)
    };
    let hidden = rules.iter().copied().filter(|rule| rule.selector.is_empty()).min_by_key(|rule| rank(rule));
    let own = |rule: &DestinationRule| {
        let meets = rule.selector.iter().all(|(key, value)| {
            let wanted = labels.as_ref().and_then(|labels| labels.get(key)).and_then(Json::as_str);
            wanted.is_none_or(|wanted| wanted == value)
        });
        !rule.selector.is_empty() && rule.object.namespace == namespace && meets
    };
    let selecting: Vec<&DestinationRule> = rules.iter().copied().filter(|rule| own(rule)).collect();
    // The rule for the same clients; all others are about other clients.
    let same = selecting.first().copied().filter(|rule| selecting.len() == 1 && labels == Some(json!(rule.selector)));
    let hidden = same.or(hidden);
    existing_rules(cx, found, namespace, target, (same, hidden), &selecting);
    if let (Some(subset), Some(rule)) = (&target.subset, hidden)
        && !cx.mesh.index.rules_of(&target.host).iter().any(|rule| rule.subsets.contains(subset))
    {
        let (namespace, name) = (&rule.object.namespace, &rule.object.name);
        return Move::none(
            found.pattern,
            format!(
                "DestinationRule {namespace}/{name} has no subset {subset}, so the patch matches no cluster of one"
            ),
        );
    }
    own_workloads(cx, part, found, &settings.policy, target);
    if let Some(labels) = labels {
        return for_clients(cx, found, settings, namespace, target, (same, hidden), &labels);
    }
    for_all(cx, found, settings, namespace, target, hidden)
}

fn new_rule(target: &Target) -> Json {
    let mut whole = json!({ "host": target.host });
    if target.subset.is_none() {
        whole["trafficPolicy"] = json!({});
    }
    whole
}

/// Says what existing rules for the host mean for a new one: `same` is for the same clients, `hidden` is what it would hide.
fn existing_rules(
    cx: &Cx<'_>,
    found: &mut Move,
    namespace: &str,
    target: &Target,
    (same, hidden): (Option<&DestinationRule>, Option<&DestinationRule>),
    selecting: &[&DestinationRule],
) {
    if same.is_none() && !selecting.is_empty() {
        found.guard(
            Concern::Existing,
            State::Broken,
            format!("a DestinationRule with a workloadSelector for {} exists: edit it by hand", target.host),
        );
    }
    if !cx.mesh.described() {
        found.guard(
            Concern::Existing,
            State::Undecided,
            format!("it is unknown whether a DestinationRule for {} exists: the new one would hide it", target.host),
        );
    }
    if let Some(rule) = cx.mesh.wildcard_rule(&target.host, namespace) {
        let reason = format!(
            "DestinationRule {}/{} for {} applies to {} today, and the new rule would hide it with its TLS mode and limits: write the setting and a copy of that rule by hand",
            rule.object.namespace, rule.object.name, rule.host, target.host
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Existing, State::Broken, reason);
    }
    let rules = cx.mesh.destination_rules(&target.host, namespace);
    let other = rules.iter().find(|one| {
        let same = |hidden: &DestinationRule| {
            one.object.namespace == hidden.object.namespace && one.object.name != hidden.object.name
        };
        one.selector.is_empty() && hidden.filter(|hidden| hidden.selector.is_empty()).is_some_and(same)
    });
    if let (Some(rule), Some(other)) = (hidden, other) {
        let reason = format!(
            "istiod merges DestinationRules {0}/{1} and {0}/{2}, which are for the same host: merge them by hand first",
            rule.object.namespace, rule.object.name, other.object.name
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Existing, State::Broken, reason);
    }
    if let Some(rule) = hidden {
        if target.subset.is_none() {
            already_detects(rule, found);
        }
        let document = rule.object.document.to_json();
        let subsets = document["spec"]["subsets"].as_array().is_some_and(|list| !list.is_empty());
        let levels = document.pointer("/spec/trafficPolicy/portLevelSettings").is_some();
        if target.by_name && target.subset.is_none() && subsets {
            let reason = format!(
                "the rule also applies to the clusters of the subsets of {}; the filter is for one cluster",
                target.host
            );
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Routes, State::Broken, reason);
        }
        if target.subset.is_some() && levels {
            found.guard(
                Concern::Existing,
                State::Undecided,
                "the rule has settings for ports, which those of the subset would replace",
            );
        }
        if target.subset.is_none() && has_subset_policies(rule) {
            found.guard(
                Concern::Existing,
                State::Undecided,
                format!(
                    "a subset of DestinationRule {}/{} has its own settings, which override the new ones",
                    rule.object.namespace, rule.object.name
                ),
            );
        }
    }
}

/// A rule for the clients with these labels.
fn for_clients(
    cx: &Cx<'_>,
    found: &mut Move,
    settings: Settings,
    namespace: &str,
    target: &Target,
    (same, hidden): (Option<&DestinationRule>, Option<&DestinationRule>),
    labels: &Json,
) -> Move {
    let mut whole = new_rule(target);
    found.add_home("DestinationRule", "workloadSelector", 0);
    if let Some(rule) = same {
        edit(found, rule, settings);
        found.guard(Concern::Selector, State::Held, "the rule selects the same clients");
        return found.clone();
    }
    if let Some(rule) = hidden {
        whole = copy(rule, target);
        let unselected = |workload: &&crate::model::inventory::Workload| {
            workload.object.namespace == namespace
                && labels.as_object().is_some_and(|labels| {
                    labels.iter().any(|(key, value)| workload.labels.get(key).map(String::as_str) != value.as_str())
                })
        };
        let other = cx.mesh.inventory.workloads.iter().map(AsRef::as_ref).find(unselected);
        // istiod stops searching once the client's namespace has a rule for the host (`destinationRule` in
        // `push_context.go`), even if that rule does not select the client. Of two rules that are for their own namespace
        // only, it keeps the one with a selector (`mergeDestinationRule`).
        let private = rule.export_to.iter().map(String::as_str).eq(["."]);
        if let Some(other) = other.filter(|_| rule.object.namespace != namespace || private) {
            let reason = format!(
                "the new rule hides DestinationRule {}/{} from every client in namespace {namespace}, also from those that \
                 it does not select, such as {}",
                rule.object.namespace, rule.object.name, other.object.name
            );
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Selector, State::Broken, reason);
        }
        found.notes.push(format!(
            "subsets and settings of DestinationRule {}/{} are copied: the new rule hides it for these clients",
            rule.object.namespace, rule.object.name
        ));
    } else if target.subset.is_some() {
        return Move::none(found.pattern, "the DestinationRule with the subset is not in the input");
    }
    whole["workloadSelector"] = json!({ "matchLabels": labels });
    found.guard(Concern::Selector, State::Held, "the rule selects the same clients");
    object(cx, found, &whole, settings, namespace);
    found.clone()
}

/// A rule for every client of the namespace, or of the mesh.
fn for_all(
    cx: &Cx<'_>,
    found: &mut Move,
    settings: Settings,
    namespace: &str,
    target: &Target,
    hidden: Option<&DestinationRule>,
) -> Move {
    let mut whole = new_rule(target);
    let of_service = cx.mesh.namespace_of_host(&target.host);
    let mesh_wide = cx.mesh.is_mesh_wide(cx.filter);
    // Rules that come before one for every client, for some of them.
    let earlier = |rule: &&&DestinationRule| {
        let own = rule.object.namespace.as_str();
        let elsewhere = own != cx.mesh.root && Some(own) != of_service;
        let private = Some(own) == of_service && !cx.mesh.is_exported(rule);
        !rule.selector.is_empty() || elsewhere || private
    };
    if let Some(rule) = cx.mesh.index.rules_of(&target.host).iter().find(earlier).filter(|_| mesh_wide) {
        let reason = format!(
            "DestinationRule {}/{} is for some clients of {} only (its namespace, `exportTo` or `workloadSelector`), and one for every client does not apply where it does: write the setting by hand",
            rule.object.namespace, rule.object.name, target.host
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Existing, State::Broken, reason);
    }
    // Only clients of the namespace read such a rule.
    let private = |rule: &DestinationRule| {
        !rule.export_to.is_empty() && rule.export_to.iter().all(|to| to == "." || to == namespace)
    };
    match hidden {
        Some(rule)
            if rule.object.namespace == namespace && !mesh_wide && of_service == Some(namespace) && !private(rule) =>
        {
            let reason = format!(
                "DestinationRule {}/{} is read by clients of other namespaces too, and two rules for one host hide each other",
                rule.object.namespace, rule.object.name
            );
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Namespace, State::Broken, reason);
        }
        Some(rule) if rule.object.namespace == namespace || mesh_wide => {
            edit(found, rule, settings);
            let known = existing(&cx.mesh, ("DestinationRule", &rule.object.namespace, &rule.object.name)).is_some();
            debug_assert!(known, "the rule comes from the inventory");
        }
        Some(rule) => {
            whole = copy(rule, target);
            whole["exportTo"] = json!(["."]);
            object(cx, found, &whole, settings, namespace);
        }
        None => {
            if mesh_wide {
                let Some(owner) = of_service else {
                    found.guard(
                        Concern::Namespace,
                        State::Undecided,
                        format!("the namespace of {} is unknown: a rule for every client belongs there", target.host),
                    );
                    return found.clone();
                };
                if !cx.mesh.exports(RULES) {
                    whole["exportTo"] = json!(["*"]);
                }
                object(cx, found, &whole, settings, owner);
            } else {
                whole["exportTo"] = json!(["."]);
                object(cx, found, &whole, settings, namespace);
            }
        }
    }
    found.clone()
}

/// A rule also applies between the sidecar of the service's own workload and its application, which a filter for
/// outbound traffic does not change (`applyConnectionPool` for inbound clusters in istiod).
fn own_workloads(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move, policy: &Json, target: &Target) {
    let narrow = Mesh::is_narrow(cx.filter);
    let everywhere = part.built.patch.context == PatchContext::Any;
    let outbound = part.built.patch.context == PatchContext::SidecarOutbound && !narrow;
    if !(everywhere || outbound) || target.subset.is_some() || target.by_name {
        return;
    }
    let sets = |names: &[&str]| has_entry(policy, &|key, _| names.contains(&key));
    if everywhere && !sets(&["loadBalancer", "outlierDetection", "tls"]) || !everywhere && !sets(&["connectionPool"]) {
        return;
    }
    let Some(service) = cx.mesh.service(&target.host).filter(|service| !service.selector.is_empty()) else { return };
    let near = cx.filter.namespace == cx.mesh.root || cx.filter.namespace == service.object.namespace;
    let mut behind = cx.mesh.inventory.labelled(&service.selector);
    let reached = behind.any(|one| one.object.namespace == service.object.namespace && cx.mesh.selects(cx.filter, one));
    let known = !cx.mesh.inventory.workloads.is_empty();
    if reached || (near && !known) {
        found.difference(
            Kind::Behavior,
            if everywhere {
                format!(
                    "the filter also sets it inside the pods of {}, between their sidecar and the application; the rule sets only connection pools there",
                    target.host
                )
            } else {
                format!(
                    "the rule also applies inside the pods of {}, between their sidecar and the application; the filter is for outbound traffic only",
                    target.host
                )
            },
        );
    }
}

fn has_subset_policies(rule: &DestinationRule) -> bool {
    let document = rule.object.document.to_json();
    document["spec"]["subsets"]
        .as_array()
        .is_some_and(|subsets| subsets.iter().any(|subset| subset.get("trafficPolicy").is_some()))
}

/// A copy of a rule that the new one hides, without its settings for other namespaces.
fn copy(rule: &DestinationRule, target: &Target) -> Json {
    let mut spec = rule.object.document.to_json()["spec"].clone();
    if let Some(map) = spec.as_object_mut() {
        map.shift_remove("exportTo");
    }
    spec["host"] = target.host.clone().into();
    spec
}

/// A new rule: a copy of a hidden one, or an empty one, to which the settings are added.
fn object(cx: &Cx<'_>, found: &mut Move, spec: &Json, settings: Settings, namespace: &str) {
    let object = json!({
        "apiVersion": "networking.istio.io/v1",
        "kind": "DestinationRule",
        "metadata": metadata(cx.filter, namespace),
        "spec": spec,
    });
    found.actions.push(Action::Rule { object, settings });
}
