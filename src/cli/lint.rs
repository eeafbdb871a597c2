//! `lint`: what is wrong, risky or without effect in a set of EnvoyFilters.

use super::envoy::Envoy;
use super::input::{Proxies, Work};
use super::live::Plane;
use super::webhook::Shard;
use super::{Exit, Session, custom, unread};
use crate::cluster::kinds;
use crate::demo;
use crate::engine::MeshSettings;
use crate::lint::baseline::{self, Baseline};
use crate::lint::config::{self, Config, FailOn};
use crate::lint::istioctl::{self, Judgement, Verdict};
use crate::lint::selection::Selector;
use crate::lint::summary::Summary;
use crate::lint::{self, Finding, Input, Rule, fix};
use crate::load::{self, Loaded, config as files, reference};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::inventory::Inventory;
use crate::model::proxy::REVISION_LABEL;
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::report::findings::{self as forms, Report};
use crate::report::style::Role;
use crate::report::{self, unified};
use crate::source::{FileId, Problem, Severity, SourceText};
use crate::trial::Trial;
use clap::{Args, ValueEnum};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "options that are there or not")]
pub(super) struct Lint {
    /// EnvoyFilters and what they are about (workloads, services): files, folders, - for the standard input; the cluster's
    /// without
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The same, as the other commands take it
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    named: Vec<PathBuf>,
    #[command(flatten)]
    proxies: Proxies,
    #[command(flatten)]
    envoy: Envoy,
    /// Only these rules: codes, beginnings of codes such as EF3, names, or all
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    select: Vec<String>,
    /// Not these rules
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Form of the output
    #[arg(short, long, default_value = "human")]
    output: Output,
    /// Write to a file instead of the standard output
    #[arg(long, value_name = "FILE")]
    output_file: Option<PathBuf>,
    /// Only counts for each rule
    #[arg(long)]
    stat: bool,
    /// From which severity on to exit with 1 [default: error]
    #[arg(long, value_name = "SEVERITY", value_parser = fail_on)]
    fail_on: Option<FailOn>,
    /// Say nothing of the findings in this file
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write what is found to the baseline, without what is found no more
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
    /// Apply the safe fixes
    #[arg(long)]
    fix: bool,
    /// Apply the unsafe fixes as well
    #[arg(long)]
    unsafe_fixes: bool,
    /// Show what the fixes would change, and change nothing
    #[arg(long)]
    diff: bool,
    /// Rules of your own: files, or folders of files, of kind LintRule
    #[arg(long, value_name = "PATH")]
    rules: Vec<PathBuf>,
    /// Configuration, instead of the nearest .envoyfilter.yaml upwards
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Only the filters of this part of the work
    #[arg(skip)]
    shard: Option<Shard>,
}

fn fail_on(word: &str) -> Result<FailOn, String> {
    FailOn::from_word(word).ok_or_else(|| "one of error, warning, info, never".to_owned())
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
    /// Workflow commands of GitHub Actions
    Github,
    /// Code quality report of GitLab
    Gitlab,
    /// A table
    Markdown,
}

/// Everything of one run.
pub(super) struct Run {
    pub(super) loaded: Loaded,
    pub(super) findings: Vec<Finding>,
    /// The filters that were asked about, `namespace/name`; all without.
    pub(super) asked: Option<BTreeSet<String>>,
    summary: Summary,
    releases: Vec<String>,
    /// What could not be read.
    pub(super) trouble: Vec<String>,
    verdicts: Vec<Verdict>,
    fail_on: FailOn,
}

impl Lint {
    /// Lint of the running mesh, as far as a part of the work goes.
    pub(super) fn of_cluster(config: Option<PathBuf>, rules: Vec<PathBuf>, shard: Shard) -> Lint {
        Lint {
            files: Vec::new(),
            named: Vec::new(),
            proxies: Proxies::default(),
            envoy: Envoy::default(),
            select: Vec::new(),
            ignore: Vec::new(),
            output: Output::Human,
            output_file: None,
            stat: false,
            fail_on: None,
            baseline: None,
            update_baseline: false,
            fix: false,
            unsafe_fixes: false,
            diff: false,
            rules,
            config,
            shard: Some(shard),
        }
    }

    pub(super) fn run(&mut self, session: &mut Session<'_>) -> io::Result<Exit> {
        self.files.append(&mut self.named);
        if self.files.is_empty() && self.proxies.has_dumps() {
            let help = "name files or folders, - for the standard input; `lint --demo` shows what it does";
            return session.usage("there is nothing to lint", Some(help));
        }
        let live = self.files.is_empty() && !self.proxies.demo;
        if self.files.is_empty() && (self.fix || self.unsafe_fixes) && !self.diff {
            let (message, help) = if live {
                (
                    "nothing is written to a cluster",
                    "--diff shows what would change; fix the files that the cluster is made from",
                )
            } else {
                ("the demo is in the program and cannot be written", "--diff shows what would change")
            };
            return session.usage(message, Some(help));
        }
        if let Err(exit) = self.proxies.one_standard_input(session, &[&self.files])? {
            return Ok(exit);
        }
        let trial = match self.envoy.start(session)? {
            Ok(trial) => trial,
            Err(exit) => return Ok(exit),
        };
        let mut run = match self.lint(session, trial.as_ref())? {
            Ok(run) => run,
            Err(exit) => return Ok(exit),
        };
        let standard_input = self.files.iter().any(|file| file.as_os_str() == "-");
        let mut fixed_text = None;
        if self.fix || self.unsafe_fixes || self.diff {
            let done = self.fixes(session, &mut run)?;
            fixed_text = done.standard_input;
            if done.written > 0 && !standard_input {
                // What is left is said with the places it has now.
                let trouble = std::mem::take(&mut run.trouble);
                run = match self.lint(session, trial.as_ref())? {
                    Ok(run) => run,
                    Err(exit) => return Ok(exit),
                };
                run.trouble.extend(trouble.into_iter().filter(|text| text.starts_with("cannot write")));
            }
        }
        if let Some(exit) = self.against_baseline(session, &mut run)? {
            return Ok(exit);
        }
        run.summary.count(&run.findings);
        run.summary.unread = run.trouble.len();
        run.summary.read_only = self.files.is_empty();
        let text = fixed_text.is_some();
        if let Some(text) = fixed_text {
            session.out.write_all(text.as_bytes())?;
        }
        self.write(session, &run, text)?;
        let fails = run.findings.iter().any(|finding| run.fail_on.fails(finding.severity));
        let partial = !run.trouble.is_empty();
        // The process ends here; to free all documents one by one takes a tenth of its time.
        std::mem::forget(run);
        Ok(if partial {
            Exit::Partial
        } else if fails {
            Exit::Findings
        } else {
            Exit::Ok
        })
    }

    /// Reads everything and runs the rules.
    pub(super) fn lint(&self, session: &mut Session<'_>, trial: Option<&Trial>) -> io::Result<Result<Run, Exit>> {
        let options = load::Options { namespace: session.namespace().to_owned(), ..load::Options::default() };
        let mut work = if !self.files.is_empty() {
            Work::of_files(session, load::read(&self.files, &options))
        } else if self.proxies.demo {
            Work::of_files(session, load::read_text(demo::FILTERS_NAME, demo::FILTERS, &options))
        } else {
            match Work::open(session, &kinds::LINT, None)? {
                Ok(work) => work,
                Err(exit) => return Ok(Err(exit)),
            }
        };
        let mut loaded = std::mem::take(&mut work.loaded);
        let mut summary = Summary { files: loaded.sources.iter().count(), ..Summary::default() };
        let (config, folder, rules) = match self.configuration(session, &mut loaded)? {
            Ok(read) => read,
            Err(exit) => return Ok(Err(exit)),
        };
        let mut own = Cow::Borrowed(&*loaded.inventory.envoy_filters);
        if let Some(shard) = self.shard {
            own.to_mut().retain(|filter| {
                let name = filter.full_name();
                shard.owns(&name) && work.asked.as_ref().is_none_or(|asked| asked.contains(&name))
            });
            work.asked = Some(own.iter().map(EnvoyFilter::full_name).collect());
        }
        let mut problems = Vec::new();
        // Proxies that no filter reaches have nothing to say.
        let reached = work.reached_by(&own);
        let dumps = self.proxies.all(&work, &reached, &mut problems)?;
        let mut given: Vec<(usize, ProxyConfig<'_>)> = Vec::new();
        given.extend(dumps.iter().filter_map(|kept| Some((kept.plane, Proxies::config(kept, &mut problems)?))));
        let filters = &loaded.inventory.envoy_filters;
        summary.filters = filters.len();
        summary.patches = filters.iter().map(|filter| filter.patches.len()).sum();
        summary.dumps = given.len();
        let mut trouble: Vec<String> = Vec::new();
        for problem in loaded.problems.iter().chain(&problems) {
            if problem.span.is_none() && problem.severity == Severity::Error {
                trouble.push(problem.message.clone());
            }
            // What has a place in a document is a finding's business.
            if problem.span.is_none() && (problem.severity > Severity::Info || session.global.verbose) {
                report::problem::problem(session.err, session.around.err, &loaded.sources, problem)?;
            }
        }
        unread::tell(session, &self.files, &loaded, &mut summary, &mut trouble)?;
        work.note(session)?;
        let releases = match session.global.istio_version {
            Some(release) => vec![release],
            None if config.istio_versions.is_empty() => vec![Release::NEWEST],
            None => config.istio_versions.clone(),
        };
        let mesh = session.mesh(&loaded.inventory);
        // A cluster says which releases and settings hold; each proxy is judged as its own control plane does.
        let passes: Vec<(Release, &MeshSettings, Option<usize>)> = if work.is_live() {
            work.planes.iter().enumerate().map(|(number, plane)| (plane.release, &plane.mesh, Some(number))).collect()
        } else {
            releases.iter().map(|&release| (release, &mesh, None)).collect()
        };
        let mut all: Vec<(Release, Vec<Finding>)> = Vec::new();
        let mut verdicts = Vec::new();
        for &(release, mesh, plane) in &passes {
            let given: Vec<ProxyConfig<'_>> = given
                .iter()
                .filter(|(of, _)| plane.is_none_or(|plane| plane == *of))
                .map(|(_, config)| config.clone())
                .collect();
            let references = if filters.is_empty() { &[] } else { reference::configs(release) };
            let own = plane.and_then(|number| own_filters(&work.planes, number, &loaded.inventory));
            let input = Input {
                sources: &loaded.sources,
                inventory: own.as_ref().unwrap_or(&loaded.inventory),
                problems: &loaded.problems,
                dumps: &given,
                references,
                release,
                mesh,
            };
            let path = |name: &str| files::relative(name, &folder);
            let wanted = session.global.verbose || self.output == Output::Json;
            let checked = lint::check_with(&input, trial, &rules, &config, path, |cx| {
                let of_envoy = cx.trials.as_ref().map(|trials| (trials.unknown(cx), trials.trouble.clone()));
                (if wanted { istioctl::verdicts(cx) } else { Vec::new() }, lint::live::states(cx), of_envoy)
            });
            summary.suppressed = summary.suppressed.max(checked.suppressed);
            let of_envoy;
            (verdicts, (summary.dump_states, summary.proven), of_envoy) = checked.seen;
            if let (Some(trial), Some((unknown, stopped))) = (trial, of_envoy) {
                summary.unknown.extend(trial.other_release(release).into_iter().chain(unknown));
                trouble.extend(stopped.map(|stopped| stopped.message));
            }
            all.push((release, checked.findings));
        }
        if let Some(trial) = trial.filter(|_| session.global.verbose) {
            writeln!(session.err, "note: {}", lint::tried::story(trial))?;
        }
        let releases: Vec<Release> = passes.iter().map(|(release, ..)| *release).collect();
        if given.is_empty() && summary.filters > 0 {
            let filters = report::style::count(summary.filters, "filter", "filters");
            let of = releases.iter().map(|one| format!("{}.{}", one.major, one.minor)).collect::<Vec<_>>();
            let why = if self.proxies.has_dumps() { "no config dump could be used" } else { "no config dump given" };
            summary.unknown.push(format!(
                "{why}: {filters} judged against the reference configuration of Istio {}",
                of.join(", ")
            ));
            if loaded.inventory.workloads.is_empty() && !work.is_live() {
                summary.unknown.push("no workloads given: selectors not checked".to_owned());
            }
        }
        let releases = releases.iter().map(|release| format!("{}.{}", release.major, release.minor)).collect();
        let mut findings = lint::merged(all);
        if let Some(asked) = &work.asked {
            let others = filters.iter().filter(|filter| !asked.contains(&filter.full_name()));
            let others: BTreeSet<FileId> = others.map(|filter| filter.document.span.file).collect();
            findings.retain(|finding| !others.contains(&finding.primary.span.file));
            summary.filters = asked.len();
            let asked = filters.iter().filter(|filter| !others.contains(&filter.document.span.file));
            summary.patches = asked.map(|filter| filter.patches.len()).sum();
        }
        let fail_on = self.fail_on.or(config.fail_on).unwrap_or(FailOn::At(Severity::Error));
        drop(given);
        drop(reached);
        let asked = work.asked.take();
        Ok(Ok(Run { loaded, findings, asked, summary, releases, trouble, verdicts, fail_on }))
    }

    /// The configuration with the selectors of the command line, its folder, and all rules.
    fn configuration(&self, session: &mut Session<'_>, loaded: &mut Loaded) -> io::Result<Result<Settings, Exit>> {
        let beside = self.files.iter().find(|file| file.as_os_str() != "-");
        let path = self.config.clone().or_else(|| files::find(beside.map(PathBuf::as_path)));
        let read = match path.map(|path| files::read(&path, &mut loaded.sources)).transpose() {
            Ok(read) => read,
            Err(problem) => return session.usage(&problem.message, None).map(Err),
        };
        let mut own = self.rules.clone();
        if let Some((document, folder)) = read.as_ref().and_then(|read| Some((read.document.as_ref()?, &read.folder))) {
            own.extend(config::rule_paths(document).iter().map(|path| folder.join(path)));
        }
        let Some(rules) = custom::rules(session, &own, &mut loaded.sources)? else { return Ok(Err(Exit::Usage)) };
        let (mut config, mut folder) = (Config::default(), PathBuf::new());
        if let Some(read) = read {
            let (found, problems) = read.document.map(|document| Config::read(&document, &rules)).unwrap_or_default();
            (config, folder) = (found, read.folder);
            let mut bad = false;
            for problem in read.problems.into_iter().chain(problems) {
                if problem.severity == Severity::Error {
                    bad = true;
                    report::problem::problem(session.err, session.around.err, &loaded.sources, &problem)?;
                } else {
                    loaded.problems.push(problem);
                }
            }
            if bad {
                return Ok(Err(Exit::Usage));
            }
        }
        let selectors = |words: &[String]| -> Result<Vec<Selector>, String> {
            words.iter().map(|word| Selector::new(word.trim(), &rules)).collect()
        };
        match (selectors(&self.select), selectors(&self.ignore)) {
            (Ok(select), Ok(ignore)) => {
                // Who selects on the command line means that, whatever the configuration says.
                if !select.is_empty() {
                    config.choice.select = select;
                    config.choice.ignore.clear();
                }
                config.choice.ignore.extend(ignore);
                Ok(Ok((config, folder, rules)))
            }
            (Err(message), _) | (_, Err(message)) => session.usage(&message, None).map(Err),
        }
    }

    /// Takes away what the baseline knows, or writes it.
    fn against_baseline(&self, session: &mut Session<'_>, run: &mut Run) -> io::Result<Option<Exit>> {
        let Some(path) = &self.baseline else { return Ok(None) };
        let (sources, filters) = (&run.loaded.sources, &run.loaded.inventory.envoy_filters);
        let old = if files::exists(path) || !self.update_baseline {
            match files::text(path).map_err(|problem| problem.message).and_then(|text| {
                Baseline::read(&text).map_err(|message| format!("{} is no baseline: {message}", path.display()))
            }) {
                Ok(baseline) => baseline,
                Err(message) => return session.usage(&message, Some("--update-baseline writes one")).map(Some),
            }
        } else {
            Baseline::default()
        };
        if self.update_baseline {
            // What this run did not look at stays: files that were not given, as long as they exist.
            let looked = |name: &str| sources.iter().any(|(_, source)| source.name == name);
            let new = old.updated(&run.findings, sources, filters, |known| {
                !looked(&known.file) && files::exists(Path::new(&known.file))
            });
            let mut text = Vec::new();
            report::json(&mut text, &new)?;
            if let Err(problem) = files::write(path, &String::from_utf8_lossy(&text)) {
                report::problem::problem(session.err, session.around.err, sources, &problem)?;
                return Ok(Some(Exit::Partial));
            }
            let entries = report::style::count(new.findings.len(), "entry", "entries");
            writeln!(session.err, "note: {} holds {entries} now", path.display())?;
            run.summary.known = run.findings.len();
            run.findings.clear();
            return Ok(None);
        }
        let outcome = old.apply(std::mem::take(&mut run.findings), sources, filters);
        run.findings = outcome.new;
        (run.summary.known, run.summary.gone) = (outcome.known, outcome.gone);
        Ok(None)
    }

    /// Applies fixes, or shows them.
    fn fixes(&self, session: &mut Session<'_>, run: &mut Run) -> io::Result<Done> {
        let sources = &run.loaded.sources;
        let outcome = fix::apply(&run.findings, sources, self.unsafe_fixes);
        let options = load::Options { namespace: session.namespace().to_owned(), ..load::Options::default() };
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
                run.trouble.push(format!("cannot write {name}: with the fixes it would not be readable any more"));
                continue;
            }
            if self.diff {
                let names = (format!("a/{name}"), format!("b/{name}"));
                let limit = if session.global.verbose { usize::MAX } else { unified::MAX_LINES };
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
                        run.trouble.push(problem.message);
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
        let findings = report::style::count(fixed, "finding", "findings");
        write!(
            session.err,
            "note: {findings} {what} in {}",
            report::style::count(outcome.files.len(), "file", "files")
        )?;
        if outcome.not_safe > 0 {
            write!(session.err, "; {} more with --unsafe-fixes", outcome.not_safe)?;
        }
        if outcome.overlapping > 0 {
            write!(session.err, "; {} overlap with others: run again", outcome.overlapping)?;
        }
        writeln!(session.err)?;
        Ok(done)
    }

    fn write(&self, session: &mut Session<'_>, run: &Run, aside: bool) -> io::Result<()> {
        let sources = &run.loaded.sources;
        let fingerprints = baseline::fingerprints(&run.findings, sources, &run.loaded.inventory.envoy_filters);
        let report = Report {
            sources,
            findings: &run.findings,
            fingerprints: &fingerprints,
            summary: &run.summary,
            releases: &run.releases,
            trouble: &run.trouble,
            istioctl: &run.verdicts,
        };
        let verbose = session.global.verbose;
        let mut terminal = session.around.out;
        let mut text = Vec::new();
        let to_file = self.output_file.is_some();
        if to_file {
            terminal = report::style::Terminal::default();
        }
        let direct: &mut dyn Write = match (to_file, aside || (self.diff && self.output == Output::Human)) {
            (true, _) => &mut text,
            // The standard output holds the fixed text, or the differences.
            (false, true) => {
                terminal = session.around.err;
                session.err
            }
            (false, false) => session.out,
        };
        match self.output {
            _ if self.stat => forms::stat(direct, terminal, &report)?,
            Output::Human => {
                forms::text(direct, terminal, verbose, &report)?;
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

/// What the control plane of this number reads, where others run that some filters are labelled for: those judge them. A
/// filter for a revision that nobody runs is everybody's.
fn own_filters(planes: &[Plane], number: usize, all: &Inventory) -> Option<Inventory> {
    let own = planes.get(number)?.revision.as_deref();
    let others = |filter: &EnvoyFilter| {
        let wanted = filter.labels.get(REVISION_LABEL).map(String::as_str).filter(|wanted| Some(*wanted) != own);
        wanted.is_some_and(|wanted| planes.iter().any(|plane| plane.revision.as_deref() == Some(wanted)))
    };
    all.envoy_filters.iter().any(others).then(|| {
        let mut own = all.clone();
        own.envoy_filters.retain(|filter| !others(filter));
        own
    })
}

/// A configuration, its folder, and all rules with those of the user.
type Settings = (Config, PathBuf, Vec<&'static Rule>);

/// What became of fixes.
#[derive(Debug, Default)]
struct Done {
    /// Files written.
    written: usize,
    /// The standard input with its fixes.
    standard_input: Option<String>,
}

/// The text that stands in a source's file. What was read may differ from it: Secrets are blanked, packed files unpacked.
fn original(source: &SourceText) -> Result<String, Problem> {
    let text = files::text(Path::new(&source.name)).map_err(|_| changed(&source.name))?;
    let blanked = |(read, stands): (u8, u8)| read == stands || read == b' ';
    let same = text.len() == source.text.len() && source.text.bytes().zip(text.bytes()).all(blanked);
    if same { Ok(text) } else { Err(changed(&source.name)) }
}

fn changed(name: &str) -> Problem {
    Problem {
        code: "cannot-read",
        severity: Severity::Error,
        span: None,
        message: format!("cannot write {name}: it is packed, or does not hold what was read from it"),
        help: None,
    }
}
