//! The live state takes precedence: patches and fields on proxies that hold something other than the filters say, or
//! that reject it.

use super::mock::{Fault, Mock, World};
use super::{ISTIOD, demo_dump, live, pod, shop};
use serde_json::{Value, json};

const CLUSTER: &str = "outbound|7070||catalog.shop.svc.cluster.local";
pub(super) const REFUSAL: &str =
    "Error adding/updating cluster:\n  connect_timeout: value must be\n  greater than 0s\n";

/// A dump with one cluster as a running Envoy shows it: its timeout, and the rejected update.
pub(super) fn dump_with(timeout: &str, refused: Option<&str>) -> String {
    let mut dump: Value = serde_json::from_str(&demo_dump()).unwrap();
    let configs = dump["configs"].as_array_mut().unwrap();
    let clusters = configs.iter_mut().find(|it| it["@type"].as_str().unwrap().contains("ClustersConfigDump")).unwrap();
    let all = clusters["dynamic_active_clusters"].as_array_mut().unwrap();
    let mut found = false;
    for one in all {
        one["last_updated"] = "2026-11-20T09:00:00Z".into();
        if one["cluster"]["name"] == CLUSTER {
            found = true;
            one["cluster"]["connect_timeout"] = timeout.into();
            if let Some(details) = refused {
                one["error_state"] = json!({"details": details, "last_update_attempt": "2026-11-20T09:01:00Z"});
            }
        }
    }
    assert!(found, "no cluster {CLUSTER}");
    dump.to_string()
}

/// A filter that sets the timeout of the cluster to two seconds, on three replicas with these dumps.
pub(super) fn mesh(dumps: &[String]) -> World {
    let mut world = World::new(ISTIOD);
    world.add(json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {
            "name": "timeout", "namespace": "shop", "uid": "u", "creationTimestamp": "2026-11-20T08:00:00Z",
        },
        "spec": {"configPatches": [{
            "applyTo": "CLUSTER", "match": {"context": "SIDECAR_OUTBOUND", "cluster": {"name": CLUSTER}},
            "patch": {"operation": "MERGE", "value": {"connect_timeout": "2s"}},
        }]},
    }));
    for (index, dump) in dumps.iter().enumerate() {
        world.add(pod("shop", "cart", index + 1));
        world = world.dump(&format!("shop/cart-{}", index + 1), dump.clone());
    }
    world
}

#[test]
fn the_live_state_comes_before_the_computed_one() {
    let field = format!("cluster/{CLUSTER}/connect_timeout");
    let mock = mesh(&[dump_with("2s", None)]).start();
    let said = live(&mock, &["explain", "pod/cart-1"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("1 patch: 1 in effect") && said.out.contains("✓ in effect"), "{}", said.out);
    let said = live(&mock, &["explain", "field", &field]);
    assert!(said.out.contains("now         2s") && !said.out.contains("computed"), "{}", said.out);

    let mock = mesh(&[dump_with("10s", None)]).start();
    let said = live(&mock, &["explain", "pod/cart-1"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for words in ["1 patch: 1 not in effect", "✗ not in effect", "is \"10s\", not \"2s\"", "computed from the filter"]
    {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    assert!(!said.out.contains("applied"), "{}", said.out);
    let said = live(&mock, &["explain", "field", &field]);
    let now =
        said.out.lines().position(|line| line.contains("now         10s")).unwrap_or_else(|| panic!("{}", said.out));
    let computed = said.out.lines().position(|line| line.contains("computed    2s")).unwrap();
    assert!(now < computed && said.out.contains("not what the EnvoyFilters produce"), "{}", said.out);
    let said = live(&mock, &["explain", "field", &field, "-o", "json"]);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(json["fields"][0]["live"], json!({"value": "\"10s\"", "asComputed": false}), "{}", said.out);
}

#[test]
fn envoys_rejection_is_printed_once_on_one_line() {
    let mock = mesh(&[dump_with("10s", Some(REFUSAL))]).start();
    let words = "Error adding/updating cluster: connect_timeout: value must be greater than 0s";
    for arguments in [&["explain", "pod/cart-1"][..], &["explain", "filter/timeout"], &["status"]] {
        let said = live(&mock, arguments);
        assert_eq!(said.code, 1, "{arguments:?}: {}{}", said.out, said.err);
        let flat = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(flat.matches(words).count(), 1, "{arguments:?}: {}", said.out);
        assert!(!said.out.contains("\\n"), "{arguments:?}: {}", said.out);
    }
    let said = live(&mock, &["explain", "pod/cart-1"]);
    assert!(said.out.contains("✗ refused by Envoy") && said.out.contains("1 refused by Envoy"), "{}", said.out);
    let long = "word ".repeat(200);
    let mock = mesh(&[dump_with("10s", Some(&long))]).start();
    let count = |arguments: &[&str]| live(&mock, arguments).out.matches("word").count();
    assert!(count(&["status"]) < 40);
    assert_eq!(count(&["status", "-v"]), 200);
    assert!(count(&["explain", "pod/cart-1"]) < 80);
    assert_eq!(count(&["explain", "pod/cart-1", "-v"]), 200);
    let field = format!("cluster/{CLUSTER}/connect_timeout");
    let said = live(&mock, &["explain", "field", &field]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.out.contains("refused     Envoy keeps the previous version: word"), "{}", said.out);
}

#[test]
fn get_counts_patches_by_proxy_and_says_how_many_were_read() {
    let mock = mesh(&[dump_with("2s", None), dump_with("10s", None), dump_with("10s", None)]).start();
    let row = |arguments: &[&str]| -> Vec<(String, String)> {
        let said = live(&mock, arguments);
        let mut lines = said.out.lines().map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let (heading, row) = (lines.next().unwrap(), lines.next().unwrap());
        heading
            .into_iter()
            .zip(row)
            .filter(|(key, _)| ["SELECTS", "READ", "EFFECTIVE", "INEFFECTIVE"].contains(&key.as_str()))
            .collect()
    };
    let cells = |row: Vec<(String, String)>| row.into_iter().map(|(_, cell)| cell).collect::<Vec<_>>();
    assert_eq!(cells(row(&["get", "--all-replicas"])), ["3", "3", "1/3", "2"]);
    assert_eq!(cells(row(&["get"])), ["3", "1", "1/1", "0"]);
    let said = live(&mock, &["get"]);
    assert!(said.err.contains("1 of 1 config dump read for 3 pods"), "{}", said.err);
}

#[test]
fn without_a_permission_only_known_facts_are_printed() {
    let world = shop().fault("/api/v1/namespaces/shop/pods?", Fault::Status(403, "pods is forbidden"), 99);
    let mock = world.start();
    for name in ["deploy/cart", "pod/cart-1", "svc/cart", "gateway/cart"] {
        let said = live(&mock, &["explain", name]);
        assert_eq!(said.code, 3, "{name}: {}{}", said.out, said.err);
        assert!(!said.err.contains("there is no") && !said.err.contains("has a proxy"), "{name}: {}", said.err);
    }
    for (arguments, what) in [
        (&["render", "cart-1"][..], "pod cart-1"),
        (&["explain", "filter/stamp-requests"], "proxies"),
        (&["explain", "field", "cluster/x/connect_timeout"], "proxies"),
    ] {
        let said = live(&mock, arguments);
        assert_eq!(said.code, 3, "{arguments:?}: {}{}", said.out, said.err);
        let words = format!("cannot look for {what}: pods could not be listed");
        assert!(said.err.contains(&words), "{arguments:?}: {}", said.err);
    }
    let selects = |mock: &Mock| {
        let said = live(mock, &["get", "stamp-requests"]);
        let cells = |line: usize| said.out.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>();
        let at = cells(0).iter().position(|cell| *cell == "SELECTS").unwrap();
        cells(1)[at].to_owned()
    };
    assert_eq!((selects(&mock), selects(&shop().start())), ("-".to_owned(), "2".to_owned()));
    let said = live(&mock, &["get", "-o", "json"]);
    assert!(!said.out.contains("\"selects\""), "{}", said.out);
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("mesh.tar");
    let said = live(&mock, &["capture", "-n", "shop", capture.to_str().unwrap()]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("not allowed to list pods") && said.err.contains("nothing captured"), "{}", said.err);
    let mut empty = shop();
    empty.add(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "empty"}}));
    let said = live(&empty.start(), &["capture", "-n", "empty", capture.to_str().unwrap()]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("nothing captured: no pod in namespace empty has a proxy"), "{}", said.err);
}

/// In ambient mode, EnvoyFilters change requests to a service in its waypoint.
#[test]
fn a_service_without_proxies_leads_to_its_waypoint() {
    let service = |name: &str, labels: Value| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "reed", "labels": labels},
            "spec": {"selector": {"app": name}, "ports": [{"port": 80}]}})
    };
    let mut world = shop();
    world.add(json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "reed", "labels": {"istio.io/use-waypoint": "wp"}},
    }));
    let mut waypoint = pod("reed", "wp", 1);
    waypoint["metadata"]["labels"]["gateway.networking.k8s.io/gateway-name"] = "wp".into();
    waypoint["spec"]["containers"][1]["args"] = json!(["proxy", "waypoint"]);
    world.add(waypoint);
    let mut plain = pod("reed", "teal", 1);
    plain["spec"]["containers"] = json!([{"name": "app", "image": "app"}]);
    world.add(plain);
    world.add(service("heron", json!({})));
    world.add(service("teal", json!({})));
    world.add(service("away", json!({"istio.io/use-waypoint": "own", "istio.io/use-waypoint-namespace": "far"})));
    world.add(service("gone", json!({"istio.io/use-waypoint": "gone"})));
    world.add(service("bare", json!({"istio.io/use-waypoint": "none"})));
    let mock = world.dump("reed/wp-1", demo_dump().replace("sidecar~", "waypoint~")).start();
    let ask = |name: &str| live(&mock, &["explain", "service", name, "-n", "reed"]);
    for name in ["heron", "teal"] {
        let said = ask(name);
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        assert!(said.out.starts_with("reed/wp-1  waypoint"), "{name}: {}", said.out);
        let words =
            format!("no pod behind service reed/{name} has a proxy; its waypoint is reed/wp, which is explained");
        assert!(said.err.contains(&words), "{name}: {}", said.err);
    }
    for (name, words) in [
        ("away", "its waypoint is far/own\n  help: explain it with `explain gateway far/own`"),
        ("gone", "its waypoint is reed/gone\n  help: no pod of reed/gone has a proxy"),
        ("bare", "no service bare in namespace reed has a proxy"),
    ] {
        let said = ask(name);
        assert_eq!(said.code, 2, "{name}: {}{}", said.out, said.err);
        assert!(said.err.contains(words), "{name}: {}", said.err);
    }
}

/// An update that Envoy rejects for a reason that no patch shows is still wrong.
#[test]
fn a_rejected_update_that_no_patch_explains_is_reported() {
    let words = "value must be greater than 0s";
    let mock = mesh(&[dump_with("2s", Some(REFUSAL))]).start();
    let said = live(&mock, &["status"]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.out.contains(words) && said.out.contains("-        deployment/cart"), "{}", said.out);
    let said = live(&mock, &["status", "-o", "name"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    let said = live(&mock, &["explain", "pod/cart-1"]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains(words) && said.out.contains("✓ in effect"), "{}", said.out);
    // A filter is not to blame for it.
    assert_eq!(live(&mock, &["explain", "filter/timeout"]).code, 0);
    let mock = mesh(&[dump_with("2s", None)]).start();
    let said = live(&mock, &["status"]);
    assert_eq!((said.code, said.out.as_str()), (0, "nothing wrong with 1 EnvoyFilter\n"), "{}", said.err);
}

#[test]
fn the_name_of_one_proxy_is_not_given_to_several() {
    let mut world = mesh(&[dump_with("2s", None)]);
    world.add(pod("shop", "pay", 3));
    let mock = world.dump("shop/pay-3", dump_with("10s", None)).start();
    let field = format!("cluster/{CLUSTER}/connect_timeout");
    let said = live(&mock, &["explain", "field", &field, "--proxy-name", "cart-1"]);
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert!(said.err.contains("--proxy-name renames one proxy, and this question is about 2"), "{}", said.err);
    let said = live(&mock, &["explain", "pod/cart-1", "--proxy-name", "other"]);
    assert!(said.code == 0 && said.out.contains("shop/other"), "{}{}", said.out, said.err);
}

#[test]
fn each_proxy_names_its_own_control_plane() {
    let mut world = mesh(&[dump_with("2s", None)]);
    world.add(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "istiod-old", "namespace": "istio-system", "labels": {"app": "istiod", "istio.io/rev": "1-26"}},
        "spec": {"containers": [{"name": "discovery", "image": "istio/pilot:1.26.8"}]}, "status": {"phase": "Running"},
    }));
    let mut old = pod("shop", "cart", 3);
    old["metadata"]["annotations"]["istio.io/rev"] = "1-26".into();
    old["metadata"]["ownerReferences"][0]["name"] = "cart-old".into();
    world.add(old);
    let mock = world.dump("shop/cart-3", dump_with("2s", None)).start();
    let said = live(&mock, &["explain", "filter/timeout"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let line =
        |name: &str| said.out.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{}", said.out));
    assert!(line("shop/cart-1 ").ends_with("istiod 1.31.0"), "{}", said.out);
    assert!(line("shop/cart-3 ").ends_with("istiod 1.26.8"), "{}", said.out);
}

#[test]
fn gateways_of_both_apis_lead_to_their_pods() {
    let mut world = shop();
    world.add(json!({
        "apiVersion": "networking.istio.io/v1beta1", "kind": "Gateway", "metadata": {"name": "front", "namespace": "shop"},
        "spec": {"selector": {"istio": "ingressgateway"}, "servers": []},
    }));
    world.add(json!({
        "apiVersion": "networking.istio.io/v1beta1", "kind": "Gateway", "metadata": {"name": "nobody", "namespace": "shop"},
        "spec": {"selector": {"istio": "none"}, "servers": []},
    }));
    for number in [1, 2] {
        let mut gateway = pod("istio-ingress", "ingress", number);
        gateway["metadata"]["labels"]["istio"] = "ingressgateway".into();
        gateway["metadata"]["ownerReferences"][0]["name"] = format!("ingress-{number}").into();
        gateway["spec"]["containers"][1]["args"] = json!(["proxy", "router"]);
        world.add(gateway);
    }
    let dump = demo_dump().replace("sidecar~", "router~");
    let mock = world.dump("istio-ingress/ingress-1", dump.clone()).dump("istio-ingress/ingress-2", dump).start();
    let said = live(&mock, &["explain", "gateway/front"]);
    assert!(said.code < 2, "{}{}", said.out, said.err);
    for pod in ["istio-ingress/ingress-1", "istio-ingress/ingress-2"] {
        assert!(said.out.contains(pod), "{pod}: {}", said.out);
    }
    let said = live(&mock, &["explain", "gateway/nobody"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("gateway nobody selects no pod with the proxy of a gateway"), "{}", said.err);
}

#[test]
fn names_are_read_everywhere_as_explain_reads_them() {
    let mock = shop().start();
    let root = "limit-tls";
    let all = live(&mock, &["get", "-A", "-o", "json"]);
    let all: Value = serde_json::from_str(&all.out).unwrap();
    let of_root = all["items"].as_array().unwrap().iter().find(|item| item["namespace"] == "istio-system").unwrap();
    let root = of_root["name"].as_str().unwrap_or(root);
    for (name, want) in [(root, "istio-system"), ("shop/stamp-requests", "shop"), ("ef/stamp-requests", "shop")] {
        let said = live(&mock, &["get", "-n", "shop", name]);
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        let row = said.out.lines().nth(1).unwrap_or_else(|| panic!("{name}: {}", said.out));
        assert!(row.starts_with(want), "{name}: {}", said.out);
        assert_eq!(said.out.lines().count(), 2, "{name}: {}", said.out);
    }
    let said = super::run(&mock.kubeconfig("default"), &["get", "shop/stamp-requests"]);
    assert!(said.code == 0 && said.out.contains("stamp-requests"), "{}{}", said.out, said.err);
    for name in ["pod/cart", "po/cart-1", "deploy/cart", "cart", "shop/cart-1", "pod/shop/cart-1"] {
        let said = live(&mock, &["render", name, "--only", "changed"]);
        assert_eq!(said.code, 0, "{name}: {}", said.err);
    }
    let said = live(&mock, &["explain", "pod/cart-1"]);
    assert!(said.out.contains("spec.configPatches[0]") && !said.out.contains("cluster://"), "{}", said.out);
}

#[test]
fn a_pod_that_is_not_running_gives_no_answer() {
    let mut world = shop();
    let mut pending = pod("shop", "late", 0);
    pending["status"] = json!({"phase": "Pending"});
    pending["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "late", "controller": true, "uid": "u"
    }]);
    world.add(pending);
    let mock = world.start();
    let said = live(&mock, &["explain", "pod/late-0"]);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    assert!(said.err.contains("shop/late-0") && said.err.contains("not ready"), "{}", said.err);
    // The scope and the summary count the same.
    let said = live(&mock, &["lint"]);
    assert!(said.err.contains("; 1 thing not read"), "{}", said.err);
    assert!(said.out.contains("1 thing could not be read: the result is incomplete"), "{}", said.out);
}

/// One replica answers with an error: its status is named, and the next replica is read.
#[test]
fn a_proxy_that_answers_with_an_error_is_named_and_the_next_one_is_read() {
    let world = mesh(&[dump_with("2s", None), dump_with("2s", None)]);
    let path = "/api/v1/namespaces/shop/pods/cart-1:15000/proxy/config_dump";
    let mock = world.fault(path, Fault::Status(500, "oops"), 99).start();
    let said = live(&mock, &["explain", "pod/cart-1", "--dump-via", "pod-proxy"]);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    assert!(said.err.contains("cart-1") && said.err.contains("500"), "{}", said.err);
    assert!(!said.err.contains("starts with"), "{}", said.err);
    for arguments in [&["explain", "deploy/cart"][..], &["status"]] {
        let said = live(&mock, &[arguments, &["--dump-via", "pod-proxy"]].concat());
        assert!(mock.paths().iter().any(|path| path.contains("cart-2:15000")), "{:?}", mock.paths());
        assert!(!said.out.contains("nothing could be judged"), "{}", said.out);
        assert_eq!(said.code, 0, "{arguments:?}: {}{}", said.out, said.err);
    }
}

/// A way that reports success with another text: `pilot-agent` prints the body of some errors.
#[test]
fn a_text_that_is_no_dump_is_named_and_the_next_proxy_is_read() {
    let world = mesh(&[dump_with("2s", None), dump_with("2s", None)]);
    let mock = world.dump("shop/cart-1", "upstream oops\n".to_owned()).start();
    let said = live(&mock, &["explain", "pod/cart-1", "--dump-via", "pod-proxy"]);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    assert!(
        said.err.contains("pod-proxy: the answer cannot be used: it is not a config dump: upstream oops"),
        "{}",
        said.err
    );
    let said = live(&mock, &["explain", "deploy/cart", "--dump-via", "pod-proxy"]);
    assert_eq!((said.code, said.err.contains("error")), (0, false), "{}{}", said.out, said.err);
    assert!(said.out.contains("shop/cart-2"), "{}", said.out);
}

/// `sts/cart` is no other name for the Deployment `cart`.
#[test]
fn the_kind_of_a_workload_is_honored() {
    let mut world = shop();
    for (name, kind, owner) in [
        ("ledger-0", "StatefulSet", "ledger"),
        ("report-29384710-x2x9q", "Job", "report-29384710"),
        ("canary-6f9-abcde", "ReplicaSet", "canary-6f9"),
    ] {
        let mut own = pod("shop", owner, 0);
        own["metadata"]["name"] = name.into();
        own["metadata"]["ownerReferences"][0]["kind"] = kind.into();
        own["metadata"]["ownerReferences"][0]["name"] = owner.into();
        own["metadata"]["labels"] = json!({"app": owner, "rollouts-pod-template-hash": "6f9"});
        world.add(own);
        world = world.dump(&format!("shop/{name}"), demo_dump());
    }
    let mock = world.start();
    for (name, want) in [
        ("deploy/cart", "shop/cart-"),
        ("rs/cart-5d7", "shop/cart-"),
        ("sts/ledger", "shop/ledger-0"),
        ("statefulsets.apps/shop/ledger", "shop/ledger-0"),
        ("cronjob/report", "shop/report-"),
        ("job/report-29384710", "shop/report-"),
        ("rollout/canary", "shop/canary-"),
        ("workload/ledger", "shop/ledger-0"),
    ] {
        let said = live(&mock, &["explain", name]);
        assert!(said.code == 0 && said.out.starts_with(want), "{name}: {}{}", said.out, said.err);
        let said = live(&mock, &["render", name, "--only", "changed"]);
        assert_eq!(said.code, 0, "{name}: {}", said.err);
    }
    for (name, kind, exists) in [
        ("sts/cart", "StatefulSet", "deployment/cart"),
        ("ds/cart", "DaemonSet", "deployment/cart"),
        ("rollout/cart", "Rollout", "deployment/cart"),
        ("cronjob/cart", "CronJob", "deployment/cart"),
        ("deploy/ledger", "Deployment", "statefulset/ledger"),
        ("job/report", "Job", "cronjob/report"),
    ] {
        for command in ["explain", "render"] {
            let said = live(&mock, &[command, name]);
            assert_eq!(said.code, 2, "{command} {name}: {}{}", said.out, said.err);
            let bare = name.split_once('/').unwrap().1;
            let words =
                format!("no {kind} {bare} in namespace shop has a proxy\n  help: what has this name: {exists}\n");
            assert!(said.err.contains(&words), "{command} {name}: {}", said.err);
        }
    }
    let said = live(&mock, &["explain", "sts", "cart"]);
    assert!(said.code == 2 && said.err.contains("no StatefulSet cart"), "{}{}", said.out, said.err);
}
