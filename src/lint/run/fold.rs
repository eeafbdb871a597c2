//! One finding for each cause: a finding that another one of the same patch explains is dropped.

use crate::lint::finding::{Finding, Findings, Idle};
use crate::lint::rule::{Need, RuleInfo};
use crate::source::{FileId, Severity, Span};
use crate::words::few;
use std::collections::{HashMap, HashSet};

/// Code, filter and patch of a finding.
type Key = (&'static str, String, Option<usize>);

/// What decides whether a finding explains others, and which ones explain it.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// The rule.
    pub(crate) rule: &'static RuleInfo,
    /// `namespace/name` of the filter.
    pub(crate) filter: String,
    patch: Option<usize>,
    place: Place,
    ineffective: bool,
    /// Patches for which it holds, if these are several.
    idle: Vec<Idle>,
}

impl Claim {
    /// That of a finding.
    pub(crate) fn of(one: &Finding) -> Claim {
        let (rule, filter, idle) = (one.rule, one.filter.clone(), one.idle.clone());
        Claim { rule, filter, patch: one.patch, place: Place::of(one), ineffective: one.ineffective, idle }
    }

    /// The place.
    pub(crate) fn span(&self) -> Span {
        self.place.span
    }

    /// Whether it holds for all targets of the filter, or for those of a patch.
    fn whole(&self) -> bool {
        self.patch.is_some() || self.ineffective
    }
}

/// Where a finding is.
#[derive(Clone, Copy, Debug)]
struct Place {
    span: Span,
    line: Option<Span>,
}

impl Place {
    fn of(one: &Finding) -> Place {
        Place { span: one.primary.span, line: one.line }
    }

    /// Whether two findings can have one cause: if one of them is about a line, the other must be there, too.
    fn meets(self, other: Place) -> bool {
        let within =
            |inner: Span, outer: Span| inner.file == outer.file && outer.start <= inner.start && inner.end <= outer.end;
        self.line.is_none_or(|line| within(other.span, line)) && other.line.is_none_or(|line| within(self.span, line))
    }
}

/// What findings explain: by filter, by code and patch, where they are and whether they hold for all targets. A finding
/// without a patch is about all of them.
pub(crate) struct Causes(HashMap<String, Explained>);

type Explained = HashMap<(&'static str, Option<usize>), Vec<(Place, bool)>>;

impl Causes {
    /// What these explain.
    pub(crate) fn of<'c>(all: impl IntoIterator<Item = &'c Claim>) -> Causes {
        let mut explained: HashMap<String, Explained> = HashMap::new();
        for one in all.into_iter().filter(|one| !one.filter.is_empty()) {
            for code in one.rule.explains {
                if one.idle.is_empty() {
                    let of_filter = explained.entry(one.filter.clone()).or_default();
                    of_filter.entry((*code, one.patch)).or_default().push((one.place, one.whole()));
                }
                for Idle { filter, patch, span } in &one.idle {
                    let place = Place { span: *span, line: Some(*span) };
                    let of_filter = explained.entry(filter.clone()).or_default();
                    of_filter.entry((*code, *patch)).or_default().push((place, true));
                }
            }
        }
        Causes(explained)
    }

    /// Whether one of them explains a finding. What holds for a part of a filter's targets explains only what is said
    /// of the same place.
    pub(crate) fn explain(&self, one: &Claim) -> bool {
        let Some(of_filter) = self.0.get(&one.filter) else { return false };
        let by = |patch| {
            let found = of_filter.get(&(one.rule.code, patch));
            let fits = |(place, whole): &(Place, bool)| one.place.meets(*place) && (*whole || one.place.line.is_some());
            found.is_some_and(|places| places.iter().any(fits))
        };
        by(one.patch) || by(None)
    }
}

/// Drops findings that other findings explain.
pub(in crate::lint) fn fold(findings: &mut Findings) {
    let claims: Vec<Claim> =
        findings.iter_mut().filter(|one| !one.rule.explains.is_empty()).map(|one| Claim::of(one)).collect();
    let causes = Causes::of(&claims);
    if !causes.0.is_empty() {
        let is_explained = |one: &Finding| causes.explain(&Claim::of(one));
        // The explaining finding then says that the patch has no effect, what else is said of its place and, if it is about
        // a line, what to write instead and what is worse.
        let mut gone: HashMap<Key, Vec<Finding>> = HashMap::new();
        for one in findings.iter_mut().filter(|one| is_explained(one)) {
            let all = gone.entry((one.rule.code, one.filter.clone(), one.patch)).or_default();
            all.push(one.clone());
        }
        for one in findings.iter_mut().filter(|one| !one.rule.explains.is_empty()) {
            let own = Place::of(one);
            let all = one.rule.explains.iter().filter_map(|code| gone.get(&(*code, one.filter.clone(), one.patch)));
            let here: Vec<_> = all.flatten().filter(|gone| own.meets(Place::of(gone))).collect();
            one.ineffective |= here.iter().any(|gone| gone.ineffective);
            if own.line.is_none() {
                one.notes.extend(here.iter().filter(|gone| gone.line.is_some()).map(|gone| gone.message.clone()));
                continue;
            }
            if let Some(better) = here.iter().find(|gone| gone.help.is_some()) {
                one.help.clone_from(&better.help);
                one.snippet = better.snippet;
            }
            if let Some(worse) = here.iter().find(|gone| gone.severity > one.severity) {
                one.severity = worse.severity;
                one.rejected |= worse.rejected;
                one.notes.push(worse.message.clone());
                one.notes.extend(worse.notes.first().cloned());
            }
        }
        findings.retain(|one| !is_explained(one));
    }
    orders(findings);
    refusals(findings);
    repeats(findings);
}

/// What several patches of a file miss, with the same remedy, is one mistake: the first reports it and names the others,
/// which become infos.
fn repeats(findings: &mut Findings) {
    /// Maximum number of patches that are named.
    const SHOWN: usize = 4;
    type Same = (&'static str, FileId, String, Option<String>);
    let missed = |one: &Finding| one.misses && one.patch.is_some() && one.severity > Severity::Info;
    let same =
        |one: &Finding| -> Same { (one.rule.code, one.primary.span.file, one.message.clone(), one.help.clone()) };
    let mut groups: HashMap<Same, Vec<(u32, String, usize)>> = HashMap::new();
    for one in findings.iter_mut().filter(|one| missed(one)) {
        let Some(patch) = one.patch else { continue };
        groups.entry(same(one)).or_default().push((one.primary.span.start, one.filter.clone(), patch));
    }
    for patches in groups.values_mut() {
        patches.sort();
        patches.dedup();
    }
    groups.retain(|_, patches| patches.len() > 1);
    if groups.is_empty() {
        return;
    }
    for one in findings.iter_mut().filter(|one| missed(one)) {
        let Some([first, others @ ..]) = groups.get(&same(one)).map(Vec::as_slice) else { continue };
        let own = (&one.filter, one.patch);
        let name = |(_, filter, patch): &(u32, String, usize)| {
            let of = if *own.0 == *filter { String::new() } else { format!(" of {filter}") };
            format!("configPatches[{patch}]{of}")
        };
        if own == (&first.1, Some(first.2)) {
            let here = if others.iter().all(|other| other.1 == first.1) { " of this EnvoyFilter" } else { "" };
            let names = few(others.iter().map(name), others.len(), SHOWN);
            let verb = if others.len() == 1 { "has" } else { "have" };
            one.notes.push(format!("{names}{here} {verb} the same mistake"));
        } else {
            one.follows = one.severity == Severity::Error;
            one.severity = Severity::Info;
            one.notes.push(format!("the same mistake as in {}", name(first)));
        }
    }
}

/// Of findings about the order of the same two EnvoyFilters, those that another one explains are dropped.
fn orders(findings: &mut Findings) {
    let pairs = |one: &Finding| -> Vec<[String; 2]> {
        let pair = |other: &String| {
            let mut pair = [one.filter.clone(), other.clone()];
            pair.sort();
            pair
        };
        one.beside.iter().map(pair).collect()
    };
    let mut explained: HashMap<(&str, [String; 2]), Severity> = HashMap::new();
    for one in findings.iter_mut().filter(|one| !one.beside.is_empty()) {
        for code in one.rule.explains {
            for pair in pairs(one) {
                let severity = explained.entry((code, pair)).or_insert(one.severity);
                *severity = one.severity.max(*severity);
            }
        }
    }
    if explained.is_empty() {
        return;
    }
    findings.retain(|one| {
        let pairs = pairs(one);
        let by = |pair: [String; 2]| explained.get(&(one.rule.code, pair)).is_some_and(|by| *by >= one.severity);
        pairs.is_empty() || !pairs.into_iter().all(by)
    });
}

/// Whether it is a real Envoy's verdict on the configuration.
fn asks_envoy(one: &Finding) -> bool {
    one.rule.needs.contains(&Need::Envoy)
}

/// If a rule knows why the resource is rejected, Envoy's message becomes a note there.
fn refusals(findings: &mut Findings) {
    let key = |one: &Finding| (one.filter.clone(), one.patch);
    let mut said: HashMap<(String, Option<usize>), Vec<String>> = HashMap::new();
    for one in findings.iter_mut().filter(|one| asks_envoy(one) && one.patch.is_some()) {
        said.entry(key(one)).or_default().extend(std::iter::once(&one.message).chain(&one.notes).cloned());
    }
    if said.is_empty() {
        return;
    }
    // Words that a rule expects say more than that another one expects some rejection.
    let recognizes = |one: &Finding, said: &[String]| {
        one.to_blame.is_some_and(|words| !words.is_empty() && said.iter().any(|said| said.contains(words)))
    };
    let knows = |one: &Finding, _: &[String]| one.rejected && !one.ineffective;
    let guesses = |one: &Finding, _: &[String]| one.to_blame.is_some();
    let mut noted = HashSet::new();
    for explains in [recognizes, knows, guesses] {
        for one in findings.iter_mut().filter(|one| one.severity > Severity::Info && !asks_envoy(one)) {
            let words = said.get(&key(one)).filter(|words| explains(one, words));
            if let Some(words) = words.filter(|_| noted.insert(key(one))) {
                one.severity = Severity::Error;
                one.notes.extend(words.iter().cloned());
            }
        }
    }
    findings.retain(|one| !asks_envoy(one) || !noted.contains(&key(one)));
}
