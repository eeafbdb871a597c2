//! Bad input and faults: a clear word and an exit code; nothing is left behind.

use super::{envoy, said};
use std::fs;

fn with_file(text: &str, arguments: &[&str]) -> super::Said {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.test.yaml");
    fs::write(&file, text).unwrap();
    said(&[&["test", file.to_str().unwrap()], arguments].concat())
}

/// `/bin/true` stands for an Envoy where none is started.
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
}

#[test]
fn a_file_without_tests_or_of_another_kind_is_told() {
    for (text, words) in [
        ("kind: Pod\n", "`kind: EnvoyFilterTest` is missing"),
        ("kind: EnvoyFilterTest\nproxy: {demo: true}\ntests: []\n", "no tests are given"),
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
            "which pod of the capture is meant is missing",
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
fn requests_that_make_no_sense_are_refused() {
    for (arguments, words) in [
        (vec!["try", "--demo", "cart"], "neither a path"),
        (vec!["try", "--demo", "/", "/"], "one path or URL is enough"),
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

#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn faults_are_told_and_end_the_run() {
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
    let refused = with(&["-f", "testdata/rules/refused-by-envoy/bad.yaml", "--outbound", "catalog.shop:7070", "/"]);
    assert!(
        refused.code == 1 && refused.err.contains("Envoy rejects the configuration"),
        "{}{}",
        refused.out,
        refused.err
    );
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
