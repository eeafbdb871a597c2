//! Telemetry objects, and the telemetry filters of old releases that are now built into istiod.

use crate::migrate::base::catalog;
use crate::migrate::base::step::{BUILT_IN, Cx, Move, Part};
use crate::migrate::base::value::{Fields, any_type, fieldless, left};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::attach::{self, Directions};
use crate::migrate::objects::mesh::{Mesh, Proxies};
use crate::migrate::output::draft::{self, Action, attachment};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::inventory::{Labels, Object};
use crate::proto::tree::is_typed_struct;
use serde_json::{Map, Value as Json, json};

const STATS: &str = "stats.PluginConfig";
const NETWORK_WASM: &str = "envoy.extensions.filters.network.wasm.v3.Wasm";
const EXCHANGE: &str = "envoy.tcp.metadataexchange.config.MetadataExchange";

/// Why a network filter is not moved (`extensionfilter.go` of istiod 1.31).
const OF_CONNECTIONS: &str = "a WasmPlugin with `type: NETWORK` runs in every filter chain of its workloads, for TCP and HTTP, at a \
                              place that istiod chooses; how that compares with the patch is not known well enough to write it";

/// Names of metrics in the stats filter and in the Telemetry API.
const METRICS: &[(&str, &str)] = &[
    ("requests_total", "REQUEST_COUNT"),
    ("request_duration_milliseconds", "REQUEST_DURATION"),
    ("request_bytes", "REQUEST_SIZE"),
    ("response_bytes", "RESPONSE_SIZE"),
    ("tcp_sent_bytes_total", "TCP_SENT_BYTES"),
    ("tcp_received_bytes_total", "TCP_RECEIVED_BYTES"),
    ("tcp_connections_opened_total", "TCP_OPENED_CONNECTIONS"),
    ("tcp_connections_closed_total", "TCP_CLOSED_CONNECTIONS"),
    ("request_messages_total", "GRPC_REQUEST_MESSAGES"),
    ("response_messages_total", "GRPC_RESPONSE_MESSAGES"),
    ("", "ALL_METRICS"),
];

/// Finds leftovers of old telemetry: network filters, cluster filters, labels merged into `istio.stats`.
pub(in crate::migrate) fn find(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    for part in parts.iter_mut().filter(|part| part.found.is_none()) {
        let found = match (part.apply_to(), part.config_type()) {
            (ApplyTo::NetworkFilter, NETWORK_WASM) if part.inserts() => {
                part.value.peek("typed_config/config").map(|config| {
                    let runtime = config.pointer("/vm_config/runtime").and_then(Json::as_str);
                    match runtime {
                        Some("envoy.wasm.runtime.null") => null_vm(cx, part, &Fields(config.clone())),
                        _ => Move::none(&catalog::WASM, OF_CONNECTIONS),
                    }
                })
            }
            (ApplyTo::HttpFilter | ApplyTo::NetworkFilter, _) if part.inserts() && unread_null_vm(part).is_some() => {
                unread_null_vm(part).map(|config| null_vm(cx, part, &config))
            }
            (ApplyTo::NetworkFilter, EXCHANGE) if part.inserts() => Some(built_in("istio.metadata_exchange")),
            (ApplyTo::HttpFilter, STATS) if part.operation() == Operation::Merge => Some(labels(cx, part, None)),
            (ApplyTo::HttpFilter, STATS) if part.inserts() => {
                let effect = "the second istio.stats is removed: it counts every request a second time";
                let both = vec!["requests are counted twice, as they are today"];
                Some(Move { meanwhile: both, ..labels(cx, part, Some(effect)) })
            }
            (ApplyTo::Cluster, _) if part.operation() == Operation::Merge => exchange_of_cluster(part),
            _ => None,
        };
        if let Some(found) = found {
            part.answer(found);
        }
    }
}

/// A filter of the null VM in a TypedStruct that cannot be read as the message that it names: old ones have settings as text.
fn unread_null_vm(part: &Part<'_>) -> Option<Fields> {
    let typed = part.value.peek("typed_config").filter(|typed| is_typed_struct(any_type(typed)))?;
    let config = typed.pointer("/value/config")?;
    (config.pointer("/vm_config/runtime")? == "envoy.wasm.runtime.null").then(|| Fields(config.clone()))
}

fn exchange_of_cluster(part: &Part<'_>) -> Option<Move> {
    let filters = part.value.peek("filters")?.as_array()?;
    let only = part.value.0.as_object().is_some_and(|map| map.len() == 1);
    let exchange = filters.iter().all(|filter| {
        let of = filter.get("typed_config").map_or("", any_type);
        of == EXCHANGE || (of.is_empty() && filter.to_string().contains(EXCHANGE))
    });
    (only && exchange && !filters.is_empty()).then(|| built_in("istio.metadata_exchange"))
}

fn built_in(name: &str) -> Move {
    Move::new(&catalog::STATS_NULL_VM).home(BUILT_IN, name, 0).differs(
        Kind::Behavior,
        format!("the old filter is removed; {name}, which istiod puts in every chain, does this work"),
    )
}

/// A filter of the null VM, whose code current proxies no longer contain.
pub(in crate::migrate) fn null_vm(cx: &Cx<'_>, part: &Part<'_>, config: &Fields) -> Move {
    let code = config.peek("vm_config/code/local/inline_string").and_then(Json::as_str).unwrap_or_default();
    match code {
        "envoy.wasm.metadata_exchange" => built_in("istio.metadata_exchange"),
        "envoy.wasm.stats" => {
            let settings = match config.peek("configuration").map(plugin_settings) {
                Some(None) => {
                    return Move::none(
                        &catalog::STATS_NULL_VM,
                        "the plugin's settings are not JSON, so what they change is unknown",
                    );
                }
                read => read.flatten(),
            };
            stats(cx, part, settings.as_ref())
        }
        "envoy.wasm.attributegen" => {
            Move::none(&catalog::STATS_NULL_VM, "attributegen was removed from the proxy and has no successor")
        }
        other => Move::none(
            &catalog::STATS_NULL_VM,
            format!("today's proxy has no built-in `{other}`: the filter does not work, and nothing replaces it"),
        ),
    }
}

/// The settings of a plugin, which are JSON in a text or a Struct; none if they are empty.
fn plugin_settings(any: &Json) -> Option<Json> {
    let value = any.get("value").unwrap_or(any);
    match value.as_str() {
        Some(text) if text.trim().is_empty() => Some(json!({})),
        Some(text) => serde_json::from_str(text).ok(),
        None => Some(value.clone()),
    }
}

const GONE: &str = "the null VM filter is removed; today's proxy has no such built-in code, so the filter cannot work";

fn stats(cx: &Cx<'_>, part: &Part<'_>, settings: Option<&Json>) -> Move {
    const KNOWN: [&str; 4] = ["@type", "debug", "metrics", "stat_prefix"];
    let keys = settings.and_then(Json::as_object).into_iter().flatten().map(|(key, _)| key);
    let lost: Vec<&String> = keys.filter(|key| !KNOWN.contains(&key.as_str())).collect();
    let metrics = settings.and_then(|all| all.get("metrics")).and_then(Json::as_array);
    let both = "the old filter cannot work: only istiod's own istio.stats counts";
    let mut found = match metrics {
        None => built_in("istio.stats").differs(Kind::Behavior, GONE),
        Some(metrics) => with_overrides(cx, part, metrics.iter().cloned().map(Fields).collect(), Some(GONE)),
    };
    if found.moves && !lost.is_empty() {
        found.difference(Kind::Behavior, fieldless(&lost));
    }
    found.meanwhile = vec![both];
    found
}

fn labels(cx: &Cx<'_>, part: &Part<'_>, effect: Option<&str>) -> Move {
    let mut value = part.value.clone();
    let Some(mut config) = value.typed("typed_config", STATS) else {
        return Move::none(&catalog::STATS_NULL_VM, "the configuration cannot be read");
    };
    let metrics = config.list("metrics");
    if metrics.is_empty() && config.is_empty() {
        return built_in("istio.stats");
    }
    if !config.is_empty() {
        return Move::none(&catalog::STATS_NULL_VM, left("the Telemetry API", [&config]));
    }
    with_overrides(cx, part, metrics, effect)
}

fn with_overrides(cx: &Cx<'_>, part: &Part<'_>, metrics: Vec<Fields>, effect: Option<&str>) -> Move {
    let mut found = Move::new(&catalog::STATS_NULL_VM);
    attach::check(cx, part, &mut found, Directions::Mode);
    scope(cx, part, &mut found);
    if let Some(effect) = effect {
        found.difference(Kind::Behavior, effect);
    }
    found.difference(
        Kind::Behavior,
        "istiod's own istio.stats counts the label, also on TCP chains, where the expression is empty",
    );
    let mut overrides = Vec::new();
    for mut metric in metrics {
        let name = metric.text("name").unwrap_or_default();
        let Some((_, native)) = METRICS.iter().find(|(old, _)| *old == name.trim_start_matches("istio_")) else {
            return Move::none(&catalog::STATS_NULL_VM, format!("the Telemetry API has no metric {name}"));
        };
        let mut tags = Map::new();
        if let Some(Json::Object(dimensions)) = metric.take("dimensions") {
            tags.extend(dimensions.into_iter().map(|(tag, value)| (tag, json!({ "value": value }))));
        }
        for tag in metric.texts("tags_to_remove") {
            tags.insert(tag, json!({ "operation": "REMOVE" }));
        }
        let mut one = Map::new();
        let mut matched = json!({ "metric": native });
        if let Some(mode) = mode(part) {
            matched["mode"] = mode.into();
        }
        one.insert("match".to_owned(), matched);
        if metric.flag("drop") == Some(true) {
            one.insert("disabled".to_owned(), true.into());
        }
        if !tags.is_empty() {
            one.insert("tagOverrides".to_owned(), Json::Object(tags));
        }
        if !metric.is_empty() {
            return Move::none(&catalog::STATS_NULL_VM, left("a metric of the Telemetry API", [&metric]));
        }
        overrides.push(Json::Object(one));
    }
    found.add_home("Telemetry", "metrics.overrides", 0);
    let metrics = json!({ "providers": [{ "name": "prometheus" }], "overrides": overrides });
    found.actions.push(Action::Object(object(cx, "metrics", &[metrics])));
    found
}

/// `SERVER` or `CLIENT`, if a patch is for one direction.
pub(in crate::migrate) fn mode(part: &Part<'_>) -> Option<&'static str> {
    match part.reach.context {
        PatchContext::SidecarInbound if part.reach.proxies == Proxies::Sidecar => Some("SERVER"),
        PatchContext::SidecarOutbound => Some("CLIENT"),
        _ => None,
    }
}

/// A Telemetry with one list.
pub(in crate::migrate) fn object(cx: &Cx<'_>, list: &str, items: &[Json]) -> Json {
    let mut spec = attachment(cx.filter);
    spec.insert(list.to_owned(), items.to_vec().into());
    let mut object = draft::object("telemetry.istio.io/v1", "Telemetry", cx.filter, spec);
    // A selector applies only in the workload's namespace, which may be the root namespace.
    if let (true, Some(namespaces)) = (Mesh::is_narrow(cx.filter), cx.mesh.namespaces(cx.filter))
        && namespaces.len() == 1
        && let Some(namespace) = namespaces.into_iter().next()
    {
        object["metadata"]["namespace"] = namespace.into();
    }
    object
}

/// The limits of a Telemetry: no ports and filter chains, one object per workload.
pub(in crate::migrate) fn scope(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) {
    let narrowed = part.reach.narrowed.clone().or_else(|| part.reach.port.map(|port| format!("port {port}")));
    if let Some(narrowed) = narrowed {
        let reason = format!("Telemetry applies to a whole workload; the filter is for {narrowed} only");
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Ports, State::Broken, reason);
    }
    if cx.filter.namespace == cx.mesh.root && Mesh::is_narrow(cx.filter) {
        match cx.mesh.namespaces(cx.filter) {
            Some(namespaces) if namespaces.len() == 1 => {}
            Some(_) => found.guard(
                Concern::Namespace,
                State::Broken,
                "a Telemetry with a selector applies in its own namespace only; the filter selects workloads in several",
            ),
            None if part.reach.proxies == Proxies::Gateway => {}
            None => found.guard(
                Concern::Namespace,
                State::Undecided,
                "a Telemetry with a selector applies in its own namespace only, and the namespaces of the workloads are unknown",
            ),
        }
    }
    if let Some(other) = rival(cx) {
        found.guard(
            Concern::Existing,
            State::Broken,
            format!(
                "Telemetry {}/{} is for the same workloads, and istiod uses only one of two: merge by hand",
                other.namespace, other.name
            ),
        );
    }
}

/// Labels of a Telemetry's selector; `None` if it is for its whole namespace.
fn labels_of(object: &Object) -> Option<Map<String, Json>> {
    let spec = &object.document.to_json()["spec"];
    let labels = spec.pointer("/selector/matchLabels").and_then(Json::as_object).cloned().unwrap_or_default();
    let referred = spec["targetRef"].is_object() || spec["targetRefs"].as_array().is_some_and(|list| !list.is_empty());
    (!labels.is_empty() || referred).then_some(labels)
}

/// A Telemetry for the same workloads: istiod reads the oldest of those with a selector, and of those without one.
fn rival<'a>(cx: &Cx<'a>) -> Option<&'a Object> {
    let narrow = Mesh::is_narrow(cx.filter);
    let own = cx.filter.selector.clone().unwrap_or_default();
    let namespaces = cx.mesh.namespaces(cx.filter);
    let same = |object: &&Object| {
        let here = object.namespace == cx.filter.namespace && !narrow
            || narrow && namespaces.as_ref().is_some_and(|all| all.contains(object.namespace.as_str()));
        let labels = labels_of(object);
        if !here || labels.is_some() != narrow {
            return false;
        }
        let labels = labels.unwrap_or_default();
        let meets = |of: &Labels| {
            labels.iter().all(|(key, value)| of.get(key).is_some_and(|own| value.as_str() == Some(own.as_str())))
        };
        let mut workloads = cx.mesh.workloads(cx.filter).peekable();
        if !narrow || labels.is_empty() || workloads.peek().is_none() {
            // Without workloads, labels that no selector excludes may be on the same pods.
            return labels
                .iter()
                .all(|(key, value)| own.get(key).is_none_or(|own| value.as_str() == Some(own.as_str())));
        }
        workloads.any(|one| meets(&one.labels))
    };
    cx.mesh.policies("Telemetry", cx.filter).into_iter().find(same)
}

/// The Telemetry objects that the written one comes before, and that set a list: those of the mesh and of its namespace without a
/// selector, the mesh's first.
pub(in crate::migrate) fn above<'a>(cx: &Cx<'a>, list: &str) -> Vec<&'a Object> {
    let narrow = Mesh::is_narrow(cx.filter);
    let mut all: Vec<&Object> = cx
        .mesh
        .policies("Telemetry", cx.filter)
        .into_iter()
        .filter(|object| labels_of(object).is_none())
        .filter(|object| narrow || object.namespace != cx.filter.namespace)
        .filter(|object| object.document.under(&["spec", list]).is_some())
        .collect();
    all.sort_by_key(|object| object.namespace != cx.mesh.root);
    all
}
