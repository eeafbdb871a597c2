//! EF102: a field of the typed configuration, written next to `typed_config`.

use crate::declare_rule;
use crate::lint::typed_config;
use crate::lint::value::short;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::escape::one_line;

declare_rule! {
    /// A field of the typed configuration, written next to `typed_config` instead of in it.
    ///
    /// # What it finds
    /// A key next to `typed_config` that its message does not have but the message in `typed_config` does: one level of
    /// indentation is missing.
    ///
    /// # Why it matters
    /// istiod drops the key and accepts the EnvoyFilter.
    ///
    /// # How to fix
    /// Indent the key so that it is below `typed_config`, next to `@type`.
    ///
    /// # References
    /// istiod reads values with `AllowUnknownFields`, releases 1.22 to 1.31.
    "EF102" "field-beside-typed-config" Value Error => check,
    explains: &["EF112", "EF329"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in &value.objects {
            let Some(inner) = typed_config::inner(value, object) else { continue };
            if typed_config::misplaced_type(object) {
                continue;
            }
            for member in object.members.iter().filter(|member| member.field().is_none()) {
                let key = member.entry.key.as_str();
                // Another rule reports `config`, the name of `typed_config` in the v2 API.
                if key == "config" || inner.field(key).is_none() {
                    continue;
                }
                out.push(
                    value
                        .finding(
                            rule,
                            member.entry.key_span,
                            format!("`{key}` is next to `typed_config` instead of in it"),
                        )
                        .label(format!("a field of `{}`, not of `{}`", short(inner.full_name()), object.short_name()))
                        .note("istiod drops the key and accepts the EnvoyFilter")
                        .snippet(format!(
                            "indent it:\ntyped_config:\n  \"@type\": type.googleapis.com/{}\n  {}: …",
                            inner.full_name(),
                            one_line(key)
                        )),
                );
            }
        }
    }
}
