//! EF179: a response header with a value that browsers ignore.

use crate::declare_rule;
use crate::lint::walk::get;
use crate::lint::{Context, Finding, Findings, RuleInfo, header_options};
use crate::source::Node;

declare_rule! {
    /// A response header whose value no browser accepts.
    ///
    /// # What it finds
    /// In headers that routes, header_mutation or Lua give to responses: `access-control-allow-origin` with several origins, a
    /// wildcard inside an origin, a path or without a scheme; `max-age` and `s-maxage` of `cache-control`, and `max-age` of
    /// `strict-transport-security`, with a unit or a colon; `strict-transport-security` without `max-age`.
    ///
    /// # Why it matters
    /// Browsers compare `access-control-allow-origin` with their origin as it is, and read ages as seconds: the page is refused, the
    /// response is not cached, HTTPS is not enforced.
    ///
    /// # How to fix
    /// A CORS policy with `allow_origin_string_match`, which answers with the origin of the request; `max-age=3600`.
    ///
    /// # References
    /// WHATWG Fetch, "CORS check"; RFC 9111, 5.2; RFC 6797, 6.1.
    "EF179" "response-header-ignored" Value Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in &value.objects {
            for header in header_options::of_responses(object).iter().filter_map(|option| get(option, "header")) {
                let (Some(name), Some(node)) = (get(header, "key").and_then(Node::as_str), get(header, "value")) else {
                    continue;
                };
                if let Some(wrong) = ignored(name, node.as_str().unwrap_or_default()) {
                    out.push(tell(value.finding(rule, node.span, wrong.0), wrong.1));
                }
            }
        }
    }
    for script in cx.loadable_scripts() {
        for (name, text) in &script.uses.texts {
            if let Some(wrong) = ignored(name, text) {
                out.push(tell(script.value.finding(rule, script.script.node.span, wrong.0), wrong.1));
            }
        }
    }
}

fn tell(finding: Finding, help: String) -> Finding {
    finding.label("ignored").snippet(help)
}

/// What is wrong with the value of a header, and what to write.
fn ignored(name: &str, text: &str) -> Option<(String, String)> {
    if text.contains('%') {
        return None;
    }
    match name.to_ascii_lowercase().as_str() {
        "access-control-allow-origin" => origin(text.trim()),
        "cache-control" => age(text, &["max-age", "s-maxage"]),
        "strict-transport-security" => age(text, &["max-age"]).or_else(|| no_age(text)),
        _ => None,
    }
}

fn origin(text: &str) -> Option<(String, String)> {
    if matches!(text, "" | "*" | "null") {
        return None;
    }
    let policy = "a CORS policy, which compares the origin and answers with it:\nallow_origin_string_match:\n- exact: https://app.example.com";
    if text.contains([',', ' ']) {
        return Some((format!("browsers accept one origin, not `{text}`"), policy.to_owned()));
    }
    if text.contains('*') {
        return Some((
            format!("no origin equals `{text}`: browsers know no wildcard inside an origin"),
            policy.to_owned(),
        ));
    }
    let Some((_, host)) = text.split_once("://") else {
        return Some((format!("no origin equals `{text}`: an origin begins with a scheme"), format!("https://{text}")));
    };
    let end = host.split('/').next().unwrap_or(host);
    host.contains('/').then(|| {
        let bare = text.trim_end_matches(&host[end.len()..]);
        (format!("no origin equals `{text}`: an origin has no path"), bare.to_owned())
    })
}

/// A policy for HTTPS without its required age.
fn no_age(text: &str) -> Option<(String, String)> {
    let names = || text.split(';').map(|part| part.split(['=', ':']).next().unwrap_or(part).trim());
    (!names().any(|name| name.eq_ignore_ascii_case("max-age"))).then(|| {
        ("browsers ignore `strict-transport-security` without `max-age`".to_owned(), "max-age=31536000".to_owned())
    })
}

/// An age that is no number of seconds.
fn age(text: &str, names: &[&str]) -> Option<(String, String)> {
    text.split([',', ';']).map(str::trim).find_map(|part| {
        let (name, value) = part.split_once(['=', ':'])?;
        let name = name.trim().to_ascii_lowercase();
        let number = value.trim().trim_matches('"');
        let seconds = part.contains('=') && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        (names.contains(&name.as_str()) && !seconds).then(|| {
            let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
            let digits = if digits.is_empty() || !part.contains(':') { "<seconds>".to_owned() } else { digits };
            (format!("`{part}` is ignored: an age is a number of seconds"), format!("{name}={digits}"))
        })
    })
}
