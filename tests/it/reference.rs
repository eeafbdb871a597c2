//! The engine against recordings of the real istiod: every case of every topology and release must come out equal.

use crate::support::{ECDS_NAMES, bases, dumps, filters, print_difference, testdata, text};
use kubectl_envoyfilter::engine::Program;
use kubectl_envoyfilter::model::release::Release;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::PathBuf;

struct Set {
    topology: &'static str,
    release: Release,
    folder: PathBuf,
    files: Vec<&'static str>,
}

fn sets() -> Vec<Set> {
    let mut sets = Vec::new();
    for topology in ["shop", "ambient", "gwapi"] {
        let folder = testdata("reference").join(topology);
        sets.push(Set {
            topology,
            release: Release::NEWEST,
            folder: folder.clone(),
            files: vec!["cases.jsonl", "edge.jsonl"],
        });
        for (minor, patch) in [(22, 8), (24, 6), (26, 8), (28, 10)] {
            let folder = folder.join(format!("releases/1.{minor}"));
            if folder.exists() {
                sets.push(Set { topology, release: Release::patch(minor, patch), folder, files: vec!["cases.jsonl"] });
            }
        }
    }
    sets
}

/// `CASE=shop/1.31.0/edge-…` runs only the cases whose label contains that, and prints where they differ.
#[test]
fn every_recorded_case_comes_out_as_istiod_has_it() {
    let only = std::env::var("CASE").ok();
    let (mut cases, mut leaked, mut compared, mut seen) = (0, 0, 0, BTreeSet::new());
    for set in sets() {
        let dumps = dumps(&set.folder);
        let bases = bases(&dumps);
        for file in &set.files {
            for line in text(&set.folder.join(file)).lines() {
                let case: Json = serde_json::from_str(line).unwrap();
                let label = format!("{}/{}/{}", set.topology, set.release, case["id"].as_str().unwrap());
                if only.as_ref().is_some_and(|only| !label.contains(only)) {
                    continue;
                }
                cases += 1;
                if case.get("leaked").is_some() {
                    leaked += 1;
                    continue;
                }
                let source = case["filters"].as_str().unwrap();
                let filters = filters(&label, source);
                let program = Program::new(&filters, set.release);
                for (proxy, kinds) in case["proxies"].as_object().unwrap() {
                    compared += 1;
                    let base = &bases[proxy.as_str()];
                    let (want, got) = (base.recorded(kinds), base.computed(&label, &program, ECDS_NAMES));
                    if got != want {
                        if only.is_some() {
                            println!("{source}");
                            print_difference(&want, &got);
                        }
                        seen.insert(format!("{label}/{proxy}"));
                    }
                }
            }
        }
    }
    println!("reference: {cases} cases, {leaked} leaked, {compared} proxies compared, {} different", seen.len());
    assert!(seen.is_empty(), "{} different: {seen:#?}", seen.len());
}
