//! Cached findings: a review gives the same answer with and without them, whatever has changed meanwhile.

use super::{builder, kind_of, rules, text};
use crate::support::{Share, testdata};
use kubectl_envoyfilter::admission::judge::{Asked, Rules, judge, prepare};
use kubectl_envoyfilter::admission::snapshot::{Change, Overrides, SnapshotBuilder};
use kubectl_envoyfilter::budget::Meter;
use kubectl_envoyfilter::cluster::kinds;
use kubectl_envoyfilter::lint::config::Config;
use kubectl_envoyfilter::load::yaml;
use kubectl_envoyfilter::rules::ALL;
use kubectl_envoyfilter::source::{Node, Sources};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A deterministic generator of numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(most.max(1)).unwrap()).unwrap()
    }
}

fn yaml_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            yaml_below(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "yaml") {
            found.push(entry);
        }
    }
}

/// Objects of the cases of all rules and of published filters: EnvoyFilters, and others.
fn objects() -> (Vec<Value>, Vec<Value>) {
    let mut paths = Vec::new();
    yaml_below(&testdata("rules"), &mut paths);
    yaml_below(&testdata("corpus"), &mut paths);
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        // The most expensive cases add nothing here.
        if text.len() > 6_000 {
            continue;
        }
        let file = Sources::default().add("case", text.as_str());
        let documents = yaml::documents(file, &text).0;
        all.extend(
            documents
                .iter()
                .map(Node::to_json)
                .filter(|object| kind_of(object).is_some() && !self::text(object, "/metadata/name").is_empty()),
        );
    }
    all.into_iter().partition(|object| object["kind"] == "EnvoyFilter")
}

/// A reviewed change: the filter before and after.
#[derive(Clone)]
struct Case {
    namespace: String,
    name: String,
    old: Option<Value>,
    new: Option<Value>,
}

impl Case {
    fn asked(&self) -> Asked<'_> {
        Asked { namespace: &self.namespace, name: &self.name, old: self.old.as_ref(), new: self.new.as_ref() }
    }
}

fn reviews_say_the_same_with_and_without_what_was_kept_by(share: Share) {
    const NAMESPACES: [&str; 3] = ["istio-system", "shop", "default"];
    let (filters, others) = objects();
    assert!(filters.len() > 500 && others.len() >= 10, "{} {}", filters.len(), others.len());
    let (kept, forgotten) = (rules(), Rules::without_memory(ALL.to_vec(), Config::default()));
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut builder = SnapshotBuilder::new(Overrides::default(), &[]);
    let mut stored: BTreeMap<(String, String), Value> = BTreeMap::new();
    let mut asked: Vec<Case> = Vec::new();
    let (mut remarks, mut reviews) = (0, 0);
    for step in 0..if share == Share::Whole { 80 } else { 16 } {
        // Something changes, or nothing does.
        let any_filter = |dice: &mut Dice| {
            let mut filter = filters[dice.below(filters.len())].clone();
            filter["metadata"]["namespace"] = NAMESPACES[dice.below(NAMESPACES.len())].into();
            // Few names, so that one object replaces another.
            filter["metadata"]["name"] = format!("filter-{}", dice.below(8)).into();
            filter
        };
        let of = |filter: &Value| {
            (text(filter, "/metadata/namespace").to_owned(), text(filter, "/metadata/name").to_owned())
        };
        match dice.below(10) {
            0..=3 => {
                let filter = any_filter(&mut dice);
                builder.apply(kinds::ENVOY_FILTER, Change::Put(filter.clone()));
                stored.insert(of(&filter), filter);
            }
            4 => {
                let gone = stored.keys().nth(dice.below(stored.len())).cloned();
                if let Some((namespace, name)) = gone {
                    stored.remove(&(namespace.clone(), name.clone()));
                    builder.apply(kinds::ENVOY_FILTER, Change::Gone(namespace, name));
                }
            }
            5 => {
                // The same again, as watches send it when a status changes.
                if let Some(second) = stored.values().nth(dice.below(stored.len())) {
                    builder.apply(kinds::ENVOY_FILTER, Change::Put(second.clone()));
                }
            }
            6 => {
                let mut object = others[dice.below(others.len())].clone();
                if object["kind"] != "Namespace" {
                    object["metadata"]["namespace"] = NAMESPACES[dice.below(NAMESPACES.len())].into();
                }
                builder.apply(kind_of(&object).unwrap(), Change::Put(object));
            }
            7 => {
                // A reviewed change is stored.
                if let Some(new) = asked.last().and_then(|case| case.new.clone()) {
                    builder.apply(kinds::ENVOY_FILTER, Change::Put(new.clone()));
                    stored.insert(of(&new), new);
                }
            }
            _ => {}
        }
        let snapshot = builder.snapshot();
        let new = any_filter(&mut dice);
        let (namespace, name) = of(&new);
        let old = stored.get(&(namespace.clone(), name.clone())).cloned();
        let change = match dice.below(4) {
            0 if old.is_some() => Case { namespace, name, old, new: None },
            // Reviewed again, now that something else may have changed.
            1 | 2 if !asked.is_empty() => asked[asked.len() - 1 - dice.below(asked.len().min(4))].clone(),
            _ => Case { namespace, name, old, new: Some(new) },
        };
        for _ in 0..2 {
            // Work is also counted: a review that fits its budget does so whatever is cached.
            let under = |rules: &Rules| {
                let meter = Meter::new(1 << 40);
                let judged = meter.run(|| judge(&snapshot, rules, &change.asked())).unwrap();
                (judged, (1 << 40) - meter.left())
            };
            let ((with, spent), (without, needed)) = (under(&kept), under(&forgotten));
            assert_eq!(with, without, "step {step}: {:?}", change.new.as_ref().or(change.old.as_ref()));
            assert_eq!(spent, needed, "step {step}: {:?}", change.new.as_ref().or(change.old.as_ref()));
            remarks += with.remarks.len();
            reviews += 1;
        }
        asked.push(change);
        assert!(stored.len() <= 24);
    }
    let (answers, bytes) = kept.standing().size();
    println!(
        "{reviews} reviews, {remarks} remarks, {} from memory; {answers} answers, {bytes} bytes",
        kept.standing().hits()
    );
    assert!(remarks > reviews / 2, "{remarks} remarks");
    assert!(kept.standing().hits() > u64::try_from(share.least(reviews)).unwrap(), "{}", kept.standing().hits());
    assert_eq!(forgotten.standing().size(), (0, 0));
}

in_part_and_in_full!(
    reviews_say_the_same_with_and_without_what_was_kept,
    reviews_say_the_same_with_and_without_what_was_kept_in_full,
    reviews_say_the_same_with_and_without_what_was_kept_by
);

/// What was found for the state after a change is what is known about the state before the next one.
#[test]
fn an_accepted_change_is_not_judged_again_once_it_is_stored() {
    let filter = |name: &str, seconds: usize| {
        json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": name, "namespace": "istio-system", "creationTimestamp": "2026-11-20T08:00:00Z"},
            "spec": {"configPatches": [{"applyTo": "CLUSTER", "match": {"context": "SIDECAR_OUTBOUND"},
                "patch": {"operation": "MERGE", "value": {"connect_timeout": format!("{seconds}s")}}}]},
        })
    };
    let rules = rules();
    let mut builder = builder(Overrides::default(), &[filter("one", 1), filter("two", 2), filter("three", 3)]);
    let snapshot = builder.snapshot();
    prepare(&snapshot, &rules);
    let (old, new) = (filter("two", 2), filter("two", 7));
    let asked = Asked { namespace: "istio-system", name: "two", old: Some(&old), new: Some(&new) };
    assert!(!judge(&snapshot, &rules, &asked).remarks.is_empty());
    let (answers, hits) = (rules.standing().size().0, rules.standing().hits());
    builder.apply(kinds::ENVOY_FILTER, Change::Put(new.clone()));
    prepare(&builder.snapshot(), &rules);
    assert_eq!((rules.standing().size().0, rules.standing().hits()), (answers, hits + 1));
    // Another change was not judged before.
    builder.apply(kinds::ENVOY_FILTER, Change::Put(filter("two", 8)));
    prepare(&builder.snapshot(), &rules);
    assert_eq!((rules.standing().size().0, rules.standing().hits()), (answers + 1, hits + 1));
}

/// Each kind of change changes the answer if it should: cached findings are not reused for another state.
#[test]
fn cached_findings_are_not_reused_for_another_state() {
    let filter = |namespace: &str, name: &str, app: &str| {
        json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"workloadSelector": {"labels": {"app": app}}, "configPatches": [{
                "applyTo": "HTTP_FILTER",
                "match": {"context": "SIDECAR_INBOUND", "listener": {"filterChain": {"filter": {
                    "name": "envoy.filters.network.http_connection_manager"}}}},
                "patch": {"operation": "INSERT_FIRST", "value": {"name": "buffer", "typed_config": {
                    "@type": "type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer",
                    "max_request_bytes": name.len()}}},
            }]},
        })
    };
    let pod = |app: &str| {
        json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "cart-1", "namespace": "shop", "labels": {"app": app}},
            "spec": {"containers": [{"name": "istio-proxy", "image": "istio/proxyv2:1.31.0", "args": ["proxy", "sidecar"]}]}})
    };
    let rules = rules();
    let new = filter("shop", "new", "cart");
    let asked = Asked { namespace: "shop", name: "new", old: None, new: Some(&new) };
    let mut builder = builder(Overrides::default(), &[pod("cart")]);
    let codes = |builder: &mut SnapshotBuilder| -> Vec<&'static str> {
        let snapshot = builder.snapshot();
        let first = judge(&snapshot, &rules, &asked);
        assert_eq!(judge(&snapshot, &rules, &asked), first);
        first.remarks.iter().map(|remark| remark.code).collect()
    };
    let alone = codes(&mut builder);
    assert!(!alone.contains(&"EF201") && !alone.contains(&"EF412"), "{alone:?}");
    // Another filter comes, changes, and goes.
    builder.apply(kinds::ENVOY_FILTER, Change::Put(filter("shop", "other", "cart")));
    assert!(codes(&mut builder).contains(&"EF412"));
    builder.apply(kinds::ENVOY_FILTER, Change::Put(filter("shop", "other", "payment")));
    assert_eq!(codes(&mut builder), alone);
    builder.apply(kinds::ENVOY_FILTER, Change::Put(filter("shop", "other", "cart")));
    assert!(codes(&mut builder).contains(&"EF412"));
    builder.apply(kinds::ENVOY_FILTER, Change::Gone("shop".into(), "other".into()));
    assert_eq!(codes(&mut builder), alone);
    // The label of a workload changes, and changes back.
    builder.apply(kinds::POD, Change::Put(pod("payment")));
    assert!(codes(&mut builder).contains(&"EF201"));
    builder.apply(kinds::POD, Change::Put(pod("cart")));
    assert_eq!(codes(&mut builder), alone);
    // A filter in the root namespace reaches it, until a mesh config names another root namespace.
    builder.apply(kinds::ENVOY_FILTER, Change::Put(filter("istio-system", "other", "cart")));
    assert!(codes(&mut builder).contains(&"EF412"));
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio", "namespace": "istio-system"},
        "data": {"mesh": "rootNamespace: elsewhere"}});
    builder.apply(kinds::CONFIG_MAP, Change::Put(map));
    assert_eq!(codes(&mut builder), alone);
}
