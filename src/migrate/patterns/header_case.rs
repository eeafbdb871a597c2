//! The case of HTTP/1 header names for clients and for services: one setting of the whole proxy.

use super::cluster_mesh::is_everything;
use crate::migrate::base::catalog;
use crate::migrate::base::step::{Move, Part};
use crate::migrate::base::value::{Fields, any_type, has_entry};
use crate::migrate::base::verdict::Kind;
use crate::migrate::output::draft::Action;
use crate::model::envoy_filter::ApplyTo;

/// The field of the annotation.
pub(super) const FIELD: &str = "proxyHeaders.preserveHttp1HeaderCase";

/// What a patch for clients alone leaves as it is.
pub(super) const SERVICES_TOO: &str =
    "requests to HTTP/1.1 services also keep the case of header names; the filter keeps it only for its clients";

/// Where the HTTP options of a cluster have the format of header names: for HTTP/1.1, or for the protocol of the client.
const PLACES: [&str; 2] = ["explicit_http_config", "use_downstream_protocol_config"];

/// Whether the HTTP options of a cluster keep the case of header names.
pub(super) fn keeps_case(http: &Fields) -> bool {
    PLACES.iter().any(|place| {
        let path = format!("{place}/http_protocol_options/header_key_format/stateful_formatter/typed_config");
        http.peek(&path).is_some_and(|any| any_type(any).ends_with("PreserveCaseFormatterConfig"))
    })
}

/// Patches of one filter that keep the case for all clients and for all services do together what the setting does.
pub(super) fn join(parts: &mut [Part<'_>]) {
    for at in 0..parts.len() {
        let services = &parts[at];
        if services.apply_to() != ApplyTo::Cluster || setting(services).is_none() || !is_only_case(services) {
            continue;
        }
        let Some(clients) = parts.iter().position(|clients| {
            clients.apply_to() == ApplyTo::NetworkFilter
                && setting(clients).is_some()
                && clients.found.as_ref().is_some_and(|found| !found.is_refused())
                && (clients.reach.context, clients.reach.proxies) == (services.reach.context, services.reach.proxies)
        }) else {
            continue;
        };
        let mut found = Move::new(&catalog::CLUSTER_HTTP_OPTIONS).home("proxy.istio.io/config", FIELD, 25);
        found.actions.extend(setting(services).cloned());
        found.difference(
            Kind::Behavior,
            "MERGE replaces istiod's HTTP options on every cluster, HTTP/2 among them; the setting keeps them, and keeps the case of header names where istiod uses HTTP/1.1",
        );
        found.notes.push("proxies read these settings at start-up: restart the workloads".to_owned());
        parts[at].answer(found);
        if let Some(found) = &mut parts[clients].found {
            found.differences.retain(|one| one.effect != SERVICES_TOO);
        }
    }
}

/// The setting that a patch moves to.
fn setting<'p>(part: &'p Part<'_>) -> Option<&'p Action> {
    let is = |action: &&Action| matches!(action, Action::Proxy { config, .. } if config.pointer("/proxyHeaders/preserveHttp1HeaderCase").is_some());
    part.found.as_ref().filter(|found| found.moves)?.actions.iter().find(is)
}

/// Whether a patch sets the case of header names on every cluster, and nothing else.
fn is_only_case(part: &Part<'_>) -> bool {
    const HEADERS: [&str; 2] = ["forward_reason_phrase", "formatter_type_on_envoy_headers"];
    let of_one = |value: &serde_json::Value| value.as_object().is_some_and(|map| map.len() == 1);
    let more = |key: &str, value: &serde_json::Value| {
        HEADERS.contains(&key)
            || (PLACES.contains(&key) || key == "http_protocol_options" || key == "typed_extension_protocol_options")
                && !of_one(value)
            || key.ends_with("HttpProtocolOptions") && value.as_object().is_none_or(|map| map.len() != 2)
    };
    is_everything(part) && of_one(&part.value.0) && !has_entry(&part.value.0, &more)
}
