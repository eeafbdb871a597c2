//! Clusters that an annotation adds to a waypoint, from the proxies of a running mesh.

use super::mock::World;
use super::{demo_dump, live, pod, shop};
use crate::support::{testdata, text};
use serde_json::{Value, json};

const FILTER: &str = "apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata:
  name: patient
  namespace: reed
  annotations: {envoyfilter.istio.io/referenced-services: silt/clay.silt.svc.cluster.local}
spec:
  targetRefs: [{kind: Gateway, group: gateway.networking.k8s.io, name: wp}]
  configPatches:
  - applyTo: CLUSTER
    match: {context: SIDECAR_OUTBOUND, cluster: {service: clay.silt.svc.cluster.local}}
    patch: {operation: MERGE, value: {connect_timeout: 3s}}
";

/// Many workloads whose names come first and that do not have the cluster, and one in `namespace` that has it.
fn mesh(namespace: &str) -> World {
    let mut world = shop();
    let base = |name: &str| text(&testdata(&format!("reference/delta/base/{name}.json")));
    world.add(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "wp-1", "namespace": "reed", "annotations": {"istio.io/rev": "default"}, "labels": {
            "gateway.networking.k8s.io/gateway-name": "wp", "gateway.istio.io/managed": "istio.io-mesh-controller",
        }},
        "spec": {"containers": [
            {"name": "istio-proxy", "image": "docker.io/istio/proxyv2:1.31.0", "args": ["proxy", "waypoint"]},
        ]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }));
    for number in 0..9 {
        world.add(pod("aaa", &format!("early{number}"), 1));
        world = world.dump(&format!("aaa/early{number}-1"), demo_dump());
    }
    world.add(pod(namespace, "mud", 1));
    world.dump("reed/wp-1", base("wp")).dump(&format!("{namespace}/mud-1"), base("sidey"))
}

#[test]
fn workloads_beside_a_service_are_asked_for_its_clusters_first() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("patient.yaml");
    std::fs::write(&file, FILTER).unwrap();
    let diff = |namespace: &str| {
        let mock = mesh(namespace).start();
        let said = live(&mock, &["diff", "-A", "--dump-via", "pod-proxy", "-f", file.to_str().unwrap()]);
        (said.code, said.out, said.err)
    };
    let (code, out, err) = diff("silt");
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("clay.silt.svc.cluster.local") && out.contains("3s"), "{out}");
    assert!(!err.contains("are left out"), "{err}");
    // Elsewhere it is one of many, and not every proxy is read: that is said.
    let (code, out, err) = diff("zoo");
    assert!(code != 1 && err.contains("are left out"), "{code} {out}{err}");
}

/// The filter as an object.
fn patient() -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": "patient", "namespace": "reed", "annotations": {
            "envoyfilter.istio.io/referenced-services": "silt/clay.silt.svc.cluster.local",
        }},
        "spec": {
            "targetRefs": [{"kind": "Gateway", "group": "gateway.networking.k8s.io", "name": "wp"}],
            "configPatches": [{
                "applyTo": "CLUSTER",
                "match": {"context": "SIDECAR_OUTBOUND", "cluster": {"service": "clay.silt.svc.cluster.local"}},
                "patch": {"operation": "MERGE", "value": {"connect_timeout": "3s"}},
            }],
        },
    })
}

/// The advice names what the user can do: a run on a mesh takes no config dump.
#[test]
fn the_advice_about_missing_clusters_can_be_followed() {
    let ask = |namespace: &str, arguments: &[&str]| {
        let mut world = mesh(namespace);
        world.add(patient());
        let said = live(&world.start(), &[arguments, &["--dump-via", "pod-proxy"]].concat());
        // Lines are wrapped.
        format!("{}{}", said.out, said.err).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for command in [&["explain", "pod/reed/wp-1"][..], &["explain", "pod/wp-1", "-n", "reed"]] {
        let said = ask("silt", command);
        assert!(said.contains("use -A: proxies of other namespaces may have them"), "{said}");
        let said = ask("silt", &[command, &["-A"]].concat());
        assert!(!said.contains("which no config dump here contains") && !said.contains("use -A"), "{said}");
        // Not even -A finds them: no advice is better than one that does not help.
        let said = ask("zoo", &[command, &["-A"]].concat());
        assert!(said.contains("which no config dump here contains"), "{said}");
        assert!(!said.contains("use -A") && !said.contains("add the"), "{said}");
    }
    let said = ask("silt", &["lint", "-n", "reed"]);
    assert!(said.contains("not checked: patches of the outbound clusters that"), "{said}");
    assert!(said.contains("use -A: proxies of other namespaces may have them"), "{said}");
    let said = ask("silt", &["lint", "-A"]);
    assert!(!said.contains("patches of the outbound clusters"), "{said}");
    let said = ask("zoo", &["render", "pod/wp-1", "-n", "reed"]);
    assert!(said.contains("they are left out; use -A: proxies of other namespaces may have them"), "{said}");
}

#[test]
fn get_and_status_do_not_call_a_patch_of_unknown_clusters_ineffective() {
    let ask = |namespace: &str| {
        let mut world = mesh(namespace);
        world.add(patient());
        let mock = world.start();
        let run = |arguments: &[&str]| live(&mock, &[arguments, &["-A", "--dump-via", "pod-proxy"]].concat());
        let status = run(&["status"]);
        let line = status.out.lines().find(|line| line.contains("patient")).unwrap_or_default().to_owned();
        let get: Value = serde_json::from_str(&run(&["get", "reed/patient", "-o", "json"]).out).unwrap();
        (line, get["items"][0].clone())
    };
    // A workload beside the service lends the cluster: the waypoint should have it and does not.
    let (line, item) = ask("silt");
    assert!(line.contains("patch 0: not in effect"), "{line}");
    assert_eq!(
        (&item["judged"], &item["effective"], &item["ineffective"]),
        (&json!(1), &json!(0), &json!(1)),
        "{item}"
    );
    // No proxy that was read has it.
    let (line, item) = ask("zoo");
    assert!(
        line.contains("patch 0: unknown: envoyfilter.istio.io/referenced-services adds outbound clusters for clay")
    );
    assert_eq!(
        (&item["judged"], &item["effective"], &item["ineffective"]),
        (&json!(1), &json!(0), &json!(0)),
        "{item}"
    );
}
