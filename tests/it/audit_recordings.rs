//! The audit against recordings: for cases that several releases of istiod recorded, "this upgrade changes what the filters
//! do to this proxy" has to be what the recordings show.
//!
//! What the recordings show is computed here from their JSON alone: the difference between a proxy's configuration with and
//! without the filters, in each release, compared between releases. The audit knows nothing of it.

use crate::reference::{Set, sets};
use crate::support::dumps;
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::lint::Input;
use kubectl_envoyfilter::lint::upgrade::{self, Kind, Stage};
use kubectl_envoyfilter::load::dump::{Dump, Identity};
use kubectl_envoyfilter::load::{self, Loaded};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::ProxyConfig;
use kubectl_envoyfilter::proto::json::{self, Style};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// What is reached, in percent of proxy configurations. The rest: changes that another patch hides again, and whole objects
/// that a patch takes along or replaces, of which istiod generates another content.
const PRECISION: f64 = 98.5;
const RECALL: f64 = 91.0;

/// The configuration of a proxy without filters, by kind and name.
type Base = BTreeMap<(String, String), Json>;

struct Recorded {
    set: Set,
    dumps: BTreeMap<String, Dump>,
    bases: BTreeMap<String, Base>,
    /// Every `key=value` and every key of a proxy's configuration.
    words: BTreeMap<String, BTreeSet<String>>,
    cases: BTreeMap<String, Json>,
}

/// The same object under the name that istiod gave it later.
const RENAMED: (&str, &str) = ("InboundPassthroughClusterIpv4", "InboundPassthroughCluster");

fn canonical(text: &str) -> Json {
    let text = text.replace(RENAMED.0, RENAMED.1);
    let mut tree = json::parse(&text).unwrap();
    tree.open_all();
    let mut value: Json = serde_json::from_str(&json::write(&tree, Style::Compact)).unwrap();
    if let Some(map) = value.as_object_mut() {
        map.remove("@type");
    }
    value
}

impl Recorded {
    fn new(set: Set) -> Recorded {
        let dumps = dumps(&set.folder);
        let mut bases = BTreeMap::new();
        for (name, dump) in &dumps {
            let config = dump.config(&Identity::default()).unwrap();
            let resources = config.resources.iter().map(|one| {
                let kind = match one.kind.word() {
                    "extension config" => "ecds",
                    word => word,
                };
                ((kind.to_owned(), one.name.replace(RENAMED.0, RENAMED.1)), canonical(one.json))
            });
            bases.insert(name.clone(), resources.collect());
        }
        let cases = set.cases().into_iter().map(|case| (case["id"].as_str().unwrap().to_owned(), case)).collect();
        let words = bases
            .iter()
            .map(|(name, base): (&String, &Base)| {
                let mut words = BTreeSet::new();
                for resource in base.values() {
                    flatten(resource, "", &mut words);
                }
                (name.clone(), words)
            })
            .collect();
        Recorded { set, dumps, bases, words, cases }
    }
}

/// What filters change on a proxy, as a set of sentences that mean the same in every release. `by_name`: whether resources that
/// are added are istiod's own, so that only their names count.
fn effect(base: &Base, kinds: &Json, by_name: bool) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for (kind, resources) in kinds.as_object().unwrap() {
        let (mut gone, mut added) = (Vec::new(), Vec::new());
        for (name, after) in resources.as_object().unwrap() {
            let name = name.replace(RENAMED.0, RENAMED.1);
            let before = base.get(&(kind.clone(), name.clone()));
            match (before, after.is_null()) {
                (Some(before), false) => {
                    delta(before, &canonical(&after.to_string()), &format!("{kind} {name}"), &mut out);
                }
                (Some(before), true) => gone.push((name, before.clone())),
                (None, false) => added.push((name, canonical(&after.to_string()))),
                (None, true) => {}
            }
        }
        // A merge may give a resource another name: what is left of it is what it was.
        for (name, after) in added {
            let best = gone.iter().map(|(_, before)| nearness(before, &after)).min_by_key(|(size, _)| *size);
            match best.filter(|(size, _)| size * 2 < leaves(&after)) {
                _ if by_name => drop(out.insert(format!("{kind} {name} added"))),
                Some((_, sentences)) => out.extend(sentences.into_iter().map(|one| format!("{kind} {name}{one}"))),
                None => drop(out.insert(format!("{kind} {name} added {after}"))),
            }
        }
        out.extend(gone.into_iter().map(|(name, _)| format!("{kind} {name} gone")));
    }
    out
}

/// How much two values differ: in how many leaves, and which.
fn nearness(before: &Json, after: &Json) -> (usize, BTreeSet<String>) {
    let mut sentences = BTreeSet::new();
    delta(before, after, "", &mut sentences);
    // A sentence about a whole subtree weighs as much as the subtree.
    let size = sentences.iter().map(|one| 1 + one.matches("\":").count()).sum();
    (size, sentences)
}

fn leaves(value: &Json) -> usize {
    match value {
        Json::Object(map) => map.values().map(leaves).sum(),
        Json::Array(items) => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

/// The keys and the `key=value`s of a value.
fn flatten(value: &Json, key: &str, out: &mut BTreeSet<String>) {
    match value {
        Json::Object(map) => map.iter().for_each(|(key, value)| {
            out.insert(key.clone());
            flatten(value, key, out);
        }),
        Json::Array(items) => items.iter().for_each(|item| flatten(item, key, out)),
        _ => drop(out.insert(format!("{key}={value}"))),
    }
}

/// What a sentence speaks of: the leaves of the value in it, or the key that is gone.
fn words_of(sentences: &BTreeSet<String>) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for sentence in sentences {
        let value = [" = ", " + ", " added "].iter().find_map(|mark| sentence.split_once(mark));
        match value {
            Some((path, text)) => {
                let key = path.rsplit('.').next().unwrap_or_default().split('[').next().unwrap_or_default();
                flatten(&serde_json::from_str(text).unwrap_or(Json::Null), key, &mut out);
            }
            None => drop(
                out.insert(sentence.trim_end_matches(" gone").rsplit(['.', ' ']).next().unwrap_or_default().to_owned()),
            ),
        }
    }
    out
}

/// Whether two effects differ only in what istiod itself generates in one release and not in the other: it shows where a
/// patch takes a whole object along, renames it, or replaces it.
fn of_the_base(
    before: &BTreeSet<String>,
    after: &BTreeSet<String>,
    bases: (&BTreeSet<String>, &BTreeSet<String>),
) -> bool {
    let minus: BTreeSet<String> = before.difference(after).cloned().collect();
    let plus: BTreeSet<String> = after.difference(before).cloned().collect();
    let (old, new) = (words_of(&minus), words_of(&plus));
    let own =
        |word: &String, here: &BTreeSet<String>, there: &BTreeSet<String>| here.contains(word) != there.contains(word);
    let explained = old.difference(&new).all(|word| own(word, bases.0, bases.1))
        && new.difference(&old).all(|word| own(word, bases.1, bases.0));
    explained && old != new
}

/// Keys of list items: their names, numbered where several have one.
fn keys(items: &[Json]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let key = |item: &Json| {
        let name = item.get("name").and_then(Json::as_str).map(str::to_owned);
        name.unwrap_or_else(|| if item.is_object() { String::new() } else { item.to_string() })
    };
    items
        .iter()
        .map(|item| {
            let name = key(item);
            let number = seen.entry(name.clone()).or_default();
            *number += 1;
            format!("{name}#{number}")
        })
        .collect()
}

fn delta(before: &Json, after: &Json, path: &str, out: &mut BTreeSet<String>) {
    match (before, after) {
        (Json::Object(old), Json::Object(new)) => {
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for name in names {
                let path = format!("{path}.{name}");
                match (old.get(name), new.get(name)) {
                    (Some(old), Some(new)) => delta(old, new, &path, out),
                    (Some(_), None) => drop(out.insert(format!("{path} gone"))),
                    (None, Some(new)) => drop(out.insert(format!("{path} = {new}"))),
                    (None, None) => {}
                }
            }
        }
        (Json::Array(old), Json::Array(new)) => list(old, new, path, out),
        _ if before == after => {}
        _ => drop(out.insert(format!("{path} = {after}"))),
    }
}

fn list(old: &[Json], new: &[Json], path: &str, out: &mut BTreeSet<String>) {
    if old == new {
        return;
    }
    // Items that are as they were come out first: an inserted one must not shift the numbers of its equals.
    let (mut left, mut right): (Vec<Json>, Vec<Json>) = (Vec::new(), new.to_vec());
    for item in old {
        match right.iter().position(|other| other == item) {
            Some(at) => drop(right.remove(at)),
            None => left.push(item.clone()),
        }
    }
    let (left_keys, right_keys) = (keys(&left), keys(&right));
    let mut paired = vec![false; right.len()];
    let mut rest = Vec::new();
    for (key, item) in left_keys.iter().zip(&left) {
        // Unnamed items are told apart by what they hold.
        match right_keys.iter().position(|other| other == key && !key.starts_with('#')) {
            Some(at) => {
                paired[at] = true;
                delta(item, &right[at], &format!("{path}[{key}]"), out);
            }
            None => rest.push((key, item)),
        }
    }
    for (key, item) in rest {
        let free = (0..right.len()).filter(|&at| !paired[at]);
        let best = free.map(|at| (at, nearness(item, &right[at]))).min_by_key(|(_, (size, _))| *size);
        match best.filter(|(_, (size, _))| size * 2 < leaves(item)) {
            Some((at, (_, sentences))) => {
                paired[at] = true;
                out.extend(sentences.into_iter().map(|one| format!("{path}[~{}]{one}", right_keys[at])));
            }
            None => drop(out.insert(format!("{path} - {key}"))),
        }
    }
    for (_, item) in right.iter().enumerate().filter(|(at, _)| !paired[*at]) {
        out.insert(format!("{path} + {item}"));
    }
}

/// Asks the audit: for each proxy whether the upgrade changes something, with the kinds of change.
fn audited(loaded: &Loaded, old: &Recorded, new: &Recorded) -> BTreeMap<String, BTreeSet<Kind>> {
    let mesh = MeshSettings::default();
    let names: Vec<String> = old.dumps.keys().filter(|name| new.dumps.contains_key(*name)).cloned().collect();
    let before: Vec<ProxyConfig<'_>> =
        names.iter().map(|name| old.dumps[name].config(&Identity::default()).unwrap()).collect();
    let after: Vec<ProxyConfig<'_>> =
        names.iter().map(|name| new.dumps[name].config(&Identity::default()).unwrap()).collect();
    let snapshot = upgrade::snapshot(&stage(loaded, &before, old.set.release, &mesh), &[]);
    let (_, upgrade) = upgrade::compare(&stage(loaded, &after, new.set.release, &mesh), &snapshot, &[]);
    let mut found: BTreeMap<String, BTreeSet<Kind>> = BTreeMap::new();
    for change in &upgrade.changes {
        // The recordings show panics only by what is lost or changed.
        if change.kind == Kind::Panics && change.counts == (0, 0) {
            continue;
        }
        for &run in &change.runs {
            found.entry(names[run].clone()).or_default().insert(change.kind);
        }
    }
    found
}

fn stage<'a>(loaded: &'a Loaded, dumps: &'a [ProxyConfig<'a>], release: Release, mesh: &'a MeshSettings) -> Stage<'a> {
    Stage {
        input: Input {
            sources: &loaded.sources,
            inventory: &loaded.inventory,
            problems: &loaded.problems,
            dumps,
            references: &[],
            release,
            mesh,
        },
        proxies: release,
        stand_ins: &[],
        make_up: false,
    }
}

#[derive(Default)]
struct Figures {
    compared: usize,
    truly: usize,
    claimed: usize,
    both: usize,
    wrong: Vec<String>,
}

fn figures(old: &Recorded, new: &Recorded) -> Figures {
    let mut figures = Figures::default();
    for (id, case) in &old.cases {
        let Some(later) = new.cases.get(id) else { continue };
        if case["filters"] != later["filters"] || case.get("leaked").is_some() || later.get("leaked").is_some() {
            continue;
        }
        let (Some(was), Some(is)) = (case["proxies"].as_object(), later["proxies"].as_object()) else { continue };
        let options = load::Options::default();
        let loaded = load::read_text(id, case["filters"].as_str().unwrap(), &options);
        let claimed = audited(&loaded, old, new);
        let none = Json::Object(serde_json::Map::new());
        for proxy in old.bases.keys().filter(|name| new.bases.contains_key(*name)) {
            let effect_of = |recorded: &Recorded, kinds: &serde_json::Map<String, Json>| {
                let bare = case["filters"].as_str().unwrap().contains("referenced-services");
                effect(&recorded.bases[proxy], kinds.get(proxy).unwrap_or(&none), bare)
            };
            let (before, after) = (effect_of(old, was), effect_of(new, is));
            let truly = before != after && !of_the_base(&before, &after, (&old.words[proxy], &new.words[proxy]));
            let kinds = claimed.get(proxy);
            figures.compared += 1;
            figures.truly += usize::from(truly);
            figures.claimed += usize::from(kinds.is_some());
            figures.both += usize::from(truly && kinds.is_some());
            if truly != kinds.is_some() {
                let (minus, plus): (Vec<_>, Vec<_>) =
                    (before.difference(&after).take(2).collect(), after.difference(&before).take(2).collect());
                let cut = |list: Vec<&String>| {
                    list.iter().map(|one| one.chars().take(150).collect::<String>()).collect::<Vec<_>>()
                };
                figures.wrong.push(format!(
                    "{id}/{proxy}: audit {kinds:?}, before {:?}, after {:?}",
                    cut(minus),
                    cut(plus)
                ));
            }
        }
    }
    figures
}

/// `AUDIT=1` prints every disagreement.
#[test]
fn changes_of_effect_are_those_of_the_recordings() {
    let show = std::env::var_os("AUDIT").is_some();
    let mut by_topology: BTreeMap<String, Vec<Recorded>> = BTreeMap::new();
    for set in sets() {
        let topology = set.name.split('/').next().unwrap().to_owned();
        by_topology.entry(topology).or_default().push(Recorded::new(set));
    }
    let mut all = Figures::default();
    for recorded in by_topology.values_mut() {
        recorded.sort_by_key(|one| one.set.release);
        for pair in recorded.windows(2) {
            let one = figures(&pair[0], &pair[1]);
            println!(
                "audit: {} → {}: {} proxy configurations, {} change, {} said to, {} of them rightly",
                pair[0].set.name, pair[1].set.name, one.compared, one.truly, one.claimed, one.both
            );
            if show {
                one.wrong.iter().for_each(|line| println!("  {line}"));
            }
            all.compared += one.compared;
            all.truly += one.truly;
            all.claimed += one.claimed;
            all.both += one.both;
        }
    }
    #[allow(clippy::cast_precision_loss, reason = "a few thousand")]
    let percent = |part: usize, of: usize| part as f64 * 100.0 / of.max(1) as f64;
    let (precision, recall) = (percent(all.both, all.claimed), percent(all.both, all.truly));
    println!("audit: {} proxy configurations, precision {precision:.2} %, recall {recall:.2} %", all.compared);
    assert!(all.compared > 5000, "recordings are missing");
    assert!(precision >= PRECISION && recall >= RECALL, "precision {precision:.2} %, recall {recall:.2} %");
}
