//! EF523: a JWT filter that requires no token.

use crate::declare_rule;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::escape::one_line;
use crate::source::{Node, NodeValue, Severity};

declare_rule! {
    /// A JWT filter whose rules require no token of any request.
    ///
    /// # What it finds
    /// An added `jwt_authn` filter without `rules`, or whose rules have no `requires`, and without requirements that a
    /// route could refer to by name; a warning if no given patch refers to the requirements in `requirement_map`.
    ///
    /// # Why it matters
    /// `providers` only define how a token is verified. Without a rule that matches and requires one, the filter checks
    /// no token: every request passes.
    ///
    /// # How to fix
    /// Use `rules: [{match: {prefix: /}, requires: {provider_name: NAME}}]`, or a RequestAuthentication with an
    /// AuthorizationPolicy.
    ///
    /// # References
    /// Envoy `extensions.filters.http.jwt_authn.v3.JwtAuthentication`; tested with Envoy 1.39.3.
    "EF523" "token-never-required" Scope Error => check
}

const FILTER: &str = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";
const PER_ROUTE: &str = "envoy.extensions.filters.http.jwt_authn.v3.PerRouteConfig";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let by_route = cx.values().iter().any(|value| value.objects.iter().any(|object| object.full_name() == PER_ROUTE));
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.whole && object.full_name() == FILTER) {
            let filled = |name: &str| object.member(name).is_some_and(|member| !is_empty(&member.entry.value));
            let rules = object.member("rules").map(|member| &member.entry.value);
            let items = rules.map(Node::items).unwrap_or_default();
            let requires = |item: &Node| {
                ["requires", "requirement_name"].iter().any(|key| get(item, key).is_some_and(|one| !is_empty(one)))
            };
            if items.iter().any(requires) || filled("filter_state_rules") || (filled("requirement_map") && by_route) {
                continue;
            }
            let (span, label) = match (items, rules) {
                ([], Some(rules)) => (rules.span, "no rule"),
                ([], None) => (object.span, "no `rules`"),
                _ => (rules.map_or(object.span, |rules| rules.span), "no `requires` in any rule"),
            };
            let provider = get(object.node, "providers").and_then(|map| map.entries().first());
            let provider = provider.map_or("<provider>".into(), |entry| one_line(&entry.key));
            let mut finding = value
                .finding(rule, span, "this JWT filter requires no token: every request passes")
                .label(label)
                .note("`providers` only say how a token is verified")
                .snippet(format!("rules:\n- match: {{prefix: /}}\n  requires: {{provider_name: {provider}}}"));
            if filled("requirement_map") {
                finding = finding
                    .severity(Severity::Warning)
                    .note("no given patch asks for a requirement of `requirement_map` on a route");
            }
            out.push(finding);
        }
    }
}

fn is_empty(node: &Node) -> bool {
    match &node.value {
        NodeValue::Null => true,
        NodeValue::String(text) => text.is_empty(),
        _ => node.items().is_empty() && node.entries().is_empty(),
    }
}
