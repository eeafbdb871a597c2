//! EF531: a CORS policy that also allows origins of others.

use crate::declare_rule;
use crate::lint::value::PatchValue;
use crate::lint::walk::get;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::source::{Node, Severity};

declare_rule! {
    /// A CORS policy that also allows origins of others, or no origin at all.
    ///
    /// # What it finds
    /// In `allow_origin_string_match` of a CORS policy: `prefix` that ends inside the host, `suffix` that does not begin with
    /// a dot or `//`, `contains`, and regular expressions with `.*` beside a letter of the host. And `exact` with a path or
    /// without a scheme, which no origin equals.
    ///
    /// # Why it matters
    /// `https://example.com` as a prefix also matches `https://example.com.evil.net`, `example.com` as a suffix also matches
    /// `https://evilexample.com`: whoever registers such a name reads the answers, with `allow_credentials` as the user.
    ///
    /// # How to fix
    /// `exact: https://example.com`; for subdomains `safe_regex: {regex: 'https://([a-z0-9-]+\.)*example\.com'}`, which
    /// must match the whole origin.
    ///
    /// # References
    /// Envoy `extensions.filters.http.cors.v3.CorsPolicy`; RFC 6454, 7; tested with Envoy 1.38.2.
    "EF531" "origin-match-too-wide" Scope Warning => check
}

const POLICIES: [&str; 2] = ["envoy.config.route.v3.CorsPolicy", "envoy.extensions.filters.http.cors.v3.CorsPolicy"];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.type.matcher.v3.StringMatcher")
        {
            let of_origin = object.parent.is_some_and(|(parent, field)| {
                field.name() == "allow_origin_string_match" && POLICIES.contains(&value.objects[parent].full_name())
            });
            if !of_origin {
                continue;
            }
            let member = |name: &str| object.member(name).map(|member| &member.entry.value);
            if let Some(node) = member("exact") {
                if let Some(finding) = never(rule, value, node) {
                    out.push(finding);
                }
                continue;
            }
            let found = ["prefix", "suffix", "contains"]
                .into_iter()
                .find_map(|kind| Some((member(kind)?, foreign(kind, member(kind)?.as_str()?)?)))
                .or_else(|| {
                    let node = get(member("safe_regex")?, "regex")?;
                    Some((node, by_regex(node.as_str()?)?))
                });
            let Some((node, example)) = found else { continue };
            out.push(
                value
                    .finding(rule, node.span, format!("`{example}` also matches"))
                    .label("ends or begins inside a host")
                    .note("whoever owns that name may read the answers in the browsers of your users")
                    .snippet("exact: https://<host>\nor, with subdomains:\nsafe_regex: {regex: 'https://([a-z0-9-]+\\.)*example\\.com'}"),
            );
        }
    }
}

/// An exact origin that no browser sends.
fn never(rule: &'static RuleInfo, value: &PatchValue<'_>, node: &Node) -> Option<Finding> {
    let origin = node.as_str()?;
    if matches!(origin, "*" | "null" | "") {
        return None;
    }
    let why = match origin.split_once("://") {
        None => "an origin begins with a scheme",
        Some((_, host)) if host.contains('/') => "an origin has no path, not even a slash",
        Some((_, host)) if host.contains('*') => "`exact` knows no wildcards",
        Some(_) => return None,
    };
    let host = origin.split_once("://").map_or(origin, |(_, host)| host);
    let scheme = origin.split_once("://").map_or("https", |(scheme, _)| scheme);
    let help = match host.split_once("*.") {
        Some((_, domain)) => {
            format!("safe_regex: {{regex: '{scheme}://[a-z0-9-]+\\.{}'}}", domain.replace('.', "\\."))
        }
        None => format!("exact: {scheme}://{}", host.split('/').next().unwrap_or(host)),
    };
    let finding = value.finding(rule, node.span, format!("no origin equals `{origin}`: {why}"));
    Some(finding.severity(Severity::Error).label("matches nothing").help(help))
}

/// An origin of somebody else that a match takes.
fn foreign(kind: &str, text: &str) -> Option<String> {
    let host = |text: &str| text.split_once("://").is_some_and(|(_, host)| !host.is_empty());
    match kind {
        "prefix" if host(text) && !text.ends_with(['/', ':', '.']) => Some(format!("{text}.example.net")),
        "suffix" if !text.is_empty() && !text.starts_with(['.', '/', ':']) && !text.contains("://") => {
            Some(format!("https://other{text}"))
        }
        "contains" if text.contains('.') => Some(format!("https://{}.example.net", text.trim_matches(['/', ':', '.']))),
        _ => None,
    }
}

/// The same for a regular expression, if `.*` or `.+` stands beside a letter or digit of a host.
fn by_regex(regex: &str) -> Option<String> {
    let plain = |text: &str| text.replace("\\.", ".").replace(['^', '$', '\\'], "");
    for any in [".*", ".+"] {
        let Some((before, after)) = regex.split_once(any) else { continue };
        let simple = |part: &str| !part.contains(['(', ')', '[', ']', '|', '*', '+', '?', '{']);
        if !simple(before) || !simple(after) || !before.contains("://") && !before.trim_start_matches('^').is_empty() {
            continue;
        }
        let begins_inside = after.starts_with(|c: char| c.is_ascii_alphanumeric());
        let ends_inside = plain(after).is_empty() && before.ends_with(|c: char| c.is_ascii_alphanumeric());
        if begins_inside && after.contains('.') {
            let scheme = if before.contains("://") { plain(before) } else { "https://".to_owned() };
            return Some(format!("{scheme}other{}", plain(after)));
        }
        if ends_inside && before.contains("://") {
            return Some(format!("{}.example.net", plain(before)));
        }
    }
    None
}
