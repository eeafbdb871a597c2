//! Messages with proto field names, written with JSON names: the form of istioctl's dumps.

use super::schema::{Kind, Message, Schema, WellKnown};
use super::tree::{TYPE_KEY, Tree, Value};
use std::borrow::Cow;

/// Renames the fields of a message, and of all messages inside that the schema knows, to lowerCamelCase.
pub(crate) fn json_names(schema: Schema, message: Message, tree: &mut Tree<'_>) {
    tree.open();
    match message.well_known() {
        Some(WellKnown::Any) => {
            let inner = tree.type_name().and_then(|name| schema.message(&name));
            // The payload of a well-known type is under `value` and has no fields.
            if let Some(inner) = inner.filter(|inner| inner.well_known().is_none()) {
                fields(schema, inner, tree);
            }
        }
        Some(_) => {}
        None => fields(schema, message, tree),
    }
}

fn fields(schema: Schema, message: Message, tree: &mut Tree<'_>) {
    for (key, value) in tree.entries_mut().into_iter().flatten() {
        if *key == TYPE_KEY {
            continue;
        }
        let Some(field) = message.field(key) else { continue };
        *key = Cow::Borrowed(field.json_name());
        let kind = field.map_entry().map_or_else(|| field.kind(), |(_, value)| value);
        let Kind::Message(inner) = kind else { continue };
        match &mut value.value {
            Value::List(items) if field.is_list() => {
                for item in items {
                    json_names(schema, inner, item);
                }
            }
            Value::Map(entries) if field.is_map() => {
                for (_, value) in entries {
                    json_names(schema, inner, value);
                }
            }
            _ => json_names(schema, inner, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::json::{self, Style};

    #[test]
    fn renames_fields_but_neither_map_keys_nor_structs() {
        let schema = Schema::newest();
        let message = schema.message("envoy.config.cluster.v3.Cluster").unwrap();
        let mut tree = json::parse(
            r#"{"connect_timeout":"1s","metadata":{"filter_metadata":{"my_key":{"in_struct":1}}},
                "typed_extension_protocol_options":{"a_b":{"@type":"type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions","explicit_http_config":{}}}}"#,
        )
        .unwrap();
        json_names(schema, message, &mut tree);
        assert_eq!(
            json::write(&tree, Style::Compact),
            r#"{"connectTimeout":"1s","metadata":{"filterMetadata":{"my_key":{"in_struct":1}}},"typedExtensionProtocolOptions":{"a_b":{"@type":"type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions","explicitHttpConfig":{}}}}"#
        );
    }
}
