//! The API in the descriptors of a release: messages, their predecessors and reserved names, fields and enum values.

use std::collections::BTreeMap;

use prost::Message;

use crate::envoydb::Result;

#[cfg(test)]
pub(super) mod build;

/// The API of a release, by full name.
#[derive(Default)]
pub(super) struct Api {
    pub(super) messages: BTreeMap<String, MessageFacts>,
    /// Fields (`package.Message.field`) and enum values (`package.Enum.VALUE`).
    pub(super) members: BTreeMap<String, MemberFacts>,
}

#[derive(Default)]
pub(super) struct MessageFacts {
    /// `udpa.annotations.versioning.previous_message_type`; empty if there is none.
    pub(super) previous: String,
    /// Names of removed fields.
    pub(super) reserved: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MemberFacts {
    pub(super) deprecated: bool,
    /// `envoy.annotations.disallowed_by_default`.
    pub(super) disallowed: bool,
}

/// Third-party packages that Envoy's API imports and whose changes are not Envoy's.
const FOREIGN: [&str; 8] = [
    "cel.",
    "google.",
    "io.prometheus.",
    "opencensus.",
    "opentelemetry.",
    "udpa.annotations.",
    "xds.annotations.",
    "validate.",
];

/// Whether a full name belongs to Envoy's own API or to that of Istio's filters.
pub(super) fn is_own(name: &str) -> bool {
    !FOREIGN.iter().any(|foreign| name.starts_with(foreign))
}

/// The package of a message: messages start with a capital letter, packages do not.
pub(super) fn package(message: &str) -> &str {
    let mut end = 0;
    for part in message.split('.').take_while(|part| !part.starts_with(|first: char| first.is_ascii_uppercase())) {
        end += part.len() + 1;
    }
    message.get(..end.saturating_sub(1)).unwrap_or_default()
}

impl Api {
    /// Reads serialized `FileDescriptorProto`s.
    pub(super) fn read<'a>(files: impl IntoIterator<Item = &'a [u8]>) -> Result<Api> {
        let mut api = Api::default();
        for file in files {
            let file = File::decode(file)?;
            let package = format!("{}.", file.package);
            file.messages.into_iter().for_each(|message| api.add(&package, message));
            file.enums.into_iter().for_each(|found| api.add_enum(&package, found));
        }
        Ok(api)
    }

    fn add(&mut self, scope: &str, message: MessageProto) {
        let options = message.options.unwrap_or_default();
        // Nobody writes or names an entry of a map.
        if options.map_entry {
            return;
        }
        let name = format!("{scope}{}", message.name);
        let inner = format!("{name}.");
        for field in message.fields {
            let options = field.options.unwrap_or_default();
            let facts = MemberFacts { deprecated: options.deprecated, disallowed: options.disallowed };
            self.members.insert(format!("{inner}{}", field.name), facts);
        }
        message.messages.into_iter().for_each(|nested| self.add(&inner, nested));
        message.enums.into_iter().for_each(|nested| self.add_enum(&inner, nested));
        let previous = options.versioning.unwrap_or_default().previous;
        self.messages.insert(name, MessageFacts { previous, reserved: message.reserved });
    }

    fn add_enum(&mut self, scope: &str, found: EnumProto) {
        for value in found.values {
            let options = value.options.unwrap_or_default();
            let facts = MemberFacts { deprecated: options.deprecated, disallowed: options.disallowed };
            self.members.insert(format!("{scope}{}.{}", found.name, value.name), facts);
        }
    }
}

/// The parts of `google.protobuf.FileDescriptorProto` that are needed here; likewise below.
#[derive(Clone, PartialEq, Message)]
pub(super) struct File {
    #[prost(string, tag = "2")]
    pub(super) package: String,
    #[prost(message, repeated, tag = "4")]
    pub(super) messages: Vec<MessageProto>,
    #[prost(message, repeated, tag = "5")]
    pub(super) enums: Vec<EnumProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct MessageProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, repeated, tag = "2")]
    pub(super) fields: Vec<FieldProto>,
    #[prost(message, repeated, tag = "3")]
    pub(super) messages: Vec<MessageProto>,
    #[prost(message, repeated, tag = "4")]
    pub(super) enums: Vec<EnumProto>,
    #[prost(message, optional, tag = "7")]
    pub(super) options: Option<MessageOptions>,
    #[prost(string, repeated, tag = "10")]
    pub(super) reserved: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct MessageOptions {
    #[prost(bool, tag = "7")]
    pub(super) map_entry: bool,
    /// `udpa.annotations.versioning`.
    #[prost(message, optional, tag = "7881811")]
    pub(super) versioning: Option<Versioning>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Versioning {
    #[prost(string, tag = "1")]
    pub(super) previous: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct FieldProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, optional, tag = "8")]
    pub(super) options: Option<FieldOptions>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct FieldOptions {
    #[prost(bool, tag = "3")]
    pub(super) deprecated: bool,
    /// `envoy.annotations.disallowed_by_default`.
    #[prost(bool, tag = "189503207")]
    pub(super) disallowed: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct EnumProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, repeated, tag = "2")]
    pub(super) values: Vec<ValueProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, optional, tag = "3")]
    pub(super) options: Option<ValueOptions>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueOptions {
    #[prost(bool, tag = "1")]
    pub(super) deprecated: bool,
    /// `envoy.annotations.disallowed_by_default_enum`.
    #[prost(bool, tag = "70100853")]
    pub(super) disallowed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_names_options_and_map_entries_are_read() {
        let entry = MessageProto {
            name: "LabelsEntry".to_owned(),
            fields: vec![build::field("key", "")],
            options: Some(MessageOptions { map_entry: true, versioning: None }),
            ..MessageProto::default()
        };
        let mut outer =
            build::message("Outer", &[("old", "deprecated"), ("worse", "deprecated disallowed"), ("new", "")]);
        outer.messages = vec![build::message("Inner", &[("x", "")]), entry];
        outer.enums = vec![build::enumeration("Kind", &[("A", ""), ("B", "disallowed")])];
        outer.reserved = vec!["gone".to_owned()];
        outer.options = Some(MessageOptions {
            map_entry: false,
            versioning: Some(Versioning { previous: "envoy.api.v2.Outer".to_owned() }),
        });
        let api = build::api("envoy.v3", vec![outer]);
        assert_eq!(api.messages.keys().collect::<Vec<_>>(), ["envoy.v3.Outer", "envoy.v3.Outer.Inner"]);
        let facts = &api.messages["envoy.v3.Outer"];
        assert_eq!((facts.previous.as_str(), &facts.reserved[..]), ("envoy.api.v2.Outer", &["gone".to_owned()][..]));
        let flags = |(name, facts): (&String, &MemberFacts)| {
            (name["envoy.v3.Outer.".len()..].to_owned(), facts.deprecated, facts.disallowed)
        };
        let flags: Vec<_> = api.members.iter().map(flags).collect();
        assert_eq!(
            flags,
            [
                ("Inner.x", false, false),
                ("Kind.A", false, false),
                ("Kind.B", false, true),
                ("new", false, false),
                ("old", true, false),
                ("worse", true, true),
            ]
            .map(|(name, deprecated, disallowed)| (name.to_owned(), deprecated, disallowed))
        );
    }

    #[test]
    fn the_numbers_of_the_options_are_those_of_the_store() {
        let sets = crate::envoydb::committed().unwrap();
        let newest = Api::read(sets[0].1.iter().map(Vec::as_slice)).unwrap();
        assert_eq!(newest.messages["envoy.config.cluster.v3.Cluster"].previous, "envoy.api.v2.Cluster");
        let flags = |name: &str| (newest.members[name].deprecated, newest.members[name].disallowed);
        assert_eq!(
            flags("envoy.config.core.v3.ApiConfigSource.ApiType.DEPRECATED_AND_UNAVAILABLE_DO_NOT_USE"),
            (true, true)
        );
        assert_eq!(flags("envoy.config.route.v3.RateLimit.Action.dynamic_metadata"), (true, true));
        assert_eq!(flags("envoy.config.cluster.v3.Cluster.http2_protocol_options"), (true, false));
    }

    #[test]
    fn a_package_ends_before_the_first_capital_letter() {
        assert_eq!(package("envoy.type.matcher.RegexMatcher.GoogleRE2"), "envoy.type.matcher");
        assert_eq!(package("stats.PluginConfig"), "stats");
        assert_eq!(package("Message"), "");
    }
}
