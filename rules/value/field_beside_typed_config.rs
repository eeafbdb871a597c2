//! EF102: a field of the typed configuration, written next to `typed_config`.

use crate::declare_rule;
use crate::envoy;
use crate::lint::value::{Object, PatchValue, short};
use crate::lint::{Context, Findings, RuleInfo};
use crate::proto::schema::Message;

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

/// Whether a key of an object that has a `typed_config` is a field of the message in there.
pub(super) fn belongs_inside(value: &PatchValue<'_>, object: &Object<'_>, key: &str) -> bool {
    inner(value, object).is_some_and(|inner| inner.field(key).is_some())
}

/// The message in the `typed_config` of an object, or the one implied by its name if there is none.
fn inner(value: &PatchValue<'_>, object: &Object<'_>) -> Option<Message> {
    let message = object.message()?;
    message.field("typed_config")?;
    let slot = value
        .slots
        .iter()
        .find(|slot| std::ptr::eq(&raw const value.objects[slot.owner], object) && slot.field.name() == "typed_config");
    if let Some(slot) = slot {
        let url = slot.content()?;
        return url.envoy.or(url.istiod);
    }
    let name = object.text("name")?;
    let extension = envoy::extension(envoy::canonical_name(name).unwrap_or(name))?;
    message.schema().message(extension.messages().next()?)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in &value.objects {
            let Some(inner) = inner(value, object) else { continue };
            if super::unknown_envoy_field::misplaced_type(object) {
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
                        .help(format!(
                            "indent it:\ntyped_config:\n  \"@type\": type.googleapis.com/{}\n  {key}: …",
                            inner.full_name()
                        )),
                );
            }
        }
    }
}
