//! The constraints that Envoy checks on a field's value: `validate.FieldRules` of protoc-gen-validate, read from its bytes.
//!
//! Rules on the form of addresses, URIs and host names are not read: such values count as valid.

use super::bytes::{Raw, read_field};

/// The rules of one field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rules {
    /// It must be set (a message, an `Any`, a duration).
    pub required: bool,
    /// For numbers.
    pub number: Option<Number>,
    /// For text and bytes.
    pub text: Option<Text>,
    /// For booleans: the only value allowed.
    pub boolean: Option<bool>,
    /// For enums.
    pub enumeration: Option<Enumeration>,
    /// For lists.
    pub list: Option<List>,
    /// For maps.
    pub map: Option<Map>,
    /// For durations, in nanoseconds.
    pub duration: Option<Number>,
    /// For an `Any`: the allowed type URLs; empty for all.
    pub any_in: Vec<String>,
    /// Validation does not descend into a message here: the rule says so, or it is a rule for an `Any` on a field of another
    /// type, for which protoc-gen-validate generates no code.
    pub stops: bool,
}

/// Bounds of a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Number {
    /// The only value allowed.
    pub constant: Option<f64>,
    /// Below.
    pub lt: Option<f64>,
    /// At most.
    pub lte: Option<f64>,
    /// Above.
    pub gt: Option<f64>,
    /// At least.
    pub gte: Option<f64>,
    /// The allowed values; empty for all.
    pub within: Vec<f64>,
    /// The disallowed values.
    pub without: Vec<f64>,
    /// Zero is always allowed.
    pub ignore_empty: bool,
}

/// Rules for text. Lengths of text count characters, those in bytes count bytes.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "as protoc-gen-validate has them")]
pub(crate) struct Text {
    /// The only text allowed.
    pub constant: Option<String>,
    /// Minimum number of characters.
    pub min_len: u64,
    /// Maximum number of characters.
    pub max_len: Option<u64>,
    /// Minimum number of bytes.
    pub min_bytes: u64,
    /// Maximum number of bytes.
    pub max_bytes: Option<u64>,
    /// A regular expression that must match.
    pub pattern: Option<String>,
    /// The required prefix.
    pub prefix: Option<String>,
    /// The required suffix.
    pub suffix: Option<String>,
    /// Text that must occur.
    pub contains: Option<String>,
    /// Text that must not occur.
    pub not_contains: Option<String>,
    /// The allowed texts; empty for all.
    pub within: Vec<String>,
    /// The disallowed texts.
    pub without: Vec<String>,
    /// The empty text is always allowed.
    pub ignore_empty: bool,
    /// Must be the name of a header.
    pub header_name: bool,
    /// Must be the value of a header.
    pub header_value: bool,
    /// Whether these two are checked strictly.
    pub strict: bool,
}

/// Rules for enums.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Enumeration {
    /// The only number allowed.
    pub constant: Option<i64>,
    /// Only declared values.
    pub defined_only: bool,
    /// The allowed numbers; empty for all.
    pub within: Vec<i64>,
    /// The disallowed numbers.
    pub without: Vec<i64>,
}

/// Rules for lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct List {
    /// Minimum number of items.
    pub min: u64,
    /// Maximum number of items.
    pub max: Option<u64>,
    /// Items must be unique.
    pub unique: bool,
    /// For each item.
    pub items: Option<Box<Rules>>,
    /// The empty list is always allowed.
    pub ignore_empty: bool,
}

/// Rules for maps.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Map {
    /// Minimum number of entries.
    pub min: u64,
    /// Maximum number of entries.
    pub max: Option<u64>,
    /// For each key.
    pub keys: Option<Box<Rules>>,
    /// For each value.
    pub values: Option<Box<Rules>>,
    /// The empty map is always allowed.
    pub ignore_empty: bool,
}

/// The kind of number that each of the field numbers 1 to 12 of `FieldRules` is for.
#[derive(Clone, Copy)]
enum Encoding {
    Plain,
    ZigZag,
    Signed,
}

impl Rules {
    /// Reads rules, omitting what is not understood.
    pub(crate) fn read(bytes: &[u8]) -> Rules {
        let mut rules = Rules::default();
        for (number, raw) in fields(bytes) {
            let Raw::Bytes(inner) = raw else { continue };
            match number {
                1..=6 | 9 | 10 => rules.number = Some(Number::read(inner, Encoding::Plain)),
                7 | 8 => rules.number = Some(Number::read(inner, Encoding::ZigZag)),
                11 | 12 => rules.number = Some(Number::read(inner, Encoding::Signed)),
                13 => {
                    rules.boolean = fields(inner).find_map(|(number, raw)| match raw {
                        Raw::Varint(value) if number == 1 => Some(value != 0),
                        _ => None,
                    });
                }
                14 | 15 => rules.text = Some(Text::read(inner, number == 15)),
                16 => rules.enumeration = Some(Enumeration::read(inner)),
                17 => {
                    rules.required |= flag(inner, 2);
                    rules.stops |= flag(inner, 1);
                }
                18 => rules.list = Some(List::read(inner)),
                19 => rules.map = Some(Map::read(inner)),
                20 => {
                    rules.stops = true;
                    rules.required |= flag(inner, 1);
                    rules.any_in = texts(inner, 2);
                }
                21 => {
                    rules.required |= flag(inner, 1);
                    rules.duration = Some(read_duration_rules(inner));
                }
                22 => rules.required |= flag(inner, 1),
                _ => {}
            }
        }
        rules
    }
}

impl Number {
    fn read(bytes: &[u8], encoding: Encoding) -> Number {
        let mut rules = Number::default();
        for (number, raw) in fields(bytes) {
            let Some(value) = float(&raw, encoding) else { continue };
            rules.set(number, value);
        }
        rules
    }

    fn set(&mut self, number: u32, value: f64) {
        match number {
            1 => self.constant = Some(value),
            2 => self.lt = Some(value),
            3 => self.lte = Some(value),
            4 => self.gt = Some(value),
            5 => self.gte = Some(value),
            6 => self.within.push(value),
            7 => self.without.push(value),
            8 => self.ignore_empty = value != 0.0,
            _ => {}
        }
    }
}

/// `DurationRules` number their bounds one higher than the rules for numbers: 1 is `required`.
fn read_duration_rules(bytes: &[u8]) -> Number {
    let mut rules = Number::default();
    for (number, raw) in fields(bytes) {
        if let Raw::Bytes(duration) = raw {
            let part = |wanted| {
                fields(duration).find_map(|(number, raw)| match raw {
                    Raw::Varint(value) if number == wanted => Some(value.cast_signed()),
                    _ => None,
                })
            };
            let (seconds, nanos) = (part(1).unwrap_or(0), part(2).unwrap_or(0));
            rules.set(number - 1, nanoseconds(seconds, nanos));
        }
    }
    rules
}

#[allow(clippy::cast_precision_loss, reason = "bounds in the API are whole milliseconds or more")]
fn nanoseconds(seconds: i64, nanos: i64) -> f64 {
    seconds as f64 * 1e9 + nanos as f64
}

impl Text {
    fn read(bytes: &[u8], of_bytes: bool) -> Text {
        let mut rules = Text { strict: true, ..Text::default() };
        for (number, raw) in fields(bytes) {
            // BytesRules share the first numbers of StringRules, but count bytes and leave the byte lengths out.
            let number = match (of_bytes, number) {
                (true, 2) => 4,
                (true, 3) => 5,
                (true, 4..=9) => number + 2,
                (true, 13) => 20,
                (true, 14) => 26,
                (true, 10..=12) => continue,
                _ => number,
            };
            match raw {
                Raw::Varint(value) => match number {
                    2 => rules.min_len = value,
                    3 => rules.max_len = Some(value),
                    4 => rules.min_bytes = value,
                    5 => rules.max_bytes = Some(value),
                    19 => (rules.min_len, rules.max_len) = (value, Some(value)),
                    20 => (rules.min_bytes, rules.max_bytes) = (value, Some(value)),
                    24 => (rules.header_name, rules.header_value) = (value == 1, value == 2),
                    25 => rules.strict = value != 0,
                    26 => rules.ignore_empty = value != 0,
                    _ => {}
                },
                Raw::Bytes(text) => {
                    let text = String::from_utf8_lossy(text).into_owned();
                    match number {
                        1 => rules.constant = Some(text),
                        6 => rules.pattern = Some(text),
                        7 => rules.prefix = Some(text),
                        8 => rules.suffix = Some(text),
                        9 => rules.contains = Some(text),
                        10 => rules.within.push(text),
                        11 => rules.without.push(text),
                        23 => rules.not_contains = Some(text),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        rules
    }
}

impl Enumeration {
    fn read(bytes: &[u8]) -> Enumeration {
        let mut rules = Enumeration::default();
        for (number, raw) in fields(bytes) {
            let Raw::Varint(value) = raw else { continue };
            match number {
                1 => rules.constant = Some(value.cast_signed()),
                2 => rules.defined_only = value != 0,
                3 => rules.within.push(value.cast_signed()),
                4 => rules.without.push(value.cast_signed()),
                _ => {}
            }
        }
        rules
    }
}

impl List {
    fn read(bytes: &[u8]) -> List {
        let mut rules = List::default();
        for (number, raw) in fields(bytes) {
            match (number, raw) {
                (1, Raw::Varint(value)) => rules.min = value,
                (2, Raw::Varint(value)) => rules.max = Some(value),
                (3, Raw::Varint(value)) => rules.unique = value != 0,
                (4, Raw::Bytes(inner)) => rules.items = Some(Box::new(Rules::read(inner))),
                (5, Raw::Varint(value)) => rules.ignore_empty = value != 0,
                _ => {}
            }
        }
        rules
    }
}

impl Map {
    fn read(bytes: &[u8]) -> Map {
        let mut rules = Map::default();
        for (number, raw) in fields(bytes) {
            match (number, raw) {
                (1, Raw::Varint(value)) => rules.min = value,
                (2, Raw::Varint(value)) => rules.max = Some(value),
                (4, Raw::Bytes(inner)) => rules.keys = Some(Box::new(Rules::read(inner))),
                (5, Raw::Bytes(inner)) => rules.values = Some(Box::new(Rules::read(inner))),
                (6, Raw::Varint(value)) => rules.ignore_empty = value != 0,
                _ => {}
            }
        }
        rules
    }
}

/// The fields of a message, up to the first that is malformed.
fn fields(mut bytes: &[u8]) -> impl Iterator<Item = (u32, Raw<'_>)> {
    std::iter::from_fn(move || if bytes.is_empty() { None } else { read_field(&mut bytes) })
}

fn flag(bytes: &[u8], wanted: u32) -> bool {
    fields(bytes).any(|(number, raw)| number == wanted && matches!(raw, Raw::Varint(value) if value != 0))
}

fn texts(bytes: &[u8], wanted: u32) -> Vec<String> {
    let text = |(number, raw)| match raw {
        Raw::Bytes(text) if number == wanted => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    };
    fields(bytes).filter_map(text).collect()
}

#[allow(clippy::cast_precision_loss, reason = "bounds of 64-bit fields in the API are small, or the type's own limit")]
fn float(raw: &Raw<'_>, encoding: Encoding) -> Option<f64> {
    Some(match (raw, encoding) {
        (Raw::Varint(value), Encoding::ZigZag) => ((value >> 1).cast_signed() ^ -(value & 1).cast_signed()) as f64,
        // A negative number of a signed type has all 64 bits; no unsigned bound of the API comes near them.
        (Raw::Varint(value), _) => value.cast_signed() as f64,
        (Raw::Fixed64(bytes), Encoding::Plain) => f64::from_le_bytes(*bytes),
        (Raw::Fixed64(bytes), _) => i64::from_le_bytes(*bytes) as f64,
        (Raw::Fixed32(bytes), Encoding::Plain) => f32::from_le_bytes(*bytes).into(),
        (Raw::Fixed32(bytes), _) => i32::from_le_bytes(*bytes).into(),
        (Raw::Bytes(_), _) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::schema::Schema;

    fn rules(message: &str, field: &str) -> Rules {
        let message = Schema::envoy(39).unwrap().message(message).unwrap();
        Rules::read(message.field(field).unwrap().rules())
    }

    #[test]
    fn rules_of_known_fields_are_read() {
        let hcm = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
        assert_eq!(rules(hcm, "stat_prefix").text.unwrap().min_len, 1);
        assert!(rules(hcm, "codec_type").enumeration.unwrap().defined_only);
        let cluster = "envoy.config.cluster.v3.Cluster";
        assert_eq!(rules(cluster, "connect_timeout").duration.unwrap().gt, Some(0.0));
        let port = rules("envoy.config.core.v3.SocketAddress", "port_value").number.unwrap();
        assert_eq!(port.lte, Some(65535.0));
        assert_eq!(rules("envoy.config.route.v3.VirtualHost", "domains").list.unwrap().min, 1);
        assert!(rules("envoy.config.route.v3.Route", "match").required);
        assert!(rules("envoy.config.core.v3.HeaderValue", "key").text.unwrap().header_name);
        assert!(rules("envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit", "stat_prefix").text.is_some());
    }
}
