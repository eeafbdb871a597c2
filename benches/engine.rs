//! Only the engine, on the recorded sidecar (180 KB): per filter of the demo and of the benchmarks.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]
#![allow(clippy::expect_used, missing_docs, reason = "a benchmark")]

#[allow(dead_code, reason = "shared with other benchmarks")]
#[path = "support/big_dump.rs"]
mod big_dump;
#[allow(dead_code, reason = "shared with other benchmarks")]
mod support;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use kubectl_envoyfilter::engine::{self, MeshSettings, Options, Program};
use kubectl_envoyfilter::load::dump::{Dump, Identity};
use kubectl_envoyfilter::model::release::Release;
use std::hint::black_box;

const DEMO: &str = include_str!("../src/demo/filters.yaml");

fn per_filter(criterion: &mut Criterion) {
    let (dump, _) = Dump::from_text("cart", big_dump::recorded());
    let dump = dump.expect("the recorded dump");
    let config = dump.config(&Identity::default()).expect("an identity");
    let mesh = MeshSettings::default();
    let options = Options::default();
    let mut group = criterion.benchmark_group("engine, recorded sidecar");
    for filter in support::filters(DEMO).into_iter().chain(support::filters(support::EVERYWHERE)) {
        let name = filter.name.clone();
        let filters = [filter];
        group.bench_function(BenchmarkId::new("traced", &name), |bencher| {
            bencher.iter(|| {
                let program = Program::new(&filters, Release::NEWEST);
                let plan = program.plan(&config.proxy, &mesh);
                black_box(engine::judge(&plan, &config, &options).patched.resources.len())
            });
        });
        group.bench_function(BenchmarkId::new("untraced", &name), |bencher| {
            bencher.iter(|| {
                let program = Program::new(&filters, Release::NEWEST);
                let plan = program.plan(&config.proxy, &mesh);
                black_box(engine::run(&plan, &config, &options, &mut ()).resources.len())
            });
        });
    }
    group.finish();
}

fn whole(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("demo, from texts");
    let text = big_dump::recorded();
    group.bench_function("explain six filters", |bencher| {
        bencher.iter(|| {
            let (dump, _) = Dump::from_text("cart", text.as_str());
            support::explain(&dump.expect("the recorded dump"), &support::filters(DEMO))
        });
    });
    group.finish();
}

criterion_group!(benches, per_filter, whole);
criterion_main!(benches);
