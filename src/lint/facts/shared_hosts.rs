//! The hosts that share what a patch changes, as far as the objects of the input show without a config dump.

use crate::lint::facts::context::Context;
use crate::lint::facts::reach;
use crate::lint::facts::view::PatchView;
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::inventory::{Gateway, Server, VirtualService};
use crate::source::Node;
use std::collections::{BTreeMap, BTreeSet};

/// Hosts, each with the names of its virtual hosts.
pub(crate) type Hosts = BTreeMap<String, BTreeSet<String>>;

/// The hosts of all servers or services that a patch reaches; none if its match selects some of them by anything else than the
/// port.
pub(crate) fn of_input(cx: &Context<'_>, view: &PatchView<'_>) -> Hosts {
    if !changes_what_is_shared(view) {
        return Hosts::new();
    }
    let Some(ports) = ports(view) else { return Hosts::new() };
    match view.patch.context {
        PatchContext::Gateway => of_gateways(cx, view, ports),
        // A Sidecar may hide services.
        PatchContext::SidecarOutbound if cx.inventory.sidecars.is_empty() => of_services(cx, ports),
        _ => Hosts::new(),
    }
}

/// Whether a patch changes what all hosts share to which sidecars send requests.
pub(crate) fn are_all_outbound(cx: &Context<'_>, view: &PatchView<'_>) -> bool {
    let all = || matches!(ports(view), Some(Ports::All));
    view.patch.context == PatchContext::SidecarOutbound
        && cx.inventory.sidecars.is_empty()
        && changes_what_is_shared(view)
        && all()
}

/// The hosts that the VirtualServices of the input give to the route configurations of a gateway that a patch selects by nothing
/// but the port.
pub(crate) fn at_gateways(cx: &Context<'_>, view: &PatchView<'_>) -> Hosts {
    let at_gateway = view.patch.context == PatchContext::Gateway;
    let ports = ports(view).filter(|_| at_gateway);
    ports.map_or_else(Hosts::new, |ports| of_gateways(cx, view, ports))
}

fn changes_what_is_shared(view: &PatchView<'_>) -> bool {
    let operation = view.patch.body.as_ref().map(|body| body.operation);
    match view.patch.apply_to {
        ApplyTo::HttpFilter | ApplyTo::HttpRoute | ApplyTo::RouteConfiguration => true,
        ApplyTo::NetworkFilter | ApplyTo::VirtualHost => operation.is_some_and(Operation::is_merge),
        _ => false,
    }
}

/// The ports that a match selects.
#[derive(Clone, Copy)]
enum Ports {
    All,
    One(u32),
}

impl Ports {
    fn have(self, port: u32) -> bool {
        match self {
            Ports::All => true,
            Ports::One(one) => one == port,
        }
    }
}

/// The ports that a match asks for; `None` if it asks for something else, too.
fn ports(view: &PatchView<'_>) -> Option<Ports> {
    let only = |node: Option<&Node>, known: &[&str]| {
        node.is_none_or(|node| node.entries().iter().all(|entry| known.contains(&entry.key.as_str())))
    };
    let node = |route: &[&str]| view.node(route);
    if !only(node(&["match"]), &["context", "listener", "routeConfiguration"])
        || !only(node(&["match", "listener"]), &["portNumber", "filterChain"])
        || !only(node(&["match", "listener", "filterChain"]), &["filter"])
        || !only(node(&["match", "routeConfiguration"]), &["portNumber", "name"])
    {
        return None;
    }
    let number = |side: &str| Some(node(&["match", side, "portNumber"])?.clone());
    let number = number("listener").or_else(|| number("routeConfiguration"));
    let name = node(&["match", "routeConfiguration", "name"]).and_then(Node::as_str);
    let number = number.map(|number| crate::lint::value::walk::number::<u32>(&number));
    let name = name.map(|name| name.strip_prefix("http.").unwrap_or(name).parse().ok());
    match number.or(name) {
        None => Some(Ports::All),
        Some(port) => port.map(Ports::One),
    }
}

/// The VirtualServices that apply at gateways or outbound where a patch does: bound to a Gateway whose proxies the filter selects,
/// or to the mesh.
pub(crate) fn virtual_services<'c>(cx: &'c Context<'_>, view: &PatchView<'_>) -> Vec<&'c VirtualService> {
    let all = cx.inventory.virtual_services.iter().map(|service| &**service);
    match view.patch.context {
        PatchContext::Gateway => {
            let gateways: Vec<_> = selected(cx, view).collect();
            all.filter(|service| gateways.iter().any(|gateway| is_bound(service, gateway))).collect()
        }
        PatchContext::SidecarOutbound if cx.inventory.sidecars.is_empty() => {
            let of_mesh = |service: &&VirtualService| {
                service.gateways.is_empty() || service.gateways.iter().any(|gateway| gateway == "mesh")
            };
            all.filter(of_mesh).filter(|service| service.export_to.is_empty()).collect()
        }
        _ => Vec::new(),
    }
}

/// The Gateways whose proxies a filter selects.
fn selected<'c>(cx: &'c Context<'_>, view: &PatchView<'_>) -> impl Iterator<Item = &'c Gateway> {
    let filter = view.filter;
    let unclear = reach::by_target_refs(cx, filter) || reach::unselective(cx, filter) && !reach::is_root(cx, filter);
    let labels: Vec<(String, String)> =
        filter.selector.iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect();
    let gateways = cx.inventory.gateways.iter().map(|gateway| &**gateway).filter(move |_| !unclear);
    gateways.filter(move |gateway| {
        !gateway.selector.is_empty() && labels.iter().all(|(key, value)| gateway.selector.get(key) == Some(value))
    })
}

/// The hosts of VirtualServices that are bound to the Gateways whose proxies the filter selects.
fn of_gateways(cx: &Context<'_>, view: &PatchView<'_>, ports: Ports) -> Hosts {
    let mut found = Hosts::new();
    for gateway in selected(cx, view) {
        let servers = gateway.servers.iter().filter(|server| is_http(server) && ports.have(server.port));
        for server in servers {
            let bound = cx.inventory.virtual_services.iter().filter(|service| is_bound(service, gateway));
            for host in bound.flat_map(|service| &service.hosts).filter(|host| is_name(host) && serves(server, host)) {
                found.entry(host.clone()).or_default().insert(format!("{host}:{}", server.port));
            }
        }
    }
    found
}

/// The Services with an HTTP port.
fn of_services(cx: &Context<'_>, ports: Ports) -> Hosts {
    let mut found = Hosts::new();
    for service in cx.inventory.services.iter().filter(|service| service.export_to.is_empty() && !service.headless) {
        let host = format!("{}.{}.svc.cluster.local", service.object.name, service.object.namespace);
        for one in service.ports.iter().filter(|one| ports.have(one.number)) {
            let protocol = one.app_protocol.as_deref().unwrap_or(&one.name);
            if protocol.starts_with("http") && !protocol.starts_with("https") || protocol.starts_with("grpc") {
                found.entry(host.clone()).or_default().insert(format!("{host}:{}", one.number));
            }
        }
    }
    found
}

/// Whether a server has routes.
fn is_http(server: &Server) -> bool {
    let through = matches!(server.tls_mode.as_deref(), Some("PASSTHROUGH" | "AUTO_PASSTHROUGH"));
    !through
        && matches!(server.protocol.to_ascii_uppercase().as_str(), "HTTP" | "HTTPS" | "HTTP2" | "GRPC" | "GRPC-WEB")
}

fn is_bound(service: &VirtualService, gateway: &Gateway) -> bool {
    service.gateways.iter().any(|name| {
        let (namespace, name) = name.split_once('/').unwrap_or((service.object.namespace.as_str(), name.as_str()));
        namespace == gateway.object.namespace && name == gateway.object.name
    })
}

/// Whether a server accepts a host, for any namespace.
fn serves(server: &Server, host: &str) -> bool {
    server.bare_hosts().any(|own| own == host || own.strip_prefix('*').is_some_and(|end| host.ends_with(end)))
}

fn is_name(host: &str) -> bool {
    host.contains('.') && !host.contains('*')
}
