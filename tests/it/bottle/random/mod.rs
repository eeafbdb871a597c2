//! `migrate` on meshes that follow from seeds: istiod computes no weaker class than the stated one, and changes no proxy
//! beyond the filter.
//!
//! `MIGRATE_SEEDS=100..200` chooses the seeds, `MIGRATE_ACCEPT=reviewed` also writes what differs. The mesh of a seed that
//! fails is kept, and its folder is in the message. New case folders change the meshes of all seeds.

mod meshes;

use super::commands::run;
use super::istiod;
use super::proof::rank;
use kubectl_envoyfilter::load::{Loaded, Options};
use kubectl_envoyfilter::migrate::Accept;
use kubectl_envoyfilter::model::release::Release;
use meshes::{Mesh, Pool};
use serde_json::{Value as Json, json};
use std::ops::Range;
use std::path::Path;

/// The seeds of every run; a mesh that writes nothing costs no istiod.
const SEEDS: Range<u64> = 0..60;

fn seeds() -> Range<u64> {
    let Ok(given) = std::env::var("MIGRATE_SEEDS") else { return SEEDS };
    let (from, to) = given.split_once("..").expect("MIGRATE_SEEDS=FROM..TO");
    from.parse().unwrap()..to.parse().unwrap()
}

/// Whether `migrate` writes something for a mesh.
fn moves(mesh: &Mesh, accept: Accept) -> bool {
    let mut loaded = Loaded::default();
    for object in mesh.objects.iter().chain(&mesh.filters) {
        loaded.add_text("mesh", object.to_string(), &Options::default());
    }
    let report = crate::migrate::migrated(&loaded, Release::NEWEST, accept);
    report.filters.iter().any(|filter| filter.patches.iter().any(|one| one.written))
}

/// The weakest class stated for what is written for a filter.
fn claimed(filter: &Json) -> Option<usize> {
    let patches = filter["patches"].as_array().into_iter().flatten();
    patches.filter(|patch| patch["written"] == json!(true)).map(|patch| rank(&patch["class"])).max()
}

/// The filters whose computed class is weaker than the stated one, or that change other proxies.
fn faults(report: &Json) -> Vec<String> {
    let filters = report["filters"].as_array().unwrap();
    let name =
        |filter: &Json| format!("{}/{}", filter["namespace"].as_str().unwrap(), filter["name"].as_str().unwrap());
    let mut faults = Vec::new();
    for filter in filters {
        let proof = &filter["proof"];
        if proof["class"].is_null() {
            continue;
        }
        // The differences of filters that it was compared together with are among those found.
        let with: Vec<&str> = proof["with"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        let together = filters.iter().filter(|other| with.contains(&name(other).as_str()));
        let claimed = together.chain([filter]).filter_map(claimed).max().unwrap_or(0);
        if rank(&proof["class"]) > claimed || proof["beyond"] != json!([]) {
            faults.push(format!("{}: rank {claimed} claimed, {proof:#}", name(filter)));
        }
    }
    faults
}

/// `None` if nothing moves; otherwise how many filters istiod computed.
fn judge(istiod: &Path, pool: &Pool, seed: u64, accept: &str) -> Option<Result<usize, String>> {
    let mesh = pool.mesh(seed);
    if !moves(&mesh, if accept == "reviewed" { Accept::Reviewed } else { Accept::SameBut }) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    mesh.write(folder.path());
    let path = folder.path().to_str().unwrap();
    let arguments = ["migrate", path, "--prove", "istiod", "--accept", accept, "-o", "json"];
    let (code, out, err) = run(istiod, &arguments);
    let kept = |folder: tempfile::TempDir, why: String| format!("seed {seed} ({}): {why}", folder.keep().display());
    let Ok(report) = serde_json::from_str::<Json>(&out) else {
        return Some(Err(kept(folder, format!("exit code {code}: {err}"))));
    };
    let faults = faults(&report);
    if !faults.is_empty() {
        return Some(Err(kept(folder, faults.join("\n"))));
    }
    let filters = report["filters"].as_array().unwrap();
    Some(Ok(filters.iter().filter(|filter| filter["proof"]["class"].is_string()).count()))
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn random_moves_are_computed_as_claimed() {
    let istiod = istiod("1.31");
    let accept = std::env::var("MIGRATE_ACCEPT").unwrap_or_else(|_| "same-but".to_owned());
    let pool = Pool::read();
    let (seeds, mut meshes, mut computed, mut faults) = (seeds(), 0, 0, Vec::new());
    for seed in seeds.clone() {
        match judge(&istiod, &pool, seed, &accept) {
            None => {}
            Some(Ok(number)) => {
                meshes += 1;
                computed += number;
            }
            Some(Err(fault)) => {
                meshes += 1;
                println!("{fault}");
                faults.push(fault);
            }
        }
    }
    println!("{meshes} meshes started, {computed} filters computed as claimed");
    assert!(faults.is_empty(), "{} of {meshes} meshes:\n{}", faults.len(), faults.join("\n"));
    // Of 60 seeds, about 20 write something.
    let enough = seeds.count() / 6;
    assert!(computed >= enough, "only {computed} filters of these seeds were computed, expected at least {enough}");
}
