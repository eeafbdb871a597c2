//! The rules of ARCHITECTURE.md that a machine can check: what imports what, who does IO, how files begin.

use std::fs;
use std::path::{Path, PathBuf};

/// A module and what of the crate it may name. Whoever is not listed (cli, main) may use everything.
const LAYERS: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("proto", &["source"]),
    ("envoy", &["proto", "source"]),
    ("model", &["proto", "source"]),
    ("engine", &["model", "proto", "source"]),
    ("load", &["model", "proto", "source"]),
    ("trial", &["engine", "envoy", "model", "proto", "source"]),
    ("explain", &["engine", "envoy", "model", "proto", "source"]),
    ("lint", &["engine", "envoy", "explain", "model", "proto", "source", "trial", "declare_rule"]),
    ("rules", &["engine", "envoy", "explain", "lint", "model", "proto", "source", "trial", "declare_rule"]),
    ("audit", &["engine", "explain", "lint", "model", "proto", "source", "trial"]),
    ("report", &["audit", "engine", "envoy", "explain", "lint", "model", "proto", "source"]),
    ("demo", &["load", "model", "source"]),
    ("cluster", &["load", "model", "source"]),
    ("deploy", &["cluster", "engine", "envoy", "lint", "model", "rules", "source"]),
    ("admission", &["cluster", "engine", "lint", "load", "model", "source"]),
];

/// Imports against the layers, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    // The edits of a dump are written by the loader that indexed it; the report makes their texts.
    ("src/report/dump.rs", "load"),
    // What is written as YAML is what the loader reads back.
    ("src/report/yaml.rs", "load"),
];

/// Files that may be longer than [`MAX_LINES`].
const LONG: &[&str] = &[
    // One mock cluster, one test a question.
    "tests/it/live/mod.rs",
    // One table of YAML 1.1 oddities after the other, all of them one reader.
    "src/load/yaml.rs",
    // A parser of one language, statement by statement.
    "src/lint/lua.rs",
];

const MAX_LINES: usize = 600;

/// Modules that may open files, sockets or the environment.
const IO: &[&str] = &["load", "cluster", "admission", "trial", "main"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Files below a folder with one of these endings, with their path from the root and their text.
fn files(folder: &str, endings: &[&str]) -> Vec<(String, String)> {
    let (root, mut found, mut open) = (root(), Vec::new(), Vec::new());
    open.push(root.join(folder));
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if path.is_dir() {
                if name != "target" && name != ".git" {
                    open.push(path);
                }
            } else if endings.contains(&ending) {
                let text = fs::read_to_string(&path).unwrap();
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
                found.push((name, text));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no files in {folder}");
    found
}

fn rust_files() -> Vec<(String, String)> {
    ["src", "rules", "tests", "benches"].iter().flat_map(|folder| files(folder, &["rs"])).collect()
}

/// The part of a source file that is in the product.
fn product(text: &str) -> &str {
    text.find("#[cfg(test)]").map_or(text, |at| &text[..at])
}

/// The top-level module of a file of the product.
fn module(path: &str) -> &str {
    if path.starts_with("rules/") {
        return "rules";
    }
    path.split('/').nth(1).unwrap().trim_end_matches(".rs")
}

/// Code without comments.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")).map(|(at, line)| (at + 1, line))
}

fn none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_file_says_what_it_is() {
    let files = rust_files();
    let faults = files.iter().filter(|(_, text)| !text.starts_with("//! "));
    none(&faults.map(|(path, _)| format!("{path}: the first line is not a `//!` sentence")).collect::<Vec<_>>());
}

#[test]
fn modules_import_only_what_is_below_them() {
    let mut faults = Vec::new();
    for (path, text) in files("src", &["rs"]).into_iter().chain(files("rules", &["rs"])) {
        let own = module(&path);
        let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == own) else { continue };
        for (line, code) in code(product(&text)) {
            for part in code.split("crate::").skip(1) {
                let name: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let excepted = EXCEPTIONS.contains(&(path.as_str(), name.as_str()));
                if name != own && !allowed.contains(&name.as_str()) && !excepted {
                    faults.push(format!("{path}:{line}: {own} must not use {name}"));
                }
            }
        }
    }
    none(&faults);
}

#[test]
fn only_readers_and_main_do_io() {
    let mut faults = Vec::new();
    for (path, text) in files("src", &["rs"]).into_iter().chain(files("rules", &["rs"])) {
        for (line, code) in code(product(&text)) {
            let io = ["std::fs", "std::net::Tcp", "std::env", "std::process::Command"]
                .iter()
                .any(|word| code.contains(word));
            if io && !IO.contains(&module(&path)) {
                faults.push(format!(
                    "{path}:{line}: files, sockets and the environment belong to load, cluster, trial and main"
                ));
            }
            if ["print!(", "println!(", "dbg!("].iter().any(|word| code.contains(word)) {
                faults.push(format!("{path}:{line}: output goes through an `impl Write`"));
            }
        }
    }
    none(&faults);
}

#[test]
fn files_are_small() {
    let mut faults = Vec::new();
    for (path, text) in rust_files() {
        let (lines, long) = (text.lines().count(), LONG.contains(&path.as_str()));
        if lines > MAX_LINES && !long {
            faults.push(format!("{path}: {lines} lines; cut it, or list it with a reason"));
        }
        if lines <= MAX_LINES && long {
            faults.push(format!("{path}: listed as long, and is not"));
        }
    }
    none(&faults);
}

/// Paths of one machine mean nothing to a reader of the repository.
#[test]
fn texts_name_no_place_outside_the_repository() {
    let words = [concat!("/wor", "k/"), concat!("../sha", "red"), concat!("/hom", "e/")];
    let endings = ["rs", "md", "toml", "go", "yaml", "sh"];
    let mut faults = Vec::new();
    let folders = ["src", "rules", "tests", "benches", "xtask"];
    let texts = folders.iter().flat_map(|folder| files(folder, &endings));
    let pages = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md" || ending == "toml"));
    let pages = pages.map(|path| (name(&path), fs::read_to_string(&path).unwrap()));
    for (path, text) in texts.chain(pages) {
        for (at, line) in text.lines().enumerate() {
            if let Some(word) = words.iter().find(|word| line.contains(**word)) {
                faults.push(format!("{path}:{}: {word}", at + 1));
            }
        }
    }
    none(&faults);
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// A link in a page of the repository leads somewhere.
#[test]
fn links_of_the_pages_lead_somewhere() {
    let mut faults = Vec::new();
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        for part in text.split("](").skip(1) {
            let target = part.split(')').next().unwrap().split('#').next().unwrap();
            if !target.is_empty() && !target.contains("://") && !root().join(target).exists() {
                faults.push(format!("{page}: {target}"));
            }
        }
    }
    none(&faults);
}
