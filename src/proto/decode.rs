//! JSON as a user writes it → a message in canonical form, as istiod's `jsonpb` reads it, with every problem noted.
//!
//! istiod reads a patch value with github.com/golang/protobuf `jsonpb` and `AllowUnknownFields` (releases 1.22 to 1.31): proto
//! and JSON names alike, numbers also in quotes, enums by name or number, durations as Go's `time.ParseDuration` reads them.
//! Unknown fields are dropped; any other mismatch is an error that loses the whole patch.

use super::expected::Expected;
use super::items::Items;
use super::numbers::{bytes, doubles, float, integer, range, signed};
use super::schema::{Cardinality, Enum, Field, Kind, Message, Schema, WellKnown};
use super::time;
use super::tree::{TYPE_KEY, Tree, Value, type_name};
use crate::budget;
use crate::source::Step;
use base64::Engine as _;
use std::borrow::Cow;

/// Something the decoder noticed, and where in the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Keys and items from the root of the value.
    pub route: Vec<Step>,
    /// Full name of the message that was being read.
    pub message: &'static str,
    /// What was noticed.
    pub what: What,
}

/// What the decoder noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The message has no such field: istiod silently drops it.
    UnknownField,
    /// The JSON type does not fit.
    WrongType {
        /// What is expected.
        expected: Expected,
    },
    /// The enum has no such value.
    UnknownEnumValue {
        /// Full name of the enum.
        enumeration: &'static str,
    },
    /// Not a duration.
    BadDuration,
    /// An `Any` without `@type`.
    MissingType,
    /// An `@type` that is no message of this release.
    UnknownType {
        /// The type URL as written.
        url: String,
    },
    /// An `Any` of a well-known type without `value`.
    MissingValue,
    /// Two members of one oneof are set: the one declared last wins.
    OneofTwice {
        /// The member that is lost.
        lost: &'static str,
        /// The member that stays.
        kept: &'static str,
    },
    /// One field under both its proto and its JSON name: the JSON name wins.
    NameTwice,
    /// A scalar at its default: proto3 cannot distinguish it from an absent one.
    DefaultDropped,
}

impl What {
    /// Whether istiod rejects the whole value because of this.
    pub(crate) const fn fatal(&self) -> bool {
        matches!(
            self,
            What::WrongType { .. }
                | What::UnknownEnumValue { .. }
                | What::BadDuration
                | What::MissingType
                | What::UnknownType { .. }
                | What::MissingValue
        )
    }
}

/// A decoded value and what was noticed on the way. The tree is best effort when a notice is fatal.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// The message in canonical form.
    pub tree: Tree<'a>,
    /// What was noticed, in the order of the value.
    pub notices: Vec<Notice>,
}

impl Decoded<'_> {
    /// Whether istiod rejects this value.
    pub fn refused(&self) -> bool {
        self.notices.iter().any(|notice| notice.what.fatal())
    }
}

/// Reads a value as a message of a release.
pub fn decode(schema: Schema, message: Message, value: Tree<'_>) -> Decoded<'_> {
    let mut decoder = Decoder { schema, notices: Vec::new(), route: Vec::new() };
    let origin = value.origin;
    let tree = decoder.message(message, value);
    let mut tree = tree.unwrap_or(Tree { origin, value: Value::Map(Items::default()) });
    tree.set_origin(origin);
    Decoded { tree, notices: decoder.notices }
}

struct Decoder {
    schema: Schema,
    notices: Vec<Notice>,
    route: Vec<Step>,
}

/// Entries of a map under construction.
type Entries<'a> = Vec<(Cow<'a, str>, Tree<'a>)>;

impl Decoder {
    fn note(&mut self, message: Message, what: What) {
        self.notices.push(Notice { route: self.route.clone(), message: message.full_name(), what });
    }

    fn wrong(&mut self, message: Message, expected: Expected) {
        self.note(message, What::WrongType { expected });
    }

    fn within<T>(&mut self, step: impl Into<Step>, work: impl FnOnce(&mut Self) -> T) -> T {
        self.route.push(step.into());
        let result = work(self);
        self.route.pop();
        result
    }

    /// A message; `None` when it cannot be read at all.
    fn message<'a>(&mut self, message: Message, mut value: Tree<'a>) -> Option<Tree<'a>> {
        value.open();
        let origin = value.origin;
        if matches!(value.value, Value::Null) && message.well_known() != Some(WellKnown::Value) {
            let empty = match message.well_known() {
                Some(WellKnown::Wrapper(kind)) => return self.scalar(message, kind, value),
                Some(WellKnown::Duration) => Value::String(write_duration(0).into()),
                Some(WellKnown::Timestamp) => Value::String(time::write((0, 0)).into()),
                Some(WellKnown::ListValue) => Value::EmptyList,
                _ => Value::Map(Items::default()),
            };
            return Some(Tree { origin, value: empty });
        }
        match message.well_known() {
            Some(WellKnown::Any) => self.any(message, value),
            Some(WellKnown::Duration) => self.duration(message, &value),
            Some(WellKnown::Wrapper(kind)) => self.scalar(message, kind, value),
            Some(WellKnown::Timestamp) => {
                if let Value::String(text) = &value.value
                    && let Some(read) = time::read(text)
                {
                    Some(Tree::string(time::write(read), origin))
                } else {
                    self.wrong(message, Expected::Time);
                    None
                }
            }
            Some(WellKnown::Struct) => {
                if let Value::Map(_) = value.value {
                    Some(doubles(value))
                } else {
                    self.wrong(message, Expected::Mapping);
                    None
                }
            }
            Some(WellKnown::ListValue) => {
                if let Value::List(_) | Value::EmptyList = value.value {
                    Some(doubles(value))
                } else {
                    self.wrong(message, Expected::List);
                    None
                }
            }
            Some(WellKnown::Value) => Some(doubles(value)),
            _ => {
                if let Value::Map(entries) = value.value {
                    Some(Tree { origin, value: Value::Map(self.fields(message, entries.into_vec()).into()) })
                } else {
                    self.wrong(message, Expected::Mapping);
                    None
                }
            }
        }
    }

    fn fields<'a>(&mut self, message: Message, entries: Entries<'a>) -> Entries<'a> {
        budget::charge_for(entries.len());
        let mut out: Vec<(Field, Tree<'a>)> = Vec::with_capacity(entries.len());
        // The value under the JSON name wins, even a null or a default, regardless of the order.
        let doubled = |key: &str| {
            let field = message.field(key)?;
            budget::charge_for(entries.len() / 8);
            (key != field.json_name()).then(|| entries.iter().any(|(other, _)| *other == *field.json_name()))
        };
        let lost: Vec<bool> = entries.iter().map(|(key, _)| doubled(key).unwrap_or(false)).collect();
        for ((key, value), lost) in entries.into_iter().zip(lost) {
            let Some(field) = message.field(&key) else {
                self.within(&*key, |this| this.note(message, What::UnknownField));
                continue;
            };
            if lost {
                self.within(&*key, |this| this.note(message, What::NameTwice));
                continue;
            }
            if matches!(value.value, Value::Null) && !takes_null(field) {
                continue;
            }
            if let Some(value) = self.within(&*key, |this| this.field(message, field, value)) {
                out.push((field, value));
            }
        }
        self.oneofs(message, &mut out);
        out.into_iter().map(|(field, value)| (Cow::Borrowed(field.name()), value)).collect()
    }

    /// Keeps only the last declared of several set members of a oneof: jsonpb sets fields in the order of declaration.
    fn oneofs(&mut self, message: Message, out: &mut Vec<(Field, Tree<'_>)>) {
        let position = |field: Field| message.fields().position(|other| other.number() == field.number());
        let mut index = 0;
        while index < out.len() {
            let field = out[index].0;
            let winner = field.oneof().and_then(|oneof| {
                out.iter()
                    .map(|(other, _)| *other)
                    .filter(|other| other.oneof() == Some(oneof))
                    .max_by_key(|other| position(*other))
            });
            match winner {
                Some(kept) if kept.number() != field.number() => {
                    out.remove(index);
                    self.within(field.name(), |this| {
                        this.note(message, What::OneofTwice { lost: field.name(), kept: kept.name() });
                    });
                }
                _ => index += 1,
            }
        }
    }

    fn field<'a>(&mut self, message: Message, field: Field, value: Tree<'a>) -> Option<Tree<'a>> {
        let origin = value.origin;
        match field.cardinality() {
            Cardinality::Repeated => {
                let items = match value.value {
                    Value::List(items) => items,
                    Value::EmptyList => return None,
                    _ => {
                        self.wrong(message, Expected::List);
                        return None;
                    }
                };
                let items: Vec<_> = items
                    .into_iter()
                    .enumerate()
                    .filter_map(|(index, item)| {
                        self.within(index, |this| this.single(message, field.kind(), item, false))
                    })
                    .collect();
                (!items.is_empty()).then_some(Tree { origin, value: Value::List(items.into()) })
            }
            Cardinality::Map => {
                let (Value::Map(entries), Some((_, kind))) = (value.value, field.map_entry()) else {
                    self.wrong(message, Expected::Mapping);
                    return None;
                };
                let entries: Entries<'a> = entries
                    .into_iter()
                    .filter_map(|(key, item)| {
                        let item = self.within(&*key, |this| this.single(message, kind, item, false))?;
                        Some((key, item))
                    })
                    .collect();
                (!entries.is_empty()).then_some(Tree { origin, value: Value::Map(entries.into()) })
            }
            Cardinality::Implicit => {
                let value = self.single(message, field.kind(), value, true)?;
                if is_default(field.kind(), &value) {
                    self.note(message, What::DefaultDropped);
                    return None;
                }
                Some(value)
            }
            Cardinality::Explicit => self.single(message, field.kind(), value, false),
        }
    }

    fn single<'a>(&mut self, message: Message, kind: Kind, value: Tree<'a>, _implicit: bool) -> Option<Tree<'a>> {
        match kind {
            Kind::Message(inner) => self.message(inner, value),
            Kind::Enum(enumeration) => self.enumeration(message, enumeration, value),
            scalar => self.scalar(message, scalar, value),
        }
    }

    fn enumeration<'a>(&mut self, message: Message, enumeration: Enum, value: Tree<'a>) -> Option<Tree<'a>> {
        let origin = value.origin;
        let number = match &value.value {
            Value::Null if enumeration.full_name() == "google.protobuf.NullValue" => return Some(value),
            Value::Null => 0,
            Value::String(name) => {
                if let Some(number) = enumeration.by_name(name) {
                    number
                } else {
                    self.note(message, What::UnknownEnumValue { enumeration: enumeration.full_name() });
                    return None;
                }
            }
            Value::Number(text) => {
                if let Ok(number) = text.parse::<i32>() {
                    number
                } else {
                    self.wrong(message, Expected::EnumValue);
                    return None;
                }
            }
            _ => {
                self.wrong(message, Expected::EnumName);
                return None;
            }
        };
        Some(match enumeration.by_number(number) {
            Some(known) => Tree::string(known.name(), origin),
            None => Tree { origin, value: Value::Number(number.to_string().into()) },
        })
    }

    fn scalar<'a>(&mut self, message: Message, kind: Kind, value: Tree<'a>) -> Option<Tree<'a>> {
        let origin = value.origin;
        let null = matches!(value.value, Value::Null);
        let value = match kind {
            Kind::Bool => match value.value {
                Value::Bool(_) => value.value,
                Value::Null => Value::Bool(false),
                _ => return self.refuse(message, Expected::Boolean),
            },
            Kind::String => match value.value {
                Value::String(_) => value.value,
                Value::Null => Value::String("".into()),
                Value::Number(_) | Value::Bool(_) => return self.refuse(message, Expected::QuotedText),
                _ => return self.refuse(message, Expected::Text),
            },
            Kind::Bytes => match bytes(&value) {
                Some(bytes) => Value::String(base64::prelude::BASE64_STANDARD.encode(bytes).into()),
                None => return self.refuse(message, Expected::Bytes),
            },
            Kind::Float | Kind::Double => {
                if null {
                    Value::Number("0".into())
                } else {
                    match float(kind, &value) {
                        Some(value) => value,
                        None => return self.refuse(message, Expected::Number),
                    }
                }
            }
            _ => {
                let (low, high, wide) = range(kind);
                let number = if null { Some(0) } else { integer(&value).filter(|_| low < 0 || !signed(&value)) };
                match number {
                    Some(number) if (low..=high).contains(&number) => {
                        let text = Cow::Owned(number.to_string());
                        if wide { Value::String(text) } else { Value::Number(text) }
                    }
                    Some(_) => return self.refuse(message, Expected::WholeNumberFrom(low, high)),
                    None => return self.refuse(message, Expected::WholeNumber),
                }
            }
        };
        Some(Tree { origin, value })
    }

    fn refuse<'a>(&mut self, message: Message, expected: Expected) -> Option<Tree<'a>> {
        self.wrong(message, expected);
        None
    }

    fn duration<'a>(&mut self, message: Message, value: &Tree<'a>) -> Option<Tree<'a>> {
        let nanos = match &value.value {
            Value::String(text) => parse_go_duration(text),
            _ => None,
        };
        let Some(nanos) = nanos else {
            self.note(message, What::BadDuration);
            return None;
        };
        Some(Tree::string(write_duration(nanos), value.origin))
    }

    fn any<'a>(&mut self, message: Message, value: Tree<'a>) -> Option<Tree<'a>> {
        let origin = value.origin;
        let Value::Map(entries) = value.value else {
            return self.refuse(message, Expected::TypedMapping);
        };
        let Some((_, url)) = entries.iter().find(|(key, _)| key == TYPE_KEY) else {
            self.note(message, What::MissingType);
            return None;
        };
        let Value::String(url) = url.value.clone() else {
            return self.within(TYPE_KEY, |this| this.refuse(message, Expected::TypeUrl));
        };
        let Some(inner) = self.schema.message(type_name(&url)) else {
            let url = url.into_owned();
            self.within(TYPE_KEY, |this| this.note(message, What::UnknownType { url }));
            return None;
        };
        let mut out: Entries<'a> = vec![(Cow::Borrowed(TYPE_KEY), Tree { origin, value: Value::String(url) })];
        if inner.well_known().is_some() {
            let Some((_, payload)) = entries.into_iter().find(|(key, _)| key == "value") else {
                self.note(message, What::MissingValue);
                return None;
            };
            let payload = self.within("value", |this| this.message(inner, payload))?;
            // Empty requires `value` when read, and is written without it.
            if inner.well_known() != Some(WellKnown::Empty) {
                out.push((Cow::Borrowed("value"), payload));
            }
        } else {
            let entries = entries.into_iter().filter(|(key, _)| key != TYPE_KEY).collect();
            out.extend(self.fields(inner, entries));
        }
        Some(Tree { origin, value: Value::Map(out.into()) })
    }
}

/// Whether `null` is a value of the field rather than its absence.
fn takes_null(field: Field) -> bool {
    matches!(field.cardinality(), Cardinality::Implicit | Cardinality::Explicit)
        && match field.kind() {
            Kind::Message(message) => message.well_known() == Some(WellKnown::Value),
            Kind::Enum(enumeration) => enumeration.full_name() == "google.protobuf.NullValue",
            _ => false,
        }
}

/// Whether a canonical scalar is the default of its kind.
pub fn is_default(kind: Kind, value: &Tree<'_>) -> bool {
    match (&value.value, kind) {
        (Value::Bool(value), _) => !value,
        (Value::Number(text), _) => text.parse::<f64>().is_ok_and(|number| number == 0.0),
        (Value::String(text), Kind::Enum(enumeration)) => enumeration.by_name(text) == Some(0),
        (Value::String(text), Kind::Int64 | Kind::Uint64 | Kind::Sint64 | Kind::Fixed64 | Kind::Sfixed64) => {
            text == "0"
        }
        (Value::String(text), Kind::String | Kind::Bytes) => text.is_empty(),
        _ => false,
    }
}

/// Nanoseconds of a duration as Go's `time.ParseDuration` reads it: `1h15m30.5s`, `500ms`, `-2us`, `0`.
pub(crate) fn parse_go_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (whole, after) = rest.split_at(digits);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => {
                let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
                after.split_at(digits)
            }
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let length = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(length);
        let scale: i128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        total = total.checked_add(whole.checked_mul(scale)?)?;
        let mut unit = scale;
        for digit in fraction.bytes().take(19) {
            unit /= 10;
            total += i128::from(digit - b'0') * unit;
        }
        rest = after;
    }
    let total = if negative { -total } else { total };
    i64::try_from(total).ok()
}

/// A duration as proto JSON writes it: seconds with 0, 3, 6 or 9 decimals.
pub(crate) fn write_duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let (seconds, nanos) = (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
    match nanos {
        0 => format!("{sign}{seconds}s"),
        _ if nanos % 1_000_000 == 0 => format!("{sign}{seconds}.{:03}s", nanos / 1_000_000),
        _ if nanos % 1_000 == 0 => format!("{sign}{seconds}.{:06}s", nanos / 1_000),
        _ => format!("{sign}{seconds}.{nanos:09}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, canonical) in [
            ("1s", "1s"),
            ("500ms", "0.500s"),
            ("1m30s", "90s"),
            ("-1.5h", "-5400s"),
            ("0", "0s"),
            ("1us", "0.000001s"),
            ("1ns", "0.000000001s"),
            (".5s", "0.500s"),
        ] {
            assert_eq!(parse_go_duration(text).map(write_duration).as_deref(), Some(canonical), "{text}");
        }
        for text in ["", "1", "s", "1 s", "1d", "1s ", "--1s", "10000000h"] {
            assert_eq!(parse_go_duration(text), None, "{text}");
        }
    }
}
