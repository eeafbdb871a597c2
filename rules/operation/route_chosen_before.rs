//! EF354: a route that matches a header which a filter writes after the route was chosen.

use crate::declare_rule;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::per_run::PerRun;
use crate::lint::seen::{Seen, config_type, filter_chains};
use crate::lint::walk::get;
use crate::lint::{Context, Findings, Knowledge, RuleInfo, header_options};
use crate::model::envoy_filter::ApplyTo;
use crate::model::resource::ResourceKind;
use crate::proto::json::{Style, write};
use crate::proto::tree::Tree;
use crate::source::{Node, NodeValue, Span};
use std::collections::{HashMap, HashSet};

declare_rule! {
    /// A route for a header that a filter of the same proxy writes, after Envoy has chosen the route.
    ///
    /// # What it finds
    /// With config dumps: `headers` in the match of a route, if a JWT filter (`claim_to_headers`), `ext_authz`
    /// (`allowed_upstream_headers`) or header_mutation of the given patches writes this header, and no filter of the connection manager chooses
    /// the route again: none has `clear_route_cache`, and none is Lua, `ext_proc` or an extension with code of its own.
    ///
    /// # Why it matters
    /// Envoy chooses the route before the filters run. The route is taken for what the client sent: not at all, or by everybody who
    /// knows the header.
    ///
    /// # How to fix
    /// `clear_route_cache: true` in the JWT or `ext_authz` filter. header_mutation cannot do it; a Lua filter that sets the header can.
    ///
    /// # References
    /// Envoy `JwtAuthentication`: `clear_route_cache`, `ExtAuthz.clear_route_cache`; the routes that Envoy 1.38.2 takes.
    "EF354" "route-chosen-before" Operation Warning => check,
    needs: &[Dump]
}

/// Filters that may choose the route again.
const AGAIN: [&str; 6] = [".dynamic_modules.", ".ext_proc.", ".golang.", ".lua.", ".on_demand.", ".wasm."];
const JWT: &str = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";
const AUTHZ: &str = "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz";

/// Headers that filters write, each with the name of the filter and the place.
type Written = HashMap<String, (&'static str, Span)>;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let written = written(cx);
    if written.is_empty() {
        return;
    }
    let known: PerRun<HashSet<String>> = PerRun::new();
    for value in cx.values() {
        if !matches!(value.view.patch.apply_to, ApplyTo::VirtualHost | ApplyTo::HttpRoute) {
            continue;
        }
        let matches = value.objects.iter().filter(|object| object.full_name() == "envoy.config.route.v3.RouteMatch");
        let headers = matches.filter_map(|object| object.member("headers")).flat_map(|it| it.entry.value.items());
        for name in headers.filter_map(|header| get(header, "name")) {
            let header = name.as_str().unwrap_or_default().to_ascii_lowercase();
            let Some((writer, place)) = written.get(&header) else { continue };
            let once = |run: &PatchRun<'_, '_>| {
                if run.run.knowledge != Knowledge::Dump {
                    return false;
                }
                let once = known.of(run.run, chosen_once);
                let places = run.trace.effects.iter().filter(|(_, effect)| effect.changes()).map(|(place, _)| place);
                let mut routes = places.filter(|place| place.kind == ResourceKind::Route).peekable();
                routes.peek().is_some() && routes.all(|place| once.contains(&place.resource))
            };
            let Some(seen) = cx.seen_if(&value.view, once).filter(Seen::certain) else { continue };
            let help = if *writer == "header_mutation" {
                "set the header with a Lua filter, after which Envoy chooses the route again".to_owned()
            } else {
                format!("clear_route_cache: true in the filter {writer}")
            };
            let finding = value
                .finding(rule, name.span, format!("the route is chosen before {writer} writes `{header}`"))
                .label("compared with what the client sent")
                .related(*place, "written here")
                .help(help);
            out.push(seen.tell(finding));
        }
    }
}

/// The headers that given filters write without choosing the route again.
fn written(cx: &Context<'_>) -> Written {
    let mut found = Written::new();
    let on = |node: Option<&Node>| node.is_some_and(|node| matches!(node.value, NodeValue::Bool(true)));
    for value in cx.values().iter().filter(|value| value.view.patch.apply_to == ApplyTo::HttpFilter) {
        let again = value.objects.iter().any(|object| {
            [JWT, AUTHZ, "envoy.extensions.filters.http.jwt_authn.v3.JwtProvider"].contains(&object.full_name())
                && on(object.member("clear_route_cache").map(|member| &member.entry.value))
        });
        if again {
            continue;
        }
        for object in &value.objects {
            let mut add = |node: Option<&Node>, writer: &'static str| {
                if let Some((node, name)) = node.and_then(|node| Some((node, node.as_str()?))) {
                    found.entry(name.to_ascii_lowercase()).or_insert((writer, node.span));
                }
            };
            match object.full_name() {
                "envoy.extensions.filters.http.jwt_authn.v3.JwtClaimToHeader" => {
                    add(object.member("header_name").map(|member| &member.entry.value), "jwt_authn");
                }
                "envoy.extensions.filters.http.ext_authz.v3.AuthorizationResponse" => {
                    let list = object.member("allowed_upstream_headers").map(|member| &member.entry.value);
                    let patterns = list.and_then(|list| get(list, "patterns")).map(Node::items).unwrap_or_default();
                    patterns.iter().for_each(|pattern| add(get(pattern, "exact"), "ext_authz"));
                }
                _ => header_options::of_requests(object)
                    .for_each(|option| add(header_options::key(option), "header_mutation")),
            }
        }
    }
    found
}

/// The route configurations whose routes are chosen once for each request.
fn chosen_once(run: &ProxyRun<'_>) -> HashSet<String> {
    let (mut once, mut again) = (HashSet::new(), HashSet::new());
    for listener in run.listeners_after().values() {
        for chain in filter_chains(listener) {
            let network = chain.get("filters").map(Tree::items).unwrap_or_default();
            for config in network.iter().filter_map(|filter| filter.get("typed_config")).map(Tree::readable) {
                let Some(name) = config.path(&["rds", "route_config_name"]).and_then(Tree::as_str) else { continue };
                let filters = config.get("http_filters").map(Tree::items).unwrap_or_default();
                let found = if filters.iter().any(chooses_again) { &mut again } else { &mut once };
                found.insert(name.to_owned());
            }
        }
    }
    once.retain(|name| !again.contains(name));
    once
}

fn chooses_again(filter: &Tree<'_>) -> bool {
    let kind = config_type(filter);
    let judges = kind == JWT || kind == AUTHZ;
    kind.is_empty()
        || AGAIN.iter().any(|one| kind.contains(one))
        || judges && write(filter, Style::Compact).contains("\"clear_route_cache\":true")
}
