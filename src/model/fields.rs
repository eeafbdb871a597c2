//! Reads typed fields out of a document and notes what does not fit the API.

use crate::source::alike::{self, Nearest};
use crate::source::{Code, Entry, Node, NodeValue, Problem, Severity, Span};
use std::collections::BTreeMap;
use std::fmt;

/// Maximum number of fields to list in full when none is similar to the unknown name.
const FEW_FIELDS: usize = 8;

/// Collects problems while fields are read.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// What was found.
    pub(super) problems: Vec<Problem>,
    /// Whether a problem makes the API server reject the whole object.
    pub(super) refused: bool,
    /// Keys to rename to a field that is not set, each with the name of the field.
    pub(super) misspelt: Vec<(Span, &'static str)>,
}

/// What a field of the API takes; `Display` says it to the user.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected<'a> {
    Mapping,
    List,
    Text,
    /// A whole number of this range: `from 0 to 65535`.
    WholeNumber(&'a str),
}

impl fmt::Display for Expected<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Expected::Mapping => "a mapping",
            Expected::List => "a list",
            Expected::Text => "a text",
            Expected::WholeNumber(range) => return write!(out, "a whole number {range}"),
        })
    }
}

/// A mapping of the API with its name in messages.
#[derive(Clone, Copy)]
pub(super) struct Message<'n> {
    pub(super) node: &'n Node,
    /// Its name for the user: the key that holds it.
    pub(super) name: &'static str,
}

impl Reader {
    /// Notes something that makes the object unreadable.
    pub(super) fn refuse(&mut self, code: Code, span: Span, message: String, help: Option<String>) {
        self.refused = true;
        self.problems.push(Problem { code, severity: Severity::Error, span: Some(span), message, help });
    }

    /// Notes something doubtful.
    pub(super) fn warn(&mut self, code: Code, span: Span, message: String, help: Option<String>) {
        self.problems.push(Problem { code, severity: Severity::Warning, span: Some(span), message, help });
    }

    fn wrong_type(&mut self, key: &str, (span, node): (Span, &Node), expected: Expected<'_>) {
        let message = format!("`{key}` must be {expected}, not {}", describe(&node.value));
        let help = match &node.value {
            NodeValue::Bool(_) | NodeValue::Number(_) if expected == Expected::Text => {
                Some("put the value in quotes".to_owned())
            }
            NodeValue::String(text) if matches!(expected, Expected::WholeNumber(_)) && text.parse::<i64>().is_ok() => {
                Some(format!("write {text} without quotes"))
            }
            NodeValue::Map(_) if expected == Expected::List => Some("start each item with `- `".to_owned()),
            _ => None,
        };
        self.refuse(Code::WrongType, span, message, help);
    }

    /// The value as a mapping of the API.
    pub(super) fn message<'n>(&mut self, name: &'static str, node: &'n Node) -> Option<Message<'n>> {
        self.mapping(name, (node.span, node))
    }

    fn mapping<'n>(&mut self, name: &'static str, (span, node): (Span, &'n Node)) -> Option<Message<'n>> {
        if matches!(node.value, NodeValue::Map(_)) {
            return Some(Message { node, name });
        }
        self.wrong_type(name, (span, node), Expected::Mapping);
        None
    }

    /// A field that is present. `null` counts as absent: the API server prunes it, because no field of the API is nullable.
    pub(super) fn entry<'n>(&mut self, message: Message<'n>, name: &str) -> Option<&'n Entry> {
        let entry = message.node.entry(name)?;
        if entry.value.is_null() {
            let text = format!("`{name}` has no value: the API server drops it");
            self.warn(Code::NullValue, entry.key_span, text, Some("give it a value or delete it".to_owned()));
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
            self.wrong_type(name, placed(entry), Expected::List);
            &[]
        }
    }

    /// A text field; empty when absent.
    pub(super) fn text(&mut self, message: Message<'_>, name: &str) -> String {
        let Some(entry) = self.entry(message, name) else { return String::new() };
        if let Some(text) = entry.value.as_str() {
            return text.to_owned();
        }
        self.wrong_type(name, placed(entry), Expected::Text);
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
            self.refuse(Code::WrongType, entry.value.span, text, None);
        } else {
            self.wrong_type(name, placed(entry), Expected::WholeNumber(range));
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
            self.wrong_type(name, placed(entry), Expected::Text);
            return None;
        };
        if let Some((_, value)) = choices.iter().find(|(choice, _)| *choice == text) {
            return Some(*value);
        }
        let all: Vec<&str> = choices.iter().map(|(choice, _)| *choice).filter(|choice| *choice != "INVALID").collect();
        let help = match alike::keyword(text, all.iter().copied()) {
            Some(near) => format!("write {}", near.name),
            None => format!("one of {}", all.join(", ")),
        };
        self.refuse(
            Code::UnknownEnumValue,
            entry.value.span,
            format!("`{text}` is not a value of `{name}`"),
            Some(help),
        );
        None
    }

    /// A field that holds a mapping of texts.
    pub(super) fn texts(&mut self, message: Message<'_>, name: &str) -> Option<BTreeMap<String, String>> {
        let entry = self.entry(message, name)?;
        if !matches!(entry.value.value, NodeValue::Map(_)) {
            self.wrong_type(name, placed(entry), Expected::Mapping);
            return None;
        }
        let mut texts = BTreeMap::new();
        for entry in entry.value.entries() {
            let Entry { key, key_span, value } = entry;
            if let Some(text) = value.as_str() {
                texts.insert(key.clone(), text.to_owned());
            } else if value.is_null() {
                let text = format!("`{key}` of `{name}` has no value: the API server drops it");
                self.warn(Code::NullValue, *key_span, text, Some("give it a value or delete it".to_owned()));
            } else {
                self.wrong_type(key, placed(entry), Expected::Text);
            }
        }
        Some(texts)
    }

    /// Reports keys that are not fields. `known_mistake` gives the code and help for keys that belong elsewhere or are common
    /// mistakes.
    pub(super) fn unknown_fields(
        &mut self,
        message: Message<'_>,
        known: &[&'static str],
        known_mistake: impl Fn(Message<'_>, &str) -> Option<(Code, String)>,
    ) {
        for entry in message.node.entries() {
            let key = entry.key.as_str();
            if known.contains(&key) {
                continue;
            }
            let text = format!("`{key}` is not a field of {}: the API server drops it", message.name);
            let near = alike::keyword(key, known.iter().copied());
            let (code, help) = if let Some(Nearest { name, same_letters: true }) = near {
                // If the right key exists too, writing it again would create a duplicate.
                let help = if message.node.entry(name).is_some() {
                    format!("delete it: `{name}` is set as well")
                } else {
                    self.misspelt.push((entry.key_span, name));
                    format!("write `{name}`")
                };
                (Code::MisspeltField, Some(help))
            } else if let Some((code, help)) = known_mistake(message, key) {
                (code, Some(help))
            } else {
                let near = near.map(|near| format!("did you mean `{}`?", near.name));
                let all = || (known.len() <= FEW_FIELDS).then(|| format!("its fields are {}", known.join(", ")));
                (Code::UnknownField, near.or_else(all))
            };
            self.warn(code, entry.key_span, text, help);
        }
    }
}

/// A value and where to point at it: at its key if the value spans several lines.
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
