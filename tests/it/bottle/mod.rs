//! The real istiod without a cluster: it sends what was recorded, the engine agrees with it, and nothing is left
//! behind.

mod ambient;
mod commands;
mod defaults;
mod dice;
mod engine;
mod faults;
mod makers;
mod manifests;
mod proof;
mod published;
mod random;
mod read;
mod reef;
mod topologies;
mod upgrade;

#[path = "../../../benches/support/services.rs"]
mod services;

use crate::support::{canonical, dumps, testdata, text};
use kubectl_envoyfilter::bottle::doctor::{self, Filters};
use kubectl_envoyfilter::bottle::{Node, Open, Opened, Wanted};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::load::dump::{Dump, Identity};
use kubectl_envoyfilter::load::{self, Options};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::ResourceKind;
use kubectl_envoyfilter::process::leash;
use kubectl_envoyfilter::proto::json;
use kubectl_envoyfilter::source::Severity;
use serde_json::{Value, json};
use services::mesh;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Releases whose istiod is built from its Go module (`tests/istiod`).
const RELEASES: [(&str, u16); 2] = [("1.31", 31), ("1.30", 30)];

/// The istiod of a release, built on demand.
pub(crate) fn istiod(release: &str) -> PathBuf {
    leash::held_by(Path::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter")));
    let built = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/istiod/build.sh"))
        .arg(release)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(built.status.success(), "tests/istiod/build.sh {release} fails: is Go installed?");
    PathBuf::from(String::from_utf8(built.stdout).unwrap().trim())
}

/// The objects of a recorded topology, with its mesh settings.
fn topology(name: &str) -> Vec<Value> {
    let folder = testdata("reference").join(name);
    let options = Options { keep_documents: true, ..Options::default() };
    let loaded = load::read(&[folder.join("k8s.yaml"), folder.join("istio.yaml")], &options);
    let broken = loaded.problems.iter().any(|problem| problem.severity == Severity::Error);
    assert!(!broken, "{:?}", loaded.problems);
    let mut documents = loaded.documents;
    documents.push(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio", "namespace": "istio-system"},
        "data": {"mesh": text(&folder.join("mesh.yaml"))},
    }));
    documents
}

/// Settings that the recorder does not make when it turns on ambient mode, but istiod's own flag does.
const AS_RECORDED: [(&str, &str); 4] = [
    ("AMBIENT_ENABLE_MULTI_NETWORK_WAYPOINT", "false"),
    ("PILOT_ENABLE_SENDING_HBONE", "false"),
    ("PILOT_ENABLE_SIDECAR_LISTENING_HBONE", "false"),
    ("ENABLE_INGRESS_WAYPOINT_ROUTING", "false"),
];

/// Additional settings of the recorded istiod (testdata/reference/README.md).
fn recorded_with(topology: &str) -> &'static [&'static str] {
    const ALL: [&str; 5] = [
        "ISTIO_DUAL_STACK",
        "PILOT_ENABLE_ALPHA_GATEWAY_API",
        "PILOT_ENABLE_QUIC_LISTENERS",
        "PILOT_ENABLE_MYSQL_FILTER",
        "PILOT_ENABLE_REDIS_FILTER",
    ];
    match topology {
        "straits" | "delta" => &ALL,
        "harbor" | "reef" => &ALL[..2],
        _ => &[],
    }
}

fn open(istiod: &Path, documents: Vec<Value>, release: Release) -> Opened {
    open_with(istiod, documents, release, &[])
}

fn open_with(istiod: &Path, documents: Vec<Value>, release: Release, settings: &[&str]) -> Opened {
    let mut environment: BTreeMap<String, String> =
        AS_RECORDED.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    environment.extend(settings.iter().map(|name| ((*name).to_owned(), "true".to_owned())));
    start(istiod, documents, release, environment)
}

/// With the settings under which a topology was recorded. `reef` was recorded with istiod's own, HBONE among them.
fn open_in(istiod: &Path, documents: Vec<Value>, topology: &str, release: Release) -> Opened {
    let settings = recorded_with(topology);
    if topology != "reef" {
        return open_with(istiod, documents, release, settings);
    }
    let environment = settings.iter().map(|name| ((*name).to_owned(), "true".to_owned())).collect();
    start(istiod, documents, release, environment)
}

fn start(istiod: &Path, documents: Vec<Value>, release: Release, environment: BTreeMap<String, String>) -> Opened {
    let open = Open {
        istiod: Some(istiod.to_owned()),
        sha256: None,
        documents,
        namespace: "default".to_owned(),
        release,
        revision: String::new(),
        istiod_namespace: "istio-system".to_owned(),
        cluster_id: Some("Kubernetes".to_owned()),
        real: false,
        environment,
        limits: Default::default(),
    };
    open.start().unwrap_or_else(|fault| panic!("{fault}"))
}

/// The recordings of a release; those of the newest are in the folder of the topology itself.
fn recorded_base(topology: &str, minor: u16) -> Option<PathBuf> {
    let folder = testdata("reference").join(topology);
    let folder = if minor == Release::NEWEST.minor { folder } else { folder.join(format!("releases/1.{minor}")) };
    folder.join("base").exists().then_some(folder)
}

/// Lines `topology/release/proxy kind name: reason`.
fn known() -> BTreeMap<String, String> {
    let list = text(&testdata("reference/known_bottle_differences.txt"));
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| line.split_once(": ").map(|(key, why)| (key.to_owned(), why.to_owned())).unwrap()).collect()
}

/// The first difference of two texts, in readable form.
pub(crate) fn part(want: &str, got: &str) -> String {
    let at = want.bytes().zip(got.bytes()).take_while(|(x, y)| x == y).count().saturating_sub(120);
    let cut = |text: &str| {
        String::from_utf8_lossy(&text.as_bytes()[at.min(text.len())..(at + 300).min(text.len())]).into_owned()
    };
    format!("  recorded {}\n  bottled  {}", cut(want), cut(got))
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn bases_are_those_that_were_recorded() {
    let mut differing = BTreeSet::new();
    let (mut compared, mut details) = (0, String::new());
    for (release, minor) in RELEASES {
        let istiod = istiod(release);
        for topology_name in ["shop", "ambient", "gwapi", "straits", "delta", "harbor", "reef"] {
            let Some(folder) = recorded_base(topology_name, minor) else { continue };
            let mut opened = open_in(&istiod, topology(topology_name), topology_name, Release::minor(minor));
            println!("{topology_name}/{release}: ready after {:?}", opened.bottle.ready_after);
            for (name, dump) in &dumps(&folder) {
                let node = Node::of_proxy(dump.proxy().unwrap(), "cluster.local");
                let got = opened.bottle.ask(&node, &Wanted::default()).unwrap_or_else(|fault| panic!("{fault}"));
                let text = kubectl_envoyfilter::bottle::dump::text(&node, &got);
                let (bottled, problems) = Dump::from_text("bottled", text);
                assert!(problems.is_empty(), "{problems:?}");
                let (want, got) = (resources(dump), resources(&bottled.unwrap()));
                for key in want.keys().chain(got.keys()).collect::<BTreeSet<_>>() {
                    compared += 1;
                    let (want, got) =
                        (want.get(key).map_or("", String::as_str), got.get(key).map_or("", String::as_str));
                    if want != got {
                        let label = format!("{topology_name}/{release}/{name} {} {}", key.0.as_str(), key.1);
                        details.push_str(&format!("{label}\n{}\n", part(want, got)));
                        differing.insert(label);
                    }
                }
            }
        }
    }
    println!("{compared} resources compared, {} differ\n{details}", differing.len());
    let known: BTreeSet<String> = known().into_keys().collect();
    let new: Vec<_> = differing.difference(&known).collect();
    let gone: Vec<_> = known.difference(&differing).collect();
    assert!(new.is_empty(), "differ from the recording: {new:#?}");
    assert!(gone.is_empty(), "listed in known_bottle_differences.txt, and equal now: {gone:#?}");
    assert!(compared > 80, "{compared}");
}

fn resources(dump: &Dump) -> BTreeMap<(ResourceKind, String), String> {
    let config = dump.config(&Identity::default()).unwrap();
    let resources = config.resources.iter();
    resources.map(|one| ((one.kind, one.name.to_string()), canonical(json::parse(one.json.read()).unwrap()))).collect()
}

/// Every nth case is tested; with `ALL_CASES`, every one.
const EVERY: usize = 25;

#[test]
#[ignore = "needs Go: .ci/run"]
fn the_engine_agrees_with_istiod_on_recorded_filters() {
    let every = if std::env::var_os("ALL_CASES").is_some() { 1 } else { EVERY };
    for (release, minor) in RELEASES {
        let istiod = istiod(release);
        let folder = recorded_base("shop", minor).expect("every release is recorded");
        agrees_on(&istiod, Release::minor(minor), &folder, every);
    }
}

/// `doctor` on the recorded cases of the shop, in a release.
fn agrees_on(istiod: &Path, release: Release, folder: &Path, every: usize) {
    let mut opened = open(istiod, topology("shop"), release);
    let dumps = dumps(folder);
    let nodes: Vec<Node> = dumps.values().map(|dump| Node::of_proxy(dump.proxy().unwrap(), "cluster.local")).collect();
    let cases = crate::support::recorded(&folder.join("cases.jsonl"));
    // Leaks stay in istiod for later cases, and rejected cases prove nothing.
    let cases = cases.iter().filter(|case| case.get("leaked").is_none() && case.get("proxies").is_some());
    let (mut asked, mut parted) = (0, Vec::new());
    let began = Instant::now();
    let excepted = crate::reference::known_differences();
    for case in cases.step_by(every) {
        let (id, source) = (case["id"].as_str().unwrap(), case["filters"].as_str().unwrap());
        let loaded = load::read_text(id, source, &Options { keep_documents: true, ..Options::default() });
        let filters = Filters {
            parsed: &loaded.inventory.envoy_filters,
            documents: &loaded.documents,
            release,
            mesh: &MeshSettings::default(),
        };
        let wanted = Wanted { extensions: vec!["wasm-auth".to_owned(), "wasm-b".to_owned()], ..Wanted::default() };
        let compared = doctor::compare(&mut opened.bottle, &nodes, &filters, &wanted)
            .unwrap_or_else(|fault| panic!("{id}: {fault}"));
        for (proxy, one) in dumps.keys().zip(compared) {
            asked += 1;
            let one = one.unwrap_or_else(|fault| panic!("{id} {proxy}: {fault}"));
            if !one.differences.is_empty() && !excepted.contains(&format!("shop/1.{}/{id}/{proxy}", release.minor)) {
                parted.push(format!("{id} {proxy}: {:?} (unknown: {})", one.differences, one.unknown));
            }
        }
    }
    println!("1.{}: {asked} proxies compared in {:?}", release.minor, began.elapsed());
    assert!(asked > 20, "{asked}");
    assert!(parted.is_empty(), "{} of {asked} part: {parted:#?}", parted.len());
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn figures() {
    let istiod = istiod("1.31");
    for (services, proxies) in [(95, 95), (5_000, 20)] {
        let documents = mesh(services);
        let (objects, began) = (documents.len(), Instant::now());
        let mut opened = open(&istiod, documents, Release::NEWEST);
        let (ready, all) = (opened.bottle.ready_after, began.elapsed());
        let found = kubectl_envoyfilter::bottle::proxies::all(&opened.objects, &opened.common);
        assert_eq!(found.len(), services, "every Deployment has a sidecar");
        let nodes: Vec<Node> = found.into_iter().take(proxies).map(|found| found.node).collect();
        let began = Instant::now();
        let answers = opened.bottle.ask_all(&nodes, &Wanted::default());
        let took = began.elapsed();
        for answer in &answers {
            let configuration = answer.as_ref().unwrap_or_else(|fault| panic!("{fault}"));
            assert!(configuration.clusters.len() > services, "{}", configuration.clusters.len());
        }
        println!(
            "bottle: {objects} objects ready after {ready:?} ({all:?} with stand-ins), {} proxies in {took:?}, {} MB",
            nodes.len(),
            opened.bottle.peak_memory().unwrap_or(0) / 1_000_000,
        );
        assert!(ready.as_secs() < 30, "{ready:?}");
    }
}
