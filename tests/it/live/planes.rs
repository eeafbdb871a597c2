//! Several control planes: where they run, what they judge, and proxies that belong to none that is known.

use super::mock::{Fault, World};
use super::standing::dump_with;
use super::watching::QUICK;
use super::{ISTIOD, demo_dump, live, pod, run, shop};
use kubectl_envoyfilter::demo;
use serde_json::{Value, json};

/// A control plane in a namespace of its own, and a pod that it injected.
fn with_another(injector: bool) -> World {
    let mut world = shop();
    world.add(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "green"}}));
    world.add(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "istiod-b", "namespace": "mesh-b", "labels": {"app": "istiod", "istio.io/rev": "b"}},
        "spec": {"containers": [{"name": "discovery", "image": "istio/pilot:1.29.2"}]}, "status": {"phase": "Running"},
    }));
    world.add(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio-b", "namespace": "mesh-b"},
        "data": {"mesh": "rootNamespace: roots-b"},
    }));
    if injector {
        world.add(json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": "istio-sidecar-injector-b", "labels": {"istio.io/rev": "b"}},
            "webhooks": [{"clientConfig": {"service": {"name": "istiod-b", "namespace": "mesh-b", "port": 443}}}],
        }));
    }
    let mut green = pod("green", "cart", 7);
    green["metadata"]["annotations"]["istio.io/rev"] = "b".into();
    world.add(green);
    for namespace in ["roots-b", "green"] {
        world.add(json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": format!("of-{namespace}"), "namespace": namespace},
            "spec": {"workloadSelector": {"labels": {"app": "cart"}}, "configPatches": [{
                "applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": {"connect_timeout": "7s"}},
            }]},
        }));
    }
    world.dump("green/cart-7", dump_with("7s", None))
}

fn attached(text: &str) -> Vec<String> {
    let answer: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let filters = answer["proxies"][0]["filters"].as_array().unwrap().iter();
    filters.filter(|it| it["selected"] == true).map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

/// A release that came out after this program.
#[test]
fn a_control_plane_of_an_unknown_release_is_named_and_no_type_is_missing() {
    let objects = format!("{ISTIOD}---\n{}", demo::FILTERS).replace("pilot:1.31.0", "pilot:1.34.1");
    let mut world = World::new(&objects);
    world.add(pod("shop", "cart", 1));
    let mock = world.dump("shop/cart-1", demo_dump()).start();
    let said = run(&mock.kubeconfig("shop"), &["lint", "-A", "--pedantic"]);
    let all = format!("{}{}", said.out, said.err);
    let caveat = "Istio 1.34 is not a known release (1.22 to 1.31): the answer is a guess";
    assert_eq!(all.matches(caveat).count(), 1, "{all}");
    assert!(all.contains("EF213") && !all.contains("EF109"), "{all}");
    for arguments in [&["explain", "pod/cart-1"][..], &["status", "-A"], &["audit", "--to", "1.35"]] {
        let said = run(&mock.kubeconfig("shop"), arguments);
        assert!(format!("{}{}", said.out, said.err).contains(caveat), "{arguments:?}: {}{}", said.out, said.err);
    }
}

#[test]
fn a_control_plane_in_another_namespace_judges_its_proxies() {
    let mock = with_another(true).start();
    for arguments in [&["-n", "green"][..], &["-A"]] {
        let said = run(&mock.kubeconfig("green"), &[&["explain", "pod/cart-7", "-o", "json"], arguments].concat());
        assert_eq!(said.code, 0, "{arguments:?}: {}", said.err);
        assert_eq!(attached(&said.out), ["of-roots-b", "of-green"], "{arguments:?}");
        let answer: Value = serde_json::from_str(&said.out).unwrap();
        let planes = answer["scope"]["controlPlanes"].as_array().unwrap();
        let own = planes.iter().find(|plane| plane["revision"] == "b").unwrap_or_else(|| panic!("{planes:?}"));
        assert_eq!((&own["rootNamespace"], &own["release"]), (&json!("roots-b"), &json!("1.29.2")), "{arguments:?}");
    }
    // The proxies of the other one are judged as before.
    let said = live(&mock, &["explain", "pod/cart-1", "-o", "json"]);
    assert!(!attached(&said.out).iter().any(|name| name == "of-roots-b"), "{}", said.out);
    let asked = mock.paths().iter().filter(|path| path.contains("mutatingwebhook")).count();
    assert_eq!(asked, 1, "only when a revision is unknown: {:?}", mock.paths());
}

#[test]
fn a_capture_answers_with_the_same_control_planes() {
    let mock = with_another(true).start();
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("mesh.tar.gz");
    let said = live(&mock, &["capture", "-A", capture.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{}", said.err);
    for arguments in
        [&["explain", "pod/cart-7", "-n", "green"][..], &["explain", "pod/cart-1", "-n", "shop"], &["get", "-A"]]
    {
        let of_cluster = live(&mock, arguments);
        let of_capture = live(&mock, &[arguments, &["--capture", capture.to_str().unwrap()]].concat());
        let scope = |said: &super::Said| said.err.split_once("; ").map(|(_, scope)| scope.to_owned());
        assert_eq!(of_capture.code, of_cluster.code, "{arguments:?}: {}", of_capture.err);
        assert_eq!(scope(&of_capture), scope(&of_cluster), "{arguments:?}");
        if arguments[0] == "explain" {
            assert_eq!(of_capture.out, of_cluster.out, "{arguments:?}");
        }
    }
}

/// An older control plane beside the main one: its proxies are upgraded over more releases, and filters of its root namespace
/// apply to them alone.
#[test]
fn an_audit_starts_with_the_control_plane_of_its_proxies() {
    let mock = with_another(true).start();
    let audit = |arguments: &[&str]| live(&mock, &[&["audit", "--to", "1.31"], arguments].concat());
    // Only proxies of the older one.
    let said = audit(&["-n", "green"]);
    assert!(said.out.starts_with("Istio 1.29 → 1.31"), "{}{}", said.out, said.err);
    // One namespace is no verdict on the upgrade.
    let words = "None of them blocks this upgrade; filters of other namespaces were not judged.";
    assert!(said.out.contains(words) && !said.out.contains("No filter blocks this upgrade"), "{}", said.out);
    let words = "not judged with -n green: 1 EnvoyFilter of root namespaces that reaches these proxies as well: roots-b/of-roots-b";
    assert!(said.out.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{}", said.out);
    // Those of both: one audit has one root namespace.
    let said = audit(&[]);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    assert!(!said.out.contains("No filter blocks this upgrade"), "{}", said.out);
    let words = "control plane default (Istio 1.31.0), which has another root namespace, istio-system";
    assert!(said.err.contains("not audited: ") && said.err.contains(words), "{}", said.err);
    assert!(said.err.contains("audit them by themselves with --revision-from default"), "{}", said.err);
    let said = audit(&["--revision-from", "default"]);
    assert!(said.out.starts_with("Istio 1.31 → 1.31"), "{}", said.out);
    assert!(said.err.contains("not audited: 1 proxy of control plane b (Istio 1.29.2)"), "{}", said.err);
    let said = audit(&["-n", "shop"]);
    assert!(said.out.starts_with("Istio 1.31 → 1.31") && !said.err.contains("not audited"), "{}{}", said.out, said.err);
}

#[test]
fn proxies_of_an_unknown_control_plane_are_named() {
    let mock = with_another(false).start();
    let said = run(&mock.kubeconfig("green"), &["get"]);
    assert_eq!(said.code, 3, "{}", said.err);
    let words = "no control plane of revision b was found: green/cart-7 is judged by the settings of revision default";
    assert!(said.err.contains(words) && said.err.contains("--istio-namespace"), "{}", said.err);
    let said = run(&mock.kubeconfig("green"), &["get", "--istio-namespace", "mesh-b"]);
    assert_eq!((said.code, said.err.contains("no control plane")), (0, false), "{}", said.err);
    let said = live(&mock, &["get"]);
    assert_eq!((said.code, said.err.contains("no control plane")), (0, false), "{}", said.err);
    // Settings that may not be read are named, whatever their namespace.
    let path = "/api/v1/namespaces/mesh-b/configmaps/istio-b";
    let mock = with_another(true).fault(path, Fault::Status(403, "forbidden"), 99).start();
    let said = run(&mock.kubeconfig("green"), &["get"]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("cannot read ConfigMap mesh-b/istio-b"), "{}", said.err);
    assert!(said.err.contains("rbac get --revision mesh-b/b` prints"), "{}", said.err);
}

#[test]
fn filters_are_judged_by_the_control_planes_that_have_proxies_for_them() {
    let mut world = with_another(true);
    // It selects pods, but none that it reaches under any control plane.
    world.add(json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": "astray", "namespace": "elsewhere"},
        "spec": {"workloadSelector": {"labels": {"app": "cart"}}, "configPatches": [{
            "applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": {"connect_timeout": "7s"}},
        }]},
    }));
    let mock = world.start();
    let said = live(&mock, &["lint", "-A", "-o", "json", "--pedantic"]);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    let told = |code: &str| -> Vec<&str> {
        let all = report["findings"].as_array().unwrap().iter().filter(|finding| finding["code"] == code);
        let mut files: Vec<&str> = all.map(|finding| finding["location"]["file"].as_str().unwrap()).collect();
        files.sort_unstable();
        files
    };
    assert_eq!(told("EF202"), ["cluster://mock/EnvoyFilter/elsewhere/astray"]);
    for file in ["roots-b/of-roots-b", "green/of-green", "shop/stamp-requests"] {
        assert!(!told("EF229").iter().any(|it| it.ends_with(file)), "{file}: {:?}", told("EF229"));
    }
}

/// The exit code of `watch --once` and the last scope it reports.
fn watched(world: World) -> (i32, Value) {
    let mock = world.start();
    let said = live(&mock, &[&["watch", "--once", "-o", "json", "-A"], QUICK].concat());
    let lines = said.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut scopes = lines.filter(|line| line["scope"].is_object());
    let scope = scopes.next_back().unwrap_or_else(|| panic!("{}{}", said.out, said.err));
    (said.code, scope["scope"].clone())
}

#[test]
fn watch_judges_by_control_planes_of_other_namespaces() {
    let (code, scope) = watched(with_another(false));
    let planes = scope["controlPlanes"].as_array().unwrap();
    let own = planes.iter().find(|plane| plane["revision"] == "b").unwrap_or_else(|| panic!("{planes:?}"));
    assert_eq!((&own["rootNamespace"], &own["meshConfig"]), (&json!("roots-b"), &json!(true)), "{scope}");
    assert_eq!((code == 3, &scope["unread"]), (false, &json!([])), "{scope}");
    // Its settings may not be read: that is not the same as having none.
    let path = "/api/v1/namespaces/mesh-b/configmaps";
    let (code, scope) = watched(with_another(false).fault(path, Fault::Status(403, "no settings"), 999));
    let unread = scope["unread"].to_string();
    assert_eq!(code, 3, "{scope}");
    assert!(unread.contains("cannot watch ConfigMap mesh-b/istio-b: no settings"), "{unread}");
    // A proxy whose control plane does not exist here.
    let mut world = with_another(false);
    let mut ghost = pod("green", "ghost", 8);
    ghost["metadata"]["annotations"]["istio.io/rev"] = "gone".into();
    world.add(ghost);
    let (code, scope) = watched(world.dump("green/ghost-8", dump_with("7s", None)));
    let unread = scope["unread"].to_string();
    assert_eq!(code, 3, "{scope}");
    assert!(unread.contains("no control plane of revision gone was found: green/ghost-8"), "{unread}");
}

#[test]
fn the_settings_of_a_moved_control_plane_are_those_beside_it() {
    let mut world = shop();
    world.remove("Pod", "istiod-1");
    world.add(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "istiod-2", "namespace": "mesh-new", "labels": {"app": "istiod", "istio.io/rev": "default"}},
        "spec": {"containers": [{"name": "discovery", "image": "istio/pilot:1.30.1"}]}, "status": {"phase": "Running"},
    }));
    let settings = |namespace: &str, root: &str| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio", "namespace": namespace},
            "data": {"mesh": format!("rootNamespace: {root}")},
        })
    };
    // Left over where it was.
    world.store(settings("istio-system", "roots-old"));
    world.store(settings("mesh-new", "roots-new"));
    let (_, scope) = watched(world);
    let planes = scope["controlPlanes"].as_array().unwrap();
    assert_eq!(planes.len(), 1, "{scope}");
    assert_eq!(
        (&planes[0]["release"], &planes[0]["rootNamespace"]),
        (&json!("1.30.1"), &json!("roots-new")),
        "{scope}"
    );
}

#[test]
fn pods_that_cannot_be_listed_are_not_counted_as_none() {
    let pods = |world: World| {
        let mock = world.start();
        let (table, json) = (live(&mock, &["version"]), live(&mock, &["version", "-o", "json"]));
        let answer: Value = serde_json::from_str(&json.out).unwrap_or_else(|error| panic!("{error}: {}", json.err));
        let of: Vec<Value> =
            answer["controlPlanes"].as_array().unwrap().iter().map(|plane| plane["pods"].clone()).collect();
        (table.code, table.out, of)
    };
    let mut world = shop();
    world.store(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio", "namespace": "istio-system"},
        "data": {"mesh": "{}"},
    }));
    let path = "/api/v1/namespaces/istio-system/pods";
    let (code, table, of) = pods(world.fault(path, Fault::Status(403, "pods is forbidden"), 99));
    assert_eq!((code, of), (3, vec![Value::Null]), "{table}");
    let row = table.lines().find(|line| line.starts_with("default")).unwrap_or_else(|| panic!("{table}"));
    assert!(row.contains(" unknown "), "{table}");
    let (code, table, of) = pods(shop());
    assert_eq!((code, of), (0, vec![json!(1)]), "{table}");
    // A control plane of which only the settings are left has none.
    let mut world = shop();
    world.remove("Pod", "istiod-1");
    world.store(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio", "namespace": "istio-system"},
        "data": {"mesh": "{}"},
    }));
    assert_eq!(pods(world).2, [json!(0)]);
}

#[test]
fn the_ladder_reads_the_settings_of_every_control_plane() {
    let ladder = |world: World| {
        let mock = world.start();
        let said = live(&mock, &["webhook", "ladder", "-A"]);
        (mock.paths(), said)
    };
    let (paths, said) = ladder(with_another(false));
    assert!(paths.iter().any(|path| path == "/api/v1/namespaces/mesh-b/configmaps/istio-b"), "{paths:?}");
    assert!(!said.err.contains("mesh-b"), "{}", said.err);
    let path = "/api/v1/namespaces/mesh-b/configmaps/istio-b";
    let (_, said) = ladder(with_another(false).fault(path, Fault::Status(403, "no settings"), 99));
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("cannot read the mesh config mesh-b/istio-b"), "{}", said.err);
    // Nothing is installed by it, so the rights of an installation are not the answer.
    let forbidden = Fault::Status(403, "no filters");
    let (_, said) = ladder(shop().fault("/apis/networking.istio.io/v1alpha3/envoyfilters", forbidden, 99));
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("cannot list EnvoyFilters") && !said.err.contains("administrator"), "{}", said.err);
}
