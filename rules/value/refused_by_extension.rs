//! EF134: a configuration that the code of an extension rejects.

use crate::declare_rule;
use crate::lint::Knowledge;
use crate::lint::context::PatchRun;
use crate::lint::extension_code::refusals;
use crate::lint::results::{RESULTS, Rejected};
use crate::lint::seen::{exact, merged};
use crate::lint::value::walk::{get, same};
use crate::lint::value::{Object, PatchValue};
use crate::lint::{Context, Finding, Findings, PatchView, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, PatchBody};
use crate::proto::decode::decode;
use crate::proto::json::from_node;
use crate::proto::schema::Kind;
use crate::proto::tree::{Origin, Tree, Value};
use crate::rules::value::per_route_config_not_taken::{key_at, refused_keys};
use crate::source::{Node, NodeValue, Span};
use std::cell::LazyCell;
use std::collections::BTreeMap;

declare_rule! {
    /// A configuration that the API allows but the extension's code rejects.
    ///
    /// # What it finds
    /// Fields that exclude or require each other, and values that the code refuses although the API does not: some 110 checks, each
    /// tried with Envoy 1.36 to 1.40. They cover
    /// - filters: OAuth2, Wasm, Lua, external processing and authorization, RBAC, JWT, rate limits, basic authentication, API keys,
    ///   descriptors of the gRPC transcoder, set-filter-state, header-to-metadata, json-to-metadata, composite and adaptive concurrency;
    /// - connection managers: address detection, HTTP/2 SETTINGS, HTTP/3 without QUIC, access log options, tracers, CEL filters;
    /// - routes: `Host` and pseudo headers, two rewrites, weights, mirrors, virtual clusters, upgrades, domains given twice;
    /// - clusters: load balancing that does not fit the type, health checks, resolvers, source addresses, outlier detection, protocols
    ///   without their transport, DNS caches with different settings under one name;
    /// - listeners: addresses, filter chains that match the same connections, QUIC;
    /// - TLS: certificates, keys and CAs that are missing or not PEM, unknown cipher suites, curves and signature algorithms.
    ///
    /// In a MERGE it reads what is written; with a config dump it also judges what istiod's object becomes. `--envoy` finds the rest.
    ///
    /// # Why it matters
    /// These rules are not in the API, and istiod does not know them: it sends the value, and the proxy rejects the
    /// listener, route or cluster.
    ///
    /// # How to fix
    /// Write what the extension requires.
    ///
    /// # References
    /// The sources of Envoy 1.26 and 1.32; Envoy 1.36, 1.37, 1.38, 1.39 and 1.40.
    "EF134" "refused-by-extension" Value Error => check,
    by_release: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        // Settings that a route cannot have are refused whatever is in them.
        let refused = LazyCell::new(|| refused_keys(cx, &value.view));
        let for_routes = |object: &Object<'_>| key_at(&object.route).is_some_and(|key| refused.contains(key));
        for object in value.objects.iter().filter(|object| !object.unchecked && !for_routes(object)) {
            for (check, refusal) in refusals(value, object) {
                out.push(
                    value
                        .finding(rule, refusal.span, refusal.message)
                        .label("rejected by the code of the extension")
                        .rejected("istiod sends it unchecked, and the proxy rejects the resource that contains it")
                        .note(format!("checked in Envoy's `{}`", check.source))
                        .snippet(refusal.help),
                );
            }
            out.extend(header_field_size(rule, cx, value, object));
            out.extend(remote_address(rule, cx, value, object));
            out.extend(nobody_to_ask(rule, value, object));
            out.extend(quic_of_tcp(rule, cx, value, object));
            out.extend(tracer_of_old(rule, cx, value, object));
        }
    }
    dns_caches(rule, cx, out);
    results(rule, cx, out);
}

/// What a patch leaves of an object, judged as a whole.
fn results(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        // Values that are inserted are judged by themselves, except for listener filters, which depend on the listener.
        let judged = |body: &&PatchBody| body.operation.is_merge() || view.patch.apply_to == ApplyTo::ListenerFilter;
        let Some(body) = view.patch.body.as_ref().filter(judged) else { continue };
        let fields = body.value.as_ref().map(Node::entries).unwrap_or_default();
        for check in RESULTS.iter().filter(|check| check.apply_to == view.patch.apply_to) {
            let written = fields.iter().find(|entry| same(&entry.key, check.written));
            let Some(written) = written.filter(|entry| (check.asks)(&entry.value)) else { continue };
            // A reference configuration has chains and clusters of its own mesh, which say nothing about others,
            // except for those that each of them has.
            let wrong = |run: &PatchRun<'_, '_>| {
                let known = |object: &Rejected| {
                    run.run.knowledge == Knowledge::Dump || (object.is_everywhere && exact(run.run, &view))
                };
                (check.wrong)(run).filter(known)
            };
            let Some(seen) = cx.seen_if(&view, |run| wrong(run).is_some()) else { continue };
            let Some(Rejected { name, .. }) = seen.runs.iter().find_map(wrong) else { continue };
            let finding = view
                .finding(rule, written.key_span, format!("{name} {}", check.message))
                .label("rejected by the code of Envoy")
                .rejected("istiod sends it unchecked, and the proxy rejects the resource that contains it")
                .note(format!("checked in Envoy's `{}`", check.source))
                .snippet(check.help);
            out.push(seen.tell(finding));
        }
    }
}

/// A tracer that a MERGE brings where istiod configured none; its first format, which is the default, is gone from Envoy.
fn tracer_of_old<'a>(
    rule: &'static RuleInfo,
    cx: &Context<'a>,
    value: &PatchValue<'a>,
    object: &Object<'_>,
) -> Option<Finding> {
    const VERSION: &str = "collector_endpoint_version";
    if object.whole || object.full_name() != "envoy.config.trace.v3.ZipkinConfig" || object.member(VERSION).is_some() {
        return None;
    }
    let lacks = |tracer: &Tree<'_>| tracer.get(VERSION).is_none() && tracer.get("collector_service").is_none();
    let wrong = |run: &PatchRun<'_, '_>| run.run.knowledge == Knowledge::Dump && merged(run, object).iter().any(lacks);
    let seen = cx.seen(&value.view, wrong)?;
    let message = format!("`ZipkinConfig` needs `{VERSION}`: Envoy no longer supports the default");
    let finding = value
        .finding(rule, object.span, message)
        .label("rejected by the code of the tracer")
        .rejected("istiod sends it unchecked, and the proxy rejects the resource that contains it")
        .note("checked in Envoy's `source/extensions/tracers/zipkin/zipkin_tracer_impl.cc`")
        .help(format!("{VERSION}: HTTP_JSON"));
    Some(seen.tell(finding))
}

/// The settings of a DNS cache for dynamic forward proxies.
struct DnsCache<'a> {
    view: PatchView<'a>,
    span: Span,
    settings: Tree<'a>,
}

/// Clusters and filters share a DNS cache by its name: it must have the same settings everywhere in a proxy.
fn dns_caches(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut caches: BTreeMap<&str, Vec<DnsCache<'_>>> = BTreeMap::new();
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.whole && object.full_name() == DNS_CACHE) {
            let (Some(message), Some(name)) = (object.message(), object.text("name")) else { continue };
            let settings = decode(message.schema(), message, from_node(object.node, Origin::ISTIOD)).tree;
            caches.entry(name).or_default().push(DnsCache { view: value.view, span: object.span, settings });
        }
    }
    for (name, mut caches) in caches {
        // Envoy loads clusters first, and the finding is at the cluster.
        caches.sort_by_key(|cache| cache.view.patch.apply_to == ApplyTo::Cluster);
        for (at, cache) in caches.iter().enumerate() {
            let differs = |other: &&DnsCache<'_>| !other.settings.same(&cache.settings);
            for other in caches[..at].iter().filter(differs) {
                let beside = |run: &PatchRun<'_, '_>| {
                    let id = run.run.plan.find(other.view.filter_index, other.view.patch.index);
                    run.changes() && id.is_some_and(|id| run.run.by_id(id).changes())
                };
                let Some(seen) = cx.seen(&cache.view, beside) else { continue };
                let finding = cache
                    .view
                    .finding(rule, cache.span, format!("DNS cache `{name}` has different settings in another place"))
                    .label("these settings")
                    .related(other.span, "other settings under the same name")
                    .rejected("Envoy rejects the cluster or listener that it loads second")
                    .help("write the same `dns_cache_config` in both places, or give the caches different names");
                out.push(seen.tell(finding));
                break;
            }
        }
    }
}

/// An authorization filter without a service: Envoy accepts it, but crashes on the first request.
fn nobody_to_ask(rule: &'static RuleInfo, value: &PatchValue<'_>, object: &Object<'_>) -> Option<Finding> {
    let filter = object.whole && object.full_name() == "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz";
    let served = ["grpc_service", "http_service"].iter().any(|service| object.member(service).is_some());
    (filter && !served).then(|| {
        value
            .finding(rule, object.span, "`ExtAuthz` needs a service")
            .label("no service to call")
            .note("Envoy accepts the filter and crashes on the first request that it checks; tested with Envoy 1.36, 1.38 and 1.40")
            .help("add `grpc_service` or `http_service`")
    })
}

/// HTTP/3 for the connection manager of a TCP listener.
fn quic_of_tcp<'a>(
    rule: &'static RuleInfo,
    cx: &Context<'a>,
    value: &PatchValue<'a>,
    object: &Object<'_>,
) -> Option<Finding> {
    let codec = object.member("codec_type").filter(|_| object.full_name() == MANAGER)?;
    if codec.entry.value.as_str() != Some("HTTP3") || value.view.patch.apply_to != ApplyTo::NetworkFilter {
        return None;
    }
    let over_tcp = |run: &PatchRun<'_, '_>| {
        let mut changed = run.trace.effects.iter().filter(|(_, effect)| effect.changes());
        changed.find_map(|(place, _)| {
            let listener = run.run.after(place.kind, &place.resource)?;
            let udp = listener.path(&["address", "socket_address", "protocol"]).and_then(Tree::as_str) == Some("UDP");
            (!udp && listener.get("udp_listener_config").is_none()).then(|| place.resource.clone())
        })
    };
    let seen = cx.seen(&value.view, |run| over_tcp(run).is_some())?;
    let listener = seen.runs.first().and_then(over_tcp)?;
    let finding = value
        .finding(
            rule,
            codec.entry.value.span,
            format!("`codec_type: HTTP3` needs a QUIC listener; `{listener}` takes TCP"),
        )
        .label("rejected by the code of the connection manager")
        .rejected("istiod sends it unchecked, and the proxy rejects the resource that contains it")
        .note("checked in Envoy's `source/common/listener_manager/listener_impl.cc`")
        .help("remove `codec_type`: AUTO reads HTTP/1.1 and HTTP/2");
    Some(seen.tell(finding))
}

const DNS_CACHE: &str = "envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig";
const MANAGER: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/// One header field must fit into all of them. For a MERGE the result is checked, as the two limits may come from two
/// patches.
fn header_field_size(
    rule: &'static RuleInfo,
    cx: &Context<'_>,
    value: &PatchValue<'_>,
    object: &Object<'_>,
) -> Option<Finding> {
    const ALL: &str = "max_request_headers_kb";
    const ONE: [&str; 2] = ["http2_protocol_options", "max_header_field_size_kb"];
    if object.full_name() != MANAGER {
        return None;
    }
    let options = get(object.node, ONE[0])?;
    let written = get(options, ONE[1])?;
    // An Envoy that does not know the field drops it.
    let known = object.envoy?.field(ONE[0])?.kind();
    let Kind::Message(known) = known else { return None };
    known.field(ONE[1])?;
    let number = |node: &Node| match &node.value {
        NodeValue::Number(text) | NodeValue::String(text) => text.parse::<u64>().ok(),
        _ => None,
    };
    let kb = |tree: Option<&Tree<'_>>| tree.and_then(Tree::as_str).and_then(|text| text.parse::<u64>().ok());
    let managers = cx.on_proxies(value.view.filter_index, value.view.patch.index).flat_map(|run| merged(&run, object));
    let limits = managers
        .filter_map(|manager| Some((kb(manager.path(&ONE))?, kb(manager.get(ALL)).unwrap_or(DEFAULT_HEADERS_KB))));
    let mut results: Vec<(u64, u64)> = limits.collect();
    if results.is_empty() {
        results.push((number(written)?, get(object.node, ALL).and_then(number).unwrap_or(DEFAULT_HEADERS_KB)));
    }
    // What no Envoy takes is found by the rule of the field itself.
    let (one, all) = results.into_iter().find(|(one, all)| one > all && FIELD_KB.contains(one))?;
    Some(
        value
            .finding(rule, written.span, format!("`{}` must not exceed `{ALL}`, which is {all}", ONE[1]))
            .label("rejected by the code of the connection manager")
            .rejected("istiod sends it unchecked, and the proxy rejects the resource that contains it")
            .note(format!("`{ALL}` defaults to {DEFAULT_HEADERS_KB}; tested with Envoy 1.39.3"))
            .help(format!("{ALL}: {one}")),
    )
}

/// The range that the API allows for one field.
const FIELD_KB: std::ops::RangeInclusive<u64> = 64..=256;
/// Envoy's default for `max_request_headers_kb`.
const DEFAULT_HEADERS_KB: u64 = 60;

/// A connection manager finds the client's address in one way; istiod sets `use_remote_address` in gateways, so the result is
/// checked.
fn remote_address<'a>(
    rule: &'static RuleInfo,
    cx: &Context<'a>,
    value: &PatchValue<'a>,
    object: &Object<'_>,
) -> Option<Finding> {
    const DETECTS: &str = "original_ip_detection_extensions";
    const REMOTE: &str = "use_remote_address";
    if object.full_name() != MANAGER {
        return None;
    }
    let written = object.member(DETECTS).filter(|member| !member.entry.value.items().is_empty())?;
    let is_set = |manager: &Tree<'_>| manager.get(REMOTE).is_some_and(|tree| matches!(tree.value, Value::Bool(true)));
    let seen = cx.seen(&value.view, |run| merged(run, object).iter().any(is_set))?;
    let finding = value
        .finding(rule, written.entry.key_span, format!("`{DETECTS}` and the `{REMOTE}: true` of the connection manager exclude each other"))
        .label("rejected by the code of the connection manager")
        .rejected("istiod sends it unchecked, and the proxy rejects the resource that contains it")
        .help("for X-Forwarded-For set `gatewayTopology.numTrustedProxies` of the gateway; a MERGE cannot reset `use_remote_address`");
    Some(seen.tell(finding))
}
