//! EF325: a proxy_protocol listener filter after an inspector that reads the connection first.

use crate::declare_rule;
use crate::engine::PatchId;
use crate::lint::context::PatchRun;
use crate::lint::ports;
use crate::lint::seen::config_type;
use crate::lint::{Context, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, PatchContext};
use crate::proto::tree::Tree;
use std::collections::BTreeMap;

declare_rule! {
    /// A proxy_protocol listener filter after an inspector that reads the connection first.
    ///
    /// # What it finds
    /// A `proxy_protocol` listener filter that a patch inserts and that comes, after all patches, after tls_inspector
    /// or http_inspector.
    ///
    /// # Why it matters
    /// The inspector then sees the PROXY header instead of the TLS client hello or the request: SNI and protocol are
    /// not detected, and connections match the wrong filter chain.
    ///
    /// # How to fix
    /// INSERT_FIRST; or INSERT_BEFORE `envoy.filters.listener.tls_inspector`. On gateways, `numTrustedProxies` and the
    /// annotation `proxy.istio.io/config` with `gatewayTopology.proxyProtocol` do this without an EnvoyFilter.
    ///
    /// # References
    /// Envoy, proxy protocol listener filter; Istio, gateway network topology.
    "EF325" "proxy-protocol-after-inspector" Operation Warning => check
}

/// Whether a filter chain matches connections by an application protocol without TLS.
fn asks_for_http(listener: &Tree<'_>) -> bool {
    let chains = listener.get("filter_chains").map(Tree::items).unwrap_or_default();
    chains.iter().filter_map(|chain| chain.get("filter_chain_match")).any(|wanted| {
        let protocols = wanted.get("application_protocols").map(Tree::items).unwrap_or_default();
        wanted.str_at("transport_protocol") != "tls"
            && protocols.iter().any(|one| matches!(one.as_str(), Some("http/1.0" | "http/1.1" | "h2c")))
    })
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut found: BTreeMap<(usize, usize), (Vec<String>, String)> = BTreeMap::new();
    for run in &cx.runs {
        for (_, listener) in run.changed_listeners() {
            let filters = listener.get("listener_filters").map(Tree::items).unwrap_or_default();
            let of = |filter: &Tree<'_>, kind: &str| {
                filter.name().strip_prefix("envoy.filters.listener.").is_some_and(|rest| rest == kind)
                    || config_type(filter).split('.').any(|part| part == kind)
            };
            let Some(at) = filters.iter().position(|filter| of(filter, "proxy_protocol")) else { continue };
            // The same inspector after it sees the connection without the header.
            let follows = |kind: &str| filters[at..].iter().any(|filter| of(filter, kind));
            // The result of http_inspector matters only if a filter chain without TLS needs it; with an inspector after
            // it, the author has considered the order.
            let detected = !follows("tls_inspector") && asks_for_http(listener);
            let inspector = |filter: &&Tree<'_>| {
                let blind = |kind: &str| of(filter, kind) && !follows(kind);
                blind("tls_inspector") || (detected && blind("http_inspector"))
            };
            let Some(before) = filters[..at].iter().find(inspector) else { continue };
            if let Some(id) = PatchId::of(filters[at].origin) {
                let planned = run.plan.get(id);
                let key = (planned.filter, planned.built.patch.index);
                let entry = found.entry(key).or_insert((Vec::new(), before.name().to_owned()));
                entry.0.push(run.label().to_owned());
            }
        }
    }
    for view in cx.patches() {
        let Some((labels, before)) = found.get(&(view.filter_index, view.patch.index)) else { continue };
        // Of one port of a gateway, or of one that a service has, only a config dump knows whether it is for TLS.
        let unknown = view.patch.context != PatchContext::SidecarInbound
            && matches!(&view.patch.object, ObjectMatch::Listener(one) if one.port_number != 0 || !one.name.is_empty())
            && !ports::only_tls(&view.patch.object);
        let reached = |run: &PatchRun<'_, '_>| {
            (run.run.knowledge == Knowledge::Dump || !unknown) && labels.iter().any(|label| label == run.run.label())
        };
        let Some(seen) = cx.seen_if(&view, reached) else { continue };
        let finding = view
            .finding(
                rule,
                view.value_span(&["patch", "operation"]),
                format!("proxy_protocol comes after `{before}`, which reads the PROXY header instead"),
            )
            .label("puts it after an inspector")
            .snippet(match view.patch.apply_to {
                ApplyTo::ListenerFilter => "operation: INSERT_FIRST",
                _ => "insert it first, with a separate patch:\napplyTo: LISTENER_FILTER\npatch:\n  operation: INSERT_FIRST",
            });
        out.push(seen.tell(finding));
    }
}
