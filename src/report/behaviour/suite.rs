//! Results of test files: for people, JSON (schemas/test.json), JUnit, TAP, GitHub annotations, Markdown.

use crate::behaviour::suite::{Coverage, Met, Mismatch, Outcome, Results};
use crate::mesh::Scope;
use crate::report::style::{Role, Terminal, count};
use crate::report::{junit, scope};
use crate::source::{ErrorMessage, Sources};
use quick_junit::{NonSuccessKind, TestCase, TestSuite};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    Human,
    /// schemas/test.json.
    Json,
    /// JUnit XML.
    Junit,
    /// Test Anything Protocol 13.
    Tap,
    /// Workflow commands of GitHub Actions.
    Github,
    /// Markdown, for summaries of jobs.
    Markdown,
}

/// A test file.
pub(crate) struct File {
    /// Its name.
    pub name: String,
    /// The results of its tests.
    pub results: Result<Results, ErrorMessage>,
    /// What was read for it; `None` if it could not be run.
    pub scope: Option<Scope>,
}

/// The input of the output.
pub(crate) struct Shown<'s> {
    /// The files in their order.
    pub files: &'s [File],
    /// The texts that places refer to.
    pub sources: &'s Sources,
    /// The coverage of all files together.
    pub coverage: &'s Coverage,
    /// Minimum coverage, in percent.
    pub fail_under: Option<u8>,
    /// Whether times are shown.
    pub times: bool,
    /// Whether everything is listed.
    pub verbose: bool,
}

fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

impl Shown<'_> {
    fn outcomes(&self) -> impl Iterator<Item = (&File, &Outcome)> {
        self.files.iter().flat_map(|file| {
            file.results.iter().flat_map(move |results| results.outcomes.iter().map(move |it| (file, it)))
        })
    }

    fn broken(&self) -> impl Iterator<Item = (&File, &ErrorMessage)> {
        self.files.iter().filter_map(|file| file.results.as_ref().err().map(|error| (file, error)))
    }

    /// The numbers of passed and failed tests.
    pub(crate) fn tally(&self) -> (usize, usize) {
        let (passed, failed): (Vec<_>, Vec<_>) = self.outcomes().partition(|(_, outcome)| outcome.passed());
        (passed.len(), failed.len())
    }

    /// Writes it.
    pub(crate) fn write(&self, out: &mut dyn Write, terminal: Terminal, form: Form) -> io::Result<()> {
        match form {
            Form::Human => self.human(out, terminal),
            Form::Json => crate::report::json(out, &self.json()),
            Form::Junit => self.junit(out),
            Form::Tap => out.write_all(self.tap().as_bytes()),
            Form::Github => out.write_all(self.github().as_bytes()),
            Form::Markdown => out.write_all(self.markdown().as_bytes()),
        }
    }

    fn words(&self, one: &Mismatch) -> String {
        let without = if one.without { "without the EnvoyFilters, " } else { "" };
        format!("{without}{}: expected {}, got {}", plain(&one.what), plain(&one.expected), plain(&one.actual))
    }

    fn time(&self, micros: u64) -> String {
        if self.times {
            format!(" ({:.1} ms)", f64::from(u32::try_from(micros).unwrap_or(u32::MAX)) / 1000.0)
        } else {
            String::new()
        }
    }

    fn human(&self, out: &mut dyn Write, terminal: Terminal) -> io::Result<()> {
        for file in self.files {
            writeln!(out, "{}", terminal.paint(Role::Strong, plain(&file.name)))?;
            let results = match &file.results {
                Ok(results) => results,
                Err(error) => {
                    writeln!(out, "  {} {}", terminal.paint(Role::Bad, "not run:"), plain(error))?;
                    continue;
                }
            };
            for outcome in &results.outcomes {
                let (mark, role) = if outcome.passed() { ("✓", Role::Good) } else { ("✗", Role::Bad) };
                let time = terminal.paint(Role::Dim, self.time(outcome.micros));
                writeln!(out, "  {} {}{time}", terminal.paint(role, mark), plain(&outcome.name))?;
                if let Some(error) = &outcome.error {
                    writeln!(
                        out,
                        "      {} {}",
                        terminal.paint(Role::Dim, self.sources.place(outcome.span)),
                        plain(error)
                    )?;
                }
                if !outcome.passed() {
                    writeln!(out, "      {}", terminal.paint(Role::Dim, plain(&outcome.request)))?;
                }
                for one in &outcome.failures {
                    writeln!(
                        out,
                        "      {} {}",
                        terminal.paint(Role::Dim, self.sources.place(one.span)),
                        self.words(one)
                    )?;
                }
            }
            for one in &results.left_out {
                if self.verbose {
                    writeln!(
                        out,
                        "  {}",
                        terminal.paint(Role::Dim, format!("{}: {}", one.why.words(), plain(&one.what)))
                    )?;
                }
            }
        }
        let (passed, failed) = self.tally();
        let broken = self.broken().count();
        let mut words = vec![format!("{passed} passed"), format!("{failed} failed")];
        if broken > 0 {
            words.push(format!("{} not run", count(broken, "file", "files")));
        }
        let role = if failed + broken == 0 { Role::Good } else { Role::Bad };
        writeln!(out, "\n{}", terminal.paint(role, words.join(", ")))?;
        self.coverage_text(out, terminal)
    }

    fn coverage_text(&self, out: &mut dyn Write, terminal: Terminal) -> io::Result<()> {
        let of = |all: &[Met]| format!("{} of {}", all.iter().filter(|one| one.met).count(), all.len());
        let Coverage { patches, filters, routes, elsewhere } = self.coverage;
        if self.outcomes().next().is_none() {
            return writeln!(out, "coverage: unknown, since no test was run");
        }
        writeln!(
            out,
            "coverage {} %: {} patches, {} HTTP filters of EnvoyFilters, {} routes",
            self.coverage.percent(),
            of(patches),
            of(filters),
            of(routes)
        )?;
        let limit = if self.verbose { usize::MAX } else { 10 };
        for (word, all) in [("patch", patches), ("HTTP filter", filters), ("route", routes)] {
            let missing: Vec<&Met> = all.iter().filter(|one| !one.met).collect();
            for one in missing.iter().take(limit) {
                writeln!(
                    out,
                    "  {}",
                    terminal.paint(Role::Odd, format!("no test covers {word} {}", plain(&one.name)))
                )?;
            }
            if missing.len() > limit {
                writeln!(out, "  and {} more", missing.len() - limit)?;
            }
        }
        for name in elsewhere.iter().take(limit) {
            writeln!(
                out,
                "  {}",
                terminal.paint(Role::Dim, format!("out of reach of these requests: {}", plain(name)))
            )?;
        }
        if let Some(least) = self.fail_under.filter(|least| self.coverage.percent() < *least) {
            writeln!(out, "{}", terminal.paint(Role::Bad, format!("coverage is below {least} %")))?;
        }
        Ok(())
    }

    fn json(&self) -> TestsView<'_> {
        let failure = |one: &Mismatch| {
            let position = self.sources.position(one.span);
            FailureView {
                line: position.line,
                column: position.column,
                what: one.what.clone(),
                expected: one.expected.clone(),
                actual: one.actual.clone(),
                without_filters: one.without,
            }
        };
        let test = |outcome: &Outcome| TestView {
            name: outcome.name.clone(),
            line: self.sources.position(outcome.span).line,
            passed: outcome.passed(),
            request: outcome.request.clone(),
            error: outcome.error.clone(),
            failures: outcome.failures.iter().map(failure).collect(),
            micros: self.times.then_some(outcome.micros),
        };
        let views = self.files.iter().map(|file| FileView {
            name: file.name.clone(),
            envoy: file.results.as_ref().map(|it| it.envoy.clone()).unwrap_or_default(),
            error: file.results.as_ref().err().cloned().map(Into::into),
            tests: file.results.as_ref().map(|it| it.outcomes.iter().map(test).collect()).unwrap_or_default(),
            left_out: file
                .results
                .as_ref()
                .map(|it| it.left_out.iter().map(|one| format!("{}: {}", one.why.words(), one.what)).collect())
                .unwrap_or_default(),
            scope: file.scope.as_ref(),
        });
        let (passed, failed) = self.tally();
        let missing = |all: &[Met]| all.iter().filter(|one| !one.met).map(|one| one.name.clone()).collect::<Vec<_>>();
        let part = |all: &[Met]| PartView {
            met: all.iter().filter(|one| one.met).count(),
            all: all.len(),
            missing: missing(all),
        };
        TestsView {
            api_version: super::view::API_VERSION,
            kind: "TestReport",
            passed,
            failed,
            files: views.collect(),
            coverage: CoverageView {
                percent: self.coverage.percent(),
                patches: part(&self.coverage.patches),
                filters: part(&self.coverage.filters),
                routes: part(&self.coverage.routes),
                without_effect: self.coverage.elsewhere.clone(),
            },
        }
    }

    fn junit(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut all = quick_junit::Report::new("kubectl-envoyfilter test");
        for file in self.files {
            let mut suite = TestSuite::new(junit::name(&file.name));
            if let Some(scope) = &file.scope {
                suite.add_property(("scope", junit::text(&scope::sentence(scope)).as_str()));
            }
            match &file.results {
                Err(error) => {
                    suite.add_test_case(junit::failed(&file.name, "run", NonSuccessKind::Error, error));
                }
                Ok(results) => {
                    suite.add_test_cases(results.outcomes.iter().map(|outcome| self.case(file, outcome)));
                }
            }
            all.add_test_suite(suite);
        }
        junit::write(out, &all)
    }

    /// A test as a case: the first failure is its message, all failures are its text.
    fn case(&self, file: &File, outcome: &Outcome) -> TestCase {
        let placed = |one: &Mismatch| format!("{}: {}", self.sources.place(one.span), self.words(one));
        let failures: Vec<String> = outcome.error.iter().cloned().chain(outcome.failures.iter().map(placed)).collect();
        let first = outcome.error.clone().or_else(|| outcome.failures.first().map(|one| self.words(one)));
        let mut case = match first.filter(|_| !outcome.passed()) {
            None => junit::passed(&file.name, &outcome.name),
            Some(first) => {
                let mut case = junit::failed(&file.name, &outcome.name, NonSuccessKind::Failure, &first);
                case.status.set_description(junit::text(&failures.join("\n")));
                case
            }
        };
        if self.times {
            case.set_time(Duration::from_micros(outcome.micros));
        }
        case
    }

    fn tap(&self) -> String {
        let (passed, failed) = self.tally();
        let mut out = format!("TAP version 13\n1..{}\n", passed + failed + self.broken().count());
        let mut number = 0;
        for file in self.files {
            match &file.results {
                Err(error) => {
                    number += 1;
                    let _ = writeln!(
                        out,
                        "not ok {number} - {}\n  ---\n  message: {:?}\n  ...",
                        tapped(&file.name),
                        plain(error)
                    );
                }
                Ok(results) => {
                    for outcome in &results.outcomes {
                        number += 1;
                        let ok = if outcome.passed() { "ok" } else { "not ok" };
                        let _ = writeln!(out, "{ok} {number} - {}: {}", tapped(&file.name), tapped(&outcome.name));
                        if !outcome.passed() {
                            out.push_str("  ---\n  failures:\n");
                            let own = outcome.error.iter().cloned();
                            for words in own.chain(
                                outcome
                                    .failures
                                    .iter()
                                    .map(|one| format!("{} {}", self.sources.place(one.span), self.words(one))),
                            ) {
                                let _ = writeln!(out, "  - {:?}", plain(&words));
                            }
                            out.push_str("  ...\n");
                        }
                    }
                }
            }
        }
        for sentence in self.sentences() {
            let _ = writeln!(out, "# scope: {}", plain(&sentence));
        }
        out
    }

    /// What was read, in words; files with the same input share a sentence.
    fn sentences(&self) -> BTreeSet<String> {
        self.files.iter().filter_map(|file| file.scope.as_ref()).map(scope::sentence).collect()
    }

    fn github(&self) -> String {
        let mut out = String::new();
        let escape = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
        let property = |text: &str| escape(text).replace(':', "%3A").replace(',', "%2C");
        for (file, error) in self.broken() {
            let _ = writeln!(out, "::error file={}::{}", property(&file.name), escape(error));
        }
        for (file, outcome) in self.outcomes().filter(|(_, outcome)| !outcome.passed()) {
            let name = property(&file.name);
            let title = property(&outcome.name);
            if let Some(error) = &outcome.error {
                let line = self.sources.position(outcome.span).line;
                let _ = writeln!(out, "::error file={name},line={line},title={title}::{}", escape(error));
            }
            for one in &outcome.failures {
                let position = self.sources.position(one.span);
                let (line, column) = (position.line, position.column);
                let _ = writeln!(
                    out,
                    "::error file={name},line={line},col={column},title={title}::{}",
                    escape(&self.words(one))
                );
            }
        }
        let (passed, failed) = self.tally();
        let _ = writeln!(out, "::notice::{passed} passed, {failed} failed, coverage {} %25", self.coverage.percent());
        for sentence in self.sentences() {
            let _ = writeln!(out, "::notice::scope: {}", escape(&plain(&sentence)));
        }
        out
    }

    fn markdown(&self) -> String {
        let (passed, failed) = self.tally();
        let cell =
            |text: &str| plain(text).replace('\\', "\\\\").replace('|', "\\|").replace('`', "\\`").replace('<', "&lt;");
        let mut out =
            format!("### EnvoyFilter tests: {passed} passed, {failed} failed\n\n| test | result |\n|---|---|\n");
        for (file, error) in self.broken() {
            let _ = writeln!(out, "| {} | not run: {} |", cell(&file.name), cell(error));
        }
        for (file, outcome) in self.outcomes() {
            let mut words: Vec<String> = outcome.error.iter().map(|error| cell(error)).collect();
            words.extend(outcome.failures.iter().map(|one| cell(&self.words(one))));
            let result =
                if outcome.passed() { "passed".to_owned() } else { format!("**failed**: {}", words.join("<br>")) };
            let _ = writeln!(out, "| {}: {} | {result} |", cell(&file.name), cell(&outcome.name));
        }
        let met = |all: &[Met]| format!("{} of {}", all.iter().filter(|one| one.met).count(), all.len());
        let Coverage { patches, filters, routes, .. } = self.coverage;
        let _ = writeln!(
            out,
            "\nCoverage {} %: {} patches, {} HTTP filters, {} routes.",
            self.coverage.percent(),
            met(patches),
            met(filters),
            met(routes)
        );
        for sentence in self.sentences() {
            let _ = writeln!(out, "\nScope: {}", cell(&sentence));
        }
        out
    }
}

/// A name in a line of TAP, where `#` starts a directive.
fn tapped(text: &str) -> String {
    plain(text).replace('#', "\\#")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TestsView<'s> {
    api_version: &'static str,
    kind: &'static str,
    passed: usize,
    failed: usize,
    files: Vec<FileView<'s>>,
    coverage: CoverageView,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileView<'s> {
    name: String,
    envoy: String,
    error: Option<String>,
    tests: Vec<TestView>,
    left_out: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'s Scope>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TestView {
    name: String,
    line: usize,
    passed: bool,
    request: String,
    error: Option<String>,
    failures: Vec<FailureView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    micros: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FailureView {
    line: usize,
    column: usize,
    what: String,
    expected: String,
    actual: String,
    without_filters: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CoverageView {
    percent: u8,
    patches: PartView,
    filters: PartView,
    routes: PartView,
    without_effect: Vec<String>,
}

#[derive(Serialize)]
struct PartView {
    met: usize,
    all: usize,
    missing: Vec<String>,
}
