//! `webhook policy` on the real API server: every rule that it claims to check, on the cases of all rules, compared to
//! `lint`.

use super::{cluster, documents, text};
use crate::linting::{METADATA_SENT, Proxies, Sent, sent_filters};
use crate::live::run;
use crate::support::piped;
use kubectl_envoyfilter::deploy::policy::{Policy, expressed};
use kubectl_envoyfilter::load;
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::source::Severity;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

/// Label that selects the objects for the policies of this test; those of other tests are left alone.
const MARK: &str = "test/policed";

/// The API server's answer about an object: what it would store or why it does not, and warnings.
struct Answer {
    denied: Option<String>,
    warnings: String,
    stored: Value,
}

fn ask(filter: &Value) -> Answer {
    let cluster = cluster();
    let namespace = text(filter, "/metadata/namespace");
    let path = format!("/apis/networking.istio.io/v1alpha3/namespaces/{namespace}/envoyfilters?dryRun=All");
    let request = http::Request::post(path).header("content-type", "application/json");
    let request = request.body(filter.to_string().into_bytes().into()).unwrap();
    cluster.runtime.block_on(async {
        let answer = cluster.client.send(request).await.unwrap();
        let status = answer.status();
        let warnings = answer.headers().get_all("warning").iter().map(|one| one.to_str().unwrap().to_owned());
        let warnings = warnings.collect::<Vec<_>>().join("\n");
        let body = answer.into_body().collect_bytes().await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let denied = (!status.is_success()).then(|| text(&body, "/message").to_owned());
        Answer { denied, warnings, stored: body }
    })
}

fn apply(objects: &[Value]) -> String {
    let kubeconfig = cluster().kubeconfig("admin", "default");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    let mut command = Command::new("kubectl");
    command.args(["apply", "--server-side", "-f", "-"]).env("KUBECONFIG", kubeconfig);
    let output = piped(&mut command, &list.to_string());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

/// Installs the policies for marked objects, and waits until they are in effect.
fn install() -> Vec<Value> {
    let cluster = cluster();
    let printed =
        run(&cluster.kubeconfig("admin", "default"), &["webhook", "policy", "--name", "checked", "-o", "yaml"]);
    assert_eq!((printed.code, printed.err.as_str()), (0, ""));
    let mut objects = documents(&printed.out);
    assert_eq!(objects.len(), 10);
    for object in objects.iter_mut().filter(|object| text(object, "/kind").ends_with("Binding")) {
        object["spec"]["matchResources"]["objectSelector"] = json!({"matchLabels": {MARK: "yes"}});
    }
    assert_eq!(apply(&objects), "", "the API server warns of the policies");
    let filter = |name: &str, spec: Value| {
        json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": name, "namespace": "istio-system", "labels": {MARK: "yes"}}, "spec": spec,
        })
    };
    let bootstrap = json!({"applyTo": "BOOTSTRAP", "patch": {"operation": "MERGE", "value": {"a": 1}}});
    let bad = filter("first", json!({"workloadSelector": {"labels": {"a": ""}}, "configPatches": [bootstrap]}));
    let useless = filter("second", json!({"configPatches": []}));
    // The policy of errors and the one of warnings take effect separately.
    for _ in 0..100 {
        if ask(&bad).denied.is_some() && ask(&useless).warnings.contains("EF020 ") {
            return objects;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("the policies do not come into effect");
}

/// A code, and whether its severity is an error.
type Verdicts = BTreeSet<(&'static str, bool)>;

/// The codes in a policy's messages; `true` for denials.
fn said(answer: &Answer, codes: &[&'static str]) -> Verdicts {
    let mut verdicts = Verdicts::new();
    for code in codes {
        let word = format!("{code} ");
        if answer.denied.as_ref().is_some_and(|denied| denied.contains(&word)) {
            verdicts.insert((code, true));
        }
        if answer.warnings.contains(&word) {
            verdicts.insert((code, false));
        }
    }
    verdicts
}

/// A filter with each of its patches alone, and with each label of its selector alone; nothing if it has only one of
/// both.
fn parts(filter: &Value) -> Vec<Value> {
    let patches = filter["spec"]["configPatches"].as_array().filter(|patches| patches.len() > 1);
    let labels = filter["spec"]["workloadSelector"]["labels"].as_object().filter(|labels| labels.len() > 1);
    let with = |at: &str, value: Value| {
        let mut part = filter.clone();
        *part.pointer_mut(at).unwrap() = value;
        part
    };
    let patches = patches.into_iter().flatten().map(|patch| with("/spec/configPatches", json!([patch])));
    let labels =
        labels.into_iter().flatten().map(|(key, value)| with("/spec/workloadSelector/labels", json!({key: value})));
    patches.chain(labels).collect()
}

#[test]
#[ignore = "needs Go and kubectl: .ci/run"]
fn a_policy_agrees_with_lint() {
    let cluster = cluster();
    install();
    let policy = Policy {
        name: "checked",
        release: Release::NEWEST,
        root_namespace: "istio-system",
        action: "Deny",
        failure_policy: "Ignore",
    };
    let all = expressed(&policy);
    let codes: Vec<&'static str> = all.iter().map(|one| one.code).collect();
    let partly: BTreeSet<&str> = all.iter().filter(|one| !one.without.is_empty()).map(|one| one.code).collect();
    let proxies = Proxies::new(&[], Release::NEWEST);
    let mut namespaces = BTreeSet::new();
    let (mut wrong, mut missed) = (String::new(), BTreeMap::<&str, usize>::new());
    let (mut found, mut asked, mut refused) = (BTreeMap::<&str, usize>::new(), 0, 0);
    // This policy is not generated for other releases, recordings and files.
    for Sent { name, filter, namespace, object } in sent_filters(&["istio", "from", "also"]) {
        if namespaces.insert(namespace.clone()) {
            let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
            let _ = cluster.send("POST", "/api/v1/namespaces", "application/json", &object);
        }
        let mut objects = vec![object];
        while let Some(mut object) = objects.pop() {
            asked += 1;
            let Answer { denied: None, mut stored, .. } = ask(&object) else {
                // The CustomResourceDefinition rejects it before any policy runs, and may prune parts of the filter.
                refused += 1;
                objects.extend(parts(&object));
                continue;
            };
            // A policy sees what would be stored, so `lint` gets the same.
            stored["metadata"].as_object_mut().unwrap().retain(|key, _| METADATA_SENT.contains(&key.as_str()));
            let loaded = load::read_text("stored.json", stored.to_string(), &load::Options::default());
            let findings = proxies.lint(&loaded);
            object["metadata"]["labels"][MARK] = "yes".into();
            let answer = ask(&object);
            let said = said(&answer, &codes);
            let mut want = Verdicts::new();
            for finding in &findings {
                let code = codes.iter().find(|code| **code == finding.rule.code);
                let about = finding.filter == filter && finding.severity > Severity::Info;
                if let (Some(code), true) = (code, about) {
                    // The one rule that is milder here; the table gives the reason.
                    want.insert((code, finding.severity == Severity::Error && *code != "EF213"));
                }
            }
            for (code, denied) in said.difference(&want) {
                writeln!(wrong, "{name}: the policy says {code} (denied: {denied}), lint does not").unwrap();
            }
            for (code, denied) in want.difference(&said) {
                if partly.contains(code) {
                    *missed.entry(code).or_default() += 1;
                } else {
                    writeln!(wrong, "{name}: lint says {code} (error: {denied}), the policy does not").unwrap();
                }
            }
            for (code, _) in said.intersection(&want) {
                *found.entry(code).or_default() += 1;
            }
        }
    }
    println!("{asked} filters asked about, {refused} refused by the CustomResourceDefinition; found {found:?}");
    println!("missed by rules that are checked in part: {missed:?}");
    let silent: Vec<_> = codes.iter().filter(|code| !found.contains_key(*code)).collect();
    println!("rules without a case that gets here: {silent:?}");
    assert!(wrong.is_empty(), "\n{wrong}");
    assert_eq!(silent, Vec::<&&str>::new());
}

/// The API server stops expressions that cost too much. Prints measurements.
#[test]
#[ignore = "needs Go and kubectl: .ci/run"]
fn a_policy_copes_with_large_filters() {
    install();
    let filter = |patches: usize, mark: &str| {
        let patch = |number: usize| {
            json!({
                "applyTo": "HTTP_FILTER",
                "match": {
                    "context": "SIDECAR_INBOUND", "proxy": {"proxyVersion": "^1\\.3[01]\\."},
                    "listener": {"filterChain": {"filter": {"name": "envoy.filters.network.http_connection_manager", "subFilter": {"name": "envoy.filters.http.router"}}}},
                },
                "patch": {"operation": "INSERT_BEFORE", "value": {"name": format!("lua-{number}"), "typed_config": {
                    "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
                    "default_source_code": {"inline_string": "function envoy_on_request(handle) end"},
                }}},
            })
        };
        let mut patches: Vec<Value> = (1..patches).map(patch).collect();
        patches.push(json!({"applyTo": "BOOTSTRAP", "patch": {"operation": "MERGE", "value": {"a": 1}}}));
        json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": "large", "namespace": "istio-system", "labels": {MARK: mark}},
            "spec": {"workloadSelector": {"labels": {"a": "b"}}, "configPatches": patches},
        })
    };
    let mut most = 0;
    for patches in [1, 10, 32, 100, 400, 1_000] {
        let time = |mark| {
            let filter = filter(patches, mark);
            let began = Instant::now();
            let answer = ask(&filter);
            (began.elapsed(), answer)
        };
        let (without, _) = time("no");
        let (with, answer) = time("yes");
        let denied = answer.denied.is_some();
        println!("{patches} patches: {without:.1?} without the policies, {with:.1?} with them, denied: {denied}");
        if patches <= 32 {
            let place = format!("at spec.configPatches[{}]:", patches - 1);
            assert!(answer.denied.as_ref().is_some_and(|denied| denied.contains(&place)), "{:?}", answer.denied);
        }
        if denied {
            most = patches;
        }
    }
    assert!(most >= 400, "only {most} patches can be checked");
}

/// The namespace label means the same to a policy and to the webhook.
#[test]
#[ignore = "needs Go and kubectl: .ci/run"]
fn the_label_of_a_namespace_decides() {
    let cluster = cluster();
    for (word, denied, warned) in [
        ("enforce", true, false),
        ("warn", false, true),
        ("audit", false, false),
        ("off", false, false),
        ("other", true, false),
    ] {
        let name = format!("labeled-{word}");
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "labels": {"envoyfilter.dev/admission": word}}});
        cluster.create(&[namespace]);
        install();
        let bad = json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": "bad", "namespace": name, "labels": {MARK: "yes"}},
            "spec": {"workloadSelector": {"labels": {"a": ""}}, "configPatches": [
                {"applyTo": "CLUSTER", "patch": {"operation": "REPLACE", "value": {"connect_timeout": "1s"}}}]},
        });
        // Each binding takes effect separately.
        let right = (0..50).any(|_| {
            let answer = ask(&bad);
            let fine = answer.denied.is_some() == denied && answer.warnings.contains("EF301") == warned;
            if !fine {
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            fine
        });
        let answer = ask(&bad);
        assert!(right, "{word}: denied {:?}, warnings {}", answer.denied, answer.warnings);
    }
}
