//! EF401: two filters that write different values to the same field.

use crate::declare_rule;
use crate::engine::PatchId;
use crate::engine::trace::Effect;
use crate::lint::Confidence;
use crate::lint::context::Knowledge;
use crate::lint::order::reason;
use crate::lint::seen::exact;
use crate::lint::{Context, Finding, Findings, RuleInfo, names};
use std::collections::{BTreeMap, BTreeSet};

declare_rule! {
    /// Two EnvoyFilters that write different values to the same field.
    ///
    /// # What it finds
    /// A field that one filter sets and a later filter sets to another value, on the same proxy. Another rule,
    /// shadowed-patch, reports patches that lose everything.
    ///
    /// # Why it matters
    /// The last one wins, in an order that neither filter's text shows: priority, root namespace first, creation time,
    /// name.
    ///
    /// # How to fix
    /// Write the value in one place, or give the one that should win a higher `priority`.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF401" "conflicting-values" Conflict Warning => check,
    explains: &["EF404"]
}

/// The path of a field, and its object.
type Field = (String, String);

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut found: BTreeMap<[usize; 4], (Vec<usize>, Vec<Field>)> = BTreeMap::new();
    for (number, run) in cx.runs.iter().enumerate() {
        for id in run.plan.ids() {
            let winner = run.by_id(id);
            if winner.trace.effects.is_empty() || cx.view(run, id).is_none_or(|view| !exact(run, &view)) {
                continue;
            }
            for (place, effect) in &winner.trace.effects {
                let Effect::Merged(changes) = effect else { continue };
                for change in changes.iter().filter(|change| change.before.is_some() && change.differs()) {
                    for loser in change.before_origins.iter().copied().filter_map(PatchId::of) {
                        let other = run.plan.get(loser);
                        let (one, two) = (other.filter, winner.planned.filter);
                        let own = one == two || cx.same_object(one, two);
                        let fits = cx.view(run, loser).is_some_and(|view| exact(run, &view));
                        if own || !fits || (run.knowledge == Knowledge::Dump && run.inert(loser)) {
                            continue;
                        }
                        let planned = winner.planned;
                        let key = [other.filter, other.built.patch.index, planned.filter, planned.built.patch.index];
                        let entry = found.entry(key).or_default();
                        if entry.0.last() != Some(&number) {
                            entry.0.push(number);
                        }
                        let field = (change.path.clone(), place.to_string());
                        if !entry.1.contains(&field) {
                            entry.1.push(field);
                        }
                    }
                }
            }
        }
    }
    for ([filter, patch, by, by_patch], (runs, fields)) in found {
        let (Some(view), Some(other)) = (cx.patch(filter, patch), cx.patch(by, by_patch)) else { continue };
        let Some((path, _)) = fields.first() else { continue };
        let paths: BTreeSet<&str> = fields.iter().map(|(path, _)| path.as_str()).collect();
        let places: BTreeSet<&str> = fields.iter().map(|(_, place)| place.as_str()).collect();
        let paths = if paths.len() > 1 { format!("{}, ", names::listed(paths, 4)) } else { String::new() };
        let certain = runs.iter().any(|&run| cx.runs[run].knowledge == Knowledge::Dump);
        let labels = runs.iter().filter(|_| certain).map(|&run| cx.runs[run].label().to_owned());
        // Inserts come before every MERGE, whatever the order of their EnvoyFilters: another rule says so.
        let inserted = view.built.is_some_and(|built| !built.operation.is_merge());
        let merged = other.built.is_some_and(|built| built.operation.is_merge());
        if inserted && merged && runs_before(cx, &runs, [by, by_patch], [filter, patch]) {
            continue;
        }
        out.push(
            Finding::new(
                rule,
                view.value_path_span(path),
                format!("{} writes a different value to `{path}` and wins", other.filter.full_name()),
            )
            .label("overwritten")
            .related(other.value_path_span(path), "this value remains")
            .note(format!("it is applied later: {}", reason(cx, filter, by)))
            .note(format!("{paths}in {}: {}", names::count(places.len(), "place", "places"), names::listed(places, 3)))
            .help("write the value in one place, or set `priority` (the higher one comes later)")
            .workloads(labels)
            .confidence(if certain { Confidence::Certain } else { Confidence::Likely })
            .beside(other.filter)
            .of(view.filter, Some(patch)),
        );
    }
}

/// Whether the first patch comes before the second in the order of their EnvoyFilters.
fn runs_before(cx: &Context<'_>, runs: &[usize], first: [usize; 2], second: [usize; 2]) -> bool {
    runs.iter().filter_map(|&run| cx.runs.get(run)).any(|run| {
        let place = |[filter, patch]: [usize; 2]| run.plan.find(filter, patch);
        place(first).zip(place(second)).is_some_and(|(first, second)| first < second)
    })
}
