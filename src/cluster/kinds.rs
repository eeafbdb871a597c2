//! What each command reads. This table is the source of requests, `rbac` and the documentation.

/// A kind of object.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// `kind`.
    pub kind: &'static str,
    /// API group; empty for the core group.
    pub group: &'static str,
    /// Versions to try, in order of preference. Every release since 1.5 serves Istio's under `v1beta1`.
    pub versions: &'static [&'static str],
    /// Name in paths and roles.
    pub plural: &'static str,
    /// Whether its objects have a namespace.
    pub namespaced: bool,
    /// Whether names and labels are enough.
    pub metadata_only: bool,
    /// What is unknown when its objects cannot be read.
    pub without: &'static str,
}

const CORE: &[&str] = &["v1"];
const ISTIO: &str = "networking.istio.io";
const BETA: &[&str] = &["v1beta1", "v1"];

macro_rules! kinds {
    ($($name:ident: $kind:literal, $group:expr, $versions:expr, $plural:literal, $namespaced:literal, $metadata:literal, $without:expr;)+) => {
        $(
            #[doc = concat!("`", $kind, "`.")]
            pub const $name: &Kind = &Kind {
                kind: $kind,
                group: $group,
                versions: $versions,
                plural: $plural,
                namespaced: $namespaced,
                metadata_only: $metadata,
                without: $without,
            };
        )+
    };
}

kinds! {
    ENVOY_FILTER: "EnvoyFilter", ISTIO, &["v1alpha3"], "envoyfilters", true, false, "nothing can be judged";
    POD: "Pod", "", CORE, "pods", true, false, "selectors are not checked and no proxy is read";
    NAMESPACE: "Namespace", "", CORE, "namespaces", false, true, "injection and ambient mode of namespaces are unknown";
    SERVICE: "Service", "", CORE, "services", true, false, "service ports and names are not checked";
    SERVICE_ENTRY: "ServiceEntry", ISTIO, BETA, "serviceentries", true, false, "ServiceEntry hosts are not checked";
    GATEWAY: "Gateway", ISTIO, BETA, "gateways", true, false, "Gateway ports and hosts are not checked";
    VIRTUAL_SERVICE: "VirtualService", ISTIO, BETA, "virtualservices", true, false, "VirtualService routes are not compared";
    DESTINATION_RULE: "DestinationRule", ISTIO, BETA, "destinationrules", true, false, "DestinationRule settings are not compared";
    SIDECAR: "Sidecar", ISTIO, BETA, "sidecars", true, false, "what Sidecars hide is unknown";
    WORKLOAD_ENTRY: "WorkloadEntry", ISTIO, BETA, "workloadentries", true, false, "virtual machines are unknown";
    KUBE_GATEWAY: "Gateway", "gateway.networking.k8s.io", &["v1", "v1beta1"], "gateways", true, false, "targetRefs are not checked";
    CONFIG_MAP: "ConfigMap", "", CORE, "configmaps", true, false, "default mesh settings are assumed";
    AUTHORIZATION_POLICY: "AuthorizationPolicy", "security.istio.io", BETA, "authorizationpolicies", true, false, POLICIES;
    REQUEST_AUTHENTICATION: "RequestAuthentication", "security.istio.io", BETA, "requestauthentications", true, false, POLICIES;
    TELEMETRY: "Telemetry", "telemetry.istio.io", &["v1", "v1alpha1"], "telemetries", true, false, POLICIES;
    WASM_PLUGIN: "WasmPlugin", "extensions.istio.io", &["v1alpha1"], "wasmplugins", true, false, EXTENSIONS;
    TRAFFIC_EXTENSION: "TrafficExtension", "extensions.istio.io", &["v1alpha1"], "trafficextensions", true, false, EXTENSIONS;
    HTTP_ROUTE: "HTTPRoute", "gateway.networking.k8s.io", &["v1", "v1beta1"], "httproutes", true, false, "routes of the Gateway API are not edited";
    REVISION_TAG: "MutatingWebhookConfiguration", "admissionregistration.k8s.io", CORE, "mutatingwebhookconfigurations", false, true, "revision tags are not resolved";
}

// Read only by istiod.
kinds! {
    PEER_AUTHENTICATION: "PeerAuthentication", "security.istio.io", BETA, "peerauthentications", true, false, UNSEEN;
    PROXY_CONFIG: "ProxyConfig", ISTIO, &["v1beta1"], "proxyconfigs", true, false, UNSEEN;
    ENDPOINT_SLICE: "EndpointSlice", "discovery.k8s.io", CORE, "endpointslices", true, false, UNSEEN;
    NODE: "Node", "", CORE, "nodes", false, true, "an istiod that runs here knows no locality";
    INGRESS: "Ingress", "networking.k8s.io", CORE, "ingresses", true, false, UNSEEN;
    INGRESS_CLASS: "IngressClass", "networking.k8s.io", CORE, "ingressclasses", false, false, UNSEEN;
    GATEWAY_CLASS: "GatewayClass", GATEWAY_API, &["v1", "v1beta1"], "gatewayclasses", false, false, UNSEEN;
    GRPC_ROUTE: "GRPCRoute", GATEWAY_API, &["v1", "v1alpha2"], "grpcroutes", true, false, UNSEEN;
    TCP_ROUTE: "TCPRoute", GATEWAY_API, &["v1alpha2", "v1"], "tcproutes", true, false, UNSEEN;
    TLS_ROUTE: "TLSRoute", GATEWAY_API, &["v1", "v1alpha3", "v1alpha2"], "tlsroutes", true, false, UNSEEN;
    REFERENCE_GRANT: "ReferenceGrant", GATEWAY_API, &["v1beta1", "v1"], "referencegrants", true, false, UNSEEN;
    BACKEND_TLS_POLICY: "BackendTLSPolicy", GATEWAY_API, &["v1", "v1alpha3"], "backendtlspolicies", true, false, UNSEEN;
    LISTENER_SET: "ListenerSet", GATEWAY_API, CORE, "listenersets", true, false, UNSEEN;
    X_LISTENER_SET: "XListenerSet", "gateway.networking.x-k8s.io", ALPHA, "xlistenersets", true, false, UNSEEN;
    X_BACKEND_TRAFFIC_POLICY: "XBackendTrafficPolicy", "gateway.networking.x-k8s.io", ALPHA, "xbackendtrafficpolicies", true, false, UNSEEN;
    INFERENCE_POOL: "InferencePool", "inference.networking.k8s.io", CORE, "inferencepools", true, false, UNSEEN;
}

// Written by `webhook`.
kinds! {
    SERVICE_ACCOUNT: "ServiceAccount", "", CORE, "serviceaccounts", true, true, INSTALLED;
    CLUSTER_ROLE: "ClusterRole", RBAC, CORE, "clusterroles", false, true, INSTALLED;
    CLUSTER_ROLE_BINDING: "ClusterRoleBinding", RBAC, CORE, "clusterrolebindings", false, true, INSTALLED;
    ROLE: "Role", RBAC, CORE, "roles", true, true, INSTALLED;
    ROLE_BINDING: "RoleBinding", RBAC, CORE, "rolebindings", true, true, INSTALLED;
    OWN_CONFIG_MAP: "ConfigMap", "", CORE, "configmaps", true, true, INSTALLED;
    SECRET: "Secret", "", CORE, "secrets", true, true, INSTALLED;
    LEASE: "Lease", "coordination.k8s.io", CORE, "leases", true, true, INSTALLED;
    OWN_SERVICE: "Service", "", CORE, "services", true, true, INSTALLED;
    DEPLOYMENT: "Deployment", "apps", CORE, "deployments", true, true, INSTALLED;
    DISRUPTION_BUDGET: "PodDisruptionBudget", "policy", CORE, "poddisruptionbudgets", true, true, INSTALLED;
    NETWORK_POLICY: "NetworkPolicy", "networking.k8s.io", CORE, "networkpolicies", true, true, INSTALLED;
    CRON_JOB: "CronJob", "batch", CORE, "cronjobs", true, true, INSTALLED;
    JOB: "Job", "batch", CORE, "jobs", true, true, INSTALLED;
    SERVICE_MONITOR: "ServiceMonitor", "monitoring.coreos.com", CORE, "servicemonitors", true, true, INSTALLED;
    PROMETHEUS_RULE: "PrometheusRule", "monitoring.coreos.com", CORE, "prometheusrules", true, true, INSTALLED;
    ISSUER: "Issuer", "cert-manager.io", CORE, "issuers", true, true, INSTALLED;
    CERTIFICATE: "Certificate", "cert-manager.io", CORE, "certificates", true, true, INSTALLED;
    VALIDATING_WEBHOOK: "ValidatingWebhookConfiguration", ADMISSION, CORE, "validatingwebhookconfigurations", false, true, INSTALLED;
    ADMISSION_POLICY: "ValidatingAdmissionPolicy", ADMISSION, CORE, "validatingadmissionpolicies", false, true, INSTALLED;
    ADMISSION_POLICY_BINDING: "ValidatingAdmissionPolicyBinding", ADMISSION, CORE, "validatingadmissionpolicybindings", false, true, INSTALLED;
    POLICY_REPORT: "PolicyReport", POLICY_WG, &["v1alpha2"], "policyreports", true, true, "old reports are not removed";
    CLUSTER_POLICY_REPORT: "ClusterPolicyReport", POLICY_WG, &["v1alpha2"], "clusterpolicyreports", false, true, "old reports are not removed";
    OPEN_REPORT: "Report", OPEN_REPORTS, &["v1alpha1"], "reports", true, true, "old reports are not removed";
    CLUSTER_OPEN_REPORT: "ClusterReport", OPEN_REPORTS, &["v1alpha1"], "clusterreports", false, true, "old reports are not removed";
}

/// The consequence when an istiod on this machine does not get all objects of a kind.
pub(crate) const UNSEEN: &str = "what an istiod that runs here generates lacks them";
/// The same for everything that another source does not contain.
pub(crate) const UNSEEN_OBJECTS: &str = "what an istiod that runs here generates lacks the objects";
const GATEWAY_API: &str = "gateway.networking.k8s.io";
const ALPHA: &[&str] = &["v1alpha1"];
const EXTENSIONS: &str =
    "existing Wasm plugins and extensions are not compared, and an istiod that runs here lacks them";
const POLICIES: &str = "existing policies are not compared, so a guard may pass that should not";
const RBAC: &str = "rbac.authorization.k8s.io";
const ADMISSION: &str = "admissionregistration.k8s.io";
const POLICY_WG: &str = "wgpolicyk8s.io";
const OPEN_REPORTS: &str = "openreports.io";
const INSTALLED: &str = "what is installed is unknown";

kinds! {
    EVENT: "Event", "", CORE, "events", true, false, "Events are not written";
}

/// Everything that `webhook` creates in a cluster, in order of creation; removed in reverse order.
pub const MADE: &[&Kind] = &[
    NAMESPACE,
    SERVICE_ACCOUNT,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    ROLE,
    ROLE_BINDING,
    OWN_CONFIG_MAP,
    SECRET,
    LEASE,
    ISSUER,
    CERTIFICATE,
    OWN_SERVICE,
    NETWORK_POLICY,
    DISRUPTION_BUDGET,
    DEPLOYMENT,
    SERVICE_MONITOR,
    PROMETHEUS_RULE,
    CRON_JOB,
    JOB,
    POLICY_REPORT,
    CLUSTER_POLICY_REPORT,
    OPEN_REPORT,
    CLUSTER_OPEN_REPORT,
    ADMISSION_POLICY,
    ADMISSION_POLICY_BINDING,
    VALIDATING_WEBHOOK,
];

/// The kinds of reports, of both APIs.
pub(crate) const REPORTS: &[&Kind] = &[POLICY_REPORT, CLUSTER_POLICY_REPORT, OPEN_REPORT, CLUSTER_OPEN_REPORT];

/// What a command reads in addition to the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The command, as typed.
    pub command: &'static str,
    /// Kinds it lists.
    pub kinds: &'static [&'static Kind],
    /// Whether it reads proxies.
    pub dumps: bool,
    /// Whether an istiod also reads the objects: then more of each is kept.
    pub istiod: bool,
}

/// What the admission server watches: the input of `lint`, the labels of namespaces, and revision tags; the first ones in
/// [`BOTTLED`].
const WATCHED: &[&Kind] = BOTTLED.split_at(12).0;
/// Everything that decides where a filter applies and what it matches.
const ALL: &[&Kind] = WATCHED.split_at(WATCHED.len() - 2).0;
/// What `migrate` reads: everything that guards compare.
const GUARDED: &[&Kind] = &[
    ENVOY_FILTER,
    POD,
    SERVICE,
    SERVICE_ENTRY,
    GATEWAY,
    VIRTUAL_SERVICE,
    DESTINATION_RULE,
    KUBE_GATEWAY,
    AUTHORIZATION_POLICY,
    REQUEST_AUTHENTICATION,
    TELEMETRY,
    WASM_PLUGIN,
    TRAFFIC_EXTENSION,
    PROXY_CONFIG,
    HTTP_ROUTE,
    GRPC_ROUTE,
    INGRESS,
    INGRESS_CLASS,
];
const FEW: &[&Kind] = &[ENVOY_FILTER, POD];
/// What istiod reads in a cluster, and what questions about its answers need. Secrets are not included.
const BOTTLED: &[&Kind] = &[
    ENVOY_FILTER,
    POD,
    SERVICE,
    SERVICE_ENTRY,
    GATEWAY,
    VIRTUAL_SERVICE,
    DESTINATION_RULE,
    SIDECAR,
    WORKLOAD_ENTRY,
    KUBE_GATEWAY,
    NAMESPACE,
    REVISION_TAG,
    AUTHORIZATION_POLICY,
    PEER_AUTHENTICATION,
    REQUEST_AUTHENTICATION,
    TELEMETRY,
    WASM_PLUGIN,
    TRAFFIC_EXTENSION,
    PROXY_CONFIG,
    ENDPOINT_SLICE,
    NODE,
    INGRESS,
    INGRESS_CLASS,
    GATEWAY_CLASS,
    HTTP_ROUTE,
    GRPC_ROUTE,
    TCP_ROUTE,
    TLS_ROUTE,
    REFERENCE_GRANT,
    BACKEND_TLS_POLICY,
    LISTENER_SET,
    X_LISTENER_SET,
    X_BACKEND_TRAFFIC_POLICY,
    INFERENCE_POOL,
];
/// The contents of captures that do not state their contents.
pub(crate) const CAPTURED_AT_FIRST: &[&Kind] = WATCHED;

/// The admission server. What else it writes (its own certificate) is in `rbac`.
pub const WEBHOOK: Needs = Needs { command: "webhook", kinds: WATCHED, dumps: false, istiod: false };

macro_rules! needs {
    ($($name:ident: $command:literal, $kinds:expr, $dumps:literal, $istiod:literal;)+) => {
        $(
            #[doc = concat!("`", $command, "`.")]
            pub(crate) const $name: Needs = Needs { command: $command, kinds: $kinds, dumps: $dumps, istiod: $istiod };
        )+
        /// Every command that reads a cluster.
        pub(crate) const COMMANDS: &[Needs] = &[$($name),+];
    };
}

needs! {
    LINT: "lint", ALL, true, false;
    EXPLAIN: "explain", &[ENVOY_FILTER, POD, SERVICE, NAMESPACE, GATEWAY, KUBE_GATEWAY, WORKLOAD_ENTRY], true, false;
    DIFF: "diff", FEW, true, false;
    RENDER: "render", FEW, true, false;
    GET: "get", FEW, true, false;
    STATUS: "status", FEW, true, false;
    VERSION: "version", &[POD, NAMESPACE, REVISION_TAG], false, false;
    WATCH: "watch", WATCHED, true, false;
    AUDIT: "audit", ALL, true, false;
    MIGRATE: "migrate", GUARDED, false, false;
    CAPTURE: "capture", BOTTLED, true, true;
    DUMP: "dump", BOTTLED, false, true;
    DOCTOR: "doctor", BOTTLED, false, true;
}

/// What `explain` reads, except for gateways and for workloads that may be virtual machines.
pub(crate) const EXPLAIN_POD: Needs = Needs { kinds: &[ENVOY_FILTER, POD, SERVICE, NAMESPACE], ..EXPLAIN };
/// What it reads for a gateway.
pub(crate) const EXPLAIN_GATEWAY: Needs =
    Needs { kinds: &[ENVOY_FILTER, POD, SERVICE, NAMESPACE, GATEWAY, KUBE_GATEWAY], ..EXPLAIN };
/// What it reads for a workload of any kind.
pub(crate) const EXPLAIN_WORKLOAD: Needs =
    Needs { kinds: &[ENVOY_FILTER, POD, SERVICE, NAMESPACE, WORKLOAD_ENTRY], ..EXPLAIN };

/// What the scheduled report reads.
pub(crate) const REPORT: Needs = Needs { command: "report", ..LINT };

impl Needs {
    /// The same with an istiod on this machine, in place of proxies or in addition to them.
    #[must_use]
    pub(crate) const fn with_istiod(&self) -> Needs {
        Needs { command: self.command, kinds: BOTTLED, dumps: false, istiod: true }
    }
}

impl Kind {
    /// Its name in a cluster: `pods`, `wasmplugins.extensions.istio.io`.
    pub(crate) fn resource(&self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// The kind of an object, among those in [`MADE`].
    pub(crate) fn of(object: &serde_json::Value) -> Option<&'static Kind> {
        let text = |key: &str| object.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
        let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
        let is = |kind: &&&Kind| kind.kind == text("kind") && kind.group == group && kind.versions.contains(&version);
        MADE.iter().find(is).copied()
    }

    /// The preferred version.
    pub(crate) fn version(&self) -> &'static str {
        self.versions.first().copied().unwrap_or_default()
    }

    /// The path of a list or, with a name, of one object, in the preferred version.
    pub(crate) fn place(&self, namespace: Option<&str>, name: Option<&str>) -> String {
        self.path(self.version(), namespace, name)
    }

    /// The path of a list or, with a name, of one object.
    pub fn path(&self, version: &str, namespace: Option<&str>, name: Option<&str>) -> String {
        let root = if self.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", self.group) };
        let mut path = format!("{root}/{version}");
        if let (true, Some(namespace)) = (self.namespaced, namespace) {
            path = format!("{path}/namespaces/{}", quoted(namespace));
        }
        path = format!("{path}/{}", self.plural);
        name.map_or(path.clone(), |name| format!("{path}/{}", quoted(name)))
    }
}

/// A text as part of a URL.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => quoted.push(char::from(byte)),
            _ => quoted.extend(format!("%{byte:02X}").chars()),
        }
    }
    quoted
}
