//! Settings of every cluster: MeshConfig.

use crate::migrate::base::catalog;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::has_entry;
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::whole::waypoints;
use crate::migrate::output::draft::Action;
use crate::model::envoy_filter::{ClusterMatch, ObjectMatch, PatchContext};
use serde_json::{Value as Json, json};

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
