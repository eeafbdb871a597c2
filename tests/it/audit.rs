//! The audit from the user's view: output formats, exit codes, schemas; also upgrades for other tests.

use crate::cli::run;
use crate::linting::input;
use crate::support::{JsonSchema, dumps, testdata, texts_where};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::lint::upgrade::forecast::Forecast;
use kubectl_envoyfilter::lint::upgrade::{self, Snapshot, Stage, Upgrade};
use kubectl_envoyfilter::lint::{Finding, Input};
use kubectl_envoyfilter::load::{Loaded, dump::Dump, dump::Identity, reference};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::ProxyConfig;
use kubectl_envoyfilter::rules;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Minors whose configurations are recorded.
const RECORDED: [u16; 4] = [22, 24, 26, 28];

/// The dumps of a recording as the nearest recorded release has them.
fn recorded(name: &str, release: Release) -> (Vec<Dump>, Release) {
    let folder = testdata("reference").join(name);
    let minor = RECORDED.iter().copied().filter(|minor| *minor <= release.minor).max().unwrap_or(RECORDED[0]);
    let older = folder.join(format!("releases/1.{minor}"));
    if release.minor >= 31 || !older.exists() {
        return (dumps(&folder).into_values().collect(), Release::minor(31));
    }
    (dumps(&older).into_values().collect(), Release::minor(minor))
}

/// One stage of an upgrade.
struct Side {
    release: Release,
    dumps: Vec<(Dump, Release)>,
}

impl Side {
    fn new(recordings: &[String], release: Release) -> Side {
        let read = |name: &String| {
            let (dumps, base) = recorded(name, release);
            dumps.into_iter().map(move |dump| (dump, base))
        };
        Side { release, dumps: recordings.iter().flat_map(read).collect() }
    }

    fn with<T>(&self, loaded: &Loaded, ask: impl FnOnce(&Stage<'_>) -> T) -> T {
        let bare: Vec<ProxyConfig<'_>> =
            self.dumps.iter().map(|(dump, _)| dump.config(&Identity::default()).unwrap()).collect();
        let forecasts: Vec<Forecast> = bare
            .iter()
            .zip(&self.dumps)
            .map(|(config, (_, base))| Forecast::new(config, *base, self.release, Some(self.release)))
            .collect();
        let given: Vec<_> = bare.iter().zip(&forecasts).map(|(config, one)| one.apply(config)).collect();
        let nearest = reference::recorded(self.release);
        let plain = reference::configs(self.release);
        let forecasts: Vec<Forecast> =
            plain.iter().map(|config| Forecast::new(config, nearest, self.release, None)).collect();
        let references: Vec<_> = plain.iter().zip(&forecasts).map(|(config, one)| one.apply(config)).collect();
        let mesh = MeshSettings::of(&loaded.inventory);
        ask(&Stage {
            input: Input { dumps: &given, references: &references, ..input(loaded, self.release, &mesh) },
            proxies: self.release,
            target: self.release,
            stand_ins: &[],
            generated: false,
            make_up: self.dumps.is_empty(),
            revision: "",
        })
    }
}

/// The findings of a one-step upgrade, on the proxies of recordings or otherwise on sample proxies.
pub(crate) fn upgrade(loaded: &Loaded, recordings: &[String], from: Release, to: Release) -> Vec<Finding> {
    compared(loaded, recordings, from, to).0
}

/// The same, with the data behind the findings.
pub(crate) fn compared(loaded: &Loaded, recordings: &[String], from: Release, to: Release) -> (Vec<Finding>, Upgrade) {
    let before: Snapshot = Side::new(recordings, from).with(loaded, |stage| upgrade::snapshot(stage, rules::ALL));
    Side::new(recordings, to).with(loaded, |stage| upgrade::compare(stage, &before, rules::ALL))
}

fn folder() -> PathBuf {
    testdata("cli/audit")
}

/// Runs the audit of the case with findings of every class.
fn audit(more: &[&str]) -> (i32, String) {
    let mut arguments = vec!["audit", "--to", "1.31", "--from", "1.24", "-f", "filters.yaml"];
    arguments.extend(more);
    let output = run(&folder(), &arguments);
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn json_keeps_its_schema() {
    let validator = JsonSchema::new("audit.json");
    for more in [&[][..], &["-f", "workloads.yaml"], &["--path", "1.24,1.28"], &["--revision-from", "stable"]] {
        let mut arguments = vec!["-o", "json"];
        arguments.extend(more);
        let (_, text) = audit(&arguments);
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(validator.errors(&json), "", "{more:?}");
    }
}

#[test]
fn exit_codes_follow_the_class() {
    assert_eq!(audit(&[]).0, 1);
    assert_eq!(audit(&["--fail-on", "never"]).0, 0);
    let output =
        run(&folder(), &["audit", "--to", "1.31", "--from", "1.30", "-f", "ready.yaml", "--fail-on", "cleanup"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let backwards = run(&folder(), &["audit", "--to", "1.26", "--path", "1.24,1.28", "-f", "filters.yaml"]);
    assert_eq!(backwards.status.code(), Some(2));
}

/// A filter that cannot be read may break, and the report must say so.
#[test]
fn unreadable_input_is_not_ready() {
    for (form, word) in
        [("human", "not ready: "), ("markdown", "**not ready**"), ("json", "\"verdict\": \"not-ready\"")]
    {
        let arguments =
            ["audit", "--to", "1.31", "--from", "1.30", "-f", "ready.yaml", "-f", "missing.yaml", "-o", form];
        let output = run(&folder(), &arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains(word) && text.contains("cannot read missing.yaml"), "{form}: {text}");
        assert!(!text.contains("No filter blocks"), "{form}: {text}");
    }
}

#[test]
fn every_form_names_every_filter_that_breaks() {
    let (_, json) = audit(&["-o", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let breaks = texts_where(&json["filters"], ("verdict", "breaks"), "name");
    assert!(breaks.len() >= 3, "{breaks:?}");
    for form in ["human", "markdown", "html"] {
        let (_, text) = audit(&["-o", form]);
        for name in &breaks {
            assert!(text.contains(name), "{form} does not name {name}");
        }
    }
    for form in ["sarif", "junit", "github", "gitlab"] {
        assert!(audit(&["-o", form]).1.contains("EF6"), "{form}");
    }
}

/// No form calls a filter ready that does not work before the upgrade either.
#[test]
fn every_form_names_what_is_broken_today() {
    let demo = |form: &str| {
        let output = run(&folder(), &["audit", "--demo", "--to", "1.31", "--from", "1.24", "-o", form]);
        String::from_utf8(output.stdout).unwrap()
    };
    let json: Value = serde_json::from_str(&demo("json")).unwrap();
    let today = |filter: &&Value| filter["today"].as_array().is_some_and(|today| !today.is_empty());
    let broken: Vec<&Value> = json["filters"].as_array().unwrap().iter().filter(today).collect();
    assert_eq!(broken.len(), 3, "{broken:?}");
    for form in ["human", "markdown", "html"] {
        let text = demo(form).replace("<code>", "`").replace("</code>", "`");
        for filter in &broken {
            let message = filter["today"][0]["message"].as_str().unwrap();
            assert!(text.contains(message), "{form}: {message}");
        }
    }
    let page = demo("html");
    let row = page.lines().find(|line| line.contains("data-name=\"shop/limit-rate\" data-verdict")).unwrap();
    assert!(row.contains("data-verdict=\"broken\"") && !row.contains("ready"), "{row}");
}

/// What is lost to one panic does not work today either, although `lint` reports only the first as the error; nor does what
/// most likely has no effect at all.
#[test]
fn what_another_finding_explains_is_broken_today() {
    let judged = testdata("field/judged");
    let broken = |file: &str| {
        let output = run(&judged, &["audit", "--from", "1.30", "--to", "1.31", "-f", file, "-o", "json"]);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        (json["counts"]["brokenToday"].as_u64().unwrap(), json["counts"]["ready"].as_u64().unwrap())
    };
    assert_eq!(broken("one-panic-many-filters.yaml"), (4, 0));
    assert_eq!(broken("waypoint-by-its-usual-name.yaml"), (1, 0));
}

/// What the admission server would deny for its size works in the mesh.
#[test]
fn a_filter_that_is_too_large_for_the_admission_server_is_not_broken() {
    let folder = testdata("rules/over-budget");
    let lint = run(&folder, &["lint", "bad.yaml", "-o", "json"]);
    assert!(String::from_utf8(lint.stdout).unwrap().contains("\"EF904\""));
    let audit = run(&folder, &["audit", "--from", "1.30", "--to", "1.31", "-f", "bad.yaml", "-o", "json"]);
    let json: Value = serde_json::from_slice(&audit.stdout).unwrap();
    assert_eq!(json["counts"]["brokenToday"], 0, "{json:#}");
}

/// The numbers of the verdict's sentence add up to the number of filters, also when a filter changes and is broken today.
#[test]
fn every_filter_is_counted_once() {
    let said = |form: &str| {
        let output = run(&folder(), &["audit", "--demo", "--to", "1.31", "--from", "1.24", "-o", form]);
        String::from_utf8(output.stdout).unwrap()
    };
    let json: Value = serde_json::from_str(&said("json")).unwrap();
    let counts = &json["counts"];
    let number = |key: &str| counts[key].as_u64().unwrap();
    let classes = ["breaks", "lostToPanics", "brokenToday", "changes", "deprecated", "cleanup", "ready"];
    assert_eq!(classes.iter().map(|key| number(key)).sum::<u64>(), number("filters"), "{counts}");
    assert_eq!((number("brokenToday"), number("alsoBrokenToday")), (2, 1), "{counts}");
    for form in ["human", "markdown", "html"] {
        let sentence = "of 6 filters 1 changes, 1 can be cleaned up, 2 are ready, 2 are broken today already; \
             of the 2 with findings 1 is broken today already";
        let text = said(form).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.to_lowercase().contains(sentence), "{form}: {text}");
    }
}

/// The tiles of the page count each filter once, too: also those that only lose their effect to another filter's panic.
#[test]
fn every_filter_is_in_a_tile() {
    let folder = testdata("corpus");
    let files = ["-f", "014-3qi-kiali-forwarded.yaml", "-f", "280-plugins-adapter-plugins-adapter-filter.yaml"];
    let output = run(&folder, &[&["audit", "--from", "1.24", "--to", "1.31", "-o", "html"], &files[..]].concat());
    let page = String::from_utf8(output.stdout).unwrap();
    let tiles: Vec<(&str, &str)> = page
        .split("<div class=\"tile ")
        .skip(1)
        .map(|tile| tile.split_once("<b>").unwrap().1.split_once("</b>").unwrap())
        .map(|(number, label)| (number, label.split_once('<').unwrap().0))
        .collect();
    assert!(tiles.contains(&("1", "breaks")) && tiles.contains(&("1", "lost to a panic")), "{tiles:?}");
    assert_eq!(tiles.iter().map(|(number, _)| number.parse::<usize>().unwrap()).sum::<usize>(), 2, "{tiles:?}");
}

/// The page is self-contained, well formed, and escapes what it shows.
#[test]
fn the_page_is_self_contained() {
    let (_, page) = audit(&["-o", "html", "-f", "workloads.yaml"]);
    for word in ["http://", "https://", "src=", "@import", "url("] {
        let bad: Vec<&str> = page.lines().filter(|line| line.contains(word)).collect();
        assert!(bad.is_empty(), "{word}: {bad:?}");
    }
    for tag in ["details", "table", "div", "ol", "pre", "ul", "p", "span", "code"] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        let closed = page.matches(&format!("</{tag}>")).count();
        assert_eq!(opened, closed, "<{tag}>");
    }
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script>alert"), "a name is not escaped");
    assert!(page.contains("prefers-color-scheme:dark") && page.contains("@media print"));
    // Of two CSS rules with equal weight the later one wins: a printed page has no search field.
    let (shown, hidden) = (page.find(".tools{display:flex").unwrap(), page.find(".tools.find{display:none}").unwrap());
    assert!(page.contains("class=\"tools find\"") && shown < hidden, "the search field is printed");
}

/// A filter that attaches to none of the given proxies is judged on a made-up one, and every form says so: its result is no
/// all-clear.
#[test]
fn a_filter_for_none_of_the_proxies_is_named() {
    let proxies = testdata("reference/shop/base");
    let proxies = proxies.to_str().unwrap();
    let run = |filter: &str, form: &str| {
        let arguments = ["audit", "--from", "1.26", "--to", "1.27", "-f", filter, "--dump", proxies, "-o", form];
        let output = run(&folder(), &arguments);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let said = "1 EnvoyFilter attaches to none of the workloads that were checked, and it is tried on a workload made up to fit it: shop/";
    for form in ["human", "markdown", "json", "html"] {
        let (status, text) = run("waypoint.yaml", form);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("{said}by-name")), "{form}: {text}");
        // Since 1.27 a waypoint ignores it, whether or not a dump of one was given.
        assert!(text.contains("EF603"), "{form}: {text}");
        assert_eq!(status, Some(0), "a likely change does not fail: {form}: {text}");
    }
    let (_, json) = run("waypoint.yaml", "json");
    let json: Value = serde_json::from_str(&json).unwrap();
    let row = |at: usize| (&json["rollOut"][at]["effective"], json["rollOut"][at]["lost"].as_array().unwrap().len());
    assert_eq!((row(0), row(3)), ((&Value::from(1), 0), (&Value::from(0), 1)), "{}", json["rollOut"]);
    let (status, text) = run("attached.yaml", "human");
    assert!(!text.contains("none of the workloads"), "{text}");
    assert_eq!(status, Some(0), "{text}");
}

/// Sample workloads have separate columns, distinguished by their names.
#[test]
fn sample_workloads_are_distinguishable() {
    let (_, text) = audit(&["-o", "json"]);
    let json: Value = serde_json::from_str(&text).unwrap();
    let labels: Vec<&str> =
        json["workloads"].as_array().unwrap().iter().map(|one| one["label"].as_str().unwrap()).collect();
    let different: std::collections::BTreeSet<&&str> = labels.iter().collect();
    assert!(labels.len() > 3 && different.len() == labels.len(), "{labels:?}");
    assert!(labels.iter().any(|label| label.starts_with("a sidecar in shop")), "{labels:?}");
}

/// ztunnel reads no EnvoyFilters: workloads of an ambient namespace count only if they request a sidecar themselves.
#[test]
fn workloads_in_ambient_mode_have_no_sidecar() {
    let folder = tempfile::tempdir().unwrap();
    let deployment = |namespace: &str, name: &str, labels: &str| {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec:\n  template:\n    \
             metadata: {{labels: {{app: {name}{labels}}}}}\n    spec: {{containers: [{{name: app, image: app}}]}}\n"
        )
    };
    let namespace = |name: &str, label: &str| {
        format!("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, labels: {{{label}}}}}\n")
    };
    let filter = "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: buffer, namespace: istio-system}\n\
                  spec:\n  configPatches:\n  - applyTo: CLUSTER\n    match: {context: SIDECAR_OUTBOUND}\n    \
                  patch: {operation: MERGE, value: {connect_timeout: 2s}}\n";
    let text = [
        filter.to_owned(),
        namespace("mesh", "istio.io/dataplane-mode: ambient"),
        deployment("mesh", "plain", ""),
        deployment("mesh", "asks", ", sidecar.istio.io/inject: \"true\""),
        namespace("classic", "istio-injection: enabled"),
        deployment("classic", "cart", ""),
        deployment("classic", "batch", ", sidecar.istio.io/inject: \"false\""),
    ];
    std::fs::write(folder.path().join("all.yaml"), text.concat()).unwrap();
    let output = run(folder.path(), &["audit", "--from", "1.30", "--to", "1.31", "-f", "all.yaml", "-o", "json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut members: Vec<&str> = json["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|group| group["members"].as_array().unwrap())
        .map(|name| name.as_str().unwrap())
        .collect();
    members.sort_unstable();
    assert_eq!(members, ["classic/cart", "mesh/asks"], "{json}");
    // A filter for such a workload alone is in effect nowhere.
    let selects = |app: &str| {
        let spec = format!("namespace: mesh}}\nspec:\n  workloadSelector: {{labels: {{app: {app}}}}}\n");
        filter.replace("namespace: istio-system}\nspec:\n", &spec)
    };
    for (app, effective) in [("plain", 0), ("asks", 1)] {
        std::fs::write(folder.path().join("all.yaml"), text[1..].concat() + "---\n" + &selects(app)).unwrap();
        let output = run(folder.path(), &["audit", "--from", "1.30", "--to", "1.31", "-f", "all.yaml", "-o", "json"]);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let counts: Vec<&Value> = json["rollOut"].as_array().unwrap().iter().map(|row| &row["effective"]).collect();
        assert!(counts.len() > 1 && counts.iter().all(|&count| *count == effective), "{app}: {json}");
    }
}

/// The patch applies, and its result has fewer findings and no new ones.
#[test]
fn the_patch_fixes_what_it_claims() {
    let (_, patch) = audit(&["-o", "diff"]);
    assert!(patch.starts_with("--- a/filters.yaml\n+++ b/filters.yaml\n@@ "), "{patch}");
    let count = |json: &str| {
        let json: Value = serde_json::from_str(json).unwrap();
        let all =
            json["filters"].as_array().unwrap().iter().flat_map(|one| one["findings"].as_array().unwrap().clone());
        let all: Vec<Value> = all.collect();
        (all.iter().filter(|one| one["fix"]["safe"] == true).count(), all.len())
    };
    let (_, before) = audit(&["-o", "json"]);
    let temporary = tempfile::tempdir().unwrap();
    let file = temporary.path().join("filters.yaml");
    std::fs::write(&file, apply(&std::fs::read_to_string(folder().join("filters.yaml")).unwrap(), &patch)).unwrap();
    let output =
        run(temporary.path(), &["audit", "--to", "1.31", "--from", "1.24", "-f", "filters.yaml", "-o", "json"]);
    let after = String::from_utf8(output.stdout).unwrap();
    let ((fixable, all), (left, rest)) = (count(&before), count(&after));
    assert!(left < fixable && rest <= all, "{fixable} of {all} before, {left} of {rest} after");
}

/// Applies a unified diff of one file.
fn apply(text: &str, patch: &str) -> String {
    let old: Vec<&str> = text.lines().collect();
    let (mut out, mut at) = (Vec::new(), 0);
    for line in patch.lines().skip(2) {
        if let Some(header) = line.strip_prefix("@@ -") {
            let start: usize = header.split([',', ' ']).next().unwrap().parse().unwrap();
            while at + 1 < start {
                out.push(old[at].to_owned());
                at += 1;
            }
        } else if let Some(added) = line.strip_prefix('+') {
            out.push(added.to_owned());
        } else {
            let same = &line[1..];
            assert_eq!(old[at], same, "the patch does not fit");
            if line.starts_with(' ') {
                out.push(same.to_owned());
            }
            at += 1;
        }
    }
    out.extend(old[at..].iter().map(|line| (*line).to_owned()));
    out.join("\n") + "\n"
}

/// Two revisions side by side: which proxies use which, the result of each combination, and filters that only one of
/// them reads.
#[test]
fn a_canary_is_reported_for_each_workload() {
    let output = run(
        &folder(),
        &["audit", "--from", "1.24", "--to", "1.31", "--revision-to", "1-31", "-f", "revisions.yaml", "-o", "json"],
    );
    // The old revision is the one that is not new.
    let both = ["--revision-from", "1-24"];
    let mut arguments =
        vec!["audit", "--from", "1.24", "--to", "1.31", "--revision-to", "1-31", "-f", "revisions.yaml", "-o", "json"];
    arguments.extend(both);
    assert_eq!(output.stdout, run(&folder(), &arguments).stdout);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let codes = |name: &str| -> Vec<String> {
        let filters = json["filters"].as_array().unwrap();
        let filter = filters.iter().find(|filter| filter["name"] == name).unwrap();
        filter["findings"].as_array().unwrap().iter().map(|one| format!("{} {}", one["code"], one["class"])).collect()
    };
    assert!(codes("old-revision").contains(&"\"EF607\" \"breaks\"".to_owned()), "{:?}", codes("old-revision"));
    assert!(codes("new-revision").contains(&"\"EF607\" \"changes\"".to_owned()), "{:?}", codes("new-revision"));
    assert!(codes("pinned").contains(&"\"EF614\" \"breaks\"".to_owned()), "{:?}", codes("pinned"));
    let of = |label: &str| -> &Value {
        let workloads = json["workloads"].as_array().unwrap();
        let index = workloads.iter().position(|one| one["label"] == label).unwrap();
        json["during"].as_array().unwrap().iter().find(|one| one["workloads"] == index).unwrap()
    };
    let (cart, ledger) = (of("shop/cart-1"), of("pay/ledger-1"));
    assert_eq!(cart["places"][0]["revision"], "prod → 1-24");
    assert_eq!(cart["places"][0]["istiod"], "1.24.6");
    assert_eq!(cart["places"][0]["proxies"], "1.24.1");
    assert_eq!(ledger["places"][0]["istiod"], "1.31.0");
    // Old istiod and proxies; new istiod, old proxies; old istiod, new proxies; all new.
    let lost = |during: &Value| -> Vec<String> {
        during["gets"].as_array().unwrap().iter().map(|one| one["lost"].to_string()).collect()
    };
    let (old, pinned) = ("istio-system/old-revision", "shop/pinned");
    let none = "[]".to_owned();
    assert_eq!(
        lost(cart),
        [none.clone(), format!("[\"{old}\"]"), format!("[\"{pinned}\"]"), format!("[\"{old}\",\"{pinned}\"]")]
    );
    assert_eq!(lost(ledger), [none.clone(), format!("[\"{old}\"]"), none, format!("[\"{old}\"]")]);
}

/// Filters and Deployments of a large mesh: some of every class, without equal labels in one namespace.
fn large(filters: usize, workloads: usize) -> String {
    let anchored = |anchor: &str, operation: &str, index: usize| {
        format!(
            "  configPatches:\n  - applyTo: HTTP_FILTER\n    match:\n      context: SIDECAR_INBOUND\n      listener:\n        filterChain:\n          \
             filter:\n            name: envoy.filters.network.http_connection_manager\n            subFilter:\n              name: {anchor}\n    \
             patch:\n      operation: {operation}\n      value:\n        name: team.buffer-{index}\n        typed_config:\n          \
             \"@type\": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer\n          max_request_bytes: {index}\n"
        )
    };
    let mut text = String::new();
    for index in 0..filters {
        let (team, app) = (index % 50, index / 50 * 3);
        let spec = match index / 50 % 5 {
            0 => anchored("envoy.filters.http.router", "INSERT_BEFORE", index + 1),
            1 => anchored("istio_authn", "INSERT_AFTER", index + 1),
            2 => anchored("extenstions.istio.io/wasmplugin/team.auth", "INSERT_AFTER", index + 1),
            3 => anchored("envoy.filters.http.router", "MERGE", index + 1),
            _ => anchored("envoy.filters.http.router", "INSERT_BEFORE", index + 1)
                .replace("max_request_bytes", "maxRequestBytes"),
        };
        let selector = format!("  workloadSelector:\n    labels:\n      app: app-{app}\n");
        let selector = if index % 7 == 0 { "" } else { &selector };
        let head = format!("metadata:\n  name: filter-{index}\n  namespace: team-{team}\nspec:\n{selector}");
        let _ = write!(text, "---\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\n{head}{spec}");
    }
    for index in 0..workloads {
        let (team, app) = (index % 50, index / 50);
        let _ = write!(
            text,
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-{app}\n  namespace: team-{team}\nspec:\n  selector:\n    \
             matchLabels: {{app: app-{app}}}\n  template:\n    metadata:\n      labels: {{app: app-{app}}}\n"
        );
    }
    text
}

/// 500 filters and 5,000 workloads on one page. `PAGE=FILE` keeps it, to be looked at in a browser.
#[test]
#[ignore = "half a minute: cargo test --test it in_full -- --ignored"]
fn the_page_of_a_large_mesh_stays_light_in_full() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mesh.yaml"), large(500, 5_000)).unwrap();
    let output = run(folder.path(), &["audit", "--from", "1.22", "--to", "1.31", "-f", "mesh.yaml", "-o", "html"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let page = String::from_utf8(output.stdout).unwrap();
    if let Some(file) = std::env::var_os("PAGE") {
        std::fs::write(file, &page).unwrap();
    }
    let elements = page.matches('<').count();
    println!("{} KB, {elements} tags", page.len() / 1024);
    assert!(page.len() < 2_000_000 && elements < 80_000, "{} bytes, {elements} tags", page.len());
    // Every filter is in the table, and the whole matrix is in the script's data.
    let grid = page.split_once("id=\"grid-data\">").unwrap().1.split_once("</script>").unwrap().0;
    let grid: Value = serde_json::from_str(grid).unwrap();
    assert_eq!(grid["filters"].as_array().unwrap().len(), 500);
    for index in 0..500 {
        assert!(page.contains(&format!("/filter-{index}\" data-verdict=")), "filter-{index} is missing");
    }
}
