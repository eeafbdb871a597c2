//! Published EnvoyFilters in every recorded mesh, as filters of the root namespace: the engine agrees with istiod.

use super::{RELEASES, istiod, open_in, recorded_base, topology};
use crate::support::testdata;
use kubectl_envoyfilter::bottle::doctor::{self, Comparison, Filters};
use kubectl_envoyfilter::bottle::{Node, Opened, Wanted, proxies};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::load::{self, Options};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::source::Severity;
use serde_json::Value;
use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::time::Instant;

const MESHES: [&str; 7] = ["shop", "ambient", "gwapi", "straits", "delta", "harbor", "reef"];

/// Each mesh gets every nth filter, each another one; with `ALL_CASES`, all of them.
const EVERY: usize = 70;

/// The EnvoyFilters of a file, in the root namespace, for every revision and without a selector; `None` if one cannot
/// be read: istiod then reads no EnvoyFilter at all.
fn everywhere(path: &Path) -> Option<Vec<Value>> {
    let loaded = load::read(&[path.to_owned()], &Options { keep_documents: true, ..Options::default() });
    if loaded.problems.iter().any(|problem| problem.severity == Severity::Error) {
        return None;
    }
    let mut documents = loaded.documents;
    documents.retain(|document| document["kind"] == "EnvoyFilter");
    for document in &mut documents {
        document["metadata"]["namespace"] = "istio-system".into();
        if let Some(labels) = document["metadata"]["labels"].as_object_mut() {
            labels.remove("istio.io/rev");
        }
        if let Some(spec) = document["spec"].as_object_mut() {
            spec.remove("workloadSelector");
            spec.remove("targetRefs");
        }
    }
    (!documents.is_empty()).then_some(documents)
}

fn nodes(opened: &Opened) -> Vec<Node> {
    proxies::all(&opened.objects, &opened.common).into_iter().map(|found| found.node).collect()
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn the_engine_agrees_with_istiod_on_published_filters() {
    let all = env::var_os("ALL_CASES").is_some();
    let mut paths: Vec<_> = std::fs::read_dir(testdata("corpus")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "yaml"));
    paths.sort();
    let (mut parted, mut asked, mut changed, mut unread) = (Vec::new(), 0, 0, 0);
    let began = Instant::now();
    for (release, minor) in RELEASES {
        let (istiod, release) = (istiod(release), Release::minor(minor));
        for (at, mesh) in MESHES.into_iter().enumerate() {
            if recorded_base(mesh, minor).is_none() || env::var("MESH").is_ok_and(|only| only != mesh) {
                continue;
            }
            let mut opened = open_in(&istiod, topology(mesh), mesh, release);
            let mut nodes_now = nodes(&opened);
            for (number, path) in paths.iter().enumerate() {
                if !all && number % EVERY != at * (EVERY / MESHES.len()) {
                    continue;
                }
                let Some(documents) = everywhere(path) else {
                    unread += 1;
                    continue;
                };
                let text = documents.iter().map(Value::to_string).collect::<Vec<_>>().join("\n---\n");
                let parsed = load::read_text("published", &text, &Options::default()).inventory.envoy_filters;
                let settings = MeshSettings::default();
                let filters = Filters { parsed: &parsed, documents: &documents, release, mesh: &settings };
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                let compared = match doctor::compare(&mut opened.bottle, &nodes_now, &filters, &Wanted::default()) {
                    Ok(compared) => compared,
                    Err(fault) => {
                        parted.push(format!("{mesh}/{release}/{name}: {fault}"));
                        opened = open_in(&istiod, topology(mesh), mesh, release);
                        nodes_now = nodes(&opened);
                        continue;
                    }
                };
                for (node, one) in nodes_now.iter().zip(compared) {
                    asked += 1;
                    let case = format!("{mesh}/{release}/{name} {}", node.name);
                    match one {
                        Ok(one) => {
                            changed += usize::from(one.changed > 0);
                            if !one.differences.is_empty() {
                                parted.push(format!("{case}: {:?} (unknown: {})", one.differences, one.unknown));
                            }
                        }
                        Err(fault) => parted.push(format!("{case}: {fault}")),
                    }
                }
            }
        }
    }
    println!(
        "{asked} proxies compared in {:?}, {changed} of them changed; {unread} files with filters that cannot be read",
        began.elapsed()
    );
    assert!(changed > 20, "{changed}");
    assert!(parted.is_empty(), "{} part: {parted:#?}", parted.len());
}

/// Compares one sidecar with istiod so many times, without a difference, until it was seen enough.
fn compared_often(text: &str, times: usize, mut is_enough: impl FnMut(&Comparison) -> bool) {
    let mut opened = open_in(&istiod("1.31"), topology("harbor"), "harbor", Release::NEWEST);
    let mut nodes = nodes(&opened);
    nodes.retain(|node| node.name == "tug-1");
    let loaded = load::read_text("filters.yaml", text, &Options { keep_documents: true, ..Options::default() });
    let filters = Filters {
        parsed: &loaded.inventory.envoy_filters,
        documents: &loaded.documents,
        release: Release::NEWEST,
        mesh: &MeshSettings::default(),
    };
    for _ in 0..times {
        let compared = doctor::compare(&mut opened.bottle, &nodes, &filters, &Wanted::default()).unwrap();
        let [one] = &*compared else { panic!("{} proxies", compared.len()) };
        let one = one.as_ref().unwrap();
        assert_eq!(one.differences, []);
        if is_enough(one) {
            return;
        }
    }
}

const APPENDS: &str = r"
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: appends, namespace: istio-system}
spec:
  configPatches:
  - applyTo: VIRTUAL_HOST
    match: {context: SIDECAR_OUTBOUND}
    patch: {operation: MERGE, value: {request_headers_to_add: [{header: {key: x-a, value: b}}]}}
";

/// istiod patches the virtual hosts that a port and a host share once or twice, depending on the order of requests: neither is a
/// difference between istiod and the engine, and the second is reported.
#[test]
#[ignore = "needs Go: .ci/run"]
fn shared_virtual_hosts_are_patched_once_or_twice() {
    const HOST: &str = "tug.quay.svc.cluster.local:8090";
    let (mut once, mut twice) = (0, 0);
    compared_often(APPENDS, 100, |one| {
        if one.patched_again.is_empty() {
            once += 1;
        } else {
            assert_eq!(one.patched_again, [HOST]);
            twice += 1;
        }
        once > 0 && twice > 0
    });
    println!("patched once: {once}, twice: {twice}");
    assert!(once > 0 && twice > 0, "once {once}, twice {twice}");
}

const PANICS: &str = r"
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: panics, namespace: istio-system}
spec:
  configPatches:
  - applyTo: NETWORK_FILTER
    match: {context: SIDECAR_OUTBOUND, listener: {filterChain: {filter: {name: envoy.filters.network.http_connection_manager}}}}
    patch:
      operation: MERGE
      value:
        typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: a}
  - applyTo: LISTENER
    match: {context: SIDECAR_OUTBOUND}
    patch: {operation: MERGE, value: {stat_prefix: reached}}
";

/// After a panic, the listeners that istiod had patched by then stay patched, and their order varies: it is not a difference between
/// istiod and the engine, and the patch that panics is named.
#[test]
#[ignore = "needs Go: .ci/run"]
fn listeners_before_a_panic_vary() {
    let mut seen = BTreeSet::new();
    compared_often(PANICS, 20, |one| {
        assert_eq!(one.panics, ["configPatches[0] of istio-system/panics"]);
        seen.insert(one.panicked.clone());
        seen.len() > 1
    });
    assert!(seen.len() > 1, "always the same: {seen:?}");
}

const LEAKS: &str = r"
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: leaks, namespace: istio-system}
spec:
  configPatches:
  - applyTo: NETWORK_FILTER
    match: {context: SIDECAR_INBOUND, listener: {filterChain: {filter: {name: istio.metadata_exchange}}}}
    patch: {operation: MERGE, value: {name: renamed}}
";

/// A merge into an object of all proxies is named as a possible cause of differences.
#[test]
#[ignore = "needs Go: .ci/run"]
fn merges_into_objects_of_other_proxies_are_named() {
    let mut named = BTreeSet::new();
    compared_often(LEAKS, 1, |one| {
        named.extend(one.shared.iter().cloned());
        true
    });
    assert!(named.contains("configPatches[0] of istio-system/leaks"), "{named:?}");
}
