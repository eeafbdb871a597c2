//! EF161: a rewrite that gives a path nobody wants.

use crate::declare_rule;
use crate::lint::context::PatchRun;
use crate::lint::seen::Seen;
use crate::lint::value::{Object, PatchValue};
use crate::lint::walk::get;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::source::Node;
use crate::source::escape::one_line;

declare_rule! {
    /// A rewrite of the path that leaves `$1` in it, or joins it with two slashes or with none.
    ///
    /// # What it finds
    /// `regex_rewrite` with `$1` in its substitution, or with a reference to a group that its pattern does not have;
    /// `host_redirect`, `path_redirect` or `host_rewrite_literal` with a scheme; `prefix_rewrite` of a route, or the `path` of a
    /// health check that does not begin with a slash; a prefix and its rewrite of which only one ends with a slash; a `prefix_rewrite`
    /// of a route whose regular expression leaves the end of the path open. For a MERGE the prefix is the one that a config dump shows.
    ///
    /// # Why it matters
    /// RE2 writes groups as `\1`: `/$1` becomes the path itself, and a group that does not exist switches the rewrite off.
    /// Envoy replaces the prefix as text: `/api` rewritten to `/` turns `/api/x` into `//x`, `/` rewritten to `/v2` turns
    /// `/x` into `/v2x`. A regular expression matches the whole path, and all of it is replaced.
    ///
    /// # How to fix
    /// `substitution: '/\1'`; let both end with a slash, or neither.
    ///
    /// # References
    /// Envoy `RouteAction` and `RedirectAction`: `prefix_rewrite`, `regex_rewrite`; tested with Envoy 1.38.2 and 1.39.3.
    "EF161" "rewrite-breaks-path" Value Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in &value.objects {
            match object.full_name() {
                "envoy.type.matcher.v3.RegexMatchAndSubstitute" => {
                    let Some(substitution) = object.member("substitution") else { continue };
                    let node = &substitution.entry.value;
                    let written = node.as_str().unwrap_or_default();
                    let pattern = object.member("pattern").and_then(|it| get(&it.entry.value, "regex")?.as_str());
                    let groups = pattern.map(groups);
                    if let Some(digit) = dollar(written) {
                        out.push(
                            value
                                .finding(rule, node.span, format!("`${digit}` stays in the path as it is"))
                                .label("not a reference to a group")
                                .note("RE2 writes references as \\1")
                                .help(format!("substitution: '{}'", written.replace('$', "\\"))),
                        );
                    } else if let (Some(last), Some(groups)) = (references(written).max(), groups)
                        && last > groups
                    {
                        out.push(
                            value
                                .finding(rule, node.span, format!("the pattern has no group {last}"))
                                .label("the path stays as it is")
                                .note("RE2 rewrites nothing when the substitution names a group that the pattern lacks")
                                .help("add parentheses to the pattern, or refer to a group that it has"),
                        );
                    }
                }
                "envoy.config.route.v3.RedirectAction" => {
                    if let Some((host, name)) = with_scheme(object, "host_redirect") {
                        let written = host.as_str().unwrap_or_default();
                        out.push(
                            value
                                .finding(rule, host.span, format!("clients are sent to `http://{written}/…`"))
                                .label("a host, not a URL")
                                .snippet(format!("host_redirect: {}\nhttps_redirect: true", one_line(name))),
                        );
                    }
                    if let Some((node, host)) = with_scheme(object, "path_redirect") {
                        let written = node.as_str().unwrap_or_default();
                        let path = written.split_once(host).map_or("", |(_, path)| path);
                        out.push(
                            value
                                .finding(rule, node.span, format!("clients are sent to `http://<host>/{written}`"))
                                .label("a path, not a URL")
                                .snippet(format!(
                                    "host_redirect: {}\npath_redirect: {}\nhttps_redirect: true",
                                    one_line(host),
                                    one_line(path)
                                )),
                        );
                    }
                    out.extend(prefix_rewrite(rule, cx, value, object));
                }
                "envoy.config.core.v3.HealthCheck.HttpHealthCheck" => {
                    if let Some((node, path)) = without_slash(object, "path") {
                        out.push(
                            value
                                .finding(
                                    rule,
                                    node.span,
                                    format!("the health check asks for `GET {path}`, which is not a path"),
                                )
                                .label("without its slash")
                                .note("most servers answer 400, and Envoy takes every endpoint out of service")
                                .help(format!("path: /{path}")),
                        );
                    }
                }
                "envoy.config.route.v3.RouteAction" => {
                    if let Some((host, name)) = with_scheme(object, "host_rewrite_literal") {
                        let written = host.as_str().unwrap_or_default();
                        out.push(
                            value
                                .finding(rule, host.span, format!("the server gets `host: {written}`"))
                                .label("a host, not a URL")
                                .help(format!("host_rewrite_literal: {name}")),
                        );
                    }
                    out.extend(prefix_rewrite(rule, cx, value, object));
                }
                _ => {}
            }
        }
    }
}

/// A field with a path that does not begin with a slash.
fn without_slash<'a>(object: &Object<'a>, field: &str) -> Option<(&'a Node, &'a str)> {
    let node = &object.member(field)?.entry.value;
    let path = node.as_str().filter(|path| !path.is_empty() && !path.starts_with('/'))?;
    Some((node, path))
}

/// A field that is a host but is written as a URL, with the host in it.
fn with_scheme<'a>(object: &Object<'a>, field: &str) -> Option<(&'a Node, &'a str)> {
    let host = &object.member(field)?.entry.value;
    let (_, rest) = host.as_str()?.split_once("://")?;
    Some((host, rest.split('/').next().unwrap_or(rest)))
}

/// A new prefix that does not fit the old one.
fn prefix_rewrite<'a>(
    rule: &'static RuleInfo,
    cx: &Context<'a>,
    value: &PatchValue<'a>,
    object: &Object<'a>,
) -> Option<Finding> {
    let rewrite = object.member("prefix_rewrite").map(|member| &member.entry.value)?;
    let to = rewrite.as_str().filter(|to| !to.is_empty())?;
    let route = object.parent.map(|(parent, _)| &value.objects[parent]);
    let own = route.and_then(|route| prefix(&route.member("match")?.entry.value).map(str::to_owned));
    let of_merge = || {
        if value.view.patch.apply_to != ApplyTo::HttpRoute {
            return None;
        }
        let seen = cx.seen(&value.view, |run| joined(run, to).is_some()).filter(Seen::certain)?;
        seen.runs.first().and_then(|run| joined(run, to))
    };
    let open = || route.filter(|_| object.full_name() == "envoy.config.route.v3.RouteAction").and_then(open_regex);
    if let Some(regex) = open().filter(|_| to.starts_with('/')) {
        return Some(
            value
                .finding(rule, rewrite.span, format!("every path that matches `{regex}` becomes `{to}`"))
                .label("a regular expression matches the whole path")
                .snippet("keep the rest with a group:\nregex_rewrite: {pattern: {regex: '^/old/(.*)$'}, substitution: '/new/\\1'}"),
        );
    }
    let message = if to.starts_with('/') {
        match own {
            Some(prefix) => join(&prefix, to),
            None => of_merge(),
        }
    } else {
        // In a redirect, Envoy adds the slash.
        let route = object.full_name() == "envoy.config.route.v3.RouteAction";
        route.then(|| format!("the path does not begin with a slash: `{to}…`"))
    }?;
    Some(
        value
            .finding(rule, rewrite.span, message)
            .label("Envoy replaces the prefix as text")
            .snippet("let the prefix and its rewrite both end with a slash, or neither; for both /api and /api/x:\nregex_rewrite: {pattern: {regex: '^/api/?(.*)$'}, substitution: '/\\1'}"),
    )
}

/// The regular expression of a route's match, if it leaves the end of the path open.
fn open_regex<'a>(route: &Object<'a>) -> Option<&'a str> {
    let wanted = &route.member("match")?.entry.value;
    let regex = get(get(wanted, "safe_regex")?, "regex")?.as_str()?;
    let end = regex.trim_end_matches(['$', ')', '?']);
    (end.ends_with(".*") || end.ends_with(".+")).then_some(regex)
}

/// The prefix of a route's match.
fn prefix(wanted: &Node) -> Option<&str> {
    get(wanted, "prefix").or_else(|| get(wanted, "path_separated_prefix"))?.as_str()
}

/// What a route of a proxy makes of a path with this rewrite, if that is wrong.
fn joined(run: &PatchRun<'_, '_>, to: &str) -> Option<String> {
    let mut places = run.trace.effects.iter().filter(|(_, effect)| effect.changes()).map(|(place, _)| place);
    places.find_map(|place| {
        run.run.with_object(place, |route| {
            let wanted = route.get("match")?;
            let prefix = ["prefix", "path_separated_prefix"].into_iter().map(|key| wanted.str_at(key));
            join(prefix.into_iter().find(|prefix| !prefix.is_empty())?, to)
        })
    })
}

/// What is wrong with the path after a prefix was replaced.
fn join(prefix: &str, to: &str) -> Option<String> {
    match (prefix.ends_with('/'), to.ends_with('/')) {
        (false, true) => Some(format!("`{prefix}/x` becomes `{to}/x`")),
        (true, false) => Some(format!("`{prefix}x` becomes `{to}x`")),
        _ => None,
    }
}

/// The number of the first reference that is written with a dollar.
fn dollar(substitution: &str) -> Option<char> {
    let (_, rest) = substitution.split_once('$')?;
    rest.chars().next().filter(char::is_ascii_digit).or_else(|| dollar(rest))
}

/// The groups that a substitution refers to.
fn references(substitution: &str) -> impl Iterator<Item = u32> {
    let mut escaped = false;
    substitution.chars().filter_map(move |c| {
        let reference = escaped.then(|| c.to_digit(10)).flatten();
        escaped = !escaped && c == '\\';
        reference
    })
}

/// The number of groups in a regular expression.
fn groups(pattern: &str) -> u32 {
    let (mut groups, mut escaped, mut in_set) = (0, false, false);
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_set = true,
            ']' => in_set = false,
            '(' if !in_set => {
                let named = || pattern.contains("(?P<") || pattern.contains("(?<");
                groups += u32::from(rest.peek() != Some(&'?') || named());
            }
            _ => {}
        }
    }
    groups
}
