//! `lint`: EnvoyFilters that are wrong, risky or have no effect.

use super::istiod::IstiodOptions;
use super::options::{Envoy, GET_ENVOY, NO_ENVOY, Proxies};
use super::rendered;
use super::session::{Exit, Session};
use crate::lint::baseline::Baseline;
use crate::lint::config::{self, FailOn};
use crate::lint::fix;
use crate::lint::istioctl::Judgement;
use crate::load::{self, config as files};
use crate::mesh::{self, Error, LintReport, LintRequest, Refusal, Unfixable};
use crate::report::findings::{self as forms, Report};
use crate::report::screen::Mode;
use crate::report::style::{Role, count};
use crate::report::{self, unified};
use crate::source::{Code, ErrorMessage, Problem, Severity, SourceText, Sources};
use clap::{Args, ValueEnum};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "options that are there or not")]
pub(super) struct Lint {
    /// EnvoyFilters and related objects (workloads, services): files, folders, - for standard input [default: the cluster's]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Same as FILE
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    named: Vec<PathBuf>,
    /// Helm chart to render with `helm` and check; -f then names its values files
    #[arg(long, value_name = "CHART")]
    helm: Option<PathBuf>,
    /// Kustomization to build with `kustomize` or `kubectl` and check
    #[arg(short = 'k', long, value_name = "FOLDER")]
    kustomize: Option<PathBuf>,
    #[arg(skip)]
    rendered: Vec<(String, String)>,
    #[command(flatten)]
    proxies: Proxies,
    #[command(flatten)]
    istiod: IstiodOptions,
    #[command(flatten)]
    envoy: Envoy,
    /// Send standard requests through the patched proxies in a real Envoy and report what fails at run time; uses `envoy` on
    /// the PATH unless --envoy is given
    #[arg(long)]
    run: bool,
    /// Only these rules (codes, prefixes such as EF3, names, or all)
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    select: Vec<String>,
    /// Skip these rules
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Output format
    #[arg(short, long, default_value = "human")]
    output: Output,
    /// Write to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(super) output_file: Option<PathBuf>,
    /// Show only the number of findings per rule
    #[arg(long)]
    stat: bool,
    /// Show info findings in full instead of only counting them
    #[arg(long)]
    pedantic: bool,
    /// Minimum severity to report: error, warning or info
    #[arg(long, value_name = "SEVERITY", value_parser = severity)]
    min_severity: Option<Severity>,
    /// Minimum severity that makes the exit code 1 [default: error]
    #[arg(long, value_name = "SEVERITY", value_parser = fail_on)]
    fail_on: Option<FailOn>,
    /// Ignore findings listed in this file
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Update the baseline: add new findings, drop those that are gone
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
    /// Apply safe fixes
    #[arg(long)]
    fix: bool,
    /// Also apply unsafe fixes
    #[arg(long)]
    unsafe_fixes: bool,
    /// Show what fixes would change without changing anything
    #[arg(long)]
    diff: bool,
    /// Your own rules: files or folders of kind LintRule
    #[arg(long, value_name = "PATH")]
    rules: Vec<PathBuf>,
    /// Configuration file [default: the nearest .envoyfilter.yaml, searching upwards]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

fn severity(word: &str) -> Result<Severity, ErrorMessage> {
    config::severity(word).ok_or_else(|| "one of error, warning, info".into())
}

fn fail_on(word: &str) -> Result<FailOn, ErrorMessage> {
    FailOn::from_word(word).ok_or_else(|| "one of error, warning, info, never".into())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Human,
    /// schemas/lint.json
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// JUnit XML
    Junit,
    /// GitHub Actions workflow commands
    Github,
    /// GitLab code quality report
    Gitlab,
    /// A table
    Markdown,
}

impl Lint {
    /// The output mode, if the options determine it.
    pub(super) fn mode(&self) -> Option<Mode> {
        let standard_input = self.files.iter().chain(&self.named).any(|file| file.as_os_str() == "-");
        match self.output {
            // Input from standard input is fixed on standard output.
            _ if standard_input && (self.fix || self.unsafe_fixes) && !self.diff => Some(Mode::Exact),
            Output::Github if self.output_file.is_none() => Some(Mode::Commands),
            _ => None,
        }
    }

    pub(super) fn run(&mut self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let rendered = [
            self.helm.as_deref().map(|chart| rendered::helm(chart, &std::mem::take(&mut self.named))),
            self.kustomize.as_deref().map(rendered::kustomize),
        ];
        for one in rendered.into_iter().flatten() {
            match one {
                Ok(one) => self.rendered.push((one.name, one.text)),
                Err(problem) => {
                    session.problems(&Sources::default(), [&problem])?;
                    return Ok(Exit::Partial);
                }
            }
        }
        self.files.append(&mut self.named);
        if self.files.is_empty() && (self.fix || self.unsafe_fixes) && !self.diff {
            let of = match () {
                () if !self.rendered.is_empty() => Unfixable::Rendered,
                () if self.proxies.demo => Unfixable::Demo,
                () => Unfixable::Cluster,
            };
            return Err(Refusal::FixesNeedFiles(of).into());
        }
        #[cfg(not(feature = "sandbox"))]
        if self.run {
            return session.usage("this build cannot send requests through an Envoy", None);
        }
        if self.run && self.envoy.envoy.is_none() {
            self.envoy.envoy = crate::process::find("envoy");
            if self.envoy.envoy.is_none() {
                return session.usage(NO_ENVOY, Some(GET_ENVOY));
            }
        }
        let request = self.request(session);
        let mut run = mesh::lint(&request, session.progress)?;
        self.tell(session, &run)?;
        let standard_input = self.files.iter().any(|file| file.as_os_str() == "-");
        let mut fixed_text = None;
        if self.fix || self.unsafe_fixes || self.diff {
            let done = self.fixes(session, &mut run)?;
            fixed_text = done.standard_input;
            if done.written > 0 && !standard_input {
                // Remaining findings are reported at their new places.
                run = mesh::lint(&request, session.progress)?;
                self.tell(session, &run)?;
            }
            run.trouble.extend(done.unwritten);
        }
        if let Some(exit) = self.against_baseline(session, &mut run)? {
            return Ok(exit);
        }
        run.summary.count(&run.findings);
        run.summary.unread = run.unread_inputs();
        run.summary.read_only = self.files.is_empty();
        let text = fixed_text.is_some();
        if let Some(text) = fixed_text {
            session.out.write_all(text.as_bytes())?;
        }
        self.write(session, &run, text)?;
        let (fails, partial) = (run.fails(), !run.trouble.is_empty());
        // The process ends here; freeing all documents one by one would take a tenth of its time.
        std::mem::forget(run);
        Ok(if partial {
            Exit::Partial
        } else if fails {
            Exit::Findings
        } else {
            Exit::Ok
        })
    }

    fn request(&self, session: &Session<'_>) -> LintRequest {
        LintRequest {
            settings: self.istiod.of(session),
            given: self.proxies.given(),
            files: self.files.clone(),
            rendered: self.rendered.clone(),
            envoy: self.envoy.envoy.clone(),
            #[cfg(feature = "sandbox")]
            run: self.run,
            select: self.select.clone(),
            ignore: self.ignore.clone(),
            config: self.config.clone(),
            rules: self.rules.clone(),
            fail_on: self.fail_on,
            min_severity: self.min_severity,
            shard: None,
            everything: session.verbose(),
            istioctl: session.verbose() || self.output == Output::Json,
        }
    }

    /// Reports what no finding covers.
    fn tell(&self, session: &mut Session<'_>, run: &LintReport) -> io::Result<()> {
        session.problems(&run.loaded.sources, &run.problems)?;
        session.notes(&run.notes)?;
        if self.output == Output::Json { Ok(()) } else { session.scope(&run.scope) }
    }

    /// Removes findings listed in the baseline, or updates it.
    fn against_baseline(&self, session: &mut Session<'_>, run: &mut LintReport) -> Result<Option<Exit>, Error> {
        let Some(path) = &self.baseline else { return Ok(None) };
        let old = if files::exists(path) || !self.update_baseline {
            let unreadable = |reason: String| Error::Baseline { path: path.clone(), reason };
            let text = files::text(path).map_err(|problem| unreadable(problem.message))?;
            Baseline::read(&text).map_err(|error| unreadable(error.into()))?
        } else {
            Baseline::default()
        };
        if !self.update_baseline {
            run.apply(&old);
            return Ok(None);
        }
        let new = run.baseline(&old);
        let mut text = Vec::new();
        report::json(&mut text, &new)?;
        if let Err(problem) = files::write(path, &String::from_utf8_lossy(&text)) {
            session.problems(&run.loaded.sources, [&problem])?;
            return Ok(Some(Exit::Partial));
        }
        let entries = count(new.findings.len(), "entry", "entries");
        session.note(&format!("{} now holds {entries}", path.display()))?;
        run.summary.known = run.findings.len();
        run.findings.clear();
        Ok(None)
    }

    /// Applies fixes, or shows them.
    fn fixes(&self, session: &mut Session<'_>, run: &mut LintReport) -> io::Result<Done> {
        let sources = &run.loaded.sources;
        let outcome = fix::apply(&run.findings, sources, self.unsafe_fixes);
        let options = session.settings().load_options();
        let mut done = Done::default();
        let mut fixed = 0;
        for one in &outcome.files {
            let source = sources.get(one.file);
            let name = &source.name;
            let Some(after) = one.rewrite(&source.text) else { continue };
            let broken = |text: &str| {
                let read = load::read_text(name, text, &options);
                read.problems.iter().filter(|problem| problem.severity == Severity::Error).count()
            };
            if broken(&after) > broken(&source.text) {
                done.unwritten.push(format!("cannot write {name}: with the fixes it would no longer be readable"));
                continue;
            }
            if self.diff {
                let names = (format!("a/{name}"), format!("b/{name}"));
                let limit = if session.verbose() { usize::MAX } else { unified::MAX_LINES };
                unified::diff(session.out, session.around.out, (&names.0, &names.1), (&source.text, &after), limit)?;
            } else if name == "<stdin>" {
                done.standard_input = Some(after);
            } else {
                match original(source).and_then(|text| {
                    let text = one.rewrite(&text).ok_or_else(|| changed(name))?;
                    files::write(Path::new(name), &text)
                }) {
                    Ok(()) => done.written += 1,
                    Err(problem) => {
                        report::problem::problem(session.err, session.around.err, sources, &problem)?;
                        done.unwritten.push(problem.message);
                        continue;
                    }
                }
            }
            fixed += one.findings.len();
        }
        if self.files.iter().any(|file| file.as_os_str() == "-") && !self.diff && done.standard_input.is_none() {
            let text = sources.iter().find(|(_, source)| source.name == "<stdin>");
            done.standard_input = text.map(|(_, source)| source.text.clone());
        }
        let what = if self.diff { "would be fixed" } else { "fixed" };
        let findings = count(fixed, "finding", "findings");
        write!(session.err, "note: {findings} {what} in {}", count(outcome.files.len(), "file", "files"))?;
        if outcome.not_safe > 0 {
            write!(session.err, "; {} more with --unsafe-fixes", outcome.not_safe)?;
        }
        if outcome.overlapping > 0 {
            write!(session.err, "; {} overlap with others: run again", outcome.overlapping)?;
        }
        if outcome.incomplete > 0 {
            write!(
                session.err,
                "; {} left out: the same fix changes patches that are not reported",
                outcome.incomplete
            )?;
        }
        writeln!(session.err)?;
        Ok(done)
    }

    fn write(&self, session: &mut Session<'_>, run: &LintReport, aside: bool) -> io::Result<()> {
        let sources = &run.loaded.sources;
        let report = Report {
            sources,
            findings: &run.findings,
            filters: &run.loaded.inventory.envoy_filters,
            asked: run.asked.as_ref(),
            summary: &run.summary,
            releases: &run.releases,
            trouble: &run.trouble,
            istioctl: &run.verdicts,
            scope: &run.scope,
        };
        let verbose = session.verbose();
        let mut terminal = session.around.out;
        let mut text = Vec::new();
        let to_file = self.output_file.is_some();
        if to_file {
            terminal = report::style::Terminal::default();
        }
        let direct: &mut dyn Write = match (to_file, aside || (self.diff && self.output == Output::Human)) {
            (true, _) => &mut text,
            // Standard output contains the fixed text, or the differences.
            (false, true) => {
                terminal = session.around.err;
                session.err
            }
            (false, false) => session.out,
        };
        match self.output {
            _ if self.stat => forms::stat(direct, terminal, &report)?,
            Output::Human => {
                // Users who select infos by severity or by rule want to read them.
                let asked = self.pedantic || self.min_severity == Some(Severity::Info) || !self.select.is_empty();
                forms::text(direct, terminal, forms::Detail { verbose, infos: verbose || asked }, &report)?;
                for verdict in &run.verdicts {
                    let role = match verdict.right {
                        Judgement::Right => Role::Odd,
                        Judgement::Wrong => Role::Good,
                        Judgement::OtherReason | Judgement::Unknown => Role::Dim,
                    };
                    let right = terminal.paint(role, verdict.right.words());
                    let place = sources.place(verdict.span);
                    writeln!(direct, "- {place}: istioctl reports {} here, {right}: {}", verdict.code, verdict.why)?;
                }
            }
            Output::Json => forms::json(direct, &report)?,
            Output::Sarif => forms::sarif(direct, &report)?,
            Output::Junit => forms::junit(direct, &report)?,
            Output::Github => forms::github(direct, &report)?,
            Output::Gitlab => forms::gitlab(direct, &report)?,
            Output::Markdown => forms::markdown(direct, &report)?,
        }
        if let Some(path) = &self.output_file {
            files::write(path, &String::from_utf8_lossy(&text)).map_err(|problem| io::Error::other(problem.message))?;
        }
        Ok(())
    }
}

/// The result of applying fixes.
#[derive(Debug, Default)]
struct Done {
    /// Files written.
    written: usize,
    /// Standard input with its fixes.
    standard_input: Option<String>,
    /// What could not be written, as sentences.
    unwritten: Vec<String>,
}

/// The text in a source's file. It may differ from what was read: Secrets are blanked, packed files unpacked.
fn original(source: &SourceText) -> Result<String, Problem> {
    let text = files::text(Path::new(&source.name)).map_err(|_| changed(&source.name))?;
    let blanked = |(read, stands): (u8, u8)| read == stands || read == b' ';
    let same = text.len() == source.text.len() && source.text.bytes().zip(text.bytes()).all(blanked);
    if same { Ok(text) } else { Err(changed(&source.name)) }
}

fn changed(name: &str) -> Problem {
    Problem {
        code: Code::CannotRead,
        severity: Severity::Error,
        span: None,
        message: format!("cannot write {name}: it is compressed, or no longer contains what was read from it"),
        help: None,
    }
}
