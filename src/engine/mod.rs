//! The patch engine: (configuration of a proxy, filters, release) → (patched configuration, trace), as in istiod.
//!
//! Pure and total: no IO, no panic, broken input changes nothing. Untouched resources are neither decoded nor copied.

mod cluster;
pub mod compat;
pub mod go_regexp;
mod listener;
pub mod matching;
pub(crate) mod outcome;
mod place;
pub mod program;
mod route;
mod run;
pub(crate) mod select;
pub mod services;
pub(crate) mod shared;
mod spread;
pub mod trace;
pub mod unapply;

pub use outcome::{Judged, Lost, Outcome, judge};
pub use program::{Plan, Program};
pub(crate) use run::HCM_TYPE;
pub use select::{MeshSettings, Selection};
pub use services::REFERENCED_SERVICES;
pub use trace::{PatchId, Sink, Trace};
pub use unapply::{Unapplied, unapply};

/// HTTP filters that istiod generates together in all its HTTP connection managers, except those of `connect_terminate`, for the
/// settings of routes: name and type (istiod `listener_builder.go`, releases 1.22 to 1.31).
pub(crate) const ROUTE_FILTERS: [(&str, &str); 2] = [
    ("envoy.filters.http.cors", "envoy.extensions.filters.http.cors.v3.Cors"),
    ("envoy.filters.http.fault", "envoy.extensions.filters.http.fault.v3.HTTPFault"),
];

/// The listener filter that istiod generates first in the listeners of gateways with `gatewayTopology.proxyProtocol`: name and type.
pub(crate) const PROXY_PROTOCOL: (&str, &str) =
    ("envoy.filters.listener.proxy_protocol", "envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol");

use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::proxy::ProxyKind;
use crate::model::resource::{Held, ProxyConfig, ResourceKind, ResourceText};
use crate::proto::json;
use crate::proto::packed::Kept;
use crate::proto::tree::{Tree, Value};
use matching::{CONNECT_ORIGINATE, CONNECT_TERMINATE, MAIN_INTERNAL, PortMap, VIRTUAL_INBOUND, VIRTUAL_OUTBOUND};
use run::{Run, Slot, Values};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use trace::{Effect, NoOp, Place};

/// What istiod sends in place of the given configuration.
#[derive(Clone, Debug)]
pub struct Patched<'a> {
    /// Every resource that is new, removed or changed; all others are unchanged.
    pub resources: Vec<PatchedResource<'a>>,
    /// Route configurations that listeners request after patching but the configuration does not contain: a dump does not show
    /// what istiod would generate for them.
    pub unknown_routes: Vec<String>,
    /// Hosts that an annotation adds to a waypoint, but for which no dump or option contains a cluster.
    pub unknown_services: Vec<String>,
}

/// A resource that is new, removed or changed.
#[derive(Clone, Debug)]
pub struct PatchedResource<'a> {
    /// Its kind.
    pub kind: ResourceKind,
    /// Index into the resources of the configuration; `None` for an added one.
    pub source: Option<usize>,
    /// Its name now.
    pub name: String,
    /// Its content; `None` when it is removed.
    pub tree: Option<Kept<'a>>,
}

/// Settings of a run beyond the plan.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Service ports behind a gateway's target ports; if absent, they are derived from the names of virtual hosts.
    pub port_map: Option<PortMap>,
    /// Names of extension configurations that the proxy requests; `None`: those its listeners refer to.
    pub extension_names: Option<Vec<String>>,
    /// Clusters, as JSON by name, that istiod generates for services which a filter's annotation
    /// `envoyfilter.istio.io/referenced-services` adds to a waypoint: a dump made without the filter does not contain them.
    pub service_clusters: BTreeMap<String, String>,
    /// Whether changed resources stay packed until they are read: for a large configuration of which little is read.
    pub packed: bool,
}

/// Runs a plan over the configuration of its proxy.
pub fn run<'a, S: Sink<'a>>(
    plan: &Plan<'a>,
    config: &'a ProxyConfig<'a>,
    options: &'a Options,
    sink: &mut S,
) -> Patched<'a> {
    run_parts(plan, config, options, sink, Parts::ALL, &mut Values::new())
}

/// What a run covers: clusters and everything else know nothing of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts {
    clusters: bool,
    others: bool,
}

impl Parts {
    const ALL: Parts = Parts { clusters: true, others: true };
    const CLUSTERS: Parts = Parts { clusters: true, others: false };
}

fn run_parts<'a, S: Sink<'a>>(
    plan: &Plan<'a>,
    config: &'a ProxyConfig<'a>,
    options: &'a Options,
    sink: &mut S,
    parts: Parts,
    values: &mut Values<'a>,
) -> Patched<'a> {
    let mut patched = Patched { resources: Vec::new(), unknown_routes: Vec::new(), unknown_services: Vec::new() };
    if plan.order.is_empty() {
        return patched;
    }
    let mut run = start(plan, config, options, sink);
    run.values = std::mem::take(values);
    let (mut listeners, mut clusters, mut routes, mut extensions) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    if parts.others {
        listeners = slots(config, ResourceKind::Listener);
        listener_passes(&mut run, &mut listeners);
    }
    if parts.clusters {
        clusters = slots(config, ResourceKind::Cluster);
        patched.unknown_services = services::add_referenced(plan, config, options, &mut clusters);
        let indices: Vec<usize> = (0..clusters.len()).collect();
        run.clusters(&mut clusters, &indices);
        forget_untouched(&mut clusters);
    }
    if parts.others {
        routes = slots(config, ResourceKind::Route);
        patched.unknown_routes = route_passes(&mut run, &listeners, &mut routes);
        extension_configs(&mut run, options, &listeners, &mut extensions);
    }
    *values = run.values;
    patched.resources = [listeners, clusters, routes, extensions]
        .into_iter()
        .flatten()
        .filter(|slot| slot.touched || slot.removed)
        .filter(|slot| slot.source.is_some() || !slot.removed)
        .map(|slot| PatchedResource {
            kind: slot.kind,
            source: slot.source,
            name: slot.name.to_string(),
            tree: slot.sent(),
        })
        .collect();
    patched
}

fn start<'s, 'a, S: Sink<'a>>(
    plan: &'s Plan<'a>,
    config: &'a ProxyConfig<'a>,
    options: &Options,
    sink: &'s mut S,
) -> Run<'s, 'a, S> {
    // Only a port in the match of a route configuration is compared with these.
    let asks = |planned: &program::Planned<'a>| {
        matching::route_match(&planned.built.object).is_some_and(|routes| routes.port_number != 0)
    };
    let ports = match &options.port_map {
        Some(ports) => ports.clone(),
        None if plan.proxy.kind == ProxyKind::Gateway && plan.patches.iter().any(asks) => route::port_map(config),
        None => PortMap::new(),
    };
    Run {
        plan,
        config,
        sink,
        ports: Rc::new(ports),
        touched: false,
        shared: shared::Shared::default(),
        sockets: BTreeMap::new(),
        values: Values::new(),
        ids: BTreeMap::new(),
        packed: options.packed,
    }
}

/// The part of a run that applies a kind of patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pass {
    /// Listeners and everything in them.
    Listeners,
    /// Clusters.
    Clusters,
    /// Routes and extension configurations, which depend on the listeners: the whole run.
    Rest,
}

impl Pass {
    /// The part that applies patches of a kind.
    pub(crate) const fn of(apply_to: ApplyTo) -> Pass {
        match apply_to {
            ApplyTo::Listener
            | ApplyTo::FilterChain
            | ApplyTo::NetworkFilter
            | ApplyTo::HttpFilter
            | ApplyTo::ListenerFilter => Pass::Listeners,
            ApplyTo::Cluster => Pass::Clusters,
            _ => Pass::Rest,
        }
    }
}

/// Runs a plan only as far as needed to record what the patches of one part do.
pub(crate) fn run_pass<'a, S: Sink<'a>>(plan: &Plan<'a>, config: &'a ProxyConfig<'a>, pass: Pass, sink: &mut S) {
    static OPTIONS: Options =
        Options { port_map: None, extension_names: None, service_clusters: BTreeMap::new(), packed: false };
    match pass {
        Pass::Listeners => {
            listener_passes(&mut start(plan, config, &OPTIONS, sink), &mut slots(config, ResourceKind::Listener));
        }
        Pass::Clusters => {
            run_parts(plan, config, &OPTIONS, sink, Parts::CLUSTERS, &mut Values::new());
        }
        Pass::Rest => {
            run(plan, config, &OPTIONS, sink);
        }
    }
}

/// A resource of the configuration as a tree, every `Any` still raw.
pub fn open<'a>(config: &ProxyConfig<'a>, index: usize, plan: &Plan<'_>) -> Option<Tree<'a>> {
    look(config, index, plan).map(Cow::into_owned)
}

/// The same to read: not a copy if the configuration keeps it as a tree.
pub(crate) fn look<'c, 'a>(config: &'c ProxyConfig<'a>, index: usize, plan: &Plan<'_>) -> Option<Cow<'c, Tree<'a>>> {
    let resource = config.resources.get(index)?;
    if let Some(tree) = run::opened(config, Some(index), resource.json) {
        return Some(Cow::Borrowed(tree));
    }
    let mut slot = Slot {
        kind: resource.kind,
        source: Some(index),
        name: resource.name.clone(),
        text: resource.json,
        tree: None,
        packed: None,
        touched: false,
        removed: false,
    };
    slot.open(config, plan.schema);
    slot.tree.map(|tree| Cow::Owned(*tree))
}

/// Drops what no patch changed: nearly everything in a large dump.
fn forget_untouched(slots: &mut Vec<Slot<'_>>) {
    slots.retain(|slot| slot.touched || slot.removed);
    slots.shrink_to_fit();
}

fn slots<'a>(config: &'a ProxyConfig<'a>, kind: ResourceKind) -> Vec<Slot<'a>> {
    config
        .generated(kind)
        .map(|(index, resource)| Slot {
            kind,
            source: Some(index),
            name: resource.name.clone(),
            text: resource.json,
            tree: None,
            packed: None,
            touched: false,
            removed: false,
        })
        .collect()
}

/// The calls for listeners, in istiod's order (`listener_builder.go`).
fn listener_passes<'a, S: Sink<'a>>(run: &mut Run<'_, 'a, S>, slots: &mut Vec<Slot<'a>>) {
    let (kind, config) = (run.plan.proxy.kind, run.config);
    let all: Vec<usize> = (0..slots.len()).filter(|&index| is_patched(kind, &slots[index])).collect();
    if kind == ProxyKind::Gateway {
        run.listener_pass(slots, &all, PatchContext::Gateway, true);
        run.spread(slots, |slot| context_of(kind, config, slot));
        return;
    }
    let (mut inbound, mut outbound, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for index in all {
        match side(kind, config, &slots[index]) {
            Side::Virtual(context) => alone.push((index, context)),
            Side::Inbound => inbound.push(index),
            Side::Outbound => outbound.push(index),
        }
    }
    if kind == ProxyKind::Waypoint {
        inbound.sort_by_key(|&index| WAYPOINT_ORDER.iter().position(|name| *name == slots[index].name));
    }
    let routes = [ApplyTo::RouteConfiguration, ApplyTo::VirtualHost, ApplyTo::HttpRoute];
    if routes.iter().any(|&apply_to| !run.ids(apply_to, PatchContext::SidecarInbound).is_empty()) {
        let virtual_inbound = alone.iter().filter(|(_, context)| *context == PatchContext::SidecarInbound);
        for index in inbound.iter().copied().chain(virtual_inbound.map(|(index, _)| *index)) {
            run.inline_routes(&mut slots[index], patched_inline);
        }
    }
    alone.sort_by_key(|(index, context)| {
        (*context == PatchContext::SidecarInbound, slots[*index].name != VIRTUAL_OUTBOUND)
    });
    for (index, context) in alone {
        run.listener_pass(slots, &[index], context, false);
    }
    run.listener_pass(slots, &inbound, PatchContext::SidecarInbound, true);
    run.listener_pass(slots, &outbound, PatchContext::SidecarOutbound, true);
    run.spread(slots, |slot| context_of(kind, config, slot));
}

/// Whether istiod patches a listener: not the one that it appends to a sidecar's and a gateway's listeners after all patches, if
/// it sends HBONE (`BuildListeners`, releases 1.22 to 1.31).
fn is_patched(kind: ProxyKind, slot: &Slot<'_>) -> bool {
    kind == ProxyKind::Waypoint || slot.source.is_none() || slot.name != CONNECT_ORIGINATE
}

/// The context in which istiod patches a listener; `None` for one that it does not patch.
fn context_of(kind: ProxyKind, config: &ProxyConfig<'_>, slot: &Slot<'_>) -> Option<PatchContext> {
    is_patched(kind, slot).then(|| match side(kind, config, slot) {
        _ if kind == ProxyKind::Gateway => PatchContext::Gateway,
        Side::Virtual(context) => context,
        Side::Inbound => PatchContext::SidecarInbound,
        Side::Outbound => PatchContext::SidecarOutbound,
    })
}

/// The order in which istiod patches a waypoint's listeners (`buildWaypointInbound`); it matters when a panic ends the call.
/// Listeners of sidecars and gateways come out of a Go map, in a different order at each push.
const WAYPOINT_ORDER: &[&str] = &[
    CONNECT_TERMINATE,
    MAIN_INTERNAL,
    "forward_inner_connect",
    CONNECT_ORIGINATE,
    "inner_connect_originate",
    "outer_connect_originate",
];

/// The call that a listener of a sidecar or waypoint belongs to.
enum Side {
    Virtual(PatchContext),
    Inbound,
    Outbound,
}

/// Whether the text of a listener holds something. It is searched once if many proxies share it.
fn holds(config: &ProxyConfig<'_>, slot: &Slot<'_>, what: Held) -> bool {
    let text = slot.text.search();
    let has = |wanted: &str| memchr::memmem::find(text.as_bytes(), wanted.as_bytes()).is_some();
    let look = || match what {
        Held::Inbound => direction(text).map_or_else(|| has("\"INBOUND\""), |direction| direction == "INBOUND"),
        Held::HttpProxy => has("\"http_proxy\""),
        Held::Rds => has("\"rds\""),
    };
    let shared = slot.source.and_then(|at| config.resources.get(at)?.opened.as_ref()?.holds(text, what, look));
    shared.unwrap_or_else(look)
}

fn side(kind: ProxyKind, config: &ProxyConfig<'_>, slot: &Slot<'_>) -> Side {
    match &*slot.name {
        VIRTUAL_OUTBOUND => Side::Virtual(PatchContext::SidecarOutbound),
        VIRTUAL_INBOUND => Side::Virtual(PatchContext::SidecarInbound),
        _ if kind == ProxyKind::Waypoint => Side::Inbound,
        _ if holds(config, slot, Held::Inbound) => Side::Inbound,
        // The listener of the mesh's HTTP proxy port requests the route configuration of that name.
        _ if holds(config, slot, Held::HttpProxy) => Side::Virtual(PatchContext::SidecarOutbound),
        _ => Side::Outbound,
    }
}

/// `traffic_direction` of a listener, near its end: Envoy orders fields by number, others by name, and in both cases the long
/// field, `filter_chains`, comes first.
fn direction(text: &str) -> Option<&str> {
    const NEAR: usize = 4096;
    let mut start = text.len().saturating_sub(NEAR);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let tail = &text[start..];
    let (_, after) = tail.rsplit_once("\"traffic_direction\"").or_else(|| tail.rsplit_once("\"trafficDirection\""))?;
    let value = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    value.split_once('"').map(|(value, _)| value)
}

/// Whether istiod patches a route configuration inside a listener: those it generates for inbound ports of services
/// (`inbound|http|<port>`), but on a waypoint not those it generates from a VirtualService
/// (`buildWaypointInboundHTTPRouteConfig`), whose routes have that VirtualService in their metadata.
fn patched_inline(routes: &Tree<'_>) -> bool {
    let vhosts = routes.get("virtual_hosts").map(Tree::items).unwrap_or_default();
    let of_virtual_service = |route: &Tree<'_>| {
        let config = route.path(&["metadata", "filter_metadata", "istio", "config"]);
        config.and_then(Tree::as_str).is_some_and(|config| config.contains("/virtual-service/"))
    };
    vhosts.iter().all(|vhost| {
        vhost.name().starts_with("inbound|http|")
            && !vhost.get("routes").map(Tree::items).unwrap_or_default().iter().any(of_virtual_service)
    })
}

/// The names that patched listeners refer to.
struct References {
    /// Before the patches.
    before: BTreeSet<String>,
    /// After them.
    after: BTreeSet<String>,
    /// Those of before that no listener refers to any more.
    gone: BTreeSet<String>,
}

/// The names of one kind that listeners refer to; `before` reads them from a listener as istiod generated it.
fn references<'a>(
    listeners: &[Slot<'a>],
    before: impl Fn(&Slot<'a>) -> Vec<String>,
    after: impl Fn(&Tree<'a>) -> Vec<String>,
) -> References {
    let changed = |slot: &&Slot<'a>| slot.removed || slot.touched;
    let mut all = References { before: BTreeSet::new(), after: BTreeSet::new(), gone: BTreeSet::new() };
    for slot in listeners.iter().filter(changed) {
        all.before.extend(before(slot));
        if let Some(tree) = slot.decoded().filter(|_| !slot.removed) {
            all.after.extend(after(&tree));
        }
    }
    let asked_elsewhere = |name: &str| {
        let quoted = format!("\"{name}\"");
        listeners.iter().filter(|slot| !changed(slot)).any(|slot| {
            memchr::memmem::find(slot.text.search().as_bytes(), quoted.as_bytes()).is_some()
                && before(slot).iter().any(|one| one == name)
        })
    };
    all.gone = all.before.difference(&all.after).filter(|name| !asked_elsewhere(name)).cloned().collect();
    all
}

/// RDS: patches what the listeners request; route configurations that no listener requests any more are removed.
fn route_passes<'a, S: Sink<'a>>(
    run: &mut Run<'_, 'a, S>,
    listeners: &[Slot<'a>],
    routes: &mut Vec<Slot<'a>>,
) -> Vec<String> {
    let gateway = run.plan.proxy.kind == ProxyKind::Gateway;
    let context = if gateway { PatchContext::Gateway } else { PatchContext::SidecarOutbound };
    // Most listeners have inline routes, which a text search shows without parsing.
    let config = run.config;
    let asks = |slot: &Slot<'a>| holds(config, slot, Held::Rds);
    let before = |slot: &Slot<'a>| match slot.opened(config) {
        _ if !asks(slot) => Vec::new(),
        Some(tree) => listener::rds_names(tree),
        None => json::parse(slot.text.search()).map(|tree| listener::rds_names(&tree)).unwrap_or_default(),
    };
    let References { before, after, gone } = references(listeners, before, listener::rds_names);
    for slot in routes.iter_mut() {
        if gone.contains(slot.name.as_ref()) {
            slot.removed = true;
            continue;
        }
        if run.concerns_routes(context, &slot.name) {
            run.touched = false;
            let (config, schema) = (run.config, run.plan.schema);
            let mut tree = std::mem::replace(slot.open(config, schema), Tree::new(Value::Null));
            run.route_configuration(context, &mut tree, None);
            if run.touched {
                slot.name = tree.name().to_owned().into();
            }
            slot.tree = Some(Box::new(tree));
            slot.touched = run.touched;
            run.close(slot);
        }
    }
    let mut unknown = Vec::new();
    for name in after.difference(&before) {
        if routes.iter().any(|slot| slot.name == *name) {
            continue;
        }
        // For a name that is not a port, istiod sends a sidecar an empty route configuration and does not patch it. To a
        // gateway it sends one for every name that no server has, and patches it (`buildGatewayHTTPRouteConfig`).
        let port = name.rsplit(':').next().unwrap_or(name);
        if gateway {
            let mut slot = route::empty(name);
            if let Some(tree) = &mut slot.tree {
                run.route_configuration(context, tree, None);
                slot.name = tree.name().to_owned().into();
            }
            routes.push(slot);
        } else if port.parse::<u32>().is_err() && name != "http_proxy" && !name.starts_with("unix:") {
            routes.push(route::empty(name));
        } else {
            unknown.push(name.clone());
        }
    }
    unknown
}

/// The extension configurations that a listener refers to before any patch.
fn extensions_before<'a, S: Sink<'a>>(run: &Run<'_, 'a, S>, slot: &Slot<'a>) -> Vec<String> {
    let text = slot.text.search().as_bytes();
    if memchr::memmem::find(text, b"config_discovery").is_none()
        && memchr::memmem::find(text, b"configDiscovery").is_none()
    {
        return Vec::new();
    }
    let (kind, source, name, text) = (slot.kind, slot.source, slot.name.clone(), slot.text);
    let mut slot = Slot { kind, source, name, text, tree: None, packed: None, touched: false, removed: false };
    listener::discovery_names(slot.open(run.config, run.plan.schema))
}

/// Extension configurations that no listener refers to any more: the proxy unsubscribes from them.
fn extensions_gone<'a, S: Sink<'a>>(run: &Run<'_, 'a, S>, listeners: &[Slot<'a>], out: &mut Vec<Slot<'a>>) {
    // Only these patches take a reference away.
    let takes = |id: PatchId| {
        let built = &run.plan.get(id).built;
        let renames = || built.value.as_ref().is_some_and(|value| !value.name().is_empty());
        built.patch.apply_to.matched_by() == Some("listener")
            && match built.operation {
                Operation::Remove | Operation::Replace => true,
                Operation::Merge | Operation::MergeAndReplaceList => renames(),
                _ => false,
            }
    };
    if !run.plan.ids().any(takes) {
        return;
    }
    let mut slots = slots(run.config, ResourceKind::ExtensionConfig);
    if slots.is_empty() {
        return;
    }
    let gone = references(listeners, |slot| extensions_before(run, slot), listener::discovery_names).gone;
    slots.retain(|slot| gone.contains(slot.name.as_ref()));
    out.extend(slots.into_iter().map(|slot| Slot { removed: true, ..slot }));
}

/// ECDS: only ADD, whatever the context, and only for names that the proxy requests.
fn extension_configs<'a, S: Sink<'a>>(
    run: &mut Run<'_, 'a, S>,
    options: &Options,
    listeners: &[Slot<'a>],
    out: &mut Vec<Slot<'a>>,
) {
    if options.extension_names.is_none() {
        extensions_gone(run, listeners, out);
    }
    let ids: Vec<PatchId> = run
        .plan
        .ids()
        .filter(|&id| {
            let planned = run.plan.get(id);
            planned.built.patch.apply_to == ApplyTo::ExtensionConfig
                && planned.built.operation == Operation::Add
                && planned.proxy_miss.is_none()
                && matches!(
                    planned.status,
                    program::Status::Ready | program::Status::NoOp(NoOp::ContextOfOtherProxies | NoOp::WaypointContext)
                )
        })
        .collect();
    if ids.is_empty() {
        return;
    }
    let asked: BTreeSet<String> = match &options.extension_names {
        Some(names) => names.iter().cloned().collect(),
        None => listeners
            .iter()
            .filter(|slot| !slot.removed)
            .flat_map(|slot| match slot.decoded() {
                Some(tree) => listener::discovery_names(&tree),
                None => extensions_before(run, slot),
            })
            .collect(),
    };
    for id in ids {
        let Some(value) = &run.plan.get(id).built.value else { continue };
        let name = value.name().to_owned();
        let place = run.place(|| Place::resource(ResourceKind::ExtensionConfig, name.clone()));
        if !asked.contains(&name) {
            run.effect(id, place, Effect::NoOp(NoOp::ExtensionNotAsked));
            continue;
        }
        run.effect(id, place, Effect::Added);
        out.push(Slot {
            kind: ResourceKind::ExtensionConfig,
            source: None,
            name: name.into(),
            text: ResourceText::default(),
            tree: Some(Box::new(value.with_origin(id.origin()))),
            packed: None,
            touched: true,
            removed: false,
        });
    }
}
