//! Requests through a real Envoy: until the first answer, each further request, with and without probes. Needs an Envoy:
//! `ENVOY=./envoy cargo bench --bench behaviour`; without one it measures nothing.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]

use criterion::{Criterion, criterion_group, criterion_main};
use kubectl_envoyfilter::behaviour::{Host, Request, Sandbox, Settings, Subject, Target, Try, Wanted, try_request};
use kubectl_envoyfilter::engine::{self, MeshSettings, Options, Program};
use kubectl_envoyfilter::load;
use kubectl_envoyfilter::load::dump::Identity;
use kubectl_envoyfilter::model::release::Release;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn requests(criterion: &mut Criterion) {
    let Some(envoy) = std::env::var_os("ENVOY").map(PathBuf::from) else { return };
    let (Some(dump), _) = kubectl_envoyfilter::demo::dump() else { return };
    let Ok(config) = dump.config(&Identity::default()) else { return };
    let loaded = load::read_text(
        kubectl_envoyfilter::demo::FILTERS_NAME,
        kubectl_envoyfilter::demo::FILTERS,
        &load::Options::default(),
    );
    let program = Program::new(&loaded.inventory.envoy_filters, Release::NEWEST);
    let plan = program.plan(&config.proxy, &MeshSettings::default());
    let without = plan.without(&plan.ids().collect::<Vec<_>>());
    let options = Options::default();
    let patched = engine::run(&plan, &config, &options, &mut ());
    let unpatched = engine::run(&without, &config, &options, &mut ());
    let with = Subject { plan: &plan, config: &config, patched: &patched };
    let without = Subject { plan: &without, config: &config, patched: &unpatched };
    let request = Request::get(Target::Inbound(8080), "/");
    let settings = |probes| Settings { envoy: envoy.clone(), probes, wasm: BTreeMap::new(), stubs: BTreeMap::new() };
    let mut group = criterion.benchmark_group("behaviour");
    group.sample_size(10);
    group.bench_function("first answer, with and without the filters", |bencher| {
        let settings = settings(true);
        bencher.iter(|| {
            let what =
                Try { request: &request, token: None, repeat: 1, with, without: Some(without), settings: &settings };
            try_request(&what).map(|report| report.with.exchanges.len()).ok()
        });
    });
    let Ok(host) = Host::new() else { return };
    let wanted = Wanted::of([&request], "cart");
    for (name, probes) in [("a request with probes", true), ("a request without probes", false)] {
        let settings = settings(probes);
        let Ok(coming) = Sandbox::start(&settings) else { return };
        let Ok(mut sandbox) = Sandbox::open(&host, coming, &with, &settings, &wanted, true) else { return };
        group.bench_function(name, |bencher| bencher.iter(|| sandbox.send(&request).is_ok()));
    }
    group.finish();
}

criterion_group!(benches, requests);
criterion_main!(benches);
