//! EF171: a match of a whole value that is meant for a part of it.

use crate::declare_rule;
use crate::lint::value::Object;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Node;

declare_rule! {
    /// A match that compares the whole value of a header or path, where a part of it is meant.
    ///
    /// # What it finds
    /// Regular expressions without a wildcard for headers that contain more than one word says (`user-agent`, `cookie`,
    /// `authorization`), and exact values of `cookie`; regular expressions of paths that end with `/*`, and those without a wildcard in
    /// RBAC and JWT rules; `:path` with an exact value in RBAC rules that deny and in rate limits.
    ///
    /// # Why it matters
    /// Envoy matches regular expressions against the whole value: `^Bearer` accepts no token, `/api/*` only `/api` and slashes.
    /// `:path` contains the query: `/admin?x` avoids a rule for `/admin`.
    ///
    /// # How to fix
    /// `contains` and `prefix`; `.*` at the ends of the expression; `url_path` in RBAC rules.
    ///
    /// # References
    /// Envoy `type.matcher.v3.RegexMatcher` (the entire value must match), `HeaderMatcher`; the answers of Envoy 1.38.2.
    "EF171" "whole-value-match" Value Warning => check
}

/// Headers whose values contain more than what a match is about.
const LONG: [&str; 5] = ["accept", "authorization", "cookie", "referer", "user-agent"];

/// A text that is compared as a whole, with what is wrong and what to write.
type Whole<'a> = (&'a Node, String, String);

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in &value.objects {
            let found = match object.full_name() {
                "envoy.config.route.v3.HeaderMatcher" => header(object, &value.objects),
                "envoy.config.route.v3.RouteMatch" => regex(object, "safe_regex").and_then(|node| {
                    path(
                        node,
                        object.parent.is_some_and(|(_, field)| field.name() == "match")
                            && of_jwt(object, &value.objects),
                    )
                }),
                "envoy.type.matcher.v3.StringMatcher"
                    if object.parent.is_some_and(|(at, _)| {
                        value.objects[at].full_name() == "envoy.type.matcher.v3.PathMatcher"
                    }) =>
                {
                    regex(object, "safe_regex").and_then(|node| path(node, true))
                }
                _ => None,
            };
            if let Some((node, message, help)) = found {
                out.push(value.finding(rule, node.span, message).label("compared with the whole value").help(help));
            }
        }
    }
}

fn regex<'a>(object: &Object<'a>, field: &str) -> Option<&'a Node> {
    get(&object.member(field)?.entry.value, "regex")
}

/// Whether a match is that of a rule of a JWT filter.
fn of_jwt(object: &Object<'_>, objects: &[Object<'_>]) -> bool {
    object.parent.is_some_and(|(at, _)| objects[at].full_name().ends_with(".jwt_authn.v3.RequirementRule"))
}

/// What is wrong with the regular expression of a path. `guards`: a path that it does not match is unprotected.
fn path(node: &Node, guards: bool) -> Option<Whole<'_>> {
    let written = node.as_str()?;
    if let Some(below) = written.trim_end_matches('$').strip_suffix("/*") {
        let message = format!("`{written}` matches only `{below}` and slashes: `*` repeats the character before it");
        return Some((node, message, format!("regex: {below}/.*")));
    }
    let bare = written.trim_start_matches('^').trim_end_matches('$');
    let open = guards && written == bare && is_literal(bare) && bare.starts_with('/') && bare.len() > 1;
    open.then(|| {
        let message = format!("`{written}` matches only this path, not what is below it");
        (node, message, format!("regex: {bare}(/.*)?"))
    })
}

/// What is wrong with a match of a header.
fn header<'a>(object: &Object<'a>, objects: &[Object<'a>]) -> Option<Whole<'a>> {
    let name = object.text("name")?.to_ascii_lowercase();
    let matcher = object.member("string_match").map(|member| &member.entry.value);
    let exact = matcher.and_then(|it| get(it, "exact"));
    if name == ":path" {
        let node = exact?;
        let path = node.as_str().filter(|path| !path.contains('?'))?;
        let help = format!("url_path: {{path: {{exact: {path}}}}}, or prefix: {path}");
        let help = if limits(object, objects) { format!("safe_regex: {{regex: '{path}(\\?.*)?'}}") } else { help };
        let message = format!("a request for `{path}?…` does not match: `:path` contains the query");
        return (denies(object, objects) || limits(object, objects)).then_some((node, message, help));
    }
    if !LONG.contains(&name.as_str()) {
        return None;
    }
    if let Some(node) = exact.filter(|_| name == "cookie") {
        let written = node.as_str()?;
        return Some((
            node,
            format!("matches only clients whose single cookie is `{written}`"),
            format!("contains: {written}"),
        ));
    }
    let node = matcher.and_then(|it| get(get(it, "safe_regex")?, "regex"))?;
    let written = node.as_str()?;
    let bare = written.trim_start_matches('^').trim_end_matches('$').trim_matches(['(', ')']);
    let whole = written.starts_with('^') && written.ends_with('$');
    let literal = !whole && !bare.is_empty() && bare.split('|').all(is_literal);
    literal.then(|| {
        let help = format!("regex: '.*{}.*'", written.trim_start_matches('^').trim_end_matches('$'));
        (node, format!("no `{name}` of a client is only `{bare}`: the expression must match the whole value"), help)
    })
}

/// Whether a regular expression is a text without wildcards.
fn is_literal(text: &str) -> bool {
    !text.contains(['.', '*', '+', '?', '[', '(', '{', '\\', '|', '^', '$'])
}

/// Whether a condition belongs to RBAC rules that deny.
fn denies(object: &Object<'_>, objects: &[Object<'_>]) -> bool {
    let rules = object.and_above(objects).find(|object| object.full_name() == "envoy.config.rbac.v3.RBAC");
    rules.is_some_and(|rules| rules.text("action") == Some("DENY"))
}

/// Whether a condition belongs to the action of a rate limit.
fn limits(object: &Object<'_>, objects: &[Object<'_>]) -> bool {
    object.and_above(objects).any(|object| object.full_name() == "envoy.config.route.v3.RateLimit.Action")
}
