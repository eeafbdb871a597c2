//! Files in languages that are not read: programs, templates and documents that may contain or make EnvoyFilters.
//!
//! Such a file must not count as checked, and an error of a YAML parser about it would help nobody.

use super::files::problem;
use crate::source::{Code, Problem, Severity};

/// What a language is called, and the endings and names of its files.
const LANGUAGES: &[(&str, &[&str], &[&str])] = &[
    ("a CUE file", &["cue"], &[]),
    ("a Jsonnet file", &["jsonnet", "libsonnet"], &[]),
    ("a Dhall file", &["dhall"], &[]),
    ("a KCL file", &["k"], &[]),
    ("a Pkl file", &["pkl"], &[]),
    ("a Starlark file", &["star", "bzl", "bazel"], &["BUILD", "WORKSPACE", "Tiltfile"]),
    ("a Jupyter notebook", &["ipynb"], &[]),
    ("a diff", &["patch", "diff"], &[]),
    ("a makefile", &["mk"], &["Makefile", "GNUmakefile", "makefile"]),
    ("a Dockerfile", &["dockerfile"], &["Dockerfile", "Containerfile"]),
    ("a PowerShell script", &["ps1", "psm1"], &[]),
    ("a web page", &["html", "htm", "xhtml"], &[]),
    ("an XML file", &["xml"], &[]),
    ("a TOML file", &["toml"], &[]),
    ("a reStructuredText file", &["rst", "rest"], &[]),
    ("an Org file", &["org"], &[]),
    ("a Lua script", &["lua"], &[]),
    (
        "a program",
        &[
            "bat", "c", "cc", "clj", "cmd", "cpp", "cs", "ex", "exs", "fs", "go", "gradle", "groovy", "h", "hs",
            "java", "js", "jsx", "kt", "kts", "mjs", "cjs", "ml", "nix", "php", "pl", "pp", "py", "rb", "rs", "scala",
            "swift", "ts", "tsx",
        ],
        &["Jenkinsfile", "Justfile", "justfile", "Rakefile", "Vagrantfile"],
    ),
];

/// Shells whose heredocs are read.
const SHELLS: &[&str] = &["ash", "bash", "dash", "ksh", "sh", "zsh"];

/// The interpreter that the first line of a script names.
fn interpreter(text: &str) -> Option<&str> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    // `env` has options and variables before the program.
    let first = words.next()?;
    if first == "env" { words.find(|word| !word.starts_with('-') && !word.contains('=')) } else { Some(first) }
}

/// Whether this is a script of a shell, by its name or by its first line.
pub(super) fn is_shell(ending: &str, text: &str) -> bool {
    SHELLS.contains(&ending) || interpreter(text).is_some_and(|program| SHELLS.contains(&program))
}

/// Reports a file in a language that is not read; `None` for everything that may be YAML. The file does not end as YAML does.
pub(super) fn unread(name: &str, ending: &str, text: &str) -> Option<Problem> {
    let file = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let by_name = LANGUAGES
        .iter()
        .find(|(_, endings, names)| names.contains(&file) || (file.contains('.') && endings.contains(&ending)));
    let language = match by_name {
        Some((language, ..)) => *language,
        None if interpreter(text).is_some() => "a program",
        None => return None,
    };
    let what = if text.contains("EnvoyFilter") { "the EnvoyFilter in it is not read" } else { "nothing was checked" };
    let pipe = match ending {
        "cue" => format!("cue export --out yaml {name} | kubectl envoyfilter lint -"),
        "jsonnet" => format!("jsonnet {name} | kubectl envoyfilter lint -"),
        "libsonnet" => "jsonnet MAIN.jsonnet | kubectl envoyfilter lint -".to_owned(),
        _ => "PROGRAM | kubectl envoyfilter lint -".to_owned(),
    };
    let help = match ending {
        "patch" | "diff" => "apply it, and check the files that it changes".to_owned(),
        "html" | "htm" | "xhtml" | "rst" | "rest" | "org" => {
            "write the EnvoyFilter to a YAML file, and check that".to_owned()
        }
        _ => format!("check its output: {pipe}"),
    };
    let message = format!("{name} is {language}, not YAML: {what}");
    Some(Problem { help: Some(help), ..problem(Code::NotRendered, Severity::Error, message) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_name_their_interpreter() {
        assert_eq!(interpreter("#!/bin/sh\n"), Some("sh"));
        assert_eq!(interpreter("#!/usr/bin/env -S LANG=C bash -e\n"), Some("bash"));
        assert_eq!(interpreter("# a\n"), None);
        assert!(is_shell("", "#! /usr/bin/zsh\n") && !is_shell("", "#!/usr/bin/env python3\n"));
    }

    #[test]
    fn what_may_be_yaml_is_read() {
        for name in ["a.yaml", "a.yml.bak", "cue", "k", "<stdin>", "a.txt", "/dev/fd/63"] {
            let ending = name.rsplit('.').next().unwrap();
            assert!(unread(name, ending, "kind: EnvoyFilter\n").is_none(), "{name}");
        }
        let told = unread("x/a.cue", "cue", "kind: \"EnvoyFilter\"\n").unwrap();
        assert_eq!(told.message, "x/a.cue is a CUE file, not YAML: the EnvoyFilter in it is not read");
    }
}
