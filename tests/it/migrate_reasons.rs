//! What `migrate` says about patches that do not move (the cause, and what would help) and about the time when a filter and its
//! replacement both exist.

use serde_json::{Value as Json, json};
use std::process::Command;

/// The report on some documents.
fn migrated(documents: &[Json], accept: &str) -> Json {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.json");
    std::fs::write(&path, json!({ "apiVersion": "v1", "kind": "List", "items": documents }).to_string()).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(["migrate", path.to_str().unwrap(), "--accept", accept, "--to", "1.31", "-o", "json"])
        .output()
        .unwrap();
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {out:?}"))
}

fn filter(name: &str, patches: &Json) -> Json {
    json!({ "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "metadata": { "name": name, "namespace": "shop" },
        "spec": { "workloadSelector": { "labels": { "app": "cart" } }, "configPatches": patches } })
}

fn http_filter(operation: &str, anchor: &str, value: &Json) -> Json {
    json!({ "applyTo": "HTTP_FILTER", "match": { "context": "SIDECAR_INBOUND", "listener": { "filterChain": { "filter": {
            "name": "envoy.filters.network.http_connection_manager", "subFilter": { "name": anchor } } } } },
        "patch": { "operation": operation, "value": value } })
}

fn authorizer(cluster: &str) -> Json {
    http_filter(
        "INSERT_BEFORE",
        "envoy.filters.http.router",
        &json!({ "name": "envoy.filters.http.ext_authz", "typed_config": {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", "transport_api_version": "V3",
        "http_service": { "server_uri": { "uri": "http://x", "cluster": cluster, "timeout": "1s" } } } }),
    )
}

fn cluster(name: &str, addresses: &[&str]) -> Json {
    let endpoints: Vec<Json> = addresses
        .iter()
        .map(|address| json!({ "endpoint": { "address": { "socket_address": { "address": address, "port_value": 9000 } } } }))
        .collect();
    json!({ "applyTo": "CLUSTER", "match": { "context": "SIDECAR_INBOUND" }, "patch": { "operation": "ADD", "value": {
        "name": name, "type": "STRICT_DNS", "load_assignment": { "cluster_name": name, "endpoints": [{ "lb_endpoints": endpoints }] } } } })
}

/// The notes on a patch of the first filter.
fn notes(report: &Json, patch: usize) -> String {
    report["filters"][0]["patches"][patch]["notes"].to_string()
}

/// A service that is not known: what was looked at, and what to add.
#[test]
fn an_unknown_service_is_refused_with_what_would_show_it() {
    let one = filter("authz", &json!([authorizer("checker")]));
    let said = notes(&migrated(std::slice::from_ref(&one), "same-but"), 0);
    assert!(said.contains("no EnvoyFilter of the input (1 read) adds it. Add the EnvoyFilter that does"), "{said}");
    // A cluster that leads nowhere by name.
    let short = filter("clusters", &json!([cluster("checker", &["checker"])]));
    let said = notes(&migrated(&[one.clone(), short], "same-but"), 0);
    assert!(said.contains("which EnvoyFilter shop/clusters adds, shows none: the pod's search path"), "{said}");
    // Two that lead to different hosts.
    let [first, second] = ["a", "b"].map(|name| {
        let host = format!("{name}.shop.svc.cluster.local");
        filter(name, &json!([cluster("checker", &[host.as_str()])]))
    });
    let both = migrated(&[one.clone(), first.clone(), second], "same-but");
    let said = both["filters"].as_array().unwrap().iter().find(|one| one["name"] == "authz").unwrap().to_string();
    assert!(said.contains("the EnvoyFilters shop/a and shop/b add cluster checker with different endpoints"), "{said}");
    for (name, why) in
        [("inbound|80||", "is not that of a Service"), ("outbound|80|v1|checker.shop.svc.cluster.local", "subset v1")]
    {
        let said = notes(&migrated(&[filter("authz", &json!([authorizer(name)]))], "same-but"), 0);
        assert!(said.contains(why), "{name}: {said}");
    }
    // With one of them, the service is known.
    let known = migrated(&[one, first], "same-but");
    assert!(!known.to_string().contains("a provider names"), "{known:#}");
}

/// Operations that no native API has: the nearest one, by what the patch is about.
#[test]
fn removals_and_replacements_name_the_nearest_api() {
    let chain = json!({ "applyTo": "FILTER_CHAIN", "match": { "context": "SIDECAR_INBOUND", "listener": { "portNumber": 8080 } },
        "patch": { "operation": "REMOVE" } });
    let cluster = json!({ "applyTo": "CLUSTER", "match": { "context": "SIDECAR_OUTBOUND", "cluster": { "service": "a.shop.svc.cluster.local" } },
        "patch": { "operation": "REMOVE" } });
    let route = json!({ "applyTo": "HTTP_ROUTE", "match": { "context": "SIDECAR_OUTBOUND" }, "patch": { "operation": "REMOVE" } });
    let patches = json!([
        http_filter("REMOVE", "istio.stats", &Json::Null),
        http_filter("REMOVE", "envoy.filters.http.cors", &Json::Null),
        chain,
        cluster,
        route,
    ]);
    let report = migrated(&[filter("removes", &patches)], "same-but");
    for (patch, said) in [
        "no native API removes `istio.stats`; nearest: a Telemetry that disables ALL_METRICS",
        "`envoy.filters.http.cors` if istiod generates it; if another object puts it there",
        "no native API has REMOVE for FILTER_CHAIN: listeners and filter chains follow from the servers of Gateways",
        "no native API has REMOVE for CLUSTER: what a proxy has clusters for follows from the Services",
        "no native API has REMOVE for HTTP_ROUTE: routes follow from VirtualServices",
    ]
    .into_iter()
    .enumerate()
    {
        assert!(notes(&report, patch).contains(said), "{said}: {}", notes(&report, patch));
    }
}

/// TLS that no object sets: which ones come nearest depends on the context.
#[test]
fn tls_without_an_api_is_refused_by_context() {
    let tls = |context: &str| {
        let value = json!({ "transport_socket": { "name": "envoy.transport_sockets.tls", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
            "common_tls_context": { "tls_params": { "tls_minimum_protocol_version": "TLSv1_3" } } } } });
        let patch = json!({ "applyTo": "FILTER_CHAIN", "match": { "context": context }, "patch": { "operation": "MERGE", "value": value } });
        notes(&migrated(&[filter("tls", &json!([patch]))], "same-but"), 0)
    };
    assert!(tls("SIDECAR_OUTBOUND").contains("sidecars end no TLS of their own application"));
    assert!(tls("ANY").contains("add the workloads or the Gateway, or name the context"), "{}", tls("ANY"));
    assert_eq!(tls("GATEWAY"), "[]");
}

const BROKEN: &str = "function envoy_on_request(handle)\n  handle:headers():add(\"x\", \"y\"\nend\n";
const CORRECT: &str = "function envoy_on_request(handle)\n  handle:headers():add(\"x\", \"y\")\nend\n";

fn lua(of: &str, code: &str) -> Json {
    let value = json!({ "name": "envoy.filters.http.lua", "typed_config": { "@type": format!("type.googleapis.com/{of}"), "inlineCode": code } });
    filter("script", &json!([http_filter("INSERT_BEFORE", "envoy.filters.http.router", &value)]))
}

const V2: &str = "envoy.config.filter.http.lua.v2.Lua";
const V3: &str = "envoy.extensions.filters.http.lua.v3.Lua";

/// Envoy 1.36.4, 1.39.3 and 1.40.0 reject a listener with such code: the native object would break the proxies too.
#[test]
fn lua_that_does_not_compile_moves_nowhere() {
    let report = migrated(&[lua(V3, BROKEN)], "reviewed");
    assert!(
        notes(&report, 0).contains("the code does not compile (line 3: `)` expected, found `end`): Envoy rejects"),
        "{report:#}"
    );
    assert_eq!(report["objects"], json!([]));
    // A filter that does nothing today is not said to work either.
    for accept in ["same-but", "reviewed"] {
        let report = migrated(&[lua(V2, BROKEN)], accept);
        let rewrite = &report["rewrites"][0];
        assert_eq!((&rewrite["effect"], &rewrite["written"]), (&json!("faulty"), &json!(false)), "{report:#}");
        let meaning = rewrite["meaning"].as_str().unwrap();
        assert!(meaning.contains("does not parse") && meaning.contains("proxies would reject"), "{meaning}");
        assert_eq!(report["objects"], json!([]));
    }
    let report = migrated(&[lua(V2, CORRECT)], "reviewed");
    assert_eq!(report["objects"][0]["object"]["kind"], "TrafficExtension");
    assert!(report.to_string().contains("today it does nothing, the native object takes effect"), "{report:#}");
    assert_eq!(
        report["filters"][0]["meanwhile"],
        json!(["the patch does nothing: only what replaces it applies"]),
        "{report:#}"
    );
    assert_eq!(
        migrated(&[lua(V3, CORRECT)], "reviewed")["filters"][0]["meanwhile"],
        json!(["the code runs twice for each request: headers that it adds appear twice"])
    );
}

/// While a filter and its DestinationRule both exist, the filter's values win, except for limits: Envoy reads the first entry of
/// a priority, which is istiod's.
#[test]
fn what_applies_in_between_is_said_by_setting() {
    let meanwhile = |value: &Json| {
        let patch = json!({ "applyTo": "CLUSTER", "match": { "context": "SIDECAR_OUTBOUND", "cluster": {
            "service": "a.shop.svc.cluster.local", "portNumber": 80 } }, "patch": { "operation": "MERGE", "value": value } });
        migrated(&[filter("limits", &json!([patch]))], "reviewed")["filters"][0]["meanwhile"].clone()
    };
    let limits = json!({ "thresholds": [{ "max_connections": 7 }] });
    let of_limits =
        "the rule's limits (`circuit_breakers`) apply: Envoy reads istiod's entry, not the one that the filter adds";
    let others = "of the other settings, the filter's values win: nothing is applied twice";
    assert_eq!(meanwhile(&json!({ "circuit_breakers": limits })), json!([of_limits]));
    assert_eq!(meanwhile(&json!({ "circuit_breakers": limits, "connect_timeout": "3s" })), json!([of_limits, others]));
    assert_eq!(
        meanwhile(&json!({ "connect_timeout": "3s" })),
        json!(["the filter's value wins: nothing is applied twice"])
    );
    // Envoy 1.36.4 and 1.40.0 reject a cluster with HTTP options that name no protocol.
    let options = |of: Json| json!({ "typed_extension_protocol_options": { "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": of } });
    let mut http = json!({ "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        "common_http_protocol_options": { "idle_timeout": "3s" } });
    let rejected =
        "Envoy rejects the clusters as long as the filter is in them: the rule applies once the EnvoyFilter is gone";
    assert_eq!(meanwhile(&options(http.clone())), json!([rejected]));
    http["explicit_http_config"] = json!({ "http2_protocol_options": {} });
    assert_eq!(meanwhile(&options(http)), json!(["the filter's value wins: nothing is applied twice"]));
    assert_eq!(
        meanwhile(&json!({ "lb_policy": "ROUND_ROBIN" })),
        json!(["the rule's ROUND_ROBIN applies: MERGE cannot set it"])
    );
}

/// Two patches with the same status codes on one route: MERGE lists them twice, so that the result is not the same
/// configuration.
#[test]
fn status_codes_of_two_filters_are_not_exact() {
    let route = json!({ "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": { "name": "cart", "namespace": "shop" },
        "spec": { "parentRefs": [{ "name": "front" }], "hostnames": ["shop.example.com"],
            "rules": [{ "backendRefs": [{ "name": "cart", "port": 80 }] }] } });
    let gateway = json!({ "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": { "name": "front", "namespace": "shop" },
        "spec": { "gatewayClassName": "istio", "listeners": [{ "name": "http", "port": 80, "protocol": "HTTP" }] } });
    let mesh = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "istio", "namespace": "istio-system" },
        "data": { "mesh": "accessLogFile: /dev/stdout" } });
    let retries = |name: &str, codes: Json, priority: i32| {
        let mut policy = json!({ "num_retries": 3, "retry_on": "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes" });
        policy["retriable_status_codes"] = codes;
        json!({ "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "metadata": { "name": name, "namespace": "shop" },
            "spec": { "priority": priority, "targetRefs": [{ "kind": "Gateway", "group": "gateway.networking.k8s.io", "name": "front" }],
                "configPatches": [{ "applyTo": "HTTP_ROUTE", "match": { "context": "GATEWAY", "routeConfiguration": { "vhost": {
                    "name": "shop.example.com:80", "route": { "name": "shop.cart.0" } } } },
                    "patch": { "operation": "MERGE", "value": { "route": { "retry_policy": policy } } } }] } })
    };
    let class = |filters: &[Json]| {
        let all = [filters, &[route.clone(), gateway.clone(), mesh.clone()]].concat();
        let report = migrated(&all, "reviewed");
        let classes = report["filters"].as_array().unwrap().iter().map(|one| one["class"].as_str().unwrap().to_owned());
        classes.collect::<Vec<_>>()
    };
    let [one, two] = [retries("one", json!([503]), 0), retries("two", json!([503]), 1)];
    assert_eq!(class(std::slice::from_ref(&one)), ["exact"]);
    assert_eq!(class(&[one.clone(), two]), ["same-but", "same-but"]);
}

/// What has no native API says what to do instead, and where the missing API is discussed.
#[test]
fn what_has_no_native_api_says_what_to_do() {
    let http = [
        ("ratelimit.v3.RateLimit", "istio/issues/43295"),
        ("local_ratelimit.v3.LocalRateLimit", "istio.io/pull/16667"),
        ("ext_proc.v3.ExternalProcessor", "istio/issues/32490"),
        ("oauth2.v3.OAuth2", "istio/issues/32149"),
        ("buffer.v3.Buffer", "istio/issues/11119"),
        ("compressor.v3.Compressor", "istio/issues/18443"),
        ("decompressor.v3.Decompressor", "istio/issues/18443"),
        ("grpc_json_transcoder.v3.GrpcJsonTranscoder", ""),
        ("dynamic_forward_proxy.v3.FilterConfig", ""),
    ];
    let mut patches: Vec<Json> = http
        .iter()
        .map(|(of, _)| {
            let of = format!("type.googleapis.com/envoy.extensions.filters.http.{of}");
            http_filter(
                "INSERT_BEFORE",
                "envoy.filters.http.router",
                &json!({ "name": "one", "typed_config": { "@type": of } }),
            )
        })
        .collect();
    let manager = |value: &Json| {
        let mut config = json!({ "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager" });
        config.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        json!({ "applyTo": "NETWORK_FILTER", "match": { "context": "SIDECAR_INBOUND", "listener": { "filterChain": { "filter": {
            "name": "envoy.filters.network.http_connection_manager" } } } },
            "patch": { "operation": "MERGE", "value": { "typed_config": config } } })
    };
    let merge = |apply_to: &str, context: &str, value: &Json| json!({ "applyTo": apply_to, "match": { "context": context }, "patch": { "operation": "MERGE", "value": value } });
    patches.extend([
        manager(&json!({ "max_request_headers_kb": 96 })),
        manager(
            &json!({ "local_reply_config": { "body_format": { "text_format_source": { "inline_string": "no" } } } }),
        ),
        manager(&json!({ "common_http_protocol_options": { "max_headers_count": 200 } })),
        manager(&json!({ "strip_trailing_host_dot": true })),
        merge(
            "HTTP_ROUTE",
            "SIDECAR_OUTBOUND",
            &json!({ "route": { "hedge_policy": { "hedge_on_per_try_timeout": true } } }),
        ),
        merge("HTTP_ROUTE", "SIDECAR_OUTBOUND", &json!({ "route": { "idle_timeout": "5s" } })),
        merge("CLUSTER", "SIDECAR_OUTBOUND", &json!({ "original_dst_lb_config": { "use_http_header": true } })),
        merge("CLUSTER", "SIDECAR_OUTBOUND", &json!({ "per_connection_buffer_limit_bytes": 32768 })),
        merge(
            "LISTENER",
            "SIDECAR_INBOUND",
            &json!({ "socket_options": [{ "level": 1, "name": 9, "int_value": 1, "state": "STATE_PREBIND" }] }),
        ),
    ]);
    let report = migrated(&[filter("many", &json!(patches))], "reviewed");
    for (index, patch) in report["filters"][0]["patches"].as_array().unwrap().iter().enumerate() {
        let said = patch["notes"].to_string();
        let advised = ["keep the EnvoyFilter", "nearest: "].iter().any(|word| said.contains(word));
        assert!(advised, "patch {index}: {patch:#}");
        if let Some((_, follow)) = http.get(index) {
            assert!(patch["follow"].as_str().unwrap_or_default().ends_with(follow), "patch {index}: {patch:#}");
        }
    }
}

/// Lua that answers requests itself, behind the CORS filter: on Envoy 1.40, a preflight got 200 behind it and 400 before it, and
/// the refusal of a request lost `access-control-allow-origin`.
#[test]
fn lua_that_answers_before_the_cors_filter_is_not_the_same() {
    let code =
        "function envoy_on_request(h) if not h:headers():get('id') then h:respond({[':status'] = '400'}, 'no') end end";
    let silent = "function envoy_on_request(h) h:headers():add('id', 'respond') end";
    let lua = |operation: &str, anchor: &str, code: &str| {
        let of = "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua";
        let value =
            json!({ "name": "ids", "typed_config": { "@type": of, "default_source_code": { "inline_string": code } } });
        filter("ids", &json!([http_filter(operation, anchor, &value)]))
    };
    let policy = json!({ "apiVersion": "networking.istio.io/v1", "kind": "VirtualService", "metadata": { "name": "cart", "namespace": "shop" },
        "spec": { "hosts": ["cart"], "http": [{ "corsPolicy": { "allowOrigins": [{ "exact": "https://a.example.com" }] },
            "route": [{ "destination": { "host": "cart" } }] }] } });
    let said = |filter: Json, others: &[Json]| {
        let report = migrated(&[std::slice::from_ref(&filter), others].concat(), "reviewed");
        let patch = &report["filters"][0]["patches"][0];
        (patch["class"].as_str().unwrap().to_owned(), patch["differences"].to_string())
    };
    let lost = "replies of the code (`respond`) no longer get its headers";
    for (operation, anchor) in
        [("INSERT_BEFORE", "envoy.filters.http.router"), ("INSERT_AFTER", "envoy.filters.http.cors")]
    {
        let (class, differences) = said(lua(operation, anchor, code), std::slice::from_ref(&policy));
        assert!(class == "differs" && differences.contains(lost), "{anchor}: {class} {differences}");
        let (class, differences) = said(lua(operation, anchor, code), &[]);
        assert!(class == "same-but" && differences.contains(lost), "{anchor}: {class} {differences}");
        let (class, differences) = said(lua(operation, anchor, silent), std::slice::from_ref(&policy));
        assert!(class == "same-but" && !differences.contains(lost), "{anchor}: {class} {differences}");
        assert!(differences.contains("CORS preflights"), "{anchor}: {differences}");
    }
    let (_, differences) = said(lua("INSERT_BEFORE", "envoy.filters.http.cors", code), std::slice::from_ref(&policy));
    assert!(!differences.contains(lost), "{differences}");
}

/// Every patch repeats the rules of all ports of its service: past a hundred, none is written.
#[test]
fn a_service_with_very_many_ports_is_left_to_the_reader() {
    let said = |count: u32| {
        let ports: Vec<Json> =
            (0..count).map(|at| json!({ "name": format!("http-{at}"), "port": 8000 + at })).collect();
        let service = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "cart", "namespace": "shop" },
            "spec": { "clusterIP": "10.0.1.10", "selector": { "app": "cart" }, "ports": ports } });
        let host = "cart.shop.svc.cluster.local";
        let patch = json!({ "applyTo": "HTTP_ROUTE", "match": { "context": "SIDECAR_OUTBOUND", "routeConfiguration": {
                "vhost": { "name": format!("{host}:8000"), "route": { "name": "default" } } } },
            "patch": { "operation": "MERGE", "value": { "route": { "retry_policy": {
                "retry_on": "5xx", "num_retries": 4 } } } } });
        let one = json!({ "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": { "name": "slow", "namespace": "shop" }, "spec": { "configPatches": [patch] } });
        let report = migrated(&[service, one], "differs");
        (notes(&report, 0), report.to_string().contains("\"VirtualService\""))
    };
    let (notes, written) = said(101);
    assert!(notes.contains("cart.shop.svc.cluster.local has more than 100 ports") && !written, "{notes}");
    let (notes, written) = said(100);
    assert!(!notes.contains("more than 100 ports") && written, "{notes}");
}
