//! EF522: authorization that trusts a header that any client can send.

use super::identity_header_kept::is_identity;
use crate::declare_rule;
use crate::lint::value::PatchValue;
use crate::lint::{Context, Findings, RuleInfo, walk};
use crate::model::envoy_filter::PatchContext;
use crate::source::{Node, NodeValue, Severity, Step};
use std::collections::BTreeSet;

declare_rule! {
    /// Authorization that trusts a header that any client can send.
    ///
    /// # What it finds
    /// In a patch's value, an RBAC rule with action ALLOW whose principal or permission is a header such as
    /// `x-user-role`, `x-forwarded-for` or `x-internal` that is not combined (`and_ids`) with an authenticated principal
    /// or an address; one with action DENY for all requests except those with such a header; and inline Lua that
    /// compares such a request header to a text and lets the request pass or not. Rate limits by `x-forwarded-for` or `x-real-ip`. For information, routes of
    /// a gateway with `cluster_header`, if no given patch writes the header and the match does not limit its values.
    ///
    /// # Why it matters
    /// Anyone who can send a request can send the header. The rule protects only against those who do not know it.
    ///
    /// # How to fix
    /// Decide by what Envoy verified: `authenticated` (the peer's certificate) or the claims of a token (`metadata` of
    /// jwt_authn); or remove the header at the edge (`internal_only_headers`).
    ///
    /// # References
    /// Envoy `config.rbac.v3.Principal.header`.
    "EF522" "decided-by-client-header" Scope Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        let mut known = BTreeSet::new();
        for one in script.uses.decisions.iter().filter(|one| {
            // Who knows a key may come in.
            client_header(one.name) && !one.name.eq_ignore_ascii_case("x-api-key") && known.insert(one.name)
        }) {
            out.push(
                script
                    .finding(rule, one, format!("the script decides by `{}`, which any client can send", one.name))
                    .label("not verified")
                    .note("unless a proxy in front removes the header from what clients send")
                    .help("decide by what Envoy verified: handle:streamInfo():downstreamSslConnection():uriSanPeerCertificate(), or the claims that jwt_authn leaves in the dynamic metadata"),
            );
        }
    }
    let mut written = None;
    for value in cx.values() {
        let limits = value
            .objects
            .iter()
            .filter(|object| object.full_name() == "envoy.config.route.v3.RateLimit.Action.RequestHeaders");
        for header in limits.filter_map(|object| object.member("header_name")) {
            let name = header.entry.value.as_str().unwrap_or_default();
            if ["x-forwarded-for", "x-real-ip"].iter().any(|one| name.eq_ignore_ascii_case(one)) {
                out.push(
                    value
                        .finding(
                            rule,
                            header.entry.value.span,
                            format!("a client gets a new limit with every `{name}` it sends"),
                        )
                        .label("not verified")
                        .help("remote_address: {}"),
                );
            }
        }
        clusters(rule, cx, value, &mut written, out);
        let rbac = ["envoy.config.rbac.v3.Principal", "envoy.config.rbac.v3.Permission"];
        for object in value.objects.iter().filter(|object| rbac.contains(&object.full_name())) {
            let Some(header) = object.member("header").map(|member| &member.entry.value) else { continue };
            let Some(name) = walk::get(header, "name") else { continue };
            let text = name.as_str().unwrap_or_default();
            let combined = value.objects.iter().any(|other| {
                object.route.starts_with(&other.route)
                    && other.full_name() == "envoy.config.rbac.v3.Principal.Set"
                    && verified(other.node)
            });
            let denies = value.objects.iter().any(|other| {
                let denies = other.text("action") == Some("DENY") && other.full_name() == "envoy.config.rbac.v3.RBAC";
                denies && object.route.starts_with(&other.route)
            });
            // Denied without the header means granted with it, and vice versa.
            let not = |step: &&Step| matches!(step, Step::Key(key) if ["not_id", "notId", "not_rule", "notRule"].contains(&key.as_str()));
            let turned = object.route.iter().filter(not).count() % 2 == 1;
            let turned = turned != header_turned(header);
            if !client_header(text) || combined || denies != turned {
                continue;
            }
            out.push(
                value
                    .finding(rule, name.span, format!("access is granted by `{text}`, which any client can send"))
                    .label("not verified")
                    .snippet("principals:\n- authenticated:\n    principal_name: {exact: spiffe://<trust domain>/ns/<namespace>/sa/<account>}"),
            );
        }
    }
}

/// The headers that filters and routes of the given patches write; `None` if a filter may write any.
type Written = Option<BTreeSet<String>>;

/// Routes of a gateway that take the name of their cluster from a header.
fn clusters(
    rule: &'static RuleInfo,
    cx: &Context<'_>,
    value: &PatchValue<'_>,
    known: &mut Option<Written>,
    out: &mut Findings,
) {
    if value.view.patch.context != PatchContext::Gateway {
        return;
    }
    for object in value.objects.iter().filter(|object| object.full_name() == "envoy.config.route.v3.RouteAction") {
        let Some(node) = object.member("cluster_header").map(|member| &member.entry.value) else { continue };
        let name = node.as_str().unwrap_or_default().to_ascii_lowercase();
        let Some(written) = known.get_or_insert_with(|| written_headers(cx)) else { return };
        let route = object.parent.and_then(|(parent, _)| value.objects[parent].member("match"));
        let conditions = route.and_then(|wanted| walk::get(&wanted.entry.value, "headers"));
        let names = conditions.map(Node::items).unwrap_or_default().iter().filter_map(|one| walk::get(one, "name"));
        let limited = names.filter_map(Node::as_str).any(|one| one.eq_ignore_ascii_case(&name));
        if name.is_empty() || limited || written.contains(&name) {
            continue;
        }
        out.push(
            value
                .finding(rule, node.span, format!("a request chooses its cluster by the header `{name}`"))
                .severity(Severity::Info)
                .label("not verified")
                .note("a client can name every cluster of the gateway, unless a filter or a proxy in front overwrites the header")
                .help("let the match of the route allow only some values: headers: [{name: …, string_match: {safe_regex: {regex: …}}}]"),
        );
    }
}

/// Filters that can set any header of a request.
const WRITERS: [&str; 5] = [".ext_authz.", ".ext_proc.", ".wasm.", ".golang.", ".dynamic_modules."];

fn written_headers(cx: &Context<'_>) -> Written {
    let mut found = BTreeSet::new();
    for value in cx.values() {
        for object in &value.objects {
            if WRITERS.iter().any(|one| object.full_name().contains(one)) {
                return None;
            }
            let names = match object.short_name() {
                "HeaderValue" => object.text("key"),
                "JwtClaimToHeader" => object.text("header_name"),
                _ => None,
            };
            found.extend(names.map(str::to_ascii_lowercase));
        }
    }
    for script in cx.loadable_scripts() {
        found.extend(script.chunk.strings.iter().map(|text| text.to_ascii_lowercase()));
    }
    // A script that is not inline may write any.
    let inline = cx.scripts().count() == cx.loadable_scripts().count();
    inline.then_some(found)
}

/// Whether a match of a header is for those without it.
fn header_turned(header: &Node) -> bool {
    let is = |key: &str, wanted: bool| {
        walk::get(header, key).is_some_and(|one| matches!(one.value, NodeValue::Bool(is) if is == wanted))
    };
    is("invert_match", true) != is("present_match", false)
}

fn client_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let known = [
        "x-forwarded-for",
        "x-real-ip",
        "x-client-ip",
        "x-internal",
        "x-admin",
        "x-api-key",
        "x-source",
        "x-envoy-internal",
        "x-forwarded-client-cert",
    ];
    known.contains(&name.as_str()) || is_identity(&name)
}

/// Whether a set of principals also requires something that Envoy verified.
fn verified(set: &Node) -> bool {
    let mut found = false;
    walk::fields(set, &mut |field| {
        let good = [
            "authenticated",
            "direct_remote_ip",
            "source_ip",
            "remote_ip",
            "metadata",
            "sourced_metadata",
            "filter_state",
        ];
        found |= good.iter().any(|name| field.is(name)) && !matches!(field.node.value, NodeValue::Null);
    });
    found
}
