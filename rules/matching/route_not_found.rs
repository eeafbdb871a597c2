//! EF221: no route has that name or action.

use crate::declare_rule;
use crate::engine::trace::Condition;
use crate::lint::finding::Finding;
use crate::lint::no_match::NoMatch;
use crate::lint::{Context, Findings, RuleInfo, no_match};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, PatchContext};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use crate::words::template_in;
use std::cell::LazyCell;

declare_rule! {
    /// `vhost.route.name` or `action` that no route has.
    ///
    /// # What it finds
    /// A route that none of the matched virtual hosts has. Without config dumps: one that
    /// another patch removes, or renames at the wrong time, and any name but `default` on the inbound side of a sidecar.
    ///
    /// # Why it matters
    /// The patch does nothing. A route has the name of its `http` entry in the VirtualService (none if that has no
    /// name), and `default` if no VirtualService applies.
    ///
    /// # How to fix
    /// Name the route in the VirtualService, and write that name.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter/rc_patch.go`.
    "EF221" "route-not-found" Matching Error => check
}

/// Names that no route of a sidecar's inbound side has in any mesh, unless a patch adds it.
fn never_inbound(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let added = LazyCell::new(|| no_match::added(cx, ApplyTo::HttpRoute));
    for view in cx.patches().filter(|view| view.patch.context == PatchContext::SidecarInbound) {
        let ObjectMatch::RouteConfiguration(want) = &view.patch.object else { continue };
        let Some(vhost) = &want.vhost else { continue };
        let name = vhost.route.as_ref().map_or("", |route| &route.name);
        // Routes of a waypoint come from VirtualServices. It has no such names.
        let of_sidecar =
            vhost.name.starts_with("inbound|http|") || [&want.name, name].iter().any(|it| it.starts_with("inbound|"));
        let known = matches!(name, "" | "default") || template_in(name).is_some() || added.contains(name);
        if known || !of_sidecar || cx.attaches_to_dump(view.filter_index) {
            continue;
        }
        let span = view.value_span(&["match", "routeConfiguration", "vhost", "route", "name"]);
        out.push(
            view.finding(rule, span, format!("no inbound route is named `{name}`"))
                .label("not a name of the inbound side")
                .ineffective()
                .likely("istiod names every inbound route of a sidecar `default`, since VirtualServices apply where requests are sent")
                .help("leave `route.name` out for all inbound requests, or write context: SIDECAR_OUTBOUND on the proxies that send them"),
        );
    }
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    never_inbound(rule, cx, out);
    for one in no_match::at(cx, &[Condition::RouteName, Condition::RouteAction]) {
        let ObjectMatch::RouteConfiguration(want) = &one.view.patch.object else { continue };
        let Some(route) = want.vhost.as_ref().and_then(|vhost| vhost.route.as_ref()) else { continue };
        let message = match one.nearest {
            Some(Condition::RouteAction) => "no route here has this action".to_owned(),
            _ => format!("no route here is named `{}`", route.name),
        };
        let finding = one.finding(cx, rule, "route", message);
        if one.view.patch.context == PatchContext::SidecarInbound && one.nearest == Some(Condition::RouteName) {
            out.push(inbound(&one, &route.name, finding));
            continue;
        }
        out.push(match one.like(&route.name) {
            Some(like) if one.nearest == Some(Condition::RouteName) => finding.help(format!("name: {like}")),
            _ => finding,
        });
    }
}

/// Routes of a workload's own requests never come from a VirtualService.
fn inbound(one: &NoMatch<'_, '_>, name: &str, finding: Finding) -> Finding {
    let finding =
        finding.note("VirtualServices apply where requests are sent: istiod names every inbound route `default`");
    let has = |routes: &Tree<'_>| {
        let vhosts = routes.get("virtual_hosts").map(Tree::items).unwrap_or_default();
        vhosts.iter().filter_map(|vhost| vhost.get("routes")).flat_map(Tree::items).any(|route| route.name() == name)
    };
    let outbound = one.runs.iter().any(|run| {
        let mut routes = run.config.generated(ResourceKind::Route);
        routes.any(|(_, one)| run.before(ResourceKind::Route, &one.name).is_some_and(|routes| has(&routes)))
    });
    finding.help(if outbound {
        "leave `route.name` out for all inbound requests, or write context: SIDECAR_OUTBOUND: there this proxy has a route of that name"
    } else {
        "leave `route.name` out for all inbound requests, or select the proxies that send them, with context: SIDECAR_OUTBOUND"
    })
}
