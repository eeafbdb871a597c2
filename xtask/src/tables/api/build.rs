//! Small APIs for tests.

use super::{
    Api, EnumProto, FieldOptions, FieldProto, File, Message, MessageOptions, MessageProto, ValueOptions, ValueProto,
    Versioning,
};

/// An API of one package.
pub(crate) fn api(package: &str, messages: Vec<MessageProto>) -> Api {
    let file = File { package: package.to_owned(), messages, enums: Vec::new() };
    Api::read([file.encode_to_vec().as_slice()]).unwrap()
}

/// A message with fields and their flags: `deprecated`, `disallowed` or both.
pub(crate) fn message(name: &str, fields: &[(&str, &str)]) -> MessageProto {
    let fields = fields.iter().map(|(name, flags)| field(name, flags)).collect();
    MessageProto { name: name.to_owned(), fields, ..MessageProto::default() }
}

/// A message that succeeds another.
pub(crate) fn successor(name: &str, previous: &str) -> MessageProto {
    let versioning = Some(Versioning { previous: previous.to_owned() });
    MessageProto { options: Some(MessageOptions { map_entry: false, versioning }), ..message(name, &[]) }
}

pub(crate) fn field(name: &str, flags: &str) -> FieldProto {
    let options = FieldOptions { deprecated: flags.contains("deprecated"), disallowed: flags.contains("disallowed") };
    FieldProto { name: name.to_owned(), options: Some(options) }
}

pub(crate) fn enumeration(name: &str, values: &[(&str, &str)]) -> EnumProto {
    let value = |&(name, flags): &(&str, &str)| ValueProto {
        name: name.to_owned(),
        options: Some(ValueOptions {
            deprecated: flags.contains("deprecated"),
            disallowed: flags.contains("disallowed"),
        }),
    };
    EnumProto { name: name.to_owned(), values: values.iter().map(value).collect() }
}
