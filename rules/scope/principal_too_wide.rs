//! EF536: a match of client identities that others satisfy too.

use crate::declare_rule;
use crate::lint::value::Object;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A match of a client's identity that also accepts other namespaces or service accounts.
    ///
    /// # What it finds
    /// In RBAC principals: a `prefix` that ends within the name of a namespace (`spiffe://cluster.local/ns/shop`), and a
    /// `suffix` without a slash (`admin`).
    ///
    /// # Why it matters
    /// The text is compared as it is: the prefix also accepts `shop-dev`, the suffix also accepts `sa/not-admin` of every
    /// namespace. Whoever may create such a namespace or account gets the access.
    ///
    /// # How to fix
    /// `prefix: spiffe://cluster.local/ns/shop/`, `suffix: /ns/shop/sa/admin`; or an AuthorizationPolicy with `namespaces` or
    /// `principals`.
    ///
    /// # References
    /// Envoy `type.matcher.v3.StringMatcher`; the answers of Envoy 1.38.2.
    "EF536" "principal-too-wide" Scope Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| of_principal(object, &value.objects)) {
            for (kind, written) in
                ["prefix", "suffix"].into_iter().filter_map(|kind| Some((kind, object.member(kind)?)))
            {
                let node = &written.entry.value;
                let text = node.as_str().unwrap_or_default();
                let Some((also, help)) = (if kind == "prefix" { cut_short(text) } else { any_end(text) }) else {
                    continue;
                };
                out.push(
                    value
                        .finding(rule, node.span, format!("this {kind} also accepts `{also}`"))
                        .label("compared as text")
                        .help(help),
                );
            }
        }
    }
}

/// Whether a matcher is that of an RBAC principal's name.
pub(super) fn of_principal(object: &Object<'_>, objects: &[Object<'_>]) -> bool {
    object.full_name() == "envoy.type.matcher.v3.StringMatcher"
        && object.parent.is_some_and(|(parent, field)| {
            field.name() == "principal_name"
                && objects[parent].full_name() == "envoy.config.rbac.v3.Principal.Authenticated"
        })
}

/// A prefix that ends within the name of a namespace.
fn cut_short(prefix: &str) -> Option<(String, String)> {
    let (_, namespace) = prefix.split_once("/ns/")?;
    let open = !namespace.is_empty() && !namespace.contains('/');
    open.then(|| (format!("{prefix}-dev/…"), format!("prefix: {prefix}/")))
}

/// A suffix that begins within the name of a service account.
fn any_end(suffix: &str) -> Option<(String, String)> {
    let open = !suffix.is_empty() && !suffix.contains('/');
    open.then(|| (format!("…/sa/not-{suffix}"), format!("suffix: /ns/<namespace>/sa/{suffix}")))
}
