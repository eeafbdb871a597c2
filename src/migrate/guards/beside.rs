//! What other objects already say about the routes of a patch: rules with the same settings, other objects for the same host.

use crate::migrate::base::step::{Cx, Move};
use crate::migrate::base::value::has_entry;
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::mesh::Mesh;
use crate::migrate::objects::registry::Found;
use crate::migrate::patterns::route_value::Setting;
use crate::migrate::patterns::route_value::retries::{has_codes, lists_codes};
use crate::migrate::proofs::forms::reads_headers;
use crate::model::destination::full_host;
use crate::model::envoy_filter::RouteAction;
use crate::model::inventory::{DestinationRule, Object, VirtualService};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// What a rule already sets where the patch sets something: MERGE adds to a list where the edit has one value, and settings of
/// a route override those of its virtual host.
pub(in crate::migrate) fn already(owner: &str, rule: &Json, setting: &Setting, found: &mut Move) {
    for (key, what) in [("corsPolicy", "CORS policy"), ("fault", "fault")] {
        let overrides = setting.at_host && !(setting.second_cors && key == "corsPolicy");
        if overrides && setting.value.get(key).is_some() && rule.get(key).is_some() {
            let reason = format!(
                "a rule of {owner} has its own {what}, which overrides the filter's; the edit would replace it"
            );
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Existing, State::Broken, reason);
        }
    }
    if setting.second_cors && rule.get("corsPolicy").is_some() {
        let reason = format!(
            "a rule of {owner} has its own CORS policy: today both CORS filters decide; the edit would replace one"
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Existing, State::Broken, reason);
    }
    if let Some(retries) = setting.value.get("retries").and(rule.get("retries")) {
        retries_beside(owner, retries, setting, found);
    }
    if setting.value.get("rewrite").and(rule.get("rewrite")).is_some() {
        found.guard(
            Concern::Existing,
            State::Undecided,
            format!(
                "a rule of {owner} has its own rewrite: MERGE changes parts of it, and Envoy accepts only one kind"
            ),
        );
    }
    if setting.value.get("mirrors").and(rule.get("mirror")).is_some() {
        let reason = format!("a rule of {owner} has `mirror`, and istiod refuses `mirrors` next to it");
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Existing, State::Broken, reason);
    }
    if setting.value.get("headers").is_some() {
        headers_beside(owner, rule, setting, found);
    }
}

/// Retries of a rule: MERGE keeps what the patch leaves, as the edit does, except for status codes.
fn retries_beside(owner: &str, retries: &Json, setting: &Setting, found: &mut Move) {
    let text = |value: &Json, path: &str| value.pointer(path).is_some_and(|text| *text != "");
    let both_on = text(&setting.value, "/retries/retryOn") && text(retries, "/retryOn");
    if !setting.left_to_mesh.is_empty() || both_on && lists_codes(retries) {
        found.guard(
            Concern::Existing,
            State::Undecided,
            format!(
                "a rule of {owner} has its own retries: istiod derives status codes and the choice of hosts from them, which MERGE keeps"
            ),
        );
    } else if retries["attempts"].as_u64().unwrap_or(0) == 0 {
        let attempts = setting.value.pointer("/retries/attempts").is_some();
        let effect = match (attempts, text(&setting.value, "/retries/retryOn")) {
            (true, true) => "istiod's choice of hosts is missing with the filter; a rule with retries has it",
            (true, false) => {
                "with the filter, Envoy retries only for requests that ask for it (`x-envoy-retry-on`); a rule with retries has istiod's conditions"
            }
            (false, true) => "the edit leaves them off; with the filter, Envoy retries once",
            (false, false) => {
                "the edit leaves them off; with the filter, Envoy retries for requests that ask for it (`x-envoy-retry-on`)"
            }
        };
        found.difference(Kind::Behavior, format!("a rule of {owner} turns retries off: {effect}"));
    } else if both_on && has_codes(retries) {
        found.difference(
            Kind::Behavior,
            format!("a rule of {owner} retries status codes, which MERGE keeps; the edit replaces them"),
        );
    }
}

/// The names of the headers that `headers` of a rule or of its destinations changes in a direction, in lower case; with
/// whether one is set or added.
fn header_names(rule: &Json, direction: &str) -> (BTreeSet<String>, bool) {
    let destinations = rule["route"].as_array().map_or(&[][..], Vec::as_slice);
    let mut names = BTreeSet::new();
    let mut sets = false;
    for headers in [rule].into_iter().chain(destinations).map(|one| &one["headers"][direction]) {
        for (name, _) in ["set", "add"].into_iter().filter_map(|key| headers[key].as_object()).flatten() {
            sets = true;
            names.insert(name.to_ascii_lowercase());
        }
        let removed = headers["remove"].as_array().into_iter().flatten().filter_map(Json::as_str);
        names.extend(removed.map(str::to_ascii_lowercase));
    }
    (names, sets)
}

/// Whether a header that a rule or its destinations set is computed from headers.
fn reads(rule: &Json, direction: &str) -> bool {
    let destinations = rule["route"].as_array().map_or(&[][..], Vec::as_slice);
    let all = [rule].into_iter().chain(destinations).map(|one| &one["headers"][direction]);
    let lists = all.flat_map(|one| [&one["set"], &one["add"]]);
    let mut values = lists.filter_map(Json::as_object).flatten().filter_map(|(_, value)| value.as_str());
    values.any(reads_headers)
}

fn headers_beside(owner: &str, rule: &Json, setting: &Setting, found: &mut Move) {
    for direction in ["request", "response"] {
        let ((old, old_sets), (new, new_sets)) =
            (header_names(rule, direction), header_names(&setting.value, direction));
        let shared: Vec<&str> = old.intersection(&new).map(String::as_str).collect();
        // Removing a header twice on the same route is removing it.
        let only_removed = !old_sets && !new_sets && !setting.at_host;
        if !shared.is_empty() && !only_removed {
            found.guard(
                Concern::Existing,
                State::Undecided,
                format!(
                    "a rule of {owner} also changes the {direction} header {}: MERGE applies both changes, one after the other; the edit has one",
                    shared.join(", ")
                ),
            );
        } else if old_sets && new_sets && (reads(rule, direction) || reads(&setting.value, direction)) {
            found.guard(
                Concern::Existing,
                State::Undecided,
                format!(
                    "a rule of {owner} also sets {direction} headers, and a value reads headers (`%REQ(…)%`, `%RESP(…)%`): in a different order it may read different values"
                ),
            );
        } else if old_sets && new_sets {
            found.difference(
                Kind::Position,
                "the headers are set in a different order, among those that the rule already sets",
            );
        }
    }
}

/// Whether a parent of a route of the Gateway API is this service: a Service, a host name or a ServiceEntry.
pub(in crate::migrate) fn is_service(cx: &Cx<'_>, (kind, namespace, name): (&str, &str, &str), host: &str) -> bool {
    match kind {
        "Service" => {
            host.strip_suffix(".svc.cluster.local").and_then(|rest| rest.split_once('.')) == Some((name, namespace))
        }
        "Hostname" => host == name,
        "ServiceEntry" => cx.mesh.inventory.service_entries.iter().any(|entry| {
            entry.object.name == name
                && entry.object.namespace == namespace
                && entry.hosts.iter().any(|one| one == host)
        }),
        _ => false,
    }
}

/// Whether a route of the Gateway API is attached to a Service (or ServiceEntry) instead of a Gateway.
pub(in crate::migrate) fn is_for_service(cx: &Cx<'_>, route: &Object, document: &Json, host: &str) -> bool {
    document["spec"]["parentRefs"].as_array().into_iter().flatten().any(|parent| {
        let text = |key: &str| parent[key].as_str();
        let namespace = text("namespace").unwrap_or(&route.namespace);
        is_service(cx, (text("kind").unwrap_or_default(), namespace, text("name").unwrap_or_default()), host)
    })
}

/// The route of the Gateway API for a service.
pub(in crate::migrate) fn of_service<'a>(cx: &Cx<'a>, host: &str) -> Option<&'a Object> {
    let mut routes = cx.mesh.index.routes().iter();
    routes.find(|route| is_for_service(cx, route.object, &route.document, host)).map(|route| route.object)
}

/// The VirtualService that routes a service for the clients of a namespace, or for any clients.
pub(in crate::migrate) fn routed_by<'a>(
    cx: &Cx<'a>,
    host: &str,
    namespace: Option<&str>,
) -> Option<&'a VirtualService> {
    let same = |service: &&VirtualService| {
        let visible = namespace.is_none_or(|namespace| {
            service.object.namespace == namespace
                || service.export_to.is_empty()
                || service.export_to.iter().any(|to| to == "*" || to == namespace)
        });
        let mesh = service.gateways.is_empty() || service.gateways.iter().any(|gateway| gateway == "mesh");
        let serves = |one: &String| {
            let one = full_host(one, &service.object.namespace);
            one == host || one == "*" || one.strip_prefix('*').is_some_and(|suffix| host.ends_with(suffix))
        };
        visible && mesh && service.hosts.iter().any(serves)
    };
    cx.mesh.index.virtual_services(host).find(same)
}

/// Routes of a gateway that an Ingress gives it: an edit of other objects does not change them.
pub(in crate::migrate) fn ingress(cx: &Cx<'_>, host: Option<&str>, found: &mut Move) {
    let Some(ingress) = cx.mesh.index.ingress(host) else { return };
    let reason = format!(
        "istiod also makes routes{} from Ingress {}/{}: the filter changes them, and no field of an Ingress replaces that",
        host.map_or_else(String::new, |host| format!(" of {host}")),
        ingress.namespace,
        ingress.name
    );
    found.difference(Kind::Behavior, reason.clone());
    found.guard(Concern::Routes, State::Broken, reason);
}

/// Other objects that route a service for the same clients.
pub(in crate::migrate) fn taken(cx: &Cx<'_>, host: &str, namespace: &str, found: &mut Move) {
    if let Some(route) = of_service(cx, host) {
        let reason = format!(
            "{} {}/{} already routes {host}, and istiod uses only one of it and a VirtualService",
            route.kind, route.namespace, route.name
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Existing, State::Broken, reason);
    }
    if let Some(other) = routed_by(cx, host, Some(namespace)) {
        let reason = format!(
            "VirtualService {}/{} already routes {host} for these clients, and a second one hides its rules",
            other.object.namespace, other.object.name
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Existing, State::Broken, reason);
    } else if !cx.mesh.described() {
        found.guard(
            Concern::Existing,
            State::Undecided,
            format!("it is unknown whether another VirtualService routes {host}: a second one would hide its rules"),
        );
    }
}

/// The routes of the listener for HTTP proxy requests, whose port is not that of the rules.
pub(in crate::migrate) fn http_proxy(cx: &Cx<'_>, host: &str, found: &mut Move) {
    let port = cx.mesh.mesh_config().and_then(|mesh| mesh["proxyHttpPort"].as_u64()).filter(|port| *port != 0);
    if let Some(port) = port {
        found.difference(
            Kind::Behavior,
            format!(
                "sidecars also have the routes of {host} in the table `http_proxy` (`meshConfig.proxyHttpPort` is {port}): the filter changes them there, and a rule for another port does not"
            ),
        );
    }
}

/// Why a patch for a port of a host matches nothing: its Service does not have the port.
pub(in crate::migrate) fn without_port(cx: &Cx<'_>, host: &str, port: u32) -> Option<String> {
    let service = cx.mesh.registered(host)?;
    let missing = service.ports().all(|one| one.number != port);
    missing.then(|| {
        format!(
            "{} has no port {port}, so that the patch matches nothing: correct the port or delete the filter",
            service.title()
        )
    })
}

/// The most ports of a service for which rules are written: each patch repeats those of all ports.
const MOST_PORTS: usize = 100;

/// Why no VirtualService is written for a host: it would have too many rules.
pub(in crate::migrate) fn too_many_ports(cx: &Cx<'_>, host: &str, ports: &BTreeSet<u32>) -> Option<String> {
    let all = cx.mesh.registered(host).map_or(0, |service| service.ports().take(MOST_PORTS + 1).count());
    (all.max(ports.len()) > MOST_PORTS).then(|| {
        format!(
            "{host} has more than {MOST_PORTS} ports, and the VirtualService needs a rule for each HTTP port: write it by hand"
        )
    })
}

/// Why a patch for the routes of a port matches nothing: the port has none.
pub(in crate::migrate) fn without_routes(cx: &Cx<'_>, host: &str, port: u32) -> Option<String> {
    without_port(cx, host, port).or_else(|| {
        let service = cx.mesh.registered(host)?;
        let mut of_port = service.ports().filter(|one| one.number == port);
        of_port.all(|one| !one.is_http()).then(|| {
            format!(
                "port {port} of {} is not an HTTP port, so that the patch matches no route: correct the port or delete the filter",
                service.title()
            )
        })
    })
}

/// A new VirtualService for a host: its other HTTP ports, which need rules of their own. Without the host in their registry,
/// clients would get a virtual host that they do not have today.
pub(in crate::migrate) fn other_ports(
    cx: &Cx<'_>,
    (host, ports): (&str, &BTreeSet<u32>),
    namespace: &str,
    found: &mut Move,
) -> Vec<u32> {
    let client = (!cx.mesh.is_mesh_wide(cx.filter)).then_some(namespace);
    match cx.mesh.read_host(host, client) {
        Found::One(one) => return one.other_http_ports(ports).collect(),
        Found::Several => found.guard(
            Concern::Routes,
            State::Undecided,
            format!("several ServiceEntries have the host {host}: its other HTTP ports would need their own rules"),
        ),
        Found::Hidden(one) => {
            let clients = client.map_or("every namespace".to_owned(), |client| format!("namespace {client}"));
            let reason = format!(
                "{} is not exported to {clients}, so that sidecars there have no virtual host for the patch: a new VirtualService would give them one",
                one.title()
            );
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Routes, State::Broken, reason);
        }
        Found::Nothing => unknown(cx, host, namespace, found),
    }
    Vec::new()
}

/// A new VirtualService for a host of which the input has no Service or ServiceEntry.
fn unknown(cx: &Cx<'_>, host: &str, namespace: &str, found: &mut Move) {
    let usual = host.ends_with(".svc.cluster.local") || !host.contains(".svc.");
    if !cx.mesh.inventory.services.is_empty() && usual {
        let reason = format!(
            "no Service or ServiceEntry of the input has the host {host}, so that sidecars have no virtual host for the patch: a new VirtualService would give one to every client in namespace {namespace}"
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Routes, State::Broken, reason);
        return;
    }
    found.guard(
        Concern::Routes,
        State::Undecided,
        format!(
            "the Service or ServiceEntry of {host} is not in the input: its other HTTP ports would need their own rules"
        ),
    );
}

/// What default retries lose beside a consistent hash.
pub(in crate::migrate) const HASHED_RETRIES: &str =
    "default retries no longer avoid the endpoints that failed: with `consistentHash` istiod omits that condition";

/// The rules of a new VirtualService lead to a service whose clients hash: istiod then writes default retries in another way
/// than without a VirtualService, also for the clients and ports that the filter does not change.
pub(in crate::migrate) fn hashed(
    cx: &Cx<'_>,
    (host, ports): (&str, &BTreeSet<u32>),
    namespace: &str,
    found: &mut Move,
) {
    let hashes = |rule: &&DestinationRule| {
        let document = rule.object.document.to_json();
        has_entry(&document["spec"]["trafficPolicy"], &|key, _| key == "consistentHash")
    };
    let rules = cx.mesh.destination_rules(host, namespace).into_iter().chain(cx.mesh.wildcard_rule(host, namespace));
    let Some(rule) = rules.into_iter().find(hashes) else { return };
    found.difference(Kind::Behavior, HASHED_RETRIES);
    let other = cx.mesh.registered(host).is_some_and(|service| service.other_http_ports(ports).next().is_some());
    let more = if Mesh::is_narrow(cx.filter) {
        "clients that the filter does not select"
    } else if other {
        "ports that the filter does not change"
    } else {
        return;
    };
    found.guard(
        Concern::Routes,
        State::Broken,
        format!(
            "DestinationRule {}/{} has `consistentHash`: with a VirtualService, {more} also lose the condition of default retries that avoids the endpoints that failed",
            rule.object.namespace, rule.object.name
        ),
    );
}

/// Whether a rule redirects or responds itself.
pub(in crate::migrate) fn answers(rule: &Json) -> bool {
    rule.get("redirect").is_some() || rule.get("directResponse").is_some()
}

/// Why a setting of the route action of such a rule does not move.
pub(in crate::migrate) fn answering(rule: &str, owner: &str) -> String {
    format!(
        "rule {rule} of {owner} redirects or responds itself: the filter replaces that with a route action that has no \
         destination, and such a rule has no setting for routes"
    )
}

/// Whether istiod gives the route of a rule this action.
pub(in crate::migrate) fn has_action(rule: &Json, action: RouteAction) -> bool {
    match action {
        RouteAction::Any => true,
        RouteAction::Route => !answers(rule),
        RouteAction::Redirect => rule.get("redirect").is_some(),
        RouteAction::DirectResponse => rule.get("directResponse").is_some(),
    }
}

/// Why a patch of a route with a name has no rule to write, on the way to a service.
pub(in crate::migrate) fn no_route(cx: &Cx<'_>, host: &str, name: &str) -> String {
    match cx.mesh.index.virtual_services(host).find(|one| one.http_routes.iter().any(|route| route == name)) {
        Some(one) => format!(
            "route {name} is a rule of VirtualService {}/{}, which applies to every port of its hosts and to all their clients: set it there if that is meant",
            one.object.namespace, one.object.name
        ),
        None => format!("the service has no route called {name}"),
    }
}
