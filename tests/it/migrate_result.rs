//! The results of a migration: nothing is left to migrate afterwards, published filters by class, the
//! newest types.

use crate::linting::{Proxies, expect};
use crate::migrate::{all_recorded, input, input_texts, merge, migrated, yaml};
use crate::support::{Share, testdata};
use kubectl_envoyfilter::load::{self, Loaded};
use kubectl_envoyfilter::migrate::verdict::{Class, State};
use kubectl_envoyfilter::migrate::{self, Accept, After, Report};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::source::Severity;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// The shapes, as cases on the topology `shop`.
pub(crate) fn shapes() -> Vec<Json> {
    let text = fs::read_to_string(testdata("migrate/shapes.jsonl")).unwrap();
    let shape = |line: &str| {
        let mut shape: Json = serde_json::from_str(line).unwrap();
        shape["topology"] = "shop".into();
        shape
    };
    text.lines().map(shape).collect()
}

/// The kind, namespace and name of an object.
fn key(object: &Json) -> (String, String, String) {
    let text = |path: &str| object.pointer(path).and_then(Json::as_str).unwrap_or_default().to_owned();
    (text("/kind"), text("/metadata/namespace"), text("/metadata/name"))
}

/// The objects after the rollout of a migration.
fn rolled_out(case: &Json, report: &Report) -> Loaded {
    let changed: BTreeMap<_, _> = report.draft.edited.iter().map(|one| (key(&one.after), one.after.clone())).collect();
    let mut objects = Vec::new();
    for (_, text) in input_texts(case) {
        for mut object in yaml(&text) {
            if object["kind"] == "EnvoyFilter" {
                let own = report.filters.iter().find(|filter| object["metadata"]["name"] == filter.name.as_str());
                match own.map(|filter| &filter.after) {
                    Some(After::Delete) => continue,
                    Some(After::Smaller(smaller)) => object = smaller.clone(),
                    _ => {}
                }
            } else if let Some(after) = changed.get(&key(&object)) {
                object = after.clone();
            } else if object["kind"] == "ConfigMap"
                && let Some((settings, _)) = &report.draft.mesh
            {
                let mut mesh = yaml(object["data"]["mesh"].as_str().unwrap()).remove(0);
                match &report.mesh_config {
                    Some((_, after)) => mesh = after.clone(),
                    None => merge(&mut mesh, settings),
                }
                object["data"]["mesh"] = mesh.to_string().into();
            }
            objects.push(object);
        }
    }
    objects.extend(report.draft.made.iter().map(|made| made.object.clone()));
    loaded_of(objects)
}

/// How often each filter has an error or a warning of a code.
fn complaints(loaded: &Loaded, proxies: &Proxies) -> BTreeMap<(String, &'static str), Vec<String>> {
    let mut all: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for one in proxies.lint(loaded).into_iter().filter(|one| one.severity >= Severity::Warning) {
        all.entry((one.filter, one.rule.code)).or_default().push(one.message);
    }
    all
}

/// Documents as one input.
fn loaded_of(objects: impl IntoIterator<Item = Json>) -> Loaded {
    let mut loaded = Loaded::default();
    for (number, object) in objects.into_iter().enumerate() {
        loaded.add_text(&format!("{number}.yaml"), object.to_string(), &load::Options::default());
    }
    loaded
}

/// No filter has more errors or warnings of a code than it had before.
fn no_worse(id: &str, how: &str, before: &Loaded, after: &Loaded, proxies: &Proxies) {
    let (old, new) = (complaints(before, proxies), complaints(after, proxies));
    let worse: Vec<_> = new.iter().filter(|(key, list)| list.len() > old.get(*key).map_or(0, Vec::len)).collect();
    assert!(worse.is_empty(), "{id}, {how}: {worse:#?} after the move");
}

/// After the rollout everything can be read, `migrate` writes nothing, and no filter has an error or a warning that it did
/// not have: neither among the objects, nor in what `-o yaml` writes.
pub(crate) fn left_to_do(case: &Json, before: &Loaded, report: &Report, accept: Accept, proxies: &Proxies) {
    let (id, after) = (case["id"].as_str().unwrap(), rolled_out(case, report));
    let problems = |loaded: &Loaded| loaded.problems.iter().filter(|one| one.severity == Severity::Error).count();
    assert!(problems(&after) <= problems(before), "{id}: {:?}", after.problems);
    let second = migrated(&after, Release::NEWEST, accept);
    let second: Vec<_> = second.filters.iter().flat_map(|one| &one.patches).filter(|one| one.written).collect();
    assert!(second.is_empty(), "{id}: {second:#?}");
    no_worse(id, "among the objects", before, &after, proxies);
    let mut out = Vec::new();
    kubectl_envoyfilter::report::migrate::yaml(&mut out, report).unwrap();
    let written = loaded_of(yaml(&String::from_utf8(out).unwrap()));
    let filters = before.inventory.envoy_filters.iter().map(|filter| filter.document.to_json());
    no_worse(id, "alone", &loaded_of(filters), &written, proxies);
}

/// `migrate` writes nothing for its own result, and the rest has no more lint findings than the filter had.
fn nothing_is_left_to_do_by(share: Share) {
    let proxies = Proxies::new(&[], Release::NEWEST);
    let mut written = 0;
    for case in share.of(all_recorded()) {
        let mut before = Loaded::default();
        for (name, text) in input_texts(&case) {
            before.add_text(name, text, &load::Options::default());
        }
        for accept in [Accept::SameBut, Accept::Reviewed] {
            let first = migrated(&before, Release::NEWEST, accept);
            if !first.filters.iter().any(|filter| filter.patches.iter().any(|patch| patch.written)) {
                continue;
            }
            written += 1;
            left_to_do(&case, &before, &first, accept, &proxies);
        }
    }
    assert!(written > share.least(100), "{written}");
}

in_part_and_in_full!(nothing_is_left_to_do, nothing_is_left_to_do_in_full, nothing_is_left_to_do_by);

/// The number of filters, and of patches of each pattern, in each class.
pub(crate) fn tables(filters: &BTreeMap<Class, usize>, patches: &BTreeMap<&str, BTreeMap<Class, usize>>) -> String {
    let mut out = String::new();
    for (class, number) in filters {
        writeln!(out, "{:<10}{number:>5}", class.name()).unwrap();
    }
    writeln!(out, "\npatches by pattern: exact, same-but, differs, partly, no-home").unwrap();
    for (pattern, classes) in patches {
        let counts: Vec<String> =
            Class::ALL.iter().map(|class| format!("{:>4}", classes.get(class).unwrap_or(&0))).collect();
        writeln!(out, "{pattern:<22}{}", counts.concat()).unwrap();
    }
    out
}

/// The recorded classes of an older release, by case.
fn recorded_by(release: &str) -> BTreeMap<String, String> {
    let text = fs::read_to_string(testdata(&format!("migrate/releases/{release}.jsonl"))).unwrap();
    let cases = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let pair = |one: Json| (one["id"].as_str().unwrap().to_owned(), one["class"].as_str().unwrap().to_owned());
    cases.map(pair).collect()
}

/// A row of the documentation's table of patterns.
#[derive(Default)]
struct Row {
    title: &'static str,
    native: &'static str,
    follow: &'static str,
    classes: BTreeMap<Class, usize>,
}

/// The documentation lists every pattern with the classes of its cases.
fn documented(rows: &BTreeMap<&str, Row>) {
    const MARKS: [&str; 2] = ["<!-- patterns -->\n", "<!-- end -->\n"];
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/migrate.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut table =
        String::from("| Pattern | What the patch does | Native API | Classes of the cases |\n|---|---|---|---|\n");
    for (id, row) in rows {
        let follow = if row.follow.is_empty() { String::new() } else { format!(" ([discussion]({}))", row.follow) };
        let classes: Vec<&str> = row.classes.keys().map(|class| class.name()).collect();
        writeln!(table, "| `{id}` | {} | {}{follow} | {} |", row.title, row.native, classes.join(", ")).unwrap();
    }
    let (before, rest) = page.split_once(MARKS[0]).unwrap();
    let (_, after) = rest.split_once(MARKS[1]).unwrap();
    expect(&path, &format!("{before}{}{table}{}{after}", MARKS[0], MARKS[1]));
}

/// Cases that are also in the folder of their pattern: where they come from in its files, and their names there.
const BESIDES: [(&str, &str); 2] = [("shape", "shapes.jsonl"), ("among", "judged.jsonl")];

fn besides(kind: &str, case: &Json) -> String {
    format!("{kind}-{}", case["id"].as_str().unwrap().replace('/', "-"))
}

/// An additional case in the folder of its pattern: its filters and other objects, the classes, and the written objects.
pub(crate) fn in_its_folder(kind: &str, case: &Json, report: &Report, classes: &[String]) {
    let first = report.filters.iter().find_map(|filter| filter.patches.first());
    let folder = testdata("migrate").join(first.map_or("other", |patch| patch.found.pattern.id));
    let mut text =
        format!("# {}\n# on: {}\n", case["id"].as_str().unwrap(), case["topology"].as_str().unwrap_or("none"));
    classes.iter().for_each(|line| writeln!(text, "# {line}").unwrap());
    for line in case["setup"]["mesh"].as_str().unwrap_or_default().trim_end().lines() {
        writeln!(text, "# meshConfig: {line}").unwrap();
    }
    let others = [&case["objects"], &case["setup"]["resources"], &case["filters"]];
    let objects: Vec<String> = others
        .into_iter()
        .filter_map(Json::as_str)
        .flat_map(yaml)
        .filter(Json::is_object)
        .map(|object| load::yaml_text::write(&object).unwrap())
        .collect();
    text += &objects.join("---\n");
    let mut out = Vec::new();
    kubectl_envoyfilter::report::migrate::yaml(&mut out, report).unwrap();
    for (ending, text) in [("yaml", text), ("out", String::from_utf8(out).unwrap())] {
        expect(&folder.join(format!("{}.{ending}", besides(kind, case))), &text);
    }
}

/// Each pattern has a folder with its cases: the filter, the computed and recorded classes, and the written objects.
fn patterns_have_their_folders_by(share: Share) {
    let older = recorded_by("1.27");
    let update = std::env::var_os("UPDATE").is_some();
    let mut files = BTreeSet::new();
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    for case in share.or_whole_to_update().of(all_recorded()) {
        let id = case["id"].as_str().unwrap();
        let loaded = input(&case);
        let report = migrated(&loaded, Release::NEWEST, Accept::Reviewed);
        let filter = &report.filters[0];
        // If nothing can be read as a patch, the case names its pattern.
        let named = || case["pattern"].as_str().unwrap();
        let pattern = filter.patches.first().map_or_else(named, |patch| patch.found.pattern.id);
        if let Some(patch) = filter.patches.first() {
            let one = patch.found.pattern;
            let row = rows.entry(one.id).or_default();
            (row.title, row.native, row.follow) = (one.title, one.native, one.follow);
            *row.classes.entry(filter.class).or_default() += 1;
        }
        let folder = testdata("migrate").join(pattern);
        if update {
            fs::create_dir_all(&folder).unwrap();
        }
        let name = id.replace('/', "-");
        let mut recorded = format!("{} by istiod 1.31", case["class"].as_str().unwrap());
        if let Some(class) = older.get(id) {
            write!(recorded, ", {class} by istiod 1.27").unwrap();
        }
        let head = format!(
            "# {}\n# on: {}\n# class: {}\n# recorded: {recorded}\n",
            case["title"].as_str().unwrap_or(id).replace('\n', " "),
            case["topology"].as_str().unwrap(),
            filter.class.name(),
        );
        let source = format!("{head}{}\n", case["filters"].as_str().unwrap().trim_end());
        let mut out = Vec::new();
        kubectl_envoyfilter::report::migrate::yaml(&mut out, &report).unwrap();
        for (ending, text) in [("yaml", source), ("out", String::from_utf8(out).unwrap())] {
            let path = folder.join(format!("{name}.{ending}"));
            expect(&path, &text);
            files.insert(path);
        }
    }
    if share == Share::Part && !update {
        return;
    }
    // Those of the other files are compared where they are migrated.
    let mut others = BTreeSet::new();
    for (kind, file) in BESIDES {
        let lines = fs::read_to_string(testdata("migrate").join(file)).unwrap();
        let cases = lines.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        others
            .extend(cases.flat_map(|case| ["yaml", "out"].map(|ending| format!("{}.{ending}", besides(kind, &case)))));
    }
    let mut folders = 0;
    for folder in fs::read_dir(testdata("migrate")).unwrap().map(|entry| entry.unwrap().path()) {
        if folder.is_dir() && !folder.ends_with("releases") {
            folders += 1;
            for file in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
                let name = file.file_name().unwrap().to_str().unwrap();
                assert!(files.contains(&file) || others.remove(name), "{} belongs to no case", file.display());
            }
        }
    }
    assert!(update || others.is_empty(), "no files in the folders of the patterns: {others:?}");
    assert!(folders >= 47, "{folders} patterns");
    documented(&rows);
}

in_part_and_in_full!(patterns_have_their_folders, patterns_have_their_folders_in_full, patterns_have_their_folders_by);

/// The classes of the additional shapes (`testdata/migrate/shapes.jsonl`), never better than what istiod computed for
/// them.
fn other_shapes_have_their_class_by(share: Share) {
    let proxies = Proxies::new(&[], Release::NEWEST);
    let (mut computed, mut guards) = (0, 0);
    for shape in share.of(shapes()) {
        let id = shape["id"].as_str().unwrap();
        let loaded = input(&shape);
        let mut report = migrated(&loaded, Release::NEWEST, Accept::Reviewed);
        let mut classes = vec![format!("class: {}", report.filters[0].class.name())];
        classes.extend(shape["computed"].as_str().map(|class| format!("computed: {class} by istiod 1.31")));
        in_its_folder("shape", &shape, &report, &classes);
        if report.filters[0].patches.iter().any(|patch| patch.written) {
            left_to_do(&shape, &loaded, &report, Accept::Reviewed, &proxies);
        }
        let filter = report.filters.remove(0);
        assert_eq!(filter.class.name(), shape["class"], "{id}");
        if let Some(wanted) = shape["written"].as_bool() {
            guards += 1;
            let default = migrated(&loaded, Release::NEWEST, Accept::SameBut).filters.remove(0);
            assert_eq!(default.patches.iter().any(|patch| patch.written), wanted, "{id}");
            let review = |patch: &migrate::PatchReport| {
                patch.found.guards.iter().any(|guard| matches!(guard.state, State::Review | State::Broken))
            };
            assert!(!(wanted && default.patches.iter().any(review)), "{id}");
        }
        if let Some(class) = shape["computed"].as_str() {
            computed += 1;
            let class = Class::ALL.into_iter().find(|one| one.name() == class).unwrap();
            assert!(filter.class >= class, "{id}: istiod computes {class}");
        }
    }
    assert!(computed > share.least(150) && guards >= share.least(25), "{computed}, {guards}");
}

in_part_and_in_full!(
    other_shapes_have_their_class,
    other_shapes_have_their_class_in_full,
    other_shapes_have_their_class_by
);

/// Old names, types and fields are rewritten if the effect stays; a filter that would take effect is reported and not
/// written.
#[test]
fn remaining_patches_use_the_newest_types() {
    let filter = |name: &str, config: &Json, manager: &str| {
        json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": { "name": name, "namespace": "shop" },
            "spec": { "workloadSelector": { "labels": { "app": "cart" } }, "configPatches": [{
                "applyTo": "HTTP_FILTER",
                "match": { "context": "SIDECAR_INBOUND", "listener": { "filterChain": { "filter": {
                    "name": manager, "subFilter": { "name": "envoy.filters.http.router" } } } } },
                "patch": { "operation": "INSERT_BEFORE", "value": { "name": "envoy.filters.http.lua", "typed_config": config } },
            }] },
        })
    };
    let manager = "envoy.filters.network.http_connection_manager";
    let url = "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua";
    let script = "function envoy_on_request(handle)\nend\n";
    // `source_codes` has no native field, so both stay.
    let codes = json!({ "other": { "inline_string": script } });
    let old_field = json!({ "@type": url, "inline_code": script, "source_codes": codes });
    let new_field = json!({ "@type": url, "default_source_code": { "inline_string": script }, "source_codes": codes });
    let no_buffer = json!({ "@type": "type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer", "max_request_bytes": 0 });
    // The untyped configuration of the v2 API, in braces as JSON.
    let mut untyped = filter("untyped", &json!({}), manager);
    untyped["spec"]["configPatches"][0]["patch"]["value"] =
        json!({ "name": "envoy.filters.http.buffer", "config": { "maxRequestBytes": 9 } });
    let first_api = json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": { "name": "first", "namespace": "shop" },
        "spec": { "workloadLabels": { "app": "cart" }, "filters": [{
            "listenerMatch": { "listenerType": "SIDECAR_INBOUND" },
            "filterName": "envoy.lua", "filterType": "HTTP", "filterConfig": { "inlineCode": script },
        }] },
    });
    let mut faulty = first_api.clone();
    faulty["metadata"]["name"] = "faulty".into();
    faulty["spec"]["filters"][0] =
        json!({ "filterName": "envoy.wasm", "filterType": "HTTP", "filterConfig": { "vm": "null" } });
    let folder = tempfile::tempdir().unwrap();
    for (name, object) in [
        ("faulty", faulty),
        ("field", filter("field", &old_field, manager)),
        ("name", filter("name", &new_field, "envoy.http_connection_manager")),
        // It does nothing, so that no proxy rejects the value: the new name must not change that.
        ("rejected", filter("rejected", &no_buffer, "envoy.http_connection_manager")),
        ("newest", filter("newest", &new_field, manager)),
        ("first", first_api),
        ("untyped", untyped),
    ] {
        fs::write(folder.path().join(format!("{name}.yaml")), object.to_string()).unwrap();
    }
    let run = |accept: &str| -> Json {
        let out = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
            .args(["migrate", folder.path().to_str().unwrap(), "--accept", accept, "-o", "json"])
            .output()
            .unwrap();
        serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {out:?}"))
    };
    for accept in ["same-but", "differs"] {
        let report = run(accept);
        let rewrites: BTreeMap<&str, &Json> =
            report["rewrites"].as_array().unwrap().iter().map(|one| (one["filter"].as_str().unwrap(), one)).collect();
        let mut names: Vec<&str> = rewrites.keys().copied().collect();
        // The first API moves to the native API in one run, if the user accepts that it then takes effect.
        let first = report["filters"].as_array().unwrap().iter().find(|one| one["name"] == "first").unwrap();
        if accept == "differs" {
            assert_eq!((&first["after"], &first["class"]), (&json!("delete"), &json!("differs")), "{first:#}");
            assert!(first.to_string().contains("today it does nothing, the native object takes effect"), "{first:#}");
        } else {
            assert_eq!(names.remove(2), "shop/first");
        }
        let wanted = ["shop/faulty", "shop/field", "shop/name", "shop/rejected", "shop/untyped"];
        assert_eq!(names, wanted, "{report:#}");
        for faulty in ["shop/faulty", "shop/rejected"].map(|name| rewrites[name]) {
            assert_eq!((&faulty["effect"], &faulty["written"]), (&json!("faulty"), &json!(false)), "{faulty:#}");
        }
        let field = rewrites["shop/field"];
        assert_eq!((field["effect"].as_str(), field["written"].as_bool()), (Some("same"), Some(true)), "{field:#}");
        let value = &field["object"]["spec"]["configPatches"][0]["patch"]["value"];
        assert_eq!(value["typed_config"]["default_source_code"]["inline_string"], script);
        let value = &rewrites["shop/untyped"]["object"]["spec"]["configPatches"][0]["patch"]["value"];
        assert!(value["config"].is_null() && value["typed_config"]["@type"].is_string(), "{value:#}");
        for one in ["shop/first", "shop/name"].iter().filter_map(|name| rewrites.get(name)) {
            assert_eq!(one["effect"], "revived", "{one:#}");
            assert_eq!(one["written"], accept == "differs", "{one:#}");
        }
    }
}

/// Anchors that name the filter of a WasmPlugin get the name of the target release, which the old name does not match there.
#[test]
fn anchors_on_plugins_have_the_name_of_the_release() {
    let filter = |anchor: &str| {
        json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": { "name": "beside", "namespace": "shop" },
            "spec": { "workloadSelector": { "labels": { "app": "cart" } }, "configPatches": [{
                "applyTo": "HTTP_FILTER",
                "match": { "context": "SIDECAR_INBOUND", "listener": { "filterChain": { "filter": {
                    "name": "envoy.filters.network.http_connection_manager", "subFilter": { "name": anchor } } } } },
                "patch": { "operation": "INSERT_AFTER", "value": { "name": "envoy.filters.http.buffer", "typed_config": {
                    "@type": "type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer",
                    "max_request_bytes": 9 } } },
            }] },
        })
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filter.yaml");
    let rewrites = |anchor: &str, to: &str| -> Vec<(String, String)> {
        fs::write(&path, filter(anchor).to_string()).unwrap();
        let out = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
            .args(["migrate", path.to_str().unwrap(), "--to", to, "-o", "json"])
            .output()
            .unwrap();
        let report: Json = serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {out:?}"));
        let name = "/object/spec/configPatches/0/match/listener/filterChain/filter/subFilter/name";
        let all = report["rewrites"].as_array().unwrap().iter();
        all.map(|one| {
            let text = |value: &Json| value.as_str().unwrap().to_owned();
            (text(one.pointer(name).unwrap()), text(&one["effect"]))
        })
        .collect()
    };
    let (misspelled, plugin) =
        ("extenstions.istio.io/wasmplugin/shop.auth", "extensions.istio.io/wasmplugin/shop.auth");
    let translated = "extensions.istio.io/trafficextension/shop.auth~istio-translated-wasmplugin";
    let to = |name: &str| vec![(name.to_owned(), "revived".to_owned())];
    assert_eq!(rewrites(plugin, "1.31"), to(translated));
    assert_eq!(rewrites(misspelled, "1.30"), to(translated));
    assert_eq!(rewrites(misspelled, "1.28"), to(plugin));
    // The name of the release, and of a filter that is none of a plugin.
    for (name, release) in
        [(plugin, "1.29"), (translated, "1.31"), (misspelled, "1.24"), ("envoy.filters.http.router", "1.31")]
    {
        assert_eq!(rewrites(name, release), [], "{name} {release}");
    }
}

/// An annotation that sets part of a field hides all of it, and a command that sets it replaces the whole annotation:
/// the settings of the mesh and the workload in that field stay.
#[test]
fn settings_of_pods_keep_what_the_mesh_and_the_annotation_set() {
    let deployment = |name: &str, annotations: Json| {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name, "namespace": "istio-system" },
            "spec": { "selector": { "matchLabels": { "app": name } }, "template": {
                "metadata": { "labels": { "app": name, "istio": "ingressgateway" }, "annotations": annotations },
                "spec": { "containers": [{ "name": "istio-proxy", "image": "proxyv2", "args": ["proxy", "router"] }] },
            } },
        })
    };
    let mesh = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "istio", "namespace": "istio-system" },
        "data": { "mesh": "defaultConfig: {concurrency: 2, gatewayTopology: {numTrustedProxies: 2}}" },
    });
    let filter = json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": { "name": "certificates", "namespace": "istio-system" },
        "spec": { "workloadSelector": { "labels": { "istio": "ingressgateway" } }, "configPatches": [{
            "applyTo": "NETWORK_FILTER",
            "match": { "context": "GATEWAY", "listener": { "filterChain": { "filter": {
                "name": "envoy.filters.network.http_connection_manager" } } } },
            "patch": { "operation": "MERGE", "value": { "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                "forward_client_cert_details": "APPEND_FORWARD",
            } } },
        }] },
    });
    let own = json!({ "proxy.istio.io/config": "tracing: {sampling: 5}\ngatewayTopology: {proxyProtocol: {}}\n" });
    let mut loaded = Loaded::default();
    for (number, object) in
        [mesh, deployment("bare", json!({})), deployment("own", own), filter].into_iter().enumerate()
    {
        loaded.add_text(&format!("{number}.yaml"), object.to_string(), &load::Options::default());
    }
    let report = migrated(&loaded, Release::NEWEST, Accept::SameBut);
    let [pods] = report.draft.pods.as_slice() else { panic!("{:#?}", report.filters) };
    let whole = json!({ "numTrustedProxies": 2, "forwardClientCertDetails": "APPEND_FORWARD" });
    assert_eq!(pods.over(""), json!({ "gatewayTopology": whole }));
    let of = |name: &str| {
        let annotation = pods.workloads.iter().find(|((.., own), _)| own == name).map(|(_, annotation)| annotation);
        pods.over(annotation.unwrap_or_else(|| panic!("{name}: {:?}", pods.workloads)))
    };
    assert_eq!(of("bare"), json!({ "gatewayTopology": whole }));
    let kept = json!({ "proxyProtocol": {}, "forwardClientCertDetails": "APPEND_FORWARD" });
    assert_eq!(of("own"), json!({ "tracing": { "sampling": 5 }, "gatewayTopology": kept }));
    let mut out = Vec::new();
    kubectl_envoyfilter::report::migrate::yaml(&mut out, &report).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("#     numTrustedProxies: 2") && out.contains("sampling: 5"), "{out}");
    let notes = &report.filters[0].patches[0].found.notes;
    assert!(notes.iter().any(|note| note.contains("hides all of `gatewayTopology`")), "{notes:?}");
}

const COMMENTED: &str = "\
# Owned by the edge team.
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: public, namespace: edge} # shared
spec:
  selector: {istio: ingressgateway}
  servers:
  # Certificates are rotated.
  - port: {number: 443, name: https, protocol: HTTPS}
    hosts: [pay.example.com]
    tls: {mode: SIMPLE, credentialName: pay} # rotated
# The end.
---
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: tls, namespace: istio-system}
spec:
  workloadSelector: {labels: {istio: ingressgateway}}
  configPatches:
  - applyTo: FILTER_CHAIN
    match: {context: GATEWAY, listener: {filterChain: {sni: pay.example.com}}}
    patch:
      operation: MERGE
      value:
        transport_socket:
          name: envoy.transport_sockets.tls
          typed_config:
            \"@type\": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
            common_tls_context: {tls_params: {tls_minimum_protocol_version: TLSv1_3}}
";

/// An edited object keeps the comments of its file; where the edit cannot be made in its text, the output says so.
#[test]
fn edited_objects_keep_their_comments() {
    let written = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mesh.yaml"), text).unwrap();
        let out = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
            .args(["migrate", folder.path().to_str().unwrap(), "--accept", "reviewed", "-o", "yaml"])
            .output()
            .unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    let gateway = COMMENTED.split("# The end.").next().unwrap();
    let edited = gateway.replace("credentialName: pay}", "credentialName: pay, minProtocolVersion: \"TLSV1_3\"}");
    let out = written(COMMENTED);
    assert!(out.contains(&edited), "{out}");
    assert!(!out.contains("Comments of the file"), "{out}");
    // An item of a list has no text of its own.
    let (gateway, rest) = COMMENTED.split_once("# The end.").unwrap();
    let item = gateway.trim_end().split_once('\n').unwrap().1.lines().collect::<Vec<_>>().join("\n  ");
    let out = written(&format!("apiVersion: v1\nkind: List\nitems:\n- {item}\n{}", rest.trim_start()));
    assert!(out.contains("minProtocolVersion: TLSV1_3"), "{out}");
    assert!(out.contains("Comments of the file are not in this object"), "{out}");
}
