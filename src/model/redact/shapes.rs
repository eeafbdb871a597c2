//! The places of secrets in a text: known forms, PEM, and assignments in code, YAML, JSON and environment files.

use super::REDACTED;
use super::flow;
use super::forms::{FORM, may_hold, surrounding};
use super::keys::{self, Hint};
use super::looks::{confirms, is_mixed, is_random, is_stand_in, is_token};
use crate::budget;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// The text between a name that indicates a secret and the quotes around it: `"k": "v"`, `k = 'v'`, `h["k"] = "v"`, `add("k",
/// "v")`, `k = [[v]]` and `k[1] = "v"` of Lua, `k: !!str "v"` of YAML. Quotes may be escaped: the text may be JSON inside a
/// string.
const QUOTE: &str = r#"^(?:\[[^\]\n]{1,40}\]|\\*["']?\s*\]?)\s*(?:<(?:const|close)>\s*)?(?::=|=>?|:|,)\s*(?:[!&][^\s"'\\]*\s+)*(?P<s>\\{0,7}["'`]|\[=*\[)"#;
/// The text between two parts of a concatenation: `"a" .. "b"`, `"a" .. name .. "b"`.
const NEXT: &str = r#"^\\*["'`]\s*(?:\.\.|\+)\s*(?:[A-Za-z_][A-Za-z0-9_.:]*\s*(?:\.\.|\+)\s*)?(?P<s>\\{0,7}["'`])"#;
/// `k: v` of YAML, to the end of the line; also `? k` with `: v` on the next line.
const PLAIN: &str = r#"^\\*["']?(?:[ \t]*\n)?:[ \t]+(?:[!&][^\s"'\\]*[ \t]+)*(?P<s>[^\s"'\\{}\[\],|>&*#(!][^\s"'\\,{}]{2,})[ \t]*(?:$|[\n#,}"']|\\n)"#;
/// The same with spaces in the value.
const WORDS: &str = r#"^["']?:[ \t]+(?P<s>[^\s"'\\{}\[\],|>&*#!][^\n"\\]{2,})(?:$|\n)"#;
/// `k:` of YAML with its value on the lines below.
const BELOW: &str = r#"^["']?:[ \t]*(?:[!&][^\s"'\\]*[ \t]*)*(?P<s>[|>][0-9+-]{0,2})?[ \t]*(?:#[^\n]*)?\n"#;
/// `K=v` of environment files and connection strings, `K%3Dv` of URLs inside URLs, `K = v` of INI files.
const SET: &str = r#"^(?:=|%3[dD]|[ \t]+=[ \t]+)(?P<s>[^\s"'\\$(){}\[\],;&=][^\s"'\\(){}\[\],;&]{3,})"#;
/// The start of a list of values, or of a key of a set.
const LIST: &str = r"^(?:[ \t]*=[ \t]*(?:[a-z.]+\()?\{|\[)";
/// The value after a name that is itself a value: `{"name": "x-api-key", "value": "…"}`, and `value: …` below `key: x-api-key`
/// or `token:`.
const BESIDE: &str = r#"(?i)^\\*["']?(?::[ \t]*(?:\{|\n|\\n))?(?:\s|\\n|,|--|[#]|//)*\\*["']?(?:raw_?)?value\\*["']?\s*[:=]\s*\\*["']?(?P<s>[^\s"'\\{},][^"'\\{},\n]{2,})"#;

/// A pattern that is compiled on first use: most texts need few.
type Lazy = LazyLock<Option<Regex>>;

/// What follows a name.
struct Follows {
    beside: Lazy,
    quote: Lazy,
    next: Lazy,
    plain: Lazy,
    words: Lazy,
    below: Lazy,
    set: Lazy,
    list: Lazy,
}

static FOLLOWS: Follows = Follows {
    beside: Lazy::new(|| Regex::new(BESIDE).ok()),
    quote: Lazy::new(|| Regex::new(QUOTE).ok()),
    next: Lazy::new(|| Regex::new(NEXT).ok()),
    plain: Lazy::new(|| Regex::new(PLAIN).ok()),
    words: Lazy::new(|| Regex::new(WORDS).ok()),
    below: Lazy::new(|| Regex::new(BELOW).ok()),
    set: Lazy::new(|| Regex::new(SET).ok()),
    list: Lazy::new(|| Regex::new(LIST).ok()),
};

/// A text in quotes on one line of code.
static LITERAL: Lazy = Lazy::new(|| Regex::new(r#"["'](?P<s>[^"'\\\s]{4,})["']"#).ok());
/// Private members of a JSON Web Key (RFC 7518) in a text.
static JWK: Lazy =
    Lazy::new(|| Regex::new(r#"\b(?:k|d|p|q|dp|dq|qi)\\*["']?\s*:\s*\\*["']?(?P<s>[A-Za-z0-9_-]{16,})"#).ok());

/// A word that may be a name.
static WORD: Lazy = Lazy::new(|| Regex::new("[A-Za-z][A-Za-z0-9_.-]{1,80}").ok());

/// Bytes that are searched in the time of one unit of work, and the units for a word and for one that indicates a secret.
const BYTES_PER_UNIT: usize = 4;
const PER_WORD: u64 = 4;
const PER_HINT: u64 = 64;

/// The places of secrets in a text, sorted, without overlaps.
pub(super) fn places(text: &str, more: &[Regex]) -> Vec<Range<usize>> {
    budget::charge_for(text.len() / BYTES_PER_UNIT);
    let mut found: Vec<Range<usize>> = Vec::new();
    for pattern in more {
        found.extend(pattern.find_iter(text).map(|one| one.range()).filter(|range| !range.is_empty()));
    }
    if may_hold(text) {
        found.extend(FORM.iter().flat_map(|form| form.find_iter(text)).map(|one| one.range()));
        for pattern in surrounding(text) {
            let secrets = pattern.captures_iter(text).filter_map(|one| {
                let of = |name: &str, is: fn(&str) -> bool| one.name(name).filter(|found| is(found.as_str()));
                one.name("s").or_else(|| of("d", is_random)).or_else(|| of("t", is_token)).or_else(|| of("m", is_mixed))
            });
            found.extend(
                secrets.filter(|one| !is_stand_in(one.as_str()) && !is_scheme_talk(text, one)).map(|one| one.range()),
            );
        }
        pem(text, &mut found);
        if let Some(members) = JWK.as_ref().filter(|_| text.contains("kty")) {
            found.extend(members.captures_iter(text).filter_map(|one| one.name("s")).map(|one| one.range()));
        }
        assigned(text, &mut found);
        flow::trace(text, &mut found);
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

/// The text before a byte on its line; `None` if the line began more than [`NEAR`] bytes before.
fn line_before(text: &str, at: usize) -> Option<&str> {
    let start = (at.saturating_sub(NEAR)..=at).find(|&start| text.is_char_boundary(start))?;
    match text[start..at].rsplit_once('\n') {
        Some((_, line)) => Some(line),
        None => (start == 0).then(|| &text[..at]),
    }
}

/// Finds the values of names that indicate a secret. Each part of the text is searched once: a value that was found is skipped.
fn assigned(text: &str, found: &mut Vec<Range<usize>>) {
    let Some(words) = WORD.as_ref() else { return };
    let follows = &FOLLOWS;
    let mut at = 0;
    let mut searched = 0;
    while let Some(word) = words.find_at(text, at) {
        at = word.end();
        // The word may be the end of a sentence.
        let key = word.as_str().trim_end_matches('.');
        budget::charge(PER_WORD);
        let start = word.start() + key.len();
        let rest = &text[start..];
        let hint = match keys::hint(key) {
            Hint::None if matches!(key, "key" | "keys") && is_variable(text, word.start(), rest) => Hint::Random,
            Hint::None if keys::is_of_keys(key) => Hint::Generated,
            hint => hint,
        };
        if hint == Hint::None {
            continue;
        }
        budget::charge(PER_HINT);
        let values = follow(follows, text, word.start(), key);
        if hint == Hint::Secret || hint == Hint::Mixed {
            beside_in_code(text, word.start(), start, &mut searched, found);
        }
        if hint != Hint::Digits {
            listed(follows, hint, rest, start, found);
        }
        for value in values {
            let (start, end) = (start + value.start, start + value.end);
            let secret = &text[start..end];
            let is_secret =
                confirms(hint, secret) && !is_stand_in(secret) && !secret.starts_with("..") && !repeats(key, secret);
            if is_secret {
                found.push(start..start + secret.trim_end().len());
            }
            // A long value is searched only once, whatever it is.
            if is_secret || end - start > NEAR {
                at = at.max(end);
            }
        }
    }
}

/// Whether a value is only its key in another spelling, such as the name of a cookie: `bearer_token: BearerToken`.
fn repeats(key: &str, value: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
    };
    value.len() <= key.len() + 2 && letters(key) == letters(value)
}

/// Whether a name is a variable of Lua that gets a value: `local key = "…"`.
fn is_variable(text: &str, name: usize, rest: &str) -> bool {
    text[..name].trim_end_matches([' ', '\t']).ends_with("local") && rest.trim_start().starts_with('=')
}

/// Where a pattern finds the value at the start of a text.
fn of(pattern: &Lazy, text: &str) -> Option<Range<usize>> {
    Some(pattern.as_ref()?.captures(text)?.name("s")?.range())
}

/// The values after a name that indicates a secret, relative to the end of the name.
fn follow(follows: &Follows, text: &str, name: usize, key: &str) -> Vec<Range<usize>> {
    let rest = &text[name + key.len()..];
    let before = text[..name].trim_end_matches([' ', '\t']);
    let starts = before.is_empty()
        || before.ends_with(['\n', '-', '{', ',', '"', '\'', '\\', ';', '│', '?'])
        || before.ends_with("\\n")
        || before.ends_with("export");
    let digits = |range: &Range<usize>| rest[range.clone()].bytes().any(|byte| byte.is_ascii_digit());
    let call = |range: &Range<usize>| rest[range.end..].starts_with(['(', '[', '{']);
    let upper = !key.bytes().any(|byte| byte.is_ascii_lowercase());
    // Only an accepted match is followed to its end; otherwise every name would search all the text after it.
    let near = head(rest);
    let whole = |pattern: &Lazy, range: Range<usize>| {
        if range.end == near.len() && near.len() < rest.len() { of(pattern, rest) } else { Some(range) }
    };
    if let Some(range) = of(&follows.beside, near).and_then(|range| whole(&follows.beside, range)) {
        return vec![range];
    }
    if let Some(open) = of(&follows.quote, near) {
        if rest[..open.start].trim_end().ends_with(',') && !is_argument(text, name, rest, open.clone()) {
            return Vec::new();
        }
        let mut values = Vec::new();
        let mut next = Some(open);
        while let Some(open) = next {
            let value = quoted(rest, open);
            let tail = &rest[value.end..];
            next = of(&follows.next, head(tail)).map(|range| value.end + range.start..value.end + range.end);
            // Between two texts of JSON there is only punctuation.
            if value.len() >= 3 && rest[value.clone()].contains(|c: char| !c.is_whitespace() && !"[]{},:".contains(c)) {
                values.push(value);
            }
        }
        return values;
    }
    let line = line_before(text, name);
    let begins_line =
        line.is_some_and(|line| line.trim_start_matches(['-', '"', '\'']).trim().is_empty() && !line.contains("--"));
    let indentation = line.map_or(0, str::len);
    if begins_line && let Some(values) = below(follows, rest, indentation) {
        return values;
    }
    let plain = of(&follows.plain, near).filter(|range| starts || is_random(&rest[range.clone()]));
    if let Some(range) = plain.and_then(|range| whole(&follows.plain, range)) {
        return vec![range];
    }
    let any = key.to_ascii_lowercase();
    let any = any.contains("pass") || any.contains("pwd");
    let random = |range: &Range<usize>| any || rest[range.clone()].split([' ', '\t']).any(is_random);
    if begins_line && let Some(range) = of(&follows.words, near).filter(random) {
        return vec![range];
    }
    let set = of(&follows.set, near).filter(|range| (upper || digits(range)) && !call(range));
    let spaced = rest.starts_with([' ', '\t']);
    let set = set.filter(|range| {
        let value = &rest[range.clone()];
        !spaced || is_random(value) || (upper && begins_line && is_mixed(value) && !value.contains('.'))
    });
    set.and_then(|range| whole(&follows.set, range)).into_iter().collect()
}

/// Whether a text in quotes after a name and a comma is its value, as in `add("authorization", "…")`, not the next item of a
/// list of names or the next key of a mapping.
fn is_argument(text: &str, name: usize, rest: &str, open: Range<usize>) -> bool {
    let value = quoted(rest, open);
    let after = rest[value.end..].trim_start_matches(['\\', '"', '\'', '`']).trim_start();
    let is_call = text[..name].trim_end_matches(['\\', '"', '\'', ' ']).ends_with('(') || after.starts_with(')');
    !after.starts_with(':') && (is_call || is_random(&rest[value]))
}

/// The content of a text in quotes that begin at `open`. Quotes with more backslashes than the first belong to the content.
fn quoted(rest: &str, open: Range<usize>) -> Range<usize> {
    let (quote, start) = (&rest[open.clone()], open.end);
    let content = &rest[start..];
    if let Some(level) = quote.strip_prefix('[') {
        let end = content.find(&format!("]{}]", level.trim_end_matches('[')));
        return start..start + end.or_else(|| content.find(']')).unwrap_or(content.len());
    }
    let level = quote.len() - 1;
    let mark = quote.as_bytes().last().copied().unwrap_or(b'"');
    let mut backslashes = 0;
    let mut skip = false;
    for (at, byte) in content.bytes().enumerate() {
        match byte {
            _ if std::mem::take(&mut skip) => {}
            b'\n' => break,
            b'\\' => {
                backslashes += 1;
                continue;
            }
            // `'it''s'` of YAML
            b'\'' if mark == b'\'' && at > 0 && content[at + 1..].starts_with('\'') => skip = true,
            _ if byte == mark => {
                let ends = backslashes <= level || (backslashes - level).is_multiple_of(2 * (level + 1));
                if ends {
                    return start..start + at - backslashes.min(at);
                }
            }
            _ => {}
        }
        backslashes = 0;
    }
    let end = content.find(['"', '\'', '\\', '\n']);
    start..start + end.unwrap_or(content.len())
}

/// The lines below `k:` or `k: |` of YAML that are indented more than the key. Without `|`, a mapping is no value, and the
/// items of a list are values of their own.
fn below(follows: &Follows, rest: &str, indentation: usize) -> Option<Vec<Range<usize>>> {
    let head = follows.below.as_ref()?.captures(head(rest))?;
    let is_block = head.name("s").is_some();
    let mut at = head.get(0)?.end();
    let mut values: Vec<Range<usize>> = Vec::new();
    for line in rest[at..].split_inclusive('\n') {
        let content = line.trim();
        let indented = line.len() - line.trim_start().len();
        let item = content.strip_prefix("- ").filter(|_| !is_block);
        let value = item.unwrap_or(content).trim_matches(['"', '\'']);
        let ends = !content.is_empty() && indented <= indentation && item.is_none();
        let is_map = !is_block && (value.contains(": ") || value.ends_with(':') || value.starts_with(['{', '[', '#']));
        if ends || is_map || (!is_block && content.is_empty()) {
            break;
        }
        let from = at + line.find(value).unwrap_or(0);
        match values.last_mut() {
            // All lines of a block are one value.
            Some(block) if is_block => block.end = from + value.len(),
            _ if value.len() >= 3 => values.push(from..from + value.len()),
            _ => {}
        }
        at += line.len();
    }
    (!values.is_empty()).then_some(values)
}

/// Finds random texts in a list or table of Lua that is the value of a name: `API_KEYS = { ["shop"] = "…" }`, `tokens["…"]`.
fn listed(follows: &Follows, hint: Hint, rest: &str, start: usize, found: &mut Vec<Range<usize>>) {
    let Some(literal) = LITERAL.as_ref() else { return };
    let near = head(rest);
    let Some(open) = follows.list.as_ref().and_then(|list| list.find(near)) else { return };
    let end = near[open.end()..].find(['}', ']']).map_or(near.len(), |end| open.end() + end + 1);
    // `["name"] = …` belongs to the list.
    let end = if near[open.end()..end].contains('[') { near.find('}').unwrap_or(near.len()) } else { end };
    let literals = literal.captures_iter(&near[open.end() - 1..end]).filter_map(|one| one.name("s"));
    let from = start + open.end() - 1;
    found.extend(
        literals
            .filter(|one| one.len() >= 10 && is_listed(hint, one.as_str()) && !is_stand_in(one.as_str()))
            .map(|one| from + one.start()..from + one.end()),
    );
}

/// Whether an item of a list with such a name is a secret.
fn is_listed(hint: Hint, text: &str) -> bool {
    if hint == Hint::Generated { confirms(hint, text) } else { is_random(text) }
}

/// Finds random texts in quotes on the same line of code as a name that indicates a secret: `token = get() or "…"`,
/// `"…" == get("x-api-key")`. `searched` is the end of the part that was searched already.
fn beside_in_code(text: &str, name: usize, end: usize, searched: &mut usize, found: &mut Vec<Range<usize>>) {
    let after = text[end..].trim_start_matches(['"', '\'']);
    let is_code = after.starts_with(['(', ')', ']', ',']) || after.trim_start_matches(' ').starts_with(['=', '~']);
    if end < *searched || !is_code {
        return;
    }
    let Some(literal) = LITERAL.as_ref() else { return };
    let from = line_before(text, name).map_or(name.saturating_sub(NEAR), |line| name - line.len()).max(*searched);
    let from = (from..=name).find(|&at| text.is_char_boundary(at)).unwrap_or(name);
    let line = head(&text[end..]);
    let to = end + line.find('\n').unwrap_or(line.len());
    *searched = to;
    // Keys and values of JSON have names of their own.
    if text[from..to].contains("\":") {
        return;
    }
    let literals = literal.captures_iter(&text[from..to]).filter_map(|one| one.name("s"));
    let random = literals.filter(|one| one.len() >= 10 && is_random(one.as_str()) && !is_stand_in(one.as_str()));
    found.extend(random.map(|one| from + one.start()..from + one.end()));
}

/// Whether a match after `Basic` or `Bearer` is prose, as in "Basic authentication is required": credentials of both schemes
/// are encoded, so they contain a digit, a capital or a symbol.
fn is_scheme_talk(text: &str, secret: &regex::Match<'_>) -> bool {
    let before = text[..secret.start()].trim_end();
    let ends = |scheme: &str| {
        before
            .len()
            .checked_sub(scheme.len())
            .is_some_and(|at| before.as_bytes()[at..].eq_ignore_ascii_case(scheme.as_bytes()))
    };
    let word = secret.as_str().trim_end_matches('.');
    (ends("basic") || ends("bearer")) && word.starts_with("auth") && word.bytes().all(|byte| byte.is_ascii_lowercase())
}
