//! Asks a real Envoy about the result of filters.

use crate::engine::{self, Options, Plan};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::resource::ProxyConfig;
use crate::source::{Code, Problem, Severity, Sources, Span};
use crate::trial::blame::{self, Proof};
use crate::trial::{Subject, Trial, Tried};

/// The result of asking an Envoy, in order of severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    /// It accepts everything, or was not asked.
    #[default]
    Taken,
    /// It rejects something.
    Refused,
    /// It did not answer.
    NoAnswer,
}

/// A remark of an Envoy, with the texts that its place is in.
#[derive(Clone, Debug)]
pub struct Remark {
    /// The remark; `of` says which texts its place is in.
    pub problem: Problem,
    /// Number of the set of filters whose texts the place is in.
    pub of: Option<usize>,
}

/// The filters of a run with the texts they come from. If two sets contain a filter, the later one counts.
pub(super) type Written<'w> = [(&'w [EnvoyFilter], &'w Sources)];

fn set_of(written: &Written<'_>, name: &str) -> Option<usize> {
    let has = |filters: &[EnvoyFilter]| filters.iter().any(|filter| filter.full_name() == name);
    written.iter().rposition(|(filters, _)| has(filters))
}

/// Asks about one proxy; returns whether anything is rejected, and what.
pub(super) fn ask(
    trial: &Trial,
    plan: &Plan<'_>,
    config: &ProxyConfig<'_>,
    options: &Options,
    written: &Written<'_>,
) -> (Asked, Vec<Remark>) {
    let judged = engine::judge(plan, config, options);
    let subject = Subject { plan, config, options, patched: &judged.patched, trace: &judged.trace, complete: true };
    match blame::ask(trial, &subject) {
        Ok(tried) => {
            let asked = if tried.refusals.is_empty() { Asked::Taken } else { Asked::Refused };
            (asked, remarks(trial, plan, config, &tried, written))
        }
        Err(trouble) => (Asked::NoAnswer, vec![remark(None, None, Severity::Error, trouble.message)]),
    }
}

fn remarks(
    trial: &Trial,
    plan: &Plan<'_>,
    config: &ProxyConfig<'_>,
    tried: &Tried,
    written: &Written<'_>,
) -> Vec<Remark> {
    let (envoy, proxy) = (trial.name(), config.proxy.full_name());
    let mut remarks = Vec::new();
    for refusal in &tried.refusals {
        let planned = plan.get(refusal.patch);
        let name = plan.filters.get(planned.filter).map(EnvoyFilter::full_name).unwrap_or_default();
        let (index, kind, resource) = (planned.built.patch.index, refusal.kind.as_str(), &refusal.resource);
        let how = match refusal.proof {
            Proof::Alone => "rejected with this patch alone",
            Proof::Together => "accepted without this patch",
            Proof::Among => "one of the patches in the rejected resource",
        };
        let message = format!(
            "{envoy} rejects {kind} {resource} of {proxy} with patch {index} of {name} ({how}): {}",
            refusal.words
        );
        let of = set_of(written, &name);
        remarks.push(remark(of, of.map(|_| planned.built.patch.span), Severity::Error, message));
    }
    for (kind, resource, words) in &tried.before {
        let message = format!(
            "{envoy} rejects {} {resource} of {proxy} without any EnvoyFilter; patches to it are not checked: {words}",
            kind.as_str()
        );
        remarks.push(remark(None, None, Severity::Warning, message));
    }
    for (kind, resource, why) in &tried.unasked {
        let message = format!("{} {resource} of {proxy} was not given to {envoy}: {why}", kind.as_str());
        remarks.push(remark(None, None, Severity::Warning, message));
    }
    for (name, patch) in &tried.foreign {
        let planned = plan.get(*patch);
        let filter = plan.filters.get(planned.filter).map(EnvoyFilter::full_name).unwrap_or_default();
        let index = planned.built.patch.index;
        let message =
            format!("{envoy} is not Istio's build and does not know {name}: {filter} patch {index} is not checked");
        remarks.push(remark(None, None, Severity::Warning, message));
    }
    remarks
}

fn remark(of: Option<usize>, span: Option<Span>, severity: Severity, message: String) -> Remark {
    Remark { problem: Problem { code: Code::RefusedByEnvoy, severity, span, message, help: None }, of }
}
