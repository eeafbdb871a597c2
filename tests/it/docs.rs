//! The README and the book: every recorded run shows the program's actual output, and every page is reachable.
//!
//! A fenced `console` block whose first line is `$ kubectl envoyfilter … --demo` (or another run that needs neither a
//! cluster nor files) is run. A line with only `…` stands for any number of lines. `UPDATE=1` writes blocks without
//! such a line.

use crate::cli::run;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// README.md and the pages of the book.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = fs::read_dir(root().join("docs/src"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

/// Whether a run is reproducible: it reads only built-in data.
fn repeatable(words: &[&str]) -> bool {
    let first = words.first().copied().unwrap_or_default();
    let recorded = words.get(1).is_some_and(|word| word.starts_with("testdata/migrate/"));
    recorded || words.contains(&"--demo") && !words.contains(&"--envoy") || ["rules", "api", "rbac"].contains(&first)
}

/// Whether the lines of a block match the output; `…` alone on a line stands for omitted lines.
fn describes(block: &[&str], output: &[&str]) -> bool {
    let mut rest = output;
    let mut parts = block.split(|line| line.trim() == "…").peekable();
    let mut first = true;
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        let at = if first {
            Some(0).filter(|_| rest.starts_with(part))
        } else if last && !part.is_empty() {
            rest.len().checked_sub(part.len()).filter(|&at| &rest[at..] == part)
        } else {
            (0..=rest.len().saturating_sub(part.len())).find(|&at| rest[at..].starts_with(part))
        };
        let Some(at) = at else { return false };
        rest = &rest[at + part.len()..];
        if first && last && !rest.is_empty() {
            return false;
        }
        first = false;
    }
    true
}

#[test]
fn recorded_runs_in_the_documentation_are_what_the_program_prints() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut runs = 0;
    let mut wrong = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let mut out: Vec<String> = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            out.push(lines[at].to_owned());
            let command = lines.get(at + 1).and_then(|line| line.strip_prefix("$ kubectl envoyfilter "));
            let (true, Some(command)) = (lines[at] == "```console", command) else {
                at += 1;
                continue;
            };
            let end = at + lines[at..].iter().position(|line| *line == "```").unwrap();
            let block = &lines[at + 2..end];
            let words: Vec<&str> = command.split_whitespace().collect();
            out.push(lines[at + 1].to_owned());
            if repeatable(&words) {
                runs += 1;
                let output = run(&root(), &words);
                let printed = String::from_utf8(output.stdout).unwrap();
                let printed: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
                let partial = block.iter().any(|line| line.trim() == "…");
                if !describes(block, &printed) {
                    wrong.push(format!("{}:{}: `{command}` prints something else", path.display(), at + 1));
                }
                if update && !partial {
                    out.extend(printed.iter().map(|line| (*line).to_owned()));
                } else {
                    out.extend(block.iter().map(|line| (*line).to_owned()));
                }
            } else {
                out.extend(block.iter().map(|line| (*line).to_owned()));
            }
            at = end;
        }
        if update {
            fs::write(&path, format!("{}\n", out.join("\n"))).unwrap();
        }
    }
    assert!(runs >= 5, "{runs} recorded runs in the documentation");
    assert!(update || wrong.is_empty(), "UPDATE=1 writes them anew\n{}", wrong.join("\n"));
}

#[test]
fn every_page_of_the_book_is_in_its_table_of_contents() {
    let summary = fs::read_to_string(root().join("docs/src/SUMMARY.md")).unwrap();
    for page in fs::read_dir(root().join("docs/src")).unwrap() {
        let name = page.unwrap().file_name().into_string().unwrap();
        let page = Path::new(&name);
        let listed = name == "SUMMARY.md" || summary.contains(&format!("({name})"));
        assert!(listed || page.extension().is_none_or(|it| it != "md"), "docs/src/SUMMARY.md does not list {name}");
    }
    for link in summary.split("](").skip(1) {
        let name = link.split(')').next().unwrap();
        assert!(
            root().join("docs/src").join(name).is_file(),
            "docs/src/SUMMARY.md links to {name}, which does not exist"
        );
    }
}
