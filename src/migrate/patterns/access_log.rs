//! Access logs merged into the HTTP connection manager: Telemetry and extension providers.

use super::log_filter::{self, Condition};
use super::provider::{PROVIDER, service_of};
use super::telemetry;
use crate::migrate::base::catalog;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::{Fields, left, set_at};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::attach::{self, Directions};
use crate::migrate::output::draft::Action;
use crate::source::ErrorMessage;
use serde_json::{Map, Value as Json, json};

const FILE: &str = "envoy.extensions.access_loggers.file.v3.FileAccessLog";
const STDOUT: &str = "envoy.extensions.access_loggers.stream.v3.StdoutAccessLog";
const OTEL: &str = "envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig";
const GRPC: &str = "envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig";

/// The move if the value sets only access logs.
pub(in crate::migrate) fn of_manager(cx: &Cx<'_>, part: &Part<'_>, config: &Fields) -> Option<Move> {
    let mut config = config.clone();
    let logs = config.list("access_log");
    if logs.is_empty() || !config.is_empty() {
        return None;
    }
    let mut found = Move::new(&catalog::ACCESS_LOG);
    found.add_home("Telemetry", "accessLogging", 0);
    attach::check(cx, part, &mut found, Directions::Mode);
    telemetry::scope(cx, part, &mut found);
    found
        .difference(Kind::Behavior, "the listener's own log (connections that match no chain) changes or is added too");
    found.difference(Kind::Behavior, "TCP connections are also logged this way; the filter covers HTTP only");
    found.guard(Concern::TcpChains, State::Review, "a Telemetry also logs TCP connections of these workloads");
    let mut entries = Vec::new();
    let mesh_log = mesh_providers(cx, &mut found);
    let mut plain: Vec<Json> = mesh_log.clone();
    for (number, log) in logs.into_iter().enumerate() {
        let suffix = if number == 0 { String::new() } else { format!("-{}", number + 1) };
        let (provider, condition) = match provider(cx, log, &mut found) {
            Ok(read) => read,
            Err(reason) => return Some(Move::none(&catalog::ACCESS_LOG, reason)),
        };
        let name = super::provider::name(cx, &suffix, &provider);
        let mut one = json!({ "name": name });
        crate::migrate::base::value::merge(&mut one, &provider);
        found.actions.push(Action::Mesh(json!({ "extensionProviders": [one] })));
        match condition {
            None => plain.push(json!({ "name": name })),
            Some(Condition { expression, effects }) => {
                found.add_home("Telemetry", "accessLogging.filter", 0);
                effects.into_iter().for_each(|effect| found.difference(Kind::Behavior, effect));
                found.difference(
                    Kind::Behavior,
                    "the native object replaces the mesh's log here; MERGE adds a second log",
                );
                entries.push(entry(part, &[json!({ "name": name })], Some(&expression)));
            }
        }
    }
    if entries.is_empty() {
        entries.push(entry(part, &plain, None));
    }
    if let Some(mode) = telemetry::mode(part)
        && !mesh_log.is_empty()
    {
        // A Telemetry of a workload replaces the mesh's log in both directions.
        let other = if mode == "SERVER" { "CLIENT" } else { "SERVER" };
        entries.push(json!({ "match": { "mode": other }, "providers": mesh_log }));
    }
    found.add_home("MeshConfig", "extensionProviders", 0);
    found.actions.push(Action::Object(telemetry::object(cx, "accessLogging", &entries)));
    Some(found)
}

fn entry(part: &Part<'_>, providers: &[Json], condition: Option<&str>) -> Json {
    let mut one = Map::new();
    if let Some(mode) = telemetry::mode(part) {
        one.insert("match".to_owned(), json!({ "mode": mode }));
    }
    one.insert("providers".to_owned(), providers.to_vec().into());
    if let Some(expression) = condition {
        one.insert("filter".to_owned(), json!({ "expression": expression }));
    }
    Json::Object(one)
}

/// The providers that log without the filter: those of Telemetry objects for the whole mesh or namespace, of
/// `defaultProviders`, or the text log of `accessLogFile`.
fn mesh_providers(cx: &Cx<'_>, found: &mut Move) -> Vec<Json> {
    let Some(mesh) = cx.mesh.mesh_config() else {
        found.guard(
            Concern::Existing,
            State::Undecided,
            "the mesh settings are not in the input, so it is unknown whether the mesh logs without the filter; the Telemetry would turn that log off",
        );
        return Vec::new();
    };
    let defaults: Vec<String> = mesh
        .pointer("/defaultProviders/accessLogging")
        .and_then(Json::as_array)
        .map(|list| list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
        .unwrap_or_default();
    let above = telemetry::above(cx, "accessLogging");
    let mut names = defaults.clone();
    for object in &above {
        let entries = object.document.to_json()["spec"]["accessLogging"].clone();
        match logging(&entries, &names) {
            Some(logging) => names = logging,
            None => found.guard(
                Concern::Existing,
                State::Undecided,
                format!(
                    "Telemetry {}/{} sets access logs by direction or condition, and the written object replaces them for these workloads: copy its entries into it",
                    object.namespace, object.name
                ),
            ),
        }
    }
    // istiod reads `accessLogFile` only where no Telemetry says anything about logs.
    let file = mesh.get("accessLogFile").and_then(Json::as_str).is_some_and(|file| !file.is_empty());
    if above.is_empty() && names.is_empty() && file {
        names.push("envoy".to_owned());
    }
    names.into_iter().map(|name| json!({ "name": name })).collect()
}

/// The providers that log after the entries of a Telemetry (`mergeLogs` in istiod's `telemetry.go`); `None` if they depend on more
/// than the workload.
fn logging(entries: &Json, above: &[String]) -> Option<Vec<String>> {
    let entries = entries.as_array()?;
    let mut own: Vec<String> = Vec::new();
    for entry in entries {
        if entry.get("match").is_some() || entry.get("filter").is_some() {
            return None;
        }
        let named = entry["providers"].as_array().into_iter().flatten();
        let named: Vec<String> = named.filter_map(|one| one["name"].as_str().map(str::to_owned)).collect();
        match (entry["disabled"] == true, entries.len()) {
            (false, _) if named.is_empty() => own.extend_from_slice(above),
            (false, _) => own.extend(named),
            (true, 1) if named.is_empty() => {}
            (true, 1) => own.extend(above.iter().filter(|name| !named.contains(name)).cloned()),
            (true, _) => return None,
        }
    }
    Some(own)
}

fn provider(cx: &Cx<'_>, mut log: Fields, found: &mut Move) -> Result<(Json, Option<Condition>), ErrorMessage> {
    log.skip("name");
    let condition = match log.sub("filter") {
        None => None,
        Some(filter) => Some(log_filter::condition(filter)?),
    };
    let provider = if let Some(mut file) = log.typed("typed_config", FILE) {
        let path = file.text("path").ok_or("the log has no path")?;
        of_file(&mut file, &path, found)?
    } else if let Some(mut out) = log.typed("typed_config", STDOUT) {
        of_file(&mut out, "/dev/stdout", found)?
    } else if let Some(grpc) = log.typed("typed_config", GRPC) {
        of_service(cx, grpc, found)?
    } else if let Some(otel) = log.typed("typed_config", OTEL) {
        of_collector(cx, otel, found)?
    } else {
        return Err("no extension provider writes this kind of log".into());
    };
    if !log.is_empty() {
        return Err(left(PROVIDER, [&log]).into());
    }
    Ok((provider, condition))
}

fn of_file(file: &mut Fields, path: &str, found: &mut Move) -> Result<Json, ErrorMessage> {
    let mut one = json!({ "path": path });
    let text = file
        .text("log_format/text_format_source/inline_string")
        .or_else(|| file.text("log_format/text_format"))
        .or_else(|| file.text("format"));
    if let Some(text) = text {
        // "Istio will insert a newline ('\n') on all formats (if missing)" (`logFormat` of the mesh settings).
        if !text.ends_with('\n') {
            found.difference(Kind::Behavior, "each entry ends with a newline, which the filter's format lacks");
        }
        one["logFormat"] = json!({ "text": text });
    } else if let Some(labels) = file.take("log_format/json_format").or_else(|| file.take("json_format")) {
        if labels.as_object().is_none_or(|map| map.values().any(|value| !value.is_string())) {
            return Err("a provider's labels are strings; this JSON format has other values".into());
        }
        one["logFormat"] = json!({ "labels": labels });
        found.difference(Kind::Metadata, "empty `json_format_options` are written out");
    } else {
        found.difference(
            Kind::Behavior,
            "entries have the mesh's format (`accessLogFormat`, or istiod's default), since a provider cannot choose Envoy's default",
        );
    }
    if !file.is_empty() {
        return Err(left(PROVIDER, [file]).into());
    }
    Ok(json!({ "envoyFileAccessLog": one }))
}

/// The cluster that a log is sent to.
const LOG_CLUSTER: &str = "common_config/grpc_service/envoy_grpc/cluster_name";

/// Why a log that names no cluster does not move.
fn no_cluster(log: &Fields) -> ErrorMessage {
    match log.peek("common_config/grpc_service/google_grpc/target_uri").and_then(Json::as_str) {
        Some(target) => format!(
            "the log goes to {target} by a gRPC client of its own (`google_grpc`), without mutual TLS; a provider sends it through istiod's cluster of a Service: set `meshConfig.extensionProviders` and a Telemetry object by hand"
        )
        .into(),
        None => "the log names no cluster".into(),
    }
}

fn of_service(cx: &Cx<'_>, mut grpc: Fields, found: &mut Move) -> Result<Json, ErrorMessage> {
    let cluster = grpc.text(LOG_CLUSTER).ok_or_else(|| no_cluster(&grpc))?;
    let (host, port) = service_of(cx, &cluster)?;
    let mut one = json!({ "service": host, "port": port });
    if let Some(name) = grpc.text("common_config/log_name") {
        one["logName"] = name.into();
    }
    grpc.skip("common_config/transport_api_version");
    for (from, to) in [
        ("additional_request_headers_to_log", "additionalRequestHeadersToLog"),
        ("additional_response_headers_to_log", "additionalResponseHeadersToLog"),
        ("additional_response_trailers_to_log", "additionalResponseTrailersToLog"),
    ] {
        let headers = grpc.texts(from);
        if !headers.is_empty() {
            one[to] = headers.into();
        }
    }
    let states = grpc.texts("common_config/filter_state_objects_to_log");
    if states.is_empty() {
        found.difference(Kind::Metadata, "the log entry also carries the peer metadata");
    } else {
        one["filterStateObjectsToLog"] = states.into();
    }
    if !grpc.is_empty() {
        return Err(left(PROVIDER, [&grpc]).into());
    }
    found.add_home("MeshConfig", "extensionProviders.envoyHttpAls", 0);
    found
        .difference(Kind::Behavior, "the `:authority` of the gRPC call is the host name instead of the cluster's name");
    found.difference(Kind::Position, "the order of the loggers changes; each still writes every request");
    Ok(json!({ "envoyHttpAls": one }))
}

/// A log in OpenTelemetry's format (`openTelemetryLog` in istiod's `telemetry_logging.go`).
fn of_collector(cx: &Cx<'_>, mut log: Fields, found: &mut Move) -> Result<Json, ErrorMessage> {
    let cluster = log.text(LOG_CLUSTER).ok_or_else(|| no_cluster(&log))?;
    let (host, port) = service_of(cx, &cluster)?;
    let mut one = json!({ "service": host, "port": port });
    if let Some(name) = log.text("common_config/log_name") {
        one["logName"] = name.into();
    }
    log.skip("common_config/transport_api_version");
    if let Some(text) = log.text("body/string_value") {
        set_at(&mut one, "logFormat/text", text);
    } else {
        found.difference(Kind::Behavior, "each entry also has a body: the text of istiod's default format");
    }
    let mut labels = Map::new();
    for mut attribute in log.list("attributes/values") {
        let name = attribute.text("key").ok_or("an attribute has no name")?;
        let text = attribute.text("value/string_value");
        let text = text
            .filter(|_| attribute.is_empty())
            .ok_or("a provider's labels are texts; an attribute of the log is not")?;
        labels.insert(name, text.into());
    }
    if !labels.is_empty() {
        set_at(&mut one, "logFormat/labels", Json::Object(labels));
        found.difference(Kind::Position, "the attributes are sorted by name");
    }
    if log.flag("disable_builtin_labels") != Some(true) {
        found.difference(
            Kind::Behavior,
            "entries lack the built-in labels of the resource (`log_name`, `zone_name`, `cluster_name`, `node_name`)",
        );
    }
    if !log.is_empty() {
        return Err(left(PROVIDER, [&log]).into());
    }
    found.difference(Kind::Metadata, "the log entry also carries the peer metadata");
    found.add_home("MeshConfig", "extensionProviders.envoyOtelAls", 0);
    found
        .difference(Kind::Behavior, "the `:authority` of the gRPC call is the host name instead of the cluster's name");
    Ok(json!({ "envoyOtelAls": one }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_telemetry_above_decides_what_the_mesh_logs() {
        let above = ["a".to_owned(), "b".to_owned()];
        let of = |entries: Json| logging(&entries, &above);
        assert_eq!(of(json!([{ "disabled": true }])), Some(Vec::new()));
        assert_eq!(of(json!([{ "providers": [{ "name": "c" }] }])), Some(vec!["c".to_owned()]));
        assert_eq!(of(json!([{ "disabled": true, "providers": [{ "name": "a" }] }])), Some(vec!["b".to_owned()]));
        assert_eq!(of(json!([{}])), Some(above.to_vec()));
        assert_eq!(of(json!([{ "filter": { "expression": "x" } }])), None);
        assert_eq!(of(json!([{ "match": { "mode": "SERVER" }, "disabled": true }])), None);
    }
}
