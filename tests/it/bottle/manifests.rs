//! Manifests alone: stand-ins are added, and istiod sends what it would send in such a mesh.

use super::{istiod, open};
use kubectl_envoyfilter::bottle::{Configuration, Wanted, proxies};
use kubectl_envoyfilter::load::{self, Options};
use kubectl_envoyfilter::model::release::Release;

const MESH: &str = r"
apiVersion: v1
kind: Namespace
metadata: {name: web, labels: {istio-injection: enabled}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: front, namespace: web}
spec:
  gatewayClassName: istio
  listeners:
  - {name: http, port: 80, protocol: HTTP}
  - {name: tls, port: 443, protocol: HTTPS, hostname: a.example, tls: {certificateRefs: [{name: cert}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: wp, namespace: web}
spec: {gatewayClassName: istio-waypoint, listeners: [{name: mesh, port: 15008, protocol: HBONE}]}
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: web, labels: {istio.io/use-waypoint: wp}}
spec: {selector: {app: cart}, ports: [{name: http, port: 80, targetPort: web}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart, namespace: web}
spec:
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}}
    spec: {containers: [{name: app, image: x, ports: [{name: web, containerPort: 8080}]}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: web}
spec: {parentRefs: [{name: front}], rules: [{backendRefs: [{name: cart, port: 80}]}]}
";

#[test]
#[ignore = "needs Go: .ci/run"]
fn sidecars_gateways_and_waypoints_come_from_manifests_alone() {
    let istiod = istiod("1.31");
    let options = Options { keep_documents: true, ..Options::default() };
    let documents = load::read_text("mesh.yaml", MESH, &options).documents;
    let mut opened = open(&istiod, documents, Release::NEWEST);
    let mut ask = |word: &str| -> Configuration {
        let found = proxies::named(&opened.objects, &opened.common, word, "web").unwrap();
        let node = found.first().unwrap_or_else(|| panic!("{word} has no proxy")).node.clone();
        opened
            .bottle
            .ask(&node, &Wanted { endpoints: true, ..Wanted::default() })
            .unwrap_or_else(|fault| panic!("{fault}"))
    };
    let sidecar = ask("deploy/cart");
    assert!(sidecar.clusters.contains_key("inbound|8080||"), "{:?}", sidecar.clusters.keys());
    assert!(sidecar.endpoints["outbound|80||cart.web.svc.cluster.local"].contains("10.244.0."));
    let gateway = ask("gateway/front");
    assert!(gateway.listeners.contains_key("0.0.0.0_80"), "{:?}", gateway.listeners.keys());
    assert!(gateway.listeners.contains_key("0.0.0.0_443"), "{:?}", gateway.listeners.keys());
    assert!(
        gateway.routes["http.80"].contains("outbound|80||cart.web.svc.cluster.local"),
        "{}",
        gateway.routes["http.80"]
    );
    let waypoint = ask("gateway/wp");
    let inbound = "inbound-vip|80|http|cart.web.svc.cluster.local";
    assert!(waypoint.clusters.contains_key(inbound), "{:?}", waypoint.clusters.keys());
}
