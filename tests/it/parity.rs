//! Everything that istiod's admission rejects or warns about is found, each kind of message by its rule.
//!
//! The messages are istiod's (release 1.31 line and older), recorded with the published filters of testdata/corpus and
//! with the cases of testdata/reference. `PARITY_CORPUS` and `PARITY_VERDICTS` name another folder and file.

use crate::linting::input;
use crate::reference::case;
use crate::support::{Share, recorded, testdata, text};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::lint::{self, Finding, Input};
use kubectl_envoyfilter::load::{self, reference};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::ProxyConfig;
use kubectl_envoyfilter::rules;
use kubectl_envoyfilter::source::Severity;
use regex::Regex;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A kind of message: its pattern, and the rules of which one reports the same.
type Kind = (&'static str, &'static [&'static str]);

/// Rejections of istiod's admission.
const ERRORS: &[Kind] = &[
    (r"cannot parse proto message .* cannot unmarshal", &["EF012"]),
    (r"cannot parse proto message .* unknown value .* for enum", &["EF014"]),
    (r"(wildcard|empty key) is not supported in selector", &["EF019"]),
    (r"Envoy filter: null config patch", &["EF012"]),
    (r"Envoy filter: missing applyTo", &["EF016"]),
    (r"Envoy filter: missing patch", &["EF017"]),
    (r"Envoy filter: invalid regex for proxy version", &["EF025"]),
    // The API server rejects a match of two kinds before istiod sees it.
    (r"applyTo for .* class objects cannot have non .* match", &["EF021", "EF015"]),
    (r"Envoy filter: (sub)?filter match has no name to match on", &["EF022"]),
    (r"Envoy filter: subfilter match (can be used|requires)", &["EF023"]),
    (r"referenced type unknown", &["EF103", "EF107", "EF108", "EF109", "EF110"]),
    (r"can't unmarshal Any nested proto|json: cannot unmarshal", &["EF103", "EF104", "EF105", "EF106"]),
];

/// Warnings of istiod's admission.
const WARNINGS: &[Kind] = &[
    (r"workload selector specified without labels", &["EF206"]),
    (r"Envoy filter: proxyVersion match exceeds", &["EF027"]),
    (r"Envoy filter: filter match has no effect", &["EF024"]),
    // Old names in patches for obsolete proxies are reported as versions that match nothing.
    (r"using deprecated filter name", &["EF213", "EF225", "EF704"]),
    // A value for another `applyTo` under an operation that istiod ignores is one finding.
    (r"unknown field ", &["EF101", "EF102", "EF111", "EF117", "EF131", "EF132", "EF301"]),
    (r"using deprecated type_url", &["EF110"]),
    (r"using deprecated types by name without typed_config", &["EF111", "EF112"]),
];

/// Published filters with old names in patches for proxies of releases that had those names: nothing is wrong there.
const PINNED_TO_OLD_PROXIES: &[&str] =
    &["282-kiali-attribgen-travelagency.yaml", "284-kiali-attribgen-travelagency.yaml"];

/// Planned rules: a message for one of them is counted as pending.
const COMING: &[&str] = &[];

fn is_there(code: &str) -> bool {
    rules::ALL.iter().any(|rule| rule.code == code)
}

/// The rules for a message; none if they are planned.
fn rules_for(kinds: &[Kind], message: &str) -> Vec<&'static str> {
    let fits = |pattern: &str| Regex::new(pattern).unwrap().is_match(message);
    let kind = kinds.iter().find(|(pattern, _)| fits(pattern));
    let (_, codes) =
        kind.unwrap_or_else(|| panic!("no kind of message is like `{message}`: add it, and a rule for it"));
    codes.iter().copied().filter(|code| is_there(code)).collect()
}

/// The individual complaints in one answer of istiod.
fn complaints(message: &Json) -> Vec<String> {
    let text = message.as_str().unwrap();
    match text.split_once("errors occurred:") {
        Some((_, list)) => {
            list.split("\n\t* ").map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect()
        }
        None => vec![text.to_owned()],
    }
}

/// The findings on a text.
fn findings(loaded: &load::Loaded, references: &[ProxyConfig<'_>], release: Release) -> Vec<Finding> {
    let mesh = MeshSettings::default();
    let input = Input { references, ..input(loaded, release, &mesh) };
    lint::lint(&input, rules::ALL)
}

/// Whether the rules for a message are silent; `pending` counts messages of planned rules.
fn is_silent(rules: &[&str], found: &BTreeSet<&str>, pending: &mut usize) -> bool {
    *pending += usize::from(rules.is_empty());
    !rules.is_empty() && !rules.iter().any(|rule| found.contains(rule))
}

/// The warning without the name of the preceding filter, and that name.
fn split_name(warning: &str) -> (String, &str) {
    let (name, message) = warning.split_once(": ").unwrap_or(("", warning));
    match name.strip_prefix('/') {
        Some(name) => (format!("default/{name}"), message),
        None => (name.to_owned(), message),
    }
}

#[test]
fn admission_messages_about_published_filters_are_found() {
    let folder = std::env::var_os("PARITY_CORPUS").map_or_else(|| testdata("corpus"), PathBuf::from);
    let verdicts = std::env::var_os("PARITY_VERDICTS").map(PathBuf::from);
    let verdicts = recorded(&verdicts.unwrap_or_else(|| testdata("reference/real/verdicts.jsonl")));
    let references = reference::configs(Release::NEWEST);
    let (mut errors, mut warnings, mut pending, mut missed) = (0, 0, 0, Vec::new());
    for verdict in &verdicts {
        let list = |key: &str| verdict[key].as_array().cloned().unwrap_or_default();
        if list("errors").is_empty() && list("warnings").is_empty() {
            continue;
        }
        let file = verdict["file"].as_str().unwrap();
        let loaded = load::read(&[folder.join(file)], &load::Options::default());
        let found = findings(&loaded, references, Release::NEWEST);
        let of_file: BTreeSet<&str> = found.iter().map(|one| one.rule.code).collect();
        let mut lacks_error = false;
        for message in list("errors").iter().flat_map(complaints) {
            errors += 1;
            let rules = rules_for(ERRORS, &message);
            let silent = is_silent(&rules, &of_file, &mut pending);
            lacks_error |= !rules.is_empty() && found.iter().all(|one| one.severity != Severity::Error);
            if silent {
                missed.push(format!("{file}: {rules:?} silent about: {message}"));
            }
        }
        if lacks_error {
            missed.push(format!("{file}: istiod refuses it, and no finding is an error"));
        }
        for message in &list("warnings") {
            warnings += 1;
            let (name, message) = split_name(message.as_str().unwrap());
            let rules = rules_for(WARNINGS, message);
            let of_filter = found.iter().filter(|one| one.filter == name).map(|one| one.rule.code).collect();
            let pinned = message.starts_with("using deprecated filter name") && PINNED_TO_OLD_PROXIES.contains(&file);
            if !pinned && is_silent(&rules, &of_filter, &mut pending) {
                missed.push(format!("{file}: {rules:?} silent about: {name}: {message}"));
            }
        }
    }
    println!("published: {errors} errors and {warnings} warnings of admission, {pending} of them with rules to come");
    assert!(errors > 20 && warnings > 100, "the recording was not read");
    assert!(missed.is_empty(), "{} missed: {missed:#?}", missed.len());
}

fn admission_messages_about_recorded_cases_are_found_by(share: Share) {
    let (mut warnings, mut pending, mut missed) = (0, 0, Vec::new());
    for (topology, cases) in [("shop", "cases"), ("shop", "edge"), ("ambient", "cases"), ("gwapi", "cases")] {
        let text = text(&testdata("reference").join(topology).join(format!("{cases}.jsonl")));
        for case in share.of(text.lines()).into_iter().map(case) {
            let said = case["warnings"].as_array().cloned().unwrap_or_default();
            if said.is_empty() {
                continue;
            }
            let loaded = load::read_text("case", case["filters"].as_str().unwrap(), &load::Options::default());
            let found = findings(&loaded, &[], Release::NEWEST);
            let mut by_filter: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for one in &found {
                by_filter.entry(&one.filter).or_default().insert(one.rule.code);
            }
            for message in &said {
                warnings += 1;
                let (name, message) = split_name(message.as_str().unwrap());
                let rules = rules_for(WARNINGS, message);
                let of_filter = by_filter.get(name.as_str()).cloned().unwrap_or_default();
                if is_silent(&rules, &of_filter, &mut pending) {
                    missed.push(format!("{topology} {}: {rules:?} silent about: {name}: {message}", case["id"]));
                }
            }
        }
    }
    println!("recorded: {warnings} warnings of admission, {pending} of them with rules to come");
    assert!(warnings > share.least(100).max(10), "the recordings were not read");
    assert!(missed.is_empty(), "{} missed: {missed:#?}", missed.len());
}

in_part_and_in_full!(
    admission_messages_about_recorded_cases_are_found,
    admission_messages_about_recorded_cases_are_found_in_full,
    admission_messages_about_recorded_cases_are_found_by
);

#[test]
fn every_rule_named_exists() {
    for (pattern, codes) in ERRORS.iter().chain(WARNINGS) {
        Regex::new(pattern).unwrap();
        for code in *codes {
            assert!(is_there(code) || COMING.contains(code), "{code} for `{pattern}`");
        }
    }
}
