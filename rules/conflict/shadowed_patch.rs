//! EF402: a patch of which nothing remains after all patches.

use crate::declare_rule;
use crate::engine::trace::{Effect, NoOp, Place};
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::order::{decided_by_priority, reason, remover};
use crate::lint::per_run::PerRun;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use std::collections::HashSet;

declare_rule! {
    /// A patch of which nothing remains after all patches.
    ///
    /// # What it finds
    /// A patch that changes something temporarily, but without which every proxy would get the same configuration: its
    /// changes are overwritten or removed later, or another patch makes the same ones. Computed by running the engine
    /// without it. Needs config dumps.
    ///
    /// # Why it matters
    /// It looks active but does nothing, and it takes effect when the other filter is deleted.
    ///
    /// # How to fix
    /// Remove the patch, or the one that undoes it.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF402" "shadowed-patch" Conflict Warning => check,
    needs: &[Dump], explains: &["EF404"]
}

/// What to do if only the creation time decides which patch comes later.
const UNDECIDED: &str = "remove one of the two patches, or set `priority` (the higher one comes later)";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let (removals, dropped) = (PerRun::new(), PerRun::new());
    for view in cx.patches() {
        let (filter, index) = (view.filter_index, view.patch.index);
        let changed = |run: &PatchRun<'_, '_>| run.changes();
        let Some(seen) = cx.seen(&view, changed) else { continue };
        // That another patch adds the same cluster is reported there.
        let added_again = |run: &PatchRun<'_, '_>| {
            let added = |(place, effect): &(Place, Effect)| {
                matches!(effect, Effect::Added) && dropped.of(run.run, dropped_clusters).contains(place)
            };
            run.trace.effects.iter().any(added)
        };
        let reported_elsewhere = |run| remover(run, &removals).is_some() || added_again(run);
        if !seen.certain() || !cx.inert(filter, index) || seen.runs.iter().any(reported_elsewhere) {
            continue;
        }
        let mut finding = Finding::new(rule, view.value_span(&["patch", "operation"]), "nothing of this patch remains")
            .label("without it every proxy gets the same")
            .help("remove the patch, or the one that undoes it")
            .ineffective()
            .of(view.filter, Some(index));
        let mut named = Vec::new();
        for run in &seen.runs {
            for later in &run.trace.later {
                let planned = run.run.plan.get(later.by);
                let key = (planned.filter, planned.built.patch.index);
                if named.contains(&key) {
                    continue;
                }
                named.push(key);
                let Some(other) = cx.view(run.run, later.by) else { continue };
                let what = if later.removed { "this patch removes" } else { "this patch overwrites" };
                let place = if later.path.is_empty() {
                    later.place.to_string()
                } else {
                    format!("{} in {}", later.path, later.place)
                };
                finding = finding.related(other.value_span(&["patch", "operation"]), format!("{what} {place}"));
                if planned.filter != filter {
                    if !decided_by_priority(cx, filter, planned.filter) {
                        finding = finding.beside(other.filter).help(UNDECIDED);
                    }
                    finding = finding.note(format!(
                        "{} is applied later: {}",
                        other.filter.full_name(),
                        reason(cx, filter, planned.filter)
                    ));
                }
            }
        }
        if named.is_empty() {
            finding = finding.note(if seen.runs.iter().any(|run| !run.run.judged.trace.aborts.is_empty()) {
                "an istiod panic undoes it"
            } else {
                "another patch does the same, or the value was already there"
            });
        }
        out.push(seen.tell(finding));
    }
}

/// The clusters that istiod drops because an earlier patch of the run adds one with the name.
fn dropped_clusters(run: &ProxyRun<'_>) -> HashSet<Place> {
    let effects = run.judged.trace.patches.iter().flat_map(|trace| &trace.effects);
    let dropped = effects.filter(|(_, effect)| matches!(effect, Effect::NoOp(NoOp::DuplicateName)));
    dropped.map(|(place, _)| place.clone()).collect()
}
