//! Migrating a thousand filters of one kind: every case of `testdata/migrate`, on the mesh that it belongs to. Exits with 1
//! if one takes more than 0.2 s of CPU time.
//!
//! `cargo bench --bench migrate -- lua` runs only the cases whose name contains `lua`.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]
#![allow(clippy::expect_used, clippy::print_stdout, reason = "a bench prints, and fails by a panic")]

use kubectl_envoyfilter::load;
use kubectl_envoyfilter::migrate::{self, Accept, Request};
use kubectl_envoyfilter::model::release::Release;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

#[path = "support/clock.rs"]
mod clock;

/// As in the shipped program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NUMBER: usize = 1_000;
const MOST: Duration = Duration::from_millis(200);
/// The fastest run counts: the first one also fills the caches.
const RUNS: usize = 3;

/// Filters and the other objects of a mesh.
struct Input {
    name: String,
    topology: Option<String>,
    filters: Vec<String>,
}

/// Filters that stay, and one that moves: the order of all of them counts.
const STAYS: &str = "\
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata:
  name: stays
  namespace: shop
spec:
  workloadSelector: {labels: {app: cart}}
  configPatches:
  - applyTo: HTTP_FILTER
    match: {context: SIDECAR_INBOUND, listener: {filterChain: {filter: {name: envoy.filters.network.http_connection_manager, \
                     subFilter: {name: envoy.filters.http.router}}}}}
    patch:
      operation: INSERT_BEFORE
      value: {name: own.buffer, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer, \
                     max_request_bytes: 65536}}
";

fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(path)
}

/// The same filter under another name.
fn named(filter: &str, number: usize) -> String {
    let (head, rest) = filter.split_once("metadata:\n  name: ").expect("a name");
    let (name, rest) = rest.split_once('\n').expect("a line");
    format!("{head}metadata:\n  name: {name}-{number}\n{rest}\n---\n")
}

fn inputs() -> Vec<Input> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(testdata("migrate")).expect("cases").map(|entry| entry.expect("a folder").path()).collect();
    folders.retain(|path| path.is_dir());
    let mut cases: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("a folder"))
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        // Those have objects of their own, which a thousand copies would repeat.
        .filter(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("among-")))
        .collect();
    cases.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a case");
        let topology = text.lines().find_map(|line| line.strip_prefix("# on: ")).map(str::to_owned);
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        Input { name, topology, filters: vec![text] }
    };
    let mut all: Vec<Input> = cases.iter().map(read).collect();
    let of_shop = all.iter().filter(|one| one.topology.as_deref() == Some("shop"));
    let everything = of_shop.flat_map(|one| one.filters.clone()).collect();
    let moves = all.iter().find(|one| one.name == "lua-before-cors").expect("the case").filters.clone();
    let stays: Vec<String> = (1..NUMBER).map(|_| STAYS.to_owned()).chain(moves).collect();
    let on_shop = |name: &str, filters| Input { name: name.to_owned(), topology: Some("shop".to_owned()), filters };
    all.push(on_shop("all that stay", vec![STAYS.to_owned()]));
    all.push(on_shop("all that stay but one", stays));
    all.push(on_shop("every case of shop", everything));
    all
}

fn text(input: &Input) -> String {
    let mut text = String::new();
    for file in input.topology.iter().flat_map(|topology| ["k8s.yaml", "istio.yaml"].map(|file| (topology, file))) {
        let path = testdata("reference").join(file.0).join(file.1);
        text += &fs::read_to_string(path).unwrap_or_default();
        text += "\n---\n";
    }
    for number in 0..NUMBER {
        text += &named(&input.filters[number % input.filters.len()], number);
    }
    text
}

/// How many filters were read, and the CPU time for all of it.
fn run(text: &str) -> (usize, Duration) {
    let start = clock::cpu();
    let loaded = load::read_text("bench.yaml", text, &load::Options::default());
    let report = migrate::migrate(&Request {
        inventory: &loaded.inventory,
        root: "istio-system",
        to: Release::NEWEST,
        accept: Accept::Reviewed,
        asked: None,
        unread: BTreeMap::default(),
        ambient: false,
        doubts: BTreeMap::default(),
        revived: BTreeMap::default(),
    });
    let report = std::hint::black_box(report.expect("a known release"));
    let took = clock::cpu().saturating_sub(start);
    (report.filters.len(), took)
}

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let mut times = Vec::new();
    for input in inputs() {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| input.name.contains(wanted)) {
            continue;
        }
        let text = text(&input);
        // Some cases are filters that no istiod accepts.
        let (read, first) = run(&text);
        let least = (1..RUNS).map(|_| run(&text).1).min().unwrap_or_default().min(first);
        times.push((least, read, input.name));
    }
    times.sort();
    for (time, read, name) in &times {
        println!("{:>8.1} ms  {read:>5} of {name}", time.as_secs_f64() * 1e3);
    }
    let above = times.iter().filter(|(time, ..)| *time > MOST).count();
    println!("{} kinds of filters; {above} above {MOST:?}", times.len());
    if above == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
