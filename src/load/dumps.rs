//! Which files the arguments for dumps stand for.

use crate::load::dump::{Dump, Layout};
use crate::load::files::reason;
use crate::source::{Problem, Severity};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Lists dumps: files as they are named, folders by the JSON files directly inside, sorted. `-` is the standard input.
pub fn list(arguments: &[PathBuf]) -> (Vec<PathBuf>, Vec<Problem>) {
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
                    "cannot-read",
                    Severity::Error,
                    format!("cannot read {}: {}", argument.display(), reason(&error)),
                ));
                continue;
            }
        };
        if found.is_empty() {
            let message = format!("{} holds no .json, .json.gz or .json.zst file", argument.display());
            problems.push(problem("empty-directory", Severity::Error, message));
        }
        found.sort();
        paths.append(&mut found);
    }
    (paths, problems)
}

/// Reads one of them.
pub fn read(path: &Path, layout: Layout) -> (Option<Dump>, Vec<Problem>) {
    // What comes from the standard input cannot be read again for the places in messages.
    if path.as_os_str() == "-" {
        Dump::from_reader("<stdin>", io::stdin().lock(), Layout::Kept)
    } else {
        Dump::read(path, layout)
    }
}

fn is_dump(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    path.is_file() && [".json", ".json.gz", ".json.zst"].iter().any(|ending| name.ends_with(ending))
}

fn problem(code: &'static str, severity: Severity, message: String) -> Problem {
    Problem { code, severity, span: None, message, help: None }
}
