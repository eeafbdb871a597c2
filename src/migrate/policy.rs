//! What AuthorizationPolicies share: ports that keep them off TCP, policies that exist already, rules from RBAC conditions.

use super::mesh::Proxies;
use super::step::{Cx, Move, Part};
use super::value::Fields;
use super::verdict::{Concern, Kind, State};
use crate::model::inventory::{Object, TargetPort};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// How a rule about HTTP is kept from closing TCP ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ports {
    /// These proxies serve no TCP.
    NotNeeded,
    /// The rule names these ports.
    Only(Vec<u32>),
    /// The input does not tell.
    Unknown,
}

/// Whether a protocol of a server is TCP for istiod.
pub(super) fn is_tcp(protocol: &str, tls: Option<&str>) -> bool {
    matches!(protocol, "TCP" | "TLS" | "MONGO" | "MYSQL" | "REDIS")
        || matches!(tls, Some("PASSTHROUGH" | "AUTO_PASSTHROUGH"))
}

/// The ports that a rule must name. A rule with only HTTP conditions loses them on TCP chains, where what is left of it
/// matches everything.
pub(super) fn ports(cx: &Cx<'_>, part: &Part<'_>) -> Ports {
    if let Some(port) = part.reach.port {
        return Ports::Only(vec![port]);
    }
    match part.reach.proxies {
        Proxies::Gateway => match cx.mesh.serves(cx.filter, is_tcp) {
            Some(false) => Ports::NotNeeded,
            Some(true) => gateway_ports(cx).map_or(Ports::Unknown, Ports::Only),
            None => Ports::Unknown,
        },
        Proxies::Sidecar => match cx.mesh.ports(cx.filter) {
            Some(ports) => {
                let http: Vec<u32> = ports.iter().filter(|port| port.http).map(|port| port.number).collect();
                if http.is_empty() { Ports::Unknown } else { Ports::Only(http) }
            }
            None => Ports::Unknown,
        },
        _ => Ports::Unknown,
    }
}

/// Ports on the pod of a gateway's HTTP servers: through the Services that select it, as istiod does.
fn gateway_ports(cx: &Cx<'_>) -> Option<Vec<u32>> {
    let mut found = BTreeSet::new();
    for one in cx.mesh.servers(cx.filter)? {
        if !is_tcp(&one.server.protocol, one.server.tls_mode.as_deref()) {
            found.insert(pod_port(cx, one.server.port));
        }
    }
    (!found.is_empty()).then(|| found.into_iter().collect())
}

/// The port on a gateway's pod of a server's port.
pub(super) fn pod_port(cx: &Cx<'_>, port: u32) -> u32 {
    let workloads: Vec<_> = cx.mesh.workloads(cx.filter).collect();
    let services = cx.mesh.inventory.services.iter().filter(|service| {
        let selector = &service.selector;
        !selector.is_empty()
            && (workloads.iter().any(|one| {
                one.object.namespace == service.object.namespace && super::mesh::includes(&one.labels, selector)
            }) || cx.filter.selector.as_ref().is_some_and(|labels| super::mesh::includes(labels, selector)))
    });
    services
        .flat_map(|service| &service.ports)
        .find(|one| one.number == port)
        .and_then(|one| match one.target {
            TargetPort::Number(number) => Some(number),
            TargetPort::Name(_) => None,
        })
        .unwrap_or(port)
}

/// The AuthorizationPolicies with an action that may be for the same workloads.
pub(super) fn existing<'a>(cx: &Cx<'a>, action: &str) -> Vec<&'a Object> {
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
        of == action && !apart && !dry
    };
    cx.mesh.policies("AuthorizationPolicy", cx.filter).into_iter().filter(meets).collect()
}

/// Says what a rule that refuses requests does to TCP, and gives the ports that it names.
pub(super) fn keep_off_tcp(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move, http_only: bool) -> Vec<u32> {
    if !http_only {
        return part.reach.port.into_iter().collect();
    }
    let closes = "of the rule only \"everything\" is left on TCP: all TCP connections are refused";
    if super::mesh::Mesh::never_attaches(cx.filter) || part.reach.proxies == Proxies::Waypoint {
        found.difference(Kind::Behavior, format!("on waypoints, {closes}"));
        found.guard(Concern::TcpChains, State::Broken, closes);
        return Vec::new();
    }
    match ports(cx, part) {
        Ports::NotNeeded => {
            found.guard(Concern::TcpChains, State::Held, "these gateways serve no TCP");
            Vec::new()
        }
        Ports::Only(ports) => {
            found.difference(
                Kind::Metadata,
                "a network filter that names the HTTP ports: it never matches on TCP chains",
            );
            if part.reach.proxies == Proxies::Sidecar && part.reach.port.is_none() {
                found.guard(
                    Concern::Authorization,
                    State::Review,
                    format!(
                        "the rule covers port {}, the HTTP ports that Services name; HTTP on a port that no Service names \
                         is no longer covered",
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

/// Adds ports to the operations of a rule.
pub(super) fn with_ports(rule: &mut Json, ports: &[u32]) {
    if ports.is_empty() {
        return;
    }
    let texts: Vec<String> = ports.iter().map(u32::to_string).collect();
    match rule["to"].as_array_mut() {
        Some(operations) => operations.iter_mut().for_each(|to| to["operation"]["ports"] = texts.clone().into()),
        None => rule["to"] = json!([{ "operation": { "ports": texts } }]),
    }
}

/// A policy of an RBAC filter as a rule; `None` when the API cannot say it. The flag says whether it has conditions that
/// only HTTP has and none that TCP has.
pub(super) fn rule(policy: &mut Fields) -> Option<(Json, bool)> {
    let mut rule = json!({});
    let mut when = Vec::new();
    let mut http_only = false;
    let mut tcp = false;
    let permissions = policy.list("permissions");
    let mut operations = Vec::new();
    for permission in permissions {
        let mut operation = json!({});
        permission_of(permission, &mut operation, &mut when, &mut http_only)?;
        operations.push(operation);
    }
    if operations.iter().all(|one| one.as_object().is_some_and(|map| !map.is_empty())) && !operations.is_empty() {
        tcp |= operations.iter().any(|one| one.get("ports").is_some());
        let list: Vec<Json> = operations.into_iter().map(|one| json!({ "operation": one })).collect();
        rule["to"] = list.into();
    }
    let mut sources = Vec::new();
    for principal in policy.list("principals") {
        let mut source = json!({});
        principal_of(principal, &mut source, &mut when, &mut http_only)?;
        sources.push(source);
    }
    if sources.iter().all(|one| one.as_object().is_some_and(|map| !map.is_empty())) && !sources.is_empty() {
        let known = |one: &Json| one.get("ipBlocks").is_some() || one.get("principals").is_some();
        tcp |= sources.iter().any(known);
        let list: Vec<Json> = sources.into_iter().map(|one| json!({ "source": one })).collect();
        rule["from"] = list.into();
    }
    if !when.is_empty() {
        rule["when"] = when.into();
    }
    policy.is_empty().then_some((rule, http_only && !tcp))
}

/// A path or header matcher as Istio writes it: `exact`, `prefix*`, `*suffix`.
fn glob(matcher: &mut Fields) -> Option<String> {
    if matcher.peek("ignore_case").is_some() {
        return None;
    }
    if let Some(text) = matcher.text("exact") {
        return Some(text);
    }
    if let Some(text) = matcher.text("prefix") {
        return Some(format!("{text}*"));
    }
    matcher.text("suffix").map(|text| format!("*{text}"))
}

fn add(operation: &mut Json, key: &str, value: String) {
    match operation[key].as_array_mut() {
        Some(list) => list.push(value.into()),
        None => operation[key] = json!([value]),
    }
}

fn permission_of(mut one: Fields, operation: &mut Json, when: &mut Vec<Json>, http: &mut bool) -> Option<()> {
    if one.flag("any") == Some(true) {
        return one.is_empty().then_some(());
    }
    if let Some(mut path) = one.sub("url_path/path") {
        *http = true;
        add(operation, "paths", glob(&mut path)?);
        return (path.is_empty() && one.is_empty()).then_some(());
    }
    if let Some(port) = one.number("destination_port") {
        add(operation, "ports", port.to_string());
        return one.is_empty().then_some(());
    }
    if let Some(header) = one.sub("header") {
        *http = true;
        return header_of(header, operation, when).filter(|()| one.is_empty());
    }
    if one.peek("and_rules").is_some() {
        for inner in one.list("and_rules/rules") {
            permission_of(inner, operation, when, http)?;
        }
        return one.is_empty().then_some(());
    }
    if one.peek("or_rules").is_some() {
        let mut keys = BTreeSet::new();
        for inner in one.list("or_rules/rules") {
            let mut alone = json!({});
            let mut conditions = Vec::new();
            permission_of(inner, &mut alone, &mut conditions, http)?;
            // Values of one field are alternatives, fields of one operation are not.
            if !conditions.is_empty() || alone.as_object()?.len() != 1 {
                return None;
            }
            for (key, values) in alone.as_object()? {
                keys.insert(key.clone());
                for value in values.as_array()? {
                    add(operation, key, value.as_str()?.to_owned());
                }
            }
        }
        return (one.is_empty() && keys.len() == 1).then_some(());
    }
    if let Some(inner) = one.sub("not_rule") {
        let mut alone = json!({});
        let mut conditions = Vec::new();
        permission_of(inner, &mut alone, &mut conditions, http)?;
        let map = alone.as_object()?;
        if !conditions.is_empty() || map.len() != 1 {
            return None;
        }
        let (key, values) = map.iter().next()?;
        let not = match key.as_str() {
            "paths" => "notPaths",
            "methods" => "notMethods",
            "ports" => "notPorts",
            "hosts" => "notHosts",
            _ => return None,
        };
        operation[not] = values.clone();
        return one.is_empty().then_some(());
    }
    None
}

fn header_of(mut header: Fields, operation: &mut Json, when: &mut Vec<Json>) -> Option<()> {
    let name = header.text("name")?;
    let value = if let Some(text) = header.text("exact_match") {
        text
    } else if let Some(text) = header.text("prefix_match") {
        format!("{text}*")
    } else if header.flag("present_match") == Some(true) {
        "*".to_owned()
    } else {
        let mut matcher = header.sub("string_match")?;
        let value = glob(&mut matcher)?;
        if !matcher.is_empty() {
            return None;
        }
        value
    };
    if !header.is_empty() {
        return None;
    }
    match name.as_str() {
        ":method" => add(operation, "methods", value),
        ":authority" | "host" => add(operation, "hosts", value),
        ":path" => return None,
        _ => when.push(json!({ "key": format!("request.headers[{name}]"), "values": [value] })),
    }
    Some(())
}

fn principal_of(mut one: Fields, source: &mut Json, when: &mut Vec<Json>, http: &mut bool) -> Option<()> {
    if one.flag("any") == Some(true) {
        return one.is_empty().then_some(());
    }
    for (field, key) in [("direct_remote_ip", "ipBlocks"), ("source_ip", "ipBlocks"), ("remote_ip", "remoteIpBlocks")] {
        if let Some(mut block) = one.sub(field) {
            let address = block.text("address_prefix")?;
            let whole = if address.contains(':') { 128 } else { 32 };
            let length = block.number("prefix_len").unwrap_or(0);
            let text = if length == whole { address } else { format!("{address}/{length}") };
            *http |= key == "remoteIpBlocks";
            add(source, key, text);
            return (block.is_empty() && one.is_empty()).then_some(());
        }
    }
    if let Some(mut name) = one.sub("authenticated/principal_name") {
        let text = glob(&mut name)?;
        add(source, "principals", text.strip_prefix("spiffe://").unwrap_or(&text).to_owned());
        return (name.is_empty() && one.is_empty()).then_some(());
    }
    if let Some(header) = one.sub("header") {
        *http = true;
        let mut operation = json!({});
        header_of(header, &mut operation, when)?;
        return (operation.as_object()?.is_empty() && one.is_empty()).then_some(());
    }
    if one.peek("and_ids").is_some() {
        for inner in one.list("and_ids/ids") {
            principal_of(inner, source, when, http)?;
        }
        return one.is_empty().then_some(());
    }
    if let Some(inner) = one.sub("not_id") {
        let mut alone = json!({});
        let mut conditions = Vec::new();
        principal_of(inner, &mut alone, &mut conditions, http)?;
        let map = alone.as_object()?;
        if !conditions.is_empty() || map.len() != 1 {
            return None;
        }
        let (key, values) = map.iter().next()?;
        let not = match key.as_str() {
            "ipBlocks" => "notIpBlocks",
            "remoteIpBlocks" => "notRemoteIpBlocks",
            "principals" => "notPrincipals",
            _ => return None,
        };
        source[not] = values.clone();
        return one.is_empty().then_some(());
    }
    None
}
