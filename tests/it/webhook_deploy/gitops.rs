//! `deploy/gitops` for Argo CD and Flux: health checks in Argo CD's Lua, and jobs with valid arguments.

use super::{deploy_folder, objects, run};
use crate::support::go;
use serde_json::{Value, json};
use std::fs;

/// The health of an object according to a file of `deploy/gitops/argocd`.
fn health(file: &str, object: &Value) -> Value {
    let script = deploy_folder().join("gitops/argocd").join(file);
    go("argocd", &[script.to_str().unwrap()], object)
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn health_checks_run_in_the_lua_of_argo_cd() {
    let filter = |status: Value| json!({"kind": "EnvoyFilter", "metadata": {"name": "a"}, "status": status});
    let message = |level: &str| json!({"level": level, "type": {"code": "IST0151", "name": "Relative"}});
    for (object, status, words) in [
        (json!({"kind": "EnvoyFilter", "metadata": {"name": "a"}}), "Healthy", "not checked"),
        // A status without content, as `kubectl apply` writes it, says nothing.
        (filter(json!({})), "Healthy", "not checked"),
        (filter(json!({"validationMessages": [message("INFO")]})), "Healthy", "INFO IST0151"),
        (filter(json!({"validationMessages": [message("WARNING")]})), "Healthy", "WARNING IST0151"),
        (filter(json!({"validationMessages": [message("WARNING"), message("ERROR")]})), "Degraded", "ERROR IST0151"),
        (
            filter(json!({"conditions": [{"type": "Reconciled", "status": "False", "message": "1/3 proxies"}]})),
            "Progressing",
            "1/3 proxies",
        ),
        (
            filter(json!({"conditions": [{"type": "Reconciled", "status": "True", "message": "3/3 proxies"}]})),
            "Healthy",
            "3/3 proxies; its effect is not checked",
        ),
        // It stays wrong when all proxies have it.
        (
            filter(json!({
                "validationMessages": [message("ERROR")],
                "conditions": [{"type": "Reconciled", "status": "False", "message": "1/3 proxies"}],
            })),
            "Degraded",
            "ERROR IST0151",
        ),
    ] {
        let said = health("envoyfilter.lua", &object);
        assert_eq!(said["status"], status, "{object}: {said}");
        assert!(said["message"].as_str().unwrap().contains(words), "{object}: {said}");
    }
    let report = |results: Value| json!({"kind": "PolicyReport", "metadata": {"name": "a"}, "results": results});
    let result = |result: &str| json!({"policy": "EF301", "result": result, "message": "it leaks"});
    for (object, status, words) in [
        (report(json!([result("pass")])), "Healthy", "no findings"),
        (report(json!([result("pass"), result("warn")])), "Healthy", "EF301: it leaks"),
        (report(json!([result("warn"), result("fail")])), "Degraded", "EF301: it leaks"),
        (report(json!([result("error")])), "Degraded", "it leaks"),
        (report(json!([])), "Unknown", "no results"),
        (report(json!([result("skip")])), "Unknown", "it leaks"),
        (report(json!([result("pass"), result("skip")])), "Healthy", "it leaks"),
        (report(json!([result("skip"), result("warn")])), "Healthy", "it leaks; EF301: it leaks"),
    ] {
        let said = health("report.lua", &object);
        assert_eq!(said["status"], status, "{object}: {said}");
        assert!(said["message"].as_str().unwrap().contains(words), "{object}: {said}");
    }
}

/// The ConfigMap contains the tested checks.
#[test]
fn the_configmap_of_argo_cd_holds_the_checks() {
    let folder = deploy_folder().join("gitops/argocd");
    let map = objects(&fs::read_to_string(folder.join("argocd-cm.yaml")).unwrap());
    let data = map["ConfigMap argocd/argocd-cm"]["data"].as_object().unwrap().clone();
    let keys = [
        ("networking.istio.io_EnvoyFilter", "envoyfilter.lua"),
        ("wgpolicyk8s.io_PolicyReport", "report.lua"),
        ("openreports.io_Report", "report.lua"),
    ];
    assert_eq!(data.len(), keys.len());
    for (key, file) in keys {
        let key = format!("resource.customizations.health.{key}");
        assert_eq!(data[&key], fs::read_to_string(folder.join(file)).unwrap(), "{key}");
    }
}

/// The Job runs commands with valid options, which fail as it requires.
#[test]
fn the_job_before_a_sync_runs_what_exists() {
    let job = objects(&fs::read_to_string(deploy_folder().join("gitops/argocd/presync-diff.yaml")).unwrap());
    let pod = job["Job /envoyfilter-diff"]["spec"]["template"]["spec"].clone();
    let folder = tempfile::tempdir().unwrap();
    let good = "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: new, namespace: shop}\nspec:\n  \
                workloadSelector: {labels: {app: cart}}\n  configPatches:\n  - applyTo: CLUSTER\n    match: {context: SIDECAR_OUTBOUND}\n    \
                patch: {operation: MERGE, value: {connect_timeout: 3s}}\n";
    fs::write(folder.path().join("new.yaml"), good).unwrap();
    let here = folder.path().to_str().unwrap();
    let of = |container: &Value| -> Vec<String> {
        let arguments = container["args"].as_array().unwrap().iter();
        arguments.map(|argument| argument.as_str().unwrap().replace("/filters", here)).collect()
    };
    let [lint, diff] = [of(&pod["initContainers"][0]), of(&pod["containers"][0])];
    let lint: Vec<&str> = lint.iter().map(String::as_str).collect();
    let (code, _, err) = run(&lint);
    assert_eq!(code, 0, "{err}");
    // A change is accepted, but not one that cannot be judged.
    let mut diff: Vec<&str> = diff.iter().map(String::as_str).collect();
    let (code, _, err) = run(&diff);
    assert!(code > 1, "without a cluster nothing is judged: {err}");
    diff.push("--demo");
    let (code, out, err) = run(&diff);
    assert_eq!(code, 0, "{out}{err}");
    diff.retain(|argument| *argument != "--accept-changes");
    assert_eq!(run(&diff).0, 1);
    fs::write(folder.path().join("new.yaml"), good.replace("MERGE", "MERG")).unwrap();
    assert_eq!(run(&lint).0, 1);
}

/// The Flux example installs what `deploy/` has, and the filters wait for it.
#[test]
fn the_flux_example_waits_for_the_admission_server() {
    let flux = objects(&fs::read_to_string(deploy_folder().join("gitops/flux/envoyfilters.yaml")).unwrap());
    let filters = &flux["Kustomization flux-system/envoyfilters"]["spec"];
    assert_eq!(filters["dependsOn"], json!([{"name": "envoyfilter-webhook"}]));
    let server = &flux["Kustomization flux-system/envoyfilter-webhook"]["spec"]["healthChecks"][0];
    let installed = super::installed(super::Certificates::Own, super::Parts::default());
    let (kind, namespace) = (server["kind"].as_str().unwrap(), server["namespace"].as_str().unwrap());
    assert!(installed.contains_key(&format!("{kind} {namespace}/{}", server["name"].as_str().unwrap())));
}
