//! EF220: no virtual host has that name or domain.

use crate::declare_rule;
use crate::engine::trace::Condition;
use crate::lint::names::client_virtual_host;
use crate::lint::no_match::NoMatch;
use crate::lint::{Context, Findings, RuleInfo, no_match, ports, reach};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, PatchContext, RouteConfigurationMatch};
use crate::model::proxy::ProxyKind;
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use crate::source::escape::one_line;
use crate::words::template_in;
use std::collections::HashSet;

declare_rule! {
    /// `vhost.name` or `vhost.domainName` that no virtual host has.
    ///
    /// # What it finds
    /// A virtual host that none of the matched route configurations has. Without config dumps: names with context
    /// SIDECAR_INBOUND that no inbound virtual host can have, and a virtual host that another patch removes, or renames
    /// at the wrong time.
    ///
    /// # Why it matters
    /// The patch does nothing. Virtual hosts are named `<host>:<port>`; those of a sidecar's inbound side
    /// `inbound|http|<port of the Service>`, although their route configuration has the container port.
    ///
    /// # How to fix
    /// Write a name or domain that exists; `istioctl proxy-config routes -o json` shows them.
    ///
    /// # References
    /// istio/istio#36112, istio/istio#44820; istiod `pilot/pkg/networking/core/envoyfilter/rc_patch.go`.
    "EF220" "virtual-host-not-found" Matching Error => check
}

/// Prefix of the names of inbound virtual hosts.
const INBOUND: &str = "inbound|http|";

/// The names of virtual hosts in VIRTUAL_HOST and ROUTE_CONFIGURATION patches of the input: later passes match both.
fn virtual_hosts_added<'c>(cx: &'c Context<'_>) -> HashSet<&'c str> {
    let of_routes = cx.patches().filter(|view| view.patch.apply_to == ApplyTo::RouteConfiguration);
    let inside = of_routes.filter_map(|view| view.built?.value.as_ref()?.get("virtual_hosts"));
    let inside = inside.flat_map(|list| list.items().iter().map(Tree::name));
    no_match::added(cx, ApplyTo::VirtualHost).into_iter().chain(inside).collect()
}

/// Names that no inbound virtual host can have in any mesh.
fn never_inbound(rule: &'static RuleInfo, cx: &Context<'_>, added: &HashSet<&str>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.context == PatchContext::SidecarInbound) {
        let ObjectMatch::RouteConfiguration(want) = &view.patch.object else { continue };
        let name = want.vhost.as_ref().map_or("", |vhost| &vhost.name);
        // A waypoint has one named `default`.
        let known = name.is_empty() || name == "default" || name.starts_with(INBOUND);
        if known || cx.attaches_to_dump(view.filter_index) || added.contains(name) {
            continue;
        }
        let port = ports_in(name).next();
        let port = port.map_or("<port of the Service>".to_owned(), |port| port.to_string());
        let span = view.value_span(&["match", "routeConfiguration", "vhost", "name"]);
        out.push(
            view.finding(rule, span, format!("no inbound virtual host is named `{name}`"))
                .label("not a name of the inbound side")
                .ineffective()
                .likely("istiod names inbound virtual hosts after the port of the Service")
                .help(format!(
                    "name: \"{INBOUND}{port}\" # or context: SIDECAR_OUTBOUND, for requests that the workload sends"
                )),
        );
    }
}

/// Names of virtual hosts without a port: for what no service or Gateway has, and of waypoints.
const OF_NO_HOST: [&str; 3] = ["allow_any", "block_all", "default"];

/// The virtual hosts for hosts that no service has: each with the one of the other policy, and that policy.
const OF_OTHER_HOSTS: [(&str, &str, &str); 2] =
    [("allow_any", "block_all", "REGISTRY_ONLY"), ("block_all", "allow_any", "ALLOW_ANY")];

/// Names without a port, which no virtual host of a gateway or of the outbound side has in any mesh, unless a patch adds it.
fn without_port(rule: &'static RuleInfo, cx: &Context<'_>, added: &HashSet<&str>, out: &mut Findings) {
    let sides = [PatchContext::Gateway, PatchContext::SidecarOutbound];
    for view in cx.patches().filter(|view| sides.contains(&view.patch.context)) {
        let ObjectMatch::RouteConfiguration(want) = &view.patch.object else { continue };
        let name = want.vhost.as_ref().map_or("", |vhost| &vhost.name);
        let filled_in = template_in(name).is_some();
        // The context of an inbound name is wrong, not the name.
        let inbound = name.starts_with(INBOUND);
        let known = name.is_empty() || name.contains(':') || filled_in || inbound || OF_NO_HOST.contains(&name);
        // The context is wrong for a waypoint, whatever the name.
        let waypoints = || reach::selects_waypoints(cx, view.filter).is_some();
        if known || cx.attaches_to_dump(view.filter_index) || added.contains(name) || waypoints() {
            continue;
        }
        let port = if view.patch.context == PatchContext::Gateway { "Gateway's server" } else { "Service" };
        let span = view.value_span(&["match", "routeConfiguration", "vhost", "name"]);
        out.push(
            view.finding(rule, span, format!("no virtual host is named `{name}`: its port is missing"))
                .label("istiod names virtual hosts <host>:<port>")
                .ineffective()
                .likely("no config dump was given; judged by the names that istiod gives")
                .help(format!("name: \"{name}:<port of the {port}>\"")),
        );
    }
}

/// The ports in a name such as `cart.shop:8080` or `inbound|8080|http|cart.shop`.
fn ports_in(name: &str) -> impl Iterator<Item = u16> {
    name.split([':', '|']).filter_map(|part| part.parse().ok())
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let added = virtual_hosts_added(cx);
    never_inbound(rule, cx, &added, out);
    without_port(rule, cx, &added, out);
    for one in no_match::at(cx, &[Condition::VirtualHostName, Condition::DomainName]) {
        let ObjectMatch::RouteConfiguration(want) = &one.view.patch.object else { continue };
        let Some(vhost) = &want.vhost else { continue };
        let (field, value) = match one.nearest {
            Some(Condition::DomainName) => ("domainName", &vhost.domain_name),
            _ => ("name", &vhost.name),
        };
        if let Some(shared) = of_plain_server(&one, want, &vhost.name) {
            let message = format!(
                "virtual host `{value}` is in `{shared}`, which all HTTP servers of the port share: it carries no gateway"
            );
            let span = one.view.value_span(&["match", "routeConfiguration", "gateway"]);
            let mut finding = one.finding(cx, rule, "virtual host", message).label("the virtual host that is meant");
            finding = finding.related(span, "only compared with the routes of HTTPS servers");
            out.push(finding.help("leave `gateway` out: the name of the virtual host is enough"));
            continue;
        }
        let finding = one.finding(cx, rule, "virtual host", format!("no virtual host here has {field} `{value}`"));
        if let Some(chain) = of_waypoint(&one, value) {
            out.push(
                finding
                    .note("a waypoint names its virtual hosts after the port alone, and each service has a route configuration of its own")
                    .snippet(format!("match that instead of the virtual host:\nrouteConfiguration:\n  name: \"{}\"", one_line(&chain))),
            );
            continue;
        }
        if let Some((_, instead, mode)) =
            OF_OTHER_HOSTS.iter().find(|(name, instead, _)| value == name && one.candidates.contains(*instead))
        {
            let note = format!(
                "these proxies have outboundTrafficPolicy {mode}: istiod generates `{instead}` for other hosts"
            );
            out.push(finding.note(note).help(format!("name: {instead}")));
            continue;
        }
        let with_port =
            one.candidates.iter().find(|it| it.strip_prefix(value.as_str()).is_some_and(|rest| rest.starts_with(':')));
        if let Some(port) = value.strip_prefix(INBOUND) {
            let words = "inbound virtual hosts have the port of the Service";
            out.push(finding.snippet(match of_service(cx, &one, port) {
                Some(name) => format!("{words}:\n{field}: \"{}\"", one_line(name)),
                None => words.to_owned(),
            }));
            continue;
        }
        let inbound =
            (one.view.patch.context == PatchContext::SidecarInbound).then(|| ports_in(value)).into_iter().flatten();
        let inbound = inbound.map(|port| format!("{INBOUND}{port}")).find(|name| one.candidates.contains(name));
        out.push(match with_port.or(inbound.as_ref()).map(String::as_str) {
            Some(like) => finding.help(format!("{field}: \"{like}\"")),
            None => match one.like(value) {
                Some(like) => finding.help(format!("did you mean `{field}: \"{like}\"`?")),
                None => finding,
            },
        });
    }
}

/// The route configuration that a waypoint has for a service, if a match names the virtual host that its clients have.
fn of_waypoint(one: &NoMatch<'_, '_>, vhost: &str) -> Option<String> {
    let waypoints = one.runs.iter().filter(|run| run.config.proxy.kind == ProxyKind::Waypoint);
    waypoints.into_iter().find_map(|run| {
        let listeners = run.listeners_after();
        let chains = listeners.values().filter_map(|listener| listener.get("filter_chains")).flat_map(Tree::items);
        let of_host = |chain: &&Tree<'_>| {
            let client = client_virtual_host(chain.name());
            client
                .is_some_and(|client| client == vhost || client.rsplit_once(':').is_some_and(|(host, _)| host == vhost))
        };
        chains.into_iter().find(of_host).map(|chain| chain.name().to_owned())
    })
}

/// The route configuration of plain HTTP servers with a virtual host, if the match also names a gateway.
fn of_plain_server(one: &NoMatch<'_, '_>, want: &RouteConfigurationMatch, name: &str) -> Option<String> {
    if want.gateway.is_empty() || name.is_empty() || one.view.patch.context != PatchContext::Gateway {
        return None;
    }
    one.runs.iter().find_map(|run| {
        let plain = run.config.generated(ResourceKind::Route).filter(|(_, routes)| routes.name.starts_with("http."));
        plain.into_iter().find_map(|(_, resource)| {
            let routes = run.before(ResourceKind::Route, &resource.name)?;
            let vhosts = routes.get("virtual_hosts").map(Tree::items)?;
            vhosts.iter().any(|vhost| vhost.name() == name).then(|| resource.name.to_string())
        })
    })
}

/// The inbound virtual host for a container port, or else the only one for any port: connections to other ports pass
/// through `inbound|http|0`.
fn of_service<'c>(cx: &Context<'_>, one: &'c NoMatch<'_, '_>, port: &str) -> Option<&'c String> {
    let pairs = || one.runs.iter().flat_map(|run| ports::of_workload(cx, run));
    let services: Vec<u32> = pairs().filter(|pair| pair.target.to_string() == port).map(|pair| pair.port).collect();
    let name = |name: &&String| name.strip_prefix(INBOUND).is_some_and(|port| port != "0");
    let inbound: Vec<&String> = one.candidates.iter().filter(name).collect();
    let behind = |name: &&&String| services.iter().any(|service| **name == &format!("{INBOUND}{service}"));
    match (inbound.iter().find(behind), inbound.as_slice()) {
        (Some(name), _) => Some(name),
        (None, [only]) => Some(only),
        _ => None,
    }
}
