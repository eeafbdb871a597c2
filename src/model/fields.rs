//! Reads typed fields out of a document and notes what does not fit the API.

use crate::source::{Entry, Node, NodeValue, Problem, Severity, Span};
use std::collections::BTreeMap;

/// The most fields that are all named where no name is like the unknown one.
const FEW_FIELDS: usize = 8;

/// Collects what is wrong while fields are read.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// What was found.
    pub(super) problems: Vec<Problem>,
    /// Whether something was found that makes the API server refuse the whole object.
    pub(super) refused: bool,
}

/// A mapping of the API with the words for it in messages.
#[derive(Clone, Copy)]
pub(super) struct Message<'n> {
    pub(super) node: &'n Node,
    /// What the user calls it: the key it stands under.
    pub(super) name: &'static str,
}

impl Reader {
    /// Notes something that makes the object unreadable.
    pub(super) fn refuse(&mut self, code: &'static str, span: Span, message: String, help: Option<String>) {
        self.refused = true;
        self.problems.push(Problem { code, severity: Severity::Error, span: Some(span), message, help });
    }

    /// Notes something doubtful.
    pub(super) fn warn(&mut self, code: &'static str, span: Span, message: String, help: Option<String>) {
        self.problems.push(Problem { code, severity: Severity::Warning, span: Some(span), message, help });
    }

    fn wrong_type(&mut self, key: &str, (span, node): (Span, &Node), expected: &str) {
        let quotes = matches!(node.value, NodeValue::Bool(_) | NodeValue::Number(_)) && expected == "a text";
        let message = format!("`{key}` must be {expected}, not {}", describe(&node.value));
        self.refuse("wrong-type", span, message, quotes.then(|| "put the value in quotes".to_owned()));
    }

    /// The value as a mapping of the API.
    pub(super) fn message<'n>(&mut self, name: &'static str, node: &'n Node) -> Option<Message<'n>> {
        self.mapping(name, (node.span, node))
    }

    fn mapping<'n>(&mut self, name: &'static str, (span, node): (Span, &'n Node)) -> Option<Message<'n>> {
        if matches!(node.value, NodeValue::Map(_)) {
            return Some(Message { node, name });
        }
        self.wrong_type(name, (span, node), "a mapping");
        None
    }

    /// A field that is there. `null` counts as absent: the API server prunes it, since no field of the API is nullable.
    pub(super) fn entry<'n>(&mut self, message: Message<'n>, name: &str) -> Option<&'n Entry> {
        let entry = message.node.entry(name)?;
        if entry.value.is_null() {
            let text = format!("`{name}` has no value: the API server drops it");
            self.warn("null-value", entry.key_span, text, Some("give it a value or delete it".to_owned()));
            return None;
        }
        Some(entry)
    }

    /// A field that holds a mapping of the API.
    pub(super) fn child<'n>(&mut self, message: Message<'n>, name: &'static str) -> Option<Message<'n>> {
        let entry = self.entry(message, name)?;
        self.mapping(name, placed(entry))
    }

    /// The items of a field that holds a list.
    pub(super) fn list<'n>(&mut self, message: Message<'n>, name: &str) -> &'n [Node] {
        let Some(entry) = self.entry(message, name) else { return &[] };
        if let NodeValue::List(items) = &entry.value.value {
            items
        } else {
            self.wrong_type(name, placed(entry), "a list");
            &[]
        }
    }

    /// A text field; empty when absent.
    pub(super) fn text(&mut self, message: Message<'_>, name: &str) -> String {
        let Some(entry) = self.entry(message, name) else { return String::new() };
        if let Some(text) = entry.value.as_str() {
            return text.to_owned();
        }
        self.wrong_type(name, placed(entry), "a text");
        String::new()
    }

    /// A whole-number field; 0 when absent.
    pub(super) fn number<T>(&mut self, message: Message<'_>, name: &str, range: &str) -> T
    where
        T: std::str::FromStr + Default,
    {
        let Some(entry) = self.entry(message, name) else { return T::default() };
        if let NodeValue::Number(text) = &entry.value.value {
            if let Ok(value) = text.parse() {
                return value;
            }
            let text = format!("`{name}` must be a whole number {range}, not {text}");
            self.refuse("wrong-type", entry.value.span, text, None);
        } else {
            self.wrong_type(name, placed(entry), &format!("a whole number {range}"));
        }
        T::default()
    }

    /// A field that holds one of the API's names; `None` when absent.
    pub(super) fn choice<T: Copy>(
        &mut self,
        message: Message<'_>,
        name: &str,
        choices: &[(&'static str, T)],
    ) -> Option<T> {
        let entry = self.entry(message, name)?;
        let Some(text) = entry.value.as_str() else {
            self.wrong_type(name, placed(entry), "a text");
            return None;
        };
        if let Some((_, value)) = choices.iter().find(|(choice, _)| *choice == text) {
            return Some(*value);
        }
        let all: Vec<&str> = choices.iter().map(|(choice, _)| *choice).filter(|choice| *choice != "INVALID").collect();
        let help = match nearest(text, &all) {
            Some(near) => format!("write {near}"),
            None => format!("one of {}", all.join(", ")),
        };
        self.refuse("unknown-enum-value", entry.value.span, format!("`{text}` is not a value of `{name}`"), Some(help));
        None
    }

    /// A field that holds a mapping of texts.
    pub(super) fn texts(&mut self, message: Message<'_>, name: &str) -> Option<BTreeMap<String, String>> {
        let entry = self.entry(message, name)?;
        if !matches!(entry.value.value, NodeValue::Map(_)) {
            self.wrong_type(name, placed(entry), "a mapping");
            return None;
        }
        let mut texts = BTreeMap::new();
        for entry in entry.value.entries() {
            let Entry { key, key_span, value } = entry;
            if let Some(text) = value.as_str() {
                texts.insert(key.clone(), text.to_owned());
            } else if value.is_null() {
                let text = format!("`{key}` of `{name}` has no value: the API server drops it");
                self.warn("null-value", *key_span, text, Some("give it a value or delete it".to_owned()));
            } else {
                self.wrong_type(key, placed(entry), "a text");
            }
        }
        Some(texts)
    }

    /// Notes the keys that are not fields; `told` knows the code and help for keys that belong elsewhere or that people
    /// are known to write.
    /// The help quotes the name to write, if it is to be written: "write `name`".
    pub(super) fn unknown_fields(
        &mut self,
        message: Message<'_>,
        known: &[&'static str],
        told: impl Fn(Message<'_>, &str) -> Option<(&'static str, String)>,
    ) {
        for entry in message.node.entries() {
            let key = entry.key.as_str();
            if known.contains(&key) {
                continue;
            }
            let text = format!("`{key}` is not a field of {}: the API server drops it", message.name);
            let (code, help) = if let Some(name) = same_letters(key, known) {
                // Where the right key stands as well, writing it again would make it a duplicate.
                let there = message.node.entry(name).is_some();
                let delete = || format!("delete it: `{name}` is there as well");
                ("misspelt-field", Some(if there { delete() } else { format!("write `{name}`") }))
            } else if let Some((code, help)) = told(message, key) {
                (code, Some(help))
            } else {
                let near = nearest(key, known).map(|name| format!("did you mean `{name}`?"));
                let all = || (known.len() <= FEW_FIELDS).then(|| format!("its fields are {}", known.join(", ")));
                ("unknown-field", near.or_else(all))
            };
            self.warn(code, entry.key_span, text, help);
        }
    }
}

/// A value and where to point at it: at its key where it spans lines of its own.
fn placed(entry: &Entry) -> (Span, &Node) {
    let long = !entry.value.entries().is_empty() || !entry.value.items().is_empty();
    (if long { entry.key_span } else { entry.value.span }, &entry.value)
}

/// What a value is, in words.
fn describe(value: &NodeValue) -> String {
    match value {
        NodeValue::Null => "null".to_owned(),
        NodeValue::Bool(value) => format!("the boolean {value}"),
        NodeValue::Number(text) => format!("the number {text}"),
        NodeValue::String(_) => "a text".to_owned(),
        NodeValue::List(_) => "a list".to_owned(),
        NodeValue::Map(_) => "a mapping".to_owned(),
    }
}

/// The name that differs only in case, hyphens and underscores.
fn same_letters(word: &str, names: &[&'static str]) -> Option<&'static str> {
    let letters =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let wanted = letters(word);
    names.iter().copied().find(|name| letters(name) == wanted)
}

/// The name most like a word, if any is like it.
pub(super) fn nearest<'n>(word: &str, names: &[&'n str]) -> Option<&'n str> {
    let limit = (word.chars().count() / 3).max(1);
    names
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&word.to_lowercase(), &name.to_lowercase()), *name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Reads an RFC 3339 time as seconds since 1970 and nanoseconds.
pub fn timestamp(text: &str) -> Option<(i64, u32)> {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| -> Option<i64> {
        let part = bytes.get(from..to)?;
        part.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
    };
    let sign = |at: usize, expected: &[u8]| bytes.get(at).filter(|byte| expected.contains(byte)).map(|_| ());
    let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
    let (hour, minute, second) = (digits(11, 13)?, digits(14, 16)?, digits(17, 19)?);
    sign(4, b"-").and(sign(7, b"-")).and(sign(10, b"Tt")).and(sign(13, b":")).and(sign(16, b":"))?;
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut at = 19;
    let mut nanos = 0;
    if bytes.get(at) == Some(&b'.') {
        let end = (at + 1..bytes.len()).find(|&end| !bytes[end].is_ascii_digit())?;
        let mut unit = 100_000_000;
        for byte in bytes.get(at + 1..end).filter(|fraction| !fraction.is_empty())? {
            nanos += u32::from(byte - b'0') * unit;
            unit /= 10;
        }
        at = end;
    }
    let shift = match bytes.get(at)? {
        b'Z' | b'z' if bytes.len() == at + 1 => 0,
        direction @ (b'+' | b'-') if bytes.len() == at + 6 => {
            sign(at + 3, b":")?;
            let shift = digits(at + 1, at + 3)? * 3600 + digits(at + 4, at + 6)? * 60;
            if *direction == b'+' { shift } else { -shift }
        }
        _ => return None,
    };
    // Days since 1970 of the proleptic Gregorian calendar, years counted from March so that the leap day comes last.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = years * 365 + years.div_euclid(4) - years.div_euclid(100)
        + years.div_euclid(400)
        + (153 * months + 2) / 5
        + day
        - 1
        - 719_468;
    Some((days * 86_400 + hour * 3600 + minute * 60 + second - shift, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(timestamp("1970-01-01T00:00:00Z"), Some((0, 0)));
        assert_eq!(timestamp("2026-01-15T00:00:30Z"), Some((1_768_435_230, 0)));
        assert_eq!(timestamp("2024-02-29T23:59:59.5+02:00"), Some((1_709_243_999, 500_000_000)));
        assert_eq!(timestamp("1969-12-31T23:59:59Z"), Some((-1, 0)));
        for bad in [
            "",
            "2026-01-15",
            "2026-13-15T00:00:30Z",
            "2025-02-29T00:00:00Z",
            "2026-01-15T00:00:30",
            "2026-01-15T00:00:30.Z",
            "é026-01-15T00:00:30Z",
        ] {
            assert_eq!(timestamp(bad), None, "{bad}");
        }
    }

    #[test]
    fn nearest_names() {
        assert_eq!(nearest("configPatchs", &["priority", "configPatches"]), Some("configPatches"));
        assert_eq!(nearest("SIDECAR", &["ANY", "GATEWAY"]), None);
        assert_eq!(same_letters("config_patches", &["priority", "configPatches"]), Some("configPatches"));
    }
}
