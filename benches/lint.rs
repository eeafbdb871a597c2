//! Linting many filters offline: reading, the engine on reference configurations, every rule.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::lint::config::Config;
use kubectl_envoyfilter::lint::{self, Input};
use kubectl_envoyfilter::load::{self, reference};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::rules::ALL;
use std::fmt::Write as _;
use std::time::Duration;

/// Filters of some 550 bytes: twenty in a namespace, each for a workload of its own.
fn filters(number: usize) -> String {
    let mut text = String::new();
    for index in 0..number {
        let namespace = index / 20;
        let _ = write!(
            text,
            "---\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata:\n  name: retry-budget-{index}\n  \
             namespace: team-{namespace}\nspec:\n  workloadSelector:\n    labels:\n      app: service-{index}\n  \
             configPatches:\n  - applyTo: HTTP_FILTER\n    match:\n      context: SIDECAR_INBOUND\n      listener:\n        \
             filterChain:\n          filter:\n            name: envoy.filters.network.http_connection_manager\n    patch:\n      \
             operation: INSERT_FIRST\n      value:\n        name: team-{namespace}.buffer\n        typed_config:\n          \
             \"@type\": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer\n          \
             max_request_bytes: 65536\n"
        );
    }
    text
}

fn run(text: &str) -> usize {
    let loaded = load::read_text("bench.yaml", text, &load::Options::default());
    let mesh = MeshSettings::default();
    let input = Input {
        sources: &loaded.sources,
        inventory: &loaded.inventory,
        problems: &loaded.problems,
        dumps: &[],
        references: reference::configs(Release::NEWEST),
        release: Release::NEWEST,
        mesh: &mesh,
    };
    lint::check(&input, ALL, &Config::default(), str::to_owned).findings.len()
}

fn lint_files(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lint");
    group.sample_size(10).measurement_time(Duration::from_secs(8));
    for number in [1, 100, 1_000, 10_000, 100_000] {
        let text = filters(number);
        group.throughput(Throughput::Elements(number as u64));
        group.bench_with_input(BenchmarkId::from_parameter(number), &text, |bencher, text| bencher.iter(|| run(text)));
    }
    group.finish();
}

criterion_group!(benches, lint_files);
criterion_main!(benches);
