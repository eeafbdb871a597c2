//! Every case of every rule: the review of each filter among the others gives the same findings as `lint` for the same
//! objects.

use super::{builder, kind_of, review, rules, text};
use crate::linting::{directive, input};
use crate::support::{Share, testdata};
use kubectl_envoyfilter::admission::judge::{Asked, Rules, judge};
use kubectl_envoyfilter::admission::review::{Mode, Policy, Request};
use kubectl_envoyfilter::admission::snapshot::Overrides;
use kubectl_envoyfilter::cluster::objects::{Reader, keep};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::lint::config::Config;
use kubectl_envoyfilter::lint::{self, Finding, Input};
use kubectl_envoyfilter::load::{self, Loaded, reference, yaml, yaml_text};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::rules::ALL;
use kubectl_envoyfilter::source::{Node, Severity, Sources};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The compared part of a finding: `None` instead of the filter for the reviewed one.
type Said1 = (String, String, Option<String>, String);

/// The objects of a case as kubectl sends them, each with a name and a namespace.
fn objects(case: &Path) -> (Vec<Value>, Release) {
    let source = String::from_utf8_lossy(&fs::read(case).unwrap()).into_owned();
    let release = directive(&source, "istio").first().map_or(Release::NEWEST, |text| text.parse().unwrap());
    let mut texts = vec![source.clone()];
    for also in directive(&source, "also") {
        texts.push(fs::read_to_string(case.with_file_name(also)).unwrap());
    }
    let mut objects = Vec::new();
    for text in texts {
        let file = Sources::default().add("case", text.as_str());
        let (documents, _) = yaml::documents(file, &text);
        for mut object in documents.iter().map(Node::to_json).filter(Value::is_object) {
            let namespaced = object["kind"] != "Namespace";
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
                && namespaced
            {
                metadata.entry("namespace").or_insert("default".into());
            }
            objects.push(object);
        }
    }
    // One object per name: of two, only the last one exists in a cluster.
    let mut seen = BTreeSet::new();
    let mut kept: Vec<Value> = Vec::new();
    for object in objects.into_iter().rev() {
        let key = format!(
            "{} {} {}/{}",
            text(&object, "/apiVersion"),
            text(&object, "/kind"),
            text(&object, "/metadata/namespace"),
            text(&object, "/metadata/name")
        );
        if kind_of(&object).is_some() && !text(&object, "/metadata/name").is_empty() && seen.insert(key) {
            kept.push(object);
        }
    }
    kept.reverse();
    (kept, release)
}

/// `lint` on objects as it reads them from a cluster; the last one is the reviewed filter.
fn linted(objects: &[&Value], release: Release) -> (Loaded, Vec<Finding>) {
    linted_with(objects, release, &Config::default())
}

fn linted_with(objects: &[&Value], release: Release, config: &Config) -> (Loaded, Vec<Finding>) {
    let mut loaded = Loaded::default();
    for (number, object) in objects.iter().enumerate() {
        let mut object = (*object).clone();
        keep(&mut object, Reader::Questions);
        let filter = object["kind"] == "EnvoyFilter";
        let text = if filter { yaml_text::write(&object).unwrap() } else { object.to_string() };
        loaded.add_text(&format!("object {number}"), text, &load::Options::default());
    }
    let mesh = MeshSettings::of(&loaded.inventory);
    let input = Input { references: reference::configs(release), ..input(&loaded, release, &mesh) };
    let found = lint::check(&input, ALL, config, str::to_owned).findings;
    (loaded, found)
}

/// Findings about the last object and about others.
fn split(loaded: &Loaded, found: &[Finding], objects: usize) -> (Vec<Said1>, Vec<Said1>) {
    let subject = format!("object {}", objects - 1);
    let own = |one: &&Finding| loaded.sources.get(one.primary.span.file).name == subject;
    let said = |one: &Finding, other: bool| {
        let other = other.then(|| one.filter.clone());
        (one.rule.code.to_owned(), format!("{:?}", one.severity), other, one.message.clone())
    };
    let (own, others): (Vec<&Finding>, Vec<&Finding>) = found.iter().partition(own);
    (own.iter().map(|one| said(one, false)).collect(), others.iter().map(|one| said(one, true)).collect())
}

fn cases() -> Vec<PathBuf> {
    let folders = fs::read_dir(testdata("rules")).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> = folders
        .filter(|path| path.is_dir())
        .flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    cases.sort();
    cases
}

fn a_review_agrees_with_lint_for_every_case_of_every_rule_by(share: Share) {
    let (mut wrong, mut reviews, mut findings) = (Vec::new(), 0, 0);
    // Cached findings of one case must not appear in another.
    let rules = rules();
    let mut milder = BTreeSet::new();
    let mut shown: BTreeMap<String, bool> = BTreeMap::new();
    for case in share.of(cases()) {
        // A filter that is too large to judge gives only that finding.
        if case.parent().is_some_and(|folder| folder.ends_with("over-budget")) {
            continue;
        }
        let rule = case.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        let code = ALL.iter().find(|one| one.name == rule).map_or("", |one| one.code);
        let bad = case.file_name().unwrap().to_str().unwrap().starts_with("bad");
        let (objects, release) = objects(&case);
        let filters: Vec<usize> = (0..objects.len()).filter(|&index| objects[index]["kind"] == "EnvoyFilter").collect();
        for &subject in &filters {
            let others: Vec<Value> =
                objects.iter().enumerate().filter(|(index, _)| *index != subject).map(|(_, it)| it.clone()).collect();
            let asked = &objects[subject];
            let mut snapshot =
                builder(Overrides { release: Some(release), ..Overrides::default() }, &others).snapshot();
            let (namespace, name) = (text(asked, "/metadata/namespace"), text(asked, "/metadata/name"));
            let asked_of = Asked { namespace, name, old: None, new: Some(asked) };
            let mut got: Vec<Said1> = judge(&snapshot, &rules, &asked_of)
                .remarks
                .into_iter()
                .map(|it| (it.code.to_owned(), format!("{:?}", it.severity), it.other, it.message))
                .collect();
            // In the order in which the server knows them, so that the same one of two filters is the second.
            let mut sorted: Vec<&Value> = others.iter().filter(|it| it["kind"] != "EnvoyFilter").collect();
            sorted.extend(others.iter().filter(|it| it["kind"] == "EnvoyFilter"));
            let before = linted(&sorted, release);
            sorted.push(asked);
            let after = linted(&sorted, release);
            let (mut want, others_after) = split(&after.0, &after.1, sorted.len());
            let (a, b) = split(&before.0, &before.1, usize::MAX);
            let mut stood = [a, b].concat();
            want.extend(others_after.into_iter().filter(|one| {
                let at = stood.iter().position(|it| it == one);
                at.map(|at| stood.remove(at)).is_none()
            }));
            // The verdict: errors deny, except those that an object applied later may resolve.
            let errors = || want.iter().filter(|one| one.1 == "Error");
            let may_come = |one: &&Said1| one.2.is_none() && LATER.contains(&one.0.as_str());
            let request = Request::read(review("CREATE", None, Some(asked)).to_string().as_bytes()).unwrap();
            let denied =
                request.decide(&snapshot, &rules, Policy { mode: Mode::Enforce, deny_at: Severity::Error }).denied();
            if denied != errors().any(|one| !may_come(&one)) {
                wrong.push(format!("{} {name}: denied {denied}, lint {want:?}", case.display()));
            }
            if !denied {
                milder.extend(errors().map(|one| one.0.clone()));
            }
            want.sort();
            got.sort();
            if want != got {
                wrong.push(format!("{} {name}:\n  lint   {want:?}\n  review {got:?}", case.display()));
            }
            reviews += 1;
            findings += got.len();
            if bad {
                *shown.entry(code.to_owned()).or_default() |= got.iter().any(|one| one.0 == code);
            }
            snapshot = builder(Overrides::default(), &[]).snapshot();
            assert_eq!(snapshot.size(), (0, 0));
        }
    }
    println!("{reviews} reviews, {findings} findings; errors of these rules do not always deny: {milder:?}");
    assert!(wrong.is_empty(), "{} of {reviews}:\n{}", wrong.len(), wrong.join("\n"));
    let silent: Vec<&str> = shown.iter().filter(|(_, shown)| !**shown).map(|(code, _)| code.as_str()).collect();
    if share == Share::Whole {
        assert_eq!(silent, NOT_AT_ADMISSION, "rules whose bad cases a review does not show");
    }
}

in_part_and_in_full!(
    a_review_agrees_with_lint_for_every_case_of_every_rule,
    a_review_agrees_with_lint_for_every_case_of_every_rule_in_full,
    a_review_agrees_with_lint_for_every_case_of_every_rule_by
);

/// Two mistakes with one cause, found by a rule about one filter and a rule about filters among others.
const ABOUT_REFERENCES: [&str; 2] = ["EF030", "EF203"];

fn by_reference(name: &str, references: &Value) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"targetRefs": references, "configPatches": [{
            "applyTo": "CLUSTER", "match": {"context": "GATEWAY"},
            "patch": {"operation": "MERGE", "value": {"connect_timeout": "2s"}},
        }]},
    })
}

/// What `lint` and reviews, without and with another filter, say about the references of a filter.
fn said_of_references(asked: &Value, config: &Config) -> Vec<Vec<String>> {
    let about = |code: &str| ABOUT_REFERENCES.contains(&code).then(|| code.to_owned());
    let (loaded, found) = linted_with(&[asked], Release::NEWEST, config);
    let mut all = vec![split(&loaded, &found, 1).0.iter().filter_map(|one| about(&one.0)).collect()];
    let front = json!([{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "front"}]);
    for others in [Vec::new(), vec![by_reference("other", &front)]] {
        let snapshot = builder(Overrides::default(), &others).snapshot();
        let asked_of = Asked { namespace: "shop", name: "asked", old: None, new: Some(asked) };
        let judged = judge(&snapshot, &Rules::new(ALL.to_vec(), config.clone()), &asked_of);
        all.push(judged.remarks.iter().filter_map(|one| about(one.code)).collect());
    }
    all
}

/// It is reported once, with and without other filters, and so is one of several references.
#[test]
fn one_mistake_is_reported_once_whatever_rules_find_it() {
    let front = json!({"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "front"});
    let mut elsewhere = front.clone();
    elsewhere["namespace"] = "edge".into();
    for references in [json!([elsewhere]), json!([front, elsewhere])] {
        let said = said_of_references(&by_reference("asked", &references), &Config::default());
        assert_eq!(said, [["EF203"]; 3]);
    }
    // What is not reported still explains the other.
    let mut suppressed = by_reference("asked", &json!([elsewhere]));
    suppressed["metadata"]["annotations"] = json!({"envoyfilter.dev/ignore": "EF203 the gateway moves"});
    assert_eq!(said_of_references(&suppressed, &Config::default()), [[""; 0]; 3]);
    let ignored = "overrides:\n- namespaces: [shop]\n  ignore: [EF203]\n";
    let (ignored, problems) =
        Config::read(&yaml::documents(Sources::default().add("config", ignored), ignored).0[0], ALL);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(said_of_references(&by_reference("asked", &json!([elsewhere])), &ignored), [[""; 0]; 3]);
}

/// Findings that only warn at admission ([`kubectl_envoyfilter::admission::later`]).
pub(super) const LATER: [&str; 4] = ["EF201", "EF202", "EF204", "EF317"];

/// Rules without findings in a review of their own cases: they concern the text of a file, or need config dumps,
/// Deployments with pods, an upgrade, or an Envoy.
const NOT_AT_ADMISSION: &[&str] = &[
    "EF003", "EF004", "EF005", "EF018", "EF133", "EF136", "EF137", "EF138", "EF139", "EF201", "EF202", "EF226",
    "EF229", "EF231", "EF311", "EF316", "EF345", "EF349", "EF350", "EF351", "EF352", "EF353", "EF390", "EF402",
    "EF406", "EF413", "EF505", "EF520", "EF538", "EF539", "EF541", "EF601", "EF602", "EF603", "EF604", "EF605",
    "EF606", "EF607", "EF608", "EF609", "EF610", "EF611", "EF612", "EF613", "EF614", "EF615", "EF616", "EF617",
    "EF801", "EF802", "EF803", "EF804", "EF805", "EF806", "EF807", "EF902", "EF903",
];
