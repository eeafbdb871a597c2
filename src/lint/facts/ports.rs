//! Service ports and their target ports, according to a sidecar's configuration and the manifests.

use crate::engine::matching::{VIRTUAL_INBOUND, parse_subset_key};
use crate::lint::facts::context::{Context, ProxyRun};
use crate::model::envoy_filter::ObjectMatch;
use crate::model::inventory::TargetPort;
use crate::model::resource::ResourceKind;
use serde_json::Value;
use std::collections::BTreeSet;

/// A port of a service and its target on a workload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PortPair {
    /// The service, `namespace/name`; empty if only the ports are known.
    pub service: String,
    /// The service's port.
    pub port: u32,
    /// The workload's.
    pub target: u32,
}

/// The port pairs of the services that select a workload.
pub(crate) fn of_workload(cx: &Context<'_>, run: &ProxyRun<'_>) -> BTreeSet<PortPair> {
    let proxy = &run.config.proxy;
    let mut pairs = BTreeSet::new();
    let services = cx.inventory.services.iter().filter(|service| {
        service.object.namespace == proxy.namespace
            && !service.selector.is_empty()
            && service.selector.iter().all(|(key, want)| proxy.labels.get(key) == Some(want))
    });
    for service in services {
        for port in &service.ports {
            if let TargetPort::Number(target) = port.target {
                let service = format!("{}/{}", service.object.namespace, service.object.name);
                pairs.insert(PortPair { service, port: port.number, target });
            }
        }
    }
    if pairs.is_empty() {
        from_configuration(run, &mut pairs);
    }
    pairs
}

/// A filter chain of virtualInbound has the target port as destination, and its routes are named `inbound|http|<service
/// port>`.
fn from_configuration(run: &ProxyRun<'_>, pairs: &mut BTreeSet<PortPair>) {
    let listeners = run.config.of_kind(ResourceKind::Listener);
    for listener in listeners.filter(|listener| listener.name == VIRTUAL_INBOUND) {
        let Ok(listener) = serde_json::from_str::<Value>(listener.json.read()) else { continue };
        let either = |node: &Value, snake: &str, camel: &str| -> Value {
            node.get(snake).or_else(|| node.get(camel)).cloned().unwrap_or_default()
        };
        let list = |node: Value| node.as_array().cloned().unwrap_or_default();
        for chain in list(either(&listener, "filter_chains", "filterChains")) {
            let criteria = either(&chain, "filter_chain_match", "filterChainMatch");
            let target = either(&criteria, "destination_port", "destinationPort");
            let Some(target) = target.as_u64().and_then(|port| u32::try_from(port).ok()) else { continue };
            for filter in list(either(&chain, "filters", "filters")) {
                let routes = either(&either(&filter, "typed_config", "typedConfig"), "route_config", "routeConfig");
                for host in list(either(&routes, "virtual_hosts", "virtualHosts")) {
                    let name = host.get("name").and_then(Value::as_str).unwrap_or_default();
                    if let Some(port) = name.strip_prefix("inbound|http|").and_then(|port| port.parse().ok()) {
                        pairs.insert(PortPair { service: String::new(), port, target });
                    }
                }
            }
        }
    }
}

/// The hosts of a proxy's outbound clusters.
pub(crate) fn outbound_hosts(run: &ProxyRun<'_>) -> BTreeSet<String> {
    let clusters = run.config.of_kind(ResourceKind::Cluster);
    clusters
        .map(|cluster| parse_subset_key(&cluster.name))
        .filter(|key| key.direction == "outbound")
        .map(|key| key.host.to_owned())
        .filter(|host| !host.is_empty())
        .collect()
}

/// Whether a match selects only connections with TLS, by the usual ports or by what only TLS has.
pub(crate) fn only_tls(object: &ObjectMatch) -> bool {
    let ObjectMatch::Listener(listener) = object else { return false };
    matches!(listener.port_number, 443 | 8443 | 15443)
        || ["_443", "_8443", "_15443"].iter().any(|end| listener.name.ends_with(end))
        || listener.filter_chain.as_ref().is_some_and(|chain| {
            !chain.sni.is_empty() || chain.transport_protocol == "tls" || matches!(chain.destination_port, 443 | 8443)
        })
}
