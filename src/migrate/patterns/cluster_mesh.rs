//! Settings of every cluster: MeshConfig.

use super::target::client_namespace;
use crate::migrate::base::catalog;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::has_entry;
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::whole::waypoints;
use crate::migrate::objects::mesh::Proxies;
use crate::migrate::output::draft::{Action, metadata};
use crate::model::envoy_filter::{ClusterMatch, ObjectMatch, PatchContext};
use crate::proto::decode::parse_go_duration;
use serde_json::{Value as Json, json};

/// The longest connect timeout of the mesh in nanoseconds (`connectTimeoutMax` in istiod's validation).
const LONGEST_CONNECT: i64 = 3_600_000_000_000;

/// Whether a patch is for every cluster.
pub(in crate::migrate) fn is_everything(part: &Part<'_>) -> bool {
    match &part.built.object {
        ObjectMatch::None => true,
        ObjectMatch::Cluster(cluster) => *cluster == ClusterMatch::default(),
        _ => false,
    }
}

/// The settings of connections that MeshConfig has too; `None` if the policy sets something else.
pub(in crate::migrate) fn of_connections(native: &Json) -> Option<&serde_json::Map<String, Json>> {
    let only = |value: &Json| value.as_object().is_some_and(|map| map.len() == 1);
    let tcp = native.pointer("/connectionPool/tcp")?.as_object()?;
    let known = tcp.keys().all(|key| matches!(key.as_str(), "connectTimeout" | "tcpKeepalive"));
    (known && only(native) && only(&native["connectionPool"])).then_some(tcp)
}

/// The defaults of every cluster's connections.
pub(in crate::migrate) fn connections(
    cx: &Cx<'_>,
    part: &Part<'_>,
    found: &mut Move,
    tcp: &serde_json::Map<String, Json>,
) {
    found.differences.clear();
    found.homes.clear();
    for (field, setting) in tcp {
        found.add_home("MeshConfig", field.as_str(), 0);
        found.actions.push(Action::Mesh(json!({ field: setting })));
        let rules = &cx.mesh.inventory.destination_rules;
        let own = rules.iter().find(|rule| has_entry(&rule.object.document.to_json(), &|key, _| key == field));
        if let Some(rule) = own {
            let what = if field == "connectTimeout" { "its own connect timeout" } else { "its own keepalive" };
            found.difference(
                Kind::Behavior,
                format!(
                    "DestinationRule {}/{} sets {what}, which overrides the mesh's; the filter overrides both",
                    rule.object.namespace, rule.object.name
                ),
            );
        }
    }
    if tcp.contains_key("tcpKeepalive") {
        found.difference(
            Kind::Metadata,
            "BlackHoleCluster, which connects to nothing, does not have the keepalive settings",
        );
    }
    let timeout = tcp.get("connectTimeout").and_then(Json::as_str).and_then(parse_go_duration);
    if timeout.is_some_and(|nanos| nanos > LONGEST_CONNECT) {
        let reason = "istiod accepts a `connectTimeout` of the mesh of at most 1 h";
        found.guard(Concern::Patch, State::Broken, reason);
    }
    if part.built.patch.context != PatchContext::Any {
        let reason =
            "the mesh setting is for sidecars, in both directions, and for gateways; the filter is for one of these";
        found.difference(Kind::Behavior, reason);
        found.guard(Concern::Direction, State::Broken, reason);
    }
    waypoints(cx, found, "connections");
}

/// The interval at which Envoy resolves the hosts of clusters; `None` if the patch sets something else too.
pub(in crate::migrate) fn dns(cx: &Cx<'_>, part: &Part<'_>) -> Option<Move> {
    let mut value = part.value.clone();
    let interval = value.text("dns_refresh_rate")?;
    if !value.is_empty() {
        return None;
    }
    let mut found = Move::new(&catalog::CLUSTER_POLICY).home("MeshConfig", "dnsRefreshRate", 0);
    found.actions.push(Action::Mesh(json!({ "dnsRefreshRate": interval })));
    if is_everything(part) && cx.mesh.is_mesh_wide(cx.filter) && part.built.patch.context == PatchContext::Any {
        found.difference(
            Kind::Metadata,
            "only clusters with a host name to resolve have the interval; Envoy does not read it on others",
        );
        waypoints(cx, &mut found, "host names");
    } else {
        let reason = "the mesh setting is for every proxy and every host name; the filter is for some of them";
        found.difference(Kind::Behavior, reason);
        found.guard(Concern::Selector, State::Broken, reason);
    }
    Some(found)
}

/// Whether a patch is for every cluster of gateways that it selects by labels.
pub(in crate::migrate) fn is_of_gateway(cx: &Cx<'_>, part: &Part<'_>) -> bool {
    let labels = cx.filter.selector.as_ref().is_some_and(|labels| !labels.is_empty());
    labels && is_everything(part) && cx.mesh.proxies(cx.filter, part.built.patch) == Proxies::Gateway
}

/// The connections of every cluster of a gateway: a rule for every host, which istiod reads if the gateway's namespace has no
/// other.
pub(in crate::migrate) fn gateway(cx: &Cx<'_>, found: &mut Move, native: &Json) {
    found.add_home("DestinationRule", "trafficPolicy", 0);
    found.add_home("DestinationRule", "workloadSelector", 0);
    found.difference(Kind::Metadata, "istiod records the rule in the cluster's metadata (`istio.config`)");
    found.difference(Kind::Metadata, "BlackHoleCluster, which connects to nothing, does not have the settings");
    let namespace = match client_namespace(cx) {
        Ok(namespace) => namespace,
        Err(reason) => {
            *found = Move::none(found.pattern, reason);
            return;
        }
    };
    match cx.mesh.inventory.destination_rules.first() {
        Some(rule) => {
            let reason = format!(
                "DestinationRule {}/{} is for some of these clusters, and a rule for every host would hide it or be hidden by it: add the settings to each rule by hand",
                rule.object.namespace, rule.object.name
            );
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Existing, State::Broken, reason);
        }
        None if !cx.mesh.described() => found.guard(
            Concern::Existing,
            State::Undecided,
            "it is unknown whether other DestinationRules exist: a rule for every host would hide them",
        ),
        None => found.guard(Concern::Selector, State::Held, "the rule selects the same gateways"),
    }
    let spec = json!({
        "host": "*",
        "workloadSelector": { "matchLabels": cx.filter.selector },
        "exportTo": ["."],
        "trafficPolicy": native,
    });
    found.actions.push(Action::Object(json!({
        "apiVersion": "networking.istio.io/v1",
        "kind": "DestinationRule",
        "metadata": metadata(cx.filter, namespace),
        "spec": spec,
    })));
}
