//! What a check is, and what checks ask about an object.

use crate::lint::value::{Object, PatchValue};
use crate::proto::schema::{Field, Kind};
use crate::source::{NodeValue, Span};

/// Something that an extension's code rejects.
pub(crate) struct Refusal {
    /// The value, or the object that is incomplete.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to write.
    pub help: String,
}

/// A check in the code of Envoy.
pub(crate) struct Check {
    /// The message that it checks.
    pub message: &'static str,
    /// The known Envoy minors that have it. The conditions of a check may narrow that further: a field or a value that
    /// a release does not have.
    pub envoys: (u16, u16),
    /// Its place in the sources of Envoy.
    pub source: &'static str,
    pub(super) find: Find,
}

/// What a check looks for.
pub(super) enum Find {
    /// Whatever this function finds.
    Code(fn(&PatchValue<'_>, &Object<'_>) -> Option<Refusal>),
    /// Two fields that exclude each other.
    Both([&'static str; 2]),
}

use Find::{Both, Code};

impl Find {
    pub(super) fn refusal(&self, value: &PatchValue<'_>, object: &Object<'_>) -> Option<Refusal> {
        match self {
            Code(find) => find(value, object),
            Both([one, other]) => (is_set(object, one) && is_set(object, other)).then(|| {
                refusal(span(object, other), format!("`{one}` and `{other}` exclude each other"), "remove one of them")
            }),
        }
    }
}

pub(super) fn refusal(span: Span, message: impl Into<String>, help: impl Into<String>) -> Refusal {
    Refusal { span, message: message.into(), help: help.into() }
}

/// Whether a message, a wrapper or a member of a oneof is present.
pub(super) fn has(object: &Object<'_>, name: &str) -> bool {
    object.member(name).is_some_and(|member| !member.entry.value.is_null())
}

/// Whether a field differs from its default, or is a message, a wrapper or a member of a oneof that is present.
pub(super) fn is_set(object: &Object<'_>, name: &str) -> bool {
    let Some(member) = object.member(name) else { return false };
    let kind = member.envoy.map(Field::kind);
    match (&member.entry.value.value, kind) {
        (NodeValue::Null, _) | (_, None) => false,
        (_, Some(Kind::Message(_))) => true,
        (NodeValue::Bool(written), _) => *written,
        (NodeValue::String(text) | NodeValue::Number(text), Some(Kind::Enum(of))) => {
            of.by_name(text).or_else(|| text.parse().ok()) != Some(0)
        }
        (NodeValue::Number(text), _) => text.parse() != Ok(0.0),
        (NodeValue::String(text), _) => !text.is_empty(),
        (NodeValue::List(items), _) => !items.is_empty(),
        (NodeValue::Map(entries), _) => !entries.is_empty(),
    }
}

/// Text that is not empty.
pub(super) fn text<'a>(object: &Object<'a>, name: &str) -> Option<&'a str> {
    object.text(name).filter(|text| !text.is_empty())
}

pub(super) fn is_true(object: &Object<'_>, name: &str) -> bool {
    object.member(name).is_some_and(|member| member.entry.value.value == NodeValue::Bool(true))
}

pub(super) fn span(object: &Object<'_>, name: &str) -> Span {
    object.member(name).map_or(object.span, |member| member.entry.key_span)
}

/// Whether an enum has this value, by name or by number.
pub(super) fn is(object: &Object<'_>, name: &str, value: &str) -> bool {
    let Some(member) = object.member(name) else { return false };
    let Some(Kind::Enum(of)) = member.envoy.map(Field::kind) else { return false };
    let written = match &member.entry.value.value {
        NodeValue::String(text) => of.by_name(text),
        NodeValue::Number(text) => text.parse().ok(),
        _ => None,
    };
    written.is_some() && written == of.by_name(value)
}

/// The object in a field of another.
pub(super) fn child<'v, 'a>(value: &'v PatchValue<'a>, object: &Object<'_>, name: &str) -> Option<&'v Object<'a>> {
    let place = value.objects.iter().position(|other| std::ptr::eq(other.node, object.node))?;
    value.objects.iter().find(|other| other.parent.is_some_and(|(at, field)| at == place && field.name() == name))
}

/// The object that contains another, if it is of this type.
pub(super) fn holder<'v, 'a>(
    value: &'v PatchValue<'a>,
    object: &Object<'_>,
    name: &str,
) -> Option<(&'v Object<'a>, &'static str)> {
    let (at, field) = object.parent?;
    value.objects.get(at).filter(|parent| parent.full_name() == name).map(|parent| (parent, field.name()))
}
