//! Consistent hashing: a hash policy on routes and RING_HASH or MAGLEV on clusters, as `consistentHash` of a DestinationRule.
//!
//! The rule sets both halves for its host: istiod puts its hash policy on every route to that host which the rule's
//! clients have (`consistentHashToHashPolicy` in `route.go`, releases 1.22 to 1.31).

use super::cluster;
use super::target::{Target, client_namespace, target};
use super::vhost::Vhost;
use crate::migrate::base::catalog;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::{Fields, has_entry};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::beside::HASHED_RETRIES;
use crate::model::destination::full_host;
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext, RouteAction};
use crate::model::inventory::{Object, VirtualService};
use serde_json::{Value as Json, json};

const HOME: &str = "trafficPolicy.loadBalancer.consistentHash";

/// Finds both halves.
pub(in crate::migrate) fn find(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    let merges = |part: &Part<'_>| part.found.is_none() && part.operation() == Operation::Merge;
    let routes: Vec<usize> = (0..parts.len())
        .filter(|&at| merges(&parts[at]) && parts[at].apply_to() == ApplyTo::HttpRoute)
        .filter(|&at| only(&parts[at].value.0, &["route"]) && only(&parts[at].value.0["route"], &["hash_policy"]))
        .collect();
    let clusters: Vec<usize> = (0..parts.len())
        .filter(|&at| merges(&parts[at]) && parts[at].apply_to() == ApplyTo::Cluster)
        .filter(|&at| is_hash(&parts[at].value))
        .filter(|&at| only(&parts[at].value.0, &["lb_policy", "ring_hash_lb_config", "maglev_lb_config"]))
        .collect();
    for &at in &clusters {
        let found = of_cluster(cx, parts, at, &routes);
        parts[at].answer(found);
    }
    for &at in &routes {
        let leader = clusters.iter().copied().find(|&leader| meet(&parts[at], &parts[leader]));
        let found = match leader.and_then(|leader| Some((leader, parts[leader].found.as_ref()?))) {
            Some((leader, found)) => found.shared(parts[leader].built.patch.index),
            None => of_routes(cx, &parts[at]),
        };
        parts[at].answer(found);
    }
}

fn is_hash(value: &Fields) -> bool {
    value.peek("lb_policy").and_then(Json::as_str).is_some_and(|policy| matches!(policy, "RING_HASH" | "MAGLEV"))
}

fn only(value: &Json, known: &[&str]) -> bool {
    value.as_object().is_some_and(|map| !map.is_empty() && map.keys().all(|key| known.contains(&key.as_str())))
}

/// What is hashed, in the terms of a DestinationRule; else why it has none.
fn key(value: &Fields) -> Result<Json, &'static str> {
    let mut list = value.clone().list("route/hash_policy");
    let Some(mut one) = list.pop().filter(|_| list.is_empty()) else {
        return Err("a DestinationRule has one hash key; the patch has several");
    };
    one.skip("terminal");
    let key = if one.peek("header/regex_rewrite").is_some() {
        return Err(
            "`httpHeaderName` of a DestinationRule hashes the header as it is; the patch rewrites it first (`regex_rewrite`)",
        );
    } else if let Some(name) = one.text("header/header_name") {
        json!({ "httpHeaderName": name })
    } else if let Some(mut cookie) = one.sub("cookie") {
        let native = ["name", "path", "ttl"].into_iter().filter_map(|field| Some((field, cookie.text(field)?)));
        let native: serde_json::Map<String, Json> =
            native.map(|(field, text)| (field.to_owned(), text.into())).collect();
        if !cookie.is_empty() {
            return Err("`httpCookie` of a DestinationRule has a name, a path and a lifetime, no other attributes");
        }
        json!({ "httpCookie": native })
    } else if one.flag("connection_properties/source_ip") == Some(true) {
        json!({ "useSourceIp": true })
    } else if let Some(name) = one.text("query_parameter/name") {
        json!({ "httpQueryParameterName": name })
    } else {
        return Err(OTHER_KEY);
    };
    if one.is_empty() { Ok(key) } else { Err(OTHER_KEY) }
}

const OTHER_KEY: &str = "a DestinationRule hashes a header, a cookie, the client's address or a query parameter; this hash key is none of them, or has other settings";

/// With a single key, there is no further one that `terminal` could skip.
fn without_terminal(routes: &Part<'_>, found: &mut Move) {
    if routes.value.0.pointer("/route/hash_policy/0/terminal").is_some() {
        found.difference(
            Kind::Metadata,
            "`terminal` is gone: with one hash key, there is no further one that it could skip",
        );
    }
}

/// Adds the table of hosts.
fn with_table(mut key: Json, value: &Fields) -> Result<Json, &'static str> {
    let mut value = value.clone();
    let (table, from, to) = if value.text("lb_policy").as_deref() == Some("MAGLEV") {
        ("maglev", "maglev_lb_config/table_size", "tableSize")
    } else {
        ("ringHash", "ring_hash_lb_config/minimum_ring_size", "minimumRingSize")
    };
    key[table] = value.number(from).map_or(json!({}), |size| json!({ to: size }));
    if value.is_empty() {
        Ok(key)
    } else {
        Err(
            "`consistentHash` of a DestinationRule has a minimum size of the ring or a size of the table; it has no maximum size and no hash function",
        )
    }
}

/// Whether a route half may be for requests to the clusters of the other half.
fn meet(routes: &Part<'_>, cluster: &Part<'_>) -> bool {
    let (one, other) = (routes.built.patch.context, cluster.built.patch.context);
    let host = |target: Target| Vhost::of(routes).is_none_or(|vhost| reaches(routes, &vhost, &target.host));
    one.meets(other) && target(cluster).is_none_or(host)
}

/// Whether routes of a virtual host may lead to a service: in a sidecar, the virtual host has the name of the service.
fn reaches(routes: &Part<'_>, vhost: &Vhost, host: &str) -> bool {
    routes.built.patch.context != PatchContext::SidecarOutbound || vhost.host.as_deref().is_none_or(|own| own == host)
}

/// The clusters of one patch, with the routes that lead to them.
fn of_cluster(cx: &Cx<'_>, parts: &[Part<'_>], at: usize, routes: &[usize]) -> Move {
    let pattern = &catalog::CLUSTER_POLICY;
    let part = &parts[at];
    let routes: Vec<&Part<'_>> = routes.iter().map(|&at| &parts[at]).filter(|routes| meet(routes, part)).collect();
    let Some(first) = routes.first() else {
        return refused(
            "the rule needs a key to hash, and no patch of this EnvoyFilter adds one to routes to this service",
        );
    };
    if routes.iter().any(|one| one.value != first.value) {
        return refused("a DestinationRule has one hash key for each host, and the patches of the routes have several");
    }
    let native = match key(&first.value).and_then(|key| with_table(key, &part.value)) {
        Ok(native) => native,
        Err(reason) => return Move::none(pattern, reason),
    };
    let Some(mut target) = target(part).filter(|_| part.built.patch.context != PatchContext::SidecarInbound) else {
        return by_hand("a DestinationRule names a host: write one for each", &native);
    };
    let mut found = Move::new(pattern);
    without_terminal(first, &mut found);
    for one in &routes {
        let Some(vhost) = Vhost::of(one) else {
            found.difference(Kind::Behavior, every_route(&target.host));
            continue;
        };
        if target.port.is_none() && routes.len() == 1 && vhost.host.as_deref() == Some(&target.host) {
            target.port = vhost.port;
        }
        covers(cx, one, &vhost, &target, &mut found);
    }
    write(cx, part, found, native, &target)
}

/// Routes without clusters that hash: the hash policy has no effect, the rule has.
fn of_routes(cx: &Cx<'_>, part: &Part<'_>) -> Move {
    let native = match key(&part.value) {
        Ok(native) => native,
        Err(reason) => return Move::none(&catalog::CLUSTER_POLICY, reason),
    };
    let no_effect = "a hash policy has an effect only on clusters with RING_HASH or MAGLEV, which no patch of this EnvoyFilter sets; a DestinationRule sets both";
    let vhost = Vhost::of(part).filter(|_| part.built.patch.context == PatchContext::SidecarOutbound);
    let Some(host) = vhost.as_ref().and_then(|vhost| vhost.host.clone()) else {
        return by_hand(no_effect, &native);
    };
    let target = Target { host, port: vhost.and_then(|vhost| vhost.port), subset: None, by_name: false };
    let mut found = Move::new(&catalog::CLUSTER_POLICY).differs(Kind::Behavior, no_effect);
    without_terminal(part, &mut found);
    write(cx, part, found, native, &target)
}

fn every_route(host: &str) -> String {
    format!("every route of these clients to {host} gets the hash key, not only those that the filter changes")
}

/// Compares the routes of a patch with all routes to a host, which get the key of the rule.
fn covers(cx: &Cx<'_>, part: &Part<'_>, vhost: &Vhost, target: &Target, found: &mut Move) {
    let route = match &part.built.object {
        ObjectMatch::RouteConfiguration(route) => route.vhost.as_ref().and_then(|vhost| vhost.route.as_ref()),
        _ => None,
    };
    let some = route
        .is_some_and(|route| !route.name.is_empty() || !matches!(route.action, RouteAction::Any | RouteAction::Route));
    let others = match &vhost.host {
        None => false,
        Some(host) if *host != target.host => true,
        // Routes of another host may lead to this one.
        Some(host) => !cx.mesh.described() || vhost.port != target.port || is_destination_of_another(cx, host),
    };
    if some || others {
        found.difference(Kind::Behavior, every_route(&target.host));
    } else if vhost.host.is_none() {
        let effect = "routes to other services lose the hash policy, which has an effect only with RING_HASH or MAGLEV";
        found.difference(Kind::Behavior, effect);
    }
}

/// Whether the routes of sidecars come from it.
fn in_mesh(one: &VirtualService) -> bool {
    one.gateways.is_empty() || one.gateways.iter().any(|gateway| gateway == "mesh")
}

/// Whether a VirtualService or an HTTPRoute sends requests for another host to this one.
fn is_destination_of_another(cx: &Cx<'_>, host: &str) -> bool {
    let virtual_service = cx.mesh.inventory.virtual_services.iter().any(|one| {
        let namespace = &one.object.namespace;
        let this = |text: &str| full_host(text, namespace) == host;
        let names = |key: &str, value: &Json| key == "host" && value.as_str().is_some_and(this);
        in_mesh(one) && !one.hosts.iter().all(|own| this(own)) && has_entry(&one.object.document.to_json(), &names)
    });
    // A ServiceEntry is named by its host.
    let service = Some(cx.mesh.service(host).map_or(host, |service| service.object.name.as_str()));
    let route = |one: &&Object| {
        let document = one.document.to_json();
        let names = |value: &Json, list: &str| {
            has_entry(value, &|key, value| {
                key == list && value.as_array().is_some_and(|all| all.iter().any(|one| one["name"].as_str() == service))
            })
        };
        names(&document, "backendRefs") && !names(&document, "parentRefs")
    };
    virtual_service || cx.mesh.policies("HTTPRoute", cx.filter).iter().any(route)
}

/// Whether a VirtualService or a route of the Gateway API may lead to a host. Only there, the default retry policy depends on
/// the rule (`ConvertPolicy` in istiod's `route.go`); the route that istiod generates for a Service keeps it.
fn is_routed(cx: &Cx<'_>, part: &Part<'_>, host: &str) -> bool {
    let (mesh, context) = (&cx.mesh, part.built.patch.context);
    let leads = |one: &VirtualService| {
        let is = |text: &str| full_host(text, &one.object.namespace) == host;
        has_entry(&one.object.document.to_json(), &|key, value| key == "host" && value.as_str().is_some_and(is))
    };
    context != PatchContext::SidecarOutbound
        || !mesh.described()
        || mesh.index.virtual_services(host).any(in_mesh)
        || mesh.inventory.virtual_services.iter().any(|one| in_mesh(one) && leads(one))
        || !mesh.index.routes().is_empty()
}

fn write(cx: &Cx<'_>, part: &Part<'_>, mut found: Move, native: Json, target: &Target) -> Move {
    found.add_home("DestinationRule", HOME, 0);
    if is_routed(cx, part, &target.host) {
        found.difference(Kind::Behavior, HASHED_RETRIES);
    }
    let namespace = client_namespace(cx).unwrap_or_default();
    let hashes = |key: &str, _: &Json| key == "consistentHash";
    let rules = cx.mesh.destination_rules(&target.host, namespace);
    if let Some(rule) = rules.iter().find(|rule| has_entry(&rule.object.document.to_json(), &hashes)) {
        let reason = format!(
            "DestinationRule {}/{} already hashes by a key: the filter adds a second one, and a rule has one",
            rule.object.namespace, rule.object.name
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Existing, State::Broken, reason);
    }
    let native = json!({ "loadBalancer": { "consistentHash": native } });
    let mut found = cluster::destination_rule(cx, part, found, &native, target);
    found.homes.retain(|home| home.field != "trafficPolicy");
    found
}

/// Named with its value, but not written.
fn by_hand(reason: &str, native: &Json) -> Move {
    Move { homes: Vec::new(), ..refused(reason) }.home("DestinationRule", format!("{HOME}: {native}"), 0)
}

/// Named, but not written.
fn refused(reason: &str) -> Move {
    Move::new(&catalog::CLUSTER_POLICY).home("DestinationRule", HOME, 0).differs(Kind::Behavior, reason).guarded(
        Concern::Existing,
        State::Broken,
        reason,
    )
}
