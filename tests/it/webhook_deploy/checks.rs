//! The checks of kube-linter and kubescape, applied to everything that can be installed.

use super::{deploy_folder, installed};
use crate::support::piped;
use kubectl_envoyfilter::deploy::{Certificates, Parts};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// All parts, with their options.
fn all() -> [BTreeMap<String, Value>; 2] {
    let parts = Parts {
        sample_proxies: true,
        service_monitor: true,
        report_proxies: true,
        watch: true,
        watch_proxies: true,
        prometheus_rule: true,
        ..Parts::default()
    };
    Certificates::ALL.map(|certificates| installed(certificates, parts))
}

/// The pods of an installation: their owner, labels and spec.
fn pods(objects: &BTreeMap<String, Value>) -> Vec<(&str, &Value, &Value)> {
    let template = |object: &Value| -> Option<&'static str> {
        match object["kind"].as_str()? {
            "Deployment" | "Job" => Some("/spec/template"),
            "CronJob" => Some("/spec/jobTemplate/spec/template"),
            _ => None,
        }
    };
    let found = objects.iter().filter_map(|(name, object)| {
        let pod = object.pointer(template(object)?)?;
        Some((name.as_str(), &pod["metadata"]["labels"], &pod["spec"]))
    });
    found.collect()
}

/// The job before a synchronization by Argo CD, which is written by hand, and what it needs.
fn presync() -> BTreeMap<String, Value> {
    super::objects(&fs::read_to_string(deploy_folder().join("gitops/argocd/presync-diff.yaml")).unwrap())
}

fn selects(selector: &Value, labels: &Value) -> bool {
    selector.as_object().is_some_and(|wanted| wanted.iter().all(|(key, value)| &labels[key] == value))
}

/// What linters complain about in a pod.
fn faults(name: &str, pod: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let mut want = |fine: bool, what: &str| {
        if !fine {
            faults.push(format!("{name}: {what}"));
        }
    };
    for host in ["hostNetwork", "hostPID", "hostIPC"] {
        want(pod[host] != true, host);
    }
    want(!["", "default"].contains(&account(pod)), "default service account");
    want(pod["securityContext"]["runAsNonRoot"] == true, "may run as root");
    want(pod["securityContext"]["runAsUser"].as_u64() > Some(10_000), "low user id");
    want(pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault", "no seccomp profile");
    for volume in pod["volumes"].as_array().into_iter().flatten() {
        want(volume.get("hostPath").is_none(), "mounts the host");
    }
    let containers = ["initContainers", "containers"].map(|list| pod[list].as_array());
    for container in containers.into_iter().flatten().flatten() {
        let security = &container["securityContext"];
        want(security["privileged"] != true, "privileged");
        want(security["allowPrivilegeEscalation"] == false, "privilege escalation");
        want(security["readOnlyRootFilesystem"] == true, "writable root file system");
        want(security["capabilities"]["drop"] == serde_json::json!(["ALL"]), "keeps capabilities");
        let image = container["image"].as_str().unwrap();
        want(image.contains(':') && !image.ends_with(":latest"), "image without a version");
        for resource in ["/requests/cpu", "/requests/memory", "/limits/memory"] {
            want(container["resources"].pointer(resource).is_some(), resource);
        }
        for port in container["ports"].as_array().into_iter().flatten() {
            want(port["containerPort"].as_u64() > Some(1_024) && port.get("hostPort").is_none(), "port");
        }
        for variable in container["env"].as_array().into_iter().flatten() {
            want(variable["valueFrom"].get("secretKeyRef").is_none(), "secret in the environment");
        }
        if name.starts_with("Deployment") {
            for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
                want(container[probe].is_object(), probe);
            }
        }
    }
    if name.starts_with("Deployment") {
        want(pod["topologySpreadConstraints"].as_array().is_some_and(|list| !list.is_empty()), "no spreading");
    }
    faults
}

fn account(pod: &Value) -> &str {
    pod["serviceAccountName"].as_str().unwrap_or_default()
}

#[test]
fn pods_are_as_linters_want_them() {
    let mut found = Vec::new();
    for objects in all() {
        let pods = pods(&objects);
        assert_eq!(pods.len(), 3, "{:?}", objects.keys());
        for (name, _, pod) in pods {
            found.extend(faults(name, pod));
            let key = format!("ServiceAccount envoyfilter-system/{}", account(pod));
            assert!(objects.contains_key(&key), "{name}: {key}");
        }
    }
    // Its account is the user's.
    let job = presync();
    let pods = pods(&job);
    assert_eq!(pods.len(), 1);
    found.extend(pods.iter().flat_map(|(name, _, pod)| faults(name, pod)));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Every pod has a NetworkPolicy in both directions, and every selector matches something.
#[test]
fn every_pod_has_a_network_policy() {
    for objects in all().into_iter().chain([presync()]) {
        let pods = pods(&objects);
        let of_kind = |kind: &'static str| objects.iter().filter(move |(name, _)| name.starts_with(kind));
        for (name, labels, _) in &pods {
            let policies: Vec<&Value> = of_kind("NetworkPolicy ")
                .map(|(_, policy)| policy)
                .filter(|policy| selects(&policy["spec"]["podSelector"]["matchLabels"], labels))
                .collect();
            assert_eq!(policies.len(), 1, "{name}");
            assert_eq!(policies[0]["spec"]["policyTypes"], serde_json::json!(["Ingress", "Egress"]), "{name}");
            for rule in policies[0]["spec"]["egress"].as_array().unwrap() {
                assert!(rule["ports"].as_array().is_some_and(|ports| !ports.is_empty()), "{name}: {rule}");
            }
        }
        let reached = |selector: &Value| pods.iter().any(|(_, labels, _)| selects(selector, labels));
        for (name, service) in of_kind("Service ") {
            assert!(reached(&service["spec"]["selector"]), "{name}");
        }
        for (name, object) in of_kind("NetworkPolicy ").chain(of_kind("PodDisruptionBudget ")) {
            let selector = object["spec"]["podSelector"].get("matchLabels");
            let selector = selector.or(object["spec"]["selector"].get("matchLabels"));
            assert!(selector.is_some_and(reached), "{name}");
        }
        // Nothing needs to call a job.
        for (name, policy) in
            of_kind("NetworkPolicy ").filter(|(name, _)| name.ends_with("report") || name.ends_with("diff"))
        {
            assert!(policy["spec"].get("ingress").is_none(), "{name}");
        }
    }
}

/// Roles are minimal; those bound by default reach pods' ports only in istiod's namespace.
#[test]
fn rights_are_those_requested() {
    for objects in all() {
        for (name, role) in objects.iter().filter(|(name, _)| name.contains("Role ") && !name.contains("Binding")) {
            for rule in role["rules"].as_array().unwrap() {
                let text = rule.to_string();
                assert!(
                    !text.contains("\"*\"") && !text.contains("escalate") && !text.contains("impersonate"),
                    "{name}"
                );
                assert!(!text.contains("pods/exec") && !text.contains("\"bind\""), "{name}: {text}");
                if text.contains("\"secrets\"") {
                    assert!(rule["resourceNames"].is_array(), "{name}: {text}");
                }
            }
        }
    }
    let defaults = installed(Certificates::Own, Parts::default());
    for (name, role) in &defaults {
        let forwards = role["rules"].to_string().contains("pods/portforward");
        assert!(!forwards || name == "Role istio-system/envoyfilter-webhook-report", "{name}");
    }
}

/// kube-score finds nothing in everything that can be installed, but for what is so on purpose.
#[test]
#[ignore = "needs Go: .ci/run"]
fn kube_score_finds_nothing() {
    let built = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster/go_program.sh"))
        .args(["github.com/zegl/kube-score/cmd/kube-score", "v1.20.0"])
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let kube_score = String::from_utf8(built.stdout).unwrap();
    // A CPU limit makes reviews late; an image with a digest is never another one; pods spread by topology constraints.
    let purpose = ["container-image-pull-policy", "deployment-has-host-podantiaffinity"];
    for objects in all().into_iter().chain([presync()]) {
        let documents: Vec<String> = objects.values().map(Value::to_string).collect();
        let output = piped(
            Command::new(kube_score.trim())
                .args(["score", "-", "--output-format=ci", "--ignore-container-cpu-limit"])
                .args(["--kubernetes-version=v1.33", "--ignore-test", &purpose.join(",")]),
            &documents.join("\n---\n"),
        );
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains("[OK]"), "{said}{}", String::from_utf8_lossy(&output.stderr));
        // One replica watches a mesh; more of them share it.
        let fine = |line: &&str| {
            line.starts_with("[OK]")
                || line.starts_with("[SKIPPED]")
                || line.ends_with("few replicas") && line.contains("-watch/")
        };
        let found: Vec<&str> = said.lines().filter(|line| !fine(line)).collect();
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}
