//! What a caller says of the mesh to read: plain data, no command line and no terminal.

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

/// Which mesh is read, and how it is to be taken.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The namespace to look at, and that of documents and names without one; the context's or `default` without.
    pub namespace: Option<String>,
    /// Look at every namespace.
    pub all_namespaces: bool,
    /// Release of every control plane, over what the cluster says.
    pub istio_version: Option<Release>,
    /// Root namespace of every control plane, over what its mesh config says.
    pub root_namespace: Option<String>,
    /// How a cluster is read.
    pub cluster: ClusterSettings,
    /// Bounds on what is read from files and archives.
    pub limits: Limits,
    /// Secrets of what was read, which no output repeats.
    pub secrets: Keeper,
    /// An istiod to ask what the proxies of the files would get, where no config dump is given.
    pub istiod: Option<IstiodSettings>,
}

/// An istiod that is run on this machine.
#[derive(Clone, Debug, Default)]
pub struct IstiodSettings {
    /// The binary; a name without a folder is looked up on the `PATH`.
    pub path: PathBuf,
    /// The digest that it must have, SHA-256 as hexadecimal digits.
    pub sha256: Option<String>,
    /// Settings of it, over those of its Deployment among the objects.
    pub environment: BTreeMap<String, String>,
    /// The revision to act as; empty for the default.
    pub revision: String,
    /// Name of the cluster; `Kubernetes` without.
    pub cluster_id: Option<String>,
    /// How long it may take to be ready.
    pub ready: Option<Duration>,
    /// Memory that it may use, in bytes.
    pub memory: Option<u64>,
    /// Whether the request names it: a request that cannot ask it is refused then. One that is only the default of the
    /// surroundings is left alone.
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
    /// Label selector of the EnvoyFilters that are asked about.
    pub labels: Option<String>,
    /// Field selector of the same.
    pub fields: Option<String>,
    /// The only way in which proxies are read; every way in turn without.
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

/// Where istiod runs unless somebody says otherwise.
pub const DEFAULT_ISTIO_NAMESPACE: &str = "istio-system";

impl Settings {
    /// The release that is acted as where nothing tells a release.
    pub fn release(&self) -> Release {
        self.istio_version.unwrap_or(Release::NEWEST)
    }

    /// Settings of the mesh that files belong to.
    pub fn mesh(&self, inventory: &Inventory) -> MeshSettings {
        let root_namespace = self.root_namespace.clone().unwrap_or_else(|| inventory.root_namespace().to_owned());
        MeshSettings { root_namespace, ..MeshSettings::default() }
    }

    /// How files are read: documents without a namespace are in the one that is named, else in `default`.
    pub fn load_options(&self) -> load::Options {
        let namespace = self.namespace.clone().unwrap_or_else(|| "default".to_owned());
        let (limits, secrets) = (self.limits, self.secrets.clone());
        // What nothing here reads may matter to istiod.
        load::Options { namespace, limits, secrets, keep_documents: self.istiod.is_some() }
    }

    /// Whether EnvoyFilters are selected by labels or fields.
    pub fn selects(&self) -> bool {
        self.cluster.labels.is_some() || self.cluster.fields.is_some()
    }
}

/// Which part of a mesh a question is about, where the caller names no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Breadth {
    /// The namespace that is named, else the context's: questions about EnvoyFilters of one team.
    Namespace,
    /// The namespace that is named, else the whole mesh: questions whose answer is a verdict on all of it.
    Mesh,
    /// This namespace, whatever is named.
    Of(String),
    /// Everything, whatever is named: what is asked about decides which proxies are concerned.
    Everything,
}

/// What happens while a mesh is read, for a terminal that shows it. Every method may be left out.
pub trait Progress {
    /// Reading so many proxies begins.
    fn begin(&self, proxies: usize) {
        let _ = proxies;
    }

    /// One proxy was read, or given up.
    fn advance(&self) {}

    /// The proxies were read.
    fn end(&self) {}

    /// A cluster is about to be read: what ends the reading before its time; nothing does without.
    #[cfg(feature = "cluster")]
    fn stop(&self) -> Option<Stop> {
        None
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Progress for Quiet {}
