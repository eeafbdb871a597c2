//! Every command with each permission withdrawn and each proxy silent: no answer reads as an all-clear.

use super::mock::{Fault, Mock, World};
use super::standing::{dump_with, mesh};
use super::{Said, live};
use crate::support::Share;
use serde_json::json;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Commands on the mesh below, each with something that makes its answer incomplete.
const COMMANDS: &[&[&str]] = &[
    &["get"],
    &["get", "-A", "-o", "json"],
    &["status"],
    &["status", "-A", "-o", "json"],
    &["status", "-A", "--all-replicas"],
    &["explain", "pod/cart-1"],
    &["explain", "filter/timeout"],
    &["explain", "svc/cart"],
    &["explain", "gateway/front"],
    &["explain", "deploy/cart"],
    &["explain", "workload/cart"],
    &["explain", "field", FIELD],
    &["lint"],
    &["lint", "-A", "-o", "json"],
    &["diff", "-f", "FILE"],
    &["diff", "-f", "FILE", "-o", "markdown"],
    &["diff", "--between", "mock", "other"],
    &["diff", "--between", "mock", "other", "-o", "json"],
    &["render", "pod/cart-1"],
    &["audit", "--to", "1.31"],
    &["audit", "-A", "--to", "1.31", "-o", "markdown"],
    &["version", "-A"],
    &["capture", "CAPTURE"],
    &["watch", "--once", "--rate", "6000", "--settle", "100ms"],
    &["migrate"],
    &["migrate", "-A", "-o", "json"],
    &["webhook", "report"],
    &["webhook", "ladder"],
    &["webhook", "status"],
    &["webhook", "uninstall", "--dry-run=server"],
    &["webhook", "install", "--image", "x@sha256:1", "--dry-run=server"],
    &["get", "--watch"],
    &["status", "--watch"],
];

/// A field that the filter of the mesh below sets.
const FIELD: &str = "cluster/outbound|7070||catalog.shop.svc.cluster.local/connect_timeout";

/// Commands that do not read a mesh, or answer it, and why.
const OTHERS: &[(&str, &str)] = &[
    ("api", "reads tables"),
    ("completion", "prints a script"),
    ("doctor", "reads files and an istiod: below"),
    ("dump", "reads files and an istiod: below"),
    ("explain rule", "prints documentation"),
    ("explain rule test", "reads files"),
    ("migrate verify", "reads files"),
    ("rbac", "prints roles"),
    ("rules", "prints documentation"),
    ("rules test", "reads files"),
    ("test", "reads files"),
    ("webhook policy", "prints manifests"),
    ("webhook serve", "answers reviews: tests/it/webhook"),
];

/// Every command is in one of the lists, so that a new one is not forgotten.
#[test]
fn every_command_is_tried() {
    fn leaves(command: &clap::Command, path: &str, found: &mut BTreeSet<String>) {
        let below: Vec<_> =
            command.get_subcommands().filter(|one| one.get_name() != "help" && !one.is_hide_set()).collect();
        for one in &below {
            leaves(one, format!("{path} {}", one.get_name()).trim(), found);
        }
        if !command.is_subcommand_required_set() && !path.is_empty() {
            found.insert(path.to_owned());
        }
    }
    let mut all = BTreeSet::new();
    leaves(&<kubectl_envoyfilter::cli::Cli as clap::CommandFactory>::command(), "", &mut all);
    let others: BTreeSet<String> = OTHERS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert!(others.is_subset(&all), "{:?}", others.difference(&all));
    let spelled = |words: &[&str]| match words {
        ["explain", what, ..] => {
            let what = what.split('/').next().unwrap();
            let long = [("svc", "service"), ("deploy", "deployment")].into_iter().find(|(short, _)| *short == what);
            format!("explain {}", long.map_or(what, |(_, long)| long))
        }
        ["webhook", what, ..] => format!("webhook {what}"),
        [first, ..] => (*first).to_owned(),
        [] => String::new(),
    };
    let tried: BTreeSet<String> = COMMANDS.iter().chain(WITH_ENVOY).map(|words| spelled(words)).collect();
    let known: BTreeSet<String> = tried.union(&others).cloned().collect();
    assert_eq!(all, known);
}

/// Whether a command runs until it is stopped.
fn stays(command: &[&str]) -> bool {
    command.contains(&"--watch")
}

/// Commands that need an Envoy.
const WITH_ENVOY: &[&[&str]] = &[
    &["try", "cart-1", "/", "--outbound", "catalog.shop.svc.cluster.local:7070", "--envoy", "ENVOY"],
    &["lint", "-A", "--envoy", "ENVOY"],
    &["render", "pod/cart-1", "--envoy", "ENVOY"],
];

const SAME: &str = "
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: timeout, namespace: shop, creationTimestamp: '2026-11-20T08:00:00Z'}
spec:
  configPatches:
  - applyTo: CLUSTER
    match: {context: SIDECAR_OUTBOUND, cluster: {name: outbound|7070||catalog.shop.svc.cluster.local}}
    patch: {operation: MERGE, value: {connect_timeout: 2s}}
";

/// A mesh without problems.
fn healthy() -> World {
    let mut world = mesh(&[dump_with("2s", None)]);
    world.add(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "cart", "namespace": "shop"},
        "spec": {"selector": {"app": "cart"}, "ports": [{"port": 80}]},
    }));
    world.add(json!({
        "apiVersion": "networking.istio.io/v1beta1", "kind": "Gateway",
        "metadata": {"name": "front", "namespace": "shop"},
        "spec": {"selector": {"app": "front"}, "servers": []},
    }));
    world.add(json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "envoyfilter-webhook", "namespace": "envoyfilter-system"},
        "spec": {"template": {"spec": {"containers": [{"name": "server", "args": ["webhook", "serve", "--mode=audit"]}]}}},
    }));
    world.add(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "webhook-1", "namespace": "envoyfilter-system", "labels": {
            "app.kubernetes.io/instance": "envoyfilter-webhook", "app.kubernetes.io/component": "admission",
        }},
        "spec": {"containers": [{"name": "server", "image": "x:1"}]}, "status": {"phase": "Running"},
    }));
    world.dump("envoyfilter-system/http:webhook-1", String::new()).serving("wgpolicyk8s.io/v1alpha2")
}

/// A command, its answer without a fault, and the path with a fault.
type Work = (&'static [&'static str], Arc<Said>, String, Fault);

/// One run, with fresh files.
fn ask(mock: &Mock, command: &[&str]) -> Said {
    let folder = tempfile::tempdir().unwrap();
    let (file, capture) = (folder.path().join("same.yaml"), folder.path().join("mesh.tar"));
    std::fs::write(&file, SAME).unwrap();
    let words: Vec<&str> = command
        .iter()
        .map(|word| match *word {
            "FILE" => file.to_str().unwrap(),
            "CAPTURE" => capture.to_str().unwrap(),
            "ENVOY" => ENVOY.as_str(),
            word => word,
        })
        .collect();
    let limits = ["--request-timeout", "400ms", "--proxy-timeout", "600ms", "--dump-via", "pod-proxy"];
    let all = [&words[..], &limits].concat();
    let said = if stays(command) { for_a_while(mock, &all) } else { live(mock, &all) };
    let folder = folder.path().to_str().unwrap().to_owned();
    Said { out: said.out.replace(&folder, ""), err: said.err.replace(&folder, ""), ..said }
}

static ENVOY: LazyLock<String> = LazyLock::new(crate::behaviour::envoy);

/// The output of a long-running command until all its first answers have arrived.
pub(super) fn for_a_while(mock: &Mock, words: &[&str]) -> Said {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(words)
        .current_dir(folder.path())
        .env("KUBECONFIG", mock.kubeconfig("shop"))
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Longer than the timeouts of requests and proxies.
    let end = Instant::now() + Duration::from_secs(5);
    while child.try_wait().unwrap().is_none() && Instant::now() < end {
        thread::sleep(Duration::from_millis(50));
    }
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    Said {
        // One that keeps running has not reported a problem.
        code: output.status.code().unwrap_or(0),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Words that report missing knowledge.
const SAYS: &[&str] = &[
    "not allowed",
    "cannot",
    "no config dump",
    "not read",
    "no answer",
    "did not answer",
    "could not",
    "nothing could be judged",
    "unknown",
    "does not accept",
];

/// Why an answer with a fault reads as the one without; `None` if it does not.
fn reads_as_clear(said: &Said, healthy: &Said) -> Option<String> {
    let lines =
        |said: &Said| -> BTreeSet<String> { said.out.lines().chain(said.err.lines()).map(str::to_lowercase).collect() };
    let before = lines(healthy);
    let named = lines(said).difference(&before).any(|line| SAYS.iter().any(|words| line.contains(words)));
    match said.code {
        3 if !named => Some("exit code 3 without a reason".to_owned()),
        2 if said.err.is_empty() => Some("exit code 2 without a reason".to_owned()),
        2 | 3 => None,
        code if !named => Some(format!("exit code {code}, and nothing is said to be missing")),
        _ => None,
    }
}

/// Faults that cannot matter: nothing depends on the version of Kubernetes, and an installation without a
/// ValidatingWebhookConfiguration is called broken whatever else is unknown.
fn matters(command: &[&str], path: &str) -> bool {
    match command {
        ["version", ..] => true,
        ["webhook", "status"] => path.contains("/deployments/") || path.contains("webhookconfigurations"),
        _ => path != "/version",
    }
}

fn no_answer_reads_as_an_all_clear_by(share: Share) {
    each_fault(COMMANDS, share);
}

in_part_and_in_full!(
    no_answer_reads_as_an_all_clear,
    no_answer_reads_as_an_all_clear_in_full,
    no_answer_reads_as_an_all_clear_by
);

#[test]
#[ignore = "needs an Envoy"]
fn no_answer_of_an_envoy_reads_as_an_all_clear() {
    each_fault(WITH_ENVOY, Share::Whole);
}

/// `doctor` and `dump` read files and a local istiod, not a cluster: only those can fail.
#[cfg(unix)]
fn no_answer_of_an_istiod_reads_as_an_all_clear_by(share: Share) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let script = |name: &str, then: &str| {
        let said = r#"{"clientVersion": {"version": "1.31.0"}}"#;
        std::fs::write(at(name), format!("#!/bin/sh\n[ \"$1\" = version ] && echo '{said}' && exit 0\n{then}\n"))
            .unwrap();
        std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        at(name)
    };
    let objects = at("objects.yaml");
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "cart-1", "namespace": "shop",
        "annotations": {"sidecar.istio.io/status": "{}"}}, "spec": {"containers": [{"name": "istio-proxy", "image": "p:1.31.0"}]}});
    std::fs::write(&objects, format!("{SAME}---\n{pod}\n")).unwrap();
    symlink(at("nowhere"), at("gone.yaml")).unwrap();
    std::fs::write(at("broken.yaml"), "a: [").unwrap();
    std::fs::write(at("nothing.yaml"), "").unwrap();
    let (ends, hangs) = (script("ends", "echo 'cannot go on' >&2; exit 7"), script("hangs", "sleep 600 & wait"));
    let mock = healthy().start();
    let commands = [&["doctor"][..], &["dump", "cart-1", "-n", "shop"], &["doctor", "-o", "json"]];
    let faults = [
        (&objects, &ends, "cannot go on"),
        (&objects, &hangs, "not ready within 1 s"),
        (&objects, &at("none"), "no such file"),
        (&at("missing.yaml"), &ends, "missing.yaml"),
        (&at("gone.yaml"), &ends, "gone.yaml"),
        (&at("broken.yaml"), &ends, "broken.yaml"),
        (&at("nothing.yaml"), &ends, "cannot go on"),
    ];
    for (command, (file, istiod, words)) in
        share.of(commands.iter().flat_map(|command| faults.map(|fault| (command, fault))))
    {
        let options = ["-f", file, "--istiod", istiod, "--istiod-timeout", "1"];
        let said = live(&mock, &[command, &options[..]].concat());
        let what = format!("{command:?} {options:?}: {} {}{}", said.code, said.out, said.err);
        assert!([2, 3].contains(&said.code) && said.out.is_empty(), "{what}");
        assert!(said.err.contains(words), "{words}: {what}");
    }
    assert!(mock.paths().is_empty(), "{:?}", mock.paths());
}

#[cfg(unix)]
in_part_and_in_full!(
    no_answer_of_an_istiod_reads_as_an_all_clear,
    no_answer_of_an_istiod_reads_as_an_all_clear_in_full,
    no_answer_of_an_istiod_reads_as_an_all_clear_by
);

fn each_fault(commands: &[&'static [&'static str]], share: Share) {
    let mut work: Vec<Work> = Vec::new();
    // What runs until it is stopped takes seconds for each fault.
    let tried = commands.iter().filter(|command| share == Share::Whole || !stays(command));
    for &command in share.of(tried) {
        let mock = healthy().start();
        let said = ask(&mock, command);
        let answered = [0, 1].contains(&said.code) || command == ["explain", "gateway/front"];
        assert!(answered, "{command:?}: {} {}{}", said.code, said.out, said.err);
        let paths: BTreeSet<String> = mock.paths().into_iter().filter(|path| matters(command, path)).collect();
        assert!(!paths.is_empty(), "{command:?}");
        let said = Arc::new(said);
        for path in paths {
            // A watch is restarted forever, so a hanging one is only late.
            let hangs = command[0] != "watch" || path.contains("proxy");
            work.push((command, Arc::clone(&said), path.clone(), Fault::Status(403, "forbidden by the test")));
            if hangs {
                work.push((command, Arc::clone(&said), path, Fault::Hang));
            }
        }
    }
    let work = Mutex::new(work);
    let faults = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                loop {
                    let Some((command, healthy_said, path, fault)) = work.lock().unwrap().pop() else { return };
                    let mock = healthy().fault(&path, fault.clone(), 99).start();
                    let said = ask(&mock, command);
                    if let Some(why) = reads_as_clear(&said, &healthy_said) {
                        let what = format!("{command:?} with {fault:?} on {path}: {why}\n{}{}", said.out, said.err);
                        faults.lock().unwrap().push(what);
                    }
                }
            });
        }
    });
    let mut faults = faults.into_inner().unwrap();
    faults.sort();
    assert!(faults.is_empty(), "{} answers read as an all-clear:\n{}", faults.len(), faults.join("\n"));
}
