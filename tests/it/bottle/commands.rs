//! Commands on manifests with `--istiod`: istiod's configuration is judged, and changes of any object are followed.

use super::istiod;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILTERS: &str = r"
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: slow-route, namespace: shop}
spec:
  workloadSelector: {labels: {app: cart}}
  configPatches:
  - applyTo: HTTP_ROUTE
    match: {context: SIDECAR_OUTBOUND, routeConfiguration: {vhost: {route: {name: slow}}}}
    patch: {operation: MERGE, value: {route: {timeout: 5s}}}
  - applyTo: CLUSTER
    match: {context: SIDECAR_OUTBOUND, cluster: {service: ledger.pay.svc.cluster.local}}
    patch: {operation: MERGE, value: {connect_timeout: 3s}}
";

const ROUTE: &str = r"
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: slow, namespace: shop}
spec:
  hosts: [catalog.shop.svc.cluster.local]
  http:
  - {name: slow, route: [{destination: {host: catalog.shop.svc.cluster.local}}]}
";

const SIDECAR: &str = r#"
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: default, namespace: shop}
spec: {egress: [{hosts: ["./*"]}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: extra, namespace: shop}
spec:
  selector: {matchLabels: {app: extra}}
  template: {metadata: {labels: {app: extra}}, spec: {containers: [{name: app, image: app}]}}
"#;

/// The shop with these filters, as a folder of manifests.
pub(super) fn shop(folder: &Path) -> PathBuf {
    let mesh = folder.join("mesh");
    fs::create_dir(&mesh).unwrap();
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/reference/shop");
    for name in ["k8s.yaml", "istio.yaml"] {
        fs::copy(recorded.join(name), mesh.join(name)).unwrap();
    }
    let settings = fs::read_to_string(recorded.join("mesh.yaml")).unwrap();
    let map = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"mesh": settings},
                                 "metadata": {"name": "istio", "namespace": "istio-system"}});
    fs::write(mesh.join("mesh.yaml"), map.to_string()).unwrap();
    fs::write(mesh.join("filters.yaml"), FILTERS).unwrap();
    mesh
}

/// Runs a command: exit code, standard output, standard error.
pub(super) fn plain(arguments: &[&str]) -> (i32, String, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

/// The same with an istiod.
pub(super) fn run(istiod: &Path, arguments: &[&str]) -> (i32, String, String) {
    let more = ["--istiod", istiod.to_str().unwrap()];
    plain(&[arguments, &more].concat())
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn manifests_are_judged_with_istiods_configuration() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    let mesh = shop(folder.path());
    let mesh = mesh.to_str().unwrap();
    let (code, out, err) = run(&istiod, &["lint", mesh, "-o", "json"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
    assert_eq!(code, 1, "{out}{err}");
    let findings = report["findings"].as_array().unwrap();
    let missing = findings.iter().find(|one| one["code"] == "EF221").unwrap_or_else(|| panic!("{findings:#?}"));
    assert_eq!(missing["confidence"], "certain", "{missing:#}");
    assert_eq!(report["scope"]["origin"]["type"], "istiod", "{:#}", report["scope"]);
    assert_eq!(report["scope"]["proxies"]["read"], 1, "{:#}", report["scope"]);

    let (code, out, err) = run(&istiod, &["explain", "pod", "cart-1", "-n", "shop", "-f", mesh, "-o", "json"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
    assert_eq!(code, 0, "{err}");
    let outcomes: Vec<&str> = report["proxies"][0]["filters"][0]["patches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|patch| patch["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["no-match", "applied"], "{report:#}");
    assert_eq!(report["proxies"][0]["reconstruction"]["state"], "generated");

    // What the engine renders on top of istiod's configuration equals what istiod sends with the filter.
    let (code, rendered, err) = run(&istiod, &["render", "shop/cart-1", "-f", mesh]);
    assert_eq!(code, 0, "{err}");
    let (code, sent, err) = run(&istiod, &["dump", "shop/cart-1", "-f", mesh]);
    assert_eq!(code, 0, "{err}");
    let cluster = |text: &str| {
        let dump: serde_json::Value = serde_json::from_str(text).unwrap();
        let sections = dump["configs"].as_array().unwrap().clone();
        let all = sections.iter().flat_map(|one| one["dynamic_active_clusters"].as_array().into_iter().flatten());
        let wanted = "outbound|8080||ledger.pay.svc.cluster.local";
        all.map(|one| one["cluster"].clone()).find(|one| one["name"] == wanted).unwrap()
    };
    assert_eq!(cluster(&sent)["connect_timeout"], "3s");
    assert_eq!(cluster(&rendered), cluster(&sent));

    let (code, _, err) = run(&istiod, &["lint", mesh, "--istio-version", "1.28"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--istio-version 1.28") && err.contains("is not the release of the istiod"), "{err}");
    let filters = format!("{mesh}/filters.yaml");
    let (code, _, err) = run(&istiod, &["lint", &filters]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("no object has a proxy"), "{err}");

    // istiod reads kinds that the engine does not: none is ignored.
    std::fs::remove_file(&filters).unwrap();
    let (code, _, err) = run(&istiod, &["explain", "pod", "cart-1", "-n", "shop", "-f", mesh]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("the files contain no EnvoyFilter\n") && !err.contains("ignored"), "{err}");
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn a_change_of_any_object_shows_what_filters_it_reaches() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    let mesh = shop(folder.path());
    let (route, sidecar) = (folder.path().join("route.yaml"), folder.path().join("sidecar.yaml"));
    fs::write(&route, ROUTE).unwrap();
    fs::write(&sidecar, SIDECAR).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let current = text(&mesh);

    let (code, out, err) = run(&istiod, &["diff", "-f", &text(&route), "--current", &current]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(
        out.contains("shop/slow-route patch 0 (HTTP_ROUTE): no-match → applied on shop/cart-1"),
        "the new route is what the patch waits for: {out}"
    );
    assert!(out.contains("+            \"timeout\": \"5s\""), "with the patch applied: {out}");
    assert!(!out.contains("patch 1"), "the other patch does what it did: {out}");

    let (code, out, err) = run(&istiod, &["diff", "-f", &text(&sidecar), "--current", &current]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("shop/slow-route patch 1 (CLUSTER): applied → no-match on shop/cart-1"), "{out}");
    assert!(out.contains("new proxy shop/extra-1"), "{out}");

    let delete = "virtualservice/pay/ledger-mesh";
    let (code, out, err) = run(&istiod, &["diff", "--delete", delete, "--current", &current]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("ledger.pay"), "{out}");

    // The same objects again change nothing, including stand-in addresses and certificates.
    let same = format!("{current}/k8s.yaml");
    let (code, out, err) = run(&istiod, &["diff", "-f", &same, "--current", &current]);
    assert_eq!((code, out.as_str()), (0, "no change on 4 proxies\n"), "{err}");
}

/// No istiod is started for this: the request is rejected first, whether the binary exists or not.
/// An API server drops it, so that the patch reaches every cluster; istiod itself would read it.
#[test]
#[ignore = "needs Go: .ci/run"]
fn istiod_gets_no_field_that_an_api_server_drops() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    let mesh = shop(folder.path());
    let filter = FILTERS.replace("{service: ledger.pay.svc.cluster.local}", "{port_number: 9999}");
    assert_ne!(filter, FILTERS);
    fs::write(mesh.join("filters.yaml"), filter).unwrap();
    let (code, out, err) = run(&istiod, &["doctor", "-f", mesh.to_str().unwrap(), "-o", "json"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
    assert_eq!(code, 0, "{report:#}{err}");
    let proxies = report["proxies"].as_array().unwrap();
    let cart = proxies.iter().find(|one| one["name"] == "cart-1").unwrap();
    assert!(cart["changed"].as_u64().unwrap() > 10, "{cart:#}");
}

#[test]
fn an_unused_istiod_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("filters.yaml"), FILTERS).unwrap();
    for arguments in [
        &["explain", "pod", "cart", "--demo"][..],
        &["render", "cart", "--demo"],
        &["lint", "--demo"],
        &["diff", "--demo", "-f", "filters.yaml"],
        &["lint", "filters.yaml", "--dump", "dump.json"],
    ] {
        let said = crate::cli::run(folder.path(), &[arguments, &["--istiod", "/no/istiod"]].concat());
        let text = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.starts_with("error: --istiod generates what proxies get"), "{arguments:?}: {text}");
    }
}

/// A test file that names manifests uses istiod's configuration for the pod in them; without an istiod it is rejected.
#[test]
#[ignore = "needs Go and an Envoy from PyPI: .ci/run"]
fn a_test_file_takes_its_proxy_from_manifests() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    shop(folder.path());
    let test = |timeout: &str| {
        format!(
            "kind: EnvoyFilterTest\nproxy: {{pod: shop/cart-1, manifests: [mesh]}}\nfilters: []\ntests:\n- name: reaches the app\n  \
             request: {{inbound: 8080, path: /}}\n  expect: {{status: {timeout}}}\n"
        )
    };
    let file = folder.path().join("cart.test.yaml");
    let envoy = crate::behaviour::envoy();
    let arguments = ["test", file.to_str().unwrap(), "--envoy", &envoy];
    fs::write(&file, test("200")).unwrap();
    let (exit, out, err) = run(&istiod, &arguments);
    assert_eq!(exit, 0, "{out}{err}");
    assert!(out.contains("reaches the app"), "{out}");
    fs::write(&file, test("404")).unwrap();
    let (exit, out, err) = run(&istiod, &arguments);
    assert_eq!(exit, 1, "{out}{err}");
    let (exit, out, err) = plain(&arguments);
    assert_eq!(exit, 2, "{out}{err}");
    assert!(format!("{out}{err}").contains("pass --istiod PATH"), "{out}{err}");
}
