//! What an unquoted YAML word means to kubectl: YAML 1.1 as read by the Go library sigs.k8s.io/yaml 1.6.

/// A resolved scalar.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    /// `null`, `~`, nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer of 64 bits, signed or not.
    Int(i128),
    /// Any other number, also `.inf` and `.nan`.
    Float(f64),
    /// Text.
    Text,
}

/// The tags that change how a scalar is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// None.
    None,
    /// `!!bool`.
    Bool,
    /// `!!int`.
    Int,
    /// `!!float`.
    Float,
    /// `!!null`.
    Null,
    /// `!!binary`: base64, decoded.
    Binary,
    /// `!!str`, and every tag that kubectl does not know: text.
    Text,
}

impl Tag {
    /// The tag as written in YAML.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Tag::None => "",
            Tag::Bool => "!!bool",
            Tag::Int => "!!int",
            Tag::Float => "!!float",
            Tag::Null => "!!null",
            Tag::Binary => "!!binary",
            Tag::Text => "!!str",
        }
    }
}

/// Resolves an unquoted word.
pub(super) fn plain(word: &str) -> Scalar {
    let Some(first) = word.bytes().next() else { return Scalar::Null };
    match first {
        b'~' if word == "~" => Scalar::Null,
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' => match word {
            "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Scalar::Bool(true),
            "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Scalar::Bool(false),
            "null" | "Null" | "NULL" => Scalar::Null,
            _ => Scalar::Text,
        },
        b'.' => match word {
            ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
            ".inf" | ".Inf" | ".INF" => Scalar::Float(f64::INFINITY),
            _ if underscores_between_digits(word) => decimal(&word.replace('_', "")),
            _ => Scalar::Text,
        },
        b'+' | b'-' | b'0'..=b'9' => match word {
            "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
            "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
            _ if word.contains('_') => number(&word.replace('_', "")),
            _ => number(word),
        },
        _ => Scalar::Text,
    }
}

/// Resolves a word under a tag; `None` when the word does not fit the tag (kubectl then rejects the document).
pub(super) fn tagged(tag: Tag, word: &str, is_plain: bool) -> Option<Scalar> {
    match (tag, is_plain) {
        (Tag::None, true) => return Some(plain(word)),
        (Tag::None, false) | (Tag::Text | Tag::Binary, _) => return Some(Scalar::Text),
        _ => {}
    }
    match (tag, plain(word)) {
        (Tag::Bool, bool @ Scalar::Bool(_)) => Some(bool),
        (Tag::Null, Scalar::Null) => Some(Scalar::Null),
        (Tag::Int, int @ Scalar::Int(_)) => Some(int),
        (Tag::Float, float @ Scalar::Float(_)) => Some(float),
        #[expect(clippy::cast_precision_loss, reason = "kubectl converts the same way")]
        (Tag::Float, Scalar::Int(int)) if i64::try_from(int).is_ok() => Some(Scalar::Float(int as f64)),
        _ => None,
    }
}

/// Whether a YAML 1.2 reader would give the word another meaning: `on`, `0777`, `0b1`, `1_000`.
pub(super) fn surprises(word: &str, resolved: &Scalar) -> bool {
    match resolved {
        Scalar::Bool(_) => !matches!(word, "true" | "True" | "TRUE" | "false" | "False" | "FALSE"),
        Scalar::Int(_) => {
            let digits = word.trim_start_matches(['+', '-']);
            word.contains('_')
                || digits.starts_with("0b")
                || digits.starts_with("0B")
                || (digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit()))
        }
        Scalar::Float(_) => word.contains('_'),
        Scalar::Null | Scalar::Text => false,
    }
}

/// A word that starts with a sign or a digit, without underscores: Go's ParseInt with base 0, then a decimal.
fn number(word: &str) -> Scalar {
    let (negative, unsigned) = match word.as_bytes().first() {
        Some(b'-') => (true, &word[1..]),
        Some(b'+') => (false, &word[1..]),
        _ => (false, word),
    };
    let signed = unsigned.len() < word.len();
    let (base, digits) = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &unsigned[2..]),
        [b'0', b'o' | b'O', ..] => (8, &unsigned[2..]),
        [b'0', b'b' | b'B', ..] => (2, &unsigned[2..]),
        [b'0', _, ..] => (8, &unsigned[1..]),
        _ => (10, unsigned),
    };
    // u64::from_str_radix accepts a sign itself: `--1`, `0x+1`.
    if digits.starts_with(|first: char| first.is_digit(base))
        && let Ok(magnitude) = u64::from_str_radix(digits, base)
    {
        let value = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
        // Above i64 only an unsigned number is valid, and that has no sign.
        if i64::try_from(value).is_ok() || !signed {
            return Scalar::Int(value);
        }
    }
    decimal(word)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`; a number out of range is text.
fn decimal(word: &str) -> Scalar {
    let rest = word.strip_prefix(['+', '-']).unwrap_or(word);
    let (mantissa, exponent) = rest.split_once(['e', 'E']).map_or((rest, None), |(m, e)| (m, Some(e)));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let shape = match (whole, fraction) {
        ("", Some(fraction)) => digits(fraction),
        (whole, None | Some("")) => digits(whole),
        (whole, Some(fraction)) => digits(whole) && digits(fraction),
    } && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    match word.parse::<f64>() {
        Ok(value) if shape && value.is_finite() => Scalar::Float(value),
        _ => Scalar::Text,
    }
}

fn underscores_between_digits(word: &str) -> bool {
    let bytes = word.as_bytes();
    let digit = |at: Option<&u8>| at.is_some_and(u8::is_ascii_digit);
    bytes.iter().enumerate().all(|(at, &byte)| {
        byte != b'_' || (digit(at.checked_sub(1).and_then(|at| bytes.get(at))) && digit(bytes.get(at + 1)))
    })
}

/// A whole number as kubectl sends it: beyond 64 signed bits it is a float.
#[expect(clippy::cast_precision_loss, reason = "kubectl converts the same way")]
pub(super) fn int_json(value: i128) -> String {
    if i64::try_from(value).is_ok() { value.to_string() } else { float_json(value as f64) }
}

/// A finite float as Go's encoding/json writes it.
pub(super) fn float_json(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        if text.contains("e-") { text } else { text.replace('e', "e+") }
    } else {
        format!("{value}")
    }
}

/// A float as a mapping key: Go's shortest form of 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "kubectl truncates the same way")]
pub(super) fn float_key(value: f64) -> String {
    let value = value as f32;
    if value.is_nan() {
        return ".nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let text = format!("{value:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", exponent.abs())
        }
        _ => format!("{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_yaml_1_1() {
        // Checked against sigs.k8s.io/yaml 1.6.0.
        let json = |word: &str| match plain(word) {
            Scalar::Null => "null".to_owned(),
            Scalar::Bool(value) => value.to_string(),
            Scalar::Int(value) => int_json(value),
            Scalar::Float(value) => float_json(value),
            Scalar::Text => format!("{word:?}"),
        };
        for (word, expected) in [
            ("y", "true"),
            ("N", "false"),
            ("yEs", "\"yEs\""),
            ("Off", "false"),
            ("~", "null"),
            ("", "null"),
            ("0o7", "7"),
            ("0777", "511"),
            ("-0777", "-511"),
            ("08", "8"),
            ("0x1F", "31"),
            ("0b101", "5"),
            ("-0b101", "-5"),
            ("1_000", "1000"),
            ("1__0", "10"),
            ("1:30", "\"1:30\""),
            ("+1", "1"),
            ("--1", "\"--1\""),
            ("0x+1", "\"0x+1\""),
            ("-", "\"-\""),
            ("1.", "1"),
            (".5", "0.5"),
            (".5_0", "0.5"),
            ("._5", "\"._5\""),
            ("1e3", "1000"),
            ("1e21", "1e+21"),
            ("1e-7", "1e-7"),
            ("1e400", "\"1e400\""),
            ("-0.0", "-0"),
            ("1.2.3", "\"1.2.3\""),
            ("9223372036854775807", "9223372036854775807"),
            ("9223372036854775808", "9223372036854776000"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("+9223372036854775808", "9223372036854776000"),
            ("18446744073709551615", "18446744073709552000"),
            ("1180591620717411303424", "1.1805916207174113e+21"),
            ("2001-12-14", "\"2001-12-14\""),
            ("0x", "\"0x\""),
            ("12e03", "12000"),
            ("NaN", "\"NaN\""),
            ("inf", "\"inf\""),
            ("+inf", "\"+inf\""),
        ] {
            assert_eq!(json(word), expected, "{word}");
        }
    }

    #[test]
    fn float_keys_are_go_shortest_32_bit() {
        assert_eq!(float_key(1_000_000.0), "1e+06");
        assert_eq!(float_key(1.5), "1.5");
        assert_eq!(float_key(0.000_01), "1e-05");
    }
}
