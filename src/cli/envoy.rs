//! The option `--envoy`: a real Envoy that is asked about what filters make.

use super::{Exit, Session};
use crate::engine::{self, Options, Plan};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::resource::ProxyConfig;
use crate::report;
use crate::source::{Problem, Severity, Sources};
use crate::trial::blame::Proof;
use crate::trial::{Subject, Trial, Tried, put};
use clap::Args;
use std::io;
use std::path::PathBuf;

#[derive(Debug, Default, Args)]
pub(super) struct Envoy {
    /// Envoy binary to ask whether it takes the patched configuration
    #[arg(long, value_name = "PATH")]
    envoy: Option<PathBuf>,
}

impl Envoy {
    /// Starts the Envoy that is named, if one is. Fails with the way the command ends.
    pub(super) fn start(&self, session: &mut Session<'_>) -> io::Result<Result<Option<Trial>, Exit>> {
        let Some(path) = &self.envoy else { return Ok(Ok(None)) };
        match Trial::start(path) {
            Ok(trial) => Ok(Ok(Some(trial))),
            Err(trouble) => {
                let exit = session.usage(&trouble.message, Some("--envoy takes the path of an Envoy binary"))?;
                Ok(Err(if trouble.usage { exit } else { Exit::Partial }))
            }
        }
    }
}

/// The filters of a run, with the texts they come from.
pub(super) struct Written<'w> {
    /// Filters and texts; of two that have a filter, the last counts.
    pub(super) of: Vec<(&'w [EnvoyFilter], &'w Sources)>,
}

impl Written<'_> {
    fn sources(&self, name: &str) -> Option<&Sources> {
        let has = |filters: &[EnvoyFilter]| filters.iter().any(|filter| filter.full_name() == name);
        self.of.iter().rev().find(|(filters, _)| has(filters)).map(|(_, sources)| *sources)
    }
}

/// Asks about one proxy and says on standard error what is refused; whether anything was, and whether Envoy answered.
pub(super) fn ask<'a>(
    session: &mut Session<'_>,
    trial: &Trial,
    (plan, config): (&Plan<'a>, &'a ProxyConfig<'a>),
    options: &'a Options,
    written: &Written<'_>,
) -> io::Result<Asked> {
    let judged = engine::judge(plan, config, options);
    let subject = Subject { plan, config, options, patched: &judged.patched, trace: &judged.trace, complete: true };
    match put(trial, &subject) {
        Ok(tried) => {
            tell(session, trial, (plan, config), &tried, written)?;
            Ok(if tried.refusals.is_empty() { Asked::Taken } else { Asked::Refused })
        }
        Err(trouble) => {
            say(session, None, problem(Severity::Error, None, trouble.message, None))?;
            Ok(Asked::NoAnswer)
        }
    }
}

/// What came of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asked {
    /// Envoy takes everything.
    Taken,
    /// It refuses something.
    Refused,
    /// It did not answer.
    NoAnswer,
}

fn tell(
    session: &mut Session<'_>,
    trial: &Trial,
    (plan, config): (&Plan<'_>, &ProxyConfig<'_>),
    tried: &Tried,
    written: &Written<'_>,
) -> io::Result<()> {
    let (envoy, proxy) = (trial.name(), config.proxy.full_name());
    for refusal in &tried.refusals {
        let planned = plan.get(refusal.patch);
        let name = plan.filters.get(planned.filter).map(EnvoyFilter::full_name).unwrap_or_default();
        let (index, kind, resource) = (planned.built.patch.index, refusal.kind.word(), &refusal.resource);
        let how = match refusal.proof {
            Proof::Alone => "refused with this patch alone",
            Proof::Together => "taken without this patch",
            Proof::Among => "one of the patches in what is refused",
        };
        let message = format!(
            "{envoy} refuses {kind} {resource} of {proxy} with patch {index} of {name} in it ({how}): {}",
            refusal.words
        );
        let sources = written.sources(&name);
        say(session, sources, problem(Severity::Error, Some(planned.built.patch.span), message, None))?;
    }
    for (kind, resource, words) in &tried.before {
        let message = format!(
            "{envoy} refuses {} {resource} of {proxy} without any filter, so what filters do there is not checked: {words}",
            kind.word()
        );
        say(session, None, problem(Severity::Warning, None, message, None))?;
    }
    for (kind, resource, why) in &tried.unasked {
        let message = format!("{} {resource} of {proxy} was not given to {envoy}: {why}", kind.word());
        say(session, None, problem(Severity::Warning, None, message, None))?;
    }
    for (name, patch) in &tried.foreign {
        let planned = plan.get(*patch);
        let filter = plan.filters.get(planned.filter).map(EnvoyFilter::full_name).unwrap_or_default();
        let index = planned.built.patch.index;
        let message =
            format!("{envoy} is not Istio's build and does not know {name}: not checked for {filter} patch {index}");
        say(session, None, problem(Severity::Warning, None, message, None))?;
    }
    Ok(())
}

fn problem(severity: Severity, span: Option<crate::source::Span>, message: String, help: Option<String>) -> Problem {
    Problem { code: "refused-by-envoy", severity, span, message, help }
}

/// Writes a problem; one with a place needs the texts that it is in.
fn say(session: &mut Session<'_>, sources: Option<&Sources>, problem: Problem) -> io::Result<()> {
    let none = Sources::default();
    let problem = if sources.is_none() { Problem { span: None, ..problem } } else { problem };
    report::problem::problem(session.err, session.around.err, sources.unwrap_or(&none), &problem)
}
