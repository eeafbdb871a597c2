//! `webhook report` on the real API server: written, shared, cleaned up, with the rights of its own account.

use super::{cluster, documents, text};
use crate::linting::yaml_files;
use crate::live::run;
use crate::support::testdata;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Installs the kinds of reports once: PolicyReports, and Reports as their own project defines them.
pub(super) fn kinds_of_reports() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster/reports/crds.sh");
        let printed = Command::new(script).output().unwrap();
        assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
        let open = PathBuf::from(String::from_utf8(printed.stdout).unwrap().trim());
        for path in yaml_files(&testdata("policy-report")).into_iter().chain([open]) {
            for definition in documents(&std::fs::read_to_string(path).unwrap()) {
                let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
                cluster().send("POST", path, "application/json", &definition).unwrap();
            }
        }
        for kind in ["wgpolicyk8s.io/v1alpha2/policyreports", "wgpolicyk8s.io/v1alpha2/clusterpolicyreports"] {
            cluster().wait_for(&format!("/apis/{kind}"));
        }
        for kind in ["openreports.io/v1alpha1/reports", "openreports.io/v1alpha1/clusterreports"] {
            cluster().wait_for(&format!("/apis/{kind}"));
        }
    });
}

/// The API server stores the same in Reports as in PolicyReports: every written field, pruned by the schema of their
/// own project.
#[test]
#[ignore = "needs Go: .ci/run"]
fn reports_of_either_api_hold_the_same() {
    let cluster = cluster();
    kinds_of_reports();
    cluster.shop("opened", 1);
    let kubeconfig = cluster.kubeconfig("admin", "opened");
    let arguments = ["webhook", "report", "--name", "opened", "--api", "openreports.io,wgpolicyk8s.io"];
    let said = run(&kubeconfig, &arguments);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let content = |report: &Value| -> Value {
        let mut report = report.clone();
        let object = report.as_object_mut().unwrap();
        object.retain(|key, _| ["scope", "summary", "results"].contains(&key.as_str()));
        for result in object["results"].as_array_mut().unwrap() {
            result["timestamp"] = Value::Null;
        }
        report
    };
    let stored = |path: &str| -> BTreeMap<String, Value> {
        let all = list(path)
            .into_iter()
            .filter(|report| report["metadata"]["labels"]["app.kubernetes.io/instance"] == "opened");
        all.map(|report| (text(&report, "/metadata/name").to_owned(), content(&report))).collect()
    };
    let open = stored("/apis/openreports.io/v1alpha1/namespaces/opened/reports");
    let old = stored("/apis/wgpolicyk8s.io/v1alpha2/namespaces/opened/policyreports");
    let filters = list("/apis/networking.istio.io/v1alpha3/namespaces/opened/envoyfilters");
    assert_eq!(open.len(), filters.len(), "{open:?}");
    assert_eq!(open, old);
    let runs = stored("/apis/openreports.io/v1alpha1/clusterreports");
    assert_eq!(runs, stored("/apis/wgpolicyk8s.io/v1alpha2/clusterpolicyreports"));
    assert_eq!(runs.keys().collect::<Vec<_>>(), ["opened-0-of-1"]);
    // Nothing was pruned: the stored object equals the written one.
    let dry = run(&kubeconfig, &[&arguments[..], &["--dry-run=client", "-o", "json"]].concat());
    let dry: Value = serde_json::from_str(&dry.out).unwrap();
    let written: Vec<&Value> = dry["items"].as_array().unwrap().iter().filter(|one| one["kind"] == "Report").collect();
    assert_eq!(written.len(), open.len());
    for report in written {
        assert_eq!(content(report), open[text(report, "/metadata/name")]);
        let path =
            format!("/apis/openreports.io/v1alpha1/namespaces/opened/reports/{}", text(report, "/metadata/name"));
        let stored = cluster.send("GET", &path, "application/json", &Value::Null).unwrap();
        assert_eq!(stored["source"], report["source"]);
        assert_eq!(stored["metadata"]["ownerReferences"][0]["kind"], "EnvoyFilter");
    }
    // They are deleted with their filter, and with the installation.
    let path = "/apis/networking.istio.io/v1alpha3/namespaces/opened/envoyfilters/stamp-requests";
    cluster.send("DELETE", path, "application/json", &Value::Null).unwrap();
    assert_eq!(run(&kubeconfig, &arguments).code, 0);
    let left = stored("/apis/openreports.io/v1alpha1/namespaces/opened/reports");
    assert_eq!(left.len(), open.len() - 1);
    assert!(!left.contains_key("envoyfilter-stamp-requests"));
    let kept = run(&kubeconfig, &["webhook", "uninstall", "--name", "opened", "--keep-reports"]);
    assert!(!kept.out.contains("report"), "{}{}", kept.out, kept.err);
    let gone = run(&kubeconfig, &["webhook", "uninstall", "--name", "opened"]);
    assert!(gone.out.contains("\nreport.openreports.io/"), "{}{}", gone.out, gone.err);
    assert!(stored("/apis/openreports.io/v1alpha1/namespaces/opened/reports").is_empty());
    assert!(stored("/apis/openreports.io/v1alpha1/clusterreports").is_empty());
}

fn list(path: &str) -> Vec<Value> {
    let list = cluster().send("GET", path, "application/json", &Value::Null).unwrap();
    list["items"].as_array().unwrap().clone()
}

/// The results of all reports of a namespace, by filter.
fn results(namespace: &str) -> BTreeMap<String, Vec<String>> {
    let mut results = BTreeMap::<String, Vec<String>>::new();
    for report in list(&format!("/apis/wgpolicyk8s.io/v1alpha2/namespaces/{namespace}/policyreports")) {
        let of = results.entry(text(&report, "/scope/name").to_owned()).or_default();
        let all = report["results"].as_array().unwrap().iter();
        of.extend(all.map(|one| format!("{} {} {}", one["result"], one["policy"], one["message"])));
        of.sort();
    }
    results
}

fn report(kubeconfig: &Path, more: &[&str]) -> String {
    let said = run(kubeconfig, &[&["webhook", "report", "--name", "audited"], more].concat());
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    said.out
}

#[test]
#[ignore = "needs Go and kubectl: .ci/run"]
fn reports_are_written_shared_and_cleaned_up() {
    let cluster = cluster();
    kinds_of_reports();
    cluster.shop("audited", 2);
    let kubeconfig = cluster.kubeconfig("admin", "audited");
    report(&kubeconfig, &[]);
    let first = results("audited");
    let filters = list("/apis/networking.istio.io/v1alpha3/namespaces/audited/envoyfilters");
    assert_eq!(first.len(), filters.len(), "{first:?}");
    assert!(first.values().flatten().any(|result| result.contains("fail")), "{first:?}");
    let one = &list("/apis/wgpolicyk8s.io/v1alpha2/namespaces/audited/policyreports")[0];
    let owner = filters.iter().find(|filter| filter["metadata"]["name"] == one["scope"]["name"]).unwrap();
    assert_eq!(one["metadata"]["ownerReferences"][0]["uid"], owner["metadata"]["uid"]);
    let shown = Command::new("kubectl").args(["get", "policyreport"]).env("KUBECONFIG", &kubeconfig).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    println!("{shown}");
    assert!(shown.contains("FAIL") && shown.contains("envoyfilter-stamp-requests"), "{shown}");

    // However the work is shared, the reports are the same, and nobody deletes another's.
    for number in [3, 2] {
        for index in 0..number {
            report(&kubeconfig, &["--shard", &format!("{index}/{number}")]);
        }
        assert_eq!(results("audited"), first, "{number} shards");
        let runs = list("/apis/wgpolicyk8s.io/v1alpha2/clusterpolicyreports");
        let runs: Vec<&str> =
            runs.iter().map(|run| text(run, "/metadata/name")).filter(|name| name.starts_with("audited-")).collect();
        assert_eq!(runs.len(), number, "{runs:?}");
    }
    // The index as an Indexed Job sets it.
    let index = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(["webhook", "report", "--name", "audited", "--shards", "2"])
        .env("JOB_COMPLETION_INDEX", "1")
        .env("KUBECONFIG", &kubeconfig)
        .output()
        .unwrap();
    assert!(index.status.success(), "{}", String::from_utf8_lossy(&index.stderr));

    let path = "/apis/networking.istio.io/v1alpha3/namespaces/audited/envoyfilters/stamp-requests";
    cluster.send("DELETE", path, "application/json", &Value::Null).unwrap();
    let said = report(&kubeconfig, &[]);
    assert!(!said.contains(" 0 old ones"), "{said}");
    assert!(!results("audited").contains_key("stamp-requests"));
    assert_eq!(results("audited").len(), first.len() - 1);
    // Uninstalling deletes its reports; uninstalling one with another name does not.
    run(&kubeconfig, &["webhook", "uninstall", "--name", "other-audit"]);
    assert!(!results("audited").is_empty());
    let gone = run(&kubeconfig, &["webhook", "uninstall", "--name", "audited"]);
    assert!(gone.out.contains("policyreport.wgpolicyk8s.io/"), "{}{}", gone.out, gone.err);
    assert!(results("audited").is_empty());
}

/// The account of the CronJob has all permissions that it needs to match an administrator's report.
#[test]
#[ignore = "needs Go: .ci/run"]
fn the_report_account_can_write_reports() {
    let cluster = cluster();
    kinds_of_reports();
    cluster.shop("accounted", 1);
    let kubeconfig = cluster.kubeconfig("admin", "accounted");
    let installed = run(
        &kubeconfig,
        &[
            "webhook",
            "install",
            "-n",
            "accounts",
            "--name",
            "accounted",
            "--image",
            "x:1",
            "--report-dump-via",
            "port-forward",
            "--report-api",
            "wgpolicyk8s.io,openreports.io",
        ],
    );
    assert_eq!(installed.code, 0, "{}{}", installed.out, installed.err);
    let arguments = [
        &["webhook", "report", "--name", "accounted", "--api", "wgpolicyk8s.io,openreports.io"][..],
        &["--as", "system:serviceaccount:accounts:accounted-report"],
    ]
    .concat();
    // The authorizer sees new roles with a delay.
    let mut said = run(&kubeconfig, &arguments);
    for _ in 0..20 {
        if said.code == 0 && !said.err.contains("not allowed") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(250));
        said = run(&kubeconfig, &arguments);
    }
    let said_more: Vec<&str> = said.err.lines().filter(|line| !line.starts_with("scope: ")).collect();
    assert_eq!((said.code, said_more), (0, Vec::new()), "{}", said.out);
    let runs = list("/apis/wgpolicyk8s.io/v1alpha2/clusterpolicyreports");
    let own = runs.iter().find(|run| text(run, "/metadata/name") == "accounted-0-of-1").unwrap();
    assert!(list("/apis/openreports.io/v1alpha1/clusterreports").iter().any(|run| run["summary"] == own["summary"]));
    assert_eq!((&own["summary"]["error"], &own["summary"]["pass"]), (&0.into(), &1.into()), "{own:#}");
    assert_eq!(run(&kubeconfig, &["webhook", "uninstall", "-n", "accounts", "--name", "accounted"]).code, 0);
    assert!(results("accounted").is_empty());
}
