//! A migration for people and programs.

mod human;
mod json;
mod markdown;
mod page;
mod text;

pub(crate) use human::{human, verified};
pub(crate) use json::json;
pub use markdown::markdown;
pub(crate) use page::html;
pub use text::{Document, diff, documents, yaml};

use crate::migrate::proof::{Proof, Proven};
use crate::migrate::step::{Home, Move, NOTHING};
use crate::migrate::verdict::{Class, Difference, State};
use crate::migrate::{After, FilterReport, PatchReport, Report};
use crate::words::{MOST_NAMES, count, few};

/// The basis of a report: what was read, and what was not.
pub(crate) fn scope(report: &Report) -> Vec<String> {
    if report.filters.is_empty() {
        return vec![nothing_judged(report)];
    }
    let mut notes = Vec::new();
    if report.described {
        notes.push("objects that are not among the input count as absent".to_owned());
    } else {
        notes.push(
            "the input has only EnvoyFilters: guards that look at Services, Gateways, VirtualServices, DestinationRules and \
             policies are undecided; pass those objects too, or read the cluster"
                .to_owned(),
        );
    }
    if report.ambient {
        notes.push(
            "what ztunnel does is not proven: it is not an Envoy, so neither recordings nor an istiod show it; test it with \
             requests"
                .to_owned(),
        );
    }
    match &report.proven_by {
        None => notes.push(
            "classes come from recordings of istiod 1.31 with such a filter and with its native objects; they were not computed \
             for your objects"
                .to_owned(),
        ),
        Some(version) => notes.push(format!(
            "istiod {version} generated the configuration of every proxy for your objects, with the filter and with its \
             replacement, for {}; other classes come from recordings of istiod 1.31",
            count(
                report.proofs.iter().filter(|proof| matches!(proof.found, Proven::Computed(_))).count(),
                "EnvoyFilter",
                "EnvoyFilters"
            )
        )),
    }
    notes
}

/// Why a report has no filters, as a sentence.
fn nothing_judged(report: &Report) -> String {
    let why = match report.read {
        read if read > 0 && report.listed => "nothing judged: no EnvoyFilter in the namespace or the selection",
        _ => "nothing could be judged: no EnvoyFilter was read",
    };
    why.to_owned()
}

/// What was computed for a filter, in lines: the result, then each difference.
pub(crate) fn proven(report: &Report, filter: &FilterReport) -> Vec<String> {
    let name = full_name(filter);
    let (Some(version), Some(proof)) = (&report.proven_by, report.proofs.iter().find(|proof| proof.filter == name))
    else {
        return Vec::new();
    };
    let mut lines = computed(version, proof);
    match &proof.traffic {
        None => {}
        Some(Err(why)) => lines.push(format!("no requests were sent: {why}")),
        Some(Ok(sent)) => {
            let requests = count(sent.requests, "request", "requests");
            let proxies = count(sent.proxies, "proxy", "proxies");
            let outcome = if sent.apart.is_empty() {
                "status, headers and upstream are the same; upstreams answered at once, so timeouts and retries were not tried"
                    .to_owned()
            } else {
                format!("{} tell them apart", sent.apart.len())
            };
            lines.push(format!("{requests} through Envoy {} as {proxies}: {outcome}", sent.envoy));
            lines.extend(sent.apart.iter().map(|one| {
                format!(
                    "request: {} on {}: {} with the filter, {} with the native objects",
                    one.request, one.proxy, one.filter, one.native
                )
            }));
            if !sent.unsent.is_empty() {
                lines.push(format!(
                    "{} could not be sent on either side",
                    count(sent.unsent.len(), "request", "requests")
                ));
            }
        }
    }
    lines
}

/// The requests that were answered with the filter and with its replacement.
fn sent<'r>(report: &'r Report, filter: &FilterReport) -> &'r [String] {
    let name = full_name(filter);
    let proof = report.proofs.iter().find(|proof| proof.filter == name);
    match proof.and_then(|proof| proof.traffic.as_ref()) {
        Some(Ok(traffic)) => &traffic.sent,
        _ => &[],
    }
}

fn computed(version: &str, proof: &Proof) -> Vec<String> {
    match &proof.found {
        Proven::NotComputed(why) => vec![format!("not computed: {why}")],
        Proven::Computed(computed) => {
            let class = computed.class();
            let proxies = count(computed.proxies, "proxy", "proxies");
            let with = match proof.with.as_slice() {
                [] => String::new(),
                with => format!(", together with {}", few(with, with.len(), MOST_NAMES)),
            };
            let result = format!("{} ({})", class.name(), class.meaning());
            let mut lines = vec![format!("computed by istiod {version} for {proxies}{with}: {result}")];
            if !computed.beyond.is_empty() {
                lines.push(format!("reaches further than the filter: {}", computed.beyond.join(", ")));
            }
            lines.extend(computed.differences.iter().map(|(one, places)| {
                format!("{}: {} ({})", one.kind.name(), one.effect, count(*places, "place", "places"))
            }));
            lines
        }
    }
}

/// The number of filters in each class.
pub(crate) fn classes(report: &Report) -> Vec<(Class, usize)> {
    Class::ALL
        .into_iter()
        .map(|class| (class, report.filters.iter().filter(|filter| filter.class == class).count()))
        .filter(|(_, number)| *number > 0)
        .collect()
}

/// Why the objects of a patch are not written; `None` when they are, or when there are none.
pub fn unwritten(patch: &PatchReport) -> Option<String> {
    if patch.written || !patch.found.moves {
        return None;
    }
    let guard = |state: State| patch.found.guards.iter().find(|guard| guard.state == state);
    if let Some(guard) = guard(State::Broken) {
        return Some(format!("refused: {}", guard.reason));
    }
    if let Some(why) = &patch.kept {
        return Some(format!("not written: {why}"));
    }
    if patch.beside
        && let Some(guard) = patch.found.guards.iter().rfind(|guard| guard.state == State::Undecided)
    {
        return Some(format!("not written: {}", guard.reason));
    }
    if patch.found.lacks_object() {
        return Some("not written: the input has no object to edit".to_owned());
    }
    if let Some(guard) = guard(State::Review) {
        return Some(format!("not written without --accept reviewed: {}", guard.reason));
    }
    Some(match patch.class {
        Class::SameBut => "not written with --accept exact".to_owned(),
        _ => "not written without --accept differs".to_owned(),
    })
}

/// Whether two patches move together, so that one of them is enough to describe both.
fn alike(one: &PatchReport, other: &PatchReport) -> bool {
    (one.found.pattern, &one.found.sets) == (other.found.pattern, &other.found.sets)
        && one.found.differences == other.found.differences
        && one.found.guards == other.found.guards
        && one.class == other.class
        && one.ambient == other.ambient
}

/// The native APIs of a patch, and since when Istio has them; empty if there is none.
fn native(found: &Move) -> String {
    let of_kind = |homes: &[Home]| {
        let fields: Vec<&str> = homes.iter().map(|home| home.field.as_str()).collect();
        if fields == [NOTHING] {
            return NOTHING.to_owned();
        }
        format!("{} {}", homes.first().map_or("", |home| home.kind), fields.join(", "))
    };
    let homes: Vec<String> = found.homes.chunk_by(|one, other| one.kind == other.kind).map(of_kind).collect();
    let since = found.since().map(|since| format!(" (Istio {}.{} and later)", since.major, since.minor));
    homes.join(", ") + &since.unwrap_or_default()
}

/// Guards that a reader must know, as sentences; not those that [`unwritten`] names.
fn open(patch: &PatchReport) -> Vec<String> {
    let named = unwritten(patch).unwrap_or_default();
    let sentence = |state: State| match state {
        State::Undecided => Some("not decided"),
        State::Review => Some("review"),
        State::Held | State::Broken => None,
    };
    let all = patch.found.guards.iter().filter_map(|guard| Some((sentence(guard.state)?, &guard.reason)));
    all.filter(|(_, reason)| !named.ends_with(reason.as_str()))
        .map(|(what, reason)| format!("{what}: {reason}"))
        .collect()
}

/// What differs, except for what [`unwritten`] says already.
fn differences(patch: &PatchReport) -> impl Iterator<Item = &Difference> {
    let named = unwritten(patch).unwrap_or_default();
    patch.found.differences.iter().filter(move |one| !named.ends_with(one.effect.as_str()))
}

/// What happens to the rest of a patch's value.
fn rest(patch: &PatchReport) -> Option<&'static str> {
    (patch.class == Class::Partly && patch.written).then_some("the rest of the value stays in a smaller EnvoyFilter")
}

/// What happens to a filter; `None` if that follows from its class.
fn outcome(report: &Report, filter: &FilterReport) -> Option<&'static str> {
    let name = full_name(filter);
    let rewrites = || report.rewrites.iter().filter(|one| one.filter == name);
    match &filter.after {
        After::Delete => Some("then delete it: every patch has moved"),
        After::Smaller(_) => Some("a smaller EnvoyFilter stays"),
        After::Unchanged if rewrites().any(|one| one.written) => Some("it stays, rewritten to the newest types"),
        After::Unchanged if filter.patches.is_empty() && rewrites().next().is_none() => {
            Some("it has no patches: it does nothing and can be deleted")
        }
        After::Unchanged if filter.class != Class::NoHome => Some("it stays as it is: nothing is written for it"),
        After::Unchanged => None,
    }
}

/// `namespace/name`.
pub(crate) fn full_name(filter: &FilterReport) -> String {
    format!("{}/{}", filter.namespace, filter.name)
}
