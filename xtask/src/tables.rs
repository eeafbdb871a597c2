//! The tables of `src/envoy/data`: two are generated from the committed store, three are checked against it.

mod api;
mod checked;
mod generated;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::envoydb::{self, Result};
use api::Api;

/// The API of every Envoy minor and of every istiod in the store.
struct History {
    envoy: BTreeMap<u16, Api>,
    /// From oldest to newest.
    istiod: Vec<Api>,
}

impl History {
    fn committed() -> Result<History> {
        let mut history = History { envoy: BTreeMap::new(), istiod: Vec::new() };
        for (name, files) in envoydb::committed()? {
            let api = Api::read(files.iter().map(Vec::as_slice)).map_err(|error| format!("{name}: {error}"))?;
            match name.strip_prefix("envoy-1.") {
                Some(minor) => _ = history.envoy.insert(minor.parse()?, api),
                None => history.istiod.push(api),
            }
        }
        if history.envoy.is_empty() { Err("the store holds no Envoy".into()) } else { Ok(history) }
    }

    /// The oldest and the newest minor of Envoy.
    fn minors(&self) -> (u16, u16) {
        let first = self.envoy.keys().next().copied().unwrap_or_default();
        (first, self.envoy.keys().next_back().copied().unwrap_or_default())
    }
}

/// Writes the generated tables, then fails if the others disagree with the store.
pub fn write() -> Result<()> {
    let history = History::committed()?;
    for (name, text) in generated::tables(&history)? {
        fs::write(path(name), text)?;
    }
    report(&checked(&history)?)
}

/// Fails unless the generated tables are up to date and the others agree with the store.
pub fn check() -> Result<()> {
    let history = History::committed()?;
    let mut wrong = Vec::new();
    for (name, text) in generated::tables(&history)? {
        let committed = fs::read_to_string(path(name))?;
        wrong.extend(generated::differences(&text, &committed).into_iter().map(|line| format!("{name}: {line}")));
    }
    wrong.extend(checked(&history)?);
    report(&wrong)?;
    println!("up to date");
    Ok(())
}

fn checked(history: &History) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (name, check) in checked::CHECKS {
        let text = fs::read_to_string(path(name))?;
        wrong.extend(check(history, &rows(&text)).into_iter().map(|line| format!("{name}: {line}")));
    }
    Ok(wrong)
}

fn report(wrong: &[String]) -> Result<()> {
    for line in wrong {
        eprintln!("{line}");
    }
    if wrong.is_empty() { Ok(()) } else { Err("the tables do not say what the store says".into()) }
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/envoy/data").join(name)
}

/// The cells of the lines below the first.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().skip(1).map(|line| line.split('\t').collect()).collect()
}

/// A cell of a row; trailing cells may be omitted.
fn cell<'a>(row: &[&'a str], index: usize) -> &'a str {
    row.get(index).copied().unwrap_or_default()
}
