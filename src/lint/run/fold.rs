//! One finding for each cause: a finding that another one of the same patch explains is dropped.

use crate::lint::finding::{Finding, Findings};
use crate::lint::rule::{Family, Need};
use crate::source::Severity;
use std::collections::{HashMap, HashSet};

/// Drops findings that other findings explain.
pub(in crate::lint) fn fold(findings: &mut Findings) {
    // By code, filter and patch; a finding without a patch is about all of them.
    let mut explained: HashSet<(&str, String, Option<usize>)> = HashSet::new();
    for one in findings.iter_mut().filter(|one| !one.filter.is_empty()) {
        explained.extend(one.rule.explains.iter().map(|code| (*code, one.filter.clone(), one.patch)));
    }
    if !explained.is_empty() {
        let is_explained = |one: &Finding| {
            let by = |patch| explained.contains(&(one.rule.code, one.filter.clone(), patch));
            by(one.patch) || by(None)
        };
        // The explaining finding then says that the patch has no effect.
        let mut idle: HashSet<(&str, String, Option<usize>)> = HashSet::new();
        for one in findings.iter_mut().filter(|one| one.ineffective && is_explained(one)) {
            idle.insert((one.rule.code, one.filter.clone(), one.patch));
        }
        for one in findings.iter_mut().filter(|one| !one.rule.explains.is_empty()) {
            let of = |code: &&str| idle.contains(&(*code, one.filter.clone(), one.patch));
            one.ineffective |= one.rule.explains.iter().any(of);
        }
        findings.retain(|one| !is_explained(one));
    }
    refusals(findings);
}

/// Whether it is a real Envoy's verdict on the configuration.
fn asks_envoy(one: &Finding) -> bool {
    one.rule.needs.contains(&Need::Envoy)
}

/// If a rule knows why a value is rejected, Envoy's message becomes a note there.
fn refusals(findings: &mut Findings) {
    let key = |one: &Finding| (one.filter.clone(), one.patch);
    let mut said: HashMap<(String, Option<usize>), Vec<String>> = HashMap::new();
    for one in findings.iter_mut().filter(|one| asks_envoy(one) && one.patch.is_some()) {
        said.entry(key(one)).or_default().extend(std::iter::once(&one.message).chain(&one.notes).cloned());
    }
    if said.is_empty() {
        return;
    }
    let knows = |one: &Finding| {
        one.rule.family == Family::Value
            && !asks_envoy(one)
            && one.severity == Severity::Error
            && !one.ineffective
            && one.rejected
    };
    let mut noted = HashSet::new();
    for one in findings.iter_mut().filter(|one| knows(one)) {
        if let Some(words) = said.get(&key(one)).filter(|_| noted.insert(key(one))) {
            one.notes.extend(words.iter().cloned());
        }
    }
    findings.retain(|one| !asks_envoy(one) || !noted.contains(&key(one)));
}
