//! Several contexts in one run: all clusters are read at the same time, and the results are merged.

use super::Cli;
use super::progress::Watched;
use super::session::{Exit, Surroundings};
use crate::explain::view::API_VERSION;
use crate::model::redact::Keeper;
use crate::report::findings::ci;
use crate::report::markdown::cell;
use crate::report::style::{Role, Terminal};
use crate::report::{self, junit, table};
use crate::source::escape;
use clap::{CommandFactory, Parser};
use quick_junit::{NonSuccessKind, TestSuite};
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::io::{self, Write};
use std::thread;

/// How the results of several contexts are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merge {
    /// One after the other, each under its context.
    Texts,
    /// One table with a column for the context.
    Table {
        /// Whether it has headings.
        headings: bool,
    },
    /// One JSON document with a list of contexts.
    Json,
    /// The same in YAML.
    Yaml,
    /// One SARIF log with a run for each context.
    Sarif,
    /// One JUnit report with all suites.
    Junit,
    /// One JSON list.
    List,
    /// One after the other, with a paragraph for a context without a result.
    Markdown,
    /// The same with a workflow command.
    Github,
}

impl Merge {
    /// Whether the results are written one after the other, as they are.
    fn is_text(self) -> bool {
        matches!(self, Merge::Texts | Merge::Markdown | Merge::Github)
    }
}

/// Separator of a table's cells until the table is merged with those of other contexts. No cell contains it, because cells are
/// escaped.
pub(super) const BETWEEN: char = '\u{1f}';

/// How to merge the results, depending on the output format on the command line.
fn merge(given: &[OsString], lists: bool) -> Merge {
    let Ok(matches) = Cli::command().try_get_matches_from(given) else { return Merge::Texts };
    let mut matches = &matches;
    while let Some((_, below)) = matches.subcommand() {
        matches = below;
    }
    let has = |name: &str| matches.ids().any(|id| id.as_str() == name);
    let form = has("output").then(|| matches.get_raw("output")?.next()?.to_str()).flatten().unwrap_or_default();
    let headings = !(has("no_headers") && matches.get_flag("no_headers"));
    match form {
        "table" | "wide" if lists => Merge::Table { headings },
        "yaml" if lists => Merge::Yaml,
        "json" => Merge::Json,
        "sarif" => Merge::Sarif,
        "junit" => Merge::Junit,
        "gitlab" => Merge::List,
        "markdown" => Merge::Markdown,
        "github" => Merge::Github,
        _ => Merge::Texts,
    }
}

/// The result of one context.
struct Answer {
    context: String,
    exit: io::Result<Exit>,
    out: Vec<u8>,
    err: Vec<u8>,
}

impl Answer {
    /// Why there is no result; `None` if there is one.
    fn failure(&self) -> Option<String> {
        let failed = match &self.exit {
            Ok(exit) => matches!(exit, Exit::Usage | Exit::Partial),
            Err(error) => return Some(error.to_string()),
        };
        (failed && self.out.is_empty()).then(|| String::from_utf8_lossy(&self.err).trim().to_owned())
    }

    /// What stands in a text for a context without a result.
    fn stand_in(&self, merge: Merge) -> Option<String> {
        let failure = self.failure()?;
        match merge {
            Merge::Markdown => Some(format!("**context {}**: {}\n", cell(&self.context), cell(&failure))),
            Merge::Github => Some(ci::failed(&format!("context {}", self.context), &failure)),
            _ => None,
        }
    }
}

/// Runs the command in every context and writes the results.
pub(super) fn run(
    cli: &mut Cli,
    contexts: &[String],
    around: Surroundings,
    (out, err): (&mut dyn Write, &mut dyn Write),
    progress: &Watched,
) -> io::Result<Exit> {
    let file = cli.command.take_output_file();
    let (merge, own) = (merge(&cli.given, cli.command.lists()), (cli.given.clone(), cli.global.secrets.clone()));
    let own = &own;
    let answers: Vec<Answer> = thread::scope(|scope| {
        let threads: Vec<_> = contexts
            .iter()
            .map(|context| {
                (
                    context,
                    scope.spawn({
                        let stop = progress.sharing();
                        move || one(own, context, (around, merge), stop)
                    }),
                )
            })
            .collect();
        let ended = threads.into_iter().map(|(context, thread)| {
            thread.join().unwrap_or_else(|_| Answer {
                context: context.clone(),
                exit: Err(io::Error::other("the run for this context ended early")),
                out: Vec::new(),
                err: Vec::new(),
            })
        });
        ended.collect()
    });
    let mut worst = Exit::Ok;
    for answer in &answers {
        let exit = match &answer.exit {
            Ok(exit) => *exit,
            Err(error) => {
                writeln!(err, "error: context {}: {error}", escape::one_line(&answer.context))?;
                Exit::Partial
            }
        };
        worst = if exit.code() > worst.code() { exit } else { worst };
        writeln!(err, "{}: context {}", around.err.paint(Role::Dim, "note"), escape::one_line(&answer.context))?;
        err.write_all(&answer.err)?;
        if merge.is_text() && file.is_none() {
            out.write_all(&answer.out)?;
            out.write_all(answer.stand_in(merge).unwrap_or_default().as_bytes())?;
            out.flush()?;
        }
    }
    let mut text = Vec::new();
    match merge {
        Merge::Texts | Merge::Markdown | Merge::Github if file.is_none() => return Ok(worst),
        Merge::Texts | Merge::Markdown | Merge::Github => {
            for answer in &answers {
                text.extend_from_slice(&answer.out);
                text.extend_from_slice(answer.stand_in(merge).unwrap_or_default().as_bytes());
            }
        }
        Merge::Table { headings } => together(&mut text, &answers, headings)?,
        Merge::Json => report::json(&mut text, &documents(&answers))?,
        Merge::Yaml => report::yaml::write(&mut text, documents(&answers).to_string().as_bytes())?,
        Merge::Sarif => report::json(&mut text, &log(&answers))?,
        Merge::Junit => junit::write(&mut text, &suites(&answers))?,
        Merge::List => {
            let lists = answers.iter().map(|one| {
                serde_json::from_slice::<Vec<Value>>(&one.out).unwrap_or_else(|_| {
                    let why = one.failure().unwrap_or_default();
                    vec![ci::issue("unread", "major", &format!("context {}: {why}", one.context))]
                })
            });
            report::json(&mut text, &lists.flatten().collect::<Vec<_>>())?;
        }
    }
    match file {
        Some(path) => crate::load::config::write(&path, &String::from_utf8_lossy(&text))
            .map_err(|problem| io::Error::other(problem.message))?,
        None => out.write_all(&text)?,
    }
    Ok(worst)
}

/// The run in one context, in memory.
fn one(
    (given, secrets): &(Vec<OsString>, Keeper),
    context: &str,
    (around, merge): (Surroundings, Merge),
    progress: Watched,
) -> Answer {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let terminal = if merge.is_text() { around.out } else { Terminal { colour: false, ..around.out } };
    let exit = match Cli::try_parse_from(given) {
        Ok(mut own) => {
            own.global.cluster.context = vec![context.to_owned()];
            // Secrets seen in one context are hidden in the output of all.
            own.global.secrets = secrets.clone();
            own.global.merged = !merge.is_text();
            own.command.for_context(context);
            own.once(Surroundings { out: terminal, ..around }, &mut out, &mut err, &progress)
        }
        Err(error) => Err(io::Error::other(error.to_string())),
    };
    Answer { context: context.to_owned(), exit, out, err }
}

/// Merges tables, adding a column for the context.
fn together(out: &mut dyn Write, answers: &[Answer], headings: bool) -> io::Result<()> {
    let (mut heading, mut rows): (Vec<String>, Vec<Vec<String>>) = (Vec::new(), Vec::new());
    for answer in answers {
        let text = String::from_utf8_lossy(&answer.out);
        for (number, line) in text.lines().enumerate() {
            let cells = line.split(BETWEEN).map(str::to_owned);
            if !line.contains(BETWEEN) {
                // A sentence instead of a table.
                writeln!(out, "{}: {line}", escape::one_line(&answer.context))?;
            } else if number == 0 {
                heading = std::iter::once("CONTEXT".to_owned()).chain(cells).collect();
            } else {
                rows.push(std::iter::once(answer.context.clone()).chain(cells).collect());
            }
        }
    }
    if heading.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = heading.iter().map(String::as_str).collect();
    let widths = table::widths(&names, &rows);
    if headings {
        table::line(out, &widths, names)?;
    }
    rows.iter().try_for_each(|row| table::line(out, &widths, row.iter().map(String::as_str)))
}

/// One document with the result of each context under its name.
fn documents(answers: &[Answer]) -> Value {
    // A rendered config dump has none.
    let mut kind = None;
    let contexts: Vec<Value> = answers
        .iter()
        .map(|answer| {
            let mut one = Map::new();
            one.insert("context".to_owned(), answer.context.as_str().into());
            let code = answer.exit.as_ref().map_or(Exit::Partial.code(), |exit| exit.code());
            one.insert("exitCode".to_owned(), code.into());
            if let Ok(Value::Object(fields)) = serde_json::from_slice(&answer.out) {
                for (key, value) in fields {
                    match key.as_str() {
                        "apiVersion" => {}
                        "kind" => kind = Some(value),
                        _ => drop(one.insert(key, value)),
                    }
                }
            } else {
                one.insert("error".to_owned(), String::from_utf8_lossy(&answer.err).trim().into());
            }
            Value::Object(one)
        })
        .collect();
    let mut document = json!({"apiVersion": API_VERSION});
    if let Some(kind) = kind {
        document["kind"] = kind;
    }
    document["contexts"] = contexts.into();
    document
}

/// One log with a run for each context.
fn log(answers: &[Answer]) -> Value {
    let (mut log, mut runs) = (json!({"version": "2.1.0"}), Vec::new());
    for answer in answers {
        let Ok(mut own) = serde_json::from_slice::<Value>(&answer.out) else {
            let text = String::from_utf8_lossy(&answer.err).trim().to_owned();
            runs.push(json!({
                "tool": {"driver": {"name": "kubectl-envoyfilter", "version": env!("CARGO_PKG_VERSION")}},
                "automationDetails": {"id": format!("{}/", answer.context)},
                "invocations": [{
                    "executionSuccessful": false,
                    "toolExecutionNotifications": [{"level": "error", "message": {"text": text}}],
                }],
                "results": [],
            }));
            continue;
        };
        for run in own["runs"].as_array_mut().into_iter().flatten() {
            run["automationDetails"] = json!({"id": format!("{}/", answer.context)});
            run["properties"] = json!({"context": answer.context});
            runs.push(run.take());
        }
        log = own;
    }
    log["runs"] = runs.into();
    log
}

/// One report with all suites; a context without a result is a suite with an error.
fn suites(answers: &[Answer]) -> quick_junit::Report {
    let mut all = quick_junit::Report::unnamed();
    for answer in answers {
        let context = junit::name(&answer.context);
        let text = String::from_utf8_lossy(&answer.out);
        if let Ok(own) = quick_junit::Report::deserialize_from_str(&text) {
            all.name = own.name;
            for mut suite in own.test_suites {
                suite.name = format!("{context}: {}", suite.name.as_str()).into();
                all.add_test_suite(suite);
            }
        } else {
            let said = String::from_utf8_lossy(&answer.err);
            let mut suite = TestSuite::new(context.as_str());
            suite.add_test_case(junit::failed(&context, &context, NonSuccessKind::Error, said.trim()));
            all.add_test_suite(suite);
        }
    }
    all
}

/// A path with the name of a context before its extension: `mesh.tar.zst` becomes `mesh-prod.tar.zst`.
pub(super) fn named(path: &std::path::Path, context: &str) -> std::path::PathBuf {
    let context: String =
        context.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (stem, ending) =
        name.split_once('.').map_or((name.as_str(), String::new()), |(stem, rest)| (stem, format!(".{rest}")));
    path.with_file_name(format!("{stem}-{context}{ending}"))
}
