//! Published EnvoyFilters (testdata/corpus): the same ones are rejected as by istiod, and the others give istiod's
//! result.

use crate::support::{Base, ECDS_NAMES, Share, bases, dumps, print_difference, recorded, testdata, text};
use kubectl_envoyfilter::engine::Program;
use kubectl_envoyfilter::engine::program::Status;
use kubectl_envoyfilter::load::yaml;
use kubectl_envoyfilter::model::envoy_filter::EnvoyFilter;
use kubectl_envoyfilter::model::parse_envoy_filter;
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::source::{Problem, Severity, Sources};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// Rejected by istiod's admission for a reason that this tool does not check yet.
const REFUSED_UNSEEN: &[&str] = &[
    // A subFilter match in a filter match that is not the HTTP connection manager.
    "007-3qi-oauth2-gateway-filter.yaml",
    "008-3qi-oauth2-sidecar-filter.yaml",
    // No value, and the operation is not REMOVE.
    "013-3qi-reviews-oauth2.yaml",
    // A match of the wrong kind for applyTo.
    "179-istio-test-remove-2.yaml",
    "180-istio-test-remove-3.yaml",
    "187-istio-test-relative-3.yaml",
    // No operation.
    "200-istio-simple-envoy-filter.yaml",
];

/// The filters of a file that the API server accepts, and the problems.
fn read(name: &str) -> (Vec<EnvoyFilter>, Vec<Problem>) {
    let source = text(&testdata("corpus").join(name));
    let file = Sources::default().add(name, &*source);
    let (documents, mut problems) = yaml::documents(file, &source);
    let mut filters = Vec::new();
    for document in documents {
        let (filter, more) = parse_envoy_filter::parse(document, "default");
        let refused = more.iter().any(|problem| problem.severity == Severity::Error);
        filters.extend(filter.filter(|_| !refused));
        problems.extend(more);
    }
    (filters, problems)
}

/// As in the recording: in the root namespace, for every workload and every proxy version.
fn moved(mut filters: Vec<EnvoyFilter>) -> Vec<EnvoyFilter> {
    for filter in &mut filters {
        "istio-system".clone_into(&mut filter.namespace);
        filter.selector = None;
        filter.target_refs.clear();
        filter.patches.iter_mut().for_each(|patch| patch.proxy = None);
    }
    filters
}

fn published_filters_equal_istiods_result_by(share: Share) {
    let dumps = dumps(&testdata("reference/shop"));
    let bases = bases(&dumps);
    let only = std::env::var("CASE").ok();
    let (mut refused, mut compared, mut changed, mut different) = (0, 0, 0, BTreeSet::new());
    let verdicts = recorded(&testdata("reference/real/verdicts.jsonl"));
    let named = |verdict: &&Json| only.as_ref().is_none_or(|only| verdict["file"].as_str().unwrap().contains(only));
    let share = if only.is_some() { Share::Whole } else { share };
    for verdict in share.of(verdicts.iter().filter(named)) {
        let name = verdict["file"].as_str().unwrap();
        let (filters, problems) = read(name);
        if verdict["as_published"].is_null() {
            refused += 1;
            if is_refused(&filters, &problems) == REFUSED_UNSEEN.contains(&name) {
                println!("{name}: istiod refuses it: {}", verdict["errors"]);
                different.insert(format!("{name}: refused"));
            }
            continue;
        }
        for (way, filters) in [("as_published", filters.clone()), ("moved", moved(filters))] {
            let program = Program::new(&filters, Release::NEWEST);
            for (proxy, kinds) in verdict[way].as_object().unwrap() {
                let label = format!("{name}/{way}/{proxy}");
                let base: &Base<'_> = &bases[proxy.as_str()];
                let (want, got) =
                    (base.recorded(kinds), base.computed(&label, &program, Some(ECDS_NAMES), &BTreeMap::new()));
                compared += 1;
                changed += usize::from(want != BTreeMap::default());
                if want != got {
                    println!("{label}");
                    print_difference(&want, &got);
                    different.insert(label);
                }
            }
        }
    }
    println!(
        "published: {} files, {refused} refused by istiod, {compared} proxies compared ({changed} changed), {} different",
        verdicts.len(),
        different.len()
    );
    assert!(changed > 0 || only.is_some(), "the recording was not read");
    assert!(different.is_empty(), "{} different: {different:#?}", different.len());
}

in_part_and_in_full!(
    published_filters_equal_istiods_result,
    published_filters_equal_istiods_result_in_full,
    published_filters_equal_istiods_result_by
);

/// Whether this tool reports that istiod rejects a file.
fn is_refused(filters: &[EnvoyFilter], problems: &[Problem]) -> bool {
    let program = Program::new(filters, Release::NEWEST);
    problems.iter().any(|problem| problem.severity == Severity::Error)
        || (0..filters.len())
            .flat_map(|filter| program.patches(filter))
            .any(|patch| matches!(patch.status, Status::Discarded(_)))
}
