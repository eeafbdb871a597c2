//! Counts of a run, and what was unknown.

use crate::lint::finding::{Confidence, Finding};
use crate::lint::rule::RuleInfo;
use crate::source::Severity;
use std::collections::BTreeMap;

/// Counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// EnvoyFilters read.
    pub filters: usize,
    /// Patches in them.
    pub patches: usize,
    /// Files read.
    pub files: usize,
    /// Config dumps used.
    pub dumps: usize,
    /// Of these, by [`crate::engine::unapply::State::as_str`].
    pub dump_states: BTreeMap<&'static str, usize>,
    /// Dumps of patched proxies whose reconstruction, replayed, reproduces the dump.
    pub proven: usize,
    /// Findings by severity: error, warning, info.
    pub errors: usize,
    /// See `errors`.
    pub warnings: usize,
    /// See `errors`.
    pub infos: usize,
    /// Findings that have a safe fix.
    pub fixable: usize,
    /// The minimum severity that was asked for.
    pub least: Option<Severity>,
    /// Whether the source of the filters is read-only: a cluster, a capture, the demo.
    pub read_only: bool,
    /// Findings removed by suppressions.
    pub suppressed: usize,
    /// Findings listed in the baseline.
    pub known: usize,
    /// Baseline entries that were not found again.
    pub gone: usize,
    /// Things that could not be read.
    pub unread: usize,
    /// What was unknown, each as a sentence.
    pub unknown: Vec<String>,
}

impl Summary {
    /// Counts findings.
    pub(crate) fn count(&mut self, findings: &[Finding]) {
        let of = |severity| findings.iter().filter(|one| one.severity == severity).count();
        (self.errors, self.warnings, self.infos) = (of(Severity::Error), of(Severity::Warning), of(Severity::Info));
        self.fixable = findings.iter().filter(|one| one.fix.as_ref().is_some_and(|fix| fix.safe)).count();
    }

    /// Dumps taken with filters in effect.
    pub(crate) fn patched(&self) -> usize {
        ["patched", "partly"].iter().filter_map(|word| self.dump_states.get(word)).sum()
    }

    /// All findings.
    pub(crate) fn findings(&self) -> usize {
        self.errors + self.warnings + self.infos
    }
}

/// Findings by rule: how many, and how many of them are certain.
pub(crate) fn by_rule(findings: &[Finding]) -> Vec<(&'static RuleInfo, usize, usize)> {
    let mut counts: BTreeMap<&str, (&'static RuleInfo, usize, usize)> = BTreeMap::new();
    for finding in findings {
        let entry = counts.entry(finding.rule.code).or_insert((finding.rule, 0, 0));
        entry.1 += 1;
        entry.2 += usize::from(finding.confidence == Confidence::Certain);
    }
    counts.into_values().collect()
}
