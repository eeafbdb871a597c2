//! An answer about a part of a mesh says which part, and what it does not know.

use super::mock::{Fault, World};
use super::same::captured;
use super::standing::{REFUSAL, dump_with, mesh};
use super::{demo_dump, live, pod, run, shop};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;

/// A mesh with an EnvoyFilter of the root namespace on every proxy, and a workload in another namespace with this dump.
fn with_another_namespace(dump: String) -> World {
    let mut world = mesh(&[dump_with("2s", None)]);
    world.add(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pay"}}));
    let filter = world.find("EnvoyFilter", "timeout");
    let mut root = filter.clone();
    root["metadata"] = json!({"name": "everywhere", "namespace": "istio-system", "uid": "v"});
    world.add(root);
    world.add(pod("pay", "till", 1));
    world.dump("pay/till-1", dump)
}

#[test]
fn a_capture_of_one_namespace_clears_no_other() {
    let mut world = with_another_namespace(dump_with("2s", None));
    let mut filter = world.find("EnvoyFilter", "timeout");
    filter["metadata"]["namespace"] = "pay".into();
    world.add(filter);
    let mock = world.start();
    let (_folder, path) = captured(&mock, &["-n", "shop"]);
    let path = path.as_str();
    for command in [
        &["audit", "--to", "1.31"][..],
        &["lint"],
        &["status"],
        &["get"],
        &["version"],
        &["migrate"],
        &["explain", "pod/till-1"],
    ] {
        let said = live(&mock, &[command, &["-n", "pay", "--capture", path]].concat());
        assert_eq!(said.code, 3, "{command:?}: {}{}", said.out, said.err);
        let words = "the capture covers only namespace shop: the objects and proxies of namespace pay are unknown";
        assert!(said.err.contains(words), "{command:?}: {}", said.err);
        let all = format!("{}{}", said.out, said.err);
        for clear in ["\nready:", "nothing judged", "o EnvoyFilters found", "nothing wrong"] {
            assert!(!all.contains(clear), "{command:?} {clear}: {all}");
        }
        // What it covers is answered as before.
        if command[0] != "explain" {
            let said = live(&mock, &[command, &["-n", "shop", "--capture", path]].concat());
            assert!(said.code < 2 && !said.err.contains("covers only"), "{command:?}: {}{}", said.out, said.err);
        }
    }
}

#[test]
fn the_status_of_a_namespace_covers_its_proxies() {
    let mock = with_another_namespace(dump_with("10s", Some(REFUSAL))).start();
    let said = live(&mock, &["status", "-n", "pay"]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    for words in ["everywhere", "pay/deployment/till", "value must be greater than 0s"] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    assert!(said.err.contains("1 of 1 config dump read"), "{}", said.err);
    // Only its own: the EnvoyFilter of another namespace, and other workloads of the same one, are not shown.
    assert!(!said.out.contains("timeout ") && !said.out.contains("cart"), "{}", said.out);
    let mock = with_another_namespace(dump_with("2s", None)).start();
    let said = live(&mock, &["status", "-n", "pay"]);
    assert_eq!((said.code, said.out.as_str()), (0, "nothing wrong with 1 EnvoyFilter\n"), "{}", said.err);
}

#[test]
fn unreadable_mesh_settings_are_said() {
    let mut world = mesh(&[dump_with("2s", None)]);
    world.store(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio", "namespace": "istio-system"},
        "data": {"mesh": "rootNamespace: mesh-root\na: ["},
    }));
    let mock = world.start();
    for command in [&["lint"][..], &["status"], &["lint", "-o", "json"], &["get", "-o", "json"]] {
        let said = live(&mock, command);
        assert_eq!(said.code, 3, "{command:?}: {}{}", said.out, said.err);
        assert!(said.err.contains("default mesh settings are assumed"), "{command:?}: {}", said.err);
        if command.contains(&"json") {
            let json: Value = serde_json::from_str(&said.out).unwrap();
            let unread = json["scope"]["unread"][0]["message"].as_str().unwrap_or_default();
            assert!(unread.contains("data.mesh of ConfigMap istio-system/istio"), "{}", said.out);
        }
    }
    let said = live(&mock, &["status"]);
    assert_eq!(said.out, "nothing wrong found in what could be read of 1 EnvoyFilter\n", "{}", said.err);
}

/// What a dump that ends early does not contain is not absent.
#[test]
fn a_dump_that_ends_early_is_not_read() {
    let whole = dump_with("10s", None);
    let end = whole.find("outbound|7070").unwrap();
    for cut in [end, whole.len() - 2] {
        let mut world = mesh(&[whole[..cut].to_owned()]);
        world.add(json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": "other", "namespace": "shop"},
            "spec": {"configPatches": [{
                "applyTo": "CLUSTER", "match": {"cluster": {"name": "none"}}, "patch": {"operation": "REMOVE"},
            }]},
        }));
        let mock = world.start();
        for command in ["get", "status", "lint", "audit --to 1.31", "explain pod/cart-1"] {
            let said = live(&mock, &command.split(' ').collect::<Vec<_>>());
            assert_eq!(said.code, 3, "{command}: {}{}", said.out, said.err);
            let words = "no config dump of shop/cart-1: it ends early, so what is missing from it is unknown";
            assert!(said.err.contains(words), "{command}: {}", said.err);
            let all = format!("{}{}", said.out, said.err);
            for certain in ["1 of 1 config dump", "not in effect", "no cluster is named", "no match"] {
                assert!(!all.contains(certain), "{command} {certain}: {all}");
            }
        }
        // The same from a capture.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mesh.tar");
        let path = path.to_str().unwrap();
        live(&mock, &["capture", path]);
        if Path::new(path).exists() {
            let said = live(&mock, &["status", "-n", "shop", "--capture", path]);
            assert!(said.code == 3 && !said.out.contains("not in effect"), "{}{}", said.out, said.err);
        }
    }
}

/// Pods of one workload are one, and so is the workload of a config dump.
#[test]
fn findings_count_workloads_not_pods() {
    let mut world = with_another_namespace(dump_with("2s", None));
    world.add(pod("shop", "cart", 2));
    world.add(pod("shop", "cart", 3));
    let mock = world.dump("shop/cart-2", dump_with("2s", None)).start();
    let said = live(&mock, &["lint", "-A", "--select", "EF501,EF502", "--pedantic", "--all-replicas"]);
    assert!(said.out.contains("1 workload in 1 namespace known there: `shop/cart`"), "{}", said.out);
    assert!(said.out.contains("2 workloads in 2 namespaces are known"), "{}", said.out);
}

#[test]
fn contexts_without_a_result_are_in_every_format() {
    let mock = shop().start();
    for form in ["markdown", "github", "gitlab", "json", "sarif", "junit"] {
        let said = live(&mock, &["lint", "-o", form, "--context", "mock", "--context", "none"]);
        assert_eq!(said.code, 2, "{form}: {}", said.err);
        let words = if form == "markdown" { "context none" } else { "none" };
        assert!(said.out.contains(words), "{form}: {}", said.out);
        match form {
            "markdown" => assert!(said.out.contains("**context none**: error: "), "{}", said.out),
            "github" => assert!(said.out.contains("::error title=context none::error: "), "{}", said.out),
            "gitlab" => {
                let issues: Vec<Value> = serde_json::from_str(&said.out).unwrap();
                let last = issues.last().unwrap()["description"].as_str().unwrap();
                assert!(last.starts_with("context none: error: "), "{last}");
            }
            _ => {}
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out");
        let to = ["--output-file", file.to_str().unwrap()];
        live(&mock, &[&["lint", "-o", form, "--context", "mock", "--context", "none"][..], &to].concat());
        assert!(fs::read_to_string(&file).unwrap().contains("context none") || !matches!(form, "markdown" | "github"));
    }
}

#[test]
fn a_mesh_is_not_read_beside_files() {
    let mock = shop().start();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (file, dump) = (write("f.yaml", kubectl_envoyfilter::demo::FILTERS), write("d.json", &demo_dump()));
    let capture = folder.path().join("m.tar");
    let capture = capture.to_str().unwrap();
    assert_eq!(live(&mock, &["capture", capture]).code, 0);
    for command in [
        &["lint", &file][..],
        &["lint", &file, "--dump", &dump],
        &["explain", "pod", "cart-1", "-f", &file, "--dump", &dump],
        &["audit", "-f", &file, "--to", "1.31"],
        &["diff", "-f", &file, "--dump", &dump],
        &["render", "-f", &file, "--dump", &dump],
        &["migrate", "-f", &file],
    ] {
        for (option, value) in [("--capture", capture), ("--context", "mock")] {
            let said = live(&mock, &[command, &[option, value]].concat());
            assert_eq!((said.code, said.out.as_str()), (2, ""), "{command:?} {option}: {}", said.err);
            let words = format!("{option} cannot be combined with files, --dump or --demo");
            assert!(said.err.contains(&words), "{command:?} {option}: {}", said.err);
        }
        let said = live(&mock, command);
        assert!(said.code < 2, "{command:?}: {}", said.err);
    }
}

#[test]
fn version_names_what_it_does_not_know() {
    let refused = || Fault::Status(403, "no");
    let tags = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    let mock = shop().fault(tags, refused(), 99).fault("/api/v1/namespaces?", refused(), 99).start();
    let said = live(&mock, &["version", "-A"]);
    for words in [
        "not allowed to list mutatingwebhookconfigurations",
        "revision tags are not resolved",
        "not allowed to list namespaces: injection and ambient mode of namespaces are unknown",
    ] {
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }
    let line = said.out.lines().find(|line| line.starts_with("default")).unwrap();
    assert_eq!(line.split_whitespace().nth(1), Some("unknown"), "{}", said.out);
    let mock = shop().fault("/api/v1/namespaces/shop", refused(), 99).start();
    let said = live(&mock, &["version"]);
    assert!(said.err.contains("not allowed to read Namespace shop"), "{}", said.err);
    let said = live(&shop().start(), &["version"]);
    assert!(!said.err.contains("not allowed") && said.out.contains("default         -"), "{}{}", said.out, said.err);
}

#[test]
fn what_cannot_be_read_is_no_mistake_of_the_user() {
    // A proxy with an empty answer.
    let mock = mesh(&["{}".to_owned()]).start();
    let said = live(&mock, &["explain", "pod/cart-1"]);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    let mock = shop().start();
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.tar.zst");
    assert_eq!(live(&mock, &["capture", whole.to_str().unwrap()]).code, 0);
    let bytes = fs::read(&whole).unwrap();
    let mut zip = b"PK\x03\x04\x14\0\0\0".to_vec();
    zip.resize(2_000, 7);
    for (name, bytes, code, words) in [
        ("empty.tar", &[][..], 2, "it contains no objects and no config dumps"),
        ("cut.tar.zst", &bytes[..40], 3, "cut.tar.zst"),
        ("x.zip", &zip, 3, "it is a zip archive, not a tar archive"),
        ("x.tar", &b"apiVersion: v1\n".repeat(100), 3, "it is not a tar archive"),
    ] {
        let path = folder.path().join(name);
        fs::File::create(&path).unwrap().write_all(bytes).unwrap();
        let said = live(&mock, &["lint", "--capture", path.to_str().unwrap()]);
        assert_eq!(said.code, code, "{name}: {}{}", said.out, said.err);
        assert!(said.err.contains(words) && !said.err.contains("numeric"), "{name}: {}", said.err);
    }
}

/// A listener that failed in its state and as an update is named once.
#[test]
fn a_rejected_resource_is_named_once() {
    let mut dump: Value = serde_json::from_str(&demo_dump()).unwrap();
    for config in dump["configs"].as_array_mut().unwrap() {
        for listener in config["dynamic_listeners"].as_array_mut().into_iter().flatten() {
            if listener["name"] == "virtualInbound" {
                let error = json!({"details": REFUSAL, "last_update_attempt": "2026-11-20T09:01:00Z"});
                listener["error_state"] = error;
                let again = json!({"name": "virtualInbound", "error_state": listener["error_state"]});
                config["dynamic_listeners"].as_array_mut().unwrap().push(again);
                break;
            }
        }
    }
    let mock = mesh(&[dump.to_string()]).start();
    let said = live(&mock, &["explain", "pod/cart-1"]);
    assert!(
        said.out.contains("Envoy refused an update of listener virtualInbound, and keeps"),
        "{}{}",
        said.out,
        said.err
    );
}

#[test]
fn advice_fits_its_cause() {
    // Nothing resembles this name.
    let mock = shop().start();
    let said = live(&mock, &["get", "zzzzzz"]);
    assert!(said.code == 2 && !said.err.contains("similar names"), "{}", said.err);
    // A namespace without EnvoyFilters.
    let mut world = shop();
    world.add(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "empty"}}));
    let mock = world.start();
    let said = run(&mock.kubeconfig("empty"), &["migrate"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("nothing judged: no EnvoyFilter in the namespace or the selection"), "{}", said.out);
    // Another role does not help an overloaded server or proxy.
    for (path, status) in [
        ("/api/v1/namespaces/istio-system/configmaps", 503),
        ("/api/v1/namespaces/istio-system/pods", 429),
        ("/api/v1/namespaces/shop/pods/cart-1:15000", 503),
    ] {
        let mock = mesh(&[dump_with("2s", None)]).fault(path, Fault::Status(status, "busy"), 99).start();
        let said = live(&mock, &["status", "--dump-via", "pod-proxy"]);
        assert_eq!(said.code, 3, "{path}: {}{}", said.out, said.err);
        assert!(!said.err.contains("rbac"), "{path}: {}", said.err);
    }
}
