//! Reads files, folders and standard input as texts.

use super::limits::{self, Bound, Excess, Limits};
use crate::source::{Code, Problem, Severity, escape};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// A path without `.` and without `..` after a name, by its text alone.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => drop(normal.pop()),
            Component::ParentDir if normal.has_root() => {}
            part => normal.push(part),
        }
    }
    normal
}

/// One text to read.
#[derive(Debug)]
pub(super) struct Input {
    /// Its name in messages.
    pub(super) name: String,
    /// Whether the user named it, rather than only its folder.
    pub(super) named: bool,
    path: Option<PathBuf>,
}

/// The content of an input.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) text: String,
    /// Where invalid UTF-8 was replaced.
    pub(super) replaced: Vec<usize>,
}

/// Resolves the arguments to inputs, sorted by name and without duplicates, regardless of their order.
pub(super) fn list(arguments: &[PathBuf], problems: &mut Vec<Problem>) -> Vec<Input> {
    let mut inputs = Vec::new();
    for argument in arguments {
        if argument.as_os_str() == "-" {
            inputs.push(Input { name: "<stdin>".to_owned(), named: true, path: None });
        } else if argument.is_dir() {
            let found = folder(argument, problems);
            if found.is_empty() {
                let message = format!("{} contains no .yaml, .yml or .json file", argument.display());
                problems.push(problem(Code::EmptyDirectory, Severity::Warning, message));
            }
            inputs.extend(found.into_iter().map(|path| input(path, false)));
        } else {
            inputs.push(input(argument.clone(), true));
        }
    }
    // Named files first, so that one also found in a folder counts as named.
    inputs.sort_by(|a, b| (&a.name, !a.named).cmp(&(&b.name, !b.named)));
    let (mut seen, mut folders) = (HashSet::new(), HashMap::new());
    inputs.retain(|input| seen.insert(input.path.as_deref().map(|path| real(path, &mut folders))));
    inputs
}

/// The path of a file without symbolic links. Its folder is asked for once: that takes a system call for each of its parents.
fn real(path: &Path, folders: &mut HashMap<PathBuf, PathBuf>) -> PathBuf {
    let whole = || fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let is_plain = || fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if !folder.as_os_str().is_empty() && is_plain() => {
            let known = folders.entry(folder.to_owned());
            known.or_insert_with(|| fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())).join(name)
        }
        _ => whole(),
    }
}

fn input(path: PathBuf, named: bool) -> Input {
    Input { name: shown(&path), named, path: Some(path) }
}

/// Every YAML and JSON file below a folder, without hidden files and folders and links to folders. Links to files outside the
/// folder are skipped too: otherwise anyone who can change a repository could make us quote any other file.
fn folder(root: &Path, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let real_root = fs::canonicalize(root).ok();
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                problems.push(cannot_read(&folder.display().to_string(), &error));
                continue;
            }
        };
        for entry in entries.flatten() {
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            let kind = entry.file_type();
            if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
                folders.push(path);
            } else if is_yaml(&path) && path.is_file() {
                let leads_out = || match (fs::canonicalize(&path), &real_root) {
                    (Ok(target), Some(root)) => !target.starts_with(root),
                    _ => true,
                };
                if kind.is_ok_and(|kind| kind.is_symlink()) && leads_out() {
                    let message = format!("{} is a link to a file outside the folder and is not read", shown(&path));
                    let mut problem = problem(Code::LinkOutside, Severity::Warning, message);
                    problem.help = Some("name the file itself to read it".to_owned());
                    problems.push(problem);
                } else {
                    files.push(path);
                }
            }
        }
    }
    files.sort();
    files
}

fn is_yaml(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending))
}

impl Input {
    /// Reads the text, unpacking gzip and zstd. Fails with a message for the user: unreadable, too large, binary.
    pub(super) fn read(&self, limits: Limits) -> Result<Text, Problem> {
        let bytes = match &self.path {
            None => held(io::stdin().lock(), 0, limits),
            Some(path) => File::open(path).and_then(|file| {
                let size = file.metadata()?.len();
                held(file, size, limits)
            }),
        };
        let bytes = bytes.map_err(|error| cannot_read(&self.name, &error))?;
        decode(bytes).ok_or_else(|| {
            let message = format!("{} is a binary file, not YAML or JSON", self.name);
            problem(Code::BinaryFile, Severity::Error, message)
        })
    }
}

/// How much is checked before the rest is read.
const HEAD: u64 = 8192;

/// Reads content within the limits; for binary data only the head. What is known to be too large by its size in bytes (0
/// for streams) is not read.
fn held(from: impl Read, size: u64, limits: Limits) -> io::Result<Vec<u8>> {
    let (mut content, is_packed) = limits::content(from, limits, Bound::Held)?;
    let mut bytes = Vec::new();
    content.by_ref().take(HEAD).read_to_end(&mut bytes)?;
    let wide = [[0xff, 0xfe], [0xfe, 0xff]].iter().any(|mark| bytes.starts_with(mark));
    if memchr::memchr(0, &bytes).is_some() && !wide {
        return Ok(bytes);
    }
    if !is_packed && size > limits.bytes {
        return Err(Excess::Bytes(limits.bytes).into());
    }
    content.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Decodes text: UTF-8, or UTF-16 with a byte order mark as written by PowerShell; `None` for binary data.
fn decode(bytes: Vec<u8>) -> Option<Text> {
    let wide = |order: fn([u8; 2]) -> u16| {
        let units = bytes[2..].chunks_exact(2).map(|pair| order([pair[0], pair[1]]));
        let text = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        Some(Text { text, replaced: Vec::new() })
    };
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => return wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => return wide(u16::from_be_bytes),
        _ => {}
    }
    if memchr::memchr(0, &bytes).is_some() {
        return None;
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Some(Text { text, replaced: Vec::new() }),
        Err(error) => error.into_bytes(),
    };
    let (mut text, mut replaced) = (String::with_capacity(bytes.len()), Vec::new());
    for part in bytes.utf8_chunks() {
        text.push_str(part.valid());
        if !part.invalid().is_empty() {
            replaced.push(text.len());
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Some(Text { text, replaced })
}

pub(super) fn problem(code: Code, severity: Severity, message: String) -> Problem {
    Problem { code, severity, span: None, message, help: None }
}

fn cannot_read(name: &str, error: &io::Error) -> Problem {
    match limits::excess(error) {
        Some(excess) => Problem {
            help: excess.help(),
            ..problem(Code::TooLarge, Severity::Error, format!("cannot read {name}: {excess}"))
        },
        None => problem(Code::CannotRead, Severity::Error, format!("cannot read {name}: {}", reason(error))),
    }
}

/// The error message without the system's error number.
pub(super) fn reason(error: &io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_owned()
}

/// A path in messages: on one line, without anything that controls a terminal.
pub(super) fn shown(path: &Path) -> String {
    escape::one_line(&path.display().to_string()).into_owned()
}
