//! The configuration `.envoyfilter.yaml`: which rules run, their severities, where they apply, and for which releases.

use crate::lint::check::Rule;
use crate::lint::finding::Finding;
use crate::lint::rule::RuleInfo;
use crate::lint::settings::glob;
use crate::lint::settings::selection::{Selector, selected};
use crate::model::release::Release;
use crate::source::{Code, Node, NodeValue, Problem, Severity, Span, alike};
use std::collections::BTreeSet;
use std::path::Path;

/// Code of the problem for a rule that does not exist; a rule reports it.
pub(crate) const UNKNOWN_RULE: Code = Code::UnknownRule;

/// Minimum severity of findings that makes a run fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOn {
    /// A severity.
    At(Severity),
    /// Never.
    Never,
}

impl FailOn {
    /// Reads `error`, `warning`, `info` or `never`.
    pub(crate) fn from_word(word: &str) -> Option<FailOn> {
        if word == "never" { Some(FailOn::Never) } else { severity(word).map(FailOn::At) }
    }

    /// Whether a finding of this severity makes a run fail.
    pub(crate) fn fails(self, severity: Severity) -> bool {
        matches!(self, FailOn::At(least) if severity >= least)
    }
}

/// A severity by its word.
pub(crate) fn severity(word: &str) -> Option<Severity> {
    Some(match word {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        "info" => Severity::Info,
        _ => return None,
    })
}

/// Rules and severities, at the top or for some paths and namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Only these rules, when not empty.
    pub select: Vec<Selector>,
    /// Not these rules.
    pub ignore: Vec<Selector>,
    /// Severities that replace those of the rules; the most exact selector decides.
    pub severity: Vec<(Selector, Severity)>,
}

/// A choice for some of the findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Override {
    /// Path patterns, relative to the folder of the configuration; empty: all.
    pub paths: Vec<String>,
    /// Patterns of namespaces; empty: all.
    pub namespaces: Vec<String>,
    /// What differs there (`select` is not available there).
    pub choice: Choice,
}

/// A configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Settings that apply everywhere.
    pub choice: Choice,
    /// Settings for some places; later ones win.
    pub overrides: Vec<Override>,
    /// Minimum severity that makes a run fail.
    pub fail_on: Option<FailOn>,
    /// Releases of the control plane to lint for.
    pub istio_versions: Vec<Release>,
    /// Names of filters that something outside the input adds: an operator, another repository.
    pub added_elsewhere: Vec<String>,
    /// Whether it was found next to the files rather than named by the user: then it applies only to its own folder,
    /// whoever wrote it.
    pub own_folder_only: bool,
}

/// The files and folders of custom rules that a configuration names, relative to its folder.
pub(crate) fn rule_paths(document: &Node) -> Vec<String> {
    let items = document.get("rules").map(Node::items).unwrap_or_default();
    items.iter().filter_map(Node::as_str).map(str::to_owned).collect()
}

/// Keys of the top level.
const KEYS: &[&str] =
    &["select", "ignore", "severity", "fail-on", "istio-versions", "overrides", "rules", "added-elsewhere"];
/// Keys of an override.
const OVERRIDE_KEYS: &[&str] = &["paths", "namespaces", "ignore", "severity"];

impl Config {
    /// Reads a configuration. Errors are returned with their places, and the parts that contain them are left out.
    pub fn read(document: &Node, rules: &[&'static Rule]) -> (Config, Vec<Problem>) {
        let mut reader = Reader { rules, problems: Vec::new() };
        let mut config = Config::default();
        if document.is_null() {
            return (config, reader.problems);
        }
        reader.keys(document, KEYS);
        config.choice = reader.choice(document);
        if let Some(node) = document.get("fail-on") {
            config.fail_on = node.as_str().and_then(FailOn::from_word);
            if config.fail_on.is_none() {
                reader.wrong(node.span, "`fail-on` is one of error, warning, info, never".to_owned(), None);
            }
        }
        for (word, span) in reader.strings(document.get("istio-versions")) {
            match word.parse() {
                Ok(release) => config.istio_versions.push(release),
                Err(message) => reader.wrong(span, message.into(), None),
            }
        }
        let words = |found: Vec<(String, Span)>| found.into_iter().map(|(word, _)| word).collect();
        config.added_elsewhere = words(reader.strings(document.get("added-elsewhere")));
        // Already read: the rules must be known before the words that select them.
        reader.strings(document.get("rules"));
        if let Some(node) = document.get("overrides") {
            if !matches!(node.value, NodeValue::List(_) | NodeValue::Null) {
                reader.wrong(node.span, "`overrides` is a list".to_owned(), None);
            }
            for item in node.items() {
                reader.keys(item, OVERRIDE_KEYS);
                let paths = words(reader.strings(item.get("paths")));
                let namespaces = words(reader.strings(item.get("namespaces")));
                config.overrides.push(Override { paths, namespaces, choice: reader.choice(item) });
            }
        }
        (config, reader.problems)
    }

    /// Whether a rule runs at all.
    pub fn runs(&self, rule: &RuleInfo) -> bool {
        selected(rule, &self.choice.select, &self.choice.ignore)
    }

    /// How many of these rules it ignores everywhere, and how many in some places only. A place is the path of a file, as for
    /// [`Config::judge`], and a namespace.
    pub(crate) fn ignored(
        &self,
        rules: &[&'static Rule],
        places: impl Iterator<Item = (String, String)>,
    ) -> (usize, usize) {
        if rules.iter().all(|rule| self.runs(rule)) && self.overrides.iter().all(|one| one.choice.ignore.is_empty()) {
            return (0, 0);
        }
        let any = |patterns: &[String], text: &str| {
            patterns.is_empty() || patterns.iter().any(|pattern| glob::fits(pattern, text))
        };
        // Many places, but few kinds of them.
        let kinds: BTreeSet<Option<Vec<usize>>> = places
            .map(|(path, namespace)| {
                let here = |one: &Override| any(&one.paths, &path) && any(&one.namespaces, &namespace);
                let here = || self.overrides.iter().enumerate().filter(|(_, one)| here(one)).map(|(index, _)| index);
                self.governs(&path).then(|| here().collect())
            })
            .collect();
        let ignores = |rule: &RuleInfo, kind: &Option<Vec<usize>>| {
            let of_place = |index: &usize| !selected(rule, &[], &self.overrides[*index].choice.ignore);
            kind.as_ref().is_some_and(|overrides| !self.runs(rule) || overrides.iter().any(of_place))
        };
        let (mut everywhere, mut somewhere) = (0, 0);
        for rule in rules {
            let ignored = kinds.iter().filter(|kind| ignores(rule, kind)).count();
            everywhere += usize::from(ignored > 0 && ignored == kinds.len());
            somewhere += usize::from(ignored > 0 && ignored < kinds.len());
        }
        (everywhere, somewhere)
    }

    /// Whether it applies to a file, by its path relative to the configuration's folder; outside that folder, the path
    /// is absolute.
    pub(crate) fn governs(&self, path: &str) -> bool {
        !self.own_folder_only || !Path::new(path).is_absolute()
    }

    /// Whether it sets the severity of a rule anywhere.
    pub(crate) fn weighs(&self, rule: &RuleInfo) -> bool {
        let choices = self.overrides.iter().map(|one| &one.choice).chain([&self.choice]);
        choices.into_iter().any(|choice| choice.severity(rule).is_some())
    }

    /// Gives a finding its configured severity, for a file (path relative to the configuration's folder); `false` if it
    /// is ignored.
    pub(crate) fn keeps(&self, finding: &mut Finding, path: &str) -> bool {
        let added = |name: &str| self.added_elsewhere.iter().any(|pattern| glob::fits(pattern, name));
        if finding.missing.as_deref().is_some_and(added) {
            return false;
        }
        finding.severity = self.choice.severity(finding.rule).unwrap_or(finding.severity);
        let namespace = finding.filter.split('/').next().unwrap_or_default().to_owned();
        let any = |patterns: &[String], text: &str| {
            patterns.is_empty() || patterns.iter().any(|pattern| glob::fits(pattern, text))
        };
        for one in self.overrides.iter().filter(|one| any(&one.paths, path) && any(&one.namespaces, &namespace)) {
            if !selected(finding.rule, &[], &one.choice.ignore) {
                return false;
            }
            finding.severity = one.choice.severity(finding.rule).unwrap_or(finding.severity);
        }
        true
    }
}

impl Choice {
    fn severity(&self, rule: &RuleInfo) -> Option<Severity> {
        let weighed = self.severity.iter().filter_map(|(selector, severity)| Some((selector.weight(rule)?, *severity)));
        weighed.max_by_key(|(weight, _)| *weight).map(|(_, severity)| severity)
    }
}

struct Reader<'r> {
    rules: &'r [&'static Rule],
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn wrong(&mut self, span: Span, message: String, help: Option<String>) {
        let problem = Problem { code: Code::Configuration, severity: Severity::Error, span: Some(span), message, help };
        self.problems.push(problem);
    }

    fn keys(&mut self, node: &Node, known: &[&str]) {
        if !matches!(node.value, NodeValue::Map(_) | NodeValue::Null) {
            self.wrong(node.span, "this must be a mapping".to_owned(), None);
        }
        for entry in node.entries().iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let help = alike::keyword(&entry.key, known.iter().copied())
                .map_or_else(|| format!("the keys are {}", known.join(", ")), |near| format!("write `{}`", near.name));
            self.wrong(entry.key_span, format!("the configuration has no key `{}`", entry.key), Some(help));
        }
    }

    /// The texts of a list; numbers are read as written (`1.26`).
    fn strings(&mut self, node: Option<&Node>) -> Vec<(String, Span)> {
        let Some(node) = node.filter(|node| !node.is_null()) else { return Vec::new() };
        if !matches!(node.value, NodeValue::List(_)) {
            self.wrong(node.span, "this must be a list".to_owned(), None);
        }
        let mut found = Vec::new();
        for item in node.items() {
            match (&item.value, item.as_str()) {
                (_, Some(text)) => found.push((text.to_owned(), item.span)),
                (NodeValue::Number(_), _) => {
                    let help = Some("put it into quotes: as a number 1.30 is 1.3".to_owned());
                    self.wrong(item.span, "this is read as a number".to_owned(), help);
                }
                _ => self.wrong(item.span, "this must be a text".to_owned(), None),
            }
        }
        found
    }

    fn selector(&mut self, word: &str, span: Span) -> Option<Selector> {
        match Selector::new(word, self.rules) {
            Ok(selector) => Some(selector),
            Err(message) => {
                self.problems.push(Problem {
                    code: UNKNOWN_RULE,
                    severity: Severity::Warning,
                    span: Some(span),
                    message: message.into(),
                    help: None,
                });
                None
            }
        }
    }

    fn choice(&mut self, node: &Node) -> Choice {
        let mut choice = Choice::default();
        for (word, span) in self.strings(node.get("select")) {
            choice.select.extend(self.selector(&word, span));
        }
        for (word, span) in self.strings(node.get("ignore")) {
            choice.ignore.extend(self.selector(&word, span));
        }
        if let Some(map) = node.get("severity") {
            if !matches!(map.value, NodeValue::Map(_) | NodeValue::Null) {
                self.wrong(map.span, "`severity` is a mapping from rules to severities".to_owned(), None);
            }
            for entry in map.entries() {
                let Some(severity) = entry.value.as_str().and_then(severity) else {
                    self.wrong(entry.value.span, "a severity is one of error, warning, info".to_owned(), None);
                    continue;
                };
                let selector = self.selector(&entry.key, entry.key_span);
                choice.severity.extend(selector.map(|selector| (selector, severity)));
            }
        }
        choice
    }
}
