//! A first request for each patch: the place of its result decides where a request must be sent to reach it.

use super::http1::Fields;
use super::ports::{inbound_ports, listening_ports};
use super::request::{Protocol, Request, Target, Tls};
use super::sandbox::Subject;
use super::setup::INBOUND;
use crate::engine::PatchId;
use crate::model::proxy::ProxyKind;
use crate::model::resource::ResourceKind;
use crate::proto::json;
use crate::proto::tree::Tree;
use std::collections::BTreeSet;

/// A request that reaches some patches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    /// Names of the patches.
    pub patches: Vec<String>,
    /// The patches, by their numbers.
    pub ids: Vec<PatchId>,
    /// Short name of the request: `GET /cart`.
    pub word: String,
    /// The request; `None` if no request reaches them.
    pub request: Option<Request>,
    /// What to expect initially.
    pub expect: String,
    /// Why there is no request for them.
    pub why_not: Option<String>,
}

/// The patches that wrote something in a node.
fn writers(tree: &Tree<'_>) -> BTreeSet<PatchId> {
    tree.origins().into_iter().filter_map(PatchId::of).collect()
}

struct Drafts<'d> {
    names: &'d [String],
    met: BTreeSet<PatchId>,
    all: Vec<Draft>,
}

impl Drafts<'_> {
    fn add(&mut self, ids: &BTreeSet<PatchId>, word: &str, request: Request, expect: &str) {
        let new: Vec<PatchId> = ids.difference(&self.met).copied().collect();
        if new.is_empty() {
            return;
        }
        self.met.extend(new.iter().copied());
        let patches = new.iter().filter_map(|id| self.names.get(id.index()).cloned()).collect();
        let (word, expect) = (word.to_owned(), expect.to_owned());
        self.all.push(Draft { patches, ids: new, word, request: Some(request), expect, why_not: None });
    }
}

/// Requests that reach the patches of a plan, and the patches that no request can reach.
pub(crate) fn drafts(subject: &Subject<'_, '_>, names: &[String]) -> Vec<Draft> {
    let mut drafts = Drafts { names, met: BTreeSet::new(), all: Vec::new() };
    let kind = subject.config.proxy.kind;
    let ports =
        if kind == ProxyKind::Gateway { listening_ports(subject.config) } else { inbound_ports(subject.config) };
    for one in &subject.patched.resources {
        let Some(tree) = &one.tree else { continue };
        let mut tree = tree.once().into_owned();
        tree.open_all();
        match one.kind {
            ResourceKind::Listener => listener(&mut drafts, &tree, subject, &ports),
            ResourceKind::Route => routes(&mut drafts, &tree, kind),
            ResourceKind::Cluster => cluster(&mut drafts, &tree),
            ResourceKind::ExtensionConfig => {}
        }
    }
    let rest: Vec<PatchId> = subject.plan.ids().filter(|id| !drafts.met.contains(id)).collect();
    for id in rest {
        drafts.all.push(Draft {
            patches: names.get(id.index()).cloned().into_iter().collect(),
            ids: vec![id],
            word: String::new(),
            request: None,
            expect: String::new(),
            why_not: Some("changes nothing that a request to this proxy can reach; see `explain`".to_owned()),
        });
    }
    drafts.all
}

/// Host and path of the first route that listeners of a port reach; the host only if it is required.
fn first_route(subject: &Subject<'_, '_>, port: u16) -> Option<(String, String)> {
    let port = port.to_string();
    let of_port = |name: &str| name.split('.').any(|part| part == port);
    let resources = subject.config.generated(ResourceKind::Route);
    let configs = resources.filter(|(_, it)| of_port(&it.name)).filter_map(|(_, it)| json::parse(it.json.read()).ok());
    configs.into_iter().find_map(|config| {
        let hosts = config.get("virtual_hosts").or_else(|| config.get("virtualHosts")).map(Tree::items)?;
        hosts.iter().find_map(|host| {
            let domains = host.get("domains").map(Tree::items).unwrap_or_default();
            let domain = domains.iter().filter_map(Tree::as_str).find(|domain| *domain != "*")?;
            let first = host.get("routes").map(Tree::items).unwrap_or_default().first()?.get("match")?;
            let path = ["path", "prefix"].iter().map(|key| first.str_at(key)).find(|path| !path.is_empty());
            Some((domain.replace('*', "any"), path.unwrap_or("/").to_owned()))
        })
    })
}

fn listener(drafts: &mut Drafts<'_>, tree: &Tree<'_>, subject: &Subject<'_, '_>, ports: &[u16]) {
    let kind = subject.config.proxy.kind;
    let of_listener: BTreeSet<PatchId> = tree
        .entries()
        .iter()
        .filter(|(key, _)| key != "filter_chains" && key != "default_filter_chain")
        .flat_map(|(_, value)| writers(value))
        .collect();
    let own_port = tree.path(&["address", "socket_address", "port_value"]).and_then(Tree::as_u64).unwrap_or(0);
    let chains = tree.get("filter_chains").map(Tree::items).unwrap_or_default();
    // Filter chains for single ports first: what a patch wrote everywhere can be reached there.
    let mut sorted: Vec<&Tree<'_>> = chains.iter().collect();
    sorted.sort_by_key(|chain| chain.path(&["filter_chain_match", "destination_port"]).is_none());
    for chain in sorted {
        let mut ids = writers(chain);
        ids.extend(&of_listener);
        let matched = |key: &str| chain.path(&["filter_chain_match", key]);
        let filters = chain.get("filters").map(Tree::items).unwrap_or_default();
        let manager = |filter: &&Tree<'_>| {
            filter
                .get("typed_config")
                .and_then(Tree::type_name)
                .is_some_and(|name| name.ends_with(".HttpConnectionManager"))
        };
        let http = filters.iter().any(|filter| manager(&filter));
        let port = u16::try_from(own_port).unwrap_or(0);
        let (mut host, mut tls, mut path) = (None, Tls::Auto, "/".to_owned());
        let routed = if http && kind != ProxyKind::Waypoint { first_route(subject, port) } else { None };
        let target = match kind {
            ProxyKind::Sidecar if tree.name() == INBOUND => {
                let port = matched("destination_port").and_then(Tree::as_u64).and_then(|port| u16::try_from(port).ok());
                Target::Inbound(port.or_else(|| ports.first().copied()).unwrap_or(8080))
            }
            ProxyKind::Sidecar => {
                let cluster = filters
                    .iter()
                    .find_map(|it| it.path(&["typed_config", "cluster"]).and_then(Tree::as_str))
                    .unwrap_or_default();
                let mut host = cluster.split('|').nth(3).filter(|host| !host.is_empty()).map(str::to_owned);
                if let (None, Some((domain, first))) = (&host, routed) {
                    let bare = domain.rsplit_once(':').map_or(domain.as_str(), |(bare, _)| bare);
                    (host, path) = (Some(bare.to_owned()), first);
                }
                Target::Outbound(host.unwrap_or_else(|| "240.240.0.1".to_owned()), port)
            }
            ProxyKind::Gateway => {
                let name = matched("server_names").and_then(|names| names.items().first()).and_then(Tree::as_str);
                if let Some(name) = name {
                    (host, tls) = (Some(name.replace('*', "any")), Tls::Simple);
                } else if let Some((domain, first)) = routed {
                    (host, path) = (Some(domain), first);
                }
                Target::Gateway(port)
            }
            ProxyKind::Waypoint => match chain.name().split('|').collect::<Vec<_>>().as_slice() {
                [_, port, _, host] => Target::Waypoint((*host).to_owned(), port.parse().unwrap_or(0)),
                _ => continue,
            },
        };
        let word = format!("GET {path}");
        let mut request = Request { host, tls, ..Request::get(target, path) };
        if http {
            drafts.add(&ids, &word, request, "status: present");
        } else {
            request.protocol = Protocol::Tcp;
            request.body = b"hello".to_vec();
            drafts.add(&ids, "TCP", request, "failure: none");
        }
    }
}

/// What a route requires besides its path, as header fields; the method comes first.
fn asked(matched: Option<&Tree<'_>>) -> (Option<String>, Fields) {
    let (mut method, mut fields) = (None, Fields::new());
    for header in matched.and_then(|it| it.get("headers")).map(Tree::items).unwrap_or_default() {
        if header.get("invert_match").is_some() {
            continue;
        }
        let texts = header.get("string_match").unwrap_or(header);
        let value = ["exact", "prefix", "suffix", "contains", "exact_match", "prefix_match", "contains_match"]
            .iter()
            .map(|key| texts.str_at(key))
            .find(|text| !text.is_empty());
        match (header.name(), value) {
            (":method", Some(value)) => method = Some(value.to_owned()),
            (name, _) if name.starts_with(':') => {}
            (name, value) => fields.push((name.to_owned(), value.unwrap_or("1").to_owned())),
        }
    }
    (method, fields)
}

fn routes(drafts: &mut Drafts<'_>, tree: &Tree<'_>, kind: ProxyKind) {
    let port: u16 = tree.name().split('.').find_map(|part| part.parse().ok()).unwrap_or(80);
    for host in tree.get("virtual_hosts").map(Tree::items).unwrap_or_default() {
        let domains = host.get("domains").map(Tree::items).unwrap_or_default();
        let name = domains.first().and_then(Tree::as_str).unwrap_or("*").replace('*', "any");
        let of_host: BTreeSet<PatchId> = host
            .entries()
            .iter()
            .filter(|(key, _)| key != "routes")
            .flat_map(|(_, value)| writers(value))
            .chain(PatchId::of(host.origin))
            .collect();
        for route in host.get("routes").map(Tree::items).unwrap_or_default() {
            let mut ids = writers(route);
            ids.extend(&of_host);
            let matched = route.get("match");
            let path = matched
                .map_or("", |it| if it.str_at("path").is_empty() { it.str_at("prefix") } else { it.str_at("path") });
            let path = if path.is_empty() { "/" } else { path };
            let bare = name.rsplit_once(':').map_or(name.as_str(), |(bare, _)| bare).to_owned();
            let (target, host) = match kind {
                ProxyKind::Gateway => (Target::Gateway(port), Some(name.clone())),
                ProxyKind::Waypoint => (Target::Waypoint(bare, port), None),
                ProxyKind::Sidecar => (Target::Outbound(bare, port), Some(name.clone())),
            };
            let (method, headers) = asked(matched);
            let method = method.unwrap_or_else(|| "GET".to_owned());
            let word = format!("{method} {path}");
            let request = Request { method, host, headers, ..Request::get(target, path) };
            drafts.add(&ids, &word, request, "status: present");
        }
    }
}

fn cluster(drafts: &mut Drafts<'_>, tree: &Tree<'_>) {
    let parts: Vec<&str> = tree.name().split('|').collect();
    let target = match parts.as_slice() {
        ["inbound", port, ..] => port.parse().ok().map(Target::Inbound),
        ["outbound", port, _, host] => port.parse().ok().map(|port| Target::Outbound((*host).to_owned(), port)),
        _ => None,
    };
    let Some(target) = target else { return };
    let upstream = format!("upstream: {{cluster: {}}}", serde_json::Value::from(tree.name()));
    drafts.add(&writers(tree), "GET /", Request::get(target, "/"), &upstream);
}
