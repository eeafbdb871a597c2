//! Watching changes, and the API server's answers about objects that are not applied yet.

use super::{Granted, cluster, documents, run};
use kubectl_envoyfilter::demo;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A running command, and the lines it writes.
struct Going {
    child: Child,
    lines: Receiver<String>,
}

impl Going {
    fn start(kubeconfig: &Path, arguments: &[&str]) -> Going {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
            .args(arguments)
            .env("KUBECONFIG", kubeconfig)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let out: ChildStdout = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).try_for_each(|it| sender.send(it))
        });
        Going { child, lines }
    }

    /// The words of the next line that contains this, within half a minute.
    fn line(&self, part: &str) -> Vec<String> {
        let until = Instant::now() + Duration::from_secs(30);
        let mut seen = Vec::new();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).unwrap_or_else(|_| panic!("no line with {part} after {seen:?}"));
            if line.contains(part) {
                return line.split_whitespace().map(str::to_owned).collect();
            }
            seen.push(line);
        }
    }

    /// Waits up to half a minute for its end, and returns its exit code and messages.
    fn wait(mut self) -> (Option<i32>, String) {
        let until = Instant::now() + Duration::from_secs(30);
        while self.child.try_wait().unwrap().is_none() {
            if Instant::now() > until {
                self.child.kill().unwrap();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    /// Ctrl-C: its exit code and messages.
    fn end(self) -> (Option<i32>, String) {
        assert!(Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap().success());
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

fn filter(namespace: &str, app: &str) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": "late", "namespace": namespace},
        "spec": {"workloadSelector": {"labels": {"app": app}}, "configPatches": [{
            "applyTo": "CLUSTER", "match": {"context": "SIDECAR_OUTBOUND"},
            "patch": {"operation": "MERGE", "value": {"connect_timeout": "3s"}},
        }]},
    })
}

/// A filter is created, selects something else and is deleted; a pod is created: each is reported once. A user who may
/// only list is told why nothing follows.
#[test]
#[ignore = "needs Go: .ci/run"]
fn get_follows_changes() {
    let cluster = cluster();
    cluster.shop("going", 1);
    let kubeconfig = cluster.kubeconfig("admin", "going");
    let going = Going::start(&kubeconfig, &["get", "--watch", "--output-watch-events"]);
    assert_eq!(going.line("NAMESPACE")[..3], ["EVENT", "NAMESPACE", "NAME"]);
    let plain = run(&kubeconfig, &["get", "-o", "name"]);
    let names: Vec<&str> = plain.out.lines().map(|line| line.trim_start_matches("envoyfilter/")).collect();
    assert!(!names.is_empty());
    for name in names {
        assert_eq!(going.line(name)[..3], ["ADDED", "going", name]);
    }
    cluster.create(&[filter("going", "cart")]);
    let line = going.line("late");
    // EVENT NAMESPACE NAME PRIORITY ORDER SELECTS PATCHES
    assert_eq!([&line[0], &line[5], &line[6]], ["ADDED", "1", "1"], "{line:?}");
    let path = "/apis/networking.istio.io/v1alpha3/namespaces/going/envoyfilters/late";
    let other = json!({"spec": filter("going", "nobody")["spec"]});
    cluster.send("PATCH", path, "application/merge-patch+json", &other).unwrap();
    let line = going.line("late");
    assert_eq!([&line[0], &line[5]], ["MODIFIED", "0"], "{line:?}");
    cluster.create(&[cluster.pod("going", "nobody", 1, "")]);
    let line = going.line("late");
    assert_eq!([&line[0], &line[5]], ["MODIFIED", "1"], "{line:?}");
    cluster.send("DELETE", path, "application/json", &Value::Null).unwrap();
    assert_eq!(going.line("late")[0], "DELETED");
    // The scope, once.
    let (code, err) = going.end();
    assert!(code == Some(0) && err.starts_with("scope: context test; namespace going;"), "{code:?} {err}");
    assert_eq!(err.lines().count(), 1, "{err}");

    let (admin, reader) = (cluster.kubeconfig("admin", "going"), cluster.kubeconfig("reader", "going"));
    let granted = Granted::new(cluster, &documents(&run(&admin, &["rbac", "get", "-n", "going"]).out));
    std::thread::sleep(Duration::from_secs(1));
    let (code, err) = Going::start(&reader, &["get", "--watch", "-o", "name"]).wait();
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("cannot watch EnvoyFilters") && err.contains("rbac get --watch"), "{err}");
    drop(granted);
    let _granted = Granted::new(cluster, &documents(&run(&admin, &["rbac", "get", "--watch", "-n", "going"]).out));
    std::thread::sleep(Duration::from_secs(1));
    let going = Going::start(&reader, &["get", "--watch", "-o", "json"]);
    going.line("\"problems\": []");
    cluster.create(&[filter("going", "cart")]);
    going.line("\"ADDED\"");
    going.line("\"late\"");
    assert_eq!(going.end(), (Some(0), String::new()));
}

/// Retries for at most five seconds: the authorizer sees new roles with a delay.
fn until<T>(run: impl Fn() -> T, done: impl Fn(&T) -> bool) -> T {
    let end = Instant::now() + Duration::from_secs(5);
    loop {
        let said = run();
        if done(&said) || Instant::now() > end {
            return said;
        }
        std::thread::sleep(Duration::from_millis(250));
    }
}

fn write(folder: &Path, name: &str, object: &Value) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, object.to_string()).unwrap();
    path
}

/// Whether only the scope is printed besides the answer.
fn only_scope(err: &str) -> bool {
    err.lines().all(|line| line.starts_with("scope: "))
}

/// Istio's CRD schema, a policy and missing permissions, each reported by the API server; nothing is stored.
#[test]
#[ignore = "needs Go: .ci/run"]
fn diff_asks_the_api_server() {
    let cluster = cluster();
    cluster.shop("asked", 1);
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = cluster.kubeconfig("admin", "asked");
    let diff = |file: &Path| run(&kubeconfig, &["diff", "-f", file.to_str().unwrap(), "--server-side"]);

    let good = write(folder.path(), "good.yaml", &filter("asked", "cart"));
    let said = diff(&good);
    assert_eq!((said.code, only_scope(&said.err)), (1, true), "{}{}", said.out, said.err);
    let path = "/apis/networking.istio.io/v1alpha3/namespaces/asked/envoyfilters/late";
    assert!(cluster.send("GET", path, "application/json", &Value::Null).is_err(), "a dry run was kept");

    let mut misspelt = filter("asked", "cart");
    misspelt["spec"]["configPatches"][0]["patch"]["valeu"] = json!({});
    let said = diff(&write(folder.path(), "misspelt.yaml", &misspelt));
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("unknown field \"spec.configPatches[0].patch.valeu\""), "{}", said.err);
    assert!(said.err.contains("spec.configPatches[0].patch.valeu is dropped"), "{}", said.err);
    assert!(said.err.contains("misspelt.yaml:1:1"), "{}", said.err);

    let mut wrong = filter("asked", "cart");
    // A rule of the CRD that involves several fields.
    wrong["spec"]["targetRefs"] = json!([{"group": "", "kind": "Service", "name": "cart"}]);
    let said = diff(&write(folder.path(), "wrong.yaml", &wrong));
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("the API server rejects EnvoyFilter asked/late"), "{}", said.err);
    assert!(said.err.contains("only one of targetRefs or workloadSelector can be set"), "{}", said.err);

    // An existing filter is tried as an update, and a deletion as a deletion.
    let applied = documents(&demo::FILTERS.replace("namespace: shop", "namespace: asked"));
    let mut applied = applied.into_iter().find(|it| super::text(it, "/metadata/namespace") == "asked").unwrap();
    let name = super::text(&applied, "/metadata/name").to_owned();
    applied["spec"]["targetRefs"] = wrong["spec"]["targetRefs"].clone();
    applied["spec"]["workloadSelector"] = wrong["spec"]["workloadSelector"].clone();
    let said = diff(&write(folder.path(), "applied.yaml", &applied));
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("only one of"), "{}", said.err);
    let said = run(&kubeconfig, &["diff", "--delete", &format!("asked/{name}"), "--server-side"]);
    assert_eq!((said.code, only_scope(&said.err)), (1, true), "{}{}", said.out, said.err);
    let path = format!("/apis/networking.istio.io/v1alpha3/namespaces/asked/envoyfilters/{name}");
    cluster.send("GET", &path, "application/json", &Value::Null).unwrap();

    let policies = documents(POLICY);
    cluster.create(&policies);
    let said = until(|| diff(&good), |said| said.code == 2);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(
        said.err.contains("rejects EnvoyFilter asked/late") && said.err.contains("no clusters here"),
        "{}",
        said.err
    );
    for object in &policies {
        let path = format!("{}/{}", super::collection(object), super::text(object, "/metadata/name"));
        cluster.send("DELETE", &path, "application/json", &Value::Null).unwrap();
    }

    let reader = cluster.kubeconfig("reader", "asked");
    let printed = |arguments: &[&str]| documents(&run(&kubeconfig, arguments).out);
    let asks = || run(&reader, &["diff", "-f", good.to_str().unwrap(), "--server-side"]);
    let granted = Granted::new(cluster, &printed(&["rbac", "diff", "-n", "asked"]));
    let said = until(asks, |said| said.err.contains("could not be asked"));
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("could not be asked about EnvoyFilter asked/late: not allowed"), "{}", said.err);
    assert!(said.err.contains("rbac diff --server-side"), "{}", said.err);
    drop(granted);
    let _granted = Granted::new(cluster, &printed(&["rbac", "diff", "--server-side", "-n", "asked"]));
    let said = until(asks, |said| said.code == 1);
    assert_eq!((said.code, only_scope(&said.err)), (1, true), "{}{}", said.out, said.err);
}

const POLICY: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-clusters}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [networking.istio.io], apiVersions: ['*'], operations: [CREATE], resources: [envoyfilters]}
  matchConditions: [{name: here, expression: object.metadata.namespace == 'asked'}]
  validations: [{expression: 'object.spec.configPatches.all(it, it.applyTo != \"CLUSTER\")', message: no clusters here}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-clusters}
spec: {policyName: no-clusters, validationActions: [Deny]}
";
