//! Settings merged into the HTTP connection manager: `proxy.istio.io/config`, mesh settings, environment variables.

use super::access_log;
use super::certificate;
use super::idle;
use super::setting::{annotate, place, write};
use super::tracing;
use crate::migrate::base::catalog::{self, Pattern};
use crate::migrate::base::nearest;
use crate::migrate::base::reach::names_manager;
use crate::migrate::base::step::{BUILT_IN, Cx, Move, Part, has};
use crate::migrate::base::value::{Fields, has_entry, set_at};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::directions;
use crate::migrate::guards::whole::{Reads, of_pattern, titled, waypoints, whole_proxy};
use crate::migrate::objects::mesh::Proxies;
use crate::migrate::output::draft::Action;
use crate::migrate::settings_of;
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::inventory::Workload;
use crate::model::proxy_config::ANNOTATION;
use crate::proto::decode::parse_go_duration;
use crate::source::ErrorMessage;
use serde_json::{Value as Json, json};

/// Message name of the HTTP connection manager.
pub(in crate::migrate) const HCM: &str =
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/// Titles of settings that those of their patterns do not name.
const REQUEST_ID: &str = "request ID header";
const CLIENT: &str = "address of the client";

/// A field of the HTTP connection manager and the corresponding setting.
struct Setting {
    field: &'static str,
    home: &'static str,
    since: u16,
    reads: Reads,
    pattern: &'static Pattern,
}

const fn setting(
    field: &'static str,
    home: &'static str,
    since: u16,
    reads: Reads,
    pattern: &'static Pattern,
) -> Setting {
    Setting { field, home, since, reads, pattern }
}

/// From istiod `pilot/pkg/networking/core/connection_settings.go` and `gateway.go`, release 1.31. The recordings in
/// `testdata/migrate` cover most of them; the same code writes the others.
const SETTINGS: &[Setting] = &[
    setting(
        "common_http_protocol_options/idle_timeout",
        "connectionSettings/httpIdleTimeout",
        31,
        Reads::All,
        &catalog::HCM_TIMEOUTS,
    ),
    setting(
        "common_http_protocol_options/max_connection_duration",
        "connectionSettings/httpMaxConnectionDuration",
        31,
        Reads::All,
        &catalog::HCM_TIMEOUTS,
    ),
    setting(
        "common_http_protocol_options/max_stream_duration",
        "connectionSettings/httpMaxStreamDuration",
        31,
        Reads::All,
        &catalog::HCM_TIMEOUTS,
    ),
    setting(
        "common_http_protocol_options/headers_with_underscores_action",
        "connectionSettings/httpHeadersWithUnderscoresAction",
        31,
        Reads::All,
        &catalog::HCM_TIMEOUTS,
    ),
    setting("stream_idle_timeout", "connectionSettings/httpStreamIdleTimeout", 31, Reads::All, &catalog::HCM_TIMEOUTS),
    setting("request_timeout", "connectionSettings/httpRequestTimeout", 31, Reads::All, &catalog::HCM_TIMEOUTS),
    setting(
        "request_headers_timeout",
        "connectionSettings/httpRequestHeadersTimeout",
        31,
        Reads::All,
        &catalog::HCM_TIMEOUTS,
    ),
    setting("drain_timeout", "connectionSettings/httpDrainTimeout", 31, Reads::All, &catalog::HCM_TIMEOUTS),
    setting(
        "http2_protocol_options/max_concurrent_streams",
        "connectionSettings/httpMaxConcurrentStreams",
        31,
        Reads::All,
        &catalog::HTTP2_OPTIONS,
    ),
    setting(
        "http2_protocol_options/initial_stream_window_size",
        "connectionSettings/http2InitialStreamWindowSize",
        31,
        Reads::All,
        &catalog::HTTP2_OPTIONS,
    ),
    setting(
        "http2_protocol_options/initial_connection_window_size",
        "connectionSettings/http2InitialConnectionWindowSize",
        31,
        Reads::All,
        &catalog::HTTP2_OPTIONS,
    ),
    setting("merge_slashes", "connectionSettings/httpMergeSlashes", 31, Reads::All, &catalog::PATH_NORMALIZATION),
    setting(
        "path_with_escaped_slashes_action",
        "connectionSettings/httpPathWithEscapedSlashesAction",
        31,
        Reads::All,
        &catalog::PATH_NORMALIZATION,
    ),
    setting("xff_num_trusted_hops", "gatewayTopology/numTrustedProxies", 0, Reads::Gateways, &catalog::TRUSTED_HOPS),
    setting(
        "forward_client_cert_details",
        "gatewayTopology/forwardClientCertDetails",
        0,
        Reads::Gateways,
        &catalog::CLIENT_CERT_HEADER,
    ),
    setting("server_name", "proxyHeaders/server/value", 0, Reads::All, &catalog::SERVER_HEADER),
];

/// Fields of the HTTP connection manager without a native API, with their patterns, what they do if not what the pattern's
/// title says, and why.
const HOMELESS: &[(&str, &Pattern, Option<&str>, &str)] = &[
    ("max_request_headers_kb", &catalog::HEADER_SIZE, None, nearest::HEADER_SIZE),
    ("local_reply_config", &catalog::LOCAL_REPLY, None, nearest::LOCAL_REPLY),
    (
        "skip_xff_append",
        &catalog::TRUSTED_HOPS,
        Some("x-forwarded-for header"),
        "`skip_xff_append` has no native field: keep the EnvoyFilter",
    ),
    (
        "http_protocol_options/header_key_format",
        &catalog::HEADER_CASE,
        None,
        "only `preserve_case` has a native field (`proxyHeaders.preserveHttp1HeaderCase`): keep the EnvoyFilter",
    ),
    (
        "server_header_transformation",
        &catalog::SERVER_HEADER,
        None,
        "APPEND_IF_ABSENT has no native value: keep the EnvoyFilter",
    ),
    (
        "use_remote_address",
        &catalog::TRUSTED_HOPS,
        Some(CLIENT),
        "`use_remote_address` has no native field: istiod sets it to true on gateways and to false elsewhere. Keep the EnvoyFilter",
    ),
];

/// Finds the settings in the patches that merge into the HTTP connection manager.
pub(in crate::migrate) fn find(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    let pairs = directions::both(cx, parts, &|part| {
        part.apply_to() == ApplyTo::NetworkFilter
            && part.operation() == Operation::Merge
            && part.config_type() == HCM
            && names_manager(&part.built.object)
    });
    for part in parts.iter_mut().filter(|part| part.found.is_none()) {
        let merges = part.apply_to() == ApplyTo::NetworkFilter && part.operation() == Operation::Merge;
        if merges && part.config_type() == idle::TCP_PROXY {
            if let Some(found) = idle::tcp(cx, part) {
                part.answer(found);
            }
            continue;
        }
        if !merges || part.config_type() != HCM || !names_manager(&part.built.object) {
            continue;
        }
        let mut whole = part.value.clone();
        whole.skip("name");
        let Some(mut config) = whole.typed("typed_config", HCM) else { continue };
        if !whole.is_empty() {
            continue;
        }
        if let Some(found) =
            access_log::of_manager(cx, part, &config).or_else(|| tracing::of_manager(cx, part, &config))
        {
            part.answer(found);
            continue;
        }
        let found = settings(cx, part, &mut config);
        part.answer(found);
    }
    directions::share(parts, &pairs);
}

fn settings(cx: &Cx<'_>, part: &Part<'_>, config: &mut Fields) -> Move {
    let before = config.clone();
    let mut found = Move::new(&catalog::OTHER);
    let mut proxy = json!({});
    let mut lacking: Vec<(&'static Pattern, String)> = Vec::new();
    if let Some(already) = by_default(cx, part, config) {
        found = already;
    }
    headers(cx, part, config, &mut found, &mut proxy);
    normalization(cx, part, config, &mut found);
    for setting in SETTINGS {
        if config.peek(setting.field).is_some()
            && let Some(reason) = one(cx, part, config, setting, &mut found, &mut proxy)
        {
            lacking.push((setting.pattern, reason));
        }
    }
    if keeps_case(&before) && !has(cx, 25) {
        let reason = format!(
            "`proxyHeaders.preserveHttp1HeaderCase` is new in Istio 1.25; the target release is {}.{}",
            cx.to.major, cx.to.minor
        );
        lacking.push((&catalog::HEADER_CASE, reason));
    }
    if found.pattern == &catalog::OTHER {
        return match lacking.into_iter().next() {
            Some((pattern, reason)) => Move::none(pattern, reason),
            None => homeless(&before),
        };
    }
    found.notes.extend(lacking.into_iter().map(|(_, reason)| reason));
    if proxy.as_object().is_some_and(|map| !map.is_empty()) {
        write(cx, part, &mut found, proxy);
    }
    if !config.is_empty() {
        let mut value = json!({});
        if let Some(name) = part.value.peek("name") {
            set_at(&mut value, "name", name.clone());
        }
        set_at(&mut value, "typed_config/@type", format!("type.googleapis.com/{HCM}"));
        for (key, rest) in config.0.as_object().into_iter().flatten() {
            set_at(&mut value, &format!("typed_config/{key}"), rest.clone());
            if let Some((.., why)) = HOMELESS.iter().find(|(field, ..)| config.peek(field).is_some())
                && !why.is_empty()
            {
                let why = (*why).to_owned();
                if !found.notes.contains(&why) {
                    found.notes.push(why);
                }
            }
        }
        found.rest = Some(value);
    }
    found
}

/// Values that istiod generates anyway, so that no replacement is needed.
fn by_default(cx: &Cx<'_>, part: &Part<'_>, config: &mut Fields) -> Option<Move> {
    let mut found = None;
    if part.reach.proxies == Proxies::Gateway && config.peek("use_remote_address") == Some(&json!(true)) {
        found = Some(remote_address("gateways have `use_remote_address: true` without the filter"));
    }
    if part.reach.proxies == Proxies::Sidecar && config.peek("use_remote_address") == Some(&json!(false)) {
        found = Some(remote_address("sidecars have `use_remote_address: false` without the filter"));
    }
    if found.is_some() {
        config.skip("use_remote_address");
    }
    let disabled = is_set(cx, "/proxyHeaders/requestId/disabled", &true.into());
    if config.peek("generate_request_id") == Some(&json!(true)) && !disabled {
        config.skip("generate_request_id");
        let one = found.get_or_insert_with(|| Move::new(&catalog::SERVER_HEADER));
        one.set(REQUEST_ID);
        one.add_home(BUILT_IN, "generate_request_id", 0);
        one.difference(Kind::Metadata, "`generate_request_id: true`, Envoy's default, is no longer written out");
    }
    let chosen = cx.mesh.mesh_config().and_then(|mesh| mesh.pointer("/pathNormalization/normalization"));
    let base = chosen.and_then(Json::as_str).is_none_or(|word| word != "NONE");
    let more = config.peek("merge_slashes").is_some() || config.peek("path_with_escaped_slashes_action").is_some();
    let of_mesh = more && part_is_mesh_wide(cx, part) && mesh_normalization(config).is_some();
    if config.peek("normalize_path") == Some(&json!(true)) && base && !of_mesh {
        config.skip("normalize_path");
        let one = found.get_or_insert_with(|| Move::new(&catalog::PATH_NORMALIZATION));
        of_pattern(one, &catalog::PATH_NORMALIZATION);
        one.add_home(BUILT_IN, "normalize_path", 0);
        one.notes.push("istiod sets `normalize_path: true` unless `meshConfig.pathNormalization` is NONE".to_owned());
    }
    found
}

fn remote_address(note: &str) -> Move {
    let mut found = Move::new(&catalog::TRUSTED_HOPS).home(BUILT_IN, "use_remote_address", 0);
    found.set(CLIENT);
    found.notes.push(note.to_owned());
    found
}

/// The value of `meshConfig.pathNormalization` that does what the filter does; `None` if there is none.
fn mesh_normalization(config: &Fields) -> Option<&'static str> {
    if config.peek("merge_slashes") != Some(&json!(true)) {
        return None;
    }
    match config.peek("path_with_escaped_slashes_action") {
        None => Some("MERGE_SLASHES"),
        Some(action) => (action == "UNESCAPE_AND_FORWARD").then_some("DECODE_AND_MERGE_SLASHES"),
    }
}

fn part_is_mesh_wide(cx: &Cx<'_>, part: &Part<'_>) -> bool {
    cx.mesh.is_mesh_wide(cx.filter) && part.reach.context == PatchContext::Any && part.reach.is_whole()
}

/// Path settings of the whole mesh.
fn normalization(cx: &Cx<'_>, part: &Part<'_>, config: &mut Fields, found: &mut Move) {
    if !part_is_mesh_wide(cx, part) {
        return;
    }
    let Some(word) = mesh_normalization(config) else { return };
    let normalizes = config.peek("normalize_path") == Some(&json!(true));
    for field in ["normalize_path", "merge_slashes", "path_with_escaped_slashes_action"] {
        config.skip(field);
    }
    of_pattern(found, &catalog::PATH_NORMALIZATION);
    found.add_home("MeshConfig", "pathNormalization.normalization", 0);
    found.actions.push(Action::Mesh(json!({ "pathNormalization": { "normalization": word } })));
    waypoints(cx, found, "path normalization");
    let mesh = cx.mesh.mesh_config().cloned().unwrap_or_default();
    let existing = mesh.pointer("/pathNormalization/normalization").and_then(Json::as_str).unwrap_or("DEFAULT");
    let weaker = match existing {
        "NONE" => normalizes,
        "DEFAULT" | "BASE" => true,
        other => other == word || word == "DECODE_AND_MERGE_SLASHES",
    };
    if !weaker {
        let reason = format!(
            "`meshConfig.pathNormalization` is {existing}: the filter only adds to it, the setting {word} replaces it"
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Existing, State::Broken, reason);
    }
    if has_settings(cx) {
        let reason =
            "`connectionSettings` of a proxy come before `meshConfig.pathNormalization`; the filter comes before both";
        found.guard(Concern::Existing, State::Undecided, reason);
    }
}

/// Header settings that do not correspond to a single field.
fn headers(cx: &Cx<'_>, part: &Part<'_>, config: &mut Fields, found: &mut Move, proxy: &mut Json) {
    if config.peek("server_header_transformation") == Some(&json!("PASS_THROUGH")) {
        config.skip("server_header_transformation");
        annotate(found, proxy, &catalog::SERVER_HEADER, ("proxyHeaders/server/disabled", 0), true);
        found.difference(
            Kind::Behavior,
            "`server_name` is also removed: responses that Envoy generates have `server: envoy` instead of `istio-envoy`",
        );
        whole_proxy(cx, part, found, Reads::All, "the server header setting");
    }
    if config.peek("generate_request_id") == Some(&json!(false)) {
        config.skip("generate_request_id");
        titled(found, &catalog::SERVER_HEADER, REQUEST_ID);
        place(found, proxy, ("proxyHeaders/requestId/disabled", 0), true);
        whole_proxy(cx, part, found, Reads::All, "the request ID setting");
    }
    if config.peek("append_x_forwarded_port") == Some(&json!(true)) && has(cx, 28) {
        config.skip("append_x_forwarded_port");
        titled(found, &catalog::SERVER_HEADER, "x-forwarded-port header");
        place(found, proxy, ("proxyHeaders/xForwardedPort/enabled", 28), true);
        whole_proxy(cx, part, found, Reads::All, "the header `x-forwarded-port`");
    }
    if keeps_case(config) && has(cx, 25) {
        header_case(cx, part, config, found, proxy);
    }
    if config.peek("http_protocol_options/accept_http_10") == Some(&json!(true)) {
        config.skip("http_protocol_options/accept_http_10");
        of_pattern(found, &catalog::HTTP10);
        found.add_home("ProxyConfig", "environmentVariables.ISTIO_META_HTTP10", 0);
        found.actions.push(Action::Environment("ISTIO_META_HTTP10", "1".to_owned()));
        whole_proxy(cx, part, found, Reads::All, "the environment variable");
        idle::variable(cx, part, found);
        found.notes.push("the variable is set at injection: restart the workloads".to_owned());
    }
    if let Some(details) = config.peek("set_current_client_cert_details").cloned() {
        certificate::details(cx, part, config, found, proxy, &details);
    }
    certificate::forwarded(cx, part, config, found, proxy);
}

fn keeps_case(config: &Fields) -> bool {
    config
        .peek("http_protocol_options/header_key_format/stateful_formatter/typed_config")
        .is_some_and(|any| crate::migrate::base::value::any_type(any).ends_with("PreserveCaseFormatterConfig"))
}

fn header_case(cx: &Cx<'_>, part: &Part<'_>, config: &mut Fields, found: &mut Move, proxy: &mut Json) {
    let formatter = config.take("http_protocol_options/header_key_format").unwrap_or_default();
    annotate(found, proxy, &catalog::HEADER_CASE, ("proxyHeaders/preserveHttp1HeaderCase", 25), true);
    found.difference(Kind::Behavior, super::header_case::SERVICES_TOO);
    for (field, effect) in [
        ("forward_reason_phrase", "responses get the standard reason phrase of their status instead of the service's"),
        ("formatter_type_on_envoy_headers", "headers that Envoy adds are in lower case instead of the filter's format"),
    ] {
        if has_entry(&formatter, &|key, value| key == field && value != &json!(false)) {
            found.difference(Kind::Behavior, effect);
        }
    }
    let reach = &part.reach;
    if reach.proxies != Proxies::Gateway {
        whole_proxy(cx, part, found, Reads::All, "the header case setting");
    } else if !reach.is_whole() {
        whole_proxy(cx, part, found, Reads::Gateways, "the header case setting");
    }
}

/// Moves one field; returns the reason if the setting cannot express it in the target release.
fn one(
    cx: &Cx<'_>,
    part: &Part<'_>,
    config: &mut Fields,
    setting: &Setting,
    found: &mut Move,
    proxy: &mut Json,
) -> Option<String> {
    if !has(cx, setting.since) {
        if setting.field == "common_http_protocol_options/idle_timeout" {
            idle::by_environment(cx, part, config, found);
            return None;
        }
        let home = setting.home.replace('/', ".");
        return Some(format!(
            "`{home}` is new in Istio 1.{}; the target release is {}.{}",
            setting.since, cx.to.major, cx.to.minor
        ));
    }
    let value = match native_value(setting, config) {
        Ok(value) => value,
        Err(reason) => return Some(reason.into()),
    };
    // MERGE of a message with zero in it leaves what is there.
    let zero = value.as_str().and_then(parse_go_duration) == Some(0);
    if zero && has_settings(cx) {
        let name = setting.home.rsplit('/').next().unwrap_or(setting.home);
        let reason = format!(
            "these proxies have `connectionSettings`: where they set `{name}`, MERGE of 0 s changes nothing; the native setting replaces it"
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Existing, State::Broken, reason);
    }
    annotate(found, proxy, setting.pattern, (setting.home, setting.since), value);
    if setting.field == "server_name" && is_set(cx, "/proxyHeaders/server/disabled", &true.into()) {
        let reason = "`proxyHeaders.server.disabled` is already set, and istiod then ignores the name";
        found.difference(Kind::Behavior, reason);
        found.guard(Concern::Existing, State::Broken, reason);
    }
    let (parent, name) = setting.home.rsplit_once('/').unwrap_or(("", setting.home));
    let name = if name == "value" { format!("{}.{name}", parent.replace('/', ".")) } else { name.to_owned() };
    whole_proxy(cx, part, found, setting.reads, &format!("`{name}`"));
    None
}

/// Whether the mesh's default or the annotation of a selected workload has a value at a path of proxy settings.
fn is_set(cx: &Cx<'_>, path: &str, value: &Json) -> bool {
    let default = cx.mesh.mesh_config().and_then(|mesh| mesh.pointer(&format!("/defaultConfig{path}")).cloned());
    let annotated = |workload: &Workload| {
        workload.annotations.get(ANNOTATION).is_some_and(|text| settings_of(text).pointer(path) == Some(value))
    };
    default.as_ref() == Some(value) || cx.mesh.workloads(cx.filter).any(annotated)
}

/// Whether the mesh's default or the annotation of a selected workload has connection settings.
pub(super) fn has_settings(cx: &Cx<'_>) -> bool {
    let own = |config: &Json| config.get("connectionSettings").is_some();
    let annotated =
        |workload: &Workload| workload.annotations.get(ANNOTATION).is_some_and(|text| own(&settings_of(text)));
    let default = cx.mesh.mesh_config().and_then(|mesh| mesh.get("defaultConfig")).is_some_and(own);
    default || cx.mesh.workloads(cx.filter).any(annotated)
}

/// Takes a field's value in the form of the setting; the reason if the setting cannot express it.
fn native_value(setting: &Setting, config: &mut Fields) -> Result<Json, ErrorMessage> {
    let value = config.peek(setting.field).cloned().unwrap_or_default();
    let name = setting.home.rsplit('/').next().unwrap_or(setting.home);
    if let Some(least) = least(name)
        && value.as_i64().is_some_and(|number| number < least)
    {
        return Err(format!(
            "`{name}` must be at least {least}: injection and the agent reject {value}, as Envoy does"
        )
        .into());
    }
    // istiod reads signed 32-bit numbers and ignores others.
    if value.as_u64().is_some_and(|number| i32::try_from(number).is_err()) {
        return Err(format!("`{name}` must be at most {}; the filter sets {value}", i32::MAX).into());
    }
    if let Some(text) = value.as_str().filter(|text| parse_go_duration(text).is_some_and(|nanos| nanos < 0)) {
        return Err(
            format!("`{name}` must not be negative: injection and the agent reject {text}, as Envoy does").into()
        );
    }
    config.skip(setting.field);
    Ok(match (name, value.as_str()) {
        ("httpHeadersWithUnderscoresAction", Some(action)) => format!("HEADERS_WITH_UNDERSCORES_{action}").into(),
        _ => value,
    })
}

/// The least value that istiod's validation of proxy settings accepts (`validateConnectionSettings`). Injection refuses
/// pods with a lower one, and the agent does not start.
fn least(name: &str) -> Option<i64> {
    match name {
        "httpMaxConcurrentStreams" => Some(1),
        "http2InitialStreamWindowSize" | "http2InitialConnectionWindowSize" => Some(65_535),
        _ => None,
    }
}

fn homeless(config: &Fields) -> Move {
    let known: Vec<_> = HOMELESS.iter().filter(|(field, ..)| config.peek(field).is_some()).collect();
    if let [(_, pattern, ..), ..] = known.as_slice() {
        let mut found = Move::none(pattern, "");
        for (_, pattern, title, why) in known {
            found.set(title.unwrap_or(pattern.title));
            found.notes.extend((!why.is_empty()).then(|| (*why).to_owned()));
        }
        found
    } else {
        let reason = if config.is_empty() {
            "the value sets nothing that a merge can set".to_owned()
        } else {
            nearest::without_field(config)
        };
        Move::none(&catalog::OTHER, reason)
    }
}
