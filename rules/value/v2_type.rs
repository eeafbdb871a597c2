//! EF110: a type of the v2 API.

use crate::declare_rule;
use crate::envoy;
use crate::lint::rule::{Cel, DEEPER_VALUES, PolicyTarget};
use crate::lint::value::{TypeUrl, short};
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// A type of Envoy's v2 API.
    ///
    /// # What it finds
    /// An `@type` or `type_url` of the v2 API, which Envoy dropped in 1.18 and istiod stopped linking in 1.19.
    ///
    /// # Why it matters
    /// istiod cannot read the value: the webhook rejects the EnvoyFilter, and one that bypasses the webhook has no effect. In a
    /// TypedStruct the proxy rejects the resource that contains it.
    ///
    /// # How to fix
    /// Write the v3 type. Most fields kept their names; the linter checks them once the type is right.
    ///
    /// # References
    /// Envoy 1.18 release notes; `udpa.annotations.versioning` of the v3 messages.
    "EF110" "v2-type" Value Error => check,
    fixes: true, renews: true, by_release: true, policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for slot in &value.slots {
            let own = slot.url.filter(|_| !slot.in_typed_struct).map(|url| (url, false));
            let inner = slot.inner.filter(|_| value.envoy_minor.is_some()).map(|url| (url, true));
            for (url, in_typed_struct) in [own, inner].into_iter().flatten() {
                let Some(successor) = successor(&url) else { continue };
                let text = format!("type.googleapis.com/{successor}");
                out.push(
                    value
                        .finding(rule, url.span, format!("`{}` is a type of the v2 API", short(url.name())))
                        .label("a v2 type")
                        .rejected_if(in_typed_struct, super::bad_duration::consequence(in_typed_struct))
                        .ineffective_if(!in_typed_struct)
                        .note("Envoy dropped the v2 API in 1.18, and istiod dropped its types in 1.19")
                        .help(format!("write `{text}`"))
                        .fix("write the v3 type", false, vec![Edit { span: url.span, text }]),
                );
            }
        }
    }
}

/// The v3 successor if this is an unknown type of the v2 API.
pub(super) fn successor(url: &TypeUrl<'_>) -> Option<&'static str> {
    if url.unknown() { envoy::v3_of(url.name()) } else { None }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![
        Cel::patch(
            Severity::Error,
            r#"@url.matches("/envoy\\.(api\\.v2|[a-z0-9_.]+\\.v2(alpha[0-9]*)?)\\.[A-Za-z0-9_.]+$")"#,
            "a type of Envoy's v2 API, which neither istiod nor the proxy knows",
        )
        .without(DEEPER_VALUES),
    ]
}
