//! EF327: a patch of objects that istiod never patches on a waypoint.

use crate::declare_rule;
use crate::engine::matching;
use crate::engine::program::{BuiltPatch, Status};
use crate::engine::trace::Condition;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::names::client_virtual_host;
use crate::lint::{Context, Findings, RuleInfo, no_match};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, RouteConfigurationMatch};
use crate::model::proxy::ProxyKind;
use crate::proto::tree::Tree;

declare_rule! {
    /// A patch of objects that istiod never patches on a waypoint.
    ///
    /// # What it finds
    /// A CLUSTER MERGE or REMOVE that met no candidate on any waypoint its EnvoyFilter attaches to, and applies to
    /// nothing else; a patch of routes or virtual hosts that matches only those of a service with a VirtualService.
    /// Without config dumps: a CLUSTER patch with the name of an `inbound-vip` cluster.
    ///
    /// # Why it matters
    /// istiod never patches a waypoint's `inbound-vip` clusters, nor the routes that it generates from a VirtualService
    /// for a service of a waypoint.
    ///
    /// # How to fix
    /// Use a DestinationRule, or put the change into the VirtualService.
    ///
    /// # References
    /// istio/istio issues 57035, 43720; istiod `cluster.go`, `listener_waypoint.go`, releases 1.22 to 1.31;
    /// recorded.
    "EF327" "waypoint-never-patched" Operation Error => check,
    explains: &["EF218", "EF220", "EF221"]
}

/// How the names of a waypoint's clusters begin.
const WAYPOINT_CLUSTERS: &str = "inbound-vip|";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    routes(rule, cx, out);
    for view in cx.patches() {
        let Some(built) = view.built else { continue };
        let what = match view.patch.apply_to {
            ApplyTo::Cluster if built.operation != Operation::Add => {
                "istiod never patches the `inbound-vip` clusters of a waypoint, and it has no others that match"
            }
            _ => continue,
        };
        if cx.on_proxies(view.filter_index, view.patch.index).any(|run| run.changes()) {
            continue;
        }
        let named = |built: &BuiltPatch<'_>| {
            matching::cluster_match(&built.object).is_some_and(|want| want.name.starts_with(WAYPOINT_CLUSTERS))
        };
        if !cx.attaches_to_dump(view.filter_index) && built.status == Status::Ready && named(built) {
            let place = view.value_span(&["match", "cluster", "name"]);
            let finding = view.finding(rule, place, "istiod never patches the `inbound-vip` clusters of a waypoint");
            out.push(finding.label("a cluster of a waypoint").help("use a DestinationRule").ineffective());
            continue;
        }
        let untested = |run: &PatchRun<'_, '_>| {
            run.runs()
                && !run.run.unknown(run.id)
                && run.run.config.proxy.kind == ProxyKind::Waypoint
                && run.trace.effects.is_empty()
                && run.trace.nearest.is_none()
        };
        let Some(seen) = cx.seen(&view, untested) else { continue };
        if !seen.certain() {
            continue;
        }
        let finding = view
            .finding(rule, view.value_span(&["applyTo"]), what)
            .label("never patched on a waypoint")
            .help("use a DestinationRule");
        let finding = seen.tell(finding);
        out.push(finding.ineffective());
    }
}

/// Patches of routes that match only those generated from a VirtualService.
fn routes(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let conditions = [
        Condition::RouteConfigurationName,
        Condition::VirtualHostName,
        Condition::DomainName,
        Condition::RouteName,
        Condition::RouteAction,
    ];
    for one in no_match::at(cx, &conditions) {
        let ObjectMatch::RouteConfiguration(want) = &one.view.patch.object else { continue };
        let Some((service, config)) = one.runs.iter().find_map(|run| meant(run, want)) else { continue };
        let finding = one
            .view
            .finding(rule, one.span(), format!("istiod never patches the routes of {service} on a waypoint"))
            .label("generated from another object")
            .note(format!("istiod generates these routes from {config}, and no EnvoyFilter reaches them"))
            .help(format!("put the change into {config}"))
            .workloads(one.runs.iter().map(|run| run.label().to_owned()));
        out.push(finding.ineffective());
    }
}

/// The service and the object behind the matched routes inside a listener of a waypoint that istiod does not patch.
fn meant(run: &ProxyRun<'_>, want: &RouteConfigurationMatch) -> Option<(String, String)> {
    if run.config.proxy.kind != ProxyKind::Waypoint {
        return None;
    }
    let vhost = want.vhost.as_ref();
    let route = vhost.and_then(|vhost| vhost.route.as_ref());
    let listeners = run.listeners_after();
    let chains =
        listeners.values().flat_map(|listener| listener.get("filter_chains").map(Tree::items).unwrap_or_default());
    chains.into_iter().find_map(|chain| {
        let routes = chain
            .get("filters")?
            .items()
            .iter()
            .find_map(|filter| filter.get("typed_config")?.readable().get("route_config").cloned())?;
        let same = |wanted: &str, name: &str| wanted.is_empty() || wanted == name;
        // Elsewhere, virtual hosts are named after the service.
        let of_client = client_virtual_host(chain.name());
        if !same(&want.name, routes.name()) {
            return None;
        }
        let mut of_service = routes.get("virtual_hosts")?.items().iter().filter(|it| {
            vhost.is_none_or(|vhost| {
                let domains = it.get("domains").map(Tree::items).unwrap_or_default();
                (same(&vhost.name, it.name()) || of_client.as_deref() == Some(vhost.name.as_str()))
                    && (vhost.domain_name.is_empty()
                        || domains.iter().any(|one| one.as_str() == Some(vhost.domain_name.as_str())))
            })
        });
        of_service.find_map(|it| {
            it.get("routes")?.items().iter().find_map(|one| {
                let config = one.path(&["metadata", "filter_metadata", "istio", "config"])?.as_str()?;
                let (_, rest) = config.split_once("/namespaces/")?;
                let (namespace, rest) = rest.split_once('/')?;
                let name = rest.strip_prefix("virtual-service/")?;
                let meant = route.is_none_or(|route| same(&route.name, one.name()));
                let host = chain.name().rsplit('|').next().unwrap_or_default();
                // istiod makes one VirtualService of all routes of the Gateway API that a service has; each of their
                // rules is a route with their name and its number.
                let of_gateway_api = || {
                    let (route, _) = one.name().rsplit_once('.')?;
                    let (namespace, route) = route.split_once('.')?;
                    Some(format!("HTTPRoute (or GRPCRoute) {namespace}/{route}"))
                };
                let config =
                    if name.contains('~') { of_gateway_api()? } else { format!("VirtualService {namespace}/{name}") };
                meant.then(|| (format!("`{host}`"), config))
            })
        })
    })
}
