//! A capture gives the same answers as its cluster; names, completion and paths work as users write them.

use super::mock::{Mock, World};
use super::standing::{dump_with, mesh};
use super::{demo_dump, live, pod, run, shop};
use crate::support::JsonSchema;
use kubectl_envoyfilter::demo;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use tempfile::TempDir;

/// Removes what differs between a cluster and its capture: the origin of the answer, and ages.
fn without_origin(text: &str, capture: &str) -> String {
    let text = text
        .replace(&format!("capture {capture}"), "ORIGIN")
        .replace("context mock", "ORIGIN")
        .replace("cluster://mock/", "ORIGIN/")
        .replace("pod-proxy", "WAY");
    // The origin in JSON has different fields for each.
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let word = line.trim();
        let origin = [r#""type": "cluster""#, r#""type": "capture""#, r#""context":"#, r#""path": "/"#];
        if !origin.iter().any(|one| word.starts_with(one)) {
            lines.push(line.trim_end().to_owned());
        }
    }
    lines.join("\n")
}

/// A capture of a cluster, and the folder in which it is.
pub(super) fn captured(mock: &Mock, arguments: &[&str]) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mesh.tar.zst").to_str().unwrap().to_owned();
    let said = live(mock, &[&["capture", &path], arguments].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    (folder, path)
}

#[test]
fn a_capture_answers_as_its_cluster_does() {
    let mut world = shop();
    world.add(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "cart", "namespace": "shop"},
        "spec": {"selector": {"app": "cart"}, "ports": [{"port": 80}]},
    }));
    world.add(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "plain", "namespace": "shop"},
        "spec": {"containers": []}, "status": {"phase": "Running"},
    }));
    let mock = world.start();
    let (_folder, path) = captured(&mock, &["--all-replicas", "--dump-via", "pod-proxy"]);
    let path = path.as_str();
    let commands: &[&[&str]] = &[
        &["get", "-n", "shop"],
        &["get", "-A", "-o", "json"],
        &["get", "-A", "--all-replicas", "-o", "json"],
        &["status", "-A"],
        &["status", "-A", "--all-replicas", "-o", "json"],
        &["version", "-A"],
        &["version", "-A", "-o", "json"],
        &["explain", "pod/cart-1", "-n", "shop"],
        &["explain", "deploy/cart", "-n", "shop", "-o", "json"],
        &["explain", "svc/cart", "-n", "shop"],
        &["explain", "filter/shop/stamp-requests"],
        &["explain", "field", "cluster/inbound|8080||/connect_timeout", "-n", "shop"],
        &["lint", "-A"],
        &["lint", "-n", "shop", "-o", "json"],
        &["render", "pod/cart-1", "-n", "shop"],
        &["audit", "--to", "1.31"],
    ];
    same_answers(&mock, path, commands);
}

/// The scope of an answer from a capture of one namespace is that namespace, with `-A` too.
#[test]
fn a_capture_of_one_namespace_says_so() {
    let mock = shop().start();
    let (_folder, path) = captured(&mock, &["-n", "shop"]);
    let path = path.as_str();
    for arguments in [&["get", "-A"][..], &["status", "-A"], &["lint", "-A"]] {
        let said = live(&mock, &[arguments, &["--capture", path]].concat());
        let words = format!("scope: capture {path}; namespace shop; ");
        assert!(said.err.contains(&words), "{arguments:?}: {}", said.err);
    }
}

/// Without `-n`, a capture of one namespace answers for that namespace; it holds istiod's pods as well.
#[test]
fn versions_of_a_capture_are_those_of_its_namespace() {
    let mock = shop().start();
    let (_folder, path) = captured(&mock, &["-n", "shop", "--dump-via", "pod-proxy"]);
    let path = path.as_str();
    let (cluster, capture) = (live(&mock, &["version", "-n", "shop"]), live(&mock, &["version", "--capture", path]));
    assert_eq!((capture.code, &capture.out), (cluster.code, &cluster.out));
    assert!(!capture.out.contains("istio-system/istiod-1"), "{}", capture.out);
}

/// A mesh with filters of several namespaces, and pods whose proxies were not read: one replica stands for all.
#[test]
fn a_capture_of_several_namespaces_answers_as_its_cluster_does() {
    let mut world = shop();
    for filter in super::cluster::documents(demo::FILTERS) {
        if filter["metadata"]["namespace"] == "shop" {
            let mut filter = filter.clone();
            filter["metadata"]["namespace"] = "other".into();
            world.add(filter);
        }
    }
    world.add(pod("other", "cart", 1));
    let mock = world.dump("other/cart-1", demo_dump()).start();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mesh.tar.zst");
    let path = path.to_str().unwrap();
    let said = live(&mock, &["capture", path, "--dump-via", "pod-proxy"]);
    assert!(said.code == 0 && said.out.contains("2 config dumps"), "{}{}", said.out, said.err);
    let commands: &[&[&str]] = &[
        &["get", "-A"],
        &["get", "-n", "shop"],
        &["status", "-A", "-o", "json"],
        &["status", "-n", "other"],
        &["version", "-A"],
        &["explain", "pod/cart-1", "-n", "shop"],
        &["explain", "deploy/cart", "-n", "other", "-o", "json"],
        &["lint", "-A"],
        &["lint", "-n", "other", "-o", "json"],
        &["audit", "--to", "1.31"],
    ];
    same_answers(&mock, path, commands);
    // What the capture does not contain is not passed over.
    let said = live(&mock, &["status", "-A", "--all-replicas", "--capture", path]);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    assert!(said.err.contains("no config dump of shop/cart-2: the capture does not contain it"), "{}", said.err);
}

/// Compares the answers of a cluster with those of its capture.
pub(super) fn same_answers(mock: &Mock, path: &str, commands: &[&[&str]]) {
    let mut differ = Vec::new();
    for command in commands {
        let live_said = live(mock, &[*command, &["--dump-via", "pod-proxy"]].concat());
        let captured = live(mock, &[*command, &["--capture", path]].concat());
        let (mine, yours) = (without_origin(&live_said.out, path), without_origin(&captured.out, path));
        let (err, other) = (without_origin(&live_said.err, path), without_origin(&captured.err, path));
        if live_said.code != captured.code || mine != yours || err != other {
            let diff = |a: &str, b: &str| -> String {
                let lines = a.lines().zip(b.lines()).filter(|(a, b)| a != b).take(6);
                lines.map(|(a, b)| format!("  live    {a}\n  capture {b}\n")).collect()
            };
            differ.push(format!(
                "{command:?}: {} {}\n{}{}  lines {} {}\n",
                live_said.code,
                captured.code,
                diff(&mine, &yours),
                diff(&err, &other),
                mine.lines().count(),
                yours.lines().count()
            ));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

/// Paths are relative to the user's folder, whatever folder a started program gets.
#[test]
fn an_envoy_is_found_from_where_the_user_stands() {
    let folder = tempfile::tempdir().unwrap();
    let envoy = folder.path().join("envoy");
    fs::write(&envoy, "#!/bin/sh\necho 'I am no Envoy'\nexit 9\n").unwrap();
    fs::set_permissions(&envoy, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(folder.path().join("below")).unwrap();
    for (stands, path) in [("", "./envoy"), ("below", "../envoy"), ("below", "../below/../envoy")] {
        let output = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
            .args(["lint", "--demo", "--envoy", path])
            .current_dir(folder.path().join(stands))
            .env("KUBECONFIG", "/nonexistent")
            .env("PATH", "/usr/bin:/bin")
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.contains("I am no Envoy"), "{path}: {err}");
        assert_ne!(output.status.code(), Some(0));
    }
}

fn gateway(name: &str, spec: serde_json::Value) -> serde_json::Value {
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"name": name, "namespace": "shop"}, "spec": spec,
    })
}

fn front(name: &str, labels: &serde_json::Value) -> serde_json::Value {
    let mut one = pod("shop", name, 1);
    one["metadata"]["labels"].as_object_mut().unwrap().extend(labels.as_object().unwrap().clone());
    one["spec"]["containers"] = json!([{
        "name": "istio-proxy", "image": "docker.io/istio/proxyv2:1.31.0", "args": ["proxy", "router"],
    }]);
    one
}

/// A Gateway of the Gateway API: the pods that istiod deploys for it, and those behind the Service that it names.
#[test]
fn gateways_of_the_gateway_api_are_found() {
    let mut world = shop();
    world.add(gateway("made", json!({"gatewayClassName": "istio", "listeners": []})));
    world.add(gateway(
        "manual",
        json!({"gatewayClassName": "istio", "addresses": [{"type": "Hostname", "value": "edge.shop.svc.cluster.local"}]}),
    ));
    world.add(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "edge", "namespace": "shop"},
        "spec": {"selector": {"app": "edge"}, "ports": [{"port": 80}]},
    }));
    world.add(front("made-istio", &json!({"gateway.networking.k8s.io/gateway-name": "made"})));
    world.add(front("edge", &json!({})));
    let dump = super::demo_dump();
    let world: World = world.dump("shop/made-istio-1", dump.clone()).dump("shop/edge-1", dump);
    let mock = world.start();
    for (name, pods) in [("gateway/made", "made-istio-1"), ("gw/manual", "edge-1")] {
        let said = live(&mock, &["explain", name, "--dump-via", "pod-proxy"]);
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        assert!(said.out.contains(pods), "{name}: {}", said.out);
        let others = ["made-istio-1", "edge-1", "cart-1"].into_iter().filter(|pod| *pod != pods);
        assert!(!others.clone().any(|pod| said.out.contains(&format!("shop/{pod}"))), "{name}: {}", said.out);
    }
    let said = live(&mock, &["explain", "gateway/none"]);
    assert_eq!(said.code, 2, "{}", said.err);
}

/// Shell completions with the names of the cluster.
#[test]
fn completion_suggests_objects_of_every_kind() {
    let mut world = shop();
    world.add(gateway("made", json!({"gatewayClassName": "istio"})));
    world.add(json!({
        "apiVersion": "networking.istio.io/v1beta1", "kind": "Gateway",
        "metadata": {"name": "classic", "namespace": "shop"}, "spec": {"selector": {"app": "x"}},
    }));
    world
        .add(json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "cart", "namespace": "shop"}}));
    let owner =
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "ledger", "uid": "u", "controller": true});
    world.add(json!({
        "apiVersion": "v1", "kind": "Pod", "spec": {}, "status": {},
        "metadata": {"name": "ledger-0", "namespace": "shop", "ownerReferences": [owner]},
    }));
    let mock = world.start();
    for (words, want) in [
        (&["explain", "pod/"][..], &["pod/cart-1", "pod/cart-2", "pod/ledger-0"][..]),
        (&["explain", "po/cart-2"], &["po/cart-2"]),
        (&["explain", "deploy/"], &["deploy/cart"]),
        (&["explain", "deployment", ""], &["cart"]),
        (&["explain", "sts/"], &["sts/ledger"]),
        (&["explain", "ds/"], &[]),
        (&["explain", "gateway/"], &["gateway/classic", "gateway/made"]),
        (&["explain", "gw/m"], &["gw/made"]),
        (&["render", "pod/cart-1"], &["pod/cart-1"]),
        (&["get", "ef/stamp-r"], &["ef/stamp-requests"]),
    ] {
        let said = live(&mock, &[&["__complete"], words].concat());
        let mut lines: Vec<&str> = said.out.lines().collect();
        assert_eq!(lines.pop(), Some(":4"), "{words:?}: {}", said.out);
        assert_eq!(lines, want, "{words:?}");
    }
    // With another namespace than the context's, names of that namespace are completed.
    let said = live(&mock, &["__complete", "get", "-n", "istio-system", ""]);
    assert!(!said.out.contains("stamp-requests") && said.out.ends_with(":4\n"), "{}", said.out);
}

/// Two meshes: objects that only one has, fields, order, and different outcomes of a patch.
#[test]
fn two_meshes_are_compared_with_the_effects_of_filters() {
    let filter = |name: &str, created: &str, timeout: &str| {
        json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": name, "namespace": "shop", "creationTimestamp": created},
            "spec": {"configPatches": [{
                "applyTo": "CLUSTER", "match": {"context": "SIDECAR_OUTBOUND", "cluster": {"name": "none"}},
                "patch": {"operation": "MERGE", "value": {"connect_timeout": timeout}},
            }]},
        })
    };
    let mut one = mesh(&[dump_with("2s", None)]);
    one.add(filter("only-here", "2026-11-20T09:00:00Z", "1s"));
    one.add(filter("fields", "2026-11-20T09:00:01Z", "1s"));
    let mut other = mesh(&[dump_with("10s", None)]);
    other.add(filter("fields", "2026-11-20T09:00:01Z", "4s"));
    let (one, other) = (one.start(), other.start());
    let (folder, path) = captured(&other, &["--dump-via", "pod-proxy"]);
    let path = path.as_str();
    let config = one.kubeconfig("shop");
    let compare =
        |arguments: &[&str]| run(&config, &[&["diff", "--dump-via", "pod-proxy", "--between"], arguments].concat());
    let said = compare(&["mock", path, "-o", "json"]);
    assert_eq!(said.code, 1, "{}", said.err);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(JsonSchema::new("between.json").errors(&json), "", "{json:#}");
    assert_eq!(
        json["filters"],
        json!([
            {"namespace": "shop", "name": "fields", "difference": "fields",
                "fields": ["spec.configPatches[0].patch.value.connect_timeout"]},
            {"namespace": "shop", "name": "only-here", "difference": "only-in-first"},
        ]),
        "{json:#}"
    );
    let effects = json["effects"].as_array().unwrap();
    assert_eq!(effects.len(), 1, "{json:#}");
    assert_eq!((&effects[0]["name"], &effects[0]["workload"]), (&json!("timeout"), &json!("deployment/cart")));
    assert_eq!(effects[0]["first"], "nothing wrong");
    assert!(effects[0]["second"].as_str().unwrap().starts_with("not in effect"), "{json:#}");
    let said = compare(&["mock", path]);
    for words in
        ["shop/only-here: only in mock", "differs in spec.configPatches[0]", "2 EnvoyFilters differ and 1 effect"]
    {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    let said = compare(&["mock", "other"]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "no difference between mock and other: 3 EnvoyFilters\n"),
        "{}",
        said.err
    );
    // Both contexts are one cluster, with another namespace each.
    let text = std::fs::read_to_string(one.kubeconfig("shop")).unwrap();
    let elsewhere = text.replacen("namespace: shop", "namespace: elsewhere", 1);
    assert_ne!(text, elsewhere);
    let two = folder.path().join("two");
    std::fs::write(&two, elsewhere).unwrap();
    let said = run(&two, &["diff", "--dump-via", "pod-proxy", "--between", "mock", "other"]);
    assert!(said.out.starts_with("no difference between mock and other"), "{}", said.out);
    // In the other direction, and with a cluster that cannot be read.
    let said = compare(&[path, "mock"]);
    assert!(said.out.contains("shop/only-here: only in mock"), "{}", said.out);
    assert_eq!(compare(&["mock", "nowhere"]).code, 2);
    let blind = mesh(&[dump_with("2s", None)])
        .fault("/api/v1/namespaces/shop/pods/cart-1:15000", super::Fault::Status(403, "no"), 99)
        .start();
    let said = run(&blind.kubeconfig("shop"), &["diff", "--dump-via", "pod-proxy", "--between", "mock", "other"]);
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.out.contains("in what could be read"), "{}", said.out);
    // EnvoyFilters that could not be listed may exist.
    let forbidden = super::Fault::Status(403, "no");
    let blind = mesh(&[dump_with("2s", None)]).fault("/apis/networking.istio.io/", forbidden, 99).start();
    let said = run(&blind.kubeconfig("shop"), &["diff", "--dump-via", "pod-proxy", "--between", "mock", path]);
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.out.contains("in what could be read") && !said.out.contains("only in"), "{}", said.out);
    let said = live(&blind, &["get", "--dump-via", "pod-proxy"]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("EnvoyFilters could not be listed in namespace shop."), "{}", said.err);
}

/// A WorkloadEntry has no pod: the answer shows what its proxy would get, and says that this is not its running state.
#[test]
fn a_virtual_machine_shows_what_it_would_get() {
    let mut world = shop();
    world.add(json!({
        "apiVersion": "networking.istio.io/v1beta1", "kind": "WorkloadEntry",
        "metadata": {"name": "ledger-1", "namespace": "shop", "labels": {"app": "cart"}},
        "spec": {"address": "10.0.0.9", "labels": {"app": "cart"}},
    }));
    let mock = world.start();
    let said = live(&mock, &["explain", "workload/ledger-1"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("shop/ledger-1") && said.out.contains("shop/stamp-requests"), "{}", said.out);
    assert!(
        said.err.contains("is a virtual machine") && said.err.contains("likely, judged on the reference"),
        "{}",
        said.err
    );
    assert!(!said.out.contains("in effect"), "{}", said.out);
    // It is judged as a proxy of the control plane's release, whatever release the reference was recorded with.
    assert!(said.out.contains("proxy 1.31.0, istiod 1.31.0"), "{}", said.out);
    // The same filters attach as for a pod with these labels.
    let attached = |name: &str| -> Vec<String> {
        let said = live(&mock, &["explain", name, "-o", "json", "--dump-via", "pod-proxy"]);
        let json: Value = serde_json::from_str(&said.out).unwrap();
        let filters = json["proxies"][0]["filters"].as_array().unwrap().iter();
        filters.filter(|one| one["selected"] == true).map(|one| one["name"].to_string()).collect()
    };
    assert!(!attached("workload/ledger-1").is_empty());
    assert_eq!(attached("workload/ledger-1"), attached("pod/cart-1"));
    let said = live(&mock, &["explain", "workload/shop/none"]);
    assert_eq!(said.code, 2, "{}", said.err);
}
