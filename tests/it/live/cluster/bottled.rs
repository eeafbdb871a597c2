//! A local istiod with the objects of a real API server generates the recorded configuration, and needs only permission
//! to list them.

use super::{Cluster, Granted, documents};
use crate::bottle;
use crate::live::run;
use crate::support::{canonical, dumps, testdata, text as file};
use kubectl_envoyfilter::load::dump::{Dump, Identity};
use kubectl_envoyfilter::proto::json as trees;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

/// Addresses of Services in the recording and in the cluster, which assigns them from another range.
const ADDRESSES: (&str, &str) = ("10.1.0.", "10.96.7.");

const FILTER: &str = "
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: patient, namespace: shop}
spec:
  workloadSelector: {labels: {app: cart}}
  configPatches:
  - applyTo: CLUSTER
    match: {context: SIDECAR_OUTBOUND, cluster: {service: catalog.shop.svc.cluster.local}}
    patch: {operation: MERGE, value: {connect_timeout: 3s}}
";

/// The recorded mesh `shop`, with the containers that injection would add.
fn mesh() -> Vec<Value> {
    let folder = testdata("reference/shop");
    let texts = [file(&folder.join("k8s.yaml")).replace(ADDRESSES.0, ADDRESSES.1), file(&folder.join("istio.yaml"))];
    let mut all: Vec<Value> = texts.iter().flat_map(|text| documents(text)).collect();
    all.retain(|object| object["kind"] != "Namespace" || object["metadata"]["name"] != "istio-system");
    for object in all.iter_mut().filter(|object| object["kind"] == "Pod") {
        let version = if object["metadata"]["namespace"] == "pay" { "1.28.1" } else { "1.30.3" };
        let role = if object["metadata"]["namespace"] == "istio-system" { "router" } else { "sidecar" };
        object["spec"]["nodeName"] = "node".into();
        object["spec"]["containers"] = json!([
            {"name": "app", "image": "app"},
            {"name": "istio-proxy", "image": format!("docker.io/istio/proxyv2:{version}"), "args": ["proxy", role]},
        ]);
    }
    all
}

/// The resources of a dump by kind and name, without those of the API server's own Service, and without the cluster and
/// the mesh in traces, which recorded proxies do not report.
fn resources(dump: &Dump) -> BTreeMap<String, String> {
    let config = dump.config(&Identity::default()).unwrap();
    let text = |json: &str| {
        let text = canonical(trees::parse(json).unwrap());
        text.replace(r#""value":"Kubernetes""#, r#""value":"unknown""#)
            .replace(r#""value":"cluster.local""#, r#""value":"unknown""#)
    };
    let all = config.resources.iter().map(|one| (format!("{:?} {}", one.kind, one.name), text(one.json.read())));
    all.filter(|(key, _)| !key.contains("kubernetes.default") && !key.contains("10.96.0.1_443")).collect()
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn what_istiod_makes_of_a_real_api_server_is_what_was_recorded() {
    let istiod = bottle::istiod("1.31");
    let istiod = istiod.to_str().unwrap();
    // A separate cluster, since istiod reads all of it.
    let cluster = Cluster::start();
    let objects = mesh();
    cluster.create(&objects);
    for pod in objects.iter().filter(|object| object["kind"] == "Pod") {
        let path = format!(
            "/api/v1/namespaces/{}/pods/{}/status",
            pod["metadata"]["namespace"].as_str().unwrap(),
            pod["metadata"]["name"].as_str().unwrap()
        );
        let status = json!({"status": {"podIP": pod["status"]["podIP"], "podIPs": pod["status"]["podIPs"]}});
        cluster.send("PATCH", &path, "application/merge-patch+json", &status).unwrap();
    }
    let mesh = json!({"data": {"mesh": file(&testdata("reference/shop/mesh.yaml"))}});
    let map = "/api/v1/namespaces/istio-system/configmaps/istio";
    cluster.send("PATCH", map, "application/merge-patch+json", &mesh).unwrap();

    let admin = cluster.kubeconfig("admin", "shop");
    let asked = |arguments: &[&str]| run(&admin, &[arguments, &["--istiod", istiod]].concat());
    let recorded = dumps(&testdata("reference/shop"));
    let mut compared = 0;
    for (name, proxy) in [("cart", "shop/cart-1"), ("ledger", "pay/ledger-1"), ("ingress", "istio-system/ingress-1")] {
        let said = asked(&["dump", proxy]);
        assert_eq!(said.code, 0, "{}", said.err);
        let (got, problems) = Dump::from_text(proxy, said.out.replace(ADDRESSES.1, ADDRESSES.0));
        assert!(problems.is_empty(), "{problems:?}");
        let (want, got) = (resources(&recorded[name]), resources(&got.unwrap()));
        assert_eq!(got.keys().collect::<Vec<_>>(), want.keys().collect::<Vec<_>>(), "{proxy}");
        for (key, want) in &want {
            compared += 1;
            assert!(&got[key] == want, "{proxy} {key}: {}", bottle::part(want, &got[key]));
        }
    }
    assert!(compared > 60, "{compared}");

    // The commands need only permission to list what istiod reads.
    cluster.create(&documents(FILTER));
    let roles = documents(&run(&admin, &["rbac", "lint", "--istiod"]).out);
    let _granted = Granted::new(&cluster, &roles);
    let reader = cluster.kubeconfig("reader", "shop");
    let read = |arguments: &[&str]| run(&reader, &[arguments, &["--istiod", istiod]].concat());
    let as_admin = asked(&["lint", "-A", "-o", "json"]);
    let mut as_reader = read(&["lint", "-A", "-o", "json"]);
    for _ in 0..20 {
        if as_reader.code == as_admin.code {
            break;
        }
        // The authorizer sees new roles with a delay.
        std::thread::sleep(Duration::from_millis(250));
        as_reader = read(&["lint", "-A", "-o", "json"]);
    }
    assert_eq!((as_reader.code, as_reader.out), (0, as_admin.out), "{}{}", as_reader.err, as_admin.err);
    let said = read(&["explain", "pod/cart-1"]);
    assert!(said.code == 0 && said.out.contains("applied"), "{}{}", said.out, said.err);
    assert!(said.err.contains("of context test"), "{}", said.err);
    let said = read(&["doctor"]);
    assert!(said.code == 0 && said.out.contains("with 1 EnvoyFilter"), "{}{}", said.out, said.err);
    let said = read(&["migrate", "-A", "--prove", "istiod", "-o", "json"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(report["filters"][0]["proof"]["class"], "same-but", "{report:#}");
    let folder = tempfile::tempdir().unwrap();
    let route = folder.path().join("route.yaml");
    let sidecar = "apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: few, namespace: shop}\n\
                   spec: {egress: [{hosts: [istio-system/*]}]}\n";
    fs::write(&route, sidecar).unwrap();
    let said = read(&["diff", "-f", route.to_str().unwrap()]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.out.contains("shop/patient patch 0 (CLUSTER): applied → no-match on shop/cart-1"), "{}", said.out);
}
