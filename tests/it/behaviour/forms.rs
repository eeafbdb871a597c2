//! Every output format of `try` and `test`, and the options of `test` for writing tests.

use super::{Said, envoy, said};
use crate::support::{JsonSchema, testdata};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// One test that passes and one that fails, with names that are special characters in some format.
const SUITE: &str = "kind: EnvoyFilterTest
proxy: {demo: true}
filters: [FILTER]
tests:
- name: it passes
  request: {inbound: 8080, path: /}
  expect: {status: 200}
- name: 'a <b> & \"c\" | # %41 ::error'
  request: {inbound: 8080, path: /}
  expect: {status: 418, headers: {x-stamped: 'no'}}
";

fn suite(folder: &Path) -> String {
    let filter = testdata("behaviour/lua-headers/good.yaml");
    let file = folder.join("a.test.yaml");
    fs::write(&file, SUITE.replace("FILTER", filter.to_str().unwrap())).unwrap();
    file.to_str().unwrap().to_owned()
}

fn tests(file: &str, more: &[&str]) -> Said {
    said(&[&["test", file, "--envoy", &envoy()], more].concat())
}

#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn each_form_of_test_reports_the_same_failure() {
    let folder = tempfile::tempdir().unwrap();
    let file = suite(folder.path());
    let form = |form: &str| {
        let said = tests(&file, &["-o", form]);
        assert_eq!(said.code, 1, "{form}: {}{}", said.out, said.err);
        assert!(!said.out.contains('\u{1b}'), "{form}");
        said.out
    };
    let human = form("human");
    assert!(human.contains("✓ it passes") && human.contains("1 passed, 1 failed"), "{human}");
    assert!(human.contains("a.test.yaml:10:20 status: expected \"418\", got \"200\""), "{human}");
    assert!(human.contains("coverage "), "{human}");
    let json: serde_json::Value = serde_json::from_str(&form("json")).unwrap();
    assert_eq!(JsonSchema::new("test.json").errors(&json), "");
    assert_eq!((&json["passed"], &json["failed"]), (&1.into(), &1.into()));
    assert_eq!(json["files"][0]["tests"][1]["failures"][0]["line"], 10);
    assert_eq!(
        (&json["files"][0]["scope"]["origin"]["type"], &json["files"][0]["scope"]["filters"]),
        (&"demo".into(), &1.into())
    );
    let junit = form("junit");
    assert!(
        junit.contains("<property name=\"scope\" value=\"the demo mesh; 1 EnvoyFilter; 1 of 1 config dump read\""),
        "{junit}"
    );
    assert!(junit.contains("tests=\"2\"") && junit.contains("failures=\"1\" errors=\"0\""), "{junit}");
    assert!(junit.contains("name=\"a &lt;b&gt; &amp; "), "{junit}");
    assert_eq!(junit.matches("<testcase").count(), 2, "{junit}");
    assert_eq!(junit.matches('<').count(), junit.matches('>').count(), "{junit}");
    let tap = form("tap");
    assert!(tap.starts_with("TAP version 13\n1..2\nok 1 - "), "{tap}");
    assert!(tap.contains("\nnot ok 2 - ") && tap.contains("| \\# %41"), "{tap}");
    assert!(tap.contains("\n# scope: the demo mesh; "), "{tap}");
    let github = form("github");
    assert!(github.contains("\n::notice::scope: the demo mesh; "), "{github}");
    let error = github.lines().find(|line| line.starts_with("::error ")).unwrap();
    assert!(
        error.contains("line=10,col=") && error.contains("title=a <b> & \"c\" | # %2541 %3A%3Aerror::"),
        "{github}"
    );
    let markdown = form("markdown");
    assert!(markdown.starts_with("### EnvoyFilter tests: 1 passed, 1 failed\n"), "{markdown}");
    assert!(markdown.contains("a &lt;b> & \"c\" \\| # %41"), "{markdown}");
    assert!(markdown.contains("\nScope: the demo mesh; "), "{markdown}");
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(markdown.lines().filter(|line| line.starts_with('|')).all(|line| columns(line) == 3), "{markdown}");
}

#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn a_name_chooses_tests_and_coverage_can_be_a_condition() {
    let folder = tempfile::tempdir().unwrap();
    let file = suite(folder.path());
    let one = tests(&file, &["--filter", "passes"]);
    assert!(one.code == 0 && one.out.contains("1 passed, 0 failed"), "{}{}", one.out, one.err);
    let none = tests(&file, &["--filter", "nobody"]);
    assert!(none.code == 2 && none.err.contains("no test was run"), "{}{}", none.out, none.err);
    let low = tests(&file, &["--filter", "passes", "--fail-under", "100"]);
    assert!(low.code == 1 && low.out.contains("coverage is below 100 %"), "{}{}", low.out, low.err);
    let enough = tests(&file, &["--filter", "passes", "--fail-under", "1"]);
    assert_eq!(enough.code, 0, "{}{}", enough.out, enough.err);
}

/// The file from `--init` can be run unchanged, and reaches every patch.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn the_first_test_file_runs_and_meets_each_patch() {
    let folder = tempfile::tempdir().unwrap();
    for case in ["lua-headers", "ext-authz-http", "tcp", "outbound", "field-added-chain"] {
        let filter = testdata("behaviour").join(case).join("good.yaml");
        let made = said(&["test", "--init", filter.to_str().unwrap()]);
        assert_eq!(made.code, 0, "{case}: {}", made.err);
        let file = folder.path().join(format!("{case}.test.yaml"));
        fs::write(&file, &made.out).unwrap();
        let run = tests(file.to_str().unwrap(), &["-o", "json"]);
        assert_eq!(run.code, 0, "{case}: {}\n{}{}", made.out, run.out, run.err);
        let json: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(json["coverage"]["patches"]["missing"], serde_json::json!([]), "{case}: {}", made.out);
    }
}

/// `--watch` runs again when a filter changes, and when a folder gets another test file.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn a_changed_filter_runs_again() {
    let folder = tempfile::tempdir().unwrap();
    let root = testdata("behaviour/lua-headers");
    for (from, to) in [("bad.yaml", "good.yaml"), ("case.test.yaml", "case.test.yaml")] {
        fs::copy(root.join(from), folder.path().join(to)).unwrap();
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(["test", "--watch", "--envoy", &envoy()])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut err = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let first = out.find(|line| line.contains(" passed, ")).unwrap();
    let watching = err.find(|line| line.starts_with("watching ")).unwrap();
    fs::copy(root.join("good.yaml"), folder.path().join("good.yaml")).unwrap();
    let second = out.find(|line| line.contains(" passed, ")).unwrap();
    err.find(|line| line.starts_with("watching ")).unwrap();
    fs::copy(root.join("case.test.yaml"), folder.path().join("other.test.yaml")).unwrap();
    let third = out.find(|line| line.contains(" passed, ")).unwrap();
    let _ = child.kill();
    let _ = child.wait();
    assert!(first.contains("1 failed") && second.contains("2 passed, 0 failed"), "{first} {second}");
    assert!(third.contains("4 passed, 0 failed"), "{third}");
    assert!(watching.contains("2 files"), "{watching}");
    let missing = folder.path().join("missing.test.yaml");
    let said = tests(missing.to_str().unwrap(), &["--watch"]);
    assert!(said.code == 2 && said.err.contains("cannot read") && !said.err.contains("watching"), "{}", said.err);
}

/// The page draws the path, and escapes everything from filters and upstreams.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn the_page_draws_the_path_and_escapes_what_others_say() {
    let folder = tempfile::tempdir().unwrap();
    let body = folder.path().join("body");
    fs::write(&body, "<script>alert(1)</script>").unwrap();
    let stub = format!("upstream={}", body.display());
    let filter = "testdata/behaviour/lua-headers/good.yaml";
    let page = said(&[
        "try",
        "--demo",
        "-f",
        filter,
        "--envoy",
        &envoy(),
        "--inbound",
        "8080",
        "--stub",
        &stub,
        "-H",
        "user-agent: <img src=x onerror=alert(1)>",
        "-o",
        "html",
        "/?q=<script>",
    ]);
    assert_eq!(page.code, 0, "{}", page.err);
    let page = page.out;
    assert!(page.contains("Scope: the demo mesh; 1 EnvoyFilter; 1 of 1 config dump read"), "{page}");
    assert!(page.contains("<svg ") && page.contains("</svg>"), "{page}");
    for name in ["virtualInbound", "inbound|http|80", "inbound|8080||", "shop.lua"] {
        assert!(page.contains(name), "{name}: {page}");
    }
    assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
    assert!(page.contains("&lt;script&gt;"), "{page}");
    assert!(
        !page.contains("http://") || page.contains("http://www.w3.org/2000/svg"),
        "nothing is loaded from elsewhere"
    );
}

/// A gRPC call that a filter refuses has HTTP status 200: the answer names the gRPC status.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn a_refused_grpc_call_is_no_200() {
    let folder = tempfile::tempdir().unwrap();
    let filter = folder.path().join("deny.yaml");
    let deny = fs::read_to_string(testdata("behaviour/rbac/good.yaml")).unwrap();
    fs::write(&filter, deny).unwrap();
    let envoy = envoy();
    let call = |more: &[&str]| {
        let request = ["try", "--demo", "--envoy", &envoy, "--grpc", "shop.Catalog/Get"];
        said(&[&request[..], more].concat())
    };
    // The stub answers gRPC on a gRPC port, and cannot on a port of HTTP/1.1.
    let calls = call(&["--outbound", "catalog:7070"]);
    assert!(calls.out.contains("status   200, grpc-status 0 OK ("), "{}{}", calls.out, calls.err);
    assert!(calls.out.contains("body     binary (5 bytes)"), "{}", calls.out);
    let plain = call(&["--inbound", "8080"]);
    assert!(plain.out.contains("status   200, no grpc-status ("), "{}", plain.out);
    let denied = call(&["--inbound", "8080", "-f", filter.to_str().unwrap(), "-o", "json"]);
    let json: serde_json::Value = serde_json::from_str(&denied.out).unwrap();
    assert_eq!(JsonSchema::new("try.json").errors(&json), "");
    assert_eq!(json["with"]["client"]["status"], 200, "{}", denied.out);
    assert_eq!(json["with"]["client"]["grpcStatus"], 7, "{}", denied.out);
    assert_eq!(json["with"]["statuses"], serde_json::json!({"200, grpc-status 7 PERMISSION_DENIED": 1}));
}

/// Header fields come from a file, too; one of 1 MB is answered by Envoy with 431.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn header_fields_come_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("headers");
    let from = format!("@{}", file.display());
    let envoy = envoy();
    let call = || said(&["try", "--demo", "--envoy", &envoy, "--inbound", "8080", "-H", &from, "/"]);
    fs::write(&file, "x-one: 1\n\nx-two: b: c\r\n").unwrap();
    let two = call();
    assert!(two.out.contains("\n  x-one: 1\n") && two.out.contains("\n  x-two: b: c\n"), "{}{}", two.out, two.err);
    fs::write(&file, format!("x-large: {}\n", "x".repeat(1 << 20))).unwrap();
    let large = call();
    assert!(large.out.contains("status   431 (without the EnvoyFilters: 431)"), "{}{}", large.out, large.err);
    fs::write(&file, "x-one: 1\nroot:x:0:0\nhunter2\n").unwrap();
    let wrong = call();
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("line 3 of") && !wrong.err.contains("hunter2"), "{}", wrong.err);
}
