//! The rules of a run: built-in and user-defined.

use super::{Error, Unanswered};
use crate::lint::{Rule, custom};
use crate::load::config as files;
use crate::rules::ALL;
use crate::source::{Code, Problem, Severity, Sources, escape};
use std::path::{Path, PathBuf};

/// All rules, with those in files and folders. Fails when one of them is wrong.
pub(crate) fn rules(paths: &[PathBuf], sources: &mut Sources) -> Result<Vec<&'static Rule>, Error> {
    rules_with(paths, None, sources)
}

/// The same with the rules of a configuration, which must be inside its folder.
pub(crate) fn rules_with(
    paths: &[PathBuf],
    of_config: Option<(&[String], &Path)>,
    sources: &mut Sources,
) -> Result<Vec<&'static Rule>, Error> {
    let (mut list, mut problems) = files::rule_files(paths);
    if let Some((paths, folder)) = of_config {
        let (more, trouble) = files::rule_files_inside(paths, folder);
        list.extend(more);
        problems.extend(trouble);
    }
    let (read, trouble) = read_files(list, sources);
    problems.extend(trouble);
    if problems.is_empty() {
        return Ok(ALL.iter().copied().chain(read.into_iter().map(|(_, rule)| rule)).collect());
    }
    Err(unusable("a rule cannot be used", sources, problems))
}

/// Why a configuration or a rule cannot be used, with places.
pub(super) fn unusable(message: &str, sources: &Sources, problems: Vec<Problem>) -> Error {
    Error::Unusable(Unanswered { message: message.to_owned(), help: None, sources: sources.clone(), problems })
}

/// A user-defined rule and its file.
pub(crate) type OwnRule = (PathBuf, &'static Rule);

/// The rules in files and folders, each with its file, and the problems of invalid ones.
pub(crate) fn read(paths: &[PathBuf], sources: &mut Sources) -> (Vec<OwnRule>, Vec<Problem>) {
    let (list, mut problems) = files::rule_files(paths);
    let (found, trouble) = read_files(list, sources);
    problems.extend(trouble);
    (found, problems)
}

fn read_files(list: Vec<PathBuf>, sources: &mut Sources) -> (Vec<OwnRule>, Vec<Problem>) {
    let mut known: Vec<&'static Rule> = ALL.to_vec();
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for path in list {
        match files::read(&path, sources) {
            // A file that is not a rule may contain anything, including secrets: none of its lines is quoted.
            Ok(file) if !file.claims(custom::KIND) => problems.push(Problem {
                code: Code::CustomRule,
                severity: Severity::Error,
                span: None,
                message: format!(
                    "{} is not a rule: it contains no `kind: {}`",
                    escape::one_line(&path.display().to_string()),
                    custom::KIND
                ),
                help: None,
            }),
            Ok(file) => {
                problems.extend(file.problems.into_iter().filter(|problem| problem.severity == Severity::Error));
                match file.document.map(|document| custom::read(&document, &known)) {
                    Some(Ok(rule)) => {
                        known.push(rule);
                        found.push((path, rule));
                    }
                    Some(Err(wrong)) => problems.extend(wrong),
                    None => {}
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    (found, problems)
}
