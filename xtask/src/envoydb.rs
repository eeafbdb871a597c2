//! The store of descriptor sets: the API types of every Envoy release and every istiod release.

mod clean;
mod go;
mod modules;
mod store;

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use prost::Message;

use modules::{Module, Set, Versions};
use store::Store;

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// File descriptors by name.
type Files = BTreeMap<String, Vec<u8>>;

/// Generates the store and its manifest and writes both.
pub fn write() -> Result<()> {
    let store = generate()?;
    fs::write(store_path(), store.pack()?)?;
    fs::write(manifest_path(), store.manifest()?)?;
    Ok(())
}

/// Generates the store and fails unless the committed one and its manifest are equal.
pub fn check() -> Result<()> {
    let store = generate()?;
    let committed = Store::unpack(&fs::read(store_path())?)?;
    let differences = store.differences(&committed);
    for difference in &differences {
        eprintln!("{difference}");
    }
    if !differences.is_empty() || store != committed {
        return Err("the committed store differs from the regenerated one".into());
    }
    if fs::read_to_string(manifest_path())? != store.manifest()? {
        return Err("the store is up to date, its manifest is not".into());
    }
    println!("up to date");
    Ok(())
}

/// The sets of the committed store: their names, and their files as serialized `FileDescriptorProto`s.
pub fn committed() -> Result<Vec<(String, Vec<Vec<u8>>)>> {
    Ok(Store::unpack(&fs::read(store_path())?)?.into_sets())
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn store_path() -> PathBuf {
    root().join("../src/proto/data/schema-store.bin.zst")
}

fn manifest_path() -> PathBuf {
    root().join("envoydb/manifest.tsv")
}

fn generate() -> Result<Store> {
    let versions = Versions::read(&root().join("envoydb/versions.toml"))?;
    let folders = modules::download(&versions.all_modules(), &root().join("envoydb/go.sum"))?;
    let mut extracted = BTreeMap::new();
    for (module, folder) in &folders {
        let mut files = Files::new();
        for part in versions.folders_of(module) {
            go::descriptors(&folder.join(part), &mut files)?;
        }
        if files.is_empty() {
            return Err(format!("{module} holds no descriptors").into());
        }
        extracted.insert(module, clean_all(&files)?);
    }

    let mut sets = Vec::new();
    for set in &versions.sets {
        let ordered = assemble(set, &versions, &extracted).map_err(|error| format!("{}: {error}", set.name))?;
        sets.push((set.name.clone(), ordered));
    }
    Store::new(sets)
}

/// The files of a set: those of its modules, and their imports.
fn assemble(set: &Set, versions: &Versions, extracted: &BTreeMap<&Module, Files>) -> Result<Vec<Vec<u8>>> {
    let of = |module: &Module| extracted.get(module).into_iter().flatten();
    let starts = |name: &str, starts: &[String]| starts.iter().any(|start| name.starts_with(start));
    let own = set.modules.iter().flat_map(of).filter(|(name, _)| !starts(name, &set.without));
    let parts = set.parts.iter().flat_map(|(module, names)| of(module).filter(|(name, _)| starts(name, names)));
    let mut files = Files::new();
    for (name, file) in own.chain(parts) {
        let known = files.entry(name.clone()).or_insert_with(|| file.clone());
        if known != file {
            return Err(format!("two modules define {name} differently").into());
        }
    }
    let roots: BTreeSet<String> = files.keys().chain(&versions.well_known).cloned().collect();
    for (name, file) in versions.imports.iter().flat_map(of) {
        files.entry(name.clone()).or_insert_with(|| file.clone());
    }
    order(&roots, &files)
}

/// Packages of the v2 API whose names do not show it.
const V2_WITHOUT_SAYING_SO: [&str; 6] = [
    "envoy.config.cluster.redis",
    "envoy.config.filter.network.mysql_proxy.v1alpha1",
    "envoy.config.filter.network.zookeeper_proxy.v1alpha1",
    "envoy.config.retry.previous_priorities",
    "envoy.type",
    "envoy.type.matcher",
];

/// Whether a package is of the v2 API, which is in no set.
pub fn is_v2(package: &str) -> bool {
    package.starts_with("envoy.") && package.split('.').any(|part| part.starts_with("v2"))
        || V2_WITHOUT_SAYING_SO.contains(&package)
}

/// Drops the v2 API, which istiod 1.19 and all these Envoys reject, and options for code generators.
fn clean_all(files: &Files) -> Result<Files> {
    let mut kept = Files::new();
    for (name, file) in files {
        let package = Header::decode(file.as_slice())?.package;
        if !is_v2(&package) {
            kept.insert(name.clone(), clean::file(file)?);
        }
    }
    Ok(kept)
}

/// The parts of a file descriptor that are read here.
#[derive(Clone, PartialEq, prost::Message)]
struct Header {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    package: String,
    #[prost(string, repeated, tag = "3")]
    dependencies: Vec<String>,
}

/// The roots and all their imports, every file after its imports.
fn order(roots: &BTreeSet<String>, files: &Files) -> Result<Vec<Vec<u8>>> {
    fn visit<'a>(name: &'a str, files: &'a Files, seen: &mut BTreeSet<&'a str>, out: &mut Vec<Vec<u8>>) -> Result<()> {
        if let Some((name, file)) = files.get_key_value(name)
            && seen.insert(name)
        {
            for import in Header::decode(file.as_slice())?.dependencies {
                let (import, _) =
                    files.get_key_value(&import).ok_or_else(|| format!("{name} imports {import}, which is nowhere"))?;
                visit(import, files, seen, out)?;
            }
            out.push(file.clone());
        }
        Ok(())
    }
    let (mut seen, mut out) = (BTreeSet::new(), Vec::new());
    for root in roots {
        let (root, _) = files.get_key_value(root).ok_or_else(|| format!("{root} is nowhere"))?;
        visit(root, files, &mut seen, &mut out)?;
    }
    Ok(out)
}
