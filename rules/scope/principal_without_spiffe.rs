//! EF529: an RBAC principal that no certificate has.

use crate::declare_rule;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};
use crate::rules::scope::principal_too_wide::of_principal;
use crate::source::{Node, Severity};

declare_rule! {
    /// An RBAC principal that no workload has: without `spiffe://`, as in an AuthorizationPolicy, or without its service account.
    ///
    /// # What it finds
    /// `authenticated.principal_name` of an RBAC filter with an `exact` or `prefix` match such as
    /// `cluster.local/ns/shop/sa/cart`; and one with an `exact` match or a regular expression that ends with the namespace:
    /// `spiffe://cluster.local/ns/shop`.
    ///
    /// # Why it matters
    /// Envoy compares the URI of the client's certificate, `spiffe://cluster.local/ns/shop/sa/cart`. The principal
    /// matches no client: ALLOW denies everyone, DENY denies no one. Only AuthorizationPolicy adds the prefix. A regular expression
    /// must match the whole identity, to its end.
    ///
    /// # How to fix
    /// Write `spiffe://` in front of it, and `/sa/<account>` or `/.*` at its end.
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
            let regex = object.member("safe_regex").and_then(|member| get(&member.entry.value, "regex"));
            let exact = object.member("exact").map(|member| &member.entry.value);
            for (node, key, end) in [(exact, "prefix", "/"), (regex, "regex", "/.*")] {
                let Some(written) = node.and_then(Node::as_str).filter(|text| ends_with_namespace(text)) else {
                    continue;
                };
                out.push(
                    value
                        .finding(
                            rule,
                            node.map_or(object.span, |node| node.span),
                            format!("no workload is named `{written}`: an identity ends with its service account"),
                        )
                        // A certificate of another authority may have such a name.
                        .severity(Severity::Warning)
                        .label("compared with the whole identity")
                        .help(format!("{key}: {}{end}", written.trim_end_matches(['$', '/']))),
                );
            }
        }
    }
}

/// Whether an identity of the mesh, or an expression for it, ends with the name of the namespace.
fn ends_with_namespace(text: &str) -> bool {
    let Some((before, namespace)) = text.trim_end_matches(['$', '/']).rsplit_once("/ns/") else { return false };
    let word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !before.contains('|') && !namespace.is_empty() && namespace.chars().all(word)
}

/// Whether a text is the identity of a workload as an AuthorizationPolicy writes it: `cluster.local/ns/shop/sa/cart`.
fn is_identity(text: &str) -> bool {
    text.split_once("/ns/").is_some_and(|(domain, rest)| {
        !domain.is_empty() && !domain.contains([':', '/']) && (rest.contains("/sa/") || rest.ends_with('/'))
    })
}
