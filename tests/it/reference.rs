//! The engine against recordings of the real istiod: every case of every topology and release must come out equal.

use kubectl_envoyfilter::engine::{self, MeshSettings, Options, Program};
use kubectl_envoyfilter::load::dump::{Dump, Identity};
use kubectl_envoyfilter::load::yaml;
use kubectl_envoyfilter::model::parse_envoy_filter;
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::{ProxyConfig, ResourceKind};
use kubectl_envoyfilter::proto::{json, tree::Tree};
use kubectl_envoyfilter::source::Sources;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/reference")
}

fn text(path: &Path) -> String {
    if path.exists() {
        return fs::read_to_string(path).unwrap();
    }
    let packed = fs::File::open(format!("{}.zst", path.display())).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let mut decoder = zstd::stream::read::Decoder::new(packed).unwrap();
    decoder.window_log_max(31).unwrap();
    std::io::read_to_string(decoder).unwrap()
}

/// Canonical text of a resource, without the `@type` that only dumps have.
fn canonical(mut tree: Tree<'_>) -> String {
    tree.remove("@type");
    json::canonical(&tree)
}

struct Set {
    topology: &'static str,
    release: Release,
    folder: PathBuf,
    files: Vec<&'static str>,
}

fn sets() -> Vec<Set> {
    let mut sets = Vec::new();
    for topology in ["shop", "ambient", "gwapi"] {
        let folder = root().join(topology);
        sets.push(Set {
            topology,
            release: Release::NEWEST,
            folder: folder.clone(),
            files: vec!["cases.jsonl", "edge.jsonl"],
        });
        for (minor, patch) in [(22, 8), (24, 6), (26, 8), (28, 10)] {
            let folder = folder.join(format!("releases/1.{minor}"));
            if folder.exists() {
                sets.push(Set { topology, release: Release::patch(minor, patch), folder, files: vec!["cases.jsonl"] });
            }
        }
    }
    sets
}

/// Kind → name (a second of the same name is `name#2`) → canonical text.
fn after(config: &ProxyConfig<'_>, base: &Resources, patched: &engine::Patched<'_>) -> Resources {
    let touched: BTreeSet<usize> = patched.resources.iter().filter_map(|one| one.source).collect();
    let mut names = Resources::new();
    for (index, resource) in config.resources.iter().enumerate() {
        if !touched.contains(&index) {
            let key = (resource.kind, resource.name.to_string());
            names.entry(key.clone()).or_default().push(base[&key][0].clone());
        }
    }
    for one in &patched.resources {
        if let Some(tree) = &one.tree {
            names.entry((one.kind, one.name.clone())).or_default().push(canonical(tree.clone()));
        }
    }
    changes(base, names)
}

/// Resources by kind and name, the texts of each name sorted: what several of one name are called (`name#2`) and the order
/// of a dump are the recorder's, not istiod's.
type Resources = BTreeMap<(ResourceKind, String), Vec<String>>;

/// What differs from the base; no text for what is gone.
fn changes(base: &Resources, mut now: Resources) -> Resources {
    for key in base.keys() {
        now.entry(key.clone()).or_default();
    }
    now.values_mut().for_each(|texts| texts.sort());
    now.retain(|key, texts| base.get(key) != Some(texts));
    now
}

fn kind(word: &str) -> ResourceKind {
    match word {
        "listener" => ResourceKind::Listener,
        "cluster" => ResourceKind::Cluster,
        "route" => ResourceKind::Route,
        "ecds" => ResourceKind::ExtensionConfig,
        other => panic!("kind {other}"),
    }
}

#[test]
fn every_recorded_case_comes_out_as_istiod_has_it() {
    let (mut cases, mut leaked, mut compared, mut seen) = (0, 0, 0, BTreeMap::new());
    for set in sets() {
        let dumps: BTreeMap<String, Dump> = fs::read_dir(set.folder.join("base"))
            .unwrap()
            .map(|entry| {
                let name = entry.unwrap().file_name().into_string().unwrap();
                let name = name.trim_end_matches(".zst").trim_end_matches(".json").to_owned();
                let (dump, problems) = Dump::from_text(&*name, text(&set.folder.join(format!("base/{name}.json"))));
                assert!(problems.is_empty(), "{problems:?}");
                (name, dump.unwrap())
            })
            .collect();
        let configs: BTreeMap<&str, ProxyConfig<'_>> =
            dumps.iter().map(|(name, dump)| (name.as_str(), dump.config(&Identity::default()).unwrap())).collect();
        let bases: BTreeMap<&str, Resources> = configs
            .iter()
            .map(|(name, config)| {
                let texts = config
                    .resources
                    .iter()
                    .map(|one| ((one.kind, one.name.to_string()), vec![canonical(json::parse(one.json).unwrap())]));
                (*name, texts.collect())
            })
            .collect();
        for file in &set.files {
            for line in text(&set.folder.join(file)).lines() {
                let case: Json = serde_json::from_str(line).unwrap();
                let id = case["id"].as_str().unwrap();
                if let Ok(only) = std::env::var("CASE") {
                    if !format!("{}/{}/{id}", set.topology, set.release).contains(&only) {
                        continue;
                    }
                }
                cases += 1;
                if case.get("leaked").is_some() {
                    leaked += 1;
                    continue;
                }
                let source = case["filters"].as_str().unwrap();
                let file = Sources::default().add("case", source);
                let (documents, problems) = yaml::documents(file, source);
                assert!(
                    problems.iter().all(|p| p.severity != kubectl_envoyfilter::source::Severity::Error),
                    "{id}: {problems:?}"
                );
                let filters: Vec<_> = documents
                    .into_iter()
                    .map(|document| parse_envoy_filter::parse(document, "default").0.unwrap_or_else(|| panic!("{id}")))
                    .collect();
                let program = Program::new(&filters, set.release);
                for (proxy, changes_of_case) in case["proxies"].as_object().unwrap() {
                    compared += 1;
                    let config = &configs[proxy.as_str()];
                    let plan = program.plan(&config.proxy, &MeshSettings::default());
                    let options = Options {
                        port_map: None,
                        extension_names: Some(vec!["wasm-auth".to_owned(), "wasm-b".to_owned()]),
                    };
                    let mut trace = engine::Trace::new(plan.patches.len());
                    let patched = engine::run(&plan, config, &options, &mut trace);
                    let untraced = engine::run(&plan, config, &options, &mut ());
                    let got = after(config, &bases[proxy.as_str()], &patched);
                    assert_eq!(
                        got,
                        after(config, &bases[proxy.as_str()], &untraced),
                        "{id}: tracing changes the result"
                    );
                    let mut want = bases[proxy.as_str()].clone();
                    for (word, resources) in changes_of_case.as_object().unwrap() {
                        for (name, resource) in resources.as_object().unwrap() {
                            let (name, copy) =
                                name.split_once('#').map_or((name.as_str(), false), |(name, _)| (name, true));
                            let texts = want.entry((kind(word), name.to_owned())).or_default();
                            if !copy {
                                texts.clear();
                            }
                            if !resource.is_null() {
                                texts.push(canonical(json::from_json(resource)));
                            }
                        }
                    }
                    let want = changes(&bases[proxy.as_str()], want);
                    if got != want {
                        let label = format!("{}/{}/{id}/{proxy}", set.topology, set.release);
                        if std::env::var("CASE").is_ok() {
                            println!("{source}");
                            for key in got.keys().chain(want.keys()).collect::<BTreeSet<_>>() {
                                if got.get(key) != want.get(key) {
                                    let text = |side: Option<&Vec<String>>| {
                                        side.map_or("unchanged".to_owned(), |texts| texts.join("\n"))
                                    };
                                    let (want, got) = (text(want.get(key)), text(got.get(key)));
                                    let at = want
                                        .bytes()
                                        .zip(got.bytes())
                                        .take_while(|(x, y)| x == y)
                                        .count()
                                        .saturating_sub(150);
                                    let cut = |text: &str| {
                                        String::from_utf8_lossy(
                                            &text.as_bytes()[at.min(text.len())..(at + 400).min(text.len())],
                                        )
                                        .into_owned()
                                    };
                                    println!("{key:?}\n  want {}\n  got  {}", cut(&want), cut(&got));
                                }
                            }
                        }
                        seen.insert(label, ());
                    }
                }
            }
        }
    }
    println!("reference: {cases} cases, {leaked} leaked, {compared} proxies compared, {} different", seen.len());
    let list: Vec<&String> = seen.keys().collect();
    assert!(list.is_empty(), "{} different: {:#?}", list.len(), list);
}
