//! EF521: a patch for one host that also reaches the other hosts of a shared listener or route configuration.

use crate::declare_rule;
use crate::engine::trace::{Effect, Place};
use crate::lint::context::{PatchRun, PatchView, ProxyRun};
use crate::lint::facts::scripts::Loadable;
use crate::lint::facts::shared_hosts::{self, Hosts};
use crate::lint::per_run::PerRun;
use crate::lint::{Context, Finding, Findings, Knowledge, RuleInfo, names, walk};
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use crate::model::release::Release;
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use crate::source::escape::one_line;
use crate::source::{Node, NodeValue};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

declare_rule! {
    /// A patch of a shared listener or route configuration that is intended for one host, or not for all of them.
    ///
    /// # What it finds
    /// A LISTENER, NETWORK_FILTER, HTTP_FILTER, FILTER_CHAIN, ROUTE_CONFIGURATION or VIRTUAL_HOST patch on the outbound
    /// side or on a gateway that changes something that several hosts share, if the name of the EnvoyFilter is that of
    /// one of these hosts, or if the value contains credentials, allows other origins (CORS), switches a filter off, is merged into
    /// the routes and names another cluster, or, outbound, sets `host_rewrite_literal`.
    /// Without config dumps, the hosts are those that the input shows: of the VirtualServices bound to the Gateways that the
    /// EnvoyFilter selects, and, outbound, of the Services if there is no Sidecar; credentials or a rewritten host in all outbound
    /// requests of a sidecar are found without them too.
    ///
    /// # Why it matters
    /// The hosts of other teams are also affected: their requests carry the credentials or go to another service, they accept
    /// other origins, or their checks are off.
    ///
    /// # How to fix
    /// VIRTUAL_HOST with `vhost.name: <host>:<port>`; for filters, `typed_per_filter_config` of that virtual host; for
    /// TLS servers, `filterChain.sni`.
    ///
    /// # References
    /// istio/istio issues 44820, 18273; istio/api issue 3376. Signatures for AWS: Envoy 1.36.4 and 1.40.0, run.
    "EF521" "reaches-other-hosts" Scope Warning => check,
    explains: &["EF503"],
    policy: Never("it needs the hosts of the mesh")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    // The filters of a chain reach the same hosts.
    type Shared = (usize, ResourceKind, Arc<str>, Option<(Option<usize>, Arc<str>)>, Option<Arc<str>>);
    let mut known: HashMap<Shared, Hosts> = HashMap::new();
    let vhosts = PerRun::new();
    for view in cx.patches() {
        let Some(value) =
            view.patch.body.as_ref().and_then(|body| body.value.as_ref()).filter(|_| is_shared(view.patch.apply_to))
        else {
            continue;
        };
        let worse = sensitive(value).or_else(|| of_script(cx, &view)).or_else(|| renames(&view, value));
        let worse = worse.or_else(|| sends(&view, value));
        let mut reached = |run: &PatchRun<'_, '_>| -> Hosts {
            let places = run.trace.effects.iter().filter(|(_, effect)| effect.changes()).map(|(place, _)| place);
            let mut hosts = if worse == Some(Worse::Forwarded) { forwarded(run) } else { Hosts::new() };
            for place in places
                .filter(|place| !place.resource.starts_with("virtualInbound") && !place.resource.starts_with("inbound"))
            {
                let (address, resource) = (std::ptr::from_ref(run.run).addr(), place.resource.clone());
                let key = (address, place.kind, resource, place.chain.clone(), place.vhost.clone());
                add(&mut hosts, known.entry(key).or_insert_with(|| of_place(run.run, place, &vhosts)).clone());
            }
            hosts
        };
        let mut hosts = Hosts::new();
        let mut workloads = BTreeSet::new();
        for run in cx.on_proxies(view.filter_index, view.patch.index).filter(|run| run.run.knowledge == Knowledge::Dump)
        {
            let here = reached(&run);
            if here.len() > 1 {
                workloads.insert(run.run.label().to_owned());
                add(&mut hosts, here);
            }
        }
        let by_input = !cx.has_dumps();
        if by_input && worse != Some(Worse::Forwarded) {
            hosts = shared_hosts::of_input(cx, &view);
        }
        // A host that the value names may be a condition; an allowed origin is not.
        let own = cx.value_of(&view);
        let scripts: Vec<Loadable<'_, '_>> =
            cx.loadable_scripts().filter(|script| own.is_some_and(|own| std::ptr::eq(script.value, own))).collect();
        let conditional = || {
            worse.is_none_or(|worse| !worse.names_hosts()) && hosts.keys().any(|host| mentions(value, host, &scripts))
        };
        let everywhere = by_input && shared_hosts::are_all_outbound(cx, &view);
        if let Some(what) = worse.filter(|worse| worse.is_of_requests() && everywhere && hosts.len() < 2)
            && !conditional()
        {
            out.push(of_all(rule, &view, value, what.words()));
            continue;
        }
        if hosts.len() < 2 || conditional() {
            continue;
        }
        let meant = meant_for(&view, &hosts);
        // A match by virtual host or server name is deliberate.
        let asked = view.node(&["match", "routeConfiguration", "vhost"]).is_some()
            || view.node(&["match", "listener", "filterChain", "sni"]).is_some();
        let (message, label) = match (&meant, worse) {
            (Some(host), _) if !asked => (
                format!("this also reaches {} besides `{host}`", names::count(hosts.len() - 1, "host", "hosts")),
                worse.map_or("shared with other hosts", Worse::words),
            ),
            (_, Some(what)) => {
                (format!("all {} hosts get this: {}", hosts.len(), what.words()), "shared by several hosts")
            }
            _ => continue,
        };
        let others = hosts.keys().filter(|host| Some(*host) != meant.as_ref()).map(String::as_str);
        let example = meant.as_ref().and_then(|host| hosts.get(host)).or_else(|| hosts.values().next());
        let example = match example {
            // A host has a virtual host for each port; before 1.26 a match cannot name them all.
            Some(of) if of.len() > 1 && cx.release >= Release::minor(26) => {
                let host = hosts.iter().find(|(_, vhosts)| *vhosts == of).map_or("", |(host, _)| host);
                format!("domainName: {}", one_line(host))
            }
            Some(of) => format!("name: {}", one_line(of.first().map(String::as_str).unwrap_or_default())),
            None => continue,
        };
        let one = meant.as_ref().or_else(|| hosts.keys().next()).map_or("<host>", String::as_str);
        let help = match worse {
            Some(Worse::Forwarded) => {
                "to keep it to one host, match its listener:\nmatch:\n  listener:\n    name: <address>_<port>"
                    .to_owned()
            }
            _ => to_keep(&view, value, &example, one),
        };
        let finding = view
            .finding(rule, view.value_span(&["applyTo"]), message)
            .label(label)
            .note(format!("reached: {}", names::listed(others, 8)))
            .snippet(help)
            .objects(hosts.into_keys())
            .workloads(workloads);
        out.push(if by_input { finding.likely("the hosts are those of the objects in the input") } else { finding });
    }
}

/// How to keep a patch to one host, whose virtual host a match finds by this condition.
fn to_keep(view: &PatchView<'_>, value: &Node, condition: &str, host: &str) -> String {
    if injects(value) {
        return into_clusters(&one_line(host));
    }
    let apply_to = if view.patch.apply_to == ApplyTo::HttpRoute { "HTTP_ROUTE" } else { "VIRTUAL_HOST" };
    let help = format!(
        "to keep it to one host:\napplyTo: {apply_to}\nmatch:\n  routeConfiguration:\n    vhost:\n      {condition}"
    );
    match view.patch.apply_to {
        ApplyTo::HttpFilter => format!("{help}\nand configure the filter in typed_per_filter_config there"),
        _ => help,
    }
}

/// Whether hosts may share what a patch changes.
fn is_shared(apply_to: ApplyTo) -> bool {
    matches!(
        apply_to,
        ApplyTo::Listener
            | ApplyTo::FilterChain
            | ApplyTo::NetworkFilter
            | ApplyTo::HttpFilter
            | ApplyTo::RouteConfiguration
            | ApplyTo::VirtualHost
            | ApplyTo::HttpRoute
    )
}

/// A finding about every host that sidecars call, of which the input names none or one.
fn of_all(rule: &'static RuleInfo, view: &PatchView<'_>, value: &Node, what: &str) -> Finding {
    let help = if injects(value) {
        into_clusters("<host>")
    } else {
        let apply_to = if view.patch.apply_to == ApplyTo::HttpRoute { "HTTP_ROUTE" } else { "VIRTUAL_HOST" };
        format!(
            "to keep it to one host:\napplyTo: {apply_to}\nmatch:\n  routeConfiguration:\n    vhost:\n      name: <host>:<port>"
        )
    };
    view.finding(rule, view.value_span(&["applyTo"]), format!("every host that these sidecars call gets this: {what}"))
        .label("shared by all hosts")
        .likely("the match selects no host and no port, and no config dump was given")
        .snippet(help)
}

/// How to inject credentials into the requests to one host: the filter takes no configuration for routes.
fn into_clusters(host: &str) -> String {
    format!(
        "to keep it to one host, insert it into the upstream filters of its clusters:\napplyTo: CLUSTER\nmatch:\n  cluster:\n    service: {host}\nwith `http_filters` of HttpProtocolOptions in `typed_extension_protocol_options`"
    )
}

/// The filter that signs requests for AWS: it replaces `authorization` and adds the session token.
const SIGNING: &str = ".AwsRequestSigning";

/// Whether a value adds credentials to all requests of a listener.
fn injects(value: &Node) -> bool {
    let mut found = false;
    walk::fields(value, &mut |field| {
        found |= [".CredentialInjector", SIGNING].iter().any(|it| field.message.ends_with(it));
    });
    found
}

fn add(hosts: &mut Hosts, more: Hosts) {
    for (host, vhosts) in more {
        hosts.entry(host).or_default().extend(vhosts);
    }
}

/// The hosts that share the object at a place.
fn of_place(run: &ProxyRun<'_>, place: &Place, vhosts: &PerRun<HashSet<VirtualHost>>) -> Hosts {
    if place.kind == ResourceKind::Route {
        return match &place.vhost {
            Some(name) if vhosts.of(run, virtual_hosts).contains(&(place.resource.to_string(), name.to_string())) => {
                hosts(std::iter::once(&**name))
            }
            Some(_) => Hosts::new(),
            None => {
                run.after(ResourceKind::Route, &place.resource).map(|routes| all_hosts(&routes)).unwrap_or_default()
            }
        };
    }
    if place.kind != ResourceKind::Listener {
        return Hosts::new();
    }
    let Some(listener) = run.after(ResourceKind::Listener, &place.resource) else { return Hosts::new() };
    let chains = listener.get("filter_chains").map(Tree::items).unwrap_or_default();
    let mut found = Hosts::new();
    for (number, chain) in chains.iter().enumerate() {
        let meant = match &place.chain {
            Some((Some(index), name)) => {
                if name.is_empty() {
                    *index == number
                } else {
                    chain.name() == &**name
                }
            }
            Some((None, _)) => false,
            None => true,
        };
        if !meant {
            continue;
        }
        for filter in chain.get("filters").map(Tree::items).unwrap_or_default() {
            let Some(config) = filter.get("typed_config").map(Tree::readable) else { continue };
            let name = config.path(&["rds", "route_config_name"]).and_then(Tree::as_str);
            if let Some(routes) = name.and_then(|name| run.after(ResourceKind::Route, name)) {
                add(&mut found, all_hosts(&routes));
            }
        }
    }
    found
}

/// A route configuration and one of its virtual hosts.
type VirtualHost = (String, String);

/// The virtual hosts that there are after all patches, of the route configurations that patches changed.
fn virtual_hosts(run: &ProxyRun<'_>) -> HashSet<VirtualHost> {
    run.changed_virtual_hosts().map(|(routes, host)| (routes.to_owned(), host.name().to_owned())).collect()
}

/// The hosts of all virtual hosts.
fn all_hosts(routes: &Tree<'_>) -> Hosts {
    hosts(routes.get("virtual_hosts").map(Tree::items).unwrap_or_default().iter().map(Tree::name))
}

/// Each name of a virtual host that belongs to a host: the part before the port.
fn hosts<'n>(names: impl Iterator<Item = &'n str>) -> Hosts {
    let mut found = Hosts::new();
    for name in names {
        let host = name.rsplit_once(':').map_or(name, |(host, _)| host);
        if host.contains('.') && !host.contains('*') {
            found.entry(host.to_owned()).or_default().insert(name.to_owned());
        }
    }
    found
}

/// The one host that the EnvoyFilter is named after: its first label, or all of it, between dashes.
fn meant_for(view: &PatchView<'_>, hosts: &Hosts) -> Option<String> {
    let name = &view.filter.name;
    let words: BTreeSet<&str> = name.split(['-', '.', '_']).collect();
    let fits = |host: &&String| {
        let first = host.split('.').next().unwrap_or_default();
        let parts: Vec<&str> = first.split('-').collect();
        first.len() > 1 && !matches!(first, "www" | "api") && parts.iter().all(|part| words.contains(part))
    };
    let mut found = hosts.keys().filter(fits);
    let one = found.next()?;
    found.next().is_none().then(|| one.clone())
}

/// What makes a change worse where hosts share it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Worse {
    Credentials,
    Renamed,
    Sent,
    Forwarded,
    Origins,
    Off,
}

impl Worse {
    /// Whether a host in the value is what the requests get, not a condition.
    fn names_hosts(self) -> bool {
        matches!(self, Worse::Origins | Worse::Renamed | Worse::Sent | Worse::Forwarded)
    }

    /// Whether the requests themselves change.
    fn is_of_requests(self) -> bool {
        matches!(self, Worse::Credentials | Worse::Renamed | Worse::Sent)
    }

    fn words(self) -> &'static str {
        match self {
            Worse::Credentials => "their requests carry these credentials",
            Worse::Renamed => "their requests have this host",
            Worse::Sent => "their requests go to this cluster",
            Worse::Forwarded => "their connections go to this cluster",
            Worse::Origins => "their answers are open to these origins",
            Worse::Off => "the filter is off for them",
        }
    }
}

/// The same for a host that requests to all services of a sidecar get.
fn renames(view: &PatchView<'_>, value: &Node) -> Option<Worse> {
    let mut found = None;
    walk::fields(value, &mut |field| {
        if field.is("host_rewrite_literal") && view.patch.context == PatchContext::SidecarOutbound {
            found = Some(Worse::Renamed);
        }
    });
    found
}

/// The same for a cluster that a MERGE writes into the routes or TCP proxies of all hosts that it meets.
fn sends(view: &PatchView<'_>, value: &Node) -> Option<Worse> {
    if !view.built.is_some_and(|built| built.operation.is_merge()) {
        return None;
    }
    let names_cluster = |below: &str| {
        let object = value.entries().iter().find(|entry| walk::same(&entry.key, below));
        let is_cluster = |key: &str| walk::same(key, "cluster") || walk::same(key, "weighted_clusters");
        object.is_some_and(|object| object.value.entries().iter().any(|entry| is_cluster(&entry.key)))
    };
    match view.patch.apply_to {
        ApplyTo::HttpRoute if names_cluster("route") => Some(Worse::Sent),
        ApplyTo::NetworkFilter if names_cluster("typed_config") => Some(Worse::Forwarded),
        _ => None,
    }
}

/// The hosts to which TCP proxies sent connections before a merge, and generated clusters without a host by their names.
fn forwarded(run: &PatchRun<'_, '_>) -> Hosts {
    let mut found = Hosts::new();
    for (_, effect) in &run.trace.effects {
        let Effect::Merged(changes) = effect else { continue };
        for change in changes.iter().filter(|change| change.path.rsplit('.').next() == Some("cluster")) {
            let cluster = change.before.as_deref().unwrap_or_default().trim_matches('"');
            let host = cluster.rsplit('|').next().filter(|host| !host.is_empty());
            found.entry(host.unwrap_or(cluster).to_owned()).or_default().insert(cluster.to_owned());
        }
    }
    found.remove("");
    found
}

/// What makes a value worse where hosts share it.
fn sensitive(value: &Node) -> Option<Worse> {
    let mut found = None;
    walk::fields(value, &mut |field| {
        let what = if field.is("key")
            && (field.inside("request_headers_to_add") || field.inside("request_mutations"))
            && field.node.as_str().is_some_and(credential)
            || field.is("credential") && field.message.ends_with(".CredentialInjector")
            || field.is("service_name") && field.message.ends_with(SIGNING)
        {
            Some(Worse::Credentials)
        } else if field.is("allow_origin_string_match")
            || (field.is("key")
                && field.inside("response_headers_to_add")
                && field.node.as_str().is_some_and(|key| key.eq_ignore_ascii_case("access-control-allow-origin")))
        {
            Some(Worse::Origins)
        } else if field.is("disabled") && field.is_true() && field.inside("typed_per_filter_config") {
            Some(Worse::Off)
        } else {
            None
        };
        found = found.or(what);
    });
    found
}

/// The same for what the scripts of a value add.
fn of_script(cx: &Context<'_>, view: &PatchView<'_>) -> Option<Worse> {
    let own = cx.value_of(view)?;
    cx.loadable_scripts().filter(|script| std::ptr::eq(script.value, own)).find_map(|script| {
        let origin = |text: &&str| text.eq_ignore_ascii_case("access-control-allow-origin");
        // A script that looks at the host may be meant for one.
        let asks = script
            .chunk
            .strings
            .iter()
            .any(|text| matches!(text.to_ascii_lowercase().as_str(), ":authority" | "host" | "origin"));
        if asks {
            None
        } else if script.chunk.strings.iter().any(origin) {
            Some(Worse::Origins)
        } else if script.uses.added.iter().chain(&script.uses.set).any(|one| credential(one.name)) {
            Some(Worse::Credentials)
        } else {
            None
        }
    })
}

fn credential(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    header == "authorization"
        || header == "cookie"
        || header.contains("api-key")
        || header.contains("token")
        || header.contains("secret")
}

/// Whether a value contains a host that may be a condition; an allowed origin and a comment of a script do not count.
fn mentions(node: &Node, host: &str, scripts: &[Loadable<'_, '_>]) -> bool {
    match &node.value {
        NodeValue::String(text) => match scripts.iter().find(|one| std::ptr::eq(one.script.node, node)) {
            Some(one) => one.chunk.strings.iter().any(|text| text.contains(host)),
            None => text.contains(host),
        },
        _ => {
            node.items().iter().any(|item| mentions(item, host, scripts))
                || node.entries().iter().any(|entry| {
                    let answers = walk::same(&entry.key, "response_headers_to_add");
                    let origins = walk::same(&entry.key, "allow_origin_string_match");
                    !answers && !origins && mentions(&entry.value, host, scripts)
                })
        }
    }
}
