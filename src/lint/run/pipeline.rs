//! From input to report: rules, the linter's own rules, suppressions, the configuration.

use crate::lint::check::{Check, Rule, Suppressed};
use crate::lint::facts::context::Context;
use crate::lint::finding::{Finding, Findings};
use crate::lint::output::istioctl::{self, Reported, Verdict};
use crate::lint::rule::Family;
use crate::lint::run::requests::RealEnvoy;
use crate::lint::run::{Input, inspect_with, lint, parts};
use crate::lint::settings::config::Config;
use crate::lint::settings::suppress;
use crate::model::release::Release;
use crate::source::Span;
use std::collections::{HashMap, HashSet};

/// The result of a lint run.
#[derive(Debug, Default)]
pub struct Checked<T> {
    /// The reported findings, sorted by place.
    pub findings: Vec<Finding>,
    /// How many findings were suppressed.
    pub suppressed: usize,
    /// The findings that were suppressed or ignored although they can explain others.
    pub(crate) hidden: Vec<Finding>,
    /// Whether the configuration applies to every file.
    pub governs_all: bool,
    /// The result of `look`.
    pub seen: T,
}

impl<T> Checked<T> {
    /// The same with something else seen.
    pub(crate) fn map<U>(self, with: impl FnOnce(T) -> U) -> Checked<U> {
        let Checked { findings, suppressed, hidden, governs_all, seen } = self;
        Checked { findings, suppressed, hidden, governs_all, seen: with(seen) }
    }
}

/// Lints with a configuration. `rules` are all rules; `path` converts a file's path to the form of the configuration's
/// patterns. Many filters are judged part by part, so memory does not grow with their number.
pub fn check(
    input: &Input<'_>,
    rules: &[&'static Rule],
    config: &Config,
    path: impl Fn(&str) -> String,
) -> Checked<()> {
    let run: Vec<&'static Rule> = rules.iter().copied().filter(|rule| config.runs(rule)).collect();
    let nothing = |_: &Context<'_>| Vec::<Span>::new();
    match parts::inspect_parts(input, &run, nothing, |span| *span) {
        Some((found, _)) => finish(input, found, (), rules, config, path),
        None => check_with(input, RealEnvoy::default(), rules, config, path, |_| ()),
    }
}

/// The same, and what istioctl would report.
pub(crate) fn check_beside_istioctl(
    input: &Input<'_>,
    rules: &[&'static Rule],
    config: &Config,
    path: impl Fn(&str) -> String,
) -> Checked<Vec<Verdict>> {
    let run: Vec<&'static Rule> = rules.iter().copied().filter(|rule| config.runs(rule)).collect();
    let reported = Reported::of(&input.inventory.envoy_filters, input.release);
    let judged = |cx: &Context<'_>| istioctl::judged(cx, &reported);
    if let Some((found, verdicts)) = parts::inspect_parts(input, &run, judged, |verdict| verdict.span) {
        finish(input, found, verdicts, rules, config, path)
    } else {
        check_with(input, RealEnvoy::default(), rules, config, path, judged)
    }
}

/// The same with an Envoy that checks the results; `look` may inspect the runs before they are dropped.
pub fn check_with<'r, T>(
    input: &Input<'_>,
    real: impl Into<RealEnvoy<'r>>,
    rules: &[&'static Rule],
    config: &Config,
    path: impl Fn(&str) -> String,
    look: impl FnOnce(&Context<'_>) -> T,
) -> Checked<T> {
    let run = running(input, rules, config, &path);
    // A rule that reports the rest must know the findings of all others, reported or not.
    let rest = run.iter().any(|rule| rule.is_rest()) && !input.dumps.is_empty();
    let (mut found, seen) = inspect_with(input, real, if rest { rules } else { &run }, look);
    let reported: HashSet<&str> = run.iter().map(|rule| rule.code).collect();
    found.retain(|finding| reported.contains(finding.rule.code));
    finish(input, found, seen, rules, config, path)
}

/// Whether the configuration applies to every file that was read.
fn governs_all(input: &Input<'_>, config: &Config, path: &impl Fn(&str) -> String) -> bool {
    !config.own_folder_only || input.sources.iter().all(|(_, source)| config.governs(&path(&source.name)))
}

/// The rules that run, including those for files outside the configuration's scope.
fn running(
    input: &Input<'_>,
    rules: &[&'static Rule],
    config: &Config,
    path: &impl Fn(&str) -> String,
) -> Vec<&'static Rule> {
    let all = !governs_all(input, config, path);
    rules.iter().copied().filter(|rule| all || config.runs(rule)).collect()
}

/// Applies suppressions and the configuration.
fn finish<T>(
    input: &Input<'_>,
    found: Vec<Finding>,
    seen: T,
    rules: &[&'static Rule],
    config: &Config,
    path: impl Fn(&str) -> String,
) -> Checked<T> {
    let run = running(input, rules, config, &path);
    let governs_all = governs_all(input, config, &path);
    let suppressions = suppress::read(input.sources, &input.inventory.envoy_filters);
    let outcome = suppress::apply(found, &suppressions);
    let mut findings = Findings::default();
    findings.extend(outcome.kept);
    let suppressed = Suppressed {
        sources: input.sources,
        problems: input.problems,
        suppressions: &suppressions,
        used: &outcome.used,
        run: &run,
        all: rules,
        dumps: !input.dumps.is_empty(),
    };
    for rule in &run {
        if let Check::Suppressions(check) = rule.check {
            check(&rule.info, &suppressed, &mut findings);
        }
    }
    let off: HashSet<&str> = rules.iter().filter(|rule| !config.runs(rule)).map(|rule| rule.code).collect();
    let keeps = |finding: &mut Finding| {
        let name = &input.sources.get(finding.primary.span.file).name;
        if !governs_all && !config.governs(&path(name)) {
            return true;
        }
        let path = if config.overrides.is_empty() { String::new() } else { path(name) };
        config.keeps(finding, &path) && !off.contains(finding.rule.code)
    };
    let explains = |finding: &Finding| !finding.rule.explains.is_empty();
    let (mut kept, mut hidden) = (Vec::new(), Vec::new());
    for mut finding in findings.sorted() {
        if keeps(&mut finding) {
            kept.push(finding);
        } else if explains(&finding) {
            hidden.push(finding);
        }
    }
    let findings = kept;
    let suppressed = outcome.suppressed.len();
    hidden.extend(outcome.suppressed.into_iter().map(|(finding, _)| finding).filter(explains));
    Checked { findings, suppressed, hidden, governs_all, seen }
}

/// The findings of one rule. Findings of the linter about itself, and about patches without other findings, depend on
/// all rules.
pub fn only(input: &Input<'_>, all: &[&'static Rule], rule: &'static Rule) -> Vec<Finding> {
    only_with(input, RealEnvoy::default(), all, rule)
}

/// The same with an Envoy that checks the results.
pub fn only_with<'r>(
    input: &Input<'_>,
    real: impl Into<RealEnvoy<'r>>,
    all: &[&'static Rule],
    rule: &'static Rule,
) -> Vec<Finding> {
    let mut found = if rule.is_about_suppressions() {
        check(input, all, &Config::default(), str::to_owned).findings
    } else if rule.is_rest() {
        lint(input, all)
    } else {
        return inspect_with(input, real, &[rule], |_| ()).0;
    };
    found.retain(|one| *one.rule == rule.info);
    found
}

/// What identifies a finding across releases.
pub(crate) type Same = (&'static str, Span, String);

/// Identifies a finding across releases.
pub(crate) fn same(finding: &Finding) -> Same {
    (finding.rule.code, finding.primary.span, finding.message.clone())
}

/// Findings of several releases as one list: common ones once, the others with their releases.
pub fn merged(all: Vec<(Release, Vec<Finding>)>) -> Vec<Finding> {
    united(all).0
}

/// The same, and which of them not every release has.
pub(crate) fn united(all: Vec<(Release, Vec<Finding>)>) -> (Vec<Finding>, HashSet<Same>) {
    let releases = all.len();
    let mut seen: Vec<(Finding, Vec<Release>)> = Vec::new();
    let mut index = HashMap::new();
    for (release, findings) in all {
        for finding in findings {
            let at = *index.entry(same(&finding)).or_insert(seen.len());
            match seen.get_mut(at) {
                Some((first, of)) => {
                    of.push(release);
                    // A fix to a native object is offered for every release or for none.
                    if first.rule.family == Family::Native && first.fix != finding.fix {
                        first.fix = None;
                    }
                }
                None => seen.push((finding, vec![release])),
            }
        }
    }
    let (mut merged, mut partial) = (Findings::default(), HashSet::new());
    for (mut finding, of) in seen {
        if of.len() < releases {
            partial.insert(same(&finding));
            finding.fix = finding.fix.filter(|_| finding.rule.family != Family::Native);
            let names: Vec<String> = of.iter().map(|one| format!("{}.{}", one.major, one.minor)).collect();
            finding.notes.push(format!("with Istio {}", names.join(", ")));
        }
        merged.push(finding);
    }
    (merged.sorted(), partial)
}
