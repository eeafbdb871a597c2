//! `--istiod` with a cluster or a capture: istiod generates the same as from the objects themselves, no Secret is
//! requested, and what was not read is reported.

use super::commands::{plain, run};
use super::istiod;
use crate::live::mock::{Fault, Mock, World};
use crate::live::{self, Said};
use crate::support::{testdata, text};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Kinds that istiod reads but the topology does not have: policies of every kind, extensions, Gateway API, endpoints
/// without pods, addresses in a status, localities.
const MORE: &str = r#"
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: patient, namespace: shop}
spec:
  workloadSelector: {labels: {app: cart}}
  configPatches:
  - applyTo: CLUSTER
    match: {context: SIDECAR_OUTBOUND, cluster: {service: ledger.pay.svc.cluster.local}}
    patch: {operation: MERGE, value: {connect_timeout: 3s}}
  - applyTo: HTTP_FILTER
    match: {context: SIDECAR_INBOUND, listener: {filterChain: {filter: {name: envoy.filters.network.http_connection_manager, subFilter: {name: envoy.filters.http.rbac}}}}}
    patch: {operation: INSERT_BEFORE, value: {name: custom, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer, max_request_bytes: 9}}}
  - applyTo: CLUSTER
    match: {context: SIDECAR_OUTBOUND, cluster: {service: nobody.pay.svc.cluster.local}}
    patch: {operation: MERGE, value: {connect_timeout: 3s}}
---
apiVersion: security.istio.io/v1beta1
kind: AuthorizationPolicy
metadata: {name: more, namespace: shop}
spec:
  selector: {matchLabels: {app: cart}}
  rules: [{when: [{key: "request.headers[x-api-key]", values: [canary-key]}]}]
---
apiVersion: security.istio.io/v1beta1
kind: RequestAuthentication
metadata: {name: inline, namespace: shop}
spec:
  selector: {matchLabels: {app: cart}}
  jwtRules: [{issuer: other, jwks: '{"keys":[{"kty":"oct","kid":"a","k":"canary-shared-secret"}]}'}]
---
apiVersion: telemetry.istio.io/v1
kind: Telemetry
metadata: {name: spans, namespace: shop}
spec: {tracing: [{randomSamplingPercentage: 7, customTags: {api-token: {literal: {value: canary-tag}}}}]}
---
apiVersion: extensions.istio.io/v1alpha1
kind: WasmPlugin
metadata: {name: filter, namespace: shop}
spec:
  selector: {matchLabels: {app: cart}}
  url: https://wasm.example/filter.wasm
  sha256: "0000000000000000000000000000000000000000000000000000000000000000"
  pluginConfig: {area: kept, credentials: ["user:canary-password"]}
  vmConfig: {env: [{name: API_TOKEN, value: canary-env}]}
---
apiVersion: networking.istio.io/v1beta1
kind: ProxyConfig
metadata: {name: slow, namespace: shop}
spec: {concurrency: 1, environmentVariables: {DB_PASSWORD: canary-variable}}
---
apiVersion: v1
kind: Service
metadata: {name: outside, namespace: shop}
spec: {clusterIP: 10.1.0.77, ports: [{name: tcp, port: 7777, targetPort: 7777, protocol: TCP}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: outside-a, namespace: shop, labels: {kubernetes.io/service-name: outside}}
addressType: IPv4
endpoints: [{addresses: [192.0.2.7], conditions: {ready: true}}]
ports: [{name: tcp, port: 7777, protocol: TCP}]
---
apiVersion: networking.istio.io/v1beta1
kind: ServiceEntry
metadata: {name: allocated, namespace: shop}
spec: {hosts: [allocated.example], ports: [{number: 6543, name: tcp, protocol: TCP}], resolution: DNS}
status: {addresses: [{value: 240.240.0.9, host: allocated.example}]}
---
apiVersion: v1
kind: Node
metadata: {name: node-1, labels: {topology.kubernetes.io/region: north, topology.kubernetes.io/zone: north-1}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: istio}
spec: {controllerName: istio.io/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: catalog, namespace: shop}
spec:
  parentRefs: [{group: "", kind: Service, name: catalog, port: 7070}]
  rules: [{backendRefs: [{name: catalog, port: 7070}], timeouts: {request: 4s}}]
---
apiVersion: v1
kind: Secret
metadata: {name: own, namespace: shop}
data: {key: Y2FuYXJ5LXNlY3JldA==}
---
apiVersion: v1
kind: Pod
metadata: {name: istiod-1, namespace: istio-system, labels: {app: istiod, istio.io/rev: default}}
spec:
  containers:
  - name: discovery
    image: docker.io/istio/pilot:1.31.0
    env:
    - {name: PILOT_HTTP10, value: "1"}
    - {name: CLUSTER_ID, value: north}
    - {name: PILOT_TOKEN, valueFrom: {secretKeyRef: {name: own, key: key}}}
    - {name: DB_PASSWORD, value: canary-istiod}
status: {phase: Running, podIP: 10.2.0.99, podIPs: [{ip: 10.2.0.99}]}
"#;

const PROXIES: [&str; 4] = ["shop/cart-1", "shop/catalog-1", "pay/ledger-1", "istio-system/ingress-1"];

/// The objects as in a running cluster: in their preferred versions, and pods with their proxy container.
fn objects() -> Vec<Value> {
    let folder = testdata("reference/shop");
    let mesh = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio", "namespace": "istio-system"},
                      "data": {"mesh": text(&folder.join("mesh.yaml"))}});
    let texts = [text(&folder.join("k8s.yaml")), text(&folder.join("istio.yaml")), MORE.to_owned(), mesh.to_string()];
    let mut all: Vec<Value> = texts.iter().flat_map(|text| live::cluster::documents(text)).collect();
    for object in &mut all {
        let version = object["apiVersion"].as_str().unwrap().to_owned();
        if let Some(group) = version.strip_suffix("istio.io/v1").filter(|group| *group != "telemetry.") {
            object["apiVersion"] = format!("{group}istio.io/v1beta1").into();
        }
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        if object["kind"] == "Pod" && name != "istiod-1" {
            let role = if name.starts_with("ingress") { "router" } else { "sidecar" };
            let containers = object["spec"]["containers"].as_array_mut().unwrap();
            containers.retain(|container| container["name"] != "istio-proxy");
            containers.push(json!({
                "name": "istio-proxy", "image": "docker.io/istio/proxyv2:1.31.0", "args": ["proxy", role],
                "env": [{"name": "ISTIO_META_CLUSTER_ID", "value": "north"}, {"name": "ISTIO_META_DNS_CAPTURE", "value": "true"},
                        {"name": "TOKEN", "value": "canary-proxy"}],
            }));
            object["spec"]["serviceAccountName"] = "own".into();
        }
    }
    all
}

fn world() -> World {
    let mut world = World::new("");
    objects().into_iter().for_each(|object| world.add(object));
    world
}

/// Runs a command on the cluster with an istiod.
fn on(mock: &Mock, istiod: &Path, arguments: &[&str]) -> Said {
    let more = ["--istiod", istiod.to_str().unwrap()];
    live::run(&mock.kubeconfig("shop"), &[arguments, &more].concat())
}

/// The same objects as a folder of files.
fn files(folder: &Path) -> PathBuf {
    let path = folder.join("files");
    fs::create_dir(&path).unwrap();
    for (number, object) in objects().iter().enumerate() {
        fs::write(path.join(format!("{number:03}.yaml")), object.to_string()).unwrap();
    }
    path
}

fn capture(mock: &Mock, folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let said = live::run(&mock.kubeconfig("shop"), &["capture", path.to_str().unwrap(), "-A", "--no-dumps"]);
    assert!(path.exists(), "{}{}", said.out, said.err);
    path
}

fn words(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

/// A dump without the object version that istiod passes to a Wasm filter, which depends on the order of reading.
fn unversioned(dump: &str) -> String {
    const KEY: &str = "\"ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION\":\"";
    let mut parts = dump.split(KEY);
    let mut text = parts.next().unwrap().to_owned();
    parts.for_each(|part| text.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit())));
    text
}

/// A dump without secrets of the objects, which a capture does not contain.
fn without_canaries(dump: &str) -> String {
    let mut text = dump.to_owned();
    for canary in ["canary-key", "canary-tag", "user:canary-password", "canary-env"] {
        text = text.replace(canary, "[redacted]");
    }
    text.replace("canary-shared-secret", "[redacted]")
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn a_cluster_and_its_capture_give_what_the_objects_give() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    let (files, mock) = (files(folder.path()), world().start());
    let captured = capture(&world().start(), folder.path(), "mesh.tar.zst");
    let (files, captured) = (files.to_str().unwrap(), captured.to_str().unwrap());
    for proxy in PROXIES {
        for more in [&[][..], &["--without-filters"]] {
            let of = |extra: &[&str]| -> Vec<String> {
                let all: Vec<&str> = [&["dump", proxy][..], more, extra].concat();
                all.into_iter().map(str::to_owned).collect()
            };
            let (code, want, err) = run(&istiod, &words(&of(&["-f", files])));
            assert_eq!(code, 0, "{err}");
            assert!(want.contains("\"CLUSTER_ID\":\"north\""), "the environment of istiod counts: {err}");
            let said = on(&mock, &istiod, &words(&of(&[])));
            assert_eq!(said.code, 0, "{}", said.err);
            let (want, out) = (unversioned(&want), unversioned(&said.out));
            assert!(out == want, "{proxy}: {}", super::part(&want, &out));
            let (code, out, err) = run(&istiod, &words(&of(&["--capture", captured])));
            assert_eq!(code, 0, "{err}");
            let (want, out) = (without_canaries(&want), unversioned(&out));
            assert!(out == want, "{proxy}: {}", super::part(&want, &out));
        }
    }
    // Objects of the added kinds have an effect.
    let said = on(&mock, &istiod, &["dump", "shop/cart-1", "--endpoints"]);
    for words in ["192.0.2.7", "240.240.0.9_6543", "\"4s\"", "wasm.example", "north-1"] {
        assert!(said.out.contains(words), "{words}: {}", said.err);
    }
    let paths = mock.paths();
    assert!(!paths.iter().any(|path| path.contains("secrets")), "{paths:?}");
    assert!(!paths.iter().any(|path| path.contains("config_dump") && path.contains("/proxy/")), "no proxy was read");
    let stored = String::from_utf8_lossy(&zstd::decode_all(&*fs::read(captured).unwrap()).unwrap()).into_owned();
    assert!(stored.contains("wasm.example") && stored.contains("random") && stored.contains("PILOT_HTTP10"));
    let canary = stored.find("canary-").map(|at| stored[at.saturating_sub(200)..at + 40].to_owned());
    assert_eq!(canary, None, "a capture holds a secret");
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn commands_judge_a_cluster_on_what_istiod_generates() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    let (files, mock) = (files(folder.path()), world().start());
    let captured = capture(&mock, folder.path(), "mesh.tar.zst");
    let (files, captured) = (files.to_str().unwrap(), captured.to_str().unwrap());
    let judged = |text: &str| -> Vec<Value> {
        let report: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let findings = report["findings"].as_array().unwrap().iter();
        findings.map(|one| json!([one["code"], one["message"], one["certainty"]])).collect()
    };
    let (_, want, err) = run(&istiod, &["lint", files, "-o", "json"]);
    let want = judged(&want);
    assert!(!want.is_empty(), "{err}");
    let said = on(&mock, &istiod, &["lint", "-A", "-o", "json"]);
    assert_eq!(judged(&said.out), want, "{}", said.err);
    let (_, out, err) = run(&istiod, &["lint", "-o", "json", "--capture", captured]);
    assert_eq!(judged(&out), want, "{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["scope"]["origin"]["type"], "istiod");
    assert_eq!(report["scope"]["origin"]["of"]["type"], "capture");
    assert_eq!(report["scope"]["unread"], json!([]), "{err}");

    let said = on(&mock, &istiod, &["explain", "pod/cart-1"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("applied"), "{}", said.out);
    assert!(said.err.contains("of context mock"), "{}", said.err);
    let said = on(&mock, &istiod, &["render", "pod/cart-1", "--only", "changed"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("\"3s\""), "{}", said.out);
    let (code, out, err) = run(&istiod, &["doctor", "--capture", captured]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("agree on 4 of 4 proxies with 1 EnvoyFilter"), "{out}");
    assert!(err.contains("objects of capture"), "{err}");
    let (_, out, err) = run(&istiod, &["doctor", "--capture", captured, "-o", "json"]);
    let scope = serde_json::from_str::<Value>(&out).unwrap()["scope"].clone();
    assert_eq!((&scope["filters"], &scope["origin"]["of"]["type"]), (&json!(1), &json!("capture")), "{err}");
    assert_eq!((&scope["proxies"], &scope["unread"]), (&json!({"read": 4, "of": 4, "pods": 4}), &json!([])), "{scope}");

    // Any object can be changed, and the cluster's other objects stay.
    let route = folder.path().join("route.yaml");
    fs::write(
        &route,
        "apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: few, namespace: shop}\n\
                       spec: {egress: [{hosts: [./*]}]}\n",
    )
    .unwrap();
    let route = route.to_str().unwrap();
    let said = on(&mock, &istiod, &["diff", "-f", route]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.out.contains("shop/patient patch 0 (CLUSTER): applied → no-match on shop/cart-1"), "{}", said.out);
    assert!(!said.out.contains("new proxy"), "{}", said.out);
    let (code, out, err) = run(&istiod, &["diff", "-f", route, "--capture", captured]);
    assert_eq!((code, out), (1, said.out), "{err}");

    // The next release is the same istiod here: nothing changes, but it is computed.
    let audit =
        ["audit", "--from", "1.30", "--to", "1.31", "--istiod-to", istiod.to_str().unwrap(), "--capture", captured];
    let (_, out, err) = plain(&[&audit[..], &["-o", "json"]].concat());
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"));
    let sources: Vec<&str> =
        report["bases"].as_array().unwrap().iter().map(|one| one["source"].as_str().unwrap()).collect();
    assert_eq!(sources, ["dumps", "computed"], "{err}");
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn a_migration_of_a_cluster_and_of_its_capture_is_computed() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    let (files, mock) = (files(folder.path()), world().start());
    let captured = capture(&world().start(), folder.path(), "mesh");
    let (files, captured) = (files.to_str().unwrap(), captured.to_str().unwrap());
    let arguments = ["migrate", "--prove", "istiod", "-o", "json"];
    let report = |text: &str, err: &str| -> Value {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}{err}"))
    };
    let (code, out, err) = run(&istiod, &[&arguments[..], &[files]].concat());
    assert_eq!(code, 0, "{err}");
    let want = report(&out, &err);
    let proof = &want["filters"][0]["proof"];
    assert_eq!((&proof["class"], &proof["beyond"]), (&json!("exact"), &json!([])), "{want:#}");
    let proxies = |report: &Value| report["filters"][0]["proof"]["proxies"].as_u64().unwrap_or_default();
    assert!(proxies(&want) >= 4, "{want:#}");
    let said = on(&mock, &istiod, &[&arguments[..], &["-A"]].concat());
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let (code, out, err) = run(&istiod, &[&arguments[..], &["--capture", captured]].concat());
    assert_eq!(code, 0, "{out}{err}");
    // With files, there are also stand-ins for missing pods, which include proxies.
    let alike = |part: &Value| {
        let mut part = part.clone();
        part.pointer_mut("/0/proof").and_then(Value::as_object_mut).map(|proof| proof.remove("proxies"));
        part
    };
    for (got, err) in [(report(&said.out, &said.err), said.err.clone()), (report(&out, &err), err.clone())] {
        for part in ["filters", "objects", "classes"] {
            assert_eq!(alike(&got[part]), alike(&want[part]), "{part}: {err}");
        }
        assert_eq!(got["scope"]["proof"], "istiod");
    }
    // A request for one namespace also reports proxies of the others.
    let one = on(&mock, &istiod, &[&arguments[..], &["-n", "shop"]].concat());
    assert_eq!(report(&one.out, &one.err)["filters"], report(&said.out, &said.err)["filters"], "{}", one.err);
    assert!(!mock.paths().iter().any(|path| path.contains("config_dump")), "no proxy was read");
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn what_istiod_is_not_shown_is_told() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    let forbidden = "/apis/security.istio.io/v1beta1/peerauthentications";
    let mock = world().fault(forbidden, Fault::Status(403, "peerauthentications is forbidden"), 9).start();
    let said = on(&mock, &istiod, &["lint", "-A"]);
    assert_eq!(said.code, 3, "{}", said.err);
    for words in ["not allowed to list peerauthentications.security.istio.io", "lacks them", "rbac lint --istiod"] {
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }
    let captured = capture(&mock, folder.path(), "without");
    let (code, _, err) = run(&istiod, &["lint", "--capture", captured.to_str().unwrap()]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("does not hold all peerauthentications.security.istio.io: "), "{err}");

    // A capture of an older version, which does not list its content.
    let old = capture(&world().start(), folder.path(), "old");
    let description = old.join("capture.json");
    let mut said: Value = serde_json::from_str(&text(&description)).unwrap();
    said.as_object_mut().unwrap().remove("kinds");
    fs::write(&description, said.to_string()).unwrap();
    let (code, _, err) = run(&istiod, &["lint", "--capture", old.to_str().unwrap()]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("wasmplugins.extensions.istio.io") && err.contains("capture the mesh again"), "{err}");
    let (code, _, err) = plain(&["lint", "--capture", old.to_str().unwrap()]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("no config dump of shop/cart-1: the capture does not contain it"), "{err}");
    assert!(!err.contains("hold all"), "only an istiod needs the other kinds: {err}");

    // Proxies that ask another istiod.
    let mut world = world();
    let mut other = live::cluster::documents(MORE).pop().unwrap();
    other["metadata"]["name"] = "istiod-2".into();
    other["metadata"]["labels"]["istio.io/rev"] = "old".into();
    world.add(other);
    let mut pod = live::pod("shop", "late", 1);
    pod["metadata"]["annotations"]["istio.io/rev"] = "old".into();
    world.add(pod);
    let said = on(&world.start(), &istiod, &["lint", "-A"]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("1 proxy is of other control planes (old) not asked about"), "{}", said.err);
}

/// The roles that `rbac` prints cover the requests.
#[test]
fn the_role_lists_what_istiod_reads_and_no_secret() {
    let (code, out, err) = plain(&["rbac", "lint", "--istiod"]);
    assert_eq!(code, 0, "{err}");
    for words in ["wasmplugins", "endpointslices", "referencegrants", "nodes", "ingresses"] {
        assert!(out.contains(words), "{words}: {out}");
    }
    assert!(!out.contains("secrets") && !out.contains("pods/"), "{out}");
    let (code, _, err) = plain(&["rbac", "get", "--istiod"]);
    assert_eq!(code, 2, "{err}");
    let (_, out, _) = plain(&["rbac", "capture"]);
    assert!(out.contains("wasmplugins") && !out.contains("secrets"), "{out}");
}
