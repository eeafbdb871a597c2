//! A bill of materials of what is linked into the product: CycloneDX 1.6, from `cargo metadata` and `Cargo.lock`.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Prints the bill of materials, deterministically for the same lock file.
pub(crate) fn print() -> Result<(), Box<dyn Error>> {
    println!("{:#}", bill()?);
    Ok(())
}

/// Fails if a package has no license, no checksum or an unknown source, or if the graph names a package that is not
/// listed.
pub(crate) fn check() -> Result<(), Box<dyn Error>> {
    let bill = bill()?;
    let components = bill["components"].as_array().ok_or("no components")?;
    let known: BTreeSet<&str> = components.iter().filter_map(|one| one["bom-ref"].as_str()).collect();
    for one in components {
        let name = &one["bom-ref"];
        if one["licenses"].as_array().is_none_or(Vec::is_empty) || one["hashes"].as_array().is_none_or(Vec::is_empty) {
            return Err(format!("{name} has no licence or no checksum").into());
        }
    }
    for dependency in bill["dependencies"].as_array().into_iter().flatten() {
        for on in dependency["dependsOn"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !known.contains(on) {
                return Err(format!("{on} is not listed").into());
            }
        }
    }
    println!("{} components, each with licence and checksum", components.len());
    Ok(())
}

fn bill() -> Result<Value, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no repository")?;
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--all-features", "--format-version", "1", "--manifest-path"])
        .arg(root.join("Cargo.toml"))
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let checksums = checksums(&root.join("Cargo.lock"))?;
    let packages = list(&metadata["packages"], "id");
    let nodes = list(&metadata["resolve"]["nodes"], "id");
    let start = metadata["resolve"]["root"].as_str().ok_or("no root package")?;
    // Linked packages and build dependencies, but not packages that only tests use.
    let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut open = vec![start];
    while let Some(id) = open.pop() {
        if graph.contains_key(id) {
            continue;
        }
        let node = nodes.get(id).ok_or("a package without a node")?;
        let used = node["deps"].as_array().into_iter().flatten().filter(|dependency| {
            dependency["dep_kinds"].as_array().into_iter().flatten().any(|kind| kind["kind"] != "dev")
        });
        let used: BTreeSet<&str> = used.filter_map(|dependency| dependency["pkg"].as_str()).collect();
        open.extend(&used);
        graph.insert(id, used);
    }
    let purl = |id: &str| {
        let package = packages.get(id);
        let part = |key: &str| package.and_then(|package| package[key].as_str()).unwrap_or_default();
        format!("pkg:cargo/{}@{}", part("name"), part("version"))
    };
    let component = |id: &str| {
        let package = packages.get(id).ok_or("a node without a package")?;
        let (name, version) = (&package["name"], &package["version"]);
        let reference = purl(id);
        let mut component = json!({"type": "library", "bom-ref": reference, "name": name, "version": version, "purl": reference});
        if let Some(licence) = package["license"].as_str() {
            component["licenses"] = json!([{"expression": licence.replace('/', " OR ")}]);
        }
        let key = (name.as_str().unwrap_or_default().to_owned(), version.as_str().unwrap_or_default().to_owned());
        if let Some(checksum) = checksums.get(&key) {
            component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
        }
        if let Some(repository) = package["repository"].as_str() {
            component["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
        }
        Ok::<Value, Box<dyn Error>>(component)
    };
    let mut components: Vec<Value> =
        graph.keys().filter(|id| **id != start).map(|id| component(id)).collect::<Result<_, _>>()?;
    components.sort_by_key(|one| one["bom-ref"].as_str().map(str::to_owned));
    let mut product = component(start)?;
    product["type"] = json!("application");
    let mut dependencies: Vec<Value> = graph
        .iter()
        .map(|(id, used)| json!({"ref": purl(id), "dependsOn": used.iter().map(|id| purl(id)).collect::<Vec<_>>()}))
        .collect();
    dependencies.sort_by_key(|one| one["ref"].as_str().map(str::to_owned));
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": product},
        "components": components,
        "dependencies": dependencies,
    }))
}

fn list<'v>(values: &'v Value, key: &str) -> HashMap<&'v str, &'v Value> {
    values.as_array().into_iter().flatten().filter_map(|value| Some((value[key].as_str()?, value))).collect()
}

/// SHA-256 of the packages by name and version.
fn checksums(lock: &Path) -> Result<HashMap<(String, String), String>, Box<dyn Error>> {
    let lock: toml::Value = toml::from_str(&fs::read_to_string(lock)?)?;
    let packages = lock.get("package").and_then(toml::Value::as_array).ok_or("no packages in the lock file")?;
    let text = |package: &toml::Value, key: &str| package.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let found = packages.iter().filter_map(|package| {
        Some(((text(package, "name")?, text(package, "version")?), text(package, "checksum")?))
    });
    Ok(found.collect())
}
