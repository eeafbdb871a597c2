//! EF538: a check of a gateway that requests to the same host can avoid through another listener.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::names::listed;
use crate::lint::per_run::PerRun;
use crate::lint::seen::{Seen, config_type, filter_chains};
use crate::lint::{Context, Findings, Knowledge, PatchView, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use crate::model::resource::ResourceKind;
use crate::proto::json;
use crate::proto::tree::{Origin, Tree};
use std::collections::{BTreeMap, BTreeSet, HashMap};

declare_rule! {
    /// A check or limit on one listener of a gateway, whose hosts another listener serves without it.
    ///
    /// # What it finds
    /// With config dumps of gateways: an inserted filter for authorization, authentication or rate limits, or a Lua script that answers
    /// requests with 401 or 403; an inserted route that refuses requests; and `rate_limits` of a virtual host; if a host of that listener or
    /// virtual host is also served, with routes that forward, where no such filter, route or `rate_limits` are: the port of plain HTTP
    /// beside that of HTTPS, another filter chain.
    ///
    /// # Why it matters
    /// Requests with another scheme or port reach the same workload unchecked.
    ///
    /// # How to fix
    /// Leave `portNumber`, `sni` and the port of the virtual host out of the match, or add the patch for the other listener; or
    /// let that listener only redirect to HTTPS.
    ///
    /// # References
    /// The answers of Envoy 1.38.2 on both ports.
    "EF538" "guarded-on-one-listener" Scope Warning => check,
    needs: &[Dump]
}

/// Types of HTTP filters that refuse requests.
const CHECKS: [&str; 8] = [
    ".api_key_auth.v3.ApiKeyAuth",
    ".basic_auth.v3.BasicAuth",
    ".ext_authz.v3.ExtAuthz",
    ".jwt_authn.v3.JwtAuthentication",
    ".local_ratelimit.v3.LocalRateLimit",
    ".oauth2.v3.OAuth2",
    ".ratelimit.v3.RateLimit",
    ".rbac.v3.RBAC",
];

/// What a gateway serves, collected once for all patches.
#[derive(Default)]
struct Doors {
    managers: Vec<Manager>,
    /// By route configuration.
    hosts: HashMap<String, Vec<Host>>,
}

/// An HTTP connection manager.
struct Manager {
    listener: String,
    routes: String,
    /// Types and origins of its HTTP filters.
    filters: Vec<(String, Origin)>,
}

/// A virtual host.
struct Host {
    name: String,
    domains: BTreeSet<String>,
    /// Whether a request may reach a workload.
    forwards: bool,
    /// The matches of routes that refuse requests.
    refused: BTreeSet<String>,
    /// Whether it, or one of its routes, has rate limits.
    limited: bool,
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known: PerRun<Doors> = PerRun::new();
    for view in cx.patches().filter(|view| matches!(view.patch.context, PatchContext::Gateway | PatchContext::Any)) {
        let Some(value) = view.built.and_then(|built| built.value.as_ref()) else { continue };
        let open: &dyn Fn(&PatchRun<'_, '_>) -> BTreeMap<String, BTreeSet<String>> = match view.patch.apply_to {
            ApplyTo::HttpFilter if is_check(value) || refuses_by_script(cx, &view) => {
                &|run| beside_filter(run, value, &known)
            }
            ApplyTo::VirtualHost if value.get("rate_limits").is_some() => &|run| beside_limits(run, &known),
            ApplyTo::HttpRoute if refuses(value) => &|run| beside_route(run, value, &known),
            _ => continue,
        };
        let Some(seen) = cx.seen_if(&view, |run| known_to(run) && !open(run).is_empty()).filter(Seen::certain) else {
            continue;
        };
        let found = open(&seen.runs[0]);
        let hosts: BTreeSet<&str> = found.values().flatten().map(String::as_str).collect();
        let finding = view
            .finding(
                rule,
                view.value_span(&["match"]),
                format!("{} also served without this, by {}", are(&hosts), by(&found)),
            )
            .label("not applied there")
            .help(
                "leave the port, `sni` or listener out of the match, or add this patch for the other listener as well",
            );
        out.push(seen.tell(finding));
    }
}

fn known_to(run: &PatchRun<'_, '_>) -> bool {
    run.run.knowledge == Knowledge::Dump && run.changes()
}

fn are(hosts: &BTreeSet<&str>) -> String {
    let all = listed(hosts.iter().copied(), 3);
    format!("{all} {}", if hosts.len() == 1 { "is" } else { "are" })
}

fn by(found: &BTreeMap<String, BTreeSet<String>>) -> String {
    let all = listed(found.keys().map(String::as_str), 3);
    if found.len() == 1 { format!("listener {all}") } else { format!("listeners {all}") }
}

fn is_check(filter: &Tree<'_>) -> bool {
    let kind = config_type(filter);
    CHECKS.iter().any(|check| kind.ends_with(check))
}

/// Whether a script of a filter answers requests that are not authorized.
fn refuses_by_script(cx: &Context<'_>, view: &PatchView<'_>) -> bool {
    let Some(own) = cx.value_of(view) else { return false };
    let mut scripts = cx.loadable_scripts().filter(|script| std::ptr::eq(script.value, own) && script.script.main);
    scripts.any(|script| {
        let answers = script.chunk.names.contains("envoy_on_request") && script.script.text.contains(":respond(");
        let status = ["401", "403"].iter().any(|status| script.chunk.strings.contains(status));
        // A script that looks at the port or the scheme may tell listeners apart.
        let asks = script.chunk.strings.iter().any(|text| matches!(*text, ":scheme" | "x-forwarded-proto"));
        answers && status && !asks && !script.script.text.contains("downstreamLocalAddress")
    })
}

fn refuses(route: &Tree<'_>) -> bool {
    let status = route.path(&["direct_response", "status"]).and_then(Tree::as_u64);
    status.is_some_and(|status| matches!(status, 401 | 403 | 404))
}

impl Doors {
    fn of(run: &ProxyRun<'_>) -> Doors {
        let mut doors = Doors::default();
        for (name, listener) in run.listeners_after() {
            for chain in filter_chains(&listener) {
                let filters = chain.get("filters").map(Tree::items).unwrap_or_default();
                for config in filters.iter().filter_map(|filter| filter.get("typed_config")) {
                    let config = config.readable();
                    let Some(routes) = config.path(&["rds", "route_config_name"]).and_then(Tree::as_str) else {
                        continue;
                    };
                    let filters = config.get("http_filters").map(Tree::items).unwrap_or_default();
                    let filters =
                        filters.iter().map(|filter| (config_type(filter).into_owned(), filter.origin)).collect();
                    doors.managers.push(Manager { listener: name.to_owned(), routes: routes.to_owned(), filters });
                    doors.hosts.entry(routes.to_owned()).or_insert_with(|| hosts(run, routes));
                }
            }
        }
        doors
    }

    /// Hosts with these domains that route configurations other than those guarded serve, by listener.
    fn others<'d>(
        &'d self,
        domains: &BTreeSet<&str>,
        open: impl Fn(&Manager, &Host) -> bool + 'd,
    ) -> BTreeMap<String, BTreeSet<String>> {
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for manager in &self.managers {
            for host in self.hosts.get(&manager.routes).into_iter().flatten().filter(|host| host.forwards) {
                let shared: Vec<&String> =
                    host.domains.iter().filter(|domain| domains.contains(domain.as_str())).collect();
                if !shared.is_empty() && open(manager, host) {
                    found.entry(manager.listener.clone()).or_default().extend(shared.into_iter().cloned());
                }
            }
        }
        found
    }
}

fn hosts(run: &ProxyRun<'_>, routes: &str) -> Vec<Host> {
    let Some(tree) = run.after(ResourceKind::Route, routes) else { return Vec::new() };
    let all = tree.get("virtual_hosts").map(Tree::items).unwrap_or_default();
    let host = |host: &Tree<'_>| {
        let domains = host.get("domains").map(Tree::items).unwrap_or_default();
        let routes = host.get("routes").map(Tree::items).unwrap_or_default();
        let refused = routes.iter().filter(|route| refuses(route)).filter_map(|route| route.get("match"));
        let limits = |tree: &Tree<'_>| tree.get("rate_limits").is_some();
        let limited = limits(host) || routes.iter().filter_map(|route| route.get("route")).any(limits);
        Host {
            name: host.name().to_owned(),
            domains: domains.iter().filter_map(Tree::as_str).map(without_port).collect(),
            forwards: host.str_at("require_tls") != "ALL" && routes.iter().any(|route| route.get("route").is_some()),
            refused: refused.map(json::canonical).collect(),
            limited,
        }
    };
    all.iter().map(host).collect()
}

fn without_port(domain: &str) -> String {
    let host = domain.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    host.map_or(domain, |(host, _)| host).to_ascii_lowercase()
}

/// Where the hosts behind an inserted filter are served without a filter of its type.
fn beside_filter(
    run: &PatchRun<'_, '_>,
    filter: &Tree<'_>,
    known: &PerRun<Doors>,
) -> BTreeMap<String, BTreeSet<String>> {
    let (doors, kind, own) = (known.of(run.run, Doors::of), config_type(filter), run.id.origin());
    let guarded = doors.managers.iter().filter(|manager| manager.filters.iter().any(|(_, origin)| *origin == own));
    let hosts = guarded.filter_map(|manager| doors.hosts.get(&manager.routes)).flatten();
    let domains: BTreeSet<&str> = hosts.flat_map(|host| &host.domains).map(String::as_str).collect();
    doors.others(&domains, |manager, _| !manager.filters.iter().any(|(other, _)| **other == *kind))
}

/// Where a virtual host with rate limits is served without any.
fn beside_limits(run: &PatchRun<'_, '_>, known: &PerRun<Doors>) -> BTreeMap<String, BTreeSet<String>> {
    let doors = known.of(run.run, Doors::of);
    let changed = run.trace.effects.iter().filter(|(_, effect)| effect.changes());
    let hosts = changed.filter_map(|(place, _)| {
        let hosts = doors.hosts.get(&*place.resource)?;
        hosts.iter().find(|host| place.vhost.as_deref() == Some(&host.name))
    });
    let domains: BTreeSet<&str> = hosts.flat_map(|host| &host.domains).map(String::as_str).collect();
    doors.others(&domains, |_, host| !host.limited)
}

/// Where the host of an inserted route that refuses requests is served without one for the same requests.
fn beside_route(run: &PatchRun<'_, '_>, route: &Tree<'_>, known: &PerRun<Doors>) -> BTreeMap<String, BTreeSet<String>> {
    let doors = known.of(run.run, Doors::of);
    let wanted = route.get("match").map(json::canonical).unwrap_or_default();
    let inserted = run.trace.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Inserted { .. }));
    let hosts = inserted.filter_map(|(place, _)| {
        let hosts = doors.hosts.get(&*place.resource)?;
        hosts.iter().find(|host| place.vhost.as_deref() == Some(&host.name))
    });
    let domains: BTreeSet<&str> = hosts.flat_map(|host| &host.domains).map(String::as_str).collect();
    doors.others(&domains, |_, host| !host.refused.contains(&wanted))
}
