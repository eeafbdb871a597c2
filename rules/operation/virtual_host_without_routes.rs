//! EF360: a virtual host that a patch adds without routes.

use crate::declare_rule;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::names::listed;
use crate::lint::per_run::PerRun;
use crate::lint::value::{Object, PatchValue};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, Patch};
use crate::model::resource::ResourceKind;
use crate::rules::value::missing_required_field::CHANGE_EXISTING;
use crate::source::Node;
use crate::source::escape::one_line;
use std::collections::{BTreeSet, HashSet};

declare_rule! {
    /// A virtual host without routes, which answers 404 to every request for its domains.
    ///
    /// # What it finds
    /// A virtual host that a VIRTUAL_HOST ADD or the MERGE of a ROUTE_CONFIGURATION adds, without `routes` and `matcher`, if it has
    /// none after all patches either. Not a virtual host with `require_tls`, which redirects to HTTPS.
    ///
    /// # Why it matters
    /// Envoy chooses the virtual host by the domain and then looks for a route only in it. The requests no longer reach
    /// what they reached before, such as the virtual host for all domains.
    ///
    /// # How to fix
    /// Give the virtual host its routes. To change an existing virtual host, use applyTo: VIRTUAL_HOST with MERGE.
    ///
    /// # References
    /// Envoy `config_impl.cc`, `VirtualHostImpl::getRouteFromEntries`; tried with Envoy 1.39.3: 404, `route_not_found`.
    "EF360" "virtual-host-without-routes" Operation Warning => check
}

const VIRTUAL_HOST: &str = "envoy.config.route.v3.VirtualHost";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known: PerRun<HashSet<(String, String)>> = PerRun::new();
    let patched: HashSet<&str> = cx.patches().filter_map(|view| patched_host(view.patch)).collect();
    for value in cx.values().iter().filter(|value| adds(value)) {
        for object in value.objects.iter().filter(|object| object.full_name() == VIRTUAL_HOST && is_bare(object)) {
            let Some(written) = object.member("name").map(|member| &member.entry.value) else { continue };
            let Some(name) = written.as_str().filter(|name| !name.is_empty()) else { continue };
            let domains = object.member("domains").map(|member| member.entry.value.items()).unwrap_or_default();
            let domains: Vec<&str> = domains.iter().filter_map(Node::as_str).collect();
            // Another rule reports a virtual host without domains.
            if domains.is_empty() {
                continue;
            }
            // Another rule says that no patch reaches what a VIRTUAL_HOST patch adds.
            if value.view.patch.apply_to == ApplyTo::VirtualHost && patched.contains(name) {
                continue;
            }
            let empty = |run: &PatchRun<'_, '_>| {
                let known = known.of(run.run, without_routes);
                changed(run).into_iter().any(|routes| known.contains(&(routes.to_owned(), name.to_owned())))
            };
            let Some(seen) = cx.seen_if(&value.view, empty) else { continue };
            let finding = value
                .finding(rule, written.span, format!("virtual host `{}` has no routes", one_line(name)))
                .label("no `routes`")
                .note(format!("requests for {} get 404", listed(domains, 4)))
                .note("if that is intended, a route with `direct_response: {status: 404}` says so");
            out.push(seen.tell(match value.view.patch.apply_to {
                ApplyTo::RouteConfiguration => finding.help(format!("add `routes`; {CHANGE_EXISTING}")),
                _ => finding.help("add `routes`"),
            }));
        }
    }
}

/// Whether a patch adds virtual hosts to route configurations.
fn adds(value: &PatchValue<'_>) -> bool {
    let operation = value.view.built.map(|built| built.operation);
    match value.view.patch.apply_to {
        ApplyTo::VirtualHost => operation == Some(Operation::Add),
        ApplyTo::RouteConfiguration => operation.is_some_and(Operation::is_merge),
        _ => false,
    }
}

/// Whether a virtual host is given without anything that answers requests.
fn is_bare(host: &Object<'_>) -> bool {
    let is_empty = |list: &Node| list.items().is_empty();
    host.member("routes").is_none_or(|routes| is_empty(&routes.entry.value))
        && host.member("matcher").is_none()
        && host.text("require_tls").is_none_or(|tls| tls == "NONE")
}

/// The name of the virtual host whose routes a patch is for.
fn patched_host(patch: &Patch) -> Option<&str> {
    let ObjectMatch::RouteConfiguration(wanted) = &patch.object else { return None };
    let host = wanted.vhost.as_ref().filter(|_| patch.apply_to == ApplyTo::HttpRoute)?;
    Some(&host.name)
}

/// The route configurations that a patch changed.
fn changed<'r>(run: &'r PatchRun<'_, '_>) -> BTreeSet<&'r str> {
    let changed = run.trace.effects.iter().filter(|(_, effect)| effect.changes()).map(|(place, _)| place);
    changed.filter(|place| place.kind == ResourceKind::Route).map(|place| &*place.resource).collect()
}

/// The virtual hosts without routes after all patches, each with its route configuration.
fn without_routes(run: &ProxyRun<'_>) -> HashSet<(String, String)> {
    let hosts = run.changed_virtual_hosts().map(|(routes, host)| (routes, host.readable()));
    let empty = hosts.filter(|(_, host)| host.get("routes").is_none_or(|routes| routes.items().is_empty()));
    empty.map(|(routes, host)| (routes.to_owned(), host.name().to_owned())).collect()
}
