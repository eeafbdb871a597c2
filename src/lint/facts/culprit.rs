//! The patch that removes what another patch matches, with its place.

use crate::lint::facts::context::{Context, ProxyRun};
use crate::lint::finding::Cause;
use crate::source::escape::one_line;
use crate::study::culprit::{Counts, blame};

/// The cause of a patch that matches nothing, if another patch is to blame; `runs` are the proxies on which it was
/// tried.
pub(crate) fn cause(cx: &Context<'_>, filter: usize, patch: usize, runs: &[&ProxyRun<'_>]) -> Option<Cause> {
    cause_of(cx, filter, patch, runs, Counts { effect: |_| true, described: false })
}

/// The same on an object that was made of the patch's match ([`super::described`]), which the texts do not name.
pub(crate) fn cause_of_described(cx: &Context<'_>, filter: usize, patch: usize, run: &ProxyRun<'_>) -> Option<Cause> {
    cause_of(cx, filter, patch, &[run], Counts { effect: |_| true, described: true })
}

/// The cause of a patch that matches but changes nothing, if it would change something without another patch.
pub(crate) fn cause_of_no_op(cx: &Context<'_>, filter: usize, patch: usize, runs: &[&ProxyRun<'_>]) -> Option<Cause> {
    cause_of(cx, filter, patch, runs, Counts { effect: |effect| effect.changes(), described: false })
}

fn cause_of(cx: &Context<'_>, filter: usize, patch: usize, runs: &[&ProxyRun<'_>], counts: Counts) -> Option<Cause> {
    // Replicas have the same cause, so a few proxies are enough.
    runs.iter().take(3).find_map(|run| {
        let blame = blame(run.scene(), run.plan.find(filter, patch)?, counts)?;
        let planned = run.plan.get(blame.by);
        let view = cx.patch(planned.filter, planned.built.patch.index)?;
        let place = if blame.later { view.value_path_span("name") } else { view.value_span(&["patch", "operation"]) };
        let help = match blame.priority {
            Some(priority) => format!("{}:\nspec:\n  priority: {priority}", one_line(&blame.help)),
            None => one_line(&blame.help).into_owned(),
        };
        Some(Cause { what: blame.what, object: blame.place, place, label: blame.label.to_owned(), help })
    })
}
