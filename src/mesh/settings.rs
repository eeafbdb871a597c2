//! A caller's settings for the mesh to read: plain data, without a command line or a terminal.

use crate::cluster::Via;
#[cfg(feature = "cluster")]
use crate::cluster::{Access, Stop};
use crate::engine::MeshSettings;
use crate::load::{self, limits::Limits};
use crate::model::inventory::Inventory;
use crate::model::redact::Keeper;
use crate::model::release::Release;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The mesh to read, and how to treat it.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The namespace to read, and that of documents and names without one; by default that of the context, or `default`.
    pub namespace: Option<String>,
    /// Look at every namespace.
    pub all_namespaces: bool,
    /// Release of every control plane; overrides the cluster.
    pub istio_version: Option<Release>,
    /// Root namespace of every control plane; overrides its mesh config.
    pub root_namespace: Option<String>,
    /// How a cluster is read.
    pub cluster: ClusterSettings,
    /// Bounds on what is read from files and archives.
    pub limits: Limits,
    /// Secrets of the input, which no output repeats.
    pub secrets: Keeper,
    /// An istiod that configures the proxies of the files when no config dump is given.
    pub istiod: Option<IstiodSettings>,
    /// Whether another file names the files, not the user ([`load::Options::named_by_file`]).
    pub named_by_file: bool,
}

/// An istiod to run on this machine.
#[derive(Clone, Debug, Default)]
pub struct IstiodSettings {
    /// The binary; a name without a folder is looked up on the `PATH`.
    pub path: PathBuf,
    /// Its required digest, SHA-256 as hexadecimal digits.
    pub sha256: Option<String>,
    /// Its settings; override those of its Deployment among the objects.
    pub environment: BTreeMap<String, String>,
    /// The revision to act as; empty for the default.
    pub revision: String,
    /// Name of the cluster; by default `Kubernetes`.
    pub cluster_id: Option<String>,
    /// How long it may take to be ready.
    pub ready: Option<Duration>,
    /// Memory that it may use, in bytes.
    pub memory: Option<u64>,
    /// Whether the request names it: then a request that cannot use it is rejected. One that is only a default of the
    /// environment is ignored.
    pub named: bool,
}

/// How a cluster is read.
#[derive(Clone, Debug)]
pub struct ClusterSettings {
    /// How to reach it.
    #[cfg(feature = "cluster")]
    pub access: Access,
    /// Where istiod runs.
    pub istio_namespace: String,
    /// Label selector of the requested EnvoyFilters.
    pub labels: Option<String>,
    /// Field selector of the requested EnvoyFilters.
    pub fields: Option<String>,
    /// The only way to read proxies; by default every way in turn.
    pub via: Option<Via>,
    /// Read every pod, not one for each template.
    pub all_replicas: bool,
    /// A capture or a bug report to read instead of a cluster.
    pub capture: Option<PathBuf>,
}

impl Default for ClusterSettings {
    fn default() -> ClusterSettings {
        ClusterSettings {
            #[cfg(feature = "cluster")]
            access: Access::default(),
            istio_namespace: DEFAULT_ISTIO_NAMESPACE.to_owned(),
            labels: None,
            fields: None,
            via: None,
            all_replicas: false,
            capture: None,
        }
    }
}

impl ClusterSettings {
    /// Chooses a context of the kubeconfig.
    pub(crate) fn choose(&mut self, context: &str) {
        #[cfg(feature = "cluster")]
        {
            self.access.context = Some(context.to_owned());
        }
        #[cfg(not(feature = "cluster"))]
        let _ = context;
    }
}

/// Default namespace of istiod.
pub const DEFAULT_ISTIO_NAMESPACE: &str = "istio-system";

impl Settings {
    /// The assumed release when nothing shows it.
    pub(crate) fn release(&self) -> Release {
        self.istio_version.unwrap_or(Release::NEWEST)
    }

    /// Settings of the mesh that files belong to.
    pub(crate) fn mesh(&self, inventory: &Inventory) -> MeshSettings {
        let root_namespace = self.root_namespace.clone().unwrap_or_else(|| inventory.root_namespace().to_owned());
        MeshSettings { root_namespace, ..MeshSettings::default() }
    }

    /// How files are read: documents without a namespace are in the given one, else in `default`.
    pub(crate) fn load_options(&self) -> load::Options {
        let namespace = self.namespace.clone().unwrap_or_else(|| "default".to_owned());
        let (limits, secrets) = (self.limits, self.secrets.clone());
        // istiod may need what this tool does not read.
        let (keep_documents, named_by_file) = (self.istiod.is_some(), self.named_by_file);
        load::Options { namespace, limits, secrets, keep_documents, named_by_file }
    }

    /// Whether EnvoyFilters are selected by labels or fields.
    pub(crate) fn selects(&self) -> bool {
        self.cluster.labels.is_some() || self.cluster.fields.is_some()
    }
}

/// The part of a mesh that a question is about, unless the caller selects another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Breadth {
    /// The given namespace, else the context's: questions about the EnvoyFilters of one team.
    Namespace,
    /// The given namespace, else the whole mesh: questions whose answer is a verdict on all of it.
    Mesh,
    /// This namespace, whatever is given.
    Of(String),
    /// Everything, whatever is given: the filters decide which proxies are affected.
    Everything,
}

/// Reading progress, for a terminal that shows it. All methods are optional.
pub trait Progress {
    /// Reading of this many proxies starts.
    fn begin(&self, proxies: usize) {
        let _ = proxies;
    }

    /// One proxy was read or given up.
    fn advance(&self) {}

    /// The proxies were read.
    fn end(&self) {}

    /// A cluster is about to be read. Returns what stops the reading early; by default nothing does.
    #[cfg(feature = "cluster")]
    fn stop(&self) -> Option<Stop> {
        None
    }
}

/// Shows no progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Progress for Quiet {}
