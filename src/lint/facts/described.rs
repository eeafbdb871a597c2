//! Objects that have exactly what a match describes: they show, for any mesh, that one patch takes what another matches.
//!
//! Without a config dump, the user's listeners, routes and clusters are unknown. But a patch that takes an object of which
//! nothing is known except the match of another patch takes every object of that match.

use crate::engine::HCM_TYPE;
use crate::engine::program::{BuiltPatch, Status, proxy_runs};
use crate::engine::{PatchId, Plan, Trace, judge, matching, run};
use crate::lint::facts::context::{Context, Knowledge, PatchView, ProxyRun, Taken};
use crate::lint::facts::culprit;
use crate::model::envoy_filter::{
    ApplyTo, ClusterMatch, ListenerMatch, ObjectMatch, Operation, PatchContext, RouteAction, RouteConfigurationMatch,
};
use crate::model::proxy::ProxyKind;
use crate::model::resource::{FieldNames, ProxyConfig, Resource, ResourceKind, ResourceState};
use crate::study::OPTIONS;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of objects that are made up in a run: each is two runs of the engine on one small resource.
const MAX_OBJECTS: usize = 256;

/// Maximum number of patches that are tried as the one that takes an object.
const MAX_SUSPECTS: usize = 64;

/// Maximum number of patches without a required name that are compared with a match.
const MAX_ANY: usize = 1024;

/// The name of whatever a match does not name; no match can contain it.
const UNNAMED: &str = "\n";

/// The name of another object beside each, which stays, so that the engine tells which condition fails.
const OTHER: &str = "\n\n";

/// The objects of which nothing is known but a match.
#[derive(Clone, Copy)]
struct Described<'p, 'a> {
    /// The patch with the match.
    view: &'p PatchView<'a>,
    /// The match, possibly with what istiod's names add to it.
    object: &'p ObjectMatch,
}

/// The patches that can take an object from another one, and how many objects may still be made up.
pub(crate) struct Takers<'a> {
    all: Vec<PatchView<'a>>,
    /// Positions in `all` by the name that the match requires; empty if it requires none.
    by_name: HashMap<&'a str, Vec<usize>>,
    /// Positions in `all` by the host in the name of the virtual host that the match requires.
    by_host: HashMap<&'a str, Vec<usize>>,
    /// Positions in `all` of the patches that give an object this name.
    by_new_name: HashMap<(ApplyTo, &'a str), Vec<usize>>,
    left: AtomicUsize,
}

impl<'a> Takers<'a> {
    pub(crate) fn of(cx: &Context<'a>) -> Takers<'a> {
        let all: Vec<PatchView<'a>> = cx.patches().filter(|view| view.built.is_some_and(takes)).collect();
        let mut by_name: HashMap<&'a str, Vec<usize>> = HashMap::new();
        let mut by_host: HashMap<&'a str, Vec<usize>> = HashMap::new();
        let mut by_new_name: HashMap<(ApplyTo, &'a str), Vec<usize>> = HashMap::new();
        for (number, view) in all.iter().enumerate() {
            let Some(built) = view.built else { continue };
            by_name.entry(required_name(&built.object)).or_default().push(number);
            if let Some((host, _)) = virtual_host_name(&built.object).and_then(|name| name.rsplit_once(':')) {
                by_host.entry(host).or_default().push(number);
            }
            if let Some(value) = built.value.as_ref().filter(|_| built.operation.is_merge()) {
                by_new_name.entry((view.patch.apply_to, value.name())).or_default().push(number);
            }
        }
        Takers { all, by_name, by_host, by_new_name, left: AtomicUsize::new(MAX_OBJECTS) }
    }

    /// What takes the objects that a patch matches, or renames them to its match only later, if something does so on every
    /// sample proxy that the patch reaches.
    pub(crate) fn taken(&self, cx: &Context<'a>, view: &PatchView<'a>) -> Option<Taken> {
        let built = view.built.filter(|built| built.status == Status::Ready)?;
        self.taken_as(cx, view, &built.object).or_else(|| self.renamed_later(cx, view, built)).or_else(|| {
            let taken = self.implied(built).iter().find_map(|object| self.taken_as(cx, view, object))?;
            Some(Taken { certain: false, ..taken })
        })
    }

    /// What takes the objects that a patch matches, if this describes them.
    fn taken_as(&self, cx: &Context<'a>, view: &PatchView<'a>, object: &ObjectMatch) -> Option<Taken> {
        let built = view.built?;
        let name = required_name(object);
        let same = (!name.is_empty()).then(|| self.named(name)).into_iter().flatten();
        // Those that require no name are as many as somebody likes to write.
        let any = self.named("").take(MAX_ANY);
        let may = |other: &&PatchView<'a>| {
            !same_patch(other, view) && other.built.is_some_and(|other| may_take(other, built.patch.apply_to, object))
        };
        let suspects: Vec<&PatchView<'a>> = same.chain(any).filter(may).take(MAX_SUSPECTS).collect();
        self.taken_by(cx, view, Described { view, object }, &suspects)
    }

    /// The patch that gives an object the name that a patch matches, but only later.
    fn renamed_later(&self, cx: &Context<'a>, view: &PatchView<'a>, built: &BuiltPatch<'a>) -> Option<Taken> {
        let given = (view.patch.apply_to, own_name(view.patch.apply_to, &built.object)?);
        let mut renamers = self.by_new_name.get(&given)?.iter().filter_map(|&number| self.all.get(number));
        let renamer = renamers.find(|other| !same_patch(other, view))?;
        let described = Described { view: renamer, object: &renamer.built?.object };
        self.taken_by(cx, view, described, &[renamer])
    }

    fn named<'s>(&'s self, name: &str) -> impl Iterator<Item = &'s PatchView<'a>> + use<'s, 'a> {
        self.by_name.get(name).into_iter().flatten().filter_map(|&number| self.all.get(number))
    }

    /// The match of a patch with what istiod's names add to it: a virtual host `<host>:<port>` has the domain `<host>`, and
    /// the listener of a port is named `0.0.0.0_<port>` on gateways and wherever it is one for HTTP.
    fn implied(&self, built: &BuiltPatch<'_>) -> Vec<ObjectMatch> {
        let context = built.patch.context;
        let one = |object| vec![object];
        match &built.object {
            ObjectMatch::RouteConfiguration(want) => {
                let Some(vhost) = &want.vhost else { return Vec::new() };
                if vhost.name.is_empty() {
                    let names = self.virtual_hosts_of(&vhost.domain_name, want);
                    let with_name = |name: &str| {
                        let mut want = want.clone();
                        name.clone_into(&mut want.vhost.get_or_insert_default().name);
                        ObjectMatch::RouteConfiguration(want)
                    };
                    return names.into_iter().map(with_name).collect();
                }
                let Some((host, port)) = vhost.name.rsplit_once(':') else { return Vec::new() };
                let mut want = want.clone();
                if want.name.is_empty() && want.port_number == 0 && context == PatchContext::SidecarOutbound {
                    port.clone_into(&mut want.name);
                }
                let vhost = want.vhost.get_or_insert_default();
                if vhost.domain_name.is_empty() {
                    host.clone_into(&mut vhost.domain_name);
                }
                one(ObjectMatch::RouteConfiguration(want))
            }
            ObjectMatch::Listener(want) if want.name.is_empty() && want.port_number != 0 => {
                let http = built.patch.apply_to == ApplyTo::HttpFilter && context == PatchContext::SidecarOutbound;
                if context != PatchContext::Gateway && !http {
                    return Vec::new();
                }
                let name = format!("0.0.0.0_{}", want.port_number);
                one(ObjectMatch::Listener(ListenerMatch { name, ..want.clone() }))
            }
            ObjectMatch::Cluster(want)
                if want.name.is_empty() && !want.service.is_empty() && !want.subset.is_empty() =>
            {
                let name = format!("outbound|{}|{}|{}", want.port_number, want.subset, want.service);
                one(ObjectMatch::Cluster(ClusterMatch { name, ..want.clone() }))
            }
            _ => Vec::new(),
        }
    }

    /// The names of virtual hosts with a domain that patches take from the route configuration of a match.
    fn virtual_hosts_of(&self, domain: &str, want: &RouteConfigurationMatch) -> BTreeSet<&'a str> {
        let takers = self.by_host.get(domain).into_iter().flatten().filter_map(|&number| self.all.get(number));
        let name = |taker: &PatchView<'a>| {
            let object = &taker.built?.object;
            let name = virtual_host_name(object)?;
            let port: u32 = name.rsplit_once(':')?.1.parse().ok()?;
            let own = matching::route_match(object)?;
            // Other ports have virtual hosts of the same domain.
            let there = if !want.name.is_empty() && !own.name.is_empty() {
                own.name == want.name
            } else {
                port == want.port_number
                    || want.name.parse() == Ok(port)
                    || want.name.starts_with(&format!("https.{port}."))
            };
            there.then_some(name)
        };
        takers.filter_map(name).take(MAX_SUSPECTS).collect()
    }

    /// The same for the objects that the match of one patch describes, and these suspects.
    fn taken_by(
        &self,
        cx: &Context<'a>,
        view: &PatchView<'a>,
        described: Described<'_, 'a>,
        suspects: &[&PatchView<'a>],
    ) -> Option<Taken> {
        if suspects.is_empty() {
            return None;
        }
        let mut found = None;
        let mut seen: Vec<(ProxyKind, Vec<usize>)> = Vec::new();
        for &number in cx.attached.get(view.filter_index)? {
            let sample = cx.runs.get(number)?;
            let id = sample.plan.find(view.filter_index, view.patch.index)?;
            if !proxy_runs(sample.plan.get(id)) {
                continue;
            }
            let kind = sample.config.proxy.kind;
            // Labels do not select a waypoint.
            if kind == ProxyKind::Waypoint && view.filter.target_refs.is_empty() {
                continue;
            }
            let mut filters: Vec<usize> = suspects.iter().map(|other| other.filter_index).collect();
            filters.retain(|&filter| filter == view.filter_index || cx.attached[filter].contains(&number));
            if filters.is_empty() {
                return None;
            }
            filters.push(view.filter_index);
            filters.sort_unstable();
            filters.dedup();
            if seen.iter().any(|(one, others)| *one == kind && *others == filters) {
                continue;
            }
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).ok()?;
            found = Some(taken_on(cx, view, described, sample, &filters)?);
            seen.push((kind, filters));
        }
        found
    }
}

/// The same on one kind of proxy, with these filters.
fn taken_on(
    cx: &Context<'_>,
    view: &PatchView<'_>,
    described: Described<'_, '_>,
    sample: &ProxyRun<'_>,
    filters: &[usize],
) -> Option<Taken> {
    let (filter, patch) = (view.filter_index, view.patch.index);
    let texts = objects(described.view.built?, described.object, sample.config.proxy.kind);
    let resources: Arc<[Resource<'_>]> = texts
        .iter()
        .map(|(kind, name, text)| Resource {
            kind: *kind,
            name: Cow::Borrowed(name.as_str()),
            state: ResourceState::Active,
            json: text.into(),
            last_updated: None,
            error: None,
            opened: None,
        })
        .collect();
    let config = ProxyConfig {
        proxy: sample.config.proxy.clone(),
        resources,
        refused: Vec::new(),
        field_names: FieldNames::Proto,
        lent: Arc::default(),
        generated: true,
    };
    let plan = cx.program.plan_among(&config.proxy, cx.mesh, filters);
    let id = plan.find(filter, patch).filter(|&id| proxy_runs(plan.get(id)))?;
    let others: Vec<PatchId> = plan.ids().filter(|&other| other != id).collect();
    let meets = |plan: &Plan<'_>| {
        let mut trace = Trace::new(plan.patches.len());
        run(plan, &config, &OPTIONS, &mut trace);
        !trace.patches[id.index()].effects.is_empty()
    };
    if (same_patch(described.view, view) && !meets(&plan.without(&others))) || meets(&plan) {
        return None;
    }
    let judged = Arc::new(judge(&plan, &config, &OPTIONS));
    let nearest = judged.trace.patches[id.index()].nearest;
    let run = ProxyRun::of(Knowledge::Reference, &config, &plan, judged);
    let cause = culprit::cause_of_described(cx, filter, patch, &run)?;
    // Without any object left, the first name of the match is what fails.
    Some(Taken { cause, nearest: nearest?, certain: true })
}

/// Whether a patch can take an object from another one: it removes, replaces or renames it.
fn takes(built: &BuiltPatch<'_>) -> bool {
    let names = || built.value.as_ref().is_some_and(|value| !value.name().is_empty());
    let whole = matches!(
        built.patch.apply_to,
        ApplyTo::Listener | ApplyTo::FilterChain | ApplyTo::VirtualHost | ApplyTo::HttpRoute | ApplyTo::Cluster
    );
    built.status == Status::Ready
        && match built.operation {
            Operation::Remove | Operation::Replace => true,
            operation => operation.is_merge() && whole && names(),
        }
}

/// A cheap test before the engine runs: whether the names that one match requires are those of the other.
fn may_take(taker: &BuiltPatch<'_>, apply_to: ApplyTo, object: &ObjectMatch) -> bool {
    if taker.patch.apply_to.matched_by() != apply_to.matched_by() {
        return false;
    }
    let name = required_name(&taker.object);
    if !name.is_empty() && name != required_name(object) {
        return false;
    }
    match (&taker.object, object) {
        (ObjectMatch::Listener(one), ObjectMatch::Listener(other)) => {
            let port = u64::from(one.port_number);
            port == 0 || port == u64::from(other.port_number) || port_in(&other.name) == Some(port)
        }
        (ObjectMatch::RouteConfiguration(_), ObjectMatch::RouteConfiguration(_)) | (ObjectMatch::None, _) => true,
        (ObjectMatch::Cluster(one), ObjectMatch::Cluster(other)) => {
            one.service == other.service || other.name.is_empty() || other.name.ends_with(&one.service)
        }
        _ => false,
    }
}

fn same_patch(one: &PatchView<'_>, other: &PatchView<'_>) -> bool {
    (one.filter_index, one.patch.index) == (other.filter_index, other.patch.index)
}

fn virtual_host_name(object: &ObjectMatch) -> Option<&str> {
    Some(&matching::route_match(object)?.vhost.as_ref()?.name)
}

/// The name that a match requires of the listener, virtual host or cluster; empty if it requires none.
fn required_name(object: &ObjectMatch) -> &str {
    match object {
        ObjectMatch::Listener(want) => &want.name,
        ObjectMatch::RouteConfiguration(want) => want.vhost.as_ref().map_or("", |host| &host.name),
        ObjectMatch::Cluster(want) => &want.name,
        ObjectMatch::None | ObjectMatch::Waypoint(_) => "",
    }
}

/// The port in the name that istiod gives a listener, `<address>_<port>`.
fn port_in(name: &str) -> Option<u64> {
    name.rsplit_once('_')?.1.parse().ok()
}

/// The name of the whole object that a match names; `None` for other kinds of objects.
fn own_name(apply_to: ApplyTo, object: &ObjectMatch) -> Option<&str> {
    let name = match (apply_to, object) {
        (ApplyTo::Listener, ObjectMatch::Listener(want)) => &want.name,
        (ApplyTo::FilterChain, ObjectMatch::Listener(want)) => &want.filter_chain.as_ref()?.name,
        (ApplyTo::VirtualHost, ObjectMatch::RouteConfiguration(want)) => &want.vhost.as_ref()?.name,
        (ApplyTo::HttpRoute, ObjectMatch::RouteConfiguration(want)) => &want.vhost.as_ref()?.route.as_ref()?.name,
        (ApplyTo::Cluster, ObjectMatch::Cluster(want)) => &want.name,
        _ => return None,
    };
    (!name.is_empty()).then_some(name)
}

/// The smallest resources that a patch matches, one for each context of the proxy: kind, name, text.
fn objects(built: &BuiltPatch<'_>, object: &ObjectMatch, kind: ProxyKind) -> Vec<(ResourceKind, String, String)> {
    let waypoint = kind == ProxyKind::Waypoint;
    let contexts: &[PatchContext] = match kind {
        ProxyKind::Gateway => &[PatchContext::Gateway],
        ProxyKind::Waypoint => &[PatchContext::SidecarInbound],
        ProxyKind::Sidecar => &[PatchContext::SidecarInbound, PatchContext::SidecarOutbound],
    };
    let wanted = built.patch.context;
    let contexts = contexts.iter().filter(|&&context| wanted == PatchContext::Any || wanted == context);
    contexts
        .filter_map(|&context| {
            Some(match built.patch.apply_to.matched_by()? {
                "listener" => {
                    let apply_to = built.patch.apply_to;
                    let names = listener_names(object, context, waypoint).into_iter();
                    let all = names.map(|name| listener(apply_to, object, context, name));
                    all.chain([other_listener(context)]).map(|listener| (ResourceKind::Listener, listener)).collect()
                }
                // Patches do not reach the clusters of its services.
                "cluster" if waypoint => return None,
                "cluster" => {
                    let direction = if context == PatchContext::SidecarInbound { "inbound" } else { "outbound" };
                    let other = json!({"name": format!("{direction}|0||{OTHER}")});
                    vec![(ResourceKind::Cluster, cluster(object, direction)), (ResourceKind::Cluster, other)]
                }
                "routeConfiguration" => vec![routes(object, context, waypoint)],
                _ => return None,
            })
        })
        .flatten()
        .map(|(kind, resource)| {
            let name = resource.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            (kind, name, resource.to_string())
        })
        .collect()
}

fn or_unnamed(name: &str) -> &str {
    if name.is_empty() { UNNAMED } else { name }
}

/// The listeners of which a match may mean any.
fn listener_names(object: &ObjectMatch, context: PatchContext, waypoint: bool) -> Vec<&str> {
    let want = matching::listener_match(object);
    match want.map_or("", |want| &want.name) {
        "" if waypoint
            && want.and_then(|want| want.filter_chain.as_ref()).is_none_or(|chain| chain.name.is_empty()) =>
        {
            vec![matching::MAIN_INTERNAL, matching::CONNECT_TERMINATE]
        }
        "" if waypoint => vec![matching::MAIN_INTERNAL],
        "" if context == PatchContext::SidecarInbound => vec![matching::VIRTUAL_INBOUND],
        name => vec![or_unnamed(name)],
    }
}

fn listener(apply_to: ApplyTo, object: &ObjectMatch, context: PatchContext, name: &str) -> Value {
    let empty = ListenerMatch::default();
    let want = matching::listener_match(object).unwrap_or(&empty);
    let inbound = context == PatchContext::SidecarInbound;
    let chain = want.filter_chain.clone().unwrap_or_default();
    let mut criteria = serde_json::Map::new();
    if !chain.sni.is_empty() {
        criteria.insert("server_names".to_owned(), json!([chain.sni]));
    }
    if !chain.transport_protocol.is_empty() {
        criteria.insert("transport_protocol".to_owned(), json!(chain.transport_protocol));
    }
    if !chain.application_protocols.is_empty() {
        let protocols: Vec<&str> = chain.application_protocols.split(',').collect();
        criteria.insert("application_protocols".to_owned(), json!(protocols));
    }
    let destination = if chain.destination_port == 0 && inbound { want.port_number } else { chain.destination_port };
    if destination != 0 {
        criteria.insert("destination_port".to_owned(), json!(destination));
    }
    let filter = chain.filter.as_ref().map(|filter| filter.name.as_str()).filter(|name| !name.is_empty());
    let sub_filter = chain.filter.as_ref().and_then(|filter| filter.sub_filter.as_deref()).unwrap_or_default();
    let http = apply_to == ApplyTo::HttpFilter || filter == Some(matching::HTTP_CONNECTION_MANAGER);
    let filter = if http {
        let type_url = format!("type.googleapis.com/{HCM_TYPE}");
        let filters = json!([{"name": or_unnamed(sub_filter)}, {"name": OTHER}]);
        json!({"name": matching::HTTP_CONNECTION_MANAGER, "typed_config": {"@type": type_url, "http_filters": filters}})
    } else {
        json!({"name": filter.unwrap_or(UNNAMED)})
    };
    let port = if want.port_number == 0 { port_in(name).unwrap_or(0) } else { u64::from(want.port_number) };
    let mut listener = json!({
        "name": name,
        "filter_chains": [
            {"filter_chain_match": criteria, "filters": [filter, {"name": OTHER}], "name": chain.name},
            {"filters": [{"name": OTHER}], "name": OTHER},
        ],
        "listener_filters": [{"name": or_unnamed(&want.listener_filter)}, {"name": OTHER}],
        "traffic_direction": direction(inbound),
    });
    // The services of a waypoint share an internal listener, which has no port.
    if name != matching::MAIN_INTERNAL {
        listener["address"] = json!({"socket_address": {"address": "0.0.0.0", "port_value": port}});
    }
    listener
}

fn direction(inbound: bool) -> &'static str {
    if inbound { "INBOUND" } else { "OUTBOUND" }
}

fn other_listener(context: PatchContext) -> Value {
    json!({
        "name": OTHER,
        "address": {"socket_address": {"address": "0.0.0.0", "port_value": 1}},
        "traffic_direction": direction(context == PatchContext::SidecarInbound),
    })
}

fn cluster(object: &ObjectMatch, direction: &str) -> Value {
    let want = matching::cluster_match(object).cloned().unwrap_or_default();
    let name = if want.name.is_empty() {
        let host = if direction == "inbound" { "" } else { or_unnamed(&want.service) };
        format!("{direction}|{}|{}|{host}", want.port_number, want.subset)
    } else {
        want.name
    };
    json!({"name": name})
}

fn routes(object: &ObjectMatch, context: PatchContext, waypoint: bool) -> (ResourceKind, Value) {
    let empty = RouteConfigurationMatch::default();
    let want = matching::route_match(object).unwrap_or(&empty);
    let inbound = context == PatchContext::SidecarInbound;
    let vhost = want.vhost.clone().unwrap_or_default();
    let route = vhost.route.clone().unwrap_or_default();
    // A match without an action is met by routes of any action, so each must be taken.
    let actions = [
        ("route", RouteAction::Route),
        ("redirect", RouteAction::Redirect),
        ("direct_response", RouteAction::DirectResponse),
    ];
    let mut list: Vec<Value> = actions
        .iter()
        .filter(|(_, action)| route.action == RouteAction::Any || route.action == *action)
        .map(|(key, _)| json!({"name": or_unnamed(&route.name), "match": {"prefix": "/"}, *key: {}}))
        .collect();
    list.push(json!({"name": OTHER, "match": {"prefix": "/"}, "non_forwarding_action": {}}));
    let host = match vhost.name.as_str() {
        // istiod patches no other route configurations inside a listener.
        "" if inbound => "inbound|http|0",
        name => or_unnamed(name),
    };
    let port = want.port_number;
    let name = if !want.name.is_empty() {
        want.name.clone()
    } else if waypoint {
        format!("inbound-vip|{port}|http|{UNNAMED}")
    } else if inbound {
        format!("inbound|{port}||")
    } else if context == PatchContext::Gateway && (want.port_name.is_empty() && want.gateway.is_empty()) {
        format!("http.{port}")
    } else if context == PatchContext::Gateway {
        let (namespace, gateway) = want.gateway.split_once('/').unwrap_or(("", ""));
        format!("https.{port}.{}.{gateway}.{namespace}", want.port_name)
    } else if port == 0 {
        UNNAMED.to_owned()
    } else {
        port.to_string()
    };
    let domain = or_unnamed(&vhost.domain_name);
    let other = if inbound { format!("inbound|http|{OTHER}") } else { OTHER.to_owned() };
    let routes = json!({
        "name": name,
        "virtual_hosts": [{"name": host, "domains": [domain], "routes": list}, {"name": other, "domains": [OTHER]}],
    });
    if !inbound {
        return (ResourceKind::Route, routes);
    }
    let type_url = format!("type.googleapis.com/{HCM_TYPE}");
    let manager = json!({"@type": type_url, "route_config": routes});
    let name = if waypoint { matching::MAIN_INTERNAL } else { matching::VIRTUAL_INBOUND };
    let listener = json!({
        "name": name,
        "address": {"socket_address": {"address": "0.0.0.0", "port_value": 15006}},
        "filter_chains": [{"filters": [{"name": matching::HTTP_CONNECTION_MANAGER, "typed_config": manager}]}],
        "traffic_direction": "INBOUND",
    });
    (ResourceKind::Listener, listener)
}
