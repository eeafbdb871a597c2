//! `webhook report` on the mock API server: reports are validated against the schema of their
//! CustomResourceDefinitions.

use super::mock::{Fault, World};
use super::standing::{dump_with, mesh};
use super::{live, shop};
use crate::linting::yaml_files;
use crate::support::testdata;
use kubectl_envoyfilter::load::yaml;
use kubectl_envoyfilter::source::{Node, Sources};
use serde_json::{Value, json};
use std::fs;

/// The schema of a kind, as JSON Schema.
fn schema(kind: &str) -> (boon::Schemas, boon::SchemaIndex) {
    schema_with(kind, json!({}))
}

fn schema_with(kind: &str, more: Value) -> (boon::Schemas, boon::SchemaIndex) {
    let definitions = yaml_files(&testdata("policy-report")).into_iter().map(|path| {
        let text = fs::read_to_string(path).unwrap();
        let file = Sources::default().add("crd", text.as_str());
        yaml::documents(file, &text).0.iter().map(Node::to_json).find(Value::is_object).unwrap()
    });
    let definition = definitions.into_iter().find(|one| one["spec"]["names"]["kind"] == kind).unwrap();
    let version = &definition["spec"]["versions"][0];
    assert_eq!(version["name"], "v1alpha2");
    let mut schema = version["schema"]["openAPIV3Schema"].clone();
    close(&mut schema);
    // Fields that every object has.
    schema["properties"]["metadata"] = json!({"type": "object"});
    schema["properties"].as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("crd.json", schema).unwrap();
    let mut schemas = boon::Schemas::new();
    let index = compiler.compile("crd.json", &mut schemas).unwrap();
    (schemas, index)
}

/// The schema of `openreports.io/v1alpha1` (its `config/install.yaml` of controller-gen v0.19.0): that of the
/// PolicyReports, with an additional `source` for all results.
fn open_schema(kind: &str) -> (boon::Schemas, boon::SchemaIndex) {
    schema_with(kind, json!({"source": {"type": "string"}}))
}

/// An API server drops unknown fields; here they are an error.
fn close(schema: &mut Value) {
    if let Value::Object(map) = schema {
        if map.contains_key("properties") && !map.contains_key("additionalProperties") {
            map.insert("additionalProperties".to_owned(), false.into());
        }
        map.remove("format");
        map.values_mut().for_each(close);
    } else if let Value::Array(items) = schema {
        items.iter_mut().for_each(close);
    }
}

#[test]
fn reports_fit_their_schema_and_hold_what_lint_says() {
    let mock = shop().start();
    let said = live(&mock, &["webhook", "report", "--dry-run=client", "-o", "json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let list: Value = serde_json::from_str(&said.out).unwrap();
    let reports = list["items"].as_array().unwrap();
    for kind in ["PolicyReport", "ClusterPolicyReport"] {
        let (schemas, index) = schema(kind);
        let of_kind: Vec<&Value> = reports.iter().filter(|report| report["kind"] == kind).collect();
        assert!(!of_kind.is_empty());
        for report in of_kind {
            let errors = schemas.validate(report, index).err().map(|error| format!("{error:#}"));
            assert_eq!(errors, None, "{report:#}");
        }
    }
    let linted = live(&mock, &["lint", "-o", "json"]);
    let linted: Value = serde_json::from_str(&linted.out).unwrap();
    let mut want: Vec<String> =
        linted["findings"].as_array().unwrap().iter().map(|one| format!("{} {}", one["code"], one["rule"])).collect();
    let results = reports
        .iter()
        .filter(|report| report["kind"] == "PolicyReport")
        .flat_map(|report| report["results"].as_array().unwrap());
    let results: Vec<&Value> = results.filter(|result| result["result"] != "pass").collect();
    let mut have: Vec<String> = results.iter().map(|one| format!("{} {}", one["policy"], one["rule"])).collect();
    want.sort();
    have.sort();
    assert_eq!(have, want);
    assert!(
        results.iter().all(|result| result["properties"]["field"].as_str().is_some_and(|field| !field.is_empty())),
        "{results:#?}"
    );
    assert!(!mock.requests().iter().any(|request| request.path.contains("wgpolicy")), "a client dry run writes");
}

/// Each run says what it covered; one that could judge nothing has passed nothing.
#[test]
fn a_report_has_a_scope_and_is_no_all_clear() {
    let report = |world: World| {
        let mock = world.start();
        let said = live(&mock, &["webhook", "report", "--dry-run=client", "-o", "json"]);
        let list: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}", said.err));
        let run = list["items"].as_array().unwrap().iter().find(|one| one["kind"] == "ClusterPolicyReport").unwrap();
        assert!(said.err.contains("scope: context"), "{}", said.err);
        (said.code, run.clone())
    };
    let (code, run) = report(shop());
    let message = run["results"][0]["message"].as_str().unwrap();
    assert_eq!((code, &run["summary"]["pass"], &run["summary"]["error"]), (0, &json!(1), &json!(0)), "{run}");
    for words in ["EnvoyFilters were checked; scope: context mock;", "1 of 1 config dump read"] {
        assert!(message.contains(words), "{words}: {message}");
    }
    let forbidden = |path: &str| shop().fault(path, Fault::Status(403, "not for you"), 99);
    let (code, run) = report(forbidden("/api/v1/namespaces/istio-system/configmaps"));
    assert_eq!((code, &run["summary"]["pass"]), (3, &json!(1)), "{run}");
    let (code, run) = report(forbidden("/apis/networking.istio.io/"));
    assert_eq!((code, &run["summary"]["pass"]), (3, &json!(0)), "{run}");
    assert!(run["results"][0]["message"].as_str().unwrap().starts_with("nothing could be judged"), "{run}");
}

/// What was written without being read in full is no success, unless that is accepted, as in a CronJob.
#[test]
fn a_report_of_a_part_ends_with_exit_code_3() {
    let configuration = "/api/v1/namespaces/istio-system/configmaps";
    let report = |forbidden: &[&str], more: &[&str]| {
        let world = shop().serving("wgpolicyk8s.io/v1alpha2");
        let fault = |world: World, path: &&str| world.fault(path, Fault::Status(403, "not for you"), 99);
        let mock = forbidden.iter().fold(world, fault).start();
        let said = live(&mock, &[&["webhook", "report"], more].concat());
        assert!(said.out.contains("reports written"), "{}{}", said.out, said.err);
        assert_eq!(said.err.contains("not allowed"), !forbidden.is_empty(), "{}", said.err);
        said.code
    };
    assert_eq!(report(&[], &[]), 0);
    assert_eq!(report(&[configuration], &[]), 3);
    assert_eq!(report(&[configuration], &["--dry-run=server"]), 3);
    assert_eq!(report(&[configuration], &["--allow-partial"]), 0);
}

/// The same results in the successor API of PolicyReports; both if both are requested.
#[test]
fn reports_are_written_for_either_api() {
    let mock = shop().start();
    let listed = |api: &str| -> Vec<Value> {
        let said = live(&mock, &["webhook", "report", "--dry-run=client", "-o", "json", "--api", api]);
        assert_eq!(said.code, 0, "{}", said.err);
        let list: Value = serde_json::from_str(&said.out).unwrap();
        list["items"].as_array().unwrap().clone()
    };
    let old = listed("wgpolicyk8s.io");
    let new = listed("openreports.io");
    assert_eq!(listed("wgpolicyk8s.io,openreports.io").len(), old.len() + new.len());
    assert_eq!(old.len(), new.len());
    let results = |report: &Value| -> Vec<Value> {
        let mut results = report["results"].as_array().unwrap().clone();
        results.iter_mut().for_each(|result| result["timestamp"] = Value::Null);
        results
    };
    for (old, new) in old.iter().zip(&new) {
        let cluster = old["kind"] == "ClusterPolicyReport";
        assert_eq!(new["kind"], if cluster { "ClusterReport" } else { "Report" });
        assert_eq!(
            (&new["apiVersion"], &new["source"]),
            (&json!("openreports.io/v1alpha1"), &json!("kubectl-envoyfilter"))
        );
        assert_eq!(results(old), results(new));
        assert_eq!(
            (&old["scope"], &old["summary"], &old["metadata"]),
            (&new["scope"], &new["summary"], &new["metadata"])
        );
        let (schemas, index) = open_schema(old["kind"].as_str().unwrap());
        let errors = schemas.validate(new, index).err().map(|error| format!("{error:#}"));
        assert_eq!(errors, None, "{new:#}");
    }
    let said = live(&mock, &["webhook", "report", "--api", "openreports.io"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("no Reports (openreports.io)"), "{}", said.err);
}

#[test]
fn unreportable_findings_are_mentioned() {
    let mock = shop().start();
    let said = live(&mock, &["webhook", "report"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("no PolicyReports"), "{}", said.err);
    for (arguments, words) in [
        (&["--shard", "3/3"][..], "counted from 0"),
        (&["--shards", "2"], "JOB_COMPLETION_INDEX"),
        (&["-l", "a=b"], "not a capture"),
    ] {
        let said = live(&mock, &[&["webhook", "report"], arguments].concat());
        assert_eq!(said.code, 2, "{arguments:?}");
        assert!(said.err.contains(words), "{arguments:?}: {}", said.err);
    }
}

/// A filter whose proxies could not be read does not pass, and a pass says nothing about the others.
#[test]
fn a_filter_passes_only_on_proxies_that_were_read() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.yaml");
    // A rule that finds nothing here.
    fs::write(&config, "select: [EF101]\n").unwrap();
    let config = config.to_str().unwrap();
    let results = |world: World| -> Vec<(String, String)> {
        let mock = world.start();
        let options = ["--dry-run=client", "-o", "json", "--dump-via", "pod-proxy", "--all-replicas"];
        let said = live(&mock, &[&["webhook", "report", "--config", config], &options[..]].concat());
        let list: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}{}", said.out, said.err));
        let reports = list["items"].as_array().unwrap().iter().filter(|report| report["kind"] == "PolicyReport");
        let results = reports.flat_map(|report| report["results"].as_array().unwrap().clone());
        let text = |result: &Value, key: &str| result[key].as_str().unwrap().to_owned();
        let about_all = results.filter(|result| result["policy"] == "kubectl-envoyfilter");
        about_all.map(|result| (text(&result, "result"), text(&result, "message"))).collect()
    };
    let good = || mesh(&[dump_with("2s", None), dump_with("2s", None)]);
    let pair = |result: &str, message: &str| (result.to_owned(), message.to_owned());
    let pass = pair("pass", "no findings");
    assert_eq!(results(good()), std::slice::from_ref(&pass));
    let denied = |pod: &str| (format!("/api/v1/namespaces/shop/pods/{pod}"), Fault::Status(403, "denied by the test"));
    let (path, fault) = denied("cart-2");
    let skipped = pair("skip", "not checked on 1 of 2 proxies: no config dump");
    assert_eq!(results(good().fault(&path, fault, 99)), [pass, skipped]);
    let (path, fault) = denied("cart-");
    let skipped = pair("skip", "not checked on 2 of 2 proxies: no config dump");
    assert_eq!(results(good().fault(&path, fault, 99)), [skipped]);
    let unlisted = results(good().fault("/api/v1/namespaces/shop/pods?", Fault::Status(403, "denied by the test"), 99));
    assert!(unlisted.iter().all(|(result, message)| result == "skip" && message.contains("pods")), "{unlisted:?}");
    assert!(!unlisted.is_empty());
}
