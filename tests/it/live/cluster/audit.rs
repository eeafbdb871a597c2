//! An audit of a running mesh, on the real API server.

use super::{Cluster, documents};
use crate::live::run;
use serde_json::{Value, json};

/// An audit without files takes the release, filters, proxies and placement of workloads from the cluster.
#[test]
#[ignore = "needs Go: .ci/run"]
fn an_audit_takes_everything_from_the_cluster() {
    // A separate cluster, whose istiod is older.
    let cluster = Cluster::start();
    let image = json!({"spec": {"containers": [{"name": "discovery", "image": "docker.io/istio/pilot:1.28.2"}]}});
    let istiod = "/api/v1/namespaces/istio-system/pods/istiod-1";
    cluster.send("PATCH", istiod, "application/strategic-merge-patch+json", &image).unwrap();
    // The proxies run a WasmPlugin, whose filter comes before the audited one.
    let dump = cluster.folder.path().join("dump.json");
    let plugin = "\"extensions.istio.io/wasmplugin/ahead.auth\"";
    let generated = std::fs::read_to_string(&dump).unwrap();
    assert!(generated.contains("\"envoy.filters.http.fault\""));
    std::fs::write(&dump, generated.replace("\"envoy.filters.http.fault\"", plugin)).unwrap();
    cluster.shop("ahead", 2);
    cluster.create(&documents(
        "apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: after-auth, namespace: ahead}
spec:
  configPatches:
  - applyTo: HTTP_FILTER
    match:
      context: SIDECAR_INBOUND
      listener:
        filterChain:
          filter:
            name: envoy.filters.network.http_connection_manager
            subFilter: {name: extensions.istio.io/wasmplugin/ahead.auth}
    patch:
      operation: INSERT_AFTER
      value:
        name: ahead.buffer
        typed_config:
          \"@type\": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer
          max_request_bytes: 65536
",
    ));
    let kubeconfig = cluster.kubeconfig("admin", "ahead");
    let said = run(&kubeconfig, &["audit", "-n", "ahead", "--to", "1.31", "-o", "json"]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.err.lines().all(|line| line.starts_with("scope: ")), "{}", said.err);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(report["path"], json!(["1.28", "1.29", "1.30", "1.31"]));
    assert_eq!((&report["verdict"], &report["counts"]["dumps"]), (&json!("ready-after-changes"), &json!(1)));
    let place = json!({"revision": "default", "istiod": "1.28.2", "proxies": "1.31.0", "count": 1});
    assert_eq!(report["during"][0]["places"], json!([place]), "{}", report["during"]);
    let filters = report["filters"].as_array().unwrap();
    let after_auth = filters.iter().find(|filter| filter["name"] == "after-auth").unwrap();
    let found = &after_auth["findings"][0];
    assert_eq!(
        (&found["code"], &found["steps"]),
        (&json!("EF608"), &json!([{"from": "1.29", "to": "1.30"}])),
        "{found}"
    );
    // The other formats agree.
    for form in ["human", "markdown", "html", "sarif", "junit"] {
        let said = run(&kubeconfig, &["audit", "-n", "ahead", "--to", "1.31", "-o", form]);
        assert_eq!(said.code, 1, "{form}: {}", said.err);
        assert!(said.out.contains("EF608") && said.out.contains("after-auth"), "{form}: {}", said.out);
    }
}
