//! Patches of routes and virtual hosts: the hosts, ports and rules that they match, and the objects that own them.

use super::delegated;
use super::destination::{self, inserted_rule};
use super::kube_route;
use super::no_timeout;
use super::route_value::{Setting, among, settings};
use super::target::client_namespace;
use super::vhost::{self, Group, Vhost};
use super::waypoint_route;
use crate::migrate::base::catalog::{self, Pattern};
use crate::migrate::base::filters;
use crate::migrate::base::step::{BUILT_IN, Cx, Move, Part, has, too_old};
use crate::migrate::base::value::{hash, merge};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::{attach, beside, decides};
use crate::migrate::objects::mesh::{Mesh, Proxies};
use crate::migrate::output::change::{Change, Choose};
use crate::migrate::output::draft::Action;
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext, RouteAction, RouteMatch};
use crate::model::inventory::VirtualService;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeSet, HashMap};

const RECEIVED: &str = "a VirtualService and an HTTPRoute change the routes of clients and gateways, and no API those of the requests that a sidecar receives: set it for the clients of the service, or keep the EnvoyFilter";
const OF_ALL_CONTEXTS: &str = "the patch is for inbound, outbound and gateway routes at once (context ANY), which different objects set: write one patch for each context that is meant";
const SOMEWHERE: &str = "only a route before all others (INSERT_FIRST) is edited into a VirtualService; where this one ends up depends on the routes that istiod generates: put the rule into `http` of the VirtualService by hand";
const OF_ALL_HOSTS: &str = "a rule belongs to the VirtualService of a host, and the patch is for every host of the gateway: name the virtual host (`HOST:PORT`), or put the rule into each VirtualService by hand";
const OF_ALL_SERVICES: &str = "a VirtualService names the service, and the patch is for every service: name the virtual host (`HOST:PORT`) of each service that is meant";
const PORTS_OF_KUBE: &str = "HTTPRoutes route the service, and the patches are for several of its ports: set it by hand in the rules for these ports";

/// The ports on which the gateways of a filter serve a host.
pub(in crate::migrate) fn hosts_ports(cx: &Cx<'_>, host: &str) -> Option<BTreeSet<u32>> {
    let mut ports = BTreeSet::new();
    for one in cx.mesh.servers(cx.filter).into_iter().flatten() {
        let serves = one
            .server
            .bare_hosts()
            .any(|own| own == host || own == "*" || own.strip_prefix('*').is_some_and(|suffix| host.ends_with(suffix)));
        let http = !crate::migrate::objects::policy::is_tcp(&one.server.protocol, one.server.tls_mode.as_deref());
        if serves && http {
            ports.insert(one.server.port);
        }
    }
    for (port, protocol) in cx.mesh.kube_listeners(cx.filter).into_iter().flatten() {
        if matches!(protocol, "HTTP" | "HTTPS") {
            ports.insert(port);
        }
    }
    (!ports.is_empty()).then_some(ports)
}

/// Finds patches of routes, virtual hosts and route configurations.
pub(in crate::migrate) fn find(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    cors_filters(cx, parts);
    let groups = groups(parts);
    let own_cors: Vec<String> = parts
        .iter()
        .filter(|one| one.config_type() == CORS && one.inserts())
        .filter_map(|one| Some(one.value.peek("name")?.as_str()?.to_owned()))
        .collect();
    for group in groups {
        let Some(&first) = group.members.first() else { continue };
        let found = of_group(cx, &parts[first], &group, &own_cors);
        for (number, &member) in group.members.iter().enumerate() {
            let leader = parts[first].built.patch.index;
            parts[member].answer(if number > 0 { found.shared(leader) } else { found.clone() });
        }
    }
}

const CORS: &str = "envoy.extensions.filters.http.cors.v3.Cors";

/// A CORS filter next to istiod's own: only the policies on routes have an effect.
fn cors_filters(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    for part in parts.iter_mut().filter(|part| part.found.is_none()) {
        if part.apply_to() == ApplyTo::HttpFilter && part.inserts() && part.config_type() == CORS {
            let mut found = Move::new(&catalog::CORS)
                .home(BUILT_IN, filters::CORS, 0)
                .differs(Kind::Metadata, "the second CORS filter is not needed: istiod puts one in every chain");
            attach::tunnels(part, &mut found);
            decides::later_preflights(cx, part, &mut found);
            part.answer(found);
        }
    }
}

/// The route that a patch matches.
fn route<'p>(part: &'p Part<'_>) -> Option<&'p RouteMatch> {
    match &part.built.object {
        ObjectMatch::RouteConfiguration(route) => route.vhost.as_ref()?.route.as_ref(),
        _ => None,
    }
}

fn same_target(one: &Part<'_>, other: &Part<'_>) -> bool {
    one.apply_to() == other.apply_to()
        && one.operation() == other.operation()
        && one.value == other.value
        && one.built.patch.context == other.built.patch.context
        && route(one) == route(other)
}

fn groups(parts: &[Part<'_>]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    // By host, value and route, so that few have to be compared.
    let mut of_host: HashMap<(String, u64, String), Vec<usize>> = HashMap::new();
    for (at, part) in parts.iter().enumerate() {
        let routes = matches!(part.apply_to(), ApplyTo::VirtualHost | ApplyTo::HttpRoute | ApplyTo::RouteConfiguration);
        if part.found.is_some() || !routes {
            continue;
        }
        let vhost = Vhost::of(part);
        let host = vhost.as_ref().and_then(|vhost| vhost.host.clone());
        let port = vhost.and_then(|vhost| vhost.port);
        let named = route(part).map(|route| route.name.clone()).unwrap_or_default();
        let place = host.clone().map(|host| (host, hash(&part.value.0), named));
        let others = place.as_ref().and_then(|place| of_host.get(place)).map(Vec::as_slice).unwrap_or_default();
        // All members have the same target.
        let is_same =
            |group: &&usize| groups[**group].members.first().is_some_and(|&one| same_target(&parts[one], part));
        if let Some(&group) = others.iter().find(is_same) {
            groups[group].members.push(at);
            groups[group].ports.extend(port);
            continue;
        }
        if let Some(place) = place {
            of_host.entry(place).or_default().push(groups.len());
        }
        groups.push(Group { members: vec![at], host, ports: port.into_iter().collect() });
    }
    groups
}

fn of_group(cx: &Cx<'_>, part: &Part<'_>, group: &Group, own_cors: &[String]) -> Move {
    let inserts = part.inserts();
    if inserts && part.apply_to() == ApplyTo::HttpRoute {
        return inserted(cx, part, group);
    }
    if part.operation() != Operation::Merge {
        return Move::none(&catalog::OTHER, vhost::without_operation(part));
    }
    let setting = match settings(cx, part, own_cors) {
        Ok(setting) => setting,
        Err((pattern, reason)) => return Move::none(pattern, reason),
    };
    if part.reach.proxies == Proxies::Waypoint {
        if setting.ends_timeout() {
            return no_timeout::at_waypoint(cx, part, &setting);
        }
        let mut found = setting.start();
        if setting.at_host {
            found.difference(Kind::Position, setting.moved);
        }
        return waypoint_route::made(cx, part, &setting, found);
    }
    if part.reach.context == PatchContext::SidecarInbound {
        if setting.only_ends_timeout() {
            return no_timeout::built_in(&setting);
        }
        return Move::none(setting.pattern, RECEIVED);
    }
    if Vhost::of(part).is_none() {
        return Move::none(setting.pattern, vhost::unnamed(part));
    }
    match (part.reach.proxies, part.reach.context) {
        (Proxies::Gateway, _) => at_gateway(cx, part, group, setting, own_cors),
        (Proxies::Sidecar, PatchContext::SidecarOutbound) => outbound(cx, part, group, setting),
        _ => Move::none(setting.pattern, OF_ALL_CONTEXTS),
    }
}

fn choose(part: &Part<'_>, setting: &Setting) -> Result<Choose, &'static str> {
    let Some(route) = route(part) else {
        return Ok(if setting.needs_route { Choose::Routing } else { Choose::All });
    };
    match (route.name.as_str(), route.action) {
        ("", RouteAction::Any) => Ok(if setting.needs_route { Choose::Routing } else { Choose::All }),
        ("", RouteAction::Route) => Ok(Choose::Routing),
        ("", _) => Err(
            "the patch is for all routes that redirect or respond by themselves, which a rule of a VirtualService does not tell apart: name the route (`match.routeConfiguration.vhost.route.name`)",
        ),
        (name, _) => Ok(Choose::Named(name.to_owned())),
    }
}

/// The VirtualServices with rules in the virtual host of a host that the gateways of a filter serve; in any if none is named.
pub(in crate::migrate) fn owners<'a>(cx: &Cx<'a>, host: Option<&str>) -> Vec<&'a VirtualService> {
    let mut gateways: HashMap<(&str, &str), BTreeSet<&str>> = HashMap::new();
    for one in cx.mesh.servers(cx.filter).into_iter().flatten() {
        let object = &one.gateway.object;
        let hosts = gateways.entry((&object.namespace, &object.name)).or_default();
        hosts.extend(one.server.bare_hosts());
    }
    let owns = |service: &VirtualService| {
        service.gateways.iter().any(|name| {
            let name = name.split_once('/').unwrap_or((service.object.namespace.as_str(), name.as_str()));
            let Some(served) = gateways.get(&name) else { return false };
            // Its rules for all hosts are also in the virtual host of one that the Gateway names.
            let wider = |own: &String, host: &str| {
                served.contains(host) && own.strip_prefix('*').is_some_and(|suffix| host.ends_with(suffix))
            };
            host.is_none_or(|host| service.hosts.iter().any(|own| own == host || wider(own, host)))
        })
    };
    // The same object may be given twice.
    let mut seen = BTreeSet::new();
    cx.mesh
        .inventory
        .virtual_services
        .iter()
        .map(AsRef::as_ref)
        .filter(|service| !service.http_routes.is_empty() && owns(service))
        .filter(|service| seen.insert((&service.object.namespace, &service.object.name)))
        .collect()
}

fn at_gateway(cx: &Cx<'_>, part: &Part<'_>, group: &Group, setting: Setting, own_cors: &[String]) -> Move {
    let choose = match choose(part, &setting) {
        Ok(choose) => choose,
        Err(reason) => return Move::none(setting.pattern, reason),
    };
    let owners = owners(cx, group.host.as_deref());
    let rules = owners.iter().flat_map(|owner| rules_of(owner)).filter(|rule| choose.fits(rule));
    let rules = rules.chain(kube_route::rules_at_gateway(cx, group, &choose));
    let setting = among(cx, part, own_cors, setting, &rules.collect::<Vec<_>>());
    let mut found = setting.start();
    if setting.at_host {
        found.difference(Kind::Position, setting.moved);
    }
    let kube = match kube_route::at_gateway(cx, &mut found, group, &setting, &choose, action_of(part)) {
        Ok(kube) => kube,
        Err(reason) => return Move::none(setting.pattern, reason),
    };
    if kube && owners.is_empty() {
        return found;
    }
    if !kube && setting.only_ends_timeout() && no_timeout::has_none(&owners, &choose) {
        return no_timeout::built_in(&setting);
    }
    if !has(cx, setting.since) {
        return too_old(setting.pattern, cx, &format!("VirtualService {}", setting.field), setting.since);
    }
    found.add_home("VirtualService", setting.field, setting.since);
    if owners.is_empty() {
        let of = group.host.as_deref().map_or("the gateway".to_owned(), |host| format!("host {host}"));
        found.guard(
            Concern::Existing,
            State::Undecided,
            format!("the VirtualService of {of} is not in the input: add it so that it can be edited"),
        );
        return found;
    }
    whole_host(cx, group, &mut found);
    beside::ingress(cx, group.host.as_deref(), &mut found);
    for owner in owners {
        edit(cx, owner, group, &setting, (&choose, action_of(part)), &mut found);
    }
    found
}

/// The HTTP rules of a VirtualService.
fn rules_of(owner: &VirtualService) -> Vec<Json> {
    owner.object.document.to_json()["spec"]["http"].as_array().cloned().unwrap_or_default()
}

/// The action of the routes that a patch matches.
fn action_of(part: &Part<'_>) -> RouteAction {
    route(part).map_or(RouteAction::Any, |route| route.action)
}

fn edit(
    cx: &Cx<'_>,
    owner: &VirtualService,
    group: &Group,
    setting: &Setting,
    (choose, action): (&Choose, RouteAction),
    found: &mut Move,
) {
    let name = format!("{}/{}", owner.object.namespace, owner.object.name);
    let document = owner.object.document.to_json();
    let rules = document["spec"]["http"].as_array();
    if delegated::refuses(cx, owner, rules.map_or(&[], Vec::as_slice), (choose, action, setting), found) {
        return;
    }
    if let Choose::Named(route) = choose {
        let named = || rules.into_iter().flatten().filter(|rule| choose.fits(rule));
        if !named().any(|rule| beside::has_action(rule, action)) {
            found.guard(
                Concern::Routes,
                State::Undecided,
                format!(
                    "VirtualService {name} has no rule called {route}{}: the patch matches none of its routes",
                    if named().next().is_some() { " with this action" } else { "" }
                ),
            );
            return;
        }
        if setting.needs_route && named().any(beside::answers) {
            let reason = beside::answering(route, &format!("VirtualService {name}"));
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Patch, State::Broken, reason);
        }
    }
    // istiod rejects a rule with a fault and one of these.
    let mut choose = choose;
    if setting.value.get("fault").is_some()
        && rules.into_iter().flatten().any(|rule| choose.fits(rule) && beside::answers(rule))
    {
        let reason = format!(
            "a rule of VirtualService {name} redirects or responds itself, and such a rule cannot have a fault: the filter injects it there too"
        );
        found.difference(Kind::Behavior, reason.clone());
        if *choose == Choose::All {
            choose = &Choose::Routing;
        } else {
            found.guard(Concern::Patch, State::Broken, reason);
        }
    }
    if let Some(host) = &group.host {
        let others: Vec<&str> = owner.hosts.iter().filter(|one| *one != host).map(String::as_str).collect();
        if !others.is_empty() {
            let reason = format!(
                "VirtualService {name} also applies to {}, which the filter does not change",
                others.join(", ")
            );
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Routes, State::Broken, reason);
        }
    }
    let foreign: Vec<&str> = owner
        .gateways
        .iter()
        .filter(|gateway| {
            let (namespace, name) =
                gateway.split_once('/').unwrap_or((owner.object.namespace.as_str(), gateway.as_str()));
            !cx.mesh
                .servers(cx.filter)
                .into_iter()
                .flatten()
                .any(|one| one.gateway.object.namespace == namespace && one.gateway.object.name == name)
        })
        .map(String::as_str)
        .collect();
    if !foreign.is_empty() {
        let reason =
            format!("VirtualService {name} is also bound to {}, which the filter does not change", foreign.join(", "));
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Routes, State::Broken, reason);
    }
    found.spares |= *choose == Choose::Routing && rules.into_iter().flatten().any(beside::answers);
    for rule in rules.into_iter().flatten().filter(|rule| choose.fits(rule)) {
        beside::already(&format!("VirtualService {name}"), rule, setting, found);
    }
    if setting.needs_route
        && !setting.at_host
        && *choose == Choose::Routing
        && action == RouteAction::Any
        && rules.is_some_and(|rules| rules.iter().any(beside::answers))
    {
        found.difference(
            Kind::Behavior,
            format!(
                "the filter also replaces the redirects and direct responses of VirtualService {name} with a route action that has no destination; the native object leaves them unchanged"
            ),
        );
    }
    if !no_timeout::edits(setting, rules.into_iter().flatten().filter(|rule| choose.fits(rule)), found) {
        return;
    }
    found.actions.push(Action::Edit {
        object: ("VirtualService", owner.object.namespace.clone(), owner.object.name.clone()),
        change: Change::Rules { choose: choose.clone(), value: setting.value.clone() },
    });
}

/// A rule of a VirtualService applies to every port of its host.
pub(in crate::migrate) fn whole_host(cx: &Cx<'_>, group: &Group, found: &mut Move) {
    let Some(host) = &group.host else { return };
    match hosts_ports(cx, host) {
        Some(all) if all.is_subset(&group.ports) => {
            found.guard(Concern::Ports, State::Held, format!("the filter covers every port of {host}"));
        }
        Some(all) => {
            let rest: Vec<String> = all.difference(&group.ports).map(u32::to_string).collect();
            let reason = format!("port {} of {host} also gets it; the filter does not change it", rest.join(", "));
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Ports, State::Broken, reason);
        }
        None => found.guard(
            Concern::Ports,
            State::Undecided,
            format!("a rule applies to every port of {host}, and the Gateway with its ports is not in the input"),
        ),
    }
}

const RECORDED: &str = "istiod records which object created the route";

/// An inserted route with a direct response or a redirect, before the others.
fn inserted(cx: &Cx<'_>, part: &Part<'_>, group: &Group) -> Move {
    let (redirects, routes) = (part.value.peek("redirect").is_some(), part.value.peek("route").is_some());
    let pattern: &'static Pattern = match (redirects, routes) {
        (true, _) => &catalog::REDIRECT,
        (_, true) => &catalog::ROUTE_DESTINATION,
        _ => &catalog::DIRECT_RESPONSE,
    };
    let mut rule = match inserted_rule(part) {
        Ok(rule) => rule,
        Err(reason) => return Move::none(pattern, reason),
    };
    if part.operation() != Operation::InsertFirst {
        return Move::none(pattern, SOMEWHERE);
    }
    if part.reach.proxies != Proxies::Gateway {
        return Move::none(
            pattern,
            "the routes of sidecars come from services, not from a VirtualService that could be edited",
        );
    }
    if Vhost::of(part).is_none() {
        return Move::none(pattern, vhost::unnamed(part));
    }
    let mut found = Move::new(pattern);
    match kube_route::inserted(cx, &mut found, group, &rule) {
        Ok(false) => {}
        Ok(true) => return found,
        Err(reason) => return Move::none(pattern, reason),
    }
    let field = match (redirects, routes) {
        (true, _) => "http.redirect",
        (_, true) => "http.route",
        _ => "http.directResponse",
    };
    found.add_home("VirtualService", field, 0);
    if routes {
        destination::differences(&mut found);
    }
    for effect in ["the trace span gets an operation name", "`case_sensitive` is written out", RECORDED] {
        found.difference(Kind::Metadata, effect);
    }
    if rule.pointer("/match/0") == Some(&json!({ "uri": { "prefix": "/" } })) {
        found.difference(
            Kind::Metadata,
            "istiod does not generate the routes after it, which no request reaches in either configuration",
        );
    }
    if part.value.peek("redirect/https_redirect").is_some() {
        found
            .difference(Kind::Metadata, "the redirect to HTTPS is written in the more general field `scheme_redirect`");
    }
    let Some(host) = &group.host else {
        return Move::none(pattern, OF_ALL_HOSTS);
    };
    beside::ingress(cx, Some(host), &mut found);
    let owners = owners(cx, Some(host));
    let [owner] = owners.as_slice() else {
        let reason = if owners.is_empty() {
            format!("the VirtualService of host {host} is not in the input: add it so that it can be edited")
        } else {
            format!("several VirtualServices have rules for host {host}: which of them come first depends on their age")
        };
        found.guard(Concern::Existing, State::Undecided, reason);
        return found;
    };
    match hosts_ports(cx, host) {
        Some(all) if all.is_subset(&group.ports) => {
            found.guard(Concern::Ports, State::Held, format!("the filter covers every port of {host}"));
        }
        Some(_) => {
            // One match for each port that the filter covers.
            let matches: Vec<Json> = rule["match"]
                .as_array()
                .into_iter()
                .flatten()
                .flat_map(|one| group.ports.iter().map(move |port| (one.clone(), *port)))
                .map(|(mut one, port)| {
                    one["port"] = port.into();
                    one
                })
                .collect();
            rule["match"] = matches.into();
            found.guard(Concern::Ports, State::Held, "the rule names the ports of the filter");
        }
        None => {
            found.guard(Concern::Ports, State::Undecided, format!("no Gateway of the input serves {host} on the gateways of the filter, so that its ports are unknown: add it"));
        }
    }
    if owner.hosts.iter().any(|one| one != host) || owner.gateways.len() != 1 {
        let reason = format!(
            "VirtualService {}/{} also applies to other hosts or gateways",
            owner.object.namespace, owner.object.name
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Routes, State::Broken, reason);
    }
    found.actions.push(Action::Edit {
        object: ("VirtualService", owner.object.namespace.clone(), owner.object.name.clone()),
        change: Change::FirstRule(rule),
    });
    found
}

/// Routes from sidecars to one service: a VirtualService in the client's namespace.
fn outbound(cx: &Cx<'_>, part: &Part<'_>, group: &Group, setting: Setting) -> Move {
    let pattern = setting.pattern;
    let (Some(host), Some(&port)) = (&group.host, group.ports.first()) else {
        return Move::none(pattern, OF_ALL_SERVICES);
    };
    let ports = &group.ports;
    if let Some(reason) = beside::too_many_ports(cx, host, ports) {
        return Move::none(pattern, reason);
    }
    let mut found = setting.start();
    if setting.at_host {
        found.difference(Kind::Position, setting.moved);
    }
    match choose(part, &setting) {
        Err(reason) => return Move::none(pattern, reason),
        Ok(choose) => match kube_route::of_service(cx, &mut found, (host, port), &setting, &choose, action_of(part)) {
            Ok(true) if ports.len() > 1 => return Move::none(pattern, PORTS_OF_KUBE),
            Ok(true) => return found,
            Ok(false) => {}
            Err(reason) => return Move::none(pattern, reason),
        },
    }
    if !has(cx, setting.since) {
        return too_old(pattern, cx, &format!("VirtualService {}", setting.field), setting.since);
    }
    let value = setting.of_new_rule();
    if let Some(route) = route(part)
        && !matches!(route.name.as_str(), "" | "default")
    {
        return Move::none(pattern, beside::no_route(cx, host, &route.name));
    }
    found.add_home("VirtualService", setting.field, setting.since);
    found.difference(
        Kind::Metadata,
        "`case_sensitive` is written out, and istiod records which object created the route",
    );
    let namespace = match client_namespace(cx) {
        Ok(namespace) => namespace,
        Err(reason) => return Move::none(pattern, reason),
    };
    if setting.only_ends_timeout() {
        return no_timeout::outbound(cx, host, namespace, &setting);
    }
    if host.starts_with('*') {
        let reason = format!(
            "a VirtualService for {host} also applies to every other host that the wildcard covers; the patch is for the virtual host of that name alone"
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Routes, State::Broken, reason);
    }
    if let Some(reason) = ports.iter().find_map(|port| beside::without_routes(cx, host, *port)) {
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Ports, State::Broken, reason);
    }
    beside::taken(cx, host, namespace, &mut found);
    beside::http_proxy(cx, host, &mut found);
    beside::hashed(cx, (host, ports), namespace, &mut found);
    if !Mesh::is_narrow(cx.filter) && cx.mesh.is_mesh_wide(cx.filter) {
        found.guard(
            Concern::Namespace,
            State::Undecided,
            "a VirtualService for every client belongs to the namespace of the service, where others may edit it",
        );
    }
    let destination = |port: u32| json!([{ "destination": { "host": host, "port": { "number": port } } }]);
    // istiod gives the routes of a service this name (`%ROUTE_NAME%`).
    let plain = |port: u32| json!({ "name": "default", "match": [{ "port": port }], "route": destination(port) });
    let mut rules = Vec::new();
    let labels = cx.filter.selector.as_ref().filter(|labels| !labels.is_empty());
    for port in ports {
        let mut first = plain(*port);
        if let Some(labels) = labels {
            first["match"][0]["sourceLabels"] = json!(labels);
        }
        merge(&mut first, &value);
        rules.push(first);
        rules.extend(labels.map(|_| plain(*port)));
    }
    rules.extend(beside::other_ports(cx, (host, ports), namespace, &mut found).into_iter().map(plain));
    let mut spec = Map::new();
    spec.insert("hosts".to_owned(), json!([host]));
    let whole_mesh = cx.mesh.is_mesh_wide(cx.filter);
    if !whole_mesh {
        spec.insert("exportTo".to_owned(), json!(["."]));
    } else if !cx.mesh.exports("defaultVirtualServiceExportTo") {
        spec.insert("exportTo".to_owned(), json!(["*"]));
    }
    spec.insert("http".to_owned(), rules.into());
    let mut object = crate::migrate::output::draft::object("networking.istio.io/v1", "VirtualService", cx.filter, spec);
    object["metadata"]["namespace"] = namespace.into();
    found.actions.push(Action::Object(object));
    found
}
