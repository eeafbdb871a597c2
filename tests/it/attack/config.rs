//! A `.envoyfilter.yaml` from an untrusted change request applies only to its own folder.

use super::say;
use std::fs;
use std::path::Path;

const SECRET: &str = "registry-token: CANARY0123456789\n- broken: [\n";

const BAD: &str = "\
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: NAME, namespace: shop}
spec:
  configPatches:
  - applyTo: CLUSTER
    patch: {operation: REPLACE, value: {}}
";

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn rules_of_a_configuration_lie_in_its_folder_and_no_other_file_is_quoted() {
    let root = tempfile::tempdir().unwrap();
    let repo = root.path().join("repo");
    write(&root.path().join("token.yaml"), SECRET);
    write(&root.path().join("secrets/a.yaml"), SECRET);
    write(&repo.join("a.yaml"), &BAD.replace("NAME", "a"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(root.path().join("token.yaml"), repo.join("linked.yaml")).unwrap();
        std::os::unix::fs::symlink(root.path().join("secrets"), repo.join("folder")).unwrap();
        fs::create_dir(repo.join("own")).unwrap();
        std::os::unix::fs::symlink(root.path().join("token.yaml"), repo.join("own/inner.yaml")).unwrap();
    }
    let token = root.path().join("token.yaml");
    let absolute = token.to_str().unwrap();
    for path in
        ["../token.yaml", "../secrets", "linked.yaml", "folder", "own", absolute, "/dev/zero", "/proc/self/environ"]
    {
        write(&repo.join(".envoyfilter.yaml"), &format!("rules: [{path}]\n"));
        let said = say(&repo, &["lint", "a.yaml"]);
        assert_eq!(said.code, 2, "{path}: {}{}", said.out, said.err);
        assert!(said.err.contains("outside the folder of the configuration"), "{path}: {}", said.err);
        assert!(!said.all().contains("CANARY") && !said.all().contains("broken"), "{path}: {}", said.all());
    }
    // A file of its own folder that is not a rule is named, but not quoted.
    write(&repo.join("own.yaml"), SECRET);
    write(&repo.join(".envoyfilter.yaml"), "rules: [own.yaml]\n");
    let said = say(&repo, &["lint", "a.yaml"]);
    assert!(said.err.contains("own.yaml is not a rule: it contains no `kind: LintRule`"), "{}", said.err);
    assert!(!said.all().contains("CANARY"), "{}", said.all());
    // The same for a file that the user names.
    let said = say(root.path(), &["lint", "repo/a.yaml", "--rules", "token.yaml", "--config", "/dev/null"]);
    assert!(!said.all().contains("CANARY"), "{}", said.all());
    fs::remove_file(repo.join(".envoyfilter.yaml")).unwrap();
    write(&root.path().join("known.json"), "{\"apiVersion\": \"v1\", \"CANARY0123456789\": 1}");
    let said = say(&repo, &["lint", "a.yaml", "--baseline", "../known.json"]);
    assert!(said.code == 2 && said.err.contains("cannot use the baseline"), "{}", said.err);
    assert!(!said.all().contains("CANARY"), "{}", said.all());
}

/// A test file names files too: what holds no Kubernetes object, no dump and no capture is not quoted.
#[cfg(unix)]
#[test]
fn files_that_a_test_file_names_are_not_quoted() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let repo = root.path().join("repo");
    // Asked for its version and then never started, because no proxy is read.
    let envoy = root.path().join("envoy");
    write(&envoy, "#!/bin/sh\necho envoy  version: 0123456789abcdef/1.38.0/Clean/RELEASE/BoringSSL\n");
    fs::set_permissions(&envoy, fs::Permissions::from_mode(0o755)).unwrap();
    for secret in
        ["CANARY0123456789 of a runner\n", SECRET, "CANARY: x\nCANARY: [\n", "\"CANARY0123456789\"\n", "a\tCANARY\n"]
    {
        write(&root.path().join("token"), secret);
        let absolute = root.path().join("token").display().to_string();
        for from in ["../token", absolute.as_str()] {
            for proxy in
                [format!("{{dump: {from}}}"), format!("{{pod: shop/cart, capture: {from}}}"), "{demo: true}".to_owned()]
            {
                let text = format!(
                    "kind: EnvoyFilterTest\nproxy: {proxy}\nfilters: [{from}]\ntests:\n- name: a\n  request: {{inbound: 8080, path: /}}\n  \
                     expect: {{status: 200}}\n"
                );
                write(&repo.join("a.test.yaml"), &text);
                let said = say(&repo, &["test", "a.test.yaml", "--envoy", envoy.to_str().unwrap()]);
                assert_ne!(said.code, 0, "{text}{}", said.all());
                assert!(!said.all().contains("CANARY"), "{text}{}", said.all());
                assert!(said.all().contains("token"), "the file is not named: {text}{}", said.all());
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn links_out_of_a_folder_are_not_followed() {
    use std::os::unix::fs::symlink;
    let root = tempfile::tempdir().unwrap();
    let repo = root.path().join("repo");
    write(&root.path().join("token.yaml"), SECRET);
    write(&repo.join("a.yaml"), &BAD.replace("NAME", "a"));
    symlink(root.path().join("token.yaml"), repo.join("b.yaml")).unwrap();
    // A ConfigMap as Kubernetes mounts it, with links inside the folder.
    write(&repo.join("..data/c.yaml"), &BAD.replace("NAME", "c"));
    symlink("..data/c.yaml", repo.join("c.yaml")).unwrap();
    let said = say(&repo, &["lint", "."]);
    assert!(said.err.contains("b.yaml is a link to a file outside the folder and is not read"), "{}", said.err);
    assert!(!said.all().contains("CANARY") && said.out.contains("c.yaml"), "{}", said.all());
    // The configuration itself may be such a link.
    symlink(root.path().join("token.yaml"), repo.join(".envoyfilter.yaml")).unwrap();
    let said = say(&repo, &["lint", "a.yaml"]);
    assert!(said.code == 2 && said.err.contains("outside the folder of the configuration"), "{}", said.err);
    assert!(!said.all().contains("CANARY"), "{}", said.all());
}

#[test]
fn a_discovered_configuration_applies_only_to_its_own_folder() {
    let root = tempfile::tempdir().unwrap();
    write(&root.path().join("pr/.envoyfilter.yaml"), "select: [EF101]\nfail-on: never\n");
    write(&root.path().join("pr/a.yaml"), &BAD.replace("NAME", "a"));
    write(&root.path().join("prod/b.yaml"), &BAD.replace("NAME", "b"));
    let alone = say(root.path(), &["lint", "pr/a.yaml"]);
    assert_eq!(alone.code, 0, "{}", alone.out);
    let both = say(root.path(), &["lint", "pr/a.yaml", "prod/b.yaml"]);
    assert_eq!(both.code, 1, "{}", both.out);
    assert!(both.out.contains("prod/b.yaml:7") && !both.out.contains("pr/a.yaml:7"), "{}", both.out);
    // A configuration that the user names applies everywhere.
    let named = say(root.path(), &["lint", "--config", "pr/.envoyfilter.yaml", "pr/a.yaml", "prod/b.yaml"]);
    assert_eq!(named.code, 0, "{}", named.out);
}

/// A hundred bytes of CEL over a filter with many patches: refusing the text cannot help, since few patches are fine.
#[test]
#[ignore = "waits for time limits: cargo test --test it in_full -- --ignored"]
fn a_rule_that_takes_too_long_ends_with_a_finding_in_full() {
    let folder = tempfile::tempdir().unwrap();
    let patch = |at: usize| serde_json::json!({"applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": {"alt_stat_name": format!("a{at}")}}});
    let filter = serde_json::json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "metadata": {"name": "a", "namespace": "shop"},
        "spec": {"configPatches": (0..1_000).map(patch).collect::<Vec<_>>()},
    });
    write(&folder.path().join("a.yaml"), &filter.to_string());
    write(&folder.path().join(".envoyfilter.yaml"), "rules: [rule.yaml]\n");
    let all = "filter.patches";
    let when = format!("{all}.all(a, {all}.all(b, {all}.all(c, a.index + b.index + c.index >= 0)))");
    let rule = serde_json::json!({
        "apiVersion": "envoyfilter.dev/v1", "kind": "LintRule", "metadata": {"name": "slow"},
        "spec": {"code": "SLOW001", "for": "patch", "when": when, "message": "x"},
    });
    write(&folder.path().join("rule.yaml"), &rule.to_string());
    let start = std::time::Instant::now();
    let said = say(folder.path(), &["lint", "a.yaml", "--select=SLOW001", "-o", "json"]);
    assert_eq!(said.out.matches("takes longer than 10 s").count(), 1, "{} {}", said.code, said.err);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn rules_that_would_run_for_hours_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("a.yaml"), &BAD.replace("NAME", "a"));
    write(&folder.path().join(".envoyfilter.yaml"), "rules: [rule.yaml]\n");
    let list = format!("[{}]", "1,".repeat(300) + "1");
    let nested = format!("{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, a + b + c + d >= 0))))");
    let doubled = format!("['x']{}.size() > 0", ".map(x, x + x + x + x)".repeat(20));
    let many = format!("['x']{}.size() > 0", ".map(x, [x, x, x, x])".repeat(20));
    for (when, words) in [
        (nested.as_str(), "nested loops"),
        (doubled.as_str(), "inside map() is not supported"),
        (many.as_str(), "uses of map()"),
        (r"filter.metadata.name.matches('(\\w{100}){100}')", "repetitions"),
    ] {
        let rule = serde_json::json!({
            "apiVersion": "envoyfilter.dev/v1", "kind": "LintRule", "metadata": {"name": "slow"},
            "spec": {"code": "SLOW001", "for": "filter", "when": when, "message": "x"},
        });
        write(&folder.path().join("rule.yaml"), &rule.to_string());
        let start = std::time::Instant::now();
        let said = say(folder.path(), &["lint", "a.yaml"]);
        assert!(said.code == 2 && said.err.contains(words), "{when}: {}", said.err);
        assert!(start.elapsed().as_secs() < 10);
    }
    let paths = format!("\"{}\"", "**/*a".repeat(300));
    write(&folder.path().join(".envoyfilter.yaml"), &format!("overrides: [{{paths: [{paths}], ignore: [EF101]}}]\n"));
    let start = std::time::Instant::now();
    let deep = format!("{}x.yaml", "a/aaa/".repeat(12));
    write(&folder.path().join(&deep), &BAD.replace("NAME", "b"));
    assert_eq!(say(folder.path(), &["lint", "a.yaml", &deep]).code, 1);
    assert!(start.elapsed().as_secs() < 10);
}

/// A rule that a configuration ignores is missing from the answer, which must say so in every form.
#[test]
fn a_configuration_cannot_switch_off_rules_unseen() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join(".envoyfilter.yaml");
    write(&root.path().join("sub/a.yaml"), &BAD.replace("NAME", "a"));
    let forms = ["human", "json", "sarif", "junit", "github", "gitlab", "markdown"];
    for config in ["ignore: [all]\n", "overrides: [{ignore: [EF]}]\n", "overrides: [{paths: [sub/*], ignore: [all]}]\n"]
    {
        write(&file, config);
        for form in forms {
            let said = say(root.path(), &["lint", "sub/a.yaml", "-o", form]);
            assert_eq!(said.code, 0, "{config}: {}", said.all());
            let told = said.all();
            assert!(told.contains("rules, ignored by .envoyfilter.yaml"), "{config}{form}: {told}");
        }
    }
    write(&root.path().join("b.yaml"), &BAD.replace("NAME", "b"));
    write(&file, "ignore: [EF101]\noverrides: [{paths: [sub/*], ignore: [EF102, EF103]}]\n");
    let said = say(root.path(), &["lint", "sub/a.yaml", "b.yaml"]).all();
    assert!(said.contains("not checked: 1 rule, ignored by .envoyfilter.yaml"), "{said}");
    assert!(said.contains("not checked everywhere: 2 rules, ignored by .envoyfilter.yaml"), "{said}");
    // Nothing is ignored if the user selects rules, or the file governs nothing here.
    let said = say(root.path(), &["lint", "b.yaml", "--select", "EF1"]).all();
    assert!(!said.contains("not checked: 1 rule, ignored"), "{said}");
}
