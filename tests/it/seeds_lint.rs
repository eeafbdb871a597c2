//! The findings about each published sample (testdata/seeds): a snapshot that was reviewed line by line.
//!
//! Each sample as published, judged with the reference configurations; and its variants for the recorded mesh
//! (`:moved`, `:fitted` …, see testdata/seeds/README.md) judged with the config dumps of the recorded proxies.

use crate::linting::{Proxies, expect, line};
use crate::support::{recorded, testdata};
use kubectl_envoyfilter::load;
use kubectl_envoyfilter::model::release::Release;
use std::fmt::Write as _;

#[test]
fn every_sample_gets_its_findings() {
    let files_only = Proxies::new(&[], Release::NEWEST);
    let shop = Proxies::new(&["shop".to_owned()], Release::NEWEST);
    let mut out = String::new();
    let mut cases = recorded(&testdata("seeds/recorded.jsonl"));
    cases.sort_by_key(|case| case["id"].as_str().unwrap().to_owned());
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let loaded = load::read_text(id, case["filters"].as_str().unwrap(), &load::Options::default());
        let proxies = if id.contains(':') { &shop } else { &files_only };
        writeln!(out, "{id}").unwrap();
        for one in proxies.lint(&loaded) {
            writeln!(out, "  {}", line(&one, &loaded)).unwrap();
        }
    }
    expect(&testdata("seeds/lint.out"), &out);
}
