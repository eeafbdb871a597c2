//! Parts of an expression that represent one character or one number: escapes and repeat counts.

use super::Refusal;

/// Minimum and maximum count.
pub(super) type Counts = (u32, Option<u32>);

/// `parseRepeat`: `None` when the brace is an ordinary character; without counts when they are too large for Go to read.
pub(super) fn counts(text: &str) -> Option<(Option<Counts>, &str)> {
    let (min, rest) = number(text.strip_prefix('{')?)?;
    if let Some(rest) = rest.strip_prefix('}') {
        return Some((min.map(|min| (min, Some(min))), rest));
    }
    let rest = rest.strip_prefix(',')?;
    if let Some(rest) = rest.strip_prefix('}') {
        return Some((min.map(|min| (min, None)), rest));
    }
    let (max, rest) = number(rest)?;
    let rest = rest.strip_prefix('}')?;
    Some((min.zip(max).map(|(min, max)| (min, Some(max))), rest))
}

/// `parseInt`: digits without a leading zero; without a value from 10⁹ up.
fn number(text: &str) -> Option<(Option<u32>, &str)> {
    let end = text.find(|one: char| !one.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    Some((digits.parse().ok().filter(|&value: &u32| value < 1_000_000_000), rest))
}

/// A character of a class, as a code point.
pub(super) fn one_of_class(text: &str) -> Result<(u32, &str), Refusal> {
    if text.starts_with('\\') {
        let (one, rest) = code_point(text)?;
        return Ok((one, rest));
    }
    let one = text.chars().next().ok_or(Refusal::MissingBracket)?;
    Ok((one.into(), &text[one.len_utf8()..]))
}

/// An escaped character; `None` for a surrogate, which no text contains.
pub(super) fn escaped(text: &str) -> Result<(Option<char>, &str), Refusal> {
    code_point(text).map(|(one, rest)| (char::from_u32(one), rest))
}

/// `parseEscape`.
fn code_point(text: &str) -> Result<(u32, &str), Refusal> {
    let mut letters = text.chars().skip(1);
    let Some(first) = letters.next() else { return Err(Refusal::TrailingBackslash) };
    let rest = &text[1 + first.len_utf8()..];
    let refused = |rest: &str| Err(Refusal::InvalidEscape(text[..text.len() - rest.len()].to_owned()));
    let octal = |one: char| one.is_digit(8);
    match first {
        '1'..='7' if !rest.starts_with(octal) => refused(rest),
        '0'..='7' => {
            let more = rest.chars().take(2).take_while(|one| octal(*one)).count();
            let digits = std::iter::once(first).chain(rest[..more].chars());
            Ok((digits.fold(0, |value, digit| value * 8 + digit.to_digit(8).unwrap_or_default()), &rest[more..]))
        }
        'x' => {
            let Some(inside) = rest.strip_prefix('{') else {
                let digits: String = rest.chars().take(2).collect();
                let hex = digits.len() == 2 && digits.bytes().all(|one| one.is_ascii_hexdigit());
                return match u32::from_str_radix(&digits, 16) {
                    Ok(value) if hex => Ok((value, &rest[2..])),
                    _ => refused(&rest[digits.len()..]),
                };
            };
            let Some((digits, after)) = inside.split_once('}') else { return refused("") };
            let hex = !digits.is_empty() && digits.bytes().all(|one| one.is_ascii_hexdigit());
            let value = u32::from_str_radix(digits.trim_start_matches('0'), 16);
            match value {
                _ if !hex => refused(after),
                Ok(value) if value <= u32::from(char::MAX) => Ok((value, after)),
                Err(_) if digits.bytes().all(|one| one == b'0') => Ok((0, after)),
                _ => refused(after),
            }
        }
        'a' => Ok((7, rest)),
        'f' => Ok((12, rest)),
        'n' => Ok((10, rest)),
        'r' => Ok((13, rest)),
        't' => Ok((9, rest)),
        'v' => Ok((11, rest)),
        other if other.is_ascii() && !other.is_ascii_alphanumeric() => Ok((other.into(), rest)),
        _ => refused(rest),
    }
}
