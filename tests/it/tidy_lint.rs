//! Machine-checkable properties of the rules and the linter: no list of rules outside them, and no circular imports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let (mut found, mut open) = (Vec::new(), vec![root.join(folder)]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                let text = fs::read_to_string(&path).unwrap();
                found.push((name, text[..text.find("#[cfg(test)]").unwrap_or(text.len())].to_owned()));
            }
        }
    }
    found.sort();
    found
}

/// Whether a line of code contains the code of a rule.
fn codes(line: &str) -> bool {
    line.match_indices("EF").any(|(at, _)| {
        let (before, code) = (&line.as_bytes()[..at], &line.as_bytes()[at + 2..]);
        !before.last().is_some_and(u8::is_ascii_alphanumeric)
            && code.len() >= 3
            && code[..3].iter().all(u8::is_ascii_digit)
    })
}

/// A rule's properties are in its declaration; elsewhere, a code would be a list that nobody maintains.
#[test]
fn only_rules_name_rules() {
    let mut faults = Vec::new();
    for (path, text) in files("src") {
        for (line, code) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            if codes(code) {
                faults.push(format!("{path}:{}: {}", line + 1, code.trim()));
            }
        }
    }
    assert!(faults.is_empty(), "codes of rules outside rules/:\n{}", faults.join("\n"));
}

/// The paths below `crate::` that the `use` lines of a file name, grouped imports written out.
fn uses(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("use ") {
        let begins =
            at == 0 || rest[..at].ends_with('\n') || rest[..at].ends_with("    ") || rest[..at].ends_with("pub ");
        let Some(end) = rest[at..].find(';') else { break };
        if begins {
            expand(&rest[at + 4..at + end], &mut Vec::new(), &mut found);
        }
        rest = &rest[at + end..];
    }
    found
}

fn expand(tree: &str, prefix: &mut Vec<String>, out: &mut Vec<Vec<String>>) {
    let (mut depth, mut start) = (0, 0);
    let mut parts = Vec::new();
    for (at, c) in tree.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&tree[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tree[start..]);
    for part in parts.into_iter().map(str::trim).filter(|part| !part.is_empty()) {
        let (head, group) = match part.split_once('{') {
            Some((head, group)) => (head, group.strip_suffix('}')),
            None => (part, None),
        };
        let words: Vec<String> = head
            .split(" as ")
            .next()
            .unwrap_or_default()
            .split("::")
            .map(|word| word.trim().to_owned())
            .filter(|word| !word.is_empty())
            .collect();
        let length = prefix.len();
        prefix.extend(words);
        match group {
            Some(group) => expand(group, prefix, out),
            None => out.push(prefix.clone()),
        }
        prefix.truncate(length);
    }
}

/// The module of a file: `src/lint/facts/seen.rs` is `lint::facts::seen`.
fn module(path: &str) -> Vec<String> {
    let path = path.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').map(str::to_owned).collect()
}

#[test]
fn no_file_of_the_linter_needs_itself() {
    let files: Vec<(Vec<String>, String)> =
        files("src/lint").into_iter().map(|(path, text)| (module(&path), text)).collect();
    let modules: BTreeSet<&Vec<String>> = files.iter().map(|(module, _)| module).collect();
    let facade = vec!["lint".to_owned()];
    let mut needs: BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> = BTreeMap::new();
    let mut faults = Vec::new();
    for (module, text) in files.iter().filter(|(module, _)| *module != facade) {
        let mut all = uses(text);
        // Paths in code without a `use`.
        for part in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for part in part.split("crate::lint::").skip(1) {
                let path = part.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).next().unwrap();
                let mut words = vec!["crate".to_owned(), "lint".to_owned()];
                words.extend(path.split("::").map(str::to_owned));
                all.push(words);
            }
        }
        for path in all {
            let absolute: Vec<String> = match path[0].as_str() {
                "crate" => path[1..].to_vec(),
                "super" => module[..module.len() - 1].iter().chain(&path[1..]).cloned().collect(),
                "self" => module.iter().chain(&path[1..]).cloned().collect(),
                first => {
                    let below: Vec<String> = module.iter().cloned().chain([first.to_owned()]).collect();
                    if modules.contains(&below) { module.iter().cloned().chain(path).collect() } else { continue }
                }
            };
            if absolute.first().is_none_or(|first| first != "lint") {
                continue;
            }
            let target = (1..=absolute.len()).rev().find_map(|length| modules.get(&absolute[..length].to_vec()));
            match target {
                Some(target) if **target == facade => {
                    faults.push(format!("{} uses the facade for {}", module.join("::"), absolute.join("::")));
                }
                Some(target) if *target != module => {
                    needs.entry(module).or_default().insert(target);
                }
                _ => {}
            }
        }
    }
    // A module that can reach itself is part of a circle.
    for start in needs.keys() {
        let (mut open, mut seen) = (vec![*start], BTreeSet::new());
        while let Some(module) = open.pop() {
            for next in needs.get(module).into_iter().flatten() {
                if next == start {
                    faults.push(format!("{} needs itself through {}", start.join("::"), module.join("::")));
                }
                if seen.insert(*next) {
                    open.push(next);
                }
            }
        }
    }
    faults.sort();
    faults.dedup();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn grouped_imports_are_read() {
    let text = "use crate::lint::{self, facts::{a, b as c}, Rule};\n";
    let paths: Vec<String> = uses(text).iter().map(|path| path.join("::")).collect();
    assert_eq!(paths, ["crate::lint::self", "crate::lint::facts::a", "crate::lint::facts::b", "crate::lint::Rule"]);
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lint/mod.rs").exists());
}
