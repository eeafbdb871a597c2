//! EF354: a route that matches a header which a filter writes after the route was chosen.

use crate::declare_rule;
use crate::lint::context::PatchRun;
use crate::lint::facts::route_choice::{self, AUTHZ, JWT};
use crate::lint::per_run::PerRun;
use crate::lint::seen::Seen;
use crate::lint::value::PatchValue;
use crate::lint::walk::get;
use crate::lint::{Context, Finding, Findings, Knowledge, RuleInfo, header_options};
use crate::model::envoy_filter::ApplyTo;
use crate::model::resource::ResourceKind;
use crate::source::escape::one_line;
use crate::source::{Node, NodeValue, Span};
use crate::words::few;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};

declare_rule! {
    /// A route for a header that a filter of the same proxy writes, after Envoy has chosen the route.
    ///
    /// # What it finds
    /// A JWT filter (`claim_to_headers`), `ext_authz` (`allowed_upstream_headers`) or header_mutation that writes a header
    /// which a route of the same connection manager matches, if no filter there chooses the route again: none has
    /// `clear_route_cache`, and none is Lua, `ext_proc` or an extension with code of its own. With config dumps, routes of
    /// patches and those that istiod generates count; without, the VirtualServices of the input.
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
    "EF354" "route-chosen-before" Operation Warning => check
}

/// A header that a filter writes without choosing the route again.
struct Written<'c, 'a> {
    header: String,
    /// The name of the filter.
    writer: &'static str,
    place: Span,
    value: &'c PatchValue<'a>,
}

impl Written<'_, '_> {
    fn finding(&self, rule: &'static RuleInfo, place: Span) -> Finding {
        let help = match self.writer {
            "header_mutation" => "set the header with a Lua filter, after which Envoy chooses the route again",
            "jwt_authn" => "clear_route_cache: true in the provider of the JWT filter",
            _ => "clear_route_cache: true in the ext_authz filter",
        };
        let header = one_line(&self.header);
        Finding::new(rule, place, format!("the route is chosen before {} writes `{header}`", self.writer)).help(help)
    }
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let written = written(cx);
    if written.is_empty() {
        return;
    }
    in_patches(rule, cx, &written, out);
    for one in &written {
        generated(rule, cx, one, out);
    }
}

/// Routes of patches.
fn in_patches(rule: &'static RuleInfo, cx: &Context<'_>, written: &[Written<'_, '_>], out: &mut Findings) {
    let known: PerRun<HashSet<String>> = PerRun::new();
    for value in cx.values() {
        if !matches!(value.view.patch.apply_to, ApplyTo::VirtualHost | ApplyTo::HttpRoute) {
            continue;
        }
        let matches = value.objects.iter().filter(|object| object.full_name() == "envoy.config.route.v3.RouteMatch");
        let headers = matches.filter_map(|object| object.member("headers")).flat_map(|it| it.entry.value.items());
        for name in headers.filter_map(|header| get(header, "name")) {
            let header = name.as_str().unwrap_or_default().to_ascii_lowercase();
            let Some(one) = written.iter().find(|one| one.header == header) else { continue };
            let once = |run: &PatchRun<'_, '_>| {
                if run.run.knowledge != Knowledge::Dump {
                    return false;
                }
                let once = known.of(run.run, route_choice::once);
                let places = run.trace.effects.iter().filter(|(_, effect)| effect.changes()).map(|(place, _)| place);
                let mut routes = places.filter(|place| place.kind == ResourceKind::Route).peekable();
                routes.peek().is_some() && routes.all(|place| once.contains(&*place.resource))
            };
            let Some(seen) = cx.seen_if(&value.view, once).filter(Seen::certain) else { continue };
            let finding = one
                .finding(rule, name.span)
                .label("compared with what the client sent")
                .related(one.place, "written here");
            out.push(seen.tell(finding));
        }
    }
}

/// Routes that istiod generates for VirtualServices.
fn generated<'c, 'a>(rule: &'static RuleInfo, cx: &'c Context<'a>, one: &Written<'c, 'a>, out: &mut Findings) {
    let view = &one.value.view;
    let services = route_choice::virtual_services(cx, view, &one.header);
    let all: RefCell<BTreeSet<String>> = RefCell::default();
    let late = |run: &PatchRun<'_, '_>| {
        let routes = match run.run.knowledge {
            Knowledge::Dump => route_choice::generated(run, &one.header),
            Knowledge::Reference if route_choice::never_again(run) => services.iter().cloned().collect(),
            Knowledge::Reference => BTreeSet::new(),
        };
        let any = !routes.is_empty();
        all.borrow_mut().extend(routes);
        any
    };
    let Some(seen) = cx.seen_if(view, late) else { return };
    let all = all.into_inner();
    let finding = one
        .finding(rule, one.place)
        .label("written after the route was chosen")
        .note(format!("compared with what the client sent: {}", few(&all, all.len(), 3)));
    out.push(seen.tell(finding));
}

/// The headers that given filters write without choosing the route again.
fn written<'c, 'a>(cx: &'c Context<'a>) -> Vec<Written<'c, 'a>> {
    let mut found: Vec<Written<'c, 'a>> = Vec::new();
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
                    let header = name.to_ascii_lowercase();
                    if !found.iter().any(|one| one.header == header && std::ptr::eq(one.value, value)) {
                        found.push(Written { header, writer, place: node.span, value });
                    }
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
