//! `lint --fix --unsafe-fixes` on patches with a native API: what `migrate` writes by default is added next to the
//! filter.

use crate::lint_cli::{Said, run};
use crate::linting::{Proxies, input, read, yaml_files};
use crate::migrate::{BETTER_FORM, all_recorded, input_texts, migrated, yaml};
use crate::migrate_result::shapes;
use crate::support::{Share, testdata};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::lint::config::Config;
use kubectl_envoyfilter::lint::rule::Family;
use kubectl_envoyfilter::lint::{self, Rule, fix};
use kubectl_envoyfilter::load::{self, Loaded};
use kubectl_envoyfilter::migrate::Accept;
use kubectl_envoyfilter::migrate::verdict::{Class, State};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::rules;
use kubectl_envoyfilter::source::Severity;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

fn loaded(texts: &[(&str, String)]) -> Loaded {
    let mut all = Loaded::default();
    for (name, text) in texts {
        all.add_text(name, text, &load::Options::default());
    }
    all
}

/// The text of the filter after the unsafe fixes of the rules about native APIs; `None` if nothing is fixed.
fn fixed(all: &Loaded, release: Release) -> Option<String> {
    let native: Vec<&'static Rule> = rules::ALL.iter().copied().filter(|rule| rule.family == Family::Native).collect();
    let mesh = MeshSettings::of(&all.inventory);
    let found = lint::check(&input(all, release, &mesh), &native, &Config::default(), str::to_owned).findings;
    let safe = fix::apply(&found, &all.sources, false);
    assert!(safe.files.is_empty(), "a move is never a safe fix");
    let outcome = fix::apply(&found, &all.sources, true);
    assert!(outcome.files.len() < 2, "only the filter's file changes");
    let file = outcome.files.first()?;
    file.rewrite(&all.sources.get(file.file).text)
}

/// The fix writes what `migrate` writes for the same patches; only moves recorded as exact or same-but are made, and
/// only if every guard holds; the rest of the filter stays unchanged.
fn fixes_write_what_migrate_writes_by(share: Share) {
    let proxies = Proxies::new(&[], Release::NEWEST);
    let (mut whole, mut smaller, mut kinds) = (0, 0, BTreeSet::new());
    for case in share.of(all_recorded().into_iter().chain(shapes())) {
        let id = case["id"].as_str().unwrap();
        let texts = input_texts(&case);
        let before = loaded(&texts);
        let Some(after) = fixed(&before, Release::NEWEST) else { continue };
        let report = migrated(&before, Release::NEWEST, Accept::SameBut);
        let (filter, patches) = (&before.inventory.envoy_filters[0], &report.filters[0].patches);
        let documents = yaml(&after);
        let (stays, objects): (Vec<&Json>, Vec<&Json>) = documents.iter().partition(|one| one["kind"] == "EnvoyFilter");
        let made: Vec<&Json> = report.draft.made.iter().map(|one| &one.object).collect();
        for object in &objects {
            assert!(made.contains(object), "{id}: migrate does not write {object}");
            kinds.insert(object["kind"].as_str().unwrap().to_owned());
        }
        assert!(!objects.is_empty(), "{id}");
        let source = filter.document.to_json();
        let all = source["spec"]["configPatches"].as_array().unwrap();
        let kept = stays.first().map_or(Vec::new(), |one| one["spec"]["configPatches"].as_array().unwrap().clone());
        let gone: Vec<usize> = (0..all.len()).filter(|&at| !kept.contains(&all[at])).collect();
        assert_eq!(kept.len() + gone.len(), all.len(), "{id}: every patch stays as it was or goes");
        assert!(!gone.is_empty() && stays.is_empty() == kept.is_empty(), "{id}: {after}");
        for at in &gone {
            let patch = &patches[*at];
            assert!(patch.written && patch.class <= Class::SameBut, "{id}: {patch:#?}");
            assert!(patch.found.guards.iter().all(|guard| guard.state == State::Held), "{id}: {patch:#?}");
        }
        if stays.is_empty() {
            whole += 1;
            let recorded = case["computed"].as_str().or(case["class"].as_str()).unwrap();
            let known = BETTER_FORM.iter().find(|(better, ..)| *better == id).map(|(_, class, _)| *class);
            assert!(["exact", "same-but"].contains(&known.unwrap_or(recorded)), "{id}: recorded as {recorded}");
        } else {
            smaller += 1;
        }
        let mut texts: BTreeMap<&str, String> = texts.into_iter().collect();
        texts.insert("filter", after);
        let result = loaded(&texts.into_iter().collect::<Vec<_>>());
        let errors: Vec<_> = result.problems.iter().filter(|one| one.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{id}: {errors:?}");
        assert_eq!(fixed(&result, Release::NEWEST), None, "{id}: a second run fixes more");
        let codes = |loaded: &Loaded| -> BTreeSet<&str> {
            let bad = proxies.lint(loaded).into_iter().filter(|one| one.severity >= Severity::Warning);
            bad.map(|one| one.rule.code).collect()
        };
        let worse: Vec<_> = codes(&result).difference(&codes(&before)).copied().collect();
        assert!(worse.is_empty(), "{id}: {worse:?} after the fix");
    }
    println!("{whole} filters go, {smaller} get smaller: {kinds:?}");
    assert!(whole > share.least(25), "{whole} filters go, {smaller} get smaller");
    assert!(kinds.len() > share.least(3), "{kinds:?}");
}

in_part_and_in_full!(
    fixes_write_what_migrate_writes,
    fixes_write_what_migrate_writes_in_full,
    fixes_write_what_migrate_writes_by
);

/// A release without the API keeps the patch; published filters, each alone, change only in names.
fn fixes_know_their_limits_by(share: Share) {
    for case in share.of(all_recorded()) {
        let all = loaded(&input_texts(&case));
        let after = fixed(&all, Release::minor(28)).unwrap_or_default();
        assert!(!after.contains("TrafficExtension"), "{}: {after}", case["id"]);
    }
    let mut fixes = 0;
    for path in share.of(yaml_files(&testdata("corpus"))) {
        let all = read(&path);
        let report = migrated(&all, Release::NEWEST, Accept::SameBut);
        let written = report.filters.iter().flat_map(|one| &one.patches).any(|patch| patch.written);
        let after = fixed(&all, Release::NEWEST);
        assert!(written || after.is_none(), "{}: migrate writes nothing", path.display());
        if let Some(after) = after {
            fixes += 1;
            let problems = loaded(&[("fixed", after)]).problems;
            let errors: Vec<_> = problems.iter().filter(|one| one.severity == Severity::Error).collect();
            assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        }
    }
    assert!(fixes >= share.least(6), "{fixes}");
}

in_part_and_in_full!(fixes_know_their_limits, fixes_know_their_limits_in_full, fixes_know_their_limits_by);

fn patch(name: &str, context: &str, anchor: &str, more: &str) -> String {
    format!(
        "  - applyTo: HTTP_FILTER\n    match:\n      context: {context}\n      listener:\n        filterChain:\n          filter:\n            \
         name: envoy.filters.network.http_connection_manager\n            subFilter:\n              name: {anchor}\n    patch:\n      \
         operation: INSERT_BEFORE\n      value:\n        name: {name}\n        typed_config:\n          \"@type\": \
         type.googleapis.com/envoy.extensions.filters.http.{more}\n"
    )
}

const LUA: &str = "lua.v3.Lua\n          default_source_code:\n            inline_string: |\n              function \
                   envoy_on_request(handle)\n                handle:headers():replace(\"x-depot\", \"north\")\n              end";

const HEAD: &str = "# Kept by the platform team.\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata:\n  name: tag\n  \
                    namespace: shop\nspec:\n  workloadSelector:\n    labels:\n      app: cart\n  configPatches:\n";

fn written(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.yaml");
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

/// On the command line: shown with `--diff`, written only with `--unsafe-fixes`, never if a finding of the patches is
/// suppressed or a remaining patch needs the filter, and never over an existing object.
#[test]
fn moves_are_shown_or_written() {
    let router = "envoy.filters.http.router";
    let buffer = patch("size", "SIDECAR_INBOUND", router, "buffer.v3.Buffer\n          max_request_bytes: 1000");
    let one = format!("{HEAD}{}{buffer}", patch("depot", "SIDECAR_INBOUND", router, LUA));
    let (_folder, path) = written(&one);
    let Said { code, out, err } = run(&["lint", &path, "--select", "EF711", "--fix"]);
    assert_eq!((code, fs::read_to_string(&path).unwrap().as_str()), (0, one.as_str()), "{out}{err}");
    assert!(err.contains("1 more with --unsafe-fixes"), "{err}");
    let Said { out, .. } = run(&["lint", &path, "--select", "EF711", "--unsafe-fixes", "--diff"]);
    assert!(out.contains("-        name: depot\n") && out.contains("+kind: TrafficExtension\n"), "{out}");
    assert_eq!(fs::read_to_string(&path).unwrap(), one, "--diff writes nothing");
    let Said { err, .. } = run(&["lint", &path, "--select", "EF711", "--fix", "--unsafe-fixes"]);
    assert!(err.contains("1 finding fixed in 1 file"), "{err}");
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.starts_with(&format!("{HEAD}{buffer}---\n# Replaces EnvoyFilter shop/tag.\n")), "{after}");
    let objects = yaml(&after);
    assert_eq!(objects[1]["spec"]["selector"], json!({ "matchLabels": { "app": "cart" } }));
    assert_eq!((objects.len(), &objects[1]["metadata"]["name"]), (2, &json!("tag")));

    // The whole filter moves; the text above it stays.
    let alone = format!("{HEAD}{}", patch("depot", "SIDECAR_INBOUND", router, LUA));
    let (_folder, path) = written(&alone);
    run(&["lint", &path, "--select", "EF711", "--fix", "--unsafe-fixes"]);
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.starts_with("# Kept by the platform team.\n# Replaces EnvoyFilter shop/tag.\n"), "{after}");
    assert!(after.contains("delete it once this is applied") && !after.contains("kind: EnvoyFilter"), "{after}");

    // An object with that name exists.
    let theirs = "---\napiVersion: extensions.istio.io/v1alpha1\nkind: TrafficExtension\nmetadata:\n  name: tag\n  namespace: shop\nspec: \
                  {lua: {inlineCode: x}}\n";
    let (_folder, path) = written(&format!("{alone}{theirs}"));
    run(&["lint", &path, "--select", "EF711", "--fix", "--unsafe-fixes"]);
    let after = fs::read_to_string(&path).unwrap();
    let names: Vec<Json> = yaml(&after).iter().map(|one| one["metadata"]["name"].clone()).collect();
    assert_eq!(names, ["tag-2", "tag"], "{after}");

    // Two patches move together: if one of them is suppressed, neither moves.
    let outbound = patch("depot", "SIDECAR_OUTBOUND", router, LUA);
    let quiet = outbound.replacen("value:", "value: # envoyfilter:ignore EF711 stays until spring", 1);
    for (second, stays) in [(&outbound, false), (&quiet, true)] {
        let text = format!("{HEAD}{}{second}", patch("depot", "SIDECAR_INBOUND", router, LUA));
        let (_folder, path) = written(&text);
        let Said { err, .. } = run(&["lint", &path, "--select", "EF711", "--fix", "--unsafe-fixes"]);
        let after = fs::read_to_string(&path).unwrap();
        assert_eq!(after == text, stays, "{err}{after}");
        assert_eq!(err.contains("left out"), stays, "{err}");
    }

    // A patch that stays refers to the filter by name.
    let user = patch("size", "SIDECAR_INBOUND", "depot", "buffer.v3.Buffer\n          max_request_bytes: 1000");
    let text = format!("{HEAD}{}{user}", patch("depot", "SIDECAR_INBOUND", router, LUA));
    let (_folder, path) = written(&text);
    run(&["lint", &path, "--select", "EF711", "--fix", "--unsafe-fixes"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);

    // A list of objects and JSON are left alone.
    let object = yaml(&alone).remove(0);
    for text in [json!({ "apiVersion": "v1", "kind": "List", "items": [object] }).to_string(), object.to_string()] {
        let (_folder, path) = written(&text);
        run(&["lint", &path, "--select", "EF711", "--fix", "--unsafe-fixes"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

/// `migrate` reads policies, telemetry and routes, so `-v` does not call them ignored, as it does what it does not read.
#[test]
fn objects_that_decide_are_not_called_ignored() {
    let text = [
        "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: a, namespace: shop}\nspec: {}\n",
        "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: a, namespace: shop}\nspec: {}\n",
        "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: a, namespace: shop}\n",
    ]
    .join("---\n");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mesh.yaml"), text).unwrap();
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(["migrate", folder.path().to_str().unwrap(), "-v"])
        .output()
        .unwrap();
    let notes = String::from_utf8(out.stderr).unwrap();
    assert!(notes.contains("ignored 1 object of kind EndpointSlice"), "{notes}");
    assert!(!notes.contains("AuthorizationPolicy"), "{notes}");
}
