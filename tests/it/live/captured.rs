//! Captures of one namespace, and bug reports: they answer for what they hold, and clear nothing else.

use super::mock::{Fault, World};
use super::same::{captured, same_answers};
use super::standing::{dump_with, mesh};
use super::{ISTIOD, demo, demo_dump, findings, live, of_files, pod, run, shop};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A mesh with an EnvoyFilter of the root namespace that reaches only a workload in another namespace.
fn with_a_root_filter() -> World {
    let mut world = mesh(&[dump_with("2s", None)]);
    world.add(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pay"}}));
    let mut root = world.find("EnvoyFilter", "timeout");
    root["metadata"] = json!({"name": "of-tills", "namespace": "istio-system", "uid": "v"});
    root["spec"]["workloadSelector"] = json!({"labels": {"app": "till"}});
    world.add(root);
    world.add(pod("pay", "till", 1));
    world.dump("pay/till-1", dump_with("2s", None))
}

#[test]
fn without_n_a_capture_of_one_namespace_answers_as_its_cluster_does_with_n() {
    let mock = with_a_root_filter().start();
    let (_folder, path) = captured(&mock, &["-n", "shop", "--dump-via", "pod-proxy"]);
    let path = path.as_str();
    for command in [
        &["lint", "--pedantic"][..],
        &["status", "-o", "json"],
        &["get"],
        &["audit", "--to", "1.31"],
        &["migrate", "--accept", "differs"],
    ] {
        let cluster = live(&mock, &[command, &["-n", "shop", "--dump-via", "pod-proxy"]].concat());
        for everything in [&[][..], &["-A"]] {
            let capture = live(&mock, &[command, everything, &["--capture", path]].concat());
            // That it selects nothing is true of the workloads in the capture, and of no others.
            for words in ["no workload in reach", "selects no proxy"] {
                assert!(!capture.out.contains(words), "{command:?} {words}: {}", capture.out);
            }
            assert_eq!(capture.code, cluster.code, "{command:?}: {}", capture.err);
        }
    }
    same_answers(&mock, path, &[&["migrate", "-n", "shop"], &["lint", "-n", "shop", "--pedantic"]]);
}

/// Objects of other namespaces are unknown to `migrate`, whether a namespace was read from a cluster or captured.
#[test]
fn migrate_does_not_take_what_was_not_captured_for_absent() {
    let mock = shop().start();
    let (_of_one, one) = captured(&mock, &["--dump-via", "pod-proxy", "-n", "shop"]);
    let (_of_all, all) = captured(&mock, &["--dump-via", "pod-proxy"]);
    for namespace in [&["-n", "shop"][..], &[]] {
        let said = live(&mock, &[&["migrate", "--capture", &one], namespace].concat());
        assert!(said.out.contains("only TrafficExtension objects of namespace shop were read"), "{}", said.out);
        // With everything captured, the class is decided.
        let said = live(&mock, &[&["migrate", "--capture", &all], namespace].concat());
        assert!(said.out.contains("same-but") && !said.out.contains("were read"), "{}", said.out);
    }
}

/// The text of an EnvoyFilter that gives calls of `catalog` another timeout.
fn filter(namespace: &str, seconds: u32) -> String {
    format!(
        "---
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {{name: new, namespace: {namespace}}}
spec:
  configPatches:
  - applyTo: CLUSTER
    match: {{context: SIDECAR_OUTBOUND, cluster: {{name: outbound|7070||catalog.shop.svc.cluster.local}}}}
    patch: {{operation: MERGE, value: {{connect_timeout: {seconds}s}}}}
"
    )
}

#[test]
fn diff_with_a_capture_of_one_namespace_does_not_clear_the_others() {
    let mock = with_a_root_filter().start();
    let (folder, path) = captured(&mock, &["-n", "shop", "--dump-via", "pod-proxy"]);
    let path = path.as_str();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(&path, text).unwrap();
        path
    };
    let both = write("both.yaml", filter("shop", 2) + &filter("pay", 7));
    let said = live(&mock, &["diff", "-f", &both, "--capture", path]);
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert_eq!(said.out, "no change on 1 proxy; not everything could be read\n");
    let words = "the capture covers only namespace shop: the objects and proxies of other namespaces are unknown";
    assert!(said.err.contains(words) && said.err.contains("leave -n out"), "{}", said.err);
    // With -A, as well, although all files are of a single namespace.
    let other = write("other.yaml", filter("pay", 7));
    let said = live(&mock, &["diff", "-f", &other, "-A", "--capture", path]);
    assert!(said.code == 2 && said.err.contains(words), "{}{}", said.out, said.err);
    // What it covers is compared as before, and without a namespace in the file too.
    let own = write("own.yaml", filter("shop", 2));
    let without = write("without.yaml", filter("shop", 2).replace(", namespace: shop", ""));
    for file in [&own, &without] {
        for everywhere in [&[][..], &["-A"]] {
            let said = live(&mock, &[&["diff", "-f", file, "--capture", path], everywhere].concat());
            let words = "no change on 1 proxy\n";
            assert_eq!((said.code, said.out.as_str()), (0, words), "{file}: {}", said.err);
        }
    }
}

/// The last line of `diff` counts the proxies that it could not compare.
#[test]
fn diff_counts_what_it_did_not_compare() {
    let mut world = mesh(&[dump_with("2s", None), dump_with("2s", None)]);
    world.add(pod("shop", "till", 1));
    let fault = "/api/v1/namespaces/shop/pods/till-1:15000";
    let mock = world.dump("shop/till-1", demo_dump()).fault(fault, Fault::Status(403, "forbidden"), 99).start();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.yaml");
    for (seconds, words) in [(2, "no change on 1 proxy; 1 more could not be read"), (7, "+1 -1 lines; 1 more could")] {
        fs::write(&path, filter("shop", seconds)).unwrap();
        let file = path.to_str().unwrap();
        let said = live(&mock, &["diff", "-f", file, "--dump-via", "pod-proxy"]);
        assert!(said.code == 2 && said.out.contains(words), "{}{}", said.out, said.err);
        let said = live(&mock, &["diff", "-f", file, "--dump-via", "pod-proxy", "-o", "markdown"]);
        assert!(said.out.contains("; 1 more could not be read"), "{}", said.out);
    }
}

/// A bug report has all EnvoyFilters in one file: findings belong to documents.
#[test]
fn a_namespace_of_a_bug_report_has_its_findings() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = folder.path().join("bug-report/cluster");
    let proxies = folder.path().join("bug-report/proxies/shop/cart-1");
    fs::create_dir_all(&cluster).unwrap();
    fs::create_dir_all(&proxies).unwrap();
    let objects = format!("{ISTIOD}---\n{}\n---\n{}\n", pod("shop", "cart", 1), pod("shop", "cart", 2));
    fs::write(cluster.join("k8s-resources"), objects).unwrap();
    fs::write(cluster.join("crs"), demo::FILTERS).unwrap();
    fs::write(proxies.join("config_dump"), demo_dump()).unwrap();
    let of_report = |arguments: &[&str]| {
        run(Path::new("/nonexistent"), &[arguments, &["--capture", folder.path().to_str().unwrap()]].concat())
    };
    let said = of_report(&["lint", "-n", "shop", "-o", "json"]);
    assert_eq!((said.code, findings(&said.out)), (1, of_files(Some("shop"))), "{}", said.err);
    let said = of_report(&["lint", "-n", "shop"]);
    assert!(said.out.contains("5 EnvoyFilters with 5 patches in namespace shop"), "{}", said.out);
    let counts = |text: &str| -> Vec<Value> {
        let list: Value = serde_json::from_str(text).unwrap();
        list["items"].as_array().unwrap().iter().map(|item| json!([item["name"], item["findings"]])).collect()
    };
    let mock = shop().start();
    let cluster = live(&mock, &["get", "-A", "-o", "json"]);
    let report = of_report(&["get", "-A", "-o", "json"]);
    assert_eq!(counts(&report.out), counts(&cluster.out), "{}", report.err);
    assert!(counts(&report.out).iter().any(|row| row[1].as_u64().unwrap() > 0), "{}", report.out);
}

/// A passed case is about a file that was judged: not about an EnvoyFilter of the root namespace that was only read.
#[test]
fn junit_passes_only_what_was_judged() {
    let mock = shop().start();
    for command in [&["lint"][..], &["audit", "--to", "1.31"]] {
        let said = live(&mock, &[command, &["-n", "shop", "-o", "junit"]].concat());
        assert!(said.out.contains("EnvoyFilter/shop/"), "{}", said.out);
        assert!(!said.out.contains("EnvoyFilter/istio-system/"), "{command:?}: {}", said.out);
        let said = live(&mock, &[command, &["-A", "-o", "junit"]].concat());
        assert!(said.out.contains("EnvoyFilter/istio-system/"), "{command:?}: {}", said.out);
    }
}
