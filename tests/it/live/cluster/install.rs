//! `webhook install`, `status` and `uninstall` on the real API server.

use super::{cluster, documents, text};
use crate::live::{Said, run};
use base64::Engine;
use kubectl_envoyfilter::cluster::kinds::MADE;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// `auth can-i` of the server's account, by impersonation.
fn can(kubeconfig: &Path, account: &str, arguments: &[&str]) -> bool {
    let output = Command::new("kubectl")
        .args(["auth", "can-i", "--as", &format!("system:serviceaccount:{account}")])
        .args(arguments)
        .env("KUBECONFIG", kubeconfig)
        .output()
        .expect("kubectl is not installed");
    String::from_utf8(output.stdout).unwrap().trim() == "yes"
}

/// Every object with the labels of an installation.
fn left(name: &str) -> Vec<String> {
    let mut left = Vec::new();
    for kind in MADE {
        let path = kind.path(kind.versions[0], None, None);
        let path = format!("{path}?labelSelector=app.kubernetes.io/instance%3D{name}");
        let Ok(list) = cluster().send("GET", &path, "application/json", &Value::Null) else { continue };
        let items = list["items"].as_array().unwrap();
        // Deleting a namespace needs a controller, which does not run here.
        let items = items.iter().filter(|item| item["metadata"]["deletionTimestamp"].is_null());
        left.extend(items.map(|item| format!("{} {}", kind.kind, text(item, "/metadata/name"))));
    }
    left
}

#[test]
#[ignore = "needs Go and kubectl: .ci/run"]
fn installed_looked_after_and_removed() {
    let cluster = cluster();
    let kubeconfig = cluster.kubeconfig("admin", "default");
    let webhook = |arguments: &[&str]| -> Said {
        let all = [&["webhook"], arguments, &["-n", "gate", "--name", "door"]].concat();
        run(&kubeconfig, &all)
    };
    let before = webhook(&["status"]);
    assert_eq!(before.code, 1, "{}{}", before.out, before.err);
    assert!(
        before.out.contains("EnvoyFilters are not reviewed") && before.out.contains("webhook install"),
        "{}",
        before.out
    );

    let options = ["install", "--service-monitor", "--sample-proxies", "2", "--image", "example/door:1"];
    let said = webhook(&options);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.err.contains("no ServiceMonitors") && !said.err.contains("warning"), "{}", said.err);
    assert!(said.out.contains("namespace/gate applied") && said.out.contains("deployment.apps/door in gate applied"));
    let get = |path: &str| cluster.send("GET", path, "application/json", &Value::Null);
    let deployment = get("/apis/apps/v1/namespaces/gate/deployments/door").unwrap();
    let managers = deployment["metadata"]["managedFields"].to_string();
    assert!(managers.contains("kubectl-envoyfilter") && managers.contains("Apply"), "{managers}");

    // What the server writes survives a reinstallation.
    let bundle = base64::engine::general_purpose::STANDARD.encode(authority().0);
    let webhooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/door";
    let patch = json!([{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle}]);
    let status = webhook(&["status"]);
    assert_eq!(status.code, 1, "{}", status.out);
    assert!(status.out.contains("no caBundle") && status.out.contains("none of 2 replicas is ready"), "{}", status.out);
    assert!(status.out.contains("admitted without a warning"), "{}", status.out);
    cluster.send("PATCH", webhooks, "application/json-patch+json", &patch).unwrap();
    let secret = |leaf: &str| {
        let data = json!({"data": {"tls.crt": base64::engine::general_purpose::STANDARD.encode(leaf)}});
        let place = "/api/v1/namespaces/gate/secrets/door-tls";
        cluster.send("PATCH", place, "application/merge-patch+json", &data).unwrap();
    };
    let (authority_pem, issuer) = authority();
    assert!(!authority_pem.is_empty());
    for (leaf, words) in [
        (signed(&issuer, 90), "does not contain the authority that signed"),
        (String::new(), "contains no certificate"),
    ] {
        secret(&leaf);
        let status = webhook(&["status"]);
        assert!(status.out.contains(words), "{words}: {}", status.out);
    }
    let bundle = base64::engine::general_purpose::STANDARD.encode(&authority_pem);
    let patch = json!([{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle}]);
    cluster.send("PATCH", webhooks, "application/json-patch+json", &patch).unwrap();
    for (days, words) in [(90, "expires in 89 days"), (3, "should have been renewed"), (-1, "the certificate expired")]
    {
        secret(&signed(&issuer, days));
        let status = webhook(&["status"]);
        assert!(status.out.contains(words), "{words}: {}", status.out);
    }
    let second = webhook(&["install", "--no-network-policy", "--image", "example/door:2", "--mode", "audit"]);
    assert_eq!(second.code, 0, "{}{}", second.out, second.err);
    assert!(second.out.contains("networkpolicy.networking.k8s.io/door in gate removed"), "{}", second.out);
    assert!(second.out.contains("clusterrole.rbac.authorization.k8s.io/door-proxies removed"), "{}", second.out);
    let kept = get(webhooks).unwrap();
    assert_eq!(kept["webhooks"][0]["clientConfig"]["caBundle"], bundle);
    let kept = get("/api/v1/namespaces/gate/secrets/door-tls").unwrap();
    assert!(kept["data"]["tls.crt"].is_string(), "{kept}");
    let ready = json!({"status": {"replicas": 2, "readyReplicas": 1, "observedGeneration": 2}});
    cluster
        .send("PATCH", "/apis/apps/v1/namespaces/gate/deployments/door/status", "application/merge-patch+json", &ready)
        .unwrap();
    let status = webhook(&["status", "-o", "json"]);
    let status: Value = serde_json::from_str(&status.out).unwrap();
    assert!(status.to_string().contains("1 of 2 replicas ready, example/door:2"), "{status}");
    assert!(status.to_string().contains("mode audit denies nothing"), "{status}");

    // Another installation with the same name is left alone.
    let elsewhere = run(&kubeconfig, &["webhook", "install", "-n", "other", "--name", "door", "--image", "x:1"]);
    assert_eq!(elsewhere.code, 2, "{}", elsewhere.out);
    assert!(elsewhere.err.contains("is installed in namespace gate"), "{}", elsewhere.err);

    let gone = webhook(&["uninstall", "--dry-run=client"]);
    assert_eq!(gone.code, 0);
    assert!(gone.out.contains("would be removed") && !left("door").is_empty());
    let gone = webhook(&["uninstall"]);
    assert_eq!(gone.code, 0, "{}{}", gone.out, gone.err);
    assert_eq!(left("door"), [""; 0]);
    for made_by_server in ["secret/door-tls", "lease.coordination.k8s.io/door", "namespace/gate"] {
        assert!(gone.out.contains(made_by_server), "{made_by_server}: {}", gone.out);
    }
    assert!(webhook(&["uninstall"]).err.contains("no installation door found"));
}

/// An existing namespace stays.
#[test]
#[ignore = "needs Go: .ci/run"]
fn an_existing_namespace_stays() {
    let cluster = cluster();
    cluster.create(&documents("apiVersion: v1\nkind: Namespace\nmetadata: {name: shared}"));
    let kubeconfig = cluster.kubeconfig("admin", "default");
    let run = |words: &str| run(&kubeconfig, &words.split(' ').collect::<Vec<_>>());
    let said = run("webhook install -n shared --name guest --no-report --image x:1");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_eq!(run("webhook install -n shared --name guest --no-report --image x:1 --dry-run server").code, 0);
    assert_eq!(run("webhook uninstall -n shared --name guest").code, 0);
    assert_eq!(left("guest"), [""; 0]);
    let namespace = cluster.send("GET", "/api/v1/namespaces/shared", "application/json", &Value::Null).unwrap();
    assert!(namespace["metadata"]["deletionTimestamp"].is_null());
}

/// If one object is rejected, the others are restored: existing ones stay, and new ones are removed.
#[test]
#[ignore = "needs Go: .ci/run"]
fn an_installation_is_complete_or_absent() {
    let cluster = cluster();
    let kubeconfig = cluster.kubeconfig("admin", "default");
    let policy = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-cron-jobs}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [batch], apiVersions: [v1], operations: [CREATE], resources: [cronjobs]}]}
  matchConditions: [{name: one, expression: 'object.metadata.namespace.startsWith(\"broken\")'}]
  validations: [{expression: 'false', message: no cron jobs here}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-cron-jobs}
spec: {policyName: no-cron-jobs, validationActions: [Deny]}
---
apiVersion: v1
kind: Namespace
metadata: {name: broken-old}";
    cluster.create(&documents(policy));
    // The API server enforces a new policy with a delay.
    std::thread::sleep(std::time::Duration::from_secs(5));
    for (namespace, words) in [("broken-old", "nothing was changed"), ("broken-new", "were removed again")] {
        let said = run(&kubeconfig, &["webhook", "install", "-n", namespace, "--name", namespace, "--image", "x:1"]);
        assert_eq!(said.code, 3, "{}{}", said.out, said.err);
        assert!(said.err.contains("no cron jobs here") && said.err.contains(words), "{}", said.err);
        assert_eq!(left(namespace), [""; 0]);
    }
}

/// The server's account has exactly the permissions it needs.
#[test]
#[ignore = "needs Go and kubectl: .ci/run"]
fn rights_are_enough_and_no_more() {
    super::reports::kinds_of_reports();
    let kubeconfig = cluster().kubeconfig("admin", "default");
    let east = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mesh-east"}});
    cluster().send("POST", "/api/v1/namespaces", "application/json", &east).unwrap();
    let more = ["--revision", "mesh-east/blue"];
    let said = run(
        &kubeconfig,
        &[&["webhook", "install", "-n", "rights-of", "--name", "small", "--image", "x:1"][..], &more].concat(),
    );
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let own = ["-n", "rights-of"];
    let server = |words: &[&str]| can(&kubeconfig, "rights-of:small", words);
    // The authorizer sees new roles with a delay.
    for _ in 0..40 {
        if server(&["list", "pods", "-A"]) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(250));
    }
    for allowed in [
        &["watch", "envoyfilters.networking.istio.io", "-A"][..],
        &["list", "pods", "-A"],
        &["watch", "namespaces"],
        &["watch", "mutatingwebhookconfigurations.admissionregistration.k8s.io"],
        &["watch", "configmaps/istio", "-n", "istio-system"],
        &["watch", "configmaps/istio-blue", "-n", "mesh-east"],
        &["update", "secrets/small-tls", own[0], own[1]],
        &["watch", "secrets/small-tls", own[0], own[1]],
        &["patch", "leases.coordination.k8s.io/small", own[0], own[1]],
        &["patch", "validatingwebhookconfigurations.admissionregistration.k8s.io/small"],
    ] {
        assert!(server(allowed), "not allowed: {allowed:?}");
    }
    for refused in [
        &["get", "secrets/other", own[0], own[1]][..],
        &["list", "secrets", own[0], own[1]],
        &["create", "secrets", own[0], own[1]],
        &["get", "secrets/small-tls", "-n", "default"],
        &["patch", "validatingwebhookconfigurations.admissionregistration.k8s.io/other"],
        &["create", "pods", "--subresource=portforward", "-n", "default"],
        &["update", "envoyfilters.networking.istio.io", "-A"],
        &["update", "mutatingwebhookconfigurations.admissionregistration.k8s.io"],
        &["get", "configmaps/other", "-n", "istio-system"],
        &["get", "configmaps/istio", "-n", "mesh-east"],
        &["get", "configmaps/istio-blue", "-n", "default"],
        &["create", "policyreports.wgpolicyk8s.io", "-n", "default"],
    ] {
        assert!(!server(refused), "allowed: {refused:?}");
    }
    let reporter = |words: &[&str]| can(&kubeconfig, "rights-of:small-report", words);
    assert!(reporter(&["create", "policyreports.wgpolicyk8s.io", "-n", "default"]));
    // Config dumps come from istiod: no other pod can be reached unless requested.
    assert!(reporter(&["create", "pods", "--subresource=portforward", "-n", "istio-system"]));
    assert!(reporter(&["create", "pods", "--subresource=portforward", "-n", "mesh-east"]));
    assert!(!reporter(&["create", "pods", "--subresource=portforward", "-n", "default"]));
    assert!(!reporter(&["get", "secrets/small-tls", own[0], own[1]]));
    assert!(!reporter(&["patch", "validatingwebhookconfigurations.admissionregistration.k8s.io/small"]));
    let gone = run(&kubeconfig, &["webhook", "uninstall", "-n", "rights-of", "--name", "small"]);
    assert_eq!(gone.code, 0, "{}{}", gone.out, gone.err);
    let path = "/apis/rbac.authorization.k8s.io/v1/namespaces/mesh-east/roles";
    let left = cluster().send("GET", path, "application/json", &Value::Null).unwrap();
    assert_eq!(left["items"], json!([]));
}

type Issuer = rcgen::Issuer<'static, rcgen::KeyPair>;

/// A new certificate authority each time.
fn authority() -> (String, Issuer) {
    let mut of = rcgen::CertificateParams::default();
    of.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    let pem = of.self_signed(&key).unwrap().pem();
    (pem, rcgen::Issuer::new(of, key))
}

/// A certificate of a certificate authority that expires after this many days.
fn signed(issuer: &Issuer, days: i64) -> String {
    let mut of = rcgen::CertificateParams::new(vec!["door.gate.svc".to_owned()]).unwrap();
    let now = std::time::SystemTime::now();
    let day = std::time::Duration::from_secs(86_400);
    of.not_before = (now - 10 * day).into();
    let length = day * u32::try_from(days.abs()).unwrap();
    of.not_after = if days < 0 { now - length } else { now + length }.into();
    let key = rcgen::KeyPair::generate().unwrap();
    of.signed_by(&key, issuer).unwrap().pem()
}
