//! Finds what must not leave a cluster, neither in a capture nor in a report: keys, certificates, tokens and passwords in
//! objects, config dumps and texts.
//!
//! [`Redactor`] finds secrets by the words of their key (`keys`), by fields that Envoy's descriptors mark as sensitive, and by
//! their form (`forms`, `shapes`), by what scripts do with them (`flow`), also in code, YAML and JSON inside a text. It replaces values, never names or structure, so that a
//! capture answers questions exactly as the cluster does. [`Secrets`] remembers the secrets of the input, so that no report
//! repeats one, whatever its path there.

mod flow;
mod forms;
mod keys;
mod looks;
mod secrets;
mod shapes;

pub use secrets::{Keeper, Secrets};

use crate::proto::schema::{Kind, Message, Schema};
use crate::source::{ErrorMessage, Node, NodeValue, Span};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use keys::Hint;
use regex::Regex;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What stands in place of a secret.
pub(crate) const REDACTED: &str = "[redacted]";

/// Sections of a config dump that contain nothing but secrets.
const SECRET_SECTION: &str = "envoy.admin.v3.SecretsConfigDump";
/// Keys whose inline texts are secrets, although Envoy does not mark all of them as sensitive.
const SOURCES: &[&str] = &[
    "private_key",
    "privateKey",
    "password",
    "certificate_chain",
    "certificateChain",
    "trusted_ca",
    "trustedCa",
    "ocsp_staple",
    "ocspStaple",
    "session_ticket_keys",
    "sessionTicketKeys",
    "hmac_secret",
    "hmacSecret",
    "token_secret",
    "tokenSecret",
    "client_secret",
    "clientSecret",
    "generic_secret",
    "genericSecret",
    "local_jwks",
    "localJwks",
    "inline_jwks",
    "users",
];
/// Keys whose text is the content itself.
const INLINE: &[&str] = &["inline_string", "inlineString", "inline_bytes", "inlineBytes", "inline"];
/// Keys for the name in a name-value pair.
const NAMES: &[&str] = &["key", "name", "headerName", "header_name", "header", "tag"];
/// Keys for the value in such a pair.
const VALUES: &[&str] = &[
    "value",
    "val",
    "raw_value",
    "rawValue",
    "string_value",
    "stringValue",
    "default_value",
    "defaultValue",
    "exact",
    "prefix",
    "suffix",
    "contains",
    "exact_match",
    "exactMatch",
    "prefix_match",
    "prefixMatch",
    "suffix_match",
    "suffixMatch",
    "contains_match",
    "containsMatch",
];
/// Keys for several values in such a pair: conditions of an AuthorizationPolicy.
const LISTS: &[&str] = &["values", "notValues"];
/// Keys between the pair and its value: matchers, and sources of a tracing tag.
const BETWEEN: &[&str] = &[
    "string_match",
    "stringMatch",
    "value_match",
    "valueMatch",
    "exact_match",
    "exactMatch",
    "header",
    "literal",
    "environment",
];
/// Keys of messages that Envoy redacts as a whole whose texts are names.
const KEPT: &[&str] = &["@type", "client", "name", "filename", "environment_variable", "environmentVariable"];
/// The message with the names of cookies, under keys that are called after what these hold.
const COOKIE_NAMES: &str = "envoy.extensions.filters.http.oauth2.v3.OAuth2Credentials.CookieNames";
/// Keys whose text is content in base64.
const BYTES: &[&str] = &["inline_bytes", "inlineBytes"];
/// Fewest digits of a number that is a secret.
const FEWEST_DIGITS: usize = 6;
/// The same for one called PIN.
const PIN_DIGITS: usize = 4;
/// Members of a JSON Web Key that are private (RFC 7518); the others are public.
const PRIVATE: &[&str] = &["k", "d", "p", "q", "dp", "dq", "qi"];

/// Fewest bytes of a whole text that is searched as base64: what fits into less has a name that says what it is.
const SHORTEST_ENCODED: usize = 64;

/// Fewest bytes of a text that a known token is in; most texts are shorter.
const SHORTEST_TOKEN: usize = 13;

/// Whether a text may contain or indicate a secret; cheap.
pub(crate) fn may_hold(text: &str) -> bool {
    forms::may_hold(text)
}

/// The searches of [`may_hold`], each of which says where something begins; in a text of several lines, it may end in a later one.
pub(crate) const HINTS: [forms::Search; 3] = forms::SEARCHES;

/// Whether JSON may contain secrets that no single line of it shows; cheap.
pub(crate) fn may_hold_apart(json: &str) -> bool {
    forms::may_hold_apart(json)
}

/// Keys and tokens in a text that nothing but a credential looks like, such as `ghp_…` or a signed JSON Web Token.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    // Most texts have no hint, and most runs no such text: they never compile the forms of tokens.
    let may_hold = text.len() >= SHORTEST_TOKEN && forms::may_hold(text);
    let search = may_hold.then(|| forms::TOKEN.as_ref()).flatten();
    search.into_iter().flat_map(|form| form.find_iter(text)).map(|found| found.as_str())
}

/// Finds and replaces secrets.
pub struct Redactor {
    more: Vec<Regex>,
}

/// What the parents of a value say about it.
#[derive(Clone, Copy, Default)]
struct Above {
    /// Every text is a secret, unless it is the name of a file or variable.
    secret: bool,
    /// Inline texts are secrets.
    source: bool,
    /// What the name of the pair says about its value.
    pair: Hint,
    /// What the name of the mapping says about its values: `api_keys: {shop: …}`.
    each: Hint,
    /// A part of a message that Envoy redacts as a whole.
    whole: bool,
    /// The type of the value in Envoy's API.
    message: Option<Message>,
    /// Number of texts around it, such as a JSON string that contains JSON.
    inside: u8,
}

/// Maximum nesting of texts that are parsed: annotations contain whole objects, and those contain configurations.
const MOST_INSIDE: u8 = 3;

impl Redactor {
    /// A redactor with additional patterns. Fails with a message about an invalid one.
    pub fn new(more: &[String]) -> Result<Redactor, ErrorMessage> {
        let more = more.iter().map(|pattern| Regex::new(pattern).map_err(|error| reason(pattern, &error)));
        Ok(Redactor { more: more.collect::<Result<_, _>>()? })
    }

    /// One without additional patterns.
    pub fn plain() -> Redactor {
        Redactor { more: Vec::new() }
    }

    /// The places of the texts in a document that contain secrets, in order, and whether the whole text is secret.
    pub(crate) fn places(&self, document: &Node) -> Vec<(Span, bool)> {
        fn compare(node: &Node, value: &Value, into: &mut Vec<(Span, bool)>) {
            match (&node.value, value) {
                (NodeValue::String(text), Value::String(now)) if text != now => into.push((node.span, now == REDACTED)),
                (NodeValue::Number(_), Value::String(_)) => into.push((node.span, true)),
                (NodeValue::List(items), Value::Array(values)) => {
                    items.iter().zip(values).for_each(|(item, value)| compare(item, value, into));
                }
                (NodeValue::Map(entries), Value::Object(map)) => {
                    let values = entries.iter().filter_map(|entry| Some((&entry.value, map.get(&entry.key)?)));
                    values.for_each(|(node, value)| compare(node, value, into));
                }
                _ => {}
            }
        }
        let mut value = document.to_json();
        let mut places = Vec::new();
        if self.redact(&mut value) > 0 {
            compare(document, &value, &mut places);
        }
        places
    }

    /// Replaces the secrets in a value and returns their number.
    pub fn redact(&self, value: &mut Value) -> usize {
        let mut found = 0;
        self.walk(value, Above::default(), &mut |_| found += 1);
        found
    }

    /// The same, and remembers them.
    pub fn collect(&self, value: &mut Value, into: &mut Secrets) {
        self.walk(value, Above::default(), &mut |secret| into.add(secret));
    }

    /// Replaces the secrets in a text and returns their number.
    pub fn text(&self, text: &mut String) -> usize {
        let mut found = 0;
        self.inside(text, &mut |_| found += 1);
        found
    }

    fn walk(&self, value: &mut Value, above: Above, found: &mut dyn FnMut(&str)) {
        match value {
            Value::String(text) if above.secret && !looks::is_stand_in(text) => replace(text, found),
            Value::String(text) => self.string(text, above, found),
            Value::Array(items) => {
                items.retain(|item| {
                    let secret = is_secret_section(item);
                    if secret {
                        found("");
                    }
                    !secret
                });
                items.iter_mut().for_each(|item| self.walk(item, above, found));
            }
            Value::Object(map) => self.object(map, above, found),
            _ => {}
        }
    }

    fn object(&self, map: &mut Map<String, Value>, above: Above, found: &mut dyn FnMut(&str)) {
        let name = |key: &&str| map.get(*key).and_then(Value::as_str);
        let pair = NAMES.iter().filter_map(name).map(keys::hint).fold(above.pair, Hint::max);
        let message = match map.get("@type").and_then(Value::as_str) {
            Some(url) => Schema::newest().message(url.rsplit('/').next().unwrap_or(url)),
            None => above.message,
        };
        let is_key = map.get("kty").is_some_and(Value::is_string);
        let is_data_source = above.source || above.secret;
        for (key, value) in map.iter_mut() {
            let field = message.and_then(|message| message.field(key));
            let below = field.filter(|field| !field.is_map()).and_then(|field| match field.kind() {
                Kind::Message(message) => Some(message),
                _ => None,
            });
            let sensitive = field.is_some_and(crate::proto::schema::Field::sensitive);
            // No field that Envoy knows is a secret only for what its value looks like.
            let hint =
                Some(keys::hint(key)).filter(|hint| *hint == Hint::Secret || field.is_none()).unwrap_or_default();
            let indicates = hint == Hint::Secret && message.is_none_or(|message| message.full_name() != COOKIE_NAMES);
            let hint = if hint == Hint::Secret && !indicates { Hint::None } else { hint };
            let source = above.source || sensitive || indicates || SOURCES.contains(&key.as_str());
            let is_file = below.is_some_and(|message| INLINE.iter().any(|inline| message.field(inline).is_some()));
            let next = Above {
                secret: false,
                source,
                // `headers: {authorization: {exact: …}}`, `customTags: {token: {literal: {value: …}}}`
                pair: if value.is_object() && indicates {
                    Hint::Secret
                } else if BETWEEN.contains(&key.as_str()) {
                    pair
                } else {
                    Hint::None
                },
                each: if indicates && below.is_none() { Hint::Random } else { Hint::None },
                whole: above.whole || (sensitive && below.is_some() && !is_file),
                message: below,
                ..above
            };
            // A key that the type does not have is a misspelling of one of its keys.
            let unknown = message.is_some() && field.is_none() && !key.starts_with('@');
            let inline = is_data_source && (unknown || INLINE.contains(&key.as_str()));
            let of_pair = VALUES.contains(&key.as_str());
            let private = is_key && PRIVATE.contains(&key.as_str());
            match value {
                Value::String(text) => {
                    let named = !NAMES.contains(&key.as_str()) && looks::confirms(hint, text);
                    let value_of_pair = of_pair && looks::confirms(pair, text);
                    let one_of_many = field.is_none() && looks::confirms(above.each, text);
                    let part = above.whole && !KEPT.contains(&key.as_str());
                    if (named || inline || value_of_pair || one_of_many || sensitive || private || part)
                        && !looks::is_stand_in(text)
                    {
                        replace(text, found);
                    } else if BYTES.contains(&key.as_str()) {
                        self.bytes(text, above, found);
                    } else {
                        self.string(text, above, found);
                    }
                }
                // No number of Envoy's API is a secret.
                Value::Number(number) if hint >= Hint::Digits && field.is_none() => {
                    let digits = number.to_string();
                    let fewest = if indicates { FEWEST_DIGITS } else { PIN_DIGITS };
                    if digits.bytes().filter(u8::is_ascii_digit).count() >= fewest {
                        found(&digits);
                        *value = Value::String(REDACTED.to_owned());
                    }
                }
                // `passwords: [a, b]`
                Value::Array(items)
                    if indicates || sensitive || (pair == Hint::Secret && LISTS.contains(&key.as_str())) =>
                {
                    for item in items {
                        let secret = item.is_string();
                        self.walk(item, Above { secret, ..next }, found);
                    }
                }
                value => self.walk(value, next, found),
            }
        }
    }

    /// Replaces secrets in a string. Keys of JSON inside it count like those of the document around it.
    fn string(&self, text: &mut String, above: Above, found: &mut dyn FnMut(&str)) {
        if is_encoded(text) {
            if above.inside < MOST_INSIDE {
                self.bytes(text, Above { inside: above.inside + 1, ..above }, found);
            }
            return self.inside(text, found);
        }
        let is_json = text.trim_start().starts_with(['{', '[']) && above.inside < MOST_INSIDE;
        let is_json = is_json && (forms::may_hold(text) || hides_letters(text));
        if is_json && let Ok(mut value) = serde_json::from_str::<Value>(text) {
            let mut any = false;
            let inside = Above { inside: above.inside + 1, ..Above::default() };
            self.walk(&mut value, inside, &mut |secret| {
                any = true;
                found(secret);
            });
            if any {
                *text = value.to_string();
            }
        }
        self.inside(text, found);
    }

    /// Replaces secrets in a text that is encoded as base64.
    fn bytes(&self, text: &mut String, above: Above, found: &mut dyn FnMut(&str)) {
        let packed: Cow<'_, str> =
            if text.contains('\n') { text.replace('\n', "").into() } else { text.as_str().into() };
        let decoded = BASE64_STANDARD.decode(packed.as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(mut content) = decoded else { return };
        let before = content.clone();
        self.string(&mut content, above, found);
        if content != before {
            found(text);
            *text = BASE64_STANDARD.encode(&content);
        }
    }

    /// Replaces secrets inside a text.
    fn inside(&self, text: &mut String, found: &mut dyn FnMut(&str)) {
        if self.more.is_empty() && !forms::may_hold(text) {
            return;
        }
        let places = shapes::places(text, &self.more);
        if places.is_empty() {
            return;
        }
        let mut clean = String::with_capacity(text.len());
        let mut end = 0;
        for range in places {
            found(&text[range.clone()]);
            clean.push_str(&text[end..range.start]);
            clean.push_str(REDACTED);
            end = range.end;
        }
        clean.push_str(&text[end..]);
        *text = clean;
    }
}

/// What is wrong with a pattern, on one line: the error's own text points to it on several.
fn reason(pattern: &str, error: &regex::Error) -> String {
    let error = error.to_string();
    let last = error.lines().last().unwrap_or_default();
    format!("`{pattern}`: {}", last.strip_prefix("error: ").unwrap_or(last))
}

fn replace(text: &mut String, found: &mut dyn FnMut(&str)) {
    found(text);
    REDACTED.clone_into(text);
}

fn is_secret_section(item: &Value) -> bool {
    item.get("@type").and_then(Value::as_str).is_some_and(|name| name.ends_with(SECRET_SECTION))
}

/// Whether a text is nothing but base64, such as a kubeconfig in an annotation. It may have line breaks, as `base64` writes them.
fn is_encoded(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=\n".contains(&byte);
    text.len() >= SHORTEST_ENCODED && text.bytes().all(is_part)
}

/// Whether JSON inside a text may spell a key with escapes: `"pass\u0077ord"`.
fn hides_letters(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"\\u").is_some()
}

#[cfg(test)]
mod tests;
