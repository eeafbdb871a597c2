//! EF540: an OAuth2 filter that lets every request pass.

use crate::declare_rule;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Node, NodeValue, Severity};

declare_rule! {
    /// An OAuth2 filter whose `pass_through_matcher` accepts every request.
    ///
    /// # What it finds
    /// A `pass_through_matcher` on `:path`, `:method`, `:authority` or `:scheme` that every request satisfies: only their presence, a
    /// prefix `/`, a regular expression `.*`. For information, one for every `Authorization: Bearer …`, if no given patch has a filter that
    /// could verify the token.
    ///
    /// # Why it matters
    /// What matches passes without a login. The list needs one match only: no request needs a login.
    ///
    /// # How to fix
    /// Match only what is public: `{name: ":path", string_match: {prefix: /public/}}`.
    ///
    /// # References
    /// Envoy `extensions.filters.http.oauth2.v3.OAuth2Config.pass_through_matcher`; tested with Envoy 1.38.2.
    "EF540" "login-never-required" Scope Error => check
}

/// Filters that may verify a token.
const VERIFIERS: [&str; 7] = [
    ".dynamic_modules.",
    ".ext_authz.v3.ExtAuthz",
    ".ext_proc.v3.ExternalProcessor",
    ".golang.",
    ".jwt_authn.v3.JwtAuthentication",
    ".lua.v3.Lua",
    ".wasm.v3.Wasm",
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut verified: Option<bool> = None;
    for value in cx.values() {
        let filters = value.objects.iter();
        for object in filters.filter(|it| it.full_name() == "envoy.extensions.filters.http.oauth2.v3.OAuth2Config") {
            let matchers = object.member("pass_through_matcher").map(|it| it.entry.value.items()).unwrap_or_default();
            if let Some(matcher) = matchers.iter().find(|matcher| is_always_true(matcher)) {
                out.push(
                    value
                        .finding(rule, matcher.span, "this OAuth2 filter requires no login: every request matches this")
                        .label("every request passes")
                        .snippet("match only what is public:\n- name: \":path\"\n  string_match: {prefix: /public/}"),
                );
                continue;
            }
            let Some(matcher) = matchers.iter().find(|matcher| takes_tokens(matcher)) else { continue };
            let verifies = || {
                let mut all = cx.values().iter().flat_map(|value| &value.objects);
                all.any(|object| VERIFIERS.iter().any(|one| object.full_name().contains(one)))
            };
            if !*verified.get_or_insert_with(verifies) {
                out.push(
                    value
                        .finding(
                            rule,
                            matcher.span,
                            "a request with any `Authorization: Bearer …` passes without a login",
                        )
                        .severity(Severity::Info)
                        .label("not verified here")
                        .note("unless a RequestAuthentication or the workload verifies the token")
                        .help(
                            "add a JWT filter behind this one, or a RequestAuthentication and an AuthorizationPolicy",
                        ),
                );
            }
        }
    }
}

/// Whether a match accepts every token.
fn takes_tokens(matcher: &Node) -> bool {
    let name = get(matcher, "name").and_then(Node::as_str).unwrap_or_default();
    let prefix = get(matcher, "string_match").and_then(|wanted| get(wanted, "prefix")).and_then(Node::as_str);
    let bearer = prefix.is_some_and(|prefix| prefix.trim_end().eq_ignore_ascii_case("bearer"));
    name.eq_ignore_ascii_case("authorization") && bearer && get(matcher, "invert_match").is_none()
}

/// Whether every request satisfies a match of a header.
fn is_always_true(matcher: &Node) -> bool {
    let name = get(matcher, "name").and_then(Node::as_str).unwrap_or_default();
    let is = |key: &str, wanted: bool| {
        get(matcher, key).is_some_and(|one| matches!(one.value, NodeValue::Bool(is) if is == wanted))
    };
    if ![":path", ":method", ":authority", ":scheme"].contains(&name) || is("invert_match", true) {
        return false;
    }
    let path = name == ":path";
    let Some(wanted) = get(matcher, "string_match") else {
        let alone = matcher
            .entries()
            .iter()
            .all(|entry| matches!(entry.key.as_str(), "name" | "present_match" | "presentMatch"));
        return alone && !is("present_match", false);
    };
    let text = |key: &str| get(wanted, key).and_then(Node::as_str);
    let regex = get(wanted, "safe_regex").and_then(|regex| get(regex, "regex")).and_then(Node::as_str);
    path && (text("prefix") == Some("/") || text("contains") == Some("/") || regex == Some("/.*"))
        || regex == Some(".*")
}
