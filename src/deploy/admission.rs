//! The objects of the admission server.

use super::{
    ADMISSION_LABEL, Certificates, Part, Piece, PlaneSlot, Slots, container_security, egress, labelled, labels, mesh,
    metadata, pod_labels, pod_security, selector,
};
use crate::cluster::Via;
use crate::cluster::kinds::ENVOY_FILTER;
use crate::cluster::rbac::{self, Place, Reader};
use serde_json::{Value, json};

const COMPONENT: &str = "admission";
/// Port for the API server.
const PORT: u16 = 9443;
/// Port for Prometheus.
const METRICS: u16 = 8080;
/// Port for kubelet.
const PROBES: u16 = 8081;

/// Name of the Secret with the certificate.
fn secret(slots: &Slots) -> String {
    format!("{}-tls", slots.name)
}

/// All objects except the webhook configuration.
pub(super) fn before(slots: &Slots, certificates: Certificates) -> Vec<Piece> {
    let own = certificates == Certificates::Own;
    let mut pieces = Vec::new();
    let mut add = |file, part, object| pieces.push(Piece { file, part, object });
    add("serviceaccount", Part::Core, account(slots, COMPONENT, &slots.name));
    for object in roles(slots, own) {
        add("rbac", Part::Core, object);
    }
    pieces.extend(planes(
        slots,
        (COMPONENT, Reader::Admission),
        &slots.name,
        ("rbac-controlplanes", Part::ControlPlanes),
    ));
    let mut add = |file, part, object| pieces.push(Piece { file, part, object });
    let sampling = rbac::dump_role(&format!("{}-proxies", slots.name), Via::PortForward);
    for object in bound(slots, COMPONENT, vec![sampling], &slots.name) {
        add("rbac-proxies", Part::SampleProxies, object);
    }
    add("configmap", Part::Core, config(slots));
    if own {
        // The server fills them; it has no right to create others.
        add("certificate", Part::Core, empty(slots, "v1", "Secret", &secret(slots)));
        add("certificate", Part::Core, empty(slots, "coordination.k8s.io/v1", "Lease", &slots.name));
    } else {
        for object in cert_manager(slots) {
            add("certificate", Part::Core, object);
        }
    }
    add("service", Part::Core, service(slots));
    add("networkpolicy", Part::NetworkPolicy, network_policy(slots));
    add("poddisruptionbudget", Part::Core, budget(slots));
    add("deployment", Part::Core, deployment(slots, own));
    add("servicemonitor", Part::ServiceMonitor, monitor(slots));
    pieces
}

/// A service account.
pub(super) fn account(slots: &Slots, component: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata(slots, component, name)})
}

/// Roles with their bindings to a service account, labeled.
pub(super) fn bound(slots: &Slots, component: &str, roles: Vec<Value>, account: &str) -> Vec<Value> {
    let pairs = roles.into_iter().flat_map(|role| {
        let binding = rbac::binding(&role, account, &slots.namespace);
        [role, binding]
    });
    pairs.map(|object| labelled(object, slots, component)).collect()
}

/// The account of a reader of the mesh, its roles and, as a separate part, the right to read the proxies themselves; with the
/// names of the three files.
pub(super) fn reader(
    slots: &Slots,
    component: &str,
    name: &str,
    roles: Vec<Value>,
    (files, part, proxies): ([&'static str; 3], Part, Part),
) -> Vec<Piece> {
    let of = |file, part| move |object| Piece { file, part, object };
    let every = rbac::dump_role(&format!("{name}-proxies"), Via::PortForward);
    let account = of(files[0], part)(account(slots, component, name));
    let roles = bound(slots, component, roles, name).into_iter().map(of(files[1], part));
    let every = bound(slots, component, vec![every], name).into_iter().map(of(files[2], proxies));
    std::iter::once(account).chain(roles).chain(every).collect()
}

/// The rights of a reader at control planes besides the main one, as a part and in a file of its own.
pub(super) fn planes(
    slots: &Slots,
    (component, reader): (&str, Reader),
    account: &str,
    (file, part): (&'static str, Part),
) -> Vec<Piece> {
    let role = |plane: &PlaneSlot| {
        let name = format!("{account}-plane-{}", plane.revision);
        rbac::plane_role(reader, &name, &plane.namespace, &plane.mesh_config)
    };
    let roles = slots.control_planes.iter().map(role).collect();
    let objects = bound(slots, component, roles, account);
    objects.into_iter().map(|object| Piece { file, part, object }).collect()
}

/// Where the rights apply.
pub(super) fn place(slots: &Slots) -> Place<'_> {
    Place {
        namespace: None,
        istio_namespace: &slots.istio_namespace,
        // Rights for all namespaces include the root namespace.
        root_namespace: &slots.istio_namespace,
        // Each has a role of its own, so that the chart can repeat it: see `planes`.
        revisions: &[],
        via: Via::PortForward,
    }
}

fn roles(slots: &Slots, own: bool) -> Vec<Value> {
    let mut roles = rbac::watch_roles(&slots.name, &place(slots));
    if own {
        let name = format!("{}-certificate", slots.name);
        let names = (secret(slots), slots.name.clone(), slots.name.clone());
        roles.extend(rbac::certificate_roles(&name, &slots.namespace, (&names.0, &names.1, &names.2)));
    }
    bound(slots, COMPONENT, roles, &slots.name)
}

fn empty(slots: &Slots, api_version: &str, kind: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": metadata(slots, COMPONENT, name)})
}

fn config(slots: &Slots) -> Value {
    let mut object = empty(slots, "v1", "ConfigMap", &slots.name);
    object["data"] = json!({"envoyfilter.yaml": slots.config});
    object
}

fn cert_manager(slots: &Slots) -> [Value; 2] {
    let mut issuer = empty(slots, "cert-manager.io/v1", "Issuer", &slots.name);
    issuer["spec"] = json!({"selfSigned": {}});
    let mut certificate = empty(slots, "cert-manager.io/v1", "Certificate", &slots.name);
    let host = format!("{}.{}.svc", slots.name, slots.namespace);
    certificate["spec"] = json!({
        "secretName": secret(slots),
        "dnsNames": [host, format!("{host}.cluster.local")],
        "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
        "usages": ["digital signature", "server auth"],
        "issuerRef": {"kind": "Issuer", "name": slots.name},
    });
    [issuer, certificate]
}

fn service(slots: &Slots) -> Value {
    let mut object = empty(slots, "v1", "Service", &slots.name);
    object["spec"] = json!({
        "selector": selector(slots, COMPONENT),
        "ports": [
            {"name": "https", "port": 443, "targetPort": "https", "protocol": "TCP"},
            {"name": "metrics", "port": METRICS, "targetPort": "metrics", "protocol": "TCP"},
        ],
    });
    object
}

/// API servers have no address that is valid in every cluster, so `api_servers` is empty unless it is set; the webhook answers
/// other clients only with a verdict.
fn network_policy(slots: &Slots) -> Value {
    let mut object = empty(slots, "networking.k8s.io/v1", "NetworkPolicy", &slots.name);
    let port = |port: u16| json!([{"port": port, "protocol": "TCP"}]);
    object["spec"] = json!({
        "podSelector": {"matchLabels": selector(slots, COMPONENT)},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [
            {"from": slots.api_servers, "ports": port(PORT)},
            {"from": slots.metrics_readers, "ports": port(METRICS)},
            // kubelet calls from the node.
            {"ports": port(PROBES)},
        ],
        "egress": egress(),
    });
    object
}

fn budget(slots: &Slots) -> Value {
    let mut object = empty(slots, "policy/v1", "PodDisruptionBudget", &slots.name);
    object["spec"] = json!({
        // One at a time, whatever the number of replicas; a pod that is not ready does not block a drain.
        "maxUnavailable": 1,
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
        "selector": {"matchLabels": selector(slots, COMPONENT)},
    });
    object
}

fn arguments(slots: &Slots, own: bool) -> Vec<String> {
    let mut arguments = vec!["webhook".to_owned(), "serve".to_owned()];
    let mut add = |option: &str, value: &str| arguments.push(format!("--{option}={value}"));
    add("listen", &format!("0.0.0.0:{PORT}"));
    add("metrics-listen", &format!("0.0.0.0:{METRICS}"));
    add("probe-listen", &format!("0.0.0.0:{PROBES}"));
    add("namespace", "$(POD_NAMESPACE)");
    add("mode", &slots.mode);
    add("deny-at", &slots.deny_at);
    add("deadline", &slots.deadline);
    add("on-deadline", &slots.on_deadline);
    add("sample-proxies", &plain(&slots.sample_proxies));
    add("config", "/config/envoyfilter.yaml");
    add("service", &slots.name);
    if own {
        add("cert-secret", &secret(slots));
        add("webhook-configuration", &slots.name);
    } else {
        add("tls-cert", "/tls/tls.crt");
        add("tls-key", "/tls/tls.key");
    }
    if !slots.client_ca.is_empty() {
        add("client-ca", "/client-ca/ca.crt");
    }
    arguments.extend(mesh(slots));
    arguments
}

/// A value as part of an argument.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn deployment(slots: &Slots, own: bool) -> Value {
    let mut volumes = vec![json!({"name": "config", "configMap": {"name": slots.name}})];
    let mut mounts = vec![json!({"name": "config", "mountPath": "/config", "readOnly": true})];
    if !own {
        volumes.push(json!({"name": "tls", "secret": {"secretName": secret(slots), "defaultMode": 288}}));
        mounts.push(json!({"name": "tls", "mountPath": "/tls", "readOnly": true}));
    }
    if !slots.client_ca.is_empty() {
        volumes.push(json!({"name": "client-ca", "configMap": {"name": slots.client_ca}}));
        mounts.push(json!({"name": "client-ca", "mountPath": "/client-ca", "readOnly": true}));
    }
    let probe = |path: &str, period: u8, failures: u8| json!({"httpGet": {"path": path, "port": "probes"}, "periodSeconds": period, "failureThreshold": failures});
    let container = json!({
        "name": "webhook",
        "image": slots.image,
        "imagePullPolicy": slots.pull_policy,
        "args": arguments(slots, own),
        "env": [{"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
                {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "ports": [{"name": "https", "containerPort": PORT, "protocol": "TCP"}, {"name": "metrics", "containerPort": METRICS, "protocol": "TCP"},
                  {"name": "probes", "containerPort": PROBES, "protocol": "TCP"}],
        // Two minutes to read a large mesh at startup.
        "startupProbe": probe("/healthz", 2, 60),
        "livenessProbe": probe("/healthz", 10, 3),
        "readinessProbe": probe("/readyz", 3, 2),
        "resources": slots.resources,
        "securityContext": container_security(),
        "volumeMounts": mounts,
    });
    let mut object = empty(slots, "apps/v1", "Deployment", &slots.name);
    object["spec"] = json!({
        "replicas": slots.replicas,
        "selector": {"matchLabels": selector(slots, COMPONENT)},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
        "template": {
            "metadata": {
                "labels": pod_labels(slots, COMPONENT),
                "annotations": {"envoyfilter.dev/config-checksum": slots.config_checksum},
            },
            "spec": {
                "serviceAccountName": slots.name,
                "imagePullSecrets": slots.pull_secrets,
                "nodeSelector": slots.node_selector,
                "tolerations": slots.tolerations,
                "securityContext": pod_security(),
                "terminationGracePeriodSeconds": 30,
                "topologySpreadConstraints": [spread(slots, "kubernetes.io/hostname"), spread(slots, "topology.kubernetes.io/zone")],
                "containers": [container],
                "volumes": volumes,
            },
        },
    });
    object
}

fn spread(slots: &Slots, key: &str) -> Value {
    json!({
        "topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": selector(slots, COMPONENT)},
    })
}

fn monitor(slots: &Slots) -> Value {
    let mut object = empty(slots, "monitoring.coreos.com/v1", "ServiceMonitor", &slots.name);
    object["spec"] = json!({
        "selector": {"matchLabels": selector(slots, COMPONENT)},
        "endpoints": [{"port": "metrics", "path": "/metrics", "interval": slots.scrape_interval}],
    });
    object
}

/// The webhook configuration.
pub(super) fn webhook(slots: &Slots, certificates: Certificates) -> Piece {
    let mut about = json!({"name": slots.name, "labels": labels(slots, COMPONENT)});
    // With its own certificate, the server writes the `caBundle`.
    if certificates == Certificates::CertManager {
        let from = format!("{}/{}", slots.namespace, slots.name);
        about["annotations"] = json!({"cert-manager.io/inject-ca-from": from});
    }
    let object = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": about,
        "webhooks": [{
            "name": "envoyfilters.envoyfilter.dev",
            "clientConfig": {"service": {"name": slots.name, "namespace": slots.namespace, "path": "/validate", "port": 443}},
            "rules": [{
                "apiGroups": [ENVOY_FILTER.group], "apiVersions": ENVOY_FILTER.versions,
                "resources": [ENVOY_FILTER.plural], "scope": "Namespaced",
                "operations": ["CREATE", "UPDATE", "DELETE"],
            }],
            "namespaceSelector": {"matchExpressions": [
                {"key": ADMISSION_LABEL, "operator": "NotIn", "values": ["off"]},
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [slots.namespace, "kube-system"]},
            ]},
            // Future API versions are reviewed as the known one.
            "matchPolicy": "Equivalent",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "failurePolicy": slots.failure_policy,
            "timeoutSeconds": slots.timeout,
        }],
    });
    Piece { file: "webhook", part: Part::Core, object }
}
