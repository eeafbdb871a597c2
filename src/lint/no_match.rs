//! Patches that match nothing on any proxy they reach: how near they came, and what is there instead.

use super::context::{Context, Knowledge, PatchView, ProxyRun};
use super::finding::{Confidence, Finding};
use super::names::{count, listed_or, nearest};
use super::rule::Rule;
use crate::engine::trace::Condition;
use crate::engine::{Outcome, PatchId};
use crate::source::Span;
use std::collections::BTreeSet;

/// A patch that matches nothing where it looked.
pub struct NoMatch<'c, 'a> {
    /// The patch.
    pub view: PatchView<'a>,
    /// The condition that was reached furthest; `None`: there was no object of its kind to look at.
    pub nearest: Option<Condition>,
    /// What the objects that came so far have there.
    pub candidates: BTreeSet<String>,
    /// How many objects came so far.
    pub objects: usize,
    /// The proxies it was looked for on.
    pub runs: Vec<&'c ProxyRun<'a>>,
    /// Certain when those are real proxies.
    pub confidence: Confidence,
}

/// What each patch met, over all runs.
#[derive(Default)]
struct Met {
    on_dump: Vec<(usize, PatchId)>,
    on_reference: Vec<(usize, PatchId)>,
    matched: bool,
}

/// Every patch that was looked for and matched nothing on any proxy. Where config dumps are given, only they count.
pub fn all<'c, 'a>(cx: &'c Context<'a>) -> Vec<NoMatch<'c, 'a>> {
    let mut first = Vec::with_capacity(cx.filters.len());
    let mut total = 0;
    for filter in cx.filters {
        first.push(total);
        total += filter.patches.len();
    }
    let mut met: Vec<Met> = Vec::new();
    met.resize_with(total, Met::default);
    for (index, run) in cx.runs.iter().enumerate() {
        for id in run.plan.ids() {
            let planned = run.plan.get(id);
            let slot = &mut met[first[planned.filter] + planned.built.patch.index];
            if run.doubtful(id) {
                slot.matched = true;
            } else if run.judged.trace.patches[id.index()].effects.is_empty() {
                match run.judged.outcome(run.plan, id) {
                    Outcome::Aborted => slot.matched = true,
                    Outcome::NoMatch if run.knowledge == Knowledge::Dump => slot.on_dump.push((index, id)),
                    Outcome::NoMatch => slot.on_reference.push((index, id)),
                    _ => {}
                }
            } else {
                slot.matched = true;
            }
        }
    }
    let looked = cx.patches().zip(met).filter(|(_, met)| !met.matched);
    looked.filter_map(|(view, met)| gather(cx, view, &met)).collect()
}

/// Those whose nearest condition is one of these. On a reference configuration only filters' names mean anything.
pub fn at<'c, 'a>(cx: &'c Context<'a>, conditions: &[Condition]) -> Vec<NoMatch<'c, 'a>> {
    let mut found = all(cx);
    found.retain(|one| one.nearest.is_some_and(|nearest| conditions.contains(&nearest)));
    found
}

fn gather<'c, 'a>(cx: &'c Context<'a>, view: PatchView<'a>, met: &Met) -> Option<NoMatch<'c, 'a>> {
    let (looked, confidence) = match (met.on_dump.is_empty(), met.on_reference.is_empty()) {
        (false, _) => (&met.on_dump, Confidence::Certain),
        (true, false) => (&met.on_reference, Confidence::Likely),
        (true, true) => return None,
    };
    let traces = || looked.iter().map(|&(run, id)| &cx.runs[run].judged.trace.patches[id.index()]);
    let nearest = traces().filter_map(|trace| trace.nearest).max();
    if confidence == Confidence::Likely {
        let told =
            [Condition::Filter, Condition::SubFilter, Condition::ListenerFilter, Condition::HttpConnectionManager];
        // What a user's mesh holds beside the filters' names is not known; which versions run neither.
        if !nearest.is_some_and(|nearest| told.contains(&nearest)) || !meant_for_release(cx, &view) {
            return None;
        }
    }
    let near = || traces().filter(|trace| trace.nearest == nearest);
    Some(NoMatch {
        view,
        nearest,
        candidates: near().flat_map(|trace| trace.candidates.iter().cloned()).collect(),
        objects: nearest.map_or(0, |nearest| near().filter_map(|trace| trace.misses.get(&nearest)).sum()),
        runs: looked.iter().map(|&(run, _)| &cx.runs[run]).collect(),
        confidence,
    })
}

/// Whether `proxyVersion` is absent or fits a proxy of the control plane's own release.
fn meant_for_release(cx: &Context<'_>, view: &PatchView<'_>) -> bool {
    let version = view.patch.proxy.as_ref().map(|proxy| proxy.version.as_str()).unwrap_or_default();
    version.is_empty() || super::versions::newest_fitting(version, cx.release.minor) == Some(cx.release.minor)
}

impl NoMatch<'_, '_> {
    /// The place of the value that the nearest condition asks for; of its key where the value is a mapping.
    pub fn span(&self) -> Span {
        let mut route = vec!["match"];
        route.extend(self.nearest.map_or(&[][..], Condition::route));
        if self.view.node(&route).is_some_and(|node| node.entries().is_empty()) {
            self.view.value_span(&route)
        } else {
            self.view.key_span(&route)
        }
    }

    /// A finding at that place, with the proxies that were looked at and what they have there. `what` names one of the
    /// things that were compared: "listener", "virtual host".
    pub fn finding(&self, rule: &'static Rule, what: &str, message: impl Into<String>) -> Finding {
        let finding = Finding::new(rule, self.span(), message)
            .of(self.view.filter, Some(self.view.patch.index))
            .confidence(self.confidence)
            .label("the match fails here")
            .ineffective();
        match self.confidence {
            Confidence::Certain => {
                let proxies = count(self.runs.len(), "proxy", "proxies");
                let among: Vec<&str> = self.candidates.iter().map(String::as_str).collect();
                let have = if among.is_empty() { "nothing".to_owned() } else { listed_or(among, 8, self.absent()) };
                let looked = count(self.objects, what, &format!("{what}s"));
                let have = format!("{} {have}", if self.objects == 1 { "it has" } else { "they have" });
                finding
                    .note(format!("looked at {looked} on {proxies}; {have}"))
                    .workloads(self.runs.iter().map(|run| run.label().to_owned()))
            }
            Confidence::Likely => finding.note(
                "no configuration of a proxy was given: compared with what istiod generates for a sidecar, a gateway and a waypoint",
            ),
        }
    }

    /// What an object is said to have that lacks what was compared.
    fn absent(&self) -> &'static str {
        let names = [Condition::ListenerName, Condition::ChainName, Condition::Filter, Condition::SubFilter];
        let routes = [Condition::RouteConfigurationName, Condition::VirtualHostName, Condition::RouteName];
        let others = [Condition::ListenerFilter, Condition::ClusterName];
        let name = |nearest| names.iter().chain(&routes).chain(&others).any(|condition| *condition == nearest);
        if self.nearest.is_some_and(name) { "(no name)" } else { "(none)" }
    }

    /// What is there and most like the text asked for.
    pub fn like(&self, want: &str) -> Option<&str> {
        nearest(want, self.candidates.iter().map(String::as_str))
    }
}
