//! Shared by AuthorizationPolicies: ports that keep them off TCP, existing policies, rules from RBAC conditions.

use super::index::includes;
use super::mesh::{Mesh, Protocol, Proxies, Served, WorkloadPort, is_http};
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::model::envoy_filter::ApplyTo;
use crate::model::inventory::{Object, Service, TargetPort, Workload};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// How an HTTP rule is kept from denying TCP ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::migrate) enum Ports {
    /// These proxies serve no TCP.
    NotNeeded,
    /// The rule names these ports; some of them may also serve TCP.
    Only(Vec<u32>, BTreeSet<u32>),
    /// The input is not enough to decide.
    Unknown,
}

/// Whether istiod treats the protocol of a server as TCP.
pub(in crate::migrate) fn is_tcp(protocol: &str, tls: Option<&str>) -> bool {
    matches!(protocol, "TCP" | "TLS" | "MONGO" | "MYSQL" | "REDIS")
        || matches!(tls, Some("PASSTHROUGH" | "AUTO_PASSTHROUGH"))
}

/// The ports that a rule must name. A rule with only HTTP conditions loses them on TCP filter chains, where the rest
/// matches everything.
pub(in crate::migrate) fn ports(cx: &Cx<'_>, part: &Part<'_>) -> Ports {
    if let Some(port) = part.reach.port {
        let mixed = if part.reach.proxies == Proxies::Sidecar { mixed(cx) } else { BTreeSet::new() };
        return Ports::Only(vec![port], mixed.into_iter().filter(|one| *one == port).collect());
    }
    match part.reach.proxies {
        Proxies::Gateway => match cx.mesh.serves(cx.filter, is_tcp) {
            Some(false) => Ports::NotNeeded,
            Some(true) => gateway_ports(cx).map_or(Ports::Unknown, |ports| Ports::Only(ports, BTreeSet::new())),
            None => Ports::Unknown,
        },
        Proxies::Sidecar => match cx.mesh.ports(cx.filter) {
            Some(ports) => {
                let http: BTreeSet<u32> =
                    ports.iter().filter(|port| port.protocol != Protocol::Tcp).map(|port| port.number).collect();
                if http.is_empty() { Ports::Unknown } else { Ports::Only(http.into_iter().collect(), mixed(cx)) }
            }
            None => Ports::Unknown,
        },
        _ => Ports::Unknown,
    }
}

/// Ports of a workload with filter chains for both HTTP and TCP: their Service names no protocol. Services that disagree leave
/// it open which one istiod follows.
fn mixed(cx: &Cx<'_>) -> BTreeSet<u32> {
    let ports = cx.mesh.ports(cx.filter).unwrap_or_default();
    let of = |number: u32, protocol| ports.contains(&WorkloadPort { number, protocol });
    let numbers = ports.iter().map(|port| port.number);
    numbers.filter(|one| of(*one, Protocol::Sniffed) || of(*one, Protocol::Http) && of(*one, Protocol::Tcp)).collect()
}

/// Container ports of a gateway's HTTP servers: through the Services that select it, as istiod does.
fn gateway_ports(cx: &Cx<'_>) -> Option<Vec<u32>> {
    let mut found = BTreeSet::new();
    for one in cx.mesh.servers(cx.filter)? {
        if !is_tcp(&one.server.protocol, one.server.tls_mode.as_deref()) {
            found.extend(pod_ports(cx, &one));
        }
    }
    (!found.is_empty()).then(|| found.into_iter().collect())
}

/// The ports on which the pods of a gateway open a server, through the Services that select each, as istiod does.
pub(in crate::migrate) fn pod_ports(cx: &Cx<'_>, one: &Served<'_>) -> BTreeSet<u32> {
    let port = one.server.port;
    let target = |services: Vec<&Service>| {
        let mut ports = services.into_iter().flat_map(|service| &service.ports);
        match ports.find(|one| one.number == port).map(|one| &one.target) {
            Some(TargetPort::Number(number)) => *number,
            _ => port,
        }
    };
    let pods = cx.mesh.inventory.labelled(&one.gateway.selector).filter(|pod| cx.mesh.selects(cx.filter, pod));
    let found: BTreeSet<u32> = pods.map(|pod| target(cx.mesh.services_of_pod(pod))).collect();
    if found.is_empty() { BTreeSet::from([target(cx.mesh.services_of(cx.filter))]) } else { found }
}

/// The AuthorizationPolicies with an action that may apply to the same workloads.
pub(in crate::migrate) fn existing<'a>(cx: &Cx<'a>, action: &str) -> Vec<&'a Object> {
    of_action(cx, action, false)
}

/// Those that are only tried out.
pub(in crate::migrate) fn tried<'a>(cx: &Cx<'a>, action: &str) -> Vec<&'a Object> {
    of_action(cx, action, true)
}

fn of_action<'a>(cx: &Cx<'a>, action: &str, tried: bool) -> Vec<&'a Object> {
    let meets = |object: &&Object| {
        let document = object.document.to_json();
        let spec = &document["spec"];
        let of = spec["action"].as_str().unwrap_or("ALLOW");
        let labels = spec.pointer("/selector/matchLabels").and_then(Json::as_object);
        let apart = labels.is_some_and(|labels| {
            let mut filter = cx.filter.selector.iter().flatten();
            filter.any(|(key, value)| labels.get(key).is_some_and(|other| other != value.as_str()))
        });
        let dry = object.annotations.get("istio.io/dry-run").is_some_and(|text| text == "true");
        of == action && !apart && dry == tried
    };
    cx.mesh.policies("AuthorizationPolicy", cx.filter).into_iter().filter(meets).collect()
}

/// Adds what a rule that rejects requests does to TCP, and returns the ports that it names.
pub(in crate::migrate) fn keep_off_tcp(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) -> Vec<u32> {
    let closes = "the rule also applies to TCP connections, where none of its HTTP conditions apply: they are refused";
    if Mesh::never_attaches(cx.filter) || part.reach.proxies == Proxies::Waypoint {
        found.difference(Kind::Behavior, format!("on waypoints, {closes}"));
        found.guard(Concern::TcpChains, State::Broken, closes);
        return Vec::new();
    }
    match ports(cx, part) {
        Ports::NotNeeded => {
            found.guard(Concern::TcpChains, State::Held, "these gateways serve no TCP");
            Vec::new()
        }
        Ports::Only(ports, mixed) => {
            found.difference(
                Kind::Metadata,
                "a network filter that names the HTTP ports: it never matches on TCP chains",
            );
            if !mixed.is_empty() {
                let named: Vec<u32> = mixed.into_iter().collect();
                found.difference(
                    Kind::Behavior,
                    format!(
                        "no Service says that port {} is only HTTP: connections to it that are not HTTP are refused, because none of the rule's HTTP conditions apply to them",
                        list(&named)
                    ),
                );
            }
            if part.reach.proxies == Proxies::Sidecar && part.reach.port.is_none() {
                found.guard(
                    Concern::Authorization,
                    State::Review,
                    format!(
                        "the rule covers only the HTTP ports that Services name ({}): requests to other ports are no longer \
                         checked",
                        list(&ports)
                    ),
                );
            }
            found.guard(Concern::TcpChains, State::Held, format!("the rule names port {}", list(&ports)));
            ports
        }
        Ports::Unknown => {
            found.difference(Kind::Behavior, closes);
            found.guard(
                Concern::TcpChains,
                State::Broken,
                format!("{closes}; the input does not say which ports are HTTP, so that the rule could name them"),
            );
            Vec::new()
        }
    }
}

fn list(ports: &[u32]) -> String {
    ports.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// A port that a rule names although no Service of the sidecar does: HTTP filters also see requests to such ports.
pub(in crate::migrate) fn unnamed_port(cx: &Cx<'_>, part: &Part<'_>, rules: &[Json]) -> Option<u32> {
    if part.reach.port.is_some() || part.reach.proxies != Proxies::Sidecar {
        return None;
    }
    let named: BTreeSet<u32> = cx.mesh.ports(cx.filter)?.iter().map(|port| port.number).collect();
    let operations = rules.iter().flat_map(|rule| rule["to"].as_array().into_iter().flatten());
    let own = operations.flat_map(|to| to["operation"]["ports"].as_array().into_iter().flatten());
    own.filter_map(|port| port.as_str()?.parse().ok()).find(|port| !named.contains(port))
}

/// The port of an HTTP filter of sidecars, unless every workload that it selects has a Service that names it: the filter is
/// in the chain of such a Service only, and the rule also decides on requests to a port that none names.
pub(in crate::migrate) fn maybe_unnamed(cx: &Cx<'_>, part: &Part<'_>) -> Option<u32> {
    let port = part.reach.port?;
    if part.apply_to() != ApplyTo::HttpFilter || part.reach.proxies == Proxies::Gateway {
        return None;
    }
    let services = cx.mesh.services_of(cx.filter);
    let names = |workload: &Workload| {
        services.iter().any(|service| {
            service.object.namespace == workload.object.namespace
                && includes(&workload.labels, &service.selector)
                && service.ports.iter().any(|one| {
                    one.target == TargetPort::Number(port) && is_http(&one.name, one.app_protocol.as_deref())
                })
        })
    };
    let mut workloads = cx.mesh.workloads(cx.filter).peekable();
    let all = Mesh::is_narrow(cx.filter) && workloads.peek().is_some() && workloads.all(names);
    (!all).then_some(port)
}

/// Restricts a rule to these ports. Its own ports stay if they are among them; false if none remains.
pub(in crate::migrate) fn with_ports(rule: &mut Json, ports: &[u32]) -> bool {
    if ports.is_empty() {
        return true;
    }
    let texts: Vec<String> = ports.iter().map(u32::to_string).collect();
    let Some(operations) = rule["to"].as_array_mut() else {
        rule["to"] = json!([{ "operation": { "ports": texts } }]);
        return true;
    };
    operations.retain_mut(|to| {
        if let Some(own) = to["operation"]["ports"].as_array_mut() {
            own.retain(|port| texts.iter().any(|text| port == text));
            return !own.is_empty();
        }
        to["operation"]["ports"] = texts.clone().into();
        true
    });
    !operations.is_empty()
}
