//! Auditing many filters offline: two releases, every rule, on reference configurations.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kubectl_envoyfilter::audit::{self, Given, Request};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::load::{self, reference};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::rules::ALL;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// How the filters of a mesh are distributed.
#[derive(Clone, Copy)]
enum Spread {
    /// Over ten namespaces with one workload each: each proxy meets a tenth of the filters.
    Namespaces,
    /// In the root namespace: each of ten proxies meets all filters.
    Root,
    /// Each for its own workload, none of which is given: every kind of proxy gets a sample for each.
    Own,
}

/// Distinct filters of about 550 bytes.
fn filters(number: usize, spread: Spread) -> String {
    let mut text = String::new();
    for index in 0..number {
        let team = index % 10;
        let namespace = if matches!(spread, Spread::Root) { "istio-system".to_owned() } else { format!("team-{team}") };
        let selector = match spread {
            Spread::Namespaces => "  workloadSelector:\n    labels:\n      app: service\n".to_owned(),
            Spread::Root => String::new(),
            Spread::Own => format!("  workloadSelector:\n    labels:\n      app: service-{index}\n"),
        };
        let _ = write!(
            text,
            "---\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata:\n  name: buffer-{index}\n  \
             namespace: {namespace}\nspec:\n{selector}  configPatches:\n  - applyTo: HTTP_FILTER\n    match:\n      \
             context: SIDECAR_INBOUND\n      listener:\n        filterChain:\n          filter:\n            \
             name: envoy.filters.network.http_connection_manager\n    patch:\n      operation: INSERT_FIRST\n      \
             value:\n        name: buffer-{index}\n        typed_config:\n          \
             \"@type\": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer\n          \
             max_request_bytes: {}\n",
            65536 + index
        );
    }
    if !matches!(spread, Spread::Own) {
        workloads(&mut text);
    }
    text
}

/// One sidecar per namespace: ten reference configurations with distinct labels.
fn workloads(text: &mut String) {
    for namespace in 0..10 {
        let _ = write!(
            text,
            "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: service\n  namespace: team-{namespace}\n  labels:\n    app: service\n"
        );
    }
}

fn run(text: &str, releases: &[Release]) -> usize {
    let loaded = load::read_text("bench.yaml", text, &load::Options::default());
    let stage = |&release: &Release| Given {
        release,
        proxies: release,
        dumps: Vec::new(),
        references: reference::configs(release).to_vec(),
    };
    let stages: Vec<Given<'_>> = releases.iter().map(stage).collect();
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
        asked: None,
        standings: &BTreeMap::new(),
        unsafe_fixes: false,
    });
    answer.found.len()
}

fn audit_files(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("audit");
    group.sample_size(10).measurement_time(Duration::from_secs(8));
    let releases = [Release::minor(24), Release::NEWEST];
    for (name, spread) in [("namespaces", Spread::Namespaces), ("root", Spread::Root), ("own", Spread::Own)] {
        let text = filters(1_000, spread);
        group.throughput(Throughput::Elements(1_000));
        group.bench_with_input(BenchmarkId::new(name, 1_000), &text, |bencher, text| {
            bencher.iter(|| run(text, &releases));
        });
    }
    group.finish();
}

criterion_group!(benches, audit_files);
criterion_main!(benches);
