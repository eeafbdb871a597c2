//! A burst of reviews on loopback, over TLS as the API server sends them: reviews per second, latency, memory.
//!
//! `cargo bench --bench webhook` (30 s at 1,000 per second); `RATE`, `SECONDS`, `WORKLOADS` and `FILTERS` change that.
//! The latency of a review counts from its scheduled time, so that a stalled server cannot hide it. `ROOT` adds filters
//! in the root namespace and reviews of them, one in ten. `IDLE` connections are idle; `SLOW` ones send a byte of a
//! request ten times per second and reconnect when they are closed. `cargo bench --bench webhook -- --worst` measures
//! the memory of eight of the largest reviews at the same time. `cargo bench --bench webhook -- --each` measures one
//! review of each kind without a network: the first after another change, and one without a change.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench: it fails by them, and prints figures")]

use axum_server::Handle;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use kubectl_envoyfilter::admission::certificates::{Lifetimes, advance};
use kubectl_envoyfilter::admission::connections::Admit;
use kubectl_envoyfilter::admission::feed::builder;
use kubectl_envoyfilter::admission::judge::Rules;
use kubectl_envoyfilter::admission::run::listen;
use kubectl_envoyfilter::admission::server::{Limits, Reviewer, webhook};
use kubectl_envoyfilter::admission::snapshot::{Change, Overrides, SnapshotBuilder};
use kubectl_envoyfilter::cluster::kinds;
use kubectl_envoyfilter::lint::config::Config;
use kubectl_envoyfilter::rules::ALL;
use serde_json::{Value, json};
use std::env;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The program's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn number(name: &str, default: usize) -> usize {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A team's filter for one of its workloads; every one has a different value.
fn filter(team: usize, name: usize, size: usize) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": format!("buffer-{name}"), "namespace": format!("team-{team}")},
        "spec": {"workloadSelector": {"labels": {"app": format!("service-{name}")}}, "configPatches": [{
            "applyTo": "HTTP_FILTER",
            "match": {"context": "SIDECAR_INBOUND", "listener": {"filterChain": {"filter": {
                "name": "envoy.filters.network.http_connection_manager",
                "subFilter": {"name": "envoy.filters.http.router"}}}}},
            "patch": {"operation": "INSERT_BEFORE", "value": {"name": format!("team-{team}.buffer"), "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer",
                "max_request_bytes": size}}},
        }]},
    })
}

fn pod(team: usize, name: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": format!("service-{name}-5d7-x"), "namespace": format!("team-{team}"),
            "labels": {"app": format!("service-{name}"), "version": "v1"}},
        "spec": {"containers": [{"name": "app", "image": "app", "ports": [{"containerPort": 8080}]},
            {"name": "istio-proxy", "image": "docker.io/istio/proxyv2:1.31.0", "args": ["proxy", "sidecar"]}]},
        "status": {"phase": "Running"},
    })
}

/// A review; every seventh filter has an error.
fn review(number: usize, filters: usize) -> Vec<u8> {
    let name = number % filters;
    let root = self::number("ROOT", 0);
    let (mut new, old) = if root > 0 && number.is_multiple_of(10) {
        (root_filter(number / 10 % root, number), root_filter(number / 10 % root, 1))
    } else {
        (filter(name / 20, name, number), filter(name / 20, name, 1))
    };
    if number.is_multiple_of(7) {
        new["spec"]["configPatches"][0]["patch"]["value"]["typed_config"]["max_request_bytess"] = number.into();
    }
    review_of(new, old, number)
}

/// The review of a change to a stored filter, which the API server sends as well.
fn review_of(new: Value, old: Value, number: usize) -> Vec<u8> {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": format!("uid-{number}"), "operation": "UPDATE", "userInfo": {"username": "jane"},
            "resource": {"group": "networking.istio.io", "version": "v1alpha3", "resource": "envoyfilters"},
            "name": new["metadata"]["name"], "namespace": new["metadata"]["namespace"], "object": new,
            "oldObject": old,
        }
    })
    .to_string()
    .into_bytes()
}

/// Peak resident memory, in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|text| text.parse::<u64>().ok()).unwrap_or_default() / 1024
}

fn main() {
    // `cargo test --bench webhook` only checks that it runs.
    let seconds = number("SECONDS", if env::args().any(|argument| argument == "--bench") { 30 } else { 2 });
    if env::args().any(|argument| argument == "--worst") {
        return worst();
    }
    if env::args().any(|argument| argument == "--each") {
        return each();
    }
    let (rate, workloads, filters) = (number("RATE", 1_000), number("WORKLOADS", 1_000), number("FILTERS", 1_000));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run(rate, seconds, workloads, filters));
}

async fn run(rate: usize, seconds: usize, workloads: usize, filters: usize) {
    let (mut builder, health) = builder(Overrides::default());
    let empty = peak();
    for name in 0..workloads {
        builder.apply(kinds::POD, Change::Put(pod(name / 20, name)));
    }
    for kind in kinds::WEBHOOK.kinds {
        builder.mark_read(kind);
    }
    builder.mark_read(kinds::CONFIG_MAP);
    let known = peak();
    for name in 0..filters {
        builder.apply(kinds::ENVOY_FILTER, Change::Put(filter(name / 20, name, 1)));
    }
    let root = number("ROOT", 0);
    for name in 0..root {
        builder.apply(kinds::ENVOY_FILTER, Change::Put(root_filter(name, 1)));
    }
    println!("{workloads} workloads: {} MiB; {filters} filters: {} MiB", known - empty, peak() - known);
    let limits = Limits::default();
    let rules = Rules::new(ALL.to_vec(), Config::default());
    let reviewer = Arc::new(Reviewer::new(limits, rules, builder.snapshot(), health));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let day = Duration::from_secs(86_400);
    let lifetimes = Lifetimes { authority: day, serving: day, overlap: day };
    let store = advance(None, now, &["127.0.0.1".to_owned()], lifetimes, true).unwrap();
    let tls = RustlsConfig::from_pem(store.serving.cert.clone().into_bytes(), store.serving.key.clone().into_bytes());
    let tls = tls.await.unwrap();
    let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let handle: Handle<std::net::SocketAddr> = Handle::new();
    let acceptor = Admit::new(Arc::clone(&reviewer.connections), RustlsAcceptor::new(tls));
    let server = axum_server::from_tcp(listener).unwrap().acceptor(acceptor).handle(handle.clone());
    let routes = webhook(Arc::clone(&reviewer)).into_make_service_with_connect_info::<std::net::SocketAddr>();
    let server = tokio::spawn(server.serve(routes));
    let mut config = kube::Config::new(format!("https://{address}").parse().unwrap());
    config.root_cert = Some(vec![der(&store.signer.cert)]);
    let client = kube::Client::try_from(config).unwrap();
    // Others hold connections. They connect on a separate thread, since a connection that is not accepted blocks.
    let (idle, slow) = (number("IDLE", 0), number("SLOW", 0));
    let strangers = std::thread::spawn(move || {
        let began = Instant::now();
        let idle: Vec<TcpStream> = (0..idle).filter_map(|_| stranger(address)).collect();
        println!("{} idle connections after {:.1} s", idle.len(), began.elapsed().as_secs_f64());
        idle
    });
    if slow > 0 {
        std::thread::spawn(move || drip(address, slow));
    }
    let idle = tokio::task::spawn_blocking(move || strangers.join().unwrap()).await.unwrap();
    // One review alone: the cost without contention.
    assert!(send(&client, 1, filters).await);
    let began = Instant::now();
    for number in 2..202 {
        assert!(send(&client, number, filters).await);
    }
    println!("one after the other: {:.2} ms each", began.elapsed().as_secs_f64() * 1_000.0 / 200.0);
    let latencies = Arc::new(Mutex::new(Vec::with_capacity(rate * seconds)));
    let gap = Duration::from_secs_f64(1.0 / f64::from(u32::try_from(rate).unwrap()));
    let mut ticks = tokio::time::interval(gap);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Burst);
    let began = Instant::now();
    let mut tasks = Vec::new();
    for number in 0..rate * seconds {
        let due = ticks.tick().await;
        let (client, latencies) = (client.clone(), Arc::clone(&latencies));
        tasks.push(tokio::spawn(async move {
            let right = send(&client, number, filters).await;
            let took = due.elapsed();
            latencies.lock().unwrap().push(took);
            right
        }));
    }
    let mut wrong = 0;
    for task in tasks {
        wrong += usize::from(!task.await.unwrap());
    }
    let took = began.elapsed().as_secs_f64();
    let mut latencies = std::mem::take(&mut *latencies.lock().unwrap());
    latencies.sort();
    let at = |share: usize| latencies[(latencies.len() * share / 1_000).min(latencies.len() - 1)].as_secs_f64() * 1e3;
    println!(
        "{} reviews in {took:.1} s: {:.0} a second, p50 {:.2} ms, p99 {:.2} ms, p99.9 {:.2} ms, most {:.2} ms, {} MiB",
        latencies.len(),
        f64::from(u32::try_from(latencies.len()).unwrap()) / took,
        at(500),
        at(990),
        at(999),
        at(1_000),
        peak()
    );
    assert_eq!(wrong, 0, "reviews that did not end as they should");
    drop(idle);
    handle.graceful_shutdown(Some(Duration::from_secs(1)));
    server.await.unwrap().unwrap();
}

fn stranger(address: SocketAddr) -> Option<TcpStream> {
    TcpStream::connect_timeout(&address, Duration::from_secs(5)).ok()
}

/// Connections that send the beginning of a TLS record byte by byte, forever.
fn drip(address: SocketAddr, slow: usize) {
    let mut all: Vec<Option<TcpStream>> = Vec::new();
    all.resize_with(slow, || None);
    loop {
        for one in &mut all {
            let sent = one.as_mut().is_some_and(|stream| stream.write_all(&[22]).is_ok());
            if !sent {
                *one = stranger(address);
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A filter in the root namespace, for all workloads or for those of one team.
fn root_filter(number: usize, size: usize) -> Value {
    let mut filter = filter(0, number, size);
    filter["metadata"] = json!({"name": format!("mesh-{number}"), "namespace": "istio-system"});
    let spec = filter["spec"].as_object_mut().unwrap();
    if number.is_multiple_of(3) {
        spec.remove("workloadSelector");
    } else {
        spec["workloadSelector"] = json!({"labels": {"app": format!("service-{number}")}});
    }
    filter["spec"]["configPatches"][0]["patch"]["value"]["name"] = format!("mesh.buffer-{number}").into();
    filter
}

/// Eight concurrent reviews of 3 MiB, for each kind that is known to be expensive: peak memory, and time.
fn worst() {
    const BYTES: usize = 3 << 20;
    let limits = Limits { deadline: Duration::from_secs(30), ..Limits::default() };
    let patch = |value: Value| json!({"applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": value}});
    let of = |patches: Vec<Value>| {
        let mut filter = filter(1, 1, 1);
        filter["spec"]["configPatches"] = patches.into();
        let old = filter.to_string();
        // An update that does not change `spec` would not be judged.
        filter["spec"]["priority"] = 1.into();
        let object = filter.to_string();
        let head = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"UPDATE","resource":{"group":"networking.istio.io","version":"v1alpha3","resource":"envoyfilters"},"oldObject":"#;
        // The API server also sends the stored object.
        format!("{head}{old},\"object\":{object}}}}}").into_bytes()
    };
    let half = BYTES / 2;
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("one string", of(vec![patch(json!({"alt_stat_name": "a".repeat(half - 2_000)}))])),
        ("700,000 numbers", of(vec![patch(json!({"metadata": {"filter_metadata": {"a": {"b": vec![1; 700_000]}}}}))])),
        ("9,500 numbers", of(vec![patch(json!({"metadata": {"filter_metadata": {"a": {"b": vec![1; 9_500]}}}}))])),
        ("9,500 keys", {
            let keys: serde_json::Map<String, Value> = (0..9_500).map(|key| (format!("k{key}"), 1.into())).collect();
            of(vec![patch(json!({"metadata": {"filter_metadata": {"a": keys}}}))])
        }),
        ("1,900 patches", of((0..1_900).map(|at| patch(json!({"alt_stat_name": format!("a{at}")}))).collect())),
        ("1,900 wrong patches", of((0..1_900).map(|at| patch(json!({format!("a{at}"): 1}))).collect())),
        ("900 insertions", of((0..900).map(|at| filter(1, at, at)["spec"]["configPatches"][0].clone()).collect())),
        ("1,900 expressions", {
            let versions = (0..1_900).map(|at| {
                let mut one = patch(json!({"alt_stat_name": "a"}));
                one["match"] = json!({"proxy": {"proxyVersion": format!(r"^1\.\w{{9}}{at}")}});
                one
            });
            of(versions.collect())
        }),
    ];
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for (name, body) in cases {
        assert!(body.len() <= BYTES, "{name}: {} bytes", body.len());
        let (mut builder, health) = builder(Overrides::default());
        for name in 0..1_000 {
            builder.apply(kinds::POD, Change::Put(pod(name / 20, name)));
        }
        // Together with as many filters as are judged together: filters in the root namespace that change every
        // cluster.
        for name in 0..2 {
            let keys: serde_json::Map<String, Value> = (0..4_700).map(|key| (format!("k{key}"), 1.into())).collect();
            let mut heavy = filter(0, name, 1);
            heavy["metadata"] = json!({"name": format!("heavy-{name}"), "namespace": "istio-system"});
            heavy["spec"] = json!({"configPatches": [patch(json!({"metadata": {"filter_metadata": {"a": keys}}}))]});
            builder.apply(kinds::ENVOY_FILTER, Change::Put(heavy));
        }
        let rules = Rules::new(ALL.to_vec(), Config::default());
        let reviewer = Arc::new(Reviewer::new(limits, rules, builder.snapshot(), health));
        // Resets the kernel's peak.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let began = Instant::now();
        let bodies: Vec<axum::body::Bytes> = (0..8).map(|_| body.clone().into()).collect();
        let answers =
            runtime.block_on(futures::future::join_all(bodies.into_iter().map(|body| reviewer.review(body, None))));
        let verdicts: Vec<String> = answers
            .into_iter()
            .map(|answer| {
                answer
                    .map_or_else(|(status, _)| status.to_string(), |it| it["response"]["auditAnnotations"].to_string())
            })
            .collect();
        assert!(!verdicts[0].contains("passed"), "{name} was not judged");
        println!(
            "{name}: {:.1} MiB each, eight in {:.2} s, peak {} MiB, {}",
            f64::from(u32::try_from(body.len()).unwrap()) / f64::from(1 << 20),
            began.elapsed().as_secs_f64(),
            peak(),
            verdicts[0]
        );
        assert!(peak() < 512, "{name} takes {} MiB", peak());
    }
}

/// A filter by its number and a unique value.
type Which = fn(usize, usize) -> Value;
/// The change before a review, by its number.
type Before = fn(&mut SnapshotBuilder, usize);

/// The cost of single reviews on one thread, by subject and by the preceding change.
fn each() {
    let times = number("TIMES", 100);
    let (workloads, filters, root) = (number("WORKLOADS", 1_000), number("FILTERS", 50), number("ROOT", 35));
    let (mut builder, health) = builder(Overrides::default());
    for name in 0..workloads {
        builder.apply(kinds::POD, Change::Put(pod(name / 20, name)));
    }
    for name in 0..filters {
        builder.apply(kinds::ENVOY_FILTER, Change::Put(filter(name / 20, name, 1)));
    }
    for name in 0..root {
        builder.apply(kinds::ENVOY_FILTER, Change::Put(root_filter(name, 1)));
    }
    for kind in kinds::WEBHOOK.kinds.iter().copied().chain([kinds::CONFIG_MAP]) {
        builder.mark_read(kind);
    }
    let rules = Rules::new(ALL.to_vec(), Config::default());
    let reviewer = Arc::new(Reviewer::new(Limits::default(), rules, builder.snapshot(), health));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    // Every third one in the root namespace is for all workloads.
    let kinds_of_filters: [(&str, Which); 3] = [
        ("of a team", |at, size| filter(at / 20, at, size)),
        ("of the root namespace, for some workloads", |at, size| root_filter(at / 2 * 3 + at % 2 + 1, size)),
        ("of the root namespace, for all workloads", |at, size| root_filter(at * 3, size)),
    ];
    let before: [(&str, Before); 3] = [
        ("nothing", |_, _| ()),
        ("a pod", |builder, at| builder.apply(kinds::POD, Change::Put(pod(49, 10_000 + at)))),
        ("a filter of the root namespace", |builder, at| {
            builder.apply(kinds::ENVOY_FILTER, Change::Put(root_filter(33, 2 + at)));
        }),
    ];
    let mut changes = 0;
    for (what, make) in kinds_of_filters {
        for (changed, change) in &before {
            let mut took = Vec::new();
            for at in 0..times {
                changes += 1;
                change(&mut builder, changes);
                reviewer.publish(builder.snapshot());
                // The time until the API server sends the first review after that.
                std::thread::sleep(Duration::from_millis(u64::try_from(number("AFTER", 100)).unwrap()));
                let body = review_of(make(at % 11, 100 + changes), make(at % 11, 1), at);
                let began = Instant::now();
                let answer = runtime.block_on(reviewer.review(body.into(), None)).unwrap();
                took.push(began.elapsed());
                assert_eq!(answer["response"]["allowed"], true, "{answer}");
            }
            took.sort();
            // The time within which this share of them ended.
            let at = |share: usize| took[(times * share).div_ceil(100).max(1) - 1].as_secs_f64() * 1e3;
            println!(
                "a filter {what}, after {changed} changed: p50 {:.2} ms, p99 {:.2} ms, most {:.2} ms",
                at(50),
                at(99),
                at(100)
            );
        }
    }
}

/// Sends a review; returns whether the answer is correct.
async fn send(client: &kube::Client, number: usize, filters: usize) -> bool {
    let request = http::Request::post("/validate?timeout=10s").header("content-type", "application/json");
    let answer: Value = client.request(request.body(review(number, filters)).unwrap()).await.unwrap();
    answer["response"]["allowed"] == !number.is_multiple_of(7)
}

fn der(pem: &str) -> Vec<u8> {
    use base64::Engine as _;
    let lines: String = pem.lines().filter(|line| !line.starts_with("---")).collect();
    base64::engine::general_purpose::STANDARD.decode(lines.trim()).unwrap()
}
