//! A finding: what is wrong, where, why it matters, what to write instead.

use super::rule::Rule;
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::{Severity, Span};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Judged against the configuration that istiod generates by default, because no configuration was given.
    Likely,
    /// Computed by the engine on a given configuration, by the type system, or from the document alone.
    Certain,
}

impl Confidence {
    /// The word in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Confidence::Likely => "likely",
            Confidence::Certain => "certain",
        }
    }
}

/// A place in a text and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is said; may be empty at the primary place.
    pub message: String,
}

/// Text to put in the place of other text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; an empty range is an insertion.
    pub span: Span,
    /// What comes there.
    pub text: String,
}

/// A change that removes the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as an order: "write the canonical name".
    pub title: String,
    /// Whether the meaning that istiod gives the filter stays, or becomes what the author clearly wrote.
    pub safe: bool,
    /// The edits, none overlapping.
    pub edits: Vec<Edit>,
}

/// A finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// How bad; the rule's own severity unless the case is milder or worse.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// Where.
    pub primary: Label,
    /// Other places that belong to it: the other filter, the selector, the anchor.
    pub related: Vec<Label>,
    /// What is wrong: one sentence, lower case, without a final stop.
    pub message: String,
    /// Why it matters, with numbers.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Option<String>,
    /// `namespace/name` of the filter; empty when no filter could be read.
    pub filter: String,
    /// Index of the config patch.
    pub patch: Option<usize>,
    /// Workloads concerned, as `namespace/name`.
    pub workloads: Vec<String>,
    /// Objects of the proxies' configuration concerned.
    pub objects: Vec<String>,
    /// A change that removes it.
    pub fix: Option<Fix>,
    /// Kubernetes objects that the help shows, as `Kind namespace/name`.
    pub shown: Vec<String>,
    /// Whether it says that the patch has no effect: without the patch every given proxy gets the same configuration.
    pub ineffective: bool,
    /// Whether the line is not to be shown: it holds a secret.
    pub secret: bool,
}

impl Finding {
    /// A finding with the rule's severity, certain, without notes.
    pub fn new(rule: &'static Rule, span: Span, message: impl Into<String>) -> Finding {
        Finding {
            rule,
            severity: rule.severity,
            confidence: Confidence::Certain,
            primary: Label { span, message: String::new() },
            related: Vec::new(),
            message: message.into(),
            notes: Vec::new(),
            help: None,
            filter: String::new(),
            patch: None,
            workloads: Vec::new(),
            objects: Vec::new(),
            fix: None,
            shown: Vec::new(),
            ineffective: false,
            secret: false,
        }
    }

    /// Says that the line holds a secret, which no report may repeat.
    #[must_use]
    pub fn secret(mut self) -> Finding {
        self.secret = true;
        self
    }

    /// Says which filter and patch it is about.
    #[must_use]
    pub fn of(mut self, filter: &EnvoyFilter, patch: Option<usize>) -> Finding {
        self.filter = filter.full_name();
        self.patch = patch;
        self
    }

    /// Words beside the caret.
    #[must_use]
    pub fn label(mut self, message: impl Into<String>) -> Finding {
        self.primary.message = message.into();
        self
    }

    /// Says that the patch (of a finding without one: the filter) has no effect. A rule says so where what it found is
    /// reason enough; where config dumps show an effect all the same, it is taken back ([`super::Context::settle`]).
    #[must_use]
    pub fn ineffective(mut self) -> Finding {
        self.ineffective = true;
        self
    }

    /// The same where a condition holds.
    #[must_use]
    pub fn ineffective_if(mut self, condition: bool) -> Finding {
        self.ineffective |= condition;
        self
    }

    /// Adds why it matters.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Finding {
        self.notes.push(note.into());
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Finding {
        self.help = Some(help.into());
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Finding {
        self.related.push(Label { span, message: message.into() });
        self
    }

    /// Sets another severity than the rule's.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Finding {
        self.severity = severity;
        self
    }

    /// Sets how sure it is.
    #[must_use]
    pub fn confidence(mut self, confidence: Confidence) -> Finding {
        self.confidence = confidence;
        self
    }

    /// Names the workloads concerned; sorted and without repetition.
    #[must_use]
    pub fn workloads(mut self, workloads: impl IntoIterator<Item = String>) -> Finding {
        self.workloads.extend(workloads);
        self.workloads.sort();
        self.workloads.dedup();
        self
    }

    /// Names the objects concerned.
    #[must_use]
    pub fn objects(mut self, objects: impl IntoIterator<Item = String>) -> Finding {
        self.objects.extend(objects);
        self
    }

    /// Offers a change.
    #[must_use]
    pub fn fix(mut self, title: impl Into<String>, safe: bool, edits: Vec<Edit>) -> Finding {
        self.fix = Some(Fix { title: title.into(), safe, edits });
        self
    }
}

/// Where rules put their findings.
#[derive(Debug, Default)]
pub struct Findings {
    found: Vec<Finding>,
}

impl Findings {
    /// Adds a finding.
    pub fn push(&mut self, finding: Finding) {
        self.found.push(finding);
    }

    /// Adds findings.
    pub fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.found.extend(findings);
    }

    /// Every finding so far.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Finding> {
        self.found.iter_mut()
    }

    /// Says where the helps of several patches show objects of one name: whoever applies them all keeps the last.
    pub fn tell_apart(&mut self) {
        let mut shown: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for finding in &self.found {
            for object in &finding.shown {
                shown.entry(object.clone()).or_default().extend(finding.patch);
            }
        }
        for finding in &mut self.found {
            let others = |object: &String| {
                let patches = shown.get(object)?.iter().filter(|patch| Some(**patch) != finding.patch);
                let patches: Vec<String> = patches.map(|patch| format!("configPatches[{patch}]")).collect();
                (!patches.is_empty()).then(|| (object.clone(), patches.join(", ")))
            };
            if let Some((object, patches)) = finding.shown.iter().find_map(others) {
                finding.notes.push(format!(
                    "what is shown for {patches} is called {object} too: write one object of all, or give them other names"
                ));
            }
        }
    }

    /// Of which filters (by full name) and patches the findings so far say that they have no effect.
    pub fn ineffective(&self) -> HashSet<(String, Option<usize>)> {
        let found = self.found.iter().filter(|finding| finding.ineffective);
        found.map(|finding| (finding.filter.clone(), finding.patch)).collect()
    }

    /// All findings: by file and place, then by code; the same finding at the same place once.
    pub fn sorted(mut self) -> Vec<Finding> {
        self.found.sort_by(|left, right| {
            let key = |one: &Finding| (one.primary.span.file, one.primary.span.start, one.rule.code);
            key(left).cmp(&key(right)).then_with(|| left.message.cmp(&right.message))
        });
        self.found.dedup_by(|left, right| {
            left.rule.code == right.rule.code
                && left.primary.span == right.primary.span
                && left.message == right.message
        });
        self.found
    }
}
