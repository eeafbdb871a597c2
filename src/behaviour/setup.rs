//! Converts a proxy's configuration for a standalone Envoy: only what the requests can reach.

use super::Error;
use super::chains::{Chain, Route};
use super::listeners::{self, Socket, named_clusters};
use super::neutral::{LeftOut, Neutral, Place, SecretKind, StandIns, Why};
use super::request::{Target, Wanted};
use super::sockets::Endpoint;
use crate::engine::{self, PatchId, Patched, Plan};
use crate::model::proxy::ProxyKind;
use crate::model::resource::{ProxyConfig, Resource, ResourceKind, ResourceState, STATIC_CLUSTERS};
use crate::proto::json;
use crate::proto::tree::Tree;
use crate::proto::wire;
use crate::trial::Known;
use crate::trial::sockets::Sockets;
use std::collections::{BTreeMap, BTreeSet};

/// The listener on which a sidecar accepts HTTP.
pub(super) const INBOUND: &str = "virtualInbound";

/// The listener that receives all calls of a sidecar's workload, and keeps those to unknown destinations.
pub(super) const OUTBOUND: &str = "virtualOutbound";

/// Up to this number of clusters, all are loaded; up to this number of changed ones, all that patches changed.
const FEW: usize = 128;

/// Route configurations larger than this, in bytes, lose the virtual hosts that no request can match.
const LARGE: usize = 256 << 10;

/// The configuration of a standalone Envoy.
#[derive(Debug, Default)]
pub(super) struct Setup {
    pub(super) clusters: Vec<Vec<u8>>,
    pub(super) listeners: Vec<Vec<u8>>,
    /// Files of route configurations with their bytes.
    pub(super) routes: Vec<(String, Vec<u8>)>,
    /// Files of secrets with their JSON.
    pub(super) secrets: Vec<(String, String)>,
    /// Sockets of listeners.
    pub(super) sockets: Vec<Socket>,
    /// Addresses of stubs, with the clusters that point to them.
    pub(super) stubs: Vec<(Endpoint, String)>,
    /// Filter chains, numbered as probes and access logs name them.
    pub(super) chains: Vec<Chain>,
    /// Routes that requests can meet.
    pub(super) marked: Vec<Route>,
    /// Clusters that patches wrote something in.
    pub(super) written_clusters: Vec<(String, Vec<PatchId>)>,
    pub(super) left_out: BTreeSet<LeftOut>,
    /// Clusters that serve token keys.
    pub(super) keys: BTreeSet<String>,
    pub(super) scope: Scope,
    /// TCP services: host and port, and the address of their listener.
    pub(super) addresses: BTreeMap<(String, u16), String>,
}

/// How much of a configuration is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Listeners loaded, and the total.
    pub listeners: (usize, usize),
    /// Clusters loaded, and the total.
    pub clusters: (usize, usize),
    /// Route configurations loaded, and the total.
    pub routes: (usize, usize),
}

/// A configuration to convert.
pub(super) struct Source<'s, 'a> {
    pub(super) plan: &'s Plan<'a>,
    pub(super) config: &'a ProxyConfig<'a>,
    pub(super) patched: &'s Patched<'a>,
    pub(super) known: &'s Known,
    /// Minor release of the Envoy that runs.
    pub(super) envoy: u16,
    pub(super) stand_ins: &'s StandIns,
    pub(super) sockets: Sockets,
    pub(super) probes: bool,
    pub(super) mark: &'s str,
}

/// A resource before and after patches, by name; its tree is built on demand.
enum Given<'s, 'a> {
    Added(&'s Tree<'a>),
    Changed(&'s Tree<'a>),
    Kept(usize, &'a Resource<'a>),
}

impl<'s, 'a> Given<'s, 'a> {
    /// The tree, if patches built one.
    const fn patched(&self) -> Option<&'s Tree<'a>> {
        match self {
            Given::Added(tree) | Given::Changed(tree) => Some(tree),
            Given::Kept(..) => None,
        }
    }
}

impl Source<'_, '_> {
    /// The resources of a kind that istiod sends after the patches, by name.
    fn all(&self, kind: ResourceKind) -> Vec<(String, Given<'_, '_>)> {
        let mut all = Vec::new();
        let mut touched = BTreeMap::new();
        for one in self.patched.resources.iter().filter(|one| one.kind == kind) {
            match one.source {
                Some(index) => {
                    touched.insert(index, one);
                }
                None => all.extend(one.tree.as_ref().map(|tree| (one.name.clone(), Given::Added(tree)))),
            }
        }
        for (index, resource) in self.config.generated(kind) {
            match touched.get(&index) {
                Some(one) => all.extend(one.tree.as_ref().map(|tree| (one.name.clone(), Given::Changed(tree)))),
                None => all.push((resource.name.to_string(), Given::Kept(index, resource))),
            }
        }
        all
    }

    fn open(&self, given: &Given<'_, '_>) -> Tree<'static> {
        match given {
            Given::Added(tree) | Given::Changed(tree) => tree.to_static(),
            Given::Kept(index, _) => engine::open(self.config, *index, self.plan)
                .as_ref()
                .map_or_else(super::neutral::empty, Tree::to_static),
        }
    }

    fn encode(&self, kind: ResourceKind, name: &str, tree: &Tree<'_>) -> Result<Vec<u8>, Error> {
        let bytes = wire::any(self.plan.schema, kind.type_name(), tree);
        bytes.ok_or_else(|| Error::NotEncoded(kind, name.to_owned()))
    }

    /// Everything that requests can reach.
    pub(super) fn setup(&self, wanted: &Wanted) -> Result<Setup, Error> {
        let clusters = self.all(ResourceKind::Cluster);
        let mut names: BTreeSet<String> = clusters.iter().map(|(name, _)| name.clone()).collect();
        let of_bootstrap: Vec<&Resource<'_>> = self
            .config
            .of_kind(ResourceKind::Cluster)
            .filter(|it| it.state == ResourceState::Static && !names.contains(&*it.name))
            .collect();
        names.extend(of_bootstrap.iter().map(|it| it.name.to_string()));
        names.extend(STATIC_CLUSTERS.map(str::to_owned));
        let extensions: BTreeMap<String, Tree<'_>> = self
            .all(ResourceKind::ExtensionConfig)
            .iter()
            .map(|(name, given)| (name.clone(), self.open(given)))
            .collect();
        let place = Place {
            schema: self.plan.schema,
            istio: self.plan.compat.release.minor,
            known: self.known,
            envoy: self.envoy,
            stand_ins: self.stand_ins,
            extensions: &extensions,
            clusters: &names,
            sockets: self.sockets,
            probes: self.probes,
            mark: self.mark,
        };
        let mut made = Made { neutral: Neutral::new(&place), setup: Setup::default(), used: BTreeSet::new() };
        self.listeners(wanted, &mut made)?;
        self.routes(wanted, &mut made)?;
        self.clusters(wanted, (&clusters, &of_bootstrap), &mut made)?;
        let Made { neutral, mut setup, .. } = made;
        setup.secrets = secrets(&neutral, self.stand_ins);
        setup.chains = neutral.chains;
        setup.marked = neutral.marked;
        setup.left_out = neutral.left_out;
        setup.keys = neutral.keys;
        Ok(setup)
    }

    /// Adds the listeners that requests can reach.
    fn listeners(&self, wanted: &Wanted, Made { neutral, setup, used }: &mut Made<'_>) -> Result<(), Error> {
        let listeners = self.all(ResourceKind::Listener);
        setup.scope.listeners.1 = listeners.len();
        for (name, given) in &listeners {
            let meant = match given.patched() {
                // Changed resources follow the same rule as unchanged ones.
                Some(tree) => wanted.listener(self.config.proxy.kind, name, "") || wanted.tree(tree),
                None => wanted.listener(self.config.proxy.kind, name, text(given)),
            };
            if !meant {
                continue;
            }
            let mut tree = self.open(given);
            neutral.resource(ResourceKind::Listener, &mut tree);
            note_address(&tree, &mut setup.addresses);
            let socket = listeners::listener(neutral, &mut tree, setup.listeners.len());
            collect(&tree, neutral.place.clusters, used);
            let bytes = self.encode(ResourceKind::Listener, name, &tree)?;
            setup.sockets.extend(socket);
            setup.listeners.push(bytes);
        }
        setup.scope.listeners.0 = setup.listeners.len();
        Ok(())
    }

    /// Adds the route configurations that these listeners request.
    fn routes(&self, wanted: &Wanted, Made { neutral, setup, used }: &mut Made<'_>) -> Result<(), Error> {
        let routes = self.all(ResourceKind::Route);
        setup.scope.routes.1 = routes.len();
        let asked = std::mem::take(&mut neutral.routes);
        for (name, file) in asked {
            let file = file.trim_start_matches("./").to_owned();
            let Some((_, given)) = routes.iter().find(|(other, _)| *other == name) else {
                // An unknown route configuration has no routes.
                let empty = json::from_json(&serde_json::json!({"name": name}));
                let bytes = self.encode(ResourceKind::Route, &name, &empty).unwrap_or_default();
                setup.routes.push((file, bytes));
                continue;
            };
            let mut tree = self.open(given);
            if text(given).len() > LARGE {
                wanted.prune(&mut tree);
            }
            neutral.resource(ResourceKind::Route, &mut tree);
            collect(&tree, neutral.place.clusters, used);
            let bytes = self.encode(ResourceKind::Route, &name, &tree)?;
            setup.routes.push((file, bytes));
        }
        setup.scope.routes.0 = setup.routes.len();
        Ok(())
    }

    /// Adds the clusters that are used or patched, and stand-ins for used ones that the configuration lacks.
    fn clusters(
        &self,
        wanted: &Wanted,
        (clusters, of_bootstrap): (&[(String, Given<'_, '_>)], &[&Resource<'_>]),
        Made { neutral, setup, used }: &mut Made<'_>,
    ) -> Result<(), Error> {
        let few = clusters.len() <= FEW;
        setup.scope.clusters.1 = clusters.len();
        let few_changed = clusters.iter().filter(|(_, given)| matches!(given, Given::Changed(_))).count() <= FEW;
        let mut stood_in: BTreeSet<String> = BTreeSet::new();
        for (name, given) in clusters {
            let touched = match given {
                Given::Added(_) => true,
                Given::Changed(_) => few_changed,
                Given::Kept(..) => false,
            };
            if few || touched || used.contains(name) || wanted.names_cluster(name) {
                self.cluster(neutral, setup, self.open(given))?;
                stood_in.insert(name.clone());
            }
        }
        setup.scope.clusters.0 = setup.clusters.len();
        for name in used.iter().filter(|name| !stood_in.contains(*name)) {
            let tree = json::from_json(&serde_json::json!({"name": name, "connect_timeout": "1s"}));
            let of_dump =
                of_bootstrap.iter().find(|it| it.name == name.as_str()).and_then(|it| json::parse(it.json.read()).ok());
            let tree = of_dump.map_or(tree, |tree| tree.to_static());
            self.cluster(neutral, setup, tree)?;
        }
        Ok(())
    }

    fn cluster(&self, neutral: &mut Neutral<'_>, setup: &mut Setup, mut tree: Tree<'_>) -> Result<(), Error> {
        let name = tree.name().to_owned();
        let writers: Vec<PatchId> = tree.origins().into_iter().filter_map(PatchId::of).collect();
        if !writers.is_empty() {
            setup.written_clusters.push((name.clone(), writers));
        }
        neutral.resource(ResourceKind::Cluster, &mut tree);
        let stub = Endpoint::new(self.sockets, setup.stubs.len())
            .map_err(|error| Error::Internal(format!("cannot listen on 127.0.0.1: {error}")))?;
        let stands = listeners::cluster(neutral, &mut tree, &stub.address());
        match self.encode(ResourceKind::Cluster, &name, &tree) {
            Ok(bytes) => {
                setup.clusters.push(bytes);
                if stands {
                    setup.stubs.push((stub, name));
                }
            }
            Err(_) => neutral.leave_out(Why::NotEncoded, format!("cluster {name}"), None),
        }
        Ok(())
    }
}

/// What is made of a configuration, step by step.
struct Made<'n> {
    neutral: Neutral<'n>,
    setup: Setup,
    /// The clusters that listeners and routes name.
    used: BTreeSet<String>,
}

fn text<'a>(given: &Given<'_, 'a>) -> &'a str {
    match given {
        Given::Added(_) | Given::Changed(_) => "",
        Given::Kept(_, resource) => resource.json.read(),
    }
}

fn collect(tree: &Tree<'_>, names: &BTreeSet<String>, into: &mut BTreeSet<String>) {
    let mut found = Vec::new();
    named_clusters(tree, names, &mut found);
    into.extend(found);
}

/// The addresses of services in a waypoint's matcher: address ranges, then ports, then the filter chain.
fn note_vips(tree: &Tree<'_>, into: &mut BTreeMap<(String, u16), String>) {
    let ranges = tree.path(&["filter_chain_matcher", "matcher_tree", "custom_match", "typed_config", "range_matchers"]);
    for range in ranges.map(Tree::items).unwrap_or_default() {
        let addresses = range.get("ranges").map(Tree::items).unwrap_or_default();
        let Some(address) = addresses.iter().map(|it| it.str_at("address_prefix")).find(|it| !it.is_empty()) else {
            continue;
        };
        let ports = range.path(&["on_match", "matcher", "matcher_tree", "exact_match_map", "map"]);
        for (port, action) in ports.map(Tree::entries).unwrap_or_default() {
            let chain = action.path(&["action", "typed_config", "value"]).and_then(Tree::as_str).unwrap_or_default();
            let (Ok(port), Some(host)) = (port.parse(), chain.split('|').nth(3)) else { continue };
            into.entry((host.to_owned(), port)).or_insert_with(|| address.to_owned());
        }
    }
}

/// The address of a listener for one TCP service, identified by its only cluster.
fn note_address(tree: &Tree<'_>, into: &mut BTreeMap<(String, u16), String>) {
    note_vips(tree, into);
    let at = |key: &str| tree.path(&["address", "socket_address", key]).and_then(Tree::as_str).unwrap_or_default();
    let (address, Ok(port)) = (at("address"), at("port_value").parse::<u16>()) else { return };
    if matches!(address, "" | "0.0.0.0" | "::") {
        return;
    }
    let chains = tree.get("filter_chains").map(Tree::items).unwrap_or_default();
    for filter in chains.iter().filter_map(|it| it.get("filters")).flat_map(super::super::proto::tree::Tree::items) {
        let cluster = filter.path(&["typed_config", "cluster"]).and_then(Tree::as_str).unwrap_or_default();
        if let Some(host) = cluster.split('|').nth(3).filter(|host| !host.is_empty()) {
            into.entry((host.to_owned(), port)).or_insert_with(|| address.to_owned());
        }
    }
}

fn secrets(neutral: &Neutral<'_>, stand_ins: &StandIns) -> Vec<(String, String)> {
    let StandIns { chain, key, authority, .. } = stand_ins;
    let of = |(kind, name): &(SecretKind, String)| {
        let mut secret = match kind {
            SecretKind::Certificate => {
                serde_json::json!({"tls_certificate": {"certificate_chain": {"inline_string": chain}, "private_key": {"inline_string": key}}})
            }
            SecretKind::Authority => {
                serde_json::json!({"validation_context": {"trusted_ca": {"inline_string": authority}}})
            }
            SecretKind::Generic => {
                serde_json::json!({"generic_secret": {"secret": {"inline_string": "stand-in-secret-of-32-characters!"}}})
            }
        };
        secret["@type"] = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret".into();
        secret["name"] = name.as_str().into();
        serde_json::json!({"version_info": "1", "resources": [secret]}).to_string()
    };
    neutral.secrets.iter().map(|(key, file)| (file.trim_start_matches("./").to_owned(), of(key))).collect()
}

impl Wanted {
    /// Whether a listener can receive one of the requests, according to its name and text.
    fn listener(&self, kind: ProxyKind, name: &str, text: &str) -> bool {
        if kind == ProxyKind::Waypoint {
            return true;
        }
        let has_port = |port: u16| {
            name.ends_with(&format!("_{port}"))
                || name == format!("{port}")
                || (!name.contains('_') && port_in(text, port))
        };
        self.targets.iter().any(|target| match target {
            Target::Inbound(port) => {
                name == INBOUND
                    || (kind == ProxyKind::Sidecar
                        && has_port(*port)
                        && memchr::memmem::find(text.as_bytes(), b"INBOUND").is_some())
            }
            Target::Outbound(_, port) => name == OUTBOUND || has_port(*port),
            Target::Gateway(port) => has_port(*port),
            Target::Waypoint(..) => true,
        })
    }

    /// Whether a listener that patches changed or added has a wanted port.
    fn tree(&self, tree: &Tree<'_>) -> bool {
        let port = tree.path(&["address", "socket_address", "port_value"]).and_then(Tree::as_u64);
        self.targets.iter().any(|target| port == Some(u64::from(target.port())))
    }

    /// Whether a header field or argument names a cluster.
    fn names_cluster(&self, name: &str) -> bool {
        self.texts.iter().any(|text| text == name)
    }

    /// Removes virtual hosts that no request can match.
    fn prune(&self, routes: &mut Tree<'_>) {
        let means = |domain: &str| {
            domain.contains('*')
                || self.hosts.iter().any(|host| {
                    let bare = host.rsplit_once(':').map_or(host.as_str(), |(bare, _)| bare);
                    domain.eq_ignore_ascii_case(host) || domain.eq_ignore_ascii_case(bare)
                })
        };
        if let Some(hosts) = routes.get_mut("virtual_hosts").and_then(Tree::items_mut) {
            hosts.retain(|host| {
                let domains = host.get("domains").map(Tree::items).unwrap_or_default();
                domains.iter().filter_map(Tree::as_str).any(means)
            });
        }
    }
}

/// Whether a listener's text contains a port.
fn port_in(text: &str, port: u16) -> bool {
    ["\"port_value\":", "\"port_value\": ", "\"portValue\":", "\"portValue\": "].iter().any(|key| {
        memchr::memmem::find_iter(text.as_bytes(), key.as_bytes()).any(|at| {
            let rest = text[at + key.len()..].trim_start();
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            rest[..digits].parse() == Ok(port)
        })
    })
}
