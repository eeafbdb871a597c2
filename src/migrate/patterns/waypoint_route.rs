//! Routes of a waypoint: new HTTPRoutes for the services that have none, which are the only ones that a filter patches.

use super::kube_route;
use super::route_value::Setting;
use crate::migrate::base::step::{Cx, Move, Part, has};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::beside;
use crate::migrate::objects::mesh::is_http;
use crate::migrate::output::draft::{Action, metadata};
use crate::model::envoy_filter::{ObjectMatch, RouteAction};
use crate::model::injection::{self, Sidecar};
use crate::model::inventory::{Labels, Object, Service, VirtualService, Workload};
use crate::model::proxy::{USE_WAYPOINT, USE_WAYPOINT_NAMESPACE};
use serde_json::{Value as Json, json};

/// The services and ports that a match selects by the names of a waypoint's route tables and virtual hosts.
#[derive(Default)]
struct Wanted<'p> {
    host: Option<&'p str>,
    port: Option<u32>,
}

/// A table is `inbound-vip|PORT|http|HOST`, its only virtual host `inbound|http|PORT`, and its only route `default`.
fn wanted<'p>(part: &'p Part<'_>) -> Result<Wanted<'p>, &'static str> {
    let mut wanted = Wanted::default();
    let route = match &part.built.object {
        ObjectMatch::None => return Ok(wanted),
        ObjectMatch::RouteConfiguration(route) => route,
        _ => return Err("the patch does not match by routes"),
    };
    if route.port_number != 0 || !route.port_name.is_empty() || !route.gateway.is_empty() {
        return Err("a waypoint's routes match by the name of their table or virtual host, not by port or gateway");
    }
    if !route.name.is_empty() {
        let mut words = route.name.split('|');
        let table = (words.next(), words.next(), words.next(), words.next(), words.next());
        let (Some("inbound-vip"), Some(port), Some("http"), Some(host), None) = table else {
            return Err("no route table of a waypoint's service has this name");
        };
        wanted = Wanted { host: Some(host), port: port.parse().ok() };
    }
    let Some(host) = &route.vhost else { return Ok(wanted) };
    if !host.domain_name.is_empty() {
        return Err("the virtual hosts of a waypoint have only the domain `*`");
    }
    if !host.name.is_empty() {
        let port = host.name.strip_prefix("inbound|http|").and_then(|port| port.parse().ok());
        let same = port.is_some() && wanted.port.is_none_or(|own| Some(own) == port);
        if !same {
            return Err("no virtual host of a waypoint's service has this name");
        }
        wanted.port = port;
    }
    match &host.route {
        Some(one) if !matches!(one.name.as_str(), "" | "default") => Err("such a service has only the route `default`"),
        Some(one) if !matches!(one.action, RouteAction::Any | RouteAction::Route) => {
            Err("such a service has no redirects and no direct responses")
        }
        _ => Ok(wanted),
    }
}

/// Whether a service uses a waypoint of the namespace: by its own label, or by that of its namespace.
fn uses(cx: &Cx<'_>, object: &Object, (namespace, name): (&str, &str)) -> bool {
    let of = |labels: &Labels| {
        let waypoint = labels.get(USE_WAYPOINT)?;
        let home = labels.get(USE_WAYPOINT_NAMESPACE).unwrap_or(&object.namespace);
        Some(waypoint == name && home == namespace)
    };
    let of_namespace = || {
        let one = cx.mesh.inventory.namespaces.iter().find(|one| one.name == object.namespace)?;
        of(&one.labels)
    };
    of(&object.labels).or_else(of_namespace).unwrap_or(false)
}

fn has_routes(cx: &Cx<'_>, host: &str) -> bool {
    let of_mesh = |one: &VirtualService| one.gateways.is_empty() || one.gateways.iter().any(|name| name == "mesh");
    cx.mesh.index.virtual_services(host).any(of_mesh)
        || cx.mesh.index.routes().iter().any(|one| beside::is_for_service(cx, one.object, &one.document, host))
}

/// HTTPRoutes that give each service of the waypoint the setting.
pub(in crate::migrate) fn made(cx: &Cx<'_>, part: &Part<'_>, setting: &Setting, mut found: Move) -> Move {
    let none = |reason: &str| Move::none(setting.pattern, reason);
    let wanted = match wanted(part) {
        Ok(wanted) => wanted,
        Err(reason) => return none(reason),
    };
    let [target] = cx.filter.target_refs.as_slice() else {
        return none("the patch is for several waypoints, or istiod attaches it to none");
    };
    if target.kind != "Gateway" {
        return none("HTTPRoutes attach to services; the filter is not for one waypoint");
    }
    let waypoint = (cx.filter.namespace.as_str(), target.name.as_str());
    let setting_of_rule = match kube_route::native(cx, &mut found, setting) {
        Ok(rule) => rule.value,
        Err(reason) => return none(&reason),
    };
    let mut rule = json!({});
    if has(cx, kube_route::NAMED) {
        rule["name"] = "default".into();
    } else {
        found.difference(Kind::Name, "the route has the name that istiod gives the rule instead of `default`");
    }
    crate::migrate::base::value::merge(&mut rule, &setting_of_rule);
    let mut left = Vec::new();
    for entry in cx.mesh.inventory.service_entries.iter().filter(|entry| uses(cx, &entry.object, waypoint)) {
        if wanted.host.is_none_or(|host| entry.hosts.iter().any(|one| one == host)) {
            left.push(format!("ServiceEntry {}/{}", entry.object.namespace, entry.object.name));
        }
    }
    for service in cx.mesh.inventory.services.iter().filter(|service| uses(cx, &service.object, waypoint)) {
        let object = &service.object;
        let host = format!("{}.{}.svc.cluster.local", object.name, object.namespace);
        if wanted.host.is_none_or(|wanted| wanted == host) && !has_routes(cx, &host) {
            let routes = for_service(cx, service, &wanted, &rule);
            found.actions.extend(routes.map(Action::Object));
        }
    }
    if found.actions.is_empty() {
        return none(
            "the input has no Service of this waypoint without a VirtualService or an HTTPRoute, and a filter patches only the routes of such services: set it in the route object, or add the Service so that an HTTPRoute can be written",
        );
    }
    if wanted.host.is_none() {
        found.difference(
            Kind::Behavior,
            "each service has its own HTTPRoute: services that use the waypoint later need one too",
        );
        found.difference(
            Kind::Behavior,
            "requests to addresses that belong to no service of the waypoint (its route table `encap`) no longer get it",
        );
    }
    for left in left {
        found.difference(Kind::Behavior, format!("{left} also uses the waypoint, and no HTTPRoute is written for it"));
    }
    found.difference(
        Kind::Behavior,
        "while the service's cluster is missing on the waypoint, requests get 500 instead of 503",
    );
    found.difference(
        Kind::Metadata,
        "`case_sensitive` is written out, the limit on the size of direct responses is not, and istiod records which object created the route",
    );
    match sidecars(cx) {
        Sidecars::None => {
            let reason = "no workload of the input has a sidecar, which would read the HTTPRoutes as well";
            found.guard(Concern::Selector, State::Held, reason);
        }
        Sidecars::One(one) => {
            let (kind, namespace, name) = (&one.object.kind, &one.object.namespace, &one.object.name);
            let reason = format!(
                "sidecars that call these services, as that of {kind} {namespace}/{name}, read the HTTPRoutes as well: they would change routes that the filter leaves as they are, and a request that passes a sidecar and the waypoint would be changed twice"
            );
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Selector, State::Broken, reason);
        }
        Sidecars::Unknown => {
            let reason = "it is unknown whether clients with sidecars call these services, which would read the HTTPRoutes as well: add the workloads and their Namespaces to the input";
            found.guard(Concern::Selector, State::Undecided, reason);
        }
    }
    found
}

/// What is known about sidecars in the mesh.
enum Sidecars<'a> {
    None,
    /// A workload with one.
    One(&'a Workload),
    Unknown,
}

fn sidecars<'a>(cx: &Cx<'a>) -> Sidecars<'a> {
    let inventory = cx.mesh.inventory;
    if inventory.workloads.is_empty() {
        return Sidecars::Unknown;
    }
    let mut all = inventory.workloads.iter().filter(|one| !cx.mesh.is_gateway(one));
    let states = |one: &Workload| {
        let injection = &one.injection;
        let is = |kind: &str| injection.proxy_args.iter().any(|argument| argument == kind);
        if injection.proxy_image.is_some() {
            return Some(!is("ztunnel") && !is("waypoint") && !is("router"));
        }
        if one.labels.get("security.istio.io/tlsMode").is_some_and(|mode| mode == "istio") {
            return Some(true);
        }
        match injection::sidecar(one, inventory.namespace(&one.object.namespace)) {
            Sidecar::Injected => Some(true),
            Sidecar::Unknown => None,
            _ => Some(false),
        }
    };
    match all.clone().find(|one| states(one) == Some(true)) {
        Some(one) => Sidecars::One(one),
        None if all.any(|one| states(one).is_none()) => Sidecars::Unknown,
        None => Sidecars::None,
    }
}

/// One HTTPRoute for each HTTP port of a service.
fn for_service<'s>(
    cx: &'s Cx<'_>,
    service: &'s Service,
    wanted: &'s Wanted<'_>,
    rule: &'s Json,
) -> impl Iterator<Item = Json> + 's {
    let ports = service.ports.iter().filter(|port| {
        is_http(&port.name, port.app_protocol.as_deref())
            && port.protocol != "UDP"
            && wanted.port.is_none_or(|wanted| wanted == port.number)
    });
    ports.map(move |port| {
        let object = &service.object;
        let mut metadata = metadata(cx.filter, &object.namespace);
        metadata["name"] = format!("{}-{}-{}", cx.filter.name, object.name, port.number).into();
        let mut rule = rule.clone();
        rule["backendRefs"] = json!([{ "name": object.name, "port": port.number }]);
        json!({
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": metadata,
            "spec": {
                "parentRefs": [{ "group": "", "kind": "Service", "name": object.name, "port": port.number }],
                "rules": [rule],
            },
        })
    })
}
