//! The result of `webhook install`, without a cluster: the objects, and the chart and kustomization generated from
//! them.

mod chart;
mod checks;
mod gitops;
mod watching;

use crate::linting::expect;
use kubectl_envoyfilter::deploy::{self, Certificates, Parts, PlaneSlot, Slots};
use kubectl_envoyfilter::lint::config::Config;
use kubectl_envoyfilter::load::yaml;
use kubectl_envoyfilter::rules::ALL;
use kubectl_envoyfilter::source::{Node, Sources};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn deploy_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy")
}

/// The objects in a YAML text, by kind, namespace and name.
fn objects(text: &str) -> BTreeMap<String, Value> {
    let file = Sources::default().add("test", text);
    let (documents, problems) = yaml::documents(file, text);
    assert!(problems.is_empty(), "{problems:?}\n{text}");
    by_name(documents.iter().map(Node::to_json).filter(Value::is_object))
}

fn by_name(objects: impl IntoIterator<Item = Value>) -> BTreeMap<String, Value> {
    let key = |object: &Value| {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        format!("{} {}/{}", text("/kind"), text("/metadata/namespace"), text("/metadata/name"))
    };
    objects.into_iter().map(|object| (key(&object), object)).collect()
}

/// Runs the real binary.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(arguments)
        .env("KUBECONFIG", "/nonexistent")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The installed objects with default options.
fn installed(certificates: Certificates, parts: Parts) -> BTreeMap<String, Value> {
    let pieces = deploy::pieces(&Slots::default(), certificates).into_iter().filter(|piece| parts.has(piece.part));
    by_name(pieces.map(|piece| piece.object))
}

#[test]
fn the_chart_and_the_kustomization_are_what_is_installed() {
    let files = chart::files();
    let mut there = BTreeSet::new();
    let mut open = vec![deploy_folder()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                there.insert(path.strip_prefix(deploy_folder()).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    there.remove("README.md");
    // Written by hand, tested in `gitops`.
    there.retain(|name| !name.starts_with("gitops/"));
    for stale in there.iter().filter(|name| !files.contains_key(*name)) {
        assert!(env::var_os("UPDATE").is_some(), "deploy/{stale} is made from nothing");
        fs::remove_file(deploy_folder().join(stale)).unwrap();
    }
    for (name, text) in files {
        let path = deploy_folder().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        expect(&path, &text);
    }
}

#[test]
fn a_dry_run_prints_the_objects_and_needs_no_cluster() {
    let (code, out, err) = run(&["webhook", "install", "--dry-run", "client", "-o", "yaml"]);
    assert_eq!(code, 0);
    assert!(err.starts_with("note: image kubectl-envoyfilter:") && err.lines().count() == 1, "{err}");
    assert_eq!(objects(&out), installed(Certificates::Own, Parts::default()));
    let (code, out, _) = run(&["webhook", "install", "--dry-run=client", "-o", "json", "--certificates=cert-manager"]);
    assert_eq!(code, 0);
    let list: Value = serde_json::from_str(&out).unwrap();
    let list = by_name(list["items"].as_array().unwrap().clone());
    assert_eq!(list, installed(Certificates::CertManager, Parts::default()));
}

/// The mounted default configuration is valid.
#[test]
fn the_configuration_of_nothing_is_one() {
    let text = Slots::default().config;
    let file = Sources::default().add("config", text.as_str());
    let (documents, _) = yaml::documents(file, &text);
    let (_, problems) = Config::read(&documents[0], ALL);
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn options_reach_the_objects() {
    let arguments = "webhook install --dry-run client -n gate --name door --image registry/x:1 --replicas 3 --mode warn \
                     --deny-at warning --deadline 2s --on-deadline deny --failure-policy Fail --timeout 7 \
                     --sample-proxies 5 --service-monitor --no-network-policy --no-report --istio-namespace mesh --revision canary";
    let (code, out, err) = run(&arguments.split_whitespace().collect::<Vec<_>>());
    assert_eq!(code, 0, "{err}");
    let objects = objects(&out);
    let deployment = &objects["Deployment gate/door"];
    assert_eq!(deployment["spec"]["replicas"], 3);
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(pod["containers"][0]["image"], "registry/x:1");
    let arguments = pod["containers"][0]["args"].to_string();
    for argument in [
        "--mode=warn",
        "--deny-at=warning",
        "--deadline=2s",
        "--on-deadline=deny",
        "--sample-proxies=5",
        "--service=door",
        "--cert-secret=door-tls",
        "--webhook-configuration=door",
        "--istio-namespace=mesh",
        "--namespace=$(POD_NAMESPACE)",
    ] {
        assert!(arguments.contains(&format!("{argument:?}")), "{argument}: {arguments}");
    }
    let webhook = &objects["ValidatingWebhookConfiguration /door"]["webhooks"][0];
    assert_eq!((&webhook["failurePolicy"], &webhook["timeoutSeconds"]), (&"Fail".into(), &7.into()));
    assert!(objects.contains_key("ServiceMonitor gate/door") && objects.contains_key("ClusterRole /door-proxies"));
    let canary = &objects["Role mesh/door-plane-canary"];
    assert!(canary["rules"].to_string().contains("[\"istio-canary\"]"), "{canary}");
    let bound = &objects["RoleBinding mesh/door-plane-canary"];
    assert_eq!(bound["subjects"][0]["name"], "door", "{bound}");
    assert!(!objects.keys().any(|key| key.starts_with("NetworkPolicy") || key.contains("report")));
}

/// The strictest Pod Security Standard, `restricted`.
#[test]
fn pods_have_only_needed_permissions() {
    let objects = installed(Certificates::CertManager, Parts::default());
    let pods = [
        &objects["Deployment envoyfilter-system/envoyfilter-webhook"]["spec"]["template"]["spec"],
        &objects["CronJob envoyfilter-system/envoyfilter-webhook-report"]["spec"]["jobTemplate"]["spec"]["template"]["spec"],
    ];
    for pod in pods {
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
        for container in pod["containers"].as_array().unwrap() {
            let security = &container["securityContext"];
            assert_eq!(security["allowPrivilegeEscalation"], false);
            assert_eq!(security["readOnlyRootFilesystem"], true);
            assert_eq!(security["capabilities"], serde_json::json!({"drop": ["ALL"]}));
            assert!(container["resources"]["requests"].is_object() && container["resources"]["limits"].is_object());
            assert!(container["volumeMounts"].as_array().unwrap().iter().all(|mount| mount["readOnly"] == true));
        }
    }
}

/// One Secret, one Lease, one webhook configuration; nothing else can be changed except reports.
#[test]
fn rights_are_small() {
    let parts = Parts { sample_proxies: true, watch: true, ..Parts::default() };
    for (name, object) in installed(Certificates::Own, parts) {
        for rule in object["rules"].as_array().into_iter().flatten() {
            let (resources, verbs) = (rule["resources"].to_string(), rule["verbs"].to_string());
            assert!(!resources.contains('*') && !verbs.contains('*') && !verbs.contains("deletecollection"), "{name}");
            let changes = ["create", "update", "patch", "delete"].iter().any(|verb| verbs.contains(verb));
            let fine = if resources.contains("policyreports") || resources == r#"["clusterreports","reports"]"# {
                name.ends_with("-report")
            } else if resources == r#"["pods/portforward"]"# {
                // Other pods only with roles that were requested; the report and the watch reach istiod's pods.
                let at_istiod = ["report", "watch"].map(|part| format!("Role istio-system/envoyfilter-webhook-{part}"));
                name.ends_with("-proxies") || at_istiod.contains(&name)
            } else if resources == r#"["events"]"# {
                name.ends_with("-watch") && verbs == r#"["create","patch"]"#
            } else {
                !verbs.contains("create")
                    && !verbs.contains("delete")
                    && rule["resourceNames"].as_array().is_some_and(|names| names.len() == 1)
            };
            assert!(!changes || fine, "{name}: {rule}");
            assert!(!resources.contains("secrets") || fine, "{name}: {rule}");
        }
    }
}

#[test]
fn unusable_options_are_rejected() {
    for (arguments, words) in [
        (&["--deadline", "10s"][..], "before the deadline"),
        (&["--name", "Door"], "lowercase letters"),
        (&["--config", "/nonexistent/file"], "/nonexistent/file"),
        (&["--replicas", "0"], "0"),
        (&["--report-schedule", "hourly"], "5 fields"),
        (&["--report-schedule", "61 * * * *"], "minute must be between 0 and 59"),
        (&["--api-server-cidr", "10.0.0"], "10.0.0"),
    ] {
        let (code, out, err) = run(&[&["webhook", "install", "--dry-run=client"], arguments].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(err.contains(words), "{arguments:?}: {err}");
    }
}

/// A configuration that the server would reject is rejected before anything is installed.
#[test]
fn the_configuration_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    for (text, words) in
        [("severty: {EF301: error}\n", "severty"), ("rules: [mine]\n", "custom rules"), ("a: [\n", "error")]
    {
        let path = folder.path().join("config.yaml");
        fs::write(&path, text).unwrap();
        let (code, out, err) = run(&["webhook", "install", "--dry-run=client", "--config", path.to_str().unwrap()]);
        assert_eq!((code, out.as_str()), (2, ""), "{text}");
        assert!(err.contains(words), "{text}: {err}");
    }
}

/// Without an image, nothing is applied that could not start.
#[test]
fn an_installation_needs_an_image() {
    let (code, _, err) = run(&["webhook", "install"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--image"), "{err}");
}

#[test]
fn calls_can_be_limited_to_the_api_server() {
    let image = format!("registry/x@sha256:{}", "a".repeat(64));
    let arguments = ["webhook", "install", "--dry-run=client", "--api-server-cidr", "10.0.0.1/32", "--image", &image]
        .into_iter()
        .chain(["--client-ca-configmap", "api-servers", "--report-dump-via", "port-forward"]);
    let (code, out, err) = run(&arguments.collect::<Vec<_>>());
    assert_eq!((code, err.as_str()), (0, ""));
    let objects = objects(&out);
    let policy = &objects["NetworkPolicy envoyfilter-system/envoyfilter-webhook"]["spec"]["ingress"][0];
    assert_eq!(policy["from"], serde_json::json!([{"ipBlock": {"cidr": "10.0.0.1/32"}}]));
    let pod = objects["Deployment envoyfilter-system/envoyfilter-webhook"]["spec"]["template"]["spec"].to_string();
    assert!(pod.contains("--client-ca=/client-ca/ca.crt") && pod.contains("\"name\":\"api-servers\""), "{pod}");
    assert!(objects.contains_key("ClusterRole /envoyfilter-webhook-report-proxies"));
    let job = objects["CronJob envoyfilter-system/envoyfilter-webhook-report"].to_string();
    assert!(job.contains("--dump-via=port-forward"), "{job}");
}

#[test]
#[ignore = "needs kubectl: .ci/run"]
fn kustomize_builds_what_is_installed() {
    let build = |folder: &str| {
        let output = Command::new("kubectl").arg("kustomize").arg(deploy_folder().join(folder)).output();
        let output = output.expect("kubectl is not installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        objects(&String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(build("kustomize/base"), installed(Certificates::Own, Parts::default()));
    let strict = build("kustomize/overlays/strict");
    assert_eq!(strict["ValidatingWebhookConfiguration /envoyfilter-webhook"]["webhooks"][0]["failurePolicy"], "Fail");
    assert_eq!(strict["Deployment envoyfilter-system/envoyfilter-webhook"]["spec"]["replicas"], 3);
    let image = format!("example/kubectl-envoyfilter@{}", chart::DIGEST);
    let pod = &strict["Deployment envoyfilter-system/envoyfilter-webhook"]["spec"]["template"]["spec"];
    assert_eq!(pod["containers"][0]["image"], image);
}

/// The chart with every combination of its switches equals the result of `install` with the same options.
#[test]
#[ignore = "needs helm: .ci/run"]
fn helm_renders_what_is_installed() {
    let helm = env::var_os("HELM").unwrap_or_else(|| "helm".into());
    let found = Command::new(&helm).arg("version").output();
    assert!(found.is_ok(), "helm is not installed: tests/cluster/helm.sh brings it, HELM names it");
    let chart = deploy_folder().join("helm/kubectl-envoyfilter");
    let render = |values: &[String]| {
        let mut command = Command::new(&helm);
        command
            .args(["template", "release", "--kube-version", "1.36.0", "--namespace", deploy::DEFAULT_NAMESPACE])
            .arg(&chart);
        command.args(values.iter().flat_map(|value| ["--set", value]));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        // Only the manager of the objects differs.
        objects(&text.replace("managed-by: \"Helm\"", &format!("managed-by: {}", deploy::PROGRAM)))
    };
    for certificates in Certificates::ALL {
        for bits in 0..64_u8 {
            let on = |bit: u8| bits & (1 << bit) != 0;
            let parts = Parts {
                namespace: false,
                sample_proxies: on(0),
                network_policy: on(1),
                service_monitor: on(2),
                report: on(3),
                report_proxies: on(4),
                watch: on(5),
                // With the watch, every second combination of the others is enough.
                watch_proxies: on(5) && on(0),
                prometheus_rule: on(5) && on(3),
            };
            if parts.watch && on(1) != on(2) {
                continue;
            }
            let replicas = if parts.watch { 3 } else { 1 };
            let watch_dumps = if parts.watch_proxies { deploy::PORT_FORWARD } else { deploy::ISTIOD };
            let dumps = if parts.report_proxies { deploy::PORT_FORWARD } else { deploy::ISTIOD };
            let proxies = u8::from(parts.sample_proxies) * 7;
            // An elsewhere, one beside the main one, and the default revision of another namespace.
            let planes: &[(&str, &str)] =
                if on(2) { &[("mesh-east", "blue"), ("", "canary"), ("mesh-west", "default")] } else { &[] };
            let mut values = vec![
                format!("certificates={}", certificates.as_str()),
                format!("sampleProxies={proxies}"),
                format!("networkPolicy.enabled={}", parts.network_policy),
                format!("serviceMonitor.enabled={}", parts.service_monitor),
                format!("report.enabled={}", parts.report),
                format!("report.dumpVia={dumps}"),
                format!("watch.enabled={}", parts.watch),
                format!("watch.replicas={replicas}"),
                format!("watch.dumpVia={watch_dumps}"),
                format!("watch.prometheusRule={}", parts.prometheus_rule),
            ];
            let mut control_planes = Vec::new();
            for (at, (namespace, revision)) in planes.iter().enumerate() {
                values.push(format!("controlPlanes[{at}].revision={revision}"));
                values.extend((!namespace.is_empty()).then(|| format!("controlPlanes[{at}].namespace={namespace}")));
                let name =
                    if namespace.is_empty() { (*revision).to_owned() } else { format!("{namespace}/{revision}") };
                control_planes.push(PlaneSlot::of(&name.parse().unwrap(), "istio-system"));
            }
            let rendered = render(&values);
            let slots = Slots {
                sample_proxies: proxies.into(),
                report_dumps: dumps.to_owned(),
                watch_replicas: replicas.into(),
                watch_shards: (0..replicas).map(|shard| shard.to_string()).collect(),
                watch_dumps: watch_dumps.to_owned(),
                control_planes,
                ..Slots::default()
            };
            let pieces = deploy::pieces(&slots, certificates).into_iter().filter(|piece| parts.has(piece.part));
            assert_eq!(rendered, by_name(pieces.map(|piece| piece.object)), "{certificates:?} {parts:?}");
        }
    }
    let lint = Command::new(&helm).args(["lint", "--strict", "--kube-version", "1.36.0"]).arg(&chart).output().unwrap();
    assert!(lint.status.success(), "{}", String::from_utf8_lossy(&lint.stdout));
    for (value, word) in [("mode=off", "mode"), ("controlPlanes[0].revision=a/b", "controlPlanes")] {
        let refused = Command::new(&helm)
            .args(["template", "--kube-version", "1.36.0", "--set", value])
            .arg(&chart)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains(word), "the schema lets {value} in: {said}");
    }
}

/// The files that the Dockerfile copies exist and are not excluded by .dockerignore, and every file that the build
/// includes is copied.
#[test]
fn the_dockerfile_copies_what_the_build_reads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("Dockerfile")).unwrap();
    let ignore = fs::read_to_string(root.join(".dockerignore")).unwrap();
    let copies = text.lines().filter_map(|line| line.strip_prefix("COPY ")).filter(|line| !line.starts_with("--from"));
    let there: Vec<&str> = copies.flat_map(|line| line.split(' ').rev().skip(1)).collect();
    for path in &there {
        assert!(root.join(path).exists(), "{path}");
        assert!(ignore.lines().any(|line| line == format!("!{path}")), ".dockerignore leaves {path} out");
    }
    for needed in
        ["Cargo.toml", "Cargo.lock", "build.rs", "src", "rules", "testdata/rules", "benches", "tests/it/main.rs"]
    {
        assert!(there.contains(&needed), "{needed} is not copied");
    }
    // No registry of images is named; whoever builds chooses it.
    let bases: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("ARG ")?.split_once('=')).map(|(_, base)| base).collect();
    assert!(bases.len() == 2 && bases.iter().all(|base| !base.contains('.')), "{bases:?}");
    assert!(text.contains("USER 65532:65532"));
}
