//! EF525: answers that scripts of every web site may read with the user's cookies.

use crate::declare_rule;
use crate::lint::value::Object;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Node, NodeValue};

declare_rule! {
    /// Cross-origin requests with credentials from every origin.
    ///
    /// # What it finds
    /// A CORS policy with `allow_credentials: true` whose origins match everything (`.*`, `*`, a prefix such as
    /// `https://`); response headers that repeat the request's origin (`%REQ(ORIGIN)%`) together with
    /// `access-control-allow-credentials: true`.
    ///
    /// # Why it matters
    /// Every web site that a user visits can send requests with the user's cookies and read the answers. Browsers refuse
    /// `*` with credentials for this reason; repeating the origin evades that.
    ///
    /// # How to fix
    /// List the origins, or leave out the credentials.
    ///
    /// # References
    /// Fetch standard, "CORS protocol and credentials"; Envoy `envoy.extensions.filters.http.cors.v3.CorsPolicy`.
    "EF525" "any-origin-with-credentials" Scope Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in &value.objects {
            let open = match object.full_name() {
                "envoy.config.route.v3.CorsPolicy" | "envoy.extensions.filters.http.cors.v3.CorsPolicy" => {
                    policy(object)
                }
                _ => headers(object),
            };
            let Some(node) = open else { continue };
            out.push(
                value
                    .finding(
                        rule,
                        node.span,
                        "every web site may send requests with the user's credentials and read the answers",
                    )
                    .label("any origin")
                    .help("list the origins that may, or leave out the credentials"),
            );
        }
    }
}

/// The origin of a policy that matches everything, if it allows credentials.
fn policy<'a>(object: &Object<'a>) -> Option<&'a Node> {
    let credentials = object.member("allow_credentials").map(|member| &member.entry.value)?;
    if !is_true(credentials) && !get(credentials, "value").is_some_and(is_true) {
        return None;
    }
    let origins = &object.member("allow_origin_string_match")?.entry.value;
    origins.items().iter().find(|origin| {
        let text = |field: &str| get(origin, field).and_then(Node::as_str);
        let regex = get(origin, "safe_regex").and_then(|regex| get(regex, "regex")).and_then(Node::as_str);
        text("exact") == Some("*")
            || text("prefix").is_some_and(|prefix| matches!(prefix, "http" | "http://" | "https" | "https://"))
            || regex.is_some_and(matches_everything)
    })
}

/// Whether an expression for an origin leaves the host open.
fn matches_everything(regex: &str) -> bool {
    let regex = regex.trim_start_matches('^').trim_end_matches('$').replace("\\/", "/");
    let host =
        ["https?://", "http://", "https://", "(http|https)://"].iter().find_map(|scheme| regex.strip_prefix(scheme));
    matches!(host.unwrap_or(&regex), ".*" | ".+" | "(.*)" | "(.+)")
}

/// The response header that repeats the origin of the request, if another one allows credentials.
fn headers<'a>(object: &Object<'a>) -> Option<&'a Node> {
    let list = &object.member("response_headers_to_add")?.entry.value;
    let header = |name: &str| {
        list.items().iter().filter_map(|item| get(item, "header")).find_map(|header| {
            let key = get(header, "key").and_then(Node::as_str)?;
            key.eq_ignore_ascii_case(name).then(|| get(header, "value"))?
        })
    };
    let credentials = header("access-control-allow-credentials").and_then(Node::as_str) == Some("true");
    let origin = header("access-control-allow-origin")?;
    let repeated = origin.as_str().is_some_and(|text| text.to_ascii_uppercase().contains("%REQ(ORIGIN)%"));
    (credentials && repeated).then_some(origin)
}

fn is_true(node: &Node) -> bool {
    matches!(node.value, NodeValue::Bool(true)) || node.as_str() == Some("true")
}
