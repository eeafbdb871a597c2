//! EF321: a patch of an object that another patch adds: additions come last, so it never matches.

use crate::declare_rule;
use crate::engine::matching;
use crate::engine::program::Status;
use crate::lint::context::PatchView;
use crate::lint::seen::filter_chains;
use crate::lint::{Context, Findings, ProxyRun, RuleInfo, names};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext, RouteConfigurationMatch};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use std::borrow::Cow;
use std::collections::HashMap;

declare_rule! {
    /// A patch of an object that another patch adds: additions come last, so the patch never matches.
    ///
    /// # What it finds
    /// A patch that matches nothing and whose match names a listener, filter chain, virtual host or cluster that
    /// another patch adds (by name, port, SNI or domain), or a route configuration or virtual host inside an added
    /// listener, filter chain or network filter; a MERGE or REMOVE of a route that another patch inserts.
    ///
    /// # Why it matters
    /// istiod appends the objects of LISTENER, FILTER_CHAIN, VIRTUAL_HOST and CLUSTER ADD after everything else and
    /// never patches them, whatever the priority. Routes are merged and removed before others are inserted; an inserted
    /// route can only be an anchor for further ones.
    ///
    /// # How to fix
    /// Put the change into the value of the ADD.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF321" "added-object-out-of-reach" Operation Error => check,
    explains: &["EF158", "EF210", "EF211", "EF212", "EF218", "EF220", "EF221", "EF222", "EF223"]
}

/// Added objects, by kind and by what a match can compare.
type Key<'t> = (ApplyTo, Field, Cow<'t, str>);

/// A property that a match compares.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Field {
    Name,
    Port,
    Sni,
    Domain,
}

/// Maximum number of patches that add an object of the same name, port, SNI or domain and are compared.
const MAX_ADDS: usize = 64;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut adds: HashMap<Key<'_>, Vec<PatchView<'_>>> = HashMap::new();
    for view in cx.patches() {
        for key in added(&view) {
            adds.entry(key).or_default().push(view);
        }
    }
    if adds.is_empty() {
        return;
    }
    for view in cx.patches() {
        let Some(built) = view.built.filter(|built| built.status == Status::Ready) else { continue };
        let dumps = cx.attaches_to_dump(view.filter_index);
        let removes = built.operation == Operation::Remove;
        for ((kind, field, wanted), route) in asked(&built.object) {
            let fits = |add: &&PatchView<'_>| {
                let same = add.filter_index == view.filter_index && add.patch.index == view.patch.index;
                !same && (field == Field::Name || dumps || meant(cx, add, &view, kind, field))
            };
            let all = adds.get(&(kind, field, Cow::Borrowed(&*wanted)));
            let Some(add) = all.and_then(|all| all.iter().take(MAX_ADDS).find(fits)) else { continue };
            let apart = kind == ApplyTo::HttpRoute
                && (view.patch.apply_to != ApplyTo::HttpRoute
                    || !(built.operation.is_merge() || built.operation == Operation::Remove));
            // Without dumps, a REMOVE may target a generated object that the ADD replaces.
            // The name of a route may come from a VirtualService.
            let generated = kind == ApplyTo::HttpRoute || names::may_be_generated(&wanted);
            let perhaps_generated = removes && !dumps && (generated || field != Field::Name);
            if apart || perhaps_generated || (kind == ApplyTo::Cluster && built.operation == Operation::Add) {
                continue;
            }
            let together = cx.runs.iter().any(|run| {
                run.patch(view.filter_index, view.patch.index).is_some_and(|run| run.runs())
                    && run.patch(add.filter_index, add.patch.index).is_some_and(|run| {
                        // One that adds to nothing here would add it last all the same.
                        run.changes() || (run.runs() && run.trace.effects.is_empty())
                    })
            });
            // Without dumps, the names of generated objects are unknown, so only user-defined names count.
            let matched = cx
                .on_proxies(view.filter_index, view.patch.index)
                .any(|run| (dumps || crate::lint::seen::exact(run.run, &view)) && !run.trace.effects.is_empty());
            if !together || matched {
                continue;
            }
            let what = match field {
                Field::Name => format!("`{wanted}`"),
                Field::Port => format!("port {wanted}"),
                Field::Sni => format!("SNI `{wanted}`"),
                Field::Domain => format!("domain `{wanted}`"),
            };
            let by = if add.filter_index == view.filter_index {
                format!("configPatches[{}] of this EnvoyFilter", add.patch.index)
            } else {
                add.filter.full_name()
            };
            let (never, place) = match kind {
                ApplyTo::HttpRoute => {
                    ("istiod merges and removes only routes that it generates", "inserted here, after that")
                }
                _ => (
                    "istiod never patches what patches add",
                    "added here, after all other patches, regardless of priority",
                ),
            };
            let adder = format!("configPatches[{}] of {}", add.patch.index, add.filter.full_name());
            let finding = view
                .finding(rule, view.value_span(&route), format!("{what} is added by {by}, and {never}"))
                .label("matches nothing")
                .related(add.value_path_span("name"), place)
                .help(if removes {
                    format!("delete this patch and {adder}, which adds it")
                } else {
                    format!("write it into the value of {adder}")
                });
            let finding = match field {
                _ if dumps => finding,
                Field::Name => finding.confidence(crate::lint::Confidence::Likely),
                _ => finding.likely("no config dump shows whether istiod also generates one here"),
            };
            out.push(finding.ineffective().misses());
            break;
        }
    }
}

/// Whether a port, server name or domain without a config dump most likely means the added object: Envoy rejects a second
/// one like it in the same place, so istiod generates none there.
fn meant(cx: &Context<'_>, add: &PatchView<'_>, view: &PatchView<'_>, kind: ApplyTo, field: Field) -> bool {
    if add.patch.context != view.patch.context {
        return false;
    }
    let value = add.built.and_then(|built| built.value.as_ref());
    match (&add.patch.object, &view.patch.object) {
        (one, ObjectMatch::RouteConfiguration(other)) => {
            let anywhere = other.name.is_empty()
                && other.port_number == 0
                && other.port_name.is_empty()
                && other.gateway.is_empty();
            let same = |one: &RouteConfigurationMatch| {
                (&one.name, one.port_number, &one.port_name, &one.gateway)
                    == (&other.name, other.port_number, &other.port_name, &other.gateway)
            };
            anywhere || matching::route_match(one).is_some_and(same)
        }
        (_, ObjectMatch::Listener(other)) if kind == ApplyTo::Listener => {
            // Sidecars have listeners for the ports of services, beside which one for an address can be.
            let taken = |run: &ProxyRun<'_>| {
                let mut names = run.config.generated(ResourceKind::Listener).map(|(_, listener)| &listener.name);
                names.any(|name| name.ends_with(&format!("_{}", other.port_number)))
            };
            !cx.runs.iter().any(taken)
        }
        (one, ObjectMatch::Listener(other)) => {
            // A filter chain with further criteria can be beside one that istiod generates.
            let key = if field == Field::Sni { "server_names" } else { "destination_port" };
            let criteria = value.and_then(|value| value.get("filter_chain_match")).map(Tree::entries);
            let only =
                criteria.is_some_and(|all| all.iter().all(|(name, _)| name == key || name == "transport_protocol"));
            let inbound = view.patch.context == PatchContext::SidecarInbound;
            let listener = matching::listener_match(one);
            let port = other.filter_chain.as_ref().is_some_and(|chain| chain.destination_port != 0);
            if field == Field::Port && !inbound && !port {
                return false;
            }
            let there = field == Field::Port && inbound
                || other.name.is_empty() && other.port_number == 0
                || listener.is_some_and(|one| (&one.name, one.port_number) == (&other.name, other.port_number));
            only && there
        }
        _ => false,
    }
}

/// Objects that a patch adds and no other patch reaches.
fn added<'a>(view: &PatchView<'a>) -> Vec<Key<'a>> {
    let kind = view.patch.apply_to;
    let Some(built) = view.built.filter(|built| built.status == Status::Ready) else { return Vec::new() };
    let adds = match kind {
        ApplyTo::Listener | ApplyTo::FilterChain | ApplyTo::VirtualHost | ApplyTo::Cluster => {
            built.operation == Operation::Add
        }
        ApplyTo::HttpRoute | ApplyTo::NetworkFilter => matches!(
            built.operation,
            Operation::Add | Operation::InsertFirst | Operation::InsertBefore | Operation::InsertAfter
        ),
        _ => false,
    };
    let Some(value) = built.value.as_ref().filter(|_| adds) else { return Vec::new() };
    let mut keys: Vec<Key<'a>> = Vec::new();
    let mut push = |field, text: Option<&str>| {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            keys.push((kind, field, Cow::Owned(text.to_owned())));
        }
    };
    if kind == ApplyTo::NetworkFilter {
        return inside(&[value]);
    }
    push(Field::Name, Some(value.name()));
    match kind {
        ApplyTo::Listener => {
            push(Field::Port, value.path(&["address", "socket_address", "port_value"]).and_then(Tree::as_str));
        }
        ApplyTo::FilterChain => {
            push(Field::Port, value.path(&["filter_chain_match", "destination_port"]).and_then(Tree::as_str));
            let names = value.path(&["filter_chain_match", "server_names"]).map(Tree::items).unwrap_or_default();
            names.iter().for_each(|name| push(Field::Sni, name.as_str()));
        }
        ApplyTo::VirtualHost => {
            let domains = value.get("domains").map(Tree::items).unwrap_or_default();
            domains.iter().for_each(|domain| push(Field::Domain, domain.as_str()));
        }
        _ => {}
    }
    let chains = match kind {
        ApplyTo::Listener => filter_chains(value).collect(),
        ApplyTo::FilterChain => vec![value],
        _ => Vec::new(),
    };
    let filters = chains.iter().flat_map(|chain| chain.get("filters").map(Tree::items).unwrap_or_default());
    keys.extend(inside(&filters.collect::<Vec<_>>()));
    keys
}

/// The route configurations and virtual hosts inside network filters, except names that istiod may give to others. Domains do
/// not count: another virtual host may have the same.
fn inside<'a>(filters: &[&Tree<'_>]) -> Vec<Key<'a>> {
    let mut keys: Vec<Key<'a>> = Vec::new();
    for config in filters.iter().filter_map(|filter| filter.get("typed_config")).map(Tree::readable) {
        let Some(routes) = config.get("route_config") else { continue };
        let hosts = routes.get("virtual_hosts").map(Tree::items).unwrap_or_default();
        let own = (ApplyTo::RouteConfiguration, routes.name());
        let all = std::iter::once(own).chain(hosts.iter().map(|host| (ApplyTo::VirtualHost, host.name())));
        let all = all.filter(|(_, name)| !name.is_empty() && !names::may_be_generated(name));
        keys.extend(all.map(|(kind, name)| (kind, Field::Name, Cow::Owned(name.to_owned()))));
    }
    keys
}

/// What a match compares, and its place below the patch.
fn asked(object: &ObjectMatch) -> Vec<(Key<'_>, Vec<&'static str>)> {
    let mut asked: Vec<(Key<'_>, Vec<&'static str>)> = Vec::new();
    let mut push = |kind, field, text: &str, route: &[&'static str]| {
        if !text.is_empty() && text != "0" {
            asked.push(((kind, field, Cow::Owned(text.to_owned())), [&["match"], route].concat()));
        }
    };
    match object {
        ObjectMatch::Listener(listener) => {
            push(ApplyTo::Listener, Field::Name, &listener.name, &["listener", "name"]);
            let port = listener.port_number.to_string();
            push(ApplyTo::Listener, Field::Port, &port, &["listener", "portNumber"]);
            push(ApplyTo::FilterChain, Field::Port, &port, &["listener", "portNumber"]);
            if let Some(chain) = &listener.filter_chain {
                push(ApplyTo::FilterChain, Field::Name, &chain.name, &["listener", "filterChain", "name"]);
                push(ApplyTo::FilterChain, Field::Sni, &chain.sni, &["listener", "filterChain", "sni"]);
                let port = chain.destination_port.to_string();
                push(ApplyTo::FilterChain, Field::Port, &port, &["listener", "filterChain", "destinationPort"]);
            }
        }
        ObjectMatch::RouteConfiguration(routes) => {
            push(ApplyTo::RouteConfiguration, Field::Name, &routes.name, &["routeConfiguration", "name"]);
            if let Some(vhost) = &routes.vhost {
                let own = ["routeConfiguration", "vhost"];
                push(ApplyTo::VirtualHost, Field::Name, &vhost.name, &[own[0], own[1], "name"]);
                push(ApplyTo::VirtualHost, Field::Domain, &vhost.domain_name, &[own[0], own[1], "domainName"]);
                let route = vhost.route.as_ref().map_or("", |route| &route.name);
                push(ApplyTo::HttpRoute, Field::Name, route, &[own[0], own[1], "route", "name"]);
            }
        }
        ObjectMatch::Cluster(cluster) => {
            push(ApplyTo::Cluster, Field::Name, &cluster.name, &["cluster", "name"]);
        }
        ObjectMatch::None | ObjectMatch::Waypoint(_) => {}
    }
    asked
}
