//! Sorts documents by kind into an [`Inventory`].

use super::yaml;
use crate::model::inventory::{
    ContainerPort, DEFAULT_ROOT_NAMESPACE, DestinationRule, Gateway, Injection, Inventory, KubeGateway, KubeListener,
    Mesh, Object, PodState, RefusedFilter, Server, Service, ServiceEntry, ServicePort, Sidecar, TargetPort,
    VirtualService, Workload, labels, pod_of,
};
use crate::model::parse_envoy_filter;
use crate::model::proxy::REVISION_LABEL;
use crate::source::{Code, Entry, Node, NodeValue, Problem, Severity, Sources};
use std::sync::Arc;

/// Label (formerly annotation) that requests or refuses a sidecar.
const INJECT: &str = "sidecar.istio.io/inject";

/// Whether a document is a Kubernetes Secret, which is never kept.
pub(super) fn is_secret(document: &Node) -> bool {
    text(document, &["kind"]) == "Secret"
}

/// A document as JSON; for a Secret only its identity, never its content.
pub(super) fn without_secrets(document: &Node) -> serde_json::Value {
    if !is_secret(document) {
        return document.to_json();
    }
    serde_json::json!({
        "apiVersion": "v1", "kind": "Secret", "type": text(document, &["type"]),
        "metadata": {
            "name": text(document, &["metadata", "name"]),
            "namespace": text(document, &["metadata", "namespace"]),
        },
    })
}

/// Unpacks `kind: List`, `EnvoyFilterList` and the like into their items; any other document is returned as is. Items of a
/// typed list have no `kind` of their own and get it from the list.
pub(super) fn unpack(document: Node) -> Vec<Node> {
    let kind = text(&document, &["kind"]).to_owned();
    let Some(item_kind) = kind.strip_suffix("List") else { return vec![document] };
    let api_version = document.entry("apiVersion").cloned();
    let kind_span = document.key_span(&["kind".into()]);
    let mut unpacked = Vec::new();
    for mut item in items_of(&document) {
        if let NodeValue::Map(entries) = &mut item.value
            && !item_kind.is_empty()
            && !entries.iter().any(|entry| entry.key == "kind")
        {
            let value = Node { span: kind_span, value: NodeValue::String(item_kind.to_owned()) };
            let kind = Entry { key: "kind".to_owned(), key_span: kind_span, value };
            let version = api_version.clone().filter(|_| !entries.iter().any(|entry| entry.key == "apiVersion"));
            *entries = [kind].into_iter().chain(entries.iter().cloned()).chain(version).collect();
        }
        // A list of lists: kubectl reads it but never prints it. One more level is enough.
        match text(&item, &["kind"]) {
            "List" => unpacked.extend(items_of(&item)),
            _ => unpacked.push(item),
        }
    }
    unpacked
}

fn items_of(document: &Node) -> Vec<Node> {
    document.get("items").map_or_else(Vec::new, |items| items.items().to_vec())
}

/// An EnvoyFilter without `kind`, recognized by its API or by fields that only an EnvoyFilter has.
pub(super) fn filter_without_kind(document: &Node) -> Option<Problem> {
    let of_istio = text(document, &["apiVersion"]) == parse_envoy_filter::API_VERSION;
    document.under(&["spec", "configPatches"]).or(of_istio.then_some(document))?;
    Some(Problem {
        code: Code::MissingKind,
        severity: Severity::Error,
        span: Some(document.key_span(&["apiVersion".into()])),
        message: "`kind` is missing: the API server rejects this".to_owned(),
        help: Some("write kind: EnvoyFilter".to_owned()),
    })
}

/// An EnvoyFilter with a misspelled `kind`, such as `Envoyfilter` or `EnvoyFilters`.
pub(super) fn misspelt_kind(document: &Node) -> Option<Problem> {
    let kind = document.get("kind")?;
    let word = kind.as_str()?;
    let alike = word.strip_suffix(['s', 'S']).unwrap_or(word).eq_ignore_ascii_case("EnvoyFilter");
    let of_istio = text(document, &["apiVersion"]).split_once('/').is_none_or(|(group, _)| group.ends_with("istio.io"));
    (alike && of_istio && word != "EnvoyFilter").then(|| Problem {
        code: Code::MissingKind,
        severity: Severity::Error,
        span: Some(kind.span),
        message: format!("there is no kind `{word}`: the API server refuses this"),
        help: Some("write kind: EnvoyFilter".to_owned()),
    })
}

/// Adds one object to the inventory. Objects of other kinds are counted.
pub(super) fn add(
    document: Node,
    namespace: &str,
    sources: &mut Sources,
    inventory: &mut Inventory,
    problems: &mut Vec<Problem>,
) {
    let kind = text(&document, &["kind"]).to_owned();
    let group = match text(&document, &["apiVersion"]).split_once('/') {
        Some((group, _)) => group.to_owned(),
        None => String::new(),
    };
    let object = |document: Node| Object::read(&kind, namespace, document);
    match (group.as_str(), kind.as_str()) {
        (group, "EnvoyFilter") if group.is_empty() || group.ends_with("istio.io") => {
            let (span, object) = (document.span, identity(&document, namespace));
            let (filter, found) = parse_envoy_filter::parse(document, namespace);
            if filter.is_none() {
                inventory.refused_filters.push(RefusedFilter { name: object.1, namespace: object.0, span });
            }
            inventory.envoy_filters.extend(filter);
            problems.extend(found);
        }
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration") => {
            let labels = object(document).labels;
            if let (Some(tag), Some(revision)) = (labels.get("istio.io/tag"), labels.get(REVISION_LABEL)) {
                inventory.revision_tags.insert(tag.clone(), revision.clone());
            } else {
                *inventory.other.entry(kind).or_default() += 1;
            }
        }
        ("", "Namespace") => {
            Arc::make_mut(&mut inventory.namespaces)
                .push(Arc::new(Object { namespace: String::new(), ..object(document) }));
        }
        ("", "Pod" | "ReplicationController")
        | ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("batch", "Job" | "CronJob")
        | ("networking.istio.io", "WorkloadEntry" | "WorkloadGroup") => {
            Arc::make_mut(&mut inventory.workloads).push(Arc::new(workload(object(document))));
        }
        ("", "Service") => Arc::make_mut(&mut inventory.services).push(Arc::new(service(object(document)))),
        ("", "ConfigMap") => mesh(object(document), sources, inventory, problems),
        ("networking.istio.io", "ServiceEntry") => {
            Arc::make_mut(&mut inventory.service_entries).push(Arc::new(service_entry(object(document))));
        }
        ("networking.istio.io", "Gateway") => {
            Arc::make_mut(&mut inventory.gateways).push(Arc::new(gateway(object(document))));
        }
        ("networking.istio.io", "VirtualService") => {
            Arc::make_mut(&mut inventory.virtual_services).push(Arc::new(virtual_service(object(document))));
        }
        ("networking.istio.io", "DestinationRule") => {
            Arc::make_mut(&mut inventory.destination_rules).push(Arc::new(destination_rule(object(document))));
        }
        ("networking.istio.io", "Sidecar") => {
            Arc::make_mut(&mut inventory.sidecars).push(Arc::new(sidecar(object(document))));
        }
        ("gateway.networking.k8s.io", "Gateway") => {
            Arc::make_mut(&mut inventory.kube_gateways).push(Arc::new(kube_gateway(object(document))));
        }
        ("security.istio.io", "AuthorizationPolicy" | "RequestAuthentication" | "PeerAuthentication")
        | ("telemetry.istio.io", "Telemetry")
        | ("extensions.istio.io", "WasmPlugin" | "TrafficExtension")
        | ("gateway.networking.k8s.io", "HTTPRoute" | "GRPCRoute")
        | ("networking.k8s.io", "Ingress" | "IngressClass")
        | ("networking.istio.io", "ProxyConfig")
        | ("install.istio.io", "IstioOperator") => {
            Arc::make_mut(&mut inventory.policies).push(Arc::new(object(document)));
            // Only migrations and single rules read them; every other command ignores them.
            *inventory.other.entry(kind).or_default() += 1;
        }
        _ => *inventory.other.entry(kind).or_default() += 1,
    }
}

/// Namespace and name.
fn identity(document: &Node, namespace: &str) -> (String, String) {
    let own = text(document, &["metadata", "namespace"]);
    let namespace = if own.is_empty() { namespace } else { own };
    (namespace.to_owned(), text(document, &["metadata", "name"]).to_owned())
}

impl Object {
    fn read(kind: &str, namespace: &str, document: Node) -> Object {
        let (namespace, name) = identity(&document, namespace);
        Object {
            kind: kind.to_owned(),
            name,
            namespace,
            labels: labels(document.under(&["metadata", "labels"])),
            annotations: labels(document.under(&["metadata", "annotations"])),
            document,
        }
    }
}

fn workload(mut object: Object) -> Workload {
    let document = &object.document;
    let pod = document.under(pod_of(&object.kind));
    let inside = |keys: &[&str]| pod.and_then(|pod| pod.under(keys));
    let mut pod_labels = labels(inside(&["metadata", "labels"]));
    if object.kind == "WorkloadEntry" {
        pod_labels.extend(labels(document.under(&["spec", "labels"])));
    }
    let annotations = labels(inside(&["metadata", "annotations"]));
    let containers = || {
        let lists = [&["spec", "containers"], &["spec", "initContainers"]];
        lists.into_iter().flat_map(|keys| inside(keys).map_or(&[][..], Node::items))
    };
    let container = |name| containers().find(|container| text(container, &["name"]) == name);
    let proxy = container("istio-proxy");
    let ports = containers()
        .filter(|container| text(container, &["name"]) != "istio-proxy")
        .flat_map(|container| items(container, &["ports"]))
        .map(|port| ContainerPort { name: owned(port, &["name"]), number: number(port, &["containerPort"]) })
        .collect();
    let injection = Injection {
        asked: pod_labels.get(INJECT).or_else(|| annotations.get(INJECT)).cloned(),
        revision: pod_labels.get(REVISION_LABEL).cloned(),
        templates: annotations.get("inject.istio.io/templates").cloned(),
        proxy_image: proxy.map(|proxy| owned(proxy, &["image"])),
        proxy_args: proxy.map(|proxy| texts(proxy, &["args"])).unwrap_or_default(),
        proxy_capabilities: proxy.map(capabilities).unwrap_or_default(),
        proxy_user: proxy.and_then(|proxy| user(proxy, pod)),
        host_network: inside(&["spec", "hostNetwork"]).is_some_and(|node| node.value == NodeValue::Bool(true)),
    };
    let owner = items(document, &["metadata", "ownerReferences"])
        .iter()
        .find(|owner| owner.get("controller").is_some_and(|node| node.value == NodeValue::Bool(true)))
        .map(|owner| (owned(owner, &["kind"]), owned(owner, &["name"])));
    let discovery_image = container("discovery").map(|container| owned(container, &["image"]));
    let state = pod_state(document);
    if object.kind == "Pod" {
        object.document.value = NodeValue::Null;
    }
    Workload { labels: pod_labels, annotations, owner, ports, injection, state, discovery_image, object }
}

/// The capabilities that a container has in addition to the usual ones.
fn capabilities(container: &Node) -> Vec<String> {
    let privileged = container.under(&["securityContext", "privileged"]);
    if privileged.is_some_and(|node| node.value == NodeValue::Bool(true)) {
        return vec!["ALL".to_owned()];
    }
    texts(container, &["securityContext", "capabilities", "add"])
}

/// The user of the container `istio-proxy`. Injection sets one for a container that does not, whatever the pod says; only a
/// container with an image of its own may not be injected.
fn user(container: &Node, pod: Option<&Node>) -> Option<u32> {
    /// The user that Istio's templates set.
    const INJECTED: u32 = 1337;
    let set = |node: &Node, keys: &[&str]| node.under(keys).is_some().then(|| number(node, keys));
    let of_pod = || pod.and_then(|pod| set(pod, &["spec", "securityContext", "runAsUser"]));
    let injected = matches!(text(container, &["image"]), "" | "auto").then_some(INJECTED);
    set(container, &["securityContext", "runAsUser"]).or(injected).or_else(of_pod)
}

fn pod_state(document: &Node) -> PodState {
    let phase = document.under(&["status", "phase"]).and_then(Node::as_str);
    let ready = document.under(&["status", "ready"]).is_none_or(|ready| ready.value == NodeValue::Bool(true));
    PodState {
        ending: document.under(&["metadata", "deletionTimestamp"]).is_some(),
        ready: ready && phase.is_none_or(|phase| phase == "Running"),
    }
}

fn service(object: Object) -> Service {
    let document = &object.document;
    let ports =
        items(document, &["spec", "ports"]).iter().map(|port| service_port(port, "port", "appProtocol")).collect();
    let export_to = object.annotations.get("networking.istio.io/exportTo").map_or("", String::as_str);
    Service {
        selector: labels(document.under(&["spec", "selector"])),
        ports,
        service_type: Some(owned(document, &["spec", "type"]))
            .filter(|kind| !kind.is_empty())
            .unwrap_or("ClusterIP".to_owned()),
        headless: text(document, &["spec", "clusterIP"]) == "None",
        export_to: export_to.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect(),
        object,
    }
}

fn service_port(port: &Node, number_key: &str, protocol_key: &str) -> ServicePort {
    let own = number(port, &[number_key]);
    let target = match port.get("targetPort").map(|node| &node.value) {
        Some(NodeValue::Number(text)) => text.parse().map_or(TargetPort::Number(own), TargetPort::Number),
        Some(NodeValue::String(name)) => {
            name.parse().map_or_else(|_| TargetPort::Name(name.clone()), TargetPort::Number)
        }
        _ => TargetPort::Number(own),
    };
    let app_protocol = port.get(protocol_key).and_then(Node::as_str).map(str::to_owned);
    ServicePort {
        name: owned(port, &["name"]),
        number: own,
        target,
        protocol: owned(port, &["protocol"]),
        app_protocol,
    }
}

fn service_entry(object: Object) -> ServiceEntry {
    let document = &object.document;
    ServiceEntry {
        hosts: texts(document, &["spec", "hosts"]),
        addresses: texts(document, &["spec", "addresses"]),
        ports: items(document, &["spec", "ports"]).iter().map(|port| service_port(port, "number", "")).collect(),
        location: owned(document, &["spec", "location"]),
        resolution: owned(document, &["spec", "resolution"]),
        export_to: texts(document, &["spec", "exportTo"]),
        selector: labels(document.under(&["spec", "workloadSelector", "labels"])),
        object,
    }
}

fn gateway(object: Object) -> Gateway {
    let document = &object.document;
    let servers = items(document, &["spec", "servers"]).iter().map(|server| Server {
        name: owned(server, &["name"]),
        bind: owned(server, &["bind"]),
        port: number(server, &["port", "number"]),
        port_name: owned(server, &["port", "name"]),
        protocol: owned(server, &["port", "protocol"]),
        hosts: texts(server, &["hosts"]),
        tls_mode: server.get("tls").filter(|tls| !tls.is_null()).map(|tls| owned(tls, &["mode"])),
    });
    Gateway { selector: labels(document.under(&["spec", "selector"])), servers: servers.collect(), object }
}

fn kube_gateway(object: Object) -> KubeGateway {
    let listeners = items(&object.document, &["spec", "listeners"]).iter().map(|listener| KubeListener {
        name: owned(listener, &["name"]),
        port: number(listener, &["port"]),
        protocol: owned(listener, &["protocol"]),
        hostname: owned(listener, &["hostname"]),
    });
    KubeGateway {
        class: owned(&object.document, &["spec", "gatewayClassName"]),
        listeners: listeners.collect(),
        object,
    }
}

fn virtual_service(object: Object) -> VirtualService {
    let document = &object.document;
    VirtualService {
        hosts: texts(document, &["spec", "hosts"]),
        gateways: texts(document, &["spec", "gateways"]),
        export_to: texts(document, &["spec", "exportTo"]),
        http_routes: items(document, &["spec", "http"]).iter().map(|route| owned(route, &["name"])).collect(),
        object,
    }
}

fn destination_rule(object: Object) -> DestinationRule {
    let document = &object.document;
    DestinationRule {
        host: owned(document, &["spec", "host"]),
        subsets: items(document, &["spec", "subsets"]).iter().map(|subset| owned(subset, &["name"])).collect(),
        export_to: texts(document, &["spec", "exportTo"]),
        selector: labels(document.under(&["spec", "workloadSelector", "matchLabels"])),
        object,
    }
}

fn sidecar(object: Object) -> Sidecar {
    let document = &object.document;
    Sidecar {
        selector: labels(document.under(&["spec", "workloadSelector", "labels"])),
        egress_hosts: items(document, &["spec", "egress"])
            .iter()
            .flat_map(|egress| texts(egress, &["hosts"]))
            .collect(),
        ingress_ports: items(document, &["spec", "ingress"])
            .iter()
            .map(|ingress| number(ingress, &["port", "number"]))
            .collect(),
        object,
    }
}

/// Reads the mesh settings from a control plane's ConfigMap; any other ConfigMap is counted.
fn mesh(object: Object, sources: &mut Sources, inventory: &mut Inventory, problems: &mut Vec<Problem>) {
    let revision = match object.name.as_str() {
        "istio" => Some(""),
        name => name.strip_prefix("istio-"),
    };
    let data = object.document.get("data").and_then(|data| data.get("mesh")).and_then(Node::as_str);
    let (Some(revision), Some(settings)) = (revision, data) else {
        *inventory.other.entry(object.kind).or_default() += 1;
        return;
    };
    let revision = revision.to_owned();
    let place = format!("data.mesh of ConfigMap {}/{}", object.namespace, object.name);
    let file = sources.add_within(object.document.span.file, &place, settings);
    let (documents, found) = yaml::documents(file, &sources.get(file).text);
    let settings = documents.into_iter().next();
    for mut problem in found.into_iter().filter(|problem| problem.severity == Severity::Error) {
        if settings.is_none() {
            problem.message.push_str("; default mesh settings are assumed");
        }
        problems.push(problem);
    }
    let Some(settings) = settings else { return };
    let root = text(&settings, &["rootNamespace"]);
    let meshes = Arc::make_mut(&mut inventory.meshes);
    meshes.push(Mesh {
        revision,
        root_namespace: if root.is_empty() { DEFAULT_ROOT_NAMESPACE } else { root }.to_owned(),
        default_service_export_to: texts(&settings, &["defaultServiceExportTo"]),
        outbound_traffic_mode: owned(&settings, &["outboundTrafficPolicy", "mode"]),
        settings,
        object,
    });
    meshes.sort_by(|a, b| (&a.revision, &a.object.namespace).cmp(&(&b.revision, &b.object.namespace)));
}

fn text<'n>(node: &'n Node, keys: &[&str]) -> &'n str {
    node.under(keys).and_then(Node::as_str).unwrap_or_default()
}

fn owned(node: &Node, keys: &[&str]) -> String {
    text(node, keys).to_owned()
}

fn items<'n>(node: &'n Node, keys: &[&str]) -> &'n [Node] {
    node.under(keys).map_or(&[], Node::items)
}

fn texts(node: &Node, keys: &[&str]) -> Vec<String> {
    items(node, keys).iter().filter_map(Node::as_str).map(str::to_owned).collect()
}

fn number(node: &Node, keys: &[&str]) -> u32 {
    match node.under(keys).map(|node| &node.value) {
        Some(NodeValue::Number(text)) => text.parse().unwrap_or(0),
        _ => 0,
    }
}
