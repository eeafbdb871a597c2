//! Rules that users write: their cases, `lint` with them, and the messages for broken ones.

use crate::lint_cli::{Said, run};
use crate::support::{JsonSchema, testdata};
use kubectl_envoyfilter::load::yaml;
use kubectl_envoyfilter::source::FileId;
use std::fs;

const RULES: &str = "testdata/custom-rules";
const BAD: &str = "testdata/custom-rules/lua-beside-payments/bad.yaml";

#[test]
fn cases_are_run() {
    let Said { code, out, err } = run(&["rules", "test", RULES]);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(
        out,
        "ACME001 lua-beside-payments: 2 cases, ok\nACME002 mesh-wide-without-owner: 2 cases, ok\n2 rules, 0 failed\n"
    );
    // A case marked at the wrong line, one that is not found, a rule without cases.
    let folder = tempfile::tempdir().unwrap();
    let rule = fs::read_to_string(testdata("custom-rules/mesh-wide-without-owner.yaml")).unwrap();
    fs::write(folder.path().join("owner.yaml"), &rule).unwrap();
    let at = folder.path().to_str().unwrap();
    let Said { code, out, .. } = run(&["rules", "test", at]);
    assert_eq!(code, 1);
    assert!(out.contains("no bad*.yaml in ") && out.ends_with("1 rule, 1 failed\n"), "{out}");
    fs::create_dir(folder.path().join("owner")).unwrap();
    let case = fs::read_to_string(testdata("custom-rules/mesh-wide-without-owner/bad.yaml")).unwrap();
    fs::write(folder.path().join("owner/bad.yaml"), case.replace("istio-system", "shop")).unwrap();
    fs::write(folder.path().join("owner/good.yaml"), &case).unwrap();
    let Said { code, out, .. } = run(&["rules", "test", at]);
    assert_eq!(code, 1);
    assert!(out.contains("bad.yaml:4: no finding here"), "{out}");
    // Marks count in every file; without its mark, a good case fails.
    fs::write(folder.path().join("owner/good.yaml"), case.replace(" # ACME002", "")).unwrap();
    let Said { out, .. } = run(&["rules", "test", at]);
    assert!(out.contains("good.yaml:4:3: unmarked finding: `everywhere` changes every proxy (1 patches)"), "{out}");
}

#[test]
fn findings_of_custom_rules_are_like_others() {
    let Said { code, out, .. } = run(&["lint", BAD, "--rules", RULES, "--select", "ACME"]);
    assert_eq!(code, 1);
    for part in [
        "error[ACME001]: Lua in `payments`: INSERT_FIRST of stamp",
        "bad.yaml:13:9",
        "it runs in ",
        "write a WasmPlugin",
    ] {
        assert!(out.contains(part), "{part} is not in\n{out}");
    }
    let Said { code, .. } = run(&["lint", BAD, "--rules", RULES, "--select", "ACME002"]);
    assert_eq!(code, 0, "its filter is not of the root namespace");
    let Said { code, out, .. } =
        run(&["lint", BAD, "--rules", RULES, "--select", "lua-beside-payments", "-o", "sarif"]);
    assert_eq!(code, 1);
    assert!(out.contains(r#""id": "ACME001""#), "{out}");
    let Said { out, .. } = run(&["rules", "--rules", RULES]);
    assert!(out.contains("custom\n  ACME001  lua-beside-payments"), "{out}");
    let Said { out, .. } = run(&["rules", "--rules", RULES, "ACME001"]);
    assert!(out.contains("The audit of 2025"), "{out}");
    // Suppressed like any other rule, and known to the linter's own rules.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.yaml");
    let text = fs::read_to_string(BAD).unwrap().replace("# ACME001", "# envoyfilter:ignore ACME001 agreed in May");
    fs::write(&file, text).unwrap();
    fs::create_dir(folder.path().join("rules")).unwrap();
    for name in ["lua-beside-payments.yaml", "mesh-wide-without-owner.yaml"] {
        fs::copy(testdata("custom-rules").join(name), folder.path().join("rules").join(name)).unwrap();
    }
    fs::write(folder.path().join(".envoyfilter.yaml"), "rules: [rules]\n").unwrap();
    let Said { code, out, err } = run(&["lint", file.to_str().unwrap(), "--select", "ACME,EF9"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("1 finding is suppressed"), "{out}");
    assert!(!out.contains("EF903"), "{out}");
}

#[test]
fn broken_rules_are_reported_with_their_place() {
    let Said { code, err, .. } = run(&["lint", BAD, "--rules", "testdata/custom-rules-broken/syntax.yaml"]);
    assert_eq!(code, 2);
    for part in ["syntax.yaml:6:9", "unknown variable `pach`; available: filter, patch, istio", "not a CEL expression"]
    {
        assert!(err.contains(part), "{part} is not in\n{err}");
    }
    let Said { code, out, .. } =
        run(&["lint", BAD, "--rules", "testdata/custom-rules-broken/fails.yaml", "--select", "ACME901"]);
    assert_eq!(code, 1);
    assert!(out.contains("ACME901 cannot be evaluated here: ") && out.contains("no_such_field"), "{out}");
    let Said { code, err, .. } = run(&["lint", BAD, "--rules", "no/such/file.yaml"]);
    assert_eq!(code, 2);
    assert!(err.contains("cannot read no/such/file.yaml"), "{err}");
}

/// Deep nesting and long expressions are rejected before they overflow the stack.
#[test]
fn an_expression_has_its_limits() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep.yaml");
    for (expression, want) in [
        (format!("{}true{}", "(".repeat(2000), ")".repeat(2000)), "deep"),
        (format!("true{}", " && true".repeat(2000)), "longer than"),
        (format!("{}true", "!".repeat(4000)), "deep"),
        (format!("{}1{} == [1]", "[".repeat(2000), "]".repeat(2000)), "deep"),
    ] {
        let rule = format!(
            "kind: LintRule\nmetadata: {{name: deep}}\nspec: {{code: A1, message: x, when: \"{expression}\"}}\n"
        );
        fs::write(&file, rule).unwrap();
        let Said { code, err, .. } = run(&["lint", BAD, "--rules", file.to_str().unwrap()]);
        assert_eq!(code, 2, "{}: {err}", &expression[..10]);
        assert!(err.contains(want), "{want}: {}", err.chars().take(400).collect::<String>());
    }
}

#[test]
fn the_schema_accepts_the_rules() {
    let schema = JsonSchema::new("custom-rule.json");
    let errors = |text: &str| schema.errors(&yaml::documents(FileId(0), text).0[0].to_json());
    for name in ["lua-beside-payments", "mesh-wide-without-owner"] {
        let text = fs::read_to_string(testdata("custom-rules").join(format!("{name}.yaml"))).unwrap();
        assert_eq!(errors(&text), "", "{name}");
        assert_ne!(errors(&text.replace("code: ACME", "code: EF")), "", "{name}");
        assert_ne!(errors(&text.replace("when:", "if:")), "", "{name}");
    }
}
