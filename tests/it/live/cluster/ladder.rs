//! `webhook ladder` on a real API server: what the next mode does to stored filters.

use super::{cluster, documents};
use crate::live::run;
use serde_json::{Value, json};

#[test]
#[ignore = "needs Go: .ci/run"]
fn the_ladder_shows_what_the_next_mode_does() {
    let cluster = cluster();
    let filter = |name: &str, value: &str| {
        format!(
            "
---
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {{name: {name}, namespace: laddered}}
spec:
  configPatches:
  - applyTo: CLUSTER
    patch: {{operation: MERGE, value: {{{value}}}}}"
        )
    };
    let namespace = "
apiVersion: v1
kind: Namespace
metadata: {name: laddered, labels: {envoyfilter.dev/admission: audit}}";
    let text = [namespace.to_owned(), filter("good", "connect_timeout: 1s"), filter("bad", "connect_timeoutt: 1s")];
    cluster.create(&documents(&text.concat()));
    let kubeconfig = cluster.kubeconfig("admin", "default");
    let said = run(&kubeconfig, &["webhook", "ladder", "-n", "laddered"]);
    // No webhook exists that could have recorded anything, which is reported.
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    assert!(said.out.contains("laddered") && said.out.contains("audit (label)"), "{}", said.out);
    assert!(said.out.contains("enforce denies laddered/bad: EF"), "{}", said.out);
    assert!(said.out.contains("2 stored EnvoyFilters in namespace laddered"), "{}", said.out);
    assert!(said.err.contains("no webhook envoyfilter-system/envoyfilter-webhook"), "{}", said.err);
    let said = run(&kubeconfig, &["webhook", "ladder", "-n", "laddered", "-o", "json"]);
    let answer: Value = serde_json::from_str(&said.out).unwrap();
    let rung = &answer["namespaces"][0];
    assert_eq!(
        (&rung["mode"], &rung["next"], &rung["filters"]),
        (&"audit".into(), &"warn".into(), &2.into()),
        "{rung}"
    );
    assert_eq!(rung["recorded"], Value::Null);
    assert!(rung["denied"]["bad"].is_array() && rung["denied"]["good"].is_null(), "{rung}");
    // Nor does a webhook without pods: it has not recorded zero denials.
    let labels = json!({"app": "idle"});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "idle", "namespace": "laddered"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {
            "containers": [{"name": "webhook", "image": "x:1", "args": ["webhook", "serve", "--mode=audit"]}],
        }}},
    });
    cluster.create(&[deployment]);
    let idle = ["webhook", "ladder", "-n", "laddered", "--name", "idle", "--installed-in", "laddered"];
    let said = run(&kubeconfig, &[&idle[..], &["-o", "json"]].concat());
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    let answer: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(answer["unread"], json!(["the webhook laddered/idle has no pods, so nothing is recorded"]));
    assert_eq!(answer["namespaces"][0]["recorded"], Value::Null);
}
