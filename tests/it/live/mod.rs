//! Commands on a running mesh: their answers, their requests, and their behavior with a failing API server.

mod canaries;
mod captured;
pub(crate) mod cluster;
mod envoys;
mod habits;
mod installing;
mod lending;
mod login;
pub(crate) mod mock;
mod parts;
mod planes;
mod reports;
mod same;
mod scopes;
mod standing;
mod watching;
mod withdrawn;

use kubectl_envoyfilter::demo;
use mock::{Fault, Mock, World};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The result of a run.
pub(super) struct Said {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

/// Runs the real binary with a kubeconfig.
pub(super) fn run(kubeconfig: &Path, arguments: &[&str]) -> Said {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(arguments)
        .current_dir(folder.path())
        .env("KUBECONFIG", kubeconfig)
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The text of the demo's dump.
pub(super) fn demo_dump() -> String {
    let mut text = Vec::new();
    demo::dump().0.unwrap().rewrite(&[]).write_to(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

const ISTIOD: &str = "
apiVersion: v1
kind: Pod
metadata: {name: istiod-1, namespace: istio-system, labels: {app: istiod, istio.io/rev: default}}
spec: {containers: [{name: discovery, image: 'docker.io/istio/pilot:1.31.0'}]}
status: {phase: Running}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system}
data: {mesh: 'rootNamespace: istio-system'}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {istio-injection: enabled}}
";

/// A pod of a deployment with a sidecar.
pub(super) fn pod(namespace: &str, workload: &str, number: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("{workload}-{number}"), "namespace": namespace,
            "labels": {"app": workload, "version": "v1", "pod-template-hash": "5d7"},
            "annotations": {"istio.io/rev": "default"},
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("{workload}-5d7"), "controller": true,
                "uid": "u"
            }],
        },
        "spec": {
            "containers": [
                {"name": "app", "image": "app", "ports": [{"containerPort": 8080}],
                    "env": [{"name": "PASSWORD", "value": "canary-password"}]},
                {"name": "istio-proxy", "image": "docker.io/istio/proxyv2:1.31.0", "args": ["proxy", "sidecar"]},
            ],
        },
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    })
}

/// The demo's mesh in a cluster: istiod, two replicas of cart, the filters.
fn shop() -> World {
    let mut world = World::new(&format!("{ISTIOD}---\n{}", demo::FILTERS));
    world.add(pod("shop", "cart", 1));
    world.add(pod("shop", "cart", 2));
    world.dump("shop/cart-1", demo_dump()).dump("shop/cart-2", demo_dump())
}

fn live(mock: &Mock, arguments: &[&str]) -> Said {
    run(&mock.kubeconfig("shop"), arguments)
}

/// Findings without the places in texts: code, message, and the filter.
fn findings(json: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    let mut all: Vec<String> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| format!("{} {} {}", finding["code"], finding["severity"], finding["message"]))
        .collect();
    all.sort();
    all
}

/// The findings of `lint` for the same objects and dumps in files; only for one namespace if given.
fn of_files(namespace: Option<&str>) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut objects = ISTIOD.to_owned();
    let mut arguments = vec!["lint".to_owned()];
    for (number, filter) in demo::FILTERS.split("\n---\n").enumerate() {
        let root = filter.contains("namespace: istio-system");
        let file = folder.path().join(format!("{}-{number}.yaml", if root { "istio-system" } else { "shop" }));
        fs::write(&file, filter).unwrap();
        arguments.push(file.to_str().unwrap().to_owned());
    }
    for number in [1, 2] {
        objects = format!("{objects}---\n{}\n", pod("shop", "cart", number));
    }
    let (objects_file, dump_file) = (folder.path().join("objects.yaml"), folder.path().join("dump.json"));
    fs::write(&objects_file, objects).unwrap();
    fs::write(&dump_file, demo_dump()).unwrap();
    arguments.push(objects_file.to_str().unwrap().to_owned());
    let options = ["--dump", dump_file.to_str().unwrap(), "-o", "json", "-n", "shop", "--istio-version", "1.31"];
    arguments.extend(options.map(str::to_owned));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let said = run(Path::new("/nonexistent"), &arguments);
    let mut report: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}", said.err));
    let all = report["findings"].as_array_mut().unwrap();
    all.retain(|finding| {
        namespace.is_none_or(|it| finding["location"]["file"].as_str().unwrap().contains(&format!("/{it}-")))
    });
    findings(&report.to_string())
}

#[test]
fn linting_a_cluster_equals_linting_its_files() {
    let mock = shop().start();
    let said = live(&mock, &["lint", "-A", "-o", "json"]);
    assert_eq!(said.code, 1, "{}", said.err);
    let want = of_files(None);
    assert!(want.len() > of_files(Some("shop")).len() && !of_files(Some("shop")).is_empty());
    assert_eq!(findings(&said.out), want);
    assert!(said.out.contains("cluster://mock/EnvoyFilter/shop/"), "{}", said.out);
    // One replica represents both; its dump came through the only available way.
    let dumps = mock.requests().iter().filter(|request| request.path.ends_with("/proxy/config_dump")).count();
    assert_eq!(dumps, 1);
    let said = live(&mock, &["lint", "-A", "-o", "json", "--all-replicas", "--dump-via", "pod-proxy"]);
    assert_eq!(findings(&said.out), want);
}

#[test]
fn asks_for_no_secret_and_for_nothing_a_command_does_not_need() {
    let mock = shop().start();
    assert_eq!(live(&mock, &["lint"]).code, 1);
    assert_eq!(live(&mock, &["explain", "pod", "cart-1"]).code, 0);
    let paths = mock.paths();
    assert!(!paths.iter().any(|path| path.contains("secrets")), "{paths:?}");
    let mock = shop().start();
    let said = live(&mock, &["explain", "deploy", "cart", "--dump-via", "pod-proxy"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("shop/cart-1"), "{}", said.out);
    assert_eq!(
        mock.paths(),
        [
            "/api/v1/namespaces/istio-system/configmaps/istio",
            "/api/v1/namespaces/istio-system/pods",
            "/api/v1/namespaces/shop",
            "/api/v1/namespaces/shop/pods",
            "/api/v1/namespaces/shop/pods/cart-1:15000/proxy/config_dump",
            "/api/v1/namespaces/shop/services",
            "/apis/networking.istio.io/v1alpha3/namespaces/istio-system/envoyfilters",
            "/apis/networking.istio.io/v1alpha3/namespaces/shop/envoyfilters",
            "/version",
        ]
    );
}

#[test]
fn names_are_written_as_for_kubectl() {
    let mut world = shop();
    world.add(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "basket", "namespace": "shop"},
        "spec": {"selector": {"app": "cart"}, "ports": [{"port": 80}]},
    }));
    world.add(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "plain", "namespace": "shop"},
        "spec": {"hostNetwork": true, "containers": []}, "status": {"phase": "Running"},
    }));
    let mock = world.start();
    for name in ["pod/cart-1", "po/cart-1", "deploy/cart", "deployments/cart", "svc/basket", "workload/cart"] {
        let said = live(&mock, &["explain", name]);
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        assert!(said.out.contains("shop/cart-1"), "{name}: {}", said.out);
    }
    let said = live(&mock, &["explain", "filter/stamp-requests"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let said = live(&mock, &["explain", "pod/plain"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("host's network"), "{}", said.err);
    let said = live(&mock, &["explain", "pod/crat-1"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("no pod crat-1 in namespace shop has a proxy"), "{}", said.err);
    assert!(said.err.contains("cart-1"), "{}", said.err);
}

/// What a user gets whose context has a namespace without anything.
#[test]
fn another_namespace_is_named() {
    let mut world = shop();
    world.add(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pay"}}));
    let mock = world.start();
    let ask = |arguments: &[&str]| run(&mock.kubeconfig("pay"), arguments);
    for command in ["explain", "render"] {
        let said = ask(&[command, "pod/cart-1"]);
        assert_eq!(said.code, 2, "{}", said.err);
        let words = "error: no pod cart-1 in namespace pay has a proxy\n  help: name another namespace with -n\n";
        assert!(said.err.ends_with(words), "{command}: {}", said.err);
    }
    let said = ask(&["status"]);
    assert_eq!((said.code, said.out.as_str()), (0, "no EnvoyFilters found in namespace pay\n"), "{}", said.err);
    // The filter of the root namespace is read, but not judged.
    let said = ask(&["lint"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let all = format!("{}{}", said.out, said.err);
    assert!(all.contains("nothing judged: no EnvoyFilter in namespace pay") && !all.contains("judged on"), "{all}");
    let said = ask(&["version"]);
    assert!(!said.out.contains("it is istiod itself"), "{}", said.out);
    let said = ask(&["version", "-A"]);
    assert!(said.out.contains("it is istiod itself"), "{}", said.out);
}

/// Without the EnvoyFilters of the root namespace those of the namespace are still judged.
#[test]
fn a_forbidden_root_namespace_is_said() {
    let path = "/apis/networking.istio.io/v1alpha3/namespaces/istio-system/envoyfilters";
    let mock = shop().fault(path, Fault::Status(403, "forbidden"), 99).start();
    let said = live(&mock, &["status"]);
    assert_eq!(said.code, 3, "{}", said.err);
    let words = "not allowed to list envoyfilters in namespace istio-system: they are left out\n";
    assert!(said.err.contains(words), "{}", said.err);
    assert!(said.out.contains("stamp-requests"), "{}", said.out);
}

#[test]
fn forbidden_kinds_are_reported_and_the_rest_is_answered() {
    let world = shop().fault("/api/v1/namespaces/shop/pods?", Fault::Status(403, "pods is forbidden"), 9);
    let mock = world.start();
    let said = live(&mock, &["lint", "-o", "json"]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("not allowed to list pods in namespace shop: selectors are not checked"), "{}", said.err);
    assert!(said.err.contains("rbac lint"), "{}", said.err);
    assert!(!findings(&said.out).is_empty());
}

#[test]
fn transient_errors_are_retried() {
    let services = "/api/v1/namespaces/shop/services";
    let filters = "/apis/networking.istio.io/v1alpha3/namespaces/shop/envoyfilters";
    let world = shop()
        .fault(services, Fault::Status(500, "etcdserver: leader changed"), 2)
        .fault(filters, Fault::Reset, 1)
        .fault("/api/v1/namespaces/shop/pods?", Fault::Later(429, 1), 1);
    let mock = world.start();
    let said = live(&mock, &["lint", "-o", "json"]);
    assert_eq!((said.code, said.err.as_str()), (1, ""));
    assert_eq!(findings(&said.out), of_files(Some("shop")));
    let tries = mock.requests().iter().filter(|request| request.path.starts_with(services)).count();
    assert_eq!(tries, 3);
}

#[test]
fn permanent_errors_end_the_run() {
    let world = shop().fault("/api/v1/namespaces/shop/services", Fault::Status(503, "overloaded"), 99).fault(
        "/apis/networking.istio.io/v1beta1/namespaces/shop/sidecars",
        Fault::Hang,
        99,
    );
    let mock = world.start();
    let said = live(&mock, &["lint", "-o", "json", "--request-timeout", "500ms"]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(
        said.err.contains("cannot list services in namespace shop: the API server answers 503: overloaded"),
        "{}",
        said.err
    );
    assert!(said.err.contains("cannot list sidecars in namespace shop: no answer within 0.5 s"), "{}", said.err);
    assert_eq!(findings(&said.out), of_files(Some("shop")));
}

#[test]
fn lists_come_in_pages_and_begin_again_when_the_token_expires() {
    let mut world = shop().expire(2);
    for number in 0..1_700 {
        world.add(json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": format!("many-{number}"), "namespace": "shop"}, "spec": {},
        }));
    }
    let mock = world.start();
    let said = live(&mock, &["lint", "-o", "json", "--select", "EF301"]);
    assert!(said.code < 2, "{}", said.err);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(report["summary"]["filters"], 1_705);
    let pages = mock.requests().iter().filter(|request| request.path.contains("/shop/envoyfilters?limit=500")).count();
    assert_eq!(pages, 8, "two beginnings of two pages, then four pages");
    let mock = shop_of_many(1_700).expire(99).start();
    let said = live(&mock, &["lint"]);
    assert_eq!(said.code, 3);
    assert!(said.err.contains("the list changed faster than it could be read"), "{}", said.err);
}

fn shop_of_many(filters: usize) -> World {
    let mut world = shop();
    for number in 0..filters {
        world.add(json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": format!("many-{number}"), "namespace": "shop"}, "spec": {},
        }));
    }
    world
}

/// Extensions of the cluster count like those in files: clusters that their code calls keep their names, and no
/// extension is overwritten.
#[test]
fn migrate_reads_the_extensions_of_the_cluster() {
    let filter = |name: &str, patch: Value| {
        json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": name, "namespace": "shop"},
            "spec": {"workloadSelector": {"labels": {"app": "cart"}}, "configPatches": [patch]},
        })
    };
    let endpoint =
        json!({"endpoint": {"address": {"socket_address": {"address": "authz.example.com", "port_value": 9000}}}});
    let cluster = json!({"applyTo": "CLUSTER", "match": {"context": "SIDECAR_OUTBOUND"}, "patch": {"operation": "ADD", "value": {
        "name": "authz", "type": "STRICT_DNS", "load_assignment": {"cluster_name": "authz", "endpoints": [{"lb_endpoints": [endpoint]}]},
    }}});
    let script = json!({
        "applyTo": "HTTP_FILTER",
        "match": {"context": "SIDECAR_INBOUND", "listener": {"filterChain": {"filter": {
            "name": "envoy.filters.network.http_connection_manager", "subFilter": {"name": "envoy.filters.http.router"}}}}},
        "patch": {"operation": "INSERT_BEFORE", "value": {"name": "envoy.filters.http.lua", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
            "default_source_code": {"inline_string": "function envoy_on_request(handle) end"}}}},
    });
    let extension = json!({
        "apiVersion": "extensions.istio.io/v1alpha1", "kind": "TrafficExtension",
        "metadata": {"name": "asks", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "cart"}}, "lua": {"inlineCode":
            "function envoy_on_request(handle) handle:httpCall(\"authz\", {[\":path\"] = \"/\"}, \"\", 100) end"}},
    });
    let mut world = shop();
    world.add(filter("clusters", cluster));
    world.add(filter("asks", script.clone()));
    world.add(extension);
    let mock = world.start();
    let said = live(&mock, &["migrate", "-A", "-o", "json", "--accept", "reviewed"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    let of = |name: &str| report["filters"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap();
    let reported = of("clusters")["patches"][0].to_string();
    assert!(reported.contains("Lua code of TrafficExtension shop/asks calls the cluster by its name"), "{reported}");
    assert_eq!(of("clusters")["patches"][0]["written"], false);
    let made = report["objects"].as_array().unwrap().iter().map(|one| &one["object"]);
    let names: Vec<&str> = made
        .filter(|object| object["kind"] == "TrafficExtension")
        .map(|object| object["metadata"]["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"asks-2") && !names.contains(&"asks"), "{names:?}");
    // A missing permission does not mean that objects are absent.
    let forbidden = Fault::Status(403, "Forbidden");
    let mut world = shop().fault("/apis/extensions.istio.io/v1alpha1/trafficextensions", forbidden, 99);
    world.add(filter("asks", script));
    let said = live(&world.start(), &["migrate", "-A", "-o", "json", "--accept", "reviewed"]);
    assert!(said.out.contains("TrafficExtension objects could not"), "{}{}", said.out, said.err);
}

#[test]
fn a_cluster_without_istio_and_a_missing_namespace() {
    let world = shop().fault("/apis/networking.istio.io/", Fault::Status(404, "no such resource"), 99);
    let said = live(&world.start(), &["lint"]);
    assert_eq!(said.code, 3);
    assert!(said.err.contains("mock knows no EnvoyFilters: the CRDs of Istio are not installed"), "{}", said.err);
    let said = live(&shop().start(), &["lint", "-n", "shopp"]);
    assert_eq!(said.code, 3);
    assert!(said.err.contains("there is no namespace shopp in context mock"), "{}", said.err);
}

#[test]
fn no_cluster_is_reported_immediately() {
    let said = run(Path::new("/nonexistent"), &["lint"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("no cluster to read"), "{}", said.err);
    let mock = shop().fault("/version", Fault::Status(401, "Unauthorized"), 99).start();
    let said = live(&mock, &["lint"]);
    assert_eq!(said.code, 3);
    for words in ["http", "does not accept the credentials of context", "log in again"] {
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }
    let said = live(&mock, &["lint", "--context", "other"]);
    assert_eq!(said.code, 3);
    assert!(said.err.contains("other"), "{}", said.err);
    // Nobody listens: the address, the reason and the help, without the names of library layers.
    let said = live(&mock, &["get", "--server", "http://127.0.0.1:1"]);
    assert_eq!(said.code, 3, "{}", said.err);
    for words in ["cannot connect to http://127.0.0.1:1", "Connection refused", "check that the cluster runs"] {
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }
    assert!(!said.err.contains("Error:") && !said.err.contains("client error"), "{}", said.err);
}

#[test]
fn a_hanging_proxy_costs_only_its_time_limit() {
    let dumps = "/api/v1/namespaces/shop/pods/";
    for command in [&["status"][..], &["explain", "pod/cart-1"], &["get"], &["lint", "--all-replicas"]] {
        let mock = shop().fault(dumps, Fault::Hang, 99).start();
        let began = std::time::Instant::now();
        let said = live(&mock, &[command, &["--proxy-timeout", "600ms"]].concat());
        assert!(began.elapsed().as_secs() < 8, "{command:?} took {:?}", began.elapsed());
        assert_eq!(said.code, 3, "{command:?}: {}{}", said.out, said.err);
        assert!(said.err.contains("no config dump of shop/cart-1"), "{command:?}: {}", said.err);
        assert!(said.err.contains("within 0."), "{command:?}: {}", said.err);
    }
}

#[test]
fn missing_permissions_on_the_control_plane_are_reported() {
    for (path, words) in [
        ("/api/v1/namespaces/istio-system/configmaps/istio", "default mesh settings are assumed"),
        ("/api/v1/namespaces/istio-system/pods", "releases and revisions of control planes are unknown"),
    ] {
        let mock = shop().fault(path, Fault::Status(403, "forbidden"), 99).start();
        let said = live(&mock, &["lint"]);
        assert_eq!(said.code, 3, "{path}: {}", said.err);
        assert!(said.err.contains(words), "{path}: {}", said.err);
    }
}

#[test]
fn impersonation_and_kubeconfigs_of_the_standard_input() {
    let mock = shop().start();
    let kubeconfig = mock.kubeconfig("shop");
    let with_input = |text: &str, arguments: &[&str]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
            .args(arguments)
            .args(["--kubeconfig", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let text = fs::read_to_string(&kubeconfig).unwrap();
    let ended = with_input(&text, &["lint", "--as", "jane", "--as-group", "a", "--as-group", "b"]);
    assert_eq!(ended.status.code(), Some(1));
    let requests = mock.requests();
    for header in ["impersonate-user: jane", "impersonate-group: a", "impersonate-group: b"] {
        let has = |request: &mock::Request| request.headers.iter().any(|have| have.eq_ignore_ascii_case(header));
        assert!(requests.iter().all(has), "{header}");
    }
    // Each context connects by itself.
    let ended = with_input(&text, &["get", "-o", "json", "--context", "*"]);
    let out = String::from_utf8(ended.stdout).unwrap();
    let report: Value = serde_json::from_str(&out).unwrap();
    let codes: Vec<_> = report["contexts"].as_array().unwrap().iter().map(|one| one["exitCode"].clone()).collect();
    assert_eq!(codes, [json!(0), json!(0)], "{out}");
}

#[test]
fn filters_of_the_root_namespace_count_but_are_not_reported() {
    let mut world = shop();
    world.add(json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": "everywhere", "namespace": "istio-system", "labels": {"team": "mesh"}},
        "spec": {"configPatches": [{"applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": {"connect_timeout": "7s"}}}]},
    }));
    let mock = world.start();
    let said = live(&mock, &["explain", "pod/cart-1"]);
    assert!(said.out.contains("istio-system/everywhere"), "{}", said.out);
    let said = live(&mock, &["lint", "-o", "json"]);
    assert!(!said.out.contains("EnvoyFilter/istio-system/everywhere"), "{}", said.out);
    assert_eq!(findings(&said.out), of_files(Some("shop")));
    let said = live(&mock, &["lint", "-A", "-l", "team=mesh", "-o", "json"]);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert!(report["findings"].as_array().unwrap().iter().all(|one| one["filter"] == "istio-system/everywhere"));
    assert!(said.out.contains("\"filters\": 1"), "{}", said.out);
}

#[test]
fn diff_and_render_start_from_what_is_applied() {
    let folder = tempfile::tempdir().unwrap();
    let mock = shop().start();
    let current = folder.path().join("current.yaml");
    fs::write(&current, demo::FILTERS).unwrap();
    let said = live(&mock, &["diff", "-f", current.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let changed = folder.path().join("changed.yaml");
    fs::write(&changed, demo::FILTERS.replace("shop.stamp-requests", "shop.stamp-all")).unwrap();
    let said = live(&mock, &["diff", "-f", changed.to_str().unwrap()]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.out.contains("shop.stamp-all"), "{}", said.out);
    let said = live(&mock, &["render", "cart-1", "--only", "changed"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("shop.stamp-requests"), "{}", said.out);
}

/// Code, class, message and filter of an audit's findings.
fn audited(json: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    let mut all = Vec::new();
    for filter in report["filters"].as_array().unwrap() {
        for one in filter["findings"].as_array().unwrap() {
            let name = format!("{}/{}", filter["namespace"], filter["name"]);
            all.push(format!("{} {} {} {name}", one["code"], one["class"], one["message"]));
        }
    }
    all.sort();
    all
}

/// The result of `audit` for the demo in files, with the dump.
fn audit_of_files() -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let (objects, dump) = (folder.path().join("objects.yaml"), folder.path().join("dump.json"));
    let pods = [1, 2].map(|number| pod("shop", "cart", number).to_string()).join("\n---\n");
    let filters: Vec<&str> =
        demo::FILTERS.split("\n---\n").filter(|filter| !filter.contains("namespace: istio-system")).collect();
    let root: Vec<&str> =
        demo::FILTERS.split("\n---\n").filter(|filter| filter.contains("namespace: istio-system")).collect();
    let own = format!("{ISTIOD}---\n{pods}\n---\n{}\n---\n{}", filters.join("\n---\n"), root.join("\n---\n"));
    fs::write(&objects, own).unwrap();
    fs::write(&dump, demo_dump()).unwrap();
    let (objects, dump) = (objects.to_str().unwrap(), dump.to_str().unwrap());
    let arguments =
        ["audit", "--from", "1.24", "--to", "1.31", "-f", objects, "--dump", dump, "-o", "json", "-n", "shop"];
    let said = run(Path::new("/nonexistent"), &arguments);
    audited(&said.out).into_iter().filter(|line| !line.contains("istio-system")).collect()
}

#[test]
fn auditing_a_cluster_equals_auditing_its_files() {
    let mock = shop().start();
    let said = live(&mock, &["audit", "--from", "1.24", "--to", "1.31", "-o", "json", "-n", "shop"]);
    assert!(said.code < 2, "{} {}", said.code, said.err);
    let found = audited(&said.out);
    assert!(!found.is_empty(), "{}", said.out);
    assert_eq!(found, audit_of_files());
    let report: Value = serde_json::from_str(&said.out).unwrap();
    // Filters of the root namespace count, but get no report of their own.
    let namespaces = report["filters"].as_array().unwrap().iter().map(|one| one["namespace"].as_str().unwrap());
    assert!(namespaces.clone().all(|namespace| namespace == "shop"), "{:?}", namespaces.collect::<Vec<_>>());
    assert_eq!(report["counts"]["dumps"], json!(1), "replicas are told by one");
    // The verdict covers the whole mesh unless a namespace is given.
    let all = live(&mock, &["audit", "--from", "1.24", "--to", "1.31", "-o", "json"]);
    let report: Value = serde_json::from_str(&all.out).unwrap();
    assert!(report["filters"].as_array().unwrap().iter().any(|one| one["namespace"] == "istio-system"));
    // The verdict says what it covers.
    for (form, line) in [("human", "ready: of "), ("markdown", "**ready**: of ")] {
        for (more, place) in [(&["-n", "shop"][..], " in namespace shop "), (&[], " in all namespaces ")] {
            let said = live(&mock, &[&["audit", "--to", "1.31", "-o", form], more].concat());
            let verdict = said.out.lines().find(|it| it.starts_with(line));
            assert!(verdict.is_some_and(|verdict| verdict.contains(place)), "{form} {place}: {}", said.out);
        }
    }
}

#[test]
fn audit_reports_what_runs_and_where_every_workload_is() {
    let mock = shop().start();
    // The current release comes from istiod's pods.
    let said = live(&mock, &["audit", "--to", "1.31", "-o", "json"]);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, &report["from"], &report["verdict"]), (0, &json!("1.31"), &json!("ready")), "{}", said.err);
    let said = live(&mock, &["audit", "--from", "1.24", "--to", "1.31", "-o", "json"]);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    let place = json!({"revision": "default", "istiod": "1.31.0", "proxies": "1.31.0", "count": 1});
    assert_eq!(report["during"][0]["places"], json!([place]), "{}", report["during"]);
    assert_eq!(report["during"][0]["gets"].as_array().unwrap().len(), report["rollOut"].as_array().unwrap().len());
}

#[test]
fn audit_answers_with_what_could_be_read() {
    let world = shop().fault("/api/v1/namespaces/shop/pods?", Fault::Status(403, "pods is forbidden"), 9);
    let mock = world.start();
    let said = live(&mock, &["audit", "--from", "1.24", "--to", "1.31", "-o", "json", "-n", "shop"]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("not allowed to list pods in namespace shop"), "{}", said.err);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert!(!report["problems"].as_array().unwrap().is_empty(), "{}", said.out);
    assert!(!audited(&said.out).is_empty());
}

#[test]
fn get_says_what_is_selected_and_what_is_in_effect() {
    let mock = shop().start();
    let said = live(&mock, &["get"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let lines: Vec<Vec<&str>> = said.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..6], ["NAMESPACE", "NAME", "PRIORITY", "ORDER", "SELECTS", "PATCHES"]);
    assert_eq!(lines.len(), 6, "{}", said.out);
    let stamp = lines.iter().find(|line| line[1] == "stamp-requests").unwrap();
    // Both replicas; the dump was recorded before the filter, which the engine says matches.
    assert_eq!((stamp[0], stamp[4], stamp[5]), ("shop", "2", "1"), "{}", said.out);
    let names = live(&mock, &["get", "stamp-requests", "-o", "name"]);
    assert_eq!(names.out, "envoyfilter/stamp-requests\n");
    // Filters exist, but none with that name: the message says so, and suggests the most similar one.
    let missing = live(&mock, &["get", "stamp-request"]);
    assert_eq!(missing.code, 2, "{}", missing.err);
    assert!(missing.err.contains("similar names: shop/stamp-requests"), "{}", missing.err);
    assert!(!missing.err.contains("No EnvoyFilters found"), "{}", missing.err);
    // Nothing is written to a cluster, so no fix is offered.
    let found = live(&mock, &["lint", "--select", "EF213"]);
    assert!(found.out.contains("1 error:"), "{}", found.out);
    assert!(!found.out.contains("can be fixed with --fix"), "{}", found.out);
    let json = live(&mock, &["get", "-A", "-o", "json"]);
    let list: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 6);
    let limit = list["items"].as_array().unwrap().iter().find(|item| item["name"] == "limit-bodies").unwrap();
    assert_eq!((&limit["effective"], &limit["ineffective"]), (&json!(0), &json!(1)), "{limit}");
    assert!(limit["findings"].as_u64().unwrap() >= 1, "{limit}");
    let yaml = live(&mock, &["get", "-o", "yaml"]);
    assert!(yaml.out.contains("kind: EnvoyFilterStatusList"), "{}", yaml.out);
    let missing = live(&mock, &["get", "nobody"]);
    assert_eq!(missing.code, 2);
}

#[test]
fn status_has_a_line_for_what_is_wrong() {
    let mock = shop().start();
    let said = live(&mock, &["status"]);
    assert_eq!(said.code, 1, "{}", said.err);
    let line = said.out.lines().find(|line| line.contains("limit-bodies")).unwrap_or_else(|| panic!("{}", said.out));
    assert!(line.contains("deployment/cart") && line.contains("patch 0: no match"), "{line}");
    // What the dump does not contain yet was not sent, or not accepted.
    let line = said.out.lines().find(|line| line.contains("stamp-requests")).unwrap_or_else(|| panic!("{}", said.out));
    assert!(line.contains("not in effect"), "{line}");
    let json: Value = serde_json::from_str(&live(&mock, &["status", "-o", "json"]).out).unwrap();
    assert_eq!(json["kind"], "Status");
}

#[test]
fn version_says_what_runs_and_what_no_filter_reaches() {
    let mut world = shop();
    world.add(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "plain", "namespace": "shop"},
        "spec": {"hostNetwork": true, "containers": []}, "status": {"phase": "Running"},
    }));
    let mock = world.start();
    let said = live(&mock, &["version"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for words in ["kubernetes: v1.36.3", "1.31.0", "sidecar", "it uses the host's network"] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    // No EnvoyFilter was looked for.
    assert!(said.err.contains("scope: context") && !said.err.contains("EnvoyFilter"), "{}", said.err);
    let client = run(Path::new("/nonexistent"), &["version", "--client"]);
    assert_eq!((client.code, client.out), (0, format!("client: {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn every_control_plane_judges_its_own_proxies() {
    let mut world = shop();
    world.add(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "istiod-old", "namespace": "istio-system", "labels": {"app": "istiod", "istio.io/rev": "1-26"}},
        "spec": {"containers": [{"name": "discovery", "image": "istio/pilot:1.26.8"}]}, "status": {"phase": "Running"},
    }));
    let mut old = pod("shop", "cart", 3);
    old["metadata"]["annotations"]["istio.io/rev"] = "1-26".into();
    old["metadata"]["ownerReferences"][0]["name"] = "cart-old".into();
    world.add(old);
    // istiod reads objects labeled for its own revision, and unlabeled ones.
    world.add(json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": "only-old", "namespace": "shop", "labels": {"istio.io/rev": "1-26"}},
        "spec": {"configPatches": [{"applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": {"connect_timeout": "7s"}}}]},
    }));
    let mock = world.dump("shop/cart-3", demo_dump()).start();
    for (name, selected) in [("pod/cart-1", false), ("pod/cart-3", true)] {
        let said = live(&mock, &["explain", name, "-o", "json"]);
        let answer: Value = serde_json::from_str(&said.out).unwrap();
        let filters = answer["proxies"][0]["filters"].as_array().unwrap();
        let one = filters.iter().find(|filter| filter["name"] == "only-old").unwrap();
        assert_eq!(one["selected"], selected, "{name}: {one}");
        assert_eq!(one["reason"]["code"] == "other-revision", !selected, "{name}: {one}");
    }
    let said = live(&mock, &["version", "-o", "json"]);
    let versions: Value = serde_json::from_str(&said.out).unwrap();
    let modelled: Vec<&Value> =
        versions["controlPlanes"].as_array().unwrap().iter().map(|plane| &plane["modelled"]).collect();
    assert_eq!(modelled, ["1.26.8", "1.31.0"], "{}", said.out);
    let said = live(&mock, &["lint", "-o", "json"]);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(report["istioVersions"], json!(["1.31", "1.26.8"]), "{}", said.out);
}

/// The layout of `istioctl bug-report` (istio.io/istio, tools/bug-report, 1.31).
#[test]
fn a_bug_report_reads_like_a_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bug-report.tar.gz");
    let mut archive =
        tar::Builder::new(flate2::write::GzEncoder::new(fs::File::create(&path).unwrap(), flate2::Compression::fast()));
    let mut add = |name: &str, text: String| {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, text.as_bytes()).unwrap();
    };
    let objects = format!("{ISTIOD}---\n{}\n---\n{}\n", pod("shop", "cart", 1), pod("shop", "cart", 2));
    add("bug-report/cluster/k8s-resources", objects);
    add("bug-report/cluster/crs", demo::FILTERS.to_owned());
    add("bug-report/cluster/secrets", "NAME TYPE\ncanary Opaque\n".to_owned());
    add("bug-report/proxies/shop/cart-1/config_dump?include_eds", demo_dump());
    add("bug-report/proxies/shop/cart-1/certs", "canary".to_owned());
    archive.into_inner().unwrap().finish().unwrap();
    let said = run(Path::new("/nonexistent"), &["lint", "-o", "json", "--capture", path.to_str().unwrap()]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert_eq!(findings(&said.out), of_files(None));
    let said = run(Path::new("/nonexistent"), &["explain", "pod/cart-1", "--capture", path.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{}", said.err);
    let said = run(Path::new("/nonexistent"), &["lint", "--capture", folder.path().to_str().unwrap()]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("is not a capture or a bug report"), "{}", said.err);
}

#[test]
fn captures_hold_no_secret_and_answer_like_the_cluster() {
    let mut world = shop();
    world.add(json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}, "data": {"a": "canary-secret"},
    }));
    let mock = world.start();
    let folder = tempfile::tempdir().unwrap();
    for name in ["folder", "packed.tar.zst"] {
        let path = folder.path().join(name);
        let path = path.to_str().unwrap();
        let said = live(&mock, &["capture", path, "-A", "--redact", "x-seen-at"]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains("1 config dump"), "{}", said.out);
        let second = run(Path::new("/nonexistent"), &["lint", "-o", "json", "--capture", path]);
        assert_eq!(findings(&second.out), of_files(None), "{}", second.err);
    }
    let mut texts = String::new();
    let mut open = vec![folder.path().join("folder")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                texts.push_str(&fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    assert!(texts.contains("stamp-requests") && texts.contains("[redacted]"));
    for canary in ["canary-password", "canary-token", "canary-secret", "x-seen-at", "PASSWORD"] {
        assert!(!texts.contains(canary), "{canary}");
    }
}

/// Ctrl-C ends a run with the partial result.
#[cfg(unix)]
#[test]
fn an_interrupted_run_prints_its_partial_result() {
    let mock = shop().fault("/api/v1/namespaces/shop/services", Fault::Hang, 99).start();
    let child = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(["lint", "-o", "json"])
        .env("KUBECONFIG", mock.kubeconfig("shop"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let asked = || mock.paths().iter().any(|path| path.ends_with("/services"));
    while !asked() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let began = std::time::Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed().as_secs() < 20);
    assert_eq!(output.status.code(), Some(3));
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(err.contains("interrupted while listing services in namespace shop"), "{err}");
    assert!(!findings(&out).is_empty(), "{out}");
}

/// kubectl uses the context's namespace for objects without one.
#[test]
fn files_without_a_namespace_belong_to_the_context() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new.yaml");
    let one = demo::FILTERS.split("\n---\n").next().unwrap();
    fs::write(&file, one.replace("  namespace: shop\n", "").replace("shop.stamp-requests", "shop.other")).unwrap();
    let said = live(&shop().start(), &["diff", "-f", file.to_str().unwrap()]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.out.contains("shop/cart-1") && said.out.contains("shop.other"), "{}", said.out);
}

#[test]
fn names_of_several_contexts_follow_each_other() {
    let mock = shop().start();
    let one = live(&mock, &["get", "-o", "name"]);
    let both = live(&mock, &["get", "-o", "name", "--context", "mock", "--context", "other"]);
    assert_eq!((both.code, both.out), (0, one.out.repeat(2)), "{}", both.err);
    assert_eq!(both.err, "note: context mock\nnote: context other\n");
    let half = live(&mock, &["get", "-o", "name", "--context", "mock", "--context", "none"]);
    assert_eq!((half.code, half.out), (2, one.out), "{}", half.err);
}

#[test]
fn filters_that_no_control_plane_reads_are_reported() {
    let mut world = shop();
    world.add(json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": "old", "namespace": "shop", "labels": {"istio.io/rev": "1-12"}},
        "spec": {"configPatches": [{"applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": {"connect_timeout": "7s"}}}]},
    }));
    let said = live(&world.start(), &["explain", "pod/cart-1"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.err.contains("EnvoyFilter shop/old is ignored: it is for revision 1-12, which no control plane has"),
        "{}",
        said.err
    );
    assert!(!said.out.contains("shop/old"), "{}", said.out);
    let said = live(&shop().start(), &["explain", "pod/cart-1", "--istio-namespace", "elsewhere"]);
    assert!(said.err.contains("no istiod runs in namespace elsewhere"), "{}", said.err);
}
