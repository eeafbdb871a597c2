//! The mesh `reef`, recorded from the real istiod without a cluster: it still sends what was recorded.
//!
//! `UPDATE=1` records again; `REQUESTS=file.jsonl` names other cases, one `{"id":…,"filters":"<YAML documents>"}` a line.

use super::{Release, istiod, open_in, topology};
use crate::support::{recorded, testdata};
use kubectl_envoyfilter::bottle::{Configuration, Node, Opened, Wanted, dump, proxies};
use kubectl_envoyfilter::load::{self, Options};
use kubectl_envoyfilter::model::resource::ResourceKind;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{env, fs};

/// Without `UPDATE`, every nth case is compared.
const EVERY: usize = 10;

const KINDS: [(&str, ResourceKind); 4] = [
    ("listener", ResourceKind::Listener),
    ("cluster", ResourceKind::Cluster),
    ("route", ResourceKind::Route),
    ("ecds", ResourceKind::ExtensionConfig),
];

type Resources = BTreeMap<(&'static str, String), Value>;

fn resources(configuration: &Configuration) -> Resources {
    let of_kind = |(word, kind): (&'static str, ResourceKind)| {
        let named = configuration.of(kind).iter();
        named.map(move |(name, text)| ((word, name.clone()), serde_json::from_str(text).unwrap()))
    };
    KINDS.into_iter().flat_map(of_kind).collect()
}

struct Mesh {
    opened: Opened,
    nodes: Vec<Node>,
    bases: Vec<Resources>,
}

impl Mesh {
    fn open(istiod: &Path) -> Mesh {
        let mut opened = open_in(istiod, topology("reef"), "reef", Release::NEWEST);
        let found = proxies::all(&opened.objects, &opened.common);
        let nodes: Vec<Node> = found.into_iter().map(|found| found.node).collect();
        let bases = ask(&mut opened, &nodes).iter().map(resources).collect();
        Mesh { opened, nodes, bases }
    }

    /// What filters change on each proxy, and whether something stays changed without them.
    fn record(&mut self, id: &str, filters: &str) -> (Value, bool) {
        let options = Options { keep_documents: true, ..Options::default() };
        let documents = load::read_text(id, filters, &options).documents;
        let with = |mesh: &mut Mesh, documents: Vec<Value>| -> Vec<Resources> {
            mesh.opened.bottle.set_filters(documents).unwrap_or_else(|fault| panic!("{id}: {fault}"));
            ask(&mut mesh.opened, &mesh.nodes).iter().map(resources).collect()
        };
        let changed = with(self, documents);
        let leaked = with(self, Vec::new()) != self.bases;
        let proxies: Map<String, Value> = (self.nodes.iter().zip(&self.bases).zip(&changed))
            .map(|((node, base), now)| (short(node), changes(base, now)))
            .collect();
        (Value::Object(proxies), leaked)
    }
}

fn ask(opened: &mut Opened, nodes: &[Node]) -> Vec<Configuration> {
    let answers = opened.bottle.ask_all(nodes, &Wanted::default());
    answers.into_iter().map(|answer| answer.unwrap_or_else(|fault| panic!("{fault}"))).collect()
}

/// The name of a proxy in the recording: `ray` for the pod `ray-1`.
fn short(node: &Node) -> String {
    node.name.trim_end_matches("-1").to_owned()
}

fn changes(base: &Resources, now: &Resources) -> Value {
    let mut kinds = Map::new();
    for key in base.keys().chain(now.keys()).collect::<BTreeSet<_>>() {
        if base.get(key) != now.get(key) {
            let kind = kinds.entry(key.0).or_insert_with(|| json!({}));
            kind[&key.1] = now.get(key).cloned().unwrap_or(Value::Null);
        }
    }
    Value::Object(kinds)
}

fn pack(text: &str) -> Vec<u8> {
    zstd::bulk::compress(text.as_bytes(), 19).unwrap()
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn reef_is_what_istiod_sends() {
    let istiod = istiod("1.31");
    let folder = testdata("reference/reef");
    let update = env::var_os("UPDATE").is_some();
    let requests = match env::var_os("REQUESTS") {
        Some(path) => {
            fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        }
        None => recorded(&folder.join("cases.jsonl")),
    };
    let mut mesh = Mesh::open(&istiod);
    assert_eq!(mesh.nodes.len(), 6, "{:?}", mesh.nodes);
    if update {
        let configurations = ask(&mut mesh.opened, &mesh.nodes);
        for (node, configuration) in mesh.nodes.iter().zip(&configurations) {
            let path = folder.join(format!("base/{}.json.zst", short(node)));
            fs::write(path, pack(&dump::text(node, configuration))).unwrap();
        }
    }
    let (mut lines, mut wrong, mut leaks) = (String::new(), Vec::new(), Vec::new());
    for case in requests.iter().step_by(if update { 1 } else { EVERY }) {
        let (id, filters) = (case["id"].as_str().unwrap(), case["filters"].as_str().unwrap());
        let (proxies, leaked) = mesh.record(id, filters);
        if leaked {
            // What a filter changes for good would show in the next case.
            leaks.push(id.to_owned());
            mesh = Mesh::open(&istiod);
            continue;
        }
        if !update && case["proxies"] != proxies {
            wrong.push(format!("{id}: {}", super::part(&case["proxies"].to_string(), &proxies.to_string())));
        }
        lines.push_str(&json!({"id": id, "filters": filters, "proxies": proxies}).to_string());
        lines.push('\n');
    }
    println!("{} cases, left out because istiod stays changed: {leaks:?}", lines.lines().count());
    if update {
        fs::write(folder.join("cases.jsonl.zst"), pack(&lines)).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
