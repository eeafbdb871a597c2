//! A dump of 106 MB: its index, five filters explained on it, and decoding all of it for comparison.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]
#![allow(clippy::expect_used, missing_docs, reason = "a benchmark")]

#[allow(dead_code, reason = "shared with other benchmarks")]
#[path = "support/big_dump.rs"]
mod big_dump;
#[allow(dead_code, reason = "shared with other benchmarks")]
mod support;

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use kubectl_envoyfilter::load::dump::{Dump, Identity, Layout};
use kubectl_envoyfilter::proto::decode;
use kubectl_envoyfilter::proto::json;
use kubectl_envoyfilter::proto::schema::Schema;
use std::hint::black_box;
use std::time::Duration;

fn big(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("big.json");
    std::fs::write(&path, big_dump::dump(big_dump::Size::BIG)).expect("a file");
    let read = || Dump::read(&path, Layout::Dropped).0.expect("the dump");
    let five = support::filters(support::FIVE);
    let everywhere = support::filters(support::EVERYWHERE);
    assert_eq!(support::explain(&read(), &five), (4, 6), "four filters land, on six resources");

    let mut group = criterion.benchmark_group("106 MB dump");
    group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(8));
    group.bench_function("read and index", |bencher| bencher.iter(|| read().len()));
    group.bench_function("read, explain five filters", |bencher| bencher.iter(|| support::explain(&read(), &five)));
    let dump = read();
    group.bench_function("explain five filters", |bencher| bencher.iter(|| support::explain(&dump, &five)));
    group.bench_function("explain a filter that meets every HTTP connection manager", |bencher| {
        bencher.iter(|| support::explain(&dump, &everywhere));
    });
    group.bench_function("decode every resource", |bencher| bencher.iter(|| black_box(decode_all(&dump))));
    group.bench_function("serde_json of the whole text", |bencher| {
        bencher.iter(|| {
            let text = std::fs::read(&path).expect("the file");
            black_box(serde_json::from_slice::<serde_json::Value>(&text).expect("JSON"))
        });
    });
    group.finish();
}

/// A tool that decodes every resource before it reads one.
fn decode_all(dump: &Dump) -> usize {
    let schema = Schema::newest();
    let config = dump.config(&Identity::default()).expect("an identity");
    let resources = config.resources.iter();
    resources
        .filter_map(|resource| {
            let message = schema.message(resource.kind.type_name())?;
            let mut tree = json::parse(resource.json.read()).ok()?;
            tree.remove("@type");
            Some(decode::decode(schema, message, tree).notices.len())
        })
        .sum()
}

criterion_group!(benches, big);
criterion_main!(benches);
