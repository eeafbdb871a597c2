//! The same with a real API server, etcd and kubelet streams: `tests/cluster`, which needs Go.

mod audit;
mod bottled;
mod changes;
mod faults;
#[cfg(target_os = "linux")]
mod figures;
mod gitops;
mod install;
mod ladder;
mod moves;
mod older;
mod policy;
mod reports;
mod watching;

use super::{demo_dump, findings, pod, run};
use futures::StreamExt;
use kube::config::KubeConfigOptions;
use kubectl_envoyfilter::demo;
use kubectl_envoyfilter::load::yaml;
use kubectl_envoyfilter::source::{Node, Sources};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// The running cluster; it ends when this process does, because its standard input closes.
pub(crate) struct Cluster {
    pub(crate) folder: tempfile::TempDir,
    _child: Child,
    pub(crate) runtime: Runtime,
    pub(crate) client: kube::Client,
}

/// The cluster of a test run, started by the first test that needs it.
pub(super) fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| {
        let cluster = Cluster::start();
        let filters = documents(demo::FILTERS).into_iter();
        let root: Vec<Value> = filters.filter(|filter| text(filter, "/metadata/namespace") == "istio-system").collect();
        cluster.create(&root);
        cluster
    })
}

impl Cluster {
    /// A cluster with Istio's CRDs and a control plane.
    pub(crate) fn start() -> Cluster {
        let built = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster/build.sh"))
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        assert!(built.status.success(), "tests/cluster/build.sh fails: is Go installed?");
        let binaries = PathBuf::from(String::from_utf8(built.stdout).unwrap().trim());
        let folder = tempfile::tempdir().unwrap();
        let began = Instant::now();
        let mut child = Command::new(binaries.join("cluster"))
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(folder.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let log = || fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        assert_eq!(said, "ready\n", "{}", log());
        println!("the cluster is ready after {:.1} s", began.elapsed().as_secs_f32());
        fs::write(folder.path().join("dump.json"), demo_dump()).unwrap();
        let runtime = Runtime::new().unwrap();
        let client = runtime.block_on(async {
            let kubeconfig = kube::config::Kubeconfig::read_from(folder.path().join("admin.kubeconfig")).unwrap();
            let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
            kube::Client::try_from(config).unwrap()
        });
        let cluster = Cluster { folder, _child: child, runtime, client };
        let crds = fs::read_to_string(binaries.join("crds.yaml")).unwrap();
        cluster.create(&documents(&crds));
        cluster.wait_for("/apis/networking.istio.io/v1alpha3/envoyfilters");
        let mut istio = documents(ISTIO);
        let dump = cluster.folder.path().join("dump.json");
        for pod in istio.iter_mut().filter(|object| text(object, "/kind") == "Pod") {
            pod["metadata"]["annotations"]["test/istiod"] = dump.to_str().unwrap().into();
            pod["spec"]["nodeName"] = "node".into();
        }
        cluster.create(&istio);
        cluster
    }
}

const ISTIO: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: istio-system}
---
apiVersion: v1
kind: Pod
metadata: {name: istiod-1, namespace: istio-system, labels: {app: istiod, istio.io/rev: default}}
spec: {containers: [{name: discovery, image: 'docker.io/istio/pilot:1.31.0'}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system}
data: {mesh: 'rootNamespace: istio-system'}
";

pub(crate) fn documents(text: &str) -> Vec<Value> {
    let file = Sources::default().add("test", text);
    let (documents, problems) = yaml::documents(file, text);
    assert!(problems.is_empty(), "{problems:?}");
    documents.iter().map(Node::to_json).filter(Value::is_object).collect()
}

pub(super) fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The path to post objects of this kind to.
fn collection(object: &Value) -> String {
    let (api_version, kind) = (text(object, "/apiVersion"), text(object, "/kind").to_lowercase());
    let root = if api_version.contains('/') { "apis" } else { "api" };
    let plural = match kind.strip_suffix('y') {
        Some(stem) if stem.ends_with(['c', 'r']) => format!("{stem}ies"),
        _ => format!("{kind}s"),
    };
    match text(object, "/metadata/namespace") {
        "" => format!("/{root}/{api_version}/{plural}"),
        namespace => format!("/{root}/{api_version}/namespaces/{namespace}/{plural}"),
    }
}

impl Cluster {
    pub(crate) fn send(&self, method: &str, path: &str, content: &str, body: &Value) -> Result<Value, kube::Error> {
        self.runtime.block_on(send(self.client.clone(), method, path, content, body))
    }

    /// Creates objects concurrently; pods are marked as running.
    pub(crate) fn create(&self, objects: &[Value]) {
        // Namespaces first, since their objects need them.
        for group in [true, false] {
            let objects = objects.iter().filter(|object| (text(object, "/kind") == "Namespace") == group);
            let work = futures::stream::iter(objects.cloned()).map(|object| {
                let client = self.client.clone();
                async move {
                    let path = collection(&object);
                    send(client.clone(), "POST", &path, "application/json", &object).await.unwrap_or_else(|error| {
                        panic!("{path}: {error}");
                    });
                    if text(&object, "/kind") == "Pod" {
                        let path = format!("{path}/{}/status", text(&object, "/metadata/name"));
                        let status = json!({"status": {
                            "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]
                        }});
                        send(client, "PATCH", &path, "application/merge-patch+json", &status).await.unwrap();
                    }
                }
            });
            self.runtime.block_on(work.buffer_unordered(32).collect::<Vec<_>>());
        }
    }

    fn wait_for(&self, path: &str) {
        for _ in 0..300 {
            if self.send("GET", path, "application/json", &Value::Null).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{path} does not come");
    }

    /// A kubeconfig of a user whose context has this namespace.
    pub(crate) fn kubeconfig(&self, user: &str, namespace: &str) -> PathBuf {
        let text = fs::read_to_string(self.folder.path().join(format!("{user}.kubeconfig"))).unwrap();
        let text = text.replace("context: {", &format!("context: {{namespace: {namespace}, "));
        let path = self.folder.path().join(format!("{user}-{namespace}.kubeconfig"));
        fs::write(&path, text).unwrap();
        path
    }

    /// A namespace with the demo's filters and pods of cart.
    fn shop(&self, namespace: &str, pods: usize) -> Vec<Value> {
        let mut objects = vec![json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": namespace, "labels": {"istio-injection": "enabled"}},
        })];
        let filters = documents(&demo::FILTERS.replace("namespace: shop", &format!("namespace: {namespace}")));
        // The filter in the root namespace is shared by all tests and exists once.
        objects.extend(filters.into_iter().filter(|filter| text(filter, "/metadata/namespace") == namespace));
        objects.extend((1..=pods).map(|number| self.pod(namespace, "cart", number, "")));
        self.create(&objects);
        objects
    }

    fn pod(&self, namespace: &str, workload: &str, number: usize, closed: &str) -> Value {
        let mut pod = pod(namespace, workload, number);
        pod["spec"]["nodeName"] = "node".into();
        pod["metadata"]["annotations"]["test/dump"] = self.folder.path().join("dump.json").to_str().unwrap().into();
        pod["metadata"]["annotations"]["test/closed"] = closed.into();
        pod
    }
}

/// Permissions of the group of readers, until dropped.
struct Granted<'c> {
    cluster: &'c Cluster,
    objects: Vec<Value>,
}

impl Granted<'_> {
    fn new<'c>(cluster: &'c Cluster, roles: &[Value]) -> Granted<'c> {
        assert!(!roles.is_empty());
        let bindings = roles.iter().map(|role| {
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": format!("{}Binding", text(role, "/kind")),
                "metadata": role["metadata"],
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role["kind"], "name": role["metadata"]["name"]},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "readers"}],
            })
        });
        let objects: Vec<Value> = roles.iter().cloned().chain(bindings).collect();
        cluster.create(&objects);
        Granted { cluster, objects }
    }
}

impl Drop for Granted<'_> {
    fn drop(&mut self) {
        for object in &self.objects {
            let path = format!("{}/{}", collection(object), text(object, "/metadata/name"));
            self.cluster.send("DELETE", &path, "application/json", &Value::Null).unwrap();
        }
    }
}

async fn send(
    client: kube::Client,
    method: &str,
    path: &str,
    content: &str,
    body: &Value,
) -> Result<Value, kube::Error> {
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request = http::Request::builder().method(method).uri(path).header("content-type", content).body(body);
    client.request(request.unwrap()).await
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn linting_through_a_port_forward_equals_linting_files() {
    let cluster = cluster();
    let objects = cluster.shop("same", 2);
    let kubeconfig = cluster.kubeconfig("admin", "same");
    let said = run(&kubeconfig, &["lint", "-o", "json", "--dump-via", "port-forward"]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert_eq!(said.err, "");
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, objects: &[Value]| {
        let texts: Vec<String> = objects.iter().map(|object| format!("---\n{object}\n")).collect();
        let path = folder.path().join(name);
        fs::write(&path, texts.concat()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let root = documents(demo::FILTERS).into_iter();
    let root: Vec<Value> = root.filter(|filter| text(filter, "/metadata/namespace") == "istio-system").collect();
    let files = [write("root.yaml", &root), write("same.yaml", &objects), write("istio.yaml", &documents(ISTIO))];
    let dump = cluster.folder.path().join("dump.json");
    let mut arguments = vec!["lint", "--dump", dump.to_str().unwrap(), "-o", "json", "--istio-version", "1.31"];
    arguments.extend(["--proxy-namespace", "same"]);
    arguments.extend(files.iter().map(String::as_str));
    let of_files = run(Path::new("/nonexistent"), &arguments);
    let mut report: Value = serde_json::from_str(&of_files.out).unwrap();
    let all = report["findings"].as_array_mut().unwrap();
    all.retain(|finding| finding["location"]["file"].as_str().unwrap().ends_with("same.yaml"));
    assert_eq!(findings(&said.out), findings(&report.to_string()));
    assert!(!findings(&said.out).is_empty());
    let by_exec = run(&kubeconfig, &["lint", "-o", "json", "--dump-via", "exec"]);
    assert_eq!((by_exec.code, by_exec.out), (said.code, said.out));
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn a_closed_way_falls_back_to_the_next_and_none_is_reported() {
    let cluster = cluster();
    cluster.shop("ways", 0);
    let pods =
        [("open", ""), ("noforward", "port-forward"), ("shut", "port-forward,exec"), ("known", "port-forward,exec")];
    cluster.create(&pods.map(|(name, closed)| cluster.pod("ways", name, 1, closed)));
    let kubeconfig = cluster.kubeconfig("admin", "ways");
    for name in ["open", "noforward"] {
        let said = run(&kubeconfig, &["explain", "pod", &format!("{name}-1")]);
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        assert!(said.out.contains(&format!("ways/{name}-1")), "{}", said.out);
    }
    // istiod is the last resort, and its answer does not come from the proxy.
    let said = run(&kubeconfig, &["explain", "pod/known-1"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("ways/known-1"), "{}", said.out);
    assert!(said.err.contains("what istiod would send now, not what the proxies run with"), "{}", said.err);
    let said = run(&kubeconfig, &["explain", "pod/shut-1", "--dump-via", "istiod"]);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    assert!(said.err.contains("istiod") && said.err.contains("404"), "{}", said.err);
    let said = run(&kubeconfig, &["explain", "pod/shut-1"]);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    for words in ["no config dump of ways/shut-1", "port-forward", "exec", "pod-proxy", "istiod"] {
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }
}

/// Every command with exactly the permissions that `rbac` prints for it, for one namespace; then with one permission
/// removed.
#[test]
#[ignore = "needs Go: .ci/run"]
fn the_printed_roles_are_enough_and_needed() {
    let cluster = cluster();
    cluster.shop("rights", 1);
    let (admin, reader) = (cluster.kubeconfig("admin", "rights"), cluster.kubeconfig("reader", "rights"));
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("new.yaml");
    // Without filters in the root namespace, which reach every namespace: the permissions for one namespace are not
    // enough for them.
    let own = documents(demo::FILTERS).into_iter().filter(|it| text(it, "/metadata/namespace") == "shop");
    let own: String = own.map(|filter| format!("---\n{filter}\n")).collect();
    fs::write(&new, own.replace("\"shop\"", "\"rights\"").replace("stamp", "mark")).unwrap();
    let commands: &[&[&str]] = &[
        &["lint"],
        &["explain", "pod", "cart-1"],
        &["diff", "-n", "rights", "-f", new.to_str().unwrap()],
        &["render", "cart-1"],
        &["get", "-o", "json"],
        &["status"],
        &["audit", "-n", "rights", "--from", "1.28", "--to", "1.31"],
    ];
    let before = run(&reader, &["lint"]);
    assert_eq!(before.code, 3, "{}", before.err);
    assert!(before.err.contains("not allowed"), "{}", before.err);
    for command in commands {
        let printed = run(&admin, &["rbac", command[0], "-n", "rights"]);
        assert_eq!(printed.code, 0, "{}", printed.err);
        let roles = documents(&printed.out);
        assert!(!roles.is_empty());
        let granted = Granted::new(cluster, &roles);
        let as_admin = run(&admin, command);
        // The authorizer sees new roles with a delay.
        let mut as_reader = run(&reader, command);
        for _ in 0..20 {
            if as_reader.code == as_admin.code {
                break;
            }
            std::thread::sleep(Duration::from_millis(250));
            as_reader = run(&reader, command);
        }
        assert_eq!((as_reader.code, &as_reader.err), (as_admin.code, &as_admin.err), "{command:?}");
        assert_eq!(as_reader.out, as_admin.out, "{command:?}");
        drop(granted);
        // So does the authorizer see that roles are gone.
        let needed = (0..40).any(|_| {
            std::thread::sleep(Duration::from_millis(250));
            run(&reader, command).err != as_admin.err
        });
        assert!(needed, "{command:?} needs no rights at all?");
    }
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn five_thousand_objects_come_in_pages() {
    let cluster = cluster();
    let mut objects = vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "many"}})];
    objects.extend((0..5_000).map(|number| {
        json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": format!("filter-{number}"), "namespace": "many"},
            "spec": {"workloadSelector": {"labels": {"app": "nobody"}}, "configPatches": [{
                "applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": {"connect_timeout": "1s"}}
            }]},
        })
    }));
    cluster.create(&objects);
    let began = Instant::now();
    let said = run(&cluster.kubeconfig("admin", "many"), &["get", "-o", "name"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(said.out.lines().count(), 5_000);
    println!("5,000 EnvoyFilters listed in {:.1} s", began.elapsed().as_secs_f32());
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn a_capture_answers_like_the_cluster_and_holds_no_secret() {
    let cluster = cluster();
    cluster.shop("captured", 2);
    cluster.create(&documents(
        "
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: canaries, namespace: captured}
spec:
  workloadSelector: {labels: {app: cart}}
  configPatches:
  - applyTo: CLUSTER
    match: {context: SIDECAR_OUTBOUND}
    patch:
      operation: MERGE
      value:
        transport_socket:
          name: envoy.transport_sockets.tls
          typed_config:
            '@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
            common_tls_context:
              tls_certificates:
              - private_key: {inline_string: canary-key}
                certificate_chain: {inline_string: canary-certificate}
---
apiVersion: v1
kind: Secret
metadata: {name: canary, namespace: captured}
stringData: {password: canary-secret}
",
    ));
    let kubeconfig = cluster.kubeconfig("admin", "captured");
    let folder = tempfile::tempdir().unwrap();
    let live = run(&kubeconfig, &["lint", "-o", "json"]);
    for name in ["capture", "capture.tar.zst", "capture.tar.gz"] {
        let path = folder.path().join(name);
        let said = run(&kubeconfig, &["capture", "-n", "captured", path.to_str().unwrap()]);
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        let second = run(
            Path::new("/nonexistent"),
            &["lint", "-n", "captured", "-o", "json", "--capture", path.to_str().unwrap()],
        );
        assert_eq!(findings(&second.out), findings(&live.out), "{name}: {}", second.err);
        let explained = run(Path::new("/nonexistent"), &["explain", "pod/cart-1", "--capture", path.to_str().unwrap()]);
        assert_eq!(explained.code, 0, "{name}: {}", explained.err);
        let said = run(&kubeconfig, &["capture", path.to_str().unwrap()]);
        assert_eq!(said.code, 2, "{name} is overwritten");
    }
    let mut content = String::new();
    let packed = fs::File::open(folder.path().join("capture.tar.zst")).unwrap();
    zstd::Decoder::new(packed).unwrap().read_to_string(&mut content).unwrap();
    assert!(content.contains("[redacted]") && content.contains("canaries"), "nothing was captured");
    for canary in ["canary-key", "canary-certificate", "canary-secret", "canary-password"] {
        assert!(!content.contains(canary), "{canary}");
    }
}

/// kubectl runs `kubectl_complete-envoyfilter` from the PATH (1.26 and newer).
#[test]
#[ignore = "needs Go and kubectl: .ci/run"]
fn kubectl_completes_what_is_in_the_cluster() {
    let cluster = cluster();
    cluster.shop("completed", 1);
    let kubeconfig = cluster.kubeconfig("admin", "completed");
    let binary = Path::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"));
    let completions = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{}:{path}", completions.display(), binary.parent().unwrap().display());
    let complete = |words: &[&str]| {
        let output = Command::new("kubectl")
            .args(["__complete", "envoyfilter"])
            .args(words)
            .env("PATH", &path)
            .env("KUBECONFIG", &kubeconfig)
            .output()
            .expect("kubectl is not installed");
        String::from_utf8(output.stdout).unwrap()
    };
    for (words, want) in [
        (&[""][..], "lint\t"),
        (&["ex"], "explain\t"),
        (&["explain", "pod", ""], "cart-1"),
        (&["explain", "filter", "st"], "stamp-requests"),
        (&["get", ""], "limit-bodies"),
        (&["lint", "-n", "comp"], "completed"),
        (&["lint", "--dump-"], "--dump-via\t"),
        (&["rbac", "l"], "lint"),
    ] {
        let said = complete(words);
        assert!(said.lines().any(|line| line.starts_with(want)), "{words:?}: {said}");
        assert!(said.trim_end().ends_with(":4"), "{words:?}: {said}");
    }
    assert!(!complete(&["explain", "pod", "x"]).contains("cart-1"));
}

/// Prints measurements.
#[test]
#[ignore = "needs Go: .ci/run"]
fn two_hundred_pods() {
    let cluster = cluster();
    cluster.shop("crowd", 0);
    // A hundred Deployments with two replicas each, all of them selected.
    let pods = (0..200).map(|number| {
        let mut pod = cluster.pod("crowd", &format!("w{}", number / 2), number, "");
        pod["metadata"]["labels"]["app"] = "cart".into();
        pod
    });
    let pods: Vec<Value> = pods.collect();
    cluster.create(&pods);
    let kubeconfig = cluster.kubeconfig("admin", "crowd");
    for arguments in [&["lint", "-v"][..], &["status", "-v"], &["lint", "-v", "--all-replicas"]] {
        let began = Instant::now();
        let said = run(&kubeconfig, arguments);
        assert!(said.code < 2, "{}", said.err);
        let requests = said.err.lines().find(|line| line.contains("requests")).unwrap_or_default().to_owned();
        println!("{arguments:?} of 200 pods: {:.1} s, {requests}", began.elapsed().as_secs_f32());
    }
}

/// Hundreds and thousands of dumps of a megabyte use the same amount of memory. The server is the mock, so that only
/// the tool is measured. Prints measurements.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "takes a minute: .ci/run"]
fn memory_does_not_grow_with_the_pods() {
    let few = peak("status", 100, true);
    let many = peak("status", 1_000, true);
    assert!(many < few * 3 / 2, "{few} and {many} KiB");
    // By default, one replica of each configuration is read; for the others, only their objects are known.
    let few = peak("lint", 1_000, false);
    let many = peak("lint", 5_000, false);
    assert!(many < few + 4_000 * 12, "{few} and {many} KiB");
    // Lint reads all proxies concurrently. It keeps common resources once; individual ones are a tenth of the
    // resources, with their times and positions; and what patches changed.
    let few = peak("lint", 100, true);
    let many = peak("lint", 1_000, true);
    assert!(many - few < 900 * 270, "{few} and {many} KiB");
}

/// Peak memory of a command for this many pods with dumps of a megabyte, a tenth of which is unique, in KiB; `all`: it
/// reads every dump.
#[cfg(target_os = "linux")]
fn peak(command: &str, pods: usize, all: bool) -> u64 {
    let dump = large_dump(1 << 20);
    let mut world = super::shop();
    for number in 10..10 + pods {
        world.add(pod("shop", "cart", number));
        if !all {
            continue;
        }
        let own = dump.replace("|copy-7", &format!("|copy-of-{number}-7"));
        world = world.dump(&format!("shop/cart-{number}"), own);
    }
    let mock = world.start();
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args([command, "--dump-via", "pod-proxy", "-o", "json"])
        .args(all.then_some("--all-replicas"))
        .env("KUBECONFIG", mock.kubeconfig("shop"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut output = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        text
    });
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(reader.join().unwrap().contains("\"apiVersion\""));
    let dumps = mock.requests().iter().filter(|request| request.path.contains("/config_dump")).count();
    assert_eq!(dumps >= pods, all, "{dumps} of {pods} pods were read");
    let seconds = began.elapsed().as_secs_f32();
    let (mib, rate) = (peak >> 10, f64::from(u32::try_from(pods).unwrap()) / f64::from(seconds));
    println!(
        "{command}, {dumps} dumps of {} KiB for {pods} pods: {seconds:.1} s, {rate:.0} pods a second, at most {mib} MiB",
        dump.len() >> 10
    );
    peak
}

/// The demo's dump with copies of its clusters under other names, up to a size.
fn large_dump(bytes: usize) -> String {
    let mut dump: Value = serde_json::from_str(&demo_dump()).unwrap();
    let sections = dump["configs"].as_array_mut().unwrap();
    let clusters = sections.iter_mut().find(|one| text(one, "/@type").ends_with("ClustersConfigDump")).unwrap();
    let clusters = clusters["dynamic_active_clusters"].as_array_mut().unwrap();
    let one = clusters.last().unwrap().clone();
    let size = one.to_string().len();
    for number in 0..bytes / size {
        let mut copy = one.clone();
        copy["cluster"]["name"] = format!("outbound|80||copy-{number}.shop.svc.cluster.local").into();
        clusters.push(copy);
    }
    dump.to_string()
}
