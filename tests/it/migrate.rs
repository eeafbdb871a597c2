//! Migrations against recordings of istiod: the class of every recorded pair, and what is never written.

use crate::support::{Share, dumps, recorded, testdata};
use kubectl_envoyfilter::load::dump::Identity;
use kubectl_envoyfilter::load::{self, Loaded};
use kubectl_envoyfilter::migrate::compare::{self, Effect, Resources};
use kubectl_envoyfilter::migrate::verdict::{Class, State};
use kubectl_envoyfilter::migrate::{self, Accept, After, Report, Request};
use kubectl_envoyfilter::model::release::Release;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Cases whose recorded native form is not the written one, since a better one exists, with its class. The bottle tests
/// compute it (`tests/it/bottle/proof.rs`).
pub(crate) const BETTER_FORM: &[(&str, &str, &str)] = &[
    ("cluster-policy/trap-no-selector", "same-but", "the rule gets a workloadSelector"),
    ("direct-response/trap-no-port", "same-but", "the rule names the port"),
    ("hcm-timeouts/gateway-idle-by-environment", "exact", "connectionSettings instead of the environment"),
    ("hcm-timeouts/sidecar-idle-by-environment", "exact", "connectionSettings instead of the environment"),
    ("lua/constant-header-to-virtualservice", "same-but", "a TrafficExtension instead of a VirtualService"),
    ("lua/trap-root-namespace", "same-but", "the object gets the filter's selector"),
    ("path-normalization/gateway-by-mesh", "exact", "connectionSettings of the gateway instead of the mesh setting"),
    ("rbac/trap-deny-path-closes-tcp", "same-but", "the rule names the HTTP ports"),
    ("rbac/trap-deny-path-gateway-closes-tcp", "same-but", "the rule names the HTTP ports"),
];

/// Cases whose recorded class holds only for the recorded proxies: the native form changes others, as the bottle tests
/// show.
pub(crate) const REACHES_FURTHER: &[(&str, &str, &str)] = &[
    // The recording covered the selected client but not others in its namespace; istiod hides the rule from those too.
    ("cluster-policy/existing-rule-copied", "differs", "a client that is not selected loses the hidden rule"),
    // The recording has no proxy of the service itself, in whose pods the rule also applies.
    ("cl/connect-ns", "differs", "the rule also holds between the service's own sidecar and its application"),
];

/// Cases of which a part stays, which was recorded as if all of it moved.
const IN_PART: &[(&str, &str, &str)] = &[(
    "stats-null-vm/custom-tag",
    "partly",
    "the patch without a selector is refused: its object also applies to gateways",
)];

/// Cases whose class differs from the recorded one, with the reason; all others are equal.
fn other_class() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    BETTER_FORM.iter().chain(REACHES_FURTHER).chain(IN_PART)
}

/// A VirtualService of sidecars with rules that set nothing.
const NAMED_RULES: &str = "the routes of other clients and ports keep their names";

/// Cases whose native objects differ from the recorded ones although the class is equal.
const OTHER_FORM: &[(&str, &str)] = &[
    ("lua/first", "phase AUTHN, which comes before tokens and policies as the filter does"),
    ("grpc-web/gateway", "the port keeps its name"),
    ("wasm/traffic-extension", "a WasmPlugin, which older releases have too"),
    ("route-retries/outbound", NAMED_RULES),
    ("rt/out-cart-80", NAMED_RULES),
    ("rt/out-headers-route", NAMED_RULES),
    ("rt/out-headers-vhost", NAMED_RULES),
];

fn class(name: &str) -> Class {
    Class::ALL.into_iter().find(|class| class.name() == name).unwrap_or_else(|| panic!("no class {name}"))
}

pub(crate) fn merge(into: &mut Json, from: &Json) {
    match (into, from) {
        (Json::Object(into), Json::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Json::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

pub(crate) fn yaml(text: &str) -> Vec<Json> {
    let file = kubectl_envoyfilter::source::Sources::default().add("y", text);
    load::yaml::documents(file, text).0.iter().map(kubectl_envoyfilter::source::Node::to_json).collect()
}

/// The objects of a topology, the additional objects of both sides, and the case's filter, as texts.
pub(crate) fn input_texts(case: &Json) -> Vec<(&'static str, String)> {
    if let Some(objects) = case["objects"].as_str() {
        return vec![("objects", objects.to_owned()), ("filter", case["filters"].as_str().unwrap().to_owned())];
    }
    let topology = testdata("reference").join(case["topology"].as_str().unwrap());
    let read = |name: &str| fs::read_to_string(topology.join(name)).unwrap_or_default();
    let mut mesh = yaml(&read("mesh.yaml")).into_iter().next().unwrap_or_else(|| json!({}));
    for more in yaml(case["setup"]["mesh"].as_str().unwrap_or_default()) {
        merge(&mut mesh, &more);
    }
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "istio", "namespace": "istio-system" }, "data": { "mesh": mesh.to_string() } });
    let setup = case["setup"]["resources"].as_str().unwrap_or_default().to_owned();
    // An object of the setup replaces the topology's.
    let key = |one: &Json| [&one["kind"], &one["metadata"]["namespace"], &one["metadata"]["name"]].map(Json::to_string);
    let replaced: BTreeSet<_> = yaml(&setup).iter().map(key).collect();
    let rest = |text: String| {
        let all = yaml(&text);
        if !all.iter().any(|one| replaced.contains(&key(one))) {
            return text;
        }
        let kept: Vec<String> = all.iter().filter(|one| !replaced.contains(&key(one))).map(Json::to_string).collect();
        kept.join("\n---\n")
    };
    vec![
        ("k8s", rest(read("k8s.yaml"))),
        ("istio", rest(read("istio.yaml"))),
        ("mesh", map.to_string()),
        ("setup", setup),
        ("filter", case["filters"].as_str().unwrap().to_owned()),
    ]
}

/// The same, read.
pub(crate) fn input(case: &Json) -> Loaded {
    let mut loaded = Loaded::default();
    for (name, text) in input_texts(case) {
        loaded.add_text(name, text, &load::Options::default());
    }
    loaded
}

pub(crate) fn migrated(loaded: &Loaded, to: Release, accept: Accept) -> Report {
    migrated_to(loaded, to, accept, false)
}

/// The migration of a judged case, to its release.
pub(crate) fn migrated_as(case: &Json, loaded: &Loaded, accept: Accept) -> Report {
    let to = case["to"].as_str().map_or(Release::NEWEST, |to| to.parse().unwrap());
    migrated_to(loaded, to, accept, case["ambient"] == true)
}

fn migrated_to(loaded: &Loaded, to: Release, accept: Accept, ambient: bool) -> Report {
    migrate::migrate(&Request { to, accept, ambient, ..request(loaded) }).unwrap()
}

/// A request about all filters, with everything read, that writes what was reviewed.
pub(crate) fn request(loaded: &Loaded) -> Request<'_> {
    Request {
        inventory: &loaded.inventory,
        root: "istio-system",
        to: Release::NEWEST,
        accept: Accept::Reviewed,
        asked: None,
        unread: BTreeMap::new(),
        ambient: false,
        doubts: BTreeMap::new(),
        revived: BTreeMap::new(),
    }
}

pub(crate) fn all_recorded() -> Vec<Json> {
    let mut cases = recorded(&testdata("migrate/recorded.jsonl"));
    cases.extend(recorded(&testdata("migrate/more.jsonl")));
    cases.extend(bottled());
    cases
}

/// Filters among objects that already say something about the same, and filters that set the same: with the class of each.
pub(crate) fn judged() -> Vec<Json> {
    let text = fs::read_to_string(testdata("migrate/judged.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Cases whose class was computed by the real istiod in the bottle instead of the recorder.
pub(crate) fn bottled() -> Vec<Json> {
    let text = fs::read_to_string(testdata("migrate/bottled.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn report_of(case: &Json, accept: Accept) -> Report {
    migrated(&input(case), Release::NEWEST, accept)
}

/// A kind that was not read does not count as absent: a move that depends on it is at best `differs`.
fn unread_kinds_lower_the_class_by(share: Share) {
    let kinds = ["AuthorizationPolicy", "RequestAuthentication", "Telemetry", "VirtualService", "DestinationRule"];
    let unread = kinds.map(|kind| (kind, format!("the capture contains no {kind} objects")));
    let mut lowered = 0;
    for case in &share.of(all_recorded()) {
        let loaded = input(case);
        let request = Request { accept: Accept::SameBut, ..request(&loaded) };
        let all = migrate::migrate(&request).unwrap();
        let some = migrate::migrate(&Request { unread: unread.clone().into(), ..request }).unwrap();
        for (all, some) in all.filters[0].patches.iter().zip(&some.filters[0].patches) {
            let touches =
                all.found.homes.iter().any(|home| kinds.contains(&home.kind)) && !all.found.actions.is_empty();
            if all.written && touches {
                lowered += 1;
                assert!(some.class >= Class::Differs && !some.written, "{}: {some:#?}", case["id"]);
                let guards = &some.found.guards;
                let reported =
                    guards.iter().any(|one| one.state == State::Undecided && one.reason.contains("unknown whether"));
                assert!(reported, "{}: {guards:#?}", case["id"]);
            }
        }
    }
    assert!(lowered > share.least(10), "{lowered}");
}

in_part_and_in_full!(
    unread_kinds_lower_the_class,
    unread_kinds_lower_the_class_in_full,
    unread_kinds_lower_the_class_by
);

fn reasons(report: &Report) -> String {
    let mut text = String::new();
    for patch in &report.filters[0].patches {
        text += &format!("\n      [{}] {} {}", patch.index, patch.found.pattern.id, patch.class);
        for one in &patch.found.differences {
            text += &format!("\n         {}: {}", one.kind.name(), one.effect);
        }
        for one in patch.found.guards.iter().filter(|guard| guard.state != State::Held) {
            text += &format!("\n         {} {}: {}", one.concern.name(), one.state.name(), one.reason);
        }
        for note in &patch.found.notes {
            text += &format!("\n         note: {note}");
        }
    }
    text
}

fn every_recorded_pair_has_its_class_by(share: Share) {
    let mut faults = Vec::new();
    let mut listed: BTreeSet<&str> = other_class().map(|(id, ..)| *id).collect();
    let cases = share.of(all_recorded());
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let report = report_of(case, Accept::Exact);
        assert_eq!(report.filters.len(), 1, "{id}");
        let have = report.filters[0].class;
        let other = other_class().find(|(other, ..)| *other == id);
        listed.remove(id);
        let want = other.map_or(case["class"].as_str().unwrap(), |(_, class, _)| class);
        if have != class(want) {
            faults.push(format!("{id}: {have}, recorded {want}{}", reasons(&report)));
        }
        assert!(have != Class::Exact || other.is_some() || case["class"] == "exact", "{id}: an `exact` that is not");
    }
    assert!(share == Share::Part || listed.is_empty(), "no such cases: {listed:?}");
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), cases.len(), faults.join("\n"));
}

in_part_and_in_full!(
    every_recorded_pair_has_its_class,
    every_recorded_pair_has_its_class_in_full,
    every_recorded_pair_has_its_class_by
);

/// The part of an object that is compared.
fn essence(object: &Json) -> Json {
    let mut spec = object["spec"].clone();
    if object["kind"] == "EnvoyFilter" {
        spec = json!(object["spec"]["configPatches"].as_array().map_or(0, Vec::len));
    }
    json!({ "kind": object["kind"], "namespace": object["metadata"]["namespace"], "spec": spec, "annotations": object["metadata"]["annotations"] })
}

/// Without names of providers, which this tool chooses.
fn without_provider_names(value: &Json) -> Json {
    let mut text = value.to_string();
    for provider in value["mesh"]["extensionProviders"].as_array().into_iter().flatten() {
        text = text.replace(provider["name"].as_str().unwrap(), "provider");
    }
    serde_json::from_str(&text).unwrap()
}

fn ours(report: &Report) -> Json {
    let draft = &report.draft;
    let mut objects: Vec<String> = draft
        .made
        .iter()
        .filter(|made| made.object["kind"] != "ProxyConfig")
        .map(|made| essence(&made.object).to_string())
        .chain(
            draft
                .edited
                .iter()
                .filter(|one| {
                    one.after["kind"] != "Gateway"
                        || one.after["apiVersion"].as_str().unwrap().starts_with("networking")
                })
                .map(|one| essence(&one.after).to_string()),
        )
        .chain(report.filters.iter().filter_map(|filter| match &filter.after {
            After::Smaller(smaller) => Some(essence(smaller).to_string()),
            _ => None,
        }))
        .collect();
    objects.sort();
    json!({ "objects": objects, "mesh": draft.mesh.as_ref().map(|(settings, _)| settings) })
}

fn theirs(case: &Json) -> Json {
    let native = &case["native"];
    let mut objects: Vec<String> =
        yaml(native["resources"].as_str().unwrap_or_default()).iter().map(|one| essence(one).to_string()).collect();
    objects.sort();
    json!({ "objects": objects, "mesh": yaml(native["mesh"].as_str().unwrap_or_default()).into_iter().next() })
}

fn sorted(value: &Json) -> Json {
    match value {
        Json::Object(map) => {
            let sorted: BTreeMap<&String, Json> = map.iter().map(|(key, value)| (key, sorted(value))).collect();
            json!(sorted)
        }
        Json::Array(items) => items.iter().map(sorted).collect(),
        Json::String(text) => match serde_json::from_str::<Json>(text) {
            Ok(Json::Object(map)) => sorted(&Json::Object(map)),
            _ => value.clone(),
        },
        other => other.clone(),
    }
}

/// Everything that is written by default was recorded as exact or as same-but: nothing wider, nothing else.
fn only_recorded_moves_are_written_by(share: Share) {
    let mut faults = Vec::new();
    for case in share.of(all_recorded()) {
        let id = case["id"].as_str().unwrap();
        let report = report_of(&case, Accept::SameBut);
        if other_class().any(|(other, ..)| *other == id) || OTHER_FORM.iter().any(|(other, _)| *other == id) {
            continue;
        }
        let written = report.filters[0].patches.iter().any(|patch| patch.written);
        if !written {
            continue;
        }
        let (have, want) =
            (sorted(&without_provider_names(&ours(&report))), sorted(&without_provider_names(&theirs(&case))));
        let by_mesh = case["native"]["mesh"].as_str().is_some() && case["native"]["resources"].is_null();
        let pods = case["native"]["pods"].as_object().is_some_and(|pods| !pods.is_empty())
            || case["native"]["metadata"].is_object();
        if pods || (by_mesh && !report.draft.pods.is_empty()) {
            continue;
        }
        if have != want {
            faults.push(format!("{id}:\n   have {have}\n   want {want}"));
        }
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}

in_part_and_in_full!(
    only_recorded_moves_are_written,
    only_recorded_moves_are_written_in_full,
    only_recorded_moves_are_written_by
);

/// Pod settings equal the recorded ones.
#[test]
fn pod_settings_are_those_recorded() {
    let mut seen = 0;
    for case in all_recorded() {
        let id = case["id"].as_str().unwrap();
        let Some(pods) = case["native"]["pods"].as_object() else { continue };
        let report = report_of(&case, Accept::SameBut);
        for settings in &report.draft.pods {
            let want = yaml(pods.values().next().unwrap().as_str().unwrap()).remove(0);
            assert_eq!(sorted(&settings.config), sorted(&want), "{id}");
            seen += 1;
        }
    }
    assert!(seen > 15, "only {seen} cases have pod settings");
}

/// A refused move is never written, whatever is accepted; moves of authentication, authorization and TLS only when
/// reviewed.
fn refused_moves_are_never_written_by(share: Share) {
    for case in share.of(all_recorded()) {
        let id = case["id"].as_str().unwrap();
        for accept in [Accept::Exact, Accept::SameBut, Accept::Differs, Accept::Reviewed] {
            let report = report_of(&case, accept);
            for patch in report.filters.iter().flat_map(|filter| &filter.patches) {
                let has = |state| patch.found.guards.iter().any(|guard| guard.state == state);
                assert!(!(patch.written && has(State::Broken)), "{id}: a refused move is written");
                assert!(!(patch.written && has(State::Review) && accept < Accept::Reviewed), "{id}: unreviewed");
            }
        }
    }
}

in_part_and_in_full!(
    refused_moves_are_never_written,
    refused_moves_are_never_written_in_full,
    refused_moves_are_never_written_by
);

/// In an older release, missing APIs give no-home; everything else keeps its recorded class.
fn older_releases_offer_what_they_have_by(share: Share) {
    let text = fs::read_to_string(testdata("migrate/releases/1.27.jsonl")).unwrap();
    let recorded: BTreeMap<String, String> = text
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap())
        .map(|one| (one["id"].as_str().unwrap().to_owned(), one["class"].as_str().unwrap().to_owned()))
        .collect();
    let mut faults = Vec::new();
    for case in share.of(all_recorded()) {
        let id = case["id"].as_str().unwrap();
        let Some(want) = recorded.get(id) else { continue };
        let report = migrated(&input(&case), Release::minor(27), Accept::Exact);
        let have = report.filters[0].class;
        let same = have == class(want) || other_class().any(|(other, name, _)| *other == id && have == class(name));
        // The recorder of 1.27 drops unknown kinds and fields: the filter then simply has no replacement.
        let lacking = have == Class::NoHome && want == "differs" || have == Class::NoHome && want == "partly";
        if !same && !lacking {
            faults.push(format!("{id}: {have}, recorded {want}{}", reasons(&report)));
        }
        assert!(have != Class::Exact || want == "exact" || other_class().any(|(other, ..)| *other == id), "{id}");
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}

in_part_and_in_full!(
    older_releases_offer_what_they_have,
    older_releases_offer_what_they_have_in_full,
    older_releases_offer_what_they_have_by
);

/// The classes of HTTPRoutes that istiod 1.30 computed (`bottle::proof`), by the id of a case.
pub(crate) fn computed_by_1_30() -> BTreeMap<String, Json> {
    let text = fs::read_to_string(testdata("migrate/releases/1.30.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    lines.map(|one| (one["id"].as_str().unwrap().to_owned(), one)).collect()
}

/// In 1.30, HTTPRoutes have their listed classes, none of which is better than computed.
#[test]
fn routes_have_their_class_in_1_30() {
    let mut listed = computed_by_1_30();
    for case in judged() {
        let id = case["id"].as_str().unwrap();
        let Some(one) = listed.remove(id) else { continue };
        let report = migrated(&input(&case), Release::minor(30), Accept::SameBut);
        let have = report.filters[0].class;
        assert_eq!(json!(have.name()), one["class"], "{id}{}", reasons(&report));
        if let Some(computed) = one["computed"].as_str() {
            assert!(have >= class(computed), "{id}: {have}, computed {computed}");
        }
    }
    assert!(listed.is_empty(), "{listed:?}");
}

/// A configuration: the base dump of a topology with the recorded changes.
fn resources(base: &BTreeMap<String, Resources>, changes: &Json) -> BTreeMap<String, Resources> {
    let mut all = base.clone();
    for (proxy, kinds) in changes["proxies"].as_object().unwrap() {
        for (kind, one) in kinds.as_object().unwrap() {
            let into = all.get_mut(proxy).unwrap().entry(kind.clone()).or_default();
            for (name, value) in one.as_object().unwrap() {
                if value.is_null() {
                    into.remove(name);
                } else {
                    into.insert(name.clone(), value.clone());
                }
            }
        }
    }
    all
}

fn base(topology: &str) -> BTreeMap<String, Resources> {
    let mut all = BTreeMap::new();
    for (name, dump) in dumps(&testdata("reference").join(topology)) {
        let config = dump.config(&Identity::default()).unwrap();
        let mut of: Resources = BTreeMap::new();
        for one in config.resources.iter() {
            let kind = match one.kind.as_str() {
                "extension config" => "ecds",
                word => word,
            };
            let mut value: Json = serde_json::from_str(one.json.read()).unwrap();
            value.as_object_mut().unwrap().shift_remove("@type");
            of.entry(kind.to_owned()).or_default().insert(one.name.to_string(), value);
        }
        all.insert(name, of);
    }
    all
}

/// Comparing two configurations gives the recorded class, from the two recorded results alone.
fn recorded_results_compared_give_the_recorded_class_by(share: Share) {
    let bases: BTreeMap<&str, BTreeMap<String, Resources>> =
        ["shop", "ambient", "gwapi"].into_iter().map(|name| (name, base(name))).collect();
    let mut faults = Vec::new();
    let mut compared = 0;
    for case in share.of(recorded(&testdata("migrate/recorded.jsonl"))) {
        let id = case["id"].as_str().unwrap();
        let want = class(case["class"].as_str().unwrap());
        if matches!(want, Class::NoHome | Class::Partly) || case["with_native"].is_null() {
            continue;
        }
        let base = &bases[case["topology"].as_str().unwrap()];
        let (before, after) = (resources(base, &case["with_filter"]), resources(base, &case["with_native"]));
        let own: Vec<Effect> = case["effects"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|rule| {
                let text = |key: &str| rule[key].as_str().unwrap_or_default();
                Effect::new(text("at"), text("op"), text("value"), text("is"), text("effect")).unwrap()
            })
            .collect();
        let renamed: BTreeMap<String, String> =
            serde_json::from_value(case["renames"]["cluster"].clone()).unwrap_or_default();
        let mut differences = Vec::new();
        for (proxy, one) in &before {
            for found in compare::differences(one, &after[proxy], &renamed) {
                differences.push(compare::explain(proxy, &found, &own));
            }
        }
        compared += 1;
        let have = compare::class(&differences);
        if have != want {
            let reported: Vec<&str> = differences.iter().map(|one| one.effect.as_str()).collect();
            faults.push(format!("{id}: {have}, recorded {want}: {reported:?}"));
        }
    }
    assert!(compared > share.least(90), "{compared}");
    assert!(faults.is_empty(), "{} of {compared}:\n{}", faults.len(), faults.join("\n"));
}

in_part_and_in_full!(
    recorded_results_compared_give_the_recorded_class,
    recorded_results_compared_give_the_recorded_class_in_full,
    recorded_results_compared_give_the_recorded_class_by
);
