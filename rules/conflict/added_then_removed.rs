//! EF406: an object that a patch adds and another patch takes away again.

use crate::declare_rule;
use crate::lint::order::remover;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// An object that one patch adds and another patch removes.
    ///
    /// # What it finds
    /// A VIRTUAL_HOST that is added under the name of one that is removed; a filter or route that is inserted and
    /// that a later REMOVE takes too.
    ///
    /// # Why it matters
    /// Removed virtual hosts are dropped at the end by name, the added ones with them. A REMOVE of filters takes
    /// every filter of that name, inserted ones too.
    ///
    /// # How to fix
    /// REPLACE instead of REMOVE and ADD; or choose another name.
    ///
    /// # References
    /// istio/istio issues 38553, 45089; istiod `rc_patch.go`; recorded.
    "EF406" "added-then-removed" Conflict Error => check,
    needs: &[Dump]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(seen) = cx.seen(&view, |run| remover(run).is_some()) else { continue };
        let run = &seen.runs[0];
        let Some(other) = remover(run).and_then(|id| cx.view(run.run, id)) else { continue };
        let finding = view
            .finding(rule, view.value_path_span("name"), "another patch removes what this patch adds")
            .label("added here")
            .related(other.value_span(&["patch", "operation"]), "removed here, by name")
            .help("REPLACE the object instead of removing and adding it, or choose another name");
        let finding = seen.tell(finding);
        out.push(finding.ineffective());
    }
}
