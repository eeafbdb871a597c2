//! The server as called by a real kube-apiserver: `tests/cluster`, which needs Go.

use super::server::{Front, Server, wait};
use super::text;
use crate::live::cluster::Cluster;
use http::Request;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// A cluster that no other test changes: denials depend on everything in it.
pub(super) fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::start)
}

/// What an API server answers: status, warnings, body.
pub(super) type Answer = (u16, Vec<String>, Value);

pub(super) async fn ask(client: kube::Client, method: &str, path: &str, body: &Value) -> Answer {
    let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    let answer = client.send(request.body(bytes.into()).unwrap()).await.unwrap();
    let warnings = answer.headers().get_all("warning").iter();
    let warnings = warnings.map(|it| String::from_utf8(it.as_bytes().to_vec()).unwrap()).collect();
    let status = answer.status().as_u16();
    let body = answer.into_body().collect_bytes().await.unwrap();
    (status, warnings, serde_json::from_slice(&body).unwrap_or_default())
}

pub(super) fn call(method: &str, path: &str, body: &Value) -> Answer {
    let cluster = cluster();
    cluster.runtime.block_on(ask(cluster.client.clone(), method, path, body))
}

const FILTERS: &str = "/apis/networking.istio.io/v1alpha3/namespaces";

fn filters(namespace: &str) -> String {
    format!("{FILTERS}/{namespace}/envoyfilters")
}

pub(super) fn namespace(name: &str) {
    cluster().create(&[json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})]);
}

/// A webhook for the filters of one namespace.
pub(super) fn configure(name: &str, namespace: &str, address: SocketAddr, policy: &str, bundle: &str) {
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{
            "name": "filters.envoyfilter.dev", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "failurePolicy": policy, "timeoutSeconds": 10,
            "clientConfig": {"url": format!("https://{address}/validate"), "caBundle": bundle},
            "rules": [{"apiGroups": ["networking.istio.io"], "apiVersions": ["*"], "resources": ["envoyfilters"],
                "operations": ["CREATE", "UPDATE", "DELETE"]}],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        }],
    });
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let (status, _, body) = call("POST", path, &configuration);
    assert_eq!(status, 201, "{body}");
}

fn configuration(name: &str) -> Value {
    call("GET", &format!("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{name}"), &Value::Null)
        .2
}

/// A server with its own certificates for a webhook of this name.
pub(super) fn own(name: &str, namespace: &str, more: &[&str]) -> Server {
    let kubeconfig = cluster().kubeconfig("admin", namespace);
    let mut arguments =
        vec!["--service", name, "--webhook-configuration", name, "--cert-secret", name, "-n", namespace];
    arguments.extend(["--certificate-name", "127.0.0.1"]);
    arguments.extend(more);
    Server::start(&kubeconfig, &arguments)
}

/// Waits until the API server calls the webhook and trusts it: until a bad filter is denied.
pub(super) fn trusted(namespace: &str) {
    let denied = wait(Duration::from_secs(30), || {
        let (status, _, body) = call("POST", &format!("{}?dryRun=All", filters(namespace)), &bad("probe"));
        (status == 403 && text(&body, "/message").contains("EF")).then_some(())
    });
    let (status, _, body) = call("POST", &format!("{}?dryRun=All", filters(namespace)), &bad("probe"));
    assert!(denied.is_some(), "{status} {body}");
}

fn filter(name: &str, value: &Value) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "metadata": {"name": name},
        "spec": {"workloadSelector": {"labels": {"app": "cart"}}, "configPatches": [
            {"applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": value}}
        ]},
    })
}

pub(super) fn good(name: &str) -> Value {
    filter(name, &json!({"connect_timeout": "1s"}))
}

/// Envoy has no such field.
fn bad(name: &str) -> Value {
    filter(name, &json!({"connect_timeoutt": "1s"}))
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn created_updated_tried_and_deleted_through_a_real_api_server() {
    namespace("verbs");
    let server = own("verbs", "verbs", &[]);
    configure("verbs", "verbs", server.address, "Fail", "");
    trusted("verbs");
    let path = filters("verbs");
    let (status, _, body) = call("POST", &path, &bad("a"));
    assert_eq!(status, 403, "{body}");
    let message = text(&body, "/message");
    assert!(message.contains("spec.configPatches[0].patch.value.connect_timeoutt: "), "{message}");
    assert!(message.contains("; help: "), "{message}");
    // Dry runs: the same answers, and nothing is stored.
    assert_eq!(call("POST", &format!("{path}?dryRun=All"), &bad("a")).0, 403);
    assert_eq!(call("POST", &format!("{path}?dryRun=All"), &good("a")).0, 201);
    assert_eq!(call("GET", &format!("{path}/a"), &Value::Null).0, 404);
    let (status, _, stored) = call("POST", &path, &good("a"));
    assert_eq!(status, 201, "{stored}");
    let mut update = stored.clone();
    update["spec"]["configPatches"][0]["patch"]["value"] = json!({"connect_timeoutt": "2s"});
    assert_eq!(call("PUT", &format!("{path}/a"), &update).0, 403);
    update["spec"]["configPatches"][0]["patch"]["value"] = json!({"connect_timeout": "2s"});
    let (status, _, stored) = call("PUT", &format!("{path}/a"), &update);
    assert_eq!(status, 200, "{stored}");
    // Warnings are shown.
    let mut odd = good("b");
    odd["spec"].as_object_mut().unwrap().remove("workloadSelector");
    let (status, warnings, body) = call("POST", &path, &odd);
    assert_eq!(status, 201, "{body}");
    assert!(warnings.iter().any(|line| line.contains("EF502 info at metadata.name: ")), "{warnings:?}");
    // By mode of the namespace and by exemption.
    let exempt = "proxies of OPS-12 know the field";
    let mut exempted = bad("c");
    exempted["metadata"]["annotations"] = json!({"envoyfilter.dev/admission-exempt": exempt});
    let (status, warnings, body) = call("POST", &path, &exempted);
    assert_eq!(status, 201, "{body}");
    assert!(!warnings.is_empty());
    let label = json!({"metadata": {"labels": {"envoyfilter.dev/admission": "warn"}}});
    let send = |path: &str, body: &Value| cluster().send("PATCH", path, "application/merge-patch+json", body).unwrap();
    send("/api/v1/namespaces/verbs", &label);
    let warned = wait(Duration::from_secs(10), || {
        (call("POST", &format!("{path}?dryRun=All"), &bad("d")).0 == 201).then_some(())
    });
    assert!(warned.is_some(), "the label of the namespace does not count");
    let delete = |name: &str| call("DELETE", &format!("{path}/{name}"), &Value::Null).0;
    assert_eq!((delete("a"), delete("b"), delete("c")), (200, 200, 200));
    let log: Vec<Value> = server.lines().into_iter().filter(|line| line["message"] == "review").collect();
    let with = |key: &str, value: &str| log.iter().filter(|line| line[key] == value).count();
    assert!(with("verdict", "denied") >= 3 && with("exempt", exempt) == 1, "{log:?}");
    assert!(log.iter().any(|line| line["dry_run"] == true));
    assert!(!format!("{log:?}").contains("connect_timeout"), "the log tells what filters say: {log:?}");
    let metrics = server.get("/metrics").1;
    for words in [
        "envoyfilter_admission_reviews_total{operation=\"CREATE\",verdict=\"denied\",mode=\"enforce\"}",
        "envoyfilter_admission_reviews_total{operation=\"CREATE\",verdict=\"exempt\",mode=\"enforce\"} 1",
        "envoyfilter_admission_reviews_by_rule_total{rule=\"EF101\",verdict=\"denied\"}",
        "envoyfilter_admission_findings_total{rule=\"EF",
        "namespace=\"verbs\"}",
        "envoyfilter_admission_review_seconds_bucket",
        "envoyfilter_admission_sync_age_seconds{kind=\"EnvoyFilter\"} 0",
        "envoyfilter_admission_leader 1",
    ] {
        assert!(metrics.contains(words), "{words}:\n{metrics}");
    }
    assert!(server.terminate());
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn without_a_server_the_failure_policy_decides() {
    for (policy, want) in [("Ignore", 201), ("Fail", 500)] {
        let name = format!("down-{}", policy.to_lowercase());
        namespace(&name);
        let server = own(&name, &name, &[]);
        configure(&name, &name, server.address, policy, "");
        trusted(&name);
        assert!(server.terminate());
        let down = wait(Duration::from_secs(10), || {
            let (status, _, body) = call("POST", &filters(&name), &bad("a"));
            (status == want).then_some(body)
        });
        assert!(down.is_some(), "{policy}");
    }
}

/// The results of reviews under load.
#[derive(Default)]
pub(super) struct Load {
    stop: AtomicBool,
    asked: AtomicUsize,
    failed: Mutex<Vec<String>>,
}

impl Load {
    /// Sends filters through the API server from several concurrent tasks until stopped.
    pub(super) fn start(namespace: &str, tasks: usize) -> Arc<Load> {
        let load = Arc::new(Load::default());
        for task in 0..tasks {
            let (load, client, path) =
                (Arc::clone(&load), cluster().client.clone(), format!("{}?dryRun=All", filters(namespace)));
            cluster().runtime.spawn(async move {
                while !load.stop.load(Ordering::Relaxed) {
                    let number = load.asked.fetch_add(1, Ordering::Relaxed);
                    let (object, want) = if number.is_multiple_of(2) {
                        (good(&format!("t{task}")), 201)
                    } else {
                        (bad(&format!("t{task}")), 403)
                    };
                    let (status, _, body) = ask(client.clone(), "POST", &path, &object).await;
                    if status != want || (want == 403 && !text(&body, "/message").contains("EF")) {
                        load.failed.lock().unwrap().push(format!("{status} {body}"));
                    }
                }
            });
        }
        load
    }

    pub(super) fn end(&self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        let failed = self.failed.lock().unwrap();
        let asked = self.asked.load(Ordering::Relaxed);
        assert!(failed.is_empty(), "{} of {asked}: {}", failed.len(), failed[0]);
        asked
    }
}

pub(super) fn data(secret: &Value, key: &str) -> String {
    use base64::Engine as _;
    let text = secret["data"][key].as_str().unwrap_or_default();
    String::from_utf8(base64::engine::general_purpose::STANDARD.decode(text).unwrap()).unwrap()
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn authority_and_certificate_are_rotated_under_load() {
    namespace("rotated");
    // As the installation leaves them: an empty Secret and an empty Lease.
    let empty = |api: &str, kind: &str| json!({"apiVersion": api, "kind": kind, "metadata": {"name": "rotated", "namespace": "rotated"}});
    cluster().create(&[empty("v1", "Secret"), empty("coordination.k8s.io/v1", "Lease")]);
    let short = ["--authority-lifetime", "24s", "--certificate-lifetime", "8s", "--rotation-overlap", "4s"];
    let first = own("rotated", "rotated", &[&short[..], &["--replica", "one"]].concat());
    let second = own("rotated", "rotated", &[&short[..], &["--replica", "two"]].concat());
    let front = Front::new(&[first.address, second.address]);
    configure("rotated", "rotated", front.address, "Fail", "");
    trusted("rotated");
    let secret = || call("GET", "/api/v1/namespaces/rotated/secrets/rotated", &Value::Null).2;
    let load = Load::start("rotated", 4);
    let (mut certificates, mut bundles, mut longest) = (BTreeSet::new(), BTreeSet::new(), 0);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(50) {
        let secret = secret();
        certificates.insert(data(&secret, "tls.crt"));
        let bundle = data(&secret, "ca.crt");
        longest = longest.max(bundle.matches("BEGIN").count());
        bundles.insert(bundle);
        // New connections, so that new certificates are shown.
        front.lead_to(&if certificates.len() % 2 == 0 {
            [second.address, first.address]
        } else {
            [first.address, second.address]
        });
        std::thread::sleep(Duration::from_millis(200));
    }
    let asked = load.end();
    println!("{asked} reviews, {} certificates, {} bundles of up to {longest}", certificates.len(), bundles.len());
    assert!(certificates.len() >= 4 && bundles.len() >= 3 && longest >= 2);
    let leaders = [&first, &second].map(|one| one.metric("envoyfilter_admission_leader"));
    assert!((leaders[0] + leaders[1] - 1.0).abs() < 0.5, "{leaders:?}");
    let bundle = text(&configuration("rotated"), "/webhooks/0/clientConfig/caBundle").to_owned();
    let kept = wait(Duration::from_secs(5), || {
        (secret()["data"]["ca.crt"] == text(&configuration("rotated"), "/webhooks/0/clientConfig/caBundle"))
            .then_some(())
    });
    assert!(kept.is_some() && !bundle.is_empty());
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn replicas_are_restarted_one_after_the_other_under_load() {
    namespace("restarted");
    let start = |replica: &str| own("restarted", "restarted", &["--replica", replica]);
    let mut servers = vec![start("r0"), start("r1")];
    let front = Front::new(&[servers[0].address, servers[1].address]);
    configure("restarted", "restarted", front.address, "Fail", "");
    trusted("restarted");
    let load = Load::start("restarted", 4);
    for number in 2..6 {
        let old = servers.remove(0);
        // An endpoint that ends is removed from the Service first.
        front.lead_to(&[servers[0].address]);
        assert!(old.terminate());
        servers.push(start(&format!("r{number}")));
        front.lead_to(&[servers[1].address, servers[0].address]);
    }
    println!("{} reviews while 4 replicas were restarted", load.end());
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn another_replica_leads_when_the_leader_is_gone() {
    namespace("orphaned");
    let start = |replica: &str| own("orphaned", "orphaned", &["--replica", replica]);
    let (first, second) = (start("one"), start("two"));
    let leads = |server: &Server| server.metric("envoyfilter_admission_leader") > 0.5;
    assert!(leads(&first) && !leads(&second));
    configure("orphaned", "orphaned", second.address, "Fail", "");
    // It is silent, and releases nothing.
    drop(first);
    let began = Instant::now();
    assert!(wait(Duration::from_secs(40), || leads(&second).then_some(())).is_some());
    println!("another replica leads {:.1} s after the leader was killed", began.elapsed().as_secs_f32());
    // Only the leader does this: nobody could write the caBundle before.
    trusted("orphaned");
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn a_broken_watch_is_resumed() {
    namespace("broken");
    let kubeconfig = cluster().kubeconfig("admin", "broken");
    let config = fs::read_to_string(&kubeconfig).unwrap();
    let at = config.find("https://127.0.0.1:").unwrap() + "https://".len();
    let end = at + config[at..].find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':').unwrap();
    let api: SocketAddr = config[at..end].parse().unwrap();
    let front = Front::new(&[api]);
    let through = kubeconfig.with_file_name("broken-through.kubeconfig");
    fs::write(&through, config.replace(&api.to_string(), &front.address.to_string())).unwrap();
    let arguments = ["--service", "broken", "--cert-secret", "broken", "-n", "broken"];
    let server = Server::start(&through, &arguments);
    let known = |want: f64| {
        let seen = wait(Duration::from_secs(30), || {
            ((server.metric("envoyfilter_admission_known_filters ") - want).abs() < 0.5).then_some(())
        });
        assert!(seen.is_some(), "{want}: {}", server.get("/metrics").1);
    };
    let before = server.metric("envoyfilter_admission_known_filters ");
    let path = filters("broken");
    assert_eq!(call("POST", &path, &good("a")).0, 201);
    known(before + 1.0);
    // No server exists for a while, and something happens meanwhile.
    front.lead_to(&[]);
    front.cut();
    assert_eq!(call("POST", &path, &good("b")).0, 201);
    assert_eq!(call("DELETE", &format!("{path}/a"), &Value::Null).0, 200);
    let broken = wait(Duration::from_secs(20), || {
        (server.metric("envoyfilter_admission_sync_age_seconds{kind=\"EnvoyFilter\"}") > 0.0).then_some(())
    });
    assert!(broken.is_some(), "{}", server.get("/metrics").1);
    assert_eq!(call("POST", &path, &good("c")).0, 201);
    front.lead_to(&[api]);
    known(before + 2.0);
    assert_eq!(server.get("/readyz").0, 200);
    for name in ["b", "c"] {
        assert_eq!(call("DELETE", &format!("{path}/{name}"), &Value::Null).0, 200);
    }
    known(before);
}

/// A direct client of the server that trusts the CA in its Secret.
pub(super) fn direct(address: SocketAddr, bundle: &str) -> kube::Client {
    let mut config = kube::Config::new(format!("https://{address}").parse().unwrap());
    let certificates = bundle.split_inclusive("-----END CERTIFICATE-----").filter(|part| part.contains("BEGIN"));
    let der = |pem: &str| {
        use base64::Engine as _;
        let lines: String = pem.lines().filter(|line| !line.starts_with("---")).collect();
        base64::engine::general_purpose::STANDARD.decode(lines.trim()).unwrap()
    };
    config.root_cert = Some(certificates.map(der).collect());
    let _entered = cluster().runtime.enter();
    kube::Client::try_from(config).unwrap()
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn a_body_that_is_not_a_review_gets_a_clear_answer() {
    namespace("strange");
    let arguments = ["--max-request-bytes", "200000"];
    let server = own("strange", "strange", &arguments);
    let secret = call("GET", "/api/v1/namespaces/strange/secrets/strange", &Value::Null).2;
    let client = direct(server.address, &data(&secret, "ca.crt"));
    let post = |path: &str, body: Vec<u8>| {
        let request = Request::post(path).header("content-type", "application/json").body(body.into()).unwrap();
        cluster().runtime.block_on(async {
            let answer = client.send(request).await.unwrap();
            let status = answer.status().as_u16();
            let body = answer.into_body().collect_bytes().await.unwrap();
            (status, String::from_utf8(body.to_vec()).unwrap())
        })
    };
    let of = |version: &str, kind: &str| json!({"apiVersion": version, "kind": kind}).to_string().into_bytes();
    for (body, status, words) in [
        (b"{".to_vec(), 400, "not an AdmissionReview"),
        (vec![0xff; 10], 400, "not an AdmissionReview"),
        (of("admission.k8s.io/v1beta1", "AdmissionReview"), 400, "admissionReviewVersions"),
        (of("v1", "Pod"), 400, "its kind is \"Pod\""),
        (vec![b' '; 300_000], 413, "larger than 200000 bytes"),
    ] {
        let (got, said) = post("/validate", body);
        assert!(got == status && said.contains(words), "{got} {said}");
    }
    assert_eq!(post("/", Vec::new()).0, 404);
    let mut other = super::review("CREATE", None, Some(&good("a")));
    other["request"]["resource"]["resource"] = "gateways".into();
    let (status, said) = post("/validate?timeout=10s", other.to_string().into_bytes());
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((status, &said["response"]["allowed"]), (200, &json!(true)), "{said}");
    // A large filter within the limit is judged in time, or the answer says that it was not.
    let patches: Vec<Value> = (0..400).map(|_| good("a")["spec"]["configPatches"][0].clone()).collect();
    let mut large = good("large");
    large["metadata"]["namespace"] = "strange".into();
    large["spec"]["configPatches"] = patches.into();
    let review = super::review("CREATE", None, Some(&large)).to_string().into_bytes();
    let began = Instant::now();
    let (status, said) = post("/validate?timeout=1s", review);
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(status, 200, "{said}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert!(server.metric("envoyfilter_admission_refused_requests_total{status=\"400\"}") >= 4.0);
    assert!(server.terminate());
}

/// Five minutes of load with constant memory after the first minute. `cargo test --test it webhook::cluster::soak --
/// --ignored`
#[test]
#[ignore = "takes five minutes"]
fn soak() {
    namespace("soaked");
    let server = own("soaked", "soaked", &[]);
    configure("soaked", "soaked", server.address, "Fail", "");
    trusted("soaked");
    let seconds = std::env::var("SOAK_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    let load = Load::start("soaked", 8);
    let (began, path) = (Instant::now(), filters("soaked"));
    let mut memory = Vec::new();
    let mut number = 0;
    while began.elapsed() < Duration::from_secs(seconds) {
        // The cluster changes meanwhile.
        let name = format!("s{number}");
        assert_eq!(call("POST", &path, &good(&name)).0, 201);
        assert_eq!(call("DELETE", &format!("{path}/{name}"), &Value::Null).0, 200);
        number += 1;
        std::thread::sleep(Duration::from_millis(500));
        memory.push(server.memory());
    }
    let asked = load.end();
    let (first, second) = memory.split_at(memory.len() / 2);
    let most = |part: &[u64]| part.iter().skip(part.len() / 4).copied().max().unwrap();
    println!(
        "{asked} reviews and {number} changes in {seconds} s; at most {} KiB in the first half, {} KiB in the second",
        most(first),
        most(second)
    );
    assert!(most(second) < most(first) * 11 / 10 + 4096, "memory grows: {memory:?}");
}

/// The memory for a mesh of some size, and the time until it is loaded.
#[test]
#[ignore = "needs Go: .ci/run"]
fn memory_of_a_thousand_workloads() {
    // A separate cluster: its pods would affect the results of other tests.
    let cluster = Cluster::start();
    let kubeconfig = cluster.kubeconfig("admin", "default");
    let start = || {
        let began = Instant::now();
        (Server::start(&kubeconfig, &["-n", "istio-system"]), began.elapsed().as_secs_f32())
    };
    let (small, ready) = start();
    let before = small.memory();
    println!("0 pods: ready after {ready:.1} s, {before} KiB");
    drop(small);
    cluster.create(&[json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "measured"}})]);
    let (mut there, mut sizes) = (0, Vec::new());
    for workloads in [1_000_u32, 10_000] {
        let pods: Vec<Value> = (there..workloads)
            .map(|number| crate::live::pod("measured", &format!("w{number}"), number as usize))
            .collect();
        cluster.create(&pods);
        there = workloads;
        let (server, ready) = start();
        let now = server.memory();
        let each = (now - before) / u64::from(workloads / 1_000);
        println!("{workloads} pods: ready after {ready:.1} s, {now} KiB: {each} KiB a thousand");
        let known = server.metric("envoyfilter_admission_known_workloads ");
        assert!(known > f64::from(workloads), "only {known} are known");
        sizes.push(now);
    }
    // The memory for a page of a list does not grow with the mesh.
    let each = (sizes[1] - sizes[0]) / 9;
    println!("{each} KiB for each further thousand");
    assert!(each < 16_000, "{sizes:?}");
}
