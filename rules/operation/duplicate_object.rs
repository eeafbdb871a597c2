//! EF320: an added listener, filter chain or virtual host that collides with an existing one.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::engine::trace::Place;
use crate::lint::Knowledge;
use crate::lint::context::{PatchRun, PatchView, ProxyRun};
use crate::lint::facts::shared_hosts;
use crate::lint::per_run::PerRun;
use crate::lint::results::matched;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext};
use crate::model::resource::ResourceKind;
use crate::proto::tree::{Origin, Tree};
use crate::source::Severity;
use std::collections::{BTreeSet, HashMap, HashSet};

declare_rule! {
    /// An added listener, filter chain or virtual host that collides with an existing one.
    ///
    /// # What it finds
    /// An added listener with the name or the address and port of another one, or on a port of the proxy itself; an added filter chain with the
    /// `filter_chain_match` of another filter chain; an added virtual host with the name or a domain of another one; a
    /// domain that a MERGE adds and that already exists, regardless of case. Without config dumps: names of every proxy, and
    /// domains that are twice in a value, that a MERGE adds to all virtual hosts of a sidecar's outbound route configuration, or to
    /// the virtual host of the Service that has the domain, and at a gateway the hosts of the VirtualServices of the input.
    ///
    /// # Why it matters
    /// Envoy rejects such a listener or route configuration as a whole.
    ///
    /// # How to fix
    /// MERGE into the generated object, or REMOVE it first (for virtual hosts: REPLACE, since a REMOVE also removes the
    /// added one).
    ///
    /// # References
    /// Envoy `ListenerManagerImpl`, `FilterChainManagerImpl`, `RouteMatcher`: duplicate addresses, matches, names
    /// and domains are errors.
    "EF320" "duplicate-object" Operation Error => check,
    explains: &["EF360"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let (listeners, chains, hosts) = (PerRun::new(), PerRun::new(), PerRun::new());
    for view in cx.patches() {
        if let Some(finding) = known_domain(rule, cx, &view) {
            out.push(finding);
            continue;
        }
        let apply_to = view.patch.apply_to;
        let collide = |run: &PatchRun<'_, '_>| match apply_to {
            ApplyTo::Listener => listener(run, &listeners),
            ApplyTo::FilterChain => chain(run, &chains),
            ApplyTo::VirtualHost | ApplyTo::RouteConfiguration => vhost(run, &hosts),
            _ => None,
        };
        let seen = cx.seen(&view, |run| collide(run).is_some());
        let Some(seen) = seen.or_else(|| cx.seen_if(&view, |run| takes_all(&view) && collide(run).is_some())) else {
            continue;
        };
        let Some((field, what)) = seen.runs.first().and_then(&collide) else { continue };
        let finding = view
            .finding(rule, view.value_path_span(field), what)
            .label("taken")
            .rejected("Envoy rejects the whole object")
            .help(if view.built.is_some_and(|built| built.operation.is_merge()) {
                "remove it from the value: MERGE appends to the list"
            } else {
                "MERGE into the generated object, or choose another name, match or domain"
            });
        out.push(seen.tell(finding));
    }
}

/// Domains that collide on every proxy: twice in a value or, without config dumps, in all virtual hosts of a sidecar's
/// outbound side, or that of the Service in whose virtual host the patch merges.
fn known_domain<'a>(rule: &'static RuleInfo, cx: &Context<'a>, view: &PatchView<'a>) -> Option<Finding> {
    let built = view.built?;
    let value = built.value.as_ref()?;
    let (field, domains) = match view.patch.apply_to {
        ApplyTo::VirtualHost => ("domains", domains_of(value)),
        ApplyTo::RouteConfiguration => {
            ("virtual_hosts", value.get("virtual_hosts")?.items().iter().flat_map(domains_of).collect())
        }
        _ => return None,
    };
    let finding = |what: String| {
        let finding = view.finding(rule, view.value_path_span(field), what).label("taken");
        finding.rejected("Envoy rejects the whole object")
    };
    let mut known = HashSet::new();
    if let Some(domain) = domains.iter().find(|domain| !known.insert(domain.to_ascii_lowercase())) {
        let seen = cx.seen_if(view, PatchRun::changes)?;
        let finding = finding(format!("the value has the domain `{domain}` twice"));
        return Some(seen.tell(finding.help("remove one of the two: Envoy compares domains in lowercase")));
    }
    if view.patch.context == PatchContext::Gateway && !cx.has_dumps() {
        let (what, why, help) = at_gateway(cx, view, &domains)?;
        return Some(finding(what).likely(why).help(help));
    }
    let of_host = view.patch.apply_to == ApplyTo::VirtualHost;
    if !of_host || !built.operation.is_merge() || view.patch.context != PatchContext::SidecarOutbound {
        return None;
    }
    let ObjectMatch::RouteConfiguration(want) = &view.patch.object else { return None };
    let vhost = want.vhost.as_ref().map_or("", |vhost| &vhost.name);
    let by_domain = want.vhost.as_ref().is_some_and(|vhost| !vhost.domain_name.is_empty());
    let seen = cx.seen_if(view, PatchRun::changes).filter(|seen| !seen.certain())?;
    if vhost.is_empty() && !by_domain {
        // A route configuration of the outbound side has a virtual host for what no service has, and one for each service.
        let domain = domains.first()?;
        let finding = finding(format!("every virtual host of the route configuration gets the domain `{domain}`"));
        let finding = finding.note("Envoy rejects a domain that two virtual hosts have");
        return Some(
            seen.tell(finding.help("name one virtual host: match.routeConfiguration.vhost.name: <host>:<port>")),
        );
    }
    let host = vhost.rsplit_once(':')?.0;
    let (short, _) = host.split_once(".svc.")?;
    let own = |domain: &&&str| {
        let domain = domain.to_ascii_lowercase();
        domain == host || domain == short || domain.strip_suffix(".svc") == Some(short)
    };
    let domain = domains.iter().find(own)?;
    let finding = finding(format!("the virtual host `{vhost}` already has the domain `{domain}`"));
    let finding = if domain.eq_ignore_ascii_case(host) {
        finding
    } else {
        // A VirtualService for another port of the host can have a virtual host without the short names.
        finding.severity(Severity::Warning)
    };
    Some(seen.tell(finding.help("remove it from the value: MERGE appends to the list")))
}

fn domains_of<'t>(host: &'t Tree<'_>) -> Vec<&'t str> {
    host.get("domains").map(Tree::items).unwrap_or_default().iter().filter_map(Tree::as_str).collect()
}

/// A domain that a gateway already has, why, and what to do about it: the host in whose virtual host the patch merges, or that of
/// a VirtualService.
fn at_gateway(
    cx: &Context<'_>,
    view: &PatchView<'_>,
    domains: &[&str],
) -> Option<(String, &'static str, &'static str)> {
    let merges = view.built.is_some_and(|built| built.operation.is_merge());
    let taken = |host: &str| domains.iter().find(|domain| domain.eq_ignore_ascii_case(host)).copied();
    let has = |vhost: &str, domain: &str| format!("the virtual host `{vhost}` already has the domain `{domain}`");
    if view.patch.apply_to == ApplyTo::VirtualHost && merges {
        let ObjectMatch::RouteConfiguration(want) = &view.patch.object else { return None };
        let vhost = &want.vhost.as_ref()?.name;
        let (host, _) = vhost.rsplit_once(':')?;
        let why = "istiod names the virtual hosts of a gateway `<domain>:<port>`";
        return Some((has(vhost, taken(host)?), why, "remove it from the value: MERGE appends to the list"));
    }
    let adds = merges || view.built.is_some_and(|built| built.operation == Operation::Add);
    let hosts = shared_hosts::at_gateways(cx, view);
    let (vhosts, domain) = hosts.iter().filter(|_| adds).find_map(|(host, vhosts)| Some((vhosts, taken(host)?)))?;
    let why = "the hosts are those of the objects in the input";
    Some((has(vhosts.first()?, domain), why, "MERGE into the generated virtual host, or choose another domain"))
}

/// Whether a patch adds a virtual host for every domain to a sidecar's outbound side, where istiod generates one in every
/// route configuration (recordings of all meshes, 1.22 to 1.31).
fn takes_all(view: &PatchView<'_>) -> bool {
    let value = view.built.and_then(|built| built.value.as_ref());
    let mut domains = value.and_then(|value| value.get("domains")).map(Tree::items).unwrap_or_default().iter();
    view.patch.apply_to == ApplyTo::VirtualHost
        && view.patch.context == PatchContext::SidecarOutbound
        && domains.any(|domain| domain.as_str() == Some("*"))
}

/// Listeners that istiod generates for every proxy of a kind (recordings of all meshes, 1.22 to 1.31).
const IN_EVERY_MESH: &[&str] =
    &["virtualInbound", "virtualOutbound", "main_internal", "connect_terminate", "connect_originate"];

type Collision = Option<(&'static str, String)>;

fn added<'t>(run: &'t PatchRun<'_, '_>) -> impl Iterator<Item = &'t Place> {
    let added = |effect: &Effect| matches!(effect, Effect::Added | Effect::Inserted { .. });
    run.trace.effects.iter().filter(move |(_, effect)| added(effect)).map(|(place, _)| place)
}

/// The listeners of a proxy, collected once for all patches.
struct Listeners {
    /// Names of generated listeners that no patch removes.
    generated: HashSet<String>,
    /// By name.
    addresses: HashMap<String, String>,
    /// By address, sorted.
    names: HashMap<String, BTreeSet<String>>,
}

impl Listeners {
    fn of(run: &ProxyRun<'_>) -> Listeners {
        let patched = run.judged.patched.resources.iter().filter(|one| one.kind == ResourceKind::Listener);
        let removed: HashSet<usize> = patched.filter(|one| one.tree.is_none()).filter_map(|one| one.source).collect();
        let generated = run.config.generated(ResourceKind::Listener).filter(|(index, _)| !removed.contains(index));
        let generated = generated.map(|(_, resource)| resource.name.to_string()).collect();
        let mut listeners = Listeners { generated, addresses: HashMap::new(), names: HashMap::new() };
        for (name, tree) in run.listeners_after() {
            if let Some(address) = address(&tree) {
                listeners.names.entry(address.clone()).or_default().insert(name.to_owned());
                listeners.addresses.insert(name.to_owned(), address);
            }
        }
        listeners
    }
}

fn listener(run: &PatchRun<'_, '_>, known: &PerRun<Listeners>) -> Collision {
    let ours = added(run).next()?;
    let listeners = known.of(run.run, Listeners::of);
    // A reference configuration has listeners for the ports of its own mesh, which do not apply to other meshes.
    let counts = |name: &str| {
        run.run.knowledge == Knowledge::Dump || !listeners.generated.contains(name) || IN_EVERY_MESH.contains(&name)
    };
    if listeners.generated.contains(&*ours.resource) {
        let message = || format!("a listener named `{}` already exists", ours.resource);
        return counts(&ours.resource).then(|| ("name", message()));
    }
    let mine = listeners.addresses.get(&*ours.resource)?;
    let everywhere = mine.strip_prefix("0.0.0.0:").or_else(|| mine.strip_prefix(":::"));
    if let Some((port, owner)) = RESERVED.iter().find(|(port, _)| everywhere == Some(*port)) {
        return Some(("address", format!("port {port} belongs to {owner}")));
    }
    let other = listeners.names.get(mine)?.iter().find(|name| **name != *ours.resource && counts(name))?;
    Some(("address", format!("the listener `{other}` already has the address {mine}")))
}

/// Ports that every injected proxy and gateway listens on itself, from the list "Ports used by Istio" of Istio's documentation.
const RESERVED: [(&str, &str); 4] = [
    ("15000", "Envoy's admin interface"),
    ("15020", "the agent's metrics and health"),
    ("15021", "the proxy's health"),
    ("15090", "the proxy's metrics"),
];

fn address(listener: &Tree<'_>) -> Option<String> {
    let socket = listener.path(&["address", "socket_address"])?;
    let port = socket.get("port_value")?.as_str()?.to_owned();
    // A UDP listener and a TCP listener can have the same port: HTTP/3 beside HTTP/2.
    let udp = if socket.str_at("protocol") == "UDP" { " (UDP)" } else { "" };
    Some(format!("{}:{port}{udp}", socket.str_at("address")))
}

/// The filter chains of a listener, collected once for all patches.
#[derive(Default)]
struct Chains {
    names: Vec<String>,
    /// The chains that match a combination of conditions, in their order.
    matching: HashMap<Vec<String>, Vec<usize>>,
    /// The first chain of each patch, with what it matches.
    of_patch: HashMap<Origin, (usize, BTreeSet<Vec<String>>)>,
}

impl Chains {
    fn of(run: &ProxyRun<'_>) -> HashMap<String, Chains> {
        patched(run, ResourceKind::Listener, |listener| {
            let mut found = Chains::default();
            for (at, chain) in listener.get("filter_chains").map(Tree::items).unwrap_or_default().iter().enumerate() {
                found.names.push(chain.name().to_owned());
                let wanted = matched(chain);
                for combination in &wanted {
                    found.matching.entry(combination.clone()).or_default().push(at);
                }
                found.of_patch.entry(chain.origin).or_insert((at, wanted));
            }
            found
        })
    }
}

fn chain(run: &PatchRun<'_, '_>, known: &PerRun<HashMap<String, Chains>>) -> Collision {
    let listeners = known.of(run.run, Chains::of);
    added(run).find_map(|place| {
        let chains = listeners.get(&*place.resource)?;
        let (mine, wanted) = chains.of_patch.get(&run.id.origin())?;
        let others = wanted.iter().filter_map(|one| chains.matching.get(one)?.iter().find(|at| *at != mine));
        let at = *others.min()?;
        let name = &chains.names[at];
        let name = if name.is_empty() { String::new() } else { format!(" `{name}`") };
        let message = format!("filter chain {at}{name} of listener {} matches the same connections", place.resource);
        Some(("filter_chain_match", message))
    })
}

/// The virtual hosts of a route configuration, collected once for all patches.
#[derive(Default)]
struct Hosts {
    names: Vec<String>,
    named: HashMap<String, Vec<usize>>,
    /// The virtual hosts with a domain, and the index of the domain in each. Envoy compares domains in lowercase.
    domains: HashMap<String, Vec<(usize, usize)>>,
    /// What each patch added, in its order.
    of_patch: HashMap<Origin, Vec<Added>>,
}

/// A virtual host that a patch added, or a domain that it added to one.
enum Added {
    Host(usize),
    Domain(usize, usize, String),
}

impl Hosts {
    fn of(run: &ProxyRun<'_>) -> HashMap<String, Hosts> {
        patched(run, ResourceKind::Route, |routes| {
            let mut found = Hosts::default();
            for (at, host) in routes.get("virtual_hosts").map(Tree::items).unwrap_or_default().iter().enumerate() {
                found.names.push(host.name().to_owned());
                found.named.entry(host.name().to_owned()).or_default().push(at);
                let mut added = |origin: Origin, what: Added| {
                    if origin != Origin::ISTIOD {
                        found.of_patch.entry(origin).or_default().push(what);
                    }
                };
                added(host.origin, Added::Host(at));
                for (number, domain) in host.get("domains").map(Tree::items).unwrap_or_default().iter().enumerate() {
                    let Some(text) = domain.as_str() else { continue };
                    found.domains.entry(text.to_ascii_lowercase()).or_default().push((at, number));
                    added(domain.origin, Added::Domain(at, number, text.to_owned()));
                }
            }
            found
        })
    }

    /// What exists already of what a patch added.
    fn collision(&self, resource: &str, patch: Origin) -> Collision {
        self.of_patch.get(&patch)?.iter().find_map(|added| match added {
            Added::Host(at) => {
                let name = &self.names[*at];
                let other = self.named.get(name)?.iter().find(|other| *other != at)?;
                let message =
                    format!("route configuration {resource} already has a virtual host `{}`", self.names[*other]);
                Some(("name", message))
            }
            Added::Domain(at, number, domain) => {
                let places = self.domains.get(&domain.to_ascii_lowercase())?;
                let (other, _) = places.iter().find(|place| **place != (*at, *number))?;
                let other = &self.names[*other];
                Some(("domains", format!("the virtual host `{other}` already has the domain `{domain}`")))
            }
        })
    }
}

fn vhost(run: &PatchRun<'_, '_>, known: &PerRun<HashMap<String, Hosts>>) -> Collision {
    let changed = run.trace.effects.iter().filter(|(_, effect)| effect.changes()).map(|(place, _)| place);
    let changed: BTreeSet<&str> =
        changed.filter(|place| place.kind == ResourceKind::Route).map(|place| &*place.resource).collect();
    let routes = known.of(run.run, Hosts::of);
    changed.into_iter().find_map(|resource| routes.get(resource)?.collision(resource, run.id.origin()))
}

/// What is collected from each patched resource of a kind.
fn patched<T>(run: &ProxyRun<'_>, kind: ResourceKind, collect: impl Fn(&Tree<'_>) -> T) -> HashMap<String, T> {
    let mut found = HashMap::new();
    for one in run.judged.patched.resources.iter().filter(|one| one.kind == kind) {
        if let (Some(tree), false) = (&one.tree, found.contains_key(&one.name)) {
            found.insert(one.name.clone(), collect(tree));
        }
    }
    found
}
