//! An answer about nothing is not a success: the output of `diff`, `capture` and `status` if nothing was reached or
//! read.

use super::mock::Fault;
use super::standing::{dump_with, mesh};
use super::{live, run};
use serde_json::json;

const PROXY: &str = "/api/v1/namespaces/shop/pods/cart-1:15000";

/// A filter in the namespace for workloads with this label.
fn filter(namespace: &str, app: &str) -> String {
    format!(
        "apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {{name: new, namespace: {namespace}}}
spec:
  workloadSelector: {{labels: {{app: {app}}}}}
  configPatches:
  - applyTo: CLUSTER
    match: {{context: SIDECAR_OUTBOUND, cluster: {{name: outbound|7070||catalog.shop.svc.cluster.local}}}}
    patch: {{operation: MERGE, value: {{connect_timeout: 7s}}}}
"
    )
}

/// The files, not the namespace of the context, decide which proxies are affected.
#[test]
fn diff_looks_at_the_proxies_that_its_files_reach() {
    let mut world = mesh(&[dump_with("2s", None)]);
    world.add(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "istio-system"}}));
    let mock = world.start();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let (own, root) = (write("own.yaml", filter("shop", "cart")), write("root.yaml", filter("istio-system", "cart")));
    let nobody = write("nobody.yaml", filter("shop", "nobody"));
    for namespace in ["default", "shop"] {
        for file in [&own, &root] {
            let said = run(&mock.kubeconfig(namespace), &["diff", "-f", file, "--dump-via", "pod-proxy"]);
            assert_eq!(said.code, 1, "{namespace} {file}: {}{}", said.out, said.err);
            assert!(
                said.out.contains("shop/cart-1") && said.out.contains("+  \"connect_timeout\": \"7s\""),
                "{}",
                said.out
            );
        }
        // An added filter comes after existing ones, and wins whatever its name.
        let said = run(&mock.kubeconfig(namespace), &["render", "shop/cart-1", "-f", &own, "--dump-via", "pod-proxy"]);
        assert!(said.out.contains("\"connect_timeout\":\"7s\""), "{}", said.err);
        let said = run(&mock.kubeconfig(namespace), &["diff", "-f", &nobody, "--dump-via", "pod-proxy"]);
        assert_eq!(said.code, 2, "{}{}", said.out, said.err);
        assert!(said.out.contains("nothing compared: the EnvoyFilters reach no proxy"), "{}", said.out);
    }
}

/// Without an EnvoyFilter there is nothing that could be the same; an updated one counts once.
#[test]
fn a_diff_of_nothing_is_no_all_clear() {
    let mock = mesh(&[dump_with("2s", None)]).start();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let empty = write("empty.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n");
    let ask = |arguments: &[&str]| live(&mock, &[&["diff"], arguments, &["--dump-via", "pod-proxy"]].concat());
    for form in ["text", "markdown"] {
        for arguments in [["-f", empty.as_str()], ["--delete", "shop/none"]] {
            let said = ask(&[&arguments[..], &["-o", form]].concat());
            assert_eq!(said.code, 2, "{arguments:?}: {}{}", said.out, said.err);
            let words = "nothing compared: no EnvoyFilter to compare";
            assert!(said.out.contains(words) && !said.out.contains("no change"), "{arguments:?}: {}", said.out);
        }
    }
    let updated = write("updated.yaml", &filter("shop", "cart").replace("name: new", "name: timeout"));
    let said = ask(&["-f", &updated]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.err.contains("; 1 EnvoyFilter; 1 of 1 config dump read"), "{}", said.err);
    let stored = mock.objects("EnvoyFilter")[0].to_string();
    let said = ask(&["-f", &write("stored.yaml", &stored)]);
    assert_eq!((said.code, said.out.as_str()), (0, "no change: the EnvoyFilters are the same\n"), "{}", said.err);
}

/// A capture without config dumps fails, unless requested.
#[test]
fn a_capture_without_dumps_fails_unless_requested() {
    let mock = mesh(&[dump_with("2s", None)]).fault(PROXY, Fault::Status(403, "no"), 99).start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mesh.tar");
    let ask =
        |more: &[&str]| live(&mock, &[&["capture", file.to_str().unwrap(), "--dump-via", "pod-proxy"], more].concat());
    let said = ask(&[]);
    assert!([2, 3].contains(&said.code), "{}{}", said.out, said.err);
    assert!(
        said.err.contains("no config dump could be read") && said.err.contains("--no-dumps") && !file.exists(),
        "{}",
        said.err
    );
    let said = ask(&["--no-dumps"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(file.exists());
}

/// A user without any read permission is told so.
#[test]
fn without_readable_kinds_nothing_is_judged() {
    let mock = mesh(&[dump_with("2s", None)]).fault("/", Fault::Status(403, "no"), 9_999).start();
    for arguments in [&["status"][..], &["get"], &["lint"]] {
        let said = live(&mock, arguments);
        assert!([2, 3].contains(&said.code), "{arguments:?}: {}{}", said.out, said.err);
        assert!(!said.out.contains("nothing wrong") && !said.out.contains("No issues"), "{arguments:?}: {}", said.out);
    }
    let said = live(&mock, &["watch", "--once", "--settle", "100ms"]);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    assert!(said.out.contains("cannot watch"), "{}{}", said.out, said.err);
    let said = live(&mock, &["status"]);
    assert!(said.out.contains("nothing could be judged") || said.err.contains("403"), "{}{}", said.out, said.err);
    // That there are none is not known.
    let path = "/apis/networking.istio.io/v1alpha3";
    let mock = mesh(&[dump_with("2s", None)]).fault(path, Fault::Status(403, "no"), 9_999).start();
    let said = live(&mock, &["lint", "-A"]);
    let words = "nothing could be judged: no EnvoyFilter was read in any namespace";
    assert!(said.code == 3 && said.out.contains(words), "{}{}", said.out, said.err);
    for format in ["human", "yaml", "json", "markdown", "html"] {
        let said = live(&mock, &["migrate", "-A", "-o", format]);
        let words = "nothing could be judged: no EnvoyFilter was read";
        assert!(said.code == 3 && said.out.contains(words), "{format}: {}{}", said.out, said.err);
        assert!(!said.out.contains("0 EnvoyFilters"), "{format}: {}", said.out);
    }
    let said = live(&mock, &["audit", "--to", "1.31"]);
    assert!(
        said.code == 3 && said.out.contains("nothing could be judged: no EnvoyFilter was read in any namespace"),
        "{}{}",
        said.out,
        said.err
    );
    let refused = || Fault::Status(403, "no");
    let world = mesh(&[dump_with("2s", None)]).fault("/api/v1/pods", refused(), 9_999);
    let mock = world.fault("/api/v1/namespaces/shop/pods", refused(), 9_999).start();
    let said = live(&mock, &["capture", "mesh.tar"]);
    assert!(said.code == 3 && said.err.contains("nothing captured: pods could not be listed"), "{}", said.err);
    // EnvoyFilters alone say nothing about their effect.
    let mock =
        mesh(&[dump_with("2s", None)]).fault("/api/v1/namespaces/shop/pods", Fault::Status(403, "no"), 9_999).start();
    let said = live(&mock, &["status"]);
    assert!(said.out.contains("no proxy was read: nothing is known") && said.code == 3, "{}{}", said.out, said.err);
}

/// A folder with the name of an archive looks like a capture that was sent off.
#[test]
fn a_capture_in_a_form_that_cannot_be_written_is_refused() {
    let mock = mesh(&[dump_with("2s", None)]).start();
    let folder = tempfile::tempdir().unwrap();
    for name in ["mesh.zip", "mesh.tar.xz", "mesh.json", "mesh.gz"] {
        let path = folder.path().join(name);
        let said = live(&mock, &["capture", path.to_str().unwrap()]);
        assert_eq!(said.code, 2, "{name}: {}{}", said.out, said.err);
        let words =
            "a capture is a folder or a tar archive\n  help: end the name in .tar.zst, .tar.gz or .tar, or in a slash";
        assert!(said.err.contains(words), "{name}: {}", said.err);
        assert!(!path.exists(), "{name}");
    }
    assert_eq!(mock.requests().len(), 0);
}
