//! EF165: a match that no request satisfies.

use crate::declare_rule;
use crate::lint::constraint::header_name;
use crate::lint::text_match::{NoPath, path_regex, texts};
use crate::lint::value::Object;
use crate::lint::walk::get;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::source::escape::one_line;
use crate::source::{Node, Severity};

declare_rule! {
    /// A match of a route, header or host that no request satisfies.
    ///
    /// # What it finds
    /// Paths and prefixes of routes that contain a query, do not begin with a slash, or contain `*`; headers named `path`,
    /// `method`, `authority` or `scheme` without their colon, also in rate limits and hash policies; methods in lowercase, and several in one text;
    /// names of query parameters with their value;
    /// domains of virtual hosts with a scheme, a path, or a `*` that is neither first nor last. Regular expressions of paths
    /// without a slash at the beginning, with slashes around them, or with a query. Paths and principals of RBAC rules with
    /// the same mistakes or a `*`; lists of header names for `ext_authz` with capitals; origins of CORS policies with capitals,
    /// of CSRF policies with a scheme; content types of compressors with parameters or wildcards. `downstream_nodes` of faults, which compares
    /// a header that proxies of Istio do not send. Names of headers to remove with a `*`.
    ///
    /// # Why it matters
    /// Envoy compares paths without their query, and reads no wildcards in them. Pseudo headers begin with a colon, methods
    /// are in uppercase, names of headers in lowercase, and a domain is compared with the host of the request. A regular
    /// expression must match the whole value.
    ///
    /// # How to fix
    /// `query_parameters` for a query, `prefix: /api/` for everything below; `:path`; `domains: [shop.example.com]`.
    ///
    /// # References
    /// Envoy `config.route.v3.RouteMatch`, `HeaderMatcher`, `VirtualHost.domains`; each tested with Envoy 1.38.2.
    "EF165" "match-never-true" Value Error => check
}

const PSEUDO: [&str; 4] = ["authority", "method", "path", "scheme"];
/// Messages that name a header of the request, each with the field.
const HEADERS: [(&str, &str); 3] = [
    ("envoy.config.route.v3.HeaderMatcher", "name"),
    ("envoy.config.route.v3.RateLimit.Action.RequestHeaders", "header_name"),
    ("envoy.config.route.v3.RouteAction.HashPolicy.Header", "header_name"),
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    nodes(rule, cx, out);
    for value in cx.values() {
        for object in &value.objects {
            let vain = texts(object, &value.objects).into_iter();
            out.extend(
                vain.map(|text| {
                    value.finding(rule, text.node.span, text.message).label("equals nothing").help(text.help)
                }),
            );
            out.extend(removed(object).into_iter().map(|(node, name)| {
                let (start, rest) = name.split_once('*').unwrap_or((name, ""));
                let help = match (start, rest) {
                    (start, "") if !start.is_empty() => format!(
                        "name each header, or let an HTTP filter header_mutation remove them:\nremove_on_match: {{key_matcher: {{prefix: {}}}}}", one_line(start)
                    ),
                    _ => "name each header".to_owned(),
                };
                value
                    .finding(rule, node.span, format!("no header is named `{name}`: this removes none"))
                    .severity(Severity::Warning)
                    .label("a name, not a pattern")
                    .snippet(help)
            }));
            let node = |name: &str| object.member(name).map(|member| &member.entry.value);
            let mut report = |node: &Node, message: String, help: String, severity: Severity| {
                let finding: Finding =
                    value.finding(rule, node.span, message).label("matches no request").snippet(help);
                out.push(finding.severity(severity));
            };
            if let Some((_, field)) = HEADERS.iter().find(|(message, _)| *message == object.full_name())
                && let Some(named) = node(field)
            {
                let name = named.as_str().unwrap_or_default().to_ascii_lowercase();
                if PSEUDO.contains(&name.as_str()) {
                    let message = format!("requests have no header `{name}`: the pseudo header is `:{name}`");
                    report(named, message, format!("{field}: \":{name}\""), Severity::Error);
                } else if name == ":method"
                    && let Some(exact) =
                        node("string_match").and_then(|it| get(it, "exact")).or_else(|| node("exact_match"))
                    && let Some(methods) = exact.as_str().filter(|text| text.contains([',', '|', ' ']))
                {
                    let message = format!("no request has the method `{methods}`: a request has one");
                    let all: Vec<&str> = methods.split([',', '|', ' ']).filter(|one| !one.is_empty()).collect();
                    report(
                        exact,
                        message,
                        format!("safe_regex: {{regex: {}}}", one_line(&all.join("|"))),
                        Severity::Error,
                    );
                } else if name == ":method"
                    && let Some(exact) =
                        node("string_match").and_then(|it| get(it, "exact")).or_else(|| node("exact_match"))
                    && let Some(method) = exact.as_str().filter(|text| text.chars().any(|c| c.is_ascii_lowercase()))
                {
                    let upper = method.to_ascii_uppercase();
                    let message = format!("no request has the method `{method}`: methods are in uppercase");
                    report(exact, message, format!("exact: {}", one_line(&upper)), Severity::Error);
                }
            }
            if object.full_name() == "envoy.config.route.v3.RouteMatch" {
                let regex = node("safe_regex").and_then(|regex| get(regex, "regex"));
                if let Some((written, (message, help))) = regex.and_then(|it| Some((it, path_regex(it.as_str()?)?))) {
                    report(written, message, help, Severity::Error);
                }
                for field in ["path", "prefix", "path_separated_prefix"] {
                    let Some(written) = node(field) else { continue };
                    if let Some((message, help, severity)) = path(written.as_str().unwrap_or_default(), field) {
                        report(written, message, help, severity);
                    }
                }
            }
            if object.full_name() == "envoy.config.route.v3.QueryParameterMatcher"
                && let Some(named) = node("name")
                && let Some((name, wanted)) = named.as_str().and_then(|name| name.split_once('='))
            {
                let message =
                    format!("no query parameter is named `{name}={wanted}`: the value is not part of the name");
                let help = format!("name: {}\nstring_match: {{exact: {}}}", one_line(name), one_line(wanted));
                report(named, message, help, Severity::Error);
            }
            if object.full_name() == "envoy.config.route.v3.VirtualHost" {
                for domain in node("domains").map(Node::items).unwrap_or_default() {
                    if let Some((message, help)) = host(domain.as_str().unwrap_or_default()) {
                        report(domain, message, help, Severity::Error);
                    }
                }
            }
        }
    }
}

/// Headers to remove that are written as patterns.
fn removed<'a>(object: &Object<'a>) -> Vec<(&'a Node, &'a str)> {
    let member = |field: &str| object.member(field).map(|member| &member.entry.value);
    let lists = ["request_headers_to_remove", "response_headers_to_remove"].into_iter().filter_map(member);
    let one = (object.full_name() == "envoy.config.common.mutation_rules.v3.HeaderMutation").then(|| member("remove"));
    let named = lists.flat_map(Node::items).chain(one.flatten());
    // Another rule reports what cannot be the name of a header at all.
    let pattern = |name: &&str| name.contains('*') && header_name(name, true);
    named.filter_map(|node| Some((node, node.as_str().filter(pattern)?))).collect()
}

/// Faults for the proxies that a request comes from.
fn nodes(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut named: Option<bool> = None;
    let objects = || cx.values().iter().flat_map(|value| value.objects.iter().map(move |object| (value, object)));
    let faults = objects().filter(|(_, it)| it.full_name() == "envoy.extensions.filters.http.fault.v3.HTTPFault");
    for (value, nodes) in faults.filter_map(|(value, fault)| Some((value, fault.member("downstream_nodes")?))) {
        let sends = || objects().any(|(_, object)| object.member("add_user_agent").is_some());
        if nodes.entry.value.items().is_empty() || *named.get_or_insert_with(sends) {
            continue;
        }
        out.push(
            value
                .finding(
                    rule,
                    nodes.entry.key_span,
                    "no proxy of Istio sends `x-envoy-downstream-service-node`, which this compares",
                )
                .severity(Severity::Warning)
                .label("matches no request")
                .snippet("headers:\n- name: <header of the requests that get the fault>\n  string_match: {exact: …}"),
        );
    }
}

/// What is wrong with a path or prefix.
fn path(written: &str, field: &str) -> Option<(String, String, Severity)> {
    Some(match NoPath::of(written)? {
        NoPath::Query(path, query) => {
            let name = query.split('=').next().unwrap_or(query);
            (
                format!("`{written}` matches no path: Envoy compares paths without the query"),
                format!(
                    "{field}: {}\nquery_parameters:\n- name: {}\n  present_match: true",
                    one_line(path),
                    one_line(name)
                ),
                Severity::Error,
            )
        }
        NoPath::NoSlash => (
            format!("`{written}` matches no path: paths begin with a slash"),
            format!("{field}: /{}", one_line(written)),
            Severity::Error,
        ),
        NoPath::Star(star) => {
            let help = if written.ends_with("/*") {
                format!("prefix: {}", one_line(&written[..star]))
            } else {
                "safe_regex: {regex: …}, which must match the whole path".to_owned()
            };
            (format!("`*` in `{written}` is not a wildcard"), help, Severity::Warning)
        }
    })
}

/// What is wrong with a domain.
fn host(domain: &str) -> Option<(String, String)> {
    if let Some((_, rest)) = domain.split_once("://") {
        let host = rest.split('/').next().unwrap_or(rest);
        return Some((format!("no host equals `{domain}`: a domain has no scheme"), one_line(host).into_owned()));
    }
    if let Some((host, _)) = domain.split_once('/') {
        return Some((format!("no host equals `{domain}`: a domain has no path"), one_line(host).into_owned()));
    }
    let inside = domain.trim_start_matches('*').trim_end_matches('*');
    inside.contains('*').then(|| {
        (
            format!("no host equals `{domain}`: `*` is a wildcard only at the beginning or at the end"),
            "*.example.com".to_owned(),
        )
    })
}
