//! EF539: an RBAC rule about a port that its listeners do not have.

use crate::declare_rule;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::per_run::PerRun;
use crate::lint::seen::{Seen, changed_filter_lists};
use crate::lint::{Context, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use crate::proto::tree::{Origin, Tree};
use crate::source::{NodeValue, Severity};
use std::collections::{BTreeSet, HashMap};

declare_rule! {
    /// An RBAC rule about a port that no connection to the proxy has.
    ///
    /// # What it finds
    /// With config dumps of gateways: `destination_port` in the rules of an RBAC filter, if no listener that the filter is
    /// inserted into has this port, such as 443 of the Service where the gateway listens on 8443. Of sidecars, inbound: the port of a
    /// Service that reaches the workload on another port.
    ///
    /// # Why it matters
    /// The port is that of the connection to the proxy, not that of the Service. An ALLOW denies every request, a DENY
    /// none.
    ///
    /// # How to fix
    /// The port of the listener or of the container: the `targetPort` of the Service.
    ///
    /// # References
    /// Envoy `config.rbac.v3.Permission.destination_port`; the answers of Envoy 1.38.2.
    "EF539" "port-of-no-listener" Scope Error => check,
    needs: &[Dump]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known: PerRun<Places> = PerRun::new();
    for value in cx.values() {
        let view = &value.view;
        let inserts = matches!(view.patch.apply_to, ApplyTo::HttpFilter | ApplyTo::NetworkFilter);
        let inbound = view.patch.context == PatchContext::SidecarInbound;
        if !inserts || !(inbound || view.patch.context == PatchContext::Gateway) {
            continue;
        }
        let place = |run: &PatchRun<'_, '_>| {
            let known = (run.run.knowledge == Knowledge::Dump).then(|| known.of(run.run, by_patch));
            known.and_then(|known| known.get(&run.id.origin()).cloned()).unwrap_or_default()
        };
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.config.rbac.v3.Permission") {
            let Some(node) = object.member("destination_port").map(|member| &member.entry.value) else { continue };
            let NodeValue::Number(port) = &node.value else { continue };
            let elsewhere = |run: &PatchRun<'_, '_>| {
                let place = place(run);
                let of_service = !inbound || place.services.contains(&**port);
                of_service && !place.ports.is_empty() && !place.ports.contains(&**port)
            };
            let Some(seen) = cx.seen_if(view, elsewhere).filter(Seen::certain) else { continue };
            let all: BTreeSet<String> = seen.runs.iter().flat_map(|run| place(run).ports).collect();
            let all = all.into_iter().collect::<Vec<_>>().join(", ");
            let (message, severity) = if inbound {
                // A container that listens on this port too could be reached by the pod's address.
                (
                    format!("connections to the workload have the port of the container, not {port} of the Service"),
                    Severity::Warning,
                )
            } else {
                (format!("no listener of this filter has the port {port}"), Severity::Error)
            };
            let finding = value
                .finding(rule, node.span, message)
                .severity(severity)
                .label("the port of a Service?")
                .note("Envoy compares the port of the connection to the proxy")
                .help(format!("ports {}: {all}", if inbound { "of its filter chains" } else { "of its listeners" }));
            out.push(seen.tell(finding));
        }
    }
}

/// The ports of the listeners, or inbound filter chains, that have filters of a patch, and those of the Services behind them.
#[derive(Clone, Default)]
struct Place {
    ports: BTreeSet<String>,
    services: BTreeSet<String>,
}

type Places = HashMap<Origin, Place>;

fn by_patch(run: &ProxyRun<'_>) -> Places {
    let mut found = Places::new();
    for (name, listener) in run.changed_listeners() {
        if name == "virtualInbound" {
            inbound(listener, &mut found);
            continue;
        }
        let port = listener.path(&["address", "socket_address", "port_value"]).and_then(Tree::as_u64);
        let Some(port) = port.map(|port| port.to_string()) else { continue };
        for filter in changed_filter_lists(listener).flat_map(|(_, filters)| filters) {
            found.entry(filter.origin).or_default().ports.insert(port.clone());
        }
    }
    found
}

/// The same for the filter chains of inbound connections.
fn inbound(listener: &Tree<'_>, found: &mut Places) {
    let chains = listener.get("filter_chains").map(Tree::items).unwrap_or_default();
    let port_of = |chain: &Tree<'_>| {
        let wanted = chain.get("filter_chain_match").map(Tree::readable)?;
        wanted.get("destination_port").and_then(Tree::as_u64).map(|port| port.to_string())
    };
    // A chain for the port of the listener itself refuses connections.
    let own = listener.path(&["address", "socket_address", "port_value"]).and_then(Tree::as_str);
    let all: BTreeSet<String> = chains.iter().filter_map(port_of).filter(|port| Some(port.as_str()) != own).collect();
    for chain in chains {
        let network = chain.get("filters").map(Tree::items).unwrap_or_default();
        let configs = network.iter().filter_map(|filter| filter.get("typed_config"));
        let http = configs.clone().filter_map(|config| config.get("http_filters")).flat_map(Tree::items);
        let own: Vec<Origin> =
            network.iter().chain(http).map(|filter| filter.origin).filter(|one| *one != Origin::ISTIOD).collect();
        if own.is_empty() {
            continue;
        }
        let mut services = BTreeSet::new();
        for routes in configs.filter_map(|config| config.get("route_config")).map(Tree::readable) {
            let hosts = routes.get("virtual_hosts").map(Tree::readable);
            for host in hosts.as_deref().map(Tree::items).unwrap_or_default() {
                let host = host.readable();
                // `inbound|http|80`: the name of the protocol and the port of the Service.
                services.extend(host.name().rsplit_once('|').map(|(_, port)| port.to_owned()));
            }
        }
        for origin in own {
            let place = found.entry(origin).or_default();
            if place.ports.is_empty() {
                place.ports.clone_from(&all);
            }
            place.services.extend(services.iter().cloned());
        }
    }
}
