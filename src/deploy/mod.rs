//! The Kubernetes objects of an installation: the single source of `webhook install`, of the Helm chart and of the kustomization in
//! `deploy/`.
//!
//! Every object is built from [`Slots`]: values for a cluster, template expressions for the chart. Nothing is written twice, so
//! nothing can differ.

mod admission;
pub(crate) mod cron;
pub(crate) mod health;
pub mod policy;
mod report;
mod watch;

use crate::cluster::facts::{PlaneName, mesh_config_name};
use crate::cluster::kinds::NAMESPACE;
use serde_json::{Value, json};

pub(crate) use report::shards;
pub use watch::{alerts, dashboard};

/// Label with the installation that an object belongs to; `uninstall` selects by it.
pub(crate) const INSTANCE: &str = "app.kubernetes.io/instance";
/// Label with the creator of an object.
pub(crate) const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// Value of [`MANAGED_BY`] for objects created by this program.
pub const PROGRAM: &str = "kubectl-envoyfilter";
/// Label of a namespace with its admission mode; `off` means no reviews.
pub(crate) const ADMISSION_LABEL: &str = "envoyfilter.dev/admission";
/// Default name of an installation.
pub(crate) const NAME: &str = "envoyfilter-webhook";
/// Default namespace of an installation.
pub const DEFAULT_NAMESPACE: &str = "envoyfilter-system";
/// The image of this release by its digest, if the builder knew it; otherwise an installation must name one.
pub(crate) const IMAGE: Option<&str> = option_env!("KUBECTL_ENVOYFILTER_IMAGE");
/// Config dumps of the report come from istiod.
pub const ISTIOD: &str = "istiod";
/// Config dumps of the report come from the proxies.
pub const PORT_FORWARD: &str = "port-forward";

/// Source of the server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificates {
    /// The server creates its own and stores it in a Secret.
    Own,
    /// cert-manager creates it.
    CertManager,
}

impl Certificates {
    /// All of them.
    pub const ALL: [Certificates; 2] = [Certificates::Own, Certificates::CertManager];

    /// The value in options and chart values.
    pub const fn as_str(self) -> &'static str {
        match self {
            Certificates::Own => "own",
            Certificates::CertManager => "cert-manager",
        }
    }
}

/// What differs between installations: a value, or an expression that Helm replaces with one.
#[derive(Clone, Debug, PartialEq)]
pub struct Slots {
    /// Name of the installation and of most of its objects.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Manager of the objects: this program or Helm.
    pub managed_by: String,
    /// Image of the containers.
    pub image: String,
    /// Pull policy: `IfNotPresent`, `Always`, `Never`.
    pub pull_policy: String,
    /// Names of pull secrets, as `[{name}]`.
    pub pull_secrets: Value,
    /// Replicas of the server.
    pub replicas: Value,
    /// Requests and limits of the server.
    pub resources: Value,
    /// `nodeSelector` of all pods.
    pub node_selector: Value,
    /// `tolerations` of all pods.
    pub tolerations: Value,
    /// `enforce`, `warn` or `audit`.
    pub mode: String,
    /// Minimum severity that denies a filter.
    pub deny_at: String,
    /// Maximum duration of a review.
    pub deadline: String,
    /// Answer when it is exceeded: `allow` or `deny`.
    pub on_deadline: String,
    /// What the API server does when no replica answers: `Ignore` or `Fail`.
    pub failure_policy: String,
    /// Timeout of the API server in seconds; longer than the deadline.
    pub timeout: Value,
    /// Number of proxies whose extensions the server samples.
    pub sample_proxies: Value,
    /// Text of `.envoyfilter.yaml`.
    pub config: String,
    /// Checksum of that text, so that a new text rolls out new pods.
    pub config_checksum: String,
    /// Namespace of istiod.
    pub istio_namespace: String,
    /// Root namespace of the mesh; empty to use the mesh config.
    pub root_namespace: String,
    /// Control planes besides that of [`Slots::istio_namespace`], whose mesh settings may be read.
    pub control_planes: Vec<PlaneSlot>,
    /// Schedule of the report, in cron format.
    pub schedule: String,
    /// Number of pods that share the work of a report.
    pub shards: Value,
    /// Requests and limits of the report.
    pub report_resources: Value,
    /// How the report reads config dumps: `istiod` (what istiod would send, with rights in its namespace only) or
    /// `port-forward` (from the proxies, with the right to forward ports to every pod).
    pub report_dumps: String,
    /// APIs of the reports, separated by commas.
    pub report_api: String,
    /// Replicas of the watch; each has a Lease.
    pub watch_replicas: Value,
    /// Suffixes of the names of the Leases.
    pub watch_shards: Vec<String>,
    /// Maximum number of proxies that each replica of the watch reads in a minute.
    pub watch_rate: Value,
    /// Requests and limits of the watch.
    pub watch_resources: Value,
    /// How the watch reads config dumps, as for the report.
    pub watch_dumps: String,
    /// Scrape interval.
    pub scrape_interval: String,
    /// Clients that may call the webhook, as peers of a NetworkPolicy; empty: all that reach the port.
    pub api_servers: Value,
    /// Clients that may read metrics, as peers of a NetworkPolicy.
    pub metrics_readers: Value,
    /// ConfigMap with the authorities of clients, as `ca.crt`; empty: clients need no certificate.
    pub client_ca: String,
}

/// A control plane whose pods and mesh settings may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaneSlot {
    /// Its namespace.
    pub namespace: String,
    /// Its revision.
    pub revision: String,
    /// Name of the ConfigMap with its mesh settings.
    pub mesh_config: String,
}

impl PlaneSlot {
    /// The slot of a control plane; `home`: the namespace of one that has none.
    pub fn of(plane: &PlaneName, home: &str) -> PlaneSlot {
        PlaneSlot {
            namespace: plane.namespace.clone().unwrap_or_else(|| home.to_owned()),
            revision: plane.revision.clone(),
            mesh_config: mesh_config_name(&plane.revision),
        }
    }
}

/// What a container requests, and its limits. The CPU has none: a throttled review is a late one. What it stores is its log.
fn resources(cpu: &str, memory: &str, memory_limit: &str) -> Value {
    json!({
        "requests": {"cpu": cpu, "memory": memory, "ephemeral-storage": "64Mi"},
        "limits": {"memory": memory_limit, "ephemeral-storage": "256Mi"},
    })
}

impl Default for Slots {
    fn default() -> Slots {
        let text = str::to_owned;
        let config = "{}\n";
        Slots {
            name: text(NAME),
            namespace: text(DEFAULT_NAMESPACE),
            managed_by: text(PROGRAM),
            image: IMAGE.map_or_else(|| format!("kubectl-envoyfilter:{}", env!("CARGO_PKG_VERSION")), text),
            pull_policy: text("IfNotPresent"),
            pull_secrets: json!([]),
            replicas: json!(2),
            resources: resources("100m", "128Mi", "512Mi"),
            node_selector: json!({}),
            tolerations: json!([]),
            mode: text("enforce"),
            deny_at: text("error"),
            deadline: text("5s"),
            on_deadline: text("allow"),
            failure_policy: text("Ignore"),
            timeout: json!(10),
            sample_proxies: json!(0),
            config: text(config),
            config_checksum: checksum(config),
            istio_namespace: text("istio-system"),
            root_namespace: String::new(),
            control_planes: Vec::new(),
            schedule: text("17 * * * *"),
            shards: json!(1),
            report_resources: resources("100m", "256Mi", "1Gi"),
            report_dumps: text(ISTIOD),
            report_api: text("wgpolicyk8s.io"),
            watch_replicas: json!(1),
            watch_shards: vec![text("0")],
            watch_rate: json!(60),
            watch_resources: resources("50m", "128Mi", "512Mi"),
            watch_dumps: text(ISTIOD),
            scrape_interval: text("30s"),
            api_servers: json!([]),
            metrics_readers: json!([{"namespaceSelector": {}}]),
            client_ca: String::new(),
        }
    }
}

/// Adler-32 in decimals, as `adler32sum` of Helm's templates prints it (RFC 1950, 8.2).
pub(crate) fn checksum(text: &str) -> String {
    let (low, high) = text.bytes().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    (high * 65_536 + low).to_string()
}

/// Optional parts of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The namespace.
    Namespace,
    /// Required objects.
    Core,
    /// The right to read the settings of more control planes.
    ControlPlanes,
    /// The right to read proxies, for sampling.
    SampleProxies,
    /// The network policy.
    NetworkPolicy,
    /// The Prometheus operator's ServiceMonitor.
    ServiceMonitor,
    /// The scheduled report.
    Report,
    /// The right of the report to read more control planes.
    ReportControlPlanes,
    /// The right of the report to read proxies.
    ReportProxies,
    /// The network policy of the report.
    ReportNetworkPolicy,
    /// The standing watch.
    Watch,
    /// The Leases of its replicas.
    WatchLeases,
    /// The right of the watch to read more control planes.
    WatchControlPlanes,
    /// The right of the watch to read proxies.
    WatchProxies,
    /// The network policy of the watch.
    WatchNetworkPolicy,
    /// The ServiceMonitor of the watch.
    WatchServiceMonitor,
    /// Its alerts, for the Prometheus operator.
    PrometheusRule,
}

/// One object of an installation.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Name of its file in the chart, without extension; the same for objects of one subject.
    pub file: &'static str,
    /// Its part.
    pub part: Part,
    /// The object.
    pub object: Value,
}

/// The selected parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "parts that are there or not")]
pub struct Parts {
    /// The namespace.
    pub namespace: bool,
    /// The right to read proxies.
    pub sample_proxies: bool,
    /// The network policy.
    pub network_policy: bool,
    /// The ServiceMonitor.
    pub service_monitor: bool,
    /// The scheduled report.
    pub report: bool,
    /// The right of the report to read proxies.
    pub report_proxies: bool,
    /// The standing watch.
    pub watch: bool,
    /// The right of the watch to read proxies.
    pub watch_proxies: bool,
    /// The alerts of the watch.
    pub prometheus_rule: bool,
}

impl Parts {
    /// Whether a part is selected.
    pub const fn has(self, part: Part) -> bool {
        match part {
            Part::Core | Part::ControlPlanes => true,
            Part::Namespace => self.namespace,
            Part::SampleProxies => self.sample_proxies,
            Part::NetworkPolicy => self.network_policy,
            Part::ServiceMonitor => self.service_monitor,
            Part::Report | Part::ReportControlPlanes => self.report,
            Part::ReportProxies => self.report && self.report_proxies,
            Part::ReportNetworkPolicy => self.report && self.network_policy,
            Part::Watch | Part::WatchLeases | Part::WatchControlPlanes => self.watch,
            Part::WatchProxies => self.watch && self.watch_proxies,
            Part::WatchNetworkPolicy => self.watch && self.network_policy,
            Part::WatchServiceMonitor => self.watch && self.service_monitor,
            Part::PrometheusRule => self.watch && self.prometheus_rule,
        }
    }
}

impl Default for Parts {
    fn default() -> Parts {
        Parts {
            namespace: true,
            sample_proxies: false,
            network_policy: true,
            service_monitor: false,
            report: true,
            report_proxies: false,
            watch: false,
            watch_proxies: false,
            prometheus_rule: false,
        }
    }
}

/// Everything that can be installed, in the order of creation: dependencies first.
pub fn pieces(slots: &Slots, certificates: Certificates) -> Vec<Piece> {
    let mut pieces = vec![Piece { file: "namespace", part: Part::Namespace, object: namespace(slots) }];
    pieces.extend(admission::before(slots, certificates));
    pieces.extend(report::pieces(slots));
    pieces.extend(watch::pieces(slots));
    // Last: once it exists, the API server calls the webhook.
    pieces.push(admission::webhook(slots, certificates));
    pieces
}

/// The namespace. It has no label that `uninstall` selects: other objects in it are not ours to remove.
fn namespace(slots: &Slots) -> Value {
    json!({
        "apiVersion": "v1", "kind": NAMESPACE.kind,
        "metadata": {
            "name": slots.namespace,
            "labels": {"pod-security.kubernetes.io/enforce": "restricted"},
        },
    })
}

/// Arguments that select the mesh.
fn mesh(slots: &Slots) -> Vec<String> {
    let mut arguments = vec![format!("--istio-namespace={}", slots.istio_namespace)];
    if !slots.root_namespace.is_empty() {
        arguments.push(format!("--root-namespace={}", slots.root_namespace));
    }
    arguments
}

/// Labels of an object of a component.
fn labels(slots: &Slots, component: &str) -> Value {
    let mut labels = selector(slots, component);
    if let Some(labels) = labels.as_object_mut() {
        labels.insert(MANAGED_BY.to_owned(), slots.managed_by.clone().into());
    }
    labels
}

/// Labels that select the pods of a component.
fn selector(slots: &Slots, component: &str) -> Value {
    json!({"app.kubernetes.io/name": PROGRAM, INSTANCE: slots.name, "app.kubernetes.io/component": component})
}

/// Name, namespace and labels of an object.
fn metadata(slots: &Slots, component: &str, name: &str) -> Value {
    json!({"name": name, "namespace": slots.namespace, "labels": labels(slots, component)})
}

/// An object with our labels.
fn labelled(mut object: Value, slots: &Slots, component: &str) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("labels".to_owned(), labels(slots, component));
    }
    object
}

/// Ports on which API servers listen: the usual one, that of managed clusters, minikube's.
const API_SERVERS: [u16; 3] = [443, 6443, 8443];

/// What our pods may reach: the API server and DNS. API servers have no address that is valid in every cluster.
fn egress() -> Value {
    let port = |port: u16| json!({"port": port, "protocol": "TCP"});
    let api_servers: Vec<Value> = API_SERVERS.map(port).into();
    json!([{"ports": api_servers}, {"ports": [{"port": 53, "protocol": "UDP"}, port(53)]}])
}

/// Security context of every pod.
fn pod_security() -> Value {
    json!({
        "runAsNonRoot": true, "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER,
        "seccompProfile": {"type": "RuntimeDefault"},
    })
}

/// The user `nonroot` of distroless images.
const USER: u32 = 65_532;

fn container_security() -> Value {
    json!({
        "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]},
    })
}

/// Labels of a pod. It must not be in the mesh, because the API server is outside and could not reach it.
fn pod_labels(slots: &Slots, component: &str) -> Value {
    let mut all = labels(slots, component);
    if let Some(all) = all.as_object_mut() {
        all.insert("sidecar.istio.io/inject".to_owned(), "false".into());
        all.insert("istio.io/dataplane-mode".to_owned(), "none".into());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_adler_32() {
        // The example of RFC 1950's successor texts: "Wikipedia" is 0x11E60398.
        assert_eq!(checksum("Wikipedia"), 0x11E6_0398_u32.to_string());
        assert_eq!(checksum(""), "1");
    }
}
