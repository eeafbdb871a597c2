//! Findings about the API server agree with the CustomResourceDefinition of every release: its schema is evaluated
//! here, line by line, and every line that a release changed has a filter that shows it.

use crate::support::{Share, testdata};
use cel::{Context, Program, Value as Cel};
use kubectl_envoyfilter::lint::crd::{self, Verdict};
use kubectl_envoyfilter::load::{self, Loaded};
use kubectl_envoyfilter::model::release::Release;
use regex::Regex;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Path and keyword to value: the schema of one release.
type Schema = BTreeMap<(String, String), Value>;

/// A line of the table, with its releases.
struct Line {
    key: (String, String),
    value: Value,
    first: Option<Release>,
    last: Option<Release>,
}

fn lines() -> Vec<Line> {
    let text = std::fs::read_to_string(testdata("crds/envoyfilter.tsv")).unwrap();
    let release = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
    let line = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let key = (cells[0].to_owned(), cells[1].to_owned());
        let value = serde_json::from_str(cells[2]).unwrap();
        Line { key, value, first: release(cells[3]), last: release(cells[4]) }
    };
    text.lines().skip(1).map(line).collect()
}

/// Releases whose definition was read.
fn releases() -> Vec<Release> {
    let text = std::fs::read_to_string(testdata("crds/envoyfilter.tsv")).unwrap();
    let head = text.lines().next().unwrap();
    let list = head.split("istio.io/api, ").nth(1).unwrap().split(" (").next().unwrap();
    list.split(", ").map(|one| one.parse().unwrap()).collect()
}

fn schema(lines: &[Line], release: Release) -> Schema {
    let holds =
        |line: &&Line| line.first.is_none_or(|first| first <= release) && line.last.is_none_or(|last| release <= last);
    lines.iter().filter(holds).map(|line| (line.key.clone(), line.value.clone())).collect()
}

/// The API server's answer about an object: what it rejects, and what it drops.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answer {
    refused: BTreeSet<String>,
    dropped: BTreeSet<String>,
}

impl Answer {
    fn of(schema: &Schema, object: &Value) -> Answer {
        let mut answer = Answer::default();
        let mut object = object.clone();
        answer.prune(schema, "", &mut object);
        answer.check(schema, "", &object);
        answer
    }

    /// Unknown fields are dropped before validation.
    fn prune(&mut self, schema: &Schema, path: &str, value: &mut Value) {
        let has = |path: &str, word: &str| schema.contains_key(&(path.to_owned(), word.to_owned()));
        if has(path, "x-kubernetes-preserve-unknown-fields") {
            return;
        }
        match value {
            Value::Object(map) => {
                map.retain(|key, value| {
                    let field = [format!("{path}.{key}"), format!("{path}{{}}")];
                    let Some(field) = field.into_iter().find(|field| has(field, "type")) else {
                        self.dropped.insert(format!("{path}.{key}"));
                        return false;
                    };
                    self.prune(schema, &field, value);
                    true
                });
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.prune(schema, &format!("{path}[]"), item)),
            _ => {}
        }
    }

    fn check(&mut self, schema: &Schema, path: &str, value: &Value) {
        let words = schema.range((path.to_owned(), String::new())..).take_while(|((at, _), _)| at == path);
        for ((_, word), wanted) in words {
            if !fits(word, wanted, value) {
                self.refused.insert(format!("{path} {word}"));
            }
        }
        if schema.contains_key(&(path.to_owned(), "x-kubernetes-preserve-unknown-fields".to_owned())) {
            return;
        }
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let map = format!("{path}{{}}");
                    let is_map = schema.contains_key(&(map.clone(), "type".to_owned()));
                    self.check(schema, &if is_map { map } else { format!("{path}.{key}") }, value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.check(schema, &format!("{path}[]"), item)),
            _ => {}
        }
    }
}

/// Whether a value satisfies an `OpenAPI` keyword; an unknown keyword fails the test.
fn fits(word: &str, wanted: &Value, value: &Value) -> bool {
    let number = || usize::try_from(wanted.as_u64().unwrap()).unwrap();
    let length = || value.as_str().map_or(0, |text| text.chars().count());
    let size = || value.as_array().map_or(0, Vec::len).max(value.as_object().map_or(0, serde_json::Map::len));
    let required =
        |names: &Value| names.as_array().unwrap().iter().all(|name| value.get(name.as_str().unwrap()).is_some());
    match word {
        "type" => match wanted.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            other => panic!("type {other}"),
        },
        "enum" => wanted.as_array().unwrap().contains(value),
        "required" => required(wanted),
        "minimum" => value.as_i64().unwrap() >= wanted.as_i64().unwrap(),
        "maximum" => value.as_i64().unwrap() <= wanted.as_i64().unwrap(),
        "minLength" => length() >= number(),
        "maxLength" => length() <= number(),
        "maxItems" | "maxProperties" => size() <= number(),
        "pattern" => Regex::new(wanted.as_str().unwrap()).unwrap().is_match(value.as_str().unwrap()),
        "oneOf" => {
            let one = |choice: &&Value| match choice.get("not") {
                Some(not) => !not["anyOf"].as_array().unwrap().iter().any(|any| required(&any["required"])),
                None => required(&choice["required"]),
            };
            wanted.as_array().unwrap().iter().filter(one).count() == 1
        }
        "x-kubernetes-validations" => {
            let rule = |rule: &Value| Program::compile(rule["rule"].as_str().unwrap()).unwrap();
            let mut context = Context::default();
            context.add_variable_from_value("self", cel::to_value(value).unwrap());
            // A rule that fails to run also rejects.
            wanted.as_array().unwrap().iter().all(|one| rule(one).execute(&context) == Ok(Cel::Bool(true)))
        }
        "x-kubernetes-preserve-unknown-fields" | "format" => true,
        other => panic!("keyword {other}"),
    }
}

fn filter(spec: &Value) -> Value {
    json!({ "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": { "name": "it", "namespace": "shop" }, "spec": spec })
}

fn patch(apply_to: &str, matching: &Value, operation: &str) -> Value {
    let patch = json!({ "operation": operation, "value": { "name": "it" } });
    json!([{ "applyTo": apply_to, "match": matching, "patch": patch }])
}

fn refers(references: &Value) -> Value {
    filter(
        &json!({ "targetRefs": references, "configPatches": patch("CLUSTER", &json!({ "context": "ANY" }), "MERGE") }),
    )
}

fn selects(labels: &Value) -> Value {
    let patches = patch("CLUSTER", &json!({ "context": "ANY" }), "MERGE");
    filter(&json!({ "workloadSelector": { "labels": labels }, "configPatches": patches }))
}

fn matches(matching: &Value) -> Value {
    filter(&json!({ "configPatches": patch("HTTP_FILTER", matching, "INSERT_FIRST") }))
}

/// Filters that some release rejects or prunes, and some that none does.
fn cases() -> Vec<Value> {
    let long = |length: usize| "a".repeat(length);
    let many = |count: usize| -> Vec<Value> {
        (0..count).map(|i| json!({ "group": "", "kind": "Service", "name": format!("a{i}") })).collect()
    };
    let reference =
        |group: &str, kind: &str, name: &str| refers(&json!([{ "group": group, "kind": kind, "name": name }]));
    let labels = |count: usize| -> BTreeMap<String, &str> { (0..count).map(|i| (format!("l{i}"), "a")).collect() };
    let mut both = selects(&json!({ "app": "a" }));
    both["spec"]["targetRefs"] = json!([{ "group": "", "kind": "Service", "name": "a" }]);
    let port = |port: i64| matches(&json!({ "context": "WAYPOINT", "waypoint": { "portNumber": port } }));
    let routes = |below: &Value| json!({ "context": "ANY", "routeConfiguration": below });
    let mut cases = vec![
        reference("", "Service", "a"),
        reference("core", "Service", "a"),
        reference("gateway.networking.k8s.io", "Gateway", "a"),
        reference("networking.istio.io", "ServiceEntry", "a"),
        reference("gateway.networking.k8s.io", "GatewayClass", "istio-waypoint"),
        reference("a.b-c.d9", "Kind-9", "a"),
        reference("-a", "Kind", "a"),
        reference("a..b", "Kind", "a"),
        reference("A", "Kind", "a"),
        reference(&long(253), "Kind", "a"),
        reference(&long(254), "Kind", "a"),
        reference("", "a/b", "a"),
        reference("", "9a", "a"),
        reference("", "a-", "a"),
        reference("", &long(63), "a"),
        reference("", &long(64), "a"),
        reference("", "", "a"),
        reference("", "Service", ""),
        reference("", "Service", &long(253)),
        reference("", "Service", &long(254)),
        refers(&json!([{ "kind": "Service", "name": "a" }])),
        refers(&json!([{ "group": "", "kind": "Service" }])),
        refers(&json!([{ "group": "", "name": "a" }])),
        refers(&json!([{ "group": "", "kind": "Service", "name": "a", "namespace": "" }])),
        refers(&json!([{ "group": "", "kind": "Service", "name": "a", "namespace": "other" }])),
        refers(&json!(["a"])),
        refers(&json!(many(16))),
        refers(&json!(many(17))),
        both,
        selects(&json!({ "app": "a" })),
        selects(&json!({ "app": "a*" })),
        selects(&json!({ "app": long(63) })),
        selects(&json!({ "app": long(64) })),
        selects(&json!(labels(256))),
        selects(&json!(labels(257))),
        matches(&routes(&json!({ "vhost": { "domainName": "a.b" } }))),
        matches(&json!({ "context": "WAYPOINT" })),
        matches(&json!({ "context": "WAYPOINT", "listener": { "portNumber": 80 } })),
        matches(
            &json!({ "context": "WAYPOINT", "waypoint": { "filter": { "name": "a", "subFilter": { "name": "b" } }, "route": { "name": "c" } } }),
        ),
        matches(&json!({ "context": "GATEWAY", "waypoint": { "portNumber": 80 } })),
        matches(&json!({ "waypoint": { "portNumber": 80 } })),
        matches(&json!({ "context": "WAYPOINT", "waypoint": { "portNumber": 80 }, "listener": { "portNumber": 80 } })),
        filter(&json!({ "configPatches": patch("CLUSTER", &json!({ "context": "ANY" }), "MERGE_AND_REPLACE_LIST") })),
    ];
    cases.extend([-1, 0, 1, 6553, 6554, 65535, 65536, 4_294_967_296].map(port));
    for port in [-1_i64, 0, 4_294_967_295, 4_294_967_296] {
        cases.push(matches(&json!({ "context": "ANY", "cluster": { "portNumber": port } })));
        cases.push(matches(&json!({ "context": "ANY", "listener": { "portNumber": port } })));
        cases.push(matches(&json!({ "context": "ANY", "listener": { "filterChain": { "destinationPort": port } } })));
        cases.push(matches(&routes(&json!({ "portNumber": port }))));
    }
    cases
}

fn read(object: &Value) -> Loaded {
    load::read_text("it.yaml", object.to_string(), &load::Options::default())
}

fn the_api_server_is_foretold_for_every_release_by(share: Share) {
    let lines = lines();
    let mut wrong = Vec::new();
    let (mut refused, mut dropped, mut all) = (0, 0, 0);
    for release in share.of(releases()) {
        let schema = schema(&lines, release);
        for case in cases() {
            let answer = Answer::of(&schema, &json!({ "spec": case["spec"] }));
            let loaded = read(&case);
            // No istiod reads numbers out of range or two matches at once.
            let Some(filter) = loaded.inventory.envoy_filters.first() else { continue };
            let unreadable = loaded.problems.iter().any(|problem| problem.code.as_str() == "several-match-objects");
            let said = crd::objections(filter, release);
            let says = |verdict| said.iter().any(|one| one.verdict == verdict);
            let is = (!answer.refused.is_empty(), !answer.dropped.is_empty());
            all += 1;
            refused += usize::from(is.0);
            dropped += usize::from(is.1);
            if (says(Verdict::Refused) || unreadable, says(Verdict::Dropped)) != is {
                wrong.push(format!("{release} {}\n  schema: {answer:?}\n  said: {said:?}", case["spec"]));
            }
        }
    }
    println!("{all} answers, {refused} refused, {dropped} with fields dropped, {} foretold wrongly", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused > share.least(100) && dropped > share.least(100), "{refused} {dropped}");
}

in_part_and_in_full!(
    the_api_server_is_foretold_for_every_release,
    the_api_server_is_foretold_for_every_release_in_full,
    the_api_server_is_foretold_for_every_release_by
);

fn plain(value: &Value) -> String {
    value.to_string().replace("\\\"", "'").replace(' ', "")
}

fn every_line_that_a_release_changed_has_a_filter_that_shows_it_by(share: Share) {
    let lines = lines();
    let releases = releases();
    let cases = cases();
    let mut blind = Vec::new();
    for line in share.of(lines.iter().filter(|line| line.first.is_some() || line.last.is_some())) {
        let at = line.first.or(line.last).unwrap();
        let place = releases.iter().position(|one| *one == at).unwrap();
        let beside = if line.first.is_some() { place - 1 } else { place + 1 };
        let with = schema(&lines, at);
        let mut without = with.clone();
        match schema(&lines, releases[beside]).remove(&line.key) {
            // Only white space in an expression changed.
            Some(other) if plain(&other) == plain(&line.value) => continue,
            // The next line is checked where it begins.
            Some(_) if line.first.is_none() => continue,
            Some(other) => without.insert(line.key.clone(), other),
            None => without.remove(&line.key),
        };
        let shows = |case: &Value| {
            let object = json!({ "spec": case["spec"] });
            Answer::of(&with, &object) != Answer::of(&without, &object)
        };
        if !cases.iter().any(shows) {
            blind.push(format!("{} {}", line.key.0, line.key.1));
        }
    }
    assert!(blind.is_empty(), "no case for\n{}", blind.join("\n"));
}

in_part_and_in_full!(
    every_line_that_a_release_changed_has_a_filter_that_shows_it,
    every_line_that_a_release_changed_has_a_filter_that_shows_it_in_full,
    every_line_that_a_release_changed_has_a_filter_that_shows_it_by
);
