//! An audit in every format: for people, for a change ticket, as a page, as a patch. SARIF, JUnit and the formats of CI systems
//! are those of lint.

mod html;
mod human;
mod markdown;
mod marks;
mod matrix;

pub(crate) use html::html;
pub(crate) use human::{diff, text};
pub(crate) use markdown::markdown;

use crate::audit::view::{Audit, During, Filter, Finding, Gets, Place, RollOut, Verdict};
use crate::lint::upgrade::tell::Class;
use crate::mesh::Scope;
use crate::model::release::Release;
use crate::report::scope::{no_filter, where_it_holds};
use crate::words::count;
use std::collections::{BTreeMap, BTreeSet};

/// The number of filters in each class, in words: `3 break, 1 changes, 4 are ready`. Every filter is counted once.
fn tally(audit: &Audit) -> Vec<(Option<Class>, String)> {
    let counts = &audit.counts;
    let word = |number: usize, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
    let all = [
        (Some(Class::Breaks), counts.breaks, word(counts.breaks, "breaks", "break")),
        (Some(Class::Changes), counts.changes, word(counts.changes, "changes", "change")),
        (Some(Class::Deprecated), counts.deprecated, word(counts.deprecated, "is deprecated", "are deprecated")),
        (Some(Class::Cleanup), counts.cleanup, word(counts.cleanup, "can be cleaned up", "can be cleaned up")),
        (None, counts.ready, word(counts.ready, "is ready", "are ready")),
        (
            Some(Class::Breaks),
            counts.lost_to_panics,
            word(counts.lost_to_panics, "loses its effect to a panic", "lose their effect to a panic"),
        ),
        (
            Some(Class::Deprecated),
            counts.broken_today,
            word(counts.broken_today, "is broken today already", "are broken today already"),
        ),
    ];
    all.into_iter().filter(|(_, number, _)| *number > 0).map(|(class, _, text)| (class, text)).collect()
}

/// Whether there is nothing to judge and it is not known why: a file without EnvoyFilters, or a list that was not read.
fn judged_nothing(audit: &Audit) -> bool {
    audit.counts.filters == 0 && audit.verdict == Verdict::NotReady
}

/// The verdict, in words.
fn verdict_words(audit: &Audit) -> &'static str {
    if judged_nothing(audit) { "nothing could be judged" } else { audit.verdict.words() }
}

/// The basis of the verdict, in a sentence.
fn verdict_sentence(audit: &Audit, scope: &Scope) -> String {
    let place = where_it_holds(scope);
    if judged_nothing(audit) && !scope.is_empty() {
        return format!("no EnvoyFilter was read{place}");
    }
    if audit.counts.filters == 0 {
        return no_filter(scope);
    }
    let filters = if audit.counts.filters == 1 { "filter" } else { "filters" };
    let tally: Vec<String> = tally(audit).into_iter().map(|(_, text)| text).collect();
    format!("of {} {filters}{place} {}{}", audit.counts.filters, tally.join(", "), also_broken(audit))
}

/// The end of the sentence: the filters with findings that do not work before the upgrade either.
fn also_broken(audit: &Audit) -> String {
    let counts = &audit.counts;
    let others = counts.filters - counts.ready - counts.broken_today;
    let (also, are) = match counts.also_broken_today {
        0 => return String::new(),
        1 => (1, "is"),
        many => (many, "are"),
    };
    match others {
        1 => "; the one with findings is broken today already".to_owned(),
        _ if others == also => format!("; the {others} with findings are broken today already"),
        _ => format!("; of the {others} with findings {also} {are} broken today already"),
    }
}

/// What to do about the verdict.
fn advice(audit: &Audit, scope: &Scope) -> &'static str {
    let rewritten = audit.filters.iter().any(|filter| filter.rewritten.is_some());
    match audit.verdict {
        Verdict::ReadyAfterChanges if !rewritten => {
            "Check or rewrite what each finding names; then no filter blocks this upgrade."
        }
        Verdict::Ready if audit.to.parse::<Release>().is_ok_and(|to| to.minor > Release::NEWEST.minor) => {
            "No filter is known to block this upgrade, but the release is newer than all known ones: much of this is a guess."
        }
        Verdict::Ready if scope.namespaces.is_none() => "No filter blocks this upgrade.",
        Verdict::Ready if audit.counts.filters == 0 => "Filters of other namespaces were not judged.",
        Verdict::Ready => "None of them blocks this upgrade; filters of other namespaces were not judged.",
        Verdict::ReadyAfterChanges => {
            "Apply the rewritten filters (`-o diff`) and review what changes; then no filter blocks this upgrade."
        }
        Verdict::NotReady if audit.counts.breaks == 0 => {
            "Some input could not be read, so nothing is known about it: fix that, and audit again."
        }
        Verdict::NotReady => "Some filters break and must be rewritten by hand: see what each finding says to write.",
    }
}

/// The steps of a finding: `at 1.26 → 1.27`; empty when the path has one step.
fn steps(audit: &Audit, finding: &Finding) -> String {
    if audit.path.len() <= 2 || finding.steps.is_empty() {
        return String::new();
    }
    let steps: Vec<String> = finding.steps.iter().map(|step| format!("{} → {}", step.from, step.to)).collect();
    match steps.as_slice() {
        [first, _, _, ..] => format!("first at {first}"),
        _ => format!("at {}", steps.join(", ")),
    }
}

/// The name of a class; `ready` for none.
fn class_name(class: Option<Class>) -> &'static str {
    class.map_or("ready", Class::as_str)
}

/// What a filter is called: what the upgrade does to it, or that it does not work today either.
fn state_name(filter: &Filter) -> &'static str {
    match filter.verdict {
        None if !filter.today.is_empty() => BROKEN,
        verdict => class_name(verdict),
    }
}

/// A filter that the upgrade leaves alone and that does not work today.
const BROKEN: &str = "broken";

/// Where the proxies of a group are: `stable (1.24.6), proxies 1.24.1`.
fn places(during: &During) -> String {
    let word = |place: &Place| {
        let istiod = if place.istiod.is_empty() { String::new() } else { format!(" ({})", place.istiod) };
        let proxies = if place.proxies.is_empty() { String::new() } else { format!(", proxies {}", place.proxies) };
        let count = if during.places.len() > 1 { format!("{} on ", place.count) } else { String::new() };
        format!("{count}{}{istiod}{proxies}", place.revision)
    };
    let all: Vec<String> = during.places.iter().map(word).collect();
    all.join("; ")
}

/// The effects on a group, in short: `5`, or `5, −1 ~2` if some are lost or rejected, or changed.
fn gets(gets: &Gets) -> String {
    let mut text = gets.effective.to_string();
    let gone: BTreeSet<&String> = gets.lost.iter().chain(&gets.refused).collect();
    for (sign, number) in [("−", gone.len()), ("~", gets.changed.len())] {
        if number > 0 {
            text = format!("{text} {sign}{number}");
        }
    }
    text
}

/// The groups worth listing during the rollout: affected ones, and those whose location is known.
fn worth_telling(audit: &Audit) -> Vec<&During> {
    let touched = |one: &Gets| !one.lost.is_empty() || !one.changed.is_empty() || !one.refused.is_empty();
    let mut all: Vec<&During> =
        audit.during.iter().filter(|one| !one.places.is_empty() || one.gets.iter().any(touched)).collect();
    all.sort_by_key(|one| !one.gets.iter().any(touched));
    all
}

/// The label of a combination: `istiod 1.31, proxies 1.24`.
fn combination(row: &RollOut) -> String {
    format!("istiod {}, proxies {}", row.istiod, row.proxies)
}

/// What each release was judged on, in a sentence; `None` if it was the dumps for all.
pub(super) fn bases(audit: &Audit) -> Option<String> {
    let sentences = audit.bases.iter().map(|basis| match (basis.source, &basis.istiod) {
        ("computed", Some(version)) => {
            format!("Istio {}: computed by istiod {version} for these objects", basis.release)
        }
        ("dumps", _) => format!("Istio {}: what the proxies have", basis.release),
        _ => format!("Istio {}: a forecast", basis.release),
    });
    let sentences: Vec<String> = sentences.collect();
    (!sentences.is_empty()).then(|| sentences.join("; "))
}

/// Changes that are independent of EnvoyFilters, in lines: proxies with equal changes are grouped.
pub(super) fn all_changes(audit: &Audit) -> Vec<String> {
    let Some(changes) = &audit.all_changes else { return Vec::new() };
    let mut by_change: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
    for one in changes {
        by_change.entry((one.kind, &one.name, one.change)).or_default().push(&one.proxy);
    }
    if by_change.is_empty() {
        return vec!["nothing changes without an EnvoyFilter".to_owned()];
    }
    let head = format!("{} without any EnvoyFilter:", count(by_change.len(), "resource changes", "resources change"));
    let lines = by_change.into_iter().map(|((kind, name, change), proxies)| {
        let others = proxies.len().saturating_sub(1);
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        format!("{kind} {name} is {change} on {}{more}", proxies.first().unwrap_or(&""))
    });
    std::iter::once(head).chain(lines).collect()
}
