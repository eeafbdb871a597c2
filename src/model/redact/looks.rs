//! Whether a text looks like a secret, or only refers to one.

use super::keys::Hint;
use super::{PIN_DIGITS, REDACTED};

/// Whether a value is a secret after a name with this hint.
pub(super) fn confirms(hint: Hint, value: &str) -> bool {
    let value = value.trim();
    let one = || !value.contains([' ', '\t', '\n']);
    match hint {
        Hint::None => false,
        Hint::Generated => is_generated(value),
        Hint::Random => one() && value.len() >= 10 && is_random(value) && !is_name(value),
        Hint::Mixed => one() && is_mixed(value) && !is_name(value),
        Hint::Digits => {
            let digits = value.len() >= PIN_DIGITS && value.bytes().all(|byte| byte.is_ascii_digit());
            digits || (one() && is_mixed(value) && !is_name(value))
        }
        Hint::Secret => true,
    }
}

/// Whether a text has a letter and a digit, and does not only name an algorithm or a version, such as `HS256`.
pub(super) fn is_mixed(text: &str) -> bool {
    let text = text.trim_end_matches(['.', ')', ']', '}']);
    let has = |class: fn(&u8) -> bool| text.bytes().any(|byte| class(&byte));
    let stem = text.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['-', '_']);
    let stem = stem.rsplit(['-', '_', ':', '/']).next().unwrap_or(stem).to_ascii_lowercase();
    let is_algorithm = matches!(
        stem.as_str(),
        "hs" | "rs"
            | "es"
            | "ps"
            | "sha"
            | "md"
            | "hmacsha"
            | "hmac"
            | "aes"
            | "rsa"
            | "base"
            | "v"
            | "oauth"
            | "s"
            | "http"
            | "x"
    );
    text.len() >= 5 && has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit) && !is_algorithm
}

/// Whether a text is the name of a host, a cluster of Envoy, an image, a UUID or a hash that says so: nothing to hide.
fn is_name(text: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let uuid = text.len() == 36 && text.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && text.split('-').all(is_hex);
    let host = text.contains('.')
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-:/".contains(&byte));
    let version = text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains(|c: char| c.is_ascii_uppercase());
    uuid || host || text.contains('|') || text.contains("sha256:") || (version && text.len() < 10)
}

/// Whether a text contains a long part that looks generated: not the hash at the end of a pod's name.
pub(super) fn is_token(text: &str) -> bool {
    text.split(['-', '_', '.', '|', ':', '/']).any(|part| part.len() >= 12 && is_random(part))
}

/// Whether a text is a generated key and nothing else: 24 or more letters and digits in one piece, such as 128 bits in
/// hexadecimal.
fn is_generated(text: &str) -> bool {
    text.len() >= 24
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
        && is_random(text)
}

/// Whether a text looks like a generated secret: letters with digits that are not the end of a word, as in
/// `sha256` or `x-b3-traceid`.
pub(super) fn is_random(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_word = |word: &str| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.bytes().all(|byte| byte.is_ascii_alphabetic())
            && word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
    };
    let enough = digits >= 2 || (digits == 1 && text.len() >= 16);
    enough && letters >= 2 && text.len() >= 6 && !text.split(['-', '_', '.', '|', ':', '/']).all(is_word)
}

/// Whether a text only refers to a secret or names one: `%REQ(authorization)%`, `$(TOKEN)`, `{{ .token }}`, a file path,
/// a word such as `true`.
pub(super) fn is_stand_in(text: &str) -> bool {
    let text = text.trim();
    let text =
        ["Bearer ", "Basic ", "bearer ", "basic "].iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(text);
    let around =
        |start: &str, end: &str| text.len() > start.len() + end.len() && text.starts_with(start) && text.ends_with(end);
    let word = matches!(
        text.to_ascii_lowercase().as_str(),
        "" | "true"
            | "false"
            | "yes"
            | "no"
            | "none"
            | "null"
            | "nil"
            | "on"
            | "off"
            | "string"
            | "bearer"
            | "basic"
            | "strict"
            | "lax"
    );
    let path = text.starts_with('/')
        && text.matches('/').count() > 1
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
        && !text.contains("//");
    let url = text.split_once("://").is_some_and(|(scheme, rest)| {
        scheme.chars().all(|c| c.is_ascii_alphanumeric()) && !rest.contains('@') && !rest.contains('?')
    });
    text == REDACTED
        // The same between Lua's long brackets.
        || text == REDACTED.trim_end_matches(']')
        || text == "W3JlZGFjdGVkXQ=="
        || word
        || path
        || url
        || around("%", "%")
        || around("${", "}")
        || around("$(", ")")
        || around("{{", "}}")
        || around("<", ">")
}
