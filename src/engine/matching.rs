//! The match predicates of istiod; each returns the first condition that fails.
//!
//! istiod `pilot/pkg/networking/core/envoyfilter/{listener,rc,cluster}_patch.go`, releases 1.22 to 1.31.

use super::compat::{Behaviour, Compat};
use super::trace::{Condition, Miss};
use crate::model::envoy_filter::{
    ApplyTo, ClusterMatch, ListenerMatch, ObjectMatch, PatchContext, RouteAction, RouteConfigurationMatch,
};
use crate::proto::tree::Tree;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Name of the listener that takes all inbound traffic of a sidecar.
pub(crate) const VIRTUAL_INBOUND: &str = "virtualInbound";
/// The listener through which sidecars and gateways send HBONE.
pub(crate) const CONNECT_ORIGINATE: &str = "connect_originate";
/// Name of the listener that takes all outbound traffic of a sidecar.
pub(crate) const VIRTUAL_OUTBOUND: &str = "virtualOutbound";
/// The port of virtualInbound unless the mesh sets `proxyInboundListenPort`. There, `portNumber` is compared with the destination
/// port of each filter chain, and only the chain that blocks direct connections has this one.
pub(crate) const INBOUND_CAPTURE: u32 = 15006;
/// The same of virtualOutbound and `proxyListenPort`.
const OUTBOUND_CAPTURE: u32 = 15001;
/// The listener of a waypoint for its services.
pub(crate) const MAIN_INTERNAL: &str = "main_internal";
/// The listener of a waypoint for HBONE.
pub(crate) const CONNECT_TERMINATE: &str = "connect_terminate";
/// Name of the network filter whose HTTP filters HTTP_FILTER patches change.
pub const HTTP_CONNECTION_MANAGER: &str = "envoy.filters.network.http_connection_manager";

/// Success, or the first condition that fails.
pub(crate) type Matched<'m> = Result<(), Miss<'m>>;

fn is_virtual(name: &str) -> bool {
    name == VIRTUAL_INBOUND || name == VIRTUAL_OUTBOUND
}

fn equal<'m>(condition: Condition, want: &str, have: &'m str) -> Matched<'m> {
    if want.is_empty() || want == have { Ok(()) } else { Err(Miss::new(condition, have)) }
}

/// The listener whose own port a match names, and the port. Filter chains with that destination port block direct connections.
pub(crate) fn own_port(context: PatchContext, object: &ObjectMatch) -> Option<(&'static str, u32)> {
    let port = listener_match(object)?.port_number;
    match (context, port) {
        (PatchContext::SidecarInbound | PatchContext::Any, INBOUND_CAPTURE) => Some((VIRTUAL_INBOUND, port)),
        (PatchContext::SidecarOutbound | PatchContext::Any, OUTBOUND_CAPTURE) => Some((VIRTUAL_OUTBOUND, port)),
        _ => None,
    }
}

/// The listener part of a match; `None` matches everything.
pub(crate) fn listener_match(object: &ObjectMatch) -> Option<&ListenerMatch> {
    match object {
        ObjectMatch::Listener(listener) => Some(listener),
        _ => None,
    }
}

/// The network filter that a match names, as written.
pub(crate) fn network_filter_name(object: &ObjectMatch) -> Option<&str> {
    Some(listener_match(object)?.filter_chain.as_ref()?.filter.as_ref()?.name.as_str())
}

/// The HTTP filter that a match names.
pub(crate) fn sub_filter_name(object: &ObjectMatch) -> Option<&str> {
    listener_match(object)?.filter_chain.as_ref()?.filter.as_ref()?.sub_filter.as_deref()
}

/// Whether a listener's name matches: all that can be decided without decoding it.
pub(crate) fn listener_name<'m>(object: &ObjectMatch, name: &'m str) -> Matched<'m> {
    listener_match(object).map_or(Ok(()), |want| equal(Condition::ListenerName, &want.name, name))
}

/// Whether a listener matches.
pub(crate) fn listener<'m>(apply_to: ApplyTo, object: &ObjectMatch, listener: &'m Tree<'_>) -> Matched<'m> {
    let Some(want) = listener_match(object) else { return Ok(()) };
    equal(Condition::ListenerName, &want.name, listener.name())?;
    if apply_to != ApplyTo::Listener && is_virtual(listener.name()) {
        return Ok(());
    }
    if want.port_number != 0 {
        let port = port(listener);
        if port != Some(u64::from(want.port_number)) {
            return Err(Miss::several(Condition::ListenerPort, texts(port)));
        }
    }
    Ok(())
}

/// Port of a listener's socket address.
pub(crate) fn port(listener: &Tree<'_>) -> Option<u64> {
    let address = listener.path(&["address", "socket_address"])?;
    Some(address.get("port_value").and_then(Tree::as_u64).unwrap_or(0))
}

/// Whether a filter chain of a matching listener matches too.
pub(crate) fn filter_chain<'m>(
    object: &ObjectMatch,
    listener_name: &str,
    chain: &'m Tree<'_>,
    compat: Compat,
) -> Matched<'m> {
    let Some(want) = listener_match(object) else { return Ok(()) };
    // Most matches look at none of this, and every one is compared with every chain.
    let criteria = || chain.get("filter_chain_match");
    let destination = || criteria().and_then(|it| it.get("destination_port")).map(|port| port.as_u64().unwrap_or(0));
    if want.port_number > 0 && is_virtual(listener_name) {
        let destination = destination();
        if destination.unwrap_or(0) != u64::from(want.port_number) {
            return Err(Miss::several(Condition::ChainPort, texts(destination)));
        }
    }
    let Some(want) = &want.filter_chain else { return Ok(()) };
    if !want.name.is_empty() {
        equal(Condition::ChainName, &want.name, chain.name())?;
    }
    let list = |key: &str| -> Vec<Cow<'m, str>> {
        let items = criteria().and_then(|it| it.get(key)).map(Tree::items).unwrap_or_default();
        items.iter().filter_map(Tree::as_str).map(Cow::Borrowed).collect()
    };
    if !want.sni.is_empty() {
        let names = list("server_names");
        if !names.iter().any(|name| *name == want.sni) {
            return Err(Miss::several(Condition::Sni, names));
        }
    }
    if !want.transport_protocol.is_empty() {
        let have = criteria().map(|it| it.str_at("transport_protocol")).unwrap_or_default();
        if criteria().is_none() || have != want.transport_protocol {
            return Err(Miss::new(Condition::TransportProtocol, have));
        }
    }
    if !want.application_protocols.is_empty() && compat.has(Behaviour::ApplicationProtocols) {
        let have = list("application_protocols");
        if criteria().is_none() || want.application_protocols.split(',').any(|one| !have.iter().any(|it| it == one)) {
            return Err(Miss::several(Condition::ApplicationProtocols, have));
        }
    }
    if want.destination_port > 0 {
        let destination = destination();
        if destination != Some(u64::from(want.destination_port)) {
            return Err(Miss::several(Condition::DestinationPort, texts(destination)));
        }
    }
    Ok(())
}

fn texts<'m>(number: Option<u64>) -> Vec<Cow<'m, str>> {
    number.map(|number| number.to_string().into()).into_iter().collect()
}

/// Whether a network filter has the required name; without a `filter` in the match every filter matches.
pub(crate) fn network_filter<'m>(object: &ObjectMatch, filter: &'m Tree<'_>) -> Matched<'m> {
    let want = listener_match(object).and_then(|it| it.filter_chain.as_ref()).and_then(|it| it.filter.as_ref());
    match want {
        Some(want) if want.name != filter.name() => Err(Miss::new(Condition::Filter, filter.name())),
        _ => Ok(()),
    }
}

/// Whether an HTTP filter has the required name; without a `subFilter` in the match every filter matches.
pub(crate) fn http_filter<'m>(object: &ObjectMatch, filter: &'m Tree<'_>) -> Matched<'m> {
    let want = listener_match(object)
        .and_then(|it| it.filter_chain.as_ref())
        .and_then(|it| it.filter.as_ref())
        .and_then(|it| it.sub_filter.as_ref());
    match want {
        Some(want) if want != filter.name() => Err(Miss::new(Condition::SubFilter, filter.name())),
        _ => Ok(()),
    }
}

/// Whether a listener filter has the required name; without one in the match every filter matches.
pub(crate) fn listener_filter<'m>(object: &ObjectMatch, filter: &'m Tree<'_>) -> Matched<'m> {
    let want = listener_match(object).map(|it| it.listener_filter.as_str()).unwrap_or_default();
    equal(Condition::ListenerFilter, want, filter.name())
}

/// The route configuration part of a match; `None` matches everything.
pub(crate) fn route_match(object: &ObjectMatch) -> Option<&RouteConfigurationMatch> {
    match object {
        ObjectMatch::RouteConfiguration(route) => Some(route),
        _ => None,
    }
}

/// Service ports behind the target port of a gateway's route configurations.
pub(crate) type PortMap = BTreeMap<u32, BTreeSet<u32>>;

/// Whether a route configuration matches, by its name.
pub(crate) fn route_configuration(
    gateway: bool,
    object: &ObjectMatch,
    name: &str,
    ports: &PortMap,
) -> Matched<'static> {
    let Some(want) = route_match(object) else { return Ok(()) };
    let miss = |condition, found: &str| Err(Miss::new(condition, found.to_owned()));
    if !want.name.is_empty() && want.name != name {
        return miss(Condition::RouteConfigurationName, name);
    }
    if !gateway {
        let port = port_of_route_name(name);
        if want.port_number != 0 && want.port_number != port {
            return miss(Condition::RoutePort, &port.to_string());
        }
        return Ok(());
    }
    let named = parse_gateway_route_name(name);
    if !want.port_name.is_empty() && want.port_name != named.port_name {
        return miss(Condition::PortName, named.port_name);
    }
    if !want.gateway.is_empty() && want.gateway != named.gateway {
        return miss(Condition::Gateway, &named.gateway);
    }
    if want.port_number != 0 {
        let fits = match ports.get(&named.port) {
            Some(service_ports) => service_ports.contains(&want.port_number),
            None => named.port == want.port_number,
        };
        if !fits {
            let found = match ports.get(&named.port) {
                Some(service_ports) => service_ports.iter().map(|port| port.to_string().into()).collect(),
                None => vec![named.port.to_string().into()],
            };
            return Err(Miss::several(Condition::RoutePort, found));
        }
    }
    Ok(())
}

/// Port in the name of a sidecar's route configuration: `80`, or `inbound|80||`; 0 when the name has none.
fn port_of_route_name(name: &str) -> u32 {
    if name.starts_with("inbound") {
        return parse_subset_key(name).port;
    }
    // Go's strconv.Atoi accepts a sign; a port number in a match is never negative.
    name.strip_prefix('+').unwrap_or(name).parse().unwrap_or(0)
}

/// The parts of the name of a gateway's route configuration.
pub(crate) struct GatewayRouteName<'n> {
    /// Target port.
    pub port: u32,
    /// Port name of the server; empty for `http.<port>`.
    pub port_name: &'n str,
    /// `namespace/name` of the Gateway; empty for `http.<port>`.
    pub gateway: String,
}

/// Reads `http.80` and `https.443.name.gateway.namespace`; the latter only with exactly four dots.
pub(crate) fn parse_gateway_route_name(name: &str) -> GatewayRouteName<'_> {
    if let Some(port) = name.strip_prefix("http.") {
        return GatewayRouteName { port: port.parse().unwrap_or(0), port_name: "", gateway: String::new() };
    }
    let parts: Vec<&str> = name.split('.').collect();
    if let ["https", port, port_name, gateway, namespace] = parts[..] {
        let gateway = format!("{namespace}/{gateway}");
        return GatewayRouteName { port: port.parse().unwrap_or(0), port_name, gateway };
    }
    GatewayRouteName { port: 0, port_name: "", gateway: String::new() }
}

/// Whether a virtual host matches.
pub(crate) fn virtual_host<'m>(object: &ObjectMatch, vhost: &'m Tree<'_>) -> Matched<'m> {
    let Some(want) = route_match(object).and_then(|it| it.vhost.as_ref()) else { return Ok(()) };
    equal(Condition::VirtualHostName, &want.name, vhost.name())?;
    if !want.domain_name.is_empty() {
        let domains = vhost.get("domains").map(Tree::items).unwrap_or_default();
        if !domains.iter().any(|domain| domain.as_str() == Some(&want.domain_name)) {
            let found = domains.iter().filter_map(Tree::as_str).map(Cow::Borrowed).collect();
            return Err(Miss::several(Condition::DomainName, found));
        }
    }
    Ok(())
}

/// Whether the match names or describes a route.
pub(crate) fn has_route(object: &ObjectMatch) -> bool {
    route_match(object).and_then(|it| it.vhost.as_ref()).is_some_and(|vhost| vhost.route.is_some())
}

/// The condition that a match has for virtual hosts.
pub(super) fn of_virtual_host(object: &ObjectMatch) -> Option<Condition> {
    let vhost = route_match(object)?.vhost.as_ref()?;
    match (vhost.name.is_empty(), vhost.domain_name.is_empty()) {
        (false, _) => Some(Condition::VirtualHostName),
        (true, false) => Some(Condition::DomainName),
        (true, true) => None,
    }
}

/// The condition that a match has for routes.
pub(super) fn of_route(object: &ObjectMatch) -> Option<Condition> {
    let route = route_match(object)?.vhost.as_ref()?.route.as_ref()?;
    match (route.name.is_empty(), route.action) {
        (false, _) => Some(Condition::RouteName),
        (true, RouteAction::Any) => None,
        (true, _) => Some(Condition::RouteAction),
    }
}

/// Whether a route matches.
pub(crate) fn route<'m>(object: &ObjectMatch, route: &'m Tree<'_>) -> Matched<'m> {
    let want = route_match(object).and_then(|it| it.vhost.as_ref()).and_then(|it| it.route.as_ref());
    let Some(want) = want else { return Ok(()) };
    equal(Condition::RouteName, &want.name, route.name())?;
    let actions = [
        ("route", RouteAction::Route, "ROUTE"),
        ("redirect", RouteAction::Redirect, "REDIRECT"),
        ("direct_response", RouteAction::DirectResponse, "DIRECT_RESPONSE"),
    ];
    if want.action != RouteAction::Any
        && let Some((_, _, word)) =
            actions.iter().find(|(key, action, _)| route.get(key).is_some() && *action != want.action)
    {
        return Err(Miss::new(Condition::RouteAction, *word));
    }
    Ok(())
}

/// The parts of `direction|port|subset|host` or `direction_.port_.subset_.host`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SubsetKey<'n> {
    /// `inbound`, `outbound` or whatever comes first; empty without a separator.
    pub direction: &'n str,
    /// Port, 0 when it is not a number.
    pub port: u32,
    /// Subset.
    pub subset: &'n str,
    /// Host.
    pub host: &'n str,
}

/// Splits the name of a generated cluster into its parts, as far as possible.
pub(crate) fn parse_subset_key(name: &str) -> SubsetKey<'_> {
    let dns = name.starts_with("outbound_.") || name.starts_with("inbound_.");
    let separator = if dns { "_." } else { "|" };
    let mut key = SubsetKey::default();
    let Some((direction, rest)) = name.split_once(separator) else { return key };
    key.direction = direction;
    let Some((port, rest)) = rest.split_once(separator) else { return key };
    key.port = port.parse().unwrap_or(0);
    let Some((subset, rest)) = rest.split_once(separator) else { return key };
    key.subset = subset;
    if !rest.contains(separator) {
        key.host = rest;
    }
    key
}

/// The cluster part of a match; `None` matches everything.
pub(crate) fn cluster_match(object: &ObjectMatch) -> Option<&ClusterMatch> {
    match object {
        ObjectMatch::Cluster(cluster) => Some(cluster),
        _ => None,
    }
}

/// Whether a cluster matches. `hosts` returns those of the services behind an inbound cluster; called only if needed.
pub(crate) fn cluster<'m>(object: &ObjectMatch, name: &'m str, hosts: impl FnOnce() -> Vec<String>) -> Matched<'m> {
    let Some(want) = cluster_match(object) else { return Ok(()) };
    if !want.name.is_empty() {
        return equal(Condition::ClusterName, &want.name, name);
    }
    let key = parse_subset_key(name);
    if !want.service.is_empty() {
        let mut found = vec![Cow::Borrowed(key.host)];
        if key.direction == "inbound" {
            let hosts = hosts();
            if !hosts.is_empty() {
                found = hosts.into_iter().map(Cow::Owned).collect();
            }
        }
        if !found.iter().any(|host| *host == want.service) {
            return Err(Miss::several(Condition::Service, found));
        }
    }
    equal(Condition::Subset, &want.subset, key.subset)?;
    if want.port_number != 0 && want.port_number != key.port {
        return Err(Miss::new(Condition::ClusterPort, key.port.to_string()));
    }
    Ok(())
}
