//! EF177: a route that asks for a requirement of a JWT filter that does not exist.

use crate::declare_rule;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Node, Step};

declare_rule! {
    /// A route whose `requirement_name` the JWT filter of the same EnvoyFilter does not have.
    ///
    /// # What it finds
    /// `requirement_name` in the `PerRouteConfig` of a `jwt_authn` filter that the same EnvoyFilter adds under this name, if its
    /// `requirement_map` has no such entry.
    ///
    /// # Why it matters
    /// Envoy refuses every request of the route: 403, `Jwt verification fails: Wrong requirement_name`.
    ///
    /// # How to fix
    /// Use a name from `requirement_map`.
    ///
    /// # References
    /// Envoy `extensions.filters.http.jwt_authn.v3.PerRouteConfig`; tested with Envoy 1.38.2.
    "EF177" "token-requirement-unknown" Value Error => check
}

const FILTER: &str = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";
const PER_ROUTE: &str = "envoy.extensions.filters.http.jwt_authn.v3.PerRouteConfig";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    // Filter, its name, and the entries of its map.
    let mut filters: Option<Vec<(usize, &str, &Node)>> = None;
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == PER_ROUTE) {
            let Some(node) = object.member("requirement_name").map(|member| &member.entry.value) else { continue };
            let Some(Step::Key(key)) = object.route.last() else { continue };
            let wanted = node.as_str().unwrap_or_default();
            let filters = filters.get_or_insert_with(|| known(cx));
            let mut own = filters.iter().filter(|(of, name, _)| *of == value.view.filter_index && name == key);
            let (Some((_, _, map)), None) = (own.next(), own.next()) else { continue };
            if wanted.is_empty() || map.entries().iter().any(|entry| entry.key == wanted) {
                continue;
            }
            let names: Vec<&str> = map.entries().iter().take(6).map(|entry| entry.key.as_str()).collect();
            out.push(
                value
                    .finding(
                        rule,
                        node.span,
                        format!("`requirement_map` has no `{wanted}`: every request of this route gets 403"),
                    )
                    .label("no such requirement")
                    .related(map.span, "the requirements of this filter")
                    .help(format!("requirement_name: {}", names.join(" or "))),
            );
        }
    }
}

/// The JWT filters that patches add with a map of requirements.
fn known<'a>(cx: &Context<'a>) -> Vec<(usize, &'a str, &'a Node)> {
    let mut found = Vec::new();
    for value in cx.values() {
        let Some(name) = get(value.node, "name").and_then(Node::as_str) else { continue };
        let filter = value.objects.iter().find(|object| object.whole && object.full_name() == FILTER);
        if let Some(map) = filter.and_then(|filter| get(filter.node, "requirement_map")) {
            found.push((value.view.filter_index, name, map));
        }
    }
    found
}
