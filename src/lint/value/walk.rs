//! Walks a patch's value as written, field by field, with the message that contains each field.

use crate::proto::tree::type_name;
use crate::source::{Node, NodeValue, Step};
use std::str::FromStr;

/// A step to a field, as written in the document.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'n> {
    /// The value under a key.
    Key(&'n str),
    /// An item of a list, from 0.
    Item(usize),
}

/// A field of a value.
pub(crate) struct Field<'w, 'n> {
    /// Its key as written.
    pub key: &'n str,
    /// Its value.
    pub node: &'n Node,
    /// Keys and items from the root of the value, including its own key.
    pub path: &'w [Part<'n>],
    /// Full name of the nearest enclosing message that is named (`@type`, or `type_url` of a TypedStruct); may be
    /// empty.
    pub message: &'n str,
}

impl Field<'_, '_> {
    /// Whether this is the field with that proto name, in either spelling (`inline_string`, `inlineString`).
    pub(crate) fn is(&self, name: &str) -> bool {
        same(self.key, name)
    }

    /// The route to it from the root of the value.
    pub(crate) fn route(&self) -> Vec<Step> {
        let step = |part: &Part<'_>| match *part {
            Part::Key(key) => Step::from(key),
            Part::Item(item) => Step::from(item),
        };
        self.path.iter().map(step).collect()
    }

    /// Whether it is inside that field.
    pub(crate) fn inside(&self, name: &str) -> bool {
        let above = self.path.len().saturating_sub(1);
        self.path[..above].iter().any(|part| matches!(part, Part::Key(key) if same(key, name)))
    }

    /// Whether it is `true`.
    pub(crate) fn is_true(&self) -> bool {
        matches!(self.node.value, NodeValue::Bool(true)) || self.node.as_str() == Some("true")
    }
}

/// Whether a key is a field's proto or JSON name.
pub(crate) fn same(key: &str, name: &str) -> bool {
    // Field names are ASCII and begin with a letter; many rules call this for every field, mostly without effect.
    fn plain(text: &str) -> impl Iterator<Item = u8> {
        text.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase())
    }
    let first = |text: &str| text.bytes().next().map(|byte| byte.to_ascii_lowercase());
    let begins = first(key) == first(name) || key.starts_with('_');
    begins && (key == name || plain(key).eq(plain(name)))
}

/// A number that is written, also as text.
pub(crate) fn number<T: FromStr>(node: &Node) -> Option<T> {
    match &node.value {
        NodeValue::Number(text) | NodeValue::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// The value of a field by its proto name, in either spelling.
pub(crate) fn get<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    node.entries().iter().find(|entry| same(&entry.key, name)).map(|entry| &entry.value)
}

/// Calls `look` for every field, outer before inner.
pub(crate) fn fields<'n>(value: &'n Node, look: &mut dyn FnMut(&Field<'_, 'n>)) {
    walk(value, "", &mut Vec::new(), look);
}

fn walk<'n>(node: &'n Node, message: &'n str, path: &mut Vec<Part<'n>>, look: &mut dyn FnMut(&Field<'_, 'n>)) {
    let url = |key: &str| node.get(key).and_then(Node::as_str).map(type_name);
    // Many rules walk every value, and few nodes are named.
    let is_named = node.entries().iter().any(|entry| entry.key.starts_with('@'));
    let mut message = if is_named { url("@type").unwrap_or(message) } else { message };
    if message.ends_with(".TypedStruct") {
        message = url("type_url").or_else(|| url("typeUrl")).unwrap_or(message);
    }
    for entry in node.entries() {
        path.push(Part::Key(&entry.key));
        look(&Field { key: &entry.key, node: &entry.value, path, message });
        walk(&entry.value, message, path, look);
        path.pop();
    }
    for (index, item) in node.items().iter().enumerate() {
        path.push(Part::Item(index));
        walk(item, message, path, look);
        path.pop();
    }
}
