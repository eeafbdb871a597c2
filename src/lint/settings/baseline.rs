//! A baseline: known findings that are not reported, by fingerprints that survive moved lines and files.

use crate::lint::finding::Finding;
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::{ErrorMessage, Node, Sources};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Version of the file.
pub(crate) const API_VERSION: &str = "envoyfilter.dev/v1";

/// A baseline file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Baseline {
    /// [`API_VERSION`].
    pub api_version: String,
    /// `LintBaseline`.
    pub kind: String,
    /// The known findings.
    pub findings: Vec<Known>,
}

/// A known finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Known {
    /// File it was found in; for readers, and to know what a later run covered.
    pub file: String,
    /// Code of the rule.
    pub rule: String,
    /// `namespace/name` of the filter.
    pub filter: String,
    /// As [`Prints`] makes it.
    pub fingerprint: String,
    /// The number of occurrences.
    pub count: usize,
}

impl Default for Baseline {
    fn default() -> Baseline {
        Baseline { api_version: API_VERSION.to_owned(), kind: "LintBaseline".to_owned(), findings: Vec::new() }
    }
}

/// FNV-1a: stable across releases and machines, unlike the standard library's hasher.
struct Hash(u64);

impl Hash {
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Fingerprints of findings: the rule, the filter, what the patch applies to and matches, and the offending text without its
/// spaces; no line numbers and no position in the list of patches. A finding without a filter uses its file instead.
pub(crate) struct Prints<'r> {
    sources: &'r Sources,
    by_name: HashMap<String, &'r EnvoyFilter>,
}

impl<'r> Prints<'r> {
    /// Those of findings about filters.
    pub(crate) fn of(sources: &'r Sources, filters: &'r [EnvoyFilter]) -> Prints<'r> {
        Prints { sources, by_name: filters.iter().map(|filter| (filter.full_name(), filter)).collect() }
    }

    /// That of one finding.
    pub(crate) fn print(&self, finding: &Finding) -> String {
        let mut hash = Hash(0xcbf2_9ce4_8422_2325);
        hash.add(finding.rule.code);
        if finding.filter.is_empty() {
            hash.add(&self.sources.get(finding.primary.span.file).name);
        } else {
            hash.add(&finding.filter);
        }
        let patch = finding.patch.and_then(|index| self.by_name.get(&finding.filter)?.patch_node(index));
        if let Some(patch) = patch {
            let operation = patch.get("patch").and_then(|body| body.get("operation"));
            for part in [patch.get("applyTo"), patch.get("match"), operation] {
                hash.add(&part.map(Node::to_json).unwrap_or_default().to_string());
            }
        }
        hash.add(&self.sources.snippet(finding.primary.span).split_whitespace().collect::<Vec<_>>().join(" "));
        format!("{:016x}", hash.0)
    }
}

/// The result of applying a baseline.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Findings that are not in it.
    pub new: Vec<Finding>,
    /// How many findings are in it.
    pub known: usize,
    /// How many of its entries were not found again.
    pub gone: usize,
}

impl Baseline {
    /// Reads a file's text. Fails with the reason.
    pub(crate) fn read(text: &str) -> Result<Baseline, ErrorMessage> {
        // The file may be anything, so nothing of it is quoted.
        let read: Baseline = serde_json::from_str(text).map_err(|error| {
            format!("it cannot be read as one from line {}, column {}", error.line(), error.column())
        })?;
        if read.api_version == API_VERSION && read.kind == "LintBaseline" {
            return Ok(read);
        }
        Err(format!("it is not a LintBaseline of {API_VERSION}").into())
    }

    /// Removes the known findings.
    pub(crate) fn apply(&self, findings: Vec<Finding>, sources: &Sources, filters: &[EnvoyFilter]) -> Outcome {
        let prints = Prints::of(sources, filters);
        let prints: Vec<String> = findings.iter().map(|finding| prints.print(finding)).collect();
        let mut left: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for known in &self.findings {
            *left.entry((&known.rule, &known.fingerprint)).or_default() += known.count;
        }
        let mut outcome = Outcome::default();
        for (finding, print) in findings.into_iter().zip(&prints) {
            match left.get_mut(&(finding.rule.code, print.as_str())) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    outcome.known += 1;
                }
                _ => outcome.new.push(finding),
            }
        }
        outcome.gone = left.values().sum();
        outcome
    }

    /// The baseline after a run: all findings, plus the old entries that this run did not cover, as decided by `keep`.
    #[must_use]
    pub(crate) fn updated(
        &self,
        findings: &[Finding],
        sources: &Sources,
        filters: &[EnvoyFilter],
        keep: impl Fn(&Known) -> bool,
    ) -> Baseline {
        let prints = Prints::of(sources, filters);
        let mut counts: BTreeMap<(String, String, String, String), usize> = BTreeMap::new();
        for finding in findings {
            let print = prints.print(finding);
            let file = sources.get(finding.primary.span.file).name.clone();
            let key = (file, finding.rule.code.to_owned(), finding.filter.clone(), print);
            *counts.entry(key).or_default() += 1;
        }
        let new = counts.into_iter().map(|((file, rule, filter, fingerprint), count)| Known {
            file,
            rule,
            filter,
            fingerprint,
            count,
        });
        let all: BTreeSet<Known> = self.findings.iter().filter(|known| keep(known)).cloned().chain(new).collect();
        Baseline { findings: all.into_iter().collect(), ..Baseline::default() }
    }
}
