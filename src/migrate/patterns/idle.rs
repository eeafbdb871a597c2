//! Idle timeouts as an environment variable of the proxy, which applies to both HTTP and TCP connections.

use crate::migrate::base::catalog;
use crate::migrate::base::reach::names_filter;
use crate::migrate::base::step::{Cx, IDLE_VARIABLE, Move, Part};
use crate::migrate::base::value::Fields;
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::whole::{Reads, of_pattern, whole_proxy};
use crate::migrate::objects::mesh::{Mesh, Proxies};
use crate::migrate::output::draft::Action;
use crate::migrate::output::pods::pod_labels;
use crate::model::envoy_filter::PatchContext;

pub(in crate::migrate) const TCP_PROXY: &str = "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy";

/// The idle timeout of TCP connections, as a variable that also applies to HTTP connections.
pub(in crate::migrate) fn tcp(cx: &Cx<'_>, part: &Part<'_>) -> Option<Move> {
    if names_filter(&part.built.object) != Some("envoy.filters.network.tcp_proxy") {
        return None;
    }
    let mut whole = part.value.clone();
    whole.skip("name");
    let mut config = whole.typed("typed_config", TCP_PROXY)?;
    let sends = matches!(part.reach.context, PatchContext::SidecarOutbound | PatchContext::Gateway);
    if sends && config.text("max_downstream_connection_duration").is_some() {
        let alone = config.is_empty() && whole.is_empty();
        return alone.then(|| by_destination("trafficPolicy.connectionPool.tcp.maxConnectionDuration"));
    }
    let timeout = config.text("idle_timeout")?;
    if !config.is_empty() || !whole.is_empty() {
        return None;
    }
    // Outbound connections: the destination has its own timeout.
    if sends && !part.reach.is_whole() || part.reach.context == PatchContext::SidecarOutbound {
        return Some(by_destination("trafficPolicy.connectionPool.tcp.idleTimeout"));
    }
    let mut found = Move::new(&catalog::TCP_IDLE).home("ProxyConfig", IDLE_VARIABLE, 0);
    found.actions.push(Action::Environment("ISTIO_META_IDLE_TIMEOUT", timeout));
    whole_proxy(cx, part, &mut found, Reads::All, "the environment variable");
    variable(cx, part, &mut found);
    let http = match part.reach.proxies {
        Proxies::Gateway => {
            cx.mesh.serves(cx.filter, |protocol, tls| !crate::migrate::objects::policy::is_tcp(protocol, tls))
        }
        _ => Some(true),
    };
    let reason = "HTTP connections also get the idle timeout; the filter is for TCP connections only";
    match http {
        Some(false) => found.guard(Concern::TcpChains, State::Held, "these gateways serve no HTTP"),
        Some(true) => {
            found.difference(Kind::Behavior, reason);
            found.guard(Concern::TcpChains, State::Broken, reason);
        }
        None => found.guard(Concern::TcpChains, State::Undecided, reason),
    }
    found.notes.push("the variable is set at injection: restart the workloads".to_owned());
    Some(found)
}

/// A timeout of connections to a service, which its DestinationRule can set (since Istio 1.21).
fn by_destination(field: &'static str) -> Move {
    let mut found = Move::new(&catalog::TCP_IDLE).home("DestinationRule", field, 0);
    let reason = "a DestinationRule names a host, and the patch names listeners: write the timeout into the rule of each service behind them";
    found.difference(Kind::Behavior, reason);
    found.guard(Concern::Existing, State::Broken, reason);
    found
}

/// Before `connectionSettings`: the idle timeout as an environment variable, which also applies to TCP connections.
pub(in crate::migrate) fn by_environment(cx: &Cx<'_>, part: &Part<'_>, config: &mut Fields, found: &mut Move) {
    let Some(value) = config.text("common_http_protocol_options/idle_timeout") else { return };
    of_pattern(found, &catalog::HCM_TIMEOUTS);
    found.add_home("ProxyConfig", IDLE_VARIABLE, 0);
    found.actions.push(Action::Environment("ISTIO_META_IDLE_TIMEOUT", value));
    whole_proxy(cx, part, found, Reads::All, "the environment variable");
    variable(cx, part, found);
    let tcp = match part.reach.proxies {
        Proxies::Gateway => cx.mesh.serves(cx.filter, |protocol, tls| {
            matches!(protocol, "TCP" | "TLS" | "MONGO" | "MYSQL" | "REDIS")
                || matches!(tls, Some("PASSTHROUGH" | "AUTO_PASSTHROUGH"))
        }),
        _ => Some(true),
    };
    match tcp {
        Some(false) => found.guard(Concern::TcpChains, State::Held, "these gateways serve no TCP"),
        Some(true) => {
            found.difference(Kind::Behavior, "TCP connections also get the idle timeout");
            found.guard(Concern::TcpChains, State::Broken, "TCP connections also get the idle timeout");
        }
        None => found.guard(
            Concern::TcpChains,
            State::Undecided,
            "TCP connections would also get the idle timeout, and the input does not say whether these gateways serve TCP",
        ),
    }
}

/// A ProxyConfig applies to the proxies of its namespace (with a selector also in the root namespace), all of them without a
/// selector; of two for the same proxies only the older one is read (`mergedWorkloadConfig` in `proxy_config.go`).
pub(in crate::migrate) fn variable(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) {
    let narrow = Mesh::is_narrow(cx.filter);
    let Some(own) = pod_labels(cx.filter) else {
        let reason =
            "a ProxyConfig selects pods by labels, and no labels select just those of the filter's `targetRefs`";
        found.guard(Concern::Selector, State::Broken, reason);
        return;
    };
    let rival = cx.mesh.index.policies("ProxyConfig").iter().find(|one| {
        let spec = &one.document.to_json()["spec"];
        let labels = spec.pointer("/selector/matchLabels").and_then(serde_json::Value::as_object);
        let labels = labels.filter(|labels| !labels.is_empty());
        let apart = labels.is_some_and(|labels| {
            labels.iter().any(|(key, value)| own.get(key).is_some_and(|own| value.as_str() != Some(own)))
        });
        let near = one.namespace == cx.filter.namespace || cx.filter.namespace == cx.mesh.root;
        near && labels.is_some() == narrow && !apart
    });
    if let Some(one) = rival {
        let reason = format!(
            "ProxyConfig {}/{} may be for the same proxies, and only the older one is read: add the variable to it by hand",
            one.namespace, one.name
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Existing, State::Broken, reason);
    }
    if narrow && cx.filter.namespace == cx.mesh.root {
        let elsewhere = match cx.mesh.namespaces(cx.filter) {
            Some(namespaces) => namespaces.iter().any(|namespace| *namespace != cx.mesh.root).then_some(State::Broken),
            None if part.reach.proxies == Proxies::Gateway => None,
            None => Some(State::Undecided),
        };
        if let Some(state) = elsewhere {
            let reason = "a ProxyConfig with a selector is read only for workloads of its own namespace; the filter also selects those of others";
            found.guard(Concern::Namespace, state, reason);
        }
    }
    if part.reach.proxies == Proxies::Gateway && !Mesh::is_narrow(cx.filter) {
        let reason = "without a selector the variable also reaches sidecars; the filter is for gateways";
        found.difference(Kind::Behavior, reason);
        found.guard(Concern::Selector, State::Broken, reason);
    }
}
