//! What a field takes, where a value has another JSON type.

use std::fmt;

/// What istiod's `jsonpb` takes for a field, in the user's words by `Display`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A mapping.
    Mapping,
    /// A mapping with `@type`: an `Any`.
    TypedMapping,
    /// A list.
    List,
    /// An RFC 3339 time.
    Time,
    /// The name of an enum value.
    EnumName,
    /// The name or the number of an enum value.
    EnumValue,
    /// True or false.
    Boolean,
    /// A string.
    Text,
    /// A string where a number or Boolean is written: quotes make it one.
    QuotedText,
    /// Bytes in base64.
    Bytes,
    /// A number.
    Number,
    /// A whole number.
    WholeNumber,
    /// A whole number from the first to the second.
    WholeNumberFrom(i128, i128),
    /// A type URL.
    TypeUrl,
}

impl Expected {
    /// Whether it is a whole number, of any range.
    pub(crate) const fn is_whole_number(self) -> bool {
        matches!(self, Expected::WholeNumber | Expected::WholeNumberFrom(..))
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Expected::Mapping => "a mapping",
            Expected::TypedMapping => "a mapping with `@type`",
            Expected::List => "a list",
            Expected::Time => "a time such as \"2026-01-31T12:00:00Z\"",
            Expected::EnumName => "the name of an enum value",
            Expected::EnumValue => "the name or the number of an enum value",
            Expected::Boolean => "true or false",
            Expected::Text | Expected::QuotedText => "a string",
            Expected::Bytes => "bytes in base64",
            Expected::Number => "a number",
            Expected::WholeNumber => "a whole number",
            Expected::WholeNumberFrom(low, high) => return write!(out, "a whole number from {low} to {high}"),
            Expected::TypeUrl => "a type URL",
        })
    }
}
