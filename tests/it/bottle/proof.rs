//! `migrate --prove istiod`: istiod computes for the objects what the recordings of a pattern say.

use super::commands::run;
use super::{istiod, open};
use crate::migrate::{
    BETTER_FORM, REACHES_FURTHER, all_recorded, bottled, computed_by_1_30, input_texts, judged, yaml,
};
use crate::support::{recorded, testdata};
use kubectl_envoyfilter::bottle::{Wanted, proxies};
use kubectl_envoyfilter::migrate::compare::{self, Resources};
use kubectl_envoyfilter::migrate::verdict::Kind;
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::ResourceKind;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Every nth recorded case is proven; with `ALL_CASES`, every one.
const EVERY: usize = 5;

pub(super) const ORDER: [&str; 5] = ["exact", "same-but", "differs", "partly", "no-home"];

pub(super) fn rank(class: &Json) -> usize {
    let class = class.as_str().unwrap();
    ORDER.iter().position(|one| *one == class).unwrap_or_else(|| panic!("no class {class}"))
}

/// The input of a case as a folder of manifests.
fn folder_of(case: &Json) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in input_texts(case) {
        fs::write(folder.path().join(format!("{name}.yaml")), text).unwrap();
    }
    folder
}

/// Every nth shape of `testdata/migrate/shapes.jsonl` is proven; with `ALL_CASES`, every one.
const EVERY_SHAPE: usize = 16;

/// istiod computes the recorded results for the cases of `testdata/migrate/bottled.jsonl`.
#[test]
#[ignore = "needs Go: .ci/run"]
fn bottled_cases_are_what_istiod_computes() {
    let istiod = istiod("1.31");
    let mut computed = 0;
    for case in bottled() {
        let have = &proof(&istiod, &case, "reviewed")["filters"][0]["proof"];
        assert_eq!(*have, case["proof"], "{}: {have:#}", case["id"]);
        if have.is_object() {
            computed += 1;
            // What takes effect for the first time moves only when that is accepted.
            let class = case.get("reviewed").unwrap_or(&case["class"]);
            assert_eq!((&have["class"], &have["beyond"]), (class, &json!([])), "{}", case["id"]);
        }
    }
    assert!(computed >= 7, "{computed}");
}

/// Two equal configurations prove nothing if the filter changes no proxy.
#[test]
#[ignore = "needs Go: .ci/run"]
fn a_filter_that_changes_no_proxy_is_not_proven() {
    let istiod = istiod("1.31");
    let mut case = bottled().into_iter().find(|case| case["id"] == "tracing/gateway-sampling").unwrap();
    let text = case["filters"].as_str().unwrap().replace("istio: ingressgateway", "istio: nobody");
    case["filters"] = text.into();
    let filter = &proof(&istiod, &case, "differs")["filters"][0];
    let why = filter["proof"]["notComputed"].as_str().unwrap_or_else(|| panic!("{filter:#}"));
    assert!(why.contains("changes no proxy of these objects"), "{why}");
    assert_eq!(filter["class"], "differs", "{filter:#}");
    let filter = &proof(&istiod, &case, "same-but")["filters"][0];
    assert_eq!((&filter["class"], &filter["patches"][0]["written"]), (&json!("differs"), &json!(false)), "{filter:#}");
}

/// istiod computes the listed results for the additional shapes.
#[test]
#[ignore = "needs Go: .ci/run"]
fn shapes_are_computed_as_listed() {
    let istiod = istiod("1.31");
    let every = if std::env::var_os("ALL_CASES").is_some() { 1 } else { EVERY_SHAPE };
    let shapes = crate::migrate_result::shapes();
    let mut faults = Vec::new();
    for shape in shapes.iter().filter(|shape| shape["computed"].is_string()).step_by(every) {
        let (id, folder) = (shape["id"].as_str().unwrap(), folder_of(shape));
        let path = folder.path().to_str().unwrap();
        let arguments = ["migrate", path, "--prove", "istiod", "--accept", "reviewed", "-o", "json"];
        let (code, out, err) = run(&istiod, &arguments);
        let report: Json = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{id} {code}: {error}: {err}"));
        let have = &report["filters"][0]["proof"]["class"];
        if *have != shape["computed"] {
            faults.push(format!("{id}: {have}, listed {}", shape["computed"]));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Requests show the difference between a JWT filter and its policies, and show none if nothing differs.
#[test]
#[ignore = "needs Go and an Envoy: .ci/run"]
fn requests_show_the_difference_between_filters_and_objects() {
    let istiod = istiod("1.31");
    let envoy = crate::behaviour::envoy();
    let cases = recorded(&testdata("migrate/recorded.jsonl"));
    for (id, apart) in [
        ("jwt/with-authorization", true),
        ("trusted-hops/gateway", false),
        ("lua/sidecar-inbound", false),
        ("rbac/deny-second-next-to-allow", false),
        ("route-headers/gateway-remove", false),
        ("direct-response/both-ports", false),
    ] {
        let case = cases.iter().find(|case| case["id"] == id).unwrap();
        let folder = folder_of(case);
        let path = folder.path().to_str().unwrap();
        let arguments =
            ["migrate", path, "--prove", "traffic", "--envoy", &envoy, "--accept", "reviewed", "-o", "json"];
        let (code, out, err) = run(&istiod, &arguments);
        let report: Json = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{id} {code}: {error}: {err}"));
        let traffic = &report["filters"][0]["traffic"];
        println!("{id}: {} requests", traffic["requests"]);
        assert!(traffic["requests"].as_u64().is_some_and(|number| number > 2), "{id}: {traffic:#}");
        let sent = traffic["sent"].as_array().unwrap();
        assert_eq!(traffic["requests"].as_u64(), u64::try_from(sent.len()).ok(), "{id}: {traffic:#}");
        let reported = traffic["apart"].as_array().unwrap();
        assert_eq!(!reported.is_empty(), apart, "{id}: {traffic:#}");
        if apart {
            let missing = reported.iter().any(|one| {
                one["filter"].as_str().unwrap().starts_with("401") && one["native"].as_str().unwrap().starts_with("403")
            });
            assert!(missing, "{traffic:#}");
        }
    }
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn nothing_is_worse_than_its_class() {
    let istiod = istiod("1.31");
    let every = if std::env::var_os("ALL_CASES").is_some() { 1 } else { EVERY };
    // Those of the other file were classified by hand.
    let cases = recorded(&testdata("migrate/recorded.jsonl"));
    let good = cases.iter().filter(|case| ["exact", "same-but"].contains(&case["class"].as_str().unwrap()));
    // The recorder turns off some ambient features that istiod's own flag turns on.
    let good = good.filter(|case| case["topology"] == "shop");
    // Differences classified by hand for one case count as behavior when they are computed.
    let good = good.filter(|case| case["effects"].as_array().is_none_or(Vec::is_empty));
    let (mut computed, mut not, mut faults) = (0, 0, Vec::new());
    for case in good.step_by(every) {
        let (id, folder) = (case["id"].as_str().unwrap(), folder_of(case));
        let path = folder.path().to_str().unwrap();
        let arguments = ["migrate", path, "--prove", "istiod", "--accept", "reviewed", "-o", "json"];
        let (code, out, err) = run(&istiod, &arguments);
        let report: Json = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{id} {code}: {error}: {err}"));
        assert_eq!(report["scope"]["proof"], "istiod");
        for filter in report["filters"].as_array().unwrap() {
            let proof = &filter["proof"];
            if proof["class"].is_null() {
                // Pod settings reach istiod after a restart; everything else can be computed.
                not += 1;
                assert_ne!(filter["class"], "exact", "{id}: {filter:#}");
                continue;
            }
            computed += 1;
            let claimed: Vec<usize> = filter["patches"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|patch| patch["written"] == json!(true))
                .map(|patch| rank(&patch["class"]))
                .collect();
            let claimed = claimed.into_iter().max().unwrap_or(0);
            // A difference that no rule explains counts as behavior: stricter than the recording, never weaker.
            let explained = proof["differences"].as_array().unwrap().iter().any(|one| {
                one["kind"] == "behavior" && !one["effect"].as_str().unwrap().ends_with("the effect is unknown")
            });
            let worse = rank(&proof["class"]) > claimed && (claimed == 0 || explained);
            if worse || proof["beyond"] != json!([]) {
                faults.push(format!("{id}: {} claimed, {proof:#}", ORDER[claimed]));
            }
        }
    }
    println!("{computed} computed, {not} not");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(computed > 3, "{computed}");
}

/// The result of `--prove istiod` for a case.
fn proof(istiod: &Path, case: &Json, accept: &str) -> Json {
    let (id, folder) = (case["id"].as_str().unwrap(), folder_of(case));
    let path = folder.path().to_str().unwrap();
    let mut arguments = vec!["migrate", path, "--prove", "istiod", "--accept", accept, "-o", "json"];
    arguments.extend(case["to"].as_str().into_iter().flat_map(|to| ["--to", to]));
    let (code, out, err) = run(istiod, &arguments);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{id} {code}: {error}: {err}"))
}

/// Every published filter that moves by default, in its sample mesh: istiod computes the stated class for the filter's
/// proxies, and changes no other proxy.
#[test]
#[ignore = "needs Go: .ci/run"]
fn published_filters_move_as_their_class_says() {
    let istiod = istiod("1.31");
    let (mut computed, mut faults) = (0, Vec::new());
    let cases = crate::migrate_corpus::cases();
    let of = |accept: &'static str, moves: fn(&Json) -> bool| {
        cases.iter().filter(move |case| moves(case)).map(move |case| (case, accept))
    };
    let reviewed: Vec<_> = of("reviewed", crate::migrate_corpus::moves_when_reviewed).collect();
    println!("reviewed: {:?}", reviewed.iter().map(|(case, _)| &case["id"]).collect::<Vec<_>>());
    for (case, accept) in of("same-but", crate::migrate_corpus::moves).chain(reviewed) {
        let report = proof(&istiod, case, accept);
        let (id, filter) = (&case["id"], &report["filters"][0]);
        let proof = &filter["proof"];
        let patches = filter["patches"].as_array().unwrap();
        let claimed =
            patches.iter().filter(|patch| patch["written"] == json!(true)).map(|patch| rank(&patch["class"])).max();
        match claimed {
            Some(claimed) if !proof["class"].is_null() => {
                computed += 1;
                if rank(&proof["class"]) > claimed || proof["beyond"] != json!([]) {
                    faults.push(format!("{id}: {} claimed, {proof:#}", ORDER[claimed]));
                }
            }
            _ => faults.push(format!("{id}: {filter:#}")),
        }
    }
    println!("{computed} computed");
    assert!(faults.is_empty(), "{} of {computed}:\n{}", faults.len(), faults.join("\n"));
    assert!(computed > 25, "{computed}");
}

/// Among other objects and filters, istiod computes no worse class than the stated one for what is written by default.
#[test]
#[ignore = "needs Go: .ci/run"]
fn other_objects_and_filters_are_computed() {
    let istiod = istiod("1.31");
    let (mut computed, mut faults) = (0, Vec::new());
    // Sidecars and waypoints are different proxies: a move to ambient mode is not computed.
    for case in judged().into_iter().filter(|case| case["ambient"] != true) {
        let report = proof(&istiod, &case, "same-but");
        for filter in report["filters"].as_array().unwrap() {
            let name = format!("{}/{}", filter["namespace"].as_str().unwrap(), filter["name"].as_str().unwrap());
            let (one, proof) = (&case["filters_judged"][&name], &filter["proof"]);
            if one["written"] != json!(true) || proof["class"].is_null() {
                continue;
            }
            computed += 1;
            // The differences of filters that it was compared together with are among those found.
            let with = proof["with"].as_array().into_iter().flatten().map(|one| one.as_str().unwrap());
            let claimed =
                with.map(|name| rank(&case["filters_judged"][name]["class"])).fold(rank(&one["class"]), usize::max);
            if rank(&proof["class"]) > claimed || proof["beyond"] != json!([]) {
                faults.push(format!("{} {name}: {} claimed, {proof:#}", case["id"], one["class"]));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(computed > 8, "{computed}");
}

/// What remains of an EnvoyFilter is as old as it was: it still applies after an older one.
#[test]
#[ignore = "needs Go: .ci/run"]
fn what_remains_is_as_old_as_the_filter() {
    let istiod = istiod("1.31");
    let manager = "envoy.filters.network.http_connection_manager";
    let api = "type.googleapis.com/envoy.extensions.filters";
    let patch = |kind: &str, beside: Json, operation: &str, value: Json| {
        let mut filter = json!({ "name": manager });
        if beside.is_string() {
            filter["subFilter"] = json!({ "name": beside });
        }
        json!({ "applyTo": kind, "match": { "context": "SIDECAR_INBOUND", "listener": { "filterChain": { "filter": filter } } },
            "patch": { "operation": operation, "value": value } })
    };
    let size = |size: u32| {
        let of = format!("{api}.network.http_connection_manager.v3.HttpConnectionManager");
        patch(
            "NETWORK_FILTER",
            Json::Null,
            "MERGE",
            json!({ "typed_config": { "@type": of, "max_request_headers_kb": size } }),
        )
    };
    let script = "function envoy_on_request(handle)\nend\n";
    let config =
        json!({ "@type": format!("{api}.http.lua.v3.Lua"), "default_source_code": { "inline_string": script } });
    let lua = json!({ "name": "my.lua", "typed_config": config });
    let lua = patch("HTTP_FILTER", json!("envoy.filters.http.router"), "INSERT_BEFORE", lua);
    let filter = |name: &str, year: u32, patches: Json| {
        json!({ "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": { "name": name, "namespace": "shop", "creationTimestamp": format!("{year}-01-01T00:00:00Z") },
            "spec": { "workloadSelector": { "labels": { "app": "cart" } }, "configPatches": patches } })
    };
    let filters = [filter("older", 2024, json!([size(60)])), filter("younger", 2025, json!([lua, size(96)]))];
    let text = filters.map(|filter| filter.to_string()).join("\n---\n");
    let report = proof(&istiod, &json!({ "id": "ages", "topology": "shop", "filters": text }), "reviewed");
    let proof = &report["filters"].as_array().unwrap().iter().find(|one| one["name"] == "younger").unwrap()["proof"];
    assert_eq!(proof["class"], "same-but", "{proof:#}");
}

/// istiod 1.30 computes the listed classes of HTTPRoutes.
#[test]
#[ignore = "needs Go: .ci/run"]
fn routes_are_computed_by_1_30() {
    let istiod = istiod("1.30");
    let listed = computed_by_1_30();
    let mut faults = Vec::new();
    for case in judged() {
        let id = case["id"].as_str().unwrap();
        let Some(wanted) = listed.get(id).map(|one| &one["computed"]).filter(|wanted| wanted.is_string()) else {
            continue;
        };
        let folder = folder_of(&case);
        let path = folder.path().to_str().unwrap();
        let arguments = ["migrate", path, "--to", "1.30", "--prove", "istiod", "--accept", "reviewed", "-o", "json"];
        let (code, out, err) = run(&istiod, &arguments);
        let report: Json = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{id} {code}: {error}: {err}"));
        let proof = &report["filters"][0]["proof"];
        if (&proof["class"], &proof["beyond"]) != (wanted, &json!([])) {
            faults.push(format!("{id}: {wanted} listed, {proof:#}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// If the written form differs from the recorded one, istiod computes the listed class.
#[test]
#[ignore = "needs Go: .ci/run"]
fn better_forms_have_their_class() {
    let istiod = istiod("1.31");
    for (id, class, _) in BETTER_FORM {
        let case = all_recorded().into_iter().find(|case| case["id"] == *id).unwrap();
        let report = proof(&istiod, &case, "reviewed");
        let proof = &report["filters"][0]["proof"];
        assert!(!proof["class"].is_null() && rank(&proof["class"]) <= rank(&json!(class)), "{id}: {proof:#}");
        assert_eq!(proof["beyond"], json!([]), "{id}");
    }
}

/// What istiod generates for every proxy of some objects.
fn generated(istiod: &Path, documents: Vec<Json>) -> BTreeMap<String, Resources> {
    let mut opened = open(istiod, documents, Release::NEWEST);
    let nodes: Vec<_> = proxies::all(&opened.objects, &opened.common).into_iter().map(|found| found.node).collect();
    let answers = opened.bottle.ask_all(&nodes, &Wanted::default());
    let resources = |answer: &kubectl_envoyfilter::bottle::Configuration| -> Resources {
        let of = |kind: ResourceKind| {
            let read =
                |(name, text): (&String, &std::sync::Arc<str>)| Some((name.clone(), serde_json::from_str(text).ok()?));
            (kind.as_str().to_owned(), answer.of(kind).iter().filter_map(read).collect())
        };
        ResourceKind::ALL.into_iter().map(of).collect()
    };
    nodes.iter().zip(&answers).map(|(node, answer)| (node.full_name(), resources(answer.as_ref().unwrap()))).collect()
}

/// If a class is lower than the recorded one, the recorded native form changes a proxy that the recording did not
/// include: with all proxies of the topology, istiod generates different behavior.
#[test]
#[ignore = "needs Go: .ci/run"]
fn recorded_forms_that_are_refused_reach_further() {
    let istiod = istiod("1.31");
    for (id, ..) in REACHES_FURTHER {
        let case = all_recorded().into_iter().find(|case| case["id"] == *id).unwrap();
        let objects = |native: bool| -> Vec<Json> {
            let texts = input_texts(&case).into_iter().filter(|(name, _)| !native || *name != "filter");
            let mut all: Vec<Json> = texts.flat_map(|(_, text)| yaml(&text)).filter(Json::is_object).collect();
            let more = case["native"]["resources"].as_str().filter(|_| native).map(yaml).unwrap_or_default();
            all.extend(more);
            all
        };
        let (filter, native) = (generated(&istiod, objects(false)), generated(&istiod, objects(true)));
        let mut changed = BTreeSet::new();
        for (proxy, before) in &filter {
            for one in compare::differences(before, &native[proxy], &BTreeMap::new()) {
                if compare::explain(proxy, &one, &[]).kind == Kind::Behavior {
                    changed.insert(proxy.as_str());
                }
            }
        }
        println!("{id}: {changed:?}");
        let recorded: BTreeSet<&str> = ["cart-1.shop", "shop/cart-1"].into();
        assert!(changed.difference(&recorded).count() > 0, "{id}: no other proxy changes");
    }
}
