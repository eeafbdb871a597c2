//! EF411: several INSERT_FIRST on one list, which end up in reverse order.

use crate::declare_rule;
use crate::engine::trace::{Effect, Names, Place};
use crate::lint::context::PatchRun;
use crate::lint::order::{decided_by_priority, reason};
use crate::lint::seen::exact;
use crate::lint::{Context, Findings, Knowledge, PatchView, RuleInfo};
use crate::model::envoy_filter::Operation;
use std::collections::BTreeSet;
use std::sync::Arc;

declare_rule! {
    /// Several EnvoyFilters that insert first into one list: the one applied last ends up first.
    ///
    /// # What it finds
    /// INSERT_FIRST of two EnvoyFilters into the same list of filters or routes whose order is decided by priority or
    /// the root namespace.
    ///
    /// # Why it matters
    /// INSERT_FIRST puts a value before everything that exists, including what an earlier patch inserted first. A
    /// smaller priority number, or the root namespace, runs earlier and thus ends up later in the list.
    ///
    /// # How to fix
    /// Give the one that must come first the larger priority number, or anchor one at the other with INSERT_BEFORE or
    /// INSERT_AFTER.
    ///
    /// # References
    /// istiod `listener_patch.go`, releases 1.22 to 1.31; recorded. istio/istio issue 25111.
    "EF411" "first-in-reverse" Conflict Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut reported: BTreeSet<[usize; 4]> = BTreeSet::new();
    for run in &cx.runs {
        let first: Vec<PatchRun<'_, '_>> = run
            .plan
            .ids()
            .filter(|&id| run.plan.get(id).built.operation == Operation::InsertFirst)
            .map(|id| run.by_id(id))
            .filter(|one| cx.view(run, one.id).is_some_and(|view| exact(run, &view)))
            .collect();
        for (at, later) in first.iter().enumerate() {
            let two = later.planned.filter;
            let Some(view) = cx.view(run, later.id) else { continue };
            // Another rule reports filters that only the creation time orders.
            let behind = |earlier: &&PatchRun<'_, '_>| {
                let one = earlier.planned.filter;
                one != two && !cx.same_object(one, two) && decided_by_priority(cx, one, two) && meet(earlier, later)
            };
            let mut others: Vec<PatchView<'_>> = Vec::new();
            for earlier in first[..at].iter().filter(behind) {
                if let Some(other) = cx.view(run, earlier.id)
                    && reported.insert([earlier.planned.filter, other.patch.index, two, view.patch.index])
                {
                    others.push(other);
                }
            }
            if others.is_empty() {
                continue;
            }
            let here = |it: &PatchRun<'_, '_>| it.run.label() == run.label() || run.knowledge == Knowledge::Reference;
            let Some(seen) = cx.seen(&view, here) else { continue };
            let names: BTreeSet<String> = others.iter().map(|other| other.filter.full_name()).collect();
            let names: Vec<String> = names.into_iter().collect();
            let verb = if names.len() == 1 { "inserts" } else { "insert" };
            let mut finding = view
                .finding(
                    rule,
                    view.value_span(&["patch", "operation"]),
                    format!("this ends up before what {} {verb} first", joined(&names)),
                )
                .label("applied later, so it ends up first")
                .help("give the one that must come first the larger priority, or anchor one at the other");
            let mut reasons = BTreeSet::new();
            for other in &others {
                finding =
                    finding.related(other.value_span(&["patch", "operation"]), "applied earlier, so it ends up after");
                let reason = reason(cx, other.filter_index, two);
                if reasons.insert(reason.clone()) {
                    finding = finding.note(format!("order of application: {reason}"));
                }
            }
            out.push(seen.tell(finding));
        }
    }
}

/// Whether two patches inserted into one list.
fn meet(one: &PatchRun<'_, '_>, other: &PatchRun<'_, '_>) -> bool {
    let lists = |run: &PatchRun<'_, '_>| -> BTreeSet<Place> {
        let inserted = |effect: &Effect| matches!(effect, Effect::Inserted { .. });
        let places = run.trace.effects.iter().filter(|(_, effect)| inserted(effect)).map(|(place, _)| place);
        places.map(list).collect()
    };
    !lists(one).is_disjoint(&lists(other))
}

/// The list that contains the object at a place, by the names of filter chains; their indexes do not change here.
fn list(place: &Place) -> Place {
    place.with(|names| {
        let inner = match names {
            Names { sub_filter: Some(filter), .. } | Names { listener_filter: Some(filter), route: None, .. } => filter,
            Names { route: Some((index, route)), .. } => {
                *index = 0;
                route
            }
            names => names.filter.get_or_insert_default(),
        };
        *inner = Arc::default();
    })
}

/// `a`, `a and b`, `a, b and c`.
fn joined(names: &[String]) -> String {
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}
