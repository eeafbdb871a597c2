//! A first request for each patch: where its result stands decides where a request must go to meet it.

use super::ports::{inbound_ports, listening_ports};
use super::sandbox::Subject;
use super::setup::INBOUND;
use crate::engine::PatchId;
use crate::model::proxy::ProxyKind;
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use std::collections::BTreeSet;

/// A request that meets some patches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Names of the patches.
    pub patches: Vec<String>,
    /// The request in a word: `GET /cart`.
    pub word: String,
    /// The request as a test file has it, without braces.
    pub request: String,
    /// What to expect at first.
    pub expect: String,
    /// Why there is no request for them.
    pub why_not: Option<String>,
}

/// The patches that wrote something in a node.
fn writers(tree: &Tree<'_>) -> BTreeSet<PatchId> {
    tree.origins().into_iter().filter_map(PatchId::of).collect()
}

/// A text as YAML has it in quotes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

struct Drafts<'d> {
    names: &'d [String],
    met: BTreeSet<PatchId>,
    all: Vec<Draft>,
}

impl Drafts<'_> {
    fn add(&mut self, ids: &BTreeSet<PatchId>, word: &str, request: String, expect: &str) {
        let new: Vec<PatchId> = ids.difference(&self.met).copied().collect();
        if new.is_empty() {
            return;
        }
        self.met.extend(new.iter().copied());
        let patches = new.iter().filter_map(|id| self.names.get(id.index()).cloned()).collect();
        let (word, expect) = (word.to_owned(), expect.to_owned());
        self.all.push(Draft { patches, word, request, expect, why_not: None });
    }
}

/// Requests that meet the patches of a plan, and the patches that no request can meet.
pub fn drafts(subject: &Subject<'_, '_>, names: &[String]) -> Vec<Draft> {
    let mut drafts = Drafts { names, met: BTreeSet::new(), all: Vec::new() };
    let kind = subject.config.proxy.kind;
    let ports =
        if kind == ProxyKind::Gateway { listening_ports(subject.config) } else { inbound_ports(subject.config) };
    for one in &subject.patched.resources {
        let Some(tree) = &one.tree else { continue };
        let mut tree = tree.clone();
        tree.open_all();
        match one.kind {
            ResourceKind::Listener => listener(&mut drafts, &tree, kind, &ports),
            ResourceKind::Route => routes(&mut drafts, &tree, kind),
            ResourceKind::Cluster => cluster(&mut drafts, &tree),
            ResourceKind::ExtensionConfig => {}
        }
    }
    let rest: Vec<String> = subject
        .plan
        .ids()
        .filter(|id| !drafts.met.contains(id))
        .filter_map(|id| names.get(id.index()).cloned())
        .collect();
    for name in rest {
        drafts.all.push(Draft {
            patches: vec![name],
            word: String::new(),
            request: String::new(),
            expect: String::new(),
            why_not: Some("changes nothing that a request to this proxy can meet; see `explain`".to_owned()),
        });
    }
    drafts.all
}

fn listener(drafts: &mut Drafts<'_>, tree: &Tree<'_>, kind: ProxyKind, ports: &[u16]) {
    let of_listener: BTreeSet<PatchId> = tree
        .entries()
        .iter()
        .filter(|(key, _)| key != "filter_chains" && key != "default_filter_chain")
        .flat_map(|(_, value)| writers(value))
        .collect();
    let own_port = tree.path(&["address", "socket_address", "port_value"]).and_then(Tree::as_u64).unwrap_or(0);
    let chains = tree.get("filter_chains").map(Tree::items).unwrap_or_default();
    // The chains of single ports first: what a patch wrote everywhere is met there.
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
        let target = match kind {
            ProxyKind::Sidecar if tree.name() == INBOUND => {
                let port = matched("destination_port")
                    .and_then(Tree::as_u64)
                    .or_else(|| ports.first().map(|&port| u64::from(port)));
                format!("inbound: {}", port.unwrap_or(8080))
            }
            ProxyKind::Sidecar => {
                let cluster = filters
                    .iter()
                    .find_map(|it| it.path(&["typed_config", "cluster"]).and_then(Tree::as_str))
                    .unwrap_or_default();
                let host = cluster.split('|').nth(3).filter(|host| !host.is_empty()).unwrap_or("240.240.0.1");
                format!("outbound: {}", quoted(&format!("{host}:{own_port}")))
            }
            ProxyKind::Gateway => {
                let name = matched("server_names").and_then(|names| names.items().first()).and_then(Tree::as_str);
                let name = name
                    .map(|name| format!(", host: {0}, tls: simple", quoted(&name.replace('*', "any"))))
                    .unwrap_or_default();
                format!("gateway: {own_port}{name}")
            }
            ProxyKind::Waypoint => match chain.name().split('|').collect::<Vec<_>>().as_slice() {
                [_, port, _, host] => format!("waypoint: {}", quoted(&format!("{host}:{port}"))),
                _ => continue,
            },
        };
        if http {
            drafts.add(&ids, "GET /", format!("{target}, path: /"), "status: present");
        } else {
            drafts.add(&ids, "TCP", format!("{target}, tcp: \"hello\\n\""), "failure: none");
        }
    }
}

fn routes(drafts: &mut Drafts<'_>, tree: &Tree<'_>, kind: ProxyKind) {
    let port: String = tree.name().split('.').find(|part| part.parse::<u16>().is_ok()).unwrap_or("80").to_owned();
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
            let bare = name.rsplit_once(':').map_or(name.as_str(), |(bare, _)| bare);
            let target = match kind {
                ProxyKind::Gateway => format!("gateway: {port}, host: {}", quoted(&name)),
                ProxyKind::Waypoint => format!("waypoint: {}", quoted(&format!("{bare}:{port}"))),
                ProxyKind::Sidecar => {
                    format!("outbound: {}, host: {}", quoted(&format!("{bare}:{port}")), quoted(&name))
                }
            };
            drafts.add(&ids, &format!("GET {path}"), format!("{target}, path: {}", quoted(path)), "status: present");
        }
    }
}

fn cluster(drafts: &mut Drafts<'_>, tree: &Tree<'_>) {
    let parts: Vec<&str> = tree.name().split('|').collect();
    let target = match parts.as_slice() {
        ["inbound", port, ..] => format!("inbound: {port}"),
        ["outbound", port, _, host] => format!("outbound: {}", quoted(&format!("{host}:{port}"))),
        _ => return,
    };
    let upstream = format!("upstream: {{cluster: {}}}", quoted(tree.name()));
    drafts.add(&writers(tree), "GET /", format!("{target}, path: /"), &upstream);
}
