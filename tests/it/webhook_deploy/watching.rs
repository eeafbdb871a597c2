//! The installed watch, its alerts and its dashboard.

use super::{objects, run};
use kubectl_envoyfilter::admission::health::Health;
use kubectl_envoyfilter::deploy;
use kubectl_envoyfilter::report::watch::Trouble;
use kubectl_envoyfilter::watch::metrics::{Metrics, Outcome};
use kubectl_envoyfilter::watch::state::{Key, State, Topic, Value as Wrong};
use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// All exported samples, with their labels.
fn exported() -> BTreeMap<String, BTreeSet<String>> {
    let health = Arc::new(Health::default());
    health.expect("Pod");
    let metrics = Metrics::new(Arc::clone(&health));
    let mut state = State::default();
    let key = Key { topic: Topic::Finding, filter: "shop/a".into(), patch: None, place: None, detail: String::new() };
    let rule = Some(("EF301", "error"));
    let wrong = Wrong { trouble: Trouble::Finding, message: "bad".into(), short: None, rule };
    state.set(&[Topic::Finding], BTreeMap::from([(key, wrong)]));
    metrics.state(&state, 1, Some(Duration::from_secs(3)), (1, 1));
    metrics.read(Outcome::Read, Duration::from_millis(20));
    metrics.changed(Trouble::Rejected, "added");
    metrics.event(true);
    metrics.event(false);
    let text = metrics.text().unwrap();
    let label = Regex::new(r#"(\w+)=""#).unwrap();
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let labels = label.captures_iter(line).map(|found| found[1].to_owned());
        all.entry(name.to_owned()).or_default().extend(labels);
    }
    all
}

/// Every expression of the alerts and of the dashboard.
fn expressions() -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![deploy::alerts(), deploy::dashboard()];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => {
                found.extend(fields.get("expr").and_then(Value::as_str).map(str::to_owned));
                open.extend(fields.into_iter().map(|(_, value)| value));
            }
            _ => {}
        }
    }
    assert!(found.len() > 20, "{found:?}");
    found
}

#[test]
fn alerts_and_dashboard_ask_for_what_is_exported() {
    let exported = exported();
    let metric = Regex::new(r"envoyfilter_\w+").unwrap();
    let by = Regex::new(r"by \(([^)]*)\)").unwrap();
    let matcher = Regex::new(r#"(\w+)(=~?)"([^"]*)""#).unwrap();
    let mut asked = BTreeSet::new();
    for expression in expressions() {
        let open = expression.matches(['(', '[', '{']).count();
        assert_eq!(open, expression.matches([')', ']', '}']).count(), "{expression}");
        let mut labels = BTreeSet::from(["le".to_owned()]);
        for name in metric.find_iter(&expression) {
            let known = exported.get(name.as_str());
            let known = known.unwrap_or_else(|| panic!("{} is not exported: {:?}", name.as_str(), exported.keys()));
            labels.extend(known.iter().cloned());
            asked.insert(name.as_str().to_owned());
        }
        let grouped =
            by.captures_iter(&expression).flat_map(|found| found[1].split(", ").map(str::to_owned).collect::<Vec<_>>());
        for label in grouped.chain(matcher.captures_iter(&expression).map(|found| found[1].to_owned())) {
            assert!(labels.contains(&label), "{label} of {expression}: {labels:?}");
        }
        for found in matcher.captures_iter(&expression).filter(|found| &found[1] == "problem") {
            for word in found[3].split('|') {
                assert!(Trouble::ALL.iter().any(|trouble| trouble.as_str() == word), "{word} of {expression}");
            }
        }
    }
    assert!(asked.len() > 10, "{asked:?}");
    // The documentation page names only exported metrics.
    let page = include_str!("../../../docs/src/watch.md");
    for name in metric.find_iter(page) {
        assert!(
            exported.contains_key(name.as_str()) || exported.contains_key(&format!("{}_bucket", name.as_str())),
            "{}",
            name.as_str()
        );
    }
}

#[test]
fn alert_templates_use_labels_of_their_expression() {
    let filled = Regex::new(r"\{\{ \$labels\.(\w+) \}\}").unwrap();
    for rule in deploy::alerts()["groups"][0]["rules"].as_array().unwrap() {
        let expression = rule["expr"].as_str().unwrap();
        for found in filled.captures_iter(rule["annotations"]["description"].as_str().unwrap()) {
            assert!(
                expression.contains(&format!("by ({}", &found[1])) || expression.contains(&format!(", {}", &found[1])),
                "{rule}"
            );
        }
    }
}

#[test]
fn the_watch_is_installed_on_request() {
    let base = ["webhook", "install", "--dry-run=client"];
    let (_, out, _) = run(&base);
    assert!(!out.contains("envoyfilter-webhook-watch"), "{out}");
    let options =
        ["--with", "watch", "--watch-replicas", "2", "--watch-rate", "30", "--prometheus-rule", "--service-monitor"];
    let (code, out, err) = run(&[&base, &options[..]].concat());
    assert_eq!(code, 0, "{err}");
    let installed = objects(&out);
    let name = "envoyfilter-system/envoyfilter-webhook-watch";
    for kind in ["ServiceAccount", "Deployment", "Service", "NetworkPolicy", "ServiceMonitor", "PrometheusRule"] {
        assert!(installed.contains_key(&format!("{kind} {name}")), "{kind}: {:?}", installed.keys());
    }
    for shard in ["0", "1"] {
        assert!(installed.contains_key(&format!("Lease {name}-{shard}")), "{:?}", installed.keys());
        let role = &installed[&format!("Role {name}-{shard}")]["rules"][0];
        assert_eq!(role["verbs"], serde_json::json!(["get", "update"]), "{role}");
        assert_eq!(role["resourceNames"], serde_json::json!([format!("envoyfilter-webhook-watch-{shard}")]));
    }
    let pod = &installed[&format!("Deployment {name}")]["spec"]["template"]["spec"];
    let arguments: Vec<&str> =
        pod["containers"][0]["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    for argument in [
        "watch",
        "--events",
        "--shards=2",
        "--rate=30",
        "--lease-prefix=envoyfilter-webhook-watch",
        "--dump-via=istiod",
    ] {
        assert!(arguments.contains(&argument), "{argument}: {arguments:?}");
    }
    // Proxies themselves are reached only if requested.
    let forwards = |out: &str| -> Vec<String> {
        let all = objects(out);
        let of_watch = all
            .into_iter()
            .filter(|(key, object)| key.contains("-watch") && object["rules"].to_string().contains("portforward"));
        of_watch.map(|(key, _)| key).collect()
    };
    assert_eq!(forwards(&out), ["Role istio-system/envoyfilter-webhook-watch"]);
    let (_, out, _) = run(&[&base[..], &["--with", "watch", "--watch-dump-via", "port-forward"]].concat());
    assert!(forwards(&out).contains(&"ClusterRole /envoyfilter-webhook-watch-proxies".to_owned()));
    let (code, _, err) = run(&[&base[..], &["--prometheus-rule"]].concat());
    assert_eq!(code, 2);
    assert!(err.contains("--with watch"), "{err}");
}

/// The command accepts the arguments of the Deployment.
#[test]
fn the_arguments_of_the_deployment_are_options() {
    let (_, out, _) = run(&["webhook", "install", "--dry-run=client", "--with", "watch"]);
    let installed = objects(&out);
    let pod = &installed["Deployment envoyfilter-system/envoyfilter-webhook-watch"]["spec"]["template"]["spec"];
    let given = pod["containers"][0]["args"].as_array().unwrap();
    let mut given: Vec<&str> = given.iter().map(|argument| argument.as_str().unwrap()).collect();
    given.retain(|argument| !argument.starts_with("--config"));
    // Without a cluster it fails when it connects.
    let (code, _, err) = run(&given);
    assert!(code != 0 && !err.contains("Usage:") && !err.contains("unexpected"), "{code}: {err}");
}
