//! A real Envoy's verdict on the runs, for the rule that reports it.

use crate::lint::facts::context::{Context, Knowledge, ProxyRun, Trials};
use crate::lint::facts::names::{count, listed};
use crate::model::envoy_filter::EnvoyFilter;
use crate::trial::{Subject, Trial, Tried, Trouble, ask};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A sentence that Envoy rejects resources because of a patch.
pub(crate) fn refusal(envoy: &str, resources: &BTreeSet<String>) -> String {
    let first = resources.first().map_or("", String::as_str);
    match resources.len() {
        1 => format!("{envoy} rejects {first} with this patch in it"),
        number => format!("{envoy} rejects {number} resources with this patch in them, {first} first"),
    }
}

/// Asks Envoy about every run; shared runs are asked about once.
pub(super) fn all(trial: &Trial, runs: &[ProxyRun<'_>]) -> Trials {
    let mut trials = Trials { envoy: trial.name(), runs: Vec::new(), trouble: None, ends: Vec::new() };
    trials.trouble = every(trial, runs, &mut trials.runs).err();
    trials.ends = trial.take_ends();
    trials
}

fn every(trial: &Trial, runs: &[ProxyRun<'_>], answers: &mut Vec<Arc<Tried>>) -> Result<(), Trouble> {
    let mut known: BTreeMap<usize, Arc<Tried>> = BTreeMap::new();
    for run in runs {
        let key = Arc::as_ptr(&run.judged).addr();
        let subject = Subject {
            plan: run.plan,
            config: run.config,
            options: &crate::study::OPTIONS,
            patched: &run.judged.patched,
            trace: &run.judged.trace,
            complete: run.knowledge == Knowledge::Dump,
        };
        let tried = match known.get(&key) {
            Some(tried) => Arc::clone(tried),
            None => Arc::new(ask(trial, &subject)?),
        };
        known.insert(key, Arc::clone(&tried));
        answers.push(tried);
    }
    Ok(())
}

/// A sentence that an Envoy ended where a new one did not.
fn unexplained(envoy: &str, end: &str) -> String {
    format!(
        "{envoy} ended while it was given one resource after another, and did not end when it was started again with the last \
         of them; which of them ends it is unknown: {end}"
    )
}

impl Trials {
    /// What could not be checked, as sentences.
    pub(crate) fn unknown(&self, cx: &Context<'_>) -> Vec<String> {
        let mut foreign: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let mut before: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        let mut unasked: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for (tried, run) in self.runs.iter().zip(&cx.runs) {
            for (name, patch) in &tried.foreign {
                let planned = run.plan.get(*patch);
                let filter = cx.filters.get(planned.filter).map(EnvoyFilter::full_name).unwrap_or_default();
                foreign.entry(name).or_default().insert(format!("{filter} patch {}", planned.built.patch.index));
            }
            for (kind, name, words) in &tried.before {
                before.entry(format!("{} {name}", kind.as_str())).or_default().insert(words);
            }
            for (kind, name, why) in &tried.unasked {
                unasked.entry(format!("{} {name}", kind.as_str())).or_default().insert(why);
            }
        }
        let envoy = &self.envoy;
        let foreign = foreign.iter().map(|(name, by)| {
            let by = listed(by.iter().map(String::as_str), 3);
            format!("{envoy} is not Istio's build and does not know {name}: not checked for {by}")
        });
        let before = before.iter().map(|(name, words)| {
            let words = listed(words.iter().copied(), 1);
            format!("{envoy} rejects {name} without any filter, so what filters do there is not checked: {words}")
        });
        let unasked = unasked
            .iter()
            .map(|(name, why)| format!("{name} was not given to {envoy}: {}", listed(why.iter().copied(), 1)));
        let ends = self.ends.iter().map(|end| unexplained(envoy, end));
        foreign.chain(before).chain(unasked).chain(ends).collect()
    }
}

/// What the run with Envoy checked, for verbose output.
pub(crate) fn story(trial: &Trial) -> String {
    let asked = count(trial.asked(), "resource", "resources");
    let changed: Vec<String> = trial.neutralised().iter().map(|(what, number)| format!("{what} ({number})")).collect();
    let changed = if changed.is_empty() { "nothing".to_owned() } else { changed.join("; ") };
    let mut story = format!("{} was given {asked}; changed in them: {changed}", trial.name());
    for end in trial.take_ends() {
        story += "; ";
        story += &unexplained(&trial.name(), &end);
    }
    story
}
