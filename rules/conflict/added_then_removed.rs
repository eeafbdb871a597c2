//! EF406: an object that one patch adds and another patch removes.

use crate::declare_rule;
use crate::lint::order::remover;
use crate::lint::per_run::PerRun;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// An object that one patch adds and another patch removes.
    ///
    /// # What it finds
    /// A VIRTUAL_HOST added under the name of one that is removed; a filter or route that is inserted and that a later
    /// REMOVE also matches.
    ///
    /// # Why it matters
    /// Virtual hosts are removed at the end by name, including added ones. A REMOVE of filters removes every filter of
    /// that name, including inserted ones.
    ///
    /// # How to fix
    /// Use REPLACE instead of REMOVE and ADD, or choose another name.
    ///
    /// # References
    /// istio/istio issues 38553, 45089; istiod `rc_patch.go`; recorded.
    "EF406" "added-then-removed" Conflict Error => check,
    needs: &[Dump]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let removals = PerRun::new();
    for view in cx.patches() {
        let Some(seen) = cx.seen(&view, |run| remover(run, &removals).is_some()) else { continue };
        let run = &seen.runs[0];
        let Some(other) = remover(run, &removals).and_then(|id| cx.view(run.run, id)) else { continue };
        let finding = view
            .finding(rule, view.value_path_span("name"), "another patch removes what this patch adds")
            .label("added here")
            .related(other.value_span(&["patch", "operation"]), "removed here, by name")
            .help("REPLACE the object instead of removing and adding it, or choose another name");
        let finding = seen.tell(finding);
        out.push(finding.ineffective());
    }
}
