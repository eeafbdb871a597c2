//! EF716: the `server` and `x-request-id` headers, which the proxy configuration's proxyHeaders sets.

use crate::declare_rule;
use crate::lint::better::{self, is_mesh_wide, is_narrow, put};
use crate::lint::manifest::{self, Instead};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::PatchContext;
use crate::model::release::Release;
use serde_json::{Map, Value as Json, json};

declare_rule! {
    /// The `server` header or request ids changed in HTTP connection managers, which `proxyHeaders` sets.
    ///
    /// # What it finds
    /// A MERGE into the HTTP connection manager that holds only `server_header_transformation: PASS_THROUGH`,
    /// `server_name` or `generate_request_id: false`.
    ///
    /// # Why it matters
    /// The settings reach every listener of the workload whatever it is called, and they survive upgrades.
    ///
    /// # How to fix
    /// Put the settings shown under `meshConfig.defaultConfig` or in the pod annotation `proxy.istio.io/config`. They are
    /// read at start-up: restart the workloads.
    ///
    /// # References
    /// Istio: ProxyConfig `proxyHeaders` (since 1.19).
    "EF716" "server-header-beside-proxy-headers" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (candidate, mut config) in better::managers(cx) {
        let filter = candidate.view.filter;
        let whole = match candidate.reach.context {
            PatchContext::Any => is_narrow(filter) || is_mesh_wide(cx, filter),
            // What leaves a sidecar bears no `server` header of its own; inbound is where it is written.
            PatchContext::SidecarInbound | PatchContext::Gateway => is_narrow(filter),
            _ => false,
        };
        if !whole || candidate.reach.port.is_some() {
            continue;
        }
        let mut headers = Map::new();
        match config.text("server_header_transformation").as_deref() {
            None => {}
            Some("PASS_THROUGH") => put(&mut headers, "proxyHeaders/server/disabled", true),
            Some(_) => continue,
        }
        if let Some(name) = config.text("server_name") {
            put(&mut headers, "proxyHeaders/server/value", name);
        }
        if let Some(ids) = config.flag("generate_request_id") {
            put(&mut headers, "proxyHeaders/requestId/disabled", !ids);
        }
        if !config.done() || headers.is_empty() {
            continue;
        }
        let headers = Json::Object(headers);
        let manifest = if is_mesh_wide(cx, filter) {
            ("mesh configuration (ConfigMap istio, key mesh)".to_owned(), json!({ "defaultConfig": headers }))
        } else {
            ("in the Deployment of the workload".to_owned(), manifest::annotation(&headers))
        };
        let instead = Instead {
            message: "the proxy configuration's proxyHeaders can say this".to_owned(),
            since: Release::OLDEST,
            manifests: vec![manifest],
            notes: vec!["read when the pod starts: restart the workload afterwards".to_owned()],
        };
        out.push(instead.finding(rule, &candidate.view, &["patch", "value"]));
    }
}
