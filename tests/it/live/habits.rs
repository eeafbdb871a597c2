//! kubectl's conventions: headings, sorting, templates, columns, watches, and machine-readable formats.

use super::mock::Fault;
use super::{live, shop};
use serde_json::Value;
use std::fs;

#[test]
fn lists_support_kubectls_formats() {
    let mock = shop().start();
    let of = |arguments: &[&str]| {
        let said = live(&mock, arguments);
        assert!(said.code < 2, "{arguments:?}: {}", said.err);
        said.out
    };
    let table = of(&["get", "-A"]);
    let bare = of(&["get", "-A", "--no-headers"]);
    assert_eq!(table.lines().count(), bare.lines().count() + 1);
    assert!(!bare.contains("NAMESPACE"), "{bare}");
    let column =
        |text: &str| text.lines().map(|line| line.split_whitespace().nth(1).unwrap().to_owned()).collect::<Vec<_>>();
    let by_name = column(&of(&["get", "-A", "--no-headers", "--sort-by", ".name"]));
    let mut sorted = by_name.clone();
    sorted.sort();
    assert_eq!(by_name, sorted);
    let names = of(&["get", "-A", "-o", "jsonpath={range .items[*]}{.name}{\"\\n\"}{end}", "--sort-by", "{.name}"]);
    assert_eq!(names.lines().collect::<Vec<_>>(), sorted);
    // As kubectl's own paths are written.
    let names = of(&["get", "-A", "-o", "jsonpath={.items[*].metadata.name}", "--sort-by=.metadata.name"]);
    assert_eq!(names.split_whitespace().collect::<Vec<_>>(), sorted);
    let columns = of(&["get", "-o", "custom-columns=NS:.metadata.namespace,NAME:.metadata.name"]);
    assert!(columns.lines().skip(1).all(|row| row.starts_with("shop") && !row.contains("<none>")), "{columns}");
    let columns = of(&["get", "-A", "-o", "custom-columns=WHO:.name,NONE:.nothing", "--sort-by=.name"]);
    let first = columns.lines().nth(1).unwrap();
    assert!(columns.starts_with("WHO") && first.starts_with(&sorted[0]) && first.ends_with("<none>"), "{columns}");
    let status = of(&["status", "-o", "yaml"]);
    assert!(status.contains("kind: Status") && status.contains("scope:"), "{status}");
    let wrong = of(&["status", "-o", "jsonpath={.wrong[*].filter}"]);
    assert!(wrong.contains("stamp-requests"), "{wrong}");
    assert!(of(&["status", "-o", "wide"]).contains("WHAT IS WRONG"));
    assert!(!of(&["status", "--no-headers"]).contains("WHAT IS WRONG"));
    for (arguments, words) in [
        (&["get", "--sort-by", ".nothing"][..], "no item has this field"),
        (&["get", "-o", "jsonpath={.items[}"], "not closed"),
        (&["get", "-o", "custom-columns=X"], "NAME:.path"),
        (&["get", "-o", "xml"], "one of table"),
    ] {
        let said = live(&mock, arguments);
        assert_eq!(said.code, 2, "{arguments:?}: {}", said.out);
        assert!(said.err.contains(words), "{arguments:?}: {}", said.err);
    }
}

/// Output that has no place for its scope: standard error says what was not read.
#[test]
fn forms_without_a_scope_tell_what_was_not_read() {
    let forms = ["name", "jsonpath={.items[*].name}{.wrong[*].filter}", "custom-columns=NAME:.name"];
    for command in ["get", "status"] {
        for form in forms {
            let said = live(&shop().start(), &[command, "-o", form]);
            assert!(!said.err.contains("scope:"), "{command} {form}: {}", said.err);
            let path = "/api/v1/namespaces/shop/pods";
            let mock = shop().fault(path, Fault::Status(403, "forbidden"), 99).start();
            let said = live(&mock, &[command, "-o", form]);
            assert!(
                said.err.contains("scope: context mock") && said.err.contains(" not read"),
                "{command} {form}: {}",
                said.err
            );
        }
    }
}

#[test]
fn a_diff_has_formats_for_programs_and_for_comments() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new.yaml");
    let one = kubectl_envoyfilter::demo::FILTERS.split("\n---\n").next().unwrap();
    fs::write(&file, one.replace("shop.stamp-requests", "shop.other")).unwrap();
    let mock = shop().start();
    let said = live(&mock, &["diff", "-f", file.to_str().unwrap(), "-o", "json"]);
    assert_eq!(said.code, 1, "{}", said.err);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&json["kind"], &json["judged"]), (&"Diff".into(), &true.into()), "{}", said.out);
    assert_eq!(json["proxies"][0]["name"], "shop/cart-1");
    assert!(json["proxies"][0]["resources"][0]["after"].to_string().contains("shop.other"), "{}", said.out);
    assert_eq!(json["scope"]["proxies"]["read"], 1);
    let said = live(&mock, &["diff", "-f", file.to_str().unwrap(), "-o", "markdown"]);
    assert_eq!(said.code, 1, "{}", said.err);
    for words in [
        "**1 of 1 proxy changed",
        "<details><summary>sidecar shop/cart-1",
        "```diff",
        "shop.other",
        "scope: context mock",
    ] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    // A proxy that cannot be read is not "no change".
    let world = shop().fault("/api/v1/namespaces/shop/pods/", super::mock::Fault::Status(403, "no"), 99);
    for form in ["json", "markdown", "text"] {
        let file = file.to_str().unwrap();
        let mock = world.clone().start();
        let said = live(&mock, &["diff", "-f", file, "-o", form]);
        assert_eq!(said.code, 2, "{form}: {}{}", said.out, said.err);
        let words = if form == "json" { "\"judged\": false" } else { "nothing compared: no proxy could be read" };
        assert!(said.out.contains(words), "{form}: {}", said.out);
    }
}

/// `status --watch` reports problems, and continues.
#[cfg(unix)]
#[test]
fn status_watch_continues() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let mock = shop().start();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(["status", "--watch"])
        .env("KUBECONFIG", mock.kubeconfig("shop"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains("WHAT IS WRONG"), "{first}");
    assert!(child.try_wait().unwrap().is_none(), "it ended");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// One answer about several contexts, in every format.
#[test]
fn several_contexts_are_one_answer() {
    let mock = shop().start();
    let both = |arguments: &[&str]| live(&mock, &[arguments, &["--context", "mock", "--context", "other"]].concat());
    let one = live(&mock, &["get"]);
    let said = both(&["get"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let lines: Vec<Vec<&str>> = said.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..3], ["CONTEXT", "NAMESPACE", "NAME"], "{}", said.out);
    assert_eq!(lines.len(), 2 * (one.out.lines().count() - 1) + 1, "{}", said.out);
    assert_eq!((lines[1][0], lines[lines.len() - 1][0]), ("mock", "other"));
    assert_eq!(live(&mock, &["get", "--context", "*"]).out, said.out);
    assert!(!both(&["get", "--no-headers"]).out.contains("CONTEXT"));
    let said = both(&["get", "-o", "json"]);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    let names: Vec<&Value> = json["contexts"].as_array().unwrap().iter().map(|one| &one["context"]).collect();
    assert_eq!(names, ["mock", "other"], "{}", said.out);
    assert_eq!(json["kind"], "EnvoyFilterStatusList");
    assert_eq!(json["contexts"][1]["scope"]["origin"]["context"], "other", "{}", said.out);
    for command in ["get", "status"] {
        let yaml = both(&[command, "-o", "yaml"]).out;
        assert!(yaml.contains("- context: other") && yaml.contains("limit-rate"), "{yaml}");
        assert_eq!((yaml.matches("apiVersion:").count(), yaml.contains("kind: null")), (1, false), "{yaml}");
    }
    let dumps: Value = serde_json::from_str(&both(&["render", "pod/cart-1"]).out).unwrap();
    assert!(dumps.get("kind").is_none() && dumps["contexts"][1]["configs"].is_array(), "{dumps}");
    let said = both(&["lint", "-o", "sarif"]);
    let log: Value = serde_json::from_str(&said.out).unwrap();
    let runs: Vec<&Value> = log["runs"].as_array().unwrap().iter().map(|run| &run["properties"]["context"]).collect();
    assert_eq!((said.code, runs), (1, vec![&"mock".into(), &"other".into()]), "{}", said.out);
    let said = both(&["lint", "-o", "junit"]);
    assert_eq!(
        (said.out.matches("<testsuites").count(), said.out.matches("</testsuites>").count()),
        (1, 1),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("<testsuite name=\"mock: ") && said.out.contains("<testsuite name=\"other: "),
        "{}",
        said.out
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mesh.tar.zst");
    let said = both(&["capture", path.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(folder.path().join("mesh-mock.tar.zst").exists() && folder.path().join("mesh-other.tar.zst").exists());
    // A cluster that does not answer must not look like an all-clear.
    let said = live(&mock, &["get", "-o", "json", "--context", "mock", "--context", "none"]);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, &json["contexts"][1]["exitCode"]), (2, &2.into()), "{}", said.out);
    assert!(json["contexts"][1]["error"].as_str().unwrap().contains("none"), "{}", said.out);
    let file = folder.path().join("all.sarif");
    let said = both(&["lint", "-o", "sarif", "--output-file", file.to_str().unwrap()]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    let log: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(log["runs"].as_array().unwrap().len(), 2);
}
