//! `migrate` on meshes that follow from seeds: istiod computes no weaker class than the stated one, and changes no proxy
//! beyond the filter.
//!
//! `MIGRATE_SEEDS=100..200` chooses the seeds, `MIGRATE_ACCEPT=reviewed` also writes what differs. The mesh of a seed that
//! fails is kept, and its folder is in the message. New case folders change the meshes of all seeds.

mod meshes;

use super::commands::{plain, run};
use super::istiod;
use super::proof::{ORDER, rank};
use kubectl_envoyfilter::load::{Loaded, Options};
use kubectl_envoyfilter::migrate::Accept;
use kubectl_envoyfilter::model::release::Release;
use meshes::{Mesh, Pool};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
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
fn stated(filter: &Json) -> Option<usize> {
    written(filter).map(|patch| rank(&patch["class"])).max()
}

fn written(filter: &Json) -> impl Iterator<Item = &Json> {
    filter["patches"].as_array().into_iter().flatten().filter(|patch| patch["written"] == json!(true))
}

/// Whether a filter's report says that proxies change which the filter does not change.
fn says_that_more_proxies_change(filter: &Json) -> bool {
    let all = |patch: &Json, list: &str| patch[list].as_array().cloned().unwrap_or_default();
    written(filter).any(|patch| {
        all(patch, "guards").iter().any(|guard| guard["concern"] == "selector" && guard["state"] == "review")
            || all(patch, "differences").iter().any(|one| {
                let effect = one["effect"].as_str().unwrap();
                effect.contains("for the first time") || effect.starts_with("waypoints also get the cluster")
            })
    })
}

/// The filters whose computed class is weaker than the stated one, or that change other proxies without saying so.
fn faults(plain: &Json, proven: &Json) -> Vec<String> {
    let name =
        |filter: &Json| format!("{}/{}", filter["namespace"].as_str().unwrap(), filter["name"].as_str().unwrap());
    let plain: BTreeMap<String, &Json> =
        plain["filters"].as_array().unwrap().iter().map(|filter| (name(filter), filter)).collect();
    let mut faults = Vec::new();
    for filter in proven["filters"].as_array().unwrap() {
        let proof = &filter["proof"];
        if proof["class"].is_null() {
            continue;
        }
        // The differences of filters that it was compared together with are among those found.
        let with = proof["with"].as_array().into_iter().flatten().map(|other| other.as_str().unwrap().to_owned());
        let compared: Vec<&Json> = with.chain([name(filter)]).map(|name| plain[&name]).collect();
        let stated = compared.iter().filter_map(|one| stated(one)).max().unwrap_or(0);
        let wider = proof["beyond"] != json!([]) && !compared.iter().any(|one| says_that_more_proxies_change(one));
        if rank(&proof["class"]) > stated || wider {
            faults.push(format!("{}: {} stated, {proof:#}", name(filter), ORDER[stated]));
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
    let arguments = ["migrate", path, "--accept", accept, "-o", "json"];
    let proven = [arguments.as_slice(), &["--prove", "istiod"]].concat();
    let reports = [plain(&arguments), run(istiod, &proven)]
        .map(|(code, out, err)| serde_json::from_str::<Json>(&out).map_err(|_| format!("exit code {code}: {err}")));
    let kept = |folder: tempfile::TempDir, why: String| format!("seed {seed} ({}): {why}", folder.keep().display());
    let (plain, proven) = match reports {
        [Ok(plain), Ok(proven)] => (plain, proven),
        [Err(why), _] | [_, Err(why)] => return Some(Err(kept(folder, why))),
    };
    let faults = faults(&plain, &proven);
    if !faults.is_empty() {
        return Some(Err(kept(folder, faults.join("\n"))));
    }
    let filters = proven["filters"].as_array().unwrap();
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
