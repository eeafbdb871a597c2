//! EF720: connection settings that Istio accepts but does not read.

use crate::declare_rule;
use crate::lint::value::walk::same;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::migrate::settings_of;
use crate::model::inventory::Workload;
use crate::model::release::Release;
use crate::source::Span;
use serde_json::Value as Json;

declare_rule! {
    /// A connection limit of the mesh or proxy configuration that Istio accepts but never applies.
    ///
    /// # What it finds
    /// `clusterPerConnectionBufferLimitBytes`, `listenerConnectionLimit` and `globalDownstreamConnectionLimit` in
    /// `connectionSettings`, in the mesh settings' `defaultConfig` (also in an IstioOperator), or in the annotation
    /// `proxy.istio.io/config` of a workload.
    ///
    /// # Why it matters
    /// Istio 1.31 validates these three but generates nothing for them: the limit does not exist, and an EnvoyFilter
    /// that was deleted in their favor is missing.
    ///
    /// # How to fix
    /// Keep the EnvoyFilter (`per_connection_buffer_limit_bytes` of clusters). For connections, set the node metadata
    /// `ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS` in `proxyMetadata`, and Envoy's runtime key
    /// `envoy.resource_limits.listener.<listener>.connection_limit` in `runtimeValues`.
    ///
    /// # References
    /// istio/istio `pkg/config/validation/agent/validation.go`, `pilot/pkg/networking/core/connection_settings.go` and
    /// `pkg/bootstrap/config.go`, branch release-1.31; istio/istio#60978.
    "EF720" "connection-setting-not-read" Native Warning => check,
    releases: since(31)
}

/// Fields that nothing reads, and their alternatives.
const UNREAD: [(&str, &str); 3] = [
    (
        "clusterPerConnectionBufferLimitBytes",
        "keep the limit in an EnvoyFilter:\napplyTo: CLUSTER\npatch:\n  operation: MERGE\n  value:\n    per_connection_buffer_limit_bytes: <bytes>",
    ),
    (
        "listenerConnectionLimit",
        "runtimeValues:\n  envoy.resource_limits.listener.<name of the listener>.connection_limit: \"<number>\"",
    ),
    ("globalDownstreamConnectionLimit", "proxyMetadata:\n  ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS: \"<number>\""),
];

const ANNOTATION: &str = "proxy.istio.io/config";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    // Older releases do not have these settings.
    if cx.release < Release::minor(31) {
        return;
    }
    for mesh in cx.inventory.meshes.iter() {
        let config = &mesh.settings.to_json()["defaultConfig"];
        let span = mesh.object.document.key_span(&["data".into(), "mesh".into()]);
        tell(rule, config, span, "the mesh settings", out);
    }
    for installed in cx.inventory.policies.iter().filter(|object| object.kind == "IstioOperator") {
        let route = ["spec", "meshConfig", "defaultConfig"];
        let Some(config) = installed.document.under(&route) else { continue };
        let written = config.entries().iter().find(|entry| same(&entry.key, "connectionSettings"));
        let span = written.map_or(config.span, |entry| entry.key_span);
        let name = if installed.name.is_empty() {
            String::new()
        } else {
            format!(" {}/{}", installed.namespace, installed.name)
        };
        tell(rule, &config.to_json(), span, &format!("IstioOperator{name}"), out);
    }
    for workload in cx.inventory.workloads.iter() {
        let Some(text) = workload.annotations.get(ANNOTATION).filter(|text| text.contains("onnection")) else {
            continue;
        };
        let config = &settings_of(text);
        let name = format!("{} {}/{}", workload.object.kind, workload.object.namespace, workload.object.name);
        tell(rule, config, place(workload), &name, out);
    }
}

/// The annotation of a workload or of its pods; for a pod, whose annotations have no recorded places, the object.
fn place(workload: &Workload) -> Span {
    let document = &workload.object.document;
    let routes: [&[&str]; 2] = [&["spec", "template", "metadata", "annotations"], &["metadata", "annotations"]];
    let entry = routes.iter().find_map(|route| document.under(route)?.entry(ANNOTATION));
    entry.map_or(document.span, |entry| entry.key_span)
}

fn tell(rule: &'static RuleInfo, config: &Json, span: Span, owner: &str, out: &mut Findings) {
    let Some(settings) = member(config, "connectionSettings") else { return };
    for (field, help) in UNREAD {
        if member(settings, field).is_none_or(Json::is_null) {
            continue;
        }
        out.push(
            Finding::new(rule, span, format!("`connectionSettings.{field}` of {owner} has no effect"))
                .label("set here")
                .note("Istio 1.31 validates it, but neither istiod nor the proxy's agent reads it")
                .snippet(help),
        );
    }
}

/// A field in either of the two accepted spellings.
fn member<'j>(object: &'j Json, field: &str) -> Option<&'j Json> {
    object.as_object()?.iter().find(|(key, _)| same(key, field)).map(|(_, value)| value)
}
