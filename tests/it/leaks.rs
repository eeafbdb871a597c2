//! The rule about shared state against every recording in which istiod's changes stayed after the filters were deleted.

use crate::linting::input;
use crate::reference::case;
use crate::support::{Share, dumps, testdata, text};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::lint::{self, Input};
use kubectl_envoyfilter::load::{self, dump::Identity};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::ProxyConfig;
use kubectl_envoyfilter::rules;

/// Words that every patch of a class known to the rule contains.
const WORDS: &[&str] = &[
    "validate_clusters",
    "max_direct_response_body_size_bytes",
    "filter_chain_match",
    "LISTENER_FILTER",
    "validateClusters",
    "maxDirectResponseBodySizeBytes",
    "istio.stats",
    "istio.metadata_exchange",
];

fn every_recorded_leak_is_found_by(share: Share) {
    let rule = rules::ALL.iter().copied().find(|rule| rule.name == "shared-state-leak").unwrap();
    let (mut leaked, mut found, mut silent, mut loud) = (0, 0, 0, 0);
    let (mut missed, mut alarms) = (Vec::new(), Vec::new());
    for topology in ["shop", "ambient", "gwapi", "straits", "delta", "harbor"] {
        let folder = testdata("reference").join(topology);
        let given = dumps(&folder);
        let configs: Vec<ProxyConfig<'_>> =
            given.values().map(|dump| dump.config(&Identity::default()).unwrap()).collect();
        let files = ["cases.jsonl", "edge.jsonl"].map(|name| folder.join(name));
        let texts: Vec<String> =
            files.iter().filter(|path| path.with_extension("jsonl.zst").exists()).map(|path| text(path)).collect();
        for case in share.of(texts.iter().flat_map(|text| text.lines())).into_iter().map(case) {
            let (id, source) = (case["id"].as_str().unwrap(), case["filters"].as_str().unwrap());
            let leaks = case["leaked"].as_array().is_some_and(|list| !list.is_empty()) || case.get("others").is_some();
            if !leaks && !WORDS.iter().any(|word| source.contains(word)) {
                continue;
            }
            let loaded = load::read_text(id, source, &load::Options::default());
            let mesh = MeshSettings::default();
            let input = Input { problems: &[], dumps: &configs, ..input(&loaded, Release::NEWEST, &mesh) };
            let fires = !lint::lint(&input, &[rule]).is_empty();
            match (leaks, fires) {
                (true, true) => (leaked, found) = (leaked + 1, found + 1),
                (true, false) => {
                    leaked += 1;
                    missed.push(id.to_owned());
                }
                (false, true) => {
                    loud += 1;
                    alarms.push(id.to_owned());
                }
                (false, false) => silent += 1,
            }
        }
    }
    println!(
        "leaks: {found} of {leaked} recorded leaks found; of the cases with the same words that do not leak {silent} are silent, {loud} are not"
    );
    println!("not found: {missed:?}\nnot recorded as leaks: {alarms:?}");
    assert!(leaked > 0 && silent > 0, "recordings are missing");
    assert!(missed.is_empty(), "recorded leaks that the rule does not find: {missed:?}");
}

in_part_and_in_full!(
    every_recorded_leak_is_found,
    every_recorded_leak_is_found_in_full,
    every_recorded_leak_is_found_by
);
