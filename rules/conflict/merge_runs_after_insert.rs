//! EF408: a MERGE that also changes a filter that a later patch inserts.

use crate::declare_rule;
use crate::engine::PatchId;
use crate::engine::trace::Effect;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, RuleInfo};

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
        let finding = view
            .finding(
                rule,
                view.value_span(&["patch", "operation"]),
                "this MERGE also changes a filter that a later patch inserts",
            )
            .label("runs after every insert of its kind")
            .related(other.value_path_span("name"), "inserted by a later patch")
            .help("narrow the match, or write the value into the inserted filter");
        out.push(seen.tell(finding));
    }
}

fn inserted_later(run: &PatchRun<'_, '_>) -> Option<PatchId> {
    let changed =
        run.trace.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Merged(_)) && effect.changes());
    let places: Vec<_> = changed.map(|(place, _)| place).collect();
    run.run.plan.ids().filter(|&id| id > run.id).find(|&id| {
        run.run.by_id(id).trace.effects.iter().any(|(place, effect)| {
            matches!(effect, Effect::Inserted { .. } | Effect::Replaced) && places.contains(&place)
        })
    })
}
