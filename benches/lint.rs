//! Linting many filters offline: reading, the engine on reference configurations, every rule.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::lint::config::Config;
use kubectl_envoyfilter::lint::{self, Input};
use kubectl_envoyfilter::load::{self, reference};
use kubectl_envoyfilter::migrate;
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::rules::ALL;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// The program's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Filters of about 550 bytes: twenty per namespace, each for its own workload. Envoy refuses 0
/// bytes, which is one finding.
fn with_bytes(number: usize, bytes: u32) -> String {
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
             max_request_bytes: {bytes}\n"
        );
    }
    text
}

/// Filters without a finding.
fn filters(number: usize) -> String {
    with_bytes(number, 65_536)
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
        group.throughput(Throughput::Elements(number as u64));
        for (findings, bytes) in [("without findings", 65_536), ("one finding each", 0)] {
            let text = with_bytes(number, bytes);
            assert_eq!(run(&text), if bytes == 0 { number } else { 0 });
            let id = BenchmarkId::new(findings, number);
            group.bench_with_input(id, &text, |bencher, text| bencher.iter(|| run(text)));
        }
    }
    group.finish();
}

/// Filters of which half have a native API: Lua, settings of the HTTP connection manager, and filters without one.
fn movable(number: usize) -> String {
    let mut text = filters(number / 2);
    for index in 0..number.div_ceil(2) {
        let namespace = index / 20;
        let (apply_to, operation, value) = if index % 2 == 0 {
            let lua = "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua";
            let value = format!(
                "{{name: l, typed_config: {{\"@type\": {lua}, inline_code: \"function envoy_on_request(h) end\"}}}}"
            );
            ("HTTP_FILTER", "INSERT_FIRST", value)
        } else {
            let manager =
                "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
            ("NETWORK_FILTER", "MERGE", format!("{{typed_config: {{\"@type\": {manager}, stream_idle_timeout: 30s}}}}"))
        };
        let _ = write!(
            text,
            "---\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: move-{index}, namespace: \
             team-{namespace}}}\nspec:\n  workloadSelector: {{labels: {{app: service-{index}}}}}\n  configPatches:\n  - applyTo: \
             {apply_to}\n    match: {{context: SIDECAR_INBOUND, listener: {{filterChain: {{filter: {{name: \
             envoy.filters.network.http_connection_manager}}}}}}}}\n    patch: {{operation: {operation}, value: {value}}}\n"
        );
    }
    text
}

fn migrate_files(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("migrate");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    for number in [100, 1_000] {
        let text = movable(number);
        group.throughput(Throughput::Elements(number as u64));
        group.bench_with_input(BenchmarkId::from_parameter(number), &text, |bencher, text| {
            bencher.iter(|| {
                let loaded = load::read_text("bench.yaml", text, &load::Options::default());
                let report = migrate::migrate(&migrate::Request {
                    inventory: &loaded.inventory,
                    root: "istio-system",
                    to: Release::NEWEST,
                    accept: migrate::Accept::Reviewed,
                    asked: None,
                    unread: BTreeMap::default(),
                    ambient: false,
                    doubts: BTreeMap::default(),
                    revived: BTreeMap::default(),
                });
                report.map_or(0, |report| report.filters.len())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, lint_files, migrate_files);
criterion_main!(benches);
