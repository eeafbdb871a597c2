//! Why a filter or a patch does nothing on a proxy, in one sentence, for reports that compare many proxies.

use super::{hint, words};
use crate::engine::program::{Planned, Status};
use crate::engine::select::Selection;
use crate::engine::trace::{Condition, Effect, NoOp, PatchTrace};
use crate::engine::{Judged, Outcome, PatchId, Plan, Trace};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::proxy::Proxy;

/// Why a filter does not attach to a proxy; `None` when it does.
pub(crate) fn not_attached(selection: &Selection, filter: &EnvoyFilter, proxy: &Proxy, root: &str) -> Option<String> {
    words::selection(selection, filter, proxy, root).map(|(_, message, _)| message)
}

/// Why a patch of an attached filter has no effect; empty when it has one.
pub(crate) fn without_effect(plan: &Plan<'_>, id: PatchId, judged: &Judged<'_>, outcome: Outcome) -> String {
    let trace = &judged.trace;
    let planned = plan.get(id);
    let (filter, patch) = (plan.filter(id), planned.built.patch);
    match outcome {
        Outcome::Applied => String::new(),
        Outcome::NotSelected => {
            planned.proxy_miss.as_ref().map(|miss| words::proxy_miss(miss, patch).1).unwrap_or_default()
        }
        Outcome::NoMatch => no_match(filter, planned, &trace.patches[id.index()]),
        Outcome::NoOp => words::no_op(no_op(planned, &trace.patches[id.index()]), patch, plan.proxy).1,
        Outcome::Discarded => match planned.status {
            Status::Discarded(reason) => words::discard(reason, patch).1,
            _ => String::new(),
        },
        Outcome::Aborted => match (panic(trace, id), judged.lost.get(&id)) {
            (Some(panic), _) => format!("istiod panics here: {panic}"),
            (None, Some(lost)) => format!("lost to a panic that {} causes", plan.filter(lost.cause).full_name()),
            (None, None) => "lost to a panic".to_owned(),
        },
    }
}

/// Why istiod panics at a patch; `None` when it does not.
pub(crate) fn panic(trace: &Trace, id: PatchId) -> Option<String> {
    trace.aborts.iter().find(|abort| abort.cause == id).map(|abort| abort.panic.to_string())
}

/// What a match requires at a condition, as written.
pub(crate) fn asked(filter: &EnvoyFilter, patch: usize, condition: Condition) -> String {
    hint::asked(filter, patch, condition).0
}

fn no_match(filter: &EnvoyFilter, planned: &Planned<'_>, trace: &PatchTrace) -> String {
    let patch = planned.built.patch;
    match trace.nearest {
        Some(condition) => hint::sentence(condition, &asked(filter, patch.index, condition), patch.apply_to),
        None => format!("there is no object that {} patches for {}", patch.apply_to.name(), patch.context.name()),
    }
}

fn no_op(planned: &Planned<'_>, trace: &PatchTrace) -> NoOp {
    if let Status::NoOp(reason) = planned.status {
        return reason;
    }
    let reason = trace.effects.iter().find_map(|(_, effect)| match effect {
        Effect::NoOp(reason) => Some(*reason),
        _ => None,
    });
    reason.unwrap_or(NoOp::NothingChanged)
}
