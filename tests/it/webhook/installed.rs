//! Installed by its own command on a real kube-apiserver: the server runs with the arguments of its Deployment, the
//! permissions of its own account and the certificates that it creates, and the API server calls it through its
//! Service.

use super::cluster::{Answer, ask};
use super::parity::LATER;
use super::server::{Server, wait};
use super::text;
use crate::linting::{Proxies, Sent, sent_filters};
use crate::live::cluster::{Cluster, documents};
use crate::live::{Said, demo_dump, pod, run};
use crate::support::testdata;
use kubectl_envoyfilter::cluster::objects::{Reader, keep};
use kubectl_envoyfilter::load;
use kubectl_envoyfilter::model::release::Release;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A separate cluster, since the webhook of an installation covers every namespace.
struct Installed {
    cluster: Cluster,
    kubeconfig: PathBuf,
}

/// The address of the installation's pod; nothing ever dials it.
const POD_IP: &str = "10.244.0.7";

impl Installed {
    fn new() -> Installed {
        let cluster = Cluster::start();
        let kubeconfig = cluster.kubeconfig("admin", "default");
        Installed { cluster, kubeconfig }
    }

    fn webhook(&self, arguments: &[&str]) -> Said {
        run(&self.kubeconfig, &[&["webhook"], arguments, &["-n", "gate", "--name", "door"]].concat())
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.cluster.runtime.block_on(ask(self.cluster.client.clone(), method, path, body))
    }

    fn get(&self, path: &str) -> Value {
        self.call("GET", path, &Value::Null).2
    }

    fn patch(&self, path: &str, change: &Value) {
        self.cluster.send("PATCH", path, "application/merge-patch+json", change).unwrap();
    }

    /// Runs the container of the Deployment here: with its own arguments, except for ports and the mounted file.
    fn serve(&self) -> Server {
        let deployment = self.get("/apis/apps/v1/namespaces/gate/deployments/door");
        let spec = &deployment["spec"]["template"]["spec"];
        let config = self.get("/api/v1/namespaces/gate/configmaps/door");
        let file = self.cluster.folder.path().join("envoyfilter.yaml");
        fs::write(&file, text(&config, "/data/envoyfilter.yaml")).unwrap();
        let given: Vec<String> = spec["containers"][0]["args"]
            .as_array()
            .unwrap()
            .iter()
            .map(|argument| argument.as_str().unwrap().replace("$(POD_NAMESPACE)", "gate"))
            .map(|argument| argument.replace("/config/envoyfilter.yaml", file.to_str().unwrap()))
            .collect();
        assert_eq!(&given[..2], ["webhook", "serve"]);
        let mut arguments: Vec<&str> = given[2..].iter().map(String::as_str).collect();
        arguments.retain(|argument| !argument.contains("listen="));
        let account = format!("system:serviceaccount:gate:{}", text(spec, "/serviceAccountName"));
        arguments.extend(["--as", &account, "--replica", "door-1"]);
        let server = Server::start(&self.kubeconfig, &arguments);
        let ports = format!("443={0},9443={0},8080={1},8081={2}", server.address, server.aside, server.probes);
        let leads = json!({"metadata": {"annotations": {"test/ports": ports}}});
        self.patch("/api/v1/namespaces/gate/services/door", &leads);
        self.patch("/api/v1/namespaces/gate/pods/door-1", &leads);
        server
    }

    /// The pod that the Deployment's controller would create, with the status that other controllers would set.
    fn stand_in(&self) {
        let deployment = self.get("/apis/apps/v1/namespaces/gate/deployments/door");
        let mut pod = deployment["spec"]["template"].clone();
        pod["apiVersion"] = "v1".into();
        pod["kind"] = "Pod".into();
        pod["metadata"]["name"] = "door-1".into();
        pod["metadata"]["namespace"] = "gate".into();
        let endpoints = json!({
            "apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "door", "namespace": "gate"},
            "subsets": [{
                "addresses": [{"ip": POD_IP, "targetRef": {"kind": "Pod", "name": "door-1", "namespace": "gate"}}],
                "ports": [{"name": "https", "port": 9443}, {"name": "metrics", "port": 8080}],
            }],
        });
        for (path, object) in [("pods", &pod), ("endpoints", &endpoints)] {
            let (status, _, body) = self.call("POST", &format!("/api/v1/namespaces/gate/{path}"), object);
            // Pod Security `restricted` is enforced in the namespace, and the pod complies.
            assert_eq!(status, 201, "{body}");
        }
        let ips = json!({"status": {"phase": "Running", "podIP": POD_IP, "podIPs": [{"ip": POD_IP}]}});
        self.patch("/api/v1/namespaces/gate/pods/door-1/status", &ips);
        let generation = &deployment["metadata"]["generation"];
        let ready = json!({"status": {"replicas": 2, "readyReplicas": 2, "observedGeneration": generation}});
        self.patch("/apis/apps/v1/namespaces/gate/deployments/door/status", &ready);
    }
}

/// A reviewed filter, with the API server's answer before the webhook existed.
struct Case {
    name: String,
    path: String,
    filter: Value,
    /// As the API server would store it.
    stored: Value,
}

/// Every filter of the cases of all rules that the API server itself accepts, alone.
fn cases(installed: &Installed) -> Vec<Case> {
    let (mut cases, mut namespaces) = (Vec::new(), BTreeSet::new());
    // Other releases need separate clusters; the parity test covers those.
    for Sent { name, namespace, object, .. } in sent_filters(&["istio"]) {
        if namespaces.insert(namespace.clone()) {
            let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
            installed.call("POST", "/api/v1/namespaces", &object);
        }
        let path = format!("/apis/networking.istio.io/v1alpha3/namespaces/{namespace}/envoyfilters");
        let (status, _, stored) = installed.call("POST", &format!("{path}?dryRun=All"), &object);
        if status == 201 {
            cases.push(Case { name, path, filter: object, stored });
        }
    }
    cases
}

/// Codes with severities in the lines of an answer.
fn reported(status: u16, warnings: &[String], body: &Value) -> BTreeSet<String> {
    let denial = if status == 403 { text(body, "/message") } else { "" };
    let lines = denial.lines().map(str::trim).chain(warnings.iter().map(|line| line.trim_start_matches("299 - \"")));
    let coded = lines.filter(|line| line.starts_with("EF"));
    // A finding about a whole filter has no place: the colon follows the severity.
    let words = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    coded.map(|line| words(line).trim_end_matches(':').to_owned()).collect()
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn when_installed_by_its_own_command_it_agrees_with_lint() {
    let installed = Installed::new();
    let cases = cases(&installed);
    let said = installed.webhook(&["install", "--image", "x:1", "--no-report", "--failure-policy", "Fail"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    installed.stand_in();
    let server = installed.serve();
    let trusted = wait(Duration::from_secs(30), || {
        let status = installed.webhook(&["status"]);
        (status.code == 0).then_some(status)
    });
    let status = trusted.unwrap_or_else(|| {
        let status = installed.webhook(&["status"]);
        panic!("{}{}\n{:?}", status.out, status.err, server.lines())
    });
    println!("{}", status.out);
    assert!(status.out.contains("trial EnvoyFilter with an error was denied"), "{}", status.out);
    // The other input of `lint`: the content of the cluster.
    let proxies = Proxies::new(&[], Release::NEWEST);
    let around: Vec<Value> = ["/api/v1/pods", "/api/v1/services", "/api/v1/namespaces", "/api/v1/configmaps"]
        .iter()
        .flat_map(|path| {
            let list = installed.get(path);
            let kind = text(&list, "/kind").strip_suffix("List").unwrap().to_owned();
            let items = list["items"].as_array().unwrap().clone();
            items.into_iter().map(move |mut item| {
                item["apiVersion"] = "v1".into();
                item["kind"] = kind.clone().into();
                item
            })
        })
        .collect();
    let (mut wrong, mut verdicts, mut milder) = (Vec::new(), BTreeMap::<&str, usize>::new(), BTreeSet::new());
    let mut families = BTreeMap::<char, BTreeSet<&str>>::new();
    for case in &cases {
        let mut stored = case.stored.clone();
        let kept = ["name", "namespace", "labels", "annotations", "creationTimestamp"];
        stored["metadata"].as_object_mut().unwrap().retain(|key, _| kept.contains(&key.as_str()));
        let mut loaded = load::Loaded::default();
        for object in around.iter().chain([&stored]) {
            let mut object = object.clone();
            keep(&mut object, Reader::Questions);
            loaded.add_text("object", object.to_string(), &load::Options::default());
        }
        let findings = proxies.report(&loaded);
        let mut want: BTreeSet<String> =
            findings.iter().map(|one| format!("{} {}", one.rule.code, one.severity.as_str())).collect();
        // A review does not start to judge a filter that is too large; a command has time for more findings.
        if want.contains("EF904 error") {
            want.retain(|one| one == "EF904 error");
        }
        let (status, warnings, body) = installed.call("POST", &format!("{}?dryRun=All", case.path), &case.filter);
        let got = reported(status, &warnings, &body);
        if got != want {
            wrong.push(format!("{}: lint {want:?}, the webhook {got:?}", case.name));
        }
        let errors = want.iter().filter(|one| one.ends_with(" error")).map(|one| &one[..5]);
        let (later, never): (BTreeSet<&str>, BTreeSet<&str>) = errors.partition(|code| LATER.contains(code));
        let denied = status == 403;
        if denied == never.is_empty() {
            wrong.push(format!("{}: {status}, lint {want:?}: {body}", case.name));
        }
        milder.extend(later.iter().filter(|_| never.is_empty()).map(|code| (*code).to_owned()));
        let verdict = if denied {
            "denied"
        } else if want.is_empty() {
            "allowed"
        } else {
            "warned"
        };
        *verdicts.entry(verdict).or_default() += 1;
        for one in &want {
            families.entry(one.chars().nth(2).unwrap()).or_default().insert(verdict);
        }
    }
    println!("{} filters: {verdicts:?}; by family {families:?}; milder than lint {milder:?}", cases.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert!(verdicts.len() == 3 && families.len() >= 6, "{verdicts:?} {families:?}");
    // One of each family is stored, changed and deleted.
    let mut done = BTreeSet::new();
    for case in &cases {
        let findings = proxies.report(&load::read_text("one", case.stored.to_string(), &load::Options::default()));
        let Some(family) = findings.first().and_then(|one| one.rule.code.chars().nth(2)) else { continue };
        if !done.insert(family) {
            continue;
        }
        let tried = installed.call("POST", &format!("{}?dryRun=All", case.path), &case.filter);
        let (status, warnings, body) = installed.call("POST", &case.path, &case.filter);
        assert_eq!((status, &warnings), (tried.0, &tried.1), "{}: {body}", case.name);
        if status == 201 {
            let path = format!("{}/{}", case.path, text(&case.filter, "/metadata/name"));
            let mut update = body.clone();
            update["metadata"]["labels"] = json!({"a": "b"});
            let (status, warnings, body) = installed.call("PUT", &path, &update);
            assert_eq!((status, warnings.len()), (200, 0), "{}: {body}", case.name);
            let mut worse = body.clone();
            worse["spec"]["configPatches"] = bad_patches();
            let (status, _, body) = installed.call("PUT", &path, &worse);
            assert!(status == 403 && text(&body, "/message").contains("EF301"), "{}: {status} {body}", case.name);
            assert_eq!(installed.call("DELETE", &path, &Value::Null).0, 200);
        }
        println!("EF{family}xx: {}", if status == 201 { "stored, updated, deleted" } else { "denied" });
    }
    between(&installed);
    let gone = installed.webhook(&["uninstall"]);
    assert_eq!(gone.code, 0, "{}{}", gone.out, gone.err);
    assert!(server.terminate());
}

fn bad_patches() -> Value {
    json!([{"applyTo": "CLUSTER", "match": {"context": "SIDECAR_OUTBOUND"},
        "patch": {"operation": "REPLACE", "value": {"connect_timeout": "1s"}}}])
}

/// Filters that affect each other: the effect of a new one on an existing one, and what remains when the earlier one is
/// deleted.
fn between(installed: &Installed) {
    let path = "/apis/networking.istio.io/v1alpha3/namespaces/default/envoyfilters";
    let merge = |name: &str, seconds: u8| {
        json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "metadata": {"name": name},
            "spec": {"workloadSelector": {"labels": {"app": "cart"}}, "configPatches": [{
                "applyTo": "CLUSTER", "match": {"context": "SIDECAR_OUTBOUND"},
                "patch": {"operation": "MERGE", "value": {"connect_timeout": format!("{seconds}s")}}}]},
        })
    };
    assert_eq!(installed.call("POST", path, &merge("one", 1)).0, 201);
    let conflict = wait(Duration::from_secs(5), || {
        let (status, warnings, _) = installed.call("POST", &format!("{path}?dryRun=All"), &merge("two", 2));
        (status == 201 && warnings.iter().any(|line| line.contains("EF401"))).then_some(warnings)
    });
    println!("EF4xx: {:?}", conflict.expect("no conflict is told"));
    assert_eq!(installed.call("DELETE", &format!("{path}/one"), &Value::Null).0, 200);
    let first = super::reviews::insertion("first", "shop.first", "envoy.filters.http.router", "INSERT_BEFORE");
    let mut second = super::reviews::insertion("second", "shop.second", "shop.first", "INSERT_BEFORE");
    second["spec"]["priority"] = 10.into();
    for filter in [first, second] {
        let mut filter = filter;
        filter["metadata"]["namespace"] = "default".into();
        let stored = wait(Duration::from_secs(5), || (installed.call("POST", path, &filter).0 == 201).then_some(()));
        assert!(stored.is_some());
    }
    let dry = format!("{path}/first?dryRun=All");
    let warned = wait(Duration::from_secs(5), || {
        let (status, warnings, _) = installed.call("DELETE", &dry, &Value::Null);
        (status == 200 && !warnings.is_empty()).then_some(warnings)
    });
    let warned = warned.expect("the missing anchor of another filter is silently accepted");
    assert!(warned[0].contains("EF215 warning in EnvoyFilter default/second"), "{warned:?}");
    println!("{warned:?}");
    for name in ["second", "first"] {
        let gone = wait(Duration::from_secs(5), || {
            (installed.call("DELETE", &format!("{path}/{name}"), &Value::Null).0 == 200).then_some(())
        });
        assert!(gone.is_some(), "{name}");
    }
}

/// The definitions of cert-manager and the Prometheus operator accept the objects for them.
#[test]
#[ignore = "needs Go: .ci/run"]
fn objects_for_other_projects_are_accepted_by_their_definitions() {
    let installed = Installed::new();
    for file in fs::read_dir(testdata("crds")).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "zst") {
            let bytes = zstd::decode_all(fs::File::open(&file).unwrap()).unwrap();
            let definition = &documents(&String::from_utf8(bytes).unwrap())[0];
            let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            let (status, _, body) = installed.call("POST", path, definition);
            assert_eq!(status, 201, "{file:?}: {body}");
        }
    }
    for path in
        ["cert-manager.io/v1/certificates", "cert-manager.io/v1/issuers", "monitoring.coreos.com/v1/servicemonitors"]
    {
        let there = wait(Duration::from_secs(30), || {
            (installed.call("GET", &format!("/apis/{path}"), &Value::Null).0 == 200).then_some(())
        });
        assert!(there.is_some(), "{path}");
    }
    let said = installed.webhook(&["install", "--image", "x:1", "--certificates", "cert-manager", "--service-monitor"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(!said.err.contains("warning"), "{}", said.err);
    for made in [
        "issuer.cert-manager.io/door in gate applied",
        "certificate.cert-manager.io/door in gate applied",
        "servicemonitor.monitoring.coreos.com/door in gate applied",
    ] {
        assert!(said.out.contains(made), "{made}: {}", said.out);
    }
    // Server-side apply rejects unknown fields.
    let wrong = json!({
        "apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": {"name": "wrong", "namespace": "gate"},
        "spec": {"selfSigned": {}, "selfSignd": {}},
    });
    let place = "/apis/cert-manager.io/v1/namespaces/gate/issuers/wrong?fieldManager=test";
    assert!(installed.cluster.send("PATCH", place, "application/apply-patch+yaml", &wrong).is_err());
    let gone = installed.webhook(&["uninstall"]);
    assert_eq!(gone.code, 0, "{}{}", gone.out, gone.err);
    assert!(gone.out.contains("servicemonitor.monitoring.coreos.com/door in gate removed"), "{}", gone.out);
    assert_eq!(installed.call("GET", "/apis/cert-manager.io/v1/issuers", &Value::Null).2["items"], json!([]));
}

/// The extensions that running proxies report take precedence over those known for their release.
#[test]
#[ignore = "needs Go: .ci/run"]
fn extensions_of_running_proxies_take_precedence() {
    let installed = Installed::new();
    let mut dump: Value = serde_json::from_str(&demo_dump()).unwrap();
    let bootstrap = dump["configs"].as_array_mut().unwrap().iter_mut().find(|one| one["bootstrap"].is_object());
    bootstrap.unwrap()["bootstrap"]["node"]["extensions"] = json!([
        {"name": "envoy.filters.http.router", "category": "envoy.filters.http"},
        {"name": "envoy.filters.network.http_connection_manager", "category": "envoy.filters.network"},
    ]);
    let file = installed.cluster.folder.path().join("few.json");
    fs::write(&file, dump.to_string()).unwrap();
    let mut cart = pod("default", "cart", 1);
    cart["spec"]["nodeName"] = "node".into();
    cart["metadata"]["annotations"]["test/dump"] = file.to_str().unwrap().into();
    installed.cluster.create(&[cart]);
    let said = installed.webhook(&["install", "--image", "x:1", "--no-report", "--sample-proxies", "2"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    installed.stand_in();
    let server = installed.serve();
    let mut filter = super::reviews::insertion("a", "shop.a", "envoy.filters.http.router", "INSERT_BEFORE");
    filter["metadata"]["namespace"] = "default".into();
    let path = "/apis/networking.istio.io/v1alpha3/namespaces/default/envoyfilters?dryRun=All";
    let denied = wait(Duration::from_secs(30), || {
        let (status, _, body) = installed.call("POST", path, &filter);
        (status == 403).then(|| text(&body, "/message").to_owned())
    });
    let denied = denied.unwrap_or_else(|| panic!("{:?}", server.lines()));
    println!("{denied}");
    assert!(denied.contains("EF121 error") && denied.contains("envoy.filters.http.buffer"), "{denied}");
    // Running workloads are known too: a selector that matches none may match one created later.
    let mut elsewhere = filter.clone();
    elsewhere["spec"]["workloadSelector"]["labels"]["app"] = "cartt".into();
    elsewhere["spec"]["configPatches"] = json!([{"applyTo": "CLUSTER",
        "patch": {"operation": "MERGE", "value": {"connect_timeout": "1s"}}}]);
    let (status, warnings, body) = installed.call("POST", path, &elsewhere);
    assert_eq!(status, 201, "{body}");
    assert!(
        warnings.iter().any(|line| line.contains("EF201 error") && line.contains("unless created later")),
        "{warnings:?}"
    );
}
