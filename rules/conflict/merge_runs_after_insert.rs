//! EF408: a MERGE that also changes a filter that a later patch inserts.

use crate::declare_rule;
use crate::engine::PatchId;
use crate::engine::matching::{self, HTTP_CONNECTION_MANAGER};
use crate::engine::trace::{Effect, Place};
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, RuleInfo, names};
use crate::proto::tree::Origin;
use std::collections::BTreeSet;

declare_rule! {
    /// A MERGE that also changes a filter that a later patch inserts.
    ///
    /// # What it finds
    /// A MERGE of filters that changes a filter that a later patch, in the order of application, inserts.
    ///
    /// # Why it matters
    /// Inserts, replacements and removals of a kind always come first and every MERGE after them, whatever the order in
    /// the text and the priority.
    ///
    /// # How to fix
    /// Narrow the match of the MERGE, or write the desired value into the inserted filter.
    ///
    /// # References
    /// istiod `listener_patch.go`, releases 1.22 to 1.31; recorded.
    "EF408" "merge-runs-after-insert" Conflict Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        if !view.built.is_some_and(|built| built.operation.is_merge()) {
            continue;
        }
        let Some(seen) = cx.seen(&view, |run| inserted_later(run).is_some()) else { continue };
        let run = &seen.runs[0];
        let Some(other) = inserted_later(run).and_then(|id| cx.view(run.run, id)) else { continue };
        // A match that names a filter which only patches insert means that filter.
        let message = if only_inserted(run) {
            format!("this MERGE changes the filter that {} inserts later", other.filter.full_name())
        } else {
            "this MERGE also changes a filter that a later patch inserts".to_owned()
        };
        let mut finding = view
            .finding(rule, view.value_span(&["patch", "operation"]), message)
            .label("runs after every insert of its kind")
            .related(other.value_path_span("name"), "inserted by a later patch")
            .help("narrow the match, or write the value into the inserted filter");
        let lost: BTreeSet<&str> = seen.runs.iter().flat_map(overwritten).collect();
        if !lost.is_empty() {
            finding = finding.note(format!("overwritten there: {}", names::listed(lost, 6)));
        }
        out.push(seen.tell(finding));
    }
}

fn inserted_later(run: &PatchRun<'_, '_>) -> Option<PatchId> {
    let changed =
        run.trace.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Merged(_)) && effect.changes());
    let places: Vec<_> = changed.map(|(place, _)| place).collect();
    if places.is_empty() {
        return None;
    }
    run.run.plan.ids().filter(|&id| id > run.id).find(|&id| {
        run.run.by_id(id).trace.effects.iter().any(|(place, effect)| {
            matches!(effect, Effect::Inserted { .. } | Effect::Replaced) && places.contains(&place)
        })
    })
}

/// Whether the match names a filter, and every filter that it matches is one that some patch inserts.
fn only_inserted(run: &PatchRun<'_, '_>) -> bool {
    let object = &run.planned.built.object;
    let named = matching::sub_filter_name(object).or_else(|| matching::network_filter_name(object));
    let inserted = |place: &Place| {
        run.run.plan.ids().any(|id| {
            let effects = &run.run.by_id(id).trace.effects;
            effects
                .iter()
                .any(|(at, effect)| matches!(effect, Effect::Inserted { .. } | Effect::Replaced) && at == place)
        })
    };
    named.is_some_and(|name| !name.is_empty() && name != HTTP_CONNECTION_MANAGER)
        && run.trace.effects.iter().all(|(place, _)| inserted(place))
}

/// The fields of inserted filters that the MERGE overwrites.
fn overwritten<'r>(run: &PatchRun<'r, '_>) -> Vec<&'r str> {
    let changes = run.trace.effects.iter().filter_map(|(_, effect)| match effect {
        Effect::Merged(changes) => Some(changes),
        _ => None,
    });
    let lost = changes.flatten().filter(|change| {
        let later = |origin: &Origin| PatchId::of(*origin).is_some_and(|id| id > run.id);
        change.before.is_some() && change.before_origins.iter().any(later) && change.differs()
    });
    lost.map(|change| change.path.as_str()).collect()
}
