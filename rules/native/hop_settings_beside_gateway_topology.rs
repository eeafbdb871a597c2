//! EF712: a gateway's place behind other proxies, which its topology settings describe.

use crate::declare_rule;
use crate::lint::better::{self, Candidate, is_narrow, put};
use crate::lint::manifest::{self, Instead};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::release::Release;
use serde_json::{Map, Value as Json};

declare_rule! {
    /// Trusted hops or the PROXY protocol patched into a gateway, which `gatewayTopology` can set.
    ///
    /// # What it finds
    /// On gateways: a MERGE of `xff_num_trusted_hops`, `use_remote_address: true` (istiod sets it on gateways anyway) or
    /// `forward_client_cert_details` into the HTTP connection manager, and an added `proxy_protocol` listener filter.
    ///
    /// # Why it matters
    /// The topology is read by everything that istiod generates for the gateway; a patch changes one place, and annotation
    /// and filter together insert `proxy_protocol` twice.
    ///
    /// # How to fix
    /// Put the annotation shown on the gateway's pods (or the same under `meshConfig.defaultConfig`). It is read at
    /// start-up: restart the gateway.
    ///
    /// # References
    /// Istio: Configuring Gateway Network Topology; istio/istio#49836.
    "EF712" "hop-settings-beside-gateway-topology" Native Info => check
}

const PROXY_PROTOCOL: &str = "envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let of_gateway = |candidate: &Candidate<'_>| {
        let filter = candidate.view.filter;
        candidate.reach.context == PatchContext::Gateway && candidate.reach.port.is_none() && is_narrow(filter)
    };
    for (candidate, mut config) in better::managers(cx).filter(|(candidate, _)| of_gateway(candidate)) {
        let mut topology = Map::new();
        if let Some(hops) = config.json("xff_num_trusted_hops") {
            put(&mut topology, "gatewayTopology/numTrustedProxies", hops);
        }
        if let Some(details) = config.text("forward_client_cert_details") {
            put(&mut topology, "gatewayTopology/forwardClientCertDetails", details);
        }
        if config.flag("use_remote_address") == Some(false) || !config.done() || topology.is_empty() {
            continue;
        }
        out.push(instead(topology).finding(rule, &candidate.view, &["patch", "value"]));
    }
    for apply_to in [ApplyTo::Listener, ApplyTo::ListenerFilter] {
        for mut candidate in better::candidates(cx, apply_to).filter(of_gateway) {
            let mut filter = match apply_to {
                ApplyTo::Listener if candidate.operation == Operation::Merge => {
                    match candidate.parts.list("listener_filters").as_slice() {
                        [one] if candidate.parts.done() => one.clone(),
                        _ => continue,
                    }
                }
                ApplyTo::ListenerFilter if candidate.operation != Operation::Merge => candidate.parts.clone(),
                _ => continue,
            };
            let name = filter.text("name").unwrap_or_default();
            let typed = filter.typed("typed_config", PROXY_PROTOCOL);
            let plain = typed.is_some_and(|config| config.done()) || name == "envoy.filters.listener.proxy_protocol";
            if plain && filter.done() {
                let mut topology = Map::new();
                put(&mut topology, "gatewayTopology/proxyProtocol", Json::Object(Map::new()));
                out.push(instead(topology).finding(rule, &candidate.view, &["patch", "value"]));
            }
        }
    }
}

fn instead(topology: Map<String, Json>) -> Instead {
    Instead {
        message: "the gateway's topology settings can say this".to_owned(),
        since: Release::OLDEST,
        manifests: vec![("in the gateway's Deployment".to_owned(), manifest::annotation(&Json::Object(topology)))],
        notes: vec!["read when the pod starts: restart the gateway afterwards".to_owned()],
    }
}
