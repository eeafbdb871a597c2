//! Linting for tests: files, config dumps of recordings, a release; and findings as text.

use crate::support::{dumps, live_dump, testdata};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::lint::config::Config;
use kubectl_envoyfilter::lint::{self, Context, Finding, Input};
use kubectl_envoyfilter::load::{self, Loaded, dump::Dump, dump::Identity, reference};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::rules;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The words after `# <word>: ` in the comment lines at the top of a case.
pub(crate) fn directive(source: &str, word: &str) -> Vec<String> {
    let lines = source.lines().take_while(|line| line.starts_with('#'));
    lines.filter_map(|line| line.strip_prefix(&format!("# {word}: "))).map(str::to_owned).collect()
}

/// Config dumps to use: those of a recording's proxies, and the reference configurations of a release.
pub(crate) struct Proxies {
    given: Vec<Dump>,
    release: Release,
}

impl Proxies {
    /// The proxies of recordings (`shop`, `ambient`, `gwapi`) and a release.
    pub(crate) fn new(recordings: &[String], release: Release) -> Proxies {
        Proxies::with_live(recordings, &[], release)
    }

    /// The same, and the dumps of real Envoys (testdata/live).
    pub(crate) fn with_live(recordings: &[String], live: &[String], release: Release) -> Proxies {
        let recorded = recordings.iter().flat_map(|name| dumps(&testdata("reference").join(name)).into_values());
        let given = recorded.chain(live.iter().map(|name| live_dump(name))).collect();
        Proxies { given, release }
    }

    /// All findings of all rules on what was loaded.
    pub(crate) fn lint(&self, loaded: &Loaded) -> Vec<Finding> {
        self.run(loaded, |_| ()).0
    }

    /// The findings that `lint` reports, without suppressed ones.
    pub(crate) fn report(&self, loaded: &Loaded) -> Vec<Finding> {
        self.with(loaded, |input| lint::check(input, rules::ALL, &Config::default(), str::to_owned).findings)
    }

    /// The result of `look` for the runs.
    pub(crate) fn inspect<T>(&self, loaded: &Loaded, look: impl FnOnce(&Context<'_>) -> T) -> T {
        self.run(loaded, look).1
    }

    /// The same without the rules.
    pub(crate) fn look<T>(&self, loaded: &Loaded, look: impl FnOnce(&Context<'_>) -> T) -> T {
        self.with(loaded, |input| lint::inspect(input, &[], look)).1
    }

    fn run<T>(&self, loaded: &Loaded, look: impl FnOnce(&Context<'_>) -> T) -> (Vec<Finding>, T) {
        self.with(loaded, |input| lint::inspect(input, rules::ALL, look))
    }

    fn with<T>(&self, loaded: &Loaded, body: impl FnOnce(&Input<'_>) -> T) -> T {
        let given: Vec<_> = self.given.iter().map(|dump| dump.config(&Identity::default()).unwrap()).collect();
        let (mesh, references) = (MeshSettings::of(&loaded.inventory), reference::configs(self.release));
        body(&Input { dumps: &given, references, ..input(loaded, self.release, &mesh) })
    }
}

/// Loaded documents as the input of a run without dumps and reference configurations.
pub(crate) fn input<'a>(loaded: &'a Loaded, release: Release, mesh: &'a MeshSettings) -> Input<'a> {
    Input {
        sources: &loaded.sources,
        inventory: &loaded.inventory,
        problems: &loaded.problems,
        dumps: &[],
        references: &[],
        release,
        mesh,
    }
}

/// Reads one file.
pub(crate) fn read(path: &Path) -> Loaded {
    load::read(&[path.to_owned()], &load::Options::default())
}

/// The metadata fields that a user writes.
pub(crate) const METADATA_SENT: [&str; 4] = ["name", "namespace", "labels", "annotations"];

/// A filter of a case, as sent to an API server.
pub(crate) struct Sent {
    /// Rule, file and filter.
    pub(crate) name: String,
    pub(crate) filter: String,
    pub(crate) namespace: String,
    pub(crate) object: serde_json::Value,
}

/// Every filter of the cases of all rules, except for files with one of these directives.
pub(crate) fn sent_filters(without: &[&str]) -> Vec<Sent> {
    let mut sent = Vec::new();
    for rule in rules::ALL {
        for file in yaml_files(&testdata("rules").join(rule.name)) {
            let Ok(source) = fs::read_to_string(&file) else { continue };
            if without.iter().any(|word| !directive(&source, word).is_empty()) {
                continue;
            }
            for filter in &read(&file).inventory.envoy_filters {
                let mut object = filter.document.to_json();
                object["metadata"]["namespace"] = filter.namespace.clone().into();
                object["metadata"].as_object_mut().unwrap().retain(|key, _| METADATA_SENT.contains(&key.as_str()));
                let place = file.file_name().unwrap().to_str().unwrap();
                let (filter, namespace) = (filter.full_name(), filter.namespace.clone());
                sent.push(Sent { name: format!("{}/{place} {filter}", rule.name), filter, namespace, object });
            }
        }
    }
    sent
}

/// A finding on one line: `12:3 EF301 error (certain) patch 0: message`.
pub(crate) fn line(one: &Finding, loaded: &Loaded) -> String {
    let at = loaded.sources.position(one.primary.span);
    let severity = format!("{:?}", one.severity).to_lowercase();
    let mut out = format!("{}:{} {} {severity} ({})", at.line, at.column, one.rule.code, one.confidence.as_str());
    if let Some(patch) = one.patch {
        write!(out, " patch {patch}").unwrap();
    }
    write!(out, ": {}", one.message).unwrap();
    out
}

/// YAML files of a folder, sorted.
pub(crate) fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    paths
}

/// The YAML files in a folder and below it, sorted.
pub(crate) fn yaml_below(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let files = |path: PathBuf| if path.is_dir() { yaml_below(&path) } else { vec![path] };
    let mut files: Vec<PathBuf> = entries.into_iter().flat_map(files).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files
}

/// Compares a file with its expected content; `UPDATE=1` writes it.
pub(crate) fn expect(path: &Path, want: &str) {
    let have = fs::read_to_string(path).unwrap_or_default();
    if have != want && env::var_os("UPDATE").is_some() {
        fs::write(path, want).unwrap();
        return;
    }
    assert!(have == want, "{} is not up to date; run UPDATE=1 cargo test --test it and read the diff", path.display());
}
