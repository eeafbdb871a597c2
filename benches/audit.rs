//! Auditing many filters offline: two releases, every rule, on reference configurations.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kubectl_envoyfilter::audit::{self, Given, Request};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::load::{self, dump::Identity, reference};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::ProxyConfig;
use kubectl_envoyfilter::rules::ALL;
use std::fmt::Write as _;
use std::time::Duration;

/// Filters of some 550 bytes in ten namespaces, each for every workload there, so that each proxy meets its share.
fn filters(number: usize) -> String {
    let mut text = String::new();
    for index in 0..number {
        let namespace = index % 10;
        let _ = write!(
            text,
            "---\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata:\n  name: buffer-{index}\n  \
             namespace: team-{namespace}\nspec:\n  workloadSelector:\n    labels:\n      app: service\n  \
             configPatches:\n  - applyTo: HTTP_FILTER\n    match:\n      context: SIDECAR_INBOUND\n      listener:\n        \
             filterChain:\n          filter:\n            name: envoy.filters.network.http_connection_manager\n    patch:\n      \
             operation: INSERT_FIRST\n      value:\n        name: team-{namespace}.buffer\n        typed_config:\n          \
             \"@type\": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer\n          \
             max_request_bytes: 65536\n"
        );
    }
    text
}

/// One sidecar a namespace: ten reference configurations.
fn workloads() -> String {
    let mut text = String::new();
    for namespace in 0..10 {
        let _ = write!(
            text,
            "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: service\n  namespace: team-{namespace}\n  labels:\n    app: service\n"
        );
    }
    text
}

fn run(text: &str, releases: &[Release]) -> usize {
    let loaded = load::read_text("bench.yaml", text, &load::Options::default());
    let dumps: Vec<_> = releases.iter().map(|&release| reference::dumps(release)).collect();
    let stages: Vec<Given<'_>> = releases
        .iter()
        .zip(&dumps)
        .map(|(&release, dumps)| Given {
            release,
            proxies: release,
            dumps: Vec::new(),
            references: dumps
                .iter()
                .filter_map(|dump| dump.config(&Identity::default()).ok())
                .collect::<Vec<ProxyConfig<'_>>>(),
        })
        .collect();
    let mesh = MeshSettings::default();
    let answer = audit::run(&Request {
        sources: &loaded.sources,
        inventory: &loaded.inventory,
        problems: &loaded.problems,
        mesh: &mesh,
        rules: ALL,
        stages: &stages,
        mixed: &[],
        revisions: (String::new(), String::new()),
        unsafe_fixes: false,
    });
    answer.found.len()
}

fn audit_files(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("audit");
    group.sample_size(10).measurement_time(Duration::from_secs(8));
    for number in [10, 1_000] {
        let text = filters(number) + &workloads();
        group.throughput(Throughput::Elements(number as u64));
        let releases = [Release::minor(24), Release::NEWEST];
        group.bench_with_input(BenchmarkId::from_parameter(number), &text, |bencher, text| {
            bencher.iter(|| run(text, &releases));
        });
    }
    group.finish();
}

criterion_group!(benches, audit_files);
criterion_main!(benches);
