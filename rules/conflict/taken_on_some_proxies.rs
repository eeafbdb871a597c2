//! EF413: a patch that works on some proxies, and on others not because of another patch.

use crate::declare_rule;
use crate::lint::context::PatchRun;
use crate::lint::names::count;
use crate::lint::{Context, Findings, Knowledge, RuleInfo, culprit};

declare_rule! {
    /// A patch that works on some proxies but matches nothing on others, where another EnvoyFilter takes its object away.
    ///
    /// # What it finds
    /// A patch with an effect on some of the given proxies that matches nothing on one to which a further EnvoyFilter
    /// attaches, and that would match there without a patch of it. Computed by running the engine without that patch.
    /// Needs config dumps. Proxies that never had such an object are not reported.
    ///
    /// # Why it matters
    /// A filter for the whole mesh, such as one of the root namespace, can be switched off in one namespace, or for one
    /// workload, without anyone noticing: on all other proxies it works.
    ///
    /// # How to fix
    /// Put the patch first with a lower `priority`, or delete the other one.
    ///
    /// # References
    /// istiod `PushContext.EnvoyFilters` (order), `pilot/pkg/networking/core/envoyfilter`.
    "EF413" "taken-on-some-proxies" Conflict Warning => check,
    needs: &[Dump]
}

/// Proxies on which the culprit is searched: each search runs the engine.
const SEARCHED: usize = 3;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let on_dumps = cx
            .on_proxies(view.filter_index, view.patch.index)
            .filter(|run| run.run.knowledge == Knowledge::Dump && run.runs());
        let (met, missed): (Vec<_>, Vec<_>) = on_dumps.partition(|run| !run.trace.effects.is_empty());
        if met.is_empty() {
            continue;
        }
        let further = |run: &&PatchRun<'_, '_>| met.iter().all(|other| other.run.plan.order != run.run.plan.order);
        let candidates: Vec<_> = missed.iter().filter(further).collect();
        let taken = candidates.iter().take(SEARCHED).filter_map(|&run| {
            let cause = culprit::cause(cx, view.filter_index, view.patch.index, &[run.run])?;
            Some((run, cause))
        });
        let (runs, mut causes): (Vec<&PatchRun<'_, '_>>, Vec<_>) = taken.unzip();
        if causes.is_empty() {
            continue;
        }
        let place = view.value_span(&["patch", "operation"]);
        let mut finding = view
            .finding(rule, place, "this patch matches nothing on some proxies")
            .label("works on other proxies")
            .note(format!("it has an effect on {}", count(met.len(), "proxy", "proxies")))
            .cause(Some(causes.swap_remove(0)))
            .workloads(runs.iter().map(|run| run.run.label().to_owned()));
        if let Some(others @ 1..) = candidates.len().checked_sub(SEARCHED) {
            let others = count(others, "more proxy", "more proxies");
            finding =
                finding.note(format!("it also matches nothing on {others}; the cause was not searched for there"));
        }
        out.push(finding);
    }
}
