//! EF347: a redirect that ends at the same route again.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, Knowledge, PatchView, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation};
use crate::proto::tree::{Tree, Value};

declare_rule! {
    /// A redirect whose target takes the same route again.
    ///
    /// # What it finds
    /// An inserted route with `redirect` that keeps scheme, host and port, whose new path its own match accepts: `prefix: /` with
    /// `path_redirect: /login`, `prefix: /old` with `prefix_rewrite: /old/new`. With config dumps, also a route that only
    /// redirects to HTTPS, in a route configuration of a gateway's server with TLS (`https.…`). Also `host_redirect` to the host of the
    /// virtual host that the patch matches by its name.
    ///
    /// # Why it matters
    /// The client follows the redirect to the same redirect until it gives up ("too many redirects").
    ///
    /// # How to fix
    /// Insert a route for the target before it, or match only what is to be redirected.
    ///
    /// # References
    /// Envoy `RedirectAction`; the answers of Envoy 1.38.2.
    "EF347" "redirect-to-itself" Operation Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in routes(cx) {
        let Some(built) = view.built.filter(|built| built.operation == Operation::InsertFirst) else { continue };
        let Some(route) = &built.value else { continue };
        let (Some(wanted), Some(redirect)) = (wanted_by(&view), route.get("redirect")) else { continue };
        let host = redirect.str_at("host_redirect");
        let port = if host.is_empty() { None } else { port_of(&view, host) };
        if ["scheme_redirect", "port_redirect"].iter().any(|field| redirect.get(field).is_some())
            || !host.is_empty() && port.is_none()
        {
            continue;
        }
        let Some(target) = target(wanted, redirect) else { continue };
        // A route that another filter inserts may end before this one and take the target; in this filter, a later one does.
        let mut before =
            routes(cx).filter(|other| other.filter_index != view.filter_index || other.patch.index > view.patch.index);
        if before.any(|other| wanted_by(&other).is_some_and(|wanted| accepts(wanted, &target))) {
            continue;
        }
        let to_https = redirect.get("https_redirect").is_some_and(is_true);
        if to_https && port == Some(80) {
            continue;
        }
        let field = ["path_redirect", "prefix_rewrite", "host_redirect"]
            .into_iter()
            .find(|field| redirect.get(field).is_some());
        let field = format!("redirect.{}", field.unwrap_or("https_redirect"));
        let loops = format!("the redirect to `{host}{target}` takes this route again");
        let finding = view.finding(rule, view.value_path_span(&field), loops).label("the same redirect again").help(
            "insert a route for the target before this one, or give this one a match that the target does not have",
        );
        if !to_https && port != Some(443) {
            out.push(finding);
        } else if let Some(seen) = cx.seen(&view, |run| run.run.knowledge == Knowledge::Dump && over_tls(run)) {
            let finding = finding.note("the chain has TLS: requests have the scheme https already");
            let finding = if to_https {
                finding.help("patch the virtual host of the listener without TLS (vhost.name ends with :80)")
            } else {
                finding
            };
            out.push(seen.tell(finding));
        }
    }
}

fn routes<'a>(cx: &Context<'a>) -> impl Iterator<Item = PatchView<'a>> {
    cx.patches().filter(|view| view.patch.apply_to == ApplyTo::HttpRoute)
}

/// The port of the virtual host that a patch matches by name, if the host of a redirect is its own and the port the default one, so
/// that the redirect keeps it.
fn port_of(view: &PatchView<'_>, host: &str) -> Option<u16> {
    let ObjectMatch::RouteConfiguration(matched) = &view.patch.object else { return None };
    let (name, port) = matched.vhost.as_ref()?.name.rsplit_once(':')?;
    let port = port.parse().ok().filter(|port| matches!(port, 80 | 443))?;
    (name == host).then_some(port)
}

fn wanted_by<'a>(view: &PatchView<'a>) -> Option<&'a Tree<'a>> {
    view.built?.value.as_ref()?.get("match")
}

/// The path of the target, if the match accepts it whatever else the request has.
fn target(wanted: &Tree<'_>, redirect: &Tree<'_>) -> Option<String> {
    // What else the match asks for may change with the redirect.
    if wanted.entries().iter().any(|(key, _)| !matches!(&**key, "prefix" | "path" | "case_sensitive")) {
        return None;
    }
    let (prefix, path) = (wanted.str_at("prefix"), wanted.str_at("path"));
    let to = match (redirect.str_at("path_redirect"), redirect.str_at("prefix_rewrite")) {
        ("", "") if redirect.get("regex_rewrite").is_some() => return None,
        ("", "") => {
            if prefix.is_empty() {
                path
            } else {
                prefix
            }
        }
        ("", rewrite) | (rewrite, _) => rewrite,
    };
    accepts(wanted, to).then(|| to.to_owned())
}

/// Whether the path of a target is one that a match accepts.
fn accepts(wanted: &Tree<'_>, target: &str) -> bool {
    let target = target.split(['?', '#']).next().unwrap_or(target);
    match (wanted.str_at("prefix"), wanted.str_at("path")) {
        ("", "") => wanted.get("safe_regex").is_some() || wanted.get("path_separated_prefix").is_some(),
        ("", path) => target == path,
        (prefix, _) => target.starts_with(prefix),
    }
}

/// Whether the route is in a route configuration of a gateway's server with TLS, by the name that istiod gives those
/// (`gatewayRDSRouteName`).
fn over_tls(run: &PatchRun<'_, '_>) -> bool {
    let mut places = run.trace.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Inserted { .. }));
    places.any(|(place, _)| place.resource.starts_with("https."))
}

fn is_true(value: &Tree<'_>) -> bool {
    matches!(value.value, Value::Bool(true))
}
