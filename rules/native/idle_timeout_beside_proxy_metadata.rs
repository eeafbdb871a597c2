//! EF718: the idle timeout of connections, which a node metadata variable sets.

use crate::declare_rule;
use crate::engine::matching;
use crate::lint::better::{self, Candidate, is_mesh_wide, is_narrow};
use crate::lint::manifest::{self, Instead};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::release::Release;
use serde_json::json;

declare_rule! {
    /// A patched idle timeout of connections, which the node metadata ISTIO_META_IDLE_TIMEOUT can set.
    ///
    /// # What it finds
    /// A MERGE of nothing but `idle_timeout` into the TCP proxy filter, or before 1.31 into the HTTP connection manager,
    /// for whole workloads.
    ///
    /// # Why it matters
    /// istiod writes the value into every TCP proxy and HTTP connection manager that it generates, with no name to match.
    /// For one service, `connectionPool.tcp.idleTimeout` of a DestinationRule does the same for TCP.
    ///
    /// # How to fix
    /// Put the variable shown under `meshConfig.defaultConfig` or in the pod annotation `proxy.istio.io/config`, and
    /// restart the workload.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/networkfilter.go`, node metadata IDLE_TIMEOUT (1.22 to 1.31).
    "EF718" "idle-timeout-beside-proxy-metadata" Native Info => check
}

const TCP_PROXY: &str = "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut found: Vec<(Candidate<'_>, String)> = Vec::new();
    for mut candidate in better::candidates(cx, ApplyTo::NetworkFilter) {
        let named = candidate.view.built.and_then(|built| better::filter_name(&built.object));
        candidate.parts.skip("name");
        let Some(mut config) = candidate.parts.typed("typed_config", TCP_PROXY) else { continue };
        let Some(timeout) = config.text("idle_timeout") else { continue };
        let alone = config.done() && candidate.parts.done();
        if alone && named == Some("envoy.filters.network.tcp_proxy") && candidate.operation == Operation::Merge {
            found.push((candidate, timeout));
        }
    }
    if cx.release < Release::minor(31) {
        for (candidate, mut config) in better::managers(cx) {
            let Some(timeout) = config.text("common_http_protocol_options/idle_timeout") else { continue };
            if config.done() {
                found.push((candidate, timeout));
            }
        }
    }
    for (candidate, timeout) in found {
        let filter = candidate.view.filter;
        let whole = match candidate.reach.context {
            PatchContext::Any => is_narrow(filter) || is_mesh_wide(cx, filter),
            PatchContext::Gateway => is_narrow(filter),
            _ => false,
        };
        let by_name = matching::listener_match(&candidate.view.patch.object).is_some_and(|one| !one.name.is_empty());
        if !whole || by_name || candidate.reach.port.is_some() {
            continue;
        }
        let config = json!({ "proxyMetadata": { "ISTIO_META_IDLE_TIMEOUT": timeout } });
        let manifest = if is_mesh_wide(cx, filter) {
            ("mesh configuration (ConfigMap istio, key mesh)".to_owned(), json!({ "defaultConfig": config }))
        } else {
            ("in the Deployment of the workload".to_owned(), manifest::annotation(&config))
        };
        let instead = Instead {
            message: "the node metadata ISTIO_META_IDLE_TIMEOUT can set this".to_owned(),
            since: Release::OLDEST,
            manifests: vec![manifest],
            notes: vec!["it is for TCP proxies and HTTP connection managers alike".to_owned()],
        };
        out.push(instead.finding(rule, &candidate.view, &["patch", "value"]));
    }
}
