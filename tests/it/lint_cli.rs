//! `lint` and `rules` on the command line: output formats, exit codes, suppressions, baseline, configuration, fixes.
//!
//! Only EF301 and the rules of the linter itself (EF9) are selected, so that new rules change nothing here. `UPDATE=1`
//! writes the snapshots of testdata/cli/lint.

use crate::support::{JsonSchema, testdata};
use clap::Parser;
use kubectl_envoyfilter::cli::{Cli, Surroundings};
use kubectl_envoyfilter::report::style::Terminal;
use serde_json::Value;
use std::fs;

/// The result of a command line.
pub(crate) struct Said {
    pub(crate) code: u8,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn run(arguments: &[&str]) -> Said {
    let cli = Cli::try_parse_from(["kubectl-envoyfilter"].iter().chain(arguments)).unwrap();
    let around = Surroundings { out: Terminal::default(), err: Terminal::default(), progress: false };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = cli.run(around, &mut out, &mut err).unwrap();
    Said { code: exit.code(), out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap() }
}

const FILTERS: &str = "testdata/cli/lint/filters.yaml";

/// Lints the example (integration tests run in the package's folder).
fn lint(more: &[&str]) -> Said {
    run(&[&["lint", FILTERS, "--select", "EF301,EF9"], more].concat())
}

fn expect(name: &str, have: &str) {
    let path = testdata("cli/lint").join(name);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, have).unwrap();
    }
    let want = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(have, want, "{}: UPDATE=1 cargo test --test it lint_cli, and read the difference", path.display());
}

#[test]
fn every_format_has_the_same_content() {
    for form in ["human", "json", "sarif", "junit", "github", "gitlab", "markdown"] {
        let said = lint(&["-o", form]);
        assert_eq!(said.code, 1, "{form}: {}", said.err);
        assert_eq!(said.err, "", "{form}");
        let text = said.out.replace(env!("CARGO_PKG_VERSION"), "VERSION");
        expect(&format!("filters.{form}.out"), &text);
        assert_eq!(lint(&["-o", form]).out, said.out, "{form}: same input, same bytes");
    }
    let stat = lint(&["--stat"]);
    assert!(stat.out.starts_with("     1  EF301  operation-without-effect\n"), "{}", stat.out);
    assert_eq!(lint(&["--stat", "--fail-on", "never"]).code, 0);
    assert_eq!(lint(&["--stat", "--fail-on", "info"]).code, 1);
    assert_eq!(run(&["lint", FILTERS, "--select", "EF901"]).code, 0, "a warning is below --fail-on");
    assert_eq!(run(&["lint", FILTERS, "--select", "EF901", "--fail-on", "warning"]).code, 0, "EF301 did not run");
    assert_eq!(lint(&["--ignore", "EF301", "--fail-on", "warning"]).code, 0, "EF301 did not run");
}

#[test]
fn json_keeps_its_schema() {
    let validator = JsonSchema::new("lint.json");
    let said = lint(&["-o", "json"]);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(validator.errors(&json), "");
    assert_eq!(json["findings"].as_array().unwrap().len(), 2);
    assert_eq!(json["summary"]["suppressed"], 1);
}

#[test]
#[ignore = "half a minute: cargo test --test it in_full -- --ignored"]
fn json_of_every_case_keeps_its_schema_in_full() {
    let validator = JsonSchema::new("lint.json");
    let every = run(&["lint", "testdata/rules", "-o", "json"]);
    let json: Value = serde_json::from_str(&every.out).unwrap();
    assert_eq!(validator.errors(&json), "");
}

/// A report must state its scope, and what is unknown, even without the command.
#[test]
fn every_format_states_the_scope() {
    for form in ["sarif", "junit", "github", "gitlab", "markdown"] {
        let said = lint(&["-o", form]);
        assert!(said.out.contains("files; 1 EnvoyFilter; no config dump"), "{form}: {}", said.out);
        assert!(said.out.contains("not checked: no config dump"), "{form}: {}", said.out);
        let demo = run(&["lint", "--demo", "-o", form]);
        assert!(demo.out.contains("the demo mesh; "), "{form}: {}", demo.out);
    }
    for form in ["markdown", "html"] {
        let said = run(&["audit", "-f", FILTERS, "--from", "1.30", "--to", "1.31", "-o", form]);
        assert!(said.out.contains("Scope: files; 1 EnvoyFilter"), "{form}: {}", said.out);
    }
}

#[test]
fn sarif_has_the_structure_that_readers_ask_for() {
    let log: Value = serde_json::from_str(&lint(&["-o", "sarif"]).out).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for result in run["results"].as_array().unwrap() {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["help"]["text"].as_str().unwrap().contains("How to fix"));
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], FILTERS);
        assert!(place["region"]["startLine"].as_u64().unwrap() > 0);
        assert!(place["region"]["endColumn"].as_u64().unwrap() > 0);
        for fix in result["fixes"].as_array().into_iter().flatten() {
            let change = &fix["artifactChanges"][0];
            assert!(change["replacements"][0]["deletedRegion"]["startLine"].is_u64());
        }
    }
    assert!(run["results"].as_array().unwrap().iter().any(|result| result["fixes"].is_array()));
}

#[test]
fn unreadable_inputs_are_reported_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.yaml");
    for form in ["human", "json", "sarif", "junit", "github", "gitlab", "markdown"] {
        let said = lint(&[missing.to_str().unwrap(), "-o", form]);
        assert_eq!(said.code, 3, "{form}");
        assert!(said.err.contains("cannot read"), "{form}: {}", said.err);
    }
    assert!(lint(&[missing.to_str().unwrap()]).out.contains("1 thing could not be read"));
    assert_eq!(run(&["lint"]).code, 2);
    let usage = run(&["lint", FILTERS, "--select", "operation-without-efect"]);
    assert_eq!(usage.code, 2);
    assert!(usage.err.contains("the nearest is EF301"), "{}", usage.err);
}

/// What a broken Service or mesh ConfigMap contains is missing in the answer, so the file is reported.
#[test]
fn unreadable_documents_of_other_kinds_are_counted() {
    let broken = "testdata/cli/lint/unread/service.yaml";
    for form in ["human", "json", "sarif", "junit", "github"] {
        let said = lint(&[broken, "-o", form, "--fail-on", "never"]);
        assert_eq!(said.code, 3, "{form}: {}", said.out);
        assert!(said.err.contains("service.yaml:3:"), "{form}: {}", said.err);
        let word = if form == "human" { "1 thing could not be read" } else { broken };
        assert!(said.out.contains(word), "{form} does not say which file: {}", said.out);
    }
    let folder = lint(&["testdata/cli/lint/unread", "--fail-on", "never"]);
    assert_eq!(folder.code, 0, "a folder may hold what is no business of this tool: {}", folder.out);
    let note = "cannot read 2 documents without an EnvoyFilter, first testdata/cli/lint/unread/service.yaml:3:";
    // Long lines are wrapped.
    let said = folder.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(note), "{}", folder.out);
    let other = lint(&["testdata/cli/lint/unread/note.yaml", "--fail-on", "never"]);
    assert!(other.err.contains("this is not a Kubernetes object"), "{}", other.err);
}

/// A name with a line break must not split a line or become a command for the system that reads it.
#[test]
fn file_names_cannot_break_out_of_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a\n::error::b\u{1b}[2J.yaml");
    fs::write(&file, fs::read_to_string(FILTERS).unwrap()).unwrap();
    for form in ["human", "github", "junit", "markdown"] {
        let said = run(&["lint", file.to_str().unwrap(), "--select", "EF301", "-o", form]);
        assert_eq!(said.code, 1, "{form}: {}", said.err);
        assert!(!said.out.contains('\u{1b}'), "{form}: {}", said.out);
        assert!(!said.out.lines().any(|line| line.starts_with("::error::b")), "{form}: {}", said.out);
    }
}

/// The list of rules fits common terminal widths.
#[test]
fn the_list_of_rules_fits_eighty_columns() {
    let cli = Cli::try_parse_from(["kubectl-envoyfilter", "rules"]).unwrap();
    let terminal = Terminal { colour: false, width: 80 };
    let around = Surroundings { out: terminal, err: terminal, progress: false };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    cli.run(around, &mut out, &mut err).unwrap();
    let out = String::from_utf8(out).unwrap();
    let long: Vec<&str> = out.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(out.contains("EF301") && long.is_empty(), "{}", long.join("\n"));
}

/// The documentation is Markdown: leading spaces would come from the doc comments.
#[test]
fn documentation_of_rules_begins_at_the_margin() {
    let said = run(&["rules", "EF309", "-o", "json"]);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    let text = json["rules"][0]["documentation"].as_str().unwrap();
    assert!(text.starts_with("# What it finds\nA MERGE"), "{text}");
    assert!(!text.contains("\n "), "{text}");
}

/// A value with a secret, a mistake next to it on its line, and code with a token that an upgrade rewrites.
const WITH_SECRETS: &str = r#"
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: auth, namespace: shop}
spec:
  configPatches:
  - applyTo: CLUSTER
    patch:
      operation: MERGE
      value:
        transport_socket: {name: envoy.transport_sockets.tls, typed_config: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, common_tls_context: {tls_certificates: [{private_key: {inline_string: "s3cr3t-canary-0123"}}], wrong_field: 1}}}
  - applyTo: HTTP_FILTER
    match: {context: SIDECAR_INBOUND}
    patch:
      operation: INSERT_BEFORE
      value:
        name: envoy.filters.http.lua
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua
          inlineCode: |
            function envoy_on_request(h)
              h:headers():add("authorization", "Bearer canary-0123456789")
            end
"#;

/// The findings of other rules do not show the line either, nor do the pages of an audit.
#[test]
fn no_excerpt_and_no_page_shows_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("auth.yaml");
    fs::write(&path, WITH_SECRETS).unwrap();
    let path = path.to_str().unwrap();
    let said = run(&["lint", path]);
    assert!(said.out.contains("EF513") && said.out.contains("`wrong_field`"), "{}", said.out);
    assert!(!said.out.contains("canary"), "{}", said.out);
    for form in ["html", "markdown"] {
        let said = run(&["audit", "--from", "1.24", "--to", "1.31", "-f", path, "-o", form]);
        assert!(said.out.contains("[redacted]") && said.out.contains("defaultSourceCode"), "{form}: {}", said.out);
        assert!(!said.out.contains("canary"), "{form}: {}", said.out);
    }
}

/// A finding about a secret must not repeat it in a CI log.
#[test]
fn secrets_are_not_repeated() {
    for form in ["human", "json", "sarif", "junit", "github", "gitlab", "markdown"] {
        let said = run(&["lint", "testdata/rules/secret-in-value/bad.yaml", "--select", "EF513", "-o", form]);
        assert_eq!(said.code, 1, "{form}: {}", said.err);
        assert!(said.out.contains("EF513"), "{form}: {}", said.out);
        for secret in ["dXNlcjpodW50", "s3cr3t-k3y"] {
            assert!(!said.out.contains(secret), "{form}: {}", said.out);
        }
    }
}

/// A word that YAML 1.1 reads as something other than text is one mistake, wherever text is needed.
#[test]
fn a_word_of_yaml_1_1_is_one_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.yaml");
    let text = "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: on, namespace: shop}\n\
                spec:\n  workloadSelector: {labels: {canary: yes}}\n  priority: \"10\"\n  configPatches:\n  - applyTo: LISTENER\n    \
                patch: {operation: MERGE, value: {tcp_backlog_size: 9}}\n";
    fs::write(&file, text).unwrap();
    let said = run(&["lint", file.to_str().unwrap(), "--select", "EF005,EF011,EF012"]);
    let of = |code: &str| said.out.matches(&format!("error[{code}]")).count();
    // The quoted priority is another one.
    assert_eq!((of("EF005"), of("EF011"), of("EF012")), (2, 0, 1), "{}", said.out);
}

/// The note that names the stand-in for a config dump is printed once.
#[test]
fn likely_findings_name_their_reference_once() {
    let said = run(&["lint", "testdata/field/10-merge-of-false.yaml", "--select", "EF309"]);
    // The scope line at the end states it for the run, the note for the finding.
    let judged: Vec<&str> =
        said.out.lines().filter(|line| line.contains("judged on") && !line.starts_with("- not checked")).collect();
    assert_eq!(judged.len(), 1, "{judged:?}");
    assert!(judged[0].contains("note: likely, ") && judged[0].ends_with("configuration of a gateway"), "{judged:?}");
}

#[test]
fn a_baseline_survives_moves_and_prunes_itself() {
    let folder = tempfile::tempdir().unwrap();
    let (file, baseline) = (folder.path().join("a.yaml"), folder.path().join("baseline.json"));
    let text = fs::read_to_string(FILTERS).unwrap();
    fs::write(&file, &text).unwrap();
    let (file, baseline) = (file.to_str().unwrap(), baseline.to_str().unwrap());
    let with = |more: &[&str]| run(&[&["lint", file, "--select", "EF301,EF9", "--baseline", baseline], more].concat());
    assert_eq!(with(&[]).code, 2, "a baseline that is not there is no clean run");
    assert_eq!(with(&["--update-baseline"]).code, 0);
    assert_eq!(with(&["--fail-on", "info"]).code, 0);
    let first_patch = "  configPatches:\n";
    let moved = text.replace(
        first_patch,
        &format!("{first_patch}  - applyTo: CLUSTER\n    patch:\n      operation: MERGE\n      value: {{connect_timeout: 9s}}\n"),
    );
    fs::write(file, format!("# moved\n\n{moved}")).unwrap();
    let said = with(&["--fail-on", "info"]);
    assert_eq!(said.code, 0, "{}", said.out);
    fs::write(
        file,
        text.replace("operation: MERGE", "operation: REPLACE").replace("# envoyfilter:ignore EF301 was", "#"),
    )
    .unwrap();
    let said = with(&["--fail-on", "info"]);
    assert_eq!(said.code, 1, "the new finding is reported: {}", said.out);
    assert!(said.out.contains("1 entry of the baseline was no longer found"), "{}", said.out);
    assert_eq!(with(&["--update-baseline"]).code, 0);
    let written: Value = serde_json::from_str(&fs::read_to_string(baseline).unwrap()).unwrap();
    let rules: Vec<&str> =
        written["findings"].as_array().unwrap().iter().map(|it| it["rule"].as_str().unwrap()).collect();
    assert!(rules.contains(&"EF301") && !rules.contains(&"EF901"), "EF901 is gone: {rules:?}");
}

#[test]
fn the_configuration_is_found_upwards_and_decides() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("legacy/deep");
    fs::create_dir_all(&inner).unwrap();
    fs::copy(FILTERS, inner.join("a.yaml")).unwrap();
    let file = inner.join("a.yaml");
    let with = |config: &str| {
        fs::write(folder.path().join(".envoyfilter.yaml"), config).unwrap();
        run(&["lint", file.to_str().unwrap()])
    };
    let validator = JsonSchema::new("config.json");
    let valid = |config: &str| {
        let (documents, _) = kubectl_envoyfilter::load::yaml::documents(kubectl_envoyfilter::source::FileId(0), config);
        validator.errors(&documents[0].to_json()).is_empty()
    };
    for (config, code) in [
        ("select: [EF301]\n", 1),
        ("select: [EF3]\nignore: [EF301]\n", 0),
        ("select: [EF301]\nseverity: {EF3: info}\n", 0),
        ("select: [EF301]\nseverity: {EF3: info, EF301: error}\n", 1),
        ("select: [EF301]\nseverity: {EF3: info}\nfail-on: info\n", 1),
        ("select: [EF301]\noverrides:\n- paths: ['legacy/**']\n  ignore: [EF301]\n", 0),
        ("select: [EF301]\noverrides:\n- paths: ['other/**']\n  ignore: [EF301]\n", 1),
        ("select: [EF301]\noverrides:\n- namespaces: ['sh*']\n  severity: {EF301: warning}\n", 0),
        ("select: [EF301]\nistio-versions: ['1.26', '1.31']\n", 1),
    ] {
        let said = with(config);
        assert_eq!(said.code, code, "{config}{}{}", said.out, said.err);
        assert!(valid(config), "{config}");
    }
    for (config, place) in [
        ("select: [EF301]\nfail_on: info\n", ".envoyfilter.yaml:2:1"),
        ("fail-on: sometimes\n", ".envoyfilter.yaml:1:10"),
        ("istio-versions: [1.30]\n", ".envoyfilter.yaml:1:18"),
        ("severity: {EF301: bad}\n", ".envoyfilter.yaml:1:19"),
        ("overrides:\n- path: [x]\n", ".envoyfilter.yaml:2:3"),
    ] {
        let said = with(config);
        assert_eq!(said.code, 2, "{config}{}", said.out);
        assert!(said.err.contains(place), "{config}{}", said.err);
        assert!(!valid(config), "{config}");
    }
    let said = with("select: [EF9, operation-without-efect]\n");
    assert!(said.out.contains("warning[EF903]"), "{}", said.out);
    assert!(said.out.contains("the nearest is EF301"), "{}", said.out);
}

#[test]
fn fixes_are_shown_or_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.yaml");
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: geheim}\n";
    let text = fs::read_to_string(FILTERS).unwrap() + secret;
    fs::write(&path, &text).unwrap();
    let file = path.to_str().unwrap();
    let said = run(&["lint", file, "--select", "EF301,EF9", "--diff"]);
    assert!(said.out.contains("\n-  # envoyfilter:ignore EF301 was REPLACE once\n"), "{}", said.out);
    assert!(!said.out.contains("geheim"), "{}", said.out);
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "--diff writes nothing");
    let said = run(&["lint", file, "--select", "EF301,EF9", "--fix"]);
    assert!(said.err.contains("1 finding fixed in 1 file"), "{}", said.err);
    assert!(!said.out.contains("EF901"), "what is left is said: {}", said.out);
    let fixed = fs::read_to_string(&path).unwrap();
    assert_eq!(fixed, text.replace("  # envoyfilter:ignore EF301 was REPLACE once\n", ""), "the Secret stays");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn rules_are_listed_and_shown() {
    let all = run(&["rules"]);
    assert_eq!(all.code, 0);
    assert!(all.out.contains("EF301  operation-without-effect"), "{}", all.out);
    let one = run(&["rules", "ef301"]);
    assert!(one.out.starts_with("EF301 operation-without-effect\n"), "{}", one.out);
    assert!(one.out.contains("\nHow to fix\n"), "{}", one.out);
    assert_eq!(run(&["explain", "rule", "operation-without-effect"]).out, one.out);
    let json: Value = serde_json::from_str(&run(&["rules", "-o", "json"]).out).unwrap();
    assert_eq!(json["rules"].as_array().unwrap().len(), kubectl_envoyfilter::rules::ALL.len());
    let unknown = run(&["rules", "EF3O1"]);
    assert_eq!(unknown.code, 2);
}

#[test]
fn verbose_judges_istioctl() {
    let said = lint(&["-v"]);
    assert!(said.out.contains("istioctl reports IST0152 here, rightly"), "{}", said.out);
    assert!(said.out.contains("istioctl reports IST0153 here, rightly"), "{}", said.out);
}

#[test]
fn the_demo_is_linted() {
    let said = run(&["lint", "--demo", "--stat"]);
    assert!(said.out.contains("EnvoyFilters with"), "{}{}", said.out, said.err);
}

/// Nothing is known about these releases, which is not the same as that they know nothing.
#[test]
fn releases_beyond_the_known_ones_have_the_types_of_the_nearest() {
    let findings = |option: &str, release: &str| {
        let said = run(&["lint", "--demo", "--pedantic", option, release, "-o", "json"]);
        let report: Value = serde_json::from_str(&said.out).unwrap();
        let all: Vec<String> = report["findings"].as_array().unwrap().iter().map(|it| it["code"].to_string()).collect();
        (all, said.err)
    };
    let (newest, said) = findings("--istio-version", "1.31");
    assert!(newest.len() > 4 && said.is_empty(), "{said}");
    for far in ["1.32", "1.33", "1.99"] {
        let (found, said) = findings("--istio-version", far);
        assert_eq!(found, newest, "{far}");
        assert!(said.contains(&format!("Istio {far} is not a known release (1.22 to 1.31)")), "{said}");
        assert_eq!(findings("--proxy-version", far).0, newest, "{far}");
    }
    for option in ["--istio-version", "--proxy-version"] {
        let (old, _) = findings(option, "1.10");
        assert!(!old.iter().any(|code| code.contains("EF109") || code.contains("EF113")), "{old:?}");
    }
    let said = run(&["audit", "--demo", "--from", "1.31", "--to", "1.34"]);
    assert!(!said.out.contains("EF609") && said.out.contains("that of the nearest release is used"), "{}", said.out);
}

#[test]
fn a_folder_without_files_is_not_an_all_clear() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for form in ["human", "json", "sarif", "junit", "github", "gitlab", "markdown"] {
        let said = run(&["lint", path, "-o", form]);
        assert_eq!(said.code, 3, "{form}: {}", said.out);
        assert!(said.err.contains("error: ") && said.err.contains("contains no .yaml"), "{form}: {}", said.err);
    }
    let said = run(&["lint", path]);
    assert!(said.out.starts_with("nothing could be judged"), "{}", said.out);
    // Beside files it is odd, and a file without an EnvoyFilter is nothing to judge.
    let said = run(&["lint", path, FILTERS, "--fail-on", "never"]);
    assert!(said.code == 0 && said.err.contains("warning: "), "{}", said.err);
    let other = folder.path().join("service.yaml");
    fs::write(&other, "apiVersion: v1\nkind: Service\nmetadata: {name: cart}\n").unwrap();
    let said = run(&["lint", path]);
    assert!(said.code == 0 && said.out.starts_with("nothing judged"), "{}{}", said.out, said.err);
}

#[test]
fn a_minimum_severity_does_not_hide_that_there_is_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.yaml");
    let patch = "  - applyTo: CLUSTER\n    match: {context: SIDECAR_OUTBOUND}\n    patch: {operation: MERGE, value: {connect_timeout: 3s}}\n";
    let head = "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: a, namespace: shop}\nspec:\n  configPatches:\n";
    std::fs::write(&path, format!("{head}{patch}{patch}")).unwrap();
    let file = path.to_str().unwrap();
    let shown = |least: &str| run(&["lint", file, "--min-severity", least]).out;
    let all = shown("info");
    assert!(all.contains("warning") && !all.contains("not shown"), "{all}");
    let errors = shown("error");
    assert!(errors.starts_with("no errors: 1 EnvoyFilter"), "{errors}");
    assert!(errors.contains("because of --min-severity error") && !errors.contains("no findings"), "{errors}");
}
