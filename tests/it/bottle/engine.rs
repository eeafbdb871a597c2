//! EnvoyFilters that follow from seeds, put together from parts of published ones and of cases, with names of the mesh: the
//! engine agrees with istiod, or a finding says that istiod writes into shared state (EF514).
//!
//! `ENGINE_SEEDS=100..200` chooses the seeds, `MESH` the mesh.

use super::dice::Dice;
use super::{istiod, open_in, topology};
use crate::linting::{Proxies, yaml_below};
use crate::support::testdata;
use kubectl_envoyfilter::bottle::doctor::{self, Difference, Filters, How};
use kubectl_envoyfilter::bottle::{Configuration, Node, Opened, Wanted, proxies};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::load::{self, Options};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::ResourceKind;
use kubectl_envoyfilter::source::Severity;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

const MESHES: [&str; 7] = ["shop", "ambient", "gwapi", "straits", "delta", "harbor", "reef"];

/// The seeds of every run.
const SEEDS: Range<u64> = 0..70;

fn seeds() -> Range<u64> {
    let Ok(given) = std::env::var("ENGINE_SEEDS") else { return SEEDS };
    let (from, to) = given.split_once("..").expect("ENGINE_SEEDS=FROM..TO");
    from.parse().unwrap()..to.parse().unwrap()
}

/// The patches that filters are put together from, by what they apply to.
struct Parts(BTreeMap<String, Vec<Json>>);

impl Parts {
    fn read() -> Parts {
        let mut parts: BTreeMap<String, Vec<Json>> = BTreeMap::new();
        let folders = ["corpus", "rules", "field"].map(testdata);
        let mut known = BTreeSet::new();
        for path in folders.iter().flat_map(|folder| yaml_below(folder)) {
            for patch in patches(&path) {
                let kind = patch["applyTo"].as_str().unwrap_or("INVALID").to_owned();
                // The API server drops the snake case, and istiod's admission refuses a patch without its parts.
                let whole = kind != "INVALID"
                    && patch["patch"]["operation"].is_string()
                    && !patch["patch"]["value"].is_null()
                    && !patch["match"].to_string().contains("filter_chain");
                if whole && known.insert(patch.to_string()) {
                    parts.entry(kind).or_default().push(patch);
                }
            }
        }
        Parts(parts)
    }

    /// A patch with parts of other ones of its kind.
    fn patch(&self, dice: &mut Dice, names: &Names) -> Json {
        let kinds: Vec<&String> = self.0.keys().collect();
        let of_kind = &self.0[*dice.pick(&kinds)];
        let mut patch = dice.pick(of_kind).clone();
        if dice.one_in(3) {
            patch["match"] = dice.pick(of_kind)["match"].clone();
        }
        if dice.one_in(3) {
            patch["patch"]["value"] = dice.pick(of_kind)["patch"]["value"].clone();
        }
        if dice.one_in(3) {
            const OPERATIONS: [&str; 7] =
                ["MERGE", "ADD", "REMOVE", "INSERT_BEFORE", "INSERT_AFTER", "INSERT_FIRST", "REPLACE"];
            patch["patch"]["operation"] = (*dice.pick(&OPERATIONS)).into();
        }
        if dice.one_in(3) {
            const CONTEXTS: [&str; 5] = ["ANY", "SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "GATEWAY", "WAYPOINT"];
            patch["match"]["context"] = (*dice.pick(&CONTEXTS)).into();
        }
        // Which of several resources of one name a proxy gets depends on istiod's order, which a dump does not show.
        if patch["patch"]["operation"] == "MERGE"
            && matches!(patch["applyTo"].as_str(), Some("LISTENER" | "CLUSTER"))
            && let Some(value) = patch["patch"]["value"].as_object_mut()
        {
            value.remove("name");
        }
        if let Some(matched) = patch["match"].as_object_mut() {
            matched.retain(|_, value| !value.is_null());
            // Versions and clusters of others reach nothing here.
            matched.remove("proxy");
            names.rename(matched, dice);
        }
        patch.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        patch
    }

    fn filters(&self, seed: u64, names: &Names, namespaces: &[String]) -> Vec<Json> {
        let mut dice = Dice(seed);
        let filter = |number: usize, dice: &mut Dice| {
            let patches: Vec<Json> = (0..=dice.below(3)).map(|_| self.patch(dice, names)).collect();
            let namespace = if dice.one_in(2) { "istio-system" } else { dice.pick(namespaces) };
            let priority = [0, 0, -1, 5][dice.below(4)];
            json!({"apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
                "metadata": {"name": format!("random-{number}"), "namespace": namespace,
                    "creationTimestamp": format!("2026-01-0{}T00:00:00Z", 1 + dice.below(3))},
                "spec": {"priority": priority, "configPatches": patches}})
        };
        (0..=dice.below(4)).map(|number| filter(number, &mut dice)).collect()
    }
}

/// The patches of the EnvoyFilters in a file that can be read.
fn patches(path: &Path) -> Vec<Json> {
    let loaded = load::read(&[path.to_owned()], &Options { keep_documents: true, ..Options::default() });
    if loaded.problems.iter().any(|problem| problem.severity == Severity::Error) {
        return Vec::new();
    }
    let filters = loaded.documents.into_iter().filter(|document| document["kind"] == "EnvoyFilter");
    filters.flat_map(|filter| filter["spec"]["configPatches"].as_array().cloned().unwrap_or_default()).collect()
}

/// The names of a mesh, by the list that holds the named objects; those of resources by their kind.
#[derive(Default)]
struct Names(BTreeMap<&'static str, Vec<String>>);

impl Names {
    fn of(configurations: &[Configuration]) -> Names {
        let mut names: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
        let kinds =
            [("listener", ResourceKind::Listener), ("route", ResourceKind::Route), ("cluster", ResourceKind::Cluster)];
        for (kind, of_kind) in kinds {
            for (name, text) in configurations.iter().flat_map(|one| one.of(of_kind).iter()) {
                names.entry(kind).or_default().insert(name.clone());
                collect(&serde_json::from_str(text).unwrap(), &mut names);
            }
        }
        names.retain(|_, names| !names.is_empty());
        Names(names.into_iter().map(|(kind, names)| (kind, names.into_iter().collect())).collect())
    }

    /// Replaces names in a match by ones that exist here.
    fn rename(&self, matched: &mut serde_json::Map<String, Json>, dice: &mut Dice) {
        let mut put = |place: &mut Json, kind: &str| {
            if place.is_string()
                && !dice.one_in(4)
                && let Some(names) = self.0.get(kind)
            {
                *place = dice.pick(names).clone().into();
            }
        };
        for (key, kind) in [("listener", "listener"), ("routeConfiguration", "route"), ("cluster", "cluster")] {
            let Some(object) = matched.get_mut(key).filter(|object| object.is_object()) else { continue };
            put(&mut object["name"], kind);
            match key {
                "listener" => {
                    put(&mut object["filterChain"]["name"], "filter_chains");
                    put(&mut object["filterChain"]["filter"]["name"], "filters");
                    put(&mut object["filterChain"]["filter"]["subFilter"]["name"], "http_filters");
                }
                "routeConfiguration" => {
                    put(&mut object["vhost"]["name"], "virtual_hosts");
                    put(&mut object["vhost"]["route"]["name"], "routes");
                }
                _ => {}
            }
            prune(object);
        }
    }
}

/// Removes what looking for a place left behind.
fn prune(value: &mut Json) {
    if let Some(object) = value.as_object_mut() {
        object.values_mut().for_each(prune);
        object.retain(|_, value| !value.is_null() && value.as_object().is_none_or(|inner| !inner.is_empty()));
    }
}

fn collect(value: &Json, names: &mut BTreeMap<&'static str, BTreeSet<String>>) {
    const LISTS: [&str; 5] = ["filter_chains", "filters", "http_filters", "virtual_hosts", "routes"];
    match value {
        Json::Object(object) => {
            for (key, value) in object {
                if let Some(list) = LISTS.iter().find(|list| *list == key) {
                    let named = value.as_array().into_iter().flatten().filter_map(|one| one["name"].as_str());
                    names.entry(list).or_default().extend(named.map(str::to_owned));
                }
                collect(value, names);
            }
        }
        Json::Array(list) => list.iter().for_each(|value| collect(value, names)),
        _ => {}
    }
}

struct Mesh {
    opened: Opened,
    nodes: Vec<Node>,
    names: Names,
    namespaces: Vec<String>,
}

impl Mesh {
    fn open(istiod: &Path, name: &str) -> Mesh {
        let mut opened = open_in(istiod, topology(name), name, Release::NEWEST);
        let nodes: Vec<Node> =
            proxies::all(&opened.objects, &opened.common).into_iter().map(|found| found.node).collect();
        let answers = opened.bottle.ask_all(&nodes, &Wanted::default());
        let answers: Vec<Configuration> = answers.into_iter().map(Result::unwrap).collect();
        let namespaces: BTreeSet<String> = nodes.iter().map(|node| node.namespace.clone()).collect();
        Mesh { opened, nodes, names: Names::of(&answers), namespaces: namespaces.into_iter().collect() }
    }
}

/// Whether only istiod has a route configuration: the engine does not know one that a filter requests.
fn is_requested(difference: &Difference) -> bool {
    difference.kind == ResourceKind::Route && difference.how == How::OnlyIstiod
}

/// Whether a finding says that a filter writes into what istiod shares.
fn leaks(mesh: &str, text: &str) -> bool {
    let loaded = load::read_text("random.yaml", text, &Options::default());
    let findings = Proxies::new(&[mesh.to_owned()], Release::NEWEST).lint(&loaded);
    findings.iter().any(|finding| finding.rule.code == "EF514")
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn the_engine_agrees_with_istiod_on_random_filters() {
    let parts = Parts::read();
    let istiod = istiod("1.31");
    let (mut parted, mut asked, mut changed, mut leaked) = (Vec::new(), 0, 0, 0);
    for (at, name) in (0..).zip(MESHES) {
        if std::env::var("MESH").is_ok_and(|only| only != name) {
            continue;
        }
        let mut mesh = Mesh::open(&istiod, name);
        for seed in seeds().filter(|seed| seed % 7 == at) {
            let documents = parts.filters(seed, &mesh.names, &mesh.namespaces);
            let text = documents.iter().map(Json::to_string).collect::<Vec<_>>().join("\n---\n");
            let parsed = load::read_text("random", &text, &Options::default()).inventory.envoy_filters;
            let settings = MeshSettings::default();
            let filters = Filters { parsed: &parsed, documents: &documents, release: Release::NEWEST, mesh: &settings };
            let compared = match doctor::compare(&mut mesh.opened.bottle, &mesh.nodes, &filters, &Wanted::default()) {
                Ok(compared) => compared,
                Err(fault) => {
                    parted.push(format!("seed {seed} in {name}: {fault}\n{text}"));
                    mesh = Mesh::open(&istiod, name);
                    continue;
                }
            };
            if leaks(name, &text) {
                // It stays until istiod restarts.
                leaked += 1;
                mesh = Mesh::open(&istiod, name);
                continue;
            }
            let known = parted.len();
            for (node, one) in mesh.nodes.iter().zip(compared) {
                asked += 1;
                match one {
                    Ok(one) => {
                        changed += usize::from(one.changed > 0);
                        let differences: Vec<_> =
                            one.differences.iter().filter(|it| !(one.unknown > 0 && is_requested(it))).collect();
                        if !differences.is_empty() {
                            parted.push(format!("seed {seed} in {name}, {}: {differences:?}", node.name));
                        }
                    }
                    Err(fault) => parted.push(format!("seed {seed} in {name}, {}: {fault}", node.name)),
                }
            }
            if parted.len() > known {
                println!("{}", parted[known..].join("\n"));
                parted.push(text);
            }
        }
    }
    println!(
        "{asked} proxies compared, {changed} of them changed, without {leaked} seeds that write into shared state"
    );
    assert!(changed > 20, "{changed}");
    assert!(parted.is_empty(), "{}", parted.join("\n"));
}
