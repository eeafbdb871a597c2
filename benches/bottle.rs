//! The real istiod on this machine: time until it is ready, proxies per second, an audit of 200 workloads over one
//! step, memory.
//!
//! `ISTIOD=./pilot-discovery cargo bench --bench bottle`; without `ISTIOD`, the `pilot-discovery` on the `PATH`.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]
#![allow(clippy::expect_used, clippy::print_stdout, missing_docs, reason = "a benchmark")]

#[path = "support/services.rs"]
mod services;

use kubectl_envoyfilter::bottle::{Node, Open, Opened, Wanted, dump, proxies};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::process::leash;
use serde_json::{Value, json};
use services::mesh;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

fn open(istiod: Option<&Path>, documents: Vec<Value>) -> Opened {
    let open = Open {
        istiod: istiod.map(Path::to_owned),
        sha256: None,
        documents,
        namespace: "default".to_owned(),
        release: Release::NEWEST,
        revision: String::new(),
        istiod_namespace: "istio-system".to_owned(),
        cluster_id: None,
        real: false,
        environment: std::collections::BTreeMap::new(),
        limits: kubectl_envoyfilter::bottle::Limits::default(),
    };
    open.start().expect("istiod starts")
}

/// Startup time, proxies per second and memory for this many services and proxies.
fn ready(istiod: Option<&Path>, services: usize, asked: usize) {
    let documents = mesh(services);
    let (objects, began) = (documents.len(), Instant::now());
    let mut opened = open(istiod, documents);
    let (ready, all) = (opened.bottle.ready_after, began.elapsed());
    let nodes: Vec<Node> =
        proxies::all(&opened.objects, &opened.common).into_iter().take(asked).map(|found| found.node).collect();
    let began = Instant::now();
    let answers = opened.bottle.ask_all(&nodes, &Wanted::default());
    let took = began.elapsed();
    let resources: usize = answers.iter().map(|answer| answer.as_ref().expect("an answer").len()).sum();
    println!(
        "{objects} objects: ready after {:.2} s ({:.2} s with stand-ins), {:.1} proxies a second with {} resources each, {} MB",
        ready.as_secs_f64(),
        all.as_secs_f64(),
        f64::from(u32::try_from(nodes.len()).unwrap_or_default()) / took.as_secs_f64(),
        resources / nodes.len().max(1),
        opened.bottle.peak_memory().unwrap_or(0) / 1_000_000,
    );
}

/// `audit` of 200 workloads with current dumps and the istiod of the next release.
fn audit(istiod: Option<&Path>) {
    let folder = tempfile::tempdir().expect("a folder");
    let documents = mesh(200);
    let (manifests, dumps) = (folder.path().join("mesh.json"), folder.path().join("dumps"));
    fs::create_dir(&dumps).expect("a folder");
    let filters = (0..10).map(|number| {
        json!({"apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": "timeout", "namespace": format!("ns{number}")},
            "spec": {"configPatches": [{"applyTo": "CLUSTER", "match": {"context": "SIDECAR_OUTBOUND"},
                     "patch": {"operation": "MERGE", "value": {"connect_timeout": "3s"}}}]}})
    });
    let list = json!({"apiVersion": "v1", "kind": "List", "items": documents.iter().cloned().chain(filters).collect::<Vec<_>>()});
    fs::write(&manifests, list.to_string()).expect("a file");
    let mut opened = open(istiod, documents);
    let mut nodes: Vec<Node> =
        proxies::all(&opened.objects, &opened.common).into_iter().map(|found| found.node).collect();
    for node in &mut nodes {
        node.metadata.insert("ISTIO_VERSION".to_owned(), "1.30.3".into());
    }
    for (node, answer) in nodes.iter().zip(opened.bottle.ask_all(&nodes, &Wanted::default())) {
        let text = dump::text(node, &answer.expect("an answer"));
        fs::write(dumps.join(format!("{}.json", node.name)), text).expect("a file");
    }
    let binary = opened.bottle.istiod.path.clone();
    drop(opened);
    let began = Instant::now();
    let done = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(["audit", "--from", "1.30", "--to", "1.31", "-o", "json", "--all-changes", "-f"])
        .arg(&manifests)
        .arg("--dump")
        .arg(&dumps)
        .arg("--istiod-to")
        .arg(&binary)
        .output()
        .expect("the tool starts");
    let took = began.elapsed();
    assert!(done.status.code().is_some_and(|code| code < 2), "{}", String::from_utf8_lossy(&done.stderr));
    println!("audit of {} workloads over one step: {:.1} s", nodes.len(), took.as_secs_f64());
}

fn main() {
    leash::held_by(Path::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter")));
    let istiod = std::env::var_os("ISTIOD").map(PathBuf::from);
    let istiod = istiod.as_deref();
    ready(istiod, 95, 95);
    ready(istiod, 5_000, 40);
    audit(istiod);
}
