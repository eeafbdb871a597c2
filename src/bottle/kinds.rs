//! The kinds that istiod reads from an API server, for all known releases (`pkg/config/schema/metadata.yaml`, Istio
//! 1.22 to 1.31).

/// A kind of the API.
#[derive(Debug)]
pub(super) struct Kind {
    /// API group; empty for the core.
    pub(super) group: &'static str,
    /// Its name in paths.
    pub(super) plural: &'static str,
    /// Its name in objects.
    pub(super) kind: &'static str,
    /// Whether its objects are in namespaces.
    pub(super) namespaced: bool,
    /// The served versions, the preferred one first.
    pub(super) versions: &'static [&'static str],
    /// Its origin.
    pub(super) origin: Origin,
}

/// The origin of a kind. istiod reads only custom kinds whose definition it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Kubernetes.
    Builtin,
    /// Istio, in every cluster that runs it.
    Istio,
    /// The Gateway API, if installed.
    GatewayApi,
}

use Origin::{Builtin, GatewayApi, Istio};

const fn kind(
    group: &'static str,
    plural: &'static str,
    kind: &'static str,
    namespaced: bool,
    versions: &'static [&'static str],
    origin: Origin,
) -> Kind {
    Kind { group, plural, kind, namespaced, versions, origin }
}

const NET: &str = "networking.istio.io";
const SEC: &str = "security.istio.io";
const EXT: &str = "extensions.istio.io";
/// The group of the Gateway API.
pub(super) const GATEWAY_API: &str = "gateway.networking.k8s.io";
const GW: &str = GATEWAY_API;
const NET_VERSIONS: &[&str] = &["v1", "v1beta1", "v1alpha3"];
const SEC_VERSIONS: &[&str] = &["v1", "v1beta1"];
const GW_VERSIONS: &[&str] = &["v1", "v1beta1", "v1alpha3", "v1alpha2"];
const V1: &[&str] = &["v1"];

/// All kinds.
pub(super) const KINDS: &[Kind] = &[
    kind("", "configmaps", "ConfigMap", true, V1, Builtin),
    kind("", "endpoints", "Endpoints", true, V1, Builtin),
    kind("", "namespaces", "Namespace", false, V1, Builtin),
    kind("", "nodes", "Node", false, V1, Builtin),
    kind("", "pods", "Pod", true, V1, Builtin),
    kind("", "secrets", "Secret", true, V1, Builtin),
    kind("", "serviceaccounts", "ServiceAccount", true, V1, Builtin),
    kind("", "services", "Service", true, V1, Builtin),
    kind(
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        "MutatingWebhookConfiguration",
        false,
        V1,
        Builtin,
    ),
    kind(
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration",
        false,
        V1,
        Builtin,
    ),
    kind("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition", false, V1, Builtin),
    kind("apps", "daemonsets", "DaemonSet", true, V1, Builtin),
    kind("apps", "deployments", "Deployment", true, V1, Builtin),
    kind("apps", "replicasets", "ReplicaSet", true, V1, Builtin),
    kind("apps", "statefulsets", "StatefulSet", true, V1, Builtin),
    kind("autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true, &["v2"], Builtin),
    kind("batch", "jobs", "Job", true, V1, Builtin),
    kind("certificates.k8s.io", "certificatesigningrequests", "CertificateSigningRequest", false, V1, Builtin),
    kind("certificates.k8s.io", "clustertrustbundles", "ClusterTrustBundle", false, &["v1beta1"], Builtin),
    kind("coordination.k8s.io", "leases", "Lease", true, V1, Builtin),
    kind("discovery.k8s.io", "endpointslices", "EndpointSlice", true, V1, Builtin),
    kind("networking.k8s.io", "ingresses", "Ingress", true, V1, Builtin),
    kind("networking.k8s.io", "ingressclasses", "IngressClass", false, V1, Builtin),
    kind("policy", "poddisruptionbudgets", "PodDisruptionBudget", true, V1, Builtin),
    kind(NET, "destinationrules", "DestinationRule", true, NET_VERSIONS, Istio),
    kind(NET, "envoyfilters", "EnvoyFilter", true, &["v1alpha3"], Istio),
    kind(NET, "gateways", "Gateway", true, NET_VERSIONS, Istio),
    kind(NET, "proxyconfigs", "ProxyConfig", true, &["v1beta1"], Istio),
    kind(NET, "serviceentries", "ServiceEntry", true, NET_VERSIONS, Istio),
    kind(NET, "sidecars", "Sidecar", true, NET_VERSIONS, Istio),
    kind(NET, "virtualservices", "VirtualService", true, NET_VERSIONS, Istio),
    kind(NET, "workloadentries", "WorkloadEntry", true, NET_VERSIONS, Istio),
    kind(NET, "workloadgroups", "WorkloadGroup", true, NET_VERSIONS, Istio),
    kind(SEC, "authorizationpolicies", "AuthorizationPolicy", true, SEC_VERSIONS, Istio),
    kind(SEC, "peerauthentications", "PeerAuthentication", true, SEC_VERSIONS, Istio),
    kind(SEC, "requestauthentications", "RequestAuthentication", true, SEC_VERSIONS, Istio),
    kind("telemetry.istio.io", "telemetries", "Telemetry", true, &["v1", "v1alpha1"], Istio),
    kind(EXT, "trafficextensions", "TrafficExtension", true, &["v1alpha1"], Istio),
    kind(EXT, "wasmplugins", "WasmPlugin", true, &["v1alpha1"], Istio),
    kind(GW, "backendtlspolicies", "BackendTLSPolicy", true, GW_VERSIONS, GatewayApi),
    kind(GW, "gatewayclasses", "GatewayClass", false, GW_VERSIONS, GatewayApi),
    kind(GW, "gateways", "Gateway", true, GW_VERSIONS, GatewayApi),
    kind(GW, "grpcroutes", "GRPCRoute", true, GW_VERSIONS, GatewayApi),
    kind(GW, "httproutes", "HTTPRoute", true, GW_VERSIONS, GatewayApi),
    kind(GW, "listenersets", "ListenerSet", true, GW_VERSIONS, GatewayApi),
    kind(GW, "referencegrants", "ReferenceGrant", true, GW_VERSIONS, GatewayApi),
    kind(GW, "tcproutes", "TCPRoute", true, GW_VERSIONS, GatewayApi),
    kind(GW, "tlsroutes", "TLSRoute", true, GW_VERSIONS, GatewayApi),
    kind(GW, "udproutes", "UDPRoute", true, GW_VERSIONS, GatewayApi),
    kind(
        "gateway.networking.x-k8s.io",
        "xbackendtrafficpolicies",
        "XBackendTrafficPolicy",
        true,
        &["v1alpha1"],
        GatewayApi,
    ),
    kind("gateway.networking.x-k8s.io", "xlistenersets", "XListenerSet", true, &["v1alpha1"], GatewayApi),
    kind("inference.networking.k8s.io", "inferencepools", "InferencePool", true, V1, GatewayApi),
];

/// The kind of a path.
pub(super) fn by_plural(group: &str, plural: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.group == group && kind.plural == plural)
}

/// The kind of an object.
pub(super) fn by_name(group: &str, name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.group == group && kind.kind == name)
}

/// The group in an `apiVersion`.
pub(super) fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}
