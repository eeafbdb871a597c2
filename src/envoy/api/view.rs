//! What is known about a name of the Envoy API: plain data, and the JSON of `schemas/api.json`.

use serde::Serialize;

/// A release of Envoy and the Istio release that ships it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// `1.33`.
    pub envoy: String,
    /// `1.25`.
    pub istio: String,
}

/// When an item was added and removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Life {
    /// The first release with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<Reference>,
    /// Whether the oldest known release already has it, so the first is unknown.
    pub added_before_known: bool,
    /// The first release that deprecates it; absent when that is before the oldest known one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Reference>,
    /// The same from a table that goes further back: `since Envoy 1.19 or earlier`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated_words: Option<String>,
    /// Whether the newest release deprecates it.
    pub is_deprecated: bool,
    /// The first release that disallows it by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disallowed: Option<Reference>,
    /// The first release without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<Reference>,
    /// Its replacement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// Why nothing replaces it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_replacement: Option<String>,
    /// Nothing is known about its history.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
}

/// A field of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its type in words.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Whether the newest release deprecates it.
    pub deprecated: bool,
    /// Whether Envoy rejects the message without it.
    pub required: bool,
    /// The oneof it is part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oneof: Option<String>,
}

/// The Istio proxies that an extension is built into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProxyBuild {
    /// The extension.
    pub extension: String,
    /// `stable`, `alpha`, `wip`; empty when unknown.
    pub status: String,
    /// First Istio whose build files list it; absent when none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// Last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// The releases whose build files were checked.
    pub looked_at: String,
}

/// What is known about a name.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// `message`, `field`, `enum`, `value`, `extension` or `runtime guard`.
    pub kind: &'static str,
    /// Its full name.
    pub name: String,
    /// Type in words.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// Its name in JSON, if different.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_name: Option<String>,
    /// Field or enum number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// The proto file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// A page about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
    /// Envoy's constraints.
    pub constraints: Vec<String>,
    /// When it was added and removed in Envoy.
    pub life: Life,
    /// The releases of istiod that know it; absent when none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub istiod: Option<String>,
    /// The extensions it configures, and the Istio proxies they are built into.
    pub builds: Vec<ProxyBuild>,
    /// Further notes.
    pub notes: Vec<String>,
    /// Fields of the message, or of the field's message.
    pub fields: Vec<Member>,
    /// Values of the enum; for an extension, the messages that configure it.
    pub values: Vec<String>,
}

impl Entry {
    pub(super) fn new(kind: &'static str, name: &str) -> Entry {
        Entry { kind, name: name.to_owned(), ..Entry::default() }
    }
}
