//! Findings in every format: for people, for programs, and for tools that show them beside the code.

pub(crate) mod ci;
mod human;
mod json;
mod sarif;

pub(crate) use ci::{github, gitlab, junit, markdown};
pub(crate) use human::{Detail, one, stat, text};
pub(crate) use json::{API_VERSION, json};
pub(crate) use sarif::sarif;

use crate::lint::baseline::Prints;
use crate::lint::istioctl::Verdict;
use crate::lint::summary::Summary;
use crate::lint::{Finding, RuleInfo};
use crate::mesh::Scope;
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::{FileId, Position, Sources, Span};
use std::collections::{BTreeSet, HashMap};

/// Where the documentation of a rule is published; `None` for a build that does not know.
fn published(rule: &RuleInfo) -> Option<String> {
    let repository = env!("CARGO_PKG_REPOSITORY");
    (!rule.is_custom() && !repository.is_empty())
        .then(|| format!("{repository}/blob/main/rules/README.md#{}", rule.code.to_lowercase()))
}

/// The input of all formats.
pub(crate) struct Report<'r> {
    /// The texts.
    pub sources: &'r Sources,
    /// The findings, sorted by place.
    pub findings: &'r [Finding],
    /// The filters that they are about.
    pub filters: &'r [EnvoyFilter],
    /// Those of them that were judged, `namespace/name`; `None`: all.
    pub asked: Option<&'r BTreeSet<String>>,
    /// Counts.
    pub summary: &'r Summary,
    /// Releases that were linted for.
    pub releases: &'r [String],
    /// What could not be read, as sentences.
    pub trouble: &'r [String],
    /// What istioctl would report.
    pub istioctl: &'r [Verdict],
    /// What was read.
    pub scope: &'r Scope,
}

impl Report<'_> {
    /// First and last position of a place.
    fn range(&self, span: Span) -> (Position, Position) {
        let text = self.sources.get(span.file);
        (text.position(span.start), text.position(span.end.max(span.start)))
    }

    fn file(&self, span: Span) -> &str {
        &self.sources.get(span.file).name
    }

    /// The texts that have an EnvoyFilter, and none that was judged: that they have no findings says nothing.
    fn not_judged(&self) -> BTreeSet<FileId> {
        let Some(asked) = self.asked else { return BTreeSet::new() };
        let files = |judged: bool| {
            let those = self.filters.iter().filter(move |filter| asked.contains(&filter.full_name()) == judged);
            those.map(|filter| filter.document.span.file)
        };
        let judged: BTreeSet<FileId> = files(true).collect();
        files(false).filter(|file| !judged.contains(file)).collect()
    }

    /// The findings with their fingerprints, made unique, one after the other. Only some formats have them.
    fn numbered(&self) -> impl Iterator<Item = (&Finding, String)> {
        let prints = Prints::of(self.sources, self.filters);
        let mut seen = HashMap::new();
        self.findings.iter().map(move |finding| {
            let print = prints.print(finding);
            let count = seen.entry(print.clone()).or_insert(0);
            *count += 1;
            let unique = if *count == 1 { print } else { format!("{print}-{count}") };
            (finding, unique)
        })
    }
}

/// Message, note and help of a finding in one text.
fn whole(finding: &Finding) -> String {
    let mut text = finding.message.clone();
    if !finding.primary.message.is_empty() {
        text.push_str(": ");
        text.push_str(&finding.primary.message);
    }
    for note in &finding.notes {
        text.push_str("\nnote: ");
        text.push_str(note);
    }
    if let Some(help) = &finding.help {
        text.push_str("\nhelp: ");
        text.push_str(help);
    }
    text
}
