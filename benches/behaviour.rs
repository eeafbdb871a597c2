//! Requests through a real Envoy: time to the first answer, each further request, a hundred tests, a dump of 106 MB,
//! and the memory of both processes. Needs an Envoy: `ENVOY=./envoy cargo bench --bench behaviour`; without one it
//! measures nothing.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]
#![allow(clippy::expect_used, clippy::print_stdout, missing_docs, reason = "a benchmark")]

#[allow(dead_code, reason = "shared with other benchmarks")]
#[path = "support/big_dump.rs"]
mod big_dump;
#[path = "support/peak_memory.rs"]
mod peak_memory;

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use kubectl_envoyfilter::behaviour::{Host, Request, Sandbox, Settings, Subject, Target, Wanted};
use kubectl_envoyfilter::engine::{self, MeshSettings, Options, Program};
use kubectl_envoyfilter::load;
use kubectl_envoyfilter::load::dump::Identity;
use kubectl_envoyfilter::model::release::Release;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

const LUA: &str = include_str!("../testdata/behaviour/lua-headers/good.yaml");
/// One filter that changes every HTTP connection manager, and one that changes every cluster.
const EVERYWHERE: &str = concat!(
    include_str!("support/everywhere.yaml"),
    "---\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: slower, namespace: istio-system}\n\
     spec:\n  configPatches:\n  - applyTo: CLUSTER\n    match: {context: ANY}\n    patch: {operation: MERGE, value: {connect_timeout: 7s}}\n"
);

/// The same dump with the objects of the recorded sidecar added, so that its requests are answered.
fn big() -> String {
    let mut big = big_dump::dump(big_dump::Size::BIG);
    let recorded: serde_json::Value = serde_json::from_str(&big_dump::recorded()).expect("JSON");
    let lists = ["dynamic_active_clusters", "dynamic_listeners", "dynamic_route_configs"];
    for section in recorded["configs"].as_array().into_iter().flatten() {
        for list in lists {
            let items = section[list].as_array().into_iter().flatten();
            // It already contains these two.
            let items =
                items.filter(|item| !matches!(item["name"].as_str(), Some("virtualInbound" | "virtualOutbound")));
            let text: String = items.fold(String::new(), |mut text, item| {
                let _ = writeln!(text, "{item},");
                text
            });
            let begin = format!("\"{list}\": [\n");
            if !text.is_empty() {
                big = big.replacen(&begin, &format!("{begin}{text}"), 1);
            }
        }
    }
    big
}

/// A hundred tests of one script.
fn hundred(dump: &Path, filter: &Path) -> String {
    let mut text = format!(
        "kind: EnvoyFilterTest\nproxy: {{dump: {}}}\nfilters: [{}]\ntests:\n",
        dump.display(),
        filter.display()
    );
    for number in 0..100 {
        let _ = write!(
            text,
            "- name: test {number}\n  request: {{inbound: 8080, path: /{number}, headers: {{user-agent: Curl/{number}}}}}\n  \
             expect: {{status: 200, upstream: {{headers: {{x-agent: curl/{number}}}}}}}\n"
        );
    }
    text
}

fn processes(criterion: &mut Criterion) {
    let Some(envoy) = std::env::var("ENVOY").ok() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let written = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    let (small, large) = (written("cart.json", &big_dump::recorded()), written("big.json", &big()));
    let (lua, everywhere) = (written("lua.yaml", LUA), written("everywhere.yaml", EVERYWHERE));
    let tests = written("a.test.yaml", &hundred(&small, &lua));
    let text = |path: &'_ Path| path.to_str().expect("a path").to_owned();
    let answer = |dump: &Path, filter: &Path, target: &[&str]| {
        let (dump, filter) = (text(dump), text(filter));
        let arguments = [&["try", "--dump", &dump, "-f", &filter, "--envoy", &envoy], target, &["/"]].concat();
        peak_memory::of(&arguments)
    };
    let inbound = ["--inbound", "8080"];
    let outbound = ["--outbound", "catalog.shop.svc.cluster.local:7070"];
    let tests = text(&tests);
    let hundred = || peak_memory::of(&["test", &tests, "--envoy", &envoy]);
    let mut group = criterion.benchmark_group("behaviour");
    group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(5));
    group.bench_function("first answer, 180 KB dump (budget 0.5 s)", |bencher| {
        bencher.iter(|| answer(&small, &lua, &inbound));
    });
    group.bench_function("100 tests (budget 2 s)", |bencher| bencher.iter(hundred));
    group.bench_function("first answer, 106 MB dump (budget 1.5 s)", |bencher| {
        bencher.iter(|| answer(&large, &lua, &inbound));
    });
    group.bench_function("the same with a filter that meets everything (budget 1.5 s)", |bencher| {
        bencher.iter(|| answer(&large, &everywhere, &outbound));
    });
    group.finish();
    for (what, memory) in [
        ("180 KB dump", answer(&small, &lua, &inbound)),
        ("106 MB dump", answer(&large, &lua, &inbound)),
        ("106 MB dump, a filter that meets everything", answer(&large, &everywhere, &outbound)),
        ("100 tests", hundred()),
    ] {
        println!("memory of the program without Envoy, {what}: {} MiB", memory >> 20);
    }
}

fn requests(criterion: &mut Criterion) {
    let Some(envoy) = std::env::var_os("ENVOY").map(PathBuf::from) else { return };
    let (dump, _) = load::dump::Dump::from_text("cart", big_dump::recorded());
    let dump = dump.expect("a dump");
    let config = dump.config(&Identity::default()).expect("a dump with a node");
    let loaded = load::read_text("lua.yaml", LUA, &load::Options::default());
    let program = Program::new(&loaded.inventory.envoy_filters, Release::NEWEST);
    let plan = program.plan(&config.proxy, &MeshSettings::default());
    let options = Options::default();
    let patched = engine::run(&plan, &config, &options, &mut ());
    let subject = Subject { plan: &plan, config: &config, patched: &patched };
    let request = Request::get(Target::Inbound(8080), "/");
    let mut group = criterion.benchmark_group("behaviour");
    let host = Host::new().expect("threads");
    let wanted = Wanted::of([&request], "cart");
    for (name, probes) in [("a further request with probes (budget 2 ms)", true), ("a further request without", false)]
    {
        let settings = Settings { envoy: envoy.clone(), probes, wasm: BTreeMap::new(), stubs: BTreeMap::new() };
        let coming = Sandbox::start(&settings).expect("Envoy starts");
        let mut sandbox = Sandbox::open(&host, coming, &subject, &settings, &wanted, true).expect("it serves");
        group.bench_function(name, |bencher| bencher.iter(|| sandbox.send(&request).expect("an answer")));
        println!("memory of Envoy: {} MiB", sandbox.peak_memory().unwrap_or(0) >> 20);
    }
    group.finish();
}

criterion_group!(benches, processes, requests);
criterion_main!(benches);
