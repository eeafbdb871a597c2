//! What belongs into the `typed_config` of an object.

use super::{Object, PatchValue};
use crate::envoy;
use crate::proto::schema::Message;

/// Whether an object that has its configuration in `typed_config` has the type next to it: every problem with its other
/// fields, and the missing configuration, follow from that.
pub(crate) fn misplaced_type(object: &Object<'_>) -> bool {
    let typed = |message: Message| message.field("typed_config").is_some();
    object.message().is_some_and(typed)
        && object.node.entry("@type").is_some()
        && object.member("typed_config").is_none()
}

/// Whether a key of an object that has a `typed_config` is a field of the message in there.
pub(crate) fn belongs_inside(value: &PatchValue<'_>, object: &Object<'_>, key: &str) -> bool {
    inner(value, object).is_some_and(|inner| inner.field(key).is_some())
}

/// The message in the `typed_config` of an object, or the one implied by its name if there is none.
pub(crate) fn inner(value: &PatchValue<'_>, object: &Object<'_>) -> Option<Message> {
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
