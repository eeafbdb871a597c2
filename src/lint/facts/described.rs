//! Objects that have exactly what a match describes: they show, for any mesh, that one patch takes what another matches.
//!
//! Without a config dump, the user's listeners, routes and clusters are unknown. But a patch that takes an object of which
//! nothing is known except the match of another patch takes every object of that match.

use crate::engine::HCM_TYPE;
use crate::engine::program::{BuiltPatch, Status, proxy_runs};
use crate::engine::trace::Condition;
use crate::engine::{PatchId, Plan, Trace, judge, matching, run};
use crate::lint::facts::context::{Context, Knowledge, Memo, PatchView, ProxyRun};
use crate::lint::facts::culprit;
use crate::lint::finding::Cause;
use crate::model::envoy_filter::{
    ApplyTo, ListenerMatch, ObjectMatch, Operation, PatchContext, RouteAction, RouteConfigurationMatch,
};
use crate::model::proxy::ProxyKind;
use crate::model::resource::{FieldNames, ProxyConfig, Resource, ResourceKind, ResourceState};
use crate::study::OPTIONS;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

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

/// What takes everything that a patch matches.
pub(crate) struct Taken {
    /// The patch that does.
    pub cause: Cause,
    /// The condition that then fails.
    pub nearest: Condition,
}

/// The patches that can take an object from another one, and how many objects may still be made up.
pub(crate) struct Takers<'a> {
    all: Vec<PatchView<'a>>,
    /// Positions in `all` by the name that the match requires; empty if it requires none.
    by_name: HashMap<&'a str, Vec<usize>>,
    /// Positions in `all` of the patches that give an object this name.
    by_new_name: HashMap<(ApplyTo, &'a str), Vec<usize>>,
    left: AtomicUsize,
}

impl<'a> Takers<'a> {
    pub(crate) fn of(cx: &Context<'a>) -> Takers<'a> {
        let all: Vec<PatchView<'a>> = cx.patches().filter(|view| view.built.is_some_and(takes)).collect();
        let mut by_name: HashMap<&'a str, Vec<usize>> = HashMap::new();
        let mut by_new_name: HashMap<(ApplyTo, &'a str), Vec<usize>> = HashMap::new();
        for (number, view) in all.iter().enumerate() {
            let Some(built) = view.built else { continue };
            by_name.entry(required_name(&built.object)).or_default().push(number);
            if let Some(value) = built.value.as_ref().filter(|_| built.operation.is_merge()) {
                by_new_name.entry((view.patch.apply_to, value.name())).or_default().push(number);
            }
        }
        Takers { all, by_name, by_new_name, left: AtomicUsize::new(MAX_OBJECTS) }
    }

    /// What takes the objects that a patch matches, or renames them to its match only later, if something does so on every
    /// sample proxy that the patch reaches.
    pub(crate) fn taken(&self, cx: &Context<'a>, view: &PatchView<'a>) -> Option<Taken> {
        let built = view.built.filter(|built| built.status == Status::Ready)?;
        let is_other =
            |other: &&PatchView<'a>| (other.filter_index, other.patch.index) != (view.filter_index, view.patch.index);
        let named =
            |name: &str| self.by_name.get(name).into_iter().flatten().filter_map(|&number| self.all.get(number));
        let name = required_name(&built.object);
        let same = (!name.is_empty()).then(|| named(name)).into_iter().flatten();
        // Those that require no name are as many as somebody likes to write.
        let any = named("").take(MAX_ANY);
        let may = |other: &&PatchView<'a>| is_other(other) && other.built.is_some_and(|other| may_take(other, built));
        let suspects: Vec<&PatchView<'a>> = same.chain(any).filter(may).take(MAX_SUSPECTS).collect();
        self.taken_by(cx, view, view, &suspects).or_else(|| {
            let given = (view.patch.apply_to, own_name(view.patch.apply_to, &built.object)?);
            let mut renamers = self.by_new_name.get(&given)?.iter().filter_map(|&number| self.all.get(number));
            let renamer = renamers.find(is_other)?;
            self.taken_by(cx, view, renamer, &[renamer])
        })
    }

    /// The same for the objects that the match of one patch describes, and these suspects.
    fn taken_by(
        &self,
        cx: &Context<'a>,
        view: &PatchView<'a>,
        made_of: &PatchView<'a>,
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
            if kind == ProxyKind::Waypoint {
                // Labels do not select a waypoint; of what it has, the matches describe too little.
                if view.filter.target_refs.is_empty() {
                    continue;
                }
                return None;
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
            found = Some(taken_on(cx, view, made_of, sample, &filters)?);
            seen.push((kind, filters));
        }
        found
    }
}

/// The same on one kind of proxy, with these filters.
fn taken_on(
    cx: &Context<'_>,
    view: &PatchView<'_>,
    made_of: &PatchView<'_>,
    sample: &ProxyRun<'_>,
    filters: &[usize],
) -> Option<Taken> {
    let (filter, patch) = (view.filter_index, view.patch.index);
    let texts = objects(made_of.built?, sample.config.proxy.kind);
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
    let own = made_of.filter_index == filter && made_of.patch.index == patch;
    if (own && !meets(&plan.without(&others))) || meets(&plan) {
        return None;
    }
    let judged = Arc::new(judge(&plan, &config, &OPTIONS));
    let nearest = judged.trace.patches[id.index()].nearest;
    let described = ProxyRun {
        label: OnceLock::new(),
        knowledge: Knowledge::Reference,
        config: &config,
        plan: &plan,
        judged,
        memo: Memo::default(),
        live: None,
    };
    let cause = culprit::cause_of_described(cx, filter, patch, &described)?;
    // Without any object left, the first name of the match is what fails.
    Some(Taken { cause, nearest: nearest? })
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
fn may_take(taker: &BuiltPatch<'_>, built: &BuiltPatch<'_>) -> bool {
    if taker.patch.apply_to.matched_by() != built.patch.apply_to.matched_by() {
        return false;
    }
    let name = required_name(&taker.object);
    if !name.is_empty() && name != required_name(&built.object) {
        return false;
    }
    match (&taker.object, &built.object) {
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
fn objects(built: &BuiltPatch<'_>, kind: ProxyKind) -> Vec<(ResourceKind, String, String)> {
    let contexts: &[PatchContext] = match kind {
        ProxyKind::Gateway => &[PatchContext::Gateway],
        _ => &[PatchContext::SidecarInbound, PatchContext::SidecarOutbound],
    };
    let wanted = built.patch.context;
    let contexts = contexts.iter().filter(|&&context| wanted == PatchContext::Any || wanted == context);
    contexts
        .filter_map(|&context| {
            Some(match built.patch.apply_to.matched_by()? {
                "listener" => vec![
                    (ResourceKind::Listener, listener(built, context)),
                    (ResourceKind::Listener, other_listener(context)),
                ],
                "cluster" => {
                    let direction = if context == PatchContext::SidecarInbound { "inbound" } else { "outbound" };
                    let other = json!({"name": format!("{direction}|0||{OTHER}")});
                    vec![(ResourceKind::Cluster, cluster(&built.object, direction)), (ResourceKind::Cluster, other)]
                }
                "routeConfiguration" => vec![routes(&built.object, context)],
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

fn listener(built: &BuiltPatch<'_>, context: PatchContext) -> Value {
    let empty = ListenerMatch::default();
    let want = matching::listener_match(&built.object).unwrap_or(&empty);
    let inbound = context == PatchContext::SidecarInbound;
    let name = match want.name.as_str() {
        "" if inbound => matching::VIRTUAL_INBOUND,
        name => or_unnamed(name),
    };
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
    let http = built.patch.apply_to == ApplyTo::HttpFilter || filter == Some(matching::HTTP_CONNECTION_MANAGER);
    let filter = if http {
        let type_url = format!("type.googleapis.com/{HCM_TYPE}");
        let filters = json!([{"name": or_unnamed(sub_filter)}, {"name": OTHER}]);
        json!({"name": matching::HTTP_CONNECTION_MANAGER, "typed_config": {"@type": type_url, "http_filters": filters}})
    } else {
        json!({"name": filter.unwrap_or(UNNAMED)})
    };
    let port = if want.port_number == 0 { port_in(name).unwrap_or(0) } else { u64::from(want.port_number) };
    json!({
        "name": name,
        "address": {"socket_address": {"address": "0.0.0.0", "port_value": port}},
        "filter_chains": [
            {"filter_chain_match": criteria, "filters": [filter, {"name": OTHER}], "name": chain.name},
            {"filters": [{"name": OTHER}], "name": OTHER},
        ],
        "listener_filters": [{"name": or_unnamed(&want.listener_filter)}, {"name": OTHER}],
        "traffic_direction": direction(inbound),
    })
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

fn routes(object: &ObjectMatch, context: PatchContext) -> (ResourceKind, Value) {
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
    let listener = json!({
        "name": matching::VIRTUAL_INBOUND,
        "address": {"socket_address": {"address": "0.0.0.0", "port_value": 15006}},
        "filter_chains": [{"filters": [{"name": matching::HTTP_CONNECTION_MANAGER, "typed_config": manager}]}],
        "traffic_direction": "INBOUND",
    });
    (ResourceKind::Listener, listener)
}
