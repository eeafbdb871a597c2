//! EF409: a patch that is lost because another patch makes istiod panic.

use crate::declare_rule;
use crate::engine::Lost;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, RuleInfo, names};
use std::collections::HashMap;

declare_rule! {
    /// A patch that is lost because another patch makes istiod panic.
    ///
    /// # What it finds
    /// A patch that would change something but does not, or not everywhere, because an earlier patch in the same pass
    /// makes istiod panic.
    ///
    /// # Why it matters
    /// istiod recovers from a panic, logs it, and continues without the rest of that pass: filters of other teams lose
    /// their effect.
    ///
    /// # How to fix
    /// Fix the patch that panics.
    ///
    /// # References
    /// istio/istio issues 47359, 38194; istiod pull request 56489; recorded.
    "EF409" "lost-to-panic" Conflict Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    // A panic may discard hundreds of patches: the first finding reports it, the others are for details.
    let mut reported: HashMap<(usize, usize), usize> = HashMap::new();
    let mut found = Vec::new();
    for view in cx.patches() {
        let Some(seen) = cx.seen_if(&view, |run| lost(run).is_some()) else { continue };
        let run = &seen.runs[0];
        let Some(Lost { cause, places, panics }) = lost(run) else { continue };
        let Some(other) = cx.view(run.run, *cause) else { continue };
        let mut finding = view
            .finding(
                rule,
                view.value_span(&["patch", "operation"]),
                format!("this patch is lost: a patch of {} makes istiod panic", other.filter.full_name()),
            )
            .label("is not applied")
            .related(other.value_span(&["patch", "operation"]), "istiod panics here")
            .help("fix the patch that panics");
        if let Some(place) = places.first() {
            finding = finding.note(match places.len() {
                1 => format!("lost at {place}"),
                several => format!("lost in {several} places, the first: {place}"),
            });
        }
        if let Some(panic) = panics {
            finding = finding.note(format!("once that is fixed, this patch makes istiod panic itself: {panic}"));
        }
        let key = (other.filter_index, other.patch.index);
        let count = reported.entry(key).or_default();
        *count += 1;
        let first = *count == 1;
        let finding = seen.tell(finding).ineffective();
        found.push((key, first, if first { finding } else { finding.follows() }));
    }
    for (key, first, finding) in found {
        let others = reported.get(&key).map_or(0, |count| count - 1);
        out.push(if first && others > 0 {
            finding.note(format!("{} lost with it", names::count(others, "more patch is", "more patches are")))
        } else {
            finding
        });
    }
}

/// What another patch's panic took away from a patch.
fn lost<'c>(run: &PatchRun<'c, '_>) -> Option<&'c Lost> {
    run.run.judged.lost.get(&run.id).filter(|lost| lost.cause != run.id)
}
