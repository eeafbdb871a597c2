//! HTTPRoutes that own a host of a Gateway API gateway, or that route a Service for its clients: their rules are edited.

use super::kube_rule::{self, KubeRule};
use super::no_timeout;
use super::route_value::Setting;
use super::vhost::Group;
use crate::migrate::base::catalog;
use crate::migrate::base::step::{Cx, Move, has};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::{beside, waypoints};
use crate::migrate::objects::mesh::Mesh;
use crate::migrate::output::change::{Change, Choose, merge_kube_rule};
use crate::migrate::output::draft::Action;
use crate::model::envoy_filter::RouteAction;
use crate::model::inventory::{KubeGateway, Object};
use crate::model::proxy::GATEWAY_NAME_LABEL;
use crate::source::ErrorMessage;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// What a route of the Gateway API is attached to.
struct Parent<'a> {
    group: &'a str,
    kind: &'a str,
    namespace: &'a str,
    name: &'a str,
    section: Option<&'a str>,
    port: Option<u64>,
}

impl<'a> Parent<'a> {
    /// The parents of a route, with the defaults of the API.
    fn all(document: &'a Json, route: &'a Object) -> Vec<Parent<'a>> {
        let list = document["spec"]["parentRefs"].as_array().map_or(&[][..], Vec::as_slice);
        let one = |parent: &'a Json| {
            let text = |key: &str| parent[key].as_str();
            Parent {
                group: text("group").unwrap_or("gateway.networking.k8s.io"),
                kind: text("kind").unwrap_or("Gateway"),
                namespace: text("namespace").unwrap_or(&route.namespace),
                name: text("name").unwrap_or_default(),
                section: text("sectionName"),
                port: parent["port"].as_u64(),
            }
        };
        list.iter().map(one).collect()
    }

    fn is(&self, gateway: &KubeGateway) -> bool {
        self.group == "gateway.networking.k8s.io"
            && self.kind == "Gateway"
            && self.namespace == gateway.object.namespace
            && self.name == gateway.object.name
    }

    fn title(&self) -> String {
        format!("{} {}/{}", self.kind, self.namespace, self.name)
    }
}

/// The Gateway API gateways whose proxies a filter selects.
fn gateways<'a>(cx: &Cx<'a>) -> Vec<&'a KubeGateway> {
    let (filter, root) = (cx.filter, cx.mesh.root);
    let labels = filter.selector.as_ref().filter(|labels| !labels.is_empty());
    let selected = |gateway: &&KubeGateway| {
        let object = &gateway.object;
        if gateway.is_waypoint() {
            return false;
        }
        if !filter.target_refs.is_empty() {
            let named = |name: &str| name == object.name && object.namespace == filter.namespace;
            return filter.target_refs.iter().any(|target| match target.kind.as_str() {
                "Gateway" => named(&target.name),
                "GatewayClass" => target.name == gateway.class,
                _ => false,
            });
        }
        let near = filter.namespace == root || object.namespace == filter.namespace;
        let by_label = labels.is_none_or(|labels| {
            labels.len() == 1 && labels.get(GATEWAY_NAME_LABEL).is_some_and(|name| *name == object.name)
        });
        near && by_label
    };
    cx.mesh.inventory.kube_gateways.iter().map(AsRef::as_ref).filter(selected).collect()
}

fn covers(listener: &str, host: &str) -> bool {
    listener.is_empty() || listener == host || listener.strip_prefix('*').is_some_and(|suffix| host.ends_with(suffix))
}

/// The ports and hosts that a route serves on the gateways.
fn served(document: &Json, parents: &[Parent<'_>], gateways: &[&KubeGateway]) -> BTreeSet<(u32, String)> {
    let names: Vec<&str> =
        document["spec"]["hostnames"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let mut all = BTreeSet::new();
    for parent in parents {
        let listeners = gateways.iter().filter(|gateway| parent.is(gateway)).flat_map(|gateway| &gateway.listeners);
        for listener in listeners {
            let attached = parent.section.is_none_or(|name| name == listener.name)
                && parent.port.is_none_or(|port| port == u64::from(listener.port));
            if !attached || !matches!(listener.protocol.as_str(), "HTTP" | "HTTPS") {
                continue;
            }
            if names.is_empty() {
                let host = if listener.hostname.is_empty() { "*" } else { &listener.hostname };
                all.insert((listener.port, host.to_owned()));
            }
            for name in &names {
                if covers(&listener.hostname, name) {
                    all.insert((listener.port, (*name).to_owned()));
                } else if covers(name, &listener.hostname) {
                    all.insert((listener.port, listener.hostname.clone()));
                }
            }
        }
    }
    all
}

/// A route that is edited.
struct Owner<'a> {
    route: &'a Object,
    document: &'a Json,
}

impl Owner<'_> {
    fn title(&self) -> String {
        format!("{} {}/{}", self.route.kind, self.route.namespace, self.route.name)
    }

    fn rules(&self) -> &[Json] {
        self.document["spec"]["rules"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The positions of the chosen rules. A rule without a name has the one that istiod gives it.
    fn chosen(&self, choose: &Choose, reads_names: bool) -> BTreeSet<usize> {
        let fits = |at: usize, rule: &Json| match choose {
            Choose::Named(name) => match rule["name"].as_str() {
                // istiod reads the names of rules from 1.24.
                Some(own) if reads_names => own == name,
                _ => *name == format!("{}.{}.{at}", self.route.namespace, self.route.name),
            },
            _ => choose.fits(&kube_rule::as_virtual(rule)),
        };
        self.rules().iter().enumerate().filter(|(at, rule)| fits(*at, rule)).map(|(at, _)| at).collect()
    }
}

/// The routes of the Gateway API.
fn routes<'a>(cx: &Cx<'a>) -> impl Iterator<Item = Owner<'a>> + use<'a> {
    cx.mesh.index.routes().iter().map(|one| Owner { route: one.object, document: &one.document })
}

/// Edits of the HTTPRoutes that own the host (or every host) on the filter's gateways. Whether there are any; the refusal
/// if one of them cannot express the setting.
pub(in crate::migrate) fn at_gateway(
    cx: &Cx<'_>,
    found: &mut Move,
    group: &Group,
    setting: &Setting,
    choose: &Choose,
    action: RouteAction,
) -> Result<bool, ErrorMessage> {
    let owners = owners(cx, found, group);
    if owners.is_empty() {
        return Ok(false);
    }
    edit_all(cx, found, &owners, setting, choose, action)?;
    Ok(true)
}

/// The chosen rules of the HTTPRoutes that own the host (or every host) on the filter's gateways, in the form of a VirtualService.
pub(in crate::migrate) fn rules_at_gateway(cx: &Cx<'_>, group: &Group, choose: &Choose) -> Vec<Json> {
    let owners = owners(cx, &mut Move::new(&catalog::OTHER), group);
    let rules = owners.iter().flat_map(|owner| {
        let chosen = owner.chosen(choose, has(cx, NAMED));
        chosen.into_iter().filter_map(|at| owner.rules().get(at))
    });
    rules.map(kube_rule::as_virtual).collect()
}

/// The HTTPRoutes that own the host (or every host) on the filter's gateways, with what they reach beyond it.
fn owners<'a>(cx: &Cx<'a>, found: &mut Move, group: &Group) -> Vec<Owner<'a>> {
    let gateways = gateways(cx);
    let host = group.host.as_deref();
    let mut ports = BTreeSet::new();
    let mut owners: Vec<Owner<'a>> = Vec::new();
    if gateways.is_empty() {
        return owners;
    }
    for owner in routes(cx) {
        let parents = Parent::all(owner.document, owner.route);
        let served = served(owner.document, &parents, &gateways);
        let own: BTreeSet<u32> =
            served.iter().filter(|(_, one)| host.is_none_or(|host| host == one)).map(|(port, _)| *port).collect();
        if own.is_empty() {
            continue;
        }
        if owner.route.kind == "GRPCRoute" {
            found.difference(
                Kind::Behavior,
                format!("the filter also changes the routes of {}, which the edit leaves as they are", owner.title()),
            );
            continue;
        }
        ports.extend(own);
        let title = owner.title();
        let others: BTreeSet<&str> =
            served.iter().map(|(_, one)| one.as_str()).filter(|one| host.is_some_and(|host| host != *one)).collect();
        if !others.is_empty() {
            let others: Vec<&str> = others.into_iter().collect();
            broken(found, format!("{title} also applies to {}, which the filter does not change", others.join(", ")));
        }
        let foreign: Vec<String> = parents
            .iter()
            .filter(|parent| !gateways.iter().any(|gateway| parent.is(gateway)))
            .map(Parent::title)
            .collect();
        if !foreign.is_empty() {
            broken(
                found,
                format!("{title} is also attached to {}, which the filter does not change", foreign.join(", ")),
            );
        }
        owners.push(owner);
    }
    if let Some(host) = host.filter(|_| !owners.is_empty()) {
        let rest: Vec<String> = ports.difference(&group.ports).map(u32::to_string).collect();
        if rest.is_empty() {
            found.guard(Concern::Ports, State::Held, format!("the filter covers every port of {host}"));
        } else {
            broken(found, format!("port {} of {host} also gets it; the filter does not change it", rest.join(", ")));
        }
    }
    owners
}

/// The minor release from which istiod reads the name of a rule.
pub(in crate::migrate) const NAMED: u16 = 24;

/// Whether the API server accepts a name for a rule.
fn is_section(name: &str) -> bool {
    let label = |label: &str| {
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        !label.is_empty() && label.bytes().all(inner) && !label.starts_with('-') && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(label)
}

/// A rule with a redirect in the HTTPRoute that owns the host. Whether there is one.
pub(in crate::migrate) fn inserted(
    cx: &Cx<'_>,
    found: &mut Move,
    group: &Group,
    rule: &Json,
) -> Result<bool, ErrorMessage> {
    let owners = owners(cx, found, group);
    let Some(owner) = owners.first() else { return Ok(false) };
    let none = |reason: &str| Err(format!("{}: {reason}", owner.title()).into());
    let Some(redirect) = rule.get("redirect") else { return none("an HTTPRoute has no field for direct responses") };
    let matches = rule["match"].as_array().map_or(&[][..], Vec::as_slice);
    let path = matches.first().and_then(|one| one.pointer("/uri/exact")).and_then(Json::as_str);
    let (Some(path), false) =
        (path, ["headers", "withoutHeaders", "method"].iter().any(|key| matches[0].get(*key).is_some()))
    else {
        return none("istiod orders rules by what they match, so that only a rule for one exact path comes first");
    };
    if rule.get("headers").is_some() {
        return none("the headers of a redirect have no native equivalent here");
    }
    let is_same = |rule: &Json| {
        let matches = rule["matches"].as_array().map_or(&[][..], Vec::as_slice);
        matches.iter().any(|one| one["path"]["value"] == path && one["path"]["type"] == "Exact")
    };
    if owners.iter().flat_map(Owner::rules).any(is_same) {
        return none("it already has a rule for this path");
    }
    let mut native = json!({ "statusCode": redirect["redirectCode"] });
    for (from, to) in [("authority", "hostname"), ("scheme", "scheme"), ("port", "port")] {
        if let Some(value) = redirect.get(from) {
            native[to] = value.clone();
        }
    }
    if let Some(path) = redirect.get("uri") {
        native["path"] = json!({ "type": "ReplaceFullPath", "replaceFullPath": path });
    }
    if redirect.get("port").is_none()
        && redirect.get("scheme").is_none()
        && group.ports.iter().any(|port| ![80, 443].contains(port))
    {
        found.difference(Kind::Behavior, "the redirect names the port of the listener");
    }
    found.add_home("HTTPRoute", "rules.filters.requestRedirect", 0);
    let mut native = json!({
        "matches": [{ "path": { "type": "Exact", "value": path } }],
        "filters": [{ "type": "RequestRedirect", "requestRedirect": native }],
    });
    match rule["name"].as_str() {
        Some(name) if has(cx, NAMED) && is_section(name) => native["name"] = name.into(),
        _ => found.difference(
            Kind::Behavior,
            "the route has the name that istiod gives the rule, and another patch may look for it by its name",
        ),
    }
    for (kind, effect) in [
        (Kind::Metadata, "the trace span gets an operation name"),
        (Kind::Metadata, "`case_sensitive` is written out"),
        (Kind::Metadata, "istiod records which object created the route"),
    ] {
        found.difference(kind, effect);
    }
    found.actions.push(Action::Edit {
        object: ("HTTPRoute", owner.route.namespace.clone(), owner.route.name.clone()),
        change: Change::LastKubeRule(native),
    });
    Ok(true)
}

fn broken(found: &mut Move, reason: String) {
    found.difference(Kind::Behavior, reason.clone());
    found.guard(Concern::Routes, State::Broken, reason);
}

/// Edits of the HTTPRoutes that route a Service for the clients that a filter selects. Whether there are any.
pub(in crate::migrate) fn of_service(
    cx: &Cx<'_>,
    found: &mut Move,
    (host, port): (&str, u32),
    setting: &Setting,
    choose: &Choose,
    action: RouteAction,
) -> Result<bool, ErrorMessage> {
    let mut owners = Vec::new();
    for owner in routes(cx) {
        if beside::is_for_service(cx, owner.route, owner.document, host) {
            owners.push(owner);
        }
    }
    if owners.is_empty() || owners.iter().any(|owner| owner.route.kind != "HTTPRoute") {
        return Ok(false);
    }
    let home = cx.mesh.namespace_of_host(host);
    let everywhere = cx.mesh.is_mesh_wide(cx.filter);
    if !everywhere {
        // A route in another namespace than the Service's is for the clients of its own namespace only.
        let own: Vec<Owner<'_>> = owners
            .drain(..)
            .filter(|owner| {
                Some(owner.route.namespace.as_str()) == home || owner.route.namespace == cx.filter.namespace
            })
            .collect();
        let consumers = own.iter().any(|owner| Some(owner.route.namespace.as_str()) != home);
        owners = own.into_iter().filter(|owner| !consumers || Some(owner.route.namespace.as_str()) != home).collect();
    }
    if owners.is_empty() {
        return Ok(false);
    }
    let clients = (!everywhere).then_some(cx.filter.namespace.as_str());
    if let Some(other) = beside::routed_by(cx, host, clients) {
        broken(
            found,
            format!(
                "VirtualService {}/{} also routes {host}, and istiod uses only one of it and the HTTPRoutes of {host}",
                other.object.namespace, other.object.name
            ),
        );
    }
    if everywhere && !cx.mesh.exports("defaultVirtualServiceExportTo") {
        let reason = format!(
            "`meshConfig.defaultVirtualServiceExportTo` keeps the HTTPRoutes of {host} from clients of other namespaces, whose routes the filter changes"
        );
        broken(found, reason);
    }
    for owner in &owners {
        let title = owner.title();
        let producer = home.is_none_or(|home| home == owner.route.namespace);
        if Mesh::is_narrow(cx.filter) {
            broken(found, format!("{title} applies to every client, also to those that the filter does not select"));
        } else if producer && !everywhere {
            broken(
                found,
                format!(
                    "{title} applies to the clients of every namespace, not only to those of {}",
                    cx.filter.namespace
                ),
            );
        }
        let served = || waypoints::serving(&cx.mesh, host).is_none_or(|all| !all.is_empty());
        if producer && !cx.mesh.index.waypoints().is_empty() && served() {
            found.guard(
                Concern::Routes,
                State::Undecided,
                format!("a waypoint of {host} would also read {title}; the filter does not change its routes"),
            );
        }
        let mut ports = BTreeSet::new();
        for parent in Parent::all(owner.document, owner.route) {
            if !beside::is_service(cx, (parent.kind, parent.namespace, parent.name), host) {
                broken(
                    found,
                    format!("{title} is also attached to {}, which the filter does not change", parent.title()),
                );
                continue;
            }
            match (parent.port, cx.mesh.registered(host)) {
                (Some(port), _) => ports.extend(u32::try_from(port)),
                (None, Some(service)) => ports.extend(service.ports().map(|port| port.number)),
                (None, None) => found.guard(
                    Concern::Ports,
                    State::Undecided,
                    format!("{title} is for every port of {host}, whose ports are not in the input"),
                ),
            }
        }
        let rest: Vec<String> = ports.iter().filter(|one| **one != port).map(u32::to_string).collect();
        if !rest.is_empty() {
            broken(found, format!("{title} also routes port {}, which the filter does not change", rest.join(", ")));
        }
    }
    edit_all(cx, found, &owners, setting, choose, action)?;
    Ok(true)
}

/// A setting as a part of an HTTPRoute's rule, in the target release.
pub(in crate::migrate) fn native(cx: &Cx<'_>, found: &mut Move, setting: &Setting) -> Result<KubeRule, ErrorMessage> {
    let rule = kube_rule::of_setting(setting, cx.to)?;
    for (field, since) in &rule.fields {
        if !has(cx, *since) {
            return Err(format!(
                "istiod reads {field} from Istio 1.{since}; the target release is {}.{}",
                cx.to.major, cx.to.minor
            )
            .into());
        }
        found.add_home("HTTPRoute", *field, *since);
    }
    for difference in &rule.differences {
        found.difference(difference.kind, difference.effect.clone());
    }
    for note in &rule.notes {
        let note = (*note).to_owned();
        if !found.notes.contains(&note) {
            found.notes.push(note);
        }
    }
    Ok(rule)
}

fn edit_all(
    cx: &Cx<'_>,
    found: &mut Move,
    owners: &[Owner<'_>],
    setting: &Setting,
    choose: &Choose,
    action: RouteAction,
) -> Result<(), ErrorMessage> {
    let titles = || owners.iter().map(Owner::title).collect::<Vec<_>>().join(", ");
    let rule = native(cx, found, setting).map_err(|reason| format!("{}: {reason}", titles()))?;
    let mut edited = 0;
    for owner in owners {
        let mut at = owner.chosen(choose, has(cx, NAMED));
        if matches!(choose, Choose::Named(_)) {
            let fits = |rule: &Json| beside::has_action(&kube_rule::as_virtual(rule), action);
            at.retain(|at| owner.rules().get(*at).is_some_and(fits));
        }
        for rule_at in &at {
            if let Some(old) = owner.rules().get(*rule_at) {
                beside(owner, old, setting, &rule, found);
            }
        }
        let answers = |one: &Json| beside::answers(&kube_rule::as_virtual(one));
        if let Choose::Named(name) = choose
            && setting.needs_route
            && at.iter().filter_map(|at| owner.rules().get(*at)).any(answers)
        {
            let reason = beside::answering(name, &owner.title());
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Patch, State::Broken, reason);
        }
        found.spares |= *choose == Choose::Routing && owner.rules().iter().any(answers);
        if setting.needs_route
            && action == RouteAction::Any
            && *choose == Choose::Routing
            && owner.rules().iter().any(answers)
        {
            found.difference(
                Kind::Behavior,
                format!(
                    "the filter also replaces the redirects of {} with a route action that has no destination; the native object leaves them unchanged",
                    owner.title()
                ),
            );
        }
        if at.is_empty() {
            continue;
        }
        edited += 1;
        let chosen: Vec<&Json> = at.iter().filter_map(|at| owner.rules().get(*at)).collect();
        if !no_timeout::edits_kube(setting, &chosen, found) {
            continue;
        }
        found.actions.push(Action::Edit {
            object: ("HTTPRoute", owner.route.namespace.clone(), owner.route.name.clone()),
            change: Change::KubeRules { at, value: rule.value.clone() },
        });
    }
    if edited == 0 {
        let what = match choose {
            Choose::Named(name) => format!("no rule called {name}"),
            _ => "no such rule".to_owned(),
        };
        found.guard(
            Concern::Routes,
            State::Undecided,
            format!("{} has {what}: the patch matches none of its routes", titles()),
        );
    } else if found.actions.is_empty() && setting.only_ends_timeout() {
        found.homes = no_timeout::built_in(setting).homes;
    }
    Ok(())
}

/// What the rule already has that changes the meaning of the edit.
fn beside(owner: &Owner<'_>, old: &Json, setting: &Setting, rule: &KubeRule, found: &mut Move) {
    let title = owner.title();
    beside::already(&title, &kube_rule::as_virtual(old), setting, found);
    let of = |json: &Json, path: &str| json.pointer(path).cloned().filter(|value| !value.is_null());
    let backend = of(old, "/timeouts/backendRequest");
    let existing = |found: &mut Move, reason: String| {
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Existing, State::Broken, reason);
    };
    if backend.is_some() && rule.value.get("retry").is_some() && old.get("retry").is_none() {
        existing(
            found,
            format!(
                "a rule of {title} has `timeouts.backendRequest`: istiod uses it as the timeout of the request, and with `retry` as that of each try"
            ),
        );
    } else if backend.is_some() && of(&rule.value, "/timeouts/request").is_some() {
        existing(
            found,
            format!(
                "a rule of {title} has `timeouts.backendRequest`, which istiod uses instead of the timeout of the request"
            ),
        );
    }
    if of(&rule.value, "/timeouts/backendRequest").is_some() && of(old, "/timeouts/request").is_some() {
        found.guard(
            Concern::Existing,
            State::Undecided,
            format!("a rule of {title} has a timeout, and the API server rejects a longer timeout for each try"),
        );
    }
    let mut merged = old.clone();
    merge_kube_rule(&mut merged, &rule.value, &setting.fills);
    if kube_rule::is_too_long(&merged) {
        existing(
            found,
            format!(
                "a rule of {title} would have more than {} filters or headers of a kind, which the API server rejects",
                kube_rule::MOST
            ),
        );
    }
    let filters = rule.value["filters"].as_array().map_or(&[][..], Vec::as_slice);
    let prefix = filters.iter().any(|one| one.pointer("/urlRewrite/path/replacePrefixMatch").is_some());
    let matches = old["matches"].as_array().map_or(&[][..], Vec::as_slice);
    let whole = json!("PathPrefix");
    let by_prefix = matches.len() == 1 && matches[0].pointer("/path/type").unwrap_or(&whole) == &whole;
    if prefix && !(by_prefix && matches[0].get("path").is_some()) {
        existing(
            found,
            format!(
                "a rule of {title} does not have exactly one match of a path prefix, which the API server requires for `replacePrefixMatch`"
            ),
        );
    }
    for filter in filters.iter().filter(|one| one["type"] == "RequestMirror") {
        let to = &filter["requestMirror"]["backendRef"];
        if to["namespace"] != owner.route.namespace.as_str() {
            found.guard(
                Concern::Existing,
                State::Undecided,
                format!(
                    "{title} mirrors to namespace {}, which needs a ReferenceGrant there",
                    to["namespace"].as_str().unwrap_or_default()
                ),
            );
        }
    }
}
