//! EF529: an RBAC principal that no certificate has.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::rules::scope::principal_too_wide::of_principal;

declare_rule! {
    /// An RBAC principal named as in an AuthorizationPolicy, without `spiffe://`.
    ///
    /// # What it finds
    /// `authenticated.principal_name` of an RBAC filter with an `exact` or `prefix` match such as
    /// `cluster.local/ns/shop/sa/cart`.
    ///
    /// # Why it matters
    /// Envoy compares the URI of the client's certificate, `spiffe://cluster.local/ns/shop/sa/cart`. The principal
    /// matches no client: ALLOW denies everyone, DENY denies no one. Only AuthorizationPolicy adds the prefix.
    ///
    /// # How to fix
    /// Write `spiffe://` in front of it.
    ///
    /// # References
    /// Envoy `config.rbac.v3.Principal.Authenticated`; tested with Envoy 1.38.2.
    "EF529" "principal-without-spiffe" Scope Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| of_principal(object, &value.objects)) {
            for kind in ["exact", "prefix"] {
                let Some(member) = object.member(kind) else { continue };
                let Some(name) = member.entry.value.as_str().filter(|name| is_identity(name)) else { continue };
                out.push(
                    value
                        .finding(rule, member.entry.value.span, format!("no client is named `{name}`"))
                        .label("without spiffe://")
                        .note("certificates of the mesh contain a URI that begins with spiffe://; only AuthorizationPolicy adds it")
                        .help(format!("{kind}: spiffe://{name}")),
                );
            }
        }
    }
}

/// Whether a text is the identity of a workload as an AuthorizationPolicy writes it: `cluster.local/ns/shop/sa/cart`.
fn is_identity(text: &str) -> bool {
    text.split_once("/ns/").is_some_and(|(domain, rest)| {
        !domain.is_empty() && !domain.contains([':', '/']) && (rest.contains("/sa/") || rest.ends_with('/'))
    })
}
