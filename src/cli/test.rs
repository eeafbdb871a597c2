//! `test`: files of requests with what is expected of them.

use super::istiod::IstiodOptions;
use super::options::Proxies;
use super::session::{Exit, Session};
use super::subject::{Given, Source};
use super::trying::{SandboxOptions, failed};
use crate::behaviour::suite::{self, Coverage, KIND, ProxySource, Suite};
use crate::behaviour::{Host, Settings};
use crate::load::config as files;
use crate::mesh::{Error as Failure, Scope};
use crate::report;
use crate::report::behaviour::suite::{File, Form, Shown};
use crate::report::screen::Mode;
use crate::source::{ErrorMessage, Sources};
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

#[derive(Debug, Args)]
pub(super) struct Test {
    /// Test files of kind EnvoyFilterTest, or folders with files named *.test.yaml
    #[arg(value_name = "FILE", required_unless_present = "init")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    sandbox: SandboxOptions,
    #[command(flatten)]
    istiod: IstiodOptions,
    /// Run only tests whose name contains this text
    #[arg(long, value_name = "NAME")]
    filter: Option<String>,
    /// Fail if the tests cover less than this percentage of patches, filters and routes
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    fail_under: Option<u8>,
    /// Run again whenever a test file or a filter changes
    #[arg(long)]
    watch: bool,
    /// Print a first test file for the filters in this file: one request for each patch
    #[arg(long, value_name = "FILTERS", conflicts_with_all = ["paths", "watch"])]
    init: Option<PathBuf>,
    /// Config dump that the new test file uses [default: the demo's proxy]
    #[arg(long, value_name = "DUMP", requires = "init")]
    dump: Option<PathBuf>,
    /// Show how long each test took
    #[arg(long)]
    times: bool,
    /// Output format
    #[arg(short, long, default_value = "human")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Human,
    Json,
    Junit,
    Tap,
    Github,
    Markdown,
}

impl Output {
    const fn form(self) -> Form {
        match self {
            Output::Human => Form::Human,
            Output::Json => Form::Json,
            Output::Junit => Form::Junit,
            Output::Tap => Form::Tap,
            Output::Github => Form::Github,
            Output::Markdown => Form::Markdown,
        }
    }
}

/// How often watched files are checked.
const LOOK: Duration = Duration::from_millis(300);

impl Test {
    /// Its output mode.
    pub(super) fn mode(&self) -> Option<Mode> {
        (self.output == Output::Github).then_some(Mode::Commands)
    }

    pub(super) fn run(&mut self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        if let Some(filters) = &self.init {
            return init(session, filters, self.dump.as_deref());
        }
        let settings = match self.sandbox.settings(session)? {
            Ok(settings) => settings,
            Err(exit) => return Ok(exit),
        };
        let host = match Host::new() {
            Ok(host) => host,
            Err(error) => return failed(session, &error),
        };
        let mut runs = 0_usize;
        loop {
            let mut watched = Vec::new();
            let exit = self.once(session, &host, &settings, &mut watched)?;
            if !self.watch || (runs == 0 && watched.is_empty()) {
                return Ok(exit);
            }
            runs += 1;
            session.out.flush()?;
            // Before the message: what a reader of it changes must be seen. A folder may get another test file.
            let now = || (test_files(&self.paths).ok(), stamps(&watched));
            let before = now();
            let files = report::style::count(watched.len(), "file", "files");
            writeln!(session.err, "watching {files}; press Ctrl-C to stop")?;
            while now() == before {
                std::thread::sleep(LOOK);
            }
        }
    }

    fn once(
        &self,
        session: &mut Session<'_>,
        host: &Host,
        settings: &Settings,
        watched: &mut Vec<PathBuf>,
    ) -> Result<Exit, Failure> {
        let mut sources = Sources::default();
        let paths = match test_files(&self.paths) {
            Ok(paths) => paths,
            Err(message) => return session.usage(&message, None),
        };
        let (mut run, mut coverage, mut exit) = (Vec::new(), Coverage::default(), Exit::Ok);
        let mut groups: Vec<(Needs, Vec<(usize, Suite)>)> = Vec::new();
        for path in &paths {
            watched.push(path.clone());
            let wrong = |why: String| File { name: path.display().to_string(), results: Err(why.into()), scope: None };
            let problems = match files::read(path, &mut sources) {
                Ok(file) => match file.document.as_ref().map(suite::read) {
                    Some(Ok(suite)) => {
                        let needs = Needs::of(path, &suite);
                        watched.extend(needs.files());
                        // Replaced after its tests have run.
                        let one = (run.len(), suite);
                        run.push(wrong(String::new()));
                        match groups.iter_mut().find(|(other, _)| other.same(&needs)) {
                            Some((_, suites)) => suites.push(one),
                            None => groups.push((needs, vec![one])),
                        }
                        file.problems
                    }
                    Some(Err(problems)) => {
                        let mistakes = report::style::count(problems.len(), "mistake", "mistakes");
                        run.push(wrong(format!("{mistakes} in the test file")));
                        exit = Exit::Usage;
                        problems
                    }
                    None => {
                        let empty = file.problems.is_empty();
                        run.push(wrong(
                            if empty { "the file is empty" } else { "the file is not valid YAML" }.to_owned(),
                        ));
                        exit = Exit::Usage;
                        file.problems
                    }
                },
                Err(problem) => {
                    run.push(wrong("the file cannot be read".to_owned()));
                    exit = Exit::Partial;
                    vec![problem]
                }
            };
            for problem in &problems {
                report::problem::problem(session.err, session.around.err, &sources, problem)?;
            }
        }
        for (needs, suites) in &groups {
            let (results, scope) = self.group(session, host, settings, needs, suites)?;
            for ((at, _), results) in suites.iter().zip(results) {
                run[*at].scope.clone_from(&scope);
                run[*at].results = match results {
                    Ok(results) => {
                        coverage.add(results.coverage.clone());
                        Ok(results)
                    }
                    Err((how, error)) => {
                        exit = if exit.code() > how.code() { exit } else { how };
                        Err(error.into())
                    }
                };
            }
        }
        let shown = Shown {
            files: &run,
            sources: &sources,
            coverage: &coverage,
            fail_under: self.fail_under,
            times: self.times,
            verbose: session.verbose(),
        };
        // What a request or an answer has in a header such as `authorization`.
        session.global.secrets.with(|secrets| {
            let outcomes = run.iter().filter_map(|file| file.results.as_ref().ok()).flat_map(|all| &all.outcomes);
            for one in outcomes.flat_map(|outcome| &outcome.failures) {
                if let Some((name, values)) = &one.header {
                    values.iter().for_each(|value| secrets.add_named(name, value));
                }
            }
        });
        shown.write(session.out, session.around.out, self.output.form())?;
        let (passed, failed) = shown.tally();
        if exit != Exit::Ok {
            return Ok(exit);
        }
        if passed + failed == 0 {
            return session.usage(
                "no test was run",
                self.filter.as_ref().map(|_| "no test has a name that contains the text of --filter"),
            );
        }
        let low = self.fail_under.is_some_and(|least| coverage.percent() < least);
        Ok(if failed > 0 || low { Exit::Findings } else { Exit::Ok })
    }

    /// Runs the files that share a proxy and a set of filters, and returns what was read for them. A file that cannot run
    /// gets a message and an exit code.
    fn group(
        &self,
        session: &mut Session<'_>,
        host: &Host,
        settings: &Settings,
        needs: &Needs,
        suites: &[(usize, Suite)],
    ) -> Result<(Vec<Ran>, Option<Scope>), Failure> {
        let all = |exit: Exit, why: &str| suites.iter().map(|_| Err((exit, why.to_owned()))).collect();
        if matches!(needs.proxy, ProxySource::Manifests { .. }) && self.istiod.settings().is_none() {
            return Ok((all(Exit::Usage, "`manifests` needs a real istiod: pass --istiod PATH"), None));
        }
        let mut settings = settings.clone();
        settings.wasm.extend(needs.wasm.clone());
        let (proxies, pod, capture) = match &needs.proxy {
            ProxySource::Dump(dump) => (Proxies::of_dump(needs.near(dump)), None, None),
            ProxySource::Demo => (Proxies::of_demo(), None, None),
            ProxySource::Pod { name, capture } => {
                (Proxies::default(), Some(name.as_str()), capture.as_deref().map(|name| needs.near(name)))
            }
            ProxySource::Manifests { pod, .. } => (Proxies::default(), Some(pod.as_str()), None),
        };
        let objects = needs.objects();
        let istiod = &self.istiod;
        let source =
            Source { proxies: &proxies, pod, capture, files: &objects, without: &[], istiod, named_by_file: true };
        let chosen = |name: &str| self.filter.as_ref().is_none_or(|text| name.contains(text.as_str()));
        let files: Vec<&Suite> = suites.iter().map(|(_, suite)| suite).collect();
        let mut results = None;
        let made = source.one(session, &mut |_, given: &Given<'_, '_>| {
            results = Some(suite::run(host, &files, (given.with, given.without), &given.patches, &settings, &chosen));
            Ok(Exit::Ok)
        });
        let (exit, scope) = match made {
            Ok((exit, scope)) => (exit, Some(scope)),
            Err(Failure::Output(error)) => return Err(Failure::Output(error)),
            // Other files may still have a proxy.
            Err(error) => (session.fail(&error)?, None),
        };
        let Some(results) = results else {
            return Ok((all(if exit == Exit::Ok { Exit::Partial } else { exit }, "no proxy could be read"), scope));
        };
        let outcome = |one: Result<suite::Results, crate::behaviour::Error>| match one {
            Ok(results) if exit == Exit::Ok => Ok(results),
            Ok(_) => Err((exit, "the proxy or its filters could not be read in full".to_owned())),
            Err(error) => {
                let exit = if error.is_usage() { Exit::Usage } else { Exit::Findings };
                let help = error.help().map(|help| format!(" ({help})")).unwrap_or_default();
                Err((exit, format!("{error}{help}")))
            }
        };
        Ok((results.into_iter().map(outcome).collect(), scope))
    }
}

/// The result of a file, or why it could not run, with the exit code.
type Ran = Result<suite::Results, (Exit, String)>;

/// The input of tests. Files with the same input share it.
struct Needs {
    /// The folder that paths are relative to.
    base: PathBuf,
    proxy: ProxySource,
    filters: Vec<String>,
    /// Files of Wasm modules by the name of a filter.
    wasm: BTreeMap<String, String>,
    /// Every input file, by its canonical path.
    real: Vec<PathBuf>,
}

impl Needs {
    fn of(path: &Path, suite: &Suite) -> Needs {
        let mut needs = Needs {
            base: path.parent().unwrap_or(Path::new("")).to_owned(),
            proxy: suite.proxy.clone(),
            filters: suite.filters.clone(),
            wasm: BTreeMap::new(),
            real: Vec::new(),
        };
        for (name, file) in &suite.wasm {
            let file = needs.near(file);
            let file = std::path::absolute(&file).unwrap_or(file);
            needs.wasm.insert(name.clone(), file.display().to_string());
        }
        needs.real = needs.files().iter().map(|path| crate::load::real_path(path)).collect();
        needs
    }

    fn near(&self, name: &str) -> PathBuf {
        if name == "-" { PathBuf::from(name) } else { self.base.join(name) }
    }

    /// The filters and other objects.
    fn objects(&self) -> Vec<PathBuf> {
        let beside = match &self.proxy {
            ProxySource::Manifests { files, .. } => files.as_slice(),
            _ => &[],
        };
        self.filters.iter().chain(beside).map(|name| self.near(name)).collect()
    }

    /// Every input file.
    fn files(&self) -> Vec<PathBuf> {
        let mut all = self.objects();
        match &self.proxy {
            ProxySource::Dump(name) | ProxySource::Pod { capture: Some(name), .. } => all.push(self.near(name)),
            _ => {}
        }
        all
    }

    /// Whether another file has the same input: the same proxy, and the same files in the same order.
    fn same(&self, other: &Needs) -> bool {
        let named = |proxy: &ProxySource| match proxy {
            ProxySource::Dump(_) => ProxySource::Dump(String::new()),
            ProxySource::Pod { name, capture } => {
                ProxySource::Pod { name: name.clone(), capture: capture.as_ref().map(|_| String::new()) }
            }
            ProxySource::Manifests { pod, .. } => ProxySource::Manifests { pod: pod.clone(), files: Vec::new() },
            ProxySource::Demo => ProxySource::Demo,
        };
        named(&self.proxy) == named(&other.proxy) && self.wasm == other.wasm && self.real == other.real
    }
}

/// The named test files, and those in folders.
fn test_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, ErrorMessage> {
    let mut all = Vec::new();
    for path in paths {
        let found = crate::load::files_named(path, ".test.yaml")
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        if found.is_empty() {
            return Err(format!("{} contains no file named *.test.yaml", path.display()).into());
        }
        all.extend(found);
    }
    Ok(all)
}

/// Modification times of files, including those in folders.
fn stamps(paths: &[PathBuf]) -> Vec<(PathBuf, Option<SystemTime>)> {
    paths.iter().flat_map(|path| crate::load::stamps(path)).collect()
}

/// Prints a first test file.
fn init(session: &mut Session<'_>, filters: &Path, dump: Option<&Path>) -> Result<Exit, Failure> {
    let proxies = match dump {
        Some(dump) => Proxies::of_dump(dump.to_owned()),
        None => Proxies::of_demo(),
    };
    let files = [filters.to_owned()];
    let source = Source {
        proxies: &proxies,
        pod: None,
        capture: None,
        files: &files,
        without: &[],
        istiod: &IstiodOptions::default(),
        named_by_file: false,
    };
    let (exit, _) = source.one(session, &mut |session, given| {
        let drafts = crate::behaviour::drafts(&given.with, &given.patches);
        writeln!(session.out, "# One request for each patch; add what you expect.\nkind: {KIND}")?;
        match dump {
            Some(dump) => writeln!(session.out, "proxy: {{dump: {}}}", quoted(&dump.display().to_string()))?,
            None => writeln!(session.out, "proxy: {{demo: true}}")?,
        }
        writeln!(session.out, "filters: [{}]\ntests:", quoted(&filters.display().to_string()))?;
        for draft in &drafts {
            if let Some(why) = &draft.why_not {
                writeln!(session.out, "# {}: {why}", draft.patches.join(", "))?;
                continue;
            }
            let Some(request) = &draft.request else { continue };
            writeln!(session.out, "- name: {}", quoted(&format!("{} meets {}", draft.word, draft.patches.join(", "))))?;
            writeln!(session.out, "  request: {{{}}}", request.in_file())?;
            writeln!(session.out, "  expect: {{{}}}", draft.expect)?;
        }
        if drafts.iter().all(|draft| draft.why_not.is_some()) {
            return session.usage(
                "no patch changes anything that a request to this proxy can reach",
                Some("see `explain filter`"),
            );
        }
        Ok(Exit::Ok)
    })?;
    Ok(exit)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
