//! `watch` with the role that is printed for it: watches, port-forwards, Events and Leases on a real API server.

use super::{Granted, cluster, documents, run, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// A watch reports what `status` reports, with only the printed permissions; `kubectl describe` shows its Events.
#[test]
#[ignore = "needs Go: .ci/run"]
fn watch_needs_no_more_than_its_role_and_writes_events() {
    let cluster = cluster();
    cluster.shop("watched", 2);
    let lonely = json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": "lonely", "namespace": "watched"},
        "spec": {"workloadSelector": {"labels": {"app": "nobody"}}, "configPatches": [{
            "applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": {"connect_timeout": "3s"}},
        }]},
    });
    cluster.create(std::slice::from_ref(&lonely));
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "watch-0", "namespace": "watched"}, "spec": {},
    });
    let path = "/apis/coordination.k8s.io/v1/namespaces/watched/leases";
    cluster.send("POST", path, "application/json", &lease).unwrap();
    let (admin, reader) = (cluster.kubeconfig("admin", "watched"), cluster.kubeconfig("reader", "watched"));
    let printed = run(&admin, &["rbac", "watch", "--events"]);
    assert_eq!((printed.code, printed.err.as_str()), (0, ""));
    let mut roles = documents(&printed.out);
    roles.push(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": "holds", "namespace": "watched"},
        "rules": [{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": ["watch-0"],
            "verbs": ["get", "update"]}],
    }));
    let granted = Granted::new(cluster, &roles);
    std::thread::sleep(Duration::from_secs(1));
    // The proxies are read while other tests keep both cores busy.
    let options = [
        &["--once", "--rate", "6000", "-n", "watched", "-o", "json", "--events", "--lease-prefix", "watch"][..],
        &["--request-timeout", "60s", "--proxy-timeout", "240s"],
    ]
    .concat();
    let arguments = [&["watch", "--lease-namespace", "watched"], &options[..]].concat();
    // An API server with new definitions answers 429 for a while, which is reported but not tested here.
    let mut said = run(&reader, &arguments);
    for _ in 0..5 {
        if !said.out.contains("(re)initializing") {
            break;
        }
        std::thread::sleep(Duration::from_secs(3));
        said = run(&reader, &arguments);
    }
    drop(granted);
    let lines: Vec<Value> = said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let troubles: Vec<&Value> =
        lines.iter().filter(|line| line["problem"] == "unwatched" || line["problem"] == "unread").collect();
    assert!(troubles.is_empty(), "{troubles:?}");
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    let last = lines.iter().rfind(|line| line["event"] == "scope").unwrap();
    assert_eq!(last["scope"]["proxies"], json!({"read": 2, "of": 2, "pods": 2}), "{last}");
    assert!(lines.iter().any(|line| line["problem"] == "selects-nothing" && line["name"] == "lonely"), "{}", said.out);
    // The filters of the namespace, and those of the root namespace on its workloads, have problems on the same workloads as in
    // `status` for every replica, which has no others.
    let status = run(&admin, &["status", "-n", "watched", "--all-replicas", "-o", "json"]);
    let status: Value = serde_json::from_str(&status.out).unwrap();
    let want: BTreeSet<(String, String)> = status["wrong"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (text(one, "/filter").to_owned(), text(one, "/workload").replace('-', "")))
        .collect();
    let reported = ["rejected", "not-in-effect", "partly-in-effect", "no-effect", "selects-nothing"];
    let found: BTreeSet<(String, String)> = lines
        .iter()
        .filter(|line| line["namespace"] == "watched" || line["workloadNamespace"] == "watched")
        .filter(|line| reported.iter().any(|word| line["problem"] == *word))
        .map(|line| (text(line, "/name").to_owned(), text(line, "/workload").replace('-', "")))
        .collect();
    assert_eq!(found, want, "{}", said.out);
    // What a filter of the root namespace does wrong on workloads of the namespace is reported, too.
    let of_root = |line: &Value| line["name"] == "catalog-connect-timeout" && line["workloadNamespace"] == "watched";
    assert!(lines.iter().any(of_root), "{}", said.out);
    // The field selector of `kubectl describe`.
    let uid = |name: &str| {
        let path = format!("/apis/networking.istio.io/v1alpha3/namespaces/watched/envoyfilters/{name}");
        let filter = cluster.send("GET", &path, "application/json", &Value::Null).unwrap();
        text(&filter, "/metadata/uid").to_owned()
    };
    let selector = format!("involvedObject.name%3Dlonely,involvedObject.uid%3D{}", uid("lonely"));
    let path = format!("/api/v1/namespaces/watched/events?fieldSelector={selector}");
    let events = cluster.send("GET", &path, "application/json", &Value::Null).unwrap();
    let reasons: Vec<&str> = events["items"].as_array().unwrap().iter().map(|event| text(event, "/reason")).collect();
    assert!(reasons.contains(&"SelectsNothing"), "{events}");
    let held = cluster
        .send("GET", "/apis/coordination.k8s.io/v1/namespaces/watched/leases/watch-0", "application/json", &Value::Null)
        .unwrap();
    assert_eq!(text(&held, "/spec/holderIdentity"), "", "it is given back: {held}");
}
