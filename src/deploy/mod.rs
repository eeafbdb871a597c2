//! What is installed in a cluster, as Kubernetes objects: the one source of `webhook install`, of the Helm chart and of the
//! kustomization in `deploy/`.
//!
//! Every object is made from [`Slots`]: values for a cluster, expressions of a template for the chart. Nothing is written
//! twice, so nothing can differ.

mod admission;
pub mod health;
pub mod policy;
mod report;

use crate::cluster::kinds::NAMESPACE;
use serde_json::{Value, json};

pub use report::shards;

/// Label that says which installation an object belongs to; `uninstall` removes what has it.
pub const INSTANCE: &str = "app.kubernetes.io/instance";
/// Label that says who made an object.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// Value of [`MANAGED_BY`] for what this program makes itself.
pub const PROGRAM: &str = "kubectl-envoyfilter";
/// Label of a namespace whose filters are not reviewed when its value is `off`.
pub const ADMISSION_LABEL: &str = "envoyfilter.dev/admission";
/// Name of an installation when nothing else is said.
pub const NAME: &str = "envoyfilter-webhook";
/// Its namespace.
pub const DEFAULT_NAMESPACE: &str = "envoyfilter-system";

/// Where the server's certificate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificates {
    /// The server makes its own and keeps it in a Secret.
    Own,
    /// cert-manager makes it.
    CertManager,
}

impl Certificates {
    /// All of them.
    pub const ALL: [Certificates; 2] = [Certificates::Own, Certificates::CertManager];

    /// The word in options and values.
    pub const fn word(self) -> &'static str {
        match self {
            Certificates::Own => "own",
            Certificates::CertManager => "cert-manager",
        }
    }
}

/// What differs from one installation to the next: a value, or an expression that Helm replaces with one.
#[derive(Clone, Debug, PartialEq)]
pub struct Slots {
    /// Name of the installation and of most of its objects.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Who manages the objects: this program, or Helm.
    pub managed_by: String,
    /// Image of the containers.
    pub image: String,
    /// When it is pulled: `IfNotPresent`, `Always`, `Never`.
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
    /// Severity from which on a filter is refused.
    pub deny_at: String,
    /// How long a review may take.
    pub deadline: String,
    /// What happens at its end: `allow` or `deny`.
    pub on_deadline: String,
    /// What the API server does when the server cannot be reached: `Ignore` or `Fail`.
    pub failure_policy: String,
    /// How long the API server waits, in seconds; longer than the deadline.
    pub timeout: Value,
    /// Proxies whose extensions the server samples.
    pub sample_proxies: Value,
    /// Text of `.envoyfilter.yaml`.
    pub config: String,
    /// Checksum of that text, so that new text makes new pods.
    pub config_checksum: String,
    /// Namespace of istiod.
    pub istio_namespace: String,
    /// Root namespace of the mesh; empty when the mesh settings say it.
    pub root_namespace: String,
    /// Revisions of control planes beside the default one, whose mesh settings may be read as well.
    pub revisions: Vec<String>,
    /// When the report is written, as cron.
    pub schedule: String,
    /// Pods that share the work of a report.
    pub shards: Value,
    /// Requests and limits of the report.
    pub report_resources: Value,
    /// How often metrics are read.
    pub scrape_interval: String,
}

impl Default for Slots {
    fn default() -> Slots {
        let text = str::to_owned;
        let config = "{}\n";
        Slots {
            name: text(NAME),
            namespace: text(DEFAULT_NAMESPACE),
            managed_by: text(PROGRAM),
            image: format!("kubectl-envoyfilter:{}", env!("CARGO_PKG_VERSION")),
            pull_policy: text("IfNotPresent"),
            pull_secrets: json!([]),
            replicas: json!(2),
            resources: json!({"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}}),
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
            revisions: Vec::new(),
            schedule: text("17 * * * *"),
            shards: json!(1),
            report_resources: json!({"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}}),
            scrape_interval: text("30s"),
        }
    }
}

/// Adler-32 in decimals, as `adler32sum` of Helm's templates prints it (RFC 1950, 8.2).
pub fn checksum(text: &str) -> String {
    let (low, high) = text.bytes().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    (high * 65_536 + low).to_string()
}

/// Parts of an installation that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The namespace.
    Namespace,
    /// What an installation cannot do without.
    Core,
    /// The right to read proxies, for sampling.
    SampleProxies,
    /// The network policy.
    NetworkPolicy,
    /// The Prometheus operator's ServiceMonitor.
    ServiceMonitor,
    /// The scheduled report.
    Report,
}

/// One object of an installation.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Name of its file in the chart, without ending; the same for objects of one subject.
    pub file: &'static str,
    /// What it belongs to.
    pub part: Part,
    /// The object.
    pub object: Value,
}

/// Which parts are wanted.
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
}

impl Parts {
    /// Whether a part is wanted.
    pub const fn has(self, part: Part) -> bool {
        match part {
            Part::Core => true,
            Part::Namespace => self.namespace,
            Part::SampleProxies => self.sample_proxies,
            Part::NetworkPolicy => self.network_policy,
            Part::ServiceMonitor => self.service_monitor,
            Part::Report => self.report,
        }
    }
}

impl Default for Parts {
    fn default() -> Parts {
        Parts { namespace: true, sample_proxies: false, network_policy: true, service_monitor: false, report: true }
    }
}

/// Everything that can be installed, in the order in which it is made: what a thing needs is before it.
pub fn pieces(slots: &Slots, certificates: Certificates) -> Vec<Piece> {
    let mut pieces = vec![Piece { file: "namespace", part: Part::Namespace, object: namespace(slots) }];
    pieces.extend(admission::before(slots, certificates));
    pieces.extend(report::pieces(slots));
    // Last: as soon as it is there, the API server calls the server.
    pieces.push(admission::webhook(slots, certificates));
    pieces
}

/// The namespace. It has no label by which `uninstall` would find it: what else is in it is not ours to remove.
fn namespace(slots: &Slots) -> Value {
    json!({
        "apiVersion": "v1", "kind": NAMESPACE.kind,
        "metadata": {
            "name": slots.namespace,
            "labels": {"pod-security.kubernetes.io/enforce": "restricted"},
        },
    })
}

/// Which mesh, in arguments.
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

/// What every pod of ours may and may not do.
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

/// A pod that talks to the API server only must not be in the mesh: the API server is not, and cannot reach it there.
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
