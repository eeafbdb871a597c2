//! For each change of Istio's behavior that affects EnvoyFilters, a filter that is found only when the upgrade crosses
//! the release with the change; and the findings for the published filters.

use crate::audit::compared;
use crate::linting::{expect, yaml_files};
use crate::support::testdata;
use kubectl_envoyfilter::lint::upgrade::notes::NOTES;
use kubectl_envoyfilter::lint::upgrade::tell::Class;
use kubectl_envoyfilter::load::{self, Loaded};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::rules;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// An HTTP_FILTER patch with an anchor.
fn http(head: &str, matching: &str, anchor: &str, operation: &str, value: &str) -> String {
    format!(
        "{head}  configPatches:\n  - applyTo: HTTP_FILTER\n    match:\n      context: SIDECAR_INBOUND\n{matching}      listener:\n        \
         filterChain:\n          filter:\n            name: envoy.filters.network.http_connection_manager\n{anchor}    patch:\n      \
         operation: {operation}\n      value:\n{value}"
    )
}

fn anchor(name: &str) -> String {
    format!("            subFilter:\n              name: {name}\n")
}

fn typed(name: &str, type_name: &str, fields: &str) -> String {
    format!(
        "        name: {name}\n        typed_config:\n          \"@type\": type.googleapis.com/{type_name}\n{fields}"
    )
}

fn lua() -> String {
    let code = "          default_source_code:\n            inline_string: function envoy_on_request(handle) end\n";
    typed("shop.lua", "envoy.extensions.filters.http.lua.v3.Lua", code)
}

fn lua_saying(code: &str) -> String {
    let fields = format!(
        "          default_source_code:\n            inline_string: function envoy_on_request(handle) {code} end\n"
    );
    typed("shop.lua", "envoy.extensions.filters.http.lua.v3.Lua", &fields)
}

fn buffer() -> String {
    typed("buffer", "envoy.extensions.filters.http.buffer.v3.Buffer", "          max_request_bytes: 1\n")
}

const ROUTER: &str = "envoy.filters.http.router";

fn before_router(value: &str) -> String {
    http("", "", &anchor(ROUTER), "INSERT_BEFORE", value)
}

fn read(spec: &str, metadata: &str, namespace: &str) -> Loaded {
    let text = format!(
        "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata:\n  name: it\n  namespace: {namespace}\n{metadata}spec:\n{spec}"
    );
    load::read_text("it.yaml", text, &load::Options::default())
}

struct Case {
    /// The change, from the release notes or the source.
    change: &'static str,
    /// The release that introduces it.
    minor: u16,
    /// The rule that finds it.
    code: &'static str,
    spec: String,
    metadata: &'static str,
    namespace: &'static str,
    /// Recordings to use; without them, sample workloads.
    with: &'static str,
    /// Releases before and after for which recordings exist.
    pair: (u16, u16),
    /// A step before the change without findings.
    quiet: (u16, u16),
}

fn case(change: &'static str, minor: u16, code: &'static str, spec: String) -> Case {
    Case {
        change,
        minor,
        code,
        spec,
        metadata: "",
        namespace: "shop",
        with: "",
        pair: (minor - 1, minor),
        quiet: (minor, minor + 1),
    }
}

fn cluster(name: &str, operation: &str, value: &str) -> String {
    format!(
        "  configPatches:\n  - applyTo: CLUSTER\n    match:\n      context: SIDECAR_INBOUND\n      cluster:\n        name: {name}\n    patch:\n      operation: {operation}\n      value:\n{value}"
    )
}

fn cases() -> Vec<Case> {
    let long = "a".repeat(1025);
    let gateway = "  targetRefs:\n  - group: gateway.networking.k8s.io\n    kind: Gateway\n    name: waypoint\n";
    let class =
        "  targetRefs:\n  - group: gateway.networking.k8s.io\n    kind: GatewayClass\n    name: istio-waypoint\n";
    let inspector = "  configPatches:\n  - applyTo: LISTENER_FILTER\n    match:\n      context: SIDECAR_INBOUND\n      listener:\n        listenerFilter: envoy.filters.listener.tls_inspector\n    patch:\n      operation: MERGE\n      value:\n        name: envoy.filters.listener.tls_inspector\n        typed_config:\n          \"@type\": type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector\n          enable_ja3_fingerprinting: true\n";
    vec![
        case("v2 types are refused", 19, "EF609", before_router(&typed("lua", "envoy.config.filter.http.lua.v2.Lua", "          inline_code: function envoy_on_request(handle) end\n"))),
        case("old filter names match nothing", 19, "EF608", http("", "", &anchor("envoy.router"), "INSERT_BEFORE", &lua())),
        case("no extension is looked up by name", 19, "EF612", before_router("        name: envoy.filters.http.grpc_web\n")),
        case("sni_verifier leaves the proxy", 20, "EF615", format!("  configPatches:\n  - applyTo: NETWORK_FILTER\n    match:\n      context: SIDECAR_INBOUND\n    patch:\n      operation: INSERT_FIRST\n      value:\n{}", typed("sni_verifier", "io.istio.tcp.sni_verifier.v1.Config", ""))),
        case("BOOTSTRAP patches are not applied", 21, "EF615", "  configPatches:\n  - applyTo: BOOTSTRAP\n    patch:\n      operation: MERGE\n      value:\n        stats_flush_interval: 5s\n".to_owned()),
        case("chains of TCP filters are ordered otherwise", 20, "EF615", beside("istio.metadata_exchange")),
        case("filters of WasmPlugins have a prefix in their names", 21, "EF608", http("", "", &anchor("shop.auth"), "INSERT_AFTER", &lua())),
        case("applicationProtocols is compared", 21, "EF615", of_protocols("istio-http/1.1")),
        Case { with: "shop", ..case("applicationProtocols is compared: chains of other protocols are left", 21, "EF601", of_protocols("spdy/3")) },
        case("claims are metadata of jwt_authn", 21, "EF615", before_router(&lua_saying("handle:streamInfo():dynamicMetadata():get(\"istio_authn\")"))),
        case("a runtime guard is gone", 23, "EF617", "  configPatches:\n  - applyTo: BOOTSTRAP\n    patch:\n      operation: MERGE\n      value:\n        layered_runtime:\n          layers:\n          - name: it\n            static_layer:\n              envoy.reloadable_features.http_allow_partial_urls_in_referer: false\n".to_owned()),
        case("the API server refuses two selections", 24, "EF607", format!("  workloadSelector:\n    labels:\n      app: cart\n  targetRefs:\n  - group: gateway.networking.k8s.io\n    kind: Gateway\n    name: front\n{}", before_router(&lua()))),
        case("the API server stores domainName", 25, "EF607", "  configPatches:\n  - applyTo: VIRTUAL_HOST\n    match:\n      context: SIDECAR_OUTBOUND\n      routeConfiguration:\n        vhost:\n          domainName: a.shop.svc.cluster.local\n    patch:\n      operation: MERGE\n      value:\n        include_attempt_count_in_response: true\n".to_owned()),
        case("httpCall inherits sampling", 22, "EF615", before_router(&lua_saying("handle:httpCall(\"a\", {}, \"\", 5)"))),
        case("the pass-through cluster has another name", 23, "EF608", cluster("InboundPassthroughClusterIpv4", "MERGE", "        connect_timeout: 3s\n")),
        case("the access log policy plugin leaves the proxy", 23, "EF610", before_router(&typed("log", "envoy.extensions.filters.http.wasm.v3.Wasm", "          config:\n            vm_config:\n              runtime: envoy.wasm.runtime.null\n              code:\n                local:\n                  inline_string: envoy.wasm.access_log_policy\n"))),
        case("remote_jwks needs a URI", 23, "EF611", before_router(&typed("jwt", "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication", "          providers:\n            corp:\n              issuer: https://example.com\n              remote_jwks:\n                cache_duration: 300s\n"))),
        case("istio_authn is generated no more", 24, "EF608", http("", "", &anchor("istio_authn"), "INSERT_AFTER", &lua())),
        case("the label istio.io/gateway-name is gone", 24, "EF615", format!("  workloadSelector:\n    labels:\n      istio.io/gateway-name: front\n{}", before_router(&lua()))),
        case("the peer's filter state has another name", 24, "EF615", before_router(&lua_saying("handle:streamInfo():filterState():get(\"wasm.downstream_peer\")"))),
        case("addresses are internal only when configured", 25, "EF615", format!("  configPatches:\n  - applyTo: NETWORK_FILTER\n    match:\n      context: SIDECAR_INBOUND\n    patch:\n      operation: INSERT_FIRST\n      value:\n{}", typed("hcm", "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "          stat_prefix: it\n"))),
        case("the OpenCensus tracer is gone", 25, "EF609", format!("  configPatches:\n  - applyTo: NETWORK_FILTER\n    match:\n      context: SIDECAR_INBOUND\n      listener:\n        filterChain:\n          filter:\n            name: envoy.filters.network.http_connection_manager\n    patch:\n      operation: MERGE\n      value:\n{}", typed("hcm", "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "          tracing:\n            provider:\n              name: envoy.tracers.opencensus\n              typed_config:\n                \"@type\": type.googleapis.com/envoy.config.trace.v3.OpenCensusConfig\n"))),
        Case { with: "shop", pair: (24, 26), quiet: (26, 28), ..case("vhost.domainName is read", 26, "EF604", "  configPatches:\n  - applyTo: VIRTUAL_HOST\n    match:\n      context: SIDECAR_OUTBOUND\n      routeConfiguration:\n        vhost:\n          domainName: catalog.shop.svc.cluster.local\n    patch:\n      operation: MERGE\n      value:\n        include_attempt_count_in_response: true\n".to_owned()) },
        Case { with: "ambient", pair: (24, 26), quiet: (28, 31), metadata: "  annotations:\n    envoyfilter.istio.io/referenced-services: pay/ledger.pay.svc.cluster.local\n", ..case("referenced-services is read", 26, "EF602", format!("{gateway}{}", before_router(&lua()))) },
        case("the prefix of WasmPlugin filters is spelt otherwise", 26, "EF608", http("", "", &anchor("extenstions.istio.io/wasmplugin/shop.auth"), "INSERT_AFTER", &lua())),
        case("targetRefs are honoured: other proxies are left", 27, "EF603", format!("{gateway}{}", before_router(&lua()))),
        case("waypoints take only filters with targetRefs", 27, "EF603", before_router(&lua())),
        Case { namespace: "istio-system", ..case("GatewayClass targetRefs leave all but waypoints", 27, "EF603", format!("{class}{}", before_router(&lua()))) },
        case("LISTENER_FILTER MERGE does something: it goes into every listener filter", 27, "EF605", inspector.to_owned()),
        case("a MERGE of another type panics", 27, "EF605", http("", "", &anchor(ROUTER), "MERGE", &buffer())),
        case("metadata() of Lua looks for the filter's name first", 27, "EF615", before_router(&lua_saying("handle:metadata():get(\"a\")"))),
        Case { with: "shop", pair: (26, 28), quiet: (28, 31), ..case("CLUSTER REMOVE runs in its turn", 27, "EF601", format!("{}  - applyTo: CLUSTER\n    match:\n      context: SIDECAR_INBOUND\n      cluster:\n        name: InboundPassthroughCluster\n    patch:\n      operation: REMOVE\n", cluster("InboundPassthroughCluster", "MERGE", "        name: other\n"))) },
        case("HTTP/2 has smaller defaults", 28, "EF615", "  configPatches:\n  - applyTo: CLUSTER\n    match:\n      context: SIDECAR_OUTBOUND\n    patch:\n      operation: ADD\n      value:\n        name: added\n        http2_protocol_options: {}\n".to_owned()),
        Case { quiet: (29, 30), ..case("context WAYPOINT exists: the older istiod cannot read it", 29, "EF607", "  configPatches:\n  - applyTo: HTTP_FILTER\n    match:\n      context: WAYPOINT\n    patch:\n      operation: INSERT_FIRST\n      value:\n        name: a\n".to_owned()) },
        case("Wasm and Lua filters are called trafficextension", 30, "EF608", http("", "", &anchor("extensions.istio.io/wasmplugin/shop.auth"), "INSERT_AFTER", &lua())),
        case("TrafficExtension makes Lua filters unnecessary", 30, "EF616", format!("  workloadSelector:\n    labels:\n      app: cart\n{}", before_router(&lua()))),
        Case { quiet: (29, 30), ..case("MERGE_AND_REPLACE_LIST exists: the older istiod cannot read it", 31, "EF607", cluster("a", "MERGE_AND_REPLACE_LIST", "        connect_timeout: 2s\n")) },
        Case { quiet: (29, 30), ..case("a proxyVersion over 1024 bytes fits nothing", 31, "EF614", http("", &format!("      proxy:\n        proxyVersion: ^1|{long}\n"), &anchor(ROUTER), "INSERT_BEFORE", &lua())) },
        Case { with: "shop", pair: (24, 26), quiet: (26, 28), ..case("an added cluster is there beside the service's of that name", 26, "EF602", "  configPatches:\n  - applyTo: CLUSTER\n    match:\n      context: SIDECAR_OUTBOUND\n    patch:\n      operation: ADD\n      value:\n        name: outbound|7070||catalog.shop.svc.cluster.local\n        connect_timeout: 7s\n        type: STATIC\n".to_owned()) },
        Case { with: "shop", pair: (26, 28), quiet: (28, 31), ..case("virtual hosts have their domain with a dot at the end", 27, "EF602", "  configPatches:\n  - applyTo: VIRTUAL_HOST\n    match:\n      context: SIDECAR_OUTBOUND\n      routeConfiguration:\n        vhost:\n          domainName: catalog.shop.svc.cluster.local.\n    patch:\n      operation: MERGE\n      value:\n        include_attempt_count_in_response: true\n".to_owned()) },
        Case { quiet: (29, 30), ..case("ProxyConfig has connectionSettings", 31, "EF616", "  workloadSelector:\n    labels:\n      app: cart\n  configPatches:\n  - applyTo: NETWORK_FILTER\n    match:\n      context: ANY\n      listener:\n        filterChain:\n          filter:\n            name: envoy.filters.network.http_connection_manager\n    patch:\n      operation: MERGE\n      value:\n        name: envoy.filters.network.http_connection_manager\n        typed_config:\n          \"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager\n          stream_idle_timeout: 30s\n".to_owned()) },
        Case { quiet: (29, 30), ..case("headers that repeat match value by value", 31, "EF615", "  configPatches:\n  - applyTo: HTTP_ROUTE\n    match:\n      context: SIDECAR_OUTBOUND\n    patch:\n      operation: INSERT_FIRST\n      value:\n        name: it\n        match:\n          prefix: /\n          headers:\n          - name: x-a\n            string_match: {exact: b}\n        direct_response: {status: 200}\n".to_owned()) },
    ]
}

/// A NETWORK_FILTER patch that inserts something after an anchor.
fn beside(anchor: &str) -> String {
    let limit = "          stat_prefix: it\n          token_bucket: {max_tokens: 1, fill_interval: 1s}\n";
    let value = typed("limit", "envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit", limit);
    format!(
        "  configPatches:\n  - applyTo: NETWORK_FILTER\n    match:\n      context: SIDECAR_INBOUND\n      listener:\n        filterChain:\n          filter:\n            name: {anchor}\n    patch:\n      operation: INSERT_AFTER\n      value:\n{value}"
    )
}

/// A patch for filter chains of some protocols.
fn of_protocols(protocols: &str) -> String {
    before_router(&lua())
        .replace("filterChain:\n", &format!("filterChain:\n          applicationProtocols: {protocols}\n"))
}

/// A NETWORK_FILTER patch that inserts something first.
fn network(value: &str) -> String {
    format!(
        "  configPatches:\n  - applyTo: NETWORK_FILTER\n    match:\n      context: SIDECAR_INBOUND\n    patch:\n      operation: INSERT_FIRST\n      value:\n{value}"
    )
}

/// The changes of Envoy, and of the types that istio/proxy is built with.
fn of_the_proxy() -> Vec<Case> {
    let jwt = |uri: &str| {
        let fields = format!(
            "          providers:\n            corp:\n              issuer: https://example.com\n              remote_jwks:\n                http_uri: {{uri: {uri}, cluster: keys, timeout: 1s}}\n"
        );
        typed("jwt", "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication", &fields)
    };
    let ext_authz = |fields: &str| typed("authz", "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", fields);
    let tls = "        name: added\n        transport_socket:\n          name: envoy.transport_sockets.tls\n          typed_config:\n            \"@type\": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext\n            enforce_rsa_key_usage: true\n";
    vec![
        case(
            "forward_downstream_sni leaves the proxy",
            20,
            "EF615",
            network(&typed("sni", "io.istio.tcp.forward_downstream_sni.v1.Config", "")),
        ),
        case(
            "tcp_cluster_rewrite leaves the proxy",
            20,
            "EF615",
            network(&typed(
                "rewrite",
                "istio.envoy.config.filter.network.tcp_cluster_rewrite.v2alpha1.TcpClusterRewrite",
                "",
            )),
        ),
        case(
            "istio_authn leaves the proxy",
            21,
            "EF615",
            before_router(&typed("istio_authn", "istio.envoy.config.filter.http.authn.v2alpha1.FilterConfig", "")),
        ),
        case("the URI of a JWT provider needs a scheme", 23, "EF615", before_router(&jwt("example.com/keys"))),
        case(
            "the upstream peer's filter state has another name",
            24,
            "EF615",
            before_router(&lua_saying("handle:streamInfo():filterState():get(\"wasm.upstream_peer\")")),
        ),
        case(
            "oauth2 uses refresh tokens",
            25,
            "EF615",
            before_router(&typed(
                "oauth2",
                "envoy.extensions.filters.http.oauth2.v3.OAuth2",
                "          config:\n            token_endpoint: {cluster: idp, uri: https://idp/token, timeout: 1s}\n",
            )),
        ),
        case(
            "Wasm keeps the route cache",
            25,
            "EF615",
            before_router(&typed(
                "wasm",
                "envoy.extensions.filters.http.wasm.v3.Wasm",
                "          config:\n            vm_config: {runtime: envoy.wasm.runtime.v8}\n",
            )),
        ),
        case(
            "prefix_match_map falls back",
            27,
            "EF615",
            before_router(&typed(
                "rbac",
                "envoy.extensions.filters.http.rbac.v3.RBAC",
                "          matcher:\n            matcher_tree:\n              prefix_match_map:\n                map: {}\n",
            )),
        ),
        case(
            "external authorization respects the header limit",
            28,
            "EF615",
            before_router(&ext_authz("          failure_mode_allow: true\n")),
        ),
        case(
            "external authorization respects retry_on",
            29,
            "EF615",
            before_router(&ext_authz(
                "          grpc_service:\n            envoy_grpc: {cluster_name: authz}\n            retry_policy: {num_retries: 1}\n",
            )),
        ),
        case("certificates have to allow what they are used for", 30, "EF615", cluster("a", "ADD", tls)),
        case(
            "upstream_connect_mode needs max_early_data_bytes",
            30,
            "EF615",
            network(&typed(
                "tcp",
                "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
                "          stat_prefix: it\n          cluster: a\n          upstream_connect_mode: ON_DOWNSTREAM_DATA\n",
            )),
        ),
    ]
}

#[test]
fn every_known_change_is_found_in_its_release_and_no_other() {
    let mut wrong = String::new();
    let mut messages: Vec<String> = Vec::new();
    for case in cases().into_iter().chain(of_the_proxy()) {
        let loaded = read(&case.spec, case.metadata, case.namespace);
        let with: Vec<String> = if case.with.is_empty() { Vec::new() } else { vec![case.with.to_owned()] };
        let mut codes = |(from, to): (u16, u16)| -> Vec<&'static str> {
            let (found, _) = compared(&loaded, &with, Release::minor(from), Release::minor(to));
            messages.extend(found.iter().map(|one| one.message.clone()));
            found.iter().map(|one| one.rule.code).collect()
        };
        let found = codes(case.pair);
        if !found.contains(&case.code) {
            writeln!(wrong, "1.{} {}: no {} but {found:?}", case.minor, case.change, case.code).unwrap();
        }
        if case.quiet.1 <= 31 && codes(case.quiet).contains(&case.code) {
            writeln!(wrong, "1.{} {}: {} also from {:?}", case.minor, case.change, case.code, case.quiet).unwrap();
        }
    }
    for note in NOTES.iter().filter(|note| !messages.iter().any(|message| message.contains(note.what))) {
        writeln!(wrong, "no case meets the note: {}", note.what).unwrap();
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Some changes come with a patch release.
#[test]
fn changes_inside_a_minor_release_are_found() {
    let class =
        "  targetRefs:\n  - group: gateway.networking.k8s.io\n    kind: GatewayClass\n    name: istio-waypoint\n";
    let codes = |spec: &str, namespace: &str, from: Release, to: Release| -> Vec<&str> {
        let found = compared(&read(spec, "", namespace), &[], from, to).0;
        found.iter().map(|one| one.rule.code).collect()
    };
    let at = Release::patch;
    // A GatewayClass attaches since 1.27.4.
    let spec = format!("{class}{}", before_router(&lua()));
    assert!(codes(&spec, "istio-system", at(27, 3), at(27, 4)).contains(&"EF602"));
    assert!(!codes(&spec, "istio-system", at(27, 2), at(27, 3)).contains(&"EF602"));
    assert!(!codes(&spec, "istio-system", at(27, 4), at(28, 0)).contains(&"EF602"));
    // A merged duration leaks up to 1.23.3 and in 1.24.0.
    let spec = cluster("InboundPassthroughCluster", "MERGE", "        connect_timeout: 3s\n");
    assert_eq!(codes(&spec, "shop", at(24, 0), at(24, 1)), ["EF615"]);
    assert_eq!(codes(&spec, "shop", at(23, 3), at(23, 4)), ["EF615"]);
    assert!(codes(&spec, "shop", at(23, 3), at(24, 0)).is_empty());
    assert!(codes(&spec, "shop", at(24, 1), at(25, 0)).is_empty());
}

/// Istio 1.22 changed the order of filters, which only two filters can show.
#[test]
fn the_order_across_namespaces_is_found() {
    let filter = |name: &str, namespace: &str, priority: i32| {
        format!(
            "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata:\n  name: {name}\n  namespace: {namespace}\nspec:\n  priority: {priority}\n{}---\n",
            before_router(&lua())
        )
    };
    let text = filter("late", "istio-system", 10) + &filter("early", "shop", 0);
    let loaded = load::read_text("it.yaml", text, &load::Options::default());
    let codes = |from, to| -> Vec<String> {
        let with = ["shop".to_owned()];
        let found = compared(&loaded, &with, Release::minor(from), Release::minor(to)).0;
        found.into_iter().filter(|one| one.rule.code == "EF615").map(|one| one.filter).collect()
    };
    assert_eq!(codes(21, 22), ["shop/early"]);
    assert!(codes(22, 24).is_empty());
}

/// The published filters, each alone, from the oldest known release to the newest in one step: how many break, and the
/// number of findings of each rule. `CORPUS` names another folder, and then every finding is printed.
#[test]
fn published_filters_are_audited_as_before() {
    let other = std::env::var_os("CORPUS").map(std::path::PathBuf::from);
    let paths = yaml_files(&other.clone().unwrap_or_else(|| testdata("corpus")));
    let mut verdicts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut hits: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for path in &paths {
        let loaded = crate::linting::read(path);
        let (found, _) = compared(&loaded, &[], Release::minor(18), Release::NEWEST);
        let worst = found.iter().map(Class::of).max();
        *verdicts.entry(worst.map_or("ready", Class::as_str)).or_default() += 1;
        let mut of_file: BTreeMap<&str, usize> = BTreeMap::new();
        for one in &found {
            *of_file.entry(one.rule.code).or_default() += 1;
            if other.is_some() {
                let name = path.file_name().unwrap().display();
                println!("{name}:{}", crate::linting::line(one, &loaded));
                one.notes.iter().for_each(|note| println!("      {note}"));
            }
        }
        for (code, number) in of_file {
            let entry = hits.entry(code).or_default();
            (entry.0, entry.1) = (entry.0 + number, entry.1 + 1);
        }
    }
    let mut out = format!("{} files, each audited alone from Istio 1.18 to 1.31 without config dumps\n\n", paths.len());
    for (word, number) in &verdicts {
        writeln!(out, "{word:<12} {number:>4}").unwrap();
    }
    writeln!(out, "\nfindings, files").unwrap();
    for rule in rules::ALL.iter().filter(|rule| rule.theme() == "upgrade") {
        let (found, files) = hits.get(rule.code).copied().unwrap_or_default();
        writeln!(out, "{} {:<36} {found:>5} {files:>4}", rule.code, rule.name).unwrap();
    }
    if other.is_none() {
        expect(&testdata("corpus/audit.txt"), &out);
    } else {
        println!("{out}");
    }
}
