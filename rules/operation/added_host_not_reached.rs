//! EF353: an added virtual host whose requests do not come to its route configuration.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::per_run::PerRun;
use crate::lint::seen::{Seen, filter_chains};
use crate::lint::{Context, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use std::collections::{BTreeSet, HashMap};

declare_rule! {
    /// A virtual host added to a gateway whose domains clients do not send there.
    ///
    /// # What it finds
    /// With config dumps of gateways: a VIRTUAL_HOST ADD with domains that none of the server names (SNI) of the filter chains with its route
    /// configuration covers; or with domains only that contain the port of the listener, if its other virtual hosts are for another
    /// port, that of the Service.
    ///
    /// # Why it matters
    /// Envoy chooses the filter chain by SNI before it sees a request: connections for the new host are closed. And clients send
    /// the port in the host only if it is not the default one: requests get 404.
    ///
    /// # How to fix
    /// A Gateway with a server and certificate for the host; the domain without a port.
    ///
    /// # References
    /// Envoy `FilterChainMatch.server_names`, `VirtualHost.domains`; the answers of Envoy 1.38.2.
    "EF353" "added-host-not-reached" Operation Warning => check,
    needs: &[Dump]
}

/// What leads to a route configuration.
#[derive(Default)]
struct Ways {
    /// The server names of its filter chains; `None` if one of them takes any.
    names: Option<BTreeSet<String>>,
    /// The ports of its listeners.
    ports: BTreeSet<String>,
}

/// Why no request of the host comes.
enum Why {
    Names(BTreeSet<String>),
    Port(String, String),
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known: PerRun<HashMap<String, Ways>> = PerRun::new();
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::VirtualHost) {
        let Some(built) = view.built.filter(|built| built.operation == Operation::Add) else { continue };
        if !matches!(view.patch.context, PatchContext::Gateway | PatchContext::Any) {
            continue;
        }
        let Some(domains) = built.value.as_ref().and_then(|value| value.get("domains")).map(Tree::items) else {
            continue;
        };
        let domains: Vec<&str> = domains.iter().filter_map(Tree::as_str).take(MOST).collect();
        let why = |run: &PatchRun<'_, '_>| -> Option<Why> {
            if run.run.knowledge != Knowledge::Dump || domains.is_empty() {
                return None;
            }
            let ways = known.of(run.run, all_ways);
            let added = run.trace.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Inserted { .. }));
            let routes: BTreeSet<&str> = added
                .filter(|(place, _)| place.kind == ResourceKind::Route)
                .map(|(place, _)| &*place.resource)
                .collect();
            let mut found = None;
            for name in routes {
                found = Some(unreached(run, name, ways.get(name)?, &domains)?);
            }
            found
        };
        let Some(seen) = cx.seen_if(&view, |run| why(run).is_some()).filter(Seen::certain) else { continue };
        let Some(why) = seen.runs.first().and_then(&why) else { continue };
        let finding = view.finding(rule, view.value_path_span("domains"), message(&why));
        let finding = match why {
            Why::Names(_) => {
                finding.label("no filter chain for it").help("a Gateway with a server and a certificate for the host")
            }
            Why::Port(port, _) => {
                let bare = domains.first().map_or("", |domain| domain.trim_end_matches(&format!(":{port}")));
                finding.label("the port of the container").help(format!("domains: [{bare}]"))
            }
        };
        out.push(seen.tell(finding));
    }
}

/// Maximum number of domains that are compared.
const MOST: usize = 64;

fn message(why: &Why) -> String {
    match why {
        Why::Names(names) => {
            let all = names.iter().take(4).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            format!("clients of this host do not get here: the filter chain is for the server name {all}")
        }
        Why::Port(port, other) => {
            format!("only requests that name port {port} match: clients of port {other} do not")
        }
    }
}

/// Why no request for these domains comes to a route configuration.
fn unreached(run: &PatchRun<'_, '_>, routes: &str, ways: &Ways, domains: &[&str]) -> Option<Why> {
    if let Some(names) = &ways.names {
        let covered = |domain: &&str| names.iter().any(|name| covers(name, without_port(domain)));
        if !names.is_empty() && !domains.iter().any(covered) {
            return Some(Why::Names(names.clone()));
        }
    }
    let port = ways.ports.first().filter(|_| ways.ports.len() == 1)?;
    let tree = run.run.after(ResourceKind::Route, routes)?;
    let hosts = tree.get("virtual_hosts").map(Tree::readable)?;
    let own = |name: &str| domains.iter().any(|domain| without_port(domain) == name);
    let others: BTreeSet<String> = hosts
        .items()
        .iter()
        .map(Tree::readable)
        .filter_map(|host| host.name().rsplit_once(':').map(|(host, port)| (host.to_owned(), port.to_owned())))
        .filter(|(host, port)| !own(host) && port.bytes().all(|byte| byte.is_ascii_digit()))
        .map(|(_, port)| port)
        .collect();
    let suffix = format!(":{port}");
    let other = others.first().filter(|_| others.len() == 1 && !others.contains(port))?;
    domains.iter().all(|domain| domain.ends_with(&suffix)).then(|| Why::Port(port.clone(), other.clone()))
}

fn without_port(domain: &str) -> &str {
    let host = domain.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    host.map_or(domain, |(host, _)| host)
}

/// Whether a client of a domain may use a server name.
fn covers(name: &str, domain: &str) -> bool {
    let (name, domain) = (name.to_ascii_lowercase(), domain.to_ascii_lowercase());
    let end = |pattern: &str| pattern.strip_prefix('*').map(str::to_owned);
    match (end(&name), end(&domain)) {
        (None, None) => name == domain || domain.ends_with('*'),
        (Some(end), None) => domain.ends_with(&end),
        (None, Some(end)) => name.ends_with(&end),
        (Some(one), Some(other)) => one.ends_with(&other) || other.ends_with(&one),
    }
}

/// What leads to each route configuration of a proxy.
fn all_ways(run: &ProxyRun<'_>) -> HashMap<String, Ways> {
    let mut found: HashMap<String, Ways> = HashMap::new();
    for listener in run.listeners_after().values() {
        let port = listener.path(&["address", "socket_address", "port_value"]).and_then(Tree::as_str);
        for chain in filter_chains(listener) {
            let wanted = chain.get("filter_chain_match").map(Tree::readable);
            let names = wanted.as_deref().and_then(|wanted| wanted.get("server_names")).map(Tree::readable);
            let names: BTreeSet<String> = names
                .as_deref()
                .map(Tree::items)
                .unwrap_or_default()
                .iter()
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect();
            let filters = chain.get("filters").map(Tree::items).unwrap_or_default();
            for config in filters.iter().filter_map(|filter| filter.get("typed_config")).map(Tree::readable) {
                let Some(routes) = config.path(&["rds", "route_config_name"]).and_then(Tree::as_str) else { continue };
                let new = !found.contains_key(routes);
                let ways = found.entry(routes.to_owned()).or_default();
                ways.ports.extend(port.map(str::to_owned));
                if names.is_empty() {
                    ways.names = None;
                } else if new {
                    ways.names = Some(names.clone());
                } else if let Some(known) = &mut ways.names {
                    known.extend(names.iter().cloned());
                }
            }
        }
    }
    found
}
