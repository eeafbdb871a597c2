//! `audit`: what an Istio upgrade does to a set of EnvoyFilters, before it happens.

use super::options::{Envoy, Proxies};
use super::session::{Exit, Session};
use crate::audit::Audit as Answer;
use crate::lint::summary::Summary;
use crate::lint::upgrade::tell::{Class, short};
use crate::lint::{Finding, fix};
use crate::load::{Loaded, config as files};
use crate::mesh::{self, AuditReport, AuditRequest, Error, IstiodSettings};
use crate::model::release::Release;
use crate::report::{self, audit as forms, findings};
use crate::source::ErrorMessage;
use clap::{Args, ValueEnum};
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Audit {
    /// EnvoyFilters and related objects (workloads, services): files, folders, - for standard input [default: the whole
    /// mesh of the current context; one namespace with -n]
    #[arg(short, long = "filename", value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    proxies: Proxies,
    #[command(flatten)]
    envoy: Envoy,
    /// Release to upgrade to [default: the newest of --istiod]
    #[arg(long, value_name = "RELEASE", required_unless_present_any = ["istiod", "istiod_to"])]
    to: Option<Release>,
    /// Release that runs now [default: from the cluster or the config dumps; for manifests alone, the oldest of --istiod]
    #[arg(long, value_name = "RELEASE")]
    from: Option<Release>,
    /// Releases on the way, such as 1.24,1.26,1.28 [default: every minor release]
    #[arg(long, value_name = "RELEASES", value_delimiter = ',')]
    path: Vec<Release>,
    /// Revision that runs now: EnvoyFilters for other revisions do not count before the upgrade
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    revision_from: String,
    /// Revision to upgrade to: EnvoyFilters for other revisions do not count after the upgrade
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    revision_to: String,
    /// istiod binary of a release on the way, RELEASE=PATH; may be given several times: the configuration that it generates
    /// replaces the forecast
    #[arg(long, value_name = "RELEASE=PATH", value_parser = istiod, help_heading = "istiod")]
    istiod: Vec<(Option<Release>, PathBuf)>,
    /// istiod binary of the release to upgrade to
    #[arg(long, value_name = "PATH", help_heading = "istiod")]
    istiod_to: Option<PathBuf>,
    /// Also list changes that do not depend on EnvoyFilters; requires the istiod of the release to upgrade to
    #[arg(long, help_heading = "istiod")]
    all_changes: bool,
    /// Output format
    #[arg(short, long, default_value = "human")]
    output: Output,
    /// Write to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(super) output_file: Option<PathBuf>,
    /// Minimum class that makes the exit code 1
    #[arg(long, value_name = "CLASS", default_value = "breaks")]
    fail_on: FailOn,
    /// Also apply fixes that may change what an EnvoyFilter means
    #[arg(long)]
    unsafe_fixes: bool,
}

/// `RELEASE=PATH`, or a path alone.
fn istiod(text: &str) -> Result<(Option<Release>, PathBuf), ErrorMessage> {
    match text.split_once('=') {
        None => Ok((None, text.into())),
        Some((release, path)) => match release.parse() {
            Ok(release) => Ok((Some(release), path.into())),
            Err(_) => Err(format!("`{release}` is not a release of Istio: write 1.31=PATH").into()),
        },
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Human,
    /// schemas/audit.json
    Json,
    /// For a change ticket
    Markdown,
    /// One self-contained page
    Html,
    /// A patch with the rewritten EnvoyFilters
    Diff,
    /// SARIF 2.1.0
    Sarif,
    /// JUnit XML
    Junit,
    /// GitHub Actions workflow commands
    Github,
    /// GitLab code quality report
    Gitlab,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// What works now but not after the upgrade
    Breaks,
    /// Also what works differently
    Changes,
    /// Also what a later release rejects
    Deprecated,
    /// Any finding
    Cleanup,
    /// Never
    Never,
}

impl FailOn {
    fn fails(self, class: Class) -> bool {
        match self {
            FailOn::Breaks => class >= Class::Breaks,
            FailOn::Changes => class >= Class::Changes,
            FailOn::Deprecated => class >= Class::Deprecated,
            FailOn::Cleanup => true,
            FailOn::Never => false,
        }
    }
}

impl Audit {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let request = AuditRequest {
            settings: session.settings(),
            given: self.proxies.given(),
            files: self.files.clone(),
            envoy: self.envoy.envoy.clone(),
            to: self.to,
            from: self.from,
            path: self.path.clone(),
            revisions: (self.revision_from.clone(), self.revision_to.clone()),
            unsafe_fixes: self.unsafe_fixes,
            istiods: self
                .istiod
                .iter()
                .cloned()
                .chain(self.istiod_to.iter().map(|path| (self.to, path.clone())))
                .map(|(release, path)| (release, IstiodSettings { path, ..IstiodSettings::default() }))
                .collect(),
            all_changes: self.all_changes,
        };
        let report = mesh::audit(&request, session.progress)?;
        session.notes(&report.notes)?;
        session.report_problems(&report.loaded, &report.problems)?;
        if self.output != Output::Json {
            session.scope(&report.scope)?;
        }
        self.write(session, &report)?;
        let fails = report.audit.found.iter().any(|one| self.fail_on.fails(one.class));
        // The process ends here; freeing all documents one by one would take a tenth of its time.
        let partial = report.partial;
        std::mem::forget(report);
        Ok(match (partial, fails) {
            (true, _) => Exit::Partial,
            (false, true) => Exit::Findings,
            (false, false) => Exit::Ok,
        })
    }

    fn write(&self, session: &mut Session<'_>, report: &AuditReport) -> io::Result<()> {
        let (loaded, answer) = (&report.loaded, &report.audit);
        let verbose = session.verbose();
        let mut terminal = session.around.out;
        let mut text = Vec::new();
        let out: &mut dyn Write = if self.output_file.is_some() {
            terminal = report::style::Terminal::default();
            &mut text
        } else {
            session.out
        };
        match self.output {
            Output::Human => forms::text(out, terminal, verbose, &answer.view, &report.scope)?,
            Output::Json => report::scoped(out, &answer.view, &report.scope)?,
            Output::Markdown => forms::markdown(out, &answer.view, &report.scope)?,
            Output::Html => forms::html(out, &answer.view, &report.scope)?,
            Output::Diff => forms::diff(out, terminal, &self.rewritten(loaded, answer))?,
            Output::Sarif | Output::Junit | Output::Github | Output::Gitlab => {
                self.as_findings(out, report)?;
            }
        }
        if let Some(file) = &self.output_file {
            files::write(file, &String::from_utf8_lossy(&text)).map_err(|problem| io::Error::other(problem.message))?;
        }
        Ok(())
    }

    /// The forms that lint has too.
    fn as_findings(&self, out: &mut dyn Write, of: &AuditReport) -> io::Result<()> {
        let (loaded, path, answer) = (&of.loaded, &of.path, &of.audit);
        let found: Vec<Finding> = answer.found.iter().map(|one| one.finding.clone()).collect();
        let filters = &loaded.inventory.envoy_filters;
        let mut summary = Summary {
            filters: filters.len(),
            patches: answer.view.counts.patches,
            files: loaded.sources.iter().count(),
            dumps: answer.view.counts.dumps,
            suppressed: answer.suppressed,
            unread: answer.view.problems.len(),
            unknown: answer.view.unknown.clone(),
            ..Summary::default()
        };
        summary.count(&found);
        let releases: Vec<String> = path.iter().copied().map(short).collect();
        let judged = answer.view.filters.iter().map(crate::audit::view::Filter::full_name).collect();
        let report = findings::Report {
            asked: Some(&judged),
            istioctl: &[],
            scope: &of.scope,
            sources: &loaded.sources,
            findings: &found,
            filters,
            summary: &summary,
            releases: &releases,
            trouble: &answer.view.problems,
        };
        match self.output {
            Output::Sarif => findings::sarif(out, &report),
            Output::Junit => findings::junit(out, &report),
            Output::Github => findings::github(out, &report),
            _ => findings::gitlab(out, &report),
        }
    }

    /// Files before and after the fixes.
    fn rewritten(&self, loaded: &Loaded, answer: &Answer) -> Vec<(String, String, String)> {
        let found: Vec<Finding> = answer.found.iter().map(|one| one.finding.clone()).collect();
        let outcome = fix::apply(&found, &loaded.sources, self.unsafe_fixes);
        let files = outcome.files.iter().filter_map(|one| {
            let source = loaded.sources.get(one.file);
            Some((source.name.clone(), source.text.clone(), one.rewrite(&source.text)?))
        });
        files.collect()
    }
}
