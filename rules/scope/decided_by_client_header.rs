//! EF522: authorization that believes a header which any client can send.

use super::identity_header_kept::is_identity;
use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, walk};
use crate::source::{Node, NodeValue};

declare_rule! {
    /// Authorization that decides by a header which a client can send.
    ///
    /// # What it finds
    /// An RBAC rule that allows, in a patch's value, with a principal that is a header such as `x-user-role`, `x-forwarded-for` or
    /// `x-internal`, and is not combined (`and_ids`) with an authenticated principal or an address.
    ///
    /// # Why it matters
    /// Whoever can send a request can send the header. The rule protects only against those who do not know it.
    ///
    /// # How to fix
    /// Decide by what Envoy verified: `authenticated` (the peer's certificate), the claims of a token
    /// (`metadata` of jwt_authn); or remove the header at the edge (`internal_only_headers`).
    ///
    /// # References
    /// Envoy `config.rbac.v3.Principal.header`.
    "EF522" "decided-by-client-header" Scope Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.config.rbac.v3.Principal") {
            let Some(header) = object.member("header").map(|member| &member.entry.value) else { continue };
            let Some(name) = walk::get(header, "name") else { continue };
            let text = name.as_str().unwrap_or_default();
            let combined = value.objects.iter().any(|other| {
                object.route.starts_with(&other.route)
                    && other.full_name() == "envoy.config.rbac.v3.Principal.Set"
                    && verified(other.node)
            });
            let inverted = value.objects.iter().any(|other| {
                let denies = other.text("action") == Some("DENY") && other.full_name() == "envoy.config.rbac.v3.RBAC";
                denies && object.route.starts_with(&other.route)
            });
            if !client_header(text) || combined || inverted {
                continue;
            }
            out.push(
                value
                    .finding(rule, name.span, format!("access is granted by `{text}`, which any client can send"))
                    .label("not verified")
                    .help("principals:\n- authenticated:\n    principal_name: {exact: spiffe://<trust domain>/ns/<namespace>/sa/<account>}"),
            );
        }
    }
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

/// Whether a set of principals also asks for something that Envoy verified.
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
