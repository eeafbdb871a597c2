//! How often each rule fires on published filters (testdata/corpus): a change here shows who feels it.

use crate::linting::{Proxies, expect, line, read, yaml_files};
use crate::support::testdata;
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::rules;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Hits of each rule over the files one by one, and in how many files. `CORPUS` names another folder to look at, and
/// then prints every finding.
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
