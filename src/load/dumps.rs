//! Resolves the arguments for dumps to files.

use crate::load::dump::{Dump, Layout};
use crate::load::files::reason;
use crate::load::limits::Limits;
use crate::source::{Code, Problem, Severity};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Lists dumps: named files, and for named folders the JSON files directly inside, sorted. `-` is standard input.
pub(crate) fn list(arguments: &[PathBuf]) -> (Vec<PathBuf>, Vec<Problem>) {
    let (mut paths, mut problems) = (Vec::new(), Vec::new());
    for argument in arguments {
        if argument.as_os_str() == "-" || !argument.is_dir() {
            paths.push(argument.clone());
            continue;
        }
        let mut found: Vec<PathBuf> = match fs::read_dir(argument) {
            Ok(entries) => entries.flatten().map(|entry| entry.path()).filter(|path| is_dump(path)).collect(),
            Err(error) => {
                problems.push(problem(
                    Code::CannotRead,
                    Severity::Error,
                    format!("cannot read {}: {}", argument.display(), reason(&error)),
                ));
                continue;
            }
        };
        if found.is_empty() {
            let message = format!("{} contains no .json, .json.gz or .json.zst file", argument.display());
            problems.push(problem(Code::EmptyDirectory, Severity::Error, message));
        }
        found.sort();
        paths.append(&mut found);
    }
    (paths, problems)
}

/// Reads one of them.
pub(crate) fn read(path: &Path, layout: Layout, limits: Limits) -> (Option<Dump>, Vec<Problem>) {
    // Standard input cannot be read a second time to get the places for messages.
    if path.as_os_str() == "-" {
        Dump::from_reader_within("<stdin>", io::stdin().lock(), Layout::Kept, limits)
    } else {
        Dump::read_within(path, layout, limits)
    }
}

fn is_dump(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    path.is_file() && [".json", ".json.gz", ".json.zst"].iter().any(|ending| name.ends_with(ending))
}

fn problem(code: Code, severity: Severity, message: String) -> Problem {
    Problem { code, severity, span: None, message, help: None }
}
