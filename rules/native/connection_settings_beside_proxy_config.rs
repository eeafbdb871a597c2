//! EF713: HTTP timeouts and limits that the proxy configuration has.

use crate::declare_rule;
use crate::lint::better::{self, is_mesh_wide, is_narrow};
use crate::lint::manifest::{self, Instead};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::release::Release;
use serde_json::{Map, Value as Json, json};

declare_rule! {
    /// Patched HTTP timeouts, HTTP/2 limits, path handling or listener buffers, which `connectionSettings` can set.
    ///
    /// # What it finds
    /// On control planes of Istio 1.31, a MERGE into the HTTP connection manager (or, on gateways, into the listener) that
    /// holds only what the proxy configuration's `connectionSettings` has.
    ///
    /// # Why it matters
    /// The settings are checked, they reach every listener whatever it is called, and they survive upgrades.
    ///
    /// # How to fix
    /// Put the settings shown under `meshConfig.defaultConfig` or in the pod annotation `proxy.istio.io/config`. They are
    /// read at start-up: restart the workloads.
    ///
    /// # References
    /// Istio 1.31: ProxyConfig `connectionSettings`.
    "EF713" "connection-settings-beside-proxy-config" Native Info => check
}

const SINCE: Release = Release::minor(31);

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    if cx.release < SINCE {
        return;
    }
    for (candidate, mut config) in better::managers(cx) {
        let filter = candidate.view.filter;
        // The settings are for all of a proxy: both directions, every port.
        let whole = match candidate.reach.context {
            PatchContext::Any => is_narrow(filter) || is_mesh_wide(cx, filter),
            PatchContext::Gateway => is_narrow(filter),
            _ => false,
        };
        if !whole || candidate.reach.port.is_some() {
            continue;
        }
        let mut settings = Map::new();
        for (from, to) in [
            ("common_http_protocol_options/idle_timeout", "httpIdleTimeout"),
            ("common_http_protocol_options/max_connection_duration", "httpMaxConnectionDuration"),
            ("common_http_protocol_options/max_stream_duration", "httpMaxStreamDuration"),
            ("stream_idle_timeout", "httpStreamIdleTimeout"),
            ("request_timeout", "httpRequestTimeout"),
            ("request_headers_timeout", "httpRequestHeadersTimeout"),
            ("drain_timeout", "httpDrainTimeout"),
            ("http2_protocol_options/max_concurrent_streams", "httpMaxConcurrentStreams"),
            ("http2_protocol_options/initial_stream_window_size", "http2InitialStreamWindowSize"),
            ("http2_protocol_options/initial_connection_window_size", "http2InitialConnectionWindowSize"),
            ("merge_slashes", "httpMergeSlashes"),
        ] {
            if let Some(value) = config.json(from) {
                settings.insert(to.to_owned(), value);
            }
        }
        if let Some(action) = config.text("path_with_escaped_slashes_action") {
            if action == "IMPLEMENTATION_SPECIFIC_DEFAULT" {
                continue;
            }
            settings.insert("httpPathWithEscapedSlashesAction".to_owned(), action.into());
        }
        if let Some(action) = config.text("common_http_protocol_options/headers_with_underscores_action") {
            let action = format!("HEADERS_WITH_UNDERSCORES_{action}");
            settings.insert("httpHeadersWithUnderscoresAction".to_owned(), action.into());
        }
        // istiod leaves negative and oversized numbers out.
        let fits = settings.values().all(|value| value.as_u64().is_none_or(|number| i32::try_from(number).is_ok()));
        if config.done() && !settings.is_empty() && fits {
            out.push(instead(cx, filter, &settings).finding(rule, &candidate.view, &["patch", "value"]));
        }
    }
    for mut candidate in better::candidates(cx, ApplyTo::Listener) {
        let filter = candidate.view.filter;
        let gateway = candidate.reach.context == PatchContext::Gateway && is_narrow(filter);
        if !gateway || candidate.operation != Operation::Merge || candidate.reach.port.is_some() {
            continue;
        }
        let Some(bytes) = candidate.parts.json("per_connection_buffer_limit_bytes") else { continue };
        if candidate.parts.done() && bytes.as_u64().is_some_and(|bytes| i32::try_from(bytes).is_ok()) {
            let settings = Map::from_iter([("listenerPerConnectionBufferLimitBytes".to_owned(), bytes)]);
            out.push(instead(cx, filter, &settings).finding(rule, &candidate.view, &["patch", "value"]));
        }
    }
}

fn instead(
    cx: &Context<'_>,
    filter: &crate::model::envoy_filter::EnvoyFilter,
    settings: &Map<String, Json>,
) -> Instead {
    let config = json!({ "connectionSettings": settings });
    let manifest = if is_mesh_wide(cx, filter) {
        ("mesh configuration (ConfigMap istio, key mesh)".to_owned(), json!({ "defaultConfig": config }))
    } else {
        ("in the Deployment of the workload".to_owned(), manifest::annotation(&config))
    };
    Instead {
        message: "the proxy configuration's connectionSettings can say this".to_owned(),
        since: SINCE,
        manifests: vec![manifest],
        notes: vec!["read when the pod starts: restart the workload afterwards".to_owned()],
    }
}
