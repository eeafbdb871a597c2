//! EF703: settings of Istio's metrics that the Telemetry API has.

use crate::declare_rule;
use crate::lint::better::{self, Parts, put};
use crate::lint::manifest::{self, Instead};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation};
use crate::model::release::Release;
use serde_json::{Map, Value as Json, json};

declare_rule! {
    /// Tags of Istio's metrics changed in the filter `istio.stats`, which a Telemetry object would change.
    ///
    /// # What it finds
    /// A MERGE or REPLACE of the filter `istio.stats` whose configuration holds only metric tags to add or remove, metrics
    /// to drop and the reporting interval of TCP.
    ///
    /// # Why it matters
    /// istiod writes the filter's configuration from Telemetry objects; a REPLACE loses what it writes, a MERGE appends.
    ///
    /// # How to fix
    /// Write the Telemetry object shown.
    ///
    /// # References
    /// Istio: Telemetry API, Metrics (`telemetry.istio.io/v1` since 1.22).
    "EF703" "metrics-beside-telemetry" Native Info => check
}

const CONFIG: &str = "stats.PluginConfig";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for mut candidate in better::candidates(cx, ApplyTo::HttpFilter) {
        let filter = candidate.view.filter;
        let sub_filter = match &candidate.view.patch.object {
            ObjectMatch::Listener(listener) => listener
                .filter_chain
                .as_ref()
                .and_then(|chain| chain.filter.as_ref())
                .and_then(|filter| filter.sub_filter.as_deref()),
            _ => None,
        };
        let changes = matches!(candidate.operation, Operation::Merge | Operation::Replace);
        if sub_filter != Some("istio.stats") || !changes || candidate.reach.port.is_some() {
            continue;
        }
        let Some(mode) = candidate.reach.mode(filter) else { continue };
        candidate.parts.skip("name");
        let Some(mut config) = candidate.parts.typed("typed_config", CONFIG) else { continue };
        if !candidate.parts.done() {
            continue;
        }
        let overrides: Option<Vec<Json>> =
            config.list("metrics").into_iter().map(|metric| metric_override(metric, mode)).collect();
        let Some(overrides) = overrides else { continue };
        let mut metrics = Map::from_iter([("providers".to_owned(), json!([{ "name": "prometheus" }]))]);
        if !overrides.is_empty() {
            metrics.insert("overrides".to_owned(), overrides.into());
        }
        if let Some(interval) = config.text("tcp_reporting_duration") {
            put(&mut metrics, "reportingInterval", interval);
        }
        if !config.done() || metrics.len() == 1 {
            continue;
        }
        let spec = Map::from_iter([("metrics".to_owned(), json!([metrics]))]);
        let instead = Instead {
            message: "a Telemetry object can change these metrics".to_owned(),
            since: Release::OLDEST,
            manifests: vec![(String::new(), manifest::object("telemetry.istio.io/v1", "Telemetry", filter, spec))],
            notes: vec!["istiod writes the configuration of `istio.stats` from Telemetry objects".to_owned()],
        };
        out.push(instead.finding(rule, &candidate.view, &["patch", "value"]));
    }
}

fn metric_override(mut metric: Parts<'_>, mode: Option<&str>) -> Option<Json> {
    let mut map = Map::new();
    match metric.text("name").as_deref() {
        None | Some("") => put(&mut map, "match/metric", "ALL_METRICS"),
        Some(name) => put(&mut map, "match/metric", known(name)?),
    }
    if let Some(mode) = mode {
        put(&mut map, "match/mode", mode);
    }
    if metric.flag("drop") == Some(true) {
        put(&mut map, "disabled", true);
    }
    let mut tags = Map::new();
    for (name, value) in metric.take("dimensions").iter().flat_map(|tree| tree.entries().to_vec()) {
        tags.insert(name.into_owned(), json!({ "value": value.as_str()? }));
    }
    for name in metric.take("tags_to_remove").iter().flat_map(|tree| tree.items().to_vec()) {
        tags.insert(name.as_str()?.to_owned(), json!({ "operation": "REMOVE" }));
    }
    if !tags.is_empty() {
        map.insert("tagOverrides".to_owned(), Json::Object(tags));
    }
    metric.done().then_some(Json::Object(map))
}

/// The API's name of a metric.
fn known(name: &str) -> Option<&'static str> {
    Some(match name {
        "requests_total" => "REQUEST_COUNT",
        "request_duration_milliseconds" => "REQUEST_DURATION",
        "request_bytes" => "REQUEST_SIZE",
        "response_bytes" => "RESPONSE_SIZE",
        "tcp_connections_opened_total" => "TCP_OPENED_CONNECTIONS",
        "tcp_connections_closed_total" => "TCP_CLOSED_CONNECTIONS",
        "tcp_sent_bytes_total" => "TCP_SENT_BYTES",
        "tcp_received_bytes_total" => "TCP_RECEIVED_BYTES",
        "request_messages_total" => "GRPC_REQUEST_MESSAGES",
        "response_messages_total" => "GRPC_RESPONSE_MESSAGES",
        _ => return None,
    })
}
