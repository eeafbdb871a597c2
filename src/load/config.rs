//! Files beside the filters that the linter reads and writes: its configuration, its baseline, fixed files.

use super::yaml;
use crate::source::{FileId, Node, Problem, Severity, Sources};
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// Name of the configuration.
pub const NAME: &str = ".envoyfilter.yaml";

/// A configuration's text, read.
#[derive(Debug)]
pub struct ConfigFile {
    /// Its folder, absolute: patterns of paths are counted from here.
    pub folder: PathBuf,
    /// The document; `None` when it is empty or cannot be read.
    pub document: Option<Node>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// The configuration that holds for a file or folder: the nearest one upwards; `None` when there is none.
pub fn find(beside: Option<&Path>) -> Option<PathBuf> {
    let start = absolute(beside.unwrap_or(Path::new(".")));
    let found = start.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file())?;
    // Shown as short as the user would write it.
    let here = absolute(Path::new("."));
    Some(found.strip_prefix(&here).map(Path::to_owned).unwrap_or(found))
}

/// Reads a configuration and adds its text to the sources. Fails when the file cannot be read.
pub fn read(path: &Path, sources: &mut Sources) -> Result<ConfigFile, Problem> {
    let text = text(path)?;
    let file = sources.add(path.display().to_string(), text.as_str());
    Ok(parse(file, &text, absolute(path).parent().map(Path::to_owned).unwrap_or_default()))
}

fn parse(file: FileId, text: &str, folder: PathBuf) -> ConfigFile {
    let (documents, mut problems) = yaml::documents(file, text);
    if let Some(second) = documents.get(1) {
        problems.push(Problem {
            code: "configuration",
            severity: Severity::Error,
            span: Some(second.span),
            message: "a configuration is one document".to_owned(),
            help: None,
        });
    }
    ConfigFile { folder, document: documents.into_iter().next(), problems }
}

/// The YAML files that hold rules: files as they are named, and those that lie in named folders, sorted.
pub fn rule_files(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<Problem>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        if path.is_dir() {
            found.extend(cases(path));
        } else if path.is_file() {
            found.push(path.clone());
        } else {
            let odd = || io::Error::other("it is neither a file nor a folder");
            problems.push(trouble("read", path, &fs::metadata(path).err().unwrap_or_else(odd)));
        }
    }
    (found, problems)
}

/// The YAML files in a folder, sorted; none when there is no folder.
pub fn cases(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let yaml = |path: &PathBuf| path.is_file() && path.extension().is_some_and(|it| it == "yaml" || it == "yml");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(yaml).collect();
    found.sort();
    found
}

/// The text of a file. Fails with what to tell the user.
pub fn text(path: &Path) -> Result<String, Problem> {
    fs::read_to_string(path).map_err(|error| trouble("read", path, &error))
}

/// Whether there is such a file.
pub fn exists(path: &Path) -> bool {
    path.exists()
}

/// The path of a file counted from a folder, with `/` between its parts; as it is when it lies elsewhere.
pub fn relative(name: &str, folder: &Path) -> String {
    let path = absolute(Path::new(name));
    let path = path.strip_prefix(folder).map(Path::to_owned).unwrap_or(path);
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// Writes a file whole or not at all: beside it first, then in its place. Links are followed, permissions kept.
pub fn write(path: &Path, text: &str) -> Result<(), Problem> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = target.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let write = || -> io::Result<()> {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&beside)?;
        file.write_all(text.as_bytes())?;
        if let Ok(old) = fs::metadata(&target) {
            fs::set_permissions(&beside, old.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&beside, &target)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&beside);
        trouble("write", path, &error)
    })
}

fn trouble(verb: &str, path: &Path, error: &io::Error) -> Problem {
    let reason = error.to_string();
    let reason = reason.split(" (os error").next().unwrap_or_default();
    Problem {
        code: "cannot-read",
        severity: Severity::Error,
        span: None,
        message: format!("cannot {verb} {}: {reason}", path.display()),
        help: None,
    }
}

/// An absolute path without `.` and `..`, whether or not the file exists.
fn absolute(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            _ => clean.push(part),
        }
    }
    clean
}
