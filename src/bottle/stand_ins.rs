//! Adds what a cluster would add to manifests, so that istiod sees a running mesh: namespaces, pods of controllers,
//! addresses, endpoints, services of gateways, and secrets with newly created certificates.
//!
//! Given objects stay unchanged, except for missing addresses. The same objects give the same result, except for the
//! certificates.

use super::kinds::{self, Kind};
use super::node::addresses;
use super::objects::{Object, Objects, Place, PodsByLabel, at, list, map, selects, text};
use crate::model::injection::{Sidecar, Wishes};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Counts of stand-ins, for reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Namespaces that are used but not defined.
    pub namespaces: usize,
    /// Pods, one for each controller without pods.
    pub pods: usize,
    /// Services that were given an address.
    pub addresses: usize,
    /// EndpointSlices for Services that have a selector but no slices.
    pub endpoint_slices: usize,
    /// Services of Gateway API gateways.
    pub services: usize,
    /// Secrets with newly created certificates.
    pub secrets: usize,
}

/// Kinds that create pods, with the path of their pod template.
const CONTROLLERS: [(&str, &str); 5] =
    [("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "DaemonSet"), ("apps", "ReplicaSet"), ("batch", "Job")];

/// Addresses from 10.244.0.0/16 (pods) and 10.96.0.0/12 (services), as in kubeadm.
struct Addresses {
    pods: u32,
    services: u32,
    taken: BTreeSet<String>,
}

impl Addresses {
    fn pod(&mut self, v6: bool) -> String {
        loop {
            self.pods += 1;
            let (high, low) = (self.pods >> 8 & 0xff, self.pods & 0xff);
            let address = if v6 { format!("fd00:10:244::{:x}", self.pods) } else { format!("10.244.{high}.{low}") };
            if self.taken.insert(address.clone()) {
                return address;
            }
        }
    }

    fn service(&mut self, v6: bool) -> String {
        loop {
            self.services += 1;
            let (high, low) = (self.services >> 8 & 0xff, self.services & 0xff);
            let address = if v6 { format!("fd00:10:96::{:x}", self.services) } else { format!("10.96.{high}.{low}") };
            if self.taken.insert(address.clone()) {
                return address;
            }
        }
    }
}

/// Adds everything that is missing.
pub(crate) fn complete(objects: &mut Objects) -> Added {
    let mut added = Added::default();
    let taken = objects.values("", "Service").map(|service| text(service, &["spec", "clusterIP"]).to_owned());
    let taken = taken.chain(objects.values("", "Pod").flat_map(addresses)).collect();
    let mut numbers = Addresses { pods: 0, services: 0, taken };
    added.namespaces = namespaces(objects);
    gateway_classes(objects);
    added.services = gateway_services(objects);
    service_defaults(objects);
    gateway_addresses(objects);
    added.pods = pods(objects, &mut numbers);
    pod_defaults(objects);
    added.addresses = service_addresses(objects, &mut numbers);
    added.endpoint_slices = endpoint_slices(objects);
    added.secrets = certificates(objects);
    added
}

/// Removes stand-ins that depend on a changed or deleted object, so that they are created again. All EndpointSlice
/// stand-ins are removed, since they depend on both pods and Services.
pub(super) fn forget(objects: &mut Objects, given: &BTreeSet<Place>, kind: &str, namespace: &str, name: &str) {
    let made_up = |object: &&Arc<Object>| !given.contains(&object.place());
    let mut gone: Vec<(&'static Kind, String, String)> = Vec::new();
    let mut collect = |group: &str, wanted: &str, is: &dyn Fn(&Value) -> bool| {
        let Some(wanted) = kinds::by_name(group, wanted) else { return };
        let found = objects.of(wanted).filter(made_up).filter(|object| is(&object.value));
        gone.extend(found.map(|object| (wanted, object.namespace.clone(), object.name.clone())));
    };
    collect("discovery.k8s.io", "EndpointSlice", &|_| true);
    // A label of a namespace decides what is injected into its pods.
    let of_namespace = kind == "Namespace";
    collect("", "Pod", &|pod| {
        let owner = list(pod, &["metadata", "ownerReferences"]).first();
        let owned = owner.is_some_and(|owner| text(owner, &["name"]) == name)
            && text(pod, &["metadata", "namespace"]) == namespace;
        owned || (of_namespace && text(pod, &["metadata", "namespace"]) == name)
    });
    if kind == "Gateway" {
        collect("", "Service", &|service| {
            text(service, &["metadata", "namespace"]) == namespace
                && text(service, &["metadata", "labels", "gateway.networking.k8s.io/gateway-name"]) == name
        });
    }
    for (kind, namespace, name) in gone {
        objects.remove(kind, &namespace, &name);
    }
}

/// When objects that are applied to a mesh were created: after all others.
const APPLIED: &str = "9999-12-31T23:59:59Z";

/// An object that is applied to a mesh: with the age and the stand-in address of the one that it replaces, or else the youngest of
/// all. istiod sorts many kinds by age.
pub(super) fn kept(objects: &Objects, mut new: Value, namespace: &str) -> Value {
    let kind = kinds::by_name(kinds::group_of(text(&new, &["apiVersion"])), text(&new, &["kind"]));
    let namespace = match text(&new, &["metadata", "namespace"]) {
        _ if kind.is_some_and(|kind| !kind.namespaced) => "",
        "" => namespace,
        own => own,
    };
    let name = text(&new, &["metadata", "name"]);
    let old = kind.and_then(|kind| objects.get(kind, namespace, name)).map(Arc::clone);
    let born = old.as_ref().map_or(APPLIED, |old| text(&old.value, &["metadata", "creationTimestamp"])).to_owned();
    if let Some(metadata) = new.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.entry("creationTimestamp").or_insert(born.into());
    }
    let Some(old) = old.filter(|old| old.kind.kind == "Service") else { return new };
    if let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut)
        && !spec.contains_key("clusterIP")
    {
        for key in ["clusterIP", "clusterIPs"] {
            if let Some(value) = at(&old.value, &["spec", key]) {
                spec.insert(key.to_owned(), value.clone());
            }
        }
    }
    new
}

fn put_all(objects: &mut Objects, new: Vec<Value>) -> usize {
    let count = new.len();
    for object in new {
        objects.upsert(object, "default");
    }
    count
}

fn namespaces(objects: &mut Objects) -> usize {
    let used: BTreeSet<String> = objects
        .documents()
        .map(|object| text(object, &["metadata", "namespace"]).to_owned())
        .chain(["istio-system".to_owned()])
        .filter(|namespace| !namespace.is_empty())
        .collect();
    let known: BTreeSet<&str> =
        objects.values("", "Namespace").map(|namespace| text(namespace, &["metadata", "name"])).collect();
    let new = used
        .iter()
        .filter(|name| !known.contains(name.as_str()))
        .map(|name| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
    let new = new.collect();
    put_all(objects, new)
}

/// A label of an object.
fn label<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    at(object, &["metadata", "labels", key]).and_then(Value::as_str)
}

/// Whether a pod gets a sidecar.
pub(crate) fn injected(objects: &Objects, namespace: &str, pod: &Value) -> bool {
    let inject = ["labels", "annotations"].iter().find_map(|place| {
        let found = text(pod, &["metadata", place, "sidecar.istio.io/inject"]);
        (!found.is_empty()).then(|| found.to_owned())
    });
    let wishes = Wishes {
        inject,
        host_network: at(pod, &["spec", "hostNetwork"]).and_then(Value::as_bool) == Some(true),
        pod: |key: &str| label(pod, key),
        namespace: objects
            .value("", "Namespace", "", namespace)
            .map(|namespace| move |key: &str| label(namespace, key)),
    };
    wishes.decide() == Sidecar::Injected
}

/// One pod for each controller without pods, from its template, with an address.
fn pods(objects: &mut Objects, numbers: &mut Addresses) -> usize {
    let mut new = Vec::new();
    let known: &Objects = objects;
    let existing = PodsByLabel::new(known);
    let mut template = |kind: &str, owner: &Value, template: &Value, selector: Option<&Map<String, Value>>| {
        let (namespace, name) = (text(owner, &["metadata", "namespace"]), text(owner, &["metadata", "name"]));
        let labels = map(template, &["metadata", "labels"]);
        let selector = selector.or(labels);
        if known.has_real(owner) {
            return;
        }
        if !existing.selected(namespace, selector).is_empty() {
            return;
        }
        let mut labels = labels.cloned().unwrap_or_default();
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": format!("{name}-1"), "namespace": namespace,
                "annotations": map(template, &["metadata", "annotations"]),
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": name, "controller": true, "uid": name}],
            },
            "spec": template.get("spec"),
        });
        if let Some(metadata) = pod.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.retain(|_, value| !value.is_null());
            metadata.insert("labels".to_owned(), Value::Object(labels.clone()));
        }
        if injected(known, namespace, &pod) {
            // Labels that the injector adds; the first decides whether clients use mutual TLS.
            labels.entry("security.istio.io/tlsMode").or_insert("istio".into());
            let app = labels.get("app.kubernetes.io/name").or_else(|| labels.get("app")).cloned();
            labels.entry("service.istio.io/canonical-name").or_insert(app.unwrap_or_else(|| name.into()));
            let version = labels.get("app.kubernetes.io/version").or_else(|| labels.get("version")).cloned();
            labels.entry("service.istio.io/canonical-revision").or_insert(version.unwrap_or_else(|| "latest".into()));
            if let Some(metadata) = pod.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.insert("labels".to_owned(), Value::Object(labels));
            }
        }
        new.push(pod);
    };
    for (group, kind) in CONTROLLERS {
        for owner in known.values(group, kind) {
            // A ReplicaSet of a given Deployment belongs to that Deployment.
            if kind == "ReplicaSet" && !list(owner, &["metadata", "ownerReferences"]).is_empty() {
                continue;
            }
            let Some(pod) = at(owner, &["spec", "template"]) else { continue };
            template(kind, owner, pod, map(owner, &["spec", "selector", "matchLabels"]));
        }
    }
    // istiod's own controller deploys Gateway API gateways.
    for gateway in known.values("gateway.networking.k8s.io", "Gateway") {
        let name = text(gateway, &["metadata", "name"]);
        let waypoint = text(gateway, &["spec", "gatewayClassName"]) == "istio-waypoint";
        let managed = if waypoint { "istio.io-mesh-controller" } else { "istio.io-gateway-controller" };
        let labels = json!({
            "gateway.networking.k8s.io/gateway-name": name, "gateway.istio.io/managed": managed,
            "sidecar.istio.io/inject": "false",
        });
        let class = text(gateway, &["spec", "gatewayClassName"]);
        let account = if waypoint { name.to_owned() } else { format!("{name}-{class}") };
        let pod = json!({"metadata": {"labels": labels}, "spec": {"serviceAccountName": account, "containers": [{
            "name": "istio-proxy", "args": ["proxy", if waypoint { "waypoint" } else { "router" }],
        }]}});
        let selector = json!({"gateway.networking.k8s.io/gateway-name": name});
        template("Deployment", gateway, &pod, selector.as_object());
    }
    let v6 = only_v6(objects);
    let given = objects.values("", "Pod").filter(|pod| addresses(pod).is_empty()).cloned();
    let all: Vec<Value> = given.collect::<Vec<_>>().into_iter().chain(new).collect();
    let count = all.len();
    let all = all
        .into_iter()
        .map(|mut pod| {
            let address = numbers.pod(v6);
            if let Some(pod) = pod.as_object_mut() {
                pod.insert(
                    "status".to_owned(),
                    json!({"phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
                           "conditions": [{"type": "Ready", "status": "True"}]}),
                );
            }
            pod
        })
        .collect();
    put_all(objects, all);
    count
}

/// API server defaults: istiod treats a port without a target as port 0.
fn service_defaults(objects: &mut Objects) {
    let mut new = Vec::new();
    for service in objects.values("", "Service") {
        let lacks = |port: &Value| port.get("targetPort").is_none() || port.get("protocol").is_none();
        if !list(service, &["spec", "ports"]).iter().any(lacks) {
            continue;
        }
        let mut service = service.clone();
        let ports = service.get_mut("spec").and_then(|spec| spec.get_mut("ports")).and_then(Value::as_array_mut);
        for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
            let number = port.get("port").cloned().unwrap_or_default();
            port.entry("targetPort").or_insert(number);
            port.entry("protocol").or_insert_with(|| "TCP".into());
        }
        new.push(service);
    }
    put_all(objects, new);
}

/// API server defaults: istiod finds a target port by name only if the protocols match.
fn pod_defaults(objects: &mut Objects) {
    let mut new = Vec::new();
    for pod in objects.values("", "Pod") {
        // What older captures contain of a ready pod.
        let ready =
            at(pod, &["status", "ready"]) == Some(&true.into()) && list(pod, &["status", "conditions"]).is_empty();
        let ports = |container: &Value| list(container, &["ports"]).iter().any(|port| port.get("protocol").is_none());
        let lacks = ["containers", "initContainers"].iter().any(|key| list(pod, &["spec", key]).iter().any(ports));
        if !lacks && !ready {
            continue;
        }
        let mut pod = pod.clone();
        if let Some(status) = pod.get_mut("status").and_then(Value::as_object_mut).filter(|_| ready) {
            status.insert("conditions".to_owned(), json!([{"type": "Ready", "status": "True"}]));
        }
        for key in ["containers", "initContainers"] {
            let containers = pod.get_mut("spec").and_then(|spec| spec.get_mut(key)).and_then(Value::as_array_mut);
            for container in containers.into_iter().flatten() {
                let ports = container.get_mut("ports").and_then(Value::as_array_mut);
                for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
                    port.entry("protocol").or_insert_with(|| "TCP".into());
                }
            }
        }
        new.push(pod);
    }
    put_all(objects, new);
}

/// The address that istiod's controller writes to a waypoint's status: without it, no service uses the waypoint.
fn gateway_addresses(objects: &mut Objects) {
    let mut new = Vec::new();
    for gateway in objects.values("gateway.networking.k8s.io", "Gateway") {
        let waypoint = text(gateway, &["spec", "gatewayClassName"]) == "istio-waypoint";
        if objects.has_real(gateway) || !waypoint || !list(gateway, &["status", "addresses"]).is_empty() {
            continue;
        }
        let (namespace, name) = (text(gateway, &["metadata", "namespace"]), text(gateway, &["metadata", "name"]));
        let host = format!("{name}.{namespace}.svc.cluster.local");
        let mut gateway = gateway.clone();
        if let Some(gateway) = gateway.as_object_mut() {
            gateway.insert("status".to_owned(), json!({"addresses": [{"type": "Hostname", "value": host}]}));
        }
        new.push(gateway);
    }
    put_all(objects, new);
}

/// The classes that istiod's controller creates if the Gateway API is installed.
fn gateway_classes(objects: &mut Objects) {
    const CLASSES: [(&str, &str); 3] = [
        ("istio", "istio.io/gateway-controller"),
        ("istio-remote", "istio.io/unmanaged-gateway"),
        ("istio-waypoint", "istio.io/mesh-controller"),
    ];
    const GROUP: &str = "gateway.networking.k8s.io";
    if objects.values(GROUP, "Gateway").next().is_none() || objects.has_real_of(GROUP, "gatewayclasses") {
        return;
    }
    let known: BTreeSet<String> =
        objects.values(GROUP, "GatewayClass").map(|class| text(class, &["metadata", "name"]).to_owned()).collect();
    for (name, controller) in CLASSES.iter().filter(|(name, _)| !known.contains(*name)) {
        objects.upsert(
            json!({
                "apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass",
                "metadata": {"name": name}, "spec": {"controllerName": controller},
            }),
            "default",
        );
    }
}

/// Whether all services require IPv6 only.
fn only_v6(objects: &Objects) -> bool {
    let mut families = objects.values("", "Service").map(|service| list(service, &["spec", "ipFamilies"])).peekable();
    families.peek().is_some() && families.all(|families| families == [json!("IPv6")])
}

/// Services that istiod's controller creates for Gateway API gateways.
fn gateway_services(objects: &mut Objects) -> usize {
    let mut new = Vec::new();
    for gateway in objects.values("gateway.networking.k8s.io", "Gateway") {
        let (namespace, name) = (text(gateway, &["metadata", "namespace"]), text(gateway, &["metadata", "name"]));
        let class = text(gateway, &["spec", "gatewayClassName"]);
        let waypoint = class == "istio-waypoint";
        // A gateway of another controller, or one with its own Service.
        let own = !list(gateway, &["spec", "addresses"]).is_empty();
        if objects.has_real(gateway) || !class.starts_with("istio") || own {
            continue;
        }
        let service = if waypoint { name.to_owned() } else { format!("{name}-{class}") };
        if objects.value("", "Service", namespace, &service).is_some() {
            continue;
        }
        let mut ports = BTreeMap::new();
        for listener in list(gateway, &["spec", "listeners"]) {
            let Some(number) = listener.get("port").and_then(Value::as_u64) else { continue };
            let protocol = text(listener, &["protocol"]).to_lowercase();
            let port_name = text(listener, &["name"]);
            ports.entry(number).or_insert_with(
                || json!({"name": port_name, "port": number, "protocol": "TCP", "appProtocol": protocol}),
            );
        }
        let managed = if waypoint { "istio.io-mesh-controller" } else { "istio.io-gateway-controller" };
        new.push(json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": service, "namespace": namespace, "labels": {
                "gateway.networking.k8s.io/gateway-name": name, "gateway.istio.io/managed": managed,
            }},
            "spec": {
                "type": if waypoint { "ClusterIP" } else { "LoadBalancer" },
                "selector": {"gateway.networking.k8s.io/gateway-name": name},
                "ports": ports.into_values().collect::<Vec<_>>(),
            },
        }));
    }
    put_all(objects, new)
}

fn service_addresses(objects: &mut Objects, numbers: &mut Addresses) -> usize {
    let lacking = objects.values("", "Service").filter(|service| {
        text(service, &["spec", "clusterIP"]).is_empty() && text(service, &["spec", "type"]) != "ExternalName"
    });
    let mut new: Vec<Value> = lacking.cloned().collect();
    for service in &mut new {
        let v6 = list(service, &["spec", "ipFamilies"]).first().is_some_and(|family| family == "IPv6");
        let address = numbers.service(v6);
        if let Some(spec) = service
            .as_object_mut()
            .and_then(|service| service.entry("spec").or_insert_with(|| json!({})).as_object_mut())
        {
            spec.insert("clusterIP".to_owned(), address.as_str().into());
            spec.insert("clusterIPs".to_owned(), json!([address]));
        }
    }
    put_all(objects, new)
}

/// What the EndpointSlice controller would write.
fn endpoint_slices(objects: &mut Objects) -> usize {
    let of = |slice: &Value| {
        let service = text(slice, &["metadata", "labels", "kubernetes.io/service-name"]).to_owned();
        (text(slice, &["metadata", "namespace"]).to_owned(), service)
    };
    let known: BTreeSet<(String, String)> = objects.values("discovery.k8s.io", "EndpointSlice").map(of).collect();
    let pods = PodsByLabel::new(objects);
    let sliced = objects.has_real_of("discovery.k8s.io", "endpointslices");
    let mut new = Vec::new();
    for service in objects.values("", "Service") {
        let (namespace, name) = (text(service, &["metadata", "namespace"]), text(service, &["metadata", "name"]));
        // If a cluster's EndpointSlices were read, they are complete.
        let none = sliced && objects.has_real(service);
        if none || known.contains(&(namespace.to_owned(), name.to_owned())) {
            continue;
        }
        let selector = map(service, &["spec", "selector"]);
        let behind = pods.selected(namespace, selector);
        if behind.is_empty() {
            continue;
        }
        let ports: Vec<Value> =
            list(service, &["spec", "ports"]).iter().filter_map(|port| slice_port(port, &behind)).collect();
        for v6 in [false, true] {
            let endpoints: Vec<Value> = behind
                .iter()
                .filter_map(|pod| {
                    let address = addresses(pod).into_iter().find(|address| address.contains(':') == v6)?;
                    Some(json!({
                        "addresses": [address], "conditions": {"ready": true, "serving": true, "terminating": false},
                        "nodeName": at(pod, &["spec", "nodeName"]),
                        "targetRef": {"kind": "Pod", "namespace": namespace, "name": text(pod, &["metadata", "name"])},
                    }))
                })
                .collect();
            if endpoints.is_empty() {
                continue;
            }
            let family = if v6 { "IPv6" } else { "IPv4" };
            new.push(json!({
                "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
                "metadata": {
                    "name": format!("{name}-{}", family.to_lowercase()), "namespace": namespace,
                    "labels": {"kubernetes.io/service-name": name},
                },
                "addressType": family, "endpoints": endpoints, "ports": ports,
            }));
        }
    }
    put_all(objects, new)
}

/// The port of a slice; a name is looked up in the containers.
fn slice_port(port: &Value, pods: &[&Value]) -> Option<Value> {
    let number = match port.get("targetPort") {
        None => port.get("port")?.as_u64()?,
        Some(Value::Number(number)) => number.as_u64()?,
        Some(Value::String(name)) => pods
            .iter()
            .flat_map(|pod| list(pod, &["spec", "containers"]))
            .flat_map(|container| list(container, &["ports"]))
            .find(|port| text(port, &["name"]) == name)?
            .get("containerPort")?
            .as_u64()?,
        Some(_) => return None,
    };
    let protocol = text(port, &["protocol"]);
    Some(json!({
        "name": text(port, &["name"]), "port": number, "protocol": if protocol.is_empty() { "TCP" } else { protocol },
    }))
}

/// Secrets that gateways name, and given secrets without content: each gets a new certificate.
fn certificates(objects: &mut Objects) -> usize {
    let mut wanted: BTreeSet<(String, String)> = BTreeSet::new();
    for gateway in objects.values("networking.istio.io", "Gateway") {
        let own = text(gateway, &["metadata", "namespace"]);
        for server in list(gateway, &["spec", "servers"]) {
            let name = text(server, &["tls", "credentialName"]);
            let names = list(server, &["tls", "credentialNames"]).iter().filter_map(Value::as_str);
            for name in names.chain([name]).filter(|name| !name.is_empty()) {
                let selector = map(gateway, &["spec", "selector"]);
                // The secret is in the namespace of the gateway's pods.
                let pods = objects.values("", "Pod").filter(|pod| selects(selector, map(pod, &["metadata", "labels"])));
                wanted.extend(pods.map(|pod| (text(pod, &["metadata", "namespace"]).to_owned(), name.to_owned())));
                wanted.insert((own.to_owned(), name.to_owned()));
            }
        }
    }
    for gateway in objects.values("gateway.networking.k8s.io", "Gateway") {
        let own = text(gateway, &["metadata", "namespace"]);
        for listener in list(gateway, &["spec", "listeners"]) {
            for reference in list(listener, &["tls", "certificateRefs"]) {
                let other = text(reference, &["namespace"]);
                let namespace = if other.is_empty() { own } else { other };
                wanted.insert((namespace.to_owned(), text(reference, &["name"]).to_owned()));
            }
        }
    }
    let given = objects.values("", "Secret").filter(|secret| text(secret, &["type"]) == "kubernetes.io/tls");
    wanted.extend(given.map(|secret| {
        (text(secret, &["metadata", "namespace"]).to_owned(), text(secret, &["metadata", "name"]).to_owned())
    }));
    if wanted.is_empty() {
        return 0;
    }
    // One for all, since nobody presents it to anyone.
    let Ok(pair) = rcgen::generate_simple_self_signed(vec!["stand-in.invalid".to_owned()]) else { return 0 };
    let (certificate, key) = (pair.cert.pem(), pair.signing_key.serialize_pem());
    let mut new = Vec::new();
    for (namespace, name) in wanted {
        new.push(json!({
            "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
            "metadata": {"name": name, "namespace": namespace},
            "data": {"tls.crt": base64(&certificate), "tls.key": base64(&key), "ca.crt": base64(&certificate)},
        }));
    }
    put_all(objects, new)
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.encode(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_applied_is_as_old_as_what_it_replaces_or_the_youngest() {
        let gateway = |name: &str, created: Option<&str>| {
            let mut object = json!({"apiVersion": "networking.istio.io/v1", "kind": "Gateway",
                "metadata": {"name": name, "namespace": "shop"}, "spec": {}});
            if let Some(created) = created {
                object["metadata"]["creationTimestamp"] = created.into();
            }
            object
        };
        let (older, younger) = ("2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z");
        let objects =
            Objects::new([gateway("a", Some(younger)), gateway("b", Some(older)), gateway("c", None)], "shop");
        let born = |object: Value| {
            let object = kept(&objects, object, "shop");
            text(&object, &["metadata", "creationTimestamp"]).to_owned()
        };
        assert_eq!(born(gateway("a", None)), younger);
        assert_eq!(born(gateway("b", None)), older);
        assert_eq!(born(gateway("b", Some(younger))), younger);
        assert!(*born(gateway("c", None)) < *older && *born(gateway("new", None)) > *younger);
        let mut map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio"}, "data": {}});
        assert_eq!(born(map.clone()), APPLIED);
        map["metadata"]["namespace"] = "istio-system".into();
        assert_eq!(born(map), APPLIED);
    }
}
