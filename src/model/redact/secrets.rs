//! The secrets of an input, so that no report repeats one.

use super::{REDACTED, Redactor, forms, hides_letters, is_encoded, shapes};
use crate::source::{Node, NodeValue};
use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Shortest text that is searched for elsewhere: shorter ones are words of any report.
const SHORTEST: usize = 6;

/// Maximum size of secrets, in bytes, that is compared with the places where one text was shortened.
const MOST_COMPARED: usize = 1 << 22;

/// The secrets of an input, verbatim.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    values: BTreeSet<String>,
    /// Finds any of them; built on first use.
    finder: OnceLock<Option<AhoCorasick>>,
}

impl Secrets {
    /// Remembers a secret; for several lines (a PEM block, a long token), each line.
    pub(crate) fn add(&mut self, secret: &str) {
        for line in secret.lines().flat_map(|line| line.split("\\n")).map(str::trim) {
            // The first line of a PEM block and common words identify no secret.
            if line.len() < SHORTEST || line.starts_with("-----") || is_word(line) {
                continue;
            }
            self.finder = OnceLock::new();
            let json = serde_json::to_string(line).unwrap_or_default();
            // The spellings of JSON, XML and workflow commands.
            let xml = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
            for form in [line, json.trim_matches('"'), &xml, &line.replace('%', "%25")] {
                self.values.insert(form.to_owned());
            }
            // The text after `Bearer` or `Basic` may be on its own line in a wrapped report.
            if let Some((scheme, credential)) = line.split_once(' ')
                && scheme.bytes().all(|byte| byte.is_ascii_alphabetic())
                && !credential.contains(' ')
            {
                self.add(credential);
            }
        }
    }

    /// Remembers a value if its name indicates a secret.
    pub(crate) fn add_named(&mut self, name: &str, value: &str) {
        let mut pair = Map::new();
        pair.insert(name.to_owned(), value.into());
        Redactor::plain().collect(&mut Value::Object(pair), self);
    }

    /// The same for every pair of a name and a value in an array of two texts, as reports write headers.
    pub(crate) fn add_pairs(&mut self, report: &Value) {
        match report {
            Value::Array(items) => match items.as_slice() {
                [Value::String(name), Value::String(value)] => self.add_named(name, value),
                items => items.iter().for_each(|item| self.add_pairs(item)),
            },
            Value::Object(map) => map.values().for_each(|value| self.add_pairs(value)),
            _ => {}
        }
    }

    /// Remembers the secrets of a document.
    pub(crate) fn add_document(&mut self, document: &Node) {
        if announces(document) {
            Redactor::plain().collect(&mut document.to_json(), self);
        }
    }

    /// Forgets texts that also have another meaning, such as names of objects. Returns whether there were any.
    pub(crate) fn forget<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> bool {
        self.finder = OnceLock::new();
        let before = self.values.len();
        for name in names {
            self.values.remove(name);
        }
        self.values.len() < before
    }

    /// Remembers what another part of the input contains.
    pub(crate) fn join(&mut self, other: Secrets) {
        if !other.is_empty() {
            self.finder = OnceLock::new();
            self.values.extend(other.values);
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether a text contains one of them.
    pub(crate) fn finds(&self, text: &str) -> bool {
        self.finder().is_some_and(|finder| finder.is_match(text))
    }

    /// Where the first of them begins in a text.
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        self.finder()?.find(text).map(|found| found.start())
    }

    /// One automaton for all secrets; `None` when there are none.
    fn finder(&self) -> Option<&AhoCorasick> {
        // The longest match wins, so nothing of a secret that contains another remains.
        let build = || AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&self.values).ok();
        if self.values.is_empty() { None } else { self.finder.get_or_init(build).as_ref() }
    }

    /// Finds what is left of secrets where a text was shortened in the middle of one.
    fn ends(&self, text: &str, found: &mut Vec<Range<usize>>) {
        let mut left = MOST_COMPARED;
        for (at, cut) in text.match_indices('…') {
            let (before, after) = (&text[..at], &text[at + cut.len()..]);
            for secret in &self.values {
                let Some(rest) = left.checked_sub(secret.len()) else {
                    // Too much to compare, so treat the whole word as secret.
                    let start = before.rfind(char::is_whitespace).map_or(0, |start| start + 1);
                    let end = after.find(char::is_whitespace).unwrap_or(after.len());
                    found.push(start..at + cut.len() + end);
                    break;
                };
                left = rest;
                let cuts = || secret.char_indices().map(|(cut, _)| cut);
                let head =
                    cuts().rev().take_while(|&cut| cut >= SHORTEST).find(|&cut| before.ends_with(&secret[..cut]));
                found.extend(head.map(|length| at - length..at));
                let tail = cuts().skip(1).take_while(|&cut| secret.len() - cut >= SHORTEST);
                let tail = tail.map(|cut| &secret[cut..]).find(|tail| after.starts_with(tail));
                found.extend(tail.map(|tail| at + cut.len()..at + cut.len() + tail.len()));
            }
        }
    }

    /// A text without these secrets, and without those recognized by their form.
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut found: Vec<Range<usize>> = shapes::places(text, &[]);
        if let Some(finder) = self.finder() {
            found.extend(finder.find_iter(text).map(|one| one.range()));
            self.ends(text, &mut found);
        }
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        found.sort_unstable_by_key(|range| (range.start, Reverse(range.end)));
        let mut clean = String::with_capacity(text.len());
        let mut end = 0;
        for range in found {
            if range.start >= end {
                clean.push_str(&text[end..range.start]);
                clean.push_str(REDACTED);
            }
            end = end.max(range.end);
        }
        clean.push_str(&text[end..]);
        Cow::Owned(clean)
    }
}

/// Whether a document has a key or a text that may indicate a secret. Most have none, and are not copied. All texts are
/// searched at once, which costs less than many short searches; what indicates a secret contains no line break.
fn announces(document: &Node) -> bool {
    let mut texts = String::with_capacity(1 << 10);
    let encoded = gather(document, &mut texts);
    encoded || forms::may_hold(&texts) || hides_letters(&texts)
}

/// Appends the keys and texts of a document, a line each. Returns whether a text is encoded.
fn gather(node: &Node, texts: &mut String) -> bool {
    match &node.value {
        NodeValue::String(text) => {
            texts.push_str(text);
            texts.push('\n');
            is_encoded(text)
        }
        NodeValue::List(items) => items.iter().fold(false, |any, item| gather(item, texts) | any),
        NodeValue::Map(entries) => entries.iter().fold(false, |any, entry| {
            texts.push_str(&entry.key);
            texts.push('\n');
            gather(&entry.value, texts) | any
        }),
        _ => false,
    }
}

/// Secrets shared by several parts of a run: input adds to them, and output repeats none.
#[derive(Clone, Debug, Default)]
pub struct Keeper(Arc<Mutex<Secrets>>);

impl Keeper {
    /// Reads or changes them.
    pub(crate) fn with<R>(&self, body: impl FnOnce(&mut Secrets) -> R) -> R {
        body(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whether a short text is a word with another meaning in most reports, such as `default`.
fn is_word(text: &str) -> bool {
    matches!(
        text,
        "default"
            | "istio-system"
            | "cluster"
            | "listener"
            | "inbound"
            | "outbound"
            | "virtual"
            | "gateway"
            | "sidecar"
            // How a token is sent (`bearer_methods_supported` of RFC 9728).
            | "header"
            | "body"
            | "query"
    )
}
