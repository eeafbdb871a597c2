//! From input to what is reported: rules, the linter's own rules, suppressions, the configuration.

use super::config::Config;
use super::context::Context;
use super::finding::{Edit, Finding, Findings};
use super::rule::Rule;
use super::run::{Input, REMAINDER, inspect_with, lint};
use super::suppress::{self, Form, Suppression};
use crate::model::release::Release;
use crate::source::{Sources, Span};
use crate::trial::Trial;
use std::collections::HashMap;

/// Name of the rule for suppressions that suppress nothing; its findings are made here, after all other rules.
const UNUSED: &str = "unused-suppression";

/// Theme of the rules about suppressions and configurations.
const LINTER: &str = "linter";

/// What came out.
#[derive(Debug, Default)]
pub struct Checked<T> {
    /// What is reported, sorted by place.
    pub findings: Vec<Finding>,
    /// How many findings were suppressed.
    pub suppressed: usize,
    /// What `look` saw.
    pub seen: T,
}

/// Lints under a configuration. `rules` are all rules; `path` gives a file's path as the configuration's patterns count
/// it; `look` may look at the runs before they go.
pub fn check<T>(
    input: &Input<'_>,
    rules: &[&'static Rule],
    config: &Config,
    path: impl Fn(&str) -> String,
    look: impl FnOnce(&Context<'_>) -> T,
) -> Checked<T> {
    check_with(input, None, rules, config, path, look)
}

/// The same with an Envoy that is asked about what the filters make.
pub fn check_with<T>(
    input: &Input<'_>,
    trial: Option<&Trial>,
    rules: &[&'static Rule],
    config: &Config,
    path: impl Fn(&str) -> String,
    look: impl FnOnce(&Context<'_>) -> T,
) -> Checked<T> {
    let run: Vec<&'static Rule> = rules.iter().copied().filter(|rule| config.runs(rule)).collect();
    // The rule for what no other says has to know what the others say, whether that is reported or not.
    let remainder = run.iter().any(|rule| rule.name == REMAINDER) && !input.dumps.is_empty();
    let (mut found, seen) = inspect_with(input, trial, if remainder { rules } else { &run }, look);
    found.retain(|finding| run.contains(&finding.rule));
    let suppressions = suppress::read(input.sources, &input.inventory.envoy_filters);
    let outcome = suppress::apply(found, &suppressions);
    let mut findings = Findings::default();
    outcome.kept.into_iter().for_each(|finding| findings.push(finding));
    if let Some(rule) = run.iter().copied().find(|rule| rule.name == UNUSED) {
        for (one, used) in suppressions.iter().zip(&outcome.used) {
            unused(rule, one, used, &run, input, &mut findings);
        }
    }
    let judged = findings.sorted().into_iter().filter_map(|finding| {
        let name = &input.sources.get(finding.primary.span.file).name;
        let path = if config.overrides.is_empty() { String::new() } else { path(name) };
        config.judge(finding, &path)
    });
    Checked { findings: judged.collect(), suppressed: outcome.suppressed.len(), seen }
}

/// The findings of one of all rules. What the linter says about itself, and what is said of patches that no rule has said
/// anything about, depends on what the others find.
pub fn only(input: &Input<'_>, all: &[&'static Rule], rule: &'static Rule) -> Vec<Finding> {
    only_with(input, None, all, rule)
}

/// The same with an Envoy that is asked about what the filters make.
pub fn only_with(input: &Input<'_>, trial: Option<&Trial>, all: &[&'static Rule], rule: &'static Rule) -> Vec<Finding> {
    let mut found = if rule.theme() == LINTER {
        check(input, all, &Config::default(), str::to_owned, |_| ()).findings
    } else if rule.name == REMAINDER {
        lint(input, all)
    } else {
        return inspect_with(input, trial, &[rule], |_| ()).0;
    };
    found.retain(|one| one.rule == rule);
    found
}

/// Says which rules of a suppression suppress nothing. Rules that did not run, and rules that need more than was given,
/// say nothing about that.
fn unused(
    rule: &'static Rule,
    one: &Suppression,
    used: &[usize],
    run: &[&'static Rule],
    input: &Input<'_>,
    out: &mut Findings,
) {
    if one.form == Form::Istioctl {
        return;
    }
    let judged =
        |code: &str| !input.dumps.is_empty() || !matches!(code.as_bytes().get(2), Some(b'2' | b'4' | b'6' | b'8'));
    let superfluous: Vec<_> = one
        .rules
        .iter()
        .zip(used)
        .filter(|(named, used)| **used == 0 && run.iter().any(|rule| named.means(rule) && judged(rule.code)))
        .map(|(named, _)| named)
        .collect();
    for named in &superfluous {
        let mut finding =
            Finding::new(rule, named.span, format!("the suppression of {} suppresses nothing", named.word))
                .label("no finding of this rule is here")
                .help("remove it");
        if superfluous.len() == one.rules.len() && one.form != Form::Annotation {
            let span = whole(one, input.sources);
            finding = finding.fix("remove the comment", true, vec![Edit { span, text: String::new() }]);
        }
        out.push(finding);
    }
}

/// What is removed with a comment: the blanks before it, or its line.
fn whole(one: &Suppression, sources: &Sources) -> Span {
    let text = &sources.get(one.span.file).text;
    let before = text.get(..one.span.start as usize).unwrap_or_default();
    let blank = before.len() - before.trim_end_matches([' ', '\t']).len();
    let start = one.span.start - u32::try_from(blank).unwrap_or_default();
    let after = text.get(one.span.end as usize..).unwrap_or_default();
    let newline = after.find('\n').and_then(|at| u32::try_from(at + 1).ok()).unwrap_or_default();
    let end = if one.form == Form::OwnLine { one.span.end + newline } else { one.span.end };
    Span { start, end, ..one.span }
}

/// Findings of several releases as one list: what all of them have, once; the others with the releases they are about.
pub fn merged(all: Vec<(Release, Vec<Finding>)>) -> Vec<Finding> {
    let releases = all.len();
    let mut seen: Vec<(Finding, Vec<Release>)> = Vec::new();
    let mut index = HashMap::new();
    for (release, findings) in all {
        for finding in findings {
            let key = (finding.rule.code, finding.primary.span, finding.message.clone());
            let at = *index.entry(key).or_insert(seen.len());
            match seen.get_mut(at) {
                Some((_, of)) => of.push(release),
                None => seen.push((finding, vec![release])),
            }
        }
    }
    let mut merged = Findings::default();
    for (mut finding, of) in seen {
        if of.len() < releases {
            let names: Vec<String> = of.iter().map(|one| format!("{}.{}", one.major, one.minor)).collect();
            finding.notes.push(format!("with Istio {}", names.join(", ")));
        }
        merged.push(finding);
    }
    merged.sorted()
}
