//! The cost of loading the tables of Envoy's releases and of a lookup.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]
#![allow(missing_docs, reason = "a benchmark")]

use criterion::{Criterion, criterion_group, criterion_main};
use kubectl_envoyfilter::envoy;
use kubectl_envoyfilter::proto::schema::{Kind, Message, Schema};
use std::collections::HashSet;
use std::hint::black_box;

const LISTENER: &str = "envoy.config.listener.v3.Listener";

/// Every message that is reachable from this one through its fields.
fn closure(message: Message, seen: &mut HashSet<Message>) {
    if seen.insert(message) {
        for field in message.fields() {
            if let Kind::Message(inner) = field.kind() {
                closure(inner, seen);
            }
        }
    }
}

fn schema(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("schema");
    group.bench_function("find a release and a message", |bencher| {
        bencher.iter(|| Schema::istiod(black_box(31), 0).message(black_box(LISTENER)));
    });
    group.bench_function("find a field by name", |bencher| {
        let message = Schema::newest().message(LISTENER);
        bencher.iter(|| message.and_then(|message| message.field(black_box("listener_filters"))));
    });
    group.bench_function("walk the closure of Listener", |bencher| {
        bencher.iter(|| {
            let mut seen = HashSet::new();
            if let Some(message) = Schema::newest().message(LISTENER) {
                closure(message, &mut seen);
            }
            seen.len()
        });
    });
    group.bench_function("list every message of a release", |bencher| {
        bencher.iter(|| Schema::newest().messages().count());
    });
    // Types are read in place; the small tables are indexed on first use.
    group.bench_function("load: index every table, find a type in every Envoy", |bencher| {
        bencher.iter(|| {
            let found =
                (26..=40).filter(|minor| Schema::envoy(*minor).is_some_and(|all| all.message(LISTENER).is_some()));
            envoy::index_all() + found.count()
        });
    });
    group.finish();
}

criterion_group!(benches, schema);
criterion_main!(benches);
