//! The machine-checkable rules of ARCHITECTURE.md: imports, IO, the first line of files.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module and the parts of the crate that it may use. Unlisted modules (cli, main) may use everything; `words` is
/// available to all.
const LAYERS: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("words", &[]),
    ("budget", &[]),
    ("lua", &[]),
    ("proto", &["source"]),
    ("envoy", &["proto", "source"]),
    ("model", &["lua", "proto", "source"]),
    ("engine", &["model", "proto", "source"]),
    ("load", &["model", "proto", "source"]),
    ("study", &["engine", "load", "model", "proto", "source"]),
    ("process", &[]),
    ("bottle", &["engine", "load", "model", "process", "proto", "source"]),
    ("trial", &["engine", "envoy", "model", "process", "proto", "source"]),
    ("behaviour", &["engine", "model", "process", "proto", "source", "trial"]),
    ("explain", &["engine", "envoy", "model", "proto", "source", "study"]),
    (
        "lint",
        &["engine", "envoy", "explain", "lua", "migrate", "model", "proto", "source", "study", "trial", "declare_rule"],
    ),
    (
        "rules",
        &[
            "engine",
            "envoy",
            "explain",
            "lint",
            "lua",
            "migrate",
            "model",
            "proto",
            "source",
            "study",
            "trial",
            "declare_rule",
        ],
    ),
    ("audit", &["engine", "explain", "lint", "model", "proto", "source", "study", "trial"]),
    ("migrate", &["engine", "load", "lua", "model", "proto", "source"]),
    ("demo", &["load", "model", "source"]),
    ("cluster", &["load", "model", "source"]),
    (
        "mesh",
        &[
            "audit",
            "behaviour",
            "bottle",
            "cluster",
            "demo",
            "engine",
            "envoy",
            "explain",
            "lint",
            "load",
            "migrate",
            "model",
            "proto",
            "rules",
            "source",
            "study",
            "trial",
        ],
    ),
    (
        "report",
        &[
            "audit",
            "behaviour",
            "engine",
            "envoy",
            "explain",
            "lint",
            "mesh",
            "migrate",
            "model",
            "proto",
            "source",
            "study",
        ],
    ),
    ("deploy", &["cluster", "engine", "envoy", "lint", "model", "rules", "source"]),
    ("admission", &["cluster", "engine", "lint", "load", "mesh", "model", "source"]),
    (
        "watch",
        &[
            "admission",
            "cluster",
            "engine",
            "explain",
            "lint",
            "load",
            "mesh",
            "model",
            "report",
            "rules",
            "source",
            "study",
        ],
    ),
];

/// Imports that violate the layers, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    // The loader reads back what is written as YAML.
    ("src/report/yaml.rs", "load"),
    ("src/report/migrate/text.rs", "load"),
];

/// Files that may be longer than [`MAX_LINES`].
const LONG: &[&str] = &[
    // One mock cluster, with one test for each question.
    "tests/it/live/mod.rs",
    // Tables of YAML 1.1 oddities, all for one reader.
    "src/load/yaml.rs",
    // A parser of one language, statement by statement.
    "src/lua.rs",
];

const MAX_LINES: usize = 600;

/// Modules that may open files, sockets or the environment.
const IO: &[&str] = &["load", "cluster", "admission", "behaviour", "bottle", "process", "trial", "main"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Files below a folder with one of these endings, with their path relative to the root and their text.
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

/// The non-test part of a source file.
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

/// Every path of the crate in code, starting with `crate::` or `super::`, with groups expanded, and its line.
fn paths(text: &str, starts: &[&str]) -> Vec<(usize, String)> {
    let text: String = code(product(text)).map(|(at, line)| format!("{at}\u{0}{line}\n")).collect();
    let mut found = Vec::new();
    for start in starts {
        for (at, _) in text.match_indices(start) {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let line =
                text[..at].rfind('\u{0}').map_or("", |end| &text[text[..end].rfind('\n').map_or(0, |it| it + 1)..end]);
            for path in spread(&text[at..]) {
                found.push((line.parse().unwrap_or_default(), path));
            }
        }
    }
    found
}

/// The paths at the start of a text: one, or those of a group in braces.
fn spread(text: &str) -> Vec<String> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(text.len());
    let (head, rest) = text.split_at(end);
    let Some(group) = rest.strip_prefix('{').filter(|_| head.ends_with("::")) else {
        return vec![head.trim_end_matches(':').to_owned()];
    };
    let (mut depth, mut items, mut item) = (0, Vec::new(), String::new());
    let mut number = false;
    for c in group.chars() {
        match c {
            // Lines start with their numbers.
            '\n' => number = true,
            '\u{0}' => number = false,
            _ if number => {}
            '}' if depth == 0 => break,
            ',' if depth == 0 => items.push(std::mem::take(&mut item)),
            '{' | '}' => {
                depth = if c == '{' { depth + 1 } else { depth - 1 };
                item.push(c);
            }
            c if c.is_whitespace() => item.push(' '),
            c => item.push(c),
        }
    }
    items.push(item);
    let items = items.iter().map(|item| item.trim()).filter(|item| !item.is_empty());
    items.flat_map(|item| spread(item).into_iter().map(|inner| format!("{head}{inner}")).collect::<Vec<_>>()).collect()
}

#[test]
fn groups_are_taken_apart() {
    let text = "use crate::{a::{b, c::D}, e};\nlet x = crate::f::g();\n";
    let found: Vec<String> = paths(text, &["crate::"]).into_iter().map(|(_, path)| path).collect();
    assert_eq!(found, ["crate::a::b", "crate::a::c::D", "crate::e", "crate::f::g"]);
    assert_eq!(paths("use crate::{\n    a,\n    b::c,\n};\n", &["crate::"]).len(), 2);
}

#[test]
fn modules_import_only_what_is_below_them() {
    let mut faults = Vec::new();
    for (path, text) in files("src", &["rs"]).into_iter().chain(files("rules", &["rs"])) {
        let own = module(&path);
        let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == own) else { continue };
        for (line, used) in paths(&text, &["crate::"]) {
            let name = used.split("::").nth(1).unwrap_or_default();
            let excepted = EXCEPTIONS.contains(&(path.as_str(), name));
            if name != own && name != "words" && name != "budget" && !allowed.contains(&name) && !excepted {
                faults.push(format!("{path}:{line}: {own} must not use {name}"));
            }
        }
    }
    none(&faults);
}

/// Every layer is used only from above: the list itself is acyclic.
#[test]
fn layers_have_an_order() {
    let mut left: Vec<_> = LAYERS.to_vec();
    while !left.is_empty() {
        let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
        let before = left.len();
        left.retain(|(_, uses)| uses.iter().any(|used| names.contains(used)));
        assert!(left.len() < before, "these use each other: {names:?}");
    }
}

/// The modules of the crate by their paths, `lint::run`, each with its file.
fn modules() -> BTreeMap<String, String> {
    let name = |path: &str| {
        let inside = path.strip_prefix("src/").unwrap_or(path).trim_end_matches(".rs");
        inside.trim_end_matches("/mod").replace('/', "::")
    };
    files("src", &["rs"])
        .into_iter()
        .chain(files("rules", &["rs"]))
        .map(|(path, _)| (name(&path), path))
        .filter(|(name, _)| name != "lib" && name != "main")
        .collect()
}

/// For each module, the names that it re-exports (`pub use child::Name`), each with its original module.
fn handed_up<'m>(
    modules: &'m BTreeMap<String, String>,
    texts: &BTreeMap<String, String>,
) -> BTreeMap<&'m str, BTreeMap<String, &'m str>> {
    let mut handed: BTreeMap<&str, BTreeMap<String, &str>> = BTreeMap::new();
    for child in modules.keys() {
        let Some((parent, last)) = child.rsplit_once("::") else { continue };
        let Some((parent, file)) = modules.get_key_value(parent) else { continue };
        for (_, path) in paths(&texts[file], &[&format!("{last}::")]) {
            let item = path.rsplit("::").next().unwrap_or_default().to_owned();
            handed.entry(parent).or_default().entry(item).or_insert(child);
        }
    }
    handed
}

/// The module that a path refers to; for a re-exported name, its original module.
fn target<'m>(
    modules: &'m BTreeMap<String, String>,
    handed: &BTreeMap<&str, BTreeMap<String, &'m str>>,
    path: &[&str],
) -> Option<&'m str> {
    let length = (1..=path.len()).rev().find(|&length| modules.contains_key(&path[..length].join("::")))?;
    let (name, _) = modules.get_key_value(&path[..length].join("::"))?;
    let child = path.get(length).and_then(|item| handed.get(name.as_str())?.get_key_value(*item));
    match child {
        Some((item, child)) => {
            let deeper: Vec<&str> = child.split("::").chain([item.as_str()]).collect();
            target(modules, handed, &deeper)
        }
        None => Some(name),
    }
}

#[test]
fn files_do_not_import_in_circles() {
    let modules = modules();
    let texts: BTreeMap<String, String> = files("src", &["rs"]).into_iter().chain(files("rules", &["rs"])).collect();
    let handed = handed_up(&modules, &texts);
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, file) in &modules {
        let own: Vec<&str> = name.split("::").collect();
        for (_, used) in paths(&texts[file], &["crate::", "super::"]) {
            let mut parts: Vec<&str> = used.split("::").filter(|part| !part.is_empty()).collect();
            let mut from = if parts.first() == Some(&"crate") {
                parts.remove(0);
                Vec::new()
            } else {
                own.clone()
            };
            while parts.first() == Some(&"super") {
                parts.remove(0);
                from.pop();
            }
            from.extend(parts);
            if let Some(used) = target(&modules, &handed, &from).filter(|used| used != name) {
                // A module that re-exports its children is above them.
                edges.entry(name).or_default().insert(used);
            }
        }
    }
    let reaches = |from| {
        let (mut seen, mut open) = (HashSet::new(), vec![from]);
        while let Some(one) = open.pop() {
            open.extend(edges.get(one).into_iter().flatten().copied().filter(|next| seen.insert(*next)));
        }
        seen
    };
    let reached: BTreeMap<&str, HashSet<&str>> = edges.keys().map(|name| (*name, reaches(*name))).collect();
    let mut found = BTreeSet::new();
    for (name, all) in &reached {
        for other in all.iter().filter(|other| name < *other) {
            if reached.get(other).is_some_and(|back| back.contains(name)) {
                found.insert((modules[*name].as_str(), modules[*other].as_str()));
            }
        }
    }
    let said = found.iter().map(|(a, b)| format!("{a} and {b} import each other, perhaps by way of others"));
    none(&said.collect::<Vec<_>>());
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

/// Machine-specific paths are meaningless in a repository.
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

/// Links in the repository's pages are valid.
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

/// The tests that CONTRIBUTING.md names exist: a promise without its test is none.
#[test]
fn the_architecture_names_every_folder() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let folders = fs::read_dir(root().join("src")).expect("src").flatten().filter(|entry| entry.path().is_dir());
    let named = |name: &str| text.contains(&format!("`src/{name}/")) || text.contains(&format!("`src/{name}.rs`"));
    let mut missing: Vec<String> = folders
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !named(name))
        .map(|name| format!("src/{name} is not in the table"))
        .collect();
    missing.sort();
    none(&missing);
}

#[test]
fn tests_that_are_named_exist() {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let (_, table) = text.split_once("## What holds the commands on a running mesh").unwrap();
    let table = table.split("\n## ").next().unwrap();
    let named: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("| "))
        .flat_map(|line| line.rsplit(" | ").next().unwrap_or_default().split('`'))
        .filter(|word| word.contains("::"))
        .collect();
    assert!(named.len() > 30, "{named:?}");
    let files: BTreeMap<String, String> = files("tests/it", &["rs"]).into_iter().collect();
    let mut faults = Vec::new();
    for name in named {
        let (module, test) = name.rsplit_once("::").unwrap();
        let path = format!("tests/it/{}", module.replace("::", "/"));
        let text = files.get(&format!("{path}.rs")).or_else(|| files.get(&format!("{path}/mod.rs")));
        let is_test = |text: &String| {
            let at = text.find(&format!("\nfn {test}("));
            let name = format!("{test},");
            let mut pairs = text.split("in_part_and_in_full!(").skip(1);
            let in_part = pairs.any(|after| after.trim_start().starts_with(&name));
            in_part
                || at.is_some_and(|at| text[..at].rsplit("\n\n").next().is_some_and(|above| above.contains("#[test]")))
        };
        if !text.is_some_and(is_test) {
            faults.push(format!("CONTRIBUTING.md names {name}, which is no test"));
        }
    }
    none(&faults);
}
