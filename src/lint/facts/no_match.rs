//! Patches that match nothing on any proxy they reach: how close they came, and what exists instead.

use crate::engine::matching::{VIRTUAL_INBOUND, VIRTUAL_OUTBOUND, listener_match, own_port};
use crate::engine::trace::Condition;
use crate::engine::{Outcome, PatchId};
use crate::lint::facts::context::{Context, Knowledge, Missed, PatchView, ProxyRun, Taken};
use crate::lint::facts::culprit;
use crate::lint::facts::described::Takers;
use crate::lint::facts::names::{cluster_like, count, listed_or, nearest};
use crate::lint::finding::{Cause, Confidence, Finding};
use crate::lint::rule::RuleInfo;
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use crate::model::proxy::ProxyKind;
use crate::source::Span;
use crate::words::omit_own_port;
use std::collections::{BTreeSet, HashSet};

/// A patch that matches nothing on the proxies it was tried on.
pub(crate) struct NoMatch<'c, 'a> {
    /// The patch.
    pub view: PatchView<'a>,
    /// The condition of the match that came closest; `None` if no object of its kind exists.
    pub nearest: Option<Condition>,
    /// The values of the objects that reached that condition.
    pub candidates: BTreeSet<String>,
    /// How many objects reached that condition.
    pub objects: usize,
    /// The proxies on which it was tried.
    pub runs: Vec<&'c ProxyRun<'a>>,
    /// Certain if those are real proxies.
    pub confidence: Confidence,
    /// Without config dumps: the patch that takes whatever this one matches.
    taken: Option<&'c Taken>,
}

/// The results of each patch over all runs.
#[derive(Default)]
struct Met {
    on_dump: Vec<(usize, PatchId)>,
    on_reference: Vec<(usize, PatchId)>,
    matched: bool,
}

/// Every patch that was tried and matched nothing on any proxy. If config dumps are given, only they count.
pub(crate) fn all<'c, 'a>(cx: &'c Context<'a>) -> Vec<NoMatch<'c, 'a>> {
    missed(cx).iter().filter_map(|one| gather(cx, one)).collect()
}

/// Those whose nearest condition is one of these. On a reference configuration, only the names of filters are
/// meaningful.
pub(crate) fn at<'c, 'a>(cx: &'c Context<'a>, conditions: &[Condition]) -> Vec<NoMatch<'c, 'a>> {
    let wanted = |one: &&Missed| one.nearest.is_some_and(|nearest| conditions.contains(&nearest));
    missed(cx).iter().filter(wanted).filter_map(|one| gather(cx, one)).collect()
}

/// The names of the objects of a kind that patches of the input contain.
pub(crate) fn added<'a>(cx: &Context<'a>, apply_to: ApplyTo) -> HashSet<&'a str> {
    let of_kind = cx.patches().filter(|view| view.patch.apply_to == apply_to);
    of_kind.filter_map(|view| Some(view.built?.value.as_ref()?.name())).collect()
}

/// Many rules need it, so it is computed once.
fn missed<'c>(cx: &'c Context<'_>) -> &'c [Missed] {
    cx.missed.get_or_init(|| {
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
                if run.doubtful(id) || run.unknown(id) {
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
        let takers = Takers::of(cx);
        cx.patches().zip(met).filter_map(|(view, met)| miss(cx, &view, met, &takers)).collect()
    })
}

fn miss<'a>(cx: &Context<'a>, view: &PatchView<'a>, met: Met, takers: &Takers<'a>) -> Option<Missed> {
    let (filter, patch) = (view.filter_index, view.patch.index);
    // Samples have none of the objects that the match names, so the patch may have met others there, or missed them for
    // the sake of a patch of others.
    if !cx.attaches_to_dump(filter) {
        let taken = meant_for_release(cx, view).then(|| takers.taken(cx, view)).flatten();
        if let Some(taken) = taken {
            let attached = cx.attached.get(filter).into_iter().flatten();
            let looked = attached.filter_map(|&run| Some((run, cx.runs.get(run)?.plan.find(filter, patch)?))).collect();
            let nearest = Some(taken.nearest);
            return Some(Missed { filter, patch, looked, nearest, certain: false, taken: Some(taken) });
        }
    }
    if met.matched {
        return None;
    }
    let certain = !met.on_dump.is_empty();
    let looked = if certain { met.on_dump } else { met.on_reference };
    let traces = looked.iter().map(|&(run, id)| &cx.runs[run].judged.trace.patches[id.index()]);
    let nearest = traces.filter_map(|trace| trace.nearest).max();
    let explained =
        [Condition::Filter, Condition::SubFilter, Condition::ListenerFilter, Condition::HttpConnectionManager];
    // The listeners of waypoints are the same in every mesh, and so is what they have on the outbound side.
    let outbound = view.patch.context == PatchContext::SidecarOutbound;
    let alike = looked.iter().all(|&(run, _)| cx.runs[run].config.proxy.kind == ProxyKind::Waypoint)
        && (nearest == Some(Condition::ListenerName) || nearest.is_none() && outbound);
    // So are the names of the two listeners that every sidecar has.
    let listener = listener_match(&view.patch.object).map_or("", |want| want.name.as_str());
    let alike =
        alike || nearest == Some(Condition::ListenerName) && [VIRTUAL_INBOUND, VIRTUAL_OUTBOUND].contains(&listener);
    // Besides that and filter names, the content of a user's mesh is unknown, and so are the versions that run.
    let explained = alike || nearest.is_some_and(|nearest| explained.contains(&nearest));
    let likely = || explained && meant_for_release(cx, view);
    let missed = Missed { filter, patch, looked, nearest, certain, taken: None };
    // On a sample, matches without the user's names meet: the patch to blame may be about another object.
    let blamed = || !view.as_written && culprit_on_samples(cx, &missed).is_some();
    (!missed.looked.is_empty() && (certain || (likely() && !blamed()))).then_some(missed)
}

fn gather<'c, 'a>(cx: &'c Context<'a>, one: &'c Missed) -> Option<NoMatch<'c, 'a>> {
    let traces = || one.looked.iter().map(|&(run, id)| &cx.runs[run].judged.trace.patches[id.index()]);
    let nearest = one.nearest;
    // What a sample has beside the names of the match says nothing about them.
    let near = || traces().filter(|trace| trace.nearest == nearest && one.taken.is_none());
    Some(NoMatch {
        view: cx.patch(one.filter, one.patch)?,
        nearest,
        candidates: near().flat_map(|trace| trace.candidates.iter().cloned()).collect(),
        objects: nearest.map_or(0, |nearest| near().map(|trace| trace.misses.at(nearest)).sum()),
        runs: one.looked.iter().map(|&(run, _)| &cx.runs[run]).collect(),
        confidence: if one.certain { Confidence::Certain } else { Confidence::Likely },
        taken: one.taken.as_ref(),
    })
}

/// The cause of a patch that matches nothing on sample proxies.
fn culprit_on_samples(cx: &Context<'_>, missed: &Missed) -> Option<Cause> {
    let runs: Vec<&ProxyRun<'_>> = missed.looked.iter().map(|&(run, _)| &cx.runs[run]).collect();
    culprit::cause(cx, missed.filter, missed.patch, &runs)
}

/// Whether `proxyVersion` is absent or matches a proxy of the control plane's own release.
fn meant_for_release(cx: &Context<'_>, view: &PatchView<'_>) -> bool {
    let version = view.patch.proxy.as_ref().map(|proxy| proxy.version.as_str()).unwrap_or_default();
    version.is_empty() || cx.newest_fitting(version, cx.release.minor) == Some(cx.release.minor)
}

impl NoMatch<'_, '_> {
    /// The place of the value that the nearest condition compares, or of its key if the value is a mapping.
    pub(crate) fn span(&self) -> Span {
        let mut route = vec!["match"];
        route.extend(self.nearest.map_or(&[][..], Condition::route));
        if self.view.node(&route).is_some_and(|node| node.entries().is_empty()) {
            self.view.value_span(&route)
        } else {
            self.view.key_span(&route)
        }
    }

    /// A finding at that place, with the proxies that were checked and their values. `what` names the kind of object
    /// that was compared: "listener", "virtual host".
    pub(crate) fn finding(
        &self,
        cx: &Context<'_>,
        rule: &'static RuleInfo,
        what: &str,
        message: impl Into<String>,
    ) -> Finding {
        let finding = Finding::new(rule, self.span(), message)
            .of(self.view.filter, Some(self.view.patch.index))
            .confidence(self.confidence)
            .label("the match fails here")
            .cause(self.cause(cx))
            .ineffective();
        let finding = if self.nearest == Some(Condition::HttpConnectionManager) { finding } else { finding.misses() };
        match self.confidence {
            Confidence::Certain => {
                let proxies = count(self.runs.len(), "proxy", "proxies");
                if self.objects == 0 && self.nearest.is_some() {
                    return finding
                        .note(format!("no {what} exists where the patch looks, on {proxies}"))
                        .workloads(self.runs.iter().map(|run| run.label().to_owned()));
                }
                let among: Vec<&str> = self.candidates.iter().map(String::as_str).collect();
                let have = if among.is_empty() { "nothing".to_owned() } else { listed_or(among, 8, self.absent()) };
                let looked = count(self.objects, what, &format!("{what}s"));
                let have = format!("{} {have}", if self.objects == 1 { "it has" } else { "they have" });
                finding
                    .note(format!("looked at {looked} on {proxies}; {have}"))
                    .workloads(self.runs.iter().map(|run| run.label().to_owned()))
            }
            Confidence::Likely if self.taken.is_some_and(|taken| !taken.certain) => {
                finding.likely("no config dump was given; judged by the names that istiod gives")
            }
            Confidence::Likely if self.taken.is_some() => finding
                .confidence(Confidence::Certain)
                .note("not checked on a proxy, as no config dump was given: this holds wherever both patches apply"),
            Confidence::Likely => {
                let mut kinds: Vec<&str> = self.runs.iter().map(|run| run.config.proxy.kind.as_str()).collect();
                kinds.sort_unstable();
                kinds.dedup();
                finding.judged_on(&kinds)
            }
        }
    }

    /// The patch that removes what this one matches.
    pub(crate) fn cause(&self, cx: &Context<'_>) -> Option<Cause> {
        if let Some(taken) = self.taken {
            return Some(taken.cause.clone());
        }
        culprit::cause(cx, self.view.filter_index, self.view.patch.index, &self.runs)
    }

    /// What to write if the match names the own port of a listener.
    pub(crate) fn help_about_port(&self) -> Option<String> {
        let (listener, port) = own_port(self.view.patch.context, &self.view.patch.object)?;
        Some(omit_own_port(listener, port))
    }

    /// How to describe an object without the compared value.
    fn absent(&self) -> &'static str {
        let names = [Condition::ListenerName, Condition::ChainName, Condition::Filter, Condition::SubFilter];
        let routes = [Condition::RouteConfigurationName, Condition::VirtualHostName, Condition::RouteName];
        let others = [Condition::ListenerFilter, Condition::ClusterName];
        let name = |nearest| names.iter().chain(&routes).chain(&others).any(|condition| *condition == nearest);
        if self.nearest.is_some_and(name) { "(no name)" } else { "(none)" }
    }

    /// The existing value that is most similar to the wanted one.
    pub(crate) fn like(&self, want: &str) -> Option<&str> {
        let among = self.candidates.iter().map(String::as_str);
        if self.nearest == Some(Condition::ClusterName) {
            return cluster_like(want, among);
        }
        nearest(want, among)
    }
}
