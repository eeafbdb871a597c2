//! EF701: an access log that the Telemetry API configures.

use crate::declare_rule;
use crate::lint::better::{self, Parts, put};
use crate::lint::manifest::{self, Instead};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::release::Release;
use serde_json::{Map, Value as Json, json};

declare_rule! {
    /// An access log merged into HTTP connection managers, which a Telemetry object would configure.
    ///
    /// # What it finds
    /// A MERGE into the HTTP connection manager that holds nothing but access logs to a file or to a gRPC service, with
    /// fields that an extension provider of the mesh has too.
    ///
    /// # Why it matters
    /// MERGE appends: beside the log of `meshConfig.accessLogFile` every request is logged twice. The filter also
    /// depends on names that istiod generates. A Telemetry object replaces the log and is checked by the API server.
    ///
    /// # How to fix
    /// Name the log as an extension provider of the mesh and switch it on with the Telemetry object shown.
    ///
    /// # References
    /// Istio: Telemetry API (`telemetry.istio.io/v1` since 1.22), MeshConfig `extensionProviders`.
    "EF701" "access-log-beside-telemetry" Native Info => check
}

const FILE: &str = "envoy.extensions.access_loggers.file.v3.FileAccessLog";
const GRPC: &str = "envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (candidate, mut config) in better::managers(cx) {
        let logs = config.list("access_log");
        if logs.is_empty() || !config.done() || candidate.reach.port.is_some() {
            continue;
        }
        let filter = candidate.view.filter;
        let Some(mode) = candidate.reach.mode(filter) else { continue };
        let several = logs.len() > 1;
        let name = |index: usize| if several { format!("{}-{index}", filter.name) } else { filter.name.clone() };
        let read: Option<Vec<Log>> =
            logs.into_iter().enumerate().map(|(index, log)| provider(cx, log, name(index))).collect();
        let Some(read) = read else { continue };
        let mut rules = Vec::new();
        for log in &read {
            let mut one = Map::new();
            if let Some(mode) = mode {
                put(&mut one, "match/mode", mode);
            }
            one.insert("providers".to_owned(), json!([{ "name": log.name }]));
            if let Some(expression) = &log.expression {
                put(&mut one, "filter/expression", expression.as_str());
            }
            rules.push(Json::Object(one));
        }
        let providers: Vec<Json> = read.into_iter().filter_map(|log| log.definition).collect();
        let mut manifests = Vec::new();
        if !providers.is_empty() {
            manifests.push((
                "mesh configuration (ConfigMap istio, key mesh)".to_owned(),
                json!({ "extensionProviders": providers }),
            ));
        }
        let spec = Map::from_iter([("accessLogging".to_owned(), Json::from(rules))]);
        manifests.push((String::new(), manifest::object("telemetry.istio.io/v1", "Telemetry", filter, spec)));
        let instead = Instead {
            message: "a Telemetry object can write this access log".to_owned(),
            since: Release::OLDEST,
            manifests,
            notes: vec![
                "MERGE appends to `access_log`: where the mesh writes one already, every request is logged twice; \
                 Telemetry replaces it, for TCP connections too"
                    .to_owned(),
            ],
        };
        out.push(instead.finding(rule, &candidate.view, &["patch", "value"]));
    }
}

struct Log {
    name: String,
    definition: Option<Json>,
    expression: Option<String>,
}

fn provider(cx: &Context<'_>, mut log: Parts<'_>, name: String) -> Option<Log> {
    log.skip("name");
    let expression = match log.sub("filter") {
        None => None,
        Some(mut filter) => {
            let mut comparison = filter.sub("status_code_filter/comparison")?;
            let operator = comparison.text("op").unwrap_or_default();
            let code = comparison.number("value/default_value")?;
            comparison.skip("value/runtime_key");
            // An absent operator is EQ, the first of the enum.
            let sign = match operator.as_str() {
                "GE" => ">=",
                "LE" => "<=",
                "" | "EQ" => "==",
                _ => return None,
            };
            (filter.done() && comparison.done()).then(|| Some(format!("response.code {sign} {code}")))?
        }
    };
    let mut definition = Map::new();
    if let Some(mut file) = log.clone().typed("typed_config", FILE) {
        let path = file.text("path")?;
        let text = file.text("log_format/text_format_source/inline_string");
        let text = text.or_else(|| file.text("log_format/text_format")).or_else(|| file.text("format"));
        let labels = file.json("log_format/json_format").or_else(|| file.json("json_format"));
        let omit = file.flag("log_format/omit_empty_values");
        if !file.done() {
            return None;
        }
        log.skip("typed_config");
        if path == "/dev/stdout" && text.is_none() && labels.is_none() && omit.is_none() {
            // The provider `envoy` exists in every mesh.
            return log.done().then_some(Log { name: "envoy".to_owned(), definition: None, expression });
        }
        put(&mut definition, "name", name.as_str());
        put(&mut definition, "envoyFileAccessLog/path", path);
        if let Some(text) = text {
            put(&mut definition, "envoyFileAccessLog/logFormat/text", text);
        }
        if let Some(labels) = labels {
            put(&mut definition, "envoyFileAccessLog/logFormat/labels", labels);
        }
        if omit == Some(true) {
            put(&mut definition, "envoyFileAccessLog/omitEmptyValues", true);
        }
    } else {
        let mut grpc = log.typed("typed_config", GRPC)?;
        let cluster = grpc.text("common_config/grpc_service/envoy_grpc/cluster_name")?;
        let log_name = grpc.text("common_config/log_name");
        let (service, port) = better::service_of_cluster(cx, &cluster)?;
        grpc.skip("common_config/transport_api_version");
        put(&mut definition, "name", name.as_str());
        put(&mut definition, "envoyHttpAls/service", service);
        put(&mut definition, "envoyHttpAls/port", port);
        if let Some(log_name) = log_name {
            put(&mut definition, "envoyHttpAls/logName", log_name);
        }
        for (from, to) in [
            ("additional_request_headers_to_log", "envoyHttpAls/additionalRequestHeadersToLog"),
            ("additional_response_headers_to_log", "envoyHttpAls/additionalResponseHeadersToLog"),
            ("additional_response_trailers_to_log", "envoyHttpAls/additionalResponseTrailersToLog"),
            ("common_config/filter_state_objects_to_log", "envoyHttpAls/filterStateObjectsToLog"),
        ] {
            if let Some(list) = grpc.json(from) {
                put(&mut definition, to, list);
            }
        }
        if !grpc.done() {
            return None;
        }
    }
    log.done().then_some(Log { name, definition: Some(Json::Object(definition)), expression })
}
