//! Reading config dumps: formats, damage, identity, rewriting.

#[path = "../../benches/support/big_dump.rs"]
#[allow(dead_code, reason = "shared with the benchmarks")]
mod big_dump;

use kubectl_envoyfilter::load::dump::{Dump, Edit, Identity, Layout};
use kubectl_envoyfilter::model::proxy::ProxyKind;
use kubectl_envoyfilter::model::resource::{FieldNames, ProxyConfig, Resource, ResourceKind, ResourceState};
use kubectl_envoyfilter::source::Severity;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::Write;

const STATES: &str = include_str!("../../testdata/dumps/states.json");
const LISTENERS: &str = include_str!("../../testdata/dumps/istioctl-listeners.json");
const CLUSTERS: &str = include_str!("../../testdata/dumps/istioctl-clusters.json");
const ROUTES: &str = include_str!("../../testdata/dumps/istioctl-routes.json");
const BOOTSTRAP: &str = include_str!("../../testdata/dumps/istioctl-bootstrap.json");
const ECDS: &str = include_str!("../../testdata/dumps/istioctl-ecds.json");

fn whole(text: &str) -> Dump {
    let (dump, problems) = Dump::from_text("dump.json", text);
    assert_eq!(problems, []);
    dump.expect("a dump")
}

fn config(dump: &Dump) -> ProxyConfig<'_> {
    let identity = Identity { namespace: dump.proxy().is_none().then(|| "shop".to_owned()), ..Identity::default() };
    dump.config(&identity).expect("an identity")
}

fn list(dump: &Dump) -> Vec<(ResourceKind, ResourceState, String)> {
    config(dump).resources.iter().map(|it| (it.kind, it.state, it.name.to_string())).collect()
}

/// The only problem of a text without any resources.
fn refused(bytes: &[u8]) -> (&'static str, String) {
    let (dump, problems) = Dump::from_reader("it", bytes, Layout::Kept);
    assert!(dump.is_none());
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].severity, Severity::Error);
    (problems[0].code.as_str(), problems[0].message.clone())
}

fn rewritten(dump: &Dump, edits: &[Edit<'_>]) -> String {
    let rewritten = dump.rewrite(edits);
    assert_eq!(rewritten.problems, []);
    let mut out = Vec::new();
    rewritten.write_to(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The index agrees with a full parse of the recording, resource by resource.
#[test]
fn recorded_dump() {
    let text = big_dump::recorded();
    let dump = whole(&text);
    let config = config(&dump);
    let parsed: Value = serde_json::from_str(&text).unwrap();
    let mut expected = Vec::new();
    for section in parsed["configs"].as_array().unwrap() {
        for (key, kind, pointer) in [
            ("dynamic_active_clusters", ResourceKind::Cluster, "/cluster"),
            ("dynamic_listeners", ResourceKind::Listener, "/active_state/listener"),
            ("dynamic_route_configs", ResourceKind::Route, "/route_config"),
        ] {
            for item in section[key].as_array().into_iter().flatten() {
                expected.push((kind, item.pointer(pointer).unwrap().clone()));
            }
        }
    }
    assert_eq!(expected.len(), 31);
    assert_eq!(config.resources.len(), expected.len());
    for (found, (kind, value)) in config.resources.iter().zip(&expected) {
        assert_eq!(found.kind, *kind);
        assert_eq!(found.state, ResourceState::Active);
        assert_eq!(found.name, value["name"].as_str().unwrap());
        assert_eq!(&serde_json::from_str::<Value>(found.json.read()).unwrap(), value);
    }
    assert_eq!(config.proxy.full_name(), "shop/cart-1");
    assert_eq!(config.proxy.labels["version"], "v1");
    assert_eq!(dump.node_id(), Some("sidecar~10.2.0.10~cart-1.shop~shop.svc.cluster.local"));
    assert_eq!(config.field_names, FieldNames::Proto);
}

#[test]
fn every_state() {
    use ResourceKind::{Cluster, ExtensionConfig, Listener, Route};
    use ResourceState::{Active, Draining, Static, Warming};
    let dump = whole(STATES);
    let config = config(&dump);
    let found: Vec<_> = config.resources.iter().map(|it| (it.kind, it.state, it.name.as_ref())).collect();
    assert_eq!(
        found,
        [
            (Cluster, Static, "xds-grpc"),
            (Cluster, Active, "outbound|80||cart.shop.svc.cluster.local"),
            (Cluster, Active, "outbound|81||cart.shop.svc.cluster.local"),
            (Cluster, Warming, "outbound|80||cart.shop.svc.cluster.local"),
            (Listener, Static, ""),
            (Listener, Active, "0.0.0.0_8080"),
            (Listener, Warming, "0.0.0.0_8080"),
            (Listener, Draining, "0.0.0.0_8080"),
            (Listener, Active, "a \"quoted\" {[name]} \\ é"),
            (Route, Static, "inbound|8080||"),
            (Route, Active, "http.8080"),
            (ExtensionConfig, Active, "edge.wasm-auth"),
        ]
    );
    let generated = |kind| config.generated(kind).map(|(index, _)| index).collect::<Vec<_>>();
    assert_eq!(generated(Cluster), [2, 3]);
    assert_eq!(generated(Listener), [6, 8]);
    assert_eq!(generated(Route), [10]);
    let error = config.resources[2].error.as_ref().unwrap();
    assert_eq!(error.details, "no such type: \"NONSENSE\"");
    assert_eq!(error.version_info.as_deref(), Some("v7"));
    assert_eq!(error.last_update_attempt.as_deref(), Some("2025-11-21T12:00:02.000Z"));
    assert!(error.failed_configuration.unwrap().contains("NONSENSE"));
    assert_eq!(config.refused.len(), 1);
    assert_eq!((config.refused[0].kind, config.refused[0].name.as_ref()), (Listener, "0.0.0.0_8443"));
    assert_eq!(config.proxy.kind, ProxyKind::Gateway);
    assert_eq!(config.proxy.envoy_version.as_deref(), Some("1.37.2-dev"));
    assert_eq!(config.proxy.extensions, ["envoy.filters.http.lua", "envoy.filters.http.router"]);
    assert!(config.resources.iter().all(|it| !it.json.read().contains("inline_bytes")));
}

#[test]
fn compact_is_the_same() {
    let compact = serde_json::from_str::<Value>(STATES).unwrap().to_string();
    assert_eq!(list(&whole(&compact)), list(&whole(STATES)));
}

#[test]
fn lower_camel_case_is_the_same() {
    let mut camel = STATES.to_owned();
    for (proto, json) in [
        ("static_clusters", "staticClusters"),
        ("dynamic_active_clusters", "dynamicActiveClusters"),
        ("dynamic_warming_clusters", "dynamicWarmingClusters"),
        ("static_listeners", "staticListeners"),
        ("dynamic_listeners", "dynamicListeners"),
        ("active_state", "activeState"),
        ("warming_state", "warmingState"),
        ("draining_state", "drainingState"),
        ("error_state", "errorState"),
        ("failed_configuration", "failedConfiguration"),
        ("last_update_attempt", "lastUpdateAttempt"),
        ("version_info", "versionInfo"),
        ("last_updated", "lastUpdated"),
        ("static_route_configs", "staticRouteConfigs"),
        ("dynamic_route_configs", "dynamicRouteConfigs"),
        ("route_config", "routeConfig"),
        ("ecds_filters", "ecdsFilters"),
        ("ecds_filter", "ecdsFilter"),
        ("dynamic_active_secrets", "dynamicActiveSecrets"),
    ] {
        camel = camel.replace(&format!("\"{proto}\""), &format!("\"{json}\""));
    }
    let (camel, proto) = (whole(&camel), whole(STATES));
    assert_eq!(list(&camel), list(&proto));
    assert_eq!(config(&camel).resources[2].error.as_ref().unwrap().details, "no such type: \"NONSENSE\"");
    assert_eq!(camel.field_names(), FieldNames::Json);
}

#[test]
fn lists_of_istioctl() {
    use ResourceKind::{Cluster, Listener, Route};
    use ResourceState::{Active, Static};
    let found = |text| list(&whole(text));
    assert_eq!(found(LISTENERS), [(Listener, Active, "0.0.0.0_8080".to_owned()), (Listener, Static, String::new())]);
    assert_eq!(
        found(CLUSTERS),
        [
            (Cluster, Active, "outbound|80||cart.shop.svc.cluster.local".to_owned()),
            (Cluster, Static, "xds-grpc".to_owned())
        ]
    );
    assert_eq!(found(ROUTES), [(Route, Active, "80".to_owned()), (Route, Static, "inbound|8080||".to_owned())]);
    assert_eq!(found(ECDS), [(ResourceKind::ExtensionConfig, Active, "shop.wasm-auth".to_owned())]);
    let dump = whole(LISTENERS);
    assert_eq!(dump.field_names(), FieldNames::Json);
    assert_eq!(dump.config(&Identity::default()).unwrap_err().code.as_str(), "dump-without-node");
    assert_eq!(config(&dump).proxy.kind, ProxyKind::Gateway);
}

#[test]
fn answers_for_single_kinds_one_after_the_other() {
    let dump = whole(&format!("{BOOTSTRAP}{LISTENERS}\n{CLUSTERS}{ROUTES}{ECDS}"));
    let config = dump.config(&Identity::default()).unwrap();
    assert_eq!(config.resources.len(), 7);
    assert_eq!(config.proxy.full_name(), "shop/cart-1");
    assert_eq!(
        (config.proxy.istio_version.as_str(), config.proxy.envoy_version.as_deref()),
        ("1.31.0", Some("1.37.0"))
    );
}

/// Envoy's `/config_dump?resource=…` and istiod's `/debug/config_dump?types=…`.
#[test]
fn parts_of_a_dump() {
    let any = |name: &str| format!("type.googleapis.com/{name}");
    let cluster = json!({"@type": any("envoy.config.cluster.v3.Cluster"), "name": "a"});
    let text = json!({"configs": [
        {"@type": any("envoy.admin.v3.ClustersConfigDump.DynamicCluster"), "cluster": cluster},
        {"@type": any("envoy.admin.v3.ListenersConfigDump.DynamicListener"), "name": "l",
         "active_state": {"listener": {"@type": any("envoy.config.listener.v3.Listener"), "name": "l"}}},
        {"@type": any("envoy.config.route.v3.RouteConfiguration"), "name": "r"},
        {"@type": any("envoy.extensions.transport_sockets.tls.v3.Secret"), "name": "s", "tls_certificate": {}},
        {"@type": any("envoy.admin.v3.SecretsConfigDump.DynamicSecret"), "name": "t", "secret": {}},
    ]})
    .to_string();
    let dump = whole(&text);
    let names: Vec<String> = list(&dump).into_iter().map(|it| it.2).collect();
    assert_eq!(names, ["a", "l", "r"]);
    let parsed: Value = serde_json::from_str(&rewritten(&dump, &[])).unwrap();
    assert_eq!(parsed["configs"].as_array().unwrap().len(), 3);
}

#[test]
fn gzip_and_zstd() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(STATES.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(STATES.as_bytes(), 1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (packed, cut) in [(&gzip, gzip.len() * 9 / 10), (&zstd, zstd.len() - 4)] {
        let path = folder.path().join("dump");
        std::fs::write(&path, packed).unwrap();
        let (dump, problems) = Dump::read(&path, Layout::Kept);
        assert_eq!(problems, []);
        assert_eq!(list(&dump.unwrap()).len(), 12);
        let (_, problems) = Dump::from_reader("half", &packed[..cut], Layout::Kept);
        let codes: Vec<_> = problems.iter().map(|it| it.code.as_str()).collect();
        assert_eq!(codes, ["dump-truncated"], "{problems:?}");
    }
    // Half of the file unpacks to half a dump.
    let (dump, _) = Dump::from_reader("half", &gzip[..gzip.len() * 9 / 10], Layout::Kept);
    assert!(dump.unwrap().len() > 3);
}

#[test]
fn half_a_dump() {
    let cut = STATES.find("0.0.0.0_8443").unwrap();
    let (dump, problems) = Dump::from_text("half.json", &STATES[..cut]);
    assert_eq!(dump.unwrap().len(), 8);
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].code.as_str(), "dump-truncated");
    let line = STATES[..cut].lines().count();
    assert!(problems[0].message.starts_with(&format!("half.json:{line}:14: ")), "{}", problems[0].message);
    assert!(problems[0].message.contains("the 8 resources"), "{}", problems[0].message);
}

/// If a dump is cut inside its secrets, their rest must not be written.
#[test]
fn half_a_secret_is_not_written() {
    let cut = STATES.find("W3JlZ").unwrap();
    let (dump, _) = Dump::from_text("half.json", &STATES[..cut]);
    let text = rewritten(&dump.unwrap(), &[]);
    assert!(text.contains("http.8080"));
    assert!(!text.contains("inline_bytes"));
}

/// What follows a fault was not read, so nobody knows which of it is secret.
#[test]
fn what_follows_a_fault_is_not_written() {
    let text = STATES.replace("W3JlZGFjdGVkXQ==", "c3VwZXJzZWNyZXQtb25l");
    let key = text.find("SecretsConfigDump").unwrap();
    let section = text[..key].rfind('{').unwrap();
    let close = text[section..].find(']').unwrap() + section;
    for broken in [
        format!("{};{}", &text[..section], &text[section..]),
        // A bracket that closes the secrets early.
        format!("{}{}{}", &text[..key + 20], "\"x\": [}}]},", &text[key + 20..]),
        format!("{}}}}}{}", &text[..close], &text[close..]),
    ] {
        let (dump, problems) = Dump::from_text("it", broken.as_str());
        assert_eq!(problems[0].code.as_str(), "dump-not-json");
        let once = rewritten(&dump.unwrap(), &[]);
        assert!(once.contains("http.8080") && !once.contains("c3VwZ"), "{once}");
        assert_eq!(rewritten(&Dump::from_text("it", once.as_str()).0.unwrap(), &[]), once);
    }
    assert!(rewritten(&whole(STATES), &[]).ends_with(&STATES[STATES.len() - 5..]));
}

#[test]
fn text_around_a_dump() {
    let (dump, problems) = Dump::from_text("it", format!("\u{feff}{STATES}command terminated with exit code 1\n"));
    assert_eq!(dump.unwrap().len(), 12);
    assert_eq!((problems[0].code.as_str(), problems[0].severity), ("dump-trailing-text", Severity::Warning));
    let (dump, problems) = Dump::from_text("it", STATES.replace("\"static_listeners\": [", "\"static_listeners\" [["));
    assert_eq!(dump.unwrap().len(), 4);
    assert_eq!(problems[0].code.as_str(), "dump-not-json");
}

#[test]
fn other_things_are_told_apart() {
    let says = |bytes: &[u8], words: &str| {
        let (code, message) = refused(bytes);
        assert_eq!(code, "not-a-dump");
        assert!(message.contains(words), "{message}");
    };
    says(b"", "empty");
    says(b" \n\t\n", "empty");
    says(b"<!DOCTYPE html><html>502</html>", "HTML");
    says(b"configs:\n- '@type': type.googleapis.com/envoy.admin.v3.BootstrapConfigDump\n", "YAML");
    says(b"---\napiVersion: v1\n", "YAML");
    says(b"SERVICE FQDN      PORT\nBlackHoleCluster  -\n", "table");
    says(b"[1, 2, 3]", "no listener");
    says(b"[]", "no listener");
    says(b"{}", "no listener");
    says(b"null", "text, not JSON");
    // Any file of a machine may be named in a test file of a change request.
    says(b"registry-token CANARY", "text, not JSON");
    says(b"Unable to connect to the server: EOF\n", "starts with \"Unable to connect to the server");
    says(b"\"text\"", "string");
    says(br#"{"kind":"Status","status":"Failure","message":"pods \"x\" not found","code":404}"#, "pods");
    says(br#"{"apiVersion":"v1","kind":"Pod","metadata":{}}"#, "kind Pod");
    says(br#"{"stats":[],"other":1}"#, "stats, other");
    says(br#"[{"name":"outbound|80||a","addedViaApi":true,"hostStatuses":[]}]"#, "only endpoints");
    says(br#"{"dynamicActiveSecrets":[{"name":"default"}]}"#, "only secrets");
    says(b"\xff\xfe{\0\"\0", "UTF-16");
    says(b"PK\x03\x04abc", "zip");
    says(b"\x7fELF\0\0\0", "binary");
    assert_eq!(refused(br#"{"workloads":{},"services":{},"policies":{}}"#).0, "dump-of-ztunnel");
    assert_eq!(
        refused(br#"{"configs":[{"@type":"type.googleapis.com/istio.workload.Address"}]}"#).0,
        "dump-of-ztunnel"
    );
    let node = br#"{"configs":[{"bootstrap":{"node":{"id":"ztunnel~1.1.1.1~z.istio-system~x"}}}]}"#;
    assert_eq!(refused(node).0, "dump-of-ztunnel");
    assert_eq!(refused(b"{\"configs\": [\"\xff\xfa\"]}").0, "dump-not-utf8");
    assert_eq!(refused(br#"{"configs": [{"@type": "#).0, "dump-truncated");
    let (dump, problems) = Dump::read(std::path::Path::new("no/such/file.json"), Layout::Dropped);
    assert!(dump.is_none());
    assert_eq!(problems[0].code.as_str(), "dump-unreadable");
}

#[test]
fn nesting_and_repeated_keys_are_harmless() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", "{\"configs\":[".repeat(100_000), "]}".repeat(100_000));
    for inside in [&deep, &objects] {
        let text = format!(
            r#"{{"configs":[{{"dynamic_route_configs":[{{"route_config":{{"x":{inside},"name":"r"}}}}],"y":{inside}}},{inside}],
                 "configs":[{{"bootstrap":{{"node":{{"metadata":{inside}}}}},"dynamic_listeners":{inside}}}]}}"#
        );
        let (dump, problems) = Dump::from_text("deep", text);
        assert_eq!(list(&dump.unwrap()), [(ResourceKind::Route, ResourceState::Active, "r".to_owned())]);
        assert_eq!(problems.iter().map(|it| it.code.as_str()).collect::<Vec<_>>(), ["dump-strange-node"]);
    }
    assert_eq!(refused(deep.as_bytes()).0, "not-a-dump");
    assert_eq!(refused(objects.as_bytes()).0, "not-a-dump");
    assert_eq!(refused("[".repeat(100_000).as_bytes()).0, "not-a-dump");
}

#[test]
fn without_edits_the_text_comes_back() {
    let recorded = big_dump::recorded();
    let small = big_dump::dump(big_dump::Size::SMALL);
    for text in [recorded.as_str(), &small, LISTENERS, CLUSTERS, ROUTES, ECDS, BOOTSTRAP] {
        assert!(rewritten(&whole(text), &[]) == text);
    }
    // Except for secrets, which are removed.
    let secrets = STATES.find("  {\n   \"@type\": \"type.googleapis.com/envoy.admin.v3.SecretsConfigDump").unwrap();
    let next = STATES.find("  {\n   \"@type\": \"type.googleapis.com/envoy.admin.v3.EcdsConfigDump").unwrap();
    assert_eq!(rewritten(&whole(STATES), &[]), format!("{}{}", &STATES[..secrets], &STATES[next..]));
}

/// Every resource replaced by itself without white space gets its old layout back.
#[test]
fn replacements_take_the_layout_of_the_dump() {
    for text in [big_dump::recorded().as_str(), LISTENERS, CLUSTERS, ROUTES, ECDS] {
        let dump = whole(text);
        let config = config(&dump);
        let value = |it: &Resource<'_>| serde_json::from_str::<Value>(it.json.read()).unwrap();
        let compact: Vec<String> = config.resources.iter().map(|it| value(it).to_string()).collect();
        let edits: Vec<Edit<'_>> = compact
            .iter()
            .enumerate()
            .map(|(resource, json)| Edit::Replace { resource, json: Cow::Borrowed(json) })
            .collect();
        assert!(rewritten(&dump, &edits) == text);
    }
}

#[test]
fn edits_in_one_go() {
    let dump = whole(STATES);
    let edits = [
        Edit::Remove { resource: 1 },
        Edit::Remove { resource: 3 },
        Edit::Remove { resource: 8 },
        Edit::Replace { resource: 10, json: r#"{"name":"new","empty":{ },"list":[ 1,2]}"#.into() },
        Edit::Remove { resource: 11 },
        Edit::Add { kind: ResourceKind::ExtensionConfig, json: r#"{"name":"ext"}"#.into() },
        Edit::Add { kind: ResourceKind::Listener, json: r#"{"name":"l\"1"}"#.into() },
        Edit::Add { kind: ResourceKind::Listener, json: r#"{"name":"l2"}"#.into() },
        Edit::Add { kind: ResourceKind::Cluster, json: r#"{"name":"c"}"#.into() },
    ];
    let text = rewritten(&dump, &edits);
    let parsed: Value = serde_json::from_str(&text).unwrap();
    let original: Value = serde_json::from_str(STATES).unwrap();
    let clusters = &parsed["configs"][1];
    assert_eq!(clusters["dynamic_active_clusters"].as_array().unwrap().len(), 2);
    assert_eq!(clusters["dynamic_active_clusters"][0], original["configs"][1]["dynamic_active_clusters"][1]);
    assert_eq!(clusters["dynamic_active_clusters"][1], json!({"cluster": {"name": "c"}}));
    assert_eq!(clusters["dynamic_warming_clusters"], json!([]));
    let listeners = parsed["configs"][3]["dynamic_listeners"].as_array().unwrap();
    assert_eq!(listeners.len(), 4);
    assert_eq!(listeners[2], json!({"name": "l\"1", "active_state": {"listener": {"name": "l\"1"}}}));
    assert!(parsed["configs"].as_array().unwrap().iter().all(|it| it["dynamic_active_secrets"].is_null()));
    let layout = r#"   "ecds_filters": [
    {
     "ecds_filter": {
      "name": "ext"
     }
    }
   ]
"#;
    assert!(text.contains(layout), "{text}");
    let layout = r#"     "route_config": {
      "name": "new",
      "empty": {},
      "list": [
       1,
       2
      ]
     },
"#;
    assert!(text.contains(layout), "{text}");
    assert!(text.contains("\"dynamic_warming_clusters\": []\n"), "{text}");
    // The written text can be read without a problem.
    assert_eq!(list(&whole(&text)).len(), 12 - 4 + 4);
}

#[test]
fn additions_find_or_make_their_list() {
    let add = |text: &str, kind| {
        let edits = [Edit::Add { kind, json: r#"{"name": "new"}"#.into() }];
        let dump = whole(text);
        let text = rewritten(&dump, &edits);
        assert_eq!(list(&whole(&text)).last().unwrap().2, "new", "{text}");
        text
    };
    // The recording's EcdsConfigDump has no list.
    let text = add(&big_dump::recorded(), ResourceKind::ExtensionConfig);
    assert!(text.ends_with(
        r#"EcdsConfigDump",
   "ecds_filters": [
    {
     "ecds_filter": {
      "name": "new"
     }
    }
   ]
  }
 ]
}
"#
    ));
    let bare = r#"{"configs":[{"bootstrap":{"node":{"id":"sidecar~1.1.1.1~a.b~x"}}}]}"#;
    let text = add(bare, ResourceKind::Cluster);
    assert!(
        text.ends_with(r#"ClustersConfigDump","dynamic_active_clusters":[{"cluster":{"name": "new"}}]}]}"#)
            || text.ends_with(r#"ClustersConfigDump","dynamic_active_clusters":[{"cluster":{"name":"new"}}]}]}"#),
        "{text}"
    );
    let edits = [
        Edit::Add { kind: ResourceKind::Route, json: "{}".into() },
        Edit::Remove { resource: 99 },
        Edit::Add { kind: ResourceKind::Listener, json: r#"{"name":"x","filterChains":[]}"#.into() },
    ];
    let dump = whole(LISTENERS);
    let rewritten = dump.rewrite(&edits);
    let codes: Vec<_> = rewritten.problems.iter().map(|it| it.code.as_str()).collect();
    assert_eq!(codes, ["dump-no-such-resource", "dump-no-place"]);
    let mut out = Vec::new();
    rewritten.write_to(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.ends_with("    },\n    {\n        \"name\": \"x\",\n        \"filterChains\": []\n    }\n]\n"),
        "{text}"
    );
}

#[test]
fn generated_dump_has_what_it_promises() {
    let size = big_dump::Size::SMALL;
    let text = big_dump::dump(size);
    let dump = whole(&text);
    let config = config(&dump);
    assert_eq!(config.of_kind(ResourceKind::Cluster).count(), size.clusters);
    assert_eq!(config.of_kind(ResourceKind::Listener).count(), size.listeners);
    assert_eq!(config.of_kind(ResourceKind::Route).count(), size.routes);
    let mut hosts = 0;
    let mut names = std::collections::BTreeSet::new();
    for resource in config.resources.iter() {
        let value: Value = serde_json::from_str(resource.json.read()).unwrap();
        hosts += value["virtual_hosts"].as_array().map_or(0, Vec::len);
        assert!(names.insert((resource.kind, resource.name.clone())), "{}", resource.name);
    }
    assert_eq!(hosts, size.virtual_hosts);
}

/// A proptest edit: the resource, and the operation.
fn edit() -> impl Strategy<Value = (usize, u8)> {
    (0_usize..12, 0_u8..3)
}

proptest! {
    #[test]
    fn damage_never_panics(cut in 0_usize..9000, flips in prop::collection::vec((0_usize..9000, any::<u8>()), 0..8)) {
        for text in [STATES, LISTENERS, ECDS, BOOTSTRAP] {
            let mut bytes = text.as_bytes().to_vec();
            bytes.truncate(cut.min(text.len()));
            for (at, byte) in &flips {
                if let Some(place) = bytes.get_mut(*at) {
                    *place = *byte;
                }
            }
            let (dump, problems) = Dump::from_reader("it", bytes.as_slice(), Layout::Dropped);
            if let Some(dump) = dump {
                let identity = Identity { namespace: Some("x".to_owned()), ..Identity::default() };
                let _ = dump.config(&identity);
                let edits: Vec<Edit<'_>> = (0..dump.len()).map(|resource| Edit::Remove { resource }).collect();
                dump.rewrite(&edits).write_to(&mut std::io::sink()).unwrap();
            } else {
                prop_assert!(!problems.is_empty());
            }
        }
    }

    /// Every prefix yields a prefix of the resources, and reports that something is missing.
    #[test]
    fn prefixes_yield_prefixes(cut in 0_usize..STATES.trim_end().len()) {
        let (dump, problems) = Dump::from_text("it", &STATES[..cut]);
        prop_assert_eq!(problems.len(), 1);
        if let Some(dump) = dump {
            let all = list(&whole(STATES));
            let found: Vec<_> = dump
                .config(&Identity { namespace: Some("x".to_owned()), ..Identity::default() })
                .unwrap()
                .resources
                .iter()
                .map(|it| (it.kind, it.state, it.name.to_string()))
                .collect();
            prop_assert_eq!(&found[..], &all[..found.len()]);
        }
    }

    /// Any set of edits leaves JSON with the expected resources.
    #[test]
    fn edits_compose(edits in prop::collection::vec(edit(), 0..16), compact in any::<bool>()) {
        let text = if compact {
            serde_json::from_str::<Value>(STATES).unwrap().to_string()
        } else {
            STATES.to_owned()
        };
        let dump = whole(&text);
        let before = list(&dump);
        let edits: Vec<Edit<'_>> = edits
            .into_iter()
            .map(|(resource, what)| match what {
                0 => Edit::Remove { resource },
                1 => Edit::Replace { resource, json: r#"{"name":"replaced"}"#.into() },
                _ => Edit::Add { kind: before[resource].0, json: r#"{"name":"added"}"#.into() },
            })
            .collect();
        let text = rewritten(&dump, &edits);
        let parsed: Result<Value, _> = serde_json::from_str(&text);
        prop_assert!(parsed.is_ok(), "{}", text);
        let listener_states = 5..8;
        let removed: Vec<usize> = edits
            .iter()
            .filter_map(|edit| if let Edit::Remove { resource } = edit { Some(*resource) } else { None })
            .flat_map(|it| if listener_states.contains(&it) { listener_states.clone() } else { it..it + 1 })
            .collect();
        let mut expected: Vec<_> = before
            .iter()
            .enumerate()
            .filter(|(index, _)| !removed.contains(index))
            .map(|(index, it)| {
                let replaced = edits.iter().any(|e| matches!(e, Edit::Replace { resource, .. } if *resource == index));
                (it.0, if replaced { "replaced".to_owned() } else { it.2.clone() })
            })
            .chain(edits.iter().filter_map(|edit| match edit {
                Edit::Add { kind, .. } => Some((*kind, "added".to_owned())),
                _ => None,
            }))
            .collect();
        let mut found: Vec<_> = list(&whole(&text)).into_iter().map(|it| (it.0, it.2)).collect();
        expected.sort();
        found.sort();
        prop_assert_eq!(found, expected);
    }
}
