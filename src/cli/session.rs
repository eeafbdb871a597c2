//! One run: the common options, the output, and the handling of errors.

use super::options::Global;
use super::progress::Watched;
#[cfg(feature = "cluster")]
use crate::cluster::Cluster;
use crate::load::Loaded;
#[cfg(feature = "cluster")]
use crate::mesh::live::Link;
use crate::mesh::{self, Error, Remark, Scope, Settings};
use crate::model::release::Release;
use crate::report::style::{Role, Terminal};
use crate::report::{self, scope};
use crate::source::{Code, Problem, Severity, Sources, escape};
use std::io::{self, Write};
#[cfg(feature = "cluster")]
use tokio::runtime::Runtime;

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success; no difference.
    Ok,
    /// `diff` found changes.
    Changes,
    /// `lint` or `audit` found something at or above `--fail-on`; Envoy rejects the output of `render`.
    Findings,
    /// The command line is invalid, or `diff` had trouble.
    Usage,
    /// Something could not be read; the rest was processed.
    Partial,
}

impl Exit {
    /// The exit code.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Changes | Exit::Findings => 1,
            Exit::Usage => 2,
            Exit::Partial => 3,
        }
    }

    /// The exit code for an error.
    pub(super) fn of(error: &Error) -> Exit {
        match error {
            // It may be among what could not be listed.
            Error::NotFound(unanswered) if unanswered.problems.iter().any(hides) => Exit::Partial,
            // As for files and config dumps.
            Error::Unusable(unanswered) if unanswered.problems.iter().any(|it| it.code == Code::BadCapture) => {
                Exit::Partial
            }
            #[cfg(feature = "cluster")]
            Error::Cluster { .. } => Exit::Partial,
            Error::Output(_) => Exit::Partial,
            Error::Envoy(trouble) if !trouble.usage => Exit::Partial,
            #[cfg(feature = "bottle")]
            Error::Istiod(fault) if !fault.is_usage() => Exit::Partial,
            _ => Exit::Usage,
        }
    }
}

/// Whether something may exist that was not read.
fn hides(problem: &Problem) -> bool {
    match problem.code {
        Code::NoDump | Code::NotReady => true,
        Code::NotAllowed | Code::CannotList | Code::Interrupted => problem.severity == Severity::Error,
        code => problem.severity == Severity::Error && code.is_dump(),
    }
}

/// What the process tells the library about its environment.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// Standard output as a terminal.
    pub out: Terminal,
    /// Standard error as a terminal.
    pub err: Terminal,
    /// Whether standard error is a terminal, so that a progress bar makes sense.
    pub progress: bool,
}

/// One run: the common options and the output. No code below the command line sees it.
pub(super) struct Session<'s> {
    pub(super) global: &'s Global,
    pub(super) around: Surroundings,
    pub(super) out: &'s mut dyn Write,
    pub(super) err: &'s mut dyn Write,
    pub(super) progress: &'s Watched,
}

impl Session<'_> {
    pub(super) fn release(&self) -> Release {
        self.global.istio_version.unwrap_or(Release::NEWEST)
    }

    /// The settings of the mesh from the common options.
    pub(super) fn settings(&self) -> Settings {
        self.global.settings()
    }

    /// Whether to show everything.
    pub(super) fn verbose(&self) -> bool {
        self.global.verbose
    }

    /// Reports an invalid command line.
    pub(super) fn usage(&mut self, message: &str, help: Option<&str>) -> Result<Exit, Error> {
        self.error(message, help)?;
        Ok(Exit::Usage)
    }

    fn error(&mut self, message: &str, help: Option<&str>) -> io::Result<()> {
        let word = self.around.err.paint(Role::Bad, "error");
        writeln!(self.err, "{word}: {}", escape::one_line(message))?;
        if let Some(help) = help {
            writeln!(self.err, "  help: {}", escape::one_line(help))?;
        }
        Ok(())
    }

    /// Prints an error with its possible causes.
    pub(super) fn fail(&mut self, error: &Error) -> io::Result<Exit> {
        if let Some(unanswered) = error.unanswered() {
            self.problems(&unanswered.sources, &unanswered.problems)?;
            if matches!(error, Error::Unusable(_)) && !unanswered.problems.is_empty() {
                return Ok(Exit::of(error));
            }
        }
        self.error(&error.to_string(), error.help().as_deref())?;
        Ok(Exit::of(error))
    }

    /// A note on standard error.
    pub(super) fn note(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.err, "note: {text}")
    }

    /// A warning on standard error.
    pub(super) fn warn(&mut self, text: &str) -> io::Result<()> {
        let word = self.around.err.paint(Role::Odd, "warning");
        writeln!(self.err, "{word}: {text}")
    }

    /// Says that a text to apply is printed without secrets of the input, as a comment in it and as a warning.
    pub(super) fn warn_of_redacted(&mut self, text: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(text);
        let shortened = |line: &str| self.global.secrets.with(|secrets| secrets.scrub(line) != line);
        if self.global.show_secrets || !text.lines().any(shortened) {
            return Ok(());
        }
        let what = "secrets are printed as [redacted]: use --output-dir or --show-secrets for objects to apply";
        writeln!(self.out, "# {what}")?;
        self.warn(what)
    }

    /// Notes that are shown only with --verbose.
    pub(super) fn notes(&mut self, notes: &[String]) -> io::Result<()> {
        for note in notes.iter().filter(|_| self.global.verbose) {
            writeln!(self.err, "note: {note}")?;
        }
        Ok(())
    }

    /// Prints problems, infos only with --verbose; returns whether any of them means that something is missing.
    pub(super) fn problems<'p>(
        &mut self,
        sources: &Sources,
        problems: impl IntoIterator<Item = &'p Problem>,
    ) -> io::Result<bool> {
        let mut serious = false;
        for problem in problems {
            serious |= mesh::is_serious(problem);
            if problem.severity > Severity::Info || self.global.verbose {
                report::problem::problem(self.err, self.around.err, sources, problem)?;
            }
        }
        Ok(serious)
    }

    /// Prints the loader's problems, and more; returns whether any of them means that something is missing.
    pub(super) fn report_problems(&mut self, loaded: &Loaded, more: &[Problem]) -> io::Result<bool> {
        self.problems(&loaded.sources, loaded.problems.iter().chain(more))
    }

    /// Prints what an Envoy said; places refer to one of these texts.
    pub(super) fn remarks(&mut self, remarks: &[Remark], texts: &[&Sources]) -> io::Result<()> {
        let none = Sources::default();
        for remark in remarks {
            let sources = remark.of.and_then(|number| texts.get(number)).copied();
            let problem = &remark.problem;
            let bare = Problem { span: None, ..problem.clone() };
            let problem = if sources.is_some() { problem } else { &bare };
            report::problem::problem(self.err, self.around.err, sources.unwrap_or(&none), problem)?;
        }
        Ok(())
    }

    /// Prints what a result is based on, if that is more than the named files.
    pub(super) fn scope(&mut self, scope: &Scope) -> io::Result<()> {
        self.scope_line(scope::line(scope))
    }

    /// The same of an answer that no EnvoyFilter is read for.
    pub(super) fn scope_without_filters(&mut self, scope: &Scope) -> io::Result<()> {
        self.scope_line(scope::without_filters(scope))
    }

    fn scope_line(&mut self, line: Option<String>) -> io::Result<()> {
        match line {
            Some(line) => writeln!(self.err, "{}: {line}", self.around.err.paint(Role::Dim, "scope")),
            None => Ok(()),
        }
    }

    /// Finds the cluster that the options name, without sending anything.
    #[cfg(feature = "cluster")]
    pub(super) fn connect(&self) -> Result<(Runtime, Cluster), Error> {
        Ok(Link::connect(&self.settings(), self.progress)?.parts())
    }
}
