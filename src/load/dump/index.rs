//! The index of a dump: its resources and their places in the text. Nothing is decoded here.
//!
//! Layout of a dump: `envoy.admin.v3.ConfigDump` (Envoy 1.37 API); its sections are recognized by their keys, each of which
//! occurs in one section type. istioctl writes the same in lower camel case, or bare lists of resources.

use crate::model::resource::{BOOTSTRAP_CLUSTERS, FieldNames, ResourceKind, ResourceState};
use crate::proto::json_scan::{Fault, Open, Scanner};
use std::ops::Range;

/// The contents of a dump. Ranges are bytes of its text; ranges of strings exclude the quotes and include escapes.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Resources in the order of the text.
    pub(super) entries: Vec<Entry>,
    /// Names of resources that Envoy rejected and never had.
    pub(super) refused: Vec<Refused>,
    /// `bootstrap.node` of the first bootstrap that has one.
    pub(super) node: Option<Range<usize>>,
    /// How fields are written.
    pub(super) field_names: FieldNames,
    /// Where to add a new resource of a kind: the last list of that kind.
    pub(super) lists: [Option<List>; 4],
    /// The whole section for a list of each kind, by its `@type`.
    pub(super) sections: [Option<Range<usize>>; 4],
    /// The list under `configs`.
    pub(super) configs: Option<Range<usize>>,
    /// Items of `configs` that contain secrets: never parsed, never written again.
    pub(super) secrets: Vec<Range<usize>>,
    /// How far the text was read. What follows a fault may contain secrets, so it is not written again.
    pub(super) read: usize,
    /// Other observations, to tell what a text is when it is not a dump.
    pub(super) seen: Seen,
}

/// One resource. A mesh's dumps have tens of thousands of resources, so this is small.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) kind: ResourceKind,
    pub(super) state: ResourceState,
    /// The item of the list: the resource with its wrapper.
    pub(super) item: Part,
    pub(super) json: Part,
    pub(super) name: Part,
    pub(super) last_updated: Part,
    pub(super) error: Option<Box<Failure>>,
}

/// Longest text that can be indexed, in bytes: [`Part`] counts in 32 bits.
pub(super) const LONGEST: usize = u32::MAX as usize - 1;

/// A range of bytes in half the size of a `Range<usize>`, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    start: u32,
    end: u32,
}

impl Part {
    const NONE: Part = Part { start: u32::MAX, end: u32::MAX };

    fn new(range: &Range<usize>) -> Part {
        match (u32::try_from(range.start), u32::try_from(range.end)) {
            (Ok(start), Ok(end)) => Part { start, end },
            _ => Part::NONE,
        }
    }

    fn maybe(range: Option<&Range<usize>>) -> Part {
        range.map_or(Part::NONE, Part::new)
    }

    /// The bytes, if not empty.
    pub(super) fn get(self) -> Option<Range<usize>> {
        (self != Part::NONE).then_some(self.start as usize..self.end as usize)
    }

    /// The bytes of a part that always exists; otherwise an empty range.
    pub(super) fn range(self) -> Range<usize> {
        self.get().unwrap_or_default()
    }
}

/// A name without a resource.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) kind: ResourceKind,
    pub(super) name: Option<Range<usize>>,
    pub(super) error: Failure,
}

/// An `error_state`.
#[derive(Clone, Debug, Default)]
pub(super) struct Failure {
    pub(super) details: Option<Range<usize>>,
    pub(super) failed_configuration: Option<Range<usize>>,
    pub(super) last_update_attempt: Option<Range<usize>>,
    pub(super) version_info: Option<Range<usize>>,
    /// Name inside `failed_configuration`.
    name: Option<Range<usize>>,
}

/// A list of resources.
#[derive(Clone, Debug)]
pub(super) struct List {
    /// With its brackets.
    pub(super) range: Range<usize>,
    /// Whether its items are wrapped (`{"cluster": …}`) or are the resources themselves.
    pub(super) wrapped: bool,
}

/// Signs of other files that people mistake for dumps.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "traces of independent things")]
pub(super) struct Seen {
    /// The first few keys of top-level objects.
    pub(super) keys: Vec<Range<usize>>,
    /// `kind` and `message` at the top: an object or an error of the Kubernetes API.
    pub(super) kind: Option<Range<usize>>,
    pub(super) message: Option<Range<usize>>,
    pub(super) bootstrap: bool,
    pub(super) endpoints: bool,
    pub(super) secrets: bool,
    /// Addresses and workloads in the form that istiod sends to ztunnel.
    pub(super) ztunnel: bool,
}

/// Indexes a text. A fault ends the walk; the index contains everything complete before it. The flag is true when a whole
/// document was read.
pub(super) fn index(text: &str) -> (Index, bool, Option<Fault>) {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut walk = Walk { text, scan: Scanner::new(text, start), index: Index::default() };
    let mut whole = false;
    // One file may contain several of istioctl's answers for single kinds.
    while walk.scan.peek().is_some() {
        if let Err(fault) = walk.document() {
            walk.index.read = walk.index.read.max(walk.scan.at());
            return (walk.index, whole, Some(fault));
        }
        whole = true;
    }
    walk.index.read = text.len();
    (walk.index, whole, None)
}

struct Walk<'t> {
    text: &'t str,
    scan: Scanner<'t>,
    index: Index,
}

/// The position of an object: only a document can have `configs`, so the recursion is no deeper than this.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Document,
    Item,
}

impl<'t> Walk<'t> {
    fn text_of(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    fn document(&mut self) -> Result<(), Fault> {
        match self.scan.peek() {
            Some(b'{') => self.object(Level::Document).map(|_| ()),
            Some(b'[') => {
                let (range, kind) = self.items()?;
                if let Some(kind) = kind {
                    self.index.lists[kind as usize] = Some(List { range, wrapped: false });
                }
                Ok(())
            }
            _ => Err(Fault::Unexpected(self.scan.at())),
        }
    }

    /// A list of sections, or of resources as `istioctl proxy-config listeners -o json` prints it; in the latter case with
    /// their kind.
    fn items(&mut self) -> Result<(Range<usize>, Option<ResourceKind>), Fault> {
        let Some(mut list) = self.scan.open(b'[') else { return Ok((self.scan.skip()?, None)) };
        let start = self.scan.at() - 1;
        let mut kind = None;
        while self.scan.item(&mut list)? {
            kind = self.object(Level::Item)?.or(kind);
        }
        Ok((start..self.scan.at(), kind))
    }

    /// A dump, a section of a dump, or a resource; the kind in the last case.
    fn object(&mut self, level: Level) -> Result<Option<ResourceKind>, Fault> {
        let Some(mut object) = self.scan.open(b'{') else { return self.scan.skip().map(|_| None) };
        let start = self.scan.at() - 1;
        let mut shape = Shape::default();
        while let Some(key) = self.scan.member(&mut object)? {
            let word = self.text_of(&key);
            if level == Level::Document && self.index.seen.keys.len() < 12 {
                self.index.seen.keys.push(key);
            }
            match word {
                "configs" if level == Level::Document => self.index.configs = Some(self.items()?.0),
                "kind" if level == Level::Document => self.index.seen.kind = self.scan.string_or_skip()?,
                "message" if level == Level::Document => self.index.seen.message = self.scan.string_or_skip()?,
                "bootstrap" => self.bootstrap()?,
                "name" => shape.name = self.scan.string_or_skip()?,
                "@type" => {
                    let name = self.scan.string_or_skip()?;
                    match Type::of(name.as_ref().map_or("", |range| self.text_of(range))) {
                        Type::Resource(kind) => shape.kind = Some(kind),
                        Type::Section(kind) => shape.section = Some(kind),
                        Type::Entry(kind, state) => {
                            self.index.read = self.index.read.max(self.scan.at());
                            self.scan = Scanner::new(self.text, start);
                            return self.entry(kind, state).map(|()| None);
                        }
                        Type::Secret => return self.secret(start, &object),
                        Type::Ztunnel => self.index.seen.ztunnel = true,
                        Type::Other => {}
                    }
                }
                _ if is_secret_list(word) => return self.secret(start, &object),
                _ => {
                    if let Some((kind, state, names)) = list_of(word) {
                        self.index.field_names = names;
                        self.list(kind, state)?;
                    } else {
                        shape.look_at(word);
                        self.index.seen.endpoints |= is_endpoint_list(word);
                        self.scan.skip()?;
                    }
                }
            }
        }
        Ok(self.finish(&shape, start..self.scan.at()))
    }

    /// Adds a complete object to the index.
    fn finish(&mut self, shape: &Shape, range: Range<usize>) -> Option<ResourceKind> {
        if let Some(kind) = shape.section {
            self.index.sections[kind as usize] = Some(range);
            return None;
        }
        let kind = shape.kind?;
        self.index.field_names = shape.names.unwrap_or(self.index.field_names);
        let name = shape.name.as_ref().map_or("", |range| self.text_of(range));
        let state = if in_bootstrap(kind, name) { ResourceState::Static } else { ResourceState::Active };
        let found = Found { json: Some(range.clone()), name: shape.name.clone(), ..Found::default() };
        self.push(kind, state, range, found, None);
        Some(kind)
    }

    /// Skips an item with secrets without reading it. A truncated item extends to the end of the text. If it is not JSON, nobody
    /// knows where it ends, and reading ends here.
    fn secret(&mut self, start: usize, object: &Open) -> Result<Option<ResourceKind>, Fault> {
        self.index.seen.secrets = true;
        let whole = self.scan.close(object).and_then(|range| {
            let is_json = serde_json::from_str::<serde::de::IgnoredAny>(self.text_of(&range)).is_ok();
            if is_json { Ok(range) } else { Err(Fault::Unexpected(start)) }
        });
        self.index.secrets.push(start..whole.as_ref().map_or(self.text.len(), |range| range.end));
        whole.map(|_| None)
    }

    fn bootstrap(&mut self) -> Result<(), Fault> {
        let Some(mut bootstrap) = self.scan.open(b'{') else { return self.scan.skip().map(|_| ()) };
        self.index.seen.bootstrap = true;
        while let Some(key) = self.scan.member(&mut bootstrap)? {
            let value = self.scan.skip()?;
            if self.text_of(&key) == "node" && self.index.node.is_none() {
                self.index.node = Some(value);
            }
        }
        Ok(())
    }

    fn list(&mut self, kind: ResourceKind, state: ResourceState) -> Result<(), Fault> {
        let Some(mut list) = self.scan.open(b'[') else { return self.scan.skip().map(|_| ()) };
        let start = self.scan.at() - 1;
        while self.scan.item(&mut list)? {
            self.entry(kind, state)?;
        }
        if state == ResourceState::Active {
            self.index.lists[kind as usize] = Some(List { range: start..self.scan.at(), wrapped: true });
        }
        Ok(())
    }

    /// An item of a list: the resource with its version and status. A dynamic listener has one for each state.
    fn entry(&mut self, kind: ResourceKind, state: ResourceState) -> Result<(), Fault> {
        let Some(mut entry) = self.scan.open(b'{') else { return self.scan.skip().map(|_| ()) };
        let start = self.scan.at() - 1;
        let mut plain = Found::default();
        let mut states = [None, None, None];
        let mut name = None;
        let mut failure = None;
        while let Some(key) = self.scan.member(&mut entry)? {
            match self.text_of(&key) {
                "name" => name = self.scan.string_or_skip()?,
                "active_state" | "activeState" => states[0] = self.listener_state()?,
                "warming_state" | "warmingState" => states[1] = self.listener_state()?,
                "draining_state" | "drainingState" => states[2] = self.listener_state()?,
                "error_state" | "errorState" => failure = self.failure()?,
                word => self.found(word, &mut plain)?,
            }
        }
        let item = start..self.scan.at();
        let [active, warming, draining] = states;
        let states = [
            (ResourceState::Active, active),
            (ResourceState::Warming, warming),
            (ResourceState::Draining, draining),
            (state, Some(plain)),
        ];
        for (state, found) in states {
            if let Some(mut found) = found.filter(|found| found.json.is_some()) {
                found.name = found.name.or_else(|| name.clone());
                self.push(kind, state, item.clone(), found, failure.take());
            }
        }
        if let Some(error) = failure {
            let name = name.or_else(|| error.name.clone());
            self.index.refused.push(Refused { kind, name, error });
        }
        Ok(())
    }

    fn push(
        &mut self,
        kind: ResourceKind,
        state: ResourceState,
        item: Range<usize>,
        found: Found,
        error: Option<Failure>,
    ) {
        let Found { json: Some(json), name, last_updated } = found else { return };
        self.index.entries.push(Entry {
            kind,
            state,
            item: Part::new(&item),
            json: Part::new(&json),
            name: Part::maybe(name.as_ref()),
            last_updated: Part::maybe(last_updated.as_ref()),
            error: error.map(Box::new),
        });
    }

    fn listener_state(&mut self) -> Result<Option<Found>, Fault> {
        let Some(mut state) = self.scan.open(b'{') else { return self.scan.skip().map(|_| None) };
        let mut found = Found::default();
        while let Some(key) = self.scan.member(&mut state)? {
            self.found(self.text_of(&key), &mut found)?;
        }
        Ok(Some(found))
    }

    /// The value of a key beside a resource, or the resource itself.
    fn found(&mut self, word: &str, found: &mut Found) -> Result<(), Fault> {
        match word {
            "last_updated" | "lastUpdated" => found.last_updated = self.scan.string_or_skip()?,
            "listener" | "cluster" | "route_config" | "routeConfig" | "ecds_filter" | "ecdsFilter" => {
                self.resource(found)?;
            }
            _ => {
                self.scan.skip()?;
            }
        }
        Ok(())
    }

    /// A resource and its name; nothing else of it is read.
    fn resource(&mut self, found: &mut Found) -> Result<(), Fault> {
        let Some(mut resource) = self.scan.open(b'{') else { return self.scan.skip().map(|_| ()) };
        let start = self.scan.at() - 1;
        found.name = None;
        while let Some(key) = self.scan.member(&mut resource)? {
            if self.text_of(&key) == "name" {
                found.name = self.scan.string_or_skip()?;
                found.json = Some(self.scan.close(&resource)?);
                return Ok(());
            }
            self.scan.skip()?;
        }
        found.json = Some(start..self.scan.at());
        Ok(())
    }

    fn failure(&mut self) -> Result<Option<Failure>, Fault> {
        let Some(mut state) = self.scan.open(b'{') else { return self.scan.skip().map(|_| None) };
        let mut failure = Failure::default();
        while let Some(key) = self.scan.member(&mut state)? {
            match self.text_of(&key) {
                "details" => failure.details = self.scan.string_or_skip()?,
                "last_update_attempt" | "lastUpdateAttempt" => {
                    failure.last_update_attempt = self.scan.string_or_skip()?;
                }
                "version_info" | "versionInfo" => failure.version_info = self.scan.string_or_skip()?,
                "failed_configuration" | "failedConfiguration" => {
                    let mut found = Found::default();
                    self.resource(&mut found)?;
                    (failure.failed_configuration, failure.name) = (found.json, found.name);
                }
                _ => {
                    self.scan.skip()?;
                }
            }
        }
        Ok(Some(failure))
    }
}

/// The parts of an item around its resource.
#[derive(Debug, Default)]
struct Found {
    json: Option<Range<usize>>,
    name: Option<Range<usize>>,
    last_updated: Option<Range<usize>>,
}

/// What an object may be, according to its type and its keys.
#[derive(Default)]
struct Shape {
    section: Option<ResourceKind>,
    kind: Option<ResourceKind>,
    names: Option<FieldNames>,
    name: Option<Range<usize>>,
}

impl Shape {
    /// istioctl's lists have no types: keys that only one kind of resource has identify it.
    fn look_at(&mut self, key: &str) {
        let kind = match key {
            "filter_chains"
            | "filterChains"
            | "default_filter_chain"
            | "defaultFilterChain"
            | "listener_filters"
            | "listenerFilters"
            | "traffic_direction"
            | "trafficDirection"
            | "bind_to_port"
            | "bindToPort" => ResourceKind::Listener,
            "connect_timeout" | "connectTimeout" | "lb_policy" | "lbPolicy" | "load_assignment" | "loadAssignment"
            | "eds_cluster_config" | "edsClusterConfig" | "circuit_breakers" | "circuitBreakers" | "alt_stat_name"
            | "altStatName" => ResourceKind::Cluster,
            "virtual_hosts" | "virtualHosts" | "validate_clusters" | "validateClusters" => ResourceKind::Route,
            "typed_config" | "typedConfig" => ResourceKind::ExtensionConfig,
            _ => return,
        };
        self.kind.get_or_insert(kind);
        self.names = Some(if key.contains('_') { FieldNames::Proto } else { FieldNames::Json });
    }
}

/// The meaning of an object's `@type`.
enum Type {
    Resource(ResourceKind),
    Section(ResourceKind),
    /// A list item on its own, as `/config_dump?resource=dynamic_listeners` returns it.
    Entry(ResourceKind, ResourceState),
    Secret,
    Ztunnel,
    Other,
}

impl Type {
    fn of(url: &str) -> Type {
        use ResourceKind::{Cluster, ExtensionConfig, Listener, Route};
        let name = url.rsplit('/').next().unwrap_or_default();
        if let Some(kind) = ResourceKind::ALL.into_iter().find(|kind| kind.type_name() == name) {
            return Type::Resource(kind);
        }
        if name.contains("Secret") {
            return Type::Secret;
        }
        if name.starts_with("istio.workload.") || name.starts_with("istio.security.") {
            return Type::Ztunnel;
        }
        match name.strip_prefix("envoy.admin.v3.").unwrap_or_default() {
            "ListenersConfigDump" => Type::Section(Listener),
            "ClustersConfigDump" => Type::Section(Cluster),
            "RoutesConfigDump" => Type::Section(Route),
            "EcdsConfigDump" => Type::Section(ExtensionConfig),
            "ListenersConfigDump.StaticListener" => Type::Entry(Listener, ResourceState::Static),
            "ListenersConfigDump.DynamicListener" => Type::Entry(Listener, ResourceState::Active),
            "ClustersConfigDump.StaticCluster" => Type::Entry(Cluster, ResourceState::Static),
            "ClustersConfigDump.DynamicCluster" => Type::Entry(Cluster, ResourceState::Active),
            "RoutesConfigDump.StaticRouteConfig" => Type::Entry(Route, ResourceState::Static),
            "RoutesConfigDump.DynamicRouteConfig" => Type::Entry(Route, ResourceState::Active),
            "EcdsConfigDump.EcdsFilterConfig" => Type::Entry(ExtensionConfig, ResourceState::Active),
            _ => Type::Other,
        }
    }
}

/// The lists of `ListenersConfigDump`, `ClustersConfigDump`, `RoutesConfigDump` and `EcdsConfigDump`.
fn list_of(key: &str) -> Option<(ResourceKind, ResourceState, FieldNames)> {
    use FieldNames::{Json, Proto};
    use ResourceKind::{Cluster, ExtensionConfig, Listener, Route};
    use ResourceState::{Active, Static, Warming};
    Some(match key {
        "static_listeners" => (Listener, Static, Proto),
        "staticListeners" => (Listener, Static, Json),
        "dynamic_listeners" => (Listener, Active, Proto),
        "dynamicListeners" => (Listener, Active, Json),
        "static_clusters" => (Cluster, Static, Proto),
        "staticClusters" => (Cluster, Static, Json),
        "dynamic_active_clusters" => (Cluster, Active, Proto),
        "dynamicActiveClusters" => (Cluster, Active, Json),
        "dynamic_warming_clusters" => (Cluster, Warming, Proto),
        "dynamicWarmingClusters" => (Cluster, Warming, Json),
        "static_route_configs" => (Route, Static, Proto),
        "staticRouteConfigs" => (Route, Static, Json),
        "dynamic_route_configs" => (Route, Active, Proto),
        "dynamicRouteConfigs" => (Route, Active, Json),
        "ecds_filters" => (ExtensionConfig, Active, Proto),
        "ecdsFilters" => (ExtensionConfig, Active, Json),
        _ => return None,
    })
}

fn is_secret_list(key: &str) -> bool {
    matches!(
        key,
        "static_secrets"
            | "staticSecrets"
            | "dynamic_active_secrets"
            | "dynamicActiveSecrets"
            | "dynamic_warming_secrets"
            | "dynamicWarmingSecrets"
    )
}

fn is_endpoint_list(key: &str) -> bool {
    matches!(
        key,
        "static_endpoint_configs"
            | "staticEndpointConfigs"
            | "dynamic_endpoint_configs"
            | "dynamicEndpointConfigs"
            | "host_statuses"
            | "hostStatuses"
            | "cluster_name"
            | "clusterName"
    )
}

/// Whether a resource in a list without states comes from Istio's bootstrap (envoy_bootstrap.json, release 1.31), or is the
/// inlined route of a listener, which Envoy lists among the static routes.
fn in_bootstrap(kind: ResourceKind, name: &str) -> bool {
    match kind {
        ResourceKind::Listener => name.is_empty() || name == "0.0.0.0_15021" || name.ends_with("_15090"),
        ResourceKind::Cluster => BOOTSTRAP_CLUSTERS.contains(&name),
        ResourceKind::Route => name.is_empty() || name.starts_with("inbound|"),
        ResourceKind::ExtensionConfig => false,
    }
}
