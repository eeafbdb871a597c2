//! What istiod generates but no dump contains: clusters that an annotation adds to a waypoint, which another dump provides, and
//! route configurations that a patched listener requests. Patches of it are not errors.

use crate::linting::input;
use crate::support::{dumps, filters, testdata, text};
use kubectl_envoyfilter::engine::{self, MeshSettings, Options, Program, services};
use kubectl_envoyfilter::lint::{self, Input};
use kubectl_envoyfilter::load::{self, dump::Identity};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::rules;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

const FILTER: &str = "apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata:
  name: patient
  namespace: reed
  annotations:
    envoyfilter.istio.io/referenced-services: silt/clay.silt.svc.cluster.local
spec:
  targetRefs:
  - kind: Gateway
    group: gateway.networking.k8s.io
    name: wp
  configPatches:
  - applyTo: CLUSTER
    match:
      context: SIDECAR_OUTBOUND
      cluster:
        service: clay.silt.svc.cluster.local
    patch:
      operation: MERGE
      value:
        connect_timeout: 3s
";

#[test]
fn clusters_of_referenced_services_are_lent_by_another_dump() {
    let mut dumps = dumps(&testdata("reference/delta"));
    let filters = filters("patient", FILTER);
    let hosts = filters.iter().flat_map(services::referenced_by).collect();
    let lent = services::clusters_of(&dumps["sidey"].config(&Identity::default()).unwrap(), &hosts);
    assert!(lent.contains_key("outbound|5555||clay.silt.svc.cluster.local"), "{:?}", lent.keys());
    let program = Program::new(&filters, Release::NEWEST);
    for with in [false, true] {
        let dump = dumps.get_mut("wp").unwrap();
        dump.lend(Arc::new(if with { lent.clone() } else { Default::default() }));
        let config = dump.config(&Identity::default()).unwrap();
        let plan = program.plan(&config.proxy, &MeshSettings::default());
        let options = Options::default();
        let patched = engine::run(&plan, &config, &options, &mut ());
        let changed = patched
            .resources
            .iter()
            .filter(|one| one.tree.as_ref().is_some_and(|tree| tree.str_at("connect_timeout") == "3s"));
        assert_eq!(changed.count(), if with { lent.len() } else { 0 });
        let unknown: &[&str] = if with { &[] } else { &["clay.silt.svc.cluster.local"] };
        assert_eq!(patched.unknown_services, unknown);
        // If the cluster is unknown, there is no finding about the patch; if it is known, the patch works.
        let loaded = load::read_text("patient", FILTER, &load::Options::default());
        let mesh = MeshSettings::default();
        let input = Input { dumps: &[config], ..input(&loaded, Release::NEWEST, &mesh) };
        let found = lint::lint(&input, rules::ALL);
        let errors: Vec<_> = found.iter().filter(|one| one.ineffective || one.rule.code.starts_with("EF2")).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

/// A new file of this name; its path.
fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Runs the program without a cluster.
fn program(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"));
    command.args(arguments).env("KUBECONFIG", "/nonexistent").output().unwrap()
}

/// The commands say which services a waypoint needs and lacks, and take their clusters from another dump.
#[test]
fn commands_say_what_is_missing_and_take_it_from_another_dump() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| written(folder.path(), name, text);
    let dump = |name: &str| text(&testdata("reference/delta").join(format!("base/{name}.json")));
    let (waypoint, sidecar) = (write("wp.json", &dump("wp")), write("sidey.json", &dump("sidey")));
    let filter = write("patient.yaml", FILTER);
    let run = |arguments: &[&str]| {
        let output = program(arguments);
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let missing = "clay.silt.svc.cluster.local";
    for command in ["render", "diff", "explain"] {
        let alone: Vec<&str> = match command {
            "explain" => vec!["explain", "gateway", "wp", "--dump", &waypoint, "-f", &filter],
            command => vec![command, "--dump", &waypoint, "-f", &filter],
        };
        let (out, err) = run(&alone);
        let said = format!("{out}{err}");
        assert!(said.contains(missing) && said.contains("no config dump here contains"), "{command}: {said}");
        if command == "render" {
            continue;
        }
        let (out, err) = run(&[&alone[..], &["--dump", &sidecar]].concat());
        assert!(!format!("{out}{err}").contains("no config dump here contains"), "{command}: {out}{err}");
        assert!(out.contains("outbound|5555||clay.silt.svc.cluster.local"), "{command}: {out}");
    }
}

const ROUTES: &str = r#"
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: routes, namespace: shop}
spec:
  workloadSelector: {labels: {app: cart}}
  configPatches:
  - applyTo: NETWORK_FILTER
    match:
      context: SIDECAR_OUTBOUND
      listener:
        portNumber: 7070
        filterChain: {filter: {name: envoy.filters.network.http_connection_manager}}
    patch:
      operation: MERGE
      value:
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          rds: {route_config_name: "7777"}
  - applyTo: HTTP_ROUTE
    match: {context: SIDECAR_OUTBOUND, routeConfiguration: {name: "7777"}}
    patch: {operation: MERGE, value: {route: {timeout: 3s}}}
  - applyTo: VIRTUAL_HOST
    match: {context: SIDECAR_OUTBOUND, routeConfiguration: {portNumber: 7777}}
    patch: {operation: MERGE, value: {include_request_attempt_count: true}}
  - applyTo: HTTP_ROUTE
    match: {context: SIDECAR_OUTBOUND, routeConfiguration: {name: "9999"}}
    patch: {operation: MERGE, value: {route: {timeout: 3s}}}
  - applyTo: HTTP_ROUTE
    match: {context: SIDECAR_INBOUND, routeConfiguration: {vhost: {name: nope}}}
    patch: {operation: MERGE, value: {route: {timeout: 3s}}}
"#;

/// A patched listener requests a route configuration that no dump contains: patches that could match it are neither wrong nor
/// without effect, but those that could not are.
#[test]
fn route_configurations_that_no_dump_holds_are_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("routes.yaml");
    std::fs::write(&file, ROUTES).unwrap();
    let file = file.to_str().unwrap();
    let ask = |arguments: &[&str]| -> serde_json::Value {
        let output = program(arguments);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let explained = ask(&["explain", "pod/cart-1", "--demo", "-f", file, "-o", "json"]);
    let patches = explained["proxies"][0]["filters"][0]["patches"].as_array().unwrap();
    let said: Vec<(&str, &str)> = patches
        .iter()
        .map(|patch| (patch["outcome"].as_str().unwrap(), patch["reason"]["code"].as_str().unwrap_or_default()))
        .collect();
    let unknown = ("no-match", "routes-not-in-dump");
    assert_eq!(said[..3], [("applied", ""), unknown, unknown]);
    assert!(said[3..].iter().all(|patch| patch.0 == "no-match" && patch.1 != unknown.1), "{said:?}");
    let found = ask(&["lint", "--demo", file, "-o", "json"]);
    let of_patch = |finding: &serde_json::Value| finding["patch"].as_u64();
    let wrong: Vec<u64> = found["findings"].as_array().unwrap().iter().filter_map(of_patch).collect();
    assert!(wrong.contains(&3) && wrong.contains(&4) && !wrong.contains(&1) && !wrong.contains(&2), "{found}");
}

/// Each command reports unknown clusters, and no answer without them reads as complete.
#[test]
fn clusters_that_no_dump_holds_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("patient.yaml");
    std::fs::write(&file, FILTER).unwrap();
    let file = file.to_str().unwrap();
    let dump = |name: &str| testdata(&format!("reference/delta/base/{name}.json.zst")).to_str().unwrap().to_owned();
    let (alone, lends) = (dump("wp"), dump("sidey"));
    let ask = |arguments: &[&str]| {
        let output = program(arguments);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    for command in [&["render"][..], &["diff"], &["explain", "pod", "wp"]] {
        let (code, out, err) = ask(&[command, &["--dump", &alone, "-f", file]].concat());
        assert!(
            format!("{out}{err}").contains("outbound clusters for clay.silt.svc.cluster.local"),
            "{command:?}: {out}{err}"
        );
        if command == ["diff"] {
            assert_eq!((code, out.as_str()), (2, "no change in what is known of 1 proxy\n"), "{err}");
        }
    }
    let (code, out, err) = ask(&["diff", "--dump", &alone, "--dump", &lends, "-f", file]);
    assert!(code == 1 && out.contains("reed/wp-1/cluster outbound|5555||clay.silt.svc.cluster.local"), "{out}{err}");
    assert!(!err.contains("outbound clusters for"), "{err}");
}

/// An istiod that cannot read one EnvoyFilter reads none.
#[test]
fn a_filter_that_stops_istiod_from_reading_others_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| written(folder.path(), name, text);
    let of = |name: &str, operation: &str| {
        format!(
            "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: {name}, namespace: reed}}\nspec:\n  configPatches:\n  - applyTo: CLUSTER\n    patch: {{operation: {operation}, value: {{connect_timeout: 3s}}}}\n---\n"
        )
    };
    let dump = write("sidey.json", &text(&testdata("reference/delta").join("base/sidey.json")));
    let odd = of("odd", "MERGE_AND_REPLACE_LIST");
    let (alone, both) = (write("odd.yaml", &odd), write("both.yaml", &(odd + &of("plain", "MERGE"))));
    let said = |command: &[&str], file: &str, release: &str| {
        let rest = ["--dump", &dump, "-f", file, "--istio-version", release];
        let output = program(&[command, &rest[..]].concat());
        String::from_utf8(output.stderr).unwrap().contains("istiod 1.30.3 cannot read EnvoyFilter reed/odd")
    };
    for command in [&["render"][..], &["diff"], &["explain", "filter", "plain"]] {
        assert!(said(command, &both, "1.30") && !said(command, &both, "1.31"), "{command:?}");
    }
    assert!(!said(&["render"], &alone, "1.30"));
}
