//! Patches of listeners and of their filters below HTTP: buffers, PROXY protocol, socket options.

use super::manager::has_settings;
use crate::engine::PROXY_PROTOCOL;
use crate::migrate::base::catalog;
use crate::migrate::base::nearest;
use crate::migrate::base::step::{Cx, Move, Part, has, too_old};
use crate::migrate::base::value::{Fields, any_type};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::mesh::Proxies;
use crate::migrate::output::draft::Action;
use crate::migrate::settings_of;
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::proxy_config::ANNOTATION;
use serde_json::{Value as Json, json};

/// Finds buffer limits, PROXY protocol and socket options.
pub(in crate::migrate) fn find(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    for part in parts.iter_mut().filter(|part| part.found.is_none()) {
        let found = match (part.apply_to(), part.operation()) {
            (ApplyTo::Listener, Operation::Merge) => merged(cx, part),
            (ApplyTo::ListenerFilter, _) if part.inserts() => inserted(cx, part),
            _ => None,
        };
        if let Some(found) = found {
            part.answer(found);
        }
    }
}

fn merged(cx: &Cx<'_>, part: &Part<'_>) -> Option<Move> {
    let mut value = part.value.clone();
    if value.peek("socket_options").is_some() {
        return Some(Move::none(&catalog::SOCKET_OPTIONS, nearest::SOCKETS));
    }
    if value.peek("listener_filters").is_some() {
        let filters = value.list("listener_filters");
        let found = merged_filters(cx, part, &filters)?;
        let mixed = found.moves && !value.is_empty();
        let apart = "other fields of the listener have their own native API, or none: put the PROXY protocol filter into a patch of its own to migrate it";
        return Some(if mixed { Move::none(&catalog::PROXY_PROTOCOL, apart) } else { found });
    }
    let bytes = value.number("per_connection_buffer_limit_bytes")?;
    if !has(cx, 31) {
        return Some(too_old(&catalog::LISTENER_BUFFER, cx, "`connectionSettings`", 31));
    }
    let bytes = i32::try_from(bytes).ok()?;
    let mut found = Move::new(&catalog::LISTENER_BUFFER);
    let field = "connectionSettings.listenerPerConnectionBufferLimitBytes";
    found.add_home("proxy.istio.io/config", field, 31);
    gateways_only(cx, part, &mut found, "`listenerPerConnectionBufferLimitBytes`");
    found.actions.push(Action::Proxy {
        config: json!({ "connectionSettings": { "listenerPerConnectionBufferLimitBytes": bytes } }),
        gateways: true,
    });
    // MERGE of a message with zero in it leaves what is there.
    if bytes == 0 && has_settings(cx) {
        let reason = "these proxies have `connectionSettings`: where they set a limit, MERGE of 0 changes nothing; the native setting replaces it";
        found.difference(Kind::Behavior, reason);
        found.guard(Concern::Existing, State::Broken, reason);
    }
    if !value.is_empty() {
        found.rest = Some(value.0);
    }
    Some(found)
}

/// A setting that gateways apply to all their listeners.
fn gateways_only(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move, what: &str) {
    let reach = &part.reach;
    if let Some(narrowed) = reach.narrowed.clone().or_else(|| reach.port.map(|port| format!("port {port}"))) {
        let reason = format!("{what} applies to every listener of the gateway; the filter is for {narrowed} only");
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Ports, State::Broken, reason);
    }
    match reach.proxies {
        Proxies::Gateway => {}
        Proxies::Unknown => found.guard(
            Concern::Patch,
            State::Undecided,
            format!("the input does not say whether the filter selects gateways; only gateways read {what}"),
        ),
        _ => {
            let reason =
                format!("only gateways read {what}: sidecars and waypoints accept it, and the setting is lost");
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Patch, State::Broken, reason);
        }
    }
    if reach.proxies == Proxies::Gateway && !crate::migrate::objects::mesh::Mesh::is_narrow(cx.filter) {
        found
            .notes
            .push("the filter has no selector: set the annotation on every gateway of its namespaces".to_owned());
    }
    found.notes.push("proxies read these settings at start-up: restart the workloads".to_owned());
}

fn is_proxy_protocol(filter: &Fields) -> bool {
    let typed = filter.peek("typed_config").map(any_type);
    let name = filter.peek("name").and_then(serde_json::Value::as_str);
    typed == Some(PROXY_PROTOCOL.1)
        || (typed.is_none()
            && matches!(name, Some("envoy.filters.listener.proxy_protocol" | "envoy.listener.proxy_protocol")))
}

/// Whether the mesh's default or the annotation of a selected workload already sets the native field.
fn has_own(cx: &Cx<'_>) -> bool {
    let sets = |config: &Json| config.pointer("/gatewayTopology/proxyProtocol").is_some();
    let default = cx.mesh.mesh_config().and_then(|mesh| mesh.get("defaultConfig")).is_some_and(sets);
    let mut workloads = cx.mesh.workloads(cx.filter);
    default || workloads.any(|one| one.annotations.get(ANNOTATION).is_some_and(|text| sets(&settings_of(text))))
}

/// Whether the filter has no settings, since the native field has none.
fn is_plain(filter: &Fields) -> bool {
    let config = filter.peek("typed_config").and_then(serde_json::Value::as_object);
    config.is_none_or(|config| config.keys().all(|key| key == "@type"))
}

fn merged_filters(cx: &Cx<'_>, part: &Part<'_>, filters: &[Fields]) -> Option<Move> {
    filters.iter().find(|filter| is_proxy_protocol(filter))?;
    let mut found = proxy_protocol(cx, part, filters)?;
    if !found.moves {
        return Some(found);
    }
    let tls = |protocol: &str, mode: Option<&str>| mode.is_some() || matches!(protocol, "HTTPS" | "TLS");
    let effect = "MERGE puts proxy_protocol after tls_inspector, which reads the PROXY header instead of the ClientHello and misses the server name; the native field puts it first";
    match cx.mesh.serves(cx.filter, tls) {
        Some(false) => {}
        Some(true) => found.difference(Kind::Behavior, effect),
        None => {
            found.difference(Kind::Behavior, format!("on TLS ports {effect}"));
            found.guard(
                Concern::Patch,
                State::Undecided,
                "the input does not say whether these gateways have TLS ports, where the filter does not work",
            );
        }
    }
    Some(found)
}

fn inserted(cx: &Cx<'_>, part: &Part<'_>) -> Option<Move> {
    let filter = part.value.clone();
    if !is_proxy_protocol(&filter) {
        return None;
    }
    let mut found = proxy_protocol(cx, part, &[filter])?;
    if part.operation() != Operation::InsertFirst {
        found.difference(
            Kind::Behavior,
            "the native field puts proxy_protocol before every other listener filter; the filter puts it elsewhere",
        );
    }
    Some(found)
}

fn proxy_protocol(cx: &Cx<'_>, part: &Part<'_>, filters: &[Fields]) -> Option<Move> {
    let main = filters.iter().find(|filter| is_proxy_protocol(filter))?;
    if !is_plain(main) {
        return Some(Move::none(
            &catalog::PROXY_PROTOCOL,
            "`gatewayTopology.proxyProtocol` has no settings, such as allowing connections without the PROXY header",
        ));
    }
    let mut found = Move::new(&catalog::PROXY_PROTOCOL);
    found.add_home("proxy.istio.io/config", "gatewayTopology.proxyProtocol", 0);
    if has_own(cx) {
        found.difference(
            Kind::Behavior,
            "`gatewayTopology.proxyProtocol` is already set: with the filter, listeners expect the PROXY header twice, without it once",
        );
    }
    gateways_only(cx, part, &mut found, "`gatewayTopology.proxyProtocol`");
    if main.peek("typed_config").is_none() {
        found.difference(
            Kind::Behavior,
            "Envoy rejects the filter's listeners, since it finds no extension without `typed_config`; the native field works",
        );
    }
    if main.peek("name").and_then(serde_json::Value::as_str) != Some(PROXY_PROTOCOL.0) {
        found.difference(Kind::Name, "the listener filter gets the name envoy.filters.listener.proxy_protocol");
    }
    for other in filters.iter().filter(|filter| !is_proxy_protocol(filter)) {
        let name = other.peek("name").and_then(serde_json::Value::as_str).unwrap_or("a listener filter without a name");
        if name != "envoy.filters.listener.tls_inspector" && name != "envoy.listener.tls_inspector" {
            return Some(Move::none(&catalog::PROXY_PROTOCOL, format!("{name} has no native field")));
        }
        found.difference(Kind::Behavior, "the filter's own tls_inspector is gone: TLS ports keep istiod's, and connections to other ports are no longer searched for a ClientHello");
    }
    found.actions.push(Action::Proxy { config: json!({ "gatewayTopology": { "proxyProtocol": {} } }), gateways: true });
    Some(found)
}
