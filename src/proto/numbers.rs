//! Numbers and bytes in the JSON of a patch value, as Go reads them after the value has passed through a Struct, which stores
//! every number as a double.

use super::schema::Kind;
use super::tree::{Tree, Value};
use base64::Engine as _;
use std::borrow::Cow;

/// Smallest and largest value of an integer kind, and whether proto JSON writes it as a string.
pub(super) fn range(kind: Kind) -> (i128, i128, bool) {
    match kind {
        Kind::Uint32 | Kind::Fixed32 => (0, u32::MAX.into(), false),
        Kind::Uint64 | Kind::Fixed64 => (0, u64::MAX.into(), true),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => (i64::MIN.into(), i64::MAX.into(), true),
        _ => (i32::MIN.into(), i32::MAX.into(), false),
    }
}

/// An integer as Go's JSON reads it: digits only, in quotes or not.
pub(super) fn integer(value: &Tree<'_>) -> Option<i128> {
    match &value.value {
        // A longer one may not be exact as a double.
        Value::Number(text) if text.len() <= EXACT_DIGITS => text.parse().ok().or_else(|| whole(text)),
        Value::Number(text) => whole(text),
        Value::String(text) => quoted_number(text)?.parse().ok(),
        _ => None,
    }
}

/// Whether a number has a sign: Go does not read even `-0` as an unsigned number.
pub(super) fn signed(value: &Tree<'_>) -> bool {
    matches!(&value.value, Value::Number(text) | Value::String(text) if text.trim_start().starts_with('-'))
}

/// Number of digits that every double holds exactly.
const EXACT_DIGITS: usize = 15;

/// A JSON number such as `1.0` or `1e3` that is a whole number below 1e21. A Struct holds it as a double, which Go writes
/// without a point or an exponent: the fewest digits that distinguish it from its neighbors, then zeros, as Rust does.
/// 9007199254740993 becomes 9007199254740992, and 9223372036854775807 becomes 9223372036854775808, which is too large.
fn whole(text: &str) -> Option<i128> {
    let number: f64 = text.parse().ok()?;
    if number.fract() != 0.0 || number.abs() >= 1e21 {
        return None;
    }
    number.to_string().parse().ok()
}

/// Converts numbers inside a Struct or Value to doubles, and empty lists to values, as they are there.
pub(super) fn doubles(mut tree: Tree<'_>) -> Tree<'_> {
    fn walk(value: &mut Value<'_>) {
        match value {
            Value::Number(text)
                if text.len() > EXACT_DIGITS && text.bytes().all(|it| it.is_ascii_digit() || it == b'-') =>
            {
                if let Ok(number) = text.parse::<f64>() {
                    *text = Cow::Owned(number.to_string());
                }
            }
            Value::List(items) if items.is_empty() => *value = Value::EmptyList,
            Value::List(items) => items.iter_mut().for_each(|item| walk(&mut item.value)),
            Value::Map(entries) => entries.iter_mut().for_each(|(_, item)| walk(&mut item.value)),
            _ => {}
        }
    }
    walk(&mut tree.value);
    tree
}

/// The content of a quoted number, if it is one. jsonpb removes the quotes and reads the rest as JSON, so `+5`, `05` and `.5`
/// fail, and `null` is 0.
fn quoted_number(text: &str) -> Option<&str> {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    if text == "null" {
        return Some("0");
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len());
    let (whole, rest) = digits.split_at(whole);
    let rest = match rest.strip_prefix('.') {
        Some(fraction) => {
            let rest = fraction.trim_start_matches(|it: char| it.is_ascii_digit());
            (rest.len() < fraction.len()).then_some(rest)?
        }
        None => rest,
    };
    let exponent = rest.strip_prefix(['e', 'E']).map(|it| it.strip_prefix(['+', '-']).unwrap_or(it));
    let ends = exponent.map_or(rest.is_empty(), |it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()));
    (ends && !whole.is_empty() && (whole == "0" || !whole.starts_with('0'))).then_some(text)
}

pub(super) fn float<'a>(kind: Kind, value: &Tree<'a>) -> Option<Value<'a>> {
    let text = match &value.value {
        Value::String(text) if matches!(&**text, "NaN" | "Infinity" | "-Infinity") => {
            return Some(Value::String(text.clone()));
        }
        Value::Number(text) => text,
        Value::String(text) => quoted_number(text)?,
        _ => return None,
    };
    let number: f64 = text.parse().ok()?;
    if kind == Kind::Double {
        return number.is_finite().then(|| Value::Number(Cow::Owned(number.to_string())));
    }
    // From the text: going through a double would round twice.
    let number: f32 = text.parse().ok()?;
    number.is_finite().then(|| Value::Number(Cow::Owned(number.to_string())))
}

/// Bytes as Go's JSON reads them: padded base64, in which line breaks and stray last bits do not matter, or a list of numbers.
pub(super) fn bytes(value: &Tree<'_>) -> Option<Vec<u8>> {
    use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
    );
    match &value.value {
        Value::Null => Some(Vec::new()),
        Value::String(text) => LENIENT.decode(text.replace(['\r', '\n'], "")).ok(),
        Value::EmptyList => Some(Vec::new()),
        Value::List(items) => items
            .iter()
            .map(|item| match &item.value {
                Value::Null => Some(0),
                Value::Number(_) => u8::try_from(integer(item)?).ok(),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::json;

    #[test]
    fn integers_are_doubles_without_quotes_and_json_within() {
        let read = |text: &str| integer(&json::parse(text).unwrap());
        for (text, number) in [
            ("9007199254740993", Some(9_007_199_254_740_992)),
            ("9223372036854775807", Some(9_223_372_036_854_776_000)),
            ("\"9007199254740993\"", Some(9_007_199_254_740_993)),
            ("-12", Some(-12)),
            ("1e3", Some(1000)),
            ("\" 5 \"", Some(5)),
            ("\"null\"", Some(0)),
            ("1.5", None),
            ("1e21", None),
            ("\"1e3\"", None),
            ("\"+5\"", None),
            ("\"05\"", None),
            ("\"\"", None),
        ] {
            assert_eq!(read(text), number, "{text}");
        }
    }

    #[test]
    fn quoted_numbers_are_json() {
        for good in ["0", "-0", "10", "1.5", "1e3", "-1.25E-7", " 7\n"] {
            assert_eq!(quoted_number(good), Some(good.trim()), "{good}");
        }
        for bad in ["", "-", "+1", ".5", "1.", "01", "1e", "1e+", "0x10", "1_0", "inf", "1 2"] {
            assert_eq!(quoted_number(bad), None, "{bad}");
        }
    }

    #[test]
    fn floats_have_the_size_of_their_kind() {
        let read = |kind, text: &str| match float(kind, &json::parse(text).unwrap()) {
            Some(Value::Number(text) | Value::String(text)) => Some(text.into_owned()),
            _ => None,
        };
        assert_eq!(read(Kind::Double, "0.123456789").as_deref(), Some("0.123456789"));
        assert_eq!(read(Kind::Float, "0.123456789").as_deref(), Some("0.12345679"));
        assert_eq!(read(Kind::Double, "1e39").is_some(), read(Kind::Float, "1e39").is_none());
        assert_eq!(read(Kind::Float, "\"-Infinity\"").as_deref(), Some("-Infinity"));
        assert_eq!(read(Kind::Float, "\"inf\""), None);
    }

    #[test]
    fn bytes_are_read_leniently() {
        let read = |text: &str| bytes(&json::parse(text).unwrap());
        assert_eq!(read("\"QR==\""), Some(b"A".to_vec()));
        assert_eq!(read("\"QU\\nJD\""), Some(b"ABC".to_vec()));
        assert_eq!(read("[1, null, 255]"), Some(vec![1, 0, 255]));
        for bad in ["\"QQ\"", "\"_-8=\"", "[256]", "[\"1\"]", "5"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
