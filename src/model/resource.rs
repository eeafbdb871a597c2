//! Resources of a proxy's configuration as in a config dump: kind, name, state and undecoded JSON text.

use crate::budget;
use crate::model::inventory::Labels;
use crate::model::proxy::Proxy;
use crate::proto::json;
use crate::proto::tree::Tree;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The kinds of resources that EnvoyFilters can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceKind {
    /// `envoy.config.listener.v3.Listener` (LDS).
    Listener,
    /// `envoy.config.cluster.v3.Cluster` (CDS).
    Cluster,
    /// `envoy.config.route.v3.RouteConfiguration` (RDS).
    Route,
    /// `envoy.config.core.v3.TypedExtensionConfig` (ECDS).
    ExtensionConfig,
}

impl ResourceKind {
    /// Every kind.
    pub const ALL: [ResourceKind; 4] =
        [ResourceKind::Listener, ResourceKind::Cluster, ResourceKind::Route, ResourceKind::ExtensionConfig];

    /// Its name for users.
    pub const fn as_str(self) -> &'static str {
        match self {
            ResourceKind::Listener => "listener",
            ResourceKind::Cluster => "cluster",
            ResourceKind::Route => "route",
            ResourceKind::ExtensionConfig => "extension config",
        }
    }

    /// Full name of the message.
    pub const fn type_name(self) -> &'static str {
        match self {
            ResourceKind::Listener => "envoy.config.listener.v3.Listener",
            ResourceKind::Cluster => "envoy.config.cluster.v3.Cluster",
            ResourceKind::Route => "envoy.config.route.v3.RouteConfiguration",
            ResourceKind::ExtensionConfig => "envoy.config.core.v3.TypedExtensionConfig",
        }
    }
}

/// The lifecycle state of a resource, in the words of Envoy's admin API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceState {
    /// From the bootstrap, or inlined elsewhere: istiod did not send it as a resource and no EnvoyFilter touches it here.
    Static,
    /// In use.
    Active,
    /// The newest version, not in use yet.
    Warming,
    /// Being removed.
    Draining,
}

/// The JSON of a resource. A dump has thousands, a run reads few of them, and only those can have secrets that a report repeats:
/// so it is noted which were read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourceText<'a> {
    text: &'a str,
    reads: Option<&'a AtomicBool>,
}

impl<'a> ResourceText<'a> {
    /// A text of a dump that notes whether it was read.
    pub(crate) fn noted(text: &'a str, reads: &'a AtomicBool) -> ResourceText<'a> {
        ResourceText { text, reads: Some(reads) }
    }

    /// The text, to decode or show it.
    pub fn read(self) -> &'a str {
        if let Some(reads) = self.reads {
            reads.store(true, Ordering::Relaxed);
        }
        self.text
    }

    /// The text, only to search it or to compare it with another: no part of it may reach a report.
    pub(crate) fn search(self) -> &'a str {
        self.text
    }
}

impl<'a> From<&'a str> for ResourceText<'a> {
    fn from(text: &'a str) -> ResourceText<'a> {
        ResourceText { text, reads: None }
    }
}

impl<'a> From<&'a String> for ResourceText<'a> {
    fn from(text: &'a String) -> ResourceText<'a> {
        ResourceText::from(text.as_str())
    }
}

/// A resource of a dump.
#[derive(Clone, Debug)]
pub struct Resource<'a> {
    /// Its kind.
    pub kind: ResourceKind,
    /// Its name; empty for the unnamed listeners of the bootstrap.
    pub name: Cow<'a, str>,
    /// Its lifecycle state.
    pub state: ResourceState,
    /// Its JSON, with its `@type` if the dump has one.
    pub json: ResourceText<'a>,
    /// When it was last updated, RFC 3339.
    pub last_updated: Option<&'a str>,
    /// Its last update that Envoy rejected.
    pub error: Option<Box<ResourceError<'a>>>,
    /// `json` as a tree, when many proxies are judged on this one resource.
    pub opened: Option<Arc<Opened>>,
}

/// A text that lives as long as the process, with its tree, which is made on first use.
#[derive(Debug)]
pub struct Opened {
    text: &'static str,
    tree: OnceLock<Tree<'static>>,
    /// By [`Held`].
    held: [OnceLock<bool>; 3],
}

/// What a listener's text may hold, found without reading it as JSON.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Held {
    /// The direction of inbound traffic.
    Inbound,
    /// The name of the route configuration for the mesh's HTTP proxy port.
    HttpProxy,
    /// A request for a route configuration.
    Rds,
}

impl Opened {
    /// For this text.
    pub(crate) const fn new(text: &'static str) -> Opened {
        Opened { text, tree: OnceLock::new(), held: [const { OnceLock::new() }; 3] }
    }

    /// What a search of this text found, which is done once; `None` for any other text.
    pub(crate) fn holds(&self, text: &str, what: Held, look: impl FnOnce() -> bool) -> Option<bool> {
        std::ptr::eq(self.text, text).then(|| *self.held[what as usize].get_or_init(look))
    }

    /// The tree, with the configurations of network filters opened; `None` for any other text.
    pub(crate) fn of(&self, text: &str) -> Option<&Tree<'static>> {
        std::ptr::eq(self.text, text).then(|| self.tree.get_or_init(|| budget::unmetered(|| Opened::make(self.text))))
    }

    fn make(text: &'static str) -> Tree<'static> {
        let mut tree = json::parse(text).unwrap_or(Tree::empty());
        let chains = tree.get_mut("filter_chains").and_then(Tree::items_mut);
        let lists = chains.into_iter().flatten().filter_map(|chain| chain.get_mut("filters")?.items_mut());
        for filter in lists.flatten() {
            filter.opened("typed_config");
        }
        tree
    }
}

/// An update that Envoy rejected (`error_state`, `envoy.admin.v3.UpdateFailureState`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceError<'a> {
    /// Envoy's message.
    pub details: Cow<'a, str>,
    /// JSON text of the rejected resource; Envoy omits it by default.
    pub failed_configuration: Option<&'a str>,
    /// When, RFC 3339.
    pub last_update_attempt: Option<Cow<'a, str>>,
    /// Version of the rejected update.
    pub version_info: Option<Cow<'a, str>>,
}

/// A resource that Envoy rejected without having an earlier version: there is nothing to patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedResource<'a> {
    /// Its kind.
    pub kind: ResourceKind,
    /// Its name; empty when the dump does not contain it.
    pub name: Cow<'a, str>,
    /// Why.
    pub error: ResourceError<'a>,
}

/// How the fields of messages are written in a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldNames {
    /// As in the proto files, `filter_chains`: Envoy's admin API.
    #[default]
    Proto,
    /// In lower camel case, `filterChains`: istioctl.
    Json,
}

/// A proxy and its configuration.
#[derive(Clone, Debug)]
pub struct ProxyConfig<'a> {
    /// The proxy.
    pub proxy: Proxy,
    /// Its resources in the order of the dump.
    pub resources: Arc<[Resource<'a>]>,
    /// Resources that Envoy never accepted.
    pub refused: Vec<RefusedResource<'a>>,
    /// How fields are written in the texts of `resources`.
    pub field_names: FieldNames,
    /// Clusters of other proxies, as JSON by name: filters may add them here by an annotation.
    pub lent: Arc<BTreeMap<String, String>>,
    /// Whether the configuration contains no effect of any EnvoyFilter, because istiod was asked without them.
    pub generated: bool,
}

impl<'a> ProxyConfig<'a> {
    /// The same configuration in another proxy of this kind.
    #[must_use]
    pub(crate) fn of(&self, namespace: String, name: String, workload: String, labels: Labels) -> ProxyConfig<'a> {
        let like = &self.proxy;
        let proxy = Proxy {
            kind: like.kind,
            name,
            workload,
            namespace,
            labels,
            istio_version: like.istio_version.clone(),
            metadata: Arc::clone(&like.metadata),
            envoy_version: like.envoy_version.clone(),
            extensions: like.extensions.clone(),
        };
        let (resources, refused) = (Arc::clone(&self.resources), self.refused.clone());
        ProxyConfig {
            proxy,
            resources,
            refused,
            field_names: self.field_names,
            lent: Arc::clone(&self.lent),
            generated: self.generated,
        }
    }

    /// Every resource of a kind, including static and draining ones, in the order of the dump.
    pub fn of_kind(&self, kind: ResourceKind) -> impl Iterator<Item = &Resource<'a>> {
        self.resources.iter().filter(move |resource| resource.kind == kind)
    }

    /// What istiod currently sends of a kind, with the index in `resources`: no static or draining resource and, of two
    /// versions of one name, the warming one.
    pub fn generated(&self, kind: ResourceKind) -> impl Iterator<Item = (usize, &Resource<'a>)> {
        let warming: HashSet<&str> =
            self.of_kind(kind).filter(|it| it.state == ResourceState::Warming).map(|it| it.name.as_ref()).collect();
        self.resources.iter().enumerate().filter(move |(_, it)| {
            it.kind == kind
                && match it.state {
                    ResourceState::Warming => true,
                    ResourceState::Active => !warming.contains(it.name.as_ref()),
                    ResourceState::Static | ResourceState::Draining => false,
                }
        })
    }
}

/// The static clusters that a proxy usually has (envoy_bootstrap.json, release 1.31): they are in no dump of istiod, but filters may
/// name them. `zipkin` exists only with such a tracer.
pub(crate) const STATIC_CLUSTERS: [&str; 5] = ["agent", "prometheus_stats", "sds-grpc", "xds-grpc", "zipkin"];

/// All static clusters of a proxy (envoy_bootstrap.json, release 1.31); some exist only with certain settings.
pub(crate) const BOOTSTRAP_CLUSTERS: [&str; 11] = [
    "prometheus_stats",
    "agent",
    "sds-grpc",
    "sds-files-grpc",
    "xds-grpc",
    "zipkin",
    "lightstep",
    "datadog_agent",
    "envoy_metrics_service",
    "envoy_accesslog_service",
    "local_cluster",
];
