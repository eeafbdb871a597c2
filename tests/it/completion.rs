//! The committed completion scripts equal what the program prints. `UPDATE=1` writes them.

use crate::cli::run;
use std::fs;
use std::path::Path;

#[test]
fn completion_scripts_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for shell in ["bash", "zsh", "fish"] {
        let output = run(root, &["completion", shell]);
        assert_eq!(output.status.code(), Some(0));
        let have = String::from_utf8(output.stdout).unwrap();
        let path = root.join(format!("completions/kubectl-envoyfilter.{shell}"));
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, &have).unwrap();
        }
        assert_eq!(have, fs::read_to_string(&path).unwrap_or_default(), "UPDATE=1 cargo test --test it completion");
        assert!(have.contains("envoyfilter") && have.contains("explain"));
    }
}

#[test]
fn answers_for_kubectl_end_with_a_directive() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (words, want, directive) in [
        (&["li"][..], "lint\t", ":4"),
        (&["explain", "d"], "deployment\t", ":4"),
        (&["lint", "--color", ""], "auto", ":4"),
        (&["explain", "rule", "EF30"], "EF301\t", ":4"),
        (&["lint", "-f"], "", ":"),
        (&["lint", ""], "", ":0"),
        (&["get", "--no-such", "--", ""], "", ":"),
    ] {
        let output = run(root, &[&["__complete"], words].concat());
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.lines().any(|line| line.starts_with(want)), "{words:?}: {said}");
        assert!(said.lines().last().unwrap().starts_with(directive), "{words:?}: {said}");
    }
}
