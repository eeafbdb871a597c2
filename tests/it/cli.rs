//! The command line from the user's view: recorded runs, the demo against istiod's recordings, the JSON against its
//! schema.

use crate::support::{JsonSchema, testdata};
use kubectl_envoyfilter::load::dump::{Dump, Identity};
use kubectl_envoyfilter::proto::json;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Runs the real binary.
pub(crate) fn run<S: AsRef<std::ffi::OsStr>>(folder: &Path, arguments: &[S]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .env_remove("NO_COLOR")
        // No test may read a real cluster.
        .env("KUBECONFIG", "/nonexistent")
        .output()
        .unwrap()
}

fn demo(arguments: &[&str]) -> Json {
    let output = run(&root(), arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Every `testdata/cli/*.cmd` has the arguments of a run; `*.out` its output and exit code. `UPDATE=1` rewrites them:
/// read the diff.
#[test]
fn recorded_runs_print_what_they_did() {
    let folder = root().join("testdata/cli");
    let update = std::env::var_os("UPDATE").is_some();
    let mut commands: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "cmd"))
        .collect();
    commands.sort();
    assert!(commands.len() >= 10, "{} recorded runs", commands.len());
    let mut different = Vec::new();
    for path in commands {
        let text = fs::read_to_string(&path).unwrap();
        let output = run(&folder, &words(text.trim()));
        let mut now = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        if !errors.is_empty() {
            write!(now, "--- standard error\n{errors}").unwrap();
        }
        writeln!(now, "--- exit code {}", output.status.code().unwrap()).unwrap();
        let out = path.with_extension("out");
        if update {
            fs::write(&out, now).unwrap();
        } else if fs::read_to_string(&out).unwrap_or_default() != now {
            let was = fs::read_to_string(&out).unwrap_or_default();
            let diff = similar::TextDiff::from_lines(&was, &now);
            different.push(format!("{}\n{}", path.display(), diff.unified_diff()));
        }
    }
    assert!(different.is_empty(), "UPDATE=1 records anew\n{}", different.join("\n"));
}

/// The words of a command line; single quotes group words.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in text.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The demo's outcomes agree with testdata/demo/recorded.jsonl, filter by filter.
#[test]
fn the_demo_is_explained_as_istiod_recorded_it() {
    let explanation = demo(&["explain", "pod", "cart", "--demo", "-o", "json"]);
    let text = fs::read_to_string(root().join("testdata/demo/recorded.jsonl")).unwrap();
    let recorded: BTreeMap<String, Json> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .map(|case: Json| (case["id"].as_str().unwrap().to_owned(), case))
        .collect();
    let filters = explanation["proxies"][0]["filters"].as_array().unwrap();
    assert_eq!(filters.len(), 6);
    for filter in filters {
        let name = filter["name"].as_str().unwrap();
        let mut changed: Vec<String> = Vec::new();
        for (kind, resources) in recorded[name]["proxies"]["cart"].as_object().into_iter().flatten() {
            changed.extend(resources.as_object().unwrap().keys().map(|resource| format!("{kind} {resource}")));
        }
        let mut said: Vec<String> = Vec::new();
        for patch in filter["patches"].as_array().unwrap() {
            let applied = patch["outcome"] == "applied";
            assert_eq!(applied, !changed.is_empty(), "{name}");
            for place in patch["effects"].as_array().unwrap().iter().flat_map(|it| it["places"].as_array().unwrap()) {
                said.push(format!("{} {}", place["kind"].as_str().unwrap(), place["resource"].as_str().unwrap()));
            }
        }
        said.dedup();
        assert_eq!(said, changed, "{name}");
    }
    let filter = |name: &str| filters.iter().find(|filter| filter["name"] == name).unwrap();
    assert_eq!(filter("compress-answers")["patches"][0]["outcome"], "not-selected");
    assert_eq!(filter("catalog-connect-timeout")["patches"][0]["later"][0]["by"]["filter"], "shop/catalog-patience");
    let reason = &filter("limit-rate")["patches"][0]["reason"];
    assert_eq!(
        (&reason["code"], reason["help"].as_str().unwrap().contains("write 8080")),
        (&"listener-port".into(), true)
    );
    let reason = &filter("limit-bodies")["patches"][0]["reason"];
    assert!(reason["help"].as_str().unwrap().contains("envoy.filters.http.router"), "{reason}");
}

/// `render --demo` equals what istiod sends with all filters, resource by resource.
#[test]
fn the_demo_is_rendered_as_istiod_recorded_it() {
    let text = fs::read_to_string(root().join("testdata/demo/recorded.jsonl")).unwrap();
    let all: Json =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).find(|case: &Json| case["id"] == "all").unwrap();
    let output = run(&root(), &["render", "--demo"]);
    let (dump, problems) = Dump::from_text("rendered", String::from_utf8(output.stdout).unwrap());
    assert!(problems.is_empty(), "{problems:?}");
    let dump = dump.unwrap();
    let config = dump.config(&Identity::default()).unwrap();
    let (before, _) = kubectl_envoyfilter::demo::dump();
    assert_eq!(config.resources.len(), before.unwrap().len());
    let mut compared = 0;
    for (kind, resources) in all["proxies"]["cart"].as_object().unwrap() {
        for (name, resource) in resources.as_object().unwrap() {
            let now = config.resources.iter().find(|it| it.kind.as_str() == kind && it.name == *name).unwrap();
            let mut tree = json::parse(now.json.read()).unwrap();
            tree.remove("@type");
            let mut want = json::from_json(resource);
            want.remove("@type");
            assert_eq!(json::canonical(&tree), json::canonical(&want), "{name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 2);
}

/// A rendered dump is recognized as patched when it is explained again, and its patches are not applied twice.
#[test]
fn a_live_dump_is_recognized() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("live.json"), run(&root(), &["render", "--demo"]).stdout).unwrap();
    let filters = root().join("src/demo/filters.yaml");
    let filters = filters.to_str().unwrap();
    let output = run(folder.path(), &["explain", "pod", "cart", "--dump", "live.json", "-f", filters, "-o", "json"]);
    let explanation: Json = serde_json::from_slice(&output.stdout).unwrap();
    let proxy = &explanation["proxies"][0];
    for filter in proxy["filters"].as_array().unwrap() {
        for patch in filter["patches"].as_array().unwrap().iter().filter(|patch| patch["outcome"] == "applied") {
            assert_eq!(patch["inEffect"], "yes", "{}", filter["name"]);
        }
    }
    let chain = proxy["httpChains"][0]["filters"].as_array().unwrap();
    assert_eq!(chain.iter().filter(|filter| filter["name"] == "shop.stamp-requests").count(), 1);
    let demo = demo(&["explain", "pod", "cart", "--demo", "-o", "json"]);
    assert_eq!(demo["proxies"][0]["httpChains"], proxy["httpChains"]);
    assert!(!demo.to_string().contains(r#""inEffect":"yes""#));
}

#[test]
fn json_keeps_to_its_schema() {
    let folder = root().join("testdata/cli");
    let (whole, field) = (JsonSchema::new("explanation.json"), JsonSchema::new("field-explanation.json"));
    let mut checked = 0;
    for (validator, subject) in [
        (&whole, vec!["pod", "cart"]),
        (&whole, vec!["filter", "limit-rate"]),
        (&field, vec!["field", "cluster/outbound|7070||catalog.shop.svc.cluster.local/connect_timeout"]),
        (&field, vec!["field", "listener/virtualInbound"]),
    ] {
        for more in
            [vec!["--demo"], vec!["--demo", "-f", "troubles.yaml", "-v"], vec!["--demo", "--istio-version", "1.24"]]
        {
            let arguments = [vec!["explain"], subject.clone(), more, vec!["-o", "json"]].concat();
            let output = run(&folder, &arguments);
            if output.stdout.is_empty() {
                continue;
            }
            let json: Json = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(validator.errors(&json), "", "{arguments:?}");
            checked += 1;
        }
    }
    assert!(checked >= 10, "{checked}");
    let mut wrong = demo(&["explain", "pod", "cart", "--demo", "-o", "json"]);
    wrong["proxies"][0]["filters"][0]["patches"][0]["outcome"] = "fine".into();
    assert_ne!(whole.errors(&wrong), "", "the schema lets any outcome pass");
}

/// `| head` closes the pipe early: no panic and no message.
#[test]
fn a_closed_pipe_is_not_an_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(["render", "--demo"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn colours_come_only_when_asked_for() {
    let plain = run(&root(), &["explain", "pod", "cart", "--demo"]);
    assert!(!plain.stdout.contains(&0x1b));
    let coloured = run(&root(), &["explain", "pod", "cart", "--demo", "--color", "always"]);
    let text = String::from_utf8(coloured.stdout).unwrap();
    assert!(text.contains("\u{1b}[32m"));
    // Only the colors differ.
    let mut stripped = String::new();
    for (index, part) in text.split('\u{1b}').enumerate() {
        stripped.push_str(if index == 0 { part } else { part.split_once('m').unwrap().1 });
    }
    assert_eq!(stripped, String::from_utf8(plain.stdout).unwrap());
}

/// istiod looks for HTTP filters in the connection manager that has its own name for it, so a port that is not HTTP is not
/// the reason.
#[test]
fn explain_says_which_patch_renamed_the_connection_manager() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: renames, namespace: shop}
spec:
  workloadSelector: {labels: {app: cart}}
  configPatches:
  - applyTo: NETWORK_FILTER
    match: {context: SIDECAR_INBOUND, listener: {portNumber: 8080, filterChain: {filter: {name: envoy.filters.network.http_connection_manager}}}}
    patch: {operation: MERGE, value: {name: shop.manager}}
  - applyTo: HTTP_FILTER
    match: {context: SIDECAR_INBOUND, listener: {portNumber: 8080, filterChain: {filter: {name: shop.manager}}}}
    patch:
      operation: INSERT_FIRST
      value: {name: shop.buffer, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer, max_request_bytes: 9}}
"#;
    fs::write(folder.path().join("renames.yaml"), text).unwrap();
    let dump = testdata("reference/shop/base/cart.json.zst");
    let arguments =
        ["explain", "filter", "renames", "-f", "renames.yaml", "-o", "json", "--dump", dump.to_str().unwrap()];
    let output = run(folder.path(), &arguments);
    let said = String::from_utf8(output.stdout).unwrap();
    let help = "only in envoy.filters.network.http_connection_manager: write that name, and do not rename it in \
                configPatches[0] of shop/renames";
    assert!(said.contains(help) && !said.contains("not HTTP to Istio"), "{said}");
}
