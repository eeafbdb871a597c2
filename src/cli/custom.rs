//! User-defined rules: reading them, and `rules test`.

use super::case::{Given, directive, on_stage};
use super::session::{Exit, Session};
use crate::lint::{self, Rule};
use crate::load::dump::{Dump, Layout};
use crate::load::{self, config as files};
use crate::mesh::{self, Error};
use crate::model::release::Release;
use crate::report::style::{Role, count};
use crate::source::Sources;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Runs every rule of a folder on its cases: `<rule file>/bad*.yaml`, whose offending lines end in `# CODE`, and `good*.yaml`.
pub(super) fn test(session: &mut Session<'_>, paths: &[PathBuf]) -> Result<Exit, Error> {
    let mut sources = Sources::default();
    let (read, problems) = mesh::rules::read(paths, &mut sources);
    session.problems(&sources, &problems)?;
    if read.is_empty() && problems.is_empty() {
        return session.usage("no rule to test", Some("a rule is a YAML file of kind LintRule"));
    }
    let mut failed = 0;
    for (path, rule) in &read {
        let folder = path.with_extension("");
        let cases = files::cases(&folder);
        let mut wrong: Vec<String> = Vec::new();
        for kind in ["bad", "good"] {
            if !cases.iter().any(|case| starts(case, kind)) {
                wrong.push(format!("no {kind}*.yaml in {}", folder.display()));
            }
        }
        for case in &cases {
            wrong.extend(run(session, rule, case));
        }
        let (role, word) = if wrong.is_empty() { (Role::Good, "ok") } else { (Role::Bad, "FAILED") };
        let cases = count(cases.len(), "case", "cases");
        let word = session.around.out.paint(role, word);
        writeln!(session.out, "{} {}: {cases}, {word}", rule.code, rule.name)?;
        for line in &wrong {
            writeln!(session.out, "  {line}")?;
        }
        failed += usize::from(!wrong.is_empty());
    }
    let rules = count(read.len(), "rule", "rules");
    writeln!(session.out, "{rules}, {failed} failed")?;
    Ok(if !problems.is_empty() {
        Exit::Usage
    } else if failed > 0 {
        Exit::Findings
    } else {
        Exit::Ok
    })
}

fn starts(case: &Path, kind: &str) -> bool {
    case.file_name().is_some_and(|name| name.to_string_lossy().starts_with(kind))
}

/// What is wrong with a case.
fn run(session: &Session<'_>, rule: &'static Rule, case: &Path) -> Vec<String> {
    let name = case.display();
    let text = match files::text(case) {
        Ok(text) => text,
        Err(problem) => return vec![problem.message],
    };
    let mut wrong = Vec::new();
    let mut release = session.global.istio_version.unwrap_or(Release::NEWEST);
    if let Some(word) = directive(&text, "istio").next() {
        match word.parse() {
            Ok(found) => release = found,
            Err(message) => wrong.push(format!("{name}: # istio: {message}")),
        }
    }
    let mut given: Vec<Dump> = Vec::new();
    for file in directive(&text, "with") {
        let (dump, problems) =
            load::dumps::read(&case.with_file_name(file), Layout::Dropped, session.settings().limits);
        wrong.extend(problems.into_iter().map(|problem| format!("{name}: # with: {}", problem.message)));
        given.extend(dump);
    }
    let options = session.settings().load_options();
    let loaded = load::read_text(&name.to_string(), &text, &options);
    let found = on_stage(&loaded, release, &Given::Dumps(&given), |stage| lint::lint(&stage.input, &[rule]));
    let place = |span| loaded.sources.position(span).line;
    let lines: BTreeSet<usize> = found.iter().map(|one| place(one.primary.span)).collect();
    let mark = format!("# {}", rule.code);
    let marked: BTreeSet<usize> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.trim_end().ends_with(&mark))
        .map(|(index, _)| index + 1)
        .collect();
    if starts(case, "bad") && marked.is_empty() {
        wrong.push(format!("{name}: no line ends with `{mark}`"));
    }
    wrong.extend(marked.difference(&lines).map(|line| format!("{name}:{line}: no finding here")));
    wrong.extend(
        found
            .iter()
            .filter(|one| !marked.contains(&place(one.primary.span)))
            .map(|one| format!("{}: unmarked finding: {}", loaded.sources.place(one.primary.span), one.message)),
    );
    wrong
}
