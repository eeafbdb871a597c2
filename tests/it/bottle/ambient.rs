//! `migrate --to ambient`: what the written objects do on the waypoint, as istiod computes it.

use super::commands::run;
use super::{istiod, topology};
use crate::support::texts_where;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The only chain of the waypoint that belongs to the service of the filter's workload.
const OWN: &str = "inbound-vip|7070|http|catalog.shop.svc.cluster.local";

const HCM: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const HTTP: &str = "envoy.extensions.filters.http";

/// An EnvoyFilter on the requests that `catalog` receives.
fn filter(apply_to: &str, operation: &str, value: &Json) -> Json {
    let mut found = json!({ "name": "envoy.filters.network.http_connection_manager" });
    if operation == "INSERT_BEFORE" {
        found["subFilter"] = json!({ "name": "envoy.filters.http.router" });
    }
    json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": { "name": "one", "namespace": "shop" },
        "spec": { "workloadSelector": { "labels": { "app": "catalog" } }, "configPatches": [{
            "applyTo": apply_to,
            "match": { "context": "SIDECAR_INBOUND", "listener": { "filterChain": { "filter": found } } },
            "patch": { "operation": operation, "value": value },
        }] },
    })
}

fn inserted(name: &str, kind: &str, mut config: Json) -> Json {
    config["@type"] = format!("type.googleapis.com/{HTTP}.{kind}").into();
    filter("HTTP_FILTER", "INSERT_BEFORE", &json!({ "name": name, "typed_config": config }))
}

fn merged(mut config: Json) -> Json {
    config["@type"] = format!("type.googleapis.com/{HCM}").into();
    filter("NETWORK_FILTER", "MERGE", &json!({ "typed_config": config }))
}

/// Provider of traces, in the mesh settings.
fn traced() -> Json {
    json!({
        "extensionProviders": [{ "name": "z", "zipkin": { "service": "catalog.shop.svc.cluster.local", "port": 80 } }],
        "defaultProviders": { "tracing": ["z"] },
    })
}

fn settings(objects: &mut [Json], more: &Json) {
    let map = objects.iter_mut().find(|one| one["kind"] == "ConfigMap").unwrap();
    let text = map["data"]["mesh"].as_str().unwrap().to_owned();
    let mut mesh = crate::migrate::yaml(&text).into_iter().next().filter(Json::is_object).unwrap_or_else(|| json!({}));
    for (key, value) in more.as_object().into_iter().flatten() {
        mesh[key] = value.clone();
    }
    map["data"]["mesh"] = mesh.to_string().into();
}

fn write(folder: &Path, objects: &[Json]) {
    fs::create_dir_all(folder).unwrap();
    let texts: Vec<String> = objects.iter().map(Json::to_string).collect();
    fs::write(folder.join("objects.yaml"), texts.join("\n---\n")).unwrap();
}

/// The filter chains of the waypoint's inner listener, by name.
fn chains(istiod: &Path, folder: &Path) -> BTreeMap<String, Json> {
    fn listener<'d>(value: &'d Json, found: &mut Option<&'d Json>) {
        if value["name"] == "main_internal" && value["filter_chains"].is_array() {
            *found = Some(value);
        }
        match value {
            Json::Object(map) => map.values().for_each(|one| listener(one, found)),
            Json::Array(items) => items.iter().for_each(|one| listener(one, found)),
            _ => {}
        }
    }
    let path = folder.to_str().unwrap();
    let (code, out, err) = run(istiod, &["dump", "gateway/waypoint", "-n", "shop", "-f", path]);
    let dump: Json = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{code}: {error}: {err}"));
    let mut found = None;
    listener(&dump, &mut found);
    let of = found.unwrap()["filter_chains"].as_array().unwrap();
    of.iter().map(|chain| (chain["name"].as_str().unwrap_or_default().to_owned(), chain.clone())).collect()
}

fn manager(chain: &Json) -> &Json {
    let filters = chain["filters"].as_array().unwrap();
    filters.iter().map(|one| &one["typed_config"]).find(|one| one["http_filters"].is_array()).unwrap()
}

/// Where an object puts its filter on the waypoint: `first`, or after `cors`.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Where {
    First,
    AfterCors,
    /// First, as an extension of phase AUTHN.
    Authn,
    /// It changes settings of the chain.
    Settings,
    /// No object is written.
    Nowhere,
}

/// Each object changes the chain of the filter's service, and no other; its place is the one that `migrate` says.
#[test]
#[ignore = "needs Go: .ci/run"]
fn objects_change_the_chain_of_their_service_only() {
    let istiod = istiod("1.31");
    let rules = |action: &str| {
        json!({ "rules": { "action": action, "policies": { "a": {
            "permissions": [{ "url_path": { "path": { "prefix": "/admin" } } }], "principals": [{ "any": true }] } } } })
    };
    let jwt = json!({
        "providers": { "p": { "issuer": "https://a.example.com", "forward": true, "payload_in_metadata": "payload",
            "remote_jwks": { "http_uri": { "uri": "https://a.example.com/keys", "cluster": "c", "timeout": "5s" } } } },
        "rules": [{ "match": { "prefix": "/" }, "requires": { "provider_name": "p" } }],
    });
    let log = json!({ "access_log": [{ "name": "envoy.access_loggers.file", "typed_config": {
        "@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog", "path": "/dev/stdout",
        "log_format": { "json_format": { "path": "%REQ(:path)%" } } } }] });
    let service = json!({ "http_service": { "server_uri": { "uri": "http://cart.shop.svc.cluster.local",
        "cluster": "outbound|80||cart.shop.svc.cluster.local", "timeout": "1s" } } });
    let share = || merged(json!({ "tracing": { "random_sampling": { "value": 50 } } }));
    let code = "function envoy_on_request(handle)\n  handle:headers():add(\"x-a\", \"b\")\nend\n";
    let lua = json!({ "name": "own", "typed_config": {
        "@type": format!("type.googleapis.com/{HTTP}.lua.v3.Lua"), "inline_code": code } });
    let module = json!({ "config": { "root_id": "r", "vm_config": { "runtime": "envoy.wasm.runtime.v8", "code": {
        "remote": { "http_uri": { "uri": "https://modules.example.com/a.wasm", "cluster": "c", "timeout": "30s" } } } } } });
    let own = json!({ "defaultConfig": { "tracing": { "zipkin": { "address": "zipkin.istio-system:9411" } } } });
    let cases = [
        ("lua", inserted("own", "lua.v3.Lua", json!({ "inline_code": code })), json!({}), Where::AfterCors),
        ("lua-first", filter("HTTP_FILTER", "INSERT_FIRST", &lua), json!({}), Where::Authn),
        ("wasm", inserted("own", "wasm.v3.Wasm", module), json!({}), Where::AfterCors),
        ("deny", inserted("own", "rbac.v3.RBAC", rules("DENY")), json!({}), Where::First),
        ("jwt", inserted("own", "jwt_authn.v3.JwtAuthentication", jwt), json!({}), Where::First),
        ("authz", inserted("own", "ext_authz.v3.ExtAuthz", service), json!({}), Where::First),
        ("log", merged(log), json!({}), Where::Settings),
        ("traced", share(), traced(), Where::Settings),
        ("own-tracer", share(), own, Where::Nowhere),
        // It would refuse what its rule does not match.
        ("allow", inserted("own", "rbac.v3.RBAC", rules("ALLOW")), json!({}), Where::Nowhere),
        ("timeout", merged(json!({ "stream_idle_timeout": "5s" })), json!({}), Where::Nowhere),
    ];
    for (id, filter, mesh, place) in cases {
        let folder = tempfile::tempdir().unwrap();
        let mut objects = topology("ambient");
        settings(&mut objects, &mesh);
        let input = folder.path().join("input");
        write(&input, &[objects.clone(), vec![filter]].concat());
        let arguments = ["migrate", input.to_str().unwrap(), "--to", "ambient", "--accept", "reviewed", "-o", "json"];
        let (code, out, err) = run(&istiod, &arguments);
        let report: Json = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{id} {code}: {error}: {err}"));
        let patch = &report["filters"][0]["patches"][0];
        assert_eq!(patch["written"], json!(place != Where::Nowhere), "{id}: {patch:#}");
        if place == Where::Nowhere {
            assert_eq!(report["objects"], json!([]), "{id}");
            continue;
        }
        let before = folder.path().join("before");
        write(&before, &objects);
        settings(&mut objects, &report["meshConfig"]);
        objects.extend(report["objects"].as_array().unwrap().iter().map(|one| one["object"].clone()));
        let after = folder.path().join("after");
        write(&after, &objects);
        let (before, after) = (chains(&istiod, &before), chains(&istiod, &after));
        let changed: Vec<&String> = after.keys().filter(|name| before.get(*name) != after.get(*name)).collect();
        assert_eq!((changed, before.len()), (vec![&OWN.to_owned()], after.len()), "{id}");
        let names = |chain: &Json| -> Vec<String> {
            let filters = manager(chain)["http_filters"].as_array().unwrap();
            filters.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
        };
        let (old, new) = (names(&before[OWN]), names(&after[OWN]));
        let cors = new.iter().position(|name| name == "envoy.filters.http.cors").unwrap();
        let positions = texts_where(&patch["differences"], ("kind", "position"), "effect");
        let added = new.len() - old.len();
        match place {
            Where::First => {
                assert!(added > 0 && new[added..] == old[..], "{id}: {new:?}");
                let said = positions.iter().filter(|one| one.starts_with("runs first on the waypoint")).count();
                assert_eq!(said, positions.len(), "{id}: {positions:?}");
                assert!(said > 0, "{id}: no position is said");
            }
            Where::AfterCors => {
                assert!(added == 1 && new[..=cors] == old[..=cors] && new[cors + 2..] == old[cors + 1..], "{new:?}");
                assert!(matches!(positions[..], [one] if one.starts_with("runs after cors")), "{id}: {positions:?}");
            }
            Where::Authn => {
                assert!(added == 1 && new[1..] == old[..], "{id}: {new:?}");
                assert!(
                    matches!(positions[..], [one] if one.starts_with("runs before authentication")),
                    "{positions:?}"
                );
            }
            Where::Settings | Where::Nowhere => assert_eq!(old, new, "{id}"),
        }
        if id == "traced" {
            let tracing = &manager(&after[OWN])["tracing"];
            assert_eq!(tracing["random_sampling"]["value"].as_f64(), Some(50.0), "{tracing:#}");
            assert!(tracing["provider"].is_object(), "{tracing:#}");
        }
    }
}
