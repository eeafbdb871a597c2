//! Wire bytes of messages, as Go's protobuf writes and reads them.
//!
//! Merging needs bytes in only two cases: istiod up to 1.26 reads the bytes of one message as another type when a MERGE meets a
//! different type, and so does a merge of two `Any`s of which the second is empty. prost cannot be used: it rejects a known
//! field with another wire type, which Go keeps as an unknown field, and Go writes oneofs last.

use super::bytes::{Raw, read_field, read_varint};
use super::decode::{is_default, parse_go_duration, write_duration};
use super::items::Items;
use super::json;
use super::schema::{Cardinality, Field, Kind, Message, Schema, WellKnown};
use super::tree::{TYPE_KEY, Tree, Value};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::borrow::Cow;

/// The payload of an `Any`, encoded as its own type and decoded as another. Fields with the same number and wire type are kept;
/// the others become unknown fields and are missing from the JSON. `None` when a type is unknown or the bytes do not parse as
/// that type.
pub fn reinterpret(schema: Schema, any: &Tree<'_>, as_type: &str) -> Option<Tree<'static>> {
    let mut opened = any.clone();
    opened.open();
    let own = schema.message(&opened.type_name()?)?;
    let target = schema.message(as_type)?;
    let bytes = encode_payload(schema, own, &opened)?;
    let mut tree = decode_payload(schema, target, &bytes, 0)?;
    if let Some(entries) = tree.entries_mut() {
        let url = format!("type.googleapis.com/{as_type}");
        entries.insert(0, (Cow::Borrowed(TYPE_KEY), Tree::string(url, any.origin)));
    }
    Some(tree)
}

/// A message as the bytes of an `Any`, the form in which istiod sends a resource. `None` when it contains a type that the
/// schema does not know, or a value that does not fit its field.
pub(crate) fn any(schema: Schema, type_name: &str, tree: &Tree<'_>) -> Option<Vec<u8>> {
    let mut payload = Vec::new();
    encode_fields(schema, schema.message(type_name)?, tree, &mut payload)?;
    let mut out = Vec::new();
    field(1, format!("type.googleapis.com/{type_name}").as_bytes(), &mut out);
    field(2, &payload, &mut out);
    Some(out)
}

/// The bytes of a message as a tree. `None` when they contain a type that the schema does not know, or do not parse.
pub(crate) fn message(schema: Schema, type_name: &str, bytes: &[u8]) -> Option<Tree<'static>> {
    decode_message(schema, schema.message(type_name)?, bytes, 0)
}

/// Appends a field with bytes, text or a message.
pub(crate) fn field(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    bytes_field(number, bytes, out);
}

/// The payload of an opened `Any`.
fn encode_payload(schema: Schema, message: Message, any: &Tree<'_>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    match message.well_known() {
        Some(_) => encode_message(schema, message, any.get("value")?, &mut out)?,
        None => encode_fields(schema, message, any, &mut out)?,
    }
    Some(out)
}

fn decode_payload(schema: Schema, message: Message, bytes: &[u8], depth: usize) -> Option<Tree<'static>> {
    let tree = decode_message(schema, message, bytes, depth)?;
    // The JSON of Empty shows no value.
    if message.well_known() == Some(WellKnown::Empty) {
        return Some(Tree::empty());
    }
    if message.well_known().is_some() {
        return Some(Tree::new(Value::Map(vec![(Cow::Borrowed("value"), tree)].into())));
    }
    Some(tree)
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

fn tag(number: u32, wire: u8, out: &mut Vec<u8>) {
    varint(u64::from(number) << 3 | u64::from(wire), out);
}

fn bytes_field(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    tag(number, 2, out);
    varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn encode_fields(schema: Schema, message: Message, tree: &Tree<'_>, out: &mut Vec<u8>) -> Option<()> {
    let mut fields: Vec<(Field, &Tree<'_>)> =
        tree.entries().iter().filter_map(|(key, value)| Some((message.field(key)?, value))).collect();
    fields.sort_by_key(|(field, _)| (field.oneof().is_some(), field.number()));
    for (field, value) in fields {
        encode_field(schema, field, value, out)?;
    }
    Some(())
}

fn encode_field(schema: Schema, field: Field, value: &Tree<'_>, out: &mut Vec<u8>) -> Option<()> {
    match field.cardinality() {
        Cardinality::Map => {
            let (key_kind, value_kind) = field.map_entry()?;
            let mut entries: Vec<_> = value.entries().iter().collect();
            entries.sort_by(|left, right| left.0.cmp(&right.0));
            for (key, value) in entries {
                let mut entry = Vec::new();
                encode_single(schema, 1, key_kind, &map_key(key_kind, key), &mut entry)?;
                encode_single(schema, 2, value_kind, value, &mut entry)?;
                bytes_field(field.number(), &entry, out);
            }
        }
        Cardinality::Repeated if packable(field.kind()) => {
            let mut packed = Vec::new();
            for item in value.items() {
                encode_scalar(field.kind(), item, &mut packed)?;
            }
            bytes_field(field.number(), &packed, out);
        }
        Cardinality::Repeated => {
            for item in value.items() {
                encode_single(schema, field.number(), field.kind(), item, out)?;
            }
        }
        _ => encode_single(schema, field.number(), field.kind(), value, out)?,
    }
    Some(())
}

fn map_key(kind: Kind, key: &str) -> Tree<'_> {
    Tree::new(match kind {
        Kind::String => Value::String(Cow::Borrowed(key)),
        Kind::Bool => Value::Bool(key == "true"),
        _ => Value::Number(Cow::Borrowed(key)),
    })
}

fn packable(kind: Kind) -> bool {
    !matches!(kind, Kind::String | Kind::Bytes | Kind::Message(_))
}

fn encode_single(schema: Schema, number: u32, kind: Kind, value: &Tree<'_>, out: &mut Vec<u8>) -> Option<()> {
    match kind {
        Kind::Message(message) => {
            let mut inner = Vec::new();
            encode_message(schema, message, value, &mut inner)?;
            bytes_field(number, &inner, out);
        }
        Kind::String => bytes_field(number, value.as_str()?.as_bytes(), out),
        Kind::Bytes => bytes_field(number, &BASE64_STANDARD.decode(value.as_str()?).ok()?, out),
        scalar => {
            tag(number, wire_type(scalar), out);
            encode_scalar(scalar, value, out)?;
        }
    }
    Some(())
}

fn wire_type(kind: Kind) -> u8 {
    match kind {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => 1,
        Kind::String | Kind::Bytes | Kind::Message(_) => 2,
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => 5,
        _ => 0,
    }
}

#[allow(clippy::cast_possible_truncation, reason = "a float field holds a float")]
fn encode_scalar(kind: Kind, value: &Tree<'_>, out: &mut Vec<u8>) -> Option<()> {
    let text = value.as_str();
    let signed = || text.and_then(|text| text.parse::<i64>().ok());
    match kind {
        Kind::Bool => out.push(u8::from(matches!(value.value, Value::Bool(true)))),
        Kind::Double => out.extend(text?.parse::<f64>().ok()?.to_le_bytes()),
        Kind::Float => out.extend((text?.parse::<f64>().ok()? as f32).to_le_bytes()),
        Kind::Uint32 | Kind::Uint64 => varint(text?.parse().ok()?, out),
        Kind::Fixed32 => out.extend(text?.parse::<u32>().ok()?.to_le_bytes()),
        Kind::Sfixed32 => out.extend(text?.parse::<i32>().ok()?.to_le_bytes()),
        Kind::Fixed64 => out.extend(text?.parse::<u64>().ok()?.to_le_bytes()),
        Kind::Sfixed64 => out.extend(signed()?.to_le_bytes()),
        Kind::Sint32 | Kind::Sint64 => {
            let number = signed()?;
            varint(((number << 1) ^ (number >> 63)).cast_unsigned(), out);
        }
        Kind::Enum(enumeration) => {
            let number = enumeration.by_name(text?).map_or_else(|| text?.parse().ok(), Some)?;
            varint(i64::from(number).cast_unsigned(), out);
        }
        _ => varint(signed()?.cast_unsigned(), out),
    }
    Some(())
}

fn encode_message(schema: Schema, message: Message, tree: &Tree<'_>, out: &mut Vec<u8>) -> Option<()> {
    match message.well_known() {
        Some(WellKnown::Any) => {
            let mut any = tree.clone();
            any.open();
            let inner = schema.message(&any.type_name()?)?;
            bytes_field(1, any.type_url()?.as_bytes(), out);
            let payload = encode_payload(schema, inner, &any)?;
            if !payload.is_empty() {
                bytes_field(2, &payload, out);
            }
        }
        Some(WellKnown::Duration) => {
            let nanos = parse_go_duration(tree.as_str()?)?;
            for (number, part) in [(1, nanos / 1_000_000_000), (2, nanos % 1_000_000_000)] {
                if part != 0 {
                    tag(number, 0, out);
                    varint(part.cast_unsigned(), out);
                }
            }
        }
        Some(WellKnown::Wrapper(kind)) => {
            if !is_default(kind, tree) {
                encode_single(schema, 1, kind, tree, out)?;
            }
        }
        Some(WellKnown::Struct) => {
            let mut entries: Vec<_> = tree.entries().iter().collect();
            entries.sort_by(|left, right| left.0.cmp(&right.0));
            for (key, value) in entries {
                let mut entry = Vec::new();
                bytes_field(1, key.as_bytes(), &mut entry);
                let mut inner = Vec::new();
                encode_json(value, &mut inner)?;
                bytes_field(2, &inner, &mut entry);
                bytes_field(1, &entry, out);
            }
        }
        Some(WellKnown::Value) => encode_json(tree, out)?,
        Some(WellKnown::ListValue) => encode_json_list(tree, out)?,
        _ => encode_fields(schema, message, tree, out)?,
    }
    Some(())
}

/// A `google.protobuf.Value`.
fn encode_json(tree: &Tree<'_>, out: &mut Vec<u8>) -> Option<()> {
    let mut opened = tree.clone();
    opened.open();
    match &opened.value {
        Value::Null => {
            tag(1, 0, out);
            out.push(0);
        }
        Value::Number(text) => {
            tag(2, 1, out);
            out.extend(text.parse::<f64>().ok()?.to_le_bytes());
        }
        Value::String(text) => bytes_field(3, text.as_bytes(), out),
        Value::Bool(value) => {
            tag(4, 0, out);
            out.push(u8::from(*value));
        }
        Value::Map(entries) => {
            let mut fields = Vec::new();
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by(|left, right| left.0.cmp(&right.0));
            for (key, value) in entries {
                let (mut entry, mut inner) = (Vec::new(), Vec::new());
                bytes_field(1, key.as_bytes(), &mut entry);
                encode_json(value, &mut inner)?;
                bytes_field(2, &inner, &mut entry);
                bytes_field(1, &entry, &mut fields);
            }
            bytes_field(5, &fields, out);
        }
        Value::List(_) | Value::EmptyList => {
            let mut items = Vec::new();
            encode_json_list(&opened, &mut items)?;
            bytes_field(6, &items, out);
        }
        Value::Raw(_) => return None,
    }
    Some(())
}

fn encode_json_list(tree: &Tree<'_>, out: &mut Vec<u8>) -> Option<()> {
    for item in tree.items() {
        let mut inner = Vec::new();
        encode_json(item, &mut inner)?;
        bytes_field(1, &inner, out);
    }
    Some(())
}

/// Deepest nesting of messages that is decoded. Go's limit is 10,000; real messages come near neither.
/// Maximum number of levels, those inside of `Any`s included: as deep as JSON is read.
const MAX_DEPTH: usize = json::MAX_DEPTH;

fn decode_message(schema: Schema, message: Message, bytes: &[u8], depth: usize) -> Option<Tree<'static>> {
    if depth > MAX_DEPTH {
        return None;
    }
    let fields = decode_fields(schema, message, bytes, depth)?;
    let get = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, tree)| tree);
    let number = |name: &str| get(name).and_then(|tree| tree.as_str()?.parse::<i64>().ok()).unwrap_or(0);
    Some(match message.well_known() {
        Some(WellKnown::Any) => {
            let url = get("type_url").and_then(Tree::as_str).unwrap_or_default().to_owned();
            let payload = BASE64_STANDARD.decode(get("value").and_then(Tree::as_str).unwrap_or_default()).ok()?;
            if url.is_empty() && payload.is_empty() {
                return Some(Tree::empty());
            }
            let inner = schema.message(super::tree::type_name(&url))?;
            let mut tree = decode_payload(schema, inner, &payload, depth + 1)?;
            tree.entries_mut()?.insert(0, (Cow::Borrowed(TYPE_KEY), Tree::new(Value::String(url.into()))));
            tree
        }
        Some(WellKnown::Duration) => {
            let nanos = number("seconds").checked_mul(1_000_000_000)?.checked_add(number("nanos"))?;
            Tree::new(Value::String(write_duration(nanos).into()))
        }
        Some(WellKnown::Wrapper(kind)) => match get("value") {
            Some(value) => value.clone(),
            None => default_of(kind),
        },
        Some(WellKnown::Struct) => match get("fields") {
            Some(fields) => fields.clone(),
            None => Tree::empty(),
        },
        Some(WellKnown::ListValue) => match get("values") {
            Some(values) => values.clone(),
            None => Tree::new(Value::EmptyList),
        },
        Some(WellKnown::Value) => match fields.into_iter().next() {
            Some((key, value)) if key != "null_value" => value,
            _ => Tree::new(Value::Null),
        },
        _ => Tree::new(Value::Map(fields.into())),
    })
}

type Entries = Vec<(Cow<'static, str>, Tree<'static>)>;

fn decode_fields(schema: Schema, message: Message, mut bytes: &[u8], depth: usize) -> Option<Entries> {
    let mut out: Entries = Vec::new();
    // A message given in several pieces is the concatenation of their bytes.
    let mut pieces: Vec<(Field, Message, Vec<u8>)> = Vec::new();
    while !bytes.is_empty() {
        let (number, raw) = read_field(&mut bytes)?;
        let Some(field) = message.field_by_number(number) else { continue };
        let name = field.name();
        match (field.cardinality(), field.kind(), raw) {
            (Cardinality::Map, _, Raw::Bytes(entry)) => {
                let (key, value) = decode_entry(schema, field, entry, depth)?;
                let map = slot(&mut out, name, || Value::Map(Items::default()));
                map.set(key, value);
            }
            (Cardinality::Repeated, Kind::Message(inner), Raw::Bytes(piece)) => {
                let item = decode_message(schema, inner, piece, depth + 1)?;
                slot(&mut out, name, || Value::List(Items::default())).items_mut()?.push(item);
            }
            (Cardinality::Repeated, kind, Raw::Bytes(mut packed)) if packable(kind) => {
                while !packed.is_empty() {
                    let raw = match wire_type(kind) {
                        0 => Raw::Varint(read_varint(&mut packed)?),
                        1 => {
                            let (head, rest) = packed.split_first_chunk::<8>()?;
                            packed = rest;
                            Raw::Fixed64(*head)
                        }
                        _ => {
                            let (head, rest) = packed.split_first_chunk::<4>()?;
                            packed = rest;
                            Raw::Fixed32(*head)
                        }
                    };
                    if let Some(item) = decode_scalar(kind, &raw)? {
                        slot(&mut out, name, || Value::List(Items::default())).items_mut()?.push(item);
                    }
                }
            }
            (Cardinality::Repeated, kind, raw) => {
                if let Some(item) = decode_scalar(kind, &raw)? {
                    slot(&mut out, name, || Value::List(Items::default())).items_mut()?.push(item);
                }
            }
            (_, Kind::Message(inner), Raw::Bytes(piece)) => {
                clear_others(message, field, &mut out, &mut pieces);
                match pieces.iter_mut().find(|(other, ..)| other.number() == field.number()) {
                    Some((_, _, bytes)) => bytes.extend_from_slice(piece),
                    None => pieces.push((field, inner, piece.to_vec())),
                }
            }
            (Cardinality::Map, ..) | (_, Kind::Message(_), _) => {}
            (cardinality, kind, raw) => {
                if let Some(value) = decode_scalar(kind, &raw)? {
                    clear_others(message, field, &mut out, &mut pieces);
                    out.retain(|(key, _)| key != name);
                    if cardinality == Cardinality::Explicit || !is_default(kind, &value) {
                        out.push((Cow::Borrowed(name), value));
                    }
                }
            }
        }
    }
    for (field, inner, bytes) in pieces {
        out.push((Cow::Borrowed(field.name()), decode_message(schema, inner, &bytes, depth + 1)?));
    }
    Some(out)
}

/// Keeps the last member of a oneof.
fn clear_others(message: Message, field: Field, out: &mut Entries, pieces: &mut Vec<(Field, Message, Vec<u8>)>) {
    if let Some(oneof) = field.oneof() {
        let rival = |other: Field| other.oneof() == Some(oneof) && other.number() != field.number();
        out.retain(|(key, _)| !message.field(key).is_some_and(rival));
        pieces.retain(|(other, ..)| !rival(*other));
    }
}

fn slot<'o>(out: &'o mut Entries, name: &'static str, make: impl FnOnce() -> Value<'static>) -> &'o mut Tree<'static> {
    let at = out.iter().position(|(key, _)| *key == name).unwrap_or_else(|| {
        out.push((Cow::Borrowed(name), Tree::new(make())));
        out.len() - 1
    });
    &mut out[at].1
}

fn decode_entry(
    schema: Schema,
    field: Field,
    mut bytes: &[u8],
    depth: usize,
) -> Option<(Cow<'static, str>, Tree<'static>)> {
    let (key_kind, value_kind) = field.map_entry()?;
    let mut key = default_of(key_kind);
    let mut value = match value_kind {
        Kind::Message(inner) => decode_message(schema, inner, &[], depth + 1)?,
        kind => default_of(kind),
    };
    while !bytes.is_empty() {
        let (number, raw) = read_field(&mut bytes)?;
        match (number, value_kind, &raw) {
            (1, ..) => key = decode_scalar(key_kind, &raw)?.unwrap_or(key),
            (2, Kind::Message(inner), Raw::Bytes(piece)) => value = decode_message(schema, inner, piece, depth + 1)?,
            (2, Kind::Message(_), _) => {}
            (2, kind, _) => value = decode_scalar(kind, &raw)?.unwrap_or(value),
            _ => {}
        }
    }
    let key = match &key.value {
        Value::Bool(value) => value.to_string(),
        _ => key.as_str().unwrap_or_default().to_owned(),
    };
    Some((Cow::Owned(key), value))
}

fn default_of(kind: Kind) -> Tree<'static> {
    Tree::new(match kind {
        Kind::Bool => Value::Bool(false),
        Kind::String | Kind::Bytes => Value::String("".into()),
        Kind::Enum(enumeration) => match enumeration.by_number(0) {
            Some(value) => Value::String(value.name().into()),
            None => Value::Number("0".into()),
        },
        Kind::Int64 | Kind::Uint64 | Kind::Sint64 | Kind::Fixed64 | Kind::Sfixed64 => Value::String("0".into()),
        Kind::Message(_) => Value::Map(Items::default()),
        _ => Value::Number("0".into()),
    })
}

/// A scalar; `Some(None)` for another wire type (an unknown field in Go), `None` when it is malformed.
#[allow(clippy::cast_possible_truncation, reason = "protobuf cuts a varint to the width of its field")]
#[allow(clippy::option_option, reason = "malformed, unknown and known are three answers, and `?` reads the first")]
fn decode_scalar(kind: Kind, raw: &Raw<'_>) -> Option<Option<Tree<'static>>> {
    let number = |text: String| Value::Number(Cow::Owned(text));
    let wide = |text: String| Value::String(Cow::Owned(text));
    let value = match (kind, raw) {
        (Kind::Bool, Raw::Varint(value)) => Value::Bool(*value != 0),
        (Kind::Int32, Raw::Varint(value)) => number((*value as u32).cast_signed().to_string()),
        (Kind::Uint32, Raw::Varint(value)) => number((*value as u32).to_string()),
        (Kind::Int64, Raw::Varint(value)) => wide(value.cast_signed().to_string()),
        (Kind::Uint64, Raw::Varint(value)) => wide(value.to_string()),
        (Kind::Sint32 | Kind::Sint64, Raw::Varint(value)) => {
            let value = (value >> 1).cast_signed() ^ -(value & 1).cast_signed();
            if kind == Kind::Sint64 { wide(value.to_string()) } else { number((value as i32).to_string()) }
        }
        (Kind::Enum(enumeration), Raw::Varint(value)) => {
            let value = (*value as u32).cast_signed();
            match enumeration.by_number(value) {
                Some(known) => Value::String(known.name().into()),
                None => number(value.to_string()),
            }
        }
        (Kind::Double, Raw::Fixed64(bytes)) => {
            float(f64::from_le_bytes(*bytes), f64::from_le_bytes(*bytes).to_string())
        }
        (Kind::Float, Raw::Fixed32(bytes)) => {
            float(f32::from_le_bytes(*bytes).into(), f32::from_le_bytes(*bytes).to_string())
        }
        (Kind::Fixed64, Raw::Fixed64(bytes)) => wide(u64::from_le_bytes(*bytes).to_string()),
        (Kind::Sfixed64, Raw::Fixed64(bytes)) => wide(i64::from_le_bytes(*bytes).to_string()),
        (Kind::Fixed32, Raw::Fixed32(bytes)) => number(u32::from_le_bytes(*bytes).to_string()),
        (Kind::Sfixed32, Raw::Fixed32(bytes)) => number(i32::from_le_bytes(*bytes).to_string()),
        (Kind::String, Raw::Bytes(bytes)) => Value::String(Cow::Owned(std::str::from_utf8(bytes).ok()?.to_owned())),
        (Kind::Bytes, Raw::Bytes(bytes)) => Value::String(Cow::Owned(BASE64_STANDARD.encode(bytes))),
        _ => return Some(None),
    };
    Some(Some(Tree::new(value)))
}

fn float(value: f64, text: String) -> Value<'static> {
    if value.is_nan() {
        Value::String("NaN".into())
    } else if value.is_infinite() {
        Value::String(if value > 0.0 { "Infinity" } else { "-Infinity" }.into())
    } else {
        Value::Number(Cow::Owned(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::release::Release;

    /// An `Any` in this many others.
    fn nested(levels: usize) -> Vec<u8> {
        (0..levels).fold(Vec::new(), |inner, _| {
            let mut any = Vec::new();
            field(1, b"type.googleapis.com/google.protobuf.Any", &mut any);
            field(2, &inner, &mut any);
            any
        })
    }

    #[test]
    fn nested_payloads_are_read_up_to_a_level() {
        let schema = Schema::istiod(Release::NEWEST.minor, 0);
        let read = |levels| message(schema, "google.protobuf.Any", &nested(levels));
        assert!(read(MAX_DEPTH / 2).is_some());
        // Without the limit, this ends the process.
        assert!(read(4_000).is_none());
    }
}
