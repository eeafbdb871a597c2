//! Bad input and faults give a clear message and an exit code, and leave nothing behind.

use super::{envoy, said};
use std::fs;

fn with_file(text: &str, arguments: &[&str]) -> super::Said {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.test.yaml");
    fs::write(&file, text).unwrap();
    said(&[&["test", file.to_str().unwrap()], arguments].concat())
}

/// `/bin/true` as the Envoy of tests that start none.
const NONE: &[&str] = &["--envoy", "/bin/true"];

#[test]
fn mistakes_in_a_test_file_have_a_place() {
    let text = "kind: EnvoyFilterTest\nproxy: {demo: true}\ntests:\n- name: a\n  request: {inbound: 80800, pth: /}\n  expect: {statuss: 200}\n";
    let said = with_file(text, NONE);
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    for words in
        ["80800 is not a port", "unknown key `pth`", "did you mean `path`?", "unknown key `statuss`", "a.test.yaml:5:"]
    {
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }
    // The line, with the faulty part marked.
    let shown = "5 │   request: {inbound: 80800, pth: /}\n  │                      ^^^^^\n";
    assert!(said.err.contains(shown), "{}", said.err);
}

#[test]
fn a_file_without_tests_or_of_another_kind_is_reported() {
    for (text, words) in [
        ("kind: Pod\n", "`kind: EnvoyFilterTest` is missing"),
        ("kind: EnvoyFilterTest\nproxy: {demo: true}\ntests: []\n", "the file has no tests"),
        (
            "kind: EnvoyFilterTest\nproxy: {demo: true}\nstubs: [{cart: {http: {status: 500}}}]\ntests: []\n",
            "expected a mapping",
        ),
        ("kind: EnvoyFilterTest\nproxy: {demo: true}\nstubs: {cart: {http: 503}}\ntests: []\n", "expected a mapping"),
        (
            "kind: EnvoyFilterTest\nproxy: {demo: true}\ntests:\n- name: a\n  request: {inbound: 80}\n",
            "expects nothing",
        ),
        (
            "kind: EnvoyFilterTest\nproxy: {demo: true, dump: x}\ntests:\n- name: a\n  request: {inbound: 80}\n  expect: {status: 200}\n",
            "one of dump, demo and pod",
        ),
        (
            "kind: EnvoyFilterTest\nproxy: {capture: x.tgz}\ntests:\n- name: a\n  request: {inbound: 80}\n  expect: {status: 200}\n",
            "`capture` needs `pod`",
        ),
        (
            "kind: EnvoyFilterTest\nproxy: {demo: true}\ntests:\n- name: a\n  request: {inbound: 80, body: {repeat: ab, times: 33554433}}\n  expect: {status: 200}\n",
            "the repeated text is too long",
        ),
        ("{", "a.test.yaml"),
    ] {
        let said = with_file(text, NONE);
        assert_eq!(said.code, 2, "{text}: {}{}", said.out, said.err);
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }
}

#[test]
fn invalid_requests_are_rejected() {
    for (arguments, words) in [
        (vec!["try", "--demo", "cart"], "neither a path"),
        (vec!["try", "--demo", "/", "/"], "only one path or URL is allowed"),
        (vec!["try", "--demo", "ftp://x/"], "not a URL of http"),
        (vec!["try", "--demo", "--from", "nowhere", "/"], "neither an IP address nor a SPIFFE identity"),
        (vec!["try", "--demo", "--grpc", "x", "/"], "is not SERVICE/METHOD"),
        (vec!["try", "--demo", "-X", "A B", "/"], "is not a method"),
        (vec!["try", "--demo", "--without", "nobody", "/"], "no EnvoyFilter nobody exists"),
        (vec!["try"], "no proxy is given"),
    ] {
        let said = said(&[&arguments[..], NONE].concat());
        assert_eq!(said.code, 2, "{arguments:?}: {}{}", said.out, said.err);
        assert!(said.err.contains(words), "{arguments:?}: {}", said.err);
    }
}

/// A name that a pod's search domains complete reaches the listener of its service; a name without an address says so.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn names_are_resolved_as_in_a_pod() {
    let envoy = envoy();
    let ask = |host: &str| said(&["try", "--demo", "--envoy", &envoy, "--outbound", host, "--tcp", "hello"]);
    for host in ["ledger-db.pay:5432", "ledger-db.pay.svc:5432", "ledger-db.pay.svc.cluster.local:5432", "cart:9000"] {
        let said = ask(host);
        let service = host.split([':', '.']).next().unwrap();
        assert!(
            said.out.contains(&format!("cluster        outbound|{}||{service}.", &host[host.len() - 4..])),
            "{host}: {}",
            said.out
        );
        assert!(!said.out.contains("host without an address"), "{}", said.out);
    }
    // Of another namespace: no search domain completes it.
    let said = ask("ledger-db:5432");
    assert!(said.out.contains("cluster        PassthroughCluster"), "{}", said.out);
    let note = "host without an address in the config dump, called at one that no service has: ledger-db:5432";
    assert!(said.out.contains(note), "{}", said.out);
}

/// Envoy rejects the cluster: the size of such a table is a prime number.
const TABLE: &str = "\
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: sticky-ledger, namespace: istio-system}
spec:
  configPatches:
  - applyTo: CLUSTER
    match: {context: SIDECAR_OUTBOUND, cluster: {service: ledger.pay.svc.cluster.local}}
    patch:
      operation: MERGE
      value: {lb_policy: MAGLEV, maglev_lb_config: {table_size: 65536}}
";

#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn faults_are_reported_and_end_the_run() {
    let envoy = envoy();
    let with = |arguments: &[&str]| said(&[&["try", "--demo", "--envoy", &envoy], arguments].concat());
    let stub = with(&["--stub", "nobody=200", "/"]);
    assert!(stub.code == 2 && stub.err.contains("no cluster matches the stub `nobody`"), "{}", stub.err);
    let reset = with(&["--stub", "upstream=reset", "/"]);
    assert!(
        reset.code == 0 && reset.out.contains("503") && reset.out.contains("UC: the upstream closed"),
        "{}",
        reset.out
    );
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("table.yaml");
    std::fs::write(&table, TABLE).unwrap();
    let refused = with(&["-f", table.to_str().unwrap(), "--outbound", "catalog.shop:7070", "/"]);
    assert!(
        refused.code == 1 && refused.err.contains("Envoy rejects the configuration"),
        "{}{}",
        refused.out,
        refused.err
    );
    for (request, words) in [
        ("gateway: 12345", "no listener accepts requests for gateway port 12345"),
        ("waypoint: \"cart:80\"", "no listener accepts requests for waypoint, service cart:80"),
    ] {
        let text = format!(
            "kind: EnvoyFilterTest\nproxy: {{demo: true}}\ntests:\n- name: a\n  request: {{{request}}}\n  expect: {{status: 200}}\n"
        );
        let met = with_file(&text, &["--envoy", &envoy]);
        assert!(met.code == 1 && met.out.contains(words), "{}{}", met.out, met.err);
    }
    let large = "kind: EnvoyFilterTest\nproxy: {demo: true}\ntests:\n- name: large\n  request: {inbound: 8080, \
                 headers: {x-large: {repeat: x, times: 1048576}}}\n  expect: {status: 431}\n";
    let large = with_file(large, &["--envoy", &envoy]);
    assert_eq!(large.code, 0, "{}{}", large.out, large.err);
    let body = with(&["--padding", "1073741824", "--inbound", "8080", "--max-time", "120", "/"]);
    assert!(body.code == 0 && body.out.contains("(1073741824 bytes)"), "{}{}", body.out, body.err);
    let direct = with(&["-f", "testdata/behaviour/rbac-source-ip/good.yaml", "--inbound", "8080", "/"]);
    assert!(direct.out.contains("direct_remote_ip, read as source_ip"), "{}{}", direct.out, direct.err);
    let none = said(&["try", "--demo", "--envoy", "/bin/true", "/"]);
    assert_eq!(none.code, 3, "{}", none.err);
    let none = said(&["try", "--demo", "--envoy", "/nonexistent", "/"]);
    assert!(none.code == 2 && none.err.contains("no such file"), "{}", none.err);
}

/// A program that replaces Envoy.
#[cfg(target_os = "linux")]
fn script(folder: &std::path::Path, name: &str, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Files with the same proxy and filters share an Envoy, including its tokens; others do not. If an Envoy dies, its
/// file fails, and the next file gets a new one.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn files_with_one_proxy_and_the_same_filters_share_an_envoy() {
    let folder = tempfile::tempdir().unwrap();
    let (starts, path) = (folder.path().join("starts"), |name: &str| folder.path().join(name));
    let counting = format!("echo started >> {}\nexec {} \"$@\"", starts.display(), envoy());
    let counting = script(folder.path(), "envoy", &counting);
    let limit = "testdata/behaviour/local-rate-limit/good.yaml";
    fs::copy(crate::support::testdata("behaviour/local-rate-limit/good.yaml"), path("limit.yaml")).unwrap();
    fs::copy(crate::support::testdata("behaviour/lua-headers/good.yaml"), path("lua.yaml")).unwrap();
    fs::create_dir(path("deep")).unwrap();
    let case = fs::read_to_string(crate::support::testdata("behaviour/local-rate-limit/case.test.yaml")).unwrap();
    assert!(case.contains("proxy: {demo: true}"), "{limit} is for the demo");
    let file = |name: &str, filters: &str, status: &str| {
        let text = format!(
            "kind: EnvoyFilterTest\nproxy: {{demo: true}}\nfilters: [{filters}]\ntests:\n- name: {name}\n  \
             request: {{inbound: 8080, path: /}}\n  repeat: 50\n  expect: {{status: {status}}}\n"
        );
        fs::write(path(name), text).unwrap();
    };
    // The second file finds the bucket empty.
    file("a.test.yaml", "limit.yaml", "{'200': 3, '429': 47}");
    file("b.test.yaml", "lua.yaml", "200");
    file("deep/c.test.yaml", "../limit.yaml", "{'429': 50}");
    let paths = ["a.test.yaml", "b.test.yaml", "deep/c.test.yaml"].map(|name| path(name).to_str().unwrap().to_owned());
    let answer = said(&["test", &paths[0], &paths[1], &paths[2], "--envoy", &counting]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    let order: Vec<usize> = paths.iter().map(|path| answer.out.find(path.as_str()).unwrap()).collect();
    assert!(order.is_sorted(), "{}", answer.out);
    assert_eq!(fs::read_to_string(&starts).unwrap().lines().count(), 2, "{}", answer.out);
    // An unknown stub is an error of one file.
    let text = fs::read_to_string(path("deep/c.test.yaml")).unwrap();
    fs::write(path("deep/c.test.yaml"), text.replace("tests:\n", "stubs: {nobody: {http: {status: 200}}}\ntests:\n"))
        .unwrap();
    let answer = said(&["test", &paths[0], &paths[2], "--envoy", &counting]);
    assert!(answer.out.contains("1 passed") && answer.out.contains("1 file not run"), "{}{}", answer.out, answer.err);
    assert!(answer.out.contains("no cluster matches the stub `nobody`"), "{}", answer.out);
}

/// A test whose upstream takes its time.
const SLOW: &str = "kind: EnvoyFilterTest\nproxy: {demo: true}\ntests:\n- name: slow\n  request: {inbound: 8080, path: /, timeout: 60s}\n  \
                    stubs: {upstream: {http: {delay: 50s}}}\n  expect: {status: 200}\n";

#[test]
#[cfg(target_os = "linux")]
#[ignore = "waits for time limits: cargo test --test it in_full -- --ignored"]
fn an_envoy_that_dies_or_hangs_at_start_up_is_reported_in_full() {
    let folder = tempfile::tempdir().unwrap();
    let dies = script(folder.path(), "dies", "echo 'cannot go on' >&2; exit 7");
    let died = said(&["try", "--demo", "--envoy", &dies, "/"]);
    assert_eq!(died.code, 3, "{}", died.err);
    assert!(died.err.contains("Envoy ended with exit code 7; its last words: cannot go on"), "{}", died.err);
    let hangs = script(folder.path(), "hangs", "exec sleep 600");
    let began = std::time::Instant::now();
    let hung = said(&["try", "--demo", "--envoy", &hangs, "/"]);
    assert_eq!(hung.code, 3, "{}", hung.err);
    assert!(hung.err.contains("Envoy did not start within 20 s"), "{}", hung.err);
    assert!(began.elapsed().as_secs() < 60);
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn an_envoy_that_dies_during_a_request_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{} \"$@\" &\nenvoy=$!\n(sleep 4; kill -KILL $envoy) &\nwait $envoy", envoy());
    let dies = script(folder.path(), "dies", &text);
    let died = with_file(SLOW, &["--envoy", &dies]);
    assert!(died.code == 3 || died.code == 1, "{} {}{}", died.code, died.out, died.err);
    assert!(died.out.contains("not run: Envoy ended with"), "{}{}", died.out, died.err);
}

/// An upstream that is slower than the client's timeout is not a success, and the command ends.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn a_missing_answer_is_reported() {
    let text = SLOW.replace("timeout: 60s", "timeout: 1s");
    let late = with_file(&text, &["--envoy", &envoy()]);
    assert_eq!(late.code, 1, "{}{}", late.out, late.err);
    assert!(late.out.contains("status: expected \"200\", got absent"), "{}", late.out);
}

/// Killed with SIGKILL during a request: both Envoys and their folders are removed.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn nothing_outlives_a_killed_run() {
    use crate::support::until;
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let (file, temporary) = (folder.path().join("a.test.yaml"), folder.path().join("tmp"));
    fs::create_dir(&temporary).unwrap();
    fs::write(
        &file,
        SLOW.replace("expect: {status: 200}", "expect: {status: 200}\n  without-filters: {expect: {status: 200}}"),
    )
    .unwrap();
    // A unique name, to find its processes.
    let binary = folder.path().join("envoy-of-this-test");
    std::os::unix::fs::symlink(envoy(), &binary).unwrap();
    let running = || {
        let name = binary.to_str().unwrap();
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let of_envoy = |line: Vec<u8>| {
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.starts_with(name) && line.contains("boot.json")
        };
        entries.filter(|entry| fs::read(entry.path().join("cmdline")).is_ok_and(of_envoy)).count()
    };
    let left = || fs::read_dir(&temporary).unwrap().count();
    let mut run = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(["test", file.to_str().unwrap(), "--envoy", binary.to_str().unwrap()])
        .env("TMPDIR", &temporary)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let state = || format!("{} Envoys, {} folders", running(), left());
    until(|| running() == 2, state);
    assert_eq!(left(), 2);
    std::thread::sleep(std::time::Duration::from_secs(1));
    run.kill().unwrap();
    run.wait().unwrap();
    until(|| running() == 0 && left() == 0, state);
}
