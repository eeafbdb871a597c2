//! How often each rule fires on published filters (testdata/corpus): a change here shows who is affected.

use crate::linting::{Proxies, expect, input, line, read, yaml_files};
use crate::support::testdata;
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::lint::{self, Input};
use kubectl_envoyfilter::load::reference;
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::{ProxyConfig, Resource};
use kubectl_envoyfilter::proto::json;
use kubectl_envoyfilter::rules;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The number of findings of each rule over the individual files, and the number of files. `CORPUS` names another
/// folder, and then every finding is printed.
#[test]
fn published_filters_are_found_as_before() {
    let proxies = Proxies::new(&[], Release::NEWEST);
    let other = std::env::var_os("CORPUS").map(PathBuf::from);
    let mut hits: BTreeMap<&str, usize> = BTreeMap::new();
    let mut files: BTreeMap<&str, BTreeSet<PathBuf>> = BTreeMap::new();
    let paths = yaml_files(&other.clone().unwrap_or_else(|| testdata("corpus")));
    for path in &paths {
        let loaded = read(path);
        for one in proxies.lint(&loaded) {
            *hits.entry(one.rule.code).or_default() += 1;
            files.entry(one.rule.code).or_default().insert(path.clone());
            if other.is_some() {
                println!("{}:{}", path.file_name().unwrap().display(), line(&one, &loaded));
            }
        }
    }
    let mut out = format!("{} files, each linted alone without config dumps: hits, files\n", paths.len());
    for rule in rules::ALL {
        let (hits, files) = (hits.get(rule.code).unwrap_or(&0), files.get(rule.code).map_or(0, BTreeSet::len));
        writeln!(out, "{} {:<48} {hits:>5} {files:>4}", rule.code, rule.name).unwrap();
    }
    if other.is_none() {
        expect(&testdata("corpus/counts.txt"), &out);
    } else {
        println!("{out}");
    }
}

/// Reference configurations are parsed once for all runs, with the same result as from their texts.
#[test]
fn trees_that_runs_share_give_what_texts_give() {
    let shared = reference::configs(Release::NEWEST);
    let unshared = |config: &ProxyConfig<'static>| ProxyConfig {
        resources: config.resources.iter().map(|one| Resource { opened: None, ..one.clone() }).collect(),
        ..config.clone()
    };
    let texts: Vec<ProxyConfig<'_>> = shared.iter().map(unshared).collect();
    let mut changed = 0;
    for path in yaml_files(&testdata("corpus")) {
        let loaded = read(&path);
        let mesh = MeshSettings::of(&loaded.inventory);
        let runs = |references: &[ProxyConfig<'static>]| {
            let input = Input { references, ..input(&loaded, Release::NEWEST, &mesh) };
            lint::inspect(&input, &[], |cx| {
                let of_run = |run: &lint::context::ProxyRun<'_>| {
                    let sent = &run.judged.patched.resources;
                    let trees = sent.iter().map(|one| (one.kind, one.source, one.tree.as_deref().map(json::canonical)));
                    (format!("{:?}", run.judged.trace), trees.collect::<Vec<_>>())
                };
                cx.runs.iter().map(of_run).collect::<Vec<_>>()
            })
            .1
        };
        let from_trees = runs(shared);
        changed += from_trees.iter().map(|(_, trees)| trees.len()).sum::<usize>();
        assert_eq!(from_trees, runs(&texts), "{}", path.display());
    }
    assert!(changed > 500, "only {changed} resources were changed");
}
