//! Meshes that follow from a number: EnvoyFilters of the case folders with other scopes, among other objects.

use super::super::dice::Dice;
use crate::linting::yaml_below;
use crate::migrate::{merge, yaml};
use crate::support::{testdata, text};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What the meshes of a topology are put together from.
#[derive(Default)]
struct Parts {
    /// The topology itself.
    base: Vec<Json>,
    /// EnvoyFilters of the case folders, by folder.
    filters: BTreeMap<String, Vec<Json>>,
    /// Other objects: those of the case folders and of `objects.yaml`.
    objects: Vec<Json>,
}

/// The parts of every topology, and settings of meshes.
pub(super) struct Pool {
    topologies: BTreeMap<&'static str, Parts>,
    settings: Vec<Json>,
}

/// A mesh and what it was made from.
pub(super) struct Mesh {
    pub(super) objects: Vec<Json>,
    pub(super) filters: Vec<Json>,
}

/// How often each topology is used.
const TOPOLOGIES: [&str; 8] = ["shop", "shop", "shop", "shop", "shop", "gwapi", "ambient", "shop"];

impl Pool {
    /// Reads `testdata/migrate` and `objects.yaml`.
    pub(super) fn read() -> Self {
        let mut parts = BTreeMap::new();
        for topology in TOPOLOGIES {
            parts.entry(topology).or_insert_with(|| Parts { base: base(topology), ..Parts::default() });
        }
        for path in yaml_below(&testdata("migrate")) {
            let case = text(&path);
            let Some(topology) = case.lines().find_map(|line| line.strip_prefix("# on: ")) else { continue };
            let Some(parts) = parts.get_mut(topology) else { continue };
            let folder = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
            for object in yaml(&case).into_iter().filter(Json::is_object) {
                if object["kind"] == "EnvoyFilter" {
                    parts.filters.entry(folder.to_owned()).or_default().push(object);
                } else if object["kind"] != "ConfigMap" {
                    parts.objects.push(object);
                }
            }
        }
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/bottle/random/objects.yaml");
        let mut settings = Vec::new();
        for list in yaml(&text(&own)) {
            if let Some(list) = list["settings"].as_array() {
                settings.extend(list.iter().cloned());
                continue;
            }
            let objects = list["objects"].as_array().unwrap();
            let parts = parts.get_mut(list["in"].as_str().unwrap()).unwrap();
            // Those of the case folders are more, and many of them are alike.
            for _ in 0..3 {
                parts.objects.extend(objects.iter().cloned());
            }
        }
        Self { topologies: parts, settings }
    }

    /// The mesh of a seed.
    pub(super) fn mesh(&self, seed: u64) -> Mesh {
        let mut dice = Dice(seed);
        let topology = *dice.pick(&TOPOLOGIES);
        let parts = &self.topologies[topology];
        let folders: Vec<&Vec<Json>> = parts.filters.values().collect();
        let count = 1 + dice.below(3);
        let mut filters = Vec::new();
        let same = dice.below(folders.len());
        for number in 0..count {
            // Filters of one pattern are those that meet.
            let folder = if dice.one_in(3) { folders[same] } else { *dice.pick(&folders) };
            let mut filter = dice.pick(folder).clone();
            filter["metadata"]["name"] = format!("f{number}").into();
            change(&mut filter, topology, &mut dice);
            filters.push(filter);
        }
        let mut objects = parts.base.clone();
        for _ in 0..dice.below(5) {
            let one = dice.pick(&parts.objects).clone();
            objects.retain(|other| key(other) != key(&one));
            objects.push(one);
        }
        self.set(&mut objects, seed);
        Mesh { objects, filters }
    }

    /// Adds settings to the mesh of a seed. Their dice are their own: new settings change no other object of a mesh.
    fn set(&self, objects: &mut [Json], seed: u64) {
        let mut dice = Dice(!seed);
        let map = objects.iter_mut().find(|object| object["kind"] == "ConfigMap" && object["data"]["mesh"].is_string());
        let mesh = &mut map.unwrap()["data"]["mesh"];
        let mut settings: Json = serde_json::from_str(mesh.as_str().unwrap()).unwrap();
        for _ in 0..dice.below(4) {
            merge(&mut settings, dice.pick(&self.settings));
        }
        *mesh = settings.to_string().into();
    }
}

impl Mesh {
    /// Writes the mesh as a folder of manifests.
    pub(super) fn write(&self, folder: &Path) {
        let documents = |all: &[Json]| all.iter().map(Json::to_string).collect::<Vec<_>>().join("\n---\n");
        fs::write(folder.join("objects.yaml"), documents(&self.objects)).unwrap();
        fs::write(folder.join("filters.yaml"), documents(&self.filters)).unwrap();
    }
}

fn key(object: &Json) -> [&Json; 3] {
    [&object["kind"], &object["metadata"]["namespace"], &object["metadata"]["name"]]
}

fn base(topology: &str) -> Vec<Json> {
    let folder = testdata("reference").join(topology);
    let mut all = yaml(&text(&folder.join("k8s.yaml")));
    all.extend(yaml(&text(&folder.join("istio.yaml"))));
    let mut mesh = json!({});
    for settings in yaml(&text(&folder.join("mesh.yaml"))) {
        merge(&mut mesh, &settings);
    }
    let map = json!({ "mesh": mesh.to_string() });
    all.push(json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": map,
                     "metadata": { "name": "istio", "namespace": "istio-system" } }));
    all
}

/// Gives a filter another scope, priority or match; half of the filters keep most of theirs.
fn change(filter: &mut Json, topology: &str, dice: &mut Dice) {
    if topology == "shop" && dice.one_in(4) {
        filter["metadata"]["namespace"] = json!(*dice.pick(&["istio-system", "shop", "pay", "edge"]));
    }
    if topology == "shop" && dice.one_in(4) {
        let selectors = [
            json!({ "app": "cart" }),
            json!({ "app": "cart", "version": "v1" }),
            json!({ "app": "catalog" }),
            json!({ "app": "ledger" }),
            json!({ "istio": "ingressgateway" }),
            json!({ "app": "istio-ingressgateway" }),
            Json::Null,
        ];
        let spec = filter["spec"].as_object_mut().unwrap();
        spec.remove("targetRefs");
        match dice.pick(&selectors) {
            Json::Null => drop(spec.remove("workloadSelector")),
            labels => drop(spec.insert("workloadSelector".to_owned(), json!({ "labels": labels }))),
        }
    }
    if dice.one_in(4) {
        filter["spec"]["priority"] = json!(*dice.pick(&[-10, -1, 1, 10]));
    }
    if dice.one_in(3) {
        filter["metadata"]["creationTimestamp"] = json!(format!("2024-01-0{}T00:00:00Z", 1 + dice.below(4)));
    }
    for patch in filter["spec"]["configPatches"].as_array_mut().into_iter().flatten() {
        change_match(patch, dice);
    }
}

const CONTEXTS: [&str; 4] = ["ANY", "SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "GATEWAY"];
const PORTS: [u32; 8] = [80, 443, 8080, 8443, 7070, 9000, 31400, 15006];
const HOSTS: [&str; 7] = [
    "shop.example.com:80",
    "shop.example.com:443",
    "pay.example.com:80",
    "cart.shop.svc.cluster.local:80",
    "ledger.pay.svc.cluster.local:8080",
    "catalog.shop.svc.cluster.local:7070",
    "inbound|http|8080",
];
const SERVICES: [&str; 5] = [
    "cart.shop.svc.cluster.local",
    "catalog.shop.svc.cluster.local",
    "ledger.pay.svc.cluster.local",
    "ledger-db.pay.svc.cluster.local",
    "api.example.org",
];
const ROUTES: [&str; 6] = ["cart", "catalog", "health", "old", "default", "canary"];

/// Changes what a patch matches, in one of some cases for each condition.
fn change_match(patch: &mut Json, dice: &mut Dice) {
    let Some(matched) = patch["match"].as_object_mut() else { return };
    if dice.one_in(8) {
        matched.insert("context".to_owned(), json!(*dice.pick(&CONTEXTS)));
    }
    if dice.one_in(20) {
        matched.remove("context");
    }
    if let Some(listener) = matched.get_mut("listener").and_then(Json::as_object_mut) {
        match dice.below(16) {
            0 => drop(listener.remove("portNumber")),
            1 | 2 => drop(listener.insert("portNumber".to_owned(), json!(*dice.pick(&PORTS)))),
            _ => {}
        }
    }
    if let Some(route) = matched.get_mut("routeConfiguration").and_then(Json::as_object_mut) {
        if route.contains_key("portNumber") && dice.one_in(6) {
            route.insert("portNumber".to_owned(), json!(*dice.pick(&PORTS)));
        }
        match route.get_mut("vhost").and_then(Json::as_object_mut) {
            Some(host) => {
                match dice.below(12) {
                    0 => drop(host.remove("name")),
                    1 | 2 => drop(host.insert("name".to_owned(), json!(*dice.pick(&HOSTS)))),
                    _ => {}
                }
                if let Some(name) = host.get_mut("route").filter(|route| route["name"].is_string())
                    && dice.one_in(6)
                {
                    name["name"] = json!(*dice.pick(&ROUTES));
                }
            }
            None if dice.one_in(6) => {
                route.insert("vhost".to_owned(), json!({ "name": *dice.pick(&HOSTS) }));
            }
            None => {}
        }
    }
    if let Some(cluster) = matched.get_mut("cluster").and_then(Json::as_object_mut) {
        match dice.below(12) {
            0 => drop(cluster.remove("service")),
            1 | 2 => drop(cluster.insert("service".to_owned(), json!(*dice.pick(&SERVICES)))),
            3 => drop(cluster.remove("portNumber")),
            _ => {}
        }
    }
}
