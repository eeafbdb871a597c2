//! EF107: an `Any` without `@type`.

use crate::declare_rule;
use crate::envoy;
use crate::lint::rule::{Cel, DEEPER_VALUES, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo};
use crate::proto::decode::What;
use crate::source::Severity;

declare_rule! {
    /// A typed configuration without `@type`.
    ///
    /// # What it finds
    /// A value of type `google.protobuf.Any` (every `typed_config`) without `@type`, or one of a well-known type
    /// without its `value`.
    ///
    /// # Why it matters
    /// istiod rejects the whole value: the webhook rejects the EnvoyFilter, and one that bypasses the webhook has no effect.
    ///
    /// # How to fix
    /// Write the type's name: `"@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua`.
    ///
    /// # References
    /// protobuf's JSON mapping of `google.protobuf.Any`; Envoy, "Extension configuration".
    "EF107" "missing-type-url" Value Error => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for noticed in &value.notices {
            let span = value.notice_span(&noticed.notice);
            let missing = match noticed.notice.what {
                What::MissingType => "@type",
                What::MissingValue => "value",
                _ => continue,
            };
            let mut finding = value
                .finding(rule, span, format!("a typed configuration without `{missing}`"))
                .label(format!("`{missing}` is missing"))
                .rejected_if(noticed.in_typed_struct, super::bad_duration::consequence(noticed.in_typed_struct))
                .ineffective_if(!noticed.in_typed_struct);
            let slot = value.slots.iter().find(|slot| slot.route == noticed.notice.route);
            let name = slot.and_then(|slot| slot.extension_name(value)?.as_str());
            let known = name.and_then(|name| {
                let extension = envoy::extension(envoy::canonical_name(name).unwrap_or(name))?;
                extension.messages().find(|message| !message.contains("PerRoute"))
            });
            if let (Some(message), "@type") = (known, missing) {
                finding = finding.snippet(format!("for this name it is\n\"@type\": type.googleapis.com/{message}"));
            }
            out.push(finding);
        }
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![
        Cel::patch(
            Severity::Error,
            r#"@typed && size(@t) > 0 && !("@type" in @t)"#,
            "this typed configuration has no `@type`",
        )
        .without(DEEPER_VALUES),
    ]
}
