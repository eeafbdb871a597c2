//! EF108: a malformed type URL.

use crate::declare_rule;
use crate::lint::rule::{Cel, DEEPER_VALUES, PolicyTarget};
use crate::lint::value::TypeUrl;
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// A malformed type URL.
    ///
    /// # What it finds
    /// `@type` or `type_url` without `type.googleapis.com/` before the name, or with white space in it, if the name
    /// itself is known.
    ///
    /// # Why it matters
    /// istiod accepts a bare name; Envoy finds the name only after a slash, and rejects the configuration.
    ///
    /// # How to fix
    /// Write `type.googleapis.com/` and the message's full name.
    ///
    /// # References
    /// protobuf, "Any": the name follows the last slash; Envoy `source/common/config/utility.cc`.
    "EF108" "malformed-type-url" Value Error => check,
    fixes: true, renews: true, policy: Cel(policy)
}

/// The type's name if the URL is malformed and the name is known.
pub(super) fn meant(cx: &Context<'_>, url: &TypeUrl<'_>) -> Option<String> {
    if url.text.contains('/') && !url.text.contains(char::is_whitespace) {
        return None;
    }
    let bare: String = url.text.chars().filter(|char| !char.is_whitespace()).collect();
    let name = bare.rsplit('/').next().unwrap_or_default();
    let known = |schema: crate::proto::schema::Schema| schema.message(name).is_some();
    (known(cx.program.schema) || cx.envoy().is_some_and(known)).then(|| name.to_owned())
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for slot in &value.slots {
            for url in [slot.url, slot.inner].into_iter().flatten() {
                let Some(name) = meant(cx, &url) else { continue };
                let text = format!("type.googleapis.com/{name}");
                out.push(
                    value
                        .finding(rule, url.span, "not written as a type URL")
                        .label("Envoy expects the name after a slash")
                        .rejected("the proxy rejects a configuration of unknown type")
                        .help(format!("write `{text}`"))
                        .fix("write the type URL", true, vec![Edit { span: url.span, text }]),
                );
            }
        }
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![
        Cel::patch(
            Severity::Error,
            r#"@url.matches("^\\s*envoy\\.[A-Za-z0-9_.]+\\s*$")"#,
            "a type URL is written type.googleapis.com/NAME",
        )
        .without(DEEPER_VALUES),
    ]
}
