//! `migrate --to ambient`: the place of every patch, and what neither ztunnel nor a waypoint can take.

use crate::migrate::{all_recorded, input, request};
use crate::support::Share;
use kubectl_envoyfilter::migrate::verdict::Class;
use kubectl_envoyfilter::migrate::{self, Report, Request};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

fn to_ambient(case: &Json) -> Report {
    let loaded = input(case);
    migrate::migrate(&Request { ambient: true, ..request(&loaded) }).unwrap()
}

/// Every patch of every recorded case has a place or blocks the move; objects for a waypoint name Services or a
/// Gateway, never labels.
fn every_patch_has_its_place_in_ambient_mode_by(share: Share) {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ordered = 0;
    for case in share.of(all_recorded()) {
        let id = case["id"].as_str().unwrap();
        let report = to_ambient(&case);
        for patch in &report.filters[0].patches {
            let one = patch.ambient.as_ref().unwrap_or_else(|| panic!("{id}: no place"));
            *places.entry(one.place.name()).or_default() += 1;
            assert!(!one.reason.is_empty(), "{id}");
            let goes = matches!(one.place.name(), "waypoint" | "ztunnel" | "not-needed" | "unaffected");
            assert!(goes || !patch.written, "{id}: {patch:#?}");
            assert!(!(one.place.name() == "waypoint" && patch.written && patch.class < Class::Differs), "{id}");
            // Recorded on a waypoint: policies run first, extensions after cors.
            let position = |one: &&migrate::verdict::Difference| one.kind == migrate::verdict::Kind::Position;
            let reported: Vec<&str> =
                patch.found.differences.iter().filter(position).map(|one| one.effect.as_str()).collect();
            if patch.written && one.place.name() == "waypoint" {
                let expected = match patch.found.pattern.id {
                    "lua" | "wasm" | "ecds" => Some(if ["lua/before-jwt", "lua/first"].contains(&id) {
                        "runs before authentication"
                    } else if id == "lua/before-rbac" {
                        "runs between authentication and ALLOW and DENY policies"
                    } else {
                        "runs after cors"
                    }),
                    "rbac" | "jwt" | "ext-authz" => Some("runs first on the waypoint"),
                    _ => None,
                };
                // The configuration of a discovered filter moves with the filter.
                let some = usize::from(expected.is_some() && !reported.is_empty());
                assert!(reported.len() == some, "{id}: {reported:?}");
                assert!(
                    reported.iter().all(|one| expected.is_some_and(|words| one.starts_with(words))),
                    "{id}: {reported:?}"
                );
                ordered += reported.len();
            }
        }
        let sidecar = report.filters[0]
            .patches
            .iter()
            .all(|patch| patch.ambient.as_ref().is_some_and(|one| one.place.name() == "waypoint") && patch.written);
        for made in report.draft.made.iter().filter(|_| sidecar) {
            let attached =
                ["AuthorizationPolicy", "RequestAuthentication", "TrafficExtension", "WasmPlugin", "Telemetry"];
            if attached.iter().any(|kind| made.object["kind"] == *kind) {
                assert!(made.object["spec"]["selector"].is_null(), "{id}: {}", made.object);
                assert!(made.object["spec"]["targetRefs"].is_array(), "{id}: {}", made.object);
            }
        }
    }
    assert!(ordered > share.least(10), "{ordered}");
    for place in ["unaffected", "waypoint", "waypoint-envoyfilter", "blocked", "ztunnel"] {
        assert!(
            share == Share::Part || places.get(place).is_some_and(|number| *number > 0),
            "nothing is {place}: {places:?}"
        );
    }
}

in_part_and_in_full!(
    every_patch_has_its_place_in_ambient_mode,
    every_patch_has_its_place_in_ambient_mode_in_full,
    every_patch_has_its_place_in_ambient_mode_by
);

const AMBIENT_MESH: &str = r"
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {selector: {app: cart}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart, namespace: shop}
spec: {selector: {matchLabels: {app: cart}}, template: {metadata: {labels: {app: cart}}, spec: {containers: [{name: a, image: x}]}}}
";

const WAYPOINT: &str = r"
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: waypoint, namespace: shop}
spec: {gatewayClassName: istio-waypoint, listeners: [{name: mesh, port: 15008, protocol: HBONE}]}
";

fn ambient_of(filter: &Json, waypoint: bool) -> Report {
    let more = if waypoint { WAYPOINT } else { "" };
    to_ambient(&json!({ "objects": format!("{AMBIENT_MESH}---{more}"), "filters": filter.to_string() }))
}

/// An HTTP filter on what `cart` receives.
fn inbound_filter(name: &str, config: &Json) -> Json {
    json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": { "name": "one", "namespace": "shop" },
        "spec": { "workloadSelector": { "labels": { "app": "cart" } }, "configPatches": [{
            "applyTo": "HTTP_FILTER",
            "match": { "context": "SIDECAR_INBOUND", "listener": { "filterChain": { "filter": {
                "name": "envoy.filters.network.http_connection_manager",
                "subFilter": { "name": "envoy.filters.http.router" } } } } },
            "patch": { "operation": "INSERT_BEFORE", "value": { "name": name, "typed_config": config } },
        }] },
    })
}

fn denied(field: &str, principals: &Json) -> Json {
    let config = json!({
        "@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC",
        field: { "action": "DENY", "policies": { "x": { "permissions": [{ "any": true }], "principals": principals } } },
    });
    inbound_filter("envoy.filters.http.rbac", &config)
}

/// ztunnel enforces only policies on the connection, and sees the caller only where no waypoint is in front of the workload. It
/// knows no dry run, and conditions that it does not read would be ignored.
#[test]
fn ztunnel_gets_only_what_it_enforces() {
    let place = |report: &Report| report.filters[0].patches[0].ambient.as_ref().unwrap().place.name();
    let by_address = json!([{ "direct_remote_ip": { "address_prefix": "10.0.0.0", "prefix_len": 8 } }]);
    let by_path = json!([{ "header": { "name": "x-team", "string_match": { "exact": "a" } } }]);
    let report = ambient_of(&denied("rules", &by_address), false);
    assert_eq!((place(&report), report.filters[0].patches[0].written), ("ztunnel", true), "{report:#?}");
    let differences = &report.filters[0].patches[0].found.differences;
    assert!(
        differences.iter().any(|one| one.effect.contains("the waypoint's address and identity")),
        "{differences:?}"
    );
    assert!(report.draft.made[0].object["spec"]["selector"].is_object(), "{:#}", report.draft.made[0].object);

    let behind = ambient_of(&denied("rules", &by_address), true);
    assert_eq!((place(&behind), behind.filters[0].patches[0].written), ("ztunnel", false), "{behind:#?}");
    assert_eq!(place(&ambient_of(&denied("rules", &by_path), true)), "waypoint");
    assert_eq!(place(&ambient_of(&denied("shadow_rules", &by_address), true)), "waypoint");
}

/// A waypoint has one rule for every caller: what is for the callers of one namespace does not move.
#[test]
fn rules_for_some_callers_block_the_move() {
    let timeout = |namespace: &str| {
        json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": { "name": "one", "namespace": namespace },
            "spec": { "configPatches": [{
                "applyTo": "CLUSTER",
                "match": { "context": "SIDECAR_OUTBOUND", "cluster": { "service": "cart.shop.svc.cluster.local" } },
                "patch": { "operation": "MERGE", "value": { "connect_timeout": "3s" } },
            }] },
        })
    };
    for (namespace, expected) in [("shop", "blocked"), ("istio-system", "waypoint")] {
        let report = ambient_of(&timeout(namespace), true);
        let patch = &report.filters[0].patches[0];
        assert_eq!(patch.ambient.as_ref().unwrap().place.name(), expected, "{patch:#?}");
        assert!(expected == "waypoint" || !patch.written, "{patch:#?}");
    }
}

/// Sidecars need their filter until the last one is gone: what `kubectl apply` reads does not make it smaller.
#[test]
fn sidecars_keep_their_filter_until_they_are_gone() {
    let mut filter = denied("shadow_rules", &json!([{ "any": true }]));
    let limit = json!({ "@type": "type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer", "max_request_bytes": 9 });
    let more = inbound_filter("envoy.filters.http.buffer", &limit)["spec"]["configPatches"][0].clone();
    filter["spec"]["configPatches"].as_array_mut().unwrap().push(more);
    let documents = kubectl_envoyfilter::report::migrate::documents(&ambient_of(&filter, true));
    let kinds: Vec<_> = documents.iter().filter_map(|one| Some(one.object.as_ref()?["kind"].clone())).collect();
    assert_eq!(kinds, ["AuthorizationPolicy"]);
    let rest = documents.last().unwrap();
    assert!(rest.comments.iter().any(|line| line == "Apply it once no workload has a sidecar:"), "{:?}", rest.comments);
}

/// A waypoint has no clusters of other services, so a script that calls one stays an EnvoyFilter with the annotation for them.
#[test]
fn scripts_that_call_clusters_stay_envoyfilters() {
    let lua = |script: &str| {
        let url = "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua";
        inbound_filter("depot.lua", &json!({ "@type": url, "default_source_code": { "inline_string": script } }))
    };
    let place = |script: &str| {
        let report = ambient_of(&lua(script), true);
        report.filters[0].patches[0].ambient.clone().unwrap()
    };
    let call = "function envoy_on_request(h)\n  h:httpCall(\"outbound|80||a.b\", {}, \"\", 100)\nend\n";
    let one = place(call);
    assert_eq!(one.place.name(), "waypoint-envoyfilter");
    assert!(one.reason.contains("referenced-services"), "{}", one.reason);
    assert_eq!(place("function envoy_on_request(h)\n  h:headers():remove(\"x\")\nend\n").place.name(), "waypoint");
}

/// ztunnel starts no TLS: without a waypoint for its ServiceEntry, requests to a host would leave in plain text.
#[test]
fn tls_to_a_host_needs_a_waypoint() {
    let filter = json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": { "name": "one", "namespace": "shop" },
        "spec": { "configPatches": [{
            "applyTo": "CLUSTER", "match": { "context": "SIDECAR_OUTBOUND" },
            "patch": { "operation": "ADD", "value": {
                "name": "scan", "type": "STRICT_DNS", "connect_timeout": "1s",
                "load_assignment": { "cluster_name": "scan", "endpoints": [{ "lb_endpoints": [{ "endpoint": { "address": {
                    "socket_address": { "address": "scan.example.com", "port_value": 443 } } } }] }] },
                "transport_socket": { "name": "envoy.transport_sockets.tls", "typed_config": {
                    "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
                    "sni": "scan.example.com",
                    "common_tls_context": { "validation_context": { "trusted_ca": { "filename": "/etc/ssl/certs/ca-certificates.crt" } } } } },
            } },
        }] },
    });
    let without = ambient_of(&filter, false);
    assert!(!without.filters[0].patches[0].written, "{without:#?}");
    let with = ambient_of(&filter, true);
    assert!(with.filters[0].patches[0].written, "{with:#?}");
    let entry = with.draft.made.iter().find(|made| made.object["kind"] == "ServiceEntry").unwrap();
    assert_eq!(entry.object["metadata"]["labels"]["istio.io/use-waypoint"], "waypoint");
}
