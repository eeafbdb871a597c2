//! What `istioctl analyze` would report on a patch (IST0151 to IST0155), and whether that is right.
//!
//! istioctl's analyser of EnvoyFilters (istio.io/istio, release 1.31) looks at applyTo, operation and priority only.

use super::context::{Context, Knowledge, PatchView};
use crate::engine::Outcome;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::source::Span;

/// A report of istioctl on a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// istioctl's code.
    pub code: &'static str,
    /// The patch's operation.
    pub span: Span,
    /// Whether it is right; `None` when that cannot be told.
    pub right: Option<bool>,
    /// Why.
    pub why: String,
}

/// What istioctl would report, patch by patch.
pub fn verdicts(cx: &Context<'_>) -> Vec<Verdict> {
    cx.patches().filter_map(|view| verdict(cx, view)).collect()
}

fn verdict(cx: &Context<'_>, view: PatchView<'_>) -> Option<Verdict> {
    use Operation as Op;
    let body = view.patch.body.as_ref()?;
    let (apply_to, operation) = (view.patch.apply_to, body.operation);
    let on_routes = matches!(apply_to, ApplyTo::RouteConfiguration | ApplyTo::HttpRoute);
    let filters = matches!(apply_to, ApplyTo::NetworkFilter | ApplyTo::HttpFilter);
    let code = match operation {
        Op::Replace if !filters => "IST0152",
        Op::Add if on_routes => "IST0153",
        Op::Remove if on_routes => "IST0154",
        Op::InsertBefore | Op::InsertAfter | Op::Replace | Op::Remove if view.filter.priority == 0 => {
            let version = view.patch.proxy.as_ref().is_some_and(|proxy| !proxy.version.is_empty());
            if version { "IST0155" } else { "IST0151" }
        }
        _ => return None,
    };
    let span = view.value_span(&["patch", "operation"]);
    if !matches!(code, "IST0151" | "IST0155") {
        let ignored = view.built?.status == Status::NoOp(NoOp::OperationIgnored);
        let does = if ignored { "does nothing" } else { "works" };
        let why = format!("{operation} on {apply_to} {does} in Istio {}.{}", cx.release.major, cx.release.minor);
        return Some(Verdict { code, span, right: Some(ignored), why });
    }
    let runs: Vec<_> = cx.on_proxies(view.filter_index, view.patch.index).collect();
    let dumps = runs.iter().any(|run| run.run.knowledge == Knowledge::Dump);
    let applied = runs.iter().filter(|run| run.outcome == Outcome::Applied).count();
    let given = if dumps { "the configuration given" } else { "the configuration istiod generates by default" };
    let (right, why) = match (runs.len(), applied) {
        (0, _) => (None, "no proxy is known that the filter attaches to".to_owned()),
        (_, 0) => (Some(true), format!("what it refers to is not in {given} when the patch runs")),
        (all, applied) if applied < all => {
            (None, format!("what it refers to is there on {applied} of {all} proxies of {given}"))
        }
        _ => (Some(false), format!("what it refers to is in {given}, and the patch changes it")),
    };
    Some(Verdict { code, span, right, why })
}
