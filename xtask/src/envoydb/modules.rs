//! The pinned Go modules, and their download.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

use super::Result;

/// A Go module at a version, written `path@version`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Module {
    path: String,
    version: String,
}

impl TryFrom<String> for Module {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Module, String> {
        let (path, version) = text.split_once('@').ok_or_else(|| format!("`{text}` is not module@version"))?;
        Ok(Module { path: path.to_owned(), version: version.to_owned() })
    }
}

impl fmt::Display for Module {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}@{}", self.path, self.version)
    }
}

/// The content of `versions.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Versions {
    /// Files in every set, imported or not.
    pub(super) well_known: Vec<String>,
    /// Modules whose files are used only if another file imports them.
    pub(super) imports: Vec<Module>,
    /// Module path to the folders that are used; a module without an entry is used as a whole.
    folders: BTreeMap<String, Vec<String>>,
    #[serde(rename = "set")]
    pub(super) sets: Vec<Set>,
}

/// A release and the modules with its API.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Set {
    pub(super) name: String,
    pub(super) modules: Vec<Module>,
    /// Individual files from further modules, by name prefix.
    #[serde(default)]
    pub(super) parts: BTreeMap<Module, Vec<String>>,
    /// Name prefixes of files that the modules contain but the release does not know.
    #[serde(default)]
    pub(super) without: Vec<String>,
}

impl Versions {
    pub(super) fn read(path: &Path) -> Result<Versions> {
        Ok(toml::from_str(&fs::read_to_string(path)?)?)
    }

    pub(super) fn all_modules(&self) -> BTreeSet<Module> {
        let of_sets = self.sets.iter().flat_map(|set| set.modules.iter().chain(set.parts.keys()));
        of_sets.chain(&self.imports).cloned().collect()
    }

    pub(super) fn folders_of(&self, module: &Module) -> impl Iterator<Item = &str> {
        let folders = self.folders.get(&module.path).map_or(&[][..], Vec::as_slice);
        folders.iter().map(String::as_str).chain(folders.is_empty().then_some("."))
    }
}

/// The output of `go mod download -json` for a module.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    path: String,
    version: String,
    #[serde(default)]
    error: String,
    #[serde(default)]
    dir: PathBuf,
    #[serde(default)]
    sum: String,
}

/// Fetches modules into Go's module cache and returns their folders. Each must match its line of the committed go.sum,
/// which vouches for versions without a record in Go's checksum database.
pub(super) fn download(modules: &BTreeSet<Module>, go_sum: &Path) -> Result<BTreeMap<Module, PathBuf>> {
    let sums = fs::read_to_string(go_sum)?;
    let known: BTreeSet<&str> = sums.lines().collect();
    // Go reads go.sum from the folder of a go.mod and may rewrite it, so it works on a copy.
    let folder = std::env::temp_dir().join(format!("envoydb-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("go.mod"), "module envoydb\n")?;
    fs::write(folder.join("go.sum"), &sums)?;
    let output = Command::new("go")
        .args(["mod", "download", "-json"])
        .args(modules.iter().map(Module::to_string))
        .envs([("GOFLAGS", "-mod=mod"), ("GOTOOLCHAIN", "local"), ("GOWORK", "off")])
        .current_dir(&folder)
        .output();
    fs::remove_dir_all(&folder)?;
    let output = output.map_err(|error| format!("cannot run `go`: {error}"))?;

    let mut found = BTreeMap::new();
    for reply in serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Downloaded>() {
        let Downloaded { path, version, error, dir, sum } = reply?;
        if !error.is_empty() {
            return Err(format!("{path}@{version}: {error}").into());
        }
        if !known.contains(format!("{path} {version} {sum}").as_str()) {
            return Err(format!("go.sum does not hold `{path} {version} {sum}`").into());
        }
        found.insert(Module { path, version }, dir);
    }
    match modules.iter().find(|&module| !found.contains_key(module)) {
        // Go stops at the first module that does not match go.sum and reports it on standard error.
        Some(_) => Err(format!("go mod download: {}", String::from_utf8_lossy(&output.stderr)).into()),
        None => Ok(found),
    }
}
