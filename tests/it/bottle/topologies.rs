//! Meshes with several networks, several revisions, or IPv6: istiod's known results for their proxies, with which the
//! engine agrees.

use super::{istiod, open};
use kubectl_envoyfilter::bottle::doctor::{self, Filters};
use kubectl_envoyfilter::bottle::{Configuration, Node, Open, Opened, Wanted, proxies};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::load::{self, Options};
use kubectl_envoyfilter::model::release::Release;
use serde_json::Value;

fn documents(text: &str) -> Vec<Value> {
    load::read_text("mesh.yaml", text, &Options { keep_documents: true, ..Options::default() }).documents
}

fn all(opened: &mut Opened) -> Vec<(Node, Configuration)> {
    let nodes: Vec<Node> = proxies::all(&opened.objects, &opened.common).into_iter().map(|found| found.node).collect();
    let answers = opened.bottle.ask_all(&nodes, &Wanted { endpoints: true, ..Wanted::default() });
    nodes.into_iter().zip(answers.into_iter().map(|answer| answer.unwrap_or_else(|fault| panic!("{fault}")))).collect()
}

fn of<'c>(all: &'c [(Node, Configuration)], name: &str) -> &'c Configuration {
    &all.iter().find(|(node, _)| node.name.starts_with(name)).unwrap_or_else(|| panic!("no proxy {name}")).1
}

const FILTER: &str = r"
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: patient, namespace: web}
spec:
  configPatches:
  - applyTo: CLUSTER
    match: {context: SIDECAR_OUTBOUND, cluster: {portNumber: 80}}
    patch: {operation: MERGE, value: {connect_timeout: 3s}}
  - applyTo: NETWORK_FILTER
    match: {context: SIDECAR_INBOUND, listener: {filterChain: {filter: {name: envoy.filters.network.http_connection_manager}}}}
    patch: {operation: MERGE, value: {typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, server_name: x}}}
";

/// istiod and the engine apply the same filters to the proxies of a mesh.
fn agree(opened: &mut Opened, revision: Option<&str>, changed: usize) {
    let loaded = load::read_text("filter.yaml", FILTER, &Options { keep_documents: true, ..Options::default() });
    let mesh = MeshSettings { revision: revision.map(str::to_owned), ..MeshSettings::default() };
    let filters = Filters {
        parsed: &loaded.inventory.envoy_filters,
        documents: &loaded.documents,
        release: Release::NEWEST,
        mesh: &mesh,
    };
    let nodes: Vec<Node> = proxies::all(&opened.objects, &opened.common).into_iter().map(|found| found.node).collect();
    let compared = doctor::compare(&mut opened.bottle, &nodes, &filters, &Wanted::default()).unwrap();
    let mut resources = 0;
    for one in compared {
        let one = one.unwrap();
        assert_eq!(one.differences, [], "{}", one.node.full_name());
        resources += one.changed;
    }
    assert!(resources >= changed, "{resources}");
}

const WEB: &str = r"
apiVersion: v1
kind: Namespace
metadata: {name: web, labels: {istio-injection: enabled}}
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: web}
spec: {selector: {app: cart}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart, namespace: web}
spec:
  selector: {matchLabels: {app: cart}}
  template: {metadata: {labels: {app: cart}}, spec: {containers: [{name: app, image: x}]}}
---
";

/// Endpoints of another network are reached through its east-west gateway, those of the same network directly.
#[test]
#[ignore = "needs Go: .ci/run"]
fn endpoints_of_another_network_are_behind_its_gateway() {
    let istiod = istiod("1.31");
    let networks = r#"
apiVersion: v1
kind: Namespace
metadata: {name: istio-system, labels: {topology.istio.io/network: north}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system}
data:
  mesh: ""
  meshNetworks: |
    networks:
      south: {endpoints: [{fromCidr: 192.0.2.0/24}], gateways: [{address: 198.51.100.7, port: 15443}]}
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: far, namespace: web, labels: {app: cart, security.istio.io/tlsMode: istio}}
spec: {address: 192.0.2.9, network: south, labels: {app: cart, security.istio.io/tlsMode: istio}, serviceAccount: default}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: cart, namespace: web}
spec:
  hosts: [cart.both.example]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 80, name: http, protocol: HTTP, targetPort: 8080}]
  workloadSelector: {labels: {app: cart}}
"#;
    let mut opened = open(&istiod, documents(&format!("{WEB}{networks}")), Release::NEWEST);
    let all = all(&mut opened);
    let endpoints = &of(&all, "cart-1").endpoints["outbound|80||cart.both.example"];
    assert!(endpoints.contains("198.51.100.7") && endpoints.contains("15443"), "{endpoints}");
    assert!(!endpoints.contains("192.0.2.9"), "it is not reached directly: {endpoints}");
    assert!(endpoints.contains("10.244.0."), "the own network is: {endpoints}");
    // A machine in the other network sees its own endpoints directly, and reaches the rest through no gateway of ours.
    let far = &of(&all, "far").endpoints["outbound|80||cart.both.example"];
    assert!(far.contains("192.0.2.9"), "{far}");
    agree(&mut opened, None, 2);
}

/// An istiod of a revision reads the mesh config of its name, and objects labeled for it or unlabeled.
#[test]
#[ignore = "needs Go: .ci/run"]
fn a_revision_reads_its_own_mesh_config_and_objects() {
    let istiod = istiod("1.31");
    let revisions = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system}
data: {mesh: "connectTimeout: 1s"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: istio-next, namespace: istio-system}
data: {mesh: "connectTimeout: 7s"}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: old, namespace: web, labels: {istio.io/rev: default}}
spec: {hosts: [cart.web.svc.cluster.local], http: [{name: of-default, route: [{destination: {host: cart.web.svc.cluster.local}}]}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: new, namespace: web, labels: {istio.io/rev: next}}
spec: {hosts: [cart.web.svc.cluster.local], http: [{name: of-next, route: [{destination: {host: cart.web.svc.cluster.local}}]}]}
"#;
    for (revision, timeout, route, other) in
        [("", "1s", "of-default", "of-next"), ("next", "7s", "of-next", "of-default")]
    {
        let mut opened = Open {
            istiod: Some(istiod.clone()),
            sha256: None,
            documents: documents(&format!("{WEB}{revisions}")),
            namespace: "default".to_owned(),
            release: Release::NEWEST,
            revision: revision.to_owned(),
            istiod_namespace: "istio-system".to_owned(),
            cluster_id: None,
            real: false,
            environment: Default::default(),
            limits: Default::default(),
        }
        .start()
        .unwrap_or_else(|fault| panic!("{fault}"));
        let all = all(&mut opened);
        let cart = of(&all, "cart-1");
        let cluster = &cart.clusters["outbound|80||cart.web.svc.cluster.local"];
        assert!(cluster.contains(&format!("\"connect_timeout\":\"{timeout}\"")), "{revision}: {cluster}");
        let routes = &cart.routes["80"];
        assert!(routes.contains(route) && !routes.contains(other), "{revision}: {routes}");
        agree(&mut opened, Some(if revision.is_empty() { "default" } else { revision }), 2);
    }
}

/// With IPv6-only services, stand-in addresses are IPv6, and listeners bind to it.
#[test]
#[ignore = "needs Go: .ci/run"]
fn an_ipv6_mesh_has_ipv6_listeners_and_endpoints() {
    let istiod = istiod("1.31");
    let six =
        WEB.replace("spec: {selector: {app: cart}, ports", "spec: {ipFamilies: [IPv6], selector: {app: cart}, ports");
    assert_ne!(six, WEB);
    let mut opened = open(&istiod, documents(&six), Release::NEWEST);
    let all = all(&mut opened);
    let cart = of(&all, "cart-1");
    assert!(all[0].0.id().starts_with("sidecar~fd00:10:244::"), "{}", all[0].0.id());
    let endpoints = &cart.endpoints["outbound|80||cart.web.svc.cluster.local"];
    assert!(endpoints.contains("fd00:10:244::") && !endpoints.contains("10.244."), "{endpoints}");
    assert!(cart.listeners["virtualInbound"].contains("\"::\""), "{}", cart.listeners["virtualInbound"]);
    assert!(!cart.listeners["virtualInbound"].contains("\"address\":\"0.0.0.0\""));
    agree(&mut opened, None, 2);
}
