//! Secrets recognized by their form: keys of clouds and forges, tokens, PEM, credentials in URLs, and assignments in code,
//! YAML, JSON and environment files inside a text.

use super::{REDACTED, keys};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Forms of secrets. If a pattern has a group `s`, only the group is secret.
const FORMS: &[&str] = &[
    // PEM in base64.
    r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]*",
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?",
    r"(?i)\b(?:bearer|basic)(?:\s|%20|\+)+(?P<s>[A-Za-z0-9._~+/=-]{8,})",
    r#"(?i)\b(?:bearer|basic)\s*\\*["']\s*(?:\.\.|\+)\s*\\*["'](?P<s>[^"'\\]{4,})"#,
    r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bglpat-[A-Za-z0-9_-]{16,}",
    r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{8,}",
    r"\bwhsec_[A-Za-z0-9+/=]{16,}",
    r"\bxox[abeprs]-[A-Za-z0-9-]{8,}",
    r"\bxapp-[0-9]-[A-Za-z0-9-]{8,}",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    r"\bya29\.[A-Za-z0-9_-]{16,}",
    r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"\bhv[sb]\.[A-Za-z0-9_-]{16,}",
    r"\bnpm_[A-Za-z0-9]{30,}",
    r"\bpypi-[A-Za-z0-9_-]{30,}",
    r"\bdckr_pat_[A-Za-z0-9_-]{16,}",
    r"\bhf_[A-Za-z0-9]{30,}",
    r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    r"\bAGE-SECRET-KEY-1[A-Z0-9]{40,}",
    // redis://user:pw@host, amqp://:pw@host
    r#"://[^/\s:@"'\\]*:(?P<s>[^/\s@"'\\]+)@"#,
    r#"(?i)[?&;](?:access_token|api_?key|token|password|secret|sig|signature)=(?P<s>[^&\s"'\\#]{4,})"#,
];

/// The text between a name that indicates a secret and the secret: `"k": "v"`, `k = 'v'`, `h["k"] = "v"`, `add("k", "v")`, `k =
/// [[v]]` of Lua. Quotes may be escaped: the text may be JSON inside a string.
const QUOTED: &str =
    r#"^\\*["']?\s*\]?\s*(?::|=>?|,)\s*\\*(?:"(?P<s>[^"\\\n]{3,})|'(?P<t>[^'\\\n]{3,})|\[=*\[(?P<u>[^\]]{3,}))"#;
/// `k: v` of YAML, to the end of the line.
const PLAIN: &str = r#"^\\*["']?:[ \t]+(?P<s>[^\s"'\\{}\[\],|>&*#(!][^\s"'\\,{}]{2,})[ \t]*(?:$|[\n#,}"']|\\n)"#;
/// `K=v` of environment files and connection strings.
const SET: &str = r#"^=(?P<s>[^\s"'\\$(){}\[\],;&=][^\s"'\\(){}\[\],;&]{3,})"#;
/// The value after a name that is itself a value: `{"name": "x-api-key", "value": "…"}`, and `value: …` below `key: x-api-key`.
const BESIDE: &str = r#"(?i)^\\*["']?(?:\s|\\n|,|--|[#]|//)*\\*["']?(?:raw_?)?value\\*["']?\s*:\s*\\*["']?(?P<s>[^\s"'\\{},][^"'\\{},\n]{2,})"#;

/// Substrings, one of which occurs in every text or key that is or indicates a secret; the other patterns run only on texts
/// that contain one. Without `\b`: Unicode word boundaries have no automaton, and every printed line is searched.
const HINTS: &[&str] = &[
    r"(?i)pass(?:word|wd|code|[-_. ]?phrase)|pwd|secret|token|credential|authorization|bearer|basic|cookie|jwks|users|kty",
    r"(?i)(?:private|api|app|access|auth|signing|signature|encryption|hmac|master|shared|account|client|session|ticket|ssh|license)[-_. ]?key",
    r"github_pat_|(?i)session[-_. ]?id|pass[-_. ]word|connection[-_. ]?string|certificate|trusted_?ca|ocsp|inline|sig=|signature=",
    r"-----BEGIN|LS0tLS1|eyJ|A(?:KIA|SIA|BIA|CCA)|gh[pousr]_|glpat-|[sr]k_(?:live|test)_|xox|xapp-|AIza|ya29\.|SG\.",
    r"hv[sb]\.|npm_|pypi-|dckr_|hf_|shp(?:at|ca|pa|ss)_|AGE-SECRET|://[^/\s]*@",
];

static HINT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let groups: Vec<String> = HINTS.iter().map(|hint| format!("(?:{hint})")).collect();
    Regex::new(&groups.join("|")).ok()
});

static FORM: LazyLock<Vec<Regex>> = LazyLock::new(|| FORMS.iter().filter_map(|it| Regex::new(it).ok()).collect());
static FOLLOWS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| [BESIDE, QUOTED, PLAIN, SET].iter().filter_map(|it| Regex::new(it).ok()).collect());

/// A word that may be a name.
static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("[A-Za-z][A-Za-z0-9_.-]{2,80}").ok());

/// Whether a text may contain something that [`places`] finds; cheap.
pub(super) fn may_hold(text: &str) -> bool {
    text.len() >= 6 && HINT.as_ref().is_none_or(|hint| hint.is_match(text))
}

/// The places of secrets in a text, sorted, without overlaps.
pub(super) fn places(text: &str, more: &[Regex]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for pattern in more {
        found.extend(pattern.find_iter(text).map(|one| one.range()).filter(|range| !range.is_empty()));
    }
    if may_hold(text) {
        for pattern in FORM.iter() {
            if pattern.capture_names().flatten().next().is_none() {
                found.extend(pattern.find_iter(text).map(|one| one.range()));
                continue;
            }
            let secrets = pattern.captures_iter(text).filter_map(|one| one.name("s"));
            found.extend(
                secrets.filter(|one| !is_stand_in(one.as_str()) && !is_scheme_talk(text, one)).map(|one| one.range()),
            );
        }
        pem(text, &mut found);
        assigned(text, &mut found);
    }
    found.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    // Redacted text stays as it is, so that redaction is idempotent.
    apart.retain(|range| text.get(range.clone()) != Some(REDACTED));
    apart
}

/// Finds PEM blocks, also in a JSON string; for one without an end, the part that looks like its content.
fn pem(text: &str, found: &mut Vec<Range<usize>>) {
    let mut at = 0;
    let mut ends = true;
    while let Some(start) = text[at..].find("-----BEGIN ").map(|start| at + start) {
        let inside = start + "-----BEGIN ".len();
        let end = if ends { text[inside..].find("-----END ") } else { None };
        ends = end.is_some();
        at = if let Some(end) = end {
            let after = inside + end + "-----END ".len();
            after + text[after..].find("-----").filter(|length| *length < 64).map_or(0, |length| length + 5)
        } else {
            let label = text[inside..].find("-----").filter(|length| *length < 64).map_or(0, |length| length + 5);
            let content = |c: char| !(c.is_ascii_alphanumeric() || "+/=\\ \t\r\n".contains(c));
            let rest = &text[inside + label..];
            // The line ends here, whatever follows.
            inside + label + rest[..rest.find(content).unwrap_or(rest.len())].trim_end().len()
        };
        found.push(start..at);
    }
}

/// How much of the text after a name is searched first, in bytes.
const NEAR: usize = 512;

/// The beginning of a text, at most [`NEAR`] bytes.
fn head(text: &str) -> &str {
    let end = (0..=NEAR.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// Finds the values of names that indicate a secret. Each part of the text is searched once: a value that was found is skipped.
fn assigned(text: &str, found: &mut Vec<Range<usize>>) {
    let (Some(words), [beside, quoted, plain, set]) = (WORD.as_ref(), FOLLOWS.as_slice()) else { return };
    let mut at = 0;
    while let Some(word) = words.find_at(text, at) {
        at = word.end();
        // The word may be the end of a sentence.
        let key = word.as_str().trim_end_matches('.');
        if !keys::is_secret(key) {
            continue;
        }
        let rest = &text[word.start() + key.len()..];
        let before = text[..word.start()].trim_end_matches([' ', '\t']);
        let starts = before.is_empty()
            || before.ends_with(['\n', '-', '{', ',', '"', '\'', '\\', ';', '│'])
            || before.ends_with("\\n")
            || before.ends_with("export");
        let of = |pattern: &Regex, text: &str| {
            let found = pattern.captures(text)?;
            ["s", "t", "u"].into_iter().find_map(|name| found.name(name).map(|one| one.range()))
        };
        let digits = |range: &Range<usize>| rest[range.clone()].bytes().any(|byte| byte.is_ascii_digit());
        let call = |range: &Range<usize>| rest[range.end..].starts_with(['(', '[', '{']);
        let upper = !key.bytes().any(|byte| byte.is_ascii_lowercase());
        // Only an accepted match is followed to its end; otherwise every name would search all the text after it.
        let near = head(rest);
        let whole = |pattern: &Regex, range: Range<usize>| {
            if range.end == near.len() && near.len() < rest.len() { of(pattern, rest) } else { Some(range) }
        };
        let range = of(beside, near)
            .and_then(|range| whole(beside, range))
            .or_else(|| of(quoted, near).and_then(|range| whole(quoted, range)))
            .or_else(|| of(plain, near).filter(|_| starts).and_then(|range| whole(plain, range)))
            .or_else(|| {
                let range = of(set, near).filter(|range| (upper || digits(range)) && !call(range))?;
                whole(set, range)
            });
        if let Some(range) = range {
            let (start, end) = (word.start() + key.len() + range.start, word.start() + key.len() + range.end);
            let secret = &text[start..end];
            if !is_stand_in(secret) && !secret.starts_with("..") {
                found.push(start..start + secret.trim_end().len());
                at = at.max(end);
            }
        }
    }
}

/// Whether a match after `Basic` or `Bearer` is prose, as in "Basic authentication is required": credentials of both schemes
/// are encoded, so they contain a digit, a capital or a symbol.
fn is_scheme_talk(text: &str, secret: &regex::Match<'_>) -> bool {
    let before = text[..secret.start()].trim_end().to_ascii_lowercase();
    let word = secret.as_str().trim_end_matches('.');
    (before.ends_with("basic") || before.ends_with("bearer"))
        && word.starts_with("auth")
        && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Whether a text only refers to a secret or names one: `%REQ(authorization)%`, `$(TOKEN)`, `{{ .token }}`, a file path,
/// a word such as `true`.
pub(super) fn is_stand_in(text: &str) -> bool {
    let text = text.trim();
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
