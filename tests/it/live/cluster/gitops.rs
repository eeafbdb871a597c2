//! `deploy/gitops` in a cluster: the PreSync Job with its account and its command; the Flux example by Flux's own definitions.

use super::{cluster, collection, documents, run, text};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const NAMESPACE: &str = "synced";
const ACCOUNT: &str = "envoyfilter-diff";

/// An EnvoyFilter for the workloads with this label.
fn filter(app: &str) -> String {
    format!(
        "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: new, namespace: {NAMESPACE}}}\nspec:\n  \
         workloadSelector: {{labels: {{app: {app}}}}}\n  configPatches:\n  - applyTo: CLUSTER\n    match: {{context: SIDECAR_OUTBOUND}}\n    \
         patch: {{operation: MERGE, value: {{connect_timeout: 3s}}}}\n"
    )
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn the_job_before_a_sync_runs_with_the_rights_of_its_account() {
    let cluster = cluster();
    cluster.shop(NAMESPACE, 1);
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/gitops/argocd/presync-diff.yaml");
    let mut objects = documents(&fs::read_to_string(deploy).unwrap());
    objects.push(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT}}));
    for object in &mut objects {
        object["metadata"]["namespace"] = NAMESPACE.into();
        let path = collection(object);
        cluster.send("POST", &path, "application/json", object).unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{ACCOUNT}/token");
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token = cluster.send("POST", &path, "application/json", &request).unwrap();
    let admin = cluster.kubeconfig("admin", NAMESPACE);
    let account = cluster.folder.path().join("presync.kubeconfig");
    let user = format!("users: [{{name: admin, user: {{token: {}}}}}]", text(&token, "/status/token"));
    let of_admin = fs::read_to_string(&admin).unwrap();
    let lines: Vec<&str> = of_admin.lines().map(|line| if line.starts_with("users:") { &user } else { line }).collect();
    fs::write(&account, lines.join("\n")).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let job = objects.iter().find(|object| text(object, "/kind") == "Job").unwrap();
    let arguments = job.pointer("/spec/template/spec/containers/0/args").and_then(Value::as_array).unwrap();
    let here = folder.path().to_str().unwrap();
    let arguments: Vec<String> =
        arguments.iter().map(|argument| argument.as_str().unwrap().replace("/filters", here)).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let new = folder.path().join("new.yaml");
    fs::write(&new, filter("cart")).unwrap();
    let before = run(&account, &arguments);
    assert!(before.code > 1 && before.err.contains("not allowed"), "{}: {}", before.code, before.err);

    let binding = format!("serviceaccount:{NAMESPACE}:{ACCOUNT}");
    let printed = run(&admin, &["rbac", "diff", "--binding", &binding]);
    assert_eq!(printed.code, 0, "{}", printed.err);
    let rights = documents(&printed.out);
    cluster.create(&rights);
    // The authorizer sees new roles with a delay.
    let mut said = run(&account, &arguments);
    for _ in 0..40 {
        if said.code == 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(250));
        said = run(&account, &arguments);
    }
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("connect_timeout") && said.out.contains("3s"), "{}", said.out);

    // No proxy that it reaches: that is not a success, and the sync stops.
    fs::write(&new, filter("nobody")).unwrap();
    let said = run(&account, &arguments);
    assert!(said.code > 1, "{}: {}{}", said.code, said.out, said.err);
    for object in &rights {
        let path = format!("{}/{}", collection(object), text(object, "/metadata/name"));
        cluster.send("DELETE", &path, "application/json", &Value::Null).unwrap();
    }
}

/// The API server stores the example as written, and knows every field: a misspelled one is refused.
#[test]
#[ignore = "needs Go: .ci/run"]
fn flux_takes_the_example() {
    let cluster = cluster();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let printed = Command::new(root.join("tests/cluster/flux/crds.sh")).output().unwrap();
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    for path in String::from_utf8(printed.stdout).unwrap().lines() {
        cluster.create(&documents(&fs::read_to_string(path).unwrap()));
    }
    cluster.wait_for("/apis/source.toolkit.fluxcd.io/v1/gitrepositories");
    cluster.wait_for("/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations");
    cluster.create(&[json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "flux-system"}})]);
    let example = fs::read_to_string(root.join("deploy/gitops/flux/envoyfilters.yaml")).unwrap();
    let objects = documents(&example);
    assert_eq!(objects.len(), 3);
    let strict = |object: &Value| {
        let path = format!("{}?fieldValidation=Strict", collection(object));
        cluster.send("POST", &path, "application/json", object)
    };
    for object in &objects {
        let mut wrong = object.clone();
        wrong["metadata"]["name"] = "wrong".into();
        wrong["spec"]["intervall"] = "5m".into();
        let refused = strict(&wrong).unwrap_err().to_string();
        assert!(refused.contains("unknown field \"spec.intervall\""), "{refused}");
        let stored = strict(object).unwrap();
        for (field, value) in object["spec"].as_object().unwrap() {
            assert_eq!(stored["spec"][field], *value, "{field} of {}", text(object, "/metadata/name"));
        }
    }
}
