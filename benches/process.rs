//! The whole process, started as a user starts it.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]
#![allow(clippy::expect_used, clippy::print_stdout, missing_docs, reason = "a benchmark")]

#[allow(dead_code, reason = "shared with other benchmarks")]
#[path = "support/big_dump.rs"]
mod big_dump;
#[path = "support/peak_memory.rs"]
mod peak_memory;
#[allow(dead_code, reason = "shared with other benchmarks")]
mod support;

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Runs the tool; every exit code except that of errors is an answer.
fn run(arguments: &[&str]) -> usize {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the tool starts");
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout.len()
}

fn process(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let written = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    let (small, big) =
        (written("cart.json", big_dump::recorded()), written("big.json", big_dump::dump(big_dump::Size::BIG)));
    let five = written("five.yaml", support::FIVE.to_owned());
    let everywhere = written("everywhere.yaml", support::EVERYWHERE.to_owned());
    let mut group = criterion.benchmark_group("process");
    group.sample_size(30);
    group.bench_function("--version", |bencher| bencher.iter(|| run(&["--version"])));
    group.bench_function("api Lua.inline_code", |bencher| bencher.iter(|| run(&["api", "Lua.inline_code"])));
    group.bench_function("explain pod cart --demo", |bencher| {
        bencher.iter(|| run(&["explain", "pod", "cart", "--demo"]));
    });
    let explain = |dump: &str, filters: &str| run(&["explain", "pod", "cart-1", "--dump", dump, "-f", filters]);
    group.bench_function("explain, 180 KB dump", |bencher| bencher.iter(|| explain(&small, &five)));
    group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(6));
    group.bench_function("explain five filters, 106 MB dump", |bencher| bencher.iter(|| explain(&big, &five)));
    group.bench_function("explain a filter that changes every HTTP connection manager, 106 MB dump", |bencher| {
        bencher.iter(|| explain(&big, &everywhere));
    });
    group.finish();
    for (what, filters) in [("five filters", &five), ("a filter that changes everything", &everywhere)] {
        let peak = peak_memory::of(&["explain", "pod", "cart-1", "--dump", &big, "-f", filters]);
        let file = std::fs::metadata(&big).expect("the dump").len();
        println!("peak memory, {what}: {} MiB for a dump of {} MiB", peak >> 20, file >> 20);
    }
}

criterion_group!(benches, process);
criterion_main!(benches);
