//! EF339: a setting of a virtual host that every route of it overrides.

use crate::declare_rule;
use crate::lint::context::PatchRun;
use crate::lint::seen::Seen;
use crate::lint::{Context, Findings, RuleInfo, names};
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use crate::proto::json;
use crate::proto::tree::Tree;
use std::collections::BTreeSet;

declare_rule! {
    /// A setting of a virtual host that every one of its routes overrides.
    ///
    /// # What it finds
    /// A VIRTUAL_HOST patch that sets `retry_policy` or `hedge_policy` on virtual hosts whose routes all have their own;
    /// `rate_limits` if all routes have their own and do not include those of the virtual host, or ignore them with
    /// `vh_rate_limits: IGNORE`. Without config dumps only rate limits, which no Istio API generates, and
    /// inbound virtual hosts.
    ///
    /// # Why it matters
    /// Envoy reads the setting of the virtual host only for routes without their own. istiod writes a `retry_policy` into
    /// every outbound route, also without a VirtualService, and since 1.24 into every inbound route.
    ///
    /// # How to fix
    /// HTTP_ROUTE with `route: {retry_policy: …}`, or VirtualService `http.retries`; for rate limits
    /// `route: {include_vh_rate_limits: true}`.
    ///
    /// # References
    /// Envoy `config.route.v3.VirtualHost.retry_policy`, `config.route.v3.RouteAction.rate_limits`; routes recorded from
    /// istiod 1.22 to 1.31.
    "EF339" "virtual-host-setting-overridden" Operation Warning => check,
    explains: &["EF519"]
}

/// Settings that routes override.
const SETTINGS: &[&str] = &["retry_policy", "hedge_policy", "rate_limits"];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::VirtualHost) {
        let Some(value) = view.built.and_then(|built| built.value.as_ref()) else { continue };
        for setting in SETTINGS.iter().filter(|setting| value.get(setting).is_some()) {
            let overridden = |run: &PatchRun<'_, '_>| run.changes() && overridden(run, setting);
            // Without config dumps only what no VirtualService sets: rate limits, which are those of patches, and inbound routes.
            let limits = *setting == "rate_limits";
            let everywhere = limits || view.patch.context == PatchContext::SidecarInbound;
            let seen = if everywhere { cx.seen_if(&view, overridden) } else { cx.seen(&view, overridden) };
            let known = |seen: &Seen<'_, '_>| (everywhere || seen.certain()) && seen.runs.len() == seen.attached;
            let Some(seen) = seen.filter(known) else { continue };
            let vhosts: BTreeSet<String> = seen
                .runs
                .iter()
                .flat_map(|run| &run.trace.effects)
                .filter_map(|(place, _)| place.vhost.as_deref().map(str::to_owned))
                .collect();
            let ignored = limits && seen.runs.iter().any(|run| by_routes(run, ignores));
            if ignored && local(cx) || limits && local_includes(cx) {
                continue;
            }
            let mut finding = view
                .finding(
                    rule,
                    view.value_path_span(setting),
                    if ignored {
                        "no request uses this: every route of the virtual hosts has `vh_rate_limits: IGNORE`".to_owned()
                    } else {
                        format!("no request uses this: every route of the virtual hosts has its own `{setting}`")
                    },
                )
                .label("only for routes without their own")
                .snippet(match *setting {
                    "rate_limits" if ignored => "remove vh_rate_limits, or write INCLUDE".to_owned(),
                    "rate_limits" => {
                        "let the routes include them: HTTP_ROUTE with route: {include_vh_rate_limits: true}".to_owned()
                    }
                    policy => format!(
                        "applyTo: HTTP_ROUTE\nmatch:\n  routeConfiguration:\n    vhost:\n      route:\n        action: ROUTE # not redirects\npatch:\n  operation: MERGE\n  value:\n    route:\n      {policy}: …"
                    ),
                });
            if seen.certain() {
                finding =
                    finding.note(format!("virtual hosts: {}", names::listed(vhosts.iter().map(String::as_str), 6)));
                finding = finding.objects(vhosts);
            }
            out.push(seen.tell(finding));
        }
    }
}

/// Whether a given patch has a local rate limit, which reads the actions too.
fn local(cx: &Context<'_>) -> bool {
    cx.values().iter().flat_map(|value| &value.objects).any(|object| object.short_name() == "LocalRateLimit")
}

/// Whether a given local rate limit uses the actions of virtual hosts, too, whatever the routes have.
fn local_includes(cx: &Context<'_>) -> bool {
    let mut objects = cx.values().iter().flat_map(|value| &value.objects);
    objects.any(|object| {
        let option = object.member("vh_rate_limits").filter(|_| object.short_name() == "LocalRateLimit");
        option.is_some_and(|option| option.entry.value.as_str() == Some("INCLUDE"))
    })
}

/// Whether every route of every virtual host that the patch reaches has its own setting.
fn overridden(run: &PatchRun<'_, '_>, setting: &str) -> bool {
    by_routes(run, |route| {
        let action = route.get("route");
        let included = action.and_then(|action| action.get("include_vh_rate_limits"));
        let includes = included.is_some_and(|on| json::canonical(on).contains("true")) || has_option(route, "INCLUDE");
        let own = action.and_then(|action| action.get(setting));
        let own = own.is_some_and(|own| setting != "rate_limits" || !own.items().is_empty());
        own && !(setting == "rate_limits" && includes) || setting == "rate_limits" && ignores(route)
    })
}

/// Whether a route ignores the rate limits of its virtual host.
fn ignores(route: &Tree<'_>) -> bool {
    has_option(route, "IGNORE")
}

/// Whether the global rate limit of a route has this option for the rate limits of its virtual host.
fn has_option(route: &Tree<'_>, option: &str) -> bool {
    let configs = route.get("typed_per_filter_config").map(Tree::readable);
    let configs = configs.as_deref().map(Tree::entries).unwrap_or_default();
    configs.iter().any(|(_, config)| {
        let config = config.readable();
        config.type_name().is_some_and(|name| name.ends_with(".ratelimit.v3.RateLimitPerRoute"))
            && config.str_at("vh_rate_limits") == option
    })
}

/// Whether every route that forwards, of every virtual host that the patch reaches, passes a test.
fn by_routes(run: &PatchRun<'_, '_>, test: impl Fn(&Tree<'_>) -> bool) -> bool {
    let places = run.trace.effects.iter().filter(|(_, effect)| effect.changes()).map(|(place, _)| place);
    let mut any = false;
    for place in places.filter(|place| place.vhost.is_some()) {
        let Some(vhost) = run.run.object(place) else { return false };
        for route in vhost.get("routes").map(Tree::items).unwrap_or_default() {
            // Redirects and direct responses forward nothing.
            if route.get("route").is_none() {
                continue;
            }
            if !test(route) {
                return false;
            }
            any = true;
        }
    }
    any
}
