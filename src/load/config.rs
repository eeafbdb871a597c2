//! Files that the linter reads and writes in addition to filters: its configuration, its baseline, fixed files.

use super::files::{normal, shown};
use super::limits::Excess;
use super::yaml;
use crate::source::{Code, FileId, Node, Problem, Severity, Sources};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The file name of a configuration.
pub(crate) const NAME: &str = ".envoyfilter.yaml";

/// The parsed text of a configuration.
#[derive(Debug)]
pub struct ConfigFile {
    /// Its folder, as an absolute path: patterns are relative to it.
    pub folder: PathBuf,
    /// The document; `None` when it is empty or cannot be read.
    pub document: Option<Node>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// The values of `kind:` at the start of lines.
    kinds: Vec<String>,
}

impl ConfigFile {
    /// Whether the text claims to be of a kind, even if it cannot be parsed.
    pub(crate) fn claims(&self, kind: &str) -> bool {
        let parsed = self.document.as_ref().and_then(|document| document.get("kind")).and_then(Node::as_str);
        parsed == Some(kind) || self.kinds.iter().any(|found| found == kind)
    }
}

/// Maximum size of a configuration or a rule file, in bytes.
const LONGEST: u64 = 1 << 20;
/// Maximum size of a baseline or a case filter, in bytes.
const LONGEST_TEXT: u64 = 256 << 20;

/// The configuration that applies to a file or folder: the nearest one upwards; `None` when there is none.
pub fn find(beside: Option<&Path>) -> Option<PathBuf> {
    let start = absolute(beside.unwrap_or(Path::new(".")));
    let found = start.ancestors().map(|folder| folder.join(NAME)).find(|path| fs::symlink_metadata(path).is_ok())?;
    // As short as the user would write it.
    let here = absolute(Path::new("."));
    Some(found.strip_prefix(&here).map(Path::to_owned).unwrap_or(found))
}

/// Reads a configuration that the user named and adds its text to the sources. Fails when the file cannot be read.
pub fn read(path: &Path, sources: &mut Sources) -> Result<ConfigFile, Problem> {
    let text = bounded(path, LONGEST)?;
    let file = sources.add(shown(path), text.as_str());
    Ok(parse(file, &text, absolute(path).parent().map(Path::to_owned).unwrap_or_default()))
}

/// Reads a configuration that was found rather than named. Anyone who can change a repository can put one there, even as a link
/// to a file that only the user can read. Fails when it is not a regular file inside its folder.
pub(crate) fn read_found(path: &Path, sources: &mut Sources) -> Result<ConfigFile, Problem> {
    inside(path, absolute(path).parent().unwrap_or(Path::new("/")), "the configuration")?;
    read(path, sources)
}

/// Fails when a path leads out of a folder after links are resolved, or when it is neither a file nor a folder.
fn inside(path: &Path, folder: &Path, what: &str) -> Result<(), Problem> {
    let real = |path: &Path| fs::canonicalize(path);
    match (real(path), real(folder)) {
        (Ok(target), Ok(folder)) if target.starts_with(&folder) => Ok(()),
        (Err(error), _) | (_, Err(error)) => Err(trouble("read", path, &error)),
        _ => Err(Problem {
            code: Code::Configuration,
            severity: Severity::Error,
            span: None,
            message: format!("{what} {} is outside the folder of the configuration", shown(path)),
            help: Some("move it into that folder, or name it on the command line: --rules, --config".to_owned()),
        }),
    }
}

fn parse(file: FileId, text: &str, folder: PathBuf) -> ConfigFile {
    let (documents, mut problems) = yaml::documents(file, text);
    if let Some(second) = documents.get(1) {
        problems.push(Problem {
            code: Code::Configuration,
            severity: Severity::Error,
            span: Some(second.span),
            message: "a configuration must be a single document".to_owned(),
            help: None,
        });
    }
    let kinds = text.lines().filter_map(|line| line.trim_start_matches(['{', '"', ' ']).strip_prefix("kind"));
    let kinds = kinds.map(|rest| rest.trim_matches(['"', '\'', ':', ' ', ',', '}', '\r']).to_owned());
    ConfigFile { folder, document: documents.into_iter().next(), problems, kinds: kinds.collect() }
}

/// The YAML files with rules: named files and those in named folders, sorted.
pub(crate) fn rule_files(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<Problem>) {
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

/// The same for paths in a configuration, restricted to its folder after links are resolved.
pub(crate) fn rule_files_inside(paths: &[String], folder: &Path) -> (Vec<PathBuf>, Vec<Problem>) {
    let (mut allowed, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        let path = folder.join(path);
        match inside(&path, folder, "the rule") {
            Ok(()) => allowed.push(path),
            Err(problem) => problems.push(problem),
        }
    }
    let (found, more) = rule_files(&allowed);
    problems.extend(more);
    let (found, outside): (Vec<_>, Vec<_>) =
        found.into_iter().map(|path| (inside(&path, folder, "the rule"), path)).partition(|(inside, _)| inside.is_ok());
    problems.extend(outside.into_iter().filter_map(|(problem, _)| problem.err()));
    (found.into_iter().map(|(_, path)| path).collect(), problems)
}

/// The YAML files in a folder, sorted; none when the folder does not exist.
pub(crate) fn cases(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let yaml = |path: &PathBuf| path.is_file() && path.extension().is_some_and(|it| it == "yaml" || it == "yml");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(yaml).collect();
    found.sort();
    found
}

/// The text of a file. Fails with a message for the user.
pub fn text(path: &Path) -> Result<String, Problem> {
    bounded(path, LONGEST_TEXT)
}

/// The text of a regular file up to this size.
fn bounded(path: &Path, longest: u64) -> Result<String, Problem> {
    let read = || {
        let file = fs::File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let mut bytes = Vec::new();
        file.take(longest + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > longest {
            return Err(Excess::Bytes(longest).into());
        }
        String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
    };
    read().map_err(|error| trouble("read", path, &error))
}

/// Whether the file exists.
pub(crate) fn exists(path: &Path) -> bool {
    path.exists()
}

/// The path of a file relative to a folder, with `/` between its parts; unchanged when it is elsewhere.
pub(crate) fn relative(name: &str, folder: &Path) -> String {
    let path = absolute(Path::new(name));
    let path = path.strip_prefix(folder).map(Path::to_owned).unwrap_or(path);
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// Writes a file atomically: to a temporary file beside it, then renamed. Follows links and keeps permissions.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Problem> {
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
        code: Code::CannotRead,
        severity: Severity::Error,
        span: None,
        message: format!("cannot {verb} {}: {reason}", shown(path)),
        help: None,
    }
}

/// An absolute path without `.` and `..`, whether or not the file exists.
fn absolute(path: &Path) -> PathBuf {
    normal(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}
