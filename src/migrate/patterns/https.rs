//! Virtual hosts that redirect to HTTPS: `httpsRedirect` of a Gateway's servers.

use super::routes::owners;
use super::vhost::Vhost;
use crate::migrate::base::catalog;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::gateways;
use crate::migrate::objects::mesh::{Proxies, Served};
use crate::migrate::objects::policy::pod_ports;
use crate::migrate::output::change::Change;
use crate::migrate::output::draft::Action;
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::source::ErrorMessage;
use std::collections::BTreeSet;

const FIELD: &str = "require_tls";

/// Finds virtual hosts that require TLS. Those of one port move together: a server redirects all of its hosts.
pub(in crate::migrate) fn find(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    let mut wanted: Vec<(usize, u32, String)> = Vec::new();
    for (at, part) in parts.iter_mut().enumerate() {
        let merges = part.apply_to() == ApplyTo::VirtualHost && part.operation() == Operation::Merge;
        if part.found.is_some() || !merges || part.value.peek(FIELD).is_none() {
            continue;
        }
        match redirected(cx, part) {
            Ok((port, host)) => wanted.push((at, port, host)),
            Err(reason) => part.answer(Move::none(&catalog::REDIRECT, reason)),
        }
    }
    let ports: BTreeSet<u32> = wanted.iter().map(|(_, port, _)| *port).collect();
    for port in ports {
        let members: Vec<&(usize, u32, String)> = wanted.iter().filter(|one| one.1 == port).collect();
        let hosts: BTreeSet<&str> = members.iter().map(|one| one.2.as_str()).collect();
        let found = of_port(cx, port, &hosts);
        let leader = parts[members[0].0].built.patch.index;
        for (number, (at, ..)) in members.into_iter().enumerate() {
            parts[*at].answer(if number > 0 { found.shared(leader) } else { found.clone() });
        }
    }
}

/// Port and host of the virtual host, or why a Gateway cannot redirect its requests.
fn redirected(cx: &Cx<'_>, part: &Part<'_>) -> Result<(u32, String), ErrorMessage> {
    let mut value = part.value.clone();
    value.skip("name");
    let word = value.text(FIELD).unwrap_or_default();
    if !value.is_empty() {
        return Err("`require_tls` has its own native field: put it into a patch of its own to migrate it".into());
    }
    if word != "ALL" {
        return Err(format!("`require_tls: {word}` has no native field").into());
    }
    if part.reach.proxies != Proxies::Gateway {
        return Err("only the servers of a Gateway redirect to HTTPS".into());
    }
    if !cx.filter.target_refs.is_empty() {
        return Err(
            "a Gateway of the Gateway API has no such field: an HTTPRoute with RequestRedirect redirects".into()
        );
    }
    match Vhost::of(part) {
        Some(Vhost { host: Some(host), port: Some(port) }) => Ok((port, host)),
        _ => Err("`httpsRedirect` is for the hosts of one server: match virtual hosts by their names (`vhost.name: HOST:PORT`)".into()),
    }
}

fn of_port(cx: &Cx<'_>, port: u32, hosts: &BTreeSet<&str>) -> Move {
    let mut found = Move::new(&catalog::REDIRECT).home("Gateway", "servers.tls.httpsRedirect", 0);
    let Some(servers) = gateways::servers(cx, &mut found) else { return found };
    let mut served: BTreeSet<&str> = BTreeSet::new();
    for one in servers.iter().filter(|one| one.server.port == port) {
        let own: BTreeSet<&str> = one.server.bare_hosts().collect();
        if own.iter().any(|own| hosts.iter().any(|host| covers(own, host))) {
            served.extend(hosts.iter().copied().filter(|host| own.iter().any(|own| covers(own, host))));
            server(one, &own, hosts, &mut found);
            doubled(&servers, one, &own, &mut found);
            twin(cx, &servers, one, &own, &mut found);
        }
    }
    if let Some(missing) = hosts.iter().find(|host| !served.contains(*host)) {
        let reason = format!("no server of the known Gateways serves {missing} on port {port}");
        found.guard(Concern::Existing, State::Undecided, reason);
    }
    if let Some(host) = hosts.iter().find(|host| owners(cx, Some(host)).is_empty()) {
        found.difference(
            Kind::Behavior,
            format!(
                "no VirtualService has routes for {host} on this gateway, so the filter changes no virtual host; the server redirects all the same"
            ),
        );
    }
    found
}

/// Whether a server's host includes this one.
fn covers(own: &str, host: &str) -> bool {
    own == host || own == "*" || own.strip_prefix('*').is_some_and(|suffix| host.ends_with(suffix))
}

/// istiod drops a server with `tls` if one before it on the same port has `tls` and one of its hosts: with `httpsRedirect` a server
/// has `tls`. Another one of that host has it, too, or gets it here.
fn doubled(servers: &[Served<'_>], one: &Served<'_>, own: &BTreeSet<&str>, found: &mut Move) {
    let Some(other) = servers.iter().find(|other| {
        let port = other.server.port == one.server.port && other.server.bind == one.server.bind;
        port && !std::ptr::eq(other.server, one.server) && other.server.bare_hosts().any(|host| own.contains(host))
    }) else {
        return;
    };
    let (object, with) = (&one.gateway.object, &other.gateway.object);
    let reason = format!(
        "Gateway {}/{} also has a server for such a host on port {}, and of two with `tls` istiod uses only one: requests for the \
         other hosts of Gateway {}/{} may get 404 instead of the redirect",
        with.namespace, with.name, one.server.port, object.namespace, object.name
    );
    found.difference(Kind::Behavior, reason.clone());
    found.guard(Concern::Existing, State::Broken, reason);
}

/// A server on another port that leads to the same port of the pods: istiod gives both one virtual host for a host, named after the
/// port of one of them.
fn twin(cx: &Cx<'_>, servers: &[Served<'_>], one: &Served<'_>, own: &BTreeSet<&str>, found: &mut Move) {
    let pods = pod_ports(cx, one);
    let other = servers.iter().find(|other| {
        let shares = other.server.bare_hosts().any(|host| own.contains(host));
        shares && other.server.port != one.server.port && !pods.is_disjoint(&pod_ports(cx, other))
    });
    let Some(other) = other else { return };
    let (object, port) = (&other.gateway.object, other.server.port);
    let reason = format!(
        "Gateway {}/{} also has such a host, on port {port}, which leads to the same port of the pods as port {}: istiod makes one virtual host of both, under one of the two ports, so that it is unknown which patch matches it",
        object.namespace, object.name, one.server.port
    );
    found.guard(Concern::Ports, State::Undecided, reason);
}

fn server(one: &Served<'_>, own: &BTreeSet<&str>, hosts: &BTreeSet<&str>, found: &mut Move) {
    let object = &one.gateway.object;
    let name = format!("{}/{}", object.namespace, object.name);
    let port = one.server.port;
    if !matches!(one.server.protocol.as_str(), "HTTP" | "HTTP2" | "GRPC" | "GRPC-WEB") {
        let reason =
            format!("the server of Gateway {name} on port {port} has TLS: `httpsRedirect` is for servers without");
        found.guard(Concern::Tls, State::Broken, reason);
        return;
    }
    let others: Vec<&str> = own.difference(hosts).copied().collect();
    if !others.is_empty() {
        let reason = format!(
            "the server of Gateway {name} on port {port} would also redirect {}, which the filter does not change",
            others.join(", ")
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Routes, State::Broken, reason);
    }
    found.guard(Concern::Tls, State::Held, "the server redirects the same requests; it gets no other TLS setting");
    found.actions.push(Action::Edit {
        object: ("Gateway", object.namespace.clone(), object.name.clone()),
        change: Change::Redirect { port, hosts: one.server.hosts.clone() },
    });
}
