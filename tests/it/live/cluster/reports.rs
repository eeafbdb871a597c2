//! `webhook report` on the real API server: written, shared, cleaned up, with the rights of its own account.

use super::{cluster, documents, text};
use crate::linting::yaml_files;
use crate::live::run;
use crate::support::testdata;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// Makes the kinds of reports known, once.
pub(super) fn kinds_of_reports() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        for path in yaml_files(&testdata("policy-report")) {
            let definition = documents(&std::fs::read_to_string(path).unwrap());
            let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            cluster().send("POST", path, "application/json", &definition[0]).unwrap();
        }
        cluster().wait_for("/apis/wgpolicyk8s.io/v1alpha2/policyreports");
        cluster().wait_for("/apis/wgpolicyk8s.io/v1alpha2/clusterpolicyreports");
    });
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

    // However the work is shared, the reports are the same, and nobody takes away another's.
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
    // The index as an Indexed Job gives it.
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
    // An installation takes its reports along; one of another name does not.
    run(&kubeconfig, &["webhook", "uninstall", "--name", "other-audit"]);
    assert!(!results("audited").is_empty());
    let gone = run(&kubeconfig, &["webhook", "uninstall", "--name", "audited"]);
    assert!(gone.out.contains("policyreport.wgpolicyk8s.io/"), "{}{}", gone.out, gone.err);
    assert!(results("audited").is_empty());
}

/// The account of the CronJob can do it, and nothing is missing for it that an administrator sees.
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
        ],
    );
    assert_eq!(installed.code, 0, "{}{}", installed.out, installed.err);
    let arguments =
        ["webhook", "report", "--name", "accounted", "--as", "system:serviceaccount:accounts:accounted-report"];
    // The authorizer sees new roles after a moment.
    let mut said = run(&kubeconfig, &arguments);
    for _ in 0..20 {
        if said.code == 0 && !said.err.contains("not allowed") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(250));
        said = run(&kubeconfig, &arguments);
    }
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    let runs = list("/apis/wgpolicyk8s.io/v1alpha2/clusterpolicyreports");
    let own = runs.iter().find(|run| text(run, "/metadata/name") == "accounted-0-of-1").unwrap();
    assert_eq!((&own["summary"]["error"], &own["summary"]["pass"]), (&0.into(), &1.into()), "{own:#}");
    assert_eq!(run(&kubeconfig, &["webhook", "uninstall", "-n", "accounts", "--name", "accounted"]).code, 0);
    assert!(results("accounted").is_empty());
}
