//! EF405: a patch that refers to a filter that another patch inserts only later.

use crate::declare_rule;
use crate::engine::trace::Condition;
use crate::engine::trace::Effect;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::order::{decided_by_priority, reason};
use crate::lint::per_run::PerRun;
use crate::lint::{Confidence, Context, Findings, Knowledge, RuleInfo};
use crate::proto::tree::Tree;
use crate::source::Severity;
use std::collections::BTreeSet;

declare_rule! {
    /// A patch that refers to a filter that another patch inserts only later.
    ///
    /// # What it finds
    /// A patch that matches nothing because the filter named in its match is inserted by a later patch, and that would
    /// match if it came after that patch. Computed by running the engine with the two filters swapped.
    ///
    /// # Why it matters
    /// The patch silently does nothing. It may have worked before the other filter was re-created: creation time
    /// decides among equal priorities.
    ///
    /// # How to fix
    /// Give it a higher `priority` than the filter that inserts the anchor.
    ///
    /// # References
    /// istio/istio issues 37415, 38214; istiod `push_context.go`.
    "EF405" "anchor-added-later" Conflict Error => check,
    explains: &["EF214", "EF215", "EF216", "EF221"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let inserted: PerRun<BTreeSet<String>> = PerRun::new();
    for view in cx.patches() {
        let anchor = |condition| {
            matches!(
                condition,
                Some(Condition::SubFilter | Condition::Filter | Condition::ListenerFilter | Condition::RouteName)
            )
        };
        if cx.on_proxies(view.filter_index, view.patch.index).any(|run| run.changes()) {
            continue;
        }
        let later = |run: &PatchRun<'_, '_>| {
            if !run.trace.effects.is_empty() || !anchor(run.trace.nearest) {
                return None;
            }
            // Only a filter or route with the wanted name can be the missing one.
            let wanted = run.trace.nearest.and_then(|nearest| {
                let route: Vec<&str> = ["match"].into_iter().chain(nearest.route().iter().copied()).collect();
                view.node(&route)?.as_str()
            });
            // Most anchors that are missing are inserted by nobody, and a run has many patches.
            if wanted.is_some_and(|wanted| !inserted.of(run.run, inserted_names).contains(wanted)) {
                return None;
            }
            let inserts = run.run.plan.ids().filter(|&other| {
                let planned = run.run.plan.get(other);
                if other <= run.id || planned.built.patch.apply_to != view.patch.apply_to {
                    return false;
                }
                let name = planned.built.value.as_ref().map(Tree::name);
                if wanted.is_some() && name != wanted {
                    return false;
                }
                let inserted = run.run.by_id(other).has(|effect| matches!(effect, Effect::Inserted { .. }));
                let own = &cx.filters[planned.filter].patches[planned.built.patch.index];
                // The versions that run are unknown on a reference configuration.
                let pinned =
                    run.run.knowledge == Knowledge::Reference && (view.patch.proxy.is_some() || own.proxy.is_some());
                inserted && !pinned && !cx.same_object(planned.filter, view.filter_index)
            });
            inserts.into_iter().find(|&other| run.run.matches_after(run.id, other))
        };
        let Some(seen) = cx.seen_if(&view, |run| later(run).is_some()) else { continue };
        let run = &seen.runs[0];
        let Some(other) = later(run).and_then(|id| cx.view(run.run, id)) else { continue };
        let condition = run.trace.nearest.map_or(&["listener"] as &[_], Condition::route);
        let mut route = vec!["match"];
        route.extend(condition);
        let mut finding = view
            .finding(
                rule,
                view.value_span(&route),
                format!("{} inserts this filter only later", other.filter.full_name()),
            )
            .label("does not exist yet when this patch runs")
            .related(other.value_path_span("name"), "inserted here");
        let by_name = [view.filter, other.filter].iter().all(|filter| filter.created.is_none());
        let decided = decided_by_priority(cx, view.filter_index, other.filter_index);
        let unsure = other.filter_index != view.filter_index && by_name && !decided;
        finding = if other.filter_index == view.filter_index {
            finding.help("move the patch after the one that inserts it")
        } else {
            finding
                .note(format!(
                    "{} is applied later: {}",
                    other.filter.full_name(),
                    reason(cx, view.filter_index, other.filter_index)
                ))
                .snippet(format!("spec:\n  priority: {}", other.filter.priority.saturating_add(1)))
        };
        finding = seen.tell(finding).ineffective();
        out.push(match finding.confidence {
            Confidence::Certain if unsure => {
                finding.severity(Severity::Warning).likely("files do not show which EnvoyFilter is older")
            }
            Confidence::Likely if unsure => finding.severity(Severity::Warning),
            _ => finding,
        });
    }
}

/// The names of what the patches of a run insert.
fn inserted_names(run: &ProxyRun<'_>) -> BTreeSet<String> {
    let inserts = |effect: &Effect<'_>| matches!(effect, Effect::Inserted { .. });
    let inserted = run.plan.ids().filter(|&id| run.by_id(id).has(inserts));
    inserted.filter_map(|id| run.plan.get(id).built.value.as_ref()).map(|value| value.name().to_owned()).collect()
}
