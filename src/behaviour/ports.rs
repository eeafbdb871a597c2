//! The ports on which a proxy accepts requests, before any Envoy is started.

use super::setup::INBOUND;
use crate::model::resource::{ProxyConfig, ResourceKind};
use crate::proto::json;
use crate::proto::tree::Tree;
use std::collections::BTreeSet;

/// A field of a dump, in either spelling.
fn get<'t, 'a>(tree: &'t Tree<'a>, names: [&str; 2]) -> Option<&'t Tree<'a>> {
    tree.get(names[0]).or_else(|| tree.get(names[1]))
}

fn number(tree: Option<&Tree<'_>>) -> Option<u16> {
    tree.and_then(Tree::as_u64).and_then(|port| u16::try_from(port).ok())
}

/// Ports of a sidecar's workload, HTTP ports first.
pub(crate) fn inbound_ports(config: &ProxyConfig<'_>) -> Vec<u16> {
    let (mut http, mut tcp) = (BTreeSet::new(), BTreeSet::new());
    for (_, resource) in config.generated(ResourceKind::Listener).filter(|(_, it)| it.name == INBOUND) {
        let Ok(listener) = json::parse(resource.json.read()) else { continue };
        for chain in get(&listener, ["filter_chains", "filterChains"]).map(Tree::items).unwrap_or_default() {
            let matched = get(chain, ["filter_chain_match", "filterChainMatch"]);
            let port = number(matched.and_then(|it| get(it, ["destination_port", "destinationPort"])));
            let Some(port) = port.filter(|port| !matches!(port, 15000..=15099)) else { continue };
            let filters = chain.get("filters").map(Tree::items).unwrap_or_default();
            let manager = |filter: &&Tree<'_>| {
                let typed = get(filter, ["typed_config", "typedConfig"]).and_then(Tree::type_name);
                typed.is_some_and(|name| name.ends_with(".HttpConnectionManager"))
            };
            if filters.iter().any(|filter| manager(&filter)) {
                http.insert(port)
            } else {
                tcp.insert(port)
            };
        }
    }
    http.iter().copied().chain(tcp.difference(&http).copied()).collect()
}

/// Ports that a gateway listens on, in order.
pub(crate) fn listening_ports(config: &ProxyConfig<'_>) -> Vec<u16> {
    let mut ports = BTreeSet::new();
    for (_, resource) in config.generated(ResourceKind::Listener) {
        let Ok(listener) = json::parse(resource.json.read()) else { continue };
        let address = listener.get("address").and_then(|it| get(it, ["socket_address", "socketAddress"]));
        ports.extend(number(address.and_then(|it| get(it, ["port_value", "portValue"]))));
    }
    ports.into_iter().collect()
}
